//! Reading.

use super::{Oer, sized, tag};
use crate::code::Table;
use crate::code::oer::{Alternative, Choice, List, MachineInteger, Otherwise, Primitive, Tag, Value};
use crate::java::Number;
use crate::java::ber::time_number;
use crate::java::parts::PARTS;
use crate::java::presences::{Held, Presences};
use crate::java::text::Lines;
use crate::java::values::long;
use tercet_plan::NodeId;
use tercet_plan::oer::{Integer, Real};

impl Oer<'_, '_, '_> {
    pub(super) fn read_value(&mut self, value: &Value, held: Held<'_>) -> String {
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
        self.caught("fault.in(PLACE, at)");
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
                self.caught("fault.in(PLACE, at)");
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
