//! Strings, both ways (§13, §14, §21 to §24, §27).

use super::{Reader, VARIABLE, Writer};
use crate::codec::Contained;
use crate::text::StringKind;
use crate::types::{
    BitString, FixedBits, ObjectIdentifier, Octets, OidRef, RelativeObjectIdentifier, RelativeOidRef, Text,
};
use crate::{Error, ErrorKind, Result};

impl<'a> Reader<'a> {
    /// OCTET STRING (§14).
    ///
    /// # Errors
    /// As [`Reader::length`].
    #[inline]
    pub fn octet_string(&mut self, size: usize) -> Result<Octets<'a>> {
        self.take(size).map(Octets::borrowed)
    }

    /// OCTET STRING as an array; `size` tells whether its length is written.
    ///
    /// # Errors
    /// [`ErrorKind::ConstraintViolated`] for another length, where the string begins.
    #[inline]
    pub fn fixed_octets<const N: usize>(&mut self, size: usize) -> Result<[u8; N]> {
        let start = self.cursor;
        let octets = self.take(size)?;
        octets.try_into().map_err(|_| start.error(ErrorKind::ConstraintViolated))
    }

    /// BIT STRING (§13); of `named` bits, with the least and the greatest size: the value gets it by zero bits at its end
    /// (X.680 22.7), of which only those that the size asks for are written under §31.7.
    ///
    /// # Errors
    /// Those of the bits that only fill up.
    pub fn bit_string(&mut self, size: usize, named: Option<(usize, usize)>) -> Result<BitString<'a>> {
        let start = self.cursor;
        if size != VARIABLE {
            let octets = self.cursor.take(size.div_ceil(8))?;
            let unused = u8::try_from(octets.len() * 8 - size).unwrap_or(0);
            let zeros = octets.last().is_none_or(|last| u16::from(*last) & ((1 << unused) - 1) == 0);
            self.canonical(zeros, &start)?;
            return Ok(BitString::new(octets, unused).unwrap_or_default());
        }
        let contents = self.take(VARIABLE)?;
        let at = (self.position() - contents.len()) as u64;
        let bits = crate::ber::decode_bit_string(contents, at, self.contents_rules())?;
        let Some((least, most)) = named else { return Ok(BitString::from(bits)) };
        if self.is_canonical() {
            crate::ber::check_named_bits(bits, least, at)?;
        }
        Ok(BitString::from(bits).resized(least, most))
    }

    /// BIT STRING of a fixed size; `size` tells whether its length is written.
    ///
    /// # Errors
    /// [`ErrorKind::ConstraintViolated`] for another length, where the string begins.
    pub fn fixed_bits<const N: u32>(&mut self, size: usize) -> Result<FixedBits<N>> {
        let start = self.cursor;
        let bits = self.bit_string(size, None)?;
        crate::codec::per::fixed_of_bits(bits).ok_or_else(|| start.error(ErrorKind::ConstraintViolated))
    }

    fn contents(&mut self, size: usize) -> Result<(&'a [u8], u64)> {
        let octets = self.take(size)?;
        Ok((octets, (self.position() - octets.len()) as u64))
    }

    /// A character string (§27).
    ///
    /// # Errors
    /// Characters that its type does not have.
    pub fn text(&mut self, size: usize, kind: StringKind) -> Result<Text<'a>> {
        let (octets, at) = self.contents(size)?;
        crate::text::to_utf8(kind, octets, at).map(Text::from)
    }

    /// UTCTime (§28).
    ///
    /// # Errors
    /// [`ErrorKind::UtcTimeSyntax`].
    pub fn utc_time(&mut self, size: usize) -> Result<Text<'a>> {
        let (octets, at) = self.contents(size)?;
        crate::ber::decode_utc_time(octets, at, self.contents_rules())?;
        crate::text::to_utf8(StringKind::Visible, octets, at).map(Text::from)
    }

    /// GeneralizedTime (§28).
    ///
    /// # Errors
    /// [`ErrorKind::GeneralizedTimeSyntax`].
    pub fn generalized_time(&mut self, size: usize) -> Result<Text<'a>> {
        let (octets, at) = self.contents(size)?;
        crate::ber::decode_generalized_time(octets, at, self.contents_rules())?;
        crate::text::to_utf8(StringKind::Visible, octets, at).map(Text::from)
    }

    /// OBJECT IDENTIFIER (§21).
    ///
    /// # Errors
    /// Those of its contents.
    pub fn oid(&mut self) -> Result<ObjectIdentifier<'a>> {
        let (octets, at) = self.contents(VARIABLE)?;
        OidRef::new(octets, at).map(Into::into)
    }

    /// RELATIVE-OID (§22).
    ///
    /// # Errors
    /// Those of its contents.
    pub fn relative_oid(&mut self) -> Result<RelativeObjectIdentifier<'a>> {
        let (octets, at) = self.contents(VARIABLE)?;
        RelativeOidRef::new(octets, at).map(Into::into)
    }

    /// What is in an OCTET STRING, or a BIT STRING, with CONTAINING (X.682 clause 11): its octets if it does not decode.
    ///
    /// # Errors
    /// A fault in the string itself.
    pub fn contained<T>(
        &mut self,
        size: usize,
        is_bits: bool,
        read: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<Contained<'a, T>> {
        let start = self.cursor;
        let string = if is_bits {
            Contained::from(self.bit_string(size, None)?)
        } else {
            Contained::Octets(self.octet_string(size)?)
        };
        let octets = string.octets();
        let mut inside = self.clone();
        inside.back_to(start);
        let behind = self.position() - octets.len();
        if matches!(string, Contained::Octets(_))
            && inside.cursor.take(behind - start.position()).is_ok()
            && inside.cursor.enter(octets.len()).is_ok()
        {
            // The string with a value inside is a level itself.
            inside.enter()?;
            match read(&mut inside) {
                Ok(value) if inside.cursor.left() == 0 => {
                    self.spent(&inside);
                    return Ok(Contained::Value(value));
                }
                Err(error) if error.kind() == ErrorKind::DepthLimit => {
                    self.path = inside.path;
                    return Err(error);
                }
                _ => {}
            }
        }
        self.spent(&inside);
        Ok(string)
    }
}

impl Writer {
    /// OCTET STRING (§14).
    ///
    /// # Errors
    /// [`ErrorKind::ConstraintViolated`] for another size than the only one.
    pub fn octet_string(&mut self, size: usize, octets: &[u8]) -> Result<()> {
        self.push(octets);
        if size == VARIABLE {
            self.push_length(octets.len());
        } else if octets.len() != size {
            return Err(Error::new(ErrorKind::ConstraintViolated, 0));
        }
        Ok(())
    }

    /// BIT STRING (§13). Trailing zero bits that mean nothing are left out as far as the size allows (§31.7), or filled
    /// up to it.
    ///
    /// # Errors
    /// [`ErrorKind::ConstraintViolated`] for another size than the only one.
    pub fn bit_string(&mut self, size: usize, bits: &BitString<'_>, named: Option<usize>) -> Result<()> {
        let bits = bits.as_bits();
        let bits = named.map_or(bits, |least| bits.trimmed(least.min(bits.len())));
        let count = match size {
            VARIABLE => bits.len().max(named.unwrap_or(0)),
            size if bits.len() == size || named.is_some() && bits.len() < size => size,
            _ => return Err(Error::new(ErrorKind::ConstraintViolated, 0)),
        };
        let end = self.mark();
        for _ in bits.bytes().len()..count.div_ceil(8) {
            self.push_octet(0);
        }
        if let Some((last, front)) = bits.bytes().split_last() {
            self.push_octet(last >> bits.unused() << bits.unused());
            self.push(front);
        }
        if size == VARIABLE {
            self.push_octet(u8::try_from((8 - count % 8) % 8).unwrap_or(0));
            self.push_length(self.since(end));
        }
        Ok(())
    }

    /// BIT STRING of a fixed size.
    ///
    /// # Errors
    /// As [`Writer::bit_string`].
    pub fn fixed_bits<const N: u32>(&mut self, size: usize, bits: FixedBits<N>) -> Result<()> {
        self.bit_string(size, &crate::codec::per::bits_of_fixed(bits), None)
    }

    /// A character string (§27).
    ///
    /// # Errors
    /// Characters that its type does not have; as [`Writer::octet_string`].
    pub fn text(&mut self, size: usize, kind: StringKind, text: &Text<'_>) -> Result<()> {
        self.octet_string(size, &crate::text::from_utf8(kind, text.unmarked()?)?)
    }

    /// UTCTime (§28).
    ///
    /// # Errors
    /// [`ErrorKind::UtcTimeSyntax`].
    pub fn utc_time(&mut self, size: usize, text: &str) -> Result<()> {
        crate::ber::decode_utc_time(text.as_bytes(), 0, self.contents_rules())?;
        self.octet_string(size, text.as_bytes())
    }

    /// GeneralizedTime (§28).
    ///
    /// # Errors
    /// [`ErrorKind::GeneralizedTimeSyntax`].
    pub fn generalized_time(&mut self, size: usize, text: &str) -> Result<()> {
        crate::ber::decode_generalized_time(text.as_bytes(), 0, self.contents_rules())?;
        self.octet_string(size, text.as_bytes())
    }

    /// What is in a string with CONTAINING: `write` writes it.
    ///
    /// # Errors
    /// What `write` says; as [`Writer::octet_string`].
    pub fn contained<T>(
        &mut self,
        size: usize,
        is_bits: bool,
        value: &Contained<'_, T>,
        write: impl FnOnce(&T, &mut Self) -> Result<()>,
    ) -> Result<()> {
        let end = self.mark();
        match value {
            Contained::Value(value) => {
                self.begin_value()?;
                write(value, self)?;
                self.end_value();
            }
            Contained::Octets(octets) => self.push(octets),
            Contained::Bits(bits) if is_bits => return self.bit_string(size, bits, None),
            Contained::Bits(_) => return Err(Error::new(ErrorKind::ValueMismatch, 0)),
        }
        let octets = self.since(end);
        match size {
            VARIABLE => {
                if is_bits {
                    self.push_octet(0);
                }
                self.push_length(self.since(end));
                Ok(())
            }
            size if size == if is_bits { octets * 8 } else { octets } => Ok(()),
            _ => Err(Error::new(ErrorKind::ConstraintViolated, 0)),
        }
    }
}
