//! LDAP URLs (RFC 4516).

use std::fmt::{self, Write as _};
use std::str::FromStr;

use crate::dn::Dn;
use crate::error::{Error, ErrorKind, Result};
use crate::filter::hex;

/// How far a search reaches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Scope {
    /// The base object alone.
    Base,
    /// What is immediately below it.
    One,
    /// The base object and all below it.
    #[default]
    Sub,
    /// All below it (draft-sermersheim-ldap-subordinate-scope).
    Children,
}

impl Scope {
    /// The word for it in URLs and options.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Base => "base",
            Self::One => "one",
            Self::Sub => "sub",
            Self::Children => "children",
        }
    }
}

impl FromStr for Scope {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text.to_ascii_lowercase().as_str() {
            "base" => Ok(Self::Base),
            "one" | "onelevel" => Ok(Self::One),
            "sub" | "subtree" => Ok(Self::Sub),
            "children" | "subordinate" | "subord" => Ok(Self::Children),
            _ => Err(Error::new(
                ErrorKind::Syntax,
                format!("scope `{text:.100}`: base, one, sub or children expected"),
            )),
        }
    }
}

/// An LDAP URL. `ldap`, `ldaps`, `ldapi` and `cldap` are known; of `ldapi`, the host is the path of a socket, and `cldap` is
/// searched by datagrams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    /// `ldap`, `ldaps`, `ldapi` or `cldap`.
    pub scheme: String,
    /// The host, without the brackets of IPv6; empty for the client's default.
    pub host: String,
    /// The port, if it is not the scheme's own.
    pub port: Option<u16>,
    /// The base of the search, without escapes.
    pub dn: String,
    /// What to ask for; empty for all.
    pub attributes: Vec<String>,
    /// The scope, if it is given; [`Scope::Base`] by RFC 4516 if not.
    pub scope: Option<Scope>,
    /// The filter, if it is given.
    pub filter: Option<String>,
    /// Extensions as they stand there, with `!` if critical.
    pub extensions: Vec<String>,
}

impl Default for Url {
    fn default() -> Self {
        Self {
            scheme: "ldap".to_owned(),
            host: String::new(),
            port: None,
            dn: String::new(),
            attributes: Vec::new(),
            scope: None,
            filter: None,
            extensions: Vec::new(),
        }
    }
}

impl Url {
    /// The port to connect to: 389, or 636 for `ldaps`, unless it is given.
    #[must_use]
    pub fn effective_port(&self) -> u16 {
        self.port.unwrap_or(if self.scheme == "ldaps" { 636 } else { 389 })
    }

    /// The domain that stands in place of a host (RFC 2247): `example.net` of `ldap:///dc=example,dc=net`, and of all names
    /// below it. Nothing if there is a host, or the name does not end in domain components.
    ///
    /// ```
    /// use tercet_ldap::Url;
    ///
    /// let url: Url = "ldap:///ou=people,dc=example,dc=net".parse()?;
    /// assert_eq!(url.domain().as_deref(), Some("example.net"));
    /// assert_eq!("ldap:///o=test".parse::<Url>()?.domain(), None);
    /// assert_eq!("ldap://localhost/dc=example,dc=net".parse::<Url>()?.domain(), None);
    /// # Ok::<(), tercet_ldap::Error>(())
    /// ```
    #[must_use]
    pub fn domain(&self) -> Option<String> {
        if matches!(self.scheme.as_str(), "ldapi" | "cldap") || !self.host.is_empty() || self.port.is_some() {
            return None;
        }
        let dn: Dn = self.dn.parse().ok()?;
        let labels = dn.rdns().iter().rev().map_while(|rdn| match rdn.avas() {
            [ava] if ava.attribute().eq_ignore_ascii_case("dc") => Some(label(ava.value())),
            _ => None,
        });
        let mut labels = labels.collect::<Option<Vec<&str>>>()?;
        labels.reverse();
        (!labels.is_empty()).then(|| labels.join("."))
    }

    /// Whether it is of a server of UDP.
    #[cfg(feature = "client")]
    pub(crate) fn is_of_datagrams(&self) -> bool {
        self.scheme == "cldap"
    }

    /// Scheme, host and port alone: what one connects to.
    #[must_use]
    pub fn server(&self) -> Self {
        Self { scheme: self.scheme.clone(), host: self.host.clone(), port: self.port, ..Self::default() }
    }
}

/// A label of a domain: letters, digits, hyphens and underscores, as no other can be looked up.
fn label(value: &[u8]) -> Option<&str> {
    let fits = |octet: &u8| octet.is_ascii_alphanumeric() || b"-_".contains(octet);
    if value.is_empty() || value.len() > 63 || !value.iter().all(fits) {
        return None;
    }
    std::str::from_utf8(value).ok()
}

impl FromStr for Url {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let fault = |message: &str| Error::new(ErrorKind::Syntax, format!("URL `{text:.200}`: {message}"));
        let (scheme, rest) = text.split_once("://").ok_or_else(|| fault("`://` expected"))?;
        let scheme = scheme.to_ascii_lowercase();
        if !matches!(scheme.as_str(), "ldap" | "ldaps" | "ldapi" | "cldap") {
            return Err(fault("ldap, ldaps, ldapi or cldap expected"));
        }
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, rest) = rest.split_at_checked(end).ok_or_else(|| fault("a host expected"))?;
        let (host, port) = if scheme == "ldapi" {
            (authority, None)
        } else {
            host_and_port(authority).ok_or_else(|| fault("a host and a port expected"))?
        };
        let mut parts = rest.strip_prefix('/').unwrap_or(rest).split('?');
        let mut next = || decode(parts.next().unwrap_or_default());
        let part = |part: Option<String>| {
            part.ok_or_else(|| fault("`%` needs two hexadecimal digits, and the text has to be UTF-8"))
        };
        let dn = part(next())?;
        let attributes = part(next())?;
        let scope = part(next())?;
        let filter = part(next())?;
        let extensions: Vec<String> = match parts.next() {
            None | Some("") => Vec::new(),
            Some(list) => list.split(',').map(|one| part(decode(one))).collect::<Result<_>>()?,
        };
        if parts.next().is_some() {
            return Err(fault("more than four `?`"));
        }
        let host = part(decode(host))?;
        let fits = |octet: u8| octet.is_ascii_alphanumeric() || b":.%-_~".contains(&octet);
        let is_address = authority.starts_with('[');
        let wrong = if is_address { !host.bytes().all(fits) } else { host.contains(':') };
        if scheme != "ldapi" && wrong {
            return Err(fault("an address in brackets, or a name without a colon, expected"));
        }
        Ok(Self {
            scheme,
            host,
            port,
            dn,
            attributes: attributes.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect(),
            scope: if scope.is_empty() { None } else { Some(scope.parse()?) },
            filter: (!filter.is_empty()).then_some(filter),
            extensions,
        })
    }
}

fn host_and_port(authority: &str) -> Option<(&str, Option<u16>)> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (host, port) = rest.split_once(']')?;
            (host, if port.is_empty() { None } else { Some(port.strip_prefix(':')?) })
        }
        None => authority.split_once(':').map_or((authority, None), |(host, port)| (host, Some(port))),
    };
    match port {
        None | Some("") => Some((host, None)),
        Some(port) => Some((host, Some(port.parse().ok()?))),
    }
}

fn decode(text: &str) -> Option<String> {
    let mut octets = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [octet, behind @ ..] = rest {
        rest = behind;
        if *octet == b'%' {
            octets.push(hex(behind.get(..2)?)?);
            rest = behind.get(2..)?;
        } else {
            octets.push(*octet);
        }
    }
    String::from_utf8(octets).ok()
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://", self.scheme)?;
        if self.host.contains(':') && self.scheme != "ldapi" {
            f.write_char('[')?;
            encode(f, &self.host, b"/?")?;
            f.write_char(']')?;
        } else {
            encode(f, &self.host, b"/:,?")?;
        }
        if let Some(port) = self.port {
            write!(f, ":{port}")?;
        }
        f.write_char('/')?;
        encode(f, &self.dn, b"?")?;
        let attributes: Vec<String> = self.attributes.clone();
        let mut parts: Vec<(String, &[u8])> = vec![
            (attributes.join(","), b"?"),
            (self.scope.map_or("", Scope::word).to_owned(), b"?"),
            (self.filter.clone().unwrap_or_default(), b"?"),
        ];
        if self.extensions.is_empty() {
            while parts.last().is_some_and(|(part, _)| part.is_empty()) {
                parts.pop();
            }
        }
        for (part, special) in &parts {
            f.write_char('?')?;
            encode(f, part, special)?;
        }
        for (index, extension) in self.extensions.iter().enumerate() {
            f.write_char(if index == 0 { '?' } else { ',' })?;
            encode(f, extension, b"?,")?;
        }
        Ok(())
    }
}

/// Writes what may stand in a URL as it is, and all else in hexadecimal digits.
fn encode(f: &mut fmt::Formatter<'_>, text: &str, special: &[u8]) -> fmt::Result {
    for octet in text.bytes() {
        let plain = octet.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/?".contains(&octet);
        if plain && !special.contains(&octet) {
            f.write_char(char::from(octet))?;
        } else {
            write!(f, "%{octet:02X}")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The examples of RFC 4516 clause 4.
    #[test]
    fn examples() {
        for (text, printed) in [
            ("ldap:///o=University%20of%20Michigan,c=US", "ldap:///o=University%20of%20Michigan,c=US"),
            (
                "ldap://ldap1.example.net/o=University%20of%20Michigan,c=US?postalAddress",
                "ldap://ldap1.example.net/o=University%20of%20Michigan,c=US?postalAddress",
            ),
            (
                "ldap://ldap1.example.net:6666/o=University%20of%20Michigan,c=US??sub?(cn=Babs%20Jensen)",
                "ldap://ldap1.example.net:6666/o=University%20of%20Michigan,c=US??sub?(cn=Babs%20Jensen)",
            ),
            (
                "LDAP://ldap1.example.com/c=GB?objectClass?ONE",
                "ldap://ldap1.example.com/c=GB?objectClass?one",
            ),
            (
                "ldap://ldap2.example.com/o=Question%3f,c=US?mail",
                "ldap://ldap2.example.com/o=Question%3F,c=US?mail",
            ),
            (
                "ldap://ldap3.example.com/o=Babsco,c=US???(four-octet=%5c00%5c00%5c00%5c04)",
                "ldap://ldap3.example.com/o=Babsco,c=US???(four-octet=%5C00%5C00%5C00%5C04)",
            ),
            (
                "ldap://ldap.example.com/o=An%20Example%5C2C%20Inc.,c=US",
                "ldap://ldap.example.com/o=An%20Example%5C2C%20Inc.,c=US",
            ),
            ("ldap://ldap.example.net", "ldap://ldap.example.net/"),
            ("ldap://ldap.example.net/?", "ldap://ldap.example.net/"),
            (
                "ldap:///??sub??e-bindname=cn=Manager%2cdc=example%2cdc=com",
                "ldap:///??sub??e-bindname=cn=Manager%2Cdc=example%2Cdc=com",
            ),
            ("ldap:///??sub??!e-bindname=cn=x,y", "ldap:///??sub??!e-bindname=cn=x,y"),
            ("ldapi://%2ftmp%2fs/", "ldapi://%2Ftmp%2Fs/"),
            ("ldap://[::1]:3890/", "ldap://[::1]:3890/"),
            ("CLDAP://dc.example.net", "cldap://dc.example.net/"),
        ] {
            let url: Url = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(url.to_string(), printed);
        }
        for text in [
            "",
            "ldap:",
            "http://x",
            "ldap://x:y",
            "ldap://x/%",
            "ldap://x/%zz",
            "ldap://x/%ff",
            "ldap://x/????a?",
            "ldap://x/??far",
            "ldap://[::1",
        ] {
            assert!(text.parse::<Url>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn round_trip(
            dn in "\\PC{0,12}", attributes in proptest::collection::vec("[a-z;]{1,5}", 0..3), scope in 0..5_usize,
            filter in proptest::option::of("\\PC{1,12}"), extensions in proptest::collection::vec("!?\\PC{1,6}", 0..3),
            port in proptest::option::of(any::<u16>()), host in "[a-z.]{0,6}",
        ) {
            let scope = [None, Some(Scope::Base), Some(Scope::One), Some(Scope::Sub), Some(Scope::Children)][scope];
            let url = Url { host, port, dn, attributes, scope, filter, extensions, ..Url::default() };
            let text = url.to_string();
            prop_assert_eq!(text.parse::<Url>().unwrap(), url, "{}", text);
        }

        #[test]
        fn never_panics(text in "ldap(s|i)?://[a-z/?%:\\[\\]0-9,!]{0,30}") {
            _ = text.parse::<Url>();
        }
    }
}
