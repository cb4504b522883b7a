//! Checks that the tables of a plan fit one another: every index, range and width, so that what follows a plan need not.

use crate::constraint::{Constraints, Element, Restriction};
use crate::per::{IntegerForm, Whole};
use crate::shape::{Constant, Field, Node, Presence, Shape};
use crate::{Code, FieldId, Kind, NodeId, ber, oer, per};
use tercet_runtime::Tag;

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

/// Bits that named bits are filled up to at most, and characters of no bits that a string has at least: what values have
/// without an encoding is bounded.
const MOST_FILLED: u32 = 1 << 20;

/// Checks the tables of a shape.
pub(super) fn shape(shape: &Shape) -> Result<(), Fault> {
    let is_register = |register: &u16| *register < shape.registers;
    for (id, node) in (0..).map(NodeId).zip(&shape.nodes) {
        let element = match node.kind {
            Kind::SequenceOf | Kind::SetOf => node.count == 1,
            Kind::Sequence | Kind::Set | Kind::Choice => true,
            _ => node.count == 0,
        };
        let is_own = |field: &Field| field.parent == id;
        let fields = within(node.first, node.count, shape.fields.len())
            && node.second_root <= node.count
            && shape.fields[node.first as usize..][..node.count as usize].iter().all(is_own);
        let inside = node.containing.is_none() || matches!(node.kind, Kind::BitString | Kind::OctetString);
        let items = within(node.item_first, node.item_count, shape.items.len());
        let constraint = node.constraint.is_none_or(|it| (it as usize) < shape.constraints.len());
        let table = node
            .table
            .as_ref()
            .is_none_or(|it| (it.table as usize) < shape.tables.len() && it.keys.iter().all(is_register));
        let table = table && (node.table.is_none() || node.kind == Kind::Open);
        ensure(element && fields && inside && items && constraint && table, "nodes")?;
    }
    for id in (0..shape.nodes.len() as u32).map(NodeId) {
        let least = if shape.has_named_bits(id) { shape.least_size(id) } else { 0 };
        ensure(least <= MOST_FILLED as usize, "nodes")?;
    }
    // An open type whose content is one again takes no octets: it would not end.
    let rows = shape.tables.iter().flat_map(|table| &table.rows);
    ensure(rows.map(|row| shape.node(row.node)).all(|node| node.table.is_none()), "tables")?;
    for (at, field) in (0..).zip(&shape.fields) {
        let parent = shape.node(field.parent);
        let own = parent.first <= at && at - parent.first < parent.count;
        let default = match field.presence {
            Presence::Default(index) => {
                shape.defaults.get(index as usize).is_some_and(|it| is_of(shape, field.node, it))
            }
            Presence::Mandatory | Presence::Optional => true,
        };
        ensure(own && default && field.key.as_ref().is_none_or(is_register), "fields")?;
    }
    shape.defaults.iter().try_for_each(constant)?;
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

/// Returns whether a constant is a value of a node as far as parts go.
fn is_of(shape: &Shape, id: NodeId, constant: &Constant) -> bool {
    let node = shape.node(id);
    let part = |field: FieldId| (field.0.checked_sub(node.first)).is_some_and(|at| at < node.count);
    let is_part =
        |field: FieldId, value: &Constant| part(field) && is_of(shape, shape.field(field).node, value);
    match constant {
        Constant::Boolean(_) => node.kind == Kind::Boolean,
        Constant::Int(_) => matches!(node.kind, Kind::Integer | Kind::Enumerated),
        // An open type of which nothing is known has octets too, and a value that is not understood has none.
        Constant::Contents(octets) => octets.is_empty() || is_primitive(node.kind) || node.kind == Kind::Open,
        Constant::Struct(fields) => {
            matches!(node.kind, Kind::Sequence | Kind::Set)
                && fields.iter().all(|(field, value)| is_part(*field, value))
                && fields.is_sorted_by(|a, b| a.0 < b.0)
        }
        Constant::List(elements) => {
            matches!(node.kind, Kind::SequenceOf | Kind::SetOf)
                && elements.iter().all(|value| is_part(FieldId(node.first), value))
        }
        Constant::Choice(field, value) => node.kind == Kind::Choice && is_part(*field, value),
        Constant::Open(inner, value) => node.kind == Kind::Open && is_of(shape, *inner, value),
    }
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
    ensure(program.chains.first().is_none_or(|chain| chain.is_empty()), "chains")?;
    let is_tag = |tag: &u32| Tag::from_bits(*tag).is_some();
    ensure(program.chains.iter().all(|chain| chain.iter().all(is_tag)), "chains")?;
    for (at, slot) in program.slots.iter().enumerate() {
        // Behind those of the fields are those of nodes without one.
        let (field, node) = match shape.fields.get(at) {
            Some(field) => (FieldId(at as u32), field.node),
            None => (FieldId::ROOT, slot.node),
        };
        let made = ber::Slot::new(shape, field, node, slot.tag, slot.chain);
        let untagged = slot.tag == ber::UNTAGGED && made.flags & ber::flags::OPEN_ENDED != 0;
        let wild = if untagged { slot.flags & ber::flags::WILD } else { 0 };
        let is_made = *slot == ber::Slot { flags: made.flags | wild, ..made };
        let chain = slot.chain == 0 || usize::from(slot.chain) < program.chains.len();
        ensure(chain && is_made && (untagged || is_tag(&slot.tag)), "slots")?;
    }
    ensure(program.identifiers == program.make_identifiers(), "identifiers")?;
    ensure(program.scopes.iter().all(|(_, register)| *register < shape.registers), "scopes")?;
    ensure(program.scopes.is_sorted(), "scopes")?;
    for (id, code) in (0..).map(NodeId).zip(&program.nodes) {
        let is_own = |slot: &ber::Slot| slot.field == FieldId::ROOT && slot.node == id;
        let entry = code.entry == ber::NONE || program.slots.get(code.entry as usize).is_some_and(is_own);
        let (made, masks) = program.node(shape, id, code.entry);
        let ber::NodeCode { dense_tag, dense, dense_len, sparse, sparse_len, masks: first, .. } = *code;
        let made = ber::NodeCode { dense_tag, dense, dense_len, sparse, sparse_len, masks: first, ..made };
        let tables = within(dense, dense_len, program.dense.len())
            && within(sparse, sparse_len, program.sparse.len())
            && within(first, masks.len() as u32, program.masks.len())
            && dense_tag.checked_add(dense_len).is_some();
        ensure(made == *code && entry && tables, "codes")?;
        ensure(program.masks[first as usize..][..masks.len()] == masks, "masks")?;
        let dense = &program.dense[dense as usize..][..dense_len as usize];
        let sparse = &program.sparse[sparse as usize..][..sparse_len as usize];
        let known = dense.iter().all(|slot| u32::from(*slot) <= code.count)
            && sparse.iter().all(|(_, slot)| *slot < code.count)
            && sparse.is_sorted();
        ensure(known, "tags")?;
    }
    ensure(program.defaults.len() == shape.defaults.len(), "defaults")
}

fn per(shape: &Shape, program: &per::Program) -> Result<(), Fault> {
    let has = |index: u32, length: usize| (index as usize) < length;
    let is_register = |register: &u16| *register < shape.registers;
    ensure(program.nodes.len() == shape.nodes.len(), "codes")?;
    // Each is that of one node, so that what follows from all of them is not larger than they are.
    let mut sequences = vec![false; program.sequences.len()];
    let mut choices = vec![false; program.choices.len()];
    for (id, (code, node)) in (0..).map(NodeId).zip(program.nodes.iter().zip(&shape.nodes)) {
        use per::Code;
        let is_new = |used: &mut Vec<bool>, index: u32| {
            used.get_mut(index as usize).is_some_and(|used| !std::mem::replace(used, true))
        };
        let known = match *code {
            Code::Integer(integer) => self::integer(integer, program),
            Code::Enumerated(index) => has(index, program.enumerations.len()),
            Code::BitString(size, named) | Code::BitsContaining(size, named) => {
                self::size(&size, program) && (!named || size.lo <= MOST_FILLED)
            }
            Code::OctetString(size) | Code::OctetsContaining(size) => self::size(&size, program),
            Code::Characters(size, index) => {
                let alphabet = program.alphabets.get(index as usize);
                self::size(&size, program)
                    && alphabet.is_some_and(|alphabet| alphabet.bits > 0 || size.lo <= MOST_FILLED)
            }
            Code::SequenceOf(size, field) => {
                self::size(&size, program) && node.count == 1 && field == node.first
            }
            Code::Predefined(index) => predefined(shape, id, index),
            Code::Time(index) => has(index, program.times.len()),
            Code::Sequence(index) => {
                is_new(&mut sequences, index) && {
                    let it = &program.sequences[index as usize];
                    let mut members = Members::new(shape, node);
                    let of = |member: &per::Member| (member.field, member.optional);
                    let additions = it.additions.iter().all(|addition| match addition {
                        per::Addition::Single(field) => members.add_one(*field),
                        per::Addition::Group { optional, members: list, .. } => {
                            members.add(list.iter().map(of), *optional)
                        }
                    });
                    additions
                        && members.add(it.root.iter().map(of), it.optional)
                        && members.are_all()
                        && it.keys.iter().chain(&it.scopes).all(is_register)
                }
            }
            Code::Choice(index) => {
                is_new(&mut choices, index) && {
                    let it = &program.choices[index as usize];
                    let mut members = Members::new(shape, node);
                    let of = |list: &[u32], mark: u32| {
                        (0..)
                            .zip(list)
                            .all(|(at, field)| it.indices.get(*field as usize) == Some(&(at | mark)))
                    };
                    it.whole == Whole::of((it.root.len() as u64).saturating_sub(1), program.aligned)
                        && it.root.iter().chain(&it.additions).all(|field| members.add_one(*field))
                        && members.are_all()
                        && it.indices.len() == node.count as usize
                        && of(&it.root, 0)
                        && of(&it.additions, per::ADDITION)
                }
            }
            Code::Boolean | Code::Null | Code::Contents | Code::Open | Code::Unsupported => true,
        };
        ensure(known && is_per(node.kind, code), "codes")?;
    }
    ensure(sequences.into_iter().chain(choices).all(|used| used), "codes")?;
    for it in &program.enumerations {
        let whole = Whole::of((it.root.len() as u64).saturating_sub(1), program.aligned);
        let ascends = |numbers: &[i64]| numbers.is_sorted_by(|a, b| a < b);
        ensure(it.whole == whole && ascends(&it.root) && ascends(&it.additions), "enumerations")?;
    }
    for alphabet in &program.alphabets {
        let ranges = alphabet.ranges.iter().map(|range| (range.lo, range.hi));
        let in_order =
            ranges.clone().all(|(lo, hi)| lo <= hi) && alphabet.ranges.is_sorted_by(|a, b| a.hi < b.lo);
        ensure(in_order && matches!(alphabet.octets, 1 | 2 | 4), "alphabets")?;
        let (unaligned, check) = (alphabet.unaligned, alphabet.check);
        let made = per::Alphabet {
            unaligned,
            check,
            ..per::Alphabet::new(alphabet.octets, ranges, program.aligned)
        };
        ensure(made == *alphabet, "alphabets")?;
    }
    ensure(
        program.large.iter().all(|it| !it.lo.is_empty() && it.span.as_ref().is_none_or(|it| !it.is_empty())),
        "numbers",
    )?;
    let integers = program.times.iter().flat_map(|time| &time.parts).flat_map(times);
    ensure(integers.into_iter().all(|it| integer(it, program)), "times")?;
    let mut derived = program.clone();
    derived.derive(shape);
    ensure(derived == *program, "steps")
}

/// The fields of a node that members of a program stand for.
struct Members<'s> {
    shape: &'s Shape,
    node: &'s Node,
    /// By number within the node.
    seen: Vec<bool>,
}

impl<'s> Members<'s> {
    fn new(shape: &'s Shape, node: &'s Node) -> Self {
        Self { shape, node, seen: vec![false; node.count as usize] }
    }

    /// Adds a field; `false` if it is not one of the node, or has been added.
    fn add_one(&mut self, field: u32) -> bool {
        self.seen.get_mut(field as usize).is_some_and(|seen| !std::mem::replace(seen, true))
    }

    /// Adds fields, each with whether it has a presence bit, of which there are so many.
    fn add(&mut self, list: impl Iterator<Item = (u32, bool)>, optional: u32) -> bool {
        let mut bits = 0;
        let known = list.into_iter().all(|(field, is_optional)| {
            bits += u32::from(is_optional);
            self.add_one(field) && {
                let field = &self.shape.fields[(self.node.first + field) as usize];
                is_optional == (field.presence != Presence::Mandatory)
            }
        });
        known && bits == optional
    }

    fn are_all(&self) -> bool {
        self.seen.iter().all(|seen| *seen)
    }
}

/// Returns whether values of a kind have a code of PER.
const fn is_per(kind: Kind, code: &per::Code) -> bool {
    use per::Code;
    match code {
        Code::Boolean => matches!(kind, Kind::Boolean),
        Code::Null => matches!(kind, Kind::Null),
        Code::Integer(_) => matches!(kind, Kind::Integer),
        Code::Enumerated(_) => matches!(kind, Kind::Enumerated),
        Code::BitString(..) | Code::BitsContaining(..) => matches!(kind, Kind::BitString),
        Code::OctetString(_) | Code::OctetsContaining(_) => matches!(kind, Kind::OctetString),
        Code::Sequence(_) => matches!(kind, Kind::Sequence | Kind::Set),
        Code::SequenceOf(..) => matches!(kind, Kind::SequenceOf | Kind::SetOf),
        Code::Choice(_) => matches!(kind, Kind::Choice),
        Code::Open => matches!(kind, Kind::Open),
        Code::Characters(..) | Code::Contents | Code::Time(_) | Code::Unsupported => is_primitive(kind),
        Code::Predefined(_) => matches!(kind, Kind::Sequence | Kind::Choice),
    }
}

/// Returns whether a default is a value of a node.
fn predefined(shape: &Shape, id: NodeId, index: u32) -> bool {
    shape.defaults.get(index as usize).is_some_and(|constant| is_of(shape, id, constant))
}

/// Returns whether values of a kind have no parts.
const fn is_primitive(kind: Kind) -> bool {
    !matches!(kind, Kind::Sequence | Kind::Set | Kind::SequenceOf | Kind::SetOf | Kind::Choice | Kind::Open)
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
        IntegerForm::Constrained { span, whole, .. } => whole == Whole::of(span, program.aligned),
        IntegerForm::Large(index) => (index as usize) < program.large.len(),
        IntegerForm::SemiConstrained(_) | IntegerForm::Unconstrained => true,
    }
}

fn size(size: &per::Size, program: &per::Program) -> bool {
    let hi = (size.hi != per::UNBOUNDED).then_some(u64::from(size.hi));
    size.lo <= size.hi && *size == per::Size::new(u64::from(size.lo), hi, size.extensible, program.aligned)
}

fn oer(shape: &Shape, program: &oer::Program) -> Result<(), Fault> {
    ensure(program.nodes.len() == shape.nodes.len(), "codes")?;
    let has = |index: u32, length: usize| (index as usize) < length;
    for (id, (code, node)) in (0..).map(NodeId).zip(program.nodes.iter().zip(&shape.nodes)) {
        use oer::Code;
        let field = |field: u32| field < node.count;
        let known = match *code {
            Code::Integer(form) => octets(form),
            Code::Time(index) => has(index, program.times.len()),
            Code::Predefined(index) => predefined(shape, id, index),
            Code::Sequence(index) => program.sequences.get(index as usize).is_some_and(|it| {
                let mut members = Members::new(shape, node);
                let of = |member: &oer::Member| (member.field, member.optional);
                let additions = it.additions.iter().all(|addition| match addition {
                    oer::Addition::Single(field) => members.add_one(*field),
                    oer::Addition::Group { optional, members: list } => {
                        members.add(list.iter().map(of), *optional)
                    }
                });
                additions
                    && members.add(it.root.iter().map(of), it.optional)
                    && members.are_all()
                    && it.keys.iter().chain(&it.scopes).all(|register| *register < shape.registers)
            }),
            Code::Choice(index) => program.choices.get(index as usize).is_some_and(|it| {
                it.alternatives.len() == node.count as usize && it.tags.iter().all(|(_, at)| field(*at))
            }),
            Code::SequenceOf => node.count == 1,
            Code::BitString(size, named) | Code::BitsContaining(size, named) => {
                !named || size == oer::VARIABLE || size <= MOST_FILLED
            }
            Code::Boolean
            | Code::Null
            | Code::Enumerated
            | Code::Real(_)
            | Code::OctetString(_)
            | Code::OctetsContaining(_)
            | Code::Contents(_)
            | Code::Open => true,
        };
        ensure(known && is_oer(node.kind, code), "codes")?;
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

/// Returns whether values of a kind have a code of OER.
const fn is_oer(kind: Kind, code: &oer::Code) -> bool {
    use oer::Code;
    match code {
        Code::Boolean => matches!(kind, Kind::Boolean),
        Code::Null => matches!(kind, Kind::Null),
        Code::Integer(_) => matches!(kind, Kind::Integer),
        Code::Enumerated => matches!(kind, Kind::Enumerated),
        Code::Real(_) => matches!(kind, Kind::Real),
        Code::BitString(..) | Code::BitsContaining(..) => matches!(kind, Kind::BitString),
        Code::OctetString(_) | Code::OctetsContaining(_) => matches!(kind, Kind::OctetString),
        Code::Sequence(_) => matches!(kind, Kind::Sequence | Kind::Set),
        Code::SequenceOf => matches!(kind, Kind::SequenceOf | Kind::SetOf),
        Code::Choice(_) => matches!(kind, Kind::Choice),
        Code::Open => matches!(kind, Kind::Open),
        Code::Contents(_) | Code::Time(_) => is_primitive(kind),
        Code::Predefined(_) => matches!(kind, Kind::Sequence | Kind::Choice),
    }
}

const fn octets(form: oer::Integer) -> bool {
    match form {
        oer::Integer::Unsigned(octets) | oer::Integer::Signed(octets) => matches!(octets, 1 | 2 | 4 | 8),
        oer::Integer::UnsignedVariable | oer::Integer::SignedVariable => true,
    }
}
