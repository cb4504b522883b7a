//! Generated code: what it reads it writes and reads again as the same, it takes for a value what the engine takes, and says
//! of the rest what the engine says.

use std::hash::{DefaultHasher, Hash, Hasher};

use tercet::Rules;
use tercet::dynamic::ErrorKind;
use tercet::runtime::codec::{self, Decode, Encode};

use super::told;
use super::values;

#[allow(missing_docs, dead_code, unreachable_pub, unnameable_types, reason = "generated")]
mod demo {
    include!(concat!(env!("OUT_DIR"), "/demo.rs"));
}
#[path = "../../tests/generated/personnel.rs"]
#[rustfmt::skip]
#[allow(missing_docs, dead_code, unreachable_pub, unnameable_types, reason = "generated")]
mod personnel;
#[path = "../../tests/generated/zoo.rs"]
#[rustfmt::skip]
#[allow(missing_docs, dead_code, unreachable_pub, unnameable_types, reason = "generated")]
mod zoo;

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Reads names by generated code.
pub(crate) fn read_names(syntax: Rules, octets: &[u8]) -> Result<(), String> {
    fn read<'a, R>(octets: &'a [u8]) -> Result<(), String>
    where
        zoo::Names<'a>: Decode<'a, R>,
    {
        let names = <zoo::Names<'a> as Decode<'a, R>>::decode(octets);
        names.map(drop).map_err(|error| error.to_string())
    }
    match syntax {
        Rules::Der => read::<codec::Der>(octets),
        Rules::Cer => read::<codec::Cer>(octets),
        Rules::Aper => read::<codec::Aper>(octets),
        Rules::Uper => read::<codec::Uper>(octets),
        Rules::Coer => read::<codec::Coer>(octets),
        other => Err(format!("no generated code for {other}")),
    }
}

/// One type by one rule.
macro_rules! check {
    ($ty:ty, $kind:literal, $hash:expr, $rule:ident, $octets:ident) => {{
        let syntax = Rules::$rule;
        let engine = values::verdict(syntax, $kind, $octets);
        match <$ty as Decode<'_, codec::$rule>>::decode($octets) {
            Ok((value, rest)) => {
                let length = $octets.len() - rest.len();
                assert!(engine == Ok(length), "{syntax}: {length} octets read, the engine: {engine:?}");
                let written = Encode::<codec::$rule>::encode(&value)
                    .unwrap_or_else(|error| panic!("{syntax}: {value:?} is not written: {error}"));
                assert!(
                    !syntax.is_canonical() || written == $octets[..length],
                    "{syntax}: {written:02X?} for {:02X?}",
                    &$octets[..length]
                );
                let (again, rest) = <$ty as Decode<'_, codec::$rule>>::decode(&written)
                    .unwrap_or_else(|error| panic!("{syntax}: {written:02X?} is not read: {error}"));
                assert!(rest.is_empty(), "{syntax}: octets behind {written:02X?}");
                // Zero bits behind the last one of named bits are no part of the value: DER has none of them.
                let der = |value: &$ty| Encode::<codec::Der>::encode(value).ok();
                assert!(again == value || der(&again) == der(&value), "{syntax}: {value:?} became {again:?}");
                let of: fn(&$ty) -> u64 = $hash;
                assert!(again != value || of(&again) == of(&value), "one value has one hash");
                assert!(value.clone() == value, "a copy is equal");
            }
            Err(error) => {
                assert!(error.at() <= $octets.len() as u64, "{error} in {} octets", $octets.len());
                told(&error);
                // What generated code alone refuses: numbers beyond their Rust types.
                let own = match error.kind() {
                    ErrorKind::IntegerRange => true,
                    // Arrays have the one size of their type, which in BER alone the octets may have otherwise.
                    ErrorKind::ConstraintViolated => syntax.has_elements(),
                    _ => false,
                };
                let ours = Err((error.kind(), error.at(), error.bit(), error.path().to_string()));
                let theirs = engine
                    .map_err(|error| (error.kind(), error.offset(), error.bit(), error.path().to_owned()));
                assert!(own || ours == theirs, "{syntax}: {ours:?}, the engine: {theirs:?}");
            }
        }
    }};
}

/// A function for some rules; the first octet selects the type and the rule.
macro_rules! targets {
    ($($run:ident, $seeds:ident: $($rule:ident)*;)*) => {$(
        pub(super) fn $run(input: &[u8]) {
            let Some((&first, octets)) = input.split_first() else { return };
            let rules = [$(Rules::$rule),*];
            match rules[usize::from(first / 8) % rules.len()] {
                $(Rules::$rule => match first % 8 % 5 {
                    0 => check!(zoo::Zoo<'_>, 0, |value| hash(value), $rule, octets),
                    1 => check!(zoo::Tree, 1, |value| hash(value), $rule, octets),
                    2 => check!(zoo::Names<'_>, 2, |value| hash(value), $rule, octets),
                    3 => check!(personnel::PersonnelRecord<'_>, 3, |value| hash(value), $rule, octets),
                    _ => check!(demo::CallRecord<'_>, 4, |_| 0, $rule, octets),
                },)*
                _ => {}
            }
        }

        pub(super) fn $seeds() -> Vec<Vec<u8>> {
            let mut seeds = Vec::new();
            for (i, rule) in [$(Rules::$rule),*].into_iter().enumerate() {
                for mut seed in values::seeds(rule) {
                    let kind = seed[0] & 0x7F;
                    if kind < 5 {
                        seed[0] = kind | (i as u8) << 3;
                        seeds.push(seed);
                    }
                }
            }
            seeds
        }
    )*};
}

targets! {
    ber, ber_seeds: Ber Der Cer;
    per, per_seeds: Aper Uper CanonicalAper CanonicalUper;
    oer, oer_seeds: Oer Coer;
}
