//! Whether a value meets its constraints: ranges, sizes and alphabets, as far as a shape knows them.

use tercet_plan::shape::Constraint;
use tercet_plan::{Kind, Node, Shape};
use tercet_runtime::text::to_utf8;

/// Whether the contents octets of a primitive type are one of the allowed values.
pub(crate) fn is_allowed(shape: &Shape, node: &Node, contents: &[u8]) -> bool {
    let Some(constraint) = of(shape, node) else { return true };
    if let Some((low, high)) = constraint.integer
        && node.kind == Kind::Integer
    {
        return match number(contents) {
            Some(number) => is_number_allowed(shape, node, number),
            // Beyond 128 bits: only a missing bound on its side allows it.
            None if contents.first().is_some_and(|first| *first >= 0x80) => low.is_none(),
            None => high.is_none(),
        };
    }
    let size = match node.kind {
        Kind::OctetString => contents.len() as u64,
        Kind::BitString => {
            let unused = u64::from(contents.first().copied().unwrap_or(0));
            (contents.len() as u64).saturating_sub(1).saturating_mul(8).saturating_sub(unused)
        }
        kind => match kind.string_kind().map(|kind| to_utf8(kind, contents, 0)) {
            Some(Ok(text)) => {
                let is_in =
                    |c: u32, set: &[(u32, u32)]| set.iter().any(|(low, high)| (*low..=*high).contains(&c));
                if let Some(set) = &constraint.alphabet
                    && !text.chars().all(|c| is_in(u32::from(c), set))
                {
                    return false;
                }
                text.chars().count() as u64
            }
            _ => return true,
        },
    };
    fits(constraint, size)
}

/// Whether an INTEGER may have a value.
pub(crate) fn is_number_allowed(shape: &Shape, node: &Node, number: i128) -> bool {
    let range = of(shape, node).and_then(|constraint| constraint.integer);
    range.is_none_or(|(low, high)| {
        low.is_none_or(|low| number >= low) && high.is_none_or(|high| number <= high)
    })
}

/// Whether a list may have so many elements.
pub(crate) fn is_count_allowed(shape: &Shape, node: &Node, count: u64) -> bool {
    of(shape, node).is_none_or(|constraint| fits(constraint, count))
}

fn of<'a>(shape: &'a Shape, node: &Node) -> Option<&'a Constraint> {
    let constraint = shape.constraints.get(node.constraint? as usize)?;
    (!constraint.extensible).then_some(constraint)
}

fn fits(constraint: &Constraint, size: u64) -> bool {
    constraint.size.is_none_or(|(low, high)| size >= low && high.is_none_or(|high| size <= high))
}

fn number(contents: &[u8]) -> Option<i128> {
    let sign = if *contents.first()? >= 0x80 { -1 } else { 0 };
    if contents.len() > 16 {
        return None;
    }
    Some(contents.iter().fold(sign, |number: i128, octet| number << 8 | i128::from(*octet)))
}
