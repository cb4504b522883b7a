//! The stack of a decode: one frame for each value or open type that has begun.

use tercet_plan::{FieldId, NodeId};

/// What a frame is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// The root members of a SEQUENCE or SET.
    Members,
    /// Its extension additions.
    Additions,
    /// The members of a version bracket.
    Group,
    /// The elements of a SEQUENCE OF or SET OF.
    List,
    /// A CHOICE: its one alternative has begun.
    Choice,
    /// An open type field around an addition or an alternative: `limit` is where its octets end.
    Wrapper,
    /// An open type whose content is decoded; around it a [`What::Wrapper`].
    Open,
}

/// One frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) what: What,
    /// The extension bit was set; for a list, another fragment follows.
    pub(super) more: bool,
    /// The value's field and node.
    pub(super) field: FieldId,
    pub(super) node: NodeId,
    /// Index into the side table of the program; for a group also which addition it is.
    pub(super) code: u32,
    pub(super) addition: u32,
    /// The next member or addition.
    pub(super) cursor: u32,
    /// Number of additions in the bitmap.
    pub(super) count: u32,
    /// Position of the next presence bit, or of the bitmap of additions.
    pub(super) bits: usize,
    /// Elements left in the fragment; for a wrapper, where its octets end.
    pub(super) limit: usize,
    /// For a wrapper, where the octets around it end.
    pub(super) outer: usize,
}

impl Frame {
    pub(super) fn new(what: What, field: FieldId, node: NodeId, code: u32) -> Self {
        Self {
            what,
            more: false,
            field,
            node,
            code,
            addition: 0,
            cursor: 0,
            count: 0,
            bits: 0,
            limit: 0,
            outer: 0,
        }
    }

    /// What a path tells of it; nothing for what is no value.
    pub(super) fn begun(&self) -> Option<crate::path::Begun> {
        let value = !matches!(self.what, What::Wrapper | What::Group);
        let element = (self.what == What::List).then(|| self.cursor.saturating_sub(1) as usize);
        value.then_some((self.field, self.node, element))
    }
}
