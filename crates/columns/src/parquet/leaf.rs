//! The values of a column: plainly, as a dictionary, and the least and the greatest.

use super::levels::Kept;
use crate::store::{Names, Texts};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::hash::Hash;
use std::ops::Range;

/// Values after which a dictionary shows whether it is worth it.
const TRIED: usize = 1 << 10;
/// Octets of the entries of a dictionary.
const DICTIONARY: usize = 1 << 20;
/// Octets of the least and the greatest value that readers are told.
const BOUND: usize = 64;

/// The least and the greatest value, as they are written plainly, without a length.
pub(crate) type Bounds = (Vec<u8>, Vec<u8>);

/// The different values of a column, and which one each is.
pub(crate) struct Dictionary {
    pub(crate) plain: Vec<u8>,
    pub(crate) count: usize,
    pub(crate) indices: Vec<u32>,
    pub(crate) bounds: Option<Bounds>,
}

/// Values of one kind.
pub(crate) trait Leaf {
    /// How many there are.
    fn len(&self) -> usize;

    /// Octets that they take plainly.
    fn size(&self) -> usize;

    /// Appends some of them plainly.
    fn plain(&self, range: Range<usize>, out: &mut Vec<u8>);

    /// A dictionary, if it takes less room.
    fn dictionary(&self) -> Option<Dictionary>;

    /// The least and the greatest one, if there is an order and they are short.
    fn bounds(&self) -> Option<Bounds>;
}

/// Numbers of fixed size.
pub(crate) trait Number: Copy + PartialOrd {
    type Key: Hash + Eq + Copy;
    type Octets: AsRef<[u8]>;

    /// What two numbers have in common that are written alike.
    fn key(self) -> Self::Key;

    /// The number as it is written plainly.
    fn octets(self) -> Self::Octets;

    /// The bounds of a column with these among its values.
    fn bounds(least: Self, greatest: Self) -> Bounds {
        (least.octets().as_ref().to_vec(), greatest.octets().as_ref().to_vec())
    }
}

impl Number for i64 {
    type Key = Self;
    type Octets = [u8; 8];

    fn key(self) -> Self {
        self
    }

    fn octets(self) -> [u8; 8] {
        self.to_le_bytes()
    }
}

impl Number for i32 {
    type Key = Self;
    type Octets = [u8; 4];

    fn key(self) -> Self {
        self
    }

    fn octets(self) -> [u8; 4] {
        self.to_le_bytes()
    }
}

impl Number for i128 {
    type Key = Self;
    type Octets = [u8; 16];

    fn key(self) -> Self {
        self
    }

    fn octets(self) -> [u8; 16] {
        self.to_be_bytes()
    }
}

impl Number for f64 {
    type Key = u64;
    type Octets = [u8; 8];

    fn key(self) -> u64 {
        self.to_bits()
    }

    fn octets(self) -> [u8; 8] {
        self.to_le_bytes()
    }

    /// A zero may be of either sign.
    fn bounds(least: Self, greatest: Self) -> Bounds {
        let least = if least == 0.0 { -0.0 } else { least };
        let greatest = if greatest == 0.0 { 0.0 } else { greatest };
        (least.octets().to_vec(), greatest.octets().to_vec())
    }
}

/// Values that count, of all.
fn kept<'v, T: Copy>(values: &'v [T], kept: &Kept) -> Cow<'v, [T]> {
    match kept {
        Kept::All => Cow::Borrowed(values),
        Kept::Some(numbers) => numbers.iter().map(|number| values[*number as usize]).collect(),
    }
}

/// Numbers.
pub(crate) struct Numbers<'v, T: Clone>(Cow<'v, [T]>);

impl<'v, T: Number> Numbers<'v, T> {
    pub(crate) fn new(values: &'v [T], which: &Kept) -> Self {
        Self(kept(values, which))
    }

    fn bounds_of(values: &[T]) -> Option<Bounds> {
        // What is not a number is not in any order.
        let mut ordered = values.iter().copied().filter(|value| value.partial_cmp(value).is_some());
        let first = ordered.next()?;
        let (least, greatest) = ordered.fold((first, first), |(least, greatest), value| {
            (if value < least { value } else { least }, if value > greatest { value } else { greatest })
        });
        Some(T::bounds(least, greatest))
    }
}

impl<T: Number> Leaf for Numbers<'_, T> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn size(&self) -> usize {
        self.0.len() * size_of::<T>()
    }

    fn plain(&self, range: Range<usize>, out: &mut Vec<u8>) {
        self.0[range].iter().for_each(|value| out.extend_from_slice(value.octets().as_ref()));
    }

    fn dictionary(&self) -> Option<Dictionary> {
        let (entries, indices) = entries(self.0.iter().map(|value| (value.key(), *value)), size_of::<T>())?;
        let mut plain = Vec::with_capacity(entries.len() * size_of::<T>());
        entries.iter().for_each(|value| plain.extend_from_slice(value.octets().as_ref()));
        let bounds = Self::bounds_of(&entries);
        Some(Dictionary { plain, count: entries.len(), indices, bounds })
    }

    fn bounds(&self) -> Option<Bounds> {
        Self::bounds_of(&self.0)
    }
}

/// Truth values, eight in an octet.
pub(crate) struct Booleans<'v>(Cow<'v, [bool]>);

impl<'v> Booleans<'v> {
    pub(crate) fn new(values: &'v [bool], which: &Kept) -> Self {
        Self(kept(values, which))
    }
}

impl Leaf for Booleans<'_> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn size(&self) -> usize {
        self.0.len().div_ceil(8)
    }

    fn plain(&self, range: Range<usize>, out: &mut Vec<u8>) {
        let octet = |bits: &[bool]| bits.iter().rev().fold(0, |octet, bit| octet << 1 | u8::from(*bit));
        out.extend(self.0[range].chunks(8).map(octet));
    }

    fn dictionary(&self) -> Option<Dictionary> {
        None
    }

    fn bounds(&self) -> Option<Bounds> {
        let (least, greatest) = (self.0.iter().min()?, self.0.iter().max()?);
        Some((vec![u8::from(*least)], vec![u8::from(*greatest)]))
    }
}

/// Texts, or octets.
pub(crate) struct Strings<'v> {
    texts: Vec<&'v [u8]>,
    size: usize,
}

/// Octets of the length in front of a text.
const LENGTH: usize = 4;

impl<'v> Strings<'v> {
    pub(crate) fn new(texts: &'v Texts, which: &Kept) -> Self {
        let all: Vec<&[u8]> = texts.iter().collect();
        let texts = match which {
            Kept::All => all,
            Kept::Some(_) => kept(&all, which).into_owned(),
        };
        let size = texts.iter().map(|text| text.len() + LENGTH).sum();
        Self { texts, size }
    }
}

fn push_text(text: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&(text.len() as u32).to_le_bytes());
    out.extend_from_slice(text);
}

fn bounds_of<'t>(texts: impl Iterator<Item = &'t [u8]> + Clone) -> Option<Bounds> {
    let (least, greatest) = (texts.clone().min()?, texts.max()?);
    (least.len() <= BOUND && greatest.len() <= BOUND).then(|| (least.to_vec(), greatest.to_vec()))
}

impl Leaf for Strings<'_> {
    fn len(&self) -> usize {
        self.texts.len()
    }

    fn size(&self) -> usize {
        self.size
    }

    fn plain(&self, range: Range<usize>, out: &mut Vec<u8>) {
        self.texts[range].iter().for_each(|text| push_text(text, out));
    }

    fn dictionary(&self) -> Option<Dictionary> {
        let average = self.size / self.texts.len().max(1);
        let (entries, indices) = entries(self.texts.iter().map(|text| (*text, *text)), average)?;
        let mut plain = Vec::new();
        entries.iter().for_each(|text| push_text(text, &mut plain));
        let bounds = bounds_of(entries.iter().copied());
        Some(Dictionary { plain, count: entries.len(), indices, bounds })
    }

    fn bounds(&self) -> Option<Bounds> {
        bounds_of(self.texts.iter().copied())
    }
}

/// The names of alternatives, by their numbers.
pub(crate) struct Alternatives<'v> {
    numbers: Cow<'v, [u32]>,
    names: &'v dyn Fn(u32) -> &'v str,
}

impl<'v> Alternatives<'v> {
    pub(crate) fn new(values: &'v Names, which: &Kept, names: &'v dyn Fn(u32) -> &'v str) -> Self {
        Self { numbers: kept(&values.alternatives, which), names }
    }
}

impl Leaf for Alternatives<'_> {
    fn len(&self) -> usize {
        self.numbers.len()
    }

    fn size(&self) -> usize {
        self.numbers.iter().map(|number| (self.names)(*number).len() + LENGTH).sum()
    }

    fn plain(&self, range: Range<usize>, out: &mut Vec<u8>) {
        self.numbers[range].iter().for_each(|number| push_text((self.names)(*number).as_bytes(), out));
    }

    fn dictionary(&self) -> Option<Dictionary> {
        let (entries, indices) = entries(self.numbers.iter().map(|number| (*number, *number)), LENGTH)?;
        let texts = entries.iter().map(|number| (self.names)(*number).as_bytes());
        let mut plain = Vec::new();
        texts.clone().for_each(|text| push_text(text, &mut plain));
        Some(Dictionary { plain, count: entries.len(), indices, bounds: bounds_of(texts) })
    }

    fn bounds(&self) -> Option<Bounds> {
        bounds_of(self.numbers.iter().map(|number| (self.names)(*number).as_bytes()))
    }
}

/// Different values, and the number among these of each value; nothing if half of the first ones differ, or if they take
/// too much room.
fn entries<K: Hash + Eq + Copy, T>(
    values: impl ExactSizeIterator<Item = (K, T)>,
    size: usize,
) -> Option<(Vec<T>, Vec<u32>)>
where
    T: Copy,
{
    let mut known = FxHashMap::default();
    let (mut entries, mut indices) = (Vec::new(), Vec::with_capacity(values.len()));
    let mut last: Option<(K, u32)> = None;
    for (key, value) in values {
        let index = match last {
            Some((before, index)) if before == key => index,
            _ => *known.entry(key).or_insert_with(|| {
                entries.push(value);
                entries.len() as u32 - 1
            }),
        };
        last = Some((key, index));
        indices.push(index);
        let is_late = indices.len() == TRIED && entries.len() > TRIED / 2;
        if is_late || entries.len() * size > DICTIONARY {
            return None;
        }
    }
    // With as many entries as values, a dictionary is no more than a detour.
    (entries.len() * 2 <= indices.len()).then_some((entries, indices))
}
