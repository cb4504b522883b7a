//! Writing SEQUENCE and SET (X.691 §19, §21): their components are found on the tape, then written in their order.

use super::encode::{Engine, Frame, FrameKind, Result};
use super::integer::write_octets;
use crate::ErrorKind;
use crate::fault::Fault;
use crate::same::Comparison;
use crate::tape::{Token, View};
use tercet_plan::per::{Addition, Code, Member, NO_DEFAULT, Sequence};
use tercet_plan::{FieldId, NodeId};
use tercet_runtime::per::FRAGMENT;

impl Engine<'_> {
    pub(super) fn sequence(&mut self, open: usize, close: usize, node: NodeId, code: u32) -> Result<()> {
        let program = self.program;
        let sequence = &program.sequences[code as usize];
        let base = self.state.slots.len();
        let (count, unknown) = self.gather(open, close, node, sequence)?;
        let mut frame = Frame {
            kind: FrameKind::Members,
            more: false,
            node,
            code,
            close: close as u32,
            base: base as u32,
            cursor: 0,
            count,
            remaining: unknown,
            sorted: false,
        };
        if sequence.extensible {
            let first = self.shape.node(node).first;
            let mut present = 0;
            for (number, addition) in (1..).zip(&sequence.additions) {
                let there = match addition {
                    Addition::Single(field) => self.is_there(base, first, *field),
                    Addition::Group { members, .. } => members
                        .iter()
                        .fold(false, |any, member| any | self.is_there(base, first, member.field)),
                };
                present = if there { number } else { present };
            }
            frame.more = present > 0 || self::unknown(self.value, &frame).next().is_some();
            // A sender of an earlier version has fewer.
            if unknown == 0
                && let Some(fewer) = self.value.earlier(open)
            {
                frame.count = fewer.clamp(present, count);
            }
            self.state.writer.bit(frame.more);
        }
        self.presence(&frame, &sequence.root);
        self.state.frames.push(frame);
        Ok(())
    }

    /// Finds the components: their slots are filled; the answer is the number of additions that the bitmap has to
    /// tell, and where the first one is that the schema does not know.
    fn gather(&mut self, open: usize, close: usize, node: NodeId, sequence: &Sequence) -> Result<(u32, u32)> {
        let (first, total) = (self.shape.node(node).first, self.shape.node(node).count);
        let base = self.state.slots.len();
        self.state.slots.resize(base + total as usize, 0);
        let slots = &mut self.state.slots[base..];
        let (mut count, mut unknown) = (sequence.additions.len() as u32, 0);
        let mut index = open + 1;
        while index < close {
            let (field, next) = match self.value.token(index) {
                Token::Open { field, close, .. } => (field, close + 1),
                Token::Leaf { field, .. } => (field, index + 1),
                Token::Default { .. } => {
                    index += 1;
                    continue;
                }
                Token::Unknown { addition, .. } => {
                    // Only what comes from PER has a number; it goes behind what is known, each once.
                    self.at = index;
                    let behind =
                        addition >= count && (unknown > 0 || addition as usize >= sequence.additions.len());
                    if !sequence.extensible || !behind || addition as usize >= FRAGMENT {
                        return Err(ErrorKind::UnexpectedElement.into());
                    }
                    if unknown == 0 {
                        unknown = index as u32;
                    }
                    count = addition + 1;
                    index += 1;
                    continue;
                }
                Token::Close { .. } => return Err(ErrorKind::ValueMismatch.into()),
            };
            match slots.get_mut(field.0.wrapping_sub(first) as usize) {
                Some(slot @ 0) => *slot = index as u32 + 1,
                Some(_) => {
                    self.at = index;
                    return Err(ErrorKind::DuplicateComponent.into());
                }
                None => {
                    self.at = index;
                    return Err(ErrorKind::ValueMismatch.into());
                }
            }
            index = next;
        }
        Ok((count, unknown))
    }

    /// Whether a component is to be written: it has a value that is not to be left out (§19.5).
    fn is_there(&mut self, base: usize, first: u32, number: u32) -> bool {
        let slot = base + number as usize;
        let Some(index) = self.state.slots[slot].checked_sub(1) else { return false };
        let field = self.program.steps[(first + number) as usize];
        if field.constant != NO_DEFAULT
            && self.is_left_out(field.constant, index as usize, NodeId(field.node))
        {
            self.state.slots[slot] = 0;
            return false;
        }
        true
    }

    /// Whether a component with this DEFAULT is not written: in basic PER for simple types, in canonical PER for all
    /// (X.691 §19.5).
    #[inline(never)]
    pub(super) fn is_left_out(&mut self, constant: u32, index: usize, node: NodeId) -> bool {
        let program = self.program;
        let code = program.nodes.get(node.index());
        let framed =
            matches!(code, Some(Code::Sequence(_) | Code::SequenceOf(..) | Code::Choice(_) | Code::Open));
        let is_named = |node: NodeId| {
            let code = program.nodes.get(node.index());
            matches!(code, Some(Code::BitString(_, true) | Code::BitsContaining(_, true)))
        };
        let (shape, value, normal) = (self.shape, self.value, &mut self.state.normal);
        let mut comparison = Comparison { shape, value, is_named: &is_named, normal };
        (!framed || program.canonical) && comparison.is_constant(index, node, constant)
    }

    fn presence(&mut self, frame: &Frame, members: &[Member]) {
        let first = self.shape.node(frame.node).first;
        for member in members.iter().filter(|member| member.optional) {
            let there = self.is_there(frame.base as usize, first, member.field);
            self.state.writer.bit(there);
        }
    }

    /// Goes on with the members of the root or of a version bracket.
    pub(super) fn members(&mut self, mut frame: Frame) -> Result<()> {
        let program = self.program;
        let sequence = &program.sequences[frame.code as usize];
        let members = match (frame.kind, sequence.additions.get(frame.remaining as usize)) {
            (FrameKind::Group, Some(Addition::Group { members, .. })) => members,
            _ => &sequence.root,
        };
        let first = self.shape.node(frame.node).first;
        while let Some(member) = members.get(frame.cursor as usize) {
            frame.cursor += 1;
            let slot = self.state.slots[frame.base as usize + member.field as usize];
            let Some(index) = slot.checked_sub(1) else {
                if member.optional {
                    continue;
                }
                self.at = frame.close as usize;
                return Err(Fault {
                    kind: ErrorKind::MissingComponent,
                    field: Some(FieldId(first + member.field)),
                });
            };
            let step = &self.program.steps[(first + member.field) as usize];
            let node = NodeId(step.node);
            if let Token::Leaf { leaf, .. } = self.value.token(index as usize) {
                self.at = index as usize;
                self.leaf(node, &program.nodes[node.index()], leaf)?;
                continue;
            }
            let depth = self.state.frames.len();
            self.replace(frame);
            self.value(index as usize, step)?;
            if self.state.frames.len() > depth {
                return Ok(());
            }
        }
        if frame.kind == FrameKind::Group {
            self.state.frames.pop();
        } else if frame.more {
            self.begin_additions(frame);
        } else {
            self.state.frames.pop();
            self.state.slots.truncate(frame.base as usize);
        }
        Ok(())
    }

    // Extension additions (§19.7 to §19.9)

    fn begin_additions(&mut self, mut frame: Frame) {
        let sequence = &self.program.sequences[frame.code as usize];
        let aligned = self.program.aligned;
        self.state.writer.small_length(frame.count as usize, aligned);
        let base = frame.base as usize;
        let known = sequence.additions.len().min(frame.count as usize);
        for addition in &sequence.additions[..known] {
            let there = self.has_addition(base, addition);
            self.state.writer.bit(there);
        }
        let mut next = known as u32;
        for (addition, _) in unknown(self.value, &frame) {
            for _ in next..addition {
                self.state.writer.bit(false);
            }
            self.state.writer.bit(true);
            next = addition + 1;
        }
        for _ in next..frame.count {
            self.state.writer.bit(false);
        }
        frame.kind = FrameKind::Additions;
        frame.cursor = 0;
        self.replace(frame);
    }

    fn has_addition(&self, base: usize, addition: &Addition) -> bool {
        let is_there = |field: u32| self.state.slots[base + field as usize] != 0;
        match addition {
            Addition::Single(field) => is_there(*field),
            Addition::Group { members, .. } => members.iter().any(|member| is_there(member.field)),
        }
    }

    pub(super) fn additions(&mut self, mut frame: Frame) -> Result<()> {
        let program = self.program;
        let sequence = &program.sequences[frame.code as usize];
        let base = frame.base as usize;
        while let Some(addition) = sequence.additions.get(frame.cursor as usize) {
            frame.cursor += 1;
            if !self.has_addition(base, addition) {
                continue;
            }
            self.replace(frame);
            self.begin_apart(FrameKind::Open);
            match addition {
                Addition::Single(field) => {
                    let step = &self.program.steps[(self.shape.node(frame.node).first + field) as usize];
                    let index = self.state.slots[base + *field as usize] - 1;
                    return self.value(index as usize, step);
                }
                Addition::Group { members, .. } => {
                    let group =
                        Frame { kind: FrameKind::Group, remaining: frame.cursor - 1, cursor: 0, ..frame };
                    self.presence(&group, members);
                    self.state.frames.push(group);
                    return Ok(());
                }
            }
        }
        for (_, octets) in unknown(self.value, &frame) {
            write_octets(&mut self.state.writer, octets, program.aligned);
        }
        self.state.frames.pop();
        self.state.slots.truncate(base);
        Ok(())
    }
}

/// The unknown additions of a SEQUENCE with their numbers. One without octets only tells how far the bitmap went.
fn unknown<'a>(value: View<'a>, frame: &Frame) -> impl Iterator<Item = (u32, &'a [u8])> + use<'a> {
    let (mut index, close) = (frame.remaining as usize, frame.close as usize);
    std::iter::from_fn(move || {
        while index > 0 && index < close {
            let token = value.token(index);
            index = value.skip(index);
            if let Token::Unknown { addition, leaf } = token
                && let Some(octets) = leaf.contents()
                && !octets.is_empty()
            {
                return Some((addition, octets));
            }
        }
        None
    })
}
