//! Codecs that follow tables: what is printed of a type is how it is encoded, and places to read its parts into. Code for
//! DL-DCCH of NR RRC takes some three fifths of the compiler's time; an RRCReconfiguration 2.9 times as many instructions to
//! decode and 6.4 times as many to encode.

mod read;
mod write;

use super::{Alphabet, Size, TimeForm, Whole};
use crate::text::StringKind;

/// How a value is encoded.
#[derive(Clone, Copy, Debug)]
pub enum Form {
    /// As its type says: NULL, BOOLEAN, REAL, object identifiers, open types.
    Plain,
    /// An INTEGER with both bounds (§13): the form, the least, what it may be above that, whether it is extensible.
    Integer(Whole, i64, u64, bool),
    /// An INTEGER with a lower bound alone.
    SemiConstrained(i64, bool),
    /// An INTEGER without a lower bound.
    Unconstrained(bool),
    /// An INTEGER with bounds of more than 64 bits, or such a lower bound alone.
    Large(&'static [u8], Option<&'static [u8]>, bool),
    /// OCTET STRING, BIT STRING; whether there are names for bits.
    String(Size, bool),
    /// Strings of characters with a known number of bits.
    Characters(&'static Characters),
    /// Other strings of characters.
    OtherString(StringKind),
    /// TIME and the useful time types.
    Time(&'static TimeForm),
    /// A string with CONTAINING: its size, the bits of its units, what is inside.
    Containing(Size, &'static Self, bool),
    /// ENUMERATED without extension, whose items are declared in order: the form, how many they are.
    Items(Whole, u32),
    /// ENUMERATED.
    Enumerated(&'static Enumerated),
    /// SEQUENCE, SET.
    Sequence(&'static Sequence),
    /// CHOICE.
    Choice(&'static Choice),
    /// SEQUENCE OF, SET OF.
    List(&'static List),
    /// A type with codecs of its own.
    Straight,
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
#[derive(Clone, Copy, Debug)]
pub struct Sequence {
    /// Whether there is an extension bit.
    pub extensible: bool,
    /// The number of the place of additions that are not known, if they are kept.
    pub unknown: Option<u16>,
    /// Whether it may have values of itself inside.
    pub recursive: bool,
    /// The components of the root in the order of their encodings.
    pub root: &'static [Member],
    /// The additions.
    pub additions: &'static [Addition],
}

/// An extension addition, or a group of them.
#[derive(Clone, Copy, Debug)]
pub struct Addition {
    /// Whether it is a group.
    pub group: bool,
    /// The component, or those of the group.
    pub members: &'static [Member],
}

/// A CHOICE (§23).
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    /// How the number of an alternative of the root is written.
    pub whole: Whole,
    /// Whether there is an extension bit.
    pub extensible: bool,
    /// Whether it may have values of itself inside.
    pub recursive: bool,
    /// The alternatives of the root by their numbers in the encoding.
    pub root: &'static [Member],
    /// The additions.
    pub additions: &'static [Member],
}

/// A SEQUENCE OF or SET OF (§20, §22).
#[derive(Clone, Copy, Debug)]
pub struct List {
    /// How many elements.
    pub size: Size,
    /// Whether it is a SET OF.
    pub set: bool,
    /// Whether it may have values of itself inside.
    pub recursive: bool,
    /// How an element is encoded.
    pub element: Form,
}
