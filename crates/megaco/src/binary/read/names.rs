//! Names of packages and what is in them, from their numbers.

use std::borrow::Cow;

use tercet_runtime::codec::ber;
use tercet_runtime::codec::per::{Size, Whole};
use tercet_runtime::{Result, Tag};

use super::leaves::{bounded, text_ber, text_per};
use super::{BerReader, Context, PerReader, Read};
use crate::binary::{DIAL_PLAN, Marker};
use crate::octets::Name;
use crate::packages::Item;

impl<'a, const M: u8> Read<'a, M> for Name<'a> {
    #[inline(always)]
    fn ber(r: &mut BerReader<'a>, tag: Tag, cx: &mut Context<'a>) -> Result<Self> {
        let marker = const { Marker::of(M) };
        match (marker, marker.item()) {
            (Marker::Ia5 | Marker::Path, _) => text_ber(r, tag).map(Self),
            (_, Some(item)) => ber::fixed_octets(r, tag).map(|octets| cx.item_name(item, octets)),
            (_, None) => ber::fixed_octets(r, tag).map(|octets| cx.name(marker, octets)),
        }
    }

    #[inline(always)]
    fn per(r: &mut PerReader<'a>, cx: &mut Context<'a>) -> Result<Self> {
        let marker = const { Marker::of(M) };
        match (marker, marker.item()) {
            (Marker::Ia5, _) => text_per(r, Size::ANY).map(Self),
            (Marker::Path, _) => text_per(r, bounded(1, 64, Whole::Bits(6))).map(Self),
            (_, Some(item)) => r.fixed_octets().map(|octets| cx.item_name(item, octets)),
            (_, None) => r.fixed_octets().map(|octets| cx.name(marker, octets)),
        }
    }
}

impl<'a> Context<'a> {
    /// `PkgdName`: package and item.
    fn item_name(&mut self, item: Item, [a, b, c, d]: [u8; 4]) -> Name<'a> {
        let (package, id) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
        self.item = Some((item, package, id));
        Name(self.binary.packages.item_name(item, package, id))
    }

    /// `Name`: a package, a parameter, or a digit map.
    fn name(&self, marker: Marker, [a, b]: [u8; 2]) -> Name<'a> {
        let packages = &self.binary.packages;
        let id = u16::from_be_bytes([a, b]);
        match (marker, self.item) {
            (Marker::Package, _) => Name::from(packages.package_name(id)),
            (Marker::Parameter, Some((item, package, of))) => {
                Name(packages.parameter_name(item, (package, of), id))
            }
            _ if a >= b'a' && b >= b'0' => Name(Cow::Owned(vec![a, b])),
            _ => Name::from([DIAL_PLAN, &[a.wrapping_add(b'0'), b.wrapping_add(b'0')]].concat()),
        }
    }
}
