//! Reading.

mod enumerated;

use super::Per;
use crate::code::Table;
use crate::code::per::{Choice, Integer, IntegerForm, List, MachineInteger, Member, Primitive, Value};
use crate::java::Number;
use crate::java::parts::PARTS;
use crate::java::presences::{Held, Presences};
use crate::java::text::Lines;
use crate::java::values::{big, big_of, long};
use tercet_plan::NodeId;
use tercet_plan::per::Whole;

impl Per<'_, '_, '_> {
    pub(super) fn read_value(&mut self, value: &Value, held: Held<'_>) -> String {
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
                self.line(format!("at = {};", self.number_of(node, member.field)));
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
        self.caught("fault.in(PLACE, at)");
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
                self.caught("fault.in(PLACE, at)");
                self.close("}");
            }
        }
    }

    fn alternatives(&mut self, node: NodeId, name: &str, members: &[Member<'_>], first: usize) {
        self.open("switch (number) {");
        for (number, member) in members.iter().enumerate() {
            self.open(format!("case {}: {{", first + number));
            self.line(format!("at = {};", self.number_of(node, member.field)));
            self.chosen(member);
            self.line(format!("return new {name}.{}(chosen);", self.p.names.field(member.field)));
            self.close("}");
        }
        self.line("default:");
        self.line("    throw r.error(ErrorKind.UNKNOWN_ALTERNATIVE);");
        self.close("}");
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
