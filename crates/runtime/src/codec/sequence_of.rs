//! Lists whose elements are decoded when they are asked for.

use super::ber::{Reader, Rules, Writer, enter, in_set_of};
use crate::{Error, Limits, Result, Tag};
use alloc::vec::Vec;
use core::fmt;
use core::hash::{Hash, Hasher};

/// A SEQUENCE OF or SET OF that stays encoded until its elements are asked for, in BER; a list of elements in all other
/// rules.
///
/// Decoding checks where elements begin and end; what is wrong inside of them shows when they are reached. A checked list
/// has decoded each of them once, and kept none.
pub struct SequenceOf<'a, T>(Kept<'a, T>);

/// How an element is read, its header included.
type Read<'a, T> = fn(&mut Reader<'a>) -> Result<T>;

enum Kept<'a, T> {
    /// The elements, and what is wrong behind them.
    Elements(Vec<T>, Option<Error>),
    Encoded {
        contents: &'a [u8],
        base: u64,
        count: usize,
        depth: u16,
        /// Values that may still begin.
        values: u16,
        rules: Rules,
        checked: bool,
        /// Whether values that break the rules of their type are errors.
        strict: bool,
        read: Read<'a, T>,
    },
}

impl<'a, T> SequenceOf<'a, T> {
    /// Number of elements; of one with a fault, of those in front of it.
    #[must_use]
    pub const fn len(&self) -> usize {
        match &self.0 {
            Kept::Elements(elements, _) => elements.len(),
            Kept::Encoded { count, .. } => *count,
        }
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The elements in order; nothing follows a fault.
    #[must_use]
    pub fn iter(&self) -> Elements<'_, 'a, T> {
        Elements(match &self.0 {
            Kept::Elements(elements, fault) => Left::Elements(elements.iter(), *fault),
            Kept::Encoded { contents, base, depth, values, rules, strict, read, .. } => {
                let limits = Limits::DEFAULT.with_depth(*depth);
                let reader = Reader::with_limits(contents, *base, *rules, &limits);
                Left::Encoded(reader.with_strict_values(*strict).with_values_left(*values), *read)
            }
        })
    }

    /// All elements.
    ///
    /// # Errors
    /// The first fault in one of them.
    pub fn to_vec(&self) -> Result<Vec<T>>
    where
        T: Clone,
    {
        self.iter().collect()
    }

    /// The same without a borrow: `owned` makes an element so. What is wrong with an element is told where it was.
    #[must_use]
    pub fn map_owned<U>(self, owned: impl Fn(T) -> U) -> SequenceOf<'static, U>
    where
        T: Clone,
    {
        let mut fault = None;
        let elements = self.iter().map_while(|element| element.map_err(|error| fault = Some(error)).ok());
        let elements = elements.map(owned).collect();
        SequenceOf(Kept::Elements(elements, fault))
    }

    /// Takes the next element, which has the tag, a list in BER; `ordered` for a SET OF, whose elements ascend in DER.
    ///
    /// # Errors
    /// What is wrong with the headers of the elements.
    pub fn read_ber(r: &mut Reader<'a>, tag: Tag, ordered: bool, read: Read<'a, T>) -> Result<Self> {
        Self::keep(r, tag, ordered, false, read, pass)
    }

    /// The same, and each element is decoded once and dropped, so that nothing can be wrong with it later.
    ///
    /// # Errors
    /// What is wrong with the elements.
    #[inline(always)]
    pub fn read_ber_checked(r: &mut Reader<'a>, tag: Tag, ordered: bool, read: Read<'a, T>) -> Result<Self> {
        Self::keep(r, tag, ordered, true, read, |r| read(r).map(drop))
    }

    #[inline(always)]
    fn keep(
        r: &mut Reader<'a>,
        tag: Tag,
        ordered: bool,
        checked: bool,
        read: Read<'a, T>,
        check: impl Fn(&mut Reader<'a>) -> Result<()>,
    ) -> Result<Self> {
        let level = enter(r, tag)?;
        let (start, base, depth, values) = (r.rest(), r.offset(), r.depth_left(), r.values_left());
        let (mut count, mut previous): (_, &[u8]) = (0, &[]);
        while r.has_more()? {
            let begin = r.rest();
            let element = check(r).and_then(|()| match ordered {
                true => in_set_of(&mut previous, begin, r),
                false => Ok(()),
            });
            if let Err(error) = element {
                r.path.element(count);
                return Err(error);
            }
            count += 1;
        }
        let contents = start.get(..start.len() - r.rest().len()).unwrap_or_default();
        r.leave(level)?;
        let (rules, strict) = (r.rules(), r.has_strict_values());
        Ok(Self(Kept::Encoded { contents, base, count, depth, values, rules, checked, strict, read }))
    }

    /// Writes the elements: in BER, and in the rules that a checked list was read by, as they are, else as `write` does.
    ///
    /// # Errors
    /// A fault in an element, or in writing it.
    pub fn write_ber(&self, w: &mut Writer, write: impl FnOnce(&[T], &mut Writer) -> Result<()>) -> Result<()>
    where
        T: Clone,
    {
        match &self.0 {
            Kept::Elements(elements, None) => write(elements, w),
            Kept::Encoded { contents, rules, checked, .. }
                if w.rules() == Rules::Ber || (*checked && *rules == w.rules()) =>
            {
                w.push(contents);
                Ok(())
            }
            _ => write(&self.to_vec()?, w),
        }
    }
}

/// Steps over an element, without a look at what is inside of a definite length.
#[inline]
fn pass(r: &mut Reader<'_>) -> Result<()> {
    if r.pass_short() {
        return Ok(());
    }
    match r.next_header()? {
        Some(header) => r.skip(&header),
        None => Ok(()),
    }
}

/// The elements of a [`SequenceOf`].
pub struct Elements<'s, 'a, T>(Left<'s, 'a, T>);

enum Left<'s, 'a, T> {
    Elements(core::slice::Iter<'s, T>, Option<Error>),
    Encoded(Reader<'a>, Read<'a, T>),
    Nothing,
}

impl<T: Clone> Iterator for Elements<'_, '_, T> {
    type Item = Result<T>;

    fn next(&mut self) -> Option<Result<T>> {
        match &mut self.0 {
            Left::Elements(elements, fault) => {
                elements.next().cloned().map(Ok).or_else(|| fault.take().map(Err))
            }
            Left::Encoded(r, read) => match r.peek_header() {
                Ok(None) => None,
                Ok(Some(_)) => {
                    let element = read(r);
                    if element.is_err() {
                        self.0 = Left::Nothing;
                    }
                    Some(element)
                }
                Err(error) => {
                    self.0 = Left::Nothing;
                    Some(Err(error))
                }
            },
            Left::Nothing => None,
        }
    }
}

impl<'s, 'a, T: Clone> IntoIterator for &'s SequenceOf<'a, T> {
    type Item = Result<T>;
    type IntoIter = Elements<'s, 'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T> From<Vec<T>> for SequenceOf<'_, T> {
    fn from(elements: Vec<T>) -> Self {
        Self(Kept::Elements(elements, None))
    }
}

impl<T> Default for SequenceOf<'_, T> {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl<T: Clone> Clone for SequenceOf<'_, T> {
    fn clone(&self) -> Self {
        Self(match &self.0 {
            Kept::Elements(elements, fault) => Kept::Elements(elements.clone(), *fault),
            Kept::Encoded { contents, base, count, depth, values, rules, checked, strict, read } => {
                Kept::Encoded {
                    contents,
                    base: *base,
                    count: *count,
                    depth: *depth,
                    values: *values,
                    rules: *rules,
                    checked: *checked,
                    strict: *strict,
                    read: *read,
                }
            }
        })
    }
}

/// Lists are equal if their elements are, however they are kept; faults are equal to themselves.
impl<T: Clone + PartialEq> PartialEq for SequenceOf<'_, T> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other)
    }
}

impl<T: Clone + Eq> Eq for SequenceOf<'_, T> {}

impl<T: Clone + Hash> Hash for SequenceOf<'_, T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.len().hash(state);
        self.iter().for_each(|element| element.hash(state));
    }
}

impl<T: Clone + fmt::Debug> fmt::Debug for SequenceOf<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map_while(Result::ok)).finish()
    }
}

impl<T> fmt::Debug for Elements<'_, '_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Elements").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    /// Contents of a SEQUENCE with one element in it.
    fn one<'a>(r: &mut Reader<'a>) -> Result<()> {
        let level = enter(r, Tag::SEQUENCE)?;
        pass(r)?;
        r.leave(level)
    }

    #[test]
    fn a_list_looks_at_the_headers_of_its_elements_alone() {
        // Two elements, and what is inside of the second one is longer than it.
        let octets = [0x30, 9, 0x30, 2, 5, 0, 0x30, 3, 4, 2, 0];
        let list =
            SequenceOf::read_ber(&mut Reader::new(&octets, Rules::Ber), Tag::SEQUENCE, false, one).unwrap();
        assert_eq!(list.len(), 2);
        let elements: Vec<_> = list.iter().collect();
        assert_eq!(elements[0], Ok(()));
        let fault = elements[1].unwrap_err();
        assert_eq!((fault.kind(), fault.at(), elements.len()), (ErrorKind::BeyondParent, 11, 2));
        let mut r = Reader::new(&octets, Rules::Ber);
        let fault = SequenceOf::read_ber_checked(&mut r, Tag::SEQUENCE, false, one).unwrap_err();
        assert_eq!((fault.kind(), fault.at()), (ErrorKind::BeyondParent, 11));
    }
}
