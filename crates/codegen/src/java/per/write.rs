//! Writing.

use super::Per;
use crate::code::Table;
use crate::code::per::{
    Addition, Choice, Integer, IntegerForm, List, Member, Members, Primitive, Struct, Value,
};
use crate::java::Number;
use crate::java::parts::{PARTS, added_parts, conditions};
use crate::java::presences::Presences;
use crate::java::text::Lines;
use crate::java::values::{big, big_of, long};
use tercet_plan::NodeId;
use tercet_plan::per::Size;

impl Per<'_, '_, '_> {
    /// The lines that write the value of an expression.
    pub(super) fn write_value(&mut self, value: &Value, v: &str) {
        let (rules, node) = (self.rules, value.node);
        let inner = if self.p.types.is_newtype(node) { format!("{v}.value()") } else { v.to_owned() };
        let v = &inner;
        let line = match &value.primitive {
            Primitive::Tabled(_) | Primitive::Unsupported => "w.unsupported();".into(),
            Primitive::Boolean => format!("w.bool({v});"),
            Primitive::Null => return,
            Primitive::Integer(machine) => return self.write_integer(node, &machine.integer, v),
            Primitive::BigInteger(integer) => return self.write_big(integer, v),
            Primitive::Real => format!("w.real({v});"),
            Primitive::Float => format!("w.doubleReal({v});"),
            Primitive::FixedBits(bits) => format!("w.bitString({v}, {bits});"),
            Primitive::SizedBits(bits, size, named) => {
                format!("w.bitString({}, {v}, {named}, {bits});", self.size(*size))
            }
            Primitive::BitString(size, named) => format!("w.bitString({}, {v}, {named});", self.size(*size)),
            Primitive::FixedOctets(count) => format!("w.octets({v}, {count});"),
            Primitive::SizedOctets(size) | Primitive::OctetString(size) => {
                format!("w.octets({}, {v});", self.size(*size))
            }
            Primitive::ObjectIdentifier => format!("w.oid({v});"),
            Primitive::RelativeOid => format!("w.relativeOid({v});"),
            Primitive::Any => format!("w.any({v});"),
            Primitive::Characters(size, alphabet) => self.write_characters("characters", *size, *alphabet, v),
            Primitive::UtcTime(size, alphabet) => self.write_characters("utcTime", *size, *alphabet, v),
            Primitive::GeneralizedTime(size, alphabet) => {
                self.write_characters("generalizedTime", *size, *alphabet, v)
            }
            Primitive::Time(known) => {
                let form = self.times.get(known).cloned().unwrap_or_default();
                format!("w.time({}, {v});", self.constant("PerTime", form))
            }
            Primitive::Text(kind) => format!("w.text({}, {v});", *kind as u32),
            Primitive::Contained(..) | Primitive::Declared | Primitive::List => {
                format!("{}.write{rules}(w, {v});", self.p.codec(node))
            }
        };
        self.line(line);
    }

    fn write_characters(&mut self, method: &str, size: Size, alphabet: u32, v: &str) -> String {
        let (size, alphabet) = (self.size(size), self.alphabet(alphabet));
        format!("w.{method}({size}, {alphabet}, {v});")
    }

    fn write_integer(&mut self, node: NodeId, integer: &Integer, v: &str) {
        let number = self.p.number(node);
        let is_long = matches!(number, Number::Int(..) | Number::Long(..));
        match integer.form {
            IntegerForm::Constrained { lo, span, whole } if is_long => {
                let method = if integer.extensible { "extensible" } else { "integer" };
                let whole = self.whole(whole);
                self.line(format!("w.{method}({whole}, {v}, {}, {});", long(lo), long(span.cast_signed())));
            }
            _ => {
                let big = if is_long { format!("BigInteger.valueOf({v})") } else { v.to_owned() };
                let variable = self.variable("number");
                self.line(format!("BigInteger {variable} = {big};"));
                self.write_big(integer, &variable);
            }
        }
    }

    fn write_big(&mut self, integer: &Integer, v: &str) {
        if integer.extensible {
            // Which side of the extension a number is on shows when its root form is tried.
            let root = match &integer.form {
                IntegerForm::Constrained { lo, span, .. } => {
                    let lo = self.constant("BigInteger", big_of(*lo));
                    format!("PerWriter.isWithin({v}, {lo}, {})", long(span.cast_signed()))
                }
                IntegerForm::SemiConstrained(lo) => {
                    format!("{v}.compareTo({}) >= 0", self.constant("BigInteger", big_of(*lo)))
                }
                IntegerForm::Unconstrained | IntegerForm::Large(_) => "true".into(),
            };
            let variable = self.variable("isRoot");
            self.line(format!("boolean {variable} = {root};"));
            self.line(format!("w.bit(!{variable});"));
            self.open(format!("if (!{variable}) {{"));
            self.line(format!("w.unconstrained({v});"));
            self.text.reopen("} else {");
        }
        let line = match &integer.form {
            IntegerForm::Constrained { lo, span, whole } => {
                let (whole, lo) = (self.whole(*whole), self.constant("BigInteger", big_of(*lo)));
                format!("w.integer({whole}, {v}, {lo}, {});", long(span.cast_signed()))
            }
            IntegerForm::SemiConstrained(lo) => {
                format!("w.semiConstrained({v}, {});", self.constant("BigInteger", big_of(*lo)))
            }
            IntegerForm::Unconstrained => format!("w.unconstrained({v});"),
            IntegerForm::Large(large) => {
                let lo = self.constant("BigInteger", big(&large.lo, false));
                match &large.span {
                    Some(span) => {
                        let most = self.constant("BigInteger", big(span, true));
                        format!("w.large({v}, {lo}, {most}, {});", span.len())
                    }
                    None => format!("w.semiConstrained({v}, {lo});"),
                }
            }
        };
        self.line(line);
        if integer.extensible {
            self.close("}");
        }
    }

    // SEQUENCE and SET

    /// Writes conditions as bits.
    fn flags(&mut self, conditions: &[String]) {
        match conditions {
            [] => {}
            [one] => self.line(format!("w.bit({one});")),
            _ => {
                for conditions in conditions.chunks(32) {
                    let name = self.variable("flags");
                    self.line(format!("int {name} = 0;"));
                    for (at, condition) in conditions.iter().rev().enumerate() {
                        self.line(format!("{name} |= {condition} ? {:#x} : 0;", 1_u32 << at));
                    }
                    self.line(format!("w.bits({name} & 0xffffffffL, {});", conditions.len()));
                }
            }
        }
    }

    fn presence_of(&self, members: &Members<'_>) -> Vec<String> {
        members.members.iter().filter(|member| member.optional).map(|member| self.there(member)).collect()
    }

    pub(super) fn struct_writer(&mut self, node: NodeId, code: &Struct<'_>) {
        let rules = self.rules;
        let name = self.p.names.ty(node).to_owned();
        let unknown = self.p.names.additions(node).map(|name| format!("value.{name}()"));
        let more = code.extensible && (unknown.is_some() || !code.additions.is_empty());
        let many = !self.p.is_record(node) && code.root.members.len() > PARTS;
        let head = format!("static void write{rules}(PerWriter w, {name} value) throws Asn1Exception {{");
        self.open(head);
        if code.root.members.is_empty() && !more && !code.counted {
            if code.extensible {
                self.line("w.bit(false);");
            }
            return self.close("}");
        }
        self.line("int at = -1;");
        self.open("try {");
        if code.counted {
            self.line("w.beginValue();");
        }
        let added = added_parts(code, self.p.is_record(node));
        let (mut flags, mut methods) = (Vec::new(), Vec::new());
        if code.extensible && !more {
            flags.push("false".to_owned());
        } else if more {
            let there = self.added(code);
            if added.is_empty() {
                self.line(format!("boolean[] additions = {{{}}};", there.join(", ")));
            } else {
                let (lines, made) = conditions("additions", &format!("added{rules}"), &name, &there);
                lines.iter().for_each(|line| self.line(line));
                methods.extend(made);
            }
            let known = "PerWriter.isAny(additions)".to_owned();
            let unknown = unknown.as_ref().map(|name| format!("!{name}.isEmpty()"));
            let any: Vec<String> = std::iter::once(known).chain(unknown).collect();
            self.line(format!("boolean extended = {};", any.join(" || ")));
            flags.push("extended".to_owned());
        }
        let present = self.presence_of(&code.root);
        if present.len() > 2 * PARTS {
            self.flags(&flags);
            let (lines, made) = conditions("present", &format!("present{rules}"), &name, &present);
            lines.iter().for_each(|line| self.line(line));
            methods.extend(made);
            self.open("for (boolean flag : present) {");
            self.line("w.bit(flag);");
            self.close("}");
        } else {
            flags.extend(present);
            self.flags(&flags);
        }
        if many {
            for part in 0..code.root.members.len().div_ceil(PARTS) {
                self.line(format!("write{rules}{part}(w, value);"));
            }
        } else {
            code.root.members.iter().for_each(|member| self.member_writer(node, member));
        }
        if more {
            self.additions_writer(node, code, unknown.as_deref(), added.len());
        }
        if code.counted {
            self.line("w.endValue();");
        }
        self.line("w.done();");
        self.caught("fault.in(PLACE, at)");
        self.close("}");
        if many {
            for (part, members) in code.root.members.chunks(PARTS).enumerate() {
                self.line("");
                self.open(format!(
                    "private static void write{rules}{part}(PerWriter w, {name} value) throws Asn1Exception {{"
                ));
                self.line("int at = -1;");
                self.open("try {");
                members.iter().for_each(|member| self.member_writer(node, member));
                self.line("w.done();");
                self.caught("fault.in(PLACE, at)");
                self.close("}");
            }
        }
        for (part, range) in added.into_iter().enumerate() {
            self.line("");
            self.open(format!(
                "private static void write{rules}Added{part}(PerWriter w, {name} value, boolean[] additions) throws Asn1Exception {{"
            ));
            self.line("int at = -1;");
            self.open("try {");
            range.for_each(|number| self.addition_writer(node, code, number));
            self.line("w.done();");
            self.caught("fault.in(PLACE, at)");
            self.close("}");
        }
        for method in methods {
            self.line("");
            self.text.append(&method);
        }
    }

    fn additions_writer(&mut self, node: NodeId, code: &Struct<'_>, unknown: Option<&str>, parts: usize) {
        let rules = self.rules;
        self.line("at = -1;");
        self.open("if (extended) {");
        self.line(format!("w.additions(additions, {});", unknown.unwrap_or("UnknownAdditions.NONE")));
        if parts == 0 {
            for number in 0..code.additions.len() {
                self.addition_writer(node, code, number);
            }
        }
        (0..parts).for_each(|part| self.line(format!("write{rules}Added{part}(w, value, additions);")));
        if let Some(name) = unknown {
            self.line("at = -1;");
            self.line(format!("w.unknown({name});"));
        }
        self.close("}");
    }

    fn addition_writer(&mut self, node: NodeId, code: &Struct<'_>, number: usize) {
        let addition = &code.additions[number];
        self.open(format!("if (additions[{number}]) {{"));
        let mark = self.variable("mark");
        self.line(format!("long {mark} = w.open();"));
        if let Addition::Group(group) = addition {
            let flags = self.presence_of(group);
            self.flags(&flags);
        }
        for member in addition.members() {
            self.member_writer(node, member);
        }
        self.line(format!("w.close({mark});"));
        self.close("}");
    }

    // CHOICE, open types, lists

    pub(super) fn choice_writer(&mut self, node: NodeId, code: &Choice<'_>) {
        let rules = self.rules;
        let name = self.p.names.ty(node).to_owned();
        let all: Vec<(&Member<'_>, usize, bool)> = code
            .root
            .iter()
            .enumerate()
            .map(|(number, member)| (member, number, false))
            .chain(code.additions.iter().enumerate().map(|(number, member)| (member, number, true)))
            .collect();
        let many = all.len() > PARTS;
        self.open(format!("static void write{rules}(PerWriter w, {name} value) throws Asn1Exception {{"));
        self.line("int at = value.alternative();");
        self.open("try {");
        if code.counted {
            self.line("w.beginValue();");
        }
        let other = match code.extensible {
            true => format!("w.unknownAlternative((({name}.Unknown) value).value())"),
            false => "throw new IllegalStateException()".into(),
        };
        if many {
            let parts = all.len().div_ceil(PARTS);
            self.open("switch (at < 0 ? -1 : part(at)) {");
            for part in 0..parts {
                self.line(format!("case {part} -> write{rules}{part}(w, value, at);"));
            }
            self.line(format!("default -> {other};"));
            self.close("}");
        } else {
            self.open("switch (at) {");
            all.iter().for_each(|(member, number, added)| {
                self.alternative_writer(node, &name, code, member, *number, *added);
            });
            self.line(format!("default -> {other};"));
            self.close("}");
        }
        if code.counted {
            self.line("w.endValue();");
        }
        self.line("w.done();");
        self.caught("fault.in(PLACE, at)");
        self.close("}");
        if many {
            // The part that has an alternative, by its number in the notation.
            let mut part_of = vec![0; all.len()];
            for (at, (member, ..)) in all.iter().enumerate() {
                part_of[self.number_of(node, member.field) as usize] = at / PARTS;
            }
            if self.p.printed.insert(format!("parts {}", node.0)) {
                let parts: Vec<String> = part_of.iter().map(usize::to_string).collect();
                self.line("");
                self.line(format!("private static final byte[] PARTS = {{{}}};", parts.join(", ")));
                self.line("");
                self.open("private static int part(int number) {");
                self.line("return PARTS[number];");
                self.close("}");
            }
            for (part, members) in all.chunks(PARTS).enumerate() {
                self.line("");
                self.open(format!(
                    "private static void write{rules}{part}(PerWriter w, {name} value, int number) throws Asn1Exception {{"
                ));
                self.open("switch (number) {");
                members.iter().for_each(|(member, number, added)| {
                    self.alternative_writer(node, &name, code, member, *number, *added);
                });
                self.line("default -> throw new IllegalStateException();");
                self.close("}");
                self.close("}");
            }
        }
    }

    fn alternative_writer(
        &mut self,
        node: NodeId,
        name: &str,
        code: &Choice<'_>,
        member: &Member<'_>,
        number: usize,
        added: bool,
    ) {
        let ty = self.p.ty(self.p.types.shape.field(member.field).node);
        let class = format!("{name}.{}", self.p.names.field(member.field));
        self.open(format!("case {} -> {{", self.number_of(node, member.field)));
        self.line(format!("{ty} chosen = (({class}) value).value();"));
        if added {
            self.line(format!("long mark = w.addedAlternative({number});"));
            self.write(&member.value, "chosen");
            self.line("w.close(mark);");
        } else {
            if code.extensible {
                self.line("w.bit(false);");
            }
            let whole = self.whole(code.whole);
            self.line(format!("w.whole({whole}, {number});"));
            self.write(&member.value, "chosen");
        }
        self.close("}");
    }

    pub(super) fn table_writer(&mut self, node: NodeId, code: &Table<'_, Value>) {
        let rules = self.rules;
        let name = self.p.names.ty(node).to_owned();
        let many = code.rows.len() > PARTS;
        self.open(format!("static void write{rules}(PerWriter w, {name} value) throws Asn1Exception {{"));
        self.open(format!("if (value instanceof {name}.Unknown unknown) {{"));
        self.line("w.any(unknown.value());");
        self.line("return;");
        self.close("}");
        self.line("int row = value.alternative();");
        self.line("long mark = w.open();");
        if many {
            self.open(format!("switch (row / {PARTS}) {{"));
            for part in 0..code.rows.len().div_ceil(PARTS) {
                self.line(format!("case {part} -> writeRow{rules}{part}(w, value, row);"));
            }
            self.line("default -> throw new IllegalStateException();");
            self.close("}");
        } else {
            self.line(format!("writeRow{rules}0(w, value, row);"));
        }
        self.line("w.close(mark);");
        self.close("}");
        let chunks: Vec<_> =
            if code.rows.is_empty() { vec![&[][..]] } else { code.rows.chunks(PARTS).collect() };
        for (part, rows) in chunks.into_iter().enumerate() {
            self.line("");
            self.open(format!(
                "private static void writeRow{rules}{part}(PerWriter w, {name} value, int row) throws Asn1Exception {{"
            ));
            self.open("switch (row) {");
            for row in rows {
                let ty = self.p.ty(row.value.node);
                self.open(format!("case {} -> {{", row.number));
                let class = format!("{name}.{}", self.p.names.row(node, row.number));
                self.line(format!("{ty} content = (({class}) value).value();"));
                if code.counted {
                    self.line("w.beginValue();");
                }
                self.write(&row.value, "content");
                if code.counted {
                    self.line("w.endValue();");
                }
                self.close("}");
            }
            self.line("default -> throw new IllegalStateException();");
            self.close("}");
            self.close("}");
        }
    }

    pub(super) fn list_writer(&mut self, node: NodeId, code: &List) {
        let rules = self.rules;
        let ty = self.p.content(node, false, "");
        let element = self.p.boxed(self.p.types.element(node));
        let size = self.size(code.size);
        let method = if code.set { "setOf" } else { "list" };
        let codec = self.p.codec(node);
        self.open(format!("static void write{rules}(PerWriter w, {ty} list) throws Asn1Exception {{"));
        if code.counted {
            self.line("w.beginValue();");
        }
        self.line(format!("w.{method}({size}, list, {codec}::writeElement{rules});"));
        if code.counted {
            self.line("w.endValue();");
        }
        self.close("}");
        self.line("");
        self.open(format!(
            "private static void writeElement{rules}(PerWriter w, {element} element) throws Asn1Exception {{"
        ));
        self.write(&code.element, "element");
        self.close("}");
    }
}
