//! The registration of a gateway with one of its controllers (H.248.1 11.2 to 11.5): which controller is tried next, by which
//! method of ServiceChange, and in which version.

use tercet_megaco::List;
use tercet_megaco::Str;
use tercet_megaco::model::{
    ActionRequest, CONTEXT_NULL, Command, CommandReply, CommandRequest, IntoOwned, MId, ServiceChangeAddress,
    ServiceChangeMethod, ServiceChangeParm, ServiceChangeRequest, ServiceChangeResult, TimeNotation,
    Transaction, TransactionResult,
};

use crate::event::Outcome;
use crate::time::{Period, Timer};
use crate::wire;

/// What follows from the result of a registration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The gateway is registered; messages are in this version.
    Registered {
        /// The negotiated version.
        version: u8,
        /// Where the controller wants further requests, if it says so.
        address: Option<ServiceChangeAddress<'static>>,
    },
    /// The controller sent the gateway to another one, which has to be registered with.
    Redirected {
        /// The mid of that controller, which is its address.
        mid: MId<'static>,
    },
    /// The controller of [`Registrar::target`] is to be tried after so long.
    Retry {
        /// How long to wait.
        wait: Period,
    },
}

/// Registers a gateway with the first controller of a list that accepts it, again and again.
#[derive(Clone, Debug)]
pub struct Registrar {
    targets: usize,
    target: usize,
    /// How many controllers have failed since one was reached.
    failures: usize,
    /// How many controllers have sent the gateway on, one after the other.
    redirections: usize,
    max_version: u8,
    version: u8,
    method: ServiceChangeMethod,
    reason: &'static str,
}

const COLD_BOOT: &str = "901 Cold Boot";
const SERVICE_RESTORED: &str = "900 Service Restored";
const MGC_FAILURE: &str = "909 MGC Impending Failure";
const DIRECTED_CHANGE: &str = "903 MGC Directed Change";
/// The pause before the list of controllers is tried from its begin again, and the longest one, in milliseconds.
const FIRST_PAUSE: u32 = 1000;
const LONGEST_PAUSE: u32 = 30_000;
/// How long a registration waits for a reply if `request_timer` has no end: the order of T-MAX (D.1.4), in milliseconds.
const LONGEST_WAIT: u64 = 30_000;
/// Controllers that may send a gateway on one after the other: those that name each other would do so for ever.
const MOST_REDIRECTIONS: usize = 8;

impl Registrar {
    /// A gateway that has started and knows so many controllers, at least one.
    pub fn new(targets: usize, max_version: u8) -> Self {
        Self {
            targets: targets.max(1),
            target: 0,
            failures: 0,
            redirections: 0,
            max_version,
            version: max_version,
            method: ServiceChangeMethod::Restart,
            reason: COLD_BOOT,
        }
    }

    /// Returns the place in the list of the controller to register with.
    pub const fn target(&self) -> usize {
        self.target
    }

    /// Returns the ServiceChange to send, with the time of day if it is known; its message is in version 1, which every controller
    /// reads (11.3).
    pub fn request(&self, time: Option<TimeNotation>) -> List<ActionRequest<'static>> {
        let parms = ServiceChangeParm {
            service_change_method: self.method,
            service_change_address: None,
            service_change_version: Some(self.version),
            service_change_profile: None,
            service_change_reason: List::One(Str::from(self.reason)),
            service_change_delay: None,
            service_change_mgc_id: None,
            time_stamp: time,
            non_standard_data: None,
            service_change_info: None,
            service_change_incomplete_flag: None,
        };
        let request = ServiceChangeRequest {
            termination_id: List::One("root".into()),
            service_change_parms: Box::new(parms),
        };
        let command = CommandRequest {
            command: Command::ServiceChangeReq(request),
            optional: None,
            wildcard_return: None,
        };
        List::One(ActionRequest {
            context_id: CONTEXT_NULL,
            context_request: None,
            context_attr_audit_req: None,
            command_requests: List::One(command),
        })
    }

    /// Returns the timer of a registration: that of requests, with as many retries as end in time.
    pub fn timer(&self, request_timer: Timer) -> Timer {
        let Timer::Incremental { wait, factor, increment, .. } = request_timer else {
            return match request_timer {
                Timer::Plain(period) if period == Period::INFINITE => Timer::millis(LONGEST_WAIT as u32),
                timer => timer,
            };
        };
        if request_timer.total_millis().is_some() {
            return request_timer;
        }
        let with = |times| Timer::Incremental {
            wait,
            factor,
            increment,
            retries: crate::time::Retries::Times(times),
        };
        let ends = |times: &u32| with(*times).total_millis().is_some_and(|total| total <= LONGEST_WAIT);
        with((0..16).take_while(ends).last().unwrap_or(0))
    }

    /// Decides what follows from the result of a registration.
    pub fn result(&mut self, outcome: &Outcome) -> Verdict {
        match outcome {
            Outcome::Reply(replies) => {
                let Some(reply) = replies.first() else { return self.failed() };
                let header = reply.message.decode().map_or(1, |message| message.mess.version);
                let transactions = reply.message.transactions();
                let Some(Transaction::TransactionReply(reply)) = transactions.get(reply.index) else {
                    return self.failed();
                };
                let TransactionResult::ActionReplies(actions) = &reply.transaction_result else {
                    return self.failed();
                };
                let mut replies = actions.iter().flat_map(|action| action.command_reply.iter());
                let result = replies.find_map(|reply| match reply {
                    CommandReply::ServiceChangeReply(reply) => Some(&reply.service_change_result),
                    _ => None,
                });
                match result {
                    Some(ServiceChangeResult::ServiceChangeResParms(parms)) => {
                        if let Some(mid) = &parms.service_change_mgc_id {
                            if self.redirections >= MOST_REDIRECTIONS {
                                return self.failed();
                            }
                            self.redirections += 1;
                            return Verdict::Redirected { mid: wire::into_owned(wire::borrow(mid)) };
                        }
                        // A controller that names no version speaks that of its message.
                        let version = parms.service_change_version.unwrap_or(header);
                        let address = parms.service_change_address.clone().map(IntoOwned::into_owned);
                        self.accepted(version, address)
                    }
                    Some(ServiceChangeResult::ErrorDescriptor(error)) => self.refused(error.error_code),
                    None => {
                        let error = actions.iter().find_map(|action| action.error_descriptor.as_ref());
                        self.refused(error.map_or(500, |error| error.error_code))
                    }
                }
            }
            Outcome::Error { code, .. } => self.refused(*code),
            _ => self.failed(),
        }
    }

    /// Decides what follows from an error: after 406 the next lower version, after others the next controller.
    pub fn refused(&mut self, code: u16) -> Verdict {
        if code == 406 && self.version > 1 {
            self.version -= 1;
            return Verdict::Retry { wait: Period::millis(0) };
        }
        self.failed()
    }

    /// Decides what follows if a controller cannot be reached: the next one of the list is tried, after its end its begin.
    pub fn failed(&mut self) -> Verdict {
        self.failures += 1;
        self.redirections = 0;
        self.version = self.max_version;
        self.target = (self.target + 1) % self.targets;
        let had_controller =
            matches!(self.method, ServiceChangeMethod::Disconnected | ServiceChangeMethod::HandOff);
        if had_controller && self.targets > 1 {
            (self.method, self.reason) = (ServiceChangeMethod::Failover, MGC_FAILURE);
        }
        let rounds = self.failures / self.targets;
        let wait = if self.failures.is_multiple_of(self.targets) {
            (FIRST_PAUSE << (rounds - 1).min(5)).min(LONGEST_PAUSE)
        } else {
            0
        };
        Verdict::Retry { wait: Period::millis(wait) }
    }

    /// The controller does not answer any more: the same one is tried first, then the others (11.5).
    pub const fn lost(&mut self) {
        self.version = self.max_version;
        (self.method, self.reason) = (ServiceChangeMethod::Disconnected, SERVICE_RESTORED);
    }

    /// The controller sends the gateway to another one, at this place of the list or behind its end (11.5).
    pub fn handed_off(&mut self, target: usize) {
        self.go_to(target);
        self.version = self.max_version;
        (self.method, self.reason) = (ServiceChangeMethod::HandOff, DIRECTED_CHANGE);
    }

    /// The controller answered with the name of another one, at this place of the list or behind its end; it is tried by the same
    /// method (11.2).
    pub fn redirected(&mut self, target: usize) {
        self.go_to(target);
    }

    fn go_to(&mut self, target: usize) {
        self.targets = self.targets.max(target + 1);
        self.target = target;
    }

    fn accepted(&mut self, version: u8, address: Option<ServiceChangeAddress<'static>>) -> Verdict {
        if !(1..=self.max_version).contains(&version) {
            return self.failed();
        }
        (self.failures, self.redirections) = (0, 0);
        Verdict::Registered { version, address }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Received, Reply};
    use crate::wire::Registry;
    use tercet_megaco::codec::Encoding;

    fn reply(message: &str) -> Outcome {
        let message = Received::new(message.as_bytes().into(), Encoding::Compact, Registry::default());
        Outcome::Reply(vec![Reply { message, index: 0, segment: None }])
    }

    fn method(registrar: &Registrar) -> (ServiceChangeMethod, u8) {
        let request = registrar.request(None);
        let parms = crate::registration(&request).unwrap();
        (parms.service_change_method, parms.service_change_version.unwrap())
    }

    #[test]
    fn versions_are_negotiated() {
        for (message, expected) in [
            ("!/1 <c> P=1{C=-{SC=ROOT{SV{V=2}}}}", Some(2)),
            ("!/1 <c> P=1{C=-{SC=ROOT}}", Some(1)),
            ("!/3 <c> P=1{C=-{SC=ROOT}}", Some(3)),
            ("!/3 <c> P=1{C=-{SC=ROOT{SV{AD=55}}}}", Some(3)),
            ("!/1 <c> P=1{C=-{SC=ROOT{SV{V=9}}}}", None),
            ("!/1 <c> P=1{C=-{SC=ROOT{ER=500{}}}}", None),
            ("!/1 <c> P=1{C=-{ER=500{}}}", None),
        ] {
            let verdict = Registrar::new(1, 3).result(&reply(message));
            let expected = match expected {
                Some(version) => {
                    let address = message.contains("AD=55").then_some(ServiceChangeAddress::PortNumber(55));
                    Verdict::Registered { version, address }
                }
                None => Verdict::Retry { wait: Period::millis(1000) },
            };
            assert_eq!(verdict, expected, "{message}");
        }
        let mut registrar = Registrar::new(1, 3);
        for version in [3, 2] {
            assert_eq!(method(&registrar), (ServiceChangeMethod::Restart, version));
            assert_eq!(registrar.refused(406), Verdict::Retry { wait: Period::millis(0) });
        }
        assert_eq!(method(&registrar).1, 1);
        assert_eq!(registrar.refused(406), Verdict::Retry { wait: Period::millis(1000) });
        assert_eq!(method(&registrar).1, 3);
    }

    #[test]
    fn controllers_are_tried_in_turn() {
        let mut registrar = Registrar::new(2, 3);
        let mut all = Vec::new();
        for _ in 0..5 {
            let Verdict::Retry { wait } = registrar.result(&Outcome::Timeout) else { panic!() };
            all.push((registrar.target(), wait.as_millis().unwrap()));
        }
        assert_eq!(all, [(1, 0), (0, 1000), (1, 0), (0, 2000), (1, 0)]);
        let registered = Verdict::Registered { version: 1, address: None };
        assert_eq!(registrar.result(&reply("!/1 <c> P=1{C=-{SC=ROOT}}")), registered);
        registrar.lost();
        assert_eq!((registrar.target(), method(&registrar).0), (1, ServiceChangeMethod::Disconnected));
        registrar.failed();
        assert_eq!((registrar.target(), method(&registrar).0), (0, ServiceChangeMethod::Failover));
        registrar.handed_off(2);
        assert_eq!((registrar.target(), method(&registrar).0), (2, ServiceChangeMethod::HandOff));
        let redirected = registrar.result(&reply("!/1 <c> P=1{C=-{SC=ROOT{SV{MG=[192.0.2.9]:55}}}}"));
        assert!(matches!(redirected, Verdict::Redirected { mid: MId::Ip4Address(_) }), "{redirected:?}");
        // The controller that it was handed to does not answer: its own one is as good as lost.
        registrar.failed();
        assert_eq!((registrar.target(), method(&registrar).0), (0, ServiceChangeMethod::Failover));
    }

    #[test]
    fn controllers_that_name_each_other() {
        let mut registrar = Registrar::new(2, 3);
        let other = reply("!/1 <c> P=1{C=-{SC=ROOT{SV{MG=[192.0.2.9]:55}}}}");
        for place in 0..MOST_REDIRECTIONS {
            assert!(matches!(registrar.result(&other), Verdict::Redirected { .. }));
            registrar.redirected(place % 2);
        }
        assert_eq!(registrar.result(&other), Verdict::Retry { wait: Period::millis(0) });
        assert!(matches!(registrar.result(&other), Verdict::Redirected { .. }), "the next one begins anew");
    }

    #[test]
    fn a_registration_ends() {
        let registrar = Registrar::new(1, 3);
        for (timer, expected) in [
            ("7s*2+0xinf", "7s*2+0x1"),
            ("300ms*2+0x3", "300ms*2+0x3"),
            ("5s", "5s"),
            ("inf", "30s"),
            ("40s*2+0xinf", "40s*2+0x0"),
        ] {
            assert_eq!(registrar.timer(timer.parse().unwrap()).to_string(), expected);
        }
    }
}
