//! XML: the records in one element.

use super::json::selection;
use super::{FormatInfo, OutputFormat, RowKind, Shown};
use crate::conversion::FormOptions;
use crate::rows::Undecoded;
use crate::writer::{Origin, RowWriter};
use std::io;
use tercet_columns::Selection;
use tercet_dynamic::xml::{self, XmlWriter};
use tercet_dynamic::{Error, NodeId, View};

/// XML.
#[derive(Debug)]
pub(super) struct Xml;

static INFO: FormatInfo = FormatInfo {
    name: "xml",
    help: "XML; `convert` puts the records into one element",
    suffixes: &["xml"],
    family: "xml",
    rows: RowKind::Values,
    quotes_text: false,
    options: &["columns"],
};

impl OutputFormat for Xml {
    fn info(&self) -> &FormatInfo {
        &INFO
    }

    fn writer<'p>(
        &self,
        form: &FormOptions,
        shown: Shown<'p>,
        node: NodeId,
    ) -> Box<dyn RowWriter + Send + 'p> {
        let writer = XmlWriter::new(shown.shape(), xml::Options::default());
        Box::new(Writer(writer, selection(form, shown, node)))
    }
}

struct Writer<'p>(XmlWriter<'p>, Option<Selection<'p>>);

impl Writer<'_> {
    /// Appends the value that the writer has been given.
    fn row(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.0.text());
        out.push(b'\n');
    }
}

impl RowWriter for Writer<'_> {
    fn begin(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"<records>\n");
    }

    fn is_direct(&self) -> bool {
        true
    }

    fn undecoded(
        &mut self,
        record: &mut Undecoded<'_>,
        _: &Origin<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        self.0.clear();
        match &mut self.1 {
            Some(selection) => record.say(&mut selection.sink(&mut self.0))?,
            None => record.say(&mut self.0)?,
        }
        self.row(out);
        Ok(())
    }

    fn record(&mut self, value: View<'_>, _: &Origin<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        self.0.clear();
        match &mut self.1 {
            Some(selection) => value.replay(&mut selection.sink(&mut self.0)),
            None => value.replay(&mut self.0),
        }
        self.row(out);
        Ok(())
    }

    fn end(&mut self, out: &mut Vec<u8>) -> io::Result<()> {
        out.extend_from_slice(b"</records>\n");
        Ok(())
    }
}
