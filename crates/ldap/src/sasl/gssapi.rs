//! GSSAPI (RFC 4752): Kerberos V5 in SASL. Contexts and tokens are those of a library behind [`GssContext`].

use super::layer::{LARGEST, Layer, Protection};
use super::{Begin, ChannelBinding, Mechanism, auth};
use crate::error::{Error, ErrorKind, Result};

/// A security context of GSS-API (RFC 2743) on the side that begins it. With the feature `gssapi` there is `Kerberos`, which is
/// the system's; implement it for another library.
pub trait GssContext: std::fmt::Debug + Send + 'static {
    /// Tells the service's host, and the application data of the channel bindings, before the first step.
    ///
    /// # Errors
    /// There are no credentials, or the host is none.
    fn begin(&mut self, host: &str, binding: Option<&[u8]>) -> Result<()>;

    /// The next token for the peer (`GSS_Init_sec_context`); the first step has none of the peer.
    ///
    /// # Errors
    /// The context cannot be established.
    fn step(&mut self, token: Option<&[u8]>) -> Result<GssStep>;

    /// A token around a message (`GSS_Wrap`).
    ///
    /// # Errors
    /// The library's.
    fn wrap(&mut self, confidential: bool, message: &[u8]) -> Result<Vec<u8>>;

    /// The message of a token (`GSS_Unwrap`), whose octets are of no use then: MIT's Kerberos turns them around in their place.
    ///
    /// # Errors
    /// The token is not the next one of the peer.
    fn unwrap(&mut self, token: &mut [u8]) -> Result<Vec<u8>>;
}

/// What a step gives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GssStep {
    /// For the peer; it may be empty.
    pub token: Vec<u8>,
    /// What the context can do, once it is established.
    pub established: Option<GssAbilities>,
}

/// What an established context can do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GssAbilities {
    /// The peer has shown who it is.
    pub mutual: bool,
    /// Messages can be wrapped so that changes are found, and found to be in sequence.
    pub integrity: bool,
    /// Messages can be encrypted.
    pub confidentiality: bool,
}

/// Octets of a token of the exchange.
const TOKEN: usize = 64 << 10;
/// Octets of a token that we send under a layer.
const SENT: usize = 64 << 10;
/// What a token has at most besides the message: Kerberos needs less than 100 octets (RFC 4121, RFC 1964).
const AROUND: usize = 256;
/// Bits of the layers (RFC 4752 clause 3.3).
const NONE: u8 = 1;
const INTEGRITY: u8 = 2;
const CONFIDENTIALITY: u8 = 4;

/// An exchange of GSSAPI. The server has to show who it is, always.
///
/// ```
/// # #[cfg(feature = "gssapi")] {
/// use tercet_ldap::sasl::{Gssapi, Kerberos, Protection};
///
/// // The tickets that `kinit` got, and nothing less than encryption.
/// let mechanism = Gssapi::new(Kerberos::new(), "").with_protection(Protection::default().at_least(56));
/// # drop(mechanism);
/// # }
/// ```
#[derive(Debug)]
pub struct Gssapi {
    /// Until a layer takes it.
    context: Option<Box<dyn GssContext>>,
    authorization: String,
    protection: Protection,
    /// What protects the connection already.
    outside: u32,
    host: String,
    binding: Option<Vec<u8>>,
    state: State,
    layer: Option<Box<dyn Layer>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Begin,
    /// The context is being established.
    Context,
    /// It is, and the server says next which layers it has.
    Offer(GssAbilities),
    /// It has been told which one we take.
    Answered,
    Failed,
}

impl Gssapi {
    /// Over a context; `authorization` is empty for the user's own.
    pub fn new(context: impl GssContext, authorization: impl Into<String>) -> Self {
        Self {
            context: Some(Box::new(context)),
            authorization: authorization.into(),
            protection: Protection::default(),
            outside: 0,
            host: String::new(),
            binding: None,
            state: State::Begin,
            layer: None,
        }
    }

    /// Which layers may be negotiated.
    #[must_use]
    pub const fn with_protection(mut self, protection: Protection) -> Self {
        self.protection = protection;
        self
    }

    fn context(&mut self) -> Result<&mut dyn GssContext> {
        self.context.as_deref_mut().ok_or_else(|| auth("GSSAPI: a message after the end"))
    }

    fn establish(&mut self, token: Option<&[u8]>) -> Result<Vec<u8>> {
        let step = self.context()?.step(token)?;
        self.state = match step.established {
            None => State::Context,
            Some(abilities) if abilities.mutual => State::Offer(abilities),
            Some(_) => return Err(auth("GSSAPI: the server does not show who it is")),
        };
        Ok(step.token)
    }

    /// Takes one of the layers that the server offers (clause 3.1).
    fn answer(&mut self, abilities: GssAbilities, token: &[u8]) -> Result<Vec<u8>> {
        let offer = self.context()?.unwrap(&mut token.to_vec())?;
        let &[offered, high, middle, low] = offer.as_slice() else {
            return Err(auth(format_args!("GSSAPI: an offer of layers of {} bytes, not 4", offer.len())));
        };
        let size = u32::from_be_bytes([0, high, middle, low]);
        if offered & (NONE | INTEGRITY | CONFIDENTIALITY) == 0 {
            return Err(auth("GSSAPI: the server offers no layer, not even none"));
        }
        if offered & (INTEGRITY | CONFIDENTIALITY) == 0 && size != 0 {
            return Err(auth("GSSAPI: a size of buffers without a layer"));
        }
        let (layer, strength) = self.choose(offered, abilities, encryption(token))?;
        let largest = if layer == NONE { 0 } else { self.protection.buffer.min(LARGEST) };
        let mut message = largest.to_be_bytes();
        message[0] = layer;
        let message = [&message, self.authorization.as_bytes()].concat();
        let response = self.context()?.wrap(false, &message)?;
        if layer != NONE {
            let size = usize::try_from(size).unwrap_or(SENT);
            if size <= AROUND {
                return Err(auth(format_args!("GSSAPI: the server takes only {size} bytes at a time")));
            }
            let context = self.context.take().ok_or_else(|| auth("GSSAPI: a message after the end"))?;
            let [sent, received] = [size, largest as usize];
            self.layer = Some(Box::new(GssLayer { context, strength, sent, received }));
        }
        self.state = State::Answered;
        Ok(response)
    }

    /// The strongest layer that both sides have and that is not more than we want; its bit, and its strength.
    fn choose(&self, offered: u8, abilities: GssAbilities, encryption: u32) -> Result<(u8, u32)> {
        let Protection { min, max, buffer } = self.protection;
        let max = max.unwrap_or(if self.outside > 0 { 0 } else { u32::MAX });
        let has_layers = abilities.integrity && buffer > 0;
        let all = [
            (CONFIDENTIALITY, encryption, has_layers && abilities.confidentiality),
            (INTEGRITY, 1, has_layers),
            (NONE, 0, true),
        ];
        let mut allowed = all.into_iter().filter(|(_, strength, is_there)| *is_there && *strength <= max);
        let strongest = allowed.find(|(bit, ..)| offered & bit != 0);
        let Some((bit, strength, _)) = strongest else {
            let names = names(offered);
            return Err(auth(format_args!(
                "GSSAPI: the server requires {names}, but the strength is limited to {max}"
            )));
        };
        if strength.max(self.outside) < min {
            let reached = strength.max(self.outside);
            return Err(auth(format_args!(
                "GSSAPI: a strength of at least {min} is asked for, that of the connection would be {reached}"
            )));
        }
        Ok((bit, strength))
    }
}

/// The strength of encryption, as far as a token of the peer tells: those of RFC 4121 have keys of 128 bits at least, and of
/// others RFC 4752 has it that one calls them 56.
fn encryption(token: &[u8]) -> u32 {
    if token.starts_with(&[5, 4]) { 128 } else { 56 }
}

fn names(offered: u8) -> String {
    let all = [(NONE, "no layer"), (INTEGRITY, "integrity"), (CONFIDENTIALITY, "confidentiality")];
    let names: Vec<_> = all.into_iter().filter(|(bit, _)| offered & bit != 0).map(|(_, name)| name).collect();
    names.join(" or ")
}

impl Mechanism for Gssapi {
    fn name(&self) -> &'static str {
        "GSSAPI"
    }

    fn begin(&mut self, begin: &Begin) {
        begin.host.clone_into(&mut self.host);
        self.outside = begin.strength;
        // The application data is the binding with its name in front (RFC 5056 clause 2.1).
        self.binding = begin.binding.as_ref().map(|ChannelBinding::ServerEndPoint(digest)| {
            [b"tls-server-end-point:".as_slice(), digest].concat()
        });
    }

    fn step(&mut self, challenge: Option<&[u8]>) -> Result<Option<Vec<u8>>> {
        let token = challenge.unwrap_or_default();
        if token.len() > TOKEN {
            let message = format!("SASL: GSSAPI: a token of {} bytes, {TOKEN} are allowed", token.len());
            return Err(Error::new(ErrorKind::Limit, message));
        }
        match std::mem::replace(&mut self.state, State::Failed) {
            State::Begin => {
                let (host, binding) = (std::mem::take(&mut self.host), self.binding.take());
                self.context()?.begin(&host, binding.as_deref())?;
                self.establish(None)
            }
            State::Context => self.establish(Some(token)),
            State::Offer(abilities) => self.answer(abilities, token),
            State::Answered | State::Failed => Err(auth("GSSAPI: a challenge after the end")),
        }
        .map(Some)
    }

    fn layer(&mut self) -> Option<Box<dyn Layer>> {
        self.layer.take()
    }

    fn finish(&mut self, last: Option<&[u8]>) -> Result<()> {
        if self.state != State::Answered {
            return Err(auth("GSSAPI: the server ends the exchange before it has shown who it is"));
        }
        if last.is_some_and(|last| !last.is_empty()) {
            return Err(auth("GSSAPI: an answer that was not asked for"));
        }
        Ok(())
    }
}

/// The context, in force around all that comes and goes.
#[derive(Debug)]
struct GssLayer {
    context: Box<dyn GssContext>,
    strength: u32,
    /// Octets that the server takes in a token.
    sent: usize,
    /// Octets that we do.
    received: usize,
}

impl Layer for GssLayer {
    fn wrap(&mut self, buffer: &[u8]) -> Result<Vec<u8>> {
        let token = self.context.wrap(self.strength > 1, buffer)?;
        if token.len() > self.sent {
            let message =
                format!("SASL: GSSAPI: a token of {} bytes, the server takes {}", token.len(), self.sent);
            return Err(Error::new(ErrorKind::Limit, message));
        }
        Ok(token)
    }

    fn unwrap(&mut self, token: &mut [u8]) -> Result<Vec<u8>> {
        self.context.unwrap(token)
    }

    fn largest_buffer(&self) -> usize {
        self.sent.min(SENT) - AROUND
    }

    fn largest_token(&self) -> usize {
        self.received
    }

    fn strength(&self) -> u32 {
        self.strength
    }
}

#[cfg(test)]
mod tests;
