//! `tercet.capture`: the messages of packet captures, one after the other or as Arrow record batches.

mod message;
mod rows;
mod source;

pub(crate) use message::{CaptureMessage, CaptureMessages};
pub(crate) use source::{Capture, capture};
