//! Files of pcapng (draft-ietf-opsawg-pcapng): blocks with a type, a length before and after, options.

use super::{Format, Item, PACKET_LIMIT, Packet, PacketReader};
use crate::fault::Fault;
use crate::time::Time;
use std::borrow::Cow;
use std::io::{self, Read};

/// The block type of section headers, the same in both byte orders.
pub(super) const SECTION: [u8; 4] = [0x0A, 0x0D, 0x0D, 0x0A];
/// The most interfaces of a section that are remembered.
const INTERFACE_LIMIT: usize = 1 << 16;
/// The most octets of a block that is read whole: a packet with its options.
const BLOCK_LIMIT: u32 = PACKET_LIMIT as u32 + (1 << 20);

/// What the blocks of a section so far have said.
#[derive(Clone, Debug, Default)]
pub(super) struct Section {
    big_endian: bool,
    interfaces: Vec<Interface>,
}

/// An interface of a section.
#[derive(Clone, Copy, Debug)]
struct Interface {
    link_type: u16,
    snap_length: u32,
    resolution: u8,
    /// Seconds to add to time stamps.
    offset: i64,
}

/// Where a packet is in its block.
struct Found {
    interface: u32,
    ticks: Option<u64>,
    begin: usize,
    length: u32,
    original_length: u32,
}

impl Section {
    fn u32(&self, octets: &[u8], at: usize) -> Option<u32> {
        let octets = *octets.get(at..)?.first_chunk()?;
        Some(if self.big_endian { u32::from_be_bytes(octets) } else { u32::from_le_bytes(octets) })
    }

    fn u16(&self, octets: &[u8], at: usize) -> Option<u16> {
        let octets = *octets.get(at..)?.first_chunk()?;
        Some(if self.big_endian { u16::from_be_bytes(octets) } else { u16::from_le_bytes(octets) })
    }

    /// Reads an Interface Description Block, from its type to before its second length.
    fn interface(&self, block: &[u8]) -> Option<Interface> {
        let mut interface = Interface {
            link_type: self.u16(block, 8)?,
            snap_length: self.u32(block, 12)?,
            resolution: 6,
            offset: 0,
        };
        let mut at = 16;
        while let (Some(code), Some(length)) = (self.u16(block, at), self.u16(block, at + 2)) {
            let value = block.get(at + 4..at + 4 + usize::from(length)).unwrap_or_default();
            match (code, value) {
                (0, _) => break,
                (9, [resolution]) => interface.resolution = *resolution,
                (14, value) => {
                    if let Some(&octets) = value.first_chunk() {
                        interface.offset = if self.big_endian {
                            i64::from_be_bytes(octets)
                        } else {
                            i64::from_le_bytes(octets)
                        };
                    }
                }
                _ => {}
            }
            at += 4 + usize::from(length).next_multiple_of(4);
        }
        Some(interface)
    }

    /// Finds the packet in an Enhanced Packet Block (6), a Simple Packet Block (3) or a Packet Block (2).
    fn packet(&self, kind: u32, block: &[u8]) -> Option<Found> {
        let ticks = |at| Some(u64::from(self.u32(block, at)?) << 32 | u64::from(self.u32(block, at + 4)?));
        Some(match kind {
            3 => {
                let original_length = self.u32(block, 8)?;
                let snap_length = self.interfaces.first().map_or(0, |interface| interface.snap_length);
                let limit = if snap_length == 0 { u32::MAX } else { snap_length };
                let length = original_length.min(limit);
                Found { interface: 0, ticks: None, begin: 12, length, original_length }
            }
            2 => Found {
                interface: u32::from(self.u16(block, 8)?),
                ticks: Some(ticks(12)?),
                begin: 28,
                length: self.u32(block, 20)?,
                original_length: self.u32(block, 24)?,
            },
            _ => Found {
                interface: self.u32(block, 8)?,
                ticks: Some(ticks(12)?),
                begin: 28,
                length: self.u32(block, 20)?,
                original_length: self.u32(block, 24)?,
            },
        })
    }
}

impl<R: Read> PacketReader<R> {
    pub(super) fn next_pcapng(&mut self) -> io::Result<Option<Item<'_>>> {
        loop {
            self.window.consume(std::mem::take(&mut self.consumed));
            if let Some(fault) = self.deferred.take() {
                return Ok(Some(Item::Fault(fault)));
            }
            if !self.window.fill(12)? {
                if self.window.octets().is_empty() {
                    return Ok(None);
                }
                return Ok(self
                    .give_up("pcapng", "the file ends in the header of a block")?
                    .map(Item::Fault));
            }
            let Format::Pcapng(section) = &mut self.format else { return Ok(None) };
            let begin = self.window.octets();
            if begin.starts_with(&SECTION) {
                // Each section has a byte order of its own.
                let big_endian = match begin[8..12] {
                    [0x1A, 0x2B, 0x3C, 0x4D] => true,
                    [0x4D, 0x3C, 0x2B, 0x1A] => false,
                    _ => {
                        let fault = self.give_up("pcapng", "unknown byte order of a section")?;
                        return Ok(fault.map(Item::Fault));
                    }
                };
                *section = Section { big_endian, interfaces: Vec::new() };
            }
            let kind = section.u32(begin, 0).unwrap_or_default();
            let length = section.u32(begin, 4).unwrap_or_default();
            if length < 12 || !length.is_multiple_of(4) {
                let reason =
                    format!("block length of {length} bytes, which is below 12 or not a multiple of 4");
                return Ok(self.give_up("pcapng", reason)?.map(Item::Fault));
            }
            // Packets, custom blocks and entries of the journal of systemd have frame numbers, in order.
            let is_packet = matches!(kind, 2 | 3 | 6);
            if is_packet || matches!(kind, 9 | 0x0BAD | 0x4000_0BAD) {
                self.frames += 1;
            }
            let offset = self.window.offset();
            let frame = is_packet.then_some(self.frames);
            let fault = |reason: Cow<'static, str>| Fault { frame, layer: "pcapng", offset, reason };
            if length > BLOCK_LIMIT {
                let skipped = self.window.skip(u64::from(length))?;
                if skipped < u64::from(length) {
                    let reason = format!("the file ends in a block of {length} bytes, after {skipped}");
                    self.format = Format::Ended;
                    return Ok(Some(Item::Fault(Fault { frame: None, ..fault(reason.into()) })));
                }
                if is_packet {
                    let reason =
                        format!("block of {length} bytes exceeds the limit of {BLOCK_LIMIT}; skipped");
                    return Ok(Some(Item::Fault(fault(reason.into()))));
                }
                continue;
            }
            let whole = length as usize;
            if !self.window.fill(whole)? {
                if is_packet {
                    self.frames -= 1;
                }
                let reason = format!("the file ends in a block of {length} bytes");
                return Ok(self.give_up("pcapng", reason)?.map(Item::Fault));
            }
            let Format::Pcapng(section) = &mut self.format else { return Ok(None) };
            let block = &self.window.octets()[..whole];
            self.consumed = whole;
            if section.u32(block, whole - 4) != Some(length) {
                self.deferred = Some(fault("the lengths at the begin and the end of a block differ".into()));
            }
            let body = &block[..whole - 4];
            if kind == 1 {
                match section.interface(body) {
                    Some(_) if section.interfaces.len() >= INTERFACE_LIMIT => {
                        let reason = format!("more than {INTERFACE_LIMIT} interfaces in a section");
                        self.deferred = Some(fault(reason.into()));
                    }
                    Some(interface) => section.interfaces.push(interface),
                    None => self.deferred = Some(fault("interface description is too short".into())),
                }
            }
            if !is_packet {
                continue;
            }
            let Some(found) = section.packet(kind, body) else {
                self.deferred = None;
                return Ok(Some(Item::Fault(fault("packet block is too short".into()))));
            };
            let Some(&interface) = section.interfaces.get(found.interface as usize) else {
                self.deferred = None;
                let reason = format!("unknown interface {} of {}", found.interface, section.interfaces.len());
                return Ok(Some(Item::Fault(fault(reason.into()))));
            };
            let end = found.begin + found.length as usize;
            if end > body.len() {
                self.deferred = None;
                let reason = format!("captured length of {} bytes exceeds its block", found.length);
                return Ok(Some(Item::Fault(fault(reason.into()))));
            }
            return Ok(Some(Item::Packet(Packet {
                frame: self.frames,
                time: found.ticks.and_then(|it| Time::of_ticks(it, interface.resolution, interface.offset)),
                link_type: u32::from(interface.link_type),
                interface: found.interface,
                original_length: found.original_length,
                octets: &self.window.octets()[found.begin..end],
                offset: offset + found.begin as u64,
            })));
        }
    }
}
