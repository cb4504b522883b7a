//! Whether a value on a tape is the DEFAULT of its component.

use super::encode::Engine;
use super::strings::{bits_of, normal_real, number, trimmed};
use crate::event::Leaf;
use crate::tape::Token;
use tercet_plan::per::Code;
use tercet_plan::shape::{Constant, Presence};
use tercet_plan::{FieldId, Kind, NodeId};

/// Constants inside one another that are followed.
const DEPTH: u32 = 100;

/// Elements of a SET OF that are compared in any order.
const ELEMENTS: usize = 256;

/// Whether a component with this DEFAULT is not written: in basic PER for simple types, in canonical PER for all
/// (X.691 §19.5).
pub(super) fn is_left_out(engine: &mut Engine<'_>, constant: u32, index: usize, node: NodeId) -> bool {
    let code = engine.program.nodes.get(node.index());
    let simple =
        !matches!(code, Some(Code::Sequence(_) | Code::SequenceOf(_) | Code::Choice(_) | Code::Open));
    let shape = engine.shape;
    let Some(constant) = shape.defaults.get(constant as usize) else { return false };
    (simple || engine.program.canonical) && is_same(engine, constant, index, node, 0)
}

fn is_same(engine: &mut Engine<'_>, constant: &Constant, index: usize, node: NodeId, depth: u32) -> bool {
    if depth > DEPTH {
        return false;
    }
    match (constant, engine.value.token(index)) {
        (Constant::Boolean(value), Token::Leaf { leaf: Leaf::Int(number), .. }) => *value == (number != 0),
        (Constant::Boolean(value), Token::Leaf { leaf, .. }) => {
            leaf.contents().is_some_and(|contents| *value == contents.iter().any(|octet| *octet != 0))
        }
        (Constant::Int(value), Token::Leaf { leaf, .. }) => number(leaf) == Some(*value),
        (Constant::Contents(default), Token::Leaf { leaf, .. }) => {
            leaf.contents().is_some_and(|contents| same_contents(engine, node, default, contents))
        }
        (Constant::Struct(fields), Token::Open { close, .. }) => {
            same_struct(engine, fields, index + 1, close, node, depth + 1)
        }
        (Constant::List(values), Token::Open { close, .. }) => {
            same_list(engine, values, index + 1, close, node, depth)
        }
        (Constant::Choice(field, value), Token::Open { .. }) => {
            let (Token::Leaf { field: here, .. } | Token::Open { field: here, .. }) =
                engine.value.token(index + 1)
            else {
                return false;
            };
            let node = engine.shape.field(*field).node;
            here == *field && is_same(engine, value, index + 1, node, depth + 1)
        }
        (Constant::Open(inside, value), Token::Open { .. }) => {
            is_same(engine, value, index + 1, *inside, depth + 1)
        }
        _ => false,
    }
}

fn same_contents(engine: &mut Engine<'_>, node: NodeId, default: &[u8], contents: &[u8]) -> bool {
    match engine.shape.node(node).kind {
        Kind::BitString => {
            let (Ok((a, m)), Ok((b, n))) = (bits_of(default), bits_of(contents)) else { return false };
            let named = matches!(
                engine.program.nodes.get(node.index()),
                Some(Code::BitString(_, true) | Code::BitsContaining(_, true))
            );
            let (m, n) = if named { (trimmed(a, m), trimmed(b, n)) } else { (m, n) };
            // The bits behind the end are not compared.
            let rest = n % 8;
            let last = |octets: &[u8]| octets.get(n / 8).map_or(0, |octet| u16::from(*octet) << rest >> 8);
            m == n && a.get(..n / 8) == b.get(..n / 8) && last(a) == last(b)
        }
        Kind::Real => {
            let Ok(contents) = normal_real(&mut engine.state.normal, contents) else { return false };
            contents == default
        }
        _ => default == contents,
    }
}

fn same_struct(
    engine: &mut Engine<'_>,
    fields: &[(FieldId, Constant)],
    begin: usize,
    close: usize,
    node: NodeId,
    depth: u32,
) -> bool {
    let shape = engine.shape;
    let default_of = |field: FieldId| match shape.fields.get(field.index()).map(|field| field.presence) {
        Some(Presence::Default(constant)) => shape.defaults.get(constant as usize),
        _ => None,
    };
    let mut met = Vec::new();
    let mut index = begin;
    while index < close {
        let next = engine.value.skip(index);
        if let Token::Leaf { field, .. } | Token::Open { field, .. } = engine.value.token(index) {
            let given = fields.iter().find(|(id, _)| *id == field).map(|(_, constant)| constant);
            let Some(constant) = given.or_else(|| default_of(field)) else { return false };
            if field.0.wrapping_sub(shape.node(node).first) >= shape.node(node).count
                || !is_same(engine, constant, index, shape.field(field).node, depth)
            {
                return false;
            }
            met.push(field);
        } else if let Token::Unknown { .. } = engine.value.token(index) {
            return false;
        }
        index = next;
    }
    fields.iter().all(|(field, constant)| met.contains(field) || default_of(*field) == Some(constant))
}

fn same_list(
    engine: &mut Engine<'_>,
    values: &[Constant],
    begin: usize,
    close: usize,
    node: NodeId,
    depth: u32,
) -> bool {
    let shape = engine.shape;
    let element = shape.field(FieldId(shape.node(node).first)).node;
    let any_order = shape.node(node).kind == Kind::SetOf;
    if any_order && values.len() > ELEMENTS {
        return false;
    }
    let mut left: Vec<&Constant> = values.iter().collect();
    let mut index = begin;
    while index < close {
        let among = if any_order { left.len() } else { left.len().min(1) };
        let found = (0..among).find(|at| is_same(engine, left[*at], index, element, depth + 1));
        let Some(found) = found else { return false };
        left.remove(found);
        index = engine.value.skip(index);
    }
    left.is_empty()
}
