//! `tercet ldap lock`.

use super::connection::Connection;
use super::failure;
use crate::exit::{Exit, Failure, Outcome};
use crate::term;
use clap::Args;
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;
use tercet_ldap::ErrorKind;
use tercet_ldap::transaction::{Lock as Held, Locks};

/// Run a command while a lock is held that is an entry of a directory
#[derive(Args, Debug)]
#[command(after_help = "\
The exit code is that of the command; 75 if somebody else has the lock.

Examples:
  tercet ldap lock -H ldap://localhost --locks ou=locks,o=test nightly -- ./export.sh
  tercet ldap lock -H ldap://localhost --locks ou=locks,o=test --list")]
pub struct Lock {
    #[command(flatten)]
    connection: Connection,

    /// The entry below which locks are
    #[arg(long, value_name = "DN")]
    locks: String,

    /// Seconds after which others may take the lock over if this command is not heard of
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..))]
    lease: u64,

    /// Seconds to wait for the lock
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    wait: u64,

    /// Print the locks as JSON lines
    #[arg(long, conflicts_with_all = ["break_lock", "name", "command"])]
    list: bool,

    /// Take the lock away from its owner, and print who that was
    #[arg(long = "break", value_name = "NAME", conflicts_with_all = ["name", "command"])]
    break_lock: Option<String>,

    /// What to lock: a DN or any name
    #[arg(required_unless_present_any = ["list", "break_lock"])]
    name: Option<String>,

    /// The command
    #[arg(last = true, required_unless_present_any = ["list", "break_lock"])]
    command: Vec<OsString>,
}

/// The exit code of a lock that somebody else has: EX_TEMPFAIL of sysexits.h.
const NOT_GOT: i32 = 75;

impl Lock {
    pub async fn run(&self) -> Outcome {
        let client = self.connection.open().await?;
        let locks = Locks::new(&client, &self.locks, Duration::from_secs(self.lease)).await;
        let locks = locks.map_err(|error| failure("--locks", &error))?;
        let mut out = io::stdout();
        if self.list {
            let states = locks.list().await.map_err(|error| failure(&self.locks, &error))?;
            // Servers without the control of RFC 4528 keep the entries of locks that were released.
            for state in states.iter().filter(|state| !state.owner.is_empty()) {
                writeln!(out, "{}", tercet_printable::printable(state.json()))?;
            }
            return Ok(Exit::Good);
        }
        if let Some(name) = &self.break_lock {
            let broken = locks.break_lock(name).await.map_err(|error| failure(name, &error))?;
            let Some(state) = broken.filter(|state| !state.owner.is_empty()) else {
                return Err(Failure::input(format_args!("{name}: there is no such lock")));
            };
            writeln!(out, "{}", tercet_printable::printable(state.json()))?;
            return Ok(Exit::Good);
        }
        let name = self.name.as_deref().unwrap_or_default();
        let held = match locks.take(name, Duration::from_secs(self.wait)).await {
            Ok(held) => held,
            Err(error) if error.kind() == ErrorKind::Timeout => {
                term::error(error.to_string());
                std::process::exit(NOT_GOT);
            }
            Err(error) => return Err(failure(name, &error)),
        };
        self.hold(&locks, held).await
    }

    /// Runs the command, and renews the lock meanwhile.
    async fn hold(&self, locks: &Locks, mut held: Held) -> Outcome {
        let (program, words) =
            self.command.split_first().ok_or_else(|| Failure::usage("a command expected"))?;
        let child = Command::new(program).args(words).spawn();
        let mut child = match child {
            Ok(child) => child,
            Err(error) => {
                _ = locks.release(held).await;
                return Err(Failure::io(program.display(), &error));
            }
        };
        let ended = loop {
            if let Some(status) = child.try_wait()? {
                break Ok(status);
            }
            tokio::time::sleep(LOOK).await;
            if let Err(error) = locks.keep(&mut held).await {
                break Err(error);
            }
        };
        match ended {
            Ok(status) => {
                locks.release(held).await.map_err(|error| failure("", &error))?;
                std::process::exit(code(status));
            }
            Err(error) => {
                // Two of them must not run at the same time.
                stop(&mut child);
                Err(failure("the command was stopped", &error))
            }
        }
    }
}

/// How often the command is looked at.
const LOOK: Duration = Duration::from_millis(20);

fn stop(child: &mut Child) {
    _ = child.kill();
    _ = child.wait();
}

/// The exit code of a command, as a shell has it.
fn code(status: ExitStatus) -> i32 {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return 128 + signal;
    }
    status.code().unwrap_or(1)
}
