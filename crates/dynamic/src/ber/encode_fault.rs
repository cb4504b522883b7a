//! Errors of an encode with path and detail; nothing here runs while all is well.

use super::encode::{Engine, Level};
use crate::Error;
use crate::fault::Fault;
use crate::tape::Token;
use std::fmt::Write;
use tercet_plan::{FieldId, Kind, NodeId};

impl Engine<'_> {
    #[cold]
    pub(super) fn explain(&self, fault: Fault, index: usize) -> Error {
        let mut path = String::new();
        let mut in_list = None;
        // The first level is what is outside.
        for level in self.levels.iter().chain([&self.level]).skip(1) {
            self.path_step(
                &mut path,
                self.program.slots[level.slot as usize].field,
                level.node,
                in_list.take(),
            );
            if matches!(self.program.nodes[level.node.index()].kind, Kind::SequenceOf | Kind::SetOf) {
                in_list = Some(self.position(level, index));
            }
        }
        let tip = match self.value.token(index) {
            Token::Leaf { field, node, .. } | Token::Close { field, node, .. } => Some((field, node)),
            _ => None,
        };
        if let Some((field, node)) = tip {
            self.path_step(&mut path, field, node, in_list.take());
        }
        let error = Error::new(fault.kind, 0);
        match fault.field {
            Some(field) if field != FieldId::ROOT && field.index() < self.shape.fields.len() => {
                let name = self.shape.name(self.shape.field(field).name);
                if tip.is_none() {
                    let _ = write!(path, ".{name}");
                }
                error.with_path(path).with_detail(format!("`{name}`"))
            }
            _ => error.with_path(path),
        }
    }

    fn position(&self, level: &Level, index: usize) -> usize {
        let (mut at, mut position) = (level.open as usize + 1, 0);
        while self.value.skip(at) <= index {
            at = self.value.skip(at);
            position += 1;
        }
        position
    }

    fn path_step(&self, out: &mut String, field: FieldId, node: NodeId, position: Option<usize>) {
        if let Some(position) = position {
            let _ = write!(out, "[{position}]");
        } else if field == FieldId::ROOT {
            if out.is_empty()
                && let Some(name) = self.shape.type_name(node)
            {
                out.push_str(name);
            }
        } else if let Some(field) = self.shape.fields.get(field.index()) {
            if !out.is_empty() {
                out.push('.');
            }
            out.push_str(self.shape.name(field.name));
        }
    }
}
