//! GSMTAP, versions 2 and 3: messages of the radio interface, with their channel.

use super::carried::{Carried, Payload};
use super::u16_at;
use crate::balance::End;
use crate::decode_as::{Field, Lookup};
use crate::event::Unread;
use crate::protocol::Target;

/// Channels of UMTS RRC in version 2, by sub-type; then come messages of their own, as in version 3.
const UMTS: [&str; 11] = [
    "dl-dcch",
    "ul-dcch",
    "dl-ccch",
    "ul-ccch",
    "pcch",
    "dl-shcch",
    "ul-shcch",
    "bcch-fach",
    "bcch-bch",
    "mcch",
    "msch",
];

/// Messages of UMTS RRC that are no channels, in the order of both versions.
const UMTS_MESSAGES: [&str; 49] = [
    "handover-to-utran-command",
    "inter-rat-handover-info",
    "system-information-bch",
    "system-information-container",
    "ue-radio-access-capability-info",
    "mib",
    "sib-1",
    "sib-2",
    "sib-3",
    "sib-4",
    "sib-5",
    "sib-5bis",
    "sib-6",
    "sib-7",
    "sib-8",
    "sib-9",
    "sib-10",
    "sib-11",
    "sib-11bis",
    "sib-12",
    "sib-13",
    "sib-13-1",
    "sib-13-2",
    "sib-13-3",
    "sib-13-4",
    "sib-14",
    "sib-15",
    "sib-15bis",
    "sib-15-1",
    "sib-15-1bis",
    "sib-15-2",
    "sib-15-2bis",
    "sib-15-2ter",
    "sib-15-3",
    "sib-15-3bis",
    "sib-15-4",
    "sib-15-5",
    "sib-15-6",
    "sib-15-7",
    "sib-15-8",
    "sib-16",
    "sib-17",
    "sib-18",
    "sib-19",
    "sib-20",
    "sib-21",
    "sib-22",
    "sib-sb1",
    "sib-sb2",
];

/// Channels of UMTS RRC in version 3, from sub-type 1 on.
const UMTS_3: [&str; 12] = [
    "dl-dcch",
    "ul-dcch",
    "dl-ccch",
    "ul-ccch",
    "pcch",
    "dl-shcch",
    "ul-shcch",
    "bcch-fach",
    "bcch-bch",
    "bcch-bch2",
    "mcch",
    "msch",
];

/// Channels of LTE RRC in version 2.
const LTE: [&str; 23] = [
    "dl-ccch",
    "dl-dcch",
    "ul-ccch",
    "ul-dcch",
    "bcch-bch",
    "bcch-dl-sch",
    "pcch",
    "mcch",
    "bcch-bch-mbms",
    "bcch-dl-sch-br",
    "bcch-dl-sch-mbms",
    "sc-mcch",
    "sbcch-sl-bch",
    "sbcch-sl-bch-v2x",
    "dl-ccch-nb",
    "dl-dcch-nb",
    "ul-ccch-nb",
    "ul-dcch-nb",
    "bcch-bch-nb",
    "bcch-bch-tdd-nb",
    "bcch-dl-sch-nb",
    "pcch-nb",
    "sc-mcch-nb",
];

/// Channels of LTE RRC in version 3, from sub-type 1 on.
const LTE_3: [&str; 12] = [
    "bcch-bch",
    "bcch-bch-mbms",
    "bcch-dl-sch",
    "bcch-dl-sch-br",
    "bcch-dl-sch-mbms",
    "mcch",
    "pcch",
    "dl-ccch",
    "dl-dcch",
    "ul-ccch",
    "ul-dcch",
    "sc-mcch",
];

/// Channels of the narrowband LTE RRC in version 3, from sub-type 0x200 on.
const LTE_NB_3: [&str; 6] =
    ["bcch-bch-nb", "bcch-bch-tdd-nb", "bcch-dl-sch-nb", "pcch-nb", "dl-ccch-nb", "dl-dcch-nb"];

/// Channels of NR RRC in version 3, from sub-type 1 on.
const NR_3: [&str; 9] =
    ["bcch-bch", "bcch-dl-sch", "dl-ccch", "dl-dcch", "mcch", "pcch", "ul-ccch", "ul-ccch1", "ul-dcch"];

/// Reads the header of GSMTAP: its length in units of four octets, type and sub-type.
pub(super) fn gsmtap(octets: &[u8], lookup: &Lookup) -> Carried {
    let cut = Carried::bad("gsmtap", "header is cut");
    let (length, kind, target) = match octets.first() {
        // Version 3 has nothing in its second octet; where there is a length, the header is that of version 2.
        Some(2 | 3) if octets.first() == Some(&2) || octets.get(1).is_some_and(|&units| units != 0) => {
            let (Some(&units), Some(&kind), Some(&sub_type)) = (octets.get(1), octets.get(2), octets.get(12))
            else {
                return cut;
            };
            let number = usize::from(sub_type);
            let target = match kind {
                0x0C => UMTS
                    .get(number)
                    .or_else(|| UMTS_MESSAGES.get(number.checked_sub(UMTS.len())?))
                    .and_then(|it| Target::of("umts-rrc", it)),
                0x0D => LTE.get(number).and_then(|it| Target::of("lte-rrc", it)),
                _ => None,
            };
            (usize::from(units), u16::from(kind), target)
        }
        Some(3) => {
            let (Some(units), Some(kind), Some(sub_type)) =
                (u16_at(octets, 2), u16_at(octets, 4), u16_at(octets, 6))
            else {
                return cut;
            };
            let number = usize::from(sub_type);
            let from = |first: usize, names: &[&'static str]| names.get(number.checked_sub(first)?).copied();
            let target = match kind {
                0x0303 => from(1, &UMTS_3)
                    .or_else(|| from(0x101, &UMTS_MESSAGES))
                    .and_then(|it| Target::of("umts-rrc", it)),
                0x0403 => from(1, &LTE_3)
                    .or_else(|| from(0x200, &LTE_NB_3))
                    .and_then(|it| Target::of("lte-rrc", it)),
                0x0503 => from(1, &NR_3).and_then(|it| Target::of("nr-rrc", it)),
                _ => None,
            };
            (usize::from(units), kind, target)
        }
        Some(_) => return Carried::End(End::Nothing),
        None => return cut,
    };
    let range = 4 * length..octets.len();
    if range.is_empty() {
        return Carried::bad("gsmtap", "header is longer than the packet");
    }
    match lookup.rule(Field::GsmtapType, kind.into()).or(target) {
        Some(target) => Carried::On(Payload::Message(target), range),
        None => Carried::Unread(Unread::GsmtapType(kind)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_channel_is_in_the_table_of_protocols() {
        let check = |protocol: &str, names: &[&str]| {
            for name in names {
                assert!(
                    Target::of(protocol, name).is_some_and(|it| it.variant.is_some()),
                    "{protocol} {name}"
                );
            }
        };
        check("umts-rrc", &UMTS);
        check("umts-rrc", &UMTS_MESSAGES);
        check("umts-rrc", &UMTS_3);
        check("lte-rrc", &LTE);
        check("lte-rrc", &LTE_3);
        check("lte-rrc", &LTE_NB_3);
        check("nr-rrc", &NR_3);
    }
}
