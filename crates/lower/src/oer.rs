//! Widths, fixed sizes and tags of OER (X.696), from the OER-visible constraints.

mod time;

use crate::ber::tag_bits;
use crate::order::TagOrder;
use crate::shape::Lowered;
use num_bigint::BigInt;
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;
use tercet_model::constraints::{Effective, IntegerRange, RealRange, Visibility};
use tercet_model::ir::{Model, TypeId, TypeKind};
use tercet_plan::oer::{
    Addition, Alternative, Choice, Code, Integer, Member, Program, Real, Sequence, Size, UNTAGGED, VARIABLE,
};
use tercet_plan::shape::{Place, Presence, Shape};
use tercet_plan::{FieldId, Kind, NodeId};

/// Makes the code for basic or canonical OER.
pub(crate) fn program(model: &Model, lowered: &Lowered<'_>, canonical: bool) -> Program {
    let mut builder = Builder {
        shape: &lowered.shape,
        model,
        order: TagOrder::new(&lowered.shape, &lowered.sources, model),
        program: Program { canonical, ..Program::default() },
    };
    for (index, ty) in lowered.types.iter().enumerate() {
        if let Some(constant) = lowered.predefined.get(&NodeId(index as u32)) {
            builder.program.nodes.push(Code::Predefined(*constant));
            continue;
        }
        let effective = ty.map(|ty| model.effective(ty, Visibility::Oer)).unwrap_or_default();
        let named = ty.is_some_and(
            |ty| matches!(&model.ty(model.base(ty)).kind, TypeKind::BitString(n) if !n.is_empty()),
        );
        let code = builder.node(NodeId(index as u32), *ty, &effective, named);
        builder.program.nodes.push(code);
    }
    builder.scopes(lowered);
    builder.program
}

struct Builder<'a> {
    shape: &'a Shape,
    model: &'a Model,
    order: TagOrder<'a>,
    program: Program,
}

/// CHOICEs in CHOICEs that are followed, and tags collected for one: no sane type has as many.
const NESTING: u32 = 100;
const TAGS: usize = 20_000;

impl Builder<'_> {
    fn node(&mut self, id: NodeId, ty: Option<TypeId>, effective: &Effective, named: bool) -> Code {
        let node = self.shape.node(id);
        let size = fixed(effective, 1);
        match node.kind {
            Kind::Boolean => Code::Boolean,
            Kind::Null => Code::Null,
            Kind::Integer => Code::Integer(integer(effective.integer.as_ref())),
            Kind::Enumerated => Code::Enumerated,
            Kind::Real => Code::Real(real(effective.real.as_ref())),
            Kind::BitString if node.containing.is_some() => Code::BitsContaining(size, named),
            Kind::BitString => Code::BitString(size, named),
            Kind::OctetString if node.containing.is_some() => Code::OctetsContaining(size),
            Kind::OctetString => Code::OctetString(size),
            Kind::NumericString | Kind::PrintableString | Kind::Ia5String | Kind::VisibleString => {
                Code::Contents(size)
            }
            Kind::BmpString => Code::Contents(fixed(effective, 2)),
            Kind::UniversalString => Code::Contents(fixed(effective, 4)),
            // Their characters have no fixed number of octets (§27.1), or the types no visible constraints.
            Kind::ObjectIdentifier
            | Kind::RelativeOid
            | Kind::OidIri
            | Kind::RelativeOidIri
            | Kind::Utf8String
            | Kind::TeletexString
            | Kind::VideotexString
            | Kind::GraphicString
            | Kind::GeneralString
            | Kind::ObjectDescriptor
            | Kind::UtcTime
            | Kind::GeneralizedTime => Code::Contents(VARIABLE),
            Kind::Time | Kind::Date | Kind::TimeOfDay | Kind::DateTime | Kind::Duration => {
                match time::of(self.model, node.kind, ty) {
                    Some(time) => {
                        self.program.times.push(time);
                        Code::Time(self.program.times.len() as u32 - 1)
                    }
                    None => Code::Contents(VARIABLE),
                }
            }
            Kind::Sequence | Kind::Set => self.sequence(id),
            Kind::SequenceOf | Kind::SetOf => Code::SequenceOf,
            Kind::Choice => self.choice(id),
            Kind::Open => Code::Open,
        }
    }

    /// The registers that hold for one value of a type each.
    fn scopes(&mut self, lowered: &Lowered<'_>) {
        for (register, scope) in (0_u16..).zip(&lowered.scopes) {
            if let Some((_, node)) = lowered.around.get(*scope)
                && let Some(Code::Sequence(code)) = self.program.nodes.get(node.index())
                && let Some(sequence) = self.program.sequences.get_mut(*code as usize)
            {
                let mut all = sequence.scopes.to_vec();
                all.push(register);
                sequence.scopes = all.into();
            }
        }
    }

    // SEQUENCE and SET (§16, §18)

    fn sequence(&mut self, id: NodeId) -> Code {
        let node = self.shape.node(id);
        let mut root: Vec<Member> = Vec::new();
        // By number of the addition: whether it is a version bracket, and what is in it.
        let mut additions: BTreeMap<u32, (bool, Vec<Member>)> = BTreeMap::new();
        for (number, (_, field)) in (0_u32..).zip(self.shape.fields_of(id)) {
            let member = Member { field: number, optional: field.presence != Presence::Mandatory };
            match field.place {
                Place::Root => root.push(member),
                Place::Addition(at) => additions.entry(at).or_default().1.push(member),
                Place::Group(at) => {
                    let group = additions.entry(at).or_default();
                    group.0 = true;
                    group.1.push(member);
                }
            }
        }
        if node.kind == Kind::Set {
            root.sort_by_cached_key(|member| self.order.of(FieldId(node.first + member.field)));
        }
        let additions = additions.into_values().map(|(group, members)| match members.as_slice() {
            [member] if !group => Addition::Single(member.field),
            _ => Addition::Group { optional: presence_bits(&members), members: members.into() },
        });
        let additions = additions.collect();
        let keys = self.shape.fields_of(id).filter_map(|(_, field)| field.key).collect();
        let extensible = node.extensible;
        let optional = presence_bits(&root);
        let (root, scopes) = (root.into(), Box::default());
        self.program.sequences.push(Sequence { extensible, optional, root, additions, keys, scopes });
        Code::Sequence(self.program.sequences.len() as u32 - 1)
    }

    // CHOICE (§20)

    fn choice(&mut self, id: NodeId) -> Code {
        let mut tags: Vec<(u32, u32)> = Vec::new();
        let mut alternatives = Vec::new();
        let mut extensible = self.shape.node(id).extensible;
        for (number, (field_id, field)) in (0_u32..).zip(self.shape.fields_of(id)) {
            let tag = self.order.outermost(field_id).map_or(UNTAGGED, tag_bits);
            if tag == UNTAGGED {
                let mut inner = Vec::new();
                extensible |= self.inner(field.node, &mut inner, &mut FxHashSet::default(), 0);
                tags.extend(inner.into_iter().map(|tag| (tag, number)));
            } else {
                tags.push((tag, number));
            }
            alternatives.push(Alternative { tag, addition: field.place != Place::Root });
        }
        // Where a specification has a tag twice, the first alternative has it.
        tags.sort();
        tags.dedup_by_key(|entry| entry.0);
        let alternatives = alternatives.into();
        self.program.choices.push(Choice { extensible, alternatives, tags: tags.into() });
        Code::Choice(self.program.choices.len() as u32 - 1)
    }

    /// The tags that a value of an untagged CHOICE begins with; whether there may be others.
    fn inner(&self, id: NodeId, tags: &mut Vec<u32>, met: &mut FxHashSet<NodeId>, depth: u32) -> bool {
        // What comes back to itself without a tag has no values.
        if depth > NESTING || self.shape.node(id).kind != Kind::Choice || !met.insert(id) {
            return false;
        }
        let mut extensible = self.shape.node(id).extensible;
        for (field_id, field) in self.shape.fields_of(id) {
            match self.order.outermost(field_id) {
                _ if tags.len() > TAGS => break,
                Some(tag) => tags.push(tag_bits(tag)),
                None => extensible |= self.inner(field.node, tags, met, depth + 1),
            }
        }
        extensible
    }
}

fn presence_bits(members: &[Member]) -> u32 {
    members.iter().filter(|member| member.optional).count() as u32
}

/// The size in octets (or bits) where there is only one, `unit` octets for each of what is counted (§13.1, §14.1,
/// §27.2).
fn fixed(effective: &Effective, unit: u32) -> Size {
    let only =
        effective.size.filter(|size| size.hi == Some(size.lo)).and_then(|size| u32::try_from(size.lo).ok());
    only.and_then(|size| size.checked_mul(unit)).unwrap_or(VARIABLE)
}

/// §10.2 to §10.4.
fn integer(range: Option<&IntegerRange>) -> Integer {
    let Some(IntegerRange { lo: Some(lo), hi, .. }) = range else { return Integer::SignedVariable };
    let widths = [1, 2, 4, 8];
    if *lo >= BigInt::ZERO {
        let holds = |octets: &u8| hi.as_ref().is_some_and(|hi| hi.bits() <= u64::from(*octets) * 8);
        return widths.into_iter().find(holds).map_or(Integer::UnsignedVariable, Integer::Unsigned);
    }
    let holds = |octets: &u8| {
        let limit = BigInt::from(1) << (u32::from(*octets) * 8 - 1);
        hi.as_ref().is_some_and(|hi| *hi < limit && *lo >= -limit)
    };
    widths.into_iter().find(holds).map_or(Integer::SignedVariable, Integer::Signed)
}

/// §12.2, §12.3: mantissa and exponent fit a format of IEEE 754, and the base is 2.
fn real(range: Option<&RealRange>) -> Real {
    let Some(range) = range.filter(|range| range.base == Some(2)) else { return Real::Contents };
    let within = |range: &IntegerRange, least: i64, most: i64| match (&range.lo, &range.hi) {
        (Some(lo), Some(hi)) => !range.extensible && *lo >= BigInt::from(least) && *hi <= BigInt::from(most),
        _ => false,
    };
    let fits = |bits: u32, least: i64, most: i64| {
        let mantissa = (1 << bits) - 1;
        within(&range.mantissa, -mantissa, mantissa) && within(&range.exponent, least, most)
    };
    if fits(24, -149, 104) {
        Real::Binary32
    } else if fits(53, -1074, 971) {
        Real::Binary64
    } else {
        Real::Contents
    }
}
