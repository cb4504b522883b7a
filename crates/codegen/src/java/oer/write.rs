//! Writing, the last part first.

use super::{Oer, sized, tag};
use crate::code::Table;
use crate::code::oer::{Alternative, Choice, List, Member, Members, Primitive, Struct, Tag, Value};
use crate::code::sequence::Addition;
use crate::java::Number;
use crate::java::ber::time_number;
use crate::java::parts::{PARTS, added_parts, conditions};
use crate::java::presences::Presences;
use crate::java::text::Lines;
use tercet_plan::NodeId;
use tercet_plan::oer::{Integer, Real};

impl Oer<'_, '_, '_> {
    /// The lines that write the value of an expression.
    pub(super) fn write_value(&mut self, value: &Value, v: &str) {
        let node = value.node;
        let inner = if self.p.types.is_newtype(node) { format!("{v}.value()") } else { v.to_owned() };
        let v = &inner;
        let line = match &value.primitive {
            Primitive::Unsupported => "w.unsupported();".into(),
            Primitive::Boolean => format!("w.bool({v});"),
            Primitive::Null => return,
            Primitive::Integer(machine) => {
                let is_long = matches!(self.p.number(node), Number::Int(..) | Number::Long(..));
                integer(machine.form, v, is_long)
            }
            Primitive::BigInteger(form) => integer(*form, v, false),
            Primitive::Real(Real::Contents) => format!("w.real({v});"),
            Primitive::Real(Real::Binary32) => format!("w.real32({v});"),
            Primitive::Real(Real::Binary64) => format!("w.real64({v});"),
            Primitive::Float(Real::Contents) => format!("w.real(Asn1Real.of({v}));"),
            Primitive::Float(Real::Binary32) => format!("w.float32({v});"),
            Primitive::Float(Real::Binary64) => format!("w.float64({v});"),
            Primitive::FixedBits(bits, size) => format!("w.bitsOf({}, {v}, {bits});", sized(*size)),
            Primitive::BitString(size) => format!("w.bits({}, {v});", sized(*size)),
            Primitive::NamedBits(size, least, _) => {
                format!("w.namedBits({}, {v}, {});", sized(*size), (*least).min(i32::MAX as usize))
            }
            Primitive::FixedOctets(count, size) => format!("w.octets({}, {v}, {count});", sized(*size)),
            Primitive::OctetString(size) => format!("w.octets({}, {v});", sized(*size)),
            Primitive::ObjectIdentifier => format!("w.oid({v});"),
            Primitive::RelativeOid => format!("w.relativeOid({v});"),
            Primitive::Any => format!("w.any({v});"),
            Primitive::UtcTime(size) => format!("w.utcTime({}, {v});", sized(*size)),
            Primitive::GeneralizedTime(size) => format!("w.generalizedTime({}, {v});", sized(*size)),
            Primitive::Text(kind, size) => format!("w.text({}, {}, {v});", sized(*size), *kind as u32),
            Primitive::Time(kind, size) => format!("w.time({}, {}, {v});", sized(*size), time_number(*kind)),
            Primitive::Point(kind, form) => format!("w.point({}, {v});", self.time(*kind, *form)),
            Primitive::Duration(kind) => format!("w.duration({}, {v});", time_number(*kind)),
            Primitive::Enumerated => format!("w.enumerated({});", self.p.enumeration(node, v)),
            Primitive::Contained(..) | Primitive::Declared | Primitive::List => {
                format!("{}.writeOer(w, {v});", self.p.codec(node))
            }
        };
        self.line(line);
    }

    /// The bits in front of components; returns the methods that make them if they are many.
    fn preamble_writer(&mut self, class: &str, code: &Members<'_>, extended: Option<&str>) -> Vec<String> {
        let optional = code.members.iter().filter(|member| member.optional);
        let bits = optional.map(|member| self.there(member));
        let mut bits: Vec<String> = extended.map(str::to_owned).into_iter().chain(bits).collect();
        if bits.len() > 2 * PARTS {
            let into = self.variable("present");
            // A variable of this method.
            let first = extended.map(|_| std::mem::replace(&mut bits[0], "false".into()));
            let (lines, methods) = conditions(&into, &format!("{into}Oer"), class, &bits);
            lines.iter().for_each(|line| self.line(line));
            if let Some(first) = first {
                self.line(format!("{into}[0] = {first};"));
            }
            self.line(format!("w.preamble({into});"));
            return methods;
        }
        if !bits.is_empty() {
            self.line(format!("w.preamble({});", bits.join(", ")));
        }
        Vec::new()
    }

    pub(super) fn struct_writer(&mut self, node: NodeId, code: &Struct<'_>) {
        let name = self.p.names.ty(node).to_owned();
        let more = code.extensible && (code.keeps || !code.additions.is_empty());
        let many = !self.p.is_record(node) && code.root.members.len() > PARTS;
        self.open(format!("static void writeOer(OerWriter w, {name} value) throws Asn1Exception {{"));
        self.line("int at = -1;");
        self.open("try {");
        if code.counted {
            self.line("w.beginValue();");
        }
        let mut methods = if more { self.additions_writer(node, code) } else { Vec::new() };
        let parts = code.root.members.len().div_ceil(PARTS);
        if many {
            (0..parts).rev().for_each(|part| self.line(format!("writeOer{part}(w, value);")));
        } else {
            code.root.members.iter().rev().for_each(|member| self.member_writer(node, member));
        }
        let extended = match (code.extensible, more) {
            (false, _) => None,
            (true, false) => Some("false"),
            (true, true) => Some("extended"),
        };
        methods.extend(self.preamble_writer(&name, &code.root, extended));
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
                    "private static void writeOer{part}(OerWriter w, {name} value) throws Asn1Exception {{"
                ));
                self.line("int at = -1;");
                self.open("try {");
                members.iter().rev().for_each(|member| self.member_writer(node, member));
                self.line("w.done();");
                self.caught("fault.in(PLACE, at)");
                self.close("}");
            }
        }
        for (part, range) in added_parts(code, self.p.is_record(node)).into_iter().enumerate() {
            self.line("");
            self.open(format!(
                "private static void writeOerAdded{part}(OerWriter w, {name} value, boolean[] additions) throws Asn1Exception {{"
            ));
            self.line("int at = -1;");
            self.open("try {");
            range.rev().for_each(|number| methods.extend(self.addition_writer(node, code, number)));
            self.line("w.done();");
            self.caught("fault.in(PLACE, at)");
            self.close("}");
        }
        for method in methods {
            self.line("");
            self.text.append(&method);
        }
    }

    /// Writes the additions; returns the methods that it calls.
    fn additions_writer(&mut self, node: NodeId, code: &Struct<'_>) -> Vec<String> {
        let name = self.p.names.ty(node).to_owned();
        let unknown = self.p.names.additions(node).map(|name| format!("value.{name}()"));
        let there = self.added(code);
        let parts = added_parts(code, self.p.is_record(node));
        let mut methods = Vec::new();
        if parts.is_empty() {
            self.line(format!("boolean[] additions = {{{}}};", there.join(", ")));
        } else {
            let (lines, made) = conditions("additions", "addedOer", &name, &there);
            lines.iter().for_each(|line| self.line(line));
            methods = made;
        }
        let more = unknown.as_ref().map_or(String::new(), |unknown| format!(" || !{unknown}.isEmpty()"));
        self.line(format!("boolean extended = PerWriter.isAny(additions){more};"));
        self.open("if (extended) {");
        if let Some(unknown) = &unknown {
            self.line(format!("w.unknown({unknown});"));
        }
        if parts.is_empty() {
            for number in (0..code.additions.len()).rev() {
                methods.extend(self.addition_writer(node, code, number));
            }
        }
        (0..parts.len())
            .rev()
            .for_each(|part| self.line(format!("writeOerAdded{part}(w, value, additions);")));
        self.line("at = -1;");
        let unknown = unknown.unwrap_or_else(|| "UnknownAdditions.NONE".into());
        self.line(format!("w.additions(additions, {unknown});"));
        self.close("}");
        methods
    }

    fn addition_writer(&mut self, node: NodeId, code: &Struct<'_>, number: usize) -> Vec<String> {
        let name = self.p.names.ty(node).to_owned();
        let addition = &code.additions[number];
        let mut methods = Vec::new();
        self.open(format!("if (additions[{number}]) {{"));
        let mark = self.variable("mark");
        self.line(format!("int {mark} = w.mark();"));
        addition.members().iter().rev().for_each(|member| self.member_writer(node, member));
        if let Addition::Group(group) = addition {
            methods = self.preamble_writer(&name, group, None);
        }
        self.line(format!("w.close({mark});"));
        self.close("}");
        methods
    }

    // CHOICE, open types, lists

    pub(super) fn choice_writer(&mut self, node: NodeId, code: &Choice<'_>) {
        let name = self.p.names.ty(node).to_owned();
        let many = code.alternatives.len() > PARTS;
        self.open(format!("static void writeOer(OerWriter w, {name} value) throws Asn1Exception {{"));
        self.line("int at = value.alternative();");
        self.open("try {");
        if code.counted {
            self.line("w.beginValue();");
        }
        let other = match code.extensible && self.p.types.shape.node(node).extensible {
            true => format!("w.unknownAlternative((({name}.Unknown) value).value())"),
            false => "throw new IllegalStateException()".into(),
        };
        if many {
            self.open(format!("switch (at < 0 ? -1 : at / {PARTS}) {{"));
            for part in 0..code.alternatives.len().div_ceil(PARTS) {
                self.line(format!("case {part} -> writeOer{part}(w, value, at);"));
            }
        } else {
            self.open("switch (at) {");
            for (number, alternative) in code.alternatives.iter().enumerate() {
                self.alternative_writer(&name, alternative, number);
            }
        }
        self.line(format!("default -> {other};"));
        self.close("}");
        if code.counted {
            self.line("w.endValue();");
        }
        self.line("w.done();");
        self.caught("fault.in(PLACE, at)");
        self.close("}");
        if many {
            for (part, alternatives) in code.alternatives.chunks(PARTS).enumerate() {
                self.line("");
                self.open(format!(
                    "private static void writeOer{part}(OerWriter w, {name} value, int number) throws Asn1Exception {{"
                ));
                self.open("switch (number) {");
                for (number, alternative) in alternatives.iter().enumerate() {
                    self.alternative_writer(&name, alternative, part * PARTS + number);
                }
                self.line("default -> throw new IllegalStateException();");
                self.close("}");
                self.close("}");
            }
        }
    }

    fn alternative_writer(&mut self, name: &str, alternative: &Alternative<'_>, number: usize) {
        let member = &alternative.member;
        let ty = self.p.ty(self.p.types.shape.field(member.field).node);
        self.open(format!("case {number} -> {{"));
        self.line(format!("{ty} chosen = (({name}.{}) value).value();", self.p.names.field(member.field)));
        if alternative.addition {
            self.line("int mark = w.mark();");
        }
        self.write(&member.value, "chosen");
        if alternative.addition {
            self.line("w.close(mark);");
        }
        match alternative.tag {
            Tag::Own(known) => self.line(format!("w.tag({});", tag(known))),
            // An addition has the tag twice: before its length and as the value of the CHOICE inside.
            known if alternative.addition => {
                let first = self.first_tag(known, member);
                self.line(first.map_or_else(|| "w.unsupported();".into(), |tag| format!("w.tag({tag});")));
            }
            _ => {}
        }
        self.close("}");
    }

    /// The expression of the tag that the value of an alternative begins with, if it is known.
    fn first_tag(&self, known: Tag, member: &Member<'_>) -> Option<String> {
        match known {
            Tag::Own(known) => Some(tag(known)),
            Tag::Inside => {
                let chosen =
                    if self.p.types.is_newtype(member.value.node) { "chosen.value()" } else { "chosen" };
                Some(format!("{}.oerTag({chosen})", self.p.codec(member.value.node)))
            }
            Tag::Unknown => None,
        }
    }

    /// The method that returns the tag that a value begins with.
    pub(super) fn tag_of(&mut self, node: NodeId, code: &Choice<'_>) {
        let name = self.p.names.ty(node).to_owned();
        self.open(format!("static int oerTag({name} value) throws Asn1Exception {{"));
        for alternative in &code.alternatives {
            let member = &alternative.member;
            let class = format!("{name}.{}", self.p.names.field(member.field));
            let first = self.first_tag(alternative.tag, member);
            let first = first.map(|first| first.replace("(chosen", "(chosen.value()"));
            let binding = if matches!(alternative.tag, Tag::Inside) { " chosen" } else { "" };
            self.open(format!("if (value instanceof {class}{binding}) {{"));
            self.line(match first {
                Some(first) => format!("return {first};"),
                None => "throw Asn1Exception.at(ErrorKind.UNSUPPORTED, 0);".into(),
            });
            self.close("}");
        }
        self.line("throw Asn1Exception.at(ErrorKind.UNSUPPORTED, 0);");
        self.close("}");
    }

    pub(super) fn table_writer(&mut self, node: NodeId, code: &Table<'_, Value>) {
        let name = self.p.names.ty(node).to_owned();
        self.open(format!("static void writeOer(OerWriter w, {name} value) throws Asn1Exception {{"));
        self.open(format!("if (value instanceof {name}.Unknown unknown) {{"));
        self.line("w.any(unknown.value());");
        self.line("return;");
        self.close("}");
        self.line("int row = value.alternative();");
        self.open(format!("switch (row / {PARTS}) {{"));
        for part in 0..code.rows.len().div_ceil(PARTS) {
            self.line(format!("case {part} -> writeRowOer{part}(w, value, row);"));
        }
        self.line("default -> throw new IllegalStateException();");
        self.close("}");
        self.close("}");
        for (part, rows) in code.rows.chunks(PARTS).enumerate() {
            self.line("");
            self.open(format!(
                "private static void writeRowOer{part}(OerWriter w, {name} value, int row) throws Asn1Exception {{"
            ));
            self.line("int mark = w.mark();");
            if code.counted {
                self.line("w.beginValue();");
            }
            self.open("switch (row) {");
            for row in rows {
                let ty = self.p.ty(row.value.node);
                self.open(format!("case {} -> {{", row.number));
                let class = format!("{name}.{}", self.p.names.row(node, row.number));
                self.line(format!("{ty} content = (({class}) value).value();"));
                self.write(&row.value, "content");
                self.close("}");
            }
            self.line("default -> throw new IllegalStateException();");
            self.close("}");
            self.line("w.close(mark);");
            if code.counted {
                self.line("w.endValue();");
            }
            self.close("}");
        }
    }

    pub(super) fn list_writer(&mut self, node: NodeId, code: &List) {
        let ty = self.p.content(node, false, "");
        let element = self.p.boxed(self.p.types.element(node));
        let codec = self.p.codec(node);
        self.open(format!("static void writeOer(OerWriter w, {ty} list) throws Asn1Exception {{"));
        if code.counted {
            self.line("w.beginValue();");
        }
        self.line(format!("w.list({}, list, {codec}::writeElementOer);", code.set));
        if code.counted {
            self.line("w.endValue();");
        }
        self.close("}");
        self.line("");
        self.open(format!(
            "private static void writeElementOer(OerWriter w, {element} element) throws Asn1Exception {{"
        ));
        self.write(&code.element, "element");
        self.close("}");
    }
}

/// The call that writes an INTEGER.
fn integer(form: Integer, v: &str, is_long: bool) -> String {
    match form {
        Integer::Unsigned(octets) => format!("w.unsigned({v}, {octets});"),
        Integer::Signed(octets) => format!("w.signed({v}, {octets});"),
        Integer::UnsignedVariable | Integer::SignedVariable => {
            let big = if is_long { format!("BigInteger.valueOf({v})") } else { v.to_owned() };
            format!("w.variable({big}, {});", form == Integer::SignedVariable)
        }
    }
}
