//! How values are walked, whatever they are written as: records, choices, atoms, as the Erlang records and JSON have them.

use std::borrow::Cow;

use crate::list::{List, Token, TokenSet};
use crate::octets::{Name, Str};
use crate::{Error, Result};

/// A word of the module, with a number by which it can be found. Where it is a constant, so is the number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Word {
    pub(crate) text: &'static str,
    pub(crate) id: u64,
}

impl Word {
    pub(crate) const fn new(text: &'static str) -> Self {
        Self { text, id: Self::id(text.as_bytes()) }
    }

    /// FNV-1a, its upper bits folded into the lower ones. No two words of the modules have one number.
    pub(crate) const fn id(octets: &[u8]) -> u64 {
        let mut id = 0xcbf2_9ce4_8422_2325u64;
        let mut at = 0;
        while at < octets.len() {
            id = (id ^ octets[at] as u64).wrapping_mul(0x0100_0000_01b3);
            at += 1;
        }
        id ^ id >> 32
    }
}

/// An atom or a tag that has been read.
pub(crate) trait Spelled {
    /// Whether it is this word.
    fn is(&self, word: &'static Word) -> bool;
}

impl Spelled for &[u8] {
    #[inline]
    fn is(&self, word: &'static Word) -> bool {
        *self == word.text.as_bytes()
    }
}

impl Spelled for Cow<'_, [u8]> {
    #[inline]
    fn is(&self, word: &'static Word) -> bool {
        **self == *word.text.as_bytes()
    }
}

/// Where a value goes.
pub(crate) trait Sink {
    /// Version of the protocol, which decides what records have.
    fn version(&self) -> u8;
    /// Sets it: a message says it on its way.
    fn set_version(&mut self, version: u8);
    /// Something cannot be said in this version or encoding; the first of these is what the whole ends with.
    fn refuse(&mut self, what: &'static str);
    /// A record of so many fields.
    fn record(&mut self, name: &'static Word, arity: usize);
    /// The next field.
    fn field(&mut self, name: &'static str);
    /// The end of a record.
    fn end_record(&mut self);
    /// A component that is not there.
    fn absent(&mut self);
    /// A value of an enumeration, a boolean or NULL.
    fn atom(&mut self, atom: &'static Word);
    /// A number.
    fn number(&mut self, number: u32);
    /// A string.
    fn string(&mut self, octets: &[u8]);
    /// Octets that are no text, as those of an address.
    fn octets(&mut self, octets: &[u8]) {
        self.string(octets);
    }
    /// A name, in lower case.
    fn name(&mut self, name: &Name<'_>);
    /// The name of a termination.
    fn termination(&mut self, name: &Name<'_>);
    /// A list of so many elements.
    fn list(&mut self, length: usize);
    /// The next element.
    fn element(&mut self);
    /// The end of a list.
    fn end_list(&mut self, length: usize);
    /// An alternative.
    fn choice(&mut self, tag: &'static Word);
    /// Its end.
    fn end_choice(&mut self);
}

/// Where a value comes from.
pub(crate) trait Source<'a> {
    /// An atom or tag.
    type Word: Spelled;
    /// Version of the protocol.
    fn version(&self) -> u8;
    /// Sets it.
    fn set_version(&mut self, version: u8);
    /// What is wrong, and where.
    fn error(&self, what: &'static str) -> Error;
    /// A record of so many fields.
    fn record(&mut self, name: &'static Word, arity: usize) -> Result<()>;
    /// The next field.
    fn field(&mut self, name: &'static str) -> Result<()>;
    /// The end of a record.
    fn end_record(&mut self) -> Result<()>;
    /// Reads over a component that is not there, if so.
    fn absent(&mut self) -> Result<bool>;
    /// A value of an enumeration, a boolean or NULL.
    fn atom(&mut self) -> Result<Self::Word>;
    /// A number.
    fn number(&mut self) -> Result<u32>;
    /// A string.
    fn string(&mut self) -> Result<Cow<'a, [u8]>>;
    /// Octets that are no text.
    fn octets(&mut self) -> Result<Cow<'a, [u8]>> {
        self.string()
    }
    /// The name of a termination.
    fn termination(&mut self) -> Result<Cow<'a, [u8]>>;
    /// The begin of a list.
    fn list(&mut self) -> Result<()>;
    /// Room to set aside for the elements of the list that has begun: what is likely.
    fn room(&self) -> usize {
        0
    }
    /// Whether an element follows; reads over the end if not.
    fn element(&mut self) -> Result<bool>;
    /// The tag of an alternative.
    fn choice(&mut self) -> Result<Self::Word>;
    /// Its end.
    fn end_choice(&mut self) -> Result<()>;
}

/// What can be walked.
pub(crate) trait Value<'a>: Sized {
    /// Writes the value.
    fn write<S: Sink>(&self, sink: &mut S);
    /// Reads one.
    fn read<S: Source<'a>>(source: &mut S) -> Result<Self>;
}

macro_rules! numbers {
    ($($ty:ty)*) => {$(
        impl<'a> Value<'a> for $ty {
            fn write<S: Sink>(&self, sink: &mut S) {
                sink.number(u32::from(*self));
            }

            fn read<S: Source<'a>>(source: &mut S) -> Result<Self> {
                let number = source.number()?;
                Self::try_from(number).map_err(|_| source.error("a number in its range"))
            }
        }
    )*};
}

numbers!(u8 u16 u32);

impl<'a> Value<'a> for bool {
    fn write<S: Sink>(&self, sink: &mut S) {
        sink.atom(if *self { const { &Word::new("true") } } else { const { &Word::new("false") } });
    }

    fn read<S: Source<'a>>(source: &mut S) -> Result<Self> {
        match source.atom()? {
            atom if atom.is(const { &Word::new("true") }) => Ok(true),
            atom if atom.is(const { &Word::new("false") }) => Ok(false),
            _ => Err(source.error("true or false")),
        }
    }
}

impl<'a> Value<'a> for () {
    fn write<S: Sink>(&self, sink: &mut S) {
        sink.atom(const { &Word::new("NULL") });
    }

    fn read<S: Source<'a>>(source: &mut S) -> Result<Self> {
        match source.atom()? {
            atom if atom.is(const { &Word::new("NULL") }) => Ok(()),
            _ => Err(source.error("NULL")),
        }
    }
}

impl<'a, T: Value<'a>> Value<'a> for Option<T> {
    fn write<S: Sink>(&self, sink: &mut S) {
        match self {
            Some(value) => value.write(sink),
            None => sink.absent(),
        }
    }

    fn read<S: Source<'a>>(source: &mut S) -> Result<Self> {
        Ok(if source.absent()? { None } else { Some(T::read(source)?) })
    }
}

impl<'a, T: Value<'a>> Value<'a> for Box<T> {
    fn write<S: Sink>(&self, sink: &mut S) {
        (**self).write(sink);
    }

    fn read<S: Source<'a>>(source: &mut S) -> Result<Self> {
        T::read(source).map(Self::new)
    }
}

#[inline(always)]
fn write_list<'a, 'v, T: Value<'a> + 'v, S: Sink>(list: impl ExactSizeIterator<Item = &'v T>, sink: &mut S) {
    let length = list.len();
    sink.list(length);
    for element in list {
        sink.element();
        element.write(sink);
    }
    sink.end_list(length);
}

impl<'a, T: Value<'a>> Value<'a> for Vec<T> {
    fn write<S: Sink>(&self, sink: &mut S) {
        write_list(self.iter(), sink);
    }

    fn read<S: Source<'a>>(source: &mut S) -> Result<Self> {
        source.list()?;
        let mut list = Self::with_capacity(source.room());
        while source.element()? {
            list.push(T::read(source)?);
        }
        Ok(list)
    }
}

impl<'a, T: Value<'a>> Value<'a> for List<T> {
    fn write<S: Sink>(&self, sink: &mut S) {
        write_list(self.iter(), sink);
    }

    fn read<S: Source<'a>>(source: &mut S) -> Result<Self> {
        let mut list = Self::new();
        source.list()?;
        while source.element()? {
            list.push(T::read(source)?);
        }
        Ok(list)
    }
}

impl<'a, T: Token + Value<'a>> Value<'a> for TokenSet<T> {
    fn write<S: Sink>(&self, sink: &mut S) {
        sink.list(self.len());
        for token in self.iter() {
            sink.element();
            token.write(sink);
        }
        sink.end_list(self.len());
    }

    fn read<S: Source<'a>>(source: &mut S) -> Result<Self> {
        let mut tokens = Self::new();
        source.list()?;
        while source.element()? {
            tokens.insert(T::read(source)?);
        }
        Ok(tokens)
    }
}

impl<'a> Value<'a> for Str<'a> {
    fn write<S: Sink>(&self, sink: &mut S) {
        sink.string(self);
    }

    fn read<S: Source<'a>>(source: &mut S) -> Result<Self> {
        source.string().map(Str)
    }
}

impl<'a> Value<'a> for Name<'a> {
    fn write<S: Sink>(&self, sink: &mut S) {
        sink.name(self);
    }

    fn read<S: Source<'a>>(source: &mut S) -> Result<Self> {
        source.string().map(Name)
    }
}

impl<'a, const N: usize> Value<'a> for [u8; N] {
    fn write<S: Sink>(&self, sink: &mut S) {
        // Those of 8 octets are dates and times.
        if N == 8 { sink.string(self) } else { sink.octets(self) }
    }

    fn read<S: Source<'a>>(source: &mut S) -> Result<Self> {
        let octets = if N == 8 { source.string() } else { source.octets() }?;
        Self::try_from(&*octets).map_err(|_| source.error("as many bytes as the type has"))
    }
}
