//! A hierarchical timing wheel: starting and stopping a timer costs O(1), and no timer has memory of its own beyond one node
//! of 32 bytes that is used again.

use crate::time::Time;

/// Levels of the wheel. Each has 64 slots, and a slot of one level is as long as the level before it: with a tick of one
/// millisecond 2^36 ms, more than two years.
const LEVELS: usize = 6;
const SLOTS: usize = 64;
const NONE: u32 = u32::MAX;
const FREE: u16 = u16::MAX;

/// A timer that has been started. It is valid until it expires or is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimerId(u32);

impl TimerId {
    /// No timer; stopping it does nothing.
    pub(crate) const NONE: Self = Self(NONE);

    pub(crate) const fn is_some(self) -> bool {
        self.0 != NONE
    }
}

#[derive(Clone, Copy, Debug)]
struct Node<T> {
    deadline: u64,
    previous: u32,
    next: u32,
    /// Level and slot of the list that the node is in.
    place: u16,
    payload: T,
}

#[derive(Clone, Copy, Debug)]
struct List {
    head: u32,
    tail: u32,
}

const EMPTY: List = List { head: NONE, tail: NONE };

/// Timers with what each is for.
#[derive(Debug)]
pub(crate) struct Wheel<T> {
    /// The last tick whose timers have expired.
    elapsed: u64,
    nodes: Vec<Node<T>>,
    free: u32,
    active: usize,
    slots: Box<[List; LEVELS * SLOTS]>,
    /// For each level a bit for each slot that has timers.
    occupied: [u64; LEVELS],
}

impl<T: Copy> Wheel<T> {
    pub(crate) fn new() -> Self {
        Self {
            elapsed: 0,
            nodes: Vec::new(),
            free: NONE,
            active: 0,
            slots: Box::new([EMPTY; LEVELS * SLOTS]),
            occupied: [0; LEVELS],
        }
    }

    /// How many timers run.
    pub(crate) const fn len(&self) -> usize {
        self.active
    }

    /// Starts a timer of so many milliseconds. It expires in a later tick, never at once: a timer of nothing that is started
    /// again and again does not keep [`expired`](Self::expired) from its end.
    pub(crate) fn start(&mut self, now: Time, millis: u64, payload: T) -> TimerId {
        let micros = now.as_micros().saturating_add(millis.saturating_mul(1000));
        let deadline = micros.div_ceil(1000).max(now.as_millis() + 1).max(self.elapsed + 1);
        let node = Node { deadline, previous: NONE, next: NONE, place: FREE, payload };
        let index = match self.nodes.get(self.free as usize) {
            Some(free) => {
                let index = self.free;
                self.free = free.next;
                self.nodes[index as usize] = node;
                index
            }
            None => {
                self.nodes.push(node);
                (self.nodes.len() - 1) as u32
            }
        };
        self.active += 1;
        self.link(index);
        TimerId(index)
    }

    /// Stops a timer; does nothing with [`TimerId::NONE`].
    pub(crate) fn stop(&mut self, timer: &mut TimerId) {
        let index = std::mem::replace(timer, TimerId::NONE).0;
        if self.nodes.get(index as usize).is_some_and(|node| node.place != FREE) {
            self.unlink(index);
            self.release(index);
        }
    }

    /// The next moment at which timers may expire.
    pub(crate) fn next_deadline(&self) -> Option<Time> {
        self.next_slot().map(|(_, _, tick)| Time::from_millis(tick))
    }

    /// Takes a timer that has expired by now.
    pub(crate) fn expired(&mut self, now: Time) -> Option<T> {
        let now = now.as_millis();
        loop {
            let Some((level, slot, tick)) = self.next_slot().filter(|&(.., tick)| tick <= now) else {
                self.elapsed = self.elapsed.max(now);
                return None;
            };
            if level == 0 {
                self.elapsed = self.elapsed.max(tick - 1);
                let index = self.slots[slot].head;
                self.unlink(index);
                let payload = self.nodes[index as usize].payload;
                self.release(index);
                return Some(payload);
            }
            self.elapsed = self.elapsed.max(tick - 1);
            self.cascade(level, slot);
        }
    }

    /// Moves the timers of a slot to lower levels.
    fn cascade(&mut self, level: usize, slot: usize) {
        let place = level * SLOTS + slot;
        let mut index = std::mem::replace(&mut self.slots[place], EMPTY).head;
        self.occupied[level] &= !(1 << slot);
        while index != NONE {
            let next = self.nodes[index as usize].next;
            self.link(index);
            index = next;
        }
    }

    /// Level, slot and first tick of the slot whose turn is next.
    fn next_slot(&self) -> Option<(usize, usize, u64)> {
        let from = self.elapsed + 1;
        let mut best: Option<(usize, usize, u64)> = None;
        for (level, &occupied) in self.occupied.iter().enumerate() {
            if occupied == 0 {
                continue;
            }
            let shift = 6 * level as u32;
            let current = (from >> shift) as u32 % 64;
            let distance = occupied.rotate_right(current).trailing_zeros();
            let slot = ((current + distance) % 64) as usize;
            // The slot of now begins before now on the upper levels; what is in it is due to be moved down.
            let tick = (((from >> shift) + u64::from(distance)) << shift).max(from);
            // Of slots that begin at the same tick the upper one goes first: its timers may belong to the lower one.
            if best.is_none_or(|(.., first)| tick <= first) {
                best = Some((level, slot, tick));
            }
        }
        best
    }

    /// Puts a timer into the slot of its deadline.
    fn link(&mut self, index: u32) {
        let from = self.elapsed + 1;
        let deadline = self.nodes[index as usize].deadline.max(from);
        // The level on which the deadline is fewer than 64 slots away.
        let mut level = 0;
        while level + 1 < LEVELS && (deadline >> (6 * level)) - (from >> (6 * level)) >= 64 {
            level += 1;
        }
        let shift = 6 * level;
        let first = from >> shift;
        // A deadline beyond the wheel waits in its last slot and is put in again then.
        let slot = ((deadline >> shift).min(first + 63) % 64) as usize;
        let place = level * SLOTS + slot;
        let list = &mut self.slots[place];
        let tail = list.tail;
        list.tail = index;
        if tail == NONE {
            list.head = index;
        }
        let node = &mut self.nodes[index as usize];
        (node.previous, node.next, node.place) = (tail, NONE, place as u16);
        if let Some(tail) = self.nodes.get_mut(tail as usize) {
            tail.next = index;
        }
        self.occupied[level] |= 1 << slot;
    }

    fn unlink(&mut self, index: u32) {
        let Node { previous, next, place, .. } = self.nodes[index as usize];
        let place = usize::from(place);
        match self.nodes.get_mut(previous as usize) {
            Some(node) => node.next = next,
            None => self.slots[place].head = next,
        }
        match self.nodes.get_mut(next as usize) {
            Some(node) => node.previous = previous,
            None => self.slots[place].tail = previous,
        }
        if self.slots[place].head == NONE {
            self.occupied[place / SLOTS] &= !(1 << (place % SLOTS));
        }
    }

    fn release(&mut self, index: u32) {
        self.active -= 1;
        let node = &mut self.nodes[index as usize];
        node.place = FREE;
        node.next = self.free;
        self.free = index;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn timers_expire_in_their_tick() {
        let mut wheel = Wheel::new();
        let now = Time::from_micros(500);
        for millis in [0, 1, 63, 64, 65, 4096, 300_000, 1 << 37] {
            wheel.start(now, millis, millis);
        }
        let mut expired = Vec::new();
        while let Some(deadline) = wheel.next_deadline() {
            while let Some(millis) = wheel.expired(deadline) {
                expired.push(millis);
                assert_eq!(deadline.as_millis(), (millis + 1).max(1));
            }
        }
        assert_eq!(expired, [0, 1, 63, 64, 65, 4096, 300_000, 1 << 37]);
        assert_eq!(wheel.len(), 0);
    }

    #[test]
    fn a_timer_of_nothing_waits_for_the_next_tick() {
        let mut wheel = Wheel::new();
        wheel.start(Time::default(), 0, 0);
        let at = Time::from_millis(5);
        assert_eq!(wheel.expired(at), Some(0));
        assert_eq!(wheel.expired(at), None);
        wheel.start(at, 0, 1);
        assert_eq!(wheel.expired(at), None);
        assert_eq!(wheel.expired(Time::from_millis(6)), Some(1));
    }

    proptest! {
        /// The wheel against a sorted list.
        #[test]
        fn against_a_list(steps in prop::collection::vec((0..4u8, 0..200_000u64), 1..300)) {
            let mut wheel = Wheel::new();
            let mut list: Vec<(u64, usize, TimerId)> = Vec::new();
            let mut now = 0;
            for (number, (step, value)) in steps.into_iter().enumerate() {
                match step {
                    0 | 1 => {
                        let wait = if step == 0 { value } else { value % 100 };
                        let id = wheel.start(Time::from_millis(now), wait, number);
                        list.push(((now + wait).max(now + 1), number, id));
                    }
                    2 if !list.is_empty() => {
                        let (.., mut id) = list.swap_remove(value as usize % list.len());
                        wheel.stop(&mut id);
                    }
                    _ => {
                        now += if value % 2 == 0 { value } else { value % 70 };
                        let mut expired = Vec::new();
                        while let Some(number) = wheel.expired(Time::from_millis(now)) {
                            expired.push(number);
                        }
                        let mut due: Vec<_> = list.iter().filter(|timer| timer.0 <= now).copied().collect();
                        due.sort_by_key(|&(at, number, _)| (at, number));
                        list.retain(|timer| timer.0 > now);
                        // Within a tick the order is that of the lists; across ticks that of time.
                        let place = |number: &usize| due.iter().find(|timer| timer.1 == *number).map(|timer| timer.0);
                        prop_assert!(expired.iter().map(place).is_sorted());
                        expired.sort_unstable();
                        let mut numbers: Vec<_> = due.iter().map(|timer| timer.1).collect();
                        numbers.sort_unstable();
                        prop_assert_eq!(expired, numbers);
                    }
                }
                prop_assert_eq!(wheel.len(), list.len());
                let earliest = list.iter().map(|timer| timer.0).min();
                prop_assert!(wheel.next_deadline().map(Time::as_millis) <= earliest || earliest.is_none());
                prop_assert_eq!(wheel.next_deadline().is_none(), earliest.is_none());
            }
        }
    }
}
