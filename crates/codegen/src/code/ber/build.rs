//! The trees of BER, made from the program of a plan.

use super::{
    Attempt, Begins, Body, Check, Choice, Code, End, Guard, List, Member, Next, Order, Otherwise, Primitive,
    Sort, Struct, Unknown, Value,
};
use crate::code::{Key, Presence, Source};
use crate::types::Repr;
use tercet_plan::ber::{Program, Slot, UNTAGGED, flags};
use tercet_plan::{FieldId, Kind, NodeId};
use tercet_runtime::text::StringKind;

/// Components from which on, most of them optional, a SEQUENCE is read by tags rather than in order.
const MANY: usize = 10;

impl<'m> Code<'m> {
    /// Makes the trees of all types, and of the roots that have codecs.
    pub(crate) fn new(source: Source<'_, 'm>, program: &Program, roots: &[NodeId]) -> Self {
        let builder = Builder { source, program };
        let bodies = source.types.nodes().filter_map(|node| Some((node, builder.body(node)?)));
        let root = |node: &NodeId| builder.standing(*node, source.no_keys(*node));
        Self { bodies: bodies.collect(), roots: roots.iter().map(root).collect() }
    }
}

struct Builder<'p, 't, 'm> {
    source: Source<'t, 'm>,
    program: &'p Program,
}

impl<'m> Builder<'_, '_, 'm> {
    fn body(&self, node: NodeId) -> Option<Body<'m>> {
        let types = self.source.types;
        Some(match types.repr(node) {
            Repr::Struct => Body::Struct(self.structure(node)),
            Repr::Choice => Body::Choice(self.choice(node)),
            Repr::Table(table) => Body::Table(self.source.table(node, table, |row| {
                // A row is a value that nothing is around.
                self.standing(row, self.source.no_keys(row))
            })),
            Repr::List => {
                let element = types.element(node);
                let slot = self.slot(FieldId(types.shape.node(node).first));
                Body::List(List {
                    counted: types.is_counted(node),
                    set: types.shape.node(node).kind == Kind::SetOf,
                    element: self.value(&slot, element, self.source.keys_of_element(node, element)),
                })
            }
            _ => return None,
        })
    }

    fn slot(&self, field: FieldId) -> Slot {
        self.program.slots[field.index()]
    }

    /// All tags, from the outside in.
    fn tags(&self, slot: &Slot) -> Vec<u32> {
        let outer = (slot.tag != UNTAGGED).then_some(slot.tag);
        outer.into_iter().chain(self.program.chain(slot).iter().copied()).collect()
    }

    /// Returns the value of a node that stands without a field.
    fn standing(&self, node: NodeId, keys: Vec<Key>) -> Value {
        let entry = self.program.nodes[node.index()].entry;
        self.value(&self.program.slots[entry as usize], node, keys)
    }

    fn value(&self, slot: &Slot, node: NodeId, keys: Vec<Key>) -> Value {
        let mut around = self.tags(slot);
        let tag = if slot.flags & flags::OPEN_ENDED != 0 { None } else { around.pop() };
        let node = self.source.types.same(node);
        Value { node, around, tag, primitive: self.primitive(node, &keys), keys }
    }

    fn primitive(&self, node: NodeId, keys: &[Key]) -> Primitive {
        let shape = self.source.types.shape;
        let kind = shape.node(node).kind;
        let named = shape.has_named_bits(node);
        match self.source.types.repr(node) {
            Repr::Boolean => Primitive::Boolean,
            Repr::Null => Primitive::Null,
            Repr::Integer { signed, bits } => Primitive::Integer { signed, bits },
            Repr::Big => Primitive::BigInteger,
            Repr::Real => Primitive::Real,
            Repr::Float => Primitive::Float,
            Repr::FixedBits(bits) => Primitive::FixedBits(bits, named),
            Repr::Bits if named => {
                let (least, most) = shape.sizes(node);
                Primitive::NamedBits(least, most)
            }
            Repr::Bits => Primitive::BitString,
            Repr::FixedOctets(octets) => Primitive::FixedOctets(octets),
            Repr::Octets => Primitive::OctetString,
            Repr::Oid => Primitive::ObjectIdentifier,
            Repr::RelativeOid => Primitive::RelativeOid,
            Repr::Any => Primitive::Any,
            Repr::Text => match (kind, kind.time_type()) {
                (Kind::UtcTime, _) => Primitive::UtcTime,
                (Kind::GeneralizedTime, _) => Primitive::GeneralizedTime,
                (_, Some(time)) => Primitive::Time(time),
                _ => Primitive::Text(kind.string_kind().unwrap_or(StringKind::Utf8)),
            },
            Repr::Contained(inside) => {
                Primitive::Contained(kind == Kind::BitString, Box::new(self.standing(inside, keys.to_vec())))
            }
            Repr::Enumerated => Primitive::Enumerated,
            Repr::Struct => Primitive::Struct,
            Repr::Choice | Repr::Table(_) => Primitive::Untagged,
            Repr::List => Primitive::List,
        }
    }

    /// Returns how an element is known to be a value.
    fn begins(&self, slot: &Slot, node: NodeId) -> Begins {
        match self.tags(slot).first() {
            Some(tag) => Begins::Tag(*tag),
            None if self.source.types.repr(node) == Repr::Choice => {
                Begins::Choice(self.source.types.same(node))
            }
            None => Begins::Any,
        }
    }

    /// Whether a component without a tag takes unknown elements: an extensible CHOICE, or one with such inside.
    fn takes_unknown(&self, member: &Member<'_>) -> bool {
        self.slot(member.field).flags & flags::WILD != 0 && matches!(member.begins, Begins::Choice(_))
    }

    fn members(&self, parent: NodeId) -> Vec<Member<'m>> {
        let code = &self.program.nodes[parent.index()];
        let first = self.source.types.shape.node(parent).first;
        let member = |(field, known): (FieldId, &tercet_plan::shape::Field)| {
            let slot = self.slot(field);
            Member {
                field,
                name: self.source.name(field),
                presence: self.source.presence(field),
                value: self.value(&slot, known.node, self.source.keys(parent, known.node)),
                begins: self.begins(&slot, known.node),
                next: Next::Begins,
                selects: self.source.types.has_keys(parent, field),
                least_tag: self.program.least_tag(code, field.0 - first, UNTAGGED),
            }
        };
        self.source.fields(parent).map(member).collect()
    }

    fn structure(&self, node: NodeId) -> Struct<'m> {
        let (types, shape) = (self.source.types, self.source.types.shape);
        let known = shape.node(node);
        let is_set = known.kind == Kind::Set;
        let second_root =
            (known.extensible && known.second_root < known.count).then_some(known.second_root as usize);
        let mut members = self.members(node);
        let last = members.len().wrapping_sub(1);
        for (number, member) in members.iter_mut().enumerate() {
            if self.takes_unknown(member) {
                member.next = if number == last { Next::More } else { Next::NotBehind };
            }
        }
        let unknown = match (known.extensible, types.keeps_additions(node)) {
            (_, true) => Unknown::Keep,
            (true, false) => Unknown::Skip,
            (false, false) => Unknown::Refuse,
        };
        let by_tag = is_set || is_sparse(&members);
        let order =
            if by_tag { Order::ByTag(self.attempts(&members, is_set, unknown)) } else { Order::InOrder };
        // Elements of later versions may be left where the additions are the last.
        let end = match (unknown, second_root) {
            _ if by_tag => End::Read,
            (Unknown::Keep, None) => End::Read,
            (Unknown::Skip, None) => End::Skip,
            _ => End::Nothing,
        };
        let mut written: Vec<usize> = (0..members.len()).collect();
        if is_set {
            // In the order of the tags, which every rule allows, and for untagged CHOICEs is that of CER (9.3).
            written.sort_by_key(|number| members[*number].least_tag);
        }
        Struct {
            set: is_set,
            counted: types.is_counted(node),
            sort: if is_set { self.sort(&members, unknown) } else { Sort::Never },
            places: !by_tag && members.iter().any(|member| member.begins != Begins::Any),
            members,
            order,
            unknown,
            second_root,
            end,
            written,
        }
    }

    /// Returns in which order components are tried, where they are read by tag.
    fn attempts(&self, members: &[Member<'m>], is_set: bool, unknown: Unknown) -> Vec<Attempt> {
        let mut attempts = Vec::new();
        let mut least = 0;
        for (number, member) in members.iter().enumerate() {
            let check = match member.begins {
                Begins::Choice(_) if is_set => Check::SetByLeastTag,
                _ if is_set => Check::Set,
                _ => Check::Sequence(least),
            };
            let guard = match member.begins {
                _ if is_set && self.takes_unknown(member) => Guard::Absent,
                Begins::Tag(tag) if !is_set && unknown != Unknown::Refuse && tag >> 30 == 0 => {
                    Guard::NotPassed
                }
                _ => Guard::Nothing,
            };
            attempts.push(Attempt { member: number, guard, check });
            if member.presence == Presence::Required {
                least = number as u32 + 1;
            }
        }
        // What takes unknown elements of a SET comes behind those that are known.
        attempts.sort_by_key(|attempt| attempt.guard == Guard::Absent);
        attempts
    }

    /// Returns when the elements of a SET are sorted once they are written.
    fn sort(&self, members: &[Member<'m>], unknown: Unknown) -> Sort {
        let untagged: Vec<&Member<'m>> =
            members.iter().filter(|member| self.slot(member.field).tag == UNTAGGED).collect();
        match unknown {
            _ if untagged.iter().any(|member| member.begins == Begins::Any) => Sort::Canonical,
            Unknown::Keep if untagged.is_empty() => Sort::Unknown,
            Unknown::Keep => Sort::DerOrUnknown,
            _ if untagged.is_empty() => Sort::Never,
            _ => Sort::Der,
        }
    }

    fn choice(&self, node: NodeId) -> Choice<'m> {
        let alternatives = self.members(node);
        // An alternative that takes any element is tried behind those that have a tag.
        let is_any = |number: &usize| alternatives[*number].begins == Begins::Any;
        let (any, mut attempts): (Vec<usize>, Vec<usize>) = (0..alternatives.len()).partition(is_any);
        attempts.extend(any.first());
        let extensible = self.source.types.shape.node(node).extensible;
        let otherwise = match (any.is_empty(), extensible) {
            (false, _) => Otherwise::Impossible,
            (true, true) => Otherwise::Keep,
            (true, false) => Otherwise::Refuse,
        };
        let counted = self.source.types.is_counted(node);
        Choice { counted, alternatives, attempts, otherwise, extensible }
    }
}

/// Whether so many components of a SEQUENCE may be absent that to ask for each would take long, and all are known by tags.
fn is_sparse(members: &[Member<'_>]) -> bool {
    let tags: Option<Vec<u32>> = members.iter().map(outermost).collect();
    let Some(mut tags) = tags else { return false };
    tags.sort_unstable();
    tags.dedup();
    let optional = members.iter().filter(|member| member.presence == Presence::Optional).count();
    tags.len() == members.len() && members.len() >= MANY && optional * 3 >= members.len() * 2
}

/// Returns the tag that a component has itself.
fn outermost(member: &Member<'_>) -> Option<u32> {
    match member.begins {
        Begins::Tag(tag) => Some(tag),
        _ => None,
    }
}
