//! XML text: the XML encoding rules (X.693, 02/2021). Basic XER is the XML value notation of X.680:
//!
//! | type | content of its element | X.680 |
//! |---|---|---|
//! | BOOLEAN | `<true/>`, `<false/>` | 18 |
//! | INTEGER | `-5`; read also: the name of a number, `<low/>` | 19 |
//! | ENUMERATED | `<red/>`; a number for an item that the schema does not know | 20 |
//! | REAL | `1.5e3`, `-0`, `<PLUS-INFINITY/>`, `<MINUS-INFINITY/>`, `<NOT-A-NUMBER/>` | 21 |
//! | BIT STRING | `10100`; read also: names of bits, `<a/><c/>` | 22 |
//! | OCTET STRING | `00FF` | 23 |
//! | either with decoded content | `<Type>…</Type>` | 22, 23 |
//! | NULL | nothing | 24 |
//! | SEQUENCE, SET | `<name>…</name>` for each component that is present | 25, 27 |
//! | SEQUENCE OF, SET OF | `<Type>…</Type>` for each element, or its name if it has one | 26, 28 |
//! | the same of BOOLEAN, ENUMERATED, CHOICE | the values alone: `<true/><false/>` | Table 5 |
//! | CHOICE | `<alternative>…</alternative>` | 29 |
//! | open type | `<Type>…</Type>`, or the octets of the encoding if the type is not known | 14.6 |
//! | OBJECT IDENTIFIER, times | the characters | 32, 38, 46, 47 |
//! | character strings | the characters; those that XML cannot have as `<nul/>`, `<esc/>` | 12.15.5 |
//!
//! Extension additions that the schema does not know have no form in XML and are left out.
//!
//! [`Variant::Canonical`] is one text for each value; [`extended`] follows the encoding instructions of a specification.

mod canonical;
mod document;
pub mod extended;
mod extents;
mod names;
mod read;
mod variant;
mod write;

pub use read::{ReadOptions, Reader, read};
pub use variant::Variant;
pub use write::{Options, XmlWriter, write};
