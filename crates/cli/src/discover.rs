//! The type of a file that nobody has named: candidates are tried on the first records.

use crate::exit::{Failure, Outcome};
use crate::inputs::Input;
use crate::job::Job;
use crate::term;
use std::sync::Arc;
use tercet::Schema;
use tercet::dynamic::{Decoder, Discard, Options};
use tercet::plan::Rules;
use tercet::records::{Check, Framing, Identifiers, Part, RecordReader, detect, score};

/// Octets looked at.
const SAMPLE: u64 = 1 << 20;
/// Octets that are enough to see that nothing is wrong.
const FIRST: u64 = 1 << 14;
/// Octets that types are tried on with all framings.
const FRAMED: usize = 1 << 15;
/// Records tried.
const RECORDS: usize = 64;

/// The full name of the type that decodes most of the first records, from those that no other type refers to.
pub fn discover(schema: &Arc<Schema>, input: &Input, options: &Options) -> Outcome<String> {
    let candidates = schema.outermost();
    if let [(name, _)] = &candidates[..] {
        return Ok(name.clone());
    }
    let say = "say which one it is with `--type`";
    if *input == Input::Stdin {
        return Err(Failure::usage(format_args!(
            "standard input cannot be tried on {} types; {say}",
            candidates.len()
        )));
    }
    let sample = input.sample(SAMPLE)?;
    let records = cut(&sample);
    let mut ranked = Vec::new();
    for (name, _) in candidates {
        let Ok(plans) = schema.trial_plans(&[Rules::Ber], &[&name]) else { continue };
        let Some(plan) = plans.first() else { continue };
        let Some(root) = plan.root(&name) else { continue };
        let mut decoder = Decoder::new();
        let fits = |octets: &&Vec<u8>| {
            decoder
                .decode(plan, root, octets, &mut Discard, options)
                .is_ok_and(|length| length == octets.len())
        };
        let count = records.iter().filter(fits).count();
        if count > 0 {
            ranked.push((count, name));
        }
    }
    if ranked.is_empty() {
        ranked = framed(schema, &sample, options);
    }
    ranked.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    match &ranked[..] {
        [] if records.is_empty() => Err(Failure::input(format_args!(
            "{}: there is nothing that looks like BER; {say}",
            input.shown()
        ))),
        [] => Err(Failure::input(format_args!("{}: no type fits the first records; {say}", input.shown()))),
        [(count, name), (next, other), ..] if count == next => Err(Failure::usage(format_args!(
            "`{name}` and `{other}` fit {count} of the first {} records alike; {say}",
            records.len()
        ))),
        [(count, name), ..] => {
            term::say(format_args!("type `{name}`: fits {count} of the first {} records", records.len()));
            Ok(name.clone())
        }
    }
}

/// How many records of each type there are if each may have another framing.
fn framed(schema: &Arc<Schema>, sample: &[u8], options: &Options) -> Vec<(usize, String)> {
    let mut ranked = Vec::new();
    for (name, _) in schema.outermost() {
        let Ok(job) = Job::new(schema, &name, None) else { continue };
        let trial = Trial { sample: sample[..sample.len().min(FRAMED)].to_vec(), cut: true };
        let fits = trial.fits(&job, options);
        if fits.good > 0 {
            ranked.push((fits.good.min(RECORDS), name));
        }
    }
    ranked
}

/// The first octets of an input, to try a way of reading them on.
pub struct Trial {
    sample: Vec<u8>,
    /// Whether the input goes on.
    cut: bool,
}

/// How many of the first records decoded.
pub struct Fits {
    /// Those that did.
    pub good: usize,
    /// Those that were tried.
    pub seen: usize,
    /// Octets of those that did.
    pub octets: u64,
}

impl Fits {
    /// Whether there were records and all of them decoded.
    pub fn are_all(&self) -> bool {
        self.seen > 0 && self.good == self.seen
    }
}

impl Trial {
    /// Reads the first octets of a file; nothing of what cannot be read twice, as pipes, or not at all.
    pub fn new(input: &Input) -> Option<Self> {
        Self::of(input, SAMPLE)
    }

    /// The same with fewer octets: what they do not fit is to be tried on more.
    pub fn short(input: &Input) -> Option<Self> {
        Self::of(input, FIRST)
    }

    fn of(input: &Input, octets: u64) -> Option<Self> {
        let Input::File(path) = input else { return None };
        if !std::fs::metadata(path).is_ok_and(|found| found.is_file()) {
            return None;
        }
        let sample = input.sample(octets).ok()?;
        Some(Self { cut: sample.len() as u64 == octets, sample })
    }

    /// Decodes the first records as a job would.
    pub fn fits(&self, job: &Job, options: &Options) -> Fits {
        self.found(job, options).0
    }

    /// Decodes the first records as a job would, and tells in which framing.
    pub fn found(&self, job: &Job, options: &Options) -> (Fits, String) {
        let mut check = Check::new(&job.plan, Some(&job.others), job.record, options);
        let whole = !self.cut;
        let (score, framing) = if job.detect {
            let found = detect(&job.framing, &self.sample, whole, &mut check);
            found.map(|found| (found.score, found.framing.spelt())).unwrap_or_default()
        } else {
            (score(&job.framing, &self.sample, whole, &mut check), job.framing.spelt())
        };
        let (good, seen) = (score.records as usize, (score.records + score.failed) as usize);
        (Fits { good, seen, octets: score.good }, framing)
    }

    /// Octets that are tried.
    pub fn len(&self) -> usize {
        self.sample.len()
    }
}

/// The first complete elements.
fn cut(sample: &[u8]) -> Vec<Vec<u8>> {
    let mut reader = RecordReader::new(sample, Framing::concatenated(Identifiers::any()));
    let mut records = Vec::new();
    while let Ok(Some(item)) = reader.next(&mut |_| true) {
        if item.part == Part::Record {
            records.push(item.octets.to_vec());
        }
        if records.len() == RECORDS {
            break;
        }
    }
    records
}
