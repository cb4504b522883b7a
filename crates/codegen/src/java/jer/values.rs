//! CHOICE, open types, lists, strings with a value inside and enumerations in JER.

use super::{Jer, one_size};
use crate::code::Key;
use crate::forms::Form;
use crate::java::parts::PARTS;
use crate::java::text::Lines;
use crate::java::text::literal;
use crate::types::Repr;
use tercet_plan::{FieldId, NameId, NodeId};

/// Alternatives or rows that one method reads or writes at most; each takes up to 50 bytes of code.
const CASES: usize = 2 * PARTS;

impl Jer<'_, '_> {
    // CHOICE

    pub(super) fn choice_reader(&mut self, node: NodeId) {
        let name = self.p.names.ty(node).to_owned();
        let (parameters, same) = (self.p.key_parameters(node), self.p.same_keys(node));
        let fields: Vec<FieldId> = self.p.types.shape.fields_of(node).map(|(id, _)| id).collect();
        let many = fields.len() > CASES;
        self.open(format!("static {name} readJer(JerReader r, int at{parameters}) throws Asn1Exception {{"));
        self.line("int number = r.alternative(at, JER);");
        self.line(format!("{name} value;"));
        self.open("try {");
        if self.p.types.shape.node(node).extensible {
            let unknown = format!("new {name}.Unknown(r.unknownAlternative(at + 2))");
            self.line(format!("value = number < 0 ? {unknown} : chosen0(r, number, at + 2{same});"));
        } else {
            self.line(format!("value = chosen0(r, number, at + 2{same});"));
        }
        self.caught("fault.in(PLACE, number)");
        self.line("r.leave();");
        self.line("return value;");
        self.close("}");
        let chunks: Vec<&[FieldId]> = fields.chunks(CASES).collect();
        for (part, ids) in chunks.iter().enumerate() {
            self.line("");
            self.open(format!(
                "private static {name} chosen{part}(JerReader r, int number, int at{parameters}) throws Asn1Exception {{"
            ));
            self.open("return switch (number) {");
            for (number, id) in ids.iter().enumerate() {
                let part_node = self.p.types.shape.field(*id).node;
                let keys = self.source().keys(node, part_node);
                let read = self.read(part_node, "at", &keys);
                let class = self.p.names.field(*id);
                self.line(format!("case {} -> new {name}.{class}({read});", part * CASES + number));
            }
            self.line(if many && part + 1 < chunks.len() {
                format!("default -> chosen{}(r, number, at{same});", part + 1)
            } else {
                "default -> throw new IllegalStateException();".into()
            });
            self.close("};");
            self.close("}");
        }
        if fields.is_empty() {
            self.line("");
            self.open(format!(
                "private static {name} chosen0(JerReader r, int number, int at{parameters}) {{"
            ));
            self.line("throw new IllegalStateException();");
            self.close("}");
        }
    }

    pub(super) fn choice_writer(&mut self, node: NodeId) {
        let name = self.p.names.ty(node).to_owned();
        let fields: Vec<FieldId> = self.p.types.shape.fields_of(node).map(|(id, _)| id).collect();
        self.open(format!("static void writeJer(ValueWriter w, {name} value) throws Asn1Exception {{"));
        self.line("int number = value.alternative();");
        self.line("w.object();");
        if self.p.types.shape.node(node).extensible {
            self.open(format!("if (value instanceof {name}.Unknown unknown) {{"));
            self.line("w.unknownAlternative(unknown.value());");
            self.text.reopen("} else {");
        } else {
            self.open("{");
        }
        self.line("w.name(JER, number);");
        self.open("try {");
        if !fields.is_empty() {
            self.line("chosen0(w, value, number);");
        }
        self.caught("fault.in(PLACE, number)");
        self.close("}");
        self.line("w.endObject();");
        self.close("}");
        let chunks: Vec<&[FieldId]> = fields.chunks(CASES).collect();
        for (part, ids) in chunks.iter().enumerate() {
            self.line("");
            self.open(format!(
                "private static void chosen{part}(ValueWriter w, {name} value, int number) throws Asn1Exception {{"
            ));
            self.open("switch (number) {");
            for (number, id) in ids.iter().enumerate() {
                let class = format!("{name}.{}", self.p.names.field(*id));
                let write =
                    self.write(self.p.types.shape.field(*id).node, &format!("(({class}) value).value()"));
                self.line(format!("case {} -> {write}", part * CASES + number));
            }
            self.line(if part + 1 < chunks.len() {
                format!("default -> chosen{}(w, value, number);", part + 1)
            } else {
                "default -> throw new IllegalStateException();".into()
            });
            self.close("}");
            self.close("}");
        }
    }

    // Open types, lists, strings with a value inside, enumerations

    pub(super) fn table(&mut self, node: NodeId, table: u32) {
        let name = self.p.names.ty(node).to_owned();
        let parameters = self.p.key_parameters(node);
        let code = self.source().table(node, table, |row| row);
        let numbers: Vec<(u32, Option<&[tercet_plan::shape::Key]>)> =
            code.rows.iter().map(|row| (row.number, row.keys)).collect();
        let rows = self.p.rows_of(node, &numbers);
        self.text.append(&rows);
        let registers: Vec<String> = code.registers.iter().map(|key| format!("k{key}")).collect();
        self.open(format!("static {name} readJer(JerReader r, int at{parameters}) throws Asn1Exception {{"));
        self.line(format!("int row = ROWS.find({});", registers.join(", ")));
        self.open("if (row < 0) {");
        self.line(format!("return new {name}.Unknown(r.any(at));"));
        self.close("}");
        self.line("int levels = r.levels();");
        self.line("r.enter(at);");
        self.line(format!("{name} value;"));
        self.open("try {");
        self.line("value = row0(r, at, row);");
        self.text.reopen("} catch (Asn1Exception fault) {");
        // Content that could not be decoded is written as an encoding.
        self.open("if (!r.isString(at)) {");
        self.line("throw fault;");
        self.close("}");
        self.line("r.backTo(levels);");
        self.line(format!("return new {name}.Unknown(r.any(at));"));
        self.close("}");
        self.line("r.leave();");
        self.line("return value;");
        self.close("}");
        let selected: Vec<(u32, NodeId)> =
            code.rows.iter().filter(|row| row.keys.is_some()).map(|row| (row.number, row.value)).collect();
        self.row_readers(node, &name, &selected);
        let all: Vec<(u32, NodeId)> = code.rows.iter().map(|row| (row.number, row.value)).collect();
        let names = self.p.types.shape.tables[table as usize].rows.iter().map(|row| row.type_name);
        self.row_writers(node, &name, &all, &names.collect::<Vec<_>>());
    }

    fn row_readers(&mut self, node: NodeId, name: &str, rows: &[(u32, NodeId)]) {
        let parts = rows.len().div_ceil(CASES).max(1);
        for part in 0..parts {
            self.line("");
            self.open(format!(
                "private static {name} row{part}(JerReader r, int at, int row) throws Asn1Exception {{"
            ));
            self.open("switch (row) {");
            for (number, content) in rows.iter().skip(part * CASES).take(CASES) {
                let keys = self.source().no_keys(*content);
                let read = self.read(*content, "at", &keys);
                self.line(format!("case {number}:"));
                self.line(format!("    return new {name}.{}({read});", self.p.names.row(node, *number)));
            }
            self.line("default:");
            self.line(if part + 1 < parts {
                format!("    return row{}(r, at, row);", part + 1)
            } else {
                "    throw new IllegalStateException();".into()
            });
            self.close("}");
            self.close("}");
        }
    }

    fn row_writers(&mut self, node: NodeId, name: &str, rows: &[(u32, NodeId)], names: &[Option<NameId>]) {
        self.line("");
        self.open(format!("static void writeJer(ValueWriter w, {name} value) throws Asn1Exception {{"));
        self.open(format!("if (value instanceof {name}.Unknown unknown) {{"));
        self.line("w.octets(unknown.value());");
        self.line("return;");
        self.close("}");
        self.line("row0(w, value, value.alternative());");
        self.line("w.endContent();");
        self.close("}");
        let parts = rows.len().div_ceil(CASES).max(1);
        for part in 0..parts {
            self.line("");
            self.open(format!(
                "private static void row{part}(ValueWriter w, {name} value, int row) throws Asn1Exception {{"
            ));
            self.open("switch (row) {");
            for (number, content) in rows.iter().skip(part * CASES).take(CASES) {
                let class = format!("{name}.{}", self.p.names.row(node, *number));
                let write = self.write(*content, &format!("(({class}) value).value()"));
                let row = names.get(*number as usize).copied().flatten();
                let name = self.type_name(*content, row);
                self.open(format!("case {number} -> {{"));
                self.line(format!("w.content({name});"));
                self.line(write);
                self.close("}");
            }
            self.line(if part + 1 < parts {
                format!("default -> row{}(w, value, row);", part + 1)
            } else {
                "default -> throw new IllegalStateException();".into()
            });
            self.close("}");
            self.close("}");
        }
    }

    pub(super) fn list(&mut self, node: NodeId) {
        let ty = self.p.content(node, false, "");
        let part = self.p.types.element(node);
        let parameters = self.p.key_parameters(node);
        let keys = self.source().keys_of_element(node, part);
        let read = self.read(part, "element", &keys);
        self.open(format!("static {ty} readJer(JerReader r, int at{parameters}) throws Asn1Exception {{"));
        self.line("Object[] elements = r.elements(at);");
        self.line("int end = r.next(at);");
        self.line("int count = 0;");
        self.open("try {");
        self.open("for (int element = at + 1; element < end; element = r.next(element)) {");
        self.line("elements = Lists.room(elements, count);");
        self.line(format!("elements[count] = {read};"));
        self.line("count++;");
        self.close("}");
        self.caught("fault.inElement(count)");
        self.line("r.leave();");
        self.line("return Lists.of(elements, count);");
        self.close("}");
        self.line("");
        let write = self.write(part, "element");
        self.open(format!("static void writeJer(ValueWriter w, {ty} list) throws Asn1Exception {{"));
        let item = self.p.types.shape.field(FieldId(self.p.types.shape.node(node).first)).name;
        let item = self.p.types.shape.name(item);
        let is_named = item.starts_with(|first: char| first.is_ascii_lowercase());
        // Those stand for themselves in XML (X.680 Table 5).
        let is_bare = matches!(self.p.types.repr(part), Repr::Boolean | Repr::Enumerated | Repr::Choice);
        let item = if is_bare && !is_named { "null".into() } else { literal(item) };
        self.line(format!("w.array({item});"));
        self.line("int count = 0;");
        self.open("try {");
        self.open(format!("for ({} element : list) {{", self.p.boxed(part)));
        self.line("w.element();");
        self.line(write);
        self.line("count++;");
        self.close("}");
        self.caught("fault.inElement(count)");
        self.line("w.endArray();");
        self.close("}");
    }

    pub(super) fn contained(&mut self, node: NodeId, inside: NodeId) {
        let ty = self.p.content(node, true, "");
        let content = self.p.boxed(inside);
        let parameters = self.p.key_parameters(node);
        let Form::Containing(bits, _) = self.p.types.inner_form(node) else { return };
        let around = self.p.types.keys(node).clone();
        let key = |key: &u16| if around.contains(key) { Key::Parameter(*key) } else { Key::Nothing };
        let keys: Vec<Key> = self.p.types.keys(inside).iter().map(key).collect();
        let read = self.read(inside, "inside", &keys);
        self.open(format!("static {ty} readJer(JerReader r, int at{parameters}) throws Asn1Exception {{"));
        self.line("int inside = r.containing(at);");
        self.open("if (inside < 0) {");
        self.line(match bits {
            None => "return Contained.ofOctets(r.octets(at));".into(),
            Some(size) => {
                format!(
                    "return Contained.ofBits(r.bits(at, {}L));",
                    size.map_or(-1, |(size, _)| size.cast_signed())
                )
            }
        });
        self.close("}");
        self.line(format!("{content} value;"));
        self.open("try {");
        self.line(format!("value = {read};"));
        self.caught("fault.in(\"containing\")");
        self.line("r.leave();");
        self.line("return Contained.of(value);");
        self.close("}");
        self.line("");
        let write = self.write(inside, "value");
        self.open(format!("static void writeJer(ValueWriter w, {ty} string) throws Asn1Exception {{"));
        self.line(format!("{content} value = string.value();"));
        self.open("if (value == null) {");
        self.line(match bits {
            None => "w.octets(string.bits().octets());".into(),
            Some(size) => {
                format!("w.bits(string.bits(), {}L);", one_size(&Form::Bits(size)))
            }
        });
        self.line("return;");
        self.close("}");
        let name = self.type_name(inside, None);
        self.line(format!("w.containing({name});"));
        self.line(write);
        self.line("w.endContaining();");
        self.close("}");
    }

    pub(super) fn enumerated(&mut self, node: NodeId) {
        let name = self.p.names.ty(node).to_owned();
        let names = self.names_of(node);
        let extensible = self.p.types.shape.node(node).extensible;
        self.open(format!("static {name} readJer(JerReader r, int at) throws Asn1Exception {{"));
        if extensible {
            self.open("if (r.isObject(at)) {");
            self.line(format!("return new {name}.UnknownAddition(r.addition(at));"));
            self.close("}");
            self.line(format!("return {name}.of(r.item(at, {names}));"));
        } else {
            self.line(format!("{name} item = {name}.of(r.item(at, {names}));"));
            self.open("if (item == null) {");
            self.line("throw r.unknownEnumeration(at);");
            self.close("}");
            self.line("return item;");
        }
        self.close("}");
        self.line("");
        self.open(format!("static void writeJer(ValueWriter w, {name} value) throws Asn1Exception {{"));
        if extensible {
            self.open(format!("if (value instanceof {name}.UnknownAddition addition) {{"));
            self.line("w.addition(addition.addition());");
            self.line("return;");
            self.close("}");
        }
        self.line(format!("w.item({names}, value.number());"));
        self.close("}");
    }
}
