//! Values that are shown by what the specification calls them, and the times of ASN.1.

use super::kinds::RenderKind;
use super::tables::{push_amount, wide};
use tercet_dynamic::leaf::Scalar;
use tercet_dynamic::{NodeId, Shape};
use tercet_plan::Kind;

/// The number of an INTEGER or ENUMERATED, if 64 bits hold it.
pub(super) fn number(value: &Scalar<'_>) -> Option<i64> {
    match value {
        Scalar::Integer(number) | Scalar::Enumerated(number, _) => Some(*number),
        _ => None,
    }
}

/// The name of its number.
pub(super) fn name<'s>(shape: &'s Shape, node: NodeId, value: &Scalar<'_>) -> Option<&'s str> {
    shape.item_name(node, number(value)?)
}

/// Appends the text of a kind; nothing if the value is none.
pub(super) fn push_text(
    kind: RenderKind,
    shape: &Shape,
    node: NodeId,
    value: &Scalar<'_>,
    text: &mut Vec<u8>,
) -> Option<()> {
    match (kind, value) {
        (RenderKind::Name, Scalar::BigInteger(octets)) => push_amount(wide(octets)?, None, text),
        (RenderKind::Name, _) => match name(shape, node, value) {
            Some(name) => text.extend_from_slice(name.as_bytes()),
            None => push_amount(number(value)?.into(), None, text),
        },
        (RenderKind::Flags, Scalar::BitString(bits)) => {
            for (bit, _) in bits.iter().enumerate().filter(|(_, set)| *set) {
                if !text.is_empty() {
                    text.push(b',');
                }
                match i64::try_from(bit).ok().and_then(|bit| shape.item_name(node, bit)) {
                    Some(name) => text.extend_from_slice(name.as_bytes()),
                    None => push_amount(bit as i128, None, text),
                }
            }
        }
        (RenderKind::TimeStamp, Scalar::Time(time)) => push_time(shape.node(node).kind, time, text)?,
        _ => return None,
    }
    Some(())
}

/// Appends a UTCTime or GeneralizedTime (X.680 clauses 47 and 46) as `2026-11-01T08:00:17+01:00`; nothing if it does not tell
/// its offset from UTC, or has fractions of hours or minutes.
fn push_time(kind: Kind, time: &str, text: &mut Vec<u8>) -> Option<()> {
    let (time, zone) = time.split_at(time.find(['Z', '+', '-'])?);
    let (digits, fraction) = time.split_once(['.', ',']).unwrap_or((time, ""));
    let zone = match (zone, zone.len()) {
        ("Z", _) => "+0000".to_owned(),
        (_, 3) => format!("{zone}00"),
        (_, 5) => zone.to_owned(),
        _ => return None,
    };
    if !digits.bytes().chain(fraction.bytes()).chain(zone.bytes().skip(1)).all(|octet| octet.is_ascii_digit())
    {
        return None;
    }
    let digits = match (kind, digits.len()) {
        (Kind::UtcTime, 10 | 12) => format!("{}{digits:0<12}", if digits < "50" { "20" } else { "19" }),
        (Kind::GeneralizedTime, 14) => digits.to_owned(),
        (Kind::GeneralizedTime, 10 | 12) if fraction.is_empty() => format!("{digits:0<14}"),
        _ => return None,
    };
    let (date, time) = digits.split_at(8);
    let dot = if fraction.is_empty() { "" } else { "." };
    let parts = [
        (&date[..4], "-"),
        (&date[4..6], "-"),
        (&date[6..], "T"),
        (&time[..2], ":"),
        (&time[2..4], ":"),
        (&time[4..], dot),
        (fraction, ""),
        (&zone[..3], ":"),
        (&zone[3..], ""),
    ];
    for part in parts.iter().flat_map(|(part, behind)| [*part, *behind]) {
        text.extend_from_slice(part.as_bytes());
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_asn1() {
        for (kind, time, expected) in [
            (Kind::UtcTime, "261101080017Z", Some("2026-11-01T08:00:17+00:00")),
            (Kind::UtcTime, "5011010800-0330", Some("1950-11-01T08:00:00-03:30")),
            (Kind::GeneralizedTime, "20261101080017.25Z", Some("2026-11-01T08:00:17.25+00:00")),
            (Kind::GeneralizedTime, "20261101080017,5+01", Some("2026-11-01T08:00:17.5+01:00")),
            (Kind::GeneralizedTime, "2026110108+0130", Some("2026-11-01T08:00:00+01:30")),
            (Kind::GeneralizedTime, "202611010800.5Z", None),
            (Kind::GeneralizedTime, "20261101080017", None),
            (Kind::GeneralizedTime, "2026110108001éZ", None),
            (Kind::UtcTime, "Z", None),
        ] {
            let mut text = Vec::new();
            let done = push_time(kind, time, &mut text).map(|()| str::from_utf8(&text).unwrap());
            assert_eq!(done, expected, "{time}");
        }
    }
}
