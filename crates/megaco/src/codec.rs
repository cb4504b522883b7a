//! Codecs: what an encoding has to be able to do, and the encodings that we bring.

use std::fmt;

use crate::binary::{self, Binary, Rules};
use crate::etf;
use crate::model::{MId, MegacoMessage};
use crate::text::{self, Layout};
use crate::{Result, json};

/// An encoding of messages. Users may bring their own.
pub trait Codec: fmt::Debug + Sync {
    /// Writes a message.
    ///
    /// # Errors
    /// The encoding, or the message's version, cannot say it.
    fn encode(&self, message: &MegacoMessage<'_>, out: &mut Vec<u8>) -> Result<()>;

    /// Reads a message.
    ///
    /// # Errors
    /// The octets are no message.
    fn decode<'a>(&self, octets: &'a [u8]) -> Result<MegacoMessage<'a>>;

    /// Reads version and sender of a message whose rest may be wrong, so that an error can be sent back.
    ///
    /// # Errors
    /// These are wrong themselves.
    fn decode_version_and_mid<'a>(&self, octets: &'a [u8]) -> Result<(u8, MId<'a>)> {
        let message = self.decode(octets)?.mess;
        Ok((message.version, message.m_id))
    }
}

/// What a message begins with, behind its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// An error of the whole message.
    Error,
    /// A request.
    Request,
    /// A Pending.
    Pending,
    /// A reply.
    Reply,
    /// An acknowledgement of replies.
    Ack,
    /// An acknowledgement of a segment.
    Segment,
}

/// The encodings that we bring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Text that is easy to read.
    Pretty,
    /// Text in short.
    Compact,
    /// Erlang terms; `short` by `megaco_compressed`, `zlib` by `compressed`.
    Etf {
        /// Whether tags stand for shapes.
        short: bool,
        /// Whether zlib has its turn.
        zlib: bool,
    },
    /// BER of the module, values as OTP has them.
    Ber,
    /// Aligned PER of the module, values as OTP has them.
    Per,
    /// JSON.
    Json,
}

impl Encoding {
    /// All of them, with the names by which they are asked for.
    pub const ALL: &'static [(&'static str, Self)] = &[
        ("pretty", Self::Pretty),
        ("compact", Self::Compact),
        ("ber", Self::Ber),
        ("per", Self::Per),
        ("etf", Self::Etf { short: false, zlib: false }),
        ("etf-mc", Self::Etf { short: true, zlib: false }),
        ("etf-zlib", Self::Etf { short: false, zlib: true }),
        ("etf-mc-zlib", Self::Etf { short: true, zlib: true }),
        ("json", Self::Json),
    ];

    /// The encoding of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|known| known.0 == name).map(|known| known.1)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|known| known.1 == self).map_or("", |known| known.0)
    }

    /// The encoding of octets, told by their first ones.
    pub fn detect(octets: &[u8]) -> Self {
        let begin = octets.trim_ascii_start();
        match octets {
            [131, 80, ..] => Self::Etf { short: is_short(&etf::begin(octets)), zlib: true },
            [0x30, ..] => Self::Ber,
            // No authentication header and one of the versions below 4, or such a header.
            [0 | 1 | 0x80, ..] => Self::Per,
            [131, ..] => Self::Etf { short: is_short(octets), zlib: false },
            _ if begin.first() == Some(&b'{') => Self::Json,
            // A message, or the header that authenticates it.
            _ if begin.starts_with(b"!")
                || begin.get(..3).is_some_and(|au| au.eq_ignore_ascii_case(b"AU=")) =>
            {
                Self::Compact
            }
            _ => Self::Pretty,
        }
    }
}

/// Whether a term is a tuple that begins with a number.
fn is_short(term: &[u8]) -> bool {
    matches!(term, [131, 104, _, 97 | 98, ..])
}

impl Encoding {
    /// Writes a message; in the binary encodings with packages, levels and values as `binary` has them.
    ///
    /// # Errors
    /// The encoding, or the message's version, cannot say it.
    pub fn encode_with(self, binary: &Binary, message: &MegacoMessage<'_>, out: &mut Vec<u8>) -> Result<()> {
        match self {
            Self::Pretty => text::write_message(message, Layout::Pretty, out),
            Self::Compact => text::write_message(message, Layout::Compact, out),
            Self::Ber => binary.encode(message, Rules::Ber, out),
            Self::Per => binary.encode(message, Rules::Per, out),
            Self::Json => json::write_message(message, out),
            Self::Etf { zlib: true, short } => {
                // As much as most messages have.
                let mut plain = Vec::with_capacity(1 << 10);
                Self::Etf { zlib: false, short }.encode_with(binary, message, &mut plain)?;
                etf::deflate_into(&plain, out);
                Ok(())
            }
            Self::Etf { short: true, .. } => etf::write_short_message(message, out),
            Self::Etf { .. } => etf::write_message(message, out),
        }
    }

    /// Reads a message; in the binary encodings with packages, levels and values as `binary` has them, of which the message
    /// borrows names.
    ///
    /// # Errors
    /// The octets are no message.
    pub fn decode_with<'a>(self, binary: &'a Binary, octets: &'a [u8]) -> Result<MegacoMessage<'a>> {
        match self {
            Self::Pretty | Self::Compact => text::read_message(octets),
            Self::Ber => binary.decode(octets, Rules::Ber),
            Self::Per => binary.decode(octets, Rules::Per),
            Self::Json => json::read_message(octets),
            Self::Etf { short: false, .. } => etf::read_message(octets),
            Self::Etf { short: true, .. } => etf::read_short_message(octets),
        }
    }
}

impl Encoding {
    /// Reads which part a message begins with, also where later octets are wrong: an answer to a faulty message depends on
    /// it. `None` if that is wrong too, or in an encoding that has to be read in full (PER, ETF, JSON).
    pub fn opening(self, octets: &[u8]) -> Option<Opening> {
        match self {
            Self::Pretty | Self::Compact => text::read_opening(octets).ok(),
            Self::Ber => binary::read_opening(octets),
            Self::Per | Self::Etf { .. } | Self::Json => None,
        }
    }
}

/// With packages, levels and values as [`Binary::standard`] has them.
impl Codec for Encoding {
    fn encode(&self, message: &MegacoMessage<'_>, out: &mut Vec<u8>) -> Result<()> {
        self.encode_with(Binary::standard(), message, out)
    }

    fn decode<'a>(&self, octets: &'a [u8]) -> Result<MegacoMessage<'a>> {
        self.decode_with(Binary::standard(), octets)
    }

    fn decode_version_and_mid<'a>(&self, octets: &'a [u8]) -> Result<(u8, MId<'a>)> {
        match self {
            Self::Pretty | Self::Compact => text::read_version_and_mid(octets),
            Self::Etf { short, .. } => etf::read_version_and_mid(octets, *short),
            Self::Ber => binary::read_version_and_mid(octets, Rules::Ber),
            Self::Per => binary::read_version_and_mid(octets, Rules::Per),
            Self::Json => json::read_version_and_mid(octets),
        }
    }
}

/// Reads a message of whatever encoding its octets look like.
///
/// # Errors
/// They are no message of that encoding.
pub fn decode_any(octets: &[u8]) -> Result<MegacoMessage<'_>> {
    Encoding::detect(octets).decode(octets)
}
