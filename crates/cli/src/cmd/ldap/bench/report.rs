//! What was measured, as text, JSON or a table.

use crate::exit::Outcome;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::str::FromStr;
use std::time::Duration;
use tercet_ldap::ResultCode;

/// A kind of operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Search,
    Bind,
    Compare,
    Add,
    Modify,
    Delete,
}

const KINDS: [(Kind, &str, &str); 6] = [
    (Kind::Search, "search", "searches"),
    (Kind::Bind, "bind", "binds"),
    (Kind::Compare, "compare", "compares"),
    (Kind::Add, "add", "adds"),
    (Kind::Modify, "modify", "modifies"),
    (Kind::Delete, "delete", "deletes"),
];

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = KINDS.iter().find(|(_, name, _)| *name == text);
        found.map(|(kind, ..)| *kind).ok_or_else(|| {
            format!("unknown operation `{text}`; known: search, bind, compare, add, modify, delete, mixed=…")
        })
    }
}

impl Kind {
    pub const fn is_write(self) -> bool {
        matches!(self, Self::Add | Self::Modify | Self::Delete)
    }

    fn words(self) -> (&'static str, &'static str) {
        KINDS.iter().find(|(kind, ..)| *kind == self).map_or(("", ""), |(_, one, many)| (one, many))
    }
}

/// One operation.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    pub kind: Kind,
    pub time: Duration,
    /// The result code.
    pub code: u32,
    pub entries: u64,
    pub octets: u64,
}

/// All operations of a kind.
#[derive(Debug, Default)]
struct Sum {
    /// In their order.
    times: Vec<Duration>,
    entries: u64,
    octets: u64,
    errors: BTreeMap<u32, u64>,
}

/// What was measured.
#[derive(Debug)]
pub struct Report {
    kinds: BTreeMap<Kind, Sum>,
    seconds: f64,
    percentiles: Vec<f64>,
}

impl Report {
    pub fn new(samples: Vec<Sample>, time: Duration, percentiles: &[f64]) -> Self {
        let mut kinds: BTreeMap<Kind, Sum> = BTreeMap::new();
        for sample in samples {
            let sum = kinds.entry(sample.kind).or_default();
            sum.times.push(sample.time);
            sum.entries += sample.entries;
            sum.octets += sample.octets;
            if sample.code != 0 {
                *sum.errors.entry(sample.code).or_default() += 1;
            }
        }
        kinds.values_mut().for_each(|sum| sum.times.sort_unstable());
        Self { kinds, seconds: time.as_secs_f64().max(1e-9), percentiles: percentiles.to_vec() }
    }

    pub fn has_errors(&self) -> bool {
        self.kinds.values().any(|sum| !sum.errors.is_empty())
    }

    pub fn print(&self, as_json: bool, as_csv: bool) -> Outcome<()> {
        let mut out = io::stdout();
        if as_json {
            let object: Map<String, Value> =
                self.kinds.iter().map(|(kind, sum)| (kind.words().0.to_owned(), self.json(sum))).collect();
            writeln!(out, "{}", json!({ "seconds": self.seconds, "operations": object }))?;
            return Ok(());
        }
        if as_csv {
            let columns: String = self.percentiles.iter().map(|percent| format!(",p{percent}_ms")).collect();
            writeln!(out, "operation,count,errors,seconds,rate,entries,bytes,min_ms{columns},max_ms")?;
        }
        for (kind, sum) in &self.kinds {
            if as_csv {
                self.row(&mut out, kind.words().0, sum)?;
            } else {
                self.text(&mut out, kind.words().1, sum)?;
            }
        }
        Ok(())
    }

    #[expect(clippy::cast_precision_loss, reason = "rates")]
    fn rates(&self, sum: &Sum) -> [f64; 3] {
        [sum.times.len() as f64, sum.entries as f64, sum.octets as f64].map(|count| count / self.seconds)
    }

    fn json(&self, sum: &Sum) -> Value {
        let mut times: Map<String, Value> = Map::new();
        times.insert("min".to_owned(), Value::from(milliseconds(at(&sum.times, 0.0))));
        for percent in &self.percentiles {
            times.insert(format!("p{percent}"), Value::from(milliseconds(at(&sum.times, *percent))));
        }
        times.insert("max".to_owned(), Value::from(milliseconds(at(&sum.times, 100.0))));
        let errors: Map<String, Value> =
            sum.errors.iter().map(|(code, count)| (code.to_string(), Value::from(*count))).collect();
        json!({
            "count": sum.times.len(),
            "errors": errors,
            "rate": self.rates(sum)[0],
            "entries": sum.entries,
            "bytes": sum.octets,
            "ms": times,
        })
    }

    fn row(&self, out: &mut impl io::Write, name: &str, sum: &Sum) -> Outcome<()> {
        let errors: u64 = sum.errors.values().sum();
        let (count, seconds, [rate, ..]) = (sum.times.len(), self.seconds, self.rates(sum));
        write!(out, "{name},{count},{errors},{seconds:.3},{rate:.1},{},{}", sum.entries, sum.octets)?;
        let all = std::iter::once(0.0).chain(self.percentiles.iter().copied()).chain([100.0]);
        for percent in all {
            write!(out, ",{:.3}", milliseconds(at(&sum.times, percent)))?;
        }
        writeln!(out)?;
        Ok(())
    }

    fn text(&self, out: &mut impl io::Write, name: &str, sum: &Sum) -> Outcome<()> {
        let (count, [rate, entries, octets]) = (sum.times.len(), self.rates(sum));
        writeln!(
            out,
            "{count} {name}, {} entries, {} bytes in {:.3} s",
            sum.entries, sum.octets, self.seconds
        )?;
        writeln!(out, "{rate:.0} {name}/s, {entries:.0} entries/s, {:.1} MB/s", octets / 1e6)?;
        let list: String = self
            .percentiles
            .iter()
            .map(|percent| format!("{percent} % {:.3}, ", milliseconds(at(&sum.times, *percent))))
            .collect();
        let [min, max] = [0.0, 100.0].map(|percent| milliseconds(at(&sum.times, percent)));
        writeln!(out, "ms: min {min:.3}, {list}max {max:.3}")?;
        for (code, count) in &sum.errors {
            writeln!(out, "errors: {count} {}", ResultCode(*code))?;
        }
        Ok(())
    }
}

/// A line of progress.
#[expect(clippy::cast_precision_loss, reason = "a rate")]
pub fn progress(since: Duration, interval: Duration, mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let rate = times.len() as f64 / interval.as_secs_f64().max(1e-9);
    let [half, most] = [50.0, 99.0].map(|percent| milliseconds(at(&times, percent)));
    format!("{:.1} s: {rate:.0}/s, ms: 50 % {half:.3}, 99 % {most:.3}", since.as_secs_f64())
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// A percentile of sorted times.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "an index"
)]
fn at(times: &[Duration], percent: f64) -> Duration {
    let index = ((times.len() as f64 * percent / 100.0) as usize).min(times.len().saturating_sub(1));
    times.get(index).copied().unwrap_or_default()
}
