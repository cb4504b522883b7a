//! The personnel record of X.691 A.1 in unaligned PER: the components of a SET in the order of their tags.

pub use crate::bits::Packer;

use crate::bits::{Bits, Text, put_visible, visible};

/// A personnel record.
#[derive(Clone, Debug, Default)]
pub struct Record {
    name: Name,
    number: i64,
    title: Text,
    hired: Text,
    spouse: Name,
    children: Vec<Child>,
    used: usize,
}

#[derive(Clone, Debug, Default)]
struct Name {
    given: Text,
    initial: Text,
    family: Text,
}

#[derive(Clone, Debug, Default)]
struct Child {
    name: Name,
    born: Text,
}

impl Name {
    #[inline(always)]
    fn read(&mut self, bits: &mut Bits<'_>) -> Option<()> {
        visible(bits, &mut self.given)?;
        visible(bits, &mut self.initial)?;
        visible(bits, &mut self.family)
    }

    #[inline(always)]
    fn write(&self, out: &mut Packer) {
        for text in [&self.given, &self.initial, &self.family] {
            put_visible(text.as_bytes(), out);
        }
    }
}

impl crate::Record for Record {
    type Out = Packer;

    #[inline]
    fn read(&mut self, octets: &'static [u8]) -> Option<()> {
        let mut bits = Bits::new(octets);
        let has_children = bits.take(1)? == 1;
        self.name.read(&mut bits)?;
        let length = bits.take(8)? as usize;
        if !matches!(length, 1..=7) {
            return None;
        }
        let unused = 64 - 8 * length;
        self.number = (bits.take(8 * length)? << unused).cast_signed() >> unused;
        if length > 1 && self.number >> (8 * length - 9) == self.number >> 63 {
            return None;
        }
        visible(&mut bits, &mut self.title)?;
        visible(&mut bits, &mut self.hired)?;
        self.spouse.read(&mut bits)?;
        self.used = 0;
        if has_children {
            let count = bits.length()?;
            while self.used < count {
                if self.used == self.children.len() {
                    self.children.push(Child::default());
                }
                let child = self.children.get_mut(self.used)?;
                child.name.read(&mut bits)?;
                visible(&mut bits, &mut child.born)?;
                self.used += 1;
            }
        }
        bits.is_done().then_some(())
    }

    #[inline]
    fn write(&self, by: &mut Packer, out: &mut Vec<u8>) {
        let children = self.children.get(..self.used).unwrap_or_default();
        by.put(1, u64::from(!children.is_empty()));
        self.name.write(by);
        let length = 8 - ((self.number ^ (self.number >> 63)).leading_zeros() as usize - 1) / 8;
        by.put(8, length as u64);
        by.put(8 * length, self.number.cast_unsigned() & (u64::MAX >> (64 - 8 * length)));
        put_visible(self.title.as_bytes(), by);
        put_visible(self.hired.as_bytes(), by);
        self.spouse.write(by);
        if !children.is_empty() {
            by.length(children.len());
            for child in children {
                child.name.write(by);
                put_visible(child.born.as_bytes(), by);
            }
        }
        by.flush(out);
    }
}
