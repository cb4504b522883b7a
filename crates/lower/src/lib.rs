//! From a model to a plan: every decision that does not depend on the input is made here, once.
//!
//! `shape` turns types into nodes and fields, whatever the rules; `ber` adds tags and the tables to find a component by
//! its tag.

mod ber;
mod constants;
mod shape;
mod tables;

use std::sync::Arc;
use tercet_model::Model;
use tercet_model::ir::TypeId;
use tercet_plan::{Code, Plan, Rules};
use tercet_syntax::Diagnostic;

/// Lowers what can be reached from some types to a plan for one set of rules.
///
/// It always gives a plan; what had to be left out (a default that is not a value of its type, say) is told.
pub fn plan(model: &Model, rules: Rules, roots: &[TypeId]) -> (Plan, Vec<Diagnostic>) {
    let _ = rules;
    let mut lowered = shape::lower(model, roots);
    let program = ber::program(model, &mut lowered);
    let plan = Plan { shape: Arc::new(lowered.shape), code: Code::Ber(program) };
    (plan, lowered.diagnostics)
}

/// All types that a model defines, in the order of the modules.
pub fn all_roots(model: &Model) -> Vec<TypeId> {
    model.modules.iter().flat_map(|module| module.types.iter().map(|(_, id)| *id)).collect()
}
