//! The transactions of a gateway or controller, for drivers in Python.

use super::inbox::{self, Happened, Inbox, Request};
use crate::error;
use crate::octets;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, SocketAddr};
use tercet_megaco::List;
use tercet_megaco::model::{
    ActionReply, ActionRequest, ErrorDescriptor, MessageBody, Transaction, TransactionResult,
};
use tercet_megaco::text::{read_message, read_mid};
use tercet_megaco_engine::{
    Answers, ConnId, Engine as Transactions, Event, Items, Limits, Outcome, ReplyOptions, RequestOptions,
    Route, Time, Transport, UserId, registration,
};

/// A way to a peer: the transport (`udp` or `tcp`), the number of the socket or stream, host and port.
type Way = (String, u32, String, u16);

/// Requests and replies of one gateway or controller. It does no input and output and reads no clock: times are in
/// seconds.
///
/// `mid` is its message identifier, such as `<mgc>`. `items` are the configuration items of the engine, such as
/// `request_timer` and `encoding`, with their values as text.
///
/// Raises ArgumentError for an unknown item and for a bad value.
#[pyclass(module = "tercet.megaco")]
pub(crate) struct Engine {
    engine: Transactions,
    user: UserId,
    max_version: u8,
    answers: Answers,
    inbox: Inbox,
    /// Numbers by which Python knows connections.
    connections: HashMap<u64, ConnId>,
    numbers: HashMap<ConnId, u64>,
    next_connection: u64,
    /// Requests of peers that wait for an answer.
    waiting: HashMap<u64, Request>,
    next_request: u64,
}

/// A dictionary of an event.
macro_rules! event {
    ($py:ident, $name:literal $(, $key:ident: $value:expr)*) => {{
        let event = PyDict::new($py);
        event.set_item("event", $name)?;
        $(event.set_item(stringify!($key), $value)?;)*
        event
    }};
}

fn time(seconds: f64) -> Time {
    // A negative time is the origin.
    Time::from_micros((seconds * 1e6) as u64)
}

fn route((transport, link, host, port): &Way) -> PyResult<Route> {
    let transport = match transport.as_str() {
        "udp" => Transport::Udp,
        "tcp" => Transport::Tcp,
        other => return Err(error::argument(tercet::suggest::unknown("transport", other, ["udp", "tcp"]))),
    };
    let address: IpAddr =
        host.parse().map_err(|_| error::argument(format!("host: `{host}` is not an address of IP")))?;
    Ok(Route { transport, link: *link, peer: SocketAddr::new(address, *port) })
}

fn way(route: Route) -> Way {
    (route.transport.name().to_owned(), route.link, route.peer.ip().to_string(), route.peer.port())
}

/// Makes an exception of an error of the engine.
fn refused(py: Python<'_>, fault: tercet_megaco_engine::Error) -> PyErr {
    match fault {
        tercet_megaco_engine::Error::Encode(fault) => error::megaco_value(py, &fault),
        other => error::argument(other),
    }
}

/// A message around a part of a transaction in compact text, and how long what is before the part is.
fn around(version: u8, begin: &str, text: &str) -> (String, usize) {
    let begin = format!("!/{version} x {begin}{{");
    (format!("{begin}{text}}}"), begin.len())
}

/// Reads the one transaction of a message whose part is the user's.
fn transaction<'m>(
    py: Python<'_>,
    message: &'m str,
    begin: usize,
    text: &str,
    what: &'static str,
) -> PyResult<Transaction<'m>> {
    let body = read_message(message.as_bytes()).map(|message| message.mess.message_body);
    match body {
        Ok(MessageBody::Transactions(List::One(transaction))) => Ok(transaction),
        Ok(_) => error_at(py, text, 0, what),
        Err(fault) => error_at(py, text, fault.at.saturating_sub(begin).min(text.len()), fault.what),
    }
}

fn error_at<T>(py: Python<'_>, text: &str, at: usize, what: &'static str) -> PyResult<T> {
    Err(error::megaco(py, &tercet_megaco::Error { at, what }, Some(text.as_bytes())))
}

impl Engine {
    fn connection(&self, number: u64) -> PyResult<ConnId> {
        self.connections.get(&number).copied().ok_or_else(|| error::argument("unknown connection"))
    }

    fn number(&mut self, connection: ConnId) -> u64 {
        if let Some(number) = self.numbers.get(&connection) {
            return *number;
        }
        let number = self.next_connection;
        self.next_connection += 1;
        self.numbers.insert(connection, number);
        self.connections.insert(number, connection);
        number
    }

    fn waiting(&self, request: u64) -> PyResult<&Request> {
        self.waiting
            .get(&request)
            .ok_or_else(|| error::argument("the request is answered, aborted or forgotten"))
    }

    /// Answers a request, and takes over the version of a registration.
    fn answer(
        &mut self,
        py: Python<'_>,
        now: f64,
        request: u64,
        result: TransactionResult<'_>,
    ) -> PyResult<()> {
        let Some(waiting) = self.waiting.remove(&request) else {
            return self.waiting(request).map(drop);
        };
        let options = ReplyOptions::default();
        let is_ok = matches!(result, TransactionResult::ActionReplies(_));
        if let Err(fault) = self.engine.reply(time(now), waiting.token, result, &options) {
            if matches!(
                fault,
                tercet_megaco_engine::Error::Encode(_) | tercet_megaco_engine::Error::TooLarge(_)
            ) {
                // It can be answered again.
                self.waiting.insert(request, waiting);
            }
            return Err(refused(py, fault));
        }
        if let Some(parms) = registration(&waiting.actions).filter(|_| is_ok) {
            let asked = parms.service_change_version.unwrap_or(waiting.version);
            // The connection may have ended since.
            _ = self.engine.set_version(waiting.connection, asked.clamp(1, self.max_version));
        }
        Ok(())
    }
}

#[pymethods]
impl Engine {
    #[new]
    #[pyo3(signature = (mid, *, seed = 0, items = None))]
    fn new(py: Python<'_>, mid: &str, seed: u64, items: Option<HashMap<String, String>>) -> PyResult<Self> {
        let mut all = Items::default();
        for (name, value) in items.unwrap_or_default() {
            all.set(&name, &value).map_err(error::argument)?;
        }
        let max_version = all.max_version;
        let mid =
            read_mid(mid.as_bytes()).map_err(|fault| error::megaco(py, &fault, Some(mid.as_bytes())))?;
        let mut engine = Transactions::new(seed, Limits::default());
        let user = engine.add_user(mid, all).map_err(|fault| refused(py, fault))?;
        Ok(Self {
            engine,
            user,
            max_version,
            answers: Answers::new(max_version, 0),
            inbox: Inbox { max_version, happened: VecDeque::new() },
            connections: HashMap::new(),
            numbers: HashMap::new(),
            next_connection: 1,
            waiting: HashMap::new(),
            next_request: 1,
        })
    }

    /// Connects to a peer, and returns the number of the connection.
    fn connect(&mut self, py: Python<'_>, now: f64, way: Way) -> PyResult<u64> {
        let connection = self.engine.connect(time(now), self.user, None, route(&way)?);
        let connection = connection.map_err(|fault| refused(py, fault))?;
        Ok(self.number(connection))
    }

    /// Ends a connection.
    fn disconnect(&mut self, py: Python<'_>, now: f64, connection: u64) -> PyResult<()> {
        let connection = self.connection(connection)?;
        self.engine.disconnect(time(now), connection, "user").map_err(|fault| refused(py, fault))
    }

    /// Ends the requests that wait on a connection.
    fn cancel(&mut self, py: Python<'_>, now: f64, connection: u64) -> PyResult<()> {
        let connection = self.connection(connection)?;
        self.engine.cancel(time(now), connection).map_err(|fault| refused(py, fault))
    }

    /// Sends a request, actions in compact text such as `C=-{AV=root{AT{PG}}}`, and returns its transaction id.
    ///
    /// Raises DecodeError for text that is not the actions of one request, EncodeError for actions that the encoding or
    /// the version of the connection does not have.
    fn request(&mut self, py: Python<'_>, now: f64, connection: u64, actions: &str) -> PyResult<u32> {
        const WHAT: &str = "the actions of one request";
        let connection = self.connection(connection)?;
        let version = self.engine.version(connection).unwrap_or(1);
        let (message, begin) = around(version, "T=1", actions);
        let asked: List<ActionRequest<'_>> = match transaction(py, &message, begin, actions, WHAT)? {
            Transaction::TransactionRequest(request) => request.actions,
            _ => return error_at(py, actions, 0, WHAT),
        };
        let sent = self.engine.request(time(now), connection, [asked], &RequestOptions::default());
        let sent = sent.map_err(|fault| refused(py, fault))?;
        Ok(sent[0].1)
    }

    /// Answers a request by action replies in compact text such as `C=1{A=rtp1}`.
    ///
    /// Raises DecodeError for text that is not the actions of one reply, ArgumentError if the request has its answer.
    fn reply(&mut self, py: Python<'_>, now: f64, request: u64, actions: &str) -> PyResult<()> {
        const WHAT: &str = "the actions of one reply";
        let version = self.waiting(request)?.version;
        let (message, begin) = around(version, "P=1", actions);
        let replies: List<ActionReply<'_>> = match transaction(py, &message, begin, actions, WHAT)? {
            Transaction::TransactionReply(reply) => match reply.transaction_result {
                TransactionResult::ActionReplies(replies) => replies,
                TransactionResult::TransactionError(_) => return error_at(py, actions, 0, WHAT),
            },
            _ => return error_at(py, actions, 0, WHAT),
        };
        self.answer(py, now, request, TransactionResult::ActionReplies(replies))
    }

    /// Answers a request by success of all its commands: what `$` leaves open is chosen.
    fn accept(&mut self, py: Python<'_>, now: f64, request: u64) -> PyResult<()> {
        let actions = self.waiting(request)?.actions.clone();
        let result = self.answers.answer(&actions);
        self.answer(py, now, request, result)
    }

    /// Answers a request by an error of the transaction (H.248.8).
    fn refuse(
        &mut self,
        py: Python<'_>,
        now: f64,
        request: u64,
        code: u16,
        text: Option<&str>,
    ) -> PyResult<()> {
        let error = ErrorDescriptor { error_code: code, error_text: text.map(Into::into) };
        self.answer(py, now, request, TransactionResult::TransactionError(error))
    }

    /// Takes a message that came.
    fn receive(&mut self, now: f64, way: Way, data: &Bound<'_, PyAny>) -> PyResult<()> {
        let route = route(&way)?;
        let octets = octets::of(data)?;
        self.engine.handle_input_by(time(now), self.user, route, &octets, &mut self.inbox);
        Ok(())
    }

    /// Takes away a stream that is closed.
    fn closed(&mut self, now: f64, way: Way) -> PyResult<()> {
        self.engine.handle_closed(time(now), route(&way)?);
        Ok(())
    }

    /// Does what is due.
    fn tick(&mut self, now: f64) {
        self.engine.handle_timeout(time(now));
    }

    /// Returns the time at which `tick` has something to do.
    fn deadline(&self) -> Option<f64> {
        self.engine.poll_timeout().map(Time::as_secs_f64)
    }

    /// Returns the version of a connection.
    fn version(&self, connection: u64) -> PyResult<u8> {
        let connection = self.connection(connection)?;
        self.engine.version(connection).ok_or_else(|| error::argument("unknown connection"))
    }

    /// Returns the message identifier of the peer, `preliminary` if it has not sent anything.
    fn mid(&self, connection: u64) -> PyResult<String> {
        let mid = self.engine.remote_mid(self.connection(connection)?);
        mid.map(|mid| mid.to_string()).ok_or_else(|| error::argument("unknown connection"))
    }

    /// Returns all counters by their names.
    fn counters(&self) -> HashMap<&'static str, u64> {
        self.engine.counters().iter().collect()
    }

    /// Returns the messages to send, each with its way.
    fn transmits<'py>(&mut self, py: Python<'py>) -> Vec<(Way, Bound<'py, PyBytes>)> {
        let next = || self.engine.poll_transmit();
        std::iter::from_fn(next)
            .map(|transmit| (way(transmit.route), PyBytes::new(py, &transmit.octets)))
            .collect()
    }

    /// Returns what has happened, each a dictionary with its name as `event`.
    fn events<'py>(&mut self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let mut all = Vec::new();
        loop {
            let noted = self.inbox.happened.pop_front();
            let Some(next) = noted.or_else(|| self.engine.poll_event().map(Happened::Event)) else { break };
            match next {
                Happened::Event(event) => self.event(py, event, &mut all)?,
                Happened::Asked(request) => all.push(self.asked(py, request)?),
                Happened::Replied { connection, transaction, actions } => {
                    all.push(event!(py, "result",
                        connection: self.number(connection),
                        trans: transaction,
                        error: None::<&str>,
                        code: None::<u16>,
                        text: None::<&str>,
                        actions: vec![actions]
                    ));
                }
            }
        }
        Ok(all)
    }
}

impl Engine {
    fn asked<'py>(&mut self, py: Python<'py>, request: Request) -> PyResult<Bound<'py, PyDict>> {
        let number = self.next_request;
        self.next_request += 1;
        let event = event!(py, "request",
            connection: self.number(request.connection),
            request: number,
            trans: request.transaction,
            version: request.version,
            registers: registration(&request.actions).is_some(),
            actions: inbox::requests(&request.actions, request.version)
        );
        self.waiting.insert(number, request);
        Ok(event)
    }

    fn event<'py>(
        &mut self,
        py: Python<'py>,
        event: Event,
        all: &mut Vec<Bound<'py, PyDict>>,
    ) -> PyResult<()> {
        all.push(match event {
            Event::Connect { conn, version, route, .. } => {
                let mid = self.engine.remote_mid(conn).map(|mid| mid.to_string());
                event!(py, "connect", connection: self.number(conn), mid: mid, version: version, way: way(route))
            }
            Event::Disconnect { conn, remote_mid, reason } => {
                let number = self.number(conn);
                self.numbers.remove(&conn);
                self.connections.remove(&number);
                event!(py, "disconnect", connection: number, mid: &*remote_mid, reason: reason)
            }
            Event::Result { conn, transaction, outcome, .. } => {
                let (error, code, text, replies) = match &outcome {
                    Outcome::Reply(replies) => (None, None, None, &replies[..]),
                    Outcome::Further(_, reply) => (None, None, None, std::slice::from_ref(reply)),
                    Outcome::Error { code, text } => (Some("error_descriptor"), Some(*code), text.clone(), &[][..]),
                    Outcome::Timeout => (Some("timeout"), None, None, &[][..]),
                    Outcome::PendingLimit => (Some("pending_limit"), None, None, &[][..]),
                    Outcome::SegmentTimeout { received, .. } => (Some("segment_timeout"), None, None, &received[..]),
                    Outcome::SegmentLimit => (Some("segment_limit"), None, None, &[][..]),
                    Outcome::Cancelled => (Some("cancelled"), None, None, &[][..]),
                    Outcome::SendFailed(text) | Outcome::SendCancelled(text) => {
                        (Some("send_failed"), None, Some(text.clone()), &[][..])
                    }
                    Outcome::WrongMid(text) => (Some("wrong_mid"), None, Some(text.clone()), &[][..]),
                    _ => (Some("unknown"), None, None, &[][..]),
                };
                let mut actions = Vec::new();
                // Segments: they are decoded once more when all are there.
                for reply in replies {
                    let transactions = reply.message.transactions();
                    let Some(Transaction::TransactionReply(replied)) = transactions.get(reply.index) else { continue };
                    let TransactionResult::ActionReplies(replied) = &replied.transaction_result else { continue };
                    let version = self.engine.version(conn).unwrap_or(self.max_version);
                    actions.push(inbox::replies(replied, version));
                }
                event!(py, "result",
                    connection: self.number(conn),
                    trans: transaction,
                    error: error,
                    code: code,
                    text: text,
                    actions: actions
                )
            }
            Event::PendingSent { conn, transaction } => {
                event!(py, "pending", connection: self.number(conn), trans: transaction, direction: "sent")
            }
            Event::PendingReceived { conn, transaction } => {
                event!(py, "pending", connection: self.number(conn), trans: transaction, direction: "received")
            }
            Event::Abort { conn, token, transaction, code } => {
                self.waiting.retain(|_, waiting| waiting.token != token);
                event!(py, "abort", connection: self.number(conn), trans: transaction, code: code)
            }
            Event::MessageError { remote_mid, code, text, .. } => {
                event!(py, "message_error", mid: remote_mid, code: code, text: text)
            }
            Event::SyntaxError { route, code, text } => {
                event!(py, "syntax_error", code: code, text: text, way: way(route))
            }
            Event::LimitReached { conn, limit } => {
                event!(py, "limit", connection: self.number(conn), limit: limit)
            }
            // A connection that says nothing, acknowledgements, and what is late.
            _ => return Ok(()),
        });
        Ok(())
    }
}
