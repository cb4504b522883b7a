//! `tercet megaco`: messages of H.248.1.

mod agent;
mod capture;
mod captures;
mod check;
mod erlang;
mod measure;
mod registry;
mod transcode;

use crate::exit::Outcome;
use crate::inputs::{Input, InputArgs};
use clap::builder::PossibleValuesParser;
use clap::builder::TypedValueParser;
use clap::{Args, Subcommand};
use std::path::{Path, PathBuf};
use tercet::records::Guard;
use tercet_megaco::codec::Encoding;

/// Read, write and convert messages of Megaco/H.248, and run gateways and controllers
#[derive(Args, Debug)]
#[command(after_help = "\
Encodings: pretty and compact text; etf, Erlang terms, and etf-mc, etf-zlib, etf-mc-zlib, the same in short; json.
The encoding of the input is found by its first bytes.

Examples:
  tercet megaco check messages/
  tercet megaco transcode --to compact -o short/ messages/
  tercet megaco decode message.txt
  tercet megaco meas messages/
  tercet megaco mgc --listen udp://127.0.0.1:2944
  tercet megaco capture call.pcap")]
pub struct Megaco {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
#[command(defer = true)]
enum Command {
    Check(check::Check),
    Transcode(transcode::Transcode),
    Decode(transcode::Decode),
    Encode(transcode::Encode),
    Meas(measure::Meas),
    Mstone(measure::Mstone),
    Mgc(agent::Mgc),
    Mg(agent::Mg),
    Load(agent::Load),
    Capture(capture::Capture),
}

impl Megaco {
    pub fn run(&self) -> Outcome {
        match &self.command {
            Command::Check(command) => command.run(),
            Command::Transcode(command) => command.run(),
            Command::Decode(command) => command.run(),
            Command::Encode(command) => command.run(),
            Command::Meas(command) => command.run(),
            Command::Mstone(command) => command.run(),
            Command::Mgc(command) => command.run(),
            Command::Mg(command) => command.run(),
            Command::Load(command) => command.run(),
            Command::Capture(command) => command.run(),
        }
    }
}

/// Names of encodings on the command line.
fn encodings() -> impl TypedValueParser<Value = Encoding> {
    let names = Encoding::ALL.iter().map(|known| known.0);
    PossibleValuesParser::new(names).map(|name| Encoding::named(&name).unwrap_or(Encoding::Pretty))
}

/// Inputs, with the path of each below the directory that was given.
fn inputs(args: &InputArgs, guard: &mut Guard) -> Outcome<Vec<(Input, PathBuf)>> {
    if args.options.inputs.is_empty() {
        return Ok(vec![(Input::Stdin, PathBuf::from("-"))]);
    }
    let mut all = Vec::new();
    for text in &args.options.inputs {
        let mut one = args.clone();
        one.options.inputs = vec![text.clone()];
        for input in one.expand_beside(guard, false)? {
            let below = match &input {
                Input::File(path) => match path.strip_prefix(text) {
                    Ok(below) if !below.as_os_str().is_empty() => below.to_owned(),
                    _ => path.file_name().map(PathBuf::from).unwrap_or_default(),
                },
                _ => PathBuf::from("-"),
            };
            all.push((input, below));
        }
    }
    Ok(all)
}

/// The place of an error: line and column of text, line 1 and the octet, from 1, of anything else.
fn place(error: &tercet_megaco::Error, octets: &[u8]) -> (usize, usize) {
    match Encoding::detect(octets) {
        Encoding::Pretty | Encoding::Compact | Encoding::Json => error.line_and_column(octets),
        _ => (1, error.at + 1),
    }
}

/// What is wrong with an input, in one line.
fn fault(error: &tercet_megaco::Error, octets: &[u8], path: &Path) -> String {
    let (line, column) = place(error, octets);
    format!("{}:{line}:{column}: expected {}", tercet_printable::path(path), error.what)
}
