//! Changes of LDIF sent to a server: several at one time, at a rate, from where an earlier run ended.

use super::edit::{self, Marks};
use super::{codes, failure};
use crate::args::writes_stdout;
use crate::exit::{Exit, Failure, Outcome};
use crate::term;
use clap::Args;
use std::collections::{BTreeMap, VecDeque};
use std::io::Write as _;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tercet::records::{Guard, Output};
use tercet_ldap::ldif::{Change, Record, Style};
use tercet_ldap::proto::LdapResult;
use tercet_ldap::{Client, Dn, Rdn};
use tokio::task::JoinHandle;

/// Options of how changes are sent.
#[derive(Args, Debug)]
pub struct Stream {
    /// Write changes that the server refuses to a file, with the error as a comment, and go on; exit code 2 if there are any
    #[arg(short = 'S', long, value_name = "FILE")]
    rejects: Option<PathBuf>,

    /// Requests in flight at one time; changes of an entry, and of those above and below it, stay in their order
    #[arg(long, value_name = "COUNT", default_value = "1")]
    in_flight: NonZeroUsize,

    /// Changes a second at most
    #[arg(long, value_name = "COUNT")]
    rate: Option<NonZeroU32>,

    /// Keep the line reached in a file; the next run begins after it
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
}

/// A change on its way.
struct Sent {
    record: Record,
    /// The line after it.
    line: u64,
    places: Vec<Vec<String>>,
    answer: JoinHandle<tercet_ldap::Result<LdapResult>>,
}

/// The changes that are sent.
pub struct Run<'r> {
    options: &'r Stream,
    client: Client,
    marks: Marks,
    go_on: bool,
    in_flight: VecDeque<Sent>,
    rejects: Option<Output>,
    rejected: u64,
    exit: Exit,
    next: Instant,
    /// Places of changes in flight, and how many of them there are.
    busy: BTreeMap<Vec<String>, usize>,
}

impl Stream {
    /// Whether an option is used that needs a server.
    pub const fn is_used(&self) -> bool {
        self.rejects.is_some() || self.resume.is_some()
    }

    /// The line that an earlier run has reached.
    pub fn reached(&self) -> Outcome<u64> {
        let Some(path) = &self.resume else { return Ok(0) };
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(0),
            Err(error) => return Err(Failure::io(path.display(), &error)),
        };
        let text = text.trim();
        let name = path.display();
        text.parse()
            .map_err(|_| Failure::usage(format_args!("--resume {name}: not the file of an earlier run")))
    }

    /// Begins to send the changes of a file.
    pub fn begin(&self, client: Client, marks: Marks, go_on: bool, input: Option<&Path>) -> Outcome<Run<'_>> {
        let mut guard = Guard::default();
        for (option, path) in [("`--rejects`", &self.rejects), ("`--resume`", &self.resume)] {
            if let Some(path) = path {
                guard.writes(option, path)?;
            }
        }
        writes_stdout(&mut guard)?;
        if let Some(input) = input {
            guard.reads("input", input)?;
        }
        Ok(Run {
            options: self,
            client,
            marks,
            go_on: go_on || self.rejects.is_some(),
            in_flight: VecDeque::new(),
            rejects: self.rejects.as_ref().map(Output::create).transpose()?,
            rejected: 0,
            exit: Exit::Good,
            next: Instant::now(),
            busy: BTreeMap::new(),
        })
    }
}

impl Run<'_> {
    /// Sends a change, as soon as those that it depends on have been made.
    pub async fn send(&mut self, record: Record, line: u64) -> Outcome<()> {
        let places = places(&record);
        while self.in_flight.len() >= self.options.in_flight.get() || self.depends(&places) {
            self.settle().await?;
        }
        if let Some(rate) = self.options.rate {
            tokio::time::sleep_until(self.next.into()).await;
            let between = Duration::from_secs(1) / rate.get();
            // What was late is not made up for by a burst of more than a tenth of a second.
            let earliest = Instant::now().checked_sub(Duration::from_millis(100)).unwrap_or(self.next);
            self.next = self.next.max(earliest) + between;
        }
        self.marks.say(&record)?;
        for place in &places {
            *self.busy.entry(place.clone()).or_default() += 1;
        }
        let (client, sent) = (self.client.clone(), record.clone());
        let answer = tokio::spawn(async move { client.apply(&sent).await });
        self.in_flight.push_back(Sent { record, line, places, answer });
        if self.options.in_flight.get() == 1 {
            self.settle().await?;
        }
        Ok(())
    }

    /// Waits for all that is on its way, and writes what was refused.
    pub async fn finish(mut self) -> Outcome {
        while !self.in_flight.is_empty() {
            self.settle().await?;
        }
        if let Some(rejects) = self.rejects {
            rejects.commit()?;
        }
        if self.rejected > 0 {
            term::say(format_args!("{} refused", term::count(self.rejected, "change")));
        }
        Ok(self.exit)
    }

    /// Waits for the oldest change.
    async fn settle(&mut self) -> Outcome<()> {
        let Some(sent) = self.in_flight.pop_front() else { return Ok(()) };
        let answer = sent.answer.await.map_err(Failure::input)?;
        for place in &sent.places {
            if let Some(count) = self.busy.get_mut(place) {
                *count -= 1;
                if *count == 0 {
                    self.busy.remove(place);
                }
            }
        }
        if let Err(error) = answer {
            let failed = failure(&sent.record.dn, &error);
            if !self.go_on || error.result().is_none() {
                self.wait_for_rest().await;
                return Err(failed);
            }
            codes::remember(failed.ldap);
            match &mut self.rejects {
                None => {
                    term::error(&failed.message);
                    self.exit = failed.exit;
                }
                Some(file) => {
                    let mut out = Vec::new();
                    let text = error.to_string().replace(['\n', '\r'], " ");
                    Style::default().comment(&mut out, text.as_bytes());
                    Style::default().record(&mut out, &Record { is_change: true, ..sent.record });
                    file.write_all(&out)?;
                    self.rejected += 1;
                    self.exit = self.exit.max(Exit::Rejected);
                }
            }
        }
        match &self.options.resume {
            Some(path) => keep(path, sent.line),
            None => Ok(()),
        }
    }

    /// Waits for what was sent after a change that ends the run: it is not known otherwise whether it was made.
    async fn wait_for_rest(&mut self) {
        for sent in std::mem::take(&mut self.in_flight) {
            if let Ok(Ok(_)) = sent.answer.await {
                term::warning(format_args!("{}: this later change was made", sent.record.dn));
            }
        }
    }

    /// Whether a change of these places has to wait for one that is in flight: of the same entry, of one above or below.
    fn depends(&self, places: &[Vec<String>]) -> bool {
        places.iter().any(|place| {
            let is_below =
                self.busy.range(place.clone()..).next().is_some_and(|(other, _)| other.starts_with(place));
            is_below
                || (0..place.len())
                    .any(|length| self.busy.contains_key(place.get(..length).unwrap_or_default()))
        })
    }
}

/// Writes the line reached. The number has a fixed width, so that one write replaces the one before.
fn keep(path: &Path, line: u64) -> Outcome<()> {
    let written = std::fs::OpenOptions::new().write(true).create(true).truncate(false).open(path);
    let written = written.and_then(|mut file| file.write_all(format!("{line:020}\n").as_bytes()));
    written.map_err(|error| Failure::io(path.display(), &error))
}

/// The entries that a change needs or makes: normalized RDNs from the root on.
fn places(record: &Record) -> Vec<Vec<String>> {
    let place =
        |dn: &Dn| dn.rdns().iter().rev().map(|rdn| Dn::default().child(rdn.clone()).normalized()).collect();
    // The server refuses what is malformed; the order of such a change does not matter.
    let Ok(dn) = record.dn.parse::<Dn>() else { return Vec::new() };
    let mut all = vec![place(&dn)];
    if let Change::ModifyDn { new_rdn, new_superior, .. } = &record.change {
        let above = match new_superior {
            Some(superior) => superior.parse().ok(),
            None => dn.parent(),
        };
        if let (Some(above), Ok(rdn)) = (above, new_rdn.parse::<Rdn>()) {
            all.push(place(&above.child(rdn)));
        }
    }
    all
}

impl Marks {
    fn say(self, record: &Record) -> Outcome<()> {
        edit::say(self, record)
    }
}
