//! Undoing operations by what entries look like: as before an operation, as after it, or as neither.

use std::collections::HashMap;

use super::journal::{Attribute, Image, Marks, Step};
use crate::client::{Client, Search};
use crate::controls;
use crate::dn::{Dn, Rdn};
use crate::entry::apply;
use crate::entry::modifications;
use crate::error::{Error, Result};
use crate::ldif::{Change, ModificationKind, RecordModification};
use crate::matching::Rule;
use crate::proto::RequestControl as _;
use crate::proto::{Control, ResultCode};
use crate::url::Scope;

/// What has become of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Undone {
    /// The entry is as before.
    Yes,
    /// Somebody else has changed it: it is left alone.
    Conflict(String),
}

fn conflict(reason: impl Into<String>) -> Result<Undone> {
    Ok(Undone::Conflict(reason.into()))
}

fn code(error: &Error) -> Option<ResultCode> {
    error.result().map(|result| result.code)
}

/// What entries are known by after the last write of the transaction to them, by normalized names: its later operations, and
/// operations that it has undone, change them too.
#[derive(Debug, Default)]
pub(super) struct Known(HashMap<String, Marks>);

impl Known {
    /// What is known after the operations of a transaction.
    pub(super) fn new(steps: &[Step]) -> Self {
        let mut known = Self::default();
        for step in steps {
            if let Ok(Some(dn)) = target(&step.record) {
                known.set(&dn, step.after.clone());
            }
        }
        for step in steps.iter().rev().filter(|step| step.undone) {
            known.set(&step.record.dn, step.after_undo.clone());
        }
        known
    }

    pub(super) fn set(&mut self, dn: &str, marks: Marks) {
        self.0.insert(super::normalized(dn), marks);
    }

    fn get(&self, dn: &str) -> Marks {
        self.0.get(&super::normalized(dn)).cloned().unwrap_or_default()
    }
}

/// Attributes by which an entry is known.
const UUIDS: [&str; 2] = ["entryUUID", "objectGUID"];
/// Attributes by which a change is known, the most exact first.
const CHANGES: [&str; 3] = ["entryCSN", "uSNChanged", "modifyTimestamp"];

/// When an entry was added, and when it was changed last.
const CREATED: [&str; 2] = ["createTimestamp", "whenCreated"];
const CHANGED: [&str; 2] = ["modifyTimestamp", "whenChanged"];

/// Reads an entry with what it is known by; nothing if there is none.
pub(super) async fn image(client: &Client, dn: &str) -> Result<Option<Image>> {
    let asked = [&["*"][..], &UUIDS, &CHANGES, &CREATED, &CHANGED].concat();
    // Active Directory refuses the control where it is critical.
    let as_is = controls::ManageDsaIt.control().with_criticality(false);
    let search = Search::new(dn).scope(Scope::Base).attributes(&asked).control(&as_is);
    let found = match client.search_all(search).await {
        Ok((found, _)) => found,
        Err(error) if code(&error) == Some(ResultCode::NO_SUCH_OBJECT) => return Ok(None),
        Err(error) => return Err(error),
    };
    let Some(entry) = found.first() else { return Ok(None) };
    let first = |names: &[&str]| names.iter().find_map(|name| Some(entry.values(name).next()?.to_vec()));
    let marks = [&UUIDS[..], &CHANGES, &CREATED, &CHANGED].concat();
    let is_mark = |name: &str| marks.iter().any(|known| known.eq_ignore_ascii_case(name));
    let attributes = entry
        .attributes()
        .filter(|attribute| !is_mark(&attribute.name()))
        .map(|attribute| (attribute.name().into_owned(), attribute.values().map(<[u8]>::to_vec).collect()));
    let (created, changed) = (first(&CREATED), first(&CHANGED));
    let is_fresh = created.zip(changed).map(|(created, changed)| created == changed);
    let marks = Marks { uuid: first(&UUIDS), change: first(&CHANGES), is_fresh };
    Ok(Some(Image { attributes: attributes.collect(), marks }))
}

/// The attributes of some that have one of these names.
fn named(attributes: &[Attribute], names: &[String]) -> Vec<Attribute> {
    let is_named = |name: &str| names.iter().any(|known| known.eq_ignore_ascii_case(name));
    attributes.iter().filter(|(name, _)| is_named(name)).cloned().collect()
}

/// The modifications that make some attributes others.
fn difference(from: &[Attribute], to: &[Attribute]) -> Vec<RecordModification> {
    modifications(from, to, &Rule::of_attribute)
}

fn are_same(a: &[Attribute], b: &[Attribute]) -> bool {
    difference(a, b).is_empty() && difference(b, a).is_empty()
}

/// The attributes of an entry after modifications, as far as that can be known without the server.
fn predicted(before: &[Attribute], changes: &[RecordModification]) -> Option<Vec<Attribute>> {
    let mut attributes = before.to_vec();
    for change in changes {
        apply::apply(&mut attributes, change, Rule::of_attribute(&change.attribute)).ok()?;
    }
    Some(attributes)
}

/// The DN of an entry after it was renamed.
fn renamed(dn: &str, new_rdn: &str, superior: Option<&str>) -> Result<Dn> {
    let dn: Dn = dn.parse()?;
    let parent = match superior {
        Some(superior) => superior.parse()?,
        None => dn.parent().unwrap_or_default(),
    };
    Ok(parent.child(new_rdn.parse::<Rdn>()?))
}

/// What of an operation cannot be undone, if anything; `relaxes` says whether the server lets an `entryUUID` be set.
pub(super) fn irreversible(step: &Step, relaxes: bool) -> Option<String> {
    let dn = &step.record.dn;
    match &step.record.change {
        Change::Delete if !relaxes => {
            Some(format!("{dn}: an entry that is added again has another entryUUID"))
        }
        Change::Modify(changes) => {
            let passwords = ["userPassword", "unicodePwd"];
            let is_hidden = |name: &str| {
                passwords.iter().any(|known| known.eq_ignore_ascii_case(name))
                    && !step
                        .before
                        .iter()
                        .flat_map(|image| &image.attributes)
                        .any(|(known, _)| known.eq_ignore_ascii_case(name))
            };
            let hidden = changes.iter().find(|change| is_hidden(&change.attribute))?;
            Some(format!("{dn}: the values of `{}` cannot be read", hidden.attribute))
        }
        _ => None,
    }
}

/// Undoes an operation that was carried out, or perhaps was.
///
/// # Errors
/// The connection fails; then the operation is undone later.
pub(super) async fn undo(client: &Client, step: &Step, known: &Known, relaxes: bool) -> Result<Undone> {
    // What the server has refused has changed nothing.
    if step.code.is_some_and(|code| code != 0) {
        return Ok(Undone::Yes);
    }
    let done = match &step.record.change {
        Change::Add(attributes) => undo_add(client, step, known, attributes).await,
        Change::Delete => undo_delete(client, step, relaxes).await,
        Change::Modify(changes) => undo_modify(client, step, changes).await,
        Change::ModifyDn { new_rdn, delete_old_rdn, new_superior } => {
            undo_rename(client, step, known, (new_rdn, *delete_old_rdn, new_superior.as_deref())).await
        }
    };
    match done {
        // Somebody was faster between our look and our change.
        Err(error) if error.result().is_some() => conflict(error.to_string()),
        done => done,
    }
}

async fn undo_add(client: &Client, step: &Step, known: &Known, attributes: &[Attribute]) -> Result<Undone> {
    let dn = &step.record.dn;
    let Some(now) = image(client, dn).await? else {
        return Ok(Undone::Yes);
    };
    let ours = known.get(dn);
    let is_ours = match (&ours.uuid, &now.marks.uuid) {
        (Some(known), Some(found)) => known == found,
        // No answer came: it is ours if it is what we have sent. Classes may be added by the server.
        _ => {
            let is_visible = |(name, _): &&Attribute| {
                !name.eq_ignore_ascii_case("objectClass")
                    && now.attributes.iter().any(|(known, _)| known.eq_ignore_ascii_case(name))
            };
            let sent: Vec<Attribute> = attributes.iter().filter(is_visible).cloned().collect();
            let names: Vec<String> = sent.iter().map(|(name, _)| name.clone()).collect();
            are_same(&sent, &named(&now.attributes, &names))
        }
    };
    let is_changed = match (&ours.change, &now.marks.change, now.marks.is_fresh) {
        (Some(known), Some(found), _) => known != found,
        // The server itself may have added attributes.
        (.., Some(is_fresh)) => !is_fresh,
        _ => {
            let rdn = dn.parse::<Dn>()?.rdns().first().cloned();
            let of_rdn = rdn.iter().flat_map(|rdn| rdn.avas()).map(|ava| ava.attribute().to_owned());
            let names: Vec<String> = attributes.iter().map(|(name, _)| name.clone()).chain(of_rdn).collect();
            now.attributes.iter().any(|(name, _)| !names.iter().any(|known| known.eq_ignore_ascii_case(name)))
        }
    };
    if !is_ours || is_changed {
        return conflict("the entry that was added has been changed");
    }
    client.delete(dn).await?;
    Ok(Undone::Yes)
}

async fn undo_delete(client: &Client, step: &Step, relaxes: bool) -> Result<Undone> {
    let dn = &step.record.dn;
    let before = step.before.clone().unwrap_or_default();
    if let Some(now) = image(client, dn).await? {
        let is_same = now.marks.uuid == before.marks.uuid || are_same(&now.attributes, &before.attributes);
        // It was not deleted, or is there again.
        return if is_same { Ok(Undone::Yes) } else { conflict("another entry has its name") };
    }
    let mut attributes = before.attributes;
    let mut asking = client.clone();
    if let (true, Some(uuid)) = (relaxes, before.marks.uuid) {
        attributes.push(("entryUUID".to_owned(), vec![uuid]));
        asking = client.with(&[&controls::Relax]);
    }
    let attributes: Vec<(&str, &[Vec<u8>])> =
        attributes.iter().map(|(name, values)| (name.as_str(), values.as_slice())).collect();
    asking.add(dn, &attributes).await?;
    Ok(Undone::Yes)
}

async fn undo_modify(client: &Client, step: &Step, changes: &[RecordModification]) -> Result<Undone> {
    let dn = &step.record.dn;
    let Some(now) = image(client, dn).await? else {
        return conflict("the entry has gone");
    };
    let mut names: Vec<String> = Vec::new();
    for change in changes {
        if !names.iter().any(|known| known.eq_ignore_ascii_case(&change.attribute)) {
            names.push(change.attribute.clone());
        }
    }
    let before = step.before.as_ref().map(|image| image.attributes.as_slice()).unwrap_or_default();
    let (old, new) = (named(before, &names), named(&now.attributes, &names));
    if are_same(&old, &new) {
        return Ok(Undone::Yes);
    }
    let Some(expected) = predicted(before, changes) else {
        return conflict("what the modifications did is not known");
    };
    if !are_same(&named(&expected, &names), &new) {
        return conflict("the attributes that were changed have been changed by somebody else");
    }
    client.modify(dn, &difference(&new, &old)).await?;
    Ok(Undone::Yes)
}

async fn undo_rename(
    client: &Client,
    step: &Step,
    known: &Known,
    (new_rdn, delete_old, superior): (&str, bool, Option<&str>),
) -> Result<Undone> {
    let dn = &step.record.dn;
    let target = renamed(dn, new_rdn, superior)?;
    let before = step.before.clone().unwrap_or_default();
    let is_it = |now: &Option<Image>, dn: &str| {
        let Some(Image { marks: Marks { uuid: Some(found), .. }, .. }) = now else { return false };
        [&before.marks.uuid, &known.get(dn).uuid].into_iter().flatten().any(|known| known == found)
    };
    let old: Dn = dn.parse()?;
    let at_old = image(client, dn).await?;
    // Another spelling of the name is found under either.
    if is_it(&at_old, dn) && target != old {
        return Ok(Undone::Yes);
    }
    let at_new = image(client, &target.to_string()).await?;
    if at_old.is_some() && target != old {
        return conflict("another entry has its name");
    }
    if !is_it(&at_new, &target.to_string()) {
        return conflict("the entry that was renamed has gone");
    }
    let rdn = old.rdns().first().map(ToString::to_string).unwrap_or_default();
    let parent = superior.map(|_| old.parent().unwrap_or_default().to_string());
    let has = |attribute: &str, value: &[u8]| {
        let rule = Rule::of_attribute(attribute);
        let mut all = before.attributes.iter().filter(|(name, _)| name.eq_ignore_ascii_case(attribute));
        all.any(|(_, values)| values.iter().any(|known| rule.normalize(known) == rule.normalize(value)))
    };
    // The values of the new name stay if they were there before.
    let new = target.rdns().first().cloned();
    let avas = new.iter().flat_map(|rdn| rdn.avas());
    let had_new = avas.clone().all(|ava| has(ava.attribute(), ava.value()));
    client.modify_dn(&target.to_string(), &rdn, !had_new, parent.as_deref()).await?;
    // What either name has to do with is put as it was, value by value.
    let mut names: Vec<String> = avas.map(|ava| ava.attribute().to_owned()).collect();
    names.extend(
        old.rdns().first().into_iter().flat_map(|rdn| rdn.avas()).map(|ava| ava.attribute().to_owned()),
    );
    if let Some(now) = image(client, dn).await? {
        let changes = difference(&named(&now.attributes, &names), &named(&before.attributes, &names));
        // A value that somebody has added meanwhile is left alone.
        let changes: Vec<RecordModification> = changes
            .into_iter()
            .filter(|change| delete_old || change.kind != ModificationKind::Delete)
            .collect();
        if !changes.is_empty() {
            client.modify(dn, &changes).await?;
        }
    }
    Ok(Undone::Yes)
}

/// The names of the entries that an operation touches.
pub(super) fn touched(record: &crate::ldif::Record) -> Result<Vec<String>> {
    let dn = record.dn.parse::<Dn>()?.normalized();
    Ok(match &record.change {
        Change::ModifyDn { new_rdn, new_superior, .. } => {
            vec![dn, renamed(&record.dn, new_rdn, new_superior.as_deref())?.normalized()]
        }
        _ => vec![dn],
    })
}

/// The name of an entry after an operation; nothing if it has gone then.
pub(super) fn target(record: &crate::ldif::Record) -> Result<Option<String>> {
    Ok(match &record.change {
        Change::Delete => None,
        Change::ModifyDn { new_rdn, new_superior, .. } => {
            Some(renamed(&record.dn, new_rdn, new_superior.as_deref())?.to_string())
        }
        Change::Add(_) | Change::Modify(_) => Some(record.dn.clone()),
    })
}

/// The object identifier of the control Relax Rules.
pub(super) fn relax() -> String {
    use crate::proto::RequestControl as _;
    let Control { oid, .. } = controls::Relax.control();
    oid
}
