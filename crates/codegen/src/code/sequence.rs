//! A SEQUENCE or SET of the rules that have presence bits in front of its components: OER and PER.

use super::{Presence, Source};
use tercet_plan::{FieldId, NodeId};

/// A SEQUENCE or SET. `V` is a value of the rules.
#[derive(Clone, Debug)]
pub(crate) struct Sequence<'m, V> {
    /// Whether a value counts against the limit of values inside one another.
    pub(crate) counted: bool,
    /// Whether an extension bit stands in front of the presence bits, and is read with them.
    pub(crate) extensible: bool,
    /// The components of the root in the order of the encoding.
    pub(crate) root: Members<'m, V>,
    pub(crate) additions: Vec<Addition<'m, V>>,
    /// Whether additions of later versions are kept and written again. They are skipped otherwise.
    pub(crate) keeps: bool,
}

/// Components with presence bits in front of them.
#[derive(Clone, Debug)]
pub(crate) struct Members<'m, V> {
    /// The number of presence bits.
    pub(crate) optional: u32,
    pub(crate) members: Vec<Member<'m, V>>,
}

/// A component or an alternative.
#[derive(Clone, Debug)]
pub(crate) struct Member<'m, V> {
    pub(crate) field: FieldId,
    /// The name in the specification.
    pub(crate) name: &'m str,
    pub(crate) presence: Presence,
    /// Whether the component has a presence bit.
    pub(crate) optional: bool,
    /// Whether others beside the component look at its value for their keys.
    pub(crate) selects: bool,
    pub(crate) value: V,
}

/// An extension addition.
#[derive(Clone, Debug)]
pub(crate) enum Addition<'m, V> {
    Single(Member<'m, V>),
    /// A version bracket.
    Group(Members<'m, V>),
}

impl<'m, V> Addition<'m, V> {
    /// Returns the components of the addition.
    pub(crate) fn members(&self) -> &[Member<'m, V>] {
        match self {
            Self::Single(member) => std::slice::from_ref(member),
            Self::Group(group) => &group.members,
        }
    }
}

impl<'m> Source<'_, 'm> {
    /// Returns the component with a number, whose value is given.
    pub(super) fn member<V>(&self, parent: NodeId, number: u32, optional: bool, value: V) -> Member<'m, V> {
        let field = self.field(parent, number);
        Member {
            field,
            name: self.name(field),
            presence: self.presence(field),
            optional,
            selects: self.types.has_keys(parent, field),
            value,
        }
    }

    /// Returns the field of the component of a type with a number.
    pub(super) fn field(&self, parent: NodeId, number: u32) -> FieldId {
        FieldId(self.types.shape.node(parent).first + number)
    }
}
