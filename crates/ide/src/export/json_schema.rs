//! JSON Schema 2020-12 of values in JER (X.697).

use super::{Names, bounds, own, rows};
use serde_json::{Map, Value, json};
use tercet_schema::dynamic::{Tape, json as jer, say_constant};
use tercet_schema::plan::instructions::Json;
use tercet_schema::plan::shape::{Field, Place, Presence};
use tercet_schema::plan::{FieldId, Kind, NodeId, Plan, Shape};

/// Octets as JER writes them.
const HEX: &str = "^([0-9A-Fa-f]{2})*$";

/// Alternatives of an alphabet that are written as a pattern.
const RANGES: usize = 64;

pub(super) fn text(plan: &Plan, roots: &[(String, NodeId)]) -> String {
    let shape = &*plan.shape;
    let names = Names::new(shape, roots, false, |name| name.replace([' ', '/', '~', '%', '#'], "_"));
    let maker = Maker { shape, names: &names };
    let mut definitions = Map::new();
    for id in &names.order {
        if let Some(name) = names.get(*id) {
            definitions.insert(name.to_owned(), maker.definition(*id));
        }
    }
    let mut top = Map::new();
    top.insert("$schema".into(), "https://json-schema.org/draft/2020-12/schema".into());
    let references: Vec<Value> = roots.iter().map(|(_, node)| maker.value(FieldId::ROOT, *node)).collect();
    match (&references[..], roots) {
        ([Value::Object(one)], [(name, _)]) => {
            top.insert("title".into(), own(name).into());
            top.extend(one.clone());
        }
        _ => _ = top.insert("anyOf".into(), references.into()),
    }
    top.insert("$defs".into(), Value::Object(definitions));
    serde_json::to_string_pretty(&Value::Object(top)).unwrap_or_default() + "\n"
}

struct Maker<'a> {
    shape: &'a Shape,
    names: &'a Names,
}

impl Maker<'_> {
    /// The schema of a value at a place.
    fn value(&self, field: FieldId, node: NodeId) -> Value {
        let json = self.shape.json_of(field, node);
        if let Some(json) = json.filter(|it| has_form(it)) {
            return self.instructed(json, node);
        }
        match self.names.get(node) {
            Some(name) => json!({"$ref": format!("#/$defs/{name}")}),
            None => self.definition(node),
        }
    }

    /// The schema of a value with encoding instructions (X.697 clause 13).
    fn instructed(&self, json: &Json, node: NodeId) -> Value {
        if json.array {
            return json!({"type": "array"});
        }
        if json.object {
            return json!({"type": "object"});
        }
        if json.unwrapped {
            let alternatives = self.shape.fields_of(node).map(|(id, field)| self.value(id, field.node));
            return json!({"anyOf": alternatives.collect::<Vec<_>>()});
        }
        if json.base64 {
            return json!({"type": "string", "contentEncoding": "base64"});
        }
        let name = |item: &tercet_schema::plan::shape::Item| {
            let given = json.texts.iter().find(|(value, _)| *value == item.value).map(|(_, name)| *name);
            self.shape.name(given.unwrap_or(item.name))
        };
        let items: Vec<&str> = self.shape.items_of(node).iter().map(name).collect();
        self.items(node, &items)
    }

    fn items(&self, node: NodeId, names: &[&str]) -> Value {
        if self.shape.node(node).extensible {
            // Items of later versions are numbers, or by their place among the additions.
            let addition = json!({"type": "object", "properties": {"addition": {"type": "integer", "minimum": 0}},
                "required": ["addition"], "additionalProperties": false});
            return json!({"anyOf": [{"enum": names}, {"type": "integer"}, addition]});
        }
        json!({"enum": names})
    }

    fn definition(&self, id: NodeId) -> Value {
        let shape = self.shape;
        let node = shape.node(id);
        match node.kind {
            Kind::Boolean => json!({"type": "boolean"}),
            Kind::Null => json!({"type": "null"}),
            Kind::Integer => self.integer(id),
            Kind::Enumerated => {
                let names: Vec<&str> = shape.items_of(id).iter().map(|item| shape.name(item.name)).collect();
                self.items(id, &names)
            }
            Kind::Real => json!({"anyOf": [
                {"type": "number"},
                {"enum": ["-0", "INF", "-INF", "NaN"]},
                {"type": "object", "properties": {"base10Value": {}}, "required": ["base10Value"]},
                {"type": "object", "properties": {"mantissa": {}, "base": {}, "exponent": {}}, "required": ["mantissa"]},
            ]}),
            Kind::BitString => {
                let bits = self.bits(id);
                self.containing(node.containing, bits)
            }
            Kind::OctetString => {
                let octets = self.octets(id, 1);
                self.containing(node.containing, octets)
            }
            // X.697 38.2: escape sequences choose the characters.
            Kind::TeletexString | Kind::VideotexString | Kind::GraphicString | Kind::GeneralString => {
                json!({"type": "string", "pattern": HEX})
            }
            Kind::ObjectIdentifier => json!({"type": "string", "pattern": r"^[0-2](\.(0|[1-9][0-9]*))+$"}),
            Kind::RelativeOid => {
                json!({"type": "string", "pattern": r"^(0|[1-9][0-9]*)(\.(0|[1-9][0-9]*))*$"})
            }
            Kind::Date => json!({"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}),
            Kind::TimeOfDay => json!({"type": "string", "pattern": "^[0-9]{2}:[0-9]{2}:[0-9]{2}$"}),
            Kind::DateTime => {
                json!({"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}$"})
            }
            Kind::Sequence | Kind::Set => self.object(id),
            Kind::SequenceOf | Kind::SetOf => self.array(id),
            Kind::Choice => self.choice(id),
            Kind::Open => {
                let known: Vec<Value> = rows(shape, id).map(|row| self.value(FieldId::ROOT, row)).collect();
                if known.is_empty() {
                    return Value::Object(Map::new());
                }
                let other = json!({"type": "string", "pattern": HEX, "description": "a complete encoding"});
                json!({"anyOf": known.into_iter().chain([other]).collect::<Vec<_>>()})
            }
            _ => self.characters(id),
        }
    }

    fn integer(&self, id: NodeId) -> Value {
        let mut schema = Map::from_iter([("type".to_owned(), json!("integer"))]);
        let (lo, hi) = bounds(self.shape, id).and_then(|it| it.integer).unwrap_or_default();
        for (key, bound) in [("minimum", lo), ("maximum", hi)] {
            let number = bound.and_then(|bound| bound.to_string().parse::<serde_json::Number>().ok());
            if let Some(number) = number {
                schema.insert(key.into(), Value::Number(number));
            }
        }
        Value::Object(schema)
    }

    /// Sizes in units, with the keywords for them.
    fn sizes(&self, id: NodeId, keys: [&str; 2], unit: u64, schema: &mut Map<String, Value>) {
        let Some((lo, hi)) = bounds(self.shape, id).and_then(|it| it.size) else { return };
        if lo > 0 {
            schema.insert(keys[0].into(), lo.saturating_mul(unit).into());
        }
        if let Some(hi) = hi {
            schema.insert(keys[1].into(), hi.saturating_mul(unit).into());
        }
    }

    fn octets(&self, id: NodeId, octets: u64) -> Value {
        let mut schema =
            Map::from_iter([("type".to_owned(), json!("string")), ("pattern".to_owned(), json!(HEX))]);
        self.sizes(id, ["minLength", "maxLength"], 2 * octets, &mut schema);
        Value::Object(schema)
    }

    /// X.697 clause 24: octets alone where all values have one size.
    fn bits(&self, id: NodeId) -> Value {
        if let Some((lo, Some(hi))) = bounds(self.shape, id).and_then(|it| it.size)
            && lo == hi
        {
            let digits = 2 * lo.div_ceil(8);
            return json!({"type": "string", "pattern": HEX, "minLength": digits, "maxLength": digits});
        }
        let mut length =
            Map::from_iter([("type".to_owned(), json!("integer")), ("minimum".to_owned(), json!(0))]);
        // Zero bits at the end of named bits may be absent.
        if self.shape.items_of(id).is_empty() {
            self.sizes(id, ["minimum", "maximum"], 1, &mut length);
        }
        json!({
            "type": "object",
            "properties": {"value": {"type": "string", "pattern": HEX}, "length": length},
            "required": ["value", "length"],
            "additionalProperties": false,
        })
    }

    fn containing(&self, inner: Option<NodeId>, octets: Value) -> Value {
        let Some(inner) = inner else { return octets };
        json!({"anyOf": [
            {
                "type": "object",
                "properties": {"containing": self.value(FieldId::ROOT, inner)},
                "required": ["containing"],
                "additionalProperties": false,
            },
            octets,
        ]})
    }

    fn characters(&self, id: NodeId) -> Value {
        let mut schema = Map::from_iter([("type".to_owned(), json!("string"))]);
        if self.shape.node(id).kind.is_text() {
            self.sizes(id, ["minLength", "maxLength"], 1, &mut schema);
            if let Some(class) = bounds(self.shape, id).and_then(|it| it.alphabet.as_deref()).and_then(class)
            {
                schema.insert("pattern".into(), format!("^[{class}]*$").into());
            }
        }
        Value::Object(schema)
    }

    /// The name of a member: that of NAME, or the identifier.
    fn member(&self, id: FieldId, field: &Field) -> &str {
        let given = self.shape.json_of(id, field.node).and_then(|json| json.name);
        self.shape.name(given.unwrap_or(field.name))
    }

    fn object(&self, id: NodeId) -> Value {
        let shape = self.shape;
        let (mut properties, mut required) = (Map::new(), Vec::new());
        for (field_id, field) in shape.fields_of(id) {
            let name = self.member(field_id, field);
            let mut value = self.value(field_id, field.node);
            if let (Presence::Default(index), Value::Object(object)) = (field.presence, &mut value)
                && let Some(default) = self.default(field, index)
            {
                object.insert("default".into(), default);
            }
            properties.insert(name.to_owned(), value);
            if field.presence == Presence::Mandatory && field.place == Place::Root {
                required.push(name);
            }
        }
        let mut schema = Map::new();
        schema.insert("type".into(), "object".into());
        schema.insert("properties".into(), Value::Object(properties));
        if !required.is_empty() {
            schema.insert("required".into(), json!(required));
        }
        // Later versions may have more.
        if !shape.node(id).extensible {
            schema.insert("additionalProperties".into(), false.into());
        }
        Value::Object(schema)
    }

    /// A DEFAULT as JER writes it.
    fn default(&self, field: &Field, index: u32) -> Option<Value> {
        let (mut tape, mut text) = (Tape::new(), Vec::new());
        say_constant(self.shape, FieldId::ROOT, field.node, index, &mut tape);
        jer::write(self.shape, tape.view(&[]), &mut text, &jer::Options::default());
        serde_json::from_slice(&text).ok()
    }

    fn array(&self, id: NodeId) -> Value {
        let mut schema = Map::from_iter([("type".to_owned(), json!("array"))]);
        if let Some((field_id, field)) = self.shape.fields_of(id).next() {
            schema.insert("items".into(), self.value(field_id, field.node));
        }
        self.sizes(id, ["minItems", "maxItems"], 1, &mut schema);
        Value::Object(schema)
    }

    fn choice(&self, id: NodeId) -> Value {
        let mut properties = Map::new();
        for (field_id, field) in self.shape.fields_of(id) {
            properties.insert(self.member(field_id, field).to_owned(), self.value(field_id, field.node));
        }
        if self.shape.node(id).extensible {
            properties.insert(
                "...".into(),
                json!({"type": "array", "description": "an alternative of a later version"}),
            );
        }
        json!({
            "type": "object",
            "properties": properties,
            "minProperties": 1,
            "maxProperties": 1,
            "additionalProperties": false,
        })
    }
}

/// Whether instructions give a value another form than its type has.
fn has_form(json: &Json) -> bool {
    json.array || json.object || json.unwrapped || json.base64 || !json.texts.is_empty()
}

/// Permitted characters as a class of a pattern.
fn class(ranges: &[(u32, u32)]) -> Option<String> {
    if ranges.is_empty() || ranges.len() > RANGES {
        return None;
    }
    let mut text = String::new();
    for (lo, hi) in ranges {
        for (number, code) in [lo, hi].into_iter().enumerate() {
            if number == 1 {
                if lo == hi {
                    break;
                }
                text.push('-');
            }
            let character = char::from_u32(*code)?;
            match character {
                '\\' | ']' | '[' | '^' | '-' => text.extend(['\\', character]),
                control if control < ' ' => text.push_str(&format!("\\x{:02x}", *code)),
                other => text.push(other),
            }
        }
    }
    Some(text)
}
