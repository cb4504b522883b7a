//! Key registers and tables: which type an open type holds (X.682 §10).

use tercet_plan::shape::{Key, Row, TableRef};
use tercet_plan::{FieldId, Shape};

/// The value of a key, and the alternative if the key is a CHOICE.
#[derive(Clone, Debug)]
pub(super) struct Register {
    pub(super) key: Key,
}

impl Register {
    pub(super) fn new(shape: &Shape, key: Key, alternative: Option<FieldId>) -> Self {
        match alternative {
            None => Self { key },
            Some(field) => Self { key: Key::Alternative(shape.field(field).name, Box::new(key)) },
        }
    }
}

/// The row that the registers select, and whether all keys were there.
pub(super) fn row<'a>(shape: &'a Shape, table: &TableRef, registers: &[Option<Register>]) -> (Option<&'a Row>, bool) {
    let Some(rows) = shape.tables.get(table.table as usize).map(|t| &t.rows) else { return (None, false) };
    let register = |key: &u16| registers.get(usize::from(*key)).and_then(Option::as_ref);
    if table.keys.is_empty() || !table.keys.iter().all(|key| register(key).is_some()) {
        return (None, false);
    }
    let wanted = || table.keys.iter().filter_map(register).map(|register| &register.key);
    let found = rows.binary_search_by(|row| row.keys.iter().cmp(wanted()));
    (found.ok().and_then(|at| rows.get(at)), true)
}
