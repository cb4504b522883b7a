//! `tercet ldap modify --atomic`, and `tercet ldap recover`.

use super::connection::Connection;
use super::failure;
use crate::exit::{Exit, Failure, Outcome};
use crate::term;
use clap::{Args, ValueEnum};
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::time::Duration;
use tercet_ldap::Client;
use tercet_ldap::ldif::Record;
use tercet_ldap::transaction::{self, Aborted, Conflict, Engine, Options, Recovered, Transaction};

/// Options of a transaction.
#[derive(Args, Debug)]
pub struct Atomic {
    /// Make all changes or none: by transactions of the server (RFC 5805), or by locks and a journal
    #[arg(
        long,
        value_enum,
        value_name = "ENGINE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "auto",
        conflicts_with_all = ["dry", "go_on"]
    )]
    atomic: Option<EngineName>,

    /// The entry below which locks are, for servers without transactions
    #[arg(long, value_name = "DN", requires = "atomic")]
    locks: Option<String>,

    /// The folder of journals, from which interrupted transactions are recovered
    #[arg(long, value_name = "DIR", requires = "atomic")]
    journal: Option<PathBuf>,

    /// Seconds to wait for locks
    #[arg(long, value_name = "SECONDS", default_value_t = 30, requires = "atomic")]
    lock_wait: u64,

    /// Seconds after which others may take a lock over whose owner is not heard of
    #[arg(long, value_name = "SECONDS", default_value_t = 30, requires = "atomic", value_parser = clap::value_parser!(u64).range(1..))]
    lease: u64,

    /// Also make changes that cannot be undone completely, such as deletions
    #[arg(long, requires = "atomic")]
    allow_irreversible: bool,
}

#[derive(ValueEnum, Clone, Copy, Debug)]
enum EngineName {
    Auto,
    Server,
    Advisory,
}

impl Atomic {
    /// Returns whether changes are made all or none.
    pub const fn is_asked_for(&self) -> bool {
        self.atomic.is_some()
    }

    /// Makes the changes of records, all or none.
    pub async fn run(&self, connection: &Connection, client: &Client, records: Vec<Record>) -> Outcome {
        let engine = match self.atomic {
            Some(EngineName::Server) => Engine::Server,
            Some(EngineName::Advisory) => Engine::Advisory,
            Some(EngineName::Auto) | None => Engine::Auto,
        };
        let mut options = Options::new()
            .engine(engine)
            .lock_wait(Duration::from_secs(self.lock_wait))
            .lease(Duration::from_secs(self.lease))
            .allow_irreversible(self.allow_irreversible)
            .bind_dn(connection.bind_dn());
        if let Some(locks) = &self.locks {
            options = options.locks(locks);
        }
        if let Some(journal) = &self.journal {
            options = options.journal(journal);
        }
        let begun = Transaction::begin(client, options).await;
        let mut transaction = begun.map_err(|error| match error.kind() {
            tercet_ldap::ErrorKind::Usage => {
                Failure::usage(format_args!("--atomic: {error}\nhelp: use `--locks DN --journal DIR`"))
            }
            _ => failure("--atomic", &error),
        })?;
        records.into_iter().for_each(|record| transaction.apply(record));
        match transaction.commit().await {
            Ok(()) => Ok(Exit::Good),
            Err(aborted) => self.aborted(connection, aborted).await,
        }
    }

    async fn aborted(&self, connection: &Connection, aborted: Aborted) -> Outcome {
        let about = aborted.dn.as_deref().map(tercet_printable::printable);
        let failed = failure(about.as_deref().unwrap_or_default(), &aborted.cause);
        if aborted.rolled_back {
            let (state, exit) = match failed.exit {
                // It was refused before anything was sent.
                Exit::Usage => ("nothing was changed", Exit::Usage),
                _ => ("everything was undone", Exit::Failed),
            };
            let message = format!("{}\n{state}", failed.message);
            return Err(Failure { exit, message, ..failed });
        }
        let Some(journal) = &aborted.journal else {
            // A transaction of the server without an answer.
            return Err(failed);
        };
        if !aborted.conflicts.is_empty() {
            term::error(&failed.message);
            return Ok(report(&aborted.conflicts));
        }
        // The connection has ended: another one finishes it.
        let recovered = match connection.open().await {
            Ok(client) => transaction::recover(&client, journal, Duration::from_secs(self.lock_wait)).await,
            Err(Failure { message, .. }) => Err(tercet_ldap::Error::new(tercet_ldap::ErrorKind::Io, message)),
        };
        match recovered {
            Ok(Recovered::Finished { .. }) => {
                let message = format!("{}\neverything was undone", failed.message);
                Err(Failure { exit: Exit::Failed, message, ..failed })
            }
            Ok(Recovered::Conflicts(conflicts)) => {
                term::error(&failed.message);
                Ok(report(&conflicts))
            }
            other => {
                let reason =
                    other.err().map(|error| format!("\nnot undone yet: {error}")).unwrap_or_default();
                let help = format!(
                    "\nhelp: run `tercet ldap recover --journal {}`",
                    tercet_printable::printable(&self.folder())
                );
                let message = failed.message + &reason + &help;
                Err(Failure { exit: Exit::Io, message, ldap: failed.ldap })
            }
        }
    }

    fn folder(&self) -> String {
        self.journal.as_ref().map(|path| path.display().to_string()).unwrap_or_default()
    }
}

/// Reports what could not be undone.
fn report(conflicts: &[Conflict]) -> Exit {
    for conflict in conflicts {
        term::error(format_args!("conflict: {}", tercet_printable::printable(&conflict.to_string())));
    }
    Exit::Rejected
}

/// Finish interrupted transactions: undo what was sent of them; exit code 0 if none is left, 2 if there are conflicts
#[derive(Args, Debug)]
#[command(after_help = "\
Servers and bind name come from the journal unless -H and -D are given.

Examples:
  tercet ldap recover --journal journal --list
  tercet ldap recover --journal journal -D cn=admin,o=test -W")]
pub struct Recover {
    #[command(flatten)]
    connection: Connection,

    /// The folder of journals
    #[arg(long, value_name = "DIR")]
    journal: PathBuf,

    /// List them: identifier, state (open, committing, undoing or conflict), number of operations and server
    #[arg(long)]
    list: bool,

    /// Print what would be recovered
    #[arg(long, conflicts_with = "list")]
    dry_run: bool,

    /// Seconds to wait for locks that others have taken over
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    lock_wait: u64,
}

impl Recover {
    pub async fn run(&self) -> Outcome {
        let pending = transaction::pending(&self.journal).map_err(|error| failure("", &error))?;
        let mut out = io::stdout();
        if self.list || self.dry_run {
            for one in &pending {
                let uri = one.uris.first().map(String::as_str).unwrap_or_default();
                let (id, state) = (tercet_printable::printable(&one.transaction), one.state.word());
                writeln!(
                    out,
                    "{id}\t{state}\t{} operations\t{}",
                    one.operations,
                    tercet_printable::printable(uri)
                )?;
            }
            return Ok(Exit::Good);
        }
        let mut exit = Exit::Good;
        for one in &pending {
            let client = self.connection.open_as(&one.uris, &one.bind_dn).await?;
            let recovered =
                transaction::recover(&client, &one.journal, Duration::from_secs(self.lock_wait)).await;
            let id = tercet_printable::printable(&one.transaction).into_owned();
            match recovered.map_err(|error| failure(&id, &error))? {
                Recovered::Finished { undone } => {
                    let done = if undone { "undone" } else { "nothing to undo" };
                    term::say(format_args!("{id}: {done}"));
                }
                Recovered::Conflicts(conflicts) => exit = exit.max(report(&conflicts)),
                _ => {
                    term::say(format_args!("{id}: goes on in another process"));
                    exit = exit.max(Exit::Rejected);
                }
            }
        }
        Ok(exit)
    }
}
