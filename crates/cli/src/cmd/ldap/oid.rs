//! `tercet ldap oid`.

use crate::exit::{Exit, Failure, Outcome};
use clap::Args;
use std::io::{self, Write as _};
use tercet::suggest::nearest;
use tercet_ldap::oids;

/// Explain an object identifier of LDAP, or find the one of a name: `OID NAME: KIND, DOCUMENT`
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  tercet ldap oid 1.2.840.113556.1.4.319
  tercet ldap oid startTLS")]
pub struct Oid {
    /// The object identifier or the name, such as `1.3.6.1.4.1.1466.20037` or `startTLS`
    oid: String,
}

impl Oid {
    pub fn run(&self) -> Outcome {
        // One name may stand for several things, as one identifier has several names.
        let is_it = |one: &oids::OidInfo| one.oid == self.oid || one.name.eq_ignore_ascii_case(&self.oid);
        let mut found = oids::all().filter(is_it).peekable();
        if found.peek().is_none() {
            let names: Vec<&str> = oids::all().map(|one| one.name).collect();
            let near = nearest(&self.oid, names).map(|name| format!("\nhelp: did you mean `{name}`?"));
            let near = near.unwrap_or_default();
            return Err(Failure::usage(format_args!(
                "unknown object identifier or name `{}`{near}",
                self.oid
            )));
        }
        for one in found {
            writeln!(io::stdout(), "{} {}: {}, {}", one.oid, one.name, one.kind, one.document)?;
        }
        Ok(Exit::Good)
    }
}
