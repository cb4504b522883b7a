//! What an audit asks for, by descriptor and from version 2 in detail.

use super::records::{atoms, choice, record};
use super::{PropertyParm, ServiceState, StreamMode};
use crate::Result;
use crate::list::{List, TokenSet};
use crate::octets::Name;
use crate::value::{Sink, Source, Spelled as _, Value, Word};

record! {
    /// What an audit asks for.
    #[derive(Default)]
    AuditDescriptor<'a> [...] {
        audit_token "auditToken": Option<TokenSet<AuditToken>>,
        ; 2:
        audit_property_token "auditPropertyToken": Option<Vec<IndAuditParameter<'a>>>,
    }
}

atoms! {
    /// Descriptors that an audit can ask for: bits of a BIT STRING.
    AuditToken [bits] {
        MuxToken "muxToken",
        ModemToken "modemToken",
        MediaToken "mediaToken",
        EventsToken "eventsToken",
        SignalsToken "signalsToken",
        DigitMapToken "digitMapToken",
        StatsToken "statsToken",
        ObservedEventsToken "observedEventsToken",
        PackagesToken "packagesToken",
        EventBufferToken "eventBufferToken",
    }
}

choice! {
    /// Part of a descriptor that an audit asks for.
    IndAuditParameter<'a> [...] {
        IndAudMediaDescriptor "indAudMediaDescriptor" (IndAudMediaDescriptor<'a>),
        IndAudEventsDescriptor "indAudEventsDescriptor" (IndAudEventsDescriptor<'a>),
        IndAudEventBufferDescriptor "indAudEventBufferDescriptor" (IndAudEventBufferDescriptor<'a>),
        IndAudSignalsDescriptor "indAudSignalsDescriptor" (Option<IndAudSignalsDescriptor<'a>>),
        IndAudDigitMapDescriptor "indAudDigitMapDescriptor" (IndAudDigitMapDescriptor<'a>),
        IndAudStatisticsDescriptor "indAudStatisticsDescriptor" (IndAudStatisticsDescriptor<'a>),
        IndAudPackagesDescriptor "indAudPackagesDescriptor" (IndAudPackagesDescriptor<'a>),
    }
}

record! {
    /// Parts of a media descriptor.
    #[derive(Default)]
    IndAudMediaDescriptor<'a> [...] {
        term_state_descr "termStateDescr": Option<IndAudTerminationStateDescriptor<'a>>,
        streams "streams": Option<IndAudMediaStreams<'a>>,
    }
}

choice! {
    /// Parts of one stream without a number, or of several with theirs.
    IndAudMediaStreams<'a> [closed] {
        OneStream "oneStream" (IndAudStreamParms<'a>),
        MultiStream "multiStream" (List<IndAudStreamDescriptor<'a>>),
    }
}

record! {
    /// Parts of a stream with its number.
    IndAudStreamDescriptor<'a> [closed] {
        stream_id "streamID": u16,
        stream_parms "streamParms": IndAudStreamParms<'a>,
    }
}

record! {
    /// Parts of a stream.
    #[derive(Default)]
    IndAudStreamParms<'a> [...] {
        local_control_descriptor "localControlDescriptor": Option<IndAudLocalControlDescriptor<'a>>,
        local_descriptor "localDescriptor": Option<IndAudLocalRemoteDescriptor<'a>>,
        remote_descriptor "remoteDescriptor": Option<IndAudLocalRemoteDescriptor<'a>>,
        ; 3:
        statistics_descriptor "statisticsDescriptor": Option<IndAudStatisticsDescriptor<'a>>,
    }
}

record! {
    /// Parts of a local control descriptor.
    #[derive(Default)]
    IndAudLocalControlDescriptor<'a> [...] {
        stream_mode "streamMode": Option<()>,
        reserve_value "reserveValue": Option<()>,
        reserve_group "reserveGroup": Option<()>,
        property_parms "propertyParms": Option<Vec<IndAudPropertyParm<'a>>>,
        ; 3:
        stream_mode_sel "streamModeSel": Option<StreamMode>,
    }
}

record! {
    /// A property, and from version 3 the value that selects.
    IndAudPropertyParm<'a> in Property [...] {
        name "name": Name<'a>,
        ; 3:
        property_parms "propertyParms": Option<PropertyParm<'a>>,
    }
}

record! {
    /// Properties of session descriptions.
    #[derive(Default)]
    IndAudLocalRemoteDescriptor<'a> [...] {
        prop_group_id "propGroupID": Option<u16>,
        prop_grps "propGrps": Vec<IndAudPropertyParm<'a>>,
    }
}

record! {
    /// Parts of a termination's state.
    #[derive(Default)]
    IndAudTerminationStateDescriptor<'a> [...] {
        property_parms "propertyParms": Vec<IndAudPropertyParm<'a>>,
        event_buffer_control "eventBufferControl": Option<()>,
        service_state "serviceState": Option<()>,
        ; 3:
        service_state_sel "serviceStateSel": Option<ServiceState>,
    }
}

record! {
    /// An event.
    IndAudEventsDescriptor<'a> in Event [...] {
        request_id "requestID": Option<u32>,
        pkgd_name "pkgdName": Name<'a>,
        stream_id "streamID": Option<u16>,
    }
}

record! {
    /// A buffered event, and its stream or one of its parameters.
    IndAudEventBufferDescriptor<'a> in Event [...] {
        event_name "eventName": Name<'a>,
        stream_id "streamID": Option<EventSpecParameter<'a>>,
    }
}

/// What narrows a buffered event down. The module has the stream alone; the text has parameters too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventSpecParameter<'a> {
    /// A stream.
    Stream(u16),
    /// A parameter of the event.
    Parameter(Name<'a>),
}

impl<'a> Value<'a> for EventSpecParameter<'a> {
    fn write<S: Sink>(&self, sink: &mut S) {
        match self {
            Self::Stream(stream) => stream.write(sink),
            Self::Parameter(name) => {
                sink.choice(const { &Word::new("eventParameterName") });
                name.write(sink);
                sink.end_choice();
            }
        }
    }

    fn read<S: Source<'a>>(source: &mut S) -> Result<Self> {
        if let Ok(stream) = source.number() {
            return u16::try_from(stream)
                .map(Self::Stream)
                .map_err(|_| source.error("a number in its range"));
        }
        if !source.choice()?.is(const { &Word::new("eventParameterName") }) {
            return Err(source.error("a stream or the name of a parameter"));
        }
        let name = Name::read(source)?;
        source.end_choice()?;
        Ok(Self::Parameter(name))
    }
}

choice! {
    /// A signal or a list of signals.
    IndAudSignalsDescriptor<'a> [...] {
        Signal "signal" (IndAudSignal<'a>),
        SeqSigList "seqSigList" (IndAudSeqSigList<'a>),
    }
}

record! {
    /// A list of signals, or a signal in it.
    IndAudSeqSigList<'a> [closed] {
        id "id": u16,
        signal_list "signalList": Option<IndAudSignal<'a>>,
    }
}

record! {
    /// A signal.
    IndAudSignal<'a> in Signal [...] {
        signal_name "signalName": Name<'a>,
        stream_id "streamID": Option<u16>,
        ; 3:
        signal_request_id "signalRequestID": Option<u32>,
    }
}

record! {
    /// A digit map.
    IndAudDigitMapDescriptor<'a> in DigitMap [closed] {
        digit_map_name "digitMapName": Option<Name<'a>>,
    }
}

record! {
    /// A statistic.
    IndAudStatisticsDescriptor<'a> in Statistic [closed] {
        stat_name "statName": Name<'a>,
    }
}

record! {
    /// A package.
    IndAudPackagesDescriptor<'a> in Package [...] {
        package_name "packageName": Name<'a>,
        package_version "packageVersion": u8,
    }
}
