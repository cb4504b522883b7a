//! What makes rows of decoded records: the formats of outputs.

use crate::rows::Undecoded;
use sha2::{Digest as _, Sha256};
use std::any::Any;
use std::io;
use tercet_columns::{Keys, Provenance};
use tercet_dynamic::{Error, ErrorKind, View};

/// Where a record came from.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'n> {
    /// The name of its input.
    pub input: &'n str,
    /// Its number in its input, from 0.
    pub index: u64,
    /// Absolute offset of its first octet.
    pub offset: u64,
    /// Its octets.
    pub octets: &'n [u8],
    /// Of a row that is an element of a list: its number there, from 0, after those of the elements around it; nothing
    /// where a list is empty or absent.
    pub elements: &'n [Option<u64>],
}

impl Origin<'_> {
    /// The SHA-256 of its octets.
    pub fn sha256(&self) -> [u8; 32] {
        Sha256::digest(self.octets).into()
    }

    /// Returns the values of the columns that tell where the record came from.
    pub fn provenance(&self, keys: Keys) -> Provenance<'_> {
        let Self { input: file, index: record, offset, octets, elements } = *self;
        let sha256 = (keys == Keys::Digest).then(|| self.sha256());
        Provenance { file, record, offset, length: octets.len() as u64, sha256, elements }
    }
}

/// Turns a decoded record into octets of an output format.
pub trait RowWriter {
    /// Appends what stands before the first record.
    fn begin(&mut self, _out: &mut Vec<u8>) {}

    /// Appends a record.
    ///
    /// # Errors
    /// When the record cannot be written in this format; what it has appended is dropped, the record is rejected.
    fn record(&mut self, value: View<'_>, origin: &Origin<'_>, out: &mut Vec<u8>) -> Result<(), Error>;

    /// Appends a row of a child table, by its number: it goes to an output of its own, behind the rows that stand there.
    ///
    /// # Errors
    /// As [`RowWriter::record`]; the other rows of the record are then taken back too.
    fn child(&mut self, _table: usize, _value: View<'_>, origin: &Origin<'_>) -> Result<(), Error> {
        Err(Error::new(ErrorKind::Unsupported, origin.offset))
    }

    /// Gives up if rows that it keeps or writes itself have met a fault: asked now and then.
    ///
    /// # Errors
    /// When these rows could not be written.
    fn check(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Whether it takes records by [`RowWriter::undecoded`].
    fn is_direct(&self) -> bool {
        false
    }

    /// Appends a record that it has decode itself: called in place of [`RowWriter::record`] where nobody else has to see
    /// the value.
    ///
    /// # Errors
    /// As [`RowWriter::record`], and those of decoding.
    fn undecoded(
        &mut self,
        _record: &mut Undecoded<'_>,
        origin: &Origin<'_>,
        _out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        Err(Error::new(ErrorKind::Unsupported, origin.offset))
    }

    /// The rows of another record follow, up to the next call.
    fn begin_record(&mut self, _out: &mut Vec<u8>) {}

    /// Gives the numbers of the latest record that have no place in their column and are null.
    fn take_nulled(&mut self, _each: &mut EachNulled<'_>) {}

    /// Takes back the rows of this record that a renderer has not appended yet but keeps: it is rejected.
    fn drop_record(&mut self) {}

    /// What there is of rows that a renderer keeps, for another one of its kind to [`RowWriter::join`]; nothing if it has
    /// appended all.
    ///
    /// # Errors
    /// When the rows cannot be written after all.
    fn part(&mut self) -> io::Result<Option<WrittenPart>> {
        Ok(None)
    }

    /// Takes over the rows that another renderer of its kind has made, behind its own.
    ///
    /// # Errors
    /// When they cannot be written.
    fn join(&mut self, _part: WrittenPart, _out: &mut Vec<u8>) -> io::Result<()> {
        Err(io::Error::other("rows of a renderer of another kind"))
    }

    /// Appends what stands behind the last record.
    ///
    /// # Errors
    /// When the rows cannot be written after all: those that a renderer collects before it writes them.
    fn end(&mut self, _out: &mut Vec<u8>) -> io::Result<()> {
        Ok(())
    }
}

/// Hears of numbers of one component: its path, their count, and the contents octets of the first ones.
pub type EachNulled<'a> = dyn FnMut(&str, u64, &[Vec<u8>]) + 'a;

/// Rows in a form that the renderers of one kind understand.
pub type WrittenPart = Box<dyn Any + Send>;

/// Makes renderers for threads.
pub type MakeWriter<'p> = Box<dyn Fn() -> Box<dyn RowWriter + Send + 'p> + Send + Sync + 'p>;
