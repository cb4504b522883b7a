//! Writing by calls, as [`super::direct`] reads: for what stands on the tape as it is to be written, which one look at the
//! parts of a value tells. What does not, what is rare and what is too deep has frames ([`super::encode`]).

use super::direct::CALLS;
use super::encode::{Engine, Result};
use crate::ErrorKind;
use crate::tape::{Tag, Token};
use tercet_plan::per::{Code, NO_DEFAULT, Op, Size, Step};
use tercet_plan::{FieldId, NodeId};

impl<'a> Engine<'a> {
    /// Writes a value, or begins it where there are too many calls already.
    pub(super) fn value(&mut self, index: usize, step: &Step) -> Result<()> {
        if self.calls >= CALLS {
            return self.write(index, NodeId(step.node));
        }
        self.part(index, step).map(drop)
    }

    /// Writes the value at an index; the answer is the index behind it.
    #[inline(always)]
    fn part(&mut self, index: usize, step: &Step) -> Result<usize> {
        let entry = self.value.entry(index);
        if entry.tag() == Tag::Open {
            return self.parts(index, entry.close(), step);
        }
        if let Op::Number { lo, span, width, pad } = step.op
            && entry.tag() == Tag::Int
            && let Ok(number) = u64::try_from(i128::from(entry.number()) - i128::from(lo))
            && number <= u64::from(span)
        {
            self.state.writer.number(number, u32::from(width), u32::from(pad));
            return Ok(index + 1);
        }
        self.single(index, step)
    }

    /// A value without parts, whatever form it has.
    #[inline(never)]
    fn single(&mut self, index: usize, step: &Step) -> Result<usize> {
        self.at = index;
        let Token::Leaf { leaf, .. } = self.value.token(index) else {
            return Err(ErrorKind::ValueMismatch.into());
        };
        let node = NodeId(step.node);
        self.leaf(node, self.program.nodes[node.index()], leaf)?;
        Ok(index + 1)
    }

    /// Writes a value with parts.
    #[inline(never)]
    fn parts(&mut self, index: usize, close: usize, step: &Step) -> Result<usize> {
        let program = self.program;
        if self.calls >= CALLS {
            return self.apart(index, step);
        }
        match step.op {
            Op::Sequence { first, count, optional, width } => {
                let Some(present) = self.presence_bits(index, close, first, count, optional) else {
                    return self.apart(index, step);
                };
                // Where the parts are those of the root, the extension bit is zero.
                self.state.writer.bits(present, u32::from(width));
                self.calls += 1;
                let mut at = index + 1;
                while at < close {
                    let entry = self.value.entry(at);
                    at = match program.steps.get(entry.field().index()) {
                        Some(step) if entry.tag() != Tag::Default => self.part(at, step)?,
                        _ => at + 1,
                    };
                }
                self.calls -= 1;
            }
            Op::List { element, lo, span, width, pad } if !program.canonical => {
                let (mut count, mut at) = (0_usize, index + 1);
                while at < close {
                    at = self.value.skip(at);
                    count += 1;
                }
                let number = count.checked_sub(usize::from(lo)).filter(|number| *number <= usize::from(span));
                let Some(number) = number else { return self.apart(index, step) };
                self.state.writer.number(number as u64, u32::from(width), u32::from(pad));
                let element = &program.steps[element as usize];
                self.calls += 1;
                at = index + 1;
                while at < close {
                    let entry = self.value.entry(at);
                    if entry.field() != FieldId(element.field) || entry.tag() == Tag::Default {
                        self.at = at;
                        return Err(ErrorKind::ValueMismatch.into());
                    }
                    at = self.part(at, element)?;
                }
                self.calls -= 1;
            }
            Op::Choice { first, most, width, pad } => {
                let entry = self.value.entry(index + 1);
                let number = entry.field().0.wrapping_sub(first);
                let alone = self.value.skip(index + 1) == close;
                let known = !matches!(entry.tag(), Tag::Default | Tag::UnknownInput | Tag::UnknownMade);
                let alternative = program.steps.get(entry.field().index());
                match alternative {
                    Some(alternative) if alone && known && number <= most => {
                        self.state.writer.number(u64::from(number), u32::from(width), u32::from(pad));
                        self.calls += 1;
                        self.part(index + 1, alternative)?;
                        self.calls -= 1;
                    }
                    _ => return self.apart(index, step),
                }
            }
            _ => {
                return match program.nodes[step.node as usize] {
                    Code::Open | Code::OctetsContaining(Size::ANY) => self.content(index, close),
                    _ => self.apart(index, step),
                };
            }
        }
        Ok(close + 1)
    }

    /// The presence bits of a SEQUENCE or SET whose parts stand on the tape in the order of its root, none is there that
    /// must not, none missing, and none left out because it is its DEFAULT.
    #[inline(always)]
    fn presence_bits(
        &mut self,
        index: usize,
        close: usize,
        first: u32,
        count: u32,
        optional: u8,
    ) -> Option<u64> {
        let program = self.program;
        let members = program.steps.get(first as usize..(first + count) as usize)?;
        let (mut present, mut next, mut at) = (0_u64, 0_usize, index + 1);
        // Whether all from one on up to another may be absent.
        let may_miss = |from: usize, to: usize| {
            from == to || members.get(from).is_some_and(|member| usize::from(member.run) >= to - from)
        };
        while at < close {
            let entry = self.value.entry(at);
            match entry.tag() {
                Tag::Default => {
                    at += 1;
                    continue;
                }
                Tag::UnknownInput | Tag::UnknownMade | Tag::Close => return None,
                _ => {}
            }
            let number = entry.field().0.wrapping_sub(first) as usize;
            let member = members.get(number)?;
            if number < next || !may_miss(next, number) {
                return None;
            }
            if member.run > 0 {
                if member.constant != NO_DEFAULT && self.is_left_out(member.constant, at, NodeId(member.node))
                {
                    return None;
                }
                present |= 1 << (optional - 1 - member.bit);
            }
            next = number + 1;
            at = if entry.tag() == Tag::Open { entry.close() + 1 } else { at + 1 };
        }
        may_miss(next, members.len()).then_some(present)
    }

    /// What is in an open type, or in a string of any size: in its place, its length is filled in behind it.
    fn content(&mut self, index: usize, close: usize) -> Result<usize> {
        self.at = index;
        let node = self.only_content(index, close)?;
        let Some(step) = self.program.values.get(node.index()) else {
            return Err(ErrorKind::ValueMismatch.into());
        };
        let aligned = self.program.aligned;
        let start = self.state.writer.begin_octets(aligned);
        self.calls += 1;
        self.part(index + 1, step)?;
        self.calls -= 1;
        self.state.writer.end_octets(start, aligned);
        Ok(close + 1)
    }

    /// Writes a value with frames.
    #[inline(never)]
    fn apart(&mut self, index: usize, step: &Step) -> Result<usize> {
        let base = self.state.frames.len();
        self.calls += 1;
        self.write(index, NodeId(step.node))?;
        self.run(base)?;
        self.calls -= 1;
        Ok(self.value.skip(index))
    }
}
