//! Key registers and tables: which type an open type holds (X.682 §10).

use super::decode::Engine;
use super::frame::Register;
use crate::event::Sink;
use std::cmp::Ordering;
use tercet_plan::ber::{NodeCode, flags, node_flags};
use tercet_plan::shape::{Key, Row, TableRef};
use tercet_plan::{NodeId, Shape};

impl<S: Sink> Engine<'_, S> {
    /// A value with keys begins: those of the value before it are forgotten, those of one around it come back later.
    #[cold]
    pub(super) fn begin_keys(&mut self, node: NodeId, code: &NodeCode) {
        if code.flags & node_flags::SCOPE != 0 {
            for (_, register) in self.program.scopes_of(node) {
                let register = self.state.registers.get_mut(usize::from(*register));
                self.state.saved.push(register.and_then(Option::take));
            }
        }
        for slot in self.slots(code) {
            if slot.flags & flags::KEY != 0
                && let Some(key) = self.shape.field(slot.field).key
                && let Some(register) = self.state.registers.get_mut(usize::from(key))
            {
                *register = None;
            }
        }
    }

    /// A value ends: so do its keys.
    #[inline]
    pub(super) fn end_keys(&mut self, code: &NodeCode) {
        if code.flags & node_flags::SCOPE != 0 {
            self.restore_keys(NodeId(self.cur().node));
        }
    }

    #[cold]
    fn restore_keys(&mut self, node: NodeId) {
        for (_, register) in self.program.scopes_of(node).iter().rev() {
            let saved = self.state.saved.pop().flatten();
            if let Some(register) = self.state.registers.get_mut(usize::from(*register)) {
                *register = saved;
            }
        }
    }
}

/// The row that the registers select, and whether all keys were there.
pub(super) fn row<'a>(
    shape: &'a Shape,
    table: &TableRef,
    registers: &[Option<Register>],
    input: &[u8],
) -> (Option<&'a Row>, bool) {
    let Some(rows) = shape.tables.get(table.table as usize).map(|t| &t.rows) else { return (None, false) };
    if table.keys.is_empty() {
        // The constraint names the type: there is nothing to choose.
        return (rows.first().filter(|_| rows.len() == 1), true);
    }
    let known = |key: &u16| registers.get(usize::from(*key)).is_some_and(Option::is_some);
    if !table.keys.iter().all(known) {
        return (None, false);
    }
    let found = rows.binary_search_by(|row| {
        let mut order = row.keys.len().cmp(&table.keys.len());
        for (key, register) in row.keys.iter().zip(&table.keys) {
            let Some(register) = registers.get(usize::from(*register)).copied().flatten() else { break };
            let found = compare(shape, key, register, input);
            if found != Ordering::Equal {
                order = found;
                break;
            }
        }
        order
    });
    (found.ok().and_then(|at| rows.get(at)), true)
}

/// In the order of [`Key`].
fn compare(shape: &Shape, key: &Key, register: Register, input: &[u8]) -> Ordering {
    let contents = input.get(register.start..register.start + register.length).unwrap_or_default();
    let mut key = key;
    for field in register.alternatives.iter() {
        let Key::Alternative(name, inner) = key else { return Ordering::Less };
        let order = name.cmp(&shape.field(field).name);
        if order != Ordering::Equal {
            return order;
        }
        key = inner;
    }
    match key {
        Key::Alternative(..) => Ordering::Greater,
        Key::Int(key) if register.number => match integer(contents) {
            Some(number) => key.cmp(&number),
            None => Ordering::Less,
        },
        Key::Int(_) => Ordering::Less,
        Key::Octets(_) if register.number => Ordering::Greater,
        Key::Octets(key) => key.as_slice().cmp(contents),
    }
}

/// A two's complement number of at most 64 bits.
pub(super) fn integer(contents: &[u8]) -> Option<i64> {
    let (first, _) = contents.split_first()?;
    if contents.len() > 8 {
        return None;
    }
    let sign = if *first >= 0x80 { -1 } else { 0 };
    Some(contents.iter().fold(sign, |number: i64, octet| number << 8 | i64::from(*octet)))
}
