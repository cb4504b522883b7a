//! Lists that seldom have more than one element.

use alloc::vec::Vec;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::ops::{Deref, DerefMut};

/// A list that keeps a single element in place.
///
/// Many lists of real messages nearly always have one: attributes of a name, values of an attribute, commands of an action.
/// It is a slice otherwise.
///
/// ```
/// use tercet_runtime::types::List;
/// let mut list = List::new();
/// list.push(5);
/// assert!(matches!(list, List::One(5)));
/// list.push(6);
/// assert_eq!(list[..], [5, 6]);
/// ```
#[derive(Clone)]
pub enum List<T> {
    /// One element.
    One(T),
    /// None, or more than one.
    Many(Vec<T>),
}

impl<T> List<T> {
    /// An empty list.
    pub const fn new() -> Self {
        Self::Many(Vec::new())
    }

    /// Adds an element at the end.
    #[inline]
    pub fn push(&mut self, element: T) {
        match self {
            Self::Many(many) if many.capacity() == 0 => *self = Self::One(element),
            Self::Many(many) => many.push(element),
            Self::One(_) => self.push_second(element),
        }
    }

    #[inline(never)]
    fn push_second(&mut self, element: T) {
        let mut many = Vec::with_capacity(4);
        if let Self::One(first) = core::mem::take(self) {
            many.push(first);
        }
        many.push(element);
        *self = Self::Many(many);
    }
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Deref for List<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Self::One(one) => core::slice::from_ref(one),
            Self::Many(many) => many,
        }
    }
}

impl<T> DerefMut for List<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match self {
            Self::One(one) => core::slice::from_mut(one),
            Self::Many(many) => many,
        }
    }
}

impl<T> FromIterator<T> for List<T> {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Self {
        let mut elements = elements.into_iter();
        let Some(first) = elements.next() else { return Self::new() };
        let Some(second) = elements.next() else { return Self::One(first) };
        let mut many = Vec::with_capacity(elements.size_hint().0.saturating_add(2));
        many.extend([first, second]);
        many.extend(elements);
        Self::Many(many)
    }
}

impl<T> From<Vec<T>> for List<T> {
    fn from(mut elements: Vec<T>) -> Self {
        match elements.len() {
            1 => elements.pop().map_or_else(Self::new, Self::One),
            _ => Self::Many(elements),
        }
    }
}

impl<T> IntoIterator for List<T> {
    type Item = T;
    type IntoIter = core::iter::Chain<core::option::IntoIter<T>, alloc::vec::IntoIter<T>>;

    fn into_iter(self) -> Self::IntoIter {
        let (one, many) = match self {
            Self::One(one) => (Some(one), Vec::new()),
            Self::Many(many) => (None, many),
        };
        one.into_iter().chain(many)
    }
}

impl<'l, T> IntoIterator for &'l List<T> {
    type Item = &'l T;
    type IntoIter = core::slice::Iter<'l, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T: PartialEq> PartialEq for List<T> {
    fn eq(&self, other: &Self) -> bool {
        self[..] == other[..]
    }
}

impl<T: Eq> Eq for List<T> {}

impl<T: Hash> Hash for List<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self[..].hash(state);
    }
}

impl<T: fmt::Debug> fmt::Debug for List<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
