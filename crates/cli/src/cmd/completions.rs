//! `tercet completions`.

use crate::exit::{Exit, Outcome};
use crate::help;
use clap::Args;
use clap_complete::Shell;
use std::io::{self, Write};

/// Print the completions of a shell
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  tercet completions bash > ~/.local/share/bash-completion/completions/tercet
  tercet completions zsh > ~/.zfunc/_tercet")]
pub struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub fn run(&self) -> Outcome {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut help::command(), "tercet", &mut script);
        io::stdout().write_all(&script)?;
        Ok(Exit::Good)
    }
}
