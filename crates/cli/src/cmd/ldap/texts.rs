//! `tercet ldap dn`, `filter` and `code`: the texts of LDAP, without a server.

use super::{failure, open};
use crate::exit::{Exit, Failure, Outcome};
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use std::io::{self, Write as _};
use std::path::PathBuf;
use tercet_ldap::ldif::Reader;
use tercet_ldap::{Dn as Name, Filter as Inner, ResultCode};
use tercet_printable::printable;

/// Take names apart, and compare them
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  tercet ldap dn normalize 'CN=Ada , O=Test'
  tercet ldap dn within uid=ada,ou=people,o=test o=test")]
pub struct Dn {
    #[command(subcommand)]
    verb: DnVerb,
}

#[derive(Subcommand, Debug)]
#[command(defer = true)]
enum DnVerb {
    /// Print the form in which equal names are equal texts
    Normalize {
        /// The name
        dn: String,
    },
    /// Print the name of the entry above
    Parent {
        /// The name
        dn: String,
    },
    /// Print the first RDN
    Rdn {
        /// The name
        dn: String,
    },
    /// Check whether a name is at or below another: exit code 0 if it is, 2 if not
    Within {
        /// The name
        dn: String,
        /// The name above; the root if not given
        #[arg(default_value = "")]
        base: String,
    },
    /// Check whether two texts are the same name: exit code 0 if they are, 2 if not
    Compare {
        /// One name
        a: String,
        /// Another name
        b: String,
    },
}

impl Dn {
    pub fn run(&self) -> Outcome {
        let parse = |text: &str| text.parse::<Name>().map_err(|error| failure("", &error));
        let mut out = io::stdout();
        let is_so = match &self.verb {
            DnVerb::Normalize { dn } => {
                writeln!(out, "{}", printable(&parse(dn)?.normalized()))?;
                true
            }
            DnVerb::Parent { dn } => {
                let parent = parse(dn)?.parent().ok_or_else(|| Failure::usage("the root has no parent"))?;
                writeln!(out, "{}", printable(&parent.to_string()))?;
                true
            }
            DnVerb::Rdn { dn } => {
                let dn = parse(dn)?;
                let rdn = dn.rdns().first().ok_or_else(|| Failure::usage("the root has no RDN"))?;
                writeln!(out, "{}", printable(&rdn.to_string()))?;
                true
            }
            DnVerb::Within { dn, base } => parse(dn)?.is_within(&parse(base)?),
            DnVerb::Compare { a, b } => parse(a)? == parse(b)?,
        };
        if matches!(self.verb, DnVerb::Within { .. } | DnVerb::Compare { .. }) {
            writeln!(out, "{}", if is_so { "TRUE" } else { "FALSE" })?;
        }
        Ok(if is_so { Exit::Good } else { Exit::Rejected })
    }
}

/// Check a filter, print it in other forms, or find the entries of a file that it selects
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  tercet ldap filter --indent '(&(objectClass=person)(|(cn=a*)(sn=b)))'
  tercet ldap filter --match people.ldif '(mail=*)'")]
pub struct Filter {
    /// The filter
    filter: String,

    /// Print each component in a line
    #[arg(long, group = "form")]
    indent: bool,

    /// Print it as JSON
    #[arg(long, group = "form")]
    json: bool,

    /// Remove what changes nothing: double negation, and lists in lists of one kind or with one component
    #[arg(long)]
    simplify: bool,

    /// Print the names of the entries in LDIF that it selects; `-` for standard input
    #[arg(long = "match", value_name = "FILE", group = "form")]
    file: Option<PathBuf>,
}

impl Filter {
    pub fn run(&self) -> Outcome {
        let mut filter: Inner<'static> = self.filter.parse().map_err(|error| failure("", &error))?;
        if self.simplify {
            filter = simplified(filter);
        }
        let mut out = io::stdout();
        if let Some(path) = &self.file {
            for record in Reader::new(open(path)?) {
                let record = record.map_err(|error| failure(&path.display().to_string(), &error))?;
                if record.is_selected(&filter).map_err(|error| failure(&record.dn, &error))? {
                    writeln!(out, "{}", printable(&record.dn))?;
                }
            }
        } else if self.indent {
            let mut text = String::new();
            indented(&filter, 0, &mut text);
            write!(out, "{text}")?;
        } else if self.json {
            writeln!(out, "{}", object(&filter))?;
        } else {
            writeln!(out, "{filter}")?;
        }
        Ok(Exit::Good)
    }
}

/// A filter without what changes nothing. Filters are parsed to a depth, so that this does not go deep.
fn simplified(filter: Inner<'static>) -> Inner<'static> {
    match filter {
        Inner::Not(inner) => match simplified(*inner) {
            Inner::Not(inner) => *inner,
            inner => Inner::Not(Box::new(inner)),
        },
        Inner::And(list) => {
            let mut all = Vec::new();
            for part in list.into_iter().map(simplified) {
                match part {
                    Inner::And(inner) => all.extend(inner),
                    part if all.contains(&part) => {}
                    part => all.push(part),
                }
            }
            if all.len() == 1 { all.remove(0) } else { Inner::And(all) }
        }
        Inner::Or(list) => {
            let mut all = Vec::new();
            for part in list.into_iter().map(simplified) {
                match part {
                    Inner::Or(inner) => all.extend(inner),
                    part if all.contains(&part) => {}
                    part => all.push(part),
                }
            }
            if all.len() == 1 { all.remove(0) } else { Inner::Or(all) }
        }
        other => other,
    }
}

fn indented(filter: &Inner<'_>, depth: usize, out: &mut String) {
    let blanks = "  ".repeat(depth);
    let (sign, parts): (&str, Vec<&Inner<'_>>) = match filter {
        Inner::And(list) => ("&", list.iter().collect()),
        Inner::Or(list) => ("|", list.iter().collect()),
        Inner::Not(inner) => ("!", vec![inner]),
        other => {
            *out += &format!("{blanks}{other}\n");
            return;
        }
    };
    *out += &format!("{blanks}({sign}\n");
    parts.into_iter().for_each(|part| indented(part, depth + 1, out));
    *out += &format!("{blanks})\n");
}

fn object(filter: &Inner<'_>) -> Value {
    match filter {
        Inner::And(list) => json!({ "and": list.iter().map(object).collect::<Vec<_>>() }),
        Inner::Or(list) => json!({ "or": list.iter().map(object).collect::<Vec<_>>() }),
        Inner::Not(inner) => json!({ "not": object(inner) }),
        other => json!({ "item": other.to_string() }),
    }
}

/// Explain a result code: its number, its name in RFC 4511, and what it means
#[derive(Args, Debug)]
pub struct Code {
    /// The number or the name, such as `49` or `invalidCredentials`
    code: String,
}

impl Code {
    pub fn run(&self) -> Outcome {
        let number = self.code.parse::<u32>().ok();
        let found = CODES
            .iter()
            .find(|(known, name)| Some(*known) == number || name.eq_ignore_ascii_case(&self.code));
        let Some((number, name)) = found else {
            return Err(Failure::usage(format_args!("unknown result code `{}`", self.code)));
        };
        writeln!(io::stdout(), "{number} {name}: {}", ResultCode(*number).text())?;
        Ok(Exit::Good)
    }
}

/// Result codes by their names in RFC 4511 and the documents of their controls.
const CODES: [(u32, &str); 50] = [
    (0, "success"),
    (1, "operationsError"),
    (2, "protocolError"),
    (3, "timeLimitExceeded"),
    (4, "sizeLimitExceeded"),
    (5, "compareFalse"),
    (6, "compareTrue"),
    (7, "authMethodNotSupported"),
    (8, "strongerAuthRequired"),
    (10, "referral"),
    (11, "adminLimitExceeded"),
    (12, "unavailableCriticalExtension"),
    (13, "confidentialityRequired"),
    (14, "saslBindInProgress"),
    (16, "noSuchAttribute"),
    (17, "undefinedAttributeType"),
    (18, "inappropriateMatching"),
    (19, "constraintViolation"),
    (20, "attributeOrValueExists"),
    (21, "invalidAttributeSyntax"),
    (32, "noSuchObject"),
    (33, "aliasProblem"),
    (34, "invalidDNSyntax"),
    (36, "aliasDereferencingProblem"),
    (48, "inappropriateAuthentication"),
    (49, "invalidCredentials"),
    (50, "insufficientAccessRights"),
    (51, "busy"),
    (52, "unavailable"),
    (53, "unwillingToPerform"),
    (54, "loopDetect"),
    (60, "sortControlMissing"),
    (61, "offsetRangeError"),
    (64, "namingViolation"),
    (65, "objectClassViolation"),
    (66, "notAllowedOnNonLeaf"),
    (67, "notAllowedOnRDN"),
    (68, "entryAlreadyExists"),
    (69, "objectClassModsProhibited"),
    (70, "resultsTooLarge"),
    (71, "affectsMultipleDSAs"),
    (76, "virtualListViewError"),
    (80, "other"),
    (118, "canceled"),
    (119, "noSuchOperation"),
    (120, "tooLate"),
    (121, "cannotCancel"),
    (122, "assertionFailed"),
    (123, "authorizationDenied"),
    (4096, "syncRefreshRequired"),
];
