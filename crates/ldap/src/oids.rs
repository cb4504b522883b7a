//! Names of the object identifiers that LDAP uses.

/// What an object identifier stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OidInfo {
    /// The object identifier.
    pub oid: &'static str,
    /// The kind: control, extended operation, intermediate response, feature, capability, syntax, matching rule, attribute type, object
    /// class, notice or SASL mechanism.
    pub kind: &'static str,
    /// The short name.
    pub name: &'static str,
    /// The document that defines it.
    pub document: &'static str,
}

/// Returns what an object identifier, or a name in any case, stands for: the first of several with the same name.
///
/// ```
/// let found = tercet_ldap::oid("pagedResults").unwrap();
/// assert_eq!((found.oid, found.document), ("1.2.840.113556.1.4.319", "RFC 2696"));
/// ```
#[must_use]
pub fn oid(text: &str) -> Option<OidInfo> {
    all().find(|one| one.oid == text || one.name.eq_ignore_ascii_case(text))
}

/// Returns all object identifiers that are known.
pub fn all() -> impl Iterator<Item = OidInfo> {
    TABLES.iter().flat_map(|(kind, rows)| {
        rows.iter().map(|(oid, name, document)| OidInfo { oid, kind, name, document })
    })
}

type Rows = &'static [(&'static str, &'static str, &'static str)];

const TABLES: [(&str, Rows); 9] = [
    ("control", CONTROLS),
    ("extended operation", EXTENDED),
    ("intermediate response", &[("1.3.6.1.4.1.4203.1.9.1.4", "syncInfo", "RFC 4533")]),
    (
        "notice",
        &[
            ("1.3.6.1.4.1.1466.20036", "noticeOfDisconnection", "RFC 4511"),
            ("1.3.6.1.1.21.4", "abortedTransaction", "RFC 5805"),
        ],
    ),
    ("feature", FEATURES),
    ("syntax", SYNTAXES),
    ("matching rule", RULES),
    ("attribute type", ATTRIBUTES),
    ("object class", CLASSES),
];

const CONTROLS: Rows = &[
    ("1.2.840.113556.1.4.319", "pagedResults", "RFC 2696"),
    ("1.2.840.113556.1.4.417", "showDeleted", "MS-ADTS"),
    ("1.2.840.113556.1.4.473", "sortRequest", "RFC 2891"),
    ("1.2.840.113556.1.4.474", "sortResponse", "RFC 2891"),
    ("1.2.840.113556.1.4.528", "notification", "MS-ADTS"),
    ("1.2.840.113556.1.4.529", "extendedDn", "MS-ADTS"),
    ("1.2.840.113556.1.4.619", "lazyCommit", "MS-ADTS"),
    ("1.2.840.113556.1.4.801", "sdFlags", "MS-ADTS"),
    ("1.2.840.113556.1.4.805", "treeDelete", "draft-armijo-ldap-treedelete"),
    ("1.2.840.113556.1.4.841", "dirSync", "MS-ADTS"),
    ("1.2.840.113556.1.4.1338", "verifyName", "MS-ADTS"),
    ("1.2.840.113556.1.4.1339", "domainScope", "MS-ADTS"),
    ("1.2.840.113556.1.4.1340", "searchOptions", "MS-ADTS"),
    ("1.2.840.113556.1.4.1413", "permissiveModify", "MS-ADTS"),
    ("1.2.840.113556.1.4.1504", "attributeScopedQuery", "MS-ADTS"),
    ("1.2.840.113556.1.4.2064", "showRecycled", "MS-ADTS"),
    ("1.2.840.113556.1.4.2065", "showDeactivatedLink", "MS-ADTS"),
    ("1.3.6.1.1.12", "assertion", "RFC 4528"),
    ("1.3.6.1.1.13.1", "preRead", "RFC 4527"),
    ("1.3.6.1.1.13.2", "postRead", "RFC 4527"),
    ("1.3.6.1.1.21.2", "transactionSpecification", "RFC 5805"),
    ("1.3.6.1.1.22", "dontUseCopy", "RFC 6171"),
    ("1.3.6.1.4.1.4203.1.9.1.1", "syncRequest", "RFC 4533"),
    ("1.3.6.1.4.1.4203.1.9.1.2", "syncState", "RFC 4533"),
    ("1.3.6.1.4.1.4203.1.9.1.3", "syncDone", "RFC 4533"),
    ("1.3.6.1.4.1.4203.1.10.1", "subentries", "RFC 3672"),
    ("1.3.6.1.4.1.4203.1.10.2", "noOp", "draft-zeilenga-ldap-noop"),
    ("1.3.6.1.4.1.4203.666.5.12", "relax", "draft-zeilenga-ldap-relax"),
    ("1.3.6.1.4.1.4203.666.5.16", "dereference", "draft-masarati-ldap-deref"),
    ("1.3.6.1.4.1.21008.108.63.1", "sessionTracking", "draft-wahl-ldap-session"),
    ("1.3.6.1.4.1.42.2.27.8.5.1", "passwordPolicy", "draft-behera-ldap-password-policy"),
    ("1.3.6.1.4.1.42.2.27.9.5.2", "getEffectiveRights", "draft-ietf-ldapext-acl-model"),
    ("1.3.6.1.4.1.42.2.27.9.5.8", "accountUsability", "Sun Directory Server"),
    ("1.3.6.1.4.1.7628.5.101.1", "subentriesOfDraft", "draft-ietf-ldup-subentry"),
    ("1.2.826.0.1.3344810.2.3", "matchedValues", "RFC 3876"),
    ("2.16.840.1.113730.3.4.2", "manageDsaIT", "RFC 3296"),
    ("2.16.840.1.113730.3.4.3", "persistentSearch", "draft-ietf-ldapext-psearch"),
    ("2.16.840.1.113730.3.4.4", "passwordExpired", "draft-vchu-ldap-pwd-policy"),
    ("2.16.840.1.113730.3.4.5", "passwordExpiring", "draft-vchu-ldap-pwd-policy"),
    ("2.16.840.1.113730.3.4.7", "entryChangeNotification", "draft-ietf-ldapext-psearch"),
    ("2.16.840.1.113730.3.4.9", "virtualListViewRequest", "draft-ietf-ldapext-ldapv3-vlv"),
    ("2.16.840.1.113730.3.4.10", "virtualListViewResponse", "draft-ietf-ldapext-ldapv3-vlv"),
    ("2.16.840.1.113730.3.4.12", "proxiedAuthorizationV1", "draft-weltman-ldapv3-proxy"),
    ("2.16.840.1.113730.3.4.15", "authorizationIdentityResponse", "RFC 3829"),
    ("2.16.840.1.113730.3.4.16", "authorizationIdentityRequest", "RFC 3829"),
    ("2.16.840.1.113730.3.4.18", "proxiedAuthorization", "RFC 4370"),
    ("2.16.840.1.113730.3.4.19", "virtualAttributesOnly", "Sun Directory Server"),
    ("2.16.840.1.113730.3.4.17", "realAttributesOnly", "Sun Directory Server"),
];

const EXTENDED: Rows = &[
    ("1.3.6.1.4.1.1466.20037", "startTLS", "RFC 4511"),
    ("1.3.6.1.4.1.4203.1.11.1", "passwordModify", "RFC 3062"),
    ("1.3.6.1.4.1.4203.1.11.3", "whoAmI", "RFC 4532"),
    ("1.3.6.1.1.8", "cancel", "RFC 3909"),
    ("1.3.6.1.1.21.1", "startTransaction", "RFC 5805"),
    ("1.3.6.1.1.21.3", "endTransaction", "RFC 5805"),
    ("1.3.6.1.1.19", "turn", "RFC 4531"),
    ("1.3.6.1.4.1.1466.101.119.1", "dynamicRefresh", "RFC 2589"),
    ("1.2.840.113556.1.4.1781", "fastBind", "MS-ADTS"),
    ("1.2.840.113556.1.4.2212", "batchRequest", "MS-ADTS"),
    ("2.16.840.1.113730.3.5.7", "bulkImportStart", "389 Directory Server"),
];

const FEATURES: Rows = &[
    ("1.3.6.1.1.14", "modifyIncrement", "RFC 4525"),
    ("1.3.6.1.4.1.4203.1.5.1", "allOperationalAttributes", "RFC 3673"),
    ("1.3.6.1.4.1.4203.1.5.2", "objectClassAttributeLists", "RFC 4529"),
    ("1.3.6.1.4.1.4203.1.5.3", "absoluteFilters", "RFC 4526"),
    ("1.3.6.1.4.1.4203.1.5.4", "languageTags", "RFC 3866"),
    ("1.3.6.1.4.1.4203.1.5.5", "languageRanges", "RFC 3866"),
    ("1.2.840.113556.1.4.800", "activeDirectory", "MS-ADTS"),
    ("1.2.840.113556.1.4.1670", "activeDirectoryV51", "MS-ADTS"),
    ("1.2.840.113556.1.4.1791", "activeDirectoryLdapIntegration", "MS-ADTS"),
    ("1.2.840.113556.1.4.1935", "activeDirectoryV60", "MS-ADTS"),
    ("1.2.840.113556.1.4.2080", "activeDirectoryV61R2", "MS-ADTS"),
    ("1.2.840.113556.1.4.2237", "activeDirectoryW8", "MS-ADTS"),
];

const SYNTAXES: Rows = &[
    ("1.3.6.1.4.1.1466.115.121.1.3", "attributeTypeDescription", "RFC 4517"),
    ("1.3.6.1.4.1.1466.115.121.1.6", "bitString", "RFC 4517"),
    ("1.3.6.1.4.1.1466.115.121.1.7", "booleanSyntax", "RFC 4517"),
    ("1.3.6.1.4.1.1466.115.121.1.8", "certificate", "RFC 4523"),
    ("1.3.6.1.4.1.1466.115.121.1.11", "countryString", "RFC 4517"),
    ("1.3.6.1.4.1.1466.115.121.1.12", "dn", "RFC 4517"),
    ("1.3.6.1.4.1.1466.115.121.1.14", "deliveryMethod", "RFC 4517"),
    ("1.3.6.1.4.1.1466.115.121.1.15", "directoryString", "RFC 4517"),
    ("1.3.6.1.4.1.1466.115.121.1.22", "facsimileTelephoneNumberSyntax", "RFC 4517"),
    ("1.3.6.1.4.1.1466.115.121.1.23", "fax", "RFC 4517"),
    ("1.3.6.1.4.1.1466.115.121.1.24", "generalizedTime", "RFC 4517"),
    ("1.3.6.1.4.1.1466.115.121.1.26", "ia5String", "RFC 4517"),
    ("1.3.6.1.4.1.1466.115.121.1.27", "integer", "RFC 4517"),
    ("1.3.6.1.4.1.1466.115.121.1.28", "jpeg", "RFC 4517"),
    ("1.3.6.1.4.1.1466.115.121.1.34", "nameAndOptionalUid", "RFC 4517"),
    ("1.3.6.1.4.1.1466.115.121.1.36", "numericString", "RFC 4517"),
    ("1.3.6.1.4.1.1466.115.121.1.37", "objectClassDescription", "RFC 4517"),
    ("1.3.6.1.4.1.1466.115.121.1.38", "oid", "RFC 4517"),
    ("1.3.6.1.4.1.1466.115.121.1.39", "otherMailbox", "RFC 4517"),
    ("1.3.6.1.4.1.1466.115.121.1.40", "octetString", "RFC 4517"),
    ("1.3.6.1.4.1.1466.115.121.1.41", "postalAddressSyntax", "RFC 4517"),
    ("1.3.6.1.4.1.1466.115.121.1.44", "printableString", "RFC 4517"),
    ("1.3.6.1.4.1.1466.115.121.1.50", "telephoneNumberSyntax", "RFC 4517"),
    ("1.3.6.1.4.1.1466.115.121.1.53", "utcTime", "RFC 4517"),
    ("1.3.6.1.4.1.1466.115.121.1.54", "ldapSyntaxDescription", "RFC 4517"),
    ("1.3.6.1.4.1.1466.115.121.1.58", "substringAssertion", "RFC 4517"),
    ("1.3.6.1.1.16.1", "uuid", "RFC 4530"),
];

const RULES: Rows = &[
    ("2.5.13.0", "objectIdentifierMatch", "RFC 4517"),
    ("2.5.13.1", "distinguishedNameMatch", "RFC 4517"),
    ("2.5.13.2", "caseIgnoreMatch", "RFC 4517"),
    ("2.5.13.3", "caseIgnoreOrderingMatch", "RFC 4517"),
    ("2.5.13.4", "caseIgnoreSubstringsMatch", "RFC 4517"),
    ("2.5.13.5", "caseExactMatch", "RFC 4517"),
    ("2.5.13.6", "caseExactOrderingMatch", "RFC 4517"),
    ("2.5.13.7", "caseExactSubstringsMatch", "RFC 4517"),
    ("2.5.13.8", "numericStringMatch", "RFC 4517"),
    ("2.5.13.9", "numericStringOrderingMatch", "RFC 4517"),
    ("2.5.13.10", "numericStringSubstringsMatch", "RFC 4517"),
    ("2.5.13.11", "caseIgnoreListMatch", "RFC 4517"),
    ("2.5.13.12", "caseIgnoreListSubstringsMatch", "RFC 4517"),
    ("2.5.13.13", "booleanMatch", "RFC 4517"),
    ("2.5.13.14", "integerMatch", "RFC 4517"),
    ("2.5.13.15", "integerOrderingMatch", "RFC 4517"),
    ("2.5.13.16", "bitStringMatch", "RFC 4517"),
    ("2.5.13.17", "octetStringMatch", "RFC 4517"),
    ("2.5.13.18", "octetStringOrderingMatch", "RFC 4517"),
    ("2.5.13.20", "telephoneNumberMatch", "RFC 4517"),
    ("2.5.13.21", "telephoneNumberSubstringsMatch", "RFC 4517"),
    ("2.5.13.23", "uniqueMemberMatch", "RFC 4517"),
    ("2.5.13.27", "generalizedTimeMatch", "RFC 4517"),
    ("2.5.13.28", "generalizedTimeOrderingMatch", "RFC 4517"),
    ("2.5.13.29", "integerFirstComponentMatch", "RFC 4517"),
    ("2.5.13.30", "objectIdentifierFirstComponentMatch", "RFC 4517"),
    ("2.5.13.31", "directoryStringFirstComponentMatch", "RFC 4517"),
    ("2.5.13.32", "wordMatch", "RFC 4517"),
    ("2.5.13.33", "keywordMatch", "RFC 4517"),
    ("1.3.6.1.4.1.1466.109.114.1", "caseExactIA5Match", "RFC 4517"),
    ("1.3.6.1.4.1.1466.109.114.2", "caseIgnoreIA5Match", "RFC 4517"),
    ("1.3.6.1.4.1.1466.109.114.3", "caseIgnoreIA5SubstringsMatch", "RFC 4517"),
    ("1.3.6.1.1.16.2", "uuidMatch", "RFC 4530"),
    ("1.3.6.1.1.16.3", "uuidOrderingMatch", "RFC 4530"),
    ("1.2.840.113556.1.4.803", "bitAnd", "MS-ADTS"),
    ("1.2.840.113556.1.4.804", "bitOr", "MS-ADTS"),
    ("1.2.840.113556.1.4.1941", "inChain", "MS-ADTS"),
];

const ATTRIBUTES: Rows = &[
    ("2.5.4.0", "objectClass", "RFC 4512"),
    ("2.5.4.1", "aliasedObjectName", "RFC 4512"),
    ("2.5.4.3", "cn", "RFC 4519"),
    ("2.5.4.3", "commonName", "RFC 4519"),
    ("2.5.4.4", "sn", "RFC 4519"),
    ("2.5.4.4", "surname", "RFC 4519"),
    ("2.5.4.5", "serialNumber", "RFC 4519"),
    ("2.5.4.6", "c", "RFC 4519"),
    ("2.5.4.6", "countryName", "RFC 4519"),
    ("2.5.4.7", "l", "RFC 4519"),
    ("2.5.4.7", "localityName", "RFC 4519"),
    ("2.5.4.8", "st", "RFC 4519"),
    ("2.5.4.9", "street", "RFC 4519"),
    ("2.5.4.10", "o", "RFC 4519"),
    ("2.5.4.10", "organizationName", "RFC 4519"),
    ("2.5.4.11", "ou", "RFC 4519"),
    ("2.5.4.11", "organizationalUnitName", "RFC 4519"),
    ("2.5.4.12", "title", "RFC 4519"),
    ("2.5.4.13", "description", "RFC 4519"),
    ("2.5.4.14", "searchGuide", "RFC 4519"),
    ("2.5.4.15", "businessCategory", "RFC 4519"),
    ("2.5.4.16", "postalAddress", "RFC 4519"),
    ("2.5.4.17", "postalCode", "RFC 4519"),
    ("2.5.4.18", "postOfficeBox", "RFC 4519"),
    ("2.5.4.19", "physicalDeliveryOfficeName", "RFC 4519"),
    ("2.5.4.20", "telephoneNumber", "RFC 4519"),
    ("2.5.4.23", "facsimileTelephoneNumber", "RFC 4519"),
    ("2.5.4.31", "member", "RFC 4519"),
    ("2.5.4.32", "owner", "RFC 4519"),
    ("2.5.4.33", "roleOccupant", "RFC 4519"),
    ("2.5.4.34", "seeAlso", "RFC 4519"),
    ("2.5.4.35", "userPassword", "RFC 4519"),
    ("2.5.4.36", "userCertificate", "RFC 4523"),
    ("2.5.4.41", "name", "RFC 4519"),
    ("2.5.4.42", "givenName", "RFC 4519"),
    ("2.5.4.43", "initials", "RFC 4519"),
    ("2.5.4.44", "generationQualifier", "RFC 4519"),
    ("2.5.4.45", "x500UniqueIdentifier", "RFC 4519"),
    ("2.5.4.46", "dnQualifier", "RFC 4519"),
    ("2.5.4.49", "distinguishedName", "RFC 4519"),
    ("2.5.4.50", "uniqueMember", "RFC 4519"),
    ("2.5.18.1", "createTimestamp", "RFC 4512"),
    ("2.5.18.2", "modifyTimestamp", "RFC 4512"),
    ("2.5.18.3", "creatorsName", "RFC 4512"),
    ("2.5.18.4", "modifiersName", "RFC 4512"),
    ("2.5.18.10", "subschemaSubentry", "RFC 4512"),
    ("2.5.21.5", "attributeTypes", "RFC 4512"),
    ("2.5.21.6", "objectClasses", "RFC 4512"),
    ("2.5.21.9", "structuralObjectClass", "RFC 4512"),
    ("1.3.6.1.1.16.4", "entryUUID", "RFC 4530"),
    ("1.3.6.1.1.20", "entryDN", "RFC 5020"),
    ("1.3.6.1.1.1.1.0", "uidNumber", "RFC 2307"),
    ("1.3.6.1.1.1.1.1", "gidNumber", "RFC 2307"),
    ("1.3.6.1.1.1.1.2", "gecos", "RFC 2307"),
    ("1.3.6.1.1.1.1.3", "homeDirectory", "RFC 2307"),
    ("1.3.6.1.1.1.1.4", "loginShell", "RFC 2307"),
    ("1.3.6.1.1.1.1.12", "memberUid", "RFC 2307"),
    ("1.3.6.1.4.1.1466.101.120.5", "namingContexts", "RFC 4512"),
    ("1.3.6.1.4.1.1466.101.120.6", "altServer", "RFC 4512"),
    ("1.3.6.1.4.1.1466.101.120.7", "supportedExtension", "RFC 4512"),
    ("1.3.6.1.4.1.1466.101.120.13", "supportedControl", "RFC 4512"),
    ("1.3.6.1.4.1.1466.101.120.14", "supportedSASLMechanisms", "RFC 4512"),
    ("1.3.6.1.4.1.1466.101.120.15", "supportedLDAPVersion", "RFC 4512"),
    ("1.3.6.1.4.1.4203.1.3.5", "supportedFeatures", "RFC 4512"),
    ("1.3.6.1.4.1.4203.666.1.7", "entryCSN", "OpenLDAP"),
    ("1.3.6.1.4.1.4203.666.1.25", "contextCSN", "OpenLDAP"),
    ("0.9.2342.19200300.100.1.1", "uid", "RFC 4519"),
    ("0.9.2342.19200300.100.1.1", "userid", "RFC 4519"),
    ("0.9.2342.19200300.100.1.3", "mail", "RFC 4524"),
    ("0.9.2342.19200300.100.1.10", "manager", "RFC 4524"),
    ("0.9.2342.19200300.100.1.20", "homePhone", "RFC 4524"),
    ("0.9.2342.19200300.100.1.25", "dc", "RFC 4519"),
    ("0.9.2342.19200300.100.1.25", "domainComponent", "RFC 4519"),
    ("0.9.2342.19200300.100.1.41", "mobile", "RFC 4524"),
    ("0.9.2342.19200300.100.1.42", "pager", "RFC 4524"),
    ("0.9.2342.19200300.100.1.60", "jpegPhoto", "RFC 2798"),
    ("1.3.6.1.4.1.250.1.57", "labeledURI", "RFC 2079"),
    ("2.16.840.1.113730.3.1.1", "carLicense", "RFC 2798"),
    ("2.16.840.1.113730.3.1.2", "departmentNumber", "RFC 2798"),
    ("2.16.840.1.113730.3.1.3", "employeeNumber", "RFC 2798"),
    ("2.16.840.1.113730.3.1.4", "employeeType", "RFC 2798"),
    ("2.16.840.1.113730.3.1.39", "preferredLanguage", "RFC 2798"),
    ("2.16.840.1.113730.3.1.241", "displayName", "RFC 2798"),
    ("2.16.840.1.113730.3.1.34", "ref", "RFC 3296"),
    ("1.2.840.113556.1.2.102", "memberOf", "MS-ADA2"),
    ("1.2.840.113556.1.4.221", "sAMAccountName", "MS-ADA3"),
    ("1.2.840.113556.1.4.656", "userPrincipalName", "MS-ADA3"),
    ("1.2.840.113556.1.4.8", "userAccountControl", "MS-ADA3"),
    ("1.2.840.113556.1.4.2", "objectGUID", "MS-ADA3"),
    ("1.2.840.113556.1.4.146", "objectSid", "MS-ADA3"),
];

const CLASSES: Rows = &[
    ("2.5.6.0", "top", "RFC 4512"),
    ("2.5.6.1", "alias", "RFC 4512"),
    ("2.5.6.2", "country", "RFC 4519"),
    ("2.5.6.3", "locality", "RFC 4519"),
    ("2.5.6.4", "organization", "RFC 4519"),
    ("2.5.6.5", "organizationalUnit", "RFC 4519"),
    ("2.5.6.6", "person", "RFC 4519"),
    ("2.5.6.7", "organizationalPerson", "RFC 4519"),
    ("2.5.6.8", "organizationalRole", "RFC 4519"),
    ("2.5.6.9", "groupOfNames", "RFC 4519"),
    ("2.5.6.10", "residentialPerson", "RFC 4519"),
    ("2.5.6.11", "applicationProcess", "RFC 4519"),
    ("2.5.6.14", "device", "RFC 4519"),
    ("2.5.6.17", "groupOfUniqueNames", "RFC 4519"),
    ("2.5.20.1", "subschema", "RFC 4512"),
    ("1.3.6.1.1.1.2.0", "posixAccount", "RFC 2307"),
    ("1.3.6.1.1.1.2.1", "shadowAccount", "RFC 2307"),
    ("1.3.6.1.1.1.2.2", "posixGroup", "RFC 2307"),
    ("1.3.6.1.4.1.1466.344", "dcObject", "RFC 4519"),
    ("1.3.6.1.4.1.1466.101.120.111", "extensibleObject", "RFC 4512"),
    ("0.9.2342.19200300.100.4.5", "account", "RFC 4524"),
    ("0.9.2342.19200300.100.4.13", "domain", "RFC 4524"),
    ("0.9.2342.19200300.100.4.19", "simpleSecurityObject", "RFC 4524"),
    ("2.16.840.1.113730.3.2.2", "inetOrgPerson", "RFC 2798"),
    ("2.16.840.1.113730.3.2.6", "referral", "RFC 3296"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_and_identifiers_are_found() {
        assert_eq!(oid("1.3.6.1.4.1.1466.20037").unwrap().name, "startTLS");
        assert_eq!(oid("CN").unwrap().oid, "2.5.4.3");
        assert_eq!(oid("inetorgperson").unwrap().kind, "object class");
        assert!(oid("1.2.3.4.5").is_none());
        let mut names = HashSet::new();
        for one in all() {
            assert!(names.insert((one.kind, one.name.to_ascii_lowercase())), "twice: {}", one.name);
            assert!(one.oid.split('.').all(|arc| arc.parse::<u32>().is_ok()), "{}", one.oid);
        }
    }
}
