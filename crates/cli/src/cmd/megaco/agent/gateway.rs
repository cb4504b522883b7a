//! What answers requests: plausible answers of a controller, or a gateway with contexts and terminations.

use super::control::Change;
use super::run::Agent;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tercet_megaco::model::{ActionRequest, ServiceChangeMethod, TransactionResult};
use tercet_megaco_engine::{Answers, ConnId, Failure, GatewayOptions, RequestOptions, Time, VirtualGateway};

pub(super) enum Answering {
    Plausible(Answers),
    Gateway(Box<VirtualGateway>),
}

/// A gateway whose events have the time of day.
pub(super) fn new(max_version: u8, terminations: u32) -> VirtualGateway {
    let mut options = GatewayOptions::default();
    options.max_version = max_version;
    options.terminations = terminations;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    options.epoch_millis = u64::try_from(now.as_millis()).unwrap_or(0);
    VirtualGateway::new(options)
}

impl Answering {
    pub(super) fn answer<'r>(
        &mut self,
        now: Time,
        actions: &'r [ActionRequest<'_>],
    ) -> TransactionResult<'r> {
        match self {
            Self::Plausible(answers) => answers.answer(actions),
            Self::Gateway(gateway) => gateway.execute(now, actions),
        }
    }

    /// When something is due at a termination.
    pub(super) fn due(&self) -> Option<Time> {
        match self {
            Self::Plausible(_) => None,
            Self::Gateway(gateway) => gateway.poll_timeout(),
        }
    }
}

impl Agent {
    /// Sends what the gateway has to tell its controller; before it is registered that waits.
    pub(super) fn tell_controller(&mut self) {
        let now = self.driver.now();
        let is_registered = self.registration.is_some() && self.desk.waiting.is_none();
        let Answering::Gateway(gateway) = &mut self.desk.answers else { return };
        gateway.handle_timeout(now);
        let Some(conn) = self.current.filter(|_| is_registered) else { return };
        while let Some(actions) = gateway.poll_request() {
            // What cannot be encoded in the version of the controller is lost, like an event that nobody asked for.
            _ = self.driver.engine.request(now, conn, [actions], &RequestOptions::default());
        }
    }

    /// Sets what the controller has set by properties of the root package.
    pub(super) fn configure(&mut self, conn: ConnId) {
        let Answering::Gateway(gateway) = &mut self.desk.answers else { return };
        if gateway.take_configured()
            && let Some(mut items) = self.driver.engine.conn_items(conn).cloned()
        {
            gateway.configure(&mut items);
            _ = self.driver.engine.set_conn_items(conn, items);
        }
    }

    /// Something happens at a termination.
    pub(super) fn change(&mut self, change: &Change) -> Result<(), String> {
        let now = self.driver.now();
        let Answering::Gateway(gateway) = &mut self.desk.answers else {
            return Err("only a gateway has terminations".to_owned());
        };
        let done = match change {
            Change::Event { termination, event, parameters } => {
                let parameters: Vec<(&str, &str)> =
                    parameters.iter().map(|(name, value)| (&**name, &**value)).collect();
                gateway.event(now, termination, event, &parameters)
            }
            Change::Digits { termination, digits } => {
                digits.chars().try_for_each(|digit| gateway.digit(now, termination, digit))
            }
            Change::Service { termination, method, delay } => {
                let method = match &**method {
                    "graceful" => ServiceChangeMethod::Graceful,
                    "forced" => ServiceChangeMethod::Forced,
                    "restart" => ServiceChangeMethod::Restart,
                    other => {
                        let known = ["graceful", "forced", "restart"];
                        return Err(tercet::suggest::unknown("method", other, known));
                    }
                };
                gateway.change_service(now, termination, method, Duration::from_secs(*delay))
            }
        };
        done.map_err(|failure: Failure| failure.to_string())
    }
}
