//! What was read, before its type is known.

use crate::codec::Path;
use crate::types::decimal::parse_whole;
use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use serde_core::de::{
    self, DeserializeSeed, Deserializer, EnumAccess, Error as _, MapAccess, SeqAccess, Visitor,
};

/// A value of a self-describing format.
#[derive(Clone, Debug, PartialEq)]
pub enum Tree<'de> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Boolean(bool),
    /// A number without fraction.
    Integer(i128),
    /// Any other number of a format that has no digits of it.
    Real(f64),
    /// Any other number.
    Digits(Cow<'de, str>),
    /// Text.
    Text(Cow<'de, str>),
    /// An array.
    List(Vec<Self>),
    /// An object: names and values in order.
    Object(Vec<(Cow<'de, str>, Self)>),
}

/// Why a value is none of a type, and where in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    path: Path,
    said: Cow<'static, str>,
}

/// What `serde_json` calls a number whose digits it hands over as they are.
pub(super) const DIGITS: &str = "$serde_json::private::Number";

/// Levels inside one another, as the engine takes them of JSON.
const DEPTH: u16 = 128;

impl Mismatch {
    /// What was expected.
    #[cold]
    pub fn new(said: impl Into<Cow<'static, str>>) -> Self {
        Self { path: Path::NONE, said: said.into() }
    }

    /// What a primitive says.
    #[cold]
    pub(super) fn of(error: crate::Error) -> Self {
        Self::new(error.kind().message())
    }

    /// The same in a component.
    #[cold]
    #[must_use]
    pub fn inside(mut self, name: &'static str) -> Self {
        self.path.component(name);
        self
    }

    /// The same in an element of a list.
    #[cold]
    #[must_use]
    pub(super) fn at(mut self, number: usize) -> Self {
        self.path.element(number);
        self
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() { f.write_str(&self.said) } else { write!(f, "{}: {}", self.path, self.said) }
    }
}

impl core::error::Error for Mismatch {}

impl Tree<'_> {
    /// The text.
    pub(super) fn text(&self, expected: &'static str) -> Result<&str, Mismatch> {
        match self {
            Self::Text(text) => Ok(text),
            _ => Err(Mismatch::new(expected)),
        }
    }

    /// The two's complement of an integer, if that is what it is: `1.0` and `1e2` are, 1.5 is none.
    pub(super) fn whole(&self) -> Option<Cow<'_, [u8]>> {
        match self {
            Self::Integer(number) => Some(Cow::Owned(number.to_be_bytes().to_vec())),
            Self::Digits(digits) => parse_whole(digits).map(Cow::Owned),
            // Beyond, digits are lost already.
            Self::Real(number) if number.abs() < 9e15 => parse_whole(&number.to_string()).map(Cow::Owned),
            _ => None,
        }
    }

    /// The digits of a number, where the format has them.
    pub(super) fn digits(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Integer(number) => Some(number.to_string().into()),
            Self::Digits(digits) => Some(Cow::Borrowed(digits)),
            _ => None,
        }
    }

    /// The value of a member.
    pub(super) fn member(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Object(members) => members.iter().find(|(known, _)| known == name).map(|(_, value)| value),
            _ => None,
        }
    }

    /// The values of these members, where there are no others.
    pub(super) fn only<const N: usize>(&self, names: [&str; N]) -> Option<[&Self; N]> {
        let Self::Object(members) = self else { return None };
        if members.len() != N {
            return None;
        }
        let mut found = [&Tree::Null; N];
        for (slot, name) in found.iter_mut().zip(names) {
            *slot = self.member(name)?;
        }
        Some(found)
    }
}

impl<'de> de::Deserialize<'de> for Tree<'de> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        Below(DEPTH).deserialize(d)
    }
}

/// A value with so many levels inside.
#[derive(Clone, Copy)]
struct Below(u16);

impl<'de> DeserializeSeed<'de> for Below {
    type Value = Tree<'de>;

    fn deserialize<D: Deserializer<'de>>(self, d: D) -> Result<Tree<'de>, D::Error> {
        d.deserialize_any(self)
    }
}

impl Below {
    fn inside<E: de::Error>(self) -> Result<Self, E> {
        self.0.checked_sub(1).map(Self).ok_or_else(|| E::custom(crate::ErrorKind::DepthLimit.message()))
    }
}

impl<'de> Visitor<'de> for Below {
    type Value = Tree<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value of JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Tree<'de>, E> {
        Ok(Tree::Boolean(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Tree<'de>, E> {
        Ok(Tree::Integer(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Tree<'de>, E> {
        Ok(Tree::Integer(value.into()))
    }

    fn visit_i128<E>(self, value: i128) -> Result<Tree<'de>, E> {
        Ok(Tree::Integer(value))
    }

    fn visit_u128<E>(self, value: u128) -> Result<Tree<'de>, E> {
        let digits = |_| Tree::Digits(value.to_string().into());
        Ok(i128::try_from(value).map_or_else(digits, Tree::Integer))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Tree<'de>, E> {
        Ok(Tree::Real(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Tree<'de>, E> {
        Ok(Tree::Text(value.to_string().into()))
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Tree<'de>, E> {
        Ok(Tree::Text(value.into()))
    }

    fn visit_string<E>(self, value: String) -> Result<Tree<'de>, E> {
        Ok(Tree::Text(value.into()))
    }

    fn visit_unit<E>(self) -> Result<Tree<'de>, E> {
        Ok(Tree::Null)
    }

    fn visit_none<E>(self) -> Result<Tree<'de>, E> {
        Ok(Tree::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, d: D) -> Result<Tree<'de>, D::Error> {
        self.inside()?.deserialize(d)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, d: D) -> Result<Tree<'de>, D::Error> {
        self.inside()?.deserialize(d)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Tree<'de>, A::Error> {
        let inside = self.inside()?;
        let mut elements = Vec::new();
        while let Some(element) = seq.next_element_seed(inside)? {
            elements.push(element);
        }
        Ok(Tree::List(elements))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tree<'de>, A::Error> {
        let inside = self.inside()?;
        let mut members = Vec::new();
        while let Some((name, value)) = map.next_entry_seed(inside, inside)? {
            let Tree::Text(name) = name else {
                return Err(A::Error::custom("the name of a member expected"));
            };
            members.push((name, value));
        }
        Ok(match &mut members[..] {
            [(name, Tree::Text(digits))] if name == DIGITS => Tree::Digits(core::mem::take(digits)),
            _ => Tree::Object(members),
        })
    }

    fn visit_enum<A: EnumAccess<'de>>(self, _: A) -> Result<Tree<'de>, A::Error> {
        Err(A::Error::custom("a value of JSON expected"))
    }
}
