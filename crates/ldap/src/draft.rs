//! Entries that are changed here first: what differs is sent as the shortest list of modifications.

use std::collections::HashSet;

use crate::ldif::{Change, ModificationKind, Record, RecordModification};
use crate::matching::Rule;
use crate::proto::Entry;

/// An attribute with its values.
type Attribute = (String, Vec<Vec<u8>>);

/// An entry as it was read, and as it is to be.
///
/// Values are compared by the equality rule of their attribute, as far as [`Rule::of_attribute`] knows it. Changes name
/// the values that go, so that a server refuses them if somebody else has changed these values meanwhile.
///
/// ```
/// use tercet_ldap::Draft;
///
/// let mut draft = Draft::new("uid=ada,o=test", [("mail", vec!["ada@example.net"]), ("title", vec!["Countess"])]);
/// draft.add("mail", "countess@example.net");
/// draft.remove("title");
/// let changes = draft.modifications();
/// assert_eq!((changes.len(), changes[0].attribute.as_str()), (2, "mail"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    dn: String,
    original: Vec<Attribute>,
    current: Vec<Attribute>,
}

impl From<&Entry> for Draft {
    fn from(entry: &Entry) -> Self {
        let attributes =
            entry.attributes().map(|attribute| (attribute.name().into_owned(), attribute.values()));
        Self::new(entry.dn(), attributes)
    }
}

impl Draft {
    /// An entry with these attributes.
    pub fn new<A, V>(dn: impl Into<String>, attributes: impl IntoIterator<Item = (A, V)>) -> Self
    where
        A: Into<String>,
        V: IntoIterator<Item: AsRef<[u8]>>,
    {
        let original: Vec<Attribute> = attributes
            .into_iter()
            .map(|(name, values)| {
                (name.into(), values.into_iter().map(|value| value.as_ref().to_vec()).collect())
            })
            .collect();
        Self { dn: dn.into(), current: original.clone(), original }
    }

    /// The name of the entry.
    #[must_use]
    pub fn dn(&self) -> &str {
        &self.dn
    }

    /// The values of an attribute as they are to be.
    pub fn values(&self, attribute: &str) -> impl Iterator<Item = &[u8]> {
        find(&self.current, attribute).iter().map(Vec::as_slice)
    }

    /// Adds a value, if it is not there.
    pub fn add(&mut self, attribute: &str, value: impl AsRef<[u8]>) {
        let value = value.as_ref();
        let rule = Rule::of_attribute(attribute);
        match position(&self.current, attribute).and_then(|index| self.current.get_mut(index)) {
            None => self.current.push((attribute.to_owned(), vec![value.to_vec()])),
            Some((_, values)) if has(values, rule, value) => {}
            Some((_, values)) => values.push(value.to_vec()),
        }
    }

    /// Takes these values instead of all that there are; an attribute without values goes.
    pub fn set<V: AsRef<[u8]>>(&mut self, attribute: &str, values: impl IntoIterator<Item = V>) {
        let place = position(&self.current, attribute);
        let values: Vec<Vec<u8>> = values.into_iter().map(|value| value.as_ref().to_vec()).collect();
        match place {
            Some(place) => drop(self.current.remove(place)),
            None if values.is_empty() => return,
            None => {}
        }
        if !values.is_empty() {
            self.current.insert(place.unwrap_or(self.current.len()), (attribute.to_owned(), values));
        }
    }

    /// Takes an attribute away.
    pub fn remove(&mut self, attribute: &str) {
        self.set(attribute, [] as [&[u8]; 0]);
    }

    /// Takes a value away.
    pub fn remove_value(&mut self, attribute: &str, value: impl AsRef<[u8]>) {
        let rule = Rule::of_attribute(attribute);
        let key = rule.normalize(value.as_ref());
        let left: Vec<Vec<u8>> = find(&self.current, attribute)
            .iter()
            .filter(|value| rule.normalize(value) != key)
            .cloned()
            .collect();
        self.set(attribute, left);
    }

    /// Back to what was read.
    pub fn undo(&mut self) {
        self.current.clone_from(&self.original);
    }

    /// What leads from the entry as it was read to the entry as it is to be; empty if nothing has changed.
    #[must_use]
    pub fn modifications(&self) -> Vec<RecordModification> {
        modifications(&self.original, &self.current)
    }

    /// The same as a record of LDIF, if something has changed.
    #[must_use]
    pub fn record(&self) -> Option<Record> {
        let modifications = self.modifications();
        (!modifications.is_empty()).then(|| Record {
            dn: self.dn.clone(),
            controls: Vec::new(),
            change: Change::Modify(modifications),
            is_change: true,
        })
    }
}

fn position(attributes: &[Attribute], name: &str) -> Option<usize> {
    attributes.iter().position(|(known, _)| known.eq_ignore_ascii_case(name))
}

fn find<'a>(attributes: &'a [Attribute], name: &str) -> &'a [Vec<u8>] {
    position(attributes, name).and_then(|index| attributes.get(index)).map_or(&[], |(_, values)| values)
}

fn has(values: &[Vec<u8>], rule: Rule, value: &[u8]) -> bool {
    let key = rule.normalize(value);
    values.iter().any(|known| rule.normalize(known) == key)
}

/// The shortest list of modifications from some attributes to others, in the order of the latter.
pub(crate) fn modifications(from: &[Attribute], to: &[Attribute]) -> Vec<RecordModification> {
    let mut changes = Vec::new();
    let mut push = |kind, attribute: &str, values: Vec<Vec<u8>>| {
        changes.push(RecordModification { kind, attribute: attribute.to_owned(), values });
    };
    for (name, new) in to {
        let old = find(from, name);
        let rule = Rule::of_attribute(name);
        let normalized = |values: &[Vec<u8>]| -> HashSet<Vec<u8>> {
            values.iter().map(|value| rule.normalize(value)).collect()
        };
        let (old_keys, new_keys) = (normalized(old), normalized(new));
        let without = |values: &[Vec<u8>], keys: &HashSet<Vec<u8>>| -> Vec<Vec<u8>> {
            values.iter().filter(|value| !keys.contains(&rule.normalize(value))).cloned().collect()
        };
        let (mut gone, mut come) = (without(old, &new_keys), without(new, &old_keys));
        if gone.is_empty() && come.is_empty() {
            // Another spelling of the same value has to take its place.
            gone = old.iter().filter(|value| !new.contains(value)).cloned().collect();
            come = new.iter().filter(|value| !old.contains(value)).cloned().collect();
        }
        if gone.is_empty() && come.is_empty() {
            continue;
        }
        // Octets have no rule by which a value could be named.
        let is_octets = old.iter().chain(new).any(|value| std::str::from_utf8(value).is_err());
        if is_octets && !old.is_empty() {
            push(ModificationKind::Replace, name, new.clone());
            continue;
        }
        if !gone.is_empty() {
            push(ModificationKind::Delete, name, gone);
        }
        if !come.is_empty() {
            push(ModificationKind::Add, name, come);
        }
    }
    for (name, old) in from {
        if find(to, name).is_empty() && !old.is_empty() {
            let is_octets = old.iter().any(|value| std::str::from_utf8(value).is_err());
            push(ModificationKind::Delete, name, if is_octets { Vec::new() } else { old.clone() });
        }
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;
    use ModificationKind::{Add, Delete, Replace};

    fn told(draft: &Draft) -> Vec<(ModificationKind, String, Vec<String>)> {
        let text = |value: Vec<u8>| String::from_utf8_lossy(&value).into_owned();
        let tell = |change: RecordModification| {
            (change.kind, change.attribute, change.values.into_iter().map(text).collect())
        };
        draft.modifications().into_iter().map(tell).collect()
    }

    #[test]
    fn only_what_differs() {
        let mut draft =
            Draft::new("cn=a", [("cn", vec!["a"]), ("mail", vec!["x@y", "z@y"]), ("sn", vec!["One"])]);
        draft.add("mail", "X@Y");
        draft.set("CN", ["a"]);
        assert_eq!(draft.record(), None);
        draft.remove_value("mail", "Z@y");
        draft.add("mail", "new@y");
        draft.remove("sn");
        draft.add("title", "T");
        let text = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        assert_eq!(
            told(&draft),
            [
                (Delete, "mail".to_owned(), text(&["z@y"])),
                (Add, "mail".to_owned(), text(&["new@y"])),
                (Add, "title".to_owned(), text(&["T"])),
                (Delete, "sn".to_owned(), text(&["One"])),
            ]
        );
        assert_eq!(draft.values("mail").collect::<Vec<_>>(), [&b"x@y"[..], b"new@y"]);
        draft.undo();
        assert!(draft.modifications().is_empty());
    }

    #[test]
    fn another_spelling_and_octets() {
        let mut draft = Draft::new("cn=a", [("cn", vec![&b"a"[..]]), ("jpegPhoto", vec![b"\xFF\xD8"])]);
        draft.set("cn", ["A"]);
        draft.set("jpegPhoto", [b"\xFF\xD9"]);
        let changes = told(&draft);
        assert_eq!(changes.iter().map(|change| change.0).collect::<Vec<_>>(), [Delete, Add, Replace]);
    }
}
