//! Extended operations that have an RFC of their own.

use tercet_runtime::types::Octets;

use crate::error::Result;
use crate::generated as asn1;
use crate::proto::control::{decoded, encoded};

/// StartTLS (RFC 4511 4.14)
pub const START_TLS: &str = "1.3.6.1.4.1.1466.20037";
/// Who am I? (RFC 4532)
pub const WHO_AM_I: &str = "1.3.6.1.4.1.4203.1.11.3";
/// Password modify (RFC 3062)
pub const PASSWORD_MODIFY: &str = "1.3.6.1.4.1.4203.1.11.1";
/// Cancel (RFC 3909)
pub const CANCEL: &str = "1.3.6.1.1.8";
/// Start of a transaction (RFC 5805)
pub const START_TRANSACTION: &str = "1.3.6.1.1.21.1";
/// End of a transaction (RFC 5805)
pub const END_TRANSACTION: &str = "1.3.6.1.1.21.3";

/// What changes a password (RFC 3062).
#[derive(Clone, Default, PartialEq, Eq)]
pub struct PasswordModify {
    /// Whose; the user's own if not given.
    pub user: Option<String>,
    /// The password until now.
    pub old: Option<Vec<u8>>,
    /// The new one; the server makes one up if not given.
    pub new: Option<Vec<u8>>,
}

impl std::fmt::Debug for PasswordModify {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PasswordModify").field("user", &self.user).finish_non_exhaustive()
    }
}

impl PasswordModify {
    /// The value of the request.
    #[must_use]
    pub fn value(&self) -> Vec<u8> {
        encoded(&asn1::PasswdModifyRequest {
            user_identity: self.user.as_ref().map(|user| Octets::borrowed(user.as_bytes())),
            old_passwd: self.old.as_deref().map(Octets::borrowed),
            new_passwd: self.new.as_deref().map(Octets::borrowed),
        })
    }

    /// Reads the value of a request.
    ///
    /// # Errors
    /// It is malformed.
    pub fn read(value: &[u8]) -> Result<Self> {
        let value: asn1::PasswdModifyRequest<'_> = decoded(value, "password modify")?;
        let owned = |octets: Option<Octets<'_>>| octets.map(|octets| octets.to_vec());
        Ok(Self {
            user: value.user_identity.map(|user| String::from_utf8_lossy(&user).into_owned()),
            old: owned(value.old_passwd),
            new: owned(value.new_passwd),
        })
    }

    /// The password that the server made up, from the value of its answer.
    ///
    /// # Errors
    /// It is malformed.
    pub fn generated(value: &[u8]) -> Result<Option<Vec<u8>>> {
        let value: asn1::PasswdModifyResponse<'_> = decoded(value, "password modify")?;
        Ok(value.gen_passwd.map(|octets| octets.to_vec()))
    }

    /// The value of an answer with a password that was made up.
    #[must_use]
    pub fn answer(generated: &[u8]) -> Vec<u8> {
        encoded(&asn1::PasswdModifyResponse { gen_passwd: Some(Octets::borrowed(generated)) })
    }
}

/// The value of a cancel request (RFC 3909).
#[must_use]
pub fn cancel(id: u32) -> Vec<u8> {
    encoded(&asn1::CancelRequest { cancel_id: id })
}

/// The message ID in the value of a cancel request.
///
/// # Errors
/// It is malformed.
pub fn read_cancel(value: &[u8]) -> Result<u32> {
    decoded::<asn1::CancelRequest>(value, "cancel").map(|value| value.cancel_id)
}

/// The value that ends a transaction (RFC 5805).
#[must_use]
pub fn end_transaction(identifier: &[u8], commit: bool) -> Vec<u8> {
    encoded(&asn1::EndTransaction { commit, identifier: Octets::borrowed(identifier) })
}
