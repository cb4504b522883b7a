//! SCRAM (RFC 5802, RFC 7677), with channel binding where TLS and the user have it.

use std::num::NonZeroU32;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::{digest, hmac, pbkdf2};

use super::{Begin, ChannelBinding, Mechanism, auth, nonce};
use crate::error::Result;

/// The digest of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hash {
    /// SCRAM-SHA-1
    Sha1,
    /// SCRAM-SHA-256
    Sha256,
}

/// An exchange of SCRAM.
pub struct Scram {
    hash: Hash,
    authorization: String,
    user: String,
    password: String,
    /// Whether the exchange is bound to the channel, the variant whose name ends in `-PLUS`.
    bound: bool,
    binding: Option<ChannelBinding>,
    iterations: u32,
    nonce: String,
    state: State,
}

enum State {
    Begin,
    First { bare: String },
    Final { signature: Vec<u8> },
    Done,
}

impl std::fmt::Debug for Scram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scram").field("name", &self.name()).field("user", &self.user).finish_non_exhaustive()
    }
}

impl Scram {
    /// With a user and a password; `authorization` is empty for the user's own. Passwords are taken as they are, which
    /// for ASCII and composed letters is what SASLprep makes of them.
    pub fn new(
        hash: Hash,
        authorization: impl Into<String>,
        user: impl Into<String>,
        password: impl Into<String>,
    ) -> Self {
        Self {
            hash,
            authorization: authorization.into(),
            user: user.into(),
            password: password.into(),
            bound: false,
            binding: None,
            iterations: 100_000,
            nonce: String::new(),
            state: State::Begin,
        }
    }

    /// Binds the exchange to the TLS channel (`-PLUS`).
    #[must_use]
    pub const fn bound(mut self) -> Self {
        self.bound = true;
        self
    }

    fn header(&self) -> Result<(String, Vec<u8>)> {
        let authorization = if self.authorization.is_empty() {
            String::new()
        } else {
            format!("a={}", name(&self.authorization))
        };
        match (&self.binding, self.bound) {
            (Some(ChannelBinding::ServerEndPoint(data)), true) => {
                Ok((format!("p=tls-server-end-point,{authorization},"), data.clone()))
            }
            (None, true) => Err(auth("no TLS channel to bind to")),
            // `y` would say that we could bind and believe the server cannot; who does not ask for it does not look.
            (_, false) => Ok((format!("n,{authorization},"), Vec::new())),
        }
    }

    fn respond(&mut self, bare: &str, challenge: &str) -> Result<Vec<u8>> {
        let (mut server_nonce, mut salt, mut iterations) = (None, None, None);
        for field in challenge.split(',') {
            match field.split_once('=') {
                Some(("m", _)) => return Err(auth("the server asks for an extension")),
                Some(("r", value)) => server_nonce = Some(value),
                Some(("s", value)) => salt = STANDARD.decode(value).ok(),
                Some(("i", value)) => iterations = value.parse::<u64>().ok(),
                Some(("e", value)) => return Err(auth(format_args!("the server reports {value:.100}"))),
                _ => {}
            }
        }
        let (Some(server_nonce), Some(salt), Some(iterations)) = (server_nonce, salt, iterations) else {
            return Err(auth("the server's first message lacks nonce, salt or iterations"));
        };
        if !server_nonce.starts_with(&self.nonce) || server_nonce.len() == self.nonce.len() {
            return Err(auth("the server's nonce does not continue ours"));
        }
        let limit = self.iterations;
        let iterations =
            u32::try_from(iterations).ok().filter(|count| *count <= limit).and_then(NonZeroU32::new);
        let iterations =
            iterations.ok_or_else(|| auth(format_args!("more than {limit} iterations, or none")))?;
        let (header, data) = self.header()?;
        let mut binding = header.into_bytes();
        binding.extend_from_slice(&data);
        let without_proof = format!("c={},r={server_nonce}", STANDARD.encode(binding));
        let message = format!("{bare},{challenge},{without_proof}");

        let salted = self.hash.salted(self.password.as_bytes(), &salt, iterations);
        let client_key = self.hash.hmac(&salted, b"Client Key");
        let stored_key = self.hash.digest(&client_key);
        let client_signature = self.hash.hmac(&stored_key, message.as_bytes());
        let proof: Vec<u8> =
            client_key.iter().zip(&client_signature).map(|(key, signature)| key ^ signature).collect();
        let server_key = self.hash.hmac(&salted, b"Server Key");
        self.state = State::Final { signature: self.hash.hmac(&server_key, message.as_bytes()) };
        Ok(format!("{without_proof},p={}", STANDARD.encode(proof)).into_bytes())
    }

    fn check(&mut self, last: &[u8]) -> Result<()> {
        let State::Final { signature } = std::mem::replace(&mut self.state, State::Done) else {
            return Err(auth("the exchange ends too early"));
        };
        let last = std::str::from_utf8(last).map_err(|_| auth("the server's last message is not UTF-8"))?;
        let value = last.split(',').find_map(|field| field.strip_prefix("v="));
        let said = value.and_then(|value| STANDARD.decode(value).ok()).unwrap_or_default();
        if said == signature {
            Ok(())
        } else {
            Err(auth("the server does not show that it knows the password"))
        }
    }
}

impl Mechanism for Scram {
    fn name(&self) -> &'static str {
        match (self.hash, self.bound) {
            (Hash::Sha1, false) => "SCRAM-SHA-1",
            (Hash::Sha1, true) => "SCRAM-SHA-1-PLUS",
            (Hash::Sha256, false) => "SCRAM-SHA-256",
            (Hash::Sha256, true) => "SCRAM-SHA-256-PLUS",
        }
    }

    fn begin(&mut self, begin: &Begin) {
        self.binding.clone_from(&begin.binding);
        self.iterations = begin.iterations;
    }

    fn step(&mut self, challenge: Option<&[u8]>) -> Result<Option<Vec<u8>>> {
        let challenge = challenge.unwrap_or_default();
        match std::mem::replace(&mut self.state, State::Done) {
            State::Begin => {
                if self.nonce.is_empty() {
                    self.nonce = nonce()?;
                }
                let bare = format!("n={},r={}", name(&self.user), self.nonce);
                let first = format!("{}{bare}", self.header()?.0);
                self.state = State::First { bare };
                Ok(Some(first.into_bytes()))
            }
            State::First { bare } => {
                let challenge =
                    std::str::from_utf8(challenge).map_err(|_| auth("a challenge that is not UTF-8"))?;
                self.respond(&bare, challenge).map(Some)
            }
            state @ State::Final { .. } => {
                // Servers may send their signature as a challenge of its own, which is answered with nothing.
                self.state = state;
                self.check(challenge)?;
                Ok(Some(Vec::new()))
            }
            State::Done => Err(auth("a challenge after the end")),
        }
    }

    fn finish(&mut self, last: Option<&[u8]>) -> Result<()> {
        match self.state {
            State::Done if last.is_none_or(<[u8]>::is_empty) => Ok(()),
            _ => self.check(last.unwrap_or_default()),
        }
    }
}

/// A user name, `=` and `,` written as RFC 5802 5.1 has it.
fn name(text: &str) -> String {
    text.replace('=', "=3D").replace(',', "=2C")
}

impl Hash {
    fn salted(self, password: &[u8], salt: &[u8], iterations: NonZeroU32) -> Vec<u8> {
        let (algorithm, length) = match self {
            Self::Sha1 => (pbkdf2::PBKDF2_HMAC_SHA1, digest::SHA1_OUTPUT_LEN),
            Self::Sha256 => (pbkdf2::PBKDF2_HMAC_SHA256, digest::SHA256_OUTPUT_LEN),
        };
        let mut out = vec![0; length];
        pbkdf2::derive(algorithm, iterations, salt, password, &mut out);
        out
    }

    fn hmac(self, key: &[u8], message: &[u8]) -> Vec<u8> {
        let algorithm = match self {
            Self::Sha1 => hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY,
            Self::Sha256 => hmac::HMAC_SHA256,
        };
        hmac::sign(&hmac::Key::new(algorithm, key), message).as_ref().to_vec()
    }

    fn digest(self, octets: &[u8]) -> Vec<u8> {
        let algorithm = match self {
            Self::Sha1 => &digest::SHA1_FOR_LEGACY_USE_ONLY,
            Self::Sha256 => &digest::SHA256,
        };
        digest::digest(algorithm, octets).as_ref().to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The exchanges of RFC 5802 clause 5 and RFC 7677 clause 3.
    #[test]
    fn examples() {
        for (hash, nonce, challenge, response, last) in [
            (
                Hash::Sha1,
                "fyko+d2lbbFgONRv9qkxdawL",
                "r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,s=QSXCR+Q6sek8bf92,i=4096",
                "c=biws,r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,p=v0X8v3Bz2T0CJGbJQyF0X+HI4Ts=",
                "v=rmF9pqV8S7suAoZWja4dJRkFsKQ=",
            ),
            (
                Hash::Sha256,
                "rOprNGfwEbeRWgbNEkqO",
                "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
                "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=",
                "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=",
            ),
        ] {
            let mut scram = Scram::new(hash, "", "user", "pencil");
            scram.nonce = nonce.to_owned();
            let first = scram.step(None).unwrap().unwrap();
            assert_eq!(first, format!("n,,n=user,r={nonce}").into_bytes());
            let answer = scram.step(Some(challenge.as_bytes())).unwrap().unwrap();
            assert_eq!(String::from_utf8(answer).unwrap(), response);
            scram.finish(Some(last.as_bytes())).unwrap();
        }
    }

    #[test]
    fn servers_that_lie() {
        let begun = || {
            let mut scram = Scram::new(Hash::Sha256, "", "user", "pencil");
            scram.nonce = "abc".to_owned();
            scram.step(None).unwrap();
            scram
        };
        for challenge in [
            "r=abc,s=QQ==,i=4096",
            "r=xyz,s=QQ==,i=4096",
            "r=abcd,s=QQ==,i=0",
            "r=abcd,s=QQ==,i=2147483648",
            "r=abcd,s=QQ==,i=100001",
            "r=abcd,i=1",
            "m=x,r=abcd,s=QQ==,i=1",
            "",
            "e=no",
        ] {
            assert!(begun().step(Some(challenge.as_bytes())).is_err(), "{challenge}");
        }
        for last in ["v=AAAA", "", "e=other-error"] {
            let mut scram = begun();
            scram.step(Some(b"r=abcd,s=QQ==,i=1")).unwrap();
            assert!(scram.finish(Some(last.as_bytes())).is_err(), "{last}");
        }
        assert!(begun().finish(None).is_err());
        assert!(Scram::new(Hash::Sha1, "", "u", "p").bound().step(None).is_err());
    }
}
