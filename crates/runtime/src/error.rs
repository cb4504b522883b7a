//! The one error of this crate: what, where, and how much is missing.

use core::fmt;
use core::num::NonZeroU64;

/// A result whose error is [`Error`].
pub type Result<T> = core::result::Result<T, Error>;

/// A fault in an encoding or in a value to encode: 16 octets, `Copy`, cold to build.
///
/// The path to the faulty component is added by callers that know the schema.
///
/// ```
/// use tercet_runtime::ber::{Reader, Rules};
/// use tercet_runtime::ErrorKind;
/// let error = Reader::new(&[0x04, 0x05, 0x00], Rules::Ber).read_header().unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Incomplete);
/// assert_eq!(error.needed(), Some(4));
/// assert_eq!(error.to_string(), "the input ends inside an element, 4 bytes are missing (at offset 0x3)");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Error {
    at: u64,
    /// Kind, bit and needed octets: a word that is never zero, so that a result without a value is returned in registers.
    what: NonZeroU64,
}

/// [`Error::bit`] is not known.
const NO_BIT: u8 = 8;

const _: () = assert!(size_of::<Error>() <= 16 && size_of::<Result<()>>() <= 16);

impl Error {
    #[inline]
    const fn of(kind: ErrorKind, bit: u8, needed: u32, at: u64) -> Self {
        // The highest bit is there so that it is not zero.
        let what = 1 << 63 | (needed as u64) << 16 | (bit as u64) << 8 | kind as u64;
        match NonZeroU64::new(what) {
            Some(what) => Self { at, what },
            None => unreachable!(),
        }
    }

    /// A fault of this kind at an absolute octet offset.
    #[cold]
    #[inline(never)]
    #[must_use]
    pub const fn new(kind: ErrorKind, at: u64) -> Self {
        Self::of(kind, NO_BIT, 0, at)
    }

    /// The input ends at `at`, and at least `needed` more octets have to come.
    #[cold]
    #[inline(never)]
    #[must_use]
    pub const fn incomplete(at: u64, needed: u64) -> Self {
        Self::of(ErrorKind::Incomplete, NO_BIT, at_least_one(needed), at)
    }

    /// A fault of this kind at an absolute position in bits (PER).
    #[cold]
    #[inline(never)]
    #[must_use]
    pub const fn at_bit(kind: ErrorKind, position: u64) -> Self {
        Self::of(kind, (position & 7) as u8, 0, position >> 3)
    }

    /// The input ends at a position in bits, and at least `needed` more octets have to come.
    #[cold]
    #[inline(never)]
    #[must_use]
    pub const fn incomplete_at_bit(position: u64, needed: u64) -> Self {
        Self::of(ErrorKind::Incomplete, (position & 7) as u8, at_least_one(needed), position >> 3)
    }

    /// The kind of fault.
    #[inline]
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        ErrorKind::of_code((self.what.get() & 0xFF) as u8)
    }

    /// Where: the absolute offset in octets (for a value to encode, zero).
    #[inline]
    #[must_use]
    pub const fn at(&self) -> u64 {
        self.at
    }

    /// Where in that octet: the bit, 0 the first (highest), in rules whose fields are not octets.
    #[inline]
    #[must_use]
    pub const fn bit(&self) -> Option<u8> {
        let bit = (self.what.get() >> 8 & 0xFF) as u8;
        if bit < NO_BIT { Some(bit) } else { None }
    }

    /// For [`ErrorKind::Incomplete`], how many bytes are missing at least; saturates at `u32::MAX`.
    #[inline]
    #[must_use]
    pub const fn needed(&self) -> Option<u32> {
        match self.kind() {
            #[allow(clippy::cast_possible_truncation)] // the 32 bits that were put there
            ErrorKind::Incomplete => Some((self.what.get() >> 16) as u32),
            _ => None,
        }
    }

    /// Returns the fault with offsets from an enclosing input that starts `base` octets earlier.
    #[must_use]
    pub const fn shifted(mut self, base: u64) -> Self {
        self.at = self.at.saturating_add(base);
        self
    }
}

/// Octets that are missing, as far as 32 bits tell.
const fn at_least_one(needed: u64) -> u32 {
    #[allow(clippy::cast_possible_truncation)] // compared just before
    match needed {
        0 => 1,
        _ if needed > u32::MAX as u64 => u32::MAX,
        _ => needed as u32,
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("Error");
        out.field("kind", &self.kind()).field("at", &self.at).field("bit", &self.bit());
        out.field("needed", &self.needed()).finish()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind().message())?;
        if let Some(needed) = self.needed() {
            let (s, are) = if needed == 1 { ("", "is") } else { ("s", "are") };
            write!(f, ", {needed} byte{s} {are} missing")?;
        }
        if let Some(clause) = self.kind().clause() {
            write!(f, " ({clause})")?;
        }
        match self.bit() {
            Some(bit) => write!(f, " (at offset {:#x}, bit {bit})", self.at),
            None => write!(f, " (at offset {:#x})", self.at),
        }
    }
}

impl core::error::Error for Error {}

macro_rules! kinds {
    ($($variant:ident = $code:literal, $name:literal, $clause:expr, $message:literal;)*) => {
        /// The kind of a fault; the numbers and names are stable.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        #[repr(u8)]
        pub enum ErrorKind {
            $(#[doc = $message] $variant = $code,)*
        }

        impl ErrorKind {
            /// All kinds, in the order of their codes.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The kind with a code that is one of theirs.
            const fn of_code(code: u8) -> Self {
                match code { $($code => Self::$variant,)* _ => Self::ALL[0] }
            }

            /// A stable short name for machines: `length-reserved`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The clause that the input breaks, if it is one of the standard's: `X.690 11.1`.
            #[must_use]
            pub const fn clause(self) -> Option<&'static str> {
                match self { $(Self::$variant => $clause,)* }
            }

            /// One sentence for people, without offset and clause.
            #[must_use]
            pub const fn message(self) -> &'static str {
                match self { $(Self::$variant => $message,)* }
            }
        }
    };
}

impl ErrorKind {
    /// A stable number.
    #[must_use]
    pub const fn code(self) -> u8 {
        self as u8
    }
}

kinds! {
    // Extent
    Incomplete = 1, "incomplete", None, "the input ends inside an element";
    BeyondParent = 2, "beyond-parent", Some("X.690 8.1.3"), "an element reaches past the end of the one around it";
    TrailingData = 3, "trailing-data", None, "bytes follow after the end of the value";
    // Identifier octets
    TagLongForm = 10, "tag-long-form", Some("X.690 8.1.2.2"), "a tag number below 31 is in the long form";
    TagLeadingZero = 11, "tag-leading-zero", Some("X.690 8.1.2.4.2"), "a tag number starts with a zero septet";
    TagTooLarge = 12, "tag-too-large", None, "a tag number is 2^29 or more";
    TagMismatch = 13, "tag-mismatch", None, "the element has another tag than the type";
    PrimitiveExpected = 14, "primitive-expected", Some("X.690 8.1.2.5"), "the element is constructed where the type is primitive";
    ConstructedExpected = 15, "constructed-expected", Some("X.690 8.1.2.5"), "the element is primitive where the type is constructed";
    // Length octets
    LengthReserved = 20, "length-reserved", Some("X.690 8.1.3.5"), "the length starts with the reserved octet FF";
    LengthTooLarge = 21, "length-too-large", None, "the length is larger than any input";
    LengthNotMinimal = 22, "length-not-minimal", Some("X.690 10.1"), "the length is not in the fewest octets";
    IndefinitePrimitive = 23, "indefinite-primitive", Some("X.690 8.1.3.2"), "a primitive element has an indefinite length";
    IndefiniteForbidden = 24, "indefinite-forbidden", Some("X.690 10.1"), "DER allows no indefinite length";
    DefiniteForbidden = 25, "definite-forbidden", Some("X.690 9.1"), "CER asks for the indefinite length in constructed elements";
    EndOfContentsMissing = 26, "end-of-contents-missing", Some("X.690 8.1.5"), "an element of indefinite length has no end-of-contents";
    EndOfContentsUnexpected = 27, "end-of-contents-unexpected", Some("X.690 8.1.5"), "end-of-contents octets where no indefinite length is open";
    EndOfContentsMalformed = 28, "end-of-contents-malformed", Some("X.690 8.1.5"), "end-of-contents is not two zero octets";
    FragmentCount = 29, "fragment-count", Some("X.691 11.9.3.8"), "a length in fragments has another number of blocks than 1 to 4";
    // Limits
    DepthLimit = 30, "depth-limit", None, "values are nested deeper than the limit";
    LengthLimit = 31, "length-limit", None, "an element is longer than the limit";
    LimitExceeded = 32, "limit-exceeded", None, "a value is larger than the documented limit of its type";
    // BOOLEAN, INTEGER, ENUMERATED, NULL
    BooleanLength = 40, "boolean-length", Some("X.690 8.2.1"), "a BOOLEAN has other than one octet";
    BooleanNotCanonical = 41, "boolean-not-canonical", Some("X.690 11.1"), "a TRUE is not FF";
    IntegerEmpty = 42, "integer-empty", Some("X.690 8.3.1"), "an INTEGER or ENUMERATED has no octets";
    IntegerNotMinimal = 43, "integer-not-minimal", Some("X.690 8.3.2"), "an INTEGER or ENUMERATED has a superfluous first octet";
    IntegerRange = 44, "integer-range", None, "an INTEGER does not fit into its type";
    NullNotEmpty = 45, "null-not-empty", Some("X.690 8.8.2"), "a NULL has contents octets";
    // Object identifiers
    OidEmpty = 50, "oid-empty", Some("X.690 8.19.2"), "an object identifier has no octets";
    OidPadded = 51, "oid-padded", Some("X.690 8.19.2"), "an arc starts with the octet 80";
    OidUnterminated = 52, "oid-unterminated", Some("X.690 8.19.2"), "the last arc is not complete";
    OidArcLimit = 53, "oid-arc-limit", None, "an arc is 2^448 or more";
    OidSyntax = 54, "oid-syntax", Some("X.680 32"), "the text is not an object identifier";
    OidRoot = 55, "oid-root", Some("X.690 8.19.4"), "the first two arcs of an object identifier are out of range";
    // BIT STRING and strings in general
    BitStringEmpty = 60, "bit-string-empty", Some("X.690 8.6.2.2"), "a BIT STRING has no initial octet";
    BitStringUnused = 61, "bit-string-unused", Some("X.690 8.6.2.2"), "a BIT STRING has more than seven unused bits";
    BitStringUnusedEmpty = 62, "bit-string-unused-empty", Some("X.690 8.6.2.3"), "an empty BIT STRING has unused bits";
    BitStringPadding = 63, "bit-string-padding", Some("X.690 11.2.1"), "an unused bit is not zero";
    BitStringTrailingZero = 64, "bit-string-trailing-zero", Some("X.690 11.2.2"), "a BIT STRING with named bits ends with a zero bit";
    BitStringSegment = 65, "bit-string-segment", Some("X.690 8.6.4"), "a BIT STRING segment before the last has unused bits";
    SegmentTag = 66, "segment-tag", Some("X.690 8.7.3.2"), "a segment of a constructed string has the wrong tag";
    ConstructedString = 67, "constructed-string", Some("X.690 10.2"), "DER allows no constructed strings";
    SegmentSize = 68, "segment-size", Some("X.690 9.2"), "CER splits strings above 1000 octets into segments of 1000";
    SegmentedString = 69, "segmented-string", None, "a string is in segments where the type keeps a slice of the input";
    // REAL
    RealEncoding = 70, "real-encoding", Some("X.690 8.5"), "a REAL has reserved or missing octets";
    RealDecimal = 71, "real-decimal", Some("X.690 8.5.8"), "a decimal REAL is not in a form of ISO 6093";
    RealNotCanonical = 72, "real-not-canonical", Some("X.690 11.3"), "a REAL is not in its normal form";
    RealZero = 73, "real-zero", Some("X.690 8.5.2"), "a REAL of value zero has a mantissa";
    // Character strings
    CharacterInvalid = 80, "character-invalid", Some("X.680 41"), "a character is not one of the type's";
    Utf8Invalid = 81, "utf8-invalid", Some("X.690 8.23.10"), "the bytes are not UTF-8";
    CharacterTruncated = 82, "character-truncated", Some("X.690 8.23"), "a character is cut short";
    OidIriSyntax = 83, "oid-iri-syntax", Some("X.680 34"), "the text is not an OID-IRI";
    // Time
    UtcTimeSyntax = 90, "utc-time-syntax", Some("X.680 47"), "the text is not a UTCTime";
    GeneralizedTimeSyntax = 91, "generalized-time-syntax", Some("X.680 46"), "the text is not a GeneralizedTime";
    TimeSyntax = 92, "time-syntax", Some("X.680 38"), "the text is not a TIME";
    UtcTimeNotCanonical = 93, "utc-time-not-canonical", Some("X.690 11.8"), "a UTCTime is not in the form YYMMDDHHMMSSZ";
    GeneralizedTimeNotCanonical = 94, "generalized-time-not-canonical", Some("X.690 11.7"), "a GeneralizedTime is not in the form YYYYMMDDHHMMSS[.f]Z";
    TimeNotCanonical = 95, "time-not-canonical", Some("X.690 11.9"), "a TIME is not in its normal form";
    // Structure, for users that know the schema
    DefaultEncoded = 100, "default-encoded", Some("X.690 11.5"), "a component is present although it equals its default";
    SetOrder = 101, "set-order", Some("X.690 10.3"), "the components of a SET are not in the order of their tags";
    SetOfOrder = 102, "set-of-order", Some("X.690 11.6"), "the elements of a SET OF are not in order";
    MissingComponent = 103, "missing-component", Some("X.690 8.9"), "a component is missing";
    DuplicateComponent = 104, "duplicate-component", Some("X.690 8.11"), "a component is present twice";
    UnexpectedElement = 105, "unexpected-element", None, "an element is not expected here";
    UnknownAlternative = 106, "unknown-alternative", Some("X.690 8.13"), "no alternative has this tag";
    UnknownEnumeration = 107, "unknown-enumeration", Some("X.680 20"), "no enumeration item has this number";
    ConstraintViolated = 108, "constraint-violated", None, "the value does not meet its constraint";
    ValueMismatch = 109, "value-mismatch", None, "the value to encode is not one of the type";
    Unsupported = 110, "unsupported", None, "these rules cannot be used for values of this type here";
    NotCanonical = 111, "not-canonical", None, "the encoding is not the canonical one of its value";
    // OER
    LengthEmpty = 112, "length-empty", Some("X.696 8.6.5"), "a length in the long form has no octets";
    TagForm = 113, "tag-form", Some("X.696 8.7.2"), "a tag is not in the form that its number asks for";
    // XER
    XmlValue = 114, "xml-value", Some("X.693 8"), "the XML text is not a value of the type";
    // Memory
    NoArena = 115, "no-arena", None, "values of this type are read into an arena, and the reader has none";
    // Files with columns
    ColumnOverflow = 120, "column-overflow", None, "the value does not fit its column";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_names_are_distinct() {
        for (i, a) in ErrorKind::ALL.iter().enumerate() {
            for b in ErrorKind::ALL.iter().skip(i + 1) {
                assert!(a.code() < b.code(), "{a:?} {b:?}");
                assert_ne!(a.name(), b.name());
                assert_ne!(a.message(), b.message());
            }
        }
    }
}
