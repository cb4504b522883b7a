//! `tercet ldap search`.

use super::connection::{Connection, control};
use super::failure;
use super::ldif::{Counts, Ldif};
use super::rows;
use crate::exit::{Exit, Failure, Outcome};
use crate::term::Quotes;
use clap::{Args, ValueEnum};
use std::io::{self, Write as _};
use tercet_ldap::controls::{Dereference, MatchedValues, Sort, Subentries, Sync, VirtualListView, VlvTarget};
use tercet_ldap::ldif::Style;
use tercet_ldap::proto::{Reference, RequestControl as _, ResultCode};
use tercet_ldap::{Answer, Deref, Item, LdapResult, Scope};

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

/// Octets after which output is written.
const BUFFER: usize = 128 << 10;

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
        said.push(format!("filter: {filter}"));
        let all = if attributes.is_empty() {
            "ALL".to_owned()
        } else {
            attributes.iter().map(|name| format!("{name} ")).collect()
        };
        said.push(format!("requesting: {all}"));
        let search = tercet_ldap::Search::new(base).filter(filter).map_err(|error| failure("", &error))?;
        let mut search = search
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
            Form::Csv(attributes)
        } else {
            Form::Ldif
        };
        let printer = Printer {
            ldif: Ldif { level: self.level, style: Style { wrap } },
            stdout: crate::term::stdout(form.quotes()),
            form,
            guard_formulas: self.guard_formulas,
            out: Vec::with_capacity(2 * BUFFER),
            counts: Counts::default(),
            persists,
        };
        if let Some(servers) = self.connection.datagrams()? {
            for control in self.connection.controls()? {
                search = search.control(&control);
            }
            let answer = servers.search(&search).await.map_err(|error| failure("", &error))?;
            return printer.answer(&answer, &said);
        }
        let client = self.connection.open().await?;
        let entries = client.search(search).await.map_err(|error| failure("", &error))?;
        printer.run(entries, &said).await
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

enum Form {
    Ldif,
    Json,
    JsonValues,
    Csv(Vec<String>),
}

impl Form {
    fn quotes(&self) -> Quotes {
        if matches!(self, Self::Csv(_)) { Quotes::HoldText } else { Quotes::Ignored }
    }
}

struct Printer {
    ldif: Ldif,
    form: Form,
    stdout: Box<dyn io::Write>,
    guard_formulas: bool,
    out: Vec<u8>,
    counts: Counts,
    persists: bool,
}

impl Printer {
    async fn run(mut self, mut entries: tercet_ldap::Entries, said: &[String]) -> Outcome {
        self.begin(said);
        let ended = loop {
            while let Some(entry) = entries.ready() {
                match entry {
                    Ok(entry) => self.entry(&entry),
                    Err(error) => return self.broken(&error),
                }
                if self.out.len() >= BUFFER {
                    self.write()?;
                }
            }
            if self.persists {
                self.write()?;
            }
            match entries.next_item().await {
                Ok(Some(Item::Entry(entry))) => self.entry(&entry),
                Ok(Some(Item::Reference(reference))) => self.reference(&reference),
                Ok(Some(Item::Intermediate(response))) => {
                    self.counts.responses += 1;
                    self.counts.intermediate += 1;
                    if matches!(self.form, Form::Ldif) {
                        self.ldif.intermediate(&mut self.out, &response);
                    }
                }
                Ok(Some(_)) => self.counts.responses += 1,
                Ok(None) => break entries.result().cloned().unwrap_or_default(),
                Err(error) => match error.result() {
                    Some(result) => break result.clone(),
                    None => return self.broken(&error),
                },
            }
        };
        self.end(entries.id(), &ended)
    }

    /// The answer of a datagram.
    fn answer(mut self, answer: &Answer, said: &[String]) -> Outcome {
        self.begin(said);
        answer.entries.iter().for_each(|entry| self.entry(entry));
        answer.references.iter().for_each(|reference| self.reference(reference));
        self.end(answer.id, &answer.result)
    }

    fn begin(&mut self, said: &[String]) {
        match &self.form {
            Form::Ldif => self.ldif.begin(&mut self.out, said),
            Form::Csv(attributes) => rows::csv_head(&mut self.out, attributes),
            Form::Json | Form::JsonValues => {}
        }
    }

    fn reference(&mut self, reference: &Reference) {
        self.counts.responses += 1;
        self.counts.references += 1;
        if matches!(self.form, Form::Ldif) {
            self.ldif.reference(&mut self.out, reference);
        }
    }

    fn end(mut self, id: u32, result: &LdapResult) -> Outcome {
        self.counts.responses += 1;
        if matches!(self.form, Form::Ldif) {
            self.ldif.end(&mut self.out, id, result, self.counts);
        }
        self.write()?;
        self.finish(result)
    }

    #[inline]
    fn entry(&mut self, entry: &tercet_ldap::Entry) {
        self.counts.responses += 1;
        self.counts.entries += 1;
        match &self.form {
            Form::Ldif => self.ldif.entry(&mut self.out, entry),
            Form::Json => rows::json(&mut self.out, entry),
            Form::JsonValues => rows::json_values(&mut self.out, entry),
            Form::Csv(attributes) => rows::csv(&mut self.out, entry, attributes, self.guard_formulas),
        }
    }

    /// Writes what is there with one call.
    fn write(&mut self) -> Outcome<()> {
        if !self.out.is_empty() {
            self.stdout.write_all(&self.out)?;
            self.stdout.flush()?;
            self.out.clear();
        }
        Ok(())
    }

    /// The connection broke: what came stands.
    fn broken(mut self, error: &tercet_ldap::Error) -> Outcome {
        self.write()?;
        let entries = self.counts.entries;
        let mut failure = failure("", error);
        if entries > 0 {
            failure.message += &format!("; the {entries} entries above are not all");
        }
        Err(failure)
    }

    fn finish(&self, result: &LdapResult) -> Outcome {
        if result.code == ResultCode::SUCCESS {
            return Ok(Exit::Good);
        }
        let failed = failure("", &tercet_ldap::Error::from_result(result.clone()));
        // The default form has said it already.
        let is_said = matches!(self.form, Form::Ldif) && self.ldif.level == 0;
        Err(Failure { message: if is_said { String::new() } else { failed.message }, ..failed })
    }
}
