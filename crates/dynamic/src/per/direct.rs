//! Reading by calls: in nearly all values, each value with parts is a call of its own, so that the compiler keeps what is
//! at hand in registers (NR MeasurementReport: 20,040 instructions with frames of the engine's own). Up to [`CALLS`] of
//! them are inside one another; what is deeper, and what is rare, has frames.

use super::decode::{Engine, Result, too_short};
use super::frame::{Frame, FrameKind};
use super::open::leave_octets;
use crate::event::{Leaf, Sink};
use tercet_plan::per::{NO_KEY, Op, Step};
use tercet_plan::{FieldId, NodeId};
use tercet_runtime::Error as Fault;

/// What holds around a loop over frames.
pub(super) struct Around {
    limit: usize,
    calls: u32,
    room: u32,
    remaining_calls: u32,
    base: usize,
}

/// What stands in front of an open type that a key selects.
struct Keyed<'a> {
    key: (&'a Step, i64),
    number: (&'a Step, i64),
    open: &'a Step,
    content: &'a Step,
    /// The bits of its octets.
    count: usize,
}

/// Calls inside one another.
pub(super) const CALLS: u32 = 64;

impl<'a, S: Sink> Engine<'a, S> {
    /// Reads a value, or begins it where there are too many calls already.
    pub(super) fn value(&mut self, step: &Step) -> Result<()> {
        let room = self.allowance();
        (self.room, self.remaining_calls) = (room, room);
        if room == 0 { self.begin(step) } else { self.read(step) }
    }

    /// How many calls there may be inside one another beside those around.
    fn allowance(&self) -> u32 {
        if self.options.fill_defaults || self.sink.wants_places() {
            // Absent components are reported one by one, places by what reads values of any form.
            return 0;
        }
        let frames = self.limit.saturating_sub(self.state.frames.len());
        CALLS.saturating_sub(self.calls).min(frames as u32)
    }

    /// Reads a value.
    fn read(&mut self, step: &Step) -> Result<()> {
        match step.op {
            Op::Sequence { .. } => self.read_sequence(step),
            Op::Keyed { .. } => self.read_keyed(step),
            Op::List { .. } => self.read_list(step),
            Op::Choice { .. } => self.read_choice(step),
            Op::Open { .. } => self.read_open(step),
            Op::Number { .. }
            | Op::Null
            | Op::Octets(_)
            | Op::Bits(_)
            | Op::Characters(..)
            | Op::Text(..)
            | Op::Leaf => self.leaf(step),
            Op::Part => self.apart(step),
        }
    }

    // One function for each, so that each has its registers to itself.

    #[inline(never)]
    fn read_sequence(&mut self, step: &Step) -> Result<()> {
        let program = self.program;
        let (field, node) = (FieldId(step.field), NodeId(step.node));
        let Op::Sequence { first, count, optional, width } = step.op else { return self.apart(step) };
        if self.remaining_calls == 0 {
            return self.apart(step);
        }
        // The extension bit and the presence bits at once.
        let bits = if width == 0 { Some(0) } else { self.reader.number(u32::from(width), 0, u64::MAX) };
        let Some(bits) = bits else {
            self.at = field;
            return Err(too_short(self.reader, u32::from(width)));
        };
        self.events += count as usize;
        self.sink.open(field, node);
        self.remaining_calls -= 1;
        let members = program.steps.get(first as usize..(first + count) as usize);
        let mut members = members.unwrap_or_default();
        let mut present = bits << (63 - u32::from(optional)) << 1;
        while let Some((member, behind)) = members.split_first() {
            if member.run > 0 {
                if present >> 63 == 0 {
                    // All that are absent from this one on at once.
                    let absent = present.leading_zeros().min(u32::from(member.run));
                    present <<= absent & 63;
                    members = members.get(absent as usize..).unwrap_or_default();
                    continue;
                }
                present <<= 1;
            }
            members = behind;
            if let Err(fault) = self.part_wanted(member) {
                return Err(self.inside(field, node, None, fault));
            }
        }
        self.remaining_calls += 1;
        if bits >> optional != 0 {
            return self.extended(field, node, first + count);
        }
        self.sink.close(field, node);
        Ok(())
    }

    #[inline(never)]
    fn read_list(&mut self, step: &Step) -> Result<()> {
        let program = self.program;
        let (field, node) = (FieldId(step.field), NodeId(step.node));
        let Op::List { element, lo, span, width, pad } = step.op else { return self.apart(step) };
        if self.remaining_calls == 0 {
            return self.apart(step);
        }
        let count = self.reader.number(u32::from(width), u32::from(pad), u64::from(span));
        let Some(count) = count else { return self.apart(step) };
        self.sink.open(field, node);
        self.remaining_calls -= 1;
        let element = &program.steps[element as usize];
        for index in 0..usize::from(lo) + count as usize {
            if let Err(fault) = self.part_wanted(element) {
                return Err(self.inside(field, node, Some(index + 1), fault));
            }
        }
        self.remaining_calls += 1;
        self.sink.close(field, node);
        Ok(())
    }

    #[inline(never)]
    fn read_choice(&mut self, step: &Step) -> Result<()> {
        let program = self.program;
        let (field, node) = (FieldId(step.field), NodeId(step.node));
        let Op::Choice { first, most, width, pad } = step.op else { return self.apart(step) };
        if self.remaining_calls == 0 {
            return self.apart(step);
        }
        let index = self.reader.number(u32::from(width), u32::from(pad), u64::from(most));
        let Some(index) = index else { return self.apart(step) };
        let alternative = &program.steps[first as usize + index as usize];
        self.sink.open(field, node);
        self.remaining_calls -= 1;
        if let Err(fault) = self.part(alternative) {
            return Err(self.inside(field, node, None, fault));
        }
        self.remaining_calls += 1;
        self.sink.close(field, node);
        Ok(())
    }

    #[inline(never)]
    fn read_open(&mut self, step: &Step) -> Result<()> {
        let (field, node) = (FieldId(step.field), NodeId(step.node));
        let Op::Open { table, key, second } = step.op else { return self.apart(step) };
        if self.remaining_calls == 0 || !self.options.resolve_tables {
            return self.apart(step);
        }
        let Some(content) = self.content(table, key, second) else { return self.apart(step) };
        let start = self.reader.position();
        let length = self.short_length().or_else(|| self.longer_length());
        let Some(count) = self.bits_there(length) else {
            self.reader.seek(start);
            return self.apart(step);
        };
        self.sink.open(field, node);
        self.remaining_calls -= 1;
        let around = self.reader.end();
        self.reader.set_end(self.reader.position() + count);
        if let Err(fault) = self.part(content) {
            return Err(self.inside(field, node, None, fault));
        }
        leave_octets(&mut self.reader, around)?;
        self.remaining_calls += 1;
        self.sink.close(field, node);
        Ok(())
    }

    /// A key, a number, and the open type that the key selects (NGAP InitialContextSetup, 16 of them: 22,000 instructions
    /// where they were SEQUENCEs like others, 19,200 so; NBAP: 5,300 and 4,400).
    #[inline(never)]
    fn read_keyed(&mut self, step: &Step) -> Result<()> {
        let (field, node) = (FieldId(step.field), NodeId(step.node));
        let start = self.reader.position();
        let Some(Keyed { key, number, open, content, count }) = self.keyed(step) else {
            self.reader.seek(start);
            return self.apart(step);
        };
        self.sink.open(field, node);
        self.state.registers.set_number(key.0.key, key.1);
        for (step, value) in [key, number] {
            self.sink.leaf(FieldId(step.field), NodeId(step.node), Leaf::Int(value));
        }
        self.sink.open(FieldId(open.field), NodeId(open.node));
        self.remaining_calls -= 2;
        let around = self.reader.end();
        self.reader.set_end(self.reader.position() + count);
        if let Err(fault) = self.part(content) {
            let fault = self.inside(FieldId(open.field), NodeId(open.node), None, fault);
            return Err(self.inside(field, node, None, fault));
        }
        leave_octets(&mut self.reader, around)?;
        self.remaining_calls += 2;
        self.sink.close(FieldId(open.field), NodeId(open.node));
        self.sink.close(field, node);
        Ok(())
    }

    /// What stands in front of the content, if all is known and wanted.
    #[inline(always)]
    fn keyed(&mut self, step: &Step) -> Option<Keyed<'a>> {
        let program = self.program;
        let Op::Keyed { first, width, pad, behind, rest } = step.op else { return None };
        let [key, number, open] = program.steps.get(first as usize..)?.first_chunk()?;
        if self.remaining_calls < 2
            || !self.options.resolve_tables
            || ![key, number, open].iter().all(|step| self.sink.wants(FieldId(step.field)))
        {
            return None;
        }
        let bits = self.reader.number(u32::from(width), u32::from(pad), u64::MAX)?;
        let value = |step: &Step, number: u64| match step.op {
            Op::Number { lo, span, .. } if number <= u64::from(span) => Some(i64::from(lo) + number as i64),
            _ => None,
        };
        let key = (key, value(key, bits >> behind)?);
        let number = (number, value(number, (bits & !(u64::MAX << behind)) >> rest)?);
        let Op::Open { table, .. } = open.op else { return None };
        let content = program.values.get(program.tables.get(table as usize)?.find(key.1)? as usize)?;
        let length = match bits & 0xff {
            length @ 0..=0x7f => Some(length),
            _ => {
                self.reader.seek(self.reader.position() - 8);
                self.longer_length()
            }
        };
        Some(Keyed { key, number, open, content, count: self.bits_there(length)? })
    }

    /// The bits of so many octets, if they are there.
    #[inline(always)]
    fn bits_there(&self, octets: Option<u64>) -> Option<usize> {
        let bits = octets? as usize * 8;
        (bits <= self.reader.left()).then_some(bits)
    }

    /// Reads a component or element, if the sink wants it.
    #[inline(always)]
    fn part_wanted(&mut self, step: &Step) -> Result<()> {
        if self.sink.wants(FieldId(step.field)) { self.part(step) } else { self.unwanted(step) }
    }

    /// Reads a part of a value: what most have, where it stands.
    #[inline(always)]
    fn part(&mut self, step: &Step) -> Result<()> {
        match step.op {
            Op::Number { lo, span, width, pad } => {
                let number = self.reader.number(u32::from(width), u32::from(pad), u64::from(span));
                let Some(number) = number else { return self.leaf(step) };
                let value = i64::from(lo) + number as i64;
                if step.key != NO_KEY {
                    self.state.registers.set_number(step.key, value);
                }
                self.sink.leaf(FieldId(step.field), NodeId(step.node), Leaf::Int(value));
                Ok(())
            }
            Op::Null => {
                self.sink.leaf(FieldId(step.field), NodeId(step.node), Leaf::Made(&[]));
                Ok(())
            }
            Op::Octets(counted) => self.read_octets(step, counted),
            Op::Bits(counted) => self.read_bits(step, counted),
            Op::Text(counted, alphabet) => self.read_text(step, counted, alphabet),
            Op::Characters(counted, alphabet) => self.read_characters(step, counted, alphabet),
            Op::Leaf => self.leaf(step),
            Op::Sequence { .. } => self.read_sequence(step),
            Op::Keyed { .. } => self.read_keyed(step),
            Op::List { .. } => self.read_list(step),
            Op::Choice { .. } => self.read_choice(step),
            Op::Open { .. } => self.read_open(step),
            Op::Part => self.apart(step),
        }
    }

    /// What is in an open type whose content follows from one whole number, or from two.
    #[inline(always)]
    fn content(&self, table: u32, key: u16, second: u16) -> Option<&'a Step> {
        let program = self.program;
        let (lookup, registers) = (program.tables.get(table as usize)?, &self.state.registers);
        let key = registers.number(key)?;
        let row = match second {
            NO_KEY => lookup.find(key)?,
            second => lookup.find_pair(key, registers.number(second)?)?,
        };
        program.values.get(row as usize)
    }

    /// A fault in a part of a value, of which so many elements have begun if it is a list: the path to it is gathered from
    /// its end.
    #[cold]
    #[inline(never)]
    fn inside(&mut self, field: FieldId, node: NodeId, elements: Option<usize>, fault: Fault) -> Fault {
        self.state.trail.push((field, node, elements));
        fault
    }

    /// The additions of a SEQUENCE or SET and its end.
    #[inline(never)]
    fn extended(&mut self, field: FieldId, node: NodeId, end: u32) -> Result<()> {
        let mut frame = Frame::new(FrameKind::Members, field, node);
        (frame.cursor, frame.end, frame.more) = (end, end, true);
        self.framed(|engine| {
            engine.state.frames.push(frame);
            Ok(())
        })
    }

    /// Reads a value with a frame.
    #[inline(never)]
    pub(super) fn apart(&mut self, step: &Step) -> Result<()> {
        self.framed(|engine| engine.begin(step))
    }

    /// Reads what begins with frames to its end.
    pub(super) fn framed(&mut self, begin: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let around = self.enter();
        let done = begin(self).and_then(|()| self.run());
        if done.is_err() {
            self.gather_trail();
        }
        self.leave(around);
        done.map(drop)
    }

    /// A loop over frames begins inside of calls.
    pub(super) fn enter(&mut self) -> Around {
        let Self { limit, calls, room, remaining_calls, base, .. } = *self;
        let used = room - remaining_calls;
        self.limit = limit.saturating_sub(used as usize);
        self.calls = calls + used + 1;
        self.base = self.state.frames.len();
        Around { limit, calls, room, remaining_calls, base }
    }

    /// It ends.
    pub(super) fn leave(&mut self, around: Around) {
        let Around { limit, calls, room, remaining_calls, base } = around;
        (self.limit, self.calls, self.room, self.remaining_calls, self.base) =
            (limit, calls, room, remaining_calls, base);
    }

    /// The frames of this loop are part of the path to a fault.
    #[cold]
    pub(super) fn gather_trail(&mut self) {
        while self.state.frames.len() > self.base
            && let Some(frame) = self.state.frames.pop()
        {
            self.state.trail.extend(frame.begun());
        }
    }

    /// Whether no value is read by a call any more: what has begun is read to its end elsewhere.
    pub(super) fn has_frames_only(&self) -> bool {
        self.calls >= CALLS || self.sink.wants_places()
    }
}
