//! The stack of a decode: one frame for each value with parts and each open type that has begun.

use tercet_plan::{FieldId, NodeId};

/// What a frame is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FrameKind {
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
    /// An open type field around an addition or an alternative.
    Wrapper,
    /// An open type or string whose content is decoded.
    Open,
}

/// One frame, in 48 octets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    /// The presence bits that are left, the next one the highest; if wide, its position, as that of the bitmap of
    /// additions. For a list, the elements left in the fragment.
    pub(super) bits: u64,
    /// For a list, where the last element began; for an open type, where the octets around it end.
    pub(super) before: usize,
    /// The value's field and node.
    pub(super) field: FieldId,
    pub(super) node: NodeId,
    /// List: the step of the element. Group that has not begun: its number of presence bits.
    pub(super) code: u32,
    /// The next step or addition; for a list, how many elements have begun.
    pub(super) cursor: u32,
    /// The step behind the last; for additions, how many are in the bitmap.
    pub(super) end: u32,
    /// For a list, how many events had been said before the last element.
    pub(super) events: u32,
    pub(super) kind: FrameKind,
    /// The extension bit was set; for a list, another fragment follows.
    pub(super) more: bool,
    /// There are too many presence bits for one word.
    pub(super) wide: bool,
    /// Key registers come back behind the value.
    pub(super) scoped: bool,
}

const _: () = assert!(size_of::<Frame>() <= 48);

impl Frame {
    /// Whether it is of a value with parts that the sink hears of.
    pub(super) const fn is_value(&self) -> bool {
        !matches!(self.kind, FrameKind::Wrapper | FrameKind::Group)
    }

    #[inline(always)]
    pub(super) const fn new(kind: FrameKind, field: FieldId, node: NodeId) -> Self {
        Self {
            bits: 0,
            before: 0,
            field,
            node,
            code: 0,
            cursor: 0,
            end: 0,
            events: 0,
            kind,
            more: false,
            wide: false,
            scoped: false,
        }
    }

    /// What a path tells of it; nothing for what is no value.
    pub(super) fn begun(&self) -> Option<crate::path::Begun> {
        let value = self.is_value();
        let elements = (self.kind == FrameKind::List).then_some(self.cursor as usize);
        value.then_some((self.field, self.node, elements))
    }
}
