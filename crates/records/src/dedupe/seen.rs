//! Which records have been there: those of the output under way, of outputs before it, and of earlier runs.

use super::Digest;
use super::file::{Owner, StateFile};
use std::collections::{HashSet, VecDeque};
use std::io;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Records that have been there, for all threads of a converter.
#[derive(Debug, Default)]
pub(super) struct Seen {
    state: Mutex<State>,
    /// Told when a batch has had its turn.
    turn: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Records of the output under way; without a file those of all outputs.
    pending: HashSet<Digest>,
    /// The output under way.
    owner: Owner,
    file: Option<StateFile>,
    /// What has gone wrong while the file was read.
    fault: Option<io::Error>,
    /// The batch whose turn it is.
    next: usize,
    /// The new records of batches that have had their turn and are not accepted yet.
    claims: VecDeque<Vec<Digest>>,
}

impl Seen {
    pub(super) fn with_file(path: &Path, meaning: &str, earlier: Option<&str>) -> io::Result<Self> {
        let file = Some(StateFile::open(path, meaning, earlier)?);
        Ok(Self { state: Mutex::new(State { file, ..State::default() }), turn: Condvar::new() })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn begin(&self, output: Option<&str>) {
        let mut state = self.lock();
        if state.file.is_some() {
            state.pending.clear();
            state.owner = output.map_or(Owner::NOBODY, Owner::of);
        }
    }

    pub(super) fn commit(&self) -> io::Result<()> {
        let State { pending, owner, file, fault, .. } = &mut *self.lock();
        let Some(file) = file else { return Ok(()) };
        match fault.take() {
            Some(fault) => Err(fault),
            None => file.add(*owner, std::mem::take(pending)),
        }
    }

    pub(super) fn has(&self, digest: &Digest) -> bool {
        self.lock().has(digest)
    }

    pub(super) fn add(&self, digest: Digest) {
        self.lock().pending.insert(digest);
    }

    pub(super) fn begin_turns(&self) {
        let mut state = self.lock();
        state.next = 0;
        state.claims.clear();
    }

    pub(super) fn accept(&self) {
        self.lock().claims.pop_front();
    }

    pub(super) fn end_turns(&self) {
        let State { pending, claims, .. } = &mut *self.lock();
        for digest in claims.drain(..).flatten() {
            pending.remove(&digest);
        }
    }
}

impl State {
    fn has(&mut self, digest: &Digest) -> bool {
        if self.pending.contains(digest) {
            return true;
        }
        let Some(file) = &mut self.file else { return false };
        match file.has(digest, self.owner) {
            Ok(has) => has,
            Err(error) => {
                self.fault.get_or_insert(error);
                false
            }
        }
    }

    /// Which records have been there; the others have from now on.
    fn claim(&mut self, digests: &[Option<Digest>]) -> (Vec<bool>, Vec<Digest>) {
        let mut fresh = Vec::new();
        let repeated = digests.iter().map(|digest| {
            let Some(digest) = digest else { return false };
            let has = self.has(digest);
            if !has {
                self.pending.insert(*digest);
                fresh.push(*digest);
            }
            has
        });
        (repeated.collect(), fresh)
    }
}

/// The turn of a batch: it comes when all batches before have had theirs, and is had at the latest when this is dropped.
#[derive(Debug)]
pub(crate) struct Turn {
    seen: Arc<Seen>,
    batch: usize,
    is_over: bool,
}

impl Turn {
    pub(super) fn new(seen: Arc<Seen>, batch: usize) -> Self {
        Self { seen, batch, is_over: false }
    }

    /// Waits for the turn. Which of these records have been there? The others have from now on.
    pub(crate) fn take(mut self, digests: &[Option<Digest>]) -> Vec<bool> {
        self.have(digests)
    }

    fn have(&mut self, digests: &[Option<Digest>]) -> Vec<bool> {
        let state = self.seen.lock();
        let mut state = self
            .seen
            .turn
            .wait_while(state, |state| state.next != self.batch)
            .unwrap_or_else(PoisonError::into_inner);
        let (repeated, fresh) = state.claim(digests);
        state.claims.push_back(fresh);
        state.next += 1;
        self.is_over = true;
        self.seen.turn.notify_all();
        repeated
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if !self.is_over {
            self.have(&[]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    fn digest(number: u8) -> Option<Digest> {
        Some([number; 16])
    }

    #[test]
    fn batches_have_their_turns_in_order_whatever_threads_do() {
        let seen = Arc::new(Seen::default());
        seen.begin_turns();
        let batches = [vec![digest(1), None, digest(1)], vec![], vec![digest(2), digest(1)], vec![digest(3)]];
        let repeated: Vec<Vec<bool>> = thread::scope(|scope| {
            let work = |(number, digests): (usize, Vec<Option<Digest>>)| {
                let turn = Turn::new(Arc::clone(&seen), number);
                scope.spawn(move || {
                    thread::sleep(std::time::Duration::from_millis(10 * (4 - number as u64)));
                    // The second fails before its turn.
                    if number == 1 { Vec::new() } else { turn.take(&digests) }
                })
            };
            let threads: Vec<_> = batches.into_iter().enumerate().map(work).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(repeated, [vec![false, false, true], vec![], vec![false, true], vec![false]]);
        // The first alone has become rows.
        seen.accept();
        seen.end_turns();
        assert_eq!([1, 2, 3].map(|number| seen.has(&[number; 16])), [true, false, false]);
    }
}
