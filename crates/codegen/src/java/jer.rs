//! Codecs for JER (X.697): what values look like follows from the types and their [`Form`]s; there is no program for it.
//!
//! Readers get the token that a value begins with, so that members may come in any order, and keys of tables are known
//! before the open types that they decide about.

mod structs;
mod values;

use super::ber::time_number;
use super::text::{Lines, Text, literal};
use super::values::long;
use super::{ITEMS, Number, Printer};
use crate::code::{Key, Presence as Kept, Source};
use crate::forms::Form;
use crate::types::Repr;
use std::collections::BTreeMap;
use tercet_plan::shape::{Place, Presence};
use tercet_plan::{Kind, NameId, NodeId};
use tercet_runtime::text::StringKind;

/// Names with their numbers in one constant of text, which has at most 65,535 bytes.
const ITEMS_OF_STRING: usize = 128;

pub(super) fn print(p: &mut Printer<'_>, presence: &[Kept]) {
    let mut jer = Jer { p, presence, text: Text::at(1), names: BTreeMap::new() };
    for node in jer.p.types.nodes().collect::<Vec<_>>() {
        jer.body(node);
    }
    for root in jer.p.roots.clone() {
        jer.text = Text::at(2);
        jer.root(root.node, &root.name, root.wraps);
        let text = std::mem::replace(&mut jer.text, Text::at(1)).finish();
        jer.p.types_of_roots.entry(root.name.clone()).or_default().push_str(&text);
        // The names of numbers stand in front of what uses them.
        jer.finish(&format!("{}Codec", root.name));
    }
}

struct Jer<'p, 'm> {
    p: &'p mut Printer<'m>,
    presence: &'p [Kept],
    text: Text,
    /// The nodes with names of numbers that the codec uses.
    names: BTreeMap<NodeId, String>,
}

impl Lines for Jer<'_, '_> {
    fn text(&mut self) -> &mut Text {
        &mut self.text
    }
}

impl<'m> Jer<'_, 'm> {
    /// Adds what has been printed to a codec.
    fn finish(&mut self, codec: &str) {
        let mut text = Text::at(1);
        for (node, name) in std::mem::take(&mut self.names) {
            if self.p.printed.insert(format!("jer {codec} {name}")) {
                self.items(&mut text, node, &name);
            }
        }
        let printed = std::mem::replace(&mut self.text, Text::at(1)).finish();
        text.append(&printed);
        let text = text.finish();
        if !text.is_empty() {
            self.p.add(codec, &text);
        }
    }

    /// The constant with the names of numbers.
    fn items(&self, text: &mut Text, node: NodeId, name: &str) {
        let shape = self.p.types.shape;
        let items = shape.items_of(node);
        let names: Vec<String> = items.iter().map(|item| literal(shape.name(item.name))).collect();
        let numbers: String = items.iter().map(|item| format!(", {}", long(item.value))).collect();
        let made = match items.len() {
            ..=ITEMS => format!("new JerItems(new String[] {{{}}}{numbers})", names.join(", ")),
            _ => {
                let words: Vec<String> =
                    items.iter().map(|item| format!("{} {}", shape.name(item.name), item.value)).collect();
                let parts: Vec<String> =
                    words.chunks(ITEMS_OF_STRING).map(|words| format!("\"{}\"", words.join(" "))).collect();
                format!("JerItems.of({})", parts.join(", "))
            }
        };
        if let Some((class, name)) = name.split_once('.') {
            text.open(format!("private static final class {class} {{"));
            text.line(format!("static final JerItems {name} = {made};"));
            text.close("}");
        } else {
            text.line(format!("private static final JerItems {name} = {made};"));
        }
        text.line("");
    }

    /// The expression of the names of a node's numbers.
    fn names_of(&mut self, node: NodeId) -> String {
        let count = self.p.types.shape.node(node).item_count as usize;
        if count == 0 {
            return "JerItems.NONE".into();
        }
        let name = match count {
            0..=ITEMS => format!("ITEMS_{}", node.0),
            _ => format!("Items{}.ITEMS", node.0),
        };
        self.names.insert(node, name.clone());
        name
    }

    fn source(&self) -> Source<'_, 'm> {
        Source { types: &self.p.types, presence: self.presence }
    }

    /// The arguments for the keys of a part, each behind a comma: all are parameters or variables with the same names.
    fn arguments(&self, part: NodeId, keys: &[Key]) -> String {
        let argument = |(register, key): (&u16, &Key)| match key {
            Key::Nothing => ", TableKey.NONE".to_owned(),
            Key::Component(..) | Key::Parameter(_) => format!(", k{register}"),
        };
        self.p.types.keys(part).iter().zip(keys).map(argument).collect()
    }

    /// The expression that reads a value.
    fn read(&mut self, node: NodeId, at: &str, keys: &[Key]) -> String {
        let form = if self.p.types.is_newtype(node) {
            self.p.types.inner_form(node)
        } else {
            self.p.types.form(node)
        };
        let codec = self.p.codec(node);
        let keys = self.arguments(node, keys);
        let plain = |method: &str| format!("r.{method}({at})");
        let inside = match self.p.types.repr(node) {
            Repr::Boolean => plain("bool"),
            Repr::Null => plain("nothing"),
            Repr::Integer { .. } | Repr::Big => {
                let names = self.names_of(node);
                match self.p.number(node) {
                    Number::Int(least, most) => format!("r.integer({at}, {names}, {least}, {most})"),
                    Number::Long(least, most) => {
                        format!("r.integer({at}, {names}, {}, {})", long(least), long(most))
                    }
                    Number::Unsigned => format!("r.unsigned({at}, {names})"),
                    Number::Big => format!("r.bigInteger({at}, {names})"),
                }
            }
            Repr::Real => format!("r.real({at}, {})", form == Form::Base10),
            Repr::Float => plain("doubleReal"),
            Repr::FixedBits(bits) => format!("r.fixedBits({at}, {bits})"),
            Repr::Bits => format!("r.bits({at}, {}L)", size_of(&form).map_or(-1, |(size, _)| size)),
            Repr::FixedOctets(octets) => format!("r.octets({at}, {octets})"),
            Repr::Octets => plain("octets"),
            Repr::Oid => plain("oid"),
            Repr::RelativeOid => plain("relativeOid"),
            Repr::Any => plain("any"),
            Repr::Text => match text_of(&form) {
                TextForm::Utc => plain("utcTime"),
                TextForm::Generalized => plain("generalizedTime"),
                TextForm::Time(number) => format!("r.time({at}, {number})"),
                TextForm::Characters(number) => format!("r.text({at}, {number})"),
                TextForm::Octets(number) => format!("r.textOctets({at}, {number})"),
            },
            Repr::Contained(_)
            | Repr::Enumerated
            | Repr::Struct
            | Repr::Choice
            | Repr::List
            | Repr::Table(_) => format!("{codec}.readJer(r, {at}{keys})"),
        };
        if self.p.types.is_newtype(node) {
            format!("new {}({inside})", self.p.names.ty(self.p.types.same(node)))
        } else {
            inside
        }
    }

    /// The statement that writes the value of an expression.
    fn write(&mut self, node: NodeId, v: &str) -> String {
        let is_newtype = self.p.types.is_newtype(node);
        let form = if is_newtype { self.p.types.inner_form(node) } else { self.p.types.form(node) };
        let v = if is_newtype { format!("{v}.value()") } else { v.to_owned() };
        match self.p.types.repr(node) {
            Repr::Boolean => format!("w.bool({v});"),
            Repr::Null => format!("w.nothing({v});"),
            Repr::Integer { .. } | Repr::Big => match self.p.number(node) {
                Number::Long(i64::MIN, i64::MAX) => format!("w.integer({v});"),
                Number::Int(least, most) | Number::Long(least, most) => {
                    format!("w.integer({v}, {}, {});", long(least), long(most))
                }
                Number::Unsigned => format!("w.unsigned({v});"),
                Number::Big => format!("w.bigInteger({v});"),
            },
            Repr::Real => format!("w.real({v}, {});", form == Form::Base10),
            Repr::Float => format!("w.doubleReal({v});"),
            Repr::FixedBits(bits) => format!("w.bits({v}, {bits});"),
            Repr::Bits => format!("w.bits({v}, {}L);", one_size(&form)),
            Repr::FixedOctets(_) | Repr::Octets | Repr::Any => format!("w.octets({v});"),
            Repr::Oid => format!("w.oid({v});"),
            Repr::RelativeOid => format!("w.relativeOid({v});"),
            Repr::Text => match text_of(&form) {
                TextForm::Octets(number) => format!("w.textOctets({number}, {v});"),
                _ => format!("w.text({v});"),
            },
            Repr::Contained(_)
            | Repr::Enumerated
            | Repr::Struct
            | Repr::Choice
            | Repr::List
            | Repr::Table(_) => format!("{}.writeJer(w, {v});", self.p.codec(node)),
        }
    }

    fn body(&mut self, node: NodeId) {
        let declared = self.p.declared(node);
        self.text.append(&declared);
        match self.p.types.repr(node) {
            Repr::Struct => {
                self.members(node);
                self.struct_reader(node);
                self.line("");
                self.struct_writer(node);
            }
            Repr::Choice => {
                self.members(node);
                self.choice_reader(node);
                self.line("");
                self.choice_writer(node);
            }
            Repr::Table(table) => self.table(node, table),
            Repr::List => self.list(node),
            Repr::Contained(inside) => self.contained(node, inside),
            Repr::Enumerated => self.enumerated(node),
            _ => return,
        }
        let codec = self.p.codec(node);
        self.finish(&codec);
    }

    fn root(&mut self, node: NodeId, name: &str, wraps: bool) {
        let keys = self.source().no_keys(node);
        let read = self.read(node, "0", &keys);
        let read = if wraps { format!("new {name}({read})") } else { read };
        self.line("");
        self.line("@Override");
        self.open(format!("protected {name} readJer(JerReader r) throws Asn1Exception {{"));
        self.line(format!("return {read};"));
        self.close("}");
        self.line("");
        self.line("@Override");
        self.open(format!("protected void writeJer(ValueWriter w, {name} value) throws Asn1Exception {{"));
        let write = self.write(node, if wraps { "value.value()" } else { "value" });
        self.line(write);
        self.close("}");
        if matches!(self.p.types.repr(node), Repr::Struct | Repr::Choice) {
            let codec = self.p.codec(node);
            self.line("");
            self.line("@Override");
            self.open("public JerMembers members() {");
            self.line(format!("return {codec}.JER;"));
            self.close("}");
        }
    }

    /// The constant with the members of the object that a SEQUENCE, SET or CHOICE is.
    fn members(&mut self, node: NodeId) {
        let shape = self.p.types.shape;
        let is_choice = self.p.types.repr(node) == Repr::Choice;
        let presence = shape.fields_of(node).filter(|_| !is_choice).map(|(_, field)| {
            let required = u32::from(field.presence == Presence::Mandatory);
            match field.place {
                Place::Root => required,
                Place::Addition(_) => 0,
                Place::Group(number) => (number + 1) * 2 + required,
            }
        });
        let presence: String = presence.map(|number| format!(", {number}")).collect();
        let extensible = shape.node(node).extensible;
        let made = format!(
            "static final JerMembers JER = new JerMembers(PLACE, {is_choice}, {extensible}{presence})"
        );
        let parts: Vec<(usize, NodeId)> = shape
            .fields_of(node)
            .enumerate()
            .map(|(number, (_, field))| (number, field.node))
            .filter(|(_, part)| matches!(self.p.types.repr(*part), Repr::Struct | Repr::Choice))
            .collect();
        if parts.is_empty() {
            self.line(format!("{made};"));
            return self.line("");
        }
        self.open(format!("{made} {{"));
        self.line("@Override");
        self.open("public JerMembers part(int number) {");
        self.open("return switch (number) {");
        for (number, part) in parts {
            let codec = self.p.codec(part);
            self.line(format!("case {number} -> {codec}.JER;"));
        }
        self.line("default -> null;");
        self.close("};");
        self.close("}");
        self.close("};");
        self.line("");
    }

    /// The literal of the name of a type that nothing names around: that of a table's row, its own, or that of its kind.
    fn type_name(&self, node: NodeId, row: Option<NameId>) -> String {
        let shape = self.p.types.shape;
        let it = shape.node(node);
        let name = row.map(|name| shape.name(name).rsplit('.').next().unwrap_or_default());
        literal(name.unwrap_or_else(|| it.name.map_or_else(|| it.kind.name(), |name| shape.name(name))))
    }
}

/// How a character string or a time is written, with the number of its type.
enum TextForm {
    Utc,
    Generalized,
    Time(u32),
    Characters(u32),
    /// The octets of one whose characters escape sequences choose (X.697 38.2).
    Octets(u32),
}

fn text_of(form: &Form) -> TextForm {
    let Form::Text(kind) = form else { return TextForm::Characters(StringKind::Utf8 as u32) };
    let number = kind.string_kind().unwrap_or(StringKind::Utf8) as u32;
    match (kind, kind.time_type()) {
        (Kind::UtcTime, _) => TextForm::Utc,
        (Kind::GeneralizedTime, _) => TextForm::Generalized,
        (_, Some(time)) => TextForm::Time(time_number(time)),
        (Kind::TeletexString | Kind::VideotexString | Kind::GraphicString | Kind::GeneralString, _) => {
            TextForm::Octets(number)
        }
        _ => TextForm::Characters(number),
    }
}

fn size_of(form: &Form) -> Option<(i64, bool)> {
    match form {
        Form::Bits(size) => size.map(|(size, extensible)| (i64::try_from(size).unwrap_or(-1), extensible)),
        _ => None,
    }
}

/// The size that all values of a BIT STRING have, or -1: one with `...` behind it is not visible (X.697 7.2.2 g).
fn one_size(form: &Form) -> i64 {
    size_of(form).filter(|(_, extensible)| !extensible).map_or(-1, |(size, _)| size)
}
