//! What carries packets in packets: MPLS, GRE, ERSPAN, GTP-U, VXLAN, GENEVE.

use super::{Next, Step, u16_at, u32_at};
use crate::balance::End;

/// The most labels of a stack.
const LABEL_LIMIT: usize = 16;

/// Reads a stack of labels (RFC 3032); IP comes after it if its version says so, a frame of Ethernet after a control word.
pub(super) fn mpls(octets: &[u8]) -> Step {
    let labels = octets.chunks_exact(4).take(LABEL_LIMIT);
    match labels.into_iter().position(|label| label[2] & 1 != 0) {
        Some(last) => {
            let header = 4 * (last + 1);
            match octets.get(header) {
                // The control word of a pseudowire (RFC 4385) begins with four zero bits, which no version of IP has.
                Some(first) if first >> 4 == 0 => Step::on(Next::Link(1), header + 4),
                _ => Step::on(Next::Ip, header),
            }
        }
        None => Step::bad("mpls", format!("no bottom of the stack in {LABEL_LIMIT} labels")),
    }
}

/// Reads the header of GRE (RFC 2784, RFC 2890).
pub(super) fn gre(octets: &[u8]) -> Step {
    let (Some(flags), Some(protocol)) = (u16_at(octets, 0), u16_at(octets, 2)) else {
        return Step::bad("gre", "header is cut");
    };
    // Version 1 is that of PPTP, with compressed packets of PPP.
    if flags & 7 != 0 {
        return Step::End(End::Nothing);
    }
    let optional = [0x8000, 0x2000, 0x1000].iter().filter(|&&flag| flags & flag != 0).count();
    let header = 4 + 4 * optional;
    match protocol {
        0x6558 => Step::on(Next::Link(1), header),
        // ERSPAN: version 1 has no header and no sequence number, version 2 has a header of eight octets.
        0x88BE if flags & 0x1000 == 0 => Step::on(Next::Link(1), header),
        0x88BE => Step::on(Next::Link(1), header + 8),
        // Version 3 has one of twelve, and eight more if its last bit says so.
        0x22EB => match octets.get(header + 11) {
            Some(last) => Step::on(Next::Link(1), header + if last & 1 == 0 { 12 } else { 20 }),
            None => Step::bad("erspan", "header is cut"),
        },
        protocol => Step::on(Next::EtherType(protocol), header),
    }
}

/// Reads the header of GTP-U (3GPP TS 29.281 §5.1); messages other than packets of users have nothing for us.
pub(super) fn gtp_u(octets: &[u8]) -> Step {
    let (Some(&[flags, kind]), Some(length)) = (octets.first_chunk(), u16_at(octets, 2)) else {
        return Step::bad("gtp-u", "header is cut");
    };
    if flags & 0xF0 != 0x30 || kind != 255 {
        return Step::End(End::Nothing);
    }
    let mut header = 8;
    if flags & 7 != 0 {
        header = 12;
        let mut extension = octets.get(11).copied().filter(|_| flags & 4 != 0).unwrap_or(0);
        // Each extension has its length in units of four octets first, the type of the next one last.
        while extension != 0 {
            let length = octets.get(header).map_or(0, |&units| 4 * usize::from(units));
            match octets.get(header + length.max(1) - 1) {
                Some(&after) if length > 0 => extension = after,
                _ => return Step::bad("gtp-u", "extension header is cut"),
            }
            header += length;
        }
    }
    Step::On { next: Next::Ip, header, length: (8 + usize::from(length)).saturating_sub(header) }
}

/// Reads the header of VXLAN (RFC 7348).
pub(super) fn vxlan(octets: &[u8]) -> Step {
    match u32_at(octets, 4) {
        Some(_) if octets[0] & 8 != 0 => Step::on(Next::Link(1), 8),
        _ => Step::End(End::Nothing),
    }
}

/// Reads the header of GENEVE (RFC 8926 §3.4), whose options have a length in units of four octets.
pub(super) fn geneve(octets: &[u8]) -> Step {
    let (Some(&flags), Some(protocol)) = (octets.first(), u16_at(octets, 2)) else {
        return Step::bad("geneve", "header is cut");
    };
    if flags >> 6 != 0 {
        return Step::End(End::Nothing);
    }
    let header = 8 + 4 * usize::from(flags & 0x3F);
    match protocol {
        0x6558 => Step::on(Next::Link(1), header),
        protocol => Step::on(Next::EtherType(protocol), header),
    }
}
