//! The code for BER, DER and CER (X.690).
//!
//! A [`Program`] has a [`Slot`] for each field of the shape (with the same index) and behind them one for each node that
//! can stand without a field: roots, rows of tables, types in CONTAINING. The tags of one value are the slot's `tag`,
//! the outermost, and those of its chain inside it. A [`NodeCode`] finds the slot of an element by its tag.

use crate::shape::{FieldId, Kind, NodeId, Place, Presence, Shape};

/// The tag of a slot without any: an untagged CHOICE or open type.
pub const UNTAGGED: u32 = u32::MAX;

/// No index.
pub const NONE: u32 = u32::MAX;

/// Slot flags.
pub mod flags {
    /// A primitive type with one tag and nothing to remember: read in the loop of the parent.
    pub const PLAIN: u8 = 1;
    /// The field has to be there.
    pub const REQUIRED: u8 = 2;
    /// The field has a DEFAULT.
    pub const DEFAULT: u8 = 4;
    /// A CHOICE or open type: all tags of the slot wrap it.
    pub const OPEN_ENDED: u8 = 8;
    /// The value is a key of a table.
    pub const KEY: u8 = 16;
    /// Any tag may be meant: an untagged open type, or an untagged CHOICE that is extensible or has one inside.
    pub const WILD: u8 = 32;
    /// A string type whose contents are looked into: one with CONTAINING, or with named bits and a size.
    pub const CONTENTS: u8 = 64;
    /// An extension addition, alone or in a group.
    pub const ADDITION: u8 = 128;
}

/// Node flags.
pub mod node_flags {
    /// `...` is there.
    pub const EXTENSIBLE: u8 = 1;
    /// Some slot is [`super::flags::WILD`].
    pub const WILD: u8 = 2;
    /// Some slot is [`super::flags::KEY`].
    pub const KEYS: u8 = 4;
    /// Some slot is [`super::flags::DEFAULT`].
    pub const DEFAULTS: u8 = 8;
    /// A BIT STRING with named bits: trailing zero bits mean nothing.
    pub const NAMED_BITS: u8 = 16;
    /// Some keys hold for one value of this SEQUENCE or SET: [`super::Program::scopes`] has their registers.
    pub const SCOPE: u8 = 32;
}

/// The tags of a value in one place: 16 octets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The outermost tag: class in the top two bits, number in the low 29; or [`UNTAGGED`].
    pub tag: u32,
    /// The field, or [`FieldId::ROOT`].
    pub field: FieldId,
    /// The type.
    pub node: NodeId,
    /// The kind of its type.
    pub kind: Kind,
    /// See [`flags`].
    pub flags: u8,
    /// Tags inside the outermost: index into [`Program::chains`].
    pub chain: u16,
}

impl Slot {
    /// Makes the slot of a field, or of a node without one, with its tags. Whether an untagged CHOICE takes any tag is set
    /// by the caller.
    pub fn new(shape: &Shape, field: FieldId, node: NodeId, tag: u32, chain: u16) -> Self {
        let target = shape.node(node);
        let kind = target.kind;
        let mut flags = 0;
        if matches!(kind, Kind::Choice | Kind::Open) {
            flags |= flags::OPEN_ENDED;
        }
        if target.containing.is_some() || (shape.has_named_bits(node) && shape.sizes(node) != (0, usize::MAX))
        {
            flags |= flags::CONTENTS;
        }
        if tag == UNTAGGED && kind == Kind::Open {
            flags |= flags::WILD;
        }
        if field != FieldId::ROOT {
            let field = shape.field(field);
            if field.place != Place::Root {
                flags |= flags::ADDITION;
            } else if field.presence == Presence::Mandatory {
                flags |= flags::REQUIRED;
            }
            if matches!(field.presence, Presence::Default(_)) {
                flags |= flags::DEFAULT;
            }
            if field.key.is_some() {
                flags |= flags::KEY;
            }
        }
        let special = flags::CONTENTS | flags::KEY;
        if kind < Kind::Sequence && chain == 0 && tag != UNTAGGED && flags & special == 0 {
            flags |= flags::PLAIN;
        }
        Self { tag, field, node, kind, flags, chain }
    }
}

/// The code of a node: it finds the parts of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeCode {
    /// The kind.
    pub kind: Kind,
    /// See [`node_flags`].
    pub flags: u8,
    /// First slot.
    pub first: u32,
    /// Number of slots.
    pub count: u32,
    /// Number of slots before the second part of the extension root; all without one.
    pub second_root: u32,
    /// The slot to use where the node stands without a field, or [`NONE`].
    pub entry: u32,
    /// Tag of the first entry in the dense table.
    pub dense_tag: u32,
    /// First entry in [`Program::dense`].
    pub dense: u32,
    /// Number of entries.
    pub dense_len: u32,
    /// First entry in [`Program::sparse`].
    pub sparse: u32,
    /// Number of entries.
    pub sparse_len: u32,
    /// First of the words in [`Program::masks`] that tell which slots are required, one bit each.
    pub masks: u32,
    /// The first of those words, for nodes that have no more than 64 slots.
    pub required: u64,
}

/// The code for BER, DER and CER.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Program {
    /// One for each field, then one for each node used without a field.
    pub slots: Vec<Slot>,
    /// One for each node.
    pub nodes: Vec<NodeCode>,
    /// For each slot the identifier octets of its innermost tag, for encoders; see [`identifier`].
    pub identifiers: Vec<u64>,
    /// Which value the key in a register holds for, that of this node: AtNotations lead no further out (X.682 §10).
    /// Sorted.
    pub scopes: Vec<(NodeId, u16)>,
    /// Tags inside the outermost, from the outside in; chain 0 is empty.
    pub chains: Vec<Box<[u32]>>,
    /// Slot number within the node plus one, or 0, by tag.
    pub dense: Vec<u16>,
    /// Pairs of tag and slot number within the node, sorted, for the tags that are not in the dense table.
    pub sparse: Vec<(u32, u32)>,
    /// Words of 64 bits: which slots are required.
    pub masks: Vec<u64>,
    /// The DER encoding of each DEFAULT, tags of its field included, or empty where it could not be made.
    pub defaults: Vec<Box<[u8]>>,
}

impl Program {
    /// Makes the code of a node without its tables, from the slots and scopes, and the words that tell which slots are
    /// required.
    pub fn node(&self, shape: &Shape, id: NodeId, entry: u32) -> (NodeCode, Vec<u64>) {
        let node = shape.node(id);
        let mut code = NodeCode {
            kind: node.kind,
            flags: 0,
            first: node.first,
            count: node.count,
            second_root: node.second_root,
            entry,
            dense_tag: 0,
            dense: 0,
            dense_len: 0,
            sparse: 0,
            sparse_len: 0,
            masks: 0,
            required: 0,
        };
        if node.extensible {
            code.flags |= node_flags::EXTENSIBLE;
        }
        if shape.has_named_bits(id) {
            code.flags |= node_flags::NAMED_BITS;
        }
        if !matches!(node.kind, Kind::Sequence | Kind::Set | Kind::Choice) {
            return (code, Vec::new());
        }
        if !self.scopes_of(id).is_empty() {
            code.flags |= node_flags::SCOPE;
        }
        let mut masks = vec![0_u64; (node.count as usize).div_ceil(64)];
        for (number, slot) in self.slots_of(&code).iter().enumerate() {
            if slot.flags & flags::REQUIRED != 0 && node.kind != Kind::Choice {
                masks[number / 64] |= 1 << (number % 64);
            }
            let marks = [
                (flags::WILD, node_flags::WILD),
                (flags::KEY, node_flags::KEYS),
                (flags::DEFAULT, node_flags::DEFAULTS),
            ];
            for (_, of_node) in marks.into_iter().filter(|(of_slot, _)| slot.flags & of_slot != 0) {
                code.flags |= of_node;
            }
        }
        code.required = masks.first().copied().unwrap_or(0);
        (code, masks)
    }

    /// Returns the identifier octets of the innermost tag of each slot.
    pub fn make_identifiers(&self) -> Vec<u64> {
        let own = |slot: &Slot| *self.chain(slot).last().unwrap_or(&slot.tag);
        self.slots.iter().map(|slot| identifier(own(slot), slot.kind.is_constructed())).collect()
    }

    /// The slots of a node.
    #[inline]
    pub fn slots_of(&self, node: &NodeCode) -> &[Slot] {
        let first = node.first as usize;
        self.slots.get(first..first + node.count as usize).unwrap_or_default()
    }

    /// Returns the number within the node of the first slot at or after `from` that an element with this tag belongs to.
    ///
    /// Tags inside untagged CHOICEs count as tags of the slot.
    #[inline]
    pub fn find(&self, node: &NodeCode, tag: u32, from: u32) -> Option<u32> {
        let index = tag.wrapping_sub(node.dense_tag);
        if index < node.dense_len
            && let Some(&slot) = self.dense.get((node.dense + index) as usize)
            && slot != 0
        {
            let slot = u32::from(slot) - 1;
            return (slot >= from).then_some(slot);
        }
        if node.sparse_len == 0 { None } else { self.find_sparse(node, tag, from) }
    }

    fn find_sparse(&self, node: &NodeCode, tag: u32, from: u32) -> Option<u32> {
        let first = node.sparse as usize;
        let table = self.sparse.get(first..first + node.sparse_len as usize)?;
        let at = table.partition_point(|&entry| entry < (tag, from));
        table.get(at).filter(|entry| entry.0 == tag).map(|entry| entry.1)
    }

    /// The registers of the keys that hold for a value of a node.
    pub fn scopes_of(&self, node: NodeId) -> &[(NodeId, u16)] {
        let first = self.scopes.partition_point(|scope| scope.0 < node);
        let end = self.scopes.partition_point(|scope| scope.0 <= node);
        self.scopes.get(first..end).unwrap_or_default()
    }

    /// The least tag that an element of a slot may have, for the order of a SET in CER (X.690 9.3); `tag`, the one that
    /// it has, for a slot that takes any.
    pub fn least_tag(&self, node: &NodeCode, number: u32, tag: u32) -> u32 {
        let Some(slot) = self.slots_of(node).get(number as usize) else { return tag };
        if slot.tag != UNTAGGED {
            return slot.tag;
        }
        let first = node.dense as usize;
        let dense = self.dense.get(first..first + node.dense_len as usize).unwrap_or_default();
        let dense = (0..).zip(dense).find(|(_, entry)| u32::from(**entry) == number + 1);
        let first = node.sparse as usize;
        let sparse = self.sparse.get(first..first + node.sparse_len as usize).unwrap_or_default();
        let sparse = sparse.iter().find(|(_, entry)| *entry == number);
        let tags = [dense.map(|(index, _)| node.dense_tag + index), sparse.map(|entry| entry.0)];
        tags.into_iter().flatten().min().unwrap_or(tag)
    }

    /// The tags of a slot inside the outermost.
    #[inline]
    pub fn chain(&self, slot: &Slot) -> &[u32] {
        if slot.chain == 0 { &[] } else { self.chains.get(usize::from(slot.chain)).map_or(&[], |c| c) }
    }
}

/// Identifier octets (8.1.2) as the last octets of a word, the others zero. The tag is given as in [`Slot::tag`].
pub fn identifier(tag: u32, constructed: bool) -> u64 {
    let first = u64::from(tag >> 30) << 6 | if constructed { 0x20 } else { 0 };
    let number = u64::from(tag & 0x1FFF_FFFF);
    if number < 31 {
        return first | number;
    }
    let mut word = first | 0x1F;
    let groups = (64 - number.leading_zeros()).div_ceil(7);
    for group in (0..groups).rev() {
        word = word << 8 | (number >> (7 * group) & 0x7F) | if group > 0 { 0x80 } else { 0 };
    }
    word
}
