//! Places: which bits of an encoding are which part of which value.

use tercet_plan::Kind;

/// The place of a part of an encoding: see [`crate::Sink::place`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The part.
    pub part: Part,
    /// The offset of the first bit, 8 for each octet, counted as the offsets of errors are
    /// ([`crate::Options::base_offset`]).
    pub at: u64,
    /// The number of bits.
    pub bits: u64,
}

impl Place {
    /// Returns the offset of the first bit after the part.
    pub const fn end(&self) -> u64 {
        self.at.saturating_add(self.bits)
    }
}

/// A part of an encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Part {
    /// Identifier octets (X.690 8.1.2).
    Identifier,
    /// Length octets (X.690 8.1.3).
    Length,
    /// Contents.
    Contents,
    /// End-of-contents octets (X.690 8.1.5).
    EndOfContents,
}

impl Part {
    /// Returns the name in a trace: `identifier`, `end-of-contents`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Identifier => "identifier",
            Self::Length => "length",
            Self::Contents => "contents",
            Self::EndOfContents => "end-of-contents",
        }
    }

    /// Returns the clause that says what a part of a value of a type looks like.
    pub const fn clause(self, kind: Kind) -> &'static str {
        match self {
            Self::Identifier => "X.690 8.1.2",
            Self::Length => "X.690 8.1.3",
            Self::EndOfContents => "X.690 8.1.5",
            Self::Contents => contents_clause(kind),
        }
    }
}

/// Returns the clause of X.690 about the contents octets of a type.
const fn contents_clause(kind: Kind) -> &'static str {
    match kind {
        Kind::Boolean => "X.690 8.2",
        Kind::Integer => "X.690 8.3",
        Kind::Enumerated => "X.690 8.4",
        Kind::Real => "X.690 8.5",
        Kind::BitString => "X.690 8.6",
        Kind::OctetString => "X.690 8.7",
        Kind::Null => "X.690 8.8",
        Kind::Sequence => "X.690 8.9",
        Kind::SequenceOf => "X.690 8.10",
        Kind::Set => "X.690 8.11",
        Kind::SetOf => "X.690 8.12",
        Kind::Choice => "X.690 8.13",
        Kind::Open => "X.690 8.15",
        Kind::ObjectIdentifier => "X.690 8.19",
        Kind::RelativeOid => "X.690 8.20",
        Kind::OidIri => "X.690 8.21",
        Kind::RelativeOidIri => "X.690 8.22",
        Kind::UtcTime | Kind::GeneralizedTime | Kind::ObjectDescriptor => "X.690 8.25",
        Kind::Time | Kind::Date | Kind::TimeOfDay | Kind::DateTime | Kind::Duration => "X.690 8.26",
        _ => "X.690 8.23",
    }
}
