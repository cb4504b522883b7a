//! `tercet man`.

use crate::exit::{Exit, Outcome};
use crate::help;
use clap::Args;
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

/// Print the manual page
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  tercet man | man -l -
  tercet man --dir /usr/local/share/man/man1")]
pub struct Man {
    /// Write a page for each subcommand to this directory instead
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

impl Man {
    pub fn run(&self) -> Outcome {
        if let Some(dir) = &self.dir {
            fs::create_dir_all(dir)?;
            clap_mangen::generate_to(help::command_without_help(), dir)?;
            return Ok(Exit::Good);
        }
        let mut page = Vec::new();
        clap_mangen::Man::new(help::command()).render(&mut page)?;
        io::stdout().write_all(&page)?;
        Ok(Exit::Good)
    }
}
