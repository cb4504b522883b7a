//! What a filter says of an entry (RFC 4511 4.5.1.7).

use std::borrow::Cow;

use super::condition::{Budget, Condition, Ended, Steps, Subject};
use crate::dn::Dn;
use crate::generated::Filter;

/// The three values that a filter has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evaluation {
    /// The entry is meant.
    True,
    /// It is not.
    False,
    /// The filter cannot be judged, and selects nothing.
    Undefined,
}

impl From<bool> for Evaluation {
    fn from(value: bool) -> Self {
        if value { Self::True } else { Self::False }
    }
}

impl Filter<'_> {
    /// Evaluates the filter on an entry: its name, and `values`, which gives the values of an attribute description
    /// without case, and nothing if the entry has no such attribute.
    pub fn evaluate<'v>(&self, dn: &Dn, values: &dyn Fn(&str) -> Option<Vec<&'v [u8]>>) -> Evaluation {
        let entry = Entry { dn, values };
        // Nobody can build so many steps.
        let evaluated = Condition::new(self, None, &|_| true).evaluate(&entry, &mut Budget::turn(Steps::MAX));
        evaluated.unwrap_or(Evaluation::Undefined)
    }
}

/// An entry whose values a function gives.
struct Entry<'e, 'v> {
    dn: &'e Dn,
    values: &'e dyn Fn(&str) -> Option<Vec<&'v [u8]>>,
}

impl Subject for Entry<'_, '_> {
    fn any(
        &self,
        description: &str,
        _: &mut Budget,
        test: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<bool, Ended> {
        Ok((self.values)(description).unwrap_or_default().into_iter().any(test))
    }

    fn has(&self, description: &str, _: &mut Budget) -> Result<bool, Ended> {
        Ok((self.values)(description).is_some())
    }

    fn dn(&self) -> Option<Cow<'_, Dn>> {
        Some(Cow::Borrowed(self.dn))
    }
}
