//! What a connection is made with.

use std::time::Duration;

use super::keep_alive::KeepAlive;
use super::tls::Tls;
use crate::error::Result;
use crate::proto::Limits;
use crate::url::Url;

/// Servers, and how to talk to them. The defaults are safe: certificates are verified, passwords do not go unencrypted
/// over a network, referrals are not followed, and every wait ends.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    /// Servers, in the order in which they are tried.
    pub urls: Vec<Url>,
    /// How `ldaps` and StartTLS verify the server.
    pub tls: Tls,
    /// Whether `ldap` connections are upgraded by StartTLS.
    pub start_tls: StartTls,
    /// For the connection itself, with TLS; 10 s unless told.
    pub connect_timeout: Duration,
    /// For an answer, and of a search for the next entry; 60 s unless told, `None` for ever.
    pub operation_timeout: Option<Duration>,
    /// Probes of TCP on connections without traffic, `None` for none; after a minute unless told.
    pub keep_alive: Option<KeepAlive>,
    /// What the server may send.
    pub limits: Limits,
    /// Allows passwords on connections without encryption to other hosts.
    pub allow_plain_passwords: bool,
    /// Follows referrals, if given.
    pub referrals: Option<Referrals>,
    /// Iterations of SCRAM that the server may ask for; 100,000 unless told.
    pub scram_iterations: u32,
}

/// Whether StartTLS is done when a connection is made. There is no silent way back to plain text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StartTls {
    /// It is not.
    #[default]
    No,
    /// It is, or there is no connection.
    Required,
}

/// How referrals are followed: anonymously, each server and base once, and not for ever.
#[derive(Clone, Debug)]
pub struct Referrals {
    /// Servers behind one another.
    pub hops: usize,
    /// Referrals of one search in all.
    pub total: usize,
    /// Hosts that may be asked; all if empty.
    pub hosts: Vec<String>,
}

impl Default for Referrals {
    fn default() -> Self {
        Self { hops: 5, total: 50, hosts: Vec::new() }
    }
}

impl Config {
    /// The defaults for a server.
    ///
    /// # Errors
    /// The text is no LDAP URL.
    pub fn new(url: &str) -> Result<Self> {
        let urls = url.split_whitespace().map(str::parse).collect::<Result<_>>()?;
        Ok(Self::for_urls(urls))
    }

    /// The defaults for servers.
    #[must_use]
    pub fn for_urls(urls: Vec<Url>) -> Self {
        Self {
            urls,
            tls: Tls::default(),
            start_tls: StartTls::default(),
            connect_timeout: Duration::from_secs(10),
            operation_timeout: Some(Duration::from_secs(60)),
            keep_alive: Some(KeepAlive::default()),
            limits: Limits::default(),
            allow_plain_passwords: false,
            referrals: None,
            scram_iterations: 100_000,
        }
    }
}
