//! LDAP (RFC 4510 and its companions): a client, its data formats, and a directory in memory.
//!
//! * [`proto`]: the protocol without input and output. Entries are views of the receive buffer.
//! * [`Filter`], [`Dn`], [`Url`], [`ldif`], [`schema`]: the texts of LDAP, parsed and printed.
//! * [`controls`], [`extended`]: controls and extended operations that have an RFC of their own.
//! * [`entry`]: an entry that is changed here before the server hears of it ([`Draft`]), checked and repaired by a schema, with
//!   generated attributes and services; with the feature `serde`, `from_entry` makes structs of entries.
//! * [`Client`]: the client over tokio and rustls, [`blocking`] the same without async, [`Pool`] many of them; with the
//!   feature `srv`, `Locator` finds the servers of a domain. [`Cldap`] searches by datagrams, and [`Netlogon`] is what a domain
//!   controller says to them.
//! * [`transaction`]: several changes, of which all are made or none, on any server; locks.
//! * [`directory`]: a directory in memory for tests and demonstrations; [`proxy`] relays messages between clients and servers.
//! * [`server`]: a server to build on, with handlers and layers.
//!
//! ```no_run
//! # async fn example() -> tercet_ldap::Result<()> {
//! use tercet_ldap::{Client, Search};
//!
//! let client = Client::connect("ldap://localhost").await?;
//! let mut entries = client.search(Search::new("o=test").filter("(uid=u1)")?).await?;
//! while let Some(entry) = entries.next().await? {
//!     println!("{}: {:?}", entry.dn(), entry.text("mail"));
//! }
//! # Ok(())
//! # }
//! ```

#[cfg(feature = "client")]
pub mod blocking;
#[cfg(feature = "client")]
mod client;
pub mod controls;
#[cfg(feature = "directory")]
pub mod directory;
mod dn;
pub mod entry;
mod error;
pub mod extended;
mod filter;
#[rustfmt::skip]
#[allow(missing_docs, unnameable_types, reason = "generated")]
pub mod generated;
pub mod ldif;
pub mod matching;
mod netlogon;
pub mod oids;
pub mod proto;
#[cfg(feature = "directory")]
pub mod proxy;
#[cfg(feature = "client")]
pub mod sasl;
pub mod schema;
#[cfg(feature = "directory")]
pub mod server;
#[cfg(feature = "client")]
pub mod transaction;
#[cfg(feature = "serde")]
mod typed;
mod url;

#[cfg(feature = "srv")]
pub use client::Locator;
#[cfg(feature = "client")]
pub use client::{
    Answer, Cldap, Client, Config, Deref, Entries, Item, KeepAlive, Pool, PooledClient, Referrals, Search,
    StartTls, Tls, TrustedRoots,
};
pub use dn::{Ava, Dn, Rdn};
pub use entry::Draft;
pub use error::{Error, ErrorKind, Result};
pub use filter::{Evaluation, escape as escape_filter_value};
pub use generated::Filter;
pub use netlogon::Netlogon;
pub use oids::oid;
pub use proto::{Control, Entry, LdapResult, ResultCode};
#[cfg(feature = "serde")]
pub use typed::from_entry;
pub use url::{Scope, Url};
