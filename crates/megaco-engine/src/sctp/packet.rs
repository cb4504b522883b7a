//! Packets and their chunks (RFC 9260 clause 3).

use super::keyed::checksum;

/// The octets of the common header.
pub(super) const HEADER: usize = 12;
/// The octets of a DATA chunk before its data.
pub(super) const DATA_HEADER: usize = 16;

/// Types of chunks.
mod kind {
    pub(super) const DATA: u8 = 0;
    pub(super) const INIT: u8 = 1;
    pub(super) const INIT_ACK: u8 = 2;
    pub(super) const SACK: u8 = 3;
    pub(super) const HEARTBEAT: u8 = 4;
    pub(super) const HEARTBEAT_ACK: u8 = 5;
    pub(super) const ABORT: u8 = 6;
    pub(super) const SHUTDOWN: u8 = 7;
    pub(super) const SHUTDOWN_ACK: u8 = 8;
    pub(super) const ERROR: u8 = 9;
    pub(super) const COOKIE_ECHO: u8 = 10;
    pub(super) const COOKIE_ACK: u8 = 11;
    pub(super) const SHUTDOWN_COMPLETE: u8 = 14;
}

/// Causes of errors (RFC 9260 3.3.10).
pub(super) mod cause {
    pub(crate) const STALE_COOKIE: u16 = 3;
    pub(crate) const OUT_OF_RESOURCE: u16 = 4;
    pub(crate) const UNRECOGNIZED_CHUNK: u16 = 6;
    pub(crate) const INVALID_PARAMETER: u16 = 7;
    pub(crate) const USER_ABORT: u16 = 12;
    pub(crate) const PROTOCOL_VIOLATION: u16 = 13;
}

/// The parameter of INIT ACK that holds the cookie.
const COOKIE: u16 = 7;
/// The parameter of INIT ACK that holds a parameter of INIT that is not known.
const UNRECOGNIZED_PARAMETER: u16 = 8;

/// The octets of parameters that are written: they fit into a packet.
const MOST_PARAMETERS: usize = 1_000;

/// The common header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) source: u16,
    pub(super) destination: u16,
    /// The verification tag.
    pub(super) tag: u32,
}

/// What INIT and INIT ACK say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Init<'a> {
    pub(super) tag: u32,
    pub(super) window: u32,
    pub(super) outbound: u16,
    pub(super) inbound: u16,
    pub(super) tsn: u32,
    pub(super) parameters: &'a [u8],
}

/// A DATA chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Data<'a> {
    pub(super) tsn: u32,
    pub(super) stream: u16,
    pub(super) sequence: u16,
    pub(super) protocol: u32,
    pub(super) is_first: bool,
    pub(super) is_last: bool,
    /// The sender asks for an acknowledgement at once.
    pub(super) is_urgent: bool,
    pub(super) octets: &'a [u8],
}

/// A SACK chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sack<'a> {
    pub(super) cumulative: u32,
    pub(super) window: u32,
    gaps: &'a [u8],
}

impl Sack<'_> {
    /// The first and last of each run beyond the cumulative number, as distances from it.
    pub(super) fn gaps(&self) -> impl DoubleEndedIterator<Item = (u16, u16)> + '_ {
        self.gaps.chunks_exact(4).map(|gap| (u16_at(gap, 0), u16_at(gap, 2)))
    }
}

/// A chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chunk<'a> {
    Data(Data<'a>),
    Init(Init<'a>),
    InitAck(Init<'a>),
    Sack(Sack<'a>),
    Heartbeat(&'a [u8]),
    HeartbeatAck(&'a [u8]),
    /// With the causes; the tag may be that of the sender.
    Abort {
        is_reflected: bool,
        causes: &'a [u8],
    },
    Shutdown(u32),
    ShutdownAck,
    Error(&'a [u8]),
    CookieEcho(&'a [u8]),
    CookieAck,
    ShutdownComplete {
        is_reflected: bool,
    },
    /// A type that is not known, with all of the chunk.
    Unknown {
        kind: u8,
        chunk: &'a [u8],
    },
}

fn u16_at(octets: &[u8], at: usize) -> u16 {
    octets.get(at..at + 2).map_or(0, |octets| u16::from_be_bytes([octets[0], octets[1]]))
}

fn u32_at(octets: &[u8], at: usize) -> u32 {
    octets
        .get(at..at + 4)
        .map_or(0, |octets| u32::from_be_bytes([octets[0], octets[1], octets[2], octets[3]]))
}

/// Reads the header of a packet. Returns it with the chunks, or nothing if the packet is short or damaged.
pub(super) fn read(packet: &[u8]) -> Option<(Header, Chunks<'_>)> {
    let (head, rest) = packet.split_at_checked(HEADER)?;
    let stored = u32::from_le_bytes([head[8], head[9], head[10], head[11]]);
    if stored != checksum(packet) {
        return None;
    }
    let header = Header { source: u16_at(head, 0), destination: u16_at(head, 2), tag: u32_at(head, 4) };
    Some((header, Chunks { rest }))
}

/// The chunks of a packet. They end before one that is cut or too short for its type.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunks<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Chunks<'a> {
    type Item = Chunk<'a>;

    fn next(&mut self) -> Option<Chunk<'a>> {
        let length = usize::from(u16_at(self.rest, 2));
        let chunk = self.rest.get(..length).filter(|chunk| chunk.len() >= 4)?;
        // The last chunk may have no padding.
        self.rest = self.rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        let read = read_chunk(chunk);
        if read.is_none() {
            self.rest = &[];
        }
        read
    }
}

fn read_chunk(chunk: &[u8]) -> Option<Chunk<'_>> {
    let (kind, flags, value) = (chunk[0], chunk[1], &chunk[4..]);
    let at_least = |length: usize| (value.len() >= length).then_some(());
    let init = || {
        at_least(16)?;
        Some(Init {
            tag: u32_at(value, 0),
            window: u32_at(value, 4),
            outbound: u16_at(value, 8),
            inbound: u16_at(value, 10),
            tsn: u32_at(value, 12),
            parameters: &value[16..],
        })
    };
    Some(match kind {
        kind::DATA => {
            at_least(12)?;
            Chunk::Data(Data {
                tsn: u32_at(value, 0),
                stream: u16_at(value, 4),
                sequence: u16_at(value, 6),
                protocol: u32_at(value, 8),
                is_first: flags & 2 != 0,
                is_last: flags & 1 != 0,
                is_urgent: flags & 8 != 0,
                octets: &value[12..],
            })
        }
        kind::INIT => Chunk::Init(init()?),
        kind::INIT_ACK => Chunk::InitAck(init()?),
        kind::SACK => {
            at_least(12)?;
            let gaps = value.get(12..12 + usize::from(u16_at(value, 8)) * 4)?;
            Chunk::Sack(Sack { cumulative: u32_at(value, 0), window: u32_at(value, 4), gaps })
        }
        kind::HEARTBEAT => Chunk::Heartbeat(value),
        kind::HEARTBEAT_ACK => Chunk::HeartbeatAck(value),
        kind::ABORT => Chunk::Abort { is_reflected: flags & 1 != 0, causes: value },
        kind::SHUTDOWN => {
            at_least(4)?;
            Chunk::Shutdown(u32_at(value, 0))
        }
        kind::SHUTDOWN_ACK => Chunk::ShutdownAck,
        kind::ERROR => Chunk::Error(value),
        kind::COOKIE_ECHO => Chunk::CookieEcho(value),
        kind::COOKIE_ACK => Chunk::CookieAck,
        kind::SHUTDOWN_COMPLETE => Chunk::ShutdownComplete { is_reflected: flags & 1 != 0 },
        kind => Chunk::Unknown { kind, chunk },
    })
}

/// The parameters of INIT, or the causes of an error: their types and values. They end before one that is cut.
pub(super) fn parameters(mut octets: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let length = usize::from(u16_at(octets, 2));
        let (kind, value) = (u16_at(octets, 0), octets.get(4..length)?);
        octets = octets.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some((kind, value))
    })
}

impl<'a> Init<'a> {
    /// The cookie of an INIT ACK.
    pub(super) fn cookie(&self) -> Option<&'a [u8]> {
        parameters(self.parameters).find(|(kind, _)| *kind == COOKIE).map(|(_, value)| value)
    }
}

/// A packet that is being written.
#[derive(Debug)]
pub(super) struct Packet {
    octets: Vec<u8>,
}

impl Packet {
    pub(super) fn new(header: Header) -> Self {
        let mut octets = Vec::with_capacity(64);
        octets.extend_from_slice(&header.source.to_be_bytes());
        octets.extend_from_slice(&header.destination.to_be_bytes());
        octets.extend_from_slice(&header.tag.to_be_bytes());
        octets.extend_from_slice(&[0; 4]);
        Self { octets }
    }

    /// The octets until now, a multiple of 4.
    pub(super) const fn len(&self) -> usize {
        self.octets.len()
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.octets.len() <= HEADER
    }

    /// Returns the packet with its checksum.
    pub(super) fn finish(mut self) -> Vec<u8> {
        let crc = checksum(&self.octets);
        self.octets[8..HEADER].copy_from_slice(&crc.to_le_bytes());
        self.octets
    }

    /// Writes a chunk, or a parameter within one: its length counts no padding.
    fn framed(&mut self, head: [u8; 2], parts: &[&[u8]]) {
        let length: usize = parts.iter().map(|part| part.len()).sum();
        self.octets.extend_from_slice(&head);
        // What is written here is shorter than a packet.
        self.octets.extend_from_slice(&(length as u16 + 4).to_be_bytes());
        for part in parts {
            self.octets.extend_from_slice(part);
        }
        self.octets.resize(self.octets.len().next_multiple_of(4), 0);
    }

    pub(super) fn data(&mut self, data: &Data<'_>) {
        let flags = u8::from(data.is_last) | u8::from(data.is_first) << 1 | u8::from(data.is_urgent) << 3;
        let (tsn, protocol) = (data.tsn.to_be_bytes(), data.protocol.to_be_bytes());
        let (stream, sequence) = (data.stream.to_be_bytes(), data.sequence.to_be_bytes());
        self.framed([kind::DATA, flags], &[&tsn, &stream, &sequence, &protocol, data.octets]);
    }

    fn init_as(&mut self, kind: u8, init: &Init<'_>) {
        let (tag, window, tsn) = (init.tag.to_be_bytes(), init.window.to_be_bytes(), init.tsn.to_be_bytes());
        let (outbound, inbound) = (init.outbound.to_be_bytes(), init.inbound.to_be_bytes());
        self.framed([kind, 0], &[&tag, &window, &outbound, &inbound, &tsn, init.parameters]);
    }

    pub(super) fn init(&mut self, init: &Init<'_>) {
        self.init_as(kind::INIT, init);
    }

    pub(super) fn init_ack(&mut self, init: &Init<'_>) {
        self.init_as(kind::INIT_ACK, init);
    }

    pub(super) fn sack(&mut self, cumulative: u32, window: u32, gaps: &[(u16, u16)], duplicates: &[u32]) {
        let counts = [(gaps.len() as u16).to_be_bytes(), (duplicates.len() as u16).to_be_bytes()].concat();
        let mut lists: Vec<u8> = Vec::with_capacity(gaps.len() * 4 + duplicates.len() * 4);
        for (first, last) in gaps {
            lists.extend_from_slice(&first.to_be_bytes());
            lists.extend_from_slice(&last.to_be_bytes());
        }
        lists.extend(duplicates.iter().flat_map(|tsn| tsn.to_be_bytes()));
        self.framed([kind::SACK, 0], &[&cumulative.to_be_bytes(), &window.to_be_bytes(), &counts, &lists]);
    }

    /// Writes HEARTBEAT: what is in it comes back.
    pub(super) fn heartbeat(&mut self, info: u64) {
        self.framed([kind::HEARTBEAT, 0], &[&[0, 1, 0, 12], &info.to_be_bytes()]);
    }

    /// Answers HEARTBEAT with what was in it.
    pub(super) fn heartbeat_ack(&mut self, value: &[u8]) {
        self.framed([kind::HEARTBEAT_ACK, 0], &[value]);
    }

    pub(super) fn abort(&mut self, is_reflected: bool, cause: u16, info: &[u8]) {
        let head = [cause.to_be_bytes(), (info.len() as u16 + 4).to_be_bytes()].concat();
        self.framed([kind::ABORT, u8::from(is_reflected)], &[&head, info]);
    }

    pub(super) fn error(&mut self, cause: u16, info: &[u8]) {
        let head = [cause.to_be_bytes(), (info.len() as u16 + 4).to_be_bytes()].concat();
        self.framed([kind::ERROR, 0], &[&head, info]);
    }

    pub(super) fn shutdown(&mut self, cumulative: u32) {
        self.framed([kind::SHUTDOWN, 0], &[&cumulative.to_be_bytes()]);
    }

    pub(super) fn shutdown_ack(&mut self) {
        self.framed([kind::SHUTDOWN_ACK, 0], &[]);
    }

    pub(super) fn shutdown_complete(&mut self, is_reflected: bool) {
        self.framed([kind::SHUTDOWN_COMPLETE, u8::from(is_reflected)], &[]);
    }

    pub(super) fn cookie_echo(&mut self, cookie: &[u8]) {
        self.framed([kind::COOKIE_ECHO, 0], &[cookie]);
    }

    pub(super) fn cookie_ack(&mut self) {
        self.framed([kind::COOKIE_ACK, 0], &[]);
    }
}

/// The parameters of an INIT ACK: the cookie, and those of the INIT that are to be reported because they are not known.
pub(super) fn answer_parameters(cookie: &[u8], asked: &[u8]) -> Vec<u8> {
    let mut written = Packet { octets: Vec::new() };
    written.framed(COOKIE.to_be_bytes(), &[cookie]);
    for (kind, value) in parameters(asked) {
        // Addresses, cookie preservative, supported address types: of a peer with several addresses, the one is used that sent this.
        if matches!(kind, 5 | 6 | 9 | 12) {
            continue;
        }
        // The upper bits of a type that is not known: go on, report (3.2.1).
        if kind & 0x4000 != 0 && written.octets.len() + value.len() < MOST_PARAMETERS {
            let length = (value.len() as u16 + 4).to_be_bytes();
            written.framed(UNRECOGNIZED_PARAMETER.to_be_bytes(), &[&kind.to_be_bytes(), &length, value]);
        }
        if kind & 0x8000 == 0 {
            break;
        }
    }
    written.octets
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: Header = Header { source: 2944, destination: 2945, tag: 7 };

    fn data(octets: &[u8]) -> Data<'_> {
        let (is_first, is_last, is_urgent) = (true, false, true);
        Data { tsn: 1, stream: 2, sequence: 3, protocol: 7, is_first, is_last, is_urgent, octets }
    }

    #[test]
    fn chunks_are_read_as_written() {
        let init = Init {
            tag: 1,
            window: 2,
            outbound: 3,
            inbound: 4,
            tsn: 5,
            parameters: &[0, 7, 0, 5, 9, 0, 0, 0],
        };
        let mut packet = Packet::new(HEAD);
        packet.init_ack(&init);
        packet.data(&data(b"odd"));
        packet.sack(9, 10, &[(2, 3), (5, 5)], &[4]);
        packet.abort(true, cause::USER_ABORT, b"over");
        packet.shutdown(3);
        packet.cookie_ack();
        let octets = packet.finish();
        let (header, chunks) = read(&octets).unwrap();
        assert_eq!(header, HEAD);
        let chunks: Vec<Chunk<'_>> = chunks.collect();
        assert_eq!(chunks[0], Chunk::InitAck(init));
        assert_eq!(init.cookie(), Some(&[9][..]));
        assert_eq!(chunks[1], Chunk::Data(data(b"odd")));
        let Chunk::Sack(sack) = chunks[2] else { panic!("{chunks:?}") };
        assert_eq!(sack.gaps().collect::<Vec<_>>(), [(2, 3), (5, 5)]);
        let Chunk::Abort { is_reflected: true, causes } = chunks[3] else { panic!("{chunks:?}") };
        assert_eq!(parameters(causes).collect::<Vec<_>>(), [(cause::USER_ABORT, &b"over"[..])]);
        assert_eq!(chunks[4..], [Chunk::Shutdown(3), Chunk::CookieAck]);
    }

    #[test]
    fn cut_and_damaged_packets_end() {
        let mut packet = Packet::new(HEAD);
        packet.shutdown_ack();
        packet.data(&data(b"even"));
        let octets = packet.finish();
        for length in 0..octets.len() {
            assert!(read(&octets[..length]).is_none(), "{length}");
        }
        // The same with a right checksum: what is whole is read.
        for length in HEADER..octets.len() {
            let mut cut = octets[..length].to_vec();
            let crc = checksum(&cut);
            cut[8..12].copy_from_slice(&crc.to_le_bytes());
            let (_, chunks) = read(&cut).unwrap();
            assert_eq!(chunks.count(), usize::from(length >= HEADER + 4), "{length}");
        }
    }

    #[test]
    fn unknown_parameters_are_reported_by_their_upper_bits() {
        let asked = [0xc0, 0, 0, 4, 0x80, 8, 0, 6, 130, 192, 0, 0, 0x40, 99, 0, 4, 0xc0, 1, 0, 4];
        let answer = answer_parameters(b"c", &asked);
        let kinds: Vec<(u16, &[u8])> = parameters(&answer).collect();
        // 0x4063 is reported and ends the list.
        assert_eq!(kinds, [(7, &b"c"[..]), (8, &[0xc0, 0, 0, 4]), (8, &[0x40, 99, 0, 4])]);
    }
}
