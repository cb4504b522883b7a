//! What happens to a message that arrives.

use std::sync::Arc;

use tercet_megaco::List;
use tercet_megaco::codec::{Codec, Encoding, Opening};
use tercet_megaco::model::{
    ActionRequest, Command, Lenient, MId, MegacoMessage, Message, MessageBody, ServiceChangeAddress,
    ServiceChangeMethod, ServiceChangeParm, Transaction, TransactionReply, TransactionResult,
};

use super::handler::{Asked, Handler, Replied, Taker};
use super::{Engine, State};
use crate::event::{ConnId, Event, Incoming, Outcome, Received, Reply, RequestId, Token, Unexpected, UserId};
use crate::items::{ConnectBy, Encode};
use crate::route::Route;
use crate::time::Time;
use crate::wire::{self, Dialect, Registry};

/// The message that is being processed.
#[derive(Debug)]
pub(super) struct Input<'i> {
    pub(super) route: Route,
    /// How it is written, and how it is answered.
    pub(super) dialect: Dialect,
    encoding: Encoding,
    octets: &'i [u8],
    shared: Option<Arc<[u8]>>,
    registry: &'i Registry,
    /// Whether a handler takes replies.
    pub(super) has_handler: bool,
    /// Requests whose replies it is to take: their names and ids, and the places of the replies.
    pub(super) replied: List<(RequestId, u32, usize)>,
}

impl Input<'_> {
    /// The message, copied when it is first asked for.
    pub(super) fn received(&mut self) -> Received {
        let shared = self.shared.get_or_insert_with(|| self.octets.into());
        Received::new(Arc::clone(shared), self.encoding, self.registry.clone())
    }
}

impl Engine {
    /// Processes a message that came for a user.
    pub fn handle_input(&mut self, now: Time, user: UserId, route: Route, octets: &[u8]) {
        self.input(now, user, route, octets, None);
    }

    /// Processes a message that came for a user, and calls `act` for each new request of it, in their order. There is no
    /// [`Event::Requests`] for these, so that the message is decoded once and not copied; `act` may answer at once.
    ///
    /// A message that waits for [`accept`](Self::accept) is reported as an event after that.
    pub fn handle_input_with(
        &mut self,
        now: Time,
        user: UserId,
        route: Route,
        octets: &[u8],
        mut act: impl FnMut(&mut Self, Asked<'_, '_>),
    ) {
        self.input(now, user, route, octets, Some(Taker::Requests(&mut act)));
    }

    /// Processes a message that came for a user. The handler takes new requests and replies while the message is decoded; what
    /// else happens is for [`deliver`](Self::deliver) or [`poll_event`](Self::poll_event).
    pub fn handle_input_by(
        &mut self,
        now: Time,
        user: UserId,
        route: Route,
        octets: &[u8],
        handler: &mut dyn Handler,
    ) {
        self.input(now, user, route, octets, Some(Taker::Handler(handler)));
    }

    fn input(&mut self, now: Time, user: UserId, route: Route, octets: &[u8], taker: Option<Taker<'_>>) {
        self.advance(now);
        let length = octets.len() as u64;
        self.counters.in_messages += 1;
        self.counters.in_octets += length;
        // A keep-alive of some transports; there is nothing to answer.
        if octets.is_empty() || self.users.get(user.0 as usize).is_none_or(|user| user.is_stopped) {
            return;
        }
        self.sweep_unproven();
        self.process(user, route, octets, taker);
    }

    /// Processes a message.
    pub(super) fn process(&mut self, user: UserId, route: Route, octets: &[u8], taker: Option<Taker<'_>>) {
        let encoding = match Encoding::detect(octets) {
            // Not an encoding between gateways.
            Encoding::Json => Encoding::Pretty,
            encoding => encoding,
        };
        // Names of the message may be those of the registry, while the engine changes.
        let registry = self.registry.clone();
        match encoding.decode_with(&registry, octets) {
            Ok(message) => self.message(user.0, route, (encoding, &registry), message, octets, taker),
            Err(error) => self.undecodable(user.0, route, encoding, octets, &error),
        }
    }

    fn message(
        &mut self,
        user: u32,
        route: Route,
        (encoding, registry): (Encoding, &Registry),
        message: MegacoMessage<'_>,
        octets: &[u8],
        taker: Option<Taker<'_>>,
    ) {
        let MegacoMessage { auth_header, mess: Message { version, m_id, message_body } } = message;
        let Some(items) = self.users.get(user as usize).map(|user| &user.items) else { return };
        let (max_version, connect_by) = (items.max_version, items.connect_by);
        let dialect = Dialect {
            encoding: match items.encoding {
                Encode::Auto => encoding,
                Encode::As(encoding) => encoding,
            },
            version,
        };
        let transactions = match message_body {
            MessageBody::MessageError(error) => {
                let (code, text) = wire::code_and_text(&error);
                let conn = self.find_mid(user, &m_id);
                self.count(conn, |counters| counters.message_errors_received += 1);
                let conn = conn.map(|index| self.conn_id(index));
                let remote_mid = wire::mid_text(&m_id);
                return self.events.push_back(Event::MessageError { conn, route, remote_mid, code, text });
            }
            MessageBody::Transactions(transactions) => transactions,
        };
        let holds_request = transactions.iter().any(is_request);
        // A message that holds no request is never answered by an error.
        if auth_header.is_some() && holds_request {
            return self.refuse_message(user, route, dialect, 402, "Authentication is not supported");
        }
        if !(1..=max_version).contains(&version) && holds_request {
            let dialect = Dialect { version: max_version, ..dialect };
            return self.refuse_message(user, route, dialect, 406, "Unsupported version");
        }
        let Some(conn) = self.conn_of(user, &m_id, route, &transactions, dialect, connect_by) else {
            return;
        };
        let length = octets.len() as u64;
        let now = self.now;
        let Some(found) = self.conns.get_mut(conn) else { return };
        found.counters.in_messages += 1;
        found.counters.in_octets += length;
        found.last_input = now;
        if found.items.encoding == Encode::Auto {
            found.encoding = encoding;
        }
        if found.state == State::Connecting {
            // In silence: the peer sends its requests again.
            if found.held.is_none() {
                found.held = Some(Box::new((route, octets.into())));
            } else if holds_request {
                self.count(Some(conn), |counters| counters.dropped += 1);
            }
            return;
        }
        // The stream of before is closed, so that this one is the way to the peer.
        if found.route.is_none() {
            self.move_to(conn, Some(route));
        }
        if holds_request && !self.version_fits(conn, version, &transactions) {
            let dialect = self.dialect(conn);
            return self.refuse_message(user, route, dialect, 406, "Not the negotiated version");
        }
        let has_handler = matches!(taker, Some(Taker::Handler(_)));
        let replied = List::new();
        let mut input =
            Input { route, dialect, encoding, octets, shared: None, registry, has_handler, replied };
        let mut fresh = List::new();
        for (index, transaction) in transactions.iter().enumerate() {
            match transaction {
                Transaction::TransactionRequest(request) => match *request.transaction_id {
                    Some(id) => {
                        let registers =
                            registration(&request.actions).map(|parms| parms.service_change_method);
                        let known = fresh.len();
                        self.request_received(conn, &mut input, id, index, registers, &mut fresh);
                        // A copy says where the gateway was.
                        if fresh.len() > known
                            && let Some(parms) = registration(&request.actions)
                        {
                            self.follow_registration(conn, route, parms);
                        }
                    }
                    None => {
                        self.answer_error(Some(conn), user, route, dialect, 0, 403, "Missing transaction id")
                    }
                },
                Transaction::TransactionPending(pending) => {
                    self.pending_received(conn, pending.transaction_id);
                }
                Transaction::TransactionReply(reply) => match *reply.transaction_id {
                    Some(id) => self.reply_received(conn, &mut input, id, index, reply),
                    None => self.count(Some(conn), |counters| counters.errors += 1),
                },
                Transaction::TransactionResponseAck(acks) => self.acks_received(conn, acks),
                Transaction::SegmentReply(segment) => self.segment_acked(conn, segment),
            }
        }
        if let Some(taker) = taker {
            let conn = self.conn_id(conn);
            self.hand_over(conn, version, &transactions, &mut input, &fresh, taker);
        } else if !fresh.is_empty() {
            self.events.push_back(Event::Requests {
                conn: self.conn_id(conn),
                version,
                route,
                message: input.received(),
                requests: fresh,
            });
        }
        self.free_if_unused(conn);
    }

    /// Hands the replies and the new requests of a message to a handler, after all of the message has been processed: the handler
    /// may end the connection.
    fn hand_over(
        &mut self,
        conn: ConnId,
        version: u8,
        transactions: &[Transaction<'_>],
        input: &mut Input<'_>,
        fresh: &[Incoming],
        mut taker: Taker<'_>,
    ) {
        if let Taker::Handler(handler) = &mut taker {
            if fresh.is_empty() && input.replied.is_empty() {
                return;
            }
            // What happened before, such as the begin of the connection.
            self.deliver(self.now, *handler);
            for &(request, transaction, index) in &std::mem::take(&mut input.replied) {
                let Some(Transaction::TransactionReply(reply)) = transactions.get(index) else { continue };
                let TransactionResult::ActionReplies(actions) = &reply.transaction_result else { continue };
                if !handler.reply(self, Replied { conn, version, request, transaction, actions }) {
                    let outcome =
                        Outcome::Reply(vec![Reply { message: input.received(), index, segment: None }]);
                    self.events.push_back(Event::Result { conn, request, transaction, outcome });
                }
            }
        }
        for incoming in fresh {
            let Incoming { token, transaction, index } = *incoming;
            if let Some(Transaction::TransactionRequest(request)) = transactions.get(index) {
                let route = input.route;
                let actions = &request.actions;
                let asked = Asked { conn, version, route, token, transaction, actions };
                match &mut taker {
                    Taker::Handler(handler) => handler.request(self, asked),
                    Taker::Requests(act) => act(self, asked),
                }
            }
        }
    }

    /// The connection of a message, which may begin with it.
    fn conn_of(
        &mut self,
        user: u32,
        mid: &MId<'_>,
        route: Route,
        transactions: &[Transaction<'_>],
        dialect: Dialect,
        connect_by: ConnectBy,
    ) -> Option<u32> {
        let holds_request = transactions.iter().any(is_request);
        let registers = || {
            let mut requests = transactions.iter().filter_map(|transaction| match transaction {
                Transaction::TransactionRequest(request) => Some(request),
                _ => None,
            });
            requests.next().is_some_and(|request| registration(&request.actions).is_some())
        };
        let known = self.find_mid(user, mid);
        // A preliminary connection is known by its route, or by the request that is answered.
        let unnamed = self.preliminary.get(&(user, route)).copied().or_else(|| {
            let ids = transactions.iter().filter_map(answered_id);
            let mut requests = ids.filter_map(|id| self.request_ids.get(&(user, id)));
            let conn = self.requests.get(*requests.next()?)?.conn;
            self.conns.get(conn)?.mid.is_none().then_some(conn)
        });
        if let Some(unnamed) = unnamed {
            self.name_conn(unnamed, mid);
            let has_ended = self.conns.get(unnamed).is_some_and(|conn| conn.state == State::Disconnected);
            if has_ended && holds_request {
                self.reconnect(unnamed, Some(route));
            }
            if !has_ended || holds_request {
                self.connected(unnamed, route, dialect.version, false);
            }
            return Some(unnamed);
        }
        let is_live =
            known.is_some_and(|known| self.conns.get(known).is_some_and(|c| c.state != State::Disconnected));
        if is_live || (known.is_some() && !holds_request) {
            return known;
        }
        if !holds_request {
            for transaction in transactions {
                let (kind, transaction) = match transaction {
                    Transaction::TransactionReply(reply) => {
                        (Unexpected::Reply, reply.transaction_id.unwrap_or(0))
                    }
                    Transaction::TransactionPending(pending) => (Unexpected::Pending, pending.transaction_id),
                    Transaction::SegmentReply(segment) => (Unexpected::Segment, segment.transaction_id),
                    Transaction::TransactionResponseAck(acks) => {
                        (Unexpected::Ack, acks.first().map_or(0, |ack| ack.first_ack))
                    }
                    Transaction::TransactionRequest(_) => continue,
                };
                self.unexpected(None, kind, transaction);
            }
            return None;
        }
        if connect_by == ConnectBy::Registration && !registers() {
            for transaction in transactions {
                if let Transaction::TransactionRequest(request) = transaction {
                    let id = request.transaction_id.unwrap_or(0);
                    self.answer_error(None, user, route, dialect, id, 504, "Not registered");
                }
            }
            return None;
        }
        let items = self.users.get(user as usize).map(|user| Arc::clone(&user.items))?;
        let conn = match known {
            Some(known) => {
                self.reconnect(known, Some(route));
                known
            }
            None => match self.add_conn(user, Some(wire::borrow(mid)), Some(route), State::Connected) {
                Ok(conn) => conn,
                Err(_) => {
                    self.counters.dropped += 1;
                    return None;
                }
            },
        };
        if let Some(found) = self.conns.get_mut(conn) {
            found.version = dialect.version.min(items.max_version);
            found.encoding = dialect.encoding;
            if items.confirm_connect {
                found.state = State::Connecting;
            }
        }
        self.watch_unproven(conn, route);
        self.connected(conn, route, dialect.version, items.confirm_connect);
        Some(conn)
    }

    fn connected(&mut self, conn: u32, route: Route, version: u8, must_accept: bool) {
        let conn = self.conn_id(conn);
        self.events.push_back(Event::Connect { conn, version, route, must_accept });
    }

    /// Whether requests of a message may be in its version: it is the negotiated one, or they register again, or were
    /// received before.
    fn version_fits(&self, conn: u32, version: u8, transactions: &[Transaction<'_>]) -> bool {
        let Some(found) = self.conns.get(conn) else { return true };
        if version == found.version || !found.items.strict_version {
            return true;
        }
        transactions.iter().all(|transaction| match transaction {
            Transaction::TransactionRequest(request) => {
                registration(&request.actions).is_some()
                    || request.transaction_id.is_none_or(|id| self.response_ids.contains_key(&(conn, id)))
            }
            _ => true,
        })
    }

    /// A registration tells where further requests go: to its source, or to its ServiceChangeAddress.
    fn follow_registration(&mut self, conn: u32, route: Route, parms: &ServiceChangeParm<'_>) {
        if let Some(found) = self.conns.get_mut(conn) {
            found.is_registered = true;
        }
        let address = parms.service_change_address.as_ref();
        self.move_to(conn, Some(address.map_or(route, |address| at_address(route, address))));
    }

    pub(super) fn unexpected(&mut self, conn: Option<u32>, kind: Unexpected, transaction: u32) {
        self.count(conn, |counters| counters.unexpected += 1);
        let conn = conn.map(|index| self.conn_id(index));
        self.events.push_back(Event::Unexpected { conn, kind, transaction });
    }

    /// Answers a request by an error without remembering it.
    #[expect(
        clippy::too_many_arguments,
        reason = "a request without a connection has no state that holds these"
    )]
    fn answer_error(
        &mut self,
        conn: Option<u32>,
        user: u32,
        route: Route,
        dialect: Dialect,
        id: u32,
        code: u16,
        text: &str,
    ) {
        self.count(conn, |counters| counters.errors += 1);
        if !self.gate.admits(self.now, route) {
            return;
        }
        let reply = error_reply(id, code, text);
        let Some(user) = self.users.get(user as usize) else { return };
        if let Ok(octets) = dialect.message(&self.registry, &user.mid, List::One(reply), &mut self.scratch) {
            self.transmit(conn, route, octets, List::new(), false);
        }
    }

    /// Refuses a message as a whole, and reports it.
    fn refuse_message(&mut self, user: u32, route: Route, dialect: Dialect, code: u16, text: &str) {
        self.counters.errors += 1;
        self.message_error(user, route, dialect, code, text);
        self.events.push_back(Event::SyntaxError { route, code, text: text.to_owned() });
    }

    /// Sends an error of a message.
    pub(super) fn message_error(&mut self, user: u32, route: Route, dialect: Dialect, code: u16, text: &str) {
        if !self.gate.admits(self.now, route) {
            return;
        }
        let Some(user) = self.users.get(user as usize) else { return };
        if let Ok(octets) = dialect.error(&self.registry, &user.mid, code, text) {
            self.counters.message_errors_sent += 1;
            self.transmit(None, route, octets.into(), List::new(), false);
        }
    }

    /// Answers what cannot be decoded, unless it begins with something that is not a request.
    fn undecodable(
        &mut self,
        user: u32,
        route: Route,
        encoding: Encoding,
        octets: &[u8],
        error: &tercet_megaco::Error,
    ) {
        let Some(items) = self.users.get(user as usize).map(|user| Arc::clone(&user.items)) else { return };
        let begin = encoding.decode_version_and_mid(octets).ok();
        let conn = begin.as_ref().and_then(|(_, mid)| self.find_mid(user, mid));
        let version = begin.as_ref().map(|begin| begin.0);
        if let Some(conn) = conn.and_then(|conn| self.conns.get_mut(conn)) {
            conn.counters.errors += 1;
        }
        let (code, text) = match version {
            Some(version) if !(1..=items.max_version).contains(&version) => {
                (406, "Unsupported version".to_owned())
            }
            _ => match encoding {
                Encoding::Pretty | Encoding::Compact => {
                    let (line, _) = error.line_and_column(octets);
                    (400, format!("Syntax error on line {line}"))
                }
                _ => (400, format!("Syntax error at byte {}", error.at)),
            },
        };
        let is_answered = matches!(encoding.opening(octets), None | Some(Opening::Request));
        let dialect = Dialect {
            encoding: match items.encoding {
                Encode::Auto => encoding,
                Encode::As(encoding) => encoding,
            },
            version: match version {
                Some(version) if (1..=items.max_version).contains(&version) => version,
                Some(_) => items.max_version,
                None => conn.map_or(items.protocol_version, |conn| self.dialect(conn).version),
            },
        };
        self.counters.errors += 1;
        if is_answered {
            self.message_error(user, route, dialect, code, &text);
        }
        let text = match error.what {
            "incomplete" => format!("{text}: the message is incomplete"),
            what => format!("{text}: expected {what}"),
        };
        self.events.push_back(Event::SyntaxError { route, code, text });
    }
}

const fn is_request(transaction: &Transaction<'_>) -> bool {
    matches!(transaction, Transaction::TransactionRequest(_))
}

/// The way to a ServiceChangeAddress of a peer that is known by a way: another port, or another address.
pub(super) fn at_address(route: Route, address: &ServiceChangeAddress<'_>) -> Route {
    let port = |port: Option<u16>| port.unwrap_or_else(|| route.peer.port());
    let peer = match address {
        ServiceChangeAddress::PortNumber(port) => (route.peer.ip(), *port),
        ServiceChangeAddress::Ip4Address(address) => (address.address.into(), port(address.port_number)),
        ServiceChangeAddress::Ip6Address(address) => (address.address.into(), port(address.port_number)),
        // Names are for the driver to resolve.
        _ => return route,
    };
    // The other end of a stream is where it is.
    if route.transport.may_be_spoofed() { Route { peer: peer.into(), ..route } } else { route }
}

/// The request that a transaction is about, if we made it.
fn answered_id(transaction: &Transaction<'_>) -> Option<u32> {
    match transaction {
        Transaction::TransactionReply(reply) => *reply.transaction_id,
        Transaction::TransactionPending(pending) => Some(pending.transaction_id),
        _ => None,
    }
}

/// Returns the parameters of a ServiceChange on ROOT by which a gateway registers (H.248.1 11.2, 11.5), if there is one among
/// the actions of a request.
pub fn registration<'p, 'a>(actions: &'p [ActionRequest<'a>]) -> Option<&'p ServiceChangeParm<'a>> {
    let commands = actions.iter().flat_map(|action| action.command_requests.iter());
    commands
        .filter_map(|request| match &request.command {
            Command::ServiceChangeReq(change) if change.termination_id.iter().any(|id| id.0 == "root") => {
                Some(&*change.service_change_parms)
            }
            _ => None,
        })
        .find(|parms| {
            use ServiceChangeMethod::{Disconnected, Failover, HandOff, Restart};
            matches!(parms.service_change_method, Restart | Failover | Disconnected | HandOff)
        })
}

/// The reply to a request that is an error.
pub(super) fn error_reply(id: u32, code: u16, text: &str) -> Transaction<'static> {
    Transaction::TransactionReply(TransactionReply {
        transaction_id: Lenient(Some(id)),
        imm_ack_required: None,
        transaction_result: TransactionResult::TransactionError(wire::descriptor(code, text)),
        segment_number: None,
        segmentation_complete: None,
    })
}

impl Incoming {
    pub(super) const fn new(token: Token, transaction: u32, index: usize) -> Self {
        Self { token, transaction, index }
    }
}
