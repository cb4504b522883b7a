//! `into_owned`: the same value without a borrow; what keeps slices of the input has none.

use super::Printer;
use super::imports::BOX;
use crate::types::{Edge, Repr};
use tercet_plan::NodeId;

pub(super) fn print(p: &mut Printer<'_>) {
    let nodes: Vec<NodeId> =
        p.types.nodes().filter(|node| p.types.borrows(*node) && p.is_item(*node)).collect();
    let can = |node: &NodeId| !p.is_apart(*node) && !p.types.has_slice(*node);
    for node in nodes.into_iter().filter(can).collect::<Vec<_>>() {
        let name = p.names.ty(node).to_owned();
        p.text.line("");
        p.text.open(format!("impl {name}<'_> {{"));
        p.text.doc("Returns the value without borrows.");
        p.text.line("#[must_use]");
        p.text.open(format!("pub fn into_owned(self) -> {name}<'static> {{"));
        let shape = p.types.shape;
        match p.types.repr(node) {
            Repr::Struct => {
                p.text.open(format!("{name} {{"));
                let mut members = Vec::new();
                for (id, field) in shape.fields_of(node) {
                    let member = p.names.field(id).to_owned();
                    let value = if p.is_option(id) {
                        match held(p, Edge::Field(id), field.node, "v") {
                            Some(owned) => format!("self.{member}.map(|v| {owned})"),
                            None => format!("self.{member}"),
                        }
                    } else {
                        let place = format!("self.{member}");
                        held(p, Edge::Field(id), field.node, &place).unwrap_or(place)
                    };
                    members.push(format!("{member}: {value},"));
                }
                members.extend(p.names.additions(node).map(|name| format!("{name}: self.{name},")));
                p.text.fill(members);
                p.text.close("}");
            }
            Repr::Choice => {
                p.text.line(format!("use {name} as To;"));
                p.text.open("match self {");
                let mut arms = Vec::new();
                for (id, field) in shape.fields_of(node) {
                    let value = held(p, Edge::Field(id), field.node, "v").unwrap_or_else(|| "v".into());
                    let variant = p.names.field(id).to_owned();
                    arms.push(format!("Self::{variant}(v) => To::{variant}({value}),"));
                }
                if shape.node(node).extensible {
                    arms.push(format!("Self::Unknown(v) => To::Unknown({BOX}::new(v.into_owned())),"));
                }
                p.text.fill(arms);
                p.text.close("}");
            }
            Repr::Table(table) => {
                p.text.line(format!("use {name} as To;"));
                p.text.open("match self {");
                let mut arms = Vec::new();
                for (number, row) in (0..).zip(&shape.tables[table as usize].rows) {
                    let value = held(p, Edge::Row(node, number), row.node, "v").unwrap_or_else(|| "v".into());
                    let variant = p.names.row(node, number).to_owned();
                    arms.push(format!("Self::{variant}(v) => To::{variant}({value}),"));
                }
                arms.push("Self::Other(v) => To::Other(v.into_owned()),".into());
                p.text.fill(arms);
                p.text.close("}");
            }
            _ => {
                let value = inside(p, node, "self.0").unwrap_or_else(|| "self.0".into());
                p.text.line(format!("{name}({value})"));
            }
        }
        p.text.close("}");
        p.text.close("}");
    }
    let wrappers: Vec<(NodeId, String)> = p
        .roots
        .iter()
        .filter(|root| root.wraps && p.types.borrows(root.node) && !p.types.has_slice(root.node))
        .map(|root| (root.node, root.name.clone()))
        .collect();
    for (node, name) in wrappers {
        let value = owned(p, node, "self.0").unwrap_or_else(|| "self.0".into());
        p.text.line("");
        p.text.open(format!("impl {name}<'_> {{"));
        p.text.doc("Returns the value without borrows.");
        p.text.line("#[must_use]");
        p.text.line(format!("pub fn into_owned(self) -> {name}<'static> {{ {name}({value}) }}"));
        p.text.close("}");
    }
}

/// The expression for a value in place `v`; nothing if it does not borrow.
fn held(p: &Printer<'_>, edge: Edge, node: NodeId, v: &str) -> Option<String> {
    if p.types.is_boxed(edge) {
        let owned = owned(p, node, &format!("(*{v})"))?;
        return Some(format!("{BOX}::new({owned})"));
    }
    owned(p, node, v)
}

fn owned(p: &Printer<'_>, node: NodeId, v: &str) -> Option<String> {
    if p.types.borrows(node) && p.types.is_newtype(node) {
        return Some(format!("{v}.into_owned()"));
    }
    inside(p, node, v)
}

/// The same without the struct around a list of itself.
fn inside(p: &Printer<'_>, node: NodeId, v: &str) -> Option<String> {
    if !p.types.borrows(node) {
        return None;
    }
    let node = p.types.same(node);
    Some(match p.types.repr(node) {
        Repr::List => {
            if p.types.is_lazy(node) {
                let element = owned(p, p.types.element(node), "v").unwrap_or_else(|| "v".into());
                return Some(format!("{v}.map_owned(|v| {element})"));
            }
            let element = owned(p, p.types.element(node), "v")?;
            format!("{v}.into_iter().map(|v| {element}).collect()")
        }
        Repr::Contained(inside) => {
            let inside = held(p, Edge::Content(node), inside, "v").unwrap_or_else(|| "v".into());
            format!("{v}.map_owned(|v| {inside})")
        }
        _ => format!("{v}.into_owned()"),
    })
}
