//! `tercet capture list`.

use super::line;
use super::reading::{Message, ReadingArgs};
use super::threads::{Made, Render, Rendering};
use crate::exit::Outcome;
use crate::term;
use clap::Args;
use serde_json::Value;
use std::io::{BufWriter, Write};
use std::num::NonZeroUsize;
use std::thread;
use tercet::captures::{object, push_line, write};
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

    /// Threads that decode; one for each processor by default
    #[arg(short, long, value_name = "COUNT")]
    jobs: Option<NonZeroUsize>,
}

impl List {
    pub(super) fn run(&self) -> Outcome {
        let quotes = if self.json { term::quotes(Format::JSONL) } else { term::Quotes::Ignored };
        let mut out = BufWriter::new(term::stdout(quotes));
        if !self.json {
            line::head(&mut out)?;
        }
        let mut take = |made: &mut Made| Ok(out.write_all(&made.out)?);
        let rendering = Rendering {
            jobs: self.jobs.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get),
            batch: Format::JSONL.batch(),
            make: &|| Box::new(Lines { list: self }),
            take: &mut take,
        };
        let exit = self.reading.render(rendering)?;
        out.flush()?;
        Ok(exit)
    }
}

/// Writes lines.
struct Lines<'l> {
    list: &'l List,
}

impl Render for Lines<'_> {
    fn message(&mut self, message: Message<'_>, made: &mut Made) -> Outcome<()> {
        let Message { pdu, decoded, file, .. } = message;
        if !self.list.json {
            return Ok(line::row(pdu, decoded, &mut made.out)?);
        }
        if !self.list.flat || decoded.is_none_or(|it| it.inner.is_empty()) {
            push_line(pdu, decoded, file, self.list.layers, &mut made.out);
            made.out.push(b'\n');
            return Ok(());
        }
        let mut object = object(pdu, decoded, file);
        if self.list.layers {
            object.insert("layers".to_owned(), pdu.layers().into());
        }
        let inner = object.remove("inner");
        write(&object, &mut made.out)?;
        for inner in inner.as_ref().and_then(Value::as_array).into_iter().flatten() {
            let members = inner.as_object().into_iter().flatten().filter(|(key, _)| *key != "value");
            // Frame, time and addresses are those of the message around it.
            let mut line = object.clone();
            ["schema", "type", "rules", "error", "warnings"].iter().for_each(|key| _ = line.remove(*key));
            line.extend(members.map(|(key, value)| (key.clone(), value.clone())));
            write(&line, &mut made.out)?;
        }
        Ok(())
    }
}
