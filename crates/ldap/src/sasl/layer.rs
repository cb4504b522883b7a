//! Security layers (RFC 4422 clause 3.7): what a mechanism has negotiated stands around every buffer from then on.

use crate::error::Result;

/// A layer in force. Each buffer goes over the connection as four octets of length and a token.
pub trait Layer: std::fmt::Debug + Send + 'static {
    /// The token for a buffer of at most [`Layer::largest_buffer`] octets.
    ///
    /// # Errors
    /// The mechanism fails; the connection cannot be used any more.
    fn wrap(&mut self, buffer: &[u8]) -> Result<Vec<u8>>;

    /// The buffer of a token, whose octets may be changed on the way.
    ///
    /// # Errors
    /// The token was changed on its way, is there twice, or one in front of it is missing.
    fn unwrap(&mut self, token: &mut [u8]) -> Result<Vec<u8>>;

    /// Octets that one token may carry to the server.
    fn largest_buffer(&self) -> usize;

    /// Octets that a token of the server may have.
    fn largest_token(&self) -> usize;

    /// The strength: 1 for integrity alone, more for confidentiality too.
    fn strength(&self) -> u32;
}

/// Which layers may be negotiated, by their strength: 0 is none, 1 integrity, 56 and more are confidentiality too. It is
/// what OpenLDAP's tools call `minssf`, `maxssf` and `maxbufsize`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Protection {
    /// The least strength, TLS counted in (as 128); 0 unless told.
    pub min: u32,
    /// The greatest strength; unless told, it is 0 where the connection is protected already, and has no limit elsewhere.
    pub max: Option<u32>,
    /// Octets that a token of the server may have, at most 16,777,215, which is what it is unless told; with 0 there is no
    /// layer. Memory is taken as they come.
    pub buffer: u32,
}

/// The size has three octets (RFC 4752 clause 3.3).
pub(super) const LARGEST: u32 = 0xFF_FFFF;

impl Default for Protection {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl Protection {
    /// What holds unless told.
    pub const DEFAULT: Self = Self { min: 0, max: None, buffer: LARGEST };

    /// At least this strength.
    #[must_use]
    pub const fn at_least(mut self, strength: u32) -> Self {
        self.min = strength;
        self
    }

    /// At most this strength.
    #[must_use]
    pub const fn at_most(mut self, strength: u32) -> Self {
        self.max = Some(strength);
        self
    }

    /// Tokens of the server have at most so many octets.
    #[must_use]
    pub const fn buffer(mut self, octets: u32) -> Self {
        self.buffer = octets;
        self
    }
}
