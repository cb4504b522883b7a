//! SASL mechanisms (RFC 4422), step by step and without input and output.
//!
//! They are our own on the primitives of `ring`, which TLS needs anyway: the library that was looked at (rsasl 2.3) has
//! no DIGEST-MD5, no bound on the iterations that a server may ask of SCRAM, and brings seven crates more.
//! For Kerberos there is GSSAPI, over the system's library with the feature `gssapi`, and with the feature `ntlm` NTLM. These
//! have security layers; with the others, TLS is there for that.

mod digest_md5;
mod gssapi;
#[cfg(feature = "gssapi")]
mod kerberos;
mod layer;
#[cfg(feature = "ntlm")]
mod ntlm;
mod oauth;
mod scram;

pub use digest_md5::DigestMd5;
pub use gssapi::{GssAbilities, GssContext, GssStep, Gssapi};
#[cfg(feature = "gssapi")]
pub use kerberos::Kerberos;
pub use layer::{Layer, Protection};
#[cfg(feature = "ntlm")]
pub use ntlm::Ntlm;
pub use oauth::OauthBearer;
pub use scram::{Hash, Scram};

use crate::error::{Error, ErrorKind, Result};

/// One exchange of a mechanism, of the client's side. Implement it for mechanisms of your own.
pub trait Mechanism: std::fmt::Debug + Send + 'static {
    /// The registered name.
    fn name(&self) -> &'static str;

    /// Tells what the connection knows before the first step.
    fn begin(&mut self, _: &Begin) {}

    /// The next response; the first has no challenge. `None` sends no credentials at all.
    ///
    /// # Errors
    /// The challenge is not one of the mechanism.
    fn step(&mut self, challenge: Option<&[u8]>) -> Result<Option<Vec<u8>>>;

    /// Asked after each step: what stands around all octets from the server's `success` on, if that is its answer to this step.
    fn layer(&mut self) -> Option<Box<dyn Layer>> {
        None
    }

    /// The server has said `success`, perhaps with a last word.
    ///
    /// # Errors
    /// The server has not shown that it knows the password, where the mechanism has it so.
    fn finish(&mut self, last: Option<&[u8]>) -> Result<()> {
        if last.is_some_and(|last| !last.is_empty()) {
            Err(auth("an answer that was not asked for"))
        } else {
            Ok(())
        }
    }

    /// Whether somebody who reads the exchange has the password.
    fn shows_password(&self) -> bool {
        false
    }
}

/// What a connection knows before an exchange.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Begin {
    /// The host that it was asked to go to; of a socket of Unix, nothing.
    pub host: String,
    /// What its channel is bound to.
    pub binding: Option<ChannelBinding>,
    /// Iterations of a digest that the server may ask for.
    pub iterations: u32,
    /// How strongly it is protected already: 0 not at all, 1 against changes, TLS 128.
    pub strength: u32,
}

/// What a channel is bound to (RFC 5056).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChannelBinding {
    /// The digest of the server's certificate (RFC 5929 clause 4).
    ServerEndPoint(Vec<u8>),
}

pub(crate) fn auth(message: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Auth, format!("SASL: {message}"))
}

/// EXTERNAL (RFC 4422 appendix A): who somebody is, TLS or the socket has told.
#[derive(Clone, Debug, Default)]
pub struct External {
    authorization: String,
}

impl External {
    /// As this authorization identity, or if it is empty as the server sees fit.
    pub fn new(authorization: impl Into<String>) -> Self {
        Self { authorization: authorization.into() }
    }
}

impl Mechanism for External {
    fn name(&self) -> &'static str {
        "EXTERNAL"
    }

    fn step(&mut self, _: Option<&[u8]>) -> Result<Option<Vec<u8>>> {
        Ok(Some(self.authorization.clone().into_bytes()))
    }
}

/// PLAIN (RFC 4616).
#[derive(Clone)]
pub struct Plain {
    authorization: String,
    user: String,
    password: String,
}

impl Plain {
    /// With a user and a password; `authorization` is empty for the user's own.
    pub fn new(
        authorization: impl Into<String>,
        user: impl Into<String>,
        password: impl Into<String>,
    ) -> Self {
        Self { authorization: authorization.into(), user: user.into(), password: password.into() }
    }
}

impl std::fmt::Debug for Plain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Plain").field("user", &self.user).finish_non_exhaustive()
    }
}

impl Mechanism for Plain {
    fn name(&self) -> &'static str {
        "PLAIN"
    }

    fn step(&mut self, _: Option<&[u8]>) -> Result<Option<Vec<u8>>> {
        if [&self.authorization, &self.user, &self.password].iter().any(|text| text.contains('\0')) {
            return Err(auth("a NUL in user or password"));
        }
        // RFC 4616 clause 2: both have one character at least. A server may take an empty password for any.
        if self.user.is_empty() || self.password.is_empty() {
            return Err(Error::new(ErrorKind::Usage, "SASL PLAIN: an empty user or an empty password"));
        }
        Ok(Some(format!("{}\0{}\0{}", self.authorization, self.user, self.password).into_bytes()))
    }

    fn shows_password(&self) -> bool {
        true
    }
}

/// Random letters and digits, `,` and `=` not among them.
pub(crate) fn nonce() -> Result<String> {
    use base64::Engine as _;
    let mut octets = [0; 24];
    ring::rand::SecureRandom::fill(&ring::rand::SystemRandom::new(), &mut octets)
        .map_err(|_| auth("the system has no random bytes"))?;
    Ok(base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(octets))
}
