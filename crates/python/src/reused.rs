//! Memory of lazy values that is used again from value to value.

use std::mem;
use std::sync::Mutex;
use tercet::dynamic::Tape;

/// Tapes that are kept.
const TAPES: usize = 16;
/// Octets of memory of a tape that is kept.
const TAPE_OCTETS: usize = 1 << 16;
/// Octets of memory for an entry, of a tape that a value keeps: four times what a copy has.
const ENTRY_OCTETS: usize = 64;

/// Spare tapes for the values of one shape. While one thread takes or gives, another does without.
#[derive(Debug, Default)]
pub(crate) struct Reused {
    tapes: Mutex<Vec<Tape>>,
}

impl Reused {
    /// Takes the value of a tape: with its memory, if there is a spare tape to replace it, else as a copy.
    pub(crate) fn take(&self, tape: &mut Tape) -> Tape {
        // Memory that a larger value has left is not for a small value, which may be kept for long.
        let spare = if tape.memory() <= ENTRY_OCTETS * tape.len() { self.spare() } else { None };
        match spare {
            Some(spare) => mem::replace(tape, spare),
            None => tape.clone(),
        }
    }

    fn spare(&self) -> Option<Tape> {
        self.tapes.try_lock().ok()?.pop()
    }

    /// Keeps the memory of a tape for [`Reused::take`].
    pub(crate) fn give(&self, tape: Tape) {
        if tape.memory() <= TAPE_OCTETS
            && let Ok(mut tapes) = self.tapes.try_lock()
            && tapes.len() < TAPES
        {
            tapes.push(tape);
        }
    }
}
