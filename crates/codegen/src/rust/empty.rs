//! What values are before they are read into: constants, where nothing in them is in a box.

use super::Printer;
use super::imports::{
    BIT_STRING, BOX, CONTAINED, EXACT_REAL, FIXED_BITS, INTEGER, OBJECT_IDENTIFIER, OCTETS, PARTS,
    RELATIVE_OBJECT_IDENTIFIER, TEXT,
};
use super::values::empty_list;
use crate::types::{Edge, Repr, Types};
use tercet_plan::{FieldId, NodeId};

/// Octets that are none.
fn no_octets() -> String {
    format!("{OCTETS}::borrowed(&[])")
}

/// The types whose values before they are read are constants, and what is known for finding them.
#[derive(Default)]
pub(super) struct Empties {
    depths: Vec<Option<u32>>,
    constants: Vec<bool>,
    /// The types whose constants are printed.
    printed: Vec<bool>,
}

impl Empties {
    pub(super) fn is_constant(&self, node: NodeId) -> bool {
        self.constants.get(node.index()) == Some(&true)
    }

    /// Whether a component or alternative is a constant where it stands.
    fn is_held(&self, types: &Types<'_>, id: FieldId) -> bool {
        let node = types.same(types.shape.field(id).node);
        !types.is_boxed(Edge::Field(id)) && self.is_constant(node)
    }

    /// Whether a value of a type can be made out of nothing.
    pub(super) fn has_any(&self, node: NodeId) -> bool {
        matches!(self.depths.get(node.index()), Some(Some(_)))
    }
}

/// The constants of the types that `needed` says, and of those in them.
pub(super) fn print<'m>(p: &mut Printer<'m>, needed: impl Fn(&Printer<'m>, NodeId) -> bool) {
    let nodes: Vec<NodeId> = p.types.nodes().filter(|node| needed(p, *node)).collect();
    for node in nodes {
        p.print_empty(node);
    }
}

impl Printer<'_> {
    /// Finds the nodes whose values before they are read are constants: nothing in them is in a box.
    pub(super) fn find_empties(&mut self) {
        let depths = self.types.depths();
        self.empties =
            Empties { constants: vec![false; depths.len()], printed: vec![false; depths.len()], depths };
        let nodes: Vec<NodeId> = self.types.nodes().collect();
        loop {
            let mut changed = false;
            for &node in nodes.iter().rev() {
                if !self.empties.is_constant(node) && self.may_be_constant(node) {
                    self.empties.constants[node.index()] = true;
                    changed = true;
                }
            }
            if !changed {
                return;
            }
        }
    }

    fn may_be_constant(&self, node: NodeId) -> bool {
        let shape = self.types.shape;
        match self.types.repr(node) {
            Repr::Struct => shape.fields_of(node).all(|(id, field)| match self.default_value(id) {
                Some(_) => matches!(
                    self.types.repr(field.node),
                    Repr::Boolean
                        | Repr::Null
                        | Repr::Integer { .. }
                        | Repr::Big
                        | Repr::Enumerated
                        | Repr::FixedBits(_)
                ),
                None => self.is_option(id) || self.empties.is_held(&self.types, id),
            }),
            Repr::Choice => shape.fields_of(node).any(|(id, _)| self.empties.is_held(&self.types, id)),
            Repr::List => !self.types.is_lazy(node),
            _ => true,
        }
    }

    fn print_empty(&mut self, node: NodeId) {
        let node = self.types.same(node);
        if self.empties.printed[node.index()] || !self.empties.is_constant(node) || !self.is_item(node) {
            return;
        }
        self.empties.printed[node.index()] = true;
        let (name, lifetime) = (self.names.ty(node), self.lifetime(node, "'a"));
        let generic = if lifetime.is_empty() { "" } else { "<'a>" };
        let line = format!("impl{generic} {name}{lifetime} {{");
        let constant = self.empty_of(node);
        self.text.line("");
        self.text.open(line);
        self.text.line(format!("const EMPTY: Self = {constant};"));
        self.text.close("}");
        let shape = self.types.shape;
        let inside: Vec<NodeId> = match self.types.repr(node) {
            Repr::Struct => {
                let there = shape.fields_of(node).filter(|(id, _)| self.empties.is_held(&self.types, *id));
                there.map(|(_, field)| field.node).collect()
            }
            Repr::Choice => self.first(node).into_iter().map(|id| shape.field(id).node).collect(),
            _ => Vec::new(),
        };
        for node in inside {
            if matches!(self.types.repr(node), Repr::Struct | Repr::Choice) {
                self.print_empty(node);
            }
        }
    }

    /// The alternative that a CHOICE has before it is read: one that is a constant, or else has the least inside.
    fn first(&self, node: NodeId) -> Option<FieldId> {
        let shape = self.types.shape;
        let depth = |id: FieldId| self.empties.depths[self.types.same(shape.field(id).node).index()];
        let all = shape.fields_of(node);
        let all = all.filter_map(|(id, _)| Some((!self.empties.is_held(&self.types, id), depth(id)?, id)));
        all.min().map(|(.., id)| id)
    }

    /// The expression of a value of a type before it is read.
    pub(super) fn empty(&self, node: NodeId) -> String {
        let shape = self.types.shape;
        match self.types.repr(node) {
            Repr::Struct => {
                let each = shape.fields_of(node).map(|(id, _)| {
                    let value = match self.default_value(id) {
                        Some(value) => value,
                        None if self.is_option(id) => "None".into(),
                        None => self.empty_held(id),
                    };
                    format!("{}: {value}", self.names.field(id))
                });
                let unknown = self.names.additions(node);
                let unknown = unknown.map(|name| format!("{name}: {}::NONE", self.additions_type()));
                format!("Self {{ {} }}", each.chain(unknown).collect::<Vec<_>>().join(", "))
            }
            Repr::Choice => match self.first(node) {
                Some(id) => format!("Self::{}({})", self.names.field(id), self.empty_held(id)),
                None if self.types.choices.arena => "Self::Unknown(&[])".into(),
                None => format!("Self::Unknown({BOX}::default())"),
            },
            _ => self.empty_of(node),
        }
    }

    /// What a component or alternative is before it is read.
    pub(super) fn empty_held(&self, id: FieldId) -> String {
        let node = self.types.same(self.types.shape.field(id).node);
        let value = match self.types.repr(node) {
            Repr::Struct | Repr::Choice if self.empties.is_constant(node) => {
                format!("{}::EMPTY", self.names.ty(node))
            }
            Repr::Struct | Repr::Choice => format!("{PARTS}::Value::empty()"),
            _ => self.empty_of(node),
        };
        if !self.types.is_boxed(Edge::Field(id)) {
            return value;
        }
        // Without code that frees the value.
        if self.types.choices.small {
            format!("{PARTS}::boxed(|| {value})")
        } else {
            self.boxed(Edge::Field(id), value)
        }
    }

    /// The same of a type as a constant, where it is one.
    fn empty_of(&self, node: NodeId) -> String {
        let name = || self.names.ty(node);
        if let Some(empty) = self.empty_slice(node) {
            return empty;
        }
        match self.types.repr(node) {
            Repr::Boolean => "false".into(),
            Repr::Null => "()".into(),
            Repr::Integer { .. } => "0".into(),
            Repr::Float => "0.0".into(),
            Repr::Real => format!("{EXACT_REAL}::ZERO"),
            Repr::Big => format!("{INTEGER}::ZERO"),
            Repr::FixedBits(_) => format!("{FIXED_BITS}::new(0)"),
            Repr::Bits => format!("{BIT_STRING}::EMPTY"),
            Repr::FixedOctets(count) => format!("[0; {count}]"),
            Repr::Octets | Repr::Any => no_octets(),
            Repr::Oid => format!("{OBJECT_IDENTIFIER}::constant(&[0])"),
            Repr::RelativeOid => format!("{RELATIVE_OBJECT_IDENTIFIER}::constant(&[0])"),
            Repr::Text => format!("{TEXT}::borrowed(\"\")"),
            Repr::Contained(_) => format!("{CONTAINED}::Octets({})", no_octets()),
            Repr::Table(_) if self.types.keeps_slices(node) => format!("{}::Other(&[])", name()),
            Repr::Table(_) => format!("{}::Other({})", name(), no_octets()),
            Repr::Enumerated => format!("{}::{}", name(), self.first_item(node)),
            Repr::Struct | Repr::Choice => self.empty(node),
            Repr::List => {
                let list = empty_list(&self.types, node);
                if self.types.is_newtype(node) { format!("{}({list})", name()) } else { list }
            }
        }
    }

    pub(super) fn first_item(&self, node: NodeId) -> String {
        let first = self.types.shape.items_of(node).first();
        first.map_or_else(|| "Unknown(0)".into(), |item| self.names.item(node, item.value).to_owned())
    }
}
