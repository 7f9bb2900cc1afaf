//! What may run beside what: the claims of calls, the waves of a batch, and the claims of a
//! workspace.
