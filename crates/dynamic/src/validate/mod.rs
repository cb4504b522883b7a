//! Whether a value meets the constraints of its type: all of X.680 §49–51 and X.682, whatever rules it came by.
//!
//! ```
//! # use tercet_dynamic::{validate, Tape};
//! # let mut map = tercet_syntax::SourceMap::new();
//! # let file = map.add("a.asn", "A DEFINITIONS AUTOMATIC TAGS ::= BEGIN
//! #   Plate ::= SEQUENCE { number PrintableString (SIZE (1..8)), axles INTEGER (2 | 4 | 6) } END");
//! # let (modules, _) = tercet_syntax::parse(&map, file, &tercet_syntax::ParseOptions::default());
//! # let (model, _) = tercet_model::resolve(&map, &modules, &tercet_model::Options::default());
//! # let plan = tercet_lower::plan(&model, tercet_plan::Rules::Ber, &tercet_lower::all_roots(&model)).0;
//! # let shape = &plan.shape;
//! # let plate = plan.root("Plate").unwrap();
//! // Plate ::= SEQUENCE { number PrintableString (SIZE (1..8)), axles INTEGER (2 | 4 | 6) }
//! let mut tape = Tape::new();
//! tercet_dynamic::json::read(shape, plate, br#"{"number": "B-XY 123", "axles": 5}"#, &mut tape, &Default::default())?;
//! let found = validate::check(shape, plate, tape.view(&[]));
//! assert_eq!(found[0].to_string(), "Plate.axles: 5 is not in (2 | 4 | 6)");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod admits;
mod contents;
mod notation;
mod pattern;
mod settings;

pub(crate) use admits::{Checker, Patterns};
pub use contents::fault_inside;
pub(crate) use pattern::Tree;
pub(crate) use settings::{EXAMPLES as TIMES, agree};

use crate::contents::key_of;
use crate::path::of_tape;
use crate::tape::{Token, View};
use crate::text::integer_octets;
use admits::Culprit;
use std::fmt;
use tercet_plan::constraint::{Presence, RestrictionId};
use tercet_plan::shape::{Key, Place, Presence as Optionality, Row, TableRef};
use tercet_plan::{FieldId, Kind, NodeId, Shape};

/// A constraint that a value does not meet.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// The way to the value: `CallEvent.parties[2].number`.
    pub path: String,
    /// The value in ASN.1 notation, cut if it is long.
    pub value: String,
    /// What is wrong with it: `is not in (2 | 4 | 6)`.
    pub message: String,
    /// The constraint in ASN.1 notation; empty if it is the type itself that is not met.
    pub constraint: String,
    /// Where the constraint is written, in octets as the compiler counts over all its texts.
    pub span: Option<(u32, u32)>,
    /// Index of the value's token.
    pub token: usize,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, value, message, .. } = self;
        let path = if path.is_empty() { "the value" } else { path };
        if value.is_empty() { write!(f, "{path}: {message}") } else { write!(f, "{path}: {value} {message}") }
    }
}

/// The constraints that a value of type `root` does not meet, in the order of its parts; of one part the first only.
///
/// What is not there is told too: a mandatory component, which text and trees may lack. CONSTRAINED BY is for people
/// and meets everything; so does content under ENCODED BY other rules, which is not decoded.
pub fn check(shape: &Shape, root: NodeId, view: View<'_>) -> Vec<Violation> {
    Validator::new().check(shape, root, view)
}

/// Checks many values one after the other and keeps its memory.
#[derive(Debug, Default)]
pub struct Validator {
    patterns: Patterns,
    registers: Vec<Option<Key>>,
    /// The registers that may be set.
    used: Vec<u16>,
    saved: Vec<Option<Key>>,
}

/// Violations that are told of one value: behind them it is just another type.
const MOST: usize = 1_000;

impl Validator {
    /// A validator without any memory yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// See [`check`].
    pub fn check(&mut self, shape: &Shape, root: NodeId, view: View<'_>) -> Vec<Violation> {
        let Self { patterns, registers, used, saved } = self;
        // A specification of signalling has hundreds of registers, and a message uses few of them.
        for register in used.drain(..) {
            if let Some(register) = registers.get_mut(usize::from(register)) {
                *register = None;
            }
        }
        registers.resize(usize::from(shape.registers), None);
        saved.clear();
        let restrictions = &shape.restrictions;
        let mut found = Vec::new();
        // Of each open value, the restrictions of the edge to what is inside of an open type or CONTAINING.
        let mut edges: Vec<&[RestrictionId]> = Vec::new();
        let of_root = of_root(shape, root);
        for at in 0..view.len() {
            if found.len() >= MOST {
                break;
            }
            let (field, node, opens) = match view.token(at) {
                Token::Leaf { field, node, .. } => (field, node, false),
                Token::Open { field, node, .. } => (field, node, true),
                Token::Close { node, .. } => {
                    edges.pop();
                    for (_, register) in restrictions.scopes_of(node).iter().rev() {
                        if let Some(register) = registers.get_mut(usize::from(*register)) {
                            *register = saved.pop().flatten();
                        }
                    }
                    continue;
                }
                Token::Default { .. } | Token::Unknown { .. } => continue,
            };
            let edge = match edges.last() {
                None => of_root,
                Some(inside) if field == FieldId::ROOT => inside,
                Some(_) => restrictions.of_field(field),
            };
            let checker = Checker { shape, view, registers, patterns };
            let ids = restrictions.of_node(node).iter().chain(edge).copied();
            let culprit = checker.serial(ids, at);
            found.extend(culprit.map(|culprit| violation(checker, culprit)));
            found.extend(of_type(checker, node, at));
            if let Some(key) = shape.fields.get(field.index()).and_then(|field| field.key) {
                let value = key_at(shape, view, at);
                if let Some(register) = registers.get_mut(usize::from(key)) {
                    *register = value;
                    used.push(key);
                }
            }
            if opens {
                for (_, register) in restrictions.scopes_of(node) {
                    saved.push(registers.get_mut(usize::from(*register)).and_then(Option::take));
                }
                edges.push(inside(shape, node, view, at, registers));
            }
        }
        found
    }
}

/// The restrictions of the edge to a root. Roots that share a node have the same.
pub(crate) fn of_root(shape: &Shape, root: NodeId) -> &[RestrictionId] {
    let roots = shape.roots.iter().zip(&shape.restrictions.roots).filter(|(it, _)| it.node == root);
    roots.map(|(_, ids)| &**ids).next().unwrap_or_default()
}

/// The key that the value at an index is.
pub(crate) fn key_at(shape: &Shape, view: View<'_>, at: usize) -> Option<Key> {
    let mut names = Vec::new();
    let mut at = at;
    let key = loop {
        match view.token(at) {
            Token::Open { node, .. } if shape.node(node).kind == Kind::Choice => {
                at += 1;
                let (Token::Leaf { field, .. } | Token::Open { field, .. }) = view.token(at) else {
                    return None;
                };
                names.push(shape.fields.get(field.index())?.name);
            }
            Token::Leaf { node, leaf, .. } => {
                let octets;
                let contents = match leaf {
                    crate::Leaf::Int(number) => {
                        octets = integer_octets(number);
                        &octets
                    }
                    leaf => leaf.contents()?,
                };
                break key_of(shape.node(node).kind, contents)?;
            }
            _ => return None,
        }
    };
    Some(names.into_iter().rev().fold(key, |key, name| Key::Alternative(name, Box::new(key))))
}

/// The restrictions of what is inside an open type or CONTAINING.
fn inside<'s>(
    shape: &'s Shape,
    node: NodeId,
    view: View<'_>,
    at: usize,
    registers: &[Option<Key>],
) -> &'s [RestrictionId] {
    let it = shape.node(node);
    match it.kind {
        Kind::OctetString | Kind::BitString => shape.restrictions.of_contents(node),
        Kind::Open => {
            let Some(table) = &it.table else { return &[] };
            let Some(rows) = shape.tables.get(table.table as usize).map(|table| &table.rows) else {
                return &[];
            };
            let (Token::Leaf { node: content, .. } | Token::Open { node: content, .. }) = view.token(at + 1)
            else {
                return &[];
            };
            let row = told(rows, table, registers);
            let row = row.filter(|row| rows.get(*row).is_some_and(|row| row.node == content));
            row.map_or(&[], |row| shape.restrictions.of_row(table.table, row))
        }
        _ => &[],
    }
}

/// The row whose keys are those that were met.
fn told(rows: &[Row], table: &TableRef, registers: &[Option<Key>]) -> Option<usize> {
    let met = || table.keys.iter().map(|key| registers.get(usize::from(*key)).and_then(Option::as_ref));
    // Rows are in the order of their keys; a key that was not met is less than any.
    rows.binary_search_by(|row| row.keys.iter().map(Some).cmp(met())).ok()
}

/// What the type itself asks for and a decoder has not seen to: values may come from text.
fn of_type(checker: Checker<'_>, node: NodeId, at: usize) -> Option<Violation> {
    let shape = checker.shape;
    let it = shape.node(node);
    match (it.kind, checker.view.token(at)) {
        (Kind::Enumerated, Token::Leaf { leaf, .. }) if !it.extensible => {
            let number = match leaf {
                crate::Leaf::Int(number) => Some(number),
                leaf => leaf.contents().and_then(crate::leaf::small),
            };
            let known = number.is_some_and(|number| crate::leaf::item_index(shape, node, number).is_some());
            (!known).then(|| plain(checker, at, "is not an item of its ENUMERATED"))
        }
        (Kind::Sequence | Kind::Set, Token::Open { .. }) => {
            let missing = shape.fields_of(node).find(|(id, field)| {
                field.presence == Optionality::Mandatory
                    && field.place == Place::Root
                    && checker.child(at, *id).is_none()
            });
            missing.map(|(_, field)| {
                let message = format!("`{}` is missing", shape.name(field.name));
                Violation { value: String::new(), ..plain(checker, at, &message) }
            })
        }
        _ => None,
    }
}

fn plain(checker: Checker<'_>, at: usize, message: &str) -> Violation {
    Violation {
        path: of_tape(checker.shape, checker.view, at),
        value: notation::value(checker, at),
        message: message.to_owned(),
        constraint: String::new(),
        span: None,
        token: at,
    }
}

#[cold]
fn violation(checker: Checker<'_>, culprit: Culprit<'_>) -> Violation {
    let Culprit { element, span, at, component } = culprit;
    let node = match checker.view.token(at) {
        Token::Leaf { node, .. } | Token::Open { node, .. } => node,
        _ => NodeId(0),
    };
    let constraint = notation::element(checker.shape, node, element);
    let (value, message) = match component {
        Some((name, Presence::Absent)) => (String::new(), format!("`{name}` must be absent: {constraint}")),
        Some((name, _)) => (String::new(), format!("`{name}` must be present: {constraint}")),
        None => (notation::value(checker, at), notation::complaint(checker, element, &constraint, at)),
    };
    let path = of_tape(checker.shape, checker.view, at);
    Violation { path, value, message, constraint, span: Some(span), token: at }
}
