//! `tercet capture show`.

use super::reading::{Message, Reader, ReadingArgs};
use crate::exit::{Exit, Failure, Outcome};
use crate::term;
use clap::Args;
use serde_json::Value;
use std::io::{BufWriter, Write};
use tercet::captures::object;

/// Show the messages of a frame decoded, with the layers that carry them
#[derive(Args, Debug)]
#[command(after_help = "\
Constants have the names of the specification, and information elements are members by their names. `--numbers` and
`--ies list` show what the specification has.

Examples:
  tercet capture show -s specifications/ attach.pcap --frame 12
  tercet capture show -s specifications/ attach.pcap --where \"message = 'InitialUEMessage'\"")]
pub(super) struct Show {
    #[command(flatten)]
    reading: ReadingArgs,

    /// The frame, numbered as in Wireshark
    #[arg(long, value_name = "NUMBER")]
    frame: Option<u64>,
}

impl Show {
    pub(super) fn run(&self) -> Outcome {
        let mut shown = Shown { frame: self.frame, out: BufWriter::new(term::report()), count: 0 };
        let exit = self.reading.read(true, &mut shown)?;
        shown.out.flush()?;
        if shown.count == 0 && exit == Exit::Good {
            let text = match self.frame {
                Some(frame) => format!("no message in frame {frame}"),
                None => "no message".to_owned(),
            };
            return Err(Failure::usage(format_args!(
                "{text}\nhelp: `tercet capture list` lists the messages"
            )));
        }
        Ok(exit)
    }
}

/// Prints messages.
struct Shown<W: Write> {
    frame: Option<u64>,
    out: W,
    count: u64,
}

impl<W: Write> Reader for Shown<W> {
    fn message(&mut self, message: Message<'_>) -> Outcome<()> {
        let Message { pdu, decoded, file, .. } = message;
        // A frame is shown with the messages that it is a part of.
        if self.frame.is_some_and(|frame| frame != pdu.frame && !pdu.frames().contains(&frame)) {
            return Ok(());
        }
        if self.count > 0 {
            writeln!(self.out)?;
        }
        self.count += 1;
        let object = object(pdu, decoded, file);
        let text = |key: &str| match object.get(key) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Null) | None => "-".to_owned(),
            Some(other) => other.to_string(),
        };
        writeln!(self.out, "frame {}  {}  {}", pdu.frame, text("protocol"), text("message"))?;
        writeln!(self.out, "  {}  {} -> {}", text("time"), text("src"), text("dst"))?;
        let layers = pdu.layers().join(" / ");
        writeln!(
            self.out,
            "  {layers} / {}, {}",
            pdu.protocol.name,
            term::count(pdu.octets.len() as u64, "byte")
        )?;
        for key in ["frames", "stream", "sccp", "ids"] {
            if object.get(key).is_some_and(|value| value.as_object().is_none_or(|it| !it.is_empty())) {
                writeln!(self.out, "  {key}: {}", text(key))?;
            }
        }
        if let Some(fault) = object.get("error") {
            writeln!(self.out, "  error: {fault}")?;
        }
        for warning in object.get("warnings").and_then(Value::as_array).into_iter().flatten() {
            let part = |key: &str| warning[key].as_str().unwrap_or_default();
            writeln!(self.out, "  warning: {}: {} ({})", part("path"), part("message"), part("code"))?;
        }
        match decoded.and_then(|it| it.value.as_ref()) {
            Some(value) => {
                writeln!(self.out, "{}", serde_json::to_string_pretty(value).map_err(std::io::Error::from)?)?
            }
            None => writeln!(self.out, "  {}", text("octets"))?,
        }
        Ok(())
    }
}
