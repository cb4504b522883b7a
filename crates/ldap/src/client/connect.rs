//! From a URL to a connection with a driver: TCP or a socket of Unix, TLS, StartTLS.

use bytes::BytesMut;
use tercet_runtime::types::Octets;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::config::{Config, StartTls};
use super::driver::{Handle, Io};
use super::tls;
use crate::error::{Error, ErrorKind, Result};
use crate::extended::START_TLS;
use crate::generated::{ExtendedRequest, ProtocolOp};
use crate::proto::{Connection, Event, Reply};
use crate::url::Url;

/// What is known of a connection when it is made.
#[derive(Debug, Default)]
pub(super) struct Channel {
    /// Whether nobody on the way can read: TLS, or a socket of this host.
    pub(super) is_private: bool,
    /// `tls-server-end-point`
    pub(super) end_point: Option<Vec<u8>>,
    /// The host, for mechanisms that name it.
    pub(super) host: String,
}

pub(super) async fn connect(config: &Config) -> Result<Handle> {
    let mut last = Error::new(ErrorKind::Usage, "no server is given");
    for url in &config.urls {
        last = match tokio::time::timeout(config.connect_timeout, one(url, config)).await {
            Ok(Ok(handle)) => return Ok(handle),
            Ok(Err(error)) => error.about(url.server()),
            Err(_) => Error::new(ErrorKind::Timeout, format!("{}: no connection in time", url.server())),
        };
    }
    Err(last)
}

async fn one(url: &Url, config: &Config) -> Result<Handle> {
    let mut channel = Channel { host: url.host.clone(), ..Channel::default() };
    let io: Box<dyn Io> = if url.scheme == "ldapi" {
        channel.is_private = true;
        local(&url.host).await?
    } else {
        let host = if url.host.is_empty() { "localhost" } else { &url.host };
        let mut stream = TcpStream::connect((host, url.effective_port())).await?;
        stream.set_nodelay(true)?;
        channel.is_private = stream.peer_addr()?.ip().is_loopback();
        if url.scheme == "ldaps" || config.start_tls == StartTls::Required {
            let connector = config.tls.connector()?;
            let name = config.tls.server_name(host)?;
            if url.scheme != "ldaps" {
                start_tls(&mut stream, config).await?;
            }
            let stream = connector
                .connect(name, stream)
                .await
                .map_err(|error| Error::new(ErrorKind::Tls, format!("TLS: {error}")))?;
            channel.is_private = true;
            channel.end_point = tls::end_point(stream.get_ref().1);
            Box::new(stream)
        } else {
            Box::new(stream)
        }
    };
    Ok(Handle::spawn(io, Connection::new(config.limits), channel))
}

#[cfg(unix)]
async fn local(path: &str) -> Result<Box<dyn Io>> {
    let path = if path.is_empty() { "/var/run/slapd/ldapi" } else { path };
    Ok(Box::new(tokio::net::UnixStream::connect(path).await?))
}

#[cfg(not(unix))]
async fn local(_: &str) -> Result<Box<dyn Io>> {
    Err(Error::new(ErrorKind::Usage, "ldapi needs sockets of Unix"))
}

/// StartTLS (RFC 4511 4.14), on a fresh connection. What comes behind the answer and before the handshake was not
/// protected, so it is an error: it may be somebody's who wants it to be read as an answer of later.
async fn start_tls(stream: &mut TcpStream, config: &Config) -> Result<()> {
    let mut connection = Connection::new(config.limits);
    let request =
        ExtendedRequest { request_name: Octets::borrowed(START_TLS.as_bytes()), request_value: None };
    connection.start(ProtocolOp::ExtendedReq(request), &[])?;
    stream.write_all(connection.outgoing()).await?;
    let mut buffer = BytesMut::with_capacity(4096);
    loop {
        if stream.read_buf(&mut buffer).await? == 0 {
            return Err(Error::new(
                ErrorKind::Closed,
                "the server closes the connection instead of StartTLS",
            ));
        }
        match connection.receive(&mut buffer)? {
            None => {}
            Some(Event::Reply(_, Reply::Extended(extended))) => {
                extended.result.success()?;
                if !buffer.is_empty() {
                    let message =
                        format!("{} octets between the answer to StartTLS and the handshake", buffer.len());
                    return Err(Error::new(ErrorKind::Protocol, message));
                }
                return Ok(());
            }
            Some(_) => {
                return Err(Error::new(ErrorKind::Protocol, "something else than an answer to StartTLS"));
            }
        }
    }
}
