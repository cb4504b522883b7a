//! What cannot be read, and where.

use std::borrow::Cow;
use std::fmt;

/// A part of a capture that cannot be read as it should be. Reading goes on after it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fault {
    /// The frame that it is in; `None` where the file itself cannot be followed.
    pub frame: Option<u64>,
    /// The layer: `pcap`, `pcapng`, `ethernet`, `ipv4`, `sctp`, …
    pub layer: &'static str,
    /// The offset in the (uncompressed) file where the layer begins, in bytes. What was put together of fragments has the
    /// offset of its last fragment.
    pub offset: u64,
    /// What is wrong, as a lower-case phrase.
    pub reason: Cow<'static, str>,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(frame) = self.frame {
            write!(f, "frame {frame}: ")?;
        }
        write!(f, "{}: {} (at byte {})", self.layer, self.reason, self.offset)
    }
}
