//! `tercet check`.

use crate::args::ReadingArgs;
use crate::exit::{Exit, Outcome};
use crate::term;
use clap::{Args, ValueEnum};
use std::io::Write;
use std::path::PathBuf;
use tercet::{Schema, SchemaOptions};

/// Check specifications and report what is wrong with them
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  tercet check schemas/demo/Demo-CDR.asn
  tercet check specs/ --strict
  tercet check specs/ --lenient
  tercet check specs/ --message-format json")]
pub struct Check {
    /// Specification files, or directories of them
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    #[command(flatten)]
    reading: ReadingArgs,

    /// Report faults that other commands work around as warnings, as those commands read specifications
    #[arg(long, conflicts_with = "strict")]
    lenient: bool,

    /// How findings are shown
    #[arg(long, value_enum, default_value_t = Format::Human, value_name = "FORMAT")]
    message_format: Format,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// With excerpts, on standard error
    Human,
    /// One JSON object a line, on standard output
    Json,
}

impl Check {
    pub fn run(&self) -> Outcome {
        let options = SchemaOptions { faults_are_errors: !self.lenient, ..self.reading.options() };
        let schema = Schema::load(&self.paths, &options)?;
        match self.message_format {
            Format::Human => term::say_text(&schema.render(term::colour())),
            Format::Json => {
                let mut out = term::stdout(term::Quotes::Ignored);
                for diagnostic in &schema.diagnostics {
                    writeln!(out, "{}", tercet::syntax::render_json(&schema.sources, diagnostic))?;
                }
            }
        }
        let errors = schema.diagnostics.iter().filter(|diagnostic| diagnostic.is_error()).count() as u64;
        let warnings = schema.diagnostics.len() as u64 - errors;
        if matches!(self.message_format, Format::Human) {
            term::say(format_args!(
                "{}, {}, {}: {}, {}",
                term::count(schema.sources.files().len() as u64, "file"),
                term::count(schema.model.modules.len() as u64, "module"),
                term::count(schema.names().count() as u64, "type"),
                term::count(errors, "error"),
                term::count(warnings, "warning"),
            ));
        }
        Ok(if errors > 0 { Exit::Usage } else { Exit::Good })
    }
}
