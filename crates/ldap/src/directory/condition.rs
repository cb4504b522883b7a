//! A filter as the directory evaluates it: what it asks for is normalized once, and its time is limited.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::entry::{Stored, is_described, is_password};
use crate::filter::Evaluation;
use crate::generated::{Filter, MatchingRuleAssertion, Substring};
use crate::matching::{Parts, Rule};

/// A condition on an entry.
#[derive(Debug)]
pub(super) enum Condition {
    And(Vec<Self>),
    Or(Vec<Self>),
    Not(Box<Self>),
    Present {
        name: String,
    },
    Equal {
        name: String,
        rule: Rule,
        key: Vec<u8>,
    },
    AtLeast {
        name: String,
        rule: Rule,
        key: Vec<u8>,
    },
    AtMost {
        name: String,
        rule: Rule,
        key: Vec<u8>,
    },
    Substrings {
        name: String,
        rule: Rule,
        parts: Parts,
    },
    Extensible(Extensible),
    /// Not met by any entry.
    Never,
    Undefined,
}

/// An extensible match (RFC 4511 4.5.1.7.7).
#[derive(Debug)]
pub(super) struct Extensible {
    name: Option<String>,
    rule: Rule,
    key: Vec<u8>,
    bits: Option<Bits>,
    in_dn: bool,
}

/// Rules of Active Directory for bits of an integer.
#[derive(Clone, Copy, Debug)]
enum Bits {
    All(i64),
    Any(i64),
    None,
}

const BIT_AND: &str = "1.2.840.113556.1.4.803";
const BIT_OR: &str = "1.2.840.113556.1.4.804";

/// Work of an evaluation: about ten nanoseconds.
pub(super) type Steps = u64;

/// Why an evaluation ended before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// The steps of a turn are used up.
    Turn,
    /// The time limit has passed, or the client has gone.
    Time,
}

/// What an evaluation may use.
#[derive(Debug)]
pub(super) struct Budget {
    left: Steps,
    /// The end of the time, for an evaluation that does not end with its turn.
    until: Option<(Option<Instant>, Arc<AtomicBool>)>,
}

/// Steps between two looks at the clock.
const BETWEEN: Steps = 20_000;

impl Budget {
    /// Ends with [`Ended::Turn`] after so many steps.
    pub(super) const fn turn(steps: Steps) -> Self {
        Self { left: steps, until: None }
    }

    /// Ends with [`Ended::Time`] at this time, or when the flag is set.
    pub(super) const fn until(deadline: Option<Instant>, given_up: Arc<AtomicBool>) -> Self {
        Self { left: BETWEEN, until: Some((deadline, given_up)) }
    }

    #[inline]
    pub(super) fn spend(&mut self, steps: Steps) -> Result<(), Ended> {
        match self.left.checked_sub(steps) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => self.refill(),
        }
    }

    #[cold]
    fn refill(&mut self) -> Result<(), Ended> {
        let Some((deadline, given_up)) = &self.until else {
            self.left = 0;
            return Err(Ended::Turn);
        };
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) || given_up.load(Ordering::Relaxed) {
            return Err(Ended::Time);
        }
        self.left = BETWEEN;
        Ok(())
    }
}

impl Condition {
    /// Prepares a filter. What it asks of passwords is Undefined unless they may be read: a filter must not find out by many
    /// searches what cannot be read.
    pub(super) fn new(filter: &Filter<'_>, reads_passwords: bool) -> Self {
        let named = |octets: &[u8]| {
            let name = std::str::from_utf8(octets).ok()?;
            (reads_passwords || !is_password(name)).then(|| name.to_owned())
        };
        let ruled = |octets: &[u8], value: &[u8]| {
            let name = named(octets)?;
            let rule = Rule::of_attribute(&name);
            Some((name, rule, rule.normalize(value)))
        };
        let condition = match filter {
            Filter::And(list) => {
                Some(Self::And(list.iter().map(|part| Self::new(part, reads_passwords)).collect()))
            }
            Filter::Or(list) => {
                Some(Self::Or(list.iter().map(|part| Self::new(part, reads_passwords)).collect()))
            }
            Filter::Not(part) => Some(Self::Not(Box::new(Self::new(part, reads_passwords)))),
            Filter::Present(name) => named(name).map(|name| Self::Present { name }),
            Filter::EqualityMatch(a) | Filter::ApproxMatch(a) => ruled(&a.attribute_desc, &a.assertion_value)
                .map(|(name, rule, key)| Self::Equal { name, rule, key }),
            Filter::GreaterOrEqual(a) => ruled(&a.attribute_desc, &a.assertion_value)
                .map(|(name, rule, key)| Self::AtLeast { name, rule, key }),
            Filter::LessOrEqual(a) => ruled(&a.attribute_desc, &a.assertion_value)
                .map(|(name, rule, key)| Self::AtMost { name, rule, key }),
            Filter::Substrings(filter) => named(&filter.r#type).map(|name| {
                let rule = Rule::of_attribute(&name);
                let mut any: Vec<&[u8]> = Vec::new();
                let (mut initial, mut last) = (None::<&[u8]>, None::<&[u8]>);
                for part in &filter.substrings {
                    match part {
                        Substring::Initial(part) => initial = Some(part),
                        Substring::Any(part) => any.push(part),
                        Substring::Final(part) => last = Some(part),
                        Substring::Unknown(_) => return Self::Never,
                    }
                }
                Self::Substrings { name, rule, parts: Parts::new(rule, initial, &any, last) }
            }),
            Filter::ExtensibleMatch(assertion) => {
                extensible(assertion, reads_passwords).map(Self::Extensible)
            }
            Filter::Unknown(_) => None,
        };
        condition.unwrap_or(Self::Undefined)
    }

    /// Evaluates the condition on an entry.
    ///
    /// # Errors
    /// The budget is used up.
    pub(super) fn evaluate(&self, stored: &Stored, budget: &mut Budget) -> Result<Evaluation, Ended> {
        let mut buffer = Vec::new();
        self.level(&Subject::Entry(stored), budget, &mut buffer)
    }

    /// Evaluates the condition on one value of an attribute (RFC 3876).
    ///
    /// # Errors
    /// The budget is used up.
    pub(super) fn evaluate_value(
        &self,
        name: &str,
        value: &[u8],
        budget: &mut Budget,
    ) -> Result<Evaluation, Ended> {
        let mut buffer = Vec::new();
        self.level(&Subject::Value(name, value), budget, &mut buffer)
    }

    fn level(
        &self,
        subject: &Subject<'_>,
        budget: &mut Budget,
        buffer: &mut Vec<u8>,
    ) -> Result<Evaluation, Ended> {
        budget.spend(1)?;
        let mut test = |name: &str, rule: Rule, test: &dyn Fn(&[u8]) -> bool| {
            subject.any(name, budget, &mut |value| {
                rule.normalize_into(value, buffer);
                test(buffer)
            })
        };
        let is_met = match self {
            Self::And(list) => {
                let mut result = Evaluation::True;
                for part in list {
                    match part.level(subject, budget, buffer)? {
                        Evaluation::False => return Ok(Evaluation::False),
                        Evaluation::Undefined => result = Evaluation::Undefined,
                        Evaluation::True => {}
                    }
                }
                return Ok(result);
            }
            Self::Or(list) => {
                let mut result = Evaluation::False;
                for part in list {
                    match part.level(subject, budget, buffer)? {
                        Evaluation::True => return Ok(Evaluation::True),
                        Evaluation::Undefined => result = Evaluation::Undefined,
                        Evaluation::False => {}
                    }
                }
                return Ok(result);
            }
            Self::Not(part) => {
                return Ok(match part.level(subject, budget, buffer)? {
                    Evaluation::True => Evaluation::False,
                    Evaluation::False => Evaluation::True,
                    Evaluation::Undefined => Evaluation::Undefined,
                });
            }
            Self::Present { name } => subject.any(name, budget, &mut |_| true)?,
            Self::Equal { name, rule, key } => test(name, *rule, &|value| value == key)?,
            Self::AtLeast { name, rule, key } => {
                test(name, *rule, &|value| rule.compare_normalized(value, key).is_ge())?
            }
            Self::AtMost { name, rule, key } => {
                test(name, *rule, &|value| rule.compare_normalized(value, key).is_le())?
            }
            Self::Substrings { name, rule, parts } => test(name, *rule, &|value| parts.are_in(value))?,
            Self::Extensible(extensible) => extensible.is_met(subject, budget, buffer)?,
            Self::Never => false,
            Self::Undefined => return Ok(Evaluation::Undefined),
        };
        Ok(is_met.into())
    }
}

/// What a condition is evaluated on.
enum Subject<'s> {
    Entry(&'s Stored),
    Value(&'s str, &'s [u8]),
}

impl Subject<'_> {
    /// Whether a test is passed by any value that a description asks for.
    fn any(
        &self,
        description: &str,
        budget: &mut Budget,
        test: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<bool, Ended> {
        let mut paid = |value: &[u8], budget: &mut Budget| {
            budget.spend(4 + value.len() as Steps / 16)?;
            Ok(test(value))
        };
        match self {
            Self::Value(name, value) => Ok(name.eq_ignore_ascii_case(description) && paid(value, budget)?),
            Self::Entry(stored) => {
                for attribute in stored.attributes() {
                    budget.spend(1)?;
                    if !is_described(attribute.name, description) {
                        continue;
                    }
                    for value in attribute.values() {
                        if paid(value, budget)? {
                            return Ok(true);
                        }
                    }
                }
                match stored.operational(description) {
                    Some(value) => paid(&value, budget),
                    None => Ok(false),
                }
            }
        }
    }
}

fn extensible(assertion: &MatchingRuleAssertion<'_>, reads_passwords: bool) -> Option<Extensible> {
    let text = |octets: &[u8]| std::str::from_utf8(octets).ok().map(str::to_owned);
    let name = match assertion.r#type.as_deref() {
        Some(octets) => Some(text(octets).filter(|name| reads_passwords || !is_password(name))?),
        None => None,
    };
    let ruled = match assertion.matching_rule.as_deref() {
        Some(octets) => Some(text(octets)?),
        None => None,
    };
    let number = |octets: &[u8]| std::str::from_utf8(octets).ok()?.trim().parse::<i64>().ok();
    let mask = |bits: fn(i64) -> Bits| Some(number(&assertion.match_value).map_or(Bits::None, bits));
    let (rule, bits) = match ruled.as_deref() {
        Some(BIT_AND) => (Rule::Integer, mask(Bits::All)),
        Some(BIT_OR) => (Rule::Integer, mask(Bits::Any)),
        Some(rule) => (Rule::named(rule)?, None),
        None => (Rule::of_attribute(name.as_deref().unwrap_or_default()), None),
    };
    let key = rule.normalize(&assertion.match_value);
    Some(Extensible { name, rule, key, bits, in_dn: assertion.dn_attributes })
}

impl Extensible {
    fn is_met(
        &self,
        subject: &Subject<'_>,
        budget: &mut Budget,
        buffer: &mut Vec<u8>,
    ) -> Result<bool, Ended> {
        let mut equal = |value: &[u8]| {
            let Some(bits) = self.bits else {
                self.rule.normalize_into(value, buffer);
                return *buffer == self.key;
            };
            let number = std::str::from_utf8(value).ok().and_then(|text| text.trim().parse::<i64>().ok());
            match (bits, number) {
                (Bits::All(mask), Some(number)) => number & mask == mask,
                (Bits::Any(mask), Some(number)) => number & mask != 0,
                _ => false,
            }
        };
        if let Some(name) = &self.name
            && subject.any(name, budget, &mut equal)?
        {
            return Ok(true);
        }
        let (true, Subject::Entry(stored)) = (self.in_dn, subject) else {
            return Ok(false);
        };
        budget.spend(100)?;
        let dn = stored.dn();
        let mut avas = dn.rdns().iter().flat_map(|rdn| rdn.avas());
        Ok(avas.any(|ava| {
            let is_named = self.name.as_ref().is_none_or(|name| ava.attribute().eq_ignore_ascii_case(name));
            is_named && equal(ava.value())
        }))
    }
}
