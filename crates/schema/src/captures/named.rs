//! Values in rows: constants have the names of the specification, and information elements of a procedure are columns by their
//! names.

use super::envelope::{add_node, add_sequence};
use super::value::Form;
use std::collections::HashMap;
use tercet_dynamic::text::push_integer;
use tercet_dynamic::{FieldId, Leaf, NodeId, Shape, Sink as _, Tape, Token, View};
use tercet_plan::Kind;
use tercet_plan::shape::{Key, Node};

/// How the values of a type become those of rows.
#[derive(Debug)]
pub(super) struct Named {
    /// The type of constants with names.
    text: NodeId,
    /// The names of constants, by the component that holds them; empty if constants are numbers.
    names: HashMap<FieldId, HashMap<i64, Box<str>>>,
    procedure: Option<Procedure>,
}

/// The columns of messages that are procedures: `kind`, `procedureCode`, `criticality`, `IEs`, `other`.
#[derive(Debug)]
struct Procedure {
    node: NodeId,
    kind: FieldId,
    code: (FieldId, NodeId),
    criticality: (FieldId, NodeId),
    elements: (FieldId, NodeId),
    /// JSON of what else a message has.
    other: FieldId,
    /// JSON of elements without a column of their own, and of those that a message has once more.
    unlisted: FieldId,
    /// An open type, whose column is JSON text.
    open: NodeId,
    /// The column of an information element, by the component that holds its number, and the number. It has the type of the
    /// values if they have no parts.
    columns: HashMap<(FieldId, i64), (FieldId, Option<NodeId>)>,
}

/// An information element in the sets of a specification.
struct Element {
    number: i64,
    name: String,
    /// The type, if it is the same in all sets, and has no parts.
    leaf: Option<NodeId>,
    /// The components that hold its number.
    ids: Vec<FieldId>,
}

impl Named {
    /// Adds the types of rows to a shape whose values have a type.
    pub(super) fn new(shape: &mut Shape, value: NodeId, text: NodeId, number: NodeId, form: Form) -> Self {
        let found = if form.lists { None } else { procedure(shape, value) };
        let mut names = HashMap::new();
        if !form.numbers {
            for (field, of_field) in shape.value_names.clone() {
                let of_field = of_field.iter().map(|(number, name)| (*number, shape.name(*name).into()));
                names.insert(field, of_field.collect::<HashMap<_, _>>());
                if shape.node(shape.field(field).node).kind == Kind::Integer {
                    shape.fields[field.index()].node = text;
                }
            }
        }
        let procedure = found.map(|(criticality, elements)| {
            let code = if form.numbers { number } else { text };
            Procedure::new(shape, text, code, criticality, &elements)
        });
        Self { text, names, procedure }
    }

    /// Returns the type of the values in rows.
    pub(super) fn node(&self, value: NodeId) -> NodeId {
        self.procedure.as_ref().map_or(value, |procedure| procedure.node)
    }

    /// Puts a value on a tape, as a component of a row.
    pub(super) fn put(&self, shape: &Shape, view: View<'_>, field: FieldId, tape: &mut Tape) {
        if let Some(procedure) = &self.procedure {
            return self.put_procedure(procedure, shape, view, field, tape);
        }
        match view.token(0) {
            Token::Open { node, close, .. } => {
                tape.open(field, node);
                self.replay(view, 1..close, tape);
                tape.close(field, node);
            }
            Token::Leaf { node, leaf, .. } => tape.leaf(field, node, leaf),
            _ => {}
        }
    }

    /// Repeats a part of a value, with the names of constants.
    fn replay(&self, view: View<'_>, part: std::ops::Range<usize>, tape: &mut Tape) {
        let mut at = part.start;
        if self.names.is_empty() || view.marks() > 0 {
            while at < part.end {
                view.replay_part(at, tape);
                at = view.skip(at);
            }
            return;
        }
        for at in part {
            match view.token(at) {
                Token::Open { field, node, .. } => tape.open(field, node),
                Token::Close { field, node, .. } => tape.close(field, node),
                Token::Leaf { field, node, leaf } => self.leaf(field, node, leaf, field, tape),
                Token::Default { field, node, constant } => tape.absent(field, node, constant),
                Token::Unknown { addition, leaf } => tape.unknown(addition, leaf),
            }
        }
    }

    /// Puts a leaf on a tape as the component `put_as`: its name, if it is a constant.
    fn leaf(&self, field: FieldId, node: NodeId, leaf: Leaf<'_>, put_as: FieldId, tape: &mut Tape) {
        let Leaf::Int(number) = leaf else { return tape.leaf(put_as, node, leaf) };
        match self.names.get(&field) {
            None => tape.leaf(put_as, node, leaf),
            Some(names) => match names.get(&number) {
                Some(name) => tape.leaf(put_as, self.text, Leaf::Made(name.as_bytes())),
                None => {
                    let mut digits = Vec::new();
                    push_integer(&mut digits, number);
                    tape.leaf(put_as, self.text, Leaf::Made(&digits));
                }
            },
        }
    }

    fn put_procedure(
        &self,
        procedure: &Procedure,
        shape: &Shape,
        view: View<'_>,
        field: FieldId,
        tape: &mut Tape,
    ) {
        let Token::Open { .. } = view.token(0) else { return };
        tape.open(field, procedure.node);
        let mut message = None;
        if view.len() > 1
            && let Token::Open { field, close, .. } = view.token(1)
        {
            tape.leaf(procedure.kind, self.text, Leaf::Made(name_of(shape, field).as_bytes()));
            for part in parts(view, 1, close) {
                match view.token(part) {
                    Token::Leaf { field, node, leaf } if name_of(shape, field) == "procedureCode" => {
                        self.leaf(field, node, leaf, procedure.code.0, tape);
                    }
                    Token::Leaf { field, leaf, .. } if name_of(shape, field) == "criticality" => {
                        tape.leaf(procedure.criticality.0, procedure.criticality.1, leaf);
                    }
                    _ => message = Some(part),
                }
            }
        }
        if let Some(message) = message {
            self.put_message(procedure, shape, view, message, tape);
        }
        tape.close(field, procedure.node);
    }

    /// Puts the information elements of a message on a tape, and what else it has.
    fn put_message(&self, procedure: &Procedure, shape: &Shape, view: View<'_>, at: usize, tape: &mut Tape) {
        let opened = match view.token(at) {
            Token::Open { close, .. } if at + 1 < close => match view.token(at + 1) {
                Token::Open { node, close, .. } if shape.node(node).kind == Kind::Sequence => {
                    Some((node, close))
                }
                _ => None,
            },
            _ => None,
        };
        let Some((node, close)) = opened else {
            // Octets of a message that the specification does not have, or a message of another kind.
            tape.open(procedure.other, procedure.open);
            match view.token(at) {
                Token::Open { close, .. } => self.replay(view, at + 1..close, tape),
                Token::Leaf { node, leaf, .. } => tape.leaf(FieldId::ROOT, node, leaf),
                _ => {}
            }
            return tape.close(procedure.other, procedure.open);
        };
        let is_list = |part: &usize| match view.token(*part) {
            Token::Open { field, node, .. } => {
                shape.node(node).kind == Kind::SequenceOf && name_of(shape, field) == "protocolIEs"
            }
            _ => false,
        };
        if let Some(list) = parts(view, at + 1, close).find(is_list) {
            self.put_elements(procedure, view, list, tape);
        }
        let others: Vec<_> = parts(view, at + 1, close).filter(|part| !is_list(part)).collect();
        if !others.is_empty() {
            tape.open(procedure.other, procedure.open);
            tape.open(FieldId::ROOT, node);
            for part in others {
                self.replay(view, part..view.skip(part), tape);
            }
            tape.close(FieldId::ROOT, node);
            tape.close(procedure.other, procedure.open);
        }
    }

    fn put_elements(&self, procedure: &Procedure, view: View<'_>, list: usize, tape: &mut Tape) {
        let Token::Open { node: list_node, close, .. } = view.token(list) else { return };
        let (field, node) = procedure.elements;
        tape.open(field, node);
        let (mut known, mut unlisted) = (Vec::new(), Vec::new());
        for element in parts(view, list, close) {
            match self.put_element(procedure, view, element, &known, tape) {
                Some(column) => known.push(column),
                None => unlisted.push(element),
            }
        }
        if !unlisted.is_empty() {
            tape.open(procedure.unlisted, procedure.open);
            tape.open(FieldId::ROOT, list_node);
            for element in unlisted {
                self.replay(view, element..view.skip(element), tape);
            }
            tape.close(FieldId::ROOT, list_node);
            tape.close(procedure.unlisted, procedure.open);
        }
        tape.close(field, node);
    }

    /// Puts an information element into its column, and returns the column; `None` if there is none, or it has a value.
    fn put_element(
        &self,
        procedure: &Procedure,
        view: View<'_>,
        at: usize,
        known: &[FieldId],
        tape: &mut Tape,
    ) -> Option<FieldId> {
        let Token::Open { close, .. } = view.token(at) else { return None };
        let mut of_element = parts(view, at, close);
        let Token::Leaf { field, leaf: Leaf::Int(number), .. } = view.token(of_element.next()?) else {
            return None;
        };
        let &(column, leaf) = procedure.columns.get(&(field, number))?;
        let value = of_element.last().filter(|_| !known.contains(&column))?;
        match (leaf, view.token(value)) {
            (Some(expected), Token::Open { .. }) => match view.token(value + 1) {
                Token::Leaf { node, leaf, .. } if node == expected => tape.leaf(column, node, leaf),
                _ => return None,
            },
            (None, Token::Open { close, .. }) => {
                tape.open(column, procedure.open);
                self.replay(view, value + 1..close, tape);
                tape.close(column, procedure.open);
            }
            _ => return None,
        }
        Some(column)
    }
}

impl Procedure {
    /// Adds the types of the columns.
    fn new(shape: &mut Shape, text: NodeId, code: NodeId, criticality: NodeId, elements: &[Element]) -> Self {
        let open = add_node(shape, Node::blank(Kind::Open));
        let columns: Vec<_> = elements.iter().map(|it| (&*it.name, it.leaf.unwrap_or(open))).collect();
        let (ies, fields) = add_sequence(shape, &[&columns[..], &[("unlisted", open)]].concat());
        let mut by_number = HashMap::new();
        for (element, field) in elements.iter().zip(&fields) {
            by_number.extend(element.ids.iter().map(|id| ((*id, element.number), (*field, element.leaf))));
        }
        let (node, of_value) = add_sequence(
            shape,
            &[
                ("kind", text),
                ("procedureCode", code),
                ("criticality", criticality),
                ("IEs", ies),
                ("other", open),
            ],
        );
        Self {
            node,
            kind: of_value[0],
            code: (of_value[1], code),
            criticality: (of_value[2], criticality),
            elements: (of_value[3], ies),
            other: of_value[4],
            unlisted: fields[elements.len()],
            open,
            columns: by_number,
        }
    }
}

/// Returns the type of criticalities and the information elements of all messages, by number, if a type is that of procedures:
/// alternatives of a code, a criticality and an open type, in which some messages have lists of information elements.
fn procedure(shape: &Shape, value: NodeId) -> Option<(NodeId, Vec<Element>)> {
    if shape.node(value).kind != Kind::Choice {
        return None;
    }
    let (mut criticality, mut messages) = (None, Vec::new());
    for (_, alternative) in shape.fields_of(value) {
        component(shape, alternative.node, "procedureCode")?;
        criticality = Some(component(shape, alternative.node, "criticality")?.1);
        messages.extend(rows(shape, component(shape, alternative.node, "value")?.1).map(|(_, node)| node));
    }
    messages.sort_unstable();
    messages.dedup();
    let mut elements: Vec<Element> = Vec::new();
    let mut by_name: HashMap<String, usize> = HashMap::new();
    for message in messages {
        let Some((_, list)) = component(shape, message, "protocolIEs") else { continue };
        let Some((_, element)) = shape.fields_of(list).next().filter(|_| is_list(shape, list)) else {
            continue;
        };
        let Some((id, _)) = component(shape, element.node, "id") else { continue };
        let Some((_, open)) = component(shape, element.node, "value") else { continue };
        for (number, node) in rows(shape, open) {
            let name = shape.value_name(id, number).map_or_else(|| number.to_string(), str::to_owned);
            let name = name.strip_prefix("id-").unwrap_or(&name).to_owned();
            let leaf = Kind::LEAVES.contains(&shape.node(node).kind) && shape.node(node).containing.is_none();
            let leaf = leaf.then_some(node);
            let at = *by_name.entry(name.clone()).or_insert_with(|| {
                elements.push(Element { number, name, leaf, ids: Vec::new() });
                elements.len() - 1
            });
            if elements[at].leaf != leaf {
                elements[at].leaf = None;
            }
            elements[at].ids.push(id);
        }
    }
    elements.sort_by_key(|element| element.number);
    criticality.filter(|_| !elements.is_empty()).map(|criticality| (criticality, elements))
}

fn is_list(shape: &Shape, node: NodeId) -> bool {
    shape.node(node).kind == Kind::SequenceOf
}

/// Returns a component of a SEQUENCE and its type.
fn component(shape: &Shape, sequence: NodeId, name: &str) -> Option<(FieldId, NodeId)> {
    if shape.node(sequence).kind != Kind::Sequence {
        return None;
    }
    let mut fields = shape.fields_of(sequence);
    fields.find(|(_, field)| shape.name(field.name) == name).map(|(id, field)| (id, field.node))
}

/// Returns the types in an open type, each with its number.
fn rows(shape: &Shape, open: NodeId) -> impl Iterator<Item = (i64, NodeId)> {
    let table = shape.node(open).table.as_ref().and_then(|it| shape.tables.get(it.table as usize));
    table.into_iter().flat_map(|table| &table.rows).filter_map(|row| match row.keys[..] {
        [Key::Int(number)] => Some((number, row.node)),
        _ => None,
    })
}

/// Returns the indices of the parts of a value.
pub(super) fn parts(view: View<'_>, at: usize, close: usize) -> impl Iterator<Item = usize> {
    let mut next = at + 1;
    std::iter::from_fn(move || {
        let part = (next < close).then_some(next)?;
        next = view.skip(next);
        Some(part)
    })
}

fn name_of(shape: &Shape, field: FieldId) -> &str {
    match field {
        FieldId::ROOT => "",
        field => shape.name(shape.field(field).name),
    }
}
