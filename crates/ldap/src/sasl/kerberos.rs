//! Contexts of the system's Kerberos, by its GSS-API: tickets are those of `kinit`, and what `krb5.conf` and the environment say
//! holds.

use libgssapi::context::{ClientCtx, CtxFlags, SecurityContext as _};
use libgssapi::credential::{Cred, CredUsage};
use libgssapi::name::Name;
use libgssapi::oid::{GSS_MECH_KRB5, GSS_NT_HOSTBASED_SERVICE, GSS_NT_KRB5_PRINCIPAL, OidSet};

use super::auth;
use super::gssapi::{GssAbilities, GssContext, GssStep};
use crate::error::{Error, Result};

/// The system's Kerberos (MIT's or Heimdal's), with the feature `gssapi`. Steps may ask a KDC, and wait for its answer.
#[derive(Debug, Default)]
pub struct Kerberos {
    user: Option<String>,
    service: Option<String>,
    canonicalizes: bool,
    binding: Option<Vec<u8>>,
    context: Option<ClientCtx>,
}

impl Kerberos {
    /// With the default tickets, for the service `ldap` on the host that the connection was asked to go to.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// With the tickets of this principal, where there are those of several.
    #[must_use]
    pub fn user(mut self, principal: impl Into<String>) -> Self {
        self.user = Some(principal.into());
        self
    }

    /// For the service with this principal, as `ldap/ldap.example.net@EXAMPLE.NET`, whatever the host.
    #[must_use]
    pub fn service(mut self, principal: impl Into<String>) -> Self {
        self.service = Some(principal.into());
        self
    }

    /// Lets Kerberos ask the DNS for another name of the host, as its `krb5.conf` has it. Without this the host is the one that
    /// was asked for: who can forge answers of the DNS could otherwise choose the server.
    #[must_use]
    pub const fn canonicalized(mut self) -> Self {
        self.canonicalizes = true;
        self
    }

    /// The service's name.
    fn target(&self, host: &str) -> Result<Name> {
        let (name, kind) = match &self.service {
            Some(service) => (service.clone(), GSS_NT_KRB5_PRINCIPAL),
            None if host.is_empty() || host.contains(['/', '@']) => {
                return Err(auth(
                    "GSSAPI: the service's principal has to be given where the server has no name",
                ));
            }
            None if self.canonicalizes => (format!("ldap@{host}"), GSS_NT_HOSTBASED_SERVICE),
            // An empty realm leaves it to the KDC, and to the realms of `krb5.conf`, to which one the host belongs.
            None => (format!("ldap/{host}@"), GSS_NT_KRB5_PRINCIPAL),
        };
        Name::new(name.as_bytes(), Some(kind)).map_err(|error| fault(&error))
    }

    fn credentials(&self) -> Result<Option<Cred>> {
        let Some(user) = &self.user else {
            return Ok(None);
        };
        let acquire = || {
            let name = Name::new(user.as_bytes(), Some(GSS_NT_KRB5_PRINCIPAL))?;
            let kerberos = OidSet::singleton(GSS_MECH_KRB5)?;
            Cred::acquire(Some(&name), None, CredUsage::Initiate, Some(&kerberos))
        };
        acquire().map(Some).map_err(|error| fault(&error))
    }

    fn established(&mut self) -> Result<&mut ClientCtx> {
        self.context.as_mut().ok_or_else(|| auth("GSSAPI: no context"))
    }
}

impl GssContext for Kerberos {
    fn begin(&mut self, host: &str, binding: Option<&[u8]>) -> Result<()> {
        let flags = CtxFlags::GSS_C_MUTUAL_FLAG
            | CtxFlags::GSS_C_REPLAY_FLAG
            | CtxFlags::GSS_C_SEQUENCE_FLAG
            | CtxFlags::GSS_C_INTEG_FLAG
            | CtxFlags::GSS_C_CONF_FLAG;
        let context = ClientCtx::new(self.credentials()?, self.target(host)?, flags, Some(GSS_MECH_KRB5));
        self.context = Some(context);
        self.binding = binding.map(<[u8]>::to_vec);
        Ok(())
    }

    fn step(&mut self, token: Option<&[u8]>) -> Result<GssStep> {
        let binding = self.binding.take();
        let context = self.established()?;
        let token = context.step(token, binding.as_deref()).map_err(|error| fault(&error))?;
        let established = if context.is_complete() {
            let flags = context.flags().map_err(|error| fault(&error))?;
            Some(GssAbilities {
                mutual: flags.contains(CtxFlags::GSS_C_MUTUAL_FLAG),
                integrity: flags.contains(CtxFlags::GSS_C_INTEG_FLAG | CtxFlags::GSS_C_SEQUENCE_FLAG),
                confidentiality: flags.contains(CtxFlags::GSS_C_CONF_FLAG),
            })
        } else {
            None
        };
        self.binding = binding;
        Ok(GssStep { token: token.map(|token| token.to_vec()).unwrap_or_default(), established })
    }

    fn wrap(&mut self, confidential: bool, message: &[u8]) -> Result<Vec<u8>> {
        let token = self.established()?.wrap(confidential, message).map_err(|error| fault(&error))?;
        Ok(token.to_vec())
    }

    fn unwrap(&mut self, token: &mut [u8]) -> Result<Vec<u8>> {
        let message = self.established()?.unwrap(token).map_err(|error| fault(&error))?;
        Ok(message.to_vec())
    }
}

/// Routine errors of GSS-API (RFC 2744 clause 3.9.1) and a code of Kerberos that a fresh ticket is the cure for.
const NO_CRED: u32 = 7;
const CREDENTIALS_EXPIRED: u32 = 11;
const TICKET_EXPIRED: u32 = (-1_765_328_352_i32).cast_unsigned();

/// What the library says, of its own and of the mechanism.
#[cold]
fn fault(error: &libgssapi::error::Error) -> Error {
    let routine = error.major.bits() >> 16 & 0xFF;
    let is_cured = matches!(routine, NO_CRED | CREDENTIALS_EXPIRED) || error.minor == TICKET_EXPIRED;
    let hint = if is_cured { "; `kinit` gets a ticket" } else { "" };
    let text = error.to_string();
    auth(format_args!("GSSAPI: {}{hint}", text.trim_end()))
}
