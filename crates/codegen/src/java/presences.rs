//! What the printers of PER and OER share: in both, bits in front of components say which of them are there.

use super::Printer;
use super::parts::{PARTS, added_parts};
use super::text::Lines;
use crate::code::sequence::{Addition, Member, Members, Sequence};
use crate::code::{Key, Presence};
use std::collections::HashMap;
use std::ops::Range;
use tercet_plan::{FieldId, NodeId};

/// Presence bits that are read as one number; more as an array.
pub(super) const WORD: u32 = 56;

/// The expression of a component that has been read, for the keys of those behind it.
pub(super) type Held<'h> = &'h dyn Fn(FieldId) -> String;

impl Printer<'_> {
    /// The variable or field that a component is read into.
    pub(super) fn place_of(&self, field: FieldId, is_record: bool) -> String {
        let name = self.names.field(field);
        if is_record { format!("_{name}") } else { format!("value.{name}") }
    }

    /// The expression of a record of what has been read.
    fn new_record(&self, node: NodeId, name: &str) -> String {
        let mut parts: Vec<String> =
            self.types.shape.fields_of(node).map(|(id, _)| self.place_of(id, true)).collect();
        parts.extend(self.names.additions(node).map(|_| "unknown".to_owned()));
        format!("new {name}({})", parts.join(", "))
    }
}

/// A printer for rules with presence bits.
pub(super) trait Presences<'m>: Lines {
    type Value;

    /// What the classes of the runtime for the rules begin with.
    const CLASS: &'static str;

    fn printer(&self) -> &Printer<'m>;

    /// What the methods for the rules end with.
    fn rules(&self) -> &'static str;

    /// The name of another variable.
    fn variable(&mut self, name: &str) -> String;

    /// The expression that reads a value.
    fn call(&mut self, value: &Self::Value, held: Held<'_>) -> String;

    /// Prints the line that reads a value and assigns it.
    fn read(&mut self, value: &Self::Value, target: &str, held: Held<'_>) {
        let call = self.call(value, held);
        let (p, node) = (self.printer(), Self::of(value).0);
        let value = if p.types.is_newtype(node) {
            format!("new {}({call})", p.names.ty(p.types.same(node)))
        } else {
            call
        };
        self.line(format!("{target}{value};"));
    }

    /// The lines that write the value of an expression.
    fn write(&mut self, value: &Self::Value, v: &str);

    /// The type of a value, and the keys that its codec takes.
    fn of(value: &Self::Value) -> (NodeId, &[Key]);

    /// Reads the bits in front of components, if there are any.
    fn presence(&mut self, count: u32, name: &str);

    /// Reads a version bracket.
    fn group(&mut self, node: NodeId, group: &Members<'_, Self::Value>, is_record: bool);

    /// Whether a component that equals its DEFAULT is refused.
    fn refuses_defaults(&self) -> bool;

    /// The line that reads additions of later versions into a place, or over them.
    fn unknown_reader(code: &Sequence<'_, Self::Value>, place: Option<&str>) -> String;

    /// What follows the components of the root that a method has read.
    fn finish_reading(&mut self, code: &Sequence<'_, Self::Value>, numbers: Range<usize>, is_part: bool);

    // Types without a codec, roots, strings with a value inside

    fn unsupported_codec(&mut self, node: NodeId) {
        let (rules, class) = (self.rules(), Self::CLASS);
        let (ty, keys) = (self.printer().ty(node), self.printer().key_parameters(node));
        self.open(format!("static {ty} read{rules}({class}Reader r{keys}) throws Asn1Exception {{"));
        self.line("throw r.error(ErrorKind.UNSUPPORTED);");
        self.close("}");
        self.line("");
        self.open(format!("static void write{rules}({class}Writer w, {ty} value) throws Asn1Exception {{"));
        self.line("throw w.error(ErrorKind.UNSUPPORTED);");
        self.close("}");
    }

    fn root(&mut self, name: &str, value: &Self::Value, wraps: bool) {
        let (rules, class) = (self.rules(), Self::CLASS);
        self.line("@Override");
        self.open(format!("protected {name} read{rules}({class}Reader r) throws Asn1Exception {{"));
        let ty = self.printer().ty(Self::of(value).0);
        self.read(value, &format!("{ty} value = "), &|_| String::new());
        self.line(if wraps { format!("return new {name}(value);") } else { "return value;".into() });
        self.close("}");
        self.line("");
        self.line("@Override");
        self.open(format!(
            "protected void write{rules}({class}Writer w, {name} value) throws Asn1Exception {{"
        ));
        self.write(value, if wraps { "value.value()" } else { "value" });
        self.close("}");
    }

    /// The codec of a string of a size with a value inside, which has the keys of the string as parameters.
    fn string_around(&mut self, node: NodeId, inside: &Self::Value, size: &str, is_bits: bool) {
        let (rules, class) = (self.rules(), Self::CLASS);
        let p = self.printer();
        let ty = p.content(node, true, "");
        let (keys, same) = (p.key_parameters(node), p.same_keys(node));
        let (content, codec) = (p.boxed(Self::of(inside).0), p.codec(node));
        self.open(format!("static {ty} read{rules}({class}Reader r{keys}) throws Asn1Exception {{"));
        self.line(format!("return r.containing({size}, {is_bits}, e -> inside{rules}(e{same}));"));
        self.close("}");
        self.line("");
        self.open(format!(
            "private static {content} inside{rules}({class}Reader r{keys}) throws Asn1Exception {{"
        ));
        self.read(inside, &format!("{content} value = "), &|_| String::new());
        self.line("return value;");
        self.close("}");
        self.line("");
        self.open(format!("static void write{rules}({class}Writer w, {ty} string) throws Asn1Exception {{"));
        self.line(format!("w.containing({size}, {is_bits}, string, {codec}::writeInside{rules});"));
        self.close("}");
        self.line("");
        self.open(format!(
            "private static void writeInside{rules}({class}Writer w, {content} value) throws Asn1Exception {{"
        ));
        self.write(inside, "value");
        self.close("}");
    }

    // Reading of SEQUENCE and SET

    /// The number of a component in the order of the notation.
    fn number_of(&self, node: NodeId, field: FieldId) -> u32 {
        field.0 - self.printer().types.shape.node(node).first
    }

    fn struct_reader(&mut self, node: NodeId, code: &Sequence<'_, Self::Value>) {
        let (rules, class) = (self.rules(), Self::CLASS);
        let p = self.printer();
        let name = p.names.ty(node).to_owned();
        let (keys, same) = (p.key_parameters(node), p.same_keys(node));
        let is_record = p.is_record(node);
        let bits = u32::from(code.extensible) + code.root.optional;
        let all = 0..code.root.members.len();
        let many = !is_record && all.len() > PARTS;
        self.open(format!("static {name} read{rules}({class}Reader r{keys}) throws Asn1Exception {{"));
        self.guarded(|this| {
            if code.counted {
                this.line("r.beginValue();");
            }
            this.declare(node, code, is_record);
            this.presence(bits, "p");
            if many {
                let presence = if bits == 0 { "" } else { ", p" };
                for part in 0..all.len().div_ceil(PARTS) {
                    this.line(format!("read{rules}{part}(r, value{presence}{same});"));
                }
            } else {
                this.root_members(node, code, all.clone(), is_record);
            }
            if code.extensible {
                this.line("at = -1;");
                this.open(format!("if ({}) {{", bit_of("p", bits, 0)));
                this.additions(node, code, is_record);
                this.close("}");
            }
            this.finish_reading(code, all.clone(), false);
            if code.counted {
                this.line("r.endValue();");
            }
            let result = match is_record {
                true => this.printer().new_record(node, &name),
                false => "value".into(),
            };
            this.line(format!("return {result};"));
        });
        if many {
            for (part, first) in all.clone().step_by(PARTS).enumerate() {
                let presence = match bits {
                    0 => "",
                    1..=WORD => ", long p",
                    _ => ", boolean[] p",
                };
                self.line("");
                self.open(format!(
                    "private static void read{rules}{part}({class}Reader r, {name} value{presence}{keys}) throws Asn1Exception {{"
                ));
                self.guarded(|this| {
                    let numbers = first..(first + PARTS).min(all.end);
                    this.root_members(node, code, numbers.clone(), false);
                    this.finish_reading(code, numbers, true);
                });
            }
        }
        if code.extensible {
            self.added_parts(node, code, is_record);
        }
    }

    /// What is read into: a variable for each component, or an object, with the values that absent components have.
    fn declare(&mut self, node: NodeId, code: &Sequence<'_, Self::Value>, is_record: bool) {
        let added = code.additions.iter().flat_map(Addition::members);
        let members = code.root.members.iter().chain(added).map(|member| (member.field, member.presence));
        let lines = self.printer().declared_variables(node, &members.collect(), is_record);
        lines.iter().for_each(|line| self.line(line));
    }

    fn root_members(
        &mut self,
        node: NodeId,
        code: &Sequence<'_, Self::Value>,
        numbers: Range<usize>,
        is_record: bool,
    ) {
        let front = u32::from(code.extensible);
        let bits = front + code.root.optional;
        let mut bit = front;
        for (number, member) in code.root.members.iter().enumerate() {
            if numbers.contains(&number) {
                let there = member.optional.then(|| bit_of("p", bits, bit));
                self.member(node, member, there, is_record);
            }
            bit += u32::from(member.optional);
        }
    }

    /// Reads a component, if it is there.
    fn member(
        &mut self,
        node: NodeId,
        member: &Member<'_, Self::Value>,
        there: Option<String>,
        is_record: bool,
    ) {
        if let Some(there) = &there {
            self.open(format!("if ({there}) {{"));
        }
        self.line(format!("at = {};", self.number_of(node, member.field)));
        let component = |key: &Key| match key {
            Key::Component(field, _) => Some((*field, self.printer().place_of(*field, is_record))),
            _ => None,
        };
        let places: HashMap<FieldId, String> =
            Self::of(&member.value).1.iter().filter_map(component).collect();
        let place = self.printer().place_of(member.field, is_record);
        let equal = match member.presence {
            Presence::Default if self.refuses_defaults() => self.printer().is_default(member.field, &place),
            _ => None,
        };
        let begun = equal.is_some().then(|| self.variable("begun"));
        if let Some(begun) = &begun {
            self.line(format!("int {begun} = r.position();"));
        }
        self.read(&member.value, &format!("{place} = "), &|field| {
            places.get(&field).cloned().unwrap_or_default()
        });
        if let (Some(equal), Some(begun)) = (equal, begun) {
            self.line(format!("r.notDefault({equal}, {begun});"));
        }
        if there.is_some() {
            self.close("}");
        }
    }

    /// Reads components with presence bits in front of them, whose variable has a name.
    fn group_members(&mut self, node: NodeId, group: &Members<'_, Self::Value>, bits: &str, is_record: bool) {
        let mut bit = 0;
        for member in &group.members {
            let there = member.optional.then(|| bit_of(bits, group.optional, bit));
            bit += u32::from(member.optional);
            self.member(node, member, there, is_record);
        }
    }

    fn additions(&mut self, node: NodeId, code: &Sequence<'_, Self::Value>, is_record: bool) {
        let place = match self.printer().names.additions(node) {
            Some(name) if !is_record => Some(format!("value.{name}")),
            Some(_) => Some("unknown".to_owned()),
            None => None,
        };
        self.line("PerAdditions more = r.additions();");
        let parts = added_parts(code, is_record);
        if parts.is_empty() {
            code.additions.iter().for_each(|addition| self.addition(node, addition, is_record));
        }
        for part in 0..parts.len() {
            let (rules, same) = (self.rules(), self.printer().same_keys(node));
            self.line(format!("read{rules}Added{part}(r, value, more{same});"));
        }
        self.line(Self::unknown_reader(code, place.as_deref()));
    }

    /// The methods that read some of many additions.
    fn added_parts(&mut self, node: NodeId, code: &Sequence<'_, Self::Value>, is_record: bool) {
        let (rules, class) = (self.rules(), Self::CLASS);
        let name = self.printer().names.ty(node).to_owned();
        let keys = self.printer().key_parameters(node);
        for (part, range) in added_parts(code, is_record).into_iter().enumerate() {
            self.line("");
            self.open(format!(
                "private static void read{rules}Added{part}({class}Reader r, {name} value, PerAdditions more{keys}) throws Asn1Exception {{"
            ));
            self.guarded(|this| {
                code.additions[range].iter().for_each(|addition| this.addition(node, addition, false));
            });
        }
    }

    fn addition(&mut self, node: NodeId, addition: &Addition<'_, Self::Value>, is_record: bool) {
        self.open("if (r.isNext(more)) {");
        if let Addition::Single(member) = addition {
            self.line(format!("at = {};", self.number_of(node, member.field)));
        }
        let around = self.variable("around");
        self.line(format!("long {around} = r.open();"));
        match addition {
            Addition::Single(member) => self.member(node, member, None, is_record),
            Addition::Group(group) => self.group(node, group, is_record),
        }
        self.line(format!("r.close({around});"));
        self.line("at = -1;");
        self.close("}");
    }

    /// Reads the value of an alternative.
    fn chosen(&mut self, member: &Member<'_, Self::Value>) {
        let p = self.printer();
        let ty = p.ty(p.types.shape.field(member.field).node);
        self.read(&member.value, &format!("{ty} chosen = "), &|_| String::new());
    }

    // Writing of SEQUENCE and SET

    /// The condition that a component is there to be written.
    fn there(&self, member: &Member<'_, Self::Value>) -> String {
        let place = format!("value.{}()", self.printer().names.field(member.field));
        if member.presence == Presence::Optional {
            return format!("{place} != null");
        }
        match self.printer().is_default(member.field, &place) {
            Some(equal) => format!("!({equal})"),
            None => "true".into(),
        }
    }

    /// For each addition the condition that one of its components is there to be written.
    fn added(&self, code: &Sequence<'_, Self::Value>) -> Vec<String> {
        let there = |addition: &Addition<'_, Self::Value>| {
            let members: Vec<String> = addition.members().iter().map(|member| self.there(member)).collect();
            if members.is_empty() { "false".into() } else { members.join(" || ") }
        };
        code.additions.iter().map(there).collect()
    }

    fn member_writer(&mut self, node: NodeId, member: &Member<'_, Self::Value>) {
        let name = self.printer().names.field(member.field).to_owned();
        let place = format!("value.{name}()");
        self.line(format!("at = {};", self.number_of(node, member.field)));
        if member.presence == Presence::Optional {
            let p = self.printer();
            let ty = p.boxed(p.types.shape.field(member.field).node);
            let variable = format!("_{name}");
            self.line(format!("{ty} {variable} = {place};"));
            self.open(format!("if ({variable} != null) {{"));
            self.write(&member.value, &variable);
            if !member.optional {
                self.reopen("} else {");
                self.line("throw w.error(ErrorKind.MISSING_COMPONENT);");
            }
            return self.close("}");
        }
        if member.optional {
            self.open(format!("if ({}) {{", self.there(member)));
            self.write(&member.value, &place);
            return self.close("}");
        }
        self.write(&member.value, &place);
    }
}

/// The condition that a presence bit is set.
pub(super) fn bit_of(name: &str, count: u32, bit: u32) -> String {
    if count <= WORD {
        format!("({name} & {:#x}L) != 0", 1_u64 << (count - 1 - bit))
    } else {
        format!("{name}[{bit}]")
    }
}
