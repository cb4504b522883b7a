//! Declarations: structs, enums and aliases, with the notation that they stand for.

use super::imports::{BOX, UNKNOWN_ALTERNATIVE};
use super::{Printer, names, slices};
use crate::Config;
use crate::types::{Edge, Origin, Repr};
use tercet_lower::Lowering;
use tercet_model::Model;
use tercet_model::ir::TypeId;
use tercet_plan::NodeId;

pub(super) fn print(p: &mut Printer<'_>, model: &Model, lowering: &Lowering, config: &Config<'_>) {
    let nodes: Vec<NodeId> = p.types.nodes().collect();
    for node in nodes {
        let named = matches!(p.types.origin(node), Origin::Named(..));
        if !p.is_item(node) && !named {
            continue;
        }
        p.text.line("");
        document(p, node, model, lowering, config);
        match p.types.repr(node) {
            Repr::Struct => structure(p, node),
            Repr::Choice => choice(p, node),
            Repr::Enumerated => enumerated(p, node),
            Repr::Table(table) => open_type(p, node, table),
            _ if p.is_wrapped(node) || p.types.is_newtype(node) => wrapper(p, node),
            _ => {
                let line = format!(
                    "pub type {}{} = {};",
                    p.names.ty(node),
                    p.lifetime(node, "'a"),
                    p.spelled(node, "'a")
                );
                p.text.line(line);
            }
        }
    }
    aliases(p);
}

/// Roots that have the type of another name.
fn aliases(p: &mut Printer<'_>) {
    for root in p.types.aliases() {
        let name = p.names.alias(root.name).to_owned();
        let node = p.types.same(root.node);
        let lifetime = p.lifetime(node, "'a");
        p.text.line("");
        p.text.doc(&format!("`{}`", p.types.shape.name(root.name)));
        if p.roots.iter().any(|known| known.declares && known.name == name) {
            let line = derives(p, node, "");
            p.text.line(line);
            let line = format!("pub struct {name}{lifetime}(pub {});", p.ty(node, "'a"));
            p.text.line(line);
        } else {
            let line = format!("pub type {name}{lifetime} = {}{lifetime};", p.names.ty(node));
            p.text.line(line);
        }
    }
}

fn document(p: &mut Printer<'_>, node: NodeId, model: &Model, lowering: &Lowering, config: &Config<'_>) {
    let said = match p.types.origin(node) {
        Origin::Named(module, name, _) => format!("`{module}.{name}`"),
        Origin::Inside(parent, name) => format!("`{name}` of [`{}`].", p.names.ty(p.types.same(*parent))),
        Origin::Shared(name) => format!("`{name}`, a type that several others have inside."),
        Origin::Associated => "An associated type (X.680).".into(),
    };
    p.text.doc(&said);
    // The notation of a parameterized type is the same for all of its instances.
    let is_plain = |ty: &TypeId| model.ty(*ty).name.as_ref().is_some_and(|name| name.arguments.is_empty());
    let ty = lowering.types[node.index()].filter(is_plain);
    if let Some(notation) = ty.and_then(|ty| (config.notation)(ty)) {
        p.text.doc("");
        p.text.doc("```text");
        p.text.doc(&notation);
        p.text.doc("```");
    }
}

fn derives(p: &Printer<'_>, node: NodeId, more: &str) -> String {
    format!("#[derive(Clone, PartialEq{})]", derives_beside(p, node, more))
}

/// The same of a struct or enum, without those that follow from its parts.
fn item_derives(p: &mut Printer<'_>, node: NodeId, more: &str) {
    if !p.is_apart(node) {
        let line = derives(p, node, more);
        return p.text.line(line);
    }
    let beside = derives_beside(p, node, "");
    if let Some(beside) = beside.strip_prefix(", ") {
        p.text.line(format!("#[derive({beside})]"));
    }
}

fn derives_beside(p: &Printer<'_>, node: NodeId, more: &str) -> String {
    let total = if p.hash && !p.types.has_float(node) { ", Eq, Hash" } else { "" };
    let choices = &p.types.choices;
    let chosen = choices.derive.iter().chain(choices.derives.get(&node).into_iter().flatten());
    let chosen: String = chosen.map(|derive| format!(", {derive}")).collect();
    format!("{total}{more}{chosen}")
}

fn structure(p: &mut Printer<'_>, node: NodeId) {
    let more = if p.is_sparse(node) { ", Default" } else { "" };
    item_derives(p, node, more);
    let line = format!("pub struct {}{} {{", p.names.ty(node), p.lifetime(node, "'a"));
    let shape = p.types.shape;
    if shape.node(node).count == 0 && p.names.additions(node).is_none() {
        p.text.line(line + "}");
        return;
    }
    p.text.open(line);
    for (id, field) in shape.fields_of(node) {
        let held = p.held(Edge::Field(id), field.node, "'a");
        let ty = if p.is_option(id) { format!("Option<{held}>") } else { held };
        let name = p.names.field(id).to_owned();
        let said = shape.name(field.name);
        name_in_specification(p, said, name == names::snake(said));
        let line = format!("pub {name}: {ty},");
        p.text.line(line);
    }
    if let Some(name) = p.names.additions(node) {
        p.text.doc("Extension additions of later versions.");
        let lifetime = if p.types.choices.arena { "<'a>" } else { "" };
        let line = format!("pub {name}: {}{lifetime},", p.additions_type());
        p.text.line(line);
    }
    p.text.close("}");
}

fn choice(p: &mut Printer<'_>, node: NodeId) {
    item_derives(p, node, "");
    let shape = p.types.shape;
    if shape.node(node).extensible {
        p.text.line("#[non_exhaustive]");
    }
    let line = format!("pub enum {}{} {{", p.names.ty(node), p.lifetime(node, "'a"));
    p.text.open(line);
    for (id, field) in shape.fields_of(node) {
        let held = p.held(Edge::Field(id), field.node, "'a");
        let (said, name) = (shape.name(field.name), p.names.field(id).to_owned());
        name_in_specification(p, said, name == crate::names::upper_camel(said));
        let line = format!("{name}({held}),");
        p.text.line(line);
    }
    if shape.node(node).extensible {
        p.text.doc("An alternative of a later version.");
        let line = if p.types.choices.arena {
            format!("Unknown({}),", slices::octets("'a"))
        } else {
            format!("Unknown({BOX}<{UNKNOWN_ALTERNATIVE}<{}>>),", p.own_lifetime(node, "'a"))
        };
        p.text.line(line);
    }
    p.text.close("}");
}

/// Says what a component, alternative or item is called in the specification if that does not follow from its name.
fn name_in_specification(p: &mut Printer<'_>, said: &str, follows: bool) {
    if !follows {
        p.text.doc(&format!("`{said}`"));
    }
}

fn enumerated(p: &mut Printer<'_>, node: NodeId) {
    let line = derives(p, node, if p.hash { ", Copy" } else { ", Eq, Copy" });
    p.text.line(line);
    let shape = p.types.shape;
    let extensible = shape.node(node).extensible;
    if extensible {
        p.text.line("#[non_exhaustive]");
    }
    let name = p.names.ty(node).to_owned();
    p.text.open(format!("pub enum {name} {{"));
    let items: Vec<(i64, String, String)> = shape
        .items_of(node)
        .iter()
        .map(|item| (item.value, shape.name(item.name).to_owned(), p.names.item(node, item.value).to_owned()))
        .collect();
    p.text.fill(items.iter().map(|(value, said, variant)| {
        let follows = *variant == crate::names::upper_camel(said);
        let doc = if follows { String::new() } else { format!("#[doc = \"`{said}`\"] ") };
        if extensible { format!("{doc}{variant},") } else { format!("{doc}{variant} = {value},") }
    }));
    if extensible {
        p.text.doc("Another number.");
        p.text.line("Unknown(i64),");
        p.text.doc("An item of a later version, by its number among the additions (PER).");
        p.text.line("UnknownAddition(u32),");
    }
    p.text.close("}");
    if !p.numbered && !p.key_types.contains(&node) {
        return;
    }
    p.text.line("");
    p.text.open(format!("impl {name} {{"));
    p.text.doc("The item with a number.");
    p.text.line("#[must_use]");
    p.text.open("pub const fn from_number(number: i64) -> Option<Self> {");
    p.text.open("match number {");
    p.text.fill(items.iter().map(|(value, _, variant)| format!("{value} => Some(Self::{variant}),")));
    p.text.line(if extensible { "other => Some(Self::Unknown(other))," } else { "_ => None," });
    p.text.close("}");
    p.text.close("}");
    p.text.line("");
    p.text.doc("Its number; −1 for an item of a later version that has come without.");
    p.text.line("#[must_use]");
    p.text.open("pub const fn number(&self) -> i64 {");
    if extensible {
        p.text.open("match self {");
        p.text.fill(items.iter().map(|(value, _, variant)| format!("Self::{variant} => {value},")));
        p.text.line("Self::Unknown(number) => *number,");
        p.text.line("Self::UnknownAddition(_) => -1,");
        p.text.close("}");
    } else {
        p.text.line("*self as i64");
    }
    p.text.close("}");
    p.text.close("}");
}

fn open_type(p: &mut Printer<'_>, node: NodeId, table: u32) {
    let line = derives(p, node, "");
    p.text.line(line);
    p.text.line("#[non_exhaustive]");
    let line = format!("pub enum {}{} {{", p.names.ty(node), p.lifetime(node, "'a"));
    p.text.open(line);
    let shape = p.types.shape;
    for (number, row) in (0..).zip(&shape.tables[table as usize].rows) {
        let held = p.held(Edge::Row(node, number), row.node, "'a");
        let keys: Vec<String> = row.keys.iter().map(super::values::key_text).collect();
        let keys = if keys.is_empty() { "every value".into() } else { keys.join(", ") };
        p.text.line(format!("#[doc = \"For {keys}.\"] {}({held}),", p.names.row(node, number)));
    }
    p.text.doc("A complete encoding that no row of the table is known for.");
    let line = format!("Other({}),", p.octets(node, "'a"));
    p.text.line(line);
    p.text.close("}");
}

/// A root that would be an alias has a type of its own, so that it has codecs; and so has a list of itself.
fn wrapper(p: &mut Printer<'_>, node: NodeId) {
    let line = derives(p, node, "");
    p.text.line(line);
    let line =
        format!("pub struct {}{}(pub {});", p.names.ty(node), p.lifetime(node, "'a"), p.spelled(node, "'a"));
    p.text.line(line);
}
