//! What the values of a node look like in JER (X.697), where the type that they are kept in does not say it: decided once for
//! all languages.

use crate::types::{Edge, Repr, Types};
use tercet_plan::{Kind, NodeId};

/// The look of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// As the type tells.
    Plain,
    /// A BIT STRING: the size of its root, and whether there may be others.
    Bits(Option<(u64, bool)>),
    /// A character string or a time: characters, or octets where escape sequences choose the characters (X.697 38.2).
    Text(Kind),
    /// An INTEGER with named numbers, which readers take too.
    Named(NodeId),
    /// A REAL that has to be of base 10 (X.697 23.4).
    Base10,
    /// CONTAINING: for a BIT STRING its size, and the value inside.
    Containing(Option<Option<(u64, bool)>>, Box<Self>),
    /// The elements of a list.
    List(Box<Self>),
    /// In a box.
    Boxed(Box<Self>),
}

impl Types<'_> {
    /// The look of a node's values, wherever they are kept.
    pub(crate) fn form(&self, node: NodeId) -> Form {
        if self.is_newtype(node) { Form::Plain } else { self.inner_form(node) }
    }

    /// The same of what is inside of a struct around it.
    pub(crate) fn inner_form(&self, node: NodeId) -> Form {
        let it = self.shape.node(node);
        match self.repr(node) {
            Repr::Integer { .. } | Repr::Big if it.item_count > 0 => Form::Named(node),
            Repr::Bits => Form::Bits(self.size_of_root(node)),
            Repr::Real | Repr::Float if self.only_base(node) == Some(10) => Form::Base10,
            Repr::Text => Form::Text(it.kind),
            Repr::Contained(inside) => {
                let bits = (it.kind == Kind::BitString).then(|| self.size_of_root(node));
                Form::Containing(bits, Box::new(self.form_at(Some(Edge::Content(node)), inside)))
            }
            Repr::List => match self.form(self.element(self.same(node))) {
                Form::Plain => Form::Plain,
                element => Form::List(Box::new(element)),
            },
            _ => Form::Plain,
        }
    }

    /// The same in a place that may have a box.
    pub(crate) fn form_at(&self, edge: Option<Edge>, node: NodeId) -> Form {
        match self.form(node) {
            Form::Plain => Form::Plain,
            form if edge.is_some_and(|edge| self.is_boxed(edge)) => Form::Boxed(Box::new(form)),
            form => form,
        }
    }

    /// The base of a REAL, where constraints leave one.
    fn only_base(&self, node: NodeId) -> Option<u8> {
        self.shape.constraints.get(self.shape.node(node).constraint? as usize)?.base
    }

    /// The one size of a string's root (X.697 24.2), and whether the constraint is extensible.
    fn size_of_root(&self, node: NodeId) -> Option<(u64, bool)> {
        let constraint = self.shape.constraints.get(self.shape.node(node).constraint? as usize)?;
        let (least, most) = constraint.size?;
        (most == Some(least)).then_some((least, constraint.extensible))
    }
}
