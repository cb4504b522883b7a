//! JSON, indented or one value a line.

use super::prefix::Prefix;
use super::{FormatInfo, OutputFormat, RowKind, Shown};
use crate::conversion::{FormOptions, IntegerForm, JsonStyle};
use crate::rows::Undecoded;
use crate::writer::{Origin, RowWriter};
use tercet_columns::Selection;
use tercet_dynamic::json::{self, JsonWriter};
use tercet_dynamic::{Error, NodeId, View};

/// JSON.
#[derive(Debug)]
pub(super) struct Json {
    info: FormatInfo,
    indent: Option<u8>,
}

const INFO: FormatInfo = FormatInfo {
    name: "json",
    help: "JSON, indented",
    suffixes: &["json"],
    family: "json",
    rows: RowKind::Values,
    // JSON has no ends of lines within strings.
    quotes_text: false,
    options: &[
        "json-style",
        "octets",
        "columns",
        "integers=text",
        "provenance",
        "child",
        "children",
        "by-type",
    ],
};

pub(super) static INDENTED: Json = Json { info: INFO, indent: Some(2) };
pub(super) static LINES: Json = Json {
    info: FormatInfo {
        name: "jsonl",
        help: "JSON, one value a line",
        suffixes: &["jsonl", "ndjson"],
        ..INFO
    },
    indent: None,
};

impl OutputFormat for Json {
    fn info(&self) -> &FormatInfo {
        &self.info
    }

    fn writer<'p>(
        &self,
        form: &FormOptions,
        shown: Shown<'p>,
        node: NodeId,
    ) -> Box<dyn RowWriter + Send + 'p> {
        let mut options = match form.json_style.unwrap_or_default() {
            JsonStyle::Jer => json::Options::default(),
            JsonStyle::Plain => json::Options::truth(),
        };
        options.indent = self.indent;
        options.octets = form.octets();
        options.large_integers_as_text = form.integers == Some(IntegerForm::Text);
        options.unknown = true;
        Box::new(Writer {
            writer: JsonWriter::new(shown.shape(), options),
            selection: selection(form, shown, node),
            prefix: Prefix::new(form, shown),
            indent: self.indent,
        })
    }
}

/// Returns what of the values JSON and XML show, if not all.
pub(super) fn selection<'p>(form: &FormOptions, shown: Shown<'p>, node: NodeId) -> Option<Selection<'p>> {
    (!form.columns.is_empty()).then(|| Selection::new(shown.shape(), node, &form.columns))
}

struct Writer<'p> {
    writer: JsonWriter<'p>,
    selection: Option<Selection<'p>>,
    prefix: Prefix,
    indent: Option<u8>,
}

impl Writer<'_> {
    /// Appends the value that the writer has been given.
    fn row(&self, origin: &Origin<'_>, out: &mut Vec<u8>) {
        self.prefix.json(origin, self.writer.text(), self.indent, out);
        out.push(b'\n');
    }
}

impl RowWriter for Writer<'_> {
    fn is_direct(&self) -> bool {
        true
    }

    fn undecoded(
        &mut self,
        record: &mut Undecoded<'_>,
        origin: &Origin<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        self.writer.clear();
        match &mut self.selection {
            Some(selection) => record.say(&mut selection.sink(&mut self.writer))?,
            None => record.say(&mut self.writer)?,
        }
        self.row(origin, out);
        Ok(())
    }

    fn record(&mut self, value: View<'_>, origin: &Origin<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        self.writer.clear();
        match &mut self.selection {
            Some(selection) => value.replay(&mut selection.sink(&mut self.writer)),
            None => value.replay(&mut self.writer),
        }
        self.row(origin, out);
        Ok(())
    }
}
