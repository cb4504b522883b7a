//! Events, signals and digit maps.

use super::Printer;
use crate::model::{
    DigitMapDescriptor, DigitMapValue, EventDm, EventParameter, EventSpec, EventsDescriptor, NotifyBehaviour,
    NotifyCompletion, ObservedEventsDescriptor, REQUEST_ALL, SecondEventsDescriptor, Signal, SignalDirection,
    SignalRequest, SignalType, TimeNotation,
};
use crate::octets::Name;
use crate::text::token::Token;

impl Printer<'_> {
    pub(super) fn request_id(&mut self, id: u32) {
        if id == REQUEST_ALL { self.octet(b'*') } else { self.number(id) }
    }

    pub(super) fn events_descriptor(&mut self, events: &EventsDescriptor<'_>) {
        self.token(Token::Events);
        let Some(id) = events.request_id else {
            if !events.event_list.is_empty() {
                self.refuse("events with a request id");
            }
            return;
        };
        if events.event_list.is_empty() {
            self.refuse("a request for an event");
        }
        self.equal();
        self.request_id(id);
        self.open();
        self.list(&events.event_list, |p, event| {
            p.name(&event.pkgd_name);
            p.braces_if_any(|p| {
                let mut first = true;
                p.stream_and_parameters(event.stream_id, &event.ev_par_list, &mut first);
                let Some(action) = event.event_action.as_deref() else { return };
                let signals = action.signals_descriptor.as_deref().filter(|signals| !signals.is_empty());
                let keeps = action.keep_active == Some(true);
                p.keep_active(keeps, &mut first);
                p.event_dm(action.event_dm.as_ref(), &mut first);
                p.embed(
                    signals,
                    action.signals_descriptor.is_some(),
                    action.second_event.as_ref(),
                    &mut first,
                );
                p.version_3(action.notify_behaviour.as_ref(), action.reset_events_descriptor, &mut first);
            });
        });
        self.close();
    }

    fn second_events(&mut self, events: &SecondEventsDescriptor<'_>) {
        self.token(Token::Events);
        let Some(id) = events.request_id.filter(|_| !events.event_list.is_empty()) else { return };
        self.equal();
        self.request_id(id);
        self.open();
        self.list(&events.event_list, |p, event| {
            p.name(&event.pkgd_name);
            p.braces_if_any(|p| {
                let mut first = true;
                p.stream_and_parameters(event.stream_id, &event.ev_par_list, &mut first);
                let Some(action) = event.event_action.as_deref() else { return };
                p.keep_active(action.keep_active == Some(true), &mut first);
                p.event_dm(action.event_dm.as_ref(), &mut first);
                let signals = action.signals_descriptor.as_deref().filter(|signals| !signals.is_empty());
                p.embed(signals, action.signals_descriptor.is_some(), None, &mut first);
                p.version_3(action.notify_behaviour.as_ref(), action.reset_events_descriptor, &mut first);
            });
        });
        self.close();
    }

    fn stream_and_parameters(
        &mut self,
        stream: Option<u16>,
        parameters: &[EventParameter<'_>],
        first: &mut bool,
    ) {
        if let Some(stream) = stream {
            self.next(first);
            self.event_stream(stream);
        }
        for parameter in parameters {
            self.next(first);
            self.name(&parameter.event_parameter_name);
            match (&parameter.value[..], parameter.extra_info) {
                // A string of digits is always quoted.
                ([digits], None) if parameter.event_parameter_name == "ds" => {
                    self.octet(b'=');
                    self.quoted(digits);
                }
                _ => self.parm_values(&parameter.value, parameter.extra_info),
            }
        }
    }

    pub(super) fn event_stream(&mut self, stream: u16) {
        self.token(Token::Stream);
        self.equal();
        self.number(u32::from(stream));
    }

    fn keep_active(&mut self, keeps: bool, first: &mut bool) {
        if keeps {
            self.next(first);
            self.token(Token::KeepActive);
        }
    }

    fn event_dm(&mut self, map: Option<&EventDm<'_>>, first: &mut bool) {
        let Some(map) = map else { return };
        self.next(first);
        self.token(Token::DigitMap);
        match map {
            EventDm::DigitMapName(name) => {
                self.equal();
                self.name(name);
            }
            EventDm::DigitMapValue(value) => {
                self.open();
                self.digit_map_value(value);
                self.close();
            }
        }
    }

    /// `Embed { Signals …, Events … }`. A signals descriptor without signals, which stops those that play, is written too.
    fn embed(
        &mut self,
        signals: Option<&[SignalRequest<'_>]>,
        has_signals: bool,
        events: Option<&SecondEventsDescriptor<'_>>,
        first: &mut bool,
    ) {
        if signals.is_none() && events.is_none() && !has_signals {
            return;
        }
        self.next(first);
        self.token(Token::Embed);
        self.open();
        match (signals, events) {
            (Some(signals), None) => self.signals_descriptor(signals),
            (Some(signals), Some(events)) => {
                self.signals_descriptor(signals);
                self.comma();
                self.second_events(events);
            }
            (None, Some(events)) => {
                if has_signals {
                    self.token(Token::Signals);
                    self.comma();
                }
                self.second_events(events);
            }
            (None, None) => self.token(Token::Signals),
        }
        self.close();
    }

    fn version_3(&mut self, behaviour: Option<&NotifyBehaviour<'_>>, reset: Option<()>, first: &mut bool) {
        if (behaviour.is_some() || reset.is_some()) && self.version < 3 {
            self.refuse("notify behaviour and ResetEventsDescriptor are of version 3");
        }
        if let Some(behaviour) = behaviour {
            self.next(first);
            match behaviour {
                NotifyBehaviour::NotifyImmediate(()) => self.token(Token::ImmediateNotify),
                NotifyBehaviour::NeverNotify(()) => self.token(Token::NeverNotify),
                NotifyBehaviour::NotifyRegulated(regulated) => {
                    self.token(Token::RegulatedNotify);
                    let signals = regulated.signals_descriptor.as_deref();
                    self.braces_if_any(|p| {
                        p.embed(signals, signals.is_some(), regulated.second_event.as_ref(), &mut true);
                    });
                }
            }
        }
        if reset.is_some() {
            self.next(first);
            self.token(Token::ResetEventsDescriptor);
        }
    }

    pub(super) fn event_buffer(&mut self, events: &[EventSpec<'_>]) {
        self.token(Token::EventBuffer);
        if events.is_empty() {
            return;
        }
        self.open();
        self.list(events, |p, event| {
            p.name(&event.event_name);
            p.observed_body(event.stream_id, &event.event_par_list);
        });
        self.close();
    }

    fn observed_body(&mut self, stream: Option<u16>, parameters: &[EventParameter<'_>]) {
        self.braces_if_any(|p| p.stream_and_parameters(stream, parameters, &mut true));
    }

    pub(super) fn observed_events(&mut self, observed: &ObservedEventsDescriptor<'_>) {
        self.token(Token::ObservedEvents);
        self.equal();
        self.request_id(observed.request_id);
        if observed.observed_event_lst.is_empty() {
            self.refuse("an event that was observed");
        }
        self.open();
        self.list(&observed.observed_event_lst, |p, event| {
            if let Some(time) = &event.time_notation {
                p.time_notation(time);
                p.octet(b':');
            }
            p.name(&event.event_name);
            p.observed_body(event.stream_id, &event.event_par_list);
        });
        self.close();
    }

    #[inline(always)]
    pub(super) fn time_notation(&mut self, time: &TimeNotation) {
        if !time.date.iter().chain(&time.time).all(u8::is_ascii_digit) {
            self.refuse("a date and a time of digits");
        }
        self.raw(&time.date);
        self.octet(b'T');
        self.raw(&time.time);
    }

    pub(super) fn signals_descriptor(&mut self, signals: &[SignalRequest<'_>]) {
        self.token(Token::Signals);
        if signals.is_empty() {
            return;
        }
        self.open();
        self.list(signals, |p, signal| match signal {
            SignalRequest::Signal(signal) => p.signal(signal),
            SignalRequest::SeqSigList(list) => {
                p.token(Token::SignalList);
                p.equal();
                p.number(u32::from(list.id));
                p.open();
                p.list(&list.signal_list, Self::signal);
                p.close();
            }
        });
        self.close();
    }

    fn signal(&mut self, signal: &Signal<'_>) {
        self.name(&signal.signal_name);
        self.braces_if_any(|p| {
            let mut first = true;
            if let Some(stream) = signal.stream_id {
                p.next(&mut first);
                p.event_stream(stream);
            }
            if let Some(sig_type) = signal.sig_type {
                p.next(&mut first);
                p.token(Token::SignalType);
                p.equal();
                p.token(match sig_type {
                    SignalType::Brief => Token::Brief,
                    SignalType::OnOff => Token::OnOff,
                    SignalType::TimeOut => Token::TimeOut,
                });
            }
            if let Some(duration) = signal.duration {
                p.next(&mut first);
                p.token(Token::Duration);
                p.equal();
                p.number(u32::from(duration));
            }
            if let Some(completion) = &signal.notify_completion {
                p.next(&mut first);
                p.token(Token::NotifyCompletion);
                p.equal();
                p.open();
                p.list(completion.iter(), |p, reason| {
                    p.token(match reason {
                        NotifyCompletion::OnTimeOut => Token::TimeOut,
                        NotifyCompletion::OnInterruptByEvent => Token::IntByEvent,
                        NotifyCompletion::OnInterruptByNewSignalDescr => Token::IntBySigDescr,
                        NotifyCompletion::OtherReason => Token::OtherReason,
                        NotifyCompletion::OnIteration => Token::Iteration,
                    });
                });
                p.close();
            }
            p.keep_active(signal.keep_active == Some(true), &mut first);
            for parameter in &signal.sig_par_list {
                p.next(&mut first);
                p.name(&parameter.sig_parameter_name);
                p.parm_values(&parameter.value, parameter.extra_info);
            }
            let is_new =
                signal.direction.is_some() || signal.request_id.is_some() || signal.intersig_delay.is_some();
            if is_new && p.version < 3 {
                p.refuse("direction, request id and delay of signals are of version 3");
            }
            if let Some(direction) = signal.direction {
                p.next(&mut first);
                p.token(Token::Direction);
                p.equal();
                p.token(match direction {
                    SignalDirection::Internal => Token::Internal,
                    SignalDirection::External => Token::External,
                    SignalDirection::Both => Token::Both,
                });
            }
            if let Some(id) = signal.request_id {
                p.next(&mut first);
                p.signal_request_id(id);
            }
            if let Some(delay) = signal.intersig_delay {
                p.next(&mut first);
                p.token(Token::Intersignal);
                p.equal();
                p.number(u32::from(delay));
            }
        });
    }

    pub(super) fn signal_request_id(&mut self, id: u32) {
        self.token(Token::RequestId);
        self.equal();
        self.request_id(id);
    }

    pub(super) fn digit_map_descriptor(&mut self, map: &DigitMapDescriptor<'_>) {
        self.token(Token::DigitMap);
        self.equal();
        match (&map.digit_map_name, &map.digit_map_value) {
            (None, None) => self.refuse("the name of a digit map, or what it is"),
            (name, value) => {
                if let Some(name) = name {
                    self.digit_map_name(name);
                }
                if let Some(value) = value {
                    self.open();
                    self.digit_map_value(value);
                    self.close();
                }
            }
        }
    }

    pub(super) fn digit_map_name(&mut self, name: &Name<'_>) {
        self.name(name);
    }

    fn digit_map_value(&mut self, value: &DigitMapValue<'_>) {
        if value.duration_timer.is_some() && self.version < 2 {
            self.refuse("the duration timer is of version 2");
        }
        for (timer, letter) in [
            (value.start_timer, b'T'),
            (value.short_timer, b'S'),
            (value.long_timer, b'L'),
            (value.duration_timer, b'Z'),
        ] {
            if let Some(timer) = timer {
                self.octet(letter);
                self.octet(b':');
                self.number(u32::from(timer));
                self.comma();
            }
        }
        if value.digit_map_body.iter().any(|octet| matches!(octet, b'}' | 0)) {
            self.refuse("a digit map without braces");
        }
        self.raw(&value.digit_map_body);
        // Before a brace it would make that a part of the digit map; blanks at the end are none.
        if value.digit_map_body.ends_with(b"\\") {
            self.octet(b' ');
        }
    }
}
