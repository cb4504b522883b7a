//! Prints the messages of a packet capture as lines of JSON: `capture-lines SPECIFICATIONS CAPTURE`.

#![expect(clippy::print_stderr, reason = "an example reports to its reader")]

use std::fs::File;
use std::io::{self, BufReader, Write as _};
use std::path::PathBuf;
use tercet_schema::captures::capture::{Capture, Event, Options};
use tercet_schema::captures::{Decoder, DecoderOptions, Specifications, push_line};
use tercet_schema::{PlanCache, SchemaOptions};

fn main() -> io::Result<()> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(schema), Some(path)) = (arguments.next(), arguments.next()) else {
        return Err(io::Error::other("usage: capture-lines SPECIFICATIONS CAPTURE"));
    };
    let options = SchemaOptions { cache: PlanCache::of_user(), ..SchemaOptions::default() };
    let mut decoder = Decoder::new(Specifications::find(&[schema], options)?, DecoderOptions::default());
    let mut capture = Capture::new(BufReader::new(File::open(path)?), Options::default());
    let (mut out, mut line) = (io::stdout().lock(), Vec::new());
    loop {
        let mut print = |event: Event<'_>| match event {
            Event::Pdu(pdu) => {
                push_line(&pdu, Some(&decoder.decode(&pdu)), None, false, &mut line);
                line.push(b'\n');
            }
            Event::Fault(fault) => eprintln!("{fault}"),
            _ => {}
        };
        let more = capture.read_packet(&mut print)?;
        if !more || line.len() > 1 << 16 {
            out.write_all(&line)?;
            line.clear();
        }
        if !more {
            return Ok(());
        }
    }
}
