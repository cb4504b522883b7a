//! `tercet cat`.

#[cfg(feature = "capture")]
use crate::exit::Exit;
use crate::exit::{Failure, Outcome};
#[cfg(feature = "capture")]
use crate::inputs::Input;
use crate::inputs::InputArgs;
use crate::inspect::InspectArgs;
use crate::term;
use clap::Args;
use std::io::{self, Write};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tercet::dynamic::{Error, View};
#[cfg(feature = "capture")]
use tercet::records::Prepared;
use tercet::records::{Format, conversion::FormOptions};
use tercet::records::{Origin, RowWriter};

/// Show records of files, by their numbers
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  tercet cat -s schemas/demo -t CallRecord -n 23 calls.ber
  tercet cat -s schemas/demo -t CallRecord -n 100..110,4711 -f jsonl calls.ber")]
pub struct Cat {
    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    inspect: InspectArgs,

    /// Numbers of records in each input, from 0: `23`, `5..8` with the 8th, `100..` to the end; all unless given
    #[arg(short, long, value_name = "NUMBERS", value_delimiter = ',', default_value = "0..")]
    numbers: Vec<Numbers>,

    /// Output format
    #[arg(short, long, value_enum, default_value_t = Format::VALUE)]
    format: Format,

    #[command(flatten)]
    render: FormOptions,
}

/// Some numbers of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbers {
    first: u64,
    last: u64,
}

impl FromStr for Numbers {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.parse().map_err(|_| format!("`{text}` is not the number of a record"));
        let (first, last) = match text.split_once("..") {
            None => (number(text)?, number(text)?),
            Some((first, "")) => (number(first)?, u64::MAX),
            Some((first, last)) => (number(first)?, number(last)?),
        };
        if first <= last { Ok(Self { first, last }) } else { Err(format!("there is nothing in `{text}`")) }
    }
}

impl Cat {
    pub fn run(&self) -> Outcome {
        if self.format.is_columnar() {
            return Err(Failure::usage("this format is binary; use `tercet convert`"));
        }
        self.render.check_format(Some(self.format))?;
        let mut guard = self.inspect.guard()?;
        let inputs = self.input.expand_beside(&mut guard, false)?;
        #[cfg(feature = "capture")]
        if crate::cmd::capture::are_captures(&inputs, self.inspect.source.records.is_capture())? {
            return self.captures(&inputs);
        }
        // Value notation is that of the type itself, unless told.
        let job = self.inspect.job(&inputs, self.format != Format::VALUE)?;
        let render = self.render.expanded(job.shown(), job.record)?;
        render.check_columns(self.format, job.shown(), job.record)?;
        let mut render = Picked {
            render: self.format.writer(&render, job.shown(), job.record),
            numbers: &self.numbers,
            stop: Arc::clone(&job.stop),
        };
        let mut out = term::stdout(term::quotes(self.format));
        let mut text = Vec::new();
        render.begin(&mut text);
        out.write_all(&text)?;
        let exit = self.inspect.read(&job, &inputs, &mut render, &mut out, &mut |_, _| {})?;
        text.clear();
        render.end(&mut text)?;
        out.write_all(&text)?;
        Ok(exit)
    }
}

#[cfg(feature = "capture")]
impl Cat {
    /// Shows messages of captures, by their numbers among those of a type.
    fn captures(&self, inputs: &[Input]) -> Outcome {
        let messages = self.inspect.captures(&self.input.options)?.messages(inputs)?;
        let mut exit = Exit::Good;
        let mut out = term::stdout(term::quotes(self.format));
        for of_type in &messages {
            let mut prepared = Prepared::new(&of_type.envelope.shape, of_type.envelope.root);
            prepared.expand_columns(&self.render)?;
            prepared.check_columns(&self.render, self.format)?;
            let stop = Arc::<AtomicBool>::default();
            let mut writer = Picked {
                render: self.format.writer(&self.render, prepared.shown(), prepared.record),
                numbers: &self.numbers,
                stop: Arc::clone(&stop),
            };
            exit = exit.max(of_type.read(&mut writer, &mut out, None, Some(&stop))?.0);
        }
        Ok(exit)
    }
}

/// Renders the records that have these numbers, and ends the input behind the last.
struct Picked<'a> {
    render: Box<dyn RowWriter + Send + 'a>,
    numbers: &'a [Numbers],
    stop: Arc<AtomicBool>,
}

impl RowWriter for Picked<'_> {
    fn begin(&mut self, out: &mut Vec<u8>) {
        self.render.begin(out);
    }

    fn record(&mut self, value: View<'_>, origin: &Origin<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        let index = origin.index;
        if self.numbers.iter().all(|numbers| numbers.last <= index) {
            self.stop.store(true, Ordering::SeqCst);
        }
        if self.numbers.iter().any(|numbers| (numbers.first..=numbers.last).contains(&index)) {
            self.render.record(value, origin, out)?;
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Vec<u8>) -> io::Result<()> {
        self.render.end(out)
    }
}
