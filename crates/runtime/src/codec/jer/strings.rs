//! Strings: what they look like depends on their types and constraints.

use super::{As, Form, Jer, Keys, Levels, Mismatch, Plain, Read, Said, Tree};
use crate::ber::Rules;
use crate::codec::Contained;
use crate::text::{StringKind, from_utf8, to_utf8};
use crate::types::{self, BitStr, BitString, Integer, Octets, Text, TimeType};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::marker::PhantomData;
use serde_core::Serializer;
use serde_core::ser::{Error as _, SerializeMap};

/// BIT STRING (X.697 clause 24): octets if all values have one size, else an object with the number of bits. `SIZE` is that
/// of the root, which the reader takes octets alone for.
#[derive(Clone, Copy, Debug)]
pub struct Bits<const SIZE: u64 = ANY, const EXTENSIBLE: bool = false>;

/// Any number of bits.
const ANY: u64 = u64::MAX;

impl<const SIZE: u64, const EXTENSIBLE: bool> Bits<SIZE, EXTENSIBLE> {
    fn bits<S: Serializer>(bits: BitStr<'_>, s: S) -> Said<S> {
        let mut octets = Vec::from(bits.bytes());
        if let Some(last) = octets.last_mut() {
            *last = *last >> bits.unused() << bits.unused();
        }
        if !EXTENSIBLE && bits.len() as u64 == SIZE {
            return write_hex(&octets, s);
        }
        let mut object = s.serialize_map(Some(2))?;
        object.serialize_entry("value", &As::<_, Plain>::new(&Octets::from(octets), Levels::NONE))?;
        object.serialize_entry("length", &bits.len())?;
        object.end()
    }

    const fn size() -> Option<u64> {
        if SIZE == ANY { None } else { Some(SIZE) }
    }
}

impl<const SIZE: u64, const EXTENSIBLE: bool> Form<BitString<'_>> for Bits<SIZE, EXTENSIBLE> {
    fn write<S: Serializer>(value: &BitString<'_>, s: S, _: Levels) -> Said<S> {
        Self::bits(value.as_bits(), s)
    }

    fn read(tree: &Tree<'_>, _: &Keys<'_>) -> Read<BitString<'static>> {
        read_bits(tree, Self::size())
    }
}

/// OCTET STRING with CONTAINING (X.697 25.2): an object with the value inside, or octets.
#[derive(Clone, Copy, Debug)]
pub struct Containing<F>(PhantomData<F>);

impl<'a, T, F: Form<T>> Form<Contained<'a, T>> for Containing<F> {
    fn write<S: Serializer>(value: &Contained<'a, T>, s: S, levels: Levels) -> Said<S> {
        match value.value() {
            Some(inside) => containing::<T, F, S>(inside, s, levels),
            None => write_hex(value.octets(), s),
        }
    }

    fn read(tree: &Tree<'_>, keys: &Keys<'_>) -> Read<Contained<'a, T>> {
        match tree.only(["containing"]) {
            Some([inside]) => contained::<T, F>(inside, keys).map(Contained::Value),
            None => read_hex(tree).map(|octets| Contained::Octets(octets.into())),
        }
    }
}

/// BIT STRING with CONTAINING (X.697 24.3), as [`Containing`] and [`Bits`].
#[derive(Clone, Copy, Debug)]
pub struct BitsContaining<F, const SIZE: u64 = ANY, const EXTENSIBLE: bool = false>(PhantomData<F>);

impl<'a, T, F: Form<T>, const SIZE: u64, const EXTENSIBLE: bool> Form<Contained<'a, T>>
    for BitsContaining<F, SIZE, EXTENSIBLE>
{
    fn write<S: Serializer>(value: &Contained<'a, T>, s: S, levels: Levels) -> Said<S> {
        match value.value() {
            Some(inside) => containing::<T, F, S>(inside, s, levels),
            None => Bits::<SIZE, EXTENSIBLE>::bits(value.bits(), s),
        }
    }

    fn read(tree: &Tree<'_>, keys: &Keys<'_>) -> Read<Contained<'a, T>> {
        match tree.only(["containing"]) {
            Some([inside]) => contained::<T, F>(inside, keys).map(Contained::Value),
            None => read_bits(tree, Bits::<SIZE, EXTENSIBLE>::size()).map(Contained::from),
        }
    }
}

fn containing<T, F: Form<T>, S: Serializer>(inside: &T, s: S, levels: Levels) -> Said<S> {
    let levels = levels.inside()?;
    let mut object = s.serialize_map(Some(1))?;
    object.serialize_entry("containing", &As::<T, F>::new(inside, levels))?;
    object.end()
}

/// An open type in a string may be selected by what is beside the string.
fn contained<T, F: Form<T>>(inside: &Tree<'_>, keys: &Keys<'_>) -> Read<T> {
    let keys = keys.inside()?;
    F::read(inside, &keys).map_err(|error| error.inside("containing"))
}

macro_rules! characters {
    ($($name:ident $check:expr;)*) => {$(
        #[doc = concat!(stringify!($name), " as its characters (X.697 clauses 36 to 41).")]
        #[derive(Clone, Copy, Debug)]
        pub struct $name;

        impl Form<Text<'_>> for $name {
            fn write<S: Serializer>(value: &Text<'_>, s: S, _: Levels) -> Said<S> {
                s.serialize_str(value)
            }

            fn read(tree: &Tree<'_>, _: &Keys<'_>) -> Read<Text<'static>> {
                let text = tree.text("a string expected")?;
                let check: fn(&str) -> crate::Result<()> = $check;
                check(text).map_err(Mismatch::of)?;
                Ok(Text::copied(text))
            }
        }
    )*};
}

characters! {
    Utf8String |_| Ok(());
    NumericString |text| from_utf8(StringKind::Numeric, text).map(drop);
    PrintableString |text| from_utf8(StringKind::Printable, text).map(drop);
    Ia5String |text| from_utf8(StringKind::Ia5, text).map(drop);
    VisibleString |text| from_utf8(StringKind::Visible, text).map(drop);
    UniversalString |text| from_utf8(StringKind::Universal, text).map(drop);
    BmpString |text| from_utf8(StringKind::Bmp, text).map(drop);
    ObjectDescriptor |text| from_utf8(StringKind::Graphic, text).map(drop);
    OidIri |text| from_utf8(StringKind::OidIri, text).map(drop);
    RelativeOidIri |text| from_utf8(StringKind::RelativeOidIri, text).map(drop);
    UtcTime |text| types::UtcTime::parse(text.as_bytes(), 0).map(drop);
    GeneralizedTime |text| types::GeneralizedTime::parse(text.as_bytes(), 0).map(drop);
    Time |text| TimeType::Time.encode(text, Rules::Ber).map(drop);
    Date |text| TimeType::Date.encode(text, Rules::Ber).map(drop);
    TimeOfDay |text| TimeType::TimeOfDay.encode(text, Rules::Ber).map(drop);
    DateTime |text| TimeType::DateTime.encode(text, Rules::Ber).map(drop);
    Duration |text| TimeType::Duration.encode(text, Rules::Ber).map(drop);
}

macro_rules! octets {
    ($($name:ident $kind:ident)*) => {$(
        #[doc = concat!(stringify!($name), " as its octets (X.697 38.2).")]
        #[derive(Clone, Copy, Debug)]
        pub struct $name;

        impl Form<Text<'_>> for $name {
            fn write<S: Serializer>(value: &Text<'_>, s: S, _: Levels) -> Said<S> {
                write_hex(&from_utf8(StringKind::$kind, value).map_err(S::Error::custom)?, s)
            }

            fn read(tree: &Tree<'_>, _: &Keys<'_>) -> Read<Text<'static>> {
                let octets = read_hex(tree)?;
                Ok(Text::copied(&to_utf8(StringKind::$kind, &octets, 0).map_err(Mismatch::of)?))
            }
        }
    )*};
}

octets!(TeletexString Teletex VideotexString Videotex GraphicString Graphic GeneralString General);

/// INTEGER with named numbers, which the reader takes too.
#[derive(Clone, Copy, Debug)]
pub struct Named<N>(PhantomData<N>);

/// The names of numbers.
pub trait Names {
    /// Names and numbers.
    const NAMES: &'static [(&'static str, i64)];
}

impl<T: Jer, N: Names> Form<T> for Named<N> {
    fn write<S: Serializer>(value: &T, s: S, levels: Levels) -> Said<S> {
        value.write_jer(s, levels)
    }

    fn read(tree: &Tree<'_>, keys: &Keys<'_>) -> Read<T> {
        let Tree::Text(name) = tree else { return T::read_jer(tree, keys) };
        let number = N::NAMES.iter().find(|(known, _)| known == name);
        let (_, number) = number.ok_or_else(|| Mismatch::new("an integer expected"))?;
        T::read_jer(&Tree::Integer((*number).into()), keys)
    }
}

/// Octets in hexadecimal.
pub(super) fn write_hex<S: Serializer>(octets: &[u8], s: S) -> Said<S> {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let mut text = String::with_capacity(octets.len() * 2);
    for octet in octets {
        for digit in [octet >> 4, octet & 15] {
            text.push(char::from(DIGITS[usize::from(digit)]));
        }
    }
    s.serialize_str(&text)
}

/// Pairs of hexadecimal digits.
pub(super) fn read_hex(tree: &Tree<'_>) -> Read<Vec<u8>> {
    let expected = || Mismatch::new("pairs of hexadecimal digits expected");
    let Tree::Text(text) = tree else { return Err(expected()) };
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let digit = |digit: u8| char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pairs = pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?));
    rest.is_empty().then(|| pairs.collect()).flatten().ok_or_else(expected)
}

/// Bits as octets alone, of a size or all of them, or as an object with their number.
pub(super) fn read_bits(tree: &Tree<'_>, size: Option<u64>) -> Read<BitString<'static>> {
    let (octets, count) = match tree.only(["value", "length"]) {
        Some([value, length]) => {
            let octets = read_hex(value).map_err(|error| error.inside("value"))?;
            let length = length.whole().and_then(|length| u64::try_from(&Integer::copied(&length)).ok());
            (octets, length.ok_or_else(|| Mismatch::new("a number of bits expected").inside("length"))?)
        }
        None => {
            let octets = read_hex(tree)?;
            let count = size.unwrap_or(octets.len() as u64 * 8);
            (octets, count)
        }
    };
    if count.div_ceil(8) != octets.len() as u64 {
        return Err(Mismatch::new(format!("{} bytes for {count} bits", octets.len())));
    }
    let unused = (8 - (count % 8).to_be_bytes()[7]) % 8;
    match BitString::new(octets, unused) {
        Some(bits) if bits.as_bits().is_padded_with_zeros() => Ok(bits),
        _ => Err(Mismatch::new(format!("the {unused} bits after the last are not all zero"))),
    }
}

/// Two's complement octets with the other sign.
pub(super) fn negated(octets: &[u8]) -> Vec<u8> {
    let mut negated: Vec<u8> = octets.iter().map(|octet| !octet).collect();
    let mut at = negated.len();
    while let Some(octet) = at.checked_sub(1).and_then(|at| negated.get_mut(at)) {
        let (sum, carry) = octet.overflowing_add(1);
        *octet = sum;
        if !carry {
            break;
        }
        at -= 1;
    }
    negated
}
