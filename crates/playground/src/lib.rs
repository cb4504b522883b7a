//! The engine of the playground: a request has a specification, a type, encoding rules, and bytes or a value; the answer has
//! the diagnostics of the specification, the value or the bytes, the parts of the encoding, and what is wrong.
//!
//! Requests and answers are JSON objects without line feeds.
//!
//! | member of a request | |
//! |---|---|
//! | `specification` | its text, of any number of modules |
//! | `type` | the name of a type; the first that no other type refers to if this one is unknown |
//! | `rules` | the encoding rules, `ber` by default |
//! | `encoding` | an encoding: hexadecimal digits, or the text of XER, JER and GSER |
//! | `value` | a value in JSON, which is encoded |
//! | `sample` | a number: a valid value is made, another one for each number |
//!
//! | member of an answer | |
//! |---|---|
//! | `diagnostics` | what is wrong with the specification, with places and fixes |
//! | `types`, `type` | the names of its types, and the one that is used |
//! | `encoding` | the encoding of the value or the sample |
//! | `value` | the value of the encoding, or the sample, in JSON; after a fault, what comes before it |
//! | `problems` | faults, and constraints that are not met |
//! | `parts` | the parts of the encoding in order, each bit once |
//! | `error` | why there is nothing of all that |
//!
//! Places in texts are counted in units of UTF-16, as browsers count them; those in encodings in bits.
//!
//! ```
//! use tercet_playground::Playground;
//! let request = r#"{
//!     "specification": "A DEFINITIONS ::= BEGIN Age ::= INTEGER (0..150) END",
//!     "rules": "uper", "value": "33"
//! }"#;
//! let answer: serde_json::Value = serde_json::from_str(&Playground::new().answer(request)).unwrap();
//! assert_eq!(answer["type"], "A.Age");
//! assert_eq!(answer["encoding"], "21");
//! assert_eq!(answer["problems"], serde_json::json!([]));
//! ```

#![forbid(unsafe_code)]

mod codec;
mod hex;
mod specification;
mod units;

use codec::{Input, Work};
use serde_json::{Map, Value, json};
use specification::Specification;
use tercet_schema::Rules;

/// Answers requests; keeps the specification of the last one and its plans.
#[derive(Debug, Default)]
pub struct Playground {
    specification: Option<Specification>,
}

impl Playground {
    /// Makes a playground that has no specification yet.
    pub const fn new() -> Self {
        Self { specification: None }
    }

    /// Answers a request: see the [crate's documentation](crate).
    pub fn answer(&mut self, request: &str) -> String {
        let answer = match serde_json::from_str(request) {
            Ok(Value::Object(request)) => self.of_request(&request),
            Ok(_) => json!({ "error": "a request is a JSON object" }),
            Err(error) => json!({ "error": error.to_string() }),
        };
        answer.to_string()
    }

    fn of_request(&mut self, request: &Map<String, Value>) -> Value {
        let word = |name: &str| request.get(name).and_then(Value::as_str);
        let text = word("specification").unwrap_or_default();
        let specification = match self.specification.take().filter(|known| known.text() == text) {
            Some(known) => self.specification.insert(known),
            None => self.specification.insert(Specification::new(text)),
        };
        let mut answer = specification.describe();
        let add = |answer: &mut Map<String, Value>, error: String| {
            answer.insert("error".to_owned(), error.into());
        };
        let Some(type_name) = specification.type_name(word("type").unwrap_or_default()) else {
            return Value::Object(answer);
        };
        answer.insert("type".to_owned(), type_name.as_str().into());
        let rules = match word("rules").unwrap_or("ber").parse::<Rules>() {
            Ok(rules) => rules,
            Err(error) => {
                add(&mut answer, error.to_string());
                return Value::Object(answer);
            }
        };
        let input = match (word("encoding"), word("value"), request.get("sample").and_then(Value::as_u64)) {
            (Some(encoding), ..) => Input::Encoding(encoding),
            (_, Some(value), _) => Input::Value(value),
            (_, _, Some(number)) => Input::Sample(number),
            _ => return Value::Object(answer),
        };
        match specification.plan(&type_name, rules) {
            Ok((schema, plan)) => match plan.root(&type_name) {
                Some(root) => answer.extend(Work { schema, plan, root, rules }.answer(input)),
                None => add(&mut answer, format!("unknown type `{type_name}`")),
            },
            Err(error) => add(&mut answer, error),
        }
        Value::Object(answer)
    }
}
