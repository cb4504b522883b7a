//! `tercet ldap add`, `modify`, `delete` and `modrdn`.

use super::connection::Connection;
use super::failure;
use crate::exit::{Exit, Failure, Outcome};
use crate::term;
use clap::Args;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write as _};
use std::path::PathBuf;
use tercet_ldap::ldif::{Change, Reader, ReaderOptions, Record};
use tercet_ldap::{Client, controls};

/// Add entries from LDIF
#[derive(Args, Debug)]
pub struct Add {
    #[command(flatten)]
    connection: Connection,

    #[command(flatten)]
    input: Input,
}

/// Change entries as LDIF says
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

    /// With all below them
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
        for record in Reader::with_options(open(self.file.as_ref())?, options) {
            let record = record.map_err(|error| failure("", &error))?;
            if !record.is_change && !add {
                let dn = &record.dn;
                return Err(Failure::usage(format_args!(
                    "{dn}: the record has no `changetype`; -a adds such entries"
                )));
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
    writeln!(io::stdout(), "{word} \"{}\"\n", record.dn)?;
    Ok(())
}

impl Delete {
    pub async fn run(&self) -> Outcome {
        let client = self.connection.open().await?;
        let client = if self.recursive { client.with(&[&controls::TreeDelete]) } else { client };
        let mut exit = Exit::Good;
        for name in &self.names {
            exit = exit.max(self.one(&client, name).await?);
        }
        if self.names.is_empty() {
            for line in open(self.file.as_ref())?.lines() {
                exit = exit.max(self.one(&client, &line?).await?);
            }
        }
        Ok(exit)
    }

    async fn one(&self, client: &Client, name: &str) -> Outcome {
        match client.delete(name).await {
            Ok(_) => Ok(Exit::Good),
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

impl Modrdn {
    pub async fn run(&self) -> Outcome {
        let client = self.connection.open().await?;
        let renamed = client.modify_dn(&self.dn, &self.rdn, self.remove, self.superior.as_deref()).await;
        renamed.map_err(|error| failure(&self.dn, &error))?;
        Ok(Exit::Good)
    }
}
