//! `tercet ldap bench`: operations as fast as the server answers them, or at a rate.

mod report;
mod values;

use super::connection::Connection;
use super::failure;
use crate::exit::{Exit, Failure, Outcome};
use crate::interrupt::{OnInterrupt, listen};
use clap::Args;
use report::{Kind, Report, Sample};
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tercet_ldap::ldif::{ModificationKind, RecordModification};
use tercet_ldap::{Client, ErrorKind, Scope};
use values::{Pattern, Random};

/// Repeat operations, and report their rate and times
#[derive(Args, Debug)]
#[command(after_help = "\
In the filter, in -b and in the value of compare, `{}` is the number of the operation or a line of --values, `[1-1000]` a random
number (`[0001-1000]`: of four digits), and `[a,b,c]` one of the texts. add, modify and delete make entries below -b for
themselves, and remove them.

Examples:
  tercet ldap bench -H ldap://localhost -b o=test -c 16 --duration 10 '(uid=u[1-1000])'
  tercet ldap bench -H ldap://localhost -b o=test --op mixed=search:80,modify:15,bind:5 --writes -D cn=admin,o=test -W")]
pub struct Bench {
    #[command(flatten)]
    connection: Connection,

    /// search, bind, compare, add, modify, delete, or `mixed=search:80,modify:15,bind:5` with weights
    #[arg(long, value_name = "OPERATION", default_value = "search", value_parser = |text: &str| text.parse::<Mix>())]
    op: Mix,

    /// Where the searches begin; the entry to compare; the entry below which others are made
    #[arg(short = 'b', value_name = "BASE", default_value = "")]
    base: String,

    /// base, one, sub or children
    #[arg(short = 's', value_name = "SCOPE", default_value = "sub", value_parser = |text: &str| text.parse::<Scope>())]
    scope: Scope,

    /// Connections
    #[arg(short = 'c', long, value_name = "COUNT", default_value = "1")]
    connections: NonZeroUsize,

    /// Operations in flight on each connection; 1 where there are binds
    #[arg(long, value_name = "COUNT", default_value = "1")]
    in_flight: NonZeroUsize,

    /// Operations in all, not counting those of --warm-up
    #[arg(
        short = 'n',
        long,
        alias = "searches",
        value_name = "COUNT",
        default_value_t = 1000,
        conflicts_with = "duration"
    )]
    operations: usize,

    /// Seconds instead of a number of operations
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    duration: Option<Duration>,

    /// Seconds at the beginning that do not count
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    warm_up: Option<Duration>,

    /// Operations a second in all; times are counted from when an operation was due
    #[arg(long, value_name = "COUNT")]
    rate: Option<NonZeroU32>,

    /// Print rate and times every so many seconds to standard error
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    interval: Option<Duration>,

    /// A file whose lines take the place of `{}`, chosen at random
    #[arg(long, value_name = "FILE")]
    values: Option<PathBuf>,

    /// The number that decides what is random
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,

    /// Allow add, modify and delete
    #[arg(long)]
    writes: bool,

    /// Print the report as a JSON object
    #[arg(long, conflicts_with = "csv")]
    json: bool,

    /// Print the report as a table
    #[arg(long)]
    csv: bool,

    /// Percentiles of the report
    #[arg(long, value_name = "PERCENT", value_delimiter = ',', default_values_t = [50.0, 90.0, 99.0], value_parser = percent)]
    percentiles: Vec<f64>,

    /// The filter; for compare `ATTRIBUTE:VALUE`
    #[arg(default_value = "(objectClass=*)")]
    filter: String,

    /// The attributes
    attributes: Vec<String>,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "a number of seconds expected".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

fn percent(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| (0.0..=100.0).contains(number));
    number.ok_or_else(|| "a number from 0 to 100 expected".to_owned())
}

/// Which operations are made, with their weights.
#[derive(Clone, Debug)]
struct Mix(Vec<(Kind, u32)>);

impl FromStr for Mix {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some(parts) = text.strip_prefix("mixed=") else { return Ok(Self(vec![(text.parse()?, 1)])) };
        let part = |part: &str| -> Result<(Kind, u32), String> {
            let (kind, weight) = part.split_once(':').ok_or("`OPERATION:WEIGHT` expected after `mixed=`")?;
            Ok((kind.parse()?, weight.parse().map_err(|_| format!("`{weight}`: a weight expected"))?))
        };
        let all: Vec<(Kind, u32)> = parts.split(',').map(part).collect::<Result<_, _>>()?;
        if all.iter().all(|(_, weight)| *weight == 0) {
            return Err("a weight above 0 expected".to_owned());
        }
        Ok(Self(all))
    }
}

impl Mix {
    fn has(&self, asked: impl Fn(Kind) -> bool) -> bool {
        self.0.iter().any(|(kind, weight)| asked(*kind) && *weight > 0)
    }

    fn pick(&self, random: &mut Random) -> Kind {
        if let [(kind, _)] = &*self.0 {
            return *kind;
        }
        let total: u64 = self.0.iter().map(|(_, weight)| u64::from(*weight)).sum();
        let mut at = random.below(total);
        for (kind, weight) in &self.0 {
            match at.checked_sub(u64::from(*weight)) {
                None => return *kind,
                Some(rest) => at = rest,
            }
        }
        Kind::Search
    }
}

/// What all lanes share.
struct Plan {
    mix: Mix,
    base: Pattern,
    filter: Pattern,
    /// Of compare: the attribute.
    attribute: String,
    scope: Scope,
    attributes: Vec<String>,
    credentials: (String, String),
    /// The number of the next operation.
    next: AtomicUsize,
    /// Operations that began after the warm-up.
    counted: AtomicUsize,
    operations: usize,
    begin: Instant,
    end: Option<Instant>,
    counted_from: Instant,
    rate: Option<NonZeroU32>,
    stop: Arc<AtomicBool>,
    /// Samples since the last line of progress.
    recent: Mutex<Vec<Duration>>,
    has_progress: bool,
    seed: u64,
    run: String,
}

impl Plan {
    /// Returns whether all operations that count have begun.
    fn is_complete(&self) -> bool {
        self.counted.load(Ordering::Relaxed) >= self.operations
    }

    /// Counts an operation; returns `false` if there are enough.
    fn take(&self) -> bool {
        self.counted.fetch_add(1, Ordering::Relaxed) < self.operations
    }
}

impl Bench {
    pub async fn run(&self) -> Outcome {
        if self.op.has(Kind::is_write) && !self.writes {
            return Err(Failure::usage(
                "add, modify and delete change the directory\nhelp: allow it by `--writes`",
            ));
        }
        if self.op.has(Kind::is_write) && self.base.is_empty() {
            return Err(Failure::usage("-b is required: entries are made below it"));
        }
        let has_binds = self.op.has(|kind| kind == Kind::Bind);
        if has_binds && self.in_flight.get() > 1 {
            return Err(Failure::usage("--in-flight: nothing else may be in flight with a bind; use `-c`"));
        }
        if has_binds && self.connection.asks() {
            return Err(Failure::usage("bind: -w or -y expected; a password that is asked for is not kept"));
        }
        let lines = self.values.as_ref().map(values::lines).transpose()?.map(Arc::new);
        let (attribute, filter) = match self.filter.split_once(':') {
            Some((attribute, value)) if self.op.has(|kind| kind == Kind::Compare) => (attribute, value),
            _ if self.op.has(|kind| kind == Kind::Compare) => {
                return Err(Failure::usage("compare: ATTRIBUTE:VALUE expected instead of a filter"));
            }
            _ => ("", self.filter.as_str()),
        };
        let filter = Pattern::new(filter, lines.clone())?;
        if self.op.has(|kind| kind == Kind::Search) && attribute.is_empty() {
            // Not every text that a pattern makes is a filter; the first one is tried before there is a connection.
            let text = filter.text(0, &mut Random::new(self.seed));
            tercet_ldap::Search::new("").filter(&text).map_err(|error| failure("", &error))?;
        }
        let mut clients = Vec::new();
        for _ in 0..self.connections.get() {
            clients.push(self.connection.open().await?);
        }
        let begin = Instant::now();
        let counted_from = begin + self.warm_up.unwrap_or_default();
        let plan = Arc::new(Plan {
            mix: self.op.clone(),
            base: Pattern::new(&self.base, lines)?,
            filter,
            attribute: attribute.to_owned(),
            scope: self.scope,
            attributes: self.attributes.clone(),
            credentials: self.connection.credentials()?,
            next: AtomicUsize::new(0),
            counted: AtomicUsize::new(0),
            operations: if self.duration.is_some() { usize::MAX } else { self.operations },
            begin,
            end: self.duration.map(|duration| counted_from + duration),
            counted_from,
            rate: self.rate,
            stop: listen(OnInterrupt::Finish)?,
            recent: Mutex::default(),
            has_progress: self.interval.is_some(),
            seed: self.seed,
            run: format!("{:08x}", values::unique() & 0xFFFF_FFFF),
        });
        let mut tasks = Vec::new();
        let lanes = self.connections.get().saturating_mul(self.in_flight.get());
        for (lane, client) in (0..lanes).zip(clients.iter().cycle()) {
            tasks.push(tokio::spawn(Lane::new(lane, client.clone(), Arc::clone(&plan)).run()));
        }
        let progress = self.interval.map(|interval| tokio::spawn(progress(Arc::clone(&plan), interval)));
        let mut samples = Vec::new();
        let mut first = None;
        for task in tasks {
            let (part, error) = task.await.map_err(Failure::input)?;
            samples.extend(part);
            first = first.or(error);
        }
        if let Some(progress) = progress {
            progress.abort();
        }
        if let Some(error) = first {
            return Err(failure("", &error));
        }
        let counted = Instant::now().saturating_duration_since(counted_from);
        let report = Report::new(samples, counted, &self.percentiles);
        report.print(self.json, self.csv)?;
        Ok(if report.has_errors() { Exit::Rejected } else { Exit::Good })
    }
}

/// Prints rates while the operations run.
async fn progress(plan: Arc<Plan>, interval: Duration) {
    let mut timer = tokio::time::interval(interval.max(Duration::from_millis(10)));
    timer.tick().await;
    loop {
        timer.tick().await;
        let times = std::mem::take(&mut *plan.recent.lock().unwrap_or_else(PoisonError::into_inner));
        crate::term::say(report::progress(plan.begin.elapsed(), interval, times));
    }
}

/// One operation after another.
struct Lane {
    client: Client,
    plan: Arc<Plan>,
    random: Random,
    /// The entry of this lane, for operations that write.
    dn: String,
    rdn: String,
    is_there: bool,
    samples: Vec<Sample>,
}

type Done = Result<(u64, u64), tercet_ldap::Error>;

impl Lane {
    fn new(lane: usize, client: Client, plan: Arc<Plan>) -> Self {
        let rdn = format!("tercet-bench-{}-{lane}", plan.run);
        let random = Random::new(plan.seed.wrapping_add((lane as u64).wrapping_mul(0x9E37_79B9)));
        let base = plan.base.text(0, &mut random.clone());
        Self {
            client,
            plan,
            random,
            dn: format!("cn={rdn},{base}"),
            rdn,
            is_there: false,
            samples: Vec::new(),
        }
    }

    /// Runs until the plan ends; returns the error of a connection that broke.
    async fn run(mut self) -> (Vec<Sample>, Option<tercet_ldap::Error>) {
        let mut broken = None;
        while !self.plan.stop.load(Ordering::Relaxed) {
            let number = self.plan.next.fetch_add(1, Ordering::Relaxed);
            let due = match self.plan.rate {
                Some(rate) => {
                    let nanos = (number as u128 * 1_000_000_000) / u128::from(rate.get());
                    let due =
                        self.plan.begin + Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
                    if self.plan.end.is_some_and(|end| due >= end) || self.plan.is_complete() {
                        break;
                    }
                    tokio::time::sleep_until(due.into()).await;
                    due
                }
                None => Instant::now(),
            };
            // Operations of the warm-up are made in addition to those that count.
            let counts = due >= self.plan.counted_from;
            if self.plan.end.is_some_and(|end| due >= end) || (counts && !self.plan.take()) {
                break;
            }
            let kind = self.plan.mix.pick(&mut self.random);
            if let Err(error) = self.measured(kind, (number, counts), due).await {
                broken = Some(error);
                break;
            }
        }
        if self.is_there {
            let deleted = self.client.delete(&self.dn).await;
            broken = broken.or_else(|| deleted.err());
        }
        (self.samples, broken)
    }

    /// Makes one operation, and what has to be done before and after it, which does not count.
    async fn measured(
        &mut self,
        kind: Kind,
        (number, counts): (usize, bool),
        due: Instant,
    ) -> Result<(), tercet_ldap::Error> {
        let mut begin = due;
        if matches!(kind, Kind::Modify | Kind::Delete) && !self.is_there {
            self.add().await?;
            begin = Instant::now();
        }
        if kind == Kind::Add && self.is_there {
            self.delete().await?;
            begin = Instant::now();
        }
        let done = match kind {
            Kind::Search => self.search(number).await,
            Kind::Bind => {
                let (dn, password) = &self.plan.credentials;
                self.client.bind(dn, password).await.map(|_| (0, 0))
            }
            Kind::Compare => self.compare(number).await,
            Kind::Add => self.add().await,
            Kind::Modify => {
                let values = vec![number.to_string().into_bytes()];
                let (kind, attribute) = (ModificationKind::Replace, "description".to_owned());
                let change = RecordModification { kind, attribute, values };
                self.client.modify(&self.dn, &[change]).await.map(|_| (0, 0))
            }
            Kind::Delete => self.delete().await,
        };
        let time = begin.elapsed();
        if kind == Kind::Add && done.is_ok() {
            self.delete().await?;
        }
        let code = match &done {
            Ok(_) => 0,
            Err(error) => match error.result() {
                Some(result) => result.code.0,
                None if error.kind() == ErrorKind::Timeout => 85,
                None => return done.map(drop),
            },
        };
        if !counts {
            return Ok(());
        }
        let (entries, octets) = done.unwrap_or_default();
        self.samples.push(Sample { kind, time, code, entries, octets });
        if self.plan.has_progress {
            self.plan.recent.lock().unwrap_or_else(PoisonError::into_inner).push(time);
        }
        Ok(())
    }

    async fn search(&mut self, number: usize) -> Done {
        let base = self.plan.base.text(number, &mut self.random);
        let filter = self.plan.filter.text(number, &mut self.random);
        let search = tercet_ldap::Search::new(base).filter(&filter)?;
        let search = search.scope(self.plan.scope).attributes(&self.plan.attributes);
        let mut found = self.client.search(search).await?;
        let (mut entries, mut octets) = (0, 0);
        loop {
            while let Some(entry) = found.ready() {
                octets += entry?.octets().len() as u64;
                entries += 1;
            }
            match found.next().await? {
                None => return Ok((entries, octets)),
                Some(entry) => {
                    octets += entry.octets().len() as u64;
                    entries += 1;
                }
            }
        }
    }

    async fn compare(&mut self, number: usize) -> Done {
        let dn = self.plan.base.text(number, &mut self.random);
        let value = self.plan.filter.text(number, &mut self.random);
        self.client.compare(&dn, &self.plan.attribute, value.as_bytes()).await.map(|_| (0, 0))
    }

    async fn add(&mut self) -> Done {
        let class: &[&str] = &["device"];
        let (cn, text): (&[&str], &[&str]) = (&[&self.rdn], &["made by tercet ldap bench"]);
        self.client.add(&self.dn, &[("objectClass", class), ("cn", cn), ("description", text)]).await?;
        self.is_there = true;
        Ok((0, 0))
    }

    async fn delete(&mut self) -> Done {
        self.client.delete(&self.dn).await?;
        self.is_there = false;
        Ok((0, 0))
    }
}
