//! Lists as messages have them: most of one element, and sets of few tokens in an order.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

/// A list that keeps a single element in place.
///
/// Nearly every transaction has one action and every action one command: in a call flow this saves two allocations in
/// three.
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
        if let Self::One(first) = std::mem::take(self) {
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
            Self::One(one) => std::slice::from_ref(one),
            Self::Many(many) => many,
        }
    }
}

impl<T> DerefMut for List<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match self {
            Self::One(one) => std::slice::from_mut(one),
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
    type IntoIter = std::iter::Chain<std::option::IntoIter<T>, std::vec::IntoIter<T>>;

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
    type IntoIter = std::slice::Iter<'l, T>;

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

impl<T: fmt::Debug> fmt::Debug for List<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// An enumeration of fewer than 16 values, which a [`TokenSet`] can hold.
pub trait Token: Copy + PartialEq + fmt::Debug {
    /// Number of the value.
    fn number(self) -> u8;

    /// The value of a number.
    fn of_number(number: u8) -> Option<Self>;
}

/// Tokens in the order in which they were written. Two of them are equal if they hold the same tokens: in the module
/// they are the bits of a BIT STRING.
#[derive(Clone, Copy)]
pub struct TokenSet<T> {
    /// Four bits for each token.
    packed: u64,
    length: u8,
    tokens: PhantomData<T>,
}

impl<T: Token> TokenSet<T> {
    /// No tokens.
    pub const fn new() -> Self {
        Self { packed: 0, length: 0, tokens: PhantomData }
    }

    /// Adds a token at the end if it is not there; says whether it was not.
    pub fn insert(&mut self, token: T) -> bool {
        let is_new = !self.contains(token) && self.length < 16;
        if is_new {
            self.packed |= u64::from(token.number()) << (4 * self.length);
            self.length += 1;
        }
        is_new
    }

    /// Whether a token is there.
    pub fn contains(&self, token: T) -> bool {
        self.iter().any(|other| other == token)
    }

    /// The tokens in the order in which they were written.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = T> + use<T> {
        let packed = self.packed;
        (0..self.length).filter_map(move |index| T::of_number((packed >> (4 * index)) as u8 & 15))
    }

    /// How many there are.
    pub const fn len(&self) -> usize {
        self.length as usize
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The numbers as bits.
    pub fn bits(&self) -> u16 {
        self.iter().fold(0, |bits, token| bits | 1 << token.number())
    }
}

impl<T: Token> Default for TokenSet<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Token> FromIterator<T> for TokenSet<T> {
    fn from_iter<I: IntoIterator<Item = T>>(tokens: I) -> Self {
        let mut set = Self::new();
        for token in tokens {
            set.insert(token);
        }
        set
    }
}

impl<T: Token> PartialEq for TokenSet<T> {
    fn eq(&self, other: &Self) -> bool {
        self.bits() == other.bits()
    }
}

impl<T: Token> Eq for TokenSet<T> {}

impl<T: Token> fmt::Debug for TokenSet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
