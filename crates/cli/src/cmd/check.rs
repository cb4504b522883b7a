//! `tercet check`.

use crate::args::ReadingArgs;
use crate::exit::{Exit, Failure, Outcome};
use crate::term;
use clap::{Args, ValueEnum};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use tercet::records::Output;
use tercet::syntax::Diagnostic;
use tercet::{Schema, SchemaOptions};

/// Rounds of fixes: those that touch each other are made one after the other.
const FIX_ROUNDS: usize = 16;

/// Check specifications and report what is wrong with them
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  tercet check schemas/demo/Demo-CDR.asn
  tercet check specs/ --strict
  tercet check specs/ --lenient
  tercet check specs/ --fix
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

    /// Write certain fixes into the files: what lenient reading assumes, such as missing commas and imports
    #[arg(long)]
    fix: bool,

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
        let mut schema = Schema::load(&self.paths, &options)?;
        if self.fix {
            schema = self.fix(schema, &options)?;
        }
        match self.message_format {
            Format::Human => term::say_text(&schema.render(term::colour())),
            Format::Json => {
                let mut out = term::stdout(term::Quotes::Ignored);
                for diagnostic in schema.diagnostics() {
                    writeln!(out, "{}", tercet::syntax::render_json(&schema.sources, diagnostic))?;
                }
            }
        }
        let is_fixable = |finding: &&Diagnostic| finding.fixes.iter().any(|fix| fix.is_certain);
        let fixable = schema.diagnostics().iter().filter(is_fixable).count() as u64;
        let errors = schema.diagnostics().iter().filter(|diagnostic| diagnostic.is_error()).count() as u64;
        let warnings = schema.diagnostics().len() as u64 - errors;
        if matches!(self.message_format, Format::Human) {
            term::say(format_args!(
                "{}, {}, {}: {}, {}",
                term::count(schema.sources.files().len() as u64, "file"),
                term::count(schema.model().modules.len() as u64, "module"),
                term::count(schema.names().count() as u64, "type"),
                term::count(errors, "error"),
                term::count(warnings, "warning"),
            ));
        }
        if fixable > 0 && !self.fix && matches!(self.message_format, Format::Human) {
            term::say(format_args!("{} can be fixed by `--fix`", term::count(fixable, "finding")));
        }
        Ok(if errors > 0 { Exit::Usage } else { Exit::Good })
    }

    /// Writes the certain fixes into the files, round by round as some make others possible, and reads the files again.
    fn fix(&self, mut schema: Schema, options: &SchemaOptions) -> Outcome<Schema> {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for _ in 0..FIX_ROUNDS {
            let mut changed = false;
            for (id, text, count) in tercet::syntax::fixed(&schema.sources, schema.diagnostics()) {
                let source = schema.sources.file(id);
                if replace(Path::new(&source.name), &source.text, &text)? {
                    *counts.entry(source.name.clone()).or_default() += count;
                    changed = true;
                }
            }
            if !changed {
                break;
            }
            schema = Schema::load(&self.paths, options)?;
        }
        for (name, count) in counts {
            term::say(format_args!("{name}: fixed {}", term::count(count as u64, "finding")));
        }
        Ok(schema)
    }
}

/// Writes the new text of a file, unless the file is not the old text in UTF-8: then it was converted when it was read.
fn replace(path: &Path, old: &str, new: &str) -> Outcome<bool> {
    let failed = |error: std::io::Error| Failure::input(format_args!("{}: {error}", path.display()));
    let octets = fs::read(path).map_err(failed)?;
    let mark: &[u8] = "\u{feff}".as_bytes();
    let (mark, body) = match octets.strip_prefix(mark) {
        Some(body) => (mark, body),
        None => (&[][..], &octets[..]),
    };
    if body != old.as_bytes() {
        term::warning(format_args!("{}: not fixed, the file is not in UTF-8", path.display()));
        return Ok(false);
    }
    let permissions = fs::metadata(path).map_err(failed)?.permissions();
    let mut file = Output::create(path).map_err(failed)?;
    file.write_all(mark).and_then(|()| file.write_all(new.as_bytes())).map_err(failed)?;
    file.commit().map_err(failed)?;
    fs::set_permissions(path, permissions).map_err(failed)?;
    Ok(true)
}
