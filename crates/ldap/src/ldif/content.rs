//! Entries by name: what changes are applied to, and what is compared, sorted and split.

use std::collections::BTreeMap;

use super::{Change, Record, RecordModification};
use crate::dn::{Dn, Rdn};
use crate::entry::Draft;
use crate::entry::apply::add_values;
use crate::error::{Error, ErrorKind, Result};
use crate::matching::Rule;
use crate::proto::{LdapResult, ResultCode};

/// Normalized RDNs from the root on: in their order, an entry comes directly before all that is below it.
pub(super) type Place = Vec<String>;

/// The name and the attributes of an entry.
pub(super) type Named = (String, Vec<(String, Vec<Vec<u8>>)>);

/// Returns the place of a name.
pub(super) fn place(dn: &Dn) -> Place {
    dn.rdns().iter().rev().map(Rdn::normalized).collect()
}

/// Reads the entry of a record.
///
/// # Errors
/// The record is a change, or its name is malformed.
pub(super) fn entry(record: Record) -> Result<(Place, Named)> {
    let Change::Add(attributes) = record.change else {
        let message = format!("{}: a change, where an entry is expected", record.dn);
        return Err(Error::new(ErrorKind::Usage, message));
    };
    let dn: Dn = record.dn.parse()?;
    Ok((place(&dn), (record.dn, attributes)))
}

/// Returns a record of content.
pub(super) fn record((dn, attributes): Named) -> Record {
    Record { dn, controls: Vec::new(), change: Change::Add(attributes), is_change: false }
}

/// The entries of an LDIF file, to which changes are applied.
///
/// ```
/// use tercet_ldap::ldif::{Content, Reader};
///
/// let mut content = Content::read(Reader::new("dn: o=a\no: a\nl: here\n".as_bytes()))?;
/// for change in Reader::new("dn: O=A\nchangetype: modify\nreplace: l\nl: there\n".as_bytes()) {
///     content.apply(&change?, false)?;
/// }
/// assert_eq!(content.into_records().next().unwrap().dn, "o=a");
/// # Ok::<(), tercet_ldap::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Content {
    /// In the order in which they came.
    entries: Vec<Option<Named>>,
    places: BTreeMap<Place, usize>,
}

impl Content {
    /// Reads entries.
    ///
    /// # Errors
    /// A name is malformed or comes twice, or a record is a change.
    pub fn read(records: impl IntoIterator<Item = Result<Record>>) -> Result<Self> {
        let mut content = Self::default();
        for record in records {
            let (place, named) = entry(record?)?;
            if content.places.contains_key(&place) {
                let message = format!("{}: the name comes twice", named.0);
                return Err(Error::new(ErrorKind::Usage, message));
            }
            content.insert(place, named);
        }
        Ok(content)
    }

    /// Applies a change as a server would. With `lenient`, adding values that are there is not an error, nor is deleting values or
    /// entries that are not there.
    ///
    /// # Errors
    /// [`ErrorKind::Result`] with the code of a server: noSuchObject (32), entryAlreadyExists (68), notAllowedOnNonLeaf (66), or a code
    /// of [`Draft::apply`]. The name is malformed. Nothing has changed then.
    pub fn apply(&mut self, record: &Record, lenient: bool) -> Result<()> {
        let dn: Dn = record.dn.parse()?;
        let place = place(&dn);
        match &record.change {
            Change::Add(attributes) => {
                if self.places.contains_key(&place) {
                    return fail(ResultCode::ENTRY_ALREADY_EXISTS, "");
                }
                self.insert(place, (record.dn.clone(), attributes.clone()));
                Ok(())
            }
            Change::Delete => match self.places.get(&place).copied() {
                None if lenient => Ok(()),
                None => fail(ResultCode::NO_SUCH_OBJECT, ""),
                Some(_) if self.below(&place).next().is_some() => {
                    fail(ResultCode::NOT_ALLOWED_ON_NON_LEAF, "")
                }
                Some(index) => {
                    self.places.remove(&place);
                    if let Some(slot) = self.entries.get_mut(index) {
                        *slot = None;
                    }
                    Ok(())
                }
            },
            Change::Modify(modifications) => {
                let Some((dn, attributes)) = self.at(&place) else {
                    return fail(ResultCode::NO_SUCH_OBJECT, "");
                };
                let mut draft = Draft::new(dn.clone(), attributes.clone());
                if lenient {
                    let possible = possible(&draft, modifications);
                    draft.apply(&possible)?;
                } else {
                    draft.apply(modifications)?;
                }
                let changed = draft.attributes();
                let changed = changed.map(|(name, values)| (name.to_owned(), values.to_vec())).collect();
                if let Some((_, attributes)) = self.at(&place) {
                    *attributes = changed;
                }
                Ok(())
            }
            Change::ModifyDn { new_rdn, delete_old_rdn, new_superior } => {
                self.rename(&dn, &new_rdn.parse()?, *delete_old_rdn, new_superior.as_deref())
            }
        }
    }

    /// Returns the entries as records: those that were read in their order, then those that were added.
    pub fn into_records(self) -> impl Iterator<Item = Record> {
        self.entries.into_iter().flatten().map(record)
    }

    /// Entries by their place.
    pub(super) fn into_places(self) -> BTreeMap<Place, Named> {
        let Self { mut entries, places } = self;
        let mut take = |index: usize| entries.get_mut(index).and_then(Option::take);
        places.into_iter().filter_map(|(place, index)| Some((place, take(index)?))).collect()
    }

    fn insert(&mut self, place: Place, named: Named) {
        self.places.insert(place, self.entries.len());
        self.entries.push(Some(named));
    }

    fn at(&mut self, place: &Place) -> Option<&mut Named> {
        let index = *self.places.get(place)?;
        self.entries.get_mut(index)?.as_mut()
    }

    /// What is below a place.
    fn below<'a>(&'a self, place: &'a Place) -> impl Iterator<Item = (&'a Place, usize)> {
        let after = (std::ops::Bound::Excluded(place.clone()), std::ops::Bound::Unbounded);
        let all = self.places.range::<Place, _>(after);
        all.take_while(|(other, _)| other.starts_with(place)).map(|(other, index)| (other, *index))
    }

    fn rename(&mut self, dn: &Dn, rdn: &Rdn, delete_old: bool, superior: Option<&str>) -> Result<()> {
        let old = place(dn);
        let above = match superior {
            Some(superior) => superior.parse::<Dn>()?,
            None => dn.parent().unwrap_or_default(),
        };
        let new_dn = above.child(rdn.clone());
        let new = place(&new_dn);
        if !self.places.contains_key(&old) {
            return fail(ResultCode::NO_SUCH_OBJECT, "");
        }
        if new != old && self.places.contains_key(&new) {
            return fail(ResultCode::ENTRY_ALREADY_EXISTS, "");
        }
        if new.len() > old.len() && new.starts_with(&old) {
            return fail(ResultCode::UNWILLING_TO_PERFORM, "an entry cannot be moved below itself");
        }
        let moved: Vec<(Place, usize)> = self.places.get_key_value(&old).map(own).into_iter().collect();
        let below: Vec<(Place, usize)> =
            self.below(&old).map(|(place, index)| (place.clone(), index)).collect();
        for (place, index) in moved.into_iter().chain(below) {
            self.places.remove(&place);
            let Some(Some((name, attributes))) = self.entries.get_mut(index) else { continue };
            let kept = place.get(old.len()..).unwrap_or_default();
            let here: Dn = name.parse()?;
            let below = here.rdns().iter().take(kept.len()).rev().cloned();
            *name = below.fold(new_dn.clone(), |above, rdn| above.child(rdn)).to_string();
            if kept.is_empty() {
                renamed(attributes, dn, rdn, delete_old);
            }
            self.places.insert(new.iter().chain(kept).cloned().collect(), index);
        }
        Ok(())
    }
}

fn own((place, index): (&Place, &usize)) -> (Place, usize) {
    (place.clone(), *index)
}

fn fail(code: ResultCode, message: &str) -> Result<()> {
    Err(Error::from_result(LdapResult::new(code).with_message(message)))
}

/// Changes the values of the name as a new RDN requires.
pub(super) fn renamed(attributes: &mut Vec<(String, Vec<Vec<u8>>)>, old: &Dn, new: &Rdn, delete_old: bool) {
    if delete_old && let Some(rdn) = old.rdns().first() {
        for ava in rdn.avas() {
            let rule = Rule::of_attribute(ava.attribute());
            let key = rule.normalize(ava.value());
            for (name, values) in attributes.iter_mut() {
                if name.eq_ignore_ascii_case(ava.attribute()) {
                    values.retain(|value| rule.normalize(value) != key);
                }
            }
        }
    }
    for ava in new.avas() {
        // A value that is there is not an error.
        let rule = Rule::of_attribute(ava.attribute());
        _ = add_values(attributes, ava.attribute(), vec![ava.value().to_vec()], rule);
    }
    attributes.retain(|(_, values)| !values.is_empty());
}

/// Modifications without the values that would be an error.
fn possible(draft: &Draft, modifications: &[RecordModification]) -> Vec<RecordModification> {
    use super::ModificationKind::{Add, Delete};
    let mut now = draft.clone();
    let mut all = Vec::new();
    for modification in modifications {
        let mut modification = modification.clone();
        let attribute = modification.attribute.clone();
        let is_empty = modification.values.is_empty();
        match modification.kind {
            Add => modification.values.retain(|value| !now.has_value(&attribute, value)),
            Delete if is_empty && !now.has(&attribute) => continue,
            Delete => modification.values.retain(|value| now.has_value(&attribute, value)),
            _ => {}
        }
        if !is_empty && modification.values.is_empty() && matches!(modification.kind, Add | Delete) {
            continue;
        }
        // An error comes again when all are applied.
        _ = now.apply(std::slice::from_ref(&modification));
        all.push(modification);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::super::{Reader, Style};
    use super::*;

    const ENTRIES: &str = "\
dn: o=x
o: x

dn: ou=a,o=x
ou: a

dn: cn=b,ou=a,o=x
cn: b
mail: b@x
";

    fn applied(changes: &str, lenient: bool) -> Result<String> {
        let mut content = Content::read(Reader::new(ENTRIES.as_bytes()))?;
        for change in Reader::new(changes.as_bytes()) {
            content.apply(&change?, lenient)?;
        }
        let mut out = Vec::new();
        content.into_records().for_each(|record| Style::default().record(&mut out, &record));
        Ok(String::from_utf8(out).unwrap())
    }

    #[test]
    fn changes_are_made_as_by_a_server() {
        let renamed = applied(
            "dn: OU=A,o=x\nchangetype: modrdn\nnewrdn: ou=new\ndeleteoldrdn: 1\n\n\
             dn: cn=b,ou=new,o=x\nchangetype: modify\nadd: mail\nmail: c@x\n-\n\n\
             dn: cn=c,o=x\nchangetype: add\ncn: c\n",
            false,
        );
        assert_eq!(
            renamed.unwrap(),
            "dn: o=x\no: x\n\ndn: ou=new,o=x\nou: new\n\ndn: cn=b,ou=new,o=x\ncn: b\nmail: b@x\nmail: c@x\n\n\
             dn: cn=c,o=x\ncn: c\n\n"
        );
        let moved = applied(
            "dn: cn=b,ou=a,o=x\nchangetype: moddn\nnewrdn: cn=d\ndeleteoldrdn: 0\nnewsuperior: o=x\n\n\
             dn: ou=a,o=x\nchangetype: delete\n",
            false,
        );
        assert_eq!(moved.unwrap(), "dn: o=x\no: x\n\ndn: cn=d,o=x\ncn: b\ncn: d\nmail: b@x\n\n");
    }

    #[test]
    fn refusals_are_those_of_a_server() {
        for (change, code, is_lenient) in [
            ("dn: ou=a,o=x\nchangetype: delete\n", ResultCode::NOT_ALLOWED_ON_NON_LEAF, false),
            ("dn: ou=q,o=x\nchangetype: delete\n", ResultCode::NO_SUCH_OBJECT, true),
            ("dn: ou=A,o=x\nou: a\n", ResultCode::ENTRY_ALREADY_EXISTS, false),
            ("dn: cn=q\nchangetype: modify\nadd: l\nl: m\n", ResultCode::NO_SUCH_OBJECT, false),
            (
                "dn: cn=b,ou=a,o=x\nchangetype: modify\nadd: mail\nmail: B@x\n",
                ResultCode::ATTRIBUTE_OR_VALUE_EXISTS,
                true,
            ),
            ("dn: cn=b,ou=a,o=x\nchangetype: modify\ndelete: l\n", ResultCode::NO_SUCH_ATTRIBUTE, true),
            (
                "dn: ou=a,o=x\nchangetype: modrdn\nnewrdn: ou=c\ndeleteoldrdn: 0\nnewsuperior: cn=b,ou=a,o=x\n",
                ResultCode::UNWILLING_TO_PERFORM,
                false,
            ),
        ] {
            let error = applied(change, false).unwrap_err();
            assert_eq!(error.result().unwrap().code, code, "{change}");
            assert_eq!(applied(change, true).is_ok(), is_lenient, "{change}");
        }
    }
}
