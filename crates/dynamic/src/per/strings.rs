//! Writing primitive values: from contents octets of X.690 to bits.

use super::characters;
use super::encode::{Engine, Result};
use super::integer::{self, Source, small, write_octets};
use super::time;
use crate::ErrorKind;
use crate::ber::check;
use crate::contents::normal_real;
use crate::event::Leaf;
use tercet_plan::per::{Alphabet, Code, Integer, Size};
use tercet_plan::{Kind, NodeId};
use tercet_runtime::ber::{Rules, decode_boolean};
use tercet_runtime::per::Length;

/// The number of bits in the contents octets of a BIT STRING, and its octets.
pub(super) fn bits_of(contents: &[u8]) -> Result<(&[u8], usize)> {
    match contents.split_first() {
        Some((0, [])) => Ok((&[], 0)),
        Some((unused @ 0..8, octets @ [_, ..])) => Ok((octets, octets.len() * 8 - usize::from(*unused))),
        _ => Err(ErrorKind::ValueMismatch.into()),
    }
}

/// The number of bits without trailing zero bits.
pub(super) fn trimmed(octets: &[u8], count: usize) -> usize {
    let mut left = octets.get(..count.div_ceil(8)).unwrap_or(octets);
    let mut end = count;
    while let Some((&last, before)) = left.split_last() {
        // Bits behind the end do not count.
        let used = end - before.len() * 8;
        let last = if used < 8 { last & !(0xff >> used) } else { last };
        if last != 0 {
            return before.len() * 8 + 8 - last.trailing_zeros() as usize;
        }
        end = before.len() * 8;
        left = before;
    }
    0
}

impl Engine<'_> {
    #[inline]
    pub(super) fn integer(&mut self, code: Integer, leaf: Leaf<'_>) -> Result<()> {
        let source = match leaf {
            Leaf::Int(number) => Source::Small(number),
            Leaf::Input { contents, .. } | Leaf::Made(contents) => match small(contents) {
                Some(number) => Source::Small(number),
                None if contents.is_empty() => return Err(ErrorKind::ValueMismatch.into()),
                None => Source::Contents(contents),
            },
            Leaf::Addition(_) => return Err(ErrorKind::ValueMismatch.into()),
        };
        match integer::write(&mut self.state.writer, self.program, code, source) {
            Some(()) => Ok(()),
            None => Err(ErrorKind::ConstraintViolated.into()),
        }
    }

    pub(super) fn string(&mut self, node: NodeId, code: &Code, contents: &[u8]) -> Result<()> {
        let aligned = self.program.aligned;
        match *code {
            Code::Boolean => self.state.writer.bit(decode_boolean(contents, 0, Rules::Ber)?),
            Code::OctetString(size) | Code::OctetsContaining(size) => self.octet_string(size, contents)?,
            Code::BitString(size, named) | Code::BitsContaining(size, named) => {
                let (octets, count) = bits_of(contents)?;
                if named { self.named_bits(size, octets, count)? } else { self.bits(size, octets, count)? }
            }
            Code::Characters(size, alphabet) => {
                let kind = self.shape.node(node).kind;
                if matches!(kind, Kind::UtcTime | Kind::GeneralizedTime) {
                    let rules = if self.program.canonical { Rules::Der } else { Rules::Ber };
                    check::check(kind, contents, 0, rules)?;
                }
                let alphabet = &self.program.alphabets[alphabet as usize];
                // Codes of one octet show by themselves what is not of the type; wider ones may be no characters at all.
                if alphabet.octets > 1 {
                    check::check(kind, contents, 0, Rules::Ber)?;
                }
                self.characters(size, alphabet, contents)?;
            }
            Code::Contents => {
                let kind = self.shape.node(node).kind;
                if kind == Kind::Real {
                    let state = &mut *self.state;
                    write_octets(&mut state.writer, normal_real(&mut state.normal, contents)?, aligned);
                    return Ok(());
                }
                check::check(kind, contents, 0, Rules::Ber)?;
                write_octets(&mut self.state.writer, contents, aligned);
            }
            // An unresolved open type: its complete encoding.
            Code::Open => {
                let octets = if contents.is_empty() { &[0][..] } else { contents };
                write_octets(&mut self.state.writer, octets, aligned);
            }
            Code::Time(time) => {
                let (program, kind) = (self.program, self.shape.node(node).kind);
                time::write(&mut self.state.writer, program, &program.times[time as usize], kind, contents)?;
            }
            Code::Unsupported => return Err(ErrorKind::Unsupported.into()),
            _ => return Err(ErrorKind::ValueMismatch.into()),
        }
        Ok(())
    }

    /// §17.
    pub(super) fn octet_string(&mut self, size: Size, octets: &[u8]) -> Result<()> {
        let length = self.size(&size, octets.len())?;
        if self.program.aligned && !octets.is_empty() && !is_short(&size, octets.len(), 2) {
            self.state.writer.align();
        }
        self.fragments(length, octets.len(), |engine, from, to| {
            engine.state.writer.octets(octets.get(from..to).unwrap_or_default());
            Ok(())
        })
    }

    /// §16.6 to §16.11.
    pub(super) fn bits(&mut self, size: Size, octets: &[u8], count: usize) -> Result<()> {
        let length = self.size(&size, count)?;
        if self.program.aligned && count > 0 && !is_short(&size, count, 16) {
            self.state.writer.align();
        }
        // Fragments are whole octets.
        self.fragments(length, count, |engine, from, to| {
            engine.state.writer.bit_string(octets.get(from / 8..).unwrap_or_default(), to - from);
            Ok(())
        })
    }

    /// Trailing zero bits mean nothing: as few as the size allows (§16.2, §16.3).
    fn named_bits(&mut self, size: Size, octets: &[u8], count: usize) -> Result<()> {
        let needed = trimmed(octets, count).max(size.lo as usize);
        if needed <= count {
            return self.bits(size, octets, needed);
        }
        let mut filled = std::mem::take(&mut self.state.scratch);
        filled.clear();
        filled.extend_from_slice(octets.get(..count.div_ceil(8)).unwrap_or(octets));
        if let (Some(last), used @ 1..) = (filled.last_mut(), count % 8) {
            *last &= !(0xff >> used);
        }
        filled.resize(needed.div_ceil(8), 0);
        let written = self.bits(size, &filled, needed);
        self.state.scratch = filled;
        written
    }

    /// §30.5.
    fn characters(&mut self, size: Size, alphabet: &Alphabet, contents: &[u8]) -> Result<()> {
        let octets = usize::from(alphabet.octets);
        if !contents.len().is_multiple_of(octets) {
            return Err(ErrorKind::CharacterTruncated.into());
        }
        let count = contents.len() / octets;
        let length = self.size(&size, count)?;
        if self.program.aligned && count > 0 && !(alphabet.unaligned && size.holds(count)) {
            self.state.writer.align();
        }
        if let Some(codes) = alphabet.codes.as_deref()
            && !length.more
        {
            let written = characters::put(&mut self.state.writer, codes, alphabet.bits, contents);
            return written.ok_or_else(|| ErrorKind::ConstraintViolated.into());
        }
        self.fragments(length, count, |engine, from, to| {
            let part = contents.get(from * octets..to * octets).unwrap_or_default();
            let characters = characters::characters(alphabet.octets, part);
            match characters::write(&mut engine.state.writer, alphabet, characters) {
                Some(()) => Ok(()),
                None => Err(ErrorKind::ConstraintViolated.into()),
            }
        })
    }

    /// Writes units behind a first length, with further lengths between the fragments (§11.9.3.8).
    #[inline(always)]
    fn fragments(
        &mut self,
        first: Length,
        count: usize,
        mut write: impl FnMut(&mut Self, usize, usize) -> Result<()>,
    ) -> Result<()> {
        let (mut length, mut from) = (first, 0);
        loop {
            write(self, from, from + length.count)?;
            from += length.count;
            if !length.more {
                return Ok(());
            }
            length = self.state.writer.length(count - from, self.program.aligned);
        }
    }
}

/// Whether a string is of a fixed size of so few units that it is not aligned (§16.9, §17.6).
#[inline]
pub(super) fn is_short(size: &Size, count: usize, most: u32) -> bool {
    size.is_fixed() && size.hi <= most && count == size.lo as usize
}
