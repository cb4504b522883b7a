//! Key registers and tables: which type an open type holds (X.682 §10).

use tercet_plan::shape::{Key, Row, TableRef};
use tercet_plan::{FieldId, NodeId, Shape};

/// The values of keys, kept from value to value; those of values before count for nothing.
#[derive(Debug, Default)]
pub(crate) struct Registers {
    keys: Vec<(u64, Key)>,
    /// Number of the value, from 1.
    turn: u64,
}

impl Registers {
    /// Begins another value.
    pub(crate) fn begin(&mut self, shape: &Shape) {
        self.turn += 1;
        let count = usize::from(shape.registers);
        if self.keys.len() < count {
            self.keys.resize(count, (0, Key::Int(0)));
        }
    }

    /// Keeps the value of a key, and the alternative if the key is a CHOICE.
    pub(crate) fn set(&mut self, shape: &Shape, register: u16, key: Key, alternative: Option<FieldId>) {
        if let Some(place) = self.keys.get_mut(usize::from(register)) {
            let key = match alternative {
                None => key,
                Some(field) => Key::Alternative(shape.field(field).name, Box::new(key)),
            };
            *place = (self.turn, key);
        }
    }

    #[inline]
    pub(crate) fn forget(&mut self, register: u16) {
        if let Some(place) = self.keys.get_mut(usize::from(register)) {
            place.0 = 0;
        }
    }

    #[inline]
    fn get(&self, register: u16) -> Option<&Key> {
        let (turn, key) = self.keys.get(usize::from(register))?;
        (*turn == self.turn).then_some(key)
    }
}

/// The type in the row that the registers select, and whether all keys were there. `numbers` may have the rows of a table
/// with one whole number as key again, to be found faster.
pub(crate) fn row(
    shape: &Shape,
    numbers: &[Box<[(i64, u32)]>],
    table: &TableRef,
    registers: &Registers,
) -> (Option<NodeId>, bool) {
    if let ([register], Some(rows)) = (table.keys.as_slice(), numbers.get(table.table as usize))
        && let Some(Key::Int(key)) = registers.get(*register)
        && !rows.is_empty()
    {
        let found = rows.binary_search_by_key(key, |row| row.0);
        return (found.ok().and_then(|at| rows.get(at)).map(|row| NodeId(row.1)), true);
    }
    let Some(rows) = shape.tables.get(table.table as usize).map(|t| &t.rows) else { return (None, false) };
    if table.keys.is_empty() {
        // The constraint names the type: there is nothing to choose.
        return (rows.first().filter(|_| rows.len() == 1).map(|row| row.node), true);
    }
    if !table.keys.iter().all(|key| registers.get(*key).is_some()) {
        return (None, false);
    }
    let wanted = || table.keys.iter().filter_map(|key| registers.get(*key));
    let found = rows.binary_search_by(|row: &Row| row.keys.iter().cmp(wanted()));
    (found.ok().and_then(|at| rows.get(at)).map(|row| row.node), true)
}
