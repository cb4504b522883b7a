//! `tercet encode`.

use crate::args::{RulesArg, SchemaArgs};
use crate::exit::{Exit, Failure, Outcome};
use crate::inputs::{Input, InputArgs};
use crate::values::{push_hex, unfit};
use clap::{Args, ValueEnum};
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use tercet::dynamic::{Encoder, ReadError, Tape, json, xml};
use tercet::records::Output;

/// Encode values given as JSON or XML
#[derive(Args, Debug)]
#[command(after_help = "\
An input of JSON holds one value or several one after the other, such as a file of JSON lines; one of XML holds one.

Examples:
  tercet encode -s schemas/personnel -t PersonnelRecord john.json -o john.ber
  tercet decode -s a.asn -t A a.ber | tercet encode -s a.asn -t A --rules der --hex
  tercet encode -s a.asn -t A --rules uper a.json -o a.uper")]
pub struct Encode {
    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    schema: SchemaArgs,

    /// The type, as `Type` or `Module.Type`
    #[arg(short, long = "type", value_name = "TYPE")]
    type_name: String,

    /// The rules to encode by
    #[arg(long, value_enum, default_value_t = RulesArg::Ber)]
    rules: RulesArg,

    /// What the input is
    #[arg(long, value_enum, default_value_t = From::Json, value_name = "FORMAT")]
    from: From,

    /// Write hexadecimal text, a line for each value
    #[arg(long)]
    hex: bool,

    /// Output file; standard output if not given
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// What the input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum From {
    /// JSON values
    Json,
    /// One XML element
    Xml,
}

/// Why a second value cannot follow the first.
pub const ONE_VALUE: &str = "values by these rules do not tell where they end: only one fits an output; `--hex` writes a line for each";

impl Encode {
    pub fn run(&self) -> Outcome {
        if self.output.is_none() && !self.hex && io::stdout().is_terminal() {
            return Err(Failure::usage("the octets would go to a terminal; use `-o FILE` or `--hex`"));
        }
        let schema = self.schema.load()?;
        let plan = schema.plan(self.rules.rules(), &[&self.type_name]).map_err(Failure::usage)?;
        let root = plan
            .root(&self.type_name)
            .ok_or_else(|| Failure::usage(format_args!("the plan has no type `{}`", self.type_name)))?;
        let mut json = json::Reader::new(&plan.shape, json::Options::default());
        let mut xml = xml::Reader::new(&plan.shape, xml::ReadOptions::default());
        let (mut encoder, mut tape) = (Encoder::new(), Tape::new());
        let (mut octets, mut line, mut count) = (Vec::new(), Vec::new(), 0);
        for input in self.input.expand()? {
            let text = input.read()?;
            let places = if self.from == From::Json { values(&text) } else { vec![(0, text.len())] };
            for (begin, end) in places {
                let value = &text[begin..end];
                match self.from {
                    From::Json => json.read(root, value, &mut tape),
                    From::Xml => xml.read(root, value, &mut tape),
                }
                .map_err(|error| Failure::input(describe(&input, &text[..begin], &error)))?;
                line.clear();
                encoder
                    .encode(&plan, self.rules.rules(), tape.view(&[]), &mut line)
                    .map_err(|error| Failure::input(format_args!("{}: {}", input.name(), unfit(&error))))?;
                count += 1;
                if self.hex {
                    push_hex(&mut octets, &line);
                } else if count > 1 && !self.rules.delimits() {
                    return Err(Failure::usage(ONE_VALUE));
                } else {
                    octets.extend_from_slice(&line);
                }
            }
        }
        match &self.output {
            Some(path) => {
                let mut output = Output::create(path).map_err(|error| Failure::io(path.display(), &error))?;
                output.write_all(&octets)?;
                output.commit().map_err(|error| Failure::io(path.display(), &error))?;
            }
            None => io::stdout().write_all(&octets)?,
        }
        Ok(Exit::Good)
    }
}

/// Where the values of a text are. Behind a fault all is one value, for the reader to say what is wrong.
fn values(text: &[u8]) -> Vec<(usize, usize)> {
    let mut places = Vec::new();
    let mut begin = 0;
    let mut values = serde_json::Deserializer::from_slice(text).into_iter::<serde_json::Value>();
    while let Some(value) = values.next() {
        let end = if value.is_ok() { values.byte_offset() } else { text.len() };
        places.push((begin, end));
        if value.is_err() {
            break;
        }
        begin = end;
    }
    places
}

/// What is wrong, with the line in the whole input.
fn describe(input: &Input, before: &[u8], error: &ReadError) -> String {
    let lines = before.iter().filter(|&&octet| octet == b'\n').count();
    let (line, column, path) = (lines + error.line(), error.column(), error.path());
    let path = if path.is_empty() { path } else { format!("{path}: ") };
    format!("{}:{line}:{column}: {path}{}", input.name(), error.message())
}
