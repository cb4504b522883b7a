//! The code for OER (X.696): widths, fixed sizes and tags of the values of a shape, decided once.
//!
//! A [`Program`] has one [`Code`] for each node of the shape. Whatever needs more than a few octets of description lies
//! in a side table that the code points into.

use crate::per::Unit;

/// The form of an INTEGER (§10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integer {
    /// Without a sign, in 1, 2, 4 or 8 octets (§10.3 a to d).
    Unsigned(u8),
    /// In two's complement, in 1, 2, 4 or 8 octets (§10.4 a to d).
    Signed(u8),
    /// A length determinant, and a number without a sign (§10.3 e).
    UnsignedVariable,
    /// A length determinant, and a number in two's complement (§10.4 e).
    SignedVariable,
}

/// The form of a REAL (§12).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Real {
    /// Four octets of IEEE 754 binary32 (§12.2).
    Binary32,
    /// Eight octets of IEEE 754 binary64 (§12.3).
    Binary64,
    /// A length determinant, and the contents octets of DER (§12.4).
    Contents,
}

/// The only number of octets, bits or characters that a string can have, for which nothing is written, or [`VARIABLE`].
pub type Size = u32;

/// A length determinant is written.
pub const VARIABLE: Size = u32::MAX;

/// A component of a SEQUENCE or SET: the number of its field within the node, and whether a presence bit is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// The field's number within the node.
    pub field: u32,
    /// OPTIONAL or DEFAULT.
    pub optional: bool,
}

/// The form of a SEQUENCE or SET (§16, §18).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sequence {
    /// `true` if the preamble begins with an extension bit (§16.2.2).
    pub extensible: bool,
    /// Number of presence bits.
    pub optional: u32,
    /// The root: for a SEQUENCE in the order of the text, for a SET in that of its tags (§18.2).
    pub root: Box<[Member]>,
    /// The additions in order.
    pub additions: Box<[Addition]>,
    /// The registers of the keys among the fields.
    pub keys: Box<[u16]>,
    /// Registers that hold for one value of this type: those of a value around come back behind it.
    pub scopes: Box<[u16]>,
}

/// An extension addition (§16.4, §16.5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Addition {
    /// A component: the number of its field within the node.
    Single(u32),
    /// A version bracket, written as a SEQUENCE of its components.
    Group {
        /// Number of presence bits.
        optional: u32,
        /// The components.
        members: Box<[Member]>,
    },
}

impl Addition {
    /// The numbers of the fields that it has.
    pub fn fields(&self) -> impl Iterator<Item = u32> {
        let (single, group) = match self {
            Self::Single(field) => (Some(*field), &[][..]),
            Self::Group { members, .. } => (None, &**members),
        };
        single.into_iter().chain(group.iter().map(|member| member.field))
    }
}

/// An alternative of a CHOICE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alternative {
    /// Its outermost tag: class in the top two bits, number in the low 29; [`UNTAGGED`] for an untagged CHOICE.
    pub tag: u32,
    /// An extension addition, whose value is written as an open type (§20.2).
    pub addition: bool,
}

/// The alternative is an untagged CHOICE: the tag that is written is that of its own alternative.
pub const UNTAGGED: u32 = u32::MAX;

/// The form of a CHOICE (§20).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// `true` if tags that are not known may come, here or in an untagged CHOICE inside.
    pub extensible: bool,
    /// By number of the field within the node.
    pub alternatives: Box<[Alternative]>,
    /// Pairs of a tag and the number of the field that a value with this tag is for, sorted.
    pub tags: Box<[(u32, u32)]>,
}

impl Choice {
    /// The number of the field that a value with a tag is for.
    pub fn find(&self, tag: u32) -> Option<u32> {
        let at = self.tags.binary_search_by_key(&tag, |entry| entry.0).ok()?;
        self.tags.get(at).map(|entry| entry.1)
    }
}

/// The forms of the values of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// BOOLEAN (§9).
    Boolean,
    /// NULL (§15).
    Null,
    /// INTEGER (§10).
    Integer(Integer),
    /// ENUMERATED (§11).
    Enumerated,
    /// REAL (§12).
    Real(Real),
    /// BIT STRING (§13): its bits, and whether trailing zero bits mean nothing (named bits).
    BitString(Size, bool),
    /// OCTET STRING (§14).
    OctetString(Size),
    /// BIT STRING with CONTAINING; the same.
    BitsContaining(Size, bool),
    /// OCTET STRING with CONTAINING.
    OctetsContaining(Size),
    /// A type whose encoding is its X.690 contents octets: strings of characters, object identifiers, UTCTime and
    /// GeneralizedTime (§21 to §24, §27). The size is in octets.
    Contents(Size),
    /// A time type of X.680 §38 in numbers (§29): an entry of [`Program::times`].
    Time(u32),
    /// SEQUENCE, SET (§16, §18): an entry of [`Program::sequences`].
    Sequence(u32),
    /// SEQUENCE OF, SET OF (§17, §19).
    SequenceOf,
    /// CHOICE (§20): an entry of [`Program::choices`].
    Choice(u32),
    /// An EMBEDDED PDV or CHARACTER STRING that constraints leave one `identification`, which is not written: that one,
    /// an entry of the defaults of the shape (§25, §28).
    Predefined(u32),
    /// An open type (§30).
    Open,
}

/// A step in writing a point in time (§29).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeStep {
    /// The number of a unit.
    Number(Unit, Integer),
    /// The difference to UTC in minutes, an `INTEGER (-900..900)`.
    Difference,
    /// Nothing is written: the number is always this one.
    Always(Unit, i64),
    /// Nothing is written: the time is UTC.
    Utc,
}

/// The form of a time type (§29): as the type that Tables 1 to 3 give for its property settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Time {
    /// A date, a time of day, or both: the numbers in order.
    Point(Box<[TimeStep]>),
    /// DURATION-INTERVAL-ENCODING: a SEQUENCE of optional numbers, with a fraction of the last.
    Duration,
}

impl Code {
    /// Returns whether values may have parts.
    #[inline]
    pub const fn is_framed(&self) -> bool {
        matches!(
            self,
            Self::Sequence(_)
                | Self::SequenceOf
                | Self::Choice(_)
                | Self::Open
                | Self::BitsContaining(..)
                | Self::OctetsContaining(_)
        )
    }
}

/// The code for OER, basic or canonical.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Program {
    /// `true` if the encodings are canonical (§31).
    pub canonical: bool,
    /// One for each node.
    pub nodes: Vec<Code>,
    /// SEQUENCEs and SETs.
    pub sequences: Vec<Sequence>,
    /// CHOICEs.
    pub choices: Vec<Choice>,
    /// Times.
    pub times: Vec<Time>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alternatives_are_found_by_their_tags() {
        let tags = [(1, 2), (2 << 30, 0), (2 << 30 | 1, 1)].into();
        let choice = Choice { extensible: false, alternatives: Box::default(), tags };
        assert_eq!(choice.find(2 << 30), Some(0));
        assert_eq!(choice.find(1), Some(2));
        assert_eq!(choice.find(0), None);
    }

    #[test]
    fn an_addition_has_its_fields() {
        let member = |field| Member { field, optional: true };
        let group = Addition::Group { optional: 2, members: [member(3), member(4)].into() };
        assert_eq!(group.fields().collect::<Vec<_>>(), [3, 4]);
        assert_eq!(Addition::Single(7).fields().collect::<Vec<_>>(), [7]);
    }
}
