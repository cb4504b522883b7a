//! Output formats by name.

use crate::columnar::{Columnar, ColumnarArgs};
use crate::exit::{Failure, Outcome};
use clap::{Args, ValueEnum};
use std::io::{self, Write};
use tercet::columns::{Builder, FileFormat, Layout};
use tercet::dynamic::json::{self, JsonWriter};
use tercet::dynamic::text::Octets;
use tercet::dynamic::xml::{self, XmlWriter};
use tercet::dynamic::{Error, ErrorKind, NodeId, Plan, Shape, Value, View, csv};
use tercet::records::{Origin, Render};

/// How values are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// JSON, indented
    Json,
    /// JSON, one value a line
    Jsonl,
    /// XML; `convert` puts the records into one element
    Xml,
    /// ASN.1 value notation, a line for each component
    Value,
    /// A row for each record, nested parts in columns of their own
    Csv,
    /// Apache Parquet, nested
    Parquet,
    /// Arrow IPC file, nested
    Arrow,
    /// Arrow IPC stream, nested
    ArrowStream,
}

impl Format {
    /// The format that a file's suffix stands for.
    pub fn of_suffix(suffix: &str) -> Option<Self> {
        match suffix {
            "json" => Some(Self::Json),
            "jsonl" | "ndjson" => Some(Self::Jsonl),
            "xml" => Some(Self::Xml),
            "csv" => Some(Self::Csv),
            "val" => Some(Self::Value),
            "parquet" => Some(Self::Parquet),
            "arrow" | "feather" => Some(Self::Arrow),
            "arrows" => Some(Self::ArrowStream),
            _ => None,
        }
    }

    /// The suffix of its files.
    pub fn suffix(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Jsonl => "jsonl",
            Self::Xml => "xml",
            Self::Csv => "csv",
            Self::Value => "val",
            Self::Parquet => "parquet",
            Self::Arrow => "arrow",
            Self::ArrowStream => "arrows",
        }
    }

    /// Whether its files have columns and are no text.
    pub fn is_columnar(self) -> bool {
        matches!(self, Self::Parquet | Self::Arrow | Self::ArrowStream)
    }

    /// Whether it has a form for single values.
    pub fn is_for_values(self) -> bool {
        self != Self::Csv && !self.is_columnar()
    }
}

/// How values are shown.
#[derive(Args, Clone, Debug, Default)]
pub struct RenderArgs {
    /// How octets and BIT STRINGs are shown in JSON and CSV
    #[arg(long, value_enum, default_value_t = JsonStyle::Jer, value_name = "STYLE")]
    pub json_style: JsonStyle,

    /// CSV, Parquet, Arrow: the columns wanted, all unless given; other components are not decoded
    #[arg(long, value_name = "PATH", value_delimiter = ',')]
    pub columns: Vec<String>,

    /// CSV: put an apostrophe in front of texts that a spreadsheet would take for a formula
    #[arg(long)]
    pub guard_formulas: bool,

    #[command(flatten)]
    pub columnar: ColumnarArgs,
}

/// How JSON shows what it has no form for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum JsonStyle {
    /// As X.697 has it, which `tercet encode` reads
    #[default]
    Jer,
    /// Octets in small letters; BIT STRINGs as {"bits":"a0","len":3}
    Plain,
}

impl RenderArgs {
    /// Makes the renderer of a format for values of a type.
    pub fn renderer<'p>(&self, format: Format, plan: &'p Plan, node: NodeId) -> Box<dyn Render + 'p> {
        match format {
            Format::Json => Box::new(self.json(plan, Some(2))),
            Format::Jsonl => Box::new(self.json(plan, None)),
            Format::Csv => {
                let options = csv::Options {
                    octets: self.octets(),
                    columns: self.columns.clone(),
                    guard_formulas: self.guard_formulas,
                    ..csv::Options::default()
                };
                Box::new(Csv(csv::Writer::new(&plan.shape, node, options)))
            }
            Format::Value => Box::new(Notation(&plan.shape)),
            Format::Parquet => self.columnar(FileFormat::Parquet, plan, node),
            Format::Arrow => self.columnar(FileFormat::Arrow, plan, node),
            Format::ArrowStream => self.columnar(FileFormat::ArrowStream, plan, node),
            Format::Xml => Box::new(Xml(XmlWriter::new(&plan.shape, xml::Options::default()))),
        }
    }

    /// Which fields a decoder has to read for a format; all if there is no answer.
    pub fn wanted(&self, format: Format, plan: &Plan, node: NodeId) -> Option<Vec<bool>> {
        if format != Format::Csv && !format.is_columnar() {
            return None;
        }
        Layout::new(&plan.shape, node, &self.columnar.options(self)).wanted_fields(&plan.shape)
    }

    /// Refuses columns that the type does not have.
    pub fn check_columns(&self, plan: &Plan, node: NodeId) -> Outcome<()> {
        let layout = Layout::new(&plan.shape, node, &self.columnar.options(self));
        match &layout.unknown_columns()[..] {
            [] => Ok(()),
            paths => Err(Failure::usage(format_args!("there is no column `{}`", paths.join("`, `")))),
        }
    }

    fn columnar<'p>(&self, format: FileFormat, plan: &'p Plan, node: NodeId) -> Box<dyn Render + 'p> {
        let builder = Builder::new(&plan.shape, node, &self.columnar.options(self));
        Box::new(Columnar::new(format, builder, self.columnar.compression))
    }

    pub(crate) fn octets(&self) -> Octets {
        match self.json_style {
            JsonStyle::Jer => Octets::UpperHex,
            JsonStyle::Plain => Octets::LowerHex,
        }
    }

    fn json<'p>(&self, plan: &'p Plan, indent: Option<u8>) -> Json<'p> {
        let mut options = match self.json_style {
            JsonStyle::Jer => json::Options::default(),
            JsonStyle::Plain => json::Options::truth(),
        };
        options.indent = indent;
        options.unknown = true;
        Json(JsonWriter::new(&plan.shape, options))
    }
}

struct Json<'p>(JsonWriter<'p>);

impl Render for Json<'_> {
    fn record(&mut self, value: View<'_>, _: &Origin<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        self.0.clear();
        value.replay(&mut self.0);
        out.extend_from_slice(self.0.text());
        out.push(b'\n');
        Ok(())
    }
}

struct Notation<'p>(&'p Shape);

impl Render for Notation<'_> {
    fn record(&mut self, value: View<'_>, origin: &Origin<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        let value = Value::from_view(self.0, value)
            .ok_or_else(|| Error::new(ErrorKind::ValueMismatch, origin.offset))?;
        // Writing to memory does not fail.
        _ = writeln!(out, "{value:#}");
        Ok(())
    }
}

struct Csv<'p>(csv::Writer<'p>);

impl Render for Csv<'_> {
    fn begin(&mut self, out: &mut Vec<u8>) {
        self.0.header(out);
    }

    fn record(&mut self, value: View<'_>, _: &Origin<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        self.0.write(value, out);
        Ok(())
    }
}

struct Xml<'p>(XmlWriter<'p>);

impl Render for Xml<'_> {
    fn begin(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"<records>\n");
    }

    fn record(&mut self, value: View<'_>, _: &Origin<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        self.0.clear();
        value.replay(&mut self.0);
        out.extend_from_slice(self.0.text());
        out.push(b'\n');
        Ok(())
    }

    fn end(&mut self, out: &mut Vec<u8>) -> io::Result<()> {
        out.extend_from_slice(b"</records>\n");
        Ok(())
    }
}
