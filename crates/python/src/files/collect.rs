//! Rows that become record batches, and what their columns look like.

use super::failure::Failure;
use super::source::Source;
use crate::{error, options};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::io;
use tercet::columns::{
    ArrowError, Builder, Integers, Keys, Layout, OctetsAs, Options, Provenance, Reals, RecordBatch, TextAs,
};
use tercet::dynamic::text::Octets;
use tercet::dynamic::{Error, NodeId, Shape, View};
use tercet::records::{EachNulled, Origin, Render, Undecoded};

/// What columns look like, in the words of Python.
pub(crate) struct Looks<'a> {
    pub(crate) integers: &'a str,
    pub(crate) octets: &'a str,
    pub(crate) numbers: bool,
    pub(crate) item: &'a str,
    pub(crate) reals: &'a str,
    pub(crate) flat: bool,
}

impl Looks<'_> {
    /// Keeps the words as keyword arguments.
    pub(crate) fn keep(
        &self,
        keywords: &Bound<'_, PyDict>,
        provenance: Keys,
        batch_rows: usize,
    ) -> PyResult<()> {
        keywords.set_item("integers", self.integers)?;
        keywords.set_item("octets", self.octets)?;
        keywords.set_item("numbers", self.numbers)?;
        keywords.set_item("item", self.item)?;
        keywords.set_item("reals", self.reals)?;
        keywords.set_item("flat", self.flat)?;
        keywords.set_item("batch_rows", batch_rows)?;
        match provenance {
            Keys::Digest => keywords.set_item("provenance", "sha256"),
            provenance => keywords.set_item("provenance", provenance == Keys::Place),
        }
    }

    /// The same for the library.
    pub(crate) fn options(
        &self,
        source: &Source,
        columns: Vec<String>,
        keys: Keys,
        lists: &[String],
    ) -> PyResult<Options> {
        let texts = source.rendering.as_ref().map(|rendering| {
            let leaves = rendering.leaves();
            [
                (leaves.timestamp, TextAs::Timestamp),
                (leaves.date, TextAs::Date),
                (leaves.time, TextAs::TimeOfDay),
                (leaves.amount, TextAs::Amount),
            ]
        });
        Ok(Options {
            columns,
            integers: match self.integers {
                "int64" => Integers::Int64,
                "decimal" => Integers::Decimal,
                "text" => Integers::Text,
                other => return Err(options::one_of("integers", other, &["text", "int64", "decimal"])),
            },
            reals: match self.reals {
                "float64" => Reals::Float64,
                "text" => Reals::Text,
                other => return Err(options::one_of("reals", other, &["float64", "text"])),
            },
            octets: match self.octets {
                "binary" => OctetsAs::Binary,
                "hex" => OctetsAs::Text(Octets::LowerHex),
                "HEX" => OctetsAs::Text(Octets::UpperHex),
                "base64" => OctetsAs::Text(Octets::Base64),
                other => {
                    return Err(options::one_of("octets", other, &["binary", "hex", "HEX", "base64"]));
                }
            },
            numbers: self.numbers,
            keys,
            elements: lists.to_vec(),
            item: self.item.to_owned(),
            names: Vec::new(),
            flat: self.flat,
            texts: texts.into_iter().flatten().collect(),
            ..Options::default()
        })
    }
}

/// The columns of a type; an error if one that is asked for is not there.
pub(crate) fn layout(shape: &Shape, root: NodeId, options: &Options) -> PyResult<Layout> {
    let layout = Layout::new(shape, root, options);
    match layout.unknown_column() {
        Some(text) => Err(error::argument(text)),
        None => Ok(layout),
    }
}

/// Collects rows and hands batches on.
pub(crate) struct Collect<'a> {
    builder: Builder<'a>,
    /// Rows of the builder before those of the record at hand.
    before: usize,
    rows: usize,
    give: Box<dyn Fn(RecordBatch) + 'a>,
    failed: Option<ArrowError>,
}

impl<'a> Collect<'a> {
    /// Rows of a builder, so many in a batch at most.
    pub(crate) fn new(builder: Builder<'a>, rows: usize, give: Box<dyn Fn(RecordBatch) + 'a>) -> Self {
        Self { builder, before: 0, rows, give, failed: None }
    }

    /// Octets of contents that wait for their batch, about.
    pub(crate) fn size(&self) -> usize {
        self.builder.size()
    }

    /// Whether all has gone well.
    pub(crate) fn done(self) -> Result<(), Failure> {
        self.failed.map_or(Ok(()), |error| Err(Failure::Arrow(error)))
    }

    /// Hands on the rows that there are.
    pub(crate) fn batch(&mut self) {
        if self.builder.rows() == 0 {
            return;
        }
        match self.builder.finish() {
            Ok(batch) => (self.give)(batch),
            Err(error) => self.failed = self.failed.take().or(Some(error)),
        }
    }
}

impl Render for Collect<'_> {
    fn record(&mut self, value: View<'_>, origin: &Origin<'_>, _: &mut Vec<u8>) -> Result<(), Error> {
        let keys = self.builder.layout().keys();
        self.builder.append(value, Some(&provenance(origin, keys)))
    }

    fn begin_record(&mut self, _: &mut Vec<u8>) {
        if self.builder.rows() >= self.rows || self.builder.is_full() {
            self.batch();
        }
        self.before = self.builder.appended();
    }

    fn take_nulled(&mut self, each: &mut EachNulled<'_>) {
        for nulled in self.builder.take_nulled() {
            each(&nulled.path, nulled.count, &nulled.octets);
        }
    }

    fn drop_record(&mut self) {
        self.builder.drop_behind(self.before);
    }

    fn is_direct(&self) -> bool {
        true
    }

    fn undecoded(
        &mut self,
        record: &mut Undecoded<'_>,
        origin: &Origin<'_>,
        _: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let keys = self.builder.layout().keys();
        let mut row = self.builder.row(Some(&provenance(origin, keys)));
        record.say(&mut row)?;
        row.end()
    }

    fn end(&mut self, _: &mut Vec<u8>) -> io::Result<()> {
        self.batch();
        Ok(())
    }
}

fn provenance<'o>(origin: &Origin<'o>, keys: Keys) -> Provenance<'o> {
    let Origin { input: file, index: record, offset, octets, elements } = *origin;
    let sha256 = (keys == Keys::Digest).then(|| origin.sha256());
    Provenance { file, record, offset, length: octets.len() as u64, sha256, elements }
}
