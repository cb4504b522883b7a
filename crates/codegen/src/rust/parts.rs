//! What types are taken apart to, for codecs that follow tables.

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

/// A place of a kind.
fn part(variant: &str, reference: &str) -> String {
    if variant == "Null" {
        format!("{PARTS}::Part::Null")
    } else {
        format!("{PARTS}::Part::{variant}({reference})")
    }
}

/// A value of a kind.
fn seen(variant: &str, reference: &str) -> String {
    if variant == "Null" {
        format!("{PARTS}::Seen::Null")
    } else {
        format!("{PARTS}::Seen::{variant}({reference})")
    }
}

impl Parts<'_, '_> {
    fn node(&mut self, node: NodeId) {
        let tabled = self.p.types.is_tabled(node);
        match self.p.types.repr(node) {
            Repr::Struct if tabled => {
                self.value(node, "Part::Members(self)", "Seen::Members(self)");
                self.members(node);
            }
            Repr::Choice if tabled => {
                self.value(node, "Part::Alternatives(self)", "Seen::Alternatives(self)");
                self.alternatives(node);
            }
            Repr::Enumerated => self.enumerated(node),
            Repr::Struct | Repr::Choice | Repr::Table(_) if self.p.empties.has_any(node) => {
                self.value(node, "Part::Straight(self)", "Seen::Straight(self)");
                self.straight(node);
            }
            Repr::List if tabled && self.p.types.is_newtype(node) => {
                self.value(node, "Value::part(&mut self.0)", "Value::seen(&self.0)");
            }
            _ => {}
        }
    }

    fn implement(&mut self, node: NodeId, what: &str) {
        let (name, lifetime) = (self.p.names.ty(node), self.p.lifetime(node, "'a"));
        let line = format!("impl<'a> {PARTS}::{what}<'a> for {name}{lifetime} {{");
        self.p.text.line("");
        self.p.text.open(line);
    }

    fn value(&mut self, node: NodeId, part: &str, seen: &str) {
        self.implement(node, "Value");
        // A constant is much less to compile than what makes the value.
        let empty = if self.p.empties.is_constant(node) { "Self::EMPTY".into() } else { self.p.empty(node) };
        self.p.text.line(format!("fn empty() -> Self {{ {empty} }}"));
        self.p.text.line(format!("fn part(&mut self) -> {PARTS}::Part<'_, 'a> {{ {PARTS}::{part} }}"));
        self.p.text.line(format!("fn seen(&self) -> {PARTS}::Seen<'_, 'a> {{ {PARTS}::{seen} }}"));
        self.p.text.close("}");
    }

    /// What components or alternatives are called in the specification.
    fn said(&self, node: NodeId) -> String {
        let shape = self.p.types.shape;
        let names: Vec<&str> = shape.fields_of(node).map(|(_, field)| shape.name(field.name)).collect();
        format!("{:?}", names.join(" "))
    }

    fn members(&mut self, node: NodeId) {
        let shape = self.p.types.shape;
        self.implement(node, "Members");
        let is_default =
            |(id, _): (FieldId, _)| self.p.is_default(id, &format!("self.{}", self.p.names.field(id)));
        let defaults: Vec<Option<String>> = shape.fields_of(node).map(is_default).collect();
        self.p.text.open(format!("fn member(&mut self, number: usize) -> {PARTS}::Part<'_, 'a> {{"));
        self.p.text.open("match number {");
        let mut arms: Vec<String> = shape
            .fields_of(node)
            .enumerate()
            .map(|(at, (id, _))| format!("{at} => {},", self.member_place(id)))
            .collect();
        if let Some(name) = self.p.names.additions(node) {
            arms.push(format!("{} => {PARTS}::Part::Additions(&mut self.{name}),", arms.len()));
        }
        self.p.text.fill(arms);
        self.p.text.line(format!("_ => {PARTS}::Part::Null,"));
        self.p.text.close("}");
        self.p.text.close("}");
        let omits = if defaults.iter().any(Option::is_some) { "defaults" } else { "_" };
        self.p.text.open(format!(
            "fn see(&self, number: usize, {omits}: {PARTS}::Defaults) -> {PARTS}::Seen<'_, 'a> {{"
        ));
        self.p.text.open("match number {");
        let omitted = format!("defaults == {PARTS}::Defaults::Omitted");
        let mut arms: Vec<String> = shape
            .fields_of(node)
            .zip(&defaults)
            .enumerate()
            .map(|(at, ((id, _), is_default))| {
                let seen = self.member_seen(id);
                match is_default {
                    Some(is_default) => {
                        format!("{at} if {omitted} && {is_default} => {PARTS}::Seen::Absent, {at} => {seen},")
                    }
                    None => format!("{at} => {seen},"),
                }
            })
            .collect();
        if let Some(name) = self.p.names.additions(node) {
            arms.push(format!("{} => {PARTS}::Seen::Additions(&self.{name}),", arms.len()));
        }
        self.p.text.fill(arms);
        let names = self.said(node);
        self.p.text.line(format!("_ => {PARTS}::Seen::Absent,"));
        self.p.text.close("}");
        self.p.text.close("}");
        self.p.text.line(format!("fn names(&self) -> &'static str {{ {names} }}"));
        self.p.text.close("}");
    }

    /// The place of a component.
    fn member_place(&self, id: FieldId) -> String {
        let name = format!("self.{}", self.p.names.field(id));
        let place = match self.variant(id) {
            Some(variant) if !self.p.is_option(id) => {
                let deref = if self.p.types.is_boxed(Edge::Field(id)) { "*" } else { "" };
                part(variant, &format!("&mut {deref}{name}"))
            }
            _ => format!("{PARTS}::Value::part(&mut {name})"),
        };
        // Elements are added to a list.
        let node = self.p.types.same(self.p.types.shape.field(id).node);
        let is_list = self.p.types.repr(node) == Repr::List;
        if is_list && self.p.default_value(id).is_some_and(|value| value != self.p.empty_held(id)) {
            return format!("{{ {name} = {}; {place} }}", self.p.empty_held(id));
        }
        place
    }

    /// The value of a component.
    fn member_seen(&self, id: FieldId) -> String {
        let name = self.p.names.field(id);
        match self.variant(id) {
            Some(variant) if !self.p.is_option(id) => {
                let deref = if self.p.types.is_boxed(Edge::Field(id)) { "*" } else { "" };
                seen(variant, &format!("&{deref}self.{name}"))
            }
            _ => format!("{PARTS}::Value::seen(&self.{name})"),
        }
    }

    /// The place of an alternative that `v` refers to.
    fn alternative_place(&self, id: FieldId) -> String {
        match self.variant(id) {
            Some(variant) if self.p.types.is_boxed(Edge::Field(id)) => part(variant, "&mut **v"),
            Some(variant) => part(variant, "v"),
            None => format!("{PARTS}::Value::part(v)"),
        }
    }

    /// The value of an alternative that `v` refers to.
    fn alternative_seen(&self, id: FieldId) -> String {
        match self.variant(id) {
            Some(variant) if self.p.types.is_boxed(Edge::Field(id)) => seen(variant, "&**v"),
            Some(variant) => seen(variant, "v"),
            None => format!("{PARTS}::Value::seen(v)"),
        }
    }

    /// The kind of part that a component or alternative is where it is always there: less to compile than asking its type.
    fn variant(&self, id: FieldId) -> Option<&'static str> {
        let node = self.p.types.same(self.p.types.shape.field(id).node);
        let tabled = self.p.types.is_tabled(node);
        Some(match self.p.types.repr(node) {
            Repr::Boolean => "Bool",
            Repr::Null => "Null",
            Repr::Integer { signed, bits } => match (signed, bits) {
                (false, 8) => "U8",
                (false, 16) => "U16",
                (false, 32) => "U32",
                (false, _) => "U64",
                (true, 8) => "I8",
                (true, 16) => "I16",
                (true, 32) => "I32",
                (true, _) => "I64",
            },
            Repr::Float => "Float",
            Repr::Real => "Real",
            Repr::Big => "Big",
            Repr::Bits => "Bits",
            Repr::Octets | Repr::Any => "Octets",
            Repr::FixedOctets(_) => "FixedOctets",
            Repr::Oid => "Oid",
            Repr::RelativeOid => "RelativeOid",
            Repr::Text => "Text",
            Repr::Enumerated => "Items",
            Repr::Struct if tabled => "Members",
            Repr::Choice if tabled => "Alternatives",
            Repr::Struct | Repr::Choice | Repr::Table(_) => "Straight",
            Repr::List if !self.p.types.is_newtype(node) => "Elements",
            Repr::List | Repr::FixedBits(_) => return None,
            Repr::Contained(_) => "Content",
        })
    }

    fn alternatives(&mut self, node: NodeId) {
        let shape = self.p.types.shape;
        let extensible = shape.node(node).extensible;
        self.implement(node, "Alternatives");
        let all: Vec<(FieldId, String)> =
            shape.fields_of(node).map(|(id, _)| (id, self.p.names.field(id).to_owned())).collect();
        self.p.text.open(format!("fn choose(&mut self, number: usize) -> {PARTS}::Part<'_, 'a> {{"));
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
        self.p.text.open("match self {");
        let arms: Vec<String> = all
            .iter()
            .map(|(id, name)| format!("Self::{name}(v) => {},", self.alternative_place(*id)))
            .collect();
        self.p.text.fill(arms);
        if extensible {
            self.p.text.line(format!("Self::Unknown(v) => {PARTS}::Part::Unknown(v),"));
        }
        self.p.text.close("}");
        self.p.text.close("}");
        self.p.text.open(format!("fn chosen(&self) -> (usize, {PARTS}::Seen<'_, 'a>, &'static str) {{"));
        self.p.text.open("let (number, value) = match self {");
        let arm = |(at, (id, name)): (usize, &(FieldId, String))| {
            format!("Self::{name}(v) => ({at}, {}),", self.alternative_seen(*id))
        };
        let arms: Vec<String> = all.iter().enumerate().map(arm).collect();
        self.p.text.fill(arms);
        if extensible {
            self.p.text.line(format!("Self::Unknown(v) => ({PARTS}::UNKNOWN, {PARTS}::Seen::Unknown(v)),"));
        }
        self.p.text.close("};");
        let names = self.said(node);
        self.p.text.line(format!("(number, value, {names})"));
        self.p.text.close("}");
        self.p.text.close("}");
    }

    fn enumerated(&mut self, node: NodeId) {
        let shape = self.p.types.shape;
        let extensible = shape.node(node).extensible;
        let items = shape.items_of(node);
        let names: Vec<String> =
            items.iter().map(|item| self.p.names.item(node, item.value).to_owned()).collect();
        let name = self.p.names.ty(node).to_owned();
        self.p.text.line("");
        self.p.text.open(format!("impl<'a> {PARTS}::Value<'a> for {name} {{"));
        let first = self.p.first_item(node);
        self.p.text.line(format!("fn empty() -> Self {{ Self::{first} }}"));
        self.p
            .text
            .line(format!("fn part(&mut self) -> {PARTS}::Part<'_, 'a> {{ {PARTS}::Part::Items(self) }}"));
        self.p.text.line(format!("fn seen(&self) -> {PARTS}::Seen<'_, 'a> {{ {PARTS}::Seen::Items(self) }}"));
        self.p.text.close("}");
        self.p.text.line("");
        self.p.text.open(format!("impl {PARTS}::Items for {name} {{"));
        self.p.text.open(format!("fn item(&self) -> ({PARTS}::Item, &'static str) {{"));
        let in_order = (0..).zip(items).all(|(at, item)| at == item.value);
        if in_order && !extensible {
            self.p.text.line(format!("let item = {PARTS}::Item::Known(*self as usize);"));
        } else {
            self.p.text.open("let item = match self {");
            let arm = |(at, name): (usize, &String)| format!("Self::{name} => {PARTS}::Item::Known({at}),");
            self.p.text.fill(names.iter().enumerate().map(arm));
            if extensible {
                self.p
                    .text
                    .line(format!("Self::UnknownAddition(number) => {PARTS}::Item::Addition(*number),"));
                self.p.text.line(format!("Self::Unknown(number) => {PARTS}::Item::Unknown(*number),"));
            }
            self.p.text.close("};");
        }
        let said = items.iter().map(|item| shape.name(item.name)).collect::<Vec<_>>().join(" ");
        self.p.text.line(format!("(item, {said:?})"));
        self.p.text.close("}");
        self.p.text.open(format!("fn set(&mut self, item: {PARTS}::Item) {{"));
        let names: Vec<String> = names.iter().map(|name| format!("Self::{name}")).collect();
        let known = format!("item.of(&[{}]).unwrap_or(*self)", names.join(", "));
        if extensible {
            self.p.text.open("*self = match item {");
            self.p.text.line(format!("{PARTS}::Item::Addition(number) => Self::UnknownAddition(number),"));
            self.p.text.line(format!("{PARTS}::Item::Unknown(number) => Self::Unknown(number),"));
            self.p.text.line(format!("item => {known},"));
            self.p.text.close("};");
        } else {
            self.p.text.line(format!("*self = {known};"));
        }
        self.p.text.close("}");
        self.p.text.close("}");
    }

    /// The codecs that a type has, as those of a part.
    fn straight(&mut self, node: NodeId) {
        self.implement(node, "Straight");
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
