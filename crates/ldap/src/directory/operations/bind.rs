//! Who is bound: bind requests, and passwords.

use std::sync::Arc;

use super::super::acl::Right;
use super::super::entry::{PASSWORD, Stored};
use super::super::password;
use super::super::policy::New;
use super::super::store::{Done, parse};
use super::{Session, text};
use crate::controls::PasswordPolicy;
use crate::extended::PasswordModify;
use crate::generated as asn1;
use crate::ldif::{ModificationKind, RecordModification};
use crate::proto::{LdapResult, ResultCode};

impl Session {
    pub(super) async fn bind(&mut self, request: &asn1::BindRequest<'_>) -> Done {
        // Who fails to bind is anonymous (RFC 4513 4).
        self.user.clear();
        self.judged = PasswordPolicy::default();
        self.must_change = false;
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
            let stored = {
                let store = self.directory.read();
                let access = self.access(&store);
                store.get(&dn).filter(|stored| access.may_bind(stored)).cloned()
            };
            let stored = stored.ok_or_else(wrong)?;
            let rules = self.directory.settings.password_rules.clone();
            if let Some(rules) = &rules {
                rules.check_lock(&stored)?;
            }
            let is_right = self.has_password(Arc::clone(&stored), password.to_vec()).await;
            if let Some(rules) = &rules {
                if !is_right {
                    self.note(stored.name(), rules.failed(&stored)).await?;
                    return Err(wrong());
                }
                let accepted = rules.succeeded(&stored)?;
                self.note(stored.name(), accepted.state).await?;
                self.judged = accepted.answer;
                self.must_change = accepted.must_change;
            }
            if !is_right {
                return Err(wrong());
            }
        }
        self.user = name.to_owned();
        Ok(())
    }

    /// Keeps what the rules for passwords need of an entry.
    async fn note(&self, name: &str, state: Vec<RecordModification>) -> Done {
        if state.is_empty() || self.can_write().is_err() {
            return Ok(());
        }
        let kept = {
            let mut store = self.directory.write();
            store.modify(name, &state)?;
            store.keep()
        };
        kept.wait().await
    }

    /// Checks a new password by the rules, if there are any; returns what changes beside it.
    pub(super) async fn check_new(
        &self,
        stored: Option<Arc<Stored>>,
        password: Vec<u8>,
        has_old: bool,
        by_user: bool,
    ) -> Done<Vec<RecordModification>> {
        let Some(rules) = self.directory.settings.password_rules.clone() else { return Ok(Vec::new()) };
        let check = move || rules.changed(stored.as_deref(), &New { password: &password, has_old, by_user });
        let changed = self.directory.shared.scheduler.hash(check).await;
        Ok(changed.ok_or_else(|| LdapResult::new(ResultCode::OTHER))??.state)
    }

    /// Makes what is kept of a password; what is made of one already stays as it is.
    pub(super) async fn made_of(&self, password: Vec<u8>) -> Done<Vec<u8>> {
        if password::has_scheme(&password) {
            return Ok(password);
        }
        let hashed = self.directory.shared.scheduler.hash(move || password::hashed(&password)).await;
        hashed
            .ok_or_else(|| LdapResult::new(ResultCode::OTHER))?
            .map_err(|error| LdapResult::new(ResultCode::OTHER).with_message(error.to_string()))
    }

    /// Whether a password is one of an entry.
    async fn has_password(&self, stored: Arc<Stored>, password: Vec<u8>) -> bool {
        let is_slow = stored.values(PASSWORD).any(password::is_slow);
        let check = move || stored.values(PASSWORD).any(|known| password::is_same(known, &password));
        if is_slow { self.directory.shared.scheduler.hash(check).await.unwrap_or(false) } else { check() }
    }

    pub(super) async fn modify_password(&mut self, value: &[u8]) -> Done<Option<Vec<u8>>> {
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
        let stored = {
            let store = self.directory.read();
            let access = self.access(&store);
            let stored = store.find(&dn).cloned().map_err(|result| access.hide_matched(result, &store))?;
            if !access.is_open() {
                access.check(&stored, Right::Write, PASSWORD)?;
            }
            stored
        };
        let has_old = request.old.is_some();
        if let Some(old) = request.old
            && !self.has_password(Arc::clone(&stored), old).await
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
        let by_user = parse(&self.user).ok().as_ref() == Some(&dn);
        let state = self.check_new(Some(stored), password.clone(), has_old, by_user).await?;
        let hashed = self.directory.shared.scheduler.hash(move || password::hashed(&password)).await;
        let hashed = hashed.ok_or_else(|| LdapResult::new(ResultCode::OTHER))?.map_err(fault)?;
        let (kind, attribute) = (ModificationKind::Replace, PASSWORD.to_owned());
        let change = RecordModification { kind, attribute, values: vec![hashed] };
        let kept = {
            let mut store = self.directory.write();
            store.modify(&name, &[&[change][..], &state].concat())?;
            store.keep()
        };
        kept.wait().await?;
        self.must_change &= !by_user;
        Ok(generated.map(|password| PasswordModify::answer(&password)))
    }
}
