//! The arithmetic behind effective constraints: each constraint as sets, serial application, visibility.

use super::effective::{Effective, IntegerRange, RealRange, SizeRange, Visibility, alphabet_of};
use super::sets::{CharSet, Edge, IntegerSet, RangeSet, SizeSet, Step};
use crate::ir::{Bound, Constraint, ConstraintKind, Element, ElementSet, Model, TypeId, TypeKind, Value};
use num_bigint::BigInt;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use tercet_syntax::Span;

/// References behind references and sets within sets that are followed; more is taken for a cycle.
pub(super) const REFERENCE_LIMIT: usize = 256;

/// Where serial constraints contradict each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Conflict {
    /// The later constraint.
    pub(super) span: Span,
    /// What there is none of: a value, a size, a character.
    pub(super) what: &'static str,
}

/// The first constraint at this place that has nothing in common with those before it.
pub(super) fn conflict(model: &Model, ty: TypeId) -> Option<Conflict> {
    let evaluation = Evaluation::new(model, Visibility::All);
    let own = &model.types[ty.index()];
    let base = model.underlying(ty);
    let governor = evaluation.governor(&model.types[base.index()].kind);
    let mut sets = match own.kind {
        TypeKind::Reference(next) => evaluation.of_type(next, 0).0,
        _ => Sets::default(),
    };
    for constraint in &own.constraints {
        let ConstraintKind::Subtype(set) = &constraint.kind else { continue };
        let new = evaluation.element_set(set, governor, &sets, 0);
        let what = disjoint(sets.integers.as_ref(), new.integers.as_ref())
            .then_some("value")
            .or_else(|| disjoint(sets.sizes.as_ref(), new.sizes.as_ref()).then_some("size"))
            .or_else(|| disjoint(sets.alphabet.as_ref(), new.alphabet.as_ref()).then_some("character"));
        if let Some(what) = what {
            return Some(Conflict { span: constraint.span, what });
        }
        if !new.says_nothing() {
            sets = serial(sets.closed(), new);
        }
    }
    None
}

/// Whether two constraints together leave nothing, or the new one alone does.
fn disjoint<T: Step>(parent: Option<&Marked<T>>, new: Option<&Marked<T>>) -> bool {
    match (parent, new) {
        (Some(parent), Some(new)) => parent.set.intersection(&new.set).is_empty(),
        (None, Some(new)) => new.set.is_empty(),
        (_, None) => false,
    }
}

/// A set with its extension marker.
#[derive(Clone, Debug)]
struct Marked<T> {
    /// The root.
    set: RangeSet<T>,
    extensible: bool,
    /// What stands behind the marker.
    additions: RangeSet<T>,
}

impl<T: Step> Marked<T> {
    fn root(set: RangeSet<T>) -> Self {
        Self { set, extensible: false, additions: RangeSet::empty() }
    }

    fn all(&self) -> RangeSet<T> {
        self.set.union(&self.additions)
    }

    /// The root alone.
    fn close(&mut self) {
        self.extensible = false;
        self.additions = RangeSet::empty();
    }

    /// The same root with a marker and what follows it.
    fn open(&mut self, additions: Option<Self>) {
        self.extensible = true;
        if let Some(additions) = additions {
            self.additions = self.additions.union(&additions.all());
        }
    }
}

/// What a constraint says about each kind of set; `None` is nothing.
#[derive(Clone, Debug, Default)]
struct Sets {
    integers: Option<Marked<BigInt>>,
    sizes: Option<Marked<u64>>,
    alphabet: Option<Marked<u32>>,
}

impl Sets {
    fn says_nothing(&self) -> bool {
        self.integers.is_none() && self.sizes.is_none() && self.alphabet.is_none()
    }

    fn each(self, other: Self, how: How) -> Self {
        Self {
            integers: combine(self.integers, other.integers, how),
            sizes: combine(self.sizes, other.sizes, how),
            alphabet: combine(self.alphabet, other.alphabet, how),
        }
    }

    /// The roots alone.
    fn closed(mut self) -> Self {
        self.integers.iter_mut().for_each(Marked::close);
        self.sizes.iter_mut().for_each(Marked::close);
        self.alphabet.iter_mut().for_each(Marked::close);
        self
    }

    /// The same roots with markers and what follows them.
    fn opened(mut self, additions: Self) -> Self {
        if let Some(integers) = &mut self.integers {
            integers.open(additions.integers);
        }
        if let Some(sizes) = &mut self.sizes {
            sizes.open(additions.sizes);
        }
        if let Some(alphabet) = &mut self.alphabet {
            alphabet.open(additions.alphabet);
        }
        self
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    Union,
    Intersection,
}

fn combine<T: Step>(a: Option<Marked<T>>, b: Option<Marked<T>>, how: How) -> Option<Marked<T>> {
    match (a, b, how) {
        (Some(a), Some(b), How::Union) => Some(Marked {
            set: a.set.union(&b.set),
            extensible: a.extensible || b.extensible,
            additions: a.additions.union(&b.additions),
        }),
        (Some(a), Some(b), How::Intersection) => {
            let additions = match a.extensible || b.extensible {
                true => a.all().intersection(&b.all()),
                false => RangeSet::empty(),
            };
            Some(Marked {
                set: a.set.intersection(&b.set),
                extensible: a.extensible || b.extensible,
                additions,
            })
        }
        (None, other, How::Intersection) | (other, None, How::Intersection) => other,
        (None, _, How::Union) | (_, None, How::Union) => None,
    }
}

/// What kind of members an element has where it stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Governor {
    Integer,
    Size,
    /// Characters, within FROM.
    Characters,
    /// A string type; whether sizes count, whether characters do.
    Sized {
        alphabet: bool,
    },
    /// A type whose constraints are none of these.
    Other,
}

pub(super) struct Evaluation<'m> {
    model: &'m Model,
    visibility: Visibility,
    /// Contained subtypes that have been evaluated: `INTEGER (A | A)` would double the work at each step of a chain.
    contained: RefCell<FxHashMap<TypeId, (Sets, Option<RealRange>)>>,
}

impl<'m> Evaluation<'m> {
    pub(super) fn new(model: &'m Model, visibility: Visibility) -> Self {
        Self { model, visibility, contained: RefCell::default() }
    }

    /// The effective constraints of a type.
    pub(super) fn effective(&self, ty: TypeId) -> Effective {
        let (sets, real) = self.of_type(ty, 0);
        self.finish(sets, real)
    }

    /// The constraints of a contained subtype, worked out once.
    fn contained(&self, ty: TypeId, depth: usize) -> (Sets, Option<RealRange>) {
        if let Some(known) = self.contained.borrow().get(&ty) {
            return known.clone();
        }
        let made = self.of_type(ty, depth);
        self.contained.borrow_mut().insert(ty, made.clone());
        made
    }

    /// All constraints of a type in the order of application.
    fn of_type(&self, ty: TypeId, depth: usize) -> (Sets, Option<RealRange>) {
        let mut chain = vec![ty];
        let mut base = ty;
        while let TypeKind::Reference(next) = self.model.types[base.index()].kind {
            if chain.len() > REFERENCE_LIMIT {
                return (Sets::default(), None);
            }
            base = next;
            chain.push(next);
        }
        let governor = self.governor(&self.model.types[base.index()].kind);
        let is_real = matches!(self.model.types[base.index()].kind, TypeKind::Real);
        let mut sets = Sets::default();
        let mut real = None;
        if depth > REFERENCE_LIMIT {
            return (sets, real);
        }
        for ty in chain.iter().rev() {
            for constraint in &self.model.types[ty.index()].constraints {
                let ConstraintKind::Subtype(set) = &constraint.kind else { continue };
                if constraint.variable && self.visibility != Visibility::All {
                    continue;
                }
                if is_real {
                    self.real(set, &mut real);
                    continue;
                }
                let new = self.element_set(set, governor, &sets, depth);
                // A constraint of which nothing is visible leaves even the parent's extensibility alone; any other
                // applies to the parent's root, and the result is extensible only by its own marker (X.680 §50.8).
                if !new.says_nothing() {
                    sets = serial(sets.closed(), new);
                }
            }
        }
        (sets, real)
    }

    fn governor(&self, kind: &TypeKind) -> Governor {
        let all = self.visibility == Visibility::All;
        match kind {
            TypeKind::Integer(_) => Governor::Integer,
            TypeKind::BitString(_)
            | TypeKind::OctetString
            | TypeKind::SequenceOf(..)
            | TypeKind::SetOf(..) => Governor::Sized { alphabet: false },
            // X.691 §10.3.9: constraints on strings without a known multiplier are not visible. X.696 §8.2: no
            // permitted alphabet is.
            TypeKind::CharacterString(kind) if all || alphabet_of(*kind).is_some() => {
                Governor::Sized { alphabet: self.visibility != Visibility::Oer }
            }
            TypeKind::UnrestrictedCharacterString if all => Governor::Sized { alphabet: false },
            TypeKind::UtcTime | TypeKind::GeneralizedTime | TypeKind::ObjectDescriptor if all => {
                Governor::Sized { alphabet: true }
            }
            _ => Governor::Other,
        }
    }

    fn element_set(&self, set: &ElementSet, governor: Governor, parent: &Sets, depth: usize) -> Sets {
        let root = self.element(&set.root, governor, parent, depth);
        if !set.extensible {
            return root;
        }
        let additions = match &set.additional {
            Some(additional) if self.visibility == Visibility::All => {
                self.element(additional, governor, parent, depth)
            }
            _ => Sets::default(),
        };
        root.opened(additions)
    }

    fn element(&self, element: &Element, governor: Governor, parent: &Sets, depth: usize) -> Sets {
        if depth > REFERENCE_LIMIT || governor == Governor::Other {
            return Sets::default();
        }
        let depth = depth + 1;
        match element {
            Element::Union(parts) => self.fold(parts, How::Union, governor, parent, depth),
            Element::Intersection(parts) => self.fold(parts, How::Intersection, governor, parent, depth),
            // X.691 §10.3.20: EXCEPT and what follows is ignored.
            Element::Except(from, what) => {
                let from = self.element(from, governor, parent, depth);
                if self.visibility != Visibility::All {
                    return from;
                }
                except(from, self.element(what, governor, parent, depth), governor)
            }
            Element::Value(value) => match (governor, value) {
                (Governor::Integer, Value::Integer(value)) => integers(IntegerSet::one(value.clone())),
                (Governor::Size, Value::Integer(value)) => {
                    sizes(size_edge(value).map_or_else(SizeSet::empty, |edge| {
                        if edge == Edge::Above {
                            SizeSet::empty()
                        } else {
                            SizeSet::range(edge.clone(), edge)
                        }
                    }))
                }
                (Governor::Characters, Value::Text(text)) => alphabet(CharSet::of_text(text)),
                _ => Sets::default(),
            },
            Element::Range(lo, hi) => self.range(lo, hi, governor, parent),
            // The root only: an extension marker is not inherited through a contained subtype (X.680 §52.4).
            Element::Type(ty) => match governor {
                Governor::Size => match self.contained(*ty, depth).0.integers {
                    Some(marked) => sizes(to_sizes(&marked.set)),
                    None => Sets::default(),
                },
                Governor::Characters => {
                    let own = self.contained(*ty, depth).0.closed();
                    Sets { alphabet: own.alphabet, ..Sets::default() }
                }
                _ => self.contained(*ty, depth).0.closed(),
            },
            Element::Size(set) if matches!(governor, Governor::Sized { .. }) => {
                let parent = Sets { sizes: parent.sizes.clone(), ..Sets::default() };
                self.element_set(set, Governor::Size, &parent, depth)
            }
            Element::Alphabet(set) if governor == (Governor::Sized { alphabet: true }) => {
                let parent = Sets { alphabet: parent.alphabet.clone(), ..Sets::default() };
                self.element_set(set, Governor::Characters, &parent, depth)
            }
            // A range of characters applied to a string type outside FROM says nothing here, as do the rest.
            _ => Sets::default(),
        }
    }

    fn fold(&self, parts: &[Element], how: How, governor: Governor, parent: &Sets, depth: usize) -> Sets {
        if how == How::Union
            && parts.len() > 8
            && let Some(all) = many(parts, governor)
        {
            return all;
        }
        let mut parts = parts.iter().map(|part| self.element(part, governor, parent, depth));
        let first = parts.next().unwrap_or_default();
        parts.fold(first, |all, part| all.each(part, how))
    }

    fn range(&self, lo: &Bound, hi: &Bound, governor: Governor, parent: &Sets) -> Sets {
        match governor {
            Governor::Integer => {
                let hull = parent.integers.as_ref().and_then(|m| m.set.hull());
                let (min, max) = hull.unwrap_or((Edge::Below, Edge::Above));
                let edge = |bound: &Bound| integer_edge(bound, &min, &max);
                match (edge(lo), edge(hi)) {
                    (Some(lo), Some(hi)) => integers(IntegerSet::range(lo, hi)),
                    _ => Sets::default(),
                }
            }
            Governor::Size => {
                let hull = parent.sizes.as_ref().and_then(|m| m.set.hull());
                let (min, max) = hull.unwrap_or((Edge::At(0), Edge::Above));
                let edge = |bound: &Bound| match bound {
                    Bound::Min => Some(min.clone()),
                    Bound::Max => Some(max.clone()),
                    Bound::Closed(Value::Integer(value)) | Bound::Open(Value::Integer(value)) => {
                        Some(size_edge(value).unwrap_or(Edge::At(0)))
                    }
                    _ => None,
                };
                match (edge(lo), edge(hi)) {
                    (Some(Edge::Above), Some(_)) => sizes(SizeSet::empty()),
                    (Some(lo), Some(hi)) => sizes(SizeSet::range(lo, hi)),
                    _ => Sets::default(),
                }
            }
            Governor::Characters => {
                let hull = parent.alphabet.as_ref().and_then(|m| m.set.hull());
                let (min, max) = hull.unwrap_or((Edge::Below, Edge::Above));
                let edge = |bound: &Bound| match bound {
                    Bound::Min => Some(min.clone()),
                    Bound::Max => Some(max.clone()),
                    Bound::Closed(Value::Text(text)) | Bound::Open(Value::Text(text)) => {
                        text.chars().next().map(|c| Edge::At(u32::from(c)))
                    }
                    _ => None,
                };
                match (edge(lo), edge(hi)) {
                    (Some(lo), Some(hi)) => alphabet(CharSet::range(lo, hi)),
                    _ => Sets::default(),
                }
            }
            Governor::Sized { .. } | Governor::Other => Sets::default(),
        }
    }

    /// Inner subtyping of REAL: the bounds of mantissa, base and exponent (X.680 §21.5, X.696 §12).
    fn real(&self, set: &ElementSet, real: &mut Option<RealRange>) {
        if self.visibility == Visibility::Per || (set.extensible && self.visibility == Visibility::Oer) {
            return;
        }
        let parts: &[Element] = match &set.root {
            Element::Intersection(parts) => parts,
            other => std::slice::from_ref(other),
        };
        for part in parts {
            match part {
                Element::WithComponents { components, .. } => {
                    let real = real.get_or_insert_default();
                    for component in components {
                        let Some(Constraint { kind: ConstraintKind::Subtype(set), .. }) =
                            component.constraint.as_deref()
                        else {
                            continue;
                        };
                        let sets = self.element_set(set, Governor::Integer, &Sets::default(), 0);
                        let Some(range) = sets.integers.map(|m| integer_hull(&m)) else { continue };
                        match component.name.as_str() {
                            "mantissa" => real.mantissa = range,
                            "exponent" => real.exponent = range,
                            "base" if range.lo == range.hi => {
                                real.base = range.lo.and_then(|base| u8::try_from(base).ok());
                            }
                            _ => {}
                        }
                    }
                }
                Element::Type(ty) => {
                    if let (_, Some(inner)) = self.contained(*ty, 1) {
                        *real = Some(inner);
                    }
                }
                _ => {}
            }
        }
    }

    /// What a type's sets come to for this purpose.
    fn finish(&self, mut sets: Sets, real: Option<RealRange>) -> Effective {
        // Only the view of everything has gathered additions.
        sets.integers.iter_mut().for_each(|m| m.set = m.all());
        sets.sizes.iter_mut().for_each(|m| m.set = m.all());
        let oer = self.visibility == Visibility::Oer;
        // X.696 §8.2.4: an extensible constraint is not OER-visible.
        let integers = sets.integers.filter(|m| !(m.set.is_empty() || oer && m.extensible));
        let sizes = sets.sizes.filter(|m| !(m.set.is_empty() || oer && m.extensible));
        // X.691 §10.3.13: an extensible permitted alphabet is not PER-visible.
        let alphabet = sets.alphabet.filter(|m| !m.extensible && !m.set.is_empty());
        Effective {
            integer: integers.as_ref().map(integer_hull),
            size: sizes.as_ref().map(size_hull),
            alphabet: alphabet.map(|m| m.set),
            integers: integers.map(|m| m.set),
            sizes: sizes.map(|m| m.set),
            real,
        }
    }
}

/// Serial application: the members of the new constraint that the parent has. Where none is left, which has been
/// reported, the new constraint alone counts.
fn serial(parent: Sets, new: Sets) -> Sets {
    fn one<T: Step>(parent: Option<Marked<T>>, new: Option<Marked<T>>) -> Option<Marked<T>> {
        match (parent, new) {
            (Some(parent), Some(new)) => {
                let set = parent.set.intersection(&new.set);
                let additions = parent.set.intersection(&new.additions);
                Some(if set.is_empty() { new } else { Marked { set, additions, ..new } })
            }
            (parent, new) => new.or(parent),
        }
    }
    Sets {
        integers: one(parent.integers, new.integers),
        sizes: one(parent.sizes, new.sizes),
        alphabet: one(parent.alphabet, new.alphabet),
    }
}

/// `a EXCEPT b`, exact where `b` speaks of one kind of set only; else nothing can be left out for sure.
fn except(from: Sets, what: Sets, governor: Governor) -> Sets {
    fn one<T: Step>(from: Option<Marked<T>>, what: Option<Marked<T>>) -> Option<Marked<T>> {
        match (from, what) {
            (from, Some(what)) => {
                let from = from.unwrap_or_else(|| Marked::root(RangeSet::all()));
                Some(Marked { set: from.set.except(&what.set), ..from })
            }
            (from, None) => from,
        }
    }
    let kinds = [what.integers.is_some(), what.sizes.is_some(), what.alphabet.is_some()];
    // Outside FROM, a string is excluded when *all* its characters are in the excluded alphabet.
    let alphabet_is_exact = governor == Governor::Characters;
    if kinds.iter().filter(|&&k| k).count() != 1 || (what.alphabet.is_some() && !alphabet_is_exact) {
        return from;
    }
    Sets {
        integers: one(from.integers, what.integers),
        sizes: one(from.sizes, what.sizes),
        alphabet: one(from.alphabet, what.alphabet),
    }
}

/// Long unions of single values at once rather than pair by pair.
fn many(parts: &[Element], governor: Governor) -> Option<Sets> {
    match governor {
        Governor::Integer => {
            let values: Option<Vec<_>> = parts
                .iter()
                .map(|part| match part {
                    Element::Value(Value::Integer(value)) => {
                        Some((Edge::At(value.clone()), Edge::At(value.clone())))
                    }
                    _ => None,
                })
                .collect();
            Some(integers(IntegerSet::of(values?)))
        }
        Governor::Characters => {
            let texts: Option<String> = parts
                .iter()
                .map(|part| match part {
                    Element::Value(Value::Text(text)) => Some(text.as_str()),
                    _ => None,
                })
                .collect();
            Some(alphabet(CharSet::of_text(&texts?)))
        }
        _ => None,
    }
}

fn integers(set: IntegerSet) -> Sets {
    Sets { integers: Some(Marked::root(set)), ..Sets::default() }
}

fn sizes(set: SizeSet) -> Sets {
    Sets { sizes: Some(Marked::root(set)), ..Sets::default() }
}

fn alphabet(set: CharSet) -> Sets {
    Sets { alphabet: Some(Marked::root(set)), ..Sets::default() }
}

fn integer_edge(bound: &Bound, min: &Edge<BigInt>, max: &Edge<BigInt>) -> Option<Edge<BigInt>> {
    match bound {
        Bound::Min => Some(min.clone()),
        Bound::Max => Some(max.clone()),
        Bound::Closed(Value::Integer(value)) | Bound::Open(Value::Integer(value)) => {
            Some(Edge::At(value.clone()))
        }
        _ => None,
    }
}

/// A size that 64 bits cannot hold is no bound at all; a negative one is none either and has been reported.
fn size_edge(value: &BigInt) -> Option<Edge<u64>> {
    match u64::try_from(value) {
        Ok(size) => Some(Edge::At(size)),
        Err(_) if value.sign() == num_bigint::Sign::Minus => None,
        Err(_) => Some(Edge::Above),
    }
}

fn to_sizes(set: &IntegerSet) -> SizeSet {
    SizeSet::of(set.ranges().iter().filter_map(|(lo, hi)| {
        let lo = lo.at().and_then(size_edge).unwrap_or(Edge::At(0));
        let hi = hi.at().map_or(Some(Edge::Above), size_edge)?;
        Some((lo, hi))
    }))
}

fn integer_hull(marked: &Marked<BigInt>) -> IntegerRange {
    let (lo, hi) = marked.set.hull().unwrap_or((Edge::Below, Edge::Above));
    IntegerRange { lo: lo.at().cloned(), hi: hi.at().cloned(), extensible: marked.extensible }
}

fn size_hull(marked: &Marked<u64>) -> SizeRange {
    let (lo, hi) = marked.set.hull().unwrap_or((Edge::Below, Edge::Above));
    SizeRange { lo: lo.at().copied().unwrap_or(0), hi: hi.at().copied(), extensible: marked.extensible }
}
