//! Exit codes of OpenLDAP's tools, and the names by which they are called.

use crate::exit::Exit;
use std::sync::atomic::{AtomicU16, Ordering};
use tercet_ldap::ResultCode;

/// LDAP_SERVER_DOWN (-1): there is no connection.
pub const SERVER_DOWN: u8 = 255;
/// LDAP_FILTER_ERROR (-7).
pub const FILTER_ERROR: u8 = 249;
/// EXIT_FAILURE of the C library.
pub const EXIT_FAILURE: u8 = 1;
/// The values are the same.
pub const COMPARE_TRUE: u8 = 6;
/// The values differ.
pub const COMPARE_FALSE: u8 = 5;

/// The code of the last error after which a command went on; 256 and above is none.
static LAST: AtomicU16 = AtomicU16::new(NONE);
const NONE: u16 = 256;

/// The exit code of a result: those above the codes of RFC 4511 do not fit, and become 80 (other).
pub fn of(code: ResultCode) -> u8 {
    u8::try_from(code.0).ok().filter(|code| *code < FILTER_ERROR).unwrap_or(80)
}

/// The exit code of a failure before or beside the server's answers: a file that cannot be read is EXIT_FAILURE (1).
pub const fn of_local(exit: Exit) -> u8 {
    match exit {
        Exit::Io => EXIT_FAILURE,
        exit => exit as u8,
    }
}

/// Remembers the code of an error after which a command goes on.
pub fn remember(code: Option<u8>) {
    if let Some(code) = code {
        LAST.store(code.into(), Ordering::Relaxed);
    }
}

/// The code that was remembered last.
pub fn last() -> Option<u8> {
    u8::try_from(LAST.load(Ordering::Relaxed)).ok()
}

/// The verbs by the names of OpenLDAP's tools.
const TOOLS: [(&str, &str); 9] = [
    ("ldapsearch", "search"),
    ("ldapadd", "add"),
    ("ldapmodify", "modify"),
    ("ldapdelete", "delete"),
    ("ldapmodrdn", "modrdn"),
    ("ldapcompare", "compare"),
    ("ldappasswd", "passwd"),
    ("ldapwhoami", "whoami"),
    ("ldapurl", "url"),
];

/// The verb of a name by which the program was called, if that is one of a tool of OpenLDAP.
pub fn verb(name: &str) -> Option<&'static str> {
    TOOLS.iter().find(|(tool, _)| *tool == name).map(|(_, verb)| *verb)
}
