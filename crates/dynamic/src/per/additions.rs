//! Reading extension additions (X.691 §19.7 to §19.9, §23.8).

use super::decode::{Engine, Result};
use super::frame::{Frame, FrameKind};
use super::open::{Inside, Octets};
use crate::event::{Leaf, Sink};
use crate::{Part, Unknown};
use tercet_plan::per::{Addition, Choice, Step};
use tercet_plan::{FieldId, NodeId};
use tercet_runtime::ErrorKind;

impl<'a, S: Sink> Engine<'a, S> {
    /// The bitmap, behind the root of a SEQUENCE or SET.
    pub(super) fn begin_additions(&mut self) -> Result<()> {
        let start = self.reader.position();
        let count = self.reader.small_length(self.program.aligned)?;
        let position = self.reader.position();
        if self.sink.wants_places() {
            let owner = self.begun();
            self.place_small(owner, Part::Length, start, Some(count as u64));
        }
        self.reader.skip(count)?;
        if self.sink.wants_places() {
            let owner = self.begun();
            self.place(owner, Part::Bitmap, position, self.reader.position(), None);
        }
        let node = self.top().node;
        if self.sequence_of(node).is_some_and(|sequence| count < sequence.additions.len()) {
            self.sink.earlier(count as u32);
        }
        let top = self.top();
        top.kind = FrameKind::Additions;
        (top.cursor, top.end, top.bits) = (0, count as u32, position as u64);
        Ok(())
    }

    /// Goes on with the additions, until one has begun that has a frame of its own.
    pub(super) fn additions(&mut self) -> Result<()> {
        let program = self.program;
        let mut frame = *self.top();
        let additions = self.sequence_of(frame.node).map_or(&[][..], |sequence| &sequence.additions);
        let first = self.shape.node(frame.node).first;
        while frame.cursor < frame.end {
            let number = frame.cursor;
            frame.cursor += 1;
            self.top().cursor = frame.cursor;
            let there = self.bit_at(frame.bits as usize + number as usize);
            self.at = FieldId::BEGUN;
            match additions.get(number as usize) {
                Some(Addition::Single(field)) if !there => {
                    let step = &program.steps[(first + field) as usize];
                    self.absent(step);
                }
                _ if !there => {}
                None => self.unknown(number)?,
                Some(Addition::Single(field)) => {
                    return match self.wrapped(FieldId(first + field))? {
                        Some(step) => self.value_wanted(&step),
                        None => Ok(()),
                    };
                }
                Some(Addition::Group { optional, first, members }) => {
                    let mut group = Frame::new(FrameKind::Group, frame.field, frame.node);
                    group.code = *optional;
                    (group.cursor, group.end) = (*first, first + members.len() as u32);
                    return if self.begin_wrapper(Inside::Group(group))? {
                        self.begin_group(group)
                    } else {
                        Ok(())
                    };
                }
            }
        }
        if frame.end as usize > additions.len()
            && !self.bit_at(frame.bits as usize + frame.end as usize - 1)
            && (0..frame.end as usize).any(|number| self.bit_at(frame.bits as usize + number))
            && self.options.unknown != Unknown::Error
        {
            // Nothing but the length of the bitmap, so that it can be written again.
            self.sink.unknown(frame.end - 1, Leaf::Made(&[]));
        }
        self.absent_additions(&frame, frame.end);
        self.state.frames.pop();
        self.end_sequence(&frame);
        Ok(())
    }

    /// The additions from a number on are absent.
    #[inline]
    pub(super) fn absent_additions(&mut self, frame: &Frame, from: u32) {
        if self.options.fill_defaults {
            let program = self.program;
            let first = self.shape.node(frame.node).first;
            let sequence = self.sequence_of(frame.node);
            let additions = sequence.into_iter().flat_map(|sequence| &sequence.additions);
            for addition in additions.skip(from as usize) {
                if let Addition::Single(field) = addition {
                    self.absent(&program.steps[(first + field) as usize]);
                }
            }
        }
    }

    /// The members of a version bracket; `code` is the number of presence bits.
    pub(super) fn begin_group(&mut self, mut frame: Frame) -> Result<()> {
        let (optional, start) = (frame.code, self.reader.position());
        if self.is_narrow(optional)
            && let Some(bits) = self.reader.number(optional, 0, u64::MAX)
        {
            frame.bits = bits << (63 - optional) << 1;
        } else {
            frame.bits = self.reader.position() as u64;
            frame.wide = true;
            self.reader.skip(optional as usize)?;
        }
        if self.sink.wants_places() {
            let owner = (FieldId::BEGUN, frame.node);
            self.place_field(owner, Part::Preamble, start, false, None);
        }
        self.push(frame)
    }

    /// An addition that the schema does not know.
    pub(super) fn unknown(&mut self, number: u32) -> Result<()> {
        if self.options.unknown == Unknown::Error {
            return Err(self.fault(ErrorKind::UnexpectedElement));
        }
        let owner = (FieldId::ROOT, self.top().node);
        match self.open_octets(owner)? {
            Octets::Input(at, contents) => self.sink.unknown(number, Leaf::Input { at, contents }),
            Octets::Made => self.sink.unknown(number, Leaf::Made(&self.state.made)),
        }
        Ok(())
    }

    /// An alternative behind the extension marker, the bit that says so having been read: what follows, unless it has
    /// been read.
    #[cold]
    pub(super) fn added_alternative(
        &mut self,
        field: FieldId,
        node: NodeId,
        choice: &Choice,
    ) -> Result<Option<Step>> {
        let (program, start) = (self.program, self.reader);
        let number = self.reader.small_number(program.aligned)?;
        if self.sink.wants_places() {
            let at = start.position();
            self.place((field, node), Part::ExtensionBit, at - 1, at, None);
            self.place_small((field, node), Part::Index, at, Some(number));
        }
        self.sink.open(field, node);
        self.push(Frame::new(FrameKind::Choice, field, node))?;
        let Some(alternative) = usize::try_from(number).ok().and_then(|n| choice.additions.get(n)) else {
            let Ok(number) = u32::try_from(number) else {
                return Err(start.error(ErrorKind::LimitExceeded));
            };
            self.pending = None;
            // In a recursive type the field of the choice could also be one of its alternatives.
            self.at = FieldId::BEGUN;
            self.unknown(number)?;
            return Ok(None);
        };
        let id = FieldId(self.shape.node(node).first + alternative);
        if let Some(pending) = &mut self.pending {
            pending.push(id);
        }
        match self.wrapped(id)? {
            Some(step) if !self.sink.wants(id) => {
                self.unwanted(&step)?;
                Ok(None)
            }
            next => Ok(next),
        }
    }
}
