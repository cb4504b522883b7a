//! Sets of numbers of entries.

/// Numbers in one run; a longer set is several runs.
const RUN: usize = 512;

/// A set of numbers, in ascending order. Most have one; those of a common object class have one for each entry.
#[derive(Debug)]
pub(in super::super) enum Ids {
    One(u32),
    Few(Vec<u32>),
    Runs { runs: Vec<Vec<u32>>, count: usize },
}

impl Ids {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::Few(ids) => ids.len(),
            Self::Runs { count, .. } => *count,
        }
    }

    pub(super) fn contains(&self, id: u32) -> bool {
        match self {
            Self::One(known) => *known == id,
            Self::Few(ids) => ids.binary_search(&id).is_ok(),
            Self::Runs { runs, .. } => {
                runs.get(run_of(runs, id)).is_some_and(|run| run.binary_search(&id).is_ok())
            }
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = u32> {
        let (one, few, runs) = match self {
            Self::One(id) => (Some(*id), &[][..], &[][..]),
            Self::Few(ids) => (None, ids.as_slice(), &[][..]),
            Self::Runs { runs, .. } => (None, &[][..], runs.as_slice()),
        };
        one.into_iter().chain(few.iter().copied()).chain(runs.iter().flatten().copied())
    }

    /// Makes room for so many numbers, as far as they come into one run.
    pub(super) fn reserve(&mut self, more: usize) {
        match self {
            Self::One(id) if more > 0 => {
                let mut ids = Vec::with_capacity(more.min(RUN - 1) + 1);
                ids.push(*id);
                *self = Self::Few(ids);
            }
            Self::Few(ids) => ids.reserve_exact(more.min(RUN.saturating_sub(ids.len()))),
            _ => {}
        }
    }

    pub(super) fn insert(&mut self, id: u32) {
        match self {
            Self::One(known) if *known == id => {}
            Self::One(known) => *self = Self::Few(vec![id.min(*known), id.max(*known)]),
            // Numbers mostly ascend: loading a directory appends.
            Self::Few(ids) if ids.len() < RUN && ids.last().is_none_or(|last| *last < id) => ids.push(id),
            Self::Few(ids) => {
                if let Err(at) = ids.binary_search(&id) {
                    ids.insert(at, id);
                    if ids.len() > RUN {
                        let (ids, count) = (std::mem::take(ids), RUN + 1);
                        *self = Self::Runs { runs: vec![ids], count };
                    }
                }
            }
            Self::Runs { runs, count } => {
                if let Some(run) = runs.last_mut()
                    && let Some(last) = run.last()
                    && *last <= id
                    && (*last == id || run.len() < RUN)
                {
                    if *last < id {
                        run.push(id);
                        *count += 1;
                    }
                    return;
                }
                let index = run_of(runs, id);
                let last = runs.len() - 1;
                let Some(run) = runs.get_mut(index) else { return };
                let Err(at) = run.binary_search(&id) else { return };
                *count += 1;
                if run.len() < RUN {
                    run.insert(at, id);
                } else if index == last && at == run.len() {
                    // Full runs stay full.
                    runs.push(vec![id]);
                } else {
                    let mut upper = run.split_off(run.len() / 2);
                    if at > run.len() {
                        upper.insert(at - run.len(), id)
                    } else {
                        run.insert(at, id)
                    }
                    runs.insert(index + 1, upper);
                }
            }
        }
    }

    /// Removes a number; returns whether the set is empty now, so that it has to be dropped.
    pub(super) fn remove(&mut self, id: u32) -> bool {
        match self {
            Self::One(known) => *known == id,
            Self::Few(ids) => {
                if let Ok(at) = ids.binary_search(&id) {
                    ids.remove(at);
                }
                ids.is_empty()
            }
            Self::Runs { runs, count } => {
                let index = run_of(runs, id);
                if let Some(run) = runs.get_mut(index)
                    && let Ok(at) = run.binary_search(&id)
                {
                    run.remove(at);
                    *count -= 1;
                    if run.is_empty() {
                        runs.remove(index);
                    }
                }
                *count == 0
            }
        }
    }
}

/// The run in which a number is, or has to be inserted.
fn run_of(runs: &[Vec<u32>], id: u32) -> usize {
    runs.partition_point(|run| run.first().is_some_and(|first| *first <= id)).saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn as_a_set(steps in proptest::collection::vec((0_u32..3000, any::<bool>()), 1..200), filled in 0_u32..2500) {
            let mut known = BTreeSet::from([0]);
            let mut ids = Ids::One(0);
            let all = (0..filled).map(|id| (id, true)).chain(steps);
            for (id, inserts) in all {
                if inserts {
                    known.insert(id);
                    ids.insert(id);
                } else if !(known.len() == 1 && known.contains(&id)) {
                    known.remove(&id);
                    prop_assert!(!ids.remove(id));
                }
                prop_assert_eq!(ids.contains(id), known.contains(&id));
            }
            prop_assert_eq!(ids.len(), known.len());
            prop_assert!(ids.iter().eq(known.iter().copied()));
            let last = known.pop_last().unwrap();
            for id in known {
                prop_assert!(!ids.remove(id));
            }
            prop_assert!(ids.remove(last));
        }
    }
}
