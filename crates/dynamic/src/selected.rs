//! A tape that only some components go to.

use crate::event::{Leaf, Mark, Sink};
use crate::tape::Tape;
use tercet_plan::{FieldId, NodeId, Rules};

/// Writes what is wanted to a tape; the decoder skips the rest. The tape has then no complete value: columns can be made
/// of it, an encoding cannot.
#[derive(Debug)]
pub struct Selected<'t> {
    tape: &'t mut Tape,
    /// For each field of the shape whether it is wanted.
    wanted: &'t [bool],
}

impl<'t> Selected<'t> {
    /// A sink in front of a tape.
    pub fn new(tape: &'t mut Tape, wanted: &'t [bool]) -> Self {
        Self { tape, wanted }
    }
}

impl Sink for Selected<'_> {
    #[inline]
    fn begin(&mut self, rules: Rules) {
        self.tape.begin(rules);
    }

    #[inline]
    fn leaf(&mut self, field: FieldId, node: NodeId, leaf: Leaf<'_>) {
        self.tape.leaf(field, node, leaf);
    }

    #[inline]
    fn open(&mut self, field: FieldId, node: NodeId) {
        self.tape.open(field, node);
    }

    #[inline]
    fn close(&mut self, field: FieldId, node: NodeId) {
        self.tape.close(field, node);
    }

    fn absent(&mut self, field: FieldId, node: NodeId, constant: u32) {
        if self.wants(field) {
            self.tape.absent(field, node, constant);
        }
    }

    fn unknown(&mut self, addition: u32, leaf: Leaf<'_>) {
        self.tape.unknown(addition, leaf);
    }

    fn earlier(&mut self, additions: u32) {
        self.tape.earlier(additions);
    }

    #[inline]
    fn wants(&self, field: FieldId) -> bool {
        field == FieldId::ROOT || self.wanted.get(field.index()).copied().unwrap_or(true)
    }

    fn mark(&self) -> Option<Mark> {
        self.tape.mark()
    }

    fn take_back(&mut self, mark: Mark) {
        self.tape.take_back(mark);
    }
}
