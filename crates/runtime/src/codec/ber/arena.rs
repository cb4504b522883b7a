//! Values that are kept in an arena: what generated code of `memory = "arena"` calls for lists and for what stands apart.

use super::lists::ordered;
use super::{ROOM, Reader, enter};
use crate::types::{BitStr, ListRef, TextRef, TimeType};
use crate::{Arena, Error, ErrorKind, Result, Tag};

/// The arena of a reader.
#[inline]
fn arena<'a>(r: &Reader<'a>) -> Result<&'a Arena> {
    r.arena().ok_or_else(|| no_arena(r))
}

#[cold]
#[inline(never)]
fn no_arena(r: &Reader<'_>) -> Error {
    r.error(ErrorKind::NoArena)
}

/// Keeps a value.
///
/// # Errors
/// [`ErrorKind::NoArena`].
#[inline]
pub fn in_arena<'a, T>(r: &Reader<'a>, value: T) -> Result<&'a T> {
    arena(r).map(|arena| &*arena.keep(value))
}

/// Keeps a value that is then filled.
///
/// # Errors
/// [`ErrorKind::NoArena`].
#[inline]
pub fn empty_in_arena<'a, T>(r: &Reader<'a>, value: T) -> Result<&'a mut T> {
    arena(r).map(|arena| arena.keep(value))
}

/// SEQUENCE OF (8.10) in the arena.
///
/// # Errors
/// What `read` says, [`ErrorKind::NoArena`], and as [`enter`].
#[inline]
pub fn arena_list<'a, T>(
    r: &mut Reader<'a>,
    tag: Tag,
    mut read: impl FnMut(&mut Reader<'a>) -> Result<T>,
) -> Result<ListRef<'a, T>> {
    let level = enter(r, tag)?;
    let mut list = arena(r)?.list(r.elements(ROOM / size_of::<T>().max(1) + 1));
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
    Ok(ListRef::new(list.into_bump_slice()))
}

/// SET OF (8.12), in DER and CER in the order of 11.6, in the arena.
///
/// # Errors
/// [`ErrorKind::SetOfOrder`], else as [`arena_list`].
#[inline]
pub fn arena_set_of<'a, T>(
    r: &mut Reader<'a>,
    tag: Tag,
    read: impl FnMut(&mut Reader<'a>) -> Result<T>,
) -> Result<ListRef<'a, T>> {
    arena_list(r, tag, ordered(read))
}

/// SEQUENCE OF (8.10) in the arena, whose elements are read into their places, which hold what `empty` makes before.
///
/// # Errors
/// What `fill` says, [`ErrorKind::NoArena`], and as [`enter`].
#[inline]
pub fn filled_arena_list<'a, T>(
    r: &mut Reader<'a>,
    tag: Tag,
    empty: impl Fn() -> T,
    mut fill: impl FnMut(&mut T, &mut Reader<'a>) -> Result<()>,
) -> Result<ListRef<'a, T>> {
    let level = enter(r, tag)?;
    let mut list = arena(r)?.list(r.elements(ROOM / size_of::<T>().max(1) + 1));
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
    Ok(ListRef::new(list.into_bump_slice()))
}

/// SET OF (8.12), in DER and CER in the order of 11.6, in the same way.
///
/// # Errors
/// [`ErrorKind::SetOfOrder`], else as [`filled_arena_list`].
#[inline]
pub fn filled_arena_set_of<'a, T>(
    r: &mut Reader<'a>,
    tag: Tag,
    empty: impl Fn() -> T,
    mut fill: impl FnMut(&mut T, &mut Reader<'a>) -> Result<()>,
) -> Result<ListRef<'a, T>> {
    let mut previous: &[u8] = &[];
    filled_arena_list(r, tag, empty, |place, r| {
        let start = r.rest();
        fill(place, r)?;
        super::lists::in_set_of(&mut previous, start, r)
    })
}

/// BIT STRING with named bits; see [`super::named_bits`].
///
/// # Errors
/// As [`super::named_bits`], and [`ErrorKind::NoArena`].
pub fn named_bits_slice<'a>(r: &mut Reader<'a>, tag: Tag, least: usize, most: usize) -> Result<BitStr<'a>> {
    let bits = super::named_bits(r, tag, least, most)?;
    let unused = bits.as_bits().unused();
    let octets = bits.into_bytes();
    let octets = match octets.as_borrowed() {
        Some(octets) => octets,
        None => arena(r)?.copy(&octets),
    };
    Ok(BitStr::new(octets, unused).unwrap_or_default())
}

/// TIME or a useful time type (8.26) as the text of its value notation.
///
/// # Errors
/// As [`Reader::time`], and [`ErrorKind::NoArena`].
pub fn time_slice<'a>(r: &mut Reader<'a>, tag: Tag, kind: TimeType) -> Result<TextRef<'a>> {
    let header = super::header(r, tag)?;
    let at = r.offset();
    let text = crate::ber::decode_time(kind, r.contents(&header)?, at, r.rules())?;
    Ok(TextRef::new(arena(r)?.copy_text(&text)))
}
