//! Commands and their replies.

use super::records::{atoms, choice, record};
use super::{
    AuditDescriptor, DigitMapDescriptor, ErrorDescriptor, EventSpec, EventsDescriptor, Lenient,
    MediaDescriptor, ModemDescriptor, NonStandardData, ObservedEventsDescriptor, ServiceChangeReply,
    ServiceChangeRequest, SignalRequest, TerminationId, Values,
};
use crate::list::List;
use crate::octets::Name;

record! {
    /// A command, whether it may fail (`O-`), and whether one reply will do for all terminations (`W-`).
    CommandRequest<'a> [...] {
        command "command": Command<'a>,
        optional "optional": Option<()>,
        wildcard_return "wildcardReturn": Option<()>,
    }
}

choice! {
    /// The commands.
    Command<'a> [...] {
        AddReq "addReq" (AmmRequest<'a>),
        MoveReq "moveReq" (AmmRequest<'a>),
        ModReq "modReq" (AmmRequest<'a>),
        SubtractReq "subtractReq" (SubtractRequest<'a>),
        AuditCapRequest "auditCapRequest" (AuditRequest<'a>),
        AuditValueRequest "auditValueRequest" (AuditRequest<'a>),
        NotifyReq "notifyReq" (NotifyRequest<'a>),
        ServiceChangeReq "serviceChangeReq" (ServiceChangeRequest<'a>),
    }
}

choice! {
    /// Their replies.
    CommandReply<'a> [...] {
        AddReply "addReply" (AmmsReply<'a>),
        MoveReply "moveReply" (AmmsReply<'a>),
        ModReply "modReply" (AmmsReply<'a>),
        SubtractReply "subtractReply" (AmmsReply<'a>),
        AuditCapReply "auditCapReply" (AuditReply<'a>),
        AuditValueReply "auditValueReply" (AuditReply<'a>),
        NotifyReply "notifyReply" (NotifyReply<'a>),
        ServiceChangeReply "serviceChangeReply" (ServiceChangeReply<'a>),
    }
}

record! {
    /// Add, Move or Modify.
    AmmRequest<'a> [...] {
        termination_id "terminationID": List<TerminationId<'a>>,
        descriptors "descriptors": Vec<AmmDescriptor<'a>>,
    }
}

choice! {
    /// Descriptors of Add, Move and Modify.
    AmmDescriptor<'a> [...] {
        MediaDescriptor "mediaDescriptor" (MediaDescriptor<'a>),
        ModemDescriptor "modemDescriptor" (Box<ModemDescriptor<'a>>),
        MuxDescriptor "muxDescriptor" (MuxDescriptor<'a>),
        EventsDescriptor "eventsDescriptor" (EventsDescriptor<'a>),
        EventBufferDescriptor "eventBufferDescriptor" (Vec<EventSpec<'a>>),
        SignalsDescriptor "signalsDescriptor" (Vec<SignalRequest<'a>>),
        DigitMapDescriptor "digitMapDescriptor" (DigitMapDescriptor<'a>),
        AuditDescriptor "auditDescriptor" (AuditDescriptor<'a>),
        ; 3:
        StatisticsDescriptor "statisticsDescriptor" (Vec<StatisticsParameter<'a>>),
    }
}

record! {
    /// What came of Add, Move, Modify or Subtract.
    AmmsReply<'a> [...] {
        termination_id "terminationID": List<TerminationId<'a>>,
        termination_audit "terminationAudit": Option<TerminationAudit<'a>>,
    }
}

record! {
    /// Subtract.
    SubtractRequest<'a> [...] {
        termination_id "terminationID": List<TerminationId<'a>>,
        audit_descriptor "auditDescriptor": Option<Box<AuditDescriptor<'a>>>,
    }
}

record! {
    /// AuditValue or AuditCapabilities. `termination_id` is the first of `termination_id_list` if that is there.
    AuditRequest<'a> [...] {
        termination_id "terminationID": TerminationId<'a>,
        audit_descriptor "auditDescriptor": Lenient<AuditDescriptor<'a>>,
        ; 3:
        termination_id_list "terminationIDList": Option<Vec<TerminationId<'a>>>,
    }
}

choice! {
    /// What came of an audit.
    AuditReply<'a> [...] {
        ContextAuditResult "contextAuditResult" (List<TerminationId<'a>>),
        Error "error" (ErrorDescriptor<'a>),
        AuditResult "auditResult" (AuditResult<'a>),
        ; 3:
        AuditResultTermList "auditResultTermList" (TermListAuditResult<'a>),
    }
}

record! {
    /// What an audit found at a termination.
    AuditResult<'a> [closed] {
        termination_id "terminationID": TerminationId<'a>,
        termination_audit_result "terminationAuditResult": TerminationAudit<'a>,
    }
}

record! {
    /// What an audit found at several.
    TermListAuditResult<'a> [...] {
        termination_id_list "terminationIDList": List<TerminationId<'a>>,
        termination_audit_result "terminationAuditResult": TerminationAudit<'a>,
    }
}

/// What an audit found.
pub type TerminationAudit<'a> = Vec<AuditReturnParameter<'a>>;

choice! {
    /// One thing that an audit found.
    AuditReturnParameter<'a> [...] {
        ErrorDescriptor "errorDescriptor" (ErrorDescriptor<'a>),
        MediaDescriptor "mediaDescriptor" (MediaDescriptor<'a>),
        ModemDescriptor "modemDescriptor" (Box<ModemDescriptor<'a>>),
        MuxDescriptor "muxDescriptor" (MuxDescriptor<'a>),
        EventsDescriptor "eventsDescriptor" (EventsDescriptor<'a>),
        EventBufferDescriptor "eventBufferDescriptor" (Vec<EventSpec<'a>>),
        SignalsDescriptor "signalsDescriptor" (Vec<SignalRequest<'a>>),
        DigitMapDescriptor "digitMapDescriptor" (DigitMapDescriptor<'a>),
        ObservedEventsDescriptor "observedEventsDescriptor" (ObservedEventsDescriptor<'a>),
        StatisticsDescriptor "statisticsDescriptor" (Vec<StatisticsParameter<'a>>),
        PackagesDescriptor "packagesDescriptor" (Vec<PackagesItem<'a>>),
        EmptyDescriptors "emptyDescriptors" (AuditDescriptor<'a>),
    }
}

record! {
    /// Notify.
    NotifyRequest<'a> [...] {
        termination_id "terminationID": List<TerminationId<'a>>,
        observed_events_descriptor "observedEventsDescriptor": Lenient<ObservedEventsDescriptor<'a>>,
        error_descriptor "errorDescriptor": Option<Box<ErrorDescriptor<'a>>>,
    }
}

record! {
    /// What came of Notify.
    NotifyReply<'a> [...] {
        termination_id "terminationID": List<TerminationId<'a>>,
        error_descriptor "errorDescriptor": Option<Box<ErrorDescriptor<'a>>>,
    }
}

record! {
    /// Terminations that are multiplexed.
    MuxDescriptor<'a> [...] {
        mux_type "muxType": MuxType,
        term_list "termList": List<TerminationId<'a>>,
        non_standard_data "nonStandardData": Option<Box<NonStandardData<'a>>>,
    }
}

atoms! {
    /// Kinds of multiplexing.
    MuxType [by_hand] {
        H221 "h221",
        H223 "h223",
        H226 "h226",
        V76 "v76",
        /// From version 2.
        Nx64k "nx64k",
    }
}

record! {
    /// A statistic and its value.
    StatisticsParameter<'a> in Statistic [closed] {
        stat_name "statName": Name<'a>,
        stat_value "statValue": Option<Values<'a>>,
    }
}

record! {
    /// A package and its version.
    PackagesItem<'a> in Package [...] {
        package_name "packageName": Name<'a>,
        package_version "packageVersion": u8,
    }
}
