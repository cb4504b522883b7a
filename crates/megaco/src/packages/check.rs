//! Messages against packages: names that no package has, and values that are not of their types.

use std::collections::BTreeSet;
use std::fmt;

use super::path::{Shown, Step, path};
use super::{Definition, Item, Packages, Type, When};
use crate::model::Signal;
use crate::model::{
    ActionReply, ActionRequest, AmmDescriptor, AuditDescriptor, AuditReply, AuditReturnParameter, Command,
    CommandReply, EventParameter, EventSpecParameter, EventsDescriptor, Extra, IndAudMediaDescriptor,
    IndAudMediaStreams, IndAudPropertyParm, IndAudSignalsDescriptor, IndAudStreamParms, IndAuditParameter,
    MediaDescriptor, MediaStreams, MegacoMessage, MessageBody, NotifyBehaviour, ObservedEventsDescriptor,
    PropertyParm, SecondEventsDescriptor, SignalRequest, StatisticsParameter, StreamParms, TerminationAudit,
    TerminationId, Transaction, TransactionResult,
};
use crate::octets::{Name, Str};

/// Something in a message that is not as the packages have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The way to it: transaction, context, command, descriptors, and the name itself, with blanks between.
    pub path: String,
    /// What it is.
    pub fault: Fault,
}

/// What is not as the packages have it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The package is not known; it may be a private one. Told once in a message.
    UnknownPackage,
    /// The package has no such property, event, signal or statistic.
    UnknownItem(Item),
    /// Only a part of the package is known, without this property, event, signal or statistic.
    NotKnown(Item),
    /// Only a part of the package is known, without this parameter of an event or signal.
    ParameterNotKnown(Item),
    /// The event or signal has no such parameter.
    UnknownParameter(Item),
    /// The parameter is one of other events: of those that are requested, or of those that were observed.
    Misplaced(When),
    /// A value is not of its type.
    Value {
        /// The value, at most 64 octets of it.
        value: String,
        /// The type.
        expected: String,
    },
    /// Several values that hold together, where the type has one.
    List {
        /// The type.
        expected: String,
    },
    /// The controller sets a property that can only be read.
    ReadOnly,
}

impl Finding {
    /// Checks whether nothing is wrong: the package may be a private one, or only a part of it is known here.
    pub const fn is_information(&self) -> bool {
        matches!(self.fault, Fault::UnknownPackage | Fault::NotKnown(_) | Fault::ParameterNotKnown(_))
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.fault)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownPackage => f.write_str("the package is not known"),
            Self::UnknownItem(item) => write!(f, "the package has no such {}", word(*item)),
            Self::NotKnown(item) => {
                write!(f, "the {} is not known: the package is known in part", word(*item))
            }
            Self::ParameterNotKnown(item) => {
                write!(f, "the parameter of the {} is not known: the package is known in part", word(*item))
            }
            Self::UnknownParameter(item) => write!(f, "the {} has no such parameter", word(*item)),
            Self::Misplaced(When::Requested) => f.write_str("a parameter of events that are requested"),
            Self::Misplaced(When::Observed) => f.write_str("a parameter of events that were observed"),
            Self::Value { value, expected } => write!(f, "`{value}` is not of its type, {expected}"),
            Self::List { expected } => write!(f, "several values for one of its type, {expected}"),
            Self::ReadOnly => f.write_str("the property can only be read"),
        }
    }
}

const fn word(item: Item) -> &'static str {
    match item {
        Item::Property => "property",
        Item::Event => "event",
        Item::Signal => "signal",
        Item::Statistic => "statistic",
    }
}

impl Packages {
    /// What in a message is not as the packages have it: names and types of properties, events, signals, statistics and
    /// parameters. `*` and `$` stand for any value; of a range, a list, alternatives or a relation every value is checked.
    /// Session descriptions are no matter of packages (see [`crate::sdp`]).
    ///
    /// ```
    /// use tercet_megaco::{packages::Packages, text};
    ///
    /// let message = text::read_message(b"!/1 mg1\nT=1{C=-{MF=a1{M{O{tdmc/ec=g165}}}}}")?;
    /// let findings = Packages::default().check(&message);
    /// assert_eq!(
    ///     findings[0].to_string(),
    ///     "Transaction=1 Context=- Modify=a1 Media LocalControl tdmc/ec: `g165` is not of its type, Boolean, `on` or `off`"
    /// );
    /// # Ok::<(), tercet_megaco::Error>(())
    /// ```
    pub fn check(&self, message: &MegacoMessage<'_>) -> Vec<Finding> {
        let mut check = Check {
            packages: self,
            path: Vec::new(),
            is_partial: false,
            unknown: BTreeSet::new(),
            found: Vec::new(),
        };
        if let MessageBody::Transactions(transactions) = &message.mess.message_body {
            transactions.iter().for_each(|transaction| check.transaction(transaction));
        }
        check.found
    }
}

/// A walk over a message.
struct Check<'p, 'm> {
    packages: &'p Packages,
    path: Vec<Step<'m>>,
    /// Only a part of the package is known to which the current event or signal belongs.
    is_partial: bool,
    /// Packages that are not known and have been told.
    unknown: BTreeSet<Vec<u8>>,
    found: Vec<Finding>,
}

impl<'p, 'm> Check<'p, 'm> {
    fn below(&mut self, step: Step<'m>, inner: impl FnOnce(&mut Self)) {
        self.path.push(step);
        inner(self);
        self.path.pop();
    }

    fn each<T>(&mut self, all: &'m [T], one: impl Fn(&mut Self, &'m T)) {
        all.iter().for_each(|element| one(self, element));
    }

    fn tell(&mut self, fault: Fault) {
        self.found.push(Finding { path: path(&self.path), fault });
    }

    fn transaction(&mut self, transaction: &'m Transaction<'m>) {
        match transaction {
            Transaction::TransactionRequest(request) => {
                self.below(Step::Transaction("Transaction", *request.transaction_id), |check| {
                    check.each(&request.actions, Self::action_request);
                });
            }
            Transaction::TransactionReply(reply) => {
                if let TransactionResult::ActionReplies(actions) = &reply.transaction_result {
                    self.below(Step::Transaction("Reply", *reply.transaction_id), |check| {
                        check.each(actions, Self::action_reply);
                    });
                }
            }
            _ => {}
        }
    }

    fn action_request(&mut self, action: &'m ActionRequest<'m>) {
        self.below(Step::Context(action.context_id), |check| {
            let context = action.context_request.as_ref().and_then(|request| request.context_prop.as_ref());
            check.each(context.map_or(&[][..], |properties| properties), |check, property| {
                check.property(property, true);
            });
            let audit = action.context_attr_audit_req.as_ref();
            let audit = audit.and_then(|audit| audit.context_prop_aud.as_ref());
            check.each(audit.map_or(&[][..], |properties| properties), Self::audited_property);
            check.each(&action.command_requests, |check, request| check.command(&request.command));
        });
    }

    fn action_reply(&mut self, action: &'m ActionReply<'m>) {
        self.below(Step::Context(action.context_id), |check| {
            let context = action.context_reply.as_ref().and_then(|reply| reply.context_prop.as_ref());
            check.each(context.map_or(&[][..], |properties| properties), |check, property| {
                check.property(property, false);
            });
            check.each(&action.command_reply, Self::command_reply);
        });
    }

    fn command(&mut self, command: &'m Command<'m>) {
        let step = |name, terminations: &'m [TerminationId<'m>]| Step::Command(name, terminations);
        let (name, request) = match command {
            Command::AddReq(request) => ("Add", request),
            Command::MoveReq(request) => ("Move", request),
            Command::ModReq(request) => ("Modify", request),
            Command::SubtractReq(request) => {
                return self.below(step("Subtract", &request.termination_id), |check| {
                    request.audit_descriptor.iter().for_each(|audit| check.audit(audit));
                });
            }
            Command::AuditCapRequest(request) => {
                let terminations = std::slice::from_ref(&request.termination_id);
                return self.below(step("AuditCapability", terminations), |check| {
                    request.audit_descriptor.iter().for_each(|audit| check.audit(audit));
                });
            }
            Command::AuditValueRequest(request) => {
                let terminations = std::slice::from_ref(&request.termination_id);
                return self.below(step("AuditValue", terminations), |check| {
                    request.audit_descriptor.iter().for_each(|audit| check.audit(audit));
                });
            }
            Command::NotifyReq(request) => {
                return self.below(step("Notify", &request.termination_id), |check| {
                    request.observed_events_descriptor.iter().for_each(|events| check.observed(events));
                });
            }
            Command::ServiceChangeReq(request) => {
                let audit = request.service_change_parms.service_change_info.as_ref();
                return self.below(step("ServiceChange", &request.termination_id), |check| {
                    audit.into_iter().for_each(|audit| check.audit(audit));
                });
            }
        };
        self.below(step(name, &request.termination_id), |check| {
            check.each(&request.descriptors, Self::descriptor);
        });
    }

    fn descriptor(&mut self, descriptor: &'m AmmDescriptor<'m>) {
        match descriptor {
            AmmDescriptor::MediaDescriptor(media) => self.media(media, true),
            AmmDescriptor::EventsDescriptor(events) => self.events(events),
            AmmDescriptor::EventBufferDescriptor(events) => self.event_buffer(events),
            AmmDescriptor::SignalsDescriptor(signals) => self.signals(signals),
            AmmDescriptor::AuditDescriptor(audit) => self.audit(audit),
            AmmDescriptor::StatisticsDescriptor(statistics) => self.statistics(statistics),
            AmmDescriptor::ModemDescriptor(_)
            | AmmDescriptor::MuxDescriptor(_)
            | AmmDescriptor::DigitMapDescriptor(_) => {}
        }
    }

    fn command_reply(&mut self, reply: &'m CommandReply<'m>) {
        let (name, terminations, audit): (_, &[_], Option<&TerminationAudit<'_>>) = match reply {
            CommandReply::AddReply(reply) => ("Add", &reply.termination_id, reply.termination_audit.as_ref()),
            CommandReply::MoveReply(reply) => {
                ("Move", &reply.termination_id, reply.termination_audit.as_ref())
            }
            CommandReply::ModReply(reply) => {
                ("Modify", &reply.termination_id, reply.termination_audit.as_ref())
            }
            CommandReply::SubtractReply(reply) => {
                ("Subtract", &reply.termination_id, reply.termination_audit.as_ref())
            }
            CommandReply::AuditCapReply(reply) => return self.audit_reply("AuditCapability", reply),
            CommandReply::AuditValueReply(reply) => return self.audit_reply("AuditValue", reply),
            CommandReply::NotifyReply(_) | CommandReply::ServiceChangeReply(_) => return,
        };
        self.below(Step::Command(name, terminations), |check| {
            check.each(audit.map_or(&[][..], |audit| audit), Self::audit_result);
        });
    }

    fn audit_reply(&mut self, name: &'static str, reply: &'m AuditReply<'m>) {
        let (terminations, audit) = match reply {
            AuditReply::AuditResult(result) => {
                (std::slice::from_ref(&result.termination_id), &result.termination_audit_result)
            }
            AuditReply::AuditResultTermList(result) => {
                (&result.termination_id_list[..], &result.termination_audit_result)
            }
            AuditReply::ContextAuditResult(_) | AuditReply::Error(_) => return,
        };
        self.below(Step::Command(name, terminations), |check| check.each(audit, Self::audit_result));
    }

    fn audit_result(&mut self, result: &'m AuditReturnParameter<'m>) {
        match result {
            AuditReturnParameter::MediaDescriptor(media) => self.media(media, false),
            AuditReturnParameter::EventsDescriptor(events) => self.events(events),
            AuditReturnParameter::EventBufferDescriptor(events) => self.event_buffer(events),
            AuditReturnParameter::SignalsDescriptor(signals) => self.signals(signals),
            AuditReturnParameter::ObservedEventsDescriptor(events) => self.observed(events),
            AuditReturnParameter::StatisticsDescriptor(statistics) => self.statistics(statistics),
            AuditReturnParameter::PackagesDescriptor(packages) => {
                self.below(Step::Descriptor("Packages"), |check| {
                    check.each(packages, |check, item| check.package(&item.package_name));
                });
            }
            AuditReturnParameter::EmptyDescriptors(audit) => self.audit(audit),
            AuditReturnParameter::ErrorDescriptor(_)
            | AuditReturnParameter::ModemDescriptor(_)
            | AuditReturnParameter::MuxDescriptor(_)
            | AuditReturnParameter::DigitMapDescriptor(_) => {}
        }
    }

    fn media(&mut self, media: &'m MediaDescriptor<'m>, is_set: bool) {
        self.below(Step::Descriptor("Media"), |check| {
            if let Some(state) = &media.term_state_descr {
                check.below(Step::Descriptor("TerminationState"), |check| {
                    check.each(&state.property_parms, |check, property| check.property(property, is_set));
                });
            }
            match &media.streams {
                Some(MediaStreams::OneStream(stream)) => check.stream(stream, is_set),
                Some(MediaStreams::MultiStream(streams)) => check.each(streams, |check, stream| {
                    check.below(Step::Numbered("Stream", stream.stream_id.into()), |check| {
                        check.stream(&stream.stream_parms, is_set);
                    });
                }),
                None => {}
            }
        });
    }

    fn stream(&mut self, stream: &'m StreamParms<'m>, is_set: bool) {
        if let Some(control) = &stream.local_control_descriptor {
            self.below(Step::Descriptor("LocalControl"), |check| {
                check.each(&control.property_parms, |check, property| check.property(property, is_set));
            });
        }
        stream.statistics_descriptor.iter().for_each(|statistics| self.statistics(statistics));
    }

    fn events(&mut self, events: &'m EventsDescriptor<'m>) {
        self.below(Step::Descriptor("Events"), |check| {
            check.each(&events.event_list, |check, event| {
                check.event(&event.pkgd_name, &event.ev_par_list, Some(When::Requested));
                let Some(actions) = &event.event_action else { return };
                let then = (actions.second_event.as_ref(), actions.signals_descriptor.as_ref());
                check.then(&event.pkgd_name, then, actions.notify_behaviour.as_ref());
            });
        });
    }

    /// What comes of an event.
    fn then(
        &mut self,
        event: &'m Name<'m>,
        (events, signals): (Option<&'m SecondEventsDescriptor<'m>>, Option<&'m Vec<SignalRequest<'m>>>),
        notify: Option<&'m NotifyBehaviour<'m>>,
    ) {
        self.below(Step::Name(event), |check| {
            events.into_iter().for_each(|events| check.second_events(events));
            signals.into_iter().for_each(|signals| check.signals(signals));
            if let Some(NotifyBehaviour::NotifyRegulated(regulated)) = notify {
                regulated.second_event.iter().for_each(|events| check.second_events(events));
                regulated.signals_descriptor.iter().for_each(|signals| check.signals(signals));
            }
        });
    }

    fn second_events(&mut self, events: &'m SecondEventsDescriptor<'m>) {
        self.below(Step::Descriptor("Events"), |check| {
            check.each(&events.event_list, |check, event| {
                check.event(&event.pkgd_name, &event.ev_par_list, Some(When::Requested));
                let Some(actions) = &event.event_action else { return };
                let then = (None, actions.signals_descriptor.as_ref());
                check.then(&event.pkgd_name, then, actions.notify_behaviour.as_ref());
            });
        });
    }

    fn event_buffer(&mut self, events: &'m [crate::model::EventSpec<'m>]) {
        self.below(Step::Descriptor("EventBuffer"), |check| {
            check.each(events, |check, event| check.event(&event.event_name, &event.event_par_list, None));
        });
    }

    fn observed(&mut self, events: &'m ObservedEventsDescriptor<'m>) {
        self.below(Step::Descriptor("ObservedEvents"), |check| {
            check.each(&events.observed_event_lst, |check, event| {
                check.event(&event.event_name, &event.event_par_list, Some(When::Observed));
            });
        });
    }

    fn signals(&mut self, signals: &'m [SignalRequest<'m>]) {
        self.below(Step::Descriptor("Signals"), |check| {
            check.each(signals, |check, signal| match signal {
                SignalRequest::Signal(signal) => check.signal(signal),
                SignalRequest::SeqSigList(list) => {
                    check.below(Step::Numbered("SignalList", list.id.into()), |check| {
                        check.each(&list.signal_list, Self::signal);
                    });
                }
            });
        });
    }

    fn statistics(&mut self, statistics: &'m [StatisticsParameter<'m>]) {
        self.below(Step::Descriptor("Statistics"), |check| {
            check.each(statistics, |check, statistic| {
                check.item(Item::Statistic, &statistic.stat_name, |check, known| {
                    // Several values of a statistic are a list, without a mark.
                    let values = statistic.stat_value.as_ref().map_or(&[][..], |values| values);
                    check.values(known.of.as_ref(), values, Some(Extra::Sublist(true)));
                });
            });
        });
    }

    fn audit(&mut self, audit: &'m AuditDescriptor<'m>) {
        let Some(parts) = &audit.audit_property_token else { return };
        self.below(Step::Descriptor("Audit"), |check| check.each(parts, Self::audited));
    }

    fn audited(&mut self, part: &'m IndAuditParameter<'m>) {
        match part {
            IndAuditParameter::IndAudMediaDescriptor(media) => self.audited_media(media),
            IndAuditParameter::IndAudEventsDescriptor(event) => {
                self.below(Step::Descriptor("Events"), |check| check.event(&event.pkgd_name, &[], None));
            }
            IndAuditParameter::IndAudEventBufferDescriptor(event) => {
                self.below(Step::Descriptor("EventBuffer"), |check| {
                    check.item(Item::Event, &event.event_name, |check, known| {
                        if let Some(EventSpecParameter::Parameter(name)) = &event.stream_id {
                            check.parameter(known, name, (&[], None), None);
                        }
                    });
                });
            }
            IndAuditParameter::IndAudSignalsDescriptor(Some(signals)) => {
                let signal = match signals {
                    IndAudSignalsDescriptor::Signal(signal) => Some(signal),
                    IndAudSignalsDescriptor::SeqSigList(list) => list.signal_list.as_ref(),
                };
                self.below(Step::Descriptor("Signals"), |check| {
                    signal
                        .into_iter()
                        .for_each(|signal| check.item(Item::Signal, &signal.signal_name, |_, _| {}));
                });
            }
            IndAuditParameter::IndAudStatisticsDescriptor(statistic) => {
                self.below(Step::Descriptor("Statistics"), |check| {
                    check.item(Item::Statistic, &statistic.stat_name, |_, _| {});
                });
            }
            IndAuditParameter::IndAudPackagesDescriptor(package) => {
                self.below(Step::Descriptor("Packages"), |check| check.package(&package.package_name));
            }
            IndAuditParameter::IndAudSignalsDescriptor(None)
            | IndAuditParameter::IndAudDigitMapDescriptor(_) => {}
        }
    }

    fn audited_media(&mut self, media: &'m IndAudMediaDescriptor<'m>) {
        self.below(Step::Descriptor("Media"), |check| {
            if let Some(state) = &media.term_state_descr {
                check.below(Step::Descriptor("TerminationState"), |check| {
                    check.each(&state.property_parms, Self::audited_property);
                });
            }
            match &media.streams {
                Some(IndAudMediaStreams::OneStream(stream)) => check.audited_stream(stream),
                Some(IndAudMediaStreams::MultiStream(streams)) => check.each(streams, |check, stream| {
                    check.below(Step::Numbered("Stream", stream.stream_id.into()), |check| {
                        check.audited_stream(&stream.stream_parms);
                    });
                }),
                None => {}
            }
        });
    }

    fn audited_stream(&mut self, stream: &'m IndAudStreamParms<'m>) {
        let control = stream.local_control_descriptor.as_ref();
        if let Some(properties) = control.and_then(|control| control.property_parms.as_ref()) {
            self.below(Step::Descriptor("LocalControl"), |check| {
                check.each(properties, Self::audited_property);
            });
        }
        if let Some(statistic) = &stream.statistics_descriptor {
            self.below(Step::Descriptor("Statistics"), |check| {
                check.item(Item::Statistic, &statistic.stat_name, |_, _| {});
            });
        }
    }

    fn audited_property(&mut self, property: &'m IndAudPropertyParm<'m>) {
        match &property.property_parms {
            Some(selected) => self.property(selected, false),
            None => self.item(Item::Property, &property.name, |_, _| {}),
        }
    }

    fn property(&mut self, property: &'m PropertyParm<'m>, is_set: bool) {
        self.item(Item::Property, &property.name, |check, known| {
            if is_set && known.is_read_only {
                check.tell(Fault::ReadOnly);
            }
            check.values(known.of.as_ref(), &property.value, property.extra_info);
        });
    }

    fn event(&mut self, name: &'m Name<'m>, parameters: &'m [EventParameter<'m>], when: Option<When>) {
        self.item(Item::Event, name, |check, known| {
            check.each(parameters, |check, parameter| {
                let values = (&parameter.value[..], parameter.extra_info);
                check.parameter(known, &parameter.event_parameter_name, values, when);
            });
        });
    }

    fn signal(&mut self, signal: &'m Signal<'m>) {
        self.item(Item::Signal, &signal.signal_name, |check, known| {
            check.each(&signal.sig_par_list, |check, parameter| {
                let values = (&parameter.value[..], parameter.extra_info);
                check.parameter(known, &parameter.sig_parameter_name, values, None);
            });
        });
    }

    fn parameter(
        &mut self,
        of: &'p Definition,
        name: &'m Name<'m>,
        (values, extra): (&'m [Str<'m>], Option<Extra>),
        when: Option<When>,
    ) {
        let known = of.parameter_named(name);
        self.below(Step::Name(name), |check| match known {
            None if name.as_ref() == b"*" => {}
            None if check.is_partial => check.tell(Fault::ParameterNotKnown(of.item)),
            None => check.tell(Fault::UnknownParameter(of.item)),
            Some(known) => {
                match (known.when, when) {
                    (Some(right), Some(when)) if right != when => check.tell(Fault::Misplaced(right)),
                    _ => {}
                }
                check.values(known.of.as_ref(), values, extra);
            }
        });
    }

    fn package(&mut self, name: &'m Name<'m>) {
        if name.as_ref() != b"*" && self.packages.named(name).is_none() {
            self.unknown_package(name);
        }
    }

    fn unknown_package(&mut self, name: &'m [u8]) {
        if self.unknown.insert(name.to_ascii_lowercase()) {
            self.below(Step::Name(name), |check| check.tell(Fault::UnknownPackage));
        }
    }

    /// A property, event, signal or statistic, and what is to be checked of it if it is known.
    fn item(&mut self, item: Item, name: &'m Name<'m>, inner: impl FnOnce(&mut Self, &'p Definition)) {
        // A name without a package is one of annex C.
        let Some(slash) = memchr::memchr(b'/', name) else { return };
        let (package, local) = (&name[..slash], &name[slash + 1..]);
        if package == b"*" {
            return;
        }
        let Some(known) = self.packages.named(package) else { return self.unknown_package(package) };
        if local == b"*" {
            return;
        }
        if known.items.is_empty() {
            return;
        }
        let is_partial = known.is_partial;
        let known = self.packages.defined(known, item, local);
        self.below(Step::Name(name), |check| match known {
            Some(known) => {
                check.is_partial = is_partial;
                inner(check, known);
            }
            None if is_partial => check.tell(Fault::NotKnown(item)),
            None => check.tell(Fault::UnknownItem(item)),
        });
    }

    fn values(&mut self, of: Option<&Type>, values: &[Str<'_>], extra: Option<Extra>) {
        let Some(of) = of else { return };
        if extra == Some(Extra::Sublist(true)) && values.len() > 1 && !of.is_list() {
            return self.tell(Fault::List { expected: of.to_string() });
        }
        let is_wildcard = |value: &Str<'_>| matches!(&value[..], b"*" | b"$");
        for value in values.iter().filter(|value| !is_wildcard(value) && !of.takes(value)) {
            self.tell(Fault::Value { value: Shown(value).to_string(), expected: of.to_string() });
        }
    }
}
