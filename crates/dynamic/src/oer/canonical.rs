//! What CANONICAL-OER asks for and BASIC-OER does not (X.696 §31): checked where it is read.

use super::decode::{Engine, Result};
use super::encode::encode;
use super::frame::Frame;
use super::places::Owner;
use crate::Part;
use crate::constant::say_constant;
use crate::event::Sink;
use std::cmp::Ordering;
use tercet_plan::oer::Addition;
use tercet_plan::shape::Presence;
use tercet_plan::{FieldId, Kind};
use tercet_runtime::oer::Reader;
use tercet_runtime::{Error as Fault, ErrorKind};

impl<S: Sink> Engine<'_, S> {
    #[cold]
    pub(super) fn not_canonical(&mut self, at: &Reader<'_>, why: &'static str) -> Fault {
        self.why = why;
        at.error(ErrorKind::NotCanonical)
    }

    /// Reads a length determinant of a value as [`Self::length`] does, and reports its place.
    #[inline]
    pub(super) fn length_of(&mut self, owner: Owner) -> Result<usize> {
        let start = self.reader.position();
        let length = self.length()?;
        self.place_number(owner, Part::Length, start, length);
        Ok(length)
    }

    /// A length determinant (§8.6), in the fewest octets (§31.2).
    #[inline]
    pub(super) fn length(&mut self) -> Result<usize> {
        let start = self.reader;
        let length = self.reader.length()?;
        if length as u64 > self.options.limits.size {
            return Err(start.error(ErrorKind::LengthLimit));
        }
        if self.program.canonical {
            let fewest = if length < 0x80 { 1 } else { 1 + octets_of(length as u64) };
            if self.reader.position() - start.position() > fewest {
                return Err(self.not_canonical(&start, "a length has not the fewest octets (X.696 31.2)"));
            }
        }
        Ok(length)
    }

    /// A number of elements (§17.2), in the fewest octets (§31.4).
    pub(super) fn quantity(&mut self) -> Result<usize> {
        let start = self.reader;
        let count = self.reader.quantity()?;
        if self.program.canonical && self.reader.position() - start.position() > 1 + octets_of(count as u64) {
            return Err(self.not_canonical(&start, "a quantity has not the fewest octets (X.696 31.4)"));
        }
        Ok(count)
    }

    /// The bits that only fill up a preamble or a string of bits are zero.
    pub(super) fn check_padding(&mut self, start: &Reader<'_>, octets: &[u8], unused: usize) -> Result<()> {
        match octets.last() {
            Some(last) if u16::from(*last) & ((1 << unused) - 1) != 0 => {
                Err(self.not_canonical(start, "a bit that only fills up is not zero (X.696 13.2, 16.2.4)"))
            }
            _ => Ok(()),
        }
    }

    /// A component that equals its DEFAULT is not there (§31.9). It has one encoding, so that octets are compared.
    #[inline]
    pub(super) fn check_default(&mut self, id: FieldId, begun: usize) -> Result<()> {
        match self.shape.field(id).presence {
            Presence::Default(constant) => self.compare_default(id, constant, begun),
            _ => Ok(()),
        }
    }

    fn compare_default(&mut self, id: FieldId, constant: u32, begun: usize) -> Result<()> {
        let mut state = self.state.default.take().unwrap_or_default();
        state.tape.clear();
        state.octets.clear();
        let field = self.shape.field(id);
        say_constant(self.shape, FieldId::ROOT, field.node, constant, &mut state.tape);
        let value = state.tape.view(&[]);
        let made = encode(&mut state.encoder, self.shape, self.program, value, &mut state.octets);
        let same = made.is_ok() && self.reader.octets(begun, self.reader.position()) == state.octets;
        self.state.default = Some(state);
        if !same {
            return Ok(());
        }
        self.at = id;
        self.why = "a component that equals its DEFAULT is present (X.696 31.9)";
        Err(Fault::new(ErrorKind::NotCanonical, begun as u64))
    }

    /// A version bracket is there when one of its components is (§16.5).
    pub(super) fn check_bracket(&mut self, frame: &Frame, bracket: Option<&Addition>) -> Result<()> {
        let Some(Addition::Group { optional, members }) = bracket else { return Ok(()) };
        let any = (0..*optional as usize).any(|bit| self.bit_at(frame.bits + bit));
        if any || members.iter().any(|member| !member.optional) {
            return Ok(());
        }
        self.why = "a version bracket without components is present (X.696 16.5)";
        Err(Fault::new(ErrorKind::NotCanonical, frame.bits as u64 / 8))
    }

    /// The elements of a SET OF ascend as octets, the shorter one as if zeros followed (§31.8).
    pub(super) fn check_order(&mut self, frame: &Frame) -> Result<()> {
        if self.shape.node(frame.node).kind != Kind::SetOf {
            return Ok(());
        }
        let before = self.reader.octets(frame.before, frame.begun);
        let last = self.reader.octets(frame.begun, self.reader.position());
        if order(before, last) != Ordering::Greater {
            return Ok(());
        }
        self.why = "the elements of a SET OF do not ascend (X.696 31.8)";
        Err(Fault::new(ErrorKind::NotCanonical, frame.begun as u64))
    }
}

/// The order of two elements of a SET OF.
pub(super) fn order(a: &[u8], b: &[u8]) -> Ordering {
    let common = a.len().min(b.len());
    let is_more = |octets: &[u8]| octets.iter().skip(common).any(|octet| *octet != 0);
    a.iter().take(common).cmp(b.iter().take(common)).then_with(|| is_more(a).cmp(&is_more(b)))
}

/// Octets that a number without a sign needs, at least one.
fn octets_of(number: u64) -> usize {
    (u64::BITS - number.leading_zeros()).div_ceil(8).max(1) as usize
}
