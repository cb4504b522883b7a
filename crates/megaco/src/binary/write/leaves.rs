//! Numbers, strings of octets and of characters, sets of tokens.

use std::borrow::Cow;

use tercet_runtime::codec::ber;
use tercet_runtime::codec::per::{Alphabet, Letters, Range, Size, Whole};
use tercet_runtime::types::{BitString, ObjectIdentifier, Text};
use tercet_runtime::{Result, Tag};

use super::{BerWriter, Context, Named, PerWriter, Write, write_named};
use crate::binary::Marker;
use crate::list::{Token, TokenSet};
use crate::octets::Str;

/// A leaf: its tag in a list, and how it is written to BER and to PER.
macro_rules! leaves {
    ($(
        $ty:ty, $tag:ident:
        |$value:ident, $ber:ident, $given:ident| $to_ber:expr, |$per:ident, $cx:ident| $to_per:expr;
    )*) => {$(
        impl<const M: u8> Write<M> for $ty {
            const TAG: Tag = Tag::$tag;

            #[inline(always)]
            fn ber(&self, $ber: &mut BerWriter, $given: Tag, _: &mut Context<'_>) -> Result<()> {
                let $value = self;
                $to_ber;
                Ok(())
            }

            #[inline(always)]
            fn per(&self, $per: &mut PerWriter, $cx: &mut Context<'_>) -> Result<()> {
                let $value = self;
                $to_per
            }
        }
    )*};
}

leaves! {
    u8, INTEGER: |number, w, tag| w.integer(tag, i64::from(*number)), |w, cx| {
        let (whole, most) = match const { Marker::of(M) } {
            Marker::Octet => (Whole::Octet, 0xff),
            _ => (Whole::Bits(7), 99),
        };
        cx.bounded(w.integer(whole, i64::from(*number), 0, most))
    };
    u32, INTEGER: |number, w, tag| w.integer(tag, i64::from(*number)), |w, _cx| {
        w.whole(Whole::Octets(2, 4), u64::from(*number));
        Ok(())
    };
    bool, BOOLEAN: |value, w, tag| w.boolean(tag, *value), |w, _cx| {
        w.bit(*value);
        Ok(())
    };
    (), NULL: |_value, w, tag| w.null(tag), |_w, _cx| Ok(());
    [u8; 1], OCTET_STRING: |octets, w, tag| w.octet_string(tag, octets), |w, _cx| {
        w.fixed_octets(octets);
        Ok(())
    };
    [u8; 4], OCTET_STRING: |octets, w, tag| w.octet_string(tag, octets), |w, _cx| {
        w.fixed_octets(octets);
        Ok(())
    };
    [u8; 16], OCTET_STRING: |octets, w, tag| w.octet_string(tag, octets), |w, _cx| {
        w.fixed_octets(octets);
        Ok(())
    };
}

impl<const M: u8> Write<M> for u16 {
    const TAG: Tag = Tag::INTEGER;

    #[inline(always)]
    fn ber(&self, w: &mut BerWriter, tag: Tag, cx: &mut Context<'_>) -> Result<()> {
        if let Marker::Nibble = const { Marker::of(M) } {
            nibble(*self, cx)?;
        }
        w.integer(tag, i64::from(*self));
        Ok(())
    }

    #[inline(always)]
    fn per(&self, w: &mut PerWriter, cx: &mut Context<'_>) -> Result<()> {
        match const { Marker::of(M) } {
            Marker::Nibble => {
                let number = nibble(*self, cx)?;
                cx.bounded(w.integer(Whole::Bits(4), i64::from(number), 0, 15))
            }
            _ => {
                w.whole(Whole::TwoOctets, u64::from(*self));
                Ok(())
            }
        }
    }
}

/// A priority: text allows more than the module does.
fn nibble(number: u16, cx: &mut Context<'_>) -> Result<u8> {
    u8::try_from(number).map_err(|_| cx.refuse("a priority of at most 15"))
}

impl<const M: u8> Write<M> for Str<'_> {
    const TAG: Tag = Tag::OCTET_STRING;

    #[inline(always)]
    fn ber(&self, w: &mut BerWriter, tag: Tag, cx: &mut Context<'_>) -> Result<()> {
        let marker = const { Marker::of(M) };
        match marker {
            Marker::Ia5 => w.octet_string(tag, ascii(self, cx)?),
            Marker::Filled => w.octet_string(tag, &filled(self, cx)?),
            _ if marker.wraps() && cx.binary.strict => w.octet_string(tag, &wrapped(self, cx)?),
            _ => w.octet_string(tag, self),
        }
        Ok(())
    }

    #[inline(always)]
    fn per(&self, w: &mut PerWriter, cx: &mut Context<'_>) -> Result<()> {
        let marker = const { Marker::of(M) };
        match marker {
            Marker::Ia5 => text(self, Size::ANY, w, cx),
            Marker::Filled => {
                let name = filled(self, cx)?;
                text(&name, bounded(8, 8, Whole::Nothing), w, cx)
            }
            Marker::AuthData => cx.bounded(w.octet_string(bounded(12, 32, Whole::Bits(5)), self)),
            Marker::Mtp => cx.bounded(w.octet_string(bounded(2, 4, Whole::Bits(2)), self)),
            _ if marker.wraps() && cx.binary.strict => {
                let octets = wrapped(self, cx)?;
                cx.bounded(w.octet_string(Size::ANY, &octets))
            }
            _ => cx.bounded(w.octet_string(Size::ANY, self)),
        }
    }
}

pub(super) const fn bounded(lo: u32, hi: u32, whole: Whole) -> Size {
    Size::new(false, lo, hi, Some(whole))
}

/// Octets that have to be characters of IA5String.
#[inline]
pub(super) fn ascii<'o>(octets: &'o [u8], cx: &mut Context<'_>) -> Result<&'o [u8]> {
    if octets.is_ascii() { Ok(octets) } else { Err(cx.refuse("characters of 7 bits")) }
}

/// Writes IA5String of so many characters to PER.
pub(super) fn text(octets: &[u8], size: Size, w: &mut PerWriter, cx: &mut Context<'_>) -> Result<()> {
    struct Ia5;
    impl Letters for Ia5 {
        const ALPHABET: Alphabet = Alphabet::new(8, false, false, &[Range::new(0, 127, 0)]);
    }
    let text = Text::from_ascii(octets).ok_or_else(|| cx.refuse("characters of 7 bits"))?;
    cx.bounded(w.characters::<Ia5>(size, &text))
}

/// The name of a vendor's parameter: `IA5String (SIZE (8))`, where the text has 3 to 8 characters (`extensionParameter`).
/// Shorter names are filled up with spaces.
fn filled(name: &[u8], cx: &mut Context<'_>) -> Result<[u8; 8]> {
    let mut eight = [b' '; 8];
    match eight.get_mut(..name.len()) {
        Some(room) => room.copy_from_slice(ascii(name, cx)?),
        None => return Err(cx.refuse("a vendor's parameter with a name of at most 8 characters")),
    }
    Ok(eight)
}

/// An IA5String as an element.
#[cold]
fn wrapped(string: &[u8], cx: &mut Context<'_>) -> Result<Vec<u8>> {
    const IA5_STRING: u8 = 0x16;
    let length = string.len();
    let mut octets = vec![IA5_STRING];
    match (u8::try_from(length), u16::try_from(length)) {
        (Ok(length @ 0..=127), _) => octets.push(length),
        (Ok(length), _) => octets.extend_from_slice(&[0x81, length]),
        (_, Ok(length)) => {
            octets.push(0x82);
            octets.extend_from_slice(&length.to_be_bytes());
        }
        _ => return Err(cx.refuse("a value of at most 65,535 bytes")),
    }
    octets.extend_from_slice(string);
    Ok(octets)
}

/// A date or a time.
impl<const M: u8> Write<M> for [u8; 8] {
    const TAG: Tag = Tag::IA5_STRING;

    #[inline]
    fn ber(&self, w: &mut BerWriter, tag: Tag, cx: &mut Context<'_>) -> Result<()> {
        w.octet_string(tag, ascii(self, cx)?);
        Ok(())
    }

    #[inline]
    fn per(&self, w: &mut PerWriter, cx: &mut Context<'_>) -> Result<()> {
        text(self, bounded(8, 8, Whole::Nothing), w, cx)
    }
}

impl<const M: u8, T: Token> Write<M> for TokenSet<T> {
    const TAG: Tag = Tag::BIT_STRING;

    fn ber(&self, w: &mut BerWriter, tag: Tag, _: &mut Context<'_>) -> Result<()> {
        ber::write_named_bits(w, tag, &bits(&self.bits().reverse_bits().to_be_bytes()));
        Ok(())
    }

    fn per(&self, w: &mut PerWriter, cx: &mut Context<'_>) -> Result<()> {
        let written = w.bit_string(Size::ANY, &bits(&self.bits().reverse_bits().to_be_bytes()), true);
        cx.bounded(written)
    }
}

/// A BIT STRING up to its last bit that is set.
fn bits(octets: &[u8; 2]) -> BitString<'_> {
    let unused = u16::from_be_bytes(*octets).trailing_zeros();
    let used = 2 - unused as usize / 8;
    BitString::new(&octets[..used], if used > 0 { unused as u8 % 8 } else { 0 }).unwrap_or_default()
}

/// The arcs of an OBJECT IDENTIFIER.
pub(super) struct Arcs<'m>(pub(super) &'m [u32]);

write_named! { ['a] Arcs<'a>, Tag::OBJECT_IDENTIFIER }

impl Arcs<'_> {
    fn identifier(&self, cx: &mut Context<'_>) -> Result<ObjectIdentifier<'static>> {
        let arcs = self.0.iter().map(|&arc| u128::from(arc));
        ObjectIdentifier::from_arcs(arcs).map_err(|_| cx.refuse("a vendor's object identifier"))
    }
}

impl Named for Arcs<'_> {
    fn ber(&self, w: &mut BerWriter, tag: Tag, cx: &mut Context<'_>) -> Result<()> {
        w.octet_string(tag, self.identifier(cx)?.as_bytes());
        Ok(())
    }

    fn per(&self, w: &mut PerWriter, cx: &mut Context<'_>) -> Result<()> {
        w.contents(self.identifier(cx)?.as_bytes());
        Ok(())
    }
}

/// A name in the lower case in which it is written.
pub(super) fn lower<'n>(name: &'n [u8], cx: &mut Context<'_>) -> Result<Cow<'n, [u8]>> {
    let name = ascii(name, cx)?;
    Ok(if name.iter().any(u8::is_ascii_uppercase) {
        Cow::Owned(name.to_ascii_lowercase())
    } else {
        Cow::Borrowed(name)
    })
}
