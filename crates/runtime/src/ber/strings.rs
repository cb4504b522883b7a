//! Strings in one piece or in segments (X.690 8.6.4, 8.7, 8.23, 9.2, 10.2).

use alloc::borrow::Cow;
use alloc::vec::Vec;

use super::{Frame, Header, Reader, Rules, decode_bit_string};
use crate::types::BitString;
use crate::{Error, ErrorKind, Result, Tag};

/// The segments of a constructed string: which tag they have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StringForm {
    /// OCTET STRING: segments have its tag.
    Octets,
    /// A character or time type with this universal tag.
    ///
    /// It is encoded as if it were an OCTET STRING (8.23.1), whose tag the segments have; under BER segments
    /// with the type's own tag are read too, as several tools write them.
    Text(Tag),
    /// BIT STRING.
    Bits,
}

/// The contents octets of the primitive pieces of a string, in order; nothing is copied.
///
/// Made by [`Reader::segments`].  Nested segments are descended into with a stack of frames, the depth
/// limited by the reader's.  After the last piece the reader stands behind the string.
#[derive(Debug)]
pub struct Segments<'r, 'a> {
    reader: &'r mut Reader<'a>,
    whole: Option<Header>,
    frames: Vec<Frame>,
    form: StringForm,
    /// Contents octets of the piece before, for CER.
    before: Option<usize>,
}

impl<'a> Segments<'_, 'a> {
    fn advance(&mut self) -> Result<Option<(u64, &'a [u8])>> {
        if let Some(header) = self.whole.take() {
            if !header.constructed {
                let at = self.reader.offset();
                if self.reader.rules() == Rules::Cer && header.length > 1000 {
                    return Err(Error::new(ErrorKind::SegmentSize, at));
                }
                return Ok(Some((at, self.reader.contents(&header)?)));
            }
            if self.reader.rules() == Rules::Der {
                return Err(self.reader.error(ErrorKind::ConstructedString));
            }
            self.frames.push(self.reader.enter(&header)?);
        }
        while let Some(frame) = self.frames.last().copied() {
            let start = self.reader.offset();
            let Some(header) = self.reader.next_header()? else {
                self.reader.leave(frame)?;
                self.frames.pop();
                continue;
            };
            let fits = match self.form {
                StringForm::Octets => header.tag == Tag::OCTET_STRING,
                StringForm::Bits => header.tag == Tag::BIT_STRING,
                StringForm::Text(own) => {
                    header.tag == Tag::OCTET_STRING
                        || (self.reader.rules() == Rules::Ber
                            && (header.tag == own
                                // An ObjectDescriptor is a GraphicString with a tag of its own.
                                || (own == Tag::GRAPHIC_STRING && header.tag == Tag::OBJECT_DESCRIPTOR)))
                }
            };
            if !fits {
                return Err(Error::new(ErrorKind::SegmentTag, start));
            }
            if header.constructed {
                if self.reader.rules() == Rules::Cer {
                    return Err(Error::new(ErrorKind::SegmentSize, start));
                }
                self.frames.push(self.reader.enter(&header)?);
                continue;
            }
            if self.reader.rules() == Rules::Cer && self.before.replace(header.length).unwrap_or(1000) != 1000
            {
                return Err(Error::new(ErrorKind::SegmentSize, start));
            }
            let at = self.reader.offset();
            let contents = self.reader.contents(&header)?;
            if self.reader.rules() == Rules::Cer {
                self.check_piece(contents.len(), start)?;
            }
            return Ok(Some((at, contents)));
        }
        Ok(None)
    }

    /// A CER piece has 1 to 1000 octets.
    fn check_piece(&self, length: usize, start: u64) -> Result<()> {
        let least = match self.form {
            StringForm::Octets | StringForm::Text(_) => 1,
            StringForm::Bits => 2,
        };
        if (least..=1000).contains(&length) { Ok(()) } else { Err(Error::new(ErrorKind::SegmentSize, start)) }
    }
}

impl<'a> Iterator for Segments<'_, 'a> {
    /// The absolute offset and the contents octets of a piece; for a BIT STRING with the initial octet.
    type Item = Result<(u64, &'a [u8])>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.advance().transpose();
        if matches!(next, Some(Err(_))) {
            self.frames.clear();
        }
        next
    }
}

impl<'a> Reader<'a> {
    /// The pieces of the string whose header was just read: one if it is primitive.
    pub fn segments<'r>(&'r mut self, header: &Header, form: StringForm) -> Segments<'r, 'a> {
        Segments { reader: self, whole: Some(*header), frames: Vec::new(), form, before: None }
    }

    /// The octets of an OCTET STRING whose header was just read; borrowed when the encoding has them in one
    /// piece.
    ///
    /// # Errors
    /// [`ErrorKind::SegmentTag`], [`ErrorKind::ConstructedString`], [`ErrorKind::SegmentSize`], and any fault
    /// in a header.
    ///
    /// ```
    /// use tercet_runtime::ber::{Reader, Rules};
    /// let mut reader = Reader::new(b"\x24\x09\x04\x03Jon\x04\x02es", Rules::Ber);
    /// let header = reader.read_header()?;
    /// assert_eq!(*reader.octet_string(&header)?, *b"Jones");
    /// # Ok::<(), tercet_runtime::Error>(())
    /// ```
    #[inline]
    pub fn octet_string(&mut self, header: &Header) -> Result<Cow<'a, [u8]>> {
        self.string(header, StringForm::Octets)
    }

    /// The octets of a string whose header was just read, with the segments of this form.
    ///
    /// # Errors
    /// As [`Reader::octet_string`].
    ///
    /// ```
    /// use tercet_runtime::ber::{Reader, Rules, StringForm};
    /// use tercet_runtime::Tag;
    /// // X.690 8.23: Name ::= VisibleString, "Jones", in segments
    /// let mut reader = Reader::new(b"\x3A\x09\x04\x03Jon\x04\x02es", Rules::Ber);
    /// let header = reader.read_header()?;
    /// assert_eq!(*reader.string(&header, StringForm::Text(Tag::VISIBLE_STRING))?, *b"Jones");
    /// # Ok::<(), tercet_runtime::Error>(())
    /// ```
    #[inline]
    pub fn string(&mut self, header: &Header, form: StringForm) -> Result<Cow<'a, [u8]>> {
        if !header.constructed && self.rules() != Rules::Cer {
            return self.contents(header).map(Cow::Borrowed);
        }
        self.string_in_pieces(header, form)
    }

    #[cold]
    fn string_in_pieces(&mut self, header: &Header, form: StringForm) -> Result<Cow<'a, [u8]>> {
        let mut whole = Cow::Borrowed(&[][..]);
        for (i, piece) in self.segments(header, form).enumerate() {
            let (_, octets) = piece?;
            if i == 0 {
                whole = Cow::Borrowed(octets);
            } else if !octets.is_empty() {
                whole.to_mut().extend_from_slice(octets);
            }
        }
        self.check_split(header, whole.len())?;
        Ok(whole)
    }

    /// Appends the octets of an OCTET STRING to `out`; see [`Reader::octet_string`].
    ///
    /// # Errors
    /// As [`Reader::octet_string`].
    pub fn octet_string_into(&mut self, header: &Header, out: &mut Vec<u8>) -> Result<()> {
        self.string_into(header, StringForm::Octets, out)
    }

    /// Appends the bytes of a string to `out`; see [`Reader::string`].
    ///
    /// # Errors
    /// As [`Reader::octet_string`].
    pub fn string_into(&mut self, header: &Header, form: StringForm, out: &mut Vec<u8>) -> Result<()> {
        let start = out.len();
        for piece in self.segments(header, form) {
            out.extend_from_slice(piece?.1);
        }
        self.check_split(header, out.len() - start)
    }

    /// The bits of a BIT STRING whose header was just read; borrowed when the encoding has them in one piece.
    ///
    /// A constructed one without segments has no bits.
    ///
    /// # Errors
    /// As [`decode_bit_string`] and [`Reader::octet_string`]; [`ErrorKind::BitStringSegment`].
    #[inline]
    pub fn bit_string(&mut self, header: &Header) -> Result<BitString<'a>> {
        if !header.constructed && self.rules() != Rules::Cer {
            let at = self.offset();
            return decode_bit_string(self.contents(header)?, at, self.rules()).map(BitString::from);
        }
        self.bit_string_in_pieces(header)
    }

    #[cold]
    fn bit_string_in_pieces(&mut self, header: &Header) -> Result<BitString<'a>> {
        let rules = self.rules();
        let mut whole = Cow::Borrowed(&[][..]);
        let mut unused = 0;
        for (i, piece) in self.segments(header, StringForm::Bits).enumerate() {
            let (at, contents) = piece?;
            if unused != 0 {
                return Err(Error::new(ErrorKind::BitStringSegment, at));
            }
            let bits = decode_bit_string(contents, at, rules)?;
            unused = bits.unused();
            if i == 0 {
                whole = Cow::Borrowed(bits.bytes());
            } else if !bits.is_empty() {
                whole.to_mut().extend_from_slice(bits.bytes());
            }
        }
        self.check_split(header, whole.len() + 1)?;
        BitString::new(whole, unused).ok_or_else(|| self.error(ErrorKind::BitStringUnusedEmpty))
    }

    /// CER: what fits into 1000 contents octets is primitive (9.2).
    fn check_split(&self, header: &Header, contents: usize) -> Result<()> {
        if self.rules() == Rules::Cer && header.constructed && contents <= 1000 {
            return Err(self.error(ErrorKind::SegmentSize));
        }
        Ok(())
    }
}
