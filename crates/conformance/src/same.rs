//! Whether two JSON texts mean the same ASN.1 value.
//!
//! Vectors come from several tools. They agree on X.697 in the large, and differ in the small: hexadecimal digits in
//! either case, BIT STRING as text or as an object, components with a DEFAULT shown or not, an open type with or
//! without the name of its type. The type decides what is the same.

use serde_json::{Map, Value};
use tercet_plan::shape::{Constant, Presence};
use tercet_plan::{Kind, NodeId, Shape};

use crate::hex;

/// Where and how two values differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Path to the component.
    pub path: String,
    /// What was expected there.
    pub want: String,
    /// What is there.
    pub got: String,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let path = if self.path.is_empty() { "the value" } else { self.path.trim_start_matches('.') };
        write!(f, "expected {} at {path}, got {}", self.want, self.got)
    }
}

/// Compares two values of a type.
///
/// # Errors
/// The first difference.
pub fn compare(shape: &Shape, node: NodeId, want: &Value, got: &Value) -> Result<(), Difference> {
    Comparison { shape, path: String::new() }.value(node, want, got)
}

struct Comparison<'a> {
    shape: &'a Shape,
    path: String,
}

type Outcome = Result<(), Difference>;

impl Comparison<'_> {
    fn value(&mut self, id: NodeId, want: &Value, got: &Value) -> Outcome {
        let node = self.shape.node(id);
        if let Some(inner) = node.containing
            && let (Some(want), Some(got)) = (contained(want), contained(got))
        {
            return self.value(inner, want, got);
        }
        let equal = match node.kind {
            Kind::Sequence | Kind::Set => return self.components(id, want, got),
            Kind::SequenceOf => return self.list(id, want, got),
            Kind::SetOf => return self.set_of(id, want, got),
            Kind::Choice => return self.alternative(id, want, got),
            Kind::Open => return self.open(id, want, got),
            Kind::Integer => match (want, got) {
                (Value::Number(a), Value::Number(b)) => integer(&a.to_string()) == integer(&b.to_string()),
                _ => want == got,
            },
            Kind::Real => real(want).is_some_and(|a| real(got).is_some_and(|b| a.to_bits() == b.to_bits())),
            Kind::BitString => {
                let fixed = self.fixed_size(id);
                let named = node.item_count > 0;
                match (bits(want, fixed, named), bits(got, fixed, named)) {
                    (Some(a), Some(b)) => a == b,
                    _ => want == got,
                }
            }
            Kind::OctetString => match (octets(want), octets(got)) {
                (Some(a), Some(b)) => a == b,
                _ => want == got,
            },
            Kind::Null => want.is_null() && got.is_null() || is_zero(want) && got.is_null(),
            Kind::UtcTime | Kind::GeneralizedTime => want == got || same_time(want, got),
            _ => want == got,
        };
        if equal { Ok(()) } else { self.differ(want, got) }
    }

    fn components(&mut self, id: NodeId, want: &Value, got: &Value) -> Outcome {
        let (Value::Object(a), Value::Object(b)) = (want, got) else { return self.differ(want, got) };
        for (_, field) in self.shape.fields_of(id) {
            let name = self.shape.name(field.name);
            match (a.get(name), b.get(name)) {
                (Some(want), Some(got)) => self.inside(name, |this| this.value(field.node, want, got))?,
                (None, None) => {}
                (Some(shown), None) | (None, Some(shown)) => {
                    let default = match field.presence {
                        Presence::Default(constant) => self.shape.defaults.get(constant as usize),
                        _ => None,
                    };
                    if !default.is_some_and(|d| self.is_constant(field.node, d, shown)) {
                        let absent = Value::String("(absent)".into());
                        let pair = (a.get(name).unwrap_or(&absent), b.get(name).unwrap_or(&absent));
                        return self.inside(name, |this| this.differ(pair.0, pair.1));
                    }
                }
            }
        }
        for (name, value) in a {
            if !self.shape.fields_of(id).any(|(_, f)| self.shape.name(f.name) == name)
                && b.get(name) != Some(value)
            {
                return self
                    .inside(name, |this| this.differ(value, &Value::String("(no such component)".into())));
            }
        }
        Ok(())
    }

    fn list(&mut self, id: NodeId, want: &Value, got: &Value) -> Outcome {
        let (Value::Array(a), Value::Array(b)) = (want, got) else { return self.differ(want, got) };
        if a.len() != b.len() {
            return self
                .differ(&format!("{} elements", a.len()).into(), &format!("{} elements", b.len()).into());
        }
        let Some((_, element)) = self.shape.fields_of(id).next() else { return Ok(()) };
        for (i, (want, got)) in a.iter().zip(b).enumerate() {
            self.inside(&format!("[{i}]"), |this| this.value(element.node, want, got))?;
        }
        Ok(())
    }

    /// The order means nothing: every element has a partner.
    fn set_of(&mut self, id: NodeId, want: &Value, got: &Value) -> Outcome {
        if self.list(id, want, got).is_ok() {
            return Ok(());
        }
        let (Value::Array(a), Value::Array(b)) = (want, got) else { return self.differ(want, got) };
        let Some((_, element)) = self.shape.fields_of(id).next() else { return Ok(()) };
        let mut left: Vec<&Value> = b.iter().collect();
        for want in a {
            match left.iter().position(|got| self.value(element.node, want, got).is_ok()) {
                Some(at) => drop(left.swap_remove(at)),
                None => return self.list(id, &Value::Array(a.clone()), got),
            }
        }
        if left.is_empty() { Ok(()) } else { self.differ(want, got) }
    }

    fn alternative(&mut self, id: NodeId, want: &Value, got: &Value) -> Outcome {
        let (Some((name, a)), Some((other, b))) = (only_member(want), only_member(got)) else {
            return self.differ(want, got);
        };
        let field = self.shape.fields_of(id).find(|(_, f)| self.shape.name(f.name) == name);
        match field {
            Some((_, field)) if name == other => self.inside(name, |this| this.value(field.node, a, b)),
            _ => self.differ(want, got),
        }
    }

    fn open(&mut self, id: NodeId, want: &Value, got: &Value) -> Outcome {
        let (a, b) = (typed(want), typed(got));
        if let (Some((name, a)), Some((_, b))) = (a, b)
            && let Some(node) = self.row_type(id, name)
        {
            return self.value(node, a, b);
        }
        let (a, b) = (a.map_or(want, |t| t.1), b.map_or(got, |t| t.1));
        if alike(a, b) { Ok(()) } else { self.differ(want, got) }
    }

    /// The type of a table row by the name that the vector has for it.
    fn row_type(&self, id: NodeId, name: &str) -> Option<NodeId> {
        let table = self.shape.node(id).table.as_ref()?;
        let rows = &self.shape.tables.get(table.table as usize)?.rows;
        let row = rows.iter().find(|r| r.type_name.is_some_and(|n| self.shape.name(n) == name))?;
        Some(row.node)
    }

    fn is_constant(&self, id: NodeId, constant: &Constant, shown: &Value) -> bool {
        let node = self.shape.node(id);
        match constant {
            Constant::Boolean(truth) => shown == &Value::Bool(*truth),
            Constant::Int(number) => match shown {
                Value::String(name) => self.shape.item_name(id, *number) == Some(name),
                Value::Number(other) => integer(&other.to_string()) == number.to_string(),
                _ => false,
            },
            Constant::Struct(given) => {
                let Value::Object(members) = shown else { return false };
                self.shape.fields_of(id).all(|(field_id, field)| {
                    let member = members.get(self.shape.name(field.name));
                    match (given.iter().find(|g| g.0 == field_id), member) {
                        (Some((_, constant)), Some(shown)) => self.is_constant(field.node, constant, shown),
                        (given, member) => given.is_none() && member.is_none(),
                    }
                })
            }
            Constant::List(elements) => {
                let element = self.shape.fields_of(id).next();
                let (Value::Array(shown), Some((_, element))) = (shown, element) else { return false };
                shown.len() == elements.len()
                    && elements.iter().zip(shown).all(|(e, s)| self.is_constant(element.node, e, s))
            }
            Constant::Choice(field, inner) => only_member(shown).is_some_and(|(name, shown)| {
                let field = self.shape.field(*field);
                self.shape.name(field.name) == name && self.is_constant(field.node, inner, shown)
            }),
            Constant::Open(inner, value) => {
                self.is_constant(*inner, value, typed(shown).map_or(shown, |(_, value)| value))
            }
            Constant::Contents(contents) => match node.kind {
                Kind::Null => shown.is_null(),
                Kind::OctetString => octets(shown).is_some_and(|o| o == *contents),
                Kind::BitString => {
                    let named = node.item_count > 0;
                    let (unused, octets) = contents.split_first().map_or((0, &[][..]), |(u, o)| (*u, o));
                    let length = octets.len() * 8 - usize::from(unused);
                    bits(shown, self.fixed_size(id), named)
                        .is_some_and(|b| b == trimmed(octets.to_vec(), length, named))
                }
                kind if kind.is_text() => shown.as_str().is_some_and(|s| text_contents(kind, s) == *contents),
                Kind::ObjectIdentifier => {
                    shown.as_str().is_some_and(|s| oid_contents(s).as_ref() == Some(contents))
                }
                Kind::Integer => shown.as_number().is_some_and(|n| fits(&n.to_string(), contents)),
                Kind::Real => real(shown).is_some_and(|r| r != 0.0 || contents.is_empty()),
                _ => shown.as_str().is_some_and(|s| s.as_bytes() == contents),
            },
        }
    }

    fn fixed_size(&self, id: NodeId) -> Option<u64> {
        let constraint = self.shape.constraints.get(self.shape.node(id).constraint? as usize)?;
        match constraint.size {
            Some((low, Some(high))) if low == high => Some(low),
            _ => None,
        }
    }

    fn inside<T>(&mut self, step: &str, go: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.path.len();
        if !step.starts_with('[') {
            self.path.push('.');
        }
        self.path.push_str(step);
        let outcome = go(self);
        self.path.truncate(length);
        outcome
    }

    fn differ(&self, want: &Value, got: &Value) -> Outcome {
        Err(Difference { path: self.path.clone(), want: brief(want), got: brief(got) })
    }
}

/// JSON text for messages, cut when long.
pub fn brief(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(160) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

/// The value in CONTAINING, where the text shows it decoded (X.697 §§ 24.3, 25.3).
fn contained(value: &Value) -> Option<&Value> {
    value.as_object().filter(|o| o.len() == 1)?.get("containing")
}

/// `{"$type": …, "$value": …}`.
fn typed(value: &Value) -> Option<(&str, &Value)> {
    let object = value.as_object()?;
    Some((object.get("$type")?.as_str()?, object.get("$value")?))
}

fn only_member(value: &Value) -> Option<(&str, &Value)> {
    let members: &Map<String, Value> = value.as_object()?;
    let mut members = members.iter();
    let (name, value) = members.next()?;
    if members.next().is_some() { None } else { Some((name, value)) }
}

/// Digits without what means nothing: `-0`, leading zeros, `5.0`, `5e0`.
fn integer(text: &str) -> String {
    let plain = text.strip_suffix(".0").unwrap_or(text);
    let (sign, digits) = plain.strip_prefix('-').map_or(("", plain), |d| ("-", d));
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() { "0".to_owned() } else { format!("{sign}{digits}") }
}

fn real(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.to_string().parse().ok(),
        Value::String(text) => match text.as_str() {
            "INF" => Some(f64::INFINITY),
            "-INF" => Some(f64::NEG_INFINITY),
            "NaN" => Some(f64::NAN),
            "-0" => Some(-0.0),
            _ => None,
        },
        Value::Object(members) => members.get("base10Value").and_then(|v| match v {
            Value::String(text) => text.trim().replace(',', ".").parse().ok(),
            other => real(other),
        }),
        _ => None,
    }
}

fn octets(value: &Value) -> Option<Vec<u8>> {
    value.as_str().and_then(|text| hex::parse(text).ok())
}

/// The octets and the number of bits, from `"A0"`, `{"value": "A0", "length": 3}`, `{"bits": "a0", "len": 3}` or `[5, 3]`.
fn bits(value: &Value, fixed: Option<u64>, named: bool) -> Option<(Vec<u8>, usize)> {
    let (text, length) = match value {
        Value::String(text) => (text.as_str(), fixed.map(|n| n as usize)),
        Value::Array(pair) => return number_and_length(pair, named),
        Value::Object(members) => {
            let text = members.get("value").or_else(|| members.get("bits"))?.as_str()?;
            let length = members.get("length").or_else(|| members.get("len"))?.as_u64()?;
            (text, Some(length as usize))
        }
        _ => return None,
    };
    let octets = hex::parse(text).ok()?;
    let length = length.unwrap_or(octets.len() * 8);
    Some(trimmed(octets, length, named))
}

/// `[5, 3]`: the bits 101 as a number, and how many they are.
fn number_and_length(pair: &[Value], named: bool) -> Option<(Vec<u8>, usize)> {
    let [number, length] = pair else { return None };
    let (mut number, length) = (number.to_string().parse::<u128>().ok()?, length.as_u64()? as usize);
    let count = length.div_ceil(8);
    number = number.checked_shl((count * 8 - length) as u32).unwrap_or_default();
    let octets = number.to_be_bytes();
    let octets = octets.get(octets.len().checked_sub(count)?..)?;
    Some(trimmed(octets.to_vec(), length, named))
}

/// Some tools say NULL as the number zero.
fn is_zero(value: &Value) -> bool {
    value.as_u64() == Some(0)
}

/// `2023-11-05T06:00:01` is `20231105060001`.
fn same_time(want: &Value, got: &Value) -> bool {
    let (Some(want), Some(got)) = (want.as_str(), got.as_str()) else { return false };
    let digits: String = want.chars().filter(|c| !matches!(c, '-' | ':' | 'T')).collect();
    let got = got.strip_suffix('Z').unwrap_or(got);
    // Seconds that the encoding leaves out are shown as zero.
    want.contains('T') && (digits == got || digits.strip_suffix("00") == Some(got))
}

/// Padding bits cleared; with named bits, trailing zero bits removed (X.680 §22.7).
fn trimmed(mut octets: Vec<u8>, mut length: usize, named: bool) -> (Vec<u8>, usize) {
    octets.resize(length.div_ceil(8), 0);
    if !length.is_multiple_of(8)
        && let Some(last) = octets.last_mut()
    {
        *last &= 0xFFu8 << (8 - length % 8);
    }
    if named {
        while length > 0 && octets[(length - 1) / 8] >> (7 - (length - 1) % 8) & 1 == 0 {
            length -= 1;
        }
        octets.truncate(length.div_ceil(8));
    }
    (octets, length)
}

fn text_contents(kind: Kind, text: &str) -> Vec<u8> {
    match kind {
        Kind::BmpString => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
        Kind::UniversalString => text.chars().flat_map(|c| u32::from(c).to_be_bytes()).collect(),
        _ => text.as_bytes().to_vec(),
    }
}

fn oid_contents(text: &str) -> Option<Vec<u8>> {
    let mut arcs = text.split('.').map(|arc| arc.parse::<u128>().ok());
    let (first, second) = (arcs.next()??, arcs.next()??);
    let mut contents = Vec::new();
    for arc in std::iter::once(Some(first * 40 + second)).chain(arcs) {
        let arc = arc?;
        let septets = (128 - arc.leading_zeros()).div_ceil(7).max(1);
        for i in (0..septets).rev() {
            contents.push((arc >> (7 * i)) as u8 & 0x7F | if i > 0 { 0x80 } else { 0 });
        }
    }
    Some(contents)
}

/// Whether a decimal number is what these INTEGER contents say; beyond 128 bits both are taken as the same.
fn fits(decimal: &str, contents: &[u8]) -> bool {
    if contents.len() > 16 {
        return true;
    }
    let start = if contents.first().is_some_and(|b| b & 0x80 != 0) { -1 } else { 0 };
    let number = contents.iter().fold(start, |number: i128, &octet| number << 8 | i128::from(octet));
    integer(decimal) == number.to_string()
}

/// Equal without knowing the type: hexadecimal digits in either case, numbers by their value.
fn alike(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::String(a), Value::String(b)) => {
            a == b || (hex::parse(a).is_ok() && a.eq_ignore_ascii_case(b))
        }
        (Value::Number(_), Value::Number(_)) => a == b || real(a) == real(b),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| alike(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| alike(a, b)))
        }
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn bits_are_equal_whatever_their_form() {
        let same = [
            (json!("A0"), json!({"value": "A0", "length": 8}), None, false),
            (json!("A0"), json!({"value": "a0", "length": 3}), Some(3), false),
            (json!({"bits": "a0", "len": 8}), json!({"value": "A0", "length": 3}), None, true),
            (json!({"value": "", "length": 0}), json!({"value": "00", "length": 4}), None, true),
            (json!([5, 3]), json!({"value": "A0", "length": 3}), None, false),
            (json!([0, 0]), json!({"value": "", "length": 0}), None, false),
        ];
        for (a, b, fixed, named) in same {
            assert_eq!(bits(&a, fixed, named), bits(&b, fixed, named), "{a} {b}");
        }
    }

    #[test]
    fn contents_of_constants() {
        assert_eq!(oid_contents("2.999.3"), Some(vec![0x88, 0x37, 0x03]));
        assert!(fits("-129", &[0xFF, 0x7F]));
        assert_eq!(integer("-007"), "-7");
        assert_eq!(text_contents(Kind::BmpString, "é"), [0x00, 0xE9]);
    }
}
