//! Open types and strings with CONTAINING: values in octets of their own (X.696 §30).

use super::decode::{Engine, Result};
use super::frame::{Frame, What};
use crate::event::{Discard, Leaf, Sink};
use crate::{Part, keys};
use tercet_plan::oer::{Size, VARIABLE};
use tercet_plan::{FieldId, NodeId};
use tercet_runtime::ErrorKind;
use tercet_runtime::ber::{Rules, decode_bit_string};

impl<S: Sink> Engine<'_, S> {
    /// Begins the next octets, which hold one value.
    pub(super) fn begin_wrapper(&mut self, field: FieldId, node: NodeId, length: usize) -> Result<()> {
        let mut frame = Frame::new(What::Wrapper, field, node, 0);
        frame.around = self.reader.enter(length)?;
        self.push(frame)
    }

    /// The value has to fill its octets.
    pub(super) fn leave_wrapper(&mut self, frame: &Frame) -> Result<()> {
        if self.reader.left() > 0 {
            self.at = frame.field;
            return Err(self.fault(ErrorKind::TrailingData));
        }
        self.reader.leave(frame.around);
        Ok(())
    }

    /// Begins an open type: the type of its content, unless it has been read.
    pub(super) fn open_type(&mut self, field: FieldId, node: NodeId) -> Result<Option<(FieldId, NodeId)>> {
        self.count()?;
        let start = self.reader;
        if let Some(table) = &self.shape.node(node).table
            && self.options.resolve_tables
        {
            let (row, complete) = keys::row(self.shape, table, &self.state.registers);
            if let Some(content) = row {
                let length = self.length_of((field, node))?;
                return self.begin_content(field, node, content, length).map(Some);
            }
            let extensible = self.shape.tables.get(table.table as usize).is_none_or(|table| table.extensible);
            if complete && self.options.strict_tables && !extensible {
                return Err(start.error(ErrorKind::ConstraintViolated));
            }
        }
        let length = self.length_of((field, node))?;
        let at = self.reader.position();
        let contents = self.reader.take(length)?;
        self.place_from((field, node), Part::Contents, at);
        self.sink.leaf(field, node, Leaf::Input { at, contents });
        Ok(None)
    }

    /// Says that an open type or a string with content begins, and goes into its octets.
    fn begin_content(
        &mut self,
        field: FieldId,
        node: NodeId,
        content: NodeId,
        length: usize,
    ) -> Result<(FieldId, NodeId)> {
        self.sink.open(field, node);
        self.push(Frame::new(What::Open, field, node, 0))?;
        self.begin_wrapper(FieldId::ROOT, content, length)?;
        Ok((FieldId::ROOT, content))
    }

    pub(super) fn octets_containing(
        &mut self,
        field: FieldId,
        node: NodeId,
        size: Size,
    ) -> Result<Option<(FieldId, NodeId)>> {
        let start = self.reader;
        let length = if size == VARIABLE { self.length()? } else { size as usize };
        if let Some(inside) = self.content_of(node, length)? {
            self.count()?;
            self.place_number((field, node), Part::Length, start.position(), length);
            return self.begin_content(field, node, inside, length).map(Some);
        }
        self.reader = start;
        self.octet_string(field, node, size)?;
        Ok(None)
    }

    pub(super) fn bits_containing(
        &mut self,
        field: FieldId,
        node: NodeId,
        size: Size,
    ) -> Result<Option<(FieldId, NodeId)>> {
        let start = self.reader;
        let length = if size != VARIABLE {
            size.is_multiple_of(8).then_some(size as usize / 8)
        } else {
            let length = self.length()?;
            let octets = self.reader.octets(self.reader.position(), self.reader.position() + length);
            let whole = decode_bit_string(octets, 0, Rules::Ber).is_ok_and(|bits| bits.unused() == 0);
            if whole && self.reader.octet().is_ok() { Some(length - 1) } else { None }
        };
        if let Some(length) = length
            && let Some(inside) = self.content_of(node, length)?
        {
            self.count()?;
            if self.sink.wants_places() && size == VARIABLE {
                // The number of unused bits is the first octet of the string.
                let at = self.reader.position() - 1;
                self.place((field, node), Part::Length, start.position(), at, Some(length as u64 + 1));
                self.place_from((field, node), Part::Contents, at);
            }
            return self.begin_content(field, node, inside, length).map(Some);
        }
        self.reader = start;
        self.bit_string(field, node, size)?;
        Ok(None)
    }

    /// The type in the next octets of a string with CONTAINING, if they decode. A sink cannot take back what it has
    /// heard: the content is read once for nobody, without what is in it.
    ///
    /// # Errors
    /// They do not, and values must meet their constraints: a contents constraint is one (X.682 11). They are too deep.
    fn content_of(&mut self, node: NodeId, length: usize) -> Result<Option<NodeId>> {
        let containing = self.shape.node(node).containing.filter(|_| self.options.decode_containing);
        let Some(inside) = containing else { return Ok(None) };
        let found = self.trial(inside, length)?;
        // An open type may have no type for the keys around the string.
        let known = self.shape.node(inside).table.is_none();
        if found.is_none() && self.options.check_constraints && known {
            return Err(self.fault(ErrorKind::ConstraintViolated));
        }
        Ok(found)
    }

    fn trial(&mut self, inside: NodeId, length: usize) -> Result<Option<NodeId>> {
        let mut reader = self.reader;
        if reader.enter(length).is_err() {
            return Ok(None);
        }
        let mut options = self.options.clone();
        options.decode_containing = false;
        options.limits.depth = self.levels_left().saturating_sub(1);
        let mut state = std::mem::take(&mut self.state.trial).unwrap_or_default();
        state.frames.clear();
        self.state.registers.lend(&mut state.registers, self.shape, inside);
        let mut nobody = Discard;
        let mut trial = Engine::new(&mut state, self.shape, self.program, &[], &mut nobody, &options);
        (trial.reader, trial.left, trial.said, trial.empty) = (reader, self.left, self.said, self.empty);
        let outcome = trial.value(FieldId::ROOT, inside).and_then(|()| trial.run());
        let fills = trial.reader.left() == 0;
        self.state.trial = Some(state);
        match outcome {
            // A value is within the limit in all rules or in none.
            Err(fault) if fault.kind() == ErrorKind::DepthLimit => Err(self.fault(ErrorKind::DepthLimit)),
            outcome => Ok((outcome.is_ok() && fills).then_some(inside)),
        }
    }
}
