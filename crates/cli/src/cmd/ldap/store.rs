//! `tercet ldap store`: a directory on disk, while no server uses it.

use super::{failure, open};
use crate::exit::{Exit, Failure, Outcome};
use crate::term;
use clap::{Args, Subcommand};
use std::io::{self, Write as _};
use std::path::PathBuf;
use tercet_ldap::directory::{Directory, Durability};

/// Check, export, fill and shrink the directory of `tercet ldap serve --data` while no server uses it
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  tercet ldap store --data directory check
  tercet ldap store --data directory export > backup.ldif
  tercet ldap store --data directory index description:eq,sub")]
pub struct Store {
    /// The folder
    #[arg(long, value_name = "DIR")]
    data: PathBuf,

    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand, Debug)]
#[command(defer = true)]
enum Verb {
    /// Check the file and all entries: exit code 2 if there are faults
    Check,
    /// Print all entries as LDIF, passwords too, each after those above it
    Export,
    /// Add the entries, or make the changes, of a file: all or none
    Import {
        /// The file; `-` for standard input
        file: PathBuf,
    },
    /// Make the file as small as it can be
    Compact,
    /// Declare indexes that servers make when they begin
    Index {
        /// Attributes and kinds, such as `description:eq,sub`
        #[arg(required = true, value_name = "ATTR:KIND[,KIND]")]
        specs: Vec<String>,
    },
}

impl Store {
    pub async fn run(&self) -> Outcome {
        let fault = |error: tercet_ldap::Error| failure("", &error);
        if !matches!(self.verb, Verb::Import { .. }) && !self.data.is_dir() {
            let name = self.data.display();
            return Err(Failure::usage(format_args!("--data {name}: there is no such folder")));
        }
        match &self.verb {
            Verb::Check => {
                let checked = Directory::check_store(&self.data).map_err(fault)?;
                let mut out = io::stdout();
                for problem in &checked.faults {
                    writeln!(out, "{}", tercet_printable::printable(problem))?;
                }
                let faults = term::count(checked.faults.len() as u64, "fault");
                writeln!(out, "{} entries, {faults}", term::grouped(checked.entries))?;
                Ok(if checked.faults.is_empty() { Exit::Good } else { Exit::Rejected })
            }
            Verb::Export => {
                let directory = Directory::open(&self.data, Durability::Group).map_err(fault)?;
                let mut out = term::stdout(term::Quotes::Ignored);
                directory.export(&mut out).map_err(fault)?;
                out.flush()?;
                Ok(Exit::Good)
            }
            Verb::Import { file } => {
                let directory = Directory::open(&self.data, Durability::Group).map_err(fault)?;
                let count = directory.import(open(file)?).await;
                let count = count.map_err(|error| failure(&file.display().to_string(), &error))?;
                term::say(term::count(count, "record"));
                Ok(Exit::Good)
            }
            Verb::Compact => {
                let done = Directory::compact_store(&self.data).map_err(fault)?;
                term::say(if done { "the file is smaller" } else { "the file was as small as it can be" });
                Ok(Exit::Good)
            }
            Verb::Index { specs } => {
                let specs: Vec<&str> = specs.iter().map(String::as_str).collect();
                Directory::index_store(&self.data, &specs).map_err(fault)?;
                Ok(Exit::Good)
            }
        }
    }
}
