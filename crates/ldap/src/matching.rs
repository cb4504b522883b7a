//! Matching rules (RFC 4517 clause 4), as far as values can be compared without a server.
//!
//! Strings are prepared as RFC 4518 says, in its simplest form: case folded by Unicode, runs of spaces as one, none at
//! either end.

use std::cmp::Ordering;

use crate::dn::Dn;

/// How values of an attribute are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Rule {
    /// caseIgnoreMatch and its ordering and substring forms; also for what is not known.
    #[default]
    CaseIgnore,
    /// caseExactMatch
    CaseExact,
    /// integerMatch
    Integer,
    /// booleanMatch, objectIdentifierMatch, octetStringMatch: as octets, letters without case only for the first two.
    Octets,
    /// telephoneNumberMatch: without spaces and hyphens.
    Telephone,
    /// numericStringMatch: without spaces.
    Numeric,
    /// distinguishedNameMatch
    DistinguishedName,
    /// generalizedTimeMatch; in the usual form with `Z`, the order of the text is that of the times.
    Time,
}

impl Rule {
    /// The rule with this name or object identifier.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        Some(
            match name
                .trim_end_matches("orderingmatch")
                .trim_end_matches("substringsmatch")
                .trim_end_matches("match")
            {
                "caseignore"
                | "caseignoreia5"
                | "caseignorelist"
                | "objectidentifier"
                | "boolean"
                | "2.5.13.2"
                | "2.5.13.3"
                | "2.5.13.4"
                | "2.5.13.0"
                | "1.3.6.1.4.1.1466.109.114.2" => Self::CaseIgnore,
                "caseexact"
                | "caseexactia5"
                | "2.5.13.5"
                | "2.5.13.6"
                | "2.5.13.7"
                | "1.3.6.1.4.1.1466.109.114.1" => Self::CaseExact,
                "integer" | "2.5.13.14" | "2.5.13.15" => Self::Integer,
                "octetstring" | "2.5.13.17" | "2.5.13.18" | "uuid" => Self::Octets,
                "telephonenumber" | "2.5.13.20" | "2.5.13.21" => Self::Telephone,
                "numericstring" | "2.5.13.8" | "2.5.13.9" | "2.5.13.10" => Self::Numeric,
                "distinguishedname" | "2.5.13.1" => Self::DistinguishedName,
                "generalizedtime" | "2.5.13.27" | "2.5.13.28" => Self::Time,
                _ => return None,
            },
        )
    }

    /// The equality rule of an attribute of the usual schemas; [`Rule::CaseIgnore`] for those that are not known.
    #[must_use]
    pub fn of_attribute(description: &str) -> Self {
        let name = description.split(';').next().unwrap_or_default();
        match name.to_ascii_lowercase().as_str() {
            "userpassword"
            | "jpegphoto"
            | "usercertificate"
            | "cacertificate"
            | "photo"
            | "audio"
            | "certificaterevocationlist"
            | "objectguid"
            | "objectsid" => Self::Octets,
            "member" | "uniquemember" | "owner" | "roleoccupant" | "manager" | "secretary" | "seealso"
            | "memberof" | "distinguishedname" | "entrydn" | "creatorsname" | "modifiersname"
            | "aliasedobjectname" | "subschemasubentry" | "namingcontexts" => Self::DistinguishedName,
            "telephonenumber" | "mobile" | "homephone" | "pager" | "facsimiletelephonenumber" => {
                Self::Telephone
            }
            "uidnumber" | "gidnumber" | "shadowlastchange" | "shadowmin" | "shadowmax"
            | "numsubordinates" => Self::Integer,
            "homedirectory" | "loginshell" | "gecos" | "labeleduri" | "ref" => Self::CaseExact,
            "createtimestamp" | "modifytimestamp" => Self::Time,
            "x121address" | "internationalisdnnumber" => Self::Numeric,
            _ => Self::CaseIgnore,
        }
    }

    /// The form of a value in which equal values are the same octets.
    #[must_use]
    pub fn normalize(self, value: &[u8]) -> Vec<u8> {
        let Ok(text) = std::str::from_utf8(value) else {
            return value.to_vec();
        };
        match self {
            Self::Octets => value.to_vec(),
            Self::CaseIgnore => spaces(&text.to_lowercase()).into_bytes(),
            Self::CaseExact | Self::Time => spaces(text).into_bytes(),
            Self::Numeric => text.replace(' ', "").into_bytes(),
            Self::Telephone => text.replace([' ', '-'], "").to_lowercase().into_bytes(),
            Self::Integer => integer(text.trim()).into_bytes(),
            Self::DistinguishedName => text
                .parse::<Dn>()
                .map_or_else(|_| spaces(&text.to_lowercase()), |dn| dn.normalized())
                .into_bytes(),
        }
    }

    /// Writes the normalized form of a value into a buffer whose content is replaced.
    pub(crate) fn normalize_into(self, value: &[u8], out: &mut Vec<u8>) {
        out.clear();
        let folds = match self {
            Self::CaseIgnore => true,
            Self::CaseExact | Self::Time => false,
            Self::Octets => return out.extend_from_slice(value),
            _ => return out.extend_from_slice(&self.normalize(value)),
        };
        if !value.is_ascii() {
            return out.extend_from_slice(&self.normalize(value));
        }
        for word in value.split(|octet| *octet == b' ').filter(|word| !word.is_empty()) {
            if !out.is_empty() {
                out.push(b' ');
            }
            out.extend_from_slice(word);
        }
        if folds {
            out.make_ascii_lowercase();
        }
    }

    /// The order of two values.
    #[must_use]
    pub fn compare(self, a: &[u8], b: &[u8]) -> Ordering {
        self.compare_normalized(&self.normalize(a), &self.normalize(b))
    }

    /// The order of two values that are normalized.
    pub(crate) fn compare_normalized(self, a: &[u8], b: &[u8]) -> Ordering {
        if self == Self::Integer {
            let sign = |digits: &[u8]| digits.first() == Some(&b'-');
            return match (sign(a), sign(b)) {
                (true, false) => Ordering::Less,
                (false, true) => Ordering::Greater,
                (false, false) => a.len().cmp(&b.len()).then_with(|| a.cmp(b)),
                (true, true) => b.len().cmp(&a.len()).then_with(|| b.cmp(a)),
            };
        }
        a.cmp(b)
    }

    /// Whether a value has these substrings in order: the first at its begin, the last at its end, if they are given.
    #[must_use]
    pub fn substrings(
        self,
        value: &[u8],
        initial: Option<&[u8]>,
        any: &[&[u8]],
        last: Option<&[u8]>,
    ) -> bool {
        Parts::new(self, initial, any, last).are_in(&self.normalize(value))
    }

    /// A substring, whose spaces count at the ends where it meets others.
    fn part(self, part: &[u8], begins: bool, ends: bool) -> Vec<u8> {
        if !matches!(self, Self::CaseIgnore | Self::CaseExact | Self::Time | Self::DistinguishedName) {
            return self.normalize(part);
        }
        let Ok(text) = std::str::from_utf8(part) else {
            return part.to_vec();
        };
        let inner = if self == Self::CaseExact { spaces(text) } else { spaces(&text.to_lowercase()) };
        let (before, behind) = (!begins && text.starts_with(' '), !ends && text.ends_with(' '));
        format!("{}{inner}{}", if before { " " } else { "" }, if behind { " " } else { "" }).into_bytes()
    }
}

/// Substrings in their normalized form, to be looked for in many values.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parts {
    pub(crate) initial: Option<Vec<u8>>,
    pub(crate) any: Vec<Vec<u8>>,
    pub(crate) last: Option<Vec<u8>>,
}

impl Parts {
    pub(crate) fn new(rule: Rule, initial: Option<&[u8]>, any: &[&[u8]], last: Option<&[u8]>) -> Self {
        Self {
            initial: initial.map(|part| rule.part(part, true, false)),
            any: any.iter().map(|part| rule.part(part, false, false)).collect(),
            last: last.map(|part| rule.part(part, false, true)),
        }
    }

    /// Checks whether a normalized value has these substrings in order.
    pub(crate) fn are_in(&self, value: &[u8]) -> bool {
        let mut rest = value;
        if let Some(initial) = &self.initial {
            match rest.strip_prefix(initial.as_slice()) {
                Some(behind) => rest = behind,
                None => return false,
            }
        }
        if let Some(last) = &self.last {
            match rest.strip_suffix(last.as_slice()) {
                Some(before) => rest = before,
                None => return false,
            }
        }
        for part in &self.any {
            match memchr::memmem::find(rest, part) {
                Some(at) => rest = rest.get(at + part.len()..).unwrap_or_default(),
                None => return false,
            }
        }
        true
    }
}

fn spaces(text: &str) -> String {
    let mut words = text.split(' ').filter(|word| !word.is_empty());
    let mut joined = String::with_capacity(text.len());
    joined.push_str(words.next().unwrap_or_default());
    for word in words {
        joined.push(' ');
        joined.push_str(word);
    }
    joined
}

fn integer(text: &str) -> String {
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |digits| ("-", digits));
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() { "0".to_owned() } else { format!("{sign}{digits}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules() {
        let equal =
            |rule: Rule, a: &str, b: &str| rule.normalize(a.as_bytes()) == rule.normalize(b.as_bytes());
        assert!(equal(Rule::CaseIgnore, "  Ada   LOVELACE", "ada lovelace "));
        assert!(!equal(Rule::CaseExact, "Ada", "ada"));
        assert!(equal(Rule::Telephone, "+1 555-0100", "+15550100"));
        assert!(equal(Rule::Integer, "-007", "-7"));
        assert!(equal(Rule::DistinguishedName, "CN=A\\2C B , O=test", "cn=a\\, b,o=TEST"));
        for (a, b) in [("-10", "-9"), ("-1", "0"), ("9", "10"), ("010", "11")] {
            assert_eq!(Rule::Integer.compare(a.as_bytes(), b.as_bytes()), Ordering::Less, "{a} {b}");
        }
    }

    #[test]
    fn buffers_take_the_same_form() {
        let mut out = b"rest".to_vec();
        for value in
            ["", " ", "  Ada   LOVELACE ", "a", "L\u{d8}v  e", "x\ty", "+1 55-5", "-007", "CN=A , O=b"]
        {
            for rule in [
                Rule::CaseIgnore,
                Rule::CaseExact,
                Rule::Integer,
                Rule::Octets,
                Rule::Telephone,
                Rule::Numeric,
                Rule::DistinguishedName,
                Rule::Time,
            ] {
                rule.normalize_into(value.as_bytes(), &mut out);
                assert_eq!(out, rule.normalize(value.as_bytes()), "{rule:?} {value:?}");
            }
        }
    }

    #[test]
    fn substrings() {
        let has = |value: &str, initial: Option<&str>, any: &[&str], last: Option<&str>| {
            let any: Vec<&[u8]> = any.iter().map(|part| part.as_bytes()).collect();
            Rule::CaseIgnore.substrings(
                value.as_bytes(),
                initial.map(str::as_bytes),
                &any,
                last.map(str::as_bytes),
            )
        };
        assert!(has("Ada King Lovelace", Some("ada"), &["KING"], Some("lace")));
        assert!(has("aXbXc", Some("a"), &["x", "x"], Some("c")));
        assert!(!has("abc", Some("ab"), &[], Some("bc")));
        assert!(!has("ada", None, &["x"], None));
    }
}
