//! What types are read and written by, part by part, for codecs that follow tables.

use super::imports::{BOX, PARTS, PER, RESULT};
use super::{Printer, empty};
use crate::types::{Edge, Repr};
use tercet_lower::Lowering;
use tercet_plan::{Code, FieldId, NodeId};

pub(super) fn print(p: &mut Printer<'_>, lowering: &Lowering) {
    let per = |code: &Code| match code {
        Code::Per(program) => Some(if program.aligned { "aper" } else { "uper" }),
        _ => None,
    };
    let mut rules: Vec<&str> = lowering.plans.iter().filter_map(|plan| per(&plan.code)).collect();
    rules.sort_unstable();
    rules.dedup();
    if !p.types.choices.small || rules.is_empty() {
        return;
    }
    empty::print(p, |p, node| match p.types.repr(node) {
        Repr::Struct | Repr::Choice | Repr::Table(_) => p.types.is_tabled(node) || p.empties.has_any(node),
        Repr::List => p.types.is_tabled(node) && p.types.is_newtype(node),
        _ => false,
    });
    let mut parts = Parts { p, rules };
    for node in parts.p.types.nodes().collect::<Vec<_>>() {
        parts.node(node);
    }
}

struct Parts<'p, 'm> {
    p: &'p mut Printer<'m>,
    /// The variants of PER that there are codecs for.
    rules: Vec<&'static str>,
}

impl Parts<'_, '_> {
    fn node(&mut self, node: NodeId) {
        let tabled = self.p.types.is_tabled(node);
        match self.p.types.repr(node) {
            Repr::Struct if tabled => {
                self.value(node);
                self.members(node);
            }
            Repr::Choice if tabled => {
                self.value(node);
                let mut write = self.numbers(node);
                write.push("w.alternative(number, &self, Self::NAMES)".to_owned());
                self.writes(&write);
                self.alternatives(node);
            }
            Repr::Enumerated => self.enumerated(node),
            Repr::Struct | Repr::Choice | Repr::Table(_) if self.p.empties.has_any(node) => {
                self.implement(node);
                self.empty(node);
                self.reads(&[format!("r.leaf({PARTS}::LeafMut::Straight(self))")]);
                self.writes(&[format!("w.leaf({PARTS}::LeafRef::Straight(self))")]);
                self.p.text.close("}");
                self.straight(node);
            }
            Repr::List if tabled && self.p.types.is_newtype(node) => {
                self.implement(node);
                self.empty(node);
                self.reads(&[format!("{PARTS}::Value::read(&mut self.0, r)")]);
                self.writes(&[format!("{PARTS}::Value::write(&self.0, w)")]);
                self.p.text.close("}");
            }
            _ => {}
        }
    }

    /// Begins what a type has as one that is read and written part by part.
    fn implement(&mut self, node: NodeId) {
        let (name, lifetime) = (self.p.names.ty(node), self.p.lifetime(node, "'a"));
        let line = format!("impl<'a> {PARTS}::Value<'a> for {name}{lifetime} {{");
        self.p.text.line("");
        self.p.text.open(line);
    }

    fn empty(&mut self, node: NodeId) {
        // A constant is much less to compile than what makes the value.
        let empty = if self.p.empties.is_constant(node) { "Self::EMPTY".into() } else { self.p.empty(node) };
        self.p.text.line(format!("#[inline] fn empty() -> Self {{ {empty} }}"));
    }

    fn reads(&mut self, lines: &[String]) {
        self.p.text.line("#[inline]");
        self.p.text.open(format!("fn read(&mut self, r: &mut dyn {PARTS}::Source<'a>) {{"));
        lines.iter().for_each(|line| self.p.text.line(line));
        self.p.text.close("}");
    }

    fn writes(&mut self, lines: &[String]) {
        self.p.text.line("#[inline]");
        self.p
            .text
            .open(format!("fn write<'v>(&'v self, w: &mut dyn {PARTS}::Sink<'v, 'a>) where 'a: 'v {{"));
        lines.iter().for_each(|line| self.p.text.line(line));
        self.p.text.close("}");
    }

    /// Begins a type with parts.
    fn value(&mut self, node: NodeId) {
        let names = self.name_list(node);
        self.implement(node);
        self.p.text.line(format!("const NAMES: &'static str = {names};"));
        self.empty(node);
    }

    /// Begins what reads a part.
    fn read_part(&mut self) {
        self.p.text.line("#[inline]");
        self.p
            .text
            .open(format!("fn read_part(&mut self, number: usize, r: &mut dyn {PARTS}::Source<'a>) {{"));
    }

    /// Begins what writes a part.
    fn write_part(&mut self, number: &str) {
        self.p.text.line("#[inline]");
        self.p.text.open(format!(
            "fn write_part<'v>(&'v self, {number}: usize, w: &mut dyn {PARTS}::Sink<'v, 'a>) where 'a: 'v {{"
        ));
    }

    /// The names of components, alternatives or items in the specification.
    fn name_list(&self, node: NodeId) -> String {
        let shape = self.p.types.shape;
        let names: Vec<&str> = match self.p.types.repr(node) {
            Repr::Enumerated => shape.items_of(node).iter().map(|item| shape.name(item.name)).collect(),
            _ => shape.fields_of(node).map(|(_, field)| shape.name(field.name)).collect(),
        };
        format!("{:?}", names.join(" "))
    }

    fn members(&mut self, node: NodeId) {
        let shape = self.p.types.shape;
        let is_default =
            |(id, _): (FieldId, _)| self.p.is_default(id, &format!("self.{}", self.p.names.field(id)));
        let defaults: Vec<Option<String>> = shape.fields_of(node).map(is_default).collect();
        let additions = self.p.names.additions(node).map(str::to_owned);
        self.read_part();
        self.p.text.open("match number {");
        let mut arms: Vec<String> = shape
            .fields_of(node)
            .enumerate()
            .map(|(at, (id, _))| match self.list_default(id) {
                Some(empty) => {
                    let name = self.p.names.field(id);
                    format!("{at} => {{ self.{name} = {empty}; {} }},", self.read_member(id))
                }
                None => format!("{at} => {},", self.read_member(id)),
            })
            .collect();
        if let Some(name) = &additions {
            arms.push(format!("{} => {PARTS}::Value::read(&mut self.{name}, r),", arms.len()));
        }
        self.p.text.fill(arms);
        self.p.text.line("_ => {}");
        self.p.text.close("}");
        self.p.text.close("}");
        self.write_part("number");
        self.p.text.open("match number {");
        let mut arms: Vec<String> = shape
            .fields_of(node)
            .zip(&defaults)
            .enumerate()
            .map(|(at, ((id, _), is_default))| {
                let write = self.write_member(id);
                match is_default {
                    Some(is_default) => {
                        format!("{at} if {is_default} && w.omits_defaults() => {{}} {at} => {write},")
                    }
                    None => format!("{at} => {write},"),
                }
            })
            .collect();
        if let Some(name) = &additions {
            arms.push(format!("{} => {PARTS}::Value::write(&self.{name}, w),", arms.len()));
        }
        self.p.text.fill(arms);
        self.p.text.line("_ => {}");
        self.p.text.close("}");
        self.p.text.close("}");
        self.p.text.close("}");
    }

    /// Whether an optional component is of a type with parts, so that what reads and writes it is not shared with others.
    fn is_alone(&self, id: FieldId) -> bool {
        let node = self.p.types.same(self.p.types.shape.field(id).node);
        let repr = self.p.types.repr(node);
        self.p.is_option(id) && matches!(repr, Repr::Struct | Repr::Choice | Repr::List | Repr::Enumerated)
    }

    /// The type of an ENUMERATED that is read by the list of its items.
    fn listed(&self, id: FieldId) -> Option<&str> {
        let node = self.p.types.same(self.p.types.shape.field(id).node);
        let extensible = self.p.types.shape.node(node).extensible;
        let boxed = self.p.types.is_boxed(Edge::Field(id));
        (self.p.types.repr(node) == Repr::Enumerated && !extensible && !boxed).then(|| self.p.names.ty(node))
    }

    fn read_member(&self, id: FieldId) -> String {
        let place = format!("&mut self.{}", self.p.names.field(id));
        match self.listed(id) {
            Some(ty) if self.p.is_option(id) => format!("{PARTS}::read_some_item({place}, {ty}::ITEMS, r)"),
            Some(ty) => format!("{PARTS}::read_item({place}, {ty}::ITEMS, r)"),
            None if self.is_alone(id) => format!("{PARTS}::read_some({place}, r)"),
            None => format!("{PARTS}::Value::read({place}, r)"),
        }
    }

    fn write_member(&self, id: FieldId) -> String {
        let function = if self.is_alone(id) { "write_some" } else { "Value::write" };
        format!("{PARTS}::{function}(&self.{}, w)", self.p.names.field(id))
    }

    /// What a list with a DEFAULT that has elements is before its own are added.
    fn list_default(&self, id: FieldId) -> Option<String> {
        let node = self.p.types.same(self.p.types.shape.field(id).node);
        let is_list = self.p.types.repr(node) == Repr::List;
        let empty = self.p.empty_held(id);
        (is_list && self.p.default_value(id).is_some_and(|value| value != empty)).then_some(empty)
    }

    /// The number of the alternative that is chosen.
    fn numbers(&self, node: NodeId) -> Vec<String> {
        let shape = self.p.types.shape;
        let arm = |(at, (id, _)): (usize, (FieldId, _))| {
            format!("    Self::{}(_) => {at},", self.p.names.field(id))
        };
        let mut lines = vec!["let number = match self {".to_owned()];
        lines.extend(shape.fields_of(node).enumerate().map(arm));
        if shape.node(node).extensible {
            lines.push(format!("    Self::Unknown(_) => {PARTS}::UNKNOWN,"));
        }
        lines.push("};".to_owned());
        lines
    }

    fn alternatives(&mut self, node: NodeId) {
        let shape = self.p.types.shape;
        let extensible = shape.node(node).extensible;
        let all: Vec<(FieldId, String)> =
            shape.fields_of(node).map(|(id, _)| (id, self.p.names.field(id).to_owned())).collect();
        self.read_part();
        // What was there has no memory to free where it is a constant.
        let constant = self.p.empties.is_constant(node);
        self.p.text.open(if constant {
            format!("{PARTS}::put(self, match number {{")
        } else {
            "*self = match number {".to_owned()
        });
        let last = all.len().wrapping_sub(1);
        let chosen = |(at, (id, name)): (usize, &(FieldId, String))| {
            let number = if at == last && !extensible { "_".to_owned() } else { at.to_string() };
            format!("{number} => Self::{name}({}),", self.p.empty_held(*id))
        };
        let arms: Vec<String> = all.iter().enumerate().map(chosen).collect();
        self.p.text.fill(arms);
        if extensible {
            self.p.text.line(format!("_ => Self::Unknown({BOX}::default()),"));
        }
        self.p.text.close(if constant { "});" } else { "};" });
        let unknown = extensible.then_some("Unknown");
        let names: Vec<&str> = all.iter().map(|(_, name)| name.as_str()).chain(unknown).collect();
        self.p.text.open("match self {");
        self.p.text.fill(names.iter().map(|name| format!("Self::{name}(v) => {PARTS}::Value::read(v, r),")));
        self.p.text.close("}");
        self.p.text.close("}");
        self.write_part("_");
        self.p.text.open("match self {");
        self.p.text.fill(names.iter().map(|name| format!("Self::{name}(v) => {PARTS}::Value::write(v, w),")));
        self.p.text.close("}");
        self.p.text.close("}");
        self.p.text.close("}");
    }

    fn enumerated(&mut self, node: NodeId) {
        let shape = self.p.types.shape;
        let extensible = shape.node(node).extensible;
        let items = shape.items_of(node);
        let names: Vec<String> =
            items.iter().map(|item| format!("Self::{}", self.p.names.item(node, item.value))).collect();
        let first = self.p.first_item(node);
        if !extensible {
            let name = self.p.names.ty(node).to_owned();
            self.p.text.line("");
            self.p.text.open(format!("impl {name} {{"));
            self.p.text.line(format!("const ITEMS: &'static [Self] = &[{}];", names.join(", ")));
            self.p.text.close("}");
        }
        self.implement(node);
        self.p.text.line(format!("#[inline] fn empty() -> Self {{ Self::{first} }}"));
        let all = names.join(", ");
        let read = if extensible {
            vec![
                "if let Some(item) = r.item() { *self = match item {".to_owned(),
                format!("    {PARTS}::Item::Addition(number) => Self::UnknownAddition(number),"),
                format!("    {PARTS}::Item::Unknown(number) => Self::Unknown(number),"),
                format!("    item => item.of(&[{all}]).unwrap_or(*self),"),
                "} }".to_owned(),
            ]
        } else {
            vec![format!("{PARTS}::read_item(self, Self::ITEMS, r)")]
        };
        self.reads(&read);
        let list = self.name_list(node);
        let in_order = (0..).zip(shape.items_of(node)).all(|(at, item)| at == item.value);
        let mut write = vec![format!("{PARTS}::write_item(*self as usize, {list}, w)")];
        if !in_order || extensible {
            write = vec!["let number = match self {".to_owned()];
            write.extend((0..).zip(&names).map(|(at, name): (usize, _)| format!("    {name} => {at},")));
            if extensible {
                let other = |variant: &str, item: &str| {
                    format!(
                        "    Self::{variant}(number) => return w.item({PARTS}::Item::{item}(*number), {list}),"
                    )
                };
                write.push(other("UnknownAddition", "Addition"));
                write.push(other("Unknown", "Unknown"));
            }
            write.push("};".to_owned());
            write.push(format!("{PARTS}::write_item(number, {list}, w)"));
        }
        self.writes(&write);
        self.p.text.close("}");
    }

    /// The codecs that a type has, as those of a part.
    fn straight(&mut self, node: NodeId) {
        let (name, lifetime) = (self.p.names.ty(node), self.p.lifetime(node, "'a"));
        let line = format!("impl<'a> {PARTS}::Straight<'a> for {name}{lifetime} {{");
        self.p.text.line("");
        self.p.text.open(line);
        if self.p.types.keys(node).is_empty() {
            for rules in self.rules.clone() {
                let aligned = rules == "aper";
                self.p.text.line(format!(
                    "fn read_{rules}(&mut self, r: &mut {PER}::Reader<'a, {aligned}>) -> {RESULT}<()> {{ *self = Self::read_{rules}(r)?; Ok(()) }}"
                ));
                self.p.text.line(format!(
                    "fn write_{rules}(&self, w: &mut {PER}::Writer<{aligned}>) -> {RESULT}<()> {{ self.write_{rules}(w) }}"
                ));
            }
        }
        self.p.text.close("}");
    }
}
