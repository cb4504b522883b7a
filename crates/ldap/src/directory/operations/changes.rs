//! Requests that concern one entry.

use std::sync::Arc;

use super::super::access::Permissions;
use super::super::acl::{Right, candidate};
use super::super::entry::{OF_SERVERS, OPERATIONAL, PASSWORD, Stored, is_password, place};
use super::super::policy::{self, PasswordRules};
use super::super::store::{Done, Store, fail, parse};
use super::super::{Ticket, search};
use super::{Session, text};
use crate::controls as known;
use crate::directory::controls::Controls;
use crate::filter::Evaluation;
use crate::filter::condition::{Budget, Condition, Steps};
use crate::generated::{self as asn1, ProtocolOp};
use crate::ldif::{ModificationKind, RecordModification};
use crate::proto::{Control, LdapResult, ResponseControl as _, ResultCode};

impl Session {
    /// Requests that concern one entry; the answer is a result in either case.
    pub(super) fn change(
        &mut self,
        operation: &ProtocolOp<'_>,
        controls: &[Control],
        judged: &Judged,
    ) -> Done<(LdapResult, Ticket)> {
        let asked = Controls::read(controls)?;
        if let ProtocolOp::CompareRequest(request) = operation {
            return Ok((self.compare(request, &asked)?, Ticket::default()));
        }
        self.may_write()?;
        let mut store = self.directory.write();
        let access = Arc::new(self.access(&store));
        let name = match operation {
            ProtocolOp::AddRequest(request) => text(&request.entry),
            ProtocolOp::ModifyRequest(request) => text(&request.object),
            ProtocolOp::DelRequest(name) => text(name),
            ProtocolOp::ModDnRequest(request) => text(&request.entry),
            _ => return Err(LdapResult::new(ResultCode::PROTOCOL_ERROR)),
        };
        let dn = parse(&name)?;
        let before = store.get(&dn).cloned();
        self.may_change(operation, &store, before.as_deref(), &access)?;
        check_kept(operation, &store)?;
        search::check_assertion(before.as_deref(), &asked, &access)?;
        if asked.no_op {
            return Ok((LdapResult::new(ResultCode(0x410E)), Ticket::default()));
        }
        let after = match operation {
            ProtocolOp::AddRequest(request) => {
                let mut attributes = attributes_of(request);
                let schema = store.schema();
                attributes.iter_mut().for_each(|(name, _)| *name = schema.usual(name).into_owned());
                judged.put(&mut attributes);
                store.constraints.check_names(attributes.iter().map(|(name, _)| name.as_str()))?;
                Some(store.add(&name, attributes, false)?)
            }
            ProtocolOp::ModifyRequest(request) => {
                let mut modifications = request.changes.iter().map(modification).collect::<Done<Vec<_>>>()?;
                let schema = store.schema();
                modifications
                    .iter_mut()
                    .for_each(|one| one.attribute = schema.usual(&one.attribute).into_owned());
                store.constraints.check_names(modifications.iter().map(|one| one.attribute.as_str()))?;
                judged.put_into(&mut modifications);
                Some(store.modify(&name, &modifications)?)
            }
            ProtocolOp::ModDnRequest(request) => {
                let (rdn, superior) = (text(&request.newrdn), request.new_superior.as_ref().map(text));
                Some(store.modify_dn(&name, &rdn, request.deleteoldrdn, superior.as_deref())?)
            }
            _ => {
                store.delete(&name, asked.tree_delete)?;
                None
            }
        };
        let kept = store.keep();
        drop(store);
        self.must_change &= !judged.by_user;
        let mut result = LdapResult::default();
        let mut read = |oid: &str, stored: Option<&Arc<Stored>>, names: Option<&Vec<String>>| {
            if let (Some(stored), Some(names)) = (stored, names) {
                result.controls.push(search::read_entry(oid, stored, names, &access));
            }
        };
        read(known::PreReadEntry::OID, before.as_ref(), asked.pre_read.as_ref());
        read(known::PostReadEntry::OID, after.as_ref(), asked.post_read.as_ref());
        Ok((result, kept))
    }

    /// Checks new passwords in a change by the rules for passwords, and prepares what is kept of them. That takes long by intention,
    /// so that it is done before the directory is locked.
    ///
    /// # Errors
    /// A rule is broken; the user has to change the password before anything else.
    pub(super) async fn judge(&self, operation: &ProtocolOp<'_>) -> Done<Judged> {
        if self.directory.settings.password_rules.is_none() {
            return Ok(Judged::default());
        }
        let (name, mut changes): (String, Vec<RecordModification>) = match operation {
            ProtocolOp::AddRequest(request) => {
                let kind = ModificationKind::Add;
                let attributes = attributes_of(request).into_iter();
                let changes =
                    attributes.map(|(attribute, values)| RecordModification { kind, attribute, values });
                (text(&request.entry), changes.collect())
            }
            ProtocolOp::ModifyRequest(request) => {
                (text(&request.object), request.changes.iter().map(modification).collect::<Done<_>>()?)
            }
            _ if self.must_change => return Err(PasswordRules::change_first()),
            _ => return Ok(Judged::default()),
        };
        let schema = self.directory.read().schema();
        changes.iter_mut().for_each(|one| one.attribute = schema.usual(&one.attribute).into_owned());
        let dn = parse(&name)?;
        let user = parse(&self.user).ok().filter(|user| !user.is_root());
        let is_own = user.as_ref() == Some(&dn);
        let (of_passwords, others): (Vec<_>, Vec<_>) =
            changes.iter().partition(|change| is_password(&change.attribute));
        if self.must_change && !(is_own && others.is_empty()) {
            return Err(PasswordRules::change_first());
        }
        let root = self.directory.settings.root.as_ref().and_then(|(root, _)| parse(root).ok());
        let is_root = user.is_some() && user == root;
        if !is_root && changes.iter().any(|change| policy::is_state(&change.attribute)) {
            let message = "attributes of the rules for passwords are changed by the root user alone";
            return Err(LdapResult::new(ResultCode::CONSTRAINT_VIOLATION).with_message(message));
        }
        let is_new = |change: &&&RecordModification| {
            matches!(change.kind, ModificationKind::Add | ModificationKind::Replace)
        };
        let new: Vec<Vec<u8>> =
            of_passwords.iter().filter(is_new).flat_map(|change| change.values.clone()).collect();
        if new.is_empty() {
            return Ok(Judged::default());
        }
        let is_add = matches!(operation, ProtocolOp::AddRequest(_));
        let stored = {
            let store = self.directory.read();
            let access = self.access(&store);
            let stored = store.get(&dn).filter(|_| !is_add).cloned();
            // Who may not change it must not find out by it which passwords there were.
            if let (false, Some(stored)) = (access.is_open(), &stored) {
                access.check(stored, Right::Write, PASSWORD)?;
            }
            stored
        };
        self.may_write()?;
        let has_old = of_passwords
            .iter()
            .any(|change| change.kind == ModificationKind::Delete && !change.values.is_empty());
        let mut judged = Judged { by_user: is_own, ..Judged::default() };
        for password in new {
            judged.state = self.check_new(stored.clone(), password.clone(), has_old, is_own).await?;
            let made = self.made_of(password.clone()).await?;
            judged.made.push((password, made));
        }
        Ok(judged)
    }

    /// Checks the rights to a change, by the rules of access if there are any.
    fn may_change(
        &self,
        operation: &ProtocolOp<'_>,
        store: &Store,
        before: Option<&Stored>,
        access: &Permissions,
    ) -> Done {
        if access.is_open() {
            return Ok(());
        }
        if let ProtocolOp::AddRequest(request) = operation {
            let name = text(&request.entry);
            let new = candidate(&name, &attributes_of(request)).map_err(|error| {
                LdapResult::new(ResultCode::INVALID_DN_SYNTAX).with_message(error.to_string())
            })?;
            return access.check_entry(new.place(), Some(&new), Right::Add);
        }
        let Some(before) = before else {
            let name = match operation {
                ProtocolOp::ModifyRequest(request) => text(&request.object),
                ProtocolOp::DelRequest(name) => text(name),
                ProtocolOp::ModDnRequest(request) => text(&request.entry),
                _ => String::new(),
            };
            let missing = store.missing(&place(&parse(&name)?));
            return Err(access.hide_matched(missing, store));
        };
        match operation {
            ProtocolOp::ModifyRequest(request) => request.changes.iter().try_for_each(|change| {
                access.check(before, Right::Write, &text(&change.modification.r#type))
            }),
            ProtocolOp::ModDnRequest(request) => {
                access.check_entry(before.place(), Some(before), Right::Write)?;
                let Some(superior) = &request.new_superior else { return Ok(()) };
                let rdn = text(&request.newrdn).parse().map_err(|error: crate::Error| {
                    LdapResult::new(ResultCode::INVALID_DN_SYNTAX).with_message(error.to_string())
                })?;
                let target = place(&parse(&text(superior))?.child(rdn));
                access.check_entry(before.place(), Some(before), Right::Delete)?;
                access.check_entry(&target, None, Right::Add)
            }
            ProtocolOp::DelRequest(_) => {
                // With all below it, where that is asked for.
                store
                    .subtree(before.place())
                    .try_for_each(|stored| access.check_entry(stored.place(), Some(stored), Right::Delete))
            }
            _ => Ok(()),
        }
    }

    /// Checks that the directory can be changed at all.
    pub(super) fn can_write(&self) -> Done {
        if self.directory.settings.read_only {
            return Err(LdapResult::new(ResultCode::UNWILLING_TO_PERFORM).with_message("read-only"));
        }
        #[cfg(feature = "store")]
        if self.directory.shared.keeper.as_ref().is_some_and(crate::directory::kept::Keeper::has_failed) {
            let message = "an earlier change could not be written to disk";
            return Err(LdapResult::new(ResultCode::UNAVAILABLE).with_message(message));
        }
        Ok(())
    }

    pub(super) fn may_write(&self) -> Done {
        self.can_write()?;
        match &self.directory.settings.root {
            // Rules are asked about each change.
            _ if self.directory.settings.acl.is_some() => Ok(()),
            Some((root, _)) if parse(root).ok() != parse(&self.user).ok() => {
                Err(LdapResult::new(ResultCode::INSUFFICIENT_ACCESS_RIGHTS)
                    .with_message("only the root user may write"))
            }
            _ => Ok(()),
        }
    }

    fn compare(&self, request: &asn1::CompareRequest<'_>, asked: &Controls) -> Done<LdapResult> {
        let dn = parse(&text(&request.entry))?;
        let (access, stored) = {
            let store = self.directory.read();
            let access = self.access(&store);
            let stored = store.find(&dn).cloned().map_err(|result| access.hide_matched(result, &store))?;
            (access, stored)
        };
        search::check_assertion(Some(&stored), asked, &access)?;
        let name = text(&request.ava.attribute_desc);
        let names = access.schema().map_or_else(|| vec![name.clone()], |schema| schema.described(&name));
        let name = names.first().unwrap_or(&name);
        access.check(&stored, Right::Compare, name)?;
        let operational = stored.operational(name);
        // Of the attributes that it stands for, those that may be compared.
        let may_compare = |name: &str| access.has(&stored, Right::Compare, name);
        let found = names.iter().filter(|name| may_compare(name)).flat_map(|name| stored.values(name));
        if found.chain(operational.as_deref()).next().is_none() {
            return Err(LdapResult::new(ResultCode::NO_SUCH_ATTRIBUTE));
        }
        // By a filter, which knows what names and classes mean.
        let assertion = asn1::AttributeValueAssertion {
            attribute_desc: request.ava.attribute_desc.clone(),
            assertion_value: request.ava.assertion_value.clone(),
        };
        let condition =
            Condition::new(&asn1::Filter::EqualityMatch(assertion), access.schema(), &may_compare);
        let equal = condition.evaluate(&*stored, &mut Budget::turn(Steps::MAX)) == Ok(Evaluation::True);
        Ok(LdapResult::new(if equal { ResultCode::COMPARE_TRUE } else { ResultCode::COMPARE_FALSE }))
    }
}

/// Checks that no attribute is given that the directory keeps itself (RFC 4512 3.4).
///
/// # Errors
/// constraintViolation (19).
fn check_kept(operation: &ProtocolOp<'_>, store: &Store) -> Done {
    let names: Vec<String> = match operation {
        ProtocolOp::AddRequest(request) => request.attributes.iter().map(|one| text(&one.r#type)).collect(),
        ProtocolOp::ModifyRequest(request) => {
            request.changes.iter().map(|change| text(&change.modification.r#type)).collect()
        }
        _ => Vec::new(),
    };
    let schema = store.schema();
    let kept = names.iter().find(|name| {
        let usual = schema.usual(name);
        let bare = usual.split(';').next().unwrap_or_default();
        OPERATIONAL.into_iter().chain(OF_SERVERS).any(|known| known.eq_ignore_ascii_case(bare))
    });
    match kept {
        Some(name) => fail(ResultCode::CONSTRAINT_VIOLATION, format!("{name}: no user modification allowed")),
        None => Ok(()),
    }
}

/// What the rules for passwords have to do with a change.
#[derive(Debug, Default)]
pub(super) struct Judged {
    /// Passwords, and what is kept of them.
    made: Vec<(Vec<u8>, Vec<u8>)>,
    /// What changes beside the passwords.
    state: Vec<RecordModification>,
    /// Whether users change their passwords themselves.
    by_user: bool,
}

impl Judged {
    fn replace(&self, values: &mut [Vec<u8>]) {
        for value in values {
            if let Some((_, made)) = self.made.iter().find(|(password, _)| password == value) {
                value.clone_from(made);
            }
        }
    }

    /// Puts what is kept into the attributes of a new entry.
    fn put(&self, attributes: &mut Vec<(String, Vec<Vec<u8>>)>) {
        let passwords = attributes.iter_mut().filter(|(name, _)| is_password(name));
        passwords.for_each(|(_, values)| self.replace(values));
        let kept = self.state.iter().filter(|change| !change.values.is_empty());
        attributes.extend(kept.map(|change| (change.attribute.clone(), change.values.clone())));
    }

    /// Puts what is kept into the changes of an entry.
    fn put_into(&self, modifications: &mut Vec<RecordModification>) {
        for change in modifications.iter_mut().filter(|change| is_password(&change.attribute)) {
            if matches!(change.kind, ModificationKind::Add | ModificationKind::Replace) {
                self.replace(&mut change.values);
            }
        }
        modifications.extend(self.state.iter().cloned());
    }
}

fn attributes_of(request: &asn1::AddRequest<'_>) -> Vec<(String, Vec<Vec<u8>>)> {
    request.attributes.iter().map(|attribute| (text(&attribute.r#type), values(attribute))).collect()
}

fn values(attribute: &asn1::PartialAttribute<'_>) -> Vec<Vec<u8>> {
    attribute.vals.iter().map(|value| value.to_vec()).collect()
}

/// Returns a modification of a request.
///
/// # Errors
/// `protocolError` for an unknown kind.
pub(crate) fn modification(change: &asn1::Change<'_>) -> Result<RecordModification, LdapResult> {
    let kind = match change.operation {
        asn1::ChangeOperation::Add => ModificationKind::Add,
        asn1::ChangeOperation::Delete => ModificationKind::Delete,
        asn1::ChangeOperation::Replace => ModificationKind::Replace,
        asn1::ChangeOperation::Increment => ModificationKind::Increment,
        _ => {
            return Err(LdapResult::new(ResultCode::PROTOCOL_ERROR).with_message("an unknown kind of change"));
        }
    };
    Ok(RecordModification {
        kind,
        attribute: text(&change.modification.r#type),
        values: values(&change.modification),
    })
}
