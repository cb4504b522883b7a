//! Names of packages and what is in them, as their numbers.

use tercet_runtime::codec::per::{Size, Whole};
use tercet_runtime::{Result, Tag};

use super::leaves::{bounded, lower, text};
use super::{BerWriter, Context, PerWriter, Write};
use crate::binary::{DIAL_PLAN, Marker};
use crate::octets::Name;
use crate::packages::Item;

impl<const M: u8> Write<M> for Name<'_> {
    const TAG: Tag = Tag::OCTET_STRING;

    #[inline(always)]
    fn begin(&self, cx: &mut Context<'_>) -> Result<()> {
        match const { Marker::of(M) }.item() {
            Some(item) => cx.find_item(item, self).map(|_| ()),
            None => Ok(()),
        }
    }

    #[inline(always)]
    fn ber(&self, w: &mut BerWriter, tag: Tag, cx: &mut Context<'_>) -> Result<()> {
        let marker = const { Marker::of(M) };
        match (marker, marker.item()) {
            (Marker::Ia5 | Marker::Path, _) => w.octet_string(tag, &lower(self, cx)?),
            (_, Some(_)) => w.octet_string(tag, &cx.item_octets()),
            (_, None) => w.octet_string(tag, &cx.name(marker, self)?),
        }
        Ok(())
    }

    #[inline(always)]
    fn per(&self, w: &mut PerWriter, cx: &mut Context<'_>) -> Result<()> {
        let marker = const { Marker::of(M) };
        match (marker, marker.item()) {
            (Marker::Ia5, _) => {
                let name = lower(self, cx)?;
                return text(&name, Size::ANY, w, cx);
            }
            (Marker::Path, _) => {
                let name = lower(self, cx)?;
                return text(&name, bounded(1, 64, Whole::Bits(6)), w, cx);
            }
            (_, Some(item)) => w.fixed_octets(&cx.find_item(item, self)?),
            (_, None) => w.fixed_octets(&cx.name(marker, self)?),
        }
        Ok(())
    }
}

impl Context<'_> {
    /// `PkgdName`: package and item.
    fn find_item(&mut self, item: Item, name: &[u8]) -> Result<[u8; 4]> {
        let Some((package, id)) = self.binary.packages.item_id(item, name) else {
            return Err(self.refuse("the name of something in a package that is known, or 0xNNNN/0xNNNN"));
        };
        self.item = Some((item, package, id));
        Ok(self.item_octets())
    }

    /// The item whose type is being written.
    fn item_octets(&self) -> [u8; 4] {
        let (package, id) = self.item.map_or((0, 0), |item| (item.1, item.2));
        let ([a, b], [c, d]) = (package.to_be_bytes(), id.to_be_bytes());
        [a, b, c, d]
    }

    /// `Name`: a package, a parameter, or a digit map.
    fn name(&mut self, marker: Marker, name: &[u8]) -> Result<[u8; 2]> {
        let packages = &self.binary.packages;
        let (id, what) = match (marker, self.item) {
            (Marker::Package, _) => (packages.package_id(name), "a package that is known, or 0xNNNN"),
            (Marker::Parameter, Some((item, package, id))) => {
                (packages.parameter_id(item, (package, id), name), "a parameter that is known, or 0xNNNN")
            }
            _ => (digit_map(name), "a digit map with a name of 2 characters, or dialplan and 2 digits"),
        };
        id.map(u16::to_be_bytes).ok_or_else(|| self.refuse(what))
    }
}

/// As OTP has it: the two characters behind `dialplan`; a name of two characters is those.
fn digit_map(name: &[u8]) -> Option<u16> {
    let suffix = match name.split_at_checked(DIAL_PLAN.len()) {
        Some((plan, suffix)) if plan.eq_ignore_ascii_case(DIAL_PLAN) => Some(suffix),
        _ => None,
    };
    let octets = match (suffix, name) {
        (Some(&[a, b]), _) => [a.wrapping_sub(b'0'), b.wrapping_sub(b'0')],
        (Some(&[b]), _) => [0, b.wrapping_sub(b'0')],
        (Some([]), _) => [0, 0],
        (None, &[a, b]) => [a.to_ascii_lowercase(), b.to_ascii_lowercase()],
        _ => return None,
    };
    Some(u16::from_be_bytes(octets))
}
