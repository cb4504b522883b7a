//! Codecs for PER, aligned and unaligned: spells the steps of [`crate::code::per`].

mod forms;
mod read;
mod write;

pub(super) use forms::name as unit_name;

use super::Printer;
use super::text::Text;
use crate::code::per::{Addition, Body, Choice, Code, Enumerated, List, Member, Primitive, Struct, Value};
use crate::code::{Key, Table};
use std::collections::HashMap;
use tercet_plan::per::Alphabet;
use tercet_plan::{FieldId, NodeId};

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

impl Per<'_, '_, '_> {
    fn line(&mut self, line: impl AsRef<str>) {
        self.text.line(line);
    }

    fn open(&mut self, line: impl AsRef<str>) {
        self.text.open(line);
    }

    fn close(&mut self, line: impl AsRef<str>) {
        self.text.close(line);
    }

    fn variable(&mut self, name: &str) -> String {
        self.variables += 1;
        format!("{name}{}", self.variables)
    }

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
            Body::Unsupported(_) => self.unsupported(node),
        }
        self.finish(&codec);
        for value in values(body) {
            self.contained(value);
        }
    }

    fn unsupported(&mut self, node: NodeId) {
        let (rules, ty, keys) = (self.rules, self.p.ty(node), self.p.key_parameters(node));
        self.open(format!("static {ty} read{rules}(PerReader r{keys}) throws Asn1Exception {{"));
        self.line("throw r.error(ErrorKind.UNSUPPORTED);");
        self.close("}");
        self.line("");
        self.open(format!("static void write{rules}(PerWriter w, {ty} value) throws Asn1Exception {{"));
        self.line("throw w.error(ErrorKind.UNSUPPORTED);");
        self.close("}");
    }

    /// The codec of a string with a value inside, once for each.
    fn contained(&mut self, value: &Value) {
        let Primitive::Contained(is_bits, size, inside) = &value.primitive else { return };
        let (node, rules) = (value.node, self.rules);
        if !self.p.printed.insert(format!("{rules} contained {}", node.0)) {
            return;
        }
        self.variables = 0;
        let ty = self.p.content(node, true, "");
        let (keys, same) = (self.p.key_parameters(node), self.p.same_keys(node));
        let content = self.p.boxed(inside.node);
        let size = self.size(*size);
        self.open(format!("static {ty} read{rules}(PerReader r{keys}) throws Asn1Exception {{"));
        self.line(format!("return r.containing({size}, {is_bits}, e -> inside{rules}(e{same}));"));
        self.close("}");
        self.line("");
        self.open(format!(
            "private static {content} inside{rules}(PerReader r{keys}) throws Asn1Exception {{"
        ));
        let registers: Vec<u16> = self.p.types.keys(node).iter().copied().collect();
        let parameters = registers.into_iter().map(Key::Parameter).collect();
        let inner = Value { keys: parameters, ..(**inside).clone() };
        self.read(&inner, &format!("{content} value = "), &|_| String::new());
        self.line("return value;");
        self.close("}");
        self.line("");
        self.open(format!("static void write{rules}(PerWriter w, {ty} string) throws Asn1Exception {{"));
        self.line(format!(
            "w.containing({size}, {is_bits}, string, {}::writeInside{rules});",
            self.p.codec(node)
        ));
        self.close("}");
        self.line("");
        self.open(format!(
            "private static void writeInside{rules}(PerWriter w, {content} value) throws Asn1Exception {{"
        ));
        self.write(inside, "value");
        self.close("}");
        let codec = self.p.codec(node);
        self.finish(&codec);
        self.contained(inside);
    }

    fn root(&mut self, name: &str, value: &Value, wraps: bool) {
        let rules = self.rules;
        self.line("@Override");
        self.open(format!("protected {name} read{rules}(PerReader r) throws Asn1Exception {{"));
        let ty = self.p.ty(value.node);
        self.read(value, &format!("{ty} value = "), &|_| String::new());
        self.line(if wraps { format!("return new {name}(value);") } else { "return value;".into() });
        self.close("}");
        self.line("");
        self.line("@Override");
        self.open(format!("protected void write{rules}(PerWriter w, {name} value) throws Asn1Exception {{"));
        self.write(value, if wraps { "value.value()" } else { "value" });
        self.close("}");
    }

    /// The number of a component in the order of the notation.
    fn number_of(&self, node: NodeId, member: &Member<'_>) -> u32 {
        member.field.0 - self.p.types.shape.node(node).first
    }

    /// The variable or field of a component.
    fn place_of(&self, field: FieldId, is_record: bool) -> String {
        let name = self.p.names.field(field);
        if is_record { format!("_{name}") } else { format!("value.{name}") }
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
