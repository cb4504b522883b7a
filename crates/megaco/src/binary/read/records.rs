//! How types are read by what they are written down as in the model: components in their order, with the numbers that
//! automatic tagging gives them.

use tercet_runtime::Result;

use super::{Component, Context, PerReader};

/// The bits that a SEQUENCE begins with in PER (X.691 19.1, 19.2).
pub(crate) struct Preamble {
    /// Bits of optional components, of which the lowest `left` are still to come.
    bits: u64,
    left: u32,
    is_extended: bool,
}

impl Preamble {
    #[inline(always)]
    pub(crate) fn read(r: &mut PerReader<'_>, is_extensible: bool, optional: u32) -> Result<Self> {
        let width = optional + u32::from(is_extensible);
        let bits = if width > 0 { r.bits(width)? } else { 0 };
        Ok(Self { bits, left: optional, is_extended: bits >> optional != 0 })
    }

    /// Reads the next component if it is there.
    #[inline(always)]
    pub(crate) fn component<'a, const M: u8, T: Component<'a, M>>(
        &mut self,
        r: &mut PerReader<'a>,
        cx: &mut Context<'a>,
    ) -> Result<T> {
        if let Some(absent) = T::absent() {
            self.left -= 1;
            if self.bits >> self.left & 1 == 0 {
                return Ok(absent);
            }
        }
        T::per(r, cx)
    }

    /// Whether additions follow.
    #[inline(always)]
    pub(crate) const fn is_extended(&self) -> bool {
        self.is_extended
    }
}

/// A SEQUENCE.
macro_rules! read_record {
    // By hand.
    ($name:ident $life:tt $kind:tt [by_hand] $root:tt $additions:tt) => {
        $crate::binary::read::placeholder_record! { $name $life $root $additions }
    };
    // Components that come in their order or not, as the generated types read those of which there are many.
    (Signal $life:tt $kind:tt $how:tt $root:tt $additions:tt) => {
        $crate::binary::read::read_record! { @ by_tags Signal $life $kind [true true false] $root $additions }
    };
    (ServiceChangeParm $life:tt $kind:tt $how:tt $root:tt $additions:tt) => {
        $crate::binary::read::read_record! { @ by_tags ServiceChangeParm $life $kind [true true false] $root $additions }
    };
    ($name:ident $life:tt $kind:tt [closed] $root:tt $additions:tt) => {
        $crate::binary::read::read_record! { @ in_order $name $life $kind [false false false] $root $additions }
    };
    ($name:ident $life:tt $kind:tt [late ...] $root:tt $additions:tt) => {
        $crate::binary::read::read_record! { @ in_order $name $life $kind [false true false] $root $additions }
    };
    ($name:ident $life:tt $kind:tt [...] $root:tt $additions:tt) => {
        $crate::binary::read::read_record! { @ in_order $name $life $kind [true true false] $root $additions }
    };
    ($name:ident $life:tt $kind:tt [recursive ...] $root:tt $additions:tt) => {
        $crate::binary::read::read_record! { @ in_order $name $life $kind [true true true] $root $additions }
    };
    (@ $order:ident $name:ident [$($life:lifetime)?] $kind:tt [$first:literal $later:literal $recursive:literal]
        { $([$f1:ident: $ty1:ty, $w1:tt])* } { $([$f2:ident: $ty2:ty, $w2:tt])* }
    ) => {
        $crate::binary::read::read_named! { $name $(<$life>)?, tercet_runtime::Tag::SEQUENCE }
        $crate::binary::read::placeholder_record! {
            $name [$($life)?] { $([$f1: $ty1, $w1])* } { $([$f2: $ty2, $w2])* }
        }

        impl<'a> $crate::binary::read::Named<'a> for $name $(<$life>)? {
            fn ber(
                r: &mut $crate::binary::read::BerReader<'a>,
                tag: tercet_runtime::Tag,
                cx: &mut $crate::binary::read::Context<'a>,
            ) -> tercet_runtime::Result<Self> {
                #[allow(non_camel_case_types, dead_code, reason = "components and their numbers")]
                enum At { $($f1,)* $($f2,)* End }
                const NAMES: bool =
                    $crate::binary::Marker::of($crate::binary::marked!([] $kind)).item().is_some();
                let level = tercet_runtime::codec::ber::enter(r, tag)?;
                let item = cx.item;
                $crate::binary::read::$order! {
                    r cx $later { $([$f1: $ty1, { $crate::binary::marked!($w1 $kind) }])* }
                    { $([$f2: $ty2, { $crate::binary::marked!($w2 $kind) }])* }
                }
                if NAMES {
                    cx.item = item;
                }
                if $later {
                    let place = $crate::binary::read::place::<{ At::End as usize }>;
                    tercet_runtime::codec::ber::leave_extensible(r, level, place)?;
                } else {
                    r.leave(level)?;
                }
                Ok(Self { $($f1,)* $($f2,)* })
            }

            fn per(
                r: &mut $crate::binary::read::PerReader<'a>,
                cx: &mut $crate::binary::read::Context<'a>,
            ) -> tercet_runtime::Result<Self> {
                use $crate::binary::marked;
                use $crate::binary::read::{Component, Preamble};
                const NAMES: bool = $crate::binary::Marker::of(marked!([] $kind)).item().is_some();

                if $recursive {
                    r.enter()?;
                }
                let is_extensible = if cx.is_first { $first } else { $later };
                let optional = 0 $(+ u32::from(<$ty1 as Component<'a, { marked!($w1 $kind) }>>::IS_OPTIONAL))*;
                let mut preamble = Preamble::read(r, is_extensible, optional)?;
                let item = cx.item;
                $(let $f1 = preamble.component::<{ marked!($w1 $kind) }, $ty1>(r, cx)?;)*
                $(let mut $f2 = <$ty2>::default();)*
                if preamble.is_extended() {
                    #[allow(unused_mut, reason = "most have none")]
                    let mut additions = r.additions()?;
                    if !cx.is_first {
                        $(
                            if let Some(open) = r.addition(&mut additions)? {
                                $f2 = <$ty2 as Component<'a, { marked!($w2 $kind) }>>::per(r, cx)?;
                                r.close(open);
                            }
                        )*
                    }
                    r.skip_additions(additions)?;
                }
                if NAMES {
                    cx.item = item;
                }
                if $recursive {
                    r.leave();
                }
                Ok(Self { $($f1,)* $($f2,)* })
            }
        }
    };
}

/// The components of a SEQUENCE in BER, each where it has to be.
macro_rules! in_order {
    ($r:ident $cx:ident $extensible:literal
        { $([$f1:ident: $ty1:ty, $k1:tt])* } { $([$f2:ident: $ty2:ty, $k2:tt])* }
    ) => {
        use $crate::binary::read::Component;

        const COUNT: usize = At::End as usize;
        $(let $f1 = <$ty1 as Component<'a, $k1>>::ber::<COUNT, $extensible>($r, At::$f1 as u32, $cx)?;)*
        $(let $f2 = <$ty2 as Component<'a, $k2>>::ber::<COUNT, $extensible>($r, At::$f2 as u32, $cx)?;)*
    };
}

/// The components of a SEQUENCE in BER by their tags.
macro_rules! by_tags {
    ($r:ident $cx:ident $extensible:literal
        { $([$f1:ident: $ty1:ty, $k1:tt])* } { $([$f2:ident: $ty2:ty, $k2:tt])* }
    ) => {
        use $crate::binary::read::{Component, told};
        use tercet_runtime::codec::ber;
        use tercet_runtime::{ErrorKind, Tag};

        let required = [$((
            if <$ty1 as Component<'a, $k1>>::IS_OPTIONAL { 0 } else { At::$f1 as u32 + 1 },
            "",
        )),*];
        let least = |position| required.iter().map(|it| it.0).filter(|number| *number < position).max().unwrap_or(0);
        let mut last = 0;
        $(let mut $f1 = None;)*
        $(let mut $f2 = None;)*
        while let Some(tag) = $r.peek_tag()? {
            $(
                if tag == Tag::context(At::$f1 as u32) {
                    let position = At::$f1 as u32 + 1;
                    ber::in_order(&mut last, (position, ""), least(position), &required, $r)?;
                    let value = <$ty1 as Component<'a, $k1>>::ber_found($r, At::$f1 as u32, $cx);
                    $f1 = Some(told(value, $r)?);
                    continue;
                }
            )*
            $(
                if tag == Tag::context(At::$f2 as u32) {
                    let position = At::$f2 as u32 + 1;
                    ber::in_order(&mut last, (position, ""), least(position), &required, $r)?;
                    let value = <$ty2 as Component<'a, $k2>>::ber_found($r, At::$f2 as u32, $cx);
                    $f2 = Some(told(value, $r)?);
                    continue;
                }
            )*
            ber::in_additions(&mut last, At::End as u32, &required, $r)?;
            drop(ber::any($r)?);
        }
        $(
            let Some($f1) = $f1.or_else(<$ty1 as Component<'a, $k1>>::absent) else {
                $r.inside("");
                return Err($r.error(ErrorKind::MissingComponent));
            };
        )*
        $(let $f2 = $f2.unwrap_or_default();)*
    };
}

/// A CHOICE.
macro_rules! read_choice {
    ($name:ident $life:tt $kind:tt [by_hand] $root:tt $additions:tt) => {
        $crate::binary::read::placeholder_choice! { $name $life $root }
    };
    ($name:ident $life:tt $kind:tt [closed] $root:tt $additions:tt) => {
        $crate::binary::read::read_choice! { @ $name $life $kind [false false] $root $additions }
    };
    ($name:ident $life:tt $kind:tt [...] $root:tt $additions:tt) => {
        $crate::binary::read::read_choice! { @ $name $life $kind [true false] $root $additions }
    };
    ($name:ident $life:tt $kind:tt [recursive ...] $root:tt $additions:tt) => {
        $crate::binary::read::read_choice! { @ $name $life $kind [true true] $root $additions }
    };
    (@ $name:ident [$($life:lifetime)?] $kind:tt [$extensible:literal $recursive:literal]
        { $([$a1:ident: $ty1:ty, $w1:tt])* } { $([$a2:ident: $ty2:ty, $w2:tt])* }
    ) => {
        $crate::binary::read::read_named_choice! { $name $(<$life>)? }
        $crate::binary::read::placeholder_choice! { $name [$($life)?] { $([$a1: $ty1, $w1])* } }

        impl<'a> $crate::binary::read::Named<'a> for $name $(<$life>)? {
            fn ber(
                r: &mut $crate::binary::read::BerReader<'a>,
                _: tercet_runtime::Tag,
                cx: &mut $crate::binary::read::Context<'a>,
            ) -> tercet_runtime::Result<Self> {
                use $crate::binary::marked;
                use $crate::binary::read::{Alternative};
                use tercet_runtime::codec::ber;
                use tercet_runtime::Tag;

                #[allow(clippy::enum_variant_names, reason = "alternatives and their numbers")]
                enum At { $($a1,)* $($a2,)* }
                let tag = ber::tag(r)?;
                $(
                    if tag == Tag::context(At::$a1 as u32) {
                        let tag = Tag::context(At::$a1 as u32);
                        return Ok(Self::$a1(<$ty1 as Alternative<'a, { marked!($w1 $kind) }>>::ber(r, tag, cx)?));
                    }
                )*
                $(
                    if tag == Tag::context(At::$a2 as u32) {
                        let tag = Tag::context(At::$a2 as u32);
                        return Ok(Self::$a2(<$ty2 as Alternative<'a, { marked!($w2 $kind) }>>::ber(r, tag, cx)?));
                    }
                )*
                if $extensible {
                    drop(ber::any(r)?);
                    return Ok(cx.refuse(concat!("an alternative of ", stringify!($name))));
                }
                Err(ber::no_alternative(r))
            }

            fn per(
                r: &mut $crate::binary::read::PerReader<'a>,
                cx: &mut $crate::binary::read::Context<'a>,
            ) -> tercet_runtime::Result<Self> {
                use $crate::binary::marked;
                use $crate::binary::read::{Alternative, whole};

                #[allow(clippy::enum_variant_names, reason = "alternatives and their numbers")]
                enum Root { $($a1,)* }
                const COUNT: u32 = <[u32]>::len(&[$(Root::$a1 as u32),*]) as u32;
                if $recursive {
                    r.enter()?;
                }
                let number = if !$extensible {
                    r.alternative(whole(COUNT), COUNT)?
                } else if !r.bit()? {
                    r.root_alternative(whole(COUNT), COUNT)?
                } else {
                    #[allow(dead_code, reason = "most have none")]
                    enum Added { $($a2,)* }
                    let number = r.small_number()?;
                    $(
                        if number == Added::$a2 as u32 && !cx.is_first {
                            let open = r.open()?;
                            let value = <$ty2 as Alternative<'a, { marked!($w2 $kind) }>>::per(r, cx)?;
                            r.close(open);
                            return Ok(Self::$a2(value));
                        }
                    )*
                    drop(r.unknown_alternative(number)?);
                    if $recursive {
                        r.leave();
                    }
                    return Ok(cx.refuse(concat!("an alternative of ", stringify!($name))));
                };
                $(
                    if number == Root::$a1 as u32 {
                        let value = <$ty1 as Alternative<'a, { marked!($w1 $kind) }>>::per(r, cx)?;
                        if $recursive {
                            r.leave();
                        }
                        return Ok(Self::$a1(value));
                    }
                )*
                Err(r.error(tercet_runtime::ErrorKind::UnknownAlternative))
            }
        }
    };
}

/// An ENUMERATED whose values have their numbers from 0 on.
macro_rules! read_atoms {
    // Bits, or by hand.
    ($name:ident [bits] $a:tt) => {};
    ($name:ident [by_hand] $a:tt) => {
        $crate::binary::read::placeholder_atom! { $name $a }
    };
    ($name:ident [closed] $a:tt) => {
        $crate::binary::read::read_atoms! { @ $name false $a }
    };
    ($name:ident [...] $a:tt) => {
        $crate::binary::read::read_atoms! { @ $name true $a }
    };
    (@ $name:ident $extensible:literal { $($a:ident)* }) => {
        $crate::binary::read::read_named! { $name, tercet_runtime::Tag::ENUMERATED }
        $crate::binary::read::placeholder_atom! { $name { $($a)* } }

        impl<'a> $crate::binary::read::Named<'a> for $name {
            fn ber(
                r: &mut $crate::binary::read::BerReader<'a>,
                tag: tercet_runtime::Tag,
                cx: &mut $crate::binary::read::Context<'a>,
            ) -> tercet_runtime::Result<Self> {
                let item = |number| u8::try_from(number).ok().and_then($crate::list::Token::of_number);
                if !$extensible {
                    return tercet_runtime::codec::ber::enumerated(r, tag, item);
                }
                let number = tercet_runtime::codec::ber::integer(r, tag)?;
                Ok(item(number).unwrap_or_else(|| cx.refuse(concat!("a value of ", stringify!($name)))))
            }

            fn per(
                r: &mut $crate::binary::read::PerReader<'a>,
                cx: &mut $crate::binary::read::Context<'a>,
            ) -> tercet_runtime::Result<Self> {
                const ALL: &[$name] = &[$($name::$a),*];
                let whole = $crate::binary::read::whole(ALL.len() as u32);
                if !$extensible {
                    return r.item(whole, ALL);
                }
                if r.bit()? {
                    r.small_number()?;
                    return Ok(cx.refuse(concat!("a value of ", stringify!($name))));
                }
                r.root_item(whole, ALL)
            }
        }
    };
}

pub(crate) use {by_tags, in_order, read_atoms, read_choice, read_record};
