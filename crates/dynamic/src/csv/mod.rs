//! Rows of stable columns (RFC 4180), flattened from the schema.

mod cells;
mod columns;
mod write;

pub use columns::{Column, Columns, renamed};
pub use write::{Options, RowSink, Writer, is_formula, push_field, push_guarded};
