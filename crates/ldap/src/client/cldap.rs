//! Searches by datagrams: LDAP over UDP, connectionless (RFC 1798), as Active Directory answers them for its root DSE
//! (MS-ADTS 6.3.3).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use bytes::BytesMut;
use tokio::net::UdpSocket;
use tokio::time::{Instant, timeout, timeout_at};

use super::search::Search;
use crate::error::{Error, ErrorKind, Result};
use crate::proto::element::tag;
use crate::proto::{Entry, Framer, Incoming, LdapResult, Limits, Reference, Reply};
use crate::url::Url;

/// Octets of a datagram at most.
const DATAGRAM: usize = 64 << 10;
/// Octets of the entries of an answer at most.
const ANSWER: usize = 1 << 20;

/// Servers that are searched by datagrams, and how long their answers may take.
///
/// There is no bind, and nothing is protected: who sees the request can answer in place of the server. Datagrams that are no
/// answer to it are counted and ignored, whatever they are.
///
/// ```no_run
/// # async fn example() -> tercet_ldap::Result<()> {
/// use tercet_ldap::{Cldap, Scope, Search};
///
/// let search = Search::new("").scope(Scope::Base).attributes(&["defaultNamingContext"]);
/// let answer = Cldap::new("cldap://dc.example.net")?.search(&search).await?;
/// for entry in &answer.entries {
///     println!("{:?}", entry.text("defaultNamingContext"));
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Cldap {
    /// Servers, in the order in which they are asked.
    pub urls: Vec<Url>,
    /// Datagrams that are sent to a server, one after another, until there is an answer; 3 unless told.
    pub tries: u32,
    /// How long there may be no answer to each; 2 s unless told.
    pub timeout: Duration,
    /// What the server may send.
    pub limits: Limits,
}

/// The answer to a search by datagrams, whatever its result.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Answer {
    /// The message ID of the request that it answers.
    pub id: u32,
    /// Who answers.
    pub server: SocketAddr,
    /// Entries.
    pub entries: Vec<Entry>,
    /// References to other servers.
    pub references: Vec<Reference>,
    /// The result; without an entry it is success as well, if the filter is not met.
    pub result: LdapResult,
    /// Datagrams that came before and were none of the answer.
    pub ignored: u64,
}

impl Cldap {
    /// The defaults for servers, with spaces between.
    ///
    /// # Errors
    /// The text is no URL of LDAP whose scheme is `cldap`.
    pub fn new(urls: &str) -> Result<Self> {
        Self::for_urls(urls.split_whitespace().map(str::parse).collect::<Result<_>>()?)
    }

    /// The defaults for servers.
    ///
    /// # Errors
    /// The scheme of one is not `cldap`.
    pub fn for_urls(urls: Vec<Url>) -> Result<Self> {
        if let Some(url) = urls.iter().find(|url| !url.is_of_datagrams()) {
            let message = format!("{}: `cldap` expected, as this is not a connection", url.server());
            return Err(Error::new(ErrorKind::Usage, message));
        }
        let limits = Limits::default();
        Ok(Self { urls, tries: 3, timeout: Duration::from_secs(2), limits })
    }

    /// Asks one server after another until one answers.
    ///
    /// # Errors
    /// None answers in time; the search is one of pages; the answer is larger than a mebibyte.
    pub async fn search(&self, search: &Search) -> Result<Answer> {
        if search.is_paged() {
            return Err(Error::new(ErrorKind::Usage, "pages need a connection"));
        }
        let mut last = Error::new(ErrorKind::Usage, "no server is given");
        for url in &self.urls {
            let addresses = match self.addresses(url).await {
                Ok(addresses) => addresses,
                Err(error) => {
                    last = error.about(url.server());
                    continue;
                }
            };
            for address in addresses {
                last = match self.ask(address, search).await {
                    Ok(answer) => return Ok(answer),
                    Err(error) => error.about(url.server()),
                };
            }
        }
        Err(last)
    }

    async fn addresses(&self, url: &Url) -> Result<Vec<SocketAddr>> {
        let host = if url.host.is_empty() { "localhost" } else { &url.host };
        let found = tokio::net::lookup_host((host, url.effective_port()));
        let found = timeout(self.timeout.saturating_mul(self.tries), found).await;
        let found = found.map_err(|_| Error::new(ErrorKind::Timeout, "no address in time"))??;
        Ok(found.collect())
    }

    async fn ask(&self, address: SocketAddr, search: &Search) -> Result<Answer> {
        let own = if address.is_ipv4() {
            IpAddr::V4(Ipv4Addr::UNSPECIFIED)
        } else {
            IpAddr::V6(Ipv6Addr::UNSPECIFIED)
        };
        let socket = UdpSocket::bind((own, 0)).await?;
        // From then on the system passes on what comes from there alone.
        socket.connect(address).await?;
        let mut asked = Asked::new(address, self.limits);
        let mut octets = vec![0; DATAGRAM];
        let wait = search.wait().map_or(self.timeout, |wait| wait / self.tries.max(1));
        for _ in 0..self.tries {
            let id = message_id()?;
            let mut request = Vec::new();
            search.message(id, &mut request)?;
            socket.send(&request).await?;
            asked.tries.push(Try { id, ..Try::default() });
            let end = Instant::now() + wait;
            // The clock is looked at itself, as a flood could keep `timeout_at` from it.
            while Instant::now() < end
                && let Ok(received) = timeout_at(end, socket.recv(&mut octets)).await
            {
                let datagram = octets.get(..received?).unwrap_or_default();
                if let Some(answer) = asked.take(datagram)? {
                    return Ok(answer);
                }
            }
        }
        Err(asked.unanswered())
    }
}

/// What was asked of a server, and what has come of it.
#[derive(Debug)]
struct Asked {
    server: SocketAddr,
    framer: Framer,
    limits: Limits,
    tries: Vec<Try>,
    /// Octets of entries.
    size: usize,
    ignored: u64,
    /// Why the last datagram was ignored.
    fault: Option<Error>,
}

/// One datagram that was sent; answers to earlier ones may still come.
#[derive(Debug, Default)]
struct Try {
    id: u32,
    entries: Vec<Entry>,
    references: Vec<Reference>,
}

/// What a datagram has in it.
enum Part {
    Entry(Entry),
    Reply(Reply),
}

impl Asked {
    const fn new(server: SocketAddr, limits: Limits) -> Self {
        let framer = Framer::new(limits);
        Self { server, framer, limits, tries: Vec::new(), size: 0, ignored: 0, fault: None }
    }

    /// Takes a datagram; gives the answer if it is complete with that.
    fn take(&mut self, datagram: &[u8]) -> Result<Option<Answer>> {
        let parts = match self.parts(datagram) {
            Ok(parts) => parts,
            Err(fault) => {
                self.ignored += 1;
                self.fault = Some(fault);
                return Ok(None);
            }
        };
        self.size += datagram.len();
        if self.size > ANSWER {
            let message = format!("more than {ANSWER} bytes of entries in datagrams");
            return Err(Error::new(ErrorKind::Limit, message));
        }
        for (id, part) in parts {
            let Some(one) = self.tries.iter_mut().find(|one| one.id == id) else {
                continue;
            };
            match part {
                Part::Entry(entry) => one.entries.push(entry),
                Part::Reply(Reply::Reference(reference)) => one.references.push(reference),
                Part::Reply(Reply::Done(result)) => {
                    let Try { id, entries, references } = std::mem::take(one);
                    let (server, ignored) = (self.server, self.ignored);
                    return Ok(Some(Answer { id, server, entries, references, result, ignored }));
                }
                Part::Reply(_) => {}
            }
        }
        Ok(None)
    }

    /// All messages of a datagram. If one is none, nobody knows who sent the others.
    fn parts(&self, datagram: &[u8]) -> Result<Vec<(u32, Part)>> {
        let mut buffer = BytesMut::from(datagram);
        let mut parts = Vec::new();
        while let Some(incoming) = self.framer.next(&mut buffer)? {
            let id = incoming.id;
            if !self.tries.iter().any(|one| one.id == id) {
                return Err(Error::new(
                    ErrorKind::Protocol,
                    format!("message ID {id}, which was not asked with"),
                ));
            }
            if incoming.operation == tag::SEARCH_ENTRY {
                for entry in entries(incoming) {
                    parts.push((id, Part::Entry(entry?)));
                }
            } else {
                let expected = matches!(
                    incoming.operation,
                    tag::SEARCH_DONE | tag::SEARCH_REFERENCE | tag::INTERMEDIATE
                );
                if !expected {
                    let message = format!("an operation {:02X} answers a search", incoming.operation);
                    return Err(Error::new(ErrorKind::Protocol, message));
                }
                parts.push((id, Part::Reply(Reply::read(&incoming, &self.limits)?)));
            }
        }
        if !buffer.is_empty() || parts.is_empty() {
            let at = (datagram.len() - buffer.len()) as u64;
            return Err(Error::at(ErrorKind::Protocol, "a datagram that ends inside a message", at));
        }
        Ok(parts)
    }

    #[cold]
    fn unanswered(self) -> Error {
        let mut message = format!("no answer in time to {} datagrams", self.tries.len());
        if let Some(fault) = self.fault {
            message += &format!("; {} that came were ignored, the last as: {fault}", self.ignored);
        }
        Error::new(ErrorKind::Timeout, message)
    }
}

fn entries(incoming: Incoming) -> crate::proto::Entries {
    crate::proto::Entries::new(incoming)
}

/// One that nobody can guess: from 1 to 2³¹-1.
fn message_id() -> Result<u32> {
    let mut octets = [0; 4];
    ring::rand::SecureRandom::fill(&ring::rand::SystemRandom::new(), &mut octets)
        .map_err(|_| Error::new(ErrorKind::Io, "the system has no random bytes"))?;
    Ok((u32::from_le_bytes(octets) & (i32::MAX as u32)).max(1))
}
