//! Pieces that wait for others: fragments of IP and of SCTP, segments of SCCP and of TCP, under one limit of memory.

pub(crate) mod ip;
pub(crate) mod recent;
pub(crate) mod sccp;
pub(crate) mod sctp;
pub(crate) mod tcp;
pub(crate) mod window;

use std::sync::Arc;

/// The frames that octets came in, in order.
#[derive(Clone, Debug)]
pub(crate) enum Frames {
    One(u64),
    Several(Arc<[u64]>),
}

impl Frames {
    /// Returns the numbers.
    pub(crate) fn numbers(&self) -> &[u64] {
        match self {
            Self::One(frame) => std::slice::from_ref(frame),
            Self::Several(frames) => frames,
        }
    }

    /// Returns the frames of a list, which may have some twice.
    pub(crate) fn of(mut frames: Vec<u64>) -> Self {
        frames.sort_unstable();
        frames.dedup();
        match *frames {
            [frame] => Self::One(frame),
            _ => Self::Several(frames.into()),
        }
    }
}

/// Octets that wait, and the order in which they came.
#[derive(Debug)]
pub(crate) struct Budget {
    /// The most octets that wait.
    pub(crate) limit: usize,
    /// Octets that wait now, with what keeping them takes.
    pub(crate) used: usize,
    clock: u64,
}

impl Budget {
    /// What keeping a piece takes beside its octets.
    pub(crate) const PIECE: usize = 128;

    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, used: 0, clock: 0 }
    }

    /// Returns the number of the next thing that waits: the lowest is the oldest.
    pub(crate) fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }
}
