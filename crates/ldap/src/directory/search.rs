//! Searching.

use tercet_runtime::types::Octets;

use super::controls::{self, Controls};
use super::store::{Attribute, Done, Store, Stored, parse};
use crate::dn::Dn;
use crate::extended;
use crate::filter::Evaluation;
use crate::generated::{self as asn1, Filter, ProtocolOp, SearchRequest, SearchRequestScope};
use crate::matching::Rule;
use crate::proto::{Control, LdapResult, ResultCode};

/// What a search brings, in the order in which it is sent.
pub(super) enum Found<'s> {
    Entry(&'s Stored),
    Reference(Vec<String>),
}

/// Searches; gives what was found and the result.
pub(super) fn search<'s>(
    store: &'s Store,
    request: &SearchRequest<'_>,
    asked: &Controls,
    cookie: &mut Option<usize>,
) -> Done<(Vec<Found<'s>>, LdapResult)> {
    let base = parse(&String::from_utf8_lossy(&request.base_object))?;
    if !base.is_root() {
        store.find(&base)?;
    }
    check_assertion(store.get(&base), asked)?;
    if let Some(stored) = store.get(&base)
        && stored.is_referral()
        && !asked.manage_dsa_it
    {
        let referrals = references(stored);
        return Err(LdapResult { referrals, ..LdapResult::new(ResultCode::REFERRAL) });
    }
    let depth = base.rdns().len();
    let in_scope = |stored: &Stored| match request.scope {
        SearchRequestScope::BaseObject => stored.dn.rdns().len() == depth,
        SearchRequestScope::SingleLevel => stored.dn.rdns().len() == depth + 1,
        SearchRequestScope::SubordinateSubtree => stored.dn.rdns().len() > depth,
        _ => true,
    };
    let mut found: Vec<Found<'_>> = Vec::new();
    for stored in store.subtree(&base).filter(|stored| in_scope(stored)) {
        if stored.is_referral() && !asked.manage_dsa_it {
            found.push(Found::Reference(references(stored)));
        } else if selects(&request.filter, stored) {
            found.push(Found::Entry(stored));
        }
    }
    let mut result = LdapResult::default();
    if !asked.sort.is_empty() {
        sort(&mut found, asked);
        result.controls.push(controls::sorted());
    }
    if request.size_limit > 0 && found.len() > request.size_limit as usize {
        found.truncate(request.size_limit as usize);
        result.code = ResultCode::SIZE_LIMIT_EXCEEDED;
    }
    if let Some(paged) = &asked.paged {
        // The cookie is where the next page begins; a directory that changes meanwhile may repeat or skip entries.
        let begin = match <[u8; 8]>::try_from(paged.cookie.as_slice()) {
            Ok(octets) => usize::try_from(u64::from_be_bytes(octets)).unwrap_or(usize::MAX),
            Err(_) if paged.cookie.is_empty() => 0,
            Err(_) => {
                return Err(LdapResult::new(ResultCode::UNWILLING_TO_PERFORM).with_message("not our cookie"));
            }
        };
        let total = found.len();
        let end = begin.saturating_add(paged.size as usize).min(total);
        found = found.into_iter().take(end).skip(begin).collect();
        *cookie = (end < total && paged.size > 0).then_some(end);
        let next = cookie.map(|end| (end as u64).to_be_bytes().to_vec()).unwrap_or_default();
        result.controls.push(controls::page(total, &next));
    }
    Ok((found, result))
}

/// That the assertion of a request holds (RFC 4528).
pub(super) fn check_assertion(stored: Option<&Stored>, asked: &Controls) -> Done {
    match (&asked.assertion, stored) {
        (Some(filter), Some(stored)) if !selects(filter, stored) => {
            Err(LdapResult::new(ResultCode::ASSERTION_FAILED))
        }
        _ => Ok(()),
    }
}

fn selects(filter: &Filter<'_>, stored: &Stored) -> bool {
    filter.evaluate(&stored.dn, &|name| stored.values(name)) == Evaluation::True
}

fn references(stored: &Stored) -> Vec<String> {
    let urls = stored.values("ref").unwrap_or_default();
    urls.into_iter().map(|url| String::from_utf8_lossy(url).into_owned()).collect()
}

fn sort(found: &mut [Found<'_>], asked: &Controls) {
    let key = |found: &Found<'_>, attribute: &str, rule: Rule| match found {
        // Entries without the attribute come last (RFC 2891 2.2).
        Found::Entry(stored) => {
            stored.values(attribute).and_then(|values| values.first().map(|value| rule.normalize(value)))
        }
        Found::Reference(_) => None,
    };
    found.sort_by(|a, b| {
        asked.sort.iter().fold(std::cmp::Ordering::Equal, |order, sort| {
            order.then_with(|| {
                let named = sort.rule.as_deref().and_then(Rule::named);
                let rule = named.unwrap_or_else(|| Rule::of_attribute(&sort.attribute));
                let (a, b) = (key(a, &sort.attribute, rule), key(b, &sort.attribute, rule));
                let order = match (&a, &b) {
                    (Some(a), Some(b)) => rule.compare(a, b),
                    (a, b) => b.is_some().cmp(&a.is_some()),
                };
                if sort.reverse { order.reverse() } else { order }
            })
        })
    });
}

/// An entry as it is sent: the attributes that were asked for, and of their values those that are.
pub(super) fn entry(
    stored: &Stored,
    names: &[String],
    types_only: bool,
    matched: &[Filter<'_>],
) -> ProtocolOp<'static> {
    ProtocolOp::SearchResEntry(selected(stored, names, types_only, matched))
}

/// The part of an entry that a list of names selects (RFC 4511 4.5.1.8).
pub(super) fn selected(
    stored: &Stored,
    names: &[String],
    types_only: bool,
    matched: &[Filter<'_>],
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
    let own = stored.attributes.iter().filter(|(name, _)| users || named(name));
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
    }
}

/// The control with which an entry before or after a change comes back (RFC 4527).
pub(super) fn read_entry(oid: &str, stored: &Stored, names: &[String]) -> Control {
    let entry = selected(stored, names, false, &[]);
    Control::new(oid).with_value(crate::proto::control::encoded(&entry))
}
