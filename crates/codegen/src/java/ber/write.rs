//! Writing, the last part first: contents, then the headers in front of them.

use crate::java::text::Lines;
use std::fmt::Write as _;

use super::Ber;
use super::read::{ranges, time_number};
use crate::code::ber::{Choice, List, Member, Primitive, Sort, Struct, Unknown, Value};
use crate::code::{Presence, Table};
use crate::java::Number;
use crate::java::parts::PARTS;
use crate::java::values::long;
use tercet_plan::NodeId;

/// Components that one method writes. The compiler of the virtual machine puts what writes each component in its place: in
/// the same time it compiles twice as much code in methods of 16 as in methods of 64.
const WRITTEN: usize = 16;

impl Ber<'_, '_> {
    /// The lines that write the value of an expression, with all its tags.
    pub(super) fn write(&mut self, value: &Value, v: &str) {
        let mut marks = Vec::new();
        for _ in &value.around {
            let mark = self.variable("mark");
            self.line(format!("int {mark} = w.open();"));
            marks.push(mark);
        }
        self.write_inner(value, v);
        for (tag, mark) in value.around.iter().zip(&marks).rev() {
            self.line(format!("w.close({}, {mark});", head(*tag, true)));
        }
    }

    fn write_inner(&mut self, value: &Value, v: &str) {
        let node = value.node;
        let inner = if self.p.types.is_newtype(node) { format!("{v}.value()") } else { v.to_owned() };
        let v = &inner;
        let has_parts = matches!(value.primitive, Primitive::Struct | Primitive::List);
        let tag = value.tag.map_or_else(|| "0".into(), |tag| head(tag, has_parts));
        let codec = self.p.codec(node);
        let line = match &value.primitive {
            Primitive::Boolean => format!("w.bool({tag}, {v});"),
            Primitive::Null => format!("w.nothing({tag});"),
            Primitive::Integer { .. } => match self.p.number(node) {
                Number::Long(i64::MIN, i64::MAX) => format!("w.integer({tag}, {v});"),
                Number::Int(least, most) | Number::Long(least, most) => {
                    format!("w.integer({tag}, {v}, {}, {});", long(least), long(most))
                }
                Number::Unsigned => format!("w.unsigned({tag}, {v});"),
                Number::Big => format!("w.bigInteger({tag}, {v});"),
            },
            Primitive::BigInteger => format!("w.bigInteger({tag}, {v});"),
            Primitive::Real => format!("w.real({tag}, {v});"),
            Primitive::Float => format!("w.doubleReal({tag}, {v});"),
            Primitive::FixedBits(bits, true) => format!("w.namedBits({tag}, {v}, {bits});"),
            Primitive::FixedBits(bits, false) => format!("w.bits({tag}, {v}, {bits});"),
            Primitive::NamedBits(..) => format!("w.namedBits({tag}, {v});"),
            Primitive::BitString => format!("w.bits({tag}, {v});"),
            Primitive::FixedOctets(octets) => format!("w.octets({tag}, {v}, {octets});"),
            Primitive::OctetString => format!("w.octets({tag}, {v});"),
            Primitive::ObjectIdentifier => format!("w.oid({tag}, {v});"),
            Primitive::RelativeOid => format!("w.relativeOid({tag}, {v});"),
            Primitive::Any => format!("w.any({v});"),
            Primitive::UtcTime => format!("w.utcTime({tag}, {v});"),
            Primitive::GeneralizedTime => format!("w.generalizedTime({tag}, {v});"),
            Primitive::Time(time) => format!("w.time({tag}, {}, {v});", time_number(*time)),
            Primitive::Text(kind) => format!("w.text({tag}, {}, {v});", *kind as u32),
            Primitive::Enumerated => format!("w.integer({tag}, {});", self.p.enumeration(node, v)),
            Primitive::Untagged => format!("{codec}.writeBer(w, {v});"),
            Primitive::Contained(..) => format!("{codec}.writeBer(w, {tag}, {v});"),
            Primitive::Struct | Primitive::List => {
                let mark = self.variable("mark");
                self.line(format!("int {mark} = w.open();"));
                self.line(format!("{codec}.writeBer(w, {v});"));
                format!("w.close({tag}, {mark});")
            }
        };
        self.line(line);
    }

    pub(super) fn contained_writer(&mut self, node: NodeId, is_bits: bool, inside: &Value) {
        let counted = self.p.types.is_counted(node);
        let ty = self.p.content(node, true, "");
        let content = self.p.boxed(inside.node);
        self.open(format!(
            "static void writeBer(BerWriter w, long head, {ty} string) throws Asn1Exception {{"
        ));
        self.line(format!("{content} value = string.value();"));
        self.open("if (value == null) {");
        self.line(format!("w.contents(head, string.bits(), {is_bits});"));
        self.line("return;");
        self.close("}");
        self.line("int mark = w.mark();");
        self.begin_value(counted);
        self.write(inside, "value");
        self.end_value(counted);
        self.line(format!("w.containing(head, mark, {is_bits});"));
        self.close("}");
    }

    pub(super) fn struct_writer(&mut self, node: NodeId, code: &Struct<'_>) {
        let name = self.p.names.ty(node).to_owned();
        let many = code.written.len() > WRITTEN;
        self.open(format!("static void writeBer(BerWriter w, {name} value) throws Asn1Exception {{"));
        if code.members.is_empty() && code.unknown != Unknown::Keep && !code.counted {
            return self.close("}");
        }
        self.line("int at = -1;");
        self.open("try {");
        self.begin_value(code.counted);
        let additions = self.p.names.additions(node).unwrap_or_default().to_owned();
        let unknown = format!("w.additions(value.{additions}());");
        let sort = sorted(code.sort, &additions);
        // Behind the additions that are known, in front of a second root.
        let behind = match code.second_root {
            Some(second) if !code.set => second,
            _ => code.members.len(),
        };
        let behind = (code.unknown == Unknown::Keep).then_some(behind);
        if sort.is_some() {
            self.line("int set = w.mark();");
        }
        if behind == Some(code.members.len()) {
            self.line(&unknown);
        }
        for (place, number) in code.written.iter().enumerate().rev() {
            if !many {
                self.component_writer(&code.members[*number], *number);
            } else if let Some(part) = ranges(code, WRITTEN).iter().position(|range| range.start == place) {
                self.line(format!("write{part}(w, value);"));
            }
            if behind == Some(place) {
                self.line("at = -1;");
                self.line(&unknown);
            }
        }
        if let Some(call) = sort {
            self.line("at = -1;");
            self.line(call);
        }
        self.end_value(code.counted);
        self.caught("fault.in(PLACE, at)");
        self.close("}");
        if many {
            for (part, range) in ranges(code, WRITTEN).into_iter().enumerate() {
                let numbers = &code.written[range];
                self.line("");
                self.open(format!(
                    "private static void write{part}(BerWriter w, {name} value) throws Asn1Exception {{"
                ));
                self.line("int at = -1;");
                self.open("try {");
                for number in numbers.iter().rev() {
                    self.component_writer(&code.members[*number], *number);
                }
                self.caught("fault.in(PLACE, at)");
                self.close("}");
            }
        }
    }

    fn component_writer(&mut self, member: &Member<'_>, number: usize) {
        let node = self.p.types.shape.field(member.field).node;
        let name = self.p.names.field(member.field).to_owned();
        let place = format!("value.{name}()");
        self.line(format!("at = {number};"));
        if member.presence == Presence::Optional {
            let ty = self.p.boxed(node);
            self.line(format!("{ty} _{name} = {place};"));
            self.open(format!("if (_{name} != null) {{"));
            self.write(&member.value, &format!("_{name}"));
            return self.close("}");
        }
        match self.p.is_default(member.field, &place) {
            Some(equal) => {
                self.open(format!("if (!({equal})) {{"));
                self.write(&member.value, &place);
                self.close("}");
            }
            None => self.write(&member.value, &place),
        }
    }

    pub(super) fn choice_writer(&mut self, node: NodeId, code: &Choice<'_>) {
        let name = self.p.names.ty(node).to_owned();
        let many = code.alternatives.len() > PARTS;
        self.open(format!("static void writeBer(BerWriter w, {name} value) throws Asn1Exception {{"));
        self.begin_value(code.counted);
        self.line("int at = value.alternative();");
        self.open("try {");
        if many {
            self.open(format!("switch (at < 0 ? -1 : at / {PARTS}) {{"));
            for part in 0..code.alternatives.len().div_ceil(PARTS) {
                self.line(format!("case {part} -> write{part}(w, value, at);"));
            }
        } else {
            self.open("switch (at) {");
            for (number, member) in code.alternatives.iter().enumerate() {
                self.alternative_writer(&name, member, number);
            }
        }
        if code.extensible {
            self.line(format!("default -> w.any((({name}.Unknown) value).value().encoding());"));
        } else {
            self.line("default -> throw new IllegalStateException();");
        }
        self.close("}");
        self.caught("fault.in(PLACE, at)");
        self.end_value(code.counted);
        self.close("}");
        if many {
            for (part, members) in code.alternatives.chunks(PARTS).enumerate() {
                self.line("");
                self.open(format!(
                    "private static void write{part}(BerWriter w, {name} value, int number) throws Asn1Exception {{"
                ));
                self.open("switch (number) {");
                for (number, member) in members.iter().enumerate() {
                    self.alternative_writer(&name, member, part * PARTS + number);
                }
                self.line("default -> throw new IllegalStateException();");
                self.close("}");
                self.close("}");
            }
        }
    }

    fn alternative_writer(&mut self, name: &str, member: &Member<'_>, number: usize) {
        let ty = self.p.ty(self.p.types.shape.field(member.field).node);
        self.open(format!("case {number} -> {{"));
        let class = format!("{name}.{}", self.p.names.field(member.field));
        self.line(format!("{ty} chosen = (({class}) value).value();"));
        self.write(&member.value, "chosen");
        self.close("}");
    }

    pub(super) fn table_writer(&mut self, node: NodeId, code: &Table<'_, Value>) {
        let name = self.p.names.ty(node).to_owned();
        let many = code.rows.len() > PARTS;
        self.open(format!("static void writeBer(BerWriter w, {name} value) throws Asn1Exception {{"));
        self.line("int row = value.alternative();");
        if many {
            self.open(format!("switch (row < 0 ? -1 : row / {PARTS}) {{"));
            for part in 0..code.rows.len().div_ceil(PARTS) {
                self.line(format!("case {part} -> write{part}(w, value, row);"));
            }
            self.line(format!("default -> w.any((({name}.Unknown) value).value());"));
            self.close("}");
            self.close("}");
        }
        for (part, rows) in code.rows.chunks(PARTS).enumerate() {
            if many {
                self.line("");
                self.open(format!(
                    "private static void write{part}(BerWriter w, {name} value, int row) throws Asn1Exception {{"
                ));
            }
            self.open("switch (row) {");
            for row in rows {
                let ty = self.p.ty(row.value.node);
                self.open(format!("case {} -> {{", row.number));
                self.line(format!(
                    "{ty} content = (({name}.{}) value).value();",
                    self.p.names.row(node, row.number)
                ));
                self.begin_value(code.counted);
                self.write(&row.value, "content");
                self.end_value(code.counted);
                self.close("}");
            }
            self.line(format!("default -> w.any((({name}.Unknown) value).value());"));
            self.close("}");
            self.close("}");
        }
        if code.rows.is_empty() {
            self.line(format!("w.any((({name}.Unknown) value).value());"));
            self.close("}");
        }
    }

    pub(super) fn list_writer(&mut self, node: NodeId, code: &List) {
        let ty = self.p.content(node, false, "");
        let element = self.p.boxed(self.p.types.element(node));
        self.open(format!("static void writeBer(BerWriter w, {ty} list) throws Asn1Exception {{"));
        self.line("int at = -1;");
        self.open("try {");
        self.begin_value(code.counted);
        if code.set {
            self.line("int set = w.mark();");
        }
        self.open("for (int i = list.size() - 1; i >= 0; i--) {");
        self.line("at = i;");
        self.line(format!("{element} element = list.get(i);"));
        self.write(&code.element, "element");
        self.close("}");
        if code.set {
            self.line("at = -1;");
            self.open("if (list.size() > 1) {");
            self.line("w.sortSetOf(set);");
            self.close("}");
        }
        self.end_value(code.counted);
        self.caught("fault.inElement(at)");
        self.close("}");
    }

    fn begin_value(&mut self, counted: bool) {
        if counted {
            self.line("w.beginValue();");
        }
    }

    fn end_value(&mut self, counted: bool) {
        if counted {
            self.line("w.endValue();");
        }
    }
}

/// The identifier of an element (X.690 8.1.2): its bytes, and behind these the number of them.
fn head(tag: u32, constructed: bool) -> String {
    let first = (tag >> 24) as u8 & 0xC0 | if constructed { 0x20 } else { 0 };
    let number = tag & 0x1FFF_FFFF;
    if number < 31 {
        return format!("0x{:02X}01L", first | number as u8);
    }
    let mut text = format!("0x{:02X}", first | 0x1F);
    let septets = (32 - number.leading_zeros()).div_ceil(7);
    for septet in (0..septets).rev() {
        let more = if septet > 0 { 0x80 } else { 0 };
        _ = write!(text, "{:02X}", (number >> (7 * septet)) as u8 & 0x7F | more);
    }
    _ = write!(text, "{:02X}L", septets + 1);
    text
}

/// The call that sorts the elements of a SET, those of later versions in a member with this name.
fn sorted(sort: Sort, unknown: &str) -> Option<String> {
    let has_unknown = format!("!value.{unknown}().isEmpty()");
    Some(match sort {
        Sort::Never => return None,
        Sort::Canonical => "w.sortSet(set, true);".into(),
        Sort::Der => "w.sortSet(set, false);".into(),
        Sort::Unknown => format!("if ({has_unknown}) {{ w.sortSet(set, true); }}"),
        Sort::DerOrUnknown => format!("w.sortSet(set, {has_unknown});"),
    })
}
