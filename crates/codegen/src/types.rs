//! What types a program has for the nodes of a shape: decided once for all languages.

use crate::Error;
use crate::choices::Choices;
use crate::overlay::{Lazy, Overlay, OverlayError};
use crate::same::{called_by_items, same, used_registers};
use std::collections::{BTreeSet, HashMap, HashSet};
use tercet_lower::Lowering;
use tercet_model::Model;
use tercet_plan::shape::{Constant, Field, Place, Presence, Root, Shape};
use tercet_plan::{FieldId, Kind, NodeId};
use tercet_runtime::text::StringKind;

mod arena;
mod depths;
mod sizes;

/// Structs on the way down to a key.
const KEY_DEPTH: usize = 4;

/// The Rust form of the values of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repr {
    Boolean,
    Null,
    /// A machine integer of so many bits, signed or not.
    Integer {
        signed: bool,
        bits: u8,
    },
    /// An INTEGER of any size.
    Big,
    /// A REAL as it was encoded.
    Real,
    /// A REAL as the nearest floating-point number of the machine.
    Float,
    /// BIT STRING of exactly so many bits, at most 64.
    FixedBits(u32),
    Bits,
    /// OCTET STRING of exactly so many octets.
    FixedOctets(u32),
    Octets,
    Oid,
    RelativeOid,
    /// Character strings and times.
    Text,
    /// A string with CONTAINING; the node of what is inside.
    Contained(NodeId),
    Enumerated,
    Struct,
    Choice,
    List,
    /// An open type that nothing is known of.
    Any,
    /// An open type with a table: one of the types of its rows.
    Table(u32),
}

/// Where a type's name comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Origin {
    /// A type assignment: module, type reference, actual parameters.
    Named(String, String, String),
    /// Written inside of another: that one's node, the component's name.
    Inside(NodeId, String),
    /// Written inside of several others, or a parameterized type of which several instances are the same: the name.
    Shared(String),
    /// None of these: a part of an associated type of the standard.
    Associated,
}

/// The largest OCTET STRING of a fixed size that is kept in an array.
const LARGEST_ARRAY: u64 = 32;

/// A place that holds a value of another type: what may have to be boxed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Edge {
    /// A component or an alternative.
    Field(FieldId),
    /// A row of a table: the open type's node, number of the row.
    Row(NodeId, u32),
    /// CONTAINING.
    Content(NodeId),
}

/// The types of a shape.
#[derive(Debug)]
pub(crate) struct Types<'m> {
    pub(crate) shape: &'m Shape,
    /// For each node the first that has the same type.
    same: Vec<NodeId>,
    reprs: Vec<Repr>,
    origins: Vec<Origin>,
    borrows: Vec<bool>,
    has_slice: Vec<bool>,
    has_float: Vec<bool>,
    has_list: Vec<bool>,
    counted: Vec<bool>,
    /// Types that may contain themselves.
    recursive: Vec<bool>,
    boxed: HashSet<Edge>,
    /// Types whose values have to be freed, so that they cannot be in an arena, if there is one.
    drops: Vec<bool>,
    /// Lists whose first element is in place.
    inline: HashSet<NodeId>,
    sizes: Vec<usize>,
    newtypes: HashSet<NodeId>,
    keys: Vec<BTreeSet<u16>>,
    /// The registers of keys that select something.
    used: BTreeSet<u16>,
    pub(crate) choices: Choices,
}

impl<'m> Types<'m> {
    pub(crate) fn new(
        model: &'m Model,
        lowering: &'m Lowering,
        shape: &'m Shape,
        overlay: &Overlay,
    ) -> Result<Self, Error> {
        let count = shape.nodes.len();
        let mut types = Self {
            shape,
            same: (0..count).map(|i| NodeId(i as u32)).collect(),
            used: used_registers(shape),
            reprs: Vec::new(),
            origins: vec![Origin::Associated; count],
            borrows: vec![false; count],
            has_slice: vec![false; count],
            has_float: vec![false; count],
            has_list: vec![false; count],
            counted: vec![false; count],
            recursive: vec![false; count],
            boxed: HashSet::new(),
            drops: Vec::new(),
            inline: HashSet::new(),
            sizes: Vec::new(),
            newtypes: HashSet::new(),
            keys: vec![BTreeSet::new(); count],
            choices: Choices::default(),
        };
        types.reprs = (0..count).map(|i| types.repr_of(NodeId(i as u32))).collect();
        types.name(model, lowering);
        let (same, shared) = same(lowering, shape, &types.reprs, &types.origins);
        types.same = same;
        for node in shared {
            let name = match &types.origins[node.index()] {
                Origin::Inside(_, name) => called_by_items(shape, node).unwrap_or_else(|| name.clone()),
                Origin::Named(_, name, _) => name.clone(),
                Origin::Shared(_) | Origin::Associated => continue,
            };
            types.origins[node.index()] = Origin::Shared(name);
        }
        types.choices = Choices::bind(overlay, &mut types)?;
        for node in types.nodes().collect::<Vec<_>>() {
            match types.around_itself(node) {
                Some(Repr::List) => _ = types.newtypes.insert(node),
                Some(_) => return Err(Error::InItself(types.called(node).unwrap_or_default().to_owned())),
                None => {}
            }
        }
        types.fix();
        let keyed = types.choices.lazy.keys().find(|node| !types.keys(**node).is_empty());
        if let Some(name) = keyed.and_then(|node| types.called(*node)) {
            let why = "cannot be lazy: a component around it determines the types in its elements";
            return Err(OverlayError(format!("`{name}` {why}")).into());
        }
        let chosen = types.choices.inline.iter().filter(|(_, most)| **most == usize::MAX);
        let endless = chosen.map(|(node, _)| *node).find(|node| types.recursive[node.index()]);
        if let Some(name) = endless.and_then(|node| types.called(node)) {
            let why = "cannot have its first element in place: its elements may contain itself";
            return Err(OverlayError(format!("`{name}` {why}")).into());
        }
        types.boxes();
        types.arena();
        Ok(types)
    }

    /// The name of a type, or of the place that it stands in.
    fn called(&self, node: NodeId) -> Option<&str> {
        match self.origin(node) {
            Origin::Named(_, name, _) | Origin::Inside(_, name) | Origin::Shared(name) => Some(name),
            Origin::Associated => None,
        }
    }

    /// The node that stands for all nodes of the same type.
    pub(crate) fn same(&self, node: NodeId) -> NodeId {
        self.same[node.index()]
    }

    pub(crate) fn repr(&self, node: NodeId) -> Repr {
        self.reprs[self.same(node).index()]
    }

    pub(crate) fn set_repr(&mut self, node: NodeId, repr: Repr) {
        let node = self.same(node);
        self.reprs[node.index()] = repr;
    }

    /// Keeps a node's values as its constraint allows, whatever was chosen for all types.
    pub(crate) fn narrow(&mut self, node: NodeId) {
        let narrow = self.repr_of(self.same(node));
        if !matches!(narrow, Repr::Big | Repr::Real) {
            self.set_repr(node, narrow);
        }
    }

    /// Returns whether a node's own parts do not borrow, whatever their parts hold.
    pub(crate) fn is_owned(&self, node: NodeId) -> bool {
        self.choices.owned.contains(&self.same(node))
    }

    /// Returns whether a node's own parts are slices of the input.
    pub(crate) fn keeps_slices(&self, node: NodeId) -> bool {
        self.choices.slices.contains(&self.same(node))
    }

    /// Returns whether a value is a slice of the input: what needs no more than its contents octets, which are the same in
    /// memory. Zero bits that named bits may have more or fewer of are not, if there is no arena to put them into.
    pub(crate) fn is_slice(&self, node: NodeId) -> bool {
        self.keeps_slices(node)
            && match self.repr(node) {
                Repr::Octets | Repr::Any | Repr::Oid | Repr::RelativeOid | Repr::Big => true,
                Repr::Bits => self.choices.arena || !self.shape.has_named_bits(self.same(node)),
                Repr::Text if self.choices.arena => true,
                Repr::Text => {
                    let kind = self.shape.node(self.same(node)).kind;
                    matches!(kind, Kind::UtcTime | Kind::GeneralizedTime)
                        || kind.string_kind().is_some_and(StringKind::is_utf8)
                }
                _ => false,
            }
    }

    /// Returns whether there are slices of the input inside, which cannot become owned.
    pub(crate) fn has_slice(&self, node: NodeId) -> bool {
        self.has_slice[self.same(node).index()]
    }

    /// Returns whether the elements of a list are decoded when they are asked for.
    pub(crate) fn is_lazy(&self, node: NodeId) -> bool {
        self.choices.lazy.contains_key(&self.same(node))
    }

    /// Returns whether the first element of a list is in place.
    pub(crate) fn is_inline(&self, node: NodeId) -> bool {
        self.inline.contains(&self.same(node))
    }

    /// Returns whether the elements of a lazy list are checked at once.
    pub(crate) fn is_checked(&self, node: NodeId) -> bool {
        self.choices.lazy.get(&self.same(node)) == Some(&Lazy::Checked)
    }

    /// Returns whether a struct has a member for extension additions that are not known.
    pub(crate) fn keeps_additions(&self, node: NodeId) -> bool {
        self.repr(node) == Repr::Struct
            && self.shape.node(self.same(node)).extensible
            && !self.choices.skip_additions
    }

    pub(crate) fn origin(&self, node: NodeId) -> &Origin {
        &self.origins[self.same(node).index()]
    }

    /// Returns whether values may borrow from the input.
    pub(crate) fn borrows(&self, node: NodeId) -> bool {
        self.borrows[self.same(node).index()]
    }

    /// Returns whether a list or CONTAINING is a struct around it, since an alias cannot stand for a type inside of itself.
    pub(crate) fn is_newtype(&self, node: NodeId) -> bool {
        self.newtypes.contains(&self.same(node))
    }

    /// Returns whether there is a floating-point number inside, which has no total equality.
    pub(crate) fn has_float(&self, node: NodeId) -> bool {
        self.has_float[self.same(node).index()]
    }

    /// Returns whether codecs count a value against the limit of values inside one another. The specification bounds the others.
    pub(crate) fn is_counted(&self, node: NodeId) -> bool {
        self.counted[self.same(node).index()]
    }

    pub(crate) fn is_boxed(&self, edge: Edge) -> bool {
        self.boxed.contains(&edge)
    }

    /// The memory that a value takes, in octets, as it is estimated.
    pub(crate) fn size(&self, node: NodeId) -> usize {
        self.sizes[self.same(node).index()]
    }

    /// The registers of keys that a node's open types want from around it.
    pub(crate) fn keys(&self, node: NodeId) -> &BTreeSet<u16> {
        &self.keys[self.same(node).index()]
    }

    /// Returns whether a component selects a row of a table.
    pub(crate) fn is_key(&self, field: &Field) -> bool {
        field.key.is_some_and(|key| self.used.contains(&key))
    }

    /// Returns whether a component of a struct selects rows of tables for those beside it, by itself or by what is in it.
    pub(crate) fn has_keys(&self, parent: NodeId, id: FieldId) -> bool {
        let is_wanted =
            |key| self.shape.fields_of(parent).any(|(_, other)| self.keys(other.node).contains(key));
        self.is_key(self.shape.field(id)) || self.keys_in(id).iter().any(|(key, _)| is_wanted(key))
    }

    /// The registers of the keys that a component has, and the components on the way down to each: its own, or those of the
    /// struct that it is, if they have to be there, as in the procedure identifiers of NBAP.
    pub(crate) fn keys_in(&self, id: FieldId) -> Vec<(u16, Vec<FieldId>)> {
        let mut found = Vec::new();
        self.collect_keys(id, &mut Vec::new(), &mut found);
        found
    }

    fn collect_keys(&self, id: FieldId, way: &mut Vec<FieldId>, found: &mut Vec<(u16, Vec<FieldId>)>) {
        let field = self.shape.field(id);
        if let Some(key) = field.key {
            return found.push((key, way.clone()));
        }
        let is_there = field.presence == Presence::Mandatory && field.place == Place::Root;
        if is_there && way.len() < KEY_DEPTH && self.repr(field.node) == Repr::Struct {
            for (inside, component) in self.shape.fields_of(self.same(field.node)) {
                if component.presence == Presence::Mandatory {
                    way.push(inside);
                    self.collect_keys(inside, way, found);
                    way.pop();
                }
            }
        }
    }

    /// The roots, each type once: by its own name if that is a root.
    pub(crate) fn roots(&self) -> Vec<NodeId> {
        let mut seen = HashSet::new();
        let (own, other): (Vec<_>, Vec<_>) = self
            .shape
            .roots
            .iter()
            .map(|root| (root.node, self.is_own_name(root)))
            .partition(|(_, own)| *own);
        own.into_iter()
            .chain(other)
            .map(|(node, _)| node)
            .filter(|node| seen.insert(self.same(*node)))
            .collect()
    }

    /// The roots that have the type of another name: `A ::= B`.
    pub(crate) fn aliases(&self) -> impl Iterator<Item = &'m Root> {
        self.shape.roots.iter().filter(|root| !self.is_own_name(root))
    }

    fn is_own_name(&self, root: &Root) -> bool {
        let name = self.shape.name(root.name);
        match self.origin(root.node) {
            Origin::Named(module, own, arguments) => {
                let own =
                    name.strip_prefix(module.as_str()).and_then(|name| name.strip_prefix('.')) == Some(own);
                own || !arguments.is_empty()
            }
            _ => true,
        }
    }

    /// The nodes that stand for their type, in order.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = NodeId> {
        let all = (0..self.shape.nodes.len()).map(|i| NodeId(i as u32));
        all.filter(|node| self.same(*node) == *node)
    }

    /// The element of a list.
    pub(crate) fn element(&self, node: NodeId) -> NodeId {
        self.shape.fields[self.shape.node(node).first as usize].node
    }

    /// Returns whether a component is a plain member, with its DEFAULT filled in, instead of an option.
    pub(crate) fn default(&self, field: FieldId) -> Option<&'m Constant> {
        match self.shape.field(field).presence {
            Presence::Default(constant) => self.shape.defaults.get(constant as usize),
            _ => None,
        }
    }

    fn repr_of(&self, id: NodeId) -> Repr {
        let node = self.shape.node(id);
        let constraint = node.constraint.and_then(|c| self.shape.constraints.get(c as usize));
        let fixed = constraint.filter(|c| !c.extensible).and_then(|c| c.size);
        let fixed = fixed.and_then(|(lo, hi)| (hi == Some(lo)).then_some(lo));
        match node.kind {
            Kind::Boolean => Repr::Boolean,
            Kind::Null => Repr::Null,
            Kind::Integer => match constraint.and_then(|c| c.integer.map(|range| (range, c.extensible))) {
                Some(((Some(_), Some(_)), true)) => Repr::Integer { signed: true, bits: 64 },
                Some(((Some(lo), Some(hi)), false)) => machine_integer(lo, hi),
                _ => Repr::Big,
            },
            Kind::Enumerated => Repr::Enumerated,
            Kind::Real => Repr::Real,
            Kind::BitString | Kind::OctetString if node.containing.is_some() => {
                Repr::Contained(node.containing.unwrap_or(id))
            }
            Kind::BitString => match fixed {
                Some(bits @ 1..=64) if node.item_count == 0 => Repr::FixedBits(bits as u32),
                _ => Repr::Bits,
            },
            Kind::OctetString => match fixed {
                Some(octets @ 1..=LARGEST_ARRAY) => Repr::FixedOctets(octets as u32),
                _ => Repr::Octets,
            },
            Kind::ObjectIdentifier => Repr::Oid,
            Kind::RelativeOid => Repr::RelativeOid,
            Kind::Sequence | Kind::Set => Repr::Struct,
            Kind::SequenceOf | Kind::SetOf => Repr::List,
            Kind::Choice => Repr::Choice,
            Kind::Open => match &node.table {
                Some(table) if !self.shape.tables[table.table as usize].rows.is_empty() => {
                    Repr::Table(table.table)
                }
                _ => Repr::Any,
            },
            _ => Repr::Text,
        }
    }

    fn name(&mut self, model: &Model, lowering: &Lowering) {
        for (origin, ty) in self.origins.iter_mut().zip(&lowering.types) {
            let Some(ty) = ty.map(|ty| model.ty(ty)) else { continue };
            if let Some(name) = &ty.name {
                let module = model.modules.get(ty.module.index()).map_or("", |module| &module.name);
                *origin = Origin::Named(module.into(), name.name.to_string(), name.arguments.to_string());
            }
        }
        // A root that is no declaration otherwise has the name that it was asked for by.
        for root in &self.shape.roots {
            let at = root.node.index();
            let others = self.shape.roots.iter().filter(|other| other.node == root.node);
            let is_item = matches!(
                self.repr(root.node),
                Repr::Struct | Repr::Choice | Repr::Enumerated | Repr::Table(_)
            );
            if !is_item
                && (self.origins[at] == Origin::Associated
                    || !others.clone().any(|other| self.is_own_name(other)))
                && let Some((module, name)) = self.shape.name(root.name).rsplit_once('.')
            {
                self.origins[at] = Origin::Named(module.into(), name.into(), String::new());
            }
        }
        // What has no name of its own has one by the first place that it stands in.
        for index in 0..self.shape.nodes.len() {
            let id = NodeId(index as u32);
            for (_, field) in self.shape.fields_of(id) {
                let name = self.shape.name(field.name).to_owned();
                self.place(field.node, Origin::Inside(id, name));
            }
            let node = self.shape.node(id);
            if let Some(inside) = node.containing {
                self.place(inside, Origin::Inside(id, "content".into()));
            }
            if let Some(table) = &node.table {
                for (number, row) in self.shape.tables[table.table as usize].rows.iter().enumerate() {
                    self.place(row.node, Origin::Inside(id, format!("row-{number}")));
                }
            }
        }
    }

    fn place(&mut self, node: NodeId, origin: Origin) {
        let known = &mut self.origins[node.index()];
        if *known == Origin::Associated {
            *known = origin;
        }
    }

    /// The nodes that a value of a node holds, with the places; those in lists without one.
    pub(crate) fn parts(&self, id: NodeId) -> Vec<(Option<Edge>, NodeId)> {
        match self.repr(id) {
            Repr::Struct | Repr::Choice => {
                self.shape.fields_of(id).map(|(field, f)| (Some(Edge::Field(field)), f.node)).collect()
            }
            Repr::List => vec![(None, self.element(id))],
            Repr::Contained(inside) => vec![(Some(Edge::Content(id)), inside)],
            Repr::Table(table) => {
                let rows = (0..).zip(&self.shape.tables[table as usize].rows);
                rows.map(|(number, row)| (Some(Edge::Row(id, number)), row.node)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns what a node has around itself, if the way through lists and CONTAINING, which are aliases, leads back to it: a list
    /// if there is one on the way.
    fn around_itself(&self, node: NodeId) -> Option<Repr> {
        let (mut at, mut met) = (node, self.repr(node));
        for _ in 0..self.shape.nodes.len() {
            at = match self.repr(at) {
                Repr::List => {
                    met = Repr::List;
                    self.same(self.element(at))
                }
                Repr::Contained(inside) => self.same(inside),
                _ => return None,
            };
            if at == node {
                return Some(met);
            }
        }
        None
    }

    /// Finds what follows from the parts of types, round by round until nothing changes.
    fn fix(&mut self) {
        let parts: HashMap<NodeId, Vec<NodeId>> = self
            .nodes()
            .map(|id| (id, self.parts(id).into_iter().map(|(_, part)| self.same(part)).collect()))
            .collect();
        let nodes: Vec<NodeId> = self.nodes().collect();
        for &id in &nodes {
            let at = id.index();
            self.borrows[at] = match self.repr(id) {
                Repr::Big
                | Repr::Real
                | Repr::Bits
                | Repr::Octets
                | Repr::Oid
                | Repr::RelativeOid
                | Repr::Text
                | Repr::Contained(_)
                | Repr::Any
                | Repr::Table(_) => true,
                Repr::Choice => self.shape.node(id).extensible,
                _ => false,
            } && !self.is_owned(id)
                || self.is_lazy(id);
            self.has_slice[at] =
                self.is_slice(id) || (self.keeps_slices(id) && matches!(self.repr(id), Repr::Table(_)));
            self.has_float[at] = self.repr(id) == Repr::Float;
            self.has_list[at] = self.repr(id) == Repr::List && !self.is_lazy(id);
            if let (Repr::Table(_), Some(table)) = (self.repr(id), &self.shape.node(id).table) {
                self.keys[at].extend(&table.keys);
            }
        }
        loop {
            let mut changed = false;
            for &id in nodes.iter().rev() {
                let at = id.index();
                for part in &parts[&id] {
                    let part = part.index();
                    if self.borrows[part] && !self.borrows[at] {
                        self.borrows[at] = true;
                        changed = true;
                    }
                    if self.has_slice[part] && !self.has_slice[at] {
                        self.has_slice[at] = true;
                        changed = true;
                    }
                    if self.has_float[part] && !self.has_float[at] {
                        self.has_float[at] = true;
                        changed = true;
                    }
                    if self.has_list[part] && !self.has_list[at] {
                        self.has_list[at] = true;
                        changed = true;
                    }
                }
                let own: BTreeSet<u16> = if self.repr(id) == Repr::Struct {
                    let own = self.shape.fields_of(id).flat_map(|(field, _)| self.keys_in(field));
                    own.map(|(key, _)| key).collect()
                } else {
                    BTreeSet::new()
                };
                let wanted: BTreeSet<u16> = parts[&id]
                    .iter()
                    .flat_map(|part| self.keys[part.index()].iter().copied())
                    .filter(|key| !own.contains(key))
                    .collect();
                let before = self.keys[at].len();
                self.keys[at].extend(wanted);
                changed |= self.keys[at].len() != before;
            }
            if !changed {
                break;
            }
        }
        let (order, recursive) = self.recursion(&nodes, &parts);
        self.counted = self.counts(&order, recursive.clone(), &parts);
        self.recursive = recursive;
    }
}

fn machine_integer(lo: i128, hi: i128) -> Repr {
    let unsigned =
        [(8, i128::from(u8::MAX)), (16, u16::MAX.into()), (32, u32::MAX.into()), (64, u64::MAX.into())];
    let signed = [
        (8, i128::from(i8::MIN), i128::from(i8::MAX)),
        (16, i16::MIN.into(), i16::MAX.into()),
        (32, i32::MIN.into(), i32::MAX.into()),
        (64, i64::MIN.into(), i64::MAX.into()),
    ];
    let bits = if lo >= 0 {
        unsigned.into_iter().find(|(_, most)| hi <= *most).map(|(bits, _)| bits)
    } else {
        signed.into_iter().find(|(_, least, most)| lo >= *least && hi <= *most).map(|(bits, ..)| bits)
    };
    bits.map_or(Repr::Big, |bits| Repr::Integer { signed: lo < 0, bits })
}
