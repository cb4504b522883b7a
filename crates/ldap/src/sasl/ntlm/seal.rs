//! The security layer of NTLM (MS-NLMP 3.4): every token is a signature and the encrypted message.
//!
//! In LDAP messages are encrypted also where integrity alone was negotiated: Samba and gss-ntlmssp take no others.

use rc4::{Rc4, StreamCipher as _};

use super::keys::{self, Key};
use crate::error::{Error, ErrorKind, Result};
use crate::sasl::layer::Layer;

/// Octets of a signature (2.2.2.9.2).
const SIGNATURE: usize = 16;
/// Octets of a token that we send.
const SENT: usize = 64 << 10;

/// The layer, in force around all that comes and goes.
#[derive(Debug)]
pub(super) struct Seal {
    sent: Direction,
    received: Direction,
    strength: u32,
    largest: usize,
}

impl Seal {
    /// Of the client, with a session's key, and the strength that was negotiated; tokens of the server have at most so many octets.
    pub(super) fn new(session: Key, strength: u32, largest: u32) -> Self {
        let [sent, received] = [true, false].map(|is_client| Direction::new(session, is_client));
        Self { sent, received, strength, largest: largest as usize }
    }
}

/// Keys and state of one direction.
pub(super) struct Direction {
    signing: Key,
    cipher: Rc4,
    sequence: u32,
}

impl std::fmt::Debug for Direction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Direction").field("sequence", &self.sequence).finish_non_exhaustive()
    }
}

impl Direction {
    pub(super) fn new(session: Key, is_client: bool) -> Self {
        let [signing, sealing] = keys::keys_of(session, is_client);
        Self { signing, cipher: keys::cipher(sealing), sequence: 0 }
    }

    /// The signature of a message (3.4.4.2); the message itself has gone through the cipher before.
    fn signature(&mut self, message: &[u8]) -> [u8; SIGNATURE] {
        let sequence = self.sequence.to_le_bytes();
        self.sequence = self.sequence.wrapping_add(1);
        let digest = keys::hmac(self.signing, &[&sequence, message]);
        let mut signature = [0; SIGNATURE];
        let (version, rest) = signature.split_at_mut(4);
        let (checksum, number) = rest.split_at_mut(8);
        version[0] = 1;
        checksum.copy_from_slice(&digest[..8]);
        self.cipher.apply_keystream(checksum);
        number.copy_from_slice(&sequence);
        signature
    }

    pub(super) fn wrap(&mut self, message: &[u8]) -> Vec<u8> {
        let mut token = [&[0; SIGNATURE], message].concat();
        if let Some((place, octets)) = token.split_first_chunk_mut::<SIGNATURE>() {
            self.cipher.apply_keystream(octets);
            *place = self.signature(message);
        }
        token
    }

    pub(super) fn unwrap(&mut self, token: &mut [u8]) -> Result<Vec<u8>> {
        let length = token.len();
        let Some((signature, message)) = token.split_first_chunk_mut::<SIGNATURE>() else {
            let text = format!("SASL: NTLM: a token of {length} bytes, too short for its signature");
            return Err(Error::new(ErrorKind::Auth, text));
        };
        let sequence = self.sequence;
        self.cipher.apply_keystream(message);
        if *signature != self.signature(message) {
            let text = format!(
                "SASL: NTLM: token {sequence} was changed on its way, or is not the one that comes next"
            );
            return Err(Error::new(ErrorKind::Auth, text));
        }
        Ok(message.to_vec())
    }
}

impl Layer for Seal {
    fn wrap(&mut self, buffer: &[u8]) -> Result<Vec<u8>> {
        Ok(self.sent.wrap(buffer))
    }

    fn unwrap(&mut self, token: &mut [u8]) -> Result<Vec<u8>> {
        self.received.unwrap(token)
    }

    fn largest_buffer(&self) -> usize {
        SENT - SIGNATURE
    }

    fn largest_token(&self) -> usize {
        self.largest
    }

    fn strength(&self) -> u32 {
        self.strength
    }
}
