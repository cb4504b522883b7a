//! What references may copy. A reference copies what it names: a value into a value, a parameterized definition into an
//! instance, components by COMPONENTS OF, objects into sets. Copies of copies double at each step, so that a text of one
//! kilobyte would take gigabytes. Everything that is made is counted against one budget, which grows with the text.

use super::Resolver;
use super::lookup::Binding;
use crate::ir::Value;
use tercet_syntax::{Diagnostic, Span};

/// Octets of a string that count as much as a value.
const OCTETS: u64 = 64;

/// Arcs of an object identifier that do.
const ARCS: u64 = 4;

/// How deep values may nest: a chain of references that each wrap the one before could not be written by any rules.
const DEPTH: u32 = 200;

/// What has been made, and how much may be.
#[derive(Debug)]
pub(super) struct Budget {
    spent: u64,
    limit: u64,
    reported: bool,
}

impl Budget {
    /// Allows as much as is copied at most, and what a text of so many bytes may hold itself.
    pub(super) fn new(copies: u64, text: u64) -> Self {
        Self { spent: 0, limit: copies.saturating_add(text), reported: false }
    }
}

impl Resolver<'_> {
    /// Counts types, values or components that are about to be made. `false` when the budget does not allow them, which is
    /// reported once.
    pub(crate) fn spend(&mut self, nodes: u64, span: Span) -> bool {
        self.budget.spent = self.budget.spent.saturating_add(nodes);
        if self.budget.spent <= self.budget.limit {
            return true;
        }
        if !self.budget.reported {
            self.budget.reported = true;
            let text = format!("definitions expand to more than {} types and values", self.budget.limit);
            self.report(
                Diagnostic::error("E0237", span, text)
                    .label("this one and those after it are ignored")
                    .help("look for definitions that repeat others several times: each step multiplies"),
            );
        }
        false
    }

    /// Counts octets of strings.
    pub(crate) fn spend_octets(&mut self, octets: usize, span: Span) -> bool {
        self.spend(octets as u64 / OCTETS, span)
    }

    /// A copy of what a name stands for; a value that the budget does not allow becomes [`Value::Error`].
    pub(super) fn copy(&mut self, binding: &Binding, span: Span) -> Binding {
        match binding {
            Binding::Value(ty, value) if !self.spend(Extent::of(value).nodes, span) => {
                Binding::Value(*ty, Value::Error)
            }
            binding => binding.clone(),
        }
    }

    /// A value that has been built, if it does not nest too deep.
    pub(super) fn within_depth(&mut self, value: Value, span: Span) -> Value {
        if Extent::of(&value).depth <= DEPTH {
            return value;
        }
        let text = format!("values nest deeper than {DEPTH} levels");
        self.report(Diagnostic::error("E0299", span, text).label("this one is ignored"));
        Value::Error
    }
}

/// How large a value is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Extent {
    /// Values in it, itself among them, and what strings count for.
    pub(crate) nodes: u64,
    depth: u32,
}

impl Extent {
    /// Measures a value, whose depth is limited by [`DEPTH`] and that of its own notation.
    pub(crate) fn of(value: &Value) -> Self {
        let mut out = Self { nodes: 1, depth: 1 };
        match value {
            Value::BitString(octets, _) | Value::OctetString(octets) => {
                out.nodes += octets.len() as u64 / OCTETS;
            }
            Value::Text(text) => out.nodes += text.len() as u64 / OCTETS,
            Value::Oid(arcs) => out.nodes += arcs.own() as u64 / ARCS,
            Value::Integer(number) => out.nodes += number.bits() / 8 / OCTETS,
            Value::List(list) => list.iter().for_each(|value| out.add(Self::of(value))),
            Value::Struct(fields) => fields.iter().for_each(|(_, value)| out.add(Self::of(value))),
            Value::Choice(_, inner) | Value::Open(_, inner) | Value::Containing(inner) => {
                out.add(Self::of(inner));
            }
            _ => {}
        }
        out
    }

    fn add(&mut self, inner: Self) {
        self.nodes = self.nodes.saturating_add(inner.nodes);
        self.depth = self.depth.max(inner.depth + 1);
    }
}
