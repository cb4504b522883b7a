//! The productions of X.680–X.683, one function each, in files by clause.

mod assignments;
mod constraints;
mod module;
mod objects;
mod parameters;
mod references;
mod types;
mod values;

pub(crate) use module::demote_redefined;
