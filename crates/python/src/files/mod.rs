//! Files of records: values one after the other, Arrow record batches, splits.
//!
//! A thread reads, decodes and collects without the interpreter, and hands on what is complete.

mod collect;
mod cut;
mod diagnose;
mod failure;
mod feed;
mod given;
mod held;
mod input;
mod iterate;
mod made;
mod plan;
mod report;
mod source;
mod table;
mod tables;

pub(crate) use collect::{Collect, Looks, layout};
pub(crate) use cut::{split_key, splits};
pub(crate) use diagnose::doctor;
pub(crate) use failure::Failure;
pub(crate) use feed::{Feed, Outlet};
pub(crate) use held::{HeldTable, escaped, frame, names};
pub(crate) use input::{Input, expand, inputs_of};
pub(crate) use iterate::{Record, Records, iter_records};
pub(crate) use table::{ArrowSchema, Batch, Batches, Table, read, schema_capsule};
pub(crate) use tables::{TableBatches, Tables, read_tables};
