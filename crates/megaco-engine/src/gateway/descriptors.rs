//! What descriptors of Add, Move and Modify set.

use tercet_megaco::digit_map::DigitMap;
use tercet_megaco::model::{
    AmmDescriptor, AuditReturnParameter, DigitMapDescriptor, DigitMapValue, EventDm, EventsDescriptor,
    IntoOwned, LocalRemoteDescriptor, MediaDescriptor, MediaStreams, PropertyGroup, PropertyParm, Signal,
    SignalRequest, StreamDescriptor, StreamParms, TerminationAudit, TerminationStateDescriptor,
};
use tercet_megaco::packages::{Fault, Item};
use tercet_megaco::{List, Str};

use super::termination::{Stream, Termination, key};
use super::{Failure, Key, VirtualGateway};

/// What a command has done at a termination, beside what is kept in it.
#[derive(Debug, Default)]
pub(super) struct Applied {
    /// What the reply has.
    pub(super) audit: TerminationAudit<'static>,
    /// Digit maps that are set, or removed, for the whole gateway.
    pub(super) digit_maps: Vec<(Key, Option<DigitMapValue<'static>>)>,
}

impl VirtualGateway {
    /// Sets what descriptors say at a copy of a termination.
    pub(super) fn apply(
        &mut self,
        termination: &mut Termination,
        descriptors: &[AmmDescriptor<'_>],
    ) -> Result<Applied, Failure> {
        let mut applied = Applied::default();
        let mut asked = None;
        for (index, descriptor) in descriptors.iter().enumerate() {
            let is_same = |other: &&AmmDescriptor<'_>| {
                std::mem::discriminant(*other) == std::mem::discriminant(descriptor)
            };
            // A termination has one of each, but for digit maps, which have names.
            if !matches!(descriptor, AmmDescriptor::DigitMapDescriptor(_))
                && descriptors[..index].iter().any(|other| is_same(&other))
            {
                return Err(Failure(448));
            }
            match descriptor {
                AmmDescriptor::MediaDescriptor(media) => {
                    if let Some(chosen) = self.set_media(termination, media)? {
                        applied.audit.push(AuditReturnParameter::MediaDescriptor(chosen));
                    }
                }
                AmmDescriptor::ModemDescriptor(modem) => {
                    termination.modem = Some(modem.clone().into_owned());
                }
                AmmDescriptor::MuxDescriptor(mux) => termination.mux = Some(mux.clone().into_owned()),
                // Digit maps are there before the events that name them, wherever they stand.
                AmmDescriptor::DigitMapDescriptor(_) | AmmDescriptor::EventsDescriptor(_) => {}
                AmmDescriptor::EventBufferDescriptor(events) => {
                    for event in events {
                        self.check_name(Item::Event, &event.event_name)?;
                    }
                    termination.event_buffer = events.clone().into_owned();
                }
                AmmDescriptor::SignalsDescriptor(signals) => {
                    self.check_signals(signals)?;
                    self.set_signals(termination, signals);
                }
                AmmDescriptor::AuditDescriptor(audit) => asked = Some(audit),
                AmmDescriptor::StatisticsDescriptor(statistics) => {
                    for statistic in statistics {
                        self.check_name(Item::Statistic, &statistic.stat_name)?;
                    }
                }
            }
        }
        for descriptor in descriptors {
            if let AmmDescriptor::DigitMapDescriptor(map) = descriptor {
                set_digit_map(termination, map, &mut applied)?;
            }
        }
        for descriptor in descriptors {
            if let AmmDescriptor::EventsDescriptor(events) = descriptor {
                self.set_events(termination, events, &applied.digit_maps)?;
            }
        }
        if let Some(asked) = asked {
            applied.audit.extend(self.audit(termination, asked)?);
        }
        Ok(applied)
    }

    /// Sets media. Returns what the gateway has chosen.
    fn set_media(
        &mut self,
        termination: &mut Termination,
        media: &MediaDescriptor<'_>,
    ) -> Result<Option<MediaDescriptor<'static>>, Failure> {
        if let Some(state) = &media.term_state_descr {
            self.set_state(termination, state)?;
        }
        let mut chosen: Vec<StreamDescriptor<'static>> = Vec::new();
        let mut set = |gateway: &mut Self, number: u16, parms: &StreamParms<'_>| {
            let stream = termination.streams.entry(number).or_default();
            if let Some(local) = gateway.set_stream(stream, parms)? {
                let stream_parms = StreamParms { local_descriptor: Some(local), ..StreamParms::default() };
                chosen.push(StreamDescriptor { stream_id: number, stream_parms });
            }
            Ok(())
        };
        match &media.streams {
            None => {}
            Some(MediaStreams::OneStream(parms)) => set(self, 1, parms)?,
            Some(MediaStreams::MultiStream(streams)) => {
                for stream in streams {
                    set(self, stream.stream_id, &stream.stream_parms)?;
                }
                termination.is_numbered = true;
            }
        }
        if chosen.is_empty() {
            return Ok(None);
        }
        let streams = match chosen.pop() {
            Some(one) if !termination.is_numbered => MediaStreams::OneStream(one.stream_parms),
            last => {
                chosen.extend(last);
                MediaStreams::MultiStream(chosen.into())
            }
        };
        Ok(Some(MediaDescriptor { term_state_descr: None, streams: Some(streams) }))
    }

    fn set_state(
        &self,
        termination: &mut Termination,
        state: &TerminationStateDescriptor<'_>,
    ) -> Result<(), Failure> {
        self.check_properties(&state.property_parms)?;
        if let Some(service_state) = state.service_state {
            termination.service_state = service_state;
            termination.goes_out = None;
        }
        termination.buffer_control = state.event_buffer_control.or(termination.buffer_control);
        merge(&mut termination.properties, &state.property_parms);
        Ok(())
    }

    /// Sets a stream. Returns its local description if something in it was chosen.
    fn set_stream(
        &mut self,
        stream: &mut Stream,
        parms: &StreamParms<'_>,
    ) -> Result<Option<LocalRemoteDescriptor<'static>>, Failure> {
        if let Some(control) = &parms.local_control_descriptor {
            self.check_properties(&control.property_parms)?;
            let known = &mut stream.control;
            known.stream_mode = control.stream_mode.or(known.stream_mode);
            known.reserve_value = control.reserve_value.or(known.reserve_value);
            known.reserve_group = control.reserve_group.or(known.reserve_group);
            merge(&mut known.property_parms, &control.property_parms);
        }
        if let Some(remote) = &parms.remote_descriptor {
            stream.remote = Some(remote.clone().into_owned());
        }
        let Some(local) = &parms.local_descriptor else { return Ok(None) };
        let (local, is_chosen) = self.choose(local);
        stream.local = Some(local.clone());
        Ok(is_chosen.then_some(local))
    }

    /// Fills in what a local description leaves to the gateway: `$` for addresses and ports.
    fn choose(&mut self, local: &LocalRemoteDescriptor<'_>) -> (LocalRemoteDescriptor<'static>, bool) {
        let mut groups: Vec<PropertyGroup<'static>> = local.groups().into_owned();
        let (kind, address) = match self.options.address {
            std::net::IpAddr::V4(address) => ("IP4", address.to_string()),
            std::net::IpAddr::V6(address) => ("IP6", address.to_string()),
        };
        let mut is_chosen = false;
        for property in groups.iter_mut().flatten() {
            let Some(text) = property.value.first().and_then(|value| std::str::from_utf8(value).ok()) else {
                continue;
            };
            if !text.contains('$') {
                continue;
            }
            let mut words: Vec<String> = text.split(' ').map(str::to_owned).collect();
            for (index, word) in words.iter_mut().enumerate().filter(|(_, word)| *word == "$") {
                *word = match (&*property.name, index) {
                    (b"c", 1) | (b"o", 4) => kind.to_owned(),
                    (b"c", 2) | (b"o", 5) => address.clone(),
                    (b"c", 0) | (b"o", 3) => "IN".to_owned(),
                    (b"o", 0) | (b"s", _) => "-".to_owned(),
                    (b"o", 1 | 2) => "0".to_owned(),
                    (b"m", 0) => "audio".to_owned(),
                    (b"m", 1) => {
                        let port = self.next_port;
                        // Of two ports the second one is for RTCP.
                        self.next_port = if port >= 65_534 { 30_000 } else { port + 2 };
                        port.to_string()
                    }
                    (b"m", 2) => "RTP/AVP".to_owned(),
                    _ => "0".to_owned(),
                };
                is_chosen = true;
            }
            property.value = List::One(Str::from(words.join(" ").into_bytes()));
        }
        if !is_chosen {
            return (local.clone().into_owned(), false);
        }
        if matches!(local, LocalRemoteDescriptor::Groups(_)) {
            return (LocalRemoteDescriptor::Groups(groups), true);
        }
        let mut text = Vec::new();
        for property in groups.iter().flatten() {
            text.extend_from_slice(&property.name);
            text.push(b'=');
            text.extend(property.value.iter().flat_map(|value| value.iter().copied()));
            text.extend_from_slice(b"\r\n");
        }
        (LocalRemoteDescriptor::Text(Str::from(text)), true)
    }

    fn check_properties(&self, properties: &[PropertyParm<'_>]) -> Result<(), Failure> {
        for property in properties {
            let known = match self.packages.look_up(Item::Property, &property.name) {
                Ok(Some(known)) => known,
                Ok(None) | Err(Fault::NotKnown(_)) => continue,
                Err(Fault::UnknownPackage) => return Err(Failure(440)),
                Err(_) => return Err(Failure(450)),
            };
            if known.is_read_only() {
                return Err(Failure(534));
            }
            let takes = |value: &Str<'_>| {
                matches!(&value[..], b"*" | b"$") || known.value_type().is_none_or(|of| of.takes(value))
            };
            if !property.value.iter().all(takes) {
                return Err(Failure(449));
            }
        }
        Ok(())
    }

    /// Checks the name of an event, a signal or a statistic.
    pub(super) fn check_name(&self, item: Item, name: &[u8]) -> Result<(), Failure> {
        match self.packages.look_up(item, name) {
            Ok(_) | Err(Fault::NotKnown(_)) => Ok(()),
            Err(Fault::UnknownPackage) => Err(Failure(440)),
            Err(_) => Err(Failure(match item {
                Item::Property => 450,
                Item::Event => 451,
                Item::Signal => 452,
                Item::Statistic => 453,
            })),
        }
    }

    pub(super) fn check_signals(&self, signals: &[SignalRequest<'_>]) -> Result<(), Failure> {
        let all = signals.iter().flat_map(|request| match request {
            SignalRequest::Signal(signal) => std::slice::from_ref(signal),
            SignalRequest::SeqSigList(list) => &list.signal_list[..],
        });
        for signal in all {
            let Signal { signal_name, .. } = signal;
            self.check_name(Item::Signal, signal_name)?;
        }
        Ok(())
    }

    /// Sets the events that are asked for, and begins to collect digits if they have a digit map.
    fn set_events(
        &self,
        termination: &mut Termination,
        events: &EventsDescriptor<'_>,
        new_maps: &[(Key, Option<DigitMapValue<'static>>)],
    ) -> Result<(), Failure> {
        let mut collecting = None;
        for event in &events.event_list {
            self.check_name(Item::Event, &event.pkgd_name)?;
            let Some(action) = &event.event_action else { continue };
            if let Some(signals) = &action.signals_descriptor {
                self.check_signals(signals)?;
            }
            for second in action.second_event.iter().flat_map(|second| &second.event_list) {
                self.check_name(Item::Event, &second.pkgd_name)?;
            }
            let Some(map) = &action.event_dm else { continue };
            let map = self.digit_map(termination, map, new_maps)?;
            collecting.get_or_insert_with(|| (event.pkgd_name.clone().into_owned(), map));
        }
        termination.events = events.clone().into_owned();
        termination.is_locked = false;
        termination.collecting = None;
        if let Some((event, map)) = collecting {
            self.begin_digits(termination, event, map);
        }
        Ok(())
    }

    /// The digit map of an event: in full, or by the name of one that the termination or the gateway has.
    pub(super) fn digit_map(
        &self,
        termination: &Termination,
        map: &EventDm<'_>,
        new_maps: &[(Key, Option<DigitMapValue<'static>>)],
    ) -> Result<DigitMap, Failure> {
        let parse = |value: &DigitMapValue<'_>| DigitMap::new(value).map_err(|_| Failure(442));
        match map {
            EventDm::DigitMapValue(value) => parse(value),
            EventDm::DigitMapName(name) => {
                let wanted = key(name);
                if let Some((_, value)) = new_maps.iter().rev().find(|(name, _)| *name == wanted) {
                    return parse(value.as_ref().ok_or(Failure(520))?);
                }
                let own =
                    termination.digit_map.as_ref().filter(|own| own.digit_map_name.as_ref() == Some(name));
                let own = own.and_then(|own| own.digit_map_value.as_ref());
                parse(own.or_else(|| self.digit_maps.get(&wanted)).ok_or(Failure(520))?)
            }
        }
    }
}

/// Sets a digit map of a termination, which the whole gateway knows by its name; one without a value removes it (7.1.14).
fn set_digit_map(
    termination: &mut Termination,
    map: &DigitMapDescriptor<'_>,
    applied: &mut Applied,
) -> Result<(), Failure> {
    if let Some(value) = &map.digit_map_value {
        DigitMap::new(value).map_err(|_| Failure(442))?;
    }
    if let Some(name) = &map.digit_map_name {
        applied.digit_maps.push((key(name), map.digit_map_value.clone().into_owned()));
    }
    termination.digit_map = map.digit_map_value.is_some().then(|| map.clone().into_owned());
    Ok(())
}

/// Sets properties; others stay.
fn merge(known: &mut Vec<PropertyParm<'static>>, set: &[PropertyParm<'_>]) {
    for property in set {
        known.retain(|one| one.name != property.name);
        known.push(property.clone().into_owned());
    }
}
