//! Datagrams of Linux: recvmmsg(2) takes several, and each may be a run that the kernel kept together (UDP_GRO). A run of
//! datagrams of one size to one peer is sent as one (UDP_SEGMENT), others together by sendmmsg(2). On the wire, and for a peer
//! that asks for them one by one, they are datagrams like any other.

use std::io::{self, IoSlice, IoSliceMut};
use std::net::SocketAddr;
use std::os::fd::AsRawFd as _;
use std::sync::atomic::{AtomicBool, Ordering};

use nix::errno::Errno;
use nix::sys::socket::{
    ControlMessage, ControlMessageOwned, MsgFlags, MultiHeaders, SockaddrStorage, recvmmsg, sendmsg,
    setsockopt, sockopt,
};
use rustix::net::{MMsgHdr, SendAncillaryBuffer, SendFlags, SocketAddrAny, sendmmsg};
use tokio::io::Interest;
use tokio::net::UdpSocket;

use super::{BATCH, Datagrams, LARGEST};
use crate::event::Transmit;

/// What the kernel can do for a socket.
#[derive(Debug)]
pub(super) struct Abilities {
    /// Whether runs are sent as one. Some devices cannot.
    sends_runs: AtomicBool,
}

impl Abilities {
    pub(super) fn of(socket: &UdpSocket) -> Self {
        // Kernels before 5.0 do not know it, and hand over each datagram alone.
        _ = setsockopt(socket, sockopt::UdpGroSegment, &true);
        Self { sends_runs: AtomicBool::new(true) }
    }
}

/// Messages that are asked for at first, and at most. Each has a buffer for the largest packet.
const ASKED: (usize, usize) = (2, 32);

/// Buffers, as many as there was use for lately.
#[derive(Debug)]
pub(super) struct Receiver {
    buffers: Vec<u8>,
    asked: usize,
}

impl Default for Receiver {
    fn default() -> Self {
        Self { buffers: Vec::new(), asked: ASKED.0 }
    }
}

impl Receiver {
    /// Takes what has arrived.
    pub(super) fn receive(&mut self, socket: &UdpSocket, into: &mut Datagrams) -> io::Result<()> {
        let received = socket.try_io(Interest::READABLE, || {
            let asked = self.asked;
            let count = self.read(socket, into)?;
            if count == asked {
                self.asked = (2 * asked).min(ASKED.1);
                return Ok(());
            }
            if 4 * count < asked {
                self.asked = asked / 2;
            }
            // There were no more. Saying so saves the call that would find that out.
            Err(io::ErrorKind::WouldBlock.into())
        });
        if into.ends.is_empty() { received } else { Ok(()) }
    }

    /// Takes messages; returns how many.
    fn read(&mut self, socket: &UdpSocket, into: &mut Datagrams) -> io::Result<usize> {
        if self.buffers.len() < self.asked * LARGEST {
            self.buffers = vec![0; self.asked * LARGEST];
        }
        let mut messages = [Message::default(); ASKED.1];
        let count = take(socket, &mut self.buffers, &mut messages[..self.asked])?;
        for (message, buffer) in messages[..count].iter().zip(self.buffers.chunks_exact(LARGEST)) {
            let (Some(peer), octets) = (message.peer, &buffer[..message.length]) else { continue };
            match message.run {
                Some(size) if size > 0 => octets.chunks(size).for_each(|octets| into.push(peer, octets)),
                _ => into.push(peer, octets),
            }
        }
        Ok(count)
    }
}

/// A message that was taken.
#[derive(Clone, Copy, Default)]
struct Message {
    peer: Option<SocketAddr>,
    length: usize,
    /// The size of its datagrams, if it is a run of them.
    run: Option<usize>,
}

fn take(socket: &UdpSocket, buffers: &mut [u8], messages: &mut [Message]) -> io::Result<usize> {
    // The kernel shortens the rooms for addresses and control messages to what it used: they are made anew.
    let mut headers = MultiHeaders::preallocate(messages.len(), Some(nix::cmsg_space!(i32)));
    let buffers = buffers.chunks_exact_mut(LARGEST).take(messages.len());
    let mut slices: Vec<_> = buffers.map(|buffer| [IoSliceMut::new(buffer)]).collect();
    let taken = recvmmsg(socket.as_raw_fd(), &mut headers, slices.iter_mut(), MsgFlags::MSG_DONTWAIT, None)?;
    let mut count = 0;
    for (taken, message) in taken.zip(messages) {
        let run = taken.cmsgs().ok().into_iter().flatten().find_map(|control| match control {
            ControlMessageOwned::UdpGroSegments(size) => usize::try_from(size).ok(),
            _ => None,
        });
        *message = Message { peer: taken.address.as_ref().and_then(address), length: taken.bytes, run };
        count += 1;
    }
    Ok(count)
}

fn address(address: &SockaddrStorage) -> Option<SocketAddr> {
    match (address.as_sockaddr_in(), address.as_sockaddr_in6()) {
        (Some(v4), _) => Some(SocketAddr::V4((*v4).into())),
        (_, Some(v6)) => Some(SocketAddr::V6((*v6).into())),
        _ => None,
    }
}

/// Sends the first datagrams: a run, or those before the next run.
pub(super) fn send(socket: &UdpSocket, abilities: &Abilities, transmits: &[Transmit]) -> io::Result<usize> {
    let sends_runs = || abilities.sends_runs.load(Ordering::Relaxed);
    let count = if sends_runs() { run(transmits) } else { 1 };
    if count > 1 {
        match socket.try_io(Interest::WRITABLE, || send_run(socket, &transmits[..count])) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Err(error),
            // One of them alone would be in fragments.
            Err(error) if error.raw_os_error() == Some(Errno::EMSGSIZE as i32) => {
                return socket.try_io(Interest::WRITABLE, || send_each(socket, &transmits[..count]));
            }
            Err(error) if means_unable(&error) => abilities.sends_runs.store(false, Ordering::Relaxed),
            // Whatever else it is, the first of them alone shows it.
            Err(_) => return socket.try_send_to(&transmits[0].octets, transmits[0].route.peer).map(|_| 1),
            Ok(()) => return Ok(count),
        }
    }
    let mut count = 1;
    while count < transmits.len().min(BATCH) && !(sends_runs() && run(&transmits[count..]) > 1) {
        count += 1;
    }
    match transmits {
        [] => Ok(0),
        [only, ..] if count == 1 => socket.try_send_to(&only.octets, only.route.peer).map(|_| 1),
        _ => socket.try_io(Interest::WRITABLE, || send_each(socket, &transmits[..count])),
    }
}

/// Whether an error of a run says that the kernel or the device cannot send runs: EIO is that of a device without checksums.
fn means_unable(error: &io::Error) -> bool {
    let causes = [Errno::EIO, Errno::EINVAL, Errno::ENOPROTOOPT, Errno::EOPNOTSUPP];
    error.raw_os_error().is_some_and(|raw| causes.contains(&Errno::from_raw(raw)))
}

/// The octets of a run: those of a packet of IP without its headers.
const RUN: usize = 65_000;

/// How many datagrams make a run: to one peer and of one size, but for the last, which may be shorter.
fn run(transmits: &[Transmit]) -> usize {
    let Some(first) = transmits.first() else { return 0 };
    let size = first.octets.len();
    if size == 0 {
        return 1;
    }
    let most = (RUN / size).clamp(1, BATCH);
    let mut count = 1;
    for next in transmits[1..].iter().take(most - 1) {
        let length = next.octets.len();
        if next.route.peer != first.route.peer || length > size || length == 0 {
            break;
        }
        count += 1;
        if length < size {
            break;
        }
    }
    count
}

fn send_run(socket: &UdpSocket, run: &[Transmit]) -> io::Result<()> {
    let [first, ..] = run else { return Ok(()) };
    let slices: Vec<IoSlice<'_>> = run.iter().map(|transmit| IoSlice::new(&transmit.octets)).collect();
    // A run of two or more has no datagram of more than half of its octets.
    let size = u16::try_from(first.octets.len()).unwrap_or(u16::MAX);
    let peer = SockaddrStorage::from(first.route.peer);
    let control = [ControlMessage::UdpGsoSegments(&size)];
    sendmsg(socket.as_raw_fd(), &slices, &control, MsgFlags::MSG_DONTWAIT, Some(&peer))?;
    Ok(())
}

/// Sends datagrams; returns how many went.
fn send_each(socket: &UdpSocket, transmits: &[Transmit]) -> io::Result<usize> {
    let slices: Vec<_> = transmits.iter().map(|transmit| [IoSlice::new(&transmit.octets)]).collect();
    let peers: Vec<_> = transmits.iter().map(|transmit| SocketAddrAny::from(transmit.route.peer)).collect();
    let mut controls: Vec<_> = transmits.iter().map(|_| SendAncillaryBuffer::default()).collect();
    let headers = slices.iter().zip(&peers).zip(&mut controls);
    let mut headers: Vec<_> =
        headers.map(|((slice, peer), control)| MMsgHdr::new_with_addr(peer, slice, control)).collect();
    Ok(sendmmsg(socket, &mut headers, SendFlags::DONTWAIT)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::route::{Route, Transport};
    use tercet_megaco::List;

    /// A run that is refused for a cause of its own, here a broadcast that is not allowed, does not end runs.
    #[tokio::test]
    async fn runs_end_only_where_there_are_none() {
        let socket = UdpSocket::bind("0.0.0.0:0").await.unwrap();
        let abilities = Abilities::of(&socket);
        let peer = ([255, 255, 255, 255], 9).into();
        let route = Route { transport: Transport::Udp, link: 0, peer };
        let transmit =
            Transmit { route, octets: vec![7; 9].into(), is_resend: false, origins: List::new(), conn: None };
        socket.writable().await.unwrap();
        assert!(send(&socket, &abilities, &[transmit.clone(), transmit]).is_err());
        assert!(abilities.sends_runs.load(Ordering::Relaxed));
        for (cause, expected) in [(Errno::EIO, true), (Errno::EINVAL, true), (Errno::ENETUNREACH, false)] {
            assert_eq!(means_unable(&io::Error::from(cause)), expected, "{cause}");
        }
    }
}
