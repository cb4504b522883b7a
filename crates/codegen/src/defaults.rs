//! DEFAULTs inside one another: decided once for all languages.

use crate::types::Types;
use std::cell::RefCell;
use std::collections::HashMap;
use tercet_plan::shape::Constant;
use tercet_plan::{FieldId, NodeId};

/// DEFAULTs inside one another that an expression has at most.
const LEVELS: u8 = 9;

/// Which DEFAULTs are shallow, as far as it has been found out.
#[derive(Debug, Default)]
pub(crate) struct Depths(RefCell<HashMap<(FieldId, u8), bool>>);

impl Depths {
    /// Whether a DEFAULT is spelled with no more than so many others inside one another: values may lack components that
    /// have a DEFAULT themselves, whose values lack components, and so on.
    pub(crate) fn is_shallow(&self, types: &Types<'_>, field: FieldId) -> bool {
        self.is_within(types, field, LEVELS)
    }

    fn is_within(&self, types: &Types<'_>, field: FieldId, levels: u8) -> bool {
        let Some(constant) = types.default(field) else { return true };
        let Some(rest) = levels.checked_sub(1) else { return false };
        if let Some(known) = self.0.borrow().get(&(field, levels)) {
            return *known;
        }
        let shape = types.shape;
        let mut is_shallow = true;
        let mut pending = vec![(shape.field(field).node, constant)];
        while let Some((node, constant)) = pending.pop().filter(|_| is_shallow) {
            let node = types.same(node);
            match constant {
                Constant::Struct(given) => {
                    for (id, part) in shape.fields_of(node) {
                        match given.iter().find(|(at, _)| types.same_field(node, *at) == Some(id)) {
                            Some((_, value)) => pending.push((part.node, value)),
                            None => is_shallow &= self.is_within(types, id, rest),
                        }
                    }
                }
                Constant::List(values) => {
                    let element = types.element(node);
                    pending.extend(values.iter().map(|value| (element, value)));
                }
                Constant::Choice(at, value) => pending.push((shape.field(*at).node, value)),
                _ => {}
            }
        }
        self.0.borrow_mut().insert((field, levels), is_shallow);
        is_shallow
    }
}

impl Types<'_> {
    /// Returns the field of the node that stands for a type, given that of any node of the same type.
    pub(crate) fn same_field(&self, node: NodeId, field: FieldId) -> Option<FieldId> {
        let from = self.shape.node(self.shape.field(field).parent);
        let number = field.0.checked_sub(from.first)?;
        (number < self.shape.node(node).count).then(|| FieldId(self.shape.node(node).first + number))
    }
}
