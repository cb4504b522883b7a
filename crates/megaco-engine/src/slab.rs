//! Slots that are used again, and lists through them.

/// Values in slots. A slot has a generation, so that the name of a value that is gone is not that of the next one.
#[derive(Debug)]
pub(crate) struct Slab<T> {
    slots: Vec<Slot<T>>,
    free: Vec<u32>,
}

#[derive(Debug)]
struct Slot<T> {
    generation: u32,
    value: Option<T>,
}

/// The neighbours of a value in a list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Links {
    previous: u32,
    next: u32,
}

/// A list of values of a slab.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chain {
    head: u32,
    count: u32,
}

/// A value that can be in one list.
pub(crate) trait Linked {
    fn links(&mut self) -> &mut Links;
    fn next(&self) -> u32;
}

const NONE: u32 = u32::MAX;

impl Links {
    pub(crate) const NONE: Self = Self { previous: NONE, next: NONE };

    pub(crate) const fn next(self) -> u32 {
        self.next
    }
}

impl Chain {
    pub(crate) const EMPTY: Self = Self { head: NONE, count: 0 };

    pub(crate) const fn len(self) -> usize {
        self.count as usize
    }

    pub(crate) const fn is_empty(self) -> bool {
        self.count == 0
    }
}

impl<T> Slab<T> {
    pub(crate) const fn new() -> Self {
        Self { slots: Vec::new(), free: Vec::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Puts a value into a free slot.
    pub(crate) fn insert(&mut self, value: T) -> u32 {
        match self.free.pop() {
            Some(index) => {
                self.slots[index as usize].value = Some(value);
                index
            }
            None => {
                self.slots.push(Slot { generation: 0, value: Some(value) });
                (self.slots.len() - 1) as u32
            }
        }
    }

    pub(crate) fn remove(&mut self, index: u32) -> Option<T> {
        let slot = self.slots.get_mut(index as usize)?;
        let value = slot.value.take()?;
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(index);
        Some(value)
    }

    pub(crate) fn get(&self, index: u32) -> Option<&T> {
        self.slots.get(index as usize)?.value.as_ref()
    }

    pub(crate) fn get_mut(&mut self, index: u32) -> Option<&mut T> {
        self.slots.get_mut(index as usize)?.value.as_mut()
    }

    pub(crate) fn generation(&self, index: u32) -> u32 {
        self.slots.get(index as usize).map_or(0, |slot| slot.generation)
    }

    /// Returns whether a value is still there.
    pub(crate) fn is_current(&self, index: u32, generation: u32) -> bool {
        self.slots
            .get(index as usize)
            .is_some_and(|slot| slot.generation == generation && slot.value.is_some())
    }

    /// The slots that are in use.
    pub(crate) fn indices(&self) -> impl Iterator<Item = u32> + '_ {
        (0..).zip(&self.slots).filter(|(_, slot)| slot.value.is_some()).map(|(index, _)| index)
    }
}

impl<T: Linked> Slab<T> {
    /// Puts a value at the begin of a list.
    pub(crate) fn push(&mut self, chain: &mut Chain, index: u32) {
        let head = chain.head;
        if let Some(value) = self.get_mut(index) {
            *value.links() = Links { previous: NONE, next: head };
        }
        if let Some(next) = self.get_mut(head) {
            next.links().previous = index;
        }
        chain.head = index;
        chain.count += 1;
    }

    /// Takes a value out of its list.
    pub(crate) fn unlink(&mut self, chain: &mut Chain, index: u32) {
        let Some(value) = self.get_mut(index) else { return };
        let Links { previous, next } = std::mem::replace(value.links(), Links::NONE);
        match self.get_mut(previous) {
            Some(value) => value.links().next = next,
            None => chain.head = next,
        }
        if let Some(value) = self.get_mut(next) {
            value.links().previous = previous;
        }
        chain.count -= 1;
    }

    /// The values of a list, the last one that was put into it first.
    pub(crate) fn iter(&self, chain: Chain) -> impl Iterator<Item = u32> + '_ {
        let first = (chain.head != NONE).then_some(chain.head);
        std::iter::successors(first, |&index| self.get(index).map(Linked::next).filter(|&next| next != NONE))
    }
}
