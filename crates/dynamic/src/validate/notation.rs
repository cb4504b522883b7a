//! Constraints as ASN.1 notation (X.680 §49–51), and what to say of a value that does not meet one.

use super::admits::Checker;
use crate::constant::say;
use crate::leaf::{Scalar, scalar};
use crate::tape::Token;
use crate::text::push_big_integer;
use crate::value::Builder;
use crate::{FieldId, NodeId, Shape};
use tercet_plan::constraint::{Components, Element, Number, Presence, Restriction};
use tercet_plan::shape::Constant;

/// Characters of a value or constraint that are told.
const LONGEST: usize = 100;
/// Parts of a union that are told.
const PARTS: usize = 12;
/// Elements inside one another that are told.
const DEPTH: u16 = 8;

/// An element with the parentheses that it needs: `(1..8)`, `SIZE (1..8)`.
pub(super) fn element(shape: &Shape, node: NodeId, element: &Element) -> String {
    let mut text = String::new();
    push(&mut text, shape, node, element, 0);
    match element {
        Element::Integers(_) | Element::Union(_) | Element::Value(_) | Element::Reals(..) => {
            cut(format!("({text})"))
        }
        _ => cut(text),
    }
}

/// The value at an index, shortened.
pub(super) fn value(checker: Checker<'_>, at: usize) -> String {
    checker.value(at).map_or_else(String::new, |value| cut(value.to_string()))
}

/// What is wrong with the value at an index.
pub(super) fn complaint(checker: Checker<'_>, element: &Element, constraint: &str, at: usize) -> String {
    match element {
        Element::Integers(_) | Element::Union(_) | Element::Reals(..) => format!("is not in {constraint}"),
        Element::Value(_) => format!("is not {constraint}"),
        Element::Sizes(_) => format!("{}: {constraint}", size(checker, at)),
        Element::Alphabet(ranges) => {
            let first = match checker.view.token(at) {
                Token::Leaf { node, leaf, .. } => match scalar(checker.shape, node, leaf) {
                    Scalar::Text(text) | Scalar::Time(text) => text.chars().find(|c| {
                        let code = u32::from(*c);
                        !ranges.iter().any(|(low, high)| (*low..=*high).contains(&code))
                    }),
                    _ => None,
                },
                _ => None,
            };
            match first {
                Some(c) if c.is_control() => format!("has a U+{:04X}: {constraint}", u32::from(c)),
                Some(c) => format!("has a '{c}': {constraint}"),
                None => format!("does not meet {constraint}"),
            }
        }
        Element::Object(table, _) => {
            let name = checker.shape.restrictions.sets.get(*table as usize).and_then(|set| set.name);
            let set = name.map_or("the object set", |name| checker.shape.name(name));
            format!("is not what {set} has here")
        }
        Element::Contents(..) => format!("is not an encoding: {constraint}"),
        _ => format!("does not meet {constraint}"),
    }
}

fn size(checker: Checker<'_>, at: usize) -> String {
    let count = |count: usize, what: &str| {
        let s = if count == 1 { "" } else { "s" };
        format!("has {count} {what}{s}")
    };
    match checker.view.token(at) {
        Token::Open { .. } => count(checker.children(at).count(), "element"),
        Token::Leaf { node, leaf, .. } => match scalar(checker.shape, node, leaf) {
            Scalar::OctetString(octets) => count(octets.len(), "byte"),
            Scalar::BitString(bits) => count(bits.len(), "bit"),
            Scalar::Text(text) | Scalar::Time(text) => count(text.chars().count(), "character"),
            _ => "has another size".to_owned(),
        },
        _ => "has another size".to_owned(),
    }
}

fn push(out: &mut String, shape: &Shape, node: NodeId, element: &Element, depth: u16) {
    if depth > DEPTH || out.len() > 2 * LONGEST {
        out.push('…');
        return;
    }
    let depth = depth + 1;
    match element {
        Element::All => out.push_str("ALL"),
        Element::Union(parts) => joined(out, shape, node, parts, " | ", depth),
        Element::Intersection(parts) => joined(out, shape, node, parts, " ^ ", depth),
        Element::Except(from, what) => {
            grouped(out, shape, node, from, depth);
            out.push_str(" EXCEPT ");
            grouped(out, shape, node, what, depth);
        }
        Element::Value(value) => constant(out, shape, node, value),
        Element::Integers(ranges) => {
            list(out, ranges, |out, (low, high)| {
                range(out, low.as_ref().map(number), high.as_ref().map(number))
            });
        }
        Element::Reals(low, high) => {
            let end = |end: &Option<(Box<[u8]>, bool)>| {
                let (contents, belongs) = end.as_ref()?;
                let real =
                    tercet_runtime::ber::decode_real(contents, 0, tercet_runtime::ber::Rules::Ber).ok()?;
                Some((real.to_f64().to_string(), *belongs))
            };
            let (low, high) = (end(low), end(high));
            out.push_str(low.as_ref().map_or("MIN", |(text, _)| text));
            out.push_str(if low.is_some_and(|(_, belongs)| !belongs) { "<.." } else { ".." });
            out.push_str(if high.as_ref().is_some_and(|(_, belongs)| !belongs) { "<" } else { "" });
            out.push_str(high.as_ref().map_or("MAX", |(text, _)| text));
        }
        Element::Sizes(ranges) => {
            out.push_str("SIZE (");
            list(out, ranges, |out, (low, high)| {
                range(out, Some(low.to_string()), high.map(|high| high.to_string()))
            });
            out.push(')');
        }
        Element::Alphabet(ranges) => {
            out.push_str("FROM (");
            list(out, ranges, |out, (low, high)| {
                character(out, *low);
                if low != high {
                    out.push_str("..");
                    character(out, *high);
                }
            });
            out.push(')');
        }
        Element::Pattern(pattern) => out.push_str(&format!("PATTERN \"{}\"", pattern.replace('"', "\"\""))),
        Element::Settings(settings) => out.push_str(&format!("SETTINGS \"{settings}\"")),
        Element::Subtype(Some(name), _) => out.push_str(shape.name(*name)),
        Element::Subtype(None, ids) => {
            for (i, id) in ids.iter().enumerate() {
                out.push_str(if i == 0 { "" } else { " ^ " });
                push(out, shape, node, &shape.restrictions.get(*id).root, depth);
            }
        }
        Element::Component(inner) => {
            out.push_str("WITH COMPONENT ");
            let element = shape.fields_of(node).next().map_or(node, |(_, field)| field.node);
            restriction(out, shape, element, inner, depth);
        }
        Element::Components(Components { partial, list }) => {
            out.push_str(if *partial { "WITH COMPONENTS {..." } else { "WITH COMPONENTS {" });
            for (i, part) in list.iter().enumerate() {
                out.push_str(if i == 0 && !partial { "" } else { ", " });
                out.push_str(shape.name(part.name));
                if let Some(value) = &part.value {
                    out.push(' ');
                    let inner = shape.fields_of(node).find(|(_, field)| field.name == part.name);
                    restriction(out, shape, inner.map_or(node, |(_, field)| field.node), value, depth);
                }
                out.push_str(match part.presence {
                    Some(Presence::Present) => " PRESENT",
                    Some(Presence::Absent) => " ABSENT",
                    Some(Presence::Optional) => " OPTIONAL",
                    None => "",
                });
            }
            out.push('}');
        }
        Element::Object(table, _) => {
            let name = shape.restrictions.sets.get(*table as usize).and_then(|set| set.name);
            out.push_str(&format!("{{{}}}", name.map_or("…", |name| shape.name(name))));
        }
        Element::Contents(inside, rules) => {
            if let Some(inside) = inside {
                let inside = shape.node(*inside);
                out.push_str("CONTAINING ");
                out.push_str(inside.name.map_or_else(|| inside.kind.name(), |name| shape.name(name)));
            }
            out.push_str(if rules.is_some() { " ENCODED BY …" } else { "" });
        }
        Element::UserDefined => out.push_str("CONSTRAINED BY {}"),
    }
}

fn restriction(out: &mut String, shape: &Shape, node: NodeId, it: &Restriction, depth: u16) {
    out.push('(');
    push(out, shape, node, &it.root, depth);
    out.push_str(if it.extensible { ", ...)" } else { ")" });
}

fn joined(out: &mut String, shape: &Shape, node: NodeId, parts: &[Element], with: &str, depth: u16) {
    for (i, part) in parts.iter().enumerate() {
        out.push_str(if i == 0 { "" } else { with });
        if i == PARTS {
            out.push('…');
            return;
        }
        grouped(out, shape, node, part, depth);
    }
}

fn grouped(out: &mut String, shape: &Shape, node: NodeId, element: &Element, depth: u16) {
    let group = matches!(element, Element::Union(_) | Element::Intersection(_) | Element::Except(..));
    out.push_str(if group { "(" } else { "" });
    push(out, shape, node, element, depth);
    out.push_str(if group { ")" } else { "" });
}

fn list<T>(out: &mut String, ranges: &[T], mut push: impl FnMut(&mut String, &T)) {
    for (i, range) in ranges.iter().enumerate() {
        out.push_str(if i == 0 { "" } else { " | " });
        if i == PARTS {
            out.push('…');
            return;
        }
        push(out, range);
    }
}

fn range(out: &mut String, low: Option<String>, high: Option<String>) {
    out.push_str(low.as_deref().unwrap_or("MIN"));
    if low.is_none() || low != high {
        out.push_str("..");
        out.push_str(high.as_deref().unwrap_or("MAX"));
    }
}

fn number(number: &Number) -> String {
    let mut digits = Vec::new();
    push_big_integer(&mut digits, &number.0);
    String::from_utf8(digits).unwrap_or_default()
}

fn character(out: &mut String, code: u32) {
    match char::from_u32(code) {
        Some('"') => out.push_str("\"\"\"\""),
        Some(c) if !c.is_control() => out.extend(['"', c, '"']),
        _ => out.push_str(&format!("{{0, {}, {}, {}}}", code >> 16 & 0xFF, code >> 8 & 0xFF, code & 0xFF)),
    }
}

/// A constant in value notation.
fn constant(out: &mut String, shape: &Shape, node: NodeId, it: &Constant) {
    let mut builder = Builder::new(shape);
    say(shape, FieldId::ROOT, node, it, &mut builder);
    if let Some(value) = builder.take() {
        out.push_str(&value.to_string());
    }
}

fn cut(mut text: String) -> String {
    if let Some((at, _)) = text.char_indices().nth(LONGEST) {
        text.truncate(at);
        text.push('…');
    }
    text
}
