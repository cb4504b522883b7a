//! Typed source code for ASN.1: structs and enums, and straight-line codecs for the rules that were asked for.
//!
//! `types` decides what types a program has, and `code` which steps its codecs take, both for any language. `rust` and `java`
//! spell them.

mod choices;
mod code;
mod defaults;
mod error;
mod forms;
mod java;
mod names;
mod overlay;
mod rust;
mod same;
mod tables;
mod types;

pub use error::Error;
pub use java::{JavaFile, is_package as is_java_package};
pub use overlay::{
    Additions, Bounds, Choice, Codecs, IntegerType, Lazy, Lists, Memory, Overlay, OverlayError, RealType,
    Serde, Strings,
};

use tercet_lower::Lowering;
use tercet_model::Model;
use tercet_model::ir::TypeId;
use tercet_plan::Rules;

/// The rules that there are codecs in Java for.
pub const JAVA_RULES: &[Rules] = &[
    Rules::Ber,
    Rules::Der,
    Rules::Cer,
    Rules::Aper,
    Rules::Uper,
    Rules::CanonicalAper,
    Rules::CanonicalUper,
    Rules::Oer,
    Rules::Coer,
    Rules::Jer,
];

/// What to print.
pub struct Config<'a> {
    /// The rules of the lowering's plans, in the same order. BER, DER and CER have one codec, basic and canonical PER
    /// have one for aligned and one for unaligned.
    pub rules: &'a [Rules],
    /// The text of a type's notation, for the documentation of what is made of it.
    pub notation: &'a dyn Fn(TypeId) -> Option<String>,
    /// What the first lines say, without comment marks.
    pub header: &'a str,
    /// Whether types have `Eq` and `Hash`, but for those with an `f64`. It doubles the time that the compiler takes for them: NGAP 24
    /// and 43 CPU-seconds of `cargo check`.
    pub hash: bool,
    /// What is chosen beside.
    pub overlay: &'a Overlay,
}

impl std::fmt::Debug for Config<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Config")
            .field("rules", &self.rules)
            .field("header", &self.header)
            .field("hash", &self.hash)
            .field("overlay", &self.overlay)
            .finish_non_exhaustive()
    }
}

/// Rust source text with the types that can be reached from the roots of the lowering, and their codecs.
///
/// # Errors
/// The overlay names what is not there, or a type has no form in Rust.
pub fn rust(model: &Model, lowering: &Lowering, config: &Config<'_>) -> Result<String, Error> {
    rust::print(model, lowering, config)
}

/// Java source files with the types that can be reached from the roots of the lowering, and their codecs, in one package.
///
/// # Errors
/// The overlay names what is not there, a type has no form in Java, or Java has no codecs for the rules.
pub fn java(
    model: &Model,
    lowering: &Lowering,
    config: &Config<'_>,
    package: &str,
) -> Result<Vec<JavaFile>, Error> {
    java::print(model, lowering, config, package)
}
