mod document;
mod load;
mod offer;
mod scan;
