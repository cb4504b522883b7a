//! The three sets of rules of X.693.

/// Which of the XML encoding rules (X.693).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Variant {
    /// Basic XER (clause 8).
    #[default]
    Basic,
    /// Canonical XER (clause 9): one text for each value. The reader accepts no other and names the clause.
    Canonical,
}
