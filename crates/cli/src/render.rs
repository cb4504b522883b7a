//! Output formats by name.

#[cfg(feature = "parquet")]
use crate::column_files::Columnar;
use crate::columnar::{ColumnarArgs, IntegersArg};
use crate::exit::{Failure, Outcome};
use crate::prefix::Prefix;
use crate::term::Quotes;
use clap::{Args, ValueEnum};
use std::borrow::Cow;
use std::collections::HashSet;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
#[cfg(feature = "parquet")]
use tercet::columns::{Builder, FileFormat, Options};
use tercet::columns::{Layout, Selection, expand};
use tercet::dynamic::json::{self, JsonWriter};
use tercet::dynamic::text::Octets;
use tercet::dynamic::xml::{self, XmlWriter};
use tercet::dynamic::{Error, ErrorKind, NodeId, Plan, Shape, Value, View, csv};
use tercet::plan::Rules;
use tercet::records::{
    ChildTable, Children, Explode, Leaves, Origin, Render, Rendering, SUFFIXES, Undecoded,
};
use tercet::suggest::{with_known, with_list};
use tercet_printable::printable;

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
    /// A row for each record, a column for each nested component
    Csv,
    /// Apache Parquet, nested
    #[cfg(feature = "parquet")]
    Parquet,
    /// Arrow IPC file, nested
    #[cfg(feature = "parquet")]
    Arrow,
    /// Arrow IPC stream, nested
    #[cfg(feature = "parquet")]
    ArrowStream,
}

impl Format {
    /// The format that the suffix of a file stands for.
    pub fn of_path(path: &Path) -> Option<Self> {
        let suffix = path.extension()?.to_str()?;
        Self::of_suffixes().find(|(known, _)| known.eq_ignore_ascii_case(suffix)).map(|(_, format)| format)
    }

    /// The suffixes of the formats that this build writes.
    fn of_suffixes() -> impl Iterator<Item = (&'static str, Self)> {
        SUFFIXES.iter().filter_map(|(suffix, name)| Some((*suffix, Self::from_str(name, false).ok()?)))
    }

    /// Refuses a file whose suffix stands for no format. What is no file, such as a pipe, needs none.
    pub fn check_suffix(path: &Path) -> Outcome<()> {
        let is_file = std::fs::metadata(path).map_or(true, |found| found.is_file());
        if !is_file || Self::of_path(path).is_some() {
            return Ok(());
        }
        let known = Self::of_suffixes().map(|(suffix, _)| suffix);
        let shown = tercet_printable::path(path);
        let text = match path.extension() {
            Some(suffix) => {
                let suffix = printable(&suffix.to_string_lossy()).into_owned();
                with_known(&format!("unknown suffix `{suffix}` of the output `{shown}`"), &suffix, known)
            }
            None => with_list(&format!("the output `{shown}` has no suffix to choose a format by"), known),
        };
        Err(Failure::usage(text + "; or name the format with `--format`"))
    }

    /// The suffix of its files.
    pub fn suffix(self) -> &'static str {
        let value = self.to_possible_value();
        let name = value.as_ref().map_or("", |value| value.get_name());
        SUFFIXES.iter().find(|(_, format)| *format == name).map_or("", |(suffix, _)| suffix)
    }

    /// What stands in quotes in its files, for a terminal that shows them.
    pub fn quotes(self) -> Quotes {
        // JSON has no ends of lines within strings.
        if matches!(self, Self::Csv | Self::Value) { Quotes::HoldText } else { Quotes::Ignored }
    }

    /// Whether its files have columns and are no text.
    pub fn is_columnar(self) -> bool {
        #[cfg(feature = "parquet")]
        return self.file_format().is_some();
        #[cfg(not(feature = "parquet"))]
        false
    }

    #[cfg(feature = "parquet")]
    fn file_format(self) -> Option<FileFormat> {
        match self {
            Self::Parquet => Some(FileFormat::Parquet),
            Self::Arrow => Some(FileFormat::Arrow),
            Self::ArrowStream => Some(FileFormat::ArrowStream),
            _ => None,
        }
    }

    /// Whether it is JSON.
    fn is_json(self) -> bool {
        matches!(self, Self::Json | Self::Jsonl)
    }

    /// Whether it is a format of ours, where rows may have more than the values: XML and value notation are those of standards.
    pub fn is_open(self) -> bool {
        !matches!(self, Self::Xml | Self::Value)
    }

    /// Whether its files are Parquet.
    fn is_parquet(self) -> bool {
        #[cfg(feature = "parquet")]
        return self == Self::Parquet;
        #[cfg(not(feature = "parquet"))]
        false
    }

    /// Whether files of two formats may have the same suffixes: JSON and its lines, Arrow's files and streams.
    pub fn is_like(self, other: Self) -> bool {
        let family = |format| match format {
            Self::Jsonl => Self::Json,
            #[cfg(feature = "parquet")]
            Self::ArrowStream => Self::Arrow,
            other => other,
        };
        family(self) == family(other)
    }

    /// Whether it has a form for single values.
    pub fn is_for_values(self) -> bool {
        self != Self::Csv && !self.is_columnar()
    }
}

/// How values are shown.
#[derive(Args, Clone, Debug, Default)]
pub struct RenderArgs {
    /// How bytes and BIT STRINGs are shown in JSON and CSV
    ///
    /// By default `jer`.
    #[arg(long, value_enum, value_name = "STYLE")]
    pub json_style: Option<JsonStyle>,

    /// How bytes are written: hexadecimal or base64
    ///
    /// In all formats but XML and value notation, where no rendering applies; BIT STRINGs too where they are written as bytes.
    #[arg(long, value_enum, value_name = "FORM")]
    pub octets: Option<OctetsForm>,

    /// Columns to write, or components in JSON and XML; all by default
    ///
    /// `tercet show columns` lists them. Other components are not decoded. In a name, `*` is any characters, `**` any number of
    /// names; in CSV, `LIST[0..3]` is the first three elements of a list.
    #[arg(long, value_name = "PATH", value_delimiter = ',')]
    pub columns: Vec<String>,

    /// The same as written, where `columns` are those that it stands for.
    #[arg(skip)]
    asked: Vec<String>,

    /// CSV, Parquet, Arrow: name of the column of a component
    ///
    /// In CSV, the names of the columns within it begin with NAME too.
    #[arg(long, value_name = "PATH=NAME", value_delimiter = ',', value_parser = renaming)]
    pub rename: Vec<(String, String)>,

    /// CSV: put an apostrophe before texts that a spreadsheet would run as formulas
    #[arg(long)]
    pub guard_formulas: bool,

    #[command(flatten)]
    pub columnar: ColumnarArgs,
}

/// The shape of the values that are written, and which of its types a rendering has made.
#[derive(Clone, Copy)]
pub struct Shown<'p> {
    shape: &'p Arc<Shape>,
    pub(crate) leaves: Option<Leaves>,
    /// The lists whose elements are rows.
    pub(crate) lists: &'p [String],
    pub(crate) tables: Tables,
    /// By which value notation shows what strings contain under ENCODED BY.
    contents: &'p [(Rules, Plan)],
}

/// Which table rows are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tables {
    /// The only one.
    One,
    /// That of the records, which has children.
    Records,
    /// A child.
    Child,
}

impl<'p> Shown<'p> {
    /// The same as rows of the elements of lists.
    pub fn exploded(self, explode: &'p Explode) -> Self {
        Self { shape: explode.shape(), lists: explode.lists(), ..self }
    }

    /// The rows of records that have child tables.
    pub fn with_children(self, children: &'p Children) -> Self {
        Self { shape: children.shape(), tables: Tables::Records, ..self }
    }

    /// The rows of a child table.
    pub fn child(self, children: &'p Children, table: &'p ChildTable) -> Self {
        Self { shape: children.shape(), lists: table.lists(), tables: Tables::Child, ..self }
    }

    /// The same with plans for what strings contain under ENCODED BY; they have the shape of the values.
    pub fn with_contents(self, contents: &'p [(Rules, Plan)]) -> Self {
        Self { contents, ..self }
    }

    /// The shape of the values.
    pub fn shape(self) -> &'p Arc<Shape> {
        self.shape
    }
}

impl<'p> From<&'p Plan> for Shown<'p> {
    fn from(plan: &'p Plan) -> Self {
        Self { shape: &plan.shape, leaves: None, lists: &[], tables: Tables::One, contents: &[] }
    }
}

impl<'p> From<&'p Rendering> for Shown<'p> {
    fn from(rendering: &'p Rendering) -> Self {
        let leaves = Some(rendering.leaves());
        Self { shape: rendering.shape(), leaves, lists: &[], tables: Tables::One, contents: &[] }
    }
}

/// How JSON shows what it has no form for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum JsonStyle {
    /// As in X.697, which `tercet encode` reads
    #[default]
    Jer,
    /// Bytes in small letters; BIT STRINGs as {"bits":"a0","len":3}
    Plain,
}

/// How octets are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OctetsForm {
    /// Hexadecimal with a to f
    #[value(name = "hex")]
    Hex,
    /// Hexadecimal with A to F
    #[value(name = "HEX")]
    UpperHex,
    /// Base64 with padding
    Base64,
}

/// Reads `PATH=NAME`.
fn renaming(text: &str) -> Result<(String, String), &'static str> {
    match text.split_once('=') {
        Some((path, name)) if !path.is_empty() && !name.is_empty() => Ok((path.to_owned(), name.to_owned())),
        _ => Err("`PATH=NAME` expected"),
    }
}

/// An option that not every format has a place for.
pub struct FormatOption {
    pub name: &'static str,
    pub is_given: bool,
    pub is_for: fn(Format) -> bool,
}

impl FormatOption {
    /// Refuses the option, if it is given and the format has no place for it.
    pub fn check(&self, format: Option<Format>) -> Outcome<()> {
        if !self.is_given || format.is_some_and(self.is_for) {
            return Ok(());
        }
        let name = |format: Format| format.to_possible_value().map(|value| value.get_name().to_owned());
        let formats = Format::value_variants().iter().copied().filter(|format| (self.is_for)(*format));
        let formats: Vec<_> = formats.filter_map(name).collect();
        let output = match format.and_then(name) {
            Some(name) => format!("the format `{name}`"),
            None => "encoded values".to_owned(),
        };
        let help = match formats.is_empty() {
            true => "this build has no format that it is for; build with `--features parquet`".to_owned(),
            false => format!("it is for {}", formats.join(", ")),
        };
        Err(Failure::usage(format_args!("`{}` does not apply to {output}\nhelp: {help}", self.name)))
    }
}

impl RenderArgs {
    /// The options given that not every format has a place for.
    fn given(&self) -> impl Iterator<Item = FormatOption> {
        let columnar = &self.columnar;
        #[cfg(feature = "parquet")]
        let is_compressed = columnar.files.compression.is_some();
        #[cfg(not(feature = "parquet"))]
        let is_compressed = false;
        let integers = match columnar.integers {
            Some(IntegersArg::Text) => |format: Format| format.is_json() || format.is_columnar(),
            _ => |format: Format| format.is_columnar(),
        };
        let option = |name, is_given, is_for| FormatOption { name, is_given, is_for };
        let options = [
            option("--json-style", self.json_style.is_some(), |it| it.is_json() || it == Format::Csv),
            option("--octets", self.octets.is_some(), Format::is_open),
            option("--columns", !self.columns.is_empty(), |it| it != Format::Value),
            option("--rename", !self.rename.is_empty(), |it| it == Format::Csv || it.is_columnar()),
            option("--guard-formulas", self.guard_formulas, |it| it == Format::Csv),
            option("--integers", columnar.integers.is_some(), integers),
            option("--reals", columnar.reals.is_some(), Format::is_columnar),
            option("--provenance", columnar.provenance, Format::is_open),
            option("--flat", columnar.files.flat, Format::is_columnar),
            option("--hex-octets", columnar.files.hex_octets, Format::is_columnar),
            option("--compression", is_compressed, Format::is_parquet),
        ];
        options.into_iter().filter(|option| option.is_given)
    }

    /// Refuses options that a format has no place for; `None` is the format of encoded values.
    pub fn check_format(&self, format: Option<Format>) -> Outcome<()> {
        self.given().try_for_each(|option| option.check(format))
    }

    /// Makes the renderer of a format for values of a type.
    pub fn renderer<'p>(
        &self,
        format: Format,
        shown: impl Into<Shown<'p>>,
        node: NodeId,
    ) -> Box<dyn Render + Send + 'p> {
        let shown = shown.into();
        let shape: &'p Shape = shown.shape;
        let prefix = Prefix::new(self.columnar.keys(shown), shown.lists, self.guard_formulas);
        match format {
            Format::Json => Box::new(self.json(shape, node, Some(2), prefix)),
            Format::Jsonl => Box::new(self.json(shape, node, None, prefix)),
            Format::Csv => Box::new(Csv(self.csv(shape, node), prefix)),
            Format::Value => Box::new(Notation(shape, node, shown.contents)),
            #[cfg(feature = "parquet")]
            Format::Parquet => Box::new(self.columnar(FileFormat::Parquet, shown, node)),
            #[cfg(feature = "parquet")]
            Format::Arrow => Box::new(self.columnar(FileFormat::Arrow, shown, node)),
            #[cfg(feature = "parquet")]
            Format::ArrowStream => Box::new(self.columnar(FileFormat::ArrowStream, shown, node)),
            Format::Xml => {
                Box::new(Xml(XmlWriter::new(shape, xml::Options::default()), self.selection(shape, node)))
            }
        }
    }

    /// The same for a thread whose rows the renderer of [`RenderArgs::renderer`] takes over.
    pub fn part_renderer<'p>(
        &self,
        format: Format,
        shown: Shown<'p>,
        node: NodeId,
    ) -> Box<dyn Render + Send + 'p> {
        #[cfg(feature = "parquet")]
        if let Some(format) = format.file_format() {
            return Box::new(self.columnar(format, shown, node).for_part());
        }
        self.renderer(format, shown, node)
    }

    /// Which fields a decoder has to read for the columns of a format; all if there is no answer.
    pub fn fields<'p>(&self, format: Format, shown: impl Into<Shown<'p>>, node: NodeId) -> Option<Vec<bool>> {
        if format != Format::Csv && !format.is_columnar() {
            return None;
        }
        let shown = shown.into();
        Layout::new(shown.shape, node, &self.columnar.options(self, shown)).wanted_fields(shown.shape)
    }

    /// The same with the columns that patterns stand for, of values of a type.
    pub fn expanded<'p>(&self, shown: impl Into<Shown<'p>>, node: NodeId) -> Outcome<Self> {
        let columns = expand(shown.into().shape, node, &self.columns).map_err(Failure::usage)?;
        Ok(self.with_columns(columns))
    }

    /// The same with other columns.
    pub fn with_columns(&self, columns: Vec<String>) -> Self {
        Self { columns, asked: self.columns.clone(), ..self.clone() }
    }

    /// Refuses columns that the type does not have, and two of one name.
    pub fn check_columns<'p>(
        &self,
        format: Format,
        shown: impl Into<Shown<'p>>,
        node: NodeId,
    ) -> Outcome<()> {
        // Of columns that nobody has named there are none too many.
        let unnamed = self.columns.is_empty() && self.rename.is_empty();
        if !format.is_columnar() && unnamed {
            return Ok(());
        }
        let shown = shown.into();
        let layout = Layout::new(shown.shape, node, &self.columnar.options(self, shown));
        let (unknown, double) = if format == Format::Csv {
            let writer = self.csv(shown.shape, node);
            let wanted = self.columns.iter().chain(self.rename.iter().map(|(path, _)| path));
            // What a pattern stands for may be inside of lists.
            let unknown = wanted.filter(|path| {
                let nowhere = layout.unknown_columns().contains(path);
                !writer.columns().has(path) && (nowhere || !self.is_pattern() || self.asked.contains(path))
            });
            let unknown: Vec<String> = unknown.cloned().collect();
            let mut names = HashSet::new();
            let double = writer.names().find(|name| !names.insert(name.clone())).map(Cow::into_owned);
            (unknown, double.filter(|_| !self.rename.is_empty()))
        } else {
            (layout.unknown_columns().to_vec(), layout.double_name().map(str::to_owned))
        };
        match (unknown.first(), double) {
            (None, None) => Ok(()),
            (None, Some(name)) => Err(Failure::usage(format_args!("two columns are named `{name}`"))),
            (Some(path), _) => {
                let text = format!("unknown column `{path}`");
                // A column of Parquet that CSV does not have is inside of a list.
                if !layout.unknown_columns().contains(path) {
                    return Err(Failure::usage(format_args!(
                        "{text} in CSV: lists are one column\nhelp: elements such as `LIST[0..3]` have columns, and `--explode LIST` \
                         makes rows of them"
                    )));
                }
                if format == Format::Csv {
                    let all = self.with_columns(Vec::new()).csv(shown.shape, node);
                    let known = all.columns().columns().iter().map(|column| column.name.as_str());
                    return Err(Failure::usage(with_known(&text, path, known)));
                }
                Err(Failure::usage(layout.unknown_column().unwrap_or(text)))
            }
        }
    }

    /// Whether some columns are what patterns stand for.
    fn is_pattern(&self) -> bool {
        self.asked.iter().any(|path| path.contains('*'))
    }

    fn csv<'p>(&self, shape: &'p Shape, node: NodeId) -> csv::Writer<'p> {
        let options = csv::Options {
            octets: self.octets(),
            columns: self.columns.clone(),
            names: self.rename.clone(),
            guard_formulas: self.guard_formulas,
            ..csv::Options::default()
        };
        csv::Writer::new(shape, node, options)
    }

    #[cfg(feature = "parquet")]
    fn columnar<'p>(&self, format: FileFormat, shown: Shown<'p>, node: NodeId) -> Columnar<'p> {
        let dense = format != FileFormat::Parquet;
        let options = Options { dense, ..self.columnar.options(self, shown) };
        let builder = Builder::new(shown.shape, node, &options);
        Columnar::new(format, builder, self.columnar.files.compression.unwrap_or_default())
    }

    pub(crate) fn octets(&self) -> Octets {
        match (self.octets, self.json_style.unwrap_or_default()) {
            (Some(OctetsForm::UpperHex), _) | (None, JsonStyle::Jer) => Octets::UpperHex,
            (Some(OctetsForm::Hex), _) | (None, JsonStyle::Plain) => Octets::LowerHex,
            (Some(OctetsForm::Base64), _) => Octets::Base64,
        }
    }

    /// What of the values JSON and XML show, if not all.
    fn selection<'p>(&self, shape: &'p Shape, node: NodeId) -> Option<Selection<'p>> {
        (!self.columns.is_empty()).then(|| Selection::new(shape, node, &self.columns))
    }

    fn json<'p>(&self, shape: &'p Shape, node: NodeId, indent: Option<u8>, prefix: Prefix) -> Json<'p> {
        let mut options = match self.json_style.unwrap_or_default() {
            JsonStyle::Jer => json::Options::default(),
            JsonStyle::Plain => json::Options::truth(),
        };
        options.indent = indent;
        options.octets = self.octets();
        options.large_integers_as_text = self.columnar.integers == Some(IntegersArg::Text);
        options.unknown = true;
        let (writer, selection) = (JsonWriter::new(shape, options), self.selection(shape, node));
        Json { writer, selection, prefix, indent }
    }
}

struct Json<'p> {
    writer: JsonWriter<'p>,
    selection: Option<Selection<'p>>,
    prefix: Prefix,
    indent: Option<u8>,
}

impl Json<'_> {
    /// Appends the value that the writer has heard.
    fn row(&self, origin: &Origin<'_>, out: &mut Vec<u8>) {
        self.prefix.json(origin, self.writer.text(), self.indent, out);
        out.push(b'\n');
    }
}

impl Render for Json<'_> {
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

struct Notation<'p>(&'p Shape, NodeId, &'p [(Rules, Plan)]);

impl Render for Notation<'_> {
    fn record(&mut self, value: View<'_>, origin: &Origin<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        let value = Value::from_view(self.0, value)
            .ok_or_else(|| Error::new(ErrorKind::ValueMismatch, origin.offset))?;
        // Writing to memory does not fail.
        _ = writeln!(out, "{:#}", value.annotated(self.0, self.1).with_contents(self.2));
        Ok(())
    }
}

struct Csv<'p>(csv::Writer<'p>, Prefix);

impl Render for Csv<'_> {
    fn begin(&mut self, out: &mut Vec<u8>) {
        self.1.csv_header(out);
        self.0.header(out);
    }

    fn is_direct(&self) -> bool {
        true
    }

    fn undecoded(
        &mut self,
        record: &mut Undecoded<'_>,
        origin: &Origin<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        self.1.csv(origin, out);
        record.say(&mut self.0.sink(out))
    }

    fn record(&mut self, value: View<'_>, origin: &Origin<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        self.1.csv(origin, out);
        self.0.write(value, out);
        Ok(())
    }
}

struct Xml<'p>(XmlWriter<'p>, Option<Selection<'p>>);

impl Render for Xml<'_> {
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
        out.extend_from_slice(self.0.text());
        out.push(b'\n');
        Ok(())
    }

    fn record(&mut self, value: View<'_>, _: &Origin<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        self.0.clear();
        match &mut self.1 {
            Some(selection) => value.replay(&mut selection.sink(&mut self.0)),
            None => value.replay(&mut self.0),
        }
        out.extend_from_slice(self.0.text());
        out.push(b'\n');
        Ok(())
    }

    fn end(&mut self, out: &mut Vec<u8>) -> io::Result<()> {
        out.extend_from_slice(b"</records>\n");
        Ok(())
    }
}
