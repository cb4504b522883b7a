//! Files of libpcap: a header of 24 octets, then records with a header of 16 octets each.

use super::{Item, PACKET_LIMIT, Packet, PacketReader};
use crate::fault::Fault;
use crate::time::Time;
use std::io::{self, Read};

/// What the first four octets tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Magic {
    Known {
        big_endian: bool,
        nanoseconds: bool,
    },
    /// Records of another form, which Linux kernels of the 1990s wrote.
    Modified,
}

impl Magic {
    pub(super) fn of(begin: &[u8]) -> Option<Self> {
        Some(match begin.first_chunk()? {
            [0xA1, 0xB2, 0xC3, 0xD4] => Self::Known { big_endian: true, nanoseconds: false },
            [0xD4, 0xC3, 0xB2, 0xA1] => Self::Known { big_endian: false, nanoseconds: false },
            [0xA1, 0xB2, 0x3C, 0x4D] => Self::Known { big_endian: true, nanoseconds: true },
            [0x4D, 0x3C, 0xB2, 0xA1] => Self::Known { big_endian: false, nanoseconds: true },
            [0xA1, 0xB2, 0xCD, 0x34] | [0x34, 0xCD, 0xB2, 0xA1] => Self::Modified,
            _ => return None,
        })
    }
}

/// What the header of the file says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    big_endian: bool,
    nanoseconds: bool,
    link_type: u32,
}

impl Header {
    /// Reads the header of a file; nothing if it is cut.
    pub(super) fn read(begin: &[u8], big_endian: bool, nanoseconds: bool) -> Option<Self> {
        let header = Self { big_endian, nanoseconds, link_type: 0 };
        // The upper half has the length of frame check sequences, of which nothing depends here: lengths of IP count.
        let link_type = header.number(begin.get(20..24)?) & 0xFFFF;
        Some(Self { link_type, ..header })
    }

    /// Reads a number of four octets.
    fn number(self, octets: &[u8]) -> u32 {
        let octets = octets.first_chunk().copied().unwrap_or_default();
        if self.big_endian { u32::from_be_bytes(octets) } else { u32::from_le_bytes(octets) }
    }
}

impl<R: Read> PacketReader<R> {
    pub(super) fn next_pcap(&mut self, header: Header) -> io::Result<Option<Item<'_>>> {
        if !self.window.fill(16)? {
            if self.window.octets().is_empty() {
                return Ok(None);
            }
            return Ok(self.give_up("pcap", "the file ends in the header of a packet")?.map(Item::Fault));
        }
        let begin = self.window.octets();
        let [seconds, fraction, length, original_length] =
            [0, 4, 8, 12].map(|at| header.number(&begin[at..at + 4]));
        if length as usize > PACKET_LIMIT {
            // Nothing says where the next packet begins if this length is wrong.
            let reason = format!("captured length of {length} bytes exceeds the limit of {PACKET_LIMIT}");
            return Ok(self.give_up("pcap", reason)?.map(Item::Fault));
        }
        let whole = 16 + length as usize;
        if !self.window.fill(whole)? {
            let reason = format!("the file ends in a packet of {length} bytes");
            return Ok(self.give_up("pcap", reason)?.map(Item::Fault));
        }
        self.frames += 1;
        let offset = self.window.offset();
        if length > original_length {
            let reason = format!("captured length {length} exceeds the original length {original_length}");
            self.deferred =
                Some(Fault { frame: Some(self.frames), layer: "pcap", offset, reason: reason.into() });
        }
        let unit = if header.nanoseconds { 1 } else { 1000 };
        self.consumed = whole;
        Ok(Some(Item::Packet(Packet {
            frame: self.frames,
            time: Time::new(i64::from(seconds), u64::from(fraction) * unit),
            link_type: header.link_type,
            interface: 0,
            original_length,
            octets: &self.window.octets()[16..whole],
            offset: offset + 16,
        })))
    }
}
