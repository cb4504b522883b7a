//! The loop for values that have frames: those that are too deep for calls, and those whose form is rare.

use super::decode::{Engine, Result};
use super::frame::{Frame, FrameKind};
use super::open::leave_octets;
use crate::event::Sink;
use tercet_plan::FieldId;
use tercet_plan::per::Step;

impl<S: Sink> Engine<'_, S> {
    /// Reads what has begun to its end; the answer is the number of bits.
    pub(super) fn run(&mut self) -> Result<usize> {
        while self.state.frames.len() > self.base {
            self.go_on()?;
        }
        Ok(self.reader.position())
    }

    /// Reads a value without parts, or begins one that has some.
    pub(super) fn begin(&mut self, step: &Step) -> Result<()> {
        let mut next = self.begin_any(step)?;
        while let Some(step) = next {
            next = self.begin_any(&step)?;
        }
        Ok(())
    }

    /// Reads or begins the next part of the value that has begun last, or ends it.
    fn go_on(&mut self) -> Result<()> {
        let frame = *self.top();
        match frame.kind {
            FrameKind::Members | FrameKind::Group => self.next_member(),
            FrameKind::Additions => self.additions(),
            FrameKind::List => self.next_element(),
            FrameKind::Choice => {
                self.close();
                Ok(())
            }
            FrameKind::Open => {
                if self.sink.wants_places() {
                    self.place_rest((FieldId::BEGUN, frame.node));
                }
                leave_octets(&mut self.reader, frame.before)?;
                self.close();
                Ok(())
            }
            FrameKind::Wrapper => {
                if self.sink.wants_places() {
                    self.place_rest((frame.field, frame.node));
                }
                leave_octets(&mut self.reader, frame.before)?;
                self.state.frames.pop();
                Ok(())
            }
        }
    }

    fn next_member(&mut self) -> Result<()> {
        let program = self.program;
        loop {
            let top = self.top();
            let (bits, cursor) = (top.bits, top.cursor);
            let Some(step) = program.steps.get(cursor as usize).filter(|_| cursor < top.end) else {
                return self.end_members();
            };
            top.cursor += 1;
            if step.run > 0 {
                let there = if top.wide {
                    top.bits += 1;
                    self.bit_at(bits as usize)
                } else {
                    top.bits <<= 1;
                    bits >> 63 != 0
                };
                if !there {
                    self.absent(step);
                    continue;
                }
            }
            return self.value_wanted(step);
        }
    }

    /// Behind the last member.
    fn end_members(&mut self) -> Result<()> {
        let frame = *self.top();
        if frame.kind == FrameKind::Group {
            self.state.frames.pop();
            return Ok(());
        }
        if frame.more {
            self.at = FieldId::BEGUN;
            return self.begin_additions();
        }
        self.absent_additions(&frame, 0);
        self.state.frames.pop();
        self.end_sequence(&frame);
        Ok(())
    }

    /// Reads elements up to one that has a frame, or to the end (a SEQUENCE OF BOOLEAN: 214 instructions each where every
    /// one came by way of [`Engine::go_on`], 177 so).
    fn next_element(&mut self) -> Result<()> {
        let program = self.program;
        let depth = self.state.frames.len();
        let step = &program.steps[self.top().code as usize];
        while self.state.frames.len() == depth {
            let position = self.reader.position();
            let &mut Frame { cursor, before, events, mut bits, mut more, .. } = self.top();
            if cursor > 0 && before == position {
                self.at = FieldId(step.field);
                self.count_empty(events)?;
            }
            while bits == 0 {
                if !more {
                    self.close();
                    return Ok(());
                }
                self.at = FieldId(step.field);
                let start = self.reader.position();
                let length = self.reader.length(program.aligned)?;
                if self.sink.wants_places() {
                    let owner = self.begun();
                    self.place_length(owner, start, length.count);
                }
                (bits, more) = (length.count as u64, length.more);
            }
            let (before, events) = (self.reader.position(), self.events as u32);
            self.events += 1;
            let top = self.top();
            (top.bits, top.more, top.before, top.events) = (bits - 1, more, before, events);
            top.cursor = cursor.wrapping_add(1);
            self.value_wanted(step)?;
        }
        Ok(())
    }
}
