//! Values in the notation of ASN.1 (X.680 clauses 18 to 46), which is what generated types show as `Debug`.

#[cfg(feature = "arena")]
use super::UnknownElements;
use super::parts::{Item, LeafRef, Parts, Sink, UNKNOWN, Value, name};
use super::{Contained, SequenceOf, UnknownAdditions, UnknownAlternative};
use crate::types::{
    BitStr, BitString, ExactReal, FixedBits, Integer, IntegerRef, List, ListRef, ObjectIdentifier, Octets,
    OidRef, RelativeObjectIdentifier, RelativeOidRef, Text, TextRef,
};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt::{Display, Formatter, Result, Write};

/// What can be shown in value notation.
pub trait Notation {
    /// Shows it.
    ///
    /// # Errors
    /// Those of the formatter.
    fn notation(&self, p: &mut Printer<'_, '_>) -> Result;

    /// Whether it is there to be shown: an absent component is not.
    fn is_there(&self) -> bool {
        true
    }
}

/// Shows a value: on one line, with `{:#?}` a line for each part.
///
/// # Errors
/// Those of the formatter.
pub fn debug(value: &dyn Notation, f: &mut Formatter<'_>) -> Result {
    value.notation(&mut Printer::of(f))
}

/// Where values are shown.
pub struct Printer<'p, 'f> {
    f: &'p mut Formatter<'f>,
    level: usize,
}

impl<'p, 'f> Printer<'p, 'f> {
    pub(super) const fn of(f: &'p mut Formatter<'f>) -> Self {
        Self { f, level: 0 }
    }
}

impl Printer<'_, '_> {
    /// SEQUENCE, SET: identifiers, which may be empty, and values of the components that are there.
    ///
    /// # Errors
    /// Those of the formatter.
    pub fn members(&mut self, members: &[(&str, &dyn Notation)]) -> Result {
        let there = members.iter().filter(|(_, value)| value.is_there());
        self.braces(there, |p, (name, value)| {
            if !name.is_empty() {
                write!(p.f, "{name} ")?;
            }
            value.notation(p)
        })
    }

    /// CHOICE: the alternative's identifier and its value.
    ///
    /// # Errors
    /// Those of the formatter.
    pub fn chosen(&mut self, name: &str, value: &dyn Notation) -> Result {
        write!(self.f, "{name} : ")?;
        value.notation(self)
    }

    /// An identifier, a number, a word.
    ///
    /// # Errors
    /// Those of the formatter.
    pub fn word(&mut self, word: impl Display) -> Result {
        write!(self.f, "{word}")
    }

    /// What has no notation, as octets.
    ///
    /// # Errors
    /// Those of the formatter.
    pub fn encoding(&mut self, octets: &[u8]) -> Result {
        self.f.write_str("/* encoding */ ")?;
        self.octets(octets)
    }

    /// The encoding of what a type does not know.
    ///
    /// # Errors
    /// Those of the formatter.
    pub fn unknown(&mut self, octets: &[u8]) -> Result {
        self.f.write_str("/* unknown */ ")?;
        self.octets(octets)
    }

    /// A value that is written part by part.
    ///
    /// # Errors
    /// Those of the formatter.
    pub fn value<'a, T: Value<'a>>(&mut self, value: &T) -> Result {
        let mut shown = Shown { p: self, name: None, result: Ok(()) };
        value.write(&mut shown);
        shown.result
    }

    fn leaf(&mut self, value: LeafRef<'_, '_>) -> Result {
        match value {
            LeafRef::Null => ().notation(self),
            LeafRef::Bool(value) => value.notation(self),
            LeafRef::Large(value) => value.notation(self),
            LeafRef::Number(value) => value.notation(self),
            LeafRef::Big(value) => value.notation(self),
            LeafRef::Real(value) => value.notation(self),
            LeafRef::Float(value) => value.notation(self),
            LeafRef::Bits(value) => value.notation(self),
            LeafRef::Octets(value) => value.notation(self),
            LeafRef::FixedOctets(value) => self.octets(value),
            LeafRef::FixedBits(word, count) => {
                let count = usize::try_from(count).unwrap_or_default();
                self.bits((0..count).map(|at| word >> (count - 1 - at) & 1 == 1))
            }
            LeafRef::Oid(value) => value.notation(self),
            LeafRef::RelativeOid(value) => value.notation(self),
            LeafRef::Text(value) => value.notation(self),
            LeafRef::Additions(value) => value.notation(self),
            LeafRef::Unknown(value) => value.notation(self),
            LeafRef::Straight(value) => value.notation(self),
        }
    }

    fn braces<T>(
        &mut self,
        parts: impl Iterator<Item = T>,
        mut show: impl FnMut(&mut Self, T) -> Result,
    ) -> Result {
        self.begin()?;
        let mut count = 0_usize;
        for part in parts {
            self.between(count)?;
            count += 1;
            show(self, part)?;
        }
        self.end(count)
    }

    /// Begins parts in braces.
    fn begin(&mut self) -> Result {
        self.level += 1;
        self.f.write_str("{")
    }

    /// What stands in front of a part, behind so many others.
    fn between(&mut self, count: usize) -> Result {
        if count > 0 {
            self.f.write_str(if self.f.alternate() { "," } else { ", " })?;
        }
        self.line()
    }

    /// Ends so many parts in braces.
    fn end(&mut self, count: usize) -> Result {
        self.level -= 1;
        if count > 0 {
            self.line()?;
        }
        self.f.write_str("}")
    }

    fn line(&mut self) -> Result {
        if self.f.alternate() { write!(self.f, "\n{:1$}", "", self.level * 2) } else { Ok(()) }
    }

    fn octets(&mut self, octets: &[u8]) -> Result {
        self.f.write_str("'")?;
        for octet in octets {
            write!(self.f, "{octet:02X}")?;
        }
        self.f.write_str("'H")
    }

    fn text(&mut self, text: &str) -> Result {
        self.f.write_str("\"")?;
        for (i, part) in text.split('"').enumerate() {
            if i > 0 {
                self.f.write_str("\"\"")?;
            }
            self.f.write_str(part)?;
        }
        self.f.write_str("\"")
    }

    fn bits(&mut self, bits: impl ExactSizeIterator<Item = bool>) -> Result {
        let (count, mut digit) = (bits.len(), 0_u8);
        let whole = count > 0 && count.is_multiple_of(4);
        self.f.write_str("'")?;
        for (i, bit) in bits.enumerate() {
            if !whole {
                self.f.write_str(if bit { "1" } else { "0" })?;
                continue;
            }
            digit = digit << 1 | u8::from(bit);
            if i % 4 == 3 {
                write!(self.f, "{digit:X}")?;
                digit = 0;
            }
        }
        self.f.write_str(if whole { "'H" } else { "'B" })
    }

    fn arcs(&mut self, dotted: impl Display) -> Result {
        self.f.write_str("{")?;
        write!(Spaced(self.f), "{dotted}")?;
        self.f.write_str("}")
    }
}

impl core::fmt::Debug for Printer<'_, '_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.debug_struct("Printer").field("level", &self.level).finish_non_exhaustive()
    }
}

/// Shows a value that is written part by part.
struct Shown<'p, 'q, 'f> {
    p: &'p mut Printer<'q, 'f>,
    /// The name of the component that comes next, and how many stand in front of it; taken when it turns out to be there.
    name: Option<(&'static str, usize)>,
    /// The fault of the formatter, after which nothing is shown.
    result: Result,
}

impl<'q, 'f> Shown<'_, 'q, 'f> {
    /// Shows a value, behind its name if it is one of a component.
    fn show(&mut self, show: impl FnOnce(&mut Printer<'q, 'f>) -> Result) {
        let name = self.name.take();
        if self.result.is_err() {
            return;
        }
        let p = &mut *self.p;
        let named = name.map_or(Ok(()), |(name, count)| {
            p.between(count)?;
            if name.is_empty() { Ok(()) } else { write!(p.f, "{name} ") }
        });
        self.result = named.and_then(|()| show(p));
    }
}

impl<'v, 'a> Sink<'v, 'a> for Shown<'_, '_, '_> {
    fn leaf(&mut self, value: LeafRef<'v, 'a>) {
        match value {
            LeafRef::Additions(additions) if additions.is_empty() => {}
            _ => self.show(|p| p.leaf(value)),
        }
    }

    fn item(&mut self, item: Item, names: &'static str) {
        self.show(|p| match item {
            Item::Known(number) => p.word(name(names, number)),
            Item::Addition(number) => p.word(format_args!("/* addition {number} */")),
            Item::Unknown(number) => p.word(number),
        });
    }

    fn members(&mut self, value: &dyn Parts<'v, 'a>, names: &'static str) {
        self.show(Printer::begin);
        let mut count = 0;
        // Additions that are not known stand behind the last name.
        for (number, name) in names.split_terminator(' ').chain([""]).enumerate() {
            self.name = Some((name, count));
            value.write_part(number, self);
            count += usize::from(self.name.take().is_none());
        }
        self.show(|p| p.end(count));
    }

    fn alternative(&mut self, number: usize, value: &dyn Parts<'v, 'a>, names: &'static str) {
        if number != UNKNOWN {
            self.show(|p| write!(p.f, "{} : ", name(names, number)));
        }
        value.write_part(number, self);
    }

    fn elements(&mut self, count: usize, value: &dyn Parts<'v, 'a>) {
        self.show(Printer::begin);
        for number in 0..count {
            self.show(|p| p.between(number));
            value.write_part(number, self);
        }
        self.show(|p| p.end(count));
    }

    fn content(&mut self, value: &dyn Parts<'v, 'a>) {
        self.show(|p| p.f.write_str("CONTAINING "));
        value.write_part(0, self);
    }
}

/// Full stops as spaces.
struct Spaced<'p, 'f>(&'p mut Formatter<'f>);

impl Write for Spaced<'_, '_> {
    fn write_str(&mut self, text: &str) -> Result {
        let mut parts = text.split('.');
        self.0.write_str(parts.next().unwrap_or_default())?;
        parts.try_for_each(|part| write!(self.0, " {part}"))
    }
}

macro_rules! plain {
    ($($ty:ty)*) => {$(
        impl Notation for $ty {
            fn notation(&self, p: &mut Printer<'_, '_>) -> Result {
                write!(p.f, "{self}")
            }
        }
    )*};
}

plain!(u8 u16 u32 u64 i8 i16 i32 i64 Integer<'_> IntegerRef<'_> ExactReal<'_>);

impl Notation for bool {
    fn notation(&self, p: &mut Printer<'_, '_>) -> Result {
        p.f.write_str(if *self { "TRUE" } else { "FALSE" })
    }
}

impl Notation for () {
    fn notation(&self, p: &mut Printer<'_, '_>) -> Result {
        p.f.write_str("NULL")
    }
}

impl Notation for f64 {
    fn notation(&self, p: &mut Printer<'_, '_>) -> Result {
        ExactReal::from(*self).notation(p)
    }
}

impl Notation for Octets<'_> {
    fn notation(&self, p: &mut Printer<'_, '_>) -> Result {
        p.octets(self)
    }
}

impl<const N: usize> Notation for [u8; N] {
    fn notation(&self, p: &mut Printer<'_, '_>) -> Result {
        p.octets(self)
    }
}

impl Notation for &[u8] {
    fn notation(&self, p: &mut Printer<'_, '_>) -> Result {
        p.octets(self)
    }
}

macro_rules! text {
    ($($ty:ty)*) => {$(
        impl Notation for $ty {
            fn notation(&self, p: &mut Printer<'_, '_>) -> Result {
                p.text(self)
            }
        }
    )*};
}

text!(Text<'_> TextRef<'_>);

impl Notation for BitStr<'_> {
    fn notation(&self, p: &mut Printer<'_, '_>) -> Result {
        p.bits((0..self.len()).map(|i| self.bit(i) == Some(true)))
    }
}

impl Notation for BitString<'_> {
    fn notation(&self, p: &mut Printer<'_, '_>) -> Result {
        self.as_bits().notation(p)
    }
}

impl<const N: u32> Notation for FixedBits<N> {
    fn notation(&self, p: &mut Printer<'_, '_>) -> Result {
        p.bits((0..N).map(|index| self.bit(index)))
    }
}

macro_rules! arcs {
    ($($ty:ty)*) => {$(
        impl Notation for $ty {
            fn notation(&self, p: &mut Printer<'_, '_>) -> Result {
                p.arcs(self)
            }
        }
    )*};
}

arcs!(ObjectIdentifier<'_> OidRef<'_> RelativeObjectIdentifier<'_> RelativeOidRef<'_>);

impl<T: Notation> Notation for Vec<T> {
    fn notation(&self, p: &mut Printer<'_, '_>) -> Result {
        p.braces(self.iter(), |p, element| element.notation(p))
    }
}

impl<T: Notation> Notation for List<T> {
    fn notation(&self, p: &mut Printer<'_, '_>) -> Result {
        p.braces(self.iter(), |p, element| element.notation(p))
    }
}

impl<T: Notation> Notation for ListRef<'_, T> {
    fn notation(&self, p: &mut Printer<'_, '_>) -> Result {
        p.braces(self.iter(), |p, element| element.notation(p))
    }
}

/// The elements up to the first that is none.
impl<T: Notation + Clone> Notation for SequenceOf<'_, T> {
    fn notation(&self, p: &mut Printer<'_, '_>) -> Result {
        p.braces(self.iter(), |p, element| match element {
            Ok(element) => element.notation(p),
            Err(error) => write!(p.f, "/* {error} */"),
        })
    }
}

impl<T: Notation> Notation for Box<T> {
    fn notation(&self, p: &mut Printer<'_, '_>) -> Result {
        (**self).notation(p)
    }
}

impl<T: Notation> Notation for &T {
    fn notation(&self, p: &mut Printer<'_, '_>) -> Result {
        (**self).notation(p)
    }
}

impl<T: Notation> Notation for Option<T> {
    fn notation(&self, p: &mut Printer<'_, '_>) -> Result {
        self.as_ref().map_or(Ok(()), |value| value.notation(p))
    }

    fn is_there(&self) -> bool {
        self.is_some()
    }
}

impl<T: Notation> Notation for Contained<'_, T> {
    fn notation(&self, p: &mut Printer<'_, '_>) -> Result {
        match self {
            Self::Value(value) => {
                p.f.write_str("CONTAINING ")?;
                value.notation(p)
            }
            Self::Octets(octets) => p.octets(octets),
            Self::Bits(bits) => bits.notation(p),
        }
    }
}

impl Notation for UnknownAlternative<'_> {
    fn notation(&self, p: &mut Printer<'_, '_>) -> Result {
        p.unknown(&self.octets)
    }
}

/// Additions that are not known, by their encodings.
fn unknown<'o>(p: &mut Printer<'_, '_>, additions: impl Iterator<Item = &'o [u8]>) -> Result {
    for (number, octets) in additions.enumerate() {
        if number > 0 {
            p.f.write_str(", ")?;
        }
        p.unknown(octets)?;
    }
    Ok(())
}

#[cfg(feature = "arena")]
impl Notation for UnknownElements<'_> {
    fn notation(&self, p: &mut Printer<'_, '_>) -> Result {
        unknown(p, self.to_vec().into_iter())
    }

    fn is_there(&self) -> bool {
        !self.is_empty()
    }
}

impl Notation for UnknownAdditions {
    fn notation(&self, p: &mut Printer<'_, '_>) -> Result {
        unknown(p, self.iter().map(|addition| &addition.octets[..]))
    }

    fn is_there(&self) -> bool {
        !self.is_empty()
    }
}
