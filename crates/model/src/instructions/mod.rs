//! Encoding instructions: what X.693 (clauses 18 to 39) and X.697 (clause 13 and on) let a specification say about the
//! text of its values.
//!
//! They stand in brackets before a type, or in an ENCODING-CONTROL section with the places they are meant for. Here both
//! become one list for each [`Site`]; what they mean is decided when a plan is made.

mod parse;
mod targets;

pub(crate) use targets::Prefix;

use crate::ir::{ModuleId, TypeId};
use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use tercet_syntax::Span;

/// The rules that an instruction belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InstructionRules {
    /// X.693.
    Xer,
    /// X.697.
    Jer,
}

/// A place that instructions are given to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Site {
    /// A type notation, wherever it is used.
    Type(TypeId),
    /// The n-th component or alternative of a type, or (0) the element of a list, there alone.
    Part(TypeId, u32),
}

/// An instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    /// Of which rules.
    pub rules: InstructionRules,
    /// What it says.
    pub kind: InstructionKind,
    /// `NOT`: what was said before does not hold.
    pub negated: bool,
    /// Where it stands.
    pub span: Span,
}

/// What instructions say.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the standards' own names")]
pub enum InstructionKind {
    // X.697
    Array,
    Object,
    Unwrapped,
    // Both
    Base64,
    Name(NewName),
    Text(TextOf, Option<NewName>),
    // X.693
    AnyAttributes,
    AnyElement,
    Attribute,
    Decimal,
    /// The value in XML text.
    DefaultForEmpty(String),
    Element,
    EmbedValues,
    List,
    /// URI and prefix.
    Namespace(String, Option<String>),
    PiOrComment,
    Untagged,
    UseNil,
    UseNumber,
    UseOrder,
    UseQname,
    UseType,
    UseUnion,
    Whitespace(Whitespace),
}

/// `AS …` (X.693 28.1, X.697 15).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NewName {
    /// These characters.
    Literal(String),
    /// The first letter large.
    Capitalized,
    /// The first letter small.
    Uncapitalized,
    /// All letters large.
    Uppercased,
    /// All letters small.
    Lowercased,
}

impl NewName {
    /// The new name for an old one.
    pub fn of(&self, old: &str) -> SmolStr {
        let first = |change: fn(&char) -> char| {
            let mut letters = old.chars();
            letters.next().map(|letter| change(&letter)).into_iter().chain(letters).collect()
        };
        match self {
            Self::Literal(name) => name.into(),
            Self::Capitalized => first(char::to_ascii_uppercase),
            Self::Uncapitalized => first(char::to_ascii_lowercase),
            Self::Uppercased => old.to_ascii_uppercase().into(),
            Self::Lowercased => old.to_ascii_lowercase().into(),
        }
    }
}

/// Which identifiers of a type TEXT is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextOf {
    /// None in particular: identifiers stand as characters.
    Form,
    /// All of them.
    All,
    /// One.
    Item(SmolStr),
}

/// WHITESPACE (X.693 clause 39).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whitespace {
    /// Each white space character is a space.
    Replace,
    /// White space is one space, and none at the ends.
    Collapse,
}

/// All instructions of a model.
#[derive(Debug, Default)]
pub struct Instructions {
    sites: FxHashMap<Site, Vec<Instruction>>,
    defaults: FxHashMap<ModuleId, GlobalDefaults>,
}

/// GLOBAL-DEFAULTS (X.693 clause 26).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GlobalDefaults {
    /// MODIFIED-ENCODINGS.
    pub modified_encodings: bool,
    /// CONTROL-NAMESPACE: URI and prefix.
    pub control_namespace: Option<(String, Option<String>)>,
}

impl Instructions {
    /// Whether there are none at all.
    pub fn is_empty(&self) -> bool {
        self.sites.is_empty() && self.defaults.is_empty()
    }

    /// Whether there are any of some rules.
    pub fn has(&self, rules: InstructionRules) -> bool {
        rules == InstructionRules::Xer && !self.defaults.is_empty()
            || self.sites.values().flatten().any(|instruction| instruction.rules == rules)
    }

    /// All, in no order.
    pub fn all(&self) -> impl Iterator<Item = (Site, &Instruction)> {
        self.sites.iter().flat_map(|(site, list)| list.iter().map(|instruction| (*site, instruction)))
    }

    /// Those given to a site, in the order given.
    pub fn at(&self, site: Site) -> &[Instruction] {
        self.sites.get(&site).map_or(&[], |found| found)
    }

    /// The defaults of a module.
    pub fn defaults(&self, module: ModuleId) -> Option<&GlobalDefaults> {
        self.defaults.get(&module)
    }
}
