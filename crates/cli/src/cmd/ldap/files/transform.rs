//! `tercet ldap ldif transform`.

use super::{Sink, entries, failure};
use crate::exit::{Exit, Failure, Outcome};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, error::ErrorKind};
use std::hash::{BuildHasher, RandomState};
use std::path::PathBuf;
use tercet_ldap::ldif::{Transform, Transformation};
use tercet_ldap::{Dn, Filter};

/// Change all entries of a file by steps, in the order in which they are given
#[derive(Args, Debug)]
#[command(after_help = "\
Example:
  tercet ldap ldif transform people.ldif --move o=test o=copy --exclude userPassword --keep '(uid=*)'")]
pub struct TransformCommand {
    #[command(flatten)]
    steps: Steps,

    /// The number that decides how values are scrambled; a random one if not given
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,

    /// The file; `-` for standard input
    file: PathBuf,
}

/// The steps in their order.
#[derive(Clone, Debug)]
struct Steps(Vec<Transform>);

/// The options that are steps: the name, the values, and what they do.
const STEPS: [(&str, &[&str], &str); 10] = [
    ("exclude", &["ATTRIBUTE"], "Remove an attribute"),
    ("redact", &["ATTRIBUTE"], "Replace each value of an attribute by `***REDACTED***`"),
    (
        "scramble",
        &["ATTRIBUTE"],
        "Replace letters by letters and digits by digits in values, in names too; equal values stay equal",
    ),
    ("rename", &["ATTRIBUTE=NEW"], "Rename an attribute, in names too"),
    ("move", &["FROM", "TO"], "Move entries from one name to another, with values that name them"),
    ("add", &["ATTRIBUTE=VALUE"], "Add a value"),
    ("sequence", &["ATTRIBUTE=START[:STEP]"], "Replace the values of an attribute by a number that grows"),
    ("flatten", &["DN"], "Put all entries below this one immediately below it"),
    ("drop", &["FILTER"], "Drop the entries that a filter selects"),
    ("keep", &["FILTER"], "Drop the entries that a filter does not select"),
];

impl Args for Steps {
    fn augment_args(command: Command) -> Command {
        let mut command = command;
        for (name, values, help) in STEPS {
            let arg = Arg::new(name).long(name).value_names(values.iter().copied()).help(help);
            command = command.arg(arg.num_args(values.len()).action(ArgAction::Append));
            if name == "add" {
                let help = "With the `--add` before it: only to the entries that a filter selects";
                let filter = Arg::new("where").long("where").value_name("FILTER").help(help);
                command = command.arg(filter.action(ArgAction::Append).requires("add"));
            }
        }
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Steps {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut given: Vec<(usize, &str, Vec<String>)> = Vec::new();
        for (name, count) in STEPS.iter().map(|(name, values, _)| (*name, values.len())).chain([("where", 1)])
        {
            let places: Vec<usize> = matches.indices_of(name).into_iter().flatten().collect();
            let values: Vec<String> =
                matches.get_many::<String>(name).into_iter().flatten().cloned().collect();
            for (places, values) in places.chunks(count).zip(values.chunks(count)) {
                given.push((places.first().copied().unwrap_or_default(), name, values.to_vec()));
            }
        }
        given.sort_by_key(|(place, ..)| *place);
        let mut steps = Vec::new();
        for (_, name, values) in given {
            let fault =
                |message: String| clap::Error::raw(ErrorKind::ValueValidation, format!("{message}\n"));
            step(&mut steps, name, &values).map_err(|failure| fault(failure.message))?;
        }
        Ok(Self(steps))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Adds a step.
fn step(steps: &mut Vec<Transform>, name: &str, values: &[String]) -> Outcome<()> {
    let value = values.first().map(String::as_str).unwrap_or_default();
    let fault = |what: &str| Failure::usage(format_args!("--{name} {value}: {what} expected"));
    let pair = || value.split_once('=').filter(|(name, _)| !name.is_empty());
    let filter = || value.parse::<Filter<'static>>().map_err(|error| failure(&format!("--{name}"), &error));
    let dn = |text: &str| text.parse::<Dn>().map_err(|error| failure(&format!("--{name}"), &error));
    steps.push(match name {
        "exclude" => Transform::Exclude(value.to_owned()),
        "redact" => Transform::Redact(value.to_owned()),
        "scramble" => Transform::Scramble(value.to_owned()),
        "rename" => {
            let (from, to) = pair().filter(|(_, to)| !to.is_empty()).ok_or_else(|| fault("ATTRIBUTE=NEW"))?;
            Transform::Rename(from.to_owned(), to.to_owned())
        }
        "move" => Transform::Move(dn(value)?, dn(values.get(1).map(String::as_str).unwrap_or_default())?),
        "add" => {
            let (attribute, value) = pair().ok_or_else(|| fault("ATTRIBUTE=VALUE"))?;
            Transform::Add(attribute.to_owned(), value.as_bytes().to_vec(), None)
        }
        "where" => {
            let filter = filter()?;
            return match steps.last_mut() {
                Some(Transform::Add(_, _, condition @ None)) => {
                    *condition = Some(filter);
                    Ok(())
                }
                _ => Err(fault("`--add` directly before it")),
            };
        }
        "sequence" => {
            let (attribute, numbers) = pair().ok_or_else(|| fault("ATTRIBUTE=START[:STEP]"))?;
            let (start, by) = numbers.split_once(':').unwrap_or((numbers, "1"));
            let numbers = start.parse().ok().zip(by.parse().ok());
            let (start, by) = numbers.ok_or_else(|| fault("ATTRIBUTE=START[:STEP]"))?;
            Transform::Sequence(attribute.to_owned(), start, by)
        }
        "flatten" => Transform::Flatten(dn(value)?),
        "drop" => Transform::Drop(filter()?),
        _ => Transform::Keep(filter()?),
    });
    Ok(())
}

impl TransformCommand {
    pub fn run(&self) -> Outcome {
        // The keys of the standard library's hash tables are random.
        let seed = self.seed.unwrap_or_else(|| RandomState::new().hash_one(std::process::id()));
        let mut transformation = Transformation::new(self.steps.0.iter().cloned(), seed);
        let mut sink = Sink::stdout(&[&self.file])?;
        for record in entries(&self.file)? {
            let record = transformation.apply(record?).map_err(|error| failure("", &error))?;
            if let Some(record) = record {
                sink.record(&record)?;
            }
        }
        sink.finish()?;
        Ok(Exit::Good)
    }
}
