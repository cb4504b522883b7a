//! Extension additions of later versions that stay where they are.

use super::ber::{self, Place};
use crate::Result;
use alloc::vec::Vec;
use core::fmt;
use core::hash::{Hash, Hasher};

/// The extension additions of a SEQUENCE or SET of BER, DER and CER that its type does not know (X.680 clause 25.4), as slices of the
/// input: one word of memory.
#[derive(Clone, Copy, Default)]
pub struct UnknownElements<'a>(Option<&'a Last<'a>>);

/// The last of them, and those before it.
struct Last<'a> {
    element: &'a [u8],
    before: UnknownElements<'a>,
}

impl<'a> UnknownElements<'a> {
    /// None of them.
    pub const NONE: Self = Self(None);

    /// Whether there are none.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Their complete encodings, the last one first.
    pub fn backwards(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let mut left = *self;
        core::iter::from_fn(move || {
            let last = left.0?;
            left = last.before;
            Some(last.element)
        })
    }

    /// Their complete encodings, in order.
    #[must_use]
    pub fn to_vec(&self) -> Vec<&'a [u8]> {
        let mut all: Vec<&[u8]> = self.backwards().collect();
        all.reverse();
        all
    }

    /// Takes all elements that are left of this level; `place` finds components, which come late or twice here.
    ///
    /// # Errors
    /// As [`UnknownElements::read_ber`].
    #[inline]
    pub fn rest_ber(r: &mut ber::Reader<'a>, place: Place) -> Result<Self> {
        if r.peek_tag()?.is_none() { Ok(Self::NONE) } else { Self::NONE.and_rest_ber(r, place) }
    }

    #[cold]
    #[inline(never)]
    fn and_rest_ber(mut self, r: &mut ber::Reader<'a>, place: Place) -> Result<Self> {
        while r.peek_tag()?.is_some() {
            self.read_ber(r, place)?;
        }
        Ok(self)
    }

    /// Takes the next element.
    ///
    /// # Errors
    /// [`ErrorKind::UnexpectedElement`] for a component that is known, [`ErrorKind::NoArena`], else as [`ber::any`].
    ///
    /// [`ErrorKind::NoArena`]: crate::ErrorKind::NoArena
    /// [`ErrorKind::UnexpectedElement`]: crate::ErrorKind::UnexpectedElement
    #[cold]
    #[inline(never)]
    pub fn read_ber(&mut self, r: &mut ber::Reader<'a>, place: Place) -> Result<()> {
        ber::not_late(r, place)?;
        let element = ber::any_slice(r)?;
        self.0 = Some(ber::in_arena(r, Last { element, before: *self })?);
        Ok(())
    }

    /// Writes them.
    ///
    /// # Errors
    /// None; as additions of other types have some.
    #[inline]
    pub fn write_ber(&self, w: &mut ber::Writer) -> Result<()> {
        self.backwards().for_each(|element| w.push(element));
        Ok(())
    }
}

impl PartialEq for UnknownElements<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.backwards().eq(other.backwards())
    }
}

impl Eq for UnknownElements<'_> {}

impl Hash for UnknownElements<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.backwards().for_each(|element| element.hash(state));
    }
}

impl fmt::Debug for UnknownElements<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.to_vec()).finish()
    }
}
