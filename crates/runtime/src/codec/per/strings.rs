//! Strings, both ways (§16, §17, §30).

use super::lanes::{self, Lanes};
use super::writer::few;
use super::{Alphabet, Letters, Reader, Size, Writer};
use crate::ber::Rules;
use crate::codec::parts::put;
use crate::per::{BitReader, Length, Units};
use crate::types::{
    BitStr, BitString, ExactReal, FixedBits, INLINE, ObjectIdentifier, Octets, RelativeObjectIdentifier, Text,
};
use crate::{Error, ErrorKind, Result, Tag};
use alloc::string::String;
use alloc::vec::Vec;

/// A BIT STRING as one of a fixed size, if it has it.
#[must_use]
pub fn fixed_of_bits<const N: u32>(bits: BitString<'_>) -> Option<FixedBits<N>> {
    let bits = bits.as_bits();
    if bits.len() != N as usize {
        return None;
    }
    let word = bits.bytes().iter().fold(0_u64, |word, octet| word << 8 | u64::from(*octet));
    Some(FixedBits::new(word >> bits.unused()))
}

/// The same the other way.
#[must_use]
pub fn bits_of_fixed<const N: u32>(bits: FixedBits<N>) -> BitString<'static> {
    let (octets, used) = bits.to_octets();
    let unused = u8::try_from(used * 8 - N as usize).unwrap_or(0);
    BitString::new(Octets::copied(octets.get(..used).unwrap_or_default()), unused).unwrap_or_default()
}

/// The characters of a text, those beyond 16 bits as pairs where the alphabet has no more.
fn units<'t>(text: &'t str, alphabet: &Alphabet) -> impl Iterator<Item = u32> + use<'t> {
    let has_pairs = alphabet.has_pairs();
    text.chars().flat_map(move |character| {
        let mut pair = [0; 2];
        let (first, last) = match character.encode_utf16(&mut pair) {
            [first, last] if has_pairs => (u32::from(*first), Some(u32::from(*last))),
            _ => (u32::from(character), None),
        };
        core::iter::once(first).chain(last)
    })
}

/// Characters in bits from a reader's position on, which are known to be there, into room for as many and seven more.
#[inline(always)]
fn unpack<const BITS: u32>(
    bits: BitReader<'_>,
    alphabet: &Alphabet,
    lanes: &Lanes,
    count: usize,
    room: &mut [u8],
) -> Result<()> {
    let (mut at, mut done) = (bits.position(), 0);
    while done < count {
        let (characters, wrong) = lanes.read::<BITS>(bits.word_at(at));
        if wrong & lanes::first((count - done).min(lanes.in_word::<BITS>())) != 0 {
            return Err(no_character(bits, alphabet, at));
        }
        if let Some(places) = room.get_mut(done..).and_then(<[u8]>::first_chunk_mut) {
            *places = characters.to_be_bytes();
        }
        done += lanes.in_word::<BITS>();
        at += lanes.in_word::<BITS>() * alphabet.bits as usize;
    }
    Ok(())
}

/// A character that is not permitted is to be written.
#[cold]
#[inline(never)]
fn not_permitted() -> Result<()> {
    Err(Error::new(ErrorKind::ConstraintViolated, 0))
}

/// The lowest `bits` bits for each of up to eight characters, and how many they are.
#[inline(always)]
fn lowest(codes: u64, count: usize, bits: u32) -> (u64, u32) {
    #[allow(clippy::cast_possible_truncation)] // up to eight
    let width = count as u32 * bits;
    (if width == 0 { 0 } else { codes << (64 - width) >> (64 - width) }, width)
}

/// The fault at the first character from a position on that is not permitted.
#[cold]
fn no_character(bits: BitReader<'_>, alphabet: &Alphabet, at: usize) -> Error {
    let code = |at| u32::try_from(bits.word_at(at) >> (64 - alphabet.bits)).unwrap_or(0);
    let mut each = (at..bits.end()).step_by(alphabet.bits as usize);
    let place = each.find(|at| alphabet.character(code(*at)).is_none());
    Error::at_bit(ErrorKind::CharacterInvalid, place.unwrap_or(at) as u64)
}

/// In what form UTCTime and GeneralizedTime are.
const fn time_rules(canonical: bool) -> Rules {
    if canonical { Rules::Der } else { Rules::Ber }
}

impl<'a, const ALIGNED: bool> Reader<'a, ALIGNED> {
    /// OCTET STRING (§17).
    ///
    /// # Errors
    /// As [`Reader::size`].
    #[inline]
    pub fn octet_string(&mut self, size: Size) -> Result<Octets<'a>> {
        let length = self.size(size)?;
        if ALIGNED && length.count > 0 && !size.is_short(length.count, 2) {
            self.bits.align();
        }
        self.octets_of(length)
    }

    /// OCTET STRING of a fixed size.
    ///
    /// # Errors
    /// [`ErrorKind::Incomplete`].
    #[inline]
    pub fn fixed_octets<const N: usize>(&mut self) -> Result<[u8; N]> {
        if ALIGNED && N > 2 {
            self.bits.align();
        }
        let mut out = [0; N];
        if N <= 8 {
            let bits = self.bits(u32::try_from(N * 8).unwrap_or(0))?;
            let octets = bits.to_be_bytes();
            out.copy_from_slice(octets.get(8 - N.min(8)..).unwrap_or_default());
        } else {
            out.copy_from_slice(&self.take(N)?);
        }
        Ok(out)
    }

    /// BIT STRING (§16).
    ///
    /// # Errors
    /// As [`Reader::size`].
    #[inline(always)]
    pub fn bit_string(&mut self, size: Size) -> Result<BitString<'a>> {
        let length = self.size(size)?;
        if ALIGNED && length.count > 0 && !size.is_short(length.count, 16) {
            self.bits.align();
        }
        self.bits_of(length)
    }

    #[inline(never)]
    fn bits_of(&mut self, length: Length) -> Result<BitString<'a>> {
        if length.more {
            return self.long_bit_string(length);
        }
        let (at, count) = (self.bits.position(), length.count);
        self.bits.skip(count)?;
        let octets = if (at | count).is_multiple_of(8) {
            Octets::borrowed(self.bits.input().get(at / 8..(at + count) / 8).unwrap_or_default())
        } else {
            self.shifted(at, count)
        };
        let unused = (count.wrapping_neg() % 8).to_be_bytes()[size_of::<usize>() - 1];
        Ok(BitString::known(octets, unused))
    }

    /// The same in fragments.
    #[cold]
    fn long_bit_string(&mut self, mut length: Length) -> Result<BitString<'a>> {
        let mut joined = Vec::new();
        let mut bits = 0;
        loop {
            let at = self.bits.position();
            self.bits.skip(length.count)?;
            self.bits.copy_bits(at, length.count, &mut joined);
            bits += length.count;
            if !length.more {
                break;
            }
            length = self.length()?;
        }
        let unused = u8::try_from(joined.len() * 8 - bits).unwrap_or(0);
        Ok(BitString::new(joined, unused).unwrap_or_default())
    }

    /// BIT STRING of a fixed size of at most 64 bits.
    ///
    /// # Errors
    /// [`ErrorKind::Incomplete`].
    #[inline]
    pub fn fixed_bits<const N: u32>(&mut self) -> Result<FixedBits<N>> {
        if ALIGNED && N > 16 {
            self.bits.align();
        }
        self.bits(N).map(FixedBits::new)
    }

    /// A known-multiplier character string (§30.5).
    ///
    /// # Errors
    /// As [`Reader::size`]; [`ErrorKind::CharacterInvalid`] for a character that is not permitted.
    #[inline(always)]
    pub fn characters<A: Letters>(&mut self, size: Size) -> Result<Text<'a>> {
        let mut text = Text::EMPTY;
        self.fill_characters::<A>(size, &mut text)?;
        Ok(text)
    }

    /// The same into a place where no text with memory of its own is.
    ///
    /// # Errors
    /// As [`Reader::characters`].
    #[inline(always)]
    pub fn fill_characters<A: Letters>(&mut self, size: Size, place: &mut Text<'a>) -> Result<()> {
        let length = self.characters_there(size, const { &A::ALPHABET })?;
        if Self::is_octets(const { &A::ALPHABET }) {
            self.octets_of_alphabet::<A>(length, place)
        } else {
            self.up_to_eight::<A>(length, place)
        }
    }

    /// The same by an alphabet that is not known before.
    pub(super) fn characters_by(&mut self, size: Size, alphabet: &Alphabet) -> Result<Text<'a>> {
        let length = self.characters_there(size, alphabet)?;
        let mut text = Text::EMPTY;
        self.any_characters(length, alphabet, &mut text)?;
        Ok(text)
    }

    /// How many characters follow at once.
    #[inline(always)]
    fn characters_there(&mut self, size: Size, alphabet: &Alphabet) -> Result<Length> {
        let length = self.size(size)?;
        if ALIGNED && length.count > 0 && !(alphabet.unaligned && size.holds(length.count)) {
            self.bits.align();
        }
        Ok(length)
    }

    /// Whether characters are octets on a boundary.
    const fn is_octets(alphabet: &Alphabet) -> bool {
        ALIGNED && alphabet.bits == 8 && !alphabet.unaligned && alphabet.lanes.is_some()
    }

    /// Up to sixteen octets on a boundary in a straight line that has no call; others are read by what follows it.
    #[inline(never)]
    fn octets_of_alphabet<A: Letters>(&mut self, length: Length, place: &mut Text<'a>) -> Result<()> {
        let (alphabet, count) = (const { &A::ALPHABET }, length.count);
        if let (Some(lanes), ..=16, false) = (&alphabet.lanes, count, length.more)
            && let Some((eight, rest)) = self.bits.octets_from(count)
            && let Some(octets) = rest.get(..count)
        {
            let wrong = match octets.last_chunk() {
                // The last eight may be among the first ones too.
                Some(last) => lanes.wrong(eight) | lanes.wrong(u64::from_be_bytes(*last)),
                None => lanes.wrong(eight) & lanes::first(count),
            };
            if wrong == 0 {
                self.bits.seek(self.bits.position() + count * 8);
                put(place, Text::ascii(octets));
                return Ok(());
            }
        }
        self.any_characters(length, alphabet, place)
    }

    /// Up to eight characters in bits in a straight line that has no call; others are read by what follows it.
    #[inline(never)]
    fn up_to_eight<A: Letters>(&mut self, length: Length, place: &mut Text<'a>) -> Result<()> {
        let (alphabet, count) = (const { &A::ALPHABET }, length.count);
        if let (Some(lanes), 1..8, ..=8, false) = (&alphabet.lanes, alphabet.bits, count, length.more)
            && let Some((word, next)) = self.bits.word_of(count * alphabet.bits as usize)
        {
            let (characters, wrong) = lanes.read::<0>(word);
            if wrong & lanes::first(count) == 0 {
                self.bits.seek(next);
                put(place, Text::few(count, characters, 0));
                return Ok(());
            }
        }
        self.up_to_sixteen::<A>(length, place)
    }

    /// The same for up to sixteen, also near the end of the input.
    #[inline(never)]
    fn up_to_sixteen<A: Letters>(&mut self, length: Length, place: &mut Text<'a>) -> Result<()> {
        let (alphabet, count) = (const { &A::ALPHABET }, length.count);
        let bits = alphabet.bits as usize;
        if let (Some(lanes), 1..8, ..=16, false) = (&alphabet.lanes, alphabet.bits, count, length.more)
            && count * bits <= self.bits.left()
        {
            let at = self.bits.position();
            let (first, wrong) = lanes.read::<0>(self.bits.word_at(at));
            let mut wrong = wrong & lanes::first(count);
            let mut last = 0;
            if count > 8 {
                let (characters, more) = lanes.read::<0>(self.bits.word_at(at + 8 * bits));
                wrong |= more & lanes::first(count - 8);
                last = characters;
            }
            if wrong == 0 {
                self.bits.seek(at + count * bits);
                put(place, Text::few(count, first, last));
                return Ok(());
            }
        }
        self.any_characters(length, alphabet, place)
    }

    #[inline(never)]
    fn any_characters(&mut self, length: Length, alphabet: &Alphabet, place: &mut Text<'a>) -> Result<()> {
        let Some(lanes) = alphabet.lanes.as_ref().filter(|_| !length.more) else {
            put(place, self.long_text(length, alphabet)?);
            return Ok(());
        };
        if Self::is_octets(alphabet)
            && let Some(octets) = self.octets_within(length.count, lanes)
        {
            put(place, Text::ascii(octets));
            return Ok(());
        }
        // Apart for the digits, the letters and all that is visible, so that shifts are by literals.
        let text = match alphabet.bits {
            4 => self.any_text::<4>(length.count, alphabet, lanes),
            6 => self.any_text::<6>(length.count, alphabet, lanes),
            7 => self.any_text::<7>(length.count, alphabet, lanes),
            _ => self.any_text::<0>(length.count, alphabet, lanes),
        };
        put(place, text?);
        Ok(())
    }

    /// Octets on a boundary that are permitted characters; nothing, and no step, if they are not.
    fn octets_within(&mut self, count: usize, lanes: &Lanes) -> Option<&'a [u8]> {
        let mut bits = self.bits;
        let (_, octets) = bits.octets_at(count, 0)?;
        let (words, rest) = octets.as_chunks::<8>();
        let wrong = words.iter().fold(0, |wrong, word| wrong | lanes.wrong(u64::from_be_bytes(*word)));
        if wrong | lanes.wrong(few(rest)) & lanes::last(rest.len()) != 0 {
            return None;
        }
        self.bits = bits;
        Some(octets)
    }

    /// The same in any number of bits.
    #[inline(never)]
    fn any_text<const BITS: u32>(
        &mut self,
        count: usize,
        alphabet: &Alphabet,
        lanes: &Lanes,
    ) -> Result<Text<'a>> {
        let start = self.bits;
        self.bits.skip(count.saturating_mul(alphabet.bits as usize))?;
        if count <= INLINE {
            let mut room = [0; INLINE + 7];
            unpack::<BITS>(start, alphabet, lanes, count, &mut room)?;
            return Ok(Text::inline(count, *room.first_chunk().unwrap_or(&[0; INLINE])));
        }
        let mut room = alloc::vec![0; count + 7];
        unpack::<BITS>(start, alphabet, lanes, count, &mut room)?;
        room.truncate(count);
        Ok(String::from_utf8(room).unwrap_or_default().into())
    }

    /// Characters above 127, or in fragments.
    #[cold]
    fn long_text(&mut self, mut length: Length, alphabet: &Alphabet) -> Result<Text<'a>> {
        let mut text = String::new();
        // The first of a pair, and where it stands.
        let mut high = None;
        loop {
            // No character is looked at before all are there.
            { self.bits }.skip(length.count.saturating_mul(alphabet.bits as usize))?;
            for _ in 0..length.count {
                let mut start = self.bits;
                let code = u32::try_from(self.bits(alphabet.bits)?).unwrap_or(u32::MAX);
                let character = match (high.take(), alphabet.character(code)) {
                    (None, Some(first @ 0xD800..=0xDBFF)) if alphabet.has_pairs() => {
                        high = Some((first, start));
                        continue;
                    }
                    (Some((first, _)), Some(last @ 0xDC00..=0xDFFF)) => {
                        char::from_u32(0x1_0000 + ((first - 0xD800) << 10) + (last - 0xDC00))
                    }
                    (Some((_, at)), _) => {
                        start = at;
                        None
                    }
                    (None, character) => character.and_then(char::from_u32),
                };
                text.push(character.ok_or_else(|| start.error(ErrorKind::CharacterInvalid))?);
            }
            if !length.more {
                return match high {
                    None => Ok(text.into()),
                    Some((_, at)) => Err(at.error(ErrorKind::CharacterInvalid)),
                };
            }
            length = self.length()?;
        }
    }

    /// REAL (§15).
    ///
    /// # Errors
    /// As [`crate::ber::decode_real`].
    pub fn real(&mut self) -> Result<ExactReal<'a>> {
        let (contents, units) = self.contents_and_place()?;
        ExactReal::new(contents, 0, Rules::Ber).map_err(|fault| units.fault(ALIGNED, &fault))
    }

    /// REAL (§15) as the nearest `f64`.
    ///
    /// # Errors
    /// As [`Reader::real`].
    pub fn float(&mut self) -> Result<f64> {
        self.real().map(|real| real.to_f64())
    }

    /// OBJECT IDENTIFIER (§24).
    ///
    /// # Errors
    /// As [`ObjectIdentifier::new`].
    pub fn oid(&mut self) -> Result<ObjectIdentifier<'a>> {
        let (contents, units) = self.contents_and_place()?;
        ObjectIdentifier::new(contents, 0).map_err(|fault| units.fault(ALIGNED, &fault))
    }

    /// RELATIVE-OID (§25).
    ///
    /// # Errors
    /// As [`RelativeObjectIdentifier::new`].
    pub fn relative_oid(&mut self) -> Result<RelativeObjectIdentifier<'a>> {
        let (contents, units) = self.contents_and_place()?;
        RelativeObjectIdentifier::new(contents, 0).map_err(|fault| units.fault(ALIGNED, &fault))
    }

    /// UTF8String and other strings behind a general length determinant (§30.6).
    ///
    /// # Errors
    /// As [`crate::text::to_utf8`].
    pub fn other_string(&mut self, kind: crate::text::StringKind) -> Result<Text<'a>> {
        let (octets, units) = self.contents_and_place()?;
        let (start, placed) = (units.first, |fault| units.fault(ALIGNED, &fault));
        if start.position().is_multiple_of(8) && !units.length.more {
            let first = start.position() / 8;
            let octets = start.input().get(first..first + octets.len()).unwrap_or_default();
            return crate::text::to_utf8(kind, octets, 0).map(Text::from).map_err(placed);
        }
        let text = crate::text::to_utf8(kind, &octets, 0).map_err(placed)?;
        Ok(text.into_owned().into())
    }

    /// UTCTime (§31).
    ///
    /// # Errors
    /// As [`Reader::characters`] and [`crate::ber::decode_utc_time`].
    pub fn utc_time<A: Letters>(&mut self, size: Size) -> Result<Text<'a>> {
        self.utc_time_by(size, const { &A::ALPHABET })
    }

    /// The same by an alphabet that is not known before.
    pub(super) fn utc_time_by(&mut self, size: Size, alphabet: &Alphabet) -> Result<Text<'a>> {
        let text = self.characters_by(size, alphabet)?;
        let checked = crate::ber::decode_utc_time(text.as_bytes(), 0, time_rules(self.canonical));
        checked.map_err(|fault| self.place_in(&text, alphabet, &fault))?;
        Ok(text)
    }

    /// GeneralizedTime (§31).
    ///
    /// # Errors
    /// As [`Reader::characters`] and [`crate::ber::decode_generalized_time`].
    pub fn generalized_time<A: Letters>(&mut self, size: Size) -> Result<Text<'a>> {
        self.generalized_time_by(size, const { &A::ALPHABET })
    }

    /// The same by an alphabet that is not known before.
    pub(super) fn generalized_time_by(&mut self, size: Size, alphabet: &Alphabet) -> Result<Text<'a>> {
        let text = self.characters_by(size, alphabet)?;
        let checked = crate::ber::decode_generalized_time(text.as_bytes(), 0, time_rules(self.canonical));
        checked.map_err(|fault| self.place_in(&text, alphabet, &fault))?;
        Ok(text)
    }

    /// A general length determinant and octets, and where these stand.
    fn contents_and_place(&mut self) -> Result<(Octets<'a>, Units<'a>)> {
        let length = self.length()?;
        let units = Units::octets(self.bits, length);
        Ok((self.octets_of(length)?, units))
    }

    /// A fault in characters that were just read, where it is in the input.
    #[cold]
    #[inline(never)]
    fn place_in(&self, text: &Text<'_>, alphabet: &Alphabet, fault: &Error) -> Error {
        let bits = alphabet.bits as usize;
        let first = self.position().saturating_sub(text.len() * bits);
        let at = usize::try_from(fault.at()).unwrap_or(usize::MAX);
        Error::at_bit(fault.kind(), first.saturating_add(at.saturating_mul(bits)) as u64)
    }
}

impl<const ALIGNED: bool> Writer<ALIGNED> {
    /// OCTET STRING (§17).
    ///
    /// # Errors
    /// [`ErrorKind::ConstraintViolated`] for a size outside of a root that is not extensible.
    #[inline(always)]
    pub fn octet_string(&mut self, size: Size, octets: &[u8]) -> Result<()> {
        let length = self.size(size, octets.len())?;
        if ALIGNED && !octets.is_empty() && !size.is_short(octets.len(), 2) {
            self.align();
        }
        if length.more {
            self.fragments(length, octets);
        } else {
            self.octets(octets);
        }
        Ok(())
    }

    /// OCTET STRING of a fixed size.
    #[inline]
    pub fn fixed_octets<const N: usize>(&mut self, octets: &[u8; N]) {
        if ALIGNED && N > 2 {
            self.align();
        }
        self.octets(octets);
    }

    /// BIT STRING (§16); `named` ones without trailing zero bits as far as the size allows (§16.2, §16.3).
    ///
    /// # Errors
    /// As [`Writer::octet_string`].
    #[inline(always)]
    pub fn bit_string(&mut self, size: Size, bits: &BitString<'_>, named: bool) -> Result<()> {
        if named {
            return self.named_bits(size, bits.as_bits());
        }
        let bits = bits.as_bits();
        let length = self.size(size, bits.len())?;
        if ALIGNED && !bits.is_empty() && !size.is_short(bits.len(), 16) {
            self.align();
        }
        self.all_bits(length, bits, bits.len());
        Ok(())
    }

    fn named_bits(&mut self, size: Size, bits: BitStr<'_>) -> Result<()> {
        let least = size.lo as usize;
        let trimmed = bits.trimmed(least);
        let count = trimmed.len().max(least);
        let length = self.size(size, count)?;
        if ALIGNED && count > 0 && !size.is_short(count, 16) {
            self.align();
        }
        self.all_bits(length, trimmed, count);
        Ok(())
    }

    /// So many bits, which are zero behind those that are there.
    #[inline(never)]
    fn all_bits(&mut self, mut length: Length, bits: BitStr<'_>, count: usize) {
        if count == bits.len() && !length.more {
            return self.bit_octets(bits.bytes(), count);
        }
        let mut from = 0;
        loop {
            let octets = bits.bytes().get(from / 8..).unwrap_or_default();
            let known = bits.len().saturating_sub(from).min(length.count);
            self.bit_octets(octets, known);
            self.zeros(length.count - known);
            from += length.count;
            if !length.more {
                return;
            }
            length = self.length(count - from);
        }
    }

    /// The first `count` bits of some octets.
    #[inline]
    fn bit_octets(&mut self, octets: &[u8], count: usize) {
        if let (Some(octets), ..=64) = (octets.get(..count.div_ceil(8)), count) {
            #[allow(clippy::cast_possible_truncation)] // up to 64
            let (count, all) = (count as u32, octets.len() as u32 * 8);
            if count > 0 {
                self.bits(few(octets) >> (all - count), count);
            }
            return;
        }
        self.many_bit_octets(octets, count);
    }

    #[inline(never)]
    fn many_bit_octets(&mut self, octets: &[u8], count: usize) {
        let (whole, rest) = octets.split_at_checked(count / 8).unwrap_or((octets, &[]));
        self.octets(whole);
        let width = (count % 8).to_be_bytes()[size_of::<usize>() - 1];
        if let (Some(octet), 1..) = (rest.first(), width) {
            self.bits(u64::from(octet >> (8 - width)), u32::from(width));
        }
    }

    fn zeros(&mut self, mut count: usize) {
        while count > 0 {
            let now = count.min(56);
            self.bits(0, u32::try_from(now).unwrap_or(0));
            count -= now;
        }
    }

    /// BIT STRING of a fixed size of at most 64 bits.
    #[inline]
    pub fn fixed_bits<const N: u32>(&mut self, bits: FixedBits<N>) {
        if ALIGNED && N > 16 {
            self.align();
        }
        self.bits(bits.get(), N);
    }

    /// A known-multiplier character string (§30.5).
    ///
    /// # Errors
    /// [`ErrorKind::ConstraintViolated`] for a size or a character that is not permitted.
    #[inline(always)]
    pub fn characters<A: Letters>(&mut self, size: Size, text: &Text<'_>) -> Result<()> {
        let alphabet = const { &A::ALPHABET };
        let length = self.characters_there(size, alphabet, text)?;
        if alphabet.lanes.is_some() && !length.more {
            return self.few::<A>(text.as_bytes());
        }
        self.any_characters(length, alphabet, text)
    }

    /// The same by an alphabet that is not known before.
    pub(super) fn characters_by(&mut self, size: Size, alphabet: &Alphabet, text: &Text<'_>) -> Result<()> {
        let length = self.characters_there(size, alphabet, text)?;
        self.any_characters(length, alphabet, text)
    }

    #[inline(always)]
    fn characters_there(&mut self, size: Size, alphabet: &Alphabet, text: &Text<'_>) -> Result<Length> {
        let count = match alphabet.lanes {
            Some(_) => text.as_bytes().len(),
            None => units(text, alphabet).count(),
        };
        let length = self.size(size, count)?;
        if ALIGNED && count > 0 && !(alphabet.unaligned && size.holds(count)) {
            self.align();
        }
        Ok(length)
    }

    /// Up to eight characters in a straight line that has no call but at its end.
    #[inline(never)]
    fn few<A: Letters>(&mut self, octets: &[u8]) -> Result<()> {
        let alphabet = const { &A::ALPHABET };
        let (Some(lanes), count @ ..=8) = (&alphabet.lanes, octets.len()) else {
            return self.more::<A>(octets);
        };
        let characters = few(octets);
        if lanes.wrong(characters) & lanes::last(count) != 0 {
            return not_permitted();
        }
        let (codes, width) = lowest(lanes.write::<0>(characters), count, alphabet.bits);
        let used = self.used + width;
        if used < 64 {
            self.word |= codes << (63 - used) << 1;
            self.used = used;
            Ok(())
        } else {
            self.spilled(codes, used - 64)
        }
    }

    /// Any number of characters.
    #[inline(never)]
    fn more<A: Letters>(&mut self, octets: &[u8]) -> Result<()> {
        let alphabet = const { &A::ALPHABET };
        let Some(lanes) = &alphabet.lanes else { return not_permitted() };
        self.eights::<0>(alphabet, lanes, octets)
    }

    /// Characters that are permitted, eight at a time.
    #[inline(always)]
    fn eights<const BITS: u32>(&mut self, alphabet: &Alphabet, lanes: &Lanes, octets: &[u8]) -> Result<()> {
        let bits = if BITS == 0 { alphabet.bits } else { BITS };
        let (words, rest) = octets.as_chunks::<8>();
        let mut wrong = 0;
        for word in words {
            let characters = u64::from_be_bytes(*word);
            wrong |= lanes.wrong(characters);
            let (codes, width) = lowest(lanes.write::<BITS>(characters), 8, bits);
            self.bits(codes, width);
        }
        let characters = few(rest);
        wrong |= lanes.wrong(characters) & lanes::last(rest.len());
        let (codes, width) = lowest(lanes.write::<BITS>(characters), rest.len(), bits);
        self.bits(codes, width);
        if wrong == 0 { Ok(()) } else { not_permitted() }
    }

    #[inline(never)]
    fn any_characters(&mut self, length: Length, alphabet: &Alphabet, text: &Text<'_>) -> Result<()> {
        let octets = text.as_bytes();
        match alphabet.bits {
            4 => self.text::<4>(length, alphabet, text, octets),
            6 => self.text::<6>(length, alphabet, text, octets),
            7 => self.text::<7>(length, alphabet, text, octets),
            8 => self.text::<8>(length, alphabet, text, octets),
            _ => self.text::<0>(length, alphabet, text, octets),
        }
    }

    #[inline(always)]
    fn text<const BITS: u32>(
        &mut self,
        length: Length,
        alphabet: &Alphabet,
        text: &Text<'_>,
        octets: &[u8],
    ) -> Result<()> {
        let (Some(lanes), false) = (&alphabet.lanes, length.more) else {
            return self.long_text(length, alphabet, text);
        };
        self.eights::<BITS>(alphabet, lanes, octets)
    }

    /// Characters above 127, or in fragments.
    #[cold]
    fn long_text(&mut self, mut length: Length, alphabet: &Alphabet, text: &Text<'_>) -> Result<()> {
        let text = match text.marked() {
            // What one octet spells is a character, though none that is permitted; wider octets may be none at all.
            Some(marked) if !matches!(marked.tag(), Tag::BMP_STRING | Tag::UNIVERSAL_STRING) => {
                return not_permitted();
            }
            _ => text.unmarked()?,
        };
        let mut characters = units(text, alphabet);
        let mut left = units(text, alphabet).count();
        loop {
            for character in characters.by_ref().take(length.count) {
                let code = alphabet.code(character);
                let code = code.ok_or_else(|| Error::new(ErrorKind::ConstraintViolated, 0))?;
                self.bits(u64::from(code), alphabet.bits);
            }
            left -= length.count.min(left);
            if !length.more {
                return Ok(());
            }
            length = self.length(left);
        }
    }

    /// That a text is a UTCTime, in canonical PER in the form of X.690 11.8.
    ///
    /// # Errors
    /// As [`crate::ber::decode_utc_time`].
    pub fn check_utc_time(&self, text: &str) -> Result<()> {
        crate::ber::decode_utc_time(text.as_bytes(), 0, time_rules(self.is_canonical())).map(|_| ())
    }

    /// That a text is a GeneralizedTime, in canonical PER in the form of X.690 11.7.
    ///
    /// # Errors
    /// As [`crate::ber::decode_generalized_time`].
    pub fn check_generalized_time(&self, text: &str) -> Result<()> {
        crate::ber::decode_generalized_time(text.as_bytes(), 0, time_rules(self.is_canonical())).map(|_| ())
    }

    /// UTF8String and other strings behind a general length determinant (§30.6).
    ///
    /// # Errors
    /// As [`crate::text::from_utf8`].
    pub fn other_string(&mut self, kind: crate::text::StringKind, text: &Text<'_>) -> Result<()> {
        let octets = crate::text::from_utf8(kind, text.unmarked()?)?;
        self.contents(&octets);
        Ok(())
    }
}
