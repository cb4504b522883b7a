//! Files of records: values one after the other, Arrow record batches, splits.
//!
//! A thread reads, decodes and collects without the interpreter, and hands on what is complete.

mod cut;
mod failure;
mod feed;
mod iterate;
mod report;
mod source;
mod table;

pub(crate) use cut::{split_key, splits};
pub(crate) use iterate::{Record, Records, iter_records};
pub(crate) use source::expand;
pub(crate) use table::{ArrowSchema, Batch, Batches, Table, read};
