//! `tercet ldap acl-test`, and the file of `tercet ldap serve --acl`.

use super::{failure, open};
use crate::exit::{Exit, Failure, Outcome};
use clap::Args;
use std::io::{self, Read as _, Write as _};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use tercet_ldap::directory::{Acl, Requester, Right};
use tercet_ldap::ldif::{Reader, Record};
use tercet_printable::printable;

/// Print which rule of access decides: exit code 0 if it allows, 2 if access is denied
#[derive(Args, Debug)]
#[command(after_help = "\
Each line of the file is a rule; the first one that matches decides:
  allow|deny RIGHT[,RIGHT...] to DN[.one|.sub|.children] [attr=NAME[,NAME...]] [filter=(...)] by WHO
WHO is anonymous, users, self, anyone, tls, group=DN, peer=ADDRESS[/BITS] or the name of a user. A rule that allows
`read` also allows `search` and `compare`.

Examples:
  tercet ldap acl-test rules --as uid=ada,o=test --on uid=bob,o=test --attr mail
  tercet ldap acl-test rules --as uid=ada,o=test --on ou=people,o=test --right add --ldif people.ldif")]
pub struct AclTest {
    /// The rules
    file: PathBuf,

    /// The user; anonymous if not given
    #[arg(long = "as", value_name = "DN", default_value = "")]
    user: String,

    /// The entry
    #[arg(long, value_name = "DN")]
    on: String,

    /// An attribute of the entry; the entry itself if not given
    #[arg(long, value_name = "ATTRIBUTE")]
    attr: Option<String>,

    /// read, search, compare, write, add, delete or auth
    #[arg(long, value_name = "RIGHT", default_value = "read", value_parser = |text: &str| text.parse::<Right>())]
    right: Right,

    /// The address of the client, for rules with `peer`
    #[arg(long, value_name = "ADDRESS")]
    peer: Option<IpAddr>,

    /// The connection has TLS
    #[arg(long)]
    tls: bool,

    /// Entries, for rules with `filter` and `group`: without an entry, such a rule does not match
    #[arg(long, value_name = "FILE")]
    ldif: Option<PathBuf>,
}

impl AclTest {
    pub fn run(&self) -> Outcome {
        let acl = read(&self.file)?;
        let entries = match &self.ldif {
            None => Vec::new(),
            Some(path) => {
                let records: tercet_ldap::Result<Vec<Record>> = Reader::new(open(path)?).collect();
                records.map_err(|error| failure(&path.display().to_string(), &error))?
            }
        };
        let who = Requester::new(&self.user).map_err(|error| failure("--as", &error))?;
        let who = who.at(self.peer, self.tls);
        let decision = acl.decide(&who, &self.on, self.right, self.attr.as_deref(), &entries);
        let decision = decision.map_err(|error| failure("--on", &error))?;
        let verb = if decision.is_allowed { "allow" } else { "deny" };
        let mut out = io::stdout();
        match decision.rule {
            Some((line, rule)) => writeln!(out, "{verb} line {line}: {}", printable(rule))?,
            None => writeln!(out, "{verb}: no rule matches")?,
        }
        Ok(if decision.is_allowed { Exit::Good } else { Exit::Rejected })
    }
}

/// Reads a file of rules.
pub fn read(path: &Path) -> Outcome<Acl> {
    let mut text = String::new();
    open(path)?.read_to_string(&mut text).map_err(|error| Failure::io(path.display(), &error))?;
    text.parse().map_err(|error: tercet_ldap::Error| failure(&path.display().to_string(), &error))
}
