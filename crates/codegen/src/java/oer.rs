//! Codecs for OER: spells the steps of [`crate::code::oer`].

mod read;
mod write;

use super::Printer;
use super::ber::{tag_text, time_number};
use super::per::unit_name;
use super::text::Text;
use super::values::long;
use crate::code::Key;
use crate::code::oer::{Body, Code, Primitive, Value};
use crate::code::sequence::Addition;
use std::collections::HashMap;
use tercet_plan::oer::{Integer, Size, TimeStep, VARIABLE};
use tercet_plan::{FieldId, NodeId};
use tercet_runtime::types::TimeType;

pub(super) fn print(p: &mut Printer<'_>, code: &Code<'_>) {
    let times = code.times.iter().map(|(number, steps)| (*number, &steps[..])).collect();
    let mut oer = Oer { p, text: Text::at(1), constants: Vec::new(), times, variables: 0 };
    for (node, body) in &code.bodies {
        oer.body(*node, body);
    }
    for node in oer.p.types.nodes().collect::<Vec<_>>() {
        if oer.p.types.repr(node) == crate::types::Repr::Enumerated {
            oer.enumerated(node);
        }
    }
    for (root, value) in oer.p.roots.clone().iter().zip(&code.roots) {
        oer.variables = 0;
        oer.text = Text::at(2);
        oer.root(&root.name, value, root.wraps);
        let text = std::mem::replace(&mut oer.text, Text::at(1)).finish();
        oer.p.types_of_roots.entry(root.name.clone()).or_default().push_str(&text);
        oer.finish(&format!("{}Codec", root.name));
        oer.contained(value);
    }
}

struct Oer<'p, 'm, 'c> {
    p: &'p mut Printer<'m>,
    text: Text,
    /// The expressions of the forms of times that the codec has.
    constants: Vec<String>,
    times: HashMap<usize, &'c [TimeStep]>,
    variables: usize,
}

impl Oer<'_, '_, '_> {
    fn line(&mut self, line: impl AsRef<str>) {
        self.text.line(line);
    }

    fn open(&mut self, line: impl AsRef<str>) {
        self.text.open(line);
    }

    fn close(&mut self, line: impl AsRef<str>) {
        self.text.close(line);
    }

    fn caught(&mut self) {
        self.text.reopen("} catch (Asn1Exception fault) {");
        self.line("throw fault.in(PLACE, at);");
        self.close("}");
    }

    fn variable(&mut self, name: &str) -> String {
        self.variables += 1;
        format!("{name}{}", self.variables)
    }

    /// The constant of the form of a time.
    fn time(&mut self, kind: TimeType, form: usize) -> String {
        let steps: String =
            self.times.get(&form).into_iter().flat_map(|steps| steps.iter()).map(step).collect();
        let expression = format!("new OerTime({}{steps})", time_number(kind));
        let known = self.constants.iter().position(|known| *known == expression);
        let number = known.unwrap_or_else(|| {
            self.constants.push(expression);
            self.constants.len() - 1
        });
        format!("OER_{number}")
    }

    /// Adds what has been printed to a codec.
    fn finish(&mut self, codec: &str) {
        let mut text = Text::at(1);
        for (number, expression) in std::mem::take(&mut self.constants).into_iter().enumerate() {
            text.line(format!("private static final OerTime OER_{number} = {expression};"));
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
                self.line("");
                self.tag_of(node, code);
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
            Body::Unsupported(_) => self.unsupported(node),
        }
        self.finish(&codec);
        let values: Vec<&Value> = match body {
            Body::Struct(code) => {
                let added = code.additions.iter().flat_map(Addition::members);
                code.root.members.iter().chain(added).map(|member| &member.value).collect()
            }
            Body::Choice(code) => code.alternatives.iter().map(|known| &known.member.value).collect(),
            Body::Table(code) => code.rows.iter().map(|row| &row.value).collect(),
            Body::List(code) => vec![&code.element],
            Body::Unsupported(_) => Vec::new(),
        };
        values.into_iter().for_each(|value| self.contained(value));
    }

    fn unsupported(&mut self, node: NodeId) {
        let (ty, keys) = (self.p.ty(node), self.p.key_parameters(node));
        self.open(format!("static {ty} readOer(OerReader r{keys}) throws Asn1Exception {{"));
        self.line("throw r.error(ErrorKind.UNSUPPORTED);");
        self.close("}");
        self.line("");
        self.open(format!("static void writeOer(OerWriter w, {ty} value) throws Asn1Exception {{"));
        self.line("throw w.error(ErrorKind.UNSUPPORTED);");
        self.close("}");
        if self.p.types.repr(node) == crate::types::Repr::Choice {
            self.line("");
            self.open(format!("static int oerTag({ty} value) throws Asn1Exception {{"));
            self.line("throw Asn1Exception.at(ErrorKind.UNSUPPORTED, 0);");
            self.close("}");
        }
    }

    fn enumerated(&mut self, node: NodeId) {
        let (name, codec) = (self.p.names.ty(node).to_owned(), self.p.codec(node));
        self.open(format!("static {name} readOer(OerReader r) throws Asn1Exception {{"));
        if self.p.types.shape.node(node).extensible {
            self.line(format!("return {name}.of(r.enumerated());"));
        } else {
            self.line("int start = r.position();");
            self.line(format!("{name} item = {name}.of(r.enumerated());"));
            self.open("if (item == null) {");
            self.line("throw r.error(ErrorKind.UNKNOWN_ENUMERATION, start);");
            self.close("}");
            self.line("return item;");
        }
        self.close("}");
        let number = self.p.enumeration_method(node);
        self.text.append(&number);
        self.finish(&codec);
    }

    /// The codec of a string with a value inside, once for each.
    fn contained(&mut self, value: &Value) {
        let Primitive::Contained(is_bits, size, inside) = &value.primitive else { return };
        let node = value.node;
        if !self.p.printed.insert(format!("oer contained {}", node.0)) {
            return;
        }
        self.variables = 0;
        let ty = self.p.content(node, true, "");
        let (keys, same) = (self.p.key_parameters(node), self.p.same_keys(node));
        let content = self.p.boxed(inside.node);
        let size = sized(*size);
        self.open(format!("static {ty} readOer(OerReader r{keys}) throws Asn1Exception {{"));
        self.line(format!("return r.containing({size}, {is_bits}, e -> insideOer(e{same}));"));
        self.close("}");
        self.line("");
        self.open(format!("private static {content} insideOer(OerReader r{keys}) throws Asn1Exception {{"));
        let registers: Vec<u16> = self.p.types.keys(node).iter().copied().collect();
        let parameters = registers.into_iter().map(Key::Parameter).collect();
        let inner = Value { keys: parameters, ..(**inside).clone() };
        self.read(&inner, &format!("{content} value = "), &|_| String::new());
        self.line("return value;");
        self.close("}");
        self.line("");
        self.open(format!("static void writeOer(OerWriter w, {ty} string) throws Asn1Exception {{"));
        self.line(format!(
            "w.containing({size}, {is_bits}, string, {}::writeInsideOer);",
            self.p.codec(node)
        ));
        self.close("}");
        self.line("");
        self.open(format!(
            "private static void writeInsideOer(OerWriter w, {content} value) throws Asn1Exception {{"
        ));
        self.write(inside, "value");
        self.close("}");
        let codec = self.p.codec(node);
        self.finish(&codec);
        self.contained(inside);
    }

    fn root(&mut self, name: &str, value: &Value, wraps: bool) {
        self.line("@Override");
        self.open(format!("protected {name} readOer(OerReader r) throws Asn1Exception {{"));
        let ty = self.p.ty(value.node);
        self.read(value, &format!("{ty} value = "), &|_| String::new());
        self.line(if wraps { format!("return new {name}(value);") } else { "return value;".into() });
        self.close("}");
        self.line("");
        self.line("@Override");
        self.open(format!("protected void writeOer(OerWriter w, {name} value) throws Asn1Exception {{"));
        self.write(value, if wraps { "value.value()" } else { "value" });
        self.close("}");
    }

    /// The number of a component in the order of the notation.
    fn number_of(&self, node: NodeId, field: FieldId) -> u32 {
        field.0 - self.p.types.shape.node(node).first
    }

    /// The variable or field of a component.
    fn place_of(&self, field: FieldId, is_record: bool) -> String {
        let name = self.p.names.field(field);
        if is_record { format!("_{name}") } else { format!("value.{name}") }
    }
}

/// The literal of a size.
fn sized(size: Size) -> String {
    if size == VARIABLE { "OerReader.VARIABLE".into() } else { size.to_string() }
}

/// A step in writing a time as an argument, behind a comma.
fn step(step: &TimeStep) -> String {
    match step {
        TimeStep::Number(unit, integer) => {
            let (signed, octets) = match integer {
                Integer::Unsigned(octets) => (false, *octets),
                Integer::Signed(octets) => (true, *octets),
                Integer::UnsignedVariable => (false, 0),
                Integer::SignedVariable => (true, 0),
            };
            format!(", OerTime.number({}, {signed}, {octets})", unit_name(*unit))
        }
        TimeStep::Difference => ", OerTime.difference()".into(),
        TimeStep::Always(unit, number) => {
            format!(", OerTime.always({}, {})", unit_name(*unit), long(*number))
        }
        TimeStep::Utc => ", OerTime.utc()".into(),
    }
}

/// An expression of a tag.
fn tag(tag: u32) -> String {
    tag_text(tag)
}
