//! Messages in packet captures, one after the other.

use crate::exit::{Failure, Outcome};
use crate::inputs::Input;
use crate::term;
use std::io::{Cursor, Read};
use tercet_capture::file::is_capture;
use tercet_capture::{Capture, Event, Options};

/// Takes a message, and its frame if it is in a capture.
type Act<'a> = &'a mut dyn FnMut(Option<u64>, &[u8]) -> Outcome<()>;

/// Calls `act` for the message of an input, or for each message of H.248 in a capture, with its frame.
pub(super) fn each_message(input: &Input, act: Act<'_>) -> Outcome<()> {
    let named = |error: std::io::Error| Failure::io(input.name(), &error);
    let mut reader = input.open()?;
    let mut begin = Vec::new();
    reader.by_ref().take(4).read_to_end(&mut begin).map_err(named)?;
    if !is_capture(&begin) {
        reader.read_to_end(&mut begin).map_err(named)?;
        return act(None, &begin);
    }
    let mut capture = Capture::new(Cursor::new(begin).chain(reader), Options::default());
    let mut acted = Ok(());
    let mut sink = |event: Event<'_>| match event {
        Event::Pdu(pdu) if acted.is_ok() && matches!(&*pdu.protocol.name, "h248" | "h248-text") => {
            acted = act(Some(pdu.frame), pdu.octets);
        }
        Event::Fault(fault) => term::warning(format_args!("{}: {fault}", input.shown())),
        _ => {}
    };
    while capture.read_packet(&mut sink).map_err(named)? {}
    acted
}
