//! Random values in the form of X.697.

use super::{Random, Type};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// A value of a type; `types` are the named ones of its module.
pub fn value(random: &mut Random, types: &[Type], of: &Type) -> Value {
    match of {
        Type::Boolean => Value::Bool(random.one_in(2)),
        Type::Integer => integer(random),
        Type::Enumerated(count) => format!("e{}", random.below(*count)).into(),
        Type::Real => real(random),
        Type::Bits(size, named) => bits(random, *size, *named),
        Type::Octets => {
            let length = length(random);
            octets(random, length).into()
        }
        Type::Null => Value::Null,
        Type::Oid => oid(random),
        Type::RelativeOid => arcs(random, 1).into(),
        Type::Text(kind) => text(random, kind).into(),
        Type::Time(kind) => time(random, kind).into(),
        Type::Struct(components) => {
            let mut members = Map::new();
            for component in components {
                if !component.optional || random.one_in(2) {
                    members.insert(component.name.clone(), value(random, types, &component.of));
                }
            }
            Value::Object(members)
        }
        Type::List(_, element) => {
            let count = random.below(5);
            (0..count).map(|_| value(random, types, element)).collect()
        }
        Type::Choice(alternatives) => {
            let (name, of) = random.pick(alternatives);
            let inner = value(random, types, of);
            Value::Object(Map::from_iter([(name.clone(), inner)]))
        }
        Type::Named(i) => value(random, types, &types[*i]),
    }
}

/// A value for DEFAULT, as value notation and as JSON; for some types none.
pub(super) fn literal(random: &mut Random, of: &Type) -> Option<(String, Value)> {
    Some(match of {
        Type::Boolean => {
            let truth = random.one_in(2);
            (if truth { "TRUE" } else { "FALSE" }.to_owned(), Value::Bool(truth))
        }
        Type::Integer => {
            let number = integer(random);
            (number.to_string(), number)
        }
        Type::Enumerated(count) => {
            let name = format!("e{}", random.below(*count));
            (name.clone(), name.into())
        }
        Type::Octets => {
            let length = random.below(5);
            let digits = octets(random, length);
            (format!("'{digits}'H"), digits.into())
        }
        Type::Text(kind) if !matches!(*kind, "IA5String" | "UniversalString" | "BMPString") => {
            let characters = text(random, "PrintableString");
            let characters = if *kind == "NumericString" { "12 3".to_owned() } else { characters };
            (format!("\"{characters}\""), characters.into())
        }
        _ => return None,
    })
}

/// Mostly small, now and then around the borders of the encodings.
fn integer(random: &mut Random) -> Value {
    let number: i128 = match random.below(6) {
        0 => random.below(256) as i128 - 128,
        1 => i128::from(random.bits() as i32),
        2 => i128::from(random.bits() as i64),
        3 => (1i128 << random.below(126)) - i128::from(random.below(3) as i64),
        4 => -(1i128 << random.below(126)) + i128::from(random.below(3) as i64) - 1,
        _ => random.below(3) as i128 - 1,
    };
    serde_json::from_str(&number.to_string()).unwrap_or(Value::Null)
}

fn real(random: &mut Random) -> Value {
    let number = match random.below(8) {
        0 => return "INF".into(),
        1 => return "-INF".into(),
        2 => 0.0,
        3 => f64::from_bits(random.bits() & !(0x7FF << 52) | random.between(1, 2046) << 52),
        4 => f64::from_bits(random.below(1 << 52)),
        5 => random.below(1000) as f64 / 8.0,
        6 => -(random.below(1_000_000) as f64),
        _ => random.below(1_000_000) as f64 / 100.0,
    };
    let number = if number == 0.0 { 0.0 } else { number };
    json!(number)
}

fn bits(random: &mut Random, size: Option<u64>, named: bool) -> Value {
    let count = size.unwrap_or_else(|| random.below(30));
    let mut octets: Vec<u8> = (0..count.div_ceil(8)).map(|_| random.bits() as u8).collect();
    let unused = (octets.len() as u64 * 8 - count) as u32;
    if let Some(last) = octets.last_mut() {
        *last &= 0xFFu8.wrapping_shl(unused);
        if named && count > 0 {
            *last |= 1 << unused;
        }
    }
    let digits = upper(&octets);
    if size.is_some() { digits.into() } else { json!({"value": digits, "length": count}) }
}

fn octets(random: &mut Random, length: u64) -> String {
    let octets: Vec<u8> = (0..length).map(|_| random.bits() as u8).collect();
    upper(&octets)
}

/// Mostly short, now and then past the borders of length octets and CER segments.
fn length(random: &mut Random) -> u64 {
    match random.below(40) {
        0 => random.between(126, 130),
        1 => random.between(254, 258),
        2 => random.between(998, 1003),
        3 => random.between(1999, 2002),
        _ => random.below(12),
    }
}

fn upper(octets: &[u8]) -> String {
    octets.iter().fold(String::new(), |mut text, octet| {
        let _ = write!(text, "{octet:02X}");
        text
    })
}

fn oid(random: &mut Random) -> Value {
    let first = random.below(3);
    let second = if first < 2 { random.below(40) } else { random.below(2000) };
    let rest = if random.one_in(8) { String::new() } else { format!(".{}", arcs(random, 1)) };
    format!("{first}.{second}{rest}").into()
}

fn arcs(random: &mut Random, least: u64) -> String {
    let count = random.between(least, 6);
    let arcs: Vec<String> = (0..count)
        .map(|_| {
            let width = random.below(64) as u32;
            (random.bits() >> width).to_string()
        })
        .collect();
    arcs.join(".")
}

fn text(random: &mut Random, kind: &str) -> String {
    let count = length(random);
    (0..count)
        .map(|_| match kind {
            "NumericString" => *random.pick(&['0', '1', '2', '9', ' ']),
            "PrintableString" => {
                *random.pick(&['A', 'z', '0', ' ', '\'', '(', ')', '+', ',', '-', '.', '/', ':', '=', '?'])
            }
            "VisibleString" => char::from(random.between(0x20, 0x7E) as u8),
            "IA5String" => char::from(random.between(0, 0x7F) as u8),
            "BMPString" => *random.pick(&['a', 'é', '€', '中', '\u{0}', '\u{FFFD}']),
            _ => *random.pick(&['a', '"', '\\', '<', '\n', 'é', '€', '𝄞', '\u{7F}', '\u{0}', '\u{10FFFF}']),
        })
        .collect()
}

fn time(random: &mut Random, kind: &str) -> String {
    let (year, month, day) = (random.between(1900, 2099), random.between(1, 12), random.between(1, 28));
    let (hour, minute, second) = (random.below(24), random.below(60), random.below(60));
    match kind {
        "UTCTime" => format!("{:02}{month:02}{day:02}{hour:02}{minute:02}{second:02}Z", year % 100),
        "GeneralizedTime" => {
            let fraction =
                if random.one_in(2) { format!(".{}", random.between(1, 9)) } else { String::new() };
            format!("{year}{month:02}{day:02}{hour:02}{minute:02}{second:02}{fraction}Z")
        }
        "DATE" => format!("{year}-{month:02}-{day:02}"),
        "TIME-OF-DAY" => format!("{hour:02}:{minute:02}:{second:02}"),
        _ => format!("{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::module;
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same() {
        for seed in 0..50 {
            let make = || {
                let mut random = Random::new(seed);
                let module = module(&mut random);
                let values: Vec<_> =
                    module.types.iter().map(|t| value(&mut random, &module.types, t)).collect();
                (module.text, values)
            };
            assert_eq!(make(), make());
        }
    }
}
