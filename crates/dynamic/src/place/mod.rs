//! Places: which bits of an encoding are which part of which value.

mod text;

use tercet_plan::{Kind, Rules};

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
    /// The number that the bits of a length, a quantity or an index stand for. `None` for an indefinite length, and for
    /// bits that only show the form of the number after them.
    pub number: Option<u64>,
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
    /// The tag of an alternative (X.696 8.7).
    Tag,
    /// A length: length octets (X.690 8.1.3), or a length determinant, which counts octets, bits, characters, elements or
    /// extension additions (X.691 11.9, X.696 8.6).
    Length,
    /// The number of elements of a list (X.696 17.2).
    Quantity,
    /// An extension bit (X.691 19.1, for other types 13.1, 14.3, 16.6, 17.3, 20.4, 23.5 and 30.4).
    ExtensionBit,
    /// Presence bits of optional components (X.691 19.2); in OER with the extension bit and up to the end of the octet
    /// (X.696 16.2).
    Preamble,
    /// The number of an alternative (X.691 23).
    Index,
    /// A bit for each extension addition (X.691 19.7, X.696 16.4).
    Bitmap,
    /// Contents.
    Contents,
    /// Bits up to the next octet, where a field begins (X.691 11.1).
    Padding,
    /// Bits from the end of a value to the end of its octets: zeros, or what a later version of an open type has there
    /// (X.691 11.1, 11.2).
    EndPadding,
    /// End-of-contents octets (X.690 8.1.5).
    EndOfContents,
    /// In text, the name of a component, an alternative or a type: a member's name, an identifier.
    Name,
    /// In XML, the tag at the begin of an element, or the tag of an empty element.
    StartTag,
    /// In XML, the tag at the end of an element.
    EndTag,
    /// In text, characters around names and values: brackets, commas, colons, white space, comments.
    Delimiter,
}

impl Part {
    /// Returns the name in a trace: `identifier`, `end-of-contents`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Identifier => "identifier",
            Self::Tag => "tag",
            Self::Length => "length",
            Self::Quantity => "quantity",
            Self::ExtensionBit => "extension-bit",
            Self::Preamble => "preamble",
            Self::Index => "index",
            Self::Bitmap => "bitmap",
            Self::Contents => "contents",
            Self::Padding => "padding",
            Self::EndPadding => "end-padding",
            Self::EndOfContents => "end-of-contents",
            Self::Name => "name",
            Self::StartTag => "start-tag",
            Self::EndTag => "end-tag",
            Self::Delimiter => "delimiter",
        }
    }

    /// Returns the clause that says what a part of a value of a type looks like in some rules.
    pub const fn clause(self, rules: Rules, kind: Kind) -> &'static str {
        match rules.basic() {
            Rules::Aper | Rules::Uper => self.clause_of_per(kind),
            Rules::Oer => self.clause_of_oer(kind),
            Rules::Jer => text::clause_of_jer(kind),
            Rules::Xer => text::clause_of_xer(kind),
            Rules::Gser => text::clause_of_gser(kind),
            _ => self.clause_of_ber(kind),
        }
    }

    const fn clause_of_ber(self, kind: Kind) -> &'static str {
        match self {
            Self::Identifier | Self::Tag => "X.690 8.1.2",
            Self::Length => "X.690 8.1.3",
            Self::EndOfContents => "X.690 8.1.5",
            _ => match kind {
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
            },
        }
    }

    const fn clause_of_per(self, kind: Kind) -> &'static str {
        match self {
            Self::Length | Self::Quantity => "X.691 11.9",
            Self::Preamble => "X.691 19.2",
            Self::Index | Self::Tag | Self::Identifier => "X.691 23",
            Self::Bitmap => "X.691 19.7",
            Self::Padding | Self::EndPadding | Self::EndOfContents => "X.691 11.1",
            // Parts of text.
            Self::Name | Self::StartTag | Self::EndTag | Self::Delimiter => "X.691 11.1",
            Self::ExtensionBit => match kind {
                Kind::Integer => "X.691 13.1",
                Kind::Enumerated => "X.691 14.3",
                Kind::BitString => "X.691 16.6",
                Kind::OctetString => "X.691 17.3",
                Kind::Sequence | Kind::Set => "X.691 19.1",
                Kind::SequenceOf | Kind::SetOf => "X.691 20.4",
                Kind::Choice => "X.691 23.5",
                _ => "X.691 30.4",
            },
            Self::Contents => match kind {
                Kind::Open => "X.691 11.2",
                Kind::Boolean => "X.691 12",
                Kind::Integer => "X.691 13",
                Kind::Enumerated => "X.691 14",
                Kind::Real => "X.691 15",
                Kind::BitString => "X.691 16",
                Kind::OctetString => "X.691 17",
                Kind::Null => "X.691 18",
                Kind::Sequence => "X.691 19",
                Kind::SequenceOf => "X.691 20",
                Kind::Set => "X.691 21",
                Kind::SetOf => "X.691 22",
                Kind::Choice => "X.691 23",
                Kind::ObjectIdentifier => "X.691 24",
                Kind::RelativeOid => "X.691 25",
                Kind::OidIri => "X.691 26",
                Kind::RelativeOidIri => "X.691 27",
                Kind::Time | Kind::Date | Kind::TimeOfDay | Kind::DateTime | Kind::Duration => "X.691 32",
                _ => "X.691 30",
            },
        }
    }

    const fn clause_of_oer(self, kind: Kind) -> &'static str {
        match self {
            Self::Tag | Self::Identifier | Self::Index => "X.696 8.7",
            Self::Length => "X.696 8.6",
            Self::Quantity => "X.696 17.2",
            Self::Preamble | Self::ExtensionBit => "X.696 16.2",
            Self::Bitmap => "X.696 16.4",
            _ => match kind {
                Kind::Boolean => "X.696 9",
                Kind::Integer => "X.696 10",
                Kind::Enumerated => "X.696 11",
                Kind::Real => "X.696 12",
                Kind::BitString => "X.696 13",
                Kind::OctetString => "X.696 14",
                Kind::Null => "X.696 15",
                Kind::Sequence => "X.696 16",
                Kind::SequenceOf => "X.696 17",
                Kind::Set => "X.696 18",
                Kind::SetOf => "X.696 19",
                Kind::Choice => "X.696 20",
                Kind::ObjectIdentifier => "X.696 21",
                Kind::RelativeOid => "X.696 22",
                Kind::OidIri => "X.696 23",
                Kind::RelativeOidIri => "X.696 24",
                Kind::Time | Kind::Date | Kind::TimeOfDay | Kind::DateTime | Kind::Duration => "X.696 29",
                Kind::Open => "X.696 30",
                _ => "X.696 27",
            },
        }
    }

    /// Returns the clause about octets that the schema does not define.
    pub const fn clause_of_unknown(self, rules: Rules) -> &'static str {
        match (self, rules.basic()) {
            (Self::Contents, Rules::Aper | Rules::Uper) => "X.691 11.2",
            (Self::Contents, Rules::Oer) => "X.696 30",
            (Self::Contents, _) => "X.690 8.1.4",
            (part, _) => part.clause(rules, Kind::Open),
        }
    }
}
