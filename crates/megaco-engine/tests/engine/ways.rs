//! What comes twice, by other ways, or for nothing that is left to do.

use super::harness::{Side, result, route};
use tercet_megaco_engine::{AckMode, ReplyOptions};

const REGISTRATION: &str = "!/1 <b> T=7{C=-{SC=ROOT{SV{MT=RS,RE=\"901\"}}}}";

/// A side that has registered `<b>` from its first route, and forgotten nothing.
fn registered() -> Side {
    let mut a = Side::new(&[]);
    a.receive_from(route(1), REGISTRATION);
    assert_eq!(a.events(), ["connect v1", "execute 7"]);
    a.reply(7, "C=-{SC=root}", AckMode::Discard).unwrap();
    assert_eq!(a.sent(), ["P=7{C=-{SC=root}}"]);
    a
}

#[test]
fn a_copy_of_a_registration_from_another_port() {
    let mut a = registered();
    a.run(300);
    a.receive_from(route(2), REGISTRATION);
    assert_eq!((a.sent(), a.events()), (vec!["to 2: again P=7{C=-{SC=root}}".to_owned()], vec![]));
    // It does not move the gateway.
    let conn = a.engine.connections().next().unwrap();
    a.request(conn, "C=-{AV=root{AT{}}}");
    assert_eq!(a.sent(), ["T=1{C=-{AV=root{AT{}}}}"]);
}

/// A gateway that starts again begins with the ids of before.
#[test]
fn a_registration_from_another_port_later() {
    let mut a = registered();
    a.run(1000);
    a.receive_from(route(2), REGISTRATION);
    assert_eq!(a.events(), ["execute 7"]);
    let conn = a.engine.connections().next().unwrap();
    a.request(conn, "C=-{AV=root{AT{}}}");
    assert_eq!(a.sent(), ["to 2: T=1{C=-{AV=root{AT{}}}}"]);
}

/// An old copy that arrives after a registration elsewhere.
#[test]
fn an_old_copy_of_a_registration() {
    let mut a = registered();
    a.receive_from(route(2), "!/1 <b> T=8{C=-{SC=ROOT{SV{MT=DC,RE=\"900\"}}}}");
    a.events();
    a.receive_from(route(1), REGISTRATION);
    a.sent();
    let conn = a.engine.connections().next().unwrap();
    a.request(conn, "C=-{AV=root{AT{}}}");
    assert_eq!(a.sent(), ["to 2: T=1{C=-{AV=root{AT{}}}}"]);
}

#[test]
fn a_reply_goes_on_where_it_was_asked_for_last() {
    let mut a = Side::new(&[("reply_timer", "1s*1+0x2")]);
    let ask = |a: &mut Side, port| a.receive_from(route(port), "!/1 <b> T=7{C=-{S=a}}");
    ask(&mut a, 1);
    a.events();
    a.reply(7, "C=-{S=a}", AckMode::Handle).unwrap();
    assert_eq!(a.sent(), ["P=7{IA,C=-{S=a}}"]);
    ask(&mut a, 3);
    assert_eq!(a.sent(), ["to 3: again P=7{IA,C=-{S=a}}"]);
    assert_eq!(a.run(1000), ["1000 to 3: again P=7{IA,C=-{S=a}}"]);
}

#[test]
fn segments_go_on_where_they_were_asked_for_last() {
    let mut a = Side::new(&[("protocol_version", "3"), ("segment_send", "1"), ("max_pdu_size", "40")]);
    let ask = |a: &mut Side, port, body: &str| a.receive_from(route(port), &format!("!/3 <b> {body}"));
    ask(&mut a, 1, "T=7{C=1{S=a},C=2{S=b}}");
    a.events();
    let token = a.token(7);
    a.engine
        .reply(a.time(), token, result("C=1{S=aaaaaaaaaaaa},C=2{S=bbbbbbbbbbbb}"), &ReplyOptions::default())
        .unwrap();
    assert_eq!(a.sent(), ["!/3 <a>\nP=7/1{C=1{S=aaaaaaaaaaaa}}"]);
    ask(&mut a, 3, "T=7{C=1{S=a},C=2{S=b}}");
    assert_eq!(a.sent(), ["to 3: again !/3 <a>\nP=7/1{C=1{S=aaaaaaaaaaaa}}"]);
    ask(&mut a, 3, "SM=7/1");
    assert_eq!(a.sent(), ["to 3: !/3 <a>\nP=7/2/&{C=2{S=bbbbbbbbbbbb}}"]);
}

#[test]
fn an_error_in_a_segment_is_the_result() {
    let mut a = Side::new(&[("protocol_version", "3")]);
    let conn = a.connect();
    a.request(conn, "C=1{S=a},C=2{S=b}");
    for body in ["P=1/1{C=1{S=a}}", "P=1/2/&{ER=500{\"x\"}}"] {
        a.receive_from(route(1), &format!("!/3 <b> {body}"));
    }
    assert_eq!(a.events(), ["result 1 error 500"]);
}

/// The peer acknowledges the error that it was sent in place of a reply.
#[test]
fn an_acknowledgement_of_an_aborted_request() {
    let mut a = Side::new(&[("sent_pending_limit", "0"), ("pending_timer", "100ms*1+0xinf")]);
    a.receive("T=7{C=-{S=a}}");
    a.events();
    let happened = a.run(100);
    assert!(happened.iter().any(|text| text.contains("abort 7 506")), "{happened:?}");
    a.receive("K{7}");
    assert!(a.events().is_empty());
}

#[test]
fn version_0_is_refused() {
    for message in ["!/0 <b> T=7{C=-{S=a}}", "MEGACO/0 <b> Transaction = 7 { Context = - { Subtract = a } }"]
    {
        let mut a = Side::new(&[("protocol_version", "3")]);
        a.receive_from(route(1), message);
        assert!(a.sent()[0].contains("ER=406"), "{message}");
    }
}

#[test]
fn a_repeated_reply_is_acknowledged_too() {
    let mut a = Side::new(&[("auto_ack", "true")]);
    let conn = a.connect();
    a.request(conn, "C=1{S=a}");
    a.sent();
    a.receive("P=1{C=1{S=a}}");
    assert_eq!(a.sent(), ["K{1}"]);
    a.receive("P=1{C=1{S=a}}");
    assert_eq!(a.sent(), ["K{1}"]);
}

#[test]
fn what_is_gathered_can_be_sent_before_the_end() {
    let mut a = Side::new(&[("trans_req", "true"), ("trans_req_maxcount", "9"), ("trans_timer", "5s")]);
    let conn = a.connect();
    a.request(conn, "C=1{S=a}");
    assert!(a.sent().is_empty());
    a.engine.flush_gathered(a.time());
    assert_eq!(a.sent(), ["T=1{C=1{S=a}}"]);
}
