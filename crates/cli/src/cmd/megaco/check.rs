//! `tercet megaco check`.

use super::captures::each_message;
use super::registry::RegistryArgs;
use super::{inputs, place};
use crate::args::writes_stdout;
use crate::exit::{Exit, Failure, Outcome};
use crate::inputs::InputArgs;
use crate::term;
use clap::Args;
use std::io::{self, BufWriter, Write};
use tercet::records::Guard;
use tercet_megaco::codec::Encoding;
use tercet_megaco::model::MegacoMessage;
use tercet_megaco::packages::Packages;

/// Check messages: `ok VERSION`, or `error LINE:COLUMN` and what was expected there
#[derive(Args, Debug)]
#[command(after_help = "\
Of a packet capture (pcap, pcapng) all messages are checked; their lines begin with `frame NUMBER: `.

With --packages, lines below that of a message report what differs from its packages: names of properties, events,
signals, statistics and parameters, and values that are not of their types. A line `note` is about a package that is not
known, or known in part only; it is not a fault. Public packages are those of H.248.1 annex E and later ones of the series H.248, Q.1950 and 3GPP
TS 29.232; of some of these only the name is known, and any name in them is taken.

A registry is TOML: a [[package]] has name, id, perhaps extends and partial = true, and lists of property, event, signal and statistic. Each
has name and id; properties and statistics a type, properties perhaps access = \"read-only\"; events parameters in
requested and observed, signals in parameter, each with name, id and type. A type is boolean, string, octet-string,
integer, double or character, or { enumeration = { NAME = NUMBER, … } }, { list = TYPE }, or an array of types of which
a value has one.

A [[termination]] of a registry gives a name the id that it has in BER and PER: name, id (1 to 8 bytes in hexadecimal), and
wildcards, the fields before it, if the name has any. levels has the bits of each level of names that are bits, [8, 8, 8] by
default.

Exit status: 0, all are messages; 1, one is not a message, or the command line or the registry cannot be used; 2, all are messages,
and in one something is not as its packages have it; 4, a file cannot be read.")]
pub struct Check {
    #[command(flatten)]
    input: InputArgs,

    /// Print only the lines on standard output, without source lines
    #[arg(short, long)]
    quiet: bool,

    /// Check names and values against packages too: the public ones, and those of a registry
    #[arg(long)]
    packages: bool,

    #[command(flatten)]
    registry: RegistryArgs,
}

impl Check {
    pub fn run(&self) -> Outcome {
        let mut guard = Guard::default();
        writes_stdout(&mut guard)?;
        let inputs = inputs(&self.input, &mut guard)?;
        let mut out = BufWriter::new(term::report());
        let binary = self.registry.read()?;
        let (mut failed, mut differs) = (false, false);
        for (input, _) in &inputs {
            each_message(input, &mut |frame, octets| {
                let place_of = frame.map(|frame| format!("frame {frame}: ")).unwrap_or_default();
                let written = match Encoding::detect(octets).decode_with(&binary, octets) {
                    Ok(message) => writeln!(out, "{place_of}ok {}", message.mess.version).and_then(|()| {
                        if self.packages {
                            differs |= findings(&binary.packages, &message, &mut out)?;
                        }
                        Ok(())
                    }),
                    Err(error) => {
                        failed = true;
                        let (line, column) = place(&error, octets);
                        if !self.quiet {
                            let place = format!("{}: {place_of}{line}:{column}", input.shown());
                            let place = if frame.is_some() {
                                place
                            } else {
                                format!("{}:{line}:{column}", input.shown())
                            };
                            self.show(&error, octets, &place, column);
                        }
                        writeln!(out, "{place_of}error {line}:{column} expected {}", error.what)
                    }
                };
                written.map_err(|error| Failure::io("<stdout>", &error))
            })?;
        }
        out.flush().map_err(|error| Failure::io("<stdout>", &error))?;
        // The status that the command promises for messages that are none.
        Ok(match (failed, differs) {
            (true, _) => Exit::Usage,
            (false, true) => Exit::Rejected,
            (false, false) => Exit::Good,
        })
    }

    /// The place and the source line on standard error.
    fn show(&self, error: &tercet_megaco::Error, octets: &[u8], place: &str, column: usize) {
        term::say(place);
        if matches!(Encoding::detect(octets), Encoding::Pretty | Encoding::Compact | Encoding::Json) {
            let text = String::from_utf8_lossy(error.source_line(octets)).replace('\t', " ");
            // A line may be as long as a message: only the part around the place is shown.
            let from = column.saturating_sub(60);
            let text: String = text.chars().skip(from).take(100).collect();
            term::say(format_args!("  | {text}\n  | {:>1$}", '^', (column - from).min(101)));
        }
    }
}

/// Says what is not as the packages have it, and whether that is more than notes.
fn findings(packages: &Packages, message: &MegacoMessage<'_>, out: &mut impl Write) -> io::Result<bool> {
    let mut differs = false;
    for finding in packages.check(message) {
        differs |= !finding.is_information();
        writeln!(out, "  {} {finding}", if finding.is_information() { "note" } else { "wrong" })?;
    }
    Ok(differs)
}
