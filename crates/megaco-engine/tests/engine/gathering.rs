//! Requests and acknowledgements that share messages.

use super::harness::{Side, route};
use tercet_megaco_engine::AckMode;

const REQUEST: &str = "C=-{S=a}";

fn gathering(more: &[(&str, &str)]) -> (Side, tercet_megaco_engine::ConnId) {
    let mut items =
        vec![("trans_req", "true"), ("trans_ack", "true"), ("auto_ack", "true"), ("trans_timer", "50ms")];
    items.extend(more);
    let mut side = Side::new(&items);
    let conn = side.connect();
    (side, conn)
}

#[test]
fn the_timer_sends_what_is_gathered() {
    let (mut a, conn) = gathering(&[]);
    for _ in 0..3 {
        a.request(conn, REQUEST);
        assert!(a.sent().is_empty());
    }
    assert_eq!(a.run(1000), ["50 T=1{C=-{S=a}}T=2{C=-{S=a}}T=3{C=-{S=a}}"]);
    // Without a timer nothing is gathered.
    let (mut a, conn) = gathering(&[("trans_timer", "0")]);
    a.request(conn, REQUEST);
    assert_eq!(a.sent(), ["T=1{C=-{S=a}}"]);
}

#[test]
fn the_count_of_requests() {
    let (mut a, conn) = gathering(&[("trans_req_maxcount", "2")]);
    a.request(conn, REQUEST);
    a.request(conn, REQUEST);
    assert_eq!(a.sent(), ["T=1{C=-{S=a}}T=2{C=-{S=a}}"]);
}

/// The size counts the whole message; a request as large as it goes alone, behind what was gathered before it.
#[test]
fn the_size_of_a_message() {
    let (mut a, conn) = gathering(&[("trans_req_maxsize", "40")]);
    a.request(conn, REQUEST);
    a.request(conn, REQUEST);
    assert!(a.sent().is_empty());
    a.request(conn, REQUEST);
    assert_eq!(a.sent(), ["T=1{C=-{S=a}}T=2{C=-{S=a}}"]);
    a.request(conn, &format!("C=-{{S={}}}", "x".repeat(60)));
    let sent = a.sent();
    assert_eq!(sent.len(), 2);
    assert_eq!(sent[0], "T=3{C=-{S=a}}");
    assert!(sent[1].starts_with("T=4{C=-{S=xxx"));
    assert!(a.run(1000).is_empty());
}

#[test]
fn acknowledgements_leave_as_ranges() {
    let (mut a, conn) = gathering(&[("trans_ack_maxcount", "4"), ("trans_req", "false")]);
    for _ in 0..6 {
        a.request(conn, REQUEST);
    }
    a.sent();
    for id in [3, 1, 2] {
        a.receive(&format!("P={id}{{C=-{{S=a}}}}"));
        assert!(a.sent().is_empty());
    }
    a.receive("P=5{C=-{S=a}}");
    assert_eq!(a.sent(), ["K{1-3,5}"]);
    // One that is asked for takes the others along at once.
    a.receive("P=4{C=-{S=a}}");
    assert!(a.sent().is_empty());
    a.receive("P=6{IA,C=-{S=a}}");
    assert_eq!(a.sent(), ["K{4,6}"]);
    assert_eq!(a.engine.counters().acks_sent, 6);
}

#[test]
fn a_reply_and_a_pending_take_along_what_is_gathered() {
    let (mut a, conn) = gathering(&[("trans_req_maxsize", "60")]);
    a.receive("T=7{C=-{S=a}}T=8{C=-{S=a}}");
    a.events();
    a.run(5);
    a.request(conn, REQUEST);
    a.receive("T=8{C=-{S=a}}");
    assert_eq!(a.sent(), ["T=1{C=-{S=a}}PN=8{}"]);
    a.request(conn, REQUEST);
    a.reply(7, REQUEST, AckMode::Discard).unwrap();
    assert_eq!(a.sent(), ["T=2{C=-{S=a}}P=7{C=-{S=a}}"]);
    // Together too large: what is gathered first, the reply alone.
    a.request(conn, REQUEST);
    a.reply(8, &format!("C=-{{S={}}}", "x".repeat(30)), AckMode::Discard).unwrap();
    let sent = a.sent();
    assert_eq!(sent.len(), 2);
    assert_eq!(sent[0], "T=3{C=-{S=a}}");
    assert!(sent[1].starts_with("P=8{IA,C=-{S=xxx"));
    // The remembered reply is the reply alone.
    a.receive("T=7{C=-{S=a}}");
    assert_eq!(a.sent(), ["again P=7{C=-{S=a}}"]);
    // To another address nothing goes along.
    a.request(conn, REQUEST);
    a.receive_from(route(9), "!/1 <b> T=7{C=-{S=a}}");
    assert_eq!(a.sent(), ["to 9: again P=7{C=-{S=a}}"]);
}

#[test]
fn a_resend_of_something_gathered_sends_it() {
    let (mut a, conn) = gathering(&[("request_timer", "20ms*1+0x1")]);
    a.request(conn, REQUEST);
    assert_eq!(a.run(30), ["20 T=1{C=-{S=a}}"]);
}

#[test]
fn the_end_of_a_connection_sends_what_is_gathered() {
    let (mut a, conn) = gathering(&[]);
    a.request(conn, REQUEST);
    a.engine.disconnect(a.time(), conn, "end").unwrap();
    assert_eq!(a.sent(), ["T=1{C=-{S=a}}"]);
}

#[test]
fn a_cancelled_request_is_not_sent() {
    let (mut a, conn) = gathering(&[]);
    a.request(conn, REQUEST);
    a.engine.cancel(a.time(), conn).unwrap();
    assert_eq!(a.events(), ["result 1 Cancelled"]);
    assert!(a.run(1000).is_empty());
    a.assert_empty();
}

/// Encodings without parts gather too.
#[test]
fn gathering_in_every_encoding() {
    for encoding in ["pretty", "ber", "per", "etf", "etf-mc-zlib"] {
        let (mut a, conn) = gathering(&[("encoding", encoding)]);
        a.request(conn, REQUEST);
        a.request(conn, REQUEST);
        a.engine.disconnect(a.time(), conn, "end").unwrap();
        let transmit = a.transmits().remove(0);
        let message = tercet_megaco::codec::decode_any(&transmit.octets).unwrap();
        let tercet_megaco::model::MessageBody::Transactions(all) = message.mess.message_body else {
            panic!()
        };
        assert_eq!(all.len(), 2, "{encoding}");
    }
}
