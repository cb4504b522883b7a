//! Which servers a domain has (RFC 2782), where a URL names no host but a name of domain components (RFC 2247).

use std::net::SocketAddr;
use std::sync::Arc;

use domain::base::iana::{Rcode, Rtype};
use domain::base::{Name, ToName as _};
use domain::rdata::Srv;
use domain::resolv::StubResolver;
use domain::resolv::stub::Answer;
use domain::resolv::stub::conf::{ResolvConf, ServerConf, Transport};

use super::config::Config;
use crate::error::{Error, ErrorKind, Result};
use crate::url::Url;

/// Servers of one domain that are taken.
const SERVERS: usize = 100;

/// Looks up the servers of domains.
#[derive(Clone, Debug)]
pub struct Locator(Arc<StubResolver>);

fn fault(domain: &str, what: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Io, format!("servers of {domain:.255}: {what}"))
}

impl Default for Locator {
    /// Asks the name servers of the operating system, those in `/etc/resolv.conf`.
    fn default() -> Self {
        Self(Arc::new(StubResolver::new()))
    }
}

impl Locator {
    /// Asks this name server, by UDP, and by TCP for what is too long.
    #[must_use]
    pub fn with_name_server(address: SocketAddr) -> Self {
        let mut settings = ResolvConf::new();
        settings.servers.push(ServerConf::new(address, Transport::UdpTcp));
        settings.finalize();
        Self(Arc::new(StubResolver::from_conf(settings)))
    }

    /// The servers of a domain in the order in which they are to be tried: by priority, and of one priority by chance
    /// that follows their weights. The scheme is `ldap` or `ldaps`, of which both the URLs and the name looked up
    /// (`_ldap._tcp.DOMAIN`) are made.
    ///
    /// Who can forge answers of the DNS names the servers, and with it the names that certificates are verified for:
    /// where that matters, set [`Tls::server_name`](field@crate::Tls::server_name).
    ///
    /// # Errors
    /// No answer, or the domain has no such server.
    pub async fn servers(&self, scheme: &str, domain: &str) -> Result<Vec<Url>> {
        let name = format!("_{scheme}._tcp.{}.", domain.trim_end_matches('.'));
        let name: Name<Vec<u8>> = name.parse().map_err(|error| fault(domain, error))?;
        let answer = self.0.query((name, Rtype::SRV)).await.map_err(|error| fault(domain, error))?;
        let servers = read(&answer).map_err(|what| fault(domain, what))?;
        if servers.is_empty() {
            return Err(fault(domain, format_args!("it has none for {scheme}")));
        }
        let url = |server: Server| Url {
            scheme: scheme.to_owned(),
            host: server.host,
            port: Some(server.port),
            ..Url::default()
        };
        Ok(ordered(servers, chance)?.into_iter().map(url).collect())
    }

    /// A configuration in which URLs that name a domain in place of a host have become the URLs of its servers.
    ///
    /// # Errors
    /// As [`Locator::servers`], or no answer in time.
    pub async fn locate(&self, mut config: Config) -> Result<Config> {
        let mut urls = Vec::new();
        for url in &config.urls {
            match url.domain() {
                None => urls.push(url.clone()),
                Some(domain) => {
                    let servers =
                        tokio::time::timeout(config.connect_timeout, self.servers(&url.scheme, &domain));
                    let servers = servers.await.map_err(|_| {
                        Error::new(ErrorKind::Timeout, format!("servers of {domain:.255}: no answer in time"))
                    })?;
                    urls.extend(servers?);
                }
            }
        }
        config.urls = urls;
        Ok(config)
    }
}

impl Config {
    /// The same with the servers of domains looked up, where URLs name domains: `ldap:///dc=example,dc=net`. Without such a
    /// URL nothing is looked up.
    ///
    /// # Errors
    /// As [`Locator::locate`].
    pub async fn located(self) -> Result<Self> {
        if self.urls.iter().all(|url| url.domain().is_none()) {
            return Ok(self);
        }
        Locator::default().locate(self).await
    }
}

/// What the DNS says about one server.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Server {
    priority: u16,
    weight: u16,
    host: String,
    port: u16,
}

/// The servers in an answer, in the order in which they stand there.
fn read(answer: &Answer) -> std::result::Result<Vec<Server>, String> {
    let code = answer.header().rcode();
    if code != Rcode::NOERROR && code != Rcode::NXDOMAIN {
        return Err(format!("the name server reports {code}"));
    }
    let malformed = |_| "the answer of the name server is malformed".to_owned();
    // Aliases lead to another owner than was asked for.
    let Some(owner) = answer.canonical_name() else { return Ok(Vec::new()) };
    let mut servers = Vec::new();
    for record in answer.answer().map_err(malformed)?.limit_to_in::<Srv<_>>() {
        let record = record.map_err(malformed)?;
        let srv = record.data();
        // A target that is the root says that there is no such service.
        if record.owner().name_eq(&owner) && !srv.target().is_root() && servers.len() < SERVERS {
            let (priority, weight, port) = (srv.priority(), srv.weight(), srv.port());
            servers.push(Server { priority, weight, host: srv.target().to_string(), port });
        }
    }
    Ok(servers)
}

/// A number from 0 to this one, by chance.
fn chance(most: u32) -> Result<u32> {
    let mut octets = [0; 8];
    ring::rand::SecureRandom::fill(&ring::rand::SystemRandom::new(), &mut octets)
        .map_err(|_| Error::new(ErrorKind::Io, "the system has no random bytes"))?;
    let number = u64::from_be_bytes(octets) % (u64::from(most) + 1);
    Ok(u32::try_from(number).unwrap_or(most))
}

/// Servers in the order of RFC 2782: those of the lowest priority first, and among these each time one by its weight.
fn ordered(mut servers: Vec<Server>, mut chance: impl FnMut(u32) -> Result<u32>) -> Result<Vec<Server>> {
    // Those without a weight stand first, so that they have a chance at all.
    servers.sort_by_key(|server| (server.priority, server.weight));
    let mut in_order = Vec::with_capacity(servers.len());
    while let Some(first) = servers.first() {
        let priority = first.priority;
        let same = servers.iter().take_while(|server| server.priority == priority);
        let wanted = chance(same.clone().map(|server| u32::from(server.weight)).sum())?;
        let mut sum = 0;
        let place = same.map(|server| {
            sum += u32::from(server.weight);
            sum
        });
        let index = place.take_while(|sum| *sum < wanted).count();
        in_order.push(servers.remove(index));
    }
    Ok(in_order)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(priority: u16, weight: u16, host: &str) -> Server {
        Server { priority, weight, host: host.to_owned(), port: 389 }
    }

    fn hosts(servers: &[Server]) -> String {
        servers.iter().map(|server| server.host.as_str()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn priorities_and_weights() {
        let all =
            vec![server(20, 0, "last"), server(10, 30, "b"), server(10, 0, "none"), server(10, 70, "a")];
        // The running sums of priority 10 are 0 (none), 30 (b), 100 (a).
        for (numbers, expected) in [
            ([0, 0, 0, 0], "none b a last"),
            ([1, 0, 0, 0], "b none a last"),
            ([30, 0, 70, 0], "b none a last"),
            ([31, 0, 30, 0], "a none b last"),
            ([100, 30, 0, 0], "a b none last"),
        ] {
            let mut numbers = numbers.into_iter();
            let mut most = Vec::new();
            let in_order = ordered(all.clone(), |limit| {
                most.push(limit);
                Ok(numbers.next().unwrap())
            });
            assert_eq!(hosts(&in_order.unwrap()), expected);
            assert_eq!((most[0], most[3]), (100, 0));
        }
        let firsts =
            (0..2000).filter(|_| hosts(&ordered(all.clone(), chance).unwrap()).starts_with('a')).count();
        // 70 of 101 are 1386; six standard deviations are 124.
        assert!((1262..1511).contains(&firsts), "{firsts} of 2000");
    }
}
