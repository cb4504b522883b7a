//! OAUTHBEARER (RFC 7628): a bearer token in place of a password.

use super::{Begin, Mechanism, auth};
use crate::error::Result;

/// An exchange of OAUTHBEARER. Who reads it has the token, so that it wants TLS as a password does.
pub struct OauthBearer {
    authorization: String,
    token: String,
    host: String,
}

impl std::fmt::Debug for OauthBearer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OauthBearer").field("authorization", &self.authorization).finish_non_exhaustive()
    }
}

impl OauthBearer {
    /// With a token; `authorization` is empty for whom the token is about.
    pub fn new(authorization: impl Into<String>, token: impl Into<String>) -> Self {
        Self { authorization: authorization.into(), token: token.into(), host: String::new() }
    }

    /// `client-resp` (3.1): the GS2 header, and keys with values between octets of 1.
    fn response(&self) -> Result<String> {
        if self.token.is_empty() || !self.token.bytes().all(|octet| octet.is_ascii_graphic()) {
            return Err(auth("a token has printable characters of ASCII"));
        }
        if self.authorization.contains(['\0', '\x01']) {
            return Err(auth("a byte of 0 or 1 in the user"));
        }
        let mut text = String::from("n,");
        if !self.authorization.is_empty() {
            text += "a=";
            text += &self.authorization.replace('=', "=3D").replace(',', "=2C");
        }
        text += ",\x01";
        if !self.host.is_empty() {
            text += &format!("host={}\x01", self.host);
        }
        text += &format!("auth=Bearer {}\x01\x01", self.token);
        Ok(text)
    }
}

impl Mechanism for OauthBearer {
    fn name(&self) -> &'static str {
        "OAUTHBEARER"
    }

    fn begin(&mut self, begin: &Begin) {
        begin.host.clone_into(&mut self.host);
    }

    fn step(&mut self, challenge: Option<&[u8]>) -> Result<Option<Vec<u8>>> {
        match challenge {
            None => Ok(Some(self.response()?.into_bytes())),
            // The server says what is wrong with the token, and its result once it has this (3.2.3).
            Some(_) => Ok(Some(vec![1])),
        }
    }

    fn shows_password(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As in clause 4.1, without the port, which nobody but the token's issuer could use.
    #[test]
    fn exchange() {
        let mut mechanism =
            OauthBearer::new("user@example.com", "vF9dft4qmTc2Nvb3RlckBhbHRhdmlzdGEuY29tCg==");
        mechanism.begin(&Begin { host: "server.example.com".to_owned(), ..Begin::default() });
        let first = mechanism.step(None).unwrap().unwrap();
        let expected = "n,a=user@example.com,\x01host=server.example.com\x01\
                        auth=Bearer vF9dft4qmTc2Nvb3RlckBhbHRhdmlzdGEuY29tCg==\x01\x01";
        assert_eq!(String::from_utf8(first).unwrap(), expected);
        let failure = br#"{"status":"invalid_token"}"#;
        assert_eq!(mechanism.step(Some(failure)).unwrap().unwrap(), [1]);
        assert!(mechanism.shows_password());
        assert!(!format!("{mechanism:?}").contains("vF9"));
    }

    #[test]
    fn what_cannot_be_sent() {
        let first = |user: &str, token: &str| OauthBearer::new(user, token).step(None);
        assert_eq!(first("a,b=c", "t").unwrap().unwrap(), b"n,a=a=2Cb=3Dc,\x01auth=Bearer t\x01\x01");
        assert_eq!(first("", "t").unwrap().unwrap(), b"n,,\x01auth=Bearer t\x01\x01");
        for (user, token) in [("", ""), ("", "a b"), ("", "a\x01b"), ("", "\u{e9}"), ("\0", "t")] {
            assert!(first(user, token).is_err(), "{user:?} {token:?}");
        }
        assert!(first("a\x01auth=x", "t").is_err());
    }
}
