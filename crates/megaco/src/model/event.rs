//! Events, requested and observed, and digit maps.

use super::records::{choice, record};
use super::{Extra, SignalRequest, TimeNotation, Values};
use crate::octets::{Name, Str};

record! {
    /// Events that are asked for.
    #[derive(Default)]
    EventsDescriptor<'a> [by_hand] {
        request_id "requestID": Option<u32>,
        event_list "eventList": Vec<RequestedEvent<'a>>,
    }
}

record! {
    /// An event that is asked for, and what to do when it happens.
    RequestedEvent<'a> in Event [...] {
        pkgd_name "pkgdName": Name<'a>,
        stream_id "streamID": Option<u16>,
        event_action "eventAction": Option<Box<RequestedActions<'a>>>,
        ev_par_list "evParList": Vec<EventParameter<'a>>,
    }
}

record! {
    /// What to do when an event happens.
    #[derive(Default)]
    RequestedActions<'a> [...] {
        keep_active "keepActive": Option<bool>,
        event_dm "eventDM": Option<EventDm<'a>>,
        second_event "secondEvent": Option<SecondEventsDescriptor<'a>>,
        signals_descriptor "signalsDescriptor": Option<Vec<SignalRequest<'a>>>,
        ; 3:
        notify_behaviour "notifyBehaviour": Option<NotifyBehaviour<'a>>,
        reset_events_descriptor "resetEventsDescriptor": Option<()>,
    }
}

choice! {
    /// A digit map, by name or in full.
    EventDm<'a> in DigitMap [closed] {
        DigitMapName "digitMapName" (Name<'a>),
        DigitMapValue "digitMapValue" (DigitMapValue<'a>),
    }
}

choice! {
    /// When a notification is sent.
    NotifyBehaviour<'a> [recursive ...] {
        NotifyImmediate "notifyImmediate" (()),
        NotifyRegulated "notifyRegulated" (RegulatedEmbeddedDescriptor<'a>),
        NeverNotify "neverNotify" (()),
    }
}

record! {
    /// What is done when a notification is held back.
    #[derive(Default)]
    RegulatedEmbeddedDescriptor<'a> [recursive ...] {
        second_event "secondEvent": Option<SecondEventsDescriptor<'a>>,
        signals_descriptor "signalsDescriptor": Option<Vec<SignalRequest<'a>>>,
    }
}

record! {
    /// Events that are asked for once another has happened.
    #[derive(Default)]
    SecondEventsDescriptor<'a> [by_hand] {
        request_id "requestID": Option<u32>,
        event_list "eventList": Vec<SecondRequestedEvent<'a>>,
    }
}

record! {
    /// One of them.
    SecondRequestedEvent<'a> in Event [recursive ...] {
        pkgd_name "pkgdName": Name<'a>,
        stream_id "streamID": Option<u16>,
        event_action "eventAction": Option<Box<SecondRequestedActions<'a>>>,
        ev_par_list "evParList": Vec<EventParameter<'a>>,
    }
}

record! {
    /// What to do when it happens.
    #[derive(Default)]
    SecondRequestedActions<'a> [recursive ...] {
        keep_active "keepActive": Option<bool>,
        event_dm "eventDM": Option<EventDm<'a>>,
        signals_descriptor "signalsDescriptor": Option<Vec<SignalRequest<'a>>>,
        ; 3:
        notify_behaviour "notifyBehaviour": Option<NotifyBehaviour<'a>>,
        reset_events_descriptor "resetEventsDescriptor": Option<()>,
    }
}

record! {
    /// A parameter of an event.
    EventParameter<'a> in Parameter [...] {
        event_parameter_name "eventParameterName": Name<'a>,
        value "value": Values<'a>,
        extra_info "extraInfo": Option<Extra>,
    }
}

record! {
    /// An event to be buffered.
    EventSpec<'a> in Event [...] {
        event_name "eventName": Name<'a>,
        stream_id "streamID": Option<u16>,
        event_par_list "eventParList": Vec<EventParameter<'a>>,
    }
}

record! {
    /// Events that happened, for the request with this number.
    ObservedEventsDescriptor<'a> [closed] {
        request_id "requestId": u32,
        observed_event_lst "observedEventLst": Vec<ObservedEvent<'a>>,
    }
}

record! {
    /// An event that happened.
    ObservedEvent<'a> in Event [...] {
        event_name "eventName": Name<'a>,
        stream_id "streamID": Option<u16>,
        event_par_list "eventParList": Vec<EventParameter<'a>>,
        time_notation "timeNotation": Option<TimeNotation>,
    }
}

record! {
    /// A digit map: its name, what it is, or both.
    #[derive(Default)]
    DigitMapDescriptor<'a> in DigitMap [closed] {
        digit_map_name "digitMapName": Option<Name<'a>>,
        digit_map_value "digitMapValue": Option<DigitMapValue<'a>>,
    }
}

record! {
    /// Timers of a digit map, in seconds (the last in tenths), and its strings.
    #[derive(Default)]
    DigitMapValue<'a> [...] {
        start_timer "startTimer": Option<u8>,
        short_timer "shortTimer": Option<u8>,
        long_timer "longTimer": Option<u8>,
        digit_map_body "digitMapBody": Str<'a> as Ia5,
        ; 2:
        duration_timer "durationTimer": Option<u8>,
    }
}
