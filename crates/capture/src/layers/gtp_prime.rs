//! GTP′ (3GPP TS 32.295): call detail records on their way to the charging gateway.

use super::{Field, Layers, Path, Sink, u16_at};
use crate::balance::End;
use crate::event::Unread;
use crate::protocol::{Target, protocol};

/// The type of Data Record Transfer Requests.
const DATA_RECORD_TRANSFER: u8 = 240;
/// Information elements: the command, and the records.
const COMMAND: u8 = 126;
const RECORDS: u8 = 252;

impl Layers {
    /// Reads a message: each record in it is a message of its own.
    pub(super) fn gtp_prime(&mut self, octets: &[u8], path: &mut Path, sink: Sink<'_>) -> End {
        let (Some(&[flags, kind]), Some(length)) = (octets.first_chunk(), u16_at(octets, 2)) else {
            self.fault(path, "gtp'", "header is cut".into(), sink);
            return End::Bad;
        };
        // The bit of the protocol type is 1 in GTP.
        if flags & 0x10 != 0 || flags >> 5 > 2 || kind != DATA_RECORD_TRANSFER {
            return End::Nothing;
        }
        // Version 0 has a header of 20 octets unless its last bit is set.
        let header = if flags >> 5 == 0 && flags & 1 == 0 { 20 } else { 6 };
        let mut at = header;
        let end = (header + usize::from(length)).min(octets.len());
        let (mut command, mut found) = (0, End::Nothing);
        while let Some(&element) = octets.get(at..end).and_then(<[u8]>::first) {
            // Elements below 128 have a fixed length; the command is the only one of this message.
            if element < 128 {
                if element == COMMAND {
                    command = octets.get(at + 1).copied().unwrap_or(0);
                }
                at += 2;
                continue;
            }
            let Some(length) = u16_at(octets, at + 1).map(usize::from) else { break };
            let Some(value) = octets.get(at + 3..at + 3 + length).filter(|_| at + 3 + length <= end) else {
                self.fault(path, "gtp'", "information element exceeds the message".into(), sink);
                return found.max(End::Bad);
            };
            if element == RECORDS {
                found = found.max(self.records(value, command == 2, path, sink));
            }
            at += 3 + length;
        }
        found
    }

    /// Reads a packet of records: their number, format, version of the format, and records with lengths.
    fn records(&mut self, value: &[u8], possible_duplicate: bool, path: &mut Path, sink: Sink<'_>) -> End {
        let (Some(&[count, format]), Some(mut rest)) = (value.first_chunk(), value.get(4..)) else {
            self.fault(path, "gtp'", "data record packet is cut".into(), sink);
            return End::Bad;
        };
        let target = self.lookup.rule(Field::GtpPrimeFormat, format.into());
        // Format 1 is BER, 2 and 3 are PER (TS 32.298 §6); others belong to operators.
        let target =
            target.or_else(|| protocol("gtpp").filter(|_| (1..=3).contains(&format)).map(Target::from));
        let Some(target) = target else {
            self.balance.count_unread(Unread::GtpPrimeFormat(format));
            return End::Unread;
        };
        let mut found = End::Nothing;
        for _ in 0..count {
            let record = u16_at(rest, 0).and_then(|length| rest.get(2..2 + usize::from(length)));
            let Some(record) = record else {
                self.fault(path, "gtp'", "data record exceeds the packet".into(), sink);
                return found.max(End::Bad);
            };
            if !record.is_empty() {
                self.pdu(path, target.clone(), record, possible_duplicate, sink);
                found = End::Pdu;
            }
            rest = &rest[2 + record.len()..];
        }
        found
    }
}
