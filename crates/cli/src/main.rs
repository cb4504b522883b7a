//! The `tercet` command: this file lists, `cmd/` does.

#![expect(unreachable_pub, unnameable_types, reason = "a command has no outside")]

mod args;
mod auto;
mod cmd;
mod config;
mod discover;
mod exit;
mod figures;
mod help;
mod inputs;
mod inspect;
mod interrupt;
mod job;
mod manifest;
mod many;
mod names;
mod prometheus;
mod rendering;
mod report;
mod run;
mod shell;
mod term;
mod trace;
mod values;
mod watch;

use clap::{FromArgMatches, Parser, Subcommand};
use std::borrow::Cow;
use std::ffi::OsString;
#[cfg(feature = "ldap")]
use std::path::PathBuf;
use std::process::ExitCode;

/// Toolkit for ASN.1 data: checks specifications, decodes, encodes, and converts record files
#[derive(Parser, Debug)]
#[command(name = "tercet", version, max_term_width = 100, after_help = EXIT_CODES, propagate_version = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "\
Exit codes:
  0  all good
  1  the command line or a specification cannot be used
  2  some records were rejected, within the limits
  3  the limits were exceeded, or an input failed
  4  reading or writing failed
  130  stopped by a signal";

#[derive(Subcommand, Debug)]
#[command(defer = true)]
enum Command {
    Check(cmd::check::Check),
    Fmt(cmd::fmt::Fmt),
    Show(cmd::show::Show),
    Decode(cmd::decode::Decode),
    Encode(cmd::encode::Encode),
    Transcode(cmd::transcode::Transcode),
    Set(cmd::set::Set),
    Convert(Box<cmd::convert::Convert>),
    Doctor(cmd::doctor::Doctor),
    Head(cmd::head::Head),
    Cat(cmd::cat::Cat),
    Stat(cmd::stat::Stat),
    Validate(cmd::validate::Validate),
    Diff(cmd::diff::Diff),
    SchemaDiff(Box<cmd::schema_diff::SchemaDiff>),
    Sample(cmd::sample::Sample),
    Dump(cmd::dump::Dump),
    #[cfg(feature = "inspect")]
    Inspect(Box<cmd::inspect::Inspect>),
    Compile(cmd::compile::Compile),
    Export(Box<cmd::export::Export>),
    Doc(cmd::doc::Doc),
    #[cfg(feature = "lsp")]
    Lsp(cmd::lsp::Lsp),
    #[cfg(feature = "capture")]
    Capture(cmd::capture::Capture),
    #[cfg(feature = "megaco")]
    Megaco(cmd::megaco::Megaco),
    #[cfg(feature = "ldap")]
    Ldap(cmd::ldap::Ldap),
    Completions(cmd::completions::Completions),
    Man(cmd::man::Man),
}

/// Static programs bring the allocator of musl, which is slow.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let parsed = help::matches(&words()).and_then(|matches| Ok((Cli::from_arg_matches(&matches)?, matches)));
    let (cli, matches) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => {
            let error = help::with_nearest(error);
            // Help and version go to standard output and are no error.
            let good = !error.use_stderr();
            let text = error.to_string();
            // Words of the command line may be names of files that a glob has found.
            match tercet_printable::printable_lines(&text) {
                Cow::Borrowed(_) => _ = error.print(),
                Cow::Owned(text) => term::say_text(&text),
            }
            return if good { exit::Exit::Good } else { exit::Exit::Usage }.into();
        }
    };
    let outcome = match &cli.command {
        Command::Check(command) => command.run(),
        Command::Fmt(command) => command.run(),
        Command::Show(command) => command.run(),
        Command::Decode(command) => command.run(),
        Command::Encode(command) => command.run(),
        Command::Transcode(command) => command.run(),
        Command::Set(command) => command.run(),
        Command::Convert(command) => command.run(&matches),
        Command::Doctor(command) => command.run(),
        Command::Head(command) => command.run(),
        Command::Cat(command) => command.run(),
        Command::Stat(command) => command.run(),
        Command::Validate(command) => command.run(),
        Command::Diff(command) => command.run(),
        Command::SchemaDiff(command) => command.run(),
        Command::Sample(command) => command.run(),
        Command::Dump(command) => command.run(),
        #[cfg(feature = "inspect")]
        Command::Inspect(command) => command.run(),
        Command::Compile(command) => command.run(),
        Command::Export(command) => command.run(),
        Command::Doc(command) => command.run(),
        #[cfg(feature = "lsp")]
        Command::Lsp(command) => command.run(),
        #[cfg(feature = "capture")]
        Command::Capture(command) => command.run(),
        #[cfg(feature = "megaco")]
        Command::Megaco(command) => command.run(),
        #[cfg(feature = "ldap")]
        Command::Ldap(command) => command.run(),
        Command::Completions(command) => command.run(),
        Command::Man(command) => command.run(),
    };
    match outcome {
        Ok(exit) => exit.into(),
        Err(failure) => {
            if !failure.message.is_empty() {
                term::error(&failure.message);
            }
            failure.exit.into()
        }
    }
}

/// The command line.
#[cfg(not(feature = "ldap"))]
fn words() -> Vec<OsString> {
    std::env::args_os().collect()
}

/// The command line; called through a link with the name of a tool of OpenLDAP, that of the verb that takes its place.
#[cfg(feature = "ldap")]
fn words() -> Vec<OsString> {
    let mut words: Vec<OsString> = std::env::args_os().collect();
    let name = words.first().map(PathBuf::from);
    let name = name.as_ref().and_then(|path| path.file_stem()).and_then(|name| name.to_str());
    if let Some(verb) = name.and_then(cmd::ldap::verb_of_tool) {
        let verb = ["tercet", "ldap", verb, "--ldap-exit"].map(OsString::from);
        words.splice(..1, verb);
    }
    words
}
