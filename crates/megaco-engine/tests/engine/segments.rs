//! Replies in segments, received and sent.

use super::harness::{Side, route};
use tercet_megaco_engine::{AckMode, ConnId};

/// A side that has sent request 1 in version 3.
fn asking(items: &[(&str, &str)]) -> (Side, ConnId) {
    let mut all = vec![("protocol_version", "3")];
    all.extend(items);
    let mut side = Side::new(&all);
    let conn = side.connect();
    side.request(conn, "C=1{S=a},C=2{S=b}");
    side.sent();
    (side, conn)
}

fn receive(side: &mut Side, body: &str) {
    side.receive_from(route(1), &format!("!/3 <b> {body}"));
}

fn sent(side: &mut Side) -> Vec<String> {
    side.sent().iter().map(|text| text.replace("!/3 <a>\n", "")).collect()
}

#[test]
fn segments_in_any_order_are_one_result() {
    let (mut a, _) = asking(&[("request_timer", "1s")]);
    for (segment, ack) in [("2", "SM=1/2"), ("3/&", "SM=1/3/&"), ("2", "SM=1/2")] {
        receive(&mut a, &format!("P=1/{segment}{{C=1{{S=a}}}}"));
        assert_eq!(sent(&mut a), [ack]);
        assert!(a.events().is_empty());
    }
    // The request timer has stopped.
    assert!(a.run(5000).is_empty());
    receive(&mut a, "P=1/1{C=1{S=a}}");
    assert_eq!(sent(&mut a), ["SM=1/1", "K{1}"]);
    assert_eq!(a.events(), ["result 1 ok in segments 1 2 3"]);
    a.assert_empty();
    // The peer did not get an acknowledgement.
    receive(&mut a, "P=1/3/&{C=1{S=a}}");
    assert_eq!(
        (sent(&mut a), a.events()),
        (vec!["SM=1/3/&".to_owned()], vec!["unexpected Segment 1".to_owned()])
    );
}

/// Missing segments: the peer is told which, and the request is freed, with any kind of timer.
#[test]
fn missing_segments() {
    for (timer, at) in [("2s", 2000), ("1s*1+0x2", 3000), ("1s*1+0xrestartable", 1000)] {
        let (mut a, _) = asking(&[("segment_recv_timer", timer)]);
        receive(&mut a, "P=1/1{C=1{S=a}}P=1/4/&{C=1{S=a}}");
        sent(&mut a);
        let lines = a.run(60_000);
        assert_eq!(
            lines,
            [
                format!("{at} !/3 <a>\nER=459{{\"2,3\"}}"),
                format!("{at} result 1 segment timeout, missing [2, 3], 2 came")
            ]
        );
        a.assert_empty();
    }
}

#[test]
fn the_last_segment_never_comes() {
    let (mut a, _) = asking(&[("long_request_timer", "7s")]);
    receive(&mut a, "P=1/1{C=1{S=a}}");
    sent(&mut a);
    let lines = a.run(60_000);
    assert_eq!(lines[1], "7000 result 1 segment timeout, missing [2], 1 came");
    a.assert_empty();
}

#[test]
fn too_many_segments() {
    for (item, limit) in [("max_segments", "2"), ("max_segment_octets", "60")] {
        let (mut a, _) = asking(&[(item, limit)]);
        for number in 1..=3 {
            receive(&mut a, &format!("P=1/{number}{{C=1{{S=a}}}}"));
        }
        assert_eq!(a.events()[0], "result 1 SegmentLimit");
        a.assert_empty();
    }
}

/// Three actions of about 50 octets each.
fn reply() -> String {
    let action = |number: u32| format!("C={number}{{S={}}}", "x".repeat(40));
    (1..=3).map(action).collect::<Vec<_>>().join(",")
}

fn answering(items: &[(&str, &str)]) -> Side {
    let mut all = vec![("protocol_version", "3"), ("segment_reply_ind", "true")];
    all.extend(items);
    let mut side = Side::new(&all);
    receive(&mut side, "T=7{C=1{S=a}}");
    side.events();
    side
}

#[test]
fn a_window_of_one_segment() {
    let mut a = answering(&[("segment_send", "1"), ("max_pdu_size", "90"), ("reply_timer", "20s")]);
    a.reply(7, &reply(), AckMode::Sloppy).unwrap();
    let mut all = Vec::new();
    for number in 1..=3 {
        let mut now = sent(&mut a);
        assert_eq!(now.len(), 1);
        all.append(&mut now);
        let end = if number == 3 { "/&" } else { "" };
        receive(&mut a, &format!("SM=7/{number}{end}"));
    }
    assert!(
        all[0].starts_with("P=7/1{C=1{")
            && all[1].starts_with("P=7/2{C=2{")
            && all[2].starts_with("P=7/3/&{C=3{")
    );
    assert_eq!(a.events(), ["segment 7/1", "segment 7/2", "segment 7/3 end", "ack 7 Acknowledged"]);
    assert_eq!(a.engine.gauges().reply_octets, 0);
    // All have arrived: a repeated request is dropped.
    receive(&mut a, "T=7{C=1{S=a}}");
    assert!(sent(&mut a).is_empty());
    a.run(20_000);
    a.assert_empty();
}

#[test]
fn several_actions_share_a_segment() {
    let mut a = answering(&[("segment_send", "all"), ("max_pdu_size", "150")]);
    a.reply(7, &reply(), AckMode::Discard).unwrap();
    let all = sent(&mut a);
    assert_eq!(all.len(), 2);
    assert!(all[0].starts_with("P=7/1{C=1{") && all[0].contains(",C=2{"), "{}", all[0]);
    assert!(all[1].starts_with("P=7/2/&{C=3{"));
    assert!(all.iter().all(|segment| segment.len() + "!/3 <a>\n".len() <= 150));
}

/// A reply that fits is not segmented.
#[test]
fn otp_7733_no_segments_if_the_reply_fits() {
    let mut a = answering(&[("segment_send", "1"), ("max_pdu_size", "400")]);
    a.reply(7, &reply(), AckMode::Discard).unwrap();
    let all = sent(&mut a);
    assert_eq!(all.len(), 1);
    assert!(all[0].starts_with("P=7{C=1{"));
}

#[test]
fn otp_7455_acknowledgements_of_other_segments() {
    let mut a = answering(&[("segment_send", "1"), ("max_pdu_size", "90")]);
    a.reply(7, &reply(), AckMode::Discard).unwrap();
    sent(&mut a);
    for body in ["SM=7/2", "SM=7/9/&", "SM=8/1"] {
        receive(&mut a, body);
        assert!(sent(&mut a).is_empty());
        assert!(a.events()[0].starts_with("unexpected Segment"));
    }
    receive(&mut a, "SM=7/1");
    assert_eq!(sent(&mut a).len(), 1);
    // A double of it means nothing.
    receive(&mut a, "SM=7/1");
    assert!(sent(&mut a).is_empty());
}

/// Segments are sent again, as the same octets, until the reply is forgotten.
#[test]
fn segments_are_sent_again() {
    let mut a = answering(&[
        ("segment_send", "1"),
        ("max_pdu_size", "90"),
        ("segment_send_timer", "5s"),
        ("reply_timer", "12s"),
    ]);
    a.reply(7, &reply(), AckMode::Handle).unwrap();
    let first = a.sent().remove(0);
    let lines = a.run(30_000);
    assert_eq!(
        lines,
        [format!("5000 again {first}"), format!("10000 again {first}"), "12000 ack 7 Timeout".to_owned()]
    );
    a.assert_empty();
    // And to a repeated request, at the address that it came from.
    let mut a = answering(&[("segment_send", "1"), ("max_pdu_size", "90")]);
    a.reply(7, &reply(), AckMode::Discard).unwrap();
    let first = a.sent().remove(0);
    a.receive_from(route(5), "!/3 <b> T=7{C=1{S=a}}");
    assert_eq!(a.sent(), [format!("to 5: again {first}")]);
}

/// Binary replies are segmented too.
#[test]
fn segments_in_binary() {
    for (encoding, size, max) in [("ber", "110", 110), ("per", "60", 60)] {
        let mut a = answering(&[("segment_send", "all"), ("max_pdu_size", size), ("encoding", encoding)]);
        let actions: Vec<String> = (1..=12).map(|number| format!("C={number}{{S=a234567}}")).collect();
        a.reply(7, &actions.join(","), AckMode::Discard).unwrap();
        let all = a.transmits();
        assert!(all.len() > 1, "{encoding}");
        assert!(all.iter().all(|transmit| transmit.octets.len() <= max), "{encoding}");
    }
}

/// Before version 3 there are none.
#[test]
fn no_segments_in_older_versions() {
    let mut a = Side::new(&[("segment_send", "1"), ("max_pdu_size", "90")]);
    a.receive("T=7{C=1{S=a}}");
    a.events();
    a.reply(7, &reply(), AckMode::Discard).unwrap();
    assert!(a.sent()[0].contains("ER=533"));
}
