//! Encodings to values and back.

use crate::hex;
use crate::units::Units;
use serde_json::{Map, Value, json};
use tercet_schema::dynamic::json::{self, Options as JsonOptions};
use tercet_schema::dynamic::sample::{self, Sampler};
use tercet_schema::dynamic::trace::Step;
use tercet_schema::dynamic::validate::{Validator, Violation};
use tercet_schema::dynamic::{Error, NodeId, Options, Tape, Trailing, View};
use tercet_schema::plan::Plan;
use tercet_schema::syntax::Span;
use tercet_schema::{CodecError, Rules, Schema, TapeCodec, check_trailing};

/// Parts that are listed.
const MOST_PARTS: usize = 2000;
/// Problems that are listed.
const MOST_PROBLEMS: usize = 200;
/// Samples that there are of a type.
const MOST_SAMPLES: u64 = 200;
/// Characters of a value in the list of parts.
const CHARACTERS: usize = 200;

/// What a request has beside its specification.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Input<'r> {
    /// An encoding: hexadecimal digits, or text.
    Encoding(&'r str),
    /// A value in JSON.
    Value(&'r str),
    /// The number of a value that is made.
    Sample(u64),
}

/// A type and rules, and what they need.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work<'s> {
    pub(crate) schema: &'s Schema,
    pub(crate) plan: &'s Plan,
    pub(crate) root: NodeId,
    pub(crate) rules: Rules,
}

/// The members of an answer.
type Answer = Map<String, Value>;

impl Work<'_> {
    /// Returns the members of an answer that are about a value.
    pub(crate) fn answer(self, input: Input<'_>) -> Answer {
        let mut answer = Answer::new();
        let mut problems = Vec::new();
        match input {
            Input::Encoding(text) if self.rules.is_text() => {
                self.decode(text.trim_end().as_bytes(), &mut answer, &mut problems);
            }
            Input::Encoding(digits) => match hex::read(digits) {
                Ok(octets) => self.decode(&octets, &mut answer, &mut problems),
                Err(message) => problems.push(fault(message)),
            },
            Input::Value(text) => self.encode(text.as_bytes(), &mut answer, &mut problems),
            Input::Sample(number) => self.sample(number, &mut answer, &mut problems),
        }
        problems.truncate(MOST_PROBLEMS);
        answer.insert("problems".to_owned(), problems.into());
        answer
    }

    /// Reads an encoding.
    fn decode(self, octets: &[u8], answer: &mut Answer, problems: &mut Vec<Value>) {
        let (mut codec, mut tape, options) = (self.codec(self.rules), Tape::new(), Options::default());
        match codec.read(self.root, octets, &mut tape, &options) {
            Ok(length) => {
                let rest = octets.get(length..).unwrap_or_default();
                if let Err(error) =
                    check_trailing(self.plan, self.root, rest, length as u64, Trailing::default())
                {
                    problems.push(of_error(&error.into()));
                }
                let view = tape.view(octets);
                self.violations(view, problems);
                answer.insert("value".to_owned(), self.json(view).into());
            }
            Err(error) => {
                problems.push(of_error(&error));
                if codec.finish_partial(self.root, octets, &mut tape, &options, &error) {
                    answer.insert("value".to_owned(), self.json(tape.view(octets)).into());
                }
                answer.insert("isPartial".to_owned(), true.into());
            }
        }
        self.parts(octets, answer);
    }

    /// Encodes a value.
    fn encode(self, text: &[u8], answer: &mut Answer, problems: &mut Vec<Value>) {
        let mut tape = Tape::new();
        match self.codec(Rules::Jer).read(self.root, text, &mut tape, &Options::default()) {
            Ok(_) => self.write(tape.view(text), answer, problems),
            Err(error) => problems.push(of_error(&error)),
        }
    }

    /// Makes the sample with a number and encodes it.
    fn sample(self, number: u64, answer: &mut Answer, problems: &mut Vec<Value>) {
        let mut tape = Tape::new();
        let mut sampler = Sampler::new(&self.plan.shape, sample::Options::default());
        // The first samples have the limits of constraints, so that those before this one are made too.
        let numbers = 0..=number % MOST_SAMPLES;
        match numbers.map(|_| sampler.sample(self.root, &mut tape)).last().unwrap_or(Ok(())) {
            Ok(()) => {
                let view = tape.view(&[]);
                answer.insert("value".to_owned(), self.json(view).into());
                self.write(view, answer, problems);
            }
            Err(error) => problems.push(of_value(&error)),
        }
    }

    /// Adds the encoding of a value.
    fn write(self, value: View<'_>, answer: &mut Answer, problems: &mut Vec<Value>) {
        self.violations(value, problems);
        let mut octets = Vec::new();
        match self.codec(self.rules).write(value, &mut octets) {
            Ok(()) => {
                let encoding = match self.rules.is_text() {
                    true => String::from_utf8_lossy(&octets).into_owned(),
                    false => hex::spelled(&octets),
                };
                answer.insert("encoding".to_owned(), encoding.into());
                self.parts(&octets, answer);
            }
            Err(CodecError::Octets(error)) => problems.push(of_value(&error)),
            Err(error) => problems.push(of_error(&error)),
        }
    }

    /// Adds the parts of an encoding.
    fn parts(self, octets: &[u8], answer: &mut Answer) {
        let text = String::from_utf8_lossy(octets);
        let mut units = Units::new(if self.rules.is_text() { &text } else { "" });
        let (mut parts, mut count) = (Vec::new(), 0);
        // The fault is among the problems.
        _ = self.codec(self.rules).trace(self.root, octets, &Options::default(), |step| {
            count += 1;
            if parts.len() < MOST_PARTS {
                let (mut at, mut end) = (step.place.at, step.place.end());
                if self.rules.is_text() {
                    at = units.before((at / 8) as usize) as u64;
                    end = units.before((end / 8) as usize) as u64;
                }
                parts.push(of_step(step, at, end - at));
            }
        });
        answer.insert("parts".to_owned(), parts.into());
        answer.insert("partsCount".to_owned(), count.into());
    }

    /// Adds the constraints that a value does not meet.
    fn violations(self, value: View<'_>, problems: &mut Vec<Value>) {
        let found = Validator::new().check(&self.plan.shape, self.root, value);
        problems.extend(found.into_iter().map(|violation| self.of_violation(&violation)));
    }

    fn of_violation(self, violation: &Violation) -> Value {
        let Violation { path, value, message, constraint, span, .. } = violation;
        let place = span.map(|(lo, hi)| {
            let sources = &self.schema.sources;
            let range = sources.range(Span::new(lo, hi));
            let text = sources.files().next().map_or("", |(_, file)| &*file.text);
            let mut units = Units::new(text);
            json!({
                "from": units.before(range.start), "to": units.before(range.end),
                "line": sources.line_column(lo).line,
            })
        });
        json!({
            "kind": "constraint", "path": path, "message": format!("{value} {message}").trim(),
            "constraint": constraint, "place": place,
        })
    }

    /// Returns a value in JSON, as `tercet decode` prints it.
    fn json(self, value: View<'_>) -> String {
        let mut options = JsonOptions::default();
        options.indent = Some(2);
        let mut text = Vec::new();
        json::write(&self.plan.shape, value, &mut text, &options);
        String::from_utf8_lossy(&text).into_owned()
    }

    fn codec(&self, rules: Rules) -> TapeCodec<'_> {
        TapeCodec::new(rules, self.plan)
    }
}

/// Returns a part; offset and size are in bits, or of text in units of UTF-16.
fn of_step(step: &Step<'_>, at: u64, size: u64) -> Value {
    json!([
        at,
        size,
        step.place.part.name(),
        step.path,
        step.type_name,
        step.meaning,
        step.value.map(cut),
        step.clause
    ])
}

/// Returns the begin of a text that is long.
fn cut(text: &str) -> String {
    match text.char_indices().nth(CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Returns a fault that has no place.
fn fault(message: String) -> Value {
    json!({ "kind": "fault", "path": "", "message": message })
}

/// Returns a fault of an encoding or a text, with its place.
fn of_error(error: &CodecError) -> Value {
    let bit = match error {
        CodecError::Octets(error) => Some(error.offset() * 8 + u64::from(error.bit().unwrap_or(0))),
        CodecError::Text(_) => None,
    };
    json!({ "kind": "fault", "path": error.path(), "message": error.to_string(), "bit": bit })
}

/// Returns the fault of a value to encode, which has no place in octets.
fn of_value(error: &Error) -> Value {
    let parts = [error.path(), error.kind().message(), error.detail()];
    let message = Vec::from_iter(parts.into_iter().filter(|part| !part.is_empty())).join(": ");
    json!({ "kind": "fault", "path": error.path(), "message": message })
}

#[cfg(test)]
mod tests {
    use crate::Playground;
    use serde_json::{Value, json};

    const ROCKETS: &str = "Rockets DEFINITIONS AUTOMATIC TAGS ::= BEGIN
        Rocket ::= SEQUENCE { name UTF8String, range INTEGER (0..999) OPTIONAL, ... } END";

    fn ask(rules: &str, member: &str, input: impl Into<Value>) -> Value {
        let mut request = json!({ "specification": ROCKETS, "type": "Rocket", "rules": rules });
        request[member] = input.into();
        serde_json::from_str(&Playground::new().answer(&request.to_string())).unwrap()
    }

    #[test]
    fn encodings_become_values_and_parts() {
        let answer = ask("ber", "encoding", "30 09 80 04 46616C6B 81 01 05");
        assert_eq!(answer["value"], "{\n  \"name\": \"Falk\",\n  \"range\": 5\n}");
        assert_eq!(answer["problems"], json!([]));
        let parts = answer["parts"].as_array().unwrap();
        let contents: Vec<&Value> = parts.iter().filter(|part| part[2] == "contents").collect();
        assert_eq!(contents[0][3], "Rocket.name");
        assert_eq!((&contents[1][0], &contents[1][1], &contents[1][6]), (&json!(80), &json!(8), &json!("5")));
        let bits: u64 = parts.iter().map(|part| part[1].as_u64().unwrap()).sum();
        assert_eq!(bits, 11 * 8);
    }

    #[test]
    fn values_become_encodings_by_all_rules() {
        for (rules, encoding) in [
            ("der", "30 09 80 04 46 61 6C 6B 81 01 05"),
            // Extension bit and presence bit, a length, four characters, ten bits.
            ("uper", "41 11 98 5B 1A C0 50"),
            ("oer", "40 04 46 61 6C 6B 00 05"),
            ("jer", "{\"name\":\"Falk\",\"range\":5}"),
            ("gser", "{ name \"Falk\", range 5 }"),
        ] {
            let answer = ask(rules, "value", "{\"name\": \"Falk\", \"range\": 5}");
            assert_eq!(answer["encoding"], encoding, "{rules}: {answer}");
            let back = ask(rules, "encoding", encoding);
            assert_eq!(back["value"], "{\n  \"name\": \"Falk\",\n  \"range\": 5\n}", "{rules}");
            assert_eq!(back["parts"], answer["parts"], "{rules}");
        }
    }

    #[test]
    fn faults_have_places_and_what_was_read_before() {
        let answer = ask("ber", "encoding", "3009800446616C6B8101");
        assert_eq!(answer["isPartial"], true);
        assert_eq!(answer["value"], "{\n  \"name\": \"Falk\"\n}");
        let message =
            |answer: &Value| answer["problems"][0]["message"].as_str().unwrap_or_default().to_owned();
        assert!(message(&answer).contains("1 byte is missing"), "{answer}");
        assert!(message(&ask("ber", "encoding", "3009800446616C6B8101050000")).contains("after"));
        assert!(message(&ask("ber", "encoding", "30z")).contains("`z`"));
        assert!(message(&ask("ber", "value", "{\"name\": 5}")).contains("Rocket.name"));
        assert!(message(&ask("ber", "value", "{")).contains('1'));
    }

    #[test]
    fn constraints_are_shown_where_they_are_written() {
        let answer = ask("ber", "value", "{\"name\": \"Falk\", \"range\": 5000}");
        let problem = &answer["problems"][0];
        assert_eq!(
            (problem["kind"].as_str(), problem["path"].as_str()),
            (Some("constraint"), Some("Rocket.range"))
        );
        let at = |name: &str| problem["place"][name].as_u64().unwrap() as usize;
        assert_eq!(&ROCKETS[at("from")..at("to")], "(0..999)");
        // BER has an encoding of it, PER has not.
        assert_eq!(answer["encoding"], "30 0A 80 04 46 61 6C 6B 81 02 13 88");
        assert!(ask("uper", "value", "{\"name\": \"Falk\", \"range\": 5000}")["encoding"].is_null());
    }

    #[test]
    fn samples_are_valid() {
        for seed in 0..20 {
            for rules in ["ber", "uper", "oer", "xer"] {
                let answer = ask(rules, "sample", seed);
                assert_eq!(answer["problems"], json!([]), "{answer}");
                assert_eq!(ask(rules, "encoding", answer["encoding"].clone())["value"], answer["value"]);
            }
        }
    }

    #[test]
    fn the_engine_goes_on_after_what_it_cannot_answer() {
        let mut playground = Playground::new();
        for (request, part) in [
            ("", "error"),
            ("[]", "object"),
            ("{}", "\"types\":[]"),
            (r#"{"specification": "A DEFINITIONS ::= BEGIN B ::= Unknown END", "sample": 1}"#, "Unknown"),
            (r#"{"specification": "A DEFINITIONS ::= BEGIN B ::= NULL END", "rules": "best"}"#, "best"),
            (r#"{"specification": "A DEFINITIONS ::= BEGIN B ::= NULL END", "value": "null"}"#, "05 00"),
        ] {
            let answer = playground.answer(request);
            assert!(answer.contains(part) && !answer.contains('\n'), "{request}: {answer}");
        }
    }
}
