//! The canonical order of tags (X.680 §8.6), in which several rules put the components of a SET.

use crate::shape::Source;
use rustc_hash::FxHashMap;
use tercet_model::OuterTag;
use tercet_model::ir::{Model, TagClass};
use tercet_plan::shape::{Place, Shape};
use tercet_plan::{FieldId, Kind, NodeId};

/// Where fields stand in the order of tags.
pub(crate) struct TagOrder<'a> {
    shape: &'a Shape,
    sources: &'a [Source],
    model: &'a Model,
    /// The least tags of untagged CHOICEs.
    least: FxHashMap<NodeId, Rank>,
}

/// Class and number.
pub(crate) type Rank = (u8, u32);

/// CHOICEs in CHOICEs that are followed.
const NESTING: u32 = 1000;

/// Behind all tags.
const LAST: Rank = (u8::MAX, u32::MAX);

impl<'a> TagOrder<'a> {
    pub(crate) fn new(shape: &'a Shape, sources: &'a [Source], model: &'a Model) -> Self {
        Self { shape, sources, model, least: FxHashMap::default() }
    }

    /// The outermost tag of a field; none for an untagged CHOICE or open type.
    pub(crate) fn outermost(&self, field: FieldId) -> Option<OuterTag> {
        match self.sources.get(field.index())? {
            Source::Type(ty) => self.model.tags(*ty).first().copied(),
            Source::Tags(tags) => tags.first().copied(),
        }
    }

    /// The tag of a field; of an untagged CHOICE the least of its root (X.691 §21.1, §23.4; X.693 9.6).
    pub(crate) fn of(&mut self, field: FieldId) -> Rank {
        self.nested(field, 0)
    }

    fn nested(&mut self, field: FieldId, depth: u32) -> Rank {
        if let Some(tag) = self.outermost(field) {
            return rank(tag);
        }
        let shape = self.shape;
        let node = shape.field(field).node;
        if depth > NESTING || shape.node(node).kind != Kind::Choice {
            return LAST;
        }
        if let Some(least) = self.least.get(&node) {
            return *least;
        }
        // What comes back to itself without a tag has no values.
        self.least.insert(node, LAST);
        let root = shape.fields_of(node).filter(|(_, field)| field.place == Place::Root);
        let least = root.map(|(field, _)| self.nested(field, depth + 1)).min().unwrap_or(LAST);
        self.least.insert(node, least);
        least
    }
}

fn rank((class, number): OuterTag) -> Rank {
    let class = match class {
        TagClass::Universal => 0,
        TagClass::Application => 1,
        TagClass::Context => 2,
        TagClass::Private => 3,
    };
    (class, number)
}

/// The places of the components of each SET that is not written in the order of its tags.
pub(crate) fn of_sets(shape: &Shape, sources: &[Source], model: &Model) -> Vec<(NodeId, Box<[u32]>)> {
    let mut order = TagOrder::new(shape, sources, model);
    let mut orders = Vec::new();
    for (index, node) in (0_u32..).zip(&shape.nodes).filter(|(_, node)| node.kind == Kind::Set) {
        let mut sorted: Vec<u32> = (0..node.count).collect();
        sorted.sort_by_cached_key(|number| order.of(FieldId(node.first + number)));
        if sorted.is_sorted() {
            continue;
        }
        let mut places = vec![0; sorted.len()];
        for (place, number) in (0_u32..).zip(&sorted) {
            places[*number as usize] = place;
        }
        orders.push((NodeId(index), places.into()));
    }
    orders
}
