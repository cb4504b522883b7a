//! A controller or a gateway: one task that owns the driver, answers requests, registers, and prints what happens.

use super::control::Control;
use super::crew::Totals;
use super::desk::{Desk, Executed, Happened};
use super::events::{self, Events};
use super::gateway::Answering;
use super::jobs::{Job, Task};
use super::load::Generator;
use super::record::Record;
use super::registering::Registration;
use crate::exit::{Failure, Outcome};
use serde_json::json;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tercet_megaco::List;
use tercet_megaco::model::{ActionRequest, MessageBody, Transaction};
use tercet_megaco::text::read_message;
use tercet_megaco_engine::driver::{Driver, Note, Tls, Url};
use tercet_megaco_engine::{
    ConnId, Event, Items, Outcome as Ending, Period, Random, RequestId, RequestOptions, Time, UserId, Verdict,
};

/// Connections that have ended and can be cancelled by the name of their peer.
const MOST_ENDED: usize = 4096;
/// How long a gateway that has lost its stream waits before it registers again.
pub(super) const LOST_AFTER: Duration = Duration::from_millis(50);
const NO_CONNECTION: &str = "no connection";

pub(super) enum Role {
    Controller { listen: Vec<Url> },
    Gateway { urls: Vec<Url>, mwd: Period },
}

pub(super) struct Agent {
    pub(super) driver: Driver,
    pub(super) user: UserId,
    pub(super) events: Events,
    pub(super) record: Arc<Mutex<Record>>,
    pub(super) traces: bool,
    pub(super) metrics: Option<SocketAddr>,
    pub(super) desk: Desk,
    pub(super) work: Duration,
    pub(super) is_threaded: bool,
    pub(super) tls: Tls,
    pub(super) items: Items,
    pub(super) listen: Vec<Url>,
    pub(super) registration: Option<Registration>,
    pub(super) names: HashMap<ConnId, Arc<str>>,
    /// The peer that commands without one are about.
    pub(super) current: Option<ConnId>,
    /// Connections that have ended, by their peers: their requests go on until they are cancelled.
    pub(super) ended: HashMap<Arc<str>, ConnId>,
    /// The peer that commands without one were about last.
    pub(super) last: Option<ConnId>,
    pub(super) jobs: BinaryHeap<Reverse<Job>>,
    pub(super) number: u64,
    pub(super) random: Random,
    /// Requests of a gateway that is not registered yet.
    pub(super) held: Vec<Control>,
    pub(super) is_done: bool,
    /// The place of this job among those of the command.
    pub(super) job: usize,
    /// The job whose peer connected last.
    pub(super) latest: Arc<AtomicUsize>,
}

impl Agent {
    /// Listens at the addresses that are asked for. Returns those that were taken.
    pub(super) async fn listen(&mut self, urls: &[Url]) -> Outcome<Vec<Url>> {
        let mut taken = Vec::new();
        for url in urls {
            let listening = self.driver.listen_url(self.user, url, &self.tls).await;
            taken.push(listening.map_err(|error| Failure::io(url, &error))?);
        }
        Ok(taken)
    }

    /// Begins with what is to be done without being asked.
    pub(super) fn begin(&mut self) {
        if let Some(registration) = &self.registration {
            let millis = registration.mwd.as_millis().unwrap_or(u32::MAX);
            let wait = Duration::from_millis(self.random.below(u64::from(millis) + 1));
            self.schedule(wait, Task::Begin);
        }
    }

    /// When something is due next.
    pub(super) fn due(&self) -> Option<Time> {
        let job = self.jobs.peek().map(|Reverse(job)| job.due);
        job.into_iter().chain(self.desk.answers.due()).min()
    }

    pub(super) fn flush(&mut self) -> Outcome<()> {
        self.events.flush()?;
        self.record().flush()
    }

    /// Sends what is to be sent, writes what is to be written, and closes the sockets.
    pub(super) async fn close(mut self) -> Outcome<()> {
        self.events.flush()?;
        self.driver.flush().await;
        for note in self.driver.take_notes() {
            self.record().note(&note)?;
        }
        self.record().flush()?;
        self.driver.shutdown().await;
        Ok(())
    }

    pub(super) fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A peer is the one that connected last.
    fn now_current(&mut self, conn: ConnId) {
        (self.current, self.last) = (Some(conn), Some(conn));
        self.latest.store(self.job, Ordering::Relaxed);
    }

    /// Handles what happened and what is due, until there is nothing.
    pub(super) async fn turn(&mut self) -> Outcome<()> {
        loop {
            for note in self.driver.take_notes() {
                self.note(note)?;
            }
            let mut is_idle = true;
            while let Some(happened) = self.next_happened() {
                is_idle = false;
                self.happened(happened)?;
            }
            let now = self.driver.now();
            while self.jobs.peek().is_some_and(|Reverse(job)| job.due <= now)
                && let Some(Reverse(job)) = self.jobs.pop()
            {
                is_idle = false;
                self.job(job.task).await?;
            }
            self.tell_controller();
            if self.desk.generator.as_ref().is_some_and(Generator::refills) {
                self.refill(now);
            }
            self.driver.flush().await;
            // What was sent is reported at once, and what could not be sent.
            if is_idle && !self.driver.has_notes() && !self.driver.engine.has_events() {
                return Ok(());
            }
        }
    }

    /// Sends what is gathered: nothing comes behind it.
    pub(super) async fn send_gathered(&mut self) -> Outcome<()> {
        let now = self.driver.now();
        self.driver.engine.flush_gathered(now);
        self.turn().await
    }

    /// The next of what happened: what was noted beside the events of the engine was before those that it has.
    fn next_happened(&mut self) -> Option<Happened> {
        let noted = self.desk.happened.pop_front();
        noted.or_else(|| self.driver.engine.poll_event().map(Happened::Event))
    }

    fn happened(&mut self, happened: Happened) -> Outcome<()> {
        match happened {
            Happened::Event(event) => self.event(event),
            Happened::Executed(Executed { conn, transaction, actions, registers, hand_off }) => {
                let name = self.name(conn);
                self.events.execute(self.driver.now(), &name, transaction, actions)?;
                if registers {
                    self.now_current(conn);
                }
                if let Some(mid) = hand_off {
                    self.hand_off(mid);
                }
                self.configure(conn);
                Ok(())
            }
            Happened::Work { conn, requests, .. } => {
                if self.is_threaded {
                    for later in requests {
                        let requests = VecDeque::from([later]);
                        self.schedule(self.work, Task::Answer { conn, requests });
                    }
                } else {
                    self.schedule(self.work, Task::Answer { conn, requests });
                }
                Ok(())
            }
            Happened::Replied { transaction, texts } => {
                self.write("result", events::replied(transaction, &texts))
            }
        }
    }

    pub(super) fn write(&mut self, event: &str, more: serde_json::Value) -> Outcome<()> {
        self.events.write(self.driver.now(), event, more)
    }

    pub(super) fn schedule(&mut self, wait: Duration, task: Task) {
        self.number += 1;
        let job = Job { due: self.driver.now().after(wait), number: self.number, task };
        self.jobs.push(Reverse(job));
    }

    fn name(&self, conn: ConnId) -> Arc<str> {
        let known = self.names.get(&conn).cloned();
        known.or_else(|| self.driver.engine.remote_mid(conn)).unwrap_or_else(|| "unknown".into())
    }

    fn note(&mut self, note: Note) -> Outcome<()> {
        self.record().note(&note)?;
        match note {
            Note::Received { .. } | Note::Sent { .. } if !self.traces => Ok(()),
            Note::Received { route, octets, .. } => {
                let text = events::message_text(self.driver.engine.registry(), &octets);
                self.write(
                    "recv",
                    json!({ "address": route.to_string(), "octets": octets.len(), "text": text }),
                )
            }
            Note::Sent { transmit, .. } => {
                let text = events::message_text(self.driver.engine.registry(), &transmit.octets);
                let (address, resend) = (transmit.route.to_string(), transmit.is_resend);
                let octets = transmit.octets.len();
                self.write(
                    "send",
                    json!({ "address": address, "octets": octets, "resend": resend, "text": text }),
                )
            }
            Note::Closed { route, conns, reason } => {
                self.closed(route, &conns);
                // The association ends for now; requests and answers stay for the next stream.
                let now = self.driver.now();
                for conn in conns {
                    _ = self.driver.engine.disconnect(now, conn, &reason);
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn event(&mut self, event: Event) -> Outcome<()> {
        match event {
            Event::Connect { conn, version, route, .. } => {
                let name = self.driver.engine.remote_mid(conn).unwrap_or_else(|| "unknown".into());
                self.ended.remove(&name);
                self.names.insert(conn, Arc::clone(&name));
                self.now_current(conn);
                self.write(
                    "connect",
                    json!({ "remote_mid": &*name, "address": route.to_string(), "version": version }),
                )
            }
            Event::Disconnect { conn, remote_mid, reason } => {
                if self.current == Some(conn) {
                    self.current = self.driver.engine.connections().next();
                }
                let Some(name) = self.names.remove(&conn) else {
                    // A controller that was never reached.
                    return Ok(());
                };
                if self.ended.len() >= MOST_ENDED {
                    let engine = &self.driver.engine;
                    self.ended.retain(|_, conn| engine.remote_mid(*conn).is_some());
                }
                if self.ended.len() < MOST_ENDED {
                    self.ended.insert(name, conn);
                }
                self.write("disconnect", json!({ "remote_mid": &*remote_mid, "reason": reason }))
            }
            Event::Result { conn, request, transaction, outcome } => {
                self.result(conn, request, transaction, &outcome)
            }
            Event::PendingSent { transaction, .. } => {
                self.write("pending", json!({ "direction": "sent", "trans": transaction }))
            }
            Event::PendingReceived { transaction, .. } => {
                self.write("pending", json!({ "direction": "received", "trans": transaction }))
            }
            Event::Ack { transaction, status, .. } => {
                self.write("ack", json!({ "trans": transaction, "status": events::ack_status(&status) }))
            }
            Event::Abort { transaction, code, .. } => {
                self.write("abort", json!({ "trans": transaction, "code": code }))
            }
            Event::Unexpected { kind, transaction, .. } => {
                self.write("unexpected", json!({ "kind": events::kind(kind), "trans": transaction }))
            }
            Event::MessageError { route, remote_mid, code, text, .. } => {
                self.write("message_error", json!({ "code": code, "text": text, "remote_mid": remote_mid }))?;
                self.refused(code, route);
                Ok(())
            }
            Event::SyntaxError { route, code, text } => self
                .write("syntax_error", json!({ "code": code, "text": text, "address": route.to_string() })),
            Event::Segment { transaction, segment, complete, .. } => self
                .write("segment", json!({ "trans": transaction, "segment": segment, "complete": complete })),
            Event::Idle { conn } => {
                if let Answering::Gateway(gateway) = &mut self.desk.answers
                    && self.current == Some(conn)
                {
                    gateway.controller_is_silent(self.driver.now());
                }
                Ok(())
            }
            Event::LimitReached { conn, limit } => {
                let name = self.name(conn);
                self.write("limit", json!({ "remote_mid": &*name, "limit": limit }))
            }
            _ => Ok(()),
        }
    }

    async fn job(&mut self, task: Task) -> Outcome<()> {
        match task {
            Task::Answer { conn, mut requests } => {
                if let Some(later) = requests.pop_front() {
                    self.driver.engine.handle_timeout(self.driver.now());
                    self.desk.answer_later(&mut self.driver.engine, conn, &later);
                    self.configure(conn);
                }
                if !requests.is_empty() {
                    self.schedule(self.work, Task::Answer { conn, requests });
                }
                Ok(())
            }
            Task::Begin => {
                self.begin_to_register().await;
                Ok(())
            }
            Task::Register => {
                self.register().await;
                Ok(())
            }
            Task::Lost => {
                self.lost();
                Ok(())
            }
            Task::Generate => {
                self.generate();
                Ok(())
            }
            Task::Held => {
                for control in std::mem::take(&mut self.held) {
                    self.control(control).await?;
                }
                Ok(())
            }
        }
    }

    fn result(
        &mut self,
        conn: ConnId,
        request: RequestId,
        transaction: u32,
        outcome: &Ending,
    ) -> Outcome<()> {
        if let Some(registration) = &mut self.registration
            && self.desk.waiting.is_some_and(|(waiting, _)| waiting == request)
        {
            let verdict = registration.result(outcome);
            self.desk.waiting = None;
            _ = self.driver.engine.set_registering(conn, false);
            if let Verdict::Registered { version, address } = verdict {
                self.settle();
                self.desk.is_open = true;
                _ = self.driver.engine.set_version(conn, version);
                if let Some(address) = address {
                    _ = self.driver.engine.set_address(conn, &address);
                }
                if self.driver.engine.route(conn).is_none() {
                    // The stream was closed behind the reply.
                    self.schedule(LOST_AFTER, Task::Lost);
                }
                self.now_current(conn);
                let name = self.name(conn);
                if self.desk.generator.is_some() {
                    self.schedule(Duration::ZERO, Task::Generate);
                }
                if !self.held.is_empty() {
                    self.schedule(Duration::ZERO, Task::Held);
                }
                return self.write("registered", json!({ "remote_mid": &*name, "version": version }));
            }
            if matches!(outcome, Ending::Timeout) {
                // Maybe nothing arrives there any more.
                self.leave();
            }
            self.follow(verdict);
            return Ok(());
        }
        if let Some(generator) = &mut self.desk.generator
            && generator.ended(request, self.driver.now(), outcome)
        {
            return Ok(());
        }
        self.write("result", events::result(transaction, outcome))?;
        if matches!(outcome, Ending::Timeout) {
            // The controller may be gone (11.5).
            self.lost();
        }
        Ok(())
    }

    /// Makes the requests of a load that are due, and comes again.
    fn generate(&mut self) {
        if self.current.is_none() {
            return self.schedule(Duration::from_millis(20), Task::Generate);
        }
        let now = self.driver.now();
        self.refill(now);
        if self.desk.generator.as_ref().is_some_and(|generator| generator.is_over(now)) {
            self.is_done = true;
        } else {
            self.schedule(Duration::from_millis(1), Task::Generate);
        }
    }

    /// Makes the requests of a load that are due.
    fn refill(&mut self, now: Time) {
        let (Some(conn), Some(generator)) = (self.current, &mut self.desk.generator) else { return };
        for _ in 0..generator.due(now) {
            let actions = generator.actions();
            if let Ok(requests) = self.driver.engine.request(now, conn, [actions], &RequestOptions::default())
            {
                generator.began(requests[0].0, now);
            }
        }
    }

    /// Begins to make requests as soon as there is a peer.
    pub(super) fn load(&mut self, generator: Generator) {
        self.desk.generator = Some(generator);
        if self.registration.is_none() {
            self.schedule(Duration::ZERO, Task::Generate);
        }
    }

    pub(super) async fn control(&mut self, control: Control) -> Outcome<()> {
        let now = self.driver.now();
        let is_registering =
            |all: &Registration| all.seeks && (self.desk.waiting.is_some() || self.current.is_none());
        match control {
            Control::Request { .. } if self.registration.as_ref().is_some_and(is_registering) => {
                self.held.push(control);
                self.is_active();
                Ok(())
            }
            Control::Request { text, remote_mid } => {
                let Some(conn) = self.peer(remote_mid.as_deref()) else {
                    return self.write("command_error", json!({ "text": NO_CONNECTION }));
                };
                let version = self.driver.engine.version(conn).unwrap_or(1);
                let message = format!("!/{version} x T=1{{{text}}}");
                let sent = match request_actions(&message) {
                    Ok(actions) => {
                        let sent =
                            self.driver.engine.request(now, conn, [actions], &RequestOptions::default());
                        sent.map(drop).map_err(|error| error.to_string())
                    }
                    Err(error) => Err(format!("bad request: {error}")),
                };
                match sent {
                    Ok(()) => Ok(()),
                    Err(text) => self.write("command_error", json!({ "text": text })),
                }
            }
            Control::Stats => self.write("stats", events::stats(&Totals::of(&self.driver.engine))),
            Control::Cancel { remote_mid } => {
                let ended = match &remote_mid {
                    None => self.last,
                    Some(name) => {
                        self.ended.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|it| *it.1)
                    }
                };
                let conn = self.peer(remote_mid.as_deref()).or(ended);
                match conn.map(|conn| self.driver.engine.cancel(now, conn)) {
                    Some(Ok(())) => Ok(()),
                    Some(Err(_)) | None => self.write("command_error", json!({ "text": NO_CONNECTION })),
                }
            }
            Control::Disconnect { remote_mid } => {
                if let Some(conn) = self.peer(remote_mid.as_deref()) {
                    let route = self.driver.engine.route(conn);
                    _ = self.driver.engine.disconnect(now, conn, "user");
                    self.driver.flush().await;
                    if let Some(route) = route {
                        self.driver.close(route);
                    }
                    return Ok(());
                }
                self.write("command_error", json!({ "text": NO_CONNECTION }))
            }
            Control::Gateway(change) => match self.change(&change) {
                Ok(()) => {
                    self.is_active();
                    Ok(())
                }
                Err(text) => self.write("command_error", json!({ "text": text })),
            },
            Control::Quit => {
                self.is_done = true;
                Ok(())
            }
            Control::Bad(text) => self.write("command_error", json!({ "text": text })),
        }
    }

    /// The connection with a peer, by default the last one.
    fn peer(&self, remote_mid: Option<&str>) -> Option<ConnId> {
        match remote_mid {
            None => self.current,
            Some(remote_mid) => self
                .names
                .iter()
                .find(|(_, name)| name.eq_ignore_ascii_case(remote_mid))
                .map(|(conn, _)| *conn),
        }
    }
}

/// The actions of a request in compact text, in a message around it.
///
/// # Errors
/// The text is not the actions of one request.
pub(super) fn request_actions(message: &str) -> Result<List<ActionRequest<'_>>, tercet_megaco::Error> {
    match read_message(message.as_bytes())?.mess.message_body {
        MessageBody::Transactions(List::One(Transaction::TransactionRequest(request))) => Ok(request.actions),
        _ => Err(tercet_megaco::Error { at: 0, what: "the actions of one transaction" }),
    }
}
