//! What is done with values as a whole, part by part: they are shown, compared and copied by one function for all types.
//!
//! Comparison and copies go over a list of the steps that a value consists of. A new kind of [`LeafMut`] and [`LeafRef`] has
//! to be added to both of the functions over leaves here: pairs of different kinds are passed over.

use super::{Item, LeafMut, LeafRef, Parts, Places, Sink, Source, Value};
use crate::codec::{Contained, Printer};
use crate::types::Octets;
use alloc::vec::Vec;
use core::fmt;

/// Shows a value in value notation, as [`crate::codec::debug`].
///
/// # Errors
/// Those of the formatter.
#[inline]
pub fn debug<'a, T: Value<'a>>(value: &T, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    Printer::of(f).value(value)
}

/// Whether two values are equal.
#[inline]
pub fn equal<'a, T: Value<'a>>(one: &T, other: &T) -> bool {
    let (mut steps, mut others) = (Steps::default(), Steps::default());
    one.write(&mut steps);
    other.write(&mut others);
    steps.is_same(&others)
}

/// A copy of a value.
#[inline]
pub fn clone<'a, T: Value<'a>>(value: &T) -> T {
    let mut copy = T::empty();
    copied(value, &mut copy, set);
    copy
}

/// A copy of a value that does not borrow.
#[inline]
pub fn owned<'a, T: Value<'a>, U: Value<'static>>(value: &T) -> U {
    let mut copy = U::empty();
    copied(value, &mut copy, set_owned);
    copy
}

/// Copies a value into one that has not been read, leaves by `set`.
#[inline]
fn copied<'a, 'b, T: Value<'a>, U: Value<'b>>(value: &T, copy: &mut U, set: Set<'a, 'b>) {
    let mut steps = Steps::default();
    value.write(&mut steps);
    copy.read(&mut Copied { steps: &steps.0, set });
}

/// What copies a leaf into a place of the same kind.
type Set<'a, 'b> = fn(LeafMut<'_, 'b>, LeafRef<'_, 'a>);

/// A step through a value.
#[derive(Clone, Copy)]
enum Step<'v, 'a> {
    /// A component that is not there.
    Absent,
    Leaf(LeafRef<'v, 'a>),
    Item(Item),
    /// SEQUENCE, SET: so many parts follow, of which some may be absent.
    Members(usize),
    /// The number of an alternative; it follows.
    Alternative(usize),
    /// So many elements follow.
    Elements(usize),
    /// A string with CONTAINING that has a value inside, which follows.
    Content,
}

/// The steps through a value, in order.
#[derive(Default)]
struct Steps<'v, 'a>(Vec<Step<'v, 'a>>);

impl Steps<'_, '_> {
    fn is_same(&self, other: &Self) -> bool {
        let is_same = |(one, other): (&Step<'_, '_>, &Step<'_, '_>)| match (one, other) {
            (Step::Leaf(one), Step::Leaf(other)) => is_same(*one, *other),
            (Step::Item(one), Step::Item(other)) => one == other,
            (Step::Members(one), Step::Members(other))
            | (Step::Alternative(one), Step::Alternative(other))
            | (Step::Elements(one), Step::Elements(other)) => one == other,
            (Step::Absent, Step::Absent) | (Step::Content, Step::Content) => true,
            _ => false,
        };
        self.0.len() == other.0.len() && self.0.iter().zip(&other.0).all(is_same)
    }
}

impl<'v, 'a> Sink<'v, 'a> for Steps<'v, 'a> {
    fn leaf(&mut self, value: LeafRef<'v, 'a>) {
        self.0.push(Step::Leaf(value));
    }

    fn item(&mut self, item: Item, _: &'static str) {
        self.0.push(Step::Item(item));
    }

    fn members(&mut self, value: &dyn Parts<'v, 'a>, names: &'static str) {
        // Unknown additions are the part behind the last that has a name.
        let count = names.split_terminator(' ').count() + 1;
        self.0.push(Step::Members(count));
        for number in 0..count {
            let before = self.0.len();
            value.write_part(number, self);
            if self.0.len() == before {
                self.0.push(Step::Absent);
            }
        }
    }

    fn alternative(&mut self, number: usize, value: &dyn Parts<'v, 'a>, _: &'static str) {
        self.0.push(Step::Alternative(number));
        value.write_part(number, self);
    }

    fn elements(&mut self, count: usize, value: &dyn Parts<'v, 'a>) {
        self.0.push(Step::Elements(count));
        (0..count).for_each(|number| value.write_part(number, self));
    }

    fn content(&mut self, value: &dyn Parts<'v, 'a>) {
        self.0.push(Step::Content);
        value.write_part(0, self);
    }
}

/// Reads the steps of a value into another one of its type, so that each step is the one that is asked for.
struct Copied<'s, 'v, 'a, 'b> {
    /// Those that remain.
    steps: &'s [Step<'v, 'a>],
    set: Set<'a, 'b>,
}

impl<'v, 'a> Copied<'_, 'v, 'a, '_> {
    fn next(&mut self) -> Option<Step<'v, 'a>> {
        let (step, steps) = self.steps.split_first()?;
        self.steps = steps;
        Some(*step)
    }
}

impl<'b> Source<'b> for Copied<'_, '_, '_, 'b> {
    fn leaf(&mut self, place: LeafMut<'_, 'b>) {
        if let Some(Step::Leaf(leaf)) = self.next() {
            (self.set)(place, leaf);
        }
    }

    fn item(&mut self) -> Option<Item> {
        match self.next() {
            Some(Step::Item(item)) => Some(item),
            _ => None,
        }
    }

    fn parts(&mut self, value: &mut dyn Places<'b>, _: &'static str) {
        match self.next() {
            Some(Step::Members(count)) => {
                for number in 0..count {
                    match self.steps {
                        [Step::Absent, steps @ ..] => self.steps = steps,
                        _ => value.read_part(number, self),
                    }
                }
            }
            Some(Step::Alternative(number)) => value.read_part(number, self),
            Some(Step::Elements(count)) => {
                (0..count).for_each(|number| value.read_part(count - number, self));
            }
            _ => {}
        }
    }

    fn content(&mut self, value: &mut dyn Places<'b>) -> Option<Contained<'b, ()>> {
        match self.next()? {
            Step::Content => {
                value.read_part(0, self);
                Some(Contained::Value(()))
            }
            Step::Leaf(leaf @ LeafRef::Octets(_)) => {
                let mut octets = Octets::default();
                (self.set)(LeafMut::Octets(&mut octets), leaf);
                Some(Contained::Octets(octets))
            }
            Step::Leaf(LeafRef::Bits(bits)) => Some(Contained::from(bits.clone().into_owned())),
            _ => None,
        }
    }
}

fn is_same(one: LeafRef<'_, '_>, other: LeafRef<'_, '_>) -> bool {
    match (one, other) {
        (LeafRef::Null, LeafRef::Null) => true,
        (LeafRef::Bool(one), LeafRef::Bool(other)) => one == other,
        (LeafRef::Number(one), LeafRef::Number(other)) => one == other,
        (LeafRef::Large(one), LeafRef::Large(other)) => one == other,
        (LeafRef::Big(one), LeafRef::Big(other)) => one == other,
        (LeafRef::Real(one), LeafRef::Real(other)) => one == other,
        (LeafRef::Float(one), LeafRef::Float(other)) => one == other,
        (LeafRef::Bits(one), LeafRef::Bits(other)) => one == other,
        (LeafRef::Octets(one), LeafRef::Octets(other)) => one == other,
        (LeafRef::FixedOctets(one), LeafRef::FixedOctets(other)) => one == other,
        (LeafRef::FixedBits(one, _), LeafRef::FixedBits(other, _)) => one == other,
        (LeafRef::Oid(one), LeafRef::Oid(other)) => one == other,
        (LeafRef::RelativeOid(one), LeafRef::RelativeOid(other)) => one == other,
        (LeafRef::Text(one), LeafRef::Text(other)) => one == other,
        (LeafRef::Additions(one), LeafRef::Additions(other)) => one == other,
        (LeafRef::Unknown(one), LeafRef::Unknown(other)) => one == other,
        _ => false,
    }
}

macro_rules! set {
    ($name:ident, $lifetime:lifetime $(, $owned:ident)?) => {
        fn $name<'a>(place: LeafMut<'_, $lifetime>, value: LeafRef<'_, 'a>) {
            match (place, value) {
                (LeafMut::Bool(place), LeafRef::Bool(value)) => *place = *value,
                (place, LeafRef::Number(value)) => _ = place.set_short(value),
                (place, LeafRef::Large(value)) => _ = place.set_integer(value.into()),
                (LeafMut::Float(place), LeafRef::Float(value)) => *place = *value,
                (LeafMut::Big(place), LeafRef::Big(value)) => *place = value.clone()$(.$owned())?,
                (LeafMut::Real(place), LeafRef::Real(value)) => *place = value.clone()$(.$owned())?,
                (LeafMut::Bits(place), LeafRef::Bits(value)) => *place = value.clone()$(.$owned())?,
                (LeafMut::Octets(place), LeafRef::Octets(value)) => *place = value.clone()$(.$owned())?,
                (LeafMut::Oid(place), LeafRef::Oid(value)) => *place = value.clone()$(.$owned())?,
                (LeafMut::RelativeOid(place), LeafRef::RelativeOid(value)) => *place = value.clone()$(.$owned())?,
                (LeafMut::Text(place), LeafRef::Text(value)) => *place = value.clone()$(.$owned())?,
                (LeafMut::Unknown(place), LeafRef::Unknown(value)) => *place = value.clone()$(.$owned())?,
                (LeafMut::Additions(place), LeafRef::Additions(value)) => *place = value.clone(),
                (LeafMut::FixedBits(place, _), LeafRef::FixedBits(value, _)) => *place = value,
                (LeafMut::FixedOctets(place), LeafRef::FixedOctets(value)) if place.len() == value.len() => {
                    place.copy_from_slice(value);
                }
                _ => {}
            }
        }
    };
}

set!(set, 'a);
set!(set_owned, 'static, into_owned);
