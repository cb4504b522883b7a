//! Searching.

use tercet_runtime::types::Octets;

use super::controls::{self, Controls};
use super::store::{Attribute, Done, Store, Stored, parse};
use super::view;
use crate::controls::{PagedResults, SortKey, Sync};
use crate::dn::Dn;
use crate::extended;
use crate::filter::Evaluation;
use crate::generated::{self as asn1, Filter, ProtocolOp, SearchRequest, SearchRequestScope};
use crate::matching::Rule;
use crate::proto::{Control, LdapResult, ResultCode};

/// A message of an answer, without its ID.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) operation: ProtocolOp<'static>,
    pub(super) controls: Vec<Control>,
}

/// What is looked for.
#[derive(Debug)]
pub(super) struct Query {
    base: Dn,
    scope: SearchRequestScope,
    filter: Filter<'static>,
    names: Vec<String>,
    types_only: bool,
    size_limit: usize,
    asked: Controls,
    /// Whether the values of [`PASSWORD`] may be read, and filters may ask for them.
    reads_passwords: bool,
}

/// The attribute that is hidden from all users but the root user.
pub(super) const PASSWORD: &str = "userPassword";

/// Checks whether an attribute description is that of [`PASSWORD`], by name or object identifier, with any options.
pub(super) fn is_password(description: &str) -> bool {
    let name = description.split(';').next().unwrap_or_default();
    name.eq_ignore_ascii_case(PASSWORD) || name == "2.5.4.35"
}

impl Query {
    pub(super) fn new(request: &SearchRequest<'_>, asked: Controls, reads_passwords: bool) -> Done<Self> {
        let text = |octets: &Octets<'_>| String::from_utf8_lossy(octets).into_owned();
        Ok(Self {
            base: parse(&text(&request.base_object))?,
            scope: request.scope,
            filter: request.filter.clone().into_owned(),
            names: request.attributes.iter().map(text).collect(),
            types_only: request.types_only,
            size_limit: if request.size_limit == 0 { usize::MAX } else { request.size_limit as usize },
            asked,
            reads_passwords,
        })
    }

    /// Whether the root DSE is meant, which is no entry of the directory.
    pub(super) fn is_of_root(&self) -> bool {
        self.base.is_root() && self.scope == SearchRequestScope::BaseObject
    }

    /// That there is a base that can be searched here.
    pub(super) fn check(&self, store: &Store) -> Done {
        if !self.base.is_root() {
            store.find(&self.base)?;
        }
        let stored = store.get(&self.base);
        check_assertion(stored, &self.asked, self.reads_passwords)?;
        match stored.filter(|stored| self.is_reference(stored)) {
            Some(stored) => {
                let referrals = references(stored);
                Err(LdapResult { referrals, ..LdapResult::new(ResultCode::REFERRAL) })
            }
            None => Ok(()),
        }
    }

    /// What is found, from the top.
    pub(super) fn found<'s>(&self, store: &'s Store) -> impl Iterator<Item = &'s Stored> {
        store.subtree(&self.base).filter(|stored| self.selects(stored))
    }

    /// Whether an entry, wherever it stands, is found.
    pub(super) fn has(&self, stored: &Stored) -> bool {
        stored.dn.is_within(&self.base) && self.selects(stored)
    }

    /// Whether an entry at or below the base is found.
    fn selects(&self, stored: &Stored) -> bool {
        let (depth, base) = (stored.dn.rdns().len(), self.base.rdns().len());
        let in_scope = match self.scope {
            SearchRequestScope::BaseObject => depth == base,
            SearchRequestScope::SingleLevel => depth == base + 1,
            SearchRequestScope::SubordinateSubtree => depth > base,
            _ => true,
        };
        in_scope && (self.is_reference(stored) || selects(&self.filter, stored, self.reads_passwords))
    }

    fn is_reference(&self, stored: &Stored) -> bool {
        stored.is_referral() && !self.asked.manage_dsa_it
    }

    /// What is found, as it is sent.
    pub(super) fn message(&self, stored: &Stored) -> Message {
        let operation = if self.is_reference(stored) {
            let urls = references(stored);
            ProtocolOp::SearchResRef(urls.iter().map(|url| Octets::copied(url.as_bytes())).collect())
        } else {
            let entry =
                selected(stored, &self.names, self.types_only, &self.asked.matched, self.reads_passwords);
            ProtocolOp::SearchResEntry(entry)
        };
        Message { operation, controls: Vec::new() }
    }

    /// The root DSE, if it is found.
    pub(super) fn root_dse(&self, dse: &Stored) -> Option<Message> {
        selects(&self.filter, dse, true).then(|| self.message(dse))
    }

    /// What is asked for of synchronization.
    pub(super) const fn sync(&self) -> Option<&Sync> {
        self.asked.sync.as_ref()
    }

    /// Whether what is found is to be sent in parts, or in an order of its own.
    pub(super) fn is_arranged(&self) -> bool {
        self.asked.paged.is_some() || self.asked.view.is_some() || !self.asked.sort.is_empty()
    }
}

/// Searches; gives what was found, in the order in which it is sent, and the result.
pub(super) fn search(store: &Store, query: &Query) -> Done<(Vec<Message>, LdapResult)> {
    query.check(store)?;
    let asked = &query.asked;
    let mut found: Vec<&Stored> = query.found(store).collect();
    let mut result = LdapResult::default();
    if !asked.sort.is_empty() {
        sort(&mut found, query);
        result.controls.push(controls::sorted());
    }
    if let Some(wanted) = &asked.view {
        if !query.reads_passwords && asked.sort.first().is_some_and(|key| is_password(&key.attribute)) {
            return Err(LdapResult::new(ResultCode::INSUFFICIENT_ACCESS_RIGHTS));
        }
        let (part, control) = view::part(&found, wanted, &asked.sort)?;
        result.controls.push(control);
        found = part;
    }
    if found.len() > query.size_limit {
        found.truncate(query.size_limit);
        result.code = ResultCode::SIZE_LIMIT_EXCEEDED;
    }
    if let Some(paged) = &asked.paged {
        let (page, control) = page(&found, paged)?;
        result.controls.push(control);
        found = page;
    }
    Ok((found.into_iter().map(|stored| query.message(stored)).collect(), result))
}

/// A page of what was found (RFC 2696). The cookie is where the next one begins; a directory that changes meanwhile may
/// repeat or skip entries.
fn page<'s>(found: &[&'s Stored], paged: &PagedResults) -> Done<(Vec<&'s Stored>, Control)> {
    let begin = match <[u8; 8]>::try_from(paged.cookie.as_slice()) {
        Ok(octets) => usize::try_from(u64::from_be_bytes(octets)).unwrap_or(usize::MAX),
        Err(_) if paged.cookie.is_empty() => 0,
        Err(_) => {
            return Err(LdapResult::new(ResultCode::UNWILLING_TO_PERFORM).with_message("not our cookie"));
        }
    };
    let end = begin.saturating_add(paged.size as usize).min(found.len());
    let goes_on = end < found.len() && paged.size > 0;
    let next = if goes_on { (end as u64).to_be_bytes().to_vec() } else { Vec::new() };
    let page = found.get(begin..end).unwrap_or_default().to_vec();
    Ok((page, controls::page(found.len(), &next)))
}

/// That the assertion of a request holds (RFC 4528).
pub(super) fn check_assertion(stored: Option<&Stored>, asked: &Controls, reads_passwords: bool) -> Done {
    match (&asked.assertion, stored) {
        (Some(filter), Some(stored)) if !selects(filter, stored, reads_passwords) => {
            Err(LdapResult::new(ResultCode::ASSERTION_FAILED))
        }
        _ => Ok(()),
    }
}

fn selects(filter: &Filter<'_>, stored: &Stored, reads_passwords: bool) -> bool {
    // A filter must not find out by many searches what it cannot read.
    let values = |name: &str| if reads_passwords || !is_password(name) { stored.values(name) } else { None };
    filter.evaluate(&stored.dn, &values) == Evaluation::True
}

fn references(stored: &Stored) -> Vec<String> {
    let urls = stored.values("ref").unwrap_or_default();
    urls.into_iter().map(|url| String::from_utf8_lossy(url).into_owned()).collect()
}

fn sort(found: &mut [&Stored], query: &Query) {
    // The order would show what cannot be read.
    let keys = query.asked.sort.iter().filter(|key| query.reads_passwords || !is_password(&key.attribute));
    let keys: Vec<(&SortKey, Rule)> = keys.map(|key| (key, view::rule(key))).collect();
    found.sort_by(|a, b| {
        keys.iter().fold(std::cmp::Ordering::Equal, |order, (key, rule)| {
            order.then_with(|| {
                // Entries without the attribute come last (RFC 2891 2.2).
                let (a, b) = (view::value(a, key, *rule), view::value(b, key, *rule));
                let order = match (&a, &b) {
                    (Some(a), Some(b)) => rule.compare(a, b),
                    (a, b) => b.is_some().cmp(&a.is_some()),
                };
                if key.reverse { order.reverse() } else { order }
            })
        })
    });
}

/// The part of an entry that a list of names selects (RFC 4511 4.5.1.8).
pub(super) fn selected(
    stored: &Stored,
    names: &[String],
    types_only: bool,
    matched: &[Filter<'_>],
    reads_passwords: bool,
) -> asn1::SearchResultEntry<'static> {
    let has = |word: &str| names.iter().any(|name| name == word);
    let named = |attribute: &str| {
        names.iter().any(|name| {
            name.eq_ignore_ascii_case(attribute)
                || attribute.split_once(';').is_some_and(|(base, _)| base.eq_ignore_ascii_case(name))
        })
    };
    let users = names.is_empty() || has("*");
    let kept = |(name, values): &Attribute| {
        let vals = values.iter().filter(|value| {
            matched.is_empty() || matched.iter().any(|filter| is_matched(filter, name, value))
        });
        asn1::PartialAttribute {
            r#type: Octets::copied(name.as_bytes()),
            vals: if types_only { Vec::new() } else { vals.map(|value| Octets::copied(value)).collect() },
        }
    };
    let may_read = |name: &str| reads_passwords || !is_password(name);
    let own = stored.attributes.iter().filter(|(name, _)| (users || named(name)) && may_read(name));
    let operational = stored.operational.iter().filter(|(name, _)| has("+") || named(name));
    asn1::SearchResultEntry {
        object_name: Octets::copied(stored.name.as_bytes()),
        attributes: own
            .chain(operational)
            .map(kept)
            .filter(|one| types_only || !one.vals.is_empty())
            .collect(),
    }
}

fn is_matched(filter: &Filter<'_>, name: &str, value: &[u8]) -> bool {
    let only = |asked: &str| asked.eq_ignore_ascii_case(name).then(|| vec![value]);
    filter.evaluate(&Dn::default(), &only) == Evaluation::True
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
    let contexts: Vec<&str> = store.roots().map(|stored| stored.name.as_str()).collect();
    let mut operational = vec![
        list("supportedLDAPVersion", &["3"]),
        list("supportedControl", controls::SUPPORTED),
        list("supportedExtension", &extensions),
        list("supportedFeatures", &["1.3.6.1.1.14", "1.3.6.1.4.1.4203.1.5.1", "1.3.6.1.4.1.4203.1.5.3"]),
        list("supportedSASLMechanisms", &["EXTERNAL", "PLAIN"]),
        list("vendorName", &["Tercet"]),
    ];
    if !contexts.is_empty() {
        operational.insert(0, list("namingContexts", &contexts));
    }
    Stored {
        dn: Dn::default(),
        name: String::new(),
        attributes: vec![list("objectClass", &["top"])],
        operational,
        serial: 0,
        changed: 0,
    }
}

/// The control with which an entry before or after a change comes back (RFC 4527).
pub(super) fn read_entry(oid: &str, stored: &Stored, names: &[String], reads_passwords: bool) -> Control {
    let entry = selected(stored, names, false, &[], reads_passwords);
    Control::new(oid).with_value(crate::proto::control::encoded(&entry))
}
