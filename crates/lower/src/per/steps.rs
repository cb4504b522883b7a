//! What the decoder of PER goes by: one step for each field, the forms that most values have told at once.

use super::Builder;
use crate::shape::Lowered;
use tercet_plan::NodeId;
use tercet_plan::per::{Addition, Code, Integer, IntegerForm, NO_DEFAULT, NO_KEY, Op, Step, Whole};
use tercet_plan::shape::Presence;

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

    /// One step for each field, then those whose order differs from that of the text.
    pub(super) fn steps(&mut self) {
        let shape = self.shape;
        for (number, field) in (0..).zip(&shape.fields) {
            let constant = match field.presence {
                Presence::Default(constant) => constant,
                _ => NO_DEFAULT,
            };
            let run = u8::from(field.presence != Presence::Mandatory);
            let (node, key) = (field.node.0, field.key.unwrap_or(NO_KEY));
            let op = match self.op(field.node) {
                // A key is remembered, which is not for the short way.
                Op::Number { .. } if key != NO_KEY => Op::Leaf,
                op => op,
            };
            self.program.steps.push(Step { op, field: number, node, constant, key, run });
        }
        for (index, node) in (0..).zip(&shape.nodes) {
            match self.program.nodes.get(NodeId(index).index()).copied() {
                Some(Code::Sequence(code)) => {
                    let code = code as usize;
                    let sequence = &mut self.program.sequences[code];
                    sequence.keyed = !sequence.keys.is_empty() || !sequence.scopes.is_empty();
                    let root = self.program.sequences[code].root.iter().map(|member| member.field).collect();
                    self.program.sequences[code].first = self.in_order(node.first, root);
                    for at in 0..self.program.sequences[code].additions.len() {
                        let Addition::Group { members, .. } = &self.program.sequences[code].additions[at]
                        else {
                            continue;
                        };
                        let begin =
                            self.in_order(node.first, members.iter().map(|member| member.field).collect());
                        if let Addition::Group { first, .. } = &mut self.program.sequences[code].additions[at]
                        {
                            *first = begin;
                        }
                    }
                }
                Some(Code::Choice(code)) => {
                    let root = self.program.choices[code as usize].root.to_vec();
                    self.program.choices[code as usize].first = self.in_order(node.first, root);
                }
                _ => {}
            }
        }
    }

    /// Where the steps of some fields of a node stand in their order; their runs are counted.
    fn in_order(&mut self, first: u32, numbers: Vec<u32>) -> u32 {
        let begin = numbers.first().copied().unwrap_or_default();
        if (begin..).zip(&numbers).all(|(at, number)| at == *number) {
            let begin = (first + begin) as usize;
            count_runs(&mut self.program.steps[begin..begin + numbers.len()]);
            return begin as u32;
        }
        let at = self.program.steps.len();
        for number in numbers {
            self.program.steps.push(self.program.steps[(first + number) as usize]);
        }
        count_runs(&mut self.program.steps[at..]);
        at as u32
    }

    fn op(&self, node: NodeId) -> Op {
        match self.program.nodes[node.index()] {
            Code::Boolean => Op::Number { lo: 0, span: 1, width: 1, pad: 0 },
            Code::Null => Op::Null,
            Code::Integer(Integer { extensible, form: IntegerForm::Constrained { lo, span, whole } }) => {
                number(lo, span, whole, extensible)
            }
            Code::Enumerated(code) => {
                let known = &self.program.enumerations[code as usize];
                let lo = known.root.first().copied().unwrap_or_default();
                if known.root.is_empty() || !(lo..).zip(&known.root).all(|(at, number)| at == *number) {
                    return Op::Leaf;
                }
                number(lo, known.root.len() as u64 - 1, known.whole, known.extensible)
            }
            Code::Sequence(code) => Op::Sequence(code),
            Code::SequenceOf(..) => Op::List,
            Code::Choice(code) => Op::Choice(code),
            Code::Open => Op::Open,
            Code::OctetsContaining(_) | Code::BitsContaining(..) => Op::Containing,
            _ => Op::Leaf,
        }
    }
}

fn count_runs(steps: &mut [Step]) {
    let mut run = 0_u8;
    for step in steps.iter_mut().rev() {
        run = if step.run == 0 { 0 } else { run.saturating_add(1) };
        step.run = run;
    }
}

fn number(lo: i64, span: u64, whole: Whole, extensible: bool) -> Op {
    let (Ok(lo), Ok(span)) = (i32::try_from(lo), u32::try_from(span)) else { return Op::Leaf };
    let Some((width, pad)) = whole.field_behind(extensible) else { return Op::Leaf };
    Op::Number { lo, span, width, pad }
}
