//! The type of a file that nobody has named: candidates are tried on the first records.

use crate::exit::{Failure, Outcome};
use crate::inputs::Input;
use crate::job::Job;
use crate::term;
use std::cmp::Reverse;
use std::io::Read;
use std::sync::Arc;
use tercet::dynamic::Options;
use tercet::records::{Budget, Check, Fit, fit};
use tercet::{GivenFraming, Schema, TrialPlan};

/// Bytes looked at.
const SAMPLE: u64 = 1 << 20;
/// Bytes that are enough to see that nothing is wrong.
const FIRST: u64 = 1 << 14;
/// Bytes that many types are tried on.
const TYPES: usize = 1 << 16;
/// Types of which each is tried on fewer bytes, if there are more.
const MANY: usize = 64;

/// Finds the full name of the type that decodes most of the first records, of those that no other type refers to. Records
/// are found by the framing that is given; without one, other framings are tried where plain records fail.
pub fn discover(
    schema: &Arc<Schema>,
    given: &GivenFraming,
    input: &Input,
    options: &Options,
) -> Outcome<String> {
    let candidates = schema.outermost_names();
    if let [name] = &candidates[..] {
        return Ok(name.clone());
    }
    let say = "name the type with `--type`";
    if *input == Input::Stdin {
        return Err(Failure::usage(format_args!(
            "standard input cannot be tried on {} types; {say}",
            candidates.len()
        )));
    }
    let sample = input.sample(SAMPLE)?;
    let trial = Trial { cut: sample.len() as u64 == SAMPLE, sample }.few();
    let plan = TrialPlan::new(schema, candidates.clone()).map_err(Failure::usage)?;
    let ranked = |detect: bool| -> Outcome<Vec<(Fit, String)>> {
        let mut ranked = Vec::new();
        let mut budget = Budget::of(candidates.len());
        // A share is to be enough for many framings.
        let most = if detect && candidates.len() > MANY { FIRST as usize } else { TYPES };
        let octets = &trial.sample[..trial.sample.len().min(most)];
        let is_whole = trial.is_whole() && octets.len() == trial.sample.len();
        for (name, record, framing) in &plan.types {
            let framing = given.framed(framing.clone()).map_err(Failure::usage)?;
            let fit = budget.share(|budget| {
                let check = Check::new(&plan.plan, Some(&plan.others), *record, options);
                fit(&mut check.within(budget), &framing, detect, octets, is_whole)
            });
            ranked.extend(fit.map(|fit| (fit, name.clone())));
        }
        ranked.sort_by_key(|(fit, _)| Reverse(fit.weight()));
        Ok(ranked)
    };
    // Other framings cost more: they are tried if plain records fail for the most part.
    let mut found = ranked(false)?;
    let is_poor = found.first().is_none_or(|(fit, _)| 2 * fit.octets < trial.sample.len() as u64);
    if is_poor && given.framing.is_none() {
        found = ranked(true)?;
    }
    match &found[..] {
        [] => Err(Failure::input(format_args!("{}: no type fits the first records; {say}", input.shown()))),
        [(fit, name), (next, other), ..] if fit.weight() == next.weight() => {
            Err(Failure::usage(format_args!(
                "`{name}` and `{other}` fit {} of the first {} records alike; {say}",
                fit.records, fit.tried
            )))
        }
        [(fit, name), ..] => {
            term::say(format_args!("type `{name}`: fits {} of the first {} records", fit.records, fit.tried));
            Ok(name.clone())
        }
    }
}

/// The first bytes of an input, to try a way of reading them on.
pub struct Trial {
    sample: Vec<u8>,
    /// Whether the input goes on.
    cut: bool,
}

impl Trial {
    /// Reads the first bytes of a file; nothing of what cannot be read twice, as pipes, or not at all.
    pub fn new(input: &Input) -> Option<Self> {
        Self::of(input, SAMPLE)
    }

    /// The same with fewer bytes: what they do not fit is to be tried on more.
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

    /// The first bytes of the files that an input consists of: of the one that it is, or of those in an archive.
    pub fn all(input: &Input) -> Outcome<Vec<(String, Self)>> {
        let mut found = Vec::new();
        input.each(true, &mut |name, reader| {
            let mut sample = Vec::new();
            let read = reader.take(SAMPLE).read_to_end(&mut sample);
            read.map_err(|error| Failure::io(name, &error))?;
            found.push((name.to_owned(), Self { cut: sample.len() as u64 == SAMPLE, sample }));
            Ok(true)
        })?;
        Ok(found)
    }

    /// Fewer of these bytes, to try many types on.
    pub fn few(&self) -> Self {
        let sample = &self.sample[..self.sample.len().min(TYPES)];
        Self { sample: sample.to_vec(), cut: self.cut || sample.len() < self.sample.len() }
    }

    /// Decodes the first records as a job would; nothing if there are none.
    pub fn fit(&self, job: &Job, options: &Options) -> Option<Fit> {
        let mut check = Check::new(&job.plan, Some(&job.others), job.record, options);
        fit(&mut check, &job.framing, job.detect, &self.sample, !self.cut)
    }

    /// The bytes that are tried.
    pub fn octets(&self) -> &[u8] {
        &self.sample
    }

    /// Whether these are all bytes of the file.
    pub fn is_whole(&self) -> bool {
        !self.cut
    }
}
