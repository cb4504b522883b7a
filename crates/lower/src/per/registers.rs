//! Registers of keys: which hold for one value, and which need not be forgotten.

use super::Builder;
use crate::shape::Lowered;
use tercet_plan::NodeId;
use tercet_plan::per::Code;

impl Builder<'_> {
    /// The registers that hold for one value of a SEQUENCE or SET.
    pub(super) fn scopes(&mut self, lowered: &Lowered<'_>) {
        let scopes = (0_u16..).zip(&lowered.scopes);
        for (register, node) in scopes.filter_map(|(at, scope)| Some((at, lowered.around.get(*scope)?.1))) {
            if let Some(Code::Sequence(code)) = self.program.nodes.get(node.index())
                && let Some(sequence) = self.program.sequences.get_mut(*code as usize)
            {
                let mut all = sequence.scopes.to_vec();
                all.push(register);
                sequence.scopes = all.into();
            }
        }
    }

    /// Spares registers in all SEQUENCEs and SETs.
    pub(super) fn spare(&mut self) {
        for index in 0..self.program.nodes.len() {
            if let Code::Sequence(code) = self.program.nodes[index] {
                self.spare_registers(NodeId(index as u32), code as usize);
            }
        }
    }

    /// A key that is there in every value, in front of all that may look for it, is not forgotten when a value begins.
    /// Where nothing comes behind an open type, and nothing with one before it, the key of a value around is not looked
    /// for any more, and need not come back (NGAP InitialContextSetup, of each information element: 75 instructions; the
    /// outermost value of NBAP, which else has frames: 2,100).
    fn spare_registers(&mut self, id: NodeId, code: usize) {
        let first = self.shape.node(id).first as usize;
        let code_of = |number: u32| {
            let field = &self.shape.fields[first + number as usize];
            (field, self.program.nodes[field.node.index()])
        };
        let sequence = &self.program.sequences[code];
        let leading = sequence.root.iter().map(|member| (member, code_of(member.field)));
        let leading = leading.take_while(|(_, (_, code))| !code.has_parts());
        let sure = leading.filter(|(member, (_, code))| {
            !member.optional && matches!(code, Code::Integer(_) | Code::Enumerated(_) | Code::Boolean)
        });
        let sure: Vec<u16> = sure.filter_map(|(_, (field, _))| field.key).collect();
        let open_last = sequence.additions.is_empty()
            && sequence.root.split_last().is_some_and(|(last, before)| {
                let mut budget = LOOKED_AT;
                matches!(code_of(last.field).1, Code::Open)
                    && before
                        .iter()
                        .all(|member| self.holds_no_other(code_of(member.field).0.node, &mut budget))
            });
        let sequence = &mut self.program.sequences[code];
        sequence.keys = sequence.keys.iter().copied().filter(|key| !sure.contains(key)).collect();
        if open_last {
            sequence.scopes = Box::default();
        }
    }

    /// Whether no open type, nor a string with CONTAINING, is in the values of a node, as far as the budget goes.
    fn holds_no_other(&self, node: NodeId, budget: &mut u32) -> bool {
        let Some(left) = budget.checked_sub(1) else { return false };
        *budget = left;
        match self.program.nodes[node.index()] {
            Code::Open | Code::OctetsContaining(_) | Code::BitsContaining(..) => false,
            code if code.has_parts() => {
                self.shape.fields_of(node).all(|(_, field)| self.holds_no_other(field.node, budget))
            }
            _ => true,
        }
    }
}

/// How many nodes are looked at for whether they hold open types.
const LOOKED_AT: u32 = 64;
