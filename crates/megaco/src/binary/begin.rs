//! What a message begins with, whatever is behind it.

use tercet_runtime::Tag;
use tercet_runtime::codec::ber;

use super::part::{SEQUENCE, constructed, primitive};
use super::read::{BerReader, Context, Named, PerReader};
use super::{Binary, fault};
use crate::codec::Opening;
use crate::model::{AuthenticationHeader, MId};
use crate::{Error, Result};

/// Reads version and sender of a message in PER, which is the same for all versions up to there.
pub(super) fn of_per(octets: &[u8]) -> Result<(u8, MId<'_>)> {
    let mut cx = Context::new(Binary::standard(), false);
    let read = read_per(octets, &mut cx).map_err(fault)?;
    cx.refused().map_or(Ok(read), |what| Err(Error::new(0, what)))
}

fn read_per<'a>(octets: &'a [u8], cx: &mut Context<'a>) -> tercet_runtime::Result<(u8, MId<'a>)> {
    let mut r = PerReader::new(octets);
    if r.bits(1)? != 0 {
        <AuthenticationHeader<'a> as Named<'a>>::per(&mut r, cx)?;
    }
    // Whether there are extensions, and a number of up to 99.
    r.bits(1)?;
    let version = r.bits(7)?;
    Ok((version as u8, <MId<'a> as Named<'a>>::per(&mut r, cx)?))
}

/// Reads version and sender of a message whose rest may be wrong or missing: lengths of what is around them are not
/// looked at.
pub(super) fn of_ber(octets: &[u8]) -> Result<(u8, MId<'_>)> {
    let (version, start, _) = sender(octets)?;
    let rest = octets.get(start..).unwrap_or_default();
    let mut cx = Context::new(Binary::standard(), false);
    let mut r = BerReader::new(rest, ber::Rules::Ber).with_strict_values(true);
    let mid = <MId<'_> as Named<'_>>::ber(&mut r, Tag::SEQUENCE, &mut cx);
    let mid = mid.map_err(|error| Error::new(start.saturating_add(fault(error).at), fault(error).what))?;
    cx.refused().map_or(Ok((version, mid)), |what| Err(Error::new(0, what)))
}

/// Reads the tag of the first transaction; `None` if something is wrong before it, or a sender of the indefinite form.
pub(super) fn opening_of_ber(octets: &[u8]) -> Option<Opening> {
    let (_, start, length) = sender(octets).ok()?;
    let body = start.checked_add(length?)?;
    let (body, _) = header(octets, body, constructed(2), "the body of a message").ok()?;
    if octets.get(body) == Some(&constructed(0)) {
        return Some(Opening::Error);
    }
    let (first, _) = header(octets, body, constructed(1), "transactions").ok()?;
    const ALL: [Opening; 5] =
        [Opening::Request, Opening::Pending, Opening::Reply, Opening::Ack, Opening::Segment];
    let tag = *octets.get(first)?;
    (0..).zip(ALL).find(|&(number, _)| constructed(number) == tag).map(|(_, opening)| opening)
}

/// The version, where the contents of the sender begin, and how long they are.
fn sender(octets: &[u8]) -> Result<(u8, usize, Option<usize>)> {
    let mut at = header(octets, 0, SEQUENCE, "a message: a SEQUENCE")?.0;
    if octets.get(at) == Some(&constructed(0)) {
        let (start, length) = header(octets, at, constructed(0), "an authentication header")?;
        at = match length {
            Some(length) => start.saturating_add(length),
            None => end_of_contents(octets, start)?,
        };
    }
    at = header(octets, at, constructed(1), "a message")?.0;
    let (start, length) = header(octets, at, primitive(0), "a version")?;
    let (Some(1), Some(&version @ 0..=99)) = (length, octets.get(start)) else {
        return Err(Error::new(start, "a version below 100"));
    };
    let (start, length) = header(octets, start + 1, constructed(1), "a sender")?;
    Ok((version, start, length))
}

/// Where the contents of an element begin, and how long they are; `None` is the indefinite form.
fn header(octets: &[u8], at: usize, tag: u8, what: &'static str) -> Result<(usize, Option<usize>)> {
    let rest = octets.get(at..).unwrap_or_default();
    let error = Error::new(at.min(octets.len()), what);
    match *rest {
        [first, length @ 0..0x80, ..] if first == tag => Ok((at + 2, Some(usize::from(length)))),
        [first, 0x80, ..] if first == tag => Ok((at + 2, None)),
        [first, count @ 0x81..=0x84, ..] if first == tag => {
            let count = usize::from(count & 0x7f);
            let length = rest.get(2..2 + count).ok_or(error)?;
            let length = length.iter().fold(0, |length, &octet| length << 8 | usize::from(octet));
            Ok((at + 2 + count, Some(length)))
        }
        _ => Err(error),
    }
}

/// Where the contents of an authentication header in the indefinite form end: it has three strings, and two zeros.
fn end_of_contents(octets: &[u8], mut at: usize) -> Result<usize> {
    const WHAT: &str = "an authentication header";
    for number in 0..3 {
        let (start, length) = header(octets, at, primitive(number), WHAT)?;
        at = start.saturating_add(length.ok_or_else(|| Error::new(at, WHAT))?);
    }
    match octets.get(at..) {
        Some([0, 0, ..]) => Ok(at + 2),
        _ => Err(Error::new(at.min(octets.len()), WHAT)),
    }
}
