//! Source code from a schema.

use crate::schema::{PlanError, Schema};
use std::fmt;
use tercet_codegen::{Config, Error, Overlay};
use tercet_model::ir::TypeId;
use tercet_plan::Rules;

/// How Rust source text is printed.
#[derive(Clone, Debug, Default)]
pub struct RustOptions {
    /// What its first lines say.
    pub header: String,
    /// Whether types have `Eq` and `Hash`.
    pub hash: bool,
    /// What is chosen beside.
    pub overlay: Overlay,
}

/// Why there is no source text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RustError {
    /// There is no plan.
    Plan(PlanError),
    /// The overlay does not fit, or a type has no form in Rust.
    Code(Error),
}

impl fmt::Display for RustError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plan(error) => error.fmt(f),
            Self::Code(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for RustError {}

impl Schema {
    /// Rust source text: the types that can be reached from some (`Type` or `Module.Type`; without names, from those of the
    /// overlay, or those that no other refers to), and their codecs for some rules.
    ///
    /// The text needs the crate `tercet-runtime` and nothing else.
    ///
    /// # Errors
    /// [`RustError`].
    pub fn rust(&self, rules: &[Rules], types: &[&str], options: &RustOptions) -> Result<String, RustError> {
        let chosen: Vec<&str> = options.overlay.roots.iter().map(String::as_str).collect();
        let text = |schema: &Self, roots: &[TypeId]| {
            schema.check_gaps(rules, roots).map_err(RustError::Plan)?;
            let lowering = tercet_lower::lower(schema.model(), rules, roots);
            let notation = |ty| {
                let span = schema.model().ty(ty).span;
                let text = schema.sources.text(span);
                (!text.is_empty()).then(|| text.to_owned())
            };
            let RustOptions { header, hash, overlay } = options;
            let config = Config { rules, notation: &notation, header, hash: *hash, overlay };
            tercet_codegen::rust(schema.model(), &lowering, &config).map_err(RustError::Code)
        };
        self.with_roots(if types.is_empty() { &chosen } else { types }, text).map_err(RustError::Plan)?
    }
}
