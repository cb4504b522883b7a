//! Values of messages as JSON, with the names that the object sets of the specification give to constants.

use super::named::parts;
use serde_json::{Map, Value};
use tercet_dynamic::json;
use tercet_dynamic::{Token, View};
use tercet_plan::{FieldId, Kind, Shape};

/// The form of values in JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Form {
    /// Information elements are lists, as in the specification; by default they are members by their names.
    pub lists: bool,
    /// Constants are numbers; by default they have the names of the specification.
    pub numbers: bool,
}

/// Returns a value as JSON.
pub fn value(shape: &Shape, view: View<'_>, form: Form) -> Value {
    let mut text = Vec::new();
    json::write(shape, view, &mut text, &json::Options::default());
    // Values nested deeper than a reader of JSON goes stay as they are: text.
    let Ok(plain) = serde_json::from_slice(&text) else {
        return String::from_utf8_lossy(&text).into_owned().into();
    };
    let named = Namer { shape, view, form }.part(0, plain);
    if form.lists { named } else { hoisted(named) }
}

/// Follows a value in both of its forms.
struct Namer<'a> {
    shape: &'a Shape,
    view: View<'a>,
    form: Form,
}

impl Namer<'_> {
    /// Names the constants in a part of the value: its begin on the tape, its JSON. The depth is that of the JSON, which
    /// its reader limits.
    fn part(&self, at: usize, plain: Value) -> Value {
        let (node, close) = match self.view.token(at) {
            Token::Open { node, close, .. } => (node, close),
            Token::Leaf { field, .. } => return self.leaf(field, plain),
            _ => return plain,
        };
        match (self.shape.node(node).kind, plain) {
            (Kind::SequenceOf | Kind::SetOf, Value::Array(elements)) => {
                let mut elements = elements.into_iter();
                let (mut named, mut keys) = (Vec::new(), Vec::new());
                for part in parts(self.view, at, close) {
                    let Some(element) = elements.next() else { break };
                    keys.push(self.element(part, &element));
                    named.push(self.part(part, element));
                }
                named.extend(elements);
                self.list(keys, named)
            }
            (Kind::Open, plain) => match parts(self.view, at, close).next() {
                Some(part) => self.part(part, plain),
                None => plain,
            },
            (_, Value::Object(mut object)) => {
                for part in parts(self.view, at, close) {
                    let (Token::Open { field, .. } | Token::Leaf { field, .. }) = self.view.token(part)
                    else {
                        continue;
                    };
                    if field == FieldId::ROOT {
                        continue;
                    }
                    if let Some(inside) = object.get_mut(self.shape.name(self.shape.field(field).name)) {
                        *inside = self.part(part, inside.take());
                    }
                }
                object.into()
            }
            (_, plain) => plain,
        }
    }

    fn leaf(&self, field: FieldId, plain: Value) -> Value {
        let name = plain.as_i64().filter(|_| !self.form.numbers && field != FieldId::ROOT);
        match name.and_then(|number| self.shape.value_name(field, number)) {
            Some(name) => name.into(),
            None => plain,
        }
    }

    /// Returns the name of an information element: a field with an identifier, a criticality and an open type.
    fn element(&self, at: usize, plain: &Value) -> Option<String> {
        let object = plain.as_object().filter(|it| it.len() == 3 && it.contains_key("criticality"))?;
        let number = object.get("id")?.as_i64()?;
        object.get("value").or_else(|| object.get("extensionValue"))?;
        let Token::Open { close, .. } = self.view.token(at) else { return None };
        let field = parts(self.view, at, close).find_map(|part| match self.view.token(part) {
            Token::Leaf { field, .. } if field != FieldId::ROOT => Some(field),
            _ => None,
        })?;
        let name = self.shape.value_name(field, number);
        Some(
            name.map_or_else(
                || number.to_string(),
                |name| name.strip_prefix("id-").unwrap_or(name).to_owned(),
            ),
        )
    }

    /// Returns a list; of information elements a map, in which several of one name are a list.
    fn list(&self, keys: Vec<Option<String>>, named: Vec<Value>) -> Value {
        let is_map = !self.form.lists && !keys.is_empty() && keys.iter().all(Option::is_some);
        if !is_map || keys.len() != named.len() {
            return named.into();
        }
        let (mut map, mut repeated) = (Map::new(), Vec::new());
        for (key, mut element) in keys.into_iter().flatten().zip(named) {
            let inside =
                ["value", "extensionValue"].iter().find_map(|name| element.get_mut(name).map(Value::take));
            let inside = inside.unwrap_or(Value::Null);
            match map.get_mut(&key) {
                None => {
                    map.insert(key, inside);
                }
                // An element may be a list itself.
                Some(Value::Array(several)) if repeated.contains(&key) => several.push(inside),
                Some(first) => {
                    *first = Value::Array(vec![first.take(), inside]);
                    repeated.push(key);
                }
            }
        }
        map.into()
    }
}

/// Lifts the information elements of a procedure to the top: `{"procedureCode": …, "criticality": …, "IEs": {…}}`.
fn hoisted(named: Value) -> Value {
    let Value::Object(object) = &named else { return named };
    let Some((kind, procedure)) = object.iter().next().filter(|_| object.len() == 1) else { return named };
    let Some(inside) = procedure.get("value").and_then(|it| it.get("protocolIEs")) else { return named };
    if !inside.is_object() && inside.as_array().is_none_or(|it| !it.is_empty()) {
        return named;
    }
    let mut lifted = Map::new();
    lifted.insert("kind".to_owned(), kind.clone().into());
    for (name, value) in procedure.as_object().into_iter().flatten().filter(|(name, _)| *name != "value") {
        lifted.insert(name.clone(), value.clone());
    }
    for (name, value) in procedure["value"].as_object().into_iter().flatten() {
        let name = if name == "protocolIEs" { "IEs" } else { name };
        let value =
            if value.as_array().is_some_and(Vec::is_empty) { Map::new().into() } else { value.clone() };
        lifted.insert(name.to_owned(), value);
    }
    lifted.into()
}
