//! ASN.1 value notation.

use super::{OutputFormat, Shown};
use crate::conversion::FormOptions;
use crate::render::{Origin, Render};
use std::io::Write;
use tercet_dynamic::{Error, ErrorKind, NodeId, Value, View};

/// ASN.1 value notation.
#[derive(Debug)]
pub(super) struct Notation;

impl OutputFormat for Notation {
    fn name(&self) -> &'static str {
        "value"
    }

    fn help(&self) -> &'static str {
        "ASN.1 value notation, a line for each component"
    }

    fn suffixes(&self) -> &'static [&'static str] {
        &["val"]
    }

    fn options(&self) -> &'static [&'static str] {
        &[]
    }

    fn quotes_text(&self) -> bool {
        true
    }

    fn writer<'p>(&self, _: &FormOptions, shown: Shown<'p>, node: NodeId) -> Box<dyn Render + Send + 'p> {
        Box::new(Writer(shown, node))
    }
}

struct Writer<'p>(Shown<'p>, NodeId);

impl Render for Writer<'_> {
    fn record(&mut self, value: View<'_>, origin: &Origin<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        let Self(shown, node) = *self;
        let value = Value::from_view(shown.shape(), value)
            .ok_or_else(|| Error::new(ErrorKind::ValueMismatch, origin.offset))?;
        // Writing to memory does not fail.
        _ = writeln!(out, "{:#}", value.annotated(shown.shape(), node).with_contents(shown.contents));
        Ok(())
    }
}
