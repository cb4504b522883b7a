//! Checks that the tables of a plan fit one another: every index, range and width, so that what follows a plan need not.

use crate::constraint::{Constraints, Element, Restriction};
use crate::per::{IntegerForm, MANY, NO_DEFAULT, NO_KEY, Op, Step, Whole};
use crate::shape::{Constant, Presence, Shape};
use crate::{Code, FieldId, Kind, ber, oer, per};

/// The name of a table that does not fit.
type Fault = &'static str;

/// Returns the name of the table unless a condition holds.
const fn ensure(holds: bool, table: Fault) -> Result<(), Fault> {
    if holds { Ok(()) } else { Err(table) }
}

/// Whether entries from `first` on are in a table of `length` entries.
fn within(first: u32, count: u32, length: usize) -> bool {
    first as usize <= length && count as usize <= length - first as usize
}

/// Checks the tables of a shape.
pub(super) fn shape(shape: &Shape) -> Result<(), Fault> {
    let is_register = |register: &u16| *register < shape.registers;
    for node in &shape.nodes {
        let element = !matches!(node.kind, Kind::SequenceOf | Kind::SetOf) || node.count == 1;
        let fields = within(node.first, node.count, shape.fields.len()) && node.second_root <= node.count;
        let items = within(node.item_first, node.item_count, shape.items.len());
        let constraint = node.constraint.is_none_or(|it| (it as usize) < shape.constraints.len());
        let table = node
            .table
            .as_ref()
            .is_none_or(|it| (it.table as usize) < shape.tables.len() && it.keys.iter().all(is_register));
        ensure(element && fields && items && constraint && table, "nodes")?;
    }
    for (at, field) in (0..).zip(&shape.fields) {
        let parent = shape.node(field.parent);
        let own = parent.first <= at && at - parent.first < parent.count;
        let default = match field.presence {
            Presence::Default(index) => (index as usize) < shape.defaults.len(),
            Presence::Mandatory | Presence::Optional => true,
        };
        ensure(own && default && field.key.as_ref().is_none_or(is_register), "fields")?;
    }
    for constant in &shape.defaults {
        self::constant(constant)?;
    }
    if let Some(instructions) = &shape.instructions {
        let has = |index: &u32| (*index as usize) < instructions.namespaces.len();
        if let Some(places) = &instructions.xml {
            let all =
                places.fields.iter().chain(places.nodes.iter().map(|(_, it)| it)).chain([&places.other]);
            ensure(all.filter_map(|it| it.namespace.as_ref()).all(has), "namespaces")?;
        }
    }
    ensure(shape.value_names.iter().all(|(field, _)| *field != FieldId::ROOT), "names of values")?;
    restrictions(&shape.restrictions, shape.registers)
}

/// Checks that the parts of a constant are fields, not the outermost value.
fn constant(constant: &Constant) -> Result<(), Fault> {
    match constant {
        Constant::Boolean(_) | Constant::Int(_) | Constant::Contents(_) => Ok(()),
        Constant::Struct(fields) => fields.iter().try_for_each(|(field, value)| {
            ensure(*field != FieldId::ROOT, "defaults")?;
            self::constant(value)
        }),
        Constant::List(elements) => elements.iter().try_for_each(self::constant),
        Constant::Choice(field, value) => {
            ensure(*field != FieldId::ROOT, "defaults")?;
            self::constant(value)
        }
        Constant::Open(_, value) => self::constant(value),
    }
}

/// Checks restrictions: their indexes, and that none is made of itself.
fn restrictions(all: &Constraints, registers: u16) -> Result<(), Fault> {
    let mut uses: Vec<Vec<u32>> = Vec::with_capacity(all.list.len());
    for restriction in &all.list {
        let mut used = Vec::new();
        self::restriction(restriction, all, registers, &mut used)?;
        uses.push(used);
    }
    for (_, value) in all.sets.iter().flat_map(|set| &set.rows) {
        constant(value)?;
    }
    ensure(all.scopes.iter().all(|(_, register)| *register < registers), "restrictions")?;
    // Those are taken away that are made of none that is left, until none is left.
    let mut users = vec![Vec::new(); uses.len()];
    let mut open: Vec<usize> = uses.iter().map(Vec::len).collect();
    for (user, used) in uses.iter().enumerate() {
        used.iter().for_each(|id| users[*id as usize].push(user));
    }
    let mut free: Vec<usize> = (0..open.len()).filter(|at| open[*at] == 0).collect();
    let mut taken = 0;
    while let Some(at) = free.pop() {
        taken += 1;
        for user in &users[at] {
            open[*user] -= 1;
            if open[*user] == 0 {
                free.push(*user);
            }
        }
    }
    ensure(taken == uses.len(), "restrictions")
}

fn restriction(
    it: &Restriction,
    all: &Constraints,
    registers: u16,
    used: &mut Vec<u32>,
) -> Result<(), Fault> {
    std::iter::once(&it.root).chain(&it.additions).try_for_each(|it| element(it, all, registers, used))
}

fn element(it: &Element, all: &Constraints, registers: u16, used: &mut Vec<u32>) -> Result<(), Fault> {
    match it {
        Element::Union(parts) | Element::Intersection(parts) => {
            parts.iter().try_for_each(|part| element(part, all, registers, used))
        }
        Element::Except(a, b) => [a, b].into_iter().try_for_each(|part| element(part, all, registers, used)),
        Element::Value(value) => constant(value),
        Element::Subtype(_, list) => {
            used.extend(list.iter().map(|id| id.0));
            Ok(())
        }
        Element::Component(inner) => restriction(inner, all, registers, used),
        Element::Components(components) => {
            let inner = components.list.iter().filter_map(|component| component.value.as_ref());
            inner.into_iter().try_for_each(|inner| restriction(inner, all, registers, used))
        }
        Element::Object(set, keys) => {
            let known = (*set as usize) < all.sets.len() && keys.iter().all(|key| *key < registers);
            ensure(known, "restrictions")
        }
        Element::All
        | Element::Integers(_)
        | Element::Reals(..)
        | Element::Sizes(_)
        | Element::Alphabet(_)
        | Element::Pattern(_)
        | Element::Settings(_)
        | Element::Contents(..)
        | Element::UserDefined => Ok(()),
    }
}

/// Checks the tables of a program for a shape.
pub(super) fn code(shape: &Shape, code: &Code) -> Result<(), Fault> {
    match code {
        Code::Ber(program) => ber(shape, program),
        Code::Per(program) => per(shape, program),
        Code::Oer(program) => oer(shape, program),
    }
}

fn ber(shape: &Shape, program: &ber::Program) -> Result<(), Fault> {
    ensure(program.nodes.len() == shape.nodes.len(), "codes")?;
    ensure(program.slots.len() >= shape.fields.len(), "slots")?;
    ensure(program.identifiers.len() == program.slots.len(), "identifiers")?;
    ensure(program.chains.first().is_none_or(|chain| chain.is_empty()), "chains")?;
    for slot in &program.slots {
        let chain = slot.chain == 0 || usize::from(slot.chain) < program.chains.len();
        ensure(chain && slot.kind == shape.node(slot.node).kind, "slots")?;
    }
    for (code, node) in program.nodes.iter().zip(&shape.nodes) {
        let slots = within(code.first, code.count, program.slots.len()) && code.second_root <= code.count;
        let entry = code.entry == ber::NONE || (code.entry as usize) < program.slots.len();
        // Elements of a list are not marked.
        let is_list = matches!(code.kind, Kind::SequenceOf | Kind::SetOf);
        let words = if is_list { 0 } else { code.count.div_ceil(64) };
        let tables = within(code.dense, code.dense_len, program.dense.len())
            && within(code.sparse, code.sparse_len, program.sparse.len())
            && within(code.masks, words, program.masks.len())
            && code.dense_tag.checked_add(code.dense_len).is_some();
        ensure(code.kind == node.kind && slots && entry && tables, "codes")?;
        let dense = &program.dense[code.dense as usize..][..code.dense_len as usize];
        let sparse = &program.sparse[code.sparse as usize..][..code.sparse_len as usize];
        let known = dense.iter().all(|slot| u32::from(*slot) <= code.count)
            && sparse.iter().all(|(_, slot)| *slot < code.count);
        ensure(known, "tags")?;
    }
    ensure(program.scopes.iter().all(|(_, register)| *register < shape.registers), "scopes")
}

fn per(shape: &Shape, program: &per::Program) -> Result<(), Fault> {
    let has = |index: u32, length: usize| (index as usize) < length;
    let is_register = |register: &u16| *register < shape.registers;
    ensure(program.nodes.len() == shape.nodes.len() && program.values.len() == shape.nodes.len(), "codes")?;
    ensure(program.steps.len() >= shape.fields.len(), "steps")?;
    ensure(program.tables.len() == shape.tables.len(), "tables")?;
    for (code, node) in program.nodes.iter().zip(&shape.nodes) {
        use per::Code;
        let known = match *code {
            Code::Integer(integer) => self::integer(integer, program),
            Code::Enumerated(index) => has(index, program.enumerations.len()),
            Code::BitString(size, _)
            | Code::OctetString(size)
            | Code::BitsContaining(size, _)
            | Code::OctetsContaining(size) => self::size(&size),
            Code::Characters(size, index) => self::size(&size) && has(index, program.alphabets.len()),
            Code::SequenceOf(size, field) => {
                self::size(&size) && has(field, shape.fields.len()) && node.count == 1
            }
            Code::Predefined(index) => has(index, shape.defaults.len()),
            Code::Time(index) => has(index, program.times.len()),
            Code::Sequence(index) => program.sequences.get(index as usize).is_some_and(|it| {
                let members = |first: u32, list: &[per::Member]| {
                    within(first, list.len() as u32, program.steps.len())
                        && list.iter().all(|member| member.field < node.count)
                };
                members(it.first, &it.root)
                    && it.keys.iter().chain(&it.scopes).all(is_register)
                    && it.additions.iter().all(|addition| match addition {
                        per::Addition::Single(field) => *field < node.count,
                        per::Addition::Group { first, members: list, .. } => members(*first, list),
                    })
            }),
            Code::Choice(index) => program.choices.get(index as usize).is_some_and(|it| {
                let known = |field: &u32| *field < node.count;
                let index = |index: &u32| match index & per::ADDITION {
                    0 => has(*index, it.root.len()),
                    _ => has(index & !per::ADDITION, it.additions.len()),
                };
                whole(it.whole)
                    && within(it.first, it.root.len() as u32, program.steps.len())
                    && it.root.iter().chain(&it.additions).all(known)
                    && it.indices.len() == node.count as usize
                    && it.indices.iter().all(index)
            }),
            Code::Boolean | Code::Null | Code::Contents | Code::Open | Code::Unsupported => true,
        };
        ensure(known, "codes")?;
    }
    ensure(program.enumerations.iter().all(|it| whole(it.whole)), "enumerations")?;
    for alphabet in &program.alphabets {
        let mut number = 0_u32;
        let in_order = alphabet.ranges.iter().all(|range| {
            let follows = range.number == number && range.lo <= range.hi;
            number = number.wrapping_add(range.hi.wrapping_sub(range.lo)).wrapping_add(1);
            follows
        });
        let widths = matches!(alphabet.octets, 1 | 2 | 4) && alphabet.bits <= 32;
        ensure(in_order && widths && alphabet.ranges.is_sorted_by(|a, b| a.hi < b.lo), "alphabets")?;
    }
    let integers = program.times.iter().flat_map(|time| &time.parts).flat_map(times);
    ensure(integers.into_iter().all(|it| integer(it, program)), "times")?;
    for lookup in &program.tables {
        // A search ends at a free place.
        let free = lookup.places.is_empty()
            || lookup.places.len().is_power_of_two()
                && lookup.places.iter().any(|(_, node)| *node == u32::MAX);
        let known = lookup.places.iter().all(|(_, node)| *node == u32::MAX || has(*node, shape.nodes.len()));
        ensure(free && known && lookup.seconds >= 0, "tables")?;
    }
    for step in program.steps.iter().chain(&program.values) {
        ensure(self::step(step, shape, program), "steps")?;
    }
    Ok(())
}

fn step(step: &Step, shape: &Shape, program: &per::Program) -> bool {
    let register = |register: u16| register == NO_KEY || register < shape.registers;
    let steps = |first: u32, count: u32| within(first, count, program.steps.len());
    let field = |width: u8, pad: u8| width <= 64 && matches!(pad, 0 | 7);
    let counted = |it: per::Counted| field(it.width, it.pad) && matches!(it.align, 0 | 7);
    let op = match step.op {
        Op::Null | Op::Leaf | Op::Part => true,
        Op::Number { width, pad, .. } => field(width, pad),
        Op::Sequence { first, count, optional, width } => {
            steps(first, count) && optional < MANY && width <= MANY && u32::from(optional) <= count
        }
        Op::Keyed { first, width, pad, behind, rest } => {
            steps(first, 3) && field(width, pad) && behind <= width && rest <= behind
        }
        Op::List { element, width, pad, .. } => steps(element, 1) && field(width, pad),
        Op::Choice { first, most, width, pad } => {
            most.checked_add(1).is_some_and(|count| steps(first, count)) && field(width, pad)
        }
        Op::Open { table, key, second } => {
            (table as usize) < program.tables.len() && key < shape.registers && register(second)
        }
        Op::Octets(it) | Op::Bits(it) => counted(it),
        Op::Characters(it, alphabet) | Op::Text(it, alphabet) => {
            counted(it) && usize::from(alphabet) < program.alphabets.len()
        }
    };
    op && (step.field == u32::MAX || (step.field as usize) < shape.fields.len())
        && (step.node as usize) < shape.nodes.len()
        && (step.constant == NO_DEFAULT || (step.constant as usize) < shape.defaults.len())
        && register(step.key)
        && step.bit <= MANY
}

/// Returns the numbers of a part of a time.
fn times(part: &per::TimePart) -> Vec<per::Integer> {
    match part {
        per::TimePart::Recurrence(number, _) => vec![*number],
        per::TimePart::Point(steps) | per::TimePart::Duration(steps) => {
            let numbers = steps.iter().map(|step| match step {
                per::TimeStep::Number(_, number) => std::slice::from_ref(number),
                per::TimeStep::Ranges(_, numbers) => numbers,
                per::TimeStep::Presence(_) | per::TimeStep::Always(..) | per::TimeStep::Utc => &[],
            });
            numbers.flatten().copied().collect()
        }
    }
}

fn integer(integer: per::Integer, program: &per::Program) -> bool {
    match integer.form {
        IntegerForm::Constrained { whole, .. } => self::whole(whole),
        IntegerForm::Large(index) => (index as usize) < program.large.len(),
        IntegerForm::SemiConstrained(_) | IntegerForm::Unconstrained => true,
    }
}

fn whole(whole: Whole) -> bool {
    match whole {
        Whole::Bits(width) => width <= 64,
        Whole::Octets(width, most) => width <= 4 && matches!(most, 1..=8),
        Whole::Nothing | Whole::Octet | Whole::TwoOctets => true,
    }
}

fn size(size: &per::Size) -> bool {
    let field = size.field.is_none_or(|field| field.width <= 64 && matches!(field.pad, 0 | 7));
    size.lo <= size.hi && field && size.whole.is_none_or(whole)
}

fn oer(shape: &Shape, program: &oer::Program) -> Result<(), Fault> {
    ensure(program.nodes.len() == shape.nodes.len(), "codes")?;
    let has = |index: u32, length: usize| (index as usize) < length;
    for (code, node) in program.nodes.iter().zip(&shape.nodes) {
        use oer::Code;
        let field = |field: u32| field < node.count;
        let known = match *code {
            Code::Integer(form) => octets(form),
            Code::Time(index) => has(index, program.times.len()),
            Code::Predefined(index) => has(index, shape.defaults.len()),
            Code::Sequence(index) => program.sequences.get(index as usize).is_some_and(|it| {
                it.root.iter().all(|member| field(member.field))
                    && it.additions.iter().flat_map(oer::Addition::fields).all(field)
                    && it.keys.iter().chain(&it.scopes).all(|register| *register < shape.registers)
            }),
            Code::Choice(index) => program.choices.get(index as usize).is_some_and(|it| {
                it.alternatives.len() == node.count as usize && it.tags.iter().all(|(_, at)| field(*at))
            }),
            Code::SequenceOf => node.count == 1,
            Code::Boolean
            | Code::Null
            | Code::Enumerated
            | Code::Real(_)
            | Code::BitString(..)
            | Code::OctetString(_)
            | Code::BitsContaining(..)
            | Code::OctetsContaining(_)
            | Code::Contents(_)
            | Code::Open => true,
        };
        ensure(known, "codes")?;
    }
    let points = program.times.iter().filter_map(|time| match time {
        oer::Time::Point(steps) => Some(steps),
        oer::Time::Duration => None,
    });
    let known = points.flatten().all(|step| match step {
        oer::TimeStep::Number(_, form) => octets(*form),
        oer::TimeStep::Difference | oer::TimeStep::Always(..) | oer::TimeStep::Utc => true,
    });
    ensure(known, "times")
}

const fn octets(form: oer::Integer) -> bool {
    match form {
        oer::Integer::Unsigned(octets) | oer::Integer::Signed(octets) => matches!(octets, 1 | 2 | 4 | 8),
        oer::Integer::UnsignedVariable | oer::Integer::SignedVariable => true,
    }
}
