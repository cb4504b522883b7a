//! What a handler answers.

use crate::error::{Error, ErrorKind};
use crate::generated::{self as asn1, ProtocolOp};
use crate::proto::{Control, LdapResult, RequestControl, ResultCode};
use tercet_runtime::types::Octets;

/// The answer to a request: a result, and what bind and extended operations return besides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The result.
    pub result: LdapResult,
    /// `serverSaslCreds` of a bind.
    pub credentials: Option<Vec<u8>>,
    /// `responseName` of an extended operation.
    pub name: Option<String>,
    /// `responseValue` of an extended operation.
    pub value: Option<Vec<u8>>,
    /// The name that a bind gives the connection, if it is not the one of the request.
    pub identity: Option<String>,
}

impl Answer {
    /// Returns an answer with a result code.
    #[must_use]
    pub fn new(code: ResultCode) -> Self {
        LdapResult::new(code).into()
    }

    /// Returns `success`.
    #[must_use]
    pub fn success() -> Self {
        Self::default()
    }

    /// Returns `unwillingToPerform`, which is what handlers answer by default.
    #[must_use]
    pub fn unwilling() -> Self {
        Self::new(ResultCode::UNWILLING_TO_PERFORM)
    }

    /// Returns `compareTrue` or `compareFalse`.
    #[must_use]
    pub fn compared(is_equal: bool) -> Self {
        Self::new(if is_equal { ResultCode::COMPARE_TRUE } else { ResultCode::COMPARE_FALSE })
    }

    /// Sets the diagnostic message.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.result.message = message.into();
        self
    }

    /// Sets `matchedDN`.
    #[must_use]
    pub fn with_matched_dn(mut self, dn: impl Into<String>) -> Self {
        self.result.matched_dn = dn.into();
        self
    }

    /// Adds a URL to `referral`. The result code should be [`ResultCode::REFERRAL`].
    #[must_use]
    pub fn with_referral(mut self, url: impl Into<String>) -> Self {
        self.result.referrals.push(url.into());
        self
    }

    /// Adds a control.
    #[must_use]
    pub fn with_control(mut self, control: &dyn RequestControl) -> Self {
        self.result.controls.push(control.control());
        self
    }

    /// Sets `serverSaslCreds`.
    #[must_use]
    pub fn with_credentials(mut self, credentials: impl Into<Vec<u8>>) -> Self {
        self.credentials = Some(credentials.into());
        self
    }

    /// Sets `responseValue`.
    #[must_use]
    pub fn with_value(mut self, value: impl Into<Vec<u8>>) -> Self {
        self.value = Some(value.into());
        self
    }

    /// Sets the name that a successful bind gives the connection.
    #[must_use]
    pub fn with_identity(mut self, dn: impl Into<String>) -> Self {
        self.identity = Some(dn.into());
        self
    }

    /// Returns the result code.
    #[must_use]
    pub const fn code(&self) -> ResultCode {
        self.result.code
    }

    /// Returns the operation that answers a request, by the identifier octet of the request; nothing for requests without an answer.
    pub(super) fn operation(&self, request: u8) -> Option<ProtocolOp<'_>> {
        let common = self.result.to_asn1();
        Some(match request {
            super::tag::BIND => {
                let asn1::LdapResult { result_code, matched_dn, diagnostic_message, referral } = common;
                ProtocolOp::BindResponse(asn1::BindResponse {
                    result_code,
                    matched_dn,
                    diagnostic_message,
                    referral,
                    server_sasl_creds: self.credentials.as_deref().map(Octets::borrowed),
                })
            }
            super::tag::SEARCH => ProtocolOp::SearchResDone(common),
            super::tag::MODIFY => ProtocolOp::ModifyResponse(common),
            super::tag::ADD => ProtocolOp::AddResponse(common),
            super::tag::DELETE => ProtocolOp::DelResponse(common),
            super::tag::RENAME => ProtocolOp::ModDnResponse(common),
            super::tag::COMPARE => ProtocolOp::CompareResponse(common),
            super::tag::EXTENDED => {
                let asn1::LdapResult { result_code, matched_dn, diagnostic_message, referral } = common;
                ProtocolOp::ExtendedResp(asn1::ExtendedResponse {
                    result_code,
                    matched_dn,
                    diagnostic_message,
                    referral,
                    response_name: self.name.as_deref().map(|name| Octets::borrowed(name.as_bytes())),
                    response_value: self.value.as_deref().map(Octets::borrowed),
                })
            }
            _ => return None,
        })
    }

    /// Returns the controls of the message.
    pub(super) fn controls(&self) -> &[Control] {
        &self.result.controls
    }
}

impl From<LdapResult> for Answer {
    fn from(result: LdapResult) -> Self {
        Self { result, ..Self::default() }
    }
}

impl From<ResultCode> for Answer {
    fn from(code: ResultCode) -> Self {
        Self::new(code)
    }
}

/// The result of a server is passed on; other errors are `unavailable`, `timeLimitExceeded` or `other`, with their message.
impl From<Error> for Answer {
    fn from(error: Error) -> Self {
        if let Some(result) = error.result() {
            return result.clone().into();
        }
        let code = match error.kind() {
            ErrorKind::Closed | ErrorKind::Io | ErrorKind::Tls => ResultCode::UNAVAILABLE,
            ErrorKind::Timeout => ResultCode::TIME_LIMIT_EXCEEDED,
            ErrorKind::Limit => ResultCode::ADMIN_LIMIT_EXCEEDED,
            _ => ResultCode::OTHER,
        };
        Self::new(code).with_message(error.to_string())
    }
}
