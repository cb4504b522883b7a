//! Passwords as entries have them: `{SCHEME}` and what is made of the password, or the password itself (RFC 2307 5.3).

use argon2::{Algorithm, Argon2, Params, Version};
use base64::Engine as _;
use base64::alphabet;
use base64::engine::general_purpose::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use ring::digest::{self, Context};
use ring::pbkdf2;
use ring::rand::{SecureRandom as _, SystemRandom};

use crate::error::{Error, ErrorKind, Result};

/// Base64 as PHC strings have it: no padding is written, any is read.
const PHC: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_encode_padding(false)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// KiB of memory, and passes, that a stored hash may ask for: somebody who may write must not stop the server.
const MEMORY: u32 = 256 << 10;
const PASSES: u32 = 16;
/// Iterations of PBKDF2 that a stored hash may ask for.
const ITERATIONS: u32 = 2_000_000;

/// Returns a password as `{ARGON2}` with the parameters that RFC 9106 and OWASP recommend for little memory: argon2id, 19 MiB,
/// 2 passes.
///
/// # Errors
/// The system has no random bytes.
pub(crate) fn hashed(password: &[u8]) -> Result<Vec<u8>> {
    let fault = |message: &str| Error::new(ErrorKind::Auth, message);
    let mut salt = [0; 16];
    SystemRandom::new().fill(&mut salt).map_err(|_| fault("the system has no random bytes"))?;
    let mut hash = [0; 32];
    argon2(Algorithm::Argon2id, Params::DEFAULT, password, &salt, &mut hash)
        .ok_or_else(|| fault("the password is too long"))?;
    let (memory, passes, lanes) = (Params::DEFAULT_M_COST, Params::DEFAULT_T_COST, Params::DEFAULT_P_COST);
    let (salt, hash) = (PHC.encode(salt), PHC.encode(hash));
    Ok(format!("{{ARGON2}}$argon2id$v=19$m={memory},t={passes},p={lanes}${salt}${hash}").into_bytes())
}

/// Checks whether a password is the one that is stored. A value with an unknown scheme is nobody's password.
pub(super) fn is_same(stored: &[u8], password: &[u8]) -> bool {
    let Some((scheme, rest)) = scheme(stored) else {
        return equal(stored, password);
    };
    match scheme.as_str() {
        "CLEARTEXT" => equal(rest, password),
        "SHA" | "SSHA" => salted(&digest::SHA1_FOR_LEGACY_USE_ONLY, rest, password),
        "SHA256" | "SSHA256" => salted(&digest::SHA256, rest, password),
        "SHA384" | "SSHA384" => salted(&digest::SHA384, rest, password),
        "SHA512" | "SSHA512" => salted(&digest::SHA512, rest, password),
        "PBKDF2" | "PBKDF2-SHA1" => is_pbkdf2(pbkdf2::PBKDF2_HMAC_SHA1, rest, password),
        "PBKDF2-SHA256" => is_pbkdf2(pbkdf2::PBKDF2_HMAC_SHA256, rest, password),
        "PBKDF2-SHA512" => is_pbkdf2(pbkdf2::PBKDF2_HMAC_SHA512, rest, password),
        "ARGON2" => is_argon2(rest, password).unwrap_or(false),
        _ => false,
    }
}

/// Checks whether it takes long by intention to find out whether a password is the one that is stored.
pub(super) fn is_slow(stored: &[u8]) -> bool {
    scheme(stored).is_some_and(|(scheme, _)| scheme.starts_with("PBKDF2") || scheme == "ARGON2")
}

/// Checks whether a value is not the password itself but what is made of it.
pub(super) fn has_scheme(stored: &[u8]) -> bool {
    scheme(stored).is_some()
}

/// Takes `{SCHEME}` off; the name is in upper case.
fn scheme(stored: &[u8]) -> Option<(String, &[u8])> {
    let end = memchr::memchr(b'}', stored)?;
    let name = stored.get(..end)?.strip_prefix(b"{")?;
    let is_name = !name.is_empty()
        && name
            .iter()
            .all(|octet| octet.is_ascii_alphanumeric() || matches!(octet, b'-' | b'_' | b'.' | b'/'));
    let name = std::str::from_utf8(name).ok().filter(|_| is_name)?;
    Some((name.to_ascii_uppercase(), stored.get(end + 1..)?))
}

/// Compares in a time that does not tell where the first difference is.
fn equal(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |differences, (a, b)| differences | (a ^ b)) == 0
}

/// The digest of the password and a salt, which follows the digest.
fn salted(algorithm: &'static digest::Algorithm, encoded: &[u8], password: &[u8]) -> bool {
    let Ok(octets) = STANDARD.decode(encoded.trim_ascii()) else {
        return false;
    };
    let Some((expected, salt)) = octets.split_at_checked(algorithm.output_len()) else {
        return false;
    };
    let mut context = Context::new(algorithm);
    context.update(password);
    context.update(salt);
    equal(context.finish().as_ref(), expected)
}

/// `ITERATIONS$SALT$HASH` of OpenLDAP's pw-pbkdf2: base64 without padding, `.` instead of `+`.
fn is_pbkdf2(algorithm: pbkdf2::Algorithm, rest: &[u8], password: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(rest) else { return false };
    let mut parts = text.split('$');
    let (Some(iterations), Some(salt), Some(hash), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    let decode = |text: &str| PHC.decode(text.replace('.', "+")).ok();
    let iterations = iterations.parse().ok().filter(|count: &std::num::NonZeroU32| count.get() <= ITERATIONS);
    match (iterations, decode(salt), decode(hash)) {
        (Some(iterations), Some(salt), Some(hash)) if !hash.is_empty() => {
            pbkdf2::verify(algorithm, iterations, &salt, password, &hash).is_ok()
        }
        _ => false,
    }
}

/// `$argon2id$v=19$m=MEMORY,t=PASSES,p=LANES$SALT$HASH`, also of argon2i and argon2d.
fn is_argon2(rest: &[u8], password: &[u8]) -> Option<bool> {
    let text = std::str::from_utf8(rest).ok()?.strip_prefix('$')?;
    let mut parts = text.split('$');
    let algorithm = match parts.next()? {
        "argon2id" => Algorithm::Argon2id,
        "argon2i" => Algorithm::Argon2i,
        "argon2d" => Algorithm::Argon2d,
        _ => return None,
    };
    if parts.next()? != "v=19" {
        return None;
    }
    let (mut memory, mut passes, mut lanes) = (None, None, None);
    for parameter in parts.next()?.split(',') {
        match parameter.split_once('=')? {
            ("m", number) => memory = Some(number.parse::<u32>().ok()?),
            ("t", number) => passes = Some(number.parse::<u32>().ok()?),
            ("p", number) => lanes = Some(number.parse::<u32>().ok()?),
            _ => return None,
        }
    }
    let salt = PHC.decode(parts.next()?).ok()?;
    let expected = PHC.decode(parts.next()?).ok()?;
    let (memory, passes) = (memory?, passes?);
    if parts.next().is_some() || memory > MEMORY || passes > PASSES || expected.len() > 128 {
        return None;
    }
    let params = Params::new(memory, passes, lanes?, Some(expected.len())).ok()?;
    let mut found = vec![0; expected.len()];
    argon2(algorithm, params, password, &salt, &mut found)?;
    Some(equal(&found, &expected))
}

fn argon2(algorithm: Algorithm, params: Params, password: &[u8], salt: &[u8], out: &mut [u8]) -> Option<()> {
    Argon2::new(algorithm, Version::V0x13, params).hash_password_into(password, salt, out).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hashes of other programs: Python's hashlib (SHA, PBKDF2), and the reference code of argon2.
    #[test]
    fn schemes() {
        for stored in [
            "secret",
            "{CLEARTEXT}secret",
            "{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=",
            "{ssha}gVK8WC9YyFT1gMsQHTGCgT3sSv5zYWx0",
            "{SSHA512}E491yrR9AdCoE7rbOPYS3EZgSuZpVE65AD9xko08s6floNesY/Zpe9zMVvLix4S2FiQSJ99RIkNvhHomNO9uL3NhbHQ=",
            "{PBKDF2-SHA256}1000$c2FsdHNhbHQ$hgR9HsqtKupWxpnv8y99TrPDajTT/9PcSTlNafpdLXQ",
            "{ARGON2}$argon2id$v=19$m=64,t=1,p=1$c2FsdHNhbHQ$lTHBg+YB5Q71sLn/h1BdAseQCAdjPp8z",
        ] {
            assert!(is_same(stored.as_bytes(), b"secret"), "{stored}");
            assert!(!is_same(stored.as_bytes(), b"Secret"), "{stored}");
            assert!(!is_same(stored.as_bytes(), b""), "{stored}");
        }
        for stored in [
            "{CRYPT}secret",
            "{SSHA}",
            "{SSHA}?",
            "{SSHA}AAAA",
            "{PBKDF2-SHA256}4000000000$c2FsdHNhbHQ$AAAA",
            "{PBKDF2-SHA256}0$c2FsdHNhbHQ$AAAA",
            "{PBKDF2-SHA256}1000$c2FsdHNhbHQ$",
            "{ARGON2}$argon2id$v=19$m=4294967295,t=1,p=1$c2FsdHNhbHQ$AAAA",
            "{ARGON2}$argon2id$v=19$m=64,t=1,p=0$c2FsdHNhbHQ$AAAA",
            "{ARGON2}$argon2id$v=19$m=64,t=1,p=1$c2FsdHNhbHQ$",
            "{ARGON2}",
        ] {
            assert!(!is_same(stored.as_bytes(), b"secret"), "{stored}");
        }
    }

    #[test]
    fn new_hashes() {
        let (one, other) = (hashed(b"engine").unwrap(), hashed(b"engine").unwrap());
        assert!(one.starts_with(b"{ARGON2}$argon2id$v=19$m=19456,t=2,p=1$"));
        assert_ne!(one, other, "each has its own salt");
        assert!(is_same(&one, b"engine") && !is_same(&one, b"engines"));
    }
}
