//! SEQUENCE and SET in JER.

use super::Jer;
use crate::code::{Key, Presence as Kept};
use crate::java::parts::PARTS;
use crate::java::text::Lines;
use std::collections::BTreeMap;
use tercet_plan::{FieldId, NodeId};

impl Jer<'_, '_> {
    // SEQUENCE and SET

    pub(super) fn struct_reader(&mut self, node: NodeId) {
        let name = self.p.names.ty(node).to_owned();
        let is_record = self.p.is_record(node);
        let parameters = self.p.key_parameters(node);
        let fields: Vec<FieldId> = self.p.types.shape.fields_of(node).map(|(id, _)| id).collect();
        self.open(format!("static {name} readJer(JerReader r, int at{parameters}) throws Asn1Exception {{"));
        self.line("int[] found = r.components(at, JER);");
        let own = self.own_keys(node, &fields);
        if !is_record {
            self.line(format!("{name} value = new {name}();"));
        }
        if !is_record && fields.len() > PARTS {
            let keys: String = own.iter().map(|key| format!(", k{key}")).collect();
            let same = self.p.same_keys(node);
            for part in 0..fields.len().div_ceil(PARTS) {
                self.line(format!("readJer{part}(r, found, value{same}{keys});"));
            }
            self.line("r.end(found);");
            self.line("return value;");
            self.close("}");
            let own: String = own.iter().map(|key| format!(", TableKey k{key}")).collect();
            for (part, ids) in fields.chunks(PARTS).enumerate() {
                self.line("");
                self.open(format!(
                    "private static void readJer{part}(JerReader r, int[] found, {name} value{parameters}{own}) throws Asn1Exception {{"
                ));
                self.line("int number = -1;");
                self.open("try {");
                for (number, id) in ids.iter().enumerate() {
                    self.component(node, part * PARTS + number, *id, false);
                }
                self.caught("fault.in(PLACE, number)");
                self.close("}");
            }
            return;
        }
        self.line("int number = -1;");
        self.open("try {");
        for (number, id) in fields.iter().enumerate() {
            self.component(node, number, *id, is_record);
        }
        self.line("number = -1;");
        self.line("r.end(found);");
        if is_record {
            let mut parts: Vec<String> =
                fields.iter().map(|id| format!("_{}", self.p.names.field(*id))).collect();
            parts.extend(self.p.names.additions(node).map(|_| "UnknownAdditions.NONE".to_owned()));
            self.line(format!("return new {name}({});", parts.join(", ")));
        } else {
            self.line("return value;");
        }
        self.caught("fault.in(PLACE, number)");
        self.close("}");
    }

    /// The variables with the keys that components have for those beside them; returns their registers. A component that is
    /// not a value is reported when its turn comes.
    fn own_keys(&mut self, node: NodeId, fields: &[FieldId]) -> Vec<u16> {
        let shape = self.p.types.shape;
        let mut own = BTreeMap::new();
        for id in fields {
            let part = shape.field(*id).node;
            let keys = self.source().keys(node, part);
            for (register, key) in self.p.types.keys(part).iter().zip(keys) {
                if let Key::Component(component, _) = key {
                    own.insert(*register, (component, key));
                }
            }
        }
        for (register, (component, key)) in &own {
            let number = component.0 - shape.node(node).first;
            let part = shape.field(*component).node;
            let nothing = self.source().no_keys(part);
            let read = self.read(part, &format!("found[{number}]"), &nothing);
            let made = self.p.keys(std::slice::from_ref(key), |_| "key".to_owned());
            let ty = self.p.boxed(part);
            self.line(format!("TableKey k{register} = TableKey.NONE;"));
            self.open(format!("if (found[{number}] >= 0) {{"));
            self.line("int levels = r.levels();");
            self.open("try {");
            self.line(format!("{ty} key = {read};"));
            self.line(format!("k{register} = {};", made.trim_start_matches(", ")));
            self.text.reopen("} catch (Asn1Exception fault) {");
            self.line("r.backTo(levels);");
            self.close("}");
            self.close("}");
        }
        own.into_keys().collect()
    }

    /// Reads a component that has been found.
    fn component(&mut self, node: NodeId, number: usize, id: FieldId, is_record: bool) {
        let part = self.p.types.shape.field(id).node;
        let keys = self.source().keys(node, part);
        let read = self.read(part, &format!("found[{number}]"), &keys);
        let name = self.p.names.field(id).to_owned();
        let kept = self.presence[id.index()];
        let target = match (is_record, kept) {
            (false, _) => format!("value.{name}"),
            (true, Kept::Optional) => format!("{} _{name}", self.p.boxed(part)),
            (true, _) => format!("{} _{name}", self.p.ty(part)),
        };
        self.line(format!("number = {number};"));
        let absent = match kept {
            Kept::Required => return self.line(format!("{target} = {read};")),
            Kept::Optional => "null".to_owned(),
            Kept::Default => self.p.default_name(id).unwrap_or_default(),
        };
        if !is_record && kept == Kept::Optional {
            self.open(format!("if (found[{number}] >= 0) {{"));
            self.line(format!("{target} = {read};"));
            return self.close("}");
        }
        // Numbers stay boxed beside null.
        let read = match kept {
            Kept::Optional if self.p.is_primitive(part) => {
                format!("{}.valueOf({read})", self.p.boxed(part))
            }
            _ => read,
        };
        self.line(format!("{target} = found[{number}] < 0 ? {absent} : {read};"));
    }

    pub(super) fn struct_writer(&mut self, node: NodeId) {
        let name = self.p.names.ty(node).to_owned();
        let fields: Vec<FieldId> = self.p.types.shape.fields_of(node).map(|(id, _)| id).collect();
        let many = fields.len() > PARTS;
        self.open(format!("static void writeJer(ValueWriter w, {name} value) throws Asn1Exception {{"));
        self.line("w.object();");
        if many {
            for part in 0..fields.len().div_ceil(PARTS) {
                self.line(format!("writeJer{part}(w, value);"));
            }
            self.line("w.endObject();");
            self.close("}");
        }
        for (part, ids) in fields.chunks(PARTS).enumerate() {
            if many {
                self.line("");
                self.open(format!(
                    "private static void writeJer{part}(ValueWriter w, {name} value) throws Asn1Exception {{"
                ));
            }
            self.line("int number = -1;");
            self.open("try {");
            for (number, id) in ids.iter().enumerate() {
                self.component_writer(part * PARTS + number, *id);
            }
            self.caught("fault.in(PLACE, number)");
            if !many {
                self.line("w.endObject();");
            }
            self.close("}");
        }
        if fields.is_empty() {
            self.line("w.endObject();");
            self.close("}");
        }
    }

    fn component_writer(&mut self, number: usize, id: FieldId) {
        let part = self.p.types.shape.field(id).node;
        let name = self.p.names.field(id).to_owned();
        let place = format!("value.{name}()");
        self.line(format!("number = {number};"));
        let (value, condition) = match self.presence[id.index()] {
            Kept::Optional => {
                self.line(format!("{} _{name} = {place};", self.p.boxed(part)));
                (format!("_{name}"), Some(format!("_{name} != null")))
            }
            _ => {
                let condition = self.p.is_default(id, &place).map(|equal| format!("!({equal})"));
                (place, condition)
            }
        };
        let write = self.write(part, &value);
        if let Some(condition) = &condition {
            self.open(format!("if ({condition}) {{"));
        }
        self.line(format!("w.name(JER, {number});"));
        self.line(write);
        if condition.is_some() {
            self.close("}");
        }
    }
}
