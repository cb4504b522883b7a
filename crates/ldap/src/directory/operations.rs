//! What each request does, for one connection.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tercet_runtime::types::Octets;
use tokio::sync::watch;

use super::controls::Controls;
use super::entry::{PASSWORD, Stored, is_password};
use super::observe::{Access, Connected, Seen};
use super::output::Output;
use super::search::{self, Allowance, Query, Task, Turn};
use super::store::{Cursor, Done, parse};
use super::sync::{self, Listener};
use super::{Directory, Settings, Ticket, password};
use crate::controls as known;
use crate::extended::{self, PasswordModify};
use crate::generated::{self as asn1, LdapMessage, ProtocolOp};
use crate::ldif::{ModificationKind, RecordModification};
use crate::matching::Rule;
use crate::proto::{self, Control, LdapResult, Limits, ResponseControl as _, ResultCode};

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
    /// Entries that the request has looked at without an index.
    scanned: AtomicU64,
    _connected: Connected,
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
            scanned: AtomicU64::new(0),
            _connected: connected,
        }
    }

    /// Sets where the connection comes from.
    pub(super) fn from(mut self, address: impl Into<String>) -> Self {
        self.address = address.into();
        self
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
            ProtocolOp::ExtendedReq(request) => return self.extended(id, &request, out).await,
            ProtocolOp::BindRequest(request) => {
                let result = self.bind(&request).await.err().unwrap_or_default();
                let asn1::LdapResult { result_code, matched_dn, diagnostic_message, referral } =
                    to_asn1(&result);
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
        let result = match self.change(&operation, &controls) {
            Ok((result, kept)) => kept.wait().await.err().unwrap_or(result),
            Err(result) => result,
        };
        let answer = answer(&operation, to_asn1(&result));
        let answer = answer.ok_or_else(|| crate::Error::new(crate::ErrorKind::Protocol, "not a request"))?;
        proto::encode(id, answer, &result.controls, &mut out.octets)?;
        Ok(Next::Go)
    }

    async fn bind(&mut self, request: &asn1::BindRequest<'_>) -> Done {
        // Who fails to bind is anonymous (RFC 4513 4).
        self.user.clear();
        if request.version != 3 {
            return Err(LdapResult::new(ResultCode::PROTOCOL_ERROR).with_message("version 3 only"));
        }
        let wrong = || LdapResult::new(ResultCode::INVALID_CREDENTIALS);
        let name = text(&request.name);
        match &request.authentication {
            asn1::AuthenticationChoice::Simple(password) if name.is_empty() && password.is_empty() => Ok(()),
            asn1::AuthenticationChoice::Simple(password) if password.is_empty() => {
                Err(LdapResult::new(ResultCode::UNWILLING_TO_PERFORM).with_message("unauthenticated bind"))
            }
            asn1::AuthenticationChoice::Simple(password) => self.check(&name, password).await,
            asn1::AuthenticationChoice::Sasl(sasl) => {
                let credentials = sasl.credentials.as_deref().unwrap_or_default();
                match sasl.mechanism.to_ascii_uppercase().as_slice() {
                    b"EXTERNAL" => {
                        let peer = self.peer.clone().ok_or_else(wrong)?;
                        self.check_authorization(credentials, &peer)?;
                        self.user = peer;
                        Ok(())
                    }
                    b"PLAIN" => {
                        // RFC 4616: authorization identity, user, password; the last two are never empty.
                        let mut parts = credentials.split(|octet| *octet == 0);
                        let (Some(authorization), Some(user @ [_, ..]), Some(password @ [_, ..]), None) =
                            (parts.next(), parts.next(), parts.next(), parts.next())
                        else {
                            return Err(wrong());
                        };
                        let name = self.name_of(&String::from_utf8_lossy(user)).ok_or_else(wrong)?;
                        self.check(&name, password).await?;
                        let allowed = self.check_authorization(authorization, &name);
                        if allowed.is_err() {
                            self.user.clear();
                        }
                        allowed
                    }
                    _ => Err(LdapResult::new(ResultCode::AUTH_METHOD_NOT_SUPPORTED)
                        .with_message("mechanism unknown")),
                }
            }
            asn1::AuthenticationChoice::Unknown(_) => {
                Err(LdapResult::new(ResultCode::AUTH_METHOD_NOT_SUPPORTED))
            }
        }
    }

    /// Checks that an authorization identity is none, or that of the user: nobody may act for others.
    fn check_authorization(&self, identity: &[u8], name: &str) -> Done {
        if identity.is_empty() {
            return Ok(());
        }
        let other = || {
            LdapResult::new(ResultCode::INSUFFICIENT_ACCESS_RIGHTS)
                .with_message("the authorization identity is not that of the user")
        };
        let identity = std::str::from_utf8(identity).map_err(|_| other())?;
        // RFC 4513 5.2.1.8: `dn:` a name, `u:` a user.
        let named = match (identity.strip_prefix("dn:"), identity.strip_prefix("u:")) {
            (Some(dn), _) => Some(dn.to_owned()),
            (None, Some(user)) => self.name_of(user),
            (None, None) => self.name_of(identity),
        };
        let is_same = named.is_some_and(|named| parse(&named).is_ok_and(|named| parse(name) == Ok(named)));
        if is_same { Ok(()) } else { Err(other()) }
    }

    /// The name of the entry whose `uid` is a user; a name stands for itself.
    fn name_of(&self, user: &str) -> Option<String> {
        if user.contains('=') {
            return Some(user.strip_prefix("dn:").unwrap_or(user).to_owned());
        }
        Some(self.directory.read().of_user(user)?.name().to_owned())
    }

    /// Binds as somebody if the password is right.
    async fn check(&mut self, name: &str, password: &[u8]) -> Done {
        let wrong = || LdapResult::new(ResultCode::INVALID_CREDENTIALS);
        let dn = parse(name)?;
        if let Some((root, secret)) = &self.directory.settings.root
            && parse(root).is_ok_and(|root| root == dn)
        {
            if !password::is_same(secret.as_bytes(), password) {
                return Err(wrong());
            }
        } else {
            let stored = self.directory.read().get(&dn).cloned().ok_or_else(wrong)?;
            if !self.has_password(stored, password.to_vec()).await {
                return Err(wrong());
            }
        }
        self.user = name.to_owned();
        Ok(())
    }

    /// Whether a password is one of an entry.
    async fn has_password(&self, stored: Arc<Stored>, password: Vec<u8>) -> bool {
        let is_slow = stored.values(PASSWORD).any(password::is_slow);
        let check = move || stored.values(PASSWORD).any(|known| password::is_same(known, &password));
        if is_slow { self.directory.shared.scheduler.hash(check).await.unwrap_or(false) } else { check() }
    }

    /// What a search of the user may.
    fn allowance(&self) -> Allowance {
        let Settings { size_limit, time_limit, .. } = *self.directory.settings;
        Allowance { reads_passwords: self.reads_passwords(), size_limit, time_limit }
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

    /// Requests that concern one entry; the answer is a result in either case.
    fn change(&self, operation: &ProtocolOp<'_>, controls: &[Control]) -> Done<(LdapResult, Ticket)> {
        let asked = Controls::read(controls)?;
        if let ProtocolOp::CompareRequest(request) = operation {
            return Ok((self.compare(request, &asked)?, Ticket::default()));
        }
        self.may_write()?;
        let mut store = self.directory.write();
        let name = match operation {
            ProtocolOp::AddRequest(request) => text(&request.entry),
            ProtocolOp::ModifyRequest(request) => text(&request.object),
            ProtocolOp::DelRequest(name) => text(name),
            ProtocolOp::ModDnRequest(request) => text(&request.entry),
            _ => return Err(LdapResult::new(ResultCode::PROTOCOL_ERROR)),
        };
        let dn = parse(&name)?;
        let before = store.get(&dn).cloned();
        search::check_assertion(before.as_deref(), &asked, self.reads_passwords())?;
        if asked.no_op {
            return Ok((LdapResult::new(ResultCode(0x410E)), Ticket::default()));
        }
        let after = match operation {
            ProtocolOp::AddRequest(request) => {
                let attributes =
                    request.attributes.iter().map(|attribute| (text(&attribute.r#type), values(attribute)));
                Some(store.add(&name, attributes.collect(), false)?)
            }
            ProtocolOp::ModifyRequest(request) => {
                let modifications = request.changes.iter().map(modification).collect::<Done<Vec<_>>>()?;
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
        let mut result = LdapResult::default();
        let mut read = |oid: &str, stored: Option<&Arc<Stored>>, names: Option<&Vec<String>>| {
            if let (Some(stored), Some(names)) = (stored, names) {
                result.controls.push(search::read_entry(oid, stored, names, self.reads_passwords()));
            }
        };
        read(known::PreReadEntry::OID, before.as_ref(), asked.pre_read.as_ref());
        read(known::PostReadEntry::OID, after.as_ref(), asked.post_read.as_ref());
        Ok((result, kept))
    }

    /// Returns whether the user may read passwords: only the root user may, so nobody if there is none.
    fn reads_passwords(&self) -> bool {
        let root = self.directory.settings.root.as_ref();
        root.is_some_and(|(root, _)| !self.user.is_empty() && parse(root).ok() == parse(&self.user).ok())
    }

    /// Checks that the directory can be changed at all.
    fn can_write(&self) -> Done {
        if self.directory.settings.read_only {
            return Err(LdapResult::new(ResultCode::UNWILLING_TO_PERFORM).with_message("read-only"));
        }
        #[cfg(feature = "store")]
        if self.directory.shared.keeper.as_ref().is_some_and(super::kept::Keeper::has_failed) {
            let message = "an earlier change could not be written to disk";
            return Err(LdapResult::new(ResultCode::UNAVAILABLE).with_message(message));
        }
        Ok(())
    }

    fn may_write(&self) -> Done {
        self.can_write()?;
        match &self.directory.settings.root {
            Some((root, _)) if parse(root).ok() != parse(&self.user).ok() => {
                Err(LdapResult::new(ResultCode::INSUFFICIENT_ACCESS_RIGHTS)
                    .with_message("only the root user may write"))
            }
            _ => Ok(()),
        }
    }

    fn compare(&self, request: &asn1::CompareRequest<'_>, asked: &Controls) -> Done<LdapResult> {
        let stored = Arc::clone(self.directory.read().find(&parse(&text(&request.entry))?)?);
        search::check_assertion(Some(&stored), asked, self.reads_passwords())?;
        let name = text(&request.ava.attribute_desc);
        if !self.reads_passwords() && is_password(&name) {
            return Err(LdapResult::new(ResultCode::INSUFFICIENT_ACCESS_RIGHTS));
        }
        let rule = Rule::of_attribute(&name);
        let key = rule.normalize(&request.ava.assertion_value);
        let operational = stored.operational(&name);
        let mut values = stored.values(&name).chain(operational.as_deref()).peekable();
        if values.peek().is_none() {
            return Err(LdapResult::new(ResultCode::NO_SUCH_ATTRIBUTE));
        }
        let equal = values.any(|value| rule.normalize(value) == key);
        Ok(LdapResult::new(if equal { ResultCode::COMPARE_TRUE } else { ResultCode::COMPARE_FALSE }))
    }

    async fn extended(
        &mut self,
        id: u32,
        request: &asn1::ExtendedRequest<'_>,
        out: &mut Output<'_>,
    ) -> crate::Result<Next> {
        let value = request.request_value.as_deref().unwrap_or_default();
        let name = text(&request.request_name);
        let mut next = Next::Go;
        let done: Done<Option<Vec<u8>>> =
            match name.as_str() {
                extended::START_TLS if self.offers_tls => {
                    self.offers_tls = false;
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
        let (result, value) = match done {
            Ok(value) => (LdapResult::default(), value),
            Err(result) => (result, None),
        };
        let asn1::LdapResult { result_code, matched_dn, diagnostic_message, referral } = to_asn1(&result);
        let answer = asn1::ExtendedResponse {
            result_code,
            matched_dn,
            diagnostic_message,
            referral,
            response_name: (name == extended::START_TLS)
                .then(|| Octets::borrowed(extended::START_TLS.as_bytes())),
            response_value: value.as_deref().map(Octets::borrowed),
        };
        proto::encode(id, ProtocolOp::ExtendedResp(answer), &[], &mut out.octets)?;
        Ok(next)
    }

    async fn modify_password(&self, value: &[u8]) -> Done<Option<Vec<u8>>> {
        let fault =
            |error: crate::Error| LdapResult::new(ResultCode::PROTOCOL_ERROR).with_message(error.to_string());
        let request = PasswordModify::read(value).map_err(fault)?;
        let name = request.user.unwrap_or_else(|| self.user.clone());
        let name = self.name_of(&name).ok_or_else(|| LdapResult::new(ResultCode::NO_SUCH_OBJECT))?;
        let dn = parse(&name)?;
        self.can_write()?;
        if self.user.is_empty() || parse(&self.user).ok().as_ref() != Some(&dn) {
            self.may_write()?;
        }
        let stored = Arc::clone(self.directory.read().find(&dn)?);
        if let Some(old) = request.old
            && !self.has_password(stored, old).await
        {
            return Err(
                LdapResult::new(ResultCode::UNWILLING_TO_PERFORM).with_message("the old password is wrong")
            );
        }
        let generated = match &request.new {
            Some(_) => None,
            None => Some(
                crate::sasl::nonce().map_err(fault)?.into_bytes().into_iter().take(12).collect::<Vec<u8>>(),
            ),
        };
        let password = request.new.or_else(|| generated.clone()).unwrap_or_default();
        let hashed = self.directory.shared.scheduler.hash(move || password::hashed(&password)).await;
        let hashed = hashed.ok_or_else(|| LdapResult::new(ResultCode::OTHER))?.map_err(fault)?;
        let (kind, attribute) = (ModificationKind::Replace, PASSWORD.to_owned());
        let change = RecordModification { kind, attribute, values: vec![hashed] };
        let kept = {
            let mut store = self.directory.write();
            store.modify(&name, &[change])?;
            store.keep()
        };
        kept.wait().await?;
        Ok(generated.map(|password| PasswordModify::answer(&password)))
    }
}

/// The end of a search.
pub(super) fn done(id: u32, result: &LdapResult, out: &mut Vec<u8>) -> crate::Result<()> {
    proto::encode(id, ProtocolOp::SearchResDone(to_asn1(result)), &result.controls, out)
}

/// The answer to a request that concerns one entry.
fn answer<'r>(request: &ProtocolOp<'_>, result: asn1::LdapResult<'r>) -> Option<ProtocolOp<'r>> {
    Some(match request {
        ProtocolOp::AddRequest(_) => ProtocolOp::AddResponse(result),
        ProtocolOp::ModifyRequest(_) => ProtocolOp::ModifyResponse(result),
        ProtocolOp::DelRequest(_) => ProtocolOp::DelResponse(result),
        ProtocolOp::ModDnRequest(_) => ProtocolOp::ModDnResponse(result),
        ProtocolOp::CompareRequest(_) => ProtocolOp::CompareResponse(result),
        _ => return None,
    })
}

fn values(attribute: &asn1::PartialAttribute<'_>) -> Vec<Vec<u8>> {
    attribute.vals.iter().map(|value| value.to_vec()).collect()
}

fn modification(change: &asn1::Change<'_>) -> Done<RecordModification> {
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

fn to_asn1(result: &LdapResult) -> asn1::LdapResult<'_> {
    let octets = |text: &'_ str| Octets::copied(text.as_bytes());
    let number = i64::from(result.code.0);
    let urls = result.referrals.iter().map(|url| octets(url)).collect::<Vec<_>>();
    asn1::LdapResult {
        result_code: asn1::ResultCode::from_number(number).unwrap_or(asn1::ResultCode::Unknown(number)),
        matched_dn: octets(&result.matched_dn),
        diagnostic_message: octets(&result.message),
        referral: (!urls.is_empty()).then_some(urls),
    }
}
