//! Messages inside of messages: what octet strings of one protocol carry of another.

use super::decoder::Decoded;
use super::identifiers::hexadecimal;
use super::line::decoded_members;
use serde_json::{Map, Value};
use std::sync::Arc;
use tercet_capture::{Protocol, Variant, protocol};
use tercet_dynamic::{FieldId, Token, View};
use tercet_plan::Shape;

/// The most messages that are decoded inside of one.
const INNER_LIMIT: usize = 64;

/// Octet strings that carry messages: the protocol, the type of the string or the component that it or its list is, and the protocol
/// inside, perhaps with the type.
const CARRIERS: [(&str, &str, &str, &str); 8] = [
    ("s1ap", "LPPa-PDU", "lppa", ""),
    ("ngap", "NRPPa-PDU", "nrppa", ""),
    ("f1ap", "NRPPa-PDU", "nrppa", ""),
    ("rua", "RANAP-Message", "ranap", ""),
    ("ulp", "lPPPayload", "lpp", ""),
    ("ulp", "lPPPayLoad", "lpp", ""),
    ("h225", "h245Control", "h245", ""),
    ("h225", "fastStart", "h245", "open-logical-channel"),
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

impl Inner {
    /// Returns its object: the keys of `tercet capture list --json` that are not those of a frame.
    pub fn object(&self) -> Map<String, Value> {
        let mut object = Map::new();
        object.insert("protocol".to_owned(), self.protocol.name.as_str().into());
        object.insert("message".to_owned(), self.decoded.message.clone().into());
        object.insert("octets".to_owned(), hexadecimal(&self.octets).into());
        decoded_members(&self.decoded, &mut object);
        if let Some(value) = &self.decoded.value {
            object.insert("value".to_owned(), value.clone());
        }
        object
    }
}

/// What an octet string has inside.
pub(super) type Carried = (&'static Protocol, Option<Arc<Variant>>, Vec<u8>);

/// Returns the messages that the octet strings of a message carry.
pub(super) fn carried(of: &Protocol, shape: &Shape, view: View<'_>) -> Vec<Carried> {
    let carriers: Vec<_> = CARRIERS.iter().filter(|(name, ..)| *name == of.name).collect();
    let mut found = Vec::new();
    if carriers.is_empty() {
        return found;
    }
    // The component that each open value is: elements of lists have none of their own.
    let mut components: Vec<&str> = Vec::new();
    for token in view.tokens() {
        let component = |field: FieldId| match field {
            FieldId::ROOT => "",
            field => shape.name(shape.field(field).name),
        };
        match token {
            Token::Open { field, .. } => components.push(component(field)),
            Token::Close { .. } => _ = components.pop(),
            Token::Leaf { field, node, leaf } if found.len() < INNER_LIMIT => {
                let names = [
                    shape.type_name(node).unwrap_or_default(),
                    component(field),
                    components.last().copied().unwrap_or_default(),
                ];
                let carrier = carriers.iter().find(|(_, name, ..)| names.contains(name));
                if let Some((_, _, inner, variant)) = carrier
                    && let (Some(inner), Some(octets)) = (protocol(inner), leaf.contents())
                {
                    found.push((inner, inner.variant(variant).cloned(), octets.to_vec()));
                }
            }
            _ => {}
        }
    }
    found
}
