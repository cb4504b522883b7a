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
mod rules;
pub mod shape;

use std::sync::Arc;

pub use rules::{Rules, UnknownRules};
pub use shape::{FieldId, Kind, NameId, Node, NodeId, Shape};

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

    /// Returns the rules that the plan is for. A plan for BER serves DER and CER too: `asked`, if it is one of the three.
    #[inline]
    pub fn rules(&self, asked: Rules) -> Rules {
        match &self.code {
            Code::Ber(_) if asked.has_elements() => asked,
            Code::Ber(_) => Rules::Ber,
            Code::Per(program) => match (program.aligned, program.canonical) {
                (true, false) => Rules::Aper,
                (true, true) => Rules::CanonicalAper,
                (false, false) => Rules::Uper,
                (false, true) => Rules::CanonicalUper,
            },
            Code::Oer(program) if program.canonical => Rules::Coer,
            Code::Oer(_) => Rules::Oer,
        }
    }

    /// Returns whether the plan is one for these rules: BER, DER and CER have one plan.
    pub fn serves(&self, rules: Rules) -> bool {
        self.rules(rules) == rules
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
