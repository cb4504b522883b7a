//! A stream under a security layer of SASL: buffers go either way as four octets of length and a token (RFC 4422 clause 3.7).

use std::io;
use std::pin::{Pin, pin};
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use bytes::{Buf as _, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf};

use super::driver::Io;
use crate::error::{Error, ErrorKind, Result};
use crate::sasl::Layer;

/// Octets that one read may bring.
const READ: usize = 64 << 10;
/// Octets of the length in front of a token.
const LENGTH: usize = 4;

/// A stream whose octets stand in tokens.
pub(super) struct Layered {
    io: Box<dyn Io>,
    /// Nobody waits for it: a stream is used by one at a time, and layers need not know of others.
    layer: Mutex<Box<dyn Layer>>,
    /// What came, tokens and parts of them.
    received: BytesMut,
    /// What stood in the last token, and how much of it was read.
    plain: Vec<u8>,
    taken: usize,
    /// The token that is on its way, and how much of it was sent.
    token: Vec<u8>,
    sent: usize,
}

impl Layered {
    /// Puts a layer around a stream of which this was received already.
    pub(super) const fn new(io: Box<dyn Io>, layer: Box<dyn Layer>, received: BytesMut) -> Self {
        let layer = Mutex::new(layer);
        Self { io, layer, received, plain: Vec::new(), taken: 0, token: Vec::new(), sent: 0 }
    }

    fn layer(&mut self) -> &mut dyn Layer {
        &mut **self.layer.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the next token if all of it is there.
    fn unwrap(&mut self) -> Result<bool> {
        let Some(length) = self.received.first_chunk::<LENGTH>() else {
            return Ok(false);
        };
        let length = u32::from_be_bytes(*length) as usize;
        let limit = self.layer().largest_token();
        if length > limit {
            let message = format!("a buffer of {length} bytes under the security layer, {limit} are allowed");
            return Err(Error::new(ErrorKind::Limit, message));
        }
        if self.received.len() - LENGTH < length {
            return Ok(false);
        }
        self.received.advance(LENGTH);
        let mut token = self.received.split_to(length);
        self.plain = self.layer().unwrap(&mut token)?;
        self.taken = 0;
        Ok(true)
    }

    fn poll_send(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while let Some(left) = self.token.get(self.sent..).filter(|left| !left.is_empty()) {
            let written = ready!(Pin::new(&mut *self.io).poll_write(cx, left))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.sent += written;
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncRead for Layered {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        loop {
            if let Some(left) = this.plain.get(this.taken..).filter(|left| !left.is_empty()) {
                let count = left.len().min(out.remaining());
                out.put_slice(left.get(..count).unwrap_or_default());
                this.taken += count;
                return Poll::Ready(Ok(()));
            }
            if this.unwrap().map_err(io::Error::other)? {
                continue;
            }
            if this.received.capacity() - this.received.len() < READ / 4 {
                // A token larger than a read gets room as it comes, never as it announces.
                this.received.reserve(READ.max(this.received.len()));
            }
            if ready!(pin!(this.io.read_buf(&mut this.received)).poll(cx))? == 0 {
                if this.received.is_empty() {
                    return Poll::Ready(Ok(()));
                }
                let message = "the connection ends inside a buffer under the security layer";
                return Poll::Ready(Err(io::Error::other(Error::new(ErrorKind::Closed, message))));
            }
        }
    }
}

impl AsyncWrite for Layered {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, octets: &[u8]) -> Poll<io::Result<usize>> {
        ready!(self.poll_send(cx))?;
        let count = octets.len().min(self.layer().largest_buffer());
        let Some(buffer) = octets.get(..count).filter(|buffer| !buffer.is_empty()) else {
            return Poll::Ready(Ok(0));
        };
        let token = self.layer().wrap(buffer).map_err(io::Error::other)?;
        let length = u32::try_from(token.len()).map_err(io::Error::other)?;
        self.token.clear();
        self.token.extend_from_slice(&length.to_be_bytes());
        self.token.extend_from_slice(&token);
        self.sent = 0;
        // What is not sent now is sent by the next write or flush.
        _ = self.poll_send(cx)?;
        Poll::Ready(Ok(count))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_send(cx))?;
        Pin::new(&mut *self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_send(cx))?;
        Pin::new(&mut *self.io).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt as _;

    use super::*;

    /// A layer whose tokens are the octets with a bit turned, behind an octet that has to be right.
    #[derive(Debug)]
    struct Turned {
        largest: usize,
    }

    impl Layer for Turned {
        fn wrap(&mut self, buffer: &[u8]) -> Result<Vec<u8>> {
            assert!(buffer.len() <= self.largest);
            Ok([0xA5].into_iter().chain(buffer.iter().map(|octet| octet ^ 1)).collect())
        }

        fn unwrap(&mut self, token: &mut [u8]) -> Result<Vec<u8>> {
            let octets = token.strip_prefix(&[0xA5]);
            let octets = octets.ok_or_else(|| Error::new(ErrorKind::Auth, "a token that was changed"))?;
            Ok(octets.iter().map(|octet| octet ^ 1).collect())
        }

        fn largest_buffer(&self) -> usize {
            self.largest
        }

        fn largest_token(&self) -> usize {
            100_000
        }

        fn strength(&self) -> u32 {
            56
        }
    }

    fn layered(io: tokio::io::DuplexStream, largest: usize, received: &[u8]) -> Layered {
        Layered::new(Box::new(io), Box::new(Turned { largest }), BytesMut::from(received))
    }

    /// Any cut of what is written, of tokens and of what the connection takes at a time comes out as it went in.
    #[tokio::test]
    async fn there_and_back() {
        let text: Vec<u8> = (0..200_000_u32).flat_map(|number| number.to_le_bytes()).collect();
        for (pipe, largest) in [(1 << 20, 65_000), (7, 65_000), (3000, 1000), (64, 1), (1, 100)] {
            let text = text.get(..if largest == 1 || pipe < 10 { 5000 } else { text.len() }).unwrap();
            let (here, there) = tokio::io::duplex(pipe);
            let (mut here, mut there) = (layered(here, largest, b""), layered(there, largest, b""));
            let mut read = Vec::new();
            let writes = async {
                here.write_all(text).await.unwrap();
                here.shutdown().await.unwrap();
            };
            let (_, count) = tokio::join!(writes, there.read_to_end(&mut read));
            assert_eq!(count.unwrap(), text.len());
            assert!(read == text, "{pipe} {largest}");
        }
    }

    /// What was received before the layer was there is read first; tokens without octets are no end.
    #[tokio::test]
    async fn what_came_before() {
        let (here, mut there) = tokio::io::duplex(100);
        let mut here = layered(here, 10, b"\0\0\0\x02\xA5`\0\0\0\x01\xA5\0\0");
        there.write_all(b"\0\x02\xA5c").await.unwrap();
        drop(there);
        let mut read = Vec::new();
        here.read_to_end(&mut read).await.unwrap();
        assert_eq!(read, b"ab");
    }

    #[tokio::test]
    async fn faults() {
        for (octets, kind, what) in [
            (&b"\0\0\0\x02\xA4a"[..], ErrorKind::Auth, "a token that was changed"),
            (b"\0\0\0\0", ErrorKind::Auth, "a token that was changed"),
            (b"\0\0\0", ErrorKind::Closed, "ends inside a buffer"),
            (b"\0\0\0\x05\xA5a", ErrorKind::Closed, "ends inside a buffer"),
            (b"\0\x01\x86\xA1", ErrorKind::Limit, "a buffer of 100001 bytes"),
            (b"\xFF\xFF\xFF\xFF", ErrorKind::Limit, "a buffer of 4294967295 bytes"),
            (b"0\x0C\x02\x01\x01a\x07", ErrorKind::Limit, "a buffer of 806093313 bytes"),
        ] {
            let (here, mut there) = tokio::io::duplex(100);
            there.write_all(octets).await.unwrap();
            drop(there);
            let mut here = layered(here, 10, b"");
            let error = Error::from(here.read_to_end(&mut Vec::new()).await.unwrap_err());
            assert_eq!(error.kind(), kind, "{error}");
            assert!(error.message().contains(what), "{error}");
            assert!(here.received.capacity() < 1 << 20);
        }
    }
}
