//! `tercet doctor`.

#[cfg(feature = "capture")]
use crate::args::CaptureArgs;
use crate::args::{self, TagMode};
#[cfg(feature = "capture")]
use crate::cmd::capture::{Source, refuse_others};
use crate::discover::Trial;
use crate::exit::{Exit, Failure, Outcome};
use crate::inputs::{Input, InputArgs};
use crate::job::RecordArgs;
use crate::{shell, term};
use clap::{Args, ValueEnum};
use std::io::Write;
use std::sync::Arc;
use tercet::model::Tagging;
use tercet::records::{Guess, guess};
use tercet::{Doctor as Search, Way};
use tercet_printable::printable;

/// Find out how to read record files: try types, tags and framings, and print the command
#[derive(Args, Debug)]
#[command(after_help = "\
Without a specification it names what the files are: TAP, RAP, NRTRDE and 3GPP TS 32.298 by their tags, other BER by its
structure, and the framing. Several files, directories and archives give one line for each file and one command for each
kind.

Examples:
  tercet doctor unknown.dat
  tercet doctor -s specifications/ unknown.dat
  tercet doctor -s specifications/ inbox/
  zcat calls.gz | tercet doctor -s specifications/")]
// It tells what files are without a specification too.
#[command(mut_arg("schema", args::optional))]
pub struct Doctor {
    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    source: RecordArgs,

    /// Number of ways to read the file that are shown
    #[arg(short = 'n', long, value_name = "COUNT", default_value_t = 5)]
    most: usize,
}

/// A file, perhaps in an archive.
struct Found {
    /// The input as it is given to a command.
    input: String,
    guess: Guess,
    way: Option<Way>,
}

impl Doctor {
    pub fn run(&self) -> Outcome {
        let inputs = self.input.expand()?;
        #[cfg(feature = "capture")]
        if self
            .source
            .records
            .is_capture()
            .unwrap_or_else(|| inputs.iter().all(crate::cmd::capture::is_capture))
        {
            return self.captures(&inputs);
        }
        let mut trials = Vec::new();
        for input in &inputs {
            // The commands that are printed read standard input by this name.
            let given = if *input == Input::Stdin { "-".to_owned() } else { input.name() };
            trials.extend(Trial::all(input)?.into_iter().map(|(name, trial)| (given.clone(), name, trial)));
        }
        let has_schema = !self.source.schema.is_empty();
        let schemas = if has_schema { Some(self.search()?) } else { None };
        match (&trials[..], &schemas) {
            ([(input, name, trial)], Some(schemas)) => self.one(schemas, input, name, trial),
            (_, schemas) => self.several(schemas.as_ref(), trials),
        }
    }

    /// Shows the protocols of captures, and the commands that read them.
    #[cfg(feature = "capture")]
    fn captures(&self, inputs: &[Input]) -> Outcome {
        refuse_others(&self.source.records, &["framing"])?;
        let source = Source {
            input: self.input.options.clone(),
            schema: self.source.schema.clone(),
            capture: CaptureArgs::default(),
            type_name: None,
            conditions: Vec::new(),
            form: Default::default(),
        };
        crate::cmd::capture::diagnose(&source, inputs)
    }

    /// Shows the ways to read one file.
    fn one(&self, schemas: &Search, input: &str, name: &str, trial: &Trial) -> Outcome {
        let guess = guess(trial.octets(), trial.is_whole());
        let ways = ways(schemas, trial)?;
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
        let listed = schemas.with_list(best, trial.octets(), trial.is_whole());
        if let Some(path) = listed.records.as_ref().filter(|_| self.source.records.records.is_none()) {
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
    fn several(&self, schemas: Option<&Search>, trials: Vec<(String, String, Trial)>) -> Outcome {
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
                    format!("{good} of {seen} records decode, {bytes} of the bytes: {}", label(way))
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
                let paths: Vec<String> = inputs.iter().map(|path| input_word(path)).collect();
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
        if way.tags != Tagging::AsWritten {
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
            command += &format!(" {}", input_word(path));
        }
        command
    }

    /// What is tried: the specifications by the meaning that tags have, and what the command line says of the records.
    fn search(&self) -> Outcome<Search> {
        let modes = match self.source.schema.tags() {
            TagMode::Auto => vec![TagMode::AsWritten, TagMode::Implicit, TagMode::Explicit],
            mode => vec![mode],
        };
        let load = |tags: TagMode| {
            let mut schema = self.source.schema.clone();
            schema.reading.tags = tags;
            Ok((tags.tagging(), Arc::new(schema.load()?)))
        };
        Ok(Search {
            schemas: modes.into_iter().map(load).collect::<Outcome<Vec<_>>>()?,
            type_name: self.source.records.type_name.clone(),
            records: self.source.records.records.clone(),
            given: self.source.records.given_framing()?,
            options: self.source.records.options(),
            most: self.most,
        })
    }

    /// The best way to read one of several files: first those that others are read in.
    fn best(&self, schemas: &Search, trial: &Trial, before: &[Found]) -> Outcome<Option<Way>> {
        let known = before.iter().filter_map(|found| found.way.as_ref());
        let (kept, usual): (Vec<_>, Vec<_>) = known.partition(|way| way.keep);
        // Components that the type does not have are passed over where nothing else helps.
        let strict = kept.iter().map(|way| Way { keep: false, ..(*way).clone() });
        let known = usual.into_iter().cloned().chain(strict).collect::<Vec<_>>();
        for known in &known {
            let fit = schemas.fit(known, trial.octets(), trial.is_whole()).map_err(Failure::usage)?;
            if let Some(fit) = fit
                && fit.is_perfect()
                && fit.framing.spelt() == known.fit.framing.spelt()
            {
                return Ok(Some(Way { fit, ..known.clone() }));
            }
        }
        let ways = ways(schemas, trial)?;
        Ok(ways.first().map(|best| schemas.with_list(best, trial.octets(), trial.is_whole())))
    }
}

/// An input on a command line: `-` is standard input, never a file.
fn input_word(path: &str) -> String {
    if path == "-" { path.to_owned() } else { shell::path(path) }
}

/// The ways by which anything decodes, the best first.
fn ways(search: &Search, trial: &Trial) -> Outcome<Vec<Way>> {
    search.ways(trial.octets(), trial.is_whole()).map_err(Failure::usage)
}

/// The way in words, without what came of it.
fn label(way: &Way) -> String {
    let mut label = format!("type {}", way.type_name);
    if let Some(path) = &way.records {
        label += &format!(", records {path}");
    }
    if way.tags != Tagging::AsWritten {
        label += &format!(", tags {}", tag_word(way.tags));
    }
    if way.keep {
        label += ", --unknown keep";
    }
    if way.records.is_none() {
        label += &format!(", framing {}", way.fit.framing.spelt());
    }
    label
}

/// What a file is, by which files belong together.
fn kind(found: &Found) -> String {
    match &found.way {
        Some(way) => label(way),
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
fn tag_word(tags: Tagging) -> String {
    let mode = TagMode::value_variants().iter().rev().find(|mode| mode.tagging() == tags);
    let value = mode.and_then(TagMode::to_possible_value);
    value.map_or_else(String::new, |value| value.get_name().to_owned())
}
