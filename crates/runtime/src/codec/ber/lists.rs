//! SEQUENCE OF and SET OF: as vectors, and with the first element in place.

use super::{ROOM, Reader, Rules, enter};
#[cfg(doc)]
use crate::ErrorKind;
use crate::types::List;
use crate::{Result, Tag};
use alloc::vec::Vec;

/// SEQUENCE OF (8.10).
///
/// # Errors
/// What `read` says, and as [`enter`].
#[inline]
pub fn list<'a, T>(
    r: &mut Reader<'a>,
    tag: Tag,
    mut read: impl FnMut(&mut Reader<'a>) -> Result<T>,
) -> Result<Vec<T>> {
    let level = enter(r, tag)?;
    let mut list = Vec::with_capacity(r.elements(ROOM / size_of::<T>().max(1) + 1));
    while r.has_more()? {
        match read(r) {
            Ok(value) => list.push(value),
            Err(error) => {
                r.path.element(list.len());
                return Err(error);
            }
        }
    }
    r.leave(level)?;
    Ok(list)
}

/// SET OF (8.12), in DER and CER in the order of 11.6.
///
/// # Errors
/// [`ErrorKind::SetOfOrder`], else as [`list`].
#[inline]
pub fn set_of<'a, T>(
    r: &mut Reader<'a>,
    tag: Tag,
    read: impl FnMut(&mut Reader<'a>) -> Result<T>,
) -> Result<Vec<T>> {
    list(r, tag, ordered(read))
}

/// SEQUENCE OF (8.10) whose elements are read into their places, which hold what `empty` makes before.
///
/// # Errors
/// What `fill` says, and as [`enter`].
#[inline]
pub fn filled_list<'a, T>(
    r: &mut Reader<'a>,
    tag: Tag,
    empty: impl Fn() -> T,
    mut fill: impl FnMut(&mut T, &mut Reader<'a>) -> Result<()>,
) -> Result<Vec<T>> {
    let level = enter(r, tag)?;
    let mut list = Vec::with_capacity(r.elements(ROOM / size_of::<T>().max(1) + 1));
    while r.has_more()? {
        list.push(empty());
        if let Some(place) = list.last_mut()
            && let Err(error) = fill(place, r)
        {
            r.path.element(list.len() - 1);
            return Err(error);
        }
    }
    r.leave(level)?;
    Ok(list)
}

/// SET OF (8.12), in DER and CER in the order of 11.6, in the same way.
///
/// # Errors
/// [`ErrorKind::SetOfOrder`], else as [`filled_list`].
#[inline]
pub fn filled_set_of<'a, T>(
    r: &mut Reader<'a>,
    tag: Tag,
    empty: impl Fn() -> T,
    mut fill: impl FnMut(&mut T, &mut Reader<'a>) -> Result<()>,
) -> Result<Vec<T>> {
    let mut previous: &[u8] = &[];
    filled_list(r, tag, empty, |place, r| {
        let start = r.rest();
        fill(place, r)?;
        in_set_of(&mut previous, start, r)
    })
}

/// SEQUENCE OF (8.10) whose first element is in place.
///
/// # Errors
/// What `read` says, and as [`enter`].
#[inline]
pub fn inline_list<'a, T>(
    r: &mut Reader<'a>,
    tag: Tag,
    mut read: impl FnMut(&mut Reader<'a>) -> Result<T>,
) -> Result<List<T>> {
    let level = enter(r, tag)?;
    let mut list = List::new();
    if r.has_more()? {
        let first = numbered(r, 0, &mut read)?;
        list = if r.has_more()? { List::Many(with_more(r, first, read)?) } else { List::One(first) };
    }
    r.leave(level)?;
    Ok(list)
}

/// The element with a number.
#[inline(always)]
fn numbered<'a, T>(
    r: &mut Reader<'a>,
    number: usize,
    read: &mut impl FnMut(&mut Reader<'a>) -> Result<T>,
) -> Result<T> {
    read(r).inspect_err(|_| r.path.element(number))
}

/// The elements of a list that has more than the first.
fn with_more<'a, T>(
    r: &mut Reader<'a>,
    first: T,
    mut read: impl FnMut(&mut Reader<'a>) -> Result<T>,
) -> Result<Vec<T>> {
    let mut list = Vec::with_capacity(r.elements(ROOM / size_of::<T>().max(1)) + 1);
    list.push(first);
    while r.has_more()? {
        list.push(numbered(r, list.len(), &mut read)?);
    }
    Ok(list)
}

/// SET OF (8.12), in DER and CER in the order of 11.6, whose first element is in place.
///
/// # Errors
/// [`ErrorKind::SetOfOrder`], else as [`inline_list`].
#[inline]
pub fn inline_set_of<'a, T>(
    r: &mut Reader<'a>,
    tag: Tag,
    read: impl FnMut(&mut Reader<'a>) -> Result<T>,
) -> Result<List<T>> {
    inline_list(r, tag, ordered(read))
}

/// Reads elements of a SET OF as they are to come.
#[inline(always)]
pub(super) fn ordered<'a, T>(
    mut read: impl FnMut(&mut Reader<'a>) -> Result<T>,
) -> impl FnMut(&mut Reader<'a>) -> Result<T> {
    let mut previous: &[u8] = &[];
    move |r| {
        let start = r.rest();
        let value = read(r)?;
        in_set_of(&mut previous, start, r)?;
        Ok(value)
    }
}

/// That the elements of a SET OF come in order in DER (11.6): `previous` is the element before that at the begin of `start`.
#[inline]
pub(crate) fn in_set_of<'a>(previous: &mut &'a [u8], start: &'a [u8], r: &Reader<'a>) -> Result<()> {
    if r.rules() == Rules::Ber {
        return Ok(());
    }
    let element = start.get(..start.len() - r.rest().len()).unwrap_or_default();
    let previous = core::mem::replace(previous, element);
    if previous.is_empty() {
        return Ok(());
    }
    let at = r.offset().saturating_sub(element.len() as u64);
    crate::ber::check_set_of_order(previous, element, at)
}
