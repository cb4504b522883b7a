//! `Serialize` and `Deserialize` in the shapes of JER.

use super::imports::UNKNOWN_ADDITIONS;
use super::values::{key_pattern, tuple};
use super::{Printer, local};
use crate::forms::Form;
use crate::overlay::Serde;
use crate::types::{Edge, Repr};
use std::collections::BTreeMap;
use tercet_plan::{FieldId, NodeId};

pub(super) fn print(p: &mut Printer<'_>, serde: Serde) {
    let items: Vec<NodeId> = p.types.nodes().filter(|node| p.is_item(*node)).collect();
    let wrappers: Vec<(NodeId, String)> =
        p.roots.iter().filter(|root| root.wraps).map(|root| (root.node, root.name.clone())).collect();
    let mut jer = Jer { p, numbers: BTreeMap::new(), types: Vec::new() };
    jer.line("");
    jer.p.text.doc("`Serialize` and `Deserialize` in the shapes of JER (X.697).");
    if serde == Serde::Feature {
        jer.line("#[cfg(feature = \"serde\")]");
    }
    jer.open("mod jer_forms {");
    jer.line("use super::*;");
    jer.line("use tercet_runtime::codec::jer;");
    for node in items {
        let name = jer.p.names.ty(node).to_owned();
        let form = jer.p.types.is_newtype(node).then(|| jer.p.types.inner_form(node));
        jer.implement(&name, node, form);
    }
    for (node, name) in wrappers {
        let form = jer.p.types.form(node);
        jer.implement(&name, node, Some(form));
    }
    jer.named_numbers();
    jer.line("");
    jer.open("jer::serde! {");
    let types: Vec<String> = jer.types.iter().map(|ty| format!("{ty},")).collect();
    jer.p.text.fill(types);
    jer.close("}");
    jer.close("}");
}

struct Jer<'p, 'm> {
    p: &'p mut Printer<'m>,
    /// Nodes with named numbers that readers take.
    numbers: BTreeMap<NodeId, String>,
    /// The types that are done.
    types: Vec<String>,
}

impl Jer<'_, '_> {
    fn line(&mut self, line: impl AsRef<str>) {
        self.p.text.line(line);
    }

    fn open(&mut self, line: impl AsRef<str>) {
        self.p.text.open(line);
    }

    fn close(&mut self, line: impl AsRef<str>) {
        self.p.text.close(line);
    }

    /// The shapes of a type; `inside` is that of what a struct is around.
    fn implement(&mut self, name: &str, node: NodeId, inside: Option<Form>) {
        let inside = inside.map(|form| self.form(form));
        let name = name.to_owned() + if self.p.types.borrows(node) { "<'_>" } else { "" };
        self.line("");
        self.open(format!("impl jer::Jer for {name} {{"));
        // No type of a specification is called so.
        self.open("fn write_jer<S_: jer::Serializer>(&self, s: S_, levels: jer::Levels) -> jer::Said<S_> {");
        match (&inside, self.p.types.repr(node)) {
            (Some(form), _) => self.line(format!("<{form} as jer::Form<_>>::write(&self.0, s, levels)")),
            (None, Repr::Struct) => self.write_struct(node),
            (None, Repr::Choice) => self.write_choice(node),
            (None, Repr::Enumerated) => self.write_enumerated(node),
            (None, Repr::Table(table)) => self.write_table(node, table),
            _ => {}
        }
        self.close("}");
        self.line("");
        self.open("fn read_jer(tree: &jer::Tree<'_>, keys: &jer::Keys<'_>) -> jer::Read<Self> {");
        match (&inside, self.p.types.repr(node)) {
            (Some(form), _) => self.line(format!("<{form} as jer::Form<_>>::read(tree, keys).map(Self)")),
            (None, Repr::Struct) => self.read_struct(node),
            (None, Repr::Choice) => self.read_choice(node),
            (None, Repr::Enumerated) => self.read_enumerated(node),
            (None, Repr::Table(table)) => self.read_table(node, table),
            _ => {}
        }
        self.close("}");
        self.close("}");
        self.types.push(name);
    }

    /// The type in Rust that stands for a form.
    fn form(&mut self, form: Form) -> String {
        let bits = |size: Option<(u64, bool)>| match size {
            Some((size, true)) => format!("{size}, true"),
            Some((size, false)) => size.to_string(),
            None => String::new(),
        };
        match form {
            Form::Plain => "jer::Plain".into(),
            Form::Bits(None) => "jer::Bits".into(),
            Form::Bits(size) => format!("jer::Bits<{}>", bits(size)),
            Form::Text(kind) => format!("jer::{kind:?}"),
            Form::Base10 => "jer::Base10".into(),
            Form::Named(node) => {
                let name = format!("N{}", node.0);
                let form = format!("jer::Named<numbers::{name}>");
                self.numbers.insert(node, name);
                form
            }
            Form::Containing(None, inside) => format!("jer::Containing<{}>", self.form(*inside)),
            Form::Containing(Some(size), inside) => {
                let (inside, size) = (self.form(*inside), bits(size));
                let size = if size.is_empty() { size } else { format!(", {size}") };
                format!("jer::BitsContaining<{inside}{size}>")
            }
            Form::List(element) => format!("jer::List<{}>", self.form(*element)),
            Form::Boxed(inside) => format!("jer::Boxed<{}>", self.form(*inside)),
        }
    }

    /// A call of a method: by the type alone where that tells the form.
    fn call(&mut self, method: &str, field: FieldId) -> String {
        let form = self.p.types.form_at(Some(Edge::Field(field)), self.p.types.shape.field(field).node);
        match form {
            Form::Plain => format!("m.{method}"),
            form => format!("m.{method}_as::<{}, _>", self.form(form)),
        }
    }

    fn write_struct(&mut self, node: NodeId) {
        let shape = self.p.types.shape;
        let fields: Vec<FieldId> = shape.fields_of(node).map(|(id, _)| id).collect();
        if fields.is_empty() {
            return self.line("jer::object(s, levels)?.end()");
        }
        self.line("let mut m = jer::object(s, levels)?;");
        for id in fields {
            let said = shape.name(shape.field(id).name);
            let place = format!("self.{}", self.p.names.field(id));
            let put = self.call("put", id);
            let line = if self.p.is_option(id) {
                format!("if let Some(v) = &{place} {{ {put}({said:?}, v)?; }}")
            } else if let Some(default) = self.p.is_default(id, &place) {
                format!("if !({default}) {{ {put}({said:?}, &{place})?; }}")
            } else {
                format!("{put}({said:?}, &{place})?;")
            };
            self.line(line);
        }
        self.line("m.end()");
    }

    fn read_struct(&mut self, node: NodeId) {
        let shape = self.p.types.shape;
        let fields: Vec<FieldId> = shape.fields_of(node).map(|(id, _)| id).collect();
        self.line("let keys = &keys.inside()?;");
        self.open("const NAMES: &[&str] = &[");
        self.p.text.fill(fields.iter().map(|id| format!("{:?},", shape.name(shape.field(*id).name))));
        self.close("];");
        self.line(format!("let m = jer::Members::of(tree, NAMES, {})?;", shape.node(node).extensible));
        let keyed: Vec<FieldId> =
            fields.iter().copied().filter(|id| self.p.types.has_keys(node, *id)).collect();
        // Values that select rows of tables are read before the others, wherever they stand.
        for &id in &keyed {
            let value = self.read_field(node, id);
            let name = local(self.p.names.field(id));
            let held = self.p.held(Edge::Field(id), shape.field(id).node, "'_");
            let ty = if self.p.is_option(id) { format!("Option<{held}>") } else { held };
            self.line(format!("let {name}: {ty} = {value};"));
        }
        for &id in &keyed {
            for (register, way) in self.p.types.keys_in(id) {
                if let Some(key) = self.p.local_key(id, &way) {
                    self.line(format!("let keys = &keys.with({register}, {key});"));
                }
            }
        }
        let mut members = Vec::new();
        for id in fields {
            let name = self.p.names.field(id).to_owned();
            if keyed.is_empty() {
                members.push(format!("{name}: {},", self.read_field(node, id)));
                continue;
            }
            if !keyed.contains(&id) {
                let value = self.read_field(node, id);
                self.line(format!("let {} = {value};", local(&name)));
            }
            members.push(format!("{name}: {},", local(&name)));
        }
        members
            .extend(self.p.names.additions(node).map(|name| format!("{name}: {UNKNOWN_ADDITIONS}::NONE,")));
        self.open("Ok(Self {");
        self.p.text.fill(members);
        self.close("})");
    }

    fn read_field(&mut self, node: NodeId, id: FieldId) -> String {
        let at = id.0 - self.p.types.shape.node(node).first;
        if self.p.is_option(id) {
            format!("{}({at}, keys)?", self.call("find", id))
        } else if let Some(default) = self.p.default_value(id) {
            format!("{}({at}, keys)?.unwrap_or_else(|| {default})", self.call("find", id))
        } else {
            format!("{}({at}, keys)?", self.call("get", id))
        }
    }

    fn write_choice(&mut self, node: NodeId) {
        let shape = self.p.types.shape;
        self.open("match self {");
        for (id, field) in shape.fields_of(node) {
            let form = self.form(self.p.types.form_at(Some(Edge::Field(id)), field.node));
            let (variant, said) = (self.p.names.field(id), shape.name(field.name));
            let line = format!("Self::{variant}(v) => jer::chosen::<{form}, _, _>(s, levels, {said:?}, v),");
            self.line(line);
        }
        if shape.node(node).extensible {
            self.line("Self::Unknown(v) => jer::unknown(s, levels, v),");
        }
        self.close("}");
    }

    fn read_choice(&mut self, node: NodeId) {
        let shape = self.p.types.shape;
        self.line("let keys = &keys.inside()?;");
        self.line("let (name, v) = tree.chosen()?;");
        self.open("match name {");
        for (id, field) in shape.fields_of(node) {
            let form = self.form(self.p.types.form_at(Some(Edge::Field(id)), field.node));
            let (variant, said) = (self.p.names.field(id), shape.name(field.name));
            let line =
                format!("{said:?} => jer::alternative::<{form}, _>({said:?}, v, keys).map(Self::{variant}),");
            self.line(line);
        }
        if shape.node(node).extensible {
            self.line("\"...\" => v.unknown().map(Self::Unknown),");
        }
        self.line("_ => Err(jer::Mismatch::new(\"no such alternative in this CHOICE\")),");
        self.close("}");
    }

    fn write_enumerated(&mut self, node: NodeId) {
        let shape = self.p.types.shape;
        self.open("let name = match self {");
        let items = shape.items_of(node).iter();
        let items = items.map(|item| (self.p.names.item(node, item.value), shape.name(item.name)));
        let items: Vec<String> = items.map(|(item, said)| format!("Self::{item} => {said:?},")).collect();
        self.p.text.fill(items);
        if shape.node(node).extensible {
            self.line("Self::Unknown(number) => return jer::Jer::write_jer(number, s, levels),");
            self.line("Self::UnknownAddition(number) => return jer::addition(s, *number),");
        }
        self.close("};");
        self.line("jer::item(s, name)");
    }

    fn read_enumerated(&mut self, node: NodeId) {
        let shape = self.p.types.shape;
        self.open("let item = match tree.item()? {");
        self.open("jer::Item::Name(name) => match name {");
        let items = shape.items_of(node).iter();
        let items = items.map(|item| (self.p.names.item(node, item.value), shape.name(item.name)));
        let items: Vec<String> =
            items.map(|(item, said)| format!("{said:?} => Some(Self::{item}),")).collect();
        self.p.text.fill(items);
        self.line("_ => None,");
        self.close("},");
        self.line("jer::Item::Number(number) => Self::from_number(number),");
        self.line(if shape.node(node).extensible {
            "jer::Item::Addition(number) => Some(Self::UnknownAddition(number)),"
        } else {
            "jer::Item::Addition(_) => None,"
        });
        self.close("};");
        self.line("item.ok_or_else(|| jer::Mismatch::new(\"no such item in this ENUMERATED\"))");
    }

    fn write_table(&mut self, node: NodeId, table: u32) {
        let shape = self.p.types.shape;
        self.open("match self {");
        for (number, row) in (0..).zip(&shape.tables[table as usize].rows) {
            let form = self.form(self.p.types.form_at(Some(Edge::Row(node, number)), row.node));
            let line = format!(
                "Self::{}(v) => <{form} as jer::Form<_>>::write(v, s, levels.inside()?),",
                self.p.names.row(node, number)
            );
            self.line(line);
        }
        self.line("Self::Other(v) => jer::Jer::write_jer(v, s, levels),");
        self.close("}");
    }

    fn read_table(&mut self, node: NodeId, table: u32) {
        let shape = self.p.types.shape;
        let keys: Vec<String> = match &shape.node(node).table {
            Some(table) => table.keys.iter().map(|key| format!("keys.of({key})")).collect(),
            None => Vec::new(),
        };
        self.open(format!("let known = match {} {{", tuple(&keys)));
        for (number, row) in (0..).zip(&shape.tables[table as usize].rows) {
            let Some(patterns) = row.keys.iter().map(key_pattern).collect::<Option<Vec<_>>>() else {
                continue;
            };
            let form = self.form(self.p.types.form_at(Some(Edge::Row(node, number)), row.node));
            let variant = self.p.names.row(node, number);
            let line = format!(
                "{} => jer::content::<{form}, _>(tree, keys)?.map(Self::{variant}),",
                tuple(&patterns)
            );
            self.line(line);
        }
        if !keys.is_empty() {
            self.line("_ => None,");
        }
        self.close("};");
        self.open("match known {");
        self.line("Some(known) => Ok(known),");
        self.line("None => jer::Jer::read_jer(tree, keys).map(Self::Other),");
        self.close("}");
    }

    /// The names of numbers, for the types that have them.
    fn named_numbers(&mut self) {
        if self.numbers.is_empty() {
            return;
        }
        let shape = self.p.types.shape;
        self.line("");
        self.open("mod numbers {");
        for (node, name) in std::mem::take(&mut self.numbers) {
            self.line(format!("pub(super) struct {name};"));
            self.open(format!("impl super::jer::Names for {name} {{"));
            self.open("const NAMES: &'static [(&'static str, i64)] = &[");
            let items = shape.items_of(node).iter();
            self.p.text.fill(items.map(|item| format!("({:?}, {}),", shape.name(item.name), item.value)));
            self.close("];");
            self.close("}");
        }
        self.close("}");
    }
}
