//! `tercet megaco check`.

use super::{inputs, place};
use crate::exit::{Exit, Failure, Outcome};
use crate::inputs::InputArgs;
use crate::term;
use clap::Args;
use std::io::{self, BufWriter, Write};
use tercet_megaco::codec::{Encoding, decode_any};

/// Say of each message whether it is one: `ok VERSION`, or `error LINE:COLUMN` and what was expected there
#[derive(Args, Debug)]
pub struct Check {
    #[command(flatten)]
    input: InputArgs,

    /// Say nothing but the lines on standard output: no source line for what is wrong
    #[arg(short, long)]
    quiet: bool,
}

impl Check {
    pub fn run(&self) -> Outcome {
        let inputs = inputs(&self.input)?;
        let mut out = BufWriter::new(io::stdout().lock());
        let mut failed = false;
        for (input, _) in &inputs {
            let octets = input.read()?;
            let written = match decode_any(&octets) {
                Ok(message) => writeln!(out, "ok {}", message.mess.version),
                Err(error) => {
                    failed = true;
                    let (line, column) = place(&error, &octets);
                    if !self.quiet {
                        self.show(&error, &octets, &format!("{}:{line}:{column}", input.name()), column);
                    }
                    writeln!(out, "error {line}:{column} expected {}", error.what)
                }
            };
            written.map_err(|error| Failure::io("<stdout>", &error))?;
        }
        out.flush().map_err(|error| Failure::io("<stdout>", &error))?;
        // The status that the command promises for messages that are none.
        Ok(if failed { Exit::Usage } else { Exit::Good })
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
