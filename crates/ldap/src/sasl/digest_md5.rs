//! DIGEST-MD5 (RFC 2831, now historic): authentication alone, for servers that have nothing better.

use md5::{Digest as _, Md5};

use super::{Begin, Mechanism, auth, nonce};
use crate::error::Result;

/// An exchange of DIGEST-MD5.
pub struct DigestMd5 {
    authorization: String,
    user: String,
    password: String,
    host: String,
    cnonce: String,
    /// What the server has to say at the end.
    expected: Option<String>,
    done: bool,
}

impl std::fmt::Debug for DigestMd5 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DigestMd5").field("user", &self.user).finish_non_exhaustive()
    }
}

impl DigestMd5 {
    /// With a user and a password; `authorization` is empty for the user's own.
    pub fn new(
        authorization: impl Into<String>,
        user: impl Into<String>,
        password: impl Into<String>,
    ) -> Self {
        Self {
            authorization: authorization.into(),
            user: user.into(),
            password: password.into(),
            host: String::new(),
            cnonce: String::new(),
            expected: None,
            done: false,
        }
    }

    fn respond(&mut self, challenge: &str) -> Result<String> {
        let directives = directives(challenge)?;
        let find =
            |name: &str| directives.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
        let server_nonce = find("nonce").ok_or_else(|| auth("the challenge has no nonce"))?;
        let qop = find("qop").unwrap_or("auth");
        if !qop.split(',').any(|one| one.trim() == "auth") {
            return Err(auth(format_args!(
                "the server asks for protection `{qop:.50}`, which TLS is there for"
            )));
        }
        if self.cnonce.is_empty() {
            self.cnonce = nonce()?;
        }
        let realm = find("realm").unwrap_or_default();
        let uri = format!("ldap/{}", if self.host.is_empty() { "localhost" } else { &self.host });
        let secret = md5(&[self.user.as_bytes(), realm.as_bytes(), self.password.as_bytes()]);
        let mut a1 = secret.to_vec();
        for part in [server_nonce, &self.cnonce] {
            a1.push(b':');
            a1.extend_from_slice(part.as_bytes());
        }
        if !self.authorization.is_empty() {
            a1.push(b':');
            a1.extend_from_slice(self.authorization.as_bytes());
        }
        let a1 = hex(&md5(&[&a1]));
        let answer = |a2: String| {
            let a2 = hex(&md5(&[a2.as_bytes()]));
            let parts = [&a1, server_nonce, "00000001", &self.cnonce, "auth", &a2];
            hex(&md5(&parts.map(str::as_bytes)))
        };
        let response = answer(format!("AUTHENTICATE:{uri}"));
        self.expected = Some(answer(format!(":{uri}")));
        let mut text = format!("charset=utf-8,username={},", quoted(&self.user));
        if find("realm").is_some() {
            text += &format!("realm={},", quoted(realm));
        }
        text += &format!("nonce={},nc=00000001,cnonce={},", quoted(server_nonce), quoted(&self.cnonce));
        text += &format!("digest-uri={},qop=auth,response={response}", quoted(&uri));
        if !self.authorization.is_empty() {
            text += &format!(",authzid={}", quoted(&self.authorization));
        }
        Ok(text)
    }

    fn check(&mut self, last: &[u8]) -> Result<()> {
        let last = std::str::from_utf8(last).map_err(|_| auth("the server's last message is not UTF-8"))?;
        let directives = directives(last)?;
        let said = directives.iter().find(|(name, _)| name == "rspauth").map(|(_, value)| value);
        if said.is_none() || said != self.expected.as_ref() {
            return Err(auth("the server does not show that it knows the password"));
        }
        self.done = true;
        Ok(())
    }
}

impl Mechanism for DigestMd5 {
    fn name(&self) -> &'static str {
        "DIGEST-MD5"
    }

    fn begin(&mut self, begin: &Begin) {
        begin.host.clone_into(&mut self.host);
    }

    fn step(&mut self, challenge: Option<&[u8]>) -> Result<Option<Vec<u8>>> {
        let Some(challenge) = challenge else {
            return Ok(None);
        };
        if self.expected.is_some() {
            self.check(challenge)?;
            return Ok(Some(Vec::new()));
        }
        let challenge = std::str::from_utf8(challenge).map_err(|_| auth("a challenge that is not UTF-8"))?;
        self.respond(challenge).map(|text| Some(text.into_bytes()))
    }

    fn finish(&mut self, last: Option<&[u8]>) -> Result<()> {
        if self.done { Ok(()) } else { self.check(last.unwrap_or_default()) }
    }
}

/// The digest of parts with `:` between them.
fn md5(parts: &[&[u8]]) -> [u8; 16] {
    let mut digest = Md5::new();
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            digest.update(b":");
        }
        digest.update(part);
    }
    digest.finalize().into()
}

fn hex(octets: &[u8]) -> String {
    octets.iter().map(|octet| format!("{octet:02x}")).collect()
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// `name=value` or `name="value"`, with commas between.
fn directives(text: &str) -> Result<Vec<(String, String)>> {
    let mut found = Vec::new();
    let mut rest = text.trim_matches([' ', ',', '\t', '\r', '\n']);
    while !rest.is_empty() {
        let (name, behind) = rest.split_once('=').ok_or_else(|| auth("a directive without `=`"))?;
        let mut value = String::new();
        let behind = behind.trim_start();
        let end = if let Some(inside) = behind.strip_prefix('"') {
            let mut characters = inside.char_indices();
            let end = loop {
                match characters.next() {
                    None => return Err(auth("a directive without an end")),
                    Some((at, '"')) => break at,
                    Some((_, '\\')) => value.extend(characters.next().map(|(_, character)| character)),
                    Some((_, character)) => value.push(character),
                }
            };
            end + 2
        } else {
            let end = behind.find(',').unwrap_or(behind.len());
            value.push_str(behind.get(..end).unwrap_or_default().trim());
            end
        };
        found.push((name.trim().to_ascii_lowercase(), value));
        rest = behind.get(end..).unwrap_or_default().trim_start_matches([' ', ',', '\t', '\r', '\n']);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values of RFC 2831 clause 4, whose service is imap: `ldap/` and another host give others, so the parts that
    /// go into the digest are held against the RFC by its own formula with its own uri.
    #[test]
    fn example() {
        let secret = md5(&[b"chris", b"elwood.innosoft.com", b"secret"]);
        let mut a1 = secret.to_vec();
        a1.extend_from_slice(b":OA6MG9tEQGm2hh:OA6MHXh6VqTrRk");
        let a1 = hex(&md5(&[&a1]));
        let a2 = hex(&md5(&[b"AUTHENTICATE:imap/elwood.innosoft.com"]));
        let parts: [&[u8]; 6] =
            [a1.as_bytes(), b"OA6MG9tEQGm2hh", b"00000001", b"OA6MHXh6VqTrRk", b"auth", a2.as_bytes()];
        assert_eq!(hex(&md5(&parts)), "d388dad90d4bbd760a152321f2143af7");
    }

    #[test]
    fn exchange() {
        let mut digest = DigestMd5::new("", "chris", "secret");
        assert_eq!(digest.step(None).unwrap(), None);
        let challenge =
            br#"realm="elwood",nonce="OA6MG9tEQGm2hh",qop="auth,auth-int",algorithm=md5-sess,charset=utf-8"#;
        let response = String::from_utf8(digest.step(Some(challenge)).unwrap().unwrap()).unwrap();
        assert!(response.starts_with(
            r#"charset=utf-8,username="chris",realm="elwood",nonce="OA6MG9tEQGm2hh",nc=00000001,"#
        ));
        assert!(digest.step(Some(b"rspauth=00")).is_err());
        for bad in [&b"nonce"[..], b"realm=x", b"nonce=x,qop=\"auth-conf\"", b"nonce=\"x", b"\xFF"] {
            assert!(DigestMd5::new("", "u", "p").step(Some(bad)).is_err());
        }
    }
}
