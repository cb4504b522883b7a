//! Lists, and what is around values in the model alone.

use tercet_runtime::{Result, Tag};

use super::{BerWriter, Context, PerWriter, Write};
use crate::list::List;
use crate::model::{AuditDescriptor, Lenient, ObservedEventsDescriptor};

macro_rules! lists {
    ($($list:ident)*) => {$(
        impl<const M: u8, T: Write<M>> Write<M> for $list<T> {
            #[inline(always)]
            fn ber(&self, w: &mut BerWriter, tag: Tag, cx: &mut Context<'_>) -> Result<()> {
                let end = w.open();
                for element in self.iter().rev() {
                    element.ber_element(w, cx)?;
                }
                w.close(tag, end);
                Ok(())
            }

            #[inline(always)]
            fn per(&self, w: &mut PerWriter, cx: &mut Context<'_>) -> Result<()> {
                let mut rest = &self[..];
                loop {
                    let length = w.length(rest.len());
                    let (fragment, behind) = rest.split_at_checked(length.count).unwrap_or((rest, &[]));
                    for element in fragment {
                        element.per(w, cx)?;
                    }
                    if !length.more {
                        return Ok(());
                    }
                    rest = behind;
                }
            }
        }
    )*};
}

lists!(Vec List);

impl<const M: u8, T: Write<M>> Write<M> for Box<T> {
    const TAG: Tag = T::TAG;

    #[inline(always)]
    fn ber(&self, w: &mut BerWriter, tag: Tag, cx: &mut Context<'_>) -> Result<()> {
        (**self).ber(w, tag, cx)
    }

    #[inline(always)]
    fn ber_element(&self, w: &mut BerWriter, cx: &mut Context<'_>) -> Result<()> {
        (**self).ber_element(w, cx)
    }

    #[inline(always)]
    fn per(&self, w: &mut PerWriter, cx: &mut Context<'_>) -> Result<()> {
        (**self).per(w, cx)
    }
}

/// What the module has to have if the text has nothing.
trait Missing: Sized {
    /// It, if there is something that says the same.
    fn missing<'x>() -> Option<&'x Self>;
}

impl Missing for u32 {
    fn missing<'x>() -> Option<&'x Self> {
        None
    }
}

impl Missing for AuditDescriptor<'_> {
    fn missing<'x>() -> Option<&'x Self> {
        static EMPTY: AuditDescriptor<'static> =
            AuditDescriptor { audit_token: None, audit_property_token: None };
        Some(&EMPTY)
    }
}

impl Missing for ObservedEventsDescriptor<'_> {
    fn missing<'x>() -> Option<&'x Self> {
        static EMPTY: ObservedEventsDescriptor<'static> =
            ObservedEventsDescriptor { request_id: 0, observed_event_lst: Vec::new() };
        Some(&EMPTY)
    }
}

#[inline]
fn given<'m, T: Missing>(value: &'m Lenient<T>, cx: &mut Context<'_>) -> Result<&'m T> {
    value.0.as_ref().or_else(|| T::missing()).ok_or_else(|| cx.refuse("a transaction id"))
}

impl<const M: u8, T: Write<M> + Missing> Write<M> for Lenient<T> {
    const TAG: Tag = T::TAG;

    #[inline(always)]
    fn ber(&self, w: &mut BerWriter, tag: Tag, cx: &mut Context<'_>) -> Result<()> {
        given(self, cx)?.ber(w, tag, cx)
    }

    #[inline(always)]
    fn per(&self, w: &mut PerWriter, cx: &mut Context<'_>) -> Result<()> {
        given(self, cx)?.per(w, cx)
    }
}
