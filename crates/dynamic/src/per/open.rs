//! Open types and strings with CONTAINING: values in octets of their own (X.691 §11.2).

use super::decode::{DecodeState, Engine, Result};
use super::frame::{Frame, FrameKind};
use super::integer::append;
use super::places::{Owner, owner};
use crate::event::{Copying, Discard, Leaf, Mark, Sink};
use crate::keys;
use crate::path::Begun;
use tercet_plan::per::Step;
use tercet_plan::{FieldId, NodeId};
use tercet_runtime::per::{BitReader, Taken};
use tercet_runtime::{Error as Fault, ErrorKind};

/// How deep fragmented open types and strings with CONTAINING may be inside one another where each is decoded by a
/// call of its own.
const NESTED: u32 = 8;

/// What is in octets of its own.
#[derive(Clone, Copy)]
pub(super) enum Inside {
    Value(Step),
    /// The members of a version bracket.
    Group(Frame),
}

impl Inside {
    /// The value that the octets are a part of: for a version bracket the SEQUENCE or SET that has begun.
    fn owner(&self) -> Owner {
        match self {
            Self::Value(step) => owner(step),
            Self::Group(frame) => (FieldId::BEGUN, frame.node),
        }
    }
}

/// The octets of an open type.
pub(super) enum Octets<'a> {
    Input(usize, &'a [u8]),
    Made,
}

impl<'a, S: Sink> Engine<'a, S> {
    /// Begins an addition in octets of its own: what is in them, unless it has been read.
    pub(super) fn wrapped(&mut self, field: FieldId) -> Result<Option<Step>> {
        let step = self.program.steps[field.index()];
        self.at = field;
        Ok(self.begin_wrapper(Inside::Value(step))?.then_some(step))
    }

    /// Begins octets that hold one value. `false` when they were in fragments and have been read.
    pub(super) fn begin_wrapper(&mut self, inside: Inside) -> Result<bool> {
        match self.enter_octets(inside, None)? {
            Some(around) => {
                let (field, node) = inside.owner();
                let mut frame = Frame::new(FrameKind::Wrapper, field, node);
                frame.before = around;
                self.push(frame)?;
                Ok(true)
            }
            None => Ok(false),
        }
    }

    /// Lets reading end where the octets do whose length stands next: where it ended before. Nothing when they were
    /// in fragments and have been read. An open type that begins here is part of the path to a fault in them.
    fn enter_octets(&mut self, inside: Inside, open: Option<Begun>) -> Result<Option<usize>> {
        let start = self.reader;
        let length = self.reader.length(self.program.aligned)?;
        if length.more {
            self.reader = start;
            self.fragments(inside, open)?;
            return Ok(None);
        }
        if self.sink.wants_places() {
            self.place_length(owner_of(&inside, open), start.position(), length.count);
        }
        if length.count * 8 > self.reader.left() {
            self.reader.skip(length.count * 8)?;
        }
        let around = self.reader.end();
        self.reader.set_end(self.reader.position() + length.count * 8);
        Ok(Some(around))
    }

    /// Joins the fragments of an open type and decodes them on their own.
    #[cold]
    pub(super) fn fragments(&mut self, inside: Inside, open: Option<Begun>) -> Result<()> {
        if self.nested >= NESTED {
            return Err(self.fault(ErrorKind::DepthLimit));
        }
        let (mut joined, mut places) = (Vec::new(), Vec::new());
        let start = self.reader.position();
        loop {
            let length = self.reader.length(self.program.aligned)?;
            places.push((joined.len() * 8, self.reader.position()));
            append(&mut self.reader, length.count, &mut joined)?;
            if !length.more {
                break;
            }
        }
        if self.sink.wants_places() {
            self.place_counted(owner_of(&inside, open), start);
        }
        let mut state = DecodeState::default();
        state.registers = std::mem::take(&mut self.state.registers);
        let limit = self.limit.saturating_sub(self.values() + (self.room - self.remaining_calls) as usize);
        let mut sink = Copying(&mut *self.sink);
        let mut engine = Engine {
            state: &mut state,
            shape: self.shape,
            program: self.program,
            reader: BitReader::new(&joined),
            sink: &mut sink,
            options: self.options,
            limit,
            events: self.events,
            empty: self.empty,
            nested: self.nested + 1,
            calls: self.calls + (self.room - self.remaining_calls) + 1,
            room: 0,
            remaining_calls: 0,
            base: 0,
            pending: self.pending.take(),
            at: match &inside {
                Inside::Value(step) => FieldId(step.field),
                Inside::Group(frame) => frame.field,
            },
        };
        let result = match inside {
            Inside::Value(step) => engine.value_wanted(&step),
            Inside::Group(group) => engine.begin_group(group),
        };
        let result = result.and_then(|()| engine.run());
        if result.is_err() {
            engine.gather_trail();
            self.at = engine.at;
        }
        (self.events, self.empty) = (engine.events, engine.empty);
        self.state.registers = std::mem::take(&mut state.registers);
        self.state.trail.append(&mut state.trail);
        if result.is_err() {
            self.state.trail.extend(open);
        }
        result.map(drop).map_err(|fault| in_input(&places, &fault))
    }

    /// The octets of an open type: in the input, or joined in `made`.
    pub(super) fn open_octets(&mut self, owner: Owner) -> Result<Octets<'a>> {
        let start = self.reader.position();
        let octets = self.read_open_octets()?;
        if self.sink.wants_places() {
            self.place_counted(owner, start);
        }
        Ok(octets)
    }

    fn read_open_octets(&mut self) -> Result<Octets<'a>> {
        let length = self.reader.length(self.program.aligned)?;
        self.state.made.clear();
        if !length.more && length.count == 0 {
            // Some encoders write no octets for a value of no bits, which §11.1.3 does not allow.
            self.state.made.push(0);
            return Ok(Octets::Made);
        }
        if !length.more
            && let Taken::Aligned(at, octets) = self.peek_octets(length.count)?
        {
            self.reader.skip(length.count * 8)?;
            return Ok(Octets::Input(at, octets));
        }
        append(&mut self.reader, length.count, &mut self.state.made)?;
        self.rest_of_fragments(length.more)?;
        Ok(Octets::Made)
    }

    pub(super) fn peek_octets(&self, count: usize) -> Result<Taken<'a>> {
        let mut copy = self.reader;
        copy.octets(count)
    }

    pub(super) fn rest_of_fragments(&mut self, mut more: bool) -> Result<()> {
        while more {
            let length = self.reader.length(self.program.aligned)?;
            append(&mut self.reader, length.count, &mut self.state.made)?;
            more = length.more;
        }
        Ok(())
    }

    /// Begins an open type: the type of its content, unless it has been read.
    pub(super) fn open_type(&mut self, field: FieldId, node: NodeId) -> Result<Option<NodeId>> {
        self.pending = None;
        let program = self.program;
        if let Some(table) = &self.shape.node(node).table
            && self.options.resolve_tables
        {
            let registers = &self.state.registers;
            let lookup = program.tables.get(table.table as usize).filter(|lookup| lookup.serves(&table.keys));
            let (row, complete) = match (lookup, table.keys.as_slice()) {
                (Some(lookup), [key]) if let Some(key) = registers.number(*key) => {
                    (lookup.find(key).map(NodeId), true)
                }
                (Some(lookup), [key, second])
                    if let (Some(key), Some(second)) =
                        (registers.number(*key), registers.number(*second)) =>
                {
                    (lookup.find_pair(key, second).map(NodeId), true)
                }
                _ => keys::row(self.shape, table, registers),
            };
            if let Some(content) = row {
                self.sink.open(field, node);
                let step = self.program.values[content.index()];
                let mut frame = Frame::new(FrameKind::Open, field, node);
                return match self.enter_octets(Inside::Value(step), Some((field, node, None)))? {
                    Some(around) => {
                        frame.before = around;
                        self.push(frame)?;
                        Ok(Some(content))
                    }
                    None => {
                        self.sink.close(field, node);
                        Ok(None)
                    }
                };
            }
            let extensible = self.shape.tables.get(table.table as usize).is_none_or(|table| table.extensible);
            if complete && self.options.strict_tables && !extensible {
                return Err(self.fault(ErrorKind::ConstraintViolated));
            }
        }
        match self.open_octets((field, node))? {
            Octets::Input(at, contents) => self.sink.leaf(field, node, Leaf::Input { at, contents }),
            Octets::Made => self.sink.leaf(field, node, Leaf::Made(&self.state.made)),
        }
        Ok(None)
    }

    /// Reads or begins the content of a string with CONTAINING that starts at bit `from` and fills `count` octets, if
    /// it decodes.
    pub(super) fn contained(&mut self, step: &Step, from: usize, count: usize) -> Result<bool> {
        let (field, node) = (FieldId(step.field), NodeId(step.node));
        let Some(inside) = self.shape.node(node).containing else { return Ok(false) };
        if !self.options.decode_containing || self.program.aligned && !from.is_multiple_of(8) {
            return Ok(false);
        }
        // A string that is cut off is an error, also if its content is there as a whole.
        if count > self.reader.left() / 8 {
            return Ok(false);
        }
        let mut reader = self.reader;
        reader.seek(from);
        reader.set_end(from + count * 8);
        let mut frame = Frame::new(FrameKind::Open, field, node);
        frame.before = self.reader.end();
        if self.nested < NESTED
            && let Some(mark) = self.sink.mark()
        {
            return self.contained_once(frame, inside, reader, mark);
        }
        if !self.would_decode(inside, reader)? {
            return Ok(false);
        }
        self.sink.open(field, node);
        let inside = &self.program.values[inside.index()];
        let begin = |engine: &mut Self| {
            engine.push(frame)?;
            engine.reader = reader;
            engine.value(inside)
        };
        if self.has_frames_only() {
            begin(self)?
        } else {
            self.framed(begin)?
        }
        Ok(true)
    }

    /// The same for a sink that can take back what it has heard.
    fn contained_once(
        &mut self,
        frame: Frame,
        inside: NodeId,
        reader: BitReader<'a>,
        mark: Mark,
    ) -> Result<bool> {
        let before = (self.reader, self.events, self.empty, self.at, self.state.registers.depth());
        let around = self.enter();
        let frames = self.state.frames.len();
        self.sink.open(frame.field, frame.node);
        self.push(frame)?;
        self.reader = reader;
        self.base = frames + 1;
        self.nested += 1;
        let read = self.value(&self.program.values[inside.index()]).and_then(|()| self.run());
        self.nested -= 1;
        self.leave(around);
        match read {
            Ok(_) if self.fills(&reader) => {
                if self.sink.wants_places() {
                    self.place_rest((FieldId::BEGUN, frame.node));
                }
                leave_octets(&mut self.reader, frame.before)?;
                self.close();
                return Ok(true);
            }
            // A value is within the limit in all rules or in none.
            Err(fault) if fault.kind() == ErrorKind::DepthLimit => return Err(fault),
            _ => {}
        }
        self.state.frames.truncate(frames);
        self.state.trail.clear();
        self.sink.take_back(mark);
        let depth;
        (self.reader, self.events, self.empty, self.at, depth) = before;
        self.state.registers.take_back(depth);
        self.pending = None;
        Ok(false)
    }

    /// Whether a value that began at `from` has come to the end. A value of no bits takes one octet (§11.1.3).
    fn fills(&self, from: &BitReader<'_>) -> bool {
        let left = self.reader.left();
        left < 8 || left == 8 && self.reader.position() == from.position()
    }

    /// A sink cannot take back what it has heard: the content is read once for nobody, without what is in it.
    fn would_decode(&mut self, inside: NodeId, reader: BitReader<'a>) -> Result<bool> {
        let mut options = self.options.clone();
        options.decode_containing = false;
        let around = self.values() + (self.room - self.remaining_calls) as usize + 1;
        let limit = self.limit.saturating_sub(around);
        let mut state = std::mem::take(&mut self.state.trial).unwrap_or_default();
        state.frames.clear();
        self.state.registers.lend(&mut state.registers, self.shape, inside);
        let mut trial = Engine {
            state: &mut state,
            shape: self.shape,
            program: self.program,
            reader,
            sink: &mut Discard,
            options: &options,
            limit,
            events: self.events,
            empty: self.empty,
            nested: self.nested,
            calls: self.calls + (self.room - self.remaining_calls) + 1,
            room: 0,
            remaining_calls: 0,
            base: 0,
            pending: None,
            at: FieldId::ROOT,
        };
        let outcome = trial.value(&self.program.values[inside.index()]).and_then(|()| trial.run());
        let fills = trial.fills(&reader);
        self.state.trial = Some(state);
        match outcome {
            Err(fault) if fault.kind() == ErrorKind::DepthLimit => Err(self.fault(ErrorKind::DepthLimit)),
            outcome => Ok(outcome.is_ok() && fills),
        }
    }
}

/// Returns the value that octets are a part of: an open type that has begun, or what is in them.
fn owner_of(inside: &Inside, open: Option<Begun>) -> Owner {
    open.map_or_else(|| inside.owner(), |(_, node, _)| (FieldId::BEGUN, node))
}

/// A fault in joined fragments, where it is in the input. Of each fragment, the bits in front of it and where it begins.
fn in_input(fragments: &[(usize, usize)], fault: &Fault) -> Fault {
    let bit = fault.at() * 8 + u64::from(fault.bit().unwrap_or(0));
    let fragment = fragments.iter().rev().find(|(before, _)| *before as u64 <= bit);
    let at = fragment.map_or(bit, |(before, start)| bit - *before as u64 + *start as u64);
    Fault::at_bit(fault.kind(), at)
}

/// Passes over what is left in the octets of an open type, reading having ended at `around` before it: one octet for a
/// value of no bits; further octets are from a later version of the type in it.
#[inline]
pub(super) fn leave_octets(reader: &mut BitReader<'_>, around: usize) -> Result<()> {
    let left = reader.left();
    reader.set_end(around);
    reader.skip(left)
}
