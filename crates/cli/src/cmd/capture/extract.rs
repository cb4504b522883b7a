//! `tercet capture extract`.

use super::reading::{Message, Reader, ReadingArgs};
use crate::exit::{Exit, Failure, Outcome};
use crate::term;
use clap::{Args, ValueEnum};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use tercet::captures::{object, write};
use tercet::records::Output;

/// Write the bytes of messages to a record file, or a file each
#[derive(Args, Debug)]
#[command(after_help = "\
OUT is a record file, which other commands read with `--framing u32be`, and OUT.jsonl lists its messages as `list --json`
does, each with `offset` and `length`. If OUT is a directory or ends in `/`, each message is a file FRAME-NUMBER.PROTOCOL
there, and manifest.jsonl lists them.

Examples:
  tercet capture extract --protocol s1ap attach.pcap -o s1ap.records
  tercet capture extract --protocol h248-text calls.pcap -o messages/")]
pub(super) struct Extract {
    #[command(flatten)]
    reading: ReadingArgs,

    /// File, or directory with `/` at the end
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,

    /// Framing of the record file: what is before each message
    #[arg(long, value_enum, default_value_t = Framing::U32be, value_name = "FRAMING")]
    framing: Framing,
}

/// What is before each message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Framing {
    /// Its length in two bytes
    U16be,
    /// Its length in four bytes
    U32be,
    /// Nothing
    Plain,
}

impl Extract {
    pub(super) fn run(&self) -> Outcome {
        let is_directory = self.output.is_dir() || self.output.as_os_str().to_string_lossy().ends_with('/');
        let mut written = if is_directory {
            fs::create_dir_all(&self.output).map_err(|error| Failure::io(self.output.display(), &error))?;
            let manifest = Output::create(self.output.join("manifest.jsonl"))?;
            Written {
                directory: Some(&self.output),
                records: None,
                manifest,
                framing: self.framing,
                offset: 0,
                count: 0,
            }
        } else {
            let manifest = Output::create(PathBuf::from(format!("{}.jsonl", self.output.display())))?;
            let records = Some(Output::create(&self.output)?);
            Written { directory: None, records, manifest, framing: self.framing, offset: 0, count: 0 }
        };
        let exit = self.reading.read(false, &mut written)?;
        if exit == Exit::Io {
            return Ok(exit);
        }
        written.records.map(Output::commit).transpose()?;
        written.manifest.commit()?;
        term::say(format_args!("{}: {}", self.output.display(), term::count(written.count, "message")));
        Ok(exit)
    }
}

/// Writes messages.
struct Written<'e> {
    directory: Option<&'e Path>,
    records: Option<Output>,
    manifest: Output,
    framing: Framing,
    offset: u64,
    count: u64,
}

impl Reader for Written<'_> {
    fn message(&mut self, message: Message<'_>) -> Outcome<()> {
        let Message { pdu, decoded, file, .. } = message;
        let mut line = object(pdu, decoded, file);
        self.count += 1;
        if let Some(directory) = self.directory {
            let name = format!("{}-{}.{}", pdu.frame, self.count, pdu.protocol.name);
            let mut output = Output::create(directory.join(&name))?;
            output.write_all(pdu.octets)?;
            output.commit()?;
            line.insert("path".to_owned(), name.into());
        } else if let Some(records) = &mut self.records {
            let length = pdu.octets.len();
            let prefix = match self.framing {
                Framing::U16be => match u16::try_from(length) {
                    Ok(length) => length.to_be_bytes().to_vec(),
                    Err(_) => {
                        let text = "frame {}: message of {length} bytes does not fit; use `--framing u32be`";
                        return Err(Failure::usage(
                            text.replace("{}", &pdu.frame.to_string())
                                .replace("{length}", &length.to_string()),
                        ));
                    }
                },
                Framing::U32be => (length as u32).to_be_bytes().to_vec(),
                Framing::Plain => Vec::new(),
            };
            records.write_all(&prefix)?;
            records.write_all(pdu.octets)?;
            line.insert("offset".to_owned(), (self.offset + prefix.len() as u64).into());
            line.insert("length".to_owned(), length.into());
            self.offset += (prefix.len() + length) as u64;
        }
        Ok(write(&line, &mut self.manifest)?)
    }
}
