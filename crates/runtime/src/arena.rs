//! Memory that decoded values share.

use bumpalo::Bump;
use bumpalo::collections::Vec;

/// Memory for decoded values, freed as a whole.
///
/// Generated types of `memory = "arena"` own nothing: their lists, what stands apart from the value around it, and strings that are
/// no slices of the input are in an arena that [`DecodeIn`] is given. So there is nothing to free value by value, and an arena
/// that was cleared has its memory for the next ones. Its memory grows as that of vectors would: with the input.
///
/// ```
/// use tercet_runtime::Arena;
/// let mut arena = Arena::with_capacity(64 * 1024);
/// assert!(arena.octets() >= 64 * 1024);
/// arena.clear();
/// assert!(arena.octets() >= 64 * 1024);
/// ```
///
/// [`DecodeIn`]: crate::codec::DecodeIn
#[derive(Debug, Default)]
pub struct Arena(Bump);

impl Arena {
    /// An arena that takes memory when the first value wants some.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An arena with room for so many octets.
    #[must_use]
    pub fn with_capacity(octets: usize) -> Self {
        Self(Bump::with_capacity(octets))
    }

    /// Ends all values, and keeps the largest piece of memory for the next ones.
    pub fn clear(&mut self) {
        self.0.reset();
    }

    /// The octets of memory that it has taken.
    #[must_use]
    pub fn octets(&self) -> usize {
        self.0.allocated_bytes()
    }

    /// Keeps a value that has nothing to free.
    #[inline]
    pub(crate) fn keep<T>(&self, value: T) -> &mut T {
        const { assert!(!core::mem::needs_drop::<T>(), "what is in an arena is not freed by itself") };
        self.0.alloc(value)
    }

    /// Keeps octets.
    #[inline]
    pub(crate) fn copy(&self, octets: &[u8]) -> &[u8] {
        self.0.alloc_slice_copy(octets)
    }

    /// Keeps a text.
    #[inline]
    pub(crate) fn copy_text(&self, text: &str) -> &str {
        self.0.alloc_str(text)
    }

    /// A list with room for so many elements, which have nothing to free.
    #[inline]
    pub(crate) fn list<T>(&self, room: usize) -> Vec<'_, T> {
        const { assert!(!core::mem::needs_drop::<T>(), "what is in an arena is not freed by itself") };
        Vec::with_capacity_in(room, &self.0)
    }
}
