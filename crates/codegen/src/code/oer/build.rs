//! The trees of OER, made from the program of a plan.

use super::{
    Alternative, Body, Choice, Code, List, MachineInteger, Member, Members, Otherwise, Primitive, Struct,
    Tag, Value,
};
use crate::code::sequence::Addition;
use crate::code::{Key, Source};
use crate::types::Repr;
use tercet_plan::oer::{self, Code as Plan, Integer, Program, Time, UNTAGGED};
use tercet_plan::{Kind, NodeId};
use tercet_runtime::types::TimeType;

impl<'m> Code<'m> {
    /// Makes the trees of all types, and of the roots that have codecs.
    pub(crate) fn new(source: Source<'_, 'm>, program: &Program, roots: &[NodeId]) -> Self {
        let builder = Builder { source, program };
        let bodies = source.types.nodes().filter_map(|node| Some((node, builder.body(node)?)));
        let root = |node: &NodeId| builder.value(*node, source.no_keys(*node));
        Self { times: builder.times(), bodies: bodies.collect(), roots: roots.iter().map(root).collect() }
    }
}

struct Builder<'p, 't, 'm> {
    source: Source<'t, 'm>,
    program: &'p Program,
}

impl<'m> Builder<'_, '_, 'm> {
    fn code(&self, node: NodeId) -> Plan {
        self.program.nodes[self.source.types.same(node).index()]
    }

    fn body(&self, node: NodeId) -> Option<Body<'m>> {
        let types = self.source.types;
        Some(match (types.repr(node), self.code(node)) {
            (Repr::Struct, Plan::Sequence(code)) => {
                Body::Struct(self.structure(node, &self.program.sequences[code as usize]))
            }
            (Repr::Choice, Plan::Choice(code)) => {
                Body::Choice(self.choice(node, &self.program.choices[code as usize]))
            }
            (Repr::Table(table), _) => {
                // A row is a value that nothing is around.
                let value = |row| self.value(row, self.source.no_keys(row));
                Body::Table(self.source.table(node, table, value))
            }
            (Repr::Struct | Repr::Choice, _) => Body::Unsupported(types.is_counted(node)),
            (Repr::List, _) => {
                let element = types.element(node);
                Body::List(List {
                    counted: types.is_counted(node),
                    set: types.shape.node(node).kind == Kind::SetOf,
                    element: self.value(element, self.source.keys_of_element(node, element)),
                })
            }
            _ => return None,
        })
    }

    fn value(&self, node: NodeId, keys: Vec<Key>) -> Value {
        let node = self.source.types.same(node);
        Value { node, primitive: self.primitive(node, &keys), keys }
    }

    fn primitive(&self, node: NodeId, keys: &[Key]) -> Primitive {
        let shape = self.source.types.shape;
        let kind = shape.node(node).kind;
        match (self.source.types.repr(node), self.code(node)) {
            (Repr::Boolean, _) => Primitive::Boolean,
            (Repr::Null, _) => Primitive::Null,
            (Repr::Integer { signed, bits }, Plan::Integer(form)) => {
                let fits = match form {
                    Integer::Unsigned(octets) => !signed && octets * 8 <= bits,
                    Integer::Signed(octets) => signed && octets * 8 <= bits,
                    Integer::UnsignedVariable | Integer::SignedVariable => false,
                };
                Primitive::Integer(MachineInteger { form, signed, bits, fits })
            }
            (Repr::Big, Plan::Integer(form)) => Primitive::BigInteger(form),
            (Repr::Real, Plan::Real(form)) => Primitive::Real(form),
            (Repr::Float, Plan::Real(form)) => Primitive::Float(form),
            (Repr::FixedBits(bits), Plan::BitString(size, _)) => Primitive::FixedBits(bits, size),
            (Repr::Bits, Plan::BitString(size, true)) => {
                let (least, most) = shape.sizes(node);
                Primitive::NamedBits(size, least, most)
            }
            (Repr::Bits, Plan::BitString(size, false)) => Primitive::BitString(size),
            (Repr::FixedOctets(count), Plan::OctetString(size)) => Primitive::FixedOctets(count, size),
            (Repr::Octets, Plan::OctetString(size)) => Primitive::OctetString(size),
            (Repr::Oid, _) => Primitive::ObjectIdentifier,
            (Repr::RelativeOid, _) => Primitive::RelativeOid,
            (Repr::Any, _) => Primitive::Any,
            (Repr::Text, Plan::Contents(size)) => match (kind, kind.string_kind(), kind.time_type()) {
                (Kind::UtcTime, ..) => Primitive::UtcTime(size),
                (Kind::GeneralizedTime, ..) => Primitive::GeneralizedTime(size),
                (_, Some(kind), _) => Primitive::Text(kind, size),
                (_, _, Some(kind)) => Primitive::Time(kind, size),
                _ => Primitive::Unsupported,
            },
            (Repr::Text, Plan::Time(index)) => {
                let (form, kind) = (self.first_time(index), kind.time_type().unwrap_or(TimeType::Time));
                match self.program.times[form] {
                    Time::Point(_) => Primitive::Point(kind, form),
                    Time::Duration => Primitive::Duration(kind),
                }
            }
            (Repr::Contained(inside), Plan::OctetsContaining(size) | Plan::BitsContaining(size, _)) => {
                let inside = Box::new(self.value(inside, keys.to_vec()));
                Primitive::Contained(kind == Kind::BitString, size, inside)
            }
            (Repr::Enumerated, _) => Primitive::Enumerated,
            (Repr::Struct | Repr::Choice | Repr::Table(_), _) => Primitive::Declared,
            (Repr::List, _) => Primitive::List,
            _ => Primitive::Unsupported,
        }
    }

    /// Returns the first of the forms of times that are equal.
    fn first_time(&self, index: u32) -> usize {
        let times = &self.program.times;
        times.iter().position(|time| *time == times[index as usize]).unwrap_or(index as usize)
    }

    /// Returns the forms of points in time that values have, in the order of the types.
    fn times(&self) -> Vec<(usize, Vec<oer::TimeStep>)> {
        let mut times: Vec<(usize, Vec<oer::TimeStep>)> = Vec::new();
        for node in self.source.types.nodes() {
            let Plan::Time(index) = self.code(node) else { continue };
            let first = self.first_time(index);
            if let Time::Point(steps) = &self.program.times[first]
                && !times.iter().any(|(known, _)| *known == first)
            {
                times.push((first, steps.to_vec()));
            }
        }
        times
    }

    fn member(&self, parent: NodeId, number: u32, optional: bool) -> Member<'m> {
        let node = self.source.types.shape.field(self.source.field(parent, number)).node;
        let value = self.value(node, self.source.keys(parent, node));
        self.source.member(parent, number, optional, value)
    }

    fn members(&self, parent: NodeId, optional: u32, members: &[oer::Member]) -> Members<'m> {
        let member = |member: &oer::Member| self.member(parent, member.field, member.optional);
        Members { optional, members: members.iter().map(member).collect() }
    }

    fn structure(&self, node: NodeId, sequence: &oer::Sequence) -> Struct<'m> {
        let addition = |addition: &oer::Addition| match addition {
            oer::Addition::Single(field) => Addition::Single(self.member(node, *field, true)),
            oer::Addition::Group { optional, members } => {
                Addition::Group(self.members(node, *optional, members))
            }
        };
        Struct {
            counted: self.source.types.is_counted(node),
            extensible: sequence.extensible,
            root: self.members(node, sequence.optional, &sequence.root),
            additions: sequence.additions.iter().map(addition).collect(),
            keeps: self.source.types.keeps_additions(node),
        }
    }

    fn choice(&self, node: NodeId, choice: &oer::Choice) -> Choice<'m> {
        let types = self.source.types;
        let alternative = |(number, known): (u32, &oer::Alternative)| {
            let member = self.member(node, number, false);
            let tags = choice.tags.iter().filter(|(_, field)| *field == number);
            let tag = match known.tag {
                UNTAGGED if types.repr(member.value.node) == Repr::Choice => Tag::Inside,
                UNTAGGED => Tag::Unknown,
                tag => Tag::Own(tag),
            };
            Alternative { tags: tags.map(|(tag, _)| *tag).collect(), tag, addition: known.addition, member }
        };
        let alternatives: Vec<_> = (0..).zip(&choice.alternatives).map(alternative).collect();
        let extensible = types.shape.node(node).extensible;
        let is_extensible = |alternative: &Alternative<'_>| {
            let inside = types.shape.field(alternative.member.field).node;
            !matches!(alternative.tag, Tag::Own(_)) && types.shape.node(inside).extensible
        };
        let otherwise = match alternatives.iter().position(is_extensible) {
            _ if extensible => Otherwise::Keep,
            // An untagged CHOICE inside is the one that knows more.
            Some(number) if choice.extensible && !alternatives[number].addition => Otherwise::Inside(number),
            _ => Otherwise::Refuse,
        };
        Choice { counted: types.is_counted(node), alternatives, otherwise, extensible }
    }
}
