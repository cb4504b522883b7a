//! Terminations: what they have, as commands have set it.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use tercet_megaco::digit_map::DigitMap;
use tercet_megaco::model::{
    DigitMapDescriptor, EventBufferControl, EventSpec, EventsDescriptor, LocalControlDescriptor,
    LocalRemoteDescriptor, ModemDescriptor, MuxDescriptor, ObservedEvent, ObservedEventsDescriptor,
    PropertyParm, ServiceState, Signal, StatisticsParameter, StreamMode, TerminationId,
};
use tercet_megaco::{Name, Str};

use super::Key;
use crate::time::Time;

/// A termination, or the gateway as a whole.
#[derive(Clone, Debug)]
pub(super) struct Termination {
    pub(super) name: Key,
    pub(super) is_ephemeral: bool,
    /// 0 is the NULL context.
    pub(super) context: u32,
    /// When it came into its context.
    pub(super) since: Time,
    pub(super) service_state: ServiceState,
    /// When it goes out of service (Graceful).
    pub(super) goes_out: Option<Time>,
    pub(super) buffer_control: Option<EventBufferControl>,
    pub(super) properties: Vec<PropertyParm<'static>>,
    pub(super) streams: BTreeMap<u16, Stream>,
    /// Whether its streams were given with numbers.
    pub(super) is_numbered: bool,
    pub(super) modem: Option<Box<ModemDescriptor<'static>>>,
    pub(super) mux: Option<MuxDescriptor<'static>>,
    pub(super) events: EventsDescriptor<'static>,
    /// An event was notified in lock step: further ones wait for the next events descriptor.
    pub(super) is_locked: bool,
    pub(super) event_buffer: Vec<EventSpec<'static>>,
    pub(super) buffered: VecDeque<ObservedEvent<'static>>,
    /// Signals that a command has interrupted, which are told when the command is done.
    pub(super) happened: Vec<ObservedEvent<'static>>,
    pub(super) observed: Option<ObservedEventsDescriptor<'static>>,
    pub(super) signals: Vec<Playing>,
    pub(super) digit_map: Option<DigitMapDescriptor<'static>>,
    pub(super) collecting: Option<Collecting>,
}

/// A stream of a termination.
#[derive(Clone, Debug, Default)]
pub(super) struct Stream {
    pub(super) control: LocalControlDescriptor<'static>,
    pub(super) local: Option<LocalRemoteDescriptor<'static>>,
    pub(super) remote: Option<LocalRemoteDescriptor<'static>>,
}

/// A signal that is played, or a list of them.
#[derive(Clone, Debug)]
pub(super) struct Playing {
    /// The number of the list.
    pub(super) list: Option<u16>,
    /// The signal that is heard, and those of the list after it.
    pub(super) signals: VecDeque<Signal<'static>>,
    /// When it ends; without an end it is heard until others are asked for.
    pub(super) ends: Option<Time>,
}

/// Digits that are collected by a digit map.
#[derive(Clone, Debug)]
pub(super) struct Collecting {
    pub(super) event: Name<'static>,
    pub(super) map: DigitMap,
    pub(super) begun: Time,
    /// When each digit came, and which.
    pub(super) digits: Vec<(Time, u8)>,
    pub(super) deadline: Time,
}

/// Packets of a voice stream in a second.
const PACKETS_IN_A_SECOND: u64 = 50;
/// Octets of a packet of 20 ms of G.711.
const OCTETS_IN_A_PACKET: u64 = 160;

impl Termination {
    pub(super) fn new(name: Key, is_ephemeral: bool) -> Self {
        Self {
            name,
            is_ephemeral,
            context: 0,
            since: Time::default(),
            service_state: ServiceState::InSvc,
            goes_out: None,
            buffer_control: None,
            properties: Vec::new(),
            streams: BTreeMap::new(),
            is_numbered: false,
            modem: None,
            mux: None,
            events: EventsDescriptor::default(),
            is_locked: false,
            event_buffer: Vec::new(),
            buffered: VecDeque::new(),
            happened: Vec::new(),
            observed: None,
            signals: Vec::new(),
            digit_map: None,
            collecting: None,
        }
    }

    /// The termination as it is after Subtract: it is idle, and what was set is gone (7.2.3).
    pub(super) fn idle(&self) -> Self {
        Self {
            service_state: self.service_state,
            goes_out: self.goes_out,
            ..Self::new(self.name.clone(), self.is_ephemeral)
        }
    }

    pub(super) fn id(&self) -> TerminationId<'static> {
        TerminationId(Name::from(self.name.clone()))
    }

    /// When something is due at it.
    pub(super) fn due(&self) -> Option<Time> {
        let signals = self.signals.iter().filter_map(|playing| playing.ends);
        let digits = self.collecting.iter().map(|collecting| collecting.deadline);
        signals.chain(digits).chain(self.goes_out).min()
    }

    /// Its statistics: those of the network, and of packets if it is one of a packet network.
    pub(super) fn statistics(&self, now: Time) -> Vec<StatisticsParameter<'static>> {
        let millis = u64::try_from(now.since(self.since).as_millis()).unwrap_or(u64::MAX);
        let mode = self.streams.values().find_map(|stream| stream.control.stream_mode);
        let packets = |flows: bool| if flows { millis.saturating_mul(PACKETS_IN_A_SECOND) / 1000 } else { 0 };
        let sent = packets(matches!(mode, Some(StreamMode::SendOnly | StreamMode::SendRecv)));
        let received = packets(matches!(mode, Some(StreamMode::RecvOnly | StreamMode::SendRecv)));
        let mut all = vec![
            ("nt/dur", millis),
            ("nt/os", sent.saturating_mul(OCTETS_IN_A_PACKET)),
            ("nt/or", received.saturating_mul(OCTETS_IN_A_PACKET)),
        ];
        if self.is_ephemeral {
            all.extend([
                ("rtp/ps", sent),
                ("rtp/pr", received),
                ("rtp/pl", 0),
                ("rtp/jit", 0),
                ("rtp/delay", 0),
            ]);
        }
        let statistic = |(name, value): (&'static str, u64)| StatisticsParameter {
            stat_name: Name::from(name),
            stat_value: Some(tercet_megaco::List::One(Str::from(value.to_string().into_bytes()))),
        };
        all.into_iter().map(statistic).collect()
    }
}

/// So many hundredths of a second.
pub(super) fn hundredths(count: u16) -> Duration {
    Duration::from_millis(u64::from(count) * 10)
}

/// A name in lower case.
pub(super) fn key(name: &[u8]) -> Key {
    name.to_ascii_lowercase()
}

/// Whether a name fits a pattern in which `*` and `$` stand for anything.
pub(super) fn fits(pattern: &[u8], name: &[u8]) -> bool {
    // Where to go on after the last `*`: what follows it, and the place in the name.
    let (mut at, mut place) = (0, 0);
    let mut again: Option<(usize, usize)> = None;
    while place < name.len() {
        match pattern.get(at) {
            Some(b'*' | b'$') => {
                again = Some((at + 1, place));
                at += 1;
            }
            Some(octet) if octet.eq_ignore_ascii_case(&name[place]) => {
                at += 1;
                place += 1;
            }
            _ => match again {
                Some((after, from)) => {
                    (at, place) = (after, from + 1);
                    again = Some((after, from + 1));
                }
                None => return false,
            },
        }
    }
    pattern[at.min(pattern.len())..].iter().all(|octet| matches!(octet, b'*' | b'$'))
}
