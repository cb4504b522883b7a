//! The forms of times.

use super::Per;
use crate::code::per::TimeForm;
use crate::rust::imports::{PER, TIME_TYPE};
use crate::rust::per_forms::whole;
use tercet_plan::NodeId;
use tercet_plan::per::{Integer, IntegerForm, TimePart, TimeStep};

impl Per<'_, '_> {
    /// A static for each form.
    pub(super) fn times(&mut self, times: &[TimeForm]) {
        for form in times {
            self.line("");
            self.open(format!("static {}: {PER}::TimeForm = {PER}::TimeForm {{", self.time(form.node)));
            self.line(format!("kind: {TIME_TYPE}::{:?},", form.kind));
            self.parts(&form.parts);
            self.close("};");
        }
    }

    fn parts(&mut self, parts: &[TimePart]) {
        self.open("parts: &[");
        for part in parts {
            let (form, steps) = match part {
                TimePart::Point(steps) => ("Point", steps),
                TimePart::Duration(steps) => ("Duration", steps),
                TimePart::Recurrence(integer, digits) => {
                    self.line(format!("{PER}::TimePart::Recurrence({}, {digits}),", number(*integer)));
                    continue;
                }
            };
            self.open(format!("{PER}::TimePart::{form}(&["));
            self.p.text.fill(steps.iter().map(step));
            self.close("]),");
        }
        self.close("],");
    }

    /// The name of the form that is called by a node.
    pub(super) fn time(&self, node: NodeId) -> String {
        format!("{}_TIME_{}", self.rules.to_uppercase(), node.0)
    }
}

fn step(step: &TimeStep) -> String {
    match step {
        TimeStep::Presence(unit) => format!("{PER}::TimeStep::Presence({PER}::TimeUnit::{unit:?}),"),
        TimeStep::Number(unit, integer) => {
            format!("{PER}::TimeStep::Number({PER}::TimeUnit::{unit:?}, {}),", number(*integer))
        }
        TimeStep::Ranges(unit, ranges) => {
            let ranges = ranges.map(number).join(", ");
            format!("{PER}::TimeStep::Ranges({PER}::TimeUnit::{unit:?}, [{ranges}]),")
        }
        TimeStep::Always(unit, number) => {
            format!("{PER}::TimeStep::Always({PER}::TimeUnit::{unit:?}, {number}),")
        }
        TimeStep::Utc => format!("{PER}::TimeStep::Utc,"),
    }
}

fn number(integer: Integer) -> String {
    match integer.form {
        IntegerForm::Constrained { lo, span, whole: form } => {
            format!("{PER}::TimeNumber::Range({}, {lo}, {span}, {})", whole(form), integer.extensible)
        }
        _ => format!("{PER}::TimeNumber::Any"),
    }
}
