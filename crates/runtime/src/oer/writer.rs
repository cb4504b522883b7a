//! Writing, from the end to the start, so that every length is known when it is written.

pub use crate::ber::Mark;
use crate::{Class, Tag, ber};

/// A buffer that grows at its start. What comes last in an encoding is put first.
///
/// ```
/// use tercet_runtime::oer::Writer;
/// let mut writer = Writer::new();
/// let end = writer.mark();
/// writer.push(b"hi");
/// writer.push_length(writer.since(end));
/// assert_eq!(writer.finish(), [2, b'h', b'i']);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Writer(ber::Writer);

impl Writer {
    /// An empty buffer.
    #[must_use]
    pub const fn new() -> Self {
        Self(ber::Writer::new(ber::Rules::Der))
    }

    /// A writer that keeps nothing, but knows how much was written.
    pub(crate) const fn counting() -> Self {
        Self(ber::Writer::counting(ber::Rules::Der))
    }

    pub(crate) const fn is_counting(&self) -> bool {
        self.0.is_counting()
    }

    /// Forgets what was written and keeps the room.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// What was written.
    #[must_use]
    pub fn finish(&self) -> &[u8] {
        self.0.finish()
    }

    /// Where the front is now.
    #[inline]
    #[must_use]
    pub const fn mark(&self) -> Mark {
        self.0.mark()
    }

    /// The number of octets written since a mark.
    #[inline]
    #[must_use]
    pub const fn since(&self, mark: Mark) -> usize {
        self.0.since(mark)
    }

    /// Forgets what was written since a mark.
    pub fn rewind(&mut self, mark: Mark) {
        self.0.rewind(mark);
    }

    /// Puts octets before what is written.
    #[inline]
    pub fn push(&mut self, octets: &[u8]) {
        self.0.push(octets);
    }

    /// Puts one octet before what is written.
    #[inline]
    pub fn push_octet(&mut self, octet: u8) {
        self.0.push_octet(octet);
    }

    /// A length determinant in the fewest octets (§8.6, §31.2).
    #[inline]
    pub fn push_length(&mut self, length: usize) {
        self.0.push_length(length);
    }

    /// Octets behind a length determinant.
    #[inline]
    pub fn push_sized(&mut self, octets: &[u8]) {
        self.push(octets);
        self.push_length(octets.len());
    }

    /// The low octets of a number, at most eight (§10.3, §10.4).
    #[inline]
    pub fn push_fixed(&mut self, number: u64, octets: u8) {
        let all = number.to_be_bytes();
        self.push(all.get(8_usize.saturating_sub(usize::from(octets))..).unwrap_or_default());
    }

    /// A length determinant and a number without a sign in the fewest octets, at least one (§10.3 e, §31.4).
    pub fn push_unsigned(&mut self, number: u128) {
        let octets = number.to_be_bytes();
        let zeros = octets.iter().take(15).take_while(|octet| **octet == 0).count();
        self.push_sized(octets.get(zeros..).unwrap_or_default());
    }

    /// A length determinant and a number in two's complement in the fewest octets (§10.4 e, §31.4).
    pub fn push_signed(&mut self, number: i64) {
        let end = self.mark();
        self.0.push_i64(number);
        self.push_length(self.since(end));
    }

    /// An ENUMERATED (§11.3, §11.4): one octet for 0 to 127, else the number of octets with the top bit set, and two's
    /// complement.
    pub fn push_enumerated(&mut self, number: i64) {
        let end = self.mark();
        self.0.push_i64(number);
        if !(0..0x80).contains(&number) {
            let [.., octets] = self.since(end).to_be_bytes();
            self.push_octet(0x80 | octets);
        }
    }

    /// A tag (§8.7.2).
    pub fn push_tag(&mut self, tag: Tag) {
        let class = match tag.class() {
            Class::Universal => 0x00,
            Class::Application => 0x40,
            Class::Context => 0x80,
            Class::Private => 0xC0,
        };
        let [.., low] = tag.number().to_be_bytes();
        if tag.number() < 0x3F {
            return self.push_octet(class | low);
        }
        self.push_octet(low & 0x7F);
        let mut rest = tag.number() >> 7;
        while rest > 0 {
            let [.., low] = rest.to_be_bytes();
            self.push_octet(low | 0x80);
            rest >>= 7;
        }
        self.push_octet(class | 0x3F);
    }
}
