//! The trees of PER, made from the program of a plan.

use super::tables::Builder as Tables;
use super::{
    Addition, Body, Choice, Code, Enumerated, Integer, IntegerForm, List, MachineInteger, Member, Members,
    Primitive, Struct, TimeForm, Value,
};
use crate::code::{Key, Source};
use crate::types::Repr;
use tercet_plan::per::{self, Code as Plan, Program, Size};
use tercet_plan::{Kind, NodeId};
use tercet_runtime::types::TimeType;

impl<'m> Code<'m> {
    /// Makes the trees of all types, and of the roots that have codecs.
    pub(crate) fn new(source: Source<'_, 'm>, program: &Program, roots: &[NodeId]) -> Self {
        let mut builder = Builder { source, program, tables: Tables::new(source, program) };
        let mut bodies = Vec::new();
        for node in source.types.nodes() {
            if source.types.is_tabled(node) {
                builder.tables.add(node);
            } else if let Some(body) = builder.body(node) {
                bodies.push((node, body));
            }
        }
        let root = |node: &NodeId| builder.value(*node, source.no_keys(*node));
        Self {
            aligned: program.aligned,
            alphabets: program.alphabets.clone(),
            times: times(source, program),
            bodies,
            roots: roots.iter().map(root).collect(),
            tables: builder.tables.finish(),
        }
    }
}

struct Builder<'p, 't, 'm> {
    source: Source<'t, 'm>,
    program: &'p Program,
    tables: Tables<'p, 't, 'm>,
}

impl<'m> Builder<'_, '_, 'm> {
    fn body(&mut self, node: NodeId) -> Option<Body<'m>> {
        let (source, program) = (self.source, self.program);
        let counted = source.types.is_counted(node);
        Some(match (source.types.repr(node), code(source, program, node)) {
            (Repr::Struct, Plan::Sequence(code)) => {
                Body::Struct(self.structure(node, &program.sequences[code as usize]))
            }
            (Repr::Choice, Plan::Choice(code)) => {
                Body::Choice(self.choice(node, &program.choices[code as usize]))
            }
            (Repr::Enumerated, Plan::Enumerated(code)) => {
                let known = &program.enumerations[code as usize];
                let mut numbered = (0..).zip(&known.root);
                Body::Enumerated(Enumerated {
                    whole: known.whole,
                    extensible: known.extensible,
                    root: known.root.to_vec(),
                    additions: known.additions.to_vec(),
                    is_numbered: !known.extensible && numbered.all(|(number, value)| number == *value),
                })
            }
            (Repr::Table(table), _) => {
                // A row is a value that nothing is around.
                Body::Table(source.table(node, table, |row| self.value(row, source.no_keys(row))))
            }
            (Repr::Struct | Repr::Choice | Repr::Enumerated, _) => Body::Unsupported(counted),
            (Repr::List, Plan::SequenceOf(size, _)) => {
                let element = source.types.element(node);
                Body::List(List {
                    counted,
                    set: source.types.shape.node(node).kind == Kind::SetOf,
                    size,
                    element: self.value(element, source.keys_of_element(node, element)),
                })
            }
            _ => return None,
        })
    }

    fn value(&mut self, node: NodeId, keys: Vec<Key>) -> Value {
        let node = self.source.types.same(node);
        let primitive = if self.source.types.is_tabled(node) {
            Primitive::Tabled(self.tables.form(node))
        } else {
            self.primitive(node, &keys)
        };
        Value { node, primitive, keys }
    }

    fn primitive(&mut self, node: NodeId, keys: &[Key]) -> Primitive {
        let kind = self.source.types.shape.node(node).kind;
        match (self.source.types.repr(node), code(self.source, self.program, node)) {
            (Repr::Boolean, _) => Primitive::Boolean,
            (Repr::Null, _) => Primitive::Null,
            (Repr::Integer { signed, bits }, Plan::Integer(integer)) => {
                let fits = fits(integer.form, signed, bits);
                let integer = integer_of(self.program, integer);
                Primitive::Integer(MachineInteger { integer, signed, bits, fits })
            }
            (Repr::Big, Plan::Integer(integer)) => Primitive::BigInteger(integer_of(self.program, integer)),
            (Repr::Real, _) => Primitive::Real,
            (Repr::Float, _) => Primitive::Float,
            (Repr::FixedBits(bits), Plan::BitString(size, named)) => {
                if is_always(size, bits) {
                    Primitive::FixedBits(bits)
                } else {
                    Primitive::SizedBits(bits, size, named)
                }
            }
            (Repr::Bits, Plan::BitString(size, named)) => Primitive::BitString(size, named),
            (Repr::FixedOctets(count), Plan::OctetString(size)) => {
                if is_always(size, count) {
                    Primitive::FixedOctets(count)
                } else {
                    Primitive::SizedOctets(size)
                }
            }
            (Repr::Octets, Plan::OctetString(size)) => Primitive::OctetString(size),
            (Repr::Oid, _) => Primitive::ObjectIdentifier,
            (Repr::RelativeOid, _) => Primitive::RelativeOid,
            (Repr::Any, _) => Primitive::Any,
            (Repr::Text, Plan::Characters(size, alphabet)) => match kind {
                Kind::UtcTime => Primitive::UtcTime(size, alphabet),
                Kind::GeneralizedTime => Primitive::GeneralizedTime(size, alphabet),
                _ => Primitive::Characters(size, alphabet),
            },
            (Repr::Text, Plan::Time(index)) => {
                Primitive::Time(first_time(self.source, self.program, node, index))
            }
            (Repr::Text, Plan::Contents) => {
                kind.string_kind().map_or(Primitive::Unsupported, Primitive::Text)
            }
            (Repr::Contained(inside), Plan::OctetsContaining(size) | Plan::BitsContaining(size, _)) => {
                let inside = Box::new(self.value(inside, keys.to_vec()));
                Primitive::Contained(kind == Kind::BitString, size, inside)
            }
            (Repr::Enumerated | Repr::Struct | Repr::Choice | Repr::Table(_), _) => Primitive::Declared,
            (Repr::List, _) => Primitive::List,
            _ => Primitive::Unsupported,
        }
    }

    fn member(&mut self, parent: NodeId, number: u32, optional: bool) -> Member<'m> {
        let node = self.source.types.shape.field(self.source.field(parent, number)).node;
        let value = self.value(node, self.source.keys(parent, node));
        self.source.member(parent, number, optional, value)
    }

    fn members(&mut self, parent: NodeId, optional: u32, members: &[per::Member]) -> Members<'m> {
        let member = |member: &per::Member| self.member(parent, member.field, member.optional);
        Members { optional, members: members.iter().map(member).collect() }
    }

    fn structure(&mut self, node: NodeId, sequence: &per::Sequence) -> Struct<'m> {
        let root = self.members(node, sequence.optional, &sequence.root);
        let addition = |addition: &per::Addition| match addition {
            per::Addition::Single(field) => Addition::Single(self.member(node, *field, true)),
            per::Addition::Group { optional, members, .. } => {
                Addition::Group(self.members(node, *optional, members))
            }
        };
        Struct {
            additions: sequence.additions.iter().map(addition).collect(),
            counted: self.source.types.is_counted(node),
            extensible: sequence.extensible,
            root,
            keeps: self.source.types.keeps_additions(node),
        }
    }

    fn choice(&mut self, node: NodeId, choice: &per::Choice) -> Choice<'m> {
        // The additions come first in codecs, and their tables are in this order.
        let [additions, root] = [&choice.additions, &choice.root]
            .map(|all| all.iter().map(|number| self.member(node, *number, false)).collect());
        Choice {
            counted: self.source.types.is_counted(node),
            whole: choice.whole,
            extensible: choice.extensible,
            root,
            additions,
        }
    }
}

/// Returns the code of a type.
pub(super) fn code(source: Source<'_, '_>, program: &Program, node: NodeId) -> Plan {
    program.nodes[source.types.same(node).index()]
}

/// Makes an INTEGER of that of a program, whose large bounds are in a list.
pub(super) fn integer_of(program: &Program, integer: per::Integer) -> Integer {
    let form = match integer.form {
        per::IntegerForm::Constrained { lo, span, whole } => IntegerForm::Constrained { lo, span, whole },
        per::IntegerForm::SemiConstrained(lo) => IntegerForm::SemiConstrained(lo),
        per::IntegerForm::Unconstrained => IntegerForm::Unconstrained,
        per::IntegerForm::Large(index) => IntegerForm::Large(program.large[index as usize].clone()),
    };
    Integer { extensible: integer.extensible, form }
}

/// Whether all numbers of a constrained root fit a machine's type: it may be narrower than what the rules see.
fn fits(form: per::IntegerForm, signed: bool, bits: u8) -> bool {
    let per::IntegerForm::Constrained { lo, span, .. } = form else { return false };
    let (least, most) = if signed {
        (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1)
    } else {
        (0, (1_i128 << bits) - 1)
    };
    i128::from(lo) >= least && i128::from(lo) + i128::from(span) <= most
}

/// Whether all values have a size, and nothing is written for it.
fn is_always(size: Size, count: u32) -> bool {
    size.is_fixed() && size.lo == count && !size.extensible
}

/// Returns the first type that has the form of time of another.
pub(super) fn first_time(source: Source<'_, '_>, program: &Program, node: NodeId, index: u32) -> NodeId {
    let kind = |node: NodeId| source.types.shape.node(node).kind;
    let form = |index: u32| &program.times[index as usize];
    let is_same = |other: &NodeId| match code(source, program, *other) {
        Plan::Time(at) => kind(*other) == kind(node) && form(at) == form(index),
        _ => false,
    };
    source.types.nodes().find(is_same).unwrap_or(node)
}

/// Returns the forms of times of all types, each by the first type that has it.
fn times(source: Source<'_, '_>, program: &Program) -> Vec<TimeForm> {
    let form = |node: NodeId| match code(source, program, node) {
        Plan::Time(index) if first_time(source, program, node, index) == node => Some(TimeForm {
            node,
            kind: source.types.shape.node(node).kind.time_type().unwrap_or(TimeType::Time),
            parts: program.times[index as usize].parts.clone(),
        }),
        _ => None,
    };
    source.types.nodes().filter_map(form).collect()
}
