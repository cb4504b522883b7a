//! Messages that are kept after their packets: batches for other threads.

use crate::event::{Names, Pdu};

/// No layers, of messages whose layers are elsewhere.
static NO_NAMES: Names = Names::NONE;

/// Messages with their octets, independent of the capture that they were read from.
///
/// It keeps its memory when it is cleared.
#[derive(Debug, Default)]
pub struct Batch {
    octets: Vec<u8>,
    messages: Vec<Kept>,
    /// Layers; messages that follow each other mostly have the same.
    names: Vec<Names>,
}

/// A message whose octets and layers are in the batch.
#[derive(Debug)]
struct Kept {
    pdu: Pdu<'static>,
    begin: usize,
    end: usize,
    names: usize,
}

impl Batch {
    /// Adds a copy of a message.
    pub fn add(&mut self, pdu: &Pdu<'_>) {
        let begin = self.octets.len();
        self.octets.extend_from_slice(pdu.octets);
        if self.names.last() != Some(pdu.names) {
            self.names.push(*pdu.names);
        }
        let (end, names) = (self.octets.len(), self.names.len() - 1);
        self.messages.push(Kept { pdu: pdu.with(&[], &NO_NAMES), begin, end, names });
    }

    /// Returns the messages in the order in which they were added.
    pub fn pdus(&self) -> impl Iterator<Item = Pdu<'_>> {
        self.messages.iter().map(|kept| {
            let octets = self.octets.get(kept.begin..kept.end).unwrap_or_default();
            kept.pdu.with(octets, self.names.get(kept.names).unwrap_or(&NO_NAMES))
        })
    }

    /// Returns the number of messages.
    pub fn len(&self) -> usize {
        self.messages.len()
    }

    /// Returns whether there is no message.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Returns the number of octets of all messages.
    pub fn octets(&self) -> usize {
        self.octets.len()
    }

    /// Removes all messages and keeps the memory.
    pub fn clear(&mut self) {
        self.octets.clear();
        self.messages.clear();
        self.names.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Capture, Event, Options};

    /// A capture of raw IP with two messages of SNMP over UDP.
    fn capture() -> Vec<u8> {
        let mut file =
            vec![0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 101, 0, 0, 0];
        for last in [7, 8] {
            let packet = [
                &[0x45, 0, 0, 33, 0, 1, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2][..],
                &[0, 161, 0, 161, 0, 13, 0, 0, 0x30, 3, 2, 1, last],
            ]
            .concat();
            for number in [0, 0, packet.len() as u32, packet.len() as u32] {
                file.extend(u32::to_le_bytes(number));
            }
            file.extend(packet);
        }
        file
    }

    #[test]
    fn kept_messages_are_those_that_were_read() {
        let (mut batch, mut read) = (Batch::default(), Vec::new());
        let show = |pdu: &Pdu<'_>| format!("{pdu:?} {:?} {:?}", pdu.layers(), pdu.frames());
        let file = capture();
        let mut capture = Capture::new(&file[..], Options::default());
        let mut sink = |event: Event<'_>| {
            if let Event::Pdu(pdu) = event {
                read.push(show(&pdu));
                batch.add(&pdu);
            }
        };
        while capture.read_packet(&mut sink).unwrap() {}
        assert_eq!((read.len(), batch.len(), batch.octets()), (2, 2, 10));
        assert_eq!(batch.pdus().map(|pdu| show(&pdu)).collect::<Vec<_>>(), read);
        assert_eq!(batch.names.len(), 1);
        batch.clear();
        assert!(batch.is_empty() && batch.pdus().next().is_none());
    }
}
