//! BER with definite lengths: one look at each header, contents handed on; writing from the last component to the first.

/// Class, form and number of a tag as one dense number: what elements are matched by.
pub(crate) const fn key(class: u32, form: u32, number: u32) -> u32 {
    number << 3 | class << 1 | form
}

pub(crate) const UNIVERSAL: u32 = 0;
pub(crate) const APPLICATION: u32 = 1;
pub(crate) const CONTEXT: u32 = 2;

/// Takes the next element: its key and its contents.
#[inline(always)]
pub(crate) fn element<'a>(rest: &mut &'a [u8]) -> Option<(u32, &'a [u8])> {
    let (first, number, length, behind) = match **rest {
        [first, length, ref behind @ ..] if first & 0x1F != 0x1F => {
            (first, u32::from(first & 0x1F), length, behind)
        }
        [first, number @ 31..=0x7F, length, ref behind @ ..] => (first, u32::from(number), length, behind),
        [first, high @ 0x81..=0xFF, low @ 0..=0x7F, length, ref behind @ ..] => {
            (first, u32::from(high & 0x7F) << 7 | u32::from(low), length, behind)
        }
        _ => return None,
    };
    let (length, behind) =
        if length < 0x80 { (usize::from(length), behind) } else { long_length(length, behind)? };
    let (contents, behind) = behind.split_at_checked(length)?;
    *rest = behind;
    Some((number << 3 | u32::from(first >> 5), contents))
}

fn long_length(first: u8, behind: &[u8]) -> Option<(usize, &[u8])> {
    match (first, behind) {
        (0x81, [length @ 0x80..=0xFF, behind @ ..]) => Some((usize::from(*length), behind)),
        (0x82, [high @ 1..=0xFF, low, behind @ ..]) => {
            Some((usize::from(u16::from_be_bytes([*high, *low])), behind))
        }
        _ => None,
    }
}

/// Takes the next element, which must have this key.
#[inline(always)]
pub(crate) fn expect<'a>(rest: &mut &'a [u8], wanted: u32) -> Option<&'a [u8]> {
    let (found, contents) = element(rest)?;
    (found == wanted).then_some(contents)
}

/// A value that is read from contents and written as contents.
pub(crate) trait Value<'a>: Default {
    /// 1 if the contents are elements.
    const FORM: u32;

    /// Reads the contents into this value.
    fn fill(&mut self, contents: &'a [u8]) -> Option<()>;

    /// Checks the contents.
    #[inline(always)]
    fn check(contents: &'a [u8]) -> Option<()> {
        Self::default().fill(contents)
    }

    /// Writes an element with this key.
    fn put(&self, key: u32, out: &mut Back);

    /// Reads an element of a list, which must have the key of the list's elements.
    #[inline(always)]
    fn fill_element(&mut self, wanted: u32, found: u32, contents: &'a [u8]) -> Option<()> {
        if wanted == found { self.fill(contents) } else { None }
    }

    /// Checks such an element.
    #[inline(always)]
    fn check_element(wanted: u32, found: u32, contents: &'a [u8]) -> Option<()> {
        if wanted == found { Self::check(contents) } else { None }
    }
}

/// A buffer that is written from its end to its start.
#[derive(Debug)]
pub struct Back {
    buf: Vec<u8>,
    at: usize,
}

const SIZE: usize = 1 << 16;

impl Default for Back {
    fn default() -> Self {
        Self { buf: vec![0; SIZE], at: SIZE }
    }
}

impl Back {
    /// Appends what is written to `out`, and forgets it.
    #[inline]
    pub(crate) fn flush(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.buf.get(self.at..).unwrap_or_default());
        self.at = self.buf.len();
    }

    #[inline(always)]
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    #[inline(always)]
    fn room<const N: usize>(&mut self) -> Option<&mut [u8; N]> {
        self.buf.get_mut(..self.at)?.last_chunk_mut()
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let more = self.buf.len();
        let mut wider = vec![0; more];
        wider.append(&mut self.buf);
        self.buf = wider;
        self.at += more;
    }

    /// Writes contents of a fixed size.
    #[inline(always)]
    fn fixed<const N: usize>(&mut self, contents: &[u8; N]) {
        if self.at < N + 16 {
            self.grow();
        }
        if let Some(room) = self.room::<N>() {
            *room = *contents;
        }
        self.at -= N;
    }

    #[inline(always)]
    pub(crate) fn octets(&mut self, contents: &[u8]) {
        let length = contents.len();
        if self.at < length + 32 {
            self.grow();
        }
        let Some(room) = self.room::<32>() else { return };
        match length {
            0 => {}
            1 => room[31] = contents[0],
            2..4 => {
                room[32 - length] = contents[0];
                room[30] = contents[length - 2];
                room[31] = contents[length - 1];
            }
            4..8 => {
                if let (Some(first), Some(last)) = (contents.first_chunk::<4>(), contents.last_chunk::<4>()) {
                    room[28..].copy_from_slice(last);
                    room[32 - length..36 - length].copy_from_slice(first);
                }
            }
            8..=16 => {
                if let (Some(first), Some(last)) = (contents.first_chunk::<8>(), contents.last_chunk::<8>()) {
                    room[24..].copy_from_slice(last);
                    room[32 - length..40 - length].copy_from_slice(first);
                }
            }
            _ => {
                if let Some(room) = self.buf.get_mut(self.at - length..self.at) {
                    room.copy_from_slice(contents);
                }
            }
        }
        self.at -= length;
    }

    /// Writes the header of what was written since the position `end`.
    #[inline(always)]
    pub(crate) fn header(&mut self, key: u32, end: usize) {
        self.header_of(key, end - self.at);
    }

    /// Writes the header of contents of this length.
    #[inline(always)]
    fn header_of(&mut self, key: u32, length: usize) {
        if self.at < 16 {
            return self.late_header(key, length);
        }
        let (first, number) = (u64::from(key & 7) << 5, u64::from(key >> 3));
        let (head, size) = match number {
            0..31 => (first | number, 1),
            31..0x80 => ((first | 0x1F) << 8 | number, 2),
            _ => ((first | 0x1F) << 16 | (0x80 | number >> 7) << 8 | number & 0x7F, 3),
        };
        let octets = length as u64;
        let (word, count) = match length {
            0..0x80 => (head << 8 | octets, 1),
            0x80..0x100 => (head << 16 | 0x8100 | octets, 2),
            _ => (head << 24 | 0x82_0000 | octets, 3),
        };
        if let Some(room) = self.room::<8>() {
            *room = word.to_be_bytes();
        }
        self.at -= size + count;
    }

    #[cold]
    #[inline(never)]
    fn late_header(&mut self, key: u32, length: usize) {
        self.grow();
        self.header_of(key, length);
    }
}

impl<'a, const N: usize> Value<'a> for [u8; N]
where
    [u8; N]: Default,
{
    const FORM: u32 = 0;

    #[inline(always)]
    fn fill(&mut self, contents: &'a [u8]) -> Option<()> {
        *self = contents.try_into().ok()?;
        Some(())
    }

    #[inline(always)]
    fn put(&self, key: u32, out: &mut Back) {
        out.fixed(self);
        out.header_of(key, N);
    }
}

impl<'a> Value<'a> for &'a [u8] {
    const FORM: u32 = 0;

    #[inline(always)]
    fn fill(&mut self, contents: &'a [u8]) -> Option<()> {
        *self = contents;
        Some(())
    }

    #[inline(always)]
    fn put(&self, key: u32, out: &mut Back) {
        out.octets(self);
        out.header_of(key, self.len());
    }
}

/// A character string of ASCII characters.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ascii<'a>(&'a [u8]);

impl<'a> Value<'a> for Ascii<'a> {
    const FORM: u32 = 0;

    #[inline(always)]
    fn fill(&mut self, contents: &'a [u8]) -> Option<()> {
        self.0 = contents;
        contents.is_ascii().then_some(())
    }

    #[inline(always)]
    fn put(&self, key: u32, out: &mut Back) {
        self.0.put(key, out);
    }
}

impl<'a> Value<'a> for i64 {
    const FORM: u32 = 0;

    #[inline(always)]
    fn fill(&mut self, contents: &'a [u8]) -> Option<()> {
        *self = match contents {
            [] | [0, 0..=0x7F, ..] | [0xFF, 0x80..=0xFF, ..] => return None,
            [first] => Self::from(first.cast_signed()),
            [first, rest @ ..] if rest.len() < 8 => {
                let first = Self::from(first.cast_signed());
                rest.iter().fold(first, |number, octet| number << 8 | Self::from(*octet))
            }
            _ => return None,
        };
        Some(())
    }

    #[inline(always)]
    fn put(&self, key: u32, out: &mut Back) {
        let length = 8 - ((self ^ (self >> 63)).leading_zeros() as usize - 1) / 8;
        if out.at < 32 {
            out.grow();
        }
        if let Some(room) = out.room::<8>() {
            *room = self.to_be_bytes();
        }
        out.at -= length;
        out.header_of(key, length);
    }
}

/// The number of an item of an ENUMERATED whose items have the numbers from 0 to `MOST`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Item<const MOST: u8>(u8);

impl<'a, const MOST: u8> Value<'a> for Item<MOST> {
    const FORM: u32 = 0;

    #[inline(always)]
    fn fill(&mut self, contents: &'a [u8]) -> Option<()> {
        let [number] = *contents else { return None };
        self.0 = number;
        (number <= MOST).then_some(())
    }

    #[inline(always)]
    fn put(&self, key: u32, out: &mut Back) {
        [self.0].put(key, out);
    }
}

impl<'a, T: Value<'a>> Value<'a> for Box<T> {
    const FORM: u32 = T::FORM;

    #[inline(always)]
    fn fill(&mut self, contents: &'a [u8]) -> Option<()> {
        (**self).fill(contents)
    }

    #[inline(always)]
    fn check(contents: &'a [u8]) -> Option<()> {
        T::check(contents)
    }

    #[inline(always)]
    fn put(&self, key: u32, out: &mut Back) {
        (**self).put(key, out);
    }
}

/// A list whose elements, and their memory, are used again.
#[derive(Clone, Debug)]
pub(crate) struct List<T, const KEY: u32> {
    items: Vec<T>,
    used: usize,
}

impl<T, const KEY: u32> Default for List<T, KEY> {
    fn default() -> Self {
        Self { items: Vec::new(), used: 0 }
    }
}

impl<'a, T: Value<'a>, const KEY: u32> Value<'a> for List<T, KEY> {
    const FORM: u32 = 1;

    #[inline]
    fn fill(&mut self, mut rest: &'a [u8]) -> Option<()> {
        self.used = 0;
        while !rest.is_empty() {
            let (key, contents) = element(&mut rest)?;
            if self.used == self.items.len() {
                self.items.push(T::default());
            }
            self.items.get_mut(self.used)?.fill_element(KEY, key, contents)?;
            self.used += 1;
        }
        Some(())
    }

    #[inline]
    fn check(mut rest: &'a [u8]) -> Option<()> {
        while !rest.is_empty() {
            let (key, contents) = element(&mut rest)?;
            T::check_element(KEY, key, contents)?;
        }
        Some(())
    }

    #[inline]
    fn put(&self, key: u32, out: &mut Back) {
        let end = out.at();
        for item in self.items.iter().take(self.used).rev() {
            item.put(KEY, out);
        }
        out.header(key, end);
    }
}

/// Writes the components of a structure, the last one first.
macro_rules! put_components {
    ($self:ident, $out:ident;) => {};
    ($self:ident, $out:ident; $field:ident $($rest:ident)*) => {
        $crate::ber::put_components!($self, $out; $($rest)*);
        if $self.present & 1 << Bit::$field as u32 != 0 {
            $crate::ber::Value::put(&$self.$field, Self::$field, $out);
        }
    };
}

/// Whether a component with this bit may follow those of `present`: in a SET each once, in a SEQUENCE in order too.
macro_rules! may_follow {
    (set, $present:ident, $bit:expr) => {
        $present & 1 << $bit == 0
    };
    (sequence, $present:ident, $bit:expr) => {
        $present >> $bit == 0
    };
}

/// A SEQUENCE or SET whose components may all be absent: plain fields, and a bit for each that says whether it is there.
macro_rules! structure {
    ($(#[$doc:meta])* $kind:ident $name:ident { $($field:ident: $ty:ty = $class:ident $number:literal;)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default)]
        pub(crate) struct $name<'a> {
            present: u64,
            $($field: $ty,)*
            input: core::marker::PhantomData<&'a ()>,
        }

        #[allow(non_upper_case_globals, reason = "each component has a key of its name")]
        impl<'a> $name<'a> {
            $(const $field: u32 = $crate::ber::key(
                $crate::ber::$class, <$ty as $crate::ber::Value<'a>>::FORM, $number,
            );)*
        }

        impl<'a> $crate::ber::Value<'a> for $name<'a> {
            const FORM: u32 = 1;

            #[inline]
            fn fill(&mut self, mut rest: &'a [u8]) -> Option<()> {
                #[allow(non_camel_case_types, reason = "components have bits of their names")]
                enum Bit { $($field,)* }
                let mut present = 0_u64;
                while !rest.is_empty() {
                    let (key, contents) = $crate::ber::element(&mut rest)?;
                    match key {
                        $(Self::$field => {
                            if !$crate::ber::may_follow!($kind, present, Bit::$field as u32) {
                                return None;
                            }
                            present |= 1 << Bit::$field as u32;
                            $crate::ber::Value::fill(&mut self.$field, contents)?;
                        })*
                        _ => return None,
                    }
                }
                self.present = present;
                Some(())
            }

            #[inline]
            fn check(mut rest: &'a [u8]) -> Option<()> {
                #[allow(non_camel_case_types, reason = "components have bits of their names")]
                enum Bit { $($field,)* }
                let mut present = 0_u64;
                while !rest.is_empty() {
                    let (key, contents) = $crate::ber::element(&mut rest)?;
                    match key {
                        $(Self::$field => {
                            if !$crate::ber::may_follow!($kind, present, Bit::$field as u32) {
                                return None;
                            }
                            present |= 1 << Bit::$field as u32;
                            <$ty as $crate::ber::Value<'a>>::check(contents)?;
                        })*
                        _ => return None,
                    }
                }
                Some(())
            }

            #[inline]
            fn put(&self, key: u32, out: &mut $crate::ber::Back) {
                #[allow(non_camel_case_types, reason = "components have bits of their names")]
                enum Bit { $($field,)* }
                let end = out.at();
                $crate::ber::put_components!(self, out; $($field)*);
                out.header(key, end);
            }
        }
    };
}

/// A CHOICE; as a component or a record it is one element inside its tag.
macro_rules! choice {
    ($(#[$doc:meta])* $name:ident { $($variant:ident: $ty:ty = $class:ident $number:literal;)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default)]
        pub(crate) enum $name<'a> {
            #[default]
            Nothing,
            $($variant($ty),)*
            #[allow(dead_code, reason = "all have a lifetime")]
            Never(core::marker::PhantomData<&'a ()>, core::convert::Infallible),
        }

        impl<'a> $crate::ber::Value<'a> for $name<'a> {
            const FORM: u32 = 1;

            #[inline]
            fn fill(&mut self, mut rest: &'a [u8]) -> Option<()> {
                let (key, contents) = $crate::ber::element(&mut rest)?;
                $crate::ber::Value::fill_element(self, 0, key, contents)?;
                rest.is_empty().then_some(())
            }

            #[inline]
            fn check(mut rest: &'a [u8]) -> Option<()> {
                let (key, contents) = $crate::ber::element(&mut rest)?;
                <Self as $crate::ber::Value<'a>>::check_element(0, key, contents)?;
                rest.is_empty().then_some(())
            }

            #[inline]
            fn fill_element(&mut self, _: u32, found: u32, contents: &'a [u8]) -> Option<()> {
                $(if found == $crate::ber::key($crate::ber::$class, <$ty as $crate::ber::Value<'a>>::FORM, $number) {
                    if let Self::$variant(value) = self {
                        return $crate::ber::Value::fill(value, contents);
                    }
                    *self = Self::$variant(Default::default());
                    let Self::$variant(value) = self else { return None };
                    return $crate::ber::Value::fill(value, contents);
                })*
                None
            }

            #[inline]
            fn check_element(_: u32, found: u32, contents: &'a [u8]) -> Option<()> {
                $(if found == $crate::ber::key($crate::ber::$class, <$ty as $crate::ber::Value<'a>>::FORM, $number) {
                    return <$ty as $crate::ber::Value<'a>>::check(contents);
                })*
                None
            }

            /// Writes it without a tag around it for the key 0.
            #[inline]
            fn put(&self, key: u32, out: &mut $crate::ber::Back) {
                let end = out.at();
                match self {
                    $(Self::$variant(value) => {
                        let key = $crate::ber::key($crate::ber::$class, <$ty as $crate::ber::Value<'a>>::FORM, $number);
                        $crate::ber::Value::put(value, key, out);
                    })*
                    _ => {}
                }
                if key != 0 {
                    out.header(key, end);
                }
            }
        }
    };
}

/// The codec of a record that is a CHOICE.
macro_rules! record {
    ($(#[$doc:meta])* $name:ident of $choice:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default)]
        pub struct $name($choice<'static>);

        impl $crate::Record for $name {
            type Out = $crate::Back;

            #[inline]
            fn read(&mut self, octets: &'static [u8]) -> Option<()> {
                $crate::ber::Value::fill(&mut self.0, octets)
            }

            #[inline]
            fn check(octets: &'static [u8]) -> Option<()> {
                <$choice<'static> as $crate::ber::Value<'static>>::check(octets)
            }

            #[inline]
            fn write(&self, by: &mut $crate::Back, out: &mut Vec<u8>) {
                $crate::ber::Value::put(&self.0, 0, by);
                by.flush(out);
            }
        }
    };
}

pub(crate) use {choice, may_follow, put_components, record, structure};
