//! Fragments in every order, cut and damaged captures.

mod common;

use common::{data, ethernet, ipv4, ipv4_fragment, orders, pcap, read, sctp, segment, tcp};

const MESSAGE: &[u8] = &[0x20, 0x15, 0, 5, 1, 2, 3, 4, 5, 6, 7, 8];

#[test]
fn fragments_of_sctp_in_every_order_give_the_message() {
    for order in orders(4) {
        let frames: Vec<_> = order
            .iter()
            .map(|&at| {
                let flags = if at == 0 { 2 } else { u8::from(at == 3) };
                ipv4(&sctp(
                    38412,
                    7,
                    &[data(
                        u32::MAX - 1 + at as u32 * u32::from(at < 2),
                        1,
                        60,
                        flags,
                        &MESSAGE[3 * at..3 * at + 3],
                    )],
                ))
            })
            .collect();
        // Numbers wrap in the middle of the message.
        let frames: Vec<_> = order
            .iter()
            .zip(frames)
            .map(|(&at, frame)| {
                if at < 2 {
                    frame
                } else {
                    let flags = u8::from(at == 3);
                    ipv4(&sctp(38412, 7, &[data(at as u32 - 2, 1, 60, flags, &MESSAGE[3 * at..3 * at + 3])]))
                }
            })
            .collect();
        let (pdus, faults, balance) = read(&pcap(&frames)[..]);
        assert_eq!(pdus, [format!("4 ngap {}", common::hex(MESSAGE))], "{order:?} {faults:?}");
        assert_eq!((balance.waiting, balance.with_pdus, balance.incomplete), (3, 1, 0));
    }
}

#[test]
fn fragments_of_ip_in_every_order_give_the_message() {
    let packet = sctp(38412, 7, &[data(1, 1, 60, 3, MESSAGE)]);
    assert_eq!(packet.len(), 40);
    for order in orders(4) {
        let bounds = [0, 8, 16, 32, 40];
        let fragment = |at: usize| ipv4_fragment(9, bounds[at], at < 3, &packet[bounds[at]..bounds[at + 1]]);
        let frames: Vec<_> = order.iter().map(|&at| fragment(at)).collect();
        let (pdus, faults, _) = read(&pcap(&frames)[..]);
        assert_eq!(pdus, [format!("4 ngap {}", common::hex(MESSAGE))], "{order:?} {faults:?}");
    }
}

#[test]
fn segments_of_tcp_in_every_order_give_the_message() {
    let message = [&[0x30, 18, 2, 1, 1, 0x60, 13, 2, 1, 3, 4, 6][..], b"cn=abc", &[0x80, 0]].concat();
    for order in orders(4) {
        let mut frames = vec![tcp(u32::MAX - 9, 2, &[])];
        // Numbers wrap in the middle of the message.
        let bounds = [0, 1, 7, 12, message.len()];
        let piece = |at: usize| {
            tcp((u32::MAX - 8).wrapping_add(bounds[at] as u32), 0x18, &message[bounds[at]..bounds[at + 1]])
        };
        frames.extend(order.iter().map(|&at| piece(at)));
        let (pdus, faults, balance) = read(&pcap(&frames)[..]);
        assert_eq!(pdus, [format!("5 ldap {}", common::hex(&message))], "{order:?} {faults:?}");
        assert_eq!(balance.incomplete, 0, "{order:?}");
    }
}

#[test]
fn segments_of_sccp_in_every_order_give_the_message() {
    let message: Vec<u8> = [0x62, 18, 0x48, 4, 1, 2, 3, 4, 0x6C, 10].into_iter().chain(0..10).collect();
    for order in orders(4) {
        let frames: Vec<_> = order
            .iter()
            .zip(1..)
            .map(|(&at, tsn)| {
                let part = &message[5 * at..5 * at + 5];
                ipv4(&sctp(2905, 7, &[data(tsn, 1, 3, 3, &segment(at == 0, 3 - at as u8, part))]))
            })
            .collect();
        let (pdus, faults, _) = read(&pcap(&frames)[..]);
        assert_eq!(pdus, [format!("4 tcap {}", common::hex(&message))], "{order:?} {faults:?}");
    }
}

#[test]
fn octets_that_came_first_are_kept_where_fragments_overlap() {
    let packet = sctp(38412, 7, &[data(1, 1, 60, 3, MESSAGE)]);
    let frames = [
        ipv4_fragment(9, 8, true, &packet[8..24]),
        ipv4_fragment(9, 0, true, &[&packet[..8], &[0xEE; 24][..]].concat()),
        ipv4_fragment(9, 32, false, &packet[32..]),
    ];
    let (pdus, _, balance) = read(&pcap(&frames)[..]);
    // Octets 24 to 31 are of the second fragment alone: the identifier of the protocol, so that the port decides, and
    // the begin of the message.
    let expected = [&[0xEE; 4][..], &MESSAGE[4..]].concat();
    assert_eq!(balance.overlapping, 1);
    assert_eq!(pdus, [format!("3 ngap {}", common::hex(&expected))]);
}

#[test]
fn messages_sent_once_more_are_reported_once() {
    let packet = ipv4(&sctp(36412, 7, &[data(1, 1, 18, 3, MESSAGE), data(2, 1, 18, 3, MESSAGE)]));
    let (pdus, _, balance) = read(&pcap(&[packet.clone(), packet])[..]);
    assert_eq!(pdus.len(), 2);
    assert_eq!((balance.retransmitted, balance.nothing), (2, 1));
}

/// A small capture with most of the layers.
fn sample() -> Vec<u8> {
    let packet = sctp(38412, 7, &[data(1, 1, 60, 3, MESSAGE)]);
    pcap(&[
        ipv4(&sctp(
            36412,
            5,
            &[data(1, 1, 18, 3, MESSAGE), data(2, 1, 18, 2, MESSAGE), data(3, 1, 18, 1, MESSAGE)],
        )),
        ethernet(0x8100, &[&[0, 1, 8, 0][..], &ipv4(&packet)[14..]].concat()),
        ipv4_fragment(9, 0, true, &packet[..24]),
        ipv4_fragment(9, 24, false, &packet[24..]),
        tcp(1, 0x18, &[0x30, 12, 2, 1, 1, 0x60, 7, 2]),
        tcp(9, 0x18, &[1, 3, 4, 0, 0x80, 0]),
        ipv4(&sctp(2905, 7, &[data(1, 1, 3, 3, &segment(true, 1, &[0x62, 8, 0x48, 4, 1]))])),
        ipv4(&sctp(2905, 7, &[data(2, 1, 3, 3, &segment(false, 0, &[2, 3, 4, 0x6C, 0]))])),
        ethernet(
            0x86DD,
            &[&[0x60, 0, 0, 0, 0, 44, 60, 64][..], &[1; 32], &[132, 0, 1, 2, 0, 0, 0, 0], &packet[..36]]
                .concat(),
        ),
    ])
}

#[test]
fn captures_cut_after_each_octet_keep_the_balance() {
    let file = sample();
    let whole = read(&file[..]).0;
    assert_eq!(whole.len(), 5, "{whole:?}");
    let mut bounds = vec![24];
    while let Some(length) = file.get(bounds[bounds.len() - 1] + 8..).and_then(<[u8]>::first_chunk) {
        bounds.push(bounds[bounds.len() - 1] + 16 + u32::from_le_bytes(*length) as usize);
    }
    for length in 0..file.len() {
        let (pdus, faults, _) = read(&file[..length]);
        assert_eq!(pdus[..], whole[..pdus.len()]);
        // A file that ends between packets is whole.
        assert_eq!(faults.is_empty(), bounds.contains(&length), "{length}: {faults:?}");
    }
}

#[test]
fn damaged_captures_keep_the_balance() {
    let file = sample();
    let mut state = 1u64;
    let mut random = |below: usize| {
        // A linear congruential generator (Knuth): the same numbers in every run.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut reported = 0;
    for _ in 0..10_000 {
        let mut damaged = file.clone();
        for _ in 0..=random(3) {
            let at = random(damaged.len());
            damaged[at] = [0, 1, 0x7F, 0x80, 0xFF, random(256) as u8][random(6)];
        }
        reported += usize::from(!read(&damaged[..]).1.is_empty());
    }
    assert!(reported > 1000, "{reported}");
}

#[test]
fn files_that_are_no_captures_say_so() {
    let faults = |octets: &[u8]| read(octets).1.join("\n");
    assert_eq!(
        faults(b"hello"),
        "file: not a capture file: neither pcap nor pcapng begins so; the last 5 bytes of the file are not read (at byte 0)"
    );
    let modified = [&[0x34, 0xCD, 0xB2, 0xA1][..], &[0; 40]].concat();
    assert!(faults(&modified).contains("modified pcap (a1b2cd34)"));
    assert!(faults(&[0xD4, 0xC3, 0xB2, 0xA1, 0]).contains("the file ends in its header"));
}
