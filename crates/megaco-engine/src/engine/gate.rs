//! The limits of errors that are sent.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::Engine;
use crate::route::Route;
use crate::seeded::Seeded;
use crate::time::Time;

/// Errors to one source in a second.
const ERRORS_PER_SOURCE: u32 = 50;
/// Errors to all sources in a second.
const ERRORS_IN_ALL: u32 = 2000;

/// Bounds the errors that are sent: two engines of different versions would answer each other's errors for ever, and a
/// forged sender would be flooded. Engines that are one entity share it: they would send more together than each may.
#[derive(Clone, Debug)]
pub(super) struct ErrorGate(Arc<Mutex<Second>>);

/// What was sent in a second.
#[derive(Debug)]
struct Second {
    number: u64,
    total: u32,
    sources: HashMap<Route, u32, Seeded>,
}

impl ErrorGate {
    pub(super) fn new(seeded: Seeded) -> Self {
        let sources = HashMap::with_hasher(seeded);
        Self(Arc::new(Mutex::new(Second { number: 0, total: 0, sources })))
    }

    /// Returns whether one more error may be sent.
    pub(super) fn admits(&self, now: Time, route: Route) -> bool {
        // Numbers are right whatever a thread was doing when it ended.
        let mut second = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let number = now.as_millis() / 1000;
        // The time of an engine does not go back; that of another one may be a moment behind.
        if number > second.number {
            second.number = number;
            second.total = 0;
            second.sources.clear();
        }
        // Sources that get no error are not remembered: they may be as many as there are addresses to forge.
        if second.total >= ERRORS_IN_ALL {
            return false;
        }
        let of_source = second.sources.entry(route).or_default();
        if *of_source >= ERRORS_PER_SOURCE {
            return false;
        }
        *of_source += 1;
        second.total += 1;
        true
    }
}

impl Engine {
    /// Sends errors within the limits of another engine, together with it: 50 a second to one source, 2,000 to all. The clocks of
    /// both have one beginning.
    pub fn share_error_limits(&mut self, other: &Self) {
        self.gate = other.gate.clone();
    }
}
