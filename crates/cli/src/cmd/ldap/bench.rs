//! `tercet ldap bench`: searches as fast as the server gives them.

use super::connection::Connection;
use super::failure;
use crate::exit::{Exit, Failure, Outcome};
use clap::Args;
use std::io::{self, Write as _};
use std::time::{Duration, Instant};
use tercet_ldap::{Client, Scope};

/// Repeat a search, and report its rate and times
#[derive(Args, Debug)]
pub struct Bench {
    #[command(flatten)]
    connection: Connection,

    /// Where the searches begin
    #[arg(short = 'b', value_name = "BASE", default_value = "")]
    base: String,

    /// base, one, sub or children
    #[arg(short = 's', value_name = "SCOPE", default_value = "sub", value_parser = |text: &str| text.parse::<Scope>())]
    scope: Scope,

    /// Connections
    #[arg(short = 'c', long, value_name = "COUNT", default_value_t = 1)]
    connections: usize,

    /// Searches in flight on each connection
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    in_flight: usize,

    /// Searches in all
    #[arg(short = 'n', long, value_name = "COUNT", default_value_t = 1000)]
    searches: usize,

    /// The filter; `{}` in it becomes the number of the search
    #[arg(default_value = "(objectClass=*)")]
    filter: String,

    /// The attributes
    attributes: Vec<String>,
}

#[derive(Default)]
struct Part {
    times: Vec<Duration>,
    entries: u64,
    octets: u64,
}

impl Bench {
    pub async fn run(&self) -> Outcome {
        let lanes = self.connections.max(1) * self.in_flight.max(1);
        let mut clients = Vec::new();
        for _ in 0..self.connections.max(1) {
            clients.push(self.connection.open().await?);
        }
        let begin = Instant::now();
        let mut tasks = Vec::new();
        for lane in 0..lanes {
            let client =
                clients.get(lane % clients.len()).cloned().ok_or_else(|| Failure::usage("no connection"))?;
            let searches = (lane..self.searches)
                .step_by(lanes)
                .map(|number| self.search(number))
                .collect::<Outcome<_>>()?;
            tasks.push(tokio::spawn(run(client, searches)));
        }
        let mut all = Part::default();
        for task in tasks {
            let part = task.await.map_err(|error| Failure::input(error.to_string()))?;
            let part = part.map_err(|error| failure("", &error))?;
            all.times.extend(part.times);
            all.entries += part.entries;
            all.octets += part.octets;
        }
        let seconds = begin.elapsed().as_secs_f64();
        all.times.sort_unstable();
        let at = |share: f64| {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                clippy::cast_precision_loss,
                reason = "an index"
            )]
            let index = ((all.times.len() as f64 * share) as usize).min(all.times.len().saturating_sub(1));
            all.times.get(index).copied().unwrap_or_default().as_secs_f64() * 1e3
        };
        let mut out = io::stdout();
        #[expect(clippy::cast_precision_loss, reason = "rates")]
        let (count, entries, octets) = (all.times.len() as f64, all.entries as f64, all.octets as f64);
        writeln!(out, "{count} searches, {entries} entries, {octets} bytes in {seconds:.3} s")?;
        writeln!(
            out,
            "{:.0} searches/s, {:.0} entries/s, {:.1} MB/s",
            count / seconds,
            entries / seconds,
            octets / seconds / 1e6
        )?;
        writeln!(
            out,
            "ms: min {:.3}, 50 % {:.3}, 90 % {:.3}, 99 % {:.3}, max {:.3}",
            at(0.0),
            at(0.5),
            at(0.9),
            at(0.99),
            at(1.0)
        )?;
        Ok(Exit::Good)
    }

    fn search(&self, number: usize) -> Outcome<tercet_ldap::Search> {
        let filter = self.filter.replace("{}", &number.to_string());
        let search =
            tercet_ldap::Search::new(&self.base).filter(&filter).map_err(|error| failure("", &error))?;
        Ok(search.scope(self.scope).attributes(&self.attributes))
    }
}

async fn run(client: Client, searches: Vec<tercet_ldap::Search>) -> tercet_ldap::Result<Part> {
    let mut part = Part::default();
    for search in searches {
        let begin = Instant::now();
        let mut entries = client.search(search).await?;
        loop {
            while let Some(entry) = entries.ready() {
                part.octets += entry?.octets().len() as u64;
                part.entries += 1;
            }
            match entries.next().await? {
                None => break,
                Some(entry) => {
                    part.octets += entry.octets().len() as u64;
                    part.entries += 1;
                }
            }
        }
        part.times.push(begin.elapsed());
    }
    Ok(part)
}
