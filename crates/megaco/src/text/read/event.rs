//! Events, requested and observed, and digit maps.

use crate::model::{
    DigitMapDescriptor, DigitMapValue, EventDm, EventParameter, EventSpec, EventsDescriptor, NotifyBehaviour,
    ObservedEvent, ObservedEventsDescriptor, REQUEST_ALL, RegulatedEmbeddedDescriptor, RequestedActions,
    RequestedEvent, SecondEventsDescriptor, SecondRequestedActions, SecondRequestedEvent, SignalRequest,
    TimeNotation,
};
use crate::octets::{Name, Str};
use crate::text::scan::{Scanner, number};
use crate::text::token::Token;
use crate::{Error, Result};

const ONCE: &str = "KeepActive, Embed, DigitMap, Stream and the rest each once";

fn once<T>(slot: &mut Option<T>, value: T, at: usize) -> Result<()> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(Error::new(at, ONCE)),
    }
}

/// What both kinds of requested events have in their braces.
#[derive(Default)]
struct Body<'a> {
    stream_id: Option<u16>,
    has_action: bool,
    keep_active: Option<bool>,
    event_dm: Option<EventDm<'a>>,
    second_event: Option<SecondEventsDescriptor<'a>>,
    signals_descriptor: Option<Vec<SignalRequest<'a>>>,
    notify_behaviour: Option<NotifyBehaviour<'a>>,
    reset_events_descriptor: Option<()>,
    parameters: Vec<EventParameter<'a>>,
}

impl<'a> Scanner<'a> {
    /// `eventsDescriptor` behind its token; empty if there is no `=`.
    pub(super) fn events_descriptor(&mut self) -> Result<EventsDescriptor<'a>> {
        let mut events = EventsDescriptor::default();
        if !self.accept(b'=') {
            return Ok(events);
        }
        events.request_id = Some(self.request_id()?);
        self.open()?;
        loop {
            let pkgd_name = self.pkgd_name()?;
            let mut event =
                RequestedEvent { pkgd_name, stream_id: None, event_action: None, ev_par_list: Vec::new() };
            if self.accept(b'{') {
                let body = self.event_body(true)?;
                event.stream_id = body.stream_id;
                event.ev_par_list = body.parameters;
                event.event_action = body.has_action.then(|| {
                    Box::new(RequestedActions {
                        keep_active: body.keep_active,
                        event_dm: body.event_dm,
                        second_event: body.second_event,
                        signals_descriptor: body.signals_descriptor,
                        notify_behaviour: body.notify_behaviour,
                        reset_events_descriptor: body.reset_events_descriptor,
                    })
                });
            }
            events.event_list.push(event);
            if !self.more()? {
                return Ok(events);
            }
        }
    }

    /// `embedFirst` behind its token.
    fn second_events(&mut self) -> Result<SecondEventsDescriptor<'a>> {
        let mut events = SecondEventsDescriptor::default();
        if !self.accept(b'=') {
            return Ok(events);
        }
        events.request_id = Some(self.request_id()?);
        self.open()?;
        loop {
            let pkgd_name = self.pkgd_name()?;
            let mut event = SecondRequestedEvent {
                pkgd_name,
                stream_id: None,
                event_action: None,
                ev_par_list: Vec::new(),
            };
            if self.accept(b'{') {
                let body = self.event_body(false)?;
                event.stream_id = body.stream_id;
                event.ev_par_list = body.parameters;
                event.event_action = body.has_action.then(|| {
                    Box::new(SecondRequestedActions {
                        keep_active: body.keep_active,
                        event_dm: body.event_dm,
                        signals_descriptor: body.signals_descriptor,
                        notify_behaviour: body.notify_behaviour,
                        reset_events_descriptor: body.reset_events_descriptor,
                    })
                });
            }
            events.event_list.push(event);
            if !self.more()? {
                return Ok(events);
            }
        }
    }

    /// `RequestID`: a number, or `*` for all.
    pub(super) fn request_id(&mut self) -> Result<u32> {
        const WHAT: &str = "a request id: a number of 32 bits, or `*`";
        let start = self.at;
        match self.word(WHAT)? {
            b"*" => Ok(REQUEST_ALL),
            word => number(word, u32::MAX).ok_or_else(|| Error::new(start, WHAT)),
        }
    }

    /// What stands in the braces of a requested event, the first of which has been read. Only in `first` events may
    /// events be embedded.
    fn event_body(&mut self, first: bool) -> Result<Body<'a>> {
        let mut body = Body::default();
        loop {
            let at = self.at;
            let word = self.word("a parameter of the event")?;
            let token = self.token_of(word);
            let is_bare = matches!(self.peek(), b',' | b'}');
            match token {
                Some(Token::KeepActive) if is_bare => {
                    once(&mut body.keep_active, true, at)?;
                    body.has_action = true;
                }
                Some(Token::ResetEventsDescriptor) if is_bare => {
                    once(&mut body.reset_events_descriptor, (), at)?;
                    body.has_action = true;
                }
                Some(Token::Embed) if self.peek() == b'{' => {
                    if body.signals_descriptor.is_some() || body.second_event.is_some() {
                        return Err(Error::new(at, ONCE));
                    }
                    (body.signals_descriptor, body.second_event) = self.embed(first)?;
                    body.has_action = true;
                }
                Some(Token::DigitMap) => {
                    let digit_map = self.event_digit_map()?;
                    once(&mut body.event_dm, digit_map, at)?;
                    body.has_action = true;
                }
                Some(Token::Stream) => {
                    let stream = self.stream_id()?;
                    once(&mut body.stream_id, stream, at)?;
                }
                Some(Token::ImmediateNotify) if is_bare => {
                    once(&mut body.notify_behaviour, NotifyBehaviour::NotifyImmediate(()), at)?;
                    body.has_action = true;
                }
                Some(Token::NeverNotify) if is_bare => {
                    once(&mut body.notify_behaviour, NotifyBehaviour::NeverNotify(()), at)?;
                    body.has_action = true;
                }
                Some(Token::RegulatedNotify) if is_bare || self.peek() == b'{' => {
                    let mut regulated = RegulatedEmbeddedDescriptor::default();
                    if self.accept(b'{') {
                        let start = self.at;
                        if self.token("Embed")? != Token::Embed {
                            return Err(Error::new(start, "Embed"));
                        }
                        (regulated.signals_descriptor, regulated.second_event) = self.embed(true)?;
                        self.close()?;
                    }
                    once(&mut body.notify_behaviour, NotifyBehaviour::NotifyRegulated(regulated), at)?;
                    body.has_action = true;
                }
                _ => body.parameters.push(self.event_parameter(word)?),
            }
            if !self.more()? {
                return Ok(body);
            }
        }
    }

    fn event_parameter(&mut self, name: &'a [u8]) -> Result<EventParameter<'a>> {
        let (value, extra_info) = self.parm_value()?;
        Ok(EventParameter { event_parameter_name: Name::borrowed(name), value, extra_info })
    }

    /// `LBRKT (signalsDescriptor [COMMA embedFirst] / embedFirst) RBRKT`.
    fn embed(
        &mut self,
        events: bool,
    ) -> Result<(Option<Vec<SignalRequest<'a>>>, Option<SecondEventsDescriptor<'a>>)> {
        const WHAT: &str = "Signals, Events, or one and then the other";
        self.open()?;
        let mut signals = None;
        let mut second = None;
        loop {
            let start = self.at;
            match self.token(WHAT)? {
                Token::Signals if signals.is_none() && second.is_none() => {
                    signals = Some(self.signals_descriptor()?)
                }
                Token::Events if events && second.is_none() => second = Some(self.second_events()?),
                _ => return Err(Error::new(start, WHAT)),
            }
            if !self.more()? {
                return Ok((signals, second));
            }
        }
    }

    /// `eventDM` behind its token: `= name` or `{ value }`, not both.
    fn event_digit_map(&mut self) -> Result<EventDm<'a>> {
        let before = *self;
        let map = self.digit_map_descriptor()?;
        match (map.digit_map_name, map.digit_map_value) {
            (Some(name), None) => Ok(EventDm::DigitMapName(name)),
            (None, Some(value)) => Ok(EventDm::DigitMapValue(value)),
            _ => Err(before.error("the name of a digit map or what it is, not both")),
        }
    }

    /// `eventBufferDescriptor` behind its token; empty if there is no brace.
    pub(super) fn event_buffer(&mut self) -> Result<Vec<EventSpec<'a>>> {
        let mut events = Vec::new();
        if !self.accept(b'{') {
            return Ok(events);
        }
        loop {
            let event_name = self.pkgd_name()?;
            let (stream_id, event_par_list) = self.observed_body()?;
            events.push(EventSpec { event_name, stream_id, event_par_list });
            if !self.more()? {
                return Ok(events);
            }
        }
    }

    /// `observedEventsDescriptor` behind its token.
    pub(super) fn observed_events(&mut self) -> Result<ObservedEventsDescriptor<'a>> {
        self.equal()?;
        let request_id = self.request_id()?;
        self.open()?;
        let mut observed = ObservedEventsDescriptor { request_id, observed_event_lst: Vec::new() };
        loop {
            let start = self.at;
            let word = self.word("an event, or a time stamp")?;
            let time_notation = time_stamp(word).filter(|_| self.peek() == b':');
            let event_name = if time_notation.is_some() {
                self.accept(b':');
                self.pkgd_name()?
            } else {
                super::property::check_pkgd_name(word, start)?
            };
            let (stream_id, event_par_list) = self.observed_body()?;
            observed.observed_event_lst.push(ObservedEvent {
                event_name,
                stream_id,
                event_par_list,
                time_notation,
            });
            if !self.more()? {
                return Ok(observed);
            }
        }
    }

    /// `[LBRKT observedEventParameter *(COMMA observedEventParameter) RBRKT]`.
    fn observed_body(&mut self) -> Result<(Option<u16>, Vec<EventParameter<'a>>)> {
        let mut stream_id = None;
        let mut parameters = Vec::new();
        if self.accept(b'{') {
            loop {
                let at = self.at;
                let word = self.word("Stream or a parameter of the event")?;
                if self.token_of(word) == Some(Token::Stream) {
                    let stream = self.stream_id()?;
                    once(&mut stream_id, stream, at)?;
                } else {
                    parameters.push(self.event_parameter(word)?);
                }
                if !self.more()? {
                    break;
                }
            }
        }
        Ok((stream_id, parameters))
    }

    /// `digitMapDescriptor` behind its token: `EQUAL (LBRKT value RBRKT / name [LBRKT value RBRKT])`; the `=` may be
    /// missing before a brace.
    pub(super) fn digit_map_descriptor(&mut self) -> Result<DigitMapDescriptor<'a>> {
        let mut map = DigitMapDescriptor::default();
        if self.accept(b'=') && self.peek() != b'{' {
            map.digit_map_name =
                Some(Name::borrowed(self.word("the name of a digit map, or what it is in braces")?));
        }
        if self.peek() == b'{' {
            self.at += 1;
            let value = digit_map_value(self.octet_string()?, self.version);
            map.digit_map_value = (value != DigitMapValue::default()).then_some(value);
        }
        if map.digit_map_name.is_none() && map.digit_map_value.is_none() {
            return Err(self.error("the name of a digit map, or what it is in braces"));
        }
        Ok(map)
    }
}

/// `["T" COLON Timer COMMA] ["S" COLON Timer COMMA] ["L" COLON Timer COMMA] ["Z" COLON Timer COMMA] digitMap`, in any
/// order. What is no timer begins the digit map.
fn digit_map_value(text: &[u8], version: u8) -> DigitMapValue<'_> {
    let mut value = DigitMapValue::default();
    let mut rest = text;
    while let Some((timer, after)) = timer(rest, b"tslz") {
        let slot = match rest[0].to_ascii_lowercase() {
            b't' => &mut value.start_timer,
            b's' => &mut value.short_timer,
            b'l' => &mut value.long_timer,
            _ if version >= 2 => &mut value.duration_timer,
            _ => break,
        };
        if slot.is_some() {
            break;
        }
        *slot = Some(timer);
        rest = after;
    }
    value.digit_map_body = Str::borrowed(rest);
    value
}

/// A letter, a colon, at most two digits and a comma; and what follows.
fn timer<'t>(text: &'t [u8], letters: &[u8]) -> Option<(u8, &'t [u8])> {
    let (letter, rest) = text.split_first()?;
    if !letters.contains(&letter.to_ascii_lowercase()) {
        return None;
    }
    let rest = rest.strip_prefix(b":")?.trim_ascii_start();
    let digits = rest.iter().position(|octet| !octet.is_ascii_digit())?;
    let value = number(&rest[..digits], 99)?;
    let rest = rest[digits..].trim_ascii_start().strip_prefix(b",")?;
    Some((value as u8, rest.trim_ascii_start()))
}

/// `Date "T" Time`: 8 digits, T, 8 digits.
pub(super) fn time_stamp(word: &[u8]) -> Option<TimeNotation> {
    let (date, rest) = word.split_first_chunk::<8>()?;
    let (t, time) = rest.split_first()?;
    let time = <&[u8; 8]>::try_from(time).ok()?;
    let digits = date.iter().chain(time).all(u8::is_ascii_digit);
    (digits && t.eq_ignore_ascii_case(&b'T')).then_some(TimeNotation { date: *date, time: *time })
}
