//! The steps of codecs, in no language: what is read and written in which order, decided from the plans and the types.
//!
//! A tree for each rule of encoding has a [`Body`](ber::Body) for each declared type. Its leaves are primitives of a closed
//! list, which a runtime has to have. Printers of languages spell the trees: names, absent values, how a primitive is called.

pub(crate) mod ber;
pub(crate) mod oer;
pub(crate) mod per;
pub(crate) mod sequence;

use crate::types::{Repr, Types};
use tercet_plan::shape::{Field, Key as Value};
use tercet_plan::{FieldId, NodeId};

/// Whether a component has a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    /// A value is always there.
    Required,
    /// The component may be absent, and has no value then.
    Optional,
    /// The component may be absent, and has the value of its DEFAULT then.
    Default,
}

/// What the trees are made from.
#[derive(Clone, Copy)]
pub(crate) struct Source<'t, 'm> {
    pub(crate) types: &'t Types<'m>,
    /// The presence of each field. The printer of a language decides it: a component whose DEFAULT has no expression in the
    /// language is optional.
    pub(crate) presence: &'t [Presence],
}

/// Where a codec gets a key that selects a row of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    /// From a component beside the value, and the way from there through structs to the one that is the key.
    Component(FieldId, Vec<FieldId>),
    /// From its own parameter for this register.
    Parameter(u16),
    /// Nothing is known of the key.
    Nothing,
}

/// A row of a table.
#[derive(Clone, Debug)]
pub(crate) struct Row<'m, V> {
    /// The number of the row.
    pub(crate) number: u32,
    /// The keys that select the row, or `None` for a row that no key selects.
    pub(crate) keys: Option<&'m [Value]>,
    /// The value.
    pub(crate) value: V,
}

/// An open type with a table.
#[derive(Clone, Debug)]
pub(crate) struct Table<'m, V> {
    /// Whether a content counts against the limit of values inside one another.
    pub(crate) counted: bool,
    /// The registers of the keys that select a row.
    pub(crate) registers: &'m [u16],
    /// The rows.
    pub(crate) rows: Vec<Row<'m, V>>,
}

impl<'m> Source<'_, 'm> {
    /// Returns the presence of a component.
    fn presence(&self, field: FieldId) -> Presence {
        self.presence[field.index()]
    }

    /// Returns the fields of a node in order.
    fn fields(&self, node: NodeId) -> impl Iterator<Item = (FieldId, &'m Field)> {
        let shape = self.types.shape;
        shape.fields_of(node)
    }

    /// Returns the name of a field in the specification.
    fn name(&self, field: FieldId) -> &'m str {
        let shape = self.types.shape;
        shape.name(shape.field(field).name)
    }

    /// Returns the keys that the codec of a part takes: from the components of the type around, else from the parameters of
    /// its codec.
    pub(crate) fn keys(&self, parent: NodeId, part: NodeId) -> Vec<Key> {
        let around = self.types.keys(parent);
        let key = |key: &u16| match self.component_of_key(parent, *key) {
            Some(own) => own,
            None if around.contains(key) => Key::Parameter(*key),
            None => Key::Nothing,
        };
        self.types.keys(part).iter().map(key).collect()
    }

    /// Returns the keys that the codec of an element takes: the parameters of the codec of the list.
    pub(crate) fn keys_of_element(&self, list: NodeId, element: NodeId) -> Vec<Key> {
        let around = self.types.keys(list);
        let key = |key: &u16| if around.contains(key) { Key::Parameter(*key) } else { Key::Nothing };
        self.types.keys(element).iter().map(key).collect()
    }

    /// Returns the keys that the codec of a value takes that nothing is around.
    pub(crate) fn no_keys(&self, node: NodeId) -> Vec<Key> {
        self.types.keys(node).iter().map(|_| Key::Nothing).collect()
    }

    /// Returns the first component of a type that has the key of a register, itself or in its parts.
    fn component_of_key(&self, parent: NodeId, register: u16) -> Option<Key> {
        let (id, way) = self.fields(parent).find_map(|(id, _)| {
            let mut keys = self.types.keys_in(id).into_iter();
            keys.find_map(|(own, way)| (own == register).then_some((id, way)))
        })?;
        let last = *way.last().unwrap_or(&id);
        self.is_comparable(self.types.shape.field(last).node).then_some(Key::Component(id, way))
    }

    /// Whether values of a type can be compared with the keys of a table.
    fn is_comparable(&self, node: NodeId) -> bool {
        matches!(
            self.types.repr(node),
            Repr::Integer { .. }
                | Repr::Enumerated
                | Repr::Big
                | Repr::Oid
                | Repr::RelativeOid
                | Repr::Real
                | Repr::Octets
                | Repr::Text
        )
    }

    /// Returns the table of an open type.
    pub(crate) fn table<V>(
        &self,
        node: NodeId,
        table: u32,
        mut value: impl FnMut(NodeId) -> V,
    ) -> Table<'m, V> {
        let shape = self.types.shape;
        let is_constant = |key: &Value| !matches!(key, Value::Alternative(..));
        let rows = (0..).zip(&shape.tables[table as usize].rows).map(|(number, row)| Row {
            number,
            keys: row.keys.iter().all(is_constant).then_some(&row.keys[..]),
            value: value(row.node),
        });
        Table {
            counted: self.types.is_counted(node),
            registers: shape.node(node).table.as_ref().map_or(&[], |table| &table.keys),
            rows: rows.collect(),
        }
    }
}
