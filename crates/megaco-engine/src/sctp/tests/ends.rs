//! How associations end, and what becomes of peers that vanish or begin again.

use super::super::{Config, Endpoint, Event, Silence};
use super::world::{CONFIG, Network, PORT, World, address};

const GOOD: Network = Network { loses: 0, repeats: 0, delay: 0 };

fn connected() -> (World, [u32; 2]) {
    let mut world = World::new(5, GOOD);
    let ids = world.connected();
    (world, ids)
}

/// Both ends at the same time.
#[test]
fn both_shut_down() {
    let (mut world, ids) = connected();
    for (end, id) in ids.into_iter().enumerate() {
        world.send(end, id, b"last");
        world.ends[end].shutdown(world.now, id);
        // Nothing is taken after the end.
        world.send(end, id, b"too late");
    }
    world.run(60);
    for end in 0..2 {
        assert_eq!((world.messages(end), world.downs(end).len()), (vec![&b"last"[..]], 1));
        assert!(world.ends[end].is_empty());
    }
}

/// The last packet of a shutdown is lost: the peer's question gets an answer from who knows nothing any more.
#[test]
fn a_shutdown_whose_end_is_lost() {
    for seed in 0..30 {
        let mut world = World::new(seed, GOOD);
        let ids = world.connected();
        world.network.loses = 500;
        world.ends[1].shutdown(world.now, ids[1]);
        world.run(200);
        assert_eq!(world.downs(1).len(), 1, "seed {seed}");
        assert!(world.ends[1].is_empty(), "seed {seed}");
    }
}

#[test]
fn an_abort_has_its_reason() {
    let (mut world, ids) = connected();
    world.ends[1].abort(world.now, ids[1], "no room");
    world.run(1);
    assert_eq!([world.downs(0), world.downs(1)], [["aborted by the peer: no room"], ["no room"]]);
}

/// A peer that vanishes with something on its way to it: it is sent again after 1, 3, 7, 12 and so on
/// seconds, and the peer is asked whether it is there.
#[test]
fn a_peer_that_does_not_answer() {
    let (mut world, ids) = connected();
    world.run(3);
    world.dark = Some(1);
    world.send(0, ids[0], b"hello");
    let begin = world.now;
    while world.downs(0).is_empty() {
        assert!(world.step(begin.after(std::time::Duration::from_secs(60))));
    }
    assert_eq!(world.downs(0), ["the peer does not answer"]);
    assert_eq!(world.now.since(begin).as_secs(), 37);
}

/// A peer that vanishes while nothing is sent: it is asked, and does not answer.
#[test]
fn a_silent_peer_is_asked() {
    let (mut world, _) = connected();
    world.run(1_000);
    assert_eq!([world.downs(0), world.downs(1)], [[""; 0], [""; 0]]);
    // Both ask each 30 seconds at most, and answer.
    assert!(world.sent.len() < 4 * 40, "{}", world.sent.len());
    world.dark = Some(1);
    world.run(300);
    assert_eq!(
        [world.downs(0), world.downs(1)],
        [["the peer does not answer"], ["the peer does not answer"]]
    );
}

#[test]
fn nobody_is_there() {
    let mut world = World::new(1, GOOD);
    world.dark = Some(1);
    world.ends[0].connect(world.now, address(1), PORT).unwrap();
    world.run(600);
    assert_eq!(world.downs(0), ["the peer does not answer"]);
    assert_eq!(world.sent.len(), 9);
    // A port that nobody has.
    let mut world = World::new(1, GOOD);
    world.ends[0].connect(world.now, address(1), 1).unwrap();
    world.run(1);
    assert_eq!(world.downs(0), ["aborted by the peer"]);
}

/// A gateway begins again from its address and port (RFC 9260 5.2.2): the controller hears of the end of the old association.
#[test]
fn a_peer_restarts() {
    let mut world = World::with(5, GOOD, Config { port: Some(2945), ..CONFIG });
    world.ends[1] = Endpoint::new(Config { port: Some(PORT), ..CONFIG }, [5, 2]);
    world.connected();
    world.ends[0] = Endpoint::new(Config { port: Some(2945), ..CONFIG }, [6, 1]);
    world.events[0].clear();
    let ids = world.connected();
    assert_eq!(world.downs(1), ["the peer has restarted"]);
    world.send(1, ids[1], b"again");
    world.run(1);
    assert_eq!(world.messages(0), [b"again"]);
}

/// A controller has forgotten everything: the next packet of a gateway ends its association.
#[test]
fn the_other_side_restarts() {
    let (mut world, ids) = connected();
    world.ends[1] = Endpoint::new(Config { port: Some(PORT), ..CONFIG }, [6, 2]);
    world.send(0, ids[0], b"hello");
    world.run(1);
    assert_eq!(world.downs(0), ["aborted by the peer"]);
}

#[test]
fn silence_is_bounded() {
    let silence = Silence { first: Some(1000), idle: Some(5000), frame: Some(2000) };
    let check = |sends: &dyn Fn(&mut World, u32), expected: &str, millis: u128| {
        let mut world = World::with(7, GOOD, Config { silence, ..CONFIG });
        let ids = world.connected();
        let begin = world.now;
        sends(&mut world, ids[0]);
        while world.downs(1).is_empty() {
            assert!(world.step(begin.after(std::time::Duration::from_secs(60))));
        }
        let took = world.now.since(begin).as_millis();
        assert_eq!(world.downs(1), [expected]);
        assert!(took.abs_diff(millis) < 20, "{expected}: {took} ms");
        world.run(1);
        assert_eq!(world.downs(0), [format!("aborted by the peer: {expected}")]);
    };
    check(&|_, _| {}, "no message in time", 1000);
    check(&|world, id| world.send(0, id, b"one"), "nothing was received for long", 5000);
    check(
        &|world, id| {
            world.send(0, id, &[1; 5000]);
            // Only the first packet arrives.
            world.ends[0].handle_timeout(world.now);
            let (_, first) = world.ends[0].poll_transmit().unwrap();
            while world.ends[0].poll_transmit().is_some() {}
            world.ends[1].handle(world.now, address(0), &first);
            world.collect();
            // The gateway hears nothing, and is not heard, until the controller has given up.
            let end = world.now.after(std::time::Duration::from_millis(1990));
            world.dark = Some(0);
            while world.step(end) {}
            world.dark = None;
        },
        "a message was begun and not ended in time",
        2000,
    );
}

/// Associations are bounded; who comes when there is no room is refused.
#[test]
fn there_is_no_more_room() {
    let config = Config { port: Some(PORT), most: 2, ..CONFIG };
    let mut controller = Endpoint::new(config, [1, 1]);
    let mut downs = 0;
    for number in 0..3 {
        let from = address(10 + number);
        let mut gateway = Endpoint::new(CONFIG, [number as u64, 2]);
        let now = crate::time::Time::from_millis(5);
        gateway.connect(now, address(1), PORT).unwrap();
        for _ in 0..4 {
            while let Some((_, packet)) = gateway.poll_transmit() {
                controller.handle(now, from, &packet);
            }
            while let Some((to, packet)) = controller.poll_transmit() {
                assert_eq!(to, from);
                gateway.handle(now, address(1), &packet);
            }
        }
        while let Some(event) = gateway.poll_event() {
            downs += usize::from(matches!(event, Event::Down { .. }));
        }
    }
    assert_eq!((controller.associations.len(), downs), (2, 1));
}
