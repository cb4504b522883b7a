//! From a plan to framing: the identifiers that a type begins with, and the wrappers on the way to a record list.

use crate::framing::{Framing, Identifiers};
use std::fmt;
use tercet_dynamic::{NodeId, Plan};
use tercet_plan::ber::{Program, Slot, UNTAGGED, flags};
use tercet_plan::{Code, FieldId, Kind};
use tercet_runtime::Tag;
use tercet_suggest::with_known;

/// Why there is no way to the records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathError {
    /// The plan is not for BER, DER or CER.
    Rules,
    /// A step of the path is none of these.
    Step {
        /// The step.
        step: String,
        /// What there is.
        known: Vec<String>,
    },
    /// The path does not end at a SEQUENCE OF or SET OF.
    NoList(String),
}

impl fmt::Display for PathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rules => f.write_str("record lists are found in BER, DER and CER only"),
            Self::Step { step, known } if known.is_empty() => {
                write!(f, "no component `{step}`: the type has no components")
            }
            Self::Step { step, known } => {
                let text = format!("no component `{step}`");
                f.write_str(&with_known(&text, step, known.iter().map(String::as_str)))
            }
            Self::NoList(path) => write!(f, "`{path}` is not a SEQUENCE OF or SET OF"),
        }
    }
}

impl std::error::Error for PathError {}

/// The way from a type to a record list inside of it.
#[derive(Clone, Debug)]
pub struct ListPath {
    /// Where records are.
    pub framing: Framing,
    /// The fields passed, from the outside in; the last holds the list.
    pub fields: Vec<FieldId>,
    /// The element of the list.
    pub element: FieldId,
}

/// Framing of concatenated values of a type.
///
/// # Errors
/// [`PathError::Rules`].
pub fn concatenated(plan: &Plan, root: NodeId) -> Result<Framing, PathError> {
    let program = program(plan)?;
    let mut ids = Identifiers::none();
    add_entry(plan, program, root, &mut ids, 0);
    Ok(Framing::concatenated(ids))
}

/// Framing of the elements of a list inside values of a type. The first step may be the type's own name; `[]` behind
/// the last is understood.
///
/// # Errors
/// When the path does not lead to a list.
pub fn list(plan: &Plan, root: NodeId, path: &str) -> Result<ListPath, PathError> {
    let program = program(plan)?;
    let shape = &*plan.shape;
    let mut steps = path.trim_end_matches("[]").split('.').peekable();
    let mut wrappers = Vec::new();
    let mut fields = Vec::new();
    let mut node = root;
    let own_name = shape.node(root).name.map(|name| shape.name(name));
    let is_own = |step: &str| own_name.is_some_and(|own| own.rsplit('.').next() == Some(step) || own == step);
    if steps.peek().is_some_and(|step| is_own(step)) {
        steps.next();
    }
    if let Some(slot) = entry(program, root) {
        add_levels(program, slot, &mut wrappers);
    }
    for step in steps {
        let found = shape.fields_of(node).find(|(_, field)| {
            let name = shape.name(field.name);
            let by_type =
                field.aliases.iter().any(|&alias| shape.name(alias).rsplit('.').next() == Some(step))
                    || shape
                        .node(field.node)
                        .name
                        .is_some_and(|name| shape.name(name).rsplit('.').next() == Some(step));
            name == step || by_type && shape.node(node).kind == Kind::Choice
        });
        let Some((id, field)) = found else {
            let known = shape.fields_of(node).map(|(_, field)| shape.name(field.name).to_owned()).collect();
            return Err(PathError::Step { step: step.to_owned(), known });
        };
        if let Some(slot) = program.slots.get(id.index()) {
            add_levels(program, slot, &mut wrappers);
        }
        fields.push(id);
        node = field.node;
    }
    let list = shape.node(node);
    if !matches!(list.kind, Kind::SequenceOf | Kind::SetOf) {
        return Err(PathError::NoList(path.to_owned()));
    }
    let element = FieldId(list.first);
    let mut records = Identifiers::none();
    if let Some(slot) = program.slots.get(element.index()) {
        add_slot(program, slot, &mut records, 0);
    }
    let framing = Framing { wrappers, ..Framing::concatenated(records) };
    Ok(ListPath { framing, fields, element })
}

fn program(plan: &Plan) -> Result<&Program, PathError> {
    match &plan.code {
        Code::Ber(program) => Ok(program),
        _ => Err(PathError::Rules),
    }
}

fn entry(program: &Program, node: NodeId) -> Option<&Slot> {
    let code = program.nodes.get(node.index())?;
    program.slots.get(code.entry as usize)
}

/// One wrapper for each tag of the slot.
fn add_levels(program: &Program, slot: &Slot, wrappers: &mut Vec<Identifiers>) {
    if slot.tag == UNTAGGED {
        return;
    }
    for &bits in std::iter::once(&slot.tag).chain(program.chain(slot)) {
        if let Some(tag) = Tag::from_bits(bits) {
            let mut ids = Identifiers::none();
            ids.add(tag, true);
            wrappers.push(ids);
        }
    }
}

fn add_entry(plan: &Plan, program: &Program, node: NodeId, ids: &mut Identifiers, depth: u32) {
    match entry(program, node) {
        Some(slot) => add_slot(program, slot, ids, depth),
        None if plan.shape.node(node).kind == Kind::Choice => add_alternatives(program, node, ids, depth),
        None => *ids = Identifiers::any(),
    }
}

fn add_slot(program: &Program, slot: &Slot, ids: &mut Identifiers, depth: u32) {
    let inside =
        slot.kind.is_constructed() || !program.chain(slot).is_empty() || slot.flags & flags::OPEN_ENDED != 0;
    match Tag::from_bits(slot.tag) {
        Some(tag) if slot.tag != UNTAGGED => {
            if inside {
                ids.add(tag, true);
            } else if slot.kind.is_text() || matches!(slot.kind, Kind::OctetString | Kind::BitString) {
                ids.add_both(tag);
            } else {
                ids.add(tag, false);
            }
        }
        _ if slot.kind == Kind::Choice => add_alternatives(program, slot.node, ids, depth),
        _ => *ids = Identifiers::any(),
    }
}

fn add_alternatives(program: &Program, node: NodeId, ids: &mut Identifiers, depth: u32) {
    // A CHOICE that reaches itself without a tag is not legal; the depth guards against plans made by hand.
    if depth < 64
        && let Some(code) = program.nodes.get(node.index())
    {
        for slot in program.slots_of(code) {
            add_slot(program, slot, ids, depth + 1);
        }
    }
}
