//! Tags, and the tables that find a component by the tag of its element.

use crate::shape::{Lowered, Source};
use rustc_hash::{FxHashMap, FxHashSet};
use tercet_model::OuterTag;
use tercet_model::ir::{Model, TagClass};
use tercet_plan::ber::{NONE, NodeCode, Program, Slot, UNTAGGED, flags};
use tercet_plan::shape::{Constant, Presence, Shape};
use tercet_plan::{FieldId, Kind, NodeId};
use tercet_runtime::Tag;
use tercet_runtime::ber::{Rules, Writer};
use tercet_runtime::types::BitStr;
use tercet_syntax::{Diagnostic, Span};

/// Makes the code for BER, DER and CER.
pub(crate) fn program(model: &Model, lowered: &mut Lowered<'_>) -> Program {
    let mut builder = Builder {
        program: Program { chains: vec![Box::default()], ..Program::default() },
        chains: FxHashMap::default(),
        outer: FxHashMap::default(),
        full: false,
    };
    let shape = &lowered.shape;
    for (index, (field, source)) in shape.fields.iter().zip(&lowered.sources).enumerate() {
        let tags = match source {
            Source::Type(ty) => model.tags(*ty),
            Source::Tags(tags) => tags.clone(),
        };
        let id = FieldId(index as u32);
        let slot = builder.slot(shape, id, field.node, &tags);
        builder.program.slots.push(slot);
    }
    let mut bare: Vec<_> = lowered.bare.iter().collect();
    bare.sort_by_key(|(node, _)| **node);
    let mut entries = vec![NONE; shape.nodes.len()];
    for (node, tags) in bare {
        entries[node.index()] = builder.program.slots.len() as u32;
        let slot = builder.slot(shape, FieldId::ROOT, *node, tags);
        builder.program.slots.push(slot);
    }
    for index in 0..shape.nodes.len() {
        let node = NodeId(index as u32);
        if shape.node(node).kind == Kind::Choice {
            builder.outer(shape, node, 0);
        }
    }
    builder.mark_wild();
    let scopes = (0_u16..).zip(&lowered.scopes);
    let scopes = scopes.filter_map(|(register, scope)| Some((lowered.around.get(*scope)?.1, register)));
    builder.program.scopes = scopes.collect();
    builder.program.scopes.sort_unstable();
    for (index, entry) in entries.iter().enumerate() {
        let code = builder.node(shape, NodeId(index as u32), *entry);
        builder.program.nodes.push(code);
    }
    builder.program.identifiers = builder.program.make_identifiers();
    builder.program.defaults = vec![Box::default(); shape.defaults.len()];
    for (slot, field) in shape.fields.iter().enumerate() {
        if let Presence::Default(index) = field.presence
            && let Some(constant) = shape.defaults.get(index as usize)
        {
            let mut writer = Writer::new(Rules::Der);
            if builder.element(shape, &mut writer, slot as u32, constant, 0).is_some() {
                builder.program.defaults[index as usize] = writer.finish().into();
            }
        }
    }
    if builder.full {
        let message = "more than 65,535 combinations of explicit tags: some are not encoded right";
        lowered.diagnostics.push(Diagnostic::error("E0901", Span::new(0, 0), message));
    }
    builder.program
}

/// The outermost tags of an untagged CHOICE.
#[derive(Clone, Debug, Default)]
struct Outer {
    tags: Vec<u32>,
    wild: bool,
}

/// CHOICEs in CHOICEs that are followed, and tags collected for one: no sane type has as many.
const NESTING: u32 = 100;
const TAGS: usize = 20_000;

struct Builder {
    program: Program,
    chains: FxHashMap<Box<[u32]>, u16>,
    outer: FxHashMap<NodeId, Outer>,
    full: bool,
}

impl Builder {
    fn slot(&mut self, shape: &Shape, field: FieldId, node: NodeId, tags: &[OuterTag]) -> Slot {
        let mut bits = tags.iter().map(|tag| tag_bits(*tag));
        let tag = bits.next().unwrap_or(UNTAGGED);
        let chain = self.chain(bits.collect());
        Slot::new(shape, field, node, tag, chain)
    }

    fn chain(&mut self, tags: Box<[u32]>) -> u16 {
        if tags.is_empty() {
            return 0;
        }
        if let Some(&index) = self.chains.get(&tags) {
            return index;
        }
        let Ok(index) = u16::try_from(self.program.chains.len()) else {
            self.full = true;
            return 0;
        };
        self.program.chains.push(tags.clone());
        self.chains.insert(tags, index);
        index
    }

    /// The tags that a value of an untagged CHOICE may begin with.
    fn outer(&mut self, shape: &Shape, node: NodeId, depth: u32) -> Outer {
        if let Some(outer) = self.outer.get(&node) {
            return outer.clone();
        }
        // What comes back to itself without a tag has no values.
        self.outer.insert(node, Outer::default());
        let mut outer = Outer { tags: Vec::new(), wild: shape.node(node).extensible };
        let mut met = FxHashSet::default();
        for (id, field) in shape.fields_of(node) {
            let slot = self.program.slots[id.index()];
            if slot.tag != UNTAGGED {
                if met.insert(slot.tag) {
                    outer.tags.push(slot.tag);
                }
            } else if slot.kind == Kind::Choice && depth < NESTING {
                let inner = self.outer(shape, field.node, depth + 1);
                outer.wild |= inner.wild;
                let room = TAGS.saturating_sub(outer.tags.len());
                outer.tags.extend(inner.tags.into_iter().filter(|tag| met.insert(*tag)).take(room));
            } else {
                outer.wild = true;
            }
        }
        self.outer.insert(node, outer.clone());
        outer
    }

    /// Slots of untagged CHOICEs that take any tag.
    fn mark_wild(&mut self) {
        for slot in &mut self.program.slots {
            if slot.tag == UNTAGGED
                && slot.kind == Kind::Choice
                && self.outer.get(&slot.node).is_some_and(|outer| outer.wild)
            {
                slot.flags |= flags::WILD;
            }
        }
    }

    fn node(&mut self, shape: &Shape, id: NodeId, entry: u32) -> NodeCode {
        let (mut code, masks) = self.program.node(shape, id, entry);
        code.masks = self.program.masks.len() as u32;
        if !matches!(code.kind, Kind::Sequence | Kind::Set | Kind::Choice) {
            return code;
        }
        self.program.masks.extend(masks);
        let mut tags: Vec<(u32, u32)> = Vec::with_capacity(code.count as usize);
        for (number, slot) in (0_u32..).zip(self.program.slots_of(&code)) {
            if slot.tag != UNTAGGED {
                tags.push((slot.tag, number));
            } else if let Some(outer) = self.outer.get(&slot.node) {
                tags.extend(outer.tags.iter().map(|tag| (*tag, number)));
            }
        }
        tags.sort_unstable();
        self.tables(&mut code, &tags);
        code
    }

    /// The dense table takes the class that has the most tags, as far as each is used once and lies near the others;
    /// the rest goes to the sparse one.
    fn tables(&mut self, code: &mut NodeCode, tags: &[(u32, u32)]) {
        let is_unique = |index: usize| {
            let tag = tags[index].0;
            (index == 0 || tags[index - 1].0 != tag) && tags.get(index + 1).is_none_or(|next| next.0 != tag)
        };
        let mut best: Option<(usize, u32, u32)> = None;
        for class in 0..4 {
            let of_class: Vec<u32> = (0..tags.len())
                .filter(|i| tags[*i].0 >> 30 == class && is_unique(*i))
                .map(|i| tags[i].0)
                .collect();
            let Some(&low) = of_class.first() else { continue };
            let widest = of_class.len() as u32 * 8 + 64;
            let count = of_class.partition_point(|tag| tag - low < widest);
            let length = of_class[count - 1] - low + 1;
            if best.is_none_or(|(before, ..)| count > before) {
                best = Some((count, low, length));
            }
        }
        let (_, low, length) = best.unwrap_or_default();
        code.dense_tag = low;
        code.dense = self.program.dense.len() as u32;
        code.dense_len = length;
        self.program.dense.resize(self.program.dense.len() + length as usize, 0);
        code.sparse = self.program.sparse.len() as u32;
        for (index, &(tag, number)) in tags.iter().enumerate() {
            let at = tag.wrapping_sub(low);
            match u16::try_from(number + 1) {
                Ok(slot) if at < length && is_unique(index) => {
                    self.program.dense[(code.dense + at) as usize] = slot;
                }
                _ => self.program.sparse.push((tag, number)),
            }
        }
        code.sparse_len = self.program.sparse.len() as u32 - code.sparse;
    }

    /// Writes a constant as the DER element of a slot.
    fn element(
        &self,
        shape: &Shape,
        writer: &mut Writer,
        slot: u32,
        value: &Constant,
        depth: u32,
    ) -> Option<()> {
        let slot = self.program.slots.get(slot as usize)?;
        if depth > NESTING {
            return None;
        }
        let chain = self.program.chain(slot);
        let end = writer.mark();
        let mut constructed = true;
        match value {
            Constant::Boolean(value) => writer.push_boolean(*value),
            Constant::Int(value) => writer.push_i64(*value),
            Constant::Contents(octets) if shape.has_named_bits(slot.node) => {
                let (unused, octets) = octets.split_first()?;
                writer.push_bits(BitStr::new(octets, *unused)?.trimmed(0));
            }
            Constant::Contents(octets) => writer.push(octets),
            Constant::Struct(fields) => {
                for (field, value) in fields.iter().rev() {
                    self.element(shape, writer, field.0, value, depth + 1)?;
                }
                if slot.kind == Kind::Set {
                    writer.sort_set(end).ok()?;
                }
            }
            Constant::List(values) => {
                let element = shape.node(slot.node).first;
                for value in values.iter().rev() {
                    self.element(shape, writer, element, value, depth + 1)?;
                }
                if slot.kind == Kind::SetOf {
                    writer.sort_set_of(end).ok()?;
                }
            }
            Constant::Choice(field, value) => self.element(shape, writer, field.0, value, depth + 1)?,
            Constant::Open(node, value) => {
                let entry = self.program.nodes.get(node.index()).map(|code| code.entry)?;
                self.element(shape, writer, entry, value, depth + 1)?;
            }
        }
        if matches!(value, Constant::Boolean(_) | Constant::Int(_) | Constant::Contents(_)) {
            constructed = false;
        }
        if slot.tag == UNTAGGED {
            return Some(());
        }
        let mut tags = chain.iter().rev().chain([&slot.tag]);
        if !constructed && slot.flags & flags::OPEN_ENDED == 0 {
            writer.primitive(tag(*tags.next()?)?, end);
        }
        for bits in tags {
            writer.close(tag(*bits)?, end);
        }
        Some(())
    }
}

fn tag(bits: u32) -> Option<Tag> {
    Tag::from_bits(bits)
}

/// Class in the top two bits, number in the low 29.
pub(crate) fn tag_bits((class, number): OuterTag) -> u32 {
    let class = match class {
        TagClass::Universal => 0,
        TagClass::Application => 1,
        TagClass::Context => 2,
        TagClass::Private => 3_u32,
    };
    class << 30 | (number & Tag::MAX_NUMBER)
}
