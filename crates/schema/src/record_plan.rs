//! From a schema to what reading record files takes.

use crate::detect::roots;
use crate::{PlanError, Schema};
use std::fmt;
use std::sync::Arc;
use tercet_dynamic::Options;
use tercet_plan::{NodeId, Plan, Rules};
use tercet_records::path::{ListPath, PathError, concatenated, list};
use tercet_records::{Check, Children, Fit, Framing, GivenFraming, OtherRules, Reason, SettingError, fit};

/// What records of a file are and where they stand.
#[derive(Clone, Debug)]
pub struct RecordPlan {
    /// The plan, for BER.
    pub plan: Plan,
    /// Plans for records in other rules; with a list, records are in BER.
    pub others: OtherRules,
    /// How records are found.
    pub framing: Framing,
    /// The type around the list of records, if there is a list.
    pub outer: Option<NodeId>,
    /// The type of records.
    pub record: NodeId,
}

/// Why there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordPlanError {
    /// The type cannot be used.
    Plan(PlanError),
    /// The path leads to no list.
    Path(PathError),
    /// The elements of the list at this path have no type name.
    Unnamed(String),
}

impl fmt::Display for RecordPlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plan(error) => error.fmt(f),
            Self::Path(error) => error.fmt(f),
            Self::Unnamed(path) => write!(f, "the elements of `{path}` have no type name"),
        }
    }
}

impl std::error::Error for RecordPlanError {}

impl From<PlanError> for RecordPlanError {
    fn from(error: PlanError) -> Self {
        Self::Plan(error)
    }
}

impl From<PathError> for RecordPlanError {
    fn from(error: PathError) -> Self {
        Self::Path(error)
    }
}

impl RecordPlan {
    /// Records that are values of a type, or elements of the list at a path inside of its values
    /// (`TransferBatch.callEventDetails`).
    ///
    /// # Errors
    /// When there is no such type or list.
    pub fn new(schema: &Arc<Schema>, type_name: &str, path: Option<&str>) -> Result<Self, RecordPlanError> {
        let root_of = |plan: &Plan, name: &str| plan.root(name).ok_or(PlanError::Empty);
        let plan = schema.plan(Rules::Ber, &[type_name])?;
        let root = root_of(&plan, type_name)?;
        let Some(path) = path else {
            let framing = concatenated(&plan, root)?;
            let (schema, name) = (Arc::clone(schema), type_name.to_owned());
            let others = OtherRules::new(move |rules| {
                schema.plan(rules, &[&name]).map_err(|error| error.to_string().into())
            });
            return Ok(Self { plan, others, framing, outer: None, record: root });
        };
        let ListPath { element, framing, .. } = list(&plan, root, path)?;
        let node = plan.shape.node(plan.shape.field(element).node);
        let Some(name) = node.name.map(|name| plan.shape.name(name).to_owned()) else {
            return Err(RecordPlanError::Unnamed(path.to_owned()));
        };
        let plan = schema.plan(Rules::Ber, &[type_name, &name])?;
        let (outer, record) = (Some(root_of(&plan, type_name)?), root_of(&plan, &name)?);
        let others = OtherRules::new(|_| Err(Reason::NoList.to_string().into()));
        Ok(Self { plan, others, framing, outer, record })
    }

    /// Finds the list that most of the first bytes of a file are in, if the file is a value of a type with a long list inside:
    /// its path for [`RecordPlan::new`] and what its elements come to. `given` tells filler and limits.
    pub fn list_in(
        schema: &Arc<Schema>,
        type_name: &str,
        given: &Framing,
        options: &Options,
        sample: &[u8],
        whole: bool,
    ) -> Option<(String, Fit)> {
        let plan = Self::new(schema, type_name, None).ok()?;
        let paths = Children::lists_of(&plan.plan.shape, plan.record).ok()?;
        let fits = paths.into_iter().filter_map(|path| {
            let mut found = Self::new(schema, type_name, Some(&path)).ok()?;
            found.framing.filler.clone_from(&given.filler);
            found.framing.record_limit = given.record_limit;
            let mut check = Check::new(&found.plan, Some(&found.others), found.record, options);
            let fit = fit(&mut check, &found.framing, false, sample, whole)?;
            let is_long = fit.tried > 1 && 3 * fit.octets >= sample.len() as u64;
            is_long.then_some((path, fit))
        });
        fits.max_by_key(|(_, fit)| fit.weight())
    }

    /// The plan for files whose framing is known in part.
    ///
    /// # Errors
    /// When there is no such framing, or records in these rules have no end in it.
    pub fn framed(mut self, given: &GivenFraming) -> Result<Self, SettingError> {
        self.framing = given.framed(self.framing)?;
        Ok(self)
    }
}

/// One plan for records of any of several types, to try them: a plan for each type would take as long as all trials.
#[derive(Debug)]
pub struct TrialPlan {
    /// The plan, for BER.
    pub plan: Plan,
    /// Plans for records in other rules.
    pub others: OtherRules,
    /// The types, each with how its records are found.
    pub types: Vec<(String, NodeId, Framing)>,
}

impl TrialPlan {
    /// Makes the plan of types.
    ///
    /// # Errors
    /// When there is no such type.
    pub fn new(schema: &Arc<Schema>, names: Vec<String>) -> Result<Self, PlanError> {
        let plan_for = |schema: &Schema, names: &[String], rules| {
            let words: Vec<&str> = names.iter().map(String::as_str).collect();
            schema.trial_plans(&[rules], &words)?.pop().ok_or(PlanError::Empty)
        };
        let plan = plan_for(schema, &names, Rules::Ber)?;
        let found = roots(&plan, &names).into_iter().zip(&names);
        let types = found.filter_map(|(node, name)| {
            let node = node?;
            Some((name.clone(), node, concatenated(&plan, node).ok()?))
        });
        let types = types.collect();
        let schema = Arc::clone(schema);
        let others = OtherRules::new(move |rules| {
            plan_for(&schema, &names, rules).map_err(|error| error.to_string().into())
        });
        Ok(Self { plan, others, types })
    }
}
