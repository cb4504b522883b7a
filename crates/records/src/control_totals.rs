//! Totals that stand around the records, compared with what was read.

use crate::SettingError;
use crate::interpret::wide;
use std::fmt;
use std::str::FromStr;
use tercet_dynamic::leaf::{Scalar, scalar};
use tercet_dynamic::{Shape, Token, View};

/// What a kind of file tells of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ControlTotalRules {
    /// Where the number of records stands.
    pub count: Option<String>,
    /// Where sums stand, and what they are the sums of: the first as the standard has it, others as senders have it.
    pub totals: Vec<(String, Vec<Sum>)>,
}

/// A sum over components: `charge[chargeType=00] + fee unless refund`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sum {
    terms: Vec<Term>,
    /// A component, and whether the records with it are those that count.
    guard: Option<(String, bool)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Term {
    component: String,
    /// A component beside it, and its value.
    beside: Option<(String, String)>,
}

impl FromStr for Sum {
    type Err = SettingError;

    fn from_str(text: &str) -> Result<Self, SettingError> {
        let guarded = |word: &str, counts| {
            let (terms, name) = text.split_once(word)?;
            Some((terms, Some((name.trim().to_owned(), counts))))
        };
        let (terms, guard) =
            guarded(" unless ", false).or_else(|| guarded(" if ", true)).unwrap_or((text, None));
        let term = |text: &str| {
            let wrong = || format!("`{text}` is not a component to sum");
            let (component, beside) = match text.trim().split_once('[') {
                None => (text.trim(), None),
                Some((component, beside)) => {
                    let beside = beside.strip_suffix(']').and_then(|beside| beside.split_once('='));
                    let (name, value) = beside.ok_or_else(wrong)?;
                    (component, Some((name.to_owned(), value.to_owned())))
                }
            };
            let is_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
            if component.is_empty() || !component.chars().all(is_name) {
                return Err(wrong());
            }
            Ok(Term { component: component.to_owned(), beside })
        };
        Ok(Self { terms: terms.split('+').map(term).collect::<Result<_, _>>()?, guard })
    }
}

impl fmt::Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, term) in self.terms.iter().enumerate() {
            write!(f, "{}{}", if i > 0 { " + " } else { "" }, term.component)?;
            if let Some((name, value)) = &term.beside {
                write!(f, "[{name}={value}]")?;
            }
        }
        match &self.guard {
            Some((name, true)) => write!(f, " if {name}"),
            Some((name, false)) => write!(f, " unless {name}"),
            None => Ok(()),
        }
    }
}

/// A total, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// Where it stands.
    pub path: String,
    /// What it says.
    pub announced: i128,
    /// What was read: the sum that agrees, or the first.
    pub seen: i128,
    /// Which sum that is; nothing for the number of records.
    pub sum: Option<String>,
    /// Whether it is the first.
    pub usual: bool,
}

impl Checked {
    /// Whether the total is one of its sums.
    pub fn agrees(&self) -> bool {
        self.announced == self.seen
    }
}

/// Adds up records.
#[derive(Clone, Debug)]
pub(crate) struct ControlTotals {
    rules: ControlTotalRules,
    /// Names of components that are looked for, and for each field of the shape which it has, plus one.
    names: Vec<String>,
    roles: Vec<u16>,
    totals: Totals,
    found: Vec<(u16, usize)>,
}

/// What records add up to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Totals {
    count: u64,
    sums: Vec<Vec<i128>>,
}

impl ControlTotals {
    /// Looks at values of a shape.
    pub(crate) fn new(rules: &ControlTotalRules, shape: &Shape) -> Self {
        let mut names: Vec<String> = Vec::new();
        for sum in rules.totals.iter().flat_map(|(_, sums)| sums) {
            names.extend(sum.terms.iter().map(|term| term.component.clone()));
            names.extend(sum.guard.iter().map(|(name, _)| name.clone()));
        }
        names.sort();
        names.dedup();
        let role = |name: &str| names.iter().position(|known| known == name).map_or(0, |at| at as u16 + 1);
        let roles = shape.fields.iter().map(|field| role(shape.name(field.name))).collect();
        let sums = rules.totals.iter().map(|(_, sums)| vec![0; sums.len()]).collect();
        let totals = Totals { count: 0, sums };
        Self { rules: rules.clone(), names, roles, totals, found: Vec::new() }
    }

    /// The fields that have to be decoded: what is summed and what stands beside it.
    pub(crate) fn fields<'a>(&'a self, shape: &'a Shape) -> impl Iterator<Item = usize> + 'a {
        let terms = self.rules.totals.iter().flat_map(|(_, sums)| sums).flat_map(|sum| &sum.terms);
        let beside: Vec<&str> =
            terms.filter_map(|term| term.beside.as_ref()).map(|beside| beside.0.as_str()).collect();
        let wanted = move |&index: &usize| {
            self.roles[index] > 0 || beside.contains(&shape.name(shape.fields[index].name))
        };
        (0..self.roles.len()).filter(wanted)
    }

    /// Adds a record.
    pub(crate) fn record(&mut self, shape: &Shape, view: View<'_>) {
        self.totals.count += 1;
        self.found.clear();
        for index in 0..view.len() {
            if let Token::Leaf { field, .. } = view.token(index)
                && let Some(&role @ 1..) = self.roles.get(field.index())
            {
                self.found.push((role - 1, index));
            }
        }
        if self.found.is_empty() {
            return;
        }
        let has = |name: &str| self.found.iter().any(|(role, _)| self.names[usize::from(*role)] == name);
        for ((_, rules), sums) in self.rules.totals.iter().zip(&mut self.totals.sums) {
            for (rule, sum) in rules.iter().zip(sums) {
                if rule.guard.as_ref().is_some_and(|(name, counts)| has(name) != *counts) {
                    continue;
                }
                for &(role, index) in &self.found {
                    let counts = |term: &&Term| {
                        let beside = term.beside.as_ref();
                        term.component == self.names[usize::from(role)]
                            && beside.is_none_or(|(name, value)| is_beside(shape, view, index, name, value))
                    };
                    if rule.terms.iter().any(|term| counts(&term))
                        && let Some(number) = number(shape, view, index)
                    {
                        *sum = sum.saturating_add(number);
                    }
                }
            }
        }
    }

    /// Compares with the totals in what stands around the records, and begins anew.
    pub(crate) fn header(&mut self, shape: &Shape, view: View<'_>) -> Vec<Checked> {
        let mut checked = Vec::new();
        let mut path: Vec<&str> = Vec::new();
        for index in 0..view.len() {
            match view.token(index) {
                Token::Open { field, .. } => path.push(name(shape, field.index())),
                Token::Close { .. } => _ = path.pop(),
                Token::Leaf { field, .. } => {
                    path.push(name(shape, field.index()));
                    if let Some(announced) = number(shape, view, index) {
                        checked.extend(self.check(&path, announced));
                    }
                    path.pop();
                }
                _ => {}
            }
        }
        self.reset();
        checked
    }

    /// What there is so far; it begins anew.
    pub(crate) fn take(&mut self) -> Totals {
        let totals = self.totals.clone();
        self.reset();
        totals
    }

    /// Adds what another has added up.
    pub(crate) fn merge(&mut self, other: &Totals) {
        self.totals.count += other.count;
        let sums = self.totals.sums.iter_mut().flatten();
        for (sum, more) in sums.zip(other.sums.iter().flatten()) {
            *sum = sum.saturating_add(*more);
        }
    }

    /// Begins anew.
    pub(crate) fn reset(&mut self) {
        self.totals.count = 0;
        self.totals.sums.iter_mut().for_each(|sums| sums.fill(0));
    }

    fn check(&self, path: &[&str], announced: i128) -> Option<Checked> {
        let is = |known: &str| {
            let mut steps = path.iter().rev();
            known.rsplit('.').all(|step| steps.next() == Some(&step))
        };
        if let Some(count) = self.rules.count.as_deref().filter(|count| is(count)) {
            let seen = self.totals.count.into();
            return Some(Checked { path: count.to_owned(), announced, seen, sum: None, usual: true });
        }
        let at = self.rules.totals.iter().position(|(total, _)| is(total))?;
        let (total, rules) = &self.rules.totals[at];
        let sums = &self.totals.sums[at];
        let which = sums.iter().position(|sum| *sum == announced).unwrap_or(0);
        Some(Checked {
            path: total.clone(),
            announced,
            seen: sums.get(which).copied()?,
            sum: rules.get(which).map(Sum::to_string),
            usual: which == 0,
        })
    }
}

fn name(shape: &Shape, field: usize) -> &str {
    shape.fields.get(field).map_or("", |field| shape.name(field.name))
}

fn number(shape: &Shape, view: View<'_>, index: usize) -> Option<i128> {
    let Token::Leaf { node, leaf, .. } = view.token(index) else { return None };
    match scalar(shape, node, leaf) {
        Scalar::Integer(number) => Some(number.into()),
        Scalar::BigInteger(octets) => wide(octets),
        // An amount that a rendering has given decimal places, the same ones to all.
        Scalar::Text(text) => text.replacen('.', "", 1).parse().ok(),
        _ => None,
    }
}

/// Whether a component of a name and value is in the same SEQUENCE or SET as the one at an index.
fn is_beside(shape: &Shape, view: View<'_>, index: usize, wanted: &str, value: &str) -> bool {
    let is = |index: usize| match view.token(index) {
        Token::Leaf { field, node, leaf } if name(shape, field.index()) == wanted => {
            match scalar(shape, node, leaf) {
                Scalar::Integer(number) => value.parse() == Ok(number),
                Scalar::Enumerated(number, name) => name == Some(value) || value.parse() == Ok(number),
                // Octets count as characters, whether a rendering shows them so or not.
                _ => leaf.contents() == Some(value.as_bytes()),
            }
        }
        _ => false,
    };
    let mut before = index;
    while let Some(at) = before.checked_sub(1) {
        before = match view.token(at) {
            Token::Open { .. } => break,
            Token::Close { open, .. } => open,
            _ => at,
        };
        if is(before) {
            return true;
        }
    }
    let mut behind = index + 1;
    while behind < view.len() && !matches!(view.token(behind), Token::Close { .. }) {
        if is(behind) {
            return true;
        }
        behind = view.skip(behind);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_read() {
        for text in ["charge", "charge[chargeType=00] + fee unless refund", "a + b if c"] {
            assert_eq!(text.parse::<Sum>().unwrap().to_string(), text);
        }
        for text in ["", "a +", "a[b]", "a[b=c", "a b"] {
            assert!(text.parse::<Sum>().is_err(), "{text}");
        }
    }
}
