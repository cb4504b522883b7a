//! Codecs for OER: spells the steps of [`crate::code::oer`].

mod read;
mod write;

use super::Printer;
use super::ber::{tag_text, time_number};
use super::per::unit_name;
use super::presences::{Held, Presences, WORD};
use super::text::{Lines, Text};
use super::values::long;
use crate::code::Key;
use crate::code::oer::{Body, Code, Members, Primitive, Struct, Value};
use crate::code::sequence::Addition;
use std::collections::HashMap;
use std::ops::Range;
use tercet_plan::NodeId;
use tercet_plan::oer::{Integer, Size, TimeStep, VARIABLE};
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

impl Lines for Oer<'_, '_, '_> {
    fn text(&mut self) -> &mut Text {
        &mut self.text
    }
}

impl<'m> Presences<'m> for Oer<'_, 'm, '_> {
    type Value = Value;

    const CLASS: &'static str = "Oer";

    fn printer(&self) -> &Printer<'m> {
        self.p
    }

    fn rules(&self) -> &'static str {
        "Oer"
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
            1..=WORD => self.line(format!("long {name} = r.preamble({count});")),
            _ => self.line(format!("boolean[] {name} = r.preambles({count});")),
        }
    }

    fn group(&mut self, node: NodeId, group: &Members<'_>, is_record: bool) {
        let name = self.variable("p");
        self.presence(group.optional, &name);
        if group.members.iter().all(|member| member.optional) {
            let there = match group.optional {
                0 => "false".to_owned(),
                1..=WORD => format!("{name} != 0"),
                _ => format!("PerWriter.isAny({name})"),
            };
            self.line(format!("r.bracket({there}, {});", group.optional.div_ceil(8)));
        }
        self.group_members(node, group, &name, is_record);
        self.line("at = -1;");
    }

    fn refuses_defaults(&self) -> bool {
        true
    }

    fn unknown_reader(code: &Struct<'_>, place: Option<&str>) -> String {
        match place.filter(|_| code.keeps) {
            Some(place) => format!("{place} = r.unknown(more);"),
            None => "r.unknown(more);".into(),
        }
    }

    fn finish_reading(&mut self, _: &Struct<'_>, _: Range<usize>, is_part: bool) {
        if !is_part {
            self.line("r.done();");
        }
    }
}

impl Oer<'_, '_, '_> {
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
        let ty = self.p.ty(node);
        self.unsupported_codec(node);
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
        let registers: Vec<u16> = self.p.types.keys(node).iter().copied().collect();
        let parameters = registers.into_iter().map(Key::Parameter).collect();
        let inner = Value { keys: parameters, ..(**inside).clone() };
        self.string_around(node, &inner, &sized(*size), *is_bits);
        let codec = self.p.codec(node);
        self.finish(&codec);
        self.contained(inside);
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
