//! Searching: what a request asks for, and the entries that answer it, a turn of work at a time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tercet_runtime::types::Octets;

use super::access::{Guarded, Permissions};
use super::acl::Right;
use super::controls::{self, Controls};
use super::entry::{
    AttributeRef, OPERATIONAL, Stored, Value, element, element_size, head, is_described, is_hidden, place,
};
use super::output::{FULL, message};
use super::store::{Cursor, Done, Store, is_in, parse};
use super::subschema;
use super::view::{self, Sorted};
use crate::controls::{PagedResults, Sync, SyncChange};
use crate::extended;
use crate::filter::Evaluation;
use crate::filter::condition::{Budget, Condition, Ended, Steps};
use crate::generated::{Filter, SearchRequest, SearchRequestScope as Scope};
use crate::proto::element::tag;
use crate::proto::{Control, LdapResult, ResultCode};

/// What is looked for.
#[derive(Debug)]
pub(super) struct Query {
    base: Vec<u8>,
    scope: Scope,
    condition: Guarded,
    selection: Selection,
    size_limit: usize,
    /// When the time of the request is over.
    pub(super) deadline: Option<Instant>,
    asked: Controls,
    access: Arc<Permissions>,
}

/// The attributes that are asked for (RFC 4511 4.5.1.8).
#[derive(Debug)]
struct Selection {
    names: Vec<String>,
    /// Whether attributes of users are asked for, all of them.
    users: bool,
    /// Whether attributes of the directory are asked for, all of them.
    operational: bool,
    types_only: bool,
    matched: Vec<Condition>,
    access: Arc<Permissions>,
}

/// What a directory allows a search.
#[derive(Clone, Debug)]
pub(super) struct Allowance {
    pub(super) access: Arc<Permissions>,
    pub(super) size_limit: Option<usize>,
    pub(super) time_limit: Option<Duration>,
}

impl Query {
    pub(super) fn new(request: &SearchRequest<'_>, mut asked: Controls, allowance: Allowance) -> Done<Self> {
        let text = |octets: &Octets<'_>| String::from_utf8_lossy(octets).into_owned();
        let Allowance { access, size_limit, time_limit } = allowance;
        if let Some(schema) = access.schema() {
            for key in &mut asked.sort {
                key.attribute = schema.usual(&key.attribute).into_owned();
            }
        }
        let matched = std::mem::take(&mut asked.matched);
        let matched = matched.iter().map(|filter| prepared(filter, &access)).collect();
        let names = request.attributes.iter().map(text).collect();
        let wanted = (request.size_limit > 0).then_some(request.size_limit as usize);
        let seconds = (request.time_limit > 0).then(|| Duration::from_secs(request.time_limit.into()));
        let time = [seconds, time_limit].into_iter().flatten().min();
        Ok(Self {
            base: place(&parse(&text(&request.base_object))?),
            scope: request.scope,
            condition: Guarded::new(&request.filter, &access),
            selection: Selection::new(names, request.types_only, matched, Arc::clone(&access)),
            size_limit: [wanted, size_limit].into_iter().flatten().min().unwrap_or(usize::MAX),
            deadline: time.and_then(|time| Instant::now().checked_add(time)),
            asked,
            access,
        })
    }

    /// Whether the root DSE is meant, which is no entry of the directory.
    pub(super) fn is_of_root(&self) -> bool {
        self.base.is_empty() && self.scope == Scope::BaseObject
    }

    /// Whether the subschema entry is meant, which is no entry of the directory either.
    pub(super) fn is_of_subschema(&self) -> bool {
        self.base == subschema::subschema_place()
    }

    /// Checks that there is a base that can be searched here.
    pub(super) fn check(&self, store: &Store) -> Done {
        if self.base.is_empty() {
            return Ok(());
        }
        let missing = || self.access.hide_matched(store.missing(&self.base), store);
        let stored = store.at(&self.base).ok_or_else(missing)?;
        check_assertion(Some(stored), &self.asked, &self.access)?;
        if self.is_reference(stored) && self.access.sees(stored) {
            let referrals = references(stored);
            return Err(LdapResult { referrals, ..LdapResult::new(ResultCode::REFERRAL) });
        }
        Ok(())
    }

    /// Begins a walk over what may be found; for a page, behind the page before.
    pub(super) fn walk(&self, store: &Store) -> Cursor {
        let mut cursor = store.walk(&self.base, self.scope, &self.condition.open, !self.asked.manage_dsa_it);
        if let (Cursor::Tree { base, after, .. }, Some(paged), false) =
            (&mut cursor, &self.asked.paged, self.is_sorted())
        {
            *after =
                view::read_place(&paged.cookie).ok().filter(|place| place.starts_with(base) && place != base);
        }
        cursor
    }

    /// Whether an entry, wherever it stands, is found.
    ///
    /// # Errors
    /// The budget is used up.
    pub(super) fn has(&self, stored: &Stored, budget: &mut Budget) -> Result<bool, Ended> {
        Ok(is_in(&self.base, self.scope, stored.place()) && self.selects(stored, budget)?)
    }

    /// Whether an entry of the scope is found.
    fn selects(&self, stored: &Stored, budget: &mut Budget) -> Result<bool, Ended> {
        if !self.access.is_open() {
            budget.spend(RULES_STEPS)?;
            if !self.access.sees(stored) {
                return Ok(false);
            }
        }
        if self.is_reference(stored) {
            return Ok(true);
        }
        let guarded = self.condition.of(stored, &self.access);
        let condition = guarded.as_deref().unwrap_or(&self.condition.open);
        Ok(condition.evaluate(stored, budget)? == Evaluation::True)
    }

    fn is_reference(&self, stored: &Stored) -> bool {
        stored.is_referral() && !self.asked.manage_dsa_it
    }

    /// Writes an entry that was found, with these controls.
    ///
    /// # Errors
    /// The budget is used up; nothing is written then.
    pub(super) fn put(
        &self,
        out: &mut Vec<u8>,
        id: u32,
        stored: &Stored,
        controls: &[Control],
        budget: &mut Budget,
    ) -> Result<(), Ended> {
        budget.spend(20 + stored.contents().len() as Steps / 64)?;
        if self.is_reference(stored) {
            let mut urls = Vec::new();
            stored.values("ref").for_each(|url| element(&mut urls, tag::OCTET_STRING, url));
            message(out, id, tag::SEARCH_REFERENCE, &[&urls], controls);
        } else if self.selection.takes_all(stored) {
            message(out, id, tag::SEARCH_ENTRY, &[stored.contents()], controls);
        } else {
            let contents = self.selection.contents(stored, budget)?;
            message(out, id, tag::SEARCH_ENTRY, &[&contents], controls);
        }
        Ok(())
    }

    /// Writes an entry of which only the name is of interest.
    pub(super) fn put_name(&self, out: &mut Vec<u8>, id: u32, stored: &Stored, controls: &[Control]) {
        let mut contents = Vec::new();
        element(&mut contents, tag::OCTET_STRING, stored.name().as_bytes());
        head(&mut contents, tag::SEQUENCE, 0);
        message(out, id, tag::SEARCH_ENTRY, &[&contents], controls);
    }

    /// Writes the root DSE or the subschema entry if it is found.
    pub(super) fn put_root(&self, out: &mut Vec<u8>, id: u32, dse: &Stored) {
        let budget = &mut Budget::turn(ROOT_STEPS);
        // The filter is the client's: one that costs more than the root DSE is worth does not select it.
        if self.condition.open.evaluate(dse, budget) == Ok(Evaluation::True) {
            // Nearly all its attributes are those of the directory.
            let Selection { names, users, operational, .. } = &self.selection;
            let has = |name: &str| {
                *operational
                    || names.iter().any(|known| is_described(name, known))
                    || (*users && ["objectClass", "cn"].iter().any(|known| name.eq_ignore_ascii_case(known)))
            };
            let mut list = Vec::new();
            for attribute in dse.attributes().filter(|attribute| has(attribute.name)) {
                if self.selection.types_only {
                    typed(&mut list, attribute.name);
                } else {
                    list.extend_from_slice(attribute.octets);
                }
            }
            let mut contents = Vec::new();
            element(&mut contents, tag::OCTET_STRING, dse.name().as_bytes());
            element(&mut contents, tag::SEQUENCE, &list);
            message(out, id, tag::SEARCH_ENTRY, &[&contents], &[]);
        }
    }

    /// What is asked for of synchronization.
    pub(super) const fn sync(&self) -> Option<&Sync> {
        self.asked.sync.as_ref()
    }

    /// Whether what is found is to be sent in parts, or in an order of its own.
    pub(super) fn is_arranged(&self) -> bool {
        self.asked.paged.is_some() || self.is_sorted()
    }

    fn is_sorted(&self) -> bool {
        self.asked.view.is_some() || !self.asked.sort.is_empty()
    }
}

/// Steps that the rules of access cost for an entry, about.
const RULES_STEPS: Steps = 100;
/// Steps that a filter on the root DSE may take.
const ROOT_STEPS: Steps = 1_000_000;
/// Steps that an assertion may take: about 50 ms.
const ASSERTION_STEPS: Steps = 5_000_000;

/// Prepares a filter of a user.
fn prepared(filter: &Filter<'_>, access: &Permissions) -> Condition {
    Condition::new(filter, access.schema(), &|name| access.may_read_of_any(name))
}

/// Checks that the assertion of a request holds (RFC 4528).
pub(super) fn check_assertion(stored: Option<&Stored>, asked: &Controls, access: &Permissions) -> Done {
    let (Some(filter), Some(stored)) = (&asked.assertion, stored) else {
        return Ok(());
    };
    let guarded = Guarded::new(filter, access);
    let of_entry = guarded.of(stored, access);
    let condition = of_entry.as_deref().unwrap_or(&guarded.open);
    match condition.evaluate(stored, &mut Budget::turn(ASSERTION_STEPS)) {
        Ok(Evaluation::True) => Ok(()),
        Ok(_) => Err(LdapResult::new(ResultCode::ASSERTION_FAILED)),
        Err(_) => {
            let message = "the assertion takes too long";
            Err(LdapResult::new(ResultCode::ADMIN_LIMIT_EXCEEDED).with_message(message))
        }
    }
}

fn references(stored: &Stored) -> Vec<String> {
    stored.values("ref").map(|url| String::from_utf8_lossy(url).into_owned()).collect()
}

impl Selection {
    fn new(names: Vec<String>, types_only: bool, matched: Vec<Condition>, access: Arc<Permissions>) -> Self {
        let has = |word: &str| names.iter().any(|name| name == word);
        let (users, operational) = (names.is_empty() || has("*"), has("+"));
        let names = match access.schema() {
            Some(schema) => names.iter().flat_map(|name| schema.described(name)).collect(),
            None => names,
        };
        Self { names, users, operational, types_only, matched, access }
    }

    /// Whether the answer is the entry as it is kept.
    fn takes_all(&self, stored: &Stored) -> bool {
        self.users
            && self.matched.is_empty()
            && !self.types_only
            && (self.names.len() <= 1)
            && self.access.is_open()
            && !stored.has_hidden()
            && (self.access.is_root() || !stored.has_password())
    }

    /// Contents of the SearchResultEntry with what is selected.
    fn contents(&self, stored: &Stored, budget: &mut Budget) -> Result<Vec<u8>, Ended> {
        let mut whole: Vec<&[u8]> = Vec::new();
        let mut made = Vec::new();
        let named = |name: &str| self.names.iter().any(|known| is_described(name, known));
        for attribute in stored.attributes() {
            let AttributeRef { name, octets, .. } = attribute;
            budget.spend(1 + self.names.len() as Steps)?;
            let is_wanted = if is_hidden(name) { self.operational } else { self.users };
            if !(is_wanted || named(name)) || !self.access.has(stored, Right::Read, name) {
                continue;
            }
            if self.types_only {
                typed(&mut made, name);
            } else if self.matched.is_empty() {
                whole.push(octets);
            } else {
                let mut values = Vec::new();
                for value in attribute.values() {
                    let mut is_matched = false;
                    for condition in &self.matched {
                        is_matched |=
                            condition.evaluate(&Value { name, octets: value }, budget)? == Evaluation::True;
                    }
                    if is_matched {
                        element(&mut values, tag::OCTET_STRING, value);
                    }
                }
                if !values.is_empty() {
                    attribute_of(&mut made, name, &values);
                }
            }
        }
        for name in OPERATIONAL.into_iter().filter(|name| self.operational || named(name)) {
            // Those of another server may stand in what was loaded.
            if stored.values(name).next().is_some() {
                continue;
            }
            if !self.access.has(stored, Right::Read, name) {
                continue;
            }
            if self.types_only {
                typed(&mut made, name);
            } else if let Some(value) = stored.operational(name) {
                let mut values = Vec::new();
                element(&mut values, tag::OCTET_STRING, &value);
                attribute_of(&mut made, name, &values);
            }
        }
        let list = whole.iter().map(|octets| octets.len()).sum::<usize>() + made.len();
        let name = stored.name().as_bytes();
        let mut contents = Vec::with_capacity(element_size(name.len()) + element_size(list));
        element(&mut contents, tag::OCTET_STRING, name);
        head(&mut contents, tag::SEQUENCE, list);
        whole.iter().for_each(|octets| contents.extend_from_slice(octets));
        contents.extend_from_slice(&made);
        Ok(contents)
    }
}

/// Writes a PartialAttribute with these elements as its values.
fn attribute_of(out: &mut Vec<u8>, name: &str, values: &[u8]) {
    head(out, tag::SEQUENCE, element_size(name.len()) + element_size(values.len()));
    element(out, tag::OCTET_STRING, name.as_bytes());
    element(out, tag::SET, values);
}

/// Writes a PartialAttribute without values.
fn typed(out: &mut Vec<u8>, name: &str) {
    attribute_of(out, name, &[]);
}

/// The control with which an entry before or after a change comes back (RFC 4527).
pub(super) fn read_entry(oid: &str, stored: &Stored, names: &[String], access: &Arc<Permissions>) -> Control {
    let selection = Selection::new(names.to_vec(), false, Vec::new(), Arc::clone(access));
    let contents = selection.contents(stored, &mut Budget::turn(Steps::MAX)).unwrap_or_default();
    let mut entry = Vec::new();
    element(&mut entry, tag::SEARCH_ENTRY, &contents);
    Control::new(oid).with_value(entry)
}

/// How the entries of an answer are sent.
#[derive(Debug)]
enum Form {
    /// As they are found.
    Plain,
    /// In pages (RFC 2696) as they are found: how many are still wanted, and the place behind which the page begins.
    Page { left: usize, after: Vec<u8>, last: Vec<u8> },
    /// Not at all: they are collected to be sorted.
    Sorted(Sorted),
    /// As they are given, all of them.
    Arranged,
    /// With what has become of them (RFC 4533): those that have not changed since are only listed.
    Refresh { since: u64, same: Vec<[u8; 16]> },
}

/// A search under way.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) id: u32,
    query: Arc<Query>,
    form: Form,
    sent: usize,
    result: LdapResult,
}

/// What a turn of work has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// All entries that were given are done with.
    Done,
    /// There is much to be sent; entries from this one on remain.
    Full(usize),
    /// The turn ended within this entry.
    Over(usize),
    /// The answer is complete: nothing else is to be looked at.
    Complete,
    /// The time limit has passed.
    Time,
}

impl Task {
    /// A search that is not one of synchronization.
    ///
    /// # Errors
    /// The controls cannot be met.
    pub(super) fn new(id: u32, query: Arc<Query>) -> Done<Self> {
        let form = match &query.asked.paged {
            _ if query.is_sorted() => {
                let access = Arc::clone(&query.access);
                Form::Sorted(Sorted::new(&query.asked.sort, query.asked.view.is_some(), access)?)
            }
            None => Form::Plain,
            Some(paged) => {
                let after = view::read_place(&paged.cookie)?;
                let left = if paged.size == 0 { usize::MAX } else { paged.size as usize };
                Form::Page { left, last: after.clone(), after }
            }
        };
        Ok(Self { id, query, form, sent: 0, result: LdapResult::default() })
    }

    /// The refresh of a synchronization: all entries, those that changed after `since` as added.
    pub(super) fn refresh(id: u32, query: Arc<Query>, since: Option<u64>) -> Self {
        let form = Form::Refresh { since: since.unwrap_or_default(), same: Vec::new() };
        Self { id, query, form, sent: 0, result: LdapResult::default() }
    }

    pub(super) const fn query(&self) -> &Arc<Query> {
        &self.query
    }

    /// Looks at entries, and writes those that are found, until the turn is over.
    pub(super) fn work(&mut self, entries: &[Arc<Stored>], out: &mut Vec<u8>, budget: &mut Budget) -> Turn {
        for (index, stored) in entries.iter().enumerate() {
            if out.len() >= FULL {
                return Turn::Full(index);
            }
            match self.one(stored, out, budget) {
                Ok(false) => {}
                Ok(true) => return Turn::Complete,
                Err(Ended::Turn) => return Turn::Over(index),
                Err(Ended::Time) => return Turn::Time,
            }
        }
        Turn::Done
    }

    /// Looks at an entry; returns whether the answer is complete.
    fn one(&mut self, stored: &Arc<Stored>, out: &mut Vec<u8>, budget: &mut Budget) -> Result<bool, Ended> {
        if let Form::Page { after, .. } = &self.form
            && !after.is_empty()
            && stored.place() <= after.as_slice()
        {
            budget.spend(1)?;
            return Ok(false);
        }
        if matches!(self.form, Form::Arranged) {
            self.query.put(out, self.id, stored, &[], budget)?;
            return Ok(false);
        }
        if !self.query.selects(stored, budget)? {
            return Ok(false);
        }
        match &mut self.form {
            Form::Arranged => {}
            Form::Sorted(sorted) => {
                budget.spend(20)?;
                sorted.push(stored);
                return Ok(false);
            }
            Form::Page { left: 0, last, .. } => {
                // There is one more: the page is not the last.
                self.result.controls.push(controls::page(0, &view::place_cookie(last)));
                return Ok(true);
            }
            _ if self.sent >= self.query.size_limit => {
                self.result.code = ResultCode::SIZE_LIMIT_EXCEEDED;
                return Ok(true);
            }
            Form::Plain => self.query.put(out, self.id, stored, &[], budget)?,
            Form::Page { left, last, .. } => {
                self.query.put(out, self.id, stored, &[], budget)?;
                *left -= 1;
                last.clear();
                last.extend_from_slice(stored.place());
            }
            Form::Refresh { since, same } if stored.changed <= *since => {
                same.push(super::entry::uuid(stored.serial));
                if same.len() >= super::sync::SET {
                    super::sync::put_same(out, self.id, std::mem::take(same));
                }
            }
            Form::Refresh { .. } => {
                let control = super::sync::state(stored, SyncChange::Add, None);
                self.query.put(out, self.id, stored, &[control], budget)?;
            }
        }
        self.sent += 1;
        Ok(false)
    }

    /// Sorts what was found. The entries in their order are sent by [`Task::work`] then, without another look at the filter.
    ///
    /// # Errors
    /// The part of the list that is asked for is none.
    pub(super) fn sort(&mut self) -> Done<Vec<Arc<Stored>>> {
        let (mut all, fault) = match std::mem::replace(&mut self.form, Form::Arranged) {
            Form::Sorted(sorted) => {
                let fault = sorted.fault(&self.query.asked.sort);
                (sorted.finish(), fault)
            }
            _ => (Vec::new(), None),
        };
        self.result.controls.push(controls::sorted(fault));
        if let Some(wanted) = &self.query.asked.view {
            let (part, control) = view::part(all, wanted, &self.query.asked.sort, &self.query.access)?;
            self.result.controls.push(control);
            all = part;
        }
        if all.len() > self.query.size_limit {
            all.truncate(self.query.size_limit);
            self.result.code = ResultCode::SIZE_LIMIT_EXCEEDED;
        }
        if let Some(paged) = &self.query.asked.paged {
            let (page, control) = page(all, paged)?;
            self.result.controls.push(control);
            all = page;
        }
        Ok(all)
    }

    /// Whether entries have to be known all before the first is sent.
    pub(super) const fn is_sorted(&self) -> bool {
        matches!(self.form, Form::Sorted(_))
    }

    /// Ends the search; writes what is left to be said before its result.
    pub(super) fn finish(mut self, out: &mut Vec<u8>) -> LdapResult {
        match &mut self.form {
            Form::Refresh { same, .. } if !same.is_empty() => {
                super::sync::put_same(out, self.id, std::mem::take(same));
            }
            Form::Page { .. } if self.result.controls.is_empty() => {
                self.result.controls.push(controls::page(0, &[]));
            }
            _ => {}
        }
        self.result
    }
}

/// A page of a sorted list (RFC 2696). The cookie is where the next one begins; a directory that changes meanwhile may repeat or
/// skip entries.
fn page(mut found: Vec<Arc<Stored>>, paged: &PagedResults) -> Done<(Vec<Arc<Stored>>, Control)> {
    let begin = view::read_position(&paged.cookie)?.min(found.len());
    let total = found.len();
    let end = begin.saturating_add(paged.size as usize).min(total);
    let goes_on = end < total && paged.size > 0;
    let next = if goes_on { view::position_cookie(end) } else { Vec::new() };
    found.truncate(end);
    Ok((found.split_off(begin), controls::page(total, &next)))
}

/// The entry that says what this server is (RFC 4512 5.1).
pub(super) fn root_dse(store: &Store, has_tls: bool) -> Stored {
    let list = |name: &str, values: &[&str]| {
        (name.to_owned(), values.iter().map(|value| value.as_bytes().to_vec()).collect::<Vec<_>>())
    };
    let mut extensions = vec![extended::WHO_AM_I, extended::PASSWORD_MODIFY, extended::CANCEL];
    if has_tls {
        extensions.push(extended::START_TLS);
    }
    let roots = store.roots();
    let contexts: Vec<&str> = roots.iter().map(|stored| stored.name()).collect();
    let mut attributes = vec![
        list("objectClass", &["top"]),
        list("supportedLDAPVersion", &["3"]),
        list("supportedControl", controls::SUPPORTED),
        list("supportedExtension", &extensions),
        list("supportedFeatures", &["1.3.6.1.1.14", "1.3.6.1.4.1.4203.1.5.1", "1.3.6.1.4.1.4203.1.5.3"]),
        list("supportedSASLMechanisms", &["EXTERNAL", "PLAIN"]),
        list("subschemaSubentry", &[subschema::NAME]),
        list("vendorName", &["Tercet"]),
    ];
    if !contexts.is_empty() {
        attributes.insert(1, list("namingContexts", &contexts));
    }
    let origin = super::entry::Origin { id: 0, serial: 0, changed: 0, created: 0, modified: 0 };
    Stored::new("", &[], &attributes, origin)
}
