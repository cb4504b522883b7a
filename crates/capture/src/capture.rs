//! A capture from begin to end.

use crate::balance::Balance;
use crate::decode_as::{DecodeAs, Lookup};
use crate::event::{Event, Transport};
use crate::file::{Item, PacketReader};
use crate::layers::Layers;
use crate::protocol::Protocol;
use std::io::{self, Read};
use std::net::SocketAddr;

/// How a capture is read.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// Rules that win over the table of protocols; the last one that fits wins.
    pub decode_as: Vec<DecodeAs>,
    /// The most bytes of fragments that wait for others. The oldest ones are given up first.
    pub memory_limit: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { decode_as: Vec::new(), memory_limit: 256 << 20 }
    }
}

/// A reader of the messages of a capture.
///
/// It reads the file once, in order, and keeps no packets but fragments that wait for others.
#[derive(Debug)]
pub struct Capture<R> {
    packets: PacketReader<R>,
    layers: Layers,
    expects_more: bool,
}

impl<R: Read> Capture<R> {
    /// Returns a reader of an uncompressed capture file.
    pub fn new(input: R, options: Options) -> Self {
        let Options { decode_as, memory_limit } = options;
        let lookup = Lookup { rules: decode_as };
        Self {
            packets: PacketReader::new(input),
            layers: Layers::new(lookup, memory_limit),
            expects_more: false,
        }
    }

    /// Sets whether another file of the same capture follows: what waits for others then waits for those of that file.
    pub fn expect_more(&mut self, expects_more: bool) {
        self.expects_more = expects_more;
    }

    /// Goes on with the next file of the capture; numbers of frames go on too.
    pub fn continue_with(&mut self, input: R) {
        self.packets = PacketReader::from_frame(input, self.packets.frames());
    }

    /// Reads the next packet and hands what is in it to `sink`, in order; returns false at the end of the file.
    ///
    /// # Errors
    /// Reading failed. What the file has is no error: `sink` gets it as [`Event::Fault`].
    pub fn read_packet(&mut self, sink: &mut dyn FnMut(Event<'_>)) -> io::Result<bool> {
        match self.packets.next_item()? {
            None => {
                if !self.expects_more {
                    self.layers.finish(sink);
                }
                return Ok(false);
            }
            Some(Item::Packet(packet)) => self.layers.packet(&packet, sink),
            Some(Item::Fault(fault)) => {
                self.layers.balance.faults += 1;
                sink(Event::Fault(fault));
            }
        }
        Ok(true)
    }

    /// Expects messages of a protocol at a socket from the next packet on: what signalling has announced. Rules of users, and
    /// the table of protocols, win over it.
    pub fn expect_messages(&mut self, transport: Transport, socket: SocketAddr, protocol: &'static Protocol) {
        self.layers.expect_messages(transport, socket, protocol);
    }

    /// Returns where the packets so far went.
    pub fn balance(&self) -> &Balance {
        &self.layers.balance
    }
}
