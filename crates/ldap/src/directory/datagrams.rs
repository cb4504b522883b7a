//! The directory on a socket of UDP: searches without a connection (RFC 1798).

use bytes::BytesMut;
use tokio::net::UdpSocket;
use tokio::task::JoinSet;

use super::Directory;
use super::operations::{self, Next, Session};
use super::server::Server;
use crate::error::Result;
use crate::proto::{Framer, Incoming, LdapResult, Limits, ResultCode};

/// Octets that fit into a datagram over IPv4 and IPv6.
const DATAGRAM: usize = 65_507;
/// The identifier octet of SearchRequest.
const SEARCH_REQUEST: u8 = 0x63;

impl Directory {
    /// Answers searches by datagrams on an address, `host:port`; port 0 takes any. What else is asked is not answered.
    ///
    /// # Errors
    /// The address cannot be had.
    pub async fn listen_datagrams(&self, address: &str) -> Result<Server> {
        let socket = UdpSocket::bind(address).await?;
        let address = socket.local_addr()?;
        let directory = self.clone();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut octets = vec![0; DATAGRAM];
            loop {
                // Faults are of datagrams that were sent before, to who is not there any more.
                let Ok((size, from)) = socket.recv_from(&mut octets).await else {
                    continue;
                };
                let request = octets.get(..size).unwrap_or_default();
                if let Ok(Some(answer)) = answer(&directory, request) {
                    _ = socket.send_to(&answer, from).await;
                }
            }
        });
        Ok(Server::new(address, format!("cldap://{address}"), tasks))
    }
}

/// The answer to a datagram, all of it in one; nothing to what is no search.
fn answer(directory: &Directory, request: &[u8]) -> Result<Option<Vec<u8>>> {
    let limits = Limits { message: DATAGRAM, ..Limits::default() };
    let mut request = BytesMut::from(request);
    let Some(Incoming { octets, id, operation: SEARCH_REQUEST, .. }) =
        Framer::new(limits).next(&mut request)?
    else {
        return Ok(None);
    };
    let mut session = Session::new(directory.clone(), None, false);
    let mut out = Vec::new();
    match session.answer(&octets, &limits, &mut out)? {
        // Those that go on need a connection.
        Next::Go if !session.listens() => {}
        _ => return Ok(None),
    }
    if out.len() > DATAGRAM {
        out.clear();
        operations::done(id, &LdapResult::new(ResultCode::RESULTS_TOO_LARGE), &mut out)?;
    }
    Ok(Some(out))
}
