//! `tercet ldap ldif apply`.

use super::{Sink, failure, open, records};
use crate::exit::{Exit, Failure, Outcome};
use crate::term;
use clap::Args;
use std::path::{Path, PathBuf};
use tercet::records::Guard;
use tercet_ldap::ldif::{Content, Reader, Style};

/// Apply changes to the entries of a file, and print the entries as they are then
#[derive(Args, Debug)]
pub struct Apply {
    /// LDIF with changes; `-` for standard input
    changes: PathBuf,

    /// LDIF with entries; `-` for standard input
    file: PathBuf,

    /// Output file; standard output if not given
    #[arg(short = 'o', long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Write changes that are refused to a file, with the reason as a comment, and go on; exit code 2 if there are any
    #[arg(long, value_name = "FILE")]
    rejects: Option<PathBuf>,

    /// Accept values to add that are there, and values and entries to delete that are not there
    #[arg(long)]
    lenient: bool,
}

impl Apply {
    pub fn run(&self) -> Outcome {
        let inputs: [&Path; 2] = [&self.changes, &self.file];
        if inputs.iter().all(|path| path.as_os_str() == "-") {
            return Err(Failure::usage("only one of the files can be standard input"));
        }
        if let (Some(output), Some(rejects)) = (&self.output, &self.rejects) {
            let mut guard = Guard::default();
            guard.writes("`-o`", output)?;
            guard.writes("`--rejects`", rejects)?;
        }
        let mut sink = Sink::create(self.output.as_deref(), "`-o`", &inputs)?;
        let mut rejects = match &self.rejects {
            Some(path) => Some(Sink::create(Some(path), "`--rejects`", &inputs)?),
            None => None,
        };
        let content = Content::read(Reader::new(open(&self.file)?));
        let mut content = content.map_err(|error| failure(&self.file.display().to_string(), &error))?;
        let mut rejected = 0_u64;
        for change in records(&self.changes)? {
            let change = change?;
            let Err(error) = content.apply(&change, self.lenient) else { continue };
            let Some(rejects) = &mut rejects else {
                return Err(Failure { exit: Exit::Failed, ..failure(&change.dn, &error) });
            };
            rejected += 1;
            Style::default()
                .comment(&mut rejects.out, error.to_string().replace(['\n', '\r'], " ").as_bytes());
            rejects.record(&change)?;
        }
        for record in content.into_records() {
            sink.record(&record)?;
        }
        sink.finish()?;
        if let Some(rejects) = rejects {
            rejects.finish()?;
        }
        if rejected > 0 {
            term::say(format_args!("{} refused", term::count(rejected, "change")));
            return Ok(Exit::Rejected);
        }
        Ok(Exit::Good)
    }
}
