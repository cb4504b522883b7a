//! What records are and how they are found: the type by the tags that are meant, the framing that is given.

use super::input::Input;
use crate::interrupt::interruptible;
use crate::schema::Schema;
use crate::{error, options};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::io::{self, Read};
use std::sync::Arc;
use tercet::dynamic::Options;
use tercet::records::{Check, Fit, fit, inputs};
use tercet::{GivenFraming, RecordPlan};

/// The arguments that say so.
#[derive(Clone, Debug)]
pub(super) struct Plans {
    pub(super) type_name: String,
    /// The path of the list of records inside of the type.
    pub(super) list: Option<String>,
    pub(super) given: GivenFraming,
}

impl Plans {
    /// The plan by the specifications with some tags.
    pub(super) fn plan(&self, py: Python<'_>, schema: &Arc<tercet::Schema>) -> PyResult<RecordPlan> {
        let (schema, name, list) = (Arc::clone(schema), self.type_name.clone(), self.list.clone());
        let plan = interruptible(py, move || RecordPlan::new(&schema, &name, list.as_deref()))?;
        let plan = plan.map_err(|fault| error::schema(py, &fault.to_string(), |_| Ok(())))?;
        plan.framed(&self.given).map_err(error::argument)
    }

    /// The plan by the tags that fit the first input best, if the schema leaves open which are meant.
    pub(super) fn meant(
        &self,
        py: Python<'_>,
        schema: &Schema,
        plan: RecordPlan,
        inputs: &[Input],
        options: &Options,
    ) -> PyResult<RecordPlan> {
        let Some(others) = schema.others() else { return Ok(plan) };
        let Some(input) = inputs.iter().find(|input| input.is_read_again()).cloned() else { return Ok(plan) };
        // What cannot be read is said by those who read it.
        let Ok(samples) = interruptible(py, move || samples(&input, 1))? else { return Ok(plan) };
        let Some((_, sample, whole)) = samples.into_iter().next() else { return Ok(plan) };
        let sample: Arc<[u8]> = sample.into();
        let fits = |plan: RecordPlan| {
            let (sample, options, trial) =
                (Arc::clone(&sample), options.clone(), self.given.framing.is_none());
            interruptible(py, move || {
                let mut check = Check::new(&plan.plan, Some(&plan.others), plan.record, &options);
                let found = fit(&mut check, &plan.framing, trial, &sample, whole);
                (found, plan)
            })
        };
        let (found, mut best) = fits(plan)?;
        if found.as_ref().is_some_and(Fit::is_perfect) {
            return Ok(best);
        }
        let mut most = found.map_or(0, |fit| fit.weight());
        for other in others.get(py)? {
            // What is no type or list by these tags is none that is meant.
            let Ok(plan) = self.plan(py, &other) else { continue };
            let (found, plan) = fits(plan)?;
            let weight = found.map_or(0, |fit| fit.weight());
            if weight > most {
                (most, best) = (weight, plan);
            }
        }
        Ok(best)
    }
}

/// Bytes that are enough for a trial.
const ENOUGH: usize = 1 << 20;

/// The first bytes, without compression, of so many of the files that an input consists of: their names, the bytes, and
/// whether these are all.
pub(super) fn samples(input: &Input, most: usize) -> io::Result<Vec<(String, Vec<u8>, bool)>> {
    let mut samples = Vec::new();
    let stream = inputs::unpack(input.open()?)?;
    inputs::each(input.name(), stream, &mut |_, _| {}, &mut |name, stream| {
        let mut sample = Vec::new();
        stream.take(ENOUGH as u64).read_to_end(&mut sample)?;
        let whole = sample.len() < ENOUGH;
        samples.push((name.to_owned(), sample, whole));
        Ok::<_, io::Error>(samples.len() < most)
    })?;
    Ok(samples)
}

/// Takes one of the keyword arguments out.
pub(super) fn option<'py, T: for<'a> FromPyObject<'a, 'py>>(
    keywords: &Bound<'py, PyDict>,
    name: &str,
) -> PyResult<Option<T>> {
    let given = options::take(keywords, name)?;
    given.map(|given| error::option(name, &given)).transpose()
}
