//! How two values of a type differ: the paths, and what is there on each side.
//!
//! Values are compared as abstract values: whatever rules they came by, in whatever order the members of a SET stand, and
//! with an absent component the same as its DEFAULT. Lists are aligned, so that an element that was put in between is
//! told as one, and not as a change of all behind it.
//!
//! ```
//! # use tercet_dynamic::{diff, Tape};
//! # let mut map = tercet_syntax::SourceMap::new();
//! # let file = map.add("a.asn", "A DEFINITIONS AUTOMATIC TAGS ::= BEGIN
//! #   List ::= SEQUENCE OF INTEGER END");
//! # let (modules, _) = tercet_syntax::parse(&map, file, &tercet_syntax::ParseOptions::default());
//! # let (model, _) = tercet_model::resolve(&map, &modules, &tercet_model::Options::default());
//! # let plan = tercet_lower::plan(&model, tercet_plan::Rules::Ber, &tercet_lower::all_roots(&model)).0;
//! # let shape = &plan.shape;
//! # let list = plan.root("List").unwrap();
//! # let (mut a, mut b) = (Tape::new(), Tape::new());
//! # tercet_dynamic::json::read(shape, list, b"[1, 2, 3]", &mut a, &Default::default())?;
//! # tercet_dynamic::json::read(shape, list, b"[1, 9, 2, 3]", &mut b, &Default::default())?;
//! // List ::= SEQUENCE OF INTEGER; {1, 2, 3} and {1, 9, 2, 3}
//! let found = diff::compare(shape, list, a.view(&[]), b.view(&[]));
//! assert_eq!(found.len(), 1);
//! assert_eq!(found[0].to_string(), "+ List[1]: 9");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod align;

use crate::constant::say_constant;
use crate::tape::View;
use crate::text::join_path;
use crate::value::{Bits, Builder, Content, Value};
pub use align::{Step, align};
use std::fmt;
use tercet_plan::shape::{Field, Presence};
use tercet_plan::{FieldId, NodeId, Shape};

/// A place where two values differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The way to it: `Call.parties[2].number`. Indices are those of the first value; of an element that is in the second
    /// only, its own.
    pub path: String,
    /// What the first value has there; nothing if it has nothing.
    pub before: Option<Value>,
    /// What the second value has there.
    pub after: Option<Value>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = &self.path;
        match (&self.before, &self.after) {
            (Some(before), Some(after)) => write!(f, "  {path}: {before} -> {after}"),
            (Some(before), None) => write!(f, "- {path}: {before}"),
            (None, Some(after)) => write!(f, "+ {path}: {after}"),
            (None, None) => write!(f, "  {path}"),
        }
    }
}

/// Where two values of type `root` differ, in the order of the type.
pub fn compare(shape: &Shape, root: NodeId, before: View<'_>, after: View<'_>) -> Vec<Difference> {
    let path = shape.node(root).name.map_or_else(String::new, |name| shape.name(name).to_owned());
    let mut comparison = Comparison { shape, found: Vec::new() };
    let (before, after) = (Value::from_view(shape, before), Value::from_view(shape, after));
    comparison.value(Some(root), &path, before.as_ref(), after.as_ref(), 0);
    comparison.found
}

/// Values inside one another that are looked into; deeper ones are compared as a whole.
const DEPTH: u16 = 500;

struct Comparison<'s> {
    shape: &'s Shape,
    found: Vec<Difference>,
}

/// The numbers of the bits that are 1.
fn ones(bits: &Bits) -> Vec<usize> {
    (0..bits.len()).filter(|index| bits.get(*index) == Some(true)).collect()
}

impl Comparison<'_> {
    fn value(
        &mut self,
        node: Option<NodeId>,
        path: &str,
        before: Option<&Value>,
        after: Option<&Value>,
        depth: u16,
    ) {
        let (Some(a), Some(b)) = (before, after) else {
            if before.is_some() || after.is_some() {
                self.found.push(Difference {
                    path: path.to_owned(),
                    before: before.cloned(),
                    after: after.cloned(),
                });
            }
            return;
        };
        if a == b {
            return;
        }
        let depth = depth + 1;
        match (a, b) {
            _ if depth > DEPTH => {}
            (Value::Sequence(a) | Value::Set(a), Value::Sequence(b) | Value::Set(b)) => {
                return self.members(node, path, a, b, depth);
            }
            (Value::SequenceOf(a), Value::SequenceOf(b)) => {
                return self.elements(node, path, a, b, depth);
            }
            (Value::SetOf(a), Value::SetOf(b)) => return self.set_of(path, a, b),
            (Value::Choice(name, a), Value::Choice(other, b)) if name == other => {
                let inner = node.and_then(|node| self.field(node, name)).map(|field| field.node);
                return self.value(inner, &join_path(path, name), Some(a), Some(b), depth);
            }
            (Value::Containing(a), Value::Containing(b)) => {
                let inner = node.and_then(|node| self.shape.node(node).containing);
                return self.value(inner, path, Some(a), Some(b), depth);
            }
            // Zero bits behind the last one mean nothing where bits have names (X.680 22.7).
            (Value::BitString(a), Value::BitString(b))
                if node.is_some_and(|node| !self.shape.items_of(node).is_empty()) && ones(a) == ones(b) =>
            {
                return;
            }
            (Value::Open(a), Value::Open(b)) if same_type(a, b) => {
                return self.value(a.node, path, Some(&a.value), Some(&b.value), depth);
            }
            _ => {}
        }
        self.found.push(Difference {
            path: path.to_owned(),
            before: Some(a.clone()),
            after: Some(b.clone()),
        });
    }

    fn field(&self, node: NodeId, name: &str) -> Option<&Field> {
        self.shape.fields_of(node).find(|(_, field)| self.shape.name(field.name) == name).map(|(_, it)| it)
    }

    fn members(
        &mut self,
        node: Option<NodeId>,
        path: &str,
        before: &[(String, Value)],
        after: &[(String, Value)],
        depth: u16,
    ) {
        let find = |members: &[(String, Value)], name: &str| members.iter().position(|(own, _)| own == name);
        let shape = self.shape;
        let mut met = vec![false; after.len()];
        let mut names: Vec<&str> = Vec::with_capacity(before.len().max(after.len()));
        match node {
            Some(node) => names.extend(shape.fields_of(node).map(|(_, field)| shape.name(field.name))),
            None => names.extend(before.iter().chain(after).map(|(name, _)| name.as_str())),
        }
        names.dedup();
        for name in names {
            let (a, b) = (find(before, name), find(after, name));
            if let Some(met) = b.and_then(|b| met.get_mut(b)) {
                *met = true;
            }
            let field = node.and_then(|node| self.field(node, name));
            let (inner, default) = (field.map(|field| field.node), field.and_then(|it| default(shape, it)));
            // An absent component has its DEFAULT.
            let (a, b) = (a.map(|at| &before[at].1), b.map(|at| &after[at].1));
            if a.is_none() && b.is_none()
                || a.is_none() && b == default.as_ref()
                || b.is_none() && a == default.as_ref()
            {
                continue;
            }
            self.value(inner, &join_path(path, name), a, b, depth);
        }
        // Extension additions that the schema does not know have no name.
        let unknown = |members: &'_ [(String, Value)]| -> Vec<Value> {
            members
                .iter()
                .filter(|(_, value)| matches!(value, Value::Unknown { .. }))
                .map(|(_, v)| v.clone())
                .collect()
        };
        let (a, b) = (unknown(before), unknown(after));
        if a != b {
            self.elements(None, &join_path(path, "..."), &a, &b, depth);
        }
    }

    fn elements(&mut self, node: Option<NodeId>, path: &str, before: &[Value], after: &[Value], depth: u16) {
        let element = node.and_then(|node| self.shape.fields_of(node).next()).map(|(_, field)| field.node);
        for step in align(before, after) {
            match step {
                Step::Both(a, b) => {
                    self.value(element, &format!("{path}[{a}]"), before.get(a), after.get(b), depth);
                }
                Step::Before(a) => self.value(element, &format!("{path}[{a}]"), before.get(a), None, depth),
                Step::After(b) => self.value(element, &format!("{path}[{b}]"), None, after.get(b), depth),
            }
        }
    }

    /// The order means nothing: what both have is taken away, the rest has come or gone.
    fn set_of(&mut self, path: &str, before: &[Value], after: &[Value]) {
        let mut left: std::collections::HashMap<&Value, Vec<usize>> = std::collections::HashMap::new();
        for (at, value) in after.iter().enumerate().rev() {
            left.entry(value).or_default().push(at);
        }
        for (at, value) in before.iter().enumerate() {
            if left.get_mut(value).and_then(Vec::pop).is_none() {
                self.found.push(Difference {
                    path: format!("{path}[{at}]"),
                    before: Some(value.clone()),
                    after: None,
                });
            }
        }
        let mut come: Vec<usize> = left.into_values().flatten().collect();
        come.sort_unstable();
        for at in come {
            let after = after.get(at).cloned();
            self.found.push(Difference { path: format!("{path}[{at}]"), before: None, after });
        }
    }
}

fn same_type(a: &Content, b: &Content) -> bool {
    a.node == b.node || a.type_name == b.type_name
}

/// The DEFAULT of a component.
fn default(shape: &Shape, field: &Field) -> Option<Value> {
    let Presence::Default(constant) = field.presence else { return None };
    let mut builder = Builder::new(shape);
    say_constant(shape, FieldId::ROOT, field.node, constant, &mut builder);
    builder.take()
}
