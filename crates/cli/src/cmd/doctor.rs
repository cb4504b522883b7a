//! `tercet doctor`.

use crate::args::TagMode;
use crate::discover::Trial;
use crate::exit::{Exit, Failure, Outcome};
use crate::inputs::{Input, InputArgs};
use crate::job::{Job, RecordArgs};
use crate::{shell, term};
use clap::{Args, ValueEnum};
use std::cmp::Reverse;
use std::io::Write;
use std::sync::Arc;
use tercet::dynamic::{Options, Unknown};
use tercet::records::{Fit, Guess, guess};
use tercet::{RecordPlan, Schema};
use tercet_printable::printable;

/// Find out how to read record files: try types, tags and framings, and print the command
#[derive(Args, Debug)]
#[command(after_help = "\
Without a specification it tells what the files are: TAP, RAP, NRTRDE and 3GPP TS 32.298 by their tags, other BER by its
structure, and the framing. Several files, directories and archives give one line for each file and one command for each
kind.

Examples:
  tercet doctor unknown.dat
  tercet doctor -s specifications/ unknown.dat
  tercet doctor -s specifications/ inbox/")]
pub struct Doctor {
    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    source: RecordArgs,

    /// Number of ways to read the file that are shown
    #[arg(short = 'n', long, value_name = "COUNT", default_value_t = 5)]
    most: usize,
}

/// A way to read an input, and what came of it.
#[derive(Clone, Debug)]
struct Way {
    fit: Fit,
    type_name: String,
    tags: TagMode,
    /// Whether components that the type does not have are passed over.
    keep: bool,
    /// The list inside of the type whose elements the records are.
    records: Option<String>,
}

/// A file, perhaps in an archive.
struct Found {
    /// The input as it is given to a command.
    input: String,
    guess: Guess,
    way: Option<Way>,
}

/// The specifications, by the meaning that tags have.
struct Schemas(Vec<(TagMode, Arc<Schema>)>);

impl Doctor {
    pub fn run(&self) -> Outcome {
        let inputs = self.input.expand()?;
        let mut trials = Vec::new();
        for input in &inputs {
            if !matches!(input, Input::File(_)) || Trial::short(input).is_none() {
                let name = input.shown();
                return Err(Failure::usage(format_args!("{name}: only files can be read more than once")));
            }
            trials.extend(Trial::all(input)?.into_iter().map(|(name, trial)| (input.name(), name, trial)));
        }
        let has_schema = !self.source.schema.schema.is_empty();
        let schemas = if has_schema { Some(self.schemas()?) } else { None };
        match (&trials[..], &schemas) {
            ([(input, name, trial)], Some(schemas)) => self.one(schemas, input, name, trial),
            (_, schemas) => self.several(schemas.as_ref(), trials),
        }
    }

    /// Shows the ways to read one file.
    fn one(&self, schemas: &Schemas, input: &str, name: &str, trial: &Trial) -> Outcome {
        let guess = guess(trial.octets(), trial.is_whole());
        let ways = self.ways(schemas, trial)?;
        let shown = printable(name);
        let Some(best) = ways.first() else {
            return Err(Failure::input(if guess.records {
                format!(
                    "{shown}: no type of the specifications decodes any of the first bytes, in any framing\n\
                     help: without a specification, they are {}; `tercet dump` shows them",
                    guess.kind
                )
            } else {
                format!("{shown}: {}", guess.kind)
            }));
        };
        let mut out = term::report();
        let shown = &ways[..ways.len().min(self.most)];
        let wide = shown.iter().map(|way| way.type_name.len()).max().unwrap_or(0);
        writeln!(out, "{name}")?;
        let (tried, tags) = ("tried", "tags");
        writeln!(out, "  decoded {tried:>9}    bytes  {:<wide$}  {tags:<11} framing", "type")?;
        for way in shown {
            let (good, seen, tags) = (way.fit.records, way.fit.tried, tag_word(way.tags));
            let bytes = percent(way.fit.octets, trial.octets().len());
            let keep = if way.keep { " --unknown keep" } else { "" };
            let framing = way.fit.framing.spelt();
            writeln!(
                out,
                "{good:>9} {seen:>9} {bytes:>8}  {:<wide$}  {tags:<11} {framing}{keep}",
                way.type_name
            )?;
        }
        let listed = self.with_list(schemas, best, trial);
        if let Some(path) = listed.records.as_ref().filter(|_| self.source.records.is_none()) {
            writeln!(out, "\nThe records are the elements of the list `{path}` inside.")?;
        }
        if best.keep {
            writeln!(
                out,
                "\nThe records have components that the specification does not: `--unknown keep` skips them."
            )?;
        }
        if best.fit.guessed {
            writeln!(
                out,
                "\nNothing confirms that the bytes skipped are headers or filler: compare with `tercet dump`."
            )?;
        }
        writeln!(out, "\n{}", self.command(&listed, &[input]))?;
        Ok(Exit::Good)
    }

    /// Shows a line for each file, how many there are of each kind, and a command for each kind.
    fn several(&self, schemas: Option<&Schemas>, trials: Vec<(String, String, Trial)>) -> Outcome {
        let mut out = term::report();
        let mut found: Vec<Found> = Vec::new();
        for (input, name, trial) in trials {
            let guess = guess(trial.octets(), trial.is_whole());
            let way = match schemas.filter(|_| guess.records) {
                Some(schemas) => self.best(schemas, &trial, &found)?,
                None => None,
            };
            let line = match &way {
                Some(way) => {
                    let bytes = percent(way.fit.octets, trial.octets().len());
                    let (good, seen) = (way.fit.records, way.fit.tried);
                    format!("{good} of {seen} records decode, {bytes} of the bytes: {}", way.label())
                }
                None if schemas.is_some() && guess.records => {
                    format!("no type decodes it; {}", guess_line(&guess))
                }
                None => guess_line(&guess),
            };
            writeln!(out, "{name}: {line}")?;
            found.push(Found { input, guess, way });
        }
        if found.is_empty() {
            return Err(Failure::input("the inputs hold no file"));
        }
        let kinds = kinds(&found);
        if found.len() > 1 {
            writeln!(out)?;
            for (kind, files) in &kinds {
                writeln!(out, "{}: {kind}", term::count(files.len() as u64, "file"))?;
            }
        }
        for (_, files) in &kinds {
            if let Some(command) = self.command_of(files, &found) {
                writeln!(out, "\n{command}")?;
            }
        }
        let mut mixed: Vec<&str> = Vec::new();
        for file in found.iter().filter(|file| is_mixed(file, &found)) {
            if !mixed.contains(&file.input.as_str()) {
                writeln!(out, "\n{}: the archive holds several kinds of files; unpack it first", file.input)?;
                mixed.push(&file.input);
            }
        }
        let read = |found: &&Found| if schemas.is_some() { found.way.is_some() } else { found.guess.records };
        Ok(match found.iter().filter(read).count() {
            0 => Exit::Failed,
            count if count < found.len() => Exit::Rejected,
            _ => Exit::Good,
        })
    }

    /// The command for the files of one kind, if there is one.
    fn command_of(&self, files: &[&Found], all: &[Found]) -> Option<String> {
        let mut inputs: Vec<&str> = Vec::new();
        for file in files {
            if !is_mixed(file, all) && !inputs.contains(&file.input.as_str()) {
                inputs.push(&file.input);
            }
        }
        let first = files.first().filter(|_| !inputs.is_empty())?;
        match &first.way {
            Some(way) => Some(self.command(way, &inputs)),
            None if first.guess.records => {
                let paths: Vec<String> = inputs.iter().map(|path| shell::path(path)).collect();
                Some(format!("tercet dump -n 3 {}", paths.join(" ")))
            }
            None => None,
        }
    }

    /// The command that reads inputs in a way.
    fn command(&self, way: &Way, inputs: &[&str]) -> String {
        let mut command = "tercet convert".to_owned();
        shell::push(&mut command, &self.source.words());
        shell::push(&mut command, &["-t".to_owned(), way.type_name.clone()]);
        if let Some(path) = &way.records {
            shell::push(&mut command, &["--records".to_owned(), path.clone()]);
        }
        if way.tags != TagMode::AsWritten {
            shell::push(&mut command, &["--tags".to_owned(), tag_word(way.tags)]);
        }
        if way.keep {
            command += " --unknown keep";
        }
        let framing = way.fit.framing.spelt();
        // With a list, the framing is the way to it.
        if framing != "plain" && way.records.is_none() {
            command += &format!(" --framing {framing}");
        }
        for path in inputs {
            command += &format!(" {}", shell::path(path));
        }
        command
    }

    fn schemas(&self) -> Outcome<Schemas> {
        let modes = match self.source.schema.reading.tags {
            TagMode::Auto => vec![TagMode::AsWritten, TagMode::Implicit, TagMode::Explicit],
            mode => vec![mode],
        };
        let load = |tags: TagMode| {
            let mut schema = self.source.schema.clone();
            schema.reading.tags = tags;
            Ok((tags, Arc::new(schema.load()?)))
        };
        modes.into_iter().map(load).collect::<Outcome<Vec<_>>>().map(Schemas)
    }

    /// The best way to read one of several files: first those that others are read in.
    fn best(&self, schemas: &Schemas, trial: &Trial, before: &[Found]) -> Outcome<Option<Way>> {
        let known = before.iter().filter_map(|found| found.way.as_ref());
        let (kept, usual): (Vec<_>, Vec<_>) = known.partition(|way| way.keep);
        // Components that the type does not have are passed over where nothing else helps.
        let strict = kept.iter().map(|way| Way { keep: false, ..(*way).clone() });
        let known = usual.into_iter().cloned().chain(strict).collect::<Vec<_>>();
        for known in &known {
            if let Some(fit) = self.fit(schemas, known, trial)?
                && fit.is_perfect()
                && fit.framing.spelt() == known.fit.framing.spelt()
            {
                return Ok(Some(Way { fit, ..known.clone() }));
            }
        }
        let ways = self.ways(schemas, trial)?;
        Ok(ways.first().map(|best| self.with_list(schemas, best, trial)))
    }

    /// What a file comes to in a way that another one is read in.
    fn fit(&self, schemas: &Schemas, way: &Way, trial: &Trial) -> Outcome<Option<Fit>> {
        let Some((_, schema)) = schemas.0.iter().find(|(tags, _)| *tags == way.tags) else { return Ok(None) };
        let job = Job::new(schema, &way.type_name, way.records.as_deref())?;
        Ok(trial.fit(&self.source.framed(job)?, &self.options(way.keep)))
    }

    fn options(&self, keep: bool) -> Options {
        let mut options = self.source.options();
        if keep {
            options.unknown = Unknown::Keep;
        }
        options
    }

    /// The ways by which anything decodes, the best first.
    fn ways(&self, schemas: &Schemas, trial: &Trial) -> Outcome<Vec<Way>> {
        let mut ways = self.ways_with(schemas, trial, false)?;
        if self.source.rejects_unknown() && !ways.first().is_some_and(|way| way.fit.is_perfect()) {
            let kept = self.ways_with(schemas, trial, true)?;
            let more = kept.into_iter().filter(|kept| {
                let known = ways.iter().find(|way| way.type_name == kept.type_name && way.tags == kept.tags);
                known.is_none_or(|known| known.fit.records < kept.fit.records)
            });
            ways.extend(more.collect::<Vec<_>>());
            ways.sort_by_key(|way| Reverse(way.fit.weight()));
        }
        Ok(ways)
    }

    fn ways_with(&self, schemas: &Schemas, trial: &Trial, keep: bool) -> Outcome<Vec<Way>> {
        let options = self.options(keep);
        let few = trial.few();
        let mut ways: Vec<(Way, Job)> = Vec::new();
        for (tags, schema) in &schemas.0 {
            let types = match &self.source.type_name {
                Some(name) => vec![name.clone()],
                None => schema.outermost().into_iter().map(|(name, _)| name).collect(),
            };
            for type_name in types {
                let records = self.source.records.clone();
                let Ok(job) = Job::new(schema, &type_name, records.as_deref()) else { continue };
                let job = self.source.framed(job)?;
                let Some(fit) = few.fit(&job, &options) else { continue };
                // The same by other tags says nothing new.
                let known = ways
                    .iter()
                    .any(|(way, _)| way.type_name == type_name && way.fit.weight() >= fit.weight());
                if !known {
                    ways.push((Way { fit, type_name, tags: *tags, keep, records }, job));
                }
            }
        }
        ways.sort_by_key(|(way, _)| Reverse(way.fit.weight()));
        // The best are tried on more.
        if few.octets().len() < trial.octets().len() {
            for (way, job) in ways.iter_mut().take(self.most.max(1)) {
                if let Some(fit) = trial.fit(job, &options) {
                    way.fit = fit;
                }
            }
            ways.truncate(self.most.max(1));
            ways.sort_by_key(|(way, _)| Reverse(way.fit.weight()));
        }
        Ok(ways.into_iter().map(|(way, _)| way).collect())
    }

    /// The same way with the list inside of the values, if these are few and most of them is a list.
    fn with_list(&self, schemas: &Schemas, way: &Way, trial: &Trial) -> Way {
        let schema = schemas.0.iter().find(|(tags, _)| *tags == way.tags).map(|(_, schema)| schema);
        let is_few = way.records.is_none() && way.fit.tried <= FEW && way.fit.framing.spelt() == "plain";
        let found = schema.filter(|_| is_few).and_then(|schema| {
            let (sample, whole) = (trial.octets(), trial.is_whole());
            let options = self.options(way.keep);
            RecordPlan::list_in(schema, &way.type_name, &way.fit.framing, &options, sample, whole)
        });
        match found {
            Some((path, fit)) => Way { fit, records: Some(path), ..way.clone() },
            None => way.clone(),
        }
    }
}

/// Values of a file that may each be a list of records.
const FEW: u64 = 3;

impl Way {
    /// The way in words, without what came of it.
    fn label(&self) -> String {
        let mut label = format!("type {}", self.type_name);
        if let Some(path) = &self.records {
            label += &format!(", records {path}");
        }
        if self.tags != TagMode::AsWritten {
            label += &format!(", tags {}", tag_word(self.tags));
        }
        if self.keep {
            label += ", --unknown keep";
        }
        if self.records.is_none() {
            label += &format!(", framing {}", self.fit.framing.spelt());
        }
        label
    }
}

/// What a file is, by which files belong together.
fn kind(found: &Found) -> String {
    match &found.way {
        Some(way) => way.label(),
        None => guess_kind(&found.guess),
    }
}

/// Whether the archive that a file is in holds files of another kind: it is read as a whole.
fn is_mixed(file: &Found, all: &[Found]) -> bool {
    all.iter().any(|other| other.input == file.input && kind(other) != kind(file))
}

fn kinds(found: &[Found]) -> Vec<(String, Vec<&Found>)> {
    let mut kinds: Vec<(String, Vec<&Found>)> = Vec::new();
    for file in found {
        let kind = kind(file);
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, files)) => files.push(file),
            None => kinds.push((kind, vec![file])),
        }
    }
    kinds
}

fn guess_kind(guess: &Guess) -> String {
    match guess.framing_text() {
        Some(framing) => format!("{}, framing {framing}", guess.kind),
        None => guess.kind.clone(),
    }
}

/// What there is to say of a file without a specification.
fn guess_line(guess: &Guess) -> String {
    if !guess.records {
        return guess.kind.clone();
    }
    let share = percent(guess.share, 1000);
    let elements = term::count(guess.elements, "element");
    format!("{}; {elements} in the first bytes, {share} of them", guess_kind(guess))
}

fn percent(part: u64, all: usize) -> String {
    format!("{:.1} %", part as f64 * 100.0 / all.max(1) as f64)
}

/// The word for tags on the command line.
fn tag_word(tags: TagMode) -> String {
    tags.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}
