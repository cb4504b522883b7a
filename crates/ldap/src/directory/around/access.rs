//! Rules of access around any handler.

use std::sync::Arc;

use super::super::access::{Guarded, Origin, Permissions};
use super::super::acl::{Acl, Right, candidate};
use super::super::entry::{Attribute, PASSWORD, Stored, place};
use super::super::store::{Done, parse};
use super::stored;
use crate::dn::Dn;
use crate::entry::Draft;
use crate::extended::{PASSWORD_MODIFY, PasswordModify};
use crate::filter::Evaluation;
use crate::filter::condition::{Budget, Ended, Steps, Subject};
use crate::proto::{Control, LdapResult, ResultCode};
use crate::server::inside::{handle_changing, read_entry, unbind};
use crate::server::{
    Answer, AnyHandler, Around, Authentication, Call, Context, Handler as _, Layer, Request, Search, Surround,
};

/// Controls that show nothing and reach nothing but what requests do without them: manageDsaIT, paged results, don't use copy, domain
/// scope, password policy.
const HARMLESS: [&str; 5] = [
    "2.16.840.1.113730.3.4.2",
    "1.2.840.113556.1.4.319",
    "1.3.6.1.1.22",
    "1.2.840.113556.1.4.1339",
    "1.3.6.1.4.1.42.2.27.8.5.1",
];

/// Steps that the filter of a search may take for one entry, if it is judged here.
const FILTER_STEPS: Steps = 1_000_000;

fn is_harmless(control: &Control) -> bool {
    HARMLESS.contains(&control.oid.as_str())
}

/// The rules decide about each request to the handler inside, for all users: no root user is exempt.
///
/// Entries that a request is about, and groups that rules name, are read by the handler, with the rights that the client has there. An entry that
/// cannot be read so is taken for one that the filter of each `deny` selects, and that of no `allow`.
/// Searches ask the handler for all attributes, as rules may have filters. Controls that would show or reach more than the request are
/// not passed on, and extended operations other than new passwords are refused.
impl Layer for Acl {
    fn layer(self: Box<Self>, inner: AnyHandler) -> AnyHandler {
        Around::handler(Arc::new(*self), inner)
    }
}

impl Surround for Arc<Acl> {
    async fn around(&self, call: Call<'_>) -> Answer {
        let Call { inner, cx, request, out } = call;
        let access = permissions(self, inner, cx).await;
        let kept = match cx.with_controls(is_harmless) {
            Ok(kept) => kept,
            Err(error) => return error.into(),
        };
        let is_sasl = matches!(&request, Request::Bind(bind) if bind.mechanism().is_some());
        let name = request.dn().unwrap_or_default().to_owned();
        let mut answer = match &request {
            Request::Search(search) => {
                let cx = match cx.with_search(search, &all_attributes(search), is_harmless) {
                    Ok(cx) => cx,
                    Err(error) => return error.into(),
                };
                let change = visible(search, &access);
                handle_changing(inner, &cx, out, change).await
            }
            _ => {
                if let Err(result) = check(&access, inner, cx, &request).await {
                    return result.into();
                }
                inner.handle(&kept, request, out).await
            }
        };
        // A SASL bind shows only at its end who it is.
        if is_sasl && answer.code() == ResultCode::SUCCESS {
            let name = answer.identity.as_deref().unwrap_or(&name);
            if let Err(result) = check_bind(&access, inner, cx, name).await {
                unbind(inner, cx, out).await;
                return result.into();
            }
        }
        let matched = std::mem::take(&mut answer.result.matched_dn);
        if !matched.is_empty() && entry(inner, cx, &matched).await.is_some_and(|stored| access.sees(&stored))
        {
            answer.result.matched_dn = matched;
        }
        answer
    }

    fn controls(&self, inner: Vec<String>) -> Vec<String> {
        inner.into_iter().filter(|oid| HARMLESS.contains(&oid.as_str())).collect()
    }
}

/// Returns the attributes to ask for: all, and those that the client asks for by name.
fn all_attributes<'s>(search: &Search<'s>) -> Vec<&'s str> {
    let named = search.attributes.iter().filter(|name| !matches!(**name, "*" | "+" | "1.1"));
    ["*", "+"].into_iter().chain(named.copied()).collect()
}

/// Returns a function that leaves of an entry what the user may see; nothing where the user may not find it by the filter.
fn visible(
    search: &Search<'_>,
    access: &Arc<Permissions>,
) -> Arc<dyn Fn(Draft) -> Option<Draft> + Send + Sync> {
    let guarded = Guarded::new(search.filter(), access);
    let access = Arc::clone(access);
    Arc::new(move |entry| {
        let stored = stored(&entry).ok()?;
        if !access.sees(&stored) {
            return None;
        }
        if let Some(condition) = guarded.of(&stored, &access) {
            let found = condition.evaluate(&Shown(&stored), &mut Budget::turn(FILTER_STEPS));
            if found != Ok(Evaluation::True) {
                return None;
            }
        }
        let readable = entry.attributes().filter(|(name, _)| access.has(&stored, Right::Read, name));
        Some(Draft::new(entry.dn(), readable))
    })
}

/// An entry of which nothing is known but what the handler shows: the directory's own attributes are not made up.
struct Shown<'s>(&'s Stored);

impl Subject for Shown<'_> {
    fn any(
        &self,
        description: &str,
        budget: &mut Budget,
        test: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<bool, Ended> {
        for value in self.0.values(description) {
            budget.spend(crate::filter::condition::price(value))?;
            if test(value) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn dn(&self) -> Option<std::borrow::Cow<'_, Dn>> {
        Subject::dn(self.0)
    }
}

/// Reads an entry by the handler.
async fn entry(inner: &AnyHandler, cx: &Context, dn: &str) -> Option<Stored> {
    let found = read_entry(inner, cx, dn).await?;
    stored(&found).ok()
}

/// Returns what the user of a connection may do.
async fn permissions(acl: &Arc<Acl>, inner: &AnyHandler, cx: &Context) -> Arc<Permissions> {
    let user = cx.identity();
    let origin = Origin { user: &user, address: cx.peer(), is_tls: cx.is_tls() };
    let mut groups = Vec::new();
    if !user.is_empty() {
        for group in acl.groups() {
            if let Some(name) = name_of(group)
                && let Some(found) = entry(inner, cx, &name).await
            {
                groups.push(found);
            }
        }
    }
    let find = |place: &[u8]| groups.iter().find(|group| group.place() == place);
    Arc::new(Permissions::by_rules(acl, origin.requester().with_groups(acl, find)))
}

/// Returns the name of an entry by its place: normalized RDNs, from the root on, each with a zero after it.
fn name_of(place: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(place).ok()?.trim_end_matches('\0');
    Some(text.rsplit('\0').collect::<Vec<_>>().join(","))
}

fn refused(message: &str) -> LdapResult {
    LdapResult::new(ResultCode::INSUFFICIENT_ACCESS_RIGHTS).with_message(message)
}

async fn check_bind(access: &Permissions, inner: &AnyHandler, cx: &Context, name: &str) -> Done {
    if name.is_empty() {
        return Ok(());
    }
    let wrong = || LdapResult::new(ResultCode::INVALID_CREDENTIALS);
    let dn = parse(name).map_err(|_| wrong())?;
    // Rules with filters require the entry, which the handler need not show to anonymous users.
    let found = entry(inner, cx, name).await;
    let is_allowed = match &found {
        Some(stored) => access.may_bind(stored),
        None => access.has_at(&place(&dn), Right::Auth, Some(PASSWORD)),
    };
    if is_allowed { Ok(()) } else { Err(wrong()) }
}

/// Checks the rights to a request other than a search. Entries that are not there are left to the handler.
async fn check(access: &Permissions, inner: &AnyHandler, cx: &Context, request: &Request<'_>) -> Done {
    let name = match request {
        Request::Bind(bind) => {
            let is_simple = matches!(bind.authentication, Authentication::Simple(_));
            return if is_simple { check_bind(access, inner, cx, bind.dn).await } else { Ok(()) };
        }
        Request::Add(add) => {
            let entry = add.entry();
            let attributes: Vec<Attribute> =
                entry.attributes().map(|(name, values)| (name.to_owned(), values.to_vec())).collect();
            parse(add.dn)?;
            let new = candidate(add.dn, &attributes).map_err(|error| Answer::from(error).result)?;
            return access.check_entry(new.place(), Some(&new), Right::Add);
        }
        Request::Extended(request) if request.name == PASSWORD_MODIFY => {
            let value = PasswordModify::read(request.value.unwrap_or_default()).map_err(|error| {
                Answer::new(ResultCode::PROTOCOL_ERROR).with_message(error.to_string()).result
            })?;
            match value.user {
                None => cx.identity().to_string(),
                Some(user) => user.strip_prefix("dn:").map(str::to_owned).unwrap_or(user),
            }
        }
        Request::Extended(_) => return Err(refused("the rules of access know no such operation")),
        Request::Modify(_) | Request::Delete(_) | Request::Rename(_) | Request::Compare(_) => {
            request.dn().unwrap_or_default().to_owned()
        }
        // They are judged entry by entry.
        Request::Search(_) => return Ok(()),
    };
    let dn = parse(&name)?;
    let is_password = matches!(request, Request::Extended(_));
    if is_password && dn.is_root() {
        return Err(refused("a name is required whose password is to change"));
    }
    let Some(before) = entry(inner, cx, &name).await else {
        let right = match request {
            Request::Delete(_) => Right::Delete,
            Request::Compare(_) => Right::Compare,
            _ => Right::Write,
        };
        let place = place(&dn);
        let is_allowed = match request {
            Request::Modify(modify) => {
                names(modify)?.iter().all(|name| access.has_at(&place, right, Some(name)))
            }
            Request::Compare(compare) => access.has_at(&place, right, Some(compare.attribute)),
            Request::Extended(_) => access.has_at(&place, right, Some(PASSWORD)),
            // An entry that is not seen is not moved.
            Request::Rename(rename) => rename.new_superior.is_none() && access.has_at(&place, right, None),
            _ => access.has_at(&place, right, None),
        };
        return if is_allowed { Ok(()) } else { Err(refused("")) };
    };
    match request {
        Request::Modify(modify) => {
            names(modify)?.iter().try_for_each(|name| access.check(&before, Right::Write, name))
        }
        Request::Compare(compare) => access.check(&before, Right::Compare, compare.attribute),
        Request::Extended(_) => access.check(&before, Right::Write, PASSWORD),
        Request::Delete(_) => access.check_entry(before.place(), Some(&before), Right::Delete),
        Request::Rename(rename) => {
            access.check_entry(before.place(), Some(&before), Right::Write)?;
            let Some(superior) = rename.new_superior else { return Ok(()) };
            let rdn = rename.new_rdn.parse().map_err(|error: crate::Error| {
                LdapResult::new(ResultCode::INVALID_DN_SYNTAX).with_message(error.to_string())
            })?;
            let target = place(&parse(superior)?.child(rdn));
            access.check_entry(before.place(), Some(&before), Right::Delete)?;
            access.check_entry(&target, None, Right::Add)
        }
        _ => Ok(()),
    }
}

fn names(modify: &crate::server::Modify<'_>) -> Done<Vec<String>> {
    let modifications = modify.modifications().map_err(|error| Answer::from(error).result)?;
    Ok(modifications.into_iter().map(|change| change.attribute).collect())
}
