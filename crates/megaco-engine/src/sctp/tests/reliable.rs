//! Messages arrive once, whole and in their order, whatever the network does.

use super::world::{Network, World};
use crate::seeded::Random;

const BAD: Network = Network { loses: 100, repeats: 100, delay: 80 };

/// A message whose octets show which one it is.
fn message(random: &mut Random, number: usize) -> Vec<u8> {
    // Most are small; some are much larger than a packet.
    let length = match random.below(10) {
        0 => 1 + random.below(65_531),
        1..4 => 1 + random.below(4_000),
        _ => 1 + random.below(300),
    };
    (0..length as usize).map(|at| (at * 7 + number * 31) as u8).collect()
}

/// Runs an exchange in both directions. Returns the number of packets.
fn exchange(seed: u64, network: Network, count: usize) -> usize {
    let mut world = World::new(seed, network);
    let ids = world.connected();
    let mut random = Random::new(seed ^ 0x5eed);
    let mut expected = [Vec::new(), Vec::new()];
    for number in 0..count {
        let sender = random.below(2) as usize;
        let octets = message(&mut random, number);
        world.send(sender, ids[sender], &octets);
        expected[1 - sender].push(octets);
        if random.permille(300) {
            world.run(random.below(3));
        }
    }
    let mut seconds = 0;
    while (0..2).any(|end| world.messages(end).len() < expected[end].len()) && seconds < 3_600 {
        world.run(1);
        seconds += 1;
    }
    for (end, expected) in expected.iter().enumerate() {
        assert_eq!(world.downs(end), [""; 0], "seed {seed}");
        assert!(world.messages(end) == *expected, "seed {seed}: the messages of end {end}");
    }
    // The end: all has arrived before it.
    world.ends[0].shutdown(world.now, ids[0]);
    world.run(600);
    assert_eq!([world.downs(0), world.downs(1)], [["closed"], ["closed by the peer"]], "seed {seed}");
    assert!(world.ends.iter().all(|end| end.is_empty()), "seed {seed}");
    world.sent.len()
}

#[test]
fn a_good_network() {
    // 40 messages and their acknowledgements, the beginning, and the end.
    let packets = exchange(1, Network { delay: 0, ..Network::default() }, 40);
    assert!(packets < 600, "{packets}");
}

#[test]
fn forty_bad_networks() {
    for seed in 0..40 {
        exchange(seed, BAD, 30);
    }
}

#[test]
fn a_very_bad_network() {
    for seed in 0..20 {
        exchange(seed, Network { loses: 200, repeats: 300, delay: 500 }, 10);
    }
}

/// The same inputs give the same packets.
#[test]
fn what_is_sent_depends_on_the_seed_only() {
    let sent = |seed| {
        let mut world = World::new(seed, BAD);
        let ids = world.connected();
        world.send(0, ids[0], &[7; 5000]);
        world.run(20);
        world.sent
    };
    assert_eq!(sent(3), sent(3));
    assert_ne!(sent(3), sent(4));
}

/// The payload protocol identifier of H.248 is 7; messages are ordered and on stream 0.
#[test]
fn messages_say_that_they_are_of_h248() {
    let mut world = World::new(1, Network::default());
    let ids = world.connected();
    world.send(0, ids[0], b"!/1 <a> T=1{}");
    world.run(1);
    assert_eq!(world.messages(1), [b"!/1 <a> T=1{}"]);
    let data: Vec<&[u8]> =
        world.sent.iter().filter(|(_, packet)| packet[12] == 0).map(|(_, packet)| &packet[12..]).collect();
    let [data] = data[..] else { panic!("{data:?}") };
    // All of it, not unordered; stream 0, sequence number 0, identifier 7.
    assert_eq!((data[1] & 7, &data[8..16]), (3, &[0, 0, 0, 0, 0, 0, 0, 7][..]));
}

/// A lost packet of many is sent again before its timer expires.
#[test]
fn a_lost_piece_is_sent_again_at_once() {
    let mut world = World::new(1, Network { delay: 5, ..Network::default() });
    let ids = world.connected();
    // The window of the network grows first.
    for _ in 0..20 {
        world.send(0, ids[0], &[1; 20_000]);
        world.run(1);
    }
    let begin = world.now;
    world.send(0, ids[0], &[2; 60_000]);
    world.network.loses = 1000;
    world.ends[0].handle_timeout(world.now);
    // Only the first packet of the first burst is lost.
    let packet = world.ends[0].poll_transmit();
    assert!(packet.is_some());
    world.network.loses = 0;
    while world.messages(1).len() < 21 {
        assert!(world.step(begin.after(std::time::Duration::from_millis(900))), "it waited for its timer");
    }
}
