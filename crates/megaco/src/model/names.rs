//! Names of terminations, and what text may leave out.

use std::ops::Deref;

use crate::Result;
use crate::octets::Name;
use crate::value::{Sink, Source, Value};

/// The name of a termination, with its levels between slashes: `root`, `a1/2/*`, `$`.
///
/// `*` stands for all and `$` for one of the gateway's choice (H.248.1 B.1, A.1).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct TerminationId<'a>(pub Name<'a>);

impl TerminationId<'_> {
    /// Whether there is `*` or `$` in it.
    pub fn has_wildcards(&self) -> bool {
        self.0.iter().any(|octet| matches!(octet, b'*' | b'$'))
    }

    /// Its levels.
    pub fn levels(&self) -> impl Iterator<Item = &[u8]> {
        self.0.split(|&octet| octet == b'/')
    }
}

impl<'a> Value<'a> for TerminationId<'a> {
    fn write<S: Sink>(&self, sink: &mut S) {
        sink.termination(&self.0);
    }

    fn read<S: Source<'a>>(source: &mut S) -> Result<Self> {
        source.termination().map(|name| Self(Name(name)))
    }
}

impl<'a> From<&'a str> for TerminationId<'a> {
    fn from(name: &'a str) -> Self {
        Self(Name::from(name))
    }
}

/// What the module demands and the text may leave out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lenient<T>(pub Option<T>);

impl<T> Deref for Lenient<T> {
    type Target = Option<T>;

    fn deref(&self) -> &Option<T> {
        &self.0
    }
}

impl<T> From<T> for Lenient<T> {
    fn from(value: T) -> Self {
        Self(Some(value))
    }
}

impl<'a, T: Value<'a>> Value<'a> for Lenient<T> {
    fn write<S: Sink>(&self, sink: &mut S) {
        self.0.write(sink);
    }

    fn read<S: Source<'a>>(source: &mut S) -> Result<Self> {
        Option::read(source).map(Self)
    }
}
