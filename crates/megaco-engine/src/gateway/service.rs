//! Changes of service, by the controller and by the gateway (H.248.1 7.2.8), and the root package.

use std::time::Duration;

use tercet_megaco::List;
use tercet_megaco::model::{
    CONTEXT_NULL, Command, CommandReply, ObservedEvent, PropertyParm, ServiceChangeMethod, ServiceChangeParm,
    ServiceChangeReply, ServiceChangeRequest, ServiceChangeResParm, ServiceChangeResult, ServiceState,
};
use tercet_megaco::{Name, Str};

use super::termination::key;
use super::{Failure, ROOT, VirtualGateway};
use crate::items::{Items, Limit};
use crate::time::{Period, Time, Timer};

const RESTORED: &str = "900 Service Restored";
const OUT_OF_SERVICE: &str = "905 Termination Taken Out Of Service";
const GRACE_CANCELLED: &str = "918 Cancel Graceful";
/// The event that the controller is silent (H.248.14).
const INACTIVITY: &str = "it/ito";
/// How long it may be silent if the controller does not say, in units of 10 ms.
const DEFAULT_INACTIVITY: u32 = 12_000;

impl VirtualGateway {
    /// Changes the service of a termination, or of the whole gateway as `root`; the controller is told.
    ///
    /// Graceful takes it out of service after the delay, Forced at once, and Restart brings it back, or cancels a Graceful whose
    /// delay is not over.
    ///
    /// # Errors
    /// The termination is not known, or the method is one of associations.
    pub fn change_service(
        &mut self,
        now: Time,
        termination: &str,
        method: ServiceChangeMethod,
        delay: Duration,
    ) -> Result<(), Failure> {
        self.handle_timeout(now);
        let name = key(termination.as_bytes());
        let found = self.termination(&name).ok_or(Failure(430))?;
        let reason = match method {
            ServiceChangeMethod::Restart if found.goes_out.is_some() => GRACE_CANCELLED,
            ServiceChangeMethod::Restart => RESTORED,
            ServiceChangeMethod::Graceful | ServiceChangeMethod::Forced => OUT_OF_SERVICE,
            _ => return Err(Failure(449)),
        };
        let (context, id) = (self.context_of(&name), found.id());
        let is_graceful = method == ServiceChangeMethod::Graceful;
        let seconds = u32::try_from(delay.as_secs()).unwrap_or(u32::MAX);
        self.change(&name, method, delay);
        let parms = ServiceChangeParm {
            service_change_method: method,
            service_change_address: None,
            service_change_version: None,
            service_change_profile: None,
            service_change_reason: List::One(Str::from(reason)),
            service_change_delay: is_graceful.then_some(seconds),
            service_change_mgc_id: None,
            time_stamp: None,
            non_standard_data: None,
            service_change_info: None,
            service_change_incomplete_flag: None,
        };
        let request =
            ServiceChangeRequest { termination_id: List::One(id), service_change_parms: Box::new(parms) };
        self.ask(context, Command::ServiceChangeReq(request));
        Ok(())
    }

    fn change(&mut self, name: &[u8], method: ServiceChangeMethod, delay: Duration) {
        let now = self.now;
        let Some(found) = self.termination_mut(name) else { return };
        found.goes_out = None;
        match method {
            ServiceChangeMethod::Graceful if !delay.is_zero() => found.goes_out = Some(now.after(delay)),
            ServiceChangeMethod::Graceful | ServiceChangeMethod::Forced => {
                found.service_state = ServiceState::OutOfSvc;
            }
            _ => found.service_state = ServiceState::InSvc,
        }
        self.note_due(name);
    }

    /// The delay of a Graceful is over.
    pub(super) fn service_due(&mut self, name: &[u8]) {
        let now = self.now;
        if let Some(found) = self.termination_mut(name)
            && found.goes_out.is_some_and(|at| at <= now)
        {
            found.goes_out = None;
            found.service_state = ServiceState::OutOfSvc;
        }
    }

    /// ServiceChange of the controller.
    pub(super) fn service_change_command(
        &mut self,
        context: u32,
        request: &ServiceChangeRequest<'_>,
    ) -> Result<Vec<CommandReply<'static>>, Failure> {
        let names = self.matches(context, &request.termination_id)?;
        let parms = &request.service_change_parms;
        let mut replies = Vec::with_capacity(names.len());
        for name in names {
            let mut answer = ServiceChangeResParm::default();
            if name == ROOT {
                answer.service_change_version =
                    parms.service_change_version.map(|version| version.min(self.options.max_version));
            }
            match parms.service_change_method {
                // What becomes of the association is not the gateway's model to decide.
                ServiceChangeMethod::HandOff
                | ServiceChangeMethod::Failover
                | ServiceChangeMethod::Disconnected => {
                    if name != ROOT {
                        return Err(Failure(449));
                    }
                }
                method => {
                    let seconds = parms.service_change_delay.unwrap_or(0);
                    self.change(&name, method, Duration::from_secs(seconds.into()));
                }
            }
            let Some(found) = self.termination(&name) else { continue };
            replies.push(CommandReply::ServiceChangeReply(ServiceChangeReply {
                termination_id: List::One(found.id()),
                service_change_result: ServiceChangeResult::ServiceChangeResParms(Box::new(answer)),
            }));
        }
        Ok(replies)
    }

    /// Gives the root package its properties that only the gateway sets.
    pub(super) fn set_root_limits(&mut self) {
        let limits = [
            ("root/maxnumberofcontexts", self.options.max_contexts),
            ("root/maxterminationspercontext", self.options.max_in_context),
        ];
        for (name, value) in limits {
            self.root.properties.push(PropertyParm {
                name: Name::from(name),
                value: List::One(Str::from(value.to_string().into_bytes())),
                extra_info: None,
            });
        }
        self.root.context = CONTEXT_NULL;
    }

    /// The controller has set something of the whole gateway.
    pub(super) fn root_changed(&mut self) {
        self.is_configured = true;
        self.has_inactivity |= self.inactivity().is_some();
    }

    /// How long the controller may be silent, if it has asked for `it/ito` (H.248.14): the parameter `mit` in units of 10 ms.
    fn inactivity(&self) -> Option<Period> {
        let events = &self.root.events.event_list;
        let asked = events.iter().find(|event| event.pkgd_name == *INACTIVITY)?;
        let time = asked.ev_par_list.iter().find(|parameter| parameter.event_parameter_name == *"mit");
        let units = time.and_then(|time| std::str::from_utf8(time.value.first()?).ok()?.parse::<u32>().ok());
        Some(Period::millis(units.unwrap_or(DEFAULT_INACTIVITY).max(1).saturating_mul(10)))
    }

    /// Reports that the controller has been silent for `idle_timer`: it is notified, if it has asked for that. If it does not
    /// answer, it has failed.
    pub fn controller_is_silent(&mut self, now: Time) {
        self.handle_timeout(now);
        if self.inactivity().is_some() {
            let observed = ObservedEvent {
                event_name: Name::from(INACTIVITY),
                stream_id: None,
                event_par_list: Vec::new(),
                time_notation: None,
            };
            self.happens(ROOT, observed);
        }
    }

    /// Returns whether the controller has set properties of the gateway since the last call.
    pub fn take_configured(&mut self) -> bool {
        std::mem::take(&mut self.is_configured)
    }

    /// Sets the items of the engine that the properties of the root package are about (E.2): how long the controller takes for a
    /// request, when Pendings are sent, and how many of them there may be. `idle_timer` is the time of `it/ito` (H.248.14).
    pub fn configure(&self, items: &mut Items) {
        let value = |name: &str| {
            let property = self.root.properties.iter().find(|property| property.name == *name)?;
            std::str::from_utf8(property.value.first()?).ok()?.parse::<u32>().ok()
        };
        if let Some(millis) = value("root/normalMGCExecutionTime").filter(|&millis| millis > 0) {
            items.request_timer = match items.request_timer {
                Timer::Incremental { factor, increment, retries, .. } => {
                    Timer::Incremental { wait: millis, factor, increment, retries }
                }
                Timer::Plain(_) => Timer::Plain(Period::millis(millis)),
            };
        }
        if let Some(millis) = value("root/MGProvisionalResponseTimerValue").filter(|&millis| millis > 0) {
            items.pending_timer = Timer::Incremental {
                wait: millis,
                factor: 1,
                increment: 0,
                retries: crate::time::Retries::Infinite,
            };
        }
        if self.has_inactivity {
            items.idle_timer = self.inactivity().unwrap_or(Period::INFINITE);
        }
        if let Some(limit) = value("root/MGOriginatedPendingLimit") {
            items.sent_pending_limit = Limit::of(limit);
        }
        if let Some(limit) = value("root/MGCOriginatedPendingLimit") {
            items.recv_pending_limit = Limit::of(limit);
        }
    }
}
