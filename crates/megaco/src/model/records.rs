//! The notation in which the types of messages are written down once: for the program, for Erlang's records and JSON, and
//! for BER and PER.

/// Types of H.248.1 as they are in its module.
///
/// `record` is a SEQUENCE, `choice` a CHOICE, `atoms` an ENUMERATED. What stands after `; 2:` and `; 3:` came with that
/// version: additions to what is extensible. `in` and `as` name the marker of what is inside (`binary/kinds.rs`).
///
/// Brackets behind the name tell what may come in later versions: `[...]` of an extensible type, `[late ...]` of one that
/// is so from version 2 on, `[recursive ...]` of one that may stand inside of itself, `[closed]` of others. `[by_hand]` is read
/// and written in `binary/` by hand, `[bits]` are those of a BIT STRING.
macro_rules! record {
    (
        $(#[$meta:meta])*
        $name:ident $(<$life:lifetime>)? $(as $text:literal)? $(in $kind:ident)? [$($asn:tt)*] {
            $($(#[$m1:meta])* $f1:ident $t1:literal: $ty1:ty $(as $w1:ident)?,)*
            $(; 2: $($(#[$m2:meta])* $f2:ident $t2:literal: $ty2:ty $(as $w2:ident)?,)*)?
            $(; 3: $($(#[$m3:meta])* $f3:ident $t3:literal: $ty3:ty $(as $w3:ident)?,)*)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $name $(<$life>)? {
            $($(#[$m1])* #[doc = concat!("`", $t1, "`")] pub $f1: $ty1,)*
            $($($(#[$m2])* #[doc = concat!("`", $t2, "`, from version 2")] pub $f2: $ty2,)*)?
            $($($(#[$m3])* #[doc = concat!("`", $t3, "`, from version 3")] pub $f3: $ty3,)*)?
        }

        impl<'a> $crate::value::Value<'a> for $name $(<$life>)? {
            fn write<S: $crate::value::Sink>(&self, sink: &mut S) {
                let version = sink.version();
                let name = const { &$crate::value::Word::new($crate::model::records::name_of!($name $($text)?)) };
                sink.record(name, Self::arity(version));
                $(sink.field($t1); $crate::value::Value::write(&self.$f1, sink);)*
                $($(
                    if version >= 2 {
                        sink.field($t2);
                        $crate::value::Value::write(&self.$f2, sink);
                    } else if self.$f2 != <$ty2>::default() {
                        sink.refuse(concat!($t2, " is of version 2"));
                    }
                )*)?
                $($(
                    if version >= 3 {
                        sink.field($t3);
                        $crate::value::Value::write(&self.$f3, sink);
                    } else if self.$f3 != <$ty3>::default() {
                        sink.refuse(concat!($t3, " is of version 3"));
                    }
                )*)?
                sink.end_record();
            }

            fn read<S: $crate::value::Source<'a>>(source: &mut S) -> $crate::Result<Self> {
                let version = source.version();
                let name = const { &$crate::value::Word::new($crate::model::records::name_of!($name $($text)?)) };
                source.record(name, Self::arity(version))?;
                $(source.field($t1)?; let $f1 = <$ty1 as $crate::value::Value<'a>>::read(source)?;)*
                $($(
                    let $f2 = if version >= 2 {
                        source.field($t2)?;
                        <$ty2 as $crate::value::Value<'a>>::read(source)?
                    } else {
                        Default::default()
                    };
                )*)?
                $($(
                    let $f3 = if version >= 3 {
                        source.field($t3)?;
                        <$ty3 as $crate::value::Value<'a>>::read(source)?
                    } else {
                        Default::default()
                    };
                )*)?
                source.end_record()?;
                Ok(Self { $($f1,)* $($($f2,)*)? $($($f3,)*)? })
            }
        }

        impl $(<$life>)? $name $(<$life>)? {
            fn arity(version: u8) -> usize {
                _ = version;
                <[&str]>::len(&[$($t1),*])
                $(+ if version >= 2 { <[&str]>::len(&[$($t2),*]) } else { 0 })?
                $(+ if version >= 3 { <[&str]>::len(&[$($t3),*]) } else { 0 })?
            }
        }

        impl $(<$life>)? $crate::model::IntoOwned for $name $(<$life>)? {
            type Owned = $crate::model::records::owned_of!($name $($life)?);

            fn into_owned(self) -> Self::Owned {
                $name {
                    $($f1: $crate::model::IntoOwned::into_owned(self.$f1),)*
                    $($($f2: $crate::model::IntoOwned::into_owned(self.$f2),)*)?
                    $($($f3: $crate::model::IntoOwned::into_owned(self.$f3),)*)?
                }
            }
        }

        $crate::binary::read::read_record! {
            $name [$($life)?] [$($kind)?] [$($asn)*]
            { $([$f1: $ty1, [$($w1)?]])* }
            { $($([$f2: $ty2, [$($w2)?]])*)? $($([$f3: $ty3, [$($w3)?]])*)? }
        }

        $crate::binary::write::write_record! {
            $name [$($life)?] [$($kind)?] [$($asn)*]
            { $([$f1: $ty1, [$($w1)?]])* }
            { $($([$f2: $ty2, [$($w2)?], 2])*)? $($([$f3: $ty3, [$($w3)?], 3])*)? }
        }
    };
}

macro_rules! choice {
    (
        $(#[$meta:meta])*
        $name:ident $(<$life:lifetime>)? $(in $kind:ident)? [$($asn:tt)*] {
            $($(#[$m1:meta])* $v1:ident $t1:literal ($ty1:ty $(as $w1:ident)?),)*
            $(; 2: $($(#[$m2:meta])* $v2:ident $t2:literal ($ty2:ty $(as $w2:ident)?),)*)?
            $(; 3: $($(#[$m3:meta])* $v3:ident $t3:literal ($ty3:ty $(as $w3:ident)?),)*)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum $name $(<$life>)? {
            $($(#[$m1])* #[doc = concat!("`", $t1, "`")] $v1($ty1),)*
            $($($(#[$m2])* #[doc = concat!("`", $t2, "`, from version 2")] $v2($ty2),)*)?
            $($($(#[$m3])* #[doc = concat!("`", $t3, "`, from version 3")] $v3($ty3),)*)?
        }

        impl<'a> $crate::value::Value<'a> for $name $(<$life>)? {
            fn write<S: $crate::value::Sink>(&self, sink: &mut S) {
                match self {
                    $(Self::$v1(value) => {
                        sink.choice(const { &$crate::value::Word::new($t1) });
                        $crate::value::Value::write(value, sink);
                    })*
                    $($(Self::$v2(value) => {
                        if sink.version() < 2 {
                            sink.refuse(concat!($t2, " is of version 2"));
                        }
                        sink.choice(const { &$crate::value::Word::new($t2) });
                        $crate::value::Value::write(value, sink);
                    })*)?
                    $($(Self::$v3(value) => {
                        if sink.version() < 3 {
                            sink.refuse(concat!($t3, " is of version 3"));
                        }
                        sink.choice(const { &$crate::value::Word::new($t3) });
                        $crate::value::Value::write(value, sink);
                    })*)?
                }
                sink.end_choice();
            }

            fn read<S: $crate::value::Source<'a>>(source: &mut S) -> $crate::Result<Self> {
                use $crate::value::{Spelled, Value, Word};

                let value = match source.choice()? {
                    $(tag if tag.is(const { &Word::new($t1) }) => Self::$v1(Value::read(source)?),)*
                    $($(tag if tag.is(const { &Word::new($t2) }) => Self::$v2(Value::read(source)?),)*)?
                    $($(tag if tag.is(const { &Word::new($t3) }) => Self::$v3(Value::read(source)?),)*)?
                    _ => return Err(source.error(concat!("an alternative of ", stringify!($name)))),
                };
                source.end_choice()?;
                Ok(value)
            }
        }

        impl $(<$life>)? $crate::model::IntoOwned for $name $(<$life>)? {
            type Owned = $crate::model::records::owned_of!($name $($life)?);

            fn into_owned(self) -> Self::Owned {
                match self {
                    $(Self::$v1(value) => $name::$v1($crate::model::IntoOwned::into_owned(value)),)*
                    $($(Self::$v2(value) => $name::$v2($crate::model::IntoOwned::into_owned(value)),)*)?
                    $($(Self::$v3(value) => $name::$v3($crate::model::IntoOwned::into_owned(value)),)*)?
                }
            }
        }

        $crate::binary::read::read_choice! {
            $name [$($life)?] [$($kind)?] [$($asn)*]
            { $([$v1: $ty1, [$($w1)?]])* }
            { $($([$v2: $ty2, [$($w2)?]])*)? $($([$v3: $ty3, [$($w3)?]])*)? }
        }

        $crate::binary::write::write_choice! {
            $name [$($life)?] [$($kind)?] [$($asn)*]
            { $([$v1: $ty1, [$($w1)?]])* }
            { $($([$v2: $ty2, [$($w2)?], 2])*)? $($([$v3: $ty3, [$($w3)?], 3])*)? }
        }
    };
}

macro_rules! atoms {
    (
        $(#[$meta:meta])*
        $name:ident [$($asn:tt)*] {
            $($(#[$m1:meta])* $v1:ident $t1:literal,)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name {
            $($(#[$m1])* #[doc = concat!("`", $t1, "`")] $v1,)*
        }

        impl $crate::list::Token for $name {
            fn number(self) -> u8 {
                self as u8
            }

            fn of_number(number: u8) -> Option<Self> {
                const ALL: &[$name] = &[$($name::$v1),*];
                ALL.get(usize::from(number)).copied()
            }
        }

        impl<'a> $crate::value::Value<'a> for $name {
            fn write<S: $crate::value::Sink>(&self, sink: &mut S) {
                sink.atom(match self {
                    $(Self::$v1 => const { &$crate::value::Word::new($t1) },)*
                });
            }

            fn read<S: $crate::value::Source<'a>>(source: &mut S) -> $crate::Result<Self> {
                use $crate::value::{Spelled, Word};

                match source.atom()? {
                    $(atom if atom.is(const { &Word::new($t1) }) => Ok(Self::$v1),)*
                    _ => Err(source.error(concat!("a value of ", stringify!($name)))),
                }
            }
        }

        impl $crate::model::IntoOwned for $name {
            type Owned = Self;

            fn into_owned(self) -> Self {
                self
            }
        }

        $crate::binary::read::read_atoms! { $name [$($asn)*] { $($v1)* } }
        $crate::binary::write::write_atoms! { $name [$($asn)*] { $($v1)* } }
    };
}

/// The name of a record in Erlang: that of the type, where they are not told apart.
macro_rules! name_of {
    ($name:ident) => {
        stringify!($name)
    };
    ($name:ident $text:literal) => {
        $text
    };
}

/// The type without a borrow.
macro_rules! owned_of {
    ($name:ident) => {
        $name
    };
    ($name:ident $life:lifetime) => {
        $name<'static>
    };
}

pub(crate) use {atoms, choice, name_of, owned_of, record};
