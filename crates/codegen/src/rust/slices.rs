//! Values that are slices of the input: their types and expressions.

use super::Printer;
use super::imports::{
    BER, BIT_STR, INTEGER_REF, OID_REF, RELATIVE_OID_REF, STRING_KIND, TEXT_REF, TIME_TYPE,
};
use super::values::text_of;
use crate::code::ber::Primitive;
use crate::overlay::{OverlayError, Serde};
use crate::types::{Repr, Types};
use crate::{Config, Error};
use tercet_lower::Lowering;
use tercet_plan::shape::Constant;
use tercet_plan::{Code, NodeId};
use tercet_runtime::types::Integer;

/// Refuses slices, and lists with their first element in place, where there are codecs of other rules than BER, DER and CER: in
/// those a value may stand otherwise than in memory, and lists are vectors.
pub(super) fn check(types: &Types<'_>, lowering: &Lowering, config: &Config<'_>) -> Result<(), Error> {
    let is_ber = lowering.plans.iter().all(|plan| matches!(plan.code, Code::Ber(_)));
    if is_ber && config.overlay.serde == Serde::None {
        return Ok(());
    }
    let why = if types.choices.arena {
        "memory = \"arena\": only BER, DER and CER have it; choose \"heap\" for other rules and for serde"
    } else if !types.choices.slices.is_empty() {
        "strings = \"slices\": only BER, DER and CER have them; choose \"borrowed\" for other rules and for serde"
    } else if !types.choices.inline.is_empty() {
        "lists = \"inline\": only BER, DER and CER have them; choose \"vec\" for other rules and for serde"
    } else {
        return Ok(());
    };
    Err(OverlayError(why.into()).into())
}

impl Printer<'_> {
    /// The type of a value that is a slice; nothing if it is none.
    pub(super) fn slice(&self, node: NodeId, lifetime: &str) -> Option<String> {
        if !self.types.is_slice(node) {
            return None;
        }
        Some(match self.types.repr(node) {
            Repr::Big => format!("{INTEGER_REF}<{lifetime}>"),
            Repr::Bits => format!("{BIT_STR}<{lifetime}>"),
            Repr::Oid => format!("{OID_REF}<{lifetime}>"),
            Repr::RelativeOid => format!("{RELATIVE_OID_REF}<{lifetime}>"),
            Repr::Text => format!("{TEXT_REF}<{lifetime}>"),
            _ => octets(lifetime),
        })
    }

    /// The expression of a slice before it is read.
    pub(super) fn empty_slice(&self, node: NodeId) -> Option<String> {
        if !self.types.is_slice(node) {
            return None;
        }
        Some(match self.types.repr(node) {
            Repr::Big => format!("{INTEGER_REF}::ZERO"),
            Repr::Bits => format!("{BIT_STR}::EMPTY"),
            Repr::Oid => format!("{OID_REF}::constant(&[0])"),
            Repr::RelativeOid => format!("{RELATIVE_OID_REF}::constant(&[0])"),
            Repr::Text => format!("{TEXT_REF}::new(\"\")"),
            _ => "&[]".into(),
        })
    }

    /// The expression of a constant that is a slice.
    pub(super) fn constant_slice(&self, node: NodeId, constant: &Constant) -> Option<String> {
        let octets = match constant {
            Constant::Int(value) => &Integer::from(*value).as_octets().to_vec(),
            Constant::Contents(octets) => octets,
            _ => return None,
        };
        Some(match self.types.repr(node) {
            Repr::Big => {
                format!("{INTEGER_REF}::constant(&{:?})", Integer::from_octets(octets).as_octets())
            }
            Repr::Bits => {
                let (unused, octets) = octets.split_first()?;
                format!("{BIT_STR}::constant(&{octets:?}, {unused})")
            }
            Repr::Oid => format!("{OID_REF}::constant(&{octets:?})"),
            Repr::RelativeOid => format!("{RELATIVE_OID_REF}::constant(&{octets:?})"),
            Repr::Text => {
                let text = text_of(self.types.shape.node(self.types.same(node)).kind, octets)?;
                format!("{TEXT_REF}::new({text:?})")
            }
            _ => {
                let octets: Vec<String> = octets.iter().map(|octet| format!("{octet}_u8")).collect();
                format!("(&[{}] as &[u8])", octets.join(", "))
            }
        })
    }

    /// The line that writes a slice, if it is not that of other values: `v` is an expression of a reference to it.
    pub(super) fn write_slice(
        &self,
        node: NodeId,
        primitive: &Primitive,
        tag: &str,
        v: &str,
    ) -> Option<String> {
        if !self.types.is_slice(node) {
            return None;
        }
        Some(match primitive {
            Primitive::OctetString => format!("w.octet_string({tag}, {v});"),
            Primitive::BitString => format!("w.bit_string({tag}, {});", super::deref(v)),
            Primitive::NamedBits(..) => {
                format!("{BER}::write_named_bits_slice(w, {tag}, {});", super::deref(v))
            }
            Primitive::Text(kind) => {
                format!("{BER}::write_text_slice(w, {tag}, {STRING_KIND}::{kind:?}, {v})?;")
            }
            Primitive::UtcTime => format!("{BER}::write_utc_time_slice(w, {tag}, {v})?;"),
            Primitive::Time(time) => format!("w.time({tag}, {TIME_TYPE}::{time:?}, {v})?;"),
            Primitive::GeneralizedTime => format!("{BER}::write_generalized_time_slice(w, {tag}, {v})?;"),
            _ => return None,
        })
    }
}

/// The type of octets.
pub(super) fn octets(lifetime: &str) -> String {
    format!("&{lifetime} [u8]")
}
