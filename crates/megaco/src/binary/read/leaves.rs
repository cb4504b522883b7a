//! Numbers, strings of octets and of characters, sets of tokens.

use std::borrow::Cow;

use tercet_runtime::codec::ber;
use tercet_runtime::codec::per::{Alphabet, Letters, Range, Size, Whole};
use tercet_runtime::text::StringKind;
use tercet_runtime::types::{BitString, ObjectIdentifier, Octets, OidRef, Text};
use tercet_runtime::{Result, Tag};

use super::{BerReader, Context, Named, PerReader, Read, read_named};
use crate::binary::Marker;
use crate::list::{List, Token, TokenSet};
use crate::octets::Str;

/// A leaf: its tag in a list, and how it is read from BER and from PER in a place of a marker.
macro_rules! leaves {
    ($(
        $ty:ty, $tag:ident:
        |$ber:ident, $given:ident| $from_ber:expr, |$per:ident, $marker:ident| $from_per:expr;
    )*) => {$(
        impl<'a, const M: u8> Read<'a, M> for $ty {
            const TAG: Tag = Tag::$tag;

            #[inline(always)]
            fn ber($ber: &mut BerReader<'a>, $given: Tag, _: &mut Context<'a>) -> Result<Self> {
                $from_ber
            }

            #[inline(always)]
            fn per($per: &mut PerReader<'a>, _: &mut Context<'a>) -> Result<Self> {
                let $marker = const { Marker::of(M) };
                $from_per
            }
        }
    )*};
}

leaves! {
    u8, INTEGER: |r, tag| ber::narrow(r, tag), |r, marker| match marker {
        Marker::Octet => Ok(r.whole(Whole::Octet, 0xff)? as Self),
        _ => Ok(r.whole(Whole::Bits(7), 99)? as Self),
    };
    u32, INTEGER: |r, tag| ber::narrow(r, tag),
        |r, _marker| Ok(r.whole(Whole::Octets(2, 4), 0xffff_ffff)? as Self);
    bool, BOOLEAN: |r, tag| ber::boolean(r, tag), |r, _marker| r.bit();
    (), NULL: |r, tag| ber::null(r, tag), |_r, _marker| Ok(());
    [u8; 1], OCTET_STRING: |r, tag| ber::fixed_octets(r, tag), |r, _marker| r.fixed_octets();
    [u8; 4], OCTET_STRING: |r, tag| ber::fixed_octets(r, tag), |r, _marker| r.fixed_octets();
    [u8; 16], OCTET_STRING: |r, tag| ber::fixed_octets(r, tag), |r, _marker| r.fixed_octets();
    Octets<'a>, OCTET_STRING: |r, tag| ber::octets(r, tag), |r, marker| match marker {
        Marker::Levels => r.octet_string(bounded(1, 8, Whole::Bits(3))),
        _ => r.octet_string(Size::ANY),
    };
}

impl<'a, const M: u8> Read<'a, M> for u16 {
    const TAG: Tag = Tag::INTEGER;

    #[inline(always)]
    fn ber(r: &mut BerReader<'a>, tag: Tag, _: &mut Context<'a>) -> Result<Self> {
        match const { Marker::of(M) } {
            // Text allows more than the module does.
            Marker::Nibble => ber::narrow::<u8>(r, tag).map(Self::from),
            _ => ber::narrow(r, tag),
        }
    }

    #[inline(always)]
    fn per(r: &mut PerReader<'a>, _: &mut Context<'a>) -> Result<Self> {
        match const { Marker::of(M) } {
            Marker::Nibble => Ok(r.whole(Whole::Bits(4), 15)? as Self),
            _ => Ok(r.whole(Whole::TwoOctets, 0xffff)? as Self),
        }
    }
}

impl<'a, const M: u8> Read<'a, M> for Str<'a> {
    const TAG: Tag = Tag::OCTET_STRING;

    #[inline(always)]
    fn ber(r: &mut BerReader<'a>, tag: Tag, cx: &mut Context<'a>) -> Result<Self> {
        let marker = const { Marker::of(M) };
        match marker {
            Marker::Ia5 | Marker::Profile => text_ber(r, tag).map(Self),
            Marker::Filled => text_ber(r, tag).map(filled),
            _ => Ok(octets(ber::octets(r, tag)?, marker, cx)),
        }
    }

    #[inline(always)]
    fn per(r: &mut PerReader<'a>, cx: &mut Context<'a>) -> Result<Self> {
        let marker = const { Marker::of(M) };
        match marker {
            Marker::Ia5 => text_per(r, Size::ANY).map(Self),
            Marker::Profile => text_per(r, bounded(1, 67, Whole::Bits(7))).map(Self),
            Marker::Filled => text_per(r, bounded(8, 8, Whole::Nothing)).map(filled),
            Marker::AuthData => Ok(Self(kept(r.octet_string(bounded(12, 32, Whole::Bits(5)))?))),
            Marker::Mtp => Ok(Self(kept(r.octet_string(bounded(2, 4, Whole::Bits(2)))?))),
            _ => Ok(octets(r.octet_string(Size::ANY)?, marker, cx)),
        }
    }
}

pub(super) const fn bounded(lo: u32, hi: u32, whole: Whole) -> Size {
    Size::new(false, lo, hi, Some(whole))
}

/// A string that may stand encoded inside of its octets.
#[inline(always)]
fn octets<'a>(octets: Octets<'a>, marker: Marker, cx: &Context<'a>) -> Str<'a> {
    let octets = kept(octets);
    Str(if marker.wraps() && cx.binary.strict { unwrapped(octets) } else { octets })
}

/// The octets of a string, borrowed if it has them borrowed.
#[inline]
fn kept(octets: Octets<'_>) -> Cow<'_, [u8]> {
    match octets.as_borrowed() {
        Some(octets) => Cow::Borrowed(octets),
        None => Cow::Owned(octets.as_slice().to_vec()),
    }
}

#[inline]
fn kept_text(text: Text<'_>) -> Cow<'_, [u8]> {
    match text.as_borrowed() {
        Some(octets) => Cow::Borrowed(octets),
        None => Cow::Owned(text.as_bytes().to_vec()),
    }
}

#[inline]
pub(super) fn text_ber<'a>(r: &mut BerReader<'a>, tag: Tag) -> Result<Cow<'a, [u8]>> {
    ber::text(r, tag, StringKind::Ia5).map(kept_text)
}

/// IA5String of so many characters.
#[inline]
pub(super) fn text_per<'a>(r: &mut PerReader<'a>, size: Size) -> Result<Cow<'a, [u8]>> {
    struct Ia5;
    impl Letters for Ia5 {
        const ALPHABET: Alphabet = Alphabet::new(8, false, false, &[Range::new(0, 127, 0)]);
    }
    r.characters::<Ia5>(size).map(kept_text)
}

/// Without the spaces that fill it up.
fn filled(text: Cow<'_, [u8]>) -> Str<'_> {
    Str(match text {
        Cow::Borrowed(octets) => Cow::Borrowed(octets.trim_ascii_end()),
        Cow::Owned(octets) => Cow::Owned(octets.trim_ascii_end().to_vec()),
    })
}

/// A date or a time.
impl<'a, const M: u8> Read<'a, M> for [u8; 8] {
    const TAG: Tag = Tag::IA5_STRING;

    #[inline]
    fn ber(r: &mut BerReader<'a>, tag: Tag, cx: &mut Context<'a>) -> Result<Self> {
        text_ber(r, tag).map(|text| eight(&text, cx))
    }

    #[inline]
    fn per(r: &mut PerReader<'a>, cx: &mut Context<'a>) -> Result<Self> {
        text_per(r, bounded(8, 8, Whole::Nothing)).map(|text| eight(&text, cx))
    }
}

fn eight(text: &[u8], cx: &mut Context<'_>) -> [u8; 8] {
    text.try_into().unwrap_or_else(|_| cx.refuse("a date and a time of 8 characters"))
}

/// What stands in an IA5String, if octets are one.
#[cold]
fn unwrapped(octets: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
    const IA5_STRING: u8 = 0x16;
    let from = match &octets[..] {
        [IA5_STRING, length @ 0..=127, text @ ..] if usize::from(*length) == text.len() => 2,
        [IA5_STRING, 0x81, length, text @ ..] if usize::from(*length) == text.len() => 3,
        [IA5_STRING, 0x82, high, low, text @ ..]
            if usize::from(u16::from_be_bytes([*high, *low])) == text.len() =>
        {
            4
        }
        _ => 0,
    };
    match octets {
        Cow::Borrowed(octets) => Cow::Borrowed(&octets[from..]),
        Cow::Owned(octets) => Cow::Owned(octets[from..].to_vec()),
    }
}

impl<'a, const M: u8, T: Token> Read<'a, M> for TokenSet<T> {
    const TAG: Tag = Tag::BIT_STRING;

    fn ber(r: &mut BerReader<'a>, tag: Tag, _: &mut Context<'a>) -> Result<Self> {
        ber::named_bits(r, tag, 0, usize::MAX).map(tokens)
    }

    fn per(r: &mut PerReader<'a>, _: &mut Context<'a>) -> Result<Self> {
        r.bit_string(Size::ANY).map(tokens)
    }
}

/// The tokens whose bits are set, as far as they are known.
fn tokens<T: Token>(bits: BitString<'_>) -> TokenSet<T> {
    let bits = bits.as_bits();
    let set = bits.iter().take(16).enumerate().filter(|bit| bit.1);
    set.filter_map(|(number, _)| T::of_number(number as u8)).collect()
}

/// An OBJECT IDENTIFIER, whose arcs the model has.
#[derive(Default)]
pub(super) struct Arcs(pub(super) List<u32>);

read_named! { Arcs, Tag::OBJECT_IDENTIFIER }

impl<'a> Named<'a> for Arcs {
    fn ber(r: &mut BerReader<'a>, tag: Tag, cx: &mut Context<'a>) -> Result<Self> {
        ber::oid(r, tag).map(|value| arcs(&value, cx))
    }

    fn per(r: &mut PerReader<'a>, cx: &mut Context<'a>) -> Result<Self> {
        r.oid().map(|value| arcs(&value, cx))
    }
}

fn arcs(value: &ObjectIdentifier<'_>, cx: &mut Context<'_>) -> Arcs {
    let value = OidRef::new(value.as_bytes(), 0).ok();
    let arcs = value.and_then(|value| value.arcs().map(|arc| u32::try_from(arc).ok()).collect());
    arcs.map(Arcs).unwrap_or_else(|| cx.refuse("a vendor's object identifier with arcs of at most 32 bits"))
}
