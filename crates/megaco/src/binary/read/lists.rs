//! Lists, and what is around values in the model alone.

use tercet_runtime::codec::ber;
use tercet_runtime::codec::per::Size;
use tercet_runtime::{Result, Tag};

use super::{BerReader, Context, PerReader, Read, told};
use crate::list::List;
use crate::model::Lenient;

impl<'a, const M: u8, T: Read<'a, M>> Read<'a, M> for Vec<T> {
    #[inline(always)]
    fn ber(r: &mut BerReader<'a>, tag: Tag, cx: &mut Context<'a>) -> Result<Self> {
        ber::list(r, tag, |r| T::ber_element(r, cx))
    }

    #[inline(always)]
    fn per(r: &mut PerReader<'a>, cx: &mut Context<'a>) -> Result<Self> {
        r.list(Size::ANY, |r| T::per(r, cx))
    }
}

impl<'a, const M: u8, T: Read<'a, M>> Read<'a, M> for List<T> {
    #[inline(always)]
    fn ber(r: &mut BerReader<'a>, tag: Tag, cx: &mut Context<'a>) -> Result<Self> {
        let level = ber::enter(r, tag)?;
        let mut list = Self::new();
        while r.has_more()? {
            let element = T::ber_element(r, cx);
            list.push(told(element, r)?);
        }
        r.leave(level)?;
        Ok(list)
    }

    #[inline(always)]
    fn per(r: &mut PerReader<'a>, cx: &mut Context<'a>) -> Result<Self> {
        let mut list = Self::new();
        loop {
            let length = r.length()?;
            // Most lists: made where it stays.
            if length.count == 1 && !length.more && list.is_empty() {
                return T::per(r, cx).map(Self::One);
            }
            for _ in 0..length.count {
                list.push(T::per(r, cx)?);
            }
            if !length.more {
                return Ok(list);
            }
        }
    }
}

impl<'a, const M: u8, T: Read<'a, M>> Read<'a, M> for Box<T> {
    const TAG: Tag = T::TAG;

    #[inline(always)]
    fn ber(r: &mut BerReader<'a>, tag: Tag, cx: &mut Context<'a>) -> Result<Self> {
        T::ber(r, tag, cx).map(Self::new)
    }

    #[inline(always)]
    fn ber_element(r: &mut BerReader<'a>, cx: &mut Context<'a>) -> Result<Self> {
        T::ber_element(r, cx).map(Self::new)
    }

    #[inline(always)]
    fn per(r: &mut PerReader<'a>, cx: &mut Context<'a>) -> Result<Self> {
        T::per(r, cx).map(Self::new)
    }
}

impl<'a, const M: u8, T: Read<'a, M>> Read<'a, M> for Lenient<T> {
    const TAG: Tag = T::TAG;

    #[inline(always)]
    fn ber(r: &mut BerReader<'a>, tag: Tag, cx: &mut Context<'a>) -> Result<Self> {
        T::ber(r, tag, cx).map(Self::from)
    }

    #[inline(always)]
    fn per(r: &mut PerReader<'a>, cx: &mut Context<'a>) -> Result<Self> {
        T::per(r, cx).map(Self::from)
    }
}
