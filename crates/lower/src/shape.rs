//! Model → shape: nodes shared for each base type, fields with the references passed on the way.
//!
//! Nodes are numbered when they are first met and filled from a queue, so that recursive types are no recursion here.

use crate::{constants, constraints, instructions, order, tables, value_names};
use num_bigint::BigInt;
use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use std::collections::VecDeque;
use tercet_model::constraints::Visibility;
use tercet_model::ir::{
    Components, ConstraintKind, Model, NamedNumber, Place as ModelPlace, Presence as ModelPresence, TypeId,
    TypeKind, UsefulTime, Value,
};
use tercet_model::{OuterTag, text_kind, universal_tag};
use tercet_plan::shape::{Constant, Constraint, Field, Item, Node, Place, Presence, Root, Shape};
use tercet_plan::{FieldId, Kind, NameId, NodeId};
use tercet_syntax::Diagnostic;

/// A shape, and what the rules need to know beside it.
pub(crate) struct Lowered<'m> {
    pub(crate) shape: Shape,
    /// Where the tags of each field come from.
    pub(crate) sources: Vec<Source>,
    /// The type of each node that has one in the model: the outermost that has constraints.
    pub(crate) types: Vec<Option<TypeId>>,
    /// The tags of nodes that stand without a field.
    pub(crate) bare: FxHashMap<NodeId, Vec<OuterTag>>,
    /// The types of nodes that stand without a field, the first first.
    pub(crate) bare_types: Vec<(NodeId, TypeId)>,
    /// The types whose components the fields of a node are.
    pub(crate) owners: FxHashMap<NodeId, TypeId>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Instructions of extended XER that are not followed.
    pub(crate) unsupported: Vec<Diagnostic>,
    model: &'m Model,
    names: FxHashMap<SmolStr, NameId>,
    nodes: FxHashMap<Key, NodeId>,
    queue: VecDeque<(NodeId, Work)>,
    /// For each key register the outermost of the surroundings that an AtNotation finds it from.
    pub(crate) scopes: Vec<usize>,
    /// Lexical surroundings: the enclosing node and what is around it.
    pub(crate) around: Vec<(Option<usize>, NodeId)>,
    /// Open types whose table is still to be made.
    pub(crate) open: VecDeque<OpenType>,
    /// Defaults still to be made.
    defaults: VecDeque<(u32, TypeId, &'m Value)>,
    pub(crate) tables: tables::Cache,
    /// Names of values, once they have been asked for.
    pub(crate) references: Option<value_names::References<'m>>,
    /// The types of the rows of each table.
    pub(crate) row_types: Vec<Vec<TypeId>>,
    /// The EMBEDDED PDVs and CHARACTER STRINGs with one `identification` only: an index into the defaults of the shape.
    pub(crate) predefined: FxHashMap<NodeId, u32>,
    /// Nodes with CONTAINING, and the type inside.
    pub(crate) contained: Vec<(NodeId, TypeId)>,
    /// Components other than open types that take their values from object sets.
    pub(crate) governed: Vec<constraints::Governed>,
}

/// Where a field's tags come from.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// A type of the model.
    Type(TypeId),
    /// An associated type of the standard.
    Tags(Vec<OuterTag>),
}

/// An open type met: its node, its type, and what is around it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenType {
    pub(crate) node: NodeId,
    pub(crate) ty: TypeId,
    pub(crate) around: Option<usize>,
}

/// What makes a node one of its own.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    /// The base type, the outermost type on the way to it that has constraints, and the tags if they are not the first
    /// that the base type is used with.
    Type(TypeId, Option<TypeId>, Option<Vec<OuterTag>>),
    Associated(Associated),
    /// A root with constraints that others of its base type do not have.
    Root(TypeId),
    /// A leaf of an associated type.
    Leaf(Kind),
}

/// Types of the standard that are defined by an associated SEQUENCE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Associated {
    External,
    ExternalEncoding,
    InstanceOf,
    EmbeddedPdv,
    CharacterString,
    Identification,
    Syntaxes,
    Negotiation,
}

/// How a node's fields are made.
#[derive(Clone, Copy, Debug)]
enum Work {
    Type(TypeId, Option<usize>),
    Associated(Associated),
    Containing(TypeId, Option<usize>),
}

pub(crate) fn lower<'m>(model: &'m Model, roots: &[TypeId]) -> Lowered<'m> {
    let mut lowered = Lowered {
        shape: Shape::default(),
        sources: Vec::new(),
        types: Vec::new(),
        bare: FxHashMap::default(),
        bare_types: Vec::new(),
        owners: FxHashMap::default(),
        diagnostics: Vec::new(),
        unsupported: Vec::new(),
        model,
        names: FxHashMap::default(),
        nodes: FxHashMap::default(),
        queue: VecDeque::new(),
        scopes: Vec::new(),
        around: Vec::new(),
        open: VecDeque::new(),
        defaults: VecDeque::new(),
        tables: tables::Cache::default(),
        references: None,
        row_types: Vec::new(),
        predefined: FxHashMap::default(),
        contained: Vec::new(),
        governed: Vec::new(),
    };
    for &root in roots {
        let node = lowered.root(root);
        let ty = model.ty(root);
        let module = model.modules.get(ty.module.index()).map_or("", |module| module.name.as_str());
        let name = lowered.name(&format!("{module}.{}", model.type_name(root)));
        lowered.shape.roots.push(Root { name, node });
    }
    lowered.fill();
    constraints::lower(&mut lowered, model, roots);
    value_names::of_oids(&mut lowered, model);
    lowered.shape.value_names.sort_by_key(|(field, _)| *field);
    lowered.predefine();
    instructions::lower(&mut lowered, model);
    lowered.shape.set_orders = order::of_sets(&lowered.shape, &lowered.sources, model);
    lowered
}

impl<'m> Lowered<'m> {
    /// Fills all nodes, and those that tables and defaults bring in.
    pub(crate) fn fill(&mut self) {
        loop {
            self.fill_fields();
            if let Some(open) = self.open.pop_front() {
                tables::resolve(self, self.model, open);
            } else if let Some((index, ty, value)) = self.defaults.pop_front() {
                let constant = constants::constant(self, self.model, ty, value);
                if let (Some(constant), Some(place)) = (constant, self.shape.defaults.get_mut(index as usize))
                {
                    *place = constant;
                }
            } else {
                return;
            }
        }
    }

    /// Gives all nodes their fields. Constants name fields, and need those of their type at once.
    pub(crate) fn fill_fields(&mut self) {
        while let Some((node, work)) = self.queue.pop_front() {
            match work {
                Work::Type(ty, around) => self.fields_of_type(node, ty, around),
                Work::Associated(which) => self.fields_of_associated(node, which),
                Work::Containing(inside, around) => {
                    self.contained.push((node, inside));
                    let inside = self.bare_inside(inside, around);
                    self.shape.nodes[node.index()].containing = Some(inside);
                }
            }
        }
    }

    /// Keeps what constraints leave of the associated types of EMBEDDED PDV and CHARACTER STRING.
    fn predefine(&mut self) {
        let model = self.model;
        let Some(identification) = model.associated.identification else { return };
        for index in 0..self.types.len() {
            if let Some(value) = self.types[index].and_then(|ty| model.predefined(ty))
                && let Some(constant) = constants::constant(self, model, identification, &value)
            {
                self.predefined.insert(NodeId(index as u32), self.shape.defaults.len() as u32);
                self.shape.defaults.push(constant);
            }
        }
    }

    pub(crate) fn name(&mut self, name: &str) -> NameId {
        if let Some(&id) = self.names.get(name) {
            return id;
        }
        let id = self.shape.add_name(name);
        self.names.insert(name.into(), id);
        id
    }

    /// The node of a type that stands without a field: a root, a row of a table, what is in a string.
    pub(crate) fn bare(&mut self, ty: TypeId) -> NodeId {
        self.bare_inside(ty, None)
    }

    /// The same for one that is written inside `around`, as what is in a string is.
    fn bare_inside(&mut self, ty: TypeId, around: Option<usize>) -> NodeId {
        let node = self.node_by_tags(ty, around);
        self.bare_types.push((node, ty));
        node
    }

    /// The node of a root. Constraints of a SEQUENCE, SET or CHOICE belong to the references to it, and nothing refers
    /// to a root: one that has constraints has a node of its own, so that it is known by its node.
    fn root(&mut self, ty: TypeId) -> NodeId {
        let model = self.model;
        let base = model.base(ty);
        let mut around = model.alias_chain(ty).take_while(|at| *at != base);
        let constrained = around.any(|at| model.ty(at).constraints.iter().any(matters));
        if !constrained || self.key(ty) != Key::Type(base, None, None) {
            return self.bare(ty);
        }
        if let Some(&node) = self.nodes.get(&Key::Root(ty)) {
            return node;
        }
        let node = self.new_node(Key::Root(ty), ty, None);
        if let Some(name) = &model.ty(ty).name {
            self.shape.nodes[node.index()].name = Some(self.name(&name.name));
        }
        self.bare.insert(node, model.tags(ty));
        self.bare_types.push((node, ty));
        node
    }

    fn node_by_tags(&mut self, ty: TypeId, around: Option<usize>) -> NodeId {
        let node = self.node(ty, around);
        let tags = self.model.tags(ty);
        match self.bare.get(&node) {
            None => {
                self.bare.insert(node, tags);
                node
            }
            Some(first) if *first == tags => node,
            Some(_) => {
                let Key::Type(base, refined, _) = self.key(ty) else { return node };
                let key = Key::Type(base, refined, Some(tags.clone()));
                if let Some(&node) = self.nodes.get(&key) {
                    return node;
                }
                let node = self.new_node(key, ty, around);
                let name = self.model.ty(ty).name.as_ref().map(|name| name.name.clone());
                if let Some(name) = name {
                    self.shape.nodes[node.index()].name = Some(self.name(&name));
                }
                self.bare.insert(node, tags);
                node
            }
        }
    }

    fn key(&self, ty: TypeId) -> Key {
        let base = self.model.base(ty);
        let associated = self.model.associated;
        for (part, which) in [
            (associated.identification, Associated::Identification),
            (associated.syntaxes, Associated::Syntaxes),
            (associated.negotiation, Associated::Negotiation),
        ] {
            if part == Some(base) {
                return Key::Associated(which);
            }
        }
        let kind = &self.model.ty(base).kind;
        if matches!(kind, TypeKind::Sequence(_) | TypeKind::Set(_) | TypeKind::Choice(_)) {
            return Key::Type(base, None, None);
        }
        let refined =
            self.model.alias_chain(ty).find(|at| self.model.ty(*at).constraints.iter().any(matters));
        Key::Type(base, refined.filter(|at| *at != base), None)
    }

    /// The node of a type that has one.
    pub(crate) fn known(&self, ty: TypeId) -> Option<NodeId> {
        self.nodes.get(&self.key(ty)).copied()
    }

    /// The node of a type written inside `around`.
    pub(crate) fn node(&mut self, ty: TypeId, around: Option<usize>) -> NodeId {
        let key = self.key(ty);
        match self.nodes.get(&key) {
            Some(&node) => node,
            None => match key {
                Key::Associated(which @ Associated::Identification) => self.associated(which, Kind::Choice),
                Key::Associated(which) => self.associated(which, Kind::Sequence),
                key => self.new_node(key, ty, around),
            },
        }
    }

    fn new_node(&mut self, key: Key, ty: TypeId, around: Option<usize>) -> NodeId {
        let model = self.model;
        let id = NodeId(self.shape.nodes.len() as u32);
        let base = model.base(ty);
        let named = model.alias_chain(ty).filter_map(|at| model.ty(at).name.as_ref()).last();
        let name = named.map(|name| self.name(&name.name));
        let kind = &model.ty(base).kind;
        let constrained = matches!(&key, Key::Type(_, refined, _) if refined.is_some())
            || model.ty(base).constraints.iter().any(matters);
        let mut node = Node::blank(kind_of(kind));
        node.name = name;
        match kind {
            TypeKind::Integer(numbers) | TypeKind::BitString(numbers) => {
                self.named_numbers(&mut node, numbers)
            }
            TypeKind::Enumerated(items) => {
                node.extensible = items.extensible;
                let root = items.root.iter().map(|item| (item, false));
                let all: Vec<_> = root.chain(items.additions.iter().map(|item| (item, true))).collect();
                let items =
                    all.into_iter().map(|((name, value), addition)| (name, *value, addition)).collect();
                self.items(&mut node, items);
            }
            TypeKind::Sequence(parts) | TypeKind::Set(parts) | TypeKind::Choice(parts) => {
                node.extensible = parts.extensible;
            }
            _ => {}
        }
        self.types.push(match &key {
            Key::Type(base, refined, _) => Some(refined.unwrap_or(*base)),
            Key::Root(_) => Some(base),
            Key::Associated(_) | Key::Leaf(_) => None,
        });
        self.nodes.insert(key, id);
        self.shape.nodes.push(node);
        // The surroundings of the notation end at a reference, which may be the id of the named type itself.
        let inside = if base == ty && model.ty(ty).name.is_none() { around } else { None };
        match kind {
            TypeKind::External => self.queue.push_back((id, Work::Associated(Associated::External))),
            TypeKind::InstanceOf(_) => self.queue.push_back((id, Work::Associated(Associated::InstanceOf))),
            TypeKind::EmbeddedPdv => self.queue.push_back((id, Work::Associated(Associated::EmbeddedPdv))),
            TypeKind::UnrestrictedCharacterString => {
                self.queue.push_back((id, Work::Associated(Associated::CharacterString)));
            }
            TypeKind::Sequence(_)
            | TypeKind::Set(_)
            | TypeKind::Choice(_)
            | TypeKind::SequenceOf(..)
            | TypeKind::SetOf(..) => self.queue.push_back((id, Work::Type(base, inside))),
            TypeKind::Open(_) if constrained => self.open.push_back(OpenType { node: id, ty, around }),
            _ => {}
        }
        if constrained && !matches!(kind, TypeKind::Open(_)) {
            let constraint = self.constraint(ty);
            let containing = match kind {
                TypeKind::OctetString | TypeKind::BitString(_) => {
                    // Other rules inside than outside are not decoded in place.
                    let contents =
                        model.contents_constraint(ty).filter(|contents| contents.encoded_by.is_none());
                    contents.and_then(|contents| contents.containing)
                }
                _ => None,
            };
            if let Some(inside) = containing {
                self.queue.push_back((id, Work::Containing(inside, around)));
            }
            self.shape.nodes[id.index()].constraint = constraint;
        }
        id
    }

    fn constraint(&mut self, ty: TypeId) -> Option<u32> {
        let effective = self.model.effective(ty, Visibility::All);
        let bound = |bound: &Option<BigInt>| bound.as_ref().and_then(|b| i128::try_from(b.clone()).ok());
        let constraint = Constraint {
            integer: effective.integer.as_ref().map(|range| (bound(&range.lo), bound(&range.hi))),
            size: effective.size.map(|range| (range.lo, range.hi)),
            alphabet: effective.alphabet.as_ref().map(|set| set.codes().collect()),
            base: self.model.effective(ty, Visibility::Oer).real.and_then(|real| real.base),
            extensible: effective.integer.as_ref().is_some_and(|range| range.extensible)
                || effective.size.is_some_and(|range| range.extensible),
        };
        if constraint == Constraint::default() {
            return None;
        }
        self.shape.constraints.push(constraint);
        Some(self.shape.constraints.len() as u32 - 1)
    }

    fn named_numbers(&mut self, node: &mut Node, numbers: &[NamedNumber]) {
        let items =
            numbers.iter().filter_map(|n| Some((&n.name, i64::try_from(n.value.clone()).ok()?, false)));
        let items = items.collect();
        self.items(node, items);
    }

    fn items(&mut self, node: &mut Node, mut items: Vec<(&SmolStr, i64, bool)>) {
        items.sort_by_key(|item| item.1);
        node.item_first = self.shape.items.len() as u32;
        node.item_count = items.len() as u32;
        for (name, value, addition) in items {
            let name = self.name(name);
            self.shape.items.push(Item { value, name, addition });
        }
    }

    fn fields_of_type(&mut self, id: NodeId, ty: TypeId, around: Option<usize>) {
        let model = self.model;
        self.owners.insert(id, ty);
        match &model.ty(ty).kind {
            TypeKind::Sequence(parts) | TypeKind::Set(parts) | TypeKind::Choice(parts) => {
                self.components(id, parts, around);
            }
            TypeKind::SequenceOf(name, element) | TypeKind::SetOf(name, element) => {
                let name = match name {
                    Some(name) => self.name(name),
                    None => self.name(&model.type_name(*element).replace(' ', "_")),
                };
                let node = self.node(*element, around);
                let aliases = self.aliases(*element);
                let field = self.field(name, node, id, aliases);
                self.add_fields(id, vec![(field, Source::Type(*element))]);
            }
            _ => {}
        }
    }

    fn components(&mut self, id: NodeId, parts: &'m Components, around: Option<usize>) {
        let model = self.model;
        self.around.push((around, id));
        let inside = Some(self.around.len() - 1);
        let mut fields = Vec::with_capacity(parts.list.len());
        for part in &parts.list {
            let name = self.name(&part.name);
            let node = self.node(part.ty, inside);
            let aliases = self.aliases(part.ty);
            let mut field = self.field(name, node, id, aliases);
            field.presence = match &part.presence {
                ModelPresence::Mandatory => Presence::Mandatory,
                ModelPresence::Optional => Presence::Optional,
                ModelPresence::Default(value) => {
                    let index = self.shape.defaults.len() as u32;
                    self.shape.defaults.push(Constant::Contents(Vec::new()));
                    self.defaults.push_back((index, part.ty, value));
                    Presence::Default(index)
                }
            };
            field.place = match part.place {
                ModelPlace::Root => Place::Root,
                ModelPlace::Addition(n) => Place::Addition(n),
                ModelPlace::Group(n) => Place::Group(n),
            };
            fields.push((field, Source::Type(part.ty)));
        }
        let first = self.shape.fields.len();
        for (at, part) in parts.list.iter().enumerate() {
            let is_open = matches!(model.ty(model.base(part.ty)).kind, TypeKind::Open(_));
            if !is_open && model.table_constraint(part.ty).is_some() {
                self.governed.push(constraints::Governed { field: first + at, ty: part.ty, around: inside });
            }
        }
        self.add_fields(id, fields);
        self.shape.nodes[id.index()].second_root = parts.second_root as u32;
    }

    fn field(&self, name: NameId, node: NodeId, parent: NodeId, aliases: Vec<NameId>) -> Field {
        Field { name, node, parent, presence: Presence::Mandatory, place: Place::Root, aliases, key: None }
    }

    fn aliases(&mut self, ty: TypeId) -> Vec<NameId> {
        let model = self.model;
        let names = model.alias_chain(ty).filter_map(|at| model.ty(at).name.as_ref());
        names.map(|name| self.name(&name.name)).collect()
    }

    fn add_fields(&mut self, id: NodeId, fields: Vec<(Field, Source)>) {
        let node = &mut self.shape.nodes[id.index()];
        node.first = self.shape.fields.len() as u32;
        node.count = fields.len() as u32;
        for (field, source) in fields {
            self.shape.fields.push(field);
            self.sources.push(source);
        }
    }

    /// A component of a node by its name.
    pub(crate) fn component(&self, node: NodeId, name: &str) -> Option<FieldId> {
        self.shape.fields_of(node).find(|(_, field)| self.shape.name(field.name) == name).map(|(id, _)| id)
    }

    // Associated types

    fn leaf(&mut self, kind: Kind) -> NodeId {
        let key = Key::Leaf(kind);
        if let Some(&node) = self.nodes.get(&key) {
            return node;
        }
        self.types.push(None);
        self.shape.nodes.push(Node::blank(kind));
        let id = NodeId(self.shape.nodes.len() as u32 - 1);
        self.nodes.insert(key, id);
        id
    }

    fn associated(&mut self, which: Associated, kind: Kind) -> NodeId {
        let key = Key::Associated(which);
        if let Some(&node) = self.nodes.get(&key) {
            return node;
        }
        self.types.push(None);
        self.shape.nodes.push(Node::blank(kind));
        let id = NodeId(self.shape.nodes.len() as u32 - 1);
        self.nodes.insert(key, id);
        self.queue.push_back((id, Work::Associated(which)));
        id
    }

    /// The associated types of X.680 §36.5 (EMBEDDED PDV), §44.5 (CHARACTER STRING), X.681 Annex C (INSTANCE OF), and
    /// the form that X.690 §8.18.1 gives to EXTERNAL.
    fn fields_of_associated(&mut self, id: NodeId, which: Associated) {
        use tercet_model::ir::TagClass::Universal;
        let own = |number| vec![(Universal, number)];
        let oid = self.leaf(Kind::ObjectIdentifier);
        let integer = self.leaf(Kind::Integer);
        let octets = self.leaf(Kind::OctetString);
        let descriptor = self.leaf(Kind::ObjectDescriptor);
        let open = self.leaf(Kind::Open);
        let list: Vec<(&str, NodeId, bool, Vec<OuterTag>)> = match which {
            Associated::External => {
                let encoding = self.associated(Associated::ExternalEncoding, Kind::Choice);
                vec![
                    ("direct-reference", oid, true, own(6)),
                    ("indirect-reference", integer, true, own(2)),
                    ("data-value-descriptor", descriptor, true, own(7)),
                    ("encoding", encoding, false, vec![]),
                ]
            }
            Associated::ExternalEncoding => {
                let bits = self.leaf(Kind::BitString);
                vec![
                    ("single-ASN1-type", open, false, context(0)),
                    ("octet-aligned", octets, false, context(1)),
                    ("arbitrary", bits, false, context(2)),
                ]
            }
            Associated::InstanceOf => {
                vec![("type-id", oid, false, own(6)), ("value", open, false, context(0))]
            }
            Associated::EmbeddedPdv | Associated::CharacterString => {
                let identification = self.associated(Associated::Identification, Kind::Choice);
                let value = if which == Associated::EmbeddedPdv { "data-value" } else { "string-value" };
                // The component between them, `data-value-descriptor`, is ABSENT in every value; in PER it has no
                // presence bit either (X.691 §28.3, §31.3).
                vec![
                    ("identification", identification, false, context(0)),
                    (value, octets, false, context(2)),
                ]
            }
            Associated::Identification => {
                let syntaxes = self.associated(Associated::Syntaxes, Kind::Sequence);
                let negotiation = self.associated(Associated::Negotiation, Kind::Sequence);
                let null = self.leaf(Kind::Null);
                vec![
                    ("syntaxes", syntaxes, false, context(0)),
                    ("syntax", oid, false, context(1)),
                    ("presentation-context-id", integer, false, context(2)),
                    ("context-negotiation", negotiation, false, context(3)),
                    ("transfer-syntax", oid, false, context(4)),
                    ("fixed", null, false, context(5)),
                ]
            }
            Associated::Syntaxes => {
                vec![("abstract", oid, false, context(0)), ("transfer", oid, false, context(1))]
            }
            Associated::Negotiation => vec![
                ("presentation-context-id", integer, false, context(0)),
                ("transfer-syntax", oid, false, context(1)),
            ],
        };
        let mut fields = Vec::with_capacity(list.len());
        for (name, node, optional, tags) in list {
            let name = self.name(name);
            let mut field = self.field(name, node, id, Vec::new());
            if optional {
                field.presence = Presence::Optional;
            }
            fields.push((field, Source::Tags(tags)));
        }
        self.add_fields(id, fields);
    }
}

fn context(number: u32) -> Vec<OuterTag> {
    vec![(tercet_model::ir::TagClass::Context, number)]
}

/// Whether a constraint changes anything that a node tells.
fn matters(constraint: &tercet_model::ir::Constraint) -> bool {
    !matches!(constraint.kind, ConstraintKind::UserDefined)
}

/// Returns the kind of the values of a type.
pub fn kind_of(kind: &TypeKind) -> Kind {
    match kind {
        TypeKind::Boolean => Kind::Boolean,
        TypeKind::Integer(_) => Kind::Integer,
        TypeKind::Enumerated(_) => Kind::Enumerated,
        TypeKind::Real => Kind::Real,
        TypeKind::BitString(_) => Kind::BitString,
        TypeKind::OctetString => Kind::OctetString,
        TypeKind::Null => Kind::Null,
        TypeKind::Sequence(_)
        | TypeKind::External
        | TypeKind::EmbeddedPdv
        | TypeKind::UnrestrictedCharacterString
        | TypeKind::InstanceOf(_) => Kind::Sequence,
        TypeKind::Set(_) => Kind::Set,
        TypeKind::SequenceOf(..) => Kind::SequenceOf,
        TypeKind::SetOf(..) => Kind::SetOf,
        TypeKind::Choice(_) => Kind::Choice,
        TypeKind::ObjectIdentifier => Kind::ObjectIdentifier,
        TypeKind::RelativeOid => Kind::RelativeOid,
        TypeKind::OidIri => Kind::OidIri,
        TypeKind::RelativeOidIri => Kind::RelativeOidIri,
        TypeKind::Time => Kind::Time,
        TypeKind::UsefulTime(UsefulTime::Date) => Kind::Date,
        TypeKind::UsefulTime(UsefulTime::TimeOfDay) => Kind::TimeOfDay,
        TypeKind::UsefulTime(UsefulTime::DateTime) => Kind::DateTime,
        TypeKind::UsefulTime(UsefulTime::Duration) => Kind::Duration,
        TypeKind::CharacterString(kind) => Kind::of_string(text_kind(*kind)),
        TypeKind::GeneralizedTime => Kind::GeneralizedTime,
        TypeKind::UtcTime => Kind::UtcTime,
        TypeKind::ObjectDescriptor => Kind::ObjectDescriptor,
        TypeKind::Reference(_) | TypeKind::Open(_) | TypeKind::AnyDefinedBy(_) | TypeKind::Error => {
            debug_assert!(universal_tag(kind).is_none());
            Kind::Open
        }
    }
}
