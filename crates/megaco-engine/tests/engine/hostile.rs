//! Octets of any kind: no panic, and what is remembered of them is bounded and forgotten.

use super::harness::{Side, route};
use tercet_megaco_engine::{AckMode, Limits, Random};

const SEEDS: [&str; 9] = [
    "!/1 <b> T=1{C=-{S=a}}",
    "!/3 <b> T=2{C=1{A=$}}T=3{C=-{AV=root{AT{PG}}}}",
    "!/1 <b> P=1{IA,C=-{S=a}}",
    "!/3 <b> P=1/1{C=-{S=a}}",
    "!/3 <b> P=1/2/&{C=-{S=a}}SM=7/1",
    "!/1 <b> PN=1{}K{1-9,11}",
    "!/1 <b> ER=400{\"x\"}",
    "!/1 [192.0.2.1]:2944 T=1{C=-{SC=ROOT{SV{MT=RS,RE=\"901\",AD=55,V=3}}}}",
    "MEGACO/1 <b>\nTransaction = 9 { Context = * { Subtract = * } }",
];

#[test]
fn mutated_messages() {
    let mut random = Random::new(5);
    let limits = Limits { connections: 50, replies: 500, reply_octets: 100_000 };
    let mut a = Side::with_limits(
        &[
            ("request_timer", "1s*1+0x2"),
            ("reply_timer", "2s"),
            ("execution_timer", "3s"),
            ("max_replies", "100"),
        ],
        limits,
    );
    let conn = a.connect();
    for round in 0..20_000_u64 {
        if round % 50 == 0 {
            _ = a.try_request(conn, "C=-{S=a}", &tercet_megaco_engine::RequestOptions::default());
        }
        let mut octets = SEEDS[random.below(SEEDS.len() as u64) as usize].as_bytes().to_vec();
        for _ in 0..random.below(4) {
            let place = random.below(octets.len() as u64) as usize;
            match random.below(4) {
                0 => octets[place] = random.next_u64() as u8,
                1 => octets.truncate(place.max(1)),
                2 => octets.insert(place, b'0' + random.below(10) as u8),
                _ => {
                    octets.remove(place);
                    octets.push(b'}');
                }
            }
        }
        a.engine.handle_input(a.time(), a.user, route(1 + random.below(3) as u16), &octets);
        a.events();
        if random.permille(300) {
            let answered = a.engine.executing_requests(conn);
            for id in answered {
                _ = a.reply(id, "C=-{S=a}", AckMode::Sloppy);
            }
        }
        a.sent();
        let gauges = a.engine.gauges();
        assert!(gauges.connections <= 50 && gauges.replies <= 500, "{gauges:?}");
        if round % 10 == 0 {
            a.run(a.now + random.below(40));
        }
    }
    a.run(a.now + 100_000);
    a.events();
    a.assert_empty();
}

/// A flood of what cannot be decoded: answers are limited, and a valid peer is still served.
#[test]
fn a_flood_of_malformed_messages() {
    let mut a = Side::new(&[]);
    for number in 0..100_000_u32 {
        let from = route((number % 60_000) as u16 + 1);
        a.engine.handle_input(a.time(), a.user, from, b"!/1 <b> T=1{C=-{S=}}");
        if number % 100 == 0 {
            a.events();
        }
    }
    assert!(a.sent().len() <= 2000);
    a.events();
    a.receive("T=7{C=-{S=a}}");
    assert_eq!(a.events(), ["connect v1", "execute 7"]);
}

/// Acknowledgements of all ids at once, many times over, cost little whatever is remembered.
#[test]
fn ranges_of_everything() {
    let mut a = Side::new(&[]);
    for id in 0..2000 {
        a.receive(&format!("T={id}{{C=-{{S=a}}}}"));
        a.events();
        a.reply(id, "C=-{S=a}", AckMode::Discard).unwrap();
    }
    let ranges: Vec<String> = (0..5000_u32).map(|n| format!("{}-{}", n, u32::MAX - n)).collect();
    a.receive(&format!("K{{{}}}", ranges.join(",")));
    assert_eq!(a.engine.counters().acks_received, 2000);
    assert_eq!(a.engine.gauges().reply_octets, 0);
}

/// Datagrams under names that nobody has: their connections end, and those of peers that answer stay.
#[test]
fn connections_of_forged_senders_end() {
    let mut a =
        Side::with_limits(&[("unproven_timer", "10s")], Limits { connections: 20, ..Limits::default() });
    a.receive_from(route(1), "!/1 <b> T=1{C=-{SC=root{SV{MT=RS,RE=\"901\"}}}}");
    let names = a.engine.connections().next().unwrap();
    a.events();
    a.reply(1, "C=-{SC=root}", AckMode::Discard).unwrap();
    a.request(names, "C=-{AV=root{AT{}}}");
    a.receive_from(route(1), "!/1 <b> P=1{C=-{AV=root}}");
    for number in 0..100 {
        a.receive_from(route(number + 2), &format!("!/1 <forged{number}> T=1{{C=-{{S=a}}}}"));
        assert!(a.engine.gauges().connections <= 20);
    }
    assert!(a.engine.remote_mid(names).is_some());
    assert!(a.events().iter().any(|event| event.contains("room for another connection")));
    a.run(100_000);
    // Looked at when something arrives.
    for _ in 0..40 {
        a.now += 2000;
        a.receive("K{99}");
    }
    let left: Vec<_> = a.engine.connections().collect();
    assert_eq!(left, [names]);
    // Their requests were never answered.
    a.run(1_000_000);
    assert_eq!(a.engine.gauges().connections, 1);
}

/// Engines that are one entity send together no more errors than each alone: 50 a second to one source, 2,000 to all.
#[test]
fn errors_of_several_engines_have_one_limit() {
    let sent = |is_one: bool, sources: u16| {
        let (mut a, mut b) = (Side::new(&[]), Side::new(&[]));
        if is_one {
            b.engine.share_error_limits(&a.engine);
        }
        let mut count = 0;
        for number in 0..4_000_u16 {
            let from = route(number % sources + 1);
            for side in [&mut a, &mut b] {
                side.engine.handle_input(side.time(), side.user, from, b"!/1 <b> T=1{C=-{S=}}");
                count += side.sent().len();
            }
        }
        // In another second the limit begins again; an engine whose clock is a little behind does not end it.
        (a.now, b.now) = (a.now + 1000, b.now + 1000);
        let mut more = 0;
        for number in 0..200 {
            let late = if number % 2 == 0 { b.now - 500 } else { b.now };
            let moment = tercet_megaco_engine::Time::from_millis(late);
            b.engine.handle_input(moment, b.user, route(1), b"!/1 <b> T=1{C=-{S=}}");
            a.engine.handle_input(a.time(), a.user, route(1), b"!/1 <b> T=1{C=-{S=}}");
            more += a.sent().len() + b.sent().len();
        }
        (count, more)
    };
    assert_eq!(sent(false, 1), (100, 100));
    assert_eq!(sent(true, 1), (50, 50));
    assert_eq!(sent(true, 1000).0, 2000);
}
