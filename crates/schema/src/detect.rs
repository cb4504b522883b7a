//! What octets are: every transfer syntax and type is tried, and what fits is ranked.

use crate::{PlanError, Rules, Schema, TapeCodec};
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use tercet_dynamic::validate::Validator;
use tercet_dynamic::{Leaf, NodeId, Options, Plan, Tape, Token, Unknown, View};
use tercet_plan::Kind;

/// Transfer syntaxes that are tried, those that tell most of themselves first. Of rules that have a canonical form beside
/// a basic one and no other octets in most values, the basic one stands for both.
const TRIED: [Rules; 10] = [
    Rules::Xer,
    Rules::Exer,
    Rules::Jer,
    Rules::Gser,
    Rules::Der,
    Rules::Cer,
    Rules::Ber,
    Rules::Oer,
    Rules::Aper,
    Rules::Uper,
];
/// Octets that all trials of an input may read together: some seconds.
const WORK: usize = 1 << 28;
/// What a trial costs beside the octets that it reads.
const TRIAL: usize = 64;
/// Parts of a value below which several of them in a row say nothing, by rules without tags.
const PARTS: usize = 3;
/// Values of one input that are tried, by rules that tell where one ends.
const VALUES: usize = 32;
/// Octets that are looked at.
const OCTETS: usize = 1 << 20;
/// Bits that are changed to see whether a fit means something.
const CHANGES: usize = 64;
/// Octets that are read for it.
const CHANGED: usize = 1 << 17;
/// Elements of a value that are looked at.
const ELEMENTS: u64 = 1 << 18;

/// A transfer syntax and a type that octets may be.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Candidate {
    /// The transfer syntax.
    pub syntax: Rules,
    /// The type as `Module.Type`.
    pub type_name: String,
    /// Why it does not fit, if it does not.
    pub error: Option<String>,
    /// Octets up to the fault; all of them if it fits.
    pub octets: usize,
    /// Whether a writer makes the same octets of the value again.
    pub again: bool,
    /// Constraints that are not met.
    pub violations: usize,
    /// Components that the type does not know, and content that nothing tells the type of.
    pub unknown: usize,
    /// Values that the octets are, one after the other.
    pub values: usize,
    /// Values in these values.
    pub elements: usize,
    /// Whether the type is a message: its name ends in `PDU` or `Message`, or it is a CHOICE of such types.
    pub is_message: bool,
    /// Of some changes of one bit, how many it would not fit with: what fits everything says nothing.
    pub firmness: usize,
}

impl Candidate {
    /// Whether the octets are values of the type, to the last one.
    pub fn fits(&self) -> bool {
        self.error.is_none()
    }

    /// What counts, the better the greater; apart from the order in which syntaxes are tried.
    fn weight(&self) -> impl Ord + use<> {
        (
            self.fits(),
            // Octets are scalars in a row by rules without tags, whatever they are.
            !self.is_loose(),
            // Fields without tags fit anything for a while.
            match self.fits() {
                true => 0,
                false if self.is_packed() => self.octets / 8,
                false => self.octets,
            },
            Reverse(self.faults()),
            // Elements with tags tell more of themselves than fields without.
            Reverse(
                TRIED.iter().position(|it| *it == self.syntax && !self.is_packed()).unwrap_or(TRIED.len()),
            ),
            self.again,
            Reverse(self.unknown),
            // One value that ends with the input tells more than several, and a message more than a part of one.
            !self.is_packed() || self.values <= 1,
            self.is_message,
            self.firmness,
            self.elements,
        )
    }

    /// Reasons against it: each kind counts once, constraints each.
    fn faults(&self) -> usize {
        self.violations + usize::from(!self.again && self.is_packed())
    }

    /// Whether it is a row of values that have hardly any parts each, by rules without tags.
    fn is_loose(&self) -> bool {
        self.is_packed() && self.values > 1 && self.elements < PARTS * self.values
    }

    fn is_packed(&self) -> bool {
        matches!(self.syntax, Rules::Oer | Rules::Aper | Rules::Uper)
    }

    /// Whether nothing that counts tells it from another.
    pub fn is_as_good_as(&self, other: &Self) -> bool {
        self.weight() == other.weight()
    }
}

/// Tries transfer syntaxes and types on octets; the best comes first. Without types, those are tried that no other refers
/// to, and messages; without a syntax, all. For several inputs, and to learn what was not tried, there is [`Detector`].
///
/// # Errors
/// [`PlanError`] for a type that is none.
pub fn detect(
    schema: &Schema,
    input: &[u8],
    types: &[&str],
    syntax: Option<Rules>,
) -> Result<Vec<Candidate>, PlanError> {
    Ok(Detector::new(schema, types, syntax)?.run(input))
}

/// What [`detect`] does, for any number of inputs.
#[derive(Debug)]
pub struct Detector {
    /// Messages come first.
    names: Vec<String>,
    /// Names of messages.
    messages: usize,
    plans: Vec<Plan>,
    /// The roots of the names in each plan.
    roots: Vec<Vec<Option<NodeId>>>,
    /// With the place of its plan.
    tried: Vec<(Rules, usize)>,
    trial: Trial,
    untried: usize,
}

impl Detector {
    /// Makes the plans.
    ///
    /// # Errors
    /// [`PlanError`] for a type that is none.
    pub fn new(schema: &Schema, types: &[&str], syntax: Option<Rules>) -> Result<Self, PlanError> {
        let messages: Vec<String> = schema.messages();
        let mut names: Vec<String> = match types {
            [] => schema.outermost_names().into_iter().chain(messages.iter().cloned()).collect(),
            _ => types.iter().map(|name| (*name).to_owned()).collect(),
        };
        let known: HashSet<&str> = messages.iter().map(String::as_str).collect();
        let is_message = |name: &String| known.contains(name.as_str());
        names.sort_by_key(|name| !is_message(name));
        names.dedup();
        let messages = names.iter().take_while(|name| is_message(name)).count();
        let all: Vec<Rules> = syntax.map_or_else(|| TRIED.to_vec(), |syntax| vec![syntax]);
        let (mut rules, mut tried) = (Vec::new(), Vec::new());
        let is_there = |syntax: &Rules| schema.has_plan(syntax.plan_rules());
        for syntax in all.into_iter().filter(|found| syntax.is_some() || is_there(found)) {
            // One plan serves BER, its subsets and texts.
            let wanted = if syntax.has_elements() { Rules::Ber } else { syntax.plan_rules() };
            let at = rules.iter().position(|it| *it == wanted).unwrap_or(rules.len());
            if at == rules.len() {
                rules.push(wanted);
            }
            tried.push((syntax, at));
        }
        let plans = schema.trial_plans(&rules, &names.iter().map(String::as_str).collect::<Vec<_>>())?;
        // Without instructions it has nothing of its own.
        tried.retain(|(syntax, at)| *syntax != Rules::Exer || has_xml_instructions(&plans[*at]));
        let mut roots: Vec<Vec<_>> = plans.iter().map(|plan| roots(plan, &names)).collect();
        // What an unknown type makes of bits means nothing.
        let lacking = schema.lacking(&names.iter().map(String::as_str).collect::<Vec<_>>());
        let lacking: HashSet<String> = lacking.into_iter().collect();
        for (index, _) in names.iter().enumerate().filter(|(_, name)| lacking.contains(*name)) {
            let packed = rules.iter().zip(&mut roots).filter(|(rules, _)| crate::gaps::is_packed(**rules));
            packed.for_each(|(_, roots)| roots[index] = None);
        }
        let trial = Trial { tape: Tape::new(), validator: Validator::new(), octets: Vec::new() };
        Ok(Self { names, messages, plans, roots, tried, trial, untried: 0 })
    }

    /// The types that are tried.
    pub fn types(&self) -> &[String] {
        &self.names
    }

    /// Pairs of a transfer syntax and a type that the last run did not come to, because the others took too much work.
    pub fn untried(&self) -> usize {
        self.untried
    }

    /// What an input may be; the best comes first.
    pub fn run(&mut self, input: &[u8]) -> Vec<Candidate> {
        let cut = input.len() > OCTETS;
        let input = &input[..input.len().min(OCTETS)];
        let is_text = cut || str::from_utf8(input).is_ok();
        let (mut found, mut work) = (Vec::new(), 0usize);
        self.untried = 0;
        for (names, is_message) in [(0..self.messages, true), (self.messages..self.names.len(), false)] {
            for (syntax, at) in self.tried.iter().filter(|(syntax, _)| is_text || !syntax.is_text()) {
                let plan = &self.plans[*at];
                let mut codec = TapeCodec::new(*syntax, plan);
                for index in names.clone() {
                    let (name, Some(root)) = (&self.names[index], self.roots[*at][index]) else { continue };
                    if work > WORK {
                        self.untried += 1;
                        continue;
                    }
                    let mut candidate = self.trial.run(&mut codec, plan, root, name, input, cut);
                    // Where values of a text are is looked up in all of it.
                    work += TRIAL + if syntax.is_text() { input.len() } else { candidate.octets };
                    if candidate.fits() && !syntax.is_text() && !candidate.is_loose() {
                        candidate.firmness = self.trial.firmness(&mut codec, plan, root, input, cut);
                        work += input.len() * CHANGES.min(input.len() * 8).min(CHANGED / input.len().max(1));
                    }
                    candidate.is_message = is_message;
                    found.push(candidate);
                }
            }
        }
        found.sort_by_key(|candidate| Reverse(candidate.weight()));
        found
    }
}

/// The roots of a plan with these names; there may be thousands.
pub(crate) fn roots(plan: &Plan, names: &[String]) -> Vec<Option<NodeId>> {
    let shape = &plan.shape;
    let by_name: HashMap<&str, NodeId> =
        shape.roots.iter().map(|root| (shape.name(root.name), root.node)).collect();
    names.iter().map(|name| by_name.get(name.as_str()).copied().or_else(|| plan.root(name))).collect()
}

#[derive(Debug)]
struct Trial {
    tape: Tape,
    validator: Validator,
    octets: Vec<u8>,
}

impl Trial {
    fn run(
        &mut self,
        codec: &mut TapeCodec<'_>,
        plan: &Plan,
        root: NodeId,
        name: &str,
        input: &[u8],
        cut: bool,
    ) -> Candidate {
        let syntax = codec.syntax();
        let mut candidate = Candidate {
            syntax,
            type_name: name.to_owned(),
            error: None,
            octets: 0,
            again: true,
            violations: 0,
            unknown: 0,
            values: 0,
            elements: 0,
            firmness: 0,
            is_message: false,
        };
        let mut options = Options::default();
        options.limits.elements = ELEMENTS;
        options.unknown = Unknown::Extensible;
        if input.is_empty() {
            candidate.error = Some("there are no bytes".to_owned());
        }
        let mut count = 0;
        for place in codec.places(input) {
            let mut at = place.start;
            while at < place.end && count < VALUES {
                let rest = &input[at..place.end];
                match codec.read(root, rest, &mut self.tape, &options) {
                    Ok(length) if length == 0 || length < rest.len() && !syntax.delimits() => {
                        candidate.error = Some(format!("{} bytes are left", rest.len() - length));
                        candidate.octets = at + length;
                        return candidate;
                    }
                    Ok(length) => {
                        self.value(codec, plan, root, &rest[..length], &mut candidate);
                        at += length;
                    }
                    // The end of what is looked at is not the end of the input.
                    Err(_) if cut && count > 0 => return candidate,
                    Err(error) => {
                        candidate.octets = (at as u64 + error.offset()).min(input.len() as u64) as usize;
                        candidate.error = Some(error.to_string());
                        return candidate;
                    }
                }
                count += 1;
            }
        }
        candidate.octets = input.len();
        candidate
    }

    /// Of changes of one bit each, evenly over the input, those that the type does not fit with.
    fn firmness(
        &mut self,
        codec: &mut TapeCodec<'_>,
        plan: &Plan,
        root: NodeId,
        input: &[u8],
        cut: bool,
    ) -> usize {
        let bits = input.len() * 8;
        let changes = CHANGES.min(bits).min(CHANGED / input.len().max(1));
        let mut octets = input.to_vec();
        let mut refused = 0;
        for change in 0..changes {
            let bit = change * bits / changes;
            let mask = 0x80 >> (bit % 8);
            octets[bit / 8] ^= mask;
            let other = self.run(codec, plan, root, "", &octets, cut);
            refused += usize::from(!other.fits() || other.violations > 0);
            octets[bit / 8] ^= mask;
        }
        refused
    }

    fn value(
        &mut self,
        codec: &mut TapeCodec<'_>,
        plan: &Plan,
        root: NodeId,
        input: &[u8],
        candidate: &mut Candidate,
    ) {
        let view = self.tape.view(input);
        // What BER keeps although it breaks the rules of its type fits less well.
        candidate.violations += self.validator.check(&plan.shape, root, view).len() + view.marks();
        candidate.unknown += unknown(plan, view);
        candidate.values += 1;
        candidate.elements += view.len();
        if !candidate.syntax.is_text() {
            self.octets.clear();
            let written = codec.write(view, &mut self.octets);
            candidate.again &= written.is_ok() && self.octets == input;
        }
    }
}

/// Whether instructions say how XML is written.
fn has_xml_instructions(plan: &Plan) -> bool {
    plan.shape.instructions.as_ref().is_some_and(|known| known.xml.is_some())
}

fn unknown(plan: &Plan, view: View<'_>) -> usize {
    let is_unknown = |token: &Token<'_>| match token {
        Token::Unknown { .. } => true,
        Token::Leaf { leaf: Leaf::Addition(_), .. } => true,
        Token::Leaf { node, .. } => {
            let node = plan.shape.node(*node);
            node.kind == Kind::Open || node.containing.is_some()
        }
        _ => false,
    };
    view.tokens().filter(is_unknown).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn octets_tell_what_they_are() {
        let schema = Schema::from_text(
            "a.asn",
            "A DEFINITIONS AUTOMATIC TAGS ::= BEGIN
             Call ::= SEQUENCE { number INTEGER (0..1000), text UTF8String, answered BOOLEAN, at INTEGER (0..70000) }
             Name ::= [APPLICATION 7] SEQUENCE { first UTF8String, last UTF8String } END",
        );
        assert!(!schema.has_errors(), "{}", schema.render(false));
        let json = br#"{"number": 31, "text": "hello", "answered": true, "at": 65537}"#;
        for syntax in TRIED.into_iter().filter(|it| !matches!(it, Rules::Ber | Rules::Exer)) {
            let rules = [Rules::Jer.plan_rules(), syntax.plan_rules()];
            let plans = schema.plans(&rules, &["Call"]).unwrap();
            let root = plans[0].root("Call").unwrap();
            let (mut tape, mut octets) = (Tape::new(), Vec::new());
            TapeCodec::new(Rules::Jer, &plans[0]).read(root, json, &mut tape, &Options::default()).unwrap();
            TapeCodec::new(syntax, &plans[1]).write(tape.view(json), &mut octets).unwrap();
            let found = detect(&schema, &octets, &[], None).unwrap();
            assert_eq!((found[0].syntax, found[0].type_name.as_str()), (syntax, "A.Call"), "{found:#?}");
            assert!(found[0].fits() && !found[0].is_as_good_as(&found[1]));
        }
        // A length that is longer than it needs to be is BER alone.
        let octets = [0x67, 0x81, 0x06, 0x80, 0x01, b'A', 0x81, 0x01, b'B'];
        let found = detect(&schema, &octets, &[], None).unwrap();
        assert_eq!((found[0].syntax, found[0].type_name.as_str()), (Rules::Ber, "A.Name"));
    }

    #[test]
    fn a_message_beats_scalars_and_no_type_is_left_out() {
        let mut text = "A DEFINITIONS AUTOMATIC TAGS ::= BEGIN
             Wrapper ::= SEQUENCE { pdu Call-PDU, more INTEGER }
             Call-PDU ::= CHOICE { start StartMessage, ... }
             StartMessage ::= SEQUENCE { id INTEGER (0..65535), name UTF8String, flags BIT STRING (SIZE (4)) }\n"
            .to_owned();
        for number in 0..600 {
            text += &format!("T{number} ::= INTEGER (0..255)\n");
        }
        let schema = Schema::from_text("a.asn", &(text + "END"));
        assert!(!schema.has_errors(), "{}", schema.render(false));
        let json = br#"{"start": {"id": 7, "name": "a message", "flags": "A0"}}"#;
        let json = str::from_utf8(json).unwrap().replace("\"A0\"", "{\"value\": \"A0\", \"length\": 4}");
        for syntax in [Rules::Oer, Rules::Aper, Rules::Uper] {
            let rules = [Rules::Jer.plan_rules(), syntax.plan_rules()];
            let plans = schema.plans(&rules, &["Call-PDU"]).unwrap();
            let root = plans[0].root("Call-PDU").unwrap();
            let (mut tape, mut octets) = (Tape::new(), Vec::new());
            let mut reader = TapeCodec::new(Rules::Jer, &plans[0]);
            reader.read(root, json.as_bytes(), &mut tape, &Options::default()).unwrap();
            TapeCodec::new(syntax, &plans[1]).write(tape.view(json.as_bytes()), &mut octets).unwrap();
            let mut detector = Detector::new(&schema, &[], None).unwrap();
            let found = detector.run(&octets);
            assert_eq!(
                (found[0].syntax, found[0].type_name.as_str()),
                (syntax, "A.Call-PDU"),
                "{:#?}",
                &found[..3]
            );
            assert_eq!((detector.untried(), detector.types().len()), (0, 603));
            // The scalars fit too, by OER: a row of them comes last of what fits.
            let row = found.iter().find(|it| it.type_name == "A.T7" && it.syntax == Rules::Oer).unwrap();
            assert!(row.fits() && row.values == octets.len());
        }
    }
}
