//! Values from a document in any notation: one driver, led by the schema, puts them onto a tape.
//!
//! A [`Source`] knows one notation: where the names and values of a document are, and what its scalars mean. The
//! [`Driver`] knows types: which component a name means, which components must be there, which alternative is chosen,
//! which type an open type holds, how deep values may be, and where a fault is. JSON, XML, GSER, values in memory and the
//! objects of Python are sources.

mod driver;
mod found;
mod ranges;

pub(crate) use driver::is_missing;
pub use driver::{Driver, Memory};
pub use found::Found;
pub(crate) use ranges::Notation;
pub use ranges::{Notes, Ranges, TextRange};

use crate::event::{Leaf, Marked, Sink};
use crate::read_error::{TOO_DEEP, cut};
use crate::tape::Tape;
use crate::{Error, ErrorKind};
use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use tercet_plan::shape::Key;
use tercet_plan::{FieldId, Kind, NodeId, Shape};

/// A document in one notation.
///
/// Methods that read get the component, alternative or element that the value is for ([`FieldId::ROOT`] for the outermost
/// value and for content), and its type.
pub trait Source: Sized {
    /// The place of a value in the document.
    type At: Clone + fmt::Debug;
    /// The elements of a list that are not read yet.
    type Elements: fmt::Debug;
    /// A name in the document.
    type Name: Deref<Target = str> + fmt::Debug;
    /// The error of reading.
    type Error: InPath;

    /// Whether mandatory components must be there. If not, the encoder reports what is missing.
    const IS_COMPLETE: bool = true;

    /// Makes the error for what the driver found out.
    fn fault(&self, at: &Self::At, fault: Fault<'_>) -> Self::Error;

    /// Returns the name that the document has for a component or alternative.
    fn name_of<'s>(&self, shape: &'s Shape, field: FieldId) -> &'s str {
        shape.name(shape.field(field).name)
    }

    /// Returns whether unknown components are skipped in every type, not only in extensible ones.
    fn ignores_unknown(&self) -> bool {
        false
    }

    /// Returns whether components of a SEQUENCE must come in the order of the type.
    fn is_ordered(&self) -> bool {
        false
    }

    /// Returns whether the tape receives absent components with a DEFAULT.
    fn fills_defaults(&self) -> bool {
        false
    }

    /// Finds the components of a SEQUENCE or SET, without reading their values.
    ///
    /// # Errors
    /// There is another value, or one of its names is a fault.
    fn components(&self, at: &Self::At, found: &mut Found<'_, '_, Self>) -> Result<(), Self::Error>;

    /// Finds the elements of a SEQUENCE OF or SET OF.
    ///
    /// # Errors
    /// There is another value.
    fn elements(&self, at: &Self::At, field: FieldId, node: NodeId) -> Result<Self::Elements, Self::Error>;

    /// Returns the next element.
    ///
    /// # Errors
    /// There is no element, and the list does not end.
    fn next_element(&self, elements: &mut Self::Elements) -> Result<Option<Self::At>, Self::Error>;

    /// Finds the alternative of a CHOICE.
    ///
    /// # Errors
    /// There is another value.
    fn alternative(
        &self,
        at: &Self::At,
        field: FieldId,
        node: NodeId,
    ) -> Result<Alternative<Self>, Self::Error>;

    /// Finds the value in an open type. `selected` is the type that the keys in the values around select.
    ///
    /// # Errors
    /// There is another value, or the name of a type that is not known.
    fn content(
        &self,
        at: &Self::At,
        open: NodeId,
        selected: Option<NodeId>,
    ) -> Result<Content<Self>, Self::Error>;

    /// Finds the value in a string with CONTAINING `inner`.
    ///
    /// # Errors
    /// There is another value.
    fn contained(&self, at: &Self::At, node: NodeId, inner: NodeId) -> Result<Content<Self>, Self::Error>;

    /// Reads a primitive value, or the encoding that an open type has.
    ///
    /// # Errors
    /// There is another value.
    fn leaf<'v>(
        &'v self,
        at: &'v Self::At,
        field: FieldId,
        node: NodeId,
    ) -> Result<Primitive<'v>, Self::Error>;

    /// Puts extension additions that the type does not know onto the tape.
    ///
    /// # Errors
    /// There is another value.
    fn unknown(&self, _at: &Self::At, _tape: &mut Tape) -> Result<(), Self::Error> {
        Ok(())
    }

    /// Returns the range of a value in the text, with the name in front of it and what belongs to it behind. By default a
    /// value has none.
    fn range(&self, _at: &Self::At) -> Option<TextRange> {
        None
    }

    /// Returns whether it is worth while to read a value as this alternative of a CHOICE whose text does not name it.
    ///
    /// # Errors
    /// The document has been tried too often.
    fn may_be(&self, _at: &Self::At, _alternative: FieldId) -> Result<bool, Self::Error> {
        Ok(true)
    }
}

/// The alternative of a CHOICE.
#[derive(Debug)]
pub enum Alternative<S: Source> {
    /// The name of an alternative, its place, and the value.
    Named(S::Name, S::At, S::At),
    /// An alternative, and the value.
    Known(FieldId, S::At),
    /// An extension addition that the type does not know.
    Unknown(S::At),
    /// A value without a name: the first alternative that it is a value of.
    Any(S::At),
}

/// The value in an open type or in a string with CONTAINING.
#[derive(Debug)]
pub enum Content<S: Source> {
    /// A value of a type, and its step in paths.
    Value(NodeId, S::At, Option<S::Name>),
    /// A value of a type, or if it is none, an encoding.
    Either(NodeId, S::At),
    /// A complete encoding, or the octets or bits of the string: a leaf.
    Encoding(S::At),
}

/// A primitive value.
#[derive(Clone, Debug)]
pub enum Primitive<'a> {
    /// Contents octets.
    Contents(Cow<'a, [u8]>),
    /// A BOOLEAN, INTEGER or ENUMERATED.
    Int(i64),
    /// An item of an ENUMERATED that the type does not know, by its number among the additions.
    Addition(u32),
    /// Contents octets that are kept although they are not of the type ([`Sink::marked`]).
    Marked(Cow<'a, [u8]>, ErrorKind),
}

impl Primitive<'_> {
    /// Puts the value onto a tape.
    #[inline]
    pub fn put(&self, field: FieldId, node: NodeId, tape: &mut Tape) {
        match self {
            Self::Contents(contents) => tape.leaf(field, node, Leaf::Made(contents)),
            Self::Int(number) => tape.leaf(field, node, Leaf::Int(*number)),
            Self::Addition(number) => tape.leaf(field, node, Leaf::Addition(*number)),
            Self::Marked(contents, kind) => {
                let marked = Marked { error: Error::new(*kind, 0), offset: 0 };
                tape.marked(field, node, Leaf::Made(contents), &marked);
            }
        }
    }

    /// Returns the key that the value is, for a table's rows.
    pub(crate) fn key(&self, kind: Kind) -> Option<Key> {
        match self {
            Self::Contents(contents) | Self::Marked(contents, _) => crate::contents::key_of(kind, contents),
            Self::Int(number) => Some(Key::Int(*number)),
            Self::Addition(_) => None,
        }
    }
}

impl<'a, T: Into<Cow<'a, [u8]>>> From<T> for Primitive<'a> {
    #[inline]
    fn from(contents: T) -> Self {
        Self::Contents(contents.into())
    }
}

/// What the driver finds wrong with a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault<'a> {
    /// A name that no component has.
    NoComponent(&'a str),
    /// A component that was there before.
    Twice(&'a str),
    /// A component of a SEQUENCE after one that comes later in the type.
    OutOfOrder(&'a str),
    /// A mandatory component that is absent.
    Missing,
    /// A name that no alternative has.
    NoAlternative(&'a str),
    /// A value that no alternative has.
    OfNoAlternative,
    /// A name that no type in this open type has.
    NoType(&'a str),
    /// A list whose type has no element.
    NoElement,
    /// Values inside one another, more than the limit.
    TooDeep,
}

impl Fault<'_> {
    /// Makes the error of a value in memory.
    #[cold]
    pub fn to_error(self) -> Error {
        let (kind, detail) = match self {
            Self::Twice(name) => (ErrorKind::DuplicateComponent, cut(name)),
            Self::TooDeep => (ErrorKind::DepthLimit, String::new()),
            _ => (ErrorKind::ValueMismatch, self.to_string()),
        };
        Error::new(kind, 0).with_detail(detail)
    }
}

impl fmt::Display for Fault<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoComponent(name) => write!(f, "no component `{}` in this type", cut(name)),
            Self::Twice(name) => write!(f, "`{}` is there twice", cut(name)),
            Self::OutOfOrder(name) => write!(f, "`{}` is not at its place in the SEQUENCE", cut(name)),
            Self::Missing => f.write_str("this mandatory component is missing"),
            Self::NoAlternative(name) => write!(f, "no alternative `{}` in this CHOICE", cut(name)),
            Self::OfNoAlternative => f.write_str("this is a value of no alternative"),
            Self::NoType(name) => write!(f, "no type `{}` is known here", cut(name)),
            Self::NoElement => f.write_str("the type of the elements is not known"),
            Self::TooDeep => f.write_str(TOO_DEEP),
        }
    }
}

/// An error that collects the path to its value, the innermost step first.
pub trait InPath: Sized {
    /// Adds the name of the value around which the error was found.
    #[must_use]
    fn inside(self, name: &str) -> Self;

    /// Adds the position in a list.
    #[must_use]
    fn inside_element(self, index: usize) -> Self;
}
