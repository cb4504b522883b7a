//! Values of the plan engine: what is read is written, what is written is read as the same.
//!
//! The first octet of an input selects the type, and by its highest bit a strict reading; the rest is the encoding.

use std::sync::LazyLock;

use tercet::{CodecError, Rules, Schema, SchemaOptions, TapeCodec};
use tercet_dynamic::{ErrorKind, NodeId, Options, Plan, Tape, Value, diff, json, sample, validate};

use super::told;
use crate::{corpora, places};

/// The types that an input may be of; the first five have generated code.
const ROOTS: [&str; 12] = [
    "Zoo.Zoo",
    "Zoo.Tree",
    "Zoo.Names",
    "PersonnelRecord",
    "CallRecord",
    "Zoo.Shape",
    "Zoo.Animal",
    "Zoo.Texts",
    "Zoo.Times",
    "Zoo.Message",
    "Rest.Rest",
    "Rest.Beasts",
];

/// A plan for a transfer syntax, with the nodes of the types.
struct Ground {
    plan: Plan,
    roots: Vec<NodeId>,
}

/// One for each transfer syntax, in the order of [`Rules::ALL`].
static GROUNDS: LazyLock<Vec<Ground>> = LazyLock::new(|| {
    let repository = corpora::repository();
    let paths = [
        "crates/conformance/tests/generated/zoo.asn",
        "crates/conformance/src/fuzz/rest.asn",
        "schemas/personnel",
        "schemas/demo",
    ];
    let paths = paths.map(|path| repository.join(path));
    let schema = Schema::load(&paths, &SchemaOptions::default()).expect("schemas of our own");
    assert!(!schema.has_errors(), "{}", schema.render(false));
    let rules = Rules::ALL.map(Rules::plan_rules);
    let plans = schema.plans(&rules, &ROOTS).expect("plans of our own");
    let ground = |plan: Plan| {
        let roots = ROOTS.iter().map(|root| plan.root(root).expect("a root that was asked for")).collect();
        Ground { plan, roots }
    };
    plans.into_iter().map(ground).collect()
});

fn ground(syntax: Rules) -> &'static Ground {
    let at = Rules::ALL.iter().position(|known| *known == syntax).unwrap_or_default();
    &GROUNDS[at]
}

fn check(syntax: Rules, input: &[u8]) {
    let Some((&first, octets)) = input.split_first() else { return };
    let Ground { plan, roots } = ground(syntax);
    let root = roots[usize::from(first & 0x7F) % roots.len()];
    let mut options = if first & 0x80 == 0 { Options::default() } else { Options::strict(syntax) };
    // A value that is the DEFAULT is the same whether it is there or not.
    options.fill_defaults = true;
    if !syntax.is_text() {
        options.rules = syntax;
        let checked = places::check(plan, root, octets, &options);
        checked.unwrap_or_else(|wrong| panic!("{syntax}: {octets:02X?}: {wrong}"));
    }
    let mut codec = TapeCodec::new(syntax, plan);
    let mut tape = Tape::new();
    let length = match codec.read(root, octets, &mut tape, &options) {
        Ok(length) => length,
        Err(error) => {
            assert!(error.offset() <= octets.len() as u64, "{error} in {} octets", octets.len());
            return told(&error);
        }
    };
    assert!(length <= octets.len(), "{length} octets read of {}", octets.len());
    let shown = text(plan, &tape, octets);
    let mut written = Vec::new();
    if let Err(error) = codec.write(tape.view(octets), &mut written) {
        panic!("{syntax} reads {shown} and does not write it: {error}");
    }
    if syntax.is_canonical() {
        assert!(written == octets[..length], "{syntax} writes {written:02X?} for {:02X?}", &octets[..length]);
    }
    let mut again = Tape::new();
    match codec.read(root, &written, &mut again, &options) {
        Ok(_) => {}
        // Elements without octets have a budget, and indefinite lengths become definite ones and the reverse.
        Err(CodecError::Octets(error)) if error.kind() == ErrorKind::LimitExceeded => return,
        Err(error) => panic!("{syntax} writes {written:02X?} for {shown} and does not read it: {error}"),
    }
    let differences = diff::compare(&plan.shape, root, tape.view(octets), again.view(&written));
    assert!(differences.is_empty(), "{syntax}: {shown} became {}", text(plan, &again, &written));
    let mut third = Vec::new();
    codec.write(again.view(&written), &mut third).expect("what was written before");
    assert!(third == written, "{syntax}: {written:02X?} became {third:02X?}");
    owned(plan, root, &tape, octets);
}

/// What else is done with a value survives it.
fn owned(plan: &Plan, root: NodeId, tape: &Tape, octets: &[u8]) {
    let shape = &plan.shape;
    if let Some(violation) = validate::check(shape, root, tape.view(octets)).first() {
        told(violation);
    }
    let value = Value::from_view(shape, tape.view(octets)).expect("a value of what was read");
    let copy = value.clone();
    assert!(format!("{value}") == format!("{copy}"), "a copy looks the same");
    let _ = format!("{value:?}");
}

fn text(plan: &Plan, tape: &Tape, octets: &[u8]) -> String {
    let mut out = Vec::new();
    json::write(&plan.shape, tape.view(octets), &mut out, &json::Options::default());
    String::from_utf8(out).expect("JSON is UTF-8")
}

/// Values that the sampler makes, borders first, each in the strict and the usual reading.
pub(super) fn seeds(syntax: Rules) -> Vec<Vec<u8>> {
    let Ground { plan, roots } = ground(syntax);
    let mut options = sample::Options::default();
    options.elements = 40;
    let mut sampler = sample::Sampler::new(&plan.shape, options);
    let mut codec = TapeCodec::new(syntax, plan);
    let mut seeds = Vec::new();
    let mut tape = Tape::new();
    for i in 0..roots.len() * 24 {
        let kind = i % roots.len();
        if sampler.sample(roots[kind], &mut tape).is_err() {
            continue;
        }
        let strict = if i % 5 == 0 { 0 } else { 0x80 };
        let mut seed = vec![kind as u8 | strict];
        if codec.write(tape.view(&[]), &mut seed).is_ok() && seed.len() <= 2048 {
            seeds.push(seed);
        }
    }
    seeds
}

/// A target and its seeds for a transfer syntax.
macro_rules! targets {
    ($($run:ident, $seeds:ident, $syntax:ident;)*) => {$(
        pub(super) fn $run(input: &[u8]) {
            check(Rules::$syntax, input);
        }

        pub(super) fn $seeds() -> Vec<Vec<u8>> {
            seeds(Rules::$syntax)
        }
    )*};
}

targets! {
    ber, ber_seeds, Ber;
    der, der_seeds, Der;
    cer, cer_seeds, Cer;
    aper, aper_seeds, Aper;
    uper, uper_seeds, Uper;
    canonical_aper, canonical_aper_seeds, CanonicalAper;
    canonical_uper, canonical_uper_seeds, CanonicalUper;
    oer, oer_seeds, Oer;
    coer, coer_seeds, Coer;
    xer, xer_seeds, Xer;
    cxer, cxer_seeds, Cxer;
    jer, jer_seeds, Jer;
    gser, gser_seeds, Gser;
}

/// How many octets of an input are a value of a type, as generated code has to say it.
pub(super) fn verdict(syntax: Rules, kind: usize, octets: &[u8]) -> Result<usize, tercet_dynamic::Error> {
    let Ground { plan, roots } = ground(syntax);
    let mut options = Options::default();
    options.rules = syntax.plan_rules();
    options.strict_enumerations = true;
    tercet_dynamic::decode(plan, roots[kind], octets, &mut tercet_dynamic::Discard, &options)
}

/// LDAP messages that the sampler makes.
pub(super) fn ldap() -> Vec<Vec<u8>> {
    let folder = corpora::repository().join("schemas/ldap");
    let schema = Schema::load(&[folder], &SchemaOptions::default()).expect("a schema of our own");
    let plan = schema.plan(Rules::Ber, &["LDAPMessage"]).expect("a plan of our own");
    let root = plan.root("LDAPMessage").expect("a root that was asked for");
    let mut sampler = sample::Sampler::new(&plan.shape, sample::Options::default());
    let mut tape = Tape::new();
    let mut seeds = Vec::new();
    for _ in 0..400 {
        let mut seed = Vec::new();
        if sampler.sample(root, &mut tape).is_ok()
            && TapeCodec::new(Rules::Ber, &plan).write(tape.view(&[]), &mut seed).is_ok()
            && seed.len() <= 2048
        {
            seeds.push(seed);
        }
    }
    seeds
}
