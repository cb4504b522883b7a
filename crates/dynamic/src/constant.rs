//! DEFAULT values said as events, so that sinks need no second way to show a value.

use crate::event::{Leaf, Sink};
use tercet_plan::shape::Constant;
use tercet_plan::{FieldId, Kind, NodeId, Shape};

/// Says the events of a constant of `Shape::defaults` to a sink.
pub fn say_constant(shape: &Shape, field: FieldId, node: NodeId, constant: u32, sink: &mut impl Sink) {
    if let Some(constant) = shape.defaults.get(constant as usize) {
        say(shape, field, node, constant, sink);
    }
}

/// Says the events of a constant.
pub(crate) fn say(shape: &Shape, field: FieldId, node: NodeId, constant: &Constant, sink: &mut impl Sink) {
    match constant {
        Constant::Boolean(value) => sink.leaf(field, node, Leaf::Int(i64::from(*value))),
        Constant::Int(number) => sink.leaf(field, node, Leaf::Int(*number)),
        Constant::Contents(contents) => sink.leaf(field, node, Leaf::Made(contents)),
        Constant::Struct(members) => {
            sink.open(field, node);
            for (member, value) in members {
                let member = shape.own_field(node, *member);
                say(shape, member, shape.field(member).node, value, sink);
            }
            sink.close(field, node);
        }
        Constant::List(elements) => {
            sink.open(field, node);
            if let Some((element, it)) = shape.fields_of(node).next() {
                for value in elements {
                    say(shape, element, it.node, value, sink);
                }
            }
            sink.close(field, node);
        }
        Constant::Choice(alternative, value) => {
            let alternative = shape.own_field(node, *alternative);
            sink.open(field, node);
            say(shape, alternative, shape.field(alternative).node, value, sink);
            sink.close(field, node);
        }
        Constant::Open(inner, value) if shape.node(node).kind == Kind::Open => {
            sink.open(field, node);
            say(shape, FieldId::ROOT, *inner, value, sink);
            sink.close(field, node);
        }
        Constant::Open(inner, value) => say(shape, field, *inner, value, sink),
    }
}
