//! Who is behind a request (draft-wahl-ldap-session).

use tercet_runtime::Tag;
use tercet_runtime::ber::{Rules, Writer};

use crate::proto::{Control, RequestControl};

/// Tells the server, for its log, for whom the client works.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionTracking {
    /// The address that the user has come from.
    pub address: String,
    /// The name of that host.
    pub host: String,
    /// What kind of identifier it is.
    pub format: SessionFormat,
    /// The identifier: a name of a user, or of an accounting session.
    pub identifier: String,
}

/// Kinds of identifiers of sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SessionFormat {
    /// Acct-Session-Id of RADIUS.
    RadiusSession,
    /// Acct-Multi-Session-Id of RADIUS.
    RadiusMultiSession,
    /// The name of a user.
    #[default]
    Username,
}

impl SessionFormat {
    const fn oid(self) -> &'static str {
        match self {
            Self::RadiusSession => "1.3.6.1.4.1.21008.108.63.1.1",
            Self::RadiusMultiSession => "1.3.6.1.4.1.21008.108.63.1.2",
            Self::Username => "1.3.6.1.4.1.21008.108.63.1.3",
        }
    }
}

impl SessionTracking {
    /// Its object identifier.
    pub const OID: &'static str = "1.3.6.1.4.1.21008.108.63.1";
}

impl RequestControl for SessionTracking {
    /// `SEQUENCE { sessionSourceIp, sessionSourceName, formatOID, sessionTrackingIdentifier OCTET STRING }`
    fn control(&self) -> Control {
        let mut writer = Writer::new(Rules::Der);
        let all = writer.open();
        for text in [self.identifier.as_str(), self.format.oid(), &self.host, &self.address] {
            writer.octet_string(Tag::OCTET_STRING, text.as_bytes());
        }
        writer.close(Tag::SEQUENCE, all);
        Control::new(Self::OID).with_value(writer.into_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand from the draft.
    #[test]
    fn value() {
        let control = SessionTracking {
            address: "::1".into(),
            host: "h".into(),
            format: SessionFormat::Username,
            identifier: "ada".into(),
        };
        let expected = b"\x30\x2B\x04\x03::1\x04\x01h\x04\x1C1.3.6.1.4.1.21008.108.63.1.3\x04\x03ada";
        assert_eq!(control.control().value.as_deref(), Some(&expected[..]));
        assert!(!control.control().critical);
    }
}
