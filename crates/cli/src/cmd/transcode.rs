//! `tercet transcode`.

use crate::args::{OutputArg, SchemaArgs, Syntax, SyntaxOrAuto};
use crate::auto::{self, Told};
use crate::exit::{Exit, Failure, Outcome};
use crate::inputs::{InputArgs, SpellingArgs};
use crate::interrupt::{self, OnInterrupt};
use crate::rendering::if_asked;
use crate::term::{self, Quotes};
use crate::values::{self, Values, pieces, push_hex, root, unwritten};
use clap::{Args, ValueEnum};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;
use std::sync::atomic::Ordering;
use tercet::dynamic::{NodeId, Options, Plan, View};
use tercet::records::conversion::RenderingOptions;
use tercet::records::conversion::{UnknownPolicy, ValuesPolicy};
use tercet::records::{Format, conversion::FormOptions};
use tercet::records::{Output, RowWriter};
use tercet::{Rules, TapeCodec};

/// Write values encoded by one set of rules by another, or as text
#[derive(Args, Debug)]
#[command(after_help = "\
An input holds one value or several one after the other; by PER, whose values have no end mark, one, or with
`--hex` one in each line. The first fault ends the command, and an output file is then not written.

Examples:
  tercet transcode -s a.asn -t A --from ber --to uper a.ber -o a.uper
  echo '30 03 02 01 05' | tercet transcode -s a.asn -t A --from ber --to der --hex
  tercet transcode -s a.asn -t A --from aper --to xml a.aper")]
pub struct Transcode {
    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    schema: SchemaArgs,

    /// The type, as `Type` or `Module.Type`; the one that fits the first input best unless given
    #[arg(short, long = "type", value_name = "TYPE")]
    type_name: Option<String>,

    /// Encoding rules of the input
    #[arg(long, value_enum, value_name = "RULES")]
    from: SyntaxOrAuto,

    /// Encoding rules or text format of the output
    #[arg(long, value_parser = to, value_name = "RULES|FORMAT")]
    to: To,

    /// Encodings are hexadecimal text on both sides, a line for each value
    #[arg(long)]
    hex: bool,

    /// The input is hexadecimal text, a hexdump or an array in C; by PER, a value in each line
    #[arg(long)]
    hex_input: bool,

    /// The input is binary, even if it looks like PEM, base64 or hexadecimal text
    #[arg(long, conflicts_with_all = ["hex", "hex_input"])]
    binary: bool,

    /// Write hexadecimal text, a line for each value
    #[arg(long)]
    hex_output: bool,

    /// Handling of components that the schema does not define
    #[arg(long, value_enum, default_value_t = UnknownPolicy::Extensible, value_name = "POLICY")]
    unknown: UnknownPolicy,

    /// Handling of texts and times that break the rules of their type in BER
    #[arg(long, value_enum, default_value_t = ValuesPolicy::Keep, value_name = "POLICY")]
    values: ValuesPolicy,

    #[command(flatten)]
    output: OutputArg,
}

/// Why a second value cannot follow the first.
pub const ONE_VALUE: &str =
    "values by these rules have no end mark: an output holds only one; `--hex` writes a line for each";

/// What the output is.
#[derive(Clone, Copy, Debug)]
pub enum To {
    /// A transfer syntax.
    Rules(Rules),
    /// Text for people.
    Text(Format),
}

impl To {
    /// What an output file is to be: what the command line says, or else its suffix, or else what the command writes by
    /// default. `option` is the one that names the format of text.
    ///
    /// # Errors
    /// When the suffix stands for something else than the command line says, or for nothing and the default is text.
    pub fn of_output(path: &Path, given: Option<Self>, option: Option<&str>, default: Self) -> Outcome<Self> {
        let is_file = std::fs::metadata(path).map_or(true, |found| found.is_file());
        match (given, Self::of_suffix(path).filter(|_| is_file)) {
            (None, Some(found)) => Ok(found),
            (None, None) => {
                if let Self::Text(_) = default {
                    Format::check_suffix(path)?;
                }
                Ok(default)
            }
            (Some(given), found) if found.is_none_or(|found| given.is_in_files_of(found)) => Ok(given),
            (Some(given), _) => {
                let suffix = path.extension().unwrap_or_default().to_string_lossy().into_owned();
                let option = option.unwrap_or("--rules");
                Err(Failure::usage(format_args!(
                    "suffix `{}` of the output `{}` contradicts `{option} {}`\nhelp: change the suffix or the option",
                    tercet_printable::printable(&suffix),
                    tercet_printable::path(path),
                    given.name(),
                )))
            }
        }
    }

    /// What the suffix of a file stands for: a format of text or columns, or encoding rules.
    fn of_suffix(path: &Path) -> Option<Self> {
        if let Some(format) = Format::of_path(path) {
            return Some(Self::Text(format));
        }
        let suffix = path.extension()?.to_str()?.to_ascii_lowercase();
        // Files of that suffix are certificates in DER or PEM, not values by the canonical rules.
        Syntax::from_str(&suffix, false).ok().filter(|_| suffix != "cer").map(|syntax| Self::Rules(syntax.0))
    }

    /// Whether files with the suffix of `other` may hold it.
    fn is_in_files_of(self, other: Self) -> bool {
        match (self, other) {
            (Self::Text(own), Self::Text(other)) => own.is_like(other),
            (Self::Rules(own), Self::Rules(other)) => own.is_form_of(other),
            (Self::Rules(rules), Self::Text(format)) | (Self::Text(format), Self::Rules(rules)) => {
                format.is_like(Format::JSON) && rules.is_form_of(Rules::Jer)
                    || format == Format::XML && rules.is_form_of(Rules::Xer)
            }
        }
    }

    /// The word for it on the command line.
    fn name(self) -> String {
        match self {
            Self::Text(format) => format.name().to_owned(),
            Self::Rules(rules) => rules.name().to_owned(),
        }
    }

    /// What stands in quotes in the output, for a terminal that shows it.
    pub fn quotes(self) -> Quotes {
        match self {
            Self::Text(format) => term::quotes(format),
            Self::Rules(Rules::Gser) => Quotes::HoldText,
            Self::Rules(_) => Quotes::Ignored,
        }
    }
}

fn to(text: &str) -> Result<To, String> {
    // `json` and `xml` are laid out; `jer` and `xer` are the rules as they are.
    if let Ok(format) = text.parse::<Format>()
        && format.is_for_values()
    {
        return Ok(To::Text(format));
    }
    Syntax::from_str(text, false).map(|syntax| To::Rules(syntax.0)).map_err(|_| {
        let rules = Syntax::value_variants().iter().map(|syntax| syntax.0.name());
        let texts = Format::all().filter(|format| format.is_for_values()).map(Format::name);
        let all: Vec<_> = rules.chain(texts).collect();
        format!("possible values: {}", all.join(", "))
    })
}

impl Transcode {
    pub fn run(&self) -> Outcome {
        Work {
            input: &self.input,
            schema: &self.schema,
            type_name: self.type_name.as_deref(),
            from: self.from.0,
            to: self.to,
            spelling: SpellingArgs { hex: self.hex || self.hex_input, binary: self.binary, quiet: false },
            hex_output: self.hex || self.hex_output,
            unknown: self.unknown,
            values: self.values,
            rendering: None,
            output: &self.output,
        }
        .run()
    }
}

/// Values from one transfer syntax to another: what `transcode` and `encode` do.
pub struct Work<'a> {
    pub input: &'a InputArgs,
    pub schema: &'a SchemaArgs,
    pub type_name: Option<&'a str>,
    pub from: Option<Rules>,
    pub to: To,
    pub spelling: SpellingArgs,
    pub hex_output: bool,
    pub unknown: UnknownPolicy,
    pub values: ValuesPolicy,
    /// How components of the input are shown, if otherwise than they are.
    pub rendering: Option<&'a RenderingOptions>,
    pub output: &'a OutputArg,
}

impl Work<'_> {
    pub fn run(self) -> Outcome {
        let output = self.output.file();
        let octets = matches!(self.to, To::Rules(rules) if !rules.is_text());
        if output.is_none() && !self.hex_output && octets && io::stdout().is_terminal() {
            return Err(Failure::usage(
                "refusing to write binary output to a terminal; use `-o FILE` or hexadecimal text",
            ));
        }
        let mut guard = self.output.guard(self.schema)?;
        let mut inputs = self.input.expand_beside(&mut guard, false)?;
        if let Some(path) = output.filter(|_| !self.hex_output) {
            To::of_output(path, Some(self.to), Some("--to"), self.to)?;
        }
        let schema = self.schema.load_for_good()?;
        let (syntax, type_name) = match (self.from, self.type_name) {
            (Some(syntax), Some(name)) => (syntax, name.to_owned()),
            (syntax, name) => auto::find(&schema, &mut inputs, syntax, name, self.spelling, Told::Best)?,
        };
        let target = match self.to {
            To::Rules(rules) => rules,
            To::Text(_) => syntax,
        };
        let plans = schema.plans_for(&[syntax, target], &[&type_name]).map_err(Failure::usage)?;
        let [from, to] = &plans[..] else { return Err(Failure::usage("there is no plan")) };
        let root = root(from, &type_name)?;
        let mut options = Options::default();
        options.unknown = self.unknown.policy();
        options.strict_values = self.values.is_strict();
        let rendering = match self.rendering {
            Some(rendering) => if_asked(rendering, &from.shape, root)?,
            None => None,
        };
        let shown = rendering.as_ref().map(|rendering| (rendering, values::shown_plan(from, rendering)));
        let mut values = Values::new(from, root, syntax, options)
            .with_rendering(shown.as_ref().map(|(rendering, plan)| (*rendering, plan)));
        let mut writer = Writer::new(self.to, self.hex_output, &FormOptions::default(), (from, to), root);
        let stop = interrupt::listen(OnInterrupt::Remove)?;
        let mut file = output.map(Output::create).transpose()?;
        let mut stdout = BufWriter::new(term::stdout(self.to.quotes()));
        let mut text = Vec::new();
        for input in inputs {
            for piece in pieces(&input, syntax, self.spelling)? {
                let mut marked = 0;
                let done = values.each(&piece, |view, origin| {
                    if stop.load(Ordering::SeqCst) {
                        return Err(Fault(Failure::interrupted("interrupted")));
                    }
                    marked += view.marks();
                    writer.value(view, origin, &mut text).map_err(|fault| match fault {
                        Unwritten::Value(message) => {
                            Fault(Failure::input(format_args!("{}: {message}", piece.name)))
                        }
                        Unwritten::Second => Fault(Failure::usage(ONE_VALUE)),
                    })?;
                    let out: &mut dyn Write = match &mut file {
                        Some(file) => file,
                        None => &mut stdout,
                    };
                    out.write_all(&text).map_err(|error| Fault(error.into()))?;
                    text.clear();
                    Ok(())
                });
                if let Err(Fault(failure)) = done {
                    stdout.flush()?;
                    return Err(failure);
                }
                // The octets are lost in text alone: BER writes them, other rules refuse them.
                if marked > 0 && !octets {
                    let values = term::count(marked as u64, "marked value");
                    term::warning(format_args!(
                        "{}: {values}: texts and times that break the rules of their type, shown as far as they have characters",
                        piece.name
                    ));
                }
            }
        }
        stdout.flush()?;
        file.map_or(Ok(()), Output::commit)?;
        Ok(Exit::Good)
    }
}

/// What ends the work.
struct Fault(Failure);

impl From<values::Fault> for Fault {
    fn from(fault: values::Fault) -> Self {
        Self(Failure::input(fault.0))
    }
}

/// Why a value was not written.
pub enum Unwritten {
    /// It has no form.
    Value(String),
    /// There is one already, and nothing would tell where it ends.
    Second,
}

/// Writes values in the form asked for.
pub struct Writer<'p> {
    hex: bool,
    codec: Option<TapeCodec<'p>>,
    octets: Vec<u8>,
    render: Box<dyn RowWriter + 'p>,
}

impl<'p> Writer<'p> {
    /// A writer of values that were read by the plan `from`; `to` is the plan of the rules to write by.
    pub fn new(
        what: To,
        hex: bool,
        render: &FormOptions,
        (from, to): (&'p Plan, &'p Plan),
        root: NodeId,
    ) -> Self {
        let (codec, format) = match what {
            To::Text(format) => (None, format),
            To::Rules(rules) => (Some(TapeCodec::new(rules, to)), Format::JSONL),
        };
        Self { hex, codec, octets: Vec::new(), render: format.writer(render, from.into(), root) }
    }

    /// What stands in front of all values.
    pub fn begin(&mut self, out: &mut Vec<u8>) {
        if self.codec.is_none() {
            self.render.begin(out);
        }
    }

    /// What stands behind all values.
    pub fn end(&mut self, out: &mut Vec<u8>) -> io::Result<()> {
        if self.codec.is_none() { self.render.end(out) } else { Ok(()) }
    }

    /// Appends a value: octets, hexadecimal digits in a line, or text and a line feed.
    pub fn value(
        &mut self,
        view: View<'_>,
        origin: &tercet::records::Origin<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), Unwritten> {
        let Some(codec) = &mut self.codec else {
            return self
                .render
                .record(view, origin, out)
                .map_err(|error| Unwritten::Value(error.to_string()));
        };
        self.octets.clear();
        codec.write(view, &mut self.octets).map_err(|error| Unwritten::Value(unwritten(&error)))?;
        let syntax = codec.syntax();
        if syntax.is_text() {
            out.extend_from_slice(&self.octets);
            out.push(b'\n');
        } else if self.hex {
            push_hex(out, &self.octets);
        } else if origin.index > 0 && !syntax.delimits() {
            return Err(Unwritten::Second);
        } else {
            out.extend_from_slice(&self.octets);
        }
        Ok(())
    }
}
