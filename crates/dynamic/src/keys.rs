//! Key registers and tables: which type an open type holds (X.682 §10).

use tercet_plan::shape::{Key, Row, TableRef};
use tercet_plan::{FieldId, NodeId, Shape};

/// The values of keys, kept from value to value: those of values before count for nothing. There may be hundreds of
/// registers, so that they are not made empty each time (8,700 instructions for an NGAP message).
#[derive(Clone, Debug, Default)]
pub(crate) struct Registers {
    keys: Vec<Register>,
    /// Those of the values around, while the registers hold other keys.
    saved: Vec<(u16, Register)>,
    /// Number of the value, from 1.
    turn: u64,
}

/// A key, and in which value it was found.
#[derive(Clone, Debug)]
struct Register(u64, Key);

impl Registers {
    /// Begins a trial of what is in a string: an open type there is chosen by the keys around the string.
    pub(crate) fn lend(&self, trial: &mut Self, shape: &Shape, inside: NodeId) {
        if shape.node(inside).table.is_some() { trial.clone_from(self) } else { trial.begin(shape) }
    }

    /// Begins another value.
    #[inline]
    pub(crate) fn begin(&mut self, shape: &Shape) {
        self.turn += 1;
        self.saved.clear();
        let count = usize::from(shape.registers);
        if self.keys.len() < count {
            self.keys.resize(count, Register(0, Key::Int(0)));
        }
    }

    /// Keeps the value of a key; if it is a CHOICE, with the alternatives, the outermost first.
    pub(crate) fn set<I>(&mut self, shape: &Shape, register: u16, mut key: Key, alternatives: I)
    where
        I: IntoIterator<Item = FieldId, IntoIter: DoubleEndedIterator>,
    {
        if let Some(place) = self.keys.get_mut(usize::from(register)) {
            for field in alternatives.into_iter().rev() {
                key = Key::Alternative(shape.field(field).name, Box::new(key));
            }
            *place = Register(self.turn, key);
        }
    }

    /// Keeps the value of a key that is a whole number.
    #[inline]
    pub(crate) fn set_number(&mut self, register: u16, number: i64) {
        if let Some(Register(turn, key)) = self.keys.get_mut(usize::from(register)) {
            *turn = self.turn;
            match key {
                Key::Int(key) => *key = number,
                key => *key = Key::Int(number),
            }
        }
    }

    /// The value of a key that is a whole number, if it has one.
    #[inline]
    pub(crate) fn number(&self, register: u16) -> Option<i64> {
        match self.get(register) {
            Some(Key::Int(number)) => Some(*number),
            _ => None,
        }
    }

    /// The key of a value before counts no more.
    #[inline]
    pub(crate) fn forget(&mut self, register: u16) {
        if let Some(place) = self.keys.get_mut(usize::from(register)) {
            place.0 = 0;
        }
    }

    /// A value with keys begins: those of the value before it are forgotten, those of one around it come back later.
    pub(crate) fn enter(&mut self, scopes: &[u16], keys: &[u16]) {
        for register in scopes {
            if let Some(place) = self.keys.get_mut(usize::from(*register)) {
                let outer = std::mem::replace(place, Register(0, Key::Int(0)));
                self.saved.push((*register, outer));
            }
        }
        for register in keys {
            self.forget(*register);
        }
    }

    /// A value ends that had so many registers for itself.
    pub(crate) fn leave(&mut self, scopes: usize) {
        self.take_back(self.saved.len().saturating_sub(scopes));
    }

    /// How many keys wait to come back.
    pub(crate) fn depth(&self) -> usize {
        self.saved.len()
    }

    /// Gives the keys back that have been put aside since there were so many.
    pub(crate) fn take_back(&mut self, depth: usize) {
        while self.saved.len() > depth
            && let Some((register, key)) = self.saved.pop()
            && let Some(place) = self.keys.get_mut(usize::from(register))
        {
            *place = key;
        }
    }

    #[inline]
    fn get(&self, register: u16) -> Option<&Key> {
        let Register(turn, key) = self.keys.get(usize::from(register))?;
        (*turn == self.turn).then_some(key)
    }
}

/// A key that is a CHOICE, on the way to its value: the register, and the alternatives chosen one inside the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pending {
    register: u16,
    alternatives: [Option<FieldId>; 4],
}

impl Pending {
    pub(crate) const fn new(register: u16) -> Self {
        Self { register, alternatives: [None; 4] }
    }

    /// Adds an alternative inside the others. What is too deep is no key of any row.
    pub(crate) fn push(&mut self, field: FieldId) {
        match self.alternatives.iter_mut().find(|place| place.is_none()) {
            Some(place) => *place = Some(field),
            None => self.register = u16::MAX,
        }
    }

    /// Keeps the value.
    pub(crate) fn set(self, registers: &mut Registers, shape: &Shape, key: Key) {
        registers.set(shape, self.register, key, self.alternatives.into_iter().flatten());
    }
}

/// The type in the row that the registers select, and whether all keys were there.
pub(crate) fn row(shape: &Shape, table: &TableRef, registers: &Registers) -> (Option<NodeId>, bool) {
    let Some(rows) = shape.tables.get(table.table as usize).map(|t| &t.rows) else { return (None, false) };
    if table.keys.is_empty() {
        // The constraint names the type: there is nothing to choose.
        return (rows.first().filter(|_| rows.len() == 1).map(|row| row.node), true);
    }
    if !table.keys.iter().all(|key| registers.get(*key).is_some()) {
        return (None, false);
    }
    let found = rows.binary_search_by(|row: &Row| {
        let mut orders = row.keys.iter().zip(&table.keys).map(|(key, register)| {
            match (key, registers.get(*register)) {
                // Nearly all are whole numbers (NBAP: 78 instructions a row by the general order).
                (Key::Int(key), Some(Key::Int(wanted))) => key.cmp(wanted),
                (key, wanted) => Some(key).cmp(&wanted),
            }
        });
        orders.find(|order| order.is_ne()).unwrap_or_else(|| row.keys.len().cmp(&table.keys.len()))
    });
    (found.ok().and_then(|at| rows.get(at)).map(|row| row.node), true)
}
