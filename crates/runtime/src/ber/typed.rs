//! Whole values from a header, and with one: what generated code calls for a component.
//!
//! Each method of [`Reader`] follows the read of a header; the tag was compared by the caller.  Each method
//! of [`Writer`] puts contents, length and identifier octets before what is written.

use alloc::borrow::Cow;

use super::writer::fewest;
use super::{Header, Reader, StringForm, Writer, primitives};
use crate::text::{StringKind, from_utf8};
use crate::types::{GeneralizedTime, OidRef, Real, RelativeOidRef, TimeType, UtcTime};
use crate::{Error, ErrorKind, Result, Tag};

macro_rules! readers {
    ($($(#[$doc:meta])* $name:ident = $decode:ident($($rules:ident)?) -> $t:ty;)*) => {
        /// Values of the types whose contents octets are primitive.
        ///
        /// Each fails with [`ErrorKind::PrimitiveExpected`] for a constructed element, else as the `decode`
        /// function of its name.
        impl<'a> Reader<'a> {$(
            $(#[$doc])*
            ///
            /// # Errors
            #[doc = concat!("As [`", stringify!($decode), "`](super::", stringify!($decode), ").")]
            #[inline]
            pub fn $name(&mut self, header: &Header) -> Result<$t> {
                let at = self.offset();
                let contents = self.contents(header)?;
                primitives::$decode(contents, at $(, self.$rules())?)
            }
        )*}
    };
}

readers! {
    /// BOOLEAN (8.2).
    boolean = decode_boolean(rules) -> bool;
    /// NULL (8.8).
    null = decode_null() -> ();
    /// INTEGER or ENUMERATED in 64 bits (8.3, 8.4).
    integer = decode_i64(rules) -> i64;
    /// A non-negative INTEGER in 64 bits (8.3).
    unsigned = decode_u64(rules) -> u64;
    /// An INTEGER of any size, two's complement in the fewest octets (8.3).
    big_integer = decode_integer(rules) -> &'a [u8];
    /// REAL (8.5).
    real = decode_real(rules) -> Real<'a>;
    /// OBJECT IDENTIFIER (8.19).
    oid = decode_oid() -> OidRef<'a>;
    /// RELATIVE-OID (8.20).
    relative_oid = decode_relative_oid() -> RelativeOidRef<'a>;
}

impl<'a> Reader<'a> {
    /// A character string as UTF-8 (8.23), whole or in segments.
    ///
    /// # Errors
    /// As [`Reader::octet_string`] and [`decode_text`](super::decode_text).
    ///
    /// ```
    /// use tercet_runtime::ber::{Reader, Rules};
    /// use tercet_runtime::text::StringKind;
    /// let mut reader = Reader::new(b"\x1A\x05Jones", Rules::Der);
    /// let header = reader.read_header()?;
    /// assert_eq!(reader.text(&header, StringKind::Visible)?, "Jones");
    /// # Ok::<(), tercet_runtime::Error>(())
    /// ```
    #[inline]
    pub fn text(&mut self, header: &Header, kind: StringKind) -> Result<Cow<'a, str>> {
        let at = self.offset();
        if !kind.may_be_segmented() {
            return primitives::decode_text(kind, self.contents(header)?, at);
        }
        match self.string(header, StringForm::Text(kind.tag()))? {
            Cow::Borrowed(octets) => primitives::decode_text(kind, octets, at),
            Cow::Owned(octets) => {
                primitives::decode_text(kind, &octets, at).map(|text| Cow::Owned(text.into_owned()))
            }
        }
    }

    /// UTCTime (8.25), whole or in segments.
    ///
    /// # Errors
    /// As [`Reader::octet_string`] and [`decode_utc_time`](super::decode_utc_time).
    pub fn utc_time(&mut self, header: &Header) -> Result<UtcTime> {
        let at = self.offset();
        primitives::decode_utc_time(&self.string(header, StringForm::Text(Tag::UTC_TIME))?, at, self.rules())
    }

    /// GeneralizedTime (8.25), whole or in segments, as its checked text.
    ///
    /// Text rather than [`GeneralizedTime`], which cannot own the digits of a fraction that came in segments.
    ///
    /// # Errors
    /// As [`Reader::octet_string`] and [`decode_generalized_time`](super::decode_generalized_time).
    pub fn generalized_time(&mut self, header: &Header) -> Result<Cow<'a, str>> {
        let at = self.offset();
        let octets = self.string(header, StringForm::Text(Tag::GENERALIZED_TIME))?;
        primitives::decode_generalized_time(&octets, at, self.rules())?;
        // Checked just before: all digits and signs.
        let syntax = Error::new(ErrorKind::GeneralizedTimeSyntax, at);
        match octets {
            Cow::Borrowed(octets) => core::str::from_utf8(octets).map(Cow::Borrowed).map_err(|_| syntax),
            Cow::Owned(octets) => {
                alloc::string::String::from_utf8(octets).map(Cow::Owned).map_err(|_| syntax)
            }
        }
    }

    /// TIME or a useful time type (8.26) as the text of its value notation.
    ///
    /// # Errors
    /// As [`Reader::contents`] and [`decode_time`](super::decode_time).
    pub fn time(&mut self, header: &Header, kind: TimeType) -> Result<Cow<'a, str>> {
        let at = self.offset();
        let contents = self.contents(header)?;
        primitives::decode_time(kind, contents, at, self.rules())
    }
}

macro_rules! writers {
    ($($(#[$doc:meta])* $name:ident($($value:ident: $t:ty)?) = $push:ident;)*) => {
        /// Whole elements of the types whose contents octets are primitive.
        impl Writer {$(
            $(#[$doc])*
            #[inline]
            pub fn $name(&mut self, tag: Tag $(, $value: $t)?) {
                let end = self.mark();
                self.$push($($value)?);
                self.primitive(tag, end);
            }
        )*}
    };
}

writers! {
    /// REAL in the normal form (8.5, 11.3).
    real(value: &Real<'_>) = push_real;
    /// REAL in the normal form from an `f64` (8.5, 11.3.1).
    float(value: f64) = push_f64;
}

impl Writer {
    /// BOOLEAN (8.2).
    #[inline(always)]
    pub fn boolean(&mut self, tag: Tag, value: bool) {
        self.primitive_of(tag, if value { &[0xFF] } else { &[0] });
    }

    /// An INTEGER of any size from its two's complement (8.3).
    #[inline(always)]
    pub fn big_integer(&mut self, tag: Tag, octets: &[u8]) {
        self.primitive_of(tag, fewest(octets));
    }

    /// OBJECT IDENTIFIER (8.19).
    #[inline(always)]
    pub fn oid(&mut self, tag: Tag, value: OidRef<'_>) {
        self.primitive_of(tag, value.as_bytes());
    }

    /// RELATIVE-OID (8.20).
    #[inline(always)]
    pub fn relative_oid(&mut self, tag: Tag, value: RelativeOidRef<'_>) {
        self.primitive_of(tag, value.as_bytes());
    }

    /// NULL (8.8).
    #[inline(always)]
    pub fn null(&mut self, tag: Tag) {
        self.primitive_of(tag, &[]);
    }

    /// An element that is encoded already becomes the contents of a primitive one, as in OCTET STRING (CONTAINING).
    #[inline(always)]
    pub fn raw(&mut self, tag: Tag, octets: &[u8]) {
        self.primitive_of(tag, octets);
    }

    /// OBJECT IDENTIFIER: its contents octets.
    #[inline]
    pub fn push_oid(&mut self, value: OidRef<'_>) {
        self.push(value.as_bytes());
    }

    /// RELATIVE-OID: its contents octets.
    #[inline]
    pub fn push_relative_oid(&mut self, value: RelativeOidRef<'_>) {
        self.push(value.as_bytes());
    }

    /// A character string of a text (8.23); in CER above 1000 octets in segments.
    ///
    /// # Errors
    /// As [`from_utf8`]; nothing is written then.
    pub fn text(&mut self, tag: Tag, kind: StringKind, text: &str) -> Result<()> {
        let octets = from_utf8(kind, text)?;
        if kind.may_be_segmented() {
            self.octet_string(tag, &octets);
        } else {
            self.raw(tag, &octets);
        }
        Ok(())
    }

    /// UTCTime (8.25).
    ///
    /// # Errors
    /// [`ErrorKind::UtcTimeNotCanonical`] in DER and CER for one without seconds or not in UTC.
    pub fn utc_time(&mut self, tag: Tag, value: &UtcTime) -> Result<()> {
        if self.rules().is_canonical() && !value.is_canonical() {
            return Err(Error::new(ErrorKind::UtcTimeNotCanonical, 0));
        }
        self.octet_string(tag, alloc::format!("{value}").as_bytes());
        Ok(())
    }

    /// GeneralizedTime (8.25) from its text.
    ///
    /// In DER and CER a comma becomes a full stop and zeros at the end of the fraction are left out (11.7); a
    /// local time or a difference to UTC is not converted.
    ///
    /// # Errors
    /// [`ErrorKind::GeneralizedTimeSyntax`]; [`ErrorKind::GeneralizedTimeNotCanonical`] in DER and CER.
    pub fn generalized_time(&mut self, tag: Tag, text: &str) -> Result<()> {
        let time = GeneralizedTime::parse(text.as_bytes(), 0)?;
        if self.rules().is_canonical() {
            let text = alloc::format!("{}", time.with_canonical_fraction());
            primitives::decode_generalized_time(text.as_bytes(), 0, self.rules())?;
            self.octet_string(tag, text.as_bytes());
        } else {
            self.octet_string(tag, text.as_bytes());
        }
        Ok(())
    }

    /// TIME or a useful time type (8.26) from the text of its value notation.
    ///
    /// # Errors
    /// As [`TimeType::encode`].
    pub fn time(&mut self, tag: Tag, kind: TimeType, text: &str) -> Result<()> {
        let contents = kind.encode(text, self.rules())?;
        self.raw(tag, &contents);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ber::Rules;
    use crate::types::Oid;
    use alloc::string::ToString;
    use alloc::vec::Vec;

    #[test]
    fn a_value_of_each_type() {
        for rules in [Rules::Ber, Rules::Der, Rules::Cer] {
            let oid: Oid = "2.999.3".parse().unwrap();
            let long = "é".repeat(700);
            let mut w = Writer::new(rules);
            let sequence = w.open();
            w.time(Tag::DATE, TimeType::Date, "2021-02-28").unwrap();
            w.generalized_time(Tag::GENERALIZED_TIME, "20210228235959.25Z").unwrap();
            w.utc_time(Tag::UTC_TIME, &UtcTime::parse(b"210228235959Z", 0).unwrap()).unwrap();
            w.text(Tag::UTF8_STRING, StringKind::Utf8, &long).unwrap();
            w.null(Tag::NULL);
            w.oid(Tag::OBJECT_IDENTIFIER, oid.as_ref());
            w.float(Tag::REAL, 0.5);
            w.unsigned(Tag::INTEGER, u64::MAX);
            w.integer(Tag::INTEGER, -129);
            w.boolean(Tag::BOOLEAN, true);
            w.close(Tag::SEQUENCE, sequence);
            let encoded: Vec<u8> = w.finish().to_vec();

            let mut r = Reader::new(&encoded, rules);
            let h = r.read_expected(Tag::SEQUENCE).unwrap();
            let frame = r.enter(&h).unwrap();
            let step = |tag, r: &mut Reader<'_>| r.read_expected(tag).unwrap();
            let h = step(Tag::BOOLEAN, &mut r);
            assert_eq!(r.boolean(&h), Ok(true));
            let h = step(Tag::INTEGER, &mut r);
            assert_eq!(r.integer(&h), Ok(-129));
            let h = step(Tag::INTEGER, &mut r);
            assert_eq!(r.unsigned(&h), Ok(u64::MAX));
            let h = step(Tag::REAL, &mut r);
            assert_eq!(r.real(&h).unwrap().to_f64(), 0.5);
            let h = step(Tag::OBJECT_IDENTIFIER, &mut r);
            assert_eq!(r.oid(&h).unwrap().to_string(), "2.999.3");
            let h = step(Tag::NULL, &mut r);
            assert_eq!(r.null(&h), Ok(()));
            let h = step(Tag::UTF8_STRING, &mut r);
            assert_eq!(h.constructed, rules == Rules::Cer);
            assert_eq!(r.text(&h, StringKind::Utf8).unwrap(), long);
            let h = step(Tag::UTC_TIME, &mut r);
            assert_eq!(r.utc_time(&h).unwrap().to_string(), "210228235959Z");
            let h = step(Tag::GENERALIZED_TIME, &mut r);
            assert_eq!(r.generalized_time(&h).unwrap(), "20210228235959.25Z");
            let h = step(Tag::DATE, &mut r);
            assert_eq!(r.time(&h, TimeType::Date).unwrap(), "2021-02-28");
            r.leave(frame).unwrap();
            r.finish().unwrap();
        }
    }

    #[test]
    fn times_become_canonical_where_the_value_stays_the_same() {
        for (text, want) in [
            ("20210228235959,50Z", Some("20210228235959.5Z")),
            ("20210228235959.000Z", Some("20210228235959Z")),
            ("20210228235959.5", None),
            ("202102282359Z", None),
            ("20210228235959+0100", None),
        ] {
            let mut w = Writer::new(Rules::Der);
            let done = w.generalized_time(Tag::GENERALIZED_TIME, text);
            assert_eq!(done.is_ok().then(|| &w.finish()[2..]), want.map(str::as_bytes), "{text}");
        }
    }
}
