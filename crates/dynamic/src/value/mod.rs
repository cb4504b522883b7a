//! Values as a tree that can be looked at, changed and compared; for bulk work there is the [`Tape`](crate::Tape).
//!
//! ```
//! use tercet_dynamic::value::Value;
//! let mut call = Value::Sequence(vec![
//!     ("duration".into(), Value::Integer(31)),
//!     ("party".into(), Value::Choice("number".into(), Box::new(Value::OctetString(vec![0x11, 0x26])))),
//! ]);
//! assert_eq!(call.to_string(), "{duration 31, party number : '1126'H}");
//! if let Some(duration) = call.get_mut("duration") {
//!     *duration = Value::Integer(32);
//! }
//! assert_eq!(call.get("duration").and_then(Value::as_i64), Some(32));
//! ```

mod build;
mod equal;
mod notation;
mod opened;
mod put;

pub use build::Builder;
pub use notation::Annotated;

use num_bigint::BigInt;
use tercet_plan::NodeId;
use tercet_runtime::types::{Oid, RelativeOid};

/// An ASN.1 value, in the words of X.680.
///
/// Two are equal if they are the same abstract value: the order of the components of a SET and of the elements of a
/// SET OF does not matter, nor does the way that a REAL was encoded. A component that is absent is not equal to one that
/// has its default.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Value {
    /// BOOLEAN.
    Boolean(bool),
    /// INTEGER, if it fits.
    Integer(i64),
    /// INTEGER or ENUMERATED beyond 64 bits.
    BigInteger(BigInt),
    /// ENUMERATED: the number, and the name if the item has one. For encoding the number counts, or the name if
    /// there is one.
    Enumerated(i64, Option<String>),
    /// ENUMERATED in PER: an item of a later version of the type, by its number among the additions.
    Addition(u32),
    /// REAL: base 2, if an `f64` has it exactly; the special values.
    Real(f64),
    /// Any other REAL: its contents octets in the normal form (X.690 11.3).
    ExactReal(Vec<u8>),
    /// BIT STRING.
    BitString(Bits),
    /// OCTET STRING.
    OctetString(Vec<u8>),
    /// OCTET STRING or BIT STRING whose content, told by CONTAINING, is decoded.
    Containing(Box<Self>),
    /// NULL.
    Null,
    /// OBJECT IDENTIFIER.
    ObjectIdentifier(Oid),
    /// RELATIVE-OID.
    RelativeOid(RelativeOid),
    /// A character string, OID-IRI or RELATIVE-OID-IRI.
    Text(String),
    /// Any of the time types, as in its value notation.
    Time(String),
    /// SEQUENCE: the components that are there, by name.
    Sequence(Vec<(String, Self)>),
    /// SET.
    Set(Vec<(String, Self)>),
    /// SEQUENCE OF.
    SequenceOf(Vec<Self>),
    /// SET OF.
    SetOf(Vec<Self>),
    /// CHOICE: the name of the alternative, and its value.
    Choice(String, Box<Self>),
    /// An open type's content.
    Open(Content),
    /// An open type whose content is not known: a complete encoding.
    Encoding(Vec<u8>),
    /// An extension addition that the schema does not know; a component or alternative with the name `...`.
    Unknown {
        /// Which of the additions it is, from 0; `u32::MAX` in rules that tell them by their tags.
        addition: u32,
        /// Its complete encoding.
        encoding: Vec<u8>,
    },
    /// Octets that are no value of their type; decoders that check their input never give any.
    Raw(Vec<u8>),
}

/// What is inside an open type.
#[derive(Clone, Debug)]
pub struct Content {
    /// The type's name as `Module.Type`; may be empty if `node` is there.
    pub type_name: String,
    /// The type in the shape that the value was read with.
    pub node: Option<NodeId>,
    /// The value.
    pub value: Box<Value>,
}

/// The bits of a BIT STRING.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Bits {
    octets: Vec<u8>,
    length: usize,
}

impl Bits {
    /// So many bits from the front of octets; fewer if there are no more. The other bits are cleared.
    pub fn new(octets: impl Into<Vec<u8>>, length: usize) -> Self {
        let mut octets = octets.into();
        let length = length.min(octets.len().saturating_mul(8));
        octets.truncate(length.div_ceil(8));
        let unused = octets.len() * 8 - length;
        if let Some(last) = octets.last_mut() {
            *last = *last >> unused << unused;
        }
        Self { octets, length }
    }

    /// The bits, the first in the highest place of the first octet.
    pub fn octets(&self) -> &[u8] {
        &self.octets
    }

    /// Their number.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The bit at an index; nothing behind the last.
    pub fn get(&self, index: usize) -> Option<bool> {
        let octet = self.octets.get(index / 8).filter(|_| index < self.length)?;
        Some(octet >> (7 - index % 8) & 1 == 1)
    }
}

impl Value {
    /// The component with a name, or the value of the alternative with that name.
    pub fn get(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Sequence(members) | Self::Set(members) => {
                members.iter().find(|(n, _)| n == name).map(|(_, value)| value)
            }
            Self::Choice(alternative, value) if alternative == name => Some(value),
            Self::Containing(value) | Self::Open(Content { value, .. }) => value.get(name),
            _ => None,
        }
    }

    /// As [`Value::get`], to change it.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Self> {
        match self {
            Self::Sequence(members) | Self::Set(members) => {
                members.iter_mut().find(|(n, _)| n == name).map(|(_, value)| value)
            }
            Self::Choice(alternative, value) if alternative == name => Some(value),
            Self::Containing(value) | Self::Open(Content { value, .. }) => value.get_mut(name),
            _ => None,
        }
    }

    /// The elements of a SEQUENCE OF or SET OF.
    pub fn elements(&self) -> Option<&[Self]> {
        match self {
            Self::SequenceOf(elements) | Self::SetOf(elements) => Some(elements),
            _ => None,
        }
    }

    /// The components of a SEQUENCE or SET.
    pub fn components(&self) -> Option<&[(String, Self)]> {
        match self {
            Self::Sequence(members) | Self::Set(members) => Some(members),
            _ => None,
        }
    }

    /// The alternative of a CHOICE.
    pub fn alternative(&self) -> Option<(&str, &Self)> {
        match self {
            Self::Choice(name, value) => Some((name, value)),
            _ => None,
        }
    }

    /// The number of an INTEGER or ENUMERATED.
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Self::Integer(number) | Self::Enumerated(number, _) => Some(*number),
            _ => None,
        }
    }

    /// The characters of a string or time, the name of an enumeration item.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Text(text) | Self::Time(text) | Self::Enumerated(_, Some(text)) => Some(text),
            _ => None,
        }
    }

    /// The octets of an OCTET STRING.
    pub fn as_octets(&self) -> Option<&[u8]> {
        match self {
            Self::OctetString(octets) => Some(octets),
            _ => None,
        }
    }
}
