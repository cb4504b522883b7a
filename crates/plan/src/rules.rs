//! The encoding rules: names, object identifiers, families and properties of each.

use std::fmt;
use std::str::FromStr;

/// A set of encoding rules: what bytes or text stand for a value.
///
/// ```
/// use tercet_plan::Rules;
/// assert_eq!("json".parse(), Ok(Rules::Jer));
/// assert_eq!(Rules::Coer.name(), "coer");
/// assert_eq!(Rules::Coer.basic(), Rules::Oer);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Rules {
    /// Basic encoding rules (X.690 clause 8).
    #[default]
    Ber,
    /// Distinguished encoding rules (X.690 clauses 10 and 11).
    Der,
    /// Canonical encoding rules (X.690 clauses 9 and 11).
    Cer,
    /// BASIC-PER, ALIGNED variant (X.691).
    Aper,
    /// BASIC-PER, UNALIGNED variant (X.691).
    Uper,
    /// CANONICAL-PER, ALIGNED variant (X.691).
    CanonicalAper,
    /// CANONICAL-PER, UNALIGNED variant (X.691).
    CanonicalUper,
    /// BASIC-OER (X.696).
    Oer,
    /// CANONICAL-OER (X.696 clause 31).
    Coer,
    /// XML encoding rules, BASIC-XER (X.693).
    Xer,
    /// XML encoding rules, CANONICAL-XER (X.693).
    Cxer,
    /// XML encoding rules, EXTENDED-XER (X.693): as the encoding instructions say.
    Exer,
    /// JSON encoding rules (X.697).
    Jer,
    /// Generic string encoding rules (RFC 3641).
    Gser,
}

/// The words for a set of encoding rules.
struct Row {
    rules: Rules,
    name: &'static str,
    aliases: &'static [&'static str],
    label: &'static str,
    description: &'static str,
    /// Contents octets of the object identifier {joint-iso-itu-t asn1(1) …}, of those that plans are made for: X.690
    /// clause 12, X.691 clause 33 and X.696 clause 32.
    oid: Option<&'static [u8]>,
}

const fn row(
    rules: Rules,
    name: &'static str,
    aliases: &'static [&'static str],
    label: &'static str,
    description: &'static str,
    oid: Option<&'static [u8]>,
) -> Row {
    Row { rules, name, aliases, label, description, oid }
}

/// All encoding rules, in the order of the variants.
#[rustfmt::skip]
const TABLE: [Row; 14] = [
    row(Rules::Ber, "ber", &[], "BER", "Basic encoding rules", Some(&[0x51, 1])),
    row(Rules::Der, "der", &[], "DER", "Distinguished encoding rules", Some(&[0x51, 2, 1])),
    row(Rules::Cer, "cer", &[], "CER", "Canonical encoding rules", Some(&[0x51, 2, 0])),
    row(Rules::Aper, "aper", &["per"], "aligned PER", "Packed encoding rules, ALIGNED", Some(&[0x51, 3, 0, 0])),
    row(Rules::Uper, "uper", &[], "unaligned PER", "Packed encoding rules, UNALIGNED", Some(&[0x51, 3, 0, 1])),
    row(Rules::CanonicalAper, "canonical-aper", &[], "canonical aligned PER",
        "Canonical packed encoding rules, ALIGNED", Some(&[0x51, 3, 1, 0])),
    row(Rules::CanonicalUper, "canonical-uper", &[], "canonical unaligned PER",
        "Canonical packed encoding rules, UNALIGNED", Some(&[0x51, 3, 1, 1])),
    row(Rules::Oer, "oer", &[], "OER", "Octet encoding rules", Some(&[0x51, 6, 0])),
    row(Rules::Coer, "coer", &["canonical-oer"], "canonical OER", "Canonical octet encoding rules",
        Some(&[0x51, 6, 1])),
    row(Rules::Xer, "xer", &["xml"], "XER", "XML encoding rules", None),
    row(Rules::Cxer, "cxer", &[], "canonical XER", "Canonical XML encoding rules", None),
    row(Rules::Exer, "exer", &["extended-xer"], "extended XER", "Extended XML encoding rules", None),
    row(Rules::Jer, "jer", &["json", "jsonl"], "JER", "JSON encoding rules", None),
    row(Rules::Gser, "gser", &[], "GSER", "Generic string encoding rules", None),
];

impl Rules {
    /// All encoding rules.
    pub const ALL: [Self; TABLE.len()] = {
        let mut all = [Self::Ber; TABLE.len()];
        let mut i = 0;
        while i < all.len() {
            all[i] = TABLE[i].rules;
            i += 1;
        }
        all
    };

    /// The encoding rules that give bytes, which plans are made for.
    pub const BINARY: [Self; 9] = {
        let mut binary = [Self::Ber; 9];
        let (mut i, mut count) = (0, 0);
        while i < TABLE.len() {
            if TABLE[i].oid.is_some() {
                binary[count] = TABLE[i].rules;
                count += 1;
            }
            i += 1;
        }
        binary
    };

    const fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }

    /// Returns the name in options: `ber`, `canonical-uper`, `jer`.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// Returns the other names that are understood: `json`.
    pub const fn aliases(self) -> &'static [&'static str] {
        self.row().aliases
    }

    /// Returns the name in messages: `canonical OER`.
    pub const fn label(self) -> &'static str {
        self.row().label
    }

    /// Returns the name in full: `Canonical octet encoding rules`.
    pub const fn description(self) -> &'static str {
        self.row().description
    }

    /// Returns the encoding rules that an object identifier names, from its contents octets. `None` for rules that no plan
    /// can be made for.
    pub fn of_oid(contents: &[u8]) -> Option<Self> {
        TABLE.iter().find(|row| row.oid == Some(contents)).map(|row| row.rules)
    }

    /// Returns the basic rules of the family: those whose decoders read encodings of these rules too. DER and CER give
    /// BER; basic rules give themselves.
    #[inline]
    #[must_use]
    pub const fn basic(self) -> Self {
        match self {
            Self::Der | Self::Cer => Self::Ber,
            Self::CanonicalAper => Self::Aper,
            Self::CanonicalUper => Self::Uper,
            Self::Coer => Self::Oer,
            Self::Cxer | Self::Exer => Self::Xer,
            basic => basic,
        }
    }

    /// Returns the rules of the plan's engine; `None` for text.
    #[must_use]
    pub const fn binary(self) -> Option<Self> {
        if self.is_text() { None } else { Some(self) }
    }

    /// Returns the rules that a plan for these is made with: text needs the shape alone, which every plan has.
    #[must_use]
    pub const fn plan_rules(self) -> Self {
        if self.is_text() { Self::Ber } else { self }
    }

    /// Returns whether encodings of these rules are encodings of `other` too, as those of DER are of BER.
    #[must_use]
    pub fn is_form_of(self, other: Self) -> bool {
        self == other || self.basic() == other
    }

    /// Returns whether encodings are text.
    #[must_use]
    pub const fn is_text(self) -> bool {
        self.row().oid.is_none()
    }

    /// Returns whether a value shows where it ends, so that several may follow each other with nothing between.
    #[must_use]
    pub const fn delimits(self) -> bool {
        matches!(self.basic(), Self::Ber | Self::Oer)
    }

    /// Returns whether encodings are elements with tags and lengths, so that records are found after a fault.
    #[inline]
    #[must_use]
    pub const fn has_elements(self) -> bool {
        matches!(self.basic(), Self::Ber)
    }

    /// Returns whether each value has one encoding only.
    #[inline]
    #[must_use]
    pub const fn is_canonical(self) -> bool {
        matches!(
            self,
            Self::Der | Self::Cer | Self::CanonicalAper | Self::CanonicalUper | Self::Coer | Self::Cxer
        )
    }
}

impl fmt::Display for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that no encoding rules have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownRules(String);

impl fmt::Display for UnknownRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = Rules::ALL.into_iter().map(Rules::name);
        f.write_str(&tercet_suggest::unknown("encoding rules", &self.0, known))
    }
}

impl std::error::Error for UnknownRules {}

impl FromStr for Rules {
    type Err = UnknownRules;

    fn from_str(text: &str) -> Result<Self, UnknownRules> {
        let found = TABLE.iter().find(|row| row.name == text || row.aliases.contains(&text));
        found.map(|row| row.rules).ok_or_else(|| UnknownRules(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_finds_its_rules() {
        for (index, rules) in Rules::ALL.into_iter().enumerate() {
            assert_eq!(rules as usize, index, "the table has the order of the variants");
            assert_eq!(rules.name().parse(), Ok(rules));
            for alias in rules.aliases() {
                assert_eq!(alias.parse(), Ok(rules));
            }
            assert_eq!(rules.row().oid.and_then(Rules::of_oid), rules.binary());
        }
        assert!(Rules::BINARY.into_iter().eq(Rules::ALL.into_iter().filter_map(Rules::binary)));
        assert!("asn".parse::<Rules>().is_err());
    }

    #[test]
    fn canonical_rules_are_forms_of_basic_ones() {
        let basic = |rules: Rules| rules.basic() == rules;
        for rules in Rules::ALL {
            assert!(basic(rules.basic()));
            assert!(rules.is_form_of(rules) && rules.is_form_of(rules.basic()));
            assert_eq!(rules.is_text(), rules.basic().is_text());
            assert!(!(rules.is_canonical() && basic(rules)), "{rules}");
        }
    }
}
