//! Distinguished names (RFC 4514).

use std::fmt::{self, Write as _};
use std::str::FromStr;

use crate::error::{Error, ErrorKind, Result};
use crate::filter::hex;
use crate::matching::Rule;

/// A distinguished name: its RDNs, the leaf first.
///
/// Equality and order are those of [`Dn::normalized`], so that two ways to write a name are the same name.
#[derive(Clone, Debug, Default)]
pub struct Dn(Vec<Rdn>);

/// A relative distinguished name: one or more attribute value assertions.
#[derive(Clone, Debug)]
pub struct Rdn(Vec<Ava>);

/// An attribute type and its value.
#[derive(Clone, Debug)]
pub struct Ava {
    attribute: String,
    value: Vec<u8>,
    is_ber: bool,
}

impl Ava {
    /// An attribute and a value as it is, without escapes.
    pub fn new(attribute: impl Into<String>, value: impl Into<Vec<u8>>) -> Self {
        Self { attribute: attribute.into(), value: value.into(), is_ber: false }
    }

    /// The same value of another attribute.
    #[must_use]
    pub fn with_attribute(&self, attribute: impl Into<String>) -> Self {
        Self { attribute: attribute.into(), ..self.clone() }
    }

    /// The attribute type.
    #[must_use]
    pub fn attribute(&self) -> &str {
        &self.attribute
    }

    /// The value without escapes; of the form `#…` the encoding in BER.
    #[must_use]
    pub fn value(&self) -> &[u8] {
        &self.value
    }

    /// Whether the value was given in BER (`#…`).
    #[must_use]
    pub const fn is_ber(&self) -> bool {
        self.is_ber
    }

    fn normalized(&self) -> String {
        let value = if self.is_ber { self.value.clone() } else { Rule::CaseIgnore.normalize(&self.value) };
        let attribute = short_type(&self.attribute).to_ascii_lowercase();
        Self { attribute, value, is_ber: self.is_ber }.to_string()
    }
}

impl Ava {
    /// The normalized form of a value of letters, digits and a few signs: nothing in it is escaped or folded to anything but
    /// lower case.
    fn plain(&self) -> Option<String> {
        let is_plain = |octet: &u8| {
            octet.is_ascii_alphanumeric() || matches!(octet, b'-' | b'_' | b'.' | b'@' | b'/' | b':')
        };
        if self.is_ber || !self.value.iter().all(is_plain) {
            return None;
        }
        let mut text = String::with_capacity(self.attribute.len() + 1 + self.value.len());
        text.push_str(short_type(&self.attribute));
        text.push('=');
        text.push_str(std::str::from_utf8(&self.value).ok()?);
        text.make_ascii_lowercase();
        Some(text)
    }
}

/// Attribute types of names with several names: the one that RFC 4514 3 uses, or the usual one, another, and the object identifier.
const TYPES: [(&str, &str, &str); 11] = [
    ("cn", "commonName", "2.5.4.3"),
    ("l", "localityName", "2.5.4.7"),
    ("st", "stateOrProvinceName", "2.5.4.8"),
    ("o", "organizationName", "2.5.4.10"),
    ("ou", "organizationalUnitName", "2.5.4.11"),
    ("c", "countryName", "2.5.4.6"),
    ("street", "streetAddress", "2.5.4.9"),
    ("dc", "domainComponent", "0.9.2342.19200300.100.1.25"),
    ("uid", "userid", "0.9.2342.19200300.100.1.1"),
    ("sn", "surname", "2.5.4.4"),
    ("mail", "rfc822Mailbox", "0.9.2342.19200300.100.1.3"),
];

/// The usual name of an attribute type.
pub(crate) fn short_type(attribute: &str) -> &str {
    // Those are short.
    if attribute.len() < 6 {
        return attribute;
    }
    let known = TYPES.iter().find(|(_, name, oid)| *oid == attribute || name.eq_ignore_ascii_case(attribute));
    known.map_or(attribute, |(usual, ..)| usual)
}

impl Rdn {
    /// An RDN of one attribute.
    pub fn new(attribute: impl Into<String>, value: impl Into<Vec<u8>>) -> Self {
        Self(vec![Ava::new(attribute, value)])
    }

    /// An RDN of these attribute value assertions.
    pub(crate) const fn of(avas: Vec<Ava>) -> Self {
        Self(avas)
    }

    /// Its attribute value assertions.
    #[must_use]
    pub fn avas(&self) -> &[Ava] {
        &self.0
    }

    /// The form in which equal RDNs are equal texts; it contains no NUL.
    pub(crate) fn normalized(&self) -> String {
        if let [ava] = self.0.as_slice()
            && let Some(plain) = ava.plain()
        {
            return plain;
        }
        let mut avas: Vec<String> = self.0.iter().map(Ava::normalized).collect();
        avas.sort_unstable();
        avas.join("+")
    }
}

impl Dn {
    /// The RDNs, the leaf first.
    #[must_use]
    pub fn rdns(&self) -> &[Rdn] {
        &self.0
    }

    /// Whether this is the name of the root.
    #[must_use]
    pub const fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The name above; nothing above the root.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        self.0.split_first().map(|(_, above)| Self(above.to_vec()))
    }

    /// The name with this RDN below this one.
    #[must_use]
    pub fn child(&self, rdn: Rdn) -> Self {
        let mut rdns = vec![rdn];
        rdns.extend_from_slice(&self.0);
        Self(rdns)
    }

    /// Whether this name is below another, or the same.
    #[must_use]
    pub fn is_within(&self, base: &Self) -> bool {
        let Some(skip) = self.0.len().checked_sub(base.0.len()) else {
            return false;
        };
        self.0.iter().skip(skip).zip(&base.0).all(|(a, b)| a.normalized() == b.normalized())
    }

    /// The form in which equal names are equal texts: attribute types in lower case, values as caseIgnoreMatch takes them,
    /// RDNs with several attributes sorted, no spaces but those of values.
    #[must_use]
    pub fn normalized(&self) -> String {
        let rdns: Vec<String> = self.0.iter().map(Rdn::normalized).collect();
        rdns.join(",")
    }

    /// The name as people read it: values alone, as `# …` comments of ldapsearch show it.
    #[must_use]
    pub fn friendly(&self) -> String {
        let mut text = String::new();
        for (index, rdn) in self.0.iter().enumerate() {
            for (within, ava) in rdn.0.iter().enumerate() {
                text.push_str(if within > 0 {
                    " + "
                } else if index > 0 {
                    ", "
                } else {
                    ""
                });
                for octet in &ava.value {
                    match octet {
                        b',' | b'+' | b'"' | b'\\' | b'<' | b'>' | b';' | b'=' | b'#' => {
                            _ = write!(text, "\\{octet:02X}")
                        }
                        0x20..0x7F => text.push(char::from(*octet)),
                        _ => _ = write!(text, "\\{octet:02X}"),
                    }
                }
            }
        }
        text
    }
}

impl PartialEq for Dn {
    fn eq(&self, other: &Self) -> bool {
        self.0.len() == other.0.len() && self.normalized() == other.normalized()
    }
}

impl Eq for Dn {}

impl PartialEq for Rdn {
    fn eq(&self, other: &Self) -> bool {
        self.normalized() == other.normalized()
    }
}

impl Eq for Rdn {}

impl fmt::Display for Dn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, rdn) in self.0.iter().enumerate() {
            f.write_str(if index > 0 { "," } else { "" })?;
            rdn.fmt(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for Rdn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, ava) in self.0.iter().enumerate() {
            f.write_str(if index > 0 { "+" } else { "" })?;
            ava.fmt(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for Ava {
    /// RFC 4514 clause 2.4.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}=", self.attribute)?;
        if self.is_ber {
            f.write_char('#')?;
            return self.value.iter().try_for_each(|octet| write!(f, "{octet:02x}"));
        }
        let length = self.value.len();
        let mut at = 0;
        for chunk in self.value.utf8_chunks() {
            for character in chunk.valid().chars() {
                match character {
                    ' ' if at == 0 || at + 1 == length => f.write_str("\\ ")?,
                    '#' if at == 0 => f.write_str("\\#")?,
                    '"' | '+' | ',' | ';' | '<' | '>' | '\\' => write!(f, "\\{character}")?,
                    // Control characters need no escape but NUL; they are unreadable without.
                    character if character.is_ascii_control() => write!(f, "\\{:02x}", u32::from(character))?,
                    character => f.write_char(character)?,
                }
                at += character.len_utf8();
            }
            for octet in chunk.invalid() {
                write!(f, "\\{octet:02x}")?;
                at += 1;
            }
        }
        Ok(())
    }
}

impl FromStr for Rdn {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut rdns = text.parse::<Dn>()?.0;
        match (rdns.pop(), rdns.is_empty()) {
            (Some(rdn), true) => Ok(rdn),
            _ => Err(Error::new(ErrorKind::Syntax, format!("one RDN expected: {text:.100}"))),
        }
    }
}

impl FromStr for Dn {
    type Err = Error;

    /// Parses RFC 4514; of RFC 2253 also `;` between RDNs, spaces around names and separators, and values in quotes.
    fn from_str(text: &str) -> Result<Self> {
        let mut parser = Parser { text: text.as_bytes(), at: 0 };
        let mut rdns = Vec::new();
        parser.skip_spaces();
        if parser.at == parser.text.len() {
            return Ok(Self(rdns));
        }
        loop {
            let mut avas = vec![parser.ava()?];
            while parser.peek() == Some(b'+') {
                parser.at += 1;
                avas.push(parser.ava()?);
            }
            rdns.push(Rdn(avas));
            match parser.peek() {
                Some(b',' | b';') => parser.at += 1,
                Some(_) => return Err(parser.error("`,` or `+` expected")),
                None => return Ok(Self(rdns)),
            }
        }
    }
}

struct Parser<'t> {
    text: &'t [u8],
    at: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn skip_spaces(&mut self) {
        while self.peek() == Some(b' ') {
            self.at += 1;
        }
    }

    #[cold]
    fn error(&self, message: &str) -> Error {
        Error::at(ErrorKind::Syntax, format!("DN: {message}"), self.at as u64)
    }

    fn ava(&mut self) -> Result<Ava> {
        self.skip_spaces();
        let rest = self.text.get(self.at..).unwrap_or_default();
        let length = rest
            .iter()
            .position(|octet| !(octet.is_ascii_alphanumeric() || matches!(octet, b'-' | b'.' | b'_' | b';')));
        let name = rest.get(..length.unwrap_or(rest.len())).unwrap_or_default();
        // A `;` would end an RDN of RFC 2253, but no name begins with one.
        let name = std::str::from_utf8(name).unwrap_or_default();
        if name.is_empty() || name.starts_with(';') {
            return Err(self.error("an attribute type expected"));
        }
        self.at += name.len();
        self.skip_spaces();
        if self.peek() != Some(b'=') {
            return Err(self.error("`=` expected"));
        }
        self.at += 1;
        self.skip_spaces();
        let (value, is_ber) = match self.peek() {
            Some(b'#') => (self.hexadecimal()?, true),
            Some(b'"') => (self.quoted()?, false),
            _ => (self.string()?, false),
        };
        self.skip_spaces();
        Ok(Ava { attribute: name.to_owned(), value, is_ber })
    }

    fn hexadecimal(&mut self) -> Result<Vec<u8>> {
        self.at += 1;
        let mut value = Vec::new();
        while let Some(octet) = self.text.get(self.at..self.at + 2).and_then(hex) {
            value.push(octet);
            self.at += 2;
        }
        if value.is_empty() { Err(self.error("hexadecimal digits expected")) } else { Ok(value) }
    }

    fn quoted(&mut self) -> Result<Vec<u8>> {
        self.at += 1;
        let mut value = Vec::new();
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => value.push(self.escape()?),
                Some(octet) => {
                    value.push(octet);
                    self.at += 1;
                }
                None => return Err(self.error("`\"` expected")),
            }
        }
        self.at += 1;
        Ok(value)
    }

    fn string(&mut self) -> Result<Vec<u8>> {
        let mut value = Vec::new();
        // Spaces at the end that are not escaped are no part of the value.
        let mut significant = 0;
        while let Some(octet) = self.peek() {
            match octet {
                b',' | b'+' | b';' => break,
                b'"' | b'<' | b'>' | 0 => return Err(self.error("a character that has to be escaped")),
                b'\\' => {
                    value.push(self.escape()?);
                    significant = value.len();
                }
                octet => {
                    value.push(octet);
                    self.at += 1;
                    if octet != b' ' {
                        significant = value.len();
                    }
                }
            }
        }
        value.truncate(significant);
        Ok(value)
    }

    fn escape(&mut self) -> Result<u8> {
        let rest = self.text.get(self.at + 1..).unwrap_or_default();
        if let Some(octet) = rest.get(..2).and_then(hex) {
            self.at += 3;
            return Ok(octet);
        }
        match rest.first() {
            Some(octet @ (b' ' | b'"' | b'#' | b'+' | b',' | b';' | b'<' | b'=' | b'>' | b'\\')) => {
                self.at += 2;
                Ok(*octet)
            }
            _ => Err(self.error("two hexadecimal digits or a special character expected after `\\`")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The examples of RFC 4514 clause 4 and of RFC 2253.
    #[test]
    fn examples() {
        for (text, printed) in [
            ("", ""),
            ("UID=jsmith,DC=example,DC=net", "UID=jsmith,DC=example,DC=net"),
            ("OU=Sales+CN=J.  Smith,DC=example,DC=net", "OU=Sales+CN=J.  Smith,DC=example,DC=net"),
            ("CN=James \\\"Jim\\\" Smith\\, III,DC=net", "CN=James \\\"Jim\\\" Smith\\, III,DC=net"),
            ("CN=Before\\0dAfter,DC=net", "CN=Before\\0dAfter,DC=net"),
            ("1.3.6.1.4.1.1466.0=#04024869", "1.3.6.1.4.1.1466.0=#04024869"),
            ("CN=Lu\\C4\\8Di\\C4\\87", "CN=Lu\u{10d}i\u{107}"),
            ("cn = \"Sue, Grabbit\" ; o = x", "cn=Sue\\, Grabbit,o=x"),
            ("cn=\\ a\\ ", "cn=\\ a\\ "),
            ("cn=\\#a", "cn=\\#a"),
            ("cn=", "cn="),
            ("cn=a\\00b", "cn=a\\00b"),
        ] {
            let dn: Dn = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(dn.to_string(), printed);
        }
        for text in [
            "cn",
            "=a",
            "cn=a,",
            ",cn=a",
            "cn=#zz",
            "cn=#",
            "cn=a\\",
            "cn=a\\x",
            "cn=\"a",
            "cn=a<b",
            "c n=a",
            "cn=a,,o=b",
        ] {
            assert!(text.parse::<Dn>().is_err(), "{text}");
        }
        assert_eq!("cn=a,".repeat(100_000).parse::<Dn>().unwrap_err().kind(), ErrorKind::Syntax);
    }

    #[test]
    fn names_compare() {
        let dn = |text: &str| text.parse::<Dn>().unwrap();
        assert_eq!(dn("CN=Ada  Lovelace+SN=x, O=Test"), dn("sn=X+cn=ada lovelace,o=test"));
        assert_ne!(dn("cn=a,o=test"), dn("o=test"));
        assert!(dn("cn=a,OU=b,o=test").is_within(&dn("ou=B, o=test")));
        assert!(!dn("ou=b,o=test").is_within(&dn("cn=a,ou=b,o=test")));
        assert!(dn("o=test").is_within(&Dn::default()));
        assert_eq!(dn("cn=a+sn=x\\, y,o=test").friendly(), "a + x\\2C y, test");
    }

    proptest! {
        #[test]
        fn round_trip(rdns in proptest::collection::vec(
            proptest::collection::vec(("[a-zA-Z][a-zA-Z0-9-]{0,5}", proptest::collection::vec(any::<u8>(), 0..8)), 1..3), 0..4)) {
            let dn = Dn(rdns.into_iter().map(|rdn| Rdn(rdn.into_iter().map(|(name, value)| Ava::new(name, value)).collect())).collect());
            let text = dn.to_string();
            let again: Dn = text.parse().unwrap();
            prop_assert_eq!(&again.to_string(), &text);
            let values = |dn: &Dn| dn.rdns().iter().flat_map(|rdn| rdn.avas()).map(|ava| ava.value().to_vec()).collect::<Vec<_>>();
            prop_assert_eq!(values(&again), values(&dn));
        }

        #[test]
        fn never_panics(text in "[a-c=,+;\"\\\\# 0-9<>]{0,40}") {
            _ = text.parse::<Dn>();
        }
    }
}
