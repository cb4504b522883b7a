//! What records are and how they are found: the type by the tags that are meant, the framing that is given.

use super::input::Input;
use crate::error;
use crate::interrupt::interruptible;
use crate::schema::Schema;
use pyo3::prelude::*;
use std::io::{self, Read};
use std::sync::Arc;
use tercet::dynamic::Options;
use tercet::records::{RecordFormat, inputs};
use tercet::{RecordPlan, Trial};

/// The arguments that say so.
#[derive(Clone, Debug)]
pub(super) struct Plans {
    pub(super) type_name: String,
    /// The path of the list of records inside of the type.
    pub(super) list: Option<String>,
    /// The framing, unless it is to be found out.
    pub(super) framing: Option<String>,
    pub(super) rules: Option<RecordFormat>,
    pub(super) filler: Option<Vec<u8>>,
    pub(super) record_limit: Option<usize>,
}

impl Plans {
    /// The plan by the specifications with some tags.
    pub(super) fn plan(&self, py: Python<'_>, schema: &Arc<tercet::Schema>) -> PyResult<RecordPlan> {
        let (schema, name, list) = (Arc::clone(schema), self.type_name.clone(), self.list.clone());
        let plan = interruptible(py, move || RecordPlan::new(&schema, &name, list.as_deref()))?;
        let mut plan = plan.map_err(|fault| error::schema(py, &fault.to_string(), |_| Ok(())))?;
        if let Some(filler) = &self.filler {
            plan.framing.filler.clone_from(filler);
        }
        if let Some(limit) = self.record_limit {
            plan.framing.record_limit = limit;
        }
        if let Some(framing) = &self.framing {
            plan.framing = plan.framing.clone().with(framing).map_err(error::argument)?;
        }
        plan.framing.rules = self.rules;
        plan.framing.check(self.framing.is_none()).map_err(error::argument)?;
        Ok(plan)
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
        let Ok(trial) = interruptible(py, move || sample(&input))? else { return Ok(plan) };
        let trial = Arc::new(trial);
        let fits = |plan: RecordPlan| {
            let (trial, options, detect) = (Arc::clone(&trial), options.clone(), self.framing.is_none());
            interruptible(py, move || (trial.fits(&plan, detect, &options), plan))
        };
        let (found, mut best) = fits(plan)?;
        if found.are_all() {
            return Ok(best);
        }
        let mut most = found.good;
        for other in others.get(py)? {
            // What is no type or list by these tags is none that is meant.
            let Ok(plan) = self.plan(py, &other) else { continue };
            let (found, plan) = fits(plan)?;
            if found.good > most {
                (most, best) = (found.good, plan);
            }
        }
        Ok(best)
    }
}

/// The first bytes of an input, without compression.
fn sample(input: &Input) -> io::Result<Trial> {
    let mut sample = Vec::new();
    let stream = inputs::unpack(input.open()?)?;
    inputs::each(input.name(), stream, &mut |_, _| {}, &mut |_, stream| {
        stream.take(Trial::ENOUGH as u64).read_to_end(&mut sample)?;
        Ok::<_, io::Error>(false)
    })?;
    let whole = sample.len() < Trial::ENOUGH;
    Ok(Trial::new(sample, whole))
}
