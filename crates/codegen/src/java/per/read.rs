//! Reading.

mod enumerated;

use super::Per;
use crate::code::per::{
    Addition, Choice, Integer, IntegerForm, List, MachineInteger, Member, Members, Primitive, Struct, Value,
};
use crate::code::{Key, Table};
use crate::java::values::{big, big_of, long};
use crate::java::{Number, PARTS, added_parts};
use std::collections::HashMap;
use tercet_plan::per::Whole;
use tercet_plan::{FieldId, NodeId};

/// Presence bits that are read as one number; more as an array.
const WORD: u32 = 56;

/// The expression of a component that has been read, for the keys of those behind it.
type Held<'h> = &'h dyn Fn(FieldId) -> String;

impl Per<'_, '_, '_> {
    /// The line that reads a value and assigns it.
    pub(super) fn read(&mut self, value: &Value, target: &str, held: Held<'_>) {
        let call = self.call(value, held);
        let call = if self.p.types.is_newtype(value.node) {
            format!("new {}({call})", self.p.names.ty(self.p.types.same(value.node)))
        } else {
            call
        };
        self.line(format!("{target}{call};"));
    }

    fn call(&mut self, value: &Value, held: Held<'_>) -> String {
        let (rules, node) = (self.rules, value.node);
        match &value.primitive {
            Primitive::Tabled(_) | Primitive::Unsupported => "r.unsupported()".into(),
            Primitive::Boolean => "r.bool()".into(),
            Primitive::Null => "Null.NULL".into(),
            Primitive::Integer(machine) => self.integer(node, machine),
            Primitive::BigInteger(integer) => self.big(integer),
            Primitive::Real => "r.real()".into(),
            Primitive::Float => "r.doubleReal()".into(),
            Primitive::FixedBits(bits) => format!("r.bitString({bits})"),
            Primitive::SizedBits(bits, size, _) => format!("r.bitString({}, {bits})", self.size(*size)),
            Primitive::BitString(size, _) => format!("r.bitString({})", self.size(*size)),
            Primitive::FixedOctets(count) => format!("r.octets({count})"),
            Primitive::SizedOctets(size) => {
                let count = match self.p.types.repr(node) {
                    crate::types::Repr::FixedOctets(count) => count,
                    _ => 0,
                };
                format!("r.octets({}, {count})", self.size(*size))
            }
            Primitive::OctetString(size) => format!("r.octets({})", self.size(*size)),
            Primitive::ObjectIdentifier => "r.oid()".into(),
            Primitive::RelativeOid => "r.relativeOid()".into(),
            Primitive::Any => "r.any()".into(),
            Primitive::Characters(size, alphabet) => self.characters("characters", *size, *alphabet),
            Primitive::UtcTime(size, alphabet) => self.characters("utcTime", *size, *alphabet),
            Primitive::GeneralizedTime(size, alphabet) => {
                self.characters("generalizedTime", *size, *alphabet)
            }
            Primitive::Time(known) => {
                let form = self.times.get(known).cloned().unwrap_or_default();
                format!("r.time({})", self.constant("PerTime", form))
            }
            Primitive::Text(kind) => format!("r.text({})", *kind as u32),
            Primitive::Contained(..) | Primitive::Declared | Primitive::List => {
                format!("{}.read{rules}(r{})", self.p.codec(node), self.p.keys(&value.keys, held))
            }
        }
    }

    fn characters(&mut self, method: &str, size: tercet_plan::per::Size, alphabet: u32) -> String {
        let (size, alphabet) = (self.size(size), self.alphabet(alphabet));
        format!("r.{method}({size}, {alphabet})")
    }

    /// The expression of a whole number above the least.
    fn above(&mut self, form: Whole, span: u64) -> String {
        match form {
            Whole::Bits(width @ ..=56) => format!("r.whole({width}, {})", long(span.cast_signed())),
            _ => format!("r.whole({}, {})", self.whole(form), long(span.cast_signed())),
        }
    }

    fn integer(&mut self, node: NodeId, machine: &MachineInteger) -> String {
        let number = self.p.number(node);
        let narrow = |number: Number, value: String| match number {
            Number::Int(least, most) => format!("(int) r.narrow({value}, {}, {})", long(least), long(most)),
            Number::Long(least, most) => format!("r.narrow({value}, {}, {})", long(least), long(most)),
            Number::Unsigned => format!("r.narrow({value})"),
            Number::Big => value,
        };
        let root = match (&machine.integer.form, number) {
            (IntegerForm::Constrained { lo, span, whole }, Number::Int(..) | Number::Long(..))
                if machine.fits =>
            {
                let above = self.above(*whole, *span);
                let sum = if *lo == 0 { above } else { format!("{} + {above}", long(*lo)) };
                match number {
                    Number::Int(..) => format!("(int) ({sum})"),
                    _ => sum,
                }
            }
            (form, _) => {
                let form = self.form(form);
                narrow(number, form)
            }
        };
        if machine.integer.extensible {
            return format!("r.bit() ? {} : {root}", narrow(number, "r.unconstrained()".into()));
        }
        root
    }

    fn big(&mut self, integer: &Integer) -> String {
        let root = self.form(&integer.form);
        if integer.extensible { format!("r.bit() ? r.unconstrained() : {root}") } else { root }
    }

    /// The expression of an INTEGER of the root, of any size.
    fn form(&mut self, form: &IntegerForm) -> String {
        match form {
            IntegerForm::Constrained { lo, span, whole } => {
                let (whole, lo) = (self.whole(*whole), self.constant("BigInteger", big_of(*lo)));
                format!("r.constrained({whole}, {lo}, {})", long(span.cast_signed()))
            }
            IntegerForm::SemiConstrained(lo) => {
                format!("r.semiConstrained({})", self.constant("BigInteger", big_of(*lo)))
            }
            IntegerForm::Unconstrained => "r.unconstrained()".into(),
            IntegerForm::Large(large) => {
                let lo = self.constant("BigInteger", big(&large.lo, false));
                match &large.span {
                    Some(span) => {
                        let most = self.constant("BigInteger", big(span, true));
                        format!("r.large({lo}, {most}, {})", span.len())
                    }
                    None => format!("r.semiConstrained({lo})"),
                }
            }
        }
    }

    // SEQUENCE and SET

    /// Reads presence bits, if there are any.
    fn presence(&mut self, count: u32, name: &str) {
        match count {
            0 => {}
            1..=WORD => self.line(format!("long {name} = r.presence({count});")),
            _ => self.line(format!("boolean[] {name} = r.presences({count});")),
        }
    }

    pub(super) fn struct_reader(&mut self, node: NodeId, code: &Struct<'_>) {
        let rules = self.rules;
        let name = self.p.names.ty(node).to_owned();
        let keys = self.p.key_parameters(node);
        let is_record = self.p.is_record(node);
        let extended = u32::from(code.extensible);
        let bits = extended + code.root.optional;
        self.open(format!("static {name} read{rules}(PerReader r{keys}) throws Asn1Exception {{"));
        self.line("int at = -1;");
        self.open("try {");
        if code.counted {
            self.line("r.beginValue();");
        }
        self.declare(node, code, is_record);
        self.presence(bits, "p");
        let many = !is_record && code.root.members.len() > PARTS;
        if many {
            let presence = if bits == 0 { "" } else { ", p" };
            for part in 0..code.root.members.len().div_ceil(PARTS) {
                let same = self.p.same_keys(node);
                self.line(format!("read{rules}{part}(r, value{presence}{same});"));
            }
        } else {
            self.root_members(node, code, 0..code.root.members.len(), is_record);
        }
        if code.extensible {
            self.line("at = -1;");
            self.open(format!("if ({}) {{", bit_of("p", bits, 0)));
            self.additions(node, code, is_record);
            self.close("}");
        } else if bits == 0 && code.root.members.iter().all(|member| is_null(&member.value)) {
            self.line("r.done();");
        }
        if code.counted {
            self.line("r.endValue();");
        }
        if is_record {
            let fields = self.p.types.shape.fields_of(node).map(|(id, _)| self.place_of(id, true));
            let mut parts: Vec<String> = fields.collect();
            parts.extend(self.p.names.additions(node).map(|_| "unknown".to_owned()));
            self.line(format!("return new {name}({});", parts.join(", ")));
        } else {
            self.line("return value;");
        }
        self.caught("in(PLACE, at)");
        self.close("}");
        if many {
            for (part, first) in (0..code.root.members.len()).step_by(PARTS).enumerate() {
                let presence = match bits {
                    0 => "",
                    1..=WORD => ", long p",
                    _ => ", boolean[] p",
                };
                self.line("");
                self.open(format!(
                    "private static void read{rules}{part}(PerReader r, {name} value{presence}{keys}) throws Asn1Exception {{"
                ));
                self.line("int at = -1;");
                self.open("try {");
                let last = (first + PARTS).min(code.root.members.len());
                self.root_members(node, code, first..last, false);
                if bits == 0 && code.root.members[first..last].iter().all(|member| is_null(&member.value)) {
                    self.line("r.done();");
                }
                self.caught("in(PLACE, at)");
                self.close("}");
            }
        }
        if code.extensible {
            self.added_parts(node, code, is_record);
        }
    }

    pub(super) fn caught(&mut self, call: &str) {
        self.text.reopen("} catch (Asn1Exception fault) {");
        self.line(format!("throw fault.{call};"));
        self.close("}");
    }

    /// What is read into: a variable for each component, or an object, with the values that absent components have.
    fn declare(&mut self, node: NodeId, code: &Struct<'_>, is_record: bool) {
        let added = code.additions.iter().flat_map(Addition::members);
        let members = code.root.members.iter().chain(added).map(|member| (member.field, member.presence));
        let lines = self.p.declared_variables(node, &members.collect(), is_record);
        lines.iter().for_each(|line| self.line(line));
    }

    fn root_members(
        &mut self,
        node: NodeId,
        code: &Struct<'_>,
        numbers: std::ops::Range<usize>,
        is_record: bool,
    ) {
        let extended = u32::from(code.extensible);
        let bits = extended + code.root.optional;
        let mut bit = extended;
        for (number, member) in code.root.members.iter().enumerate() {
            if numbers.contains(&number) {
                let there = member.optional.then(|| bit_of("p", bits, bit));
                self.member(node, member, there, is_record);
            }
            bit += u32::from(member.optional);
        }
    }

    /// Reads a component, if it is there.
    fn member(&mut self, node: NodeId, member: &Member<'_>, there: Option<String>, is_record: bool) {
        if let Some(there) = &there {
            self.open(format!("if ({there}) {{"));
        }
        self.line(format!("at = {};", self.number_of(node, member)));
        let component = |key: &Key| match key {
            Key::Component(field, _) => Some((*field, self.place_of(*field, is_record))),
            _ => None,
        };
        let places: HashMap<FieldId, String> = member.value.keys.iter().filter_map(component).collect();
        let place = self.place_of(member.field, is_record);
        self.read(&member.value, &format!("{place} = "), &|field| {
            places.get(&field).cloned().unwrap_or_default()
        });
        if there.is_some() {
            self.close("}");
        }
    }

    fn additions(&mut self, node: NodeId, code: &Struct<'_>, is_record: bool) {
        let place = match self.p.names.additions(node) {
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
            let (rules, same) = (self.rules, self.p.same_keys(node));
            self.line(format!("read{rules}Added{part}(r, value, more{same});"));
        }
        match place {
            Some(place) => self.line(format!("{place} = r.unknown({}, more);", code.additions.len())),
            None => self.line("r.skip(more);"),
        }
    }

    /// The methods that read some of many additions.
    fn added_parts(&mut self, node: NodeId, code: &Struct<'_>, is_record: bool) {
        let name = self.p.names.ty(node).to_owned();
        let (rules, keys) = (self.rules, self.p.key_parameters(node));
        for (part, range) in added_parts(code, is_record).into_iter().enumerate() {
            self.line("");
            self.open(format!(
                "private static void read{rules}Added{part}(PerReader r, {name} value, PerAdditions more{keys}) throws Asn1Exception {{"
            ));
            self.line("int at = -1;");
            self.open("try {");
            code.additions[range].iter().for_each(|addition| self.addition(node, addition, false));
            self.caught("in(PLACE, at)");
            self.close("}");
        }
    }

    fn addition(&mut self, node: NodeId, addition: &Addition<'_>, is_record: bool) {
        self.open("if (r.isNext(more)) {");
        if let Addition::Single(member) = addition {
            self.line(format!("at = {};", self.number_of(node, member)));
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

    fn group(&mut self, node: NodeId, group: &Members<'_>, is_record: bool) {
        let name = self.variable("p");
        self.presence(group.optional, &name);
        let mut bit = 0;
        for member in &group.members {
            let there = member.optional.then(|| bit_of(&name, group.optional, bit));
            bit += u32::from(member.optional);
            self.member(node, member, there, is_record);
        }
    }

    // CHOICE, ENUMERATED, open types, lists

    pub(super) fn choice_reader(&mut self, node: NodeId, code: &Choice<'_>) {
        let rules = self.rules;
        let name = self.p.names.ty(node).to_owned();
        let (keys, same) = (self.p.key_parameters(node), self.p.same_keys(node));
        self.open(format!("static {name} read{rules}(PerReader r{keys}) throws Asn1Exception {{"));
        if code.counted {
            self.line("r.beginValue();");
            self.line(format!("{name} value = choose{rules}(r{same});"));
            self.line("r.endValue();");
            self.line("return value;");
            self.close("}");
            self.line("");
            self.open(format!(
                "private static {name} choose{rules}(PerReader r{keys}) throws Asn1Exception {{"
            ));
        }
        self.line("int at = -1;");
        self.open("try {");
        if code.extensible {
            self.open("if (r.bit()) {");
            self.line("int number = r.smallNumber();");
            self.open("switch (number) {");
            for (number, member) in code.additions.iter().enumerate() {
                self.open(format!("case {number}: {{"));
                self.line(format!("at = {};", self.number_of(node, member)));
                self.line("long around = r.open();");
                self.chosen(member);
                self.line("r.close(around);");
                self.line(format!("return new {name}.{}(chosen);", self.p.names.field(member.field)));
                self.close("}");
            }
            self.line("default:");
            self.line(format!("    return new {name}.Unknown(r.unknownAlternative(number));"));
            self.close("}");
            self.close("}");
        }
        let whole = self.whole(code.whole);
        self.line(format!("int number = r.alternative({whole}, {}, {});", code.root.len(), code.extensible));
        let many = code.root.len() > PARTS;
        if many {
            for part in 0..code.root.len().div_ceil(PARTS) {
                self.open(format!("if (number < {}) {{", (part + 1) * PARTS));
                self.line(format!("return read{rules}{part}(r, number{same});"));
                self.close("}");
            }
            self.line("throw r.error(ErrorKind.UNKNOWN_ALTERNATIVE);");
        } else {
            self.alternatives(node, &name, &code.root, 0);
        }
        self.caught("in(PLACE, at)");
        self.close("}");
        if many {
            for (part, members) in code.root.chunks(PARTS).enumerate() {
                self.line("");
                self.open(format!(
                    "private static {name} read{rules}{part}(PerReader r, int number{keys}) throws Asn1Exception {{"
                ));
                self.line("int at = -1;");
                self.open("try {");
                self.alternatives(node, &name, members, part * PARTS);
                self.caught("in(PLACE, at)");
                self.close("}");
            }
        }
    }

    fn alternatives(&mut self, node: NodeId, name: &str, members: &[Member<'_>], first: usize) {
        self.open("switch (number) {");
        for (number, member) in members.iter().enumerate() {
            self.open(format!("case {}: {{", first + number));
            self.line(format!("at = {};", self.number_of(node, member)));
            self.chosen(member);
            self.line(format!("return new {name}.{}(chosen);", self.p.names.field(member.field)));
            self.close("}");
        }
        self.line("default:");
        self.line("    throw r.error(ErrorKind.UNKNOWN_ALTERNATIVE);");
        self.close("}");
    }

    fn chosen(&mut self, member: &Member<'_>) {
        let ty = self.p.ty(self.p.types.shape.field(member.field).node);
        self.read(&member.value, &format!("{ty} chosen = "), &|_| String::new());
    }

    pub(super) fn table_reader(&mut self, node: NodeId, code: &Table<'_, Value>) {
        let rules = self.rules;
        let name = self.p.names.ty(node).to_owned();
        let keys = self.p.key_parameters(node);
        let registers: Vec<String> = code.registers.iter().map(|key| format!("k{key}")).collect();
        self.open(format!("static {name} read{rules}(PerReader r{keys}) throws Asn1Exception {{"));
        self.line("long around = r.openType();");
        self.open("if (around < 0) {");
        self.line(format!("return new {name}.Unknown(r.any());"));
        self.close("}");
        self.line(format!("int row = ROWS.find({});", registers.join(", ")));
        self.line(format!("{name} value = row{rules}(r, row);"));
        self.line("r.close(around);");
        self.line("return value;");
        self.close("}");
        self.line("");
        let rows: Vec<_> = code.rows.iter().filter(|row| row.keys.is_some()).collect();
        self.open(format!("private static {name} row{rules}(PerReader r, int row) throws Asn1Exception {{"));
        let many = rows.len() > PARTS;
        if many {
            for (part, rows) in rows.chunks(PARTS).enumerate() {
                let last = rows.last().map_or(0, |row| row.number);
                self.open(format!("if (row >= 0 && row <= {last}) {{"));
                self.line(format!("return row{rules}{part}(r, row);"));
                self.close("}");
            }
            self.line(format!("return new {name}.Unknown(r.rest());"));
            self.close("}");
        }
        for (part, rows) in rows.chunks(PARTS).enumerate() {
            if many {
                self.line("");
                self.open(format!(
                    "private static {name} row{rules}{part}(PerReader r, int row) throws Asn1Exception {{"
                ));
            }
            self.open("switch (row) {");
            for row in rows {
                self.open(format!("case {}: {{", row.number));
                if code.counted {
                    self.line("r.beginValue();");
                }
                let ty = self.p.ty(row.value.node);
                self.read(&row.value, &format!("{ty} value = "), &|_| String::new());
                if code.counted {
                    self.line("r.endValue();");
                }
                self.line(format!("return new {name}.{}(value);", self.p.names.row(node, row.number)));
                self.close("}");
            }
            self.line("default:");
            self.line(format!("    return new {name}.Unknown(r.rest());"));
            self.close("}");
            self.close("}");
        }
        if rows.is_empty() {
            self.line(format!("return new {name}.Unknown(r.rest());"));
            self.close("}");
        }
    }

    pub(super) fn list_reader(&mut self, node: NodeId, code: &List) {
        let rules = self.rules;
        let ty = self.p.content(node, false, "");
        let element = self.p.boxed(self.p.types.element(node));
        let (keys, same) = (self.p.key_parameters(node), self.p.same_keys(node));
        let size = self.size(code.size);
        self.open(format!("static {ty} read{rules}(PerReader r{keys}) throws Asn1Exception {{"));
        if code.counted {
            self.line("r.beginValue();");
        }
        self.line(format!("{ty} list = r.list({size}, e -> element{rules}(e{same}));"));
        if code.counted {
            self.line("r.endValue();");
        }
        self.line("return list;");
        self.close("}");
        self.line("");
        self.open(format!(
            "private static {element} element{rules}(PerReader r{keys}) throws Asn1Exception {{"
        ));
        self.read(&code.element, &format!("{element} element = "), &|_| String::new());
        self.line("return element;");
        self.close("}");
    }
}

/// The condition that a presence bit is set.
fn bit_of(name: &str, count: u32, bit: u32) -> String {
    if count <= WORD {
        format!("({name} & {:#x}L) != 0", 1_u64 << (count - 1 - bit))
    } else {
        format!("{name}[{bit}]")
    }
}

/// Whether a value has no bits, so that nothing that reads it may throw.
fn is_null(value: &Value) -> bool {
    matches!(value.primitive, Primitive::Null)
}
