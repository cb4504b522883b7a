//! Who works when: a search works in short turns, and one that costs much lets others go first.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::entry::Stored;
use super::search::{Task, Turn};
use crate::filter::condition::{Budget, Steps};

/// Steps of a turn: about a millisecond.
const TURN: Steps = 100_000;

/// Permits of what costs much, for all connections of a directory.
#[derive(Debug)]
pub(super) struct Scheduler {
    /// Turns of searches that have used up their first one. There are as many as threads, so that all cores are used, and a request
    /// that costs little waits for the end of one turn at most.
    turns: Semaphore,
    /// Entries whose evaluation alone takes more than a turn: on threads of their own.
    blocking: Arc<Semaphore>,
    /// Passwords that are hashed: each takes memory and time by intention.
    hashing: Arc<Semaphore>,
}

impl Default for Scheduler {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self {
            turns: Semaphore::new(cores),
            blocking: Arc::new(Semaphore::new(cores.div_ceil(2))),
            hashing: Arc::new(Semaphore::new(cores)),
        }
    }
}

/// Sets a flag when it is dropped: work on another thread ends with the future that waits for it.
struct GiveUp(Arc<AtomicBool>);

impl Drop for GiveUp {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Scheduler {
    /// Lets a search look at entries until it has done so with all, or there is much to send. The first turn is free; later ones wait
    /// for a permit.
    pub(super) async fn work(
        &self,
        mut task: Task,
        entries: &[Arc<Stored>],
        mut out: Vec<u8>,
        turns: &mut u64,
    ) -> (Task, Vec<u8>, Turn) {
        let mut at = 0;
        loop {
            let permit = if *turns == 0 { None } else { self.turns.acquire().await.ok() };
            let budget = &mut Budget::turn(TURN);
            let rest = entries.get(at..).unwrap_or_default();
            let turn = task.work(rest, &mut out, budget);
            drop(permit);
            let Turn::Over(index) = turn else {
                let turn = if let Turn::Full(index) = turn { Turn::Full(at + index) } else { turn };
                return (task, out, turn);
            };
            *turns += 1;
            at += index;
            let deadline = task.query().deadline;
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return (task, out, Turn::Time);
            }
            // A whole turn was not enough for one entry.
            if index == 0
                && let Some(stored) = rest.first()
            {
                let turn;
                (task, out, turn) = self.alone(task, Arc::clone(stored), out).await;
                match turn {
                    Turn::Done => at += 1,
                    Turn::Full(_) => return (task, out, Turn::Full(at)),
                    _ => return (task, out, turn),
                }
            } else {
                tokio::task::yield_now().await;
            }
        }
    }

    /// Lets a search look at one entry for as long as the time limit allows, on another thread.
    async fn alone(&self, task: Task, stored: Arc<Stored>, out: Vec<u8>) -> (Task, Vec<u8>, Turn) {
        let deadline = task.query().deadline;
        let waiting = Arc::clone(&self.blocking).acquire_owned();
        let permit: Option<OwnedSemaphorePermit> = match deadline {
            None => waiting.await.ok(),
            Some(deadline) => match tokio::time::timeout_at(deadline.into(), waiting).await {
                Ok(permit) => permit.ok(),
                Err(_) => return (task, out, Turn::Time),
            },
        };
        let flag = Arc::new(AtomicBool::new(false));
        let give_up = GiveUp(Arc::clone(&flag));
        let id = task.id;
        let query = Arc::clone(task.query());
        let done = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            let (mut task, mut out) = (task, out);
            let turn = task.work(&[stored], &mut out, &mut Budget::until(deadline, flag));
            (task, out, turn)
        });
        let done = done.await;
        drop(give_up);
        // The thread ends early only if the runtime does.
        done.unwrap_or_else(|_| (Task::refresh(id, query, None), Vec::new(), Turn::Time))
    }

    /// Runs what takes long by intention, as hashing a password, on another thread.
    pub(super) async fn hash<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let permit = Arc::clone(&self.hashing).acquire_owned().await.ok()?;
        let done = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            work()
        });
        done.await.ok()
    }
}
