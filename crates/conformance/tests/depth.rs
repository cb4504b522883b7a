//! Generated code has the engine's measure of depth, in all encoding rules, when it reads and when it writes.

#[allow(dead_code)]
mod depths {
    include!(concat!(env!("OUT_DIR"), "/depths.rs"));
}
#[allow(dead_code)]
mod depths_tabled {
    include!(concat!(env!("OUT_DIR"), "/depths_tabled.rs"));
}
#[allow(dead_code)]
mod small {
    include!(concat!(env!("OUT_DIR"), "/small.rs"));
}
#[path = "generated/zoo.rs"]
#[rustfmt::skip]
#[allow(dead_code)]
mod zoo;

use tercet::dynamic::{Encoder, Options, Tape, Value, decode};
use tercet::plan::Plan;
use tercet::runtime::ErrorKind;
use tercet::runtime::codec::{self, Decode, Encode};
use tercet::{Rules, RustOptions, Schema, TapeCodec};
use tercet_conformance::generated::ALL;

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
    TapeCodec::new(Rules::Jer, plan).read(root, json.as_bytes(), &mut tape, &options).unwrap();
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

/// A value around another one: as JSON, and how many values with parts it adds.
type Way = (&'static str, &'static str, u16);

/// Every way for a value of `Nest` to be in another one.
const WAYS: [Way; 10] = [
    (r#"{"nest":"#, "}", 1),
    (r#"{"pair":{"n":null,"in":"#, "}}", 2),
    (r#"{"pair":{"n":null,"in":{"leaf":true},"later":"#, "}}", 2),
    (r#"{"pair":{"n":null,"in":{"leaf":true},"group":"#, "}}", 2),
    (r#"{"set":{"in":"#, "}}", 2),
    (r#"{"many":["#, "]}", 2),
    (r#"{"held":{"containing":"#, "}}", 2),
    (r#"{"bits":{"containing":"#, "}}", 2),
    (r#"{"open":{"code":1,"value":"#, "}}", 3),
    (r#"{"added":"#, "}", 1),
];

/// Values of `Nest` without another one inside.
const INNERMOST: [(&str, u16); 5] = [
    (r#"{"leaf":true}"#, 1),
    (r#"{"tail":{"list":[{"end":null}]}}"#, 4),
    (r#"{"open":{"code":2,"value":true}}"#, 3),
    (r#"{"late":{"n":null,"late":true}}"#, 2),
    (r#"{"late":{"n":null,"more":true}}"#, 2),
];

/// Values with so many values inside one another: each way again and again, each innermost value, and what lacks by `nest`.
fn nests(depth: u16) -> Vec<(String, usize, u16, u16, usize)> {
    let mut all = Vec::new();
    for (way, (before, after, level)) in WAYS.into_iter().enumerate() {
        for (last, (innermost, inner)) in INNERMOST.into_iter().enumerate() {
            let (times, rest) = ((depth - inner) / level, (depth - inner) % level);
            let json = [
                WAYS[0].0.repeat(rest.into()),
                before.repeat(times.into()),
                innermost.to_owned(),
                after.repeat(times.into()),
                WAYS[0].1.repeat(rest.into()),
            ];
            all.push((json.concat(), way, times, rest, last));
        }
    }
    all
}

const EVERY: [Rules; 9] = Rules::BINARY;

/// What both verdicts of a limit of 64 are.
fn verdict(depth: u16) -> Result<(), ErrorKind> {
    if depth > 64 { Err(ErrorKind::DepthLimit) } else { Ok(()) }
}

fn plans_of(file: &str) -> Vec<Plan> {
    let generated = ALL.iter().find(|generated| generated.file.ends_with(file)).unwrap();
    generated.load().unwrap().plans(&EVERY, generated.roots).unwrap()
}

/// Reads JSON without the limit of 64.
fn deep(plan: &Plan, root: &str, json: &str) -> Tape {
    let (mut tape, mut options) = (Tape::new(), Options::default());
    options.limits.depth = 1000;
    let root = plan.root(root).unwrap();
    let read = TapeCodec::new(Rules::Jer, plan).read(root, json.as_bytes(), &mut tape, &options);
    read.unwrap_or_else(|error| panic!("{error} in {json}"));
    tape
}

macro_rules! nest {
    ($module:ident, $way:expr, $inside:expr) => {{
        use $module::Nest as N;
        let (inside, leaf) = (Box::new($inside), || Box::new(N::Leaf(true)));
        let mut pair = $module::NestPair {
            n: (),
            r#in: leaf(),
            later: None,
            group: None,
            extension_additions: codec::UnknownAdditions::NONE,
        };
        match $way {
            0 => N::Nest(inside),
            1 => {
                pair.r#in = inside;
                N::Pair(pair)
            }
            2 => {
                pair.later = Some(inside);
                N::Pair(pair)
            }
            3 => {
                pair.group = Some(inside);
                N::Pair(pair)
            }
            4 => N::Set($module::NestSet { r#in: inside }),
            5 => N::Many(vec![*inside]),
            6 => N::Held(codec::Contained::Value(inside)),
            7 => N::Bits(codec::Contained::Value(inside)),
            8 => N::Open($module::Opened { code: 1, value: $module::OpenedValue::Nest(inside) }),
            _ => N::Added(inside),
        }
    }};
}

macro_rules! every_way {
    ($module:ident, $file:literal, $serde:expr, $($marker:ident $rules:ident),*) => {
        let plans = plans_of($file);
        for depth in [64, 65, 130] {
            for around in [false, true] {
                let prefix = if around { 2 } else { 0 };
                for (json, way, times, rest, last) in nests(depth - prefix) {
                    let (name, json) = match around {
                        true => ("Around", format!(r#"{{"nests":[{json}]}}"#)),
                        false => ("Nest", json),
                    };
                    let innermost = match last {
                        0 => $module::Nest::Leaf(true),
                        1 => $module::Nest::Tail($module::Tail { list: vec![$module::TailListChoice::End(())] }),
                        2 => $module::Nest::Open($module::Opened { code: 2, value: $module::OpenedValue::Boolean(true) }),
                        _ => $module::Nest::Late($module::NestLate {
                            n: (),
                            late: (last == 3).then_some(true),
                            more: (last == 4).then_some(true),
                            extension_additions: codec::UnknownAdditions::NONE,
                        }),
                    };
                    let inner = (0..times).fold(innermost, |inside, _| nest!($module, way, inside));
                    let value = (0..rest).fold(inner, |inside, _| nest!($module, 0, inside));
                    let value = $module::Around { nests: vec![value] };
                    $(
                        let what = format!("{depth} by {}: {json}", stringify!($marker));
                        let plan = &plans[EVERY.iter().position(|known| *known == Rules::$rules).unwrap()];
                        let (root, tape) = (plan.root(name).unwrap(), deep(plan, name, &json));
                        let mut octets = Vec::new();
                        Encoder::new().encode(plan, Rules::$rules, tape.view(&[]), &mut octets).unwrap();
                        // The engine reads, and writes what no decoder has read.
                        let mut options = Options::default();
                        options.rules = Rules::$rules;
                        let read = decode(plan, root, &octets, &mut Tape::new(), &options);
                        assert_eq!(read.map(|_| ()).map_err(|error| error.kind()), verdict(depth), "{what}, read by the engine");
                        let mut made = Tape::new();
                        Value::from_view(&plan.shape, tape.view(&[])).unwrap().to_tape(&plan.shape, root, &mut made).unwrap();
                        let written = Encoder::new().encode(plan, Rules::$rules, made.view(&[]), &mut Vec::new());
                        assert_eq!(written.map_err(|error| error.kind()), verdict(depth), "{what}, written by the engine");
                        // Generated code.
                        let (read, written) = if around {
                            (
                                <$module::Around<'_> as Decode<'_, codec::$marker>>::decode(&octets).map(|_| ()),
                                Encode::<codec::$marker>::encode(&value),
                            )
                        } else {
                            (
                                <$module::Nest<'_> as Decode<'_, codec::$marker>>::decode(&octets).map(|_| ()),
                                Encode::<codec::$marker>::encode(&value.nests[0]),
                            )
                        };
                        assert_eq!(read.map_err(|fault| fault.kind()), verdict(depth), "{what}, read");
                        match written {
                            Ok(written) => assert_eq!((Ok(()), written), (verdict(depth), octets), "{what}, written"),
                            Err(fault) => assert_eq!(Err(fault.kind()), verdict(depth), "{what}, written"),
                        }
                    )*
                    $serde(&json, &value, around, depth);
                }
            }
        }
    };
}

/// JER of generated types, in the words of all other paths.
fn serde(json: &str, value: &depths::Around<'_>, around: bool, depth: u16) {
    let (read, written) = if around {
        (serde_json::from_str::<depths::Around<'_>>(json).map(|_| ()), serde_json::to_string(value))
    } else {
        (serde_json::from_str::<depths::Nest<'_>>(json).map(|_| ()), serde_json::to_string(&value.nests[0]))
    };
    for (what, done) in [("read", read), ("written", written.map(|text| assert_eq!(text, json)))] {
        match done {
            Ok(()) => assert!(depth <= 64, "{depth} {what}: {json}"),
            Err(error) => {
                let told = error.to_string();
                // The parser has a limit of its own, of 128 levels of JSON.
                let is_limit = told.contains(ErrorKind::DepthLimit.message())
                    || depth > 128 && told.contains("recursion limit");
                assert!(depth > 64 && is_limit, "{depth} {what}: {told}: {json}");
            }
        }
    }
}

#[test]
fn every_way_to_be_inside_counts_in_every_rule() {
    every_way!(
        depths, "depths.rs", serde, Ber Ber, Der Der, Cer Cer, Aper Aper, Uper Uper, CanonicalAper CanonicalAper,
        CanonicalUper CanonicalUper, Oer Oer, Coer Coer
    );
}

#[test]
fn every_way_to_be_inside_counts_by_tables() {
    every_way!(
        depths_tabled, "depths_tabled.rs", |_: &str, _: &depths_tabled::Around<'_>, _: bool, _: u16| {}, Aper Aper,
        Uper Uper, CanonicalAper CanonicalAper, CanonicalUper CanonicalUper
    );
}

/// Types that do not contain themselves count where they are deeper than the limit, and cost nothing else.
#[test]
fn types_that_are_too_deep_by_themselves_count() {
    for (lists, counts) in [(64, false), (65, true)] {
        let text =
            format!("M DEFINITIONS AUTOMATIC TAGS ::= BEGIN T ::= {} NULL END", "SEQUENCE OF ".repeat(lists));
        let rules = [Rules::Ber, Rules::Aper, Rules::Oer];
        let rust = Schema::from_text("m.asn", &text).rust(&rules, &["T"], &RustOptions::default()).unwrap();
        let count = |what: &str| rust.matches(what).count();
        let expected = if counts { lists } else { 0 };
        assert_eq!(count("r.begin_value()?"), expected, "{lists} lists in BER");
        assert_eq!(count("r.enter()?"), 2 * expected, "{lists} lists in PER and OER");
        assert_eq!(count("w.begin_value()?"), 3 * expected, "{lists} lists written");
    }
}
