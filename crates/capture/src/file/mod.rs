//! Capture files: pcap and pcapng, found by their first octets.
//!
//! Files are read once, from begin to end; a packet is the most that is in memory. Lengths that cannot be are reported
//! as [`Fault`]s. Where the file cannot be followed any further, the fault counts the octets that are not read.

mod pcap;
mod pcapng;
mod window;

use crate::fault::Fault;
use crate::time::Time;
use std::borrow::Cow;
use std::io::{self, Read};
use window::Window;

/// The most octets of a packet. Longer ones are reported and skipped.
pub const PACKET_LIMIT: usize = 16 << 20;

/// A packet of a capture file.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a> {
    /// The number of its frame, from 1, as Wireshark counts.
    pub frame: u64,
    /// When it was captured; `None` in Simple Packet Blocks of pcapng.
    pub time: Option<Time>,
    /// The link type of its interface, a number of the registry of tcpdump.org.
    pub link_type: u32,
    /// The number of its interface in its section of the file, from 0.
    pub interface: u32,
    /// How many octets the packet had on the network.
    pub original_length: u32,
    /// The octets that were captured.
    pub octets: &'a [u8],
    /// Where these begin in the file.
    pub offset: u64,
}

/// An item of a capture file.
#[derive(Clone, Debug)]
pub enum Item<'a> {
    /// A packet.
    Packet(Packet<'a>),
    /// A part that cannot be read as it should be.
    Fault(Fault),
}

/// Which file format it is.
#[derive(Debug)]
enum Format {
    /// Nothing has been read yet.
    Unknown,
    Pcap(pcap::Header),
    Pcapng(pcapng::Section),
    /// The file cannot be followed any further, or is at its end.
    Ended,
}

/// A reader of the packets of a capture file.
#[derive(Debug)]
pub struct PacketReader<R> {
    window: Window<R>,
    format: Format,
    /// Frames so far.
    frames: u64,
    /// Octets in the window that the last packet has.
    consumed: usize,
    /// A fault of the last block that has a packet all the same.
    deferred: Option<Fault>,
}

/// Returns whether octets begin as a capture file does: pcap in both byte orders and both resolutions, or pcapng.
pub fn is_capture(begin: &[u8]) -> bool {
    pcap::Magic::of(begin).is_some() || begin.starts_with(&pcapng::SECTION)
}

impl<R: Read> PacketReader<R> {
    /// Returns a reader of an uncompressed capture file.
    pub fn new(input: R) -> Self {
        Self::from_frame(input, 0)
    }

    /// Returns a reader of a file that goes on after so many frames.
    pub fn from_frame(input: R, frames: u64) -> Self {
        Self { window: Window::new(input), format: Format::Unknown, frames, consumed: 0, deferred: None }
    }

    /// Returns how many frames were read so far.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// Reads the next packet or fault, or `None` at the end of the file.
    ///
    /// # Errors
    /// Reading failed. What the file has is no error: it is reported as [`Item::Fault`].
    pub fn next_item(&mut self) -> io::Result<Option<Item<'_>>> {
        self.window.consume(std::mem::take(&mut self.consumed));
        if let Some(fault) = self.deferred.take() {
            return Ok(Some(Item::Fault(fault)));
        }
        if matches!(self.format, Format::Unknown)
            && let Some(fault) = self.open()?
        {
            return Ok(Some(Item::Fault(fault)));
        }
        match self.format {
            Format::Pcap(header) => self.next_pcap(header),
            Format::Pcapng(_) => self.next_pcapng(),
            Format::Unknown | Format::Ended => Ok(None),
        }
    }

    /// Finds the format by the first octets.
    fn open(&mut self) -> io::Result<Option<Fault>> {
        // Shorter files are what they are: the header is cut.
        self.window.fill(24)?;
        let begin = self.window.octets();
        if begin.starts_with(&pcapng::SECTION) {
            self.format = Format::Pcapng(pcapng::Section::default());
            return Ok(None);
        }
        match pcap::Magic::of(begin) {
            Some(pcap::Magic::Modified) => self.give_up("pcap", "modified pcap (a1b2cd34) is not supported"),
            Some(pcap::Magic::Known { big_endian, nanoseconds }) => {
                match pcap::Header::read(begin, big_endian, nanoseconds) {
                    Some(header) => {
                        self.window.consume(24);
                        self.format = Format::Pcap(header);
                        Ok(None)
                    }
                    None => self.give_up("pcap", "the file ends in its header"),
                }
            }
            None => self.give_up("file", "not a capture file: neither pcap nor pcapng begins so"),
        }
    }

    /// Ends the file where it cannot be followed, and counts the octets that are not read.
    fn give_up(
        &mut self,
        layer: &'static str,
        reason: impl Into<Cow<'static, str>>,
    ) -> io::Result<Option<Fault>> {
        let offset = self.window.offset();
        let unread = self.window.skip(u64::MAX)?;
        self.format = Format::Ended;
        let reason = format!("{}; the last {unread} bytes of the file are not read", reason.into());
        Ok(Some(Fault { frame: None, layer, offset, reason: reason.into() }))
    }
}
