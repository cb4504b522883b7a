//! Codecs for BER, DER and CER: spells the steps of [`crate::code::ber`].

mod read;
mod write;

pub(super) use read::time_number;

use super::Printer;
use super::text::{Lines, Text};
use crate::code::ber::{Begins, Body, Choice, Code, Member, Primitive, Value};
use crate::types::Repr;
use tercet_plan::NodeId;

pub(super) fn print(p: &mut Printer<'_>, code: &Code<'_>) {
    let mut ber = Ber { p, text: Text::at(1), variables: 0 };
    for (node, body) in &code.bodies {
        ber.body(*node, body);
    }
    for node in ber.p.types.nodes().collect::<Vec<_>>() {
        if ber.p.types.repr(node) == Repr::Enumerated {
            ber.enumerated(node);
        }
    }
    for (root, value) in ber.p.roots.clone().iter().zip(&code.roots) {
        ber.text = Text::at(2);
        ber.variables = 0;
        ber.root(&root.name, value, root.wraps);
        let text = std::mem::replace(&mut ber.text, Text::at(1)).finish();
        ber.p.types_of_roots.entry(root.name.clone()).or_default().push_str(&text);
        ber.contained(value);
    }
}

struct Ber<'p, 'm> {
    p: &'p mut Printer<'m>,
    text: Text,
    /// How many variables for levels and marks the class has.
    variables: usize,
}

impl Lines for Ber<'_, '_> {
    fn text(&mut self) -> &mut Text {
        &mut self.text
    }
}

impl Ber<'_, '_> {
    /// The name of another variable.
    fn variable(&mut self, name: &str) -> String {
        self.variables += 1;
        format!("{name}{}", self.variables)
    }

    /// Adds what has been printed to a codec.
    fn finish(&mut self, codec: &str) {
        let text = std::mem::replace(&mut self.text, Text::at(1)).finish();
        self.p.add(codec, &text);
    }

    fn body(&mut self, node: NodeId, body: &Body<'_>) {
        let codec = self.p.codec(node);
        self.variables = 0;
        match body {
            Body::Struct(code) => {
                self.place(node, &code.members, code.places);
                let constants = self.p.default_constants(node);
                self.text.append(&constants);
                let required: Vec<String> = code.required().map(|number| (number + 1).to_string()).collect();
                if code.is_by_tag() && !code.set && !required.is_empty() {
                    self.line(format!("private static final int[] REQUIRED = {{{}}};", required.join(", ")));
                    self.line("");
                }
                self.struct_reader(node, code);
                self.line("");
                self.struct_writer(node, code);
            }
            Body::Choice(code) => {
                self.place(node, &code.alternatives, false);
                self.choice_reader(node, code);
                self.line("");
                self.takes(code);
                self.line("");
                self.choice_writer(node, code);
            }
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
        }
        self.finish(&codec);
        let values: Vec<&Value> = match body {
            Body::Struct(code) => code.members.iter().map(|member| &member.value).collect(),
            Body::Choice(code) => code.alternatives.iter().map(|member| &member.value).collect(),
            Body::Table(code) => code.rows.iter().map(|row| &row.value).collect(),
            Body::List(code) => vec![&code.element],
        };
        values.into_iter().for_each(|value| self.contained(value));
    }

    /// The codec of a string with a value inside, once for each.
    fn contained(&mut self, value: &Value) {
        let Primitive::Contained(is_bits, inside) = &value.primitive else { return };
        if self.p.printed.insert(format!("ber contained {}", value.node.0)) {
            self.contained_reader(value.node, *is_bits, inside);
            self.line("");
            self.contained_writer(value.node, *is_bits, inside);
            let codec = self.p.codec(value.node);
            self.finish(&codec);
            self.contained(inside);
        }
    }

    /// The constant with the names of the components, which finds them by their tags.
    fn place(&mut self, node: NodeId, members: &[Member<'_>], finds: bool) {
        self.p.printed.insert(format!("place {}", node.0));
        let names = self.p.component_names(node);
        if !finds {
            self.line(format!("static final Components PLACE = new Components({names});"));
            return self.line("");
        }
        self.open(format!("static final Components PLACE = new Components({names}) {{"));
        self.line("@Override");
        self.open("public int find(int tag, int from) {");
        for (number, member) in members.iter().enumerate() {
            if member.begins != Begins::Any {
                self.open(format!("if (from <= {number} && {}) {{", self.is(member.begins, "tag")));
                self.line(format!("return {number};"));
                self.close("}");
            }
        }
        self.line("return -1;");
        self.close("}");
        self.close("};");
        self.line("");
    }

    fn root(&mut self, name: &str, value: &Value, wraps: bool) {
        self.line("@Override");
        self.open(format!("protected {name} readBer(BerReader r) throws Asn1Exception {{"));
        if let Some(tag) = value.around.first().copied().or(value.tag) {
            self.line(format!("r.expect({});", tag_text(tag)));
        }
        let ty = self.p.ty(value.node);
        self.read(value, &format!("{ty} value = "), &|_| String::new(), &Position::Nothing);
        self.line(if wraps { format!("return new {name}(value);") } else { "return value;".into() });
        self.close("}");
        self.line("");
        self.line("@Override");
        self.open(format!("protected void writeBer(BerWriter w, {name} value) throws Asn1Exception {{"));
        self.write(value, if wraps { "value.value()" } else { "value" });
        self.close("}");
    }

    /// The condition that an element with `tag` is a component.
    fn is(&self, begins: Begins, tag: &str) -> String {
        match begins {
            Begins::Tag(known) => format!("{tag} == ({})", tag_text(known)),
            Begins::Choice(node) => format!("{}.takes({tag})", self.p.codec(node)),
            Begins::Any => "true".into(),
        }
    }

    /// The condition that an element with `tag` is one of several components.
    fn is_any_of(&self, members: &[Member<'_>], tag: &str) -> String {
        members.iter().map(|member| self.is(member.begins, tag)).collect::<Vec<_>>().join(" || ")
    }

    /// The method that tells which tags begin a value of an untagged CHOICE.
    fn takes(&mut self, code: &Choice<'_>) {
        self.open("static boolean takes(int tag) {");
        let tags: Vec<String> = code
            .alternatives
            .iter()
            .filter_map(|alternative| match alternative.begins {
                Begins::Tag(tag) => Some(tag_text(tag)),
                _ => None,
            })
            .collect();
        let mut others: Vec<String> = code
            .alternatives
            .iter()
            .filter(|alternative| !matches!(alternative.begins, Begins::Tag(_)))
            .map(|alternative| self.is(alternative.begins, "tag"))
            .collect();
        if !tags.is_empty() {
            self.open("switch (tag) {");
            for tags in tags.chunks(4) {
                self.line(format!("case {}:", tags.join(", ")));
            }
            self.line("    return true;");
            self.line("default:");
            self.close("}");
        }
        if others.is_empty() {
            others.push("false".into());
        }
        self.line(format!("return {};", others.join(" || ")));
        self.close("}");
    }
}

/// What is being read, which is a step in the path of a fault.
enum Position {
    /// Nothing with a name.
    Nothing,
    /// The component with this number.
    Component(usize),
    /// A component of a SEQUENCE that has to be there, so that the element of another may be in its place.
    Required(usize),
    /// A component of a SEQUENCE that has to be there and may have any tag.
    Any(usize),
}

/// An expression of a tag.
pub(super) fn tag_text(tag: u32) -> String {
    let class = ["UNIVERSAL", "APPLICATION", "CONTEXT", "PRIVATE"][(tag >> 30) as usize];
    match tag >> 30 {
        0 => (tag & 0x1FFF_FFFF).to_string(),
        _ => format!("BerTag.{class} | {}", tag & 0x1FFF_FFFF),
    }
}
