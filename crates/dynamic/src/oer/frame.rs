//! The stack of a decode: one frame for each value or open type that has begun.

use tercet_plan::{FieldId, NodeId};
use tercet_runtime::oer::Around;

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
    /// An open type field around an addition, an alternative or a content.
    Wrapper,
    /// An open type or string whose content is decoded; inside it a [`What::Wrapper`].
    Open,
}

/// One frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) what: What,
    /// The extension bit was set.
    pub(super) more: bool,
    /// The value's field and node.
    pub(super) field: FieldId,
    pub(super) node: NodeId,
    /// Index into the side table of the program; for a group also which addition it is.
    pub(super) code: u32,
    pub(super) addition: u32,
    /// The next member, addition or element.
    pub(super) cursor: u32,
    /// Number of additions in the bitmap.
    pub(super) count: u32,
    /// Position in bits of the next presence bit, or of the bitmap of additions.
    pub(super) bits: usize,
    /// Elements left.
    pub(super) left: usize,
    /// Where the last part begins that has begun, and for a list also the one before.
    pub(super) begun: usize,
    pub(super) before: usize,
    /// The events that had been said then.
    pub(super) said: usize,
    /// For a wrapper, where reading ends around it.
    pub(super) around: Around,
}

impl Frame {
    /// Whether it is of a value with parts that the sink hears of.
    pub(super) const fn is_value(&self) -> bool {
        !matches!(self.what, What::Wrapper | What::Group)
    }

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
            left: 0,
            begun: 0,
            before: 0,
            said: 0,
            around: Around::default(),
        }
    }

    /// What a path tells of it; nothing for what is no value.
    pub(super) fn value(&self) -> Option<crate::path::Begun> {
        let value = self.is_value();
        let elements = (self.what == What::List).then_some(self.cursor as usize);
        value.then_some((self.field, self.node, elements))
    }
}
