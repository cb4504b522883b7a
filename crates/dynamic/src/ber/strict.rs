//! Decoding: what is only checked when it is asked for: canonical order and defaults, constraints, unknown items.

use super::decode::{Detail, Engine, Result};
use super::head::Head;
use super::{canonical, constraints, keys, rules_of};
use crate::event::Sink;
use tercet_plan::ber::{NONE, NodeCode, Slot, flags};
use tercet_plan::shape::Presence;
use tercet_plan::{Kind, Rules};
use tercet_runtime::ber::{check_set_of_order, decode_integer};
use tercet_runtime::{Error as Fault, ErrorKind};

impl<S: Sink> Engine<'_, S> {
    #[cold]
    pub(super) fn begin_checks(&mut self, code: &NodeCode, number: u32, head: &Head) -> Result<()> {
        if let Err(fault) = self.take_order(code, self.key(code, number, head.tag)) {
            let slot = self.program.slots.get((code.first + number) as usize);
            self.detail = slot.map(|slot| Detail::Field(slot.field));
            return Err(fault);
        }
        self.checks.previous = self.checks.last;
        self.checks.last = self.pos;
        self.checks.unchecked = code.first + number + 1;
        Ok(())
    }

    /// Where a component stands in the order of a SET: in CER an untagged CHOICE where its least tag belongs (9.3), in DER
    /// where the chosen one does (10.3).
    pub(super) fn key(&self, code: &NodeCode, number: u32, tag: u32) -> u32 {
        match self.options.rules {
            Rules::Cer if code.kind == Kind::Set => self.program.least_tag(code, number, tag),
            _ => tag,
        }
    }

    /// The elements of a SET come in the order of their tags, those that the type does not know among them.
    pub(super) fn take_order(&mut self, code: &NodeCode, tag: u32) -> Result<()> {
        if code.kind == Kind::Set && self.options.rules != Rules::Ber {
            if tag < self.checks.tag {
                return Err(self.fault(ErrorKind::SetOrder));
            }
            self.checks.tag = tag;
        }
        Ok(())
    }

    /// Strict rules: what can be said of a component once it is complete.
    #[cold]
    pub(super) fn check_last(&mut self, set_of: bool) -> Result<()> {
        let Some(slot) = self.checks.unchecked.checked_sub(1) else { return Ok(()) };
        self.checks.unchecked = 0;
        if self.options.rules == Rules::Ber {
            return Ok(());
        }
        let element = self.input.get(self.checks.last..self.pos).unwrap_or_default();
        let slot = self.program.slots[slot as usize];
        if set_of && self.cur().cursor > 1 {
            let before = self.input.get(self.checks.previous..self.checks.last).unwrap_or_default();
            self.at_slot = self.code().first;
            check_set_of_order(before, element, self.offset(self.checks.last))?;
            self.at_slot = NONE;
        }
        if slot.flags & flags::DEFAULT != 0
            && let Presence::Default(constant) = self.shape.field(slot.field).presence
            && let Some(default) = self.program.defaults.get(constant as usize)
            && !default.is_empty()
            && canonical::same(default, element, rules_of(self.options.rules))
        {
            self.detail = Some(Detail::Field(slot.field));
            return Err(Fault::new(ErrorKind::DefaultEncoded, self.offset(self.checks.last)));
        }
        Ok(())
    }

    /// Primitive values.
    pub(super) fn check_strictly(&mut self, slot: &Slot, contents: &[u8], at: usize) -> Result<()> {
        let node = self.shape.node(slot.node);
        if self.options.strict_integers && matches!(slot.kind, Kind::Integer | Kind::Enumerated) {
            decode_integer(contents, self.offset(at), tercet_runtime::ber::Rules::Der)?;
        }
        if self.options.check_constraints && !constraints::is_allowed(self.shape, node, contents) {
            return Err(self.fault(ErrorKind::ConstraintViolated));
        }
        if slot.kind == Kind::Enumerated && self.options.strict_enumerations && !node.extensible {
            let known = keys::integer(contents).and_then(|number| self.shape.item_name(slot.node, number));
            if known.is_none()
                && keys::integer(strip(contents)).and_then(|n| self.shape.item_name(slot.node, n)).is_none()
            {
                return Err(self.fault(ErrorKind::UnknownEnumeration));
            }
        }
        Ok(())
    }

    /// The number of elements of a list that ends.
    pub(super) fn check_count(&mut self, count: u64) -> Result<()> {
        let node = &self.shape.nodes[self.cur().node as usize];
        if !self.options.check_constraints || constraints::is_count_allowed(self.shape, node, count) {
            return Ok(());
        }
        Err(self.fault(ErrorKind::ConstraintViolated))
    }
}

/// Without superfluous first octets, which BER equipment sends.
fn strip(contents: &[u8]) -> &[u8] {
    decode_integer(contents, 0, tercet_runtime::ber::Rules::Ber).unwrap_or_default()
}
