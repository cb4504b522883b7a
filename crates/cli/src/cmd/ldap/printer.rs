//! What a search brings, as LDIF, JSON or CSV.

use super::failure;
use super::ldif::{Counts, Ldif};
use super::rows;
use crate::exit::{Exit, Failure, Outcome};
use crate::term::Quotes;
use std::io;
use std::io::Write as _;
use tercet_ldap::proto::{Reference, ResultCode};
use tercet_ldap::{Answer, Dn, Entry, Item, LdapResult};

/// Octets after which output is written.
const BUFFER: usize = 128 << 10;

/// How entries are printed.
pub enum Form {
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

/// Prints what a search brings.
pub struct Printer {
    ldif: Ldif,
    form: Form,
    stdout: Box<dyn io::Write>,
    guard_formulas: bool,
    out: Vec<u8>,
    counts: Counts,
    /// Whether the search goes on, and its entries are printed as they come.
    pub persists: bool,
    /// The attribute by which entries are sorted here; their names if it is empty.
    sort_by: Option<String>,
    sorted: Vec<Entry>,
}

impl Printer {
    /// Creates a printer to standard output.
    pub fn new(ldif: Ldif, form: Form, guard_formulas: bool, sort_by: Option<String>) -> Self {
        Self {
            ldif,
            stdout: crate::term::stdout(form.quotes()),
            form,
            guard_formulas,
            out: Vec::with_capacity(2 * BUFFER),
            counts: Counts::default(),
            persists: false,
            sort_by,
            sorted: Vec::new(),
        }
    }

    /// Prints a search.
    pub async fn run(&mut self, mut entries: tercet_ldap::Entries) -> Outcome {
        self.counts = Counts::default();
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

    /// Prints the answer of a datagram.
    pub fn answer(&mut self, answer: &Answer) -> Outcome {
        answer.entries.iter().for_each(|entry| self.entry(entry));
        answer.references.iter().for_each(|reference| self.reference(reference));
        self.end(answer.id, &answer.result)
    }

    /// Prints what comes before the entries.
    pub fn begin(&mut self, said: &[String]) {
        match &self.form {
            Form::Ldif => self.ldif.begin(&mut self.out, said),
            Form::Csv(attributes) => rows::csv_head(&mut self.out, attributes),
            Form::Json | Form::JsonValues => {}
        }
    }

    /// Prints the filter of a line of a file, after an empty line unless it is the first.
    pub fn next_filter(&mut self, filter: &str, is_first: bool) -> Outcome<()> {
        if matches!(self.form, Form::Ldif) {
            self.out.extend_from_slice(if is_first { b"" } else { b"\n" });
            if self.ldif.level < 2 {
                self.out.extend_from_slice(format!("#\n# filter: {filter}\n#\n").as_bytes());
            }
        }
        self.write()
    }

    fn reference(&mut self, reference: &Reference) {
        self.counts.responses += 1;
        self.counts.references += 1;
        if matches!(self.form, Form::Ldif) {
            self.ldif.reference(&mut self.out, reference);
        }
    }

    fn end(&mut self, id: u32, result: &LdapResult) -> Outcome {
        self.counts.responses += 1;
        self.print_sorted()?;
        if matches!(self.form, Form::Ldif) {
            self.ldif.end(&mut self.out, id, result, self.counts);
        }
        self.write()?;
        self.finish(result)
    }

    #[inline]
    fn entry(&mut self, entry: &Entry) {
        self.counts.responses += 1;
        self.counts.entries += 1;
        if self.sort_by.is_some() {
            self.sorted.push(entry.compact());
        } else {
            self.print(entry);
        }
    }

    /// Prints the entries that have been kept: by the values of an attribute, those without it first, or by their names.
    fn print_sorted(&mut self) -> Outcome<()> {
        let Some(attribute) = &self.sort_by else { return Ok(()) };
        let mut sorted = std::mem::take(&mut self.sorted);
        if attribute.is_empty() {
            // By the values of names, the leaf first, as ldapsearch does.
            sorted.sort_by_cached_key(|entry| {
                let dn = entry.dn().parse::<Dn>().unwrap_or_default();
                let avas = dn.rdns().iter().flat_map(|rdn| rdn.avas());
                avas.map(|ava| ava.value().to_ascii_lowercase()).collect::<Vec<_>>()
            });
        } else {
            sorted.sort_by_cached_key(|entry| {
                entry.values(attribute).map(<[u8]>::to_ascii_lowercase).collect::<Vec<_>>()
            });
        }
        for entry in sorted {
            self.print(&entry);
            if self.out.len() >= BUFFER {
                self.write()?;
            }
        }
        Ok(())
    }

    #[inline]
    fn print(&mut self, entry: &Entry) {
        match &self.form {
            Form::Ldif => self.ldif.entry(&mut self.out, entry),
            Form::Json => rows::json(&mut self.out, entry),
            Form::JsonValues => rows::json_values(&mut self.out, entry),
            Form::Csv(attributes) => rows::csv(&mut self.out, entry, attributes, self.guard_formulas),
        }
    }

    /// Writes what is there with one call.
    pub fn write(&mut self) -> Outcome<()> {
        self.ldif.fault()?;
        if !self.out.is_empty() {
            self.stdout.write_all(&self.out)?;
            self.stdout.flush()?;
            self.out.clear();
        }
        Ok(())
    }

    /// The connection broke: what came stands.
    fn broken(&mut self, error: &tercet_ldap::Error) -> Outcome {
        self.print_sorted()?;
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
