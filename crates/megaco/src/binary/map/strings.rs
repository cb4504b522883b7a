//! Strings, names and numbers of packages as the generated types have them.

use tercet_runtime::types::{Octets, Text};

use super::super::DIAL_PLAN;
use super::super::special::vendor_name;
use super::{Context, Kind, To, refuse};
use crate::Result;
use crate::octets::{Name, Str};

const IA5_STRING: u8 = 0x16;

impl<'a> To<'a, Octets<'a>> for Str<'a> {
    fn to(&'a self, cx: &mut Context<'_>) -> Result<Octets<'a>> {
        if !cx.wraps() {
            return Ok(Octets::borrowed(self));
        }
        let length = self.len();
        let mut octets = vec![IA5_STRING];
        match (u8::try_from(length), u16::try_from(length)) {
            (Ok(length @ 0..=127), _) => octets.push(length),
            (Ok(length), _) => octets.extend_from_slice(&[0x81, length]),
            (_, Ok(length)) => {
                octets.push(0x82);
                octets.extend_from_slice(&length.to_be_bytes());
            }
            _ => return Err(refuse("a value of at most 65,535 octets")),
        }
        octets.extend_from_slice(self);
        Ok(Octets::copied(&octets))
    }
}

pub(in super::super) fn text(octets: &[u8]) -> Result<Text<'_>> {
    Text::from_ascii(octets).ok_or_else(|| refuse("characters of 7 bits"))
}

impl<'a> To<'a, Text<'a>> for Str<'a> {
    fn to(&'a self, cx: &mut Context<'_>) -> Result<Text<'a>> {
        if cx.kind == Kind::Vendor { vendor_name(self) } else { text(self) }
    }
}

impl<'a> To<'a, Text<'a>> for Name<'a> {
    fn to(&'a self, _: &mut Context<'_>) -> Result<Text<'a>> {
        if self.iter().any(u8::is_ascii_uppercase) {
            return Ok(Text::copied(text(&self.to_ascii_lowercase())?.as_str()));
        }
        text(self)
    }
}

impl<'a> To<'a, Text<'a>> for [u8; 8] {
    fn to(&'a self, _: &mut Context<'_>) -> Result<Text<'a>> {
        text(self)
    }
}

/// `PkgdName`: package and item.
impl<'a> To<'a, [u8; 4]> for Name<'a> {
    fn to(&'a self, cx: &mut Context<'_>) -> Result<[u8; 4]> {
        let item = cx.item_kind();
        let (package, id) =
            cx.binary.packages.item_id(item, self).ok_or_else(|| {
                refuse("the name of something in a package that is known, or 0xNNNN/0xNNNN")
            })?;
        cx.item = Some((item, package, id));
        let ([a, b], [c, d]) = (package.to_be_bytes(), id.to_be_bytes());
        Ok([a, b, c, d])
    }
}

/// `Name`: a package, a parameter, or a digit map.
impl<'a> To<'a, [u8; 2]> for Name<'a> {
    fn to(&'a self, cx: &mut Context<'_>) -> Result<[u8; 2]> {
        let packages = &cx.binary.packages;
        match (cx.kind, cx.item) {
            (Kind::Package, _) => {
                let id =
                    packages.package_id(self).ok_or_else(|| refuse("a package that is known, or 0xNNNN"))?;
                Ok(id.to_be_bytes())
            }
            (Kind::Parameter, Some((item, package, id))) => {
                let id = packages.parameter_id(item, (package, id), self);
                Ok(id.ok_or_else(|| refuse("a parameter that is known, or 0xNNNN"))?.to_be_bytes())
            }
            _ => {
                // As OTP has it: the two characters behind `dialplan`; a name of two characters is those.
                let suffix = match self.len() {
                    8.. if self[..8].eq_ignore_ascii_case(DIAL_PLAN) => &self[8..],
                    _ => &self[..],
                };
                let is_plan = suffix.len() != self.len();
                match (is_plan, suffix) {
                    (true, [a, b]) => Ok([a.wrapping_sub(b'0'), b.wrapping_sub(b'0')]),
                    (true, [b]) => Ok([0, b.wrapping_sub(b'0')]),
                    (true, []) => Ok([0, 0]),
                    (false, [a, b]) => Ok([a.to_ascii_lowercase(), b.to_ascii_lowercase()]),
                    _ => Err(refuse("a digit map with a name of 2 characters, or dialplan and 2 digits")),
                }
            }
        }
    }
}
