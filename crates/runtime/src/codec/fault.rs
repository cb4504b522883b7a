//! Where a fault is: what generated code says of it beside the kind and the offset.

use crate::{Error, ErrorKind};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

/// Why a value could not be decoded or encoded: what is wrong and where ([`Error`]), and on which path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fault {
    error: Error,
    path: Path,
}

/// The way from the outermost value to a component: `DataInterChange.transferBatch.callEventDetails[17]`.
///
/// It is made on the way out of a faulty value, so that nothing is noted of good ones, and is one word wide, so that
/// readers and writers do not grow by it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Path(Option<Box<Steps>>);

/// The innermost first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Steps(Vec<Step>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Step {
    Component(&'static str),
    Element(usize),
    /// The identifier or length octets of an element of BER, the innermost step of all.
    Header,
}

/// Steps that are shown at each end of a long path.
const SHOWN: usize = 12;

impl Path {
    /// No step yet.
    pub(crate) const NONE: Self = Self(None);

    /// The fault is in this component.
    pub(crate) fn component(&mut self, name: &'static str) {
        self.push(Step::Component(name));
    }

    /// The fault is in the element with this number.
    #[cold]
    #[inline(never)]
    pub(crate) fn element(&mut self, number: usize) {
        self.push(Step::Element(number));
    }

    /// The fault is in the header of the next element.
    #[cold]
    #[inline(never)]
    pub(crate) fn header(&mut self) {
        self.push(Step::Header);
    }

    /// Whether nothing more is known than that the fault is in the header of an element.
    pub(crate) fn is_header(&self) -> bool {
        self.steps() == [Step::Header]
    }

    fn push(&mut self, step: Step) {
        self.0.get_or_insert_default().0.push(step);
    }

    fn steps(&self) -> &[Step] {
        self.0.as_ref().map_or(&[], |steps| &steps.0)
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
        self.0.is_none()
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let steps =
            || self.steps().iter().rev().filter(|step| !matches!(step, Step::Component("") | Step::Header));
        let count = steps().count();
        for (at, step) in steps().enumerate() {
            match step {
                _ if at == SHOWN && count > 2 * SHOWN => f.write_str("…")?,
                _ if (SHOWN..count.saturating_sub(SHOWN)).contains(&at) => {}
                Step::Header => {}
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

    /// How many bytes are missing at least, if the input ends too early: as [`Error::needed`].
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

/// What a call of a reader or writer says, or its fault, which is in this component: `at!(r, "name", call)`; or in the
/// element with this number: `at!(w, [number], call)`. Where another element may be there instead, the number of the component
/// and the function that finds components tell: `at!(r, "name", (3, false, Self::place), call)`.
#[doc(hidden)]
#[macro_export]
macro_rules! __at {
    ($r:ident, $name:literal, ($number:literal, $extensible:literal, $place:path), $call:expr) => {
        match $call {
            Ok(value) => value,
            Err(error) => return Err(ber::misplaced($r, error, $name, $number, $extensible, $place)),
        }
    };
    ($codec:ident, [$number:expr], $call:expr) => {
        match $call {
            Ok(value) => value,
            Err(error) => {
                $codec.element($number);
                return Err(error);
            }
        }
    };
    ($codec:ident, $name:literal, $call:expr) => {
        match $call {
            Ok(value) => value,
            Err(error) => {
                $codec.inside($name);
                return Err(error);
            }
        }
    };
}
