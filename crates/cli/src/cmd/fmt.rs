//! `tercet fmt`.

use crate::exit::{Exit, Outcome};
use crate::inputs::Input;
use crate::term;
use clap::Args;
use std::io::Write;
use std::path::PathBuf;
use tercet::files;
use tercet::records::Output;
use tercet::syntax::{self, SourceMap};

/// Bring specifications into the canonical layout
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  tercet fmt < draft.asn
  tercet fmt -w schemas/
  tercet fmt --check schemas/")]
pub struct Fmt {
    /// Specification files, or directories of them; nothing or `-` is standard input
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// List the files that would change, and change none; exit code 1 if there are any
    #[arg(long, conflicts_with = "write")]
    check: bool,

    /// Write the files in place; to standard output otherwise
    #[arg(short, long)]
    write: bool,
}

impl Fmt {
    pub fn run(&self) -> Outcome {
        let stdin = self.paths.is_empty() || self.paths == [PathBuf::from("-")];
        let inputs = if stdin {
            vec![Input::Stdin]
        } else {
            files::specifications(&self.paths)?.into_iter().map(Input::File).collect()
        };
        let mut exit = Exit::Good;
        for input in inputs {
            let mut sources = SourceMap::new();
            let (id, _) = sources.add_bytes(input.name(), input.read()?);
            let text = match syntax::format(&sources, id) {
                Ok(text) => text,
                Err(diagnostics) => {
                    for diagnostic in &diagnostics {
                        term::say_diagnostic(&syntax::render(&sources, diagnostic, term::colour()));
                    }
                    exit = Exit::Usage;
                    continue;
                }
            };
            let changed = text != sources.file(id).text;
            match &input {
                _ if self.check => {
                    if changed {
                        term::say(format_args!("{} would change", input.shown()));
                        exit = Exit::Usage;
                    }
                }
                Input::File(path) if self.write => {
                    if changed {
                        let mut output = Output::create(path)?;
                        output.write_all(text.as_bytes())?;
                        output.commit()?;
                    }
                }
                _ => term::stdout(term::Quotes::Ignored).write_all(text.as_bytes())?,
            }
        }
        Ok(exit)
    }
}
