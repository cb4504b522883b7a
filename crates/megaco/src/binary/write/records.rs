//! How types are written by what they are written down as in the model.

/// A SEQUENCE.
macro_rules! write_record {
    // By hand.
    ($name:ident $life:tt $kind:tt [by_hand] $root:tt $additions:tt) => {};
    ($name:ident $life:tt $kind:tt [closed] $root:tt $additions:tt) => {
        $crate::binary::write::write_record! { @ $name $life $kind [false false] $root $additions }
    };
    ($name:ident $life:tt $kind:tt [late ...] $root:tt $additions:tt) => {
        $crate::binary::write::write_record! { @ $name $life $kind [false true] $root $additions }
    };
    ($name:ident $life:tt $kind:tt [$($recursive:ident)? ...] $root:tt $additions:tt) => {
        $crate::binary::write::write_record! { @ $name $life $kind [true true] $root $additions }
    };
    (@ $name:ident [$($life:lifetime)?] $kind:tt [$first:literal $later:literal]
        { $([$f1:ident: $ty1:ty, $w1:tt])* } { $([$f2:ident: $ty2:ty, $w2:tt, $since:literal])* }
    ) => {
        $crate::binary::write::write_named! { [$($life)?] $name $(<$life>)?, tercet_runtime::Tag::SEQUENCE }

        impl $(<$life>)? $crate::binary::write::Named for $name $(<$life>)? {
            fn ber(
                &self,
                w: &mut $crate::binary::write::BerWriter,
                tag: tercet_runtime::Tag,
                cx: &mut $crate::binary::write::Context<'_>,
            ) -> tercet_runtime::Result<()> {
                use $crate::binary::marked;
                use $crate::binary::write::Component;

                #[allow(non_camel_case_types, dead_code, reason = "components and their numbers")]
                enum At { $($f1,)* $($f2,)* }
                $(cx.no_more($since, self.$f2.is_some())?;)*
                let item = cx.item;
                $(<$ty1 as Component<{ marked!($w1 $kind) }>>::begin(&self.$f1, cx)?;)*
                let end = w.open();
                $crate::binary::write::backwards! {
                    self w cx
                    $([$f1: $ty1, { marked!($w1 $kind) }])*
                    $([$f2: $ty2, { marked!($w2 $kind) }])*
                }
                w.close(tag, end);
                cx.item = item;
                Ok(())
            }

            fn per(
                &self,
                w: &mut $crate::binary::write::PerWriter,
                cx: &mut $crate::binary::write::Context<'_>,
            ) -> tercet_runtime::Result<()> {
                use $crate::binary::marked;
                use $crate::binary::write::Component;

                $(cx.no_more($since, self.$f2.is_some())?;)*
                let additions: &[bool] = &[$(self.$f2.is_some()),*];
                let is_extended = !cx.is_first && additions.contains(&true);
                // The bits that tell what is there (X.691 19.1, 19.2).
                let (mut bits, mut width) = (0, 0);
                if if cx.is_first { $first } else { $later } {
                    (bits, width) = (u64::from(is_extended), 1);
                }
                $(
                    if <$ty1 as Component<{ marked!($w1 $kind) }>>::IS_OPTIONAL {
                        let is_there = <$ty1 as Component<{ marked!($w1 $kind) }>>::is_there(&self.$f1);
                        (bits, width) = (bits << 1 | u64::from(is_there), width + 1);
                    }
                )*
                w.bits(bits, width);
                let item = cx.item;
                $(<$ty1 as Component<{ marked!($w1 $kind) }>>::per(&self.$f1, w, cx)?;)*
                if is_extended {
                    w.additions(additions);
                    $(
                        if self.$f2.is_some() {
                            let open = w.open();
                            <$ty2 as Component<{ marked!($w2 $kind) }>>::per(&self.$f2, w, cx)?;
                            w.close(open);
                        }
                    )*
                }
                cx.item = item;
                Ok(())
            }
        }
    };
}

/// Components from the last to the first, as BER is written.
macro_rules! backwards {
    ($value:ident $w:ident $cx:ident) => {};
    ($value:ident $w:ident $cx:ident [$f:ident: $ty:ty, $marker:tt] $($rest:tt)*) => {
        $crate::binary::write::backwards! { $value $w $cx $($rest)* }
        <$ty as Component<$marker>>::ber(&$value.$f, $w, At::$f as u32, $cx)?;
    };
}

/// A CHOICE.
macro_rules! write_choice {
    ($name:ident $life:tt $kind:tt [by_hand] $root:tt $additions:tt) => {};
    ($name:ident $life:tt $kind:tt [closed] $root:tt $additions:tt) => {
        $crate::binary::write::write_choice! { @ $name $life $kind 0 $root $additions }
    };
    ($name:ident $life:tt $kind:tt [$($recursive:ident)? ...] $root:tt $additions:tt) => {
        $crate::binary::write::write_choice! { @ $name $life $kind 1 $root $additions }
    };
    (@ $name:ident [$($life:lifetime)?] $kind:tt $extensible:literal
        { $([$a1:ident: $ty1:ty, $w1:tt])* } { $([$a2:ident: $ty2:ty, $w2:tt, $since:literal])* }
    ) => {
        $crate::binary::write::write_named_choice! { [$($life)?] $name $(<$life>)? }

        impl $(<$life>)? $crate::binary::write::Named for $name $(<$life>)? {
            fn ber(
                &self,
                w: &mut $crate::binary::write::BerWriter,
                _: tercet_runtime::Tag,
                cx: &mut $crate::binary::write::Context<'_>,
            ) -> tercet_runtime::Result<()> {
                use $crate::binary::marked;
                use $crate::binary::write::Alternative;
                use tercet_runtime::Tag;

                #[allow(clippy::enum_variant_names, reason = "alternatives and their numbers")]
                enum At { $($a1,)* $($a2,)* }
                match self {
                    $(Self::$a1(value) => {
                        <$ty1 as Alternative<{ marked!($w1 $kind) }>>::ber(value, w, Tag::context(At::$a1 as u32), cx)
                    })*
                    $(Self::$a2(value) => {
                        cx.no_alternative($since)?;
                        <$ty2 as Alternative<{ marked!($w2 $kind) }>>::ber(value, w, Tag::context(At::$a2 as u32), cx)
                    })*
                }
            }

            fn per(
                &self,
                w: &mut $crate::binary::write::PerWriter,
                cx: &mut $crate::binary::write::Context<'_>,
            ) -> tercet_runtime::Result<()> {
                use $crate::binary::write::Alternative;
                use $crate::binary::{marked, width};

                #[allow(clippy::enum_variant_names, reason = "alternatives and their numbers")]
                enum Root { $($a1,)* }
                #[allow(dead_code, reason = "most have none")]
                enum Added { $($a2,)* }
                const COUNT: u32 = <[u32]>::len(&[$(Root::$a1 as u32),*]) as u32;
                match self {
                    $(Self::$a1(value) => {
                        w.bits(Root::$a1 as u64, $extensible + width(COUNT));
                        <$ty1 as Alternative<{ marked!($w1 $kind) }>>::per(value, w, cx)
                    })*
                    $(Self::$a2(value) => {
                        cx.no_alternative($since)?;
                        let open = w.added_alternative(Added::$a2 as u32);
                        <$ty2 as Alternative<{ marked!($w2 $kind) }>>::per(value, w, cx)?;
                        w.close(open);
                        Ok(())
                    })*
                }
            }
        }
    };
}

/// An ENUMERATED whose values have their numbers from 0 on.
macro_rules! write_atoms {
    // Bits, or by hand.
    ($name:ident [bits] $a:tt) => {};
    ($name:ident [by_hand] $a:tt) => {};
    ($name:ident [closed] $a:tt) => {
        $crate::binary::write::write_atoms! { @ $name 0 $a }
    };
    ($name:ident [...] $a:tt) => {
        $crate::binary::write::write_atoms! { @ $name 1 $a }
    };
    (@ $name:ident $extensible:literal { $($a:ident)* }) => {
        $crate::binary::write::write_named! { [] $name, tercet_runtime::Tag::ENUMERATED }

        impl $crate::binary::write::Named for $name {
            fn ber(
                &self,
                w: &mut $crate::binary::write::BerWriter,
                tag: tercet_runtime::Tag,
                _: &mut $crate::binary::write::Context<'_>,
            ) -> tercet_runtime::Result<()> {
                w.integer(tag, *self as i64);
                Ok(())
            }

            fn per(
                &self,
                w: &mut $crate::binary::write::PerWriter,
                _: &mut $crate::binary::write::Context<'_>,
            ) -> tercet_runtime::Result<()> {
                const COUNT: u32 = <[$name]>::len(&[$($name::$a),*]) as u32;
                w.bits(*self as u64, $extensible + $crate::binary::width(COUNT));
                Ok(())
            }
        }
    };
}

pub(crate) use {backwards, write_atoms, write_choice, write_record};
