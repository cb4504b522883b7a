//! The code for BER, DER and CER (X.690).
//!
//! A [`Program`] has a [`Slot`] for each field of the shape (with the same index) and behind them one for each node that
//! can stand without a field: roots, rows of tables, types in CONTAINING. The tags of one value are the slot's `tag`,
//! the outermost, and those of its chain inside it. A [`NodeCode`] finds the slot of an element by its tag.

use crate::shape::{FieldId, Kind, NodeId};

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
