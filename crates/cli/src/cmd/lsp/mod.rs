//! `tercet lsp`: the Language Server Protocol on standard input and output.

mod answers;
mod commands;
mod documents;
mod places;
mod server;
mod settings;
mod uri;

use crate::args::ReadingArgs;
use crate::exit::{Exit, Failure, Outcome};
use clap::Args;
use std::path::PathBuf;

/// Serve editors with the Language Server Protocol on standard input and output
#[derive(Args, Debug)]
#[command(after_help = "\
An editor starts it, and opens folders: all specifications in them are read. Diagnostics are those of `tercet check`, and their fixes
are code actions. Names lead to their definitions and uses across modules, and can be renamed. Folders that an editor does
not open, such as those of imported modules, are given by --schema.

Examples:
  tercet lsp
  tercet lsp -s /usr/share/asn1/3gpp --alias TAP-03XX=TAP-0312")]
pub struct Lsp {
    /// Specification files, or directories of them, to read besides those of the editor; may be repeated
    #[arg(short, long = "schema", value_name = "PATH")]
    schema: Vec<PathBuf>,

    #[command(flatten)]
    reading: ReadingArgs,

    /// Accepted and ignored: there is no other way
    #[arg(long, hide = true)]
    stdio: bool,
}

impl Lsp {
    pub fn run(&self) -> Outcome {
        let options = tercet::SchemaOptions { faults_are_errors: true, ..self.reading.options() };
        server::run(&self.schema, options).map_err(|error| Failure::from(std::io::Error::other(error)))?;
        Ok(Exit::Good)
    }
}
