//! A message in each of the tunnels: found whole, and each cut of its packet is accounted for.

mod common;

use common::{data, ethernet, hex, ipv4, pcap, read, sctp};
use tercet_capture::{Capture, Event, Options};

const MESSAGE: &[u8] = &[0x20, 0x15, 0, 5, 1, 2, 3, 4, 5, 6, 7, 8];

/// The packet of IP with the message of NGAP, without its link.
fn inner() -> Vec<u8> {
    frame()[14..].to_vec()
}

/// The frame of Ethernet with the message of NGAP.
fn frame() -> Vec<u8> {
    ipv4(&sctp(38412, 7, &[data(1, 1, 60, 3, MESSAGE)]))
}

/// A frame with a packet of IPv4 that carries a protocol.
fn ip(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let mut packet = vec![0x45, 0];
    packet.extend((20 + payload.len() as u16).to_be_bytes());
    packet.extend([0, 1, 0, 0, 64, protocol, 0, 0, 10, 9, 0, 1, 10, 9, 0, 2]);
    packet.extend(payload);
    ethernet(0x0800, &packet)
}

fn udp(port: u16, payload: &[u8]) -> Vec<u8> {
    let ports = [40_000, port, 8 + payload.len() as u16, 0];
    ip(17, &[ports.iter().flat_map(|it| it.to_be_bytes()).collect::<Vec<u8>>(), payload.to_vec()].concat())
}

/// The tunnels: a name, the frame, and the names of its layers.
fn tunnels() -> Vec<(&'static str, Vec<u8>, Vec<&'static str>)> {
    let (ip_inside, frame_inside) = (inner(), frame());
    let with = |header: &[u8], payload: &[u8]| [header, payload].concat();
    let gre = |header: &[u8], payload: &[u8]| ip(47, &with(header, payload));
    let transport = ["ipv4", "sctp"];
    let bridged = ["ethernet", "ipv4", "sctp"];
    let layers = |outer: &[&'static str], inside: &[&'static str]| [outer, inside].concat();
    vec![
        (
            "two VLANs",
            ethernet(0x88A8, &with(&[0, 1, 0x81, 0, 0, 2, 8, 0], &ip_inside)),
            layers(&["ethernet", "vlan", "vlan"], &transport),
        ),
        (
            "MPLS, two labels",
            ethernet(0x8847, &with(&[0, 1, 0, 64, 0, 2, 1, 64], &ip_inside)),
            layers(&["ethernet", "mpls"], &transport),
        ),
        (
            "MPLS with Ethernet after a control word",
            ethernet(0x8847, &with(&[0, 1, 1, 64, 0, 0, 0, 9], &frame_inside)),
            layers(&["ethernet", "mpls"], &bridged),
        ),
        (
            "PPPoE",
            ethernet(0x8864, &with(&[0x11, 0, 0, 1, 0, 2 + ip_inside.len() as u8, 0, 0x21], &ip_inside)),
            layers(&["ethernet", "pppoe", "ppp"], &transport),
        ),
        ("GRE", gre(&[0, 0, 8, 0], &ip_inside), layers(&["ethernet", "ipv4", "gre"], &transport)),
        (
            "GRE with a checksum, a key and a number",
            gre(&[0xB0, 0, 8, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], &ip_inside),
            layers(&["ethernet", "ipv4", "gre"], &transport),
        ),
        (
            "GRE with Ethernet",
            gre(&[0, 0, 0x65, 0x58], &frame_inside),
            layers(&["ethernet", "ipv4", "gre"], &bridged),
        ),
        ("ERSPAN 1", gre(&[0, 0, 0x88, 0xBE], &frame_inside), layers(&["ethernet", "ipv4", "gre"], &bridged)),
        (
            "ERSPAN 2",
            gre(&[0x10, 0, 0x88, 0xBE, 0, 0, 0, 1, 0x10, 1, 0, 5, 0, 0, 0, 7], &frame_inside),
            layers(&["ethernet", "ipv4", "gre"], &bridged),
        ),
        (
            "ERSPAN 3",
            gre(&[0x10, 0, 0x22, 0xEB, 0, 0, 0, 1, 0x20, 1, 0, 5, 0, 0, 0, 7, 0, 0, 0, 0], &frame_inside),
            layers(&["ethernet", "ipv4", "gre"], &bridged),
        ),
        (
            "ERSPAN 3 with a header of the platform",
            gre(
                &[
                    0x10, 0, 0x22, 0xEB, 0, 0, 0, 1, 0x20, 1, 0, 5, 0, 0, 0, 7, 0, 0, 0, 1, 3, 0, 0, 0, 0, 0,
                    0, 0,
                ],
                &frame_inside,
            ),
            layers(&["ethernet", "ipv4", "gre"], &bridged),
        ),
        ("IP in IP", ip(4, &ip_inside), layers(&["ethernet", "ipv4"], &transport)),
        (
            "IP in IPv6",
            ethernet(
                0x86DD,
                &[&[0x60, 0, 0, 0, 0, ip_inside.len() as u8, 4, 64][..], &[1; 32], &ip_inside].concat(),
            ),
            layers(&["ethernet", "ipv6"], &transport),
        ),
        (
            "VXLAN",
            udp(4789, &with(&[8, 0, 0, 0, 0, 0, 7, 0], &frame_inside)),
            layers(&["ethernet", "ipv4", "udp"], &bridged),
        ),
        (
            "GENEVE with Ethernet",
            udp(6081, &with(&[0, 0, 0x65, 0x58, 0, 0, 7, 0], &frame_inside)),
            layers(&["ethernet", "ipv4", "udp"], &bridged),
        ),
        (
            "GENEVE with IP after options",
            udp(6081, &with(&[2, 0, 8, 0, 0, 0, 7, 0, 1, 2, 3, 1, 9, 9, 9, 9], &ip_inside)),
            layers(&["ethernet", "ipv4", "udp"], &transport),
        ),
        (
            "GTP-U",
            udp(2152, &with(&[0x30, 0xFF, 0, ip_inside.len() as u8, 0, 0, 0, 1], &ip_inside)),
            layers(&["ethernet", "ipv4", "udp", "gtp-u"], &transport),
        ),
        (
            "GTP-U with an extension header",
            udp(
                2152,
                &with(
                    &[0x34, 0xFF, 0, 8 + ip_inside.len() as u8, 0, 0, 0, 1, 0, 0, 0, 0x85, 1, 0, 9, 0],
                    &ip_inside,
                ),
            ),
            layers(&["ethernet", "ipv4", "udp", "gtp-u"], &transport),
        ),
        (
            "SCTP in UDP",
            udp(9899, &sctp(38412, 7, &[data(1, 1, 60, 3, MESSAGE)])),
            layers(&["ethernet", "ipv4", "udp"], &["sctp"]),
        ),
        (
            "authentication header",
            ip(
                51,
                &with(
                    &[132, 4, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12],
                    &ip_inside[20..],
                ),
            ),
            layers(&["ethernet", "ipv4", "ah"], &["sctp"]),
        ),
        (
            "GTP-U in VXLAN",
            udp(
                4789,
                &with(
                    &[8, 0, 0, 0, 0, 0, 7, 0],
                    &udp(2152, &with(&[0x30, 0xFF, 0, ip_inside.len() as u8, 0, 0, 0, 1], &ip_inside)),
                ),
            ),
            layers(&["ethernet", "ipv4", "udp", "ethernet", "ipv4", "udp", "gtp-u"], &transport),
        ),
    ]
}

#[test]
fn messages_are_found_in_tunnels() {
    for (name, frame, expected) in tunnels() {
        let file = pcap(&[frame]);
        let mut capture = Capture::new(&file[..], Options::default());
        let mut found = Vec::new();
        let mut sink = |event: Event<'_>| match event {
            Event::Pdu(pdu) => {
                found.push((pdu.octets.to_vec(), pdu.source.to_string()));
                assert_eq!(pdu.layers(), expected, "{name}");
            }
            Event::Fault(fault) => panic!("{name}: {fault}"),
            _ => {}
        };
        while capture.read_packet(&mut sink).unwrap() {}
        // Addresses are those of the innermost packet.
        let source = if expected.iter().filter(|it| it.starts_with("ip")).count() == 1
            && name.starts_with(['S', 'a'])
        {
            "10.9.0.1:38412"
        } else {
            "10.0.0.1:38412"
        };
        assert_eq!(found, [(MESSAGE.to_vec(), source.to_owned())], "{name}");
    }
}

#[test]
fn tunnels_cut_after_each_octet_keep_the_balance() {
    for (name, frame, _) in tunnels() {
        for length in 0..frame.len() {
            // A frame that is short, and one of which the capture has only the begin.
            let (pdus, ..) = read(&pcap(&[frame[..length].to_vec()])[..]);
            assert!(pdus.iter().all(|pdu| *pdu == format!("1 ngap {}", hex(MESSAGE))), "{name}: {pdus:?}");
            let mut cut = pcap(&[frame[..length].to_vec()]);
            cut[36..40].copy_from_slice(&(frame.len() as u32).to_le_bytes());
            let (pdus, ..) = read(&cut[..]);
            assert!(
                pdus.iter().all(|pdu| pdu.ends_with(" partial") || pdu.ends_with(&hex(MESSAGE))),
                "{name}: {pdus:?}"
            );
        }
    }
}

#[test]
fn other_versions_of_tunnels_have_no_messages() {
    let frames = [
        // The begin of PPTP, a heartbeat of GTP-U, a version of GENEVE to come, VXLAN without a network.
        ip(47, &[&[0x20, 1, 0x88, 0x0B][..], &inner()].concat()),
        udp(2152, &[0x32, 1, 0, 4, 0, 0, 0, 0, 0, 1, 0, 0]),
        udp(6081, &[&[0x40, 0, 0x65, 0x58, 0, 0, 7, 0][..], &frame()].concat()),
        udp(4789, &[&[0, 0, 0, 0, 0, 0, 7, 0][..], &frame()].concat()),
    ];
    let (pdus, faults, balance) = read(&pcap(&frames)[..]);
    assert_eq!((pdus.len(), faults.len(), balance.nothing), (0, 0, 4), "{pdus:?} {faults:?}");
}
