//! What the user of a connection may do with entries: by the rules of access if there are any, else by the root user.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use super::acl::{Acl, Decision, Requester, Right};
use super::entry::{PASSWORD, Stored, is_password, place};
use super::store::{Done, Store, parse};
use crate::filter::condition::Condition;
use crate::generated::Filter;
use crate::proto::{LdapResult, ResultCode};
use crate::schema::Schema;

/// What a request may do.
#[derive(Clone, Debug, Default)]
pub(super) struct Permissions {
    /// The rules; nothing if there are none, or the user is the root user.
    rules: Option<(Arc<Acl>, Requester)>,
    is_root: bool,
    /// What names mean.
    schema: Option<Arc<Schema>>,
}

/// Where a request comes from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin<'o> {
    /// Who is bound; empty for anonymous.
    pub(super) user: &'o str,
    /// The address, as far as it is one.
    pub(super) address: &'o str,
    pub(super) is_tls: bool,
}

impl Origin<'_> {
    /// Who asks, without groups.
    pub(super) fn requester(&self) -> Requester {
        let peer = self.address.parse::<SocketAddr>().ok();
        let peer: Option<IpAddr> = peer.map(|address| address.ip());
        // A name that is malformed is that of nobody: its user has no more rights than an anonymous one.
        Requester::new(self.user).unwrap_or_default().at(peer, self.is_tls)
    }
}

impl Permissions {
    pub(super) fn new(acl: Option<&Arc<Acl>>, root: Option<&str>, origin: Origin<'_>, store: &Store) -> Self {
        let user = parse(origin.user).ok().filter(|user| !user.is_root());
        let is_root = user.is_some() && root.is_some_and(|root| parse(root).ok() == user);
        let rules = acl.filter(|_| !is_root).map(|acl| {
            let who = origin.requester();
            (Arc::clone(acl), who.with_groups(acl, |place| store.at(place).map(|stored| &**stored)))
        });
        Self { rules, is_root, schema: Some(store.schema()) }
    }

    /// What names of attributes and classes mean; nothing where that is for somebody else to say.
    pub(super) fn schema(&self) -> Option<&Schema> {
        self.schema.as_deref()
    }

    /// Those by rules, for a user who may be a member of groups.
    pub(super) fn by_rules(acl: &Arc<Acl>, who: Requester) -> Self {
        Self { rules: Some((Arc::clone(acl), who)), is_root: false, schema: None }
    }

    /// Whether there are no rules: all may be read but passwords, and those too by the root user.
    pub(super) const fn is_open(&self) -> bool {
        self.rules.is_none()
    }

    pub(super) const fn is_root(&self) -> bool {
        self.is_root
    }

    /// Whether attributes may be read, asked for by their name alone.
    pub(super) fn may_read_of_any(&self, name: &str) -> bool {
        self.rules.is_some() || self.is_root || !is_password(name)
    }

    fn decide(
        &self,
        place: &[u8],
        stored: Option<&Stored>,
        right: Right,
        name: Option<&str>,
    ) -> Option<Decision<'_>> {
        let (acl, who) = self.rules.as_ref()?;
        Some(acl.decision(who, place, stored, right, name))
    }

    /// Whether the user has a right to an attribute of an entry; passwords need a rule that names them.
    pub(super) fn has(&self, stored: &Stored, right: Right, name: &str) -> bool {
        match self.decide(stored.place(), Some(stored), right, Some(name)) {
            None => self.is_root || !is_password(name),
            Some(decision) => {
                let is_named = decision.names_attributes || right == Right::Write || !is_password(name);
                decision.is_allowed && is_named
            }
        }
    }

    /// Whether the user has a right to an entry that is not known, or to an attribute of it.
    pub(super) fn has_at(&self, place: &[u8], right: Right, name: Option<&str>) -> bool {
        self.rules.as_ref().is_none_or(|(acl, who)| {
            let decision = acl.decision_unseen(who, place, right, name);
            let needs_name = right != Right::Write && right != Right::Auth && name.is_some_and(is_password);
            decision.is_allowed && (decision.names_attributes || !needs_name)
        })
    }

    /// Whether the user may know that an entry is there: it, or one of its attributes, may be read.
    pub(super) fn sees(&self, stored: &Stored) -> bool {
        match self.decide(stored.place(), Some(stored), Right::Read, None) {
            None => true,
            Some(decision) => {
                decision.is_allowed
                    || stored.attributes().any(|attribute| self.has(stored, Right::Read, attribute.name))
            }
        }
    }

    /// Checks the right to a whole entry, which need not be there.
    ///
    /// # Errors
    /// insufficientAccessRights (50).
    pub(super) fn check_entry(&self, place: &[u8], stored: Option<&Stored>, right: Right) -> Done {
        let decision = self.decide(place, stored, right, None);
        if decision.is_none_or(|decision| decision.is_allowed) { Ok(()) } else { Err(refused()) }
    }

    /// Checks the right to an attribute of an entry.
    ///
    /// # Errors
    /// insufficientAccessRights (50).
    pub(super) fn check(&self, stored: &Stored, right: Right, name: &str) -> Done {
        if self.has(stored, right, name) { Ok(()) } else { Err(refused()) }
    }

    /// Whether somebody may bind as an entry.
    pub(super) fn may_bind(&self, stored: &Stored) -> bool {
        let decision = self.decide(stored.place(), Some(stored), Right::Auth, Some(PASSWORD));
        decision.is_none_or(|decision| decision.is_allowed)
    }

    /// Returns a result without the name of an entry that the user must not see.
    pub(super) fn hide_matched(&self, result: LdapResult, store: &Store) -> LdapResult {
        if self.is_open() || result.matched_dn.is_empty() {
            return result;
        }
        let matched = parse(&result.matched_dn).ok();
        let stored = matched.and_then(|dn| store.at(&place(&dn)).cloned());
        if stored.is_some_and(|stored| self.sees(&stored)) {
            return result;
        }
        LdapResult { matched_dn: String::new(), ..result }
    }
}

fn refused() -> LdapResult {
    LdapResult::new(ResultCode::INSUFFICIENT_ACCESS_RIGHTS)
}

/// A filter of a user, by what that user may search for.
#[derive(Debug)]
pub(super) struct Guarded {
    /// The filter as if all could be searched for but passwords: each entry that is found is found by it.
    pub(super) open: Condition,
    /// If there are rules: the filter and the attributes that it names.
    filter: Option<(Filter<'static>, Vec<String>)>,
    /// The filters for sets of attributes that may be searched for.
    variants: Mutex<Vec<(Vec<bool>, Arc<Condition>)>>,
}

/// Forms of a filter that are kept.
const VARIANTS: usize = 16;

impl Guarded {
    pub(super) fn new(filter: &Filter<'_>, access: &Permissions) -> Self {
        let names = std::cell::RefCell::new(Vec::new());
        let open = Condition::new(filter, access.schema(), &|name| {
            names.borrow_mut().push(name.to_owned());
            access.may_read_of_any(name)
        });
        // Each entry has classes: that is known of each one that can be seen.
        let asks_nothing =
            matches!(filter, Filter::Present(name) if name.eq_ignore_ascii_case(b"objectClass"));
        let filter = (!access.is_open() && !asks_nothing).then(|| {
            let mut names = names.into_inner();
            names.sort_unstable();
            names.dedup();
            (filter.clone().into_owned(), names)
        });
        Self { open, filter, variants: Mutex::default() }
    }

    /// The filter for an entry; nothing if it is the open one.
    pub(super) fn of(&self, stored: &Stored, access: &Permissions) -> Option<Arc<Condition>> {
        let (filter, names) = self.filter.as_ref()?;
        let allowed: Vec<bool> = names.iter().map(|name| access.has(stored, Right::Search, name)).collect();
        if allowed.iter().all(|is_allowed| *is_allowed) {
            return None;
        }
        let mut variants = self.variants.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, condition)) = variants.iter().find(|(known, _)| *known == allowed) {
            return Some(Arc::clone(condition));
        }
        let is_allowed = |name: &str| {
            let at = names.binary_search_by(|known| known.as_str().cmp(name));
            at.is_ok_and(|at| allowed.get(at).copied().unwrap_or_default())
        };
        let condition = Arc::new(Condition::new(filter, access.schema(), &is_allowed));
        if variants.len() < VARIANTS {
            variants.push((allowed, Arc::clone(&condition)));
        }
        Some(condition)
    }
}
