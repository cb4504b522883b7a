//! GSER text: the generic string encoding rules (RFC 3641), a value notation for LDAP and for people.
//!
//! | type | text | RFC 3641 |
//! |---|---|---|
//! | character strings, times | `"with ""quotes"" doubled"` | 3.2 |
//! | a CHOICE of strings that was declared as such | the string alone; read also with the alternative | 3.3 |
//! | BIT STRING | `'10100'B`; read also `'A0'H` | 3.5 |
//! | BIT STRING with named bits | `{ a, c }`, `'101'B` if a bit has no name | 3.5 |
//! | BOOLEAN | `TRUE`, `FALSE` | 3.6 |
//! | ENUMERATED | `red`; a number for an item that the schema does not know | 3.7 |
//! | INTEGER | `-5`; read also the name of a number | 3.8 |
//! | NULL | `NULL` | 3.9 |
//! | OBJECT IDENTIFIER, RELATIVE-OID | `2.5.4.3` | 3.10 |
//! | OCTET STRING | `'00FF'H` | 3.11 |
//! | CHOICE | `alternative:value` | 3.12 |
//! | SEQUENCE, SET | `{ a 1, b TRUE }`; read also: a SET in any order | 3.13 |
//! | SEQUENCE OF, SET OF | `{ 1, 2 }` | 3.14 |
//! | REAL | `15E-1`, `0`, `PLUS-INFINITY`, `MINUS-INFINITY` | 3.19 |
//! | open type | the value | 3.1 |
//!
//! Beyond the text of the RFC: `NOT-A-NUMBER` and `-0` of newer editions of X.680; an open type whose type is not known,
//! and a string whose content is not told, is its encoding in hexadecimal; a string with its content decoded is
//! `CONTAINING value` as in ASN.1. Extension additions that the schema does not know are left out. The
//! strings that RDNSequence, RelativeDistinguishedName and ORAddress have of their own (3.20) do not tell of which string
//! types a value is made: such values are written as their types say, and the strings are refused.

mod index;
mod read;
mod write;

pub use read::{ReadOptions, Reader, read};
pub use write::{GserWriter, Options, write};
