//! `tercet capture list`.

use super::line;
use super::reading::{Message, Reader, ReadingArgs};
use crate::exit::Outcome;
use crate::term;
use clap::Args;
use serde_json::Value;
use std::io::{BufWriter, Write};
use tercet::captures::{object, write};
use tercet::records::Format;

/// List the messages of captures, a line each
#[derive(Args, Debug)]
#[command(after_help = "\
Frames are numbered as in Wireshark; a message of several fragments has the frame of the last
missing one. Packets that cannot be read are reported on standard error. Without a specification a
message is listed, but not decoded.

Examples:
  tercet capture list -s specifications/ attach.pcap
  tercet capture list --json --protocol s1ap,ngap attach.pcap
  tercet capture list -s specifications/ --where \"message like 'Initial%' and ids.amf = 17\" attach.pcap
  tercet capture list --no-decode --decode-as sctp.port==5000=s1ap attach.pcap")]
pub(super) struct List {
    #[command(flatten)]
    reading: ReadingArgs,

    /// Print a JSON object for each message, with its bytes
    #[arg(long)]
    json: bool,

    /// Print the messages inside of others as separate lines instead of in `inner`
    #[arg(long, requires = "json")]
    flat: bool,

    /// Add the layers that carry each message to its object
    #[arg(long, requires = "json")]
    layers: bool,
}

impl List {
    pub(super) fn run(&self) -> Outcome {
        let quotes = if self.json { term::quotes(Format::JSONL) } else { term::Quotes::Ignored };
        let mut lines = Lines { list: self, out: BufWriter::new(term::stdout(quotes)) };
        if !self.json {
            line::head(&mut lines.out)?;
        }
        let exit = self.reading.read(false, &mut lines)?;
        lines.out.flush()?;
        Ok(exit)
    }
}

/// Writes lines.
struct Lines<'l, W: Write> {
    list: &'l List,
    out: W,
}

impl<W: Write> Reader for Lines<'_, W> {
    fn message(&mut self, message: Message<'_>) -> Outcome<()> {
        let Message { pdu, decoded, file, .. } = message;
        if !self.list.json {
            return Ok(line::row(pdu, decoded, &mut self.out)?);
        }
        let mut object = object(pdu, decoded, file);
        if self.list.layers {
            object.insert("layers".to_owned(), pdu.layers().into());
        }
        let inner = if self.list.flat { object.remove("inner") } else { None };
        write(&object, &mut self.out)?;
        for inner in inner.as_ref().and_then(Value::as_array).into_iter().flatten() {
            let members = inner.as_object().into_iter().flatten();
            // Frame, time and addresses are those of the message around it.
            let mut line = object.clone();
            ["schema", "type", "rules", "error", "warnings"].iter().for_each(|key| _ = line.remove(*key));
            line.extend(members.map(|(key, value)| (key.clone(), value.clone())));
            write(&line, &mut self.out)?;
        }
        Ok(())
    }
}
