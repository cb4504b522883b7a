//! From a URL to a connection with a driver: TCP or a socket of Unix, TLS, StartTLS.

use tercet_runtime::types::Octets;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

use super::config::{Config, StartTls};
use super::driver::{ChannelChange, Delivery, Handle, Io};
use super::keep_alive::KeepAlive;
use super::tls::{self, Tls};
use crate::error::{Error, ErrorKind, Result};
use crate::extended::START_TLS;
use crate::generated::{ExtendedRequest, ProtocolOp};
use crate::proto::{Connection, LdapResult, Reply};
use crate::sasl::Layer;
use crate::url::Url;

/// What is known of a connection when it is made.
#[derive(Clone, Debug, Default)]
pub(crate) struct Channel {
    /// Whether nobody on the way can read: TLS, or a socket of this host.
    pub(super) is_private: bool,
    /// Whether it is TLS.
    pub(super) is_tls: bool,
    /// `tls-server-end-point`
    pub(super) end_point: Option<Vec<u8>>,
    /// The host, for mechanisms that name it; of a socket of Unix, nothing.
    pub(super) host: String,
    /// The strength of a security layer; 0 without one.
    pub(super) layer: u32,
}

impl Channel {
    /// Notes a security layer.
    pub(super) fn put_on(&mut self, layer: &dyn Layer) {
        self.layer = layer.strength();
        self.is_private |= self.layer > 1;
    }

    /// How strongly octets are protected on their way, as SASL counts it.
    pub(super) fn strength(&self) -> u32 {
        self.layer.max(if self.is_tls { TLS_STRENGTH } else { 0 })
    }
}

/// The least that the cipher suites of rustls have.
const TLS_STRENGTH: u32 = 128;

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
    let (io, channel) = open(url, config).await?;
    let handle = Handle::spawn(io, Connection::new(config.limits), channel);
    if url.scheme == "ldap" && config.start_tls == StartTls::Required {
        handle.start_tls(&config.tls).await?;
    }
    Ok(handle)
}

/// Opens a stream of octets to a server, with TLS if the URL asks for it.
pub(crate) async fn open(url: &Url, config: &Config) -> Result<(Box<dyn Io>, Channel)> {
    if url.is_of_datagrams() {
        return Err(Error::new(ErrorKind::Usage, "datagrams have no connection; they serve searches only"));
    }
    let mut channel = Channel { host: url.host.clone(), ..Channel::default() };
    let mut io: Box<dyn Io> = if url.scheme == "ldapi" {
        channel.is_private = true;
        channel.host.clear();
        local(&url.host).await?
    } else {
        let stream = remote(url, config.keep_alive).await?;
        channel.is_private = stream.peer_addr()?.ip().is_loopback();
        Box::new(stream)
    };
    if url.scheme == "ldaps" {
        (io, channel.end_point) = Upgrade::new(&config.tls, &channel.host)?.handshake(io).await?;
        channel.is_private = true;
        channel.is_tls = true;
    }
    Ok((io, channel))
}

impl Handle {
    /// StartTLS (RFC 4511 4.14). The connection ends if it is not granted, fails, or is dropped on its way: what comes over
    /// it then is nobody's.
    pub(super) async fn start_tls(&self, tls: &Tls) -> Result<LdapResult> {
        let channel = self.channel();
        if channel.is_tls {
            return Err(Error::new(ErrorKind::Usage, "StartTLS on a connection that has TLS"));
        }
        if channel.layer > 0 {
            return Err(Error::new(ErrorKind::Usage, "StartTLS on a connection that has a security layer"));
        }
        let upgrade = ChannelChange::Tls(Upgrade::new(tls, &channel.host)?);
        let request =
            ExtendedRequest { request_name: Octets::borrowed(START_TLS.as_bytes()), request_value: None };
        let (_, mut deliveries) = self.start_with(ProtocolOp::ExtendedReq(request), &[], Some(upgrade))?;
        let mut closes = Closes(Some(self));
        while let Some(delivery) = deliveries.recv().await {
            let delivery = delivery?;
            self.taken(delivery.octets());
            if let Delivery::Reply(Reply::Extended(extended)) = delivery {
                let result = extended.result.success()?;
                closes.0 = None;
                return Ok(result);
            }
        }
        Err(self.closed().unwrap_or_else(|| Error::new(ErrorKind::Closed, "the connection is closed")))
    }
}

/// Closes a connection when it is dropped.
struct Closes<'h>(Option<&'h Handle>);

impl Drop for Closes<'_> {
    fn drop(&mut self) {
        if let Some(handle) = self.0 {
            handle.close();
        }
    }
}

/// A connection of TCP.
async fn remote(url: &Url, keep_alive: Option<KeepAlive>) -> Result<TcpStream> {
    let host = if url.host.is_empty() { "localhost" } else { &url.host };
    let stream = TcpStream::connect((host, url.effective_port())).await?;
    stream.set_nodelay(true)?;
    if let Some(keep_alive) = keep_alive {
        keep_alive.apply(&stream)?;
    }
    Ok(stream)
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

/// How TLS begins on a connection.
pub(super) struct Upgrade {
    connector: TlsConnector,
    name: ServerName<'static>,
}

impl std::fmt::Debug for Upgrade {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Upgrade").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Upgrade {
    pub(super) fn new(tls: &Tls, host: &str) -> Result<Self> {
        Ok(Self { connector: tls.connector()?, name: tls.server_name(host)? })
    }

    /// Gives the encrypted stream, and what the channel is bound to.
    pub(super) async fn handshake(self, io: Box<dyn Io>) -> Result<(Box<dyn Io>, Option<Vec<u8>>)> {
        let stream = self.connector.connect(self.name, io).await;
        let stream = stream.map_err(|error| Error::new(ErrorKind::Tls, format!("TLS: {error}")))?;
        let end_point = tls::end_point(stream.get_ref().1);
        Ok((Box::new(stream), end_point))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use socket2::SockRef;
    use std::time::Duration;

    #[tokio::test]
    async fn connections_are_kept_alive() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let seconds = Duration::from_secs;
        let system = KeepAlive::SYSTEM;
        for scheme in ["ldap", "ldaps"] {
            let mut config = Config::new(&format!("{scheme}://{}", listener.local_addr().unwrap())).unwrap();
            let connected = async |config: &Config| remote(&config.urls[0], config.keep_alive).await;
            for (keep_alive, idle, interval, probes) in [
                (config.keep_alive.unwrap(), seconds(60), seconds(15), 4),
                (system.with_probes(3).with_interval(seconds(7)), seconds(0), seconds(7), 3),
                // Less than a second is one.
                (
                    KeepAlive::after(seconds(0)).with_interval(seconds(2)).with_probes(1),
                    seconds(1),
                    seconds(2),
                    1,
                ),
            ] {
                config.keep_alive = Some(keep_alive);
                let stream = connected(&config).await.unwrap();
                let socket = SockRef::from(&stream);
                assert!(socket.keepalive().unwrap());
                let set = socket.tcp_keepalive_time().unwrap();
                assert!(set == idle || (keep_alive.idle.is_none() && set >= seconds(1)), "{set:?}");
                assert_eq!(socket.tcp_keepalive_interval().unwrap(), interval);
                assert_eq!(socket.tcp_keepalive_retries().unwrap(), probes);
            }
            for (keep_alive, is_on) in [(Some(system), true), (None, false)] {
                config.keep_alive = keep_alive;
                let stream = connected(&config).await.unwrap();
                assert_eq!(SockRef::from(&stream).keepalive().unwrap(), is_on);
            }
        }
    }

    /// What the operating system does not take is said.
    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn too_many_probes() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut config = Config::new(&format!("ldap://{}", listener.local_addr().unwrap())).unwrap();
        config.keep_alive = Some(KeepAlive::SYSTEM.with_probes(1000));
        let error = connect(&config).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
        assert!(error.to_string().contains("probes: Some(1000)"), "{error}");
    }
}
