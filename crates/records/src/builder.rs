//! What makes a converter: everything that happens to records, in whatever order it is given.

use crate::children::Children;
use crate::control_totals::{ControlTotalRules, ControlTotals};
use crate::conversion::Prepared;
use crate::convert::{Converter, Settings};
use crate::dedupe::Dedupe;
use crate::explode::Explode;
use crate::figures::Figures;
use crate::filter::Filter;
use crate::interpret::Interpretation;
use crate::other_rules::OtherRules;
use crate::reach::want;
use crate::rows::Steps;
use crate::split::Split;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use tercet_dynamic::{Plan, Shape};
use tercet_plan::Kind;

/// Collects what happens to records. [`ConverterBuilder::build`] finds out which fields have to be decoded for all of it.
#[derive(Debug)]
pub struct ConverterBuilder<'p> {
    steps: Steps<'p>,
    settings: Settings,
    control_totals: Option<&'p ControlTotalRules>,
    stop: Option<Arc<AtomicBool>>,
    split: Option<Split>,
    limit: Option<u64>,
}

impl<'p> ConverterBuilder<'p> {
    pub(crate) fn new(plan: &'p Plan, settings: Settings) -> Self {
        let steps = Steps::new(plan, &settings);
        Self { steps, settings, control_totals: None, stop: None, split: None, limit: None }
    }

    /// Sets everything that a conversion asks for: rendering, totals of files, filter, figures, and rows of lists.
    #[must_use]
    pub fn prepared(mut self, prepared: &'p Prepared) -> Self {
        self.control_totals = Some(&prepared.control_totals);
        let steps = &mut self.steps;
        steps.rendering = prepared.rendering.as_ref();
        steps.filter.clone_from(&prepared.filter);
        steps.figures = prepared.figures.clone();
        steps.explode = prepared.explode.as_ref();
        steps.children = prepared.children.as_ref();
        self
    }

    /// Converts a split of a file, with the framing as the settings have it.
    #[must_use]
    pub fn split(self, split: Split) -> Self {
        Self { split: Some(split), ..self }
    }

    /// Decodes records in other rules than BER too, where headers or the settings name them; else they are rejected.
    #[must_use]
    pub fn other_rules(mut self, others: &'p OtherRules) -> Self {
        self.steps.others = Some(others);
        self
    }

    /// Shows values by a rendering of the plan's shape: renderers require the shape of the rendering.
    #[must_use]
    pub fn rendering(mut self, rendering: Option<&'p Interpretation>) -> Self {
        self.steps.rendering = rendering;
        self
    }

    /// Looks at a flag before every record; once it is set, the input ends as if `progress` had ended it.
    #[must_use]
    pub fn stop(self, flag: Arc<AtomicBool>) -> Self {
        Self { stop: Some(flag), ..self }
    }

    /// Compares totals around the records with what is read.
    #[must_use]
    pub fn control_totals(self, rules: &'p ControlTotalRules) -> Self {
        Self { control_totals: Some(rules), ..self }
    }

    /// Keeps the records that match a filter.
    #[must_use]
    pub fn filter(mut self, filter: Option<Filter>) -> Self {
        self.steps.filter = filter;
        self
    }

    /// Adds up components over the records that are kept.
    #[must_use]
    pub fn figures(mut self, figures: Figures) -> Self {
        self.steps.figures = figures;
        self
    }

    /// Skips duplicates, in this input or earlier ones. Converters made by [`Converter::fork`] share the records seen: of
    /// two that have one at the same time, any may come first.
    #[must_use]
    pub fn dedupe(mut self, dedupe: Option<Dedupe>) -> Self {
        self.steps.dedupe = dedupe;
        self
    }

    /// Makes a row of each element of a list: renderers require the shape of rows.
    #[must_use]
    pub fn explode(mut self, explode: Option<&'p Explode>) -> Self {
        self.steps.explode = explode;
        self
    }

    /// Makes rows of several tables: renderers take those of [`RowWriter::child`](crate::RowWriter::child) too, in the shape of
    /// these.
    #[must_use]
    pub fn children(mut self, children: Option<&'p Children>) -> Self {
        self.steps.children = children;
        self
    }

    /// Stops after this number of records that are kept, over all inputs; with a limit, one thread does all.
    #[must_use]
    pub fn limit(self, limit: Option<u64>) -> Self {
        Self { limit, ..self }
    }

    /// Makes the converter.
    pub fn build(self) -> Converter<'p> {
        let Self { mut steps, settings, control_totals, stop, split, limit } = self;
        let shape = &steps.plan.shape;
        if let Some(projection) = &mut steps.projection {
            // Records are counted by alternative, which no column may ask for.
            let mut choices = vec![settings.record];
            while let Some(choice) = choices.pop() {
                for (id, field) in shape.fields_of(choice) {
                    if shape.node(choice).kind == Kind::Choice
                        && !std::mem::replace(&mut projection[id.index()], true)
                    {
                        choices.push(field.node);
                    }
                }
            }
            if let Some(rendering) = steps.rendering {
                rendering.complete(projection);
            }
        }
        if let Some(rules) =
            control_totals.filter(|rules| settings.outer.is_some() && **rules != ControlTotalRules::default())
        {
            let control_totals = ControlTotals::new(rules, steps.shape());
            if let Some(projection) = &mut steps.projection {
                want(shape, control_totals.fields(shape), projection);
            }
            steps.control_totals = Some(control_totals);
        }
        let Steps { figures, dedupe, filter, projection, control_totals, .. } = &mut steps;
        let parts = shape.fields.len();
        need(shape, projection, figures.is_of_parts(parts), figures.fields());
        if let Some(dedupe) = dedupe {
            need(shape, projection, dedupe.is_of_parts(parts), dedupe.fields());
        }
        if let Some(filter) = filter {
            need(shape, projection, filter.is_of_parts(parts), filter.fields());
            // What the filter excludes is not decoded, unless it counts in a total.
            let excluded = filter.excluded(shape, settings.record);
            if control_totals.is_none() && !excluded.is_empty() {
                let projection = projection.get_or_insert_with(|| vec![true; parts]);
                for field in excluded {
                    projection[field] = false;
                }
            }
        }
        Converter::new(steps, settings, stop, split, limit)
    }
}

/// Adds fields to those that are decoded: all, if one of them is a part of something rendered.
fn need(
    shape: &Shape,
    projection: &mut Option<Vec<bool>>,
    is_of_parts: bool,
    fields: impl Iterator<Item = usize>,
) {
    if is_of_parts {
        *projection = None;
    }
    if let Some(projection) = projection {
        want(shape, fields.filter(|field| *field < shape.fields.len()), projection);
    }
}
