//! `tercet ldap`: tools with the options of OpenLDAP's.

mod acl;
mod atomic;
mod bench;
mod codes;
mod conf;
mod connection;
mod decode;
mod diff;
mod edit;
mod files;
mod follow;
mod ldif;
mod lock;
mod messages;
mod oid;
mod printer;
mod proxy;
mod rows;
mod sasl;
mod schema;
mod search;
mod serve;
mod store;
mod stream;
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

    /// Exit with the codes of OpenLDAP's tools: the server's result code, 255 without a connection, 249 for a wrong filter
    #[arg(long, global = true)]
    ldap_exit: bool,
}

#[derive(Subcommand, Debug)]
#[command(defer = true)]
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
    AclTest(acl::AclTest),
    Proxy(proxy::Proxy),
    Store(store::Store),
    Bench(bench::Bench),
    Decode(decode::Decode),
    Follow(follow::Follow),
}

impl Ldap {
    /// Runs the command. With `--ldap-exit`, the process ends here, with a code of OpenLDAP's tools.
    pub fn run(&self) -> Outcome {
        let outcome = self.command();
        if !self.ldap_exit {
            return outcome;
        }
        let code = match &outcome {
            Ok(exit) => match &self.command {
                Command::Compare(command) if command.is_dry() => *exit as u8,
                Command::Compare(_) if *exit == Exit::Good => codes::COMPARE_TRUE,
                Command::Compare(_) if *exit == Exit::Rejected => codes::COMPARE_FALSE,
                _ => codes::last().filter(|_| *exit != Exit::Good).unwrap_or(*exit as u8),
            },
            Err(failure) => {
                if !failure.message.is_empty() {
                    crate::term::error(&failure.message);
                }
                failure.ldap.unwrap_or_else(|| codes::of_local(failure.exit))
            }
        };
        std::process::exit(i32::from(code));
    }

    fn command(&self) -> Outcome {
        let runtime = match &self.command {
            // A server uses all cores; a client has one connection.
            Command::Serve(command) => {
                Builder::new_multi_thread().worker_threads(command.workers()).enable_all().build()?
            }
            Command::Proxy(_) => Builder::new_multi_thread().enable_all().build()?,
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
                Command::AclTest(command) => command.run(),
                Command::Proxy(command) => command.run().await,
                Command::Store(command) => command.run().await,
                Command::Bench(command) => command.run().await,
                Command::Decode(command) => command.run(),
                Command::Follow(command) => command.run().await,
            }
        })
    }
}

pub use codes::verb as verb_of_tool;

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
    let ldap = match error.kind() {
        ErrorKind::Result | ErrorKind::Auth => {
            error.result().map_or(codes::SERVER_DOWN, |result| codes::of(result.code))
        }
        ErrorKind::Syntax if error.message().starts_with("filter: ") => codes::FILTER_ERROR,
        ErrorKind::Usage | ErrorKind::Syntax => Exit::Usage as u8,
        _ => codes::SERVER_DOWN,
    };
    Failure { exit, message, ldap: Some(ldap) }
}
