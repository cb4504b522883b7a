//! The client without async: each call runs a small runtime of its own until it is done.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

use crate::client::{self, Answer, Cldap, Config, Item, Search};
use crate::error::Result;
use crate::extended::PasswordModify;
use crate::ldif::{Record, RecordModification};
use crate::proto::{Entry, Extended, LdapResult, RequestControl};
use crate::sasl::Mechanism;

/// A connection; see [`crate::Client`] for what its operations do. Nothing is sent or received between calls.
#[derive(Clone, Debug)]
pub struct Client {
    runtime: Arc<Runtime>,
    client: client::Client,
}

/// Searches by datagrams.
///
/// # Errors
/// As [`Cldap::search`].
pub fn search_by_datagrams(servers: &Cldap, search: &Search) -> Result<Answer> {
    runtime()?.block_on(servers.search(search))
}

fn runtime() -> Result<Runtime> {
    Ok(Builder::new_current_thread().enable_all().build()?)
}

/// The answers to a search.
#[derive(Debug)]
pub struct Entries {
    runtime: Arc<Runtime>,
    entries: client::Entries,
}

macro_rules! forward {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $ty:ty),*) -> $output:ty;)*) => {$(
        $(#[$doc])*
        ///
        /// # Errors
        /// As the operation of [`crate::Client`].
        pub fn $name(&self, $($argument: $ty),*) -> Result<$output> {
            self.runtime.block_on(self.client.$name($($argument),*))
        }
    )*};
}

impl Client {
    /// Connects to a server.
    ///
    /// # Errors
    /// As [`crate::Client::connect_with`].
    pub fn connect(url: &str) -> Result<Self> {
        Self::connect_with(&Config::new(url)?)
    }

    /// Connects to the first server of a list that can be reached.
    ///
    /// # Errors
    /// As [`crate::Client::connect_with`].
    pub fn connect_with(config: &Config) -> Result<Self> {
        let runtime = runtime()?;
        let client = runtime.block_on(client::Client::connect_with(config))?;
        Ok(Self { runtime: Arc::new(runtime), client })
    }

    /// A handle whose operations go with these controls too.
    #[must_use]
    pub fn with(&self, controls: &[&dyn RequestControl]) -> Self {
        Self { runtime: Arc::clone(&self.runtime), client: self.client.with(controls) }
    }

    /// A handle whose operations have this long for their answer.
    #[must_use]
    pub fn with_timeout(&self, timeout: Option<Duration>) -> Self {
        Self { runtime: Arc::clone(&self.runtime), client: self.client.with_timeout(timeout) }
    }

    /// Ends the connection, for all handles to it.
    pub fn close(&self) {
        self.client.close();
    }

    /// Whether the connection has ended, as far as a call has seen it.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// Starts a search.
    ///
    /// # Errors
    /// As [`crate::Client::search`].
    pub fn search(&self, search: Search) -> Result<Entries> {
        let entries = self.runtime.block_on(self.client.search(search))?;
        Ok(Entries { runtime: Arc::clone(&self.runtime), entries })
    }

    /// Adds an entry.
    ///
    /// # Errors
    /// As [`crate::Client::add`].
    pub fn add<V: AsRef<[u8]>>(&self, dn: &str, attributes: &[(&str, &[V])]) -> Result<LdapResult> {
        self.runtime.block_on(self.client.add(dn, attributes))
    }

    forward! {
        /// Binds with a name and a password.
        bind(dn: &str, password: &str) -> LdapResult;
        /// Binds by a SASL mechanism.
        bind_sasl(mechanism: Box<dyn Mechanism>) -> LdapResult;
        /// Encrypts a connection that is open until now.
        start_tls() -> LdapResult;
        /// All entries of a search, and its result.
        search_all(search: Search) -> (Vec<Entry>, LdapResult);
        /// Changes an entry.
        modify(dn: &str, modifications: &[RecordModification]) -> LdapResult;
        /// Deletes an entry and all below it, children first.
        delete_subtree(dn: &str) -> u64;
        /// Deletes an entry.
        delete(dn: &str) -> LdapResult;
        /// Gives an entry another name.
        modify_dn(dn: &str, new_rdn: &str, delete_old: bool, superior: Option<&str>) -> LdapResult;
        /// Whether an entry has a value.
        compare(dn: &str, attribute: &str, value: &[u8]) -> bool;
        /// Does what a record of LDIF says.
        apply(record: &Record) -> LdapResult;
        /// An extended operation.
        extended(name: &str, value: Option<&[u8]>) -> Extended;
        /// Who the server takes the user for.
        who_am_i() -> String;
        /// Changes a password.
        modify_password(request: &PasswordModify) -> Option<Vec<u8>>;
        /// Cancels an operation.
        cancel(id: u32) -> LdapResult;
        /// Begins a transaction.
        start_transaction() -> Vec<u8>;
        /// Ends a transaction.
        end_transaction(identifier: &[u8], commit: bool) -> LdapResult;
    }
}

impl Entries {
    /// The next of all that comes; nothing at the end.
    ///
    /// # Errors
    /// As [`crate::Entries::next`].
    pub fn next_item(&mut self) -> Result<Option<Item>> {
        self.runtime.block_on(self.entries.next_item())
    }

    /// The message ID, for [`Client::cancel`].
    #[must_use]
    pub const fn id(&self) -> u32 {
        self.entries.id()
    }

    /// The server's result, once the search has ended.
    #[must_use]
    pub const fn result(&self) -> Option<&LdapResult> {
        self.entries.result()
    }
}

impl Iterator for Entries {
    type Item = Result<Entry>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(ready) = self.entries.ready() {
            return Some(ready);
        }
        self.runtime.block_on(self.entries.next()).transpose()
    }
}
