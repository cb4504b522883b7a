//! What the program answers, beside what the engine makes of the same octets.

use tercet::{CodecError, Rules, TapeCodec};
use tercet_dynamic::{Encoder, ErrorKind, NodeId, Options, Plan, Tape, Token, Value, json, validate};
use tercet_plan::{Kind, Shape};

use super::cases::{Case, Origin};
use super::{Outcome, RULES};
use crate::hex;

/// Counts and notes what an answer says.
pub(super) fn compare(plans: &[Plan], roots: &[String], case: &Case, answer: &str, outcome: &mut Outcome) {
    let (syntax, plan) = (RULES[case.rules].0, &plans[case.rules]);
    let Some(root) = plan.root(&roots[case.root]) else { return };
    if case.origin == Origin::Foreign {
        return compare_written(plans, &roots[case.root], root, case, answer, outcome);
    }
    // A path in a text may have spaces; behind it stands what is wrong.
    let (answer, detail) = answer.split_once('\t').unwrap_or((answer, ""));
    let mut words: Vec<&str> = answer.splitn(5, ' ').collect();
    let mut engine = read(plan, syntax, root, &case.octets, false);
    let path = words.get(4).copied().unwrap_or_default();
    // A type in Rust may be too narrow for what breaks a constraint: then the engine has to see that it is broken.
    let agrees = matches!((&engine, &words[..]), (Err(fault), ["read", kind, at, bit, ..])
        if fault.kind == *kind && fault.at.to_string() == *at && fault.bit.to_string() == *bit);
    if !agrees
        && matches!(words[..], ["read", "integer-range" | "constraint-violated" | "unknown-enumeration", ..])
        && let Err(fault) = read(plan, syntax, root, &case.octets, true)
    {
        if syntax.is_text() && (engine.is_err() || fault.kind != "text" && is_same_path(path, &fault.path)) {
            // Where a constraint is broken in a text is known to the generated code alone.
            return outcome.verdicts.count(true);
        }
        if fault.kind == "constraint-violated" {
            words[1] = fault.kind;
        }
        engine = Err(fault);
    }
    let engine = engine;
    let shown = || format!("{} {syntax} {}", roots[case.root], hex::show(&case.octets));
    let damaged = case.origin == Origin::Damaged;
    let tally = if damaged { &mut outcome.verdicts } else { &mut outcome.values };
    match (&engine, words[0]) {
        (Ok((value, length)), "ok") => {
            let again = hex::parse(words.get(2).copied().unwrap_or_default()).unwrap_or_default();
            let canonical = matches!(
                syntax,
                Rules::Der | Rules::Cer | Rules::CanonicalAper | Rules::CanonicalUper | Rules::Coer
            ) && !damaged;
            let same = words[1] == length.to_string()
                && if canonical {
                    again == case.octets
                } else {
                    read(plan, syntax, root, &again, false).is_ok_and(|(other, _)| other == *value)
                        || rewritten(plan, syntax, root, &case.octets).is_some_and(|octets| octets == again)
                };
            tally.count(same);
            if let Some(text) = words.get(3).filter(|_| !damaged) {
                let text = hex::parse(text).unwrap_or_default();
                let expected = jer(plan, root, &case.octets);
                outcome.texts.count(text == expected);
                if text != expected {
                    outcome.fault("jer: another text", || {
                        let [text, expected] = [&text, &expected].map(|text| String::from_utf8_lossy(text));
                        format!(
                            "{} {}: {text:.600}, the engine {expected:.600}",
                            roots[case.root],
                            hex::show(&case.octets)
                        )
                    });
                }
            }
            if !same {
                let kind = format!("{syntax}: another value");
                outcome.fault(&kind, || format!("{}: written as {}", shown(), hex::brief(&again)));
            }
        }
        (Err(Fault { kind, at, bit, path: expected, detail: told }), "read") => {
            tally.count(true);
            if told != detail {
                outcome.kinds.count(false);
                outcome.fault(&format!("{syntax}: another message"), || {
                    format!("{}: {told}, generated {detail}", shown())
                });
            }
            // The engine checks constraints when all is read: of two faults it meets the one of the encoding first. Then what
            // it has read until there has to break the constraint.
            let place = words[2] == at.to_string() && words[3] == bit.to_string();
            let is_range = matches!(words[1], "integer-range" | "constraint-violated");
            if is_range
                && (*kind != words[1] || !place)
                && (breaks(plan, syntax, root, &case.octets, path)
                    || is_beyond_64_bits(plan, syntax, root, &case.octets))
            {
                outcome.kinds.count(true);
                return;
            }
            outcome.kinds.count(*kind == words[1]);
            outcome.places.count(place);
            if *kind != words[1] || !place {
                let other = if place { "" } else { ", at another place" };
                outcome.fault(&format!("{syntax}: {kind}, generated {}{other}", words[1]), || {
                    format!("{}: at {at}.{bit}, generated {}.{}", shown(), words[2], words[3])
                });
            }
            // Of two faults each has a path of its own.
            if *kind == words[1] && place {
                outcome.paths.count(expected == path);
                if expected != path {
                    outcome.fault(&format!("{syntax}: {kind} on another path"), || {
                        format!("{}: {expected}, generated {path}", shown())
                    });
                }
            }
        }
        // What was read and breaks a constraint that the encoding rests on is written by none of them.
        (Ok(_), "write") if rewritten(plan, syntax, root, &case.octets).is_none() => tally.count(true),
        // Numbers of an ENUMERATED have 64 bits in generated types.
        (Ok(_), "read")
            if words[1] == "integer-range" && is_beyond_64_bits(plan, syntax, root, &case.octets) =>
        {
            tally.count(true);
        }
        (engine, _) => {
            tally.count(false);
            let engine = match engine {
                Ok(_) => "a value".to_owned(),
                Err(Fault { kind, at, bit, .. }) => format!("{kind} at {at}.{bit}"),
            };
            let kind = engine.split(" at ").next().unwrap_or_default();
            let generated =
                words.get(..2).map_or(answer, |_| if words[0] == "ok" { "a value" } else { words[1] });
            outcome.fault(&format!("{syntax}: {kind}, generated {generated}"), || {
                format!("{}: {engine}, generated {answer:.400}", shown())
            });
        }
    }
}

/// A value that was read in BER and is to be written by other rules.
fn compare_written(
    plans: &[Plan],
    name: &str,
    root: NodeId,
    case: &Case,
    answer: &str,
    outcome: &mut Outcome,
) {
    let (syntax, plan) = (RULES[case.rules].0, &plans[case.rules]);
    let words: Vec<&str> = answer.split(' ').collect();
    let mut tape = Tape::new();
    let mut options = Options::default();
    options.strict_enumerations = true;
    let decoded = tercet_dynamic::decode(&plans[0], root, &case.octets, &mut tape, &options);
    // A type in Rust may be too narrow for what breaks a constraint.
    if decoded.is_err() || words[0] == "read" {
        return;
    }
    let mut octets = Vec::new();
    let mut encoder = Encoder::new().with_foreign_octets(true);
    let engine = if syntax.is_text() {
        let written = TapeCodec::new(syntax, plan).write(tape.view(&case.octets), &mut octets);
        written.map_err(|error| match error {
            CodecError::Octets(error) => error,
            CodecError::Text(_) => tercet_dynamic::Error::new(ErrorKind::ValueMismatch, 0),
        })
    } else {
        encoder.encode(plan, syntax.plan_rules(), tape.view(&case.octets), &mut octets)
    };
    let shown = || format!("{name} ber {}", hex::show(&case.octets));
    match (engine, words[0]) {
        (Ok(()), "ok") => {
            let again = words.get(2).copied().unwrap_or_default();
            // The engine leaves it to the sender whether a DEFAULT is written, where the rules do.
            let value = |octets: &[u8]| read(plan, syntax, root, octets, false).ok().map(|(value, _)| value);
            let same = again == hex::show(&octets)
                || value(&hex::parse(again).unwrap_or_default()) == value(&octets)
                || stays_bits(&plan.shape, &tape, &case.octets);
            outcome.written.count(same);
            if !same {
                outcome.fault(&format!("{syntax}: written from BER as another value"), || {
                    let again = hex::brief(&hex::parse(again).unwrap_or_default());
                    format!("{}: {again}, the engine {}", shown(), hex::brief(&octets))
                });
            }
        }
        (Err(error), "write") => {
            outcome.written.count(true);
            let is_same_kind = words.get(1) == Some(&error.kind().name());
            // Of several constraints that are not met, each writer meets the first one on its way through the value.
            let is_violated = |path: &str| {
                let violations = validate::check(&plan.shape, root, tape.view(&case.octets));
                violations.iter().any(|violation| violation.path == path)
            };
            let same =
                is_same_kind && words.get(4).is_some_and(|path| *path == error.path() || is_violated(path));
            outcome.refused.count(same);
            if !same {
                outcome
                    .fault(&format!("{syntax}: not written for another reason or on another path"), || {
                        format!("{}: {} {}, generated {answer}", shown(), error.kind().name(), error.path())
                    });
            }
        }
        _ if stays_bits(&plan.shape, &tape, &case.octets) => outcome.written.count(true),
        (engine, _) => {
            outcome.written.count(false);
            outcome.fault(&format!("{syntax}: another verdict on what is to be written"), || {
                format!("{}: {engine:?}, generated {answer:.400}", shown())
            });
        }
    }
}

/// Whether a path is that of a fault in octets: paths of faults in texts have fewer steps at both ends.
fn is_same_path(path: &str, other: &str) -> bool {
    match path.split_once(" … ") {
        Some((front, back)) => other.starts_with(front) && other.ends_with(back),
        None => path == other,
    }
}

/// Whether the content of a string with CONTAINING breaks a constraint: generated types have no place for some of those,
/// and keep the bits of the string.
fn stays_bits(shape: &Shape, tape: &Tape, octets: &[u8]) -> bool {
    let view = tape.view(octets);
    (0..view.len()).any(|index| {
        let Token::Open { node, .. } = view.token(index) else { return false };
        let Some(inside) = shape.node(node).containing else { return false };
        let mut content = Tape::new();
        view.replay_part(index + 1, &mut content);
        !validate::check(shape, inside, content.view(octets)).is_empty()
    })
}

/// Whether an encoding has, in front of its fault, a number of more than 64 bits whose type in generated code has no more:
/// that of an ENUMERATED, or an INTEGER with bounds, which are extensible if the engine takes the number.
fn is_beyond_64_bits(plan: &Plan, syntax: Rules, root: NodeId, octets: &[u8]) -> bool {
    let mut options = Options::default();
    options.rules = syntax.plan_rules();
    let (mut tape, mut codec) = (Tape::new(), TapeCodec::new(syntax, plan));
    if let Err(fault) = codec.read(root, octets, &mut tape, &options)
        && !codec.finish_partial(root, octets, &mut tape, &options, &fault)
    {
        return false;
    }
    tape.view(octets).tokens().any(|token| match token {
        Token::Leaf { field, node, leaf } => {
            let restrictions = &plan.shape.restrictions;
            let is_narrow = match plan.shape.node(node).kind {
                Kind::Enumerated => true,
                Kind::Integer => {
                    !restrictions.of_node(node).is_empty() || !restrictions.of_field(field).is_empty()
                }
                _ => false,
            };
            is_narrow && leaf.contents().is_some_and(|contents| contents.len() > 8)
        }
        _ => false,
    })
}

/// What the engine makes of an encoding when it writes its value again.
fn rewritten(plan: &Plan, syntax: Rules, root: NodeId, octets: &[u8]) -> Option<Vec<u8>> {
    let mut tape = Tape::new();
    let mut options = Options::default();
    options.rules = syntax.plan_rules();
    TapeCodec::new(syntax, plan).read(root, octets, &mut tape, &options).ok()?;
    let mut out = Vec::new();
    TapeCodec::new(syntax, plan).write(tape.view(octets), &mut out).ok()?;
    Some(out)
}

/// The JSON that the engine writes of a value in DER: with the components of a SET as they are declared, which is how its
/// own reader gives them.
fn jer(plan: &Plan, root: NodeId, octets: &[u8]) -> Vec<u8> {
    let (mut tape, mut again) = (Tape::new(), Tape::new());
    let mut options = json::Options::default();
    options.instructions = false;
    let mut decoding = Options::default();
    decoding.rules = Rules::Der;
    let (mut text, mut out) = (Vec::new(), Vec::new());
    if tercet_dynamic::decode(plan, root, octets, &mut tape, &decoding).is_ok() {
        json::write(&plan.shape, tape.view(octets), &mut text, &options);
        if json::read(&plan.shape, root, &text, &mut again, &options).is_ok() {
            json::write(&plan.shape, again.view(&[]), &mut out, &options);
        }
    }
    out
}

/// Why the engine does not read an encoding.
struct Fault {
    kind: &'static str,
    at: u64,
    bit: u8,
    path: String,
    /// What is wrong with a text.
    detail: String,
}

/// Whether what can be read of an encoding in front of its fault breaks a constraint at a path.
fn breaks(plan: &Plan, syntax: Rules, root: NodeId, octets: &[u8], path: &str) -> bool {
    let mut options = Options::default();
    options.strict_enumerations = true;
    options.rules = syntax.plan_rules();
    let (mut tape, mut codec) = (Tape::new(), TapeCodec::new(syntax, plan));
    let Err(fault) = codec.read(root, octets, &mut tape, &options) else { return false };
    codec.finish_partial(root, octets, &mut tape, &options, &fault)
        && validate::check(&plan.shape, root, tape.view(octets))
            .iter()
            .any(|violation| violation.path == path)
}

fn read(
    plan: &Plan,
    syntax: Rules,
    root: NodeId,
    octets: &[u8],
    constrained: bool,
) -> Result<(Value, usize), Fault> {
    let mut options = Options::default();
    options.check_constraints = constrained;
    options.fill_defaults = true;
    // An enumeration in Rust has no place for other numbers, unless it is extensible.
    options.strict_enumerations = true;
    let mut tape = Tape::new();
    let rules = syntax.plan_rules();
    options.rules = rules;
    if syntax.is_text() {
        return read_text(plan, syntax, root, octets, &options);
    }
    let length = tercet_dynamic::decode(plan, root, octets, &mut tape, &options).map_err(|error| Fault {
        kind: error.kind().name(),
        at: error.offset(),
        bit: error.bit().unwrap_or(0),
        path: error.path().to_owned(),
        detail: String::new(),
    })?;
    let value = Value::from_view(&plan.shape, tape.view(octets));
    value.map(|value| (value, length)).ok_or_else(no_value)
}

fn no_value() -> Fault {
    Fault { kind: "no-value", at: 0, bit: 0, path: String::new(), detail: String::new() }
}

/// Constraints are checked on the value in BER.
fn read_text(
    plan: &Plan,
    syntax: Rules,
    root: NodeId,
    text: &[u8],
    options: &Options,
) -> Result<(Value, usize), Fault> {
    let (mut tape, mut octets) = (Tape::new(), Vec::new());
    let mut codec = TapeCodec::new(syntax, plan);
    codec.read(root, text, &mut tape, options).map_err(|error| {
        let detail = match &error {
            CodecError::Text(error) => error.message().to_owned(),
            CodecError::Octets(error) => error.to_string(),
        };
        let kind = if detail == ErrorKind::DepthLimit.message() { "depth-limit" } else { "text" };
        Fault { kind, at: error.offset(), bit: 0, path: error.path(), detail }
    })?;
    if options.check_constraints
        && TapeCodec::new(Rules::Ber, plan).write(tape.view(&[]), &mut octets).is_ok()
    {
        read(plan, Rules::Ber, root, &octets, true)?;
    }
    let value = Value::from_view(&plan.shape, tape.view(&[]));
    value.map(|value| (value, text.len())).ok_or_else(no_value)
}
