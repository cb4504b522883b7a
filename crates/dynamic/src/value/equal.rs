//! When two values are the same.

use super::{Content, Value};
use std::hash::{Hash, Hasher};

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Boolean(a), Self::Boolean(b)) => a == b,
            (Self::Integer(a), Self::Integer(b)) => a == b,
            (Self::BigInteger(a), Self::BigInteger(b)) => a == b,
            (Self::Enumerated(a, _), Self::Enumerated(b, _)) => a == b,
            (Self::Addition(a), Self::Addition(b)) => a == b,
            (Self::Real(a), Self::Real(b)) => real_bits(*a) == real_bits(*b),
            (Self::ExactReal(a), Self::ExactReal(b))
            | (Self::OctetString(a), Self::OctetString(b))
            | (Self::Encoding(a), Self::Encoding(b))
            | (Self::Raw(a), Self::Raw(b)) => a == b,
            (Self::BitString(a), Self::BitString(b)) => a == b,
            (Self::Containing(a), Self::Containing(b)) => a == b,
            (Self::Null, Self::Null) => true,
            (Self::ObjectIdentifier(a), Self::ObjectIdentifier(b)) => a == b,
            (Self::RelativeOid(a), Self::RelativeOid(b)) => a == b,
            (Self::Text(a), Self::Text(b)) | (Self::Time(a), Self::Time(b)) => a == b,
            (Self::Sequence(a), Self::Sequence(b)) => a == b,
            (Self::SequenceOf(a), Self::SequenceOf(b)) => a == b,
            // Element by element each level would be compared once for every order above it; keys are made once.
            (Self::Set(a), Self::Set(b)) => a.len() == b.len() && (a == b || self.key() == other.key()),
            (Self::SetOf(a), Self::SetOf(b)) => a.len() == b.len() && self.key() == other.key(),
            (Self::Choice(a, x), Self::Choice(b, y)) => a == b && x == y,
            (Self::Open(Content { value: a, .. }), Self::Open(Content { value: b, .. })) => a == b,
            (Self::Unknown { addition: a, encoding: x }, Self::Unknown { addition: b, encoding: y }) => {
                a == b && x == y
            }
            _ => false,
        }
    }
}

impl Eq for Value {}

impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

/// All NOT-A-NUMBER are the same; minus zero is a value of its own (X.680 21.1).
fn real_bits(real: f64) -> u64 {
    if real.is_nan() { f64::NAN.to_bits() } else { real.to_bits() }
}

impl Value {
    /// Octets that are the same for equal values, and for no others.
    fn key(&self) -> Vec<u8> {
        let mut key = Vec::new();
        self.push_key(&mut key);
        key
    }

    fn push_key(&self, key: &mut Vec<u8>) {
        let mut put = |tag: u8, octets: &[u8]| {
            key.push(tag);
            key.extend_from_slice(&(octets.len() as u64).to_be_bytes());
            key.extend_from_slice(octets);
        };
        match self {
            Self::Boolean(value) => put(1, &[u8::from(*value)]),
            Self::Integer(number) => put(2, &number.to_be_bytes()),
            Self::BigInteger(number) => put(3, &number.to_signed_bytes_be()),
            Self::Enumerated(number, _) => put(4, &number.to_be_bytes()),
            Self::Addition(number) => put(5, &number.to_be_bytes()),
            Self::Real(real) => put(6, &real_bits(*real).to_be_bytes()),
            Self::ExactReal(contents) => put(7, contents),
            Self::BitString(bits) => {
                put(8, &(bits.len() as u64).to_be_bytes());
                put(8, bits.octets());
            }
            Self::OctetString(octets) => put(9, octets),
            Self::Null => put(10, &[]),
            Self::ObjectIdentifier(oid) => put(11, oid.as_bytes()),
            Self::RelativeOid(oid) => put(12, oid.as_bytes()),
            Self::Text(text) => put(13, text.as_bytes()),
            Self::Time(text) => put(14, text.as_bytes()),
            Self::Encoding(octets) => put(15, octets),
            Self::Raw(octets) => put(16, octets),
            Self::Unknown { addition, encoding } => {
                put(17, &addition.to_be_bytes());
                put(17, encoding);
            }
            Self::Containing(value) => {
                put(18, &[]);
                value.push_key(key);
            }
            Self::Open(content) => {
                put(19, &[]);
                content.value.push_key(key);
            }
            Self::Choice(name, value) => {
                put(20, name.as_bytes());
                value.push_key(key);
            }
            Self::Sequence(members) => {
                put(21, &(members.len() as u64).to_be_bytes());
                for (name, value) in members {
                    push_member(key, name, value);
                }
            }
            Self::SequenceOf(elements) => {
                put(22, &(elements.len() as u64).to_be_bytes());
                for value in elements {
                    value.push_key(key);
                }
            }
            Self::Set(members) => {
                put(23, &(members.len() as u64).to_be_bytes());
                push_sorted(key, members, |key, (name, value)| push_member(key, name, value));
            }
            Self::SetOf(elements) => {
                put(24, &(elements.len() as u64).to_be_bytes());
                push_sorted(key, elements, |key, value| value.push_key(key));
            }
        }
    }
}

fn push_member(key: &mut Vec<u8>, name: &str, value: &Value) {
    key.extend_from_slice(&(name.len() as u64).to_be_bytes());
    key.extend_from_slice(name.as_bytes());
    value.push_key(key);
}

fn push_sorted<T>(key: &mut Vec<u8>, parts: &[T], push: impl Fn(&mut Vec<u8>, &T)) {
    let start = key.len();
    let mut ends = Vec::with_capacity(parts.len());
    for part in parts {
        push(key, part);
        ends.push(key.len());
    }
    let starts = std::iter::once(start).chain(ends.iter().copied());
    let mut pieces: Vec<&[u8]> = starts.zip(&ends).map(|(from, to)| &key[from..*to]).collect();
    pieces.sort_unstable();
    let sorted = pieces.concat();
    key.truncate(start);
    key.extend_from_slice(&sorted);
}
