//! ASN.1 value notation.

use super::{FormatInfo, OutputFormat, RowKind, Shown};
use crate::conversion::FormOptions;
use crate::writer::{Origin, RowWriter};
use std::io::Write;
use tercet_dynamic::{Error, ErrorKind, NodeId, Value, View};

/// ASN.1 value notation.
#[derive(Debug)]
pub(super) struct Notation;

static INFO: FormatInfo = FormatInfo {
    name: "value",
    help: "ASN.1 value notation, a line for each component",
    suffixes: &["val"],
    family: "value",
    rows: RowKind::Values,
    quotes_text: true,
    options: &[],
};

impl OutputFormat for Notation {
    fn info(&self) -> &FormatInfo {
        &INFO
    }

    fn writer<'p>(&self, _: &FormOptions, shown: Shown<'p>, node: NodeId) -> Box<dyn RowWriter + Send + 'p> {
        Box::new(Writer(shown, node))
    }
}

struct Writer<'p>(Shown<'p>, NodeId);

impl RowWriter for Writer<'_> {
    fn record(&mut self, value: View<'_>, origin: &Origin<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        let Self(shown, node) = *self;
        let value = Value::from_view(shown.shape(), value)
            .ok_or_else(|| Error::new(ErrorKind::ValueMismatch, origin.offset))?;
        // Writing to memory does not fail.
        _ = writeln!(out, "{:#}", value.annotated(shown.shape(), node).with_contents(shown.contents));
        Ok(())
    }
}
