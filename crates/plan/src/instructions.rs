//! Encoding instructions (X.693, X.697), decided for every place that a value can stand at.
//!
//! A place is a field, or for values that stand without one (outermost, in an open type, in a string) their node. A shape
//! without instructions has no table at all.

use crate::shape::{FieldId, NameId, NodeId, Shape};

/// The tables of a shape.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Instructions {
    /// X.697; nothing without any JER instruction.
    pub json: Option<Places<Json>>,
    /// X.693; nothing without any XER instruction.
    pub xml: Option<Places<Xml>>,
    /// Namespaces: URI and prefix.
    pub namespaces: Vec<(NameId, Option<NameId>)>,
    /// CONTROL-NAMESPACE (X.693 clause 26): the prefix for `nil` and `type`, if one was given.
    pub control_prefix: Option<NameId>,
    /// What of X.693 is asked for and not done: a name for each.
    pub unsupported: Vec<NameId>,
}

/// What holds at each place.
#[derive(Clone, Debug, PartialEq)]
pub struct Places<T> {
    /// One for each field.
    pub fields: Vec<T>,
    /// For nodes that stand without a field, sorted.
    pub nodes: Vec<(NodeId, T)>,
    /// For all other nodes.
    pub other: T,
}

impl<T> Places<T> {
    /// What holds for a value.
    pub fn of(&self, field: FieldId, node: NodeId) -> &T {
        if let Some(found) = self.fields.get(field.index()) {
            return found;
        }
        match self.nodes.binary_search_by_key(&node, |(node, _)| *node) {
            Ok(at) => &self.nodes[at].1,
            Err(_) => &self.other,
        }
    }
}

/// X.697.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Json {
    /// NAME: the member's name.
    pub name: Option<NameId>,
    /// ARRAY: a SEQUENCE is an array.
    pub array: bool,
    /// OBJECT: a list of pairs is an object.
    pub object: bool,
    /// UNWRAPPED: a CHOICE is its alternative alone.
    pub unwrapped: bool,
    /// BASE64: octets are not in hexadecimal.
    pub base64: bool,
    /// TEXT: items by number with their new names.
    pub texts: Vec<(i64, NameId)>,
}

/// X.693.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Xml {
    /// The name of the element or attribute.
    pub name: Option<NameId>,
    /// NAMESPACE: index into [`Instructions::namespaces`].
    pub namespace: Option<u32>,
    /// GLOBAL-DEFAULTS MODIFIED-ENCODINGS where the type is written.
    pub modified: bool,
    /// ATTRIBUTE.
    pub attribute: bool,
    /// UNTAGGED.
    pub untagged: bool,
    /// LIST.
    pub list: bool,
    /// BASE64.
    pub base64: bool,
    /// DECIMAL.
    pub decimal: bool,
    /// TEXT, or MODIFIED-ENCODINGS: identifiers are characters.
    pub text: bool,
    /// TEXT with new names, by number; of BOOLEAN 0 and 1.
    pub texts: Vec<(i64, NameId)>,
    /// USE-NIL.
    pub use_nil: bool,
    /// USE-NUMBER.
    pub use_number: bool,
    /// USE-ORDER.
    pub use_order: bool,
    /// USE-TYPE.
    pub use_type: bool,
    /// USE-UNION.
    pub use_union: bool,
    /// WHITESPACE.
    pub whitespace: Whitespace,
    /// DEFAULT-FOR-EMPTY: the text.
    pub default_for_empty: Option<NameId>,
}

/// WHITESPACE (X.693 clause 39).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Whitespace {
    /// As it is.
    #[default]
    Preserve,
    /// Each is a space.
    Replace,
    /// One space between words.
    Collapse,
}

impl Shape {
    /// What X.697 says of a value, if there are instructions at all.
    pub fn json_of(&self, field: FieldId, node: NodeId) -> Option<&Json> {
        self.instructions.as_ref()?.json.as_ref().map(|places| places.of(field, node))
    }

    /// What X.693 says of a value, if there are instructions at all.
    pub fn xml_of(&self, field: FieldId, node: NodeId) -> Option<&Xml> {
        self.instructions.as_ref()?.xml.as_ref().map(|places| places.of(field, node))
    }
}
