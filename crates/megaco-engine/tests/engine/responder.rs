//! Requests of the peer: executed once, Pendings, limits, acknowledgements.

use super::harness::{Side, route};
use tercet_megaco_engine::{AckMode, Error, Limits};

const REQUEST: &str = "T=7{C=-{S=a}}";
const REPLY: &str = "C=-{S=a}";

/// A side that executes request 7.
fn executing(items: &[(&str, &str)]) -> Side {
    let mut side = Side::new(items);
    side.receive(REQUEST);
    assert_eq!(side.events(), ["connect v1", "execute 7"]);
    side
}

#[test]
fn a_request_is_executed_once_within_long_timer() {
    let mut a = executing(&[("reply_timer", "2s")]);
    a.reply(7, REPLY, AckMode::Discard).unwrap();
    assert_eq!(a.sent(), ["P=7{C=-{S=a}}"]);
    a.run(1999);
    // The answer goes to where the repeated request came from.
    a.receive_from(route(9), "!/1 <b> T=7{C=-{S=a}}");
    assert_eq!((a.sent(), a.events()), (vec!["to 9: again P=7{C=-{S=a}}".to_owned()], vec![]));
    assert!(a.run(2000).is_empty());
    a.assert_empty();
    a.receive(REQUEST);
    assert_eq!(a.events(), ["execute 7"]);
}

/// Copies of a request in one message, or close together, run once.
#[test]
fn otp_6971_copies_close_together_run_once() {
    let mut a = Side::new(&[]);
    a.receive("T=7{C=-{S=a}}T=7{C=-{S=a}}");
    a.receive(REQUEST);
    // One Pending for the copies, if the user does not answer at once; the next one would come too soon.
    assert_eq!((a.sent(), a.events()), (vec![], vec!["connect v1".to_owned(), "execute 7".to_owned()]));
    assert_eq!(a.run(50), ["5 PN=7{}", "5 pending out 7"]);
    a.receive(REQUEST);
    assert_eq!(a.sent(), Vec::<String>::new());
    a.run(55);
    a.receive(REQUEST);
    assert_eq!(a.sent(), ["PN=7{}"]);
    assert_eq!(a.engine.counters().duplicates, 4);
    assert_eq!(a.engine.counters().requests_received, 1);
}

/// An answer at once is not preceded by a Pending for a copy that came together with the request.
#[test]
fn an_answer_at_once_needs_no_pending() {
    let mut a = Side::new(&[]);
    a.receive("T=7{C=-{S=a}}T=7{C=-{S=a}}");
    a.events();
    a.reply(7, REPLY, AckMode::Discard).unwrap();
    assert_eq!(a.sent(), ["P=7{C=-{S=a}}"]);
    assert!(a.run(1000).is_empty());
}

/// Many requests that are executed at once have a state each, and counters go up once for each.
#[test]
fn otp_8634_states_are_made_once() {
    let mut a = Side::new(&[("sent_pending_limit", "1")]);
    for id in 1..=100 {
        a.receive(&format!("T={id}{{C=-{{S=a}}}}"));
        a.receive(&format!("T={id}{{C=-{{S=a}}}}"));
    }
    a.run(5);
    assert_eq!(a.engine.gauges().replies, 100);
    assert_eq!(a.engine.counters().pendings_sent, 100);
    assert_eq!(a.engine.counters().aborted, 0);
}

#[test]
fn pendings_by_the_timer() {
    for (timer, expected) in [
        ("1s", &["1000 PN=7{}"][..]),
        ("1s*2+0x2", &["1000 PN=7{}", "3000 PN=7{}", "7000 PN=7{}"]),
        ("inf", &[]),
    ] {
        let mut a = executing(&[("pending_timer", timer)]);
        let mut sent = a.run(60_000);
        sent.retain(|line| !line.ends_with("pending out 7"));
        assert_eq!(sent, expected);
        a.reply(7, REPLY, AckMode::Discard).unwrap();
        // A Pending went out: the peer shall acknowledge the reply (D.1.4).
        let ack = if expected.is_empty() { "" } else { "IA," };
        assert_eq!(a.sent(), [format!("P=7{{{ack}C=-{{S=a}}}}")]);
    }
}

/// Repeated requests beyond the limit of Pendings abort the request; its state is freed by the reply timer.
#[test]
fn otp_4956_5310_5401_6256_repeated_requests_beyond_the_limit() {
    let mut a = executing(&[("sent_pending_limit", "2"), ("reply_timer", "3s")]);
    for (at, sent, events) in [
        (100, "PN=7{}", &["pending out 7"][..]),
        (200, "PN=7{}", &["pending out 7"]),
        (300, "P=7{ER=506{\"Number of TransactionPendings exceeded\"}}", &["abort 7 506"]),
        (400, "again P=7{ER=506{\"Number of TransactionPendings exceeded\"}}", &[]),
    ] {
        a.run(at);
        a.receive(REQUEST);
        assert_eq!(a.sent(), [sent]);
        assert_eq!(a.events(), events);
    }
    // The user comes too late, and is told.
    assert_eq!(a.reply(7, REPLY, AckMode::Discard), Err(Error::NoSuchRequest));
    assert_eq!((a.sent(), a.events()), (vec![], vec!["swallowed".to_owned()]));
    a.run(3300);
    a.assert_empty();
    a.receive(REQUEST);
    assert_eq!(a.events(), ["execute 7"]);
}

/// An aborted request is remembered as long as an answered one, with an incremental timer too.
#[test]
fn aborted_requests_are_remembered() {
    let mut a = executing(&[("sent_pending_limit", "0"), ("reply_timer", "1s*1+0x3")]);
    a.run(5);
    a.receive(REQUEST);
    a.run(4004);
    a.sent();
    a.events();
    a.receive(REQUEST);
    assert_eq!(a.events(), Vec::<String>::new());
    a.run(4005);
    a.assert_empty();
}

/// The error of the limit is one of the transaction, not of the message; the timer leads to it as well.
#[test]
fn otp_6148_6217_the_error_506_is_of_the_transaction() {
    let mut a = executing(&[("sent_pending_limit", "1"), ("pending_timer", "1s*1+0xinf")]);
    let lines = a.run(10_000);
    assert_eq!(
        lines,
        [
            "1000 PN=7{}",
            "1000 pending out 7",
            "2000 P=7{ER=506{\"Number of TransactionPendings exceeded\"}}",
            "2000 abort 7 506"
        ]
    );
    assert_eq!(a.engine.counters().message_errors_sent, 0);
}

/// A reply that was not sent is told to its user.
#[test]
fn otp_6055_a_reply_that_fails() {
    let mut a = executing(&[]);
    a.reply(7, REPLY, AckMode::Handle).unwrap();
    let transmit = a.transmits().remove(0);
    a.engine.handle_send_fault(a.time(), &transmit, &tercet_megaco_engine::SendFault::Failed("down".into()));
    assert_eq!(a.events(), ["ack 7 SendFailed(\"down\")"]);
    // One report only.
    a.receive("K{7}");
    assert_eq!(a.events(), Vec::<String>::new());
}

/// An incremental reply timer sends the reply again until it is acknowledged.
#[test]
fn otp_6048_replies_are_sent_again_by_their_timer() {
    let mut a = executing(&[("reply_timer", "1s*1+0x2")]);
    a.reply(7, REPLY, AckMode::Handle).unwrap();
    assert_eq!(a.sent(), ["P=7{IA,C=-{S=a}}"]);
    let again = "again P=7{IA,C=-{S=a}}";
    assert_eq!(
        a.run(9000),
        [format!("1000 {again}"), format!("2000 {again}"), "3000 ack 7 Timeout".to_owned()]
    );
    a.assert_empty();

    let mut a = executing(&[("reply_timer", "1s*1+0x2")]);
    a.reply(7, REPLY, AckMode::Handle).unwrap();
    a.sent();
    a.run(1500);
    a.receive("K{7}");
    assert_eq!(a.events(), ["ack 7 Acknowledged"]);
    // The octets are freed, the id is remembered: a repeated request is dropped in silence.
    assert_eq!(a.engine.gauges().reply_octets, 0);
    a.receive(REQUEST);
    assert_eq!((a.sent(), a.events()), (vec![], vec![]));
    assert!(a.run(9000).is_empty());
    a.assert_empty();
}

/// Acknowledgements by mode, without and with a Pending.
#[test]
fn otp_6030_acknowledgement_after_a_pending() {
    for (mode, pending, asked, told) in [
        (AckMode::Discard, false, false, false),
        (AckMode::Discard, true, true, false),
        (AckMode::Handle, false, true, true),
        (AckMode::Handle, true, true, true),
        (AckMode::Pending, false, false, false),
        (AckMode::Pending, true, true, true),
        (AckMode::Sloppy, false, false, true),
        (AckMode::Sloppy, true, true, true),
    ] {
        let mut a = executing(&[]);
        if pending {
            a.run(5);
            a.receive(REQUEST);
        }
        a.sent();
        a.events();
        a.reply(7, REPLY, mode).unwrap();
        let ack = if asked { "IA," } else { "" };
        assert_eq!(a.sent(), [format!("P=7{{{ack}C=-{{S=a}}}}")], "{mode:?} {pending}");
        a.receive("K{7}");
        let expected = if told { vec!["ack 7 Acknowledged".to_owned()] } else { vec![] };
        assert_eq!(a.events(), expected, "{mode:?} {pending}");
    }
}

/// An acknowledgement and the end of the timer: one report.
#[test]
fn otp_6090_6999_one_report_of_an_acknowledgement() {
    let mut a = executing(&[("reply_timer", "1s")]);
    a.reply(7, REPLY, AckMode::Handle).unwrap();
    a.sent();
    assert_eq!(a.run(1000), ["1000 ack 7 Timeout"]);
    a.receive("K{7}");
    assert_eq!(a.events(), ["unexpected Ack 7"]);
    a.assert_empty();
}

#[test]
fn otp_5725_a_request_may_be_ignored() {
    let mut a = executing(&[("reply_timer", "2s")]);
    a.engine.ignore(a.time(), a.token(7)).unwrap();
    a.receive(REQUEST);
    assert_eq!((a.sent(), a.events()), (vec![], vec![]));
    assert!(a.run(2000).is_empty());
    a.assert_empty();
}

/// Ranges cost what they meet, whatever their width; reversed ones and unknown ids mean nothing.
#[test]
fn otp_4652_ranges_of_acknowledgements() {
    let mut a = Side::new(&[]);
    for id in 1..=6 {
        a.receive(&format!("T={id}{{C=-{{S=a}}}}"));
        a.events();
        a.reply(id, REPLY, AckMode::Sloppy).unwrap();
    }
    a.receive("K{5-4,2}");
    assert_eq!(a.events(), ["ack 2 Acknowledged"]);
    a.receive("K{3-4294967295,0-1}");
    let expected: Vec<String> = [1, 3, 4, 5, 6].iter().map(|id| format!("ack {id} Acknowledged")).collect();
    assert_eq!(a.events(), expected);
    // A copy, and one of ids that are forgotten.
    a.receive("K{0-4294967295}");
    assert!(a.events().is_empty());
    a.run(30_000);
    a.receive("K{0-4294967295}");
    assert_eq!(a.events(), ["unexpected Ack 0"]);
}

/// A cancelled wait for an acknowledgement; what was answered stays answered.
#[test]
fn cancelled_acknowledgements() {
    let mut a = executing(&[]);
    a.reply(7, REPLY, AckMode::Sloppy).unwrap();
    a.sent();
    let conn = a.engine.connections().next().unwrap();
    a.engine.cancel(a.time(), conn).unwrap();
    assert_eq!(a.events(), ["ack 7 Cancelled"]);
    a.receive(REQUEST);
    assert_eq!(a.sent(), ["again P=7{C=-{S=a}}"]);
}

/// The same request after the connection has ended and begun again is the same request.
#[test]
fn answers_outlive_connections() {
    let mut a = executing(&[]);
    a.reply(7, REPLY, AckMode::Discard).unwrap();
    a.sent();
    let conn = a.engine.connections().next().unwrap();
    a.engine.disconnect(a.time(), conn, "test").unwrap();
    a.events();
    a.receive_from(route(5), "!/1 <b> T=7{C=-{S=a}}");
    assert_eq!(a.sent(), ["to 5: again P=7{C=-{S=a}}"]);
    assert_eq!(a.events(), ["connect v1"]);
}

#[test]
fn a_user_who_never_answers() {
    let mut a = executing(&[("execution_timer", "5s"), ("pending_timer", "inf"), ("reply_timer", "1s")]);
    let lines = a.run(5000);
    assert_eq!(lines, ["5000 P=7{ER=510{\"Not executed in time\"}}", "5000 abort 7 510"]);
    a.run(6000);
    a.assert_empty();
}

#[test]
fn limits_of_what_is_remembered() {
    let mut a = Side::new(&[("max_replies", "2"), ("reply_timer", "1s")]);
    a.receive("T=1{C=-{S=a}}T=2{C=-{S=a}}T=3{C=-{S=a}}");
    assert_eq!(a.events(), ["connect v1", "limit max_replies", "execute 1 2"]);
    a.receive("T=3{C=-{S=a}}");
    assert_eq!(a.events(), Vec::<String>::new());
    a.reply(1, REPLY, AckMode::Discard).unwrap();
    a.run(1000);
    a.receive("T=3{C=-{S=a}}");
    assert_eq!(a.events(), ["execute 3"]);

    let limits = Limits { replies: 1, ..Limits::default() };
    let mut a = Side::with_limits(&[], limits);
    a.receive("T=1{C=-{S=a}}T=2{C=-{S=a}}");
    assert_eq!(a.events(), ["connect v1", "limit replies", "execute 1"]);
}

/// The error counter is that of the connection which the message came by.
#[test]
fn otp_5296_errors_are_counted_where_they_belong() {
    let mut a = Side::new(&[]);
    a.receive(REQUEST);
    a.receive_from(route(2), "!/1 <c> T=1{C=-{S=a}}");
    a.receive_from(route(2), "!/1 <c> T=2{C=-{S=}}");
    a.receive_from(route(2), "nonsense");
    let conns: Vec<_> = a.engine.connections().collect();
    let errors: Vec<u64> = conns.iter().map(|&conn| a.engine.conn_counters(conn).unwrap().errors).collect();
    assert_eq!(errors, [0, 1]);
    assert_eq!(a.engine.counters().errors, 2);
}

/// A reply that is larger than the transport takes is an error in its place.
#[test]
fn replies_that_are_too_large() {
    let mut a = executing(&[("max_pdu_size", "100")]);
    let name = "x".repeat(40);
    a.reply(7, &format!("C=1{{S={name}}},C=2{{S={name}}}"), AckMode::Discard).unwrap();
    assert_eq!(a.sent(), ["P=7{ER=533{\"Response exceeds maximum transport PDU size\"}}"]);
}
