//! Options by name: what a configuration file, a call from Python or a command line gives, read into typed groups.
//!
//! All of them share the names, the checks and the words of errors. They differ in how a name is spelled: [`Names`].

use crate::SettingError;
use serde::Serialize;
use serde::de::value::SeqDeserializer;
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use std::borrow::Cow;
use std::fmt;
use tercet_suggest::{unknown, with_known};

/// How the names of options are spelled where they are given. Groups have them in the form of [`Names::Key`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Names {
    /// `--max-rejects`, on a command line.
    Option,
    /// `max-rejects`, in a configuration file.
    #[default]
    Key,
    /// `max_rejects`, in a call from Python.
    Keyword,
}

impl Names {
    /// Returns the spelling of a key.
    pub fn spell(self, key: &str) -> String {
        match self {
            Self::Option => format!("--{key}"),
            Self::Key => key.to_owned(),
            Self::Keyword => key.replace('-', "_"),
        }
    }

    /// Returns the key of a name in this spelling.
    fn key(self, name: &str) -> String {
        match self {
            Self::Option => name.trim_start_matches('-').to_owned(),
            Self::Key => name.to_owned(),
            Self::Keyword => name.replace('_', "-"),
        }
    }
}

/// The value of an option, before its type is known.
#[derive(Clone, Debug, PartialEq)]
pub enum Given {
    /// None at all: the default.
    Nothing,
    /// A truth value.
    Flag(bool),
    /// An integer.
    Number(i64),
    /// A number with a fraction.
    Share(f64),
    /// A text.
    Text(String),
    /// Several values.
    List(Vec<Self>),
    /// Names with a text each: the same as a list of `NAME=TEXT`.
    Pairs(Vec<(String, String)>),
}

impl Given {
    /// Converts a value of TOML.
    fn from_toml(value: toml::Value) -> Result<Self, OptionFault> {
        Ok(match value {
            toml::Value::String(text) => Self::Text(text),
            toml::Value::Integer(number) => Self::Number(number),
            toml::Value::Float(number) => Self::Share(number),
            toml::Value::Boolean(flag) => Self::Flag(flag),
            toml::Value::Array(values) => {
                Self::List(values.into_iter().map(Self::from_toml).collect::<Result<_, _>>()?)
            }
            toml::Value::Table(pairs) => {
                let pair = |(name, value)| match value {
                    toml::Value::String(text) => Ok((name, text)),
                    _ => Err(OptionFault::of_type(format!("a text expected for `{name}`"))),
                };
                Self::Pairs(pairs.into_iter().map(pair).collect::<Result<_, _>>()?)
            }
            toml::Value::Datetime(_) => return Err(OptionFault::of_type("no date expected".to_owned())),
        })
    }
}

/// What is wrong with the value of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionFaultKind {
    /// It is of another type, or the option does not exist.
    Type,
    /// The number is too large, or too small.
    Range,
    /// The value cannot be used.
    Value,
}

/// An option that cannot be used. The text names options as they are spelled where they were given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionFault {
    kind: OptionFaultKind,
    /// The option; none if the text names it, or it is about several.
    key: Option<&'static str>,
    text: String,
    /// Whether words in braces in the text are keys of options.
    has_keys: bool,
    names: Names,
}

impl OptionFault {
    /// A value that cannot be used.
    pub fn new(text: impl Into<String>) -> Self {
        let (key, names) = (None, Names::default());
        Self { kind: OptionFaultKind::Value, key, text: text.into(), has_keys: false, names }
    }

    /// A fault of the options whose keys stand in braces in the text, as `{max-rejects}`.
    pub fn about(text: impl Into<String>) -> Self {
        Self { has_keys: true, ..Self::new(text) }
    }

    fn of_type(text: String) -> Self {
        Self { kind: OptionFaultKind::Type, ..Self::new(text) }
    }

    /// Returns the fault with the option that it is about.
    pub fn at(self, key: &'static str) -> Self {
        Self { key: self.key.or(Some(key)), ..self }
    }

    /// Returns the fault with names in this spelling.
    #[must_use]
    pub fn spelled(self, names: Names) -> Self {
        Self { names, ..self }
    }

    /// Returns what is wrong.
    pub fn kind(&self) -> OptionFaultKind {
        self.kind
    }
}

impl fmt::Display for OptionFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(key) = self.key {
            write!(f, "{}: ", self.names.spell(key))?;
        }
        let mut rest = self.text.as_str();
        while self.has_keys
            && let Some((before, (key, after))) =
                rest.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?)))
        {
            write!(f, "{before}{}", self.names.spell(key))?;
            rest = after;
        }
        f.write_str(rest)
    }
}

impl std::error::Error for OptionFault {}

impl From<SettingError> for OptionFault {
    fn from(error: SettingError) -> Self {
        Self::new(error)
    }
}

impl From<String> for OptionFault {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

/// What is expected, in plain words.
fn expected(expected: &dyn de::Expected) -> Cow<'static, str> {
    let text = expected.to_string();
    Cow::Borrowed(match &*text {
        "a boolean" => "`true` or `false`",
        "a string" | "path string" => "a text",
        "a sequence" => "a list",
        "f64" | "u64" | "u32" | "u16" | "usize" | "i64" => "a number",
        "a nonzero u64" | "a nonzero usize" => "a number from 1",
        _ => return Cow::Owned(text),
    })
}

impl de::Error for OptionFault {
    fn custom<T: fmt::Display>(text: T) -> Self {
        Self::new(text.to_string())
    }

    fn invalid_type(found: de::Unexpected<'_>, wanted: &dyn de::Expected) -> Self {
        Self::of_type(format!("{} expected, not {}", expected(wanted), shown(found)))
    }

    fn invalid_value(found: de::Unexpected<'_>, wanted: &dyn de::Expected) -> Self {
        let text = format!("{} expected, not {}", expected(wanted), shown(found));
        let is_number = matches!(found, de::Unexpected::Signed(_) | de::Unexpected::Unsigned(_));
        let kind = if is_number { OptionFaultKind::Range } else { OptionFaultKind::Value };
        Self { kind, ..Self::new(text) }
    }

    fn unknown_variant(found: &str, known: &'static [&'static str]) -> Self {
        Self::new(with_known(&format!("unknown value `{found}`"), found, known.iter().copied()))
    }
}

fn shown(found: de::Unexpected<'_>) -> String {
    match found {
        de::Unexpected::Bool(flag) => format!("`{flag}`"),
        de::Unexpected::Signed(number) => format!("`{number}`"),
        de::Unexpected::Unsigned(number) => format!("`{number}`"),
        de::Unexpected::Float(number) => format!("`{number}`"),
        de::Unexpected::Str(text) => format!("`{text}`"),
        de::Unexpected::Seq => "a list".to_owned(),
        other => other.to_string(),
    }
}

impl<'de> IntoDeserializer<'de, OptionFault> for Given {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Given {
    type Error = OptionFault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, OptionFault> {
        match self {
            Self::Nothing => visitor.visit_unit(),
            Self::Flag(flag) => visitor.visit_bool(flag),
            Self::Number(number) => visitor.visit_i64(number),
            Self::Share(number) => visitor.visit_f64(number),
            Self::Text(text) => visitor.visit_string(text),
            list => list.deserialize_seq(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, OptionFault> {
        if self == Self::Nothing { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    /// A list of one value is the value itself, too.
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, OptionFault> {
        let values = match self {
            Self::List(values) => values,
            Self::Pairs(pairs) => {
                pairs.into_iter().map(|(name, text)| Self::Text(format!("{name}={text}"))).collect()
            }
            Self::Text(text) => vec![Self::Text(text)],
            Self::Nothing => Vec::new(),
            other => return other.deserialize_any(visitor),
        };
        visitor.visit_seq(SeqDeserializer::new(values.into_iter()))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, OptionFault> {
        match self {
            Self::Text(text) => text.into_deserializer().deserialize_enum(name, variants, visitor),
            other => other.deserialize_any(visitor),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, OptionFault> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        tuple tuple_struct map struct identifier ignored_any
    }
}

/// Options that have been given and are not read yet.
#[derive(Clone, Debug, Default)]
pub struct OptionSet {
    names: Names,
    /// The name as it was given, its key, and its value.
    given: Vec<(String, String, Given)>,
    known: Vec<&'static str>,
}

impl OptionSet {
    /// An empty set, whose options are given in a spelling.
    pub fn new(names: Names) -> Self {
        Self { names, ..Self::default() }
    }

    /// Reads the text of a configuration file: TOML, a line `KEY = VALUE` for each option.
    ///
    /// # Errors
    /// When the text is not TOML, with the line.
    pub fn from_toml(text: &str) -> Result<Self, OptionFault> {
        let table: toml::Table = text
            .parse()
            .map_err(|error: toml::de::Error| OptionFault::new(error.to_string().trim_end().to_owned()))?;
        Self::of_table(table)
    }

    /// Takes the options of a table.
    pub(super) fn of_table(table: toml::Table) -> Result<Self, OptionFault> {
        let mut set = Self::new(Names::Key);
        for (key, value) in table {
            let given = Given::from_toml(value)
                .map_err(|fault| OptionFault { text: format!("{key}: {}", fault.text), ..fault })?;
            set.given.push((key.clone(), key, given));
        }
        Ok(set)
    }

    /// Returns how the names of its options are spelled.
    pub fn names(&self) -> Names {
        self.names
    }

    /// Returns the keys of the groups that have been taken out.
    pub fn known(&self) -> &[&'static str] {
        &self.known
    }

    /// Adds an option, in place of one that was given before.
    pub fn insert(&mut self, name: &str, value: Given) {
        let key = self.names.key(name);
        self.remove(&key);
        self.given.push((name.to_owned(), key, value));
    }

    /// Returns the value of an option that is not read yet.
    pub fn get(&self, key: &str) -> Option<&Given> {
        self.given.iter().find(|(_, known, _)| known == key).map(|(.., value)| value)
    }

    /// Removes an option.
    pub fn remove(&mut self, key: &str) {
        self.given.retain(|(_, known, _)| known != key);
    }

    /// Adds options of a group, in place of those that were given before: only those whose key `is_given`.
    ///
    /// # Errors
    /// When a path is not UTF-8.
    pub fn overlay<T: Serialize>(
        &mut self,
        options: &T,
        is_given: impl Fn(&str) -> bool,
    ) -> Result<(), OptionFault> {
        for (key, value) in table(options)?.into_iter().filter(|(key, _)| is_given(key)) {
            self.insert(&key, Given::from_toml(value)?);
        }
        Ok(())
    }

    /// Takes the options of a group out; those that were not given have their defaults.
    ///
    /// # Errors
    /// When the value of one of them is wrong.
    pub fn take<T: DeserializeOwned>(&mut self) -> Result<T, OptionFault> {
        let names = self.names;
        T::deserialize(Group(self)).map_err(|fault| fault.spelled(names))
    }

    /// Ends the reading; `others` are names that were read elsewhere.
    ///
    /// # Errors
    /// When an option is left that no group has.
    pub fn finish(self, others: &[&str]) -> Result<(), OptionFault> {
        let Some((name, ..)) = self.given.first() else { return Ok(()) };
        let known: Vec<String> = self.known.iter().map(|key| self.names.spell(key)).collect();
        let known = known.iter().map(String::as_str).chain(others.iter().copied());
        Err(OptionFault::of_type(unknown("option", name, known)))
    }
}

/// Reads a group from the options that are its.
struct Group<'s>(&'s mut OptionSet);

impl<'de> Deserializer<'de> for Group<'_> {
    type Error = OptionFault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, OptionFault> {
        self.deserialize_struct("", &[], visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, OptionFault> {
        self.0.known.extend(fields);
        let mut members = Vec::new();
        for key in fields {
            if let Some(at) = self.0.given.iter().position(|(_, given, _)| given == key) {
                members.push((*key, self.0.given.remove(at).2));
            }
        }
        visitor.visit_map(Members { members: members.into_iter(), value: None })
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

struct Members {
    members: std::vec::IntoIter<(&'static str, Given)>,
    value: Option<(&'static str, Given)>,
}

impl<'de> MapAccess<'de> for Members {
    type Error = OptionFault;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, OptionFault> {
        let Some((key, value)) = self.members.next() else { return Ok(None) };
        self.value = Some((key, value));
        seed.deserialize(key.into_deserializer()).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, OptionFault> {
        let Some((key, value)) = self.value.take() else { return Err(de::Error::custom("no value")) };
        seed.deserialize(value).map_err(|fault| fault.at(key))
    }
}

/// Returns the options of a group by their keys; those that are absent are left out.
fn table<T: Serialize>(options: &T) -> Result<toml::Table, OptionFault> {
    toml::Table::try_from(options).map_err(|error| OptionFault::new(error.to_string()))
}

/// Returns the options of a group that do not have their defaults, by their keys.
///
/// # Errors
/// When a path is not UTF-8.
pub fn changed<T: Serialize + Default>(options: &T) -> Result<toml::Table, OptionFault> {
    let (mut table, usual) = (table(options)?, table(&T::default())?);
    table.retain(|key, value| usual.get(key) != Some(value));
    Ok(table)
}
