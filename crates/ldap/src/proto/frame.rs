//! From a stream of octets to messages, step by step, with limits.

use bytes::{Bytes, BytesMut};

use super::element::{self, Elements, tag};
use crate::error::{Error, ErrorKind, Result};

/// What a peer may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Octets of a message, header included; 16 MiB unless told.
    pub message: usize,
    /// Constructed elements inside one another; 100 unless told.
    pub depth: u16,
}

impl Default for Limits {
    fn default() -> Self {
        Self { message: 16 << 20, depth: 100 }
    }
}

/// A message, or a run of entries of one search that stood in the buffer one after another.
#[derive(Clone, Debug)]
pub struct Incoming {
    /// The whole messages.
    pub octets: Bytes,
    /// `messageID`.
    pub id: u32,
    /// The identifier octet of `protocolOp`.
    pub operation: u8,
    /// Number of messages; more than one only for [`tag::SEARCH_ENTRY`].
    pub count: u32,
}

/// The begin of a message.
#[derive(Clone, Copy, Debug)]
struct Begin {
    id: u32,
    operation: u8,
    size: usize,
}

/// Cuts whole messages off a buffer.
#[derive(Clone, Debug, Default)]
pub struct Framer {
    limits: Limits,
}

impl Framer {
    /// With these limits.
    #[must_use]
    pub const fn new(limits: Limits) -> Self {
        Self { limits }
    }

    /// The next message of the buffer, or the run of entries at its begin; nothing if no message is complete.
    ///
    /// # Errors
    /// What stands there is no message, or a larger one than allowed: that is told from its first octets.
    pub fn next(&self, buffer: &mut BytesMut) -> Result<Option<Incoming>> {
        let Some(first) = self.begin(buffer)? else {
            return Ok(None);
        };
        let mut end = first.size;
        let mut count = 1;
        if first.operation == tag::SEARCH_ENTRY {
            // A fault behind the run is told when its turn comes.
            while let Some(rest) = buffer.get(end..)
                && let Ok(Some(next)) = self.begin(rest)
                && (next.id, next.operation) == (first.id, tag::SEARCH_ENTRY)
            {
                end += next.size;
                count += 1;
            }
        }
        let octets = buffer.split_to(end).freeze();
        Ok(Some(Incoming { octets, id: first.id, operation: first.operation, count }))
    }

    /// How many octets the message at the begin of the buffer needs at least.
    ///
    /// # Errors
    /// As [`Framer::next`].
    pub fn needed(&self, buffer: &[u8]) -> Result<usize> {
        let header = element::header(buffer, 0)?;
        Ok(header.map_or(2, |header| header.size + header.length).min(self.limits.message))
    }

    /// The begin of a complete message.
    #[inline]
    fn begin(&self, octets: &[u8]) -> Result<Option<Begin>> {
        if octets.first().is_some_and(|octet| *octet != tag::SEQUENCE) {
            return Err(element::fault("an LDAPMessage begins with 30", 0));
        }
        let Some(header) = element::header(octets, 0)? else {
            return Ok(None);
        };
        let size = header.size + header.length;
        if size > self.limits.message {
            let limit = self.limits.message;
            return Err(Error::at(
                ErrorKind::Limit,
                format!("a message of {size} bytes where {limit} are allowed"),
                0,
            ));
        }
        let Some(message) = octets.get(header.size..size) else {
            return Ok(None);
        };
        let mut elements = Elements::new(message, header.size as u64);
        let id = elements.expect(tag::INTEGER, "messageID")?;
        let id = element::small_integer(id, elements.begin(id))?;
        let at = elements.offset();
        match elements.rest().first() {
            Some(&operation) => Ok(Some(Begin { id, operation, size })),
            None => Err(element::fault("protocolOp is missing", at)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(id: u8, operation: u8) -> Vec<u8> {
        vec![0x30, 0x05, 0x02, 0x01, id, operation, 0x00]
    }

    #[test]
    fn runs_of_entries_stay_together() {
        let mut buffer = BytesMut::new();
        for (id, operation) in [(1, 0x64), (1, 0x64), (2, 0x64), (1, 0x65)] {
            buffer.extend_from_slice(&message(id, operation));
        }
        let framer = Framer::default();
        let mut seen = Vec::new();
        while let Some(incoming) = framer.next(&mut buffer).unwrap() {
            seen.push((incoming.id, incoming.operation, incoming.count, incoming.octets.len()));
        }
        assert_eq!(seen, [(1, 0x64, 2, 14), (2, 0x64, 1, 7), (1, 0x65, 1, 7)]);
    }

    #[test]
    fn octet_by_octet() {
        let framer = Framer::default();
        let mut buffer = BytesMut::new();
        for octet in &message(3, 0x64)[..6] {
            buffer.extend_from_slice(&[*octet]);
            assert!(framer.next(&mut buffer).unwrap().is_none());
        }
        buffer.extend_from_slice(&[0]);
        assert_eq!(framer.next(&mut buffer).unwrap().unwrap().id, 3);
    }

    #[test]
    fn what_is_too_large_is_told_at_once() {
        let framer = Framer::new(Limits { message: 1000, ..Limits::default() });
        let mut buffer = BytesMut::from(&[0x30, 0x84, 0x20, 0, 0, 0][..]);
        assert_eq!(framer.next(&mut buffer).unwrap_err().kind(), ErrorKind::Limit);
        let mut buffer = BytesMut::from(&b"HTTP/1.1 400 Bad Request"[..]);
        assert_eq!(framer.next(&mut buffer).unwrap_err().kind(), ErrorKind::Protocol);
    }
}
