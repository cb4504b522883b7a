//! The forms of times.

use super::Oer;
use crate::rust::imports::OER;
use tercet_plan::oer::{Integer, TimeStep};

impl Oer<'_, '_> {
    /// A static for each form.
    pub(super) fn times(&mut self, times: &[(usize, Vec<TimeStep>)]) {
        for (number, steps) in times {
            self.line("");
            self.open(format!("static OER_TIME_{number}: &[{OER}::TimeStep] = &["));
            self.p.text.fill(steps.iter().map(|known| step(known) + ","));
            self.close("];");
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
            format!("{OER}::TimeStep::Number({OER}::TimeUnit::{unit:?}, {OER}::TimeNumber::{number})")
        }
        TimeStep::Difference => format!("{OER}::TimeStep::Difference"),
        TimeStep::Always(unit, number) => {
            format!("{OER}::TimeStep::Always({OER}::TimeUnit::{unit:?}, {number})")
        }
        TimeStep::Utc => format!("{OER}::TimeStep::Utc"),
    }
}
