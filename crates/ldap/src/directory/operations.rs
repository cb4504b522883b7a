//! What each request does, for one connection.

mod bind;
mod changes;

pub(crate) use changes::modification;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tercet_runtime::types::Octets;
use tokio::sync::watch;

use super::access::{Origin, Permissions};
use super::controls::Controls;
use super::entry::Stored;
use super::observe::{Access, Connected, Seen};
use super::output::Output;
use super::policy::{self, PasswordRules};
use super::search::{self, Allowance, Query, Task, Turn};
use super::store::{Cursor, Done, Store};
use super::sync::{self, Listener};
use super::{Directory, Settings};
use crate::controls::PasswordPolicy;
use crate::extended;
use crate::generated::{self as asn1, LdapMessage, ProtocolOp};
use crate::proto::{self, Control, LdapResult, Limits, ResponseControl, ResultCode};

/// What a connection has come to.
#[derive(Debug)]
pub(super) struct Session {
    directory: Directory,
    /// Who is bound; empty for anonymous.
    user: String,
    /// Who is at the other end of a socket of this host.
    peer: Option<String>,
    /// Whether StartTLS can be done: there is TLS, and it is not there yet.
    offers_tls: bool,
    /// Searches that go on.
    listeners: Vec<Listener>,
    /// The number of the connection, and where it comes from.
    connection: u64,
    address: String,
    is_tls: bool,
    /// What the rules for passwords say of the last bind, and whether the password has to be changed before anything else.
    judged: PasswordPolicy,
    must_change: bool,
    /// Entries that the request has looked at without an index.
    scanned: AtomicU64,
    _connected: Arc<Connected>,
}

/// Searches of one connection that may go on at the same time.
const LISTENERS: usize = 100;

/// What follows an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    Go,
    /// TLS begins when the answer is sent.
    Upgrade,
    /// The connection ends.
    End,
}

fn text(octets: &Octets<'_>) -> String {
    String::from_utf8_lossy(octets).into_owned()
}

impl Session {
    pub(super) fn new(directory: Directory, peer: Option<String>, offers_tls: bool) -> Self {
        let (connected, connection) = directory.shared.observer.connected();
        Self {
            directory,
            user: String::new(),
            peer,
            offers_tls,
            listeners: Vec::new(),
            connection,
            address: String::new(),
            is_tls: false,
            judged: PasswordPolicy::default(),
            must_change: false,
            scanned: AtomicU64::new(0),
            _connected: Arc::new(connected),
        }
    }

    /// Sets where the connection comes from.
    pub(super) fn from(mut self, address: impl Into<String>) -> Self {
        self.address = address.into();
        self
    }

    /// Sets that the connection has TLS from its first octet.
    pub(super) const fn with_tls(mut self, is_tls: bool) -> Self {
        self.is_tls = is_tls;
        self
    }

    /// Sets whether the connection has TLS.
    pub(super) const fn set_tls(&mut self, is_tls: bool) {
        self.is_tls = is_tls;
    }

    /// Returns another session of the connection, for a search that runs at the same time as others.
    pub(super) fn sibling(&self) -> Self {
        Self {
            directory: self.directory.clone(),
            user: self.user.clone(),
            peer: self.peer.clone(),
            offers_tls: false,
            listeners: Vec::new(),
            connection: self.connection,
            address: self.address.clone(),
            is_tls: self.is_tls,
            judged: self.judged,
            must_change: self.must_change,
            scanned: AtomicU64::new(0),
            _connected: Arc::clone(&self._connected),
        }
    }

    /// Returns who is bound.
    pub(super) fn user(&self) -> &str {
        &self.user
    }

    /// How long the connection may be without a request.
    pub(super) fn idle(&self) -> Option<Duration> {
        self.directory.settings.idle.filter(|_| !self.listens())
    }

    /// Answers a message, and reports it where that is asked for.
    ///
    /// # Errors
    /// Those of [`Session::answer`].
    pub(super) async fn observed(
        &mut self,
        octets: &[u8],
        limits: &Limits,
        out: &mut Output<'_>,
    ) -> crate::Result<Next> {
        if !self.directory.shared.observer.is_on() {
            return self.answer(octets, limits, out).await;
        }
        let (begin, user) = (Instant::now(), self.user.clone());
        self.scanned.store(0, Ordering::Relaxed);
        out.watch();
        let next = self.answer(octets, limits, out).await;
        let Seen { entries, code, bytes } = out.seen();
        self.directory.shared.observer.operation(&Access {
            connection: self.connection,
            peer: &self.address,
            user: &user,
            time: begin.elapsed(),
            request: octets,
            code,
            entries,
            scanned: self.scanned.load(Ordering::Relaxed),
            bytes,
        });
        next
    }

    /// Answers a message.
    ///
    /// # Errors
    /// The message is malformed, or the client cannot be reached, so that the connection has to end.
    pub(super) async fn answer(
        &mut self,
        octets: &[u8],
        limits: &Limits,
        out: &mut Output<'_>,
    ) -> crate::Result<Next> {
        let LdapMessage { message_id: id, protocol_op: operation, controls } = proto::decode(octets, limits)?;
        let controls: Vec<Control> = controls
            .unwrap_or_default()
            .into_iter()
            .map(proto::control::from_asn1)
            .collect::<crate::Result<_>>()?;
        match operation {
            ProtocolOp::UnbindRequest(()) => return Ok(Next::End),
            ProtocolOp::AbandonRequest(id) => {
                self.abandon(id);
                return Ok(Next::Go);
            }
            ProtocolOp::SearchRequest(_) if self.must_change => {
                done(id, &PasswordRules::change_first(), &mut out.octets)?;
                return Ok(Next::Go);
            }
            ProtocolOp::SearchRequest(request) => {
                let query =
                    Controls::read(&controls).and_then(|asked| Query::new(&request, asked, self.allowance()));
                drop(request);
                let result = match query {
                    Ok(query) => self.search(id, Arc::new(query), out).await?,
                    Err(result) => Some(result),
                };
                if let Some(result) = result {
                    done(id, &result, &mut out.octets)?;
                }
                return Ok(Next::Go);
            }
            ProtocolOp::ExtendedReq(request) => return self.extended(id, &request, &controls, out).await,
            ProtocolOp::BindRequest(request) => {
                let mut result = self.bind(&request).await.err().unwrap_or_default();
                if result.controls.is_empty() && self.directory.settings.password_rules.is_some() {
                    result.controls.push(policy::control(&self.judged));
                }
                self.show_rules(&controls, &mut result);
                let asn1::LdapResult { result_code, matched_dn, diagnostic_message, referral } =
                    result.to_asn1();
                let answer = asn1::BindResponse {
                    result_code,
                    matched_dn,
                    diagnostic_message,
                    referral,
                    server_sasl_creds: None,
                };
                proto::encode(id, ProtocolOp::BindResponse(answer), &result.controls, &mut out.octets)?;
                return Ok(Next::Go);
            }
            _ => {}
        }
        // A change is answered when it is on disk.
        let judged = self.judge(&operation).await;
        let mut result = match judged.and_then(|judged| self.change(&operation, &controls, &judged)) {
            Ok((result, kept)) => kept.wait().await.err().unwrap_or(result),
            Err(result) => result,
        };
        self.show_rules(&controls, &mut result);
        let answer = proto::answer(&operation, &result);
        let answer = answer.ok_or_else(|| crate::Error::new(crate::ErrorKind::Protocol, "not a request"))?;
        proto::encode(id, answer, &result.controls, &mut out.octets)?;
        Ok(Next::Go)
    }

    /// Removes what the rules for passwords say if it is not asked for.
    fn show_rules(&self, controls: &[Control], result: &mut LdapResult) {
        let oid = <PasswordPolicy as ResponseControl>::OID;
        if !controls.iter().any(|control| control.oid == oid) {
            result.controls.retain(|control| control.oid != oid);
        }
    }

    /// What a search of the user may.
    fn allowance(&self) -> Allowance {
        let Settings { size_limit, time_limit, .. } = *self.directory.settings;
        Allowance { access: Arc::new(self.access(&self.directory.read())), size_limit, time_limit }
    }

    /// Searches; gives the result unless the search goes on.
    ///
    /// # Errors
    /// The client cannot be reached.
    async fn search(
        &mut self,
        id: u32,
        query: Arc<Query>,
        out: &mut Output<'_>,
    ) -> crate::Result<Option<LdapResult>> {
        if query.is_of_root() {
            let dse = search::root_dse(&self.directory.read(), self.offers_tls);
            query.put_root(&mut out.octets, id, &dse);
            return Ok(Some(LdapResult::default()));
        }
        if query.is_of_subschema() {
            query.put_root(&mut out.octets, id, self.directory.settings.subschema.parsed().entry());
            return Ok(Some(LdapResult::default()));
        }
        let Some(sync) = query.sync() else {
            let begun = {
                let store = self.directory.read();
                query
                    .check(&store)
                    .and_then(|()| Ok((Task::new(id, Arc::clone(&query))?, query.walk(&store))))
            };
            return match begun {
                Ok((task, cursor)) => self.run(task, cursor, out).await.map(Some),
                Err(result) => Ok(Some(result)),
            };
        };
        let refresh = sync::begin(&self.directory.read(), &query, sync);
        let refresh = match refresh {
            Ok(_) if sync.persist && self.listeners.len() >= LISTENERS => {
                let message = "too many searches that go on";
                return Ok(Some(LdapResult::new(ResultCode::ADMIN_LIMIT_EXCEEDED).with_message(message)));
            }
            Ok(refresh) => refresh,
            Err(result) => return Ok(Some(result)),
        };
        match &refresh.changed {
            Some(changed) => {
                if let Err(result) = sync::put_changes(&query, id, changed, None, &mut out.octets) {
                    return Ok(Some(result));
                }
            }
            None => {
                let cursor = query.walk(&self.directory.read());
                let result = self.run(refresh.task(id, &query), cursor, out).await?;
                if result.code != ResultCode::SUCCESS {
                    return Ok(Some(result));
                }
            }
        }
        match refresh.end(id, &query, sync.persist, &mut out.octets) {
            Ok(result) => Ok(Some(result)),
            Err(listener) => {
                self.listeners.push(listener);
                Ok(None)
            }
        }
    }

    /// Walks over entries and sends what is found; gives the result.
    ///
    /// # Errors
    /// The client cannot be reached.
    async fn run(
        &self,
        mut task: Task,
        mut cursor: Cursor,
        out: &mut Output<'_>,
    ) -> crate::Result<LdapResult> {
        cursor.arrange();
        let is_scan = matches!(cursor, Cursor::Tree { .. });
        let mut turns = 0;
        loop {
            let entries = self.directory.read().advance(&mut cursor);
            if entries.is_empty() {
                break;
            }
            if is_scan {
                self.scanned.fetch_add(entries.len() as u64, Ordering::Relaxed);
            }
            match self.send(task, &entries, &mut turns, out).await? {
                (next, Turn::Done) => task = next,
                (next, Turn::Complete) => return Ok(next.finish(&mut out.octets)),
                _ => return Ok(LdapResult::new(ResultCode::TIME_LIMIT_EXCEEDED)),
            }
        }
        if !task.is_sorted() {
            return Ok(task.finish(&mut out.octets));
        }
        let sort = move || {
            let sorted = task.sort();
            (task, sorted)
        };
        let Some((task, sorted)) = self.directory.shared.scheduler.hash(sort).await else {
            return Ok(LdapResult::new(ResultCode::OTHER));
        };
        let sorted = match sorted {
            Ok(sorted) => sorted,
            Err(result) => return Ok(result),
        };
        match self.send(task, &sorted, &mut turns, out).await? {
            (task, Turn::Done | Turn::Complete) => Ok(task.finish(&mut out.octets)),
            _ => Ok(LdapResult::new(ResultCode::TIME_LIMIT_EXCEEDED)),
        }
    }

    /// Looks at some entries and sends what is found of them.
    async fn send(
        &self,
        mut task: Task,
        entries: &[Arc<Stored>],
        turns: &mut u64,
        out: &mut Output<'_>,
    ) -> crate::Result<(Task, Turn)> {
        let mut at = 0;
        loop {
            out.relieve().await?;
            let octets = std::mem::take(&mut out.octets);
            let rest = entries.get(at..).unwrap_or_default();
            let turn;
            (task, out.octets, turn) = self.directory.shared.scheduler.work(task, rest, octets, turns).await;
            match turn {
                Turn::Full(index) => at += index,
                turn => return Ok((task, turn)),
            }
        }
    }

    /// Hears of changes of the directory.
    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.directory.changes()
    }

    /// Whether there are searches that go on.
    pub(super) const fn listens(&self) -> bool {
        !self.listeners.is_empty()
    }

    /// Reports to the searches that go on what has changed.
    ///
    /// # Errors
    /// The client cannot be reached.
    pub(super) async fn report(&mut self, out: &mut Output<'_>) -> crate::Result<()> {
        let mut ended = Vec::new();
        for (index, listener) in self.listeners.iter_mut().enumerate() {
            let news = listener.news(&self.directory.read());
            let reported =
                news.and_then(|(changed, cookie)| listener.report(&changed, &cookie, &mut out.octets));
            if let Err(result) = reported {
                done(listener.id, &result, &mut out.octets)?;
                ended.push(index);
            }
            out.relieve().await?;
        }
        for index in ended.into_iter().rev() {
            self.listeners.remove(index);
        }
        Ok(())
    }

    /// Ends a search that goes on; all others have ended when the next request is read.
    fn cancel(&mut self, value: &[u8], out: &mut Vec<u8>) -> Done<Option<Vec<u8>>> {
        let fault =
            |error: crate::Error| LdapResult::new(ResultCode::PROTOCOL_ERROR).with_message(error.to_string());
        let id = extended::read_cancel(value).map_err(fault)?;
        if !self.abandon(id) {
            return Err(LdapResult::new(ResultCode::NO_SUCH_OPERATION));
        }
        done(id, &LdapResult::new(ResultCode::CANCELED), out).map_err(fault)?;
        Ok(None)
    }

    /// Ends a search that goes on without a word; gives whether there was one.
    fn abandon(&mut self, id: u32) -> bool {
        let before = self.listeners.len();
        self.listeners.retain(|listener| listener.id != id);
        self.listeners.len() < before
    }

    /// What the user may do.
    fn access(&self, store: &Store) -> Permissions {
        let Settings { acl, root, .. } = &*self.directory.settings;
        let origin = Origin { user: &self.user, address: &self.address, is_tls: self.is_tls };
        Permissions::new(acl.as_ref(), root.as_ref().map(|(root, _)| root.as_str()), origin, store)
    }

    async fn extended(
        &mut self,
        id: u32,
        request: &asn1::ExtendedRequest<'_>,
        controls: &[Control],
        out: &mut Output<'_>,
    ) -> crate::Result<Next> {
        let value = request.request_value.as_deref().unwrap_or_default();
        let name = text(&request.request_name);
        let mut next = Next::Go;
        let done: Done<Option<Vec<u8>>> =
            match name.as_str() {
                extended::START_TLS if self.offers_tls => {
                    self.offers_tls = false;
                    self.is_tls = true;
                    next = Next::Upgrade;
                    Ok(None)
                }
                extended::WHO_AM_I => {
                    let user = &self.user;
                    Ok(Some(if user.is_empty() { Vec::new() } else { format!("dn:{user}").into_bytes() }))
                }
                extended::PASSWORD_MODIFY => self.modify_password(value).await,
                extended::CANCEL => self.cancel(value, &mut out.octets),
                _ => Err(LdapResult::new(ResultCode::PROTOCOL_ERROR)
                    .with_message("unsupported extended operation")),
            };
        let (mut result, value) = match done {
            Ok(value) => (LdapResult::default(), value),
            Err(result) => (result, None),
        };
        self.show_rules(controls, &mut result);
        let asn1::LdapResult { result_code, matched_dn, diagnostic_message, referral } = result.to_asn1();
        let answer = asn1::ExtendedResponse {
            result_code,
            matched_dn,
            diagnostic_message,
            referral,
            response_name: (name == extended::START_TLS)
                .then(|| Octets::borrowed(extended::START_TLS.as_bytes())),
            response_value: value.as_deref().map(Octets::borrowed),
        };
        proto::encode(id, ProtocolOp::ExtendedResp(answer), &result.controls, &mut out.octets)?;
        Ok(next)
    }
}

/// The end of a search.
pub(super) fn done(id: u32, result: &LdapResult, out: &mut Vec<u8>) -> crate::Result<()> {
    proto::encode(id, ProtocolOp::SearchResDone(result.to_asn1()), &result.controls, out)
}
