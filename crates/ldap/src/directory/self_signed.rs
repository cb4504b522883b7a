//! A certificate of a server's own (RFC 5280), for servers that have none.

use std::net::IpAddr;

use ring::rand::{SecureRandom as _, SystemRandom};
use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair as _};

use super::entry::{element, now, timestamp};
use crate::error::{Error, ErrorKind, Result};

/// ecdsa-with-SHA256 (RFC 5758 3.2)
const ECDSA_SHA256: &[u8] = &[0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x02];
/// id-ecPublicKey and secp256r1 (RFC 5480 2.1.1)
const EC_KEY: &[u8] = &[0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01];
const P256: &[u8] = &[0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07];
/// id-at-commonName
const COMMON_NAME: &[u8] = &[0x06, 0x03, 0x55, 0x04, 0x03];
/// id-ce-subjectAltName (RFC 5280 4.2.1.6)
const ALTERNATIVE_NAMES: &[u8] = &[0x06, 0x03, 0x55, 0x1D, 0x11];

const DAY: u64 = 24 * 60 * 60 * 1_000_000;

/// A certificate and its key, in DER.
pub(super) struct SelfSigned {
    pub(super) certificate: Vec<u8>,
    /// PKCS #8
    pub(super) key: Vec<u8>,
}

/// A certificate that was made for a server.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OwnCertificate {
    /// The certificate in DER.
    pub der: Vec<u8>,
}

impl OwnCertificate {
    /// Returns the SHA-256 of the certificate in hexadecimal digits.
    #[must_use]
    pub fn sha256(&self) -> String {
        let hash = ring::digest::digest(&ring::digest::SHA256, &self.der);
        hash.as_ref().iter().map(|octet| format!("{octet:02x}")).collect()
    }
}

fn der(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let mut out = Vec::new();
    element(&mut out, tag, &parts.concat());
    out
}

fn sequence(parts: &[&[u8]]) -> Vec<u8> {
    der(0x30, parts)
}

/// Makes a certificate for hosts, names or addresses, that is valid for a year.
///
/// # Errors
/// The system has no random bytes.
pub(super) fn new(hosts: &[String]) -> Result<SelfSigned> {
    let fault = |_| Error::new(ErrorKind::Tls, "TLS: a certificate cannot be made");
    let rejected = |_| Error::new(ErrorKind::Tls, "TLS: a key cannot be made");
    let random = SystemRandom::new();
    let algorithm = &ECDSA_P256_SHA256_ASN1_SIGNING;
    let pkcs8 = EcdsaKeyPair::generate_pkcs8(algorithm, &random).map_err(fault)?;
    let key = EcdsaKeyPair::from_pkcs8(algorithm, pkcs8.as_ref(), &random).map_err(rejected)?;
    let mut serial = [0; 16];
    random.fill(&mut serial).map_err(fault)?;
    // Positive, and without leading zeros.
    serial[0] = serial[0] & 0x7F | 0x40;

    let signature = sequence(&[ECDSA_SHA256]);
    let name = der(0x31, &[&sequence(&[COMMON_NAME, &der(0x0C, &[b"tercet ldap serve"])])]);
    let name = sequence(&[&name]);
    // UTCTime, which has two digits of the year (RFC 5280 4.1.2.5.1).
    let time = |micros| der(0x17, &[timestamp(micros, false).as_bytes().get(2..).unwrap_or_default()]);
    let validity = sequence(&[&time(now() - DAY), &time(now() + 365 * DAY)]);
    let bits = |octets: &[u8]| der(0x03, &[&[0], octets]);
    let public = sequence(&[&sequence(&[EC_KEY, P256]), &bits(key.public_key().as_ref())]);
    let alternative = |host: &String| match host.parse::<IpAddr>() {
        Ok(IpAddr::V4(address)) => der(0x87, &[&address.octets()]),
        Ok(IpAddr::V6(address)) => der(0x87, &[&address.octets()]),
        Err(_) => der(0x82, &[host.as_bytes()]),
    };
    let alternatives: Vec<u8> = hosts.iter().flat_map(alternative).collect();
    let extension = sequence(&[ALTERNATIVE_NAMES, &der(0x04, &[&sequence(&[&alternatives])])]);
    let to_be_signed = sequence(&[
        &der(0xA0, &[&der(0x02, &[&[2]])]),
        &der(0x02, &[&serial]),
        &signature,
        &name,
        &validity,
        &name,
        &public,
        &der(0xA3, &[&sequence(&[&extension])]),
    ]);
    let signed = key.sign(&random, &to_be_signed).map_err(fault)?;
    let certificate = sequence(&[&to_be_signed, &signature, &bits(signed.as_ref())]);
    Ok(SelfSigned { certificate, key: pkcs8.as_ref().to_vec() })
}
