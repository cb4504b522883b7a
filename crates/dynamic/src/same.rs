//! Whether a value on a tape is the DEFAULT of its component.

use crate::ErrorKind;
use crate::contents::normal_real;
use crate::event::Leaf;
use crate::fault::Fault;
use crate::leaf::number;
use crate::tape::{Token, View};
use tercet_plan::shape::{Constant, Presence};
use tercet_plan::{FieldId, Kind, NodeId, Shape};
use tercet_runtime::ber::{Rules, Writer, decode_bit_string};

/// Constants inside one another that are followed.
const DEPTH: u32 = 100;

/// Elements of a SET OF that are compared in any order.
const ELEMENTS: usize = 256;

/// A value, and what is needed to compare its parts with constants.
pub(crate) struct Comparison<'a> {
    pub(crate) shape: &'a Shape,
    pub(crate) value: View<'a>,
    /// Whether trailing zero bits of a BIT STRING mean nothing.
    pub(crate) is_named: &'a dyn Fn(NodeId) -> bool,
    /// For REAL in its normal form.
    pub(crate) normal: &'a mut Writer,
}

impl Comparison<'_> {
    /// Whether the value at an index of the tape is a constant of the shape.
    pub(crate) fn is_constant(&mut self, index: usize, node: NodeId, constant: u32) -> bool {
        let shape = self.shape;
        shape.defaults.get(constant as usize).is_some_and(|constant| is_same(self, constant, index, node, 0))
    }
}

/// The octets of an EMBEDDED PDV or CHARACTER STRING at an index of the tape, if what identifies them is a constant of the
/// shape (X.691 §28.2, X.696 §25).
pub(crate) fn predefined<'a>(
    shape: &Shape,
    value: View<'a>,
    normal: &mut Writer,
    (open, node): (usize, NodeId),
    constant: u32,
) -> Result<&'a [u8], Fault> {
    let Token::Open { close, .. } = value.token(open) else { return Err(ErrorKind::ValueMismatch.into()) };
    let (mut identified, mut octets) = (false, None);
    let mut index = open + 1;
    while index < close {
        match value.token(index) {
            Token::Open { node, .. } if !identified => {
                let mut comparison = Comparison { shape, value, is_named: &|_| false, normal };
                if !comparison.is_constant(index, node, constant) {
                    return Err(ErrorKind::ConstraintViolated.into());
                }
                identified = true;
            }
            Token::Leaf { leaf, .. } if octets.is_none() => octets = leaf.contents(),
            _ => return Err(ErrorKind::ValueMismatch.into()),
        }
        index = value.skip(index);
    }
    let missing = |number| {
        let field = shape.fields_of(node).nth(number).map(|(id, _)| id);
        Fault { kind: ErrorKind::MissingComponent, field }
    };
    if !identified {
        return Err(missing(0));
    }
    octets.ok_or_else(|| missing(1))
}

fn is_same(this: &mut Comparison<'_>, constant: &Constant, index: usize, node: NodeId, depth: u32) -> bool {
    if depth > DEPTH {
        return false;
    }
    match (constant, this.value.token(index)) {
        (Constant::Boolean(value), Token::Leaf { leaf: Leaf::Int(number), .. }) => *value == (number != 0),
        (Constant::Boolean(value), Token::Leaf { leaf, .. }) => {
            leaf.contents().is_some_and(|contents| *value == contents.iter().any(|octet| *octet != 0))
        }
        (Constant::Int(value), Token::Leaf { leaf, .. }) => number(leaf) == Some(*value),
        (Constant::Contents(default), Token::Leaf { leaf, .. }) => {
            leaf.contents().is_some_and(|contents| same_contents(this, node, default, contents))
        }
        (Constant::Struct(fields), Token::Open { close, .. }) => {
            same_struct(this, fields, index + 1, close, node, depth + 1)
        }
        (Constant::List(values), Token::Open { close, .. }) => {
            same_list(this, values, index + 1, close, node, depth)
        }
        (Constant::Choice(field, value), Token::Open { .. }) => {
            let (Token::Leaf { field: here, .. } | Token::Open { field: here, .. }) =
                this.value.token(index + 1)
            else {
                return false;
            };
            let node = this.shape.field(*field).node;
            here == *field && is_same(this, value, index + 1, node, depth + 1)
        }
        (Constant::Open(inside, value), Token::Open { .. }) => {
            is_same(this, value, index + 1, *inside, depth + 1)
        }
        _ => false,
    }
}

fn same_contents(this: &mut Comparison<'_>, node: NodeId, default: &[u8], contents: &[u8]) -> bool {
    match this.shape.node(node).kind {
        Kind::BitString => {
            let bits = |octets| decode_bit_string(octets, 0, Rules::Ber);
            let (Ok(a), Ok(b)) = (bits(default), bits(contents)) else { return false };
            if (this.is_named)(node) { a.trimmed(0) == b.trimmed(0) } else { a == b }
        }
        Kind::Real => {
            let Ok(contents) = normal_real(this.normal, contents) else { return false };
            contents == default
        }
        _ => default == contents,
    }
}

fn same_struct(
    this: &mut Comparison<'_>,
    fields: &[(FieldId, Constant)],
    begin: usize,
    close: usize,
    node: NodeId,
    depth: u32,
) -> bool {
    let shape = this.shape;
    let default_of = |field: FieldId| match shape.fields.get(field.index()).map(|field| field.presence) {
        Some(Presence::Default(constant)) => shape.defaults.get(constant as usize),
        _ => None,
    };
    let mut met = Vec::new();
    let mut index = begin;
    while index < close {
        let next = this.value.skip(index);
        if let Token::Leaf { field, .. } | Token::Open { field, .. } = this.value.token(index) {
            let given = fields.iter().find(|(id, _)| *id == field).map(|(_, constant)| constant);
            let Some(constant) = given.or_else(|| default_of(field)) else { return false };
            if field.0.wrapping_sub(shape.node(node).first) >= shape.node(node).count
                || !is_same(this, constant, index, shape.field(field).node, depth)
            {
                return false;
            }
            met.push(field);
        } else if let Token::Unknown { .. } = this.value.token(index) {
            return false;
        }
        index = next;
    }
    fields.iter().all(|(field, constant)| met.contains(field) || default_of(*field) == Some(constant))
}

fn same_list(
    this: &mut Comparison<'_>,
    values: &[Constant],
    begin: usize,
    close: usize,
    node: NodeId,
    depth: u32,
) -> bool {
    let shape = this.shape;
    let element = shape.field(FieldId(shape.node(node).first)).node;
    let any_order = shape.node(node).kind == Kind::SetOf;
    if any_order && values.len() > ELEMENTS {
        return false;
    }
    let mut left: Vec<&Constant> = values.iter().collect();
    let mut index = begin;
    while index < close {
        let among = if any_order { left.len() } else { left.len().min(1) };
        let found = (0..among).find(|at| is_same(this, left[*at], index, element, depth + 1));
        let Some(found) = found else { return false };
        left.remove(found);
        index = this.value.skip(index);
    }
    left.is_empty()
}
