//! Events: what happens at terminations, and what the controller is told of it (H.248.1 7.1.9).

use tercet_megaco::digit_map::{DigitMap, Outcome};
use tercet_megaco::model::{
    Command, EventBufferControl, EventParameter, EventsDescriptor, NotifyBehaviour, NotifyRequest,
    ObservedEvent, ObservedEventsDescriptor, RequestedActions, RequestedEvent, SecondEventsDescriptor,
    SecondRequestedActions, ServiceState, TimeNotation,
};
use tercet_megaco::{List, Name, Str};

use super::termination::{Collecting, Termination, fits, key};
use super::{Failure, VirtualGateway};
use crate::time::Time;

/// Events that a termination holds until its controller asks for further ones.
const MOST_BUFFERED: usize = 64;
/// Digits that a digit map collects at most.
const MOST_DIGITS: usize = 256;

impl VirtualGateway {
    /// Something happens at a termination: an event such as `al/of`, with values of its parameters. If the controller has asked for
    /// it, there is a request for it then.
    ///
    /// # Errors
    /// The termination or the event is not known.
    pub fn event(
        &mut self,
        now: Time,
        termination: &str,
        event: &str,
        parameters: &[(&str, &str)],
    ) -> Result<(), Failure> {
        self.handle_timeout(now);
        let name = key(termination.as_bytes());
        self.termination(&name).ok_or(Failure(430))?;
        self.check_name(tercet_megaco::packages::Item::Event, event.as_bytes())?;
        let parameter = |&(name, value): &(&str, &str)| EventParameter {
            event_parameter_name: Name::from(name.as_bytes().to_vec()),
            value: List::One(Str::from(value.as_bytes().to_vec())),
            extra_info: None,
        };
        let observed = ObservedEvent {
            event_name: Name::from(event.as_bytes().to_vec()),
            stream_id: None,
            event_par_list: parameters.iter().map(parameter).collect(),
            time_notation: None,
        };
        self.happens(&name, observed);
        self.note_due(&name);
        Ok(())
    }

    /// A digit is dialled at a termination: `0` to `9`, `a` to `d`, `*` or `#`.
    ///
    /// # Errors
    /// The termination is not known, or there is no such digit.
    pub fn digit(&mut self, now: Time, termination: &str, digit: char) -> Result<(), Failure> {
        self.handle_timeout(now);
        let name = key(termination.as_bytes());
        let event = match digit.to_ascii_lowercase() {
            letter @ ('0'..='9' | 'a'..='d') => format!("dd/d{letter}"),
            '*' => "dd/ds".to_owned(),
            '#' => "dd/do".to_owned(),
            _ => return Err(Failure(449)),
        };
        let now = self.now;
        let found = self.termination_mut(&name).ok_or(Failure(430))?;
        if found.service_state == ServiceState::InSvc
            && let Some(collecting) = &mut found.collecting
            && collecting.digits.len() < MOST_DIGITS
        {
            // What text maps write for `*` and `#`.
            let letter = match digit {
                '*' => b'e',
                '#' => b'f',
                digit => digit.to_ascii_lowercase() as u8,
            };
            collecting.digits.push((now, letter));
            let (outcome, deadline, _) = evaluated(collecting);
            collecting.deadline = deadline;
            if let Some(outcome) = outcome {
                self.digits_complete(&name, outcome);
            }
        }
        // Whoever asks for single digits gets them too.
        let observed = ObservedEvent {
            event_name: Name::from(event.into_bytes()),
            stream_id: None,
            event_par_list: Vec::new(),
            time_notation: None,
        };
        self.happens(&name, observed);
        self.note_due(&name);
        Ok(())
    }

    pub(super) fn begin_digits(&self, termination: &mut Termination, event: Name<'static>, map: DigitMap) {
        let mut collecting =
            Collecting { event, map, begun: self.now, digits: Vec::new(), deadline: self.now };
        collecting.deadline = evaluated(&collecting).1;
        termination.collecting = Some(collecting);
    }

    /// The time for the next digit is over.
    pub(super) fn digits_due(&mut self, name: &[u8]) {
        let now = self.now;
        let Some(collecting) = self.termination(name).and_then(|found| found.collecting.as_ref()) else {
            return;
        };
        if collecting.deadline <= now {
            let evaluation_ends = collecting.map.begin(millis(collecting.begun));
            let outcome = match replay(evaluation_ends, &collecting.digits) {
                Ok(evaluation) => evaluation.time(millis(now)).unwrap_or(Outcome::Partial),
                Err(outcome) => outcome,
            };
            self.digits_complete(name, outcome);
        }
    }

    fn digits_complete(&mut self, name: &[u8], outcome: Outcome) {
        let Some(collecting) = self.termination_mut(name).and_then(|found| found.collecting.take()) else {
            return;
        };
        let (_, _, digits) = evaluated(&collecting);
        let method = match outcome {
            Outcome::Unambiguous => "UM",
            Outcome::Full | Outcome::FullWithExtra(_) => "FM",
            Outcome::Partial => "PM",
        };
        let parameter = |name: &'static str, value: Vec<u8>| EventParameter {
            event_parameter_name: Name::from(name),
            value: List::One(Str::from(value)),
            extra_info: None,
        };
        let observed = ObservedEvent {
            event_name: collecting.event,
            stream_id: None,
            event_par_list: vec![
                parameter("ds", digits.to_ascii_uppercase()),
                parameter("meth", method.as_bytes().to_vec()),
            ],
            time_notation: None,
        };
        self.happens(name, observed);
    }

    /// An event happens: it is buffered, told, or nobody's concern.
    pub(super) fn happens(&mut self, name: &[u8], mut event: ObservedEvent<'static>) {
        event.time_notation.get_or_insert_with(|| self.time_of_day(self.now));
        let Some(termination) = self.termination_mut(name) else { return };
        if termination.service_state != ServiceState::InSvc {
            return;
        }
        if termination.is_locked {
            let is_wanted = termination.event_buffer.is_empty()
                || termination.event_buffer.iter().any(|known| fits(&known.event_name, &event.event_name));
            if is_wanted && termination.buffered.len() < MOST_BUFFERED {
                termination.buffered.push_back(event);
            }
            return;
        }
        let is_it = |known: &&RequestedEvent<'_>| {
            fits(&known.pkgd_name, &event.event_name)
                && (known.stream_id.is_none()
                    || event.stream_id.is_none()
                    || known.stream_id == event.stream_id)
        };
        // The end of one signal does not end the others.
        let is_completion = event.event_name == "g/sc";
        let Some(requested) = termination.events.event_list.iter().find(is_it).cloned() else { return };
        let request_id = termination.events.request_id.unwrap_or(0);
        let observed = ObservedEventsDescriptor { request_id, observed_event_lst: vec![event] };
        termination.observed = Some(observed.clone());
        termination.is_locked = termination.buffer_control == Some(EventBufferControl::LockStep);
        let (context, id) = (termination.context, termination.id());
        let action = requested.event_action.map(|action| *action).unwrap_or_default();
        if !matches!(action.notify_behaviour, Some(NotifyBehaviour::NeverNotify(()))) {
            let notify = NotifyRequest {
                termination_id: List::One(id),
                observed_events_descriptor: observed.into(),
                error_descriptor: None,
            };
            self.ask(context, Command::NotifyReq(notify));
        }
        if action.keep_active != Some(true) && !is_completion {
            self.stop_signals(name);
        }
        self.embedded(name, action);
        self.take_buffered(name);
    }

    /// Does what a requested event says that is to be done when it happens.
    fn embedded(&mut self, name: &[u8], action: RequestedActions<'static>) {
        let Some(termination) = self.termination_mut(name) else { return };
        let mut copy = termination.clone();
        if let Some(signals) = &action.signals_descriptor {
            self.set_signals(&mut copy, signals);
        }
        if action.reset_events_descriptor.is_some() {
            copy.events = EventsDescriptor::default();
            copy.is_locked = false;
        }
        if let Some(second) = action.second_event {
            let is_empty = second.event_list.is_empty();
            copy.events = first_class(second);
            copy.is_locked = false;
            copy.collecting = None;
            // Its names were checked when it was asked for; a digit map may have been removed since.
            let map = copy.events.event_list.iter().find_map(|event| {
                let map = event.event_action.as_ref()?.event_dm.as_ref()?;
                Some((event.pkgd_name.clone(), self.digit_map(&copy, map, &[]).ok()?))
            });
            if let Some((event, map)) = map.filter(|_| !is_empty) {
                self.begin_digits(&mut copy, event, map);
            }
        }
        if let Some(termination) = self.termination_mut(name) {
            *termination = copy;
        }
    }

    /// Tells what a command has interrupted, and processes events that have waited for an events descriptor.
    pub(super) fn take_buffered(&mut self, name: &[u8]) {
        let Some(termination) = self.termination_mut(name) else { return };
        for event in std::mem::take(&mut termination.happened) {
            self.happens(name, event);
        }
        while let Some(termination) = self.termination_mut(name)
            && !termination.is_locked
            && let Some(event) = termination.buffered.pop_front()
        {
            self.happens(name, event);
        }
        self.note_due(name);
    }

    /// Returns the date and the time, as messages have them (H.248.1 annex B, TimeStamp).
    pub fn time_of_day(&self, now: Time) -> TimeNotation {
        let millis = self.options.epoch_millis.saturating_add(now.as_millis());
        let (days, of_day) = (millis / 86_400_000, millis % 86_400_000);
        let (year, month, day) = civil(days);
        let date = format!("{year:04}{month:02}{day:02}");
        let (seconds, hundredths) = (of_day / 1000, of_day % 1000 / 10);
        let time = format!("{:02}{:02}{:02}{hundredths:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
        let digits = |text: &str| text.as_bytes().first_chunk().copied().unwrap_or(*b"00000000");
        TimeNotation { date: digits(&date), time: digits(&time) }
    }
}

const fn millis(time: Time) -> u64 {
    time.as_millis()
}

/// Feeds an evaluation with the digits that came before.
fn replay<'m>(
    mut evaluation: tercet_megaco::digit_map::Evaluation<'m>,
    digits: &[(Time, u8)],
) -> Result<tercet_megaco::digit_map::Evaluation<'m>, Outcome> {
    for &(at, letter) in digits {
        if let Some(outcome) = evaluation.digit(millis(at), letter, 0) {
            return Err(outcome);
        }
    }
    Ok(evaluation)
}

/// What has become of digits, until when the next one may come, and those that fit.
fn evaluated(collecting: &Collecting) -> (Option<Outcome>, Time, Vec<u8>) {
    let mut evaluation = collecting.map.begin(millis(collecting.begun));
    let mut outcome = None;
    for &(at, letter) in &collecting.digits {
        outcome = evaluation.digit(millis(at), letter, 0);
        if outcome.is_some() {
            break;
        }
    }
    // A digit that fits nowhere was dialled all the same, if the number is not complete without it.
    let mut digits = evaluation.digits().to_vec();
    if outcome == Some(Outcome::Partial)
        && digits.len() < collecting.digits.len()
        && let Some(&(_, letter)) = collecting.digits.last()
    {
        digits.push(letter);
    }
    (outcome, Time::from_millis(evaluation.deadline()), digits)
}

/// An embedded events descriptor as one of its own.
fn first_class(second: SecondEventsDescriptor<'static>) -> EventsDescriptor<'static> {
    let event_list = second.event_list.into_iter().map(|event| RequestedEvent {
        pkgd_name: event.pkgd_name,
        stream_id: event.stream_id,
        event_action: event.event_action.map(|action| {
            let SecondRequestedActions {
                keep_active,
                event_dm,
                signals_descriptor,
                notify_behaviour,
                reset_events_descriptor,
            } = *action;
            Box::new(RequestedActions {
                keep_active,
                event_dm,
                second_event: None,
                signals_descriptor,
                notify_behaviour,
                reset_events_descriptor,
            })
        }),
        ev_par_list: event.ev_par_list,
    });
    EventsDescriptor { request_id: second.request_id, event_list: event_list.collect() }
}

/// The date of a day after 1970-01-01, in the Gregorian calendar.
const fn civil(days: u64) -> (u64, u64, u64) {
    // Eras of 400 years begin in March of year 0.
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + if month <= 2 { 1 } else { 0 };
    (year, month, day)
}

#[cfg(test)]
#[test]
fn dates() {
    for (days, expected) in
        [(0, (1970, 1, 1)), (59, (1970, 3, 1)), (11_016, (2000, 2, 29)), (20_088, (2024, 12, 31))]
    {
        assert_eq!(civil(days), expected);
    }
}
