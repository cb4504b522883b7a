//! A handler in the manner of the callbacks of Erlang/OTP: each of them is called.

use tercet_megaco_engine::{
    AckStatus, Asked, ConnId, Engine, Event, Handler, Outcome, Replied, ReplyOptions, RequestId,
    RequestOptions, Route, Token, Unexpected,
};

use crate::harness::{Side, actions, result, route};

/// Writes down what it is called for, and answers requests.
#[derive(Default)]
struct Log {
    lines: Vec<String>,
    refuses: bool,
    keeps_replies: bool,
    waits: Vec<Token>,
}

impl Log {
    fn taken(&mut self) -> Vec<String> {
        std::mem::take(&mut self.lines)
    }
}

impl Handler for Log {
    fn request(&mut self, engine: &mut Engine, asked: Asked<'_, '_>) {
        self.lines.push(format!("request {} v{}", asked.transaction, asked.version));
        if asked.transaction >= 100 {
            return self.waits.push(asked.token);
        }
        let now = engine.now();
        let mut options = ReplyOptions::default();
        options.ack = tercet_megaco_engine::AckMode::Handle;
        engine.reply(now, asked.token, result("C=-{S=a}"), &options).unwrap();
    }

    fn reply(&mut self, _: &mut Engine, replied: Replied<'_, '_>) -> bool {
        self.lines.push(format!("reply {} of {}", replied.transaction, replied.actions.len()));
        self.keeps_replies
    }

    fn result(&mut self, _: &mut Engine, _: ConnId, _: RequestId, transaction: u32, outcome: Outcome) {
        let kind = match outcome {
            Outcome::Reply(replies) => format!("{} replies", replies.len()),
            Outcome::Error { code, .. } => format!("error {code}"),
            other => format!("{other:?}"),
        };
        self.lines.push(format!("result {transaction} {kind}"));
    }

    fn connect(&mut self, _: &mut Engine, _: ConnId, version: u8, _: Route) -> Result<(), (u16, String)> {
        self.lines.push(format!("connect v{version}"));
        if self.refuses { Err((504, "not now".to_owned())) } else { Ok(()) }
    }

    fn disconnect(&mut self, _: &mut Engine, _: ConnId, reason: &str) {
        self.lines.push(format!("disconnect {reason}"));
    }

    fn syntax_error(&mut self, _: &mut Engine, _: Route, code: u16, _: &str) {
        self.lines.push(format!("syntax error {code}"));
    }

    fn message_error(
        &mut self,
        _: &mut Engine,
        conn: Option<ConnId>,
        mid: &str,
        code: u16,
        text: Option<&str>,
    ) {
        self.lines.push(format!("message error {code} {text:?} of {mid}, known {}", conn.is_some()));
    }

    fn ack(&mut self, _: &mut Engine, _: ConnId, transaction: u32, status: &AckStatus) {
        self.lines.push(format!("ack {transaction} {status:?}"));
    }

    fn unexpected(&mut self, _: &mut Engine, _: Option<ConnId>, kind: Unexpected, transaction: u32) {
        self.lines.push(format!("unexpected {kind:?} {transaction}"));
    }

    fn abort(&mut self, _: &mut Engine, _: ConnId, token: Token, transaction: u32, code: u16) {
        self.waits.retain(|waits| *waits != token);
        self.lines.push(format!("abort {transaction} {code}"));
    }

    fn segment(&mut self, _: &mut Engine, _: ConnId, transaction: u32, segment: u16, complete: bool) {
        self.lines.push(format!("segment {transaction}/{segment} {complete}"));
    }

    fn other(&mut self, _: &mut Engine, event: Event) {
        if let Event::PendingSent { transaction, .. } = event {
            self.lines.push(format!("pending {transaction}"));
        }
    }
}

fn receive(side: &mut Side, log: &mut Log, message: &str) {
    let (now, user) = (side.time(), side.user);
    side.engine.handle_input_by(now, user, route(1), message.as_bytes(), log);
    side.engine.deliver(now, log);
}

#[test]
fn each_callback_is_called() {
    let mut a = Side::new(&[
        ("sent_pending_limit", "0"),
        ("segment_send", "1"),
        ("max_pdu_size", "60"),
        ("segment_reply_ind", "true"),
    ]);
    let mut log = Log::default();
    receive(&mut a, &mut log, "!/1 <b> T=7{C=-{S=a}}");
    assert_eq!(log.taken(), ["connect v1", "request 7 v1"]);
    assert_eq!(a.sent(), ["P=7{IA,C=-{S=a}}"]);
    receive(&mut a, &mut log, "!/1 <b> K{7}");
    assert_eq!(log.taken(), ["ack 7 Acknowledged"]);
    receive(&mut a, &mut log, "!/1 <b> P=9{C=-{S=a}}");
    assert_eq!(log.taken(), ["unexpected Reply 9"]);
    receive(&mut a, &mut log, "!/1 <b> ER=500{\"x\"}");
    assert_eq!(log.taken(), ["message error 500 Some(\"x\") of <b>, known true"]);
    receive(&mut a, &mut log, "!/1 <b> T=8{C=-{S}}");
    assert_eq!(log.taken(), ["syntax error 400"]);
    // A repeated request whose Pendings are used up is aborted.
    receive(&mut a, &mut log, "!/1 <b> T=100{C=-{S=a}}");
    a.now = 100;
    receive(&mut a, &mut log, "!/1 <b> T=100{C=-{S=a}}");
    assert_eq!(log.taken(), ["request 100 v1", "abort 100 506"]);
    assert!(log.waits.is_empty());
    a.sent();

    let conn = a.engine.connections().next().unwrap();
    let request = |a: &mut Side| {
        let now = a.time();
        a.engine.request(now, conn, vec![actions("C=-{AV=root{AT{}}}")], &RequestOptions::default()).unwrap();
    };
    // Replies that the handler takes, and those that it leaves, have one result each.
    for keeps in [true, false] {
        request(&mut a);
        log.keeps_replies = keeps;
        let id = if keeps { 1 } else { 2 };
        receive(&mut a, &mut log, &format!("!/1 <b> P={id}{{C=-{{AV=root}},C=1{{S=b}}}}"));
        let mut expected = vec![format!("reply {id} of 2")];
        if !keeps {
            expected.push(format!("result {id} 1 replies"));
        }
        assert_eq!(log.taken(), expected);
    }
    request(&mut a);
    receive(&mut a, &mut log, "!/1 <b> P=3{ER=430{}}");
    assert_eq!(log.taken(), ["result 3 error 430"]);
    let counters = *a.engine.counters();
    assert_eq!((counters.results_ok, counters.results_failed), (2, 1));

    // A reply in two segments, each of which is acknowledged.
    let now = a.time();
    a.engine.set_version(conn, 3).unwrap();
    receive(&mut a, &mut log, "!/3 <b> T=101{C=1{S=aaaaaaaaaaaaaaaaaaaaaaaaa},C=2{S=b}}");
    let token = log.waits.pop().unwrap();
    let two = result("C=1{S=aaaaaaaaaaaaaaaaaaaaaaaaa},C=2{S=bbbbbbbbbbbbbbbbbbbbbbbb}");
    a.engine.reply(now, token, two, &ReplyOptions::default()).unwrap();
    log.taken();
    receive(&mut a, &mut log, "!/3 <b> SM=101/1");
    receive(&mut a, &mut log, "!/3 <b> SM=101/2/END");
    assert_eq!(log.taken(), ["segment 101/1 false", "segment 101/2 true"]);

    a.engine.disconnect(now, conn, "bye").unwrap();
    a.engine.deliver(now, &mut log);
    assert_eq!(log.taken(), ["disconnect bye"]);
}

/// The first message of a connection waits for the handler's decision.
#[test]
fn connections_are_decided_about() {
    for refuses in [false, true] {
        let mut a = Side::new(&[("confirm_connect", "true")]);
        let mut log = Log { refuses, ..Log::default() };
        receive(&mut a, &mut log, "!/1 <b> T=7{C=-{S=a}}");
        if refuses {
            assert_eq!(log.taken(), ["connect v1", "disconnect refused"]);
            assert_eq!(a.sent(), ["ER=504{\"not now\"}"]);
        } else {
            assert_eq!(log.taken(), ["connect v1", "request 7 v1"]);
            assert_eq!(a.sent(), ["P=7{IA,C=-{S=a}}"]);
        }
    }
}
