//! LDAPResult and its codes (RFC 4511 4.1.9, appendix A).

use std::fmt;

use super::control::Control;
use crate::error::{Error, Result};

/// What a server says at the end of an operation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LdapResult {
    /// `resultCode`
    pub code: ResultCode,
    /// `matchedDN`
    pub matched_dn: String,
    /// `diagnosticMessage`
    pub message: String,
    /// `referral`
    pub referrals: Vec<String>,
    /// Controls of the message.
    pub controls: Vec<Control>,
}

impl LdapResult {
    /// A result with this code alone.
    #[must_use]
    pub fn new(code: ResultCode) -> Self {
        Self { code, ..Self::default() }
    }

    /// The same with a diagnostic message.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.message = message.into();
        self
    }

    /// The result if it is `success`.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Result`] for any other code.
    pub fn success(self) -> Result<Self> {
        if self.code == ResultCode::SUCCESS { Ok(self) } else { Err(Error::from_result(self)) }
    }

    /// The result as it is written.
    #[cfg(feature = "directory")]
    pub(crate) fn to_asn1(&self) -> crate::generated::LdapResult<'_> {
        use crate::generated as asn1;
        use tercet_runtime::types::Octets;
        let octets = |text: &'_ str| Octets::copied(text.as_bytes());
        let number = i64::from(self.code.0);
        let urls = self.referrals.iter().map(|url| octets(url)).collect::<Vec<_>>();
        asn1::LdapResult {
            result_code: asn1::ResultCode::from_number(number).unwrap_or(asn1::ResultCode::Unknown(number)),
            matched_dn: octets(&self.matched_dn),
            diagnostic_message: octets(&self.message),
            referral: (!urls.is_empty()).then_some(urls),
        }
    }

    /// The value of a response control, if it came.
    ///
    /// # Errors
    /// It is malformed.
    pub fn control<C: super::ResponseControl>(&self) -> Result<Option<C>> {
        super::control::find(&self.controls)
    }
}

/// A result code; numbers that nobody registered are kept.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ResultCode(pub u32);

macro_rules! codes {
    ($($name:ident = $number:literal, $text:literal;)*) => {
        impl ResultCode {
            $(
                #[doc = concat!($text, " (", $number, ")")]
                pub const $name: Self = Self($number);
            )*

            /// What the code says, in the words that OpenLDAP's tools use.
            #[must_use]
            pub const fn text(self) -> &'static str {
                match self.0 {
                    $($number => $text,)*
                    _ => "Unknown error",
                }
            }
        }
    };
}

codes! {
    SUCCESS = 0, "Success";
    OPERATIONS_ERROR = 1, "Operations error";
    PROTOCOL_ERROR = 2, "Protocol error";
    TIME_LIMIT_EXCEEDED = 3, "Time limit exceeded";
    SIZE_LIMIT_EXCEEDED = 4, "Size limit exceeded";
    COMPARE_FALSE = 5, "Compare False";
    COMPARE_TRUE = 6, "Compare True";
    AUTH_METHOD_NOT_SUPPORTED = 7, "Authentication method not supported";
    STRONGER_AUTH_REQUIRED = 8, "Strong(er) authentication required";
    REFERRAL = 10, "Referral";
    ADMIN_LIMIT_EXCEEDED = 11, "Administrative limit exceeded";
    UNAVAILABLE_CRITICAL_EXTENSION = 12, "Critical extension is unavailable";
    CONFIDENTIALITY_REQUIRED = 13, "Confidentiality required";
    SASL_BIND_IN_PROGRESS = 14, "SASL bind in progress";
    NO_SUCH_ATTRIBUTE = 16, "No such attribute";
    UNDEFINED_ATTRIBUTE_TYPE = 17, "Undefined attribute type";
    INAPPROPRIATE_MATCHING = 18, "Inappropriate matching";
    CONSTRAINT_VIOLATION = 19, "Constraint violation";
    ATTRIBUTE_OR_VALUE_EXISTS = 20, "Type or value exists";
    INVALID_ATTRIBUTE_SYNTAX = 21, "Invalid syntax";
    NO_SUCH_OBJECT = 32, "No such object";
    ALIAS_PROBLEM = 33, "Alias problem";
    INVALID_DN_SYNTAX = 34, "Invalid DN syntax";
    ALIAS_DEREFERENCING_PROBLEM = 36, "Alias dereferencing problem";
    INAPPROPRIATE_AUTHENTICATION = 48, "Inappropriate authentication";
    INVALID_CREDENTIALS = 49, "Invalid credentials";
    INSUFFICIENT_ACCESS_RIGHTS = 50, "Insufficient access";
    BUSY = 51, "Server is busy";
    UNAVAILABLE = 52, "Server is unavailable";
    UNWILLING_TO_PERFORM = 53, "Server is unwilling to perform";
    LOOP_DETECT = 54, "Loop detected";
    SORT_CONTROL_MISSING = 60, "Sort Control Missing";
    OFFSET_RANGE_ERROR = 61, "Offset Range Error";
    NAMING_VIOLATION = 64, "Naming violation";
    OBJECT_CLASS_VIOLATION = 65, "Object class violation";
    NOT_ALLOWED_ON_NON_LEAF = 66, "Operation not allowed on non-leaf";
    NOT_ALLOWED_ON_RDN = 67, "Operation not allowed on RDN";
    ENTRY_ALREADY_EXISTS = 68, "Already exists";
    OBJECT_CLASS_MODS_PROHIBITED = 69, "Cannot modify object class";
    RESULTS_TOO_LARGE = 70, "Results too large";
    AFFECTS_MULTIPLE_DSAS = 71, "Operation affects multiple DSAs";
    VLV_ERROR = 76, "Virtual List View error";
    OTHER = 80, "Other (e.g., implementation specific) error";
    CANCELED = 118, "Cancelled";
    NO_SUCH_OPERATION = 119, "No Operation to Cancel";
    TOO_LATE = 120, "Too Late to Cancel";
    CANNOT_CANCEL = 121, "Cannot Cancel";
    ASSERTION_FAILED = 122, "Assertion Failed";
    AUTHORIZATION_DENIED = 123, "Proxied Authorization Denied";
    SYNC_REFRESH_REQUIRED = 4096, "Content Sync Refresh Required";
}

impl fmt::Debug for ResultCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.text(), self.0)
    }
}

impl fmt::Display for ResultCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.text(), self.0)
    }
}
