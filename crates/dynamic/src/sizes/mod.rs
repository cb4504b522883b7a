//! Encoded sizes of a type: how many bits its values take by some rules, at least and at most, and how many typical ones.
//!
//! Counted are the values within the roots of constraints, with any known extension additions. Values outside of an
//! extensible constraint, and the additions of later versions, may take more. Lengths of BER are definite and as short as
//! they can be, as every encoder here writes them; CER has its indefinite ones.
//!
//! ```
//! # use tercet_dynamic::{Rules, sizes::sizes};
//! # let mut map = tercet_syntax::SourceMap::new();
//! # let file = map.add("a.asn", "A DEFINITIONS AUTOMATIC TAGS ::= BEGIN
//! #   Dice ::= SEQUENCE { eyes INTEGER (1..6), thrower IA5String (SIZE (2..5)) OPTIONAL } END");
//! # let (modules, _) = tercet_syntax::parse(&map, file, &tercet_syntax::ParseOptions::default());
//! # let (model, _) = tercet_model::resolve(&map, &modules, &tercet_model::Options::default());
//! # let plan = tercet_lower::plan(&model, Rules::Uper, &tercet_lower::all_roots(&model)).0;
//! // Dice ::= SEQUENCE { eyes INTEGER (1..6), thrower IA5String (SIZE (2..5)) OPTIONAL }
//! let sizes = sizes(&plan, Rules::Uper, plan.root("Dice").unwrap()).unwrap();
//! // A presence bit and three bits; two bits and five characters of seven bits.
//! assert_eq!((sizes.least, sizes.most), (4, Some(4 + 2 + 35)));
//! ```

mod ber;
mod contents;
mod grid;
mod oer;
mod per;

use crate::fixpoint::{fixpoint, parts, rows};
use crate::sample::{self, Sampler};
use crate::{Encoder, Tape};
use tercet_plan::{Code, NodeId, Plan, Rules, Shape};

/// The sizes of a type's encodings in bits. By rules other than PER they are multiples of eight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// The least number of bits.
    pub least: u64,
    /// The greatest number of bits; `None` without a bound.
    pub most: Option<u64>,
}

/// Returns the sizes of the encodings of a type; `None` for a type without finite values, and for a plan of other rules.
///
/// In PER the padding at the end of a complete encoding (X.691 11.1) is not counted.
pub fn sizes(plan: &Plan, rules: Rules, root: NodeId) -> Option<Sizes> {
    all_sizes(plan, rules).get(root.index()).copied().flatten()
}

/// Returns the sizes of all nodes of a plan's shape, as [`sizes`] returns those of one.
pub fn all_sizes(plan: &Plan, rules: Rules) -> Vec<Option<Sizes>> {
    let shape = &plan.shape;
    let octets = |spans: Vec<Span>| spans.into_iter().map(|span| span.times(8)).collect();
    let spans: Vec<Span> = match &plan.code {
        Code::Ber(program) => octets(ber::Measure { shape, program, rules }.elements()),
        Code::Oer(program) => octets(oer::Measure { shape, program }.values()),
        Code::Per(program) if program.aligned => per::Measure::<8> { shape, program }.values(),
        Code::Per(program) => per::Measure::<1> { shape, program }.values(),
        _ => Vec::new(),
    };
    let sizes = |span: Span| {
        let is_bounded = span.most != UNBOUNDED;
        (span != Span::NONE).then(|| Sizes { least: span.least, most: is_bounded.then_some(span.most) })
    };
    spans.into_iter().map(sizes).collect()
}

/// Samples whose median is the typical size.
const SAMPLES: usize = 31;

/// Returns the median number of octets of some samples of a type ([`crate::sample`]), the same ones each time; `None` where
/// none can be made or encoded.
pub fn typical(plan: &Plan, rules: Rules, root: NodeId) -> Option<usize> {
    let mut sampler = Sampler::new(&plan.shape, sample::Options::default());
    let (mut tape, mut encoder, mut octets, mut lengths) =
        (Tape::new(), Encoder::new(), Vec::new(), Vec::new());
    for _ in 0..SAMPLES {
        octets.clear();
        let sampled = sampler.sample(root, &mut tape);
        if sampled.is_ok() && encoder.encode(plan, rules, tape.view(&[]), &mut octets).is_ok() {
            lengths.push(octets.len());
        }
    }
    lengths.sort_unstable();
    lengths.get(lengths.len() / 2).copied()
}

/// No bound.
const UNBOUNDED: u64 = u64::MAX;

/// Numbers of bits or octets, from the least to the greatest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    least: u64,
    most: u64,
}

impl Span {
    /// No number: there are no values, or none is known yet.
    const NONE: Self = Self { least: u64::MAX, most: 0 };
    const ZERO: Self = Self::exactly(0);

    const fn exactly(number: u64) -> Self {
        Self { least: number, most: number }
    }

    const fn new(least: u64, most: u64) -> Self {
        Self { least, most }
    }

    fn is_none(self) -> bool {
        self.least > self.most
    }

    /// One value behind another.
    fn then(self, next: Self) -> Self {
        if self.is_none() || next.is_none() {
            return Self::NONE;
        }
        Self { least: self.least.saturating_add(next.least), most: self.most.saturating_add(next.most) }
    }

    /// One value or another.
    fn or(self, other: Self) -> Self {
        Self { least: self.least.min(other.least), most: self.most.max(other.most) }
    }

    /// So many of it, one behind the other.
    fn repeated(self, count: Self) -> Self {
        if count.least == 0 && self.is_none() {
            return Self::ZERO;
        }
        let most = if self.most == 0 { 0 } else { self.most.saturating_mul(count.most) };
        if self.is_none() { self } else { Self { least: self.least.saturating_mul(count.least), most } }
    }

    fn times(self, factor: u64) -> Self {
        if self.is_none() { self } else { self.map(|number| number.saturating_mul(factor)) }
    }

    /// Both ends by a function that keeps their order; no bound stays none.
    fn map(self, function: impl Fn(u64) -> u64) -> Self {
        let apply = |number: u64| if number == UNBOUNDED { number } else { function(number) };
        if self.is_none() { self } else { Self { least: apply(self.least), most: apply(self.most) } }
    }

    /// The same numbers without an upper bound.
    fn endless(self) -> Self {
        if self.is_none() { self } else { Self { most: UNBOUNDED, ..self } }
    }
}

/// Finds the sizes of all nodes, each from those of its parts. They only widen, since nodes that can hold values of their own
/// type are taken for unbounded at once.
fn solve<T: Copy + PartialEq>(
    shape: &Shape,
    none: T,
    endless: impl Fn(T) -> T,
    measure: impl Fn(NodeId, &[T]) -> T,
) -> Vec<T> {
    let is_finite = fixpoint(shape, false, |id, known| {
        parts(shape, id).all(|part| known.get(part.index()).is_none_or(|is_finite| *is_finite))
    });
    fixpoint(shape, none, |id, known| {
        let measured = measure(id, known);
        if is_finite[id.index()] { measured } else { endless(measured) }
    })
}

#[cfg(test)]
mod tests {
    use super::{Span, UNBOUNDED};

    #[test]
    fn spans() {
        let (a, b) = (Span::new(1, 3), Span::new(2, UNBOUNDED));
        assert_eq!(a.then(b), Span::new(3, UNBOUNDED));
        assert_eq!(a.or(b), Span::new(1, UNBOUNDED));
        assert_eq!(a.or(Span::NONE), a);
        assert_eq!(a.then(Span::NONE), Span::NONE);
        assert_eq!(a.repeated(Span::new(0, 2)), Span::new(0, 6));
        assert_eq!(Span::ZERO.repeated(Span::new(1, UNBOUNDED)), Span::ZERO);
        assert_eq!(Span::NONE.repeated(Span::new(0, 9)), Span::ZERO);
        assert_eq!(b.times(8), Span::new(16, UNBOUNDED));
    }
}
