//! DER inside of strings, for people: what the notation of a value says in comments.

use crate::oids::oid_name;
use crate::text::{Octets, push_octets};
use std::fmt::Write as _;
use tercet_plan::Shape;
use tercet_runtime::dump::{Guess, Kind, dump, holds_der};
use tercet_runtime::{Class, Tag};

/// Strings inside one another that are opened.
const LEVELS: u8 = 8;
/// Characters after which the rest is not shown.
const LENGTH: usize = 4096;

/// The contents of a string that holds DER, in one line that looks like value notation; nothing for other strings.
pub(super) fn opened(shape: Option<&Shape>, octets: &[u8]) -> Option<String> {
    if !holds_der(octets) {
        return None;
    }
    let mut text = String::new();
    push(shape, octets, 0, &mut text);
    if text.len() > LENGTH {
        let end = (0..=LENGTH).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.truncate(end);
        text.push('…');
    }
    // What would end a comment.
    Some(text.replace("*/", "* /").replace("/*", "/ *"))
}

/// Appends an element; the octets are known to be one.
fn push(shape: Option<&Shape>, octets: &[u8], level: u8, out: &mut String) {
    let (mut open, mut comma) = (0, false);
    for line in dump(octets).map_while(Result::ok) {
        while open > usize::from(line.depth) {
            out.push('}');
            open -= 1;
        }
        if out.len() > LENGTH {
            return;
        }
        if comma {
            out.push_str(", ");
        }
        comma = line.kind != Kind::Open;
        match (line.tag.class(), line.tag.type_name()) {
            (Class::Universal, Some(name)) => out.push_str(name),
            _ => _ = write!(out, "{}", line.tag),
        }
        out.push(' ');
        if line.kind == Kind::Open {
            out.push('{');
            open += 1;
            continue;
        }
        let (contents, unused) = match (line.tag, line.contents.split_first()) {
            (Tag::BIT_STRING, Some((unused, bits))) => (bits, *unused),
            _ => (line.contents, 0),
        };
        let is_string = matches!(line.tag, Tag::OCTET_STRING | Tag::BIT_STRING);
        if is_string && unused == 0 && level < LEVELS && holds_der(contents) {
            out.push_str("{ ");
            push(shape, contents, level + 1, out);
            out.push_str(" }");
            continue;
        }
        let guess = line.guesses().next().filter(|_| line.tag.class() == Class::Universal && !is_string);
        let text_of = |guess: &Guess<'_>| matches!(guess, Guess::Text(_) | Guess::Time(_));
        let context_text = line.guesses().find(text_of).filter(|_| line.tag.class() != Class::Universal);
        _ = match guess.or(context_text) {
            Some(Guess::Boolean(value)) => out.write_str(if value { "TRUE" } else { "FALSE" }),
            Some(Guess::Null) => {
                out.pop();
                Ok(())
            }
            Some(Guess::Integer(number)) => write!(out, "{number}"),
            Some(Guess::Oid(oid)) => match oid_name(shape, oid) {
                Some(name) => write!(out, "{oid} {name}"),
                None => write!(out, "{oid}"),
            },
            Some(Guess::Real(real)) => write!(out, "{}", real.to_f64()),
            Some(Guess::Text(text) | Guess::Time(text)) => write!(out, "\"{}\"", text.replace('"', "\"\"")),
            _ if line.tag == Tag::BIT_STRING && unused > 0 => {
                let bits = contents.iter().flat_map(|octet| (0..8).rev().map(move |bit| octet >> bit & 1));
                let count = contents.len() * 8 - usize::from(unused);
                let digits: String = bits.take(count).map(|bit| char::from(b'0' + bit)).collect();
                write!(out, "'{digits}'B")
            }
            _ => {
                let mut digits = Vec::new();
                push_octets(&mut digits, contents, Octets::UpperHex);
                write!(out, "'{}'H", String::from_utf8_lossy(&digits))
            }
        };
    }
    for _ in 0..open {
        out.push('}');
    }
}
