//! `tercet ldap`: tools with the options of OpenLDAP's.

mod atomic;
mod bench;
mod conf;
mod connection;
mod diff;
mod edit;
mod files;
mod ldif;
mod lock;
mod oid;
mod rows;
mod sasl;
mod schema;
mod search;
mod serve;
mod texts;
mod tools;

use crate::exit::{Exit, Failure, Outcome};
use clap::{Args, Subcommand};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use tercet_ldap::{Error, ErrorKind};
use tercet_printable::Printable;
use tokio::runtime::Builder;

/// Talk to directories: search, change, and load-test, with the options of OpenLDAP's tools
#[derive(Args, Debug)]
pub struct Ldap {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    Search(search::Search),
    Add(edit::Add),
    Modify(edit::Modify),
    Delete(edit::Delete),
    Modrdn(edit::Modrdn),
    Compare(tools::Compare),
    Passwd(tools::Passwd),
    Whoami(tools::Whoami),
    Url(tools::Url),
    Diff(diff::Diff),
    Ldif(files::LdifCommand),
    Schema(schema::SchemaCommand),
    Filter(texts::Filter),
    Dn(texts::Dn),
    Code(texts::Code),
    Oid(oid::Oid),
    Recover(atomic::Recover),
    Lock(lock::Lock),
    Serve(serve::Serve),
    Bench(bench::Bench),
}

impl Ldap {
    pub fn run(&self) -> Outcome {
        let runtime = match &self.command {
            // A server uses all cores; a client has one connection.
            Command::Serve(command) => {
                Builder::new_multi_thread().worker_threads(command.workers()).enable_all().build()?
            }
            _ => Builder::new_current_thread().enable_all().build()?,
        };
        runtime.block_on(async {
            match &self.command {
                Command::Search(command) => command.run().await,
                Command::Add(command) => command.run().await,
                Command::Modify(command) => command.run().await,
                Command::Delete(command) => command.run().await,
                Command::Modrdn(command) => command.run().await,
                Command::Compare(command) => command.run().await,
                Command::Passwd(command) => command.run().await,
                Command::Whoami(command) => command.run().await,
                Command::Url(command) => command.run(),
                Command::Diff(command) => command.run().await,
                Command::Ldif(command) => command.run(),
                Command::Schema(command) => command.run().await,
                Command::Filter(command) => command.run(),
                Command::Dn(command) => command.run(),
                Command::Code(command) => command.run(),
                Command::Oid(command) => command.run(),
                Command::Recover(command) => command.run().await,
                Command::Lock(command) => command.run().await,
                Command::Serve(command) => command.run().await,
                Command::Bench(command) => command.run().await,
            }
        })
    }
}

/// Opens a file, and unpacks it if it is compressed; `-` is standard input.
fn open(path: &Path) -> Outcome<Box<dyn BufRead>> {
    let named = |error: io::Error| Failure::io(path.display(), &error);
    let raw: Box<dyn Read> = if path == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        Box::new(File::open(path).map_err(named)?)
    };
    Ok(Box::new(BufReader::new(tercet::records::inputs::unpack(raw).map_err(named)?)))
}

/// An error of the library as a failure of the command; a server's result as OpenLDAP's tools say it.
fn failure(what: &str, error: &Error) -> Failure {
    let message = match error.result() {
        None => format!("{what}{}{error}", if what.is_empty() { "" } else { ": " }),
        Some(result) => {
            let mut message = format!("{what}{}{}", if what.is_empty() { "" } else { ": " }, result.code);
            if !result.matched_dn.is_empty() {
                message += &format!("\nMatched DN: {}", Printable(&result.matched_dn));
            }
            if !result.message.is_empty() {
                message += &format!("\nAdditional information: {}", Printable(&result.message));
            }
            message
        }
    };
    let exit = match error.kind() {
        ErrorKind::Usage | ErrorKind::Syntax => Exit::Usage,
        ErrorKind::Result | ErrorKind::Auth | ErrorKind::Limit => Exit::Failed,
        _ => Exit::Io,
    };
    Failure { exit, message }
}
