//! Messages as a whole: connections, versions, errors, what is answered and what never is.

use super::harness::{Side, actions, result, route};
use tercet_megaco_engine::{AckMode, ConnId, Event, ReplyOptions, RequestOptions};

const REQUEST: &str = "T=7{C=-{S=a}}";
const REGISTER: &str = "T=1{C=-{SC=ROOT{SV{MT=RS,RE=\"901\"}}}}";

fn first(side: &Side) -> ConnId {
    side.engine.connections().next().unwrap()
}

#[test]
fn otp_4359_a_missing_transaction_id() {
    let mut a = Side::new(&[]);
    a.receive("T={C=-{S=a}}");
    assert_eq!(a.sent(), ["P=0{ER=403{\"Missing transaction id\"}}"]);
    assert_eq!(a.events(), ["connect v1"]);
}

/// Requests that are taken while their message is decoded: each new one once, answered at once or later.
#[test]
fn requests_without_events() {
    let mut a = Side::new(&[]);
    let mut later = None;
    for round in 0..2 {
        let message = b"!/1 <b> T=7{C=-{S=a}}T=8{C=1{S=b},C=2{S=c}}PN=9{}";
        let mut seen = Vec::new();
        let (now, user) = (a.time(), a.user);
        a.engine.handle_input_with(now, user, route(1), message, |engine, asked| {
            seen.push((asked.transaction, asked.version, asked.actions.len()));
            if asked.transaction == 7 {
                engine.reply(now, asked.token, result("C=-{S=a}"), &ReplyOptions::default()).unwrap();
            } else {
                later = Some(asked.token);
            }
        });
        if round == 0 {
            assert_eq!(seen, [(7, 1, 1), (8, 1, 2)]);
            assert_eq!(a.sent(), ["P=7{C=-{S=a}}"]);
            assert_eq!(a.events(), ["connect v1", "unexpected Pending 9"]);
        } else {
            assert_eq!(seen, []);
            assert_eq!(a.sent(), ["again P=7{C=-{S=a}}"]);
        }
    }
    let token = later.unwrap();
    a.engine.reply(a.time(), token, result("C=1{S=b},C=2{S=c}"), &ReplyOptions::default()).unwrap();
    assert_eq!(a.sent(), ["P=8{C=1{S=b},C=2{S=c}}"]);
}

#[test]
fn messages_that_cannot_be_decoded() {
    let mut a = Side::new(&[]);
    for (message, sent) in [
        ("!/1 <b> T=1{C=-{S}}", "ER=400{\"Syntax error on line 1\"}"),
        ("!/1 <b>\nT=1{\nC=-{S}}", "ER=400{\"Syntax error on line 3\"}"),
        ("nonsense", "ER=400{\"Syntax error on line 1\"}"),
        ("!/9 <b> T=1{C=-{S=a}}", "!/3 <a>\nER=406{\"Unsupported version\"}"),
    ] {
        a.receive_from(route(1), message);
        assert_eq!(a.sent(), [sent], "{message}");
        assert!(a.events()[0].starts_with("syntax error 40"), "{message}");
    }
}

/// What holds no request is never answered by an error: two engines would answer each other for ever.
#[test]
fn errors_are_not_answered() {
    let mut a = Side::new(&[("max_version", "2")]);
    for message in [
        "!/1 <b> P=1{C=-{S}}",
        "!/1 <b> PN=1{",
        "!/1 <b> K{",
        "!/3 <b> SM=",
        "!/1 <b> ER=400{",
        "!/9 <b> ER=406{\"Unsupported version\"}",
        "!/3 <b> P=1{C=-{S=a}}",
        "!/1 <b> ER=400{}",
    ] {
        a.receive_from(route(1), message);
        assert!(a.sent().is_empty(), "{message}");
    }
}

#[test]
fn errors_are_limited_by_source() {
    let mut a = Side::new(&[]);
    for _ in 0..1000 {
        a.receive_from(route(1), "nonsense");
        a.receive_from(route(2), "nonsense");
    }
    assert_eq!(a.sent().len(), 100);
    a.run(1000);
    a.receive_from(route(1), "nonsense");
    assert_eq!(a.sent().len(), 1);
}

#[test]
fn otp_5805_versions_that_are_not_supported() {
    let mut a = Side::new(&[("max_version", "2"), ("protocol_version", "2")]);
    a.receive_from(route(1), "!/3 <b> T=7{C=-{S=a}}");
    assert_eq!(a.sent(), ["!/2 <a>\nER=406{\"Unsupported version\"}"]);
    assert_eq!(a.events(), ["syntax error 406 Unsupported version"]);
}

/// The version of the connection is that of its first message until another one is negotiated.
#[test]
fn otp_5839_strict_versions() {
    for (strict, execute) in [("true", false), ("false", true)] {
        let mut a = Side::new(&[("strict_version", strict)]);
        a.receive(REQUEST);
        a.events();
        a.reply(7, "C=-{S=a}", AckMode::Discard).unwrap();
        a.sent();
        a.receive_from(route(1), "!/2 <b> T=8{C=-{S=a}}");
        assert_eq!(a.events().contains(&"execute 8".to_owned()), execute);
        assert_eq!(a.sent().len(), usize::from(!execute));
        // A repeated request and a registration may be in any.
        a.receive_from(route(1), "!/3 <b> T=7{C=-{S=a}}");
        assert_eq!(a.sent(), ["again P=7{C=-{S=a}}"]);
        a.receive_from(route(1), &format!("!/3 <b> {REGISTER}"));
        assert_eq!(a.events(), ["execute 1"]);
    }
}

#[test]
fn a_negotiated_version() {
    let mut a = Side::new(&[]);
    a.receive(REGISTER);
    let conn = first(&a);
    a.engine.set_version(conn, 3).unwrap();
    assert!(a.engine.set_version(conn, 4).is_err());
    a.request(conn, "C=-{S=a}");
    assert_eq!(a.sent(), ["!/3 <a>\nT=1{C=-{S=a}}"]);
}

#[test]
fn authentication_headers_are_refused() {
    let mut a = Side::new(&[]);
    a.receive_from(route(1), "AU=0x00000001:0x00000002:0x0123456789abcdef01234567 !/1 <b> T=7{C=-{S=a}}");
    assert_eq!(a.sent(), ["ER=402{\"Authentication is not supported\"}"]);
}

/// Requests that come while the user has not accepted the connection are dropped in silence; the first one is kept.
#[test]
fn otp_7192_7459_requests_while_connecting() {
    let mut a = Side::new(&[("confirm_connect", "true")]);
    a.receive(REQUEST);
    assert_eq!(a.events(), ["connect v1 accept?"]);
    a.receive(REQUEST);
    a.receive("T=8{C=-{S=a}}");
    assert_eq!((a.sent(), a.events()), (vec![], vec![]));
    a.engine.accept(a.time(), first(&a)).unwrap();
    assert_eq!(a.events(), ["execute 7"]);
    a.receive("T=8{C=-{S=a}}");
    assert_eq!(a.events(), ["execute 8"]);
}

#[test]
fn a_refused_connection() {
    let mut a = Side::new(&[("confirm_connect", "true")]);
    for (error, sent) in
        [(None, "ER=402{\"Connection refused by user\"}"), (Some((500, "no")), "ER=500{\"no\"}")]
    {
        a.receive(REQUEST);
        a.events();
        a.engine.refuse(a.time(), first(&a), error).unwrap();
        assert_eq!(a.sent(), [sent]);
        assert_eq!(a.events(), ["disconnect <b> refused"]);
        a.assert_empty();
    }
}

/// Two connections are accepted at the same time; each has its own state.
#[test]
fn otp_5130_two_connections_at_once() {
    let mut a = Side::new(&[("confirm_connect", "true")]);
    a.receive(REQUEST);
    a.receive_from(route(2), "!/1 <c> T=7{C=-{S=a}}");
    let conns: Vec<ConnId> = a.engine.connections().collect();
    a.events();
    a.engine.accept(a.time(), conns[1]).unwrap();
    a.engine.accept(a.time(), conns[0]).unwrap();
    assert_eq!(a.events(), ["execute 7", "execute 7"]);
}

/// Replies that come before anything was started.
#[test]
fn otp_5025_a_reply_before_the_start() {
    let mut a = Side::new(&[]);
    a.receive("P=1{C=-{S=a}}");
    assert_eq!((a.sent(), a.events()), (vec![], vec!["unexpected Reply 1".to_owned()]));
    assert_eq!(a.engine.gauges().connections, 0);
}

/// A ServiceChange without an answer, then a request of the controller: 505, and the registration ends by its timer.
#[test]
fn otp_6275_a_request_before_the_registration() {
    let mut a = Side::new(&[("request_timer", "1s")]);
    let conn = a.connect();
    a.request(conn, "C=-{SC=ROOT{SV{MT=RS,RE=\"901\"}}}");
    a.engine.set_registering(conn, true).unwrap();
    a.sent();
    a.receive(REQUEST);
    let expected = "P=7{ER=505{\"Transaction request received before a ServiceChange reply\"}}";
    assert_eq!((a.sent(), a.events()), (vec![expected.to_owned()], vec![]));
    assert_eq!(a.run(1000), ["1000 result 1 Timeout"]);
    a.engine.set_registering(conn, false).unwrap();
    a.receive("T=8{C=-{S=a}}");
    assert_eq!(a.events(), ["execute 8"]);
}

#[test]
fn only_a_registration_may_connect() {
    let mut a = Side::new(&[("connect_by", "registration")]);
    a.receive(REQUEST);
    assert_eq!((a.sent(), a.events()), (vec!["P=7{ER=504{\"Not registered\"}}".to_owned()], vec![]));
    a.receive(REGISTER);
    a.receive(REQUEST);
    assert_eq!(a.events(), ["connect v1", "execute 1", "execute 7"]);
}

/// Requests of ours go to the address of the last registration, not to any source.
#[test]
fn requests_go_to_the_registered_address() {
    let mut a = Side::new(&[]);
    a.receive(REGISTER);
    let conn = first(&a);
    a.receive_from(route(66), "!/1 <b> T=7{C=-{S=a}}");
    a.events();
    a.request(conn, "C=-{S=a}");
    a.reply(7, "C=-{S=a}", AckMode::Discard).unwrap();
    assert_eq!(a.sent(), ["T=1{C=-{S=a}}", "to 66: P=7{C=-{S=a}}"]);
    for (address, port) in [("55", 55), ("[192.0.2.1]:56", 56)] {
        a.receive(&format!("T=2{port}{{C=-{{SC=ROOT{{SV{{MT=RS,AD={address},RE=\"901\"}}}}}}}}"));
        let id = a.request(conn, "C=-{S=a}");
        assert_eq!(a.sent(), [format!("to {port}: T={id}{{C=-{{S=a}}}}")]);
    }
}

#[test]
fn message_errors_are_reported_and_not_answered() {
    let mut a = Side::new(&[]);
    a.receive("ER=406{\"old\"}");
    assert_eq!((a.sent(), a.events()), (vec![], vec!["message error 406 old".to_owned()]));
    assert_eq!(a.engine.gauges().connections, 0);
}

#[test]
fn users_and_their_items() {
    let mut a = Side::new(&[]);
    let conn = a.connect();
    let mid = tercet_megaco::text::read_mid(b"<B>").unwrap();
    let again = a.engine.connect(a.time(), a.user, Some(mid), route(1));
    assert_eq!(again, Err(tercet_megaco_engine::Error::AlreadyConnected));
    assert_eq!(a.engine.remove_user(a.user), Err(tercet_megaco_engine::Error::ActiveConnections));
    let mut items = a.engine.conn_items(conn).unwrap().clone();
    items.set("encoding", "pretty").unwrap();
    a.engine.set_conn_items(conn, items).unwrap();
    a.engine.request(a.time(), conn, vec![actions("C=-{S=a}")], &RequestOptions::default()).unwrap();
    assert!(a.sent()[0].starts_with("MEGACO/1 <a>"));
    a.engine.cancel(a.time(), conn).unwrap();
    a.engine.disconnect(a.time(), conn, "end").unwrap();
    a.engine.remove_user(a.user).unwrap();
    assert!(a.engine.items(a.user).is_none());
}

/// A gateway that was started again uses its ids again: its registration from another address makes them new ones.
#[test]
fn a_restarted_gateway_begins_with_the_same_ids() {
    let mut a = Side::new(&[]);
    a.receive(&format!("{REGISTER}T=2{{C=-{{S=a}}}}"));
    a.events();
    a.reply(1, "C=-{SC=ROOT}", AckMode::Discard).unwrap();
    a.reply(2, "C=-{S=a}", AckMode::Discard).unwrap();
    a.sent();
    // A repeated registration is what it is, and so is a repeated request from elsewhere.
    a.receive(REGISTER);
    a.receive_from(route(9), "!/1 <b> T=2{C=-{S=a}}");
    assert_eq!((a.sent().len(), a.events()), (2, vec![]));
    a.run(1000);
    a.receive_from(route(9), &format!("!/1 <b> {REGISTER}"));
    a.receive_from(route(9), "!/1 <b> T=2{C=-{S=b}}");
    assert_eq!(a.events(), ["execute 1", "execute 2"]);
}

/// What the transport knows of a message reaches the user with everything that comes of it (OTP-7713, OTP-6865): here its route.
#[test]
fn otp_7713_6865_the_route_of_a_message_reaches_the_user() {
    let mut a = Side::new(&[]);
    let from = route(7);
    a.receive_from(from, "!/1 <b> T=1{C=-{S=a}}");
    a.receive_from(from, "!/1 <b> T=2{C=-{S}}");
    let mut routes = Vec::new();
    while let Some(event) = a.engine.poll_event() {
        match event {
            Event::Connect { route, .. } => routes.push(("connect", route)),
            Event::Requests { route, .. } => routes.push(("requests", route)),
            Event::SyntaxError { route, .. } => routes.push(("syntax error", route)),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(routes, [("connect", from), ("requests", from), ("syntax error", from)]);
    // It is the way of the answer too.
    assert_eq!(a.transmits().last().map(|transmit| transmit.route), Some(from));
}
