//! Ours in the differential run: samples values, encodes them by every rule, and reads what peers have written.
//!
//! A line of JSON is asked for on standard input, lines of JSON are the answer: see `harness/ours.py`.

mod tree;

use serde_json::{Value as Json, json};
use std::io::{BufRead, Write};
use std::path::PathBuf;
use tercet::dynamic::sample::{self, Sampler};
use tercet::dynamic::{Decoder, Encoder, NodeId, Options, Tape, View, json as text, xml};
use tercet::plan::{Plan, Rules};
use tercet::syntax::ast;
use tercet::{Schema, SchemaOptions};
use tree::{Trees, hex};

/// The binary rules, each with the canonical rules of its family: by those, encodings of others are compared.
const RULES: [(&str, Rules, usize); 9] = [
    ("ber", Rules::Ber, 1),
    ("der", Rules::Der, 1),
    ("cer", Rules::Cer, 1),
    ("aper", Rules::Aper, 4),
    ("caper", Rules::CanonicalAper, 4),
    ("uper", Rules::Uper, 6),
    ("cuper", Rules::CanonicalUper, 6),
    ("oer", Rules::Oer, 8),
    ("coer", Rules::Coer, 8),
];

/// Of values that are read as text, this encoding is compared.
const DER: usize = 1;

fn main() {
    let mut ours = Ours::default();
    let stdin = std::io::stdin().lock();
    let mut out = std::io::stdout().lock();
    for line in stdin.lines().map_while(Result::ok) {
        let answers = match serde_json::from_str(&line) {
            Ok(request) => ours.answer(&request).unwrap_or_else(|error| vec![json!({"error": error})]),
            Err(error) => vec![json!({"error": error.to_string()})],
        };
        for answer in answers {
            let _ = writeln!(out, "{answer}");
        }
        let _ = out.flush();
    }
}

#[derive(Default)]
struct Ours {
    schema: Option<Schema>,
    /// One for each of [`RULES`], over one shape.
    plans: Vec<Plan>,
}

impl Ours {
    fn answer(&mut self, request: &Json) -> Result<Vec<Json>, String> {
        let get = |key: &str| request[key].as_str().ok_or_else(|| format!("{key} is missing"));
        match get("do")? {
            "open" => self.open(&strings(&request["schema"])).map(|answer| vec![answer]),
            "plan" => {
                let types = strings(&request["types"]);
                let names: Vec<&str> = types.iter().map(String::as_str).collect();
                let rules: Vec<Rules> = RULES.iter().map(|rule| rule.1).collect();
                let schema = self.schema.as_ref().ok_or("no schema")?;
                self.plans = schema.plans(&rules, &names).map_err(|e| e.to_string())?;
                Ok(vec![json!({"ok": true})])
            }
            "value" => {
                let name = get("type")?;
                let (node, mut tape) = (self.node(name)?, Tape::new());
                let json = request["json"].to_string();
                let mut options = text::Options::default();
                options.general_strings = text::GeneralStrings::Characters;
                text::read(&self.plans[0].shape, node, json.as_bytes(), &mut tape, &options)
                    .map_err(|e| e.to_string())?;
                Ok(vec![self.value(name, node, &tape)])
            }
            "samples" => {
                let name = get("type")?;
                let number = |key: &str| request[key].as_u64().ok_or_else(|| format!("{key} is missing"));
                Ok(vec![self.samples(name, number("seed")?, number("count")?)?])
            }
            "same" => self.same(get("type")?, get("rule")?, get("hex")?, get("ours")?).map(|same| vec![same]),
            other => Err(format!("no request {other}")),
        }
    }

    fn open(&mut self, files: &[String]) -> Result<Json, String> {
        let paths: Vec<PathBuf> = files.iter().map(PathBuf::from).collect();
        let schema = Schema::load(&paths, &SchemaOptions::default()).map_err(|e| e.to_string())?;
        if schema.has_errors() {
            return Err(schema.render(false).chars().take(300).collect());
        }
        let outermost: Vec<String> = schema.outermost().into_iter().map(|(name, _)| name).collect();
        let names: Vec<String> = schema.names().map(|(name, _)| name).collect();
        let module = |module: &ast::Module| {
            let text = schema.sources.text(module.span);
            json!([module.name.text.as_str(), text])
        };
        let modules: Vec<Json> = schema.modules().iter().map(module).collect();
        let answer = json!({"outermost": outermost, "names": names, "modules": modules});
        self.schema = Some(schema);
        Ok(answer)
    }

    fn node(&self, name: &str) -> Result<NodeId, String> {
        self.plans.first().and_then(|plan| plan.root(name)).ok_or_else(|| format!("no type {name}"))
    }

    /// Values made up, of which each is checked against the constraints of its type.
    fn samples(&self, name: &str, seed: u64, count: u64) -> Result<Json, String> {
        let node = self.node(name)?;
        let mut options = sample::Options::default();
        options.seed = seed;
        options.elements = 60;
        let mut sampler = Sampler::new(&self.plans[0].shape, options);
        let mut tape = Tape::new();
        let (mut values, mut error) = (Vec::new(), None);
        for _ in 0..count {
            match sampler.sample(node, &mut tape) {
                Ok(()) => values.push(self.value(name, node, &tape)),
                Err(fault) => error = Some(fault.to_string()),
            }
        }
        Ok(json!({"values": values, "unmade": error}))
    }

    /// A value in all that peers may be given: its encodings, texts, and trees.
    fn value(&self, type_name: &str, node: NodeId, tape: &Tape) -> Json {
        let (mut encodings, mut trees, mut faults) = (json!({}), json!({}), json!({}));
        for (plan, (name, rules, _)) in self.plans.iter().zip(RULES) {
            match encode(plan, rules, tape.view(&[])) {
                Ok(octets) => {
                    let mut again = Tape::new();
                    match decode(plan, rules, node, &octets, &mut again) {
                        Ok(()) => {
                            trees[name] = Trees { plan, rules }.tree(again.view(&octets), 0);
                            encodings[name] = json!(hex(&octets));
                        }
                        Err(error) => faults[name] = json!(format!("reads not what it wrote: {error}")),
                    }
                }
                Err(error) => faults[name] = json!(format!("cannot encode: {error}")),
            }
        }
        let shape = &self.plans[0].shape;
        let mut json = Vec::new();
        let mut options = text::Options::default();
        options.defaults = false;
        text::write(shape, tape.view(&[]), &mut json, &options);
        let mut xer = Vec::new();
        let mut options = xml::Options::default();
        options.root = type_name.rsplit('.').next().map(str::to_owned);
        xml::write(shape, tape.view(&[]), &mut xer, &options);
        for (name, octets) in [("jer", &json), ("xer", &xer)] {
            if trees["der"].is_array() {
                encodings[name] = json!(hex(octets));
                trees[name] = trees["der"].clone();
            }
        }
        json!({
            "json": String::from_utf8_lossy(&json), "encodings": encodings, "trees": trees, "faults": faults
        })
    }

    /// Whether octets of a peer say the same value as ours: both have the same canonical encoding.
    fn same(&self, name: &str, rule: &str, octets: &str, ours: &str) -> Result<Json, String> {
        let node = self.node(name)?;
        let (octets, ours) = (unhex(octets)?, unhex(ours)?);
        let mut tape = Tape::new();
        let Some((_, rules, canonical)) = RULES.into_iter().find(|it| it.0 == rule) else {
            let shape = &self.plans[0].shape;
            match rule {
                "jer" => text::read(shape, node, &octets, &mut tape, &text::Options::default()).map_err(|e| e.to_string())?,
                _ => xml::read(shape, node, &octets, &mut tape, &xml::ReadOptions::default())
                    .map_err(|e| e.to_string())?,
            }
            let theirs = encode(&self.plans[DER], Rules::Der, tape.view(&[]))?;
            return Ok(json!({"same": theirs == ours, "theirs": hex(&theirs)}));
        };
        let at = RULES.iter().position(|it| it.1 == rules).unwrap_or_default();
        let mut canonically = |octets: &[u8]| -> Result<Vec<u8>, String> {
            tape.clear();
            decode(&self.plans[at], rules, node, octets, &mut tape)?;
            encode(&self.plans[canonical], RULES[canonical].1, tape.view(octets))
        };
        let theirs = canonically(&octets)?;
        Ok(json!({"same": theirs == canonically(&ours)?, "theirs": hex(&theirs)}))
    }
}

fn decode(plan: &Plan, rules: Rules, node: NodeId, octets: &[u8], tape: &mut Tape) -> Result<(), String> {
    let mut options = if rules == Rules::Ber { Options::default() } else { Options::strict(rules) };
    options.fill_defaults = true;
    match Decoder::new().decode(plan, node, octets, tape, &options) {
        Ok(length) if length < octets.len() => Err(format!("{} octets follow", octets.len() - length)),
        Ok(_) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}

fn encode(plan: &Plan, rules: Rules, view: View<'_>) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    Encoder::new().encode(plan, rules, view, &mut out).map_err(|e| e.to_string())?;
    Ok(out)
}

fn strings(list: &Json) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(|item| item.as_str().map(str::to_owned)).collect()
}

fn unhex(text: &str) -> Result<Vec<u8>, String> {
    let digits: Result<Vec<u8>, _> =
        (0..text.len() / 2).map(|i| u8::from_str_radix(&text[i * 2..i * 2 + 2], 16)).collect();
    digits.map_err(|e| e.to_string())
}
