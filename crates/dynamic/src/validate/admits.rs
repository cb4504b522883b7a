//! Whether a value on a tape is one that an element of a constraint allows.

use super::pattern::Pattern;
use super::settings;
use crate::constant::say;
use crate::leaf::{Scalar, scalar};
use crate::tape::{Token, View};
use crate::text::{decimal_parts, integer_octets};
use crate::value::{Builder, Value};
use crate::{FieldId, Leaf, NodeId, Shape};
use num_bigint::{BigInt, Sign};
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;
use tercet_plan::Kind;
use tercet_plan::constraint::{Components, Element, Number, Presence, Restriction, RestrictionId};
use tercet_plan::shape::{Constant, Key};
use tercet_runtime::ber::{Rules, decode_real};
use tercet_runtime::types::Real;

/// Elements inside one another that are followed; contained subtypes may form circles.
const DEPTH: u16 = 100;
/// How far the mantissa of a REAL is shifted to meet a constraint.
const MOST_SHIFT: u32 = 4_096;

/// Compiled patterns, kept from value to value.
#[derive(Debug, Default)]
pub(crate) struct Patterns(RefCell<HashMap<Box<str>, Option<Arc<Pattern>>>>);

impl Patterns {
    /// Nothing for a pattern that is none.
    pub(crate) fn get(&self, text: &str) -> Option<Arc<Pattern>> {
        let mut known = self.0.borrow_mut();
        if let Some(pattern) = known.get(text) {
            return pattern.clone();
        }
        let pattern = Pattern::new(text).map(Arc::new);
        known.insert(text.into(), pattern.clone());
        pattern
    }
}

/// A value, and what is known around it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Checker<'a> {
    pub(crate) shape: &'a Shape,
    pub(crate) view: View<'a>,
    /// The keys that values of objects go by.
    pub(crate) registers: &'a [Option<Key>],
    pub(crate) patterns: &'a Patterns,
}

/// What is not as it has to be: the innermost element, and the value that it is about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Culprit<'a> {
    pub(crate) element: &'a Element,
    pub(crate) span: (u32, u32),
    /// Index of the token; of the value around it if something is missing.
    pub(crate) at: usize,
    /// The component that has to be present or absent.
    pub(crate) component: Option<(&'a str, Presence)>,
}

impl<'a> Checker<'a> {
    /// The first of the restrictions of a type, in the order of application, that a value does not meet.
    ///
    /// The extension marker of a constraint counts only if no other is applied to its result (X.680 §50.8).
    pub(crate) fn serial(
        self,
        ids: impl DoubleEndedIterator<Item = RestrictionId> + Clone,
        at: usize,
    ) -> Option<Culprit<'a>> {
        let list = &self.shape.restrictions;
        let last = ids.clone().rev().find(|id| is_subtype(&list.get(*id).root));
        ids.into_iter().find_map(|id| {
            let restriction = list.get(id);
            let open = restriction.extensible && last == Some(id);
            if open { None } else { self.culprit(&restriction.root, restriction.span, at, 0) }
        })
    }

    fn restriction(self, restriction: &'a Restriction, at: usize, depth: u16) -> Option<Culprit<'a>> {
        if restriction.extensible {
            return None;
        }
        self.culprit(&restriction.root, restriction.span, at, depth)
    }

    /// What does not meet an element, as far inside as it can be told.
    pub(crate) fn culprit(
        self,
        element: &'a Element,
        span: (u32, u32),
        at: usize,
        depth: u16,
    ) -> Option<Culprit<'a>> {
        if depth > DEPTH {
            return None;
        }
        let depth = depth + 1;
        match element {
            Element::Intersection(parts) => parts.iter().find_map(|part| self.culprit(part, span, at, depth)),
            Element::Subtype(_, ids) => ids.iter().find_map(|id| {
                let restriction = self.shape.restrictions.get(*id);
                self.culprit(&restriction.root, restriction.span, at, depth)
            }),
            Element::Component(inner) => {
                self.children(at).find_map(|child| self.restriction(inner, child, depth))
            }
            Element::Components(parts) => self.components(element, parts, span, at, depth),
            _ if self.admits(element, at, depth) => None,
            _ => Some(Culprit { element, span, at, component: None }),
        }
    }

    /// Whether an element allows the value at an index.
    pub(crate) fn admits(self, element: &'a Element, at: usize, depth: u16) -> bool {
        if depth > DEPTH {
            return true;
        }
        let depth = depth + 1;
        match element {
            Element::All | Element::UserDefined => true,
            Element::Union(parts) => parts.iter().any(|part| self.admits(part, at, depth)),
            Element::Except(from, what) => self.admits(from, at, depth) && !self.admits(what, at, depth),
            Element::Intersection(_)
            | Element::Subtype(..)
            | Element::Component(_)
            | Element::Components(_) => self.culprit(element, (0, 0), at, depth).is_none(),
            Element::Value(constant) => self.is_constant(constant, at),
            Element::Integers(ranges) => match self.leaf(at) {
                Some((_, Leaf::Int(number))) => is_in_ranges(ranges, &integer_octets(number)),
                Some((_, leaf)) => leaf.contents().is_none_or(|contents| is_in_ranges(ranges, contents)),
                None => true,
            },
            Element::Reals(low, high) => self.is_real_between(low.as_ref(), high.as_ref(), at),
            Element::Sizes(ranges) => self.has_size(ranges, at),
            Element::Alphabet(ranges) => self.text(at).is_none_or(|text| {
                text.chars().all(|c| {
                    let code = u32::from(c);
                    let place = ranges.partition_point(|(_, high)| *high < code);
                    ranges.get(place).is_some_and(|(low, _)| *low <= code)
                })
            }),
            Element::Pattern(pattern) => match (self.text(at), self.patterns.get(pattern)) {
                (Some(text), Some(pattern)) => pattern.matches(&text),
                _ => true,
            },
            Element::Settings(wanted) => self.text(at).is_none_or(|text| settings::agree(wanted, &text)),
            Element::Object(table, keys) => self.is_of_object(*table, keys, at),
            // Content that could be decoded stands open on the tape.
            Element::Contents(Some(_), None) => {
                self.leaf(at).is_none_or(|(node, _)| !self.is_content_known(node))
            }
            Element::Contents(..) => true,
        }
    }

    /// Whether it is known what a string contains: an open type may have no type for the keys around the string.
    fn is_content_known(self, node: NodeId) -> bool {
        let inside = self.shape.node(node).containing;
        let Some(table) = inside.and_then(|inside| self.shape.node(inside).table.as_ref()) else {
            return true;
        };
        let rows = self.shape.tables.get(table.table as usize).map(|table| &table.rows);
        rows.is_some_and(|rows| super::told(rows, table, self.registers).is_some())
    }

    fn leaf(self, at: usize) -> Option<(NodeId, Leaf<'a>)> {
        match self.view.token(at) {
            Token::Leaf { node, leaf, .. } => Some((node, leaf)),
            _ => None,
        }
    }

    /// The characters of a string or time.
    fn text(self, at: usize) -> Option<std::borrow::Cow<'a, str>> {
        let (node, leaf) = self.leaf(at)?;
        match scalar(self.shape, node, leaf) {
            Scalar::Text(text) | Scalar::Time(text) => Some(text),
            _ => None,
        }
    }

    /// Indices of the parts of a value.
    pub(crate) fn children(self, at: usize) -> impl Iterator<Item = usize> {
        let close = match self.view.token(at) {
            Token::Open { close, .. } => close,
            _ => at,
        };
        let mut next = at + 1;
        std::iter::from_fn(move || {
            let here = (next < close).then_some(next)?;
            next = self.view.skip(here);
            Some(here)
        })
    }

    fn has_size(self, ranges: &[(u64, Option<u64>)], at: usize) -> bool {
        let fits =
            |size: u64| ranges.iter().any(|(low, high)| size >= *low && high.is_none_or(|high| size <= high));
        match self.view.token(at) {
            Token::Open { node, .. } => {
                // How long decoded content would be depends on the rules that it was in.
                !matches!(self.shape.node(node).kind, Kind::SequenceOf | Kind::SetOf)
                    || fits(self.children(at).count() as u64)
            }
            Token::Leaf { node, leaf, .. } => match scalar(self.shape, node, leaf) {
                Scalar::OctetString(octets) => fits(octets.len() as u64),
                // Of named bits zeros at the end may be added or removed as a size wants it (X.680 §22.7).
                Scalar::BitString(bits) if self.shape.node(node).item_count > 0 => {
                    let least = bits.trimmed(0).len() as u64;
                    ranges.iter().any(|(_, high)| high.is_none_or(|high| least <= high))
                }
                Scalar::BitString(bits) => fits(bits.len() as u64),
                Scalar::Text(text) | Scalar::Time(text) => fits(text.chars().count() as u64),
                _ => true,
            },
            _ => true,
        }
    }

    fn is_real_between(
        self,
        low: Option<&(Box<[u8]>, bool)>,
        high: Option<&(Box<[u8]>, bool)>,
        at: usize,
    ) -> bool {
        let Some((node, leaf)) = self.leaf(at) else { return true };
        let Scalar::Real(real) = scalar(self.shape, node, leaf) else { return true };
        let value = real.to_f64();
        // NOT-A-NUMBER is in no range (X.680 §51.4).
        if matches!(real, Real::NotANumber) {
            return false;
        }
        let end = |end: &(Box<[u8]>, bool)| {
            decode_real(&end.0, 0, Rules::Ber).ok().map(|real| (real.to_f64(), end.1))
        };
        low.and_then(end).is_none_or(|(low, belongs)| value > low || belongs && value == low)
            && high.and_then(end).is_none_or(|(high, belongs)| value < high || belongs && value == high)
    }

    /// Whether the value at an index is a constant.
    pub(crate) fn is_constant(self, constant: &Constant, at: usize) -> bool {
        let (field, node) = match self.view.token(at) {
            Token::Leaf { field, node, leaf } => {
                match (constant, leaf) {
                    (Constant::Int(value), Leaf::Int(number)) => return *value == number,
                    (Constant::Boolean(value), Leaf::Int(number)) => return *value == (number != 0),
                    (Constant::Int(value), _) => {
                        let value = Number::of(&integer_octets(*value));
                        return leaf.contents().is_some_and(|contents| value.compare(contents).is_eq());
                    }
                    (Constant::Contents(value), _)
                        if leaf.contents() == Some(value)
                            || self.shape.node(node).kind.string_kind().is_some() =>
                    {
                        return leaf.contents() == Some(value);
                    }
                    _ => {}
                }
                (field, node)
            }
            Token::Open { field, node, .. } => (field, node),
            _ => return false,
        };
        let mut builder = Builder::new(self.shape);
        say(self.shape, field, node, constant, &mut builder);
        let wanted = builder.take();
        wanted.is_some() && wanted == self.value(at)
    }

    /// The value at an index as a tree.
    pub(crate) fn value(self, at: usize) -> Option<Value> {
        let mut builder = Builder::new(self.shape);
        self.view.replay_part(at, &mut builder);
        builder.take()
    }

    fn is_of_object(self, table: u32, keys: &[u16], at: usize) -> bool {
        let Some(table) = self.shape.restrictions.sets.get(table as usize) else { return true };
        let known = |key: &u16| self.registers.get(usize::from(*key)).and_then(Option::as_ref);
        // A key that was not met says nothing.
        let Some(wanted) = keys.iter().map(known).collect::<Option<Vec<_>>>() else { return true };
        let mut rows =
            table.rows.iter().filter(|(keys, _)| keys.iter().eq(wanted.iter().copied())).peekable();
        // No object has the keys: whether that is wrong is said at the key.
        if table.extensible || rows.peek().is_none() && !keys.is_empty() {
            let mut rows = rows.peekable();
            return rows.peek().is_none()
                || keys.is_empty()
                || rows.any(|(_, value)| self.is_constant(value, at));
        }
        rows.any(|(_, value)| self.is_constant(value, at))
    }

    fn components(
        self,
        element: &'a Element,
        parts: &'a Components,
        span: (u32, u32),
        at: usize,
        depth: u16,
    ) -> Option<Culprit<'a>> {
        let Token::Open { node, .. } = self.view.token(at) else {
            return self.parts_of_real(element, parts, span, at);
        };
        let shape = self.shape;
        let is_choice = shape.node(node).kind == Kind::Choice;
        for (id, field) in shape.fields_of(node) {
            let there = self.child(at, id);
            let Some(component) = parts.list.iter().find(|part| part.name == field.name) else {
                // What a full specification does not name is absent (X.680 §51.8.7).
                if let (false, Some(there)) = (parts.partial, there) {
                    let component = Some((shape.name(field.name), Presence::Absent));
                    return Some(Culprit { element, span, at: there, component });
                }
                continue;
            };
            // In a full specification that says nothing of a component's presence, it is there (X.680 §51.8.9); of
            // the alternatives of a CHOICE only one can be.
            let presence = match component.presence {
                None if !parts.partial && !is_choice => Some(Presence::Present),
                presence => presence,
            };
            match (presence, there) {
                (Some(Presence::Present), None) => {
                    let component = Some((shape.name(field.name), Presence::Present));
                    return Some(Culprit { element, span, at, component });
                }
                (Some(Presence::Absent), Some(there)) => {
                    let component = Some((shape.name(field.name), Presence::Absent));
                    return Some(Culprit { element, span, at: there, component });
                }
                _ => {}
            }
            if let (Some(value), Some(there)) = (&component.value, there)
                && let Some(found) = self.restriction(value, there, depth)
            {
                return Some(found);
            }
        }
        None
    }

    /// The part of a value that is in a field; nothing if it is absent.
    pub(crate) fn child(self, at: usize, wanted: FieldId) -> Option<usize> {
        self.children(at).find(|child| match self.view.token(*child) {
            Token::Leaf { field, .. } | Token::Open { field, .. } => field == wanted,
            _ => false,
        })
    }

    /// Inner subtyping of a REAL by its associated type (X.680 §21.5).
    fn parts_of_real(
        self,
        element: &'a Element,
        parts: &'a Components,
        span: (u32, u32),
        at: usize,
    ) -> Option<Culprit<'a>> {
        let (node, leaf) = self.leaf(at)?;
        let Scalar::Real(real) = scalar(self.shape, node, leaf) else { return None };
        let wanted = |name: &str| {
            let part = parts.list.iter().find(|part| self.shape.name(part.name) == name)?;
            match &part.value.as_ref().filter(|value| !value.extensible)?.root {
                Element::Integers(ranges) => Some(ranges.as_slice()),
                _ => None,
            }
        };
        let fits = |name: &str, number: &BigInt| {
            wanted(name).is_none_or(|ranges| is_in_ranges(ranges, &number.to_signed_bytes_be()))
        };
        let (mantissa, base, exponent) = parts_of(&real)?;
        // Any pair of mantissa and exponent that makes the number will do.
        let most = wanted("exponent").and_then(|ranges| ranges.last()?.1.as_ref());
        let most = most.map_or_else(|| exponent.clone(), |most| BigInt::from_signed_bytes_be(&most.0));
        let shift = u32::try_from(&exponent - most).unwrap_or(0).min(MOST_SHIFT);
        let good = fits("base", &base)
            && (shift..shift + 16).any(|shift| {
                let mantissa = &mantissa * base.pow(shift);
                fits("mantissa", &mantissa) && fits("exponent", &(&exponent - shift))
            });
        (!good).then_some(Culprit { element, span, at, component: None })
    }
}

/// Mantissa, base and exponent of a number that is none of the special values; the mantissa as small as can be.
fn parts_of(real: &Real<'_>) -> Option<(BigInt, BigInt, BigInt)> {
    match real {
        Real::Binary(binary) => {
            let sign = if binary.negative { Sign::Minus } else { Sign::Plus };
            let mantissa = BigInt::from_bytes_be(sign, binary.mantissa);
            let zeros = mantissa.trailing_zeros()?;
            Some((mantissa >> zeros, 2.into(), BigInt::from(binary.exponent2()) + zeros))
        }
        Real::Decimal(decimal) => {
            let (negative, digits, exponent) = decimal_parts(decimal.text)?;
            let mantissa: BigInt = digits.parse().ok()?;
            Some((if negative { -mantissa } else { mantissa }, 10.into(), exponent.into()))
        }
        _ => None,
    }
}

/// Whether a later constraint closes those before it: those that say nothing about values do not.
fn is_subtype(element: &Element) -> bool {
    !matches!(element, Element::UserDefined | Element::Contents(..) | Element::Object(..))
}

fn is_in_ranges(ranges: &[(Option<Number>, Option<Number>)], contents: &[u8]) -> bool {
    if contents.is_empty() {
        return true;
    }
    let place =
        ranges.partition_point(|(_, high)| high.as_ref().is_some_and(|high| high.compare(contents).is_lt()));
    ranges.get(place).is_some_and(|(low, _)| low.as_ref().is_none_or(|low| low.compare(contents).is_le()))
}
