//! Engines with users, and what has to hold after every step.

use std::collections::{BTreeMap, BTreeSet};

use tercet_megaco::codec::decode_any;
use tercet_megaco::model::{
    ActionReply, ActionRequest, AmmsReply, Command, CommandReply, CommandRequest, MId, MessageBody,
    SubtractRequest, Transaction, TransactionResult,
};
use tercet_megaco::{List, Name};
use tercet_megaco_engine::{
    ConnId, Engine, Event, Limits, Outcome, Random, ReplyOptions, RequestId, RequestOptions, Route, Time,
    Token, Transport, UserId,
};

use crate::network::{Action, Agenda, Network};
use crate::plan::Plan;

struct Node {
    engine: Engine,
    user: UserId,
    conns: BTreeMap<usize, ConnId>,
    epoch: u32,
    /// What the node's clock is ahead of the world's, in microseconds.
    offset: i64,
    /// The latest moment that the engine has been told.
    latest: u64,
    works: Vec<(Token, u64)>,
    /// Requests that have no result yet.
    waiting: BTreeSet<RequestId>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) ok: u64,
    pub(crate) failed: u64,
    pub(crate) lost: u64,
    pub(crate) doubled: u64,
    pub(crate) corrupted: u64,
    pub(crate) restarts: u64,
    pub(crate) resent: u64,
    pub(crate) pendings: u64,
    pub(crate) segments: u64,
    pub(crate) aborted: u64,
    pub(crate) acks: u64,
}

impl Totals {
    pub(crate) fn add(&mut self, other: &Self) {
        self.ok += other.ok;
        self.failed += other.failed;
        self.lost += other.lost;
        self.doubled += other.doubled;
        self.corrupted += other.corrupted;
        self.restarts += other.restarts;
        self.resent += other.resent;
        self.pendings += other.pendings;
        self.segments += other.segments;
        self.aborted += other.aborted;
        self.acks += other.acks;
    }
}

pub(crate) struct World {
    pub(crate) plan: Plan,
    pub(crate) trace: Vec<String>,
    traces: bool,
    now: u64,
    random: Random,
    agenda: Agenda,
    network: Network,
    nodes: Vec<Node>,
    /// When a node last executed a request of another one: by node, its epoch, sender and id; its own time.
    executed: BTreeMap<(usize, u32, usize, u32), u64>,
    /// Requests that were ever executed, by sender and id.
    ever: BTreeSet<(usize, u32)>,
    /// How often a request was sent.
    sendings: BTreeMap<(usize, u32), u32>,
    errors_sent: u64,
    totals: Totals,
}

type Check = Result<(), String>;

impl World {
    pub(crate) fn new(plan: Plan, traces: bool) -> Self {
        let mut random = Random::new(plan.seed ^ 0x5eed);
        let mut agenda = Agenda::default();
        let nodes: Vec<Node> = (0..plan.nodes).map(|number| node(&plan, number, 0)).collect();
        let pick = |random: &mut Random| {
            let a = random.below(plan.nodes as u64) as usize;
            let b = (a + 1 + random.below(plan.nodes as u64 - 1) as usize) % plan.nodes;
            (a, b)
        };
        for _ in 0..plan.requests {
            let (from, to) = pick(&mut random);
            agenda.add(random.below(plan.span), Action::Request { from, to });
        }
        for _ in 0..plan.partitions {
            let ((a, b), at) = (pick(&mut random), random.below(plan.span));
            agenda.add(at, Action::Cut { a, b });
            agenda.add(at + random.below(3_000_000), Action::Heal { a, b });
        }
        for _ in 0..plan.clock_jumps {
            let by = random.below(8_000_000) as i64 - 4_000_000;
            agenda.add(random.below(plan.span), Action::Jump { node: pick(&mut random).0, by });
        }
        for _ in 0..plan.restarts {
            agenda.add(random.below(plan.span), Action::Restart { node: pick(&mut random).0 });
        }
        for _ in 0..plan.cancels {
            agenda.add(random.below(plan.span), Action::Cancel { node: pick(&mut random).0 });
        }
        Self {
            plan,
            trace: Vec::new(),
            traces,
            now: 0,
            random,
            agenda,
            network: Network::default(),
            nodes,
            executed: BTreeMap::new(),
            ever: BTreeSet::new(),
            sendings: BTreeMap::new(),
            errors_sent: 0,
            totals: Totals::default(),
        }
    }

    pub(crate) fn totals(&self) -> Totals {
        let mut totals = self.totals;
        (totals.lost, totals.doubled, totals.corrupted) =
            (self.network.lost, self.network.doubled, self.network.corrupted);
        for node in &self.nodes {
            let counters = node.engine.counters();
            totals.resent += counters.timer_recovery;
            totals.pendings += counters.pendings_sent;
            totals.segments += counters.segments_sent;
            totals.aborted += counters.aborted;
            totals.acks += counters.acks_received;
        }
        totals
    }

    /// Runs until nothing is left to happen.
    pub(crate) fn run(&mut self) -> Check {
        for _ in 0..200_000 {
            let timer =
                (0..self.nodes.len()).filter_map(|number| Some((self.deadline(number)?, number))).min();
            match (self.agenda.next_at(), timer) {
                (None, None) => return self.check_end(),
                (Some(at), timer) if timer.is_none_or(|(due, _)| at <= due) => {
                    self.now = self.now.max(at);
                    if let Some(action) = self.agenda.take() {
                        self.act(action)?;
                    }
                }
                (_, Some((due, number))) => {
                    self.now = self.now.max(due);
                    let time = self.time(number);
                    self.nodes[number].engine.handle_timeout(time);
                    self.drain(number)?;
                }
                (Some(_), None) => unreachable!("an action without a timer comes first"),
            }
        }
        Err(format!("seed {}: no end after {} ms", self.plan.seed, self.now / 1000))
    }

    /// When a node's timers are due, in the time of the world.
    fn deadline(&self, number: usize) -> Option<u64> {
        let node = &self.nodes[number];
        let due = node.engine.poll_timeout()?.as_micros() as i64 - node.offset;
        Some(u64::try_from(due).unwrap_or(0).max(self.now))
    }

    /// The time of a node's clock.
    fn time(&mut self, number: usize) -> Time {
        let node = &mut self.nodes[number];
        let micros = u64::try_from(self.now as i64 + node.offset).unwrap_or(0);
        node.latest = node.latest.max(micros);
        Time::from_micros(micros)
    }

    fn note(&mut self, text: impl FnOnce() -> String) {
        if self.traces {
            let line = format!("{:>10.3} {}", self.now as f64 / 1000.0, text());
            self.trace.push(line);
        }
    }

    fn act(&mut self, action: Action) -> Check {
        match action {
            Action::Deliver { from, to, octets, is_corrupt } => {
                self.note(|| {
                    let corrupt = if is_corrupt { " corrupt" } else { "" };
                    format!("n{from} -> n{to}{corrupt} {}", octets.escape_ascii())
                });
                let (time, route) = (self.time(to), route(from));
                let node = &mut self.nodes[to];
                node.engine.handle_input(time, node.user, route, &octets);
                self.drain(to)
            }
            Action::Request { from, to } => self.request(from, to),
            Action::WorkDone { node, epoch, work } => {
                let time = self.time(node);
                let actions = 1 + self.random.below(self.plan.actions);
                let mut options = ReplyOptions::default();
                options.ack = self.plan.ack;
                let one = &mut self.nodes[node];
                if one.epoch == epoch {
                    // An aborted request is answered too late; the engine says so.
                    _ = one.engine.reply(time, one.works[work].0, reply(actions), &options);
                }
                self.drain(node)
            }
            Action::Cancel { node } => {
                let time = self.time(node);
                let conns: Vec<ConnId> = self.nodes[node].engine.connections().collect();
                for conn in conns {
                    _ = self.nodes[node].engine.cancel(time, conn);
                }
                self.note(|| format!("n{node} cancels"));
                self.drain(node)
            }
            Action::Restart { node: number } => {
                self.note(|| format!("n{number} restarts"));
                self.totals.restarts += 1;
                let old = &self.nodes[number];
                let (epoch, offset) = (old.epoch + 1, old.offset);
                self.nodes[number] = node(&self.plan, number, epoch);
                self.nodes[number].offset = offset;
                Ok(())
            }
            Action::Jump { node, by } => {
                self.note(|| format!("clock of n{node} jumps by {by} us"));
                self.nodes[node].offset += by;
                Ok(())
            }
            Action::Cut { a, b } => {
                self.network.cut.push((a, b));
                Ok(())
            }
            Action::Heal { a, b } => {
                if let Some(place) = self.network.cut.iter().position(|&cut| cut == (a, b)) {
                    self.network.cut.remove(place);
                }
                Ok(())
            }
        }
    }

    fn request(&mut self, from: usize, to: usize) -> Check {
        let time = self.time(from);
        let node = &mut self.nodes[from];
        let conn = match node.conns.get(&to) {
            Some(&conn) => conn,
            None => {
                let mid = mid(to);
                let made = node.engine.connect(time, node.user, Some(mid), route(to));
                let Ok(conn) = made else { return Err(format!("seed {}: {made:?}", self.plan.seed)) };
                node.conns.insert(to, conn);
                conn
            }
        };
        let count = 1 + self.random.below(3) as usize;
        let all = (0..count).map(|_| request());
        match node.engine.request(time, conn, all, &RequestOptions::default()) {
            Ok(requests) => node.waiting.extend(requests.iter().map(|request| request.0)),
            Err(error) => return Err(format!("seed {}: request: {error}", self.plan.seed)),
        }
        self.drain(from)
    }

    /// Takes what an engine has to send and to tell, and checks it.
    fn drain(&mut self, number: usize) -> Check {
        let seed = self.plan.seed;
        while let Some(event) = self.nodes[number].engine.poll_event() {
            self.note(|| format!("n{number} {event:?}"));
            match event {
                Event::Connect { conn, .. } => {
                    let engine = &self.nodes[number].engine;
                    let name = engine.remote_mid(conn);
                    let peer = name.and_then(|name| name.strip_prefix('n')?.parse::<usize>().ok());
                    if let Some(peer) = peer.filter(|&peer| peer < self.plan.nodes) {
                        self.nodes[number].conns.insert(peer, conn);
                    }
                }
                Event::Requests { conn, requests, .. } => self.execute(number, conn, &requests)?,
                Event::Result { conn, request, transaction, outcome } => {
                    if !self.nodes[number].waiting.remove(&request) {
                        return Err(format!("seed {seed}: a second result of {transaction} of n{number}"));
                    }
                    let is_ok = matches!(outcome, Outcome::Reply(_));
                    if is_ok {
                        self.totals.ok += 1;
                    } else {
                        self.totals.failed += 1;
                    }
                    let peer = self.nodes[number].conns.iter().find(|(_, known)| **known == conn);
                    if is_ok && self.plan.corruption == 0 && !self.ever.contains(&(number, transaction)) {
                        return Err(format!(
                            "seed {seed}: {transaction} of n{number} at {peer:?} ok, but not executed"
                        ));
                    }
                }
                _ => {}
            }
        }
        while let Some(transmit) = self.nodes[number].engine.poll_transmit() {
            let to = usize::from(transmit.route.peer.port()) - 1000;
            self.check_sending(number, &transmit.octets)?;
            self.network.send(
                &self.plan,
                &mut self.random,
                &mut self.agenda,
                self.now,
                number,
                to,
                &transmit.octets,
            );
        }
        let replies = self.nodes[number].engine.gauges();
        if replies.timers > 4 * (replies.requests + replies.replies + replies.connections) {
            return Err(format!("seed {seed}: timers without owners: {replies:?}"));
        }
        Ok(())
    }

    fn execute(&mut self, number: usize, conn: ConnId, requests: &[tercet_megaco_engine::Incoming]) -> Check {
        let remote = self.nodes[number].engine.remote_mid(conn).unwrap_or_else(|| "gone".into());
        let from = remote.strip_prefix('n').and_then(|name| name.parse::<usize>().ok());
        for request in requests {
            let node = &mut self.nodes[number];
            if let Some(from) = from {
                let key = (number, node.epoch, from, request.transaction);
                let before = self.executed.insert(key, node.latest);
                self.ever.insert((from, request.transaction));
                // The shortest time that a reply of any plan is remembered.
                let is_again = before.is_some_and(|before| node.latest < before + 5_000_000);
                if is_again && self.plan.corruption == 0 {
                    let seed = self.plan.seed;
                    return Err(format!(
                        "seed {seed}: {} of n{from} executed again by n{number}",
                        request.transaction
                    ));
                }
            }
            let (work, epoch) = (node.works.len(), node.epoch);
            node.works.push((request.token, self.now));
            let wait = self.random.below(self.plan.work + 1);
            self.agenda.add(self.now + wait, Action::WorkDone { node: number, epoch, work });
        }
        Ok(())
    }

    /// A message decodes, and a request is not sent more often than its timers allow.
    fn check_sending(&mut self, number: usize, octets: &[u8]) -> Check {
        let seed = self.plan.seed;
        let message = decode_any(octets)
            .map_err(|error| format!("seed {seed}: sent {}: {error}", octets.escape_ascii()))?;
        let transactions = match message.mess.message_body {
            MessageBody::Transactions(transactions) => transactions,
            MessageBody::MessageError(error) => {
                // Missing segments are reported by such an error without a message that was wrong.
                self.errors_sent += u64::from(error.error_code != 459);
                if self.errors_sent > self.network.corrupted {
                    return Err(format!("seed {seed}: n{number} sends an error without cause"));
                }
                return Ok(());
            }
        };
        for transaction in &transactions {
            if let Transaction::TransactionRequest(request) = transaction {
                let id = request.transaction_id.unwrap_or(0);
                let count = self.sendings.entry((number, id)).or_default();
                *count += 1;
                if *count > self.plan.sendings && self.plan.corruption == 0 {
                    return Err(format!("seed {seed}: {id} of n{number} sent {count} times"));
                }
            }
        }
        Ok(())
    }

    /// Every request has its result, and nothing is remembered.
    fn check_end(&self) -> Check {
        for (number, node) in self.nodes.iter().enumerate() {
            let gauges = node.engine.gauges();
            let is_empty =
                (gauges.requests, gauges.replies, gauges.reply_octets, gauges.timers) == (0, 0, 0, 0);
            if !node.waiting.is_empty() || !is_empty {
                let seed = self.plan.seed;
                return Err(format!("seed {seed}: n{number} at the end: {:?}, {gauges:?}", node.waiting));
            }
        }
        Ok(())
    }
}

fn node(plan: &Plan, number: usize, epoch: u32) -> Node {
    let mut engine = Engine::new(plan.seed, Limits::default());
    let mut items = plan.items.clone();
    // A restarted side begins with other ids than before, as a peer remembers those.
    items.min_trans_id = 1 + epoch * 1_000_000;
    let user = engine.add_user(mid(number), items).unwrap();
    Node {
        engine,
        user,
        conns: BTreeMap::new(),
        epoch,
        offset: 1_000_000_000,
        latest: 0,
        works: Vec::new(),
        waiting: BTreeSet::new(),
    }
}

fn mid(number: usize) -> MId<'static> {
    MId::DeviceName(Name::from(format!("n{number}").into_bytes()))
}

fn route(number: usize) -> Route {
    Route { transport: Transport::Udp, link: 0, peer: ([127, 0, 0, 1], 1000 + number as u16).into() }
}

fn request() -> List<ActionRequest<'static>> {
    let request = SubtractRequest { termination_id: List::One("a1".into()), audit_descriptor: None };
    let command =
        CommandRequest { command: Command::SubtractReq(request), optional: None, wildcard_return: None };
    List::One(ActionRequest {
        context_id: 1,
        context_request: None,
        context_attr_audit_req: None,
        command_requests: List::One(command),
    })
}

fn reply(actions: u64) -> TransactionResult<'static> {
    let action = |number: u64| ActionReply {
        context_id: number as u32 + 1,
        error_descriptor: None,
        context_reply: None,
        command_reply: List::One(CommandReply::SubtractReply(AmmsReply {
            termination_id: List::One("a1".into()),
            termination_audit: None,
        })),
    };
    TransactionResult::ActionReplies((0..actions).map(action).collect())
}
