//! Elements one after the other, without looking inside.

use super::{Header, Reader, Rules};
use crate::{Limits, Result};

/// Steps over the elements of `input` by their lengths alone: how files split into records, and the ceiling
/// that any decoder can be measured against.
///
/// ```
/// use tercet_runtime::ber::walk;
/// let elements: Result<Vec<_>, _> = walk(&[0x05, 0x00, 0x30, 0x80, 0x05, 0x00, 0x00, 0x00]).collect();
/// assert_eq!(elements?.iter().map(|(at, _, octets)| (*at, octets.len())).collect::<Vec<_>>(), [(0, 2), (2, 6)]);
/// # Ok::<(), tercet_runtime::Error>(())
/// ```
#[must_use]
pub const fn walk(input: &[u8]) -> Walk<'_> {
    Walk { reader: Reader::new(input, Rules::Ber), filler: None, done: false }
}

/// The iterator of [`walk`]: absolute offset, header and all octets of each element.
///
/// It ends after the first error.
#[derive(Clone, Debug)]
pub struct Walk<'a> {
    reader: Reader<'a>,
    filler: Option<u8>,
    done: bool,
}

impl<'a> Walk<'a> {
    /// A walk over an input whose first octet has the absolute offset `base`.
    #[must_use]
    pub const fn with_limits(input: &'a [u8], base: u64, rules: Rules, limits: &Limits) -> Self {
        Self { reader: Reader::with_limits(input, base, rules, limits), filler: None, done: false }
    }

    /// Skips octets of this value between elements, as blocks are padded with `00` or `FF`.
    #[must_use]
    pub const fn skipping(mut self, filler: u8) -> Self {
        self.filler = Some(filler);
        self
    }

    /// The position after the last whole element, or after an error of the element that has it.
    #[must_use]
    pub const fn position(&self) -> usize {
        self.reader.position()
    }

    #[inline]
    fn step(&mut self) -> Result<Option<(u64, Header, &'a [u8])>> {
        if let Some(filler) = self.filler {
            let run = self.reader.rest().iter().take_while(|octet| **octet == filler).count();
            self.reader.take(run)?;
        }
        let (at, start) = (self.reader.offset(), self.reader.position());
        let Some(header) = self.reader.next_header()? else { return Ok(None) };
        let element = match self.reader.element(&header) {
            Ok(element) => element,
            Err(error) => {
                // The cursor stays before an element that is not whole.
                self.reader.rewind(start);
                return Err(error);
            }
        };
        Ok(Some((at, header, element)))
    }
}

impl<'a> Iterator for Walk<'a> {
    type Item = Result<(u64, Header, &'a [u8])>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let next = self.step().transpose();
        self.done = !matches!(next, Some(Ok(_)));
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;
    use alloc::vec::Vec;

    #[test]
    fn splits() {
        let input = [0x00, 0x00, 0x05, 0x00, 0x00, 0x04, 0x01, 0x07, 0x00];
        let walk = Walk::with_limits(&input, 100, Rules::Ber, &Limits::DEFAULT).skipping(0);
        let found: Vec<_> = walk.map(|e| e.map(|(at, _, octets)| (at, octets.len()))).collect();
        assert_eq!(found, [Ok((102, 2)), Ok((105, 3))]);
    }

    #[test]
    fn stays_before_what_is_cut() {
        let mut cut = walk(&[0x05, 0x00, 0x30, 0x80, 0x05, 0x00]);
        assert!(cut.next().unwrap().is_ok());
        let error = cut.next().unwrap().unwrap_err();
        assert_eq!((error.kind(), cut.position()), (ErrorKind::Incomplete, 2));
        assert!(cut.next().is_none());
    }
}
