//! Answers about ASN.1 specifications for editors, from an immutable [`Snapshot`] of their texts: no protocol, no input and
//! output.
//!
//! Positions are octets in the address space of the snapshot's [`SourceMap`](tercet_syntax::SourceMap); [`Lines`] makes lines
//! and columns of them, as editors have.
//!
//! ```
//! use tercet_ide::Snapshot;
//! let snapshot = Snapshot::new([("a.asn", "A DEFINITIONS ::= BEGIN Age ::= Years Years ::= INTEGER (0..150) END")]);
//! let at = snapshot.position("a.asn", 32).unwrap();
//! let name = snapshot.name_at(at).unwrap();
//! assert_eq!(snapshot.text(name.definition), "Years");
//! assert_eq!(snapshot.uses(name.definition).len(), 1);
//! ```

#![forbid(unsafe_code)]

pub mod compare;
mod complete;
mod definitions;
pub mod export;
mod extension;
mod governed;
mod hints;
mod hover;
mod lines;
mod oids;
mod reach;
mod rename;
mod rewrite;
mod signature;
pub mod site;
mod snapshot;
mod structure;
mod tokens;
mod unused;

pub use complete::Completion;
pub use definitions::{Definition, Kind};
pub use hints::{Hint, HintKind};
pub use hover::{HOVER_RULES, Hover};
pub use lines::{Columns, Lines};
pub use reach::{Near, Outside, Reach};
pub use rename::RenameError;
pub use signature::Signature;
pub use snapshot::{Name, Snapshot};
pub use structure::Symbol;
pub use tokens::{Colour, Coloured};
pub use unused::UnusedImport;
