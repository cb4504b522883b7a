//! What NTLM derives from a password, and under the session's keys (MS-NLMP 3.3.2, 3.4).

use hmac::{Hmac, KeyInit as _, Mac as _};
use md4::Md4;
use md5::{Digest as _, Md5};
use rc4::{Rc4, StreamCipher as _};

use super::messages::unicode;

/// A digest, and any key.
pub(super) type Key = [u8; 16];

/// The key for responses, from the password (NTOWFv2).
pub(super) fn response_key(user: &str, domain: &str, password: &str) -> Key {
    let password: Key = Md4::digest(unicode(password)).into();
    hmac(password, &[&unicode(&uppercase(user)), &unicode(domain)])
}

/// The upper case of letters that have one of a single letter, as Windows has it.
fn uppercase(text: &str) -> String {
    let upper = |letter: char| {
        let mut letters = letter.to_uppercase();
        if letters.len() == 1 { letters.next().unwrap_or(letter) } else { letter }
    };
    text.chars().map(upper).collect()
}

/// What a response is made of besides the password.
#[derive(Debug)]
pub(super) struct Challenges<'c> {
    pub(super) server: [u8; 8],
    pub(super) client: [u8; 8],
    /// Tenths of microseconds since 1601.
    pub(super) time: u64,
    /// The server's AV_PAIRs and ours.
    pub(super) target: &'c [u8],
}

impl Challenges<'_> {
    /// The response of NTLMv2 (NTProofStr and what it is about), and the session base key.
    pub(super) fn response(&self, key: Key) -> (Vec<u8>, Key) {
        let time = self.time.to_le_bytes();
        let about =
            [&[1, 1, 0, 0, 0, 0, 0, 0], &time[..], &self.client, &[0; 4], self.target, &[0; 4]].concat();
        let proof = hmac(key, &[&self.server, &about]);
        ([proof.as_slice(), &about].concat(), hmac(key, &[&proof]))
    }
}

/// HMAC-MD5 over parts.
pub(super) fn hmac(key: Key, parts: &[&[u8]]) -> Key {
    // HMAC fills keys up with zeros itself.
    let mut block = [0; 64];
    block[..key.len()].copy_from_slice(&key);
    let mut hmac = Hmac::<Md5>::new(&block.into());
    for part in parts {
        hmac.update(part);
    }
    hmac.finalize().into_bytes().into()
}

/// RC4 from its begin.
pub(super) fn cipher(key: Key) -> Rc4 {
    // RC4 repeats its key, so that a key twice is that key.
    let mut twice = [0; 32];
    twice[..16].copy_from_slice(&key);
    twice[16..].copy_from_slice(&key);
    rc4::KeyInit::new(&twice.into())
}

/// RC4 over some octets alone.
pub(super) fn encrypted(key: Key, mut octets: Key) -> Key {
    cipher(key).apply_keystream(&mut octets);
    octets
}

/// The digest of application data that a channel is bound to, with empty addresses around it (RFC 2744 3.11).
pub(super) fn binding(data: &[u8]) -> Key {
    let length = u32::try_from(data.len()).unwrap_or(u32::MAX).to_le_bytes();
    Md5::new().chain_update([0; 16]).chain_update(length).chain_update(data).finalize().into()
}

/// The signing and the sealing key of one direction (3.4.5.2, 3.4.5.3), for keys of 128 bits.
pub(super) fn keys_of(session: Key, is_client: bool) -> [Key; 2] {
    let direction = if is_client { "client-to-server" } else { "server-to-client" };
    ["signing", "sealing"].map(|purpose| {
        let magic = format!("session key to {direction} {purpose} key magic constant\0");
        Md5::new().chain_update(session).chain_update(magic).finalize().into()
    })
}
