//! Reading of what is one of several: CHOICE and open types with a table.

use crate::code::Table;
use crate::code::ber::{Begins, Choice, Member, Otherwise, Value};
use crate::java::ber::{Ber, Position, tag_text};
use crate::java::parts::PARTS;
use crate::java::text::Lines;
use tercet_plan::NodeId;

impl Ber<'_, '_> {
    pub(in crate::java::ber) fn choice_reader(&mut self, node: NodeId, code: &Choice<'_>) {
        let name = self.p.names.ty(node).to_owned();
        let keys = self.p.key_parameters(node);
        let same = self.p.same_keys(node);
        self.open(format!("static {name} readBer(BerReader r{keys}) throws Asn1Exception {{"));
        if code.counted {
            // The code of a CHOICE has many ends.
            self.line("r.beginValue();");
            self.line(format!("{name} value = read(r{same});"));
            self.line("r.endValue();");
            self.line("return value;");
            self.close("}");
            self.line("");
            self.open(format!("private static {name} read(BerReader r{keys}) throws Asn1Exception {{"));
        }
        let (tagged, others): (Vec<usize>, Vec<usize>) = code
            .attempts
            .iter()
            .partition(|number| matches!(code.alternatives[**number].begins, Begins::Tag(_)));
        let many = tagged.len() > PARTS;
        self.line("int at = -1;");
        self.open("try {");
        self.line("int tag = r.tag();");
        self.open("switch (tag) {");
        for (part, numbers) in tagged.chunks(PARTS).enumerate() {
            if many {
                let tags: Vec<String> =
                    numbers.iter().map(|number| self.tag_of(&code.alternatives[*number])).collect();
                for tags in tags.chunks(4) {
                    self.line(format!("case {}:", tags.join(", ")));
                }
                self.line(format!("    return read{part}(r, tag{same});"));
            } else {
                numbers.iter().for_each(|number| self.alternative(&name, code, *number));
            }
        }
        self.line("default:");
        self.close("}");
        let mut has_any = false;
        for number in others {
            let member = &code.alternatives[number];
            has_any |= member.begins == Begins::Any;
            if member.begins == Begins::Any {
                self.chosen(&name, member, number);
            } else {
                self.open(format!("if ({}) {{", self.is(member.begins, "tag")));
                self.chosen(&name, member, number);
                self.close("}");
            }
        }
        match code.otherwise {
            _ if has_any => {}
            Otherwise::Keep => self.line(format!("return new {name}.Unknown(r.unknownAlternative());")),
            Otherwise::Impossible | Otherwise::Refuse => self.line("throw r.noAlternative();"),
        }
        self.caught("fault.in(PLACE, at)");
        self.close("}");
        if many {
            for (part, numbers) in tagged.chunks(PARTS).enumerate() {
                self.line("");
                self.open(format!(
                    "private static {name} read{part}(BerReader r, int tag{keys}) throws Asn1Exception {{"
                ));
                self.line("int at = -1;");
                self.open("try {");
                self.open("switch (tag) {");
                numbers.iter().for_each(|number| self.alternative(&name, code, *number));
                self.line("default:");
                self.line("    throw r.noAlternative();");
                self.close("}");
                self.caught("fault.in(PLACE, at)");
                self.close("}");
            }
        }
    }

    fn tag_of(&self, member: &Member<'_>) -> String {
        match member.begins {
            Begins::Tag(tag) => tag_text(tag),
            _ => "0".into(),
        }
    }

    fn alternative(&mut self, name: &str, code: &Choice<'_>, number: usize) {
        let member = &code.alternatives[number];
        self.open(format!("case {}: {{", self.tag_of(member)));
        self.chosen(name, member, number);
        self.close("}");
    }

    fn chosen(&mut self, name: &str, member: &Member<'_>, number: usize) {
        self.line(format!("at = {number};"));
        let ty = self.p.ty(self.p.types.shape.field(member.field).node);
        self.read(
            &member.value,
            &format!("{ty} chosen = "),
            &|_| String::new(),
            &Position::Component(number),
        );
        self.line(format!("return new {name}.{}(chosen);", self.p.names.field(member.field)));
    }

    pub(in crate::java::ber) fn table_reader(&mut self, node: NodeId, code: &Table<'_, Value>) {
        let name = self.p.names.ty(node).to_owned();
        let keys = self.p.key_parameters(node);
        let registers: Vec<String> = code.registers.iter().map(|key| format!("k{key}")).collect();
        self.open(format!("static {name} readBer(BerReader r{keys}) throws Asn1Exception {{"));
        self.line(format!("int row = ROWS.find({});", registers.join(", ")));
        let rows: Vec<_> = code.rows.iter().filter(|row| row.keys.is_some()).collect();
        let many = rows.len() > PARTS;
        if many {
            for (part, rows) in rows.chunks(PARTS).enumerate() {
                let last = rows.last().map_or(0, |row| row.number);
                self.open(format!("if (row >= 0 && row <= {last}) {{"));
                self.line(format!("return read{part}(r, row);"));
                self.close("}");
            }
            self.line(format!("return new {name}.Unknown(r.any());"));
            self.close("}");
        }
        for (part, rows) in rows.chunks(PARTS.max(1)).enumerate() {
            if many {
                self.line("");
                self.open(format!(
                    "private static {name} read{part}(BerReader r, int row) throws Asn1Exception {{"
                ));
            }
            self.open("switch (row) {");
            for row in rows {
                self.open(format!("case {}: {{", row.number));
                if code.counted {
                    self.line("r.beginValue();");
                }
                let ty = self.p.ty(row.value.node);
                self.read(&row.value, &format!("{ty} value = "), &|_| String::new(), &Position::Nothing);
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
        if rows.is_empty() {
            self.line(format!("return new {name}.Unknown(r.any());"));
            self.close("}");
        }
    }
}
