//! Audits: what a termination has (H.248.1 7.2.5), by descriptor and from version 2 in detail.

use tercet_megaco::Name;
use tercet_megaco::model::{
    AuditDescriptor, AuditReturnParameter, AuditToken, EventBufferControl, EventsDescriptor,
    IndAudMediaDescriptor, IndAudMediaStreams, IndAudPropertyParm, IndAudSignalsDescriptor,
    IndAudStreamParms, IndAuditParameter, LocalControlDescriptor, MediaDescriptor, MediaStreams,
    PackagesItem, PropertyParm, SeqSigList, SignalRequest, StreamDescriptor, StreamParms, TerminationAudit,
    TerminationStateDescriptor,
};

use super::termination::{Playing, Stream, Termination, fits};
use super::{Failure, ROOT, VirtualGateway};

/// The packages that the gateway has as a whole, with their versions, and those of its terminations.
const OF_ROOT: [(&str, u8); 3] = [("g", 1), ("root", 2), ("it", 1)];
const OF_LINES: [(&str, u8); 8] =
    [("g", 1), ("tonegen", 1), ("tonedet", 1), ("cg", 1), ("dg", 1), ("dd", 1), ("al", 1), ("nt", 1)];
const OF_EPHEMERALS: [(&str, u8); 5] = [("g", 1), ("tonegen", 1), ("cg", 1), ("nt", 1), ("rtp", 1)];

impl VirtualGateway {
    /// What an audit of a termination returns.
    pub(super) fn audit(
        &self,
        termination: &Termination,
        asked: &AuditDescriptor<'_>,
    ) -> Result<TerminationAudit<'static>, Failure> {
        let mut found = Vec::new();
        let mut empty: Vec<AuditToken> = Vec::new();
        for token in asked.audit_token.iter().flat_map(|tokens| tokens.iter()) {
            match self.descriptor(termination, token) {
                Some(descriptor) => found.push(descriptor),
                None => empty.push(token),
            }
        }
        for part in asked.audit_property_token.iter().flatten() {
            found.push(self.part(termination, part)?);
        }
        // Descriptors that are empty are named.
        if !empty.is_empty() {
            found.push(AuditReturnParameter::EmptyDescriptors(AuditDescriptor {
                audit_token: Some(empty.into_iter().collect()),
                audit_property_token: None,
            }));
        }
        Ok(found)
    }

    fn descriptor(
        &self,
        termination: &Termination,
        token: AuditToken,
    ) -> Option<AuditReturnParameter<'static>> {
        Some(match token {
            AuditToken::MediaToken => AuditReturnParameter::MediaDescriptor(media(termination)),
            AuditToken::ModemToken => AuditReturnParameter::ModemDescriptor(termination.modem.clone()?),
            AuditToken::MuxToken => AuditReturnParameter::MuxDescriptor(termination.mux.clone()?),
            AuditToken::EventsToken => {
                let events = &termination.events;
                (!events.event_list.is_empty()).then_some(())?;
                AuditReturnParameter::EventsDescriptor(events.clone())
            }
            AuditToken::EventBufferToken => {
                (!termination.event_buffer.is_empty()).then_some(())?;
                AuditReturnParameter::EventBufferDescriptor(termination.event_buffer.clone())
            }
            AuditToken::SignalsToken => {
                (!termination.signals.is_empty()).then_some(())?;
                let signals = termination.signals.iter().filter_map(heard).collect();
                AuditReturnParameter::SignalsDescriptor(signals)
            }
            AuditToken::DigitMapToken => {
                AuditReturnParameter::DigitMapDescriptor(termination.digit_map.clone()?)
            }
            AuditToken::ObservedEventsToken => {
                AuditReturnParameter::ObservedEventsDescriptor(termination.observed.clone()?)
            }
            AuditToken::StatsToken => {
                (termination.context != 0).then_some(())?;
                AuditReturnParameter::StatisticsDescriptor(termination.statistics(self.now))
            }
            AuditToken::PackagesToken => {
                let packages = packages(termination).iter().map(|&(name, package_version)| PackagesItem {
                    package_name: Name::from(name),
                    package_version,
                });
                AuditReturnParameter::PackagesDescriptor(packages.collect())
            }
        })
    }

    /// A part of a descriptor (from version 2).
    fn part(
        &self,
        termination: &Termination,
        asked: &IndAuditParameter<'_>,
    ) -> Result<AuditReturnParameter<'static>, Failure> {
        let missing = Failure(532);
        match asked {
            IndAuditParameter::IndAudMediaDescriptor(asked) => {
                Ok(AuditReturnParameter::MediaDescriptor(part_of_media(termination, asked)?))
            }
            IndAuditParameter::IndAudEventsDescriptor(asked) => {
                let events = &termination.events;
                let is_it = |event: &&tercet_megaco::model::RequestedEvent<'_>| {
                    fits(&asked.pkgd_name, &event.pkgd_name)
                        && (asked.stream_id.is_none() || asked.stream_id == event.stream_id)
                };
                let of_request = asked.request_id.is_none() || asked.request_id == events.request_id;
                let event_list: Vec<_> =
                    events.event_list.iter().filter(|_| of_request).filter(is_it).cloned().collect();
                if event_list.is_empty() {
                    return Err(missing);
                }
                let found = EventsDescriptor { request_id: events.request_id, event_list };
                Ok(AuditReturnParameter::EventsDescriptor(found))
            }
            IndAuditParameter::IndAudEventBufferDescriptor(asked) => {
                let all = termination.event_buffer.iter();
                let found: Vec<_> =
                    all.filter(|event| fits(&asked.event_name, &event.event_name)).cloned().collect();
                if found.is_empty() {
                    Err(missing)
                } else {
                    Ok(AuditReturnParameter::EventBufferDescriptor(found))
                }
            }
            IndAuditParameter::IndAudSignalsDescriptor(asked) => {
                let is_it = |playing: &&Playing| match asked {
                    None => true,
                    Some(IndAudSignalsDescriptor::Signal(signal)) => {
                        let mut all = playing.signals.iter();
                        playing.list.is_none() && all.any(|one| fits(&signal.signal_name, &one.signal_name))
                    }
                    Some(IndAudSignalsDescriptor::SeqSigList(list)) => playing.list == Some(list.id),
                };
                let found: Vec<_> = termination.signals.iter().filter(is_it).filter_map(heard).collect();
                if found.is_empty() {
                    Err(missing)
                } else {
                    Ok(AuditReturnParameter::SignalsDescriptor(found))
                }
            }
            IndAuditParameter::IndAudDigitMapDescriptor(asked) => {
                let map = termination.digit_map.as_ref().filter(|map| {
                    asked.digit_map_name.is_none() || asked.digit_map_name == map.digit_map_name
                });
                Ok(AuditReturnParameter::DigitMapDescriptor(map.ok_or(missing)?.clone()))
            }
            IndAuditParameter::IndAudStatisticsDescriptor(asked) => {
                let all = termination.statistics(self.now).into_iter();
                let found: Vec<_> = all.filter(|one| fits(&asked.stat_name, &one.stat_name)).collect();
                if found.is_empty() {
                    Err(missing)
                } else {
                    Ok(AuditReturnParameter::StatisticsDescriptor(found))
                }
            }
            IndAuditParameter::IndAudPackagesDescriptor(asked) => {
                let mut all = packages(termination).iter();
                let found = all.find(|(name, _)| asked.package_name == *name).ok_or(missing)?;
                let item = PackagesItem { package_name: Name::from(found.0), package_version: found.1 };
                Ok(AuditReturnParameter::PackagesDescriptor(vec![item]))
            }
        }
    }
}

fn packages(termination: &Termination) -> &'static [(&'static str, u8)] {
    match &termination.name[..] {
        ROOT => &OF_ROOT,
        _ if termination.is_ephemeral => &OF_EPHEMERALS,
        _ => &OF_LINES,
    }
}

/// A signal that is heard, or what is left of a list.
fn heard(playing: &Playing) -> Option<SignalRequest<'static>> {
    match playing.list {
        None => playing.signals.front().cloned().map(SignalRequest::Signal),
        Some(id) => {
            let signal_list = playing.signals.iter().cloned().collect();
            Some(SignalRequest::SeqSigList(SeqSigList { id, signal_list }))
        }
    }
}

/// The media of a termination.
fn media(termination: &Termination) -> MediaDescriptor<'static> {
    let state = TerminationStateDescriptor {
        property_parms: termination.properties.clone(),
        event_buffer_control: termination.buffer_control,
        service_state: Some(termination.service_state),
    };
    let parms = |stream: &Stream| StreamParms {
        local_control_descriptor: (stream.control != LocalControlDescriptor::default())
            .then(|| stream.control.clone()),
        local_descriptor: stream.local.clone(),
        remote_descriptor: stream.remote.clone(),
        statistics_descriptor: None,
    };
    let streams = match termination.streams.first_key_value() {
        None => None,
        Some((_, stream)) if !termination.is_numbered => Some(MediaStreams::OneStream(parms(stream))),
        Some(_) => {
            let all = termination
                .streams
                .iter()
                .map(|(&stream_id, stream)| StreamDescriptor { stream_id, stream_parms: parms(stream) });
            Some(MediaStreams::MultiStream(all.collect()))
        }
    };
    MediaDescriptor { term_state_descr: Some(Box::new(state)), streams }
}

fn part_of_media(
    termination: &Termination,
    asked: &IndAudMediaDescriptor<'_>,
) -> Result<MediaDescriptor<'static>, Failure> {
    let mut found = MediaDescriptor::default();
    if let Some(asked) = &asked.term_state_descr {
        found.term_state_descr = Some(Box::new(TerminationStateDescriptor {
            property_parms: properties(&termination.properties, &asked.property_parms)?,
            event_buffer_control: asked
                .event_buffer_control
                .map(|()| termination.buffer_control.unwrap_or(EventBufferControl::Off)),
            service_state: asked.service_state.map(|()| termination.service_state),
        }));
    }
    let parms = |stream: &Stream, asked: &IndAudStreamParms<'_>| -> Result<StreamParms<'static>, Failure> {
        let control = match &asked.local_control_descriptor {
            None => None,
            Some(asked) => {
                let control = &stream.control;
                let names = asked.property_parms.as_deref().unwrap_or_default();
                Some(LocalControlDescriptor {
                    stream_mode: asked.stream_mode.and(control.stream_mode),
                    reserve_value: asked.reserve_value.and(control.reserve_value),
                    reserve_group: asked.reserve_group.and(control.reserve_group),
                    property_parms: properties(&control.property_parms, names)?,
                })
            }
        };
        Ok(StreamParms {
            local_control_descriptor: control,
            local_descriptor: asked.local_descriptor.as_ref().and_then(|_| stream.local.clone()),
            remote_descriptor: asked.remote_descriptor.as_ref().and_then(|_| stream.remote.clone()),
            statistics_descriptor: None,
        })
    };
    match &asked.streams {
        None => {}
        Some(IndAudMediaStreams::OneStream(asked)) => {
            let (_, stream) = termination.streams.first_key_value().ok_or(Failure(532))?;
            found.streams = Some(MediaStreams::OneStream(parms(stream, asked)?));
        }
        Some(IndAudMediaStreams::MultiStream(all)) => {
            let mut some = Vec::new();
            for asked in all {
                let stream = termination.streams.get(&asked.stream_id).ok_or(Failure(532))?;
                let stream_parms = parms(stream, &asked.stream_parms)?;
                some.push(StreamDescriptor { stream_id: asked.stream_id, stream_parms });
            }
            found.streams = Some(MediaStreams::MultiStream(some.into()));
        }
    }
    Ok(found)
}

/// Properties by their names; each that is asked for has to be there.
fn properties(
    known: &[PropertyParm<'static>],
    asked: &[IndAudPropertyParm<'_>],
) -> Result<Vec<PropertyParm<'static>>, Failure> {
    let mut found = Vec::new();
    for name in asked.iter().map(|asked| &asked.name) {
        let before = found.len();
        found.extend(known.iter().filter(|property| fits(name, &property.name)).cloned());
        if found.len() == before {
            return Err(Failure(532));
        }
    }
    Ok(found)
}
