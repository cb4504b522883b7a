//! Certificates: SEQUENCEs in order in DER; the attributes of both names, and the extensions, in one list each.

use core::ops::Range;

use crate::Back;
use crate::ber::{CONTEXT, UNIVERSAL, Value, element, expect, key};

const INTEGER: u32 = key(UNIVERSAL, 0, 2);
const BITS: u32 = key(UNIVERSAL, 0, 3);
const OCTETS: u32 = key(UNIVERSAL, 0, 4);
const OID: u32 = key(UNIVERSAL, 0, 6);
const UTC: u32 = key(UNIVERSAL, 0, 23);
const GENERALIZED: u32 = key(UNIVERSAL, 0, 24);
const BOOLEAN: u32 = key(UNIVERSAL, 0, 1);
const SEQUENCE: u32 = key(UNIVERSAL, 1, 16);
const SET: u32 = key(UNIVERSAL, 1, 17);
const VERSION: u32 = key(CONTEXT, 1, 0);
const EXTENSIONS: u32 = key(CONTEXT, 1, 3);

/// A certificate.
#[derive(Clone, Debug, Default)]
pub struct Certificate {
    version: u8,
    serial: &'static [u8],
    signed: Algorithm<'static>,
    issuer: Range<usize>,
    validity: [Time<'static>; 2],
    subject: Range<usize>,
    key: Algorithm<'static>,
    key_bits: Bits<'static>,
    algorithm: Algorithm<'static>,
    signature: Bits<'static>,
    attributes: Vec<Attribute<'static>>,
    extensions: Vec<Extension<'static>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Algorithm<'a> {
    oid: &'a [u8],
    /// An element, or nothing.
    parameters: &'a [u8],
}

#[derive(Clone, Copy, Debug, Default)]
struct Bits<'a> {
    unused: u8,
    octets: &'a [u8],
}

#[derive(Clone, Copy, Debug, Default)]
struct Time<'a> {
    key: u32,
    text: &'a [u8],
}

#[derive(Clone, Copy, Debug)]
struct Attribute<'a> {
    /// Whether it is the first of a relative name.
    first: bool,
    oid: &'a [u8],
    /// An element.
    value: &'a [u8],
}

#[derive(Clone, Copy, Debug)]
struct Extension<'a> {
    oid: &'a [u8],
    critical: bool,
    value: &'a [u8],
}

/// Takes an OBJECT IDENTIFIER: whole numbers without zeros in front.
#[inline(always)]
fn oid<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let octets = expect(rest, OID)?;
    let mut begins = true;
    for octet in octets {
        if begins && *octet == 0x80 {
            return None;
        }
        begins = *octet < 0x80;
    }
    (begins && !octets.is_empty()).then_some(octets)
}

/// Takes an element of any type, with its header; it is looked into where it is constructed.
#[inline(always)]
fn any<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let whole = *rest;
    let (found, contents) = element(rest)?;
    if found & 1 != 0 {
        elements(contents)?;
    }
    whole.get(..whole.len() - rest.len())
}

fn elements(mut rest: &[u8]) -> Option<()> {
    while !rest.is_empty() {
        any(&mut rest)?;
    }
    Some(())
}

#[inline(always)]
fn algorithm<'a>(rest: &mut &'a [u8]) -> Option<Algorithm<'a>> {
    let mut inner = expect(rest, SEQUENCE)?;
    let oid = oid(&mut inner)?;
    let parameters = if inner.is_empty() { inner } else { any(&mut inner)? };
    inner.is_empty().then_some(Algorithm { oid, parameters })
}

#[inline(always)]
fn bits<'a>(rest: &mut &'a [u8]) -> Option<Bits<'a>> {
    let (&unused, octets) = expect(rest, BITS)?.split_first()?;
    let padding = octets.last().copied().unwrap_or(0) & ((1_u16 << (unused & 7)) - 1).to_be_bytes()[1];
    (unused < 8 && padding == 0 && (unused == 0 || !octets.is_empty())).then_some(Bits { unused, octets })
}

/// Takes a time in UTC, whose numbers are in their ranges.
#[inline(always)]
fn time<'a>(rest: &mut &'a [u8]) -> Option<Time<'a>> {
    let (key, text) = element(rest)?;
    let digits = match (key, text) {
        (UTC, [digits @ .., b'Z']) if digits.len() == 12 => digits,
        (GENERALIZED, [digits @ .., b'Z']) if digits.len() == 14 => digits.get(2..)?,
        _ => return None,
    };
    let digits: &[u8; 12] = digits.try_into().ok()?;
    if !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let pair = |at: usize| (digits[at] - b'0') * 10 + (digits[at + 1] - b'0');
    let is_date = matches!(pair(2), 1..=12) && matches!(pair(4), 1..=31);
    (is_date && pair(6) < 24 && pair(8) < 60 && pair(10) < 60).then_some(Time { key, text })
}

impl Certificate {
    #[inline(always)]
    fn name(&mut self, rest: &mut &'static [u8]) -> Option<Range<usize>> {
        let start = self.attributes.len();
        let mut names = expect(rest, SEQUENCE)?;
        while !names.is_empty() {
            let mut set = expect(&mut names, SET)?;
            let mut first = true;
            while first || !set.is_empty() {
                let mut inner = expect(&mut set, SEQUENCE)?;
                let attribute = Attribute { first, oid: oid(&mut inner)?, value: any(&mut inner)? };
                if !inner.is_empty() {
                    return None;
                }
                self.attributes.push(attribute);
                first = false;
            }
        }
        Some(start..self.attributes.len())
    }

    #[inline(always)]
    fn extension(rest: &mut &'static [u8]) -> Option<Extension<'static>> {
        let mut inner = expect(rest, SEQUENCE)?;
        let oid = oid(&mut inner)?;
        let (mut found, mut value) = element(&mut inner)?;
        let critical = found == BOOLEAN;
        if critical {
            // FALSE is the default, which is not written.
            if value != [0xFF] {
                return None;
            }
            (found, value) = element(&mut inner)?;
        }
        (found == OCTETS && inner.is_empty()).then_some(Extension { oid, critical, value })
    }

    fn put_name(&self, name: &Range<usize>, out: &mut Back) {
        let end = out.at();
        let mut set = end;
        for attribute in self.attributes.get(name.clone()).unwrap_or_default().iter().rev() {
            let inner = out.at();
            out.octets(attribute.value);
            attribute.oid.put(OID, out);
            out.header(SEQUENCE, inner);
            if attribute.first {
                out.header(SET, set);
                set = out.at();
            }
        }
        out.header(SEQUENCE, end);
    }
}

impl Algorithm<'_> {
    #[inline(always)]
    fn put(&self, out: &mut Back) {
        let end = out.at();
        out.octets(self.parameters);
        self.oid.put(OID, out);
        out.header(SEQUENCE, end);
    }
}

impl Bits<'_> {
    #[inline(always)]
    fn put(&self, out: &mut Back) {
        let end = out.at();
        out.octets(self.octets);
        out.octets(&[self.unused]);
        out.header(BITS, end);
    }
}

impl crate::Record for Certificate {
    type Out = Back;

    #[inline]
    fn read(&mut self, mut octets: &'static [u8]) -> Option<()> {
        self.attributes.clear();
        self.extensions.clear();
        let mut outer = expect(&mut octets, SEQUENCE)?;
        let mut rest = expect(&mut outer, SEQUENCE)?;
        let (mut found, mut contents) = element(&mut rest)?;
        self.version = 0;
        if found == VERSION {
            let [version @ 1..=2] = *expect(&mut contents, INTEGER)? else { return None };
            if !contents.is_empty() {
                return None;
            }
            self.version = version;
            (found, contents) = element(&mut rest)?;
        }
        if found != INTEGER || matches!(contents, [] | [0, 0..=0x7F, ..] | [0xFF, 0x80..=0xFF, ..]) {
            return None;
        }
        self.serial = contents;
        self.signed = algorithm(&mut rest)?;
        self.issuer = self.name(&mut rest)?;
        let mut inner = expect(&mut rest, SEQUENCE)?;
        self.validity = [time(&mut inner)?, time(&mut inner)?];
        if !inner.is_empty() {
            return None;
        }
        self.subject = self.name(&mut rest)?;
        let mut inner = expect(&mut rest, SEQUENCE)?;
        self.key = algorithm(&mut inner)?;
        self.key_bits = bits(&mut inner)?;
        if !inner.is_empty() {
            return None;
        }
        if !rest.is_empty() {
            let mut tagged = expect(&mut rest, EXTENSIONS)?;
            let mut list = expect(&mut tagged, SEQUENCE)?;
            while !list.is_empty() {
                self.extensions.push(Self::extension(&mut list)?);
            }
            if self.extensions.is_empty() || !tagged.is_empty() || !rest.is_empty() {
                return None;
            }
        }
        self.algorithm = algorithm(&mut outer)?;
        self.signature = bits(&mut outer)?;
        (outer.is_empty() && octets.is_empty()).then_some(())
    }

    #[inline]
    fn write(&self, by: &mut Back, out: &mut Vec<u8>) {
        let w = by;
        let end = w.at();
        self.signature.put(w);
        self.algorithm.put(w);
        let tbs = w.at();
        if !self.extensions.is_empty() {
            let end = w.at();
            for extension in self.extensions.iter().rev() {
                let end = w.at();
                extension.value.put(OCTETS, w);
                if extension.critical {
                    [0xFF_u8].put(BOOLEAN, w);
                }
                extension.oid.put(OID, w);
                w.header(SEQUENCE, end);
            }
            w.header(SEQUENCE, end);
            w.header(EXTENSIONS, end);
        }
        let key = w.at();
        self.key_bits.put(w);
        self.key.put(w);
        w.header(SEQUENCE, key);
        self.put_name(&self.subject, w);
        let validity = w.at();
        for time in self.validity.iter().rev() {
            time.text.put(time.key, w);
        }
        w.header(SEQUENCE, validity);
        self.put_name(&self.issuer, w);
        self.signed.put(w);
        self.serial.put(INTEGER, w);
        if self.version > 0 {
            let end = w.at();
            [self.version].put(INTEGER, w);
            w.header(VERSION, end);
        }
        w.header(SEQUENCE, tbs);
        w.header(SEQUENCE, end);
        w.flush(out);
    }
}
