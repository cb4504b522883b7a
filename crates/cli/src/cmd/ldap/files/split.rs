//! `tercet ldap ldif split`.

use super::{Sink, failure, open};
use crate::exit::{Exit, Failure, Outcome};
use clap::Args;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use tercet_ldap::Filter;
use tercet_ldap::ldif::{Part, Reader, Record, split};

/// Distribute entries to files PREFIX.1, PREFIX.2 …; entries with others below them are in each
#[derive(Args, Debug)]
#[command(after_help = "\
Example:
  tercet ldap ldif split people.ldif -n 4 -o part --by round")]
pub struct Split {
    /// The file; `-` for standard input
    file: Option<PathBuf>,

    /// The number of files; with filters, one for each, and one more for what no filter selects
    #[arg(short = 'n', value_name = "COUNT")]
    count: Option<NonZeroUsize>,

    /// The names of the files without their numbers
    #[arg(short = 'o', value_name = "PREFIX")]
    prefix: String,

    /// `hash` of the name, `round` in turn, or `filter FILTER…`: to the file of the first filter that selects the entry
    #[arg(long, value_name = "HOW", num_args = 1.., default_value = "hash")]
    by: Vec<String>,
}

/// Files at most: they are open at one time.
const MOST: usize = 10_000;

impl Split {
    pub fn run(&self) -> Outcome {
        let mut by: Vec<&str> = self.by.iter().map(String::as_str).collect();
        // The file may stand after the filters.
        let file = match &self.file {
            Some(file) => file.clone(),
            None if by.len() > 1 => by.pop().map(PathBuf::from).unwrap_or_default(),
            None => return Err(Failure::usage("a file expected; `-` is standard input")),
        };
        let part = self.part(&by)?;
        let name = file.display().to_string();
        let parts = split(Reader::new(open(&file)?), &part).map_err(|error| failure(&name, &error))?;
        let mut sinks = Vec::new();
        for (index, records) in parts.into_iter().enumerate() {
            let path = PathBuf::from(format!("{}.{}", self.prefix, index + 1));
            let input: &Path = &file;
            let mut sink = Sink::create(Some(&path), "`-o`", &[input])?;
            for record in records {
                sink.record(&Record { is_change: false, ..record })?;
            }
            sinks.push(sink);
        }
        sinks.into_iter().try_for_each(Sink::finish)?;
        Ok(Exit::Good)
    }

    fn part(&self, by: &[&str]) -> Outcome<Part> {
        let (how, filters) = by.split_first().ok_or_else(|| Failure::usage("--by: a word expected"))?;
        let count = self.count.map(NonZeroUsize::get);
        if count.is_some_and(|count| count > MOST) {
            return Err(Failure::usage(format_args!("-n: {MOST} files at most")));
        }
        if *how != "filter" && !filters.is_empty() {
            return Err(Failure::usage("--by: only `filter` is followed by filters"));
        }
        let needed = || count.ok_or_else(|| Failure::usage("-n COUNT is required"));
        Ok(match *how {
            "hash" => Part::Hash(needed()?),
            "round" => Part::Round(needed()?),
            "filter" if filters.is_empty() => return Err(Failure::usage("--by filter: filters expected")),
            "filter" => {
                let known = [filters.len(), filters.len() + 1];
                if count.is_some_and(|count| !known.contains(&count)) {
                    let message = format!("-n: {} or {} files for these filters", known[0], known[1]);
                    return Err(Failure::usage(message));
                }
                let filters = filters.iter().map(|text| text.parse::<Filter<'static>>());
                Part::Filters(filters.collect::<Result<_, _>>().map_err(|error| failure("--by", &error))?)
            }
            other => {
                let message = format!("--by: unknown `{other}`; known: hash, round, filter");
                return Err(Failure::usage(message));
            }
        })
    }
}
