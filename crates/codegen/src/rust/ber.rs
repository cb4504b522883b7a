//! Codecs for BER, DER and CER: spells the steps of [`crate::code::ber`].

mod by_tag;
mod fill;
mod in_order;
mod read;
mod write;

use super::imports::{BER, CODEC, RESULT, TAG};
use super::{Printer, RootType, empty};
use crate::code::ber::{Begins, Body, Choice, Code, Struct, Value};
use crate::code::{Presence, Source};
use crate::types::Edge;
use std::collections::{HashMap, HashSet};
use tercet_plan::NodeId;
use tercet_plan::ber::Program;

/// Components from which on a struct is written by a function of its own: ten call records with a hundred components each
/// in one function lie so far apart that they wait for the cache of instructions, and take 1.07 times as long.
const WIDE: usize = 64;

pub(super) fn print(p: &mut Printer<'_>, program: &Program) {
    let presence = p.presence();
    let roots: Vec<NodeId> = p.roots.iter().map(|root| root.node).collect();
    let code = Code::new(Source { types: &p.types, presence: &presence }, program, &roots);
    let mut ber = Ber { p, filled: HashMap::new(), boxed: HashSet::new() };
    for (node, body) in &code.bodies {
        ber.find_boxed(*node, body);
    }
    for (node, body) in &code.bodies {
        let Body::Struct(known) = body else { continue };
        if known.is_by_tag() && is_sparse(known) {
            ber.filled.insert(*node, Filled::ByTag);
        } else if ber.may_be_filled(*node, known) {
            ber.filled.insert(*node, Filled::InOrder);
        }
    }
    let filled = &ber.filled;
    empty::print(ber.p, |_, node| filled.get(&node) == Some(&Filled::InOrder));
    for (node, body) in &code.bodies {
        ber.node(*node, body);
    }
    for (root, value) in ber.p.roots.clone().iter().zip(&code.roots) {
        ber.root(root, value);
    }
}

/// How a struct is filled where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Filled {
    /// As its components come: it has so many, all of which may be absent, that to move it into a box would take longer than to
    /// read it (records of an MSC are decoded with 14 % fewer instructions).
    ByTag,
    /// One component after the other.
    InOrder,
}

/// Whether all components may be absent.
fn is_sparse(code: &Struct<'_>) -> bool {
    code.members.iter().all(|member| member.presence == Presence::Optional)
}

struct Ber<'p, 'm> {
    p: &'p mut Printer<'m>,
    /// The structs that are filled where they stand.
    filled: HashMap<NodeId, Filled>,
    /// The types of components, alternatives and rows that are in a box.
    boxed: HashSet<NodeId>,
}

impl Ber<'_, '_> {
    fn find_boxed(&mut self, node: NodeId, body: &Body<'_>) {
        let values: Vec<(Edge, NodeId)> = match body {
            Body::Struct(Struct { members, .. }) | Body::Choice(Choice { alternatives: members, .. }) => {
                members.iter().map(|member| (Edge::Field(member.field), member.value.node)).collect()
            }
            Body::Table(table) => {
                table.rows.iter().map(|row| (Edge::Row(node, row.number), row.value.node)).collect()
            }
            Body::List(_) => Vec::new(),
        };
        let boxed = values.into_iter().filter(|(edge, _)| self.p.types.is_boxed(*edge));
        self.boxed.extend(boxed.map(|(_, node)| node));
    }

    fn line(&mut self, line: impl AsRef<str>) {
        self.p.text.line(line);
    }

    fn open(&mut self, line: impl AsRef<str>) {
        self.p.text.open(line);
    }

    fn close(&mut self, line: impl AsRef<str>) {
        self.p.text.close(line);
    }

    fn node(&mut self, node: NodeId, body: &Body<'_>) {
        if let Body::List(list) = body {
            return self.list(node, list);
        }
        let name = self.p.names.ty(node).to_owned();
        let lifetime = self.p.lifetime(node, "'a");
        let generic = if lifetime.is_empty() { "<'_>" } else { "<'a>" };
        let keys = self.p.key_parameters(node);
        self.line("");
        let impl_generic = if lifetime.is_empty() { "" } else { "<'a>" };
        self.open(format!("impl{impl_generic} {name}{lifetime} {{"));
        let tag = if matches!(body, Body::Struct(_)) { format!(", tag: {TAG}") } else { String::new() };
        let parameters = format!("r: &mut {BER}::Reader{generic}{tag}{keys}");
        let filled = self.filled.get(&node).copied();
        if let Some(filled) = filled {
            self.filling(&parameters, node, filled);
        } else {
            self.open(format!("fn read_ber({parameters}) -> {RESULT}<Self> {{"));
        }
        if matches!(body, Body::Choice(choice) if choice.counted) {
            // A struct counts itself; the code of a CHOICE ends with an expression.
            let keys = self.passed_keys(node);
            self.line("r.begin_value()?;");
            self.line(format!("let value = Self::read_ber_inside(r{keys})?;"));
            self.line("r.end_value();");
            self.line("Ok(value)");
            self.close("}");
            let parameters = self.p.key_parameters(node);
            self.open(format!(
                "fn read_ber_inside(r: &mut {BER}::Reader{generic}{parameters}) -> {RESULT}<Self> {{"
            ));
        }
        match body {
            Body::Struct(code) => self.read_struct(node, code),
            Body::Choice(code) => self.read_choice(node, code),
            Body::Table(code) => self.read_table(node, code),
            Body::List(_) => {}
        }
        self.close("}");
        if matches!(body, Body::Struct(code) if code.members.len() >= WIDE) {
            self.line("#[inline(never)]");
        }
        self.open(format!("fn write_ber(&self, w: &mut {BER}::Writer) -> {RESULT}<()> {{"));
        match body {
            Body::Struct(code) => self.write_struct(node, code),
            Body::Choice(code) => self.write_choice(code),
            Body::Table(code) => self.write_table(node, code),
            Body::List(_) => {}
        }
        self.close("}");
        match body {
            Body::Choice(choice) => self.takes(choice),
            Body::Struct(code) => {
                if filled == Some(Filled::ByTag) {
                    self.fill_other(node, code, &parameters);
                }
                self.place(code);
            }
            _ => {}
        }
        self.close("}");
    }

    // Roots

    fn root(&mut self, root: &RootType, value: &Value) {
        let RootType { node, name, wraps, .. } = root;
        let lifetime = self.p.lifetime(*node, "'a");
        let tag = value.around.first().copied().or(value.tag);
        let known = tag.map_or_else(|| "None".into(), |tag| format!("Some({})", tag_text(tag)));
        self.line("");
        self.open(format!("impl<'a> {CODEC}::BerType<'a> for {name}{lifetime} {{"));
        let line = self.p.name_const(*node);
        self.line(line);
        self.line(format!("const TAG: Option<{TAG}> = {known};"));
        if self.p.types.choices.arena {
            self.line("const IN_ARENA: bool = true;");
        }
        self.line("");
        self.open(format!("fn read_element(r: &mut {BER}::Reader<'a>) -> {RESULT}<Self> {{"));
        if let Some(tag) = tag {
            self.line(format!("{BER}::expect(r, {})?;", tag_text(tag)));
        }
        self.read_root(value, *wraps);
        self.close("}");
        self.line("");
        self.open(format!("fn write_element(&self, w: &mut {BER}::Writer) -> {RESULT}<()> {{"));
        self.write_root(value, if *wraps { "&self.0" } else { "self" });
        self.line("Ok(())");
        self.close("}");
        self.close("}");
    }

    /// The name of the function that tells which tags an untagged CHOICE begins with.
    fn takes_function(&self, node: NodeId) -> String {
        format!("{}::takes", self.p.names.ty(node))
    }

    /// The condition that the next element is a component.
    fn is_next(&self, begins: Begins) -> String {
        match begins {
            Begins::Tag(tag) => format!("r.is_next({})", tag_text(tag)),
            Begins::Choice(node) => format!("r.peek_tag()?.is_some_and({})", self.takes_function(node)),
            Begins::Any => "r.has_more()?".into(),
        }
    }

    /// The condition that an element with `tag` is a component.
    fn is(&self, begins: Begins) -> String {
        match begins {
            Begins::Tag(known) => format!("tag == {}", tag_text(known)),
            Begins::Choice(node) => format!("{}(tag)", self.takes_function(node)),
            Begins::Any => "true".into(),
        }
    }

    /// The pattern of the bits of `tag`.
    fn pattern(&self, begins: Begins) -> String {
        match begins {
            Begins::Tag(tag) => tag_pattern(tag),
            Begins::Choice(node) => format!("_ if {}(tag)", self.takes_function(node)),
            Begins::Any => "_".into(),
        }
    }
}

fn tag_text(tag: u32) -> String {
    let class = ["universal", "application", "context", "private"][(tag >> 30) as usize];
    format!("{TAG}::{class}({})", tag & 0x1FFF_FFFF)
}

fn tag_pattern(tag: u32) -> String {
    format!("{tag:#x}")
}
