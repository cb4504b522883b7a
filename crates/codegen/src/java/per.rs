//! Codecs for PER, aligned and unaligned: spells the steps of [`crate::code::per`].

mod forms;
mod read;
mod write;

pub(super) use forms::name as unit_name;

use super::Printer;
use super::presences::{Held, Presences, WORD};
use super::text::{Lines, Text};
use crate::code::per::{
    Addition, Body, Choice, Code, Enumerated, List, Member, Members, Primitive, Struct, Value,
};
use crate::code::{Key, Table};
use std::collections::HashMap;
use std::ops::Range;
use tercet_plan::NodeId;
use tercet_plan::per::Alphabet;

pub(super) fn print(p: &mut Printer<'_>, code: &Code<'_>) {
    let rules = if code.aligned { "Aper" } else { "Uper" };
    let times = code.times.iter().map(|form| (form.node, forms::time(form))).collect();
    let mut per = Per {
        p,
        rules,
        text: Text::at(1),
        constants: Vec::new(),
        alphabets: &code.alphabets,
        times,
        variables: 0,
    };
    for (node, body) in &code.bodies {
        per.body(*node, body);
    }
    for (root, value) in per.p.roots.clone().iter().zip(&code.roots) {
        per.variables = 0;
        per.text = Text::at(2);
        per.root(&root.name, value, root.wraps);
        let text = std::mem::replace(&mut per.text, Text::at(1)).finish();
        per.p.types_of_roots.entry(root.name.clone()).or_default().push_str(&text);
        per.finish(&format!("{}Codec", root.name));
        per.contained(value);
    }
}

struct Per<'p, 'm, 'c> {
    p: &'p mut Printer<'m>,
    rules: &'static str,
    text: Text,
    /// The constants of the codec that is printed: type, expression.
    constants: Vec<(&'static str, String)>,
    alphabets: &'c [Alphabet],
    times: HashMap<NodeId, String>,
    variables: usize,
}

impl Lines for Per<'_, '_, '_> {
    fn text(&mut self) -> &mut Text {
        &mut self.text
    }
}

impl<'m> Presences<'m> for Per<'_, 'm, '_> {
    type Value = Value;

    const CLASS: &'static str = "Per";

    fn printer(&self) -> &Printer<'m> {
        self.p
    }

    fn rules(&self) -> &'static str {
        self.rules
    }

    fn variable(&mut self, name: &str) -> String {
        self.variables += 1;
        format!("{name}{}", self.variables)
    }

    fn call(&mut self, value: &Value, held: Held<'_>) -> String {
        self.read_value(value, held)
    }

    fn write(&mut self, value: &Value, v: &str) {
        self.write_value(value, v);
    }

    fn of(value: &Value) -> (NodeId, &[Key]) {
        (value.node, &value.keys)
    }

    fn presence(&mut self, count: u32, name: &str) {
        match count {
            0 => {}
            1..=WORD => self.line(format!("long {name} = r.presence({count});")),
            _ => self.line(format!("boolean[] {name} = r.presences({count});")),
        }
    }

    fn group(&mut self, node: NodeId, group: &Members<'_>, is_record: bool) {
        let name = self.variable("p");
        self.presence(group.optional, &name);
        self.group_members(node, group, &name, is_record);
    }

    fn refuses_defaults(&self) -> bool {
        false
    }

    fn unknown_reader(code: &Struct<'_>, place: Option<&str>) -> String {
        match place {
            Some(place) => format!("{place} = r.unknown({}, more);", code.additions.len()),
            None => "r.skip(more);".into(),
        }
    }

    fn finish_reading(&mut self, code: &Struct<'_>, numbers: Range<usize>, _: bool) {
        // A value without bits: nothing that reads it may throw.
        let is_null = |member: &Member<'_>| matches!(member.value.primitive, Primitive::Null);
        let has_bits = code.root.optional > 0 || code.extensible;
        if !has_bits && code.root.members[numbers].iter().all(is_null) {
            self.line("r.done();");
        }
    }
}

impl Per<'_, '_, '_> {
    /// The name of a constant.
    fn constant(&mut self, ty: &'static str, expression: String) -> String {
        let known = self.constants.iter().position(|known| known.0 == ty && known.1 == expression);
        let number = known.unwrap_or_else(|| {
            self.constants.push((ty, expression));
            self.constants.len() - 1
        });
        format!("{}_{number}", self.rules.to_uppercase())
    }

    /// Adds what has been printed to a codec.
    fn finish(&mut self, codec: &str) {
        let mut text = Text::at(1);
        for (number, (ty, expression)) in std::mem::take(&mut self.constants).into_iter().enumerate() {
            let name = self.rules.to_uppercase();
            text.line(format!("private static final {ty} {name}_{number} = {expression};"));
        }
        let printed = std::mem::replace(&mut self.text, Text::at(1)).finish();
        text.append(&printed);
        let text = text.finish();
        if !text.is_empty() {
            self.p.add(codec, &text);
        }
    }

    fn body(&mut self, node: NodeId, body: &Body<'_>) {
        self.variables = 0;
        let codec = self.p.codec(node);
        let declared = self.p.declared(node);
        self.text.append(&declared);
        match body {
            Body::Struct(code) => {
                self.struct_reader(node, code);
                self.line("");
                self.struct_writer(node, code);
            }
            Body::Choice(code) => {
                self.choice_reader(node, code);
                self.line("");
                self.choice_writer(node, code);
            }
            Body::Enumerated(code) => self.enumerated(node, code),
            Body::Table(code) => {
                let rows: Vec<_> = code.rows.iter().map(|row| (row.number, row.keys)).collect();
                let rows = self.p.rows_of(node, &rows);
                self.text.append(&rows);
                self.table_reader(node, code);
                self.line("");
                self.table_writer(node, code);
            }
            Body::List(code) => {
                self.list_reader(node, code);
                self.line("");
                self.list_writer(node, code);
            }
            Body::Unsupported(_) => self.unsupported_codec(node),
        }
        self.finish(&codec);
        for value in values(body) {
            self.contained(value);
        }
    }

    /// The codec of a string with a value inside, once for each.
    fn contained(&mut self, value: &Value) {
        let Primitive::Contained(is_bits, size, inside) = &value.primitive else { return };
        let node = value.node;
        if !self.p.printed.insert(format!("{} contained {}", self.rules, node.0)) {
            return;
        }
        self.variables = 0;
        let size = self.size(*size);
        let registers: Vec<u16> = self.p.types.keys(node).iter().copied().collect();
        let parameters = registers.into_iter().map(Key::Parameter).collect();
        let inner = Value { keys: parameters, ..(**inside).clone() };
        self.string_around(node, &inner, &size, *is_bits);
        let codec = self.p.codec(node);
        self.finish(&codec);
        self.contained(inside);
    }
}

/// The values that a body has inside.
fn values<'b>(body: &'b Body<'_>) -> Vec<&'b Value> {
    match body {
        Body::Struct(Struct { root, additions, .. }) => root
            .members
            .iter()
            .chain(additions.iter().flat_map(Addition::members))
            .map(|member| &member.value)
            .collect(),
        Body::Choice(Choice { root, additions, .. }) => {
            root.iter().chain(additions).map(|member| &member.value).collect()
        }
        Body::Table(Table { rows, .. }) => rows.iter().map(|row| &row.value).collect(),
        Body::List(List { element, .. }) => vec![element],
        Body::Enumerated(Enumerated { .. }) | Body::Unsupported(_) => Vec::new(),
    }
}
