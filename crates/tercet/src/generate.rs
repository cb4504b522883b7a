//! Source code from a schema.

use crate::schema::{PlanError, Schema};
use tercet_codegen::Config;
use tercet_plan::Rules;

impl Schema {
    /// Rust source text: the types that can be reached from some (`Type` or `Module.Type`; without names, from those that
    /// no other refers to), and their codecs for some rules. `header` is what its first lines say; with `hash`, types
    /// have `Eq` and `Hash`.
    ///
    /// The text needs the crate `tercet-runtime` and nothing else.
    ///
    /// # Errors
    /// [`PlanError`].
    pub fn rust(
        &self,
        rules: &[Rules],
        types: &[&str],
        header: &str,
        hash: bool,
    ) -> Result<String, PlanError> {
        let roots = self.roots(types)?;
        let lowering = tercet_lower::lower(&self.model, rules, &roots);
        let notation = |ty| {
            let span = self.model.ty(ty).span;
            let text = self.sources.text(span);
            (!text.is_empty()).then(|| text.to_owned())
        };
        Ok(tercet_codegen::rust(&self.model, &lowering, &Config { rules, notation: &notation, header, hash }))
    }
}
