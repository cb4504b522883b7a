//! From a model to a plan: every decision that does not depend on the input is made here, once.
//!
//! `shape` turns types into nodes and fields, whatever the rules; `ber` adds tags and the tables to find a component by
//! its tag; `per` adds widths, orders and bounds, `oer` widths and tags.

mod ber;
mod constants;
mod constraints;
mod instructions;
mod oer;
mod order;
mod per;
mod settings;
mod shape;
mod tables;
mod value_names;
mod values;

pub use shape::kind_of;

use shape::Lowered;
use std::sync::Arc;
use tercet_model::Model;
use tercet_model::ir::TypeId;
use tercet_plan::shape::Constant;
use tercet_plan::{Code, NodeId, Plan, Rules};
use tercet_syntax::Diagnostic;

/// Lowers what can be reached from some types to a plan for one set of rules.
///
/// It always gives a plan; what had to be left out (a default that is not a value of its type, say) is told.
pub fn plan(model: &Model, rules: Rules, roots: &[TypeId]) -> (Plan, Vec<Diagnostic>) {
    let mut lowered = shape::lower(model, roots);
    let code = code(model, rules, &mut lowered);
    (Plan { shape: Arc::new(lowered.shape), code }, lowered.diagnostics)
}

/// One plan for each of some sets of rules, in their order, over one shape: a value decoded by one of them can be
/// encoded by another.
pub fn plans(model: &Model, rules: &[Rules], roots: &[TypeId]) -> (Vec<Plan>, Vec<Diagnostic>) {
    let mut lowered = shape::lower(model, roots);
    let codes: Vec<Code> = rules.iter().map(|rules| code(model, *rules, &mut lowered)).collect();
    let shape = Arc::new(lowered.shape);
    (codes.into_iter().map(|code| Plan { shape: shape.clone(), code }).collect(), lowered.diagnostics)
}

/// Plans, and where they come from.
#[derive(Debug)]
pub struct Lowering {
    /// One for each of the rules, over one shape.
    pub plans: Vec<Plan>,
    /// For each node of the shape the type that it was made for: the outermost with constraints on the way to the base
    /// type, else the base type; none for parts of the associated types of the standard.
    pub types: Vec<Option<TypeId>>,
    /// The values that the modules of these types give names to.
    pub values: Vec<NamedValue>,
    /// What had to be left out.
    pub diagnostics: Vec<Diagnostic>,
}

/// A value assignment (X.680 clause 16).
#[derive(Clone, Debug)]
pub struct NamedValue {
    /// The module's name.
    pub module: String,
    /// The value reference.
    pub name: String,
    /// Its type.
    pub ty: TypeId,
    /// The node of that, if the roots reach it.
    pub node: Option<NodeId>,
    /// The value.
    pub constant: Constant,
}

/// As [`plans`], for those who want to know the model's type of each node, and named values, too.
pub fn lower(model: &Model, rules: &[Rules], roots: &[TypeId]) -> Lowering {
    let mut lowered = shape::lower(model, roots);
    let values = values::named(model, &mut lowered);
    let codes: Vec<Code> = rules.iter().map(|rules| code(model, *rules, &mut lowered)).collect();
    let shape = Arc::new(lowered.shape);
    let plans = codes.into_iter().map(|code| Plan { shape: shape.clone(), code }).collect();
    Lowering { plans, types: lowered.types, values, diagnostics: lowered.diagnostics }
}

/// What of the encoding instructions (X.693) that some types and what they reach have is not supported in extended XER.
/// Basic and canonical XER ignore instructions.
pub fn extended_xer(model: &Model, roots: &[TypeId]) -> Vec<Diagnostic> {
    shape::lower(model, roots).unsupported
}

fn code(model: &Model, rules: Rules, lowered: &mut Lowered<'_>) -> Code {
    let canonical = rules.is_canonical();
    match rules.basic() {
        Rules::Aper => Code::Per(per::program(model, lowered, true, canonical)),
        Rules::Uper => Code::Per(per::program(model, lowered, false, canonical)),
        Rules::Oer => Code::Oer(oer::program(model, lowered, canonical)),
        // One program serves the three rules of X.690; text needs the shape alone.
        _ => Code::Ber(ber::program(model, lowered)),
    }
}

/// All types that a model defines, in the order of the modules.
pub fn all_roots(model: &Model) -> Vec<TypeId> {
    model.modules.iter().flat_map(|module| module.types.iter().map(|(_, id)| *id)).collect()
}
