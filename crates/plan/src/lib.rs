//! The executable form of an ASN.1 specification: plain data, made once by `tercet-lower`, run by `tercet-dynamic`.
//!
//! [`Shape`] says what values look like, whatever the rule; [`ber`] and its siblings say how each rule writes them.

pub mod shape;

pub use shape::{FieldId, Kind, NameId, Node, NodeId, Shape};
