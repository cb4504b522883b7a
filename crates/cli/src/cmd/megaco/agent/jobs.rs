//! Work that is due at a time.

use super::desk::Later;
use std::collections::VecDeque;
use tercet_megaco_engine::{ConnId, Time};

/// Work that is due.
pub(super) struct Job {
    pub(super) due: Time,
    pub(super) number: u64,
    pub(super) task: Task,
}

pub(super) enum Task {
    /// Answer the first of these requests; then the next one begins.
    Answer {
        conn: ConnId,
        requests: VecDeque<Later>,
    },
    /// Register for the first time, unless that has been done.
    Begin,
    Register,
    /// The way to the controller is gone: register again.
    Lost,
    Generate,
    /// Send the requests that came before the registration.
    Held,
}

impl PartialEq for Job {
    fn eq(&self, other: &Self) -> bool {
        (self.due, self.number) == (other.due, other.number)
    }
}

impl Eq for Job {}

impl PartialOrd for Job {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Job {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.due, self.number).cmp(&(other.due, other.number))
    }
}
