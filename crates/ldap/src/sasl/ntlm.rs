//! NTLM (MS-NLMP), of which NTLMv2 alone: what a weaker answer would show is worth a password.
//!
//! It is our own: the library that was looked at (sspi 0.23) needs 180 packages more.

mod keys;
mod messages;
mod seal;

use std::time::{SystemTime, UNIX_EPOCH};

use super::layer::{LARGEST, Layer, Protection};
use super::{Begin, ChannelBinding, Mechanism, auth};
use crate::error::{Error, ErrorKind, Result};
use keys::{Challenges, Key};
use messages::{Authenticate, Challenge, flag};
use seal::Seal;

/// Octets of a challenge.
const CHALLENGE: usize = 64 << 10;
/// Octets of a name, of which Windows allows less.
const NAME: usize = 2048;
/// What is asked for in any case.
const FLAGS: u32 = flag::UNICODE | flag::REQUEST_TARGET | flag::NTLM | flag::ALWAYS_SIGN | flag::EXTENDED;
/// What a layer needs besides the flag of its own.
const KEYS: u32 = flag::EXTENDED | flag::KEYS_OF_128 | flag::KEY_EXCHANGE;

/// An exchange of NTLM. The server learns who the user is and shows nothing of itself: that it is the right one, TLS tells.
///
/// ```
/// use tercet_ldap::sasl::{Ntlm, Protection};
///
/// // Of Active Directory and Samba, with nothing less than encryption; of others, without `in_spnego`.
/// let mechanism = Ntlm::new("EXAMPLE\\ada", "engine").in_spnego().with_protection(Protection::DEFAULT.at_least(128));
/// # drop(mechanism);
/// ```
pub struct Ntlm {
    user: String,
    domain: String,
    password: String,
    workstation: String,
    protection: Protection,
    /// Whether it goes under the name of GSS-SPNEGO, and may have a layer.
    in_spnego: bool,
    /// What protects the connection already.
    outside: u32,
    /// The service's principal name, and what the channel is bound to.
    service: String,
    binding: Key,
    state: State,
    layer: Option<Seal>,
}

#[derive(Debug)]
enum State {
    Begin,
    /// This is what was asked for.
    Asked(Vec<u8>),
    Answered,
    Failed,
}

impl std::fmt::Debug for Ntlm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ntlm").field("user", &self.user).field("domain", &self.domain).finish_non_exhaustive()
    }
}

impl Ntlm {
    /// With a user, `DOMAIN\user`, `user@domain` or `user`, and a password.
    pub fn new(user: impl Into<String>, password: impl Into<String>) -> Self {
        let user = user.into();
        let (domain, user) = match user.split_once('\\') {
            Some((domain, user)) => (domain.to_owned(), user.to_owned()),
            None => (String::new(), user),
        };
        Self {
            user,
            domain,
            password: password.into(),
            workstation: String::new(),
            protection: Protection::default(),
            in_spnego: false,
            outside: 0,
            service: String::new(),
            binding: Key::default(),
            state: State::Begin,
            layer: None,
        }
    }

    /// The user's domain.
    #[must_use]
    pub fn domain(mut self, domain: impl Into<String>) -> Self {
        self.domain = domain.into();
        self
    }

    /// The name of this machine, which goes into the server's log; empty unless told.
    #[must_use]
    pub fn workstation(mut self, name: impl Into<String>) -> Self {
        self.workstation = name.into();
        self
    }

    /// Under the name of GSS-SPNEGO, as Active Directory wants it (MS-ADTS 5.1.1.1.2): with that there are security layers.
    #[must_use]
    pub const fn in_spnego(mut self) -> Self {
        self.in_spnego = true;
        self
    }

    /// Which layers may be negotiated: of strength 1, for integrity, and 128. Both encrypt in LDAP, the former without a promise.
    #[must_use]
    pub const fn with_protection(mut self, protection: Protection) -> Self {
        self.protection = protection;
        self
    }

    /// The strongest layer that is wanted.
    fn max(&self) -> u32 {
        let Protection { max, buffer, .. } = self.protection;
        let wanted = max.unwrap_or(if self.outside > 0 { 0 } else { u32::MAX });
        if self.in_spnego && buffer > 0 { wanted } else { 0 }
    }

    fn negotiate(&mut self) -> Result<Vec<u8>> {
        let names = [&self.user, &self.domain, &self.workstation, &self.service];
        if self.user.is_empty() || names.iter().any(|name| name.len() > NAME) {
            return Err(auth(format_args!("NTLM: a user, and names of at most {NAME} bytes, expected")));
        }
        let layer = match self.max() {
            0 => 0,
            1..128 => KEYS | flag::SIGN,
            128.. => KEYS | flag::SIGN | flag::SEAL,
        };
        let message = messages::negotiate(FLAGS | layer);
        self.state = State::Asked(message.clone());
        Ok(message)
    }

    /// The flags that hold, and the strength of the layer that they stand for.
    fn choose(&self, offered: u32) -> Result<(u32, u32)> {
        if offered & flag::UNICODE == 0 {
            return Err(auth("NTLM: the server does not speak Unicode"));
        }
        let has = |flags: u32| offered & flags == flags;
        let (layer, strength) = match self.max() {
            128.. if has(KEYS | flag::SIGN | flag::SEAL) => (KEYS | flag::SIGN | flag::SEAL, 128),
            1.. if has(KEYS | flag::SIGN) => (KEYS | flag::SIGN, 1),
            _ => (0, 0),
        };
        let (min, reached) = (self.protection.min, strength.max(self.outside));
        if reached < min {
            return Err(auth(format_args!(
                "NTLM: a strength of at least {min} is asked for, that of the connection would be {reached}"
            )));
        }
        Ok((offered & (FLAGS | flag::TARGET_INFO) | layer, strength))
    }

    fn authenticate(&mut self, asked: &[u8], octets: &[u8], chance: &Chance) -> Result<Vec<u8>> {
        let challenge = Challenge::decode(octets)?;
        let (flags, strength) = self.choose(challenge.flags)?;
        let timestamp = challenge.timestamp();
        let target = challenge.answer(timestamp.is_some(), self.binding, &messages::unicode(&self.service));
        let key = keys::response_key(&self.user, &self.domain, &self.password);
        let (response, base) = Challenges {
            server: challenge.nonce,
            client: chance.nonce,
            time: timestamp.unwrap_or(chance.time),
            target: &target,
        }
        .response(key);
        let (session, session_key) = if flags & flag::KEY_EXCHANGE == 0 {
            (base, Vec::new())
        } else {
            (chance.session, keys::encrypted(base, chance.session).to_vec())
        };
        let message = Authenticate {
            nt_response: response,
            domain: messages::unicode(&self.domain),
            user: messages::unicode(&self.user),
            workstation: messages::unicode(&self.workstation),
            session_key,
            flags,
        };
        let mut message = message.encode()?;
        if timestamp.is_some() {
            let mic = keys::hmac(session, &[asked, octets, &message]);
            messages::put_mic(&mut message, mic);
        }
        if strength > 0 {
            self.layer = Some(Seal::new(session, strength, self.protection.buffer.min(LARGEST)));
        }
        self.state = State::Answered;
        Ok(message)
    }
}

impl Mechanism for Ntlm {
    fn name(&self) -> &'static str {
        if self.in_spnego { "GSS-SPNEGO" } else { "NTLM" }
    }

    fn begin(&mut self, begin: &Begin) {
        self.outside = begin.strength;
        if !begin.host.is_empty() {
            self.service = format!("ldap/{}", begin.host);
        }
        // The application data is the binding with its name in front (RFC 5056 clause 2.1).
        self.binding = begin.binding.as_ref().map_or_else(Key::default, |binding| {
            let ChannelBinding::ServerEndPoint(digest) = binding;
            keys::binding(&[b"tls-server-end-point:", digest.as_slice()].concat())
        });
    }

    fn step(&mut self, challenge: Option<&[u8]>) -> Result<Option<Vec<u8>>> {
        let octets = challenge.unwrap_or_default();
        if octets.len() > CHALLENGE {
            let message =
                format!("SASL: NTLM: a challenge of {} bytes, {CHALLENGE} are allowed", octets.len());
            return Err(Error::new(ErrorKind::Limit, message));
        }
        match std::mem::replace(&mut self.state, State::Failed) {
            State::Begin => self.negotiate(),
            State::Asked(asked) => self.authenticate(&asked, octets, &Chance::new()?),
            State::Answered | State::Failed => Err(auth("NTLM: a challenge after the end")),
        }
        .map(Some)
    }

    fn layer(&mut self) -> Option<Box<dyn Layer>> {
        self.layer.take().map(|layer| Box::new(layer) as _)
    }

    fn finish(&mut self, last: Option<&[u8]>) -> Result<()> {
        if !matches!(self.state, State::Answered) {
            return Err(auth("NTLM: the server ends the exchange before its challenge"));
        }
        if last.is_some_and(|last| !last.is_empty()) {
            return Err(auth("NTLM: an answer that was not asked for"));
        }
        Ok(())
    }
}

/// What differs from one exchange to the next.
#[derive(Debug)]
struct Chance {
    nonce: [u8; 8],
    session: Key,
    /// Tenths of microseconds since 1601.
    time: u64,
}

/// Seconds from 1601 to 1970.
const EPOCH: u64 = 11_644_473_600;

impl Chance {
    fn new() -> Result<Self> {
        let mut octets = [0; 24];
        ring::rand::SecureRandom::fill(&ring::rand::SystemRandom::new(), &mut octets)
            .map_err(|_| auth("the system has no random bytes"))?;
        let (mut nonce, mut session) = ([0; 8], [0; 16]);
        nonce.copy_from_slice(&octets[..8]);
        session.copy_from_slice(&octets[8..]);
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let time = (since.as_secs() + EPOCH) * 10_000_000 + u64::from(since.subsec_nanos() / 100);
        Ok(Self { nonce, session, time })
    }
}

#[cfg(test)]
mod tests;
