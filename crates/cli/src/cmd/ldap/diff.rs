//! `tercet ldap diff`.

use super::{failure, open};
use crate::exit::{Exit, Outcome};
use clap::Args;
use std::io::Write as _;
use tercet_ldap::ldif::{Reader, Style, difference};

/// Print the changes that lead from the entries of one LDIF file to those of another: exit code 0 if there are none, 2
/// if there are
#[derive(Args, Debug)]
pub struct Diff {
    /// The entries as they are; `-` for standard input
    before: std::path::PathBuf,

    /// The entries as they are to be; `-` for standard input
    after: std::path::PathBuf,
}

impl Diff {
    pub fn run(&self) -> Outcome {
        let changes = difference(Reader::new(open(&self.before)?), Reader::new(open(&self.after)?))
            .map_err(|error| failure("", &error))?;
        let mut out = Vec::new();
        for change in &changes {
            Style::default().record(&mut out, change);
        }
        crate::term::stdout(crate::term::Quotes::Ignored).write_all(&out)?;
        Ok(if changes.is_empty() { Exit::Good } else { Exit::Rejected })
    }
}
