//! What a filter says of an entry (RFC 4511 4.5.1.7).

use crate::dn::Dn;
use crate::generated::{Filter, MatchingRuleAssertion, Substring, SubstringFilter};
use crate::matching::Rule;

/// The three values that a filter has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evaluation {
    /// The entry is meant.
    True,
    /// It is not.
    False,
    /// The filter cannot be judged, and selects nothing.
    Undefined,
}

impl From<bool> for Evaluation {
    fn from(value: bool) -> Self {
        if value { Self::True } else { Self::False }
    }
}

impl Filter<'_> {
    /// Evaluates the filter on an entry: its name, and `values`, which gives the values of an attribute description
    /// without case, and nothing if the entry has no such attribute.
    pub fn evaluate<'v>(&self, dn: &Dn, values: &dyn Fn(&str) -> Option<Vec<&'v [u8]>>) -> Evaluation {
        self.level(dn, values, 0)
    }

    fn level<'v>(&self, dn: &Dn, values: &dyn Fn(&str) -> Option<Vec<&'v [u8]>>, depth: usize) -> Evaluation {
        // Filters are parsed, and received, to a depth; those that somebody builds are cut here.
        if depth > super::DEPTH * 2 {
            return Evaluation::Undefined;
        }
        let test = |description: &[u8], test: &dyn Fn(Rule, &[u8]) -> bool| {
            let Ok(description) = std::str::from_utf8(description) else {
                return Evaluation::Undefined;
            };
            let rule = Rule::of_attribute(description);
            let found = values(description).unwrap_or_default();
            found.into_iter().any(|value| test(rule, value)).into()
        };
        match self {
            Self::And(list) => all(list.iter().map(|filter| filter.level(dn, values, depth + 1))),
            Self::Or(list) => not(all(list.iter().map(|filter| not(filter.level(dn, values, depth + 1))))),
            Self::Not(filter) => not(filter.level(dn, values, depth + 1)),
            Self::Present(description) => match std::str::from_utf8(description) {
                Ok(description) => values(description).is_some().into(),
                Err(_) => Evaluation::Undefined,
            },
            Self::EqualityMatch(a) | Self::ApproxMatch(a) => test(&a.attribute_desc, &|rule, value| {
                rule.normalize(value) == rule.normalize(&a.assertion_value)
            }),
            Self::GreaterOrEqual(a) => {
                test(&a.attribute_desc, &|rule, value| rule.compare(value, &a.assertion_value).is_ge())
            }
            Self::LessOrEqual(a) => {
                test(&a.attribute_desc, &|rule, value| rule.compare(value, &a.assertion_value).is_le())
            }
            Self::Substrings(filter) => {
                test(&filter.r#type, &|rule, value| has_substrings(filter, rule, value))
            }
            Self::ExtensibleMatch(assertion) => extensible(assertion, dn, values),
            Self::Unknown(_) => Evaluation::Undefined,
        }
    }
}

fn all(parts: impl Iterator<Item = Evaluation>) -> Evaluation {
    let mut result = Evaluation::True;
    for part in parts {
        match part {
            Evaluation::False => return Evaluation::False,
            Evaluation::Undefined => result = Evaluation::Undefined,
            Evaluation::True => {}
        }
    }
    result
}

const fn not(evaluation: Evaluation) -> Evaluation {
    match evaluation {
        Evaluation::True => Evaluation::False,
        Evaluation::False => Evaluation::True,
        Evaluation::Undefined => Evaluation::Undefined,
    }
}

fn has_substrings(filter: &SubstringFilter<'_>, rule: Rule, value: &[u8]) -> bool {
    let mut any: Vec<&[u8]> = Vec::new();
    let (mut initial, mut last) = (None::<&[u8]>, None::<&[u8]>);
    for part in &filter.substrings {
        match part {
            Substring::Initial(part) => initial = Some(part),
            Substring::Any(part) => any.push(part),
            Substring::Final(part) => last = Some(part),
            Substring::Unknown(_) => return false,
        }
    }
    rule.substrings(value, initial, &any, last)
}

/// Bits of an integer that are all, or some of them, set: rules of Active Directory.
const BIT_AND: &str = "1.2.840.113556.1.4.803";
const BIT_OR: &str = "1.2.840.113556.1.4.804";

fn extensible<'v>(
    assertion: &MatchingRuleAssertion<'_>,
    dn: &Dn,
    values: &dyn Fn(&str) -> Option<Vec<&'v [u8]>>,
) -> Evaluation {
    let rule = assertion.matching_rule.as_deref().map(std::str::from_utf8);
    let description = assertion.r#type.as_deref().map(std::str::from_utf8);
    let (Ok(rule), Ok(description)) = (rule.transpose(), description.transpose()) else {
        return Evaluation::Undefined;
    };
    let bits = match rule {
        Some(BIT_AND) => Some(true),
        Some(BIT_OR) => Some(false),
        _ => None,
    };
    let matching = match rule {
        Some(_) if bits.is_some() => Rule::Integer,
        Some(name) => match Rule::named(name) {
            Some(rule) => rule,
            None => return Evaluation::Undefined,
        },
        None => Rule::of_attribute(description.unwrap_or_default()),
    };
    let equal = |value: &[u8]| match bits {
        None => matching.normalize(value) == matching.normalize(&assertion.match_value),
        Some(every) => {
            let number = |octets: &[u8]| std::str::from_utf8(octets).ok()?.trim().parse::<i64>().ok();
            match (number(value), number(&assertion.match_value)) {
                (Some(value), Some(mask)) => {
                    if every {
                        value & mask == mask
                    } else {
                        value & mask != 0
                    }
                }
                _ => false,
            }
        }
    };
    let in_entry = description.and_then(values).unwrap_or_default().into_iter().any(equal);
    let in_dn = assertion.dn_attributes
        && dn.rdns().iter().flat_map(|rdn| rdn.avas()).any(|ava| {
            description.is_none_or(|description| ava.attribute().eq_ignore_ascii_case(description))
                && equal(ava.value())
        });
    (in_entry || in_dn).into()
}
