//! A type and the rules that the values of inputs are in.

use std::sync::Arc;
use tercet_schema::dynamic::{NodeId, Options, Plan, Rules};
use tercet_schema::records::conversion::RenderingOptions;
use tercet_schema::records::{Check, Framing, Identifiers, Interpretation, OtherRules};
use tercet_schema::{RecordPlan, Schema};

/// How inputs are read: a type, the rules, and the plan of both.
#[derive(Debug)]
pub(crate) struct View {
    pub(crate) plan: Plan,
    pub(crate) root: NodeId,
    pub(crate) rules: Rules,
    /// The type as it was asked for.
    pub(crate) type_name: String,
    pub(crate) framing: Framing,
    /// Whether other framings are tried.
    pub(crate) detects: bool,
    others: Option<OtherRules>,
    /// What bytes of strings mean, by the profile that fits the type.
    pub(crate) rendering: Option<Interpretation>,
}

impl View {
    /// Makes the plan of a type, or of the elements of a list inside of it.
    pub(crate) fn new(
        schema: &Arc<Schema>,
        type_name: &str,
        rules: Rules,
        given: &Given,
    ) -> Result<Self, String> {
        let (rules, type_name) = (rules, type_name.to_owned());
        if rules.has_elements() {
            let found = RecordPlan::new(schema, &type_name, given.records.as_deref())
                .map_err(|error| error.to_string())?;
            let found = match &given.framing {
                Some(framing) => found.framed(framing).map_err(|error| error.to_string())?,
                None => found,
            };
            let RecordPlan { plan, others, framing, record: root, .. } = found;
            let detects = given.framing.as_ref().is_none_or(|given| given.framing.is_none());
            let (rendering, others) = (rendering(&plan, root), Some(others));
            return Ok(Self { plan, root, rules, type_name, framing, detects, others, rendering });
        }
        let plan = schema.plan_for(rules, &[&type_name]).map_err(|error| error.to_string())?;
        let root = plan.root(&type_name).ok_or_else(|| format!("the plan has no type `{type_name}`"))?;
        let framing = Framing::concatenated(Identifiers::any());
        let (rendering, others, detects) = (rendering(&plan, root), None, false);
        Ok(Self { plan, root, rules, type_name, framing, detects, others, rendering })
    }

    /// Reports whether the parts of encodings have places: in all rules but extended XER, whose instructions move them.
    pub(crate) fn has_places(&self) -> bool {
        self.rules != Rules::Exer
    }

    /// Returns what tells whether bytes are records.
    pub(crate) fn check(&self) -> Check<'_> {
        Check::new(&self.plan, self.others.as_ref(), self.root, &self.options())
    }

    /// Returns how values are decoded.
    pub(crate) fn options(&self) -> Options {
        let mut options = Options::default();
        options.rules = self.rules.plan_rules();
        options.fill_defaults = true;
        options
    }
}

/// Returns the rendering by the profile that fits; nothing if there is none.
fn rendering(plan: &Plan, root: NodeId) -> Option<Interpretation> {
    let options = RenderingOptions::default();
    let profile = options.profile(&plan.shape).ok()?;
    options.rendering(&profile, &plan.shape, root).ok().flatten()
}

/// What is given of records, beside their type and rules.
#[derive(Clone, Debug, Default)]
pub(crate) struct Given {
    /// The list inside of the type whose elements the records are.
    pub(crate) records: Option<String>,
    pub(crate) framing: Option<tercet_schema::GivenFraming>,
}
