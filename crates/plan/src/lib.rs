//! The executable form of an ASN.1 specification: plain data, made once by `tercet-lower`, run by `tercet-dynamic`.
//!
//! [`Shape`] describes values, whatever the rules; [`ber`] and its siblings describe how each set of rules encodes them.

pub mod ber;
pub mod bytes;
pub mod constraint;
mod dump;
pub mod instructions;
pub mod oer;
pub mod per;
pub mod shape;

use std::sync::Arc;

pub use shape::{FieldId, Kind, NameId, Node, NodeId, Shape};

/// The encoding rules that a plan can be made for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Rules {
    /// Basic encoding rules (X.690 clause 8).
    #[default]
    Ber,
    /// Distinguished encoding rules (X.690 clauses 10 and 11).
    Der,
    /// Canonical encoding rules (X.690 clauses 9 and 11).
    Cer,
    /// BASIC-PER, ALIGNED variant (X.691).
    Aper,
    /// BASIC-PER, UNALIGNED variant.
    Uper,
    /// CANONICAL-PER, ALIGNED variant.
    CanonicalAper,
    /// CANONICAL-PER, UNALIGNED variant.
    CanonicalUper,
    /// BASIC-OER (X.696).
    Oer,
    /// CANONICAL-OER (X.696 clause 31).
    CanonicalOer,
}

impl Rules {
    /// The name in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ber => "BER",
            Self::Der => "DER",
            Self::Cer => "CER",
            Self::Aper => "aligned PER",
            Self::Uper => "unaligned PER",
            Self::CanonicalAper => "canonical aligned PER",
            Self::CanonicalUper => "canonical unaligned PER",
            Self::Oer => "OER",
            Self::CanonicalOer => "canonical OER",
        }
    }

    /// Returns the encoding rules that an object identifier names, from its contents octets: {joint-iso-itu-t asn1(1) …} of
    /// X.690 clause 12, X.691 clause 33 and X.696 clause 32. `None` for rules that no plan can be made for.
    pub const fn of_oid(contents: &[u8]) -> Option<Self> {
        match contents {
            [0x51, 1] => Some(Self::Ber),
            [0x51, 2, 0] => Some(Self::Cer),
            [0x51, 2, 1] => Some(Self::Der),
            [0x51, 3, 0, 0] => Some(Self::Aper),
            [0x51, 3, 0, 1] => Some(Self::Uper),
            [0x51, 3, 1, 0] => Some(Self::CanonicalAper),
            [0x51, 3, 1, 1] => Some(Self::CanonicalUper),
            [0x51, 6, 0] => Some(Self::Oer),
            [0x51, 6, 1] => Some(Self::CanonicalOer),
            _ => None,
        }
    }
}

/// The shape of values, and the code of one set of encoding rules for them.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The shape of values; shared by all plans lowered from the same roots.
    pub shape: Arc<Shape>,
    /// The code of the encoding rules.
    pub code: Code,
}

/// The part of a plan that belongs to one family of rules.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Code {
    /// BER, DER and CER.
    Ber(ber::Program),
    /// The four variants of PER.
    Per(per::Program),
    /// OER, basic and canonical.
    Oer(oer::Program),
}

impl Plan {
    /// A root by `Module.Type`, or by `Type` where only one module has it.
    pub fn root(&self, name: &str) -> Option<NodeId> {
        self.shape.root(name)
    }

    /// Returns whether the plan is one for these rules: BER, DER and CER have one plan.
    pub const fn serves(&self, rules: Rules) -> bool {
        match &self.code {
            Code::Ber(_) => matches!(rules, Rules::Ber | Rules::Der | Rules::Cer),
            Code::Per(program) => matches!(
                (rules, program.aligned, program.canonical),
                (Rules::Aper, true, false)
                    | (Rules::Uper, false, false)
                    | (Rules::CanonicalAper, true, true)
                    | (Rules::CanonicalUper, false, true)
            ),
            Code::Oer(program) => {
                matches!((rules, program.canonical), (Rules::Oer, false) | (Rules::CanonicalOer, true))
            }
        }
    }

    /// The plan as text for people, one line a record, names shown.
    ///
    /// ```text
    /// node 3 SEQUENCE MSC.CallEvent ext
    ///   0 [0] cause: node 7 INTEGER
    ///   1 [1] party: node 9 CHOICE optional
    /// ```
    pub fn dump(&self) -> String {
        dump::dump(self)
    }
}
