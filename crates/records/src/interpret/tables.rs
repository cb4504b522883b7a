//! What stands before the records and makes their codes and amounts complete.

use std::io::Write;
use tercet_dynamic::leaf::{Scalar, scalar};
use tercet_dynamic::text::{Octets, push_integer, push_scalar};
use tercet_dynamic::{Shape, Token, View};

/// Where codes and amounts of records are explained, by the names of components.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableRules {
    /// The number of decimal places of amounts.
    pub places: Option<String>,
    /// Tables of codes.
    pub codes: Vec<CodeRule>,
}

/// A table of codes: a list whose elements have a code and what it stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeRule {
    /// The component with the code, in records as in the table.
    pub code: String,
    /// The list.
    pub list: String,
    /// What the code stands for.
    pub value: String,
    /// The number of decimal places of that.
    pub places: Option<String>,
    /// The component of records beside the code that is a local time, if the code stands for its offset from UTC.
    pub time: Option<String>,
}

/// What has been found.
#[derive(Clone, Debug, Default)]
pub struct Tables {
    /// Decimal places of amounts.
    pub(super) places: Option<u32>,
    /// Codes and what they stand for, for each rule.
    codes: Vec<Vec<(i64, String)>>,
}

/// An element of a table in the making.
#[derive(Clone, Default)]
struct Row {
    code: Option<i64>,
    value: Option<String>,
    places: Option<u32>,
}

impl Tables {
    /// Reads what stands before the records, as it is shown.
    pub(super) fn read(rules: &TableRules, shape: &Shape, view: View<'_>) -> Self {
        let mut tables = Self { places: None, codes: vec![Vec::new(); rules.codes.len()] };
        let mut rows = vec![Row::default(); rules.codes.len()];
        let mut path: Vec<&str> = Vec::new();
        let name = |field: usize| shape.fields.get(field).map_or("", |field| shape.name(field.name));
        for token in view.tokens() {
            match token {
                Token::Open { field, .. } => path.push(name(field.index())),
                Token::Leaf { field, node, leaf } => {
                    let (name, value) = (name(field.index()), scalar(shape, node, leaf));
                    let small = |value: &Scalar<'_>| match value {
                        Scalar::Integer(number) => u32::try_from(*number).ok().filter(|places| *places < 30),
                        _ => None,
                    };
                    if rules.places.as_deref() == Some(name) {
                        tables.places = small(&value);
                    }
                    let list = path.len().checked_sub(2).map(|at| path[at]);
                    for (rule, row) in rules.codes.iter().zip(&mut rows) {
                        if list != Some(rule.list.as_str()) {
                            continue;
                        }
                        match &value {
                            Scalar::Integer(number) if name == rule.code => row.code = Some(*number),
                            value if name == rule.value => {
                                let mut text = Vec::new();
                                push_scalar(&mut text, value, Octets::UpperHex);
                                row.value = String::from_utf8(text).ok();
                            }
                            value if rule.places.as_deref() == Some(name) => row.places = small(value),
                            _ => {}
                        }
                    }
                }
                Token::Close { .. } => {
                    path.pop();
                    for (at, rule) in rules.codes.iter().enumerate() {
                        if path.last() == Some(&rule.list.as_str())
                            && let Row { code: Some(code), value: Some(mut value), places } =
                                std::mem::take(&mut rows[at])
                        {
                            if let (Some(places), Ok(number)) = (places, value.parse()) {
                                let mut text = Vec::new();
                                push_amount(number, Some(places), &mut text);
                                value = String::from_utf8(text).unwrap_or_default();
                            }
                            tables.codes[at].push((code, value));
                        }
                    }
                }
                _ => {}
            }
        }
        tables
    }

    /// What a code stands for.
    pub(super) fn value(&self, rule: u8, code: i64) -> Option<&str> {
        let rows = self.codes.get(usize::from(rule))?;
        rows.iter().find(|row| row.0 == code).map(|row| row.1.as_str())
    }
}

/// An INTEGER that fits 128 bits.
pub(crate) fn wide(contents: &[u8]) -> Option<i128> {
    let sign = if contents.first()? & 0x80 != 0 { -1 } else { 0 };
    let value = || contents.iter().fold(sign, |value: i128, octet| value << 8 | i128::from(*octet));
    (contents.len() <= 16).then(value)
}

/// Appends a number with so many decimal places.
pub(super) fn push_amount(number: i128, places: Option<u32>, text: &mut Vec<u8>) {
    let places = places.unwrap_or(0) as usize;
    if number < 0 {
        text.push(b'-');
    }
    let begin = text.len();
    match i64::try_from(number.unsigned_abs()) {
        Ok(number) => push_integer(text, number),
        // Writing to memory does not fail.
        Err(_) => _ = write!(text, "{}", number.unsigned_abs()),
    }
    let missing = (places + 1).saturating_sub(text.len() - begin);
    text.splice(begin..begin, std::iter::repeat_n(b'0', missing));
    if places > 0 {
        text.insert(text.len() - places, b'.');
    }
}

/// Appends `YYYYMMDDhhmmss` and `+hhmm` as a date and time; nothing if they are none.
pub(super) fn push_time(local: &[u8], offset: Option<&str>, text: &mut Vec<u8>) -> Option<()> {
    let digits = |text: &[u8]| text.iter().all(u8::is_ascii_digit);
    let &[a, b, c, d, e, f, g, h, i, j, k, l, m, n] = local else { return None };
    if !digits(local) {
        return None;
    }
    text.extend_from_slice(&[a, b, c, d, b'-', e, f, b'-', g, h, b'T', i, j, b':', k, l, b':', m, n]);
    if let Some(&[sign @ (b'+' | b'-'), o, p, q, r]) = offset.map(str::as_bytes)
        && digits(&[o, p, q, r])
    {
        text.extend_from_slice(&[sign, o, p, b':', q, r]);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_and_times() {
        for (number, places, known) in
            [(12_345, Some(5), "0.12345"), (-5, Some(2), "-0.05"), (700, None, "700"), (0, Some(3), "0.000")]
        {
            let mut text = Vec::new();
            push_amount(number, places, &mut text);
            assert_eq!(text, known.as_bytes());
        }
        let mut text = Vec::new();
        assert_eq!(push_time(b"20240601000008", Some("+0200"), &mut text), Some(()));
        assert_eq!(text, b"2024-06-01T00:00:08+02:00");
        assert_eq!(push_time(b"2024060100", None, &mut text), None);
    }
}
