//! Codecs that follow tables: what is printed of a type is how it is encoded, and places to read its parts into. Code for
//! DL-DCCH of NR RRC takes some three fifths of the compiler's time; an RRCReconfiguration 2.9 times as many instructions to
//! decode and 6.4 times as many to encode.

mod read;
mod write;

use super::{Alphabet, Size, TimeForm, Whole};
use crate::text::StringKind;
use crate::{Error, ErrorKind, Result};
use core::ops::Range;

/// How all types of a program are encoded, by one variant of PER. What they refer to they name by its number in the lists
/// here: references would take three times as much of a program, since each has to be set when it is loaded.
#[derive(Clone, Copy, Debug)]
pub struct Tables {
    /// SEQUENCE and SET types.
    pub sequences: &'static [Sequence],
    /// CHOICE types.
    pub choices: &'static [Choice],
    /// SEQUENCE OF and SET OF types.
    pub lists: &'static [List],
    /// ENUMERATED types that are not just numbered.
    pub enumerations: &'static [Enumerated],
    /// Components and alternatives, those of a type in one run.
    pub members: &'static [Member],
    /// The additions of SEQUENCE and SET types.
    pub additions: &'static [Addition],
    /// INTEGER types with both bounds, and how items of ENUMERATED types are numbered.
    pub bounds: &'static [Bounds],
    /// Strings, and what is rare.
    pub leaves: &'static [Leaf],
}

/// How a value is encoded; most forms are a number in [`Tables`].
#[derive(Clone, Copy, Debug)]
pub enum Form {
    /// As its type says: NULL, BOOLEAN, REAL, object identifiers, open types.
    Plain,
    /// An INTEGER with both bounds (§13).
    Integer(u16),
    /// ENUMERATED without extension, whose items are declared in order: the bounds of their numbers.
    Items(u16),
    /// ENUMERATED.
    Enumerated(u16),
    /// SEQUENCE, SET.
    Sequence(u16),
    /// CHOICE.
    Choice(u16),
    /// SEQUENCE OF, SET OF.
    List(u16),
    /// Strings, and what is rare.
    Leaf(u16),
    /// A type with codecs of its own.
    Straight,
}

/// The bounds of an INTEGER (§13).
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// How it is written.
    pub whole: Whole,
    /// The least.
    pub lo: i64,
    /// What it may be above that.
    pub span: u64,
    /// Whether it is extensible.
    pub extensible: bool,
}

/// Strings, and what is rare.
#[derive(Clone, Copy, Debug)]
pub enum Leaf {
    /// An INTEGER with a lower bound alone.
    SemiConstrained(i64, bool),
    /// An INTEGER without a lower bound.
    Unconstrained(bool),
    /// An INTEGER with bounds of more than 64 bits, or such a lower bound alone.
    Large(&'static [u8], Option<&'static [u8]>, bool),
    /// OCTET STRING, BIT STRING; whether there are names for bits.
    String(Size, bool),
    /// Strings of characters with a known number of bits.
    Characters(Characters),
    /// Other strings of characters.
    OtherString(StringKind),
    /// TIME and the useful time types.
    Time(&'static TimeForm),
    /// A string with CONTAINING: its size, what is inside, whether it is a BIT STRING.
    Containing(Size, Form, bool),
}

/// Which characters, and how many of them.
#[derive(Clone, Copy, Debug)]
pub struct Characters {
    /// How many.
    pub size: Size,
    /// Which.
    pub alphabet: &'static Alphabet,
    /// Whether they are a time.
    pub time: Time,
}

/// The times among strings of characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Time {
    /// Any characters.
    No,
    /// UTCTime.
    Utc,
    /// GeneralizedTime.
    Generalized,
}

/// The items of an ENUMERATED by their numbers in the encoding: their numbers in the declaration.
#[derive(Clone, Copy, Debug)]
pub struct Enumerated {
    /// How the number of an item of the root is written.
    pub whole: Whole,
    /// Whether there is an extension bit.
    pub extensible: bool,
    /// The items of the root.
    pub root: &'static [u16],
    /// The additions.
    pub additions: &'static [u16],
}

/// A component or alternative.
#[derive(Clone, Copy, Debug)]
pub struct Member {
    /// Its number in the declaration.
    pub number: u16,
    /// Whether a bit tells that it is there.
    pub optional: bool,
    /// How it is encoded.
    pub form: Form,
}

/// A SEQUENCE or SET (§19, §21).
#[derive(Clone, Debug)]
pub struct Sequence {
    /// Whether there is an extension bit.
    pub extensible: bool,
    /// The number of the place of additions that are not known, if they are kept.
    pub unknown: Option<u16>,
    /// Whether its values count against the limit of values inside one another.
    pub counted: bool,
    /// How many components of the root have a bit that tells that they are there.
    pub optional: u16,
    /// The components of the root in the order of their encodings.
    pub root: Range<u32>,
    /// The additions.
    pub additions: Range<u32>,
}

/// An extension addition, or a group of them.
#[derive(Clone, Debug)]
pub struct Addition {
    /// Whether it is a group.
    pub group: bool,
    /// The component, or those of the group.
    pub members: Range<u32>,
}

/// A CHOICE (§23).
#[derive(Clone, Debug)]
pub struct Choice {
    /// How the number of an alternative of the root is written.
    pub whole: Whole,
    /// Whether there is an extension bit.
    pub extensible: bool,
    /// Whether its values count against the limit of values inside one another.
    pub counted: bool,
    /// The alternatives of the root by their numbers in the encoding.
    pub root: Range<u32>,
    /// The additions.
    pub additions: Range<u32>,
}

/// A SEQUENCE OF or SET OF (§20, §22).
#[derive(Clone, Copy, Debug)]
pub struct List {
    /// How many elements.
    pub size: Size,
    /// Whether it is a SET OF.
    pub set: bool,
    /// Whether its values count against the limit of values inside one another.
    pub counted: bool,
    /// How an element is encoded.
    pub element: Form,
}

impl Tables {
    /// The components or alternatives of a run.
    #[inline]
    fn members(&self, run: &Range<u32>) -> &'static [Member] {
        self.members.get(run.start as usize..run.end as usize).unwrap_or_default()
    }

    /// The additions of a run.
    #[inline]
    fn additions(&self, run: &Range<u32>) -> &'static [Addition] {
        self.additions.get(run.start as usize..run.end as usize).unwrap_or_default()
    }
}

/// What has a number in a list.
#[inline]
fn at<T>(list: &'static [T], number: u16) -> Result<&'static T> {
    match list.get(usize::from(number)) {
        Some(known) => Ok(known),
        None => Err(absent()),
    }
}

/// There is nothing that a form does not name, so that this is not seen.
#[cold]
fn absent() -> Error {
    Error::new(ErrorKind::Unsupported, 0)
}
