//! Packets that no peer should send.

use super::super::keyed::checksum;
use super::super::packet::{Chunk, Header, Init, Packet, read};
use super::super::{Config, Endpoint, Event};
use super::world::{CONFIG, Network, PORT, World, address};
use crate::seeded::Random;
use crate::time::Time;

const GOOD: Network = Network { loses: 0, repeats: 0, delay: 0 };

fn seal(packet: &mut [u8]) {
    if packet.len() >= 12 {
        let crc = checksum(packet);
        packet[8..12].copy_from_slice(&crc.to_le_bytes());
    }
}

/// Datagrams that are no packets of SCTP have no answer, and change nothing.
#[test]
fn garbage_has_no_answer() {
    let mut world = World::new(1, GOOD);
    world.connected();
    let mut random = Random::new(9);
    for _ in 0..20_000 {
        let length = random.below(200) as usize;
        let octets: Vec<u8> = (0..length).map(|_| random.next_u64() as u8).collect();
        world.ends[1].handle(world.now, address(0), &octets);
        world.ends[1].handle(world.now, address(7), &octets);
    }
    assert!(world.ends[1].poll_transmit().is_none() && world.ends[1].poll_event().is_none());
}

/// Every packet of a conversation comes again at its end, and in the middle: nothing changes.
#[test]
fn old_packets_change_nothing() {
    let mut world = World::new(2, GOOD);
    let ids = world.connected();
    for number in 0..10 {
        world.send(0, ids[0], &[number; 3000]);
        world.send(1, ids[1], &[number; 30]);
        world.run(1);
        let old = world.sent.clone();
        for (end, packet) in old {
            world.ends[1 - end].handle(world.now, address(end), &packet);
            world.collect();
        }
    }
    world.run(5);
    assert_eq!([world.messages(0).len(), world.messages(1).len()], [10, 10]);
    assert_eq!([world.downs(0), world.downs(1)], [[""; 0], [""; 0]]);
    assert_eq!(world.ends[1].associations.len(), 1);
}

/// Damaged packets with right checksums and tags: no panic, an end at the worst, and memory and work stay bounded.
#[test]
fn damaged_packets_end_an_association_at_the_worst() {
    let mut random = Random::new(3);
    for seed in 0..100 {
        let mut world = World::new(seed, GOOD);
        let ids = world.connected();
        world.send(0, ids[0], &[1; 4000]);
        world.send(1, ids[1], &[2; 4000]);
        world.run(1);
        let packets = world.sent.clone();
        for _ in 0..100 {
            let (end, packet) = &packets[random.below(packets.len() as u64) as usize];
            let mut packet = packet.clone();
            for _ in 0..=random.below(4) {
                let at = 12 + random.below(packet.len() as u64 - 12) as usize;
                match random.below(4) {
                    0 => packet[at] = random.next_u64() as u8,
                    1 => packet[at] = [0, 1, 0x7f, 0x80, 0xff][random.below(5) as usize],
                    2 => packet.truncate(at.max(13)),
                    _ => packet[12] = random.below(16) as u8,
                }
            }
            seal(&mut packet);
            world.ends[1 - end].handle(world.now, address(*end), &packet);
            // Answers to one packet are few.
            let mut answers = 0;
            while world.ends[1 - end].poll_transmit().is_some() {
                answers += 1;
            }
            assert!(answers < 20, "{answers}");
        }
        world.run(100);
    }
}

/// Beginnings with forged addresses leave nothing behind.
#[test]
fn a_flood_of_beginnings() {
    let mut controller = Endpoint::new(Config { port: Some(PORT), ..CONFIG }, [1, 1]);
    for number in 0..10_000_u32 {
        let mut packet = Packet::new(Header { source: 5, destination: PORT, tag: 0 });
        packet.init(&Init {
            tag: number + 1,
            window: 9999,
            outbound: 1,
            inbound: 1,
            tsn: 1,
            parameters: &[],
        });
        let [a, b, c, d] = number.to_be_bytes();
        controller.handle(Time::from_millis(5), ([10, b, c, d | a], 9899).into(), &packet.finish());
        let (_, answer) = controller.poll_transmit().unwrap();
        // Not much larger than what was sent.
        assert!(answer.len() < 120, "{}", answer.len());
    }
    assert!(controller.is_empty() && controller.by_peer.is_empty() && controller.poll_timeout().is_none());
}

/// A cookie that is changed, late, or from another address begins nothing.
#[test]
fn forged_cookies() {
    let begin = |change: &dyn Fn(&mut Vec<u8>), seconds: u64, from: usize| {
        let mut world = World::new(4, GOOD);
        world.ends[0].connect(world.now, address(1), PORT).unwrap();
        world.step(Time::from_millis(1100));
        world.step(Time::from_millis(1100));
        let cookie_echo = world.sent.iter().find(|(_, packet)| packet[12] == 10).unwrap().1.clone();
        let mut endpoint = Endpoint::new(Config { port: Some(PORT), ..CONFIG }, [4, 2]);
        let mut packet = cookie_echo;
        change(&mut packet);
        seal(&mut packet);
        let now = world.now.after(std::time::Duration::from_secs(seconds));
        endpoint.handle(now, address(from), &packet);
        let is_up = matches!(endpoint.poll_event(), Some(Event::Up { is_accepted: true, .. }));
        let answer = endpoint.poll_transmit().map(|(_, packet)| packet[12]);
        (is_up, answer)
    };
    assert_eq!(begin(&|_| {}, 0, 0), (true, Some(11)));
    assert_eq!(begin(&|_| {}, 70, 0), (false, Some(9)), "an error: too late");
    assert_eq!(begin(&|_| {}, 0, 3), (false, None), "another address");
    assert_eq!(begin(&|packet| packet[20] ^= 1, 0, 0), (false, None), "changed");
    assert_eq!(begin(&|packet| packet[7] ^= 1, 0, 0), (false, None), "another tag");
}

/// Who does not know the tag cannot end an association, nor find it out.
#[test]
fn aborts_with_wrong_tags() {
    let mut world = World::new(5, GOOD);
    let ids = world.connected();
    for tag in [0, 1, ids[0], ids[1] ^ 1] {
        for is_reflected in [false, true] {
            let peer_port = world.ends[1].peer(ids[1]).unwrap().1;
            let mut packet = Packet::new(Header { source: peer_port, destination: PORT, tag });
            packet.abort(is_reflected, 12, b"");
            // The tag of the other side is right if it says so.
            let is_right = is_reflected && tag == ids[0];
            if !is_right {
                world.ends[1].handle(world.now, address(0), &packet.finish());
            }
        }
    }
    world.collect();
    assert_eq!(world.downs(1), [""; 0]);
}

/// Chunks of types that are not known: their upper bits say what becomes of them and of the rest (RFC 9260 3.2).
#[test]
fn unknown_chunks() {
    for (kind, goes_on, is_reported) in
        [(0x3f, false, false), (0x7f, false, true), (0xbf, true, false), (0xff, true, true)]
    {
        let mut world = World::new(6, GOOD);
        let ids = world.connected();
        world.send(0, ids[0], b"after it");
        let (_, packet) = world.ends[0].poll_transmit().unwrap();
        let mut with = packet[..12].to_vec();
        with.extend([kind, 0, 0, 6, 1, 2, 0, 0]);
        with.extend_from_slice(&packet[12..]);
        seal(&mut with);
        world.ends[1].handle(world.now, address(0), &with);
        world.collect();
        assert_eq!(world.messages(1).len(), usize::from(goes_on), "{kind:x}");
        let reported = world.sent.iter().filter(|(end, _)| *end == 1).any(|(_, packet)| {
            read(packet).unwrap().1.any(
                |chunk| matches!(chunk, Chunk::Error(causes) if causes[..8] == [0, 6, 0, 10, kind, 0, 0, 6]),
            )
        });
        assert_eq!(reported, is_reported, "{kind:x}");
    }
}

/// Pieces without an end do not fill the memory: the window closes, and the association ends with the largest message.
#[test]
fn a_message_without_an_end() {
    let mut world = World::new(7, GOOD);
    let ids = world.connected();
    let own = world.ends[0].associations[&ids[0]].ends;
    let header = Header { source: own.own_port, destination: own.peer_port, tag: own.peer_tag };
    let first = world.sent.iter().find(|(end, packet)| *end == 0 && packet[12] == 1).unwrap().1.clone();
    let mut tsn = u32::from_be_bytes(first[28..32].try_into().unwrap());
    for number in 0..100 {
        let mut packet = Packet::new(header);
        packet.data(&super::super::packet::Data {
            tsn,
            stream: 0,
            sequence: 0,
            protocol: 7,
            is_first: number == 0,
            is_last: false,
            is_urgent: false,
            octets: &[1; 1100],
        });
        tsn = tsn.wrapping_add(1);
        world.ends[1].handle(world.now, address(0), &packet.finish());
    }
    world.collect();
    assert_eq!(world.downs(1), ["a message too large"]);
}
