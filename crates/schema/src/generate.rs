//! Source code from a schema.

use crate::schema::{PlanError, Schema};
use std::fmt;
use tercet_codegen::{Config, Error, JavaFile, Overlay};
use tercet_lower::Lowering;
use tercet_model::Model;
use tercet_model::ir::TypeId;
use tercet_plan::Rules;

/// How source text is printed, in Rust or in Java.
#[derive(Clone, Debug, Default)]
pub struct RustOptions {
    /// What its first lines say.
    pub header: String,
    /// Whether types in Rust have `Eq` and `Hash`; those in Java have equality always.
    pub hash: bool,
    /// What is chosen beside.
    pub overlay: Overlay,
}

/// Why there is no source text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RustError {
    /// There is no plan.
    Plan(PlanError),
    /// The overlay does not fit, or a type has no form in the language, or there are no codecs in it for the rules.
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
        self.generate(rules, types, options, tercet_codegen::rust)
    }

    /// Java source files: as [`Schema::rust`], in one package. Without a name for it, that is the name of the first module in
    /// lower case.
    ///
    /// The files need the runtime `io.tercet:tercet-runtime` and nothing else.
    ///
    /// # Errors
    /// [`RustError`].
    pub fn java(
        &self,
        rules: &[Rules],
        types: &[&str],
        package: Option<&str>,
        options: &RustOptions,
    ) -> Result<Vec<JavaFile>, RustError> {
        let own = || {
            let name = self.model().modules.first().map_or("asn1", |module| &module.name);
            let name: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
            name.to_lowercase()
        };
        let package = package.map_or_else(own, str::to_owned);
        self.generate(rules, types, options, |model, lowering, config| {
            tercet_codegen::java(model, lowering, config, &package)
        })
    }

    fn generate<T>(
        &self,
        rules: &[Rules],
        types: &[&str],
        options: &RustOptions,
        print: impl Fn(&Model, &Lowering, &Config<'_>) -> Result<T, Error>,
    ) -> Result<T, RustError> {
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
            print(schema.model(), &lowering, &config).map_err(RustError::Code)
        };
        self.with_roots(if types.is_empty() { &chosen } else { types }, text).map_err(RustError::Plan)?
    }
}
