//! Contents octets of values without parts (X.690), and the bounds that constraints leave.

use super::{Span, UNBOUNDED};
use tercet_plan::shape::Constraint;
use tercet_plan::{Kind, NodeId, Rules, Shape};

/// The bounds of a node's values.
fn constraint(shape: &Shape, id: NodeId) -> Option<&Constraint> {
    shape.node(id).constraint.and_then(|index| shape.constraints.get(index as usize))
}

/// The number of octets, bits, characters or elements.
pub(super) fn units(shape: &Shape, id: NodeId) -> Span {
    let (least, most) = constraint(shape, id).and_then(|constraint| constraint.size).unwrap_or_default();
    Span::new(least, most.unwrap_or(UNBOUNDED))
}

/// The octets of an INTEGER in two's complement.
pub(super) fn integer(shape: &Shape, id: NodeId) -> Span {
    let (lo, hi) = constraint(shape, id).and_then(|constraint| constraint.integer).unwrap_or_default();
    let octets = |end: i128| {
        let magnitude = if end < 0 { !end } else { end };
        u64::from(i128::BITS - magnitude.leading_zeros()) / 8 + 1
    };
    let least = match (lo, hi) {
        (Some(lo), _) if lo > 0 => octets(lo),
        (_, Some(hi)) if hi < 0 => octets(hi),
        _ => 1,
    };
    let most = lo.zip(hi).map_or(UNBOUNDED, |(lo, hi)| octets(lo).max(octets(hi)));
    Span::new(least, most)
}

/// The octets of an INTEGER without a sign.
pub(super) fn unsigned(shape: &Shape, id: NodeId) -> Span {
    let (lo, hi) = constraint(shape, id).and_then(|constraint| constraint.integer).unwrap_or_default();
    let octets = |end: i128| u64::from(i128::BITS - end.max(1).leading_zeros()).div_ceil(8);
    Span::new(lo.map_or(1, octets), hi.map_or(UNBOUNDED, octets))
}

/// The octets of the numbers of an ENUMERATED.
fn enumerated(shape: &Shape, id: NodeId) -> Span {
    let octets = |value: i64| u64::from(i64::BITS - (value ^ value >> 63).leading_zeros()) / 8 + 1;
    let items = shape.items_of(id).iter().map(|item| Span::exactly(octets(item.value)));
    items.fold(Span::NONE, Span::or)
}

/// The octets that a character takes: for UTF-8 by the characters that are permitted.
fn character(shape: &Shape, id: NodeId) -> Span {
    match shape.node(id).kind {
        Kind::Utf8String => {
            let octets = |code: u32| match code {
                0..0x80 => 1,
                0x80..0x800 => 2,
                0x800..0x1_0000 => 3,
                _ => 4,
            };
            let alphabet = constraint(shape, id).and_then(|constraint| constraint.alphabet.as_deref());
            let ranges =
                alphabet.map(|ranges| ranges.iter().map(|(lo, hi)| Span::new(octets(*lo), octets(*hi))));
            ranges.map_or(Span::new(1, 4), |ranges| ranges.fold(Span::NONE, Span::or))
        }
        Kind::BmpString => Span::exactly(2),
        Kind::UniversalString => Span::exactly(4),
        _ => Span::exactly(1),
    }
}

/// The contents octets of a value without parts.
pub(super) fn contents(shape: &Shape, id: NodeId, rules: Rules) -> Span {
    let is_canonical = matches!(rules, Rules::Der | Rules::Cer);
    match shape.node(id).kind {
        Kind::Boolean => Span::exactly(1),
        Kind::Null => Span::ZERO,
        Kind::Integer => integer(shape, id),
        Kind::Enumerated => enumerated(shape, id),
        Kind::Real => Span::new(0, UNBOUNDED),
        Kind::ObjectIdentifier | Kind::RelativeOid | Kind::RelativeOidIri => Span::new(1, UNBOUNDED),
        Kind::OidIri => Span::new(2, UNBOUNDED),
        Kind::BitString => units(shape, id).map(|bits| bits.div_ceil(8) + 1),
        // YYMMDDhhmm and Z at least, with seconds and a difference to UTC at most (X.680 47.3, X.690 11.8).
        Kind::UtcTime if is_canonical => Span::exactly(13),
        Kind::UtcTime => Span::new(11, 17),
        // YYYYMMDDhh at least (X.680 46.2), with seconds and Z in the canonical form (X.690 11.7).
        Kind::GeneralizedTime => Span::new(if is_canonical { 15 } else { 10 }, UNBOUNDED),
        // Without hyphens, colons and T (X.690 8.26).
        Kind::Date => Span::exactly(8),
        Kind::TimeOfDay => Span::exactly(6),
        Kind::DateTime => Span::exactly(14),
        Kind::Time | Kind::Duration => Span::new(1, UNBOUNDED),
        _ => character(shape, id).repeated(units(shape, id)),
    }
}
