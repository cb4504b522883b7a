//! Primitive values in their canonical form (X.690 clause 11).

use super::check;
use tercet_plan::Kind;
use tercet_runtime::ber::{
    Header, Rules, Writer, decode_bit_string, decode_boolean, decode_real, decode_time, walk,
};
use tercet_runtime::types::{GeneralizedTime, TimeType, UtcTime};
use tercet_runtime::{Error, Tag};

/// Writes a primitive value from its contents octets; in DER and CER in the normal form. A BIT STRING with `named` bits
/// then has no zero bit at its end, whatever its size (11.2.2).
pub(super) fn write(
    writer: &mut Writer,
    kind: Kind,
    tag: Tag,
    contents: &[u8],
    named: bool,
) -> Result<(), Error> {
    let rules = writer.rules();
    if rules == Rules::Ber {
        let end = writer.mark();
        writer.push(contents);
        writer.primitive(tag, end);
        return Ok(());
    }
    let end = writer.mark();
    match kind {
        Kind::Boolean => writer.push_boolean(decode_boolean(contents, 0, Rules::Ber)?),
        Kind::Integer | Kind::Enumerated => writer.push_integer(contents),
        Kind::Real => writer.push_real(&decode_real(contents, 0, Rules::Ber)?),
        Kind::BitString => {
            let bits = decode_bit_string(contents, 0, Rules::Ber)?;
            writer.bit_string(tag, if named { bits.trimmed(0) } else { bits });
            return Ok(());
        }
        Kind::UtcTime => {
            writer.push(contents);
            if !UtcTime::parse(contents, 0)?.is_canonical() {
                check::check(kind, contents, 0, rules)?;
            }
        }
        Kind::GeneralizedTime => {
            writer.push(contents);
            if !GeneralizedTime::parse(contents, 0)?.is_canonical() {
                check::check(kind, contents, 0, rules)?;
            }
        }
        Kind::Time | Kind::Duration => {
            let time = if kind == Kind::Time { TimeType::Time } else { TimeType::Duration };
            let text = decode_time(time, contents, 0, Rules::Ber)?;
            writer.push(&time.encode(&text, rules)?);
        }
        _ if kind.may_be_segmented() => {
            writer.octet_string(tag, contents);
            return Ok(());
        }
        _ => writer.push(contents),
    }
    writer.primitive(tag, end);
    Ok(())
}

/// Whether contents octets of this kind have one form only, and stay in one piece.
pub(super) fn is_as_it_is(kind: Kind, rules: Rules, contents: &[u8]) -> bool {
    let has_forms = matches!(
        kind,
        Kind::Boolean
            | Kind::Integer
            | Kind::Enumerated
            | Kind::Real
            | Kind::BitString
            | Kind::UtcTime
            | Kind::GeneralizedTime
            | Kind::Time
            | Kind::Duration
    );
    !has_forms && (rules == Rules::Der || contents.len() <= 1000)
}

/// Whether an element is the one with this DER encoding. What CER writes with indefinite lengths (9.1) is compared
/// element by element; segments (9.2) are not joined, since no DEFAULT has a thousand octets.
pub(super) fn same(default: &[u8], written: &[u8], rules: Rules) -> bool {
    default == written || (rules == Rules::Cer && same_elements(default, written))
}

/// The depth is that of a DEFAULT of the specification.
fn same_elements(default: &[u8], written: &[u8]) -> bool {
    let (mut defaults, mut elements) = (walk(default), walk(written));
    loop {
        match (defaults.next(), elements.next()) {
            (None, None) => return true,
            (Some(Ok((_, a, x))), Some(Ok((_, b, y))))
                if a.tag == b.tag && a.constructed == b.constructed =>
            {
                let (x, y) = (contents(&a, x), contents(&b, y));
                if !(if a.constructed { same_elements(x, y) } else { x == y }) {
                    return false;
                }
            }
            _ => return false,
        }
    }
}

/// The contents of an element.
fn contents<'a>(header: &Header, element: &'a [u8]) -> &'a [u8] {
    let end = element.len() - if header.indefinite { 2 } else { 0 };
    element.get(usize::from(header.size)..end).unwrap_or_default()
}
