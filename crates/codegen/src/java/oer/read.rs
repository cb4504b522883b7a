//! Reading.

use super::{Oer, sized, tag};
use crate::code::oer::{
    Alternative, Choice, List, MachineInteger, Member, Members, Otherwise, Primitive, Struct, Tag, Value,
};
use crate::code::sequence::Addition;
use crate::code::{Key, Presence, Table};
use crate::java::ber::time_number;
use crate::java::values::long;
use crate::java::{Number, PARTS, added_parts};
use std::collections::HashMap;
use tercet_plan::oer::{Integer, Real};
use tercet_plan::{FieldId, NodeId};

/// Bits of a preamble that are read as one number.
const WORD: u32 = 56;

/// The expression of a component that has been read, for the keys of those behind it.
type Held<'h> = &'h dyn Fn(FieldId) -> String;

impl Oer<'_, '_, '_> {
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
        let node = value.node;
        match &value.primitive {
            Primitive::Unsupported => "r.unsupported()".into(),
            Primitive::Boolean => "r.bool()".into(),
            Primitive::Null => "Null.NULL".into(),
            Primitive::Integer(machine) => self.integer(node, machine),
            Primitive::BigInteger(form) => big(*form),
            Primitive::Real(Real::Binary32) => "Asn1Real.of(r.float32())".into(),
            Primitive::Real(Real::Binary64) => "Asn1Real.of(r.float64())".into(),
            Primitive::Real(Real::Contents) => "r.real()".into(),
            Primitive::Float(Real::Binary32) => "r.float32()".into(),
            Primitive::Float(Real::Binary64) => "r.float64()".into(),
            Primitive::Float(Real::Contents) => "r.real().doubleValue()".into(),
            Primitive::FixedBits(bits, size) => format!("r.bits({}, {bits})", sized(*size)),
            Primitive::BitString(size) => format!("r.bits({})", sized(*size)),
            Primitive::NamedBits(size, least, most) => {
                let most = i64::try_from(*most).unwrap_or(i64::MAX);
                format!("r.namedBits({}, {}, {})", sized(*size), (*least).min(i32::MAX as usize), long(most))
            }
            Primitive::FixedOctets(count, size) => format!("r.octets({}, {count})", sized(*size)),
            Primitive::OctetString(size) => format!("r.octets({})", sized(*size)),
            Primitive::ObjectIdentifier => "r.oid()".into(),
            Primitive::RelativeOid => "r.relativeOid()".into(),
            Primitive::Any => "r.any()".into(),
            Primitive::UtcTime(size) => format!("r.utcTime({})", sized(*size)),
            Primitive::GeneralizedTime(size) => format!("r.generalizedTime({})", sized(*size)),
            Primitive::Text(kind, size) => format!("r.text({}, {})", sized(*size), *kind as u32),
            Primitive::Time(kind, size) => format!("r.time({}, {})", sized(*size), time_number(*kind)),
            Primitive::Point(kind, form) => format!("r.point({})", self.time(*kind, *form)),
            Primitive::Duration(kind) => format!("r.duration({})", time_number(*kind)),
            Primitive::Enumerated => format!("{}.readOer(r)", self.p.codec(node)),
            Primitive::Contained(..) | Primitive::Declared | Primitive::List => {
                format!("{}.readOer(r{})", self.p.codec(node), self.p.keys(&value.keys, held))
            }
        }
    }

    fn integer(&self, node: NodeId, machine: &MachineInteger) -> String {
        let number = self.p.number(node);
        let plain = match machine.form {
            Integer::Unsigned(octets) => Some(format!("r.unsigned({octets})")),
            Integer::Signed(octets) => Some(format!("r.signed({octets})")),
            Integer::UnsignedVariable | Integer::SignedVariable => None,
        };
        match (number, plain) {
            (Number::Int(..), Some(plain)) if machine.fits => format!("(int) {plain}"),
            (Number::Long(..), Some(plain)) if machine.fits && machine.form != Integer::Unsigned(8) => plain,
            (Number::Int(least, most), _) => {
                format!("(int) r.narrow({}, {}, {})", big(machine.form), long(least), long(most))
            }
            (Number::Long(least, most), _) => {
                format!("r.narrow({}, {}, {})", big(machine.form), long(least), long(most))
            }
            (Number::Unsigned, _) => format!("r.narrow({})", big(machine.form)),
            (Number::Big, _) => big(machine.form),
        }
    }

    /// Reads the bits in front of components.
    fn preamble(&mut self, name: &str, count: u32) {
        match count {
            0 => {}
            1..=WORD => self.line(format!("long {name} = r.preamble({count});")),
            _ => self.line(format!("boolean[] {name} = r.preambles({count});")),
        }
    }

    pub(super) fn struct_reader(&mut self, node: NodeId, code: &Struct<'_>) {
        let name = self.p.names.ty(node).to_owned();
        let (keys, same) = (self.p.key_parameters(node), self.p.same_keys(node));
        let is_record = self.p.is_record(node);
        let front = u32::from(code.extensible);
        let bits = front + code.root.optional;
        self.open(format!("static {name} readOer(OerReader r{keys}) throws Asn1Exception {{"));
        self.line("int at = -1;");
        self.open("try {");
        if code.counted {
            self.line("r.beginValue();");
        }
        self.declare(node, code, is_record);
        self.preamble("p", bits);
        let many = !is_record && code.root.members.len() > PARTS;
        if many {
            let presence = if bits == 0 { "" } else { ", p" };
            for part in 0..code.root.members.len().div_ceil(PARTS) {
                self.line(format!("readOer{part}(r, value{presence}{same});"));
            }
        } else {
            self.root_members(node, code, 0..code.root.members.len(), is_record);
        }
        if code.extensible {
            self.line("at = -1;");
            self.open(format!("if ({}) {{", bit_of("p", bits, 0)));
            self.additions(node, code, is_record);
            self.close("}");
        }
        self.line("r.done();");
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
        self.caught();
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
                    "private static void readOer{part}(OerReader r, {name} value{presence}{keys}) throws Asn1Exception {{"
                ));
                self.line("int at = -1;");
                self.open("try {");
                let last = (first + PARTS).min(code.root.members.len());
                self.root_members(node, code, first..last, false);
                self.caught();
                self.close("}");
            }
        }
        if code.extensible {
            self.added_parts(node, code, is_record);
        }
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

    /// Reads a component, if it is there: one that equals its DEFAULT is reported.
    fn member(&mut self, node: NodeId, member: &Member<'_>, there: Option<String>, is_record: bool) {
        if let Some(there) = &there {
            self.open(format!("if ({there}) {{"));
        }
        self.line(format!("at = {};", self.number_of(node, member.field)));
        let component = |key: &Key| match key {
            Key::Component(field, _) => Some((*field, self.place_of(*field, is_record))),
            _ => None,
        };
        let places: HashMap<FieldId, String> = member.value.keys.iter().filter_map(component).collect();
        let place = self.place_of(member.field, is_record);
        let equal = match member.presence {
            Presence::Default => self.p.is_default(member.field, &place),
            _ => None,
        };
        let begun = self.variable("begun");
        if equal.is_some() {
            self.line(format!("int {begun} = r.position();"));
        }
        self.read(&member.value, &format!("{place} = "), &|field| {
            places.get(&field).cloned().unwrap_or_default()
        });
        if let Some(equal) = equal {
            self.line(format!("r.notDefault({equal}, {begun});"));
        }
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
            let same = self.p.same_keys(node);
            self.line(format!("readOerAdded{part}(r, value, more{same});"));
        }
        match place.filter(|_| code.keeps) {
            Some(place) => self.line(format!("{place} = r.unknown(more);")),
            None => self.line("r.unknown(more);"),
        }
    }

    /// The methods that read some of many additions.
    fn added_parts(&mut self, node: NodeId, code: &Struct<'_>, is_record: bool) {
        let name = self.p.names.ty(node).to_owned();
        let keys = self.p.key_parameters(node);
        for (part, range) in added_parts(code, is_record).into_iter().enumerate() {
            self.line("");
            self.open(format!(
                "private static void readOerAdded{part}(OerReader r, {name} value, PerAdditions more{keys}) throws Asn1Exception {{"
            ));
            self.line("int at = -1;");
            self.open("try {");
            code.additions[range].iter().for_each(|addition| self.addition(node, addition, false));
            self.caught();
            self.close("}");
        }
    }

    fn addition(&mut self, node: NodeId, addition: &Addition<'_, Value>, is_record: bool) {
        self.open("if (r.isNext(more)) {");
        if let Addition::Single(member) = addition {
            self.line(format!("at = {};", self.number_of(node, member.field)));
        }
        let around = self.variable("around");
        self.line(format!("long {around} = r.open();"));
        match addition {
            Addition::Single(member) => self.member(node, member, None, is_record),
            Addition::Group(group) => {
                self.bracket(node, group, is_record);
                self.line("at = -1;");
            }
        }
        self.line(format!("r.close({around});"));
        self.line("at = -1;");
        self.close("}");
    }

    fn bracket(&mut self, node: NodeId, group: &Members<'_>, is_record: bool) {
        let name = self.variable("p");
        self.preamble(&name, group.optional);
        if group.members.iter().all(|member| member.optional) {
            let there = match group.optional {
                0 => "false".to_owned(),
                1..=WORD => format!("{name} != 0"),
                _ => format!("PerWriter.isAny({name})"),
            };
            self.line(format!("r.bracket({there});"));
        }
        let mut bit = 0;
        for member in &group.members {
            let there = member.optional.then(|| bit_of(&name, group.optional, bit));
            bit += u32::from(member.optional);
            self.member(node, member, there, is_record);
        }
    }

    // CHOICE, open types, lists

    pub(super) fn choice_reader(&mut self, node: NodeId, code: &Choice<'_>) {
        let name = self.p.names.ty(node).to_owned();
        let (keys, same) = (self.p.key_parameters(node), self.p.same_keys(node));
        self.open(format!("static {name} readOer(OerReader r{keys}) throws Asn1Exception {{"));
        if code.counted {
            self.line("r.beginValue();");
            self.line(format!("{name} value = chooseOer(r{same});"));
            self.line("r.endValue();");
            self.line("return value;");
            self.close("}");
            self.line("");
            self.open(format!("private static {name} chooseOer(OerReader r{keys}) throws Asn1Exception {{"));
        }
        let known: Vec<&Alternative<'_>> =
            code.alternatives.iter().filter(|alternative| !alternative.tags.is_empty()).collect();
        let many = known.len() > PARTS;
        self.line("int at = -1;");
        self.open("try {");
        self.line("int start = r.position();");
        self.line("int tag = r.tag();");
        self.open("switch (tag) {");
        for (part, alternatives) in known.chunks(PARTS).enumerate() {
            if many {
                for alternative in alternatives {
                    self.cases(alternative);
                }
                self.line(format!("    return readOer{part}(r, tag, start{same});"));
            } else {
                alternatives.iter().for_each(|alternative| self.alternative(node, &name, alternative));
            }
        }
        self.line("default:");
        self.close("}");
        match code.otherwise {
            Otherwise::Keep => self.line(format!("return new {name}.Unknown(r.unknownAlternative(start));")),
            Otherwise::Inside(number) => {
                let member = &code.alternatives[number].member;
                self.line("r.backTo(start);");
                self.line(format!("at = {};", self.number_of(node, member.field)));
                self.chosen(member);
                self.line(format!("return new {name}.{}(chosen);", self.p.names.field(member.field)));
            }
            Otherwise::Refuse => self.line("throw r.error(ErrorKind.UNKNOWN_ALTERNATIVE, start);"),
        }
        self.caught();
        self.close("}");
        if many {
            for (part, alternatives) in known.chunks(PARTS).enumerate() {
                self.line("");
                self.open(format!(
                    "private static {name} readOer{part}(OerReader r, int tag, int start{keys}) throws Asn1Exception {{"
                ));
                self.line("int at = -1;");
                self.open("try {");
                self.open("switch (tag) {");
                alternatives.iter().for_each(|alternative| self.alternative(node, &name, alternative));
                self.line("default:");
                self.line("    throw r.error(ErrorKind.UNKNOWN_ALTERNATIVE, start);");
                self.close("}");
                self.caught();
                self.close("}");
            }
        }
    }

    fn cases(&mut self, alternative: &Alternative<'_>) {
        let tags: Vec<String> = alternative.tags.iter().map(|known| tag(*known)).collect();
        for tags in tags.chunks(8) {
            self.line(format!("case {}:", tags.join(", ")));
        }
    }

    fn alternative(&mut self, node: NodeId, name: &str, alternative: &Alternative<'_>) {
        let member = &alternative.member;
        self.cases(alternative);
        self.open("{");
        self.line(format!("at = {};", self.number_of(node, member.field)));
        match alternative.tag {
            _ if alternative.addition => {
                self.line("long around = r.open();");
                self.chosen(member);
                self.line("r.close(around);");
            }
            Tag::Own(_) => self.chosen(member),
            // The tag is that of the alternative inside, which is read again.
            Tag::Inside | Tag::Unknown => {
                self.line("r.backTo(start);");
                self.chosen(member);
            }
        }
        self.line(format!("return new {name}.{}(chosen);", self.p.names.field(member.field)));
        self.close("}");
    }

    fn chosen(&mut self, member: &Member<'_>) {
        let ty = self.p.ty(self.p.types.shape.field(member.field).node);
        self.read(&member.value, &format!("{ty} chosen = "), &|_| String::new());
    }

    pub(super) fn table_reader(&mut self, node: NodeId, code: &Table<'_, Value>) {
        let name = self.p.names.ty(node).to_owned();
        let keys = self.p.key_parameters(node);
        let registers: Vec<String> = code.registers.iter().map(|key| format!("k{key}")).collect();
        let rows: Vec<_> = code.rows.iter().filter(|row| row.keys.is_some()).collect();
        self.open(format!("static {name} readOer(OerReader r{keys}) throws Asn1Exception {{"));
        self.line(format!("int row = ROWS.find({});", registers.join(", ")));
        for (part, rows) in rows.chunks(PARTS).enumerate() {
            let last = rows.last().map_or(0, |row| row.number);
            self.open(format!("if (row >= 0 && row <= {last}) {{"));
            self.line(format!("return rowOer{part}(r, row);"));
            self.close("}");
        }
        self.line(format!("return new {name}.Unknown(r.any());"));
        self.close("}");
        for (part, rows) in rows.chunks(PARTS).enumerate() {
            self.line("");
            self.open(format!(
                "private static {name} rowOer{part}(OerReader r, int row) throws Asn1Exception {{"
            ));
            self.open("switch (row) {");
            for row in rows {
                self.open(format!("case {}: {{", row.number));
                if code.counted {
                    self.line("r.beginValue();");
                }
                self.line("long around = r.open();");
                let ty = self.p.ty(row.value.node);
                self.read(&row.value, &format!("{ty} value = "), &|_| String::new());
                self.line("r.close(around);");
                if code.counted {
                    self.line("r.endValue();");
                }
                self.line(format!("return new {name}.{}(value);", self.p.names.row(node, row.number)));
                self.close("}");
            }
            self.line("default:");
            self.line(format!("    return new {name}.Unknown(r.any());"));
            self.close("}");
            self.close("}");
        }
    }

    pub(super) fn list_reader(&mut self, node: NodeId, code: &List) {
        let ty = self.p.content(node, false, "");
        let element = self.p.boxed(self.p.types.element(node));
        let (keys, same) = (self.p.key_parameters(node), self.p.same_keys(node));
        self.open(format!("static {ty} readOer(OerReader r{keys}) throws Asn1Exception {{"));
        if code.counted {
            self.line("r.beginValue();");
        }
        self.line(format!("{ty} list = r.list({}, e -> elementOer(e{same}));", code.set));
        if code.counted {
            self.line("r.endValue();");
        }
        self.line("return list;");
        self.close("}");
        self.line("");
        self.open(format!("private static {element} elementOer(OerReader r{keys}) throws Asn1Exception {{"));
        self.read(&code.element, &format!("{element} element = "), &|_| String::new());
        self.line("return element;");
        self.close("}");
    }
}

/// The expression of an INTEGER of any size.
fn big(form: Integer) -> String {
    match form {
        Integer::Unsigned(octets) => format!("OerReader.positive(r.unsigned({octets}))"),
        Integer::Signed(octets) => format!("BigInteger.valueOf(r.signed({octets}))"),
        Integer::UnsignedVariable => "r.variable(false)".into(),
        Integer::SignedVariable => "r.variable(true)".into(),
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
