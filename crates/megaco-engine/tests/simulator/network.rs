//! The network: what becomes of a message on its way.

use std::collections::BTreeMap;
use std::sync::Arc;

use tercet_megaco_engine::Random;

use crate::plan::Plan;

/// Something that happens at a moment.
#[derive(Debug)]
pub(crate) enum Action {
    Deliver { from: usize, to: usize, octets: Arc<[u8]>, is_corrupt: bool },
    Request { from: usize, to: usize },
    WorkDone { node: usize, epoch: u32, work: usize },
    Cancel { node: usize },
    Restart { node: usize },
    Jump { node: usize, by: i64 },
    Cut { a: usize, b: usize },
    Heal { a: usize, b: usize },
}

/// What is to happen, in its order.
#[derive(Debug, Default)]
pub(crate) struct Agenda {
    actions: BTreeMap<(u64, u64), Action>,
    number: u64,
}

impl Agenda {
    pub(crate) fn add(&mut self, at: u64, action: Action) {
        self.number += 1;
        self.actions.insert((at, self.number), action);
    }

    pub(crate) fn next_at(&self) -> Option<u64> {
        self.actions.first_key_value().map(|((at, _), _)| *at)
    }

    pub(crate) fn take(&mut self) -> Option<Action> {
        self.actions.pop_first().map(|(_, action)| action)
    }
}

#[derive(Debug, Default)]
pub(crate) struct Network {
    pub(crate) cut: Vec<(usize, usize)>,
    pub(crate) lost: u64,
    pub(crate) doubled: u64,
    pub(crate) corrupted: u64,
}

impl Network {
    /// Puts the copies of a message on the agenda that arrive.
    #[expect(clippy::too_many_arguments, reason = "a message, its way and its weather")]
    pub(crate) fn send(
        &mut self,
        plan: &Plan,
        random: &mut Random,
        agenda: &mut Agenda,
        now: u64,
        from: usize,
        to: usize,
        octets: &Arc<[u8]>,
    ) {
        let is_cut = self.cut.iter().any(|&(a, b)| (a, b) == (from, to) || (b, a) == (from, to));
        if is_cut || random.permille(plan.loss) {
            self.lost += 1;
            return;
        }
        let copies = if random.permille(plan.doubling) { 2 } else { 1 };
        self.doubled += copies - 1;
        for _ in 0..copies {
            let mut way = plan.delay + random.below(plan.delay / 4 + 1);
            if random.permille(plan.reordering) {
                way += random.below(600_000);
            }
            let is_corrupt = random.permille(plan.corruption);
            let mut octets = Arc::clone(octets);
            if is_corrupt {
                self.corrupted += 1;
                let mut changed = octets.to_vec();
                let bit = random.below(changed.len() as u64 * 8) as usize;
                changed[bit / 8] ^= 1 << (bit % 8);
                octets = changed.into();
            }
            agenda.add(now + way, Action::Deliver { from, to, octets, is_corrupt });
        }
    }
}
