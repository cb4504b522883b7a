//! TCP: from segments to messages.

use super::framing::{self, Found, Framing, Inside};
use super::{Layers, Path, Sink, Step, u16_at, u32_at};
use crate::balance::End;
use crate::event::{Endpoint, Stream, Transport, Unread};
use crate::protocol::Target;
use crate::reassembly::Frames;
use crate::reassembly::tcp::{Connection, Direction, Key, Segment, Source, Taken};
use std::net::SocketAddr;

/// What a direction of a connection carries.
#[derive(Clone, Debug)]
pub(super) struct Conversation {
    target: Target,
    framing: Framing,
    /// Messages have been followed from one to the next.
    in_step: bool,
    /// Nothing of ours comes any more: what follows is encrypted.
    is_over: bool,
    /// Data units of COTP, or the handshake of TLS, that go on in the next packet.
    units: Vec<u8>,
    frames: Vec<u64>,
}

impl Conversation {
    fn new(target: Target, framing: Framing) -> Self {
        Self { target, framing, in_step: true, is_over: false, units: Vec::new(), frames: Vec::new() }
    }

    /// Forgets the begin of a message: octets are missing.
    fn restart(&mut self) {
        self.in_step = false;
        self.units.clear();
        self.frames.clear();
    }
}

/// Flags of a segment.
const SYN: u8 = 2;
const RST: u8 = 4;

impl Layers {
    /// Reads a segment.
    pub(super) fn tcp(&mut self, octets: &[u8], path: &mut Path, sink: Sink<'_>) -> Step {
        let (Some(source), Some(destination), Some(number), Some(&[offset, flags])) = (
            u16_at(octets, 0),
            u16_at(octets, 2),
            u32_at(octets, 4),
            octets.get(12..).and_then(<[u8]>::first_chunk),
        ) else {
            return Step::bad("tcp", format!("header is cut after {} bytes", octets.len()));
        };
        let header = 4 * usize::from(offset >> 4);
        let Some(payload) = octets.get(header..).filter(|_| header >= 20) else {
            return Step::bad("tcp", format!("header of {header} bytes in {} bytes", octets.len()));
        };
        let (from, to) =
            (SocketAddr::new(path.source, source), SocketAddr::new(path.destination, destination));
        let side = usize::from(from > to);
        let key = if side == 0 { (from, to) } else { (to, from) };
        let known = self.tcp_streams.remove(key);
        // TLS has no ports of its own: certificates are looked for behind each greeting.
        let found = match &known {
            Some(connection) => Some(connection.states[side].target.clone()),
            None if framing::is_handshake(payload) => framing::x509(),
            None => {
                let known = self.lookup.tcp(source, destination);
                known.or_else(|| self.expected(Transport::Tcp, [to, from]))
            }
        };
        let Some((framing, target)) = found.and_then(|target| Some((Framing::of(&target)?, target))) else {
            if payload.is_empty() {
                return Step::End(End::Nothing);
            }
            return Step::Unread(Unread::TcpPort(source.min(destination)));
        };
        let fresh = || Conversation::new(target.clone(), framing);
        let mut connection = known.unwrap_or_else(|| {
            let number = self.next_connection;
            self.next_connection += 1;
            Box::new(Connection::new(number, [fresh(), fresh()]))
        });
        let mut end = End::Nothing;
        let begin = if flags & SYN != 0 { number.wrapping_add(1) } else { number };
        if flags & SYN != 0 && !connection.directions[side].is_at(begin) {
            // The sockets are used once more.
            end = end.max(self.close(key, &mut connection, side, path, sink));
            connection.directions[side] = Direction::default();
            connection.states[side] = fresh();
        }
        if flags & SYN != 0 {
            connection.directions[side].start(begin);
        }
        if !payload.is_empty() && !connection.states[side].is_over {
            let segment = Segment { number: begin, octets: payload, frame: path.frame, time: path.time };
            let mut taken = connection.directions[side].take(segment);
            if taken == Taken::Foreign {
                end = end.max(self.close(key, &mut connection, side, path, sink));
                connection.directions[side] = Direction::default();
                connection.states[side] = fresh();
                taken = connection.directions[side].take(segment);
            }
            end = end.max(match taken {
                Taken::Again | Taken::Foreign => {
                    self.balance.retransmitted += 1;
                    End::Nothing
                }
                Taken::Waiting => End::Waiting,
                Taken::Advanced { overlaps } => {
                    self.tcp_streams.counts.overlapping += u64::from(overlaps);
                    self.read_stream(key, &mut connection, side, path, None, sink)
                }
            });
            while connection.directions[side].is_hole_old(path.time) {
                end = end.max(self.skip_hole(key, &mut connection, side, path, sink));
            }
        }
        if flags & RST != 0 {
            end = end.max(self.close(key, &mut connection, side, path, sink));
        }
        self.tcp_streams.insert(key, connection, &mut self.budget);
        Step::End(end)
    }

    /// Reads what is behind all holes, at the end of the capture.
    pub(super) fn finish_tcp(&mut self, sink: Sink<'_>) {
        for key in self.tcp_streams.keys() {
            if let Some(mut connection) = self.tcp_streams.remove(key) {
                for side in 0..2 {
                    self.close(key, &mut connection, side, &Path::of_frame(0), sink);
                }
                self.tcp_streams.insert(key, connection, &mut self.budget);
            }
        }
    }

    /// Reads what is behind the holes of a direction, and forgets the rest.
    fn close(
        &mut self,
        key: Key,
        connection: &mut Connection<Conversation>,
        side: usize,
        path: &Path,
        sink: Sink<'_>,
    ) -> End {
        let mut end = End::Nothing;
        while connection.directions[side].has_hole() {
            end = end.max(self.skip_hole(key, connection, side, path, sink));
        }
        self.tcp_streams.counts.given_up += u64::from(!connection.directions[side].unread().is_empty());
        connection.directions[side].clear();
        end
    }

    /// Gives up the octets that are missing, and looks for the next message.
    fn skip_hole(
        &mut self,
        key: Key,
        connection: &mut Connection<Conversation>,
        side: usize,
        path: &Path,
        sink: Sink<'_>,
    ) -> End {
        let Some((missing, source)) = connection.directions[side].give_up_hole() else { return End::Nothing };
        self.tcp_streams.counts.given_up += 1;
        connection.states[side].restart();
        let behind = Path { frame: source.frame, offset: path.offset, ..Path::of_frame(source.frame) };
        let reason = format!("{missing} bytes of the stream are not in the capture");
        self.fault(&behind, "tcp", reason.into(), sink);
        self.read_stream(key, connection, side, path, Some(source), sink)
    }

    /// Reads the messages that are whole. Behind a hole, their frames are those in which they came.
    fn read_stream(
        &mut self,
        key: Key,
        connection: &mut Connection<Conversation>,
        side: usize,
        path: &Path,
        behind: Option<Source>,
        sink: Sink<'_>,
    ) -> End {
        let mut end = End::Nothing;
        let (from, to) = if side == 0 { key } else { (key.1, key.0) };
        let stream = Some(Stream::Tcp(connection.number));
        let Connection { directions, states, .. } = connection;
        let (direction, state) = (&mut directions[side], &mut states[side]);
        loop {
            if state.is_over {
                direction.clear();
                return end;
            }
            if direction.unread().is_empty() {
                return end;
            }
            if !state.in_step && !find_step(direction, state) {
                return end;
            }
            match state.framing.next(direction.unread()) {
                Found::More => return end.max(End::Waiting),
                Found::Skip(count) => direction.consume(count),
                Found::Other(framing) => {
                    state.framing = framing;
                    state.in_step = true;
                }
                Found::Lost => {
                    state.restart();
                    if state.framing == Framing::Tls {
                        state.is_over = true;
                        continue;
                    }
                    // A capture that begins within a message says nothing about the sender.
                    let reason = format!("no message of {} begins here", state.target.protocol.name);
                    self.fault(path, "tcp", reason.into(), sink);
                    end = end.max(End::Bad);
                    direction.consume(1);
                }
                Found::Unit { total, message } => {
                    let sources: Vec<_> = direction.sources(total).collect();
                    let last = sources.last().filter(|_| behind.is_some());
                    let mut place = Path {
                        frame: last.map_or(path.frame, |it| it.frame),
                        time: last.map_or(path.time, |it| it.time),
                        interface: path.interface,
                        offset: path.offset,
                        from: Endpoint::Ip(from),
                        to: Endpoint::Ip(to),
                        stream,
                        names: path.names,
                        ..Path::of_frame(path.frame)
                    };
                    place.frames = Frames::of(sources.iter().map(|it| it.frame).collect());
                    place.names.push(state.framing.name());
                    let unit = &direction.unread()[message];
                    end = end.max(self.unit(state, unit, &mut place, sink));
                    direction.consume(total);
                }
            }
        }
    }

    /// Looks into a message, or into what carries it.
    fn unit(&mut self, state: &mut Conversation, unit: &[u8], path: &mut Path, sink: Sink<'_>) -> End {
        let target = state.target.clone();
        match state.framing {
            Framing::Ldap
            | Framing::Snmp
            | Framing::Marked
            | Framing::Prefixed
            | Framing::Tpkt(Inside::Message) => {
                self.pdu(path, target, unit, false, sink);
                End::Pdu
            }
            Framing::Tpkt(Inside::Q931) => match framing::q931(unit) {
                Some(range) => {
                    self.pdu(path, target, &unit[range], false, sink);
                    End::Pdu
                }
                None => End::Nothing,
            },
            Framing::Tpkt(Inside::Cotp) => {
                let Some((range, is_last)) = framing::cotp(unit) else { return End::Nothing };
                if state.units.len() + range.len() > framing::MESSAGE_LIMIT {
                    state.restart();
                    self.fault(path, "cotp", "message of more than 1 MiB".into(), sink);
                    return End::Bad;
                }
                state.units.extend_from_slice(&unit[range]);
                state.frames.extend_from_slice(path.frames.numbers());
                if !is_last {
                    return End::Waiting;
                }
                path.frames = Frames::of(std::mem::take(&mut state.frames));
                let units = std::mem::take(&mut state.units);
                match framing::mms(&units) {
                    Some(message) => {
                        self.pdu(path, target, message, false, sink);
                        End::Pdu
                    }
                    None => End::Nothing,
                }
            }
            Framing::GtpPrime => self.gtp_prime(unit, path, sink),
            Framing::Tls => self.handshake(state, unit, path, sink),
        }
    }

    /// Looks for certificates in a record of TLS.
    fn handshake(&mut self, state: &mut Conversation, record: &[u8], path: &mut Path, sink: Sink<'_>) -> End {
        // Records of the handshake have several messages, or parts of one. All other records end what is in clear.
        let is_handshake = !state.units.is_empty() || matches!(record.first(), Some(0..=24));
        if !is_handshake || state.units.len() + record.len() > framing::MESSAGE_LIMIT {
            state.is_over = true;
            return End::Nothing;
        }
        state.units.extend_from_slice(record);
        state.frames.extend_from_slice(path.frames.numbers());
        let mut end = End::Nothing;
        while let [_, a, b, c, ..] = state.units[..] {
            let length = 4 + u32::from_be_bytes([0, a, b, c]) as usize;
            if length > framing::MESSAGE_LIMIT {
                state.is_over = true;
                return end;
            }
            let Some(message) = state.units.get(..length) else { break };
            let certificates = framing::certificates(message);
            if !certificates.is_empty()
                && let Some(target) = framing::x509()
            {
                path.frames = Frames::of(state.frames.clone());
                for range in certificates {
                    self.pdu(path, target.clone(), &message[range], false, sink);
                    end = End::Pdu;
                }
            }
            state.units.drain(..length);
            state.frames.clear();
            state.frames.extend_from_slice(&[path.frame]);
        }
        if state.units.is_empty() {
            state.frames.clear();
            end
        } else {
            end.max(End::Waiting)
        }
    }
}

/// Looks for the begin of a message in a stream that has lost step; drops what is before it.
fn find_step(direction: &mut Direction, state: &mut Conversation) -> bool {
    let octets = direction.unread();
    let fits = |at: usize| state.framing.next(&octets[at..]) != Found::Lost;
    // Headers of LDAP and SNMP are long enough to be found anywhere; others only where a segment begins.
    let found = match state.framing {
        Framing::Ldap | Framing::Snmp => (0..octets.len()).find(|&at| fits(at)),
        _ => direction.begins().find(|&at| at < octets.len() && fits(at)),
    };
    let count = found.unwrap_or(octets.len());
    direction.consume(count);
    state.in_step = found.is_some();
    found.is_some()
}
