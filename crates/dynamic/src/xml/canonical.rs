//! The canonical form (X.693 clause 9): numbers and times in one form, DEFAULTs left out, SETs in order.

use super::variant::Variant;
use super::write::{Options, XmlWriter};
use crate::constant::say_constant;
use crate::event::Leaf;
use crate::read_error::ReadError;
use crate::tape::View;
use crate::text::{RealText, decimal_parts, push_integer, push_real};
use std::borrow::Cow;
use std::collections::HashMap;
use tercet_plan::shape::Presence;
use tercet_plan::{FieldId, Kind, NodeId, Shape};
use tercet_runtime::types::{GeneralizedTime, Real, UtcTime};

/// What the writer remembers for the canonical form.
#[derive(Clone, Debug, Default)]
pub(super) struct Canonical {
    /// The parts of the values that are open, one after the other: field, and where its text begins.
    parts: Vec<(FieldId, usize)>,
    /// For each value that is open, where its parts begin.
    open: Vec<usize>,
    /// The texts of DEFAULTs that were met.
    defaults: HashMap<FieldId, Vec<u8>>,
    /// The clause that is not followed, to find out which one a text breaks.
    pub(super) except: Option<Clause>,
}

/// A clause of which a text can be told apart only as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Clause {
    /// 9.5: no DEFAULTs.
    Defaults,
    /// 9.6: components of a SET by tag.
    SetOrder,
    /// 9.7: elements of a SET OF by text.
    SetOfOrder,
}

impl Canonical {
    pub(super) fn clear(&mut self) {
        self.parts.clear();
        self.open.clear();
    }

    pub(super) fn open(&mut self) {
        self.open.push(self.parts.len());
    }

    /// A part of the innermost open value was written.
    pub(super) fn part(&mut self, field: FieldId, begin: usize) {
        self.parts.push((field, begin));
    }

    /// A value ends: the components of a SET are put in the order of their tags (9.6), the elements of a SET OF in that
    /// of their texts (9.7).
    pub(super) fn close(&mut self, shape: &Shape, node: NodeId, out: &mut Vec<u8>) {
        let from = self.open.pop().unwrap_or(0).min(self.parts.len());
        let parts = self.parts.get(from..).unwrap_or_default();
        match shape.nodes.get(node.index()).map(|node| node.kind) {
            Some(Kind::Set) if self.except != Some(Clause::SetOrder) => {
                let place = |field: FieldId| shape.place_in_set(node, field);
                sort(out, parts, |a, b| place(a.0).cmp(&place(b.0)));
            }
            Some(Kind::SetOf) if self.except != Some(Clause::SetOfOrder) => {
                sort(out, parts, |a, b| a.1.cmp(b.1))
            }
            _ => {}
        }
        self.parts.truncate(from);
    }

    /// Whether a component has its DEFAULT and so is left out (9.5): its text is then the same.
    pub(super) fn is_default(
        &mut self,
        shape: &Shape,
        options: &Options,
        field: FieldId,
        written: &[u8],
    ) -> bool {
        let Some(it) = shape.fields.get(field.index()) else { return false };
        let Presence::Default(constant) = it.presence else { return false };
        if self.except == Some(Clause::Defaults) {
            return false;
        }
        let default = self.defaults.entry(field).or_insert_with(|| {
            let mut writer = XmlWriter::of_component(shape, options.clone(), it.parent);
            writer.keep_defaults(field);
            say_constant(shape, field, it.node, constant, &mut writer);
            writer.text().to_vec()
        });
        default == written
    }

    /// The text of this DEFAULT itself is written.
    pub(super) fn keep(&mut self, field: FieldId) {
        self.defaults.insert(field, Vec::new());
    }
}

/// Whether a text is the canonical one of the value that was read from it; the error names the clause.
pub(super) fn check(shape: &Shape, text: &[u8], value: View<'_>, root: &str) -> Result<(), ReadError> {
    let options = Options { variant: Variant::Canonical, root: Some(root.to_owned()), ..Options::default() };
    let written = |except| {
        let mut writer = XmlWriter::new(shape, options.clone());
        if let Some(canonical) = &mut writer.canonical {
            canonical.except = except;
        }
        value.replay(&mut writer);
        std::mem::take(writer.text_mut())
    };
    let right = written(None);
    if right == text {
        return Ok(());
    }
    let at = difference(text, &right);
    // White space, references, a byte order mark, or what is no element.
    let begins = |begin: &str| text.get(at..).is_some_and(|rest| rest.starts_with(begin.as_bytes()));
    let is_markup = at > 0 && text.get(at - 1) == Some(&b'<') && (begins("!") || begins("?"));
    let is_white = text.get(at).is_some_and(|octet| super::document::is_white_octet(*octet));
    if is_white || is_markup || ["<!", "<?", "&", "\u{FEFF}"].into_iter().any(begins) {
        let message = "no white space, prolog, comments or other references (X.693 9.1)";
        return Err(ReadError::new(text, at, message));
    }
    if right.get(at) == Some(&b'/') && begins("></") {
        return Err(ReadError::new(text, at, "an element with nothing in it ends with `/>` (X.693 9.1)"));
    }
    let clauses = [
        (Clause::Defaults, "a component with its DEFAULT is not written (X.693 9.5)"),
        (Clause::SetOrder, "the components of a SET are in the order of their tags (X.693 9.6)"),
        (Clause::SetOfOrder, "the elements of a SET OF ascend (X.693 9.7)"),
    ];
    for (clause, message) in clauses {
        if difference(text, &written(Some(clause))) > at {
            return Err(ReadError::new(text, at, message));
        }
    }
    Err(ReadError::new(text, at, "the one form of this value is another (X.693 clause 9)"))
}

fn difference(a: &[u8], b: &[u8]) -> usize {
    let same = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    if same == a.len() && a.len() == b.len() { usize::MAX } else { same }
}

/// Whether the characters of a primitive value are those of the canonical form, as far as each type has a clause of its
/// own; if not, what the clause says.
pub(super) fn check_leaf(
    shape: &Shape,
    node: NodeId,
    contents: &[u8],
    text: &str,
) -> Result<(), &'static str> {
    let mut writer = XmlWriter::new(shape, Options { variant: Variant::Canonical, ..Options::default() });
    writer.value(node, Leaf::Made(contents));
    let kind = shape.node(node).kind;
    let settled = match kind {
        Kind::UtcTime => UtcTime::parse(contents, 0).is_ok_and(|time| time.is_canonical()),
        Kind::GeneralizedTime => GeneralizedTime::parse(contents, 0).is_ok_and(|time| time.is_canonical()),
        _ => true,
    };
    // White space around is a matter of 9.1.
    if settled && writer.text() == text.as_bytes() || text.trim_ascii() != text {
        return Ok(());
    }
    Err(match kind {
        Kind::Real => {
            "a number has one digit that is not zero, a full stop, digits, `E` and exponent (X.693 9.2)"
        }
        Kind::BitString => "bits are written as 0 and 1, without the zeros that mean nothing (X.693 9.3)",
        Kind::OctetString => "bytes are written in hexadecimal with capital letters (X.693 9.4)",
        Kind::ObjectIdentifier => "an OBJECT IDENTIFIER is written in numbers (X.693 9.8)",
        Kind::RelativeOid => "a RELATIVE-OID is written in numbers (X.693 9.9)",
        Kind::GeneralizedTime => {
            "the time is in UTC, with seconds, no zero at the end of the fraction (X.693 9.10)"
        }
        Kind::UtcTime => "the time is in UTC, with seconds (X.693 9.11)",
        _ => return Ok(()),
    })
}

/// Brings parts into an order; they stand one behind the other up to the end of the text.
fn sort(
    out: &mut Vec<u8>,
    parts: &[(FieldId, usize)],
    order: impl Fn(&(FieldId, &[u8]), &(FieldId, &[u8])) -> std::cmp::Ordering,
) {
    let Some(&(_, begin)) = parts.first() else { return };
    let ends = parts.iter().skip(1).map(|part| part.1).chain([out.len()]);
    let mut texts: Vec<(FieldId, &[u8])> = parts
        .iter()
        .zip(ends)
        .map(|(&(field, begin), end)| (field, out.get(begin..end).unwrap_or_default()))
        .collect();
    if texts.is_sorted_by(|a, b| order(a, b).is_le()) {
        return;
    }
    texts.sort_by(&order);
    let sorted: Vec<u8> = texts.iter().flat_map(|(_, text)| text.iter().copied()).collect();
    out.truncate(begin);
    out.extend_from_slice(&sorted);
}

/// Whether characters of this kind have more than one form.
pub(super) const fn has_forms(kind: Kind) -> bool {
    matches!(kind, Kind::UtcTime | Kind::GeneralizedTime)
}

/// Appends a finite REAL other than zero in the form of 9.2, `-1.25E-3`: one digit that is not zero, a full stop,
/// at least one digit and no zeros more, the exponent. Nothing is appended for other values.
pub(super) fn push_number(out: &mut Vec<u8>, real: &Real<'_>) -> bool {
    let mut text = Vec::new();
    if push_real(&mut text, real) != RealText::Number {
        return false;
    }
    let parts = str::from_utf8(&text).ok().and_then(decimal_parts);
    let Some((negative, digits, exponent)) = parts else { return false };
    let (first, rest) = digits.split_at(1);
    if negative {
        out.push(b'-');
    }
    out.extend_from_slice(first.as_bytes());
    out.push(b'.');
    out.extend_from_slice(if rest.is_empty() { b"0" } else { rest.as_bytes() });
    out.push(b'E');
    push_integer(out, exponent.saturating_add(rest.len() as i64));
    true
}

/// UTCTime and GeneralizedTime in UTC, with seconds (9.10, 9.11). A local time stays one.
pub(super) fn time(kind: Kind, text: &str) -> Cow<'_, str> {
    let canonical = match kind {
        Kind::UtcTime => UtcTime::parse(text.as_bytes(), 0).ok().map(|time| time.canonical().to_string()),
        Kind::GeneralizedTime => {
            let time = GeneralizedTime::parse(text.as_bytes(), 0).ok();
            time.and_then(|time| time.canonical()).map(|time| time.to_string())
        }
        _ => None,
    };
    canonical.map_or(Cow::Borrowed(text), Cow::Owned)
}
