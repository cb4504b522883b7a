//! A controller or a gateway: one task that owns the driver, answers requests, registers, and prints what happens.

use super::control::{self, Control};
use super::events::{self, Events};
use super::gateway::{self, Answering};
use super::jobs::{Job, Task};
use super::load::Generator;
use super::metrics::{self, Scrape};
use super::options::EngineArgs;
use super::record::Record;
use super::registering::{Registration, hand_off};
use crate::exit::{Exit, Failure, Outcome};
use serde_json::json;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tercet_megaco::List;
use tercet_megaco::model::{ActionRequest, Command, MessageBody, Transaction};
use tercet_megaco::text::read_message;
use tercet_megaco_engine::driver::{Driver, Note, StreamLimits, Tls, Url};
use tercet_megaco_engine::{
    AckMode, Answers, ConnId, Engine, Event, Incoming, Items, Limits, Outcome as Ending, Period, Random,
    Received, ReplyOptions, RequestId, RequestOptions, UserId, Verdict, registration,
};
use tokio::sync::mpsc;

pub(super) enum Role {
    Controller { listen: Vec<Url> },
    Gateway { urls: Vec<Url>, mwd: Period },
}

pub(super) struct Agent {
    pub(super) driver: Driver,
    pub(super) user: UserId,
    pub(super) events: Events,
    record: Record,
    traces: bool,
    metrics: Option<SocketAddr>,
    pub(super) answers: Answering,
    ack: AckMode,
    work: Duration,
    is_threaded: bool,
    pub(super) tls: Tls,
    pub(super) items: Items,
    listen: Vec<Url>,
    pub(super) registration: Option<Registration>,
    names: HashMap<ConnId, Arc<str>>,
    /// The peer that commands without one are about.
    pub(super) current: Option<ConnId>,
    jobs: BinaryHeap<Reverse<Job>>,
    number: u64,
    random: Random,
    pub(super) generator: Option<Generator>,
    /// Requests of a gateway that is not registered yet.
    held: Vec<Control>,
    is_done: bool,
}

impl Agent {
    pub(super) fn new(role: Role, args: &EngineArgs, items: Items, mid: &'static str) -> Outcome<Self> {
        let seed = args.seed();
        let mut engine = Engine::new(seed, Limits::default());
        let user = engine.add_user(args.mid(mid)?, items.clone()).map_err(Failure::usage)?;
        let mut driver = Driver::new(engine);
        driver.set_stream_limits(StreamLimits { frame: args.idle_frame_timeout, ..StreamLimits::default() });
        let record = args.record()?;
        driver.set_traces(args.trace || record.is_wanted());
        let (listen, registration, answers) = match role {
            Role::Controller { listen } => {
                let answers = Answers::new(items.max_version, args.terminations);
                (listen, None, Answering::Plausible(answers))
            }
            Role::Gateway { urls, mwd } => {
                let registration = Registration::new(urls, items.max_version, mwd);
                let gateway = gateway::new(items.max_version, args.terminations);
                (Vec::new(), Some(registration), Answering::Gateway(Box::new(gateway)))
            }
        };
        Ok(Self {
            driver,
            user,
            events: Events::open(&args.events)?,
            record,
            traces: args.trace,
            metrics: args.metrics,
            answers,
            ack: args.ack_mode(),
            work: Duration::from_millis(args.work.as_millis().unwrap_or(u32::MAX).into()),
            is_threaded: args.threaded,
            tls: args.tls()?,
            items,
            listen,
            registration,
            names: HashMap::new(),
            current: None,
            jobs: BinaryHeap::new(),
            number: 0,
            random: Random::new(seed),
            generator: None,
            held: Vec::new(),
            is_done: false,
        })
    }

    pub(super) async fn run(mut self) -> Outcome {
        for url in self.listen.clone() {
            let listening = self.driver.listen(self.user, &url, &self.tls).await;
            let address = listening.map_err(|error| Failure::io(&url, &error))?;
            let url = format!("{}://{address}", url.transport.name());
            self.write("listening", json!({ "url": url }))?;
        }
        if let Some(registration) = &self.registration {
            let millis = registration.mwd.as_millis().unwrap_or(u32::MAX);
            let wait = Duration::from_millis(self.random.below(u64::from(millis) + 1));
            self.schedule(wait, Task::Register);
        }
        let mut control = control::listen()?;
        let mut listens = true;
        let mut scrapes = self.metrics().await?;
        while !self.is_done {
            self.turn().await?;
            self.events.flush()?;
            self.record.flush()?;
            if self.is_done {
                break;
            }
            let until = self.jobs.peek().map(|Reverse(job)| job.due);
            let until = until.into_iter().chain(self.answers.due()).min();
            tokio::select! {
                () = self.driver.wait(until) => {}
                command = control.recv(), if listens => match command {
                    Some(command) => self.control(command).await?,
                    None => listens = false,
                },
                Some(scrape) = next(&mut scrapes) => {
                    // One who has gone needs no answer.
                    _ = scrape.send(metrics::text(&self.driver.engine));
                }
            }
        }
        if let Some(generator) = self.generator.take() {
            let report = generator.report(self.driver.now(), self.driver.engine.counters());
            self.write("report", report)?;
        }
        self.write("stats", events::stats(&self.driver.engine))?;
        self.events.flush()?;
        self.driver.flush().await;
        for note in self.driver.take_notes() {
            self.record.note(&note)?;
        }
        self.record.flush()?;
        self.driver.shutdown().await;
        Ok(Exit::Good)
    }

    /// Listens for scrapes of metrics, if they are asked for.
    async fn metrics(&mut self) -> Outcome<Option<mpsc::Receiver<Scrape>>> {
        let Some(address) = self.metrics else { return Ok(None) };
        let (local, scrapes) = metrics::listen(address).await?;
        // Not a way for messages; those who look for one take the first events.
        self.write("metrics", json!({ "url": format!("http://{local}/metrics") }))?;
        Ok(Some(scrapes))
    }

    /// Handles what happened and what is due, until there is nothing.
    async fn turn(&mut self) -> Outcome<()> {
        loop {
            for note in self.driver.take_notes() {
                self.note(note)?;
            }
            let mut is_idle = true;
            while let Some(event) = self.driver.engine.poll_event() {
                is_idle = false;
                self.event(event)?;
            }
            let now = self.driver.now();
            while self.jobs.peek().is_some_and(|Reverse(job)| job.due <= now)
                && let Some(Reverse(job)) = self.jobs.pop()
            {
                is_idle = false;
                self.job(job.task).await?;
            }
            self.tell_controller();
            self.driver.flush().await;
            if is_idle {
                return Ok(());
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
        self.record.note(&note)?;
        match note {
            Note::Received { .. } | Note::Sent { .. } if !self.traces => Ok(()),
            Note::Received { route, octets, .. } => {
                let text = events::message_text(&octets);
                self.write(
                    "recv",
                    json!({ "address": route.to_string(), "octets": octets.len(), "text": text }),
                )
            }
            Note::Sent { transmit, .. } => {
                let text = events::message_text(&transmit.octets);
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
                self.names.insert(conn, Arc::clone(&name));
                self.current = Some(conn);
                self.write(
                    "connect",
                    json!({ "remote_mid": &*name, "address": route.to_string(), "version": version }),
                )
            }
            Event::Disconnect { conn, remote_mid, reason } => {
                if self.current == Some(conn) {
                    self.current = self.driver.engine.connections().next();
                }
                if self.names.remove(&conn).is_none() {
                    // A controller that was never reached.
                    return Ok(());
                }
                self.write("disconnect", json!({ "remote_mid": &*remote_mid, "reason": reason }))
            }
            Event::Requests { conn, version, message, requests, .. } => {
                self.requests(conn, version, message, &requests)
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
            Event::MessageError { remote_mid, code, text, .. } => {
                self.write("message_error", json!({ "code": code, "text": text, "remote_mid": remote_mid }))?;
                self.refused(code);
                Ok(())
            }
            Event::SyntaxError { route, code, text } => self
                .write("syntax_error", json!({ "code": code, "text": text, "address": route.to_string() })),
            Event::Segment { transaction, segment, complete, .. } => self
                .write("segment", json!({ "trans": transaction, "segment": segment, "complete": complete })),
            Event::LimitReached { conn, limit } => {
                let name = self.name(conn);
                self.write("limit", json!({ "remote_mid": &*name, "limit": limit }))
            }
            _ => Ok(()),
        }
    }

    /// Requests of one message: answered at once, or after the time that the work takes.
    fn requests(
        &mut self,
        conn: ConnId,
        version: u8,
        message: Received,
        requests: &[Incoming],
    ) -> Outcome<()> {
        let transactions = message.transactions();
        let name = self.name(conn);
        let mut later = VecDeque::new();
        for incoming in requests {
            let Some(Transaction::TransactionRequest(request)) = transactions.get(incoming.index) else {
                continue;
            };
            let actions = request.actions.len();
            self.write(
                "execute",
                json!({ "remote_mid": &*name, "trans": incoming.transaction, "actions": actions }),
            )?;
            if self.work.is_zero() || changes_service(&request.actions) {
                self.answer(conn, *incoming, version, &request.actions);
            } else {
                later.push_back(*incoming);
            }
        }
        if self.is_threaded {
            for incoming in later {
                let requests = VecDeque::from([incoming]);
                self.schedule(self.work, Task::Answer { conn, message: message.clone(), requests });
            }
        } else if !later.is_empty() {
            self.schedule(self.work, Task::Answer { conn, message: message.clone(), requests: later });
        }
        Ok(())
    }

    fn answer(&mut self, conn: ConnId, incoming: Incoming, version: u8, actions: &[ActionRequest<'_>]) {
        let mut options = ReplyOptions::default();
        options.ack = self.ack;
        let now = self.driver.now();
        let result = self.answers.answer(now, actions);
        let error = match self.driver.engine.reply(now, incoming.token, result, &options) {
            Err(tercet_megaco_engine::Error::Encode(error)) => Some(error),
            // An aborted request has its answer.
            _ => None,
        };
        if let Some(error) = error {
            let text = tercet_megaco::Str::from(error.what);
            let descriptor =
                tercet_megaco::model::ErrorDescriptor { error_code: 500, error_text: Some(text) };
            let result = tercet_megaco::model::TransactionResult::TransactionError(descriptor);
            _ = self.driver.engine.reply(now, incoming.token, result, &options);
        }
        if let Some(parms) = registration(actions) {
            let asked = parms.service_change_version.unwrap_or(version);
            _ = self.driver.engine.set_version(conn, asked.clamp(1, self.items.max_version));
            self.current = Some(conn);
        }
        if let Some(mid) = hand_off(actions) {
            self.hand_off(mid);
        }
        self.configure(conn);
    }

    async fn job(&mut self, task: Task) -> Outcome<()> {
        match task {
            Task::Answer { conn, message, mut requests } => {
                if let Some(incoming) = requests.pop_front() {
                    let transactions = message.transactions();
                    let version = message.decode().map_or(1, |message| message.mess.version);
                    if let Some(Transaction::TransactionRequest(request)) = transactions.get(incoming.index) {
                        self.answer(conn, incoming, version, &request.actions);
                    }
                }
                if !requests.is_empty() {
                    self.schedule(self.work, Task::Answer { conn, message, requests });
                }
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
            && registration.waiting.is_some_and(|(waiting, _)| waiting == request)
        {
            let verdict = registration.result(outcome);
            _ = self.driver.engine.set_registering(conn, false);
            if let Verdict::Registered { version } = verdict {
                _ = self.driver.engine.set_version(conn, version);
                self.current = Some(conn);
                let name = self.name(conn);
                if self.generator.is_some() {
                    self.schedule(Duration::ZERO, Task::Generate);
                }
                if !self.held.is_empty() {
                    self.schedule(Duration::ZERO, Task::Held);
                }
                return self.write("registered", json!({ "remote_mid": &*name, "version": version }));
            }
            self.follow(verdict);
            return Ok(());
        }
        if let Some(generator) = &mut self.generator
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

    /// Makes the requests of a load that are due.
    fn generate(&mut self) {
        let now = self.driver.now();
        let Some(conn) = self.current else {
            return self.schedule(Duration::from_millis(20), Task::Generate);
        };
        let Some(generator) = &mut self.generator else { return };
        for _ in 0..generator.due(now) {
            let actions = generator.actions();
            if let Ok(requests) =
                self.driver.engine.request(now, conn, vec![actions], &RequestOptions::default())
            {
                generator.began(requests[0].0, now);
            }
        }
        if generator.is_over(now) {
            self.is_done = true;
        } else {
            self.schedule(Duration::from_millis(1), Task::Generate);
        }
    }

    /// Begins to make requests as soon as there is a peer.
    pub(super) fn load(&mut self, generator: Generator) {
        self.generator = Some(generator);
        if self.registration.is_none() {
            self.schedule(Duration::ZERO, Task::Generate);
        }
    }

    async fn control(&mut self, control: Control) -> Outcome<()> {
        let now = self.driver.now();
        let is_registering =
            self.registration.as_ref().is_some_and(|all| all.waiting.is_some() || self.current.is_none());
        match control {
            Control::Request { .. } if is_registering => {
                self.held.push(control);
                Ok(())
            }
            Control::Request { text, remote_mid } => {
                let Some(conn) = self.peer(remote_mid.as_deref()) else {
                    return self.write("command_error", json!({ "text": "no connection" }));
                };
                let version = self.driver.engine.version(conn).unwrap_or(1);
                let message = format!("!/{version} x T=1{{{text}}}");
                let sent = match request_actions(&message) {
                    Ok(actions) => {
                        let sent =
                            self.driver.engine.request(now, conn, vec![actions], &RequestOptions::default());
                        sent.map(drop).map_err(|error| error.to_string())
                    }
                    Err(error) => Err(format!("bad request: {error}")),
                };
                match sent {
                    Ok(()) => Ok(()),
                    Err(text) => self.write("command_error", json!({ "text": text })),
                }
            }
            Control::Stats => self.write("stats", events::stats(&self.driver.engine)),
            Control::Cancel { remote_mid } => {
                if let Some(conn) = self.peer(remote_mid.as_deref()) {
                    _ = self.driver.engine.cancel(now, conn);
                }
                Ok(())
            }
            Control::Disconnect { remote_mid } => {
                if let Some(conn) = self.peer(remote_mid.as_deref()) {
                    let route = self.driver.engine.route(conn);
                    _ = self.driver.engine.disconnect(now, conn, "user");
                    self.driver.flush().await;
                    if let Some(route) = route {
                        self.driver.close(route);
                    }
                }
                Ok(())
            }
            Control::Gateway(change) => match self.change(&change) {
                Ok(()) => Ok(()),
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

/// The next scrape; never comes if there are none.
async fn next(scrapes: &mut Option<mpsc::Receiver<Scrape>>) -> Option<Scrape> {
    match scrapes {
        Some(scrapes) => scrapes.recv().await,
        None => std::future::pending().await,
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

/// Whether an action has a ServiceChange.
fn changes_service(actions: &[ActionRequest<'_>]) -> bool {
    let mut commands = actions.iter().flat_map(|action| action.command_requests.iter());
    commands.any(|request| matches!(request.command, Command::ServiceChangeReq(_)))
}
