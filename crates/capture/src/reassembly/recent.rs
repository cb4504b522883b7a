//! A table that forgets what was not used for longest.

use std::collections::HashMap;
use std::hash::Hash;

/// A map of at most `limit` entries.
#[derive(Debug)]
pub(crate) struct Recent<K, V> {
    entries: HashMap<K, (u64, V)>,
    clock: u64,
    limit: usize,
}

impl<K: Hash + Eq + Copy, V> Recent<K, V> {
    pub(crate) fn new(limit: usize) -> Self {
        Self { entries: HashMap::new(), clock: 0, limit }
    }

    /// Returns the entry of a key.
    pub(crate) fn get(&mut self, key: K) -> Option<&mut V> {
        self.clock += 1;
        let (used, value) = self.entries.get_mut(&key)?;
        *used = self.clock;
        Some(value)
    }

    /// Adds an entry, instead of one that has the key; returns those that are forgotten.
    pub(crate) fn insert(&mut self, key: K, value: V) -> Vec<V> {
        let mut forgotten = Vec::new();
        if self.entries.len() >= self.limit {
            // A quarter at once: the search is paid by the insertions until the next one.
            let mut times: Vec<u64> = self.entries.values().map(|(used, _)| *used).collect();
            let at = times.len() / 4;
            let oldest = *times.select_nth_unstable(at).1;
            let keys: Vec<K> =
                self.entries.iter().filter(|(_, (used, _))| *used <= oldest).map(|(key, _)| *key).collect();
            forgotten.extend(keys.iter().filter_map(|key| self.remove(*key)));
        }
        self.clock += 1;
        self.entries.insert(key, (self.clock, value));
        forgotten
    }

    pub(crate) fn remove(&mut self, key: K) -> Option<V> {
        self.entries.remove(&key).map(|(_, value)| value)
    }
}
