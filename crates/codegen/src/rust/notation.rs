//! `Debug`: values in value notation.

use super::Printer;
use super::imports::{CODEC, FMT, NOTATION};
use crate::types::Repr;
use tercet_plan::NodeId;

pub(super) fn print(p: &mut Printer<'_>) {
    let items = p.types.nodes().filter(|node| p.is_item(*node) && !p.is_apart(*node));
    let items = items.map(|node| (node, p.names.ty(node).to_owned()));
    let wrappers = p.roots.iter().filter(|root| root.wraps).map(|root| (root.node, root.name.clone()));
    let all: Vec<(NodeId, String)> = items.chain(wrappers).collect();
    for (node, name) in all {
        let lifetime = if p.types.borrows(node) { "<'_>" } else { "" };
        let wraps = p.roots.iter().any(|root| root.wraps && root.name == name);
        let name = name + lifetime;
        p.text.line("");
        p.text.open(format!("impl {FMT}::Debug for {name} {{"));
        p.text.line(format!(
            "fn fmt(&self, f: &mut {FMT}::Formatter<'_>) -> {FMT}::Result {{ {CODEC}::debug(self, f) }}"
        ));
        p.text.close("}");
        p.text.open(format!("impl {NOTATION} for {name} {{"));
        p.text.open(format!("fn notation(&self, p: &mut {CODEC}::Printer<'_, '_>) -> {FMT}::Result {{"));
        if wraps {
            p.text.line("self.0.notation(p)");
        } else {
            body(p, node);
        }
        p.text.close("}");
        p.text.close("}");
    }
}

fn body(p: &mut Printer<'_>, node: NodeId) {
    let shape = p.types.shape;
    match p.types.repr(node) {
        Repr::Struct => {
            let mut members: Vec<String> = shape
                .fields_of(node)
                .map(|(id, field)| format!("({:?}, &self.{})", shape.name(field.name), p.names.field(id)))
                .collect();
            members.extend(p.names.additions(node).map(|name| format!("(\"\", &self.{name})")));
            p.text.line(format!("p.members(&[{}])", members.join(", ")));
        }
        Repr::Choice => {
            p.text.open("match self {");
            let fields = shape.fields_of(node).map(|(id, field)| (p.names.field(id), shape.name(field.name)));
            let arm = |(variant, said): (&str, &str)| format!("Self::{variant}(v) => p.chosen({said:?}, v),");
            let mut arms: Vec<String> = fields.map(arm).collect();
            if shape.node(node).extensible {
                arms.push(if p.types.choices.arena {
                    "Self::Unknown(v) => p.unknown(v),".into()
                } else {
                    "Self::Unknown(v) => v.notation(p),".into()
                });
            }
            p.text.fill(arms);
            p.text.close("}");
        }
        Repr::Enumerated => {
            p.text.open("p.word(match self {");
            let items = shape.items_of(node).iter();
            let items = items.map(|item| (p.names.item(node, item.value), shape.name(item.name)));
            let items: Vec<_> = items.map(|(item, said)| format!("Self::{item} => {said:?},")).collect();
            p.text.fill(items);
            if shape.node(node).extensible {
                p.text.line("Self::Unknown(number) => return p.word(number),");
                p.text.line("Self::UnknownAddition(number) => return p.word(format_args!(\"/* addition {number} */\")),");
            }
            p.text.close("})");
        }
        Repr::Table(table) => {
            p.text.open("match self {");
            let mut arms = Vec::new();
            for (number, row) in (0..).zip(&shape.tables[table as usize].rows) {
                let said = shape.content_name(node, row.node).rsplit('.').next();
                let variant = p.names.row(node, number);
                let line = match said.filter(|name| !name.is_empty()) {
                    Some(said) => format!("Self::{variant}(v) => p.chosen({said:?}, v),"),
                    None => format!("Self::{variant}(v) => v.notation(p),"),
                };
                arms.push(line);
            }
            arms.push("Self::Other(v) => p.encoding(v),".into());
            p.text.fill(arms);
            p.text.close("}");
        }
        _ => p.text.line("self.0.notation(p)"),
    }
}
