//! Controls that have an RFC or a draft of their own. Others implement [`RequestControl`] and [`ResponseControl`].

mod dereference;
mod parts;
mod session;
mod sync;

pub use dereference::{Dereference, Dereferenced, Referent};
pub use parts::{PagedResults, Sort, SortKey, SortResult, VirtualListView, VlvResult, VlvTarget};
pub use session::{SessionFormat, SessionTracking};
pub use sync::{Sync, SyncChange, SyncDone, SyncInfo, SyncState};
use tercet_runtime::types::Octets;

use crate::error::{Error, ErrorKind, Result};
use crate::generated as asn1;
use crate::generated::Filter;
use crate::proto::control::{decoded, encoded};
use crate::proto::{Control, RequestControl, ResponseControl};

/// Controls that are an object identifier alone.
macro_rules! plain {
    ($($(#[$doc:meta])* $name:ident, $oid:literal, $critical:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name;

        impl $name {
            /// Its object identifier.
            pub const OID: &'static str = $oid;
        }

        impl RequestControl for $name {
            fn control(&self) -> Control {
                Control::new($oid).with_criticality($critical)
            }
        }
    )*};
}

plain! {
    /// Referral objects are taken as the entries that they are (RFC 3296).
    ManageDsaIt, "2.16.840.1.113730.3.4.2", true;
    /// An entry is deleted with all below it (draft-armijo-ldap-treedelete).
    TreeDelete, "1.2.840.113556.1.4.805", true;
    /// Schema and other rules are relaxed (draft-zeilenga-ldap-relax).
    Relax, "1.3.6.1.4.1.4203.666.5.12", true;
    /// Active Directory does not refer to other domains.
    DomainScope, "1.2.840.113556.1.4.1339", false;
    /// The server does not answer from a copy (RFC 6171).
    DontUseCopy, "1.3.6.1.1.22", true;
    /// Asks for [`PasswordPolicy`] in the answer.
    PasswordPolicyRequest, "1.3.6.1.4.1.42.2.27.8.5.1", false;
    /// Asks for [`AuthorizedAs`] in the answer to a bind (RFC 3829).
    AuthorizationIdentity, "2.16.840.1.113730.3.4.16", false;
    /// The request is checked and not done (draft-zeilenga-ldap-noop).
    NoOp, "1.3.6.1.4.1.4203.666.5.2", true;
}

/// Who the server takes the user for after a bind (RFC 3829): `dn:…`, `u:…`, or nothing for anonymous.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuthorizedAs(pub String);

impl ResponseControl for AuthorizedAs {
    const OID: &'static str = "2.16.840.1.113730.3.4.15";

    fn read(value: &[u8]) -> Result<Self> {
        let identity = std::str::from_utf8(value);
        let identity =
            identity.map_err(|_| Error::new(ErrorKind::Protocol, "an identity that is not UTF-8"))?;
        Ok(Self(identity.to_owned()))
    }
}

/// Only values that one of these filters selects are returned (RFC 3876).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchedValues(pub Vec<Filter<'static>>);

impl MatchedValues {
    /// Its object identifier.
    pub const OID: &'static str = "1.2.826.0.1.3344810.2.3";
}

impl RequestControl for MatchedValues {
    fn control(&self) -> Control {
        let value = asn1::ValuesReturnFilter(self.0.clone());
        Control::new(Self::OID).with_criticality(true).with_value(encoded(&value))
    }
}

/// The operation is done only if the filter selects its entry (RFC 4528).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assertion(pub Filter<'static>);

impl Assertion {
    /// Its object identifier.
    pub const OID: &'static str = "1.3.6.1.1.12";
}

impl RequestControl for Assertion {
    fn control(&self) -> Control {
        Control::new(Self::OID).with_criticality(true).with_value(encoded(&self.0))
    }
}

/// The operation is done as somebody else (RFC 4370): `dn:…`, `u:…`, or empty for anonymous.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProxiedAuthorization(pub String);

impl ProxiedAuthorization {
    /// Its object identifier.
    pub const OID: &'static str = "2.16.840.1.113730.3.4.18";
}

impl RequestControl for ProxiedAuthorization {
    fn control(&self) -> Control {
        Control::new(Self::OID).with_criticality(true).with_value(self.0.as_bytes())
    }
}

/// Only subentries, or only others, are returned (RFC 3672).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Subentries(pub bool);

impl RequestControl for Subentries {
    fn control(&self) -> Control {
        let value = [0x01, 0x01, if self.0 { 0xFF } else { 0 }];
        Control::new("1.3.6.1.4.1.4203.1.10.1").with_criticality(true).with_value(value)
    }
}

/// The entry before the change (RFC 4527), as far as these attributes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PreRead(pub Vec<String>);

/// The entry after the change (RFC 4527), as far as these attributes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PostRead(pub Vec<String>);

/// An entry in the value of a control: its name and attributes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadEntry {
    /// The name.
    pub dn: String,
    /// The attributes with their values.
    pub attributes: Vec<(String, Vec<Vec<u8>>)>,
}

impl ReadEntry {
    fn read(value: &[u8]) -> Result<Self> {
        let entry: asn1::SearchResultEntry<'_> = decoded(value, "entry")?;
        let text = |octets: &Octets<'_>| String::from_utf8_lossy(octets).into_owned();
        let attributes = entry.attributes.iter().map(|attribute| {
            (text(&attribute.r#type), attribute.vals.iter().map(|value| value.to_vec()).collect())
        });
        Ok(Self { dn: text(&entry.object_name), attributes: attributes.collect() })
    }
}

macro_rules! read_entry {
    ($($request:ident $answer:ident $oid:literal $doc:literal;)*) => {$(
        impl $request {
            /// Its object identifier.
            pub const OID: &'static str = $oid;
        }

        impl RequestControl for $request {
            fn control(&self) -> Control {
                let names = self.0.iter().map(|name| Octets::borrowed(name.as_bytes())).collect();
                let mut writer = tercet_runtime::ber::Writer::new(tercet_runtime::ber::Rules::Der);
                let list = writer.open();
                let names: Vec<Octets<'_>> = names;
                names.iter().rev().for_each(|name| writer.octet_string(tercet_runtime::Tag::OCTET_STRING, name));
                writer.close(tercet_runtime::Tag::SEQUENCE, list);
                Control::new($oid).with_criticality(true).with_value(writer.into_vec())
            }
        }

        #[doc = $doc]
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct $answer(pub ReadEntry);

        impl ResponseControl for $answer {
            const OID: &'static str = $oid;

            fn read(value: &[u8]) -> Result<Self> {
                ReadEntry::read(value).map(Self)
            }
        }
    )*};
}

read_entry! {
    PreRead PreReadEntry "1.3.6.1.1.13.1" "The entry as it was before the change.";
    PostRead PostReadEntry "1.3.6.1.1.13.2" "The entry as it is after the change.";
}

/// What the server says of a password (draft-behera-ldap-password-policy-10).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PasswordPolicy {
    /// Seconds until the password expires.
    pub expires_in: Option<u32>,
    /// Binds that are left with an expired password.
    pub grace_logins: Option<u32>,
    /// What is wrong.
    pub error: Option<u8>,
}

impl PasswordPolicy {
    /// The error in words.
    #[must_use]
    pub const fn error_text(&self) -> Option<&'static str> {
        Some(match self.error {
            None => return None,
            Some(0) => "Password expired",
            Some(1) => "Account locked",
            Some(2) => "Password must be changed",
            Some(3) => "Policy prevents password modification",
            Some(4) => "Policy requires old password in order to change password",
            Some(5) => "Password fails quality checks",
            Some(6) => "Password is too short for policy",
            Some(7) => "Password has been changed too recently",
            Some(8) => "New password is in list of old passwords",
            Some(_) => "Unknown error code",
        })
    }
}

impl ResponseControl for PasswordPolicy {
    const OID: &'static str = PasswordPolicyRequest::OID;

    fn read(value: &[u8]) -> Result<Self> {
        let value: asn1::PasswordPolicy<'_> = decoded(value, "password policy")?;
        let mut policy = Self { error: value.error, ..Self::default() };
        match value.warning {
            Some(asn1::PasswordPolicyWarning::TimeBeforeExpiration(seconds)) => {
                policy.expires_in = Some(seconds)
            }
            Some(asn1::PasswordPolicyWarning::GraceAuthNsRemaining(count)) => {
                policy.grace_logins = Some(count)
            }
            Some(asn1::PasswordPolicyWarning::Unknown(_)) | None => {}
        }
        Ok(policy)
    }
}

/// The search goes on and reports changes (draft-ietf-ldapext-psearch-03).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PersistentSearch {
    /// Kinds of changes: 1 add, 2 delete, 4 modify, 8 modify DN.
    pub change_types: u8,
    /// Whether only changes are told, and not what is there.
    pub changes_only: bool,
    /// Whether entries come with [`EntryChange`].
    pub return_changes: bool,
}

impl PersistentSearch {
    /// The object identifier of the request.
    pub const OID: &'static str = "2.16.840.1.113730.3.4.3";
}

impl RequestControl for PersistentSearch {
    fn control(&self) -> Control {
        let Self { change_types, changes_only, return_changes: return_e_cs } = *self;
        let value = asn1::PersistentSearch { change_types: change_types & 15, changes_only, return_e_cs };
        Control::new(Self::OID).with_criticality(true).with_value(encoded(&value))
    }
}

/// What happened to an entry of a persistent search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryChange {
    /// 1 add, 2 delete, 4 modify, 8 modify DN.
    pub change_type: i64,
    /// The name before.
    pub previous_dn: Option<String>,
}

impl ResponseControl for EntryChange {
    const OID: &'static str = "2.16.840.1.113730.3.4.7";

    fn read(value: &[u8]) -> Result<Self> {
        let value: asn1::EntryChange<'_> = decoded(value, "entry change")?;
        let previous_dn = value.previous_dn.map(|dn| String::from_utf8_lossy(&dn).into_owned());
        Ok(Self { change_type: value.change_type.number(), previous_dn })
    }
}

/// Changes of Active Directory since a cookie, as request and answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DirSync {
    /// Flags; of an answer, not 0 if there is more.
    pub flags: i64,
    /// Octets of an answer at most.
    pub max_bytes: u32,
    /// What the last answer came with.
    pub cookie: Vec<u8>,
}

impl RequestControl for DirSync {
    fn control(&self) -> Control {
        let cookie = Octets::borrowed(&self.cookie);
        // The flags are a signed INTEGER of 32 bits (MS-ADTS 3.1.1.3.4.1.3): 0x80000000 goes out as 80 00 00 00. A leading
        // zero would make it an integer of 40 bits, which Active Directory refuses.
        let flags = u32::try_from(self.flags).map_or(self.flags, |flags| i64::from(flags.cast_signed()));
        let value = asn1::DirSync { flags: flags.into(), max_bytes: self.max_bytes, cookie };
        Control::new(Self::OID).with_criticality(true).with_value(encoded(&value))
    }
}

impl ResponseControl for DirSync {
    const OID: &'static str = "1.2.840.113556.1.4.841";

    fn read(value: &[u8]) -> Result<Self> {
        let value: asn1::DirSync<'_> = decoded(value, "DirSync")?;
        let flags = i64::try_from(&value.flags).unwrap_or_default();
        // The sign is the bit 0x80000000.
        let flags = i32::try_from(flags).map_or(flags, |flags| i64::from(flags.cast_unsigned()));
        Ok(Self { flags, max_bytes: value.max_bytes, cookie: value.cookie.to_vec() })
    }
}

/// An operation is part of a transaction (RFC 5805).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transaction(pub Vec<u8>);

impl RequestControl for Transaction {
    fn control(&self) -> Control {
        Control::new("1.3.6.1.1.21.2").with_criticality(true).with_value(self.0.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::ResultCode;

    /// Values as a peer writes them: from ldapsearch and slapd of OpenLDAP 2.5, and by hand from the RFCs.
    #[test]
    fn values() {
        let value = |control: &dyn RequestControl| control.control().value.unwrap();
        let paged = PagedResults { size: 500, ..PagedResults::default() };
        assert_eq!(value(&paged), [0x30, 6, 2, 2, 1, 0xF4, 4, 0]);
        assert_eq!(PagedResults::read(&value(&paged)).unwrap(), paged);
        let sort = Sort {
            keys: vec!["-cn:caseExactMatch".parse().unwrap(), "sn".parse().unwrap()],
            critical: false,
        };
        assert_eq!(&value(&sort)[..8], [0x30, 31, 0x30, 23, 4, 2, b'c', b'n']);
        assert_eq!(SortResult::read(&[0x30, 3, 0x0A, 1, 0]).unwrap(), SortResult::default());
        let vlv = VlvResult::read(&[0x30, 0x0C, 2, 1, 1, 2, 1, 2, 0x0A, 1, 0, 4, 1, 7]).unwrap();
        assert_eq!(
            vlv,
            VlvResult { position: 1, count: 2, code: ResultCode::SUCCESS, context: Some(vec![7]) }
        );
        assert_eq!(value(&Sync { persist: true, ..Sync::default() }), [0x30, 3, 0x0A, 1, 3]);
        for (flags, octets) in [
            (0x8000_0000, &[2, 4, 0x80, 0, 0, 0][..]),
            (0x8000_0801, &[2, 4, 0x80, 0, 8, 1]),
            (0x7FFF_FFFF, &[2, 4, 0x7F, 0xFF, 0xFF, 0xFF]),
            (1, &[2, 1, 1]),
        ] {
            let sync = DirSync { flags, ..DirSync::default() };
            let written = value(&sync);
            assert_eq!(written.get(2..2 + octets.len()), Some(octets), "{flags:X}");
            assert_eq!(DirSync::read(&written).unwrap(), sync);
        }
        assert_eq!(value(&Assertion("(cn=a)".parse().unwrap())), [0xA3, 7, 4, 2, b'c', b'n', 4, 1, b'a']);
        assert_eq!(
            value(&PreRead(vec!["cn".to_owned(), "sn".to_owned()])),
            [0x30, 8, 4, 2, b'c', b'n', 4, 2, b's', b'n']
        );
        let policy = PasswordPolicy::read(&[0x30, 8, 0xA0, 3, 0x81, 1, 5, 0x81, 1, 2]).unwrap();
        assert_eq!((policy.grace_logins, policy.error_text()), (Some(5), Some("Password must be changed")));
        assert_eq!(AuthorizedAs::read(b"dn:o=x").unwrap(), AuthorizedAs("dn:o=x".to_owned()));
        assert!(AuthorizedAs::read(&[0xFF]).is_err());
        assert_eq!(SyncInfo::read(&[0xA1, 3, 1, 1, 0]).unwrap(), SyncInfo::RefreshDelete(None, false));
    }

    #[test]
    fn malformed_values() {
        for value in [&[][..], &[0x30], &[0x30, 2, 4, 5], &[0x30, 0x80], &[4, 0], &[0x30, 0, 0]] {
            assert!(PagedResults::read(value).is_err(), "{value:02x?}");
            assert!(SyncState::read(value).is_err(), "{value:02x?}");
            assert!(VlvResult::read(value).is_err(), "{value:02x?}");
        }
    }
}
