//! What holds between entries: values that only one entry has, names in values that follow their entries, and `memberOf`.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::entry::{Attribute, Stored, is_described, place};
use super::store::{Done, Store, fail};
use super::subschema;
use crate::dn::Dn;
use crate::entry::apply::apply;
use crate::filter::condition::Condition;
use crate::generated::SearchRequestScope as Scope;
use crate::ldif::{ModificationKind, RecordModification};
use crate::matching::Rule;
use crate::proto::ResultCode;
use crate::schema::Schema;

/// The rules between entries.
#[derive(Clone, Debug, Default)]
pub(super) struct Constraints {
    /// Attributes of which each value is in one entry at most.
    pub(super) unique: Vec<String>,
    /// Attributes whose values are names that follow their entries.
    pub(super) integrity: Vec<String>,
    /// What entries are checked by, if they are.
    pub(super) schema: Option<Arc<Schema>>,
    /// Whether entries have `memberOf` with the groups that name them.
    pub(super) member_of: bool,
}

/// Attributes of groups that name their members, and the attribute of members that names groups.
const MEMBERS: [&str; 2] = ["member", "uniqueMember"];
const MEMBER_OF: &str = "memberOf";

/// What a change did with an entry.
pub(super) type Step = (Option<Arc<Stored>>, Option<Arc<Stored>>);

/// The name in a value; those with an optional UID (RFC 4517 3.3.21) have it before `#`.
fn dn_of(value: &[u8]) -> Option<Dn> {
    let text = std::str::from_utf8(value).ok()?;
    text.parse().ok().or_else(|| text.rsplit_once("#'")?.0.parse().ok())
}

fn places(stored: Option<&Stored>, names: &[&str]) -> BTreeSet<Vec<u8>> {
    let values = stored.into_iter().flat_map(|stored| names.iter().flat_map(|name| stored.values(name)));
    values.filter_map(dn_of).map(|dn| place(&dn)).collect()
}

impl Constraints {
    pub(super) const fn is_empty(&self) -> bool {
        self.unique.is_empty() && self.integrity.is_empty() && !self.member_of
    }

    /// Checks that a client does not change what the directory keeps itself.
    ///
    /// # Errors
    /// constraintViolation (19).
    pub(super) fn check_names<'n>(&self, mut names: impl Iterator<Item = &'n str>) -> Done {
        if self.member_of && names.any(|name| is_described(name, MEMBER_OF)) {
            return fail(ResultCode::CONSTRAINT_VIOLATION, "memberOf: kept by the server");
        }
        Ok(())
    }
}

impl Store {
    /// The entries with a value of an attribute.
    fn having(&self, name: &str, value: &[u8]) -> Vec<Arc<Stored>> {
        let rule = Rule::of_attribute(name);
        let key = rule.normalize(value);
        let condition = Condition::Equal { name: name.to_owned(), rule, key: key.clone() };
        let mut cursor = self.walk(&[], Scope::WholeSubtree, &condition, false);
        let mut found = Vec::new();
        loop {
            let entries = self.advance(&mut cursor);
            if entries.is_empty() {
                return found;
            }
            found.extend(
                entries
                    .into_iter()
                    .filter(|stored| stored.values(name).any(|value| rule.normalize(value) == key)),
            );
        }
    }

    /// Checks an entry by the schema, and that values that are to be unique are in no other one.
    ///
    /// # Errors
    /// Those of [`subschema::check`]; constraintViolation (19).
    pub(super) fn check_entry(&self, name: &str, attributes: &[Attribute], before: Option<&Stored>) -> Done {
        if let Some(schema) = &self.constraints.schema {
            subschema::check(schema, name, attributes)?;
        }
        for name in &self.constraints.unique {
            for value in attributes
                .iter()
                .filter(|(known, _)| is_described(known, name))
                .flat_map(|(_, values)| values)
            {
                let is_other = |stored: &Arc<Stored>| before.is_none_or(|before| before.id != stored.id);
                if self.having(name, value).iter().any(is_other) {
                    let message = format!("{name}: another entry has this value");
                    return fail(ResultCode::CONSTRAINT_VIOLATION, message);
                }
            }
        }
        Ok(())
    }

    /// Changes what follows from changes of entries.
    ///
    /// # Errors
    /// There is no room for the changes.
    pub(super) fn follow(&mut self, steps: &[Step]) -> Done {
        if self.constraints.is_empty() {
            return Ok(());
        }
        let mut affected: BTreeSet<Vec<u8>> = BTreeSet::new();
        let mut groups: Vec<Step> = Vec::new();
        for (before, now) in steps {
            self.follow_name(before.as_deref(), now.as_deref(), &mut groups)?;
        }
        if !self.constraints.member_of {
            return Ok(());
        }
        for (before, now) in steps.iter().chain(&groups) {
            let (was, is) = (places(before.as_deref(), &MEMBERS), places(now.as_deref(), &MEMBERS));
            let has_name =
                |stored: &Option<Arc<Stored>>| stored.as_ref().map(|stored| stored.name().to_owned());
            if has_name(before) == has_name(now) {
                affected.extend(was.symmetric_difference(&is).cloned());
            } else {
                affected.extend(was.into_iter().chain(is));
                affected.extend(now.as_ref().map(|now| now.place().to_vec()));
            }
        }
        affected.iter().try_for_each(|place| self.set_groups(place))
    }

    /// Changes the values that name an entry that has gone or has another name.
    fn follow_name(
        &mut self,
        before: Option<&Stored>,
        now: Option<&Stored>,
        changed: &mut Vec<Step>,
    ) -> Done {
        let Some(before) = before.filter(|before| now.is_none_or(|now| now.name() != before.name())) else {
            return Ok(());
        };
        for name in self.constraints.integrity.clone() {
            for holder in self.having(&name, before.name().as_bytes()) {
                let rule = Rule::of_attribute(&name);
                let key = rule.normalize(before.name().as_bytes());
                let mut attributes = holder.to_attributes();
                for (_, values) in attributes.iter_mut().filter(|(known, _)| is_described(known, &name)) {
                    let at = values.iter().position(|value| rule.normalize(value) == key);
                    match (at, now) {
                        (Some(at), Some(now)) => {
                            values.splice(at..=at, [now.name().as_bytes().to_vec()]);
                        }
                        (Some(at), None) => drop(values.remove(at)),
                        (None, _) => {}
                    }
                }
                attributes.retain(|(_, values)| !values.is_empty());
                let now = self.rewrite(&holder, &attributes, &[&name])?;
                changed.push((Some(holder), Some(now)));
            }
        }
        Ok(())
    }

    /// Sets `memberOf` of an entry to the groups that name it.
    fn set_groups(&mut self, place: &[u8]) -> Done {
        let Some(stored) = self.at(place).cloned() else { return Ok(()) };
        let mut wanted: Vec<Vec<u8>> = Vec::new();
        for group in MEMBERS.iter().flat_map(|name| self.having(name, stored.name().as_bytes())) {
            let name = group.name().as_bytes().to_vec();
            if !wanted.contains(&name) {
                wanted.push(name);
            }
        }
        wanted.sort_unstable();
        let mut present: Vec<&[u8]> = stored.values(MEMBER_OF).collect();
        present.sort_unstable();
        if present == wanted {
            return Ok(());
        }
        let mut attributes = stored.to_attributes();
        let change = RecordModification {
            kind: ModificationKind::Replace,
            attribute: MEMBER_OF.to_owned(),
            values: wanted,
        };
        apply(&mut attributes, &change, Rule::of_attribute(MEMBER_OF))?;
        self.rewrite(&stored, &attributes, &[MEMBER_OF]).map(drop)
    }

    /// Sets `memberOf` of all entries that groups name.
    ///
    /// # Errors
    /// There is no room for the changes.
    pub(super) fn set_all_groups(&mut self) -> Done {
        let mut all: BTreeSet<Vec<u8>> =
            self.entries().flat_map(|stored| places(Some(stored), &MEMBERS)).collect();
        // Groups may have changed while nobody kept it.
        let known = self.entries().filter(|stored| stored.values(MEMBER_OF).next().is_some());
        all.extend(known.map(|stored| stored.place().to_vec()));
        all.iter().try_for_each(|place| self.set_groups(place))
    }
}
