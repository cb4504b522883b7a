//! Plan files, and what follows the plans in them.

use tercet::dynamic::{Options, Tape, Value, sample, validate};
use tercet::plan::{NodeId, Plan, bytes};
use tercet::{Rules, Schema, TapeCodec};

use super::told;

/// A plan file has one form: what is read is written the same, and can be followed by everything that follows plans. The
/// sum is made to fit, since no damage would get past it.
pub(super) fn plan(input: &[u8]) {
    let mut octets = input.to_vec();
    bytes::seal(&mut octets);
    let plans = match bytes::read(&octets) {
        Ok(plans) => plans,
        Err(error) => {
            assert!(error.offset <= octets.len() as u64, "{error} in {} octets", octets.len());
            return told(&error);
        }
    };
    assert!(bytes::write(&plans).as_ref() == Some(&octets), "another form of the same plans");
    for plan in &plans {
        drop(plan.dump());
        let roots = plan.shape.roots.iter().map(|root| root.node);
        roots.take(ROOTS).for_each(|root| follow(plan, root, &octets));
    }
}

/// Roots of a plan that are tried.
const ROOTS: usize = 4;

/// Samples of a type in every syntax, and octets that are not made for it, are read and written, or refused.
fn follow(plan: &Plan, root: NodeId, octets: &[u8]) {
    let mut options = sample::Options::default();
    options.elements = 30;
    let mut sampler = sample::Sampler::new(&plan.shape, options);
    let (mut tape, mut samples) = (Tape::new(), Vec::new());
    for _ in 0..3 {
        if let Err(error) = sampler.sample(root, &mut tape) {
            told(&error);
            continue;
        }
        let _ = validate::check(&plan.shape, root, tape.view(&[]));
        for syntax in syntaxes(plan) {
            let mut out = Vec::new();
            match TapeCodec::new(syntax, plan).write(tape.view(&[]), &mut out) {
                Ok(()) => samples.push((syntax, out)),
                Err(error) => told(&error),
            }
        }
    }
    let foreign = [&octets[octets.len() / 2..], &[0; 40], &[0xFF; 40], &FOREIGN];
    for syntax in syntaxes(plan) {
        let own = samples.iter().filter(|(of, _)| *of == syntax).map(|(_, octets)| &octets[..]);
        own.chain(foreign).for_each(|input| read(syntax, plan, root, input));
    }
}

/// SEQUENCEs, lists and strings in BER; lengths and presences in PER and OER.
const FOREIGN: [u8; 24] = [
    0x30, 0x16, 0xA0, 0x03, 0x80, 0x01, 0x05, 0xA1, 0x05, 0x30, 0x03, 0x02, 0x01, 0x09, 0x81, 0x02, 0x41,
    0x42, 0x82, 0x01, 0x07, 0x83, 0x01, 0xFF,
];

/// The transfer syntaxes of a plan.
fn syntaxes(plan: &Plan) -> impl Iterator<Item = Rules> {
    let is_served = |syntax: &Rules| syntax.is_text() || plan.serves(syntax.plan_rules());
    Rules::ALL.into_iter().filter(is_served)
}

fn read(syntax: Rules, plan: &Plan, root: NodeId, input: &[u8]) {
    let mut options = Options::default();
    options.fill_defaults = true;
    let (mut codec, mut tape) = (TapeCodec::new(syntax, plan), Tape::new());
    if let Err(error) = codec.read(root, input, &mut tape, &options) {
        assert!(error.offset() <= input.len() as u64, "{error} in {} octets", input.len());
        told(&error);
        if !codec.finish_partial(root, input, &mut tape, &options, &error) {
            return;
        }
    }
    let view = tape.view(input);
    let _ = validate::check(&plan.shape, root, view);
    if let Some(value) = Value::from_view(&plan.shape, view) {
        let _ = value.to_string();
    }
    for syntax in syntaxes(plan) {
        if let Err(error) = TapeCodec::new(syntax, plan).write(view, &mut Vec::new()) {
            told(&error);
        }
    }
}

/// Plans of small types with all that plans have, by each family of rules.
pub(super) fn plan_seeds() -> Vec<Vec<u8>> {
    let texts = [
        "T ::= SEQUENCE { a INTEGER (1..9, ..., 20) DEFAULT 3, b OCTET STRING (SIZE (2)) OPTIONAL, ..., \
         [[ c BMPString, d ENUMERATED { x, y, ..., z } ]], e T OPTIONAL }",
        "T ::= CHOICE { a [3] SET OF IA5String (FROM (\"a\"..\"d\") ^ SIZE (1..4)), b NULL, \
         c OCTET STRING (CONTAINING U), ..., d REAL (-1.0..<2.0) } U ::= SET { b BIT STRING { one (1) }, a TIME }",
        "C ::= CLASS { &id INTEGER UNIQUE, &Type } WITH SYNTAX { &id IS &Type } \
         S C ::= { { 1 IS INTEGER } | { 7 IS UTF8String }, ... } \
         T ::= SEQUENCE { id C.&id ({S}), value C.&Type ({S}{@id}) }",
        "T ::= SEQUENCE OF U (WITH COMPONENTS { ..., a (ALL EXCEPT 5) PRESENT }) \
         U ::= SEQUENCE { a [0] V OPTIONAL, b OBJECT IDENTIFIER DEFAULT {1 2 3} } V ::= INTEGER (W | 9) W ::= INTEGER (2..5)",
    ];
    let rules = [Rules::Ber, Rules::Aper, Rules::CanonicalUper, Rules::Oer];
    let seeds = texts.iter().flat_map(|text| {
        let module = format!("M DEFINITIONS AUTOMATIC TAGS ::= BEGIN {text} END");
        let schema = Schema::from_text("seed.asn", &module);
        assert!(!schema.has_errors(), "{}", schema.render(false));
        let all = schema.plans(&rules, &["T"]).expect("plans of our own");
        let each = all.chunks(1).map(bytes::write).chain([bytes::write(&all)]).collect::<Vec<_>>();
        each.into_iter().flatten()
    });
    seeds.collect()
}
