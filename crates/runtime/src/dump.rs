//! A walk over encodings without a schema, element by element, as `tercet dump` shows them.
//!
//! ```
//! use tercet_runtime::dump::{dump, Kind};
//! let lines: Result<Vec<_>, _> = dump(&[0x30, 0x80, 0x02, 0x01, 0x05, 0x00, 0x00]).collect();
//! let lines: Vec<_> = lines?.iter().map(|l| (l.offset, l.depth, l.kind, l.length)).collect();
//! assert_eq!(lines, [
//!     (0, 0, Kind::Open, None),
//!     (2, 1, Kind::Primitive, Some(1)),
//!     (5, 0, Kind::EndOfContents, Some(0)),
//! ]);
//! # Ok::<(), tercet_runtime::Error>(())
//! ```

use alloc::vec::Vec;
use core::fmt;

use crate::ber::{Frame, Reader, Rules, decode_i64, decode_oid, decode_real};
use crate::text::{StringKind, check};
use crate::types::{GeneralizedTime, OidRef, Real, UtcTime};
use crate::{Class, Limits, Result, Tag};

/// What a line of a dump stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The header of a constructed element; what is inside follows one level deeper.
    Open,
    /// A primitive element.
    Primitive,
    /// The end-of-contents octets of the [`Kind::Open`] at the same depth.
    EndOfContents,
    /// Padding between elements of the outermost level: a run of `00` or of `FF`.
    Filler,
}

/// One step of a dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Line<'a> {
    /// Absolute offset of the first octet.
    pub offset: u64,
    /// Constructed elements around it.
    pub depth: u16,
    /// Octets of identifier and length; none for filler.
    pub header_length: u8,
    /// The tag; universal 0 for end-of-contents and filler.
    pub tag: Tag,
    /// Whether the element is constructed.
    pub constructed: bool,
    /// Octets of the contents, nothing for an indefinite length.
    pub length: Option<usize>,
    /// The contents octets; for an indefinite length none, as the end is not known yet.
    pub contents: &'a [u8],
    /// What it is.
    pub kind: Kind,
}

impl<'a> Line<'a> {
    /// What the contents of a primitive element may be, the likeliest first.
    ///
    /// A universal tag says it; below another tag the shape of the octets does.
    pub fn guesses(&self) -> impl Iterator<Item = Guess<'a>> + use<'a> {
        let found = if self.kind != Kind::Primitive {
            [None; 6]
        } else if self.tag.class() == Class::Universal {
            [by_tag(self.tag, self.contents), None, None, None, None, None]
        } else {
            by_shape(self.contents)
        };
        found.into_iter().flatten()
    }
}

/// Walks over BER encodings one after the other with the default limits.
#[must_use]
pub const fn dump(input: &[u8]) -> Dump<'_> {
    Dump::with_limits(input, 0, Rules::Ber, &Limits::DEFAULT)
}

/// The iterator of [`dump`]; it ends after the first error.
///
/// The walk does not look ahead: on [`ErrorKind::Incomplete`](crate::ErrorKind::Incomplete) everything before
/// [`Dump::position`] has been shown.
#[derive(Clone, Debug)]
pub struct Dump<'a> {
    reader: Reader<'a>,
    /// The levels around the cursor, and whether each ends with end-of-contents octets.
    frames: Vec<(Frame, bool)>,
    depth: u16,
    done: bool,
}

impl<'a> Dump<'a> {
    /// A walk over an input whose first octet has the absolute offset `base`.
    #[must_use]
    pub const fn with_limits(input: &'a [u8], base: u64, rules: Rules, limits: &Limits) -> Self {
        let reader = Reader::with_limits(input, base, rules, limits);
        Self { reader, frames: Vec::new(), depth: 0, done: false }
    }

    /// The position of the cursor in the input.
    #[must_use]
    pub const fn position(&self) -> usize {
        self.reader.position()
    }

    fn step(&mut self) -> Result<Option<Line<'a>>> {
        loop {
            let offset = self.reader.offset();
            if let Some(contents) = self.filler() {
                self.reader.take(contents.len())?;
                return Ok(Some(self.plain(offset, 0, contents, Kind::Filler)));
            }
            if let Some(header) = self.reader.next_header()? {
                let depth = self.depth;
                let ahead = self.reader.rest();
                let contents = ahead.get(..header.length).unwrap_or_default();
                if header.constructed {
                    self.frames.push((self.reader.enter(&header)?, header.indefinite));
                    self.depth = self.depth.saturating_add(1);
                } else {
                    self.reader.contents(&header)?;
                }
                return Ok(Some(Line {
                    offset,
                    depth,
                    header_length: header.size,
                    tag: header.tag,
                    constructed: header.constructed,
                    length: (!header.indefinite).then_some(header.length),
                    contents,
                    kind: if header.constructed { Kind::Open } else { Kind::Primitive },
                }));
            }
            let Some((frame, indefinite)) = self.frames.pop() else { return Ok(None) };
            self.reader.leave(frame)?;
            self.depth = self.depth.saturating_sub(1);
            if indefinite {
                return Ok(Some(self.plain(offset, 2, &[], Kind::EndOfContents)));
            }
        }
    }

    const fn plain(&self, offset: u64, header_length: u8, contents: &'a [u8], kind: Kind) -> Line<'a> {
        Line {
            offset,
            depth: self.depth,
            header_length,
            tag: Tag::END_OF_CONTENTS,
            constructed: false,
            length: Some(contents.len()),
            contents,
            kind,
        }
    }

    /// A run of `00`, or of `FF` of two at least or at the very end: a tag may start with one.
    fn filler(&self) -> Option<&'a [u8]> {
        if !self.frames.is_empty() {
            return None;
        }
        let rest = self.reader.rest();
        let filler = match rest {
            [0x00, ..] => 0x00,
            [0xFF] | [0xFF, 0xFF, ..] => 0xFF,
            _ => return None,
        };
        rest.get(..rest.iter().take_while(|octet| **octet == filler).count())
    }
}

impl<'a> Iterator for Dump<'a> {
    type Item = Result<Line<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let next = self.step().transpose();
        self.done = !matches!(next, Some(Ok(_)));
        next
    }
}

/// Elements inside one another that [`holds_der`] looks at.
const DEPTH: u16 = 32;

/// Whether the octets of an OCTET STRING, or of a BIT STRING without the first, are one element of DER as a whole, as
/// extensions and keys of certificates are: its universal tags are known, and values have the form that their tags say.
///
/// ```
/// use tercet_runtime::dump::holds_der;
/// assert!(holds_der(&[0x30, 3, 1, 1, 0xFF]) && holds_der(&[4, 2, 7, 7]));
/// assert!(!holds_der(&[0x30, 3, 1, 1]) && !holds_der(b"text") && !holds_der(&[1, 1, 0xFF, 0]));
/// ```
#[must_use]
pub fn holds_der(octets: &[u8]) -> bool {
    let is_universal = |octet: &u8| octet & 0xC0 == 0;
    if octets.len() < 2 || !octets.first().is_some_and(is_universal) {
        return false;
    }
    let limits = Limits::DEFAULT.with_depth(DEPTH);
    let mut outermost = 0;
    for line in Dump::with_limits(octets, 0, Rules::Der, &limits) {
        let Ok(line) = line else { return false };
        outermost += u32::from(line.depth == 0);
        let universal = line.tag.class() == Class::Universal;
        let sound = match line.kind {
            Kind::Open => !universal || matches!(line.tag, Tag::SEQUENCE | Tag::SET),
            Kind::Primitive if !universal => true,
            Kind::Primitive => match line.tag {
                Tag::OCTET_STRING => true,
                Tag::BIT_STRING => line.contents.first().is_some_and(|unused| *unused < 8),
                // Guesses have no numbers of more than eight octets.
                Tag::INTEGER => !line.contents.is_empty(),
                tag => {
                    by_tag(tag, line.contents).is_some()
                        || line.contents.is_empty() && StringKind::from_tag(tag).is_some()
                }
            },
            Kind::EndOfContents | Kind::Filler => false,
        };
        if !sound || outermost > 1 {
            return false;
        }
    }
    true
}

/// What contents octets may mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Guess<'a> {
    /// BOOLEAN.
    Boolean(bool),
    /// NULL.
    Null,
    /// An integer of up to eight octets.
    Integer(i64),
    /// An object identifier.
    Oid(OidRef<'a>),
    /// A real number.
    Real(Real<'a>),
    /// Text without control characters but tabs and ends of lines.
    Text(&'a str),
    /// UTCTime or GeneralizedTime.
    Time(&'a str),
    /// Digits, two an octet, the low half first, as telephone numbers are (3GPP TS 29.002 TBCD-STRING).
    Tbcd(Tbcd<'a>),
    /// `YYMMDDhhmmss±hhmm` in nine octets of BCD around a sign, as in charging records (3GPP TS 32.298).
    TimeStamp(&'a [u8; 9]),
}

/// Digits two an octet, the low half first, `F` in the last half when their number is odd.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tbcd<'a>(&'a [u8]);

impl<'a> Tbcd<'a> {
    /// A view of octets that are all digits.
    #[must_use]
    pub fn new(octets: &'a [u8]) -> Option<Self> {
        let (last, front) = octets.split_last()?;
        let pair = |octet: &u8| octet & 0x0F < 10 && octet >> 4 < 10;
        let valid = front.iter().all(pair) && (pair(last) || (last & 0x0F < 10 && last >> 4 == 0xF));
        valid.then_some(Self(octets))
    }
}

/// The digits in their order.
impl fmt::Display for Tbcd<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for octet in self.0 {
            write!(f, "{}", octet & 0x0F)?;
            if octet >> 4 < 10 {
                write!(f, "{}", octet >> 4)?;
            }
        }
        Ok(())
    }
}

fn by_tag(tag: Tag, contents: &[u8]) -> Option<Guess<'_>> {
    match tag {
        Tag::BOOLEAN => match contents {
            [octet] => Some(Guess::Boolean(*octet != 0)),
            _ => None,
        },
        Tag::NULL => contents.is_empty().then_some(Guess::Null),
        Tag::INTEGER | Tag::ENUMERATED => decode_i64(contents, 0, Rules::Ber).ok().map(Guess::Integer),
        Tag::OBJECT_IDENTIFIER => decode_oid(contents, 0).ok().map(Guess::Oid),
        Tag::REAL => decode_real(contents, 0, Rules::Ber).ok().map(Guess::Real),
        Tag::UTC_TIME | Tag::GENERALIZED_TIME => printable(contents).map(Guess::Time),
        Tag::OCTET_STRING => {
            by_shape(contents).into_iter().flatten().find(|g| !matches!(g, Guess::Integer(_)))
        }
        _ => {
            check(StringKind::from_tag(tag)?, contents, 0).ok()?;
            printable(contents).map(Guess::Text)
        }
    }
}

fn by_shape(contents: &[u8]) -> [Option<Guess<'_>>; 6] {
    let text = printable(contents);
    let is_time = GeneralizedTime::parse(contents, 0).is_ok() || UtcTime::parse(contents, 0).is_ok();
    [
        time_stamp(contents).map(Guess::TimeStamp),
        text.filter(|_| is_time).map(Guess::Time),
        text.map(Guess::Text),
        if contents.len() >= 3 { Tbcd::new(contents).map(Guess::Tbcd) } else { None },
        // Shorter ones are integers as a rule; real identifiers start below 2.48.
        if contents.len() >= 3 && contents.first().is_some_and(|octet| *octet < 0x80) {
            decode_oid(contents, 0).ok().map(Guess::Oid)
        } else {
            None
        },
        decode_i64(contents, 0, Rules::Ber).ok().map(Guess::Integer),
    ]
}

/// UTF-8 of one character at least, without control characters.
fn printable(contents: &[u8]) -> Option<&str> {
    let text = core::str::from_utf8(contents).ok()?;
    let shown = |c: char| !c.is_control() || matches!(c, '\t' | '\n' | '\r');
    (!text.is_empty() && text.chars().all(shown)).then_some(text)
}

fn time_stamp(contents: &[u8]) -> Option<&[u8; 9]> {
    let stamp: &[u8; 9] = contents.try_into().ok()?;
    let [_, month, day, hour, minute, second, sign, offset_hour, offset_minute] = stamp;
    let bcd = |octet: &u8, least: u8, most: u8| {
        octet >> 4 < 10 && octet & 0x0F < 10 && (least..=most).contains(&((octet >> 4) * 10 + (octet & 0x0F)))
    };
    let valid = matches!(sign, b'+' | b'-')
        && bcd(month, 1, 12)
        && bcd(day, 1, 31)
        && bcd(hour, 0, 23)
        && bcd(minute, 0, 59)
        && bcd(second, 0, 59)
        && bcd(offset_hour, 0, 23)
        && bcd(offset_minute, 0, 59);
    valid.then_some(stamp)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;
    use alloc::string::ToString;

    #[test]
    fn shows_levels_and_filler() {
        let input = [
            0x00, 0x00, 0x30, 0x80, 0x31, 0x02, 0x05, 0x00, 0x04, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0x05, 0x00,
            0xFF,
        ];
        let lines: Vec<_> = dump(&input).map(|l| l.unwrap()).map(|l| (l.offset, l.depth, l.kind)).collect();
        use Kind::*;
        assert_eq!(
            lines,
            [
                (0, 0, Filler),
                (2, 0, Open),
                (4, 1, Open),
                (6, 2, Primitive),
                (8, 1, Primitive),
                (10, 0, EndOfContents),
                (12, 0, Filler),
                (14, 0, Primitive),
                (16, 0, Filler),
            ]
        );
    }

    #[test]
    fn guesses() {
        for (input, want) in [
            (&b"\x80\x05Jones"[..], Guess::Text("Jones")),
            (b"\x80\x0D010203040506Z", Guess::Time("010203040506Z")),
            (b"\x80\x01\xFF", Guess::Integer(-1)),
            (b"\x06\x03\x81\x34\x03", Guess::Oid(decode_oid(&[0x81, 0x34, 0x03], 0).unwrap())),
            (b"\x01\x01\x01", Guess::Boolean(true)),
            (b"\x83\x04\x94\x17\x32\xF4", Guess::Tbcd(Tbcd::new(&[0x94, 0x17, 0x32, 0xF4]).unwrap())),
            (
                b"\x82\x09\x21\x02\x28\x23\x59\x59\x2B\x01\x00",
                Guess::TimeStamp(&[0x21, 0x02, 0x28, 0x23, 0x59, 0x59, 0x2B, 0x01, 0x00]),
            ),
        ] {
            let line = dump(input).next().unwrap().unwrap();
            assert_eq!(line.guesses().next(), Some(want), "{input:02x?}");
        }
        assert_eq!(Tbcd::new(&[0x94, 0x17, 0x32, 0xF4]).unwrap().to_string(), "4971234");
        assert_eq!(Tbcd::new(&[0x9F]), None);
    }

    #[test]
    fn bombs_end_with_an_error() {
        for bomb in [[0x30, 0x80].repeat(100_000), [0xA0, 0x80].repeat(100_000)] {
            let error = dump(&bomb).find_map(Result::err).unwrap();
            assert_eq!((error.kind(), error.at()), (ErrorKind::DepthLimit, 128));
        }
    }
}
