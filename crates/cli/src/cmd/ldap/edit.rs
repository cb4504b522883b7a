//! `tercet ldap add`, `modify`, `delete` and `modrdn`.

use super::atomic::Atomic;
use super::connection::Connection;
use super::stream::Stream;
use super::{codes, failure};
use crate::exit::{Exit, Failure, Outcome};
use crate::term;
use clap::Args;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write as _};
use std::path::PathBuf;
use tercet_ldap::ldif::{Change, Reader, ReaderOptions, Record};
use tercet_ldap::proto::RequestControl as _;
use tercet_ldap::{Client, Scope, controls};
use tercet_printable::printable;

/// Add entries from LDIF
#[derive(Args, Debug)]
pub struct Add {
    #[command(flatten)]
    connection: Connection,

    #[command(flatten)]
    input: Input,
}

/// Change entries by LDIF
#[derive(Args, Debug)]
pub struct Modify {
    #[command(flatten)]
    connection: Connection,

    #[command(flatten)]
    input: Input,

    /// Records without `changetype` add entries
    #[arg(short = 'a')]
    add: bool,
}

/// Delete entries
#[derive(Args, Debug)]
pub struct Delete {
    #[command(flatten)]
    connection: Connection,

    /// Go on after a fault
    #[arg(short = 'c')]
    go_on: bool,

    /// Delete the entries below them too: by the control treeDelete where the server lists it, else one by one, children first
    #[arg(short = 'r')]
    recursive: bool,

    /// Print what would be deleted
    #[arg(short = 'n')]
    dry: bool,

    /// Refuse if more entries would be deleted
    #[arg(long, value_name = "COUNT")]
    limit: Option<u64>,

    /// Accepted for scripts of OpenLDAP's tools, without effect: entries below are searched in pages
    #[arg(short = 'z', id = "accepted_limit", value_name = "COUNT")]
    size_limit: Option<String>,

    /// Names, one a line
    #[arg(short = 'f', value_name = "FILE")]
    file: Option<PathBuf>,

    /// Names; standard input if neither names nor a file are given
    names: Vec<String>,
}

/// Rename entries
#[derive(Args, Debug)]
pub struct Modrdn {
    #[command(flatten)]
    connection: Connection,

    /// Delete the values of the old RDN
    #[arg(short = 'r')]
    remove: bool,

    /// The new place
    #[arg(short = 's', value_name = "DN")]
    superior: Option<String>,

    /// Go on after a fault
    #[arg(short = 'c')]
    go_on: bool,

    /// Show what would be done
    #[arg(short = 'n')]
    dry: bool,

    /// Names and new RDNs in turn, one a line; blank lines are skipped
    #[arg(short = 'f', value_name = "FILE", conflicts_with = "dn")]
    file: Option<PathBuf>,

    /// The name; names and new RDNs are read from standard input if neither a name nor a file is given
    #[arg(requires = "rdn")]
    dn: Option<String>,

    /// The new RDN
    rdn: Option<String>,
}

#[derive(Args, Debug)]
struct Input {
    /// LDIF; standard input if not given
    #[arg(short = 'f', value_name = "FILE")]
    file: Option<PathBuf>,

    /// Go on after a fault of the server
    #[arg(short = 'c')]
    go_on: bool,

    /// Show what would be done
    #[arg(short = 'n')]
    dry: bool,

    /// Allow `attribute:< file:///…`
    #[arg(long)]
    read_files: bool,

    #[command(flatten)]
    stream: Stream,

    #[command(flatten)]
    atomic: Atomic,
}

/// How changes are reported: with `!` if they are not made, with their values if more is to be printed.
#[derive(Clone, Copy, Debug)]
pub struct Marks {
    dry: bool,
    verbose: bool,
}

impl Add {
    pub async fn run(&self) -> Outcome {
        self.input.run(&self.connection, true).await
    }
}

impl Modify {
    pub async fn run(&self) -> Outcome {
        self.input.run(&self.connection, self.add).await
    }
}

fn open(file: Option<&PathBuf>) -> Outcome<Box<dyn BufRead>> {
    Ok(match file {
        None => Box::new(BufReader::new(io::stdin())),
        Some(path) => {
            Box::new(BufReader::new(File::open(path).map_err(|error| Failure::io(path.display(), &error))?))
        }
    })
}

impl Input {
    async fn run(&self, connection: &Connection, add: bool) -> Outcome {
        let marks = Marks { dry: self.dry, verbose: connection.is_verbose() };
        let reached = self.stream.reached()?;
        let client = if self.dry { None } else { Some(connection.open().await?) };
        if self.atomic.is_asked_for() && self.stream.is_used() {
            return Err(Failure::usage(
                "--atomic: all changes are made or none, without --rejects and --resume",
            ));
        }
        let mut run = match &client {
            Some(client) if !self.atomic.is_asked_for() => {
                Some(self.stream.begin(client.clone(), marks, self.go_on, self.file.as_deref())?)
            }
            _ => None,
        };
        let options = ReaderOptions { read_files: self.read_files, ..ReaderOptions::default() };
        let mut reader = Reader::with_options(open(self.file.as_ref())?, options);
        let mut records = Vec::new();
        while let Some(record) = reader.record().map_err(|error| failure("", &error))? {
            let line = reader.line_number();
            if line <= reached {
                continue;
            }
            if !record.is_change && !add {
                let dn = &record.dn;
                return Err(Failure::usage(format_args!(
                    "{dn}: the record has no `changetype`; -a adds such entries"
                )));
            }
            match &mut run {
                Some(run) => run.send(record, line).await?,
                None if self.atomic.is_asked_for() => records.push(record),
                None => say(marks, &record)?,
            }
        }
        if let Some(run) = run {
            return run.finish().await;
        }
        let Some(client) = &client else { return Ok(Exit::Good) };
        // They are reported as made when they are.
        let exit = self.atomic.run(connection, client, records.clone()).await?;
        if exit == Exit::Good {
            records.iter().try_for_each(|record| say(marks, record))?;
        }
        Ok(exit)
    }
}

/// Reports a change in the words of ldapmodify.
pub fn say(marks: Marks, record: &Record) -> Outcome<()> {
    let mut text = String::new();
    if marks.verbose {
        let mut value = |name: &str, word: &str, values: &[Vec<u8>]| {
            text += &format!("{word} {}:\n", printable(name));
            for value in values {
                let is_ascii = value.iter().all(u8::is_ascii);
                text += &match std::str::from_utf8(value).ok().filter(|_| is_ascii) {
                    Some(value) => format!("\t{}\n", printable(value)),
                    None => format!("\tNOT ASCII ({} bytes)\n", value.len()),
                };
            }
        };
        match &record.change {
            Change::Add(attributes) => {
                attributes.iter().for_each(|(name, values)| value(name, "add", values))
            }
            Change::Modify(all) => {
                all.iter().for_each(|one| value(&one.attribute, one.kind.word(), &one.values));
            }
            Change::Delete | Change::ModifyDn { .. } => {}
        }
    }
    let word = match record.change {
        Change::Add(_) => "adding new entry",
        Change::Delete => "deleting entry",
        Change::Modify(_) => "modifying entry",
        Change::ModifyDn { .. } => "modifying rdn of entry",
    };
    let mark = if marks.dry { "!" } else { "" };
    writeln!(io::stdout(), "{text}{mark}{word} \"{}\"\n", printable(&record.dn))?;
    Ok(())
}

impl Delete {
    pub async fn run(&self) -> Outcome {
        let mut names = self.names.clone();
        if names.is_empty() {
            for line in open(self.file.as_ref())?.lines() {
                names.push(line?);
            }
        }
        let needs_client = !self.dry || self.recursive;
        let client = if needs_client { Some(self.connection.open().await?) } else { None };
        if let Some(limit) = self.limit {
            let count = match &client {
                Some(client) if self.recursive => self.count(client, &names, limit).await?,
                _ => names.len() as u64,
            };
            if count > limit {
                let message = format!("more than {} would be deleted", term::count(limit, "entry"));
                let message = message.replace("entrys", "entries");
                return Err(Failure { ldap: Some(Exit::Usage as u8), ..Failure::usage(message) });
            }
        }
        let Some(client) = client else {
            names.iter().try_for_each(|name| self.report(name))?;
            return Ok(Exit::Good);
        };
        if self.dry {
            for name in &names {
                let below = client.subtree_names(name).await.map_err(|error| failure(name, &error))?;
                below.iter().try_for_each(|name| self.report(name))?;
            }
            return Ok(Exit::Good);
        }
        let way = match self.recursive {
            false => Way::Entry,
            true if has_tree_delete(&client).await => Way::TreeDelete,
            true => Way::LeavesFirst,
        };
        let mut exit = Exit::Good;
        for name in &names {
            if self.connection.is_verbose() {
                self.report(name)?;
            }
            exit = exit.max(self.one(&client, way, name).await?);
        }
        Ok(exit)
    }

    /// Reports an entry that is, or with `-n` would be, deleted.
    fn report(&self, name: &str) -> Outcome<()> {
        let mark = if self.dry { "!" } else { "" };
        writeln!(io::stdout(), "{mark}deleting entry \"{}\"", printable(name))?;
        Ok(())
    }

    /// Counts the entries at and below names, as far as the limit needs it.
    async fn count(&self, client: &Client, names: &[String], limit: u64) -> Outcome<u64> {
        let mut count = 0;
        for name in names {
            let search = tercet_ldap::Search::new(name).scope(Scope::Sub).attributes(&["1.1"]).page_size(500);
            let mut entries = client.search(search).await.map_err(|error| failure(name, &error))?;
            while entries.next().await.map_err(|error| failure(name, &error))?.is_some() {
                count += 1;
                if count > limit {
                    return Ok(count);
                }
            }
        }
        Ok(count)
    }

    async fn one(&self, client: &Client, way: Way, name: &str) -> Outcome {
        let deleted = match way {
            Way::Entry => client.delete(name).await.map(drop),
            Way::TreeDelete => client.with(&[&controls::TreeDelete]).delete(name).await.map(drop),
            Way::LeavesFirst => client.delete_subtree(name).await.map(drop),
        };
        match deleted {
            Ok(()) => Ok(Exit::Good),
            Err(error) => {
                let failed = failure(name, &error);
                if !self.go_on || error.result().is_none() {
                    return Err(failed);
                }
                term::error(&failed.message);
                codes::remember(failed.ldap);
                Ok(failed.exit)
            }
        }
    }
}

/// How an entry is deleted.
#[derive(Clone, Copy)]
enum Way {
    /// By itself: the server refuses entries with others below them.
    Entry,
    /// With all below it, by the control treeDelete.
    TreeDelete,
    /// With all below it, one by one.
    LeavesFirst,
}

/// Checks whether the root DSE lists the control treeDelete. A root DSE that cannot be read lists nothing.
async fn has_tree_delete(client: &Client) -> bool {
    let search = tercet_ldap::Search::new("").scope(Scope::Base).attributes(&["supportedControl"]);
    let oid = controls::TreeDelete.control().oid;
    client.search_all(search).await.is_ok_and(|(entries, _)| {
        entries.iter().any(|root| root.values("supportedControl").any(|value| value == oid.as_bytes()))
    })
}

impl Modrdn {
    pub async fn run(&self) -> Outcome {
        let renames = self.renames()?;
        let marks = Marks { dry: self.dry, verbose: self.connection.is_verbose() };
        let client = if self.dry { None } else { Some(self.connection.open().await?) };
        let mut exit = Exit::Good;
        for (dn, rdn) in renames {
            let Some(client) = &client else {
                say(marks, &self.record(dn, rdn))?;
                continue;
            };
            let renamed = client.modify_dn(&dn, &rdn, self.remove, self.superior.as_deref()).await;
            if let Err(error) = renamed {
                let failed = failure(&dn, &error);
                if !self.go_on || error.result().is_none() {
                    return Err(failed);
                }
                term::error(&failed.message);
                codes::remember(failed.ldap);
                exit = exit.max(failed.exit);
            }
        }
        Ok(exit)
    }

    /// Returns the names with their new RDNs.
    fn renames(&self) -> Outcome<Vec<(String, String)>> {
        if let (Some(dn), Some(rdn)) = (&self.dn, &self.rdn) {
            return Ok(vec![(dn.clone(), rdn.clone())]);
        }
        let mut renames = Vec::new();
        let mut name = None;
        for line in open(self.file.as_ref())?.lines() {
            let line = line?;
            if line.is_empty() {
                continue;
            }
            match name.take() {
                None => name = Some(line),
                Some(dn) => renames.push((dn, line)),
            }
        }
        match name {
            None => Ok(renames),
            Some(dn) => Err(Failure::usage(format_args!("{}: no line with the new RDN", printable(&dn)))),
        }
    }

    fn record(&self, dn: String, new_rdn: String) -> Record {
        let new_superior = self.superior.clone();
        let change = Change::ModifyDn { new_rdn, delete_old_rdn: self.remove, new_superior };
        Record { dn, controls: Vec::new(), change, is_change: true }
    }
}
