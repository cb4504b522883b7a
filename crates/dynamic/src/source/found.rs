//! The components of a SEQUENCE or SET that a document has, before their values are read.

use super::driver::Memory;
use super::{Fault, Source};
use tercet_plan::{FieldId, Kind, NodeId};

/// Receives the components of a SEQUENCE or SET from a [`Source`].
#[derive(Debug)]
pub struct Found<'a, 's, S: Source> {
    pub(super) source: &'a S,
    pub(super) memory: &'a mut Memory<'s>,
    /// The component, alternative or element that the SEQUENCE or SET is for.
    pub field: FieldId,
    /// The type.
    pub node: NodeId,
    /// Place of the value of each component.
    pub(super) slots: &'a mut [Option<S::At>],
    /// The component after the one found last.
    pub(super) next: usize,
    /// Extension additions that the type does not know.
    pub(super) additions: Option<S::At>,
}

impl<S: Source> Found<'_, '_, S> {
    /// Receives a component by its name. Returns whether the type knows it.
    ///
    /// # Errors
    /// [`Fault::NoComponent`] if the type is not extensible, [`Fault::Twice`], [`Fault::OutOfOrder`].
    pub fn put(&mut self, name: &str, place: &S::At, value: S::At) -> Result<bool, S::Error> {
        let shape = self.memory.shape();
        let Some(index) = self.memory.position(self.source, self.node, name, self.next) else {
            return match shape.node(self.node).extensible || self.source.ignores_unknown() {
                true => Ok(false),
                false => Err(self.source.fault(place, Fault::NoComponent(name))),
            };
        };
        if self.slots.get_mut(index).and_then(|slot| slot.replace(value)).is_some() {
            return Err(self.source.fault(place, Fault::Twice(name)));
        }
        if index < self.next && self.source.is_ordered() && shape.node(self.node).kind == Kind::Sequence {
            return Err(self.source.fault(place, Fault::OutOfOrder(name)));
        }
        self.next = index + 1;
        Ok(true)
    }

    /// Receives a component by its position in the type.
    pub fn set(&mut self, index: usize, value: S::At) {
        if let Some(slot) = self.slots.get_mut(index) {
            *slot = Some(value);
        }
    }

    /// Receives extension additions that the type does not know. Returns those that were there before.
    pub const fn set_additions(&mut self, additions: S::At) -> Option<S::At> {
        self.additions.replace(additions)
    }
}
