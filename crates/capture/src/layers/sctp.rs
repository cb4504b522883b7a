//! SCTP (RFC 9260) and its interleaved messages (RFC 8260), as an observer of both directions reads them.

use super::carried::Payload;
use super::{Layers, Path, Sink, Step, u16_at, u32_at};
use crate::balance::End;
use crate::event::{Stream, Unread};
use crate::reassembly::sctp::{Fragment, Message, Outcome};
use crate::reassembly::window::{Seen, SeenNumbers};
use std::net::SocketAddr;

/// Source port, destination port and verification tag: a direction of an association, on whichever of its addresses.
pub(super) type DirectionKey = (u16, u16, u32);

/// A direction of an association.
#[derive(Debug)]
pub(super) struct Direction {
    association: u64,
    number: u64,
    /// Nothing before the first chunk of data.
    seen: Option<SeenNumbers>,
}

/// Types of chunks.
const DATA: u8 = 0;
const INIT: u8 = 1;
const INIT_ACK: u8 = 2;
const ABORT: u8 = 6;
const I_DATA: u8 = 64;

/// A chunk of data.
struct Chunk<'a> {
    tsn: u32,
    stream: u16,
    unordered: bool,
    first: bool,
    last: bool,
    /// The message number of I-DATA.
    message: Option<u32>,
    /// The payload protocol identifier; in I-DATA the fragment number of all but the first fragment.
    protocol: u32,
    octets: &'a [u8],
}

impl<'a> Chunk<'a> {
    /// Reads a chunk that is not shorter than its header.
    fn read(kind: u8, flags: u8, chunk: &'a [u8]) -> Option<Self> {
        let (message, at) = if kind == I_DATA { (Some(u32_at(chunk, 12)?), 16) } else { (None, 12) };
        Some(Self {
            tsn: u32_at(chunk, 4)?,
            stream: u16_at(chunk, 8)?,
            unordered: flags & 4 != 0,
            first: flags & 2 != 0,
            last: flags & 1 != 0,
            message,
            protocol: u32_at(chunk, at)?,
            octets: chunk.get(at + 4..)?,
        })
    }
}

impl Layers {
    /// Reads a packet of SCTP with all its chunks.
    pub(super) fn sctp(&mut self, octets: &[u8], path: &mut Path, sink: Sink<'_>) -> Step {
        let (Some(source), Some(destination), Some(tag)) =
            (u16_at(octets, 0), u16_at(octets, 2), u32_at(octets, 4))
        else {
            return Step::bad("sctp", format!("header is cut after {} bytes", octets.len()));
        };
        let (begin, mut end, mut at) = (path.offset, End::Nothing, 12);
        path.set_ports(source, destination);
        // Fewer than four octets are padding.
        while let Some(&[kind, flags]) =
            octets.get(at..).filter(|rest| rest.len() >= 4).and_then(<[u8]>::first_chunk)
        {
            path.offset = begin + at as u64;
            let length = u16_at(octets, at + 2).map_or(0, usize::from);
            let rest = &octets[at..];
            let least = match kind {
                DATA => 17,
                I_DATA => 21,
                INIT | INIT_ACK => 20,
                _ => 4,
            };
            if length < least {
                let reason = format!("chunk length {length} is below {least}");
                self.fault(path, "sctp", reason.into(), sink);
                return Step::End(end.max(End::Bad));
            }
            let cut = length > rest.len();
            if cut && !path.cut {
                let reason = format!("chunk length {length} exceeds the {} bytes of the packet", rest.len());
                self.fault(path, "sctp", reason.into(), sink);
                return Step::End(end.max(End::Bad));
            }
            let chunk = &rest[..length.min(rest.len())];
            let key = (source, destination, tag);
            match kind {
                DATA | I_DATA => match Chunk::read(kind, flags, chunk).filter(|it| !it.octets.is_empty()) {
                    Some(chunk) => end = end.max(self.data(key, chunk, cut, path, sink)),
                    None => {
                        self.fault(path, "sctp", "chunk is cut".into(), sink);
                        end = end.max(End::Bad);
                    }
                },
                // Both begin the direction to their sender, whose tag they tell, anew.
                INIT | INIT_ACK => {
                    if let Some(initiate_tag) = u32_at(chunk, 4) {
                        let back = (destination, source, initiate_tag);
                        self.end_direction(back);
                        if kind == INIT_ACK {
                            let association = self.direction(key, path).0;
                            self.add_direction(back, association);
                        }
                    }
                }
                ABORT => self.end_direction(key),
                _ => {}
            }
            at += length.next_multiple_of(4);
        }
        path.offset = begin;
        Step::End(end)
    }

    /// Takes a chunk of data: a message, or a fragment of one.
    fn data(
        &mut self,
        key: DirectionKey,
        chunk: Chunk<'_>,
        cut: bool,
        path: &mut Path,
        sink: Sink<'_>,
    ) -> End {
        let (association, number) = self.direction(key, path);
        path.stream = Some(Stream::Sctp { association, stream: chunk.stream });
        let ports = (key.0, key.1);
        let whole = chunk.first && chunk.last;
        if cut {
            // Its number is not noted: another capture of it may be whole.
            if whole && self.lookup.sctp(chunk.protocol, key.0, key.1).is_some() {
                path.partial = true;
                let end = self.message(chunk.protocol, chunk.octets, ports, path, path.frames.clone(), sink);
                path.partial = false;
                return end;
            }
            self.fault(path, "sctp", "chunk is cut".into(), sink);
            return End::Bad;
        }
        let Some(direction) = self.directions.get(key) else { return End::Nothing };
        let seen = direction.seen.get_or_insert_with(|| SeenNumbers::new(chunk.tsn)).note(chunk.tsn);
        let Seen::New(tsn) = seen else {
            self.balance.retransmitted += 1;
            return End::Nothing;
        };
        if whole {
            return self.message(chunk.protocol, chunk.octets, ports, path, path.frames.clone(), sink);
        }
        // Numbers of DATA count chunks of all streams; those of I-DATA count the fragments of one message.
        let (lane, position) = match chunk.message {
            None => ((number, 0), tsn),
            Some(message) => {
                let lane = 1 << 63 | u64::from(chunk.unordered) << 62 | u64::from(chunk.stream) << 32;
                let position = if chunk.first { 0 } else { chunk.protocol };
                ((number, lane | u64::from(message)), u64::from(position))
            }
        };
        let fragment = Fragment {
            position,
            stream: chunk.stream,
            first: chunk.first,
            last: chunk.last,
            protocol: chunk.protocol,
            octets: chunk.octets.to_vec(),
            frames: path.frames.clone(),
        };
        match self.sctp_fragments.take(lane, fragment, &mut self.budget) {
            Outcome::Waiting => End::Waiting,
            Outcome::Whole(Message { protocol, octets, frames }) => {
                self.message(protocol, &octets, ports, path, frames, sink)
            }
            Outcome::Bad(reason) => {
                self.fault(path, "sctp", reason.into(), sink);
                End::Bad
            }
        }
    }

    /// Looks into a whole message, if its protocol is known.
    fn message(
        &mut self,
        ppid: u32,
        octets: &[u8],
        ports: (u16, u16),
        path: &mut Path,
        frames: crate::reassembly::Frames,
        sink: Sink<'_>,
    ) -> End {
        let found = self.lookup.sctp(ppid, ports.0, ports.1).map(Payload::from);
        let Some(found) = found.or_else(|| Payload::of_sctp(ppid, ports)) else {
            self.balance.count_unread(Unread::SctpPpid(ppid));
            return End::Unread;
        };
        let (of_packet, points, names) =
            (std::mem::replace(&mut path.frames, frames), path.points, path.names);
        let end = self.payload(found, octets, path, sink);
        // The next chunk of the packet begins with what the packet has.
        (path.frames, path.points, path.sccp, path.names) = (of_packet, points, None, names);
        end
    }

    /// Returns the association and the number of a direction. One that begins without INIT belongs to an association that
    /// has packets between the same sockets the other way.
    fn direction(&mut self, key: DirectionKey, path: &Path) -> (u64, u64) {
        if let Some(direction) = self.directions.get(key) {
            return (direction.association, direction.number);
        }
        let source = SocketAddr::new(path.source, key.0);
        let destination = SocketAddr::new(path.destination, key.1);
        let association = self.mates.remove((destination, source)).unwrap_or_else(|| {
            let association = self.next_association;
            self.next_association += 1;
            self.mates.insert((source, destination), association);
            association
        });
        self.add_direction(key, association)
    }

    fn add_direction(&mut self, key: DirectionKey, association: u64) -> (u64, u64) {
        let number = self.next_direction;
        self.next_direction += 1;
        self.directions.insert(key, Direction { association, number, seen: None });
        (association, number)
    }

    fn end_direction(&mut self, key: DirectionKey) {
        if let Some(direction) = self.directions.remove(key) {
            self.sctp_fragments.give_up_direction(direction.number, &mut self.budget);
        }
    }
}
