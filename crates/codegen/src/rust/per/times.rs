//! The forms of times.

use super::Per;
use crate::rust::per_forms::whole;
use std::collections::HashSet;
use tercet_plan::NodeId;
use tercet_plan::per::{Code, Integer, IntegerForm, TimePart, TimeStep};
use tercet_runtime::types::TimeType;

impl Per<'_, '_> {
    /// A static for each form that a type of the program has.
    pub(super) fn times(&mut self) {
        let mut printed = HashSet::new();
        for node in self.p.types.nodes().collect::<Vec<_>>() {
            let Code::Time(index) = self.code(node) else { continue };
            let name = self.time(node, index);
            if printed.insert(name.clone()) {
                let kind = self.p.types.shape.node(node).kind.time_type().unwrap_or(TimeType::Time);
                self.line("");
                self.open(format!("static {name}: per::TimeForm = per::TimeForm {{"));
                self.line(format!("kind: TimeType::{kind:?},"));
                self.parts(index);
                self.close("};");
            }
        }
    }

    fn parts(&mut self, index: u32) {
        let program = self.program;
        self.open("parts: &[");
        for part in &program.times[index as usize].parts {
            let (form, steps) = match part {
                TimePart::Point(steps) => ("Point", steps),
                TimePart::Duration(steps) => ("Duration", steps),
                TimePart::Recurrence(integer, digits) => {
                    self.line(format!("per::TimePart::Recurrence({}, {digits}),", number(*integer)));
                    continue;
                }
            };
            self.open(format!("per::TimePart::{form}(&["));
            self.p.text.fill(steps.iter().map(step));
            self.close("]),");
        }
        self.close("],");
    }

    /// The name of a node's form: that of the first node that has the same.
    pub(super) fn time(&self, node: NodeId, index: u32) -> String {
        let kind = |node: NodeId| self.p.types.shape.node(node).kind;
        let times = &self.program.times;
        let is_same = |other: &NodeId| match self.code(*other) {
            Code::Time(at) => kind(*other) == kind(node) && times[at as usize] == times[index as usize],
            _ => false,
        };
        let first = self.p.types.nodes().find(is_same).unwrap_or(node);
        format!("{}_TIME_{}", self.rules.to_uppercase(), first.0)
    }
}

fn step(step: &TimeStep) -> String {
    match step {
        TimeStep::Presence(unit) => format!("per::TimeStep::Presence(per::TimeUnit::{unit:?}),"),
        TimeStep::Number(unit, integer) => {
            format!("per::TimeStep::Number(per::TimeUnit::{unit:?}, {}),", number(*integer))
        }
        TimeStep::Ranges(unit, ranges) => {
            let ranges = ranges.map(number).join(", ");
            format!("per::TimeStep::Ranges(per::TimeUnit::{unit:?}, [{ranges}]),")
        }
        TimeStep::Always(unit, number) => {
            format!("per::TimeStep::Always(per::TimeUnit::{unit:?}, {number}),")
        }
        TimeStep::Utc => "per::TimeStep::Utc,".into(),
    }
}

fn number(integer: Integer) -> String {
    match integer.form {
        IntegerForm::Constrained { lo, span, whole: form } => {
            format!("per::TimeNumber::Range({}, {lo}, {span}, {})", whole(form), integer.extensible)
        }
        _ => "per::TimeNumber::Any".into(),
    }
}
