//! Writing in one loop over the tape: for what stands on it as it is to be written, which one look at the parts of a value
//! tells (NR MeasurementReport: 18,080 instructions with a call for each value, 13,250 so). What does not, and what is
//! rare, has frames ([`super::encode`]).

use super::characters;
use super::direct::CALLS;
use super::encode::{Engine, Result};
use crate::ErrorKind;
use crate::event::Leaf;
use crate::tape::{Entry, Tag};
use tercet_plan::per::{Code, NO_DEFAULT, Op, Size, Step};
use tercet_plan::{FieldId, NodeId};

impl<'a> Engine<'a> {
    /// Writes a value, or begins it where there are too many loops inside one another already.
    pub(super) fn value(&mut self, index: usize, step: &Step) -> Result<()> {
        if self.calls >= CALLS {
            return self.write(index, NodeId(step.node));
        }
        self.entries(index, step)
    }

    /// Writes the entries of a value one after the other.
    #[inline(never)]
    fn entries(&mut self, index: usize, step: &Step) -> Result<()> {
        let program = self.program;
        let entries = self.value.entries();
        let entries = entries.get(..self.value.skip(index)).unwrap_or(entries);
        let (mut at, mut step) = (index, step);
        let Some(mut entry) = entries.get(at) else { return Err(ErrorKind::ValueMismatch.into()) };
        loop {
            if entry.tag() == Tag::Open {
                if !self.begin(entries, at, entry.close(), step)? {
                    self.apart(at, step)?;
                    at = entry.close();
                }
            } else if let Op::Number { lo, span, width, pad } = step.op
                && entry.tag() == Tag::Int
                && let number = entry.number().wrapping_sub(i64::from(lo)).cast_unsigned()
                && number <= u64::from(span)
            {
                self.state.writer.number(number, u32::from(width), u32::from(pad));
            } else {
                self.single(at, step)?;
            }
            // The next entry that is written, behind the ends of values and what is absent.
            loop {
                at += 1;
                let Some(next) = entries.get(at) else { return Ok(()) };
                match next.tag() {
                    Tag::Close => self.end(at),
                    Tag::Default => {}
                    _ => {
                        entry = next;
                        break;
                    }
                }
            }
            step = match program.steps.get(entry.place()) {
                Some(step) => step,
                None => self.content_step(at)?,
            };
        }
    }

    /// The step for what is in an open type or string: only that has no field.
    #[inline(never)]
    fn content_step(&mut self, index: usize) -> Result<&'a Step> {
        let program = self.program;
        self.at = index;
        program
            .values
            .get(self.value.entry(index).node().index())
            .ok_or_else(|| ErrorKind::ValueMismatch.into())
    }

    /// A value without parts, whatever form it has.
    #[inline(never)]
    fn single(&mut self, index: usize, step: &Step) -> Result<()> {
        self.at = index;
        let Some(leaf) = self.value.leaf(index) else { return Err(ErrorKind::ValueMismatch.into()) };
        let (program, node) = (self.program, NodeId(step.node));
        let code = &program.nodes[node.index()];
        if let Leaf::Input { contents, .. } | Leaf::Made(contents) = leaf
            && self.short_string(step, code, contents)?
        {
            return Ok(());
        }
        self.leaf(node, code, leaf)
    }

    /// Writes a string behind a field for its size, if it has such a one (PersonnelRecord, aligned, 17 of them: 108
    /// instructions fewer each than by way of [`Self::leaf`]).
    #[inline(always)]
    fn short_string(&mut self, step: &Step, code: &Code, contents: &[u8]) -> Result<bool> {
        let (counted, alphabet) = match step.op {
            Op::Octets(counted) => (counted, None),
            Op::Text(counted, alphabet) | Op::Characters(counted, alphabet) => (counted, Some(alphabet)),
            _ => return Ok(false),
        };
        let (Code::OctetString(size) | Code::Characters(size, _)) = code else { return Ok(false) };
        let number = contents.len().wrapping_sub(usize::from(counted.lo));
        if contents.is_empty() || number > usize::from(counted.most) || contents.len() < size.lo as usize {
            return Ok(false);
        }
        let writer = &mut self.state.writer;
        writer.number(number as u64, u32::from(counted.width), u32::from(counted.pad));
        if counted.align > 0 {
            writer.align();
        }
        let Some(alphabet) = alphabet else {
            writer.octets(contents);
            return Ok(true);
        };
        let alphabet = &self.program.alphabets[usize::from(alphabet)];
        let codes = alphabet.codes.as_deref();
        let written = codes.and_then(|codes| characters::put(writer, codes, alphabet.bits, contents));
        written.map(|()| true).ok_or_else(|| ErrorKind::ConstraintViolated.into())
    }

    /// Writes what stands in front of the parts of a value, unless it has another form or its parts do not stand as they
    /// are to be written.
    #[inline(always)]
    fn begin(&mut self, entries: &[Entry], index: usize, close: usize, step: &Step) -> Result<bool> {
        let program = self.program;
        let Some(parts) = entries.get(..close) else { return Ok(false) };
        match step.op {
            Op::Sequence { first, count, optional, width } => {
                let members = program.steps.get(first as usize..(first + count) as usize).unwrap_or_default();
                let Some(present) = self.presence_bits(parts, index, first, members, optional) else {
                    return Ok(false);
                };
                // Where the parts are those of the root, the extension bit is zero.
                self.state.writer.bits(present, u32::from(width));
            }
            Op::Keyed { first, .. } => {
                let members = program.steps.get(first as usize..first as usize + 3).unwrap_or_default();
                if self.presence_bits(parts, index, first, members, 0).is_none() {
                    return Ok(false);
                }
            }
            Op::List { element, lo, span, width, pad } if !program.canonical => {
                let count = count(parts, index, FieldId(element));
                let number = count.and_then(|count| count.checked_sub(usize::from(lo)));
                let Some(number) = number.filter(|number| *number <= usize::from(span)) else {
                    return Ok(false);
                };
                self.state.writer.number(number as u64, u32::from(width), u32::from(pad));
            }
            Op::Choice { first, most, width, pad } => {
                let number = self.value.entry(index + 1).field().0.wrapping_sub(first);
                if number > most || !self.is_alone(index + 1, close) {
                    return Ok(false);
                }
                self.state.writer.number(u64::from(number), u32::from(width), u32::from(pad));
            }
            _ => return self.begin_content(index, close, step),
        }
        Ok(true)
    }

    /// The same for an open type, or a string of any size: in its place, its length is filled in behind it.
    #[inline(never)]
    fn begin_content(&mut self, index: usize, close: usize, step: &Step) -> Result<bool> {
        let program = self.program;
        if !matches!(program.nodes[step.node as usize], Code::Open | Code::OctetsContaining(Size::ANY)) {
            return Ok(false);
        }
        self.at = index;
        self.only_content(index, close)?;
        let start = self.state.writer.begin_octets(program.aligned);
        self.state.opens.push((close, start));
        Ok(true)
    }

    /// A value ends.
    #[inline(always)]
    fn end(&mut self, close: usize) {
        if let Some((_, start)) = self.state.opens.pop_if(|(known, _)| *known == close) {
            self.state.writer.end_octets(start, self.program.aligned);
        }
    }

    /// Whether the value at an index is the only one up to a close.
    #[inline(always)]
    pub(super) fn is_alone(&self, index: usize, close: usize) -> bool {
        let entry = self.value.entry(index);
        entry.is_value() && entry.behind(index) == close
    }

    /// The presence bits of a SEQUENCE or SET whose parts stand on the tape in the order of its root, none is there that
    /// must not, none missing, and none left out because it is its DEFAULT.
    #[inline(always)]
    fn presence_bits(
        &mut self,
        parts: &[Entry],
        index: usize,
        first: u32,
        members: &[Step],
        optional: u8,
    ) -> Option<u64> {
        let (mut present, mut mandatory) = (0_u64, (members.len() as u32).wrapping_sub(u32::from(optional)));
        let (mut next, mut at) = (0_usize, index + 1);
        while let Some(entry) = parts.get(at) {
            let tag = entry.tag();
            if tag == Tag::Default {
                at += 1;
                continue;
            }
            // What is no value has no field.
            let number = (entry.place() as u32).wrapping_sub(first) as usize;
            let member = members.get(number)?;
            if number < next {
                return None;
            }
            if member.run == 0 {
                mandatory = mandatory.wrapping_sub(1);
            } else {
                if member.constant != NO_DEFAULT && self.is_left_out(member.constant, at, NodeId(member.node))
                {
                    return None;
                }
                present |= 1 << (optional.wrapping_sub(1).wrapping_sub(member.bit) & 63);
            }
            next = number + 1;
            at = if tag == Tag::Open { entry.close() + 1 } else { at + 1 };
        }
        // Each is there once at most, so that none of those that must be there is missing.
        (mandatory == 0).then_some(present)
    }

    /// Writes a value with frames.
    #[inline(never)]
    fn apart(&mut self, index: usize, step: &Step) -> Result<()> {
        let base = self.state.frames.len();
        self.calls += 1;
        self.write(index, NodeId(step.node))?;
        self.run(base)?;
        self.calls -= 1;
        Ok(())
    }
}

/// How many elements a list has that begins at an index, if they are elements.
#[inline(always)]
fn count(parts: &[Entry], index: usize, element: FieldId) -> Option<usize> {
    let (mut count, mut at) = (0, index + 1);
    while let Some(entry) = parts.get(at) {
        if entry.field() != element || !entry.is_value() {
            return None;
        }
        at = entry.behind(at);
        count += 1;
    }
    Some(count)
}
