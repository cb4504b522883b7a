//! What leads from one set of entries to another.

use std::collections::HashMap;

use super::content::{Content, Named};
use super::{Change, Record};
use crate::entry::modifications;
use crate::error::Result;
use crate::matching::Rule;

type Attribute = (String, Vec<Vec<u8>>);

/// What a comparison of entries looks at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Differences {
    /// Attributes that are not compared, nor part of new entries; their options do not matter.
    pub ignored: Vec<String>,
    /// Compares values by their octets instead of by matching rules.
    pub octets: bool,
    /// Finds entries that one side lacks, and does not compare those that both have.
    pub only_missing: bool,
}

/// Changes that make entries of others: new ones from the top down, then what changes, then what goes from the bottom up.
/// Names are compared as names (RFC 4514), values by the rules of [`crate::matching`].
///
/// # Errors
/// A name is malformed or comes twice, or a record is a change and no content.
///
/// ```
/// use tercet_ldap::ldif::{Reader, difference};
///
/// let before = Reader::new("dn: o=a\no: a\nl: here\n".as_bytes());
/// let after = Reader::new("dn: O=a\no: a\nl: there\n\ndn: cn=b,o=a\ncn: b\n".as_bytes());
/// let changes = difference(before, after)?;
/// assert_eq!(changes.iter().map(|change| change.dn.as_str()).collect::<Vec<_>>(), ["cn=b,o=a", "o=a"]);
/// # Ok::<(), tercet_ldap::Error>(())
/// ```
pub fn difference(
    before: impl IntoIterator<Item = Result<Record>>,
    after: impl IntoIterator<Item = Result<Record>>,
) -> Result<Vec<Record>> {
    Differences::default().between(before, after)
}

impl Differences {
    /// Returns the changes that lead from entries to others, in the order of [`difference`].
    ///
    /// # Errors
    /// A name is malformed or comes twice, or a record is a change and no content.
    pub fn between(
        &self,
        before: impl IntoIterator<Item = Result<Record>>,
        after: impl IntoIterator<Item = Result<Record>>,
    ) -> Result<Vec<Record>> {
        let before = Content::read(before)?.into_places();
        let mut after = Content::read(after)?.into_places();
        let (mut changed, mut gone) = (Vec::new(), Vec::new());
        let rule = |name: &str| if self.octets { Rule::Octets } else { Rule::of_attribute(name) };
        for (place, (dn, old)) in before {
            match after.remove(&place) {
                None => gone.push(change(dn, Change::Delete)),
                Some(_) if self.only_missing => {}
                Some((_, mut new)) => {
                    if !self.octets {
                        respell(&old, &mut new);
                    }
                    let mut modifications = modifications(&old, &new, &rule);
                    modifications.retain(|one| !self.is_ignored(&one.attribute));
                    if !modifications.is_empty() {
                        changed.push(change(dn, Change::Modify(modifications)));
                    }
                }
            }
        }
        let come = after.into_values().map(|(dn, mut attributes): Named| {
            attributes.retain(|(name, _)| !self.is_ignored(name));
            change(dn, Change::Add(attributes))
        });
        // In the order of places, what is below comes after.
        Ok(come.chain(changed).chain(gone.into_iter().rev()).collect())
    }

    fn is_ignored(&self, description: &str) -> bool {
        let name = description.split(';').next().unwrap_or_default();
        self.ignored.iter().any(|ignored| ignored.eq_ignore_ascii_case(name))
    }
}

/// Takes over the spelling of values that are equal by the rule of their attribute.
fn respell(old: &[Attribute], new: &mut [Attribute]) {
    for (name, values) in new {
        let Some((_, known)) = old.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) else {
            continue;
        };
        if known == values {
            continue;
        }
        let rule = Rule::of_attribute(name);
        let keys: HashMap<Vec<u8>, &Vec<u8>> =
            known.iter().map(|value| (rule.normalize(value), value)).collect();
        for value in values {
            if let Some(known) = keys.get(&rule.normalize(value)) {
                value.clone_from(known);
            }
        }
    }
}

const fn change(dn: String, change: Change) -> Record {
    Record { dn, controls: Vec::new(), change, is_change: true }
}
