//! Names of OBJECT IDENTIFIERs that are met everywhere: X.500, PKIX, PKCS, algorithms. Specifications name others, and these by other
//! names: theirs come first (`Shape::oid_name`).

use tercet_plan::Shape;
use tercet_runtime::types::OidRef;

/// By the text of the arcs, sorted.
const NAMES: &[(&str, &str)] = &[
    ("0.9.2342.19200300.100.1.1", "uid"),
    ("0.9.2342.19200300.100.1.25", "domainComponent"),
    ("0.9.2342.19200300.100.1.3", "mail"),
    ("1.2.840.10040.4.1", "id-dsa"),
    ("1.2.840.10040.4.3", "id-dsa-with-sha1"),
    ("1.2.840.10045.2.1", "id-ecPublicKey"),
    ("1.2.840.10045.3.1.7", "secp256r1"),
    ("1.2.840.10045.4.1", "ecdsa-with-SHA1"),
    ("1.2.840.10045.4.3.1", "ecdsa-with-SHA224"),
    ("1.2.840.10045.4.3.2", "ecdsa-with-SHA256"),
    ("1.2.840.10045.4.3.3", "ecdsa-with-SHA384"),
    ("1.2.840.10045.4.3.4", "ecdsa-with-SHA512"),
    ("1.2.840.113549.1.1.1", "rsaEncryption"),
    ("1.2.840.113549.1.1.10", "id-RSASSA-PSS"),
    ("1.2.840.113549.1.1.11", "sha256WithRSAEncryption"),
    ("1.2.840.113549.1.1.12", "sha384WithRSAEncryption"),
    ("1.2.840.113549.1.1.13", "sha512WithRSAEncryption"),
    ("1.2.840.113549.1.1.14", "sha224WithRSAEncryption"),
    ("1.2.840.113549.1.1.4", "md5WithRSAEncryption"),
    ("1.2.840.113549.1.1.5", "sha1WithRSAEncryption"),
    ("1.2.840.113549.1.1.7", "id-RSAES-OAEP"),
    ("1.2.840.113549.1.1.8", "id-mgf1"),
    ("1.2.840.113549.1.12.10.1.2", "pkcs8ShroudedKeyBag"),
    ("1.2.840.113549.1.12.10.1.3", "certBag"),
    ("1.2.840.113549.1.5.12", "id-PBKDF2"),
    ("1.2.840.113549.1.5.13", "id-PBES2"),
    ("1.2.840.113549.1.7.1", "id-data"),
    ("1.2.840.113549.1.7.2", "id-signedData"),
    ("1.2.840.113549.1.7.3", "id-envelopedData"),
    ("1.2.840.113549.1.7.5", "id-digestedData"),
    ("1.2.840.113549.1.7.6", "id-encryptedData"),
    ("1.2.840.113549.1.9.1", "pkcs-9-at-emailAddress"),
    ("1.2.840.113549.1.9.14", "pkcs-9-at-extensionRequest"),
    ("1.2.840.113549.1.9.16.1.4", "id-ct-TSTInfo"),
    ("1.2.840.113549.1.9.20", "pkcs-9-at-friendlyName"),
    ("1.2.840.113549.1.9.21", "pkcs-9-at-localKeyId"),
    ("1.2.840.113549.1.9.3", "pkcs-9-at-contentType"),
    ("1.2.840.113549.1.9.4", "pkcs-9-at-messageDigest"),
    ("1.2.840.113549.1.9.5", "pkcs-9-at-signingTime"),
    ("1.2.840.113549.1.9.7", "pkcs-9-at-challengePassword"),
    ("1.2.840.113549.2.5", "md5"),
    ("1.2.840.113549.2.9", "hmacWithSHA256"),
    ("1.2.840.113549.3.7", "des-EDE3-CBC"),
    ("1.3.101.110", "id-X25519"),
    ("1.3.101.111", "id-X448"),
    ("1.3.101.112", "id-Ed25519"),
    ("1.3.101.113", "id-Ed448"),
    ("1.3.132.0.10", "secp256k1"),
    ("1.3.132.0.34", "secp384r1"),
    ("1.3.132.0.35", "secp521r1"),
    ("1.3.14.3.2.26", "id-sha1"),
    ("1.3.6.1.4.1.11129.2.4.2", "signedCertificateTimestampList"),
    ("1.3.6.1.5.5.7.1.1", "id-pe-authorityInfoAccess"),
    ("1.3.6.1.5.5.7.1.11", "id-pe-subjectInfoAccess"),
    ("1.3.6.1.5.5.7.1.24", "id-pe-tlsfeature"),
    ("1.3.6.1.5.5.7.1.3", "id-pe-qcStatements"),
    ("1.3.6.1.5.5.7.2.1", "id-qt-cps"),
    ("1.3.6.1.5.5.7.2.2", "id-qt-unotice"),
    ("1.3.6.1.5.5.7.3.1", "id-kp-serverAuth"),
    ("1.3.6.1.5.5.7.3.2", "id-kp-clientAuth"),
    ("1.3.6.1.5.5.7.3.3", "id-kp-codeSigning"),
    ("1.3.6.1.5.5.7.3.4", "id-kp-emailProtection"),
    ("1.3.6.1.5.5.7.3.8", "id-kp-timeStamping"),
    ("1.3.6.1.5.5.7.3.9", "id-kp-OCSPSigning"),
    ("1.3.6.1.5.5.7.48.1", "id-ad-ocsp"),
    ("1.3.6.1.5.5.7.48.1.1", "id-pkix-ocsp-basic"),
    ("1.3.6.1.5.5.7.48.1.2", "id-pkix-ocsp-nonce"),
    ("1.3.6.1.5.5.7.48.2", "id-ad-caIssuers"),
    ("1.3.6.1.5.5.7.48.3", "id-ad-timeStamping"),
    ("1.3.6.1.5.5.7.48.5", "id-ad-caRepository"),
    ("2.16.840.1.101.3.4.1.2", "id-aes128-CBC"),
    ("2.16.840.1.101.3.4.1.42", "id-aes256-CBC"),
    ("2.16.840.1.101.3.4.1.46", "id-aes256-GCM"),
    ("2.16.840.1.101.3.4.1.6", "id-aes128-GCM"),
    ("2.16.840.1.101.3.4.2.1", "id-sha256"),
    ("2.16.840.1.101.3.4.2.2", "id-sha384"),
    ("2.16.840.1.101.3.4.2.3", "id-sha512"),
    ("2.16.840.1.101.3.4.2.4", "id-sha224"),
    ("2.23.140.1.1", "extended-validation"),
    ("2.23.140.1.2.1", "domain-validated"),
    ("2.23.140.1.2.2", "organization-validated"),
    ("2.5.29.14", "id-ce-subjectKeyIdentifier"),
    ("2.5.29.15", "id-ce-keyUsage"),
    ("2.5.29.16", "id-ce-privateKeyUsagePeriod"),
    ("2.5.29.17", "id-ce-subjectAltName"),
    ("2.5.29.18", "id-ce-issuerAltName"),
    ("2.5.29.19", "id-ce-basicConstraints"),
    ("2.5.29.20", "id-ce-cRLNumber"),
    ("2.5.29.21", "id-ce-cRLReasons"),
    ("2.5.29.24", "id-ce-invalidityDate"),
    ("2.5.29.27", "id-ce-deltaCRLIndicator"),
    ("2.5.29.28", "id-ce-issuingDistributionPoint"),
    ("2.5.29.29", "id-ce-certificateIssuer"),
    ("2.5.29.30", "id-ce-nameConstraints"),
    ("2.5.29.31", "id-ce-cRLDistributionPoints"),
    ("2.5.29.32", "id-ce-certificatePolicies"),
    ("2.5.29.32.0", "anyPolicy"),
    ("2.5.29.33", "id-ce-policyMappings"),
    ("2.5.29.35", "id-ce-authorityKeyIdentifier"),
    ("2.5.29.36", "id-ce-policyConstraints"),
    ("2.5.29.37", "id-ce-extKeyUsage"),
    ("2.5.29.37.0", "anyExtendedKeyUsage"),
    ("2.5.29.46", "id-ce-freshestCRL"),
    ("2.5.29.54", "id-ce-inhibitAnyPolicy"),
    ("2.5.29.9", "id-ce-subjectDirectoryAttributes"),
    ("2.5.4.0", "id-at-objectClass"),
    ("2.5.4.10", "id-at-organizationName"),
    ("2.5.4.11", "id-at-organizationalUnitName"),
    ("2.5.4.12", "id-at-title"),
    ("2.5.4.13", "id-at-description"),
    ("2.5.4.15", "id-at-businessCategory"),
    ("2.5.4.16", "id-at-postalAddress"),
    ("2.5.4.17", "id-at-postalCode"),
    ("2.5.4.20", "id-at-telephoneNumber"),
    ("2.5.4.3", "id-at-commonName"),
    ("2.5.4.35", "id-at-userPassword"),
    ("2.5.4.36", "id-at-userCertificate"),
    ("2.5.4.4", "id-at-surname"),
    ("2.5.4.41", "id-at-name"),
    ("2.5.4.42", "id-at-givenName"),
    ("2.5.4.43", "id-at-initials"),
    ("2.5.4.44", "id-at-generationQualifier"),
    ("2.5.4.45", "id-at-uniqueIdentifier"),
    ("2.5.4.46", "id-at-dnQualifier"),
    ("2.5.4.5", "id-at-serialNumber"),
    ("2.5.4.6", "id-at-countryName"),
    ("2.5.4.65", "id-at-pseudonym"),
    ("2.5.4.7", "id-at-localityName"),
    ("2.5.4.8", "id-at-stateOrProvinceName"),
    ("2.5.4.9", "id-at-streetAddress"),
    ("2.5.4.97", "id-at-organizationIdentifier"),
];

/// The name of an OBJECT IDENTIFIER: that of the specifications, or one that is known everywhere.
pub fn oid_name<'s>(shape: Option<&'s Shape>, oid: OidRef<'_>) -> Option<&'s str> {
    let own = shape.and_then(|shape| shape.oid_name(oid.as_bytes()));
    own.or_else(|| well_known(&oid.to_string()))
}

/// The well-known name of an OBJECT IDENTIFIER, by the text of its arcs.
///
/// ```
/// assert_eq!(tercet_dynamic::oids::well_known("2.5.4.3"), Some("id-at-commonName"));
/// assert_eq!(tercet_dynamic::oids::well_known("2.5.4"), None);
/// ```
pub fn well_known(arcs: &str) -> Option<&'static str> {
    NAMES.binary_search_by(|(known, _)| (*known).cmp(arcs)).ok().map(|at| NAMES[at].1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_names_are_found() {
        for (arcs, name) in NAMES {
            assert_eq!(well_known(arcs), Some(*name));
        }
    }
}
