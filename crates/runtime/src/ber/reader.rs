//! The cursor that steps over headers, and into and out of constructed elements.

use super::header::{self, Extent, Header, Rules};
#[cfg(feature = "arena")]
use crate::Arena;
use crate::codec::Path;
use crate::{Class, Error, ErrorKind, Limits, Result, Tag};

/// A cursor over one encoding: what is left of the current level, where that ends, the depth left.
///
/// The cursor enters a constructed element in place and gives a [`Frame`] to leave it with; so both
/// recursive callers and callers with a stack of their own use it, and an indefinite length is never
/// looked for ahead.
///
/// ```
/// use tercet_runtime::ber::{Reader, Rules, decode_boolean};
/// use tercet_runtime::Tag;
/// // SEQUENCE { BOOLEAN TRUE }, once definite, once indefinite
/// for input in [&[0x30, 0x03, 0x01, 0x01, 0xFF][..], &[0x30, 0x80, 0x01, 0x01, 0xFF, 0x00, 0x00]] {
///     let mut reader = Reader::new(input, Rules::Ber);
///     let sequence = reader.read_expected(Tag::SEQUENCE)?;
///     let frame = reader.enter(&sequence)?;
///     while let Some(header) = reader.next_header()? {
///         let at = reader.offset();
///         assert!(decode_boolean(reader.contents(&header)?, at, Rules::Ber)?);
///     }
///     reader.leave(frame)?;
///     reader.finish()?;
/// }
/// # Ok::<(), tercet_runtime::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    input: &'a [u8],
    /// From the cursor to the end of the innermost definite length around it, or of the input: a slice of its own, so that
    /// an element is taken with one comparison (certificates decode with 9 % fewer instructions than by positions).
    rest: &'a [u8],
    /// Where in the input `rest` ends.
    end: usize,
    base: u64,
    limit: u64,
    depth: u16,
    /// Values with parts which may still begin, where generated code counts them.
    values: u16,
    rules: Rules,
    /// The longest length that the short path takes: 127, or the limit below it.
    short: u8,
    /// The bit of the identifier that the short path leaves to the long one: constructed in CER.
    leave: u8,
    /// Whether `end` comes from a definite length rather than from the input.
    bounded: bool,
    /// Whether the current level ends with end-of-contents octets.
    indefinite: bool,
    /// Whether characters and times that break their type are errors in BER too.
    strict: bool,
    /// Texts that were kept although they break their type.
    marked: u32,
    /// Where values are kept that are not in place, if there is such.
    #[cfg(feature = "arena")]
    arena: Option<&'a Arena>,
    /// Where a fault is, as far as it has been told.
    pub(crate) path: Path,
}

/// The level around a constructed element, to be given back to [`Reader::leave`].
#[derive(Clone, Copy, Debug)]
#[must_use = "the level has to be left again"]
pub struct Frame {
    end: usize,
    bounded: bool,
    indefinite: bool,
}

impl<'a> Reader<'a> {
    /// A cursor at the start of `input` with the default limits; offsets in errors count from its start.
    #[inline]
    #[must_use]
    pub const fn new(input: &'a [u8], rules: Rules) -> Self {
        Self::with_limits(input, 0, rules, &Limits::DEFAULT)
    }

    /// A cursor at the start of `input`, whose first octet has the absolute offset `base`.
    #[inline]
    #[must_use]
    pub const fn with_limits(input: &'a [u8], base: u64, rules: Rules, limits: &Limits) -> Self {
        Self {
            input,
            rest: input,
            end: input.len(),
            base,
            limit: limits.element_length,
            depth: limits.depth,
            values: limits.depth,
            rules,
            short: if limits.element_length < 0x7F { limits.element_length.to_be_bytes()[7] } else { 0x7F },
            leave: if matches!(rules, Rules::Cer) { 0x20 } else { 0 },
            bounded: false,
            indefinite: false,
            strict: false,
            marked: 0,
            #[cfg(feature = "arena")]
            arena: None,
            path: Path::NONE,
        }
    }

    /// The same cursor, which has an arena for what generated code of `memory = "arena"` reads.
    #[cfg(feature = "arena")]
    #[inline]
    #[must_use]
    pub const fn with_arena(mut self, arena: Option<&'a Arena>) -> Self {
        self.arena = arena;
        self
    }

    /// The arena, if it has one.
    #[cfg(feature = "arena")]
    #[inline]
    #[must_use]
    pub const fn arena(&self) -> Option<&'a Arena> {
        self.arena
    }

    /// Octets as long as the input lives: a copy in the arena, if there is one.
    pub(crate) fn copied(&self, octets: &[u8]) -> Option<&'a [u8]> {
        #[cfg(feature = "arena")]
        let copy = self.arena.map(|arena| arena.copy(octets));
        #[cfg(not(feature = "arena"))]
        let copy = {
            _ = octets;
            None
        };
        copy
    }

    /// A text as long as the input lives, likewise.
    pub(crate) fn copied_text(&self, text: &str) -> Option<&'a str> {
        #[cfg(feature = "arena")]
        let copy = self.arena.map(|arena| arena.copy_text(text));
        #[cfg(not(feature = "arena"))]
        let copy = {
            _ = text;
            None
        };
        copy
    }

    /// The same cursor, which knows whether the input ends with an element of definite length, so that more input would not
    /// help.
    #[inline]
    #[must_use]
    pub const fn within(mut self, definite: bool) -> Self {
        self.bounded = definite;
        self
    }

    /// The same cursor, which tells whether character strings and times that break the rules of their type are errors in BER,
    /// as they are in DER and CER, for what generated code reads: by default they are kept ([`Text::marked`]).
    ///
    /// [`Text::marked`]: crate::types::Text::marked
    #[inline]
    #[must_use]
    pub const fn with_strict_values(mut self, strict: bool) -> Self {
        self.strict = strict;
        self
    }

    /// Whether character strings and times that break the rules of their type are errors in BER.
    #[inline]
    #[must_use]
    pub const fn has_strict_values(&self) -> bool {
        self.strict
    }

    /// Returns how many texts were kept although they break the rules of their type.
    #[inline]
    #[must_use]
    pub const fn marked(&self) -> u32 {
        self.marked
    }

    /// Counts texts that were kept by another cursor.
    pub(crate) fn add_marked(&mut self, count: u32) {
        self.marked = self.marked.saturating_add(count);
    }

    /// The rules that the encoding has to follow.
    #[inline]
    #[must_use]
    pub const fn rules(&self) -> Rules {
        self.rules
    }

    /// The absolute offset of the cursor.
    #[inline]
    #[must_use]
    pub const fn offset(&self) -> u64 {
        self.base.saturating_add(self.position() as u64)
    }

    /// The position of the cursor in the slice it was made from.
    #[inline]
    #[must_use]
    pub const fn position(&self) -> usize {
        self.end - self.rest.len()
    }

    /// The slice that the cursor was made from.
    #[inline]
    #[must_use]
    pub const fn input(&self) -> &'a [u8] {
        self.input
    }

    /// How many more constructed elements may be entered.
    #[inline]
    #[must_use]
    pub const fn depth_left(&self) -> u16 {
        self.depth
    }

    /// The octets from the cursor to the end of the innermost definite length around it.
    #[inline]
    #[must_use]
    pub const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    #[inline]
    const fn extent(&self) -> Extent {
        Extent { at: self.offset(), bounded: self.bounded, limit: self.limit }
    }

    /// An error of this kind at the cursor.
    #[cold]
    #[inline(never)]
    #[must_use]
    pub const fn error(&self, kind: ErrorKind) -> Error {
        Error::new(kind, self.offset())
    }

    /// The fault that a call has told is in this component.
    #[cold]
    #[inline(never)]
    pub fn inside(&mut self, component: &'static str) {
        self.path.component(component);
    }

    /// Reads a header that has to be there.
    ///
    /// # Errors
    /// [`ErrorKind::Incomplete`] at the end of the input, [`ErrorKind::BeyondParent`] at the end of a definite
    /// level, [`ErrorKind::EndOfContentsUnexpected`] at end-of-contents octets, and any fault in the header.
    #[inline]
    pub fn read_header(&mut self) -> Result<Header> {
        if let Some((header, contents)) = self.short_header() {
            self.rest = contents;
            return Ok(header);
        }
        let header = self.long_header()?;
        if header.is_end_of_contents() {
            return Err(self.error(ErrorKind::EndOfContentsUnexpected));
        }
        self.pass(usize::from(header.size));
        Ok(header)
    }

    /// The header at the cursor if it has two octets, is legal in all rules and not the end-of-contents; and what is
    /// behind it.
    ///
    /// Nine headers of ten are such; no offset is computed and no error built for them.
    #[inline]
    fn short_header(&self) -> Option<(Header, &'a [u8])> {
        let (&[identifier, length], contents) = self.rest.split_first_chunk::<2>()?;
        let plain = (identifier & 0x1F != 0x1F)
            & (identifier & 0xDF != 0)
            & (identifier & self.leave == 0)
            & (length <= self.short)
            & (usize::from(length) <= contents.len());
        let header = Header {
            tag: Tag::from_octet(identifier),
            size: 2,
            constructed: identifier & 0x20 != 0,
            indefinite: false,
            length: usize::from(length),
        };
        plain.then_some((header, contents))
    }

    /// Steps over the next element if its header has two octets, and says whether it did.
    #[inline]
    pub(crate) fn pass_short(&mut self) -> bool {
        let Some((header, contents)) = self.short_header() else { return false };
        self.rest = contents.get(header.length..).unwrap_or_default();
        true
    }

    /// Moves the cursor over octets that are there.
    #[inline]
    fn pass(&mut self, octets: usize) {
        self.rest = self.rest.get(octets..).unwrap_or_default();
    }

    #[inline(never)]
    fn long_header(&self) -> Result<Header> {
        header::parse(self.rest, self.extent(), self.rules)
    }

    /// Reads the next header of this level, or nothing at its end.
    ///
    /// The end of an indefinite level is its end-of-contents octets, which [`Reader::leave`] consumes.
    ///
    /// # Errors
    /// As [`Reader::read_header`]; [`ErrorKind::EndOfContentsMissing`] when a definite length around ends first.
    #[inline]
    pub fn next_header(&mut self) -> Result<Option<Header>> {
        if let Some((header, contents)) = self.short_header() {
            self.rest = contents;
            return Ok(Some(header));
        }
        let next = self.peek_long_header()?;
        if let Some(header) = &next {
            self.pass(usize::from(header.size));
        }
        Ok(next)
    }

    /// The next header of this level without moving, or nothing at its end.
    ///
    /// # Errors
    /// As [`Reader::next_header`].
    #[inline]
    pub fn peek_header(&self) -> Result<Option<Header>> {
        match self.short_header() {
            Some((header, _)) => Ok(Some(header)),
            None => self.peek_long_header(),
        }
    }

    #[inline]
    fn peek_long_header(&self) -> Result<Option<Header>> {
        if self.rest.is_empty() && !self.indefinite {
            return Ok(None);
        }
        let header = match self.long_header() {
            Ok(header) => header,
            Err(_) if self.rest.is_empty() && self.bounded => {
                return Err(self.error(ErrorKind::EndOfContentsMissing));
            }
            Err(error) => return Err(error),
        };
        if header.is_end_of_contents() {
            if self.indefinite {
                return Ok(None);
            }
            return Err(self.error(ErrorKind::EndOfContentsUnexpected));
        }
        Ok(Some(header))
    }

    /// The tag of the next element of this level without moving, or nothing at the level's end.
    ///
    /// Of the header only the identifier is looked at, so that what is wrong behind it shows when the element is read.
    ///
    /// # Errors
    /// As [`Reader::next_header`].
    #[inline]
    pub fn peek_tag(&self) -> Result<Option<Tag>> {
        if let Some(tag) = self.short_tag() {
            return Ok(Some(tag));
        }
        match *self.rest {
            [] if !self.indefinite => Ok(None),
            [identifier, number @ 31..=0x7F, ..] if identifier & 0x1F == 0x1F => {
                Ok(Some(Tag::literal(Class::from_identifier(identifier), u32::from(number))))
            }
            [identifier, high @ 0x81..=0xFF, low @ 0..=0x7F, ..] if identifier & 0x1F == 0x1F => {
                let number = u32::from(high & 0x7F) << 7 | u32::from(low);
                Ok(Some(Tag::literal(Class::from_identifier(identifier), number)))
            }
            _ => self.peek_long_tag(),
        }
    }

    /// The tag of the next element if its identifier has one octet.
    #[inline]
    pub(crate) const fn short_tag(&self) -> Option<Tag> {
        match *self.rest {
            [identifier, ..] if identifier & 0x1F != 0x1F && identifier & 0xDF != 0 => {
                Some(Tag::from_octet(identifier))
            }
            _ => None,
        }
    }

    /// Whether this level has more elements. What is wrong with the header of the next shows when it is read.
    ///
    /// # Errors
    /// As [`Reader::next_header`], where there may be end-of-contents octets.
    #[inline]
    pub fn has_more(&self) -> Result<bool> {
        match *self.rest {
            [] if !self.indefinite => Ok(false),
            [1..=0xFF, ..] => Ok(true),
            _ => self.peek_long_tag().map(|tag| tag.is_some()),
        }
    }

    /// Whether a level of a definite length is at its end.
    #[inline]
    pub(crate) const fn is_at_end(&self) -> bool {
        self.rest.is_empty() && !self.indefinite
    }

    #[inline(never)]
    fn peek_long_tag(&self) -> Result<Option<Tag>> {
        match self.identifier() {
            Some(tag) => Ok(Some(tag)),
            None => Ok(self.peek_long_header()?.map(|header| header.tag)),
        }
    }

    /// The tag of what is at the cursor if its identifier octets can be read, whatever is wrong with its length.
    ///
    /// What names the component that a faulty header is in.
    #[must_use]
    pub fn identifier(&self) -> Option<Tag> {
        header::identifier(self.rest)
    }

    /// Whether the next element has this tag. A fault in its header is none: it shows when the element is read.
    #[inline]
    #[must_use]
    pub fn is_next(&self, tag: Tag) -> bool {
        match (tag.number(), self.rest) {
            (..31, [identifier, ..]) => identifier & 0xDF == tag.identifier(),
            (31..128, [identifier, number, ..]) => {
                identifier & 0xDF == tag.identifier() && u32::from(*number) == tag.number()
            }
            (128..0x4000, [identifier, high, low, ..]) => {
                identifier & 0xDF == tag.identifier() && [*high, *low] == tag.two_septets()
            }
            (_, []) => false,
            _ => self.peek_long_tag().is_ok_and(|next| next == Some(tag)),
        }
    }

    /// The contents of the next element and what is behind it, if it has this tag, this form and a length in the fewest
    /// octets; with a literal tag and a length of one octet a few comparisons.
    #[inline(always)]
    fn short_extent(&self, tag: Tag, form: u8) -> Option<(&'a [u8], &'a [u8])> {
        let first = tag.identifier() | form;
        let (length, behind) = match (tag.number(), self.rest) {
            (..31, &[identifier, length, ref behind @ ..]) if identifier == first => (length, behind),
            (31..128, &[identifier, number, length, ref behind @ ..])
                if identifier == first && u32::from(number) == tag.number() =>
            {
                (length, behind)
            }
            // TAP numbers most of its tags so.
            (128..0x4000, &[identifier, high, low, length, ref behind @ ..])
                if identifier == first && [high, low] == tag.two_septets() =>
            {
                (length, behind)
            }
            _ => return None,
        };
        if length > self.short {
            return self.middle_extent(length, behind);
        }
        behind.split_at_checked(usize::from(length))
    }

    /// The same for a length of two or three octets that is legal in DER, whose first octet is given.
    #[inline(never)]
    fn middle_extent(&self, first: u8, behind: &'a [u8]) -> Option<(&'a [u8], &'a [u8])> {
        let (length, behind) = match (first, behind) {
            (0x81, &[length @ 0x80..=0xFF, ref behind @ ..]) => (u16::from(length), behind),
            (0x82, &[high @ 1..=0xFF, low, ref behind @ ..]) => (u16::from_be_bytes([high, low]), behind),
            _ => return None,
        };
        if self.leave != 0 || u64::from(length) > self.limit {
            return None;
        }
        behind.split_at_checked(usize::from(length))
    }

    /// What `short` makes of the contents of the next element, if that is primitive with this tag and has a short length;
    /// the cursor moves if there is something.
    #[inline(always)]
    pub(crate) fn short_primitive<T>(
        &mut self,
        tag: Tag,
        short: impl FnOnce(&'a [u8]) -> Option<T>,
    ) -> Option<T> {
        let (contents, behind) = self.short_extent(tag, 0)?;
        let value = short(contents)?;
        self.rest = behind;
        Some(value)
    }

    /// The tag ([`Tag::bits`]) and the contents of the next element, and what is behind it, if that is primitive with a number
    /// below 16,384 and a length in the fewest octets, up to 65,535. End-of-contents octets have tag 0. The cursor does not move.
    #[inline]
    #[must_use]
    pub fn next_primitive(&self) -> Option<(u32, &'a [u8], &'a [u8])> {
        let (identifier, number, length, behind) = match *self.rest {
            [identifier, length, ref behind @ ..] if identifier & 0x1F != 0x1F => {
                (identifier, u32::from(identifier & 0x1F), length, behind)
            }
            [identifier, number @ 31..=0x7F, length, ref behind @ ..] => {
                (identifier, u32::from(number), length, behind)
            }
            [identifier, high @ 0x81..=0xFF, low @ 0..=0x7F, length, ref behind @ ..] => {
                (identifier, u32::from(high & 0x7F) << 7 | u32::from(low), length, behind)
            }
            _ => return None,
        };
        if identifier & 0x20 != 0 {
            return None;
        }
        let (contents, behind) = if length > self.short {
            self.middle_extent(length, behind)?
        } else {
            behind.split_at_checked(usize::from(length))?
        };
        Some((u32::from(identifier & 0xC0) << 24 | number, contents, behind))
    }

    /// Moves the cursor behind an element that [`Reader::next_primitive`] has told.
    #[inline]
    pub const fn go_on(&mut self, behind: &'a [u8]) {
        self.rest = behind;
    }

    /// Enters the next element if it is constructed with this tag and has a short length.
    #[inline]
    pub(crate) fn short_constructed(&mut self, tag: Tag) -> Option<Frame> {
        let (contents, behind) = self.short_extent(tag, 0x20)?;
        if self.leave != 0 {
            return None;
        }
        self.depth = self.depth.checked_sub(1)?;
        let frame = Frame { end: self.end, bounded: self.bounded, indefinite: self.indefinite };
        self.rest = contents;
        self.end -= behind.len();
        self.bounded = true;
        self.indefinite = false;
        Some(frame)
    }

    /// The next element if it is primitive with a header of two octets.
    #[inline]
    pub(crate) fn short_element(&mut self) -> Option<&'a [u8]> {
        let (header, contents) = self.short_header()?;
        let size = usize::from(header.size) + contents.len().min(header.length);
        let (element, behind) = self.rest.split_at_checked(size)?;
        (!header.constructed).then(|| {
            self.rest = behind;
            element
        })
    }

    /// Elements up to the end of this level as far as their headers are short, one for all that follow, `most` at most:
    /// how much room a list may want.
    #[inline]
    pub(crate) fn elements(&self, most: usize) -> usize {
        match self.rest {
            // Most names in certificates are sets of one.
            &[_, length, ref contents @ ..] if usize::from(length) == contents.len() => most.min(1),
            _ => self.count_elements(most),
        }
    }

    #[inline(never)]
    fn count_elements(&self, most: usize) -> usize {
        let (mut rest, mut count) = (self.rest, 0);
        while count < most {
            // Tags of TAP take two or three octets; its lists grew to their size in steps, for 4 % of the instructions.
            let (length, behind) = match *rest {
                [identifier, length, ref behind @ ..] if identifier & 0x1F != 0x1F => (length, behind),
                [_, ..0x80, length, ref behind @ ..] => (length, behind),
                [_, _, ..0x80, length, ref behind @ ..] => (length, behind),
                _ => break,
            };
            rest = match (length, behind) {
                (..=0x7F, _) => behind.get(usize::from(length)..).unwrap_or_default(),
                (0x81, &[length, ref behind @ ..]) => behind.get(usize::from(length)..).unwrap_or_default(),
                _ => break,
            };
            count += 1;
        }
        most.min(count + usize::from(!rest.is_empty()))
    }

    /// Reads a header that has to be there and to have this tag.
    ///
    /// # Errors
    /// [`ErrorKind::TagMismatch`], else as [`Reader::read_header`].
    #[inline]
    pub fn read_expected(&mut self, tag: Tag) -> Result<Header> {
        let at = self.offset();
        let header = self.read_header()?;
        if header.tag != tag {
            return Err(Error::new(ErrorKind::TagMismatch, at));
        }
        Ok(header)
    }

    /// Counts values instead of elements from here on: `values` of types whose values count may be inside one another, whatever their tags, so that a value is within the limit in all encoding rules or in none. What elements
    /// there are around and inside of them is bounded by the specification.
    #[inline]
    pub(crate) const fn counting_values(mut self, values: u16) -> Self {
        self.values = values;
        self.depth = Limits::MAX_DEPTH;
        self
    }

    /// The same reader, with so many values that may still begin.
    pub(crate) const fn with_values_left(mut self, values: u16) -> Self {
        self.values = values;
        self
    }

    /// How many values may still begin.
    pub(crate) const fn values_left(&self) -> u16 {
        self.values
    }

    /// Begins a value with parts.
    ///
    /// # Errors
    /// [`ErrorKind::DepthLimit`].
    #[inline]
    pub fn begin_value(&mut self) -> Result<()> {
        match self.values.checked_sub(1) {
            Some(values) => {
                self.values = values;
                Ok(())
            }
            None => Err(self.error(ErrorKind::DepthLimit)),
        }
    }

    /// Ends it.
    #[inline]
    pub const fn end_value(&mut self) {
        self.values += 1;
    }

    /// Enters the constructed element whose header was just read.
    ///
    /// # Errors
    /// [`ErrorKind::ConstructedExpected`] for a primitive one, [`ErrorKind::DepthLimit`].
    #[inline]
    pub fn enter(&mut self, header: &Header) -> Result<Frame> {
        if !header.constructed {
            return Err(self.before(header, ErrorKind::ConstructedExpected));
        }
        let Some(depth) = self.depth.checked_sub(1) else {
            return Err(self.before(header, ErrorKind::DepthLimit));
        };
        self.depth = depth;
        let frame = Frame { end: self.end, bounded: self.bounded, indefinite: self.indefinite };
        self.indefinite = header.indefinite;
        if !header.indefinite {
            // The header was read inside this level; a stale one cannot widen it.
            let contents = self.rest.get(..header.length).unwrap_or(self.rest);
            self.end -= self.rest.len() - contents.len();
            self.rest = contents;
            self.bounded = true;
        }
        Ok(frame)
    }

    /// Leaves an element at its end, over its end-of-contents octets if it has an indefinite length.
    ///
    /// # Errors
    /// [`ErrorKind::UnexpectedElement`] when there is something left; end-of-contents missing or malformed.
    #[inline]
    pub fn leave(&mut self, frame: Frame) -> Result<()> {
        if self.indefinite {
            self.read_end_of_contents()?;
        } else if !self.rest.is_empty() {
            return Err(self.left_over());
        }
        self.restore(frame);
        Ok(())
    }

    /// Leaves an element and steps over what is left in it, as for extension additions that nobody wants.
    ///
    /// # Errors
    /// Any fault in what is stepped over.
    pub fn leave_skipping(&mut self, frame: Frame) -> Result<()> {
        while let Some(header) = self.next_header()? {
            self.skip(&header)?;
        }
        self.leave(frame)
    }

    /// What is wrong with an element that nobody waits for: its header, or that it is there.
    #[cold]
    #[inline(never)]
    fn left_over(&self) -> Error {
        self.peek_header().err().unwrap_or_else(|| self.error(ErrorKind::UnexpectedElement))
    }

    #[inline]
    fn restore(&mut self, frame: Frame) {
        self.depth = self.depth.saturating_add(1);
        if self.end != frame.end {
            // A definite length that has been used up.
            self.rest = self.input.get(self.end..frame.end).unwrap_or_default();
        }
        self.end = frame.end;
        self.bounded = frame.bounded;
        self.indefinite = frame.indefinite;
    }

    #[cold]
    #[inline(never)]
    fn before(&self, header: &Header, kind: ErrorKind) -> Error {
        Error::new(kind, self.offset().saturating_sub(u64::from(header.size)))
    }

    fn read_end_of_contents(&mut self) -> Result<()> {
        if self.peek_header()?.is_some() {
            return Err(self.error(ErrorKind::UnexpectedElement));
        }
        self.pass(2);
        Ok(())
    }

    /// The contents octets of the primitive element whose header was just read.
    ///
    /// # Errors
    /// [`ErrorKind::PrimitiveExpected`] for a constructed one.
    #[inline]
    pub fn contents(&mut self, header: &Header) -> Result<&'a [u8]> {
        if header.constructed {
            return Err(self.before(header, ErrorKind::PrimitiveExpected));
        }
        self.take(header.length)
    }

    /// Moves the cursor back to a position that it has been at on this level.
    pub(crate) fn rewind(&mut self, position: usize) {
        self.rest = self.input.get(position..self.end).unwrap_or_default();
    }

    /// Moves the cursor back to an absolute offset on this level.
    #[cold]
    pub(crate) fn rewind_to(&mut self, offset: u64) {
        let position = usize::try_from(offset.saturating_sub(self.base)).unwrap_or(usize::MAX);
        self.rewind(position.min(self.position()));
    }

    #[inline]
    pub(crate) fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let Some((octets, behind)) = self.rest.split_at_checked(length) else {
            return Err(self.extent().short(0, length as u64));
        };
        self.rest = behind;
        Ok(octets)
    }

    /// Steps over the contents of the element whose header was just read.
    ///
    /// Elements inside a definite length are not looked at; [`Reader::skip_checked`] does.
    ///
    /// # Errors
    /// For an indefinite length as [`find_end`](super::find_end).
    #[inline]
    pub fn skip(&mut self, header: &Header) -> Result<()> {
        let length = if header.indefinite {
            let Some(depth) = self.depth.checked_sub(1) else {
                return Err(self.before(header, ErrorKind::DepthLimit));
            };
            header::end_of(self.rest, self.extent(), self.rules, depth)?
        } else {
            header.length
        };
        self.take(length)?;
        Ok(())
    }

    /// The whole element whose header was just read, header and end-of-contents included.
    ///
    /// # Errors
    /// As [`Reader::skip`].
    #[inline]
    pub fn element(&mut self, header: &Header) -> Result<&'a [u8]> {
        let start = self.position().saturating_sub(usize::from(header.size));
        self.skip(header)?;
        Ok(self.input.get(start..self.position()).unwrap_or_default())
    }

    /// The contents of the element whose header was just read, without its end-of-contents octets.
    ///
    /// # Errors
    /// As [`Reader::skip`].
    pub fn any_contents(&mut self, header: &Header) -> Result<&'a [u8]> {
        let before = self.rest;
        self.skip(header)?;
        let taken = before.len() - self.rest.len();
        let length = if header.indefinite { taken.saturating_sub(2) } else { taken };
        Ok(before.get(..length).unwrap_or_default())
    }

    /// As [`Reader::element`], but all headers inside are checked against the rules and the depth limit.
    ///
    /// What an open type without a known type needs, in DER above all.
    ///
    /// # Errors
    /// Any fault in a header inside.
    pub fn skip_checked(&mut self, header: &Header) -> Result<&'a [u8]> {
        let start = self.position().saturating_sub(usize::from(header.size));
        if header.constructed {
            let mut frames = alloc::vec![self.enter(header)?];
            while let Some(frame) = frames.pop() {
                match self.next_header()? {
                    None => self.leave(frame)?,
                    Some(inner) => {
                        frames.push(frame);
                        if inner.constructed {
                            frames.push(self.enter(&inner)?);
                        } else {
                            self.take(inner.length)?;
                        }
                    }
                }
            }
        } else {
            self.take(header.length)?;
        }
        Ok(self.input.get(start..self.position()).unwrap_or_default())
    }

    /// Checks that nothing follows.
    ///
    /// # Errors
    /// [`ErrorKind::TrailingData`].
    #[inline]
    pub fn finish(&self) -> Result<()> {
        if self.rest.is_empty() { Ok(()) } else { Err(self.error(ErrorKind::TrailingData)) }
    }
}
