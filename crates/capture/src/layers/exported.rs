//! Messages that Wireshark has exported (link type 252): tags that name a dissector and addresses, then the octets.

use super::carried::{Carried, Payload};
use super::{Path, u16_at, u32_at};
use crate::event::Unread;
use crate::protocol::{Target, protocol, protocols};
use std::net::{Ipv4Addr, Ipv6Addr};

/// Tags (wsutil/exported_pdu_tlvs.h).
const DISSECTOR: u16 = 12;
const HEURISTIC: u16 = 13;
const ADDRESSES: std::ops::RangeInclusive<u16> = 20..=23;
const SOURCE_PORT: u16 = 25;
const DESTINATION_PORT: u16 = 26;

/// Reads the tags, each with a length that counts its padding, up to the tag of number 0.
pub(super) fn exported(octets: &[u8], path: &mut Path) -> Carried {
    let (mut at, mut target, mut ports, mut has_address) = (0, None, [0, 0], false);
    loop {
        let (Some(tag), Some(length)) = (u16_at(octets, at), u16_at(octets, at + 2)) else {
            return Carried::bad("exported pdu", "tags are cut");
        };
        let length = usize::from(length);
        let Some(value) = octets.get(at + 4..at + 4 + length) else {
            return Carried::bad("exported pdu", "tag exceeds the packet");
        };
        at += 4 + length;
        match tag {
            0 => break,
            DISSECTOR | HEURISTIC => {
                let name = value.split(|&octet| octet == 0).next().unwrap_or_default();
                target = target.or_else(|| dissector(&String::from_utf8_lossy(name)));
            }
            20 | 21 => {
                if let Some(&address) = value.first_chunk::<4>() {
                    let address = Ipv4Addr::from(address).into();
                    *(if tag == 20 { &mut path.source } else { &mut path.destination }) = address;
                }
            }
            22 | 23 => {
                if let Some(&address) = value.first_chunk::<16>() {
                    let address = Ipv6Addr::from(address).into();
                    *(if tag == 22 { &mut path.source } else { &mut path.destination }) = address;
                }
            }
            SOURCE_PORT | DESTINATION_PORT => {
                let port = u32_at(value, 0).and_then(|it| u16::try_from(it).ok()).unwrap_or(0);
                ports[usize::from(tag == DESTINATION_PORT)] = port;
            }
            _ => {}
        }
        has_address |= ADDRESSES.contains(&tag);
    }
    if has_address {
        path.set_ports(ports[0], ports[1]);
    }
    match target {
        Some(target) => Carried::On(Payload::from(target), at..octets.len()),
        None => Carried::Unread(Unread::Exported),
    }
}

/// Returns the protocol of a dissector: `s1ap`, `nr-rrc.dl.dcch`, `lte_rrc.bcch_dl_sch`.
fn dissector(name: &str) -> Option<Target> {
    let name = name.replace(['_', '.'], "-");
    if name == "megaco" {
        return protocol("h248-text").map(Target::from);
    }
    if name == "cldap" {
        return protocol("ldap").map(Target::from);
    }
    let found = protocols().iter().find(|it| name == it.name).or_else(|| {
        let is_channel = |it: &&crate::protocol::Protocol| name.starts_with(&format!("{}-", it.name));
        protocols().iter().find(is_channel)
    });
    // UMTS RRC is called rrc there.
    let found = found.or_else(|| if name.starts_with("rrc-") { protocol("umts-rrc") } else { None })?;
    let channel = name.strip_prefix(&*found.name).or_else(|| name.strip_prefix("rrc"))?;
    match channel.strip_prefix('-') {
        None => Some(found.into()),
        Some(channel) => {
            let squeezed = |text: &str| text.replace('-', "");
            let variant = found.variants.iter().find(|it| squeezed(&it.name) == squeezed(channel))?;
            Some(Target { protocol: found, variant: Some(variant.clone()) })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dissectors_name_protocols_and_channels() {
        let of = |name: &str| {
            let target = dissector(name)?;
            Some((&*target.protocol.name, target.variant.map(|it| it.name.clone())))
        };
        let channel = |name: &str| Some(name.to_owned());
        assert_eq!(of("s1ap"), Some(("s1ap", None)));
        assert_eq!(of("nr-rrc.dl.dcch"), Some(("nr-rrc", channel("dl-dcch"))));
        assert_eq!(of("lte_rrc.bcch_dl_sch"), Some(("lte-rrc", channel("bcch-dl-sch"))));
        assert_eq!(of("lte-rrc.bcch.dl.sch.nb"), Some(("lte-rrc", channel("bcch-dl-sch-nb"))));
        assert_eq!(of("rrc.ul.ccch"), Some(("umts-rrc", channel("ul-ccch"))));
        assert_eq!(of("megaco"), Some(("h248-text", None)));
        assert_eq!(of("http"), None);
        assert_eq!(of("nr-rrc.nothing"), None);
    }
}
