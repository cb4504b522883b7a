//! The loop in which most of a value is read: the frame of the value being read is apart from the stack, which has only
//! what is around, so that a value that begins costs one copy and one that ends another. A SEQUENCE of numbers gets no
//! frame at all. Whatever is rare puts the frame back where others look for it.

use super::decode::{Engine, Result, alternative};
use super::frame::{Frame, What};
use super::open::leave_wrapper;
use crate::event::{Leaf, Sink};
use tercet_plan::per::{NO_KEY, Op, Step};
use tercet_plan::{FieldId, NodeId};
use tercet_runtime::ErrorKind;

/// How it goes on.
enum Flow {
    /// With the frame at hand.
    On,
    /// Elsewhere: the frame at hand is not for this loop.
    Park,
    /// The outermost value of this call has ended: there is no frame at hand.
    Done,
}

impl<'a, S: Sink> Engine<'a, S> {
    /// Goes on with the value that has begun last, and those around it, until additions begin or all has been read.
    pub(super) fn walk(&mut self) -> Result<()> {
        let Some(mut now) = self.state.frames.pop() else { return Ok(()) };
        match self.parts(&mut now) {
            Ok(Flow::Done) => return Ok(()),
            Ok(_) => self.state.frames.push(now),
            Err(fault) => {
                self.state.frames.push(now);
                return Err(fault);
            }
        }
        Ok(())
    }

    /// Not inlined, lest the frame be taken apart into more registers than there are (24 thousand instructions for a
    /// MeasurementReport, 18.5 where it is changed where it lies).
    #[inline(never)]
    fn parts(&mut self, now: &mut Frame) -> Result<Flow> {
        loop {
            match self.advance(now)? {
                Flow::On => {}
                flow => return Ok(flow),
            }
        }
    }

    /// Reads or begins the next part, or ends the value.
    #[inline(always)]
    fn advance(&mut self, now: &mut Frame) -> Result<Flow> {
        let program = self.program;
        let step = match now.what {
            What::Members | What::Group => loop {
                let step = match program.steps.get(now.cursor as usize) {
                    Some(step) if now.cursor < now.end => step,
                    _ => return self.end_members(now),
                };
                if step.run > 0 {
                    if now.wide {
                        now.bits += 1;
                        if !self.bit_at(now.bits as usize - 1) {
                            self.absent(step);
                            now.cursor += 1;
                            continue;
                        }
                    } else if now.bits >> 63 == 0 {
                        skip_absent(now, step);
                        continue;
                    } else {
                        now.bits <<= 1;
                    }
                }
                now.cursor += 1;
                break step;
            },
            What::List => {
                if now.cursor > 0 && now.before == self.reader.position() {
                    self.count_empty(now.said)?;
                }
                while now.bits == 0 {
                    if !now.more {
                        self.sink.close(now.field, now.node);
                        return Ok(self.up(now));
                    }
                    let length = self.reader.length(program.aligned)?;
                    (now.bits, now.more) = (length.count as u64, length.more);
                }
                now.bits -= 1;
                now.cursor = now.cursor.wrapping_add(1);
                (now.before, now.said) = (self.reader.position(), self.said);
                self.said += 1;
                &program.steps[now.code as usize]
            }
            What::Choice => {
                self.sink.close(now.field, now.node);
                return Ok(self.up(now));
            }
            What::Open => {
                leave_wrapper(&mut self.reader, now)?;
                self.sink.close(now.field, now.node);
                return Ok(self.up(now));
            }
            What::Wrapper => {
                leave_wrapper(&mut self.reader, now)?;
                return Ok(self.up(now));
            }
            What::Additions => return Ok(Flow::Park),
        };
        self.at = FieldId(step.field);
        if !self.sink.wants(self.at) {
            return self.parked(now, |engine| engine.unwanted(step));
        }
        self.part(now, step)
    }

    #[inline(always)]
    fn part(&mut self, now: &mut Frame, step: &'a Step) -> Result<Flow> {
        let mut step = step;
        loop {
            let (field, node) = (FieldId(step.field), NodeId(step.node));
            match step.op {
                Op::Number { .. } if self.number_step(step) => return Ok(Flow::On),
                Op::Null | Op::Number { .. } | Op::Leaf => {
                    self.leaf(step)?;
                    return Ok(Flow::On);
                }
                Op::Sequence(code) => {
                    self.room()?;
                    let mut inner = self.sequence(field, node, code)?;
                    if self.numbers(&mut inner) && !inner.more {
                        self.end_sequence(&inner);
                        return Ok(Flow::On);
                    }
                    return self.down(now, inner);
                }
                Op::List => {
                    let inner = self.begin_list(field, node)?;
                    return self.down(now, inner);
                }
                Op::Choice(code) if step.key == NO_KEY && self.pending.is_none() => {
                    let choice = &self.program.choices[code as usize];
                    if let Some(chosen) = alternative(self.program, choice, &mut self.reader) {
                        self.sink.open(field, node);
                        self.room()?;
                        if self.number_step(chosen) {
                            self.sink.close(field, node);
                            return Ok(Flow::On);
                        }
                        self.down(now, Frame::new(What::Choice, field, node))?;
                        self.at = FieldId(chosen.field);
                        step = chosen;
                        continue;
                    }
                }
                _ => {}
            }
            return self.parked(now, |engine| engine.value(step));
        }
    }

    /// Reads a number of the root; `false`, and nothing read, leaves it to others.
    #[inline(always)]
    fn number_step(&mut self, step: &Step) -> bool {
        if let Op::Number { lo, span, width, pad } = step.op
            && self.pending.is_none()
            && let Some(number) = self.reader.number(u32::from(width), u32::from(pad), u64::from(span))
        {
            let value = i64::from(lo) + number as i64;
            self.sink.leaf(FieldId(step.field), NodeId(step.node), Leaf::Int(value));
            return true;
        }
        false
    }

    /// Reads the numbers that a SEQUENCE begins with; whether that was all.
    #[inline(always)]
    fn numbers(&mut self, frame: &mut Frame) -> bool {
        if frame.wide {
            return false;
        }
        let program = self.program;
        while frame.cursor < frame.end
            && let Some(step) = program.steps.get(frame.cursor as usize)
        {
            if step.run > 0 && frame.bits >> 63 == 0 {
                skip_absent(frame, step);
                continue;
            }
            if !self.sink.wants(FieldId(step.field)) || !self.number_step(step) {
                return false;
            }
            frame.cursor += 1;
            frame.bits <<= u32::from(step.run > 0);
        }
        true
    }

    /// There may be another frame.
    #[inline(always)]
    fn room(&self) -> Result<()> {
        if self.state.frames.len() + 1 >= self.limit {
            return Err(self.reader.error(ErrorKind::DepthLimit));
        }
        Ok(())
    }

    /// What is rare, with the reader and the frames where others look for them.
    #[inline(always)]
    fn parked(&mut self, now: &mut Frame, read: impl FnOnce(&mut Self) -> Result<()>) -> Result<Flow> {
        self.state.frames.push(*now);
        let done = read(self);
        if let Some(top) = self.state.frames.pop() {
            *now = top;
        }
        done.map(|()| Flow::On)
    }

    /// A value begins in the one at hand.
    #[inline(always)]
    fn down(&mut self, now: &mut Frame, inner: Frame) -> Result<Flow> {
        self.room()?;
        self.state.frames.push(*now);
        *now = inner;
        Ok(Flow::On)
    }

    /// The value at hand has ended.
    #[inline(always)]
    fn up(&mut self, now: &mut Frame) -> Flow {
        if self.state.frames.len() > self.base
            && let Some(around) = self.state.frames.pop()
        {
            *now = around;
            return Flow::On;
        }
        Flow::Done
    }

    /// Behind the last member.
    #[inline(always)]
    fn end_members(&mut self, now: &mut Frame) -> Result<Flow> {
        if now.what == What::Group {
            return Ok(self.up(now));
        }
        if now.more {
            return self.parked(now, Self::begin_additions);
        }
        if self.options.fill_defaults {
            self.absent_additions(now, 0);
        }
        self.end_sequence(now);
        Ok(self.up(now))
    }
}

/// All that are absent from this step on at once.
#[inline(always)]
fn skip_absent(frame: &mut Frame, step: &Step) {
    let absent = frame.bits.leading_zeros().min(u32::from(step.run)).min(63);
    frame.bits <<= absent;
    frame.cursor += absent;
}
