//! Elements that are read into the place where they stay.

use super::any_slice;
use crate::ber::Reader;
use crate::codec::parts::put;
use crate::{Result, Tag};

/// Reads an element into a place: its contents by `short` if they stand in one piece and that can, else the element by `long`.
///
/// # Errors
/// What `long` says.
#[inline(always)]
pub fn fill<'a, T>(
    r: &mut Reader<'a>,
    tag: Tag,
    place: &mut T,
    short: impl FnOnce(&'a [u8]) -> Option<T>,
    long: fn(&mut Reader<'a>, Tag) -> Result<T>,
) -> Result<()> {
    match r.short_primitive(tag, |contents| short(contents).map(|value| put(place, value))) {
        Some(()) => Ok(()),
        None => fill_long(r, tag, place, long),
    }
}

/// Reads an optional component, which is there, in the same way.
///
/// # Errors
/// What `long` says.
#[inline(always)]
pub fn fill_option<'a, T>(
    r: &mut Reader<'a>,
    tag: Tag,
    place: &mut Option<T>,
    short: impl FnOnce(&'a [u8]) -> Option<T>,
    long: fn(&mut Reader<'a>, Tag) -> Result<T>,
) -> Result<()> {
    match r.short_primitive(tag, |contents| short(contents).map(|value| put(place, Some(value)))) {
        Some(()) => Ok(()),
        None => fill_option_long(r, tag, place, long),
    }
}

#[inline(never)]
fn fill_long<'a, T>(
    r: &mut Reader<'a>,
    tag: Tag,
    place: &mut T,
    long: fn(&mut Reader<'a>, Tag) -> Result<T>,
) -> Result<()> {
    put(place, long(r, tag)?);
    Ok(())
}

#[inline(never)]
fn fill_option_long<'a, T>(
    r: &mut Reader<'a>,
    tag: Tag,
    place: &mut Option<T>,
    long: fn(&mut Reader<'a>, Tag) -> Result<T>,
) -> Result<()> {
    put(place, Some(long(r, tag)?));
    Ok(())
}

/// Reads a complete element of any type into a place.
///
/// # Errors
/// As [`any`](super::any).
#[inline]
pub fn fill_any<'a, T: From<&'a [u8]>>(r: &mut Reader<'a>, place: &mut T) -> Result<()> {
    put(place, any_slice(r)?.into());
    Ok(())
}

/// Reads an optional component that may be any element, and is there, in the same way.
///
/// # Errors
/// As [`any`](super::any).
#[inline]
pub fn fill_any_option<'a, T: From<&'a [u8]>>(r: &mut Reader<'a>, place: &mut Option<T>) -> Result<()> {
    put(place, Some(any_slice(r)?.into()));
    Ok(())
}
