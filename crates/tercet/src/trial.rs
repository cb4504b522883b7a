//! How well a way to read records fits the first bytes of a file.

use crate::RecordPlan;
use tercet_dynamic::Options;
use tercet_records::{Check, Framing, detect, score};

/// The first bytes of a file, without compression, to try ways to read them on.
#[derive(Clone, Debug)]
pub struct Trial {
    sample: Vec<u8>,
    whole: bool,
}

/// How many of the first records decode.
#[derive(Clone, Debug, Default)]
pub struct Fits {
    /// Records that do.
    pub good: u64,
    /// Records that were tried.
    pub seen: u64,
    /// Bytes of the records that decode.
    pub octets: u64,
    /// The framing in which they stand; nothing if no record decodes.
    pub framing: Option<Framing>,
}

impl Fits {
    /// Whether there are records and all of them decode.
    pub fn are_all(&self) -> bool {
        self.seen > 0 && self.good == self.seen
    }
}

impl Trial {
    /// Bytes that are enough for a trial.
    pub const ENOUGH: usize = 1 << 20;

    /// A trial on the first bytes of a file, and whether they are the whole file.
    pub fn new(sample: Vec<u8>, whole: bool) -> Self {
        Self { sample, whole }
    }

    /// The bytes that are tried.
    pub fn sample(&self) -> &[u8] {
        &self.sample
    }

    /// Decodes the first records of a plan: in its framing or, with `trial`, in the framing that fits best.
    pub fn fits(&self, plan: &RecordPlan, trial: bool, options: &Options) -> Fits {
        let mut check = Check::new(&plan.plan, Some(&plan.others), plan.record, options);
        let (score, framing) = if trial {
            match detect(&plan.framing, &self.sample, self.whole, &mut check) {
                Some(found) => (found.score, Some(found.framing)),
                None => return Fits::default(),
            }
        } else {
            let score = score(&plan.framing, &self.sample, self.whole, &mut check);
            (score, (score.records > 0).then(|| plan.framing.clone()))
        };
        Fits { good: score.records, seen: score.records + score.failed, octets: score.good, framing }
    }
}
