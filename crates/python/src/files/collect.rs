//! Rows that become record batches, and what their columns look like.

use super::failure::Failure;
use crate::error;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::io;
use tercet::columns::{ArrowError, Builder, Keys, Layout, Options, RecordBatch};
use tercet::dynamic::{Error, NodeId, Shape, View};
use tercet::records::conversion::{FormOptions, Given, Names, OptionFault, OptionSet};
use tercet::records::{EachNulled, Origin, RowWriter, Shown, Undecoded};

/// The form of bytes that is not text.
const BINARY: &str = "binary";

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

    /// Returns the options of columns for rows as they are shown.
    pub(crate) fn options(&self, shown: Shown<'_>, columns: Vec<String>, keys: Keys) -> PyResult<Options> {
        let mut set = OptionSet::new(Names::Keyword);
        set.insert("integers", Given::Text(self.integers.to_owned()));
        set.insert("reals", Given::Text(self.reals.to_owned()));
        set.insert("flat", Given::Flag(self.flat));
        if self.octets != BINARY {
            set.insert("octets", Given::Text(self.octets.to_owned()));
        }
        let fault = |fault: OptionFault| error::fault(&fault);
        let mut form: FormOptions = set.take().map_err(fault)?;
        form.files = set.take().map_err(fault)?;
        let form = form.with_columns(columns);
        let (numbers, item) = (self.numbers, self.item.to_owned());
        Ok(Options { numbers, item, keys, ..form.columns_of(shown) })
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

impl RowWriter for Collect<'_> {
    fn record(&mut self, value: View<'_>, origin: &Origin<'_>, _: &mut Vec<u8>) -> Result<(), Error> {
        let keys = self.builder.layout().keys();
        self.builder.append(value, Some(&origin.provenance(keys)))
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
        let mut row = self.builder.row(Some(&origin.provenance(keys)));
        record.say(&mut row)?;
        row.end()
    }

    fn end(&mut self, _: &mut Vec<u8>) -> io::Result<()> {
        self.batch();
        Ok(())
    }
}
