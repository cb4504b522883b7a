//! The library as the harnesses use it: a compiled specification, values as JSON.

use std::path::PathBuf;

use serde_json::Value;
use tercet::{Schema, TapeCodec};
use tercet_dynamic::{Decoder, Encoder, Error, Options, Sink, Tape, json};
use tercet_plan::{NodeId, Plan, Rules, Shape};

use crate::corpora::with_gaps;
use crate::places;

/// A compiled specification.
#[derive(Debug)]
pub struct Specification {
    schema: Schema,
}

/// The rules that plans are made for: one for BER, DER and CER, and one for each variant of PER and OER.
const RULES: [Rules; 7] = [
    Rules::Ber,
    Rules::Aper,
    Rules::Uper,
    Rules::CanonicalAper,
    Rules::CanonicalUper,
    Rules::Oer,
    Rules::Coer,
];

/// A type of a specification, ready to decode and encode.
#[derive(Debug)]
pub struct Type {
    /// One for each of [`RULES`].
    plans: Vec<Plan>,
    node: NodeId,
    decoder: Decoder,
    encoder: Encoder,
    tape: Tape,
}

impl Specification {
    /// Compiles files.
    ///
    /// # Errors
    /// A file cannot be read, or the diagnostics.
    pub fn load(files: &[PathBuf]) -> Result<Self, String> {
        let schema = Schema::load(files, &with_gaps()).map_err(|e| e.to_string())?;
        Self::checked(schema)
    }

    /// Compiles text.
    ///
    /// # Errors
    /// The diagnostics.
    pub fn from_text(name: &str, text: &str) -> Result<Self, String> {
        Self::checked(Schema::from_text(name, text))
    }

    fn checked(schema: Schema) -> Result<Self, String> {
        if schema.has_errors() {
            let errors = schema.diagnostics().iter().filter(|d| d.is_error()).count();
            let text = schema.render(false);
            let first: String = text.chars().take(600).collect();
            return Err(format!("{errors} errors: {first}"));
        }
        Ok(Self { schema })
    }

    /// What it was compiled to.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// A type by `Module.Type` or `Type`.
    ///
    /// # Errors
    /// There is no such type, or no plan can be made for it.
    pub fn root(&self, name: &str) -> Result<Type, String> {
        self.roots(name, &[])
    }

    /// The same, with more types that decoding can begin with.
    ///
    /// # Errors
    /// There is no such type, or no plan can be made for it.
    pub fn roots(&self, name: &str, more: &[&str]) -> Result<Type, String> {
        let names: Vec<&str> = [name].iter().chain(more).copied().collect();
        let plans = self.schema.plans(&RULES, &names).map_err(|e| e.to_string())?;
        let node = plans.first().and_then(|plan| plan.root(name));
        let node = node.ok_or_else(|| format!("the plan has no root {name}"))?;
        Ok(Type { plans, node, decoder: Decoder::new(), encoder: Encoder::new(), tape: Tape::new() })
    }
}

impl Type {
    /// The plan for BER.
    pub fn plan(&self) -> &Plan {
        &self.plans[0]
    }

    /// What values look like.
    pub fn shape(&self) -> &Shape {
        &self.plan().shape
    }

    /// The type within the shape.
    pub fn node(&self) -> NodeId {
        self.node
    }

    /// A complete encoding as a JSON value.
    ///
    /// # Errors
    /// What the decoder says, or that octets follow.
    pub fn decode(&mut self, rules: Rules, octets: &[u8]) -> Result<Value, String> {
        self.decode_as(self.node, rules, octets)
    }

    /// The same for another type of the shape.
    ///
    /// # Errors
    /// What the decoder says, or that octets follow.
    pub fn decode_as(&mut self, node: NodeId, rules: Rules, octets: &[u8]) -> Result<Value, String> {
        self.read(node, rules, octets)?;
        self.json(&self.tape, octets)
    }

    /// The same under strict options, with the name of the error's kind: `trailing-data`.
    ///
    /// # Errors
    /// The name of the kind, and the whole message.
    pub fn decode_kind(&mut self, rules: Rules, octets: &[u8]) -> Result<Value, (&'static str, String)> {
        self.decode_kind_by(rules, octets, &Options::strict(rules))
    }

    /// The same under other options.
    ///
    /// # Errors
    /// The name of the kind, and the whole message.
    pub fn decode_kind_by(
        &mut self,
        rules: Rules,
        octets: &[u8],
        options: &Options,
    ) -> Result<Value, (&'static str, String)> {
        self.tape.clear();
        match self.decoder.decode(plan_of(&self.plans, rules), self.node, octets, &mut self.tape, options) {
            Ok(length) if length < octets.len() => Err(("trailing-data", "octets follow".into())),
            Ok(_) => self.json(&self.tape, octets).map_err(|e| ("json", e)),
            Err(error) => Err((error.kind().name(), error.to_string())),
        }
    }

    /// A complete encoding as the JSON text that X.697 asks for.
    ///
    /// # Errors
    /// What the decoder says, or that octets follow.
    pub fn decode_text(&mut self, rules: Rules, octets: &[u8]) -> Result<String, String> {
        self.read(self.node, rules, octets)?;
        let mut text = Vec::new();
        json::write(self.shape(), self.tape.view(octets), &mut text, &json::Options::default());
        String::from_utf8(text).map_err(|e| e.to_string())
    }

    /// Says a value's events to a sink; octets may follow.
    ///
    /// # Errors
    /// What the decoder says.
    pub fn decode_into(
        &mut self,
        node: NodeId,
        rules: Rules,
        octets: &[u8],
        sink: &mut impl Sink,
    ) -> Result<usize, Error> {
        self.decoder.decode(plan_of(&self.plans, rules), node, octets, sink, &options(rules))
    }

    /// Checks the places of the parts of an encoding.
    ///
    /// # Errors
    /// Those of [`places::check`].
    pub fn places(&self, rules: Rules, octets: &[u8]) -> Result<(), String> {
        places::check(plan_of(&self.plans, rules), self.node, octets, &options(rules)).map(drop)
    }

    /// A tape as a JSON value.
    ///
    /// # Errors
    /// What was written is no JSON.
    pub fn json(&self, tape: &Tape, octets: &[u8]) -> Result<Value, String> {
        let mut text = Vec::new();
        let mut options = json::Options::default();
        options.open_types = json::OpenTypes::Tagged;
        options.general_strings = json::GeneralStrings::Characters;
        options.decimals_as_numbers = true;
        options.instructions = false;
        json::write(self.shape(), tape.view(octets), &mut text, &options);
        serde_json::from_slice(&text).map_err(|e| format!("{e} in {}", String::from_utf8_lossy(&text)))
    }

    /// The encoding of a JSON value.
    ///
    /// # Errors
    /// What the reader of JSON or the encoder says.
    pub fn encode(&mut self, rules: Rules, value: &Value) -> Result<Vec<u8>, String> {
        self.read_json(&value.to_string(), false)?;
        self.write(rules, &[])
    }

    /// The same of a JSON text as it stands, which follows the encoding instructions of the specification.
    ///
    /// # Errors
    /// What the reader of JSON or the encoder says.
    pub fn encode_text(&mut self, rules: Rules, text: &str) -> Result<Vec<u8>, String> {
        self.read_json(text, true)?;
        self.write(rules, &[])
    }

    /// A text as a JSON value.
    ///
    /// # Errors
    /// What the reader says.
    pub fn read_text(&mut self, rules: Rules, text: &str) -> Result<Value, String> {
        let mut codec = TapeCodec::new(rules, &self.plans[0]);
        codec
            .read(self.node, text.as_bytes(), &mut self.tape, &Options::default())
            .map_err(|e| e.to_string())?;
        self.json(&self.tape, &[])
    }

    /// A JSON value as text.
    ///
    /// # Errors
    /// What the reader of JSON or the writer says.
    pub fn write_text(&mut self, rules: Rules, value: &Value) -> Result<String, String> {
        self.read_json(&value.to_string(), false)?;
        let mut out = Vec::new();
        let mut codec = TapeCodec::new(rules, &self.plans[0]);
        codec.write(self.tape.view(&[]), &mut out).map_err(|e| e.to_string())?;
        String::from_utf8(out).map_err(|e| e.to_string())
    }

    fn read_json(&mut self, text: &str, instructions: bool) -> Result<(), String> {
        self.tape.clear();
        let mut options = json::Options::default();
        options.instructions = instructions;
        // Values are told by their characters; JER is not.
        if !instructions {
            options.general_strings = json::GeneralStrings::Characters;
        }
        json::read(&self.plans[0].shape, self.node, text.as_bytes(), &mut self.tape, &options)
            .map_err(|e| format!("JSON: {e}"))
    }

    /// Decodes and encodes again.
    ///
    /// # Errors
    /// What the decoder or the encoder says.
    pub fn transcode(&mut self, from: Rules, octets: &[u8], to: Rules) -> Result<Vec<u8>, String> {
        self.read(self.node, from, octets)?;
        self.write(to, octets)
    }

    /// Decodes a value of another type of the shape and encodes it again.
    ///
    /// # Errors
    /// What the decoder or the encoder says.
    pub fn reencode(&mut self, node: NodeId, rules: Rules, octets: &[u8]) -> Result<Vec<u8>, String> {
        self.read(node, rules, octets)?;
        self.write(rules, octets)
    }

    fn read(&mut self, node: NodeId, rules: Rules, octets: &[u8]) -> Result<(), String> {
        self.tape.clear();
        let length = self
            .decoder
            .decode(plan_of(&self.plans, rules), node, octets, &mut self.tape, &options(rules))
            .map_err(|e| e.to_string())?;
        if length < octets.len() { Err(format!("{} octets follow", octets.len() - length)) } else { Ok(()) }
    }

    fn write(&mut self, rules: Rules, octets: &[u8]) -> Result<Vec<u8>, String> {
        let mut out = Vec::new();
        self.encoder
            .encode(plan_of(&self.plans, rules), rules, self.tape.view(octets), &mut out)
            .map_err(|e| e.to_string())?;
        Ok(out)
    }
}

fn plan_of(plans: &[Plan], rules: Rules) -> &Plan {
    &plans[RULES.iter().position(|known| *known == rules).unwrap_or_default()]
}

fn options(rules: Rules) -> Options {
    let mut options = if rules == Rules::Ber { Options::default() } else { Options::strict(rules) };
    options.rules = rules;
    // Vectors say what the standard allows.
    options.strict_values = true;
    options
}
