//! Constraints of the model → restrictions of the shape, for validation: nothing here is about an encoding.

use crate::constants;
use crate::shape::{Lowered, Source};
use crate::tables;
use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use tercet_model::constraints::{CharSet, Edge, IntegerSet, Visibility, alphabet_of};
use tercet_model::ir::{
    Bound, ClassFieldKind, Components as Parts, Constraint, ConstraintKind, Element as Written, ElementSet,
    Model, PresenceConstraint, Setting, TypeId, TypeKind, Value,
};
use tercet_plan::constraint::{
    Component, Components, Constraints, Element, Number, Presence, Restriction, RestrictionId, ValueTable,
};
use tercet_plan::shape::Constant;
use tercet_runtime::types::Oid;

/// Gives the shape its restrictions; nodes that single values bring in are filled too.
pub(crate) fn lower(lowered: &mut Lowered<'_>, model: &Model, roots: &[TypeId]) {
    let mut lowering = Lowering { model, list: Vec::new(), known: FxHashMap::default() };
    let mut found = Constraints::default();
    // What a value makes grow stands behind what there was.
    while found.nodes.len() < lowered.shape.nodes.len() || found.fields.len() < lowered.shape.fields.len() {
        while let Some(&ty) = lowered.types.get(found.nodes.len()) {
            let ids = ty.map_or_else(Box::default, |ty| lowering.chain(lowered, ty, true));
            found.nodes.push(ids);
        }
        while let Some(source) = lowered.sources.get(found.fields.len()) {
            let ids = match source {
                Source::Type(ty) => {
                    let ty = *ty;
                    lowering.edge(lowered, ty)
                }
                Source::Tags(_) => Box::default(),
            };
            found.fields.push(ids);
        }
        lowered.fill();
    }
    found.roots = roots.iter().map(|root| lowering.edge(lowered, *root)).collect();
    for types in lowered.row_types.clone() {
        found.rows.push(types.into_iter().map(|ty| lowering.edge(lowered, ty)).collect());
    }
    for (node, inside) in lowered.contained.clone() {
        found.contents.push((node, lowering.edge(lowered, inside)));
    }
    found.contents.sort_unstable_by_key(|(node, _)| *node);
    for governed in std::mem::take(&mut lowered.governed) {
        if let Some((table, element)) = object_values(lowered, model, &governed, found.sets.len() as u32) {
            found.sets.push(table);
            lowering.list.push(Restriction {
                root: element,
                extensible: false,
                additions: None,
                span: table_span(model, governed.ty),
            });
            let id = RestrictionId(lowering.list.len() as u32 - 1);
            if let Some(of_field) = found.fields.get_mut(governed.field) {
                let mut ids = of_field.to_vec();
                ids.push(id);
                *of_field = ids.into();
            }
        }
    }
    let scopes = (0_u16..).zip(&lowered.scopes);
    found.scopes = scopes.filter_map(|(register, at)| Some((lowered.around.get(*at)?.1, register))).collect();
    found.scopes.sort_unstable();
    found.list = lowering.list;
    lowered.shape.restrictions = found;
}

/// A component that takes a value from an object set: its field, its type, what is around it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Governed {
    pub(crate) field: usize,
    pub(crate) ty: TypeId,
    pub(crate) around: Option<usize>,
}

struct Lowering<'m> {
    model: &'m Model,
    list: Vec<Restriction>,
    /// Restrictions made already, by type and the constraint's place behind it.
    known: FxHashMap<(TypeId, usize), Option<RestrictionId>>,
}

/// What constrained values are of.
#[derive(Clone, Copy)]
enum Governor {
    Type(TypeId),
    /// Mantissa, base and exponent of a REAL (X.680 §21.5).
    Integer,
}

impl Lowering<'_> {
    /// The restrictions that a reference to a shared node adds; other nodes have all of theirs themselves.
    fn edge(&mut self, lowered: &mut Lowered<'_>, ty: TypeId) -> Box<[RestrictionId]> {
        let base = self.model.base(ty);
        match &self.model.ty(base).kind {
            TypeKind::Sequence(_) | TypeKind::Set(_) | TypeKind::Choice(_) => self.chain(lowered, ty, false),
            _ => Box::default(),
        }
    }

    /// The restrictions of a type and of those that it refers to, the innermost first.
    fn chain(&mut self, lowered: &mut Lowered<'_>, ty: TypeId, with_base: bool) -> Box<[RestrictionId]> {
        let model = self.model;
        let mut chain: Vec<TypeId> = model.alias_chain(ty).collect();
        if !with_base {
            chain.pop();
        }
        let mut ids = Vec::new();
        for at in chain.into_iter().rev() {
            for index in 0..model.ty(at).constraints.len() {
                ids.extend(self.restriction_of(lowered, at, index));
            }
        }
        ids.into()
    }

    fn restriction_of(
        &mut self,
        lowered: &mut Lowered<'_>,
        ty: TypeId,
        index: usize,
    ) -> Option<RestrictionId> {
        if let Some(known) = self.known.get(&(ty, index)) {
            return *known;
        }
        // A constraint that refers to itself, which has been reported, says nothing in its inner use.
        self.known.insert((ty, index), None);
        let model = self.model;
        let base = model.base(ty);
        let made = self.restriction(lowered, Governor::Type(base), model.ty(ty).constraints.get(index)?);
        let id = made.map(|restriction| {
            self.list.push(restriction);
            RestrictionId(self.list.len() as u32 - 1)
        });
        self.known.insert((ty, index), id);
        id
    }

    /// A constraint; nothing for a table constraint, which belongs to the component that it stands at.
    fn restriction(
        &mut self,
        lowered: &mut Lowered<'_>,
        of: Governor,
        constraint: &Constraint,
    ) -> Option<Restriction> {
        let span = (constraint.span.lo, constraint.span.hi);
        let mut restriction = Restriction { root: Element::All, extensible: false, additions: None, span };
        match &constraint.kind {
            ConstraintKind::Subtype(set) => {
                let mut open = set.extensible;
                restriction.root = self.element(lowered, of, &set.root, &mut open);
                restriction.additions =
                    set.additional.as_ref().map(|more| self.element(lowered, of, more, &mut open));
                restriction.extensible = open;
            }
            ConstraintKind::Contents { containing, encoded_by } => {
                let inside = containing.map(|ty| lowered.bare(ty));
                let rules = encoded_by.as_ref().and_then(|arcs| Oid::from_arcs(arcs.iter().copied()).ok());
                restriction.root = Element::Contents(inside, rules.map(|oid| oid.as_bytes().into()));
            }
            ConstraintKind::UserDefined => restriction.root = Element::UserDefined,
            ConstraintKind::Table { .. } => return None,
        }
        Some(restriction)
    }

    /// An element; `open` is set by a marker within SIZE or FROM, which makes the whole extensible (X.680 §50.8).
    fn element(
        &mut self,
        lowered: &mut Lowered<'_>,
        of: Governor,
        element: &Written,
        open: &mut bool,
    ) -> Element {
        let model = self.model;
        let ty = match of {
            Governor::Integer => return integers(model, element).map_or(Element::All, numbers),
            Governor::Type(ty) => ty,
        };
        let kind = &model.ty(ty).kind;
        if let TypeKind::Integer(_) = kind
            && let Some(set) = integers(model, element)
        {
            return numbers(set);
        }
        match element {
            Written::All => Element::All,
            Written::Union(parts) => {
                Element::Union(parts.iter().map(|part| self.element(lowered, of, part, open)).collect())
            }
            Written::Intersection(parts) => Element::Intersection(
                parts.iter().map(|part| self.element(lowered, of, part, open)).collect(),
            ),
            Written::Except(from, what) => Element::Except(
                Box::new(self.element(lowered, of, from, open)),
                Box::new(self.element(lowered, of, what, open)),
            ),
            Written::Value(value) => {
                constants::constant(lowered, model, ty, value).map_or(Element::All, Element::Value)
            }
            Written::Range(low, high) => match kind {
                TypeKind::Real => Element::Reals(real_end(kind, low), real_end(kind, high)),
                _ => Element::All,
            },
            // On an open type it says what is inside (X.681 §14.6).
            Written::Type(_) if matches!(kind, TypeKind::Open(_)) => Element::All,
            Written::Type(inner) => {
                let ids = self.chain(lowered, *inner, true);
                let name = model.alias_chain(*inner).find_map(|at| model.ty(at).name.as_ref());
                Element::Subtype(name.map(|name| lowered.name(&name.name)), ids)
            }
            Written::Size(set) => {
                *open |= set.extensible;
                integers(model, &set.root).map_or(Element::All, |set| Element::Sizes(sizes(&set)))
            }
            Written::Alphabet(set) => {
                *open |= set.extensible;
                let own = match kind {
                    TypeKind::CharacterString(kind) => alphabet_of(*kind),
                    _ => None,
                };
                characters(model, &own.unwrap_or_else(CharSet::all), set)
                    .map_or(Element::All, |set| Element::Alphabet(set.codes().collect()))
            }
            Written::Pattern(pattern) => Element::Pattern(pattern.as_str().into()),
            Written::Settings(settings) => Element::Settings(settings.as_str().into()),
            Written::WithComponent(constraint) => match kind {
                TypeKind::SequenceOf(_, element) | TypeKind::SetOf(_, element) => {
                    let base = model.base(*element);
                    self.restriction(lowered, Governor::Type(base), constraint)
                        .map_or(Element::All, |inner| Element::Component(Box::new(inner)))
                }
                _ => Element::All,
            },
            Written::WithComponents { partial, components } => {
                let parts = match kind {
                    TypeKind::Sequence(parts) | TypeKind::Set(parts) | TypeKind::Choice(parts) => Some(parts),
                    _ => None,
                };
                let mut list = Vec::with_capacity(components.len());
                for component in components {
                    let governor = governor_of(model, kind, parts, &component.name);
                    let value = component.constraint.as_deref().zip(governor);
                    list.push(Component {
                        name: lowered.name(&component.name),
                        value: value.and_then(|(value, of)| self.restriction(lowered, of, value)),
                        presence: component.presence.map(|presence| match presence {
                            PresenceConstraint::Present => Presence::Present,
                            PresenceConstraint::Absent => Presence::Absent,
                            PresenceConstraint::Optional => Presence::Optional,
                        }),
                    });
                }
                Element::Components(Components { partial: *partial, list })
            }
        }
    }
}

fn governor_of(model: &Model, kind: &TypeKind, parts: Option<&Parts>, name: &str) -> Option<Governor> {
    match kind {
        TypeKind::Real => return Some(Governor::Integer),
        TypeKind::EmbeddedPdv | TypeKind::UnrestrictedCharacterString if name == "identification" => {
            return model.associated.identification.map(Governor::Type);
        }
        _ => {}
    }
    let part = parts?.list.iter().find(|part| part.name == name)?;
    Some(Governor::Type(model.base(part.ty)))
}

fn real_end(kind: &TypeKind, bound: &Bound) -> Option<(Box<[u8]>, bool)> {
    let (value, belongs) = match bound {
        Bound::Min | Bound::Max => return None,
        Bound::Closed(value) => (value, true),
        Bound::Open(value) => (value, false),
    };
    match constants::leaf(kind, value)? {
        Constant::Contents(contents) => Some((contents.into(), belongs)),
        _ => None,
    }
}

/// A set of integers, if an element is nothing else. MIN and MAX are no ends: what is around is a constraint of its own.
fn integers(model: &Model, element: &Written) -> Option<IntegerSet> {
    Some(match element {
        Written::All => IntegerSet::all(),
        Written::Value(Value::Integer(value)) => IntegerSet::one(value.clone()),
        Written::Range(low, high) => IntegerSet::range(edge(low, Edge::Below)?, edge(high, Edge::Above)?),
        // One by one, a long list would be joined as often as it is long.
        Written::Union(parts) => {
            let parts: Option<Vec<IntegerSet>> = parts.iter().map(|part| integers(model, part)).collect();
            IntegerSet::of(parts?.iter().flat_map(|part| part.ranges().iter().cloned()))
        }
        Written::Intersection(parts) => {
            let mut all = IntegerSet::all();
            for part in parts {
                all = all.intersection(&integers(model, part)?);
            }
            all
        }
        Written::Except(from, what) => integers(model, from)?.except(&integers(model, what)?),
        Written::Type(ty) => model.effective(*ty, Visibility::All).integers.unwrap_or_else(IntegerSet::all),
        _ => return None,
    })
}

fn edge(bound: &Bound, open: Edge<num_bigint::BigInt>) -> Option<Edge<num_bigint::BigInt>> {
    match bound {
        Bound::Min | Bound::Max => Some(open),
        Bound::Closed(Value::Integer(value)) | Bound::Open(Value::Integer(value)) => {
            Some(Edge::At(value.clone()))
        }
        _ => None,
    }
}

fn numbers(set: IntegerSet) -> Element {
    let number =
        |edge: &Edge<num_bigint::BigInt>| edge.at().map(|value| Number(value.to_signed_bytes_be().into()));
    Element::Integers(set.ranges().iter().map(|(low, high)| (number(low), number(high))).collect())
}

fn sizes(set: &IntegerSet) -> Vec<(u64, Option<u64>)> {
    let zero = IntegerSet::range(Edge::At(0.into()), Edge::Above);
    let size = |edge: &Edge<num_bigint::BigInt>| edge.at().and_then(|value| u64::try_from(value).ok());
    let ranges = set.intersection(&zero);
    // An end that 64 bits cannot hold is none; a range beyond them has no size in it.
    let ranges = ranges.ranges().iter().filter_map(|(low, high)| Some((size(low)?, size(high))));
    ranges.collect()
}

/// The characters that FROM allows; `own` is what MIN and MAX mean.
fn characters(model: &Model, own: &CharSet, set: &ElementSet) -> Option<CharSet> {
    alphabet(model, own, &set.root)
}

fn alphabet(model: &Model, own: &CharSet, element: &Written) -> Option<CharSet> {
    Some(match element {
        Written::All => own.clone(),
        Written::Value(Value::Text(text)) => CharSet::of_text(text),
        Written::Range(low, high) => {
            let (least, most) = own.hull()?;
            let edge = |bound: &Bound, open: Edge<u32>| match bound {
                Bound::Min | Bound::Max => Some(open),
                Bound::Closed(Value::Text(text)) | Bound::Open(Value::Text(text)) => {
                    text.chars().next().map(|c| Edge::At(u32::from(c)))
                }
                _ => None,
            };
            CharSet::range(edge(low, least)?, edge(high, most)?)
        }
        Written::Union(parts) => {
            let parts: Option<Vec<CharSet>> = parts.iter().map(|part| alphabet(model, own, part)).collect();
            CharSet::of(parts?.iter().flat_map(|part| part.ranges().iter().cloned()))
        }
        Written::Intersection(parts) => {
            let mut all = own.clone();
            for part in parts {
                all = all.intersection(&alphabet(model, own, part)?);
            }
            all
        }
        Written::Except(from, what) => alphabet(model, own, from)?.except(&alphabet(model, own, what)?),
        Written::Type(ty) => model.effective(*ty, Visibility::All).alphabet.unwrap_or_else(|| own.clone()),
        _ => return None,
    })
}

fn table_span(model: &Model, ty: TypeId) -> (u32, u32) {
    let constraints = model.alias_chain(ty).flat_map(|at| &model.ty(at).constraints);
    let table = constraints.into_iter().find(|it| matches!(it.kind, ConstraintKind::Table { .. }));
    table.map_or((0, 0), |table| (table.span.lo, table.span.hi))
}

/// The values that a component may take from its object set (X.682 §10).
fn object_values(
    lowered: &mut Lowered<'_>,
    model: &Model,
    governed: &Governed,
    index: u32,
) -> Option<(ValueTable, Element)> {
    let (set, relations) = model.table_constraint(governed.ty)?;
    let set = model.object_sets.get(set.index())?;
    let name = set.name.clone().map(|name| lowered.name(&name));
    let mut table = ValueTable { name, extensible: set.extensible, rows: Vec::new() };
    let Some(first) = set.objects.first() else {
        return Some((table, Element::Object(index, Box::default())));
    };
    let class = model.objects[first.index()].class;
    let identifier = lowered.shape.fields.get(governed.field)?.name;
    let column = column(model, class, governed.ty, lowered.shape.name(identifier))?;
    let mut registers: Vec<u16> = Vec::with_capacity(relations.len());
    let mut fields = Vec::with_capacity(relations.len());
    for relation in relations {
        let (_, field) = tables::follow(lowered, governed.around, relation)?;
        let name = tables::key_field(lowered, model, class, field, &fields)?;
        for (id, key) in tables::key_parts(lowered, field, &name) {
            fields.push(key);
            registers.extend(lowered.shape.field(id).key);
        }
    }
    // A key that no open type goes by is not kept while decoding: the value may then be that of any object.
    if registers.len() < fields.len() {
        registers.clear();
        fields.clear();
    }
    for object in &set.objects {
        let settings = &model.objects[object.index()].settings;
        let Some(Setting::Value(governor, value)) = settings.get(&column) else { continue };
        if let Some(keys) = tables::keys_of(lowered, model, *object, &fields)
            && let Some(value) = constants::constant(lowered, model, *governor, value)
        {
            table.rows.push((keys, value));
        }
    }
    Some((table, Element::Object(index, registers.into())))
}

/// The field of the class whose values a component takes: the one of its name and type, else the one of its type that
/// is UNIQUE, else the first of its type. (`CLASS.&field` has become the field's type when it gets here.)
fn column(model: &Model, class: tercet_model::ir::ClassId, ty: TypeId, component: &str) -> Option<SmolStr> {
    let base = model.base(ty);
    let mut best: Option<(u32, &SmolStr)> = None;
    for field in &model.classes.get(class.index())?.fields {
        let ClassFieldKind::Value(governor) = field.kind else { continue };
        if model.base(governor) != base {
            continue;
        }
        let named = field.name.trim_start_matches('&') == component;
        let rank = u32::from(named) * 2 + u32::from(field.unique);
        if best.is_none_or(|(before, _)| rank > before) {
            best = Some((rank, &field.name));
        }
    }
    best.map(|(_, name)| name.clone())
}
