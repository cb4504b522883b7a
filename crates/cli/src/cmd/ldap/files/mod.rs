//! `tercet ldap ldif`: LDIF files, without a server.

mod apply;
mod split;
mod tables;
mod transform;

use super::{failure, open};
use crate::args::writes_stdout;
use crate::exit::{Exit, Failure, Outcome};
use crate::term::{self, Quotes};
use clap::{Args, Subcommand};
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tercet::records::{Guard, Output};
use tercet_ldap::ldif::{Change, Checker, Reader, Record, Style, sorted};
use tercet_ldap::schema::Schema;
use tercet_ldap::{Dn, Filter, Scope};

/// Search, change, check, sort, split and transform LDIF files
#[derive(Args, Debug)]
#[command(after_help = "\
Files may be compressed (.gz, .zst, .bz2, .xz); `-` is standard input.

Examples:
  tercet ldap ldif search people.ldif.gz '(sn=L*)' cn mail
  tercet ldap ldif transform people.ldif --scramble uid --redact userPassword --drop '(ou=secret)'")]
pub struct LdifCommand {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand, Debug)]
#[command(defer = true)]
enum Verb {
    Search(Search),
    Apply(apply::Apply),
    Check(Check),
    Sort(Sort),
    Split(split::Split),
    Transform(transform::TransformCommand),
    ToJson(tables::ToJson),
    ToCsv(tables::ToCsv),
    FromJson(tables::FromJson),
    FromCsv(tables::FromCsv),
}

impl LdifCommand {
    pub fn run(&self) -> Outcome {
        match &self.verb {
            Verb::Search(command) => command.run(),
            Verb::Apply(command) => command.run(),
            Verb::Check(command) => command.run(),
            Verb::Sort(command) => command.run(),
            Verb::Split(command) => command.run(),
            Verb::Transform(command) => command.run(),
            Verb::ToJson(command) => command.run(),
            Verb::ToCsv(command) => command.run(),
            Verb::FromJson(command) => command.run(),
            Verb::FromCsv(command) => command.run(),
        }
    }
}

/// Where text goes: a file that is there whole or not at all, or standard output.
struct Sink {
    file: Option<Output>,
    stdout: Box<dyn Write>,
    out: Vec<u8>,
}

/// Bytes after which output is written.
const BUFFER: usize = 128 << 10;

impl Sink {
    /// Creates the output of a command that reads some files; those are not overwritten.
    fn create(output: Option<&Path>, option: &str, inputs: &[&Path]) -> Outcome<Self> {
        let mut guard = Guard::default();
        let output = output.filter(|path| path.as_os_str() != "-");
        match output {
            Some(path) => guard.writes(option, path)?,
            None => writes_stdout(&mut guard)?,
        }
        for path in inputs.iter().filter(|path| path.as_os_str() != "-") {
            guard.reads("input", path)?;
        }
        let file = output.map(Output::create).transpose()?;
        Ok(Self { file, stdout: term::stdout(Quotes::Ignored), out: Vec::new() })
    }

    fn stdout(inputs: &[&Path]) -> Outcome<Self> {
        Self::create(None, "standard output", inputs)
    }

    fn record(&mut self, record: &Record) -> Outcome<()> {
        Style::default().record(&mut self.out, record);
        self.flush_if_full()
    }

    fn flush_if_full(&mut self) -> Outcome<()> {
        if self.out.len() < BUFFER { Ok(()) } else { self.flush() }
    }

    fn flush(&mut self) -> Outcome<()> {
        match &mut self.file {
            Some(file) => file.write_all(&self.out)?,
            None => {
                self.stdout.write_all(&self.out)?;
                self.stdout.flush()?;
            }
        }
        self.out.clear();
        Ok(())
    }

    /// Writes what remains; the file is there from now on.
    fn finish(mut self) -> Outcome<()> {
        self.flush()?;
        match self.file {
            Some(file) => Ok(file.commit()?),
            None => Ok(()),
        }
    }
}

/// The records of a file; errors name it.
fn records(path: &Path) -> Outcome<impl Iterator<Item = Outcome<Record>>> {
    let name = path.display().to_string();
    Ok(Reader::new(open(path)?).map(move |record| record.map_err(|error| failure(&name, &error))))
}

/// The entries of a file; a change is an error.
fn entries(path: &Path) -> Outcome<impl Iterator<Item = Outcome<Record>>> {
    Ok(records(path)?.map(|record| {
        let record = record?;
        if matches!(record.change, Change::Add(_)) {
            return Ok(record);
        }
        let dn = tercet_printable::printable(&record.dn);
        Err(Failure::usage(format_args!("{dn}: a change, where an entry is expected")))
    }))
}

fn paths(files: &[PathBuf]) -> Vec<&Path> {
    files.iter().map(PathBuf::as_path).collect()
}

/// Print the entries of files that a filter selects, as `tercet ldap search -LLL` prints those of a server
#[derive(Args, Debug)]
struct Search {
    /// The entry at or below which entries are; all if not given
    #[arg(short = 'b', value_name = "BASE")]
    base: Option<String>,

    /// base, one, sub or children
    #[arg(short = 's', value_name = "SCOPE", default_value = "sub", value_parser = |text: &str| text.parse::<Scope>())]
    scope: Scope,

    /// `ldif-wrap=WIDTH` or `ldif-wrap=no`: where lines are folded
    #[arg(short = 'o', value_name = "OPTION=VALUE")]
    options: Vec<String>,

    /// Files, the filter, and the attributes to print; all of them if not given
    #[arg(required = true, value_name = "FILE… FILTER [ATTRIBUTE…]")]
    words: Vec<String>,
}

impl Search {
    fn run(&self) -> Outcome {
        let is_filter = |word: &&String| {
            word.starts_with('(') || (word.contains('=') && !Path::new(word.as_str()).exists())
        };
        let at = self.words.iter().position(|word| is_filter(&word));
        let at =
            at.ok_or_else(|| Failure::usage("a filter expected after the files, such as `(objectClass=*)`"))?;
        let (files, rest) = self.words.split_at(at);
        let (filter, attributes) = rest.split_first().ok_or_else(|| Failure::usage("a filter expected"))?;
        if files.is_empty() {
            return Err(Failure::usage("files expected before the filter; `-` is standard input"));
        }
        let filter: Filter<'static> = filter.parse().map_err(|error| failure("", &error))?;
        let base = self.base.as_ref().map(|base| base.parse::<Dn>()).transpose();
        let base = base.map_err(|error| failure("-b", &error))?;
        let style = Style { wrap: super::connection::wrap(&self.options)? };
        let files: Vec<&Path> = files.iter().map(Path::new).collect();
        let mut sink = Sink::stdout(&files)?;
        for path in files {
            for record in entries(path)? {
                let mut record = record?;
                if let Some(base) = &base {
                    let dn: Dn = record.dn.parse().map_err(|error| failure(&record.dn, &error))?;
                    let depth = dn.rdns().len().checked_sub(base.rdns().len()).filter(|_| dn.is_within(base));
                    let is_there = match (self.scope, depth) {
                        (_, None) => false,
                        (Scope::Base, Some(depth)) => depth == 0,
                        (Scope::One, Some(depth)) => depth == 1,
                        (Scope::Sub, Some(_)) => true,
                        (Scope::Children, Some(depth)) => depth > 0,
                    };
                    if !is_there {
                        continue;
                    }
                }
                if !record.is_selected(&filter).map_err(|error| failure(&record.dn, &error))? {
                    continue;
                }
                if let Change::Add(all) = &mut record.change {
                    all.retain(|(name, _)| is_wanted(name, attributes));
                }
                record.is_change = false;
                style.record(&mut sink.out, &record);
                sink.flush_if_full()?;
            }
        }
        sink.finish()?;
        Ok(Exit::Good)
    }
}

/// Returns whether an attribute is asked for: `*` and `+` are all, `1.1` is none.
fn is_wanted(description: &str, attributes: &[String]) -> bool {
    attributes.is_empty()
        || attributes.iter().any(|asked| {
            asked == "*"
                || asked == "+"
                || asked.eq_ignore_ascii_case(description)
                || description.split_once(';').is_some_and(|(name, _)| name.eq_ignore_ascii_case(asked))
        })
}

/// Check LDIF: print each fault as `LINE:COLUMN: MESSAGE`, then their number; exit code 2 if there are any
#[derive(Args, Debug)]
struct Check {
    /// LDIF with a schema whose rules the entries have to keep
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,

    /// The files
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

impl Check {
    fn run(&self) -> Outcome {
        let schema = match &self.schema {
            None => None,
            Some(path) => {
                let schema = Schema::read(open(path)?);
                Some(Arc::new(schema.map_err(|error| failure(&path.display().to_string(), &error))?))
            }
        };
        let mut checker = Checker::new(schema);
        let mut sink = Sink::stdout(&paths(&self.files))?;
        let mut count = 0_u64;
        for path in &self.files {
            let name = path.display().to_string();
            let prefix = if self.files.len() > 1 { format!("{name}:") } else { String::new() };
            let checked = checker.check(open(path)?, &mut |problem| {
                count += 1;
                let line = format!("{prefix}{problem}");
                sink.out.extend_from_slice(tercet_printable::printable(&line).as_bytes());
                sink.out.push(b'\n');
            });
            sink.flush()?;
            checked.map_err(|error| failure(&name, &error))?;
        }
        let (faults, records) = (term::count(count, "fault"), term::count(checker.records(), "record"));
        writeln!(sink.out, "{faults} in {records}")?;
        sink.finish()?;
        Ok(if count == 0 { Exit::Good } else { Exit::Rejected })
    }
}

/// Print entries in an order in which they can be added: parents first, then by name
#[derive(Args, Debug)]
struct Sort {
    /// Order entries of one depth by the first value of this attribute; those without it come last
    #[arg(long, value_name = "ATTRIBUTE")]
    by: Option<String>,

    /// The file; `-` for standard input
    file: PathBuf,
}

impl Sort {
    fn run(&self) -> Outcome {
        let mut sink = Sink::stdout(&[&self.file])?;
        let name = self.file.display().to_string();
        let sorted = sorted(Reader::new(open(&self.file)?), self.by.as_deref());
        for record in sorted.map_err(|error| failure(&name, &error))? {
            sink.record(&Record { is_change: false, ..record })?;
        }
        sink.finish()?;
        Ok(Exit::Good)
    }
}

/// Lines of a text file, with its name in errors.
fn lines(path: &Path) -> Outcome<impl Iterator<Item = Outcome<String>>> {
    let name = path.display().to_string();
    let named = move |error: io::Error| Failure::io(&name, &error);
    Ok(open(path)?.lines().map(move |line| line.map_err(&named)))
}
