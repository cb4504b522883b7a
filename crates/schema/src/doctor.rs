//! Ways to read a record file, found by trial: types, the meaning of tags, framings, lists inside of values.

use crate::{GivenFraming, RecordPlan, Schema, TrialPlan};
use std::cell::Cell;
use std::cmp::Reverse;
use std::sync::Arc;
use tercet_dynamic::{Options, Unknown};
use tercet_model::Tagging;
use tercet_records::{Budget, Check, Fit, SettingError, fit};

/// Bytes that many types are tried on; the best are tried on more.
const TYPES: usize = 1 << 16;
/// Values of a file that may each be a list of records.
const FEW: u64 = 3;

/// A way to read a file, and what came of it.
#[derive(Clone, Debug)]
pub struct Way {
    /// How well it fits.
    pub fit: Fit,
    /// The type of records, or of the values around them.
    pub type_name: String,
    /// What tags mean.
    pub tags: Tagging,
    /// Whether components that the type does not have are passed over.
    pub keep: bool,
    /// The list inside of the type whose elements the records are.
    pub records: Option<String>,
}

/// Tries ways to read the first bytes of files.
#[derive(Clone, Debug)]
pub struct Doctor {
    /// The specifications, by the meaning that tags have: all of these are tried.
    pub schemas: Vec<(Tagging, Arc<Schema>)>,
    /// The type; all that no other refers to if it is not given.
    pub type_name: Option<String>,
    /// The list of records inside of the type.
    pub records: Option<String>,
    /// What is known of the framing.
    pub given: GivenFraming,
    /// How records are decoded.
    pub options: Options,
    /// Ways that are tried on all bytes, and given.
    pub most: usize,
}

impl Doctor {
    /// The ways by which anything decodes, the best first; `whole` tells whether the bytes are the whole file.
    ///
    /// # Errors
    /// When what is given of the framing is none.
    pub fn ways(&self, sample: &[u8], whole: bool) -> Result<Vec<Way>, SettingError> {
        let mut ways = self.ways_with(sample, whole, false)?;
        let is_kept = self.options.unknown == Unknown::Keep;
        if !is_kept && !ways.first().is_some_and(|way| way.fit.is_perfect()) {
            let kept = self.ways_with(sample, whole, true)?;
            let more = kept.into_iter().filter(|kept| {
                let known = ways.iter().find(|way| way.type_name == kept.type_name && way.tags == kept.tags);
                known.is_none_or(|known| known.fit.records < kept.fit.records)
            });
            ways.extend(more.collect::<Vec<_>>());
            ways.sort_by_key(|way| Reverse(way.fit.weight()));
        }
        Ok(ways)
    }

    fn ways_with(&self, sample: &[u8], whole: bool, keep: bool) -> Result<Vec<Way>, SettingError> {
        let few = &sample[..sample.len().min(TYPES)];
        let is_whole = whole && few.len() == sample.len();
        let mut ways: Vec<Way> = Vec::new();
        let types = |schema: &Schema| match &self.type_name {
            Some(name) => vec![name.clone()],
            None => schema.outermost_names(),
        };
        let all: Vec<_> = self.schemas.iter().map(|(tags, schema)| (*tags, schema, types(schema))).collect();
        let mut budget = Budget::of(all.iter().map(|(.., types)| types.len()).sum());
        let mut add = |type_name: String, tags: Tagging, fit: Option<Fit>| {
            let Some(fit) = fit else { return };
            // The same by other tags says nothing new.
            let known = ways.iter().any(|way| way.type_name == type_name && way.fit.weight() >= fit.weight());
            if !known {
                ways.push(Way { fit, type_name, tags, keep, records: self.records.clone() });
            }
        };
        for (tags, schema, types) in all {
            if let Some(path) = &self.records {
                for type_name in types {
                    let Ok(plan) = RecordPlan::new(schema, &type_name, Some(path)) else { continue };
                    let plan = plan.framed(&self.given)?;
                    let fit = budget.share(|octets| self.fit_of(&plan, keep, few, is_whole, Some(octets)));
                    add(type_name, tags, fit);
                }
                continue;
            }
            let Ok(plan) = TrialPlan::new(schema, types) else { continue };
            let options = self.options(keep);
            for (type_name, record, framing) in plan.types {
                let framing = self.given.framed(framing)?;
                let fit = budget.share(|octets| {
                    let check = Check::new(&plan.plan, Some(&plan.others), record, &options);
                    fit(&mut check.within(octets), &framing, self.given.framing.is_none(), few, is_whole)
                });
                add(type_name, tags, fit);
            }
        }
        ways.sort_by_key(|way| Reverse(way.fit.weight()));
        if few.len() < sample.len() {
            ways.truncate(self.most.max(1));
            for way in &mut ways {
                if let Some(fit) = self.fit(way, sample, whole)? {
                    way.fit = fit;
                }
            }
            ways.sort_by_key(|way| Reverse(way.fit.weight()));
        }
        Ok(ways)
    }

    fn fit_of(
        &self,
        plan: &RecordPlan,
        keep: bool,
        sample: &[u8],
        whole: bool,
        budget: Option<&Cell<u64>>,
    ) -> Option<Fit> {
        let options = self.options(keep);
        let mut check = Check::new(&plan.plan, Some(&plan.others), plan.record, &options);
        if let Some(budget) = budget {
            check = check.within(budget);
        }
        fit(&mut check, &plan.framing, self.given.framing.is_none(), sample, whole)
    }

    fn options(&self, keep: bool) -> Options {
        let mut options = self.options.clone();
        if keep {
            options.unknown = Unknown::Keep;
        }
        options
    }

    fn schema(&self, tags: Tagging) -> Option<&Arc<Schema>> {
        self.schemas.iter().find(|(known, _)| *known == tags).map(|(_, schema)| schema)
    }

    /// What a file comes to in a way that another one is read in; nothing if no record decodes.
    ///
    /// # Errors
    /// As [`Doctor::ways`].
    pub fn fit(&self, way: &Way, sample: &[u8], whole: bool) -> Result<Option<Fit>, SettingError> {
        let Some(schema) = self.schema(way.tags) else { return Ok(None) };
        let plan = RecordPlan::new(schema, &way.type_name, way.records.as_deref());
        let plan = plan.map_err(|error| error.to_string())?.framed(&self.given)?;
        Ok(self.fit_of(&plan, way.keep, sample, whole, None))
    }

    /// The same way with the list inside of the values, if these are few and most of them is a list.
    pub fn with_list(&self, way: &Way, sample: &[u8], whole: bool) -> Way {
        let is_few = way.records.is_none() && way.fit.tried <= FEW && way.fit.framing.spelt() == "plain";
        let found = self.schema(way.tags).filter(|_| is_few).and_then(|schema| {
            let options = self.options(way.keep);
            RecordPlan::list_in(schema, &way.type_name, &way.fit.framing, &options, sample, whole)
        });
        match found {
            Some((path, fit)) => Way { fit, records: Some(path), ..way.clone() },
            None => way.clone(),
        }
    }
}
