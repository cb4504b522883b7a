//! Exit codes, and the failure that carries one.

use std::fmt;
use std::io;
use std::process::ExitCode;
use tercet::records::Overwrite;
use tercet::records::conversion::{Names, OptionFault};
use tercet_printable::Printable;

/// What the command says to the shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// All good.
    Good = 0,
    /// The command line or a specification cannot be used.
    Usage = 1,
    /// Some records were rejected, within the limits.
    Rejected = 2,
    /// More was rejected than the limits allow, or an input failed altogether.
    Failed = 3,
    /// Reading or writing failed.
    Io = 4,
    /// A signal said to stop.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// What ends a command early.
#[derive(Debug)]
pub struct Failure {
    /// What to say to the shell.
    pub exit: Exit,
    /// What to say to the person; empty if all has been said.
    pub message: String,
    /// What tools of OpenLDAP say to the shell, if it is known.
    #[cfg_attr(not(feature = "ldap"), expect(dead_code, reason = "read by the tools of LDAP alone"))]
    pub ldap: Option<u8>,
}

/// A result whose error ends the command.
pub type Outcome<T = Exit> = Result<T, Failure>;

impl Failure {
    /// The command line or a specification cannot be used.
    pub fn usage(message: impl fmt::Display) -> Self {
        Self { exit: Exit::Usage, message: message.to_string(), ldap: None }
    }

    /// An input failed.
    pub fn input(message: impl fmt::Display) -> Self {
        Self { exit: Exit::Failed, message: message.to_string(), ldap: None }
    }

    /// A signal said to stop.
    pub fn interrupted(message: impl fmt::Display) -> Self {
        Self { exit: Exit::Interrupted, message: message.to_string(), ldap: None }
    }

    /// Reading or writing a file failed.
    pub fn io(what: impl fmt::Display, error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self { exit: Exit::Good, message: String::new(), ldap: None };
        }
        Self { exit: Exit::Io, message: format!("{}: {error}", Printable(what)), ldap: None }
    }
}

impl From<Overwrite> for Failure {
    fn from(refused: Overwrite) -> Self {
        Self::usage(refused)
    }
}

impl From<OptionFault> for Failure {
    fn from(fault: OptionFault) -> Self {
        Self::usage(fault.spelled(Names::Option))
    }
}

impl From<io::Error> for Failure {
    /// An error whose text names the file already, or that is about standard output. A reader that went away is none.
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self { exit: Exit::Good, message: String::new(), ldap: None };
        }
        Self { exit: Exit::Io, message: error.to_string(), ldap: None }
    }
}
