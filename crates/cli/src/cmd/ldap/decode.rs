//! `tercet ldap decode`.

use super::messages::{self, Shown};
use super::open;
use crate::exit::{Exit, Failure, Outcome};
use crate::term;
use clap::Args;
use serde_json::{Map, Value};
use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use tercet_ldap::proto::{Limits, decode};

/// Print LDAP messages as JSON, one object a line: of raw bytes, hexadecimal text, or TCP in packet captures
#[derive(Args, Debug)]
#[command(after_help = "\
Captures need the ports: 389, 3268 and those of --port. Messages that are encrypted by TLS or SASL cannot be read; they are
reported on standard error.

Examples:
  tercet ldap decode traffic.pcap
  echo 300c0201016007020103040080 00 | tercet ldap decode -")]
pub struct Decode {
    /// The file; `-` for standard input
    file: PathBuf,

    /// Ports of servers beside 389 and 3268
    #[arg(long, value_name = "PORT", value_delimiter = ',')]
    port: Vec<u16>,

    /// Show values of attributes as hexadecimal digits
    #[arg(long)]
    octets: bool,

    /// Show passwords
    #[arg(long)]
    show_passwords: bool,
}

/// Where a message comes from: what JSON says beside its fields.
type Origin = Map<String, Value>;

impl Decode {
    pub fn run(&self) -> Outcome {
        let shown = Shown { octets: self.octets, passwords: self.show_passwords };
        let mut input = Vec::new();
        let named = |error: std::io::Error| Failure::io(self.file.display(), &error);
        open(&self.file)?.read_to_end(&mut input).map_err(named)?;
        let mut out = Printer { shown, out: term::stdout(term::Quotes::HoldText), faults: 0 };
        #[cfg(feature = "capture")]
        if tercet_capture::file::is_capture(&input) {
            capture::decode(&input, &self.port, &mut out)?;
            return Ok(if out.faults == 0 { Exit::Good } else { Exit::Rejected });
        }
        let octets = hexadecimal(&input).unwrap_or(input);
        let mut at = 0;
        while let Some(rest) = octets.get(at..).filter(|rest| !rest.is_empty()) {
            let Some(size) = size(rest).filter(|size| *size <= rest.len()) else {
                out.fault(&format!("byte {at}: an LDAP message is incomplete, or there is none"));
                break;
            };
            out.message(&Origin::new(), rest.get(..size).unwrap_or_default(), &format!("byte {at}"), None)?;
            at += size;
        }
        Ok(if out.faults == 0 { Exit::Good } else { Exit::Rejected })
    }
}

/// The bytes of a text of hexadecimal digits, spaces and line breaks.
fn hexadecimal(input: &[u8]) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = input
        .iter()
        .filter(|octet| !octet.is_ascii_whitespace() && **octet != b':')
        .map(|octet| char::from(*octet).to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
        .collect();
    let digits = digits.filter(|digits| !digits.is_empty() && digits.len().is_multiple_of(2))?;
    Some(digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

/// The size of the message at the begin; nothing if there is none, or its length is not complete.
fn size(octets: &[u8]) -> Option<usize> {
    let (&identifier, rest) = octets.split_first()?;
    if identifier != 0x30 {
        return None;
    }
    let (&first, rest) = rest.split_first()?;
    if first < 0x80 {
        return Some(2 + usize::from(first));
    }
    let count = usize::from(first & 0x7F);
    if count == 0 || count > 4 {
        return None;
    }
    let length = rest.get(..count)?.iter().fold(0_usize, |length, octet| length << 8 | usize::from(*octet));
    Some(2 + count + length)
}

/// Prints messages.
struct Printer {
    shown: Shown,
    out: Box<dyn std::io::Write>,
    faults: u64,
}

impl Printer {
    /// Prints a message; `from` says who sent it where that is known.
    fn message(&mut self, origin: &Origin, octets: &[u8], place: &str, from: Option<&str>) -> Outcome<bool> {
        let message = match decode(octets, &Limits::default()) {
            Ok(message) => message,
            Err(error) => {
                self.fault(&format!("{place}: {error}"));
                return Ok(false);
            }
        };
        let is_request = messages::is_request(&message.protocol_op);
        let from = from.unwrap_or(if is_request { "client" } else { "server" });
        let mut object = origin.clone();
        object.insert("from".to_owned(), Value::from(from));
        object.extend(messages::fields(&message, self.shown));
        writeln!(self.out, "{}", Value::Object(object))?;
        Ok(true)
    }

    fn fault(&mut self, message: &str) {
        self.faults += 1;
        term::error(message);
    }
}

#[cfg(feature = "capture")]
mod capture {
    //! Messages in TCP streams of a capture.

    use super::{Origin, Outcome, Printer, Value, size};
    use std::collections::{BTreeMap, HashMap};
    use std::net::IpAddr;
    use tercet_capture::Time;
    use tercet_capture::file::{Item, PacketReader};

    /// Bytes of a stream that wait for those before them, and of a message that is not complete.
    const WAITING: usize = 32 << 20;

    /// One side of a connection.
    type Side = (IpAddr, u16);

    /// What a side has sent.
    #[derive(Default)]
    struct Stream {
        /// The next sequence number, as soon as the first one is known.
        next: Option<u32>,
        /// Segments that came before those in front of them.
        early: BTreeMap<u32, Vec<u8>>,
        waiting: usize,
        /// The begin of a message.
        message: Vec<u8>,
        is_unreadable: bool,
    }

    pub(super) fn decode(input: &[u8], ports: &[u16], out: &mut Printer) -> Outcome<()> {
        let mut reader = PacketReader::new(input);
        let mut streams: HashMap<(Side, Side), Stream> = HashMap::new();
        let mut connections: HashMap<(Side, Side), u64> = HashMap::new();
        let is_server = |port: u16| matches!(port, 389 | 3268) || ports.contains(&port);
        while let Some(item) = reader.next_item()? {
            let packet = match item {
                Item::Packet(packet) => packet,
                Item::Fault(fault) => {
                    out.fault(&fault.to_string());
                    continue;
                }
            };
            let Some(segment) = Segment::of(packet.link_type, packet.octets) else { continue };
            let to_server = is_server(segment.to.1);
            if !to_server && !is_server(segment.from.1) {
                continue;
            }
            let key = if to_server { (segment.from, segment.to) } else { (segment.to, segment.from) };
            let count = connections.len() as u64 + 1;
            let number = *connections.entry(key).or_insert(count);
            let stream = streams.entry((segment.from, segment.to)).or_default();
            if segment.begins {
                // The numbers of a connection begin anew.
                *stream = Stream { next: Some(segment.sequence.wrapping_add(1)), ..Stream::default() };
                continue;
            }
            let mut origin = Origin::new();
            if let Some(time) = packet.time {
                origin.insert("t".to_owned(), Value::from(seconds(time)));
            }
            origin.insert("conn".to_owned(), Value::from(number));
            let from = if to_server { "client" } else { "server" };
            stream.take(segment.sequence, segment.octets);
            stream.print(&origin, from, packet.frame, out)?;
        }
        Ok(())
    }

    fn seconds(time: Time) -> String {
        format!("{}.{:06}", time.seconds, time.nanoseconds / 1000)
    }

    impl Stream {
        /// Takes a segment at its place; one that has been there is skipped.
        fn take(&mut self, sequence: u32, octets: &[u8]) {
            if octets.is_empty() {
                return;
            }
            let next = *self.next.get_or_insert(sequence);
            let ahead = sequence.wrapping_sub(next).cast_signed();
            if ahead > 0 {
                if self.waiting + octets.len() <= WAITING {
                    self.waiting += octets.len();
                    self.early.insert(sequence, octets.to_vec());
                } else {
                    self.is_unreadable = true;
                }
                return;
            }
            self.append(next, sequence, octets);
            while let Some(sequence) =
                self.early.keys().copied().find(|sequence| {
                    self.next.is_some_and(|next| sequence.wrapping_sub(next).cast_signed() <= 0)
                })
            {
                let octets = self.early.remove(&sequence).unwrap_or_default();
                self.waiting -= octets.len();
                let next = self.next.unwrap_or(sequence);
                self.append(next, sequence, &octets);
            }
        }

        fn append(&mut self, next: u32, sequence: u32, octets: &[u8]) {
            let known = usize::try_from(next.wrapping_sub(sequence)).unwrap_or(usize::MAX);
            let Some(new) = octets.get(known..) else { return };
            self.message.extend_from_slice(new);
            let count = u32::try_from(new.len()).unwrap_or_default();
            self.next = Some(next.wrapping_add(count));
        }

        /// Prints the messages that are complete.
        fn print(&mut self, origin: &Origin, from: &str, frame: u64, out: &mut Printer) -> Outcome<()> {
            let mut at = 0;
            while !self.is_unreadable {
                let rest = self.message.get(at..).unwrap_or_default();
                let Some(size) = size(rest) else {
                    // A length takes up to six bytes.
                    let is_other = rest.first().is_some_and(|octet| *octet != 0x30) || rest.len() > 6;
                    if is_other {
                        let what = "what follows in this direction is not LDAP; it may be encrypted";
                        out.fault(&format!("frame {frame}: {what}"));
                        self.is_unreadable = true;
                    }
                    break;
                };
                let Some(octets) = rest.get(..size) else {
                    self.is_unreadable = size > WAITING;
                    break;
                };
                out.message(origin, octets, &format!("frame {frame}"), Some(from))?;
                at += size;
            }
            if self.is_unreadable {
                self.message = Vec::new();
                self.early.clear();
            } else {
                self.message.drain(..at);
            }
            Ok(())
        }
    }

    /// A segment of TCP.
    struct Segment<'p> {
        from: Side,
        to: Side,
        sequence: u32,
        begins: bool,
        octets: &'p [u8],
    }

    fn two(octets: &[u8], at: usize) -> Option<u16> {
        octets.get(at..at + 2)?.try_into().ok().map(u16::from_be_bytes)
    }

    impl<'p> Segment<'p> {
        /// Reads Ethernet (with VLANs), Linux cooked captures, loopback and raw IP.
        fn of(link_type: u32, octets: &'p [u8]) -> Option<Self> {
            let octets = match link_type {
                1 => {
                    let mut at = 12;
                    while matches!(two(octets, at)?, 0x8100 | 0x88A8) {
                        at += 4;
                    }
                    octets.get(at + 2..)?
                }
                0 | 108 => octets.get(4..)?,
                113 => octets.get(16..)?,
                276 => octets.get(20..)?,
                12 | 14 | 101 | 228 | 229 => octets,
                _ => return None,
            };
            let (from, to, octets) = match octets.first()? >> 4 {
                4 => {
                    let header = usize::from(octets.first()? & 15) * 4;
                    let length = usize::from(two(octets, 2)?);
                    let is_fragment = two(octets, 6)? & 0x3FFF != 0;
                    if octets.get(9) != Some(&6) || is_fragment {
                        return None;
                    }
                    let address = |at: usize| -> Option<IpAddr> {
                        let four: [u8; 4] = octets.get(at..at + 4)?.try_into().ok()?;
                        Some(IpAddr::from(four))
                    };
                    // Of frames that are shorter than Ethernet has them, the rest is padding; a length of 0 is left to the card.
                    let end = if length == 0 { octets.len() } else { length.min(octets.len()) };
                    (address(12)?, address(16)?, octets.get(header..end)?)
                }
                6 => {
                    if octets.get(6) != Some(&6) {
                        return None;
                    }
                    let address = |at: usize| -> Option<IpAddr> {
                        let sixteen: [u8; 16] = octets.get(at..at + 16)?.try_into().ok()?;
                        Some(IpAddr::from(sixteen))
                    };
                    let end = 40 + usize::from(two(octets, 4)?);
                    (address(8)?, address(24)?, octets.get(40..end.min(octets.len()))?)
                }
                _ => return None,
            };
            let header = usize::from(octets.get(12)? >> 4) * 4;
            let sequence = u32::from_be_bytes(octets.get(4..8)?.try_into().ok()?);
            Some(Self {
                from: (from, two(octets, 0)?),
                to: (to, two(octets, 2)?),
                sequence,
                begins: octets.get(13)? & 2 != 0,
                octets: octets.get(header..)?,
            })
        }
    }
}
