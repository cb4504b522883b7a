//! Lines of `tercet decode --trace`: the parts of an encoding, each with its place, its bits, its clause and its value.

use crate::values::Piece;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::fmt::Write;
use tercet::Rules;
use tercet::dynamic::trace::Step;
use tercet::dynamic::{Error, Part, Place};
use tercet_printable::printable;

/// Columns of a line at most.
const WIDTH: usize = 100;

/// Columns of a path at most.
const PATH: usize = 28;

/// Columns of an encoding at most.
const ENCODING: usize = 19;

/// The form of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum TraceForm {
    /// Columns
    Text,
    /// JSON, an object in each line
    Jsonl,
}

/// Makes the lines for one piece of an input.
#[derive(Debug)]
pub struct Lines<'p> {
    form: TraceForm,
    rules: Rules,
    piece: &'p Piece,
}

impl<'p> Lines<'p> {
    /// Returns what makes the lines of a piece whose encodings follow some rules.
    pub fn new(form: TraceForm, rules: Rules, piece: &'p Piece) -> Self {
        Self { form, rules: rules.basic(), piece }
    }

    /// Returns the line above those of the parts, if the form has one.
    pub fn heading(&self) -> Option<String> {
        let unit = if self.has_bits() { "bits" } else { "octets" };
        let standard = match self.rules {
            Rules::Aper | Rules::Uper => "X.691",
            Rules::Oer => "X.696",
            Rules::Jer => "X.697",
            Rules::Xer => "X.680",
            Rules::Gser => "RFC 3641",
            _ => "X.690",
        };
        let heading = || format!("{:>8} {unit:>6} {:<ENCODING$} {standard:<8} part", "offset", "encoding");
        (self.form == TraceForm::Text).then(heading)
    }

    /// Returns the lines of a part of the value with a number, from 0, and of its fault.
    pub fn of_part(&self, step: &Step<'_>, number: u64) -> String {
        match (self.form, step.marked) {
            (TraceForm::Jsonl, _) => self.json(step, number),
            (TraceForm::Text, None) => self.text(step),
            (TraceForm::Text, Some(marked)) => {
                format!("{}\n{}", self.text(step), self.of_fault(&marked.error, number))
            }
        }
    }

    /// Returns the line of the fault that a value with a number, from 0, ends with.
    pub fn of_fault(&self, error: &Error, number: u64) -> String {
        if self.form == TraceForm::Text {
            let at = error.offset().saturating_mul(8).saturating_add(u64::from(error.bit().unwrap_or(0)));
            return format!("{:>8}        ! {error}", self.offset(at));
        }
        let mut line = self.line(number);
        line.insert("offset".to_owned(), error.offset().into());
        line.insert("bit".to_owned(), error.bit().unwrap_or(0).into());
        line.insert("path".to_owned(), error.path().into());
        add_reason(&mut line, error);
        if let Some(missing) = error.missing() {
            line.insert("missing".to_owned(), missing.into());
        }
        Value::Object(line).to_string()
    }

    /// Returns the line of the fault at an offset that text with a number, from 0, ends with.
    pub fn of_text_fault(&self, offset: u64, message: &str, path: &str, number: u64) -> String {
        if self.form == TraceForm::Text {
            return first_of(format!("{offset:>8}        ! {}", printable(message)), WIDTH);
        }
        let mut line = self.line(number);
        line.extend([
            ("offset".to_owned(), offset.into()),
            ("bit".to_owned(), 0.into()),
            ("path".to_owned(), path.into()),
            ("reason".to_owned(), message.into()),
        ]);
        Value::Object(line).to_string()
    }

    /// Reports whether fields need not be whole bytes.
    const fn has_bits(&self) -> bool {
        matches!(self.rules, Rules::Aper | Rules::Uper)
    }

    /// The offset of a bit: `12` where fields are whole bytes, else `12.3`.
    fn offset(&self, at: u64) -> String {
        if self.has_bits() { format!("{}.{}", at / 8, at % 8) } else { (at / 8).to_string() }
    }

    /// The characters of a part, if the rules are those of text.
    fn characters(&self, place: &Place) -> Option<Cow<'p, str>> {
        let range = (place.at / 8) as usize..(place.end() / 8) as usize;
        let octets = self.piece.octets.get(range).filter(|_| self.rules.is_text())?;
        Some(String::from_utf8_lossy(octets))
    }

    fn text(&self, step: &Step<'_>) -> String {
        let Place { part, at, bits, .. } = step.place;
        let clause = step.clause.rsplit_once(' ').map_or(step.clause, |(_, clause)| clause);
        let (offset, count) = (self.offset(at), if self.has_bits() { bits } else { bits / 8 });
        let encoding = match self.characters(&step.place) {
            Some(text) => first_of(printable(&text).into_owned(), ENCODING),
            None => shortened(&self.piece.octets, &step.place),
        };
        let mut line = format!("{offset:>8} {count:>6} {encoding:<ENCODING$} {clause:<8} {}", part.name());
        if !step.meaning.is_empty() {
            line.push(' ');
            line.push_str(step.meaning);
        }
        // All values of an input have the same first name.
        let path = step.path.find(['.', '[']).map_or(step.path, |at| step.path[at..].trim_start_matches('.'));
        // Where there are identifiers, each shows the type.
        let shows_type = if self.rules.has_elements() { part == Part::Identifier } else { step.is_first };
        // Writing to memory does not fail.
        _ = write!(line, "  {}", last_of(&printable(path), PATH));
        if shows_type && path != step.type_name {
            _ = write!(line, " {}", step.type_name);
        }
        if let Some(value) = step.value {
            _ = write!(line, " = {}", printable(value));
        }
        first_of(line, WIDTH)
    }

    fn json(&self, step: &Step<'_>, number: u64) -> String {
        let Place { part, at, bits, number: count } = step.place;
        let mut line = self.line(number);
        let mut add = |name: &str, value: Value| line.insert(name.to_owned(), value);
        add("offset", (at / 8).into());
        add("bit", (at % 8).into());
        add("bits", bits.into());
        let text = self.characters(&step.place);
        add("encoding", text.unwrap_or_else(|| notation(&self.piece.octets, at, bits).into()).into());
        add("clause", step.clause.into());
        add("part", part.name().into());
        match count {
            Some(count) => add("number", count.into()),
            None if step.meaning.is_empty() => None,
            None => add("meaning", step.meaning.into()),
        };
        add("path", step.path.into());
        add("type", step.type_name.into());
        if let Some(value) = step.value {
            add("value", serde_json::from_str(value).unwrap_or_else(|_| value.into()));
        }
        if let Some(marked) = step.marked {
            add_reason(&mut line, &marked.error);
            line.insert("at".to_owned(), marked.error.offset().into());
        }
        Value::Object(line).to_string()
    }

    /// The begin of a line of JSON.
    fn line(&self, number: u64) -> Map<String, Value> {
        let members = [("input", json!(self.piece.name)), ("record", number.into())];
        members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

/// Adds what is wrong, in the words of `--marks`.
fn add_reason(line: &mut Map<String, Value>, error: &Error) {
    let mut reason = error.kind().message().to_owned();
    // Writing to memory does not fail.
    _ = match (error.detail(), error.clause()) {
        ("", None) => Ok(()),
        ("", Some(clause)) => write!(reason, " ({clause})"),
        (detail, None) => write!(reason, ": {detail}"),
        (detail, Some(clause)) => write!(reason, ": {detail} ({clause})"),
    };
    line.insert("reason".to_owned(), reason.into());
    line.insert("code".to_owned(), error.kind().name().into());
}

/// The bits of a part in the notation of ASN.1, `…` where they are cut.
fn shortened(input: &[u8], place: &Place) -> String {
    let Place { at, bits, .. } = *place;
    if bits == 0 {
        return String::new();
    }
    let (digits, in_digit) = if is_hexadecimal(at, bits) { (bits.div_ceil(4), 4) } else { (bits, 1) };
    // Besides digits there are two quotes and a letter.
    let most = ENCODING as u64 - 3;
    if digits <= most {
        return notation(input, at, bits);
    }
    if in_digit == 1 && bits.is_multiple_of(4) && bits / 4 <= most {
        return hexadecimal(input, at, bits);
    }
    // Bytes are not cut in the middle.
    let shown = if in_digit == 4 { (most - 1) & !1 } else { most - 1 };
    let mut text = notation(input, at, shown * in_digit);
    text.insert(text.len() - 2, '…');
    text
}

/// The bits in the notation of ASN.1: digits of four bits where they are whole bytes of the input.
fn notation(input: &[u8], at: u64, bits: u64) -> String {
    if is_hexadecimal(at, bits) {
        return hexadecimal(input, at, bits);
    }
    let digits = (at..at + bits).map(|at| char::from(b'0' + bit(input, at)));
    format!("'{}'B", digits.collect::<String>())
}

fn hexadecimal(input: &[u8], at: u64, bits: u64) -> String {
    let mut text = String::from("'");
    for from in (at..at + bits).step_by(4) {
        let digit = (from..from + 4).fold(0, |digit, at| digit << 1 | u32::from(bit(input, at)));
        text.extend(char::from_digit(digit, 16).map(|digit| digit.to_ascii_uppercase()));
    }
    text + "'H"
}

const fn is_hexadecimal(at: u64, bits: u64) -> bool {
    at.is_multiple_of(8) && bits.is_multiple_of(8)
}

/// A bit of the input, 0 behind it.
fn bit(input: &[u8], at: u64) -> u8 {
    let octet = usize::try_from(at / 8).ok().and_then(|index| input.get(index)).copied().unwrap_or(0);
    octet >> (7 - at % 8) & 1
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
