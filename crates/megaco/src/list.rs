//! Lists as messages have them: most of one element, and sets of few tokens in an order.

use std::fmt;
use std::marker::PhantomData;

pub use tercet_runtime::types::List;

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
