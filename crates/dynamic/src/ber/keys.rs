//! Key registers and tables: which type an open type holds (X.682 §10).

use super::frame::Register;
use std::cmp::Ordering;
use tercet_plan::Shape;
use tercet_plan::shape::{Key, Row, TableRef};

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
    match (key, register.alternative) {
        (Key::Alternative(name, inner), Some(field)) => {
            let here = shape.field(field).name;
            name.cmp(&here)
                .then_with(|| compare(shape, inner, Register { alternative: None, ..register }, input))
        }
        (Key::Alternative(..), None) => Ordering::Greater,
        (_, Some(_)) => Ordering::Less,
        (Key::Int(key), None) if register.number => match integer(contents) {
            Some(number) => key.cmp(&number),
            None => Ordering::Less,
        },
        (Key::Int(_), None) => Ordering::Less,
        (Key::Octets(_), None) if register.number => Ordering::Greater,
        (Key::Octets(key), None) => key.as_slice().cmp(contents),
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
