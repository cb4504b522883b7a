//! `tercet doctor`.

use crate::args::TagMode;
use crate::discover::Trial;
use crate::exit::{Failure, Outcome};
use crate::inputs::InputArgs;
use crate::job::{Job, RecordArgs};
use crate::term;
use clap::{Args, ValueEnum};
use std::cmp::Reverse;
use std::io::Write;
use std::sync::Arc;

/// Find out how to read a record file: try types, tags and framings, and print the command
#[derive(Args, Debug)]
#[command(after_help = "\
Example:
  tercet doctor -s specifications/ unknown.dat")]
pub struct Doctor {
    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    source: RecordArgs,

    /// Ways that are shown
    #[arg(short = 'n', long, value_name = "COUNT", default_value_t = 5)]
    most: usize,
}

/// A way to read an input, and what came of it.
struct Way {
    good: usize,
    seen: usize,
    octets: u64,
    type_name: String,
    tags: TagMode,
    framing: String,
}

impl Doctor {
    pub fn run(&self) -> Outcome {
        let mut out = term::report();
        for input in self.input.expand()? {
            let name = input.shown();
            let Some(trial) = Trial::new(&input) else {
                return Err(Failure::usage(format_args!("{name}: only files can be read more than once")));
            };
            let ways = self.ways(&trial)?;
            let Some(best) = ways.first() else {
                return Err(Failure::input(format_args!(
                    "{name}: no type of the specifications decodes anything in the first octets, in any framing; \
                     `tercet dump` shows them without a specification"
                )));
            };
            let shown = &ways[..ways.len().min(self.most)];
            let wide = shown.iter().map(|way| way.type_name.len()).max().unwrap_or(0);
            writeln!(out, "{name}")?;
            let (tried, tags) = ("tried", "tags");
            writeln!(out, "  decoded {tried:>9}   octets  {:<wide$}  {tags:<11} framing", "type")?;
            for Way { good, seen, octets, type_name, tags, framing } in shown {
                let tags = said(*tags);
                let octets = format!("{:.1} %", *octets as f64 * 100.0 / trial.len().max(1) as f64);
                writeln!(out, "{good:>9} {seen:>9} {octets:>8}  {type_name:<wide$}  {tags:<11} {framing}")?;
            }
            let schemas = self.source.schema.schema.iter().map(|path| format!(" -s {}", path.display()));
            let mut command = format!("tercet convert{} -t {}", schemas.collect::<String>(), best.type_name);
            if let Some(path) = &self.source.records {
                command += &format!(" --records {path}");
            }
            if best.tags != TagMode::AsWritten {
                command += &format!(" --tags {}", said(best.tags));
            }
            if best.framing != "plain" {
                command += &format!(" --framing {}", best.framing);
            }
            writeln!(out, "\n{command} {name}")?;
        }
        Ok(crate::exit::Exit::Good)
    }

    /// What decodes anything, the best first.
    fn ways(&self, trial: &Trial) -> Outcome<Vec<Way>> {
        let options = self.source.options();
        let mut ways: Vec<Way> = Vec::new();
        let modes = match self.source.schema.reading.tags {
            TagMode::Auto => vec![TagMode::AsWritten, TagMode::Implicit, TagMode::Explicit],
            mode => vec![mode],
        };
        for tags in modes {
            let mut schema = self.source.schema.clone();
            schema.reading.tags = tags;
            let schema = Arc::new(schema.load()?);
            let types = match &self.source.type_name {
                Some(name) => vec![name.clone()],
                None => schema.outermost().into_iter().map(|(name, _)| name).collect(),
            };
            for type_name in types {
                let Ok(job) = Job::new(&schema, &type_name, self.source.records.as_deref()) else { continue };
                let job = self.source.framed(job)?;
                let (fits, framing) = trial.found(&job, &options);
                // The same by other tags says nothing new.
                let known = ways.iter().any(|way| way.type_name == type_name && way.good >= fits.good);
                if fits.good > 0 && !known {
                    let (good, seen, octets) = (fits.good, fits.seen, fits.octets);
                    ways.push(Way { good, seen, octets, type_name, tags, framing });
                }
            }
        }
        ways.sort_by_key(|way| Reverse((way.octets, way.good)));
        Ok(ways)
    }
}

/// The word for tags on the command line.
fn said(tags: TagMode) -> String {
    tags.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}
