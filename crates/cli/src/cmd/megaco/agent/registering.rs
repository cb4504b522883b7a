//! The registration of a gateway: what it sends to its controllers, and what follows from their answers.

use super::gateway::Answering;
use super::jobs::Task;
use super::run::{Agent, LOST_AFTER};
use crate::term;
use std::collections::{HashMap, HashSet};
use std::time::Duration;
use tercet_megaco::model::{ActionRequest, MId, ServiceChangeMethod};
use tercet_megaco_engine::driver::Url;
use tercet_megaco_engine::{
    ConnId, Outcome as Ending, Period, Registrar, RequestOptions, Route, Transport, Verdict, registration,
};
use tercet_printable::printable;

/// What a gateway is at with its controllers.
pub(super) struct Registration {
    urls: Vec<Url>,
    registrar: Registrar,
    pub(super) mwd: Period,
    /// Connections by the way to their controllers.
    conns: HashMap<Route, ConnId>,
    /// Whether the first registration has begun.
    has_begun: bool,
    /// Whether the gateway has no controller and looks for one.
    pub(super) seeks: bool,
    /// The stream of the registration that waits for its reply, or was refused, and the place of its controller.
    trying: Option<(usize, Route)>,
    /// The stream to the controller that the gateway is registered with, and the place of that one.
    settled: Option<(usize, Route)>,
    /// Streams that the gateway has closed: their end is not the loss of a controller.
    left: HashSet<Route>,
    /// Complaints that the user has read.
    told: HashSet<String>,
}

/// Controllers that a gateway knows, with those that others have named.
const MOST_CONTROLLERS: usize = 64;

impl Registration {
    pub(super) fn new(urls: Vec<Url>, max_version: u8, mwd: Period) -> Self {
        let registrar = Registrar::new(urls.len(), max_version);
        let (conns, left) = (HashMap::new(), HashSet::new());
        Self {
            urls,
            registrar,
            mwd,
            conns,
            has_begun: false,
            seeks: true,
            trying: None,
            settled: None,
            left,
            told: HashSet::new(),
        }
    }

    /// Reports that a controller has no use, once for each reason until one accepts.
    fn complain(&mut self, place: usize, why: &str) {
        let Some(url) = self.urls.get(place) else { return };
        let text = format!("{url}: not registered: {why}");
        if self.told.insert(text.clone()) {
            term::warning(printable(&text));
        }
    }

    /// Decides what follows from the result of a registration.
    pub(super) fn result(&mut self, outcome: &Ending) -> Verdict {
        let why = match outcome {
            Ending::Reply(_) => "refused".to_owned(),
            Ending::Timeout => "no answer".to_owned(),
            Ending::Error { code, .. } => refused_with(*code),
            Ending::SendFailed(reason) => reason.clone(),
            _ => "the stream was closed".to_owned(),
        };
        let place = self.registrar.target();
        let verdict = self.registrar.result(outcome);
        self.judged(place, &why, verdict)
    }

    /// Complains about a controller that is given up: one that asks for another version is not.
    fn judged(&mut self, place: usize, why: &str, verdict: Verdict) -> Verdict {
        let is_asked_again = |wait: Period| wait == Period::millis(0) && self.registrar.target() == place;
        if matches!(verdict, Verdict::Retry { wait } if !is_asked_again(wait)) {
            self.complain(place, why);
        }
        verdict
    }

    /// Forgets a stream that is closed. Returns whether the gateway has closed it.
    fn closed(&mut self, route: Route) -> bool {
        self.conns.retain(|known, _| known.transport == Transport::Udp || known.link != route.link);
        _ = self.trying.take_if(|(_, known)| *known == route);
        _ = self.settled.take_if(|(_, known)| *known == route);
        self.left.remove(&route)
    }

    /// The place in the list of a controller that another one has named; nothing if there are too many.
    fn place(&mut self, url: Url) -> Option<usize> {
        let known = self.urls.iter().position(|known| *known == url);
        if known.is_none() && self.urls.len() < MOST_CONTROLLERS {
            self.urls.push(url);
            return Some(self.urls.len() - 1);
        }
        known
    }
}

impl Agent {
    /// Registers for the first time: the wait for it is over, or something has happened at the gateway (11.2).
    pub(super) async fn begin_to_register(&mut self) {
        if let Some(registration) = &mut self.registration
            && !std::mem::replace(&mut registration.has_begun, true)
        {
            self.register().await;
        }
    }

    /// Something happens at a gateway: if it waits before its first registration, the wait is over.
    pub(super) fn is_active(&mut self) {
        if self.registration.as_ref().is_some_and(|registration| !registration.has_begun) {
            self.schedule(Duration::ZERO, Task::Begin);
        }
    }

    /// Sends the ServiceChange that is next.
    pub(super) async fn register(&mut self) {
        let Some(registration) = &mut self.registration else { return };
        if self.desk.waiting.is_some() {
            return;
        }
        let place = registration.registrar.target().min(registration.urls.len() - 1);
        // The stream that is open is tried first.
        let is_there = |stream: &mut (usize, Route)| stream.0 == place;
        let open = registration.trying.take_if(is_there).or_else(|| registration.settled.take_if(is_there));
        let open = open.map(|(_, route)| route);
        self.leave();
        let Some(registration) = &mut self.registration else { return };
        let opened = match open {
            Some(route) => Ok(route),
            None => self.driver.open(self.user, &registration.urls[place], &self.tls).await,
        };
        let route = match opened {
            Ok(route) => route,
            Err(error) => {
                registration.complain(place, &error.to_string());
                let verdict = registration.registrar.failed();
                return self.follow(verdict);
            }
        };
        let now = self.driver.now();
        let known = registration.conns.get(&route).copied();
        let known = known.filter(|conn| self.driver.engine.set_route(*conn, route).is_ok());
        let conn = match known {
            Some(conn) => conn,
            None => match self.driver.engine.connect(now, self.user, None, route) {
                Ok(conn) => conn,
                Err(_) => {
                    self.driver.close(route);
                    let verdict = registration.registrar.failed();
                    return self.follow(verdict);
                }
            },
        };
        registration.conns.insert(route, conn);
        registration.trying = (route.transport != Transport::Udp).then_some((place, route));
        _ = self.driver.engine.set_registering(conn, true);
        let mut options = RequestOptions::default();
        options.version = Some(1);
        options.at_once = true;
        options.request_timer = Some(registration.registrar.timer(self.items.request_timer));
        let time = match &self.desk.answers {
            Answering::Gateway(gateway) => Some(gateway.time_of_day(now)),
            Answering::Plausible(_) => None,
        };
        let actions = registration.registrar.request(time);
        match self.driver.engine.request(now, conn, [actions], &options) {
            Ok(requests) => self.desk.waiting = requests.first().map(|request| (request.0, conn)),
            Err(_) => {
                let verdict = registration.registrar.failed();
                self.leave();
                self.follow(verdict);
            }
        }
    }

    /// Closes the stream of a registration that has failed: the next one opens another. After a refusal the same controller is asked
    /// again on the same stream.
    pub(super) fn leave(&mut self) {
        let trying = self.registration.as_mut().and_then(|registration| registration.trying.take());
        self.close_stream(trying.map(|(_, route)| route));
    }

    /// The stream of the registration is that to the controller now; the one before is closed.
    pub(super) fn settle(&mut self) {
        let Some(registration) = &mut self.registration else { return };
        registration.seeks = false;
        registration.told.clear();
        let before = std::mem::replace(&mut registration.settled, registration.trying.take());
        self.close_stream(before.map(|(_, route)| route));
    }

    fn close_stream(&mut self, route: Option<Route>) {
        if let Some(registration) = &mut self.registration
            && let Some(route) = route
        {
            registration.left.insert(route);
            self.driver.close(route);
        }
    }

    pub(super) fn follow(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::Registered { .. } => {}
            Verdict::Redirected { mid } => {
                let url = self.current_url().and_then(|url| url_of(&mid, &url));
                let Some(registration) = &mut self.registration else { return };
                match url.and_then(|url| registration.place(url)) {
                    Some(place) => {
                        registration.registrar.redirected(place);
                        self.schedule(Duration::ZERO, Task::Register);
                    }
                    None => {
                        let verdict = registration.registrar.failed();
                        self.follow(verdict);
                    }
                }
            }
            Verdict::Retry { wait } => {
                let wait = Duration::from_millis(wait.as_millis().unwrap_or(u32::MAX).into());
                self.schedule(wait, Task::Register);
            }
        }
    }

    fn current_url(&self) -> Option<Url> {
        let registration = self.registration.as_ref()?;
        registration.urls.get(registration.registrar.target()).cloned()
    }

    /// Somebody refused a message of ours; if it is the controller that is to answer the registration, its result is this.
    pub(super) fn refused(&mut self, code: u16, route: Route) {
        let Some(registration) = &mut self.registration else { return };
        let waits = |conn| self.driver.engine.route(conn).is_some_and(|waits| waits.peer == route.peer);
        if let Some((_, conn)) = self.desk.waiting.take_if(|(_, conn)| waits(*conn)) {
            let place = registration.registrar.target();
            let verdict = registration.registrar.refused(code);
            let verdict = registration.judged(place, &refused_with(code), verdict);
            let now = self.driver.now();
            _ = self.driver.engine.set_registering(conn, false);
            _ = self.driver.engine.cancel(now, conn);
            self.follow(verdict);
        }
    }

    pub(super) fn hand_off(&mut self, mid: MId<'static>) {
        let Some(url) = self.current_url().and_then(|url| url_of(&mid, &url)) else { return };
        if let Some(registration) = &mut self.registration
            && let Some(place) = registration.place(url)
        {
            registration.registrar.handed_off(place);
            registration.seeks = true;
            self.schedule(Duration::ZERO, Task::Register);
        }
    }

    /// A stream is closed. If it was the way to the controller, the gateway registers again (11.5); a registration that waits for
    /// its reply there has failed.
    pub(super) fn closed(&mut self, route: Route, conns: &[ConnId]) {
        let Some(registration) = &mut self.registration else { return };
        let was_left = registration.closed(route);
        match self.desk.waiting {
            Some((_, waiting)) if conns.contains(&waiting) => {
                let now = self.driver.now();
                _ = self.driver.engine.cancel(now, waiting);
            }
            Some(_) => {}
            None if was_left => {}
            None if self.current.is_some_and(|conn| conns.contains(&conn)) => {
                self.schedule(LOST_AFTER, Task::Lost);
            }
            None => {}
        }
    }

    pub(super) fn lost(&mut self) {
        if let Some(registration) = &mut self.registration
            && self.desk.waiting.is_none()
        {
            registration.registrar.lost();
            registration.seeks = true;
            self.schedule(Duration::ZERO, Task::Register);
        }
    }
}

fn refused_with(code: u16) -> String {
    format!("refused with error {code}")
}

/// The controller that a ServiceChange of ours sends a gateway to.
pub(super) fn hand_off(actions: &[ActionRequest<'_>]) -> Option<MId<'static>> {
    let parms = registration(actions)?;
    if parms.service_change_method != ServiceChangeMethod::HandOff {
        return None;
    }
    match parms.service_change_mgc_id.as_ref()? {
        MId::Ip4Address(address) => Some(MId::Ip4Address(address.clone())),
        MId::Ip6Address(address) => Some(MId::Ip6Address(address.clone())),
        MId::DomainName(domain) => Some(MId::DomainName(tercet_megaco::model::DomainName {
            name: domain.name.to_vec().into(),
            port_number: domain.port_number,
        })),
        MId::DeviceName(_) | MId::MtpAddress(_) => None,
    }
}

/// The URL of a controller whose mid is its address; the transport is that of the one before.
fn url_of(mid: &MId<'_>, before: &Url) -> Option<Url> {
    let (host, port) = match mid {
        MId::Ip4Address(address) => {
            (std::net::Ipv4Addr::from(address.address).to_string(), address.port_number)
        }
        MId::Ip6Address(address) => {
            (format!("[{}]", std::net::Ipv6Addr::from(address.address)), address.port_number)
        }
        MId::DomainName(domain) => (domain.name.to_string(), domain.port_number),
        MId::DeviceName(_) | MId::MtpAddress(_) => return None,
    };
    Some(Url { host, port: port.unwrap_or(before.port), ..before.clone() })
}
