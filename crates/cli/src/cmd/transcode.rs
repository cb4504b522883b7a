//! `tercet transcode`.

use crate::args::{RulesArg, SchemaArgs};
use crate::cmd::convert::UnknownArg;
use crate::cmd::encode::ONE_VALUE;
use crate::exit::{Exit, Failure, Outcome};
use crate::inputs::InputArgs;
use crate::interrupt::{self, OnInterrupt};
use crate::render::{Format, RenderArgs};
use crate::values::{Values, pieces, push_hex, unfit};
use clap::{Args, ValueEnum};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use tercet::dynamic::{Encoder, Error, Leaf, NodeId, Options, Plan, Token, View};
use tercet::plan::Kind;
use tercet::records::{Output, Render};

/// Write values encoded by one set of rules by another, or as text
#[derive(Args, Debug)]
#[command(after_help = "\
An input holds one value or several one after the other; by PER, whose values do not tell where they end, one, or with
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

    /// The type, as `Type` or `Module.Type`
    #[arg(short, long = "type", value_name = "TYPE")]
    type_name: String,

    /// The rules that the input has to follow
    #[arg(long, value_enum, value_name = "RULES")]
    from: RulesArg,

    /// What the output is: encoding rules or a text format
    #[arg(long, value_parser = to, value_name = "RULES|FORMAT")]
    to: To,

    /// Encodings are hexadecimal text on both sides, a line for each value
    #[arg(long)]
    hex: bool,

    /// The input is hexadecimal text; by PER, a value in each line
    #[arg(long)]
    hex_input: bool,

    /// Write hexadecimal text, a line for each value
    #[arg(long)]
    hex_output: bool,

    /// What to do with components that the schema does not know
    #[arg(long, value_enum, default_value_t = UnknownArg::Extensible, value_name = "POLICY")]
    unknown: UnknownArg,

    /// Output file; standard output if not given
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// What the output is.
#[derive(Clone, Copy, Debug)]
enum To {
    Rules(RulesArg),
    Text(Format),
}

fn to(text: &str) -> Result<To, String> {
    if let Ok(rules) = RulesArg::from_str(text, false) {
        return Ok(To::Rules(rules));
    }
    match Format::from_str(text, false) {
        Ok(format) if format != Format::Csv => Ok(To::Text(format)),
        _ => {
            let names = |values: Vec<Option<clap::builder::PossibleValue>>| {
                values.into_iter().flatten().map(|value| value.get_name().to_owned()).collect::<Vec<_>>()
            };
            let mut all =
                names(RulesArg::value_variants().iter().map(ValueEnum::to_possible_value).collect());
            let texts = Format::value_variants().iter().filter(|format| **format != Format::Csv);
            all.extend(names(texts.map(ValueEnum::to_possible_value).collect()));
            Err(format!("possible values: {}", all.join(", ")))
        }
    }
}

impl Transcode {
    pub fn run(&self) -> Outcome {
        let hex = self.hex || self.hex_output;
        if self.output.is_none() && !hex && matches!(self.to, To::Rules(_)) && io::stdout().is_terminal() {
            return Err(Failure::usage("the octets would go to a terminal; use `-o FILE` or `--hex-output`"));
        }
        let schema = self.schema.load()?;
        let inputs = self.input.expand()?;
        let target = match self.to {
            To::Rules(rules) => rules,
            To::Text(_) => self.from,
        };
        let plans =
            schema.plans(&[self.from.rules(), target.rules()], &[&self.type_name]).map_err(Failure::usage)?;
        let [from, to] = &plans[..] else { return Err(Failure::usage("there is no plan")) };
        let root = from
            .root(&self.type_name)
            .ok_or_else(|| Failure::usage(format_args!("the plan has no type `{}`", self.type_name)))?;
        let mut options = Options::default();
        options.unknown = self.unknown.policy();
        let mut values = Values::new(from, root, self.from, options);
        let mut writer = Writer::new(self, from, to, root);
        let stop = interrupt::listen(OnInterrupt::Remove)?;
        let mut file = self.output.as_ref().map(Output::create).transpose()?;
        let mut stdout = BufWriter::new(io::stdout().lock());
        let mut text = Vec::new();
        for input in inputs {
            for piece in pieces(&input, self.from, self.hex || self.hex_input)? {
                let done = values.each(&piece.octets, |view, origin| {
                    if stop.load(Ordering::SeqCst) {
                        return Err(Fault::Other(Failure::interrupted("interrupted")));
                    }
                    writer.value(view, origin, &mut text)?;
                    let out: &mut dyn Write = match &mut file {
                        Some(file) => file,
                        None => &mut stdout,
                    };
                    out.write_all(&text)?;
                    text.clear();
                    Ok(())
                });
                if let Err(fault) = done {
                    stdout.flush()?;
                    return Err(match fault {
                        Fault::Decode(error) => Failure::input(format_args!("{}: {error}", piece.name)),
                        Fault::Encode(text) => Failure::input(format_args!("{}: {text}", piece.name)),
                        Fault::Other(failure) => failure,
                    });
                }
            }
        }
        stdout.flush()?;
        file.map_or(Ok(()), Output::commit)?;
        Ok(Exit::Good)
    }
}

/// Why a value was not written.
enum Fault {
    Decode(Error),
    Encode(String),
    Other(Failure),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Decode(error)
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Other(error.into())
    }
}

/// Writes values in the form asked for.
struct Writer<'p> {
    to: To,
    hex: bool,
    from: RulesArg,
    plan: &'p Plan,
    encoder: Encoder,
    octets: Vec<u8>,
    render: Box<dyn Render + 'p>,
}

impl<'p> Writer<'p> {
    fn new(command: &Transcode, from: &'p Plan, to: &'p Plan, root: NodeId) -> Self {
        let format = match command.to {
            To::Text(format) => format,
            To::Rules(_) => Format::Jsonl,
        };
        Self {
            to: command.to,
            hex: command.hex || command.hex_output,
            from: command.from,
            plan: to,
            encoder: Encoder::new(),
            octets: Vec::new(),
            render: RenderArgs::default().renderer(format, from, root),
        }
    }

    fn value(
        &mut self,
        view: View<'_>,
        origin: &tercet::records::Origin,
        out: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        let To::Rules(rules) = self.to else { return Ok(self.render.record(view, origin, out)?) };
        if !carries(self.from, rules)
            && let Some(what) = opaque(self.plan, view)
        {
            return Err(Fault::Encode(format!("the value at {:#x} has {what}", origin.offset)));
        }
        self.octets.clear();
        self.encoder
            .encode(self.plan, rules.rules(), view, &mut self.octets)
            .map_err(|error| Fault::Encode(unfit(&error)))?;
        if self.hex {
            push_hex(out, &self.octets);
        } else if origin.index > 0 && !rules.delimits() {
            return Err(Fault::Other(Failure::usage(ONE_VALUE)));
        } else {
            out.extend_from_slice(&self.octets);
        }
        Ok(())
    }
}

/// Whether an encoding that nobody can look into is as good by the other rules.
fn carries(from: RulesArg, to: RulesArg) -> bool {
    from == to
        || matches!(
            (from, to),
            (RulesArg::Der | RulesArg::Cer, RulesArg::Ber)
                | (RulesArg::CanonicalAper, RulesArg::Aper)
                | (RulesArg::CanonicalUper, RulesArg::Uper)
                | (RulesArg::Coer, RulesArg::Oer)
        )
}

/// What a value holds in the form of its rules, since nothing tells what is inside: it cannot be written by others.
fn opaque(plan: &Plan, view: View<'_>) -> Option<String> {
    let shape = &plan.shape;
    view.tokens().find_map(|token| match token {
        // Made without octets, it only tells that the type of the sender has so many additions.
        Token::Unknown { leaf: Leaf::Made([]), .. } => None,
        Token::Unknown { .. } => Some(
            "an extension addition that the schema does not know: other rules cannot write it".to_owned(),
        ),
        Token::Leaf { field, node, leaf: Leaf::Input { .. } | Leaf::Made(_) }
            if shape.node(node).kind == Kind::Open =>
        {
            let name = shape.fields.get(field.index()).map_or("…", |field| shape.name(field.name));
            Some(format!("an open type whose content is not known: `{name}`; other rules cannot write it"))
        }
        _ => None,
    })
}
