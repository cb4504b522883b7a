//! `tercet ldap add`, `modify`, `delete` and `modrdn`.

use super::atomic::Atomic;
use super::connection::Connection;
use super::failure;
use crate::exit::{Exit, Failure, Outcome};
use crate::term;
use clap::Args;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write as _};
use std::path::PathBuf;
use tercet_ldap::ldif::{Change, Reader, ReaderOptions, Record};
use tercet_ldap::proto::RequestControl as _;
use tercet_ldap::{Client, Scope, controls};

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

    /// The name
    dn: String,

    /// The new RDN
    rdn: String,
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
    atomic: Atomic,
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
        let client = if self.dry { None } else { Some(connection.open().await?) };
        let options = ReaderOptions { read_files: self.read_files, ..ReaderOptions::default() };
        let mut exit = Exit::Good;
        let mut records = Vec::new();
        for record in Reader::with_options(open(self.file.as_ref())?, options) {
            let record = record.map_err(|error| failure("", &error))?;
            if !record.is_change && !add {
                let dn = &record.dn;
                return Err(Failure::usage(format_args!(
                    "{dn}: the record has no `changetype`; -a adds such entries"
                )));
            }
            if self.atomic.is_asked_for() {
                records.push(record);
                continue;
            }
            say(&record)?;
            if let Some(client) = &client
                && let Err(error) = client.apply(&record).await
            {
                let failed = failure(&record.dn, &error);
                if !self.go_on || error.result().is_none() {
                    return Err(failed);
                }
                term::error(&failed.message);
                exit = failed.exit;
            }
        }
        if let (true, Some(client)) = (self.atomic.is_asked_for(), &client) {
            // They are reported as made when they are.
            exit = self.atomic.run(connection, client, records.clone()).await?;
            if exit == Exit::Good {
                records.iter().try_for_each(say)?;
            }
        }
        Ok(exit)
    }
}

/// Says what is done, in the words of ldapmodify.
fn say(record: &Record) -> Outcome<()> {
    let word = match record.change {
        Change::Add(_) => "adding new entry",
        Change::Delete => "deleting entry",
        Change::Modify(_) => "modifying entry",
        Change::ModifyDn { .. } => "modifying rdn of entry",
    };
    writeln!(io::stdout(), "{word} \"{}\"\n", tercet_printable::printable(&record.dn))?;
    Ok(())
}

impl Delete {
    pub async fn run(&self) -> Outcome {
        let client = self.connection.open().await?;
        let way = match self.recursive {
            false => Way::Entry,
            true if has_tree_delete(&client).await => Way::TreeDelete,
            true => Way::LeavesFirst,
        };
        let mut exit = Exit::Good;
        for name in &self.names {
            exit = exit.max(self.one(&client, way, name).await?);
        }
        if self.names.is_empty() {
            for line in open(self.file.as_ref())?.lines() {
                exit = exit.max(self.one(&client, way, &line?).await?);
            }
        }
        Ok(exit)
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
        let client = self.connection.open().await?;
        let renamed = client.modify_dn(&self.dn, &self.rdn, self.remove, self.superior.as_deref()).await;
        renamed.map_err(|error| failure(&self.dn, &error))?;
        Ok(Exit::Good)
    }
}
