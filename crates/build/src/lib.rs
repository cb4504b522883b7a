//! Rust types and codecs from ASN.1 specifications, for build scripts.
//!
//! `build.rs`:
//!
//! ```no_run
//! use tercet_build::{Rules, compile};
//!
//! fn main() -> Result<(), tercet_build::Error> {
//!     compile(["specs/rocket.asn"]).roots(["Rocket"]).rules([Rules::Der, Rules::Uper]).write("rocket.rs")
//! }
//! ```
//!
//! The crate itself, which needs `tercet-runtime` alone:
//!
//! ```text
//! mod rocket {
//!     include!(concat!(env!("OUT_DIR"), "/rocket.rs"));
//! }
//! ```
//!
//! Cargo runs the script again when a specification changes, and only then.
#![expect(clippy::print_stdout, reason = "build scripts talk to Cargo so")]

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use tercet_schema::codegen::{Overlay, Serde};
pub use tercet_schema::plan::Rules;
pub use tercet_schema::{Listener, SchemaOptions};
use tercet_schema::{RustOptions, Schema, files};

/// Begins with specifications: files, and directories with all specifications in them.
pub fn compile<P: Into<PathBuf>>(specifications: impl IntoIterator<Item = P>) -> Compile {
    Compile {
        paths: specifications.into_iter().map(Into::into).collect(),
        roots: Vec::new(),
        rules: vec![Rules::Ber],
        reading: SchemaOptions::default(),
        options: RustOptions::default(),
        serde: false,
        overlay: None,
        directory: None,
    }
}

/// What is to be printed.
#[derive(Clone, Debug)]
#[must_use = "nothing is printed before `write`"]
pub struct Compile {
    paths: Vec<PathBuf>,
    roots: Vec<String>,
    rules: Vec<Rules>,
    reading: SchemaOptions,
    options: RustOptions,
    serde: bool,
    overlay: Option<PathBuf>,
    directory: Option<PathBuf>,
}

impl Compile {
    /// The types to begin with, as `Type` or `Module.Type`; without, those that no other type refers to.
    pub fn roots<S: Into<String>>(mut self, roots: impl IntoIterator<Item = S>) -> Self {
        self.roots = roots.into_iter().map(Into::into).collect();
        self
    }

    /// The encoding rules that codecs are printed for; those of BER unless told.
    pub fn rules(mut self, rules: impl IntoIterator<Item = Rules>) -> Self {
        self.rules = rules.into_iter().collect();
        self
    }

    /// Lets types have `Eq` and `Hash`.
    pub fn hash(mut self) -> Self {
        self.options.hash = true;
        self
    }

    /// Lets types have `Serialize` and `Deserialize` in the shapes of JER (X.697), for `tercet-runtime` with its feature `serde`.
    pub fn serde(mut self) -> Self {
        self.serde = true;
        self
    }

    /// Takes choices about the types from a file in TOML.
    pub fn overlay(mut self, file: impl Into<PathBuf>) -> Self {
        self.overlay = Some(file.into());
        self
    }

    /// How the specifications are read.
    pub fn reading(mut self, options: SchemaOptions) -> Self {
        self.reading = options;
        self
    }

    /// Prints types even if they use names without a definition or modules that were given twice. Without it PER and OER
    /// refuse them, and BER gives warnings.
    pub fn allow_missing(mut self) -> Self {
        self.reading.allow_missing = true;
        self
    }

    /// Writes to a directory instead of Cargo's `OUT_DIR`.
    pub fn directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// Prints to a file of this name in the directory for what build scripts make. A file that would stay the same is
    /// not touched.
    ///
    /// # Errors
    /// A specification or the overlay cannot be read or has errors, a root is not found, there is no `OUT_DIR`, or the file cannot be
    /// written.
    pub fn write(self, file: &str) -> Result<(), Error> {
        for path in self.paths.iter().chain(&self.overlay) {
            println!("cargo::rerun-if-changed={}", path.display());
        }
        // A directory's time does not tell that a file in it has changed.
        for path in files::specifications(&self.paths).map_err(Error::new)? {
            println!("cargo::rerun-if-changed={}", path.display());
        }
        let directory = match &self.directory {
            Some(directory) => directory.clone(),
            None => std::env::var_os("OUT_DIR")
                .ok_or_else(|| Error("`OUT_DIR` is not set: this is not a build script".into()))?
                .into(),
        };
        let text = self.print()?;
        replace(&directory.join(file), &text)
    }

    /// The text that [`Compile::write`] writes.
    ///
    /// # Errors
    /// As there.
    pub fn print(&self) -> Result<String, Error> {
        let mut reading = self.reading.clone();
        if reading.listener.is_none() {
            // Cargo shows one line for each.
            reading.listener = Listener::new(|text| {
                text.lines().for_each(|line| println!("cargo::warning={line}"));
            });
        }
        let schema = Schema::load(&self.paths, &reading).map_err(Error::new)?;
        if schema.has_errors() {
            return Err(Error(schema.render(false)));
        }
        let roots: Vec<&str> = self.roots.iter().map(String::as_str).collect();
        let mut options = self.options.clone();
        if options.header.is_empty() {
            options.header = "@generated by `tercet-build`; do not edit".into();
        }
        if let Some(path) = &self.overlay {
            let told = |error: &dyn fmt::Display| Error(format!("{}: {error}", path.display()));
            let text = fs::read_to_string(path).map_err(|error| told(&error))?;
            options.overlay = Overlay::from_toml(&text).map_err(|error| told(&error))?;
        }
        if self.serde && options.overlay.serde == Serde::None {
            options.overlay.serde = Serde::Always;
        }
        schema.rust(&self.rules, &roots, &options).map_err(Error::new)
    }
}

fn replace(path: &Path, text: &str) -> Result<(), Error> {
    if fs::read_to_string(path).is_ok_and(|known| known == text) {
        return Ok(());
    }
    fs::write(path, text).map_err(|error| Error(format!("{}: {error}", path.display())))
}

/// Why nothing was printed; diagnostics come with the lines of the specification that they are about.
#[derive(Clone, PartialEq, Eq)]
pub struct Error(String);

impl Error {
    fn new(error: impl fmt::Display) -> Self {
        Self(error.to_string())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a build script shows that ends with an error: the text itself.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n{self}")
    }
}

impl std::error::Error for Error {}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
