//! Rows of messages: columns of the message before those of its value, as one type that all formats know how to write.

use super::decoder::Decoded;
use super::identifiers;
use super::named::Named;
use super::value::Form;
use serde_json::Value;
use std::sync::Arc;
use tercet_capture::{Endpoint, Pdu, Protocol};
use tercet_dynamic::{FieldId, Leaf, NodeId, Shape, Sink as _, Tape, View};
use tercet_plan::shape::{Constraint, Field, Node, Place, Presence};
use tercet_plan::{Kind, NameId};

/// A shape of rows: that of a specification, with a type around the messages.
#[derive(Debug)]
pub struct Envelope {
    /// The shape.
    pub shape: Arc<Shape>,
    /// The type of rows in it.
    pub root: NodeId,
    /// The type of numbers and the type of texts.
    number: NodeId,
    text: NodeId,
    texts: [FieldId; 7],
    frame: FieldId,
    identifiers: (FieldId, NodeId),
    /// The columns of identifiers, by their keys.
    keys: Vec<(&'static str, FieldId)>,
    value: FieldId,
    named: Named,
}

/// Columns of texts, in order.
const TEXTS: [&str; 7] = ["time", "protocol", "src", "dst", "stream", "message", "error"];

impl Envelope {
    /// Returns the rows of messages of a protocol whose values have a type.
    ///
    /// By default, constants have the names of the specification, and the information elements of procedures are columns by
    /// their names.
    pub fn new(values: &Shape, value: NodeId, protocol: &Protocol, form: Form) -> Self {
        let mut shape = values.clone();
        let bounds = Constraint {
            integer: Some((Some(0), Some(i64::MAX.into()))),
            size: None,
            alphabet: None,
            base: None,
            extensible: false,
        };
        shape.constraints.push(bounds);
        let constraint = Some(shape.constraints.len() as u32 - 1);
        let number = add_node(&mut shape, Node { constraint, ..Node::blank(Kind::Integer) });
        let text = add_node(&mut shape, Node::blank(Kind::Utf8String));
        let named = Named::new(&mut shape, value, text, number, form);
        let keys: Vec<_> = identifiers::columns(protocol)
            .into_iter()
            .map(|(key, is_number)| (key, if is_number { number } else { text }))
            .collect();
        let (ids, of_ids) = add_sequence(&mut shape, &keys);
        let mut columns = vec![("frame", number)];
        columns.extend(TEXTS[..6].iter().map(|name| (*name, text)));
        columns.extend([("ids", ids), (TEXTS[6], text), ("value", named.node(value))]);
        let (root, fields) = add_sequence(&mut shape, &columns);
        Self {
            shape: Arc::new(shape),
            root,
            number,
            text,
            frame: fields[0],
            texts: [fields[1], fields[2], fields[3], fields[4], fields[5], fields[6], fields[8]],
            identifiers: (fields[7], ids),
            keys: keys.iter().map(|(key, _)| *key).zip(of_ids).collect(),
            value: fields[9],
            named,
        }
    }

    /// Puts a message on a tape: its columns, then the value, if it was decoded.
    pub fn row(&self, pdu: &Pdu<'_>, decoded: &Decoded, value: Option<View<'_>>, tape: &mut Tape) {
        tape.clear();
        tape.open(FieldId::ROOT, self.root);
        let number = |tape: &mut Tape, field, number: u64| {
            tape.leaf(field, self.number, Leaf::Int(i64::try_from(number).unwrap_or(i64::MAX)));
        };
        number(tape, self.frame, pdu.frame);
        let text = |tape: &mut Tape, at: usize, text: Option<String>| {
            if let Some(text) = text {
                tape.leaf(self.texts[at], self.text, Leaf::Made(text.as_bytes()));
            }
        };
        let address = |it: Endpoint| (it != Endpoint::Unknown).then(|| it.to_string());
        text(tape, 0, pdu.time.map(|time| time.to_string()));
        text(tape, 1, Some(pdu.protocol.name.clone()));
        text(tape, 2, address(pdu.source));
        text(tape, 3, address(pdu.destination));
        text(tape, 4, pdu.stream.map(|stream| stream.to_string()));
        text(tape, 5, decoded.message.clone());
        let (field, node) = self.identifiers;
        tape.open(field, node);
        for (key, field) in &self.keys {
            match decoded.identifiers.iter().find(|(known, _)| known == key).map(|(_, value)| value) {
                Some(Value::Number(value)) => {
                    let value = value.as_i64().unwrap_or(i64::MAX);
                    tape.leaf(*field, self.number, Leaf::Int(value));
                }
                Some(value) => {
                    let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                    tape.leaf(*field, self.text, Leaf::Made(value.as_bytes()));
                }
                None => {}
            }
        }
        tape.close(field, node);
        text(tape, 6, decoded.fault.as_ref().map(|fault| fault.message.clone()));
        if let Some(view) = value.filter(|view| !view.is_empty()) {
            self.named.put(&self.shape, view, self.value, tape);
        }
        tape.close(FieldId::ROOT, self.root);
    }
}

pub(super) fn add_node(shape: &mut Shape, node: Node) -> NodeId {
    shape.nodes.push(node);
    NodeId(shape.nodes.len() as u32 - 1)
}

/// Adds a SEQUENCE whose components may be absent.
pub(super) fn add_sequence(shape: &mut Shape, components: &[(&str, NodeId)]) -> (NodeId, Vec<FieldId>) {
    let first = shape.fields.len() as u32;
    let count = components.len() as u32;
    let sequence = add_node(shape, Node { first, count, second_root: count, ..Node::blank(Kind::Sequence) });
    let mut fields = Vec::new();
    for (name, node) in components {
        let name: NameId = shape.add_name(name);
        fields.push(FieldId(shape.fields.len() as u32));
        shape.fields.push(Field {
            name,
            node: *node,
            parent: sequence,
            presence: Presence::Optional,
            place: Place::Root,
            aliases: Vec::new(),
            key: None,
        });
    }
    (sequence, fields)
}
