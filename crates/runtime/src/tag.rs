//! Tags: class and number (X.680 clause 8).

use core::fmt;

/// The class of a tag (X.680 8.1, X.690 table 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Class {
    /// Assigned by X.680 itself.
    Universal = 0,
    /// `[APPLICATION n]`.
    Application = 1,
    /// `[n]`.
    Context = 2,
    /// `[PRIVATE n]`.
    Private = 3,
}

impl Class {
    /// The class in the two most significant bits of an identifier octet.
    #[inline]
    #[must_use]
    pub const fn from_identifier(octet: u8) -> Self {
        match octet >> 6 {
            0 => Self::Universal,
            1 => Self::Application,
            2 => Self::Context,
            _ => Self::Private,
        }
    }
}

/// A tag in 32 bits: the class in the top two, the number in the low 29.
///
/// The order of tags as numbers is the canonical order of X.680 8.6: universal, application,
/// context-specific, private, then by number.  Bit 29 is always zero, so that an owner may keep a
/// flag there.  Numbers from 2^29 on are refused when read
/// ([`ErrorKind::TagTooLarge`](crate::ErrorKind::TagTooLarge)), never wrapped.
///
/// ```
/// use tercet_runtime::{Class, Tag};
/// assert_eq!(Tag::SEQUENCE.to_string(), "[UNIVERSAL 16]");
/// assert_eq!(Tag::new(Class::Application, 3).unwrap().to_string(), "[APPLICATION 3]");
/// assert_eq!(Tag::context(5).to_string(), "[5]");
/// assert!(Tag::SET < Tag::context(0));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag(u32);

impl Tag {
    /// The largest number that a tag can have here.
    pub const MAX_NUMBER: u32 = (1 << 29) - 1;

    /// The tag of this class and number, or nothing for a number above [`Tag::MAX_NUMBER`].
    #[inline]
    #[must_use]
    pub const fn new(class: Class, number: u32) -> Option<Self> {
        if number > Self::MAX_NUMBER { None } else { Some(Self((class as u32) << 30 | number)) }
    }

    /// The tag of this class and number; the number is taken modulo 2^29.
    ///
    /// Meant for literals in generated code, which knows its numbers.
    #[inline]
    #[must_use]
    pub const fn literal(class: Class, number: u32) -> Self {
        Self((class as u32) << 30 | (number & Self::MAX_NUMBER))
    }

    /// `[UNIVERSAL number]`; see [`Tag::literal`].
    #[inline]
    #[must_use]
    pub const fn universal(number: u32) -> Self {
        Self::literal(Class::Universal, number)
    }

    /// `[APPLICATION number]`; see [`Tag::literal`].
    #[inline]
    #[must_use]
    pub const fn application(number: u32) -> Self {
        Self::literal(Class::Application, number)
    }

    /// `[number]`; see [`Tag::literal`].
    #[inline]
    #[must_use]
    pub const fn context(number: u32) -> Self {
        Self::literal(Class::Context, number)
    }

    /// `[PRIVATE number]`; see [`Tag::literal`].
    #[inline]
    #[must_use]
    pub const fn private(number: u32) -> Self {
        Self::literal(Class::Private, number)
    }

    /// The tag of a one-octet identifier (number below 31).
    #[inline]
    #[must_use]
    pub(crate) const fn from_octet(octet: u8) -> Self {
        Self(((octet & 0xC0) as u32) << 24 | (octet & 0x1F) as u32)
    }

    /// The first identifier octet of a primitive element.
    #[inline]
    #[must_use]
    pub(crate) const fn identifier(self) -> u8 {
        let [class, .., number] = self.0.to_be_bytes();
        class & 0xC0 | if self.number() < 31 { number } else { 0x1F }
    }

    /// The identifier octets behind the first one of a number from 128 to 16,383 (X.690 8.1.2.4).
    #[inline]
    pub(crate) const fn two_septets(self) -> [u8; 2] {
        let [.., high, low] = (self.number() << 1).to_be_bytes();
        [high | 0x80, low >> 1]
    }

    /// The 32 bits, as [`Tag::from_bits`] takes them.
    #[inline]
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// The tag with these bits, or nothing if bit 29 is set.
    #[inline]
    #[must_use]
    pub const fn from_bits(bits: u32) -> Option<Self> {
        if bits & (1 << 29) == 0 { Some(Self(bits)) } else { None }
    }

    /// The class.
    #[inline]
    #[must_use]
    pub const fn class(self) -> Class {
        match self.0 >> 30 {
            0 => Class::Universal,
            1 => Class::Application,
            2 => Class::Context,
            _ => Class::Private,
        }
    }

    /// The number.
    #[inline]
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0 & Self::MAX_NUMBER
    }
}

macro_rules! universal {
    ($($name:ident = $number:literal, $doc:literal;)*) => {
        /// The tags of X.680 table 1.
        impl Tag {
            $(#[doc = $doc] pub const $name: Self = Self::universal($number);)*
        }
        /// The ASN.1 name of a type by its universal tag number.
        impl Tag {
            /// The name of the built-in type with this tag: `SEQUENCE` for 16.
            ///
            /// SEQUENCE and SEQUENCE OF have one tag, as have SET and SET OF.
            #[must_use]
            pub const fn type_name(self) -> Option<&'static str> {
                match self.0 { $($number => Some($doc),)* _ => None }
            }
        }
    };
}

universal! {
    END_OF_CONTENTS = 0, "end-of-contents";
    BOOLEAN = 1, "BOOLEAN";
    INTEGER = 2, "INTEGER";
    BIT_STRING = 3, "BIT STRING";
    OCTET_STRING = 4, "OCTET STRING";
    NULL = 5, "NULL";
    OBJECT_IDENTIFIER = 6, "OBJECT IDENTIFIER";
    OBJECT_DESCRIPTOR = 7, "ObjectDescriptor";
    EXTERNAL = 8, "EXTERNAL";
    REAL = 9, "REAL";
    ENUMERATED = 10, "ENUMERATED";
    EMBEDDED_PDV = 11, "EMBEDDED PDV";
    UTF8_STRING = 12, "UTF8String";
    RELATIVE_OID = 13, "RELATIVE-OID";
    TIME = 14, "TIME";
    SEQUENCE = 16, "SEQUENCE";
    SET = 17, "SET";
    NUMERIC_STRING = 18, "NumericString";
    PRINTABLE_STRING = 19, "PrintableString";
    TELETEX_STRING = 20, "TeletexString";
    VIDEOTEX_STRING = 21, "VideotexString";
    IA5_STRING = 22, "IA5String";
    UTC_TIME = 23, "UTCTime";
    GENERALIZED_TIME = 24, "GeneralizedTime";
    GRAPHIC_STRING = 25, "GraphicString";
    VISIBLE_STRING = 26, "VisibleString";
    GENERAL_STRING = 27, "GeneralString";
    UNIVERSAL_STRING = 28, "UniversalString";
    CHARACTER_STRING = 29, "CHARACTER STRING";
    BMP_STRING = 30, "BMPString";
    DATE = 31, "DATE";
    TIME_OF_DAY = 32, "TIME-OF-DAY";
    DATE_TIME = 33, "DATE-TIME";
    DURATION = 34, "DURATION";
    OID_IRI = 35, "OID-IRI";
    RELATIVE_OID_IRI = 36, "RELATIVE-OID-IRI";
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.class() {
            Class::Universal => write!(f, "[UNIVERSAL {}]", self.number()),
            Class::Application => write!(f, "[APPLICATION {}]", self.number()),
            Class::Context => write!(f, "[{}]", self.number()),
            Class::Private => write!(f, "[PRIVATE {}]", self.number()),
        }
    }
}

impl fmt::Debug for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn prints_as_written() {
        for (tag, text) in [
            (Tag::SEQUENCE, "[UNIVERSAL 16]"),
            (Tag::application(3), "[APPLICATION 3]"),
            (Tag::context(5), "[5]"),
            (Tag::private(Tag::MAX_NUMBER), "[PRIVATE 536870911]"),
        ] {
            assert_eq!(tag.to_string(), text);
            assert_eq!(Tag::from_bits(tag.bits()), Some(tag));
        }
        assert_eq!(Tag::new(Class::Context, Tag::MAX_NUMBER + 1), None);
        assert_eq!(Tag::OID_IRI.type_name(), Some("OID-IRI"));
        assert_eq!(Tag::context(1).type_name(), None);
    }
}
