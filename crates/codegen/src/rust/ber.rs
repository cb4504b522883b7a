//! Codecs for BER, DER and CER.

mod read;
mod write;

use super::per::{closure, ok};
use super::{At, Printer, RootType, local};
use crate::types::Repr;
use tercet_lower::Lowering;
use tercet_plan::ber::{Program, Slot, UNTAGGED, flags};
use tercet_plan::{Code, FieldId, NodeId};

pub(super) fn print(p: &mut Printer<'_>, program: &Program) {
    let nodes: Vec<NodeId> = p.types.nodes().collect();
    let mut ber = Ber { p, program };
    for node in &nodes {
        ber.node(*node);
    }
    for root in ber.p.roots.clone() {
        ber.root(&root);
    }
}

/// Whether two nodes have the same tags where they stand alone.
pub(super) fn same_tags(lowering: &Lowering, a: NodeId, b: NodeId) -> bool {
    lowering.plans.iter().all(|plan| match &plan.code {
        Code::Ber(program) => {
            let [a, b] = [a, b].map(|node| &program.slots[program.nodes[node.index()].entry as usize]);
            a.tag == b.tag && program.chain(a) == program.chain(b)
        }
        _ => true,
    })
}

struct Ber<'p, 'm> {
    p: &'p mut Printer<'m>,
    program: &'p Program,
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

    fn slot(&self, field: FieldId) -> Slot {
        self.program.slots[field.index()]
    }

    /// The slot of a node that stands without a field.
    fn entry(&self, node: NodeId) -> Slot {
        self.program.slots[self.program.nodes[node.index()].entry as usize]
    }

    /// All tags, from the outside in.
    fn tags(&self, slot: &Slot) -> Vec<u32> {
        let outer = (slot.tag != UNTAGGED).then_some(slot.tag);
        outer.into_iter().chain(self.program.chain(slot).iter().copied()).collect()
    }

    fn node(&mut self, node: NodeId) {
        let name = self.p.names.ty(node).to_owned();
        let lifetime = self.p.lifetime(node, "'a");
        let generic = if lifetime.is_empty() { "<'_>" } else { "<'a>" };
        let keys = self.p.key_parameters(node);
        match self.p.types.repr(node) {
            Repr::Struct | Repr::Choice | Repr::Table(_) => {
                self.line("");
                let impl_generic = if lifetime.is_empty() { "" } else { "<'a>" };
                self.open(format!("impl{impl_generic} {name}{lifetime} {{"));
                let tag = if self.p.types.repr(node) == Repr::Struct { ", tag: Tag" } else { "" };
                if self.is_filled(node) {
                    self.filling(&format!("r: &mut ber::Reader{generic}{tag}{keys}"), node);
                } else {
                    self.open(format!(
                        "fn read_ber(r: &mut ber::Reader{generic}{tag}{keys}) -> Result<Self> {{"
                    ));
                }
                // A struct counts itself; the code of others ends with an expression.
                let apart = self.p.types.is_counted_whole(node) && self.p.types.repr(node) != Repr::Struct;
                if apart {
                    let keys: String =
                        self.p.types.keys(node).iter().map(|key| format!(", k{key}")).collect();
                    self.line("r.begin_value()?;");
                    self.line(format!("let value = Self::read_ber_inside(r{keys})?;"));
                    self.line("r.end_value();");
                    self.line("Ok(value)");
                    self.close("}");
                    let parameters = self.p.key_parameters(node);
                    self.open(format!(
                        "fn read_ber_inside(r: &mut ber::Reader{generic}{parameters}) -> Result<Self> {{"
                    ));
                }
                match self.p.types.repr(node) {
                    Repr::Struct => self.read_struct(node),
                    Repr::Choice => self.read_choice(node),
                    Repr::Table(table) => self.read_table(node, table),
                    _ => {}
                }
                self.close("}");
                self.open("fn write_ber(&self, w: &mut ber::Writer) -> Result<()> {");
                match self.p.types.repr(node) {
                    Repr::Struct => self.write_struct(node),
                    Repr::Choice => self.write_choice(node),
                    Repr::Table(table) => self.write_table(node, table),
                    _ => {}
                }
                self.close("}");
                match self.p.types.repr(node) {
                    Repr::Choice => self.takes(node),
                    Repr::Struct => self.place(node),
                    _ => {}
                }
                self.close("}");
            }
            Repr::List => {
                let function = self.list_function(node);
                let element = self.p.types.element(node);
                let ty = self.p.list(node, &self.p.ty(element, "'a"), "'a");
                let fn_generic = if lifetime.is_empty() { "" } else { "<'a>" };
                self.line("");
                self.open(format!(
                    "fn read_ber_{function}{fn_generic}(r: &mut ber::Reader{generic}, tag: Tag{keys}) -> Result<{ty}> {{"
                ));
                let list = if self.p.types.is_lazy(node) {
                    self.read_lazy_list(node, element)
                } else {
                    self.read_list(node, element)
                };
                if self.p.types.is_counted(node) {
                    self.line("r.begin_value()?;");
                    self.line(format!("let list = {list}?;"));
                    self.line("r.end_value();");
                    self.line("Ok(list)");
                } else {
                    self.line(list);
                }
                self.close("}");
                let ty = self.p.ty(element, "'_");
                if self.p.types.is_lazy(node) {
                    self.open(format!(
                        "fn write_ber_{function}(list: &SequenceOf<'_, {ty}>, w: &mut ber::Writer) -> Result<()> {{"
                    ));
                    self.open("list.write_ber(w, |list, w| {");
                    self.write_list(node, element);
                    self.close("})");
                } else {
                    self.open(format!(
                        "fn write_ber_{function}(list: &[{ty}], w: &mut ber::Writer) -> Result<()> {{"
                    ));
                    self.write_list(node, element);
                }
                self.close("}");
            }
            _ => {}
        }
    }

    fn list_function(&self, node: NodeId) -> String {
        super::names::snake(self.p.names.ty(self.p.types.same(node))).trim_start_matches("r#").to_owned()
    }

    /// What a header's tag has to meet to begin a component.
    /// Whether a component without a tag takes elements that nobody knows: an extensible CHOICE, or one with such inside.
    fn takes_unknown(&self, slot: &Slot, node: NodeId) -> bool {
        slot.flags & flags::WILD != 0 && matches!(self.condition(slot, node), Condition::Choice(_))
    }

    /// The tag by which a component stands in a SET in CER (9.3).
    fn least_tag(&self, node: NodeId, id: FieldId) -> u32 {
        let code = &self.program.nodes[node.index()];
        self.program.least_tag(code, id.0 - self.p.types.shape.node(node).first, UNTAGGED)
    }

    fn condition(&self, slot: &Slot, node: NodeId) -> Condition {
        match self.tags(slot).first() {
            Some(tag) => Condition::Tag(*tag),
            None if self.p.types.repr(node) == Repr::Choice => {
                Condition::Choice(self.p.names.ty(self.p.types.same(node)).to_owned())
            }
            None => Condition::Any,
        }
    }

    /// Which tags begin a value of an untagged CHOICE.
    fn takes(&mut self, node: NodeId) {
        let shape = self.p.types.shape;
        let mut conditions: Vec<String> = shape
            .fields_of(node)
            .map(|(id, field)| self.condition(&self.slot(id), field.node).is("tag"))
            .collect();
        if conditions.is_empty() {
            conditions.push("false".into());
        }
        self.line("");
        self.open("fn takes(tag: Tag) -> bool {");
        self.line(conditions.join(" || "));
        self.close("}");
    }

    // Roots

    fn root(&mut self, root: &RootType) {
        let RootType { node: root, name, wraps: wrapped, .. } = root.clone();
        let node = self.p.types.same(root);
        let lifetime = self.p.lifetime(node, "'a");
        let slot = self.entry(root);
        let tag =
            self.tags(&slot).first().map_or_else(|| "None".into(), |tag| format!("Some({})", tag_text(*tag)));
        self.line("");
        self.open(format!("impl<'a> codec::BerType<'a> for {name}{lifetime} {{"));
        let known = self.p.name_const(root);
        self.line(known);
        self.line(format!("const TAG: Option<Tag> = {tag};"));
        self.line("");
        self.open("fn read_element(r: &mut ber::Reader<'a>) -> Result<Self> {");
        if let Some(tag) = self.tags(&slot).first() {
            self.line(format!("ber::expect(r, {})?;", tag_text(*tag)));
        }
        let value = self.read(&slot, root, &self.no_keys(root), At::Nothing);
        self.line(if wrapped { format!("Ok(Self({value}))") } else { ok(&value) });
        self.close("}");
        self.line("");
        self.open("fn write_element(&self, w: &mut ber::Writer) -> Result<()> {");
        self.write(&slot, root, if wrapped { "&self.0" } else { "self" }, At::Nothing);
        self.line("Ok(())");
        self.close("}");
        self.close("}");
    }
}

/// What begins a component.
enum Condition {
    Tag(u32),
    Choice(String),
    Any,
}

impl Condition {
    /// That the next element begins the component.
    fn next(&self) -> String {
        match self {
            Self::Tag(tag) => format!("r.is_next({})", tag_text(*tag)),
            Self::Choice(name) => format!("r.peek_tag()?.is_some_and({name}::takes)"),
            Self::Any => "r.has_more()?".into(),
        }
    }

    /// That an element with this tag does.
    fn is(&self, of: &str) -> String {
        match self {
            Self::Tag(tag) => format!("{of} == {}", tag_text(*tag)),
            Self::Choice(name) => format!("{name}::takes({of})"),
            Self::Any => "true".into(),
        }
    }

    /// The pattern for the bits of `tag`.
    fn pattern(&self) -> String {
        match self {
            Self::Tag(tag) => tag_pattern(*tag),
            Self::Choice(name) => format!("_ if {name}::takes(tag)"),
            Self::Any => "_".into(),
        }
    }
}

fn tag_text(tag: u32) -> String {
    let class = ["universal", "application", "context", "private"][(tag >> 30) as usize];
    format!("Tag::{class}({})", tag & 0x1FFF_FFFF)
}

fn tag_pattern(tag: u32) -> String {
    format!("{tag:#x}")
}
