//! The stack of a decode: one frame for each value, wrapping tag or content that has begun.

use tercet_plan::FieldId;

/// What a frame is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FrameKind {
    /// The whole input: one value.
    Root,
    /// An explicit tag: one value in an element of its own.
    Wrap,
    /// What is in an open type: one value.
    Open,
    /// What is in a string with CONTAINING: one value that fills it.
    Content,
    /// One alternative.
    Choice,
    Sequence,
    Set,
    List,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) kind: FrameKind,
    /// Whether the contents end with end-of-contents octets.
    pub(super) indefinite: bool,
    /// Whether `end` comes from a definite length.
    pub(super) bounded: bool,
    /// For frames of one value: whether it has begun.
    pub(super) done: bool,
    /// The slot that the value is in.
    pub(super) slot: u32,
    /// The value's node.
    pub(super) node: u32,
    /// SEQUENCE: the next slot; list: elements begun; wrap: tags read; content: the slot of what is inside.
    pub(super) cursor: u32,
    /// SET of more than 64 components: the index of their words in the side stack.
    pub(super) more: u32,
    /// Where the contents end at the latest.
    pub(super) end: usize,
    /// SET: which of the first 64 components have been seen.
    pub(super) seen: u64,
}

/// State of the strict checks of a frame.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Checks {
    /// Tag of the component before, for canonical order.
    pub(super) tag: u32,
    /// Slot of the last component plus one, if it is not yet checked.
    pub(super) unchecked: u32,
    /// Where the last component and the one before begin.
    pub(super) last: usize,
    pub(super) previous: usize,
}

impl Frame {
    pub(super) fn root(slot: u32, end: usize) -> Self {
        Self {
            kind: FrameKind::Root,
            indefinite: false,
            bounded: false,
            done: false,
            slot,
            node: 0,
            cursor: slot,
            more: 0,
            end,
            seen: 0,
        }
    }

    /// A frame in the same octets.
    #[inline(always)]
    pub(super) fn inside(&self, kind: FrameKind, slot: u32, node: u32, cursor: u32) -> Self {
        Self {
            kind,
            indefinite: false,
            bounded: self.bounded,
            done: false,
            slot,
            node,
            cursor,
            more: 0,
            end: self.end,
            seen: 0,
        }
    }
}

/// The value of a key: a range of the input, and the alternatives if the key is a CHOICE.
#[derive(Clone, Copy, Debug)]
pub(super) struct Register {
    pub(super) start: usize,
    pub(super) length: usize,
    pub(super) alternatives: Alternatives,
    pub(super) number: bool,
}

/// A key that is a CHOICE, on the way to its value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    pub(super) register: u16,
    pub(super) alternatives: Alternatives,
}

/// Alternatives chosen one inside the other, the outermost first.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Alternatives {
    /// [`None`] behind the last.
    fields: [Option<FieldId>; 4],
}

impl Alternatives {
    /// Adds one inside the others; `false` if there are too many.
    pub(super) fn push(&mut self, field: FieldId) -> bool {
        let free = self.fields.iter_mut().find(|place| place.is_none());
        free.map(|place| *place = Some(field)).is_some()
    }

    /// The alternatives.
    pub(super) fn iter(&self) -> impl Iterator<Item = FieldId> {
        self.fields.iter().copied().flatten()
    }
}
