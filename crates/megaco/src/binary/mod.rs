//! The binary encodings (H.248.1 annex A): BER, and aligned PER as OTP has it.

mod begin;
mod kinds;
pub(crate) mod part;
mod provisioned;
pub(crate) mod read;
mod termination;
pub(crate) mod write;

use std::sync::LazyLock;

use tercet_runtime::Tag;
use tercet_runtime::codec::ber;

use crate::codec::Opening;
use crate::model::{MId, MegacoMessage};
use crate::packages::Packages;
use crate::{Error, Result};
use read::{BerReader, Named, PerReader};

pub(crate) use kinds::{Marker, marked};
pub use provisioned::{BadTermination, Provisioned};
pub use termination::Levels;

/// What the name of a digit map begins with that is two digits.
const DIAL_PLAN: &[u8] = b"dialplan";

/// The two binary encodings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// The basic encoding rules (X.690); definite and indefinite lengths are read.
    Ber,
    /// The aligned packed encoding rules (X.691): no standard of H.248, and the shortest.
    Per,
}

/// Settings of the binary encodings that are not part of the modules.
#[derive(Clone, Debug, Default)]
pub struct Binary {
    /// The packages, by name and number.
    pub packages: Packages,
    /// The levels of names of terminations.
    pub levels: Levels,
    /// The terminations whose octets are configured, before those of the levels.
    pub provisioned: Provisioned,
    /// Whether values of properties and reasons stand in their OCTET STRINGs as encoded IA5String, as the comments of
    /// the module demand, or as they are, as OTP and most others have them.
    pub strict: bool,
}

static DEFAULT: LazyLock<Binary> = LazyLock::new(Binary::default);

impl Binary {
    /// Returns the settings with the packages of H.248.1, levels of 8 bits, and values as OTP writes them.
    pub fn standard() -> &'static Self {
        &DEFAULT
    }

    /// Writes a message.
    ///
    /// # Errors
    /// A name has no number, or the message has more than its version allows.
    pub fn encode(&self, message: &MegacoMessage<'_>, rules: Rules, out: &mut Vec<u8>) -> Result<()> {
        let version = message.mess.version;
        if !(1..=3).contains(&version) {
            return Err(Error::new(0, "version 1, 2 or 3"));
        }
        write::write(message, self, version, rules, out)
    }

    /// Reads a message, which borrows from its octets, and names from the packages.
    ///
    /// # Errors
    /// The octets are not a message of the module (with the place of the first fault), the model does not have one of its values
    /// (at 0, after all faults), or octets follow after the message.
    pub fn decode<'a>(&'a self, octets: &'a [u8], rules: Rules) -> Result<MegacoMessage<'a>> {
        let is_first = rules == Rules::Per && per_version(octets) == Some(1);
        let mut cx = read::Context::new(self, is_first);
        let read = match rules {
            Rules::Ber => read_ber(octets, &mut cx),
            Rules::Per => read_per(octets, &mut cx),
        };
        // What is wrong by the module comes first, wherever it is.
        let (message, length) = read.map_err(fault)?;
        if let Some(what) = cx.refused() {
            return Err(Error::new(0, what));
        }
        if !(1..=3).contains(&message.mess.version) {
            return Err(Error::new(0, "version 1, 2 or 3"));
        }
        if length < octets.len() {
            return Err(Error::new(length, "the end of the message"));
        }
        Ok(message)
    }
}

fn read_ber<'a>(
    octets: &'a [u8],
    cx: &mut read::Context<'a>,
) -> tercet_runtime::Result<(MegacoMessage<'a>, usize)> {
    let mut r = BerReader::new(octets, ber::Rules::Ber).with_strict_values(true);
    ber::expect(&r, Tag::SEQUENCE)?;
    let message = <MegacoMessage<'a> as Named<'a>>::ber(&mut r, Tag::SEQUENCE, cx)?;
    Ok((message, r.position()))
}

fn read_per<'a>(
    octets: &'a [u8],
    cx: &mut read::Context<'a>,
) -> tercet_runtime::Result<(MegacoMessage<'a>, usize)> {
    let mut r = PerReader::new(octets);
    let message = <MegacoMessage<'a> as Named<'a>>::per(&mut r, cx)?;
    Ok((message, r.finish()?))
}

/// Reads version and sender of a message whose rest may be wrong or missing, so that an error can be sent back.
///
/// # Errors
/// These are wrong themselves.
pub fn read_version_and_mid(octets: &[u8], rules: Rules) -> Result<(u8, MId<'_>)> {
    match rules {
        Rules::Ber => begin::of_ber(octets),
        Rules::Per => begin::of_per(octets),
    }
}

/// Reads which part a message in BER begins with, also where later octets are wrong.
pub(crate) fn read_opening(octets: &[u8]) -> Option<Opening> {
    begin::opening_of_ber(octets)
}

/// The version of a message in PER, which has to be known before the rest can be read: behind the bits that say whether
/// there is an authentication header and an extension, and behind that header.
fn per_version(octets: &[u8]) -> Option<u8> {
    let first = *octets.first()?;
    if first & 0x80 == 0 {
        return Some(first << 1 & 0x7f | octets.get(1)? >> 7);
    }
    // The header has 4 and 4 octets, then 12 to 32 with their number in 5 bits.
    let data = usize::from(octets.get(9)? >> 3) + 12;
    octets.get(10 + data).map(|octet| octet & 0x7f)
}

#[cold]
fn fault(error: impl Into<tercet_runtime::Error>) -> Error {
    let error = error.into();
    Error::new(usize::try_from(error.at()).unwrap_or(usize::MAX), error.kind().name())
}

/// The bits in which one of so many is numbered in PER.
pub(crate) const fn width(count: u32) -> u32 {
    u32::BITS - (count - 1).leading_zeros()
}
