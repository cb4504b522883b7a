//! Open types and strings with CONTAINING: values in octets of their own (X.691 §11.2).

use super::decode::{DecodeState, Engine, Result};
use super::frame::{Frame, What};
use super::integer::append;
use crate::event::{Copying, Discard, Leaf, Sink};
use crate::keys;
use tercet_plan::{FieldId, NodeId};
use tercet_runtime::per::{BitReader, Taken};
use tercet_runtime::{Error as Fault, ErrorKind};

/// How deep fragmented open types may be inside one another: each is joined and decoded on its own.
const FRAGMENTED_DEPTH: u32 = 4;

/// What is in octets of its own.
#[derive(Clone, Copy)]
pub(super) enum Inside {
    Value(FieldId, NodeId),
    /// The members of a version bracket.
    Group(Frame),
}

impl Inside {
    pub(super) fn place(self) -> (FieldId, NodeId) {
        match self {
            Self::Value(field, node) => (field, node),
            Self::Group(frame) => (frame.field, frame.node),
        }
    }
}

/// The octets of an open type.
pub(super) enum Octets<'a> {
    Input(usize, &'a [u8]),
    Made,
}

impl<'a, S: Sink> Engine<'a, S> {
    /// A value in octets of its own.
    pub(super) fn wrapped(&mut self, field: FieldId, node: NodeId) -> Result<()> {
        if self.begin_wrapper(Inside::Value(field, node))? { self.value(field, node) } else { Ok(()) }
    }

    /// Begins octets that hold one value. `false` when they were in fragments and have been read.
    pub(super) fn begin_wrapper(&mut self, inside: Inside) -> Result<bool> {
        let start = self.reader;
        let length = self.reader.length(self.program.aligned)?;
        if length.more {
            self.reader = start;
            self.fragments(inside)?;
            return Ok(false);
        }
        let (field, node) = inside.place();
        let mut frame = Frame::new(What::Wrapper, field, node, 0);
        frame.outer = self.reader.end();
        frame.limit = self.reader.position() + length.count * 8;
        if length.count * 8 > self.reader.left() {
            self.reader.skip(length.count * 8)?;
        }
        self.reader.set_end(frame.limit);
        self.push(frame)?;
        Ok(true)
    }

    pub(super) fn leave_wrapper(&mut self, frame: &Frame) -> Result<()> {
        let left = self.reader.left();
        // One octet for a value of no bits; further octets are from a later version of the type in it.
        self.reader.set_end(frame.outer);
        self.reader.skip(left)
    }

    /// Joins the fragments of an open type and decodes them on their own.
    #[cold]
    pub(super) fn fragments(&mut self, inside: Inside) -> Result<()> {
        if self.fragmented >= FRAGMENTED_DEPTH {
            return Err(self.fault(ErrorKind::DepthLimit));
        }
        let mut joined = Vec::new();
        loop {
            let length = self.reader.length(self.program.aligned)?;
            append(&mut self.reader, length.count, &mut joined)?;
            if !length.more {
                break;
            }
        }
        let at = self.reader.position() as u64 / 8;
        let mut state = DecodeState::default();
        state.registers = std::mem::take(&mut self.state.registers);
        let mut options = self.options.clone();
        options.limits.depth =
            options.limits.depth.min(1000).saturating_sub(self.state.frames.len().min(1000) as u16);
        let mut sink = Copying(&mut *self.sink);
        let mut engine = Engine {
            state: &mut state,
            shape: self.shape,
            program: self.program,
            reader: BitReader::new(&joined),
            sink: &mut sink,
            options: &options,
            said: self.said,
            empty: self.empty,
            fragmented: self.fragmented + 1,
            pending_key: self.pending_key.take(),
            at: inside.place().0,
        };
        // Offsets inside of the joined octets mean nothing outside: the error tells where they end.
        let result = match inside {
            Inside::Value(field, node) => engine.value(field, node),
            Inside::Group(group) => engine.begin_group(group),
        };
        let result =
            result.and_then(|()| engine.run()).map(drop).map_err(|fault| Fault::new(fault.kind(), at));
        (self.said, self.empty) = (engine.said, engine.empty);
        self.state.registers = std::mem::take(&mut state.registers);
        result
    }

    /// The octets of an open type: in the input, or joined in `made`.
    pub(super) fn open_octets(&mut self) -> Result<Octets<'a>> {
        let length = self.reader.length(self.program.aligned)?;
        if !length.more
            && let Taken::Aligned(at, octets) = self.peek_octets(length.count)?
        {
            self.reader.skip(length.count * 8)?;
            return Ok(Octets::Input(at, octets));
        }
        self.state.made.clear();
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
        if let Some(table) = &self.shape.node(node).table
            && self.options.resolve_tables
        {
            let (row, complete) = keys::row(self.shape, &self.program.tables, table, &self.state.registers);
            if let Some(content) = row {
                self.sink.open(field, node);
                self.push(Frame::new(What::Open, field, node, 0))?;
                let inside = Inside::Value(FieldId::ROOT, content);
                return Ok(self.begin_wrapper(inside)?.then_some(content));
            }
            let extensible = self.shape.tables.get(table.table as usize).is_none_or(|table| table.extensible);
            if complete && self.options.strict_tables && !extensible {
                return Err(self.fault(ErrorKind::ConstraintViolated));
            }
        }
        match self.open_octets()? {
            Octets::Input(at, contents) => self.sink.leaf(field, node, Leaf::Input { at, contents }),
            Octets::Made => self.sink.leaf(field, node, Leaf::Made(&self.state.made)),
        }
        Ok(None)
    }

    /// Begins the content of a string with CONTAINING that starts at bit `from` and fills `count` octets, if it decodes.
    pub(super) fn contained(
        &mut self,
        field: FieldId,
        node: NodeId,
        from: usize,
        count: usize,
    ) -> Result<bool> {
        let Some(inside) = self.shape.node(node).containing else { return Ok(false) };
        if !self.options.decode_containing || self.program.aligned && !from.is_multiple_of(8) {
            return Ok(false);
        }
        let mut reader = self.reader;
        reader.seek(from);
        reader.set_end(from + count * 8);
        if !self.would_decode(inside, reader) {
            return Ok(false);
        }
        self.sink.open(field, node);
        self.push(Frame::new(What::Open, field, node, 0))?;
        let mut frame = Frame::new(What::Wrapper, FieldId::ROOT, inside, 0);
        frame.outer = self.reader.end();
        frame.limit = from + count * 8;
        self.reader = reader;
        self.push(frame)?;
        self.value(FieldId::ROOT, inside)?;
        Ok(true)
    }

    /// A sink cannot take back what it has heard: the content is read once for nobody, without what is in it.
    pub(super) fn would_decode(&mut self, inside: NodeId, reader: BitReader<'a>) -> bool {
        let mut options = self.options.clone();
        options.decode_containing = false;
        let mut state = std::mem::take(&mut self.state.trial).unwrap_or_default();
        state.frames.clear();
        state.registers.begin(self.shape);
        let mut trial = Engine {
            state: &mut state,
            shape: self.shape,
            program: self.program,
            reader,
            sink: &mut Discard,
            options: &options,
            said: self.said,
            empty: self.empty,
            fragmented: self.fragmented,
            pending_key: None,
            at: FieldId::ROOT,
        };
        let outcome = trial.value(FieldId::ROOT, inside).and_then(|()| trial.run());
        // A value of no bits takes one octet (§11.1.3).
        let left = trial.reader.left();
        let fills = left < 8 || left == 8 && trial.reader.position() == reader.position();
        self.state.trial = Some(state);
        outcome.is_ok() && fills
    }
}
