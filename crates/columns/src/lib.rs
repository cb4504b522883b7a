//! Decoded values as Arrow record batches, and those as Parquet and Arrow IPC files.
//!
//! The columns come from the schema alone ([`Layout`]), so that two files of one type always have the same:
//!
//! | ASN.1 | Arrow |
//! |---|---|
//! | SEQUENCE, SET | struct |
//! | SEQUENCE OF, SET OF | list |
//! | CHOICE | struct of `choice` (the alternative's name) and one nullable member for each alternative |
//! | a type inside itself, an open type, CONTAINING | JSON text |
//! | BOOLEAN; NULL and SEQUENCE without components | boolean; `true` |
//! | INTEGER | int64 where constraints bound it to 64 bits, decimal128(38, 0) to 38 digits; without bounds text, or what [`Options::integers`] says |
//! | ENUMERATED | the item's name, or int64 |
//! | REAL | float64, or text |
//! | OCTET STRING | binary, or text |
//! | everything else | text, or what [`Options::texts`] says |
//!
//! The components of the outermost type are the columns of the batch; with [`Options::flat`] there are no structs and lists.
//!
//! ```
//! # use tercet_columns::{Builder, Options};
//! # fn batch(plan: &tercet_dynamic::Plan, octets: &[u8]) -> Result<(), Box<dyn std::error::Error>> {
//! let root = plan.root("CallRecord").ok_or("no such type")?;
//! let mut builder = Builder::new(&plan.shape, root, &Options::default());
//! let mut tape = tercet_dynamic::Tape::new();
//! tercet_dynamic::decode(plan, root, octets, &mut tape, &Default::default())?;
//! builder.append(tape.view(octets), None)?;
//! let batch = builder.finish()?;
//! assert_eq!(batch.num_rows(), 1);
//! # Ok(())
//! # }
//! ```

mod builder;
mod cell;
mod dense;
#[cfg(feature = "files")]
mod files;
mod flat;
mod layout;
mod nulls;
#[cfg(feature = "files")]
mod parquet;
mod paths;
mod select;
mod store;
mod texts;

pub use arrow_array::{RecordBatch, RecordBatchReader};
#[cfg(feature = "ffi")]
pub use arrow_array::{
    ffi::{FFI_ArrowArray, FFI_ArrowSchema},
    ffi_stream::FFI_ArrowArrayStream,
};
pub use arrow_schema::{ArrowError, DataType, SchemaRef};
pub use builder::{Builder, Nulled, Row};
pub use cell::{cell, type_name};
#[cfg(feature = "files")]
pub use files::{Compression, Encoder, FileFormat, Part, PartEncoder};
pub use layout::{Integers, Keys, Layout, OctetsAs, Options, Reals, TextAs};
pub use paths::{ColumnPath, PatternError, expand};
pub use select::{Selected, Selection};

/// Where a row came from: the columns `_file`, `_record`, `_offset`, `_length` and `_sha256`, where [`Options::keys`] asks for them.
#[derive(Clone, Copy, Debug)]
pub struct Provenance<'a> {
    /// The name of the input.
    pub file: &'a str,
    /// The record's number in it, from 0.
    pub record: u64,
    /// Absolute offset of its first octet.
    pub offset: u64,
    /// Its number of octets.
    pub length: u64,
    /// The SHA-256 of these, if [`Keys::Digest`] asks for it.
    pub sha256: Option<[u8; 32]>,
    /// The values of the columns of [`Options::elements`].
    pub elements: &'a [Option<u64>],
}

/// A batch by Arrow's C data interface: an array of structs and its schema.
///
/// # Errors
/// Those of Arrow; none are known.
#[cfg(feature = "ffi")]
pub fn export(batch: &RecordBatch) -> Result<(FFI_ArrowArray, FFI_ArrowSchema), ArrowError> {
    use arrow_array::Array;
    arrow_array::ffi::to_ffi(&arrow_array::StructArray::from(batch.clone()).to_data())
}
