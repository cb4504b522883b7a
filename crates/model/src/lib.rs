//! ASN.1 semantics: from syntax trees to a [`Model`] in which every name is bound.
//!
//! [`resolve`] takes the modules of a run and gives a model together with what is to be said about them. It never
//! fails: what cannot be understood is reported once and stands in the model as an error or an open type.

mod arcs;
mod check;
pub mod codes;
pub mod constraints;
mod findings;
mod graph;
pub mod instructions;
pub mod ir;
mod names;
mod objects;
mod options;
mod resolve;
mod show;
mod tags;
mod unresolved;
mod values;

pub use arcs::Arcs;
pub use codes::CODES;
pub use findings::Findings;
pub use graph::strongly_connected;
pub use ir::{Model, Occurrence};
pub use options::{Duplicates, Options, Tagging};
pub use resolve::{bind, import_fix, resolve};
pub use tags::{OuterTag, TagSet, keyword, text_kind, universal_tag};
pub use unresolved::{Cause, Gaps, Twice, Unresolved};
pub use values::Notation;
