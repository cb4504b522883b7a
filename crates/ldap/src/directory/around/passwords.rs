//! Rules for passwords around any handler.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::super::acl::candidate;
use super::super::entry::{Attribute, PASSWORD, Stored, is_password, place};
use super::super::password;
use super::super::policy::{self, New, PasswordRules};
use super::super::store::{Done, parse};
use crate::controls::PasswordPolicy as Answered;
use crate::dn::Dn;
use crate::extended::{PASSWORD_MODIFY, PasswordModify};
use crate::ldif::{ModificationKind, RecordModification};
use crate::proto::{LdapResult, ResponseControl as _, ResultCode};
use crate::server::inside::{read_entry, unbind};
use crate::server::{
    Answer, AnyHandler, Around, Bind, Call, Context, Handler as _, Layer, Request, Surround,
};

/// Entries whose state is kept. When there are more, half of those with nothing but wrong passwords are forgotten, the oldest first.
const KEPT: usize = 100_000;

/// Checks binds and new passwords by rules (draft-behera-10), around any handler: locks after wrong passwords, length, history, age,
/// and passwords that have to be changed.
///
/// What the rules need is kept in memory and forgotten at a restart; clones share it. The time of the last change and earlier passwords
/// are taken from the entry too (`pwdChangedTime`, `userPassword`), where the handler shows them to the client. New passwords go to the
/// handler as clients send them: the handler hashes them. SASL binds are not checked.
///
/// ```
/// # use tercet_ldap::directory::Directory;
/// # use tercet_ldap::server::{PasswordPolicy, Server};
/// let rules = "dn: cn=policy\npwdLockout: TRUE\npwdMaxFailure: 3\npwdMinLength: 8\npwdCheckQuality: 1\n".parse()?;
/// let server = Server::new(Directory::new()).layer(PasswordPolicy::new(rules));
/// # Ok::<(), tercet_ldap::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct PasswordPolicy {
    rules: Arc<PasswordRules>,
    states: Arc<Mutex<HashMap<Vec<u8>, State>>>,
    /// Numbers changes of states, to find the oldest.
    clock: Arc<AtomicU64>,
}

/// What is kept of an entry: the attributes of the rules, and what was made of the last password.
#[derive(Debug, Default)]
struct State {
    attributes: Vec<Attribute>,
    changed: u64,
}

/// Whether the user of a connection has to change the password before anything else.
#[derive(Default)]
struct MustChange(AtomicBool);

impl PasswordPolicy {
    /// Returns a layer with these rules.
    #[must_use]
    pub fn new(rules: PasswordRules) -> Self {
        Self { rules: Arc::new(rules), states: Arc::default(), clock: Arc::default() }
    }

    fn locked(&self) -> MutexGuard<'_, HashMap<Vec<u8>, State>> {
        self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps what changes in the state of an entry.
    fn keep(&self, states: &mut HashMap<Vec<u8>, State>, dn: &Dn, changes: Vec<RecordModification>) {
        if changes.is_empty() {
            return;
        }
        let changed = self.clock.fetch_add(1, Ordering::Relaxed);
        let state = states.entry(place(dn)).or_default();
        state.changed = changed;
        for RecordModification { attribute, values, .. } in changes {
            state.attributes.retain(|(name, _)| !name.eq_ignore_ascii_case(&attribute));
            if !values.is_empty() {
                state.attributes.push((attribute, values));
            }
        }
        if state.attributes.is_empty() {
            states.remove(&place(dn));
        }
        if states.len() > KEPT {
            let has_failures_alone =
                |state: &State| state.attributes.iter().all(|(name, _)| policy::is_failure(name));
            let mut times: Vec<u64> = states
                .values()
                .filter(|state| has_failures_alone(state))
                .map(|state| state.changed)
                .collect();
            times.sort_unstable();
            if let Some(middle) = times.get(times.len() / 2).copied() {
                states.retain(|_, state| state.changed > middle || !has_failures_alone(state));
            }
        }
    }

    async fn bind(&self, bind: &Bind<'_>, dn: &Dn, call: Call<'_>) -> Answer {
        let Call { inner, cx, request, out } = call;
        cx.extension(MustChange::default).0.store(false, Ordering::Relaxed);
        let before = match stored(bind.dn, self.locked().get(&place(dn)), &[]) {
            Ok(before) => before,
            Err(result) => return result.into(),
        };
        if let Err(result) = self.rules.check_lock(&before) {
            return result.into();
        }
        let mut answer = inner.handle(cx, request, out).await;
        let is_aged = self.rules.has_age() && answer.code() == ResultCode::SUCCESS;
        let shown = if is_aged { shown(inner, cx, bind.dn).await } else { Vec::new() };
        let done = {
            let mut states = self.locked();
            // Others may have bound meanwhile: what they came to counts.
            let now = stored(bind.dn, states.get(&place(dn)), &shown);
            match (answer.code(), now) {
                (ResultCode::INVALID_CREDENTIALS, Ok(now)) => {
                    self.keep(&mut states, dn, self.rules.failed(&now));
                    return answer;
                }
                (ResultCode::SUCCESS, Ok(now)) => {
                    let accepted = self.rules.check_lock(&now).and_then(|()| self.rules.succeeded(&now));
                    accepted.map(|accepted| {
                        self.keep(&mut states, dn, accepted.state);
                        (accepted.answer, accepted.must_change)
                    })
                }
                (_, Err(result)) => Err(result),
                _ => return answer,
            }
        };
        match done {
            Ok((judged, must_change)) => {
                cx.extension(MustChange::default).0.store(must_change, Ordering::Relaxed);
                answer.result.controls.push(policy::control(&judged));
                answer
            }
            Err(result) => {
                unbind(inner, cx, out).await;
                result.into()
            }
        }
    }

    /// Hands on a change of an entry with new passwords that the rules allow, and keeps what follows from it.
    async fn change(&self, dn: &Dn, change: Change, call: Call<'_>) -> Done<Answer> {
        let Call { inner, cx, request, out } = call;
        let is_add = matches!(request, Request::Add(_));
        let name = dn.to_string();
        let shown = if is_add { Vec::new() } else { shown(inner, cx, &name).await };
        let stored = stored(&name, self.locked().get(&place(dn)).filter(|_| !is_add), &shown)?;
        let before = (!is_add).then(|| Arc::new(stored));
        let Change { passwords, has_old, by_user } = change;
        let mut state = Vec::new();
        for new in &passwords {
            state = self.check(before.clone(), new.clone(), has_old, by_user).await?;
        }
        let answer = inner.handle(cx, request, out).await;
        if answer.code() != ResultCode::SUCCESS {
            return Ok(answer);
        }
        let mut last = passwords.last().cloned();
        if passwords.is_empty() {
            // The handler has made up a password.
            let value = answer.value.as_deref().unwrap_or_default();
            last = PasswordModify::generated(value).ok().flatten();
            state = self.rules.after(before.as_deref(), by_user);
        }
        if let Some(password) = last.filter(|_| self.rules.has_history())
            && let Some(made) = hashed(password).await
        {
            let (kind, attribute) = (ModificationKind::Replace, PASSWORD.to_owned());
            state.push(RecordModification { kind, attribute, values: vec![made] });
        }
        self.keep(&mut self.locked(), dn, state);
        if by_user {
            cx.extension(MustChange::default).0.store(false, Ordering::Relaxed);
        }
        Ok(answer)
    }

    /// Checks a new password; returns what changes in the state. Comparing with earlier ones takes long by intention.
    async fn check(
        &self,
        stored: Option<Arc<Stored>>,
        password: Vec<u8>,
        has_old: bool,
        by_user: bool,
    ) -> Done<Vec<RecordModification>> {
        let rules = Arc::clone(&self.rules);
        let check = move || rules.changed(stored.as_deref(), &New { password: &password, has_old, by_user });
        let checked = tokio::task::spawn_blocking(check).await;
        Ok(checked.map_err(|_| LdapResult::new(ResultCode::OTHER))??.state)
    }

    async fn judged(&self, call: Call<'_>) -> Done<Answer> {
        let user = parse(&call.cx.identity()).unwrap_or_default();
        let must_change = call.cx.extension(MustChange::default).0.load(Ordering::Relaxed);
        let changes: Option<(Dn, Change)> = match &call.request {
            Request::Bind(bind) if bind.password().is_some() && !bind.is_anonymous() => {
                let (bind, dn) = (bind.clone(), parse(bind.dn)?);
                return Ok(self.bind(&bind, &dn, call).await);
            }
            Request::Bind(_) => {
                call.cx.extension(MustChange::default).0.store(false, Ordering::Relaxed);
                return Ok(call.pass().await);
            }
            Request::Add(add) => {
                let entry = add.entry();
                let passwords = entry.attributes().filter(|(name, _)| is_password(name));
                let passwords: Vec<Vec<u8>> = passwords.flat_map(|(_, values)| values.to_vec()).collect();
                let change = Change { passwords, has_old: false, by_user: false };
                (!change.passwords.is_empty() && !must_change).then_some((parse(add.dn)?, change))
            }
            Request::Modify(modify) => {
                let changes = modify.modifications().map_err(|error| Answer::from(error).result)?;
                let dn = parse(modify.dn)?;
                let change = Change::of(&changes, !user.is_root() && user == dn);
                let is_alone = changes.iter().all(|change| is_password(&change.attribute));
                if must_change && !(change.by_user && is_alone && !change.passwords.is_empty()) {
                    return Err(PasswordRules::change_first());
                }
                (!change.passwords.is_empty()).then_some((dn, change))
            }
            Request::Extended(request) if request.name == PASSWORD_MODIFY => {
                let asked = PasswordModify::read(request.value.unwrap_or_default()).map_err(|error| {
                    LdapResult::new(ResultCode::PROTOCOL_ERROR).with_message(error.to_string())
                })?;
                let dn = match &asked.user {
                    None => user.clone(),
                    Some(name) => parse(name.strip_prefix("dn:").unwrap_or(name))?,
                };
                if dn.is_root() {
                    None
                } else {
                    let by_user = user == dn;
                    if must_change && !by_user {
                        return Err(PasswordRules::change_first());
                    }
                    let change = Change {
                        passwords: asked.new.into_iter().collect(),
                        has_old: asked.old.is_some(),
                        by_user,
                    };
                    Some((dn, change))
                }
            }
            Request::Delete(_) | Request::Rename(_) if !must_change => return Ok(self.moved(call).await),
            _ => None,
        };
        match changes {
            Some((dn, change)) => self.change(&dn, change, call).await,
            None if must_change => Err(PasswordRules::change_first()),
            None => Ok(call.pass().await),
        }
    }

    /// Hands on a deletion or a new name; the state of the entry goes with it.
    async fn moved(&self, call: Call<'_>) -> Answer {
        let new = match &call.request {
            Request::Rename(rename) => {
                let superior = match rename.new_superior {
                    Some(superior) => superior.parse::<Dn>().ok(),
                    None => rename.dn.parse::<Dn>().ok().and_then(|dn| dn.parent()),
                };
                superior.zip(rename.new_rdn.parse().ok()).map(|(superior, rdn)| superior.child(rdn))
            }
            _ => None,
        };
        let old = call.request.dn().and_then(|dn| dn.parse::<Dn>().ok());
        let answer = call.pass().await;
        if let Some(old) = old.filter(|_| answer.code() == ResultCode::SUCCESS) {
            let mut states = self.locked();
            let state = states.remove(&place(&old));
            if let (Some(state), Some(new)) = (state, new) {
                states.insert(place(&new), state);
            }
        }
        answer
    }
}

impl Layer for PasswordPolicy {
    fn layer(self: Box<Self>, inner: AnyHandler) -> AnyHandler {
        Around::handler(*self, inner)
    }
}

impl Surround for PasswordPolicy {
    async fn around(&self, call: Call<'_>) -> Answer {
        let asks = call.cx.controls().iter().any(|control| control.oid == Answered::OID);
        let cx = match call.cx.with_controls(|control| control.oid != Answered::OID) {
            Ok(cx) => cx,
            Err(error) => return error.into(),
        };
        let call = Call { cx: &cx, ..call };
        let mut answer = self.judged(call).await.unwrap_or_else(Answer::from);
        if !asks {
            answer.result.controls.retain(|control| control.oid != Answered::OID);
        }
        answer
    }

    fn controls(&self, mut inner: Vec<String>) -> Vec<String> {
        if !inner.iter().any(|oid| oid == Answered::OID) {
            inner.push(Answered::OID.to_owned());
        }
        inner
    }
}

/// New passwords of an entry.
#[derive(Debug)]
struct Change {
    /// None if the handler makes one up.
    passwords: Vec<Vec<u8>>,
    /// Whether the client knows the old one.
    has_old: bool,
    /// Whether the user changes it, and not somebody else.
    by_user: bool,
}

impl Change {
    fn of(changes: &[RecordModification], by_user: bool) -> Self {
        let of_passwords = || changes.iter().filter(|change| is_password(&change.attribute));
        let is_new = |change: &&RecordModification| {
            matches!(change.kind, ModificationKind::Add | ModificationKind::Replace)
        };
        let has_old =
            of_passwords().any(|change| change.kind == ModificationKind::Delete && !change.values.is_empty());
        let passwords = of_passwords().filter(is_new).flat_map(|change| change.values.clone()).collect();
        Self { passwords, has_old, by_user }
    }
}

/// An entry with what is kept of it, and what the handler shows of it.
fn stored(name: &str, state: Option<&State>, shown: &[Attribute]) -> Done<Stored> {
    let mut attributes = state.map(|state| state.attributes.clone()).unwrap_or_default();
    for (name, values) in shown {
        if !attributes.iter().any(|(known, _)| known.eq_ignore_ascii_case(name)) {
            attributes.push((name.clone(), values.clone()));
        }
    }
    let made = candidate(name, &attributes);
    made.map_err(|error| LdapResult::new(ResultCode::INVALID_DN_SYNTAX).with_message(error.to_string()))
}

/// Returns what the handler shows of an entry of what the rules need.
async fn shown(inner: &AnyHandler, cx: &Context, dn: &str) -> Vec<Attribute> {
    let Some(entry) = read_entry(inner, cx, dn).await else { return Vec::new() };
    let needed = entry.attributes().filter(|(name, _)| is_password(name) || policy::is_time_of_change(name));
    needed.map(|(name, values)| (name.to_owned(), values.to_vec())).collect()
}

/// Returns what is kept of a password.
async fn hashed(password: Vec<u8>) -> Option<Vec<u8>> {
    if password::has_scheme(&password) {
        return Some(password);
    }
    tokio::task::spawn_blocking(move || password::hashed(&password)).await.ok()?.ok()
}
