//! OBJECT IDENTIFIER and RELATIVE-OID (X.680 clauses 32 and 33).

use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use crate::{Error, ErrorKind, Result};

/// A checked OBJECT IDENTIFIER over its contents octets (X.690 8.19).
///
/// Arcs have up to 448 bits (64 octets); larger ones are refused with [`ErrorKind::OidArcLimit`], which keeps reading and
/// printing linear. [`OidRef::arcs`] has them below 2^128, as UUID arcs need; text has all of them.
///
/// ```
/// use tercet_runtime::types::OidRef;
/// let oid = OidRef::new(&[0x88, 0x37, 0x03], 0)?;
/// assert_eq!(oid.to_string(), "2.999.3");
/// assert_eq!(oid.arcs().collect::<Vec<_>>(), [2, 999, 3]);
/// assert!(OidRef::new(&[0x80, 0x01], 0).is_err());
/// # Ok::<(), tercet_runtime::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OidRef<'a>(&'a [u8]);

/// A checked RELATIVE-OID over its contents octets (X.690 8.20).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RelativeOidRef<'a>(&'a [u8]);

/// An OBJECT IDENTIFIER that owns its contents octets.
///
/// ```
/// use tercet_runtime::types::Oid;
/// let oid: Oid = "2.100.3".parse()?;
/// assert_eq!(oid.as_bytes(), [0x81, 0x34, 0x03]);
/// assert!("1.40".parse::<Oid>().is_err());
/// # Ok::<(), tercet_runtime::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Oid(Vec<u8>);

/// A RELATIVE-OID that owns its contents octets.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RelativeOid(Vec<u8>);

/// The octets that an arc below 2^128 takes at most.
const ARC_OCTETS: usize = 19;
/// The octets that an arc takes at most.
const MOST_OCTETS: usize = 64;

/// Checks a row of subidentifiers in one pass.
#[inline]
fn check(octets: &[u8], at: u64) -> Result<()> {
    if is_short(octets) { Ok(()) } else { check_any(octets, at) }
}

/// Whether these are complete subidentifiers without an octet 80, none of which can be too large, since all together are
/// as small as one may be: nearly all that are in use (the walk below takes 100 instructions for `id-at-commonName`).
#[inline]
fn is_short(octets: &[u8]) -> bool {
    octets.len() < ARC_OCTETS
        && octets.last().is_some_and(|last| *last < 0x80)
        && octets.iter().all(|octet| *octet != 0x80)
}

/// Whether the last subidentifier ends, and none begins with a zero digit (X.690 8.19.2).
const fn is_complete(contents: &[u8]) -> bool {
    let (mut rest, mut begins) = (contents, true);
    while let [octet, behind @ ..] = rest {
        if begins && *octet == 0x80 {
            return false;
        }
        begins = *octet < 0x80;
        rest = behind;
    }
    begins && !contents.is_empty()
}

#[inline(never)]
fn check_any(octets: &[u8], at: u64) -> Result<()> {
    let fault = |kind, index: usize| Err(Error::new(kind, at.saturating_add(index as u64)));
    if octets.is_empty() {
        return fault(ErrorKind::OidEmpty, 0);
    }
    // Position in the subidentifier; zero at its first octet.
    let mut length = 0_usize;
    for (i, &octet) in octets.iter().enumerate() {
        if length == 0 && octet == 0x80 {
            return fault(ErrorKind::OidPadded, i);
        }
        length += 1;
        if length > MOST_OCTETS {
            return fault(ErrorKind::OidArcLimit, i);
        }
        if octet < 0x80 {
            length = 0;
        }
    }
    if length > 0 { fault(ErrorKind::OidUnterminated, octets.len()) } else { Ok(()) }
}

/// The arcs of an object identifier in order; one of 2^128 or more is [`u128::MAX`].
#[derive(Clone, Debug)]
pub struct Arcs<'a> {
    octets: &'a [u8],
    /// Whether the first subidentifier, which stands for two arcs, is still to come.
    root: bool,
    second: Option<u128>,
}

impl Iterator for Arcs<'_> {
    type Item = u128;

    fn next(&mut self) -> Option<u128> {
        if let Some(second) = self.second.take() {
            return Some(second);
        }
        let mut value = 0_u128;
        let length = self.octets.iter().position(|octet| *octet < 0x80)? + 1;
        let (arc, rest) = self.octets.split_at_checked(length)?;
        self.octets = rest;
        for octet in arc {
            value = value.checked_mul(1 << 7).map_or(u128::MAX, |value| value | u128::from(octet & 0x7F));
        }
        if !self.root {
            return Some(value);
        }
        self.root = false;
        let first = (value / 40).min(2);
        self.second = Some(if value == u128::MAX { value } else { value - first * 40 });
        Some(first)
    }
}

impl<'a> OidRef<'a> {
    /// Checks contents octets that start at the absolute offset `at`.
    ///
    /// # Errors
    /// [`ErrorKind::OidEmpty`], [`ErrorKind::OidPadded`], [`ErrorKind::OidUnterminated`],
    /// [`ErrorKind::OidArcLimit`].
    #[inline]
    pub fn new(contents: &'a [u8], at: u64) -> Result<Self> {
        check(contents, at)?;
        Ok(Self(contents))
    }

    /// Contents octets that are known: one that is made when the program is compiled.
    ///
    /// # Panics
    /// They are no contents octets (X.690 8.19.2); in a constant, it does not compile.
    #[must_use]
    pub const fn constant(contents: &'a [u8]) -> Self {
        assert!(is_complete(contents), "these are not contents octets of an object identifier");
        Self(contents)
    }

    /// The contents octets.
    #[inline]
    #[must_use]
    pub const fn as_bytes(self) -> &'a [u8] {
        self.0
    }

    /// The arcs, two at least.
    #[must_use]
    pub const fn arcs(self) -> Arcs<'a> {
        Arcs { octets: self.0, root: true, second: None }
    }

    /// The same value, owned.
    #[must_use]
    pub fn to_owned(self) -> Oid {
        Oid(self.0.to_vec())
    }

    /// Whether `self` is `other` or below it in the tree.
    #[must_use]
    pub fn starts_with(self, other: OidRef<'_>) -> bool {
        self.0.starts_with(other.0)
    }
}

impl<'a> RelativeOidRef<'a> {
    /// Checks contents octets that start at the absolute offset `at`.
    ///
    /// # Errors
    /// As [`OidRef::new`].
    pub fn new(contents: &'a [u8], at: u64) -> Result<Self> {
        check(contents, at)?;
        Ok(Self(contents))
    }

    /// Contents octets that are known: one that is made when the program is compiled.
    ///
    /// # Panics
    /// They are no contents octets (X.690 8.19.2); in a constant, it does not compile.
    #[must_use]
    pub const fn constant(contents: &'a [u8]) -> Self {
        assert!(is_complete(contents), "these are not contents octets of an object identifier");
        Self(contents)
    }

    /// The contents octets.
    #[inline]
    #[must_use]
    pub const fn as_bytes(self) -> &'a [u8] {
        self.0
    }

    /// The arcs, one at least.
    #[must_use]
    pub const fn arcs(self) -> Arcs<'a> {
        Arcs { octets: self.0, root: false, second: None }
    }

    /// The same value, owned.
    #[must_use]
    pub fn to_owned(self) -> RelativeOid {
        RelativeOid(self.0.to_vec())
    }
}

/// Appends a subidentifier: septets, most significant first, bit 8 set in all but the last.
fn append(out: &mut Vec<u8>, arc: u128) {
    let mut shift = (128 - arc.leading_zeros()).div_ceil(7).max(1) * 7;
    while shift > 0 {
        shift -= 7;
        let [.., septet] = (arc >> shift).to_be_bytes();
        out.push(septet & 0x7F | if shift > 0 { 0x80 } else { 0 });
    }
}

impl Oid {
    /// An object identifier from its arcs.
    ///
    /// # Errors
    /// [`ErrorKind::OidRoot`] for less than two arcs, a first one above 2, a second one above 39 below 0 and
    /// 1; [`ErrorKind::OidArcLimit`].
    pub fn from_arcs(arcs: impl IntoIterator<Item = u128>) -> Result<Self> {
        let mut arcs = arcs.into_iter();
        let root = Error::new(ErrorKind::OidRoot, 0);
        let (Some(first), Some(second)) = (arcs.next(), arcs.next()) else { return Err(root) };
        if first > 2 || (first < 2 && second > 39) {
            return Err(root);
        }
        let joined = second.checked_add(first * 40).ok_or(Error::new(ErrorKind::OidArcLimit, 0))?;
        let mut out = Vec::new();
        append(&mut out, joined);
        arcs.for_each(|arc| append(&mut out, arc));
        Ok(Self(out))
    }

    /// The borrowed form, which has the methods.
    #[must_use]
    pub fn as_ref(&self) -> OidRef<'_> {
        OidRef(&self.0)
    }

    /// The contents octets.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl RelativeOid {
    /// A relative object identifier from its arcs.
    ///
    /// # Errors
    /// [`ErrorKind::OidEmpty`] without arcs.
    pub fn from_arcs(arcs: impl IntoIterator<Item = u128>) -> Result<Self> {
        let mut out = Vec::new();
        arcs.into_iter().for_each(|arc| append(&mut out, arc));
        if out.is_empty() { Err(Error::new(ErrorKind::OidEmpty, 0)) } else { Ok(Self(out)) }
    }

    /// The borrowed form, which has the methods.
    #[must_use]
    pub fn as_ref(&self) -> RelativeOidRef<'_> {
        RelativeOidRef(&self.0)
    }

    /// The contents octets.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// That an arc at an octet of a text is a number without leading zeros.
fn check_digits(part: &str, at: usize) -> Result<()> {
    let digits = !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    if !digits || (part.len() > 1 && part.starts_with('0')) {
        return Err(Error::new(ErrorKind::OidSyntax, at as u64));
    }
    Ok(())
}

/// Decimal numbers between dots; the error's offset is the octet in the text.
fn parse_arcs(text: &str) -> Result<Vec<u128>> {
    let mut arcs = Vec::new();
    let mut at = 0_usize;
    for part in text.split('.') {
        check_digits(part, at)?;
        arcs.push(part.parse().map_err(|_| Error::new(ErrorKind::OidArcLimit, at as u64))?);
        at += part.len() + 1;
    }
    Ok(arcs)
}

/// A number of up to 448 bits, the lowest 64 first.
#[derive(Clone, Copy)]
struct Wide([u64; MOST_OCTETS * 7 / 64]);

impl Wide {
    /// The number times a factor plus another, if there is room for it.
    fn times_plus(mut self, factor: u64, more: u64) -> Option<Self> {
        let mut carry = u128::from(more);
        for limb in &mut self.0 {
            let sum = u128::from(*limb) * u128::from(factor) + carry;
            *limb = u64::try_from(sum & u128::from(u64::MAX)).unwrap_or(0);
            carry = sum >> 64;
        }
        (carry == 0).then_some(self)
    }

    /// Decimal digits.
    fn parse(digits: &str) -> Option<Self> {
        let digits = digits.bytes().map(|digit| u64::from(digit - b'0'));
        digits.into_iter().try_fold(Self([0; 7]), |number, digit| number.times_plus(10, digit))
    }

    /// The number of a subidentifier.
    fn of(octets: &[u8]) -> Self {
        let septets = octets.iter().map(|octet| u64::from(octet & 0x7F));
        septets.fold(Self([0; 7]), |number, septet| number.times_plus(1 << 7, septet).unwrap_or(number))
    }

    /// Appends the subidentifier.
    fn append(mut self, out: &mut Vec<u8>) {
        let from = out.len();
        while out.len() == from || self.0.iter().any(|limb| *limb != 0) {
            let [septet, ..] = self.0[0].to_le_bytes();
            out.push(septet & 0x7F | if out.len() > from { 0x80 } else { 0 });
            let mut above = 0;
            for limb in self.0.iter_mut().rev() {
                (*limb, above) = (*limb >> 7 | above << 57, *limb & 0x7F);
            }
        }
        if let Some(octets) = out.get_mut(from..) {
            octets.reverse();
        }
    }

    /// In decimal.
    fn print(mut self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const BILLION: u128 = 1_000_000_000;
        let mut groups = Vec::new();
        while groups.is_empty() || self.0.iter().any(|limb| *limb != 0) {
            let mut rest = 0_u128;
            for limb in self.0.iter_mut().rev() {
                let number = rest << 64 | u128::from(*limb);
                *limb = u64::try_from(number / BILLION).unwrap_or(0);
                rest = number % BILLION;
            }
            groups.push(rest);
        }
        let mut groups = groups.into_iter().rev();
        write!(f, "{}", groups.next().unwrap_or(0))?;
        groups.try_for_each(|group| write!(f, "{group:09}"))
    }

    /// The number less one that is not greater.
    fn less(mut self, number: u64) -> Self {
        let mut borrow = number;
        for limb in &mut self.0 {
            let (rest, wraps) = limb.overflowing_sub(borrow);
            (*limb, borrow) = (rest, wraps.into());
        }
        self
    }
}

/// Contents octets of text with an arc of 2^128 or more; `rooted` if the first two arcs are one subidentifier.
#[cold]
fn parse_wide(text: &str, rooted: bool) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    let mut at = 0_usize;
    let mut first = None;
    for part in text.split('.') {
        check_digits(part, at)?;
        let limit = Error::new(ErrorKind::OidArcLimit, at as u64);
        let mut arc = Wide::parse(part).ok_or(limit)?;
        at += part.len() + 1;
        if rooted && first.is_none() {
            first = Some(arc.0);
            continue;
        }
        if let (Some(root), true) = (first, out.is_empty() && rooted) {
            let root = root[0].min(3);
            let is_small = arc.0[0] < 40 && arc.0[1..].iter().all(|limb| *limb == 0);
            if root > 2 || (root < 2 && !is_small) {
                return Err(Error::new(ErrorKind::OidRoot, 0));
            }
            arc = arc.times_plus(1, root * 40).ok_or(limit)?;
        }
        arc.append(&mut out);
    }
    check(&out, 0)?;
    Ok(out)
}

/// Whether text cannot be read in arcs below 2^128, but perhaps in larger ones.
fn is_wide<T>(read: &Result<T>) -> bool {
    matches!(read, Err(error) if error.kind() == ErrorKind::OidArcLimit)
}

/// Reads dotted decimal text.
impl FromStr for Oid {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let read = parse_arcs(text).and_then(Self::from_arcs);
        if is_wide(&read) { parse_wide(text, true).map(Self) } else { read }
    }
}

/// Reads dotted decimal text.
impl FromStr for RelativeOid {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let read = parse_arcs(text).and_then(Self::from_arcs);
        if is_wide(&read) { parse_wide(text, false).map(Self) } else { read }
    }
}

fn print(mut arcs: Arcs<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut dot = "";
    loop {
        let (octets, root) = (arcs.octets, arcs.root);
        let Some(arc) = arcs.next() else { return Ok(()) };
        f.write_str(dot)?;
        dot = ".";
        let wide = if root { arcs.second } else { Some(arc) };
        if wide != Some(u128::MAX) {
            write!(f, "{arc}")?;
            continue;
        }
        // Beyond 128 bits, or the last number of them.
        let length = octets.len() - arcs.octets.len();
        let number = Wide::of(octets.get(..length).unwrap_or_default());
        if root {
            f.write_str("2.")?;
            arcs.second = None;
            number.less(80).print(f)?;
        } else {
            number.print(f)?;
        }
    }
}

macro_rules! dotted {
    ($($t:ty),*) => {$(
        /// Dotted decimal numbers.
        impl fmt::Display for $t {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                print(self.arcs(), f)
            }
        }

        impl fmt::Debug for $t {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                print(self.arcs(), f)
            }
        }
    )*};
    (owned $($t:ty),*) => {$(
        /// Dotted decimal numbers.
        impl fmt::Display for $t {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                print(self.as_ref().arcs(), f)
            }
        }

        impl fmt::Debug for $t {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                print(self.as_ref().arcs(), f)
            }
        }
    )*};
}

dotted!(OidRef<'_>, RelativeOidRef<'_>);
dotted!(owned Oid, RelativeOid);

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::{String, ToString};

    #[test]
    fn text_and_octets_agree() {
        let max = u128::MAX;
        for (text, octets) in [
            ("2.100.3", &[0x81, 0x34, 0x03][..]),
            ("2.999.3", &[0x88, 0x37, 0x03]),
            ("2.40", &[0x78]),
            ("0.0", &[0x00]),
            ("0.39", &[0x27]),
            ("1.0", &[0x28]),
            ("1.39", &[0x4F]),
            ("2.0", &[0x50]),
            ("1.2.840.113549.1.1.11", &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x0B]),
        ] {
            let oid = OidRef::new(octets, 0).unwrap();
            assert_eq!(oid.to_string(), text);
            assert_eq!(text.parse::<Oid>().unwrap().as_bytes(), octets);
            assert_eq!(Oid::from_arcs(oid.arcs()).unwrap().as_ref(), oid);
        }
        let relative: RelativeOid = "8571.3.2".parse().unwrap();
        assert_eq!(relative.as_bytes(), [0xC2, 0x7B, 0x03, 0x02]);
        assert_eq!(relative.to_string(), "8571.3.2");
        let large = RelativeOid::from_arcs([max, max - 1, 0]).unwrap();
        assert_eq!(
            RelativeOidRef::new(large.as_bytes(), 0).unwrap().arcs().collect::<Vec<_>>(),
            [max, max - 1, 0]
        );
    }

    #[test]
    fn refuses() {
        for (octets, kind, at) in [
            (&[][..], ErrorKind::OidEmpty, 7),
            (&[0x80, 0x01], ErrorKind::OidPadded, 7),
            (&[0x2A, 0x80, 0x01], ErrorKind::OidPadded, 8),
            (&[0x2A, 0x86], ErrorKind::OidUnterminated, 9),
            (&[0xFF; 65], ErrorKind::OidArcLimit, 71),
        ] {
            let error = OidRef::new(octets, 7).unwrap_err();
            assert_eq!((error.kind(), error.at()), (kind, at), "{octets:02x?}");
        }
        for text in ["", "1", "3.1", "1.40", "1..2", "1.2.", ".1", "1.02", "1.+2", "1.2a", "1. 2"] {
            assert!(text.parse::<Oid>().is_err(), "{text}");
        }
    }

    #[test]
    fn arcs_beyond_128_bits_are_exact_in_text() {
        // 2^128 + 80 and 2^160: 10 and 23 septets of zeros with a one before them.
        let octets = |first: u8, zeros: usize, last: u8| {
            let mut octets = alloc::vec![0x80_u8; zeros + 1];
            octets[0] |= first;
            octets.push(last);
            octets
        };
        for (octets, text) in [
            (octets(4, 17, 0x00), "2.340282366920938463463374607431768211376"),
            (octets(4, 17, 0x50), "2.340282366920938463463374607431768211456"),
            (octets(0x40, 21, 0x00), "2.1461501637330902918203684832716283019655932542896"),
        ] {
            let oid = OidRef::new(&octets, 0).unwrap();
            assert_eq!(oid.to_string(), text, "{octets:02X?}");
            assert_eq!(text.parse::<Oid>().unwrap().as_bytes(), octets, "{text}");
            assert_eq!(oid.arcs().collect::<Vec<_>>(), [2, u128::MAX]);
            let relative = RelativeOidRef::new(&octets, 0).unwrap().to_string();
            assert_eq!(relative.parse::<RelativeOid>().unwrap().as_bytes(), octets, "{relative}");
        }
        let most = alloc::format!("{}\u{7f}", "\u{ff}".repeat(63));
        let most: Vec<u8> = most.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
        let text = RelativeOidRef::new(&most, 0).unwrap().to_string();
        assert_eq!(text.len(), 135);
        assert_eq!(text.parse::<RelativeOid>().unwrap().as_bytes(), most);
        for wrong in ["1.340282366920938463463374607431768211456", "3.4", "2.9x"] {
            assert!(wrong.parse::<Oid>().is_err(), "{wrong}");
        }
        let later = "2.340282366920938463463374607431768211456.x";
        assert_eq!(later.parse::<Oid>().unwrap_err().kind(), ErrorKind::OidSyntax);
        assert!("9".repeat(10_000).parse::<RelativeOid>().is_err());
    }

    #[test]
    fn long_ones() {
        let mut arc = alloc::vec![0xFF_u8; 65_536];
        arc.push(0x7F);
        assert_eq!(OidRef::new(&arc, 0).unwrap_err().kind(), ErrorKind::OidArcLimit);
        let many = alloc::vec![1_u8; 1_000_000];
        let text: String = OidRef::new(&many, 0).unwrap().to_string();
        assert_eq!(text.parse::<Oid>().unwrap().as_bytes(), many);
    }
}
