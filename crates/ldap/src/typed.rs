//! Entries as structs, by serde.

use std::fmt;

use serde::de::value::BorrowedStrDeserializer;
use serde::de::{self, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Visitor};

use crate::error::{Error, ErrorKind, Result};
use crate::proto::Entry;

/// Makes a struct of an entry. A field has the value of the attribute of its name, without regard to case: a list has all
/// values, anything else the only one. `dn` is the name of the entry. Booleans are `TRUE` and `FALSE` (RFC 4517 3.3.3),
/// numbers decimal digits, octets anything that takes bytes; what is absent is for `Option` or `#[serde(default)]`.
///
/// # Errors
/// A field has no attribute, an attribute several values for a field of one, or a value is not of the field's type. The
/// error names the entry and the attribute.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// # use tercet_ldap::directory::Directory;
/// # use tercet_ldap::{Client, Search};
/// #[derive(serde::Deserialize)]
/// struct Person {
///     dn: String,
///     cn: String,
///     #[serde(default)]
///     mail: Vec<String>,
///     #[serde(rename = "uidNumber")]
///     number: Option<u32>,
/// }
///
/// # let directory = Directory::new();
/// # directory.load("dn: uid=ada,o=test\nobjectClass: person\ncn: Ada\nuidNumber: 1815\n".as_bytes())?;
/// # let server = directory.listen("127.0.0.1:0").await?;
/// # let client = Client::connect(&server.url()).await?;
/// let (entries, _) = client.search_all(Search::new("uid=ada,o=test")).await?;
/// let ada: Person = tercet_ldap::from_entry(&entries[0])?;
/// assert_eq!((ada.dn.as_str(), ada.cn.as_str(), ada.number), ("uid=ada,o=test", "Ada", Some(1815)));
/// assert!(ada.mail.is_empty());
/// # Ok::<(), tercet_ldap::Error>(())
/// # }).unwrap();
/// ```
pub fn from_entry<'de, T: de::Deserialize<'de>>(entry: &'de Entry) -> Result<T> {
    T::deserialize(Source(entry))
        .map_err(|fault| Error::new(ErrorKind::Usage, format!("{}: {fault}", entry.dn())))
}

/// Why an entry is not of a type.
#[derive(Debug)]
struct Fault(String);

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Fault {}

impl de::Error for Fault {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

struct Source<'de>(&'de Entry);

impl<'de> Deserializer<'de> for Source<'de> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_map(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let attributes = self.0.attributes().filter_map(|attribute| {
            let name = std::str::from_utf8(attribute.description()).ok()?;
            Some((name, name, attribute.values().collect()))
        });
        let dn = [("dn", "dn", vec![self.0.dn_octets()])];
        visitor.visit_map(Fields {
            fields: dn.into_iter().chain(attributes).collect::<Vec<_>>().into_iter(),
            value: None,
        })
    }

    /// The names of the fields take the place of those that the server spells.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let found = fields.iter().filter_map(|field| {
            if field.eq_ignore_ascii_case("dn") {
                return Some((*field, *field, vec![self.0.dn_octets()]));
            }
            let octets = field.as_bytes();
            let attribute =
                self.0.attributes().find(|attribute| attribute.description().eq_ignore_ascii_case(octets))?;
            Some((*field, *field, attribute.values().collect()))
        });
        visitor.visit_map(Fields { fields: found.collect::<Vec<_>>().into_iter(), value: None })
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct enum identifier ignored_any
    }
}

/// A field, the attribute for it, its values.
type Field<'de> = (&'de str, &'de str, Vec<&'de [u8]>);

struct Fields<'de> {
    fields: std::vec::IntoIter<Field<'de>>,
    value: Option<Values<'de>>,
}

impl<'de> MapAccess<'de> for Fields<'de> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Fault> {
        let Some((field, attribute, values)) = self.fields.next() else { return Ok(None) };
        self.value = Some(Values { attribute, values });
        seed.deserialize(BorrowedStrDeserializer::new(field)).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Fault> {
        let values = self.value.take().ok_or_else(|| de::Error::custom("a value without its key"))?;
        let attribute = values.attribute;
        seed.deserialize(values).map_err(|Fault(message)| Fault(format!("{attribute}: {message}")))
    }
}

/// The values of an attribute.
struct Values<'de> {
    attribute: &'de str,
    values: Vec<&'de [u8]>,
}

impl<'de> Values<'de> {
    fn only(&self) -> Result<&'de [u8], Fault> {
        match self.values[..] {
            [value] => Ok(value),
            [] => Err(de::Error::custom("no value")),
            _ => Err(de::Error::custom(format_args!("{} values for a field of one", self.values.len()))),
        }
    }

    fn text(&self) -> Result<&'de str, Fault> {
        std::str::from_utf8(self.only()?).map_err(|_| de::Error::custom("a value that is not UTF-8"))
    }

    fn number<N: std::str::FromStr>(&self) -> Result<N, Fault> {
        let text = self.text()?;
        text.parse().map_err(|_| de::Error::custom(format_args!("{text:.40?} is not a number of this type")))
    }
}

macro_rules! numbers {
    ($($method:ident $visit:ident;)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
            visitor.$visit(self.number()?)
        }
    )*};
}

impl<'de> Deserializer<'de> for Values<'de> {
    type Error = Fault;

    /// One value as it looks best; several as a list.
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.values[..] {
            [value] => match std::str::from_utf8(value) {
                Ok(text) => visitor.visit_borrowed_str(text),
                Err(_) => visitor.visit_borrowed_bytes(value),
            },
            _ => self.deserialize_seq(visitor),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.text()? {
            text if text.eq_ignore_ascii_case("TRUE") => visitor.visit_bool(true),
            text if text.eq_ignore_ascii_case("FALSE") => visitor.visit_bool(false),
            text => Err(de::Error::custom(format_args!("{text:.40?} is neither TRUE nor FALSE"))),
        }
    }

    numbers! {
        deserialize_i8 visit_i8;
        deserialize_i16 visit_i16;
        deserialize_i32 visit_i32;
        deserialize_i64 visit_i64;
        deserialize_i128 visit_i128;
        deserialize_u8 visit_u8;
        deserialize_u16 visit_u16;
        deserialize_u32 visit_u32;
        deserialize_u64 visit_u64;
        deserialize_u128 visit_u128;
        deserialize_f32 visit_f32;
        deserialize_f64 visit_f64;
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_borrowed_str(self.text()?)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_borrowed_str(self.text()?)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_borrowed_bytes(self.only()?)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_borrowed_bytes(self.only()?)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        if self.values.is_empty() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_seq(List { attribute: self.attribute, values: self.values.into_iter() })
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_enum(self.text()?.into_deserializer())
    }

    serde::forward_to_deserialize_any! {
        char unit unit_struct tuple tuple_struct map struct identifier ignored_any
    }
}

/// The values one by one.
struct List<'de> {
    attribute: &'de str,
    values: std::vec::IntoIter<&'de [u8]>,
}

impl<'de> SeqAccess<'de> for List<'de> {
    type Error = Fault;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Fault> {
        let Some(value) = self.values.next() else { return Ok(None) };
        seed.deserialize(Values { attribute: self.attribute, values: vec![value] }).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.values.len())
    }
}
