//! `tercet ldap diff`.

use super::connection::Connection;
use super::{failure, open};
use crate::exit::{Exit, Failure, Outcome};
use clap::Args;
use std::collections::HashSet;
use std::io::Write as _;
use std::num::NonZeroU32;
use std::path::Path;
use std::time::Duration;
use tercet_ldap::ldif::{Change, Differences, Reader, Record, Style};
use tercet_ldap::{Dn, ErrorKind, Scope, Url};

/// Print the changes that lead from some entries to others: exit code 0 if there are none, 2 if there are
#[derive(Args, Debug)]
#[command(after_help = "\
Each side is a file, `-`, or an LDAP URL; -D, -w and the other options of a connection are for servers. New entries come
first, parents before children; then changes; then deletions, children before parents.

Examples:
  tercet ldap diff before.ldif after.ldif
  tercet ldap diff 'ldap://a/o=test??sub' 'ldap://b/o=test??sub' -D cn=admin,o=test -W --ignore memberOf")]
pub struct Diff {
    #[command(flatten)]
    connection: Connection,

    /// The entries as they are: a file, `-`, or `ldap://HOST/BASE??SCOPE?FILTER`
    #[arg(value_name = "A")]
    before: Option<String>,

    /// The entries as they are to be
    #[arg(value_name = "B")]
    after: Option<String>,

    /// Find entries that one side lacks, and do not compare the others
    #[arg(long)]
    only_missing: bool,

    /// Attributes that are not compared
    #[arg(long, value_name = "ATTRIBUTE", num_args = 1.., value_delimiter = ',')]
    ignore: Vec<String>,

    /// Compare values by their bytes instead of by matching rules
    #[arg(long)]
    octets: bool,

    /// Compare so many times, and print the differences that last
    #[arg(long, value_name = "COUNT", default_value = "1")]
    passes: NonZeroU32,

    /// Seconds between two comparisons
    #[arg(long, value_name = "SECONDS", default_value_t = 2)]
    wait: u64,

    /// Print nothing: the exit code is the answer
    #[arg(long, conflicts_with = "count")]
    quiet: bool,

    /// Print the numbers of entries to add, modify and delete instead of the changes
    #[arg(long)]
    count: bool,
}

/// A side of the comparison.
enum Side<'t> {
    File(&'t Path),
    Server(Box<Url>),
}

impl<'t> Side<'t> {
    fn of(text: &'t str) -> Outcome<Self> {
        let is_url = ["ldap://", "ldaps://", "ldapi://"]
            .iter()
            .any(|scheme| text.get(..scheme.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(scheme)));
        if !is_url {
            return Ok(Self::File(Path::new(text)));
        }
        let mut url: Url = text.parse().map_err(|error| failure(text, &error))?;
        // All below the base are meant unless the URL names a scope.
        url.scope.get_or_insert(Scope::Sub);
        Ok(Self::Server(Box::new(url)))
    }

    /// Reads the entries.
    async fn entries(&self, connection: &Connection) -> Outcome<Vec<Record>> {
        match self {
            Self::File(path) => {
                let records: tercet_ldap::Result<Vec<Record>> = Reader::new(open(path)?).collect();
                records.map_err(|error| failure(&path.display().to_string(), &error))
            }
            Self::Server(url) => {
                let client = connection.open_at(url).await?;
                let search = tercet_ldap::Search::of_url(url).map_err(|error| failure("", &error))?;
                let fault = |error: &tercet_ldap::Error| failure(&url.server().to_string(), error);
                let mut found = client.search(search).await.map_err(|error| fault(&error))?;
                let mut records = Vec::new();
                while let Some(entry) = found.next().await.map_err(|error| fault(&error))? {
                    records.push(super::rows::record(&entry));
                }
                Ok(records)
            }
        }
    }
}

impl Diff {
    pub async fn run(&self) -> Outcome {
        let mut ignored = self.ignore.clone();
        // Sides may stand after the attributes.
        let mut sides: Vec<String> = [&self.before, &self.after].into_iter().flatten().cloned().collect();
        let missing = ignored.len().saturating_sub(2 - sides.len());
        sides.extend(ignored.drain(missing..));
        let [before, after] = &*sides else { return Err(Failure::usage("two sides expected: A and B")) };
        let is_stdin = [before == "-", after == "-"];
        let (before, after) = (Side::of(before)?, Side::of(after)?);
        if is_stdin == [true, true] {
            return Err(Failure::usage("only one of the sides can be standard input"));
        }
        let mut changes = self.pass(&before, &after, &ignored).await?;
        for _ in 1..self.passes.get() {
            let is_done = changes.is_empty() || matches!((&before, &after), (Side::File(_), Side::File(_)));
            if is_done {
                break;
            }
            if is_stdin != [false, false] {
                return Err(Failure::usage("--passes: standard input can be read once"));
            }
            tokio::time::sleep(Duration::from_secs(self.wait)).await;
            let known: HashSet<String> = changes.iter().filter_map(name).collect();
            changes = self.pass(&before, &after, &ignored).await?;
            changes.retain(|change| name(change).is_some_and(|name| known.contains(&name)));
        }
        let mut out = Vec::new();
        if self.count {
            let count =
                |is_kind: fn(&Change) -> bool| changes.iter().filter(|one| is_kind(&one.change)).count();
            let add = count(|change| matches!(change, Change::Add(_)));
            let modify = count(|change| matches!(change, Change::Modify(_)));
            let delete = count(|change| matches!(change, Change::Delete));
            writeln!(out, "add: {add}\nmodify: {modify}\ndelete: {delete}")?;
        } else if !self.quiet {
            let style = Style { wrap: self.connection.wrap()? };
            changes.iter().for_each(|change| style.record(&mut out, change));
        }
        crate::term::stdout(crate::term::Quotes::Ignored).write_all(&out)?;
        Ok(if changes.is_empty() { Exit::Good } else { Exit::Rejected })
    }

    async fn pass(&self, before: &Side<'_>, after: &Side<'_>, ignored: &[String]) -> Outcome<Vec<Record>> {
        let mut options = Differences::default();
        options.ignored = ignored.to_vec();
        options.octets = self.octets;
        options.only_missing = self.only_missing;
        let before = before.entries(&self.connection).await?;
        let after = after.entries(&self.connection).await?;
        let changes = options.between(before.into_iter().map(Ok), after.into_iter().map(Ok));
        changes.map_err(|error| match error.kind() {
            ErrorKind::Usage | ErrorKind::Syntax => failure("", &error),
            _ => Failure::input(error.to_string()),
        })
    }
}

/// The name of a change, by which it is found again.
fn name(change: &Record) -> Option<String> {
    change.dn.parse::<Dn>().ok().map(|dn| dn.normalized())
}
