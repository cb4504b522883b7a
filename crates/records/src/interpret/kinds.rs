//! What octets mean in records of telephony: numbers, times, places.

use std::io::Write;
use std::net::Ipv6Addr;
use tercet_dynamic::text::{Octets, push_integer, push_octets};
use tercet_dynamic::words::{ONES, exchanged, nibbles, not_less, push, word};
use tercet_plan::Kind;
use tercet_plan::shape::Node;

/// What an OCTET STRING is shown as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RenderKind {
    /// As it is.
    Octets,
    /// Digits, low nibble first, `*#abc` for A to E, to the first F (TS 29.002 TBCD-STRING).
    Tbcd,
    /// Digits, high nibble first, to the first F (TAP BCDString).
    Bcd,
    /// Characters.
    Text,
    /// In base64 (RFC 4648 clause 4).
    Base64,
    /// A number, the highest octet first. Or that of an ENUMERATED.
    Number,
    /// A number, the lowest octet first.
    NumberLe,
    /// `{ton, npi, digits}`: an octet with extension bit, type of number, plan; then TBCD (TS 29.002 AddressString).
    Address,
    /// The same with the type in the high and the plan in the low nibble.
    AddressNibbles,
    /// The digits of an [`RenderKind::Address`] alone.
    Digits,
    /// `{nai, npi, digits}`: a number of ISUP with its odd/even bit (Q.763 3.9, 3.10).
    Isup,
    /// Nine octets: YYMMDDhhmmss in BCD, the sign, hhmm of the offset (TS 32.298 TimeStamp). Or a UTCTime or GeneralizedTime with
    /// its offset.
    TimeStamp,
    /// Date in BCD: YYYYMMDD or YYMMDD.
    DateBcd,
    /// Date in binary: an octet each for year (or two), month, day.
    Date,
    /// Time of day in binary: an octet each for hour, minute, second.
    Time,
    /// The same as a number of seconds.
    Seconds,
    /// Quarters of an hour from UTC (TS 24.008 10.5.3.8).
    TimeZone,
    /// Mobile country and network code (TS 24.008 10.5.1.13).
    Plmn,
    /// `{plmn, lac, ci}`.
    Cell,
    /// Where a user is: the identities of TS 29.274 8.21, or one of those of TS 29.060 7.7.51.
    Location,
    /// An IP address.
    Ip,
    /// `{location, cause}` (Q.850).
    Cause,
    /// The name of an INTEGER's number or of an item; the number, if it has none.
    Name,
    /// `{number, name}`.
    Both,
    /// The names of the bits of a BIT STRING that are set.
    Flags,
    /// An INTEGER with the decimal places that stand before the records.
    Amount,
    /// An INTEGER that is a code: what it stands for, by a table before the records.
    Code(u8),
    /// The same, where that is the offset from UTC of a local time beside it: the time.
    Moment(u8),
}

/// Kinds by name, and what bytes mean by them. Messages and the reference list these.
pub(super) const KINDS: [(&str, RenderKind, &str); 26] = [
    ("octets", RenderKind::Octets, "bytes as they are"),
    (
        "tbcd",
        RenderKind::Tbcd,
        "digits, the low half of a byte first, up to the first F (TBCD-STRING of TS 29.002); A to E are `*#abc`",
    ),
    ("bcd", RenderKind::Bcd, "digits, the high half of a byte first, up to the first F (BCDString of TAP)"),
    ("text", RenderKind::Text, "characters in UTF-8"),
    ("base64", RenderKind::Base64, "bytes in base64 (RFC 4648)"),
    ("number", RenderKind::Number, "a number, the high byte first; of an ENUMERATED, its number"),
    ("number-le", RenderKind::NumberLe, "a number, the low byte first"),
    (
        "address",
        RenderKind::Address,
        "a byte with type of number and numbering plan, then digits as in `tbcd` (AddressString of TS 29.002)",
    ),
    (
        "address-nibbles",
        RenderKind::AddressNibbles,
        "as `address`, with the type in the high and the plan in the low half of the first byte, as switches have it",
    ),
    ("digits", RenderKind::Digits, "the digits alone of an `address`"),
    ("isup", RenderKind::Isup, "a number of ISUP (Q.763 3.9, 3.10)"),
    (
        "timestamp",
        RenderKind::TimeStamp,
        "nine bytes: date and time in BCD, the sign, the offset from UTC (TimeStamp of TS 32.298); or a UTCTime or GeneralizedTime, with its offset",
    ),
    ("date-bcd", RenderKind::DateBcd, "a date in BCD: YYYYMMDD or YYMMDD"),
    ("date", RenderKind::Date, "a date in binary: year in one or two bytes, month, day"),
    ("time", RenderKind::Time, "a time of day in binary: hours, minutes, seconds"),
    ("seconds", RenderKind::Seconds, "a duration, in binary as in `time`, in seconds"),
    ("timezone", RenderKind::TimeZone, "an offset from UTC in quarters of an hour (TS 24.008 10.5.3.8)"),
    ("plmn", RenderKind::Plmn, "country code and network code (TS 24.008 10.5.1.13)"),
    ("cell", RenderKind::Cell, "a `plmn`, an area of two bytes, a cell of two bytes"),
    ("location", RenderKind::Location, "the place of a user (TS 29.274 8.21, or TS 29.060 7.7.51)"),
    ("ip", RenderKind::Ip, "an IP address, of version 4 or 6"),
    ("cause", RenderKind::Cause, "the cause of a release, with the place where it arose (Q.850)"),
    (
        "name",
        RenderKind::Name,
        "the name of a number of an INTEGER or of an item of an ENUMERATED; the number, if it has none",
    ),
    ("both", RenderKind::Both, "that number and that name"),
    ("flags", RenderKind::Flags, "the names of the bits of a BIT STRING that are set"),
    (
        "amount",
        RenderKind::Amount,
        "an INTEGER with the number of decimal places from the header of a TAP file",
    ),
];

impl RenderKind {
    /// Whether it is about INTEGERs and not octets.
    pub(super) fn is_of_integers(self) -> bool {
        matches!(self, Self::Amount | Self::Code(_) | Self::Moment(_))
    }

    /// Whether it is about the values of a type.
    pub(super) fn takes(self, node: &Node) -> bool {
        let octets = node.kind == Kind::OctetString && node.containing.is_none();
        match self {
            Self::Amount | Self::Code(_) | Self::Moment(_) => node.kind == Kind::Integer,
            Self::Name | Self::Both => {
                matches!(node.kind, Kind::Integer | Kind::Enumerated) && node.item_count > 0
            }
            Self::Flags => node.kind == Kind::BitString && node.item_count > 0,
            Self::TimeStamp => octets || matches!(node.kind, Kind::UtcTime | Kind::GeneralizedTime),
            Self::Number => octets || node.kind == Kind::Enumerated,
            _ => octets,
        }
    }

    /// Returns the kinds that `--render` takes: their names, and what bytes mean by them.
    pub fn known() -> impl Iterator<Item = (&'static str, &'static str)> {
        KINDS.iter().map(|(name, _, meaning)| (*name, *meaning))
    }

    /// Returns the name; that of kinds which profiles alone have is `code`.
    pub fn name(self) -> &'static str {
        KINDS.iter().find(|(_, kind, _)| *kind == self).map_or("code", |(name, ..)| name)
    }

    /// What stands nowhere that it would be about.
    pub(super) fn wants(self) -> &'static str {
        match self {
            Self::Name | Self::Both => "no number with names",
            Self::Flags => "no bits with names",
            _ if self.is_of_integers() => "no INTEGER",
            _ => "no bytes",
        }
    }
}

/// What a member of a rendered value is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Member {
    Text,
    Number,
    Timestamp,
    Date,
    Time,
    Amount,
    Group(&'static [(&'static str, Self)]),
}

/// What a kind gives: a text, a number or members.
pub(super) const fn form(kind: RenderKind) -> Member {
    const RAW: (&str, Member) = ("raw", Member::Text);
    const PLMN: (&str, Member) = ("plmn", Member::Text);
    const LAC: (&str, Member) = ("lac", Member::Number);
    match kind {
        RenderKind::Number | RenderKind::NumberLe | RenderKind::Seconds => Member::Number,
        RenderKind::TimeStamp | RenderKind::Moment(_) => Member::Timestamp,
        RenderKind::Amount => Member::Amount,
        RenderKind::Date | RenderKind::DateBcd => Member::Date,
        RenderKind::Time => Member::Time,
        RenderKind::Address => Member::Group(&[
            ("ext", Member::Number),
            ("ton", Member::Number),
            ("npi", Member::Number),
            ("digits", Member::Text),
            RAW,
        ]),
        RenderKind::AddressNibbles => {
            Member::Group(&[("ton", Member::Number), ("npi", Member::Number), ("digits", Member::Text), RAW])
        }
        RenderKind::Isup => {
            Member::Group(&[("nai", Member::Number), ("npi", Member::Number), ("digits", Member::Text), RAW])
        }
        RenderKind::Both => Member::Group(&[("number", Member::Number), ("name", Member::Text)]),
        RenderKind::Cell => Member::Group(&[PLMN, LAC, ("ci", Member::Number), RAW]),
        RenderKind::Cause => Member::Group(&[("location", Member::Number), ("cause", Member::Number), RAW]),
        RenderKind::Location => Member::Group(&[
            ("cgi", Member::Group(&[PLMN, LAC, ("ci", Member::Number)])),
            ("sai", Member::Group(&[PLMN, LAC, ("sac", Member::Number)])),
            ("rai", Member::Group(&[PLMN, LAC, ("rac", Member::Number)])),
            ("tai", Member::Group(&[PLMN, ("tac", Member::Number)])),
            ("ecgi", Member::Group(&[PLMN, ("eci", Member::Number)])),
            ("lai", Member::Group(&[PLMN, LAC])),
            RAW,
        ]),
        _ => Member::Text,
    }
}

/// Hears the parts of a rendered value.
pub(super) trait Parts {
    fn text(&mut self, member: u32, text: &[u8]);
    fn number(&mut self, member: u32, number: i64);
    fn open(&mut self, member: u32);
    fn close(&mut self);
}

/// Says the parts of a value; `None` if the octets are none of the kind (nothing, or not all parts, have then been said).
pub(super) fn parts(kind: RenderKind, octets: &[u8], text: &mut Vec<u8>, to: &mut dyn Parts) -> Option<()> {
    text.clear();
    match kind {
        RenderKind::Address | RenderKind::AddressNibbles => {
            let (&first, digits) = octets.split_first()?;
            let nibbles = kind == RenderKind::AddressNibbles;
            let ton = if nibbles { first >> 4 } else { first >> 4 & 7 };
            if ton == 5 && !nibbles {
                push_seven_bits(digits, text);
            } else {
                push_tbcd(digits, text)?;
            }
            let ext = u32::from(!nibbles);
            if !nibbles {
                to.number(0, i64::from(first >> 7));
            }
            to.number(ext, ton.into());
            to.number(ext + 1, (first & 0xF).into());
            to.text(ext + 2, text);
        }
        RenderKind::Isup => {
            let &[nature, plan, ref digits @ ..] = octets else { return None };
            push_tbcd(digits, text)?;
            if nature & 0x80 != 0 {
                text.pop();
            }
            to.number(0, i64::from(nature & 0x7F));
            to.number(1, i64::from(plan >> 4 & 7));
            to.text(2, text);
        }
        RenderKind::Cell => {
            let &[a, b, c, l, m, x, y] = octets else { return None };
            push_plmn([a, b, c], text)?;
            to.text(0, text);
            to.number(1, number(&[l, m])?);
            to.number(2, number(&[x, y])?);
        }
        RenderKind::Cause => {
            let &[location, .., cause] = octets else { return None };
            // An octet with the recommendation may stand between (Q.850 2.2.4).
            if octets.len() != 2 + usize::from(location & 0x80 == 0) {
                return None;
            }
            to.number(0, i64::from(location & 0xF));
            to.number(1, i64::from(cause & 0x7F));
        }
        RenderKind::Location => location(octets, text, to)?,
        _ => return None,
    }
    Some(())
}

/// Identities of a place: their bit in the flags, their member, the octets behind the PLMN, how many of these come first.
const PLACES: [(u8, u32, usize, usize); 6] =
    [(0x01, 0, 4, 2), (0x02, 1, 4, 2), (0x04, 2, 4, 2), (0x08, 3, 2, 0), (0x10, 4, 4, 0), (0x20, 5, 2, 2)];

fn location(octets: &[u8], text: &mut Vec<u8>, to: &mut dyn Parts) -> Option<()> {
    let (&flags, mut rest) = octets.split_first()?;
    let size = PLACES.iter().filter(|place| flags & place.0 != 0).map(|place| 3 + place.2).sum::<usize>();
    let flags = match flags {
        _ if size == rest.len() && size > 0 && flags & 0xC0 == 0 => flags,
        // TS 29.060: a type in place of flags.
        0..=2 if rest.len() == 7 => 1 << flags,
        _ => return None,
    };
    for (flag, member, size, first) in PLACES {
        if flags & flag == 0 {
            continue;
        }
        let (plmn, more) = rest.split_first_chunk::<3>()?;
        let (identity, more) = more.split_at_checked(size)?;
        rest = more;
        text.clear();
        push_plmn(*plmn, text)?;
        to.open(member);
        to.text(0, text);
        if first > 0 {
            to.number(1, number(&identity[..first])?);
        }
        if size > first {
            let second = &identity[first..];
            // Of the routing area code only the first octet counts (TS 29.274 8.21.3).
            let second = if flag == 0x04 { &second[..1] } else { second };
            let value = number(second)? & if flag == 0x10 { 0x0FFF_FFFF } else { i64::MAX };
            to.number(if first > 0 { 2 } else { 1 }, value);
        }
        to.close();
    }
    Some(())
}

/// The number of a kind; nothing if the octets are none.
pub(super) fn number_of(kind: RenderKind, octets: &[u8]) -> Option<i64> {
    match (kind, octets) {
        (RenderKind::Number, _) => number(octets),
        (RenderKind::NumberLe, _) => number_le(octets),
        (RenderKind::Seconds, &[h, m, s]) => Some((i64::from(h) * 60 + i64::from(m)) * 60 + i64::from(s)),
        _ => None,
    }
}

/// Appends the text of a kind; nothing if the octets are none.
pub(super) fn push_text(kind: RenderKind, octets: &[u8], text: &mut Vec<u8>) -> Option<()> {
    match (kind, octets) {
        (RenderKind::Tbcd, _) => push_tbcd(octets, text)?,
        // A name of a sender, in characters of 7 bits.
        (RenderKind::Digits, [first, letters @ ..]) if first >> 4 & 7 == 5 => push_seven_bits(letters, text),
        (RenderKind::Digits, [_, digits @ ..]) => push_tbcd(digits, text)?,
        (RenderKind::Bcd, _) => push_bcd(octets, text),
        (RenderKind::Base64, _) => push_octets(text, octets, Octets::Base64),
        (RenderKind::Text, _) => text.extend_from_slice(
            str::from_utf8(octets).ok().filter(|it| !it.contains(char::is_control))?.as_bytes(),
        ),
        (RenderKind::TimeStamp, &[y, mo, d, h, mi, s, sign @ (b'+' | b'-'), zh, zm]) => {
            let numbers = [bcd(mo)?, bcd(d)?, bcd(h)?, bcd(mi)?, bcd(s)?, bcd(zm)?];
            if numbers.iter().zip([12, 31, 23, 59, 60, 59]).any(|(number, most)| *number > most)
                || mo == 0
                || d == 0
            {
                return None;
            }
            bcd(y)?;
            bcd(zh)?;
            let mut stamp = *b"2000-00-00T00:00:00+00:00";
            for (at, octet) in [(2, y), (5, mo), (8, d), (11, h), (14, mi), (17, s), (20, zh), (23, zm)] {
                [stamp[at], stamp[at + 1]] = [b'0' + (octet >> 4), b'0' + (octet & 0xF)];
            }
            stamp[19] = sign;
            text.extend_from_slice(&stamp);
        }
        (RenderKind::DateBcd, &[c, y, m, d]) => {
            push_date(u16::from(bcd(c)?) * 100 + u16::from(bcd(y)?), bcd(m)?, bcd(d)?, text)?
        }
        (RenderKind::DateBcd, &[y, m, d]) => push_date(2000 + u16::from(bcd(y)?), bcd(m)?, bcd(d)?, text)?,
        (RenderKind::Date, &[c, y, m, d]) => push_date(u16::from(c) * 100 + u16::from(y), m, d, text)?,
        (RenderKind::Date, &[y, m, d]) if y < 100 => push_date(2000 + u16::from(y), m, d, text)?,
        (RenderKind::Time, &[h @ 0..=23, m @ 0..=59, s @ 0..=60]) => push_pairs([h, m, s], b':', text),
        // Tenths of a second in a fourth octet.
        (RenderKind::Time, &[h @ 0..=23, m @ 0..=59, s @ 0..=60, t @ 0..=9]) => {
            push_pairs([h, m, s], b':', text);
            text.extend_from_slice(&[b'.', b'0' + t]);
        }
        (RenderKind::TimeZone, &[zone, ..]) if octets.len() <= 2 => {
            let quarters = (zone & 7) * 10 + (zone >> 4);
            text.push(if zone & 8 != 0 { b'-' } else { b'+' });
            push_pairs([quarters / 4, quarters % 4 * 15], b':', text);
        }
        (RenderKind::Plmn, &[a, b, c]) => push_plmn([a, b, c], text)?,
        (RenderKind::Ip, _) => {
            if let &[a, b, c, d] = octets {
                push_integer(text, a.into());
                for number in [b, c, d] {
                    text.push(b'.');
                    push_integer(text, number.into());
                }
            } else {
                _ = write!(text, "{}", Ipv6Addr::from(<[u8; 16]>::try_from(octets).ok()?));
            }
        }
        _ => return None,
    }
    Some(())
}

fn bcd(octet: u8) -> Option<u8> {
    (octet >> 4 < 10 && octet & 0xF < 10).then_some((octet >> 4) * 10 + (octet & 0xF))
}

fn push_date(year: u16, month: u8, day: u8, text: &mut Vec<u8>) -> Option<()> {
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || year > 9999 {
        return None;
    }
    let ([a, b], [c, d]) = (digits((year / 100) as u8), digits((year % 100) as u8));
    let ([e, f], [g, h]) = (digits(month), digits(day));
    text.extend_from_slice(&[a, b, c, d, b'-', e, f, b'-', g, h]);
    Some(())
}

fn number(octets: &[u8]) -> Option<i64> {
    let (high, low) = octets.split_at(octets.len().saturating_sub(8));
    let value = word(low, 0).filter(|_| !low.is_empty())?.swap_bytes() >> (64 - 8 * low.len());
    i64::try_from(value).ok().filter(|_| high.iter().all(|octet| *octet == 0))
}

/// The same, the lowest octet first.
fn number_le(octets: &[u8]) -> Option<i64> {
    let (low, high) = octets.split_at(octets.len().min(8));
    let value = word(low, 0).filter(|_| !low.is_empty())?;
    i64::try_from(value).ok().filter(|_| high.iter().all(|octet| *octet == 0))
}

/// Appends numbers of two digits.
fn push_pairs<const N: usize>(numbers: [u8; N], between: u8, text: &mut Vec<u8>) {
    for (i, number) in numbers.into_iter().enumerate() {
        let [high, low] = digits(number);
        let pair = [between, high, low];
        text.extend_from_slice(&pair[usize::from(i == 0)..]);
    }
}

fn digits(number: u8) -> [u8; 2] {
    [b'0' + number / 10 % 10, b'0' + number % 10]
}

/// Two characters for each octet: the low nibble first.
static TBCD: [[u8; 2]; 256] = {
    const DIGITS: &[u8; 16] = b"0123456789*#abc ";
    let mut table = [[0; 2]; 256];
    let mut i = 0;
    while i < 256 {
        table[i] = [DIGITS[i & 0xF], DIGITS[i >> 4]];
        i += 1;
    }
    table
};

fn push_tbcd(octets: &[u8], text: &mut Vec<u8>) -> Option<()> {
    match word(octets, 0xFF).map(nibbles) {
        Some(digits) if push_digits(digits, text) => Some(()),
        _ => push_long_tbcd(octets, text),
    }
}

/// Appends the digits of up to eight octets, if there are no others than 0 to 9 and then F up to the end.
#[inline]
fn push_digits([first, second]: [u64; 2], text: &mut Vec<u8>) -> bool {
    let others = [not_less(first, 10), not_less(second, 10)];
    let count = match others {
        [0, 0] => 16,
        [0, others] => 8 + others.trailing_zeros() as usize / 8,
        [others, _] => others.trailing_zeros() as usize / 8,
    };
    // What has to be F, once all behind the first is.
    let rest = u128::from(first) | u128::from(second) << 64;
    let fill = u128::MAX.checked_shl(8 * count as u32).unwrap_or(0) & (u128::MAX / 0xFF * 0x0F);
    if rest & fill != fill {
        return false;
    }
    let zeros = ONES * u64::from(b'0');
    // Sums of what is no digit do not reach the octet beside.
    push(text, [first + zeros, second + zeros], count);
    true
}

/// The same for any number of octets with any digits.
#[inline(never)]
fn push_long_tbcd(octets: &[u8], text: &mut Vec<u8>) -> Option<()> {
    let full = octets.iter().position(|octet| *octet >= 0xF0 || octet & 0xF == 0xF);
    let (digits, end) = octets.split_at(full.unwrap_or(octets.len()));
    push_pairs_of(digits, &TBCD, text);
    let Some((last, filler)) = end.split_first() else { return Some(()) };
    if last & 0xF != 0xF {
        text.push(TBCD[usize::from(*last)][0]);
    }
    // The filler stands at the end; elsewhere the octets are something else.
    filler.iter().all(|octet| *octet == 0xFF).then_some(())
}

/// Appends digits, high nibble first, to the first F.
fn push_bcd(octets: &[u8], text: &mut Vec<u8>) {
    if word(octets, 0xFF).is_some_and(|word| push_digits(nibbles(exchanged(word)), text)) {
        return;
    }
    let full = octets.iter().position(|octet| *octet >= 0xF0 || octet & 0xF == 0xF);
    let (digits, end) = octets.split_at(full.unwrap_or(octets.len()));
    push_octets(text, digits, Octets::LowerHex);
    if let Some(last) = end.first().filter(|last| **last < 0xF0) {
        push_octets(text, &[*last], Octets::LowerHex);
        text.pop();
    }
}

fn push_pairs_of(octets: &[u8], table: &[[u8; 2]; 256], text: &mut Vec<u8>) {
    let start = text.len();
    text.resize(start + 2 * octets.len(), 0);
    let (pairs, _) = text[start..].as_chunks_mut::<2>();
    for (pair, octet) in pairs.iter_mut().zip(octets) {
        *pair = table[usize::from(*octet)];
    }
}

fn push_plmn([a, b, c]: [u8; 3], text: &mut Vec<u8>) -> Option<()> {
    let digits = [a & 0xF, a >> 4, b & 0xF, c & 0xF, c >> 4, b >> 4];
    if digits[..5].iter().any(|digit| *digit > 9) || digits[5] > 9 && digits[5] != 0xF {
        return None;
    }
    let [a, b, c, d, e, f] = digits.map(|digit| b'0' + digit);
    let plmn = [a, b, c, b'-', d, e, f];
    text.extend_from_slice(&plmn[..if digits[5] == 0xF { 6 } else { 7 }]);
    Some(())
}

/// Characters of 7 bits each, the lowest bits first (TS 23.038 6.1.2.1).
fn push_seven_bits(octets: &[u8], text: &mut Vec<u8>) {
    let count = octets.len() * 8 / 7;
    for i in 0..count {
        let bit = i * 7;
        let low = u16::from(octets[bit / 8]);
        let high = u16::from(octets.get(bit / 8 + 1).copied().unwrap_or(0));
        let code = ((high << 8 | low) >> (bit % 8)) as usize & 0x7F;
        // Seven spare bits at the end are a fill of zeros, not an at sign.
        if !(i + 1 == count && code == 0 && (octets.len() * 8).is_multiple_of(7))
            && let Some(letter) = SEVEN_BITS.chars().nth(code)
        {
            text.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
        }
    }
}

/// The default alphabet (TS 23.038 6.2.1); the escape stands as a space.
const SEVEN_BITS: &str = "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞ ÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts() {
        use RenderKind as K;
        for (kind, octets, text) in [
            (K::Tbcd, &[0x36, 0x09, 0x22, 0x24, 0x06, 0x90, 0x73, 0xF0][..], Some("639022426009370")),
            (K::Tbcd, &[0x2A, 0xCB, 0xED], Some("*2#abc")),
            (K::Tbcd, &[0xF1, 0x23], None),
            (K::Bcd, &[0x22, 0x21, 0x0F], Some("22210")),
            (K::Digits, &[0x91, 0x94, 0xF7], Some("497")),
            (K::Digits, &[0xD0, 0xD4, 0xF2, 0x9C, 0x0E], Some("Test")),
            (K::TimeStamp, &[0x23, 0x11, 0x05, 0x06, 0, 0x40, 0x2B, 3, 0], Some("2023-11-05T06:00:40+03:00")),
            (K::TimeStamp, &[0x23, 0x13, 0x05, 0x06, 0, 0x40, 0x2B, 3, 0], None),
            (K::DateBcd, &[0x20, 0x24, 0x10, 0x04], Some("2024-10-04")),
            (K::Date, &[24, 3, 14], Some("2024-03-14")),
            (K::Time, &[0, 1, 59], Some("00:01:59")),
            (K::TimeZone, &[0x40, 1], Some("+01:00")),
            (K::TimeZone, &[0x29, 0], Some("-03:00")),
            (K::Plmn, &[0x62, 0xF2, 0x10], Some("262-01")),
            (K::Plmn, &[0x13, 0x00, 0x14], Some("310-410")),
            (K::Ip, &[10, 0, 0, 1], Some("10.0.0.1")),
            (K::Ip, &[10, 0, 0], None),
            (K::Text, b"ITAOM", Some("ITAOM")),
            (K::Text, &[0x80], None),
            // RFC 4648 clause 10.
            (K::Base64, b"fooba", Some("Zm9vYmE=")),
            (K::Base64, b"", Some("")),
        ] {
            let mut out = Vec::new();
            let done = push_text(kind, octets, &mut out).map(|()| str::from_utf8(&out).unwrap());
            assert_eq!(done, text, "{kind:?} {octets:x?}");
        }
        for pair in 0..=u16::MAX {
            for octets in
                [&pair.to_be_bytes()[..], &[0x21, 0x43, 0x65, 0x87, pair as u8, (pair >> 8) as u8, 0xFF]]
            {
                let (mut short, mut long) = (Vec::new(), Vec::new());
                let done = (push_tbcd(octets, &mut short), push_long_tbcd(octets, &mut long));
                assert_eq!(done.0, done.1, "{octets:x?}");
                assert_eq!(short, long, "{octets:x?}");
            }
        }
        assert_eq!(number_of(K::Seconds, &[0, 2, 22]), Some(142));
        assert_eq!(number_of(K::Number, &[3, 0x6C, 0x20]), Some(224_288));
        assert_eq!(number_of(K::Number, &[0xFF; 8]), None);
        for (octets, expected) in [
            (&[][..], None),
            (&[0x20, 0x6C, 3], Some(224_288)),
            (&[1, 0], Some(1)),
            (&[0, 0, 0, 0, 0, 0, 0, 0x40], Some(1 << 62)),
            (&[1, 0, 0, 0, 0, 0, 0, 0, 0, 0], Some(1)),
            (&[1, 0, 0, 0, 0, 0, 0, 0, 0, 1], None),
            (&[0xFF; 8], None),
        ] {
            assert_eq!(number_of(K::NumberLe, octets), expected, "{octets:x?}");
        }
        assert_eq!(SEVEN_BITS.chars().count(), 128);
        let mut out = Vec::new();
        push_seven_bits(&[0xD4, 0xF2, 0x9C, 0x0E], &mut out);
        assert_eq!(out, b"Test");
    }
}
