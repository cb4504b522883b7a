//! Signals.

use super::records::{atoms, choice, record};
use super::{Extra, Values};
use crate::list::TokenSet;
use crate::octets::Name;

choice! {
    /// A signal, or several that follow one another.
    SignalRequest<'a> [...] {
        Signal "signal" (Signal<'a>),
        SeqSigList "seqSigList" (SeqSigList<'a>),
    }
}

record! {
    /// Signals that follow one another.
    SeqSigList<'a> [closed] {
        id "id": u16,
        signal_list "signalList": Vec<Signal<'a>>,
    }
}

record! {
    /// A signal.
    #[derive(Default)]
    Signal<'a> in Signal [...] {
        signal_name "signalName": Name<'a>,
        stream_id "streamID": Option<u16>,
        sig_type "sigType": Option<SignalType>,
        duration "duration": Option<u16>,
        notify_completion "notifyCompletion": Option<TokenSet<NotifyCompletion>>,
        keep_active "keepActive": Option<bool>,
        sig_par_list "sigParList": Vec<SigParameter<'a>>,
        ; 3:
        direction "direction": Option<SignalDirection>,
        request_id "requestID": Option<u32>,
        intersig_delay "intersigDelay": Option<u16>,
    }
}

record! {
    /// A parameter of a signal.
    SigParameter<'a> in Parameter [...] {
        sig_parameter_name "sigParameterName": Name<'a>,
        value "value": Values<'a>,
        extra_info "extraInfo": Option<Extra>,
    }
}

atoms! {
    /// How long a signal lasts.
    SignalType [...] {
        Brief "brief",
        OnOff "onOff",
        TimeOut "timeOut",
    }
}

atoms! {
    /// Where a signal is heard.
    SignalDirection [by_hand] {
        Internal "internal",
        External "external",
        Both "both",
    }
}

atoms! {
    /// When the completion of a signal is notified: bits of a BIT STRING.
    NotifyCompletion [bits] {
        OnTimeOut "onTimeOut",
        OnInterruptByEvent "onInterruptByEvent",
        OnInterruptByNewSignalDescr "onInterruptByNewSignalDescr",
        OtherReason "otherReason",
        /// From version 3.
        OnIteration "onIteration",
    }
}
