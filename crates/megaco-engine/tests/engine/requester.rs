//! Requests of ours: timers, Pendings, replies, and that each has one result.

use super::harness::{Side, actions, route, stream};
use tercet_megaco_engine::{Error, RequestOptions, SendFault};

const REQUEST: &str = "C=-{S=a}";

fn side(items: &[(&str, &str)]) -> (Side, tercet_megaco_engine::ConnId) {
    let mut side = Side::new(items);
    let conn = side.connect();
    (side, conn)
}

#[test]
fn resends_and_the_end() {
    let (mut a, conn) = side(&[("request_timer", "300ms*2+0x3")]);
    assert_eq!(a.request(conn, REQUEST), 1);
    assert_eq!(a.sent(), ["T=1{C=-{S=a}}"]);
    assert_eq!(
        a.run(10_000),
        [
            "300 again T=1{C=-{S=a}}",
            "900 again T=1{C=-{S=a}}",
            "2100 again T=1{C=-{S=a}}",
            "4500 result 1 Timeout"
        ]
    );
    a.assert_empty();
}

#[test]
fn a_plain_timer_sends_once() {
    for (timer, end) in [("2s", "2000 result 1 Timeout"), ("0", "1 result 1 Timeout")] {
        let (mut a, conn) = side(&[("request_timer", timer)]);
        a.request(conn, REQUEST);
        assert_eq!(a.sent().len(), 1);
        assert_eq!(a.run(10_000), [end]);
    }
    let (mut a, conn) = side(&[("request_timer", "inf")]);
    a.request(conn, REQUEST);
    a.sent();
    assert!(a.run(1_000_000_000).is_empty());
    assert_eq!(a.engine.gauges().requests, 1);
}

/// A Pending and an incremental long timer must not loop: each Pending takes one period of it.
#[test]
fn otp_4760_pendings_and_an_incremental_long_timer_end() {
    let (mut a, conn) =
        side(&[("request_timer", "1s"), ("long_request_timer", "1s*1+0x2"), ("long_request_resend", "true")]);
    a.request(conn, REQUEST);
    a.sent();
    let mut ends = Vec::new();
    for at in (500..10_000).step_by(500) {
        ends.extend(a.run(at));
        a.receive("PN=1{}");
        let sent = a.sent();
        assert!(sent.is_empty(), "{sent:?}");
        a.events();
    }
    // Pendings at 500, 1000 and 1500 used the periods up; the last one ends a second later.
    assert_eq!(ends.last().map(String::as_str), Some("2500 result 1 Timeout"));
    a.assert_empty();
}

#[test]
fn otp_4836_pending_replaces_the_timer() {
    let (mut a, conn) = side(&[("request_timer", "1s*1+0x1"), ("long_request_timer", "5s")]);
    a.request(conn, REQUEST);
    a.sent();
    a.run(500);
    a.receive("PN=1{}");
    assert_eq!(a.events(), ["pending in 1"]);
    assert_eq!(a.run(5000), Vec::<String>::new());
    a.receive("P=1{C=-{S=a}}");
    assert_eq!(a.events(), ["result 1 ok"]);
    a.assert_empty();
}

#[test]
fn otp_4843_a_reply_stops_the_timer() {
    let (mut a, conn) = side(&[("request_timer", "1s*1+0xinf")]);
    a.request(conn, REQUEST);
    a.sent();
    a.receive("P=1{C=-{S=a}}");
    assert_eq!(a.events(), ["result 1 ok"]);
    assert!(a.run(60_000).is_empty());
    a.assert_empty();
}

#[test]
fn otp_5886_5619_a_restartable_timer_starts_again_at_each_pending() {
    let (mut a, conn) = side(&[("long_request_timer", "1s*1+0xrestartable")]);
    a.request(conn, REQUEST);
    a.sent();
    for at in (0..20_000).step_by(900) {
        assert!(a.run(at).is_empty());
        a.receive("PN=1{}");
        assert_eq!(a.events(), ["pending in 1"]);
        assert!(a.sent().is_empty());
    }
    // Without a Pending the first expiry is the end.
    assert_eq!(a.run(60_000), ["20800 result 1 Timeout"]);
    a.assert_empty();
}

#[test]
fn after_a_pending_requests_are_sent_again_only_if_asked_for() {
    for (resend, expected) in [
        ("false", &["2500 result 1 Timeout"][..]),
        ("true", &["1500 again T=1{C=-{S=a}}", "2500 result 1 Timeout"]),
    ] {
        let (mut a, conn) = side(&[
            ("request_timer", "1s*1+0xinf"),
            ("long_request_timer", "1s*1+0x1"),
            ("long_request_resend", resend),
        ]);
        a.request(conn, REQUEST);
        a.sent();
        a.run(500);
        a.receive("PN=1{}");
        a.events();
        assert_eq!(a.run(60_000), expected);
    }
}

/// A late reply is not the result of the next call.
#[test]
fn otp_6549_a_late_reply() {
    let (mut a, conn) = side(&[("request_timer", "1s")]);
    a.request(conn, REQUEST);
    a.sent();
    assert_eq!(a.run(1000), ["1000 result 1 Timeout"]);
    assert_eq!(a.request(conn, REQUEST), 2);
    a.receive("P=1{C=-{S=a}}");
    assert_eq!(a.events(), ["unexpected Reply 1"]);
    a.receive("P=2{C=-{S=a}}");
    assert_eq!(a.events(), ["result 2 ok"]);
}

#[test]
fn otp_6276_6921_6972_cancel_with_replies_and_timers() {
    let (mut a, conn) = side(&[("request_timer", "1s*1+0x5")]);
    for _ in 0..3 {
        a.request(conn, REQUEST);
    }
    a.sent();
    a.run(500);
    a.receive("PN=2{}P=1{C=-{S=a}}");
    assert_eq!(a.events(), ["pending in 2", "result 1 ok"]);
    a.engine.cancel(a.time(), conn).unwrap();
    assert_eq!(a.events(), ["result 2 Cancelled", "result 3 Cancelled"]);
    a.receive("P=2{C=-{S=a}}P=3{C=-{S=a}}PN=3{}");
    assert_eq!(a.events(), ["unexpected Reply 2", "unexpected Reply 3", "unexpected Pending 3"]);
    assert!(a.run(60_000).is_empty());
    a.assert_empty();
}

#[test]
fn otp_8328_cancel_after_the_connection_has_ended() {
    let (mut a, conn) = side(&[]);
    a.request(conn, REQUEST);
    a.engine.disconnect(a.time(), conn, "test").unwrap();
    assert_eq!(a.events(), ["disconnect <b> test"]);
    a.engine.cancel(a.time(), conn).unwrap();
    assert_eq!(a.events(), ["result 1 Cancelled"]);
    // Nothing is remembered any more, not even the connection.
    assert_eq!(a.engine.cancel(a.time(), conn), Err(Error::NoSuchConnection));
    assert_eq!(a.engine.gauges().connections, 0);
    a.assert_empty();
}

/// Counters of Pendings vanish with their request, however it ends.
#[test]
fn otp_7189_pendings_are_counted_by_request() {
    let (mut a, conn) = side(&[
        ("request_timer", "1s"),
        ("long_request_timer", "1s"),
        ("recv_pending_limit", "2"),
        ("min_trans_id", "5"),
        ("max_trans_id", "5"),
    ]);
    for _ in 0..3 {
        let now = a.now;
        assert_eq!(a.request(conn, REQUEST), 5);
        a.sent();
        a.receive("PN=5{}");
        a.receive("PN=5{}");
        assert_eq!(a.events(), ["pending in 5", "pending in 5"]);
        assert_eq!(a.run(now + 1000), [format!("{} result 5 Timeout", now + 1000)]);
    }
    a.request(conn, REQUEST);
    for expected in
        [&["pending in 5"][..], &["pending in 5"], &["result 5 PendingLimit"], &["unexpected Pending 5"]]
    {
        a.receive("PN=5{}");
        assert_eq!(a.events(), expected);
    }
    a.assert_empty();
}

#[test]
fn otp_7926_unexpected_things_are_what_they_are() {
    let (mut a, _) = side(&[]);
    a.receive_from(route(1), "!/3 <b> P=9{C=-{S=a}}PN=8{}K{7}SM=6/1");
    let expected = ["unexpected Reply 9", "unexpected Pending 8", "unexpected Ack 7", "unexpected Segment 6"];
    assert_eq!(a.events(), expected);
    assert!(a.sent().is_empty());
}

#[test]
fn otp_8183_further_replies_are_numbered() {
    let (mut a, conn) = side(&[("request_keep_alive", "2s")]);
    a.request(conn, REQUEST);
    a.sent();
    for expected in ["result 1 ok", "result 1 further 2", "result 1 further 3"] {
        a.receive("P=1{C=-{S=a}}");
        assert_eq!(a.events(), [expected]);
    }
    assert_eq!(a.engine.gauges().requests, 1);
    // The timer frees the request without another result.
    assert!(a.run(2000).is_empty());
    a.receive("P=1{C=-{S=a}}");
    assert_eq!(a.events(), ["unexpected Reply 1"]);
    a.assert_empty();
}

#[test]
fn otp_8212_a_reply_of_another_sender() {
    for (wrong_mid, expected) in [
        ("ignore", &["unexpected Reply 1"][..]),
        ("end", &["unexpected Reply 1", "result 1 WrongMid(\"<c>\")"]),
    ] {
        let (mut a, conn) = side(&[("wrong_mid", wrong_mid)]);
        a.receive_from(route(3), "!/1 <c> T=1{C=-{S=a}}");
        a.events();
        a.request(conn, REQUEST);
        a.receive_from(route(3), "!/1 <c> P=1{C=-{S=a}}");
        assert_eq!(a.events(), expected, "{wrong_mid}");
        a.receive("P=1{C=-{S=a}}");
        let last = if wrong_mid == "ignore" { "result 1 ok" } else { "unexpected Reply 1" };
        assert_eq!(a.events(), [last]);
    }
}

#[test]
fn otp_8529_two_copies_of_a_reply_deliver_once() {
    let (mut a, conn) = side(&[]);
    a.request(conn, REQUEST);
    a.sent();
    a.receive("P=1{C=-{S=a}}P=1{C=-{S=a}}");
    assert_eq!(a.events(), ["result 1 ok", "unexpected Reply 1"]);
    // Repeated replies that ask for it are acknowledged nevertheless.
    a.receive("P=1{IA,C=-{S=a}}");
    assert_eq!((a.sent(), a.events()), (vec!["K{1}".to_owned()], vec!["unexpected Reply 1".to_owned()]));
}

#[test]
fn otp_6253_a_transport_may_cancel_a_message() {
    let (mut a, conn) = side(&[]);
    for (fault, expected, failures) in [
        (SendFault::Cancelled("full".into()), "result 1 SendCancelled(\"full\")", 0),
        (SendFault::Failed("down".into()), "result 2 SendFailed(\"down\")", 1),
    ] {
        a.request(conn, REQUEST);
        let transmit = a.transmits().remove(0);
        a.engine.handle_send_fault(a.time(), &transmit, &fault);
        assert_eq!(a.events(), [expected]);
        assert_eq!(a.engine.counters().send_failures, failures);
    }
    a.assert_empty();
}

#[test]
fn otp_6442_7259_resends_are_marked() {
    let (mut a, conn) = side(&[("request_timer", "1s*1+0xinf")]);
    a.request(conn, REQUEST);
    assert!(!a.transmits()[0].is_resend);
    a.engine.handle_timeout(tercet_megaco_engine::Time::from_millis(1000));
    assert!(a.transmits()[0].is_resend);
}

#[test]
fn acknowledgements_of_replies() {
    for (auto_ack, imm, expected) in
        [("false", "", &[][..]), ("false", "IA,", &["K{1}"]), ("true", "", &["K{1}"])]
    {
        let (mut a, conn) = side(&[("auto_ack", auto_ack)]);
        a.request(conn, REQUEST);
        a.sent();
        a.receive(&format!("P=1{{{imm}C=-{{S=a}}}}"));
        assert_eq!(a.sent(), expected);
    }
}

#[test]
fn an_error_of_the_transaction() {
    let (mut a, conn) = side(&[]);
    a.request(conn, REQUEST);
    a.receive("P=1{ER=411{\"none\"}}");
    assert_eq!(a.events(), ["result 1 error 411"]);
}

/// Requests outlive their connection; resends go to the next one with the same peer.
#[test]
fn requests_and_connections() {
    let (mut a, conn) = side(&[("request_timer", "1s*1+0x5")]);
    a.request(conn, REQUEST);
    a.sent();
    a.engine.disconnect(a.time(), conn, "gone").unwrap();
    assert!(matches!(a.try_request(conn, REQUEST, &RequestOptions::default()), Err(Error::NoSuchConnection)));
    a.events();
    a.receive_from(route(9), "!/1 <b> T=3{C=-{S=a}}");
    assert_eq!(a.events(), ["connect v1", "execute 3"]);
    assert_eq!(a.run(1000), ["1000 to 9: again T=1{C=-{S=a}}"]);
    a.receive_from(route(9), "!/1 <b> P=1{C=-{S=a}}");
    assert_eq!(a.events(), ["result 1 ok"]);
}

/// A closed stream: nothing is sent until the peer comes by another one.
#[test]
fn requests_and_streams() {
    let mut a = Side::new(&[("request_timer", "1s*1+0x9")]);
    let mid = tercet_megaco::text::read_mid(b"<b>").unwrap();
    let conn = a.engine.connect(a.time(), a.user, Some(mid), stream(1)).unwrap();
    a.request(conn, REQUEST);
    a.sent();
    a.engine.handle_closed(a.time(), stream(1));
    assert!(a.run(2500).is_empty());
    a.receive_from(stream(2), "!/1 <b> T=3{C=-{S=a}}");
    a.sent();
    a.events();
    a.run(3000);
    assert_eq!(a.engine.route(conn), Some(stream(2)));
}

/// A preliminary connection: the reply names the peer, whatever it is called.
#[test]
fn a_preliminary_connection_gets_its_name() {
    let mut a = Side::new(&[("request_timer", "1s*1+0x5")]);
    let conn = a.engine.connect(a.time(), a.user, None, route(1)).unwrap();
    assert_eq!(a.engine.remote_mid(conn).as_deref(), Some("preliminary"));
    a.request(conn, REQUEST);
    a.sent();
    a.receive("P=1{C=-{S=a}}");
    assert_eq!(a.events(), ["connect v1", "result 1 ok"]);
    assert_eq!(a.engine.remote_mid(conn).as_deref(), Some("<b>"));
    assert!(a.run(10_000).is_empty());
    assert_eq!(a.engine.conn_counters(conn).unwrap().results_ok, 1);
    // From another address too, by the id of the request; what is known of that peer moves along.
    let other = a.engine.connect(a.time(), a.user, None, route(2)).unwrap();
    a.request(other, REQUEST);
    a.sent();
    a.receive_from(route(7), "!/1 <b> P=2{C=-{S=a}}");
    assert_eq!(a.events(), ["connect v1", "result 2 ok"]);
    assert_eq!(a.engine.remote_mid(conn), None);
    assert_eq!(a.engine.conn_counters(other).unwrap().results_ok, 2);
}

#[test]
fn several_requests_of_one_call_share_a_message() {
    let (mut a, conn) = side(&[("request_timer", "1s*1+0x5")]);
    let all = vec![actions(REQUEST), actions("C=-{S=b}"), actions("C=-{S=c}")];
    let requests = a.engine.request(a.time(), conn, all, &RequestOptions::default()).unwrap();
    assert_eq!(requests.iter().map(|request| request.1).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(a.sent(), ["T=1{C=-{S=a}}T=2{C=-{S=b}}T=3{C=-{S=c}}"]);
    a.receive("P=2{C=-{S=b}}");
    assert_eq!(a.events(), ["result 2 ok"]);
    assert_eq!(a.run(1000), ["1000 again T=1{C=-{S=a}}", "1000 again T=3{C=-{S=c}}"]);
}

#[test]
fn limits_of_requests() {
    let (mut a, conn) = side(&[("max_requests", "1"), ("max_pdu_size", "60")]);
    a.request(conn, REQUEST);
    let refused = a.try_request(conn, REQUEST, &RequestOptions::default());
    assert_eq!(refused, Err(Error::LimitReached("max_requests")));
    a.receive("P=1{C=-{S=a}}");
    let long = format!("C=-{{S={}}}", "x".repeat(60));
    assert!(matches!(a.try_request(conn, &long, &RequestOptions::default()), Err(Error::TooLarge(_))));
    // An id that was not used is used by the next request.
    assert_eq!(a.request(conn, REQUEST), 2);
}

#[test]
fn options_of_a_call() {
    let (mut a, conn) = side(&[]);
    let mut options = RequestOptions::default();
    options.request_timer = Some("1s".parse().unwrap());
    a.try_request(conn, REQUEST, &options).unwrap();
    options.request_timer = None;
    options.long_request_timer = Some("2s".parse().unwrap());
    a.try_request(conn, REQUEST, &options).unwrap();
    a.sent();
    a.receive("PN=2{}");
    a.events();
    assert_eq!(a.run(5000), ["1000 result 1 Timeout", "2000 result 2 Timeout"]);
}

#[test]
fn a_silent_peer_is_reported() {
    let (mut a, _) = side(&[("idle_timer", "10s")]);
    a.run(5000);
    a.receive("K{1}");
    a.events();
    assert_eq!(a.run(30_000), ["15000 idle", "25000 idle"]);
}

/// A clock that jumps makes no timer negative: what is overdue is done at once, and once (OTP-8081).
#[test]
fn otp_8081_no_negative_times() {
    let (mut a, conn) = side(&[("request_timer", "300ms*2+0x3"), ("long_request_timer", "1s*1+0x2")]);
    a.request(conn, "C=-{S=a}");
    assert_eq!(a.sent().len(), 1);
    // Two expiries are overdue: the next period begins now.
    a.now = 1000;
    a.engine.handle_timeout(a.time());
    assert_eq!(a.sent().len(), 1);
    assert_eq!(a.run(1700), ["1600 again T=1{C=-{S=a}}"]);
    // The clock goes back: the engine's does not.
    a.now = 10;
    a.engine.handle_timeout(a.time());
    a.receive("PN=1{}");
    a.events();
    assert!(a.run(2600).is_empty());
    // All of the rest is overdue.
    a.now = 100_000;
    a.engine.handle_timeout(a.time());
    assert!(a.sent().is_empty() && a.events().is_empty(), "the second period begins now");
    assert_eq!(a.run(200_000), ["102000 result 1 Timeout"]);
    a.assert_empty();
}
