//! Lines of `tercet decode --trace`: the parts of an encoding, each with its place, its octets, its clause and its value.

use std::fmt::Write;
use tercet::dynamic::trace::Step;
use tercet::dynamic::{Error, Part, Place};
use tercet_printable::printable;

/// Columns of a line at most.
const WIDTH: usize = 100;

/// Columns of a path at most.
const PATH: usize = 28;

/// Octets of an encoding that a line shows at most.
const SHOWN: usize = 8;

/// Returns the line above the others, for a standard: `X.690`.
pub fn heading(standard: &str) -> String {
    format!("{:>8} {:>6} {:<19} {standard:<8} part", "offset", "octets", "encoding")
}

/// Returns the line of a part of the encoding in `input`.
pub fn line(step: &Step<'_>, input: &[u8]) -> String {
    let Place { part, at, bits } = step.place;
    let clause = step.clause.split_once(' ').map_or(step.clause, |(_, clause)| clause);
    let encoding = encoding(input, &step.place);
    let mut line = format!("{:>8} {:>6} {encoding:<19} {clause:<8} {}", at / 8, bits / 8, part.name());
    if !step.meaning.is_empty() {
        line.push(' ');
        line.push_str(step.meaning);
    }
    // All values of an input have the same first name.
    let path = step.path.find(['.', '[']).map_or(step.path, |at| step.path[at..].trim_start_matches('.'));
    let path = last_of(&printable(path), PATH);
    // Writing to memory does not fail.
    _ = match step.value {
        Some(value) => write!(line, "  {path} = {}", printable(value)),
        None if step.place.part == Part::Identifier && path != step.type_name => {
            write!(line, "  {path} {}", step.type_name)
        }
        None => write!(line, "  {path}"),
    };
    first_of(line, WIDTH)
}

/// Returns the line of a fault at its place.
pub fn fault(error: &Error) -> String {
    format!("{:>8}        ! {error}", error.offset())
}

/// The octets of a part as ASN.1 has them, `…` where they are cut.
fn encoding(input: &[u8], place: &Place) -> String {
    let from = usize::try_from(place.at / 8).unwrap_or(usize::MAX);
    let count = usize::try_from(place.bits / 8).unwrap_or(usize::MAX);
    let octets = input.get(from..from.saturating_add(count)).unwrap_or_default();
    if octets.is_empty() {
        return String::new();
    }
    let (shown, rest) = if octets.len() > SHOWN { (SHOWN - 1, "…") } else { (octets.len(), "") };
    let digits = octets.iter().take(shown).fold(String::new(), |mut digits, octet| {
        _ = write!(digits, "{octet:02X}");
        digits
    });
    format!("'{digits}{rest}'H")
}

/// The end of a text that is too long.
fn last_of(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    std::iter::once('…').chain(text.chars().skip(count + 1 - most)).collect()
}

/// The begin of a text that is too long.
fn first_of(text: String, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some(_) => text.chars().take(most - 1).chain(std::iter::once('…')).collect(),
        None => text,
    }
}
