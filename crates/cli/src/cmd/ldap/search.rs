//! `tercet ldap search`.

use super::connection::{Connection, control};
use super::failure;
use super::ldif::{Ldif, ValueFiles};
use super::printer::{Form, Printer};
use super::{codes, open};
use crate::exit::{Exit, Failure, Outcome};
use clap::{Args, ValueEnum};
use std::io::BufRead as _;
use std::path::{Path, PathBuf};
use tercet_ldap::controls::{Dereference, MatchedValues, Sort, Subentries, Sync, VirtualListView, VlvTarget};
use tercet_ldap::ldif::Style;
use tercet_ldap::proto::RequestControl as _;
use tercet_ldap::{Client, Deref, Scope};

/// Search a directory and print entries as LDIF, JSON or CSV
#[derive(Args, Debug)]
#[command(after_help = "\
The options and the LDIF are those of ldapsearch (OpenLDAP 2.5).

Examples:
  tercet ldap search -H ldap://localhost -b o=test -LLL '(uid=u1)' mail
  tercet ldap search -H ldaps://ldap.example.net -D cn=me,o=test -W -b o=test -E pr=500/noprompt --json")]
pub struct Search {
    #[command(flatten)]
    connection: Connection,

    /// Where the search begins
    #[arg(short = 'b', value_name = "BASE")]
    base: Option<String>,

    /// base, one, sub or children
    #[arg(short = 's', value_name = "SCOPE", default_value = "sub", value_parser = |text: &str| text.parse::<Scope>())]
    scope: Scope,

    /// When to follow aliases: never, always, search or find
    #[arg(short = 'a', value_enum, value_name = "DEREF", default_value = "never")]
    deref: DerefName,

    /// Attribute types without values
    #[arg(short = 'A')]
    types_only: bool,

    /// Print less than all: `-L` no results, `-LL` no comments, `-LLL` no version
    #[arg(short = 'L', action = clap::ArgAction::Count)]
    level: u8,

    /// Entries at most
    #[arg(short = 'z', value_name = "COUNT", default_value = "0", value_parser = limit)]
    size_limit: u32,

    /// Seconds at most
    #[arg(short = 'l', value_name = "SECONDS", default_value = "0", value_parser = limit)]
    time_limit: u32,

    /// Referral objects are entries
    #[arg(short = 'M', action = clap::ArgAction::Count)]
    manage_dsa_it: u8,

    /// Search controls, such as `pr=500` for pages
    ///
    /// pr=SIZE, sss=[-]ATTR[:RULE][/…], vlv=BEFORE/AFTER(/OFFSET/COUNT|:VALUE), mv=FILTER,
    /// sync=ro|rp[/COOKIE], deref=ATTR:WANTED[,…][;…], subentries[=true|false], domainScope, dontUseCopy, or an object
    /// identifier with its value as `:TEXT`, `::BASE64` or `:<file:///PATH`
    #[arg(short = 'E', value_name = "[!]EXTENSION")]
    search_extensions: Vec<String>,

    /// Print the header, and do not search
    #[arg(short = 'n')]
    dry: bool,

    /// Go on after an error, with `-f`
    #[arg(short = 'c')]
    go_on: bool,

    /// Search once for each line of a file; the line takes the place of `%s` in the filter
    #[arg(short = 'f', value_name = "FILE")]
    filters: Option<PathBuf>,

    /// Print entries when all have come, sorted by the values of an attribute, or by name with an empty one
    #[arg(short = 'S', value_name = "ATTRIBUTE")]
    sort_by: Option<String>,

    /// Write values that are not printable to files, and print their URLs; all values with `-tt`
    #[arg(short = 't', action = clap::ArgAction::Count)]
    value_files: u8,

    /// The folder for those files; `TMPDIR` or /tmp if not given
    #[arg(short = 'T', value_name = "DIR")]
    temporary: Option<PathBuf>,

    /// What URLs of those files begin with; `file://` and the folder if not given
    #[arg(short = 'F', value_name = "PREFIX")]
    url_prefix: Option<String>,

    /// Print the names of entries as people read them too
    #[arg(short = 'u')]
    friendly: bool,

    /// Print ranges of values as the server returns them (`member;range=0-1499`) instead of fetching all values
    #[arg(long)]
    no_ranges: bool,

    /// One JSON object a line
    #[arg(long, conflicts_with_all = ["csv", "jsonl_values"])]
    json: bool,

    /// One JSON object for each value: `dn`, `attribute` and `value`, which is an object `{"base64": …}` if it is not text
    #[arg(long, conflicts_with = "csv")]
    jsonl_values: bool,

    /// A table with the attributes that are asked for
    #[arg(long, requires = "attributes")]
    csv: bool,

    /// With `--csv`: put an apostrophe in front of texts that a spreadsheet would take for a formula
    #[arg(long, requires = "csv")]
    guard_formulas: bool,

    /// The filter; `(objectClass=*)` if not given
    filter: Option<String>,

    /// The attributes; all of users if not given
    attributes: Vec<String>,
}

#[derive(ValueEnum, Clone, Copy, Debug)]
enum DerefName {
    Never,
    Always,
    Search,
    Find,
}

fn limit(text: &str) -> Result<u32, String> {
    match text {
        "none" => Ok(0),
        "max" => Ok(i32::MAX as u32),
        _ => text.parse().map_err(|_| "a number, `none` or `max` expected".to_owned()),
    }
}

impl Search {
    pub async fn run(&self) -> Outcome {
        // As in ldapsearch, a word without `=` is an attribute; in parentheses it can only be a filter.
        let (filter, attributes) = match &self.filter {
            Some(word) if !word.contains('=') && !word.trim_start().starts_with('(') => {
                (None, [std::slice::from_ref(word), &self.attributes].concat())
            }
            filter => (filter.as_deref(), self.attributes.clone()),
        };
        let mut said = vec!["LDAPv3".to_owned()];
        let default = if self.base.is_none() { " (default)" } else { "" };
        let base = self.base.clone().or_else(|| super::conf::setting("BASE")).unwrap_or_default();
        let scope = match self.scope {
            Scope::Base => "baseObject",
            Scope::One => "oneLevel",
            Scope::Sub => "subtree",
            Scope::Children => "children",
        };
        said.push(format!("base <{base}>{default} with scope {scope}"));
        let filter = filter.unwrap_or("(objectclass=*)");
        let word = if self.filters.is_some() { "filter pattern" } else { "filter" };
        said.push(format!("{word}: {filter}"));
        let all = if attributes.is_empty() {
            "ALL".to_owned()
        } else {
            attributes.iter().map(|name| format!("{name} ")).collect()
        };
        said.push(format!("requesting: {all}"));
        let mut search = tercet_ldap::Search::new(base)
            .scope(self.scope)
            .attributes(&attributes)
            .types_only(self.types_only)
            .ranges(!self.no_ranges)
            .size_limit(self.size_limit)
            .time_limit(self.time_limit)
            .deref(match self.deref {
                DerefName::Never => Deref::Never,
                DerefName::Always => Deref::Always,
                DerefName::Search => Deref::Search,
                DerefName::Find => Deref::Find,
            });
        if self.manage_dsa_it > 0 {
            let critical = self.manage_dsa_it > 1;
            search = search.control(&tercet_ldap::controls::ManageDsaIt.control().with_criticality(critical));
            said.push(format!("with manageDSAit {}control", if critical { "critical " } else { "" }));
        }
        let mut persists = false;
        for extension in &self.search_extensions {
            search = self.extension(search, extension, &mut said, &mut persists)?;
        }
        let wrap = self.connection.wrap()?;
        let form = if self.json {
            Form::Json
        } else if self.jsonl_values {
            Form::JsonValues
        } else if self.csv {
            // The first column is the name of the entry.
            Form::Csv(attributes.into_iter().filter(|name| !name.eq_ignore_ascii_case("dn")).collect())
        } else {
            Form::Ldif
        };
        let style = Style { wrap };
        let ldif = Ldif { level: self.level, style, friendly: self.friendly, files: self.files() };
        let mut printer = Printer::new(ldif, form, self.guard_formulas, self.sort_by.clone());
        printer.persists = persists;
        if self.filters.is_none() {
            // A filter that is wrong is found before there is a connection.
            search = search.filter(filter).map_err(|error| failure("", &error))?;
        }
        if self.dry {
            printer.begin(&said);
            printer.write()?;
            return Ok(Exit::Good);
        }
        if let Some(servers) = self.connection.datagrams()? {
            if self.filters.is_some() {
                return Err(Failure::usage("-f: not with datagrams"));
            }
            for control in self.connection.controls()? {
                search = search.control(&control);
            }
            let answer = servers.search(&search).await.map_err(|error| failure("", &error))?;
            printer.begin(&said);
            return printer.answer(&answer);
        }
        let client = self.connection.open().await?;
        let Some(path) = &self.filters else {
            let entries = client.search(search).await.map_err(|error| failure("", &error))?;
            printer.begin(&said);
            return printer.run(entries).await;
        };
        printer.begin(&said);
        self.each_line(path, filter, &client, &search, &mut printer).await
    }

    /// Searches for each line of a file.
    async fn each_line(
        &self,
        path: &Path,
        pattern: &str,
        client: &Client,
        search: &tercet_ldap::Search,
        printer: &mut Printer,
    ) -> Outcome {
        let mut exit = Exit::Good;
        for (number, line) in open(path)?.lines().enumerate() {
            let line = line.map_err(|error| Failure::io(path.display(), &error))?;
            let filter = pattern.replace("%s", &line);
            printer.next_filter(&filter, number == 0)?;
            let done = match search.clone().filter(&filter) {
                Ok(search) => match client.search(search).await {
                    Ok(entries) => printer.run(entries).await,
                    Err(error) => Err(failure("", &error)),
                },
                Err(error) => Err(failure("", &error)),
            };
            match done {
                Ok(_) => {}
                Err(failed) if self.go_on => {
                    if !failed.message.is_empty() {
                        crate::term::error(&failed.message);
                    }
                    codes::remember(failed.ldap);
                    exit = exit.max(failed.exit);
                }
                Err(failed) => return Err(failed),
            }
        }
        Ok(exit)
    }

    /// Where values go that are not printed.
    fn files(&self) -> Option<ValueFiles> {
        if self.value_files == 0 {
            return None;
        }
        let folder = self.temporary.clone().unwrap_or_else(std::env::temp_dir);
        let absolute = std::path::absolute(&folder).unwrap_or_else(|_| folder.clone());
        let prefix = self.url_prefix.clone();
        let prefix = prefix
            .unwrap_or_else(|| format!("file://{}/", absolute.display().to_string().trim_end_matches('/')));
        Some(ValueFiles { all: self.value_files > 1, folder, prefix, error: None })
    }

    fn extension(
        &self,
        search: tercet_ldap::Search,
        text: &str,
        said: &mut Vec<String>,
        persists: &mut bool,
    ) -> Outcome<tercet_ldap::Search> {
        let (critical, rest) = text.strip_prefix('!').map_or((false, text), |rest| (true, rest));
        let word = if critical { "critical " } else { "" };
        let (name, value) = rest.split_once('=').map_or((rest, ""), |(name, value)| (name, value));
        let fault = || Failure::usage(format_args!("-E {text}: not understood"));
        let control = match name.to_ascii_lowercase().as_str() {
            "pr" => {
                let size = value.split('/').next().and_then(|size| size.parse().ok()).ok_or_else(fault)?;
                said.push(format!("with pagedResults {word}control: size={size}"));
                return Ok(search.page_size(size));
            }
            "sss" => {
                let keys = value.split('/').map(str::parse).collect::<Result<_, _>>();
                said.push(format!("with server side sorting {word}control"));
                Sort { keys: keys.map_err(|error| failure("-E sss", &error))?, critical }.control()
            }
            "vlv" => {
                said.push(format!("with virtual list view {word}control: {value}"));
                list_view(value).ok_or_else(fault)?.control().with_criticality(critical)
            }
            "mv" => {
                let filter = value.parse().map_err(|error| failure("-E mv", &error))?;
                said.push(format!("with valuesReturnFilter {word}control: {value}"));
                MatchedValues(vec![filter]).control().with_criticality(critical)
            }
            "sync" => {
                let (mode, cookie) =
                    value.split_once('/').map_or((value, None), |(mode, cookie)| (mode, Some(cookie)));
                *persists = match mode {
                    "ro" => false,
                    "rp" => true,
                    _ => return Err(fault()),
                };
                let cookie = cookie.map(|cookie| cookie.as_bytes().to_vec());
                Sync { persist: *persists, cookie, reload_hint: false }.control().with_criticality(critical)
            }
            "subentries" => {
                said.push(format!(
                    "with subentries {word}control: {}",
                    if value == "false" { "false" } else { "true" }
                ));
                Subentries(value != "false").control().with_criticality(critical)
            }
            "deref" => {
                said.push(format!("with dereference {word}control"));
                dereference(value).ok_or_else(fault)?.control().with_criticality(critical)
            }
            "domainscope" => tercet_ldap::controls::DomainScope.control().with_criticality(critical),
            "dontusecopy" => tercet_ldap::controls::DontUseCopy.control().with_criticality(critical),
            _ => control(text)?,
        };
        Ok(search.control(&control))
    }
}

/// `attribute:wanted,…;…`
fn dereference(text: &str) -> Option<Dereference> {
    let mut all = Dereference::default();
    for part in text.split(';') {
        let (attribute, wanted) = part.split_once(':')?;
        let wanted: Vec<&str> = wanted.split(',').collect();
        if attribute.is_empty() || wanted.contains(&"") {
            return None;
        }
        all = all.with(attribute, &wanted);
    }
    Some(all)
}

/// `before/after/offset/count` or `before/after:value`.
fn list_view(text: &str) -> Option<VirtualListView> {
    let (counts, value) = text.split_once(':').map_or((text, None), |(counts, value)| (counts, Some(value)));
    let counts: Vec<u32> = counts.split('/').map(str::parse).collect::<Result<_, _>>().ok()?;
    let (before, after, target) = match (counts.as_slice(), value) {
        (&[before, after], Some(value)) => (before, after, VlvTarget::Value(value.as_bytes().to_vec())),
        (&[before, after, offset, count], None) => (before, after, VlvTarget::Offset { offset, count }),
        (&[before, after], None) => (before, after, VlvTarget::Offset { offset: 1, count: 0 }),
        _ => return None,
    };
    Some(VirtualListView { before, after, target, context: None })
}
