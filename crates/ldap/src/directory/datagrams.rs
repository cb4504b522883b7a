//! The directory on a socket of UDP: searches without a connection (RFC 1798).

use std::sync::Arc;

use bytes::BytesMut;
use tokio::net::UdpSocket;
use tokio::task::JoinSet;

use super::Directory;
use super::operations::{self, Next, Session};
use super::output::Output;
use super::server::Server;
use crate::error::{ErrorKind, Result};
use crate::proto::{Framer, Incoming, LdapResult, Limits, ResultCode};

/// Octets that fit into a datagram over IPv4 and IPv6.
const DATAGRAM: usize = 65_507;
/// Searches at the same time.
const ANSWERS: usize = 64;
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
        let socket = Arc::new(socket);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut octets = vec![0; DATAGRAM];
            let mut answers = JoinSet::new();
            loop {
                while answers.try_join_next().is_some() {}
                // Faults are of datagrams that were sent before, to who is not there any more.
                let Ok((size, from)) = socket.recv_from(&mut octets).await else {
                    tokio::task::yield_now().await;
                    continue;
                };
                // A search that takes long does not hold up others. Who sends too much at a time has no answer, as of a network.
                if answers.len() < ANSWERS {
                    let request = octets.get(..size).unwrap_or_default().to_vec();
                    let (directory, socket) = (directory.clone(), Arc::clone(&socket));
                    answers.spawn(async move {
                        if let Ok(Some(answer)) = answer(&directory, &request).await {
                            _ = socket.send_to(&answer, from).await;
                        }
                    });
                }
            }
        });
        Ok(Server::new(address, format!("cldap://{address}"), tasks))
    }
}

/// The answer to a datagram, all of it in one; nothing to what is no search.
async fn answer(directory: &Directory, request: &[u8]) -> Result<Option<Vec<u8>>> {
    let limits = Limits { message: DATAGRAM, ..Limits::default() };
    let mut request = BytesMut::from(request);
    let Some(Incoming { octets, id, operation: SEARCH_REQUEST, .. }) =
        Framer::new(limits).next(&mut request)?
    else {
        return Ok(None);
    };
    let mut session = Session::new(directory.clone(), None, false);
    let mut output = Output::datagram(DATAGRAM);
    match session.observed(&octets, &limits, &mut output).await {
        // Those that go on need a connection.
        Ok(Next::Go) if session.listens() => return Ok(None),
        Ok(Next::Go) if output.octets.len() <= DATAGRAM => return Ok(Some(output.octets)),
        Ok(Next::Go) => {}
        Err(error) if error.kind() == ErrorKind::Limit && output.octets.len() > DATAGRAM => {}
        Ok(_) => return Ok(None),
        Err(error) => return Err(error),
    }
    let mut out = Vec::new();
    operations::done(id, &LdapResult::new(ResultCode::RESULTS_TOO_LARGE), &mut out)?;
    Ok(Some(out))
}
