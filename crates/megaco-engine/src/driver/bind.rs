//! Sockets that listen, alone or beside those of other drivers (`SO_REUSEPORT` of Linux).

use std::io;
use std::net::SocketAddr;

use socket2::{Domain, Socket, Type};
use tokio::net::{TcpListener, UdpSocket};

/// Whether the system spreads what comes to an address over the sockets that are bound to it.
pub(super) const SPREADS: bool = cfg!(target_os = "linux");
/// Streams that wait to be accepted.
const BACKLOG: i32 = 1024;

/// Who else is bound to an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Nobody, and nobody will be.
    Alone,
    /// Nobody yet.
    First,
    /// Another driver of this program.
    Beside,
}

/// Binds a socket of datagrams. Within a runtime of tokio only.
pub(super) fn datagrams(address: SocketAddr, place: Place) -> io::Result<UdpSocket> {
    UdpSocket::from_std(bound(address, Type::DGRAM, place)?.into())
}

/// Binds a listener of streams. Within a runtime of tokio only.
pub(super) fn streams(address: SocketAddr, place: Place) -> io::Result<TcpListener> {
    let socket = bound(address, Type::STREAM, place)?;
    socket.listen(BACKLOG)?;
    TcpListener::from_std(socket.into())
}

fn bound(address: SocketAddr, kind: Type, place: Place) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), kind, None)?;
    socket.set_nonblocking(true)?;
    // Elsewhere it would let another program take the port.
    #[cfg(unix)]
    if kind == Type::STREAM {
        socket.set_reuse_address(true)?;
    }
    if place == Place::Beside {
        share(&socket)?;
    }
    socket.bind(&address.into())?;
    // The first one is bound before it shares its port: that fails if another program has it, which shares it or not.
    if place == Place::First {
        share(&socket)?;
    }
    Ok(socket)
}

#[cfg(target_os = "linux")]
fn share(socket: &Socket) -> io::Result<()> {
    socket.set_reuse_port(true)
}

#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "it may fail on Linux")]
const fn share(_: &Socket) -> io::Result<()> {
    Ok(())
}
