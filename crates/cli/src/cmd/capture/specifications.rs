//! Options of where specifications are.

use crate::args::{CacheArgs, ReadingArgs};
use crate::exit::Outcome;
use clap::Args;
use std::path::PathBuf;
use tercet::captures::Specifications;

/// Where specifications are.
#[derive(Args, Clone, Debug)]
pub(super) struct SpecificationArgs {
    /// Specification file, or a directory of them for any number of protocols; may be given several times. Without it,
    /// the paths in TERCET_SCHEMAS
    #[arg(short, long = "schema", value_name = "PATH")]
    schema: Vec<PathBuf>,

    #[command(flatten)]
    cache: CacheArgs,
}

impl SpecificationArgs {
    /// Returns the arguments of other commands: without paths, those of the variable.
    pub(super) fn new(schema: Vec<PathBuf>, cache: CacheArgs) -> Self {
        Self { schema, cache }
    }

    /// Reads the texts of all specifications.
    pub(super) fn find(&self) -> Outcome<Specifications> {
        let options = self.cache.with(ReadingArgs::default().options());
        Ok(Specifications::find(&self.schema, options)?)
    }
}
