mod document;
mod load;
mod scan;
