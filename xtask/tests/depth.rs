//! Generated code has the engine's measure of depth, in all encoding rules, when it reads and when it writes.

#[path = "generated/small.rs"]
#[rustfmt::skip]
#[allow(dead_code)]
mod small;
#[path = "generated/zoo.rs"]
#[rustfmt::skip]
#[allow(dead_code)]
mod zoo;

use tercet::dynamic::{Encoder, Options, Tape, decode};
use tercet::plan::{Plan, Rules};
use tercet::runtime::ErrorKind;
use tercet::runtime::codec::{self, Decode, Encode};
use tercet::{TapeCodec, TransferSyntax};
use xtask::generated::ALL;

/// Trees of JSON with so many values inside one another, along each way to go.
fn trees(depth: usize) -> Vec<String> {
    // A list of twigs is a value too.
    let pairs = (depth - 1) / 2;
    let leaf = if depth.is_multiple_of(2) { r#"{"value":1,"left":{"value":2}}"# } else { r#"{"value":1}"# };
    vec![
        format!("{}{}{}", r#"{"value":0,"left":"#.repeat(depth - 1), r#"{"value":1}"#, "}".repeat(depth - 1)),
        format!("{}{leaf}{}", r#"{"value":0,"twigs":["#.repeat(pairs), "]}".repeat(pairs)),
    ]
}

/// The octets by some rules, however deep the value is.
fn octets(plans: &[Plan], rules: Rules, json: &str) -> Vec<u8> {
    let plan = plan_of(plans, rules);
    let (mut tape, mut out, mut options) = (Tape::new(), Vec::new(), Options::default());
    options.limits.depth = 1000;
    let root = plan.root("Tree").unwrap();
    TapeCodec::new(TransferSyntax::Jer, plan).read(root, json.as_bytes(), &mut tape, &options).unwrap();
    Encoder::new().encode(plan, rules, tape.view(&[]), &mut out).unwrap();
    out
}

fn plan_of(plans: &[Plan], rules: Rules) -> &Plan {
    &plans[RULES.iter().position(|known| *known == rules).unwrap()]
}

const RULES: [Rules; 5] = [Rules::Ber, Rules::Der, Rules::Aper, Rules::Uper, Rules::Oer];

fn plans() -> Vec<Plan> {
    let generated = ALL.iter().find(|generated| generated.file.ends_with("zoo.rs")).unwrap();
    generated.load().unwrap().plans(&RULES, generated.roots).unwrap()
}

macro_rules! depths {
    ($ty:ty, $($marker:ident),*) => {
        let plans = plans();
        for depth in [62, 63, 64, 65, 66, 200] {
            for json in trees(depth) {
                $(
                    let read = octets(&plans, Rules::$marker, &json);
                    let ours = <$ty as Decode<'_, codec::$marker>>::decode(&read).map(|_| ());
                    let ours = ours.map_err(|fault| fault.kind());
                    let mut options = Options::default();
                    options.rules = Rules::$marker;
                    let plan = plan_of(&plans, Rules::$marker);
                    let root = plan.root("Tree").unwrap();
                    let engine = decode(plan, root, &read, &mut Tape::new(), &options).map(|_| ());
                    let engine = engine.map_err(|error| error.kind());
                    let expected = if depth > 64 { Err(ErrorKind::DepthLimit) } else { Ok(()) };
                    assert_eq!(ours, expected, "{depth} by {}", stringify!($marker));
                    assert_eq!(engine, expected, "{depth} by the engine in {}", stringify!($marker));
                )*
            }
        }
    };
}

#[test]
fn generated_code_reads_what_the_engine_reads() {
    depths!(zoo::Tree, Ber, Der, Aper, Uper, Oer);
}

#[test]
fn generated_code_by_tables_reads_what_the_engine_reads() {
    depths!(small::Tree, Ber, Der, Aper, Uper, Oer);
}

macro_rules! writes {
    ($module:ident, $($marker:ident),*) => {
        for depth in [63, 64, 65, 200] {
            let leaf = $module::Tree { value: 1, left: None, right: None, twigs: None };
            let tree = (1..depth).fold(leaf, |inner, _| $module::Tree {
                value: 0,
                left: None,
                right: Some(Box::new(inner)),
                twigs: None,
            });
            $(
                let written = Encode::<codec::$marker>::encode(&tree).map(|_| ()).map_err(|fault| fault.kind());
                let expected = if depth > 64 { Err(ErrorKind::DepthLimit) } else { Ok(()) };
                assert_eq!(written, expected, "{depth} by {}", stringify!($marker));
            )*
        }
    };
}

#[test]
fn generated_code_writes_what_it_reads() {
    writes!(zoo, Ber, Der, Cer, Aper, Uper, CanonicalAper, CanonicalUper, Oer, Coer);
    writes!(small, Ber, Der, Cer, Aper, Uper, CanonicalAper, CanonicalUper, Oer, Coer);
}
