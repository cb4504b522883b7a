//! Searches as streams of entries.

use std::collections::{HashSet, VecDeque};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tercet_runtime::types::Octets;
use tokio::time::{Instant, Sleep};

use super::Client;
use super::config::Config;
use super::driver::{Deliveries, Delivery};
use super::ranges;
use crate::controls::{PagedResults, PersistentSearch, Sync};
use crate::error::{Error, ErrorKind, Result};
use crate::generated::{self as asn1, Filter, ProtocolOp};
use crate::proto::{
    self, Control, Entry, Intermediate, LdapResult, Reference, Reply, RequestControl, ResultCode,
};
use crate::url::{Scope, Url};

/// The control by which Active Directory reports changes for ever (LDAP_SERVER_NOTIFICATION_OID).
const CHANGE_NOTIFICATION: &str = "1.2.840.113556.1.4.528";

/// Whether aliases are followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Deref {
    /// Never.
    #[default]
    Never,
    /// Below the base.
    Search,
    /// To find the base.
    Find,
    /// Both.
    Always,
}

/// What is looked for.
#[derive(Clone, Debug)]
pub struct Search {
    base: String,
    scope: Scope,
    deref: Deref,
    size_limit: u32,
    time_limit: u32,
    types_only: bool,
    filter: Filter<'static>,
    attributes: Vec<String>,
    controls: Vec<Control>,
    page: Option<u32>,
    timeout: Option<Option<Duration>>,
    ranges: bool,
}

impl Search {
    /// All entries at and below a base.
    pub fn new(base: impl Into<String>) -> Self {
        Self {
            base: base.into(),
            scope: Scope::Sub,
            deref: Deref::Never,
            size_limit: 0,
            time_limit: 0,
            types_only: false,
            filter: Filter::Present(Octets::borrowed(b"objectClass")),
            attributes: Vec::new(),
            controls: Vec::new(),
            page: None,
            timeout: None,
            ranges: true,
        }
    }

    /// Returns the search of a request, with another base and scope.
    #[cfg(feature = "directory")]
    pub(crate) fn of_request(request: &asn1::SearchRequest<'_>, base: &str, scope: Scope) -> Self {
        let text = |octets: &Octets<'_>| String::from_utf8_lossy(octets).into_owned();
        Self {
            base: base.to_owned(),
            scope,
            deref: match request.deref_aliases {
                asn1::SearchRequestDerefAliases::DerefInSearching => Deref::Search,
                asn1::SearchRequestDerefAliases::DerefFindingBaseObj => Deref::Find,
                asn1::SearchRequestDerefAliases::DerefAlways => Deref::Always,
                _ => Deref::Never,
            },
            size_limit: request.size_limit,
            time_limit: request.time_limit,
            types_only: request.types_only,
            filter: request.filter.clone().into_owned(),
            attributes: request.attributes.iter().map(text).collect(),
            controls: Vec::new(),
            page: None,
            timeout: None,
            ranges: false,
        }
    }

    /// What a URL says (RFC 4516): its scope is `base` if it has none.
    ///
    /// # Errors
    /// Its filter is malformed.
    pub fn of_url(url: &Url) -> Result<Self> {
        let search = Self::new(&url.dn).scope(url.scope.unwrap_or(Scope::Base)).attributes(&url.attributes);
        match &url.filter {
            Some(filter) => search.filter(filter),
            None => Ok(search),
        }
    }

    /// How far it reaches; [`Scope::Sub`] unless told.
    #[must_use]
    pub const fn scope(mut self, scope: Scope) -> Self {
        self.scope = scope;
        self
    }

    /// The filter, in the form of RFC 4515.
    ///
    /// # Errors
    /// It is malformed.
    pub fn filter(mut self, filter: &str) -> Result<Self> {
        self.filter = filter.parse()?;
        Ok(self)
    }

    /// The filter.
    #[must_use]
    pub fn filter_as(mut self, filter: Filter<'static>) -> Self {
        self.filter = filter;
        self
    }

    /// The attributes to return; `*` selects all user attributes, `+` all operational ones, `1.1` for none.
    #[must_use]
    pub fn attributes<S: AsRef<str>>(mut self, attributes: &[S]) -> Self {
        self.attributes = attributes.iter().map(|name| name.as_ref().to_owned()).collect();
        self
    }

    /// Attribute types without values.
    #[must_use]
    pub const fn types_only(mut self, types_only: bool) -> Self {
        self.types_only = types_only;
        self
    }

    /// Whether aliases are followed.
    #[must_use]
    pub const fn deref(mut self, deref: Deref) -> Self {
        self.deref = deref;
        self
    }

    /// Entries at most, kept by the server; 0 for no limit.
    #[must_use]
    pub fn size_limit(mut self, entries: u32) -> Self {
        self.size_limit = entries.min(i32::MAX as u32);
        self
    }

    /// Seconds at most, kept by the server; 0 for no limit.
    #[must_use]
    pub fn time_limit(mut self, seconds: u32) -> Self {
        self.time_limit = seconds.min(i32::MAX as u32);
        self
    }

    /// A control for the request.
    #[must_use]
    pub fn control(mut self, control: &dyn RequestControl) -> Self {
        self.controls.push(control.control());
        self
    }

    /// Fetches pages of so many entries, one after another; what comes out is one stream all the same.
    #[must_use]
    pub const fn page_size(mut self, entries: u32) -> Self {
        self.page = Some(entries);
        self
    }

    /// How long the next entry may take, in place of the client's own limit; `None` for ever. For a search by datagrams, how long
    /// a server has for its answer.
    #[must_use]
    pub const fn timeout(mut self, timeout: Option<Duration>) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Whether values that come in ranges (`member;range=0-1499`, as Active Directory does) are fetched whole; they are by default.
    /// Entries with such attributes follow the others of their page, once complete. Ranges are left as they come if the search
    /// names one itself, asks for types only, or goes on for ever.
    #[must_use]
    pub const fn ranges(mut self, whole: bool) -> Self {
        self.ranges = whole;
        self
    }

    /// Checks whether ranges of values are followed.
    fn follows_ranges(&self) -> bool {
        // Entries wait for the end of their page, which never comes if the search persists.
        let persists = |control: &Control| {
            [Sync::OID, PersistentSearch::OID, CHANGE_NOTIFICATION].contains(&control.oid.as_str())
        };
        self.ranges
            && !self.types_only
            && !ranges::are_asked_for(&self.attributes)
            && !self.controls.iter().any(persists)
    }

    /// Whether pages are fetched.
    pub(super) const fn is_paged(&self) -> bool {
        self.page.is_some()
    }

    /// How long an answer by datagrams may take, if that is told.
    pub(super) fn wait(&self) -> Option<Duration> {
        self.timeout.flatten()
    }

    /// Writes the request at the end of a buffer.
    pub(super) fn message(&self, id: u32, out: &mut Vec<u8>) -> Result<()> {
        proto::encode(id, self.operation(), &self.controls, out)
    }

    fn operation(&self) -> ProtocolOp<'_> {
        let text = |text: &'_ str| Octets::copied(text.as_bytes());
        ProtocolOp::SearchRequest(asn1::SearchRequest {
            base_object: text(&self.base),
            scope: match self.scope {
                Scope::Base => asn1::SearchRequestScope::BaseObject,
                Scope::One => asn1::SearchRequestScope::SingleLevel,
                Scope::Sub => asn1::SearchRequestScope::WholeSubtree,
                Scope::Children => asn1::SearchRequestScope::SubordinateSubtree,
            },
            deref_aliases: match self.deref {
                Deref::Never => asn1::SearchRequestDerefAliases::NeverDerefAliases,
                Deref::Search => asn1::SearchRequestDerefAliases::DerefInSearching,
                Deref::Find => asn1::SearchRequestDerefAliases::DerefFindingBaseObj,
                Deref::Always => asn1::SearchRequestDerefAliases::DerefAlways,
            },
            size_limit: self.size_limit,
            time_limit: self.time_limit,
            types_only: self.types_only,
            filter: self.filter.clone(),
            attributes: self.attributes.iter().map(|name| text(name)).collect(),
        })
    }
}

/// One thing that a search brings.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Item {
    /// An entry.
    Entry(Entry),
    /// A reference to other servers, if it is not followed.
    Reference(Reference),
    /// An intermediate response.
    Intermediate(Intermediate),
}

/// The answers to a search, as they come. Who drops it before its end abandons the search.
///
/// Reading from the connection stops while a mebibyte waits to be taken, so memory stays bounded; answers to other
/// operations of the same connection wait behind it then.
#[derive(Debug)]
pub struct Entries {
    client: Client,
    search: Search,
    id: u32,
    deliveries: Deliveries,
    run: proto::Entries,
    result: Option<LdapResult>,
    done: bool,
    timer: Option<Pin<Box<Sleep>>>,
    timeout: Option<Duration>,
    followed: Option<Followed>,
    ranged: Ranged,
}

/// Entries of which values are missing. They wait for the end of their page: answers to other searches of the connection would
/// wait behind what is left of the page.
#[derive(Default)]
struct Ranged {
    is_on: bool,
    waiting: VecDeque<Entry>,
    /// Bytes of those that wait.
    size: usize,
    completing: Option<Completing>,
    /// The result of the page, while they are completed.
    result: Option<LdapResult>,
}

type Completing = Pin<Box<dyn Future<Output = Result<Entry>> + Send + std::marker::Sync>>;

impl std::fmt::Debug for Ranged {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ranged")
            .field("waiting", &self.waiting.len())
            .field("size", &self.size)
            .finish_non_exhaustive()
    }
}

/// The state of following referrals.
struct Followed {
    left: VecDeque<(Url, usize)>,
    seen: HashSet<String>,
    hop: usize,
    connecting: Option<Connecting>,
    current: Option<Box<Entries>>,
}

type Connecting = Pin<Box<dyn Future<Output = Result<Entries>> + Send + std::marker::Sync>>;

impl std::fmt::Debug for Followed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Followed").field("left", &self.left).field("hop", &self.hop).finish_non_exhaustive()
    }
}

impl Client {
    /// Starts a search.
    ///
    /// # Errors
    /// The connection has ended.
    #[expect(clippy::unused_async, reason = "starting may have to wait for room one day")]
    pub async fn search(&self, search: Search) -> Result<Entries> {
        Entries::start(self.clone(), search, 0)
    }

    /// All entries of a search, and its result. For searches that are known to be small: use [`Client::search`] for
    /// others.
    ///
    /// # Errors
    /// The search fails.
    pub async fn search_all(&self, search: Search) -> Result<(Vec<Entry>, LdapResult)> {
        let mut entries = self.search(search).await?;
        let mut all = Vec::new();
        while let Some(entry) = entries.next().await? {
            all.push(entry);
        }
        Ok((all, entries.result().cloned().unwrap_or_default()))
    }
}

impl Entries {
    fn start(client: Client, search: Search, hop: usize) -> Result<Self> {
        let (id, deliveries) = Self::page(&client, &search, &[])?;
        let timeout = search.timeout.unwrap_or(client.timeout);
        let ranged = Ranged { is_on: search.follows_ranges(), ..Ranged::default() };
        let followed = client.config.referrals.is_some().then(|| Followed {
            left: VecDeque::new(),
            seen: HashSet::new(),
            hop,
            connecting: None,
            current: None,
        });
        Ok(Self {
            client,
            search,
            id,
            deliveries,
            run: proto::Entries::default(),
            result: None,
            done: false,
            timer: None,
            timeout,
            followed,
            ranged,
        })
    }

    fn page(client: &Client, search: &Search, cookie: &[u8]) -> Result<(u32, Deliveries)> {
        let mut controls: Vec<Control> = client.controls.iter().chain(&search.controls).cloned().collect();
        if let Some(size) = search.page {
            controls.push(PagedResults { size, cookie: cookie.to_vec(), critical: false }.control());
        }
        client.handle.start(search.operation(), &controls)
    }

    /// The next entry; nothing at the end. References and intermediate responses are passed over.
    ///
    /// # Errors
    /// The search fails: with a result code that is no success, with the connection, or in time. Entries that came
    /// before stand.
    pub async fn next(&mut self) -> Result<Option<Entry>> {
        loop {
            match self.next_item().await? {
                Some(Item::Entry(entry)) => return Ok(Some(entry)),
                Some(_) => {}
                None => return Ok(None),
            }
        }
    }

    /// The next of all that comes; nothing at the end.
    ///
    /// # Errors
    /// As [`Entries::next`].
    pub async fn next_item(&mut self) -> Result<Option<Item>> {
        if let Some(entry) = self.ready() {
            return Ok(Some(Item::Entry(entry?)));
        }
        poll_fn(|cx| self.poll_item(cx)).await
    }

    /// The entries that have already come, without waiting: the fast way through large answers.
    ///
    /// # Errors
    /// An entry is malformed.
    #[inline]
    pub fn ready(&mut self) -> Option<Result<Entry>> {
        loop {
            match self.run.next()? {
                Ok(entry) if entry.is_ranged() && self.ranged.is_on => {
                    if let Err(error) = self.ranged.push(&entry) {
                        return Some(self.checked(Err(error)));
                    }
                }
                entry => return Some(self.checked(entry)),
            }
        }
    }

    /// The message ID, for [`Client::cancel`] and for looking at traces.
    #[must_use]
    pub const fn id(&self) -> u32 {
        self.id
    }

    /// The server's result, once the search has ended.
    #[must_use]
    pub const fn result(&self) -> Option<&LdapResult> {
        self.result.as_ref()
    }

    #[inline]
    fn checked(&mut self, entry: Result<Entry>) -> Result<Entry> {
        if entry.is_err() {
            self.done = true;
            self.client.handle.abandon(self.id);
        }
        entry
    }

    fn poll_item(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Item>>> {
        loop {
            if let Some(entry) = self.ready() {
                return Poll::Ready(entry.map(|entry| Some(Item::Entry(entry))));
            }
            if self.ranged.result.is_some() {
                match ready!(self.ranged.poll(cx, &self.client)) {
                    Ok(Some(entry)) => return Poll::Ready(Ok(Some(Item::Entry(entry)))),
                    Ok(None) => {
                        let result = self.ranged.result.take().unwrap_or_default();
                        self.end(result)?;
                        continue;
                    }
                    Err(error) => return Poll::Ready(self.fail(error)),
                }
            }
            if self.done {
                return self.poll_followed(cx);
            }
            let delivery = match self.deliveries.poll_recv(cx) {
                Poll::Ready(Some(Ok(delivery))) => delivery,
                Poll::Ready(Some(Err(error))) => return Poll::Ready(self.fail(error)),
                Poll::Ready(None) => {
                    let error = self.client.handle.closed();
                    let error =
                        error.unwrap_or_else(|| Error::new(ErrorKind::Closed, "the search was given up"));
                    return Poll::Ready(self.fail(error));
                }
                Poll::Pending => {
                    ready!(self.poll_timer(cx));
                    self.client.handle.abandon(self.id);
                    let error = Error::new(ErrorKind::Timeout, "no answer to the search in time");
                    return Poll::Ready(self.fail(error));
                }
            };
            self.client.handle.taken(delivery.octets());
            match delivery {
                Delivery::Entries(incoming) => {
                    self.timer = None;
                    self.run = proto::Entries::new(incoming);
                }
                Delivery::Reply(Reply::Reference(reference)) => {
                    self.timer = None;
                    let hop = self.followed.as_ref().map(|followed| followed.hop);
                    match hop {
                        None => return Poll::Ready(Ok(Some(Item::Reference(reference)))),
                        Some(hop) => self.follow(&reference.urls, hop)?,
                    }
                }
                Delivery::Reply(Reply::Intermediate(response)) => {
                    return Poll::Ready(Ok(Some(Item::Intermediate(response))));
                }
                Delivery::Reply(reply) => match reply.result() {
                    Some(result) if !self.ranged.waiting.is_empty() => {
                        self.ranged.result = Some(result.clone());
                    }
                    Some(result) => self.end(result.clone())?,
                    None => {}
                },
            }
        }
    }

    fn fail(&mut self, error: Error) -> Result<Option<Item>> {
        self.done = true;
        self.followed = None;
        Err(error)
    }

    fn poll_timer(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(timeout) = self.timeout else {
            return Poll::Pending;
        };
        let timer =
            self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(Instant::now() + timeout)));
        timer.as_mut().poll(cx)
    }

    /// The server has said its result: the search ends, goes to its next page, or elsewhere.
    fn end(&mut self, result: LdapResult) -> Result<()> {
        self.done = true;
        self.timer = None;
        if result.code == ResultCode::REFERRAL
            && let Some(hop) = self.followed.as_ref().map(|followed| followed.hop)
        {
            self.follow(&result.referrals, hop)?;
            self.result = Some(LdapResult::default());
            return Ok(());
        }
        let result = result.success()?;
        if self.search.page.is_some()
            && let Some(PagedResults { cookie, .. }) = result.control()?
            && !cookie.is_empty()
        {
            (self.id, self.deliveries) = Self::page(&self.client, &self.search, &cookie)?;
            self.done = false;
        }
        self.result = Some(result);
        Ok(())
    }

    /// Puts the first URL that may be followed on the list.
    fn follow(&mut self, urls: &[String], hop: usize) -> Result<()> {
        let (Some(followed), Some(limits)) = (&mut self.followed, &self.client.config.referrals) else {
            return Ok(());
        };
        if hop >= limits.hops {
            return Err(Error::new(
                ErrorKind::Limit,
                format!("more than {} referrals in a row", limits.hops),
            ));
        }
        let mut parsed = urls.iter().take(100).filter_map(|url| url.parse::<Url>().ok());
        let allowed = |url: &Url| {
            limits.hosts.is_empty() || limits.hosts.iter().any(|host| host.eq_ignore_ascii_case(&url.host))
        };
        let url = parsed
            .find(|url| matches!(url.scheme.as_str(), "ldap" | "ldaps") && allowed(url))
            .ok_or_else(|| {
                Error::new(
                    ErrorKind::Limit,
                    format!("no referral that may be followed: {:.200}", urls.join(" ")),
                )
            })?;
        if !followed.seen.insert(url.to_string()) || self.client.config.urls.contains(&url) {
            return Err(Error::new(ErrorKind::Limit, format!("referrals go round in a circle: {url}")));
        }
        if followed.seen.len() > limits.total {
            return Err(Error::new(ErrorKind::Limit, format!("more than {} referrals", limits.total)));
        }
        followed.left.push_back((url, hop + 1));
        Ok(())
    }

    /// Entries of other servers.
    fn poll_followed(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Item>>> {
        let Some(followed) = &mut self.followed else {
            return Poll::Ready(Ok(None));
        };
        loop {
            if let Some(current) = &mut followed.current {
                match ready!(current.poll_item(cx)) {
                    Ok(Some(item)) => return Poll::Ready(Ok(Some(item))),
                    Ok(None) => followed.current = None,
                    Err(error) => {
                        followed.current = None;
                        followed.left.clear();
                        return Poll::Ready(Err(error));
                    }
                }
            }
            if let Some(connecting) = &mut followed.connecting {
                let connected = ready!(connecting.as_mut().poll(cx));
                followed.connecting = None;
                followed.current = Some(Box::new(connected?));
            } else if let Some((url, hop)) = followed.left.pop_front() {
                let next = elsewhere(
                    self.client.config.clone(),
                    self.search.clone(),
                    url,
                    hop,
                    followed.seen.clone(),
                    self.client.handle.channel().strength() > 1,
                );
                followed.connecting = Some(Box::pin(next));
            } else {
                return Poll::Ready(Ok(None));
            }
        }
    }
}

impl Ranged {
    /// Bytes of entries that may wait for the end of their page.
    const LIMIT: usize = 256 << 20;

    #[cold]
    fn push(&mut self, entry: &Entry) -> Result<()> {
        self.size = self.size.saturating_add(entry.octets().len());
        if self.size > Self::LIMIT {
            let limit = format!("entries with ranges of values exceed {} bytes in one page", Self::LIMIT);
            return Err(Error::new(ErrorKind::Limit, limit));
        }
        self.waiting.push_back(entry.compact());
        Ok(())
    }

    /// Completes the next entry that waits; `None` if there is none.
    fn poll(&mut self, cx: &mut Context<'_>, client: &Client) -> Poll<Result<Option<Entry>>> {
        if self.completing.is_none() {
            let Some(entry) = self.waiting.pop_front() else {
                self.size = 0;
                return Poll::Ready(Ok(None));
            };
            self.completing = Some(Box::pin(ranges::complete(client.clone(), entry)));
        }
        let Some(completing) = &mut self.completing else { return Poll::Ready(Ok(None)) };
        let entry = ready!(completing.as_mut().poll(cx));
        self.completing = None;
        Poll::Ready(entry.map(Some))
    }
}

/// Starts a search where a referral points (RFC 4511 4.1.10): what the URL leaves open stays as it was. Nobody's
/// password goes along.
async fn elsewhere(
    config: Arc<Config>,
    search: Search,
    url: Url,
    hop: usize,
    seen: HashSet<String>,
    encrypted: bool,
) -> Result<Entries> {
    let mut there = Config { urls: vec![url.server()], ..(*config).clone() };
    // A referral from an encrypted connection does not lead to an open one.
    there.start_tls = if encrypted { super::StartTls::Required } else { super::StartTls::No };
    let mut search = search;
    if !url.dn.is_empty() {
        search.base.clone_from(&url.dn);
    }
    if let Some(scope) = url.scope {
        search.scope = scope;
    }
    if let Some(filter) = &url.filter {
        search = search.filter(filter)?;
    }
    let client = Client::connect_with(&there).await?;
    let mut entries = Entries::start(client, search, hop)?;
    if let Some(followed) = &mut entries.followed {
        followed.seen = seen;
    }
    Ok(entries)
}

impl futures_core::Stream for Entries {
    type Item = Result<Entry>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            match ready!(self.poll_item(cx)) {
                Ok(Some(Item::Entry(entry))) => return Poll::Ready(Some(Ok(entry))),
                Ok(Some(_)) => {}
                Ok(None) => return Poll::Ready(None),
                Err(error) => return Poll::Ready(Some(Err(error))),
            }
        }
    }
}

impl Drop for Entries {
    fn drop(&mut self) {
        if !self.done && self.ranged.result.is_none() {
            self.client.handle.abandon(self.id);
        }
        // What still waits has to make room for others.
        self.deliveries.close();
        while let Ok(Ok(delivery)) = self.deliveries.try_recv() {
            self.client.handle.taken(delivery.octets());
        }
    }
}
