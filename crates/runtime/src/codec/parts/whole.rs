//! What is done with values as a whole, part by part: they are shown, compared and copied by one function for all types.
//!
//! A new kind of [`Part`] and [`Seen`] has to be told to both of the functions here: pairs of different kinds are passed over.

use super::{Defaults, Members, Part, Seen, Value};
use crate::codec::Printer;
use core::fmt;

/// Shows a value in value notation, as [`crate::codec::debug`].
///
/// # Errors
/// Those of the formatter.
#[inline]
pub fn debug<'a, T: Value<'a>>(value: &T, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    Printer::of(f).seen(value.seen())
}

/// Whether two values are the same.
#[inline]
pub fn equal<'a, T: Value<'a>>(one: &T, other: &T) -> bool {
    same(one.seen(), other.seen())
}

/// A copy of a value.
#[inline]
pub fn clone<'a, T: Value<'a>>(value: &T) -> T {
    let mut copy = T::empty();
    set(copy.part(), value.seen());
    copy
}

/// A copy of a value that does not borrow.
#[inline]
pub fn owned<'a, T: Value<'a>, U: Value<'static>>(value: &T) -> U {
    let mut copy = U::empty();
    set_owned(copy.part(), value.seen());
    copy
}

/// All components in order, and behind them the unknown additions or [`Seen::Absent`].
pub(in crate::codec) fn all<'v, 'a>(value: &'v dyn Members<'a>) -> impl Iterator<Item = Seen<'v, 'a>> {
    let count = value.names().split_terminator(' ').count();
    (0..=count).map(|number| value.see(number, Defaults::Told))
}

fn same(one: Seen<'_, '_>, other: Seen<'_, '_>) -> bool {
    match (one, other) {
        (Seen::Absent, Seen::Absent) | (Seen::Null, Seen::Null) => true,
        (Seen::Bool(one), Seen::Bool(other)) => one == other,
        (Seen::U8(one), Seen::U8(other)) => one == other,
        (Seen::U16(one), Seen::U16(other)) => one == other,
        (Seen::U32(one), Seen::U32(other)) => one == other,
        (Seen::U64(one), Seen::U64(other)) => one == other,
        (Seen::I8(one), Seen::I8(other)) => one == other,
        (Seen::I16(one), Seen::I16(other)) => one == other,
        (Seen::I32(one), Seen::I32(other)) => one == other,
        (Seen::I64(one), Seen::I64(other)) => one == other,
        (Seen::Big(one), Seen::Big(other)) => one == other,
        (Seen::Real(one), Seen::Real(other)) => one == other,
        (Seen::Float(one), Seen::Float(other)) => one == other,
        (Seen::Bits(one), Seen::Bits(other)) => one == other,
        (Seen::Octets(one), Seen::Octets(other)) => one == other,
        (Seen::FixedOctets(one), Seen::FixedOctets(other)) => one == other,
        (Seen::FixedBits(one, _), Seen::FixedBits(other, _)) => one == other,
        (Seen::Oid(one), Seen::Oid(other)) => one == other,
        (Seen::RelativeOid(one), Seen::RelativeOid(other)) => one == other,
        (Seen::Text(one), Seen::Text(other)) => one == other,
        (Seen::Additions(one), Seen::Additions(other)) => one == other,
        (Seen::Unknown(one), Seen::Unknown(other)) => one == other,
        (Seen::Items(one), Seen::Items(other)) => one.item().0 == other.item().0,
        (Seen::Members(one), Seen::Members(other)) => {
            all(one).zip(all(other)).all(|(one, other)| same(one, other))
        }
        (Seen::Alternatives(one), Seen::Alternatives(other)) => {
            let ((one, value, _), (other, inside, _)) = (one.chosen(), other.chosen());
            one == other && same(value, inside)
        }
        (Seen::Elements(one), Seen::Elements(other)) => {
            let count = one.count();
            count == other.count()
                && (0..count).all(|number| same(one.element(number), other.element(number)))
        }
        (Seen::Content(one), Seen::Content(other)) => match (one.content(), other.content()) {
            (Ok(value), Ok(inside)) => same(value, inside),
            (Err(one), Err(other)) => same(one, other),
            _ => false,
        },
        _ => false,
    }
}

macro_rules! set {
    ($name:ident, $lifetime:lifetime $(, $owned:ident)?) => {
        fn $name<'a>(place: Part<'_, $lifetime>, value: Seen<'_, 'a>) {
            match (place, value) {
                (Part::Bool(place), Seen::Bool(value)) => *place = *value,
                (Part::U8(place), Seen::U8(value)) => *place = *value,
                (Part::U16(place), Seen::U16(value)) => *place = *value,
                (Part::U32(place), Seen::U32(value)) => *place = *value,
                (Part::U64(place), Seen::U64(value)) => *place = *value,
                (Part::I8(place), Seen::I8(value)) => *place = *value,
                (Part::I16(place), Seen::I16(value)) => *place = *value,
                (Part::I32(place), Seen::I32(value)) => *place = *value,
                (Part::I64(place), Seen::I64(value)) => *place = *value,
                (Part::Big(place), Seen::Big(value)) => *place = value.clone()$(.$owned())?,
                (Part::Real(place), Seen::Real(value)) => *place = value.clone()$(.$owned())?,
                (Part::Float(place), Seen::Float(value)) => *place = *value,
                (Part::Bits(place), Seen::Bits(value)) => *place = value.clone()$(.$owned())?,
                (Part::Octets(place), Seen::Octets(value)) => *place = value.clone()$(.$owned())?,
                (Part::FixedOctets(place), Seen::FixedOctets(value)) if place.len() == value.len() => {
                    place.copy_from_slice(value);
                }
                (Part::FixedBits(place, _), Seen::FixedBits(value, _)) => *place = value,
                (Part::Oid(place), Seen::Oid(value)) => *place = value.clone()$(.$owned())?,
                (Part::RelativeOid(place), Seen::RelativeOid(value)) => *place = value.clone()$(.$owned())?,
                (Part::Text(place), Seen::Text(value)) => *place = value.clone()$(.$owned())?,
                (Part::Additions(place), Seen::Additions(value)) => *place = value.clone(),
                (Part::Unknown(place), Seen::Unknown(value)) => *place = value.clone()$(.$owned())?,
                (Part::Items(place), Seen::Items(value)) => place.set(value.item().0),
                (Part::Members(place), Seen::Members(value)) => {
                    for (number, member) in all(value).enumerate() {
                        if member.is_there() {
                            $name(place.member(number), member);
                        }
                    }
                }
                (Part::Alternatives(place), Seen::Alternatives(value)) => {
                    let (number, value, _) = value.chosen();
                    $name(place.choose(number), value);
                }
                (Part::Elements(place), Seen::Elements(value)) => {
                    let count = value.count();
                    place.expect(count);
                    (0..count).for_each(|number| $name(place.push(), value.element(number)));
                }
                (Part::Content(place), Seen::Content(value)) => match value.content() {
                    Ok(inside) => $name(place.value(), inside),
                    Err(Seen::Octets(octets)) => place.set_octets(octets.clone()$(.$owned())?),
                    Err(Seen::Bits(bits)) => place.set_bits(bits.clone()$(.$owned())?),
                    Err(_) => {}
                },
                _ => {}
            }
        }
    };
}

set!(set, 'a);
set!(set_owned, 'static, into_owned);
