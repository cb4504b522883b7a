//! Lists whose elements stand in other memory.

use core::fmt;
use core::ops::Deref;

/// A borrowed list (X.680 clauses 26 and 28), which is a slice: 16 octets of memory.
///
/// ```
/// use tercet_runtime::types::ListRef;
/// let elements = [5, 6];
/// let list = ListRef::new(&elements);
/// assert_eq!(list[..], [5, 6]);
/// assert_eq!(list.iter().sum::<i32>(), 11);
/// ```
#[derive(PartialEq, Eq, Hash)]
pub struct ListRef<'a, T>(&'a [T]);

impl<'a, T> ListRef<'a, T> {
    /// No elements.
    pub const EMPTY: Self = Self(&[]);

    /// Borrows elements.
    #[inline]
    #[must_use]
    pub const fn new(elements: &'a [T]) -> Self {
        Self(elements)
    }

    /// The elements, which live as long as their memory.
    #[inline]
    #[must_use]
    pub const fn as_slice(self) -> &'a [T] {
        self.0
    }
}

impl<T> Clone for ListRef<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for ListRef<'_, T> {}

impl<T> Default for ListRef<'_, T> {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl<T> Deref for ListRef<'_, T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        self.0
    }
}

impl<'a, T> From<&'a [T]> for ListRef<'a, T> {
    fn from(elements: &'a [T]) -> Self {
        Self(elements)
    }
}

impl<'a, T> IntoIterator for ListRef<'a, T> {
    type Item = &'a T;
    type IntoIter = core::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<'a, T> IntoIterator for &ListRef<'a, T> {
    type Item = &'a T;
    type IntoIter = core::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<T: fmt::Debug> fmt::Debug for ListRef<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
