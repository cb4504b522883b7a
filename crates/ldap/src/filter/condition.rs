//! A filter ready to be evaluated (RFC 4511 4.5.1.7): what it asks for is normalized once, and its time is limited.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::{DEPTH, Evaluation};
use crate::dn::Dn;
use crate::generated::{Filter, MatchingRuleAssertion, Substring};
use crate::matching::{Parts, Rule};
use crate::schema::Schema;

/// A condition on an entry.
#[derive(Debug)]
pub(crate) enum Condition {
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
pub(crate) struct Extensible {
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
pub(crate) type Steps = u64;

/// Why an evaluation ended before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// The steps of a turn are used up.
    Turn,
    /// The time limit has passed, or the client has gone.
    Time,
}

/// What an evaluation may use.
#[derive(Debug)]
pub(crate) struct Budget {
    left: Steps,
    /// The end of the time, for an evaluation that does not end with its turn.
    until: Option<(Option<Instant>, Arc<AtomicBool>)>,
}

/// Steps between two looks at the clock.
const BETWEEN: Steps = 20_000;

impl Budget {
    /// Ends with [`Ended::Turn`] after so many steps.
    pub(crate) const fn turn(steps: Steps) -> Self {
        Self { left: steps, until: None }
    }

    /// Ends with [`Ended::Time`] at this time, or when the flag is set.
    pub(crate) const fn until(deadline: Option<Instant>, given_up: Arc<AtomicBool>) -> Self {
        Self { left: BETWEEN, until: Some((deadline, given_up)) }
    }

    #[inline]
    pub(crate) fn spend(&mut self, steps: Steps) -> Result<(), Ended> {
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

/// What a condition is evaluated on.
pub(crate) trait Subject {
    /// Returns whether a test is passed by any value that an attribute description asks for.
    ///
    /// # Errors
    /// The budget is used up.
    fn any(
        &self,
        description: &str,
        budget: &mut Budget,
        test: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<bool, Ended>;

    /// Returns whether there is any value that an attribute description asks for.
    ///
    /// # Errors
    /// The budget is used up.
    fn has(&self, description: &str, budget: &mut Budget) -> Result<bool, Ended> {
        self.any(description, budget, &mut |_| true)
    }

    /// Returns the name of the entry; nothing if the subject is not one.
    fn dn(&self) -> Option<Cow<'_, Dn>>;
}

/// What names in a filter mean, and which attributes count.
struct Reading<'r> {
    schema: Option<&'r Schema>,
    is_readable: &'r dyn Fn(&str) -> bool,
}

impl Reading<'_> {
    /// The attributes that a description stands for; nothing if it must not be read.
    fn named(&self, octets: &[u8]) -> Option<Vec<String>> {
        let name = std::str::from_utf8(octets).ok()?;
        let mut all = self.schema.map_or_else(|| vec![name.to_owned()], |schema| schema.described(name));
        let is_readable = |name: &String| (self.is_readable)(name);
        if !all.first().is_some_and(is_readable) {
            return None;
        }
        all.retain(is_readable);
        Some(all)
    }

    fn rule(&self, name: &str) -> Rule {
        self.schema.map_or_else(|| Rule::of_attribute(name), |schema| schema.matching(name))
    }

    /// That an entry belongs to an object class; nothing if another attribute is asked for.
    fn class(&self, name: &[u8], value: &[u8]) -> Option<Option<Condition>> {
        let schema = self.schema?;
        let name = self.named(name).map(|mut all| all.swap_remove(0))?;
        if !name.eq_ignore_ascii_case("objectClass") {
            return None;
        }
        let Ok(class) = std::str::from_utf8(value) else { return Some(None) };
        let Some(classes) = schema.classes(class.trim()) else {
            return Some(Some(Condition::Present { name }));
        };
        let rule = self.rule(&name);
        let equal = |class: String| Condition::Equal {
            name: name.clone(),
            rule,
            key: rule.normalize(class.as_bytes()),
        };
        Some(Some(Condition::any(classes.into_iter().map(equal).collect())))
    }
}

/// Steps that a test of a value costs.
pub(crate) const fn price(value: &[u8]) -> Steps {
    4 + value.len() as Steps / 16
}

impl Condition {
    /// Prepares a filter. What it asks of attributes that must not be read is Undefined: a filter must not find out by many
    /// searches what cannot be read.
    ///
    /// By a schema, attributes have all their names, and stand for those derived from them; an entry belongs to the classes from which
    /// its own are derived.
    pub(crate) fn new(
        filter: &Filter<'_>,
        schema: Option<&Schema>,
        is_readable: &dyn Fn(&str) -> bool,
    ) -> Self {
        Self::level(filter, &Reading { schema, is_readable }, 0)
    }

    fn level(filter: &Filter<'_>, reading: &Reading<'_>, depth: usize) -> Self {
        // Filters are parsed, and received, to a depth; those that somebody builds are cut here.
        if depth > DEPTH * 2 {
            return Self::Undefined;
        }
        let parts = |list: &[Filter<'_>]| -> Vec<Self> {
            list.iter().map(|part| Self::level(part, reading, depth + 1)).collect()
        };
        let each = |octets: &[u8], make: &dyn Fn(String) -> Self| {
            let all = reading.named(octets)?.into_iter().map(make);
            Some(Self::any(all.collect()))
        };
        let ruled = |octets: &[u8], value: &[u8], make: &dyn Fn(String, Rule, Vec<u8>) -> Self| {
            each(octets, &|name| {
                let rule = reading.rule(&name);
                make(name, rule, rule.normalize(value))
            })
        };
        let condition = match filter {
            Filter::And(list) => Some(Self::And(parts(list))),
            Filter::Or(list) => Some(Self::Or(parts(list))),
            Filter::Not(part) => Some(Self::Not(Box::new(Self::level(part, reading, depth + 1)))),
            Filter::Present(name) => each(name, &|name| Self::Present { name }),
            Filter::EqualityMatch(a) | Filter::ApproxMatch(a) => {
                let (name, value) = (&a.attribute_desc, &a.assertion_value);
                reading
                    .class(name, value)
                    .unwrap_or_else(|| ruled(name, value, &|name, rule, key| Self::Equal { name, rule, key }))
            }
            Filter::GreaterOrEqual(a) => ruled(&a.attribute_desc, &a.assertion_value, &|name, rule, key| {
                Self::AtLeast { name, rule, key }
            }),
            Filter::LessOrEqual(a) => ruled(&a.attribute_desc, &a.assertion_value, &|name, rule, key| {
                Self::AtMost { name, rule, key }
            }),
            Filter::Substrings(filter) => each(&filter.r#type, &|name| {
                let rule = reading.rule(&name);
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
            Filter::ExtensibleMatch(assertion) => extensible(assertion, reading).map(Self::Extensible),
            Filter::Unknown(_) => None,
        };
        condition.unwrap_or(Self::Undefined)
    }

    /// One of several conditions is met.
    fn any(mut all: Vec<Self>) -> Self {
        match (all.len(), all.pop()) {
            (1, Some(one)) => one,
            (_, None) => Self::Never,
            (_, Some(last)) => {
                all.push(last);
                Self::Or(all)
            }
        }
    }

    /// Evaluates the condition.
    ///
    /// # Errors
    /// The budget is used up.
    pub(crate) fn evaluate(&self, subject: &impl Subject, budget: &mut Budget) -> Result<Evaluation, Ended> {
        self.part(subject, budget, &mut Vec::new())
    }

    fn part(
        &self,
        subject: &impl Subject,
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
                    match part.part(subject, budget, buffer)? {
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
                    match part.part(subject, budget, buffer)? {
                        Evaluation::True => return Ok(Evaluation::True),
                        Evaluation::Undefined => result = Evaluation::Undefined,
                        Evaluation::False => {}
                    }
                }
                return Ok(result);
            }
            Self::Not(part) => {
                return Ok(match part.part(subject, budget, buffer)? {
                    Evaluation::True => Evaluation::False,
                    Evaluation::False => Evaluation::True,
                    Evaluation::Undefined => Evaluation::Undefined,
                });
            }
            Self::Present { name } => subject.has(name, budget)?,
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

fn extensible(assertion: &MatchingRuleAssertion<'_>, reading: &Reading<'_>) -> Option<Extensible> {
    let text = |octets: &[u8]| std::str::from_utf8(octets).ok().map(str::to_owned);
    let name = match assertion.r#type.as_deref() {
        Some(octets) => Some(reading.named(octets)?.into_iter().next()?),
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
        None => (reading.rule(name.as_deref().unwrap_or_default()), None),
    };
    let key = rule.normalize(&assertion.match_value);
    Some(Extensible { name, rule, key, bits, in_dn: assertion.dn_attributes })
}

impl Extensible {
    fn is_met(
        &self,
        subject: &impl Subject,
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
        let Some(dn) = subject.dn().filter(|_| self.in_dn) else { return Ok(false) };
        budget.spend(100)?;
        let mut avas = dn.rdns().iter().flat_map(|rdn| rdn.avas());
        Ok(avas.any(|ava| {
            let is_named = self.name.as_ref().is_none_or(|name| ava.attribute().eq_ignore_ascii_case(name));
            is_named && equal(ava.value())
        }))
    }
}
