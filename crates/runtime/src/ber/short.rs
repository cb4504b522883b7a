//! Short elements, written with few instructions: the header as one word in front of the contents.
//!
//! What is free in front of the elements that are written may be overwritten, so that a word of eight octets is stored
//! where fewer are wanted.

use super::writer::significant;
use super::{Mark, Rules, Writer};
use crate::Tag;
use core::num::NonZeroU64;

/// Up to four identifier octets, right-aligned, and their number in the octet above. A number when the tag is a literal, so that
/// whether there is one is known then.
#[derive(Clone, Copy)]
pub(super) struct Head(NonZeroU64);

impl Head {
    /// Those of an element with this tag; `form` is 20 (hexadecimal) if it is constructed.
    #[inline(always)]
    pub(super) fn of(tag: Tag, form: u8) -> Option<Self> {
        let first = u64::from(tag.identifier() | form);
        let number = u64::from(tag.number());
        let head = match number {
            0..31 => 1 << 32 | first,
            31..0x80 => 2 << 32 | first << 8 | number,
            0x80..0x4000 => 3 << 32 | first << 16 | (0x80 | number >> 7) << 8 | number & 0x7F,
            _ => 0,
        };
        NonZeroU64::new(head).map(Self)
    }

    #[inline]
    const fn size(self) -> usize {
        (self.0.get() >> 32) as usize
    }
}

/// Room that a short element may write in.
const ROOM: usize = 32;

impl Writer {
    /// The octets in front of what is written, if so many are free.
    #[inline]
    fn room(&mut self) -> Option<&mut [u8; ROOM]> {
        let at = self.start.checked_sub(ROOM)?;
        if at < self.base {
            return None;
        }
        self.buf.get_mut(at..self.start)?.try_into().ok()
    }

    /// Writes a primitive element if its contents have up to 16 octets and there is room: each octet string of a call record,
    /// with half the instructions of a copy and three octets of header pushed.
    #[inline(always)]
    pub(super) fn short_octets(&mut self, head: Head, contents: &[u8]) -> bool {
        let length = contents.len();
        if length > 16 {
            return false;
        }
        let Some(room) = self.room() else { return false };
        let begin = ROOM - length;
        // The first and the last octets, which may be the same ones.
        match length {
            0 => {}
            1 => room[ROOM - 1] = contents[0],
            2..4 => {
                room[begin] = contents[0];
                room[ROOM - 2] = contents[length - 2];
                room[ROOM - 1] = contents[length - 1];
            }
            4..8 => {
                room[ROOM - 4..].copy_from_slice(&contents[length - 4..]);
                room[begin..begin + 4].copy_from_slice(&contents[..4]);
            }
            _ => {
                room[ROOM - 8..].copy_from_slice(&contents[length - 8..]);
                room[begin..begin + 8].copy_from_slice(&contents[..8]);
            }
        }
        put(room, begin, head, length as u64);
        self.start -= length + 1 + head.size();
        true
    }

    /// The same for contents of a known size: stores of literals, at literal distances.
    #[inline(always)]
    pub(super) fn short_fixed<const N: usize>(&mut self, head: Head, contents: &[u8; N]) -> bool {
        if N > 16 {
            return false;
        }
        let Some(room) = self.room() else { return false };
        put(room, ROOM - N, head, N as u64);
        if let Some(last) = room.last_chunk_mut() {
            *last = *contents;
        }
        self.start -= N + 1 + head.size();
        true
    }

    /// The same for up to 127 octets.
    #[inline(never)]
    pub(super) fn middle_octets(&mut self, head: Head, contents: &[u8]) -> bool {
        let length = contents.len();
        if length > 0x7F || self.start - self.base < length + 8 {
            return false;
        }
        let begin = self.start - length;
        let Some(room) = self.buf.get_mut(begin - 8..self.start) else { return false };
        let Some((header, room)) = room.split_first_chunk_mut::<8>() else { return false };
        room.copy_from_slice(contents);
        *header = (head.0.get() << 8 | length as u64).to_be_bytes();
        self.start = begin - 1 - head.size();
        true
    }

    /// Writes an INTEGER or ENUMERATED if there is room.
    #[inline(always)]
    pub(super) fn short_integer(&mut self, head: Head, value: i64) -> bool {
        let length = significant(value);
        match self.room() {
            Some(room) => {
                room[ROOM - 8..].copy_from_slice(&value.to_be_bytes());
                put(room, ROOM - length, head, length as u64);
                self.start -= length + 1 + head.size();
                true
            }
            None => false,
        }
    }

    /// Writes the header of a constructed element if its length takes one octet or three and there is room.
    #[inline(always)]
    pub(super) fn short_close(&mut self, head: Head, mark: Mark) -> bool {
        let length = self.since(mark);
        if self.rules() == Rules::Cer {
            return false;
        }
        let Some(room) = self.room() else { return false };
        let (identifier, octets) = (head.0.get(), length as u64);
        // Apart, so that the shifts are by literals.
        let (word, count) = match length {
            0..0x80 => (identifier << 8 | octets, 1),
            0x80..0x100 => (identifier << 16 | 0x8100 | octets, 2),
            0x100..0x1_0000 => (identifier << 24 | 0x82_0000 | octets, 3),
            _ => return false,
        };
        room[ROOM - 8..].copy_from_slice(&word.to_be_bytes());
        self.start -= count + head.size();
        true
    }
}

/// Stores identifier octets and a length of one octet in front of contents that begin there.
#[inline(always)]
fn put(room: &mut [u8; ROOM], begin: usize, head: Head, length: u64) {
    if let Some((_, word)) = room.get_mut(..begin).and_then(<[u8]>::split_last_chunk_mut::<8>) {
        *word = (head.0.get() << 8 | length).to_be_bytes();
    }
}
