//! What follows from the codes of a program: the steps of the engine, with the forms that most values have told at once.

use super::{
    Addition, Code, Counted, Field, Integer, IntegerForm, Lookup, MANY, NO_DEFAULT, NO_KEY, Op, Program,
    Sequence, Size, Step, Whole,
};
use crate::NodeId;
use crate::shape::{Key, Presence, Shape, TableRef};

impl Program {
    /// Makes the steps, the values and the tables, and sets where the steps of each node begin, from everything else in the
    /// program and its shape. Each index must be one of its table, and each SEQUENCE, SET and CHOICE that of one node.
    pub fn derive(&mut self, shape: &Shape) {
        let program = std::mem::take(self);
        let mut derived = Derived { shape, program: Self { steps: Vec::new(), ..program } };
        derived.steps();
        *self = derived.program;
    }
}

/// A program whose steps are being made.
struct Derived<'a> {
    shape: &'a Shape,
    program: Program,
}

impl Derived<'_> {
    /// One step for each field, then those whose order differs from that of the text; and one for each node.
    fn steps(&mut self) {
        let shape = self.shape;
        for (number, field) in (0..).zip(&shape.fields) {
            let constant = match field.presence {
                Presence::Default(constant) => constant,
                _ => NO_DEFAULT,
            };
            let run = u8::from(field.presence != Presence::Mandatory);
            let (node, key) = (field.node.0, field.key.unwrap_or(NO_KEY));
            self.program.steps.push(Step { op: Op::Leaf, field: number, node, constant, key, run, bit: 0 });
        }
        for (index, node) in (0..).zip(&shape.nodes) {
            match self.program.nodes.get(NodeId(index).index()).copied() {
                Some(Code::Sequence(code)) => {
                    let code = code as usize;
                    let root = self.program.sequences[code].root.iter().map(|member| member.field).collect();
                    self.program.sequences[code].first = self.in_order(node.first, root);
                    for at in 0..self.program.sequences[code].additions.len() {
                        let Addition::Group { members, .. } = &self.program.sequences[code].additions[at]
                        else {
                            continue;
                        };
                        let begin =
                            self.in_order(node.first, members.iter().map(|member| member.field).collect());
                        if let Addition::Group { first, .. } = &mut self.program.sequences[code].additions[at]
                        {
                            *first = begin;
                        }
                    }
                }
                Some(Code::Choice(code)) => {
                    let root = self.program.choices[code as usize].root.to_vec();
                    self.program.choices[code as usize].first = self.in_order(node.first, root);
                }
                _ => {}
            }
        }
        self.tables();
        for at in 0..self.program.steps.len() {
            let Step { node, key, .. } = self.program.steps[at];
            self.program.steps[at].op = self.op(NodeId(node), key);
        }
        let value = |node| {
            let op = self.op(NodeId(node), NO_KEY);
            Step { op, field: u32::MAX, node, constant: NO_DEFAULT, key: NO_KEY, run: 0, bit: 0 }
        };
        self.program.values = (0..shape.nodes.len() as u32).map(value).collect();
    }

    /// Where the steps of some fields of a node stand in their order; their runs and presence bits are counted.
    fn in_order(&mut self, first: u32, numbers: Vec<u32>) -> u32 {
        let begin = numbers.first().copied().unwrap_or_default();
        if (begin..).zip(&numbers).all(|(at, number)| at == *number) {
            let begin = (first + begin) as usize;
            count_bits(&mut self.program.steps[begin..begin + numbers.len()]);
            return begin as u32;
        }
        let at = self.program.steps.len();
        for number in numbers {
            self.program.steps.push(self.program.steps[(first + number) as usize]);
        }
        count_bits(&mut self.program.steps[at..]);
        at as u32
    }

    /// The rows with one whole number as key each, or with two; for all others there is nothing.
    fn tables(&mut self) {
        let tables = self.shape.tables.iter().map(|table| {
            let single = table.rows.iter().map(|row| match row.keys.as_slice() {
                [Key::Int(key)] => Some((*key, row.node.0)),
                _ => None,
            });
            let pairs = table.rows.iter().map(|row| match row.keys.as_slice() {
                [Key::Int(key), Key::Int(second)] => Some((*key, *second, row.node.0)),
                _ => None,
            });
            match (single.collect::<Option<Vec<_>>>(), pairs.collect::<Option<Vec<_>>>()) {
                (Some(rows), _) => Lookup::new(&rows),
                (None, Some(rows)) => Lookup::of_pairs(&rows),
                (None, None) => Lookup::default(),
            }
        });
        self.program.tables = tables.collect();
    }

    /// Returns whether every value of a field surely has a bit at least, as far as the budget goes. Elements that have none
    /// cost nothing to announce, so that the engine has to count them.
    fn has_bits(&self, field: u32, nested: u32, budget: &mut u32) -> bool {
        let Some(nested) = nested.checked_sub(1) else { return false };
        let Some(left) = budget.checked_sub(1) else { return false };
        *budget = left;
        let node = self.shape.fields[field as usize].node;
        let first = self.shape.node(node).first;
        let whole_has = |whole: Whole| whole != Whole::Nothing;
        let size_has = |size: Size| size.extensible || !size.is_fixed();
        match self.program.nodes[node.index()] {
            Code::Boolean | Code::Contents | Code::Open => true,
            Code::Integer(Integer { extensible, form: IntegerForm::Constrained { whole, .. } }) => {
                extensible || whole_has(whole)
            }
            Code::Integer(_) => true,
            Code::Enumerated(code) => {
                let known = &self.program.enumerations[code as usize];
                known.extensible || whole_has(known.whole)
            }
            Code::BitString(size, _)
            | Code::BitsContaining(size, _)
            | Code::OctetString(size)
            | Code::OctetsContaining(size) => size_has(size) || size.lo > 0,
            Code::Characters(size, alphabet) => {
                size_has(size) || size.lo > 0 && self.program.alphabets[alphabet as usize].bits > 0
            }
            Code::Sequence(code) => {
                let known = &self.program.sequences[code as usize];
                let mut members = known.root.iter();
                known.extensible
                    || known.optional > 0
                    || members.any(|member| self.has_bits(first + member.field, nested, budget))
            }
            Code::SequenceOf(size, element) => {
                size_has(size) || size.lo > 0 && self.has_bits(element, nested, budget)
            }
            Code::Choice(code) => {
                let known = &self.program.choices[code as usize];
                known.extensible
                    || whole_has(known.whole)
                    || known.root.iter().all(|number| self.has_bits(first + number, nested, budget))
            }
            Code::Null | Code::Predefined(_) | Code::Time(_) | Code::Unsupported => false,
        }
    }

    fn op(&self, node: NodeId, key: u16) -> Op {
        match self.program.nodes[node.index()] {
            // As a key, it is its contents octet.
            Code::Boolean if key != NO_KEY => Op::Leaf,
            Code::Boolean => Op::Number { lo: 0, span: 1, width: 1, pad: 0 },
            Code::Null => Op::Null,
            Code::Integer(Integer { extensible, form: IntegerForm::Constrained { lo, span, whole } }) => {
                number(lo, span, whole, extensible)
            }
            Code::Enumerated(code) => {
                let known = &self.program.enumerations[code as usize];
                let lo = known.root.first().copied().unwrap_or_default();
                if known.root.is_empty() || !(lo..).zip(&known.root).all(|(at, number)| at == *number) {
                    return Op::Leaf;
                }
                number(lo, known.root.len() as u64 - 1, known.whole, known.extensible)
            }
            Code::Sequence(code) => {
                let known = &self.program.sequences[code as usize];
                if !known.keys.is_empty() || !known.scopes.is_empty() || known.optional >= u32::from(MANY) {
                    return Op::Part;
                }
                if let Some(keyed) = self.keyed(known) {
                    return keyed;
                }
                let optional = known.optional as u8;
                let width = optional + u8::from(known.extensible);
                Op::Sequence { first: known.first, count: known.root.len() as u32, optional, width }
            }
            Code::SequenceOf(size, element) if self.has_bits(element, NESTED, &mut { LOOKED_AT }) => {
                self.list(size, element)
            }
            Code::Choice(code) if key == NO_KEY => {
                let known = &self.program.choices[code as usize];
                match (known.whole.field_behind(known.extensible), known.root.len().checked_sub(1)) {
                    (Some((width, pad)), Some(most)) => {
                        Op::Choice { first: known.first, most: most as u32, width, pad }
                    }
                    _ => Op::Part,
                }
            }
            Code::Open => self.open(node),
            Code::OctetString(size) if key == NO_KEY => self.counted(size, 2).map_or(Op::Leaf, Op::Octets),
            Code::BitString(size, _) if key == NO_KEY => self.counted(size, 16).map_or(Op::Leaf, Op::Bits),
            Code::Characters(size, alphabet) if key == NO_KEY => {
                self.row_of_characters(size, alphabet).unwrap_or(Op::Leaf)
            }
            Code::OctetsContaining(_) | Code::BitsContaining(..) => Op::Leaf,
            code if code.has_parts() => Op::Part,
            _ => Op::Leaf,
        }
    }

    /// A list of elements that have bits.
    fn list(&self, size: Size, element: u32) -> Op {
        match size.field {
            Some(Field { lo, most, width, pad }) => match (u16::try_from(lo), u16::try_from(most)) {
                (Ok(lo), Ok(span)) => Op::List { element, lo, span, width, pad },
                _ => Op::Part,
            },
            // A general length determinant of one octet.
            None if size == Size::ANY => {
                let pad = if self.program.aligned { 7 } else { 0 };
                Op::List { element, lo: 0, span: 127, width: 8, pad }
            }
            None => Op::Part,
        }
    }

    /// A SEQUENCE of a key, a number, and an open type that the key selects, if the place of each bit in front of the
    /// open type is known.
    fn keyed(&self, known: &Sequence) -> Option<Op> {
        if known.extensible || known.optional > 0 || known.root.len() != 3 {
            return None;
        }
        let steps = self.program.steps.get(known.first as usize..)?.first_chunk::<3>()?;
        let ops = steps.map(|Step { node, key, .. }| match self.program.nodes[node as usize] {
            Code::Integer(_) | Code::Enumerated(_) | Code::Open => self.op(NodeId(node), key),
            _ => Op::Part,
        });
        let [
            Op::Number { width: first, pad, .. },
            Op::Number { width: second, pad: 0, .. },
            Op::Open { key, second: NO_KEY, .. },
        ] = ops
        else {
            return None;
        };
        let fill = if self.program.aligned { (first + second).wrapping_neg() & 7 } else { 0 };
        let rest = fill + 8;
        let (width, behind) = (first + second + rest, second + rest);
        let in_place = (pad == 7) == self.program.aligned && width <= 56;
        (in_place && [steps[0].key, steps[1].key] == [key, NO_KEY]).then_some(Op::Keyed {
            first: known.first,
            width,
            pad,
            behind,
            rest,
        })
    }

    /// A string of characters that are looked up one by one.
    fn row_of_characters(&self, size: Size, alphabet: u32) -> Option<Op> {
        let known = &self.program.alphabets[alphabet as usize];
        let plain = known.table.is_some() && !known.check && known.bits > 0;
        let counted = self.sized(size, known.unaligned).filter(|_| plain)?;
        let of = if known.bits == 8 && !known.indexed { Op::Text } else { Op::Characters };
        Some(of(counted, u16::try_from(alphabet).ok()?))
    }

    /// The size of a string; up to so many, its contents are not aligned where it is fixed (§16.9, §17.6).
    fn counted(&self, size: Size, short: u32) -> Option<Counted> {
        self.sized(size, size.is_fixed() && size.hi <= short)
    }

    /// The size of a string whose contents are aligned or not.
    fn sized(&self, size: Size, unaligned: bool) -> Option<Counted> {
        let aligned = if self.program.aligned { 7 } else { 0 };
        let align = if unaligned { 0 } else { aligned };
        match size.field {
            Some(Field { lo, most, width, pad }) => {
                let (lo, most) = (u16::try_from(lo).ok()?, u16::try_from(most).ok()?);
                Some(Counted { lo, most, width, pad, align })
            }
            // A general length determinant of one octet.
            None if size.whole.is_none() && !size.extensible => {
                Some(Counted { lo: 0, most: 127, width: 8, pad: aligned, align })
            }
            None => None,
        }
    }

    fn open(&self, node: NodeId) -> Op {
        let Some(TableRef { table, keys }) = &self.shape.node(node).table else { return Op::Part };
        let lookup = &self.program.tables[*table as usize];
        match keys.as_slice() {
            keys if !lookup.serves(keys) => Op::Part,
            [key] => Op::Open { table: *table, key: *key, second: NO_KEY },
            [key, second] => Op::Open { table: *table, key: *key, second: *second },
            _ => Op::Part,
        }
    }
}

/// How many fields are looked at for whether an element has bits.
const LOOKED_AT: u32 = 10_000;

/// How deep values are looked into for whether they have bits.
const NESTED: u32 = 8;

fn count_bits(steps: &mut [Step]) {
    let (mut run, mut bit) = (0_u8, 0_u8);
    for step in steps.iter_mut() {
        step.bit = bit;
        bit = (bit + u8::from(step.run > 0)).min(MANY);
    }
    for step in steps.iter_mut().rev() {
        run = if step.run == 0 { 0 } else { run.saturating_add(1) };
        step.run = run;
    }
}

fn number(lo: i64, span: u64, whole: Whole, extensible: bool) -> Op {
    let (Ok(lo), Ok(span)) = (i32::try_from(lo), u32::try_from(span)) else { return Op::Leaf };
    let Some((width, pad)) = whole.field_behind(extensible) else { return Op::Leaf };
    Op::Number { lo, span, width, pad }
}
