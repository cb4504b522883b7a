//! Entries that are changed here first: what differs is sent as the shortest list of modifications.

use std::collections::HashSet;
use std::sync::Arc;

use super::apply;
use super::schema_draft::SchemaDraft;
use crate::dn::Dn;
use crate::error::{Error, Result};
use crate::ldif::{Change, ModificationKind, Record, RecordModification};
use crate::matching::Rule;
use crate::proto::{Entry, LdapResult, ResultCode};
use crate::schema::Schema;

/// An attribute with its values.
pub(super) type Attribute = (String, Vec<Vec<u8>>);

/// An entry as it was read, and as it is to be.
///
/// Values are compared by the equality rule of their attribute: that of the schema if there is one ([`Draft::with_schema`]), else as
/// far as [`Rule::of_attribute`] knows it. Changes name the values that go, so that a server refuses them if somebody else has
/// changed these values meanwhile.
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
#[derive(Clone, Debug)]
pub struct Draft {
    dn: String,
    original: Vec<Attribute>,
    current: Vec<Attribute>,
    schema: Option<Arc<Schema>>,
}

/// Drafts are equal if name and attributes are, whatever the schema.
impl PartialEq for Draft {
    fn eq(&self, other: &Self) -> bool {
        (&self.dn, &self.original, &self.current) == (&other.dn, &other.original, &other.current)
    }
}

impl Eq for Draft {}

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
        Self { dn: dn.into(), current: original.clone(), original, schema: None }
    }

    /// The name of the entry.
    #[must_use]
    pub fn dn(&self) -> &str {
        &self.dn
    }

    /// The attributes as they are to be, with their values.
    pub fn attributes(&self) -> impl Iterator<Item = (&str, &[Vec<u8>])> {
        self.current.iter().map(|(name, values)| (name.as_str(), values.as_slice()))
    }

    /// Returns whether an attribute has values as it is to be.
    #[must_use]
    pub fn has(&self, attribute: &str) -> bool {
        position(&self.current, attribute).is_some()
    }

    /// Returns whether an attribute has a value as it is to be.
    #[must_use]
    pub fn has_value(&self, attribute: &str, value: impl AsRef<[u8]>) -> bool {
        has(find(&self.current, attribute), self.rule(attribute), value.as_ref())
    }

    /// Compares and checks the entry by a schema from now on.
    #[must_use]
    pub fn with_schema(mut self, schema: Arc<Schema>) -> SchemaDraft {
        self.schema = Some(Arc::clone(&schema));
        SchemaDraft::new(self, schema)
    }

    /// The equality rule of an attribute.
    pub(super) fn rule(&self, attribute: &str) -> Rule {
        self.schema.as_ref().map_or_else(|| Rule::of_attribute(attribute), |schema| schema.rule(attribute))
    }

    pub(super) const fn original(&self) -> &Vec<Attribute> {
        &self.original
    }

    pub(super) const fn current(&self) -> &Vec<Attribute> {
        &self.current
    }

    /// Changes the entry as a server would: the modifications in their order, all or none (RFC 4511 4.6; increment as RFC 4525).
    ///
    /// ```
    /// use tercet_ldap::Draft;
    /// use tercet_ldap::ldif::{ModificationKind, RecordModification};
    ///
    /// let mut draft = Draft::new("uid=ada,o=test", [("mail", vec!["ada@example.net"])]);
    /// let (kind, attribute) = (ModificationKind::Delete, "mail".to_owned());
    /// let change = RecordModification { kind, attribute, values: vec![b"other@example.net".to_vec()] };
    /// let error = draft.apply(&[change]).unwrap_err();
    /// assert_eq!(error.to_string(), "No such attribute (16): modification 1: mail");
    /// ```
    ///
    /// # Errors
    /// [`crate::ErrorKind::Result`] with the code of the server and the number of the modification, from 1: noSuchAttribute (16),
    /// attributeOrValueExists (20), constraintViolation (19), protocolError (2), notAllowedOnRDN (67). The entry is as before.
    pub fn apply(&mut self, modifications: &[RecordModification]) -> Result<()> {
        let mut changed = self.current.clone();
        for (index, modification) in modifications.iter().enumerate() {
            let rule = self.rule(&modification.attribute);
            let done = apply::apply(&mut changed, modification, rule);
            done.map_err(|result| numbered(index + 1, result))?;
        }
        if let Some((index, attribute)) = self.takes_name(&changed, modifications) {
            let result = LdapResult::new(ResultCode::NOT_ALLOWED_ON_RDN);
            return Err(numbered(
                index + 1,
                result.with_message(format!("{attribute}: a value of the name has to stay")),
            ));
        }
        self.current = changed;
        Ok(())
    }

    /// The last modification of an attribute of the name that leaves the entry without its value.
    fn takes_name(
        &self,
        changed: &[Attribute],
        modifications: &[RecordModification],
    ) -> Option<(usize, String)> {
        let dn: Dn = self.dn.parse().ok()?;
        dn.rdns().first()?.avas().iter().find_map(|ava| {
            let name = ava.attribute();
            let index = modifications.iter().rposition(|one| one.attribute.eq_ignore_ascii_case(name))?;
            let rule = self.rule(name);
            // An entry that was read without the attribute says nothing of it.
            let had = has(find(&self.current, name), rule, ava.value());
            (had && !has(find(changed, name), rule, ava.value())).then(|| (index, name.to_owned()))
        })
    }

    /// The shortest list of modifications that makes this entry, as it is to be, what another is to be.
    #[must_use]
    pub fn diff(&self, to: &Self) -> Vec<RecordModification> {
        modifications(&self.current, &to.current, &|name| self.rule(name))
    }

    /// The values of an attribute as they are to be.
    pub fn values(&self, attribute: &str) -> impl Iterator<Item = &[u8]> {
        find(&self.current, attribute).iter().map(Vec::as_slice)
    }

    /// Adds a value, if it is not there.
    pub fn add(&mut self, attribute: &str, value: impl AsRef<[u8]>) {
        let value = value.as_ref();
        let rule = self.rule(attribute);
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
        let rule = self.rule(attribute);
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
        modifications(&self.original, &self.current, &|name| self.rule(name))
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

/// A server's result as an error that names the modification.
pub(super) fn numbered(number: usize, result: LdapResult) -> Error {
    let message = format!("modification {number}: {}", result.message);
    Error::from_result(result.with_message(message))
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
pub(crate) fn modifications(
    from: &[Attribute],
    to: &[Attribute],
    rule_of: &dyn Fn(&str) -> Rule,
) -> Vec<RecordModification> {
    let mut changes = Vec::new();
    let mut push = |kind, attribute: &str, values: Vec<Vec<u8>>| {
        changes.push(RecordModification { kind, attribute: attribute.to_owned(), values });
    };
    for (name, new) in to {
        let old = find(from, name);
        let rule = rule_of(name);
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

    fn change(kind: ModificationKind, attribute: &str, values: &[&str]) -> RecordModification {
        let values = values.iter().map(|value| value.as_bytes().to_vec()).collect();
        RecordModification { kind, attribute: attribute.to_owned(), values }
    }

    #[test]
    fn modifications_are_made_as_by_a_server() {
        use ModificationKind::Increment;
        let draft =
            Draft::new("cn=a,o=x", [("cn", vec!["a", "b"]), ("mail", vec!["x@y"]), ("n", vec!["41"])]);
        let mut changed = draft.clone();
        let all = [
            change(Add, "mail", &["z@y", "q@y"]),
            change(Delete, "MAIL", &["X@Y"]),
            change(Replace, "l", &[]),
            change(Increment, "n", &["1"]),
            change(Delete, "cn", &["b"]),
            change(Replace, "sn", &["s"]),
        ];
        changed.apply(&all).unwrap();
        let values = |name: &str| changed.values(name).map(<[u8]>::to_vec).collect::<Vec<_>>();
        assert_eq!(values("mail"), [b"z@y", b"q@y"]);
        assert_eq!(
            (values("n"), values("cn"), values("sn")),
            (vec![b"42".to_vec()], vec![b"a".to_vec()], vec![b"s".to_vec()])
        );
        // The way back, and the draft's own list.
        let mut back = changed.clone();
        back.apply(&changed.diff(&draft)).unwrap();
        assert!(back.diff(&draft).is_empty());
        let mut again = draft;
        again.apply(&changed.modifications()).unwrap();
        assert!(again.diff(&changed).is_empty());
    }

    #[test]
    fn refusals_are_those_of_a_server() {
        use crate::proto::ResultCode as Code;
        let draft = Draft::new("cn=a,o=x", [("cn", vec!["a"]), ("mail", vec!["x@y"]), ("n", vec!["one"])]);
        let good = change(Add, "title", &["t"]);
        for (bad, code) in [
            (change(Delete, "l", &[]), Code::NO_SUCH_ATTRIBUTE),
            (change(Delete, "mail", &["y@y"]), Code::NO_SUCH_ATTRIBUTE),
            (change(Add, "mail", &["X@y"]), Code::ATTRIBUTE_OR_VALUE_EXISTS),
            (change(Add, "l", &["a", "A"]), Code::ATTRIBUTE_OR_VALUE_EXISTS),
            (change(Replace, "l", &["a", "a"]), Code::ATTRIBUTE_OR_VALUE_EXISTS),
            (change(Add, "l", &[]), Code::PROTOCOL_ERROR),
            (change(ModificationKind::Increment, "n", &["1"]), Code::CONSTRAINT_VIOLATION),
            (change(ModificationKind::Increment, "m", &["1"]), Code::NO_SUCH_ATTRIBUTE),
            (change(Delete, "cn", &["A"]), Code::NOT_ALLOWED_ON_RDN),
            (change(Delete, "CN", &[]), Code::NOT_ALLOWED_ON_RDN),
            (change(Replace, "cn", &["b"]), Code::NOT_ALLOWED_ON_RDN),
        ] {
            let mut changed = draft.clone();
            let error = changed.apply(&[good.clone(), bad.clone()]).unwrap_err();
            assert_eq!(error.result().unwrap().code, code, "{bad:?}");
            assert!(error.to_string().contains("modification 2: "), "{error}");
            assert_eq!(changed, draft, "all or none: {bad:?}");
        }
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
