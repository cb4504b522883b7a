//! What a decoder may spend on one input.

use crate::{Error, ErrorKind, Result};

/// Bounds on what a decoder accepts, beside those that the input itself gives.
///
/// ```
/// use tercet_runtime::Limits;
/// let limits = Limits::default().with_depth(200);
/// assert_eq!(limits.depth, 200);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Limits {
    /// Constructed elements inside one another; 64 unless told, at most [`Limits::MAX_DEPTH`].
    pub depth: u16,
    /// Octets in the contents of one element; unlimited (`u64::MAX`) unless told.
    ///
    /// An element never reaches past its input in any case, and nothing is allocated from an
    /// announced length.
    pub element_length: u64,
}

impl Limits {
    /// The defaults as a constant.
    pub const DEFAULT: Self = Self { depth: 64, element_length: u64::MAX };
    /// The largest depth that one may ask for.
    pub const MAX_DEPTH: u16 = 1_000;

    /// Allows `depth` constructed elements inside one another, at most [`Limits::MAX_DEPTH`].
    #[must_use]
    pub const fn with_depth(mut self, depth: u16) -> Self {
        self.depth = if depth > Self::MAX_DEPTH { Self::MAX_DEPTH } else { depth };
        self
    }

    /// Refuses elements whose contents are longer than `octets`.
    #[must_use]
    pub const fn with_element_length(mut self, octets: u64) -> Self {
        self.element_length = octets;
        self
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// How many more values may begin inside of those that a writer is in: decoders refuse more than [`Limits::DEFAULT`] allows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nesting(u16);

impl Default for Nesting {
    fn default() -> Self {
        Self::NONE
    }
}

impl Nesting {
    /// In no value.
    pub(crate) const NONE: Self = Self::of(Limits::DEFAULT.depth);

    /// In no value, where so many may be inside one another.
    pub(crate) const fn of(depth: u16) -> Self {
        Self(depth)
    }

    /// Begins a value.
    ///
    /// # Errors
    /// [`ErrorKind::DepthLimit`].
    #[inline]
    pub(crate) fn begin(&mut self) -> Result<()> {
        match self.0.checked_sub(1) {
            Some(left) => self.0 = left,
            None => return too_deep(),
        }
        Ok(())
    }

    /// Ends a value that has begun.
    #[inline]
    pub(crate) const fn end(&mut self) {
        self.0 = self.0.wrapping_add(1);
    }
}

// Out of line: each writer of a value would have it otherwise.
#[cold]
fn too_deep() -> Result<()> {
    Err(Error::new(ErrorKind::DepthLimit, 0))
}
