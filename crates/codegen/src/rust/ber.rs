//! Codecs for BER, DER and CER: spells the steps of [`crate::code::ber`].

mod by_tag;
mod in_order;
mod read;
mod write;

use super::imports::{BER, CODEC, RESULT, TAG};
use super::{Printer, RootType};
use crate::code::ber::{Begins, Body, Code, Struct, Value};
use crate::code::{Presence, Source};
use std::collections::HashSet;
use tercet_plan::NodeId;
use tercet_plan::ber::Program;

pub(super) fn print(p: &mut Printer<'_>, program: &Program) {
    let presence = p.presence();
    let roots: Vec<NodeId> = p.roots.iter().map(|root| root.node).collect();
    let code = Code::new(Source { types: &p.types, presence: &presence }, program, &roots);
    let filled =
        code.bodies.iter().filter(|(_, body)| matches!(body, Body::Struct(known) if is_filled(known)));
    let filled = filled.map(|(node, _)| *node).collect();
    let mut ber = Ber { p, filled };
    for (node, body) in &code.bodies {
        ber.node(*node, body);
    }
    for (root, value) in ber.p.roots.clone().iter().zip(&code.roots) {
        ber.root(root, value);
    }
}

/// Whether a struct is filled where it stands, as its components come: it has so many, all of which may be absent, that
/// to move it into a box would take longer than to read it (records of an MSC are decoded with 14 % fewer instructions).
fn is_filled(code: &Struct<'_>) -> bool {
    code.is_by_tag() && is_sparse(code)
}

/// Whether all components may be absent.
fn is_sparse(code: &Struct<'_>) -> bool {
    code.members.iter().all(|member| member.presence == Presence::Optional)
}

struct Ber<'p, 'm> {
    p: &'p mut Printer<'m>,
    /// The structs that are filled where they stand.
    filled: HashSet<NodeId>,
}

impl Ber<'_, '_> {
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
        if self.filled.contains(&node) {
            self.filling(&format!("r: &mut {BER}::Reader{generic}{tag}{keys}"), node);
        } else {
            self.open(format!("fn read_ber(r: &mut {BER}::Reader{generic}{tag}{keys}) -> {RESULT}<Self> {{"));
        }
        if matches!(body, Body::Choice(choice) if choice.counted) {
            // A struct counts itself; the code of a CHOICE ends with an expression.
            let keys: String = self.p.types.keys(node).iter().map(|key| format!(", k{key}")).collect();
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
            Body::Struct(code) => self.place(code),
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
