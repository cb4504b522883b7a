//! One association: how it begins, lives and ends (RFC 9260 clauses 5, 8, 9).

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use super::keyed::Secret;
use super::packet::{Chunk, HEADER, Header, Init, Packet, cause, parameters};
use super::receive::{MOST_ACK, Receiver, Violation};
use super::send::{LONGEST_TIMEOUT, PACKET, Sender};
use super::{Config, Event, Output, Silence};
use crate::time::Time;

/// How often INIT and COOKIE ECHO are sent again (Max.Init.Retransmits).
const MOST_BEGINNINGS: u32 = 8;
/// Expiries without an answer that end an association (Association.Max.Retrans).
const MOST_ERRORS: u32 = 10;
/// How often SHUTDOWN is sent again. Nothing depends on its answer.
const MOST_SHUTDOWNS: u32 = 5;
/// Silence after which a peer is asked whether it is there (HB.interval).
const HEARTBEAT: Duration = Duration::from_secs(30);
/// How long a peer may have no room for more.
const REFUSED: Duration = Duration::from_secs(30);
/// How long a peer may acknowledge nothing, whatever it says.
const STALLED: Duration = Duration::from_secs(120);
/// Answers to chunks that wait for the next packet; more are dropped.
const MOST_ANSWERS: usize = 16;
/// The octets of a chunk that is sent back: alone it fits into a packet.
const MOST_ECHOED: usize = PACKET - HEADER - 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    CookieWait,
    CookieEchoed,
    Established,
    /// The own side has ended; something has not arrived yet.
    ShutdownPending,
    ShutdownSent,
    /// The peer has ended; something has not arrived there yet.
    ShutdownReceived,
    ShutdownAckSent,
    Closed,
}

impl State {
    /// Returns whether messages are sent that were queued before.
    const fn may_send(self) -> bool {
        matches!(self, Self::Established | Self::ShutdownPending | Self::ShutdownReceived)
    }
}

/// A chunk that answers one of the peer's.
#[derive(Debug)]
enum Answer {
    CookieAck,
    HeartbeatAck(Vec<u8>),
    Unrecognized(Vec<u8>),
}

impl Answer {
    /// The most octets of the chunk.
    const fn len(&self) -> usize {
        match self {
            Self::CookieAck => 4,
            Self::HeartbeatAck(octets) | Self::Unrecognized(octets) => octets.len() + 12,
        }
    }
}

/// The two ends of an association.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ends {
    /// Where packets go.
    pub(super) address: SocketAddr,
    pub(super) own_port: u16,
    pub(super) peer_port: u16,
    /// The tag of packets that come; it is the name of the association.
    pub(super) own_tag: u32,
    /// The tag of packets that go.
    pub(super) peer_tag: u32,
}

impl Ends {
    /// Names the association in cookies; the tags themselves are for nobody else.
    pub(super) fn tie(&self, secret: &Secret) -> u64 {
        secret.hash(&[&self.own_tag.to_be_bytes()[..], &self.peer_tag.to_be_bytes(), b"tie"].concat())
    }
}

#[derive(Debug)]
pub(super) struct Association {
    pub(super) ends: Ends,
    pub(super) state: State,
    /// The first own number, until the peer has accepted it.
    first: u32,
    cookie: Vec<u8>,
    /// When INIT, COOKIE ECHO or SHUTDOWN is sent again.
    control: Option<Time>,
    tries: u32,
    sender: Sender,
    receiver: Receiver,
    answers: VecDeque<Answer>,
    /// When the peer is asked whether it is there.
    heartbeat: Time,
    /// What was asked, and has no answer yet.
    asked: Option<u64>,
    /// Questions without an answer.
    unanswered: u32,
    heard: Time,
    silence: Silence,
    deadline: Option<(Time, &'static str)>,
    /// The own side takes no more messages.
    has_ended: bool,
    is_down: bool,
    /// What the endpoint has noted as the next moment.
    pub(super) noted: Option<Time>,
}

impl Association {
    /// Begins an association: INIT is the first packet.
    pub(super) fn connect(now: Time, ends: Ends, first: u32, config: &Config) -> Self {
        let mut new = Self::new(now, ends, first, config);
        new.control = Some(now);
        new
    }

    /// An association that the peer has begun, and whose cookie came back.
    pub(super) fn accept(now: Time, ends: Ends, first: u32, peer: &Init<'_>, config: &Config) -> Self {
        let mut new = Self::new(now, ends, first, config);
        new.silence = config.silence;
        new.establish(now, peer, config);
        new.deadline = after(now, new.silence.first, "no message in time");
        new.answers.push_back(Answer::CookieAck);
        new
    }

    fn new(now: Time, ends: Ends, first: u32, config: &Config) -> Self {
        Self {
            ends,
            state: State::CookieWait,
            first,
            cookie: Vec::new(),
            control: None,
            tries: 0,
            sender: Sender::new(first, 0, config.protocol),
            receiver: Receiver::new(0, config.window, config.most_message),
            answers: VecDeque::new(),
            heartbeat: now.after(HEARTBEAT),
            asked: None,
            unanswered: 0,
            heard: now,
            silence: Silence { frame: config.silence.frame, ..Silence::default() },
            deadline: None,
            has_ended: false,
            is_down: false,
            noted: None,
        }
    }

    fn establish(&mut self, now: Time, peer: &Init<'_>, config: &Config) {
        self.sender = Sender::new(self.first, peer.window, config.protocol);
        self.receiver = Receiver::new(peer.tsn, config.window, config.most_message);
        self.state = State::Established;
        self.heard = now;
    }

    /// The next moment at which something is to be done.
    pub(super) fn due(&self, now: Time) -> Option<Time> {
        let heartbeat = self.state.may_send().then_some(self.heartbeat);
        let stalled = self.sender.stalled().map(|since| {
            let refused = since.after(REFUSED);
            if refused > now { refused } else { since.after(STALLED) }
        });
        let deadline = self.deadline.map(|(due, _)| due);
        let all = [self.control, self.sender.due(), self.receiver.due(), heartbeat, stalled, deadline];
        if self.state == State::Closed { None } else { all.into_iter().flatten().min() }
    }

    fn header(&self) -> Header {
        Header { source: self.ends.own_port, destination: self.ends.peer_port, tag: self.ends.peer_tag }
    }

    /// Queues a message. Nothing more is taken after the end of either side.
    pub(super) fn send(&mut self, now: Time, octets: Arc<[u8]>) {
        if !self.has_ended
            && matches!(self.state, State::Established | State::CookieEchoed | State::CookieWait)
        {
            self.sender.push(now, octets);
        }
    }

    /// Ends the association when all has arrived.
    pub(super) fn shutdown(&mut self, now: Time, output: &mut Output) {
        self.has_ended = true;
        match self.state {
            State::CookieWait | State::CookieEchoed => self.abort(cause::USER_ABORT, "closed", output),
            State::Established => self.state = State::ShutdownPending,
            _ => {}
        }
        self.flush(now, output);
    }

    /// Ends the association now, and tells the peer.
    pub(super) fn abort(&mut self, cause: u16, reason: &str, output: &mut Output) {
        if self.state != State::Closed && self.ends.peer_tag != 0 {
            let mut packet = Packet::new(self.header());
            packet.abort(false, cause, reason.as_bytes());
            output.packets.push_back((self.ends.address, packet.finish()));
        }
        self.close(reason, output);
    }

    /// Ends the association without a word.
    pub(super) fn close(&mut self, reason: &str, output: &mut Output) {
        self.state = State::Closed;
        self.report_end(reason, output);
    }

    fn report_end(&mut self, reason: &str, output: &mut Output) {
        if !self.is_down {
            self.is_down = true;
            output.events.push_back(Event::Down { id: self.ends.own_tag, reason: reason.to_owned() });
        }
    }

    /// Processes a chunk of a packet whose tag is right. Returns false if the rest of the packet is not to be looked at.
    pub(super) fn chunk(
        &mut self,
        now: Time,
        chunk: &Chunk<'_>,
        config: &Config,
        output: &mut Output,
    ) -> bool {
        self.heard = now;
        match chunk {
            Chunk::InitAck(init) if self.state == State::CookieWait => {
                self.init_ack(now, init, config, output)
            }
            Chunk::CookieAck if self.state == State::CookieEchoed => {
                self.state = State::Established;
                (self.control, self.tries, self.cookie) = (None, 0, Vec::new());
                output.events.push_back(Event::Up { id: self.ends.own_tag, is_accepted: false });
            }
            Chunk::Data(data) => {
                let may_come =
                    matches!(self.state, State::Established | State::ShutdownPending | State::ShutdownSent);
                if may_come && let Err(Violation(reason)) = self.receiver.data(data) {
                    self.abort(cause::PROTOCOL_VIOLATION, reason, output);
                }
            }
            Chunk::Sack(sack) => self.sender.ack(now, sack),
            Chunk::Heartbeat(value) if value.len() <= MOST_ECHOED => {
                self.answer(Answer::HeartbeatAck(value.to_vec()));
            }
            Chunk::HeartbeatAck(value) => {
                let info = parameters(value).find(|(kind, _)| *kind == 1);
                let info = info.and_then(|(_, info)| info.try_into().ok()).map(u64::from_be_bytes);
                if self.asked.is_some() && info == self.asked {
                    (self.asked, self.unanswered) = (None, 0);
                }
            }
            Chunk::Abort { causes, .. } => {
                self.close(&reason_of(causes), output);
                return false;
            }
            Chunk::Error(causes) => {
                let is_stale = parameters(causes).any(|(kind, _)| kind == cause::STALE_COOKIE);
                if is_stale && self.state == State::CookieEchoed {
                    self.close("the peer took too long to connect", output);
                }
            }
            Chunk::Shutdown(cumulative) => self.peer_shuts_down(now, *cumulative, output),
            Chunk::ShutdownAck => {
                if matches!(self.state, State::ShutdownSent | State::ShutdownAckSent) {
                    let mut packet = Packet::new(self.header());
                    packet.shutdown_complete(false);
                    output.packets.push_back((self.ends.address, packet.finish()));
                    self.close("closed", output);
                }
            }
            Chunk::ShutdownComplete { .. } if self.state == State::ShutdownAckSent => {
                self.close("closed by the peer", output);
            }
            // The upper bits of a type that is not known: report it, go on (3.2).
            Chunk::Unknown { kind, chunk } => {
                if kind & 0x40 != 0 && chunk.len() <= MOST_ECHOED {
                    self.answer(Answer::Unrecognized(chunk.to_vec()));
                }
                return kind & 0x80 != 0;
            }
            _ => {}
        }
        self.state != State::Closed
    }

    /// The peer's cookie came again: its acknowledgement was lost.
    pub(super) fn cookie_again(&mut self) {
        self.answer(Answer::CookieAck);
    }

    fn answer(&mut self, answer: Answer) {
        if self.answers.len() < MOST_ANSWERS {
            self.answers.push_back(answer);
        }
    }

    fn init_ack(&mut self, now: Time, init: &Init<'_>, config: &Config, output: &mut Output) {
        self.ends.peer_tag = init.tag;
        let cookie = init.cookie().filter(|cookie| cookie.len() <= MOST_ECHOED);
        let Some(cookie) = cookie.filter(|_| is_valid(init)) else {
            return self.abort(cause::INVALID_PARAMETER, "a bad answer to the first packet", output);
        };
        let waiting = std::mem::replace(&mut self.sender, Sender::new(0, 0, 0));
        self.establish(now, init, config);
        self.sender.take_waiting(now, waiting);
        self.state = State::CookieEchoed;
        self.cookie = cookie.to_vec();
        (self.control, self.tries) = (Some(now), 0);
    }

    fn peer_shuts_down(&mut self, now: Time, cumulative: u32, output: &mut Output) {
        self.sender.cumulative_ack(now, cumulative);
        match self.state {
            State::Established | State::ShutdownPending => {
                self.state = State::ShutdownReceived;
                // It sends nothing more.
                self.deadline = None;
            }
            // Both have ended at the same time.
            State::ShutdownSent => {
                self.state = State::ShutdownAckSent;
                (self.control, self.tries) = (Some(now), 0);
                self.report_end("closed", output);
            }
            _ => {}
        }
    }

    /// A packet with data, or without, has been processed.
    pub(super) fn end_packet(&mut self, now: Time, has_data: bool, output: &mut Output) {
        if !has_data || self.state == State::Closed {
            return;
        }
        self.receiver.end_packet(now);
        // A SHUTDOWN says what has arrived (9.2).
        if self.state == State::ShutdownSent {
            self.receiver.acknowledge();
            (self.control, self.tries) = (Some(now), 0);
        }
        let mut is_first = true;
        while let Some(octets) = self.receiver.take_message() {
            if std::mem::take(&mut is_first) {
                self.deadline = after(now, self.silence.idle, "nothing was received for long");
            }
            output.events.push_back(Event::Message { id: self.ends.own_tag, octets });
        }
        let too_late = "a message was begun and not ended in time";
        if !self.receiver.is_within() {
            if self.deadline.is_some_and(|(_, reason)| reason == too_late) {
                self.deadline = after(now, self.silence.idle, "nothing was received for long");
            }
        } else if self.deadline.is_none_or(|(_, reason)| reason != too_late) {
            self.deadline = after(now, self.silence.frame, too_late).or(self.deadline);
        }
    }

    /// Does what is due.
    pub(super) fn handle_timeout(&mut self, now: Time, secret: &mut Secret, output: &mut Output) {
        if let Some((due, reason)) = self.deadline
            && due <= now
        {
            return self.abort(cause::USER_ABORT, reason, output);
        }
        let limit = if self.sender.is_refused() { REFUSED } else { STALLED };
        if self.sender.stalled().is_some_and(|since| since.after(limit) <= now) {
            return self.abort(cause::USER_ABORT, "the peer does not read", output);
        }
        self.sender.handle_timeout(now);
        self.receiver.handle_timeout(now);
        if self.state.may_send() && self.heartbeat <= now {
            self.ask(now, secret, output);
        }
        if self.sender.errors() + self.unanswered > MOST_ERRORS {
            self.abort(cause::USER_ABORT, "the peer does not answer", output);
        }
    }

    /// Asks a peer that has been silent whether it is there (8.3).
    fn ask(&mut self, now: Time, secret: &mut Secret, output: &mut Output) {
        let quiet = now.since(self.heard);
        if quiet < HEARTBEAT {
            self.heartbeat = self.heard.after(HEARTBEAT);
            (self.asked, self.unanswered) = (None, 0);
            return;
        }
        self.unanswered += u32::from(self.asked.is_some());
        let info = u64::from(secret.number()) << 32 | u64::from(secret.number());
        self.asked = Some(info);
        self.heartbeat = now.after(LONGEST_TIMEOUT);
        let mut packet = Packet::new(self.header());
        packet.heartbeat(info);
        output.packets.push_back((self.ends.address, packet.finish()));
    }

    /// Sends what may be sent.
    pub(super) fn flush(&mut self, now: Time, output: &mut Output) {
        self.control(now, output);
        if matches!(self.state, State::CookieWait | State::CookieEchoed | State::Closed) {
            return;
        }
        loop {
            let mut packet = Packet::new(self.header());
            while let Some(answer) = self.answers.front()
                && (packet.is_empty() || packet.len() + answer.len() <= PACKET)
            {
                match answer {
                    Answer::CookieAck => packet.cookie_ack(),
                    Answer::HeartbeatAck(value) => packet.heartbeat_ack(value),
                    Answer::Unrecognized(chunk) => packet.error(cause::UNRECOGNIZED_CHUNK, chunk),
                }
                self.answers.pop_front();
            }
            let has_data = self.state.may_send() && self.sender.has_data();
            if packet.len() + MOST_ACK <= PACKET {
                self.receiver.write_ack(&mut packet, has_data);
                if has_data {
                    self.sender.write(now, &mut packet);
                }
            }
            if packet.is_empty() {
                break;
            }
            output.packets.push_back((self.ends.address, packet.finish()));
        }
        let finished = self.sender.take_finished();
        if finished > 0 {
            output.events.push_back(Event::Sent { id: self.ends.own_tag, count: finished });
        }
        if self.sender.is_done() && matches!(self.state, State::ShutdownPending | State::ShutdownReceived) {
            if self.state == State::ShutdownPending {
                self.state = State::ShutdownSent;
            } else {
                self.state = State::ShutdownAckSent;
                self.report_end("closed by the peer", output);
            }
            (self.control, self.tries, self.deadline) = (Some(now), 0, None);
            self.control(now, output);
        }
    }

    /// Sends INIT, COOKIE ECHO, SHUTDOWN or its acknowledgement, again if there was no answer.
    fn control(&mut self, now: Time, output: &mut Output) {
        if self.control.is_none_or(|due| due > now) {
            return;
        }
        let (most, reason) = match self.state {
            State::CookieWait | State::CookieEchoed => (MOST_BEGINNINGS, "the peer does not answer"),
            _ => (MOST_SHUTDOWNS, "closed"),
        };
        if self.tries > most {
            return self.close(reason, output);
        }
        let mut packet = Packet::new(self.header());
        match self.state {
            State::CookieWait => packet.init(&Init {
                tag: self.ends.own_tag,
                window: self.receiver.room(),
                outbound: 1,
                inbound: u16::MAX,
                tsn: self.first,
                parameters: &[],
            }),
            State::CookieEchoed => packet.cookie_echo(&self.cookie),
            State::ShutdownSent => packet.shutdown(self.receiver.cumulative()),
            State::ShutdownAckSent => packet.shutdown_ack(),
            _ => return self.control = None,
        }
        output.packets.push_back((self.ends.address, packet.finish()));
        let wait = Duration::from_secs(1) * (1 << self.tries.min(6));
        self.control = Some(now.after(wait.min(LONGEST_TIMEOUT)));
        self.tries += 1;
    }
}

/// Returns whether INIT or INIT ACK may begin an association (3.3.2).
pub(super) const fn is_valid(init: &Init<'_>) -> bool {
    init.tag != 0 && init.inbound != 0 && init.outbound != 0 && init.window >= 1500
}

fn after(now: Time, millis: Option<u32>, reason: &'static str) -> Option<(Time, &'static str)> {
    Some((now.after(Duration::from_millis(millis?.into())), reason))
}

/// Why the peer has aborted, in its words if it has some.
fn reason_of(causes: &[u8]) -> String {
    let text = parameters(causes).find(|(kind, _)| *kind == cause::USER_ABORT).map(|(_, text)| text);
    let text = text.map(String::from_utf8_lossy).unwrap_or_default();
    let text: String = text.chars().filter(|letter| !letter.is_control()).take(200).collect();
    let text = text.trim();
    if text.is_empty() { "aborted by the peer".to_owned() } else { format!("aborted by the peer: {text}") }
}
