//! Effective constraints: what is left of all constraints of a type for one purpose.
//!
//! The purposes differ in what they see ([`Visibility`]); the arithmetic is the same. Each constraint becomes three
//! sets (integers, sizes, characters); a union with a part that says nothing about a set says nothing about it, which
//! is how `SIZE` within a union of other kinds drops out (X.691 §10.3.20, B.2.2).

use super::evaluate::{Evaluation, REFERENCE_LIMIT};
use super::sets::{CharSet, Edge, IntegerSet, SizeSet};
use crate::ir::{Constraint, ConstraintKind, Model, ObjectSetId, Relation, StringKind, TypeId, TypeKind};
use crate::tags::text_kind;
use num_bigint::BigInt;
use tercet_runtime::text;

/// For what a constraint is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Visibility {
    /// PER-visible (X.691 §10.3).
    Per,
    /// OER-visible (X.696 §8.2).
    Oer,
    /// Everything, for validation: exact sets, EXCEPT obeyed.
    All,
}

/// What the constraints of a type come to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effective {
    /// The effective value constraint of an INTEGER: the hull.
    pub integer: Option<IntegerRange>,
    /// The effective size constraint: the hull.
    pub size: Option<SizeRange>,
    /// The effective permitted alphabet; `None` means that of the type, see [`alphabet_of`].
    pub alphabet: Option<CharSet>,
    /// The members of which [`Self::integer`] is the hull.
    pub integers: Option<IntegerSet>,
    /// The members of which [`Self::size`] is the hull.
    pub sizes: Option<SizeSet>,
    /// Inner subtyping of a REAL (X.696 §12.2).
    pub real: Option<RealRange>,
}

/// The hull of an INTEGER's values; `None` is no bound.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IntegerRange {
    /// The least value.
    pub lo: Option<BigInt>,
    /// The greatest value.
    pub hi: Option<BigInt>,
    /// Whether values beyond the root may come.
    pub extensible: bool,
}

/// The hull of sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SizeRange {
    /// The least size.
    pub lo: u64,
    /// The greatest size, `None` without a bound.
    pub hi: Option<u64>,
    /// Whether sizes beyond the root may come.
    pub extensible: bool,
}

/// Bounds on the parts of a REAL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RealRange {
    /// The mantissa.
    pub mantissa: IntegerRange,
    /// The base, when only one is left.
    pub base: Option<u8>,
    /// The exponent.
    pub exponent: IntegerRange,
}

/// CONTAINING and ENCODED BY (X.682 §11).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contents<'m> {
    /// The type inside.
    pub containing: Option<TypeId>,
    /// The rules' OID.
    pub encoded_by: Option<&'m [u128]>,
}

impl Model {
    /// The effective constraints of a type: of its own notation and of every type that it refers to.
    pub fn effective(&self, ty: TypeId, visibility: Visibility) -> Effective {
        Evaluation::new(self, visibility).effective(ty)
    }

    /// The innermost type behind references; [`TypeKind::Error`] types and cycles end the walk.
    pub fn underlying(&self, mut ty: TypeId) -> TypeId {
        for _ in 0..REFERENCE_LIMIT {
            match self.types[ty.index()].kind {
                TypeKind::Reference(next) => ty = next,
                _ => break,
            }
        }
        ty
    }

    /// The contents constraint of a type or of one that it refers to; the outermost counts.
    pub fn contents_constraint(&self, ty: TypeId) -> Option<Contents<'_>> {
        self.each_constraint(ty).find_map(|constraint| match &constraint.kind {
            ConstraintKind::Contents { containing, encoded_by } => {
                Some(Contents { containing: *containing, encoded_by: encoded_by.as_deref() })
            }
            _ => None,
        })
    }

    /// The table constraint of a type or of one that it refers to, with its relations.
    pub fn table_constraint(&self, ty: TypeId) -> Option<(ObjectSetId, &[Relation])> {
        self.each_constraint(ty).find_map(|constraint| match &constraint.kind {
            ConstraintKind::Table { set, relations } => Some((*set, relations.as_slice())),
            _ => None,
        })
    }

    /// The constraints of a type and of those it refers to, the last applied first.
    pub fn each_constraint(&self, ty: TypeId) -> impl Iterator<Item = &Constraint> {
        let chain = std::iter::successors(Some(ty), |ty| match self.types[ty.index()].kind {
            TypeKind::Reference(next) => Some(next),
            _ => None,
        });
        chain.take(REFERENCE_LIMIT).flat_map(|ty| self.types[ty.index()].constraints.iter().rev())
    }
}

/// The characters of a restricted character string type whose characters have codes of a known width; `None` for the
/// others (X.691 §3.7.16: known-multiplier types).
pub fn alphabet_of(kind: StringKind) -> Option<CharSet> {
    Some(match text_kind(kind) {
        text @ (text::StringKind::Numeric
        | text::StringKind::Printable
        | text::StringKind::Visible
        | text::StringKind::Ia5) => {
            let code = |octet| Edge::At(u32::from(octet));
            let octets = (0..=u8::MAX).filter(|octet| text.allows(*octet));
            CharSet::of(octets.map(|octet| (code(octet), code(octet))))
        }
        text::StringKind::Bmp => CharSet::between(0, 0xffff),
        text::StringKind::Universal => CharSet::between(0, 0xffff_ffff),
        _ => return None,
    })
}
