//! A directory in memory, with the feature `store` on disk too: all operations of LDAP on entries that LDIF or requests bring.
//!
//! Attributes compare by the rules of the schema, and those that it has not as [`crate::matching`] knows them; any may stand in any entry
//! unless the schema is checked
//! ([`Directory::with_schema_check`]). Without rules of access
//! ([`Acl`]), only the root user may write if there is one, and `userPassword` can be read, compared and searched for by the root
//! user alone.
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! use tercet_ldap::directory::Directory;
//! use tercet_ldap::{Client, Search};
//!
//! let directory = Directory::new();
//! directory.load("dn: o=test\nobjectClass: organization\no: test\n".as_bytes())?;
//! let server = directory.listen("127.0.0.1:0").await?;
//!
//! let client = Client::connect(&server.url()).await?;
//! let (entries, _) = client.search_all(Search::new("o=test")).await?;
//! assert_eq!(entries[0].dn(), "o=test");
//! # Ok::<(), tercet_ldap::Error>(())
//! # }).unwrap();
//! ```

mod access;
mod acl;
mod around;
mod constraints;
mod controls;
mod datagrams;
mod entry;
mod handled;
mod index;
#[cfg(feature = "store")]
mod kept;
mod metrics;
mod observe;
mod operations;
mod output;
mod password;
mod policy;
mod scheduler;
mod search;
mod self_signed;
mod server;
mod store;
mod subschema;
mod sync;
mod view;

use std::io::BufRead;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

pub use acl::{Acl, Decision, Requester, Right};
pub use around::PasswordPolicy;
pub(crate) use handled::Handled;
pub use index::IndexSpec;
#[cfg(feature = "store")]
pub use kept::{Checked, Durability};
pub(crate) use observe::{Access as Observed, Observer};
pub(crate) use operations::modification;
pub(crate) use output::message as write_message;
pub(crate) use password::hashed as hashed_password;
pub use policy::PasswordRules;
pub use self_signed::OwnCertificate;
pub use server::Server;
pub(crate) use server::{ServerTls, accepted, notice};
use tokio::sync::watch;

use crate::error::{Error, ErrorKind, Result};
use crate::ldif::{Change, Reader};
use store::Store;

/// A directory. Clones share its entries.
#[derive(Clone, Debug, Default)]
pub struct Directory {
    shared: Arc<Shared>,
    settings: Arc<Settings>,
}

/// What requests are answered by.
#[derive(Clone, Debug)]
struct Settings {
    root: Option<(String, String)>,
    tls: Option<ServerTls>,
    size_limit: Option<usize>,
    time_limit: Option<Duration>,
    read_only: bool,
    max_connections: Option<usize>,
    idle: Option<Duration>,
    acl: Option<Arc<Acl>>,
    password_rules: Option<Arc<PasswordRules>>,
    subschema: subschema::Subschema,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            root: None,
            tls: None,
            size_limit: None,
            time_limit: Some(TIME_LIMIT),
            read_only: false,
            max_connections: None,
            idle: None,
            acl: None,
            password_rules: None,
            subschema: subschema::Subschema::default(),
        }
    }
}

/// The time that a search may take unless another limit is set.
const TIME_LIMIT: Duration = Duration::from_secs(60);

#[derive(Debug, Default)]
struct Shared {
    store: RwLock<Store>,
    scheduler: scheduler::Scheduler,
    /// Number of changes until now, for searches that go on.
    changes: watch::Sender<u64>,
    /// What is reported of requests.
    observer: Arc<Observer>,
    /// What writes changes to disk.
    #[cfg(feature = "store")]
    keeper: Option<kept::Keeper>,
}

/// What a change waits for before it is answered: that it is on disk.
#[derive(Debug, Default)]
struct Ticket(#[cfg(feature = "store")] Option<kept::Written>);

impl Ticket {
    /// Waits until the change is on disk.
    ///
    /// # Errors
    /// It cannot be written: unavailable (52).
    async fn wait(self) -> std::result::Result<(), crate::proto::LdapResult> {
        #[cfg(feature = "store")]
        if let Some(written) = self.0 {
            return written.wait().await;
        }
        Ok(())
    }
}

/// The store while it is changed; searches that go on hear of it at the end.
struct Changing<'d> {
    store: RwLockWriteGuard<'d, Store>,
    changes: &'d watch::Sender<u64>,
    #[cfg(feature = "store")]
    keeper: Option<&'d kept::Keeper>,
}

impl Changing<'_> {
    /// Hands what has changed to what writes it to disk, in the order of the changes: the store is locked.
    #[cfg_attr(
        not(feature = "store"),
        expect(clippy::unused_self, clippy::needless_pass_by_ref_mut, reason = "nothing is written")
    )]
    fn keep(&mut self) -> Ticket {
        #[cfg(feature = "store")]
        if let Some(keeper) = self.keeper
            && let Some(unsaved) = self.store.take_unsaved()
        {
            return Ticket(Some(keeper.write(unsaved)));
        }
        Ticket::default()
    }
}

impl Deref for Changing<'_> {
    type Target = Store;

    fn deref(&self) -> &Store {
        &self.store
    }
}

impl DerefMut for Changing<'_> {
    fn deref_mut(&mut self) -> &mut Store {
        &mut self.store
    }
}

impl Drop for Changing<'_> {
    fn drop(&mut self) {
        _ = self.keep();
        let now = self.store.changes();
        self.changes.send_if_modified(|known| std::mem::replace(known, now) != now);
    }
}

impl Directory {
    /// An empty directory.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets this user bind with this password, and nobody else write or read `userPassword`.
    #[must_use]
    pub fn with_root(mut self, dn: &str, password: &str) -> Self {
        Arc::make_mut(&mut self.settings).root = Some((dn.to_owned(), password.to_owned()));
        self
    }

    /// Keeps rules for passwords; new ones are kept as argon2id. The root user has none.
    #[must_use]
    pub fn with_password_rules(mut self, rules: PasswordRules) -> Self {
        Arc::make_mut(&mut self.settings).password_rules = Some(Arc::new(rules));
        self
    }

    /// Decides by rules who may do what. The root user may do everything.
    #[must_use]
    pub fn with_acl(mut self, mut acl: Acl) -> Self {
        acl.set_schema(self.read().schema());
        Arc::make_mut(&mut self.settings).acl = Some(Arc::new(acl));
        self
    }

    /// Limits the connections at one time: others are closed at once. No limit by default.
    #[must_use]
    pub fn with_max_connections(mut self, limit: Option<usize>) -> Self {
        Arc::make_mut(&mut self.settings).max_connections = limit;
        self
    }

    /// Closes connections on which no request comes for so long; searches that go on keep theirs. Never by default.
    #[must_use]
    pub fn with_idle_limit(mut self, limit: Option<Duration>) -> Self {
        Arc::make_mut(&mut self.settings).idle = limit;
        self
    }

    /// Refuses all changes by clients (unwillingToPerform).
    #[must_use]
    pub fn read_only(mut self) -> Self {
        Arc::make_mut(&mut self.settings).read_only = true;
        self
    }

    /// Limits the time that a search may take, as its own limit does; 60 seconds by default, `None` for no limit.
    #[must_use]
    pub fn with_time_limit(mut self, limit: Option<Duration>) -> Self {
        Arc::make_mut(&mut self.settings).time_limit = limit;
        self
    }

    /// Limits the entries that a search returns, as its own limit does; no limit by default.
    #[must_use]
    pub fn with_size_limit(mut self, limit: Option<usize>) -> Self {
        Arc::make_mut(&mut self.settings).size_limit = limit;
        self
    }

    /// Adds a schema to that of the standards, which the entry `cn=subschema` publishes: LDIF with `attributeTypes` and
    /// `objectClasses`, or with those of `cn=config`, or a file of OpenLDAP (`.schema`).
    ///
    /// # Errors
    /// A description is malformed, or there is none.
    pub fn with_schema(mut self, text: &str) -> Result<Self> {
        let subschema = &mut Arc::make_mut(&mut self.settings).subschema;
        subschema.add(text)?;
        let schema = Arc::clone(&subschema.parsed().schema);
        self.write().set_schema(Arc::clone(&schema));
        if let Some(acl) = Arc::make_mut(&mut self.settings).acl.as_mut() {
            // Nobody else has it before the directory is served.
            let message = "schema: give it before the directory is served by rules of access";
            let acl = Arc::get_mut(acl).ok_or_else(|| Error::new(ErrorKind::Usage, message))?;
            acl.set_schema(schema);
        }
        Ok(self)
    }

    /// Refuses entries that the schema does not allow, from now on.
    #[must_use]
    pub fn with_schema_check(self) -> Self {
        let schema = Arc::clone(&self.settings.subschema.parsed().schema);
        self.write().constraints.schema = Some(schema);
        self
    }

    /// Refuses values of these attributes that another entry has (constraintViolation). Each has an index.
    ///
    /// # Errors
    /// A name is none of an attribute.
    pub fn with_unique(self, attributes: &[String]) -> Result<Self> {
        let directory = self.with_indexed(attributes)?;
        directory.write().constraints.unique.extend_from_slice(attributes);
        Ok(directory)
    }

    /// Keeps values of these attributes that name an entry: they go with it, and change when it is renamed. Each has an index.
    ///
    /// # Errors
    /// A name is none of an attribute.
    pub fn with_integrity(self, attributes: &[String]) -> Result<Self> {
        let directory = self.with_indexed(attributes)?;
        directory.write().constraints.integrity.extend_from_slice(attributes);
        Ok(directory)
    }

    /// Keeps `memberOf` in the entries that `member` and `uniqueMember` of groups name; clients cannot change it.
    ///
    /// # Errors
    /// There is no room for the changes.
    pub fn with_member_of(self) -> Result<Self> {
        {
            let mut store = self.write();
            store.constraints.member_of = true;
            store.set_all_groups().map_err(Error::from_result)?;
        }
        Ok(self)
    }

    fn with_indexed(self, attributes: &[String]) -> Result<Self> {
        let specs: Result<Vec<IndexSpec>> =
            attributes.iter().map(|name| format!("{name}:eq").parse()).collect();
        Ok(self.with_indexes(&specs?))
    }

    /// Adds indexes to those that every directory has: equality of objectClass, entryUUID, uid, mail, member, uniqueMember,
    /// memberOf, uidNumber, gidNumber, sAMAccountName, cn and sn; substrings of cn and sn.
    #[must_use]
    pub fn with_indexes(self, specs: &[IndexSpec]) -> Self {
        self.write().declare(specs);
        self
    }

    /// Speaks TLS: at once where it listens so, and by StartTLS. Certificates and key are PEM.
    ///
    /// # Errors
    /// They are malformed, or do not belong together.
    pub fn with_tls(mut self, certificates: &[u8], key: &[u8]) -> Result<Self> {
        Arc::make_mut(&mut self.settings).tls = Some(ServerTls::new(certificates, key)?);
        Ok(self)
    }

    /// Speaks TLS as [`Directory::with_tls`] does, by a certificate that is made for these hosts, names or addresses, and signed by
    /// its key. Returns the certificate too, for clients to trust.
    ///
    /// # Errors
    /// The system has no random bytes.
    pub fn with_own_certificate(mut self, hosts: &[String]) -> Result<(Self, OwnCertificate)> {
        let made = self_signed::new(hosts)?;
        let certificate = OwnCertificate { der: made.certificate.clone() };
        Arc::make_mut(&mut self.settings).tls = Some(ServerTls::of_der(made)?);
        Ok((self, certificate))
    }

    /// Takes in LDIF; gives the number of records. Entries whose parents are missing become roots of their own.
    ///
    /// # Errors
    /// The LDIF is malformed, or a change in it cannot be made.
    pub fn load(&self, input: impl BufRead) -> Result<u64> {
        self.write().in_bulk(|store| load(store, input))
    }

    /// Number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.read().len()
    }

    /// Whether there is no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn read(&self) -> RwLockReadGuard<'_, Store> {
        self.shared.store.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> Changing<'_> {
        let store = self.shared.store.write().unwrap_or_else(PoisonError::into_inner);
        Changing {
            store,
            changes: &self.shared.changes,
            #[cfg(feature = "store")]
            keeper: self.shared.keeper.as_ref(),
        }
    }

    /// Hears of changes.
    fn changes(&self) -> watch::Receiver<u64> {
        self.shared.changes.subscribe()
    }
}

/// Returns whether an attribute is one that the directory keeps itself.
pub(crate) fn is_operational(name: &str) -> bool {
    entry::OPERATIONAL.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// Makes the changes of LDIF.
fn load(store: &mut Store, input: impl BufRead) -> Result<u64> {
    let mut reader = Reader::new(input);
    let mut count = 0;
    while let Some(record) = reader.record()? {
        let dn = record.dn;
        let done = match record.change {
            Change::Add(attributes) => store.add(&dn, attributes, true).map(drop),
            Change::Delete => store.delete(&dn, false).map(drop),
            Change::Modify(modifications) => store.modify(&dn, &modifications).map(drop),
            Change::ModifyDn { new_rdn, delete_old_rdn, new_superior } => {
                store.modify_dn(&dn, &new_rdn, delete_old_rdn, new_superior.as_deref()).map(drop)
            }
        };
        done.map_err(|result| Error::new(ErrorKind::Usage, format!("{dn}: {}", Error::from_result(result))))?;
        count += 1;
    }
    Ok(count)
}
