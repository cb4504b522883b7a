//! The code for PER (X.691): widths, orders and bounds of the values of a shape, decided once.
//!
//! A [`Program`] has one [`Code`] for each node of the shape. Whatever needs more than a few octets of description lies
//! in a side table that the code points into.

mod derive;
mod lookup;
mod steps;
mod time;

pub use lookup::Lookup;
pub use steps::{Counted, MANY, NO_DEFAULT, NO_KEY, Op, Step};
pub use time::{Time, TimePart, TimeStep, Unit};

/// No bound.
pub const UNBOUNDED: u32 = u32::MAX;

/// The form of a constrained whole number (X.691 §11.5), given the number of values it can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whole {
    /// One value: nothing is written.
    Nothing,
    /// A bit-field of this width (§11.5.6, §11.5.7.1).
    Bits(u8),
    /// One octet, aligned (§11.5.7.2).
    Octet,
    /// Two octets, aligned (§11.5.7.3).
    TwoOctets,
    /// The number of octets, itself a bit-field of the first width, then that many octets, aligned (§11.5.7.4);
    /// the second number is the most octets there can be.
    Octets(u8, u8),
}

/// The form of an INTEGER (§13).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Integer {
    /// `true` for an extension bit in front.
    pub extensible: bool,
    /// The form of the root.
    pub form: IntegerForm,
}

/// The form of an INTEGER's root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntegerForm {
    /// Both bounds: the difference to `lo`, which is at most `span`.
    Constrained {
        /// The least value.
        lo: i64,
        /// The greatest value minus the least.
        span: u64,
        /// The form of the difference.
        whole: Whole,
    },
    /// Only a lower bound (§11.7).
    SemiConstrained(i64),
    /// No lower bound (§11.8).
    Unconstrained,
    /// Bounds that do not fit above: an entry of [`Program::large`].
    Large(u32),
}

/// Bounds of more than 64 bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Large {
    /// The least value, two's complement, big-endian.
    pub lo: Box<[u8]>,
    /// The greatest value minus the least, unsigned, big-endian; `None` without an upper bound.
    pub span: Option<Box<[u8]>>,
}

/// The form of a number of octets, bits, characters or elements (§11.9.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// `true` for an extension bit in front.
    pub extensible: bool,
    /// The least size.
    pub lo: u32,
    /// The greatest size, or [`UNBOUNDED`].
    pub hi: u32,
    /// The form of the difference to `lo`; `None` for a general length determinant, without an upper bound or with
    /// one of 64K or more.
    pub whole: Option<Whole>,
    /// The field that sizes of the root are read from; `None` after a general length determinant.
    pub field: Option<Field>,
}

/// A field of bits, with an extension bit in front of it if there is one: a number up to `most`, to which `lo` is added.
/// What is greater is of another form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// The least value.
    pub lo: u32,
    /// The greatest number.
    pub most: u32,
    /// Its bits.
    pub width: u8,
    /// 7 where it begins at an octet, else 0.
    pub pad: u8,
}

impl Size {
    /// Any size.
    pub const ANY: Self = Self { extensible: false, lo: 0, hi: UNBOUNDED, whole: None, field: None };

    /// The form for some bounds (§11.9.3.3, §11.9.4.1).
    pub fn new(lo: u64, hi: Option<u64>, extensible: bool, aligned: bool) -> Self {
        let bound = |size: u64| u32::try_from(size).unwrap_or(UNBOUNDED);
        let whole = hi.filter(|hi| *hi < 0x1_0000).map(|hi| Whole::of(hi.saturating_sub(lo), aligned));
        let (lo, hi) = (bound(lo), hi.map_or(UNBOUNDED, bound));
        let field = whole.and_then(|whole| whole.field_behind(extensible));
        let field = field.map(|(width, pad)| Field { lo, most: hi.saturating_sub(lo), width, pad });
        Self { extensible, lo, hi, whole, field }
    }

    /// Returns whether all sizes of the root are the same and below 64K, so that nothing is written.
    pub const fn is_fixed(&self) -> bool {
        self.lo == self.hi && self.whole.is_some()
    }

    /// Returns whether a size is one of the root.
    pub const fn holds(&self, size: usize) -> bool {
        self.lo as usize <= size && (self.hi == UNBOUNDED || size <= self.hi as usize)
    }
}

/// The form of an ENUMERATED (§14).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enumerated {
    /// `true` if there is an extension bit.
    pub extensible: bool,
    /// The form of the index into `root`.
    pub whole: Whole,
    /// The root's numbers in ascending order.
    pub root: Box<[i64]>,
    /// The additions' numbers in the order of the text, which ascends (X.680 §20.4).
    pub additions: Box<[i64]>,
}

/// The characters of a known-multiplier string (§30.5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alphabet {
    /// Octets of one character in its X.690 contents: 1, 2 (BMPString) or 4 (UniversalString).
    pub octets: u8,
    /// Bits of one character on the wire.
    pub bits: u8,
    /// `true` if the greatest length in bits is below the limit under which the string is not aligned (§30.5.6, 30.5.7).
    pub unaligned: bool,
    /// `true` if characters are written as their number among the permitted ones rather than as themselves (§30.5.4).
    pub indexed: bool,
    /// The permitted ones.
    pub ranges: Box<[Range]>,
    /// The permitted characters below 128 as bits, character 0 the lowest.
    pub ascii: u128,
    /// When they have one octet each, by what is written the character, or [`NOT_PERMITTED`].
    pub table: Option<Box<[u8; 256]>>,
    /// When they have one octet each, by the character what is written, or [`NOT_PERMITTED`].
    pub codes: Option<Box<[u8; 256]>>,
    /// `true` if not every row of permitted characters is a value: the times, pairs of surrogates.
    pub check: bool,
}

/// No character of [`Alphabet::table`]: a bit that no character has, nor what is written for one.
pub const NOT_PERMITTED: u8 = 0x80;

/// A range of permitted characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The first.
    pub lo: u32,
    /// The last.
    pub hi: u32,
    /// The number of the first among all permitted ones.
    pub number: u32,
}

impl Alphabet {
    /// Makes the alphabet of characters of so many octets, from ranges in ascending order that do not overlap. Whether its
    /// strings are aligned, and whether their values are checked, is set by the caller.
    pub fn new(octets: u8, permitted: impl Iterator<Item = (u32, u32)>, aligned: bool) -> Self {
        let mut count = 0_u64;
        let mut ranges = Vec::with_capacity(permitted.size_hint().0);
        for (lo, hi) in permitted {
            ranges.push(Range { lo, hi, number: count as u32 });
            count += u64::from(hi - lo) + 1;
        }
        // §30.5.2: the fewest bits for so many characters, in the aligned variant a power of two of them.
        let fewest = u64::BITS - count.saturating_sub(1).leading_zeros();
        let bits = if aligned { fewest.next_power_of_two() } else { fewest };
        let largest = ranges.last().map_or(0, |range| u64::from(range.hi));
        let indexed = bits < 32 && largest >= 1 << bits;
        let below = ranges.iter().flat_map(|range| range.lo..=range.hi.min(127)).take_while(|c| *c < 128);
        let ascii = below.fold(0_u128, |all, character| all | 1 << character);
        let (mut table, mut codes) = (None, None);
        if octets == 1 {
            // All of them are below 128, and so is what is written for them.
            let table = table.insert(Box::new([NOT_PERMITTED; 256]));
            let codes = codes.insert(Box::new([NOT_PERMITTED; 256]));
            for range in &ranges {
                for character in range.lo..=range.hi.min(127) {
                    let code = if indexed { range.number + (character - range.lo) } else { character };
                    table[code as usize & 127] = character as u8;
                    codes[character as usize] = code as u8;
                }
            }
        }
        let (ranges, bits) = (ranges.into(), bits as u8);
        Self { octets, bits, unaligned: false, indexed, ranges, ascii, table, codes, check: false }
    }

    /// The bits to write for a character, if it is permitted.
    #[inline]
    pub fn code(&self, character: u32) -> Option<u32> {
        if !self.indexed && character < 128 {
            return (self.ascii >> character & 1 != 0).then_some(character);
        }
        let at = self.ranges.partition_point(|range| range.hi < character);
        let range = self.ranges.get(at).filter(|range| range.lo <= character)?;
        Some(if self.indexed { range.number + (character - range.lo) } else { character })
    }

    /// The character that was written so, if it is permitted.
    #[inline]
    pub fn character(&self, code: u32) -> Option<u32> {
        if !self.indexed {
            return self.code(code);
        }
        let at = self.ranges.partition_point(|range| range.number <= code).checked_sub(1)?;
        let range = self.ranges.get(at)?;
        let character = range.lo.checked_add(code - range.number)?;
        (character <= range.hi).then_some(character)
    }
}

/// A component of a SEQUENCE or SET: the number of its field within the node, and whether a presence bit is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// The field's number within the node.
    pub field: u32,
    /// OPTIONAL or DEFAULT.
    pub optional: bool,
}

/// The form of a SEQUENCE or SET (§19, §21).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sequence {
    /// `true` if there is an extension bit.
    pub extensible: bool,
    /// Number of presence bits.
    pub optional: u32,
    /// Where the root begins among [`Program::steps`].
    pub first: u32,
    /// The root: for a SEQUENCE in the order of the text, for a SET in that of its tags (§21.1).
    pub root: Box<[Member]>,
    /// The additions in order.
    pub additions: Box<[Addition]>,
    /// The registers of the keys among the fields, unless they are set before anything is looked up.
    pub keys: Box<[u16]>,
    /// Registers that hold for one value of this type: those of a value around come back behind it, unless nothing can
    /// be looked up any more.
    pub scopes: Box<[u16]>,
}

/// An extension addition (§19.7 to §19.9).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Addition {
    /// A component: the number of its field within the node.
    Single(u32),
    /// A version bracket, written as a SEQUENCE of its components.
    Group {
        /// Number of presence bits.
        optional: u32,
        /// Where the components begin among [`Program::steps`].
        first: u32,
        /// The components.
        members: Box<[Member]>,
    },
}

/// The form of a CHOICE (§23).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// `true` if there is an extension bit.
    pub extensible: bool,
    /// The form of the index into `root`.
    pub whole: Whole,
    /// Where the root begins among [`Program::steps`].
    pub first: u32,
    /// The root's alternatives in the order of their tags: numbers of fields within the node.
    pub root: Box<[u32]>,
    /// The additions in the order of the text.
    pub additions: Box<[u32]>,
    /// By number of the field within the node: its index into `root`, or into `additions` with [`ADDITION`] set.
    pub indices: Box<[u32]>,
}

/// Marks an index of [`Choice::indices`] as one into the additions.
pub const ADDITION: u32 = 1 << 31;

/// The forms of the values of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// BOOLEAN (§12).
    Boolean,
    /// NULL (§18).
    Null,
    /// INTEGER (§13).
    Integer(Integer),
    /// ENUMERATED (§14): an entry of [`Program::enumerations`].
    Enumerated(u32),
    /// BIT STRING (§16); whether trailing zero bits mean nothing (named bits).
    BitString(Size, bool),
    /// OCTET STRING (§17).
    OctetString(Size),
    /// BIT STRING with CONTAINING (§16); the same.
    BitsContaining(Size, bool),
    /// OCTET STRING with CONTAINING (§17).
    OctetsContaining(Size),
    /// A known-multiplier string (§30.5): its size and an entry of [`Program::alphabets`].
    Characters(Size, u32),
    /// A general length determinant and X.690 contents octets: REAL, OBJECT IDENTIFIER, RELATIVE-OID, the other
    /// character strings (§15, §24, §25, §30.6).
    Contents,
    /// SEQUENCE, SET (§19, §21): an entry of [`Program::sequences`].
    Sequence(u32),
    /// SEQUENCE OF, SET OF (§20, §22), and the field of its element.
    SequenceOf(Size, u32),
    /// CHOICE (§23): an entry of [`Program::choices`].
    Choice(u32),
    /// An EMBEDDED PDV or CHARACTER STRING that constraints leave one `identification`, which is not written: that one,
    /// an entry of the defaults of the shape (§28.2, §31.2).
    Predefined(u32),
    /// An open type (§11.2).
    Open,
    /// A time type of X.680 clause 38 (§32): an entry of [`Program::times`].
    Time(u32),
    /// A TIME whose property settings do not come to one of the forms that are supported: intervals, and mixtures.
    Unsupported,
}

impl Code {
    /// Returns whether values have parts, or may have some.
    pub const fn has_parts(self) -> bool {
        matches!(
            self,
            Self::Sequence(_)
                | Self::SequenceOf(..)
                | Self::Choice(_)
                | Self::Open
                | Self::OctetsContaining(_)
                | Self::BitsContaining(..)
        )
    }
}

/// The code for one of the four variants of PER.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Program {
    /// `true` if fields are aligned to octets.
    pub aligned: bool,
    /// `true` if the encodings are canonical.
    pub canonical: bool,
    /// One for each node.
    pub nodes: Vec<Code>,
    /// Bounds beyond 64 bits.
    pub large: Vec<Large>,
    /// Enumerations.
    pub enumerations: Vec<Enumerated>,
    /// Alphabets.
    pub alphabets: Vec<Alphabet>,
    /// Times.
    pub times: Vec<Time>,
    /// SEQUENCEs and SETs.
    pub sequences: Vec<Sequence>,
    /// CHOICEs.
    pub choices: Vec<Choice>,
    /// One for each field of the shape; behind them those of the types that are written in another order than that of
    /// the text.
    pub steps: Vec<Step>,
    /// One for each node: the step for a value that is no component, be it the outermost one or what is in an open type.
    pub values: Vec<Step>,
    /// One for each table of the shape: where its types are found faster.
    pub tables: Vec<Lookup>,
}

impl Whole {
    /// The bits of the field, and 7 if it begins at an octet, else 0; nothing for a number of octets that varies.
    #[inline]
    pub const fn field(self) -> Option<(u8, u8)> {
        match self {
            Self::Nothing => Some((0, 0)),
            Self::Bits(width) => Some((width, 0)),
            Self::Octet => Some((8, 7)),
            Self::TwoOctets => Some((16, 7)),
            Self::Octets(..) => None,
        }
    }

    /// Returns the field with an extension bit in front, if there is one: one field of bits, unless it begins at an octet.
    #[inline]
    pub const fn field_behind(self, extensible: bool) -> Option<(u8, u8)> {
        match (self.field(), extensible) {
            (Some((width, 0)), true) => Some((width + 1, 0)),
            (_, true) => None,
            (field, false) => field,
        }
    }

    /// Returns the form of a number with `span + 1` values (§11.5.6, §11.5.7).
    pub const fn of(span: u64, aligned: bool) -> Self {
        let bits = (u64::BITS - span.leading_zeros()) as u8;
        match span {
            0 => Self::Nothing,
            _ if !aligned => Self::Bits(bits),
            1..=254 => Self::Bits(bits),
            255 => Self::Octet,
            256..=0xffff => Self::TwoOctets,
            _ => {
                let octets = bits.div_ceil(8);
                Self::Octets((u8::BITS - (octets - 1).leading_zeros()) as u8, octets)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Whole;

    #[test]
    fn widths() {
        for (span, unaligned, aligned) in [
            (0, Whole::Nothing, Whole::Nothing),
            (1, Whole::Bits(1), Whole::Bits(1)),
            (254, Whole::Bits(8), Whole::Bits(8)),
            (255, Whole::Bits(8), Whole::Octet),
            (256, Whole::Bits(9), Whole::TwoOctets),
            (65535, Whole::Bits(16), Whole::TwoOctets),
            (65536, Whole::Bits(17), Whole::Octets(2, 3)),
            (u32::MAX as u64, Whole::Bits(32), Whole::Octets(2, 4)),
            (u64::MAX, Whole::Bits(64), Whole::Octets(3, 8)),
        ] {
            assert_eq!(Whole::of(span, false), unaligned);
            assert_eq!(Whole::of(span, true), aligned);
        }
    }
}
