//! Decoding: the loop over the elements of a SET, which come in any order, each once.

use super::decode::{Detail, Engine, Result};
use super::head::Head;
use crate::event::Sink;
use tercet_plan::ber::{NodeCode, Slot, flags, node_flags};
use tercet_runtime::{Error as Fault, ErrorKind};

impl<S: Sink> Engine<'_, S> {
    /// Reads plain components until there is one for the slow path, or no more.
    pub(super) fn set(&mut self) -> Result<()> {
        let code = self.code();
        let slots = self.slots(code);
        if self.strict {
            self.check_last(false)?;
        }
        let mut seen = self.cur().seen;
        loop {
            let head = match self.step() {
                Ok(Some(head)) => head,
                other => {
                    self.cur_mut().seen = seen;
                    return other.and_then(|_| self.close());
                }
            };
            let found = self.program.find(code, head.tag, 0);
            let Some((number, slot)) = found.and_then(|number| Some((number, slots.get(number as usize)?)))
            else {
                self.cur_mut().seen = seen;
                return self.wild_in_set(code, head);
            };
            if number < 64 {
                let bit = 1_u64 << number;
                if seen & bit != 0 {
                    return Err(self.duplicate(slot));
                }
                seen |= bit;
            } else {
                self.mark_seen(code, number)?;
            }
            if self.strict || !self.fast_leaf(slot, &head, self.pos) {
                self.cur_mut().seen = seen;
                return self.component(code, number, head);
            }
            self.pos += head.size + head.length;
        }
    }

    #[inline(never)]
    fn mark_seen(&mut self, code: &NodeCode, number: u32) -> Result<()> {
        let bit = 1_u64 << (number & 63);
        let top = self.frames.len() - 1;
        let cur = &mut self.frames[top];
        let word = match (number / 64).checked_sub(1) {
            None => Some(&mut cur.seen),
            Some(more) => self.state.bits.get_mut((cur.more + more) as usize),
        };
        let seen = word.is_none_or(|word| {
            let seen = *word & bit != 0;
            *word |= bit;
            seen
        });
        if seen {
            let slot = self.program.slots[(code.first + number) as usize];
            return Err(self.duplicate(&slot));
        }
        Ok(())
    }

    pub(super) fn is_seen(&self, number: u32) -> bool {
        let word = match (number / 64).checked_sub(1) {
            None => self.cur().seen,
            Some(more) => self.state.bits.get((self.cur().more + more) as usize).copied().unwrap_or(0),
        };
        word >> (number & 63) & 1 != 0
    }

    #[cold]
    fn duplicate(&mut self, slot: &Slot) -> Fault {
        self.detail = Some(Detail::Field(slot.field));
        self.fault(ErrorKind::DuplicateComponent)
    }

    /// A SET's component that takes any tag, or an element of nobody.
    #[cold]
    fn wild_in_set(&mut self, code: &NodeCode, head: Head) -> Result<()> {
        match self.wild_slot(code) {
            Some(number) => {
                self.mark_seen(code, number)?;
                self.component(code, number, head)
            }
            None => self.unknown(head),
        }
    }

    /// The first component of a SET that takes any tag and has not come yet.
    pub(super) fn wild_slot(&self, code: &NodeCode) -> Option<u32> {
        let mut slots = (0..).zip(self.slots(code)).filter(|_| code.flags & node_flags::WILD != 0);
        slots
            .find(|(number, slot)| slot.flags & flags::WILD != 0 && !self.is_seen(*number))
            .map(|(number, _)| number)
    }

    pub(super) fn close_set(&mut self) -> Result<()> {
        let code = self.code();
        let mut missing = code.required & !self.cur().seen != 0;
        if code.count > 64 {
            let masks = self.program.masks.get(code.masks as usize + 1..).unwrap_or_default();
            let words = self.state.bits.get(self.cur().more as usize..).unwrap_or_default();
            missing |= masks.iter().zip(words).any(|(mask, seen)| mask & !seen != 0);
        }
        let fills = self.options.fill_defaults && code.flags & node_flags::DEFAULTS != 0;
        if !missing && !fills {
            if code.count > 64 {
                self.state.bits.truncate(self.cur().more as usize);
            }
            return Ok(());
        }
        self.close_set_slowly(code)
    }

    #[cold]
    fn close_set_slowly(&mut self, code: &NodeCode) -> Result<()> {
        for (number, slot) in (0..).zip(self.slots(code)) {
            if !self.is_seen(number) {
                self.absent(slot)?;
            }
        }
        if code.count > 64 {
            self.state.bits.truncate(self.cur().more as usize);
        }
        Ok(())
    }
}
