//! The forms of times.

use super::Oer;
use std::collections::HashSet;
use tercet_plan::Kind;
use tercet_plan::oer::{Code, Integer, Time, TimeStep};
use tercet_runtime::types::TimeType;

impl Oer<'_, '_> {
    /// A static for each form that a type of the program has.
    pub(super) fn times(&mut self) {
        let program = self.program;
        let mut printed = HashSet::new();
        for node in self.p.types.nodes().collect::<Vec<_>>() {
            let Code::Time(index) = self.code(node) else { continue };
            let first = self.first(index);
            if let Time::Point(steps) = &program.times[first]
                && printed.insert(first)
            {
                self.line("");
                self.open(format!("static OER_TIME_{first}: &[oer::TimeStep] = &["));
                self.p.text.fill(steps.iter().map(|known| step(known) + ","));
                self.close("];");
            }
        }
    }

    /// The first of the forms that are the same.
    fn first(&self, index: u32) -> usize {
        let times = &self.program.times;
        times.iter().position(|time| *time == times[index as usize]).unwrap_or(index as usize)
    }

    /// The begin of the call that reads or writes a time.
    pub(super) fn time(&self, kind: Kind, index: u32) -> String {
        let (first, kind) = (self.first(index), kind.time_type().unwrap_or(TimeType::Time));
        match self.program.times[first] {
            Time::Point(_) => format!("point(TimeType::{kind:?}, OER_TIME_{first}"),
            Time::Duration => format!("duration(TimeType::{kind:?}"),
        }
    }
}

fn step(step: &TimeStep) -> String {
    match step {
        TimeStep::Number(unit, integer) => {
            let number = match integer {
                Integer::Unsigned(octets) => format!("Unsigned({octets})"),
                Integer::Signed(octets) => format!("Signed({octets})"),
                Integer::UnsignedVariable => "UnsignedVariable".into(),
                Integer::SignedVariable => "SignedVariable".into(),
            };
            format!("oer::TimeStep::Number(oer::TimeUnit::{unit:?}, oer::TimeNumber::{number})")
        }
        TimeStep::Difference => "oer::TimeStep::Difference".into(),
        TimeStep::Always(unit, number) => {
            format!("oer::TimeStep::Always(oer::TimeUnit::{unit:?}, {number})")
        }
        TimeStep::Utc => "oer::TimeStep::Utc".into(),
    }
}
