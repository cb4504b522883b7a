//! Counting what passed.

use std::fmt;

/// How many checks passed, failed, and could not be made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Checks that passed.
    pub passed: usize,
    /// Checks that failed.
    pub failed: usize,
    /// Checks that this build has no engine for, or that are listed as wrong.
    pub skipped: usize,
}

impl Tally {
    /// Counts one check.
    pub fn count(&mut self, good: bool) {
        *(if good { &mut self.passed } else { &mut self.failed }) += 1;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)?;
        if self.skipped > 0 {
            write!(f, ", {} skipped", self.skipped)?;
        }
        Ok(())
    }
}
