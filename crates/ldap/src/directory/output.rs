//! What is sent to a client, message by message, and how much of it may wait.

use bytes::BytesMut;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::entry::{element, element_size, head};
use super::observe::Seen;
use super::server::Io;
use crate::error::{Error, ErrorKind, Result};
use crate::proto::Control;
use crate::proto::element::tag;
use crate::server::{self, Entries};

/// Octets that wait before they are sent.
pub(super) const FULL: usize = 64 << 10;

/// Octets on their way to a client.
pub(super) struct Output<'i> {
    pub(super) octets: Vec<u8>,
    to: To<'i>,
    /// What has been seen of the answers to a request, if somebody asks, and up to which of the octets.
    seen: Option<Seen>,
    looked: usize,
}

/// Where they go.
enum To<'i> {
    /// A stream: who reads slowly is waited for.
    Stream(&'i mut Box<dyn Io>),
    /// One datagram of at most so many octets.
    Datagram(usize),
    /// A server of [`crate::server`], which has its own way to a client.
    Handler(&'i mut Entries),
}

impl<'i> Output<'i> {
    pub(super) const fn stream(octets: Vec<u8>, io: &'i mut Box<dyn Io>) -> Self {
        Self { octets, to: To::Stream(io), seen: None, looked: 0 }
    }

    pub(super) const fn datagram(limit: usize) -> Self {
        Self { octets: Vec::new(), to: To::Datagram(limit), seen: None, looked: 0 }
    }

    pub(super) const fn handler(out: &'i mut Entries) -> Self {
        Self { octets: Vec::new(), to: To::Handler(out), seen: None, looked: 0 }
    }

    /// Sends all but the last message, and returns that.
    ///
    /// # Errors
    /// No more is sent.
    pub(super) async fn last(mut self) -> Result<Vec<u8>> {
        let last = self.octets.split_off(server::last(&self.octets));
        if !self.octets.is_empty() {
            self.flush().await?;
        }
        Ok(last)
    }

    /// Begins to look at the answers to a request.
    pub(super) fn watch(&mut self) {
        self.seen = Some(Seen::default());
        self.looked = self.octets.len();
    }

    /// What has been seen since.
    pub(super) fn seen(&mut self) -> Seen {
        self.look();
        self.seen.take().unwrap_or_default()
    }

    fn look(&mut self) {
        if let Some(seen) = &mut self.seen {
            seen.look(self.octets.get(self.looked..).unwrap_or_default());
            self.looked = self.octets.len();
        }
    }

    /// Reads what the client sends; gives the number of octets, 0 at the end.
    ///
    /// # Errors
    /// The stream fails.
    pub(super) async fn read(&mut self, input: &mut BytesMut) -> Result<usize> {
        match &mut self.to {
            To::Stream(io) => Ok(io.read_buf(input).await?),
            To::Datagram(_) | To::Handler(_) => Ok(0),
        }
    }

    /// Sends what waits if that is much.
    ///
    /// # Errors
    /// The stream fails; a datagram is full.
    pub(super) async fn relieve(&mut self) -> Result<()> {
        match &self.to {
            To::Stream(_) | To::Handler(_) if self.octets.len() < FULL => Ok(()),
            To::Stream(_) | To::Handler(_) => self.flush().await,
            To::Datagram(limit) if self.octets.len() <= *limit => Ok(()),
            To::Datagram(_) => Err(Error::new(ErrorKind::Limit, "the answer does not fit a datagram")),
        }
    }

    /// Sends what waits.
    ///
    /// # Errors
    /// The stream fails.
    pub(super) async fn flush(&mut self) -> Result<()> {
        self.look();
        self.looked = 0;
        match &mut self.to {
            To::Stream(io) => {
                io.write_all(&self.octets).await?;
                io.flush().await?;
            }
            To::Handler(out) => {
                let stopped = |_| Error::new(ErrorKind::Closed, "no more is sent");
                server::send(out, &self.octets).await.map_err(stopped)?;
            }
            To::Datagram(_) => return Ok(()),
        }
        self.octets.clear();
        Ok(())
    }
}

/// Writes a message whose operation is given in parts, one after another.
pub(crate) fn message(out: &mut Vec<u8>, id: u32, operation: u8, parts: &[&[u8]], controls: &[Control]) {
    let octets = id.to_be_bytes();
    let zeros = octets.iter().take(3).take_while(|octet| **octet == 0).count();
    // The first bit is the sign; message IDs have none.
    let id = octets.get(zeros..).unwrap_or_default();
    let sign: &[u8] = if id.first().is_some_and(|octet| *octet >= 0x80) { &[0] } else { &[] };
    let contents = parts.iter().map(|part| part.len()).sum();
    let controls = controls_of(controls);
    head(out, tag::SEQUENCE, 2 + sign.len() + id.len() + element_size(contents) + controls.len());
    head(out, tag::INTEGER, sign.len() + id.len());
    out.extend_from_slice(sign);
    out.extend_from_slice(id);
    head(out, operation, contents);
    parts.iter().for_each(|part| out.extend_from_slice(part));
    out.extend_from_slice(&controls);
}

/// The element `controls` of a message; nothing if there are none.
fn controls_of(controls: &[Control]) -> Vec<u8> {
    if controls.is_empty() {
        return Vec::new();
    }
    let mut list = Vec::new();
    for Control { oid, critical, value } in controls {
        let mut control = Vec::new();
        element(&mut control, tag::OCTET_STRING, oid.as_bytes());
        if *critical {
            element(&mut control, 0x01, &[0xFF]);
        }
        if let Some(value) = value {
            element(&mut control, tag::OCTET_STRING, value);
        }
        element(&mut list, tag::SEQUENCE, &control);
    }
    let mut out = Vec::new();
    element(&mut out, tag::CONTROLS, &list);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generated::ProtocolOp;
    use crate::proto::{Limits, decode, encode};
    use tercet_runtime::types::Octets;

    /// Messages are those of the generated codec.
    #[test]
    fn messages() {
        let controls = [
            Control::new("1.2.3"),
            Control::new("1.2.3.4").with_criticality(true).with_value(vec![b'x'; 200]),
        ];
        for id in [0, 1, 127, 128, 255, 256, 32_767, 32_768, 8_388_608, i32::MAX as u32] {
            for controls in [&[][..], &controls] {
                let url = vec![b'u'; 300];
                let mut expected = Vec::new();
                let reference = ProtocolOp::SearchResRef(vec![Octets::borrowed(&url)]);
                encode(id, reference, controls, &mut expected).unwrap();
                let (mut part, mut out) = (Vec::new(), Vec::new());
                element(&mut part, tag::OCTET_STRING, &url);
                message(&mut out, id, tag::SEARCH_REFERENCE, &[&part[..7], &part[7..]], controls);
                assert_eq!(out, expected, "{id}");
                decode(&out, &Limits::default()).unwrap();
            }
        }
    }
}
