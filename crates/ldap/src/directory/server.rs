//! The directory on a socket.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

use super::Directory;
use super::operations::{Next, Session};
use super::output::{FULL, Output};
use super::self_signed::SelfSigned;
use crate::error::{Error, ErrorKind, Result};
use crate::generated as asn1;
use crate::proto::{Framer, Limits, ResultCode};

/// A directory that listens; it stops when this is dropped.
#[derive(Debug)]
pub struct Server {
    address: Option<SocketAddr>,
    url: String,
    tasks: JoinSet<()>,
    #[cfg(unix)]
    _socket: Option<SocketFile>,
}

impl Server {
    pub(crate) const fn new(address: SocketAddr, url: String, tasks: JoinSet<()>) -> Self {
        Self {
            address: Some(address),
            url,
            tasks,
            #[cfg(unix)]
            _socket: None,
        }
    }

    /// The URL to connect to.
    #[must_use]
    pub fn url(&self) -> String {
        self.url.clone()
    }

    /// The address, unless it is a socket of Unix.
    #[must_use]
    pub const fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    /// Serves until it is dropped.
    pub async fn wait(mut self) {
        while self.tasks.join_next().await.is_some() {}
    }
}

#[derive(Clone)]
pub(crate) struct ServerTls(TlsAcceptor);

impl std::fmt::Debug for ServerTls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ServerTls")
    }
}

impl ServerTls {
    /// Makes the handshake of a server.
    ///
    /// # Errors
    /// The handshake fails.
    pub(crate) async fn accept(&self, io: Box<dyn crate::client::Io>) -> Result<Box<dyn crate::client::Io>> {
        Ok(Box::new(self.0.accept(io).await?))
    }

    pub(crate) fn new(certificates: &[u8], key: &[u8]) -> Result<Self> {
        let fault = |error: &dyn std::fmt::Display| Error::new(ErrorKind::Tls, format!("TLS: {error}"));
        let certificates =
            CertificateDer::pem_slice_iter(certificates).collect::<std::result::Result<_, _>>();
        let certificates = certificates.map_err(|error| fault(&error))?;
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|error| fault(&error))?;
        Self::of(certificates, key)
    }

    /// With a certificate that was made here.
    pub(super) fn of_der(made: SelfSigned) -> Result<Self> {
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.key));
        Self::of(vec![CertificateDer::from(made.certificate)], key)
    }

    fn of(certificates: Vec<CertificateDer<'static>>, key: PrivateKeyDer<'static>) -> Result<Self> {
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(certificates, key))
            .map_err(|error| Error::new(ErrorKind::Tls, format!("TLS: {error}")))?;
        Ok(Self(TlsAcceptor::from(Arc::new(config))))
    }
}

pub(super) trait Io: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Io for T {}

impl Directory {
    /// Listens on an address, `host:port`; port 0 takes any.
    ///
    /// # Errors
    /// The address cannot be had.
    pub async fn listen(&self, address: &str) -> Result<Server> {
        self.listen_on(address, false).await
    }

    /// Listens on an address with TLS from the first octet (`ldaps`).
    ///
    /// # Errors
    /// The address cannot be had, or there is no certificate.
    pub async fn listen_tls(&self, address: &str) -> Result<Server> {
        if self.settings.tls.is_none() {
            return Err(Error::new(ErrorKind::Usage, "ldaps needs a certificate"));
        }
        self.listen_on(address, true).await
    }

    /// Whether there are as many connections as there may be.
    fn is_full(&self) -> bool {
        let limit = self.settings.max_connections;
        limit.is_some_and(|limit| self.shared.observer.connections() >= limit)
    }

    async fn listen_on(&self, address: &str, tls: bool) -> Result<Server> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let directory = self.clone();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let Some((stream, from)) = accepted(listener.accept().await).await else { continue };
                while connections.try_join_next().is_some() {}
                if directory.is_full() {
                    continue;
                }
                _ = stream.set_nodelay(true);
                let directory = directory.clone();
                let settings = Arc::clone(&directory.settings);
                let session = Session::new(directory, None, settings.tls.is_some() && !tls);
                let session = session.from(from.to_string()).with_tls(tls);
                connections.spawn(async move {
                    // A fault of one connection is told on it, and ends it alone.
                    match settings.tls.clone().filter(|_| tls) {
                        None => _ = serve(Box::new(stream), session, settings.tls.as_ref()).await,
                        Some(ServerTls(acceptor)) => {
                            let accepted = tokio::time::timeout(HANDSHAKE, acceptor.accept(stream)).await;
                            if let Ok(Ok(stream)) = accepted {
                                _ = serve(Box::new(stream), session, None).await;
                            }
                        }
                    }
                });
            }
        });
        let scheme = if tls { "ldaps" } else { "ldap" };
        Ok(Server::new(address, format!("{scheme}://{address}"), tasks))
    }

    /// Listens on a socket of Unix (`ldapi`); SASL EXTERNAL takes who is at its other end.
    ///
    /// # Errors
    /// The socket cannot be made, or another process listens on it. A socket that a process left behind is replaced.
    #[cfg(unix)]
    pub fn listen_local(&self, path: &std::path::Path) -> Result<Server> {
        let listener = bind_local(path)?;
        let directory = self.clone();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let Some((stream, _)) = accepted(listener.accept().await).await else { continue };
                while connections.try_join_next().is_some() {}
                let peer = stream.peer_cred().ok().map(|peer| {
                    format!(
                        "gidNumber={}+uidNumber={},cn=peercred,cn=external,cn=auth",
                        peer.gid(),
                        peer.uid()
                    )
                });
                if directory.is_full() {
                    continue;
                }
                let session = Session::new(directory.clone(), peer, false).from("local");
                connections.spawn(async move { _ = serve(Box::new(stream), session, None).await });
            }
        });
        let url = crate::Url {
            scheme: "ldapi".to_owned(),
            host: path.display().to_string(),
            ..crate::Url::default()
        };
        Ok(Server { address: None, url: url.to_string(), tasks, _socket: Some(SocketFile::of(path)?) })
    }
}

/// Binds a socket of Unix. The file of a socket on which nobody listens is removed before.
#[cfg(unix)]
fn bind_local(path: &std::path::Path) -> Result<tokio::net::UnixListener> {
    use std::io::ErrorKind::{AddrInUse, ConnectionRefused};
    use std::os::unix::fs::FileTypeExt as _;
    use tokio::net::UnixListener;
    match UnixListener::bind(path) {
        Err(error) if error.kind() == AddrInUse => {
            let is_socket = std::fs::symlink_metadata(path)?.file_type().is_socket();
            // A socket with a full queue of connections does not refuse: only a stale one does.
            let probe = std::os::unix::net::UnixStream::connect(path);
            if is_socket && probe.is_err_and(|error| error.kind() == ConnectionRefused) {
                std::fs::remove_file(path)?;
                return Ok(UnixListener::bind(path)?);
            }
            Err(error.into())
        }
        bound => Ok(bound?),
    }
}

/// The file of a socket of Unix; it is removed when this is dropped, unless another has taken its place.
#[cfg(unix)]
#[derive(Debug)]
struct SocketFile {
    path: std::path::PathBuf,
    inode: (u64, u64),
}

#[cfg(unix)]
impl SocketFile {
    fn of(path: &std::path::Path) -> Result<Self> {
        Ok(Self { path: std::path::absolute(path)?, inode: Self::inode(path)? })
    }

    fn inode(path: &std::path::Path) -> std::io::Result<(u64, u64)> {
        use std::os::unix::fs::MetadataExt as _;
        let metadata = std::fs::symlink_metadata(path)?;
        Ok((metadata.dev(), metadata.ino()))
    }
}

#[cfg(unix)]
impl Drop for SocketFile {
    fn drop(&mut self) {
        if Self::inode(&self.path).is_ok_and(|inode| inode == self.inode) {
            _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Time for the handshake of TLS.
const HANDSHAKE: Duration = Duration::from_secs(30);
/// How long new connections wait when there is no room for them.
const PAUSE: Duration = Duration::from_millis(50);

/// Returns a connection. An error of `accept` is that of one connection, or a lack of file descriptors or memory: it never ends
/// the server, and one that would come back at once is given time.
pub(crate) async fn accepted<T>(accepted: std::io::Result<T>) -> Option<T> {
    use std::io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    match accepted {
        Ok(connection) => Some(connection),
        Err(error) => {
            let is_of_connection =
                matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted);
            if !is_of_connection {
                tokio::time::sleep(PAUSE).await;
            }
            None
        }
    }
}

/// Octets of a request at most.
pub(super) const REQUEST: usize = 16 << 20;
/// Octets that a connection reads at a time while requests are short, and while they are long.
const SHORT: usize = 4 << 10;
const LONG: usize = 64 << 10;

/// Answers requests in their order until the connection ends.
async fn serve(mut io: Box<dyn Io>, mut session: Session, tls: Option<&ServerTls>) -> Result<()> {
    let limits = Limits { message: REQUEST, ..Limits::default() };
    let framer = Framer::new(limits);
    let mut input = BytesMut::new();
    let mut octets = Vec::new();
    let mut changes = session.changes();
    loop {
        if input.is_empty() && input.capacity() > LONG {
            // What a long request needed is not kept for an idle connection.
            input = BytesMut::new();
        }
        input.reserve(if input.len() < SHORT { SHORT } else { LONG });
        let mut output = Output::stream(std::mem::take(&mut octets), &mut io);
        let idle = session.idle();
        tokio::select! {
            read = output.read(&mut input) => if read? == 0 {
                return Ok(());
            },
            Ok(()) = changes.changed(), if session.listens() => session.report(&mut output).await?,
            () = elapsed(idle) => return Ok(()),
        }
        let mut upgrades = false;
        loop {
            let next = match framer.next(&mut input) {
                Ok(None) => break,
                Ok(Some(incoming)) => session.observed(&incoming.octets, &limits, &mut output).await,
                Err(error) => Err(error),
            };
            match next {
                Ok(Next::Go) => output.relieve().await?,
                Ok(Next::End) => return output.flush().await,
                Ok(Next::Upgrade) => {
                    upgrades = true;
                    break;
                }
                Err(error) => {
                    output.octets.extend_from_slice(&notice(&error, ResultCode::PROTOCOL_ERROR)?);
                    output.flush().await?;
                    return Err(error);
                }
            }
        }
        output.flush().await?;
        octets = output.octets;
        if octets.capacity() > 4 * FULL {
            octets = Vec::new();
        }
        if upgrades {
            let Some(ServerTls(acceptor)) = tls else {
                return Ok(());
            };
            if !input.is_empty() {
                return Err(Error::new(ErrorKind::Protocol, "requests between StartTLS and the handshake"));
            }
            let handshake = tokio::time::timeout(HANDSHAKE, acceptor.accept(io)).await;
            let late = |_| Error::new(ErrorKind::Timeout, "no handshake in time");
            io = Box::new(handshake.map_err(late)??);
        }
    }
}

/// Waits for a time; for ever if there is none.
async fn elapsed(time: Option<Duration>) {
    match time {
        Some(time) => tokio::time::sleep(time).await,
        None => std::future::pending().await,
    }
}

/// The notice of disconnection (RFC 4511 4.4.1) that says what was wrong.
pub(crate) fn notice(error: &Error, code: ResultCode) -> Result<Vec<u8>> {
    use crate::generated::{ExtendedResponse, ProtocolOp};
    use tercet_runtime::types::Octets;
    let message = error.to_string();
    let number = i64::from(code.0);
    let notice = ExtendedResponse {
        result_code: asn1::ResultCode::from_number(number).unwrap_or(asn1::ResultCode::Unknown(number)),
        matched_dn: Octets::default(),
        diagnostic_message: Octets::borrowed(message.as_bytes()),
        referral: None,
        response_name: Some(Octets::borrowed(b"1.3.6.1.4.1.1466.20036")),
        response_value: None,
    };
    let mut out = Vec::new();
    crate::proto::encode(0, ProtocolOp::ExtendedResp(notice), &[], &mut out)?;
    Ok(out)
}
