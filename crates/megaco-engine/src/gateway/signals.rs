//! Signals: what is heard at a termination, how long, and the report of its end (H.248.1 7.1.11, E.1.2).

use std::collections::VecDeque;

use tercet_megaco::model::{
    EventParameter, IntoOwned, NotifyCompletion, ObservedEvent, Signal, SignalRequest, SignalType,
};
use tercet_megaco::{List, Name, Str};

use super::VirtualGateway;
use super::termination::{Playing, Termination, hundredths};
use crate::time::Time;

/// How long a brief signal takes, in hundredths of a second.
const BRIEF: u16 = 50;

impl VirtualGateway {
    /// Replaces the signals of a termination. Those that are asked for again to be kept active go on.
    pub(super) fn set_signals(&self, termination: &mut Termination, requests: &[SignalRequest<'_>]) {
        let old = std::mem::take(&mut termination.signals);
        let mut signals = Vec::with_capacity(requests.len());
        for request in requests {
            let (list, all): (_, VecDeque<Signal<'static>>) = match request {
                SignalRequest::Signal(signal) => (None, [signal.clone().into_owned()].into()),
                SignalRequest::SeqSigList(list) => {
                    (Some(list.id), list.signal_list.clone().into_owned().into())
                }
            };
            let keeps = |playing: &&Playing| {
                all.front().is_some_and(|signal| {
                    signal.keep_active == Some(true)
                        && playing.list == list
                        && playing
                            .signals
                            .front()
                            .is_some_and(|known| known.signal_name == signal.signal_name)
                })
            };
            match old.iter().find(keeps) {
                Some(playing) => signals.push(playing.clone()),
                None => {
                    let ends = all.front().and_then(|signal| end(signal, self.now));
                    if !all.is_empty() {
                        signals.push(Playing { list, signals: all, ends });
                    }
                }
            }
        }
        for playing in old {
            let goes_on = signals.iter().any(|one| {
                one.list == playing.list
                    && one.signals.front().map(|s| &s.signal_name)
                        == playing.signals.front().map(|s| &s.signal_name)
                    && one.ends == playing.ends
            });
            if !goes_on {
                let told = completion(&playing, NotifyCompletion::OnInterruptByNewSignalDescr, "SD");
                termination.happened.extend(told);
            }
        }
        termination.signals = signals;
    }

    /// Signals whose time is over end; the next one of a list begins.
    pub(super) fn signals_due(&mut self, name: &[u8]) {
        let now = self.now;
        let Some(termination) = self.termination_mut(name) else { return };
        let mut told = Vec::new();
        for playing in &mut termination.signals {
            if playing.ends.is_some_and(|ends| ends <= now) {
                told.extend(completion(playing, NotifyCompletion::OnTimeOut, "TO"));
                playing.signals.pop_front();
                playing.ends = playing.signals.front().and_then(|signal| end(signal, now));
            }
        }
        termination.signals.retain(|playing| !playing.signals.is_empty());
        for event in told {
            self.happens(name, event);
        }
    }

    /// An event that was asked for stops the signals, but for those that are to be kept active.
    pub(super) fn stop_signals(&mut self, name: &[u8]) {
        let Some(termination) = self.termination_mut(name) else { return };
        let mut told = Vec::new();
        termination.signals.retain(|playing| {
            let goes_on = playing.signals.front().is_some_and(|signal| signal.keep_active == Some(true));
            if !goes_on {
                told.extend(completion(playing, NotifyCompletion::OnInterruptByEvent, "EV"));
            }
            goes_on
        });
        termination.happened.extend(told);
    }
}

/// When a signal ends that begins now. A signal without a type and a duration goes on until others are asked for.
fn end(signal: &Signal<'_>, now: Time) -> Option<Time> {
    let duration = match (signal.sig_type, signal.duration) {
        (Some(SignalType::OnOff), _) | (None | Some(SignalType::TimeOut), None) => return None,
        (Some(SignalType::Brief), duration) => duration.unwrap_or(BRIEF),
        (Some(SignalType::TimeOut) | None, Some(duration)) => duration,
    };
    Some(now.after(hundredths(duration)))
}

/// The event `g/sc` of a signal's end, if it is to be told.
fn completion(
    playing: &Playing,
    why: NotifyCompletion,
    method: &'static str,
) -> Option<ObservedEvent<'static>> {
    let signal = playing.signals.front()?;
    if !signal.notify_completion.is_some_and(|told| told.contains(why)) {
        return None;
    }
    let parameter = |name: &'static str, value: Vec<u8>| EventParameter {
        event_parameter_name: Name::from(name),
        value: List::One(Str::from(value)),
        extra_info: None,
    };
    let mut event_par_list =
        vec![parameter("sigid", signal.signal_name.to_vec()), parameter("meth", method.as_bytes().to_vec())];
    if let Some(list) = playing.list {
        event_par_list.push(parameter("slid", list.to_string().into_bytes()));
    }
    Some(ObservedEvent {
        event_name: Name::from("g/sc"),
        stream_id: signal.stream_id,
        event_par_list,
        time_notation: None,
    })
}
