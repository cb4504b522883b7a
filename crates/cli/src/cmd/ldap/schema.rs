//! `tercet ldap schema`.

use super::connection::Connection;
use super::{failure, open};
use crate::exit::{Exit, Failure, Outcome};
use crate::term;
use clap::{Args, Subcommand, ValueEnum};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tercet_ldap::Draft;
use tercet_ldap::entry::{Repair, Repaired};
use tercet_ldap::ldif::{Change, Reader, Record, Style};
use tercet_ldap::schema::{Description, Schema};
use tercet_printable::printable;

/// Print a schema, compare schemas, check and repair entries by a schema
#[derive(Args, Debug)]
#[command(after_help = "\
The schema is that of the server of -H, or of a file: LDIF of a subschema entry, or of Active Directory's schema partition.

Examples:
  tercet ldap schema check people.ldif --from schema.ldif
  tercet ldap schema repair people.ldif --from schema.ldif --mode optimistic > repaired.ldif")]
pub struct SchemaCommand {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Args, Debug)]
struct Source {
    #[command(flatten)]
    connection: Connection,

    /// LDIF with the schema, instead of a server
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
}

#[derive(Subcommand, Debug)]
#[command(defer = true)]
enum Verb {
    /// Print the schema as LDIF
    Show {
        #[command(flatten)]
        source: Source,
    },
    /// Print an object class
    Class {
        #[command(flatten)]
        source: Source,
        /// Name or object identifier
        name: String,
    },
    /// Print an attribute type
    Attribute {
        #[command(flatten)]
        source: Source,
        /// Name or object identifier
        name: String,
    },
    /// Print what differs between two files with schemas: exit code 0 if nothing does, 2 if something does
    Diff {
        /// The first file; its descriptions are printed after `-`
        before: PathBuf,
        /// The second file; its descriptions are printed after `+`
        after: PathBuf,
    },
    /// Print the rules that entries break, as `DN: message`: exit code 2 if there are any
    Check {
        #[command(flatten)]
        source: Source,
        /// Entries as LDIF; `-` for standard input
        ldif: PathBuf,
    },
    /// Print entries as they are after a repair; what was done is printed to standard error
    Repair {
        #[command(flatten)]
        source: Source,
        /// Entries as LDIF; `-` for standard input
        ldif: PathBuf,
        /// Add object classes that allow the attributes, or drop attributes that no object class allows
        #[arg(long, value_enum)]
        mode: Mode,
        /// Print what would be done, and no entries
        #[arg(long)]
        plan: bool,
    },
}

#[derive(ValueEnum, Clone, Copy, Debug)]
enum Mode {
    Optimistic,
    Pessimistic,
}

impl Source {
    async fn schema(&self) -> Outcome<Schema> {
        match &self.from {
            Some(path) => read(path),
            None => self.connection.open().await?.schema().await.map_err(|error| failure("schema", &error)),
        }
    }
}

fn read(path: &Path) -> Outcome<Schema> {
    let file = File::open(path).map_err(|error| Failure::io(path.display(), &error))?;
    Schema::read(BufReader::new(file)).map_err(|error| failure(&path.display().to_string(), &error))
}

impl SchemaCommand {
    pub async fn run(&self) -> Outcome {
        let mut out = Vec::new();
        let exit = match &self.verb {
            Verb::Show { source } => {
                for (kind, one) in lists(&source.schema().await?)
                    .into_iter()
                    .flat_map(|(kind, list)| list.into_iter().map(move |one| (kind, one)))
                {
                    writeln!(out, "{kind}: {}", printable(&one))?;
                }
                Exit::Good
            }
            Verb::Class { source, name } => {
                let schema = source.schema().await?;
                one(&mut out, schema.object_class(name), "object class", name, &schema.object_classes)?
            }
            Verb::Attribute { source, name } => {
                let schema = source.schema().await?;
                one(&mut out, schema.attribute_type(name), "attribute type", name, &schema.attribute_types)?
            }
            Verb::Diff { before, after } => diff(&mut out, &read(before)?, &read(after)?)?,
            Verb::Check { source, ldif } => {
                let schema = Arc::new(source.schema().await?);
                let mut exit = Exit::Good;
                for entry in entries(ldif)? {
                    let (dn, attributes) = entry?;
                    let draft = Draft::new(&dn, attributes).with_schema(Arc::clone(&schema));
                    for violation in draft.check() {
                        writeln!(out, "{}: {}", printable(&dn), printable(&violation.to_string()))?;
                        exit = Exit::Rejected;
                    }
                }
                exit
            }
            Verb::Repair { source, ldif, mode, plan } => {
                let schema = Arc::new(source.schema().await?);
                let mode = match mode {
                    Mode::Optimistic => Repair::Optimistic,
                    Mode::Pessimistic => Repair::Pessimistic,
                };
                repair(&mut out, &schema, ldif, mode, *plan)?
            }
        };
        term::stdout(term::Quotes::Ignored).write_all(&out)?;
        Ok(exit)
    }
}

/// The descriptions of a schema, by their attribute.
fn lists(schema: &Schema) -> [(&'static str, Vec<String>); 5] {
    let texts = |list: &[Description]| list.iter().map(ToString::to_string).collect();
    [
        ("ldapSyntaxes", texts(&schema.syntaxes)),
        ("matchingRules", texts(&schema.matching_rules)),
        ("attributeTypes", texts(&schema.attribute_types)),
        ("objectClasses", texts(&schema.object_classes)),
        ("dITContentRules", texts(&schema.content_rules)),
    ]
}

fn one(
    out: &mut Vec<u8>,
    found: Option<&Description>,
    kind: &str,
    name: &str,
    all: &[Description],
) -> Outcome {
    match found {
        Some(found) => {
            writeln!(out, "{}", printable(&found.to_string()))?;
            Ok(Exit::Good)
        }
        None => {
            let known = all.len();
            Err(Failure::usage(format_args!(
                "unknown {kind} `{name}`; the schema has {known}: `tercet ldap schema show`"
            )))
        }
    }
}

fn diff(out: &mut Vec<u8>, before: &Schema, after: &Schema) -> Outcome {
    let mut exit = Exit::Good;
    for ((kind, old), (_, new)) in lists(before).into_iter().zip(lists(after)) {
        // By object identifier, the first word.
        let keyed = |list: Vec<String>| -> BTreeMap<String, String> {
            list.into_iter()
                .map(|text| (text.split(' ').nth(1).unwrap_or_default().to_owned(), text))
                .collect()
        };
        let (old, new) = (keyed(old), keyed(new));
        let oids: std::collections::BTreeSet<&String> = old.keys().chain(new.keys()).collect();
        for oid in oids {
            let (old, new) = (old.get(oid), new.get(oid));
            if old == new {
                continue;
            }
            exit = Exit::Rejected;
            for (sign, text) in [("-", old), ("+", new)] {
                if let Some(text) = text {
                    writeln!(out, "{sign} {kind}: {}", printable(text))?;
                }
            }
        }
    }
    Ok(exit)
}

type Content = (String, Vec<(String, Vec<Vec<u8>>)>);

/// The entries of a file.
fn entries(path: &Path) -> Outcome<impl Iterator<Item = Outcome<Content>>> {
    let named = path.display().to_string();
    let entries = Reader::new(open(path)?).map(move |record| {
        let record = record.map_err(|error| failure(&named, &error))?;
        match record.change {
            Change::Add(attributes) => Ok((record.dn, attributes)),
            _ => Err(Failure::usage(format_args!(
                "{}: a change, where an entry is expected",
                printable(&record.dn)
            ))),
        }
    });
    Ok(entries)
}

fn repair(out: &mut Vec<u8>, schema: &Arc<Schema>, ldif: &Path, mode: Repair, plan: bool) -> Outcome {
    let mut exit = Exit::Good;
    for entry in entries(ldif)? {
        let (dn, attributes) = entry?;
        let mut draft = Draft::new(&dn, attributes).with_schema(Arc::clone(schema));
        let done = draft.repair(mode).map_err(|error| failure(&dn, &error))?;
        for one in &done {
            term::say(format_args!("{}: {}", printable(&dn), printable(&one.to_string())));
            if matches!(one, Repaired::NotRepaired { .. }) {
                exit = Exit::Rejected;
            }
        }
        if !plan {
            let attributes =
                draft.attributes().map(|(name, values)| (name.to_owned(), values.to_vec())).collect();
            let change = Change::Add(attributes);
            Style::default().record(out, &Record { dn, controls: Vec::new(), change, is_change: false });
        }
    }
    _ = io::stderr().flush();
    Ok(exit)
}
