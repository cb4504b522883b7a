//! A cursor over octets, with the fields that X.696 builds everything from.

use crate::{Class, Error, ErrorKind, Result, Tag};

/// Reads from a slice, up to a limit. Cheap to copy; positions are counted from the begin of the slice.
///
/// ```
/// use tercet_runtime::oer::Reader;
/// let mut reader = Reader::new(&[0x02, 0x00, 0xFF, 0x81, 0x05]);
/// let length = reader.length()?;
/// assert_eq!(reader.take(length)?, [0x00, 0xFF]);
/// assert_eq!(reader.tag()?.to_string(), "[1]");
/// assert_eq!(reader.unsigned(1)?, 5);
/// # Ok::<(), tercet_runtime::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    input: &'a [u8],
    at: usize,
    end: usize,
    /// Whether the end is one that a length told, so that more input does not help.
    bounded: bool,
}

/// Where reading ends around the octets that a reader has entered.
#[derive(Clone, Copy, Debug, Default)]
pub struct Around {
    end: usize,
    bounded: bool,
}

impl<'a> Reader<'a> {
    /// A reader over a whole slice.
    #[inline]
    #[must_use]
    pub const fn new(input: &'a [u8]) -> Self {
        Self { input, at: 0, end: input.len(), bounded: false }
    }

    /// The position.
    #[inline]
    #[must_use]
    pub const fn position(&self) -> usize {
        self.at
    }

    /// The octets that are left.
    #[inline]
    #[must_use]
    pub const fn left(&self) -> usize {
        self.end - self.at
    }

    /// Lets reading end behind the next `count` octets, for a value in an open type or a string.
    ///
    /// # Errors
    /// As [`Reader::take`].
    #[inline]
    pub fn enter(&mut self, count: usize) -> Result<Around> {
        self.need(count)?;
        let around = Around { end: self.end, bounded: self.bounded };
        (self.end, self.bounded) = (self.at + count, true);
        Ok(around)
    }

    /// Lets reading end again where it did before [`Reader::enter`].
    #[inline]
    pub fn leave(&mut self, around: Around) {
        (self.end, self.bounded) = (around.end.clamp(self.at, self.input.len()), around.bounded);
    }

    /// The octets of the slice between two positions.
    #[inline]
    #[must_use]
    pub fn octets(&self, from: usize, to: usize) -> &'a [u8] {
        self.input.get(from..to).unwrap_or_default()
    }

    /// A fault of this kind at the position.
    #[cold]
    #[inline(never)]
    #[must_use]
    pub const fn error(&self, kind: ErrorKind) -> Error {
        Error::new(kind, self.at as u64)
    }

    #[inline]
    const fn need(&self, count: usize) -> Result<()> {
        if count > self.end - self.at { Err(self.missing(count)) } else { Ok(()) }
    }

    #[cold]
    #[inline(never)]
    const fn missing(&self, count: usize) -> Error {
        if self.bounded {
            return Error::new(ErrorKind::BeyondParent, self.at as u64);
        }
        Error::incomplete(self.end as u64, (count - self.left()) as u64)
    }

    /// The next octet.
    ///
    /// # Errors
    /// [`ErrorKind::Incomplete`]; [`ErrorKind::BeyondParent`] where more input does not help.
    #[inline]
    pub fn octet(&mut self) -> Result<u8> {
        self.need(1)?;
        let octet = self.input.get(self.at).copied().unwrap_or_default();
        self.at += 1;
        Ok(octet)
    }

    /// The next `count` octets.
    ///
    /// # Errors
    /// As [`Reader::octet`].
    #[inline]
    pub fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        self.need(count)?;
        let octets = self.octets(self.at, self.at + count);
        self.at += count;
        Ok(octets)
    }

    /// A number without a sign in a fixed number of octets, at most eight (§10.3).
    ///
    /// # Errors
    /// As [`Reader::octet`].
    #[inline]
    pub fn unsigned(&mut self, octets: u8) -> Result<u64> {
        let octets = self.take(usize::from(octets))?;
        Ok(octets.iter().fold(0, |number, octet| number << 8 | u64::from(*octet)))
    }

    /// A number in two's complement in a fixed number of octets, one to eight (§10.4).
    ///
    /// # Errors
    /// As [`Reader::octet`].
    #[inline]
    pub fn signed(&mut self, octets: u8) -> Result<i64> {
        let unused = 64_u32.saturating_sub(u32::from(octets) * 8).min(63);
        let number = self.unsigned(octets)?;
        Ok((number << unused).cast_signed() >> unused)
    }

    /// A length determinant (§8.6): one octet below 128, else the number of octets that the length is in. Zeros at its
    /// front are allowed in BASIC-OER.
    ///
    /// # Errors
    /// As [`Reader::octet`]; [`ErrorKind::LengthEmpty`], [`ErrorKind::LengthTooLarge`].
    #[inline]
    pub fn length(&mut self) -> Result<usize> {
        let start = *self;
        let first = self.octet()?;
        if first < 0x80 { Ok(usize::from(first)) } else { self.long_length(first & 0x7F, &start) }
    }

    #[inline(never)]
    fn long_length(&mut self, count: u8, start: &Self) -> Result<usize> {
        if count == 0 {
            return Err(start.error(ErrorKind::LengthEmpty));
        }
        let octets = self.take(usize::from(count))?;
        let length = octets.iter().try_fold(0_usize, |length, octet| {
            length.checked_mul(256).map(|length| length | usize::from(*octet))
        });
        length.ok_or_else(|| start.error(ErrorKind::LengthTooLarge))
    }

    /// The number of elements of a list (§17.2): a length determinant and a number without a sign.
    ///
    /// # Errors
    /// As [`Reader::length`]; [`ErrorKind::IntegerEmpty`] without octets; [`ErrorKind::LimitExceeded`] beyond what can
    /// be counted.
    pub fn quantity(&mut self) -> Result<usize> {
        let start = *self;
        let length = self.length()?;
        if length == 0 {
            return Err(start.error(ErrorKind::IntegerEmpty));
        }
        let octets = self.take(length)?;
        let count = octets.iter().try_fold(0_usize, |count, octet| {
            count.checked_mul(256).map(|count| count | usize::from(*octet))
        });
        count.ok_or_else(|| start.error(ErrorKind::LimitExceeded))
    }

    /// A tag (§8.7.2).
    ///
    /// # Errors
    /// As [`Reader::octet`]; [`ErrorKind::TagForm`], [`ErrorKind::TagTooLarge`].
    #[inline]
    pub fn tag(&mut self) -> Result<Tag> {
        let start = *self;
        let first = self.octet()?;
        let class = Class::from_identifier(first);
        match first & 0x3F {
            0x3F => self.long_tag(class, &start),
            number => Ok(Tag::literal(class, u32::from(number))),
        }
    }

    #[inline(never)]
    fn long_tag(&mut self, class: Class, start: &Self) -> Result<Tag> {
        let mut number = 0_u32;
        loop {
            let octet = self.octet()?;
            if number == 0 && octet == 0x80 {
                return Err(start.error(ErrorKind::TagForm));
            }
            if number > Tag::MAX_NUMBER >> 7 {
                return Err(start.error(ErrorKind::TagTooLarge));
            }
            number = number << 7 | u32::from(octet & 0x7F);
            if octet < 0x80 {
                break;
            }
        }
        if number < 0x3F {
            return Err(start.error(ErrorKind::TagForm));
        }
        Tag::new(class, number).ok_or_else(|| start.error(ErrorKind::TagTooLarge))
    }
}
