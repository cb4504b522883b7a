//! Messages inside of messages: what octet strings of one protocol carry of another.

use super::decoder::Decoded;
use std::sync::Arc;
use tercet_capture::{Protocol, Variant, protocol};
use tercet_dynamic::{FieldId, Leaf, NodeId, Token, View};
use tercet_plan::{Kind, Shape};

/// The most messages that are decoded inside of one.
const INNER_LIMIT: usize = 64;

/// The most messages that are one inside of the other.
pub(super) const DEPTH_LIMIT: u8 = 4;

/// An octet string that carries messages of another protocol.
#[derive(Debug)]
struct Carrier {
    /// The protocol around it.
    of: &'static str,
    /// The type of the string, the component that it or its list is, or the name of the information element; of some, with
    /// the type around it: `Type/component`.
    name: &'static str,
    /// The protocol inside and its type, or several of which the first one that decodes is taken.
    inner: &'static [(&'static str, &'static str)],
    contents: Contents,
}

/// How an octet string has a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Contents {
    /// It is a message.
    Message,
    /// It is one if the handover stays within the system.
    Handover,
    /// A message of the non-access stratum, which may carry one in clear (TS 24.301 §8.2.31, TS 24.501 §8.2.10).
    Nas,
    /// A message of RRC, of which the message of F1AP around it says the channel.
    Rrc,
}

const fn message(
    of: &'static str,
    name: &'static str,
    inner: &'static [(&'static str, &'static str)],
) -> Carrier {
    Carrier { of, name, inner, contents: Contents::Message }
}

const LPP: &[(&str, &str)] = &[("lpp", "")];
const CAPABILITY: &[(&str, &str)] =
    &[("nr-rrc", "ue-radio-access-capability"), ("lte-rrc", "ue-radio-access-capability")];
const LTE_CAPABILITY: &[(&str, &str)] = &[("lte-rrc", "ue-radio-access-capability")];
const NR_CAPABILITY: &[(&str, &str)] = &[("nr-rrc", "ue-radio-access-capability")];
const PREPARATION: &[(&str, &str)] =
    &[("nr-rrc", "handover-preparation"), ("lte-rrc", "handover-preparation")];
const COMMAND: &[(&str, &str)] = &[("nr-rrc", "handover-command"), ("lte-rrc", "handover-command")];
const LTE_PREPARATION: &[(&str, &str)] = &[("lte-rrc", "handover-preparation")];
const LTE_COMMAND: &[(&str, &str)] = &[("lte-rrc", "handover-command")];

const CARRIERS: [Carrier; 35] = [
    message("s1ap", "LPPa-PDU", &[("lppa", "")]),
    message("s1ap", "UERadioCapability", LTE_CAPABILITY),
    message("s1ap", "UERadioCapability-NR-Format", NR_CAPABILITY),
    message("s1ap", "UERadioCapabilityForPaging", &[("lte-rrc", "ue-radio-paging")]),
    message("s1ap", "SourceeNB-ToTargeteNB-TransparentContainer/rRC-Container", LTE_PREPARATION),
    message("s1ap", "TargeteNB-ToSourceeNB-TransparentContainer/rRC-Container", LTE_COMMAND),
    Carrier {
        of: "s1ap",
        name: "Source-ToTarget-TransparentContainer",
        inner: &[("s1ap", "source-to-target")],
        contents: Contents::Handover,
    },
    Carrier {
        of: "s1ap",
        name: "Target-ToSource-TransparentContainer",
        inner: &[("s1ap", "target-to-source")],
        contents: Contents::Handover,
    },
    Carrier { of: "s1ap", name: "NAS-PDU", inner: LPP, contents: Contents::Nas },
    message("ngap", "NRPPa-PDU", &[("nrppa", "")]),
    message("ngap", "UERadioCapability", CAPABILITY),
    message("ngap", "UERadioCapability-EUTRA-Format", LTE_CAPABILITY),
    message("ngap", "UERadioCapabilityForPagingOfNR", &[("nr-rrc", "ue-radio-paging")]),
    message("ngap", "UERadioCapabilityForPagingOfEUTRA", &[("lte-rrc", "ue-radio-paging")]),
    message("ngap", "SourceNGRANNode-ToTargetNGRANNode-TransparentContainer/rRCContainer", PREPARATION),
    message("ngap", "TargetNGRANNode-ToSourceNGRANNode-TransparentContainer/rRCContainer", COMMAND),
    Carrier {
        of: "ngap",
        name: "SourceToTarget-TransparentContainer",
        inner: &[("ngap", "source-to-target")],
        contents: Contents::Handover,
    },
    Carrier {
        of: "ngap",
        name: "TargetToSource-TransparentContainer",
        inner: &[("ngap", "target-to-source")],
        contents: Contents::Handover,
    },
    Carrier { of: "ngap", name: "NAS-PDU", inner: LPP, contents: Contents::Nas },
    message("x2ap", "RRC-Context", LTE_PREPARATION),
    message("x2ap", "TargeteNBtoSource-eNBTransparentContainer", LTE_COMMAND),
    message("x2ap", "MeNBtoSgNBContainer", &[("nr-rrc", "cg-config-info")]),
    message("x2ap", "SgNBtoMeNBContainer", &[("nr-rrc", "cg-config")]),
    message("xnap", "rrc-Context", PREPARATION),
    message("xnap", "Target2SourceNG-RANnodeTranspContainer", COMMAND),
    message("xnap", "MN-to-SN-Container", &[("nr-rrc", "cg-config-info")]),
    message("xnap", "SN-to-MN-Container", &[("nr-rrc", "cg-config")]),
    message("f1ap", "NRPPa-PDU", &[("nrppa", "")]),
    Carrier { of: "f1ap", name: "RRCContainer", inner: &[], contents: Contents::Rrc },
    message("f1ap", "RRCContainer-RRCSetupComplete", &[("nr-rrc", "ul-dcch")]),
    message("rua", "RANAP-Message", &[("ranap", "")]),
    message("ulp", "lPPPayload", LPP),
    message("ulp", "lPPPayLoad", LPP),
    message("h225", "h245Control", &[("h245", "")]),
    message("h225", "fastStart", &[("h245", "open-logical-channel")]),
];

/// A message inside of another one.
#[derive(Debug)]
pub struct Inner {
    /// Its protocol.
    pub protocol: &'static Protocol,
    /// Its bytes.
    pub octets: Vec<u8>,
    /// What is decoded of it.
    pub decoded: Decoded,
}

/// What an octet string has inside.
#[derive(Debug)]
pub(super) struct Carried {
    /// Protocols and types, of which the first one that decodes is taken.
    pub(super) targets: Vec<(&'static Protocol, Option<Arc<Variant>>)>,
    pub(super) octets: Vec<u8>,
    /// It may be something else, encrypted for example: nothing is said if it does not decode.
    pub(super) is_uncertain: bool,
}

/// Which octet strings of a specification carry messages, by nodes and components; empty for protocols that carry none.
#[derive(Debug, Default)]
pub(super) struct Carriers {
    known: Vec<&'static Carrier>,
    /// What each node is.
    parts: Box<[Part]>,
    /// Of each type: a bit for each carrier that has its name.
    types: Box<[u64]>,
    /// The same for the types around strings.
    around: Box<[u64]>,
    /// The same for components.
    components: Box<[u64]>,
    /// Of each component with the number of an information element: the numbers of those that carry messages, in order, each
    /// with a bit for each carrier that has its name.
    elements: Box<[Vec<(i64, u64)>]>,
}

/// What a node is to a search for carriers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    OctetString,
    OpenType,
    Other,
}

impl Carriers {
    /// Looks up the carriers of a protocol.
    pub(super) fn new(of: &Protocol, shape: &Shape) -> Self {
        let known: Vec<_> = CARRIERS.iter().filter(|it| it.of == of.name).collect();
        if known.is_empty() {
            return Self::default();
        }
        let mask = |fits: &dyn Fn(&Carrier) -> bool| {
            known.iter().enumerate().fold(0, |mask, (at, it)| mask | u64::from(fits(it)) << at)
        };
        let nodes =
            || (0..shape.nodes.len()).map(|at| shape.type_name(NodeId(at as u32)).unwrap_or_default());
        let names = || shape.fields.iter().map(|field| shape.name(field.name));
        let part = |kind: Kind| match kind {
            Kind::OctetString => Part::OctetString,
            Kind::Open => Part::OpenType,
            _ => Part::Other,
        };
        Self {
            parts: shape.nodes.iter().map(|node| part(node.kind)).collect(),
            types: nodes().map(|name| mask(&|it| it.name == name)).collect(),
            around: nodes()
                .map(|name| mask(&|it| it.name.split_once('/').is_none_or(|(around, _)| around == name)))
                .collect(),
            components: names().map(|name| mask(&|it| it.name.rsplit('/').next() == Some(name))).collect(),
            elements: elements(shape, |name| mask(&|it| it.name == name)),
            known,
        }
    }

    /// Returns the messages that the octet strings of a message carry.
    pub(super) fn carried(&self, shape: &Shape, view: View<'_>, name: Option<&str>) -> Vec<Carried> {
        let mut found = Vec::new();
        if self.known.is_empty() {
            return found;
        }
        let of = |masks: &[u64], at: usize| masks.get(at).copied().unwrap_or(0);
        let of_component = |field: FieldId| match field {
            FieldId::ROOT => 0,
            field => of(&self.components, field.index()),
        };
        let part = |node: NodeId| self.parts.get(node.index()).copied().unwrap_or(Part::Other);
        // Of each value around: its component, its type, the information element that it is.
        let mut around: Vec<(u64, u64, u64)> = Vec::new();
        for token in view.tokens() {
            match token {
                Token::Open { field, node, .. } => {
                    // The value of an element is in an open type.
                    let element = around.last().map_or(0, |it| it.2);
                    let element = if part(node) == Part::OpenType { element } else { 0 };
                    around.push((of_component(field), of(&self.around, node.index()), element));
                }
                Token::Close { .. } => _ = around.pop(),
                Token::Leaf { field, leaf: Leaf::Int(number), .. }
                    if field != FieldId::ROOT
                        && self.elements.get(field.index()).is_some_and(|it| !it.is_empty()) =>
                {
                    let numbers = &self.elements[field.index()];
                    let at = numbers.binary_search_by_key(&number, |(number, _)| *number);
                    if let Some(last) = around.last_mut() {
                        last.2 = at.map_or(0, |at| numbers[at].1);
                    }
                }
                Token::Leaf { field, node, leaf }
                    if part(node) == Part::OctetString && found.len() < INNER_LIMIT =>
                {
                    let (component, inside, element) = around.last().copied().unwrap_or((0, u64::MAX, 0));
                    let mask = of(&self.types, node.index()) | of_component(field) | component | element;
                    let carrier = self.known.get((mask & inside).trailing_zeros() as usize);
                    if let Some((carrier, octets)) = carrier.zip(leaf.contents()) {
                        found.extend(carrier.open(octets, shape, view, name));
                    }
                }
                _ => {}
            }
        }
        found
    }
}

/// Returns, for each component with the number of an information element, the numbers of those that carry messages, each with
/// the carriers of its name.
fn elements(shape: &Shape, carriers_of: impl Fn(&str) -> u64) -> Box<[Vec<(i64, u64)>]> {
    let mut found = vec![Vec::new(); shape.fields.len()];
    for (field, numbers) in &shape.value_names {
        if shape.name(shape.field(*field).name) != "id" {
            continue;
        }
        for (number, name) in numbers {
            let name = shape.name(*name);
            let name = name.strip_prefix("id-").unwrap_or(name);
            let carriers = carriers_of(name);
            if carriers != 0 {
                found[field.index()].push((*number, carriers));
            }
        }
    }
    found.into()
}

impl Carrier {
    /// Returns the message in an octet string.
    fn open(&self, octets: &[u8], shape: &Shape, view: View<'_>, name: Option<&str>) -> Option<Carried> {
        let target = |(name, variant): &(&str, &str)| {
            let inner = protocol(name)?;
            Some((inner, inner.variant(variant).cloned()))
        };
        let carried = |inner: &[(&str, &str)], octets: &[u8], is_uncertain: bool| Carried {
            targets: inner.iter().filter_map(target).collect(),
            octets: octets.to_vec(),
            is_uncertain,
        };
        match self.contents {
            Contents::Message => Some(carried(self.inner, octets, false)),
            // Between systems, the container is one of the other system.
            Contents::Handover => {
                (number(shape, view, "HandoverType") == Some(0)).then(|| carried(self.inner, octets, false))
            }
            Contents::Nas => positioning(octets).map(|octets| carried(self.inner, octets, true)),
            Contents::Rrc => {
                let direction = if name?.starts_with("DL") { "dl" } else { "ul" };
                let bearer = number(shape, view, "SRBID").unwrap_or(0);
                let channel = match (direction, bearer) {
                    ("dl", 0) => "dl-ccch",
                    ("dl", _) => "dl-dcch",
                    (_, 0) => "ul-ccch",
                    _ => "ul-dcch",
                };
                // Bearers above 0 have a header of PDCP, and a code for integrity (TS 38.323 §6.2.2.1); most are encrypted.
                let inside = match bearer {
                    0 => octets,
                    _ => octets.get(2..octets.len().checked_sub(4)?)?,
                };
                Some(carried(&[("nr-rrc", channel)], inside, bearer > 0))
            }
        }
    }
}

/// Returns the number that the first value of a type is.
fn number(shape: &Shape, view: View<'_>, type_name: &str) -> Option<i64> {
    view.tokens().find_map(|token| match token {
        Token::Leaf { node, leaf: Leaf::Int(number), .. } if shape.type_name(node) == Some(type_name) => {
            Some(number)
        }
        _ => None,
    })
}

/// Returns the message of LPP in a message of the non-access stratum that is not encrypted: the container of a generic
/// transport message of EPS (TS 24.301 §8.2.31), or of a transport message of 5GS (TS 24.501 §8.2.10).
fn positioning(octets: &[u8]) -> Option<&[u8]> {
    let plain = match octets {
        // A header with a code for integrity and a number, around a message.
        [first, _, _, _, _, _, inside @ ..] if first & 0x0F == 7 && (1..=4).contains(&(first >> 4)) => inside,
        [0x7E, kind, _, _, _, _, _, inside @ ..] if (1..=4).contains(&(kind & 0x0F)) => inside,
        _ => octets,
    };
    let rest = match plain {
        [7, 0x68 | 0x69, 1, rest @ ..] => rest,
        [0x7E, 0, 0x67 | 0x68, kind, rest @ ..] if kind & 0x0F == 3 => rest,
        _ => return None,
    };
    let (length, rest) = rest.split_first_chunk()?;
    rest.get(..usize::from(u16::from_be_bytes(*length))).filter(|message| !message.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positioning_is_found_in_clear_messages_of_the_access_stratum() {
        for (octets, found) in [
            (&[7, 0x68, 1, 0, 2, 0xAA, 0xBB][..], Some(&[0xAA, 0xBB][..])),
            (&[0x17, 1, 2, 3, 4, 5, 7, 0x69, 1, 0, 1, 0xCC, 9], Some(&[0xCC])),
            (&[0x7E, 0, 0x67, 3, 0, 1, 0xDD], Some(&[0xDD])),
            (&[0x7E, 2, 1, 2, 3, 4, 5, 0x7E, 0, 0x68, 3, 0, 1, 0xEE], Some(&[0xEE])),
            // Location services, a session of 5GS, what is encrypted, and what is cut.
            (&[7, 0x68, 2, 0, 1, 0xAA], None),
            (&[0x7E, 0, 0x67, 1, 0, 1, 0xDD], None),
            (&[0x27, 1, 2, 3, 4, 5, 0x91, 0x33, 0x01], None),
            (&[7, 0x68, 1, 0, 9, 0xAA], None),
            (&[], None),
        ] {
            assert_eq!(positioning(octets), found, "{octets:x?}");
        }
    }

    #[test]
    fn carriers_name_protocols_and_types_of_the_table() {
        for carrier in &CARRIERS {
            assert!(protocol(carrier.of).is_some(), "{carrier:?}");
            assert!(CARRIERS.iter().filter(|it| it.of == carrier.of).count() <= 64);
            for (inner, variant) in carrier.inner {
                let inner = protocol(inner).expect(inner);
                assert!(variant.is_empty() || inner.variant(variant).is_some(), "{carrier:?}");
            }
        }
    }
}
