//! Where a fault is: what generated code says of it beside the kind and the offset.

use crate::{Error, ErrorKind};
use alloc::vec::Vec;
use core::fmt;

/// Why a value could not be decoded: what is wrong and where ([`Error`]), and on which path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fault {
    error: Error,
    path: Path,
}

/// The way from the outermost value to a component: `DataInterChange.transferBatch.callEventDetails[17]`.
///
/// It is made on the way out of a faulty value, so that nothing is noted of good ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Path {
    /// The innermost first.
    steps: Vec<Step>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Step {
    Component(&'static str),
    Element(usize),
}

/// Steps that are shown at each end of a long path.
const SHOWN: usize = 12;

impl Path {
    /// No step yet.
    pub(crate) const NONE: Self = Self { steps: Vec::new() };

    /// The fault is in this component.
    pub(crate) fn component(&mut self, name: &'static str) {
        self.steps.push(Step::Component(name));
    }

    /// The fault is in the element with this number.
    #[cold]
    #[inline(never)]
    pub(crate) fn element(&mut self, number: usize) {
        self.steps.push(Step::Element(number));
    }

    /// The path of a fault in a value of the type `root`.
    #[cold]
    #[inline(never)]
    pub(crate) fn of(mut self, root: &'static str, error: Error) -> Fault {
        self.component(root);
        Fault { error, path: self }
    }

    /// Whether nothing is known of the way.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.steps.len();
        for (at, step) in self.steps.iter().rev().enumerate() {
            match step {
                _ if at == SHOWN && count > 2 * SHOWN => f.write_str("…")?,
                _ if (SHOWN..count.saturating_sub(SHOWN)).contains(&at) => {}
                Step::Component("") => {}
                Step::Component(name) if at == 0 => f.write_str(name)?,
                Step::Component(name) => write!(f, ".{name}")?,
                Step::Element(number) => write!(f, "[{number}]")?,
            }
        }
        Ok(())
    }
}

impl Fault {
    /// What is wrong.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        self.error.kind()
    }

    /// Where: as [`Error::at`].
    #[must_use]
    pub const fn at(&self) -> u64 {
        self.error.at()
    }

    /// Where in that octet: as [`Error::bit`].
    #[must_use]
    pub const fn bit(&self) -> Option<u8> {
        self.error.bit()
    }

    /// How many octets are missing at least, if the input ends too early: as [`Error::needed`].
    #[must_use]
    pub const fn needed(&self) -> Option<u32> {
        self.error.needed()
    }

    /// On which path.
    #[must_use]
    pub const fn path(&self) -> &Path {
        &self.path
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        fault.error
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() { self.error.fmt(f) } else { write!(f, "{}: {}", self.path, self.error) }
    }
}

impl core::error::Error for Fault {}

/// What a call has read with a reader, or its fault, which is in this component: `at!(r, "name", call)`.
#[doc(hidden)]
#[macro_export]
macro_rules! __at {
    ($reader:ident, $name:literal, $call:expr) => {
        match $call {
            Ok(value) => value,
            Err(error) => {
                $reader.inside($name);
                return Err(error);
            }
        }
    };
}
