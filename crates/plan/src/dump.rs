//! Plans as text.

use crate::ber::{self, flags};
use crate::oer;
use crate::per::{self, Addition};
use crate::shape::{Constant, NodeId, Place, Presence, Shape};
use crate::{Code, Plan};
use std::fmt::Write;

pub(crate) fn dump(plan: &Plan) -> String {
    let shape = &*plan.shape;
    let program = &plan.code;
    let mut out = String::new();
    for root in &shape.roots {
        let _ = write!(out, "root {} = ", shape.name(root.name));
        entry(&mut out, program, root.node);
    }
    for index in 0..shape.nodes.len() {
        node(&mut out, shape, program, NodeId(index as u32));
    }
    for (index, table) in shape.tables.iter().enumerate() {
        let name = table.name.map_or("", |n| shape.name(n));
        let dots = if table.extensible { " ..." } else { "" };
        let _ = writeln!(out, "table {index} {name}{dots}");
        for row in &table.rows {
            let name = row.type_name.map_or("", |n| shape.name(n));
            let _ = write!(out, "  {:?}: {name} ", row.keys);
            entry(&mut out, program, row.node);
        }
    }
    out
}

fn entry(out: &mut String, code: &Code, node: NodeId) {
    let _ = write!(out, "node {}", node.0);
    if let Code::Ber(program) = code
        && let Some(slot) =
            program.nodes.get(node.index()).and_then(|code| program.slots.get(code.entry as usize))
    {
        let _ = write!(out, " {}", tags(program, slot));
    }
    out.push('\n');
}

fn node(out: &mut String, shape: &Shape, code: &Code, id: NodeId) {
    let node = shape.node(id);
    let _ = write!(out, "node {} {:?}", id.0, node.kind);
    if let Some(name) = node.name {
        let _ = write!(out, " {}", shape.name(name));
    }
    if node.extensible {
        out.push_str(" ...");
    }
    if let Some(inside) = node.containing {
        let _ = write!(out, " containing node {}", inside.0);
    }
    if let Some(table) = &node.table {
        let _ = write!(out, " table {} by {:?}", table.table, table.keys);
    }
    if let Some(constraint) = node.constraint.and_then(|c| shape.constraints.get(c as usize)) {
        if let Some((low, high)) = constraint.integer {
            let _ = write!(out, " ({}..{})", bound(low, "MIN"), bound(high, "MAX"));
        }
        if let Some((low, high)) = constraint.size {
            let _ = write!(out, " SIZE({low}..{})", bound(high, "MAX"));
        }
    }
    match code {
        Code::Per(program) => per(out, program, id),
        Code::Oer(program) => oer(out, program, id),
        Code::Ber(_) => {}
    }
    out.push('\n');
    for (field_id, field) in shape.fields_of(id) {
        out.push_str("  ");
        if let Code::Ber(program) = code
            && let Some(slot) = program.slots.get(field_id.index())
        {
            let _ = write!(out, "{} ", tags(program, slot));
        }
        let kind = shape.node(field.node).kind;
        let _ = write!(out, "{}: node {} {kind:?}", shape.name(field.name), field.node.0);
        for alias in &field.aliases {
            let _ = write!(out, " {}", shape.name(*alias));
        }
        match field.presence {
            Presence::Mandatory => {}
            Presence::Optional => out.push_str(" OPTIONAL"),
            Presence::Default(at) => {
                let _ = write!(
                    out,
                    " DEFAULT {}",
                    shape.defaults.get(at as usize).map_or_else(String::new, constant)
                );
            }
        }
        match field.place {
            Place::Root => {}
            Place::Addition(n) => {
                let _ = write!(out, " addition {n}");
            }
            Place::Group(n) => {
                let _ = write!(out, " group {n}");
            }
        }
        if let Some(key) = field.key {
            let _ = write!(out, " key {key}");
        }
        out.push('\n');
    }
    for item in shape.items_of(id) {
        let dots = if item.addition { " addition" } else { "" };
        let _ = writeln!(out, "  {} = {}{dots}", shape.name(item.name), item.value);
    }
}

fn bound<T: ToString>(value: Option<T>, none: &str) -> String {
    value.map_or_else(|| none.to_owned(), |v| v.to_string())
}

fn constant(value: &Constant) -> String {
    match value {
        Constant::Boolean(value) => value.to_string(),
        Constant::Int(value) => value.to_string(),
        other => format!("{other:?}"),
    }
}

/// The code of a node in PER: the record, and what it points to.
fn per(out: &mut String, program: &per::Program, id: NodeId) {
    let Some(code) = program.nodes.get(id.index()) else { return };
    let _ = match *code {
        per::Code::Enumerated(at) => write!(out, " {:?}", program.enumerations.get(at as usize)),
        per::Code::Characters(size, at) => write!(out, " {size:?} {:?}", program.alphabets.get(at as usize)),
        per::Code::Time(at) => write!(out, " {:?}", program.times.get(at as usize)),
        per::Code::Choice(at) => write!(out, " {:?}", program.choices.get(at as usize)),
        per::Code::Sequence(at) => {
            let Some(sequence) = program.sequences.get(at as usize) else { return };
            let root: Vec<u32> = sequence.root.iter().map(|member| member.field).collect();
            let _ = write!(out, " {} presence bits, order {root:?}", sequence.optional);
            for addition in &sequence.additions {
                let _ = match addition {
                    Addition::Single(field) => write!(out, ", [{field}]"),
                    Addition::Group { members, .. } => {
                        let members: Vec<u32> = members.iter().map(|member| member.field).collect();
                        write!(out, ", [{members:?}]")
                    }
                };
            }
            Ok(())
        }
        per::Code::Integer(per::Integer { form: per::IntegerForm::Large(at), extensible }) => {
            write!(out, " {:?} extensible {extensible}", program.large.get(at as usize))
        }
        code => write!(out, " {code:?}"),
    };
}

/// The code of a node in OER: the record, and what it points to.
fn oer(out: &mut String, program: &oer::Program, id: NodeId) {
    let Some(code) = program.nodes.get(id.index()) else { return };
    match *code {
        oer::Code::Sequence(at) => {
            let Some(sequence) = program.sequences.get(at as usize) else { return };
            let root: Vec<u32> = sequence.root.iter().map(|member| member.field).collect();
            let optional = sequence.optional;
            let _ = write!(out, " {optional} presence bits, order {root:?}");
            for addition in &sequence.additions {
                let _ = write!(out, ", {:?}", addition.fields().collect::<Vec<_>>());
            }
        }
        oer::Code::Choice(at) => {
            let Some(choice) = program.choices.get(at as usize) else { return };
            out.push_str(" by");
            for (bits, field) in &choice.tags {
                out.push(' ');
                tag(out, *bits);
                let _ = write!(out, "={field}");
            }
        }
        oer::Code::Time(at) => {
            let _ = write!(out, " {:?}", program.times.get(at as usize));
        }
        code => {
            let _ = write!(out, " {code:?}");
        }
    }
}

fn tags(program: &ber::Program, slot: &ber::Slot) -> String {
    let mut out = String::new();
    if slot.tag == ber::UNTAGGED {
        out.push_str("[any]");
    } else {
        tag(&mut out, slot.tag);
    }
    for &inner in program.chain(slot) {
        tag(&mut out, inner);
    }
    if slot.flags & flags::WILD != 0 {
        out.push('*');
    }
    out
}

fn tag(out: &mut String, bits: u32) {
    let class = ["UNIVERSAL ", "APPLICATION ", "", "PRIVATE "][(bits >> 30) as usize];
    let _ = write!(out, "[{class}{}]", bits & 0x1FFF_FFFF);
}
