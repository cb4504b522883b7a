//! One engine whose peer is the test: messages of compact text go in and out, in virtual time.

use tercet_megaco::List;
use tercet_megaco::model::{ActionRequest, MessageBody, Transaction, TransactionResult};
use tercet_megaco::text::{read_message, read_mid};
use tercet_megaco_engine::{
    AckMode, ConnId, Engine, Error, Event, Items, Limits, Outcome, ReplyOptions, RequestId, RequestOptions,
    Route, Time, Token, Transmit, Transport, UserId,
};

/// The engine is `<a>`, its peer `<b>`.
pub(crate) struct Side {
    pub(crate) engine: Engine,
    pub(crate) user: UserId,
    pub(crate) now: u64,
    tokens: Vec<(u32, Token)>,
    /// Header that messages have, which is not shown.
    header: String,
}

/// The route of the peer with a number.
pub(crate) fn route(number: u16) -> Route {
    Route { transport: Transport::Udp, link: 0, peer: ([192, 0, 2, 1], number).into() }
}

/// A stream.
pub(crate) fn stream(link: u32) -> Route {
    Route { transport: Transport::Tcp, link, peer: ([192, 0, 2, 1], 2944).into() }
}

pub(crate) fn actions(text: &str) -> List<ActionRequest<'_>> {
    let whole = Box::leak(format!("!/3 <x> T=1{{{text}}}").into_boxed_str());
    let MessageBody::Transactions(List::One(Transaction::TransactionRequest(request))) =
        read_message(whole.as_bytes()).unwrap().mess.message_body
    else {
        panic!("{text}")
    };
    request.actions
}

/// What is between the braces of a reply.
pub(crate) fn result(text: &str) -> TransactionResult<'static> {
    let whole = Box::leak(format!("!/3 <x> P=1{{{text}}}").into_boxed_str());
    let MessageBody::Transactions(List::One(Transaction::TransactionReply(reply))) =
        read_message(whole.as_bytes()).unwrap().mess.message_body
    else {
        panic!("{text}")
    };
    reply.transaction_result
}

impl Side {
    pub(crate) fn new(items: &[(&str, &str)]) -> Self {
        Self::with_limits(items, Limits::default())
    }

    pub(crate) fn with_limits(items: &[(&str, &str)], limits: Limits) -> Self {
        let mut all = Items::default();
        all.set("encoding", "compact").unwrap();
        for (name, value) in items {
            all.set(name, value).unwrap();
        }
        let mut engine = Engine::new(7, limits);
        let user = engine.add_user(read_mid(b"<a>").unwrap(), all).unwrap();
        Self { engine, user, now: 0, tokens: Vec::new(), header: " <a>\n".to_owned() }
    }

    /// Connects to `<b>` at the first route.
    pub(crate) fn connect(&mut self) -> ConnId {
        let mid = read_mid(b"<b>").unwrap();
        self.engine.connect(self.time(), self.user, Some(mid), route(1)).unwrap()
    }

    pub(crate) fn time(&self) -> Time {
        Time::from_millis(self.now)
    }

    /// A message of `<b>` from its first route, in version 1.
    pub(crate) fn receive(&mut self, body: &str) {
        self.receive_from(route(1), &format!("!/1 <b> {body}"));
    }

    pub(crate) fn receive_from(&mut self, route: Route, message: &str) {
        self.engine.handle_input(self.time(), self.user, route, message.as_bytes());
    }

    /// Sends a request; returns its transaction id.
    pub(crate) fn request(&mut self, conn: ConnId, text: &str) -> u32 {
        self.try_request(conn, text, &RequestOptions::default()).unwrap().1
    }

    pub(crate) fn try_request(
        &mut self,
        conn: ConnId,
        text: &str,
        options: &RequestOptions,
    ) -> Result<(RequestId, u32), Error> {
        let requests = self.engine.request(self.time(), conn, vec![actions(text)], options)?;
        Ok(requests[0])
    }

    /// Answers the last request of an id.
    pub(crate) fn reply(&mut self, id: u32, text: &str, ack: AckMode) -> Result<(), Error> {
        let mut options = ReplyOptions::default();
        options.ack = ack;
        let token = self.token(id);
        self.engine.reply(self.time(), token, result(text), &options)
    }

    pub(crate) fn token(&self, id: u32) -> Token {
        self.tokens.iter().rev().find(|known| known.0 == id).unwrap().1
    }

    pub(crate) fn transmits(&mut self) -> Vec<Transmit> {
        std::iter::from_fn(|| self.engine.poll_transmit()).collect()
    }

    /// What was sent since the last call: without the header of version 1, with `again` before it if it is sent again, and
    /// with the port of any other route than the first.
    pub(crate) fn sent(&mut self) -> Vec<String> {
        let all = self.transmits();
        all.iter().map(|transmit| self.shown(transmit)).collect()
    }

    fn shown(&self, transmit: &Transmit) -> String {
        let text = String::from_utf8(transmit.octets.to_vec()).unwrap();
        let again = if transmit.is_resend { "again " } else { "" };
        let to = match transmit.route.peer.port() {
            1 | 2944 => String::new(),
            port => format!("to {port}: "),
        };
        let body = text.replacen("!/1", "", 1);
        format!("{to}{again}{}", body.strip_prefix(&self.header).unwrap_or(&body))
    }

    /// Lets time pass up to a moment. Returns what was sent and what happened, with the milliseconds.
    pub(crate) fn run(&mut self, until: u64) -> Vec<String> {
        let mut all = Vec::new();
        while let Some(deadline) =
            self.engine.poll_timeout().map(|time| time.as_millis()).filter(|&at| at <= until)
        {
            self.now = deadline;
            self.engine.handle_timeout(self.time());
            let happened: Vec<String> = self.sent().into_iter().chain(self.events()).collect();
            all.extend(happened.into_iter().map(|text| format!("{deadline} {text}")));
        }
        self.now = until;
        self.engine.handle_timeout(self.time());
        all
    }

    /// What happened since the last call.
    pub(crate) fn events(&mut self) -> Vec<String> {
        let mut all = Vec::new();
        while let Some(event) = self.engine.poll_event() {
            if let Event::Requests { requests, .. } = &event {
                self.tokens.extend(requests.iter().map(|request| (request.transaction, request.token)));
            }
            all.push(shown_event(&event));
        }
        all
    }

    /// Checks that nothing is left.
    #[track_caller]
    pub(crate) fn assert_empty(&self) {
        let gauges = self.engine.gauges();
        assert_eq!(
            (gauges.requests, gauges.replies, gauges.reply_octets, gauges.timers),
            (0, 0, 0, 0),
            "{gauges:?}"
        );
    }
}

fn shown_event(event: &Event) -> String {
    match event {
        Event::Connect { version, must_accept, .. } => {
            format!("connect v{version}{}", if *must_accept { " accept?" } else { "" })
        }
        Event::Disconnect { remote_mid, reason, .. } => format!("disconnect {remote_mid} {reason}"),
        Event::Requests { requests, .. } => {
            let ids: Vec<String> = requests.iter().map(|request| request.transaction.to_string()).collect();
            format!("execute {}", ids.join(" "))
        }
        Event::Result { transaction, outcome, .. } => {
            format!("result {transaction} {}", shown_outcome(outcome))
        }
        Event::PendingSent { transaction, .. } => format!("pending out {transaction}"),
        Event::PendingReceived { transaction, .. } => format!("pending in {transaction}"),
        Event::Ack { transaction, status, .. } => format!("ack {transaction} {status:?}"),
        Event::Abort { transaction, code, .. } => format!("abort {transaction} {code}"),
        Event::Swallowed { .. } => "swallowed".to_owned(),
        Event::Unexpected { kind, transaction, .. } => format!("unexpected {kind:?} {transaction}"),
        Event::MessageError { code, text, .. } => {
            format!("message error {code} {}", text.clone().unwrap_or_default())
        }
        Event::SyntaxError { code, text, .. } => format!("syntax error {code} {text}"),
        Event::Segment { transaction, segment, complete, .. } => {
            format!("segment {transaction}/{segment}{}", if *complete { " end" } else { "" })
        }
        Event::Idle { .. } => "idle".to_owned(),
        Event::LimitReached { limit, .. } => format!("limit {limit}"),
        other => format!("{other:?}"),
    }
}

fn shown_outcome(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Reply(replies) if replies[0].segment.is_some() => {
            let numbers: Vec<String> =
                replies.iter().filter_map(|r| r.segment).map(|s| s.to_string()).collect();
            format!("ok in segments {}", numbers.join(" "))
        }
        Outcome::Reply(_) => "ok".to_owned(),
        Outcome::Further(number, _) => format!("further {number}"),
        Outcome::Error { code, .. } => format!("error {code}"),
        Outcome::SegmentTimeout { missing, received } => {
            format!("segment timeout, missing {missing:?}, {} came", received.len())
        }
        other => format!("{other:?}"),
    }
}
