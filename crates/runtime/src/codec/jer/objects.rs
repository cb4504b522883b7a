//! SEQUENCE, SET, CHOICE, ENUMERATED and open types.

use super::{As, Form, Jer, Mismatch, Plain, Read, Said, Tree, strings};
use crate::codec::{Key, UnknownAlternative};
use crate::types::{Integer, Octets};
use crate::{ErrorKind, Limits};
use alloc::boxed::Box;
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;
use serde_core::Serializer;
use serde_core::ser::{Error, Serialize, SerializeMap};

/// SEQUENCE and SET (X.697 clauses 27 and 29) on the way out: an object.
#[derive(Debug)]
pub struct Object<S: Serializer>(S::SerializeMap, Levels);

/// Begins an object.
///
/// # Errors
/// Those of the serializer.
pub fn object<S: Serializer>(s: S, levels: Levels) -> Result<Object<S>, S::Error> {
    let levels = levels.inside()?;
    Ok(Object(s.serialize_map(None)?, levels))
}

impl<S: Serializer> Object<S> {
    /// A component that is there.
    ///
    /// # Errors
    /// Those of the serializer, or the value has no form.
    pub fn put<T: Jer>(&mut self, name: &'static str, value: &T) -> Result<(), S::Error> {
        self.put_as::<Plain, T>(name, value)
    }

    /// The same in a form.
    ///
    /// # Errors
    /// As [`Object::put`].
    pub fn put_as<F: Form<T>, T>(&mut self, name: &'static str, value: &T) -> Result<(), S::Error> {
        self.0.serialize_entry(name, &As::<T, F>::new(value, self.1))
    }

    /// Ends it.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn end(self) -> Said<S> {
        self.0.end()
    }
}

/// SEQUENCE and SET on the way in: the values of the components, by their numbers.
#[derive(Debug)]
pub struct Members<'t, 'de> {
    names: &'static [&'static str],
    values: Vec<Option<&'t Tree<'de>>>,
}

impl<'t, 'de> Members<'t, 'de> {
    /// The members of an object: in any order, each once. What later versions add is passed over, and so is `"..."`, where
    /// the engine has what it did not know: its encoding does not tell by which rules.
    ///
    /// # Errors
    /// This is no object, or has members that the type does not know or has twice.
    pub fn of(tree: &'t Tree<'de>, names: &'static [&'static str], extensible: bool) -> Read<Self> {
        let Tree::Object(members) = tree else { return Err(Mismatch::new("an object expected")) };
        let mut values = vec![None; names.len()];
        for (name, value) in members {
            match names.iter().position(|known| known == name).and_then(|at| values.get_mut(at)) {
                Some(slot) if slot.is_none() => *slot = Some(value),
                Some(_) => return Err(Mismatch::new(format!("`{name:.40}` is there twice"))),
                None if extensible || name == "..." => {}
                None => return Err(Mismatch::new(format!("no component `{name:.40}` in this type"))),
            }
        }
        Ok(Self { names, values })
    }

    /// A component that has to be there.
    ///
    /// # Errors
    /// It is not, or is no value of its type.
    pub fn get<T: Jer>(&self, at: usize, keys: &Keys<'_>) -> Read<T> {
        self.get_as::<Plain, T>(at, keys)
    }

    /// The same in a form.
    ///
    /// # Errors
    /// As [`Members::get`].
    pub fn get_as<F: Form<T>, T>(&self, at: usize, keys: &Keys<'_>) -> Read<T> {
        let missing = || Mismatch::new("this mandatory component is missing").inside(self.name(at));
        self.find_as::<F, T>(at, keys)?.ok_or_else(missing)
    }

    /// A component that may be absent.
    ///
    /// # Errors
    /// It is no value of its type.
    pub fn find<T: Jer>(&self, at: usize, keys: &Keys<'_>) -> Read<Option<T>> {
        self.find_as::<Plain, T>(at, keys)
    }

    /// The same in a form.
    ///
    /// # Errors
    /// As [`Members::find`].
    pub fn find_as<F: Form<T>, T>(&self, at: usize, keys: &Keys<'_>) -> Read<Option<T>> {
        let value = self.values.get(at).copied().flatten();
        value.map(|value| F::read(value, keys).map_err(|error| error.inside(self.name(at)))).transpose()
    }

    fn name(&self, at: usize) -> &'static str {
        self.names.get(at).copied().unwrap_or_default()
    }
}

/// How many values may still begin inside one another ([`crate::Limits::depth`]).
#[derive(Clone, Copy, Debug)]
pub struct Levels(u16);

impl Levels {
    /// All that the limit allows.
    pub const ALL: Self = Self(Limits::DEFAULT.depth);
    /// For what has no values inside.
    pub(super) const NONE: Self = Self(0);

    /// What is left inside of a value.
    ///
    /// # Errors
    /// Nothing was left.
    pub fn inside<E: Error>(self) -> Result<Self, E> {
        self.0.checked_sub(1).map(Self).ok_or_else(|| E::custom(ErrorKind::DepthLimit.message()))
    }
}

/// What a value is read with: the values around that select rows of tables, and the levels that are left.
#[derive(Clone, Copy, Debug)]
pub struct Keys<'k>(Option<(u16, Key<'k>, &'k Self)>, u16);

impl<'k> Keys<'k> {
    /// None of them, and all levels.
    pub const NONE: Self = Self(None, Limits::DEFAULT.depth);

    /// These, and one more.
    #[must_use]
    pub const fn with(&'k self, register: u16, key: Key<'k>) -> Self {
        Self(Some((register, key, self)), self.1)
    }

    /// The same inside of a value.
    ///
    /// # Errors
    /// No level was left.
    pub fn inside(&self) -> Read<Self> {
        let levels = self.1.checked_sub(1).ok_or_else(too_deep)?;
        Ok(Self(self.0, levels))
    }

    /// The innermost value of a register.
    #[must_use]
    pub fn of(&self, register: u16) -> Key<'k> {
        let mut at = self;
        while let Some((known, key, around)) = &at.0 {
            if *known == register {
                return *key;
            }
            at = around;
        }
        Key::None
    }
}

/// CHOICE (X.697 clause 31): an object with one member.
///
/// # Errors
/// Those of the serializer, or the value has no form.
pub fn chosen<F: Form<T>, T, S: Serializer>(s: S, levels: Levels, name: &'static str, value: &T) -> Said<S> {
    let levels = levels.inside()?;
    let mut object = s.serialize_map(Some(1))?;
    object.serialize_entry(name, &As::<T, F>::new(value, levels))?;
    object.end()
}

/// The alternative of a CHOICE.
///
/// # Errors
/// It is no value of its type.
pub fn alternative<F: Form<T>, T>(name: &'static str, value: &Tree<'_>, keys: &Keys<'_>) -> Read<T> {
    F::read(value, keys).map_err(|error| error.inside(name))
}

/// An alternative of a later version: `{"...": [encoding]}`, the encoding in hexadecimal, in PER with its number.
///
/// # Errors
/// Those of the serializer.
pub fn unknown<S: Serializer>(s: S, levels: Levels, value: &UnknownAlternative<'_>) -> Said<S> {
    levels.inside::<S::Error>()?;
    let mut object = s.serialize_map(Some(1))?;
    object.serialize_entry("...", &[Unknown(value)])?;
    object.end()
}

struct Unknown<'v>(&'v UnknownAlternative<'v>);

impl Serialize for Unknown<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Said<S> {
        let Some(addition) = self.0.addition else { return strings::write_hex(&self.0.octets, s) };
        let mut object = s.serialize_map(Some(2))?;
        object.serialize_entry("addition", &addition)?;
        object.serialize_entry("value", &As::<_, Plain>::new(&self.0.octets, Levels::NONE))?;
        object.end()
    }
}

impl Tree<'_> {
    /// The one member of a CHOICE.
    ///
    /// # Errors
    /// This is no object, or has none or several.
    pub fn chosen(&self) -> Read<(&str, &Self)> {
        match self {
            Self::Object(members) => match &members[..] {
                [(name, value)] => Ok((name, value)),
                _ => Err(Mismatch::new("a CHOICE has one alternative")),
            },
            _ => Err(Mismatch::new("an object with one member, the chosen alternative, expected")),
        }
    }

    /// What stands in `"..."` of a CHOICE.
    ///
    /// # Errors
    /// This is no list of one encoding.
    pub fn unknown(&self) -> Read<Box<UnknownAlternative<'static>>> {
        let encoding = |tree: &Self| strings::read_hex(tree).ok().map(Octets::from);
        let one = match self {
            Self::List(list) => match &list[..] {
                [one @ Self::Object(_)] => one.only(["addition", "value"]).and_then(|[addition, value]| {
                    let addition = u32::try_from(&Integer::copied(&addition.whole()?)).ok()?;
                    Some(UnknownAlternative { addition: Some(addition), octets: encoding(value)? })
                }),
                [one] => encoding(one).map(|octets| UnknownAlternative { addition: None, octets }),
                _ => None,
            },
            _ => None,
        };
        one.map(Box::new)
            .ok_or_else(|| Mismatch::new("a complete encoding in hexadecimal expected").inside("..."))
    }

    /// The item of an ENUMERATED.
    ///
    /// # Errors
    /// This is none.
    pub fn item(&self) -> Read<Item<'_>> {
        let expected = || Mismatch::new("the name of an item expected");
        let number = |tree: &Self| tree.whole().map(|octets| Integer::copied(&octets));
        match self {
            Self::Text(name) => Ok(Item::Name(name)),
            Self::Object(_) => {
                let addition = self.only(["addition"]).and_then(|[addition]| number(addition));
                let addition = addition.and_then(|addition| u32::try_from(&addition).ok());
                addition.map(Item::Addition).ok_or_else(expected)
            }
            _ => number(self).and_then(|n| i64::try_from(&n).ok()).map(Item::Number).ok_or_else(expected),
        }
    }
}

/// An item of an ENUMERATED (X.697 clause 22) as it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item<'t> {
    /// Its name.
    Name(&'t str),
    /// Its number: one that has no name yet.
    Number(i64),
    /// Its number among the additions, from PER.
    Addition(u32),
}

/// The name of an item of an ENUMERATED.
///
/// # Errors
/// Those of the serializer.
pub fn item<S: Serializer>(s: S, name: &'static str) -> Said<S> {
    s.serialize_str(name)
}

/// An item of a later version, of which PER tells its number among the additions alone.
///
/// # Errors
/// Those of the serializer.
pub fn addition<S: Serializer>(s: S, number: u32) -> Said<S> {
    let mut object = s.serialize_map(Some(1))?;
    object.serialize_entry("addition", &number)?;
    object.end()
}

/// The content of an open type whose row is known; nothing if it is an encoding in hexadecimal, as content that could not be
/// decoded is written.
///
/// # Errors
/// The content is no value of the row's type, or too deep.
pub fn content<F: Form<T>, T>(tree: &Tree<'_>, keys: &Keys<'_>) -> Read<Option<T>> {
    match F::read(tree, &Keys(None, keys.1.saturating_sub(1))) {
        Ok(_) if keys.1 == 0 => Err(too_deep()),
        Ok(value) => Ok(Some(value)),
        Err(_) if matches!(tree, Tree::Text(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

fn too_deep() -> Mismatch {
    Mismatch::new(ErrorKind::DepthLimit.message())
}
