//! `tercet megaco load`: requests at a rate, and what they cost.

use super::crew;
use super::options::EngineArgs;
use super::run::{Agent, Role, request_actions};
use super::runtime;
use crate::exit::{Failure, Outcome};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use std::collections::{HashMap, VecDeque};
use std::num::NonZeroU32;
use std::time::Duration;
use tercet_megaco::List;
use tercet_megaco::model::{ActionReply, ActionRequest, CONTEXT_CHOOSE, CommandReply, IntoOwned};
use tercet_megaco_engine::driver::Url;
use tercet_megaco_engine::{Counters, Outcome as Ending, Period, RequestId, Time};

/// Send requests at a rate, as a gateway or a controller, and report throughput, processor time, latency and failures
#[derive(Args, Debug)]
#[command(after_help = "\
The last events are `report` and `stats`. In the report, tps is the replies in a second; cpu_us the processor time of this
process for a request, in microseconds, where the system reports it; p50_ms, p99_ms and max_ms are latencies.

Example:
  tercet megaco load --connect udp://127.0.0.1:2944 --rate 1000/s --for 10s --scenario notify")]
pub struct Load {
    /// Register as a gateway with this controller, and send it requests
    #[arg(long, value_name = "URL", conflicts_with = "listen", required_unless_present = "listen")]
    connect: Option<Url>,

    /// Wait as a controller for a gateway, and send it requests
    #[arg(long, value_name = "URL")]
    listen: Vec<Url>,

    /// Requests a second, such as 1000/s
    #[arg(long, value_name = "N/s", value_parser = rate, required_unless_present = "in_flight")]
    rate: Option<u32>,

    /// Keep N requests waiting for their replies, as fast as the other side answers, instead of a rate
    #[arg(long, value_name = "N", conflicts_with = "rate", value_parser = clap::value_parser!(u32).range(1..))]
    in_flight: Option<u32>,

    /// How long
    #[arg(long = "for", value_name = "TIME")]
    duration: Period,

    /// Which requests
    #[arg(long, value_name = "NAME", default_value = "notify")]
    scenario: Scenario,

    /// Actions of each request in compact text, instead of a scenario
    #[arg(long, value_name = "ACTIONS", conflicts_with = "scenario")]
    text: Option<String>,

    /// Gateways that share the load, each with a thread; a number is added to the message identifier of further ones
    #[arg(short, long, value_name = "COUNT", default_value = "1", conflicts_with = "listen")]
    jobs: NonZeroU32,

    #[command(flatten)]
    engine: EngineArgs,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Scenario {
    /// Notify of an event
    Notify,
    /// Add two terminations to a new context, one with a session description; then Subtract both
    Call,
    /// AuditValue of ROOT
    Audit,
}

fn rate(text: &str) -> Result<u32, &'static str> {
    let number = text.strip_suffix("/s").unwrap_or(text);
    number
        .parse()
        .ok()
        .filter(|&rate| rate > 0)
        .ok_or("expected a number of requests a second such as `1000/s`")
}

impl Load {
    pub fn run(&self) -> Outcome {
        runtime()?.block_on(async {
            let role = match &self.connect {
                Some(url) => Role::Gateway { urls: vec![url.clone()], mwd: Period::millis(0) },
                None => Role::Controller { listen: self.listen.clone() },
            };
            let (encoding, mid) = if self.connect.is_some() { ("compact", "mg") } else { ("auto", "mgc") };
            let jobs = self.jobs.get();
            let mut agents =
                Agent::team(&role, &self.engine, &self.engine.items(encoding)?, mid, jobs as usize)?;
            let message = match &self.text {
                Some(text) => format!("!/3 x T=1{{{text}}}"),
                None => self.scenario.message().to_owned(),
            };
            // It is read once: the actions borrow of it, and it is there as long as the process.
            let message: &'static str = message.leak();
            let actions = match request_actions(message) {
                Ok(actions) => actions,
                Err(error) => return Err(Failure::usage(format_args!("bad `--text`: {error}"))),
            };
            let ends_calls = self.text.is_none() && matches!(self.scenario, Scenario::Call);
            for (job, agent) in (0..jobs).zip(&mut agents) {
                let pace = match (self.rate, self.in_flight) {
                    (_, Some(count)) => Pace::InFlight(share(count, job, jobs)),
                    (rate, None) => Pace::Rate(share(rate.unwrap_or(1), job, jobs)),
                };
                agent.load(Generator::new(actions.clone(), pace, self.duration, ends_calls));
            }
            crew::run(agents).await
        })
    }
}

/// The part of a job.
const fn share(count: u32, job: u32, jobs: u32) -> u32 {
    count / jobs + if job < count % jobs { 1 } else { 0 }
}

/// When requests are made.
#[derive(Clone, Copy, Debug)]
enum Pace {
    /// So many a second.
    Rate(u32),
    /// As soon as fewer than these wait.
    InFlight(u32),
}

impl Scenario {
    /// The first message of a scenario.
    const fn message(self) -> &'static str {
        match self {
            Self::Notify => "!/1 x T=1{C=-{N=line1{OE=1{20250101T12000000:al/of}}}}",
            Self::Call => {
                "!/1 x T=1{C=${A=${M{O{MO=SR}}},A=${M{O{MO=RC},L{v=0\nc=IN IP4 $\nm=audio $ RTP/AVP 0\n}}}}}"
            }
            Self::Audit => "!/1 x T=1{C=-{AV=root{AT{PG}}}}",
        }
    }
}

/// Makes requests and measures their ends.
pub(super) struct Generator {
    actions: List<ActionRequest<'static>>,
    pace: Pace,
    duration: Duration,
    begin: Option<Time>,
    cpu_at_begin: Option<f64>,
    sent: u64,
    waiting: HashMap<RequestId, Time>,
    /// Microseconds from a request to its reply.
    latencies: Vec<u32>,
    failed: u64,
    /// Contexts of calls that have been set up.
    calls: VecDeque<u32>,
    /// Whether they are to be torn down.
    ends_calls: bool,
}

/// How long the last requests may take after the end; most timers of requests end before.
const DRAIN: Duration = Duration::from_secs(120);

impl Generator {
    fn new(actions: List<ActionRequest<'static>>, pace: Pace, duration: Period, ends_calls: bool) -> Self {
        let millis = duration.as_millis().unwrap_or(u32::MAX);
        Self {
            actions,
            pace,
            duration: Duration::from_millis(millis.into()),
            begin: None,
            cpu_at_begin: None,
            sent: 0,
            waiting: HashMap::new(),
            latencies: Vec::new(),
            failed: 0,
            calls: VecDeque::new(),
            ends_calls,
        }
    }

    /// How many requests are to be made now.
    pub(super) fn due(&mut self, now: Time) -> u64 {
        let begin = *self.begin.get_or_insert_with(|| {
            self.cpu_at_begin = cpu_seconds();
            now
        });
        let elapsed = now.since(begin);
        match self.pace {
            Pace::Rate(rate) => {
                let total = (elapsed.min(self.duration).as_secs_f64() * f64::from(rate)) as u64;
                total.saturating_sub(self.sent)
            }
            Pace::InFlight(_) if elapsed >= self.duration => 0,
            Pace::InFlight(count) => u64::from(count).saturating_sub(self.waiting.len() as u64),
        }
    }

    /// Whether a request may be due because another one has ended.
    pub(super) const fn refills(&self) -> bool {
        matches!(self.pace, Pace::InFlight(_)) && self.begin.is_some()
    }

    pub(super) fn actions(&mut self) -> List<ActionRequest<'static>> {
        match self.calls.pop_front() {
            None => self.actions.clone(),
            Some(context) => {
                let message = format!("!/1 x T=1{{C={context}{{S=*}}}}");
                request_actions(&message).map(IntoOwned::into_owned).unwrap_or_default()
            }
        }
    }

    pub(super) fn began(&mut self, request: RequestId, now: Time) {
        self.sent += 1;
        self.waiting.insert(request, now);
    }

    /// Takes the reply to a request; returns whether it is one of the load.
    pub(super) fn replied(&mut self, request: RequestId, now: Time, actions: &[ActionReply<'_>]) -> bool {
        let Some(began) = self.waiting.remove(&request) else { return false };
        if self.ends_calls {
            self.calls.extend(added(actions));
        }
        self.latencies.push(u32::try_from(now.since(began).as_micros()).unwrap_or(u32::MAX));
        true
    }

    /// Takes the end of a request without such a reply; returns whether it is one of the load.
    pub(super) fn ended(&mut self, request: RequestId, now: Time, outcome: &Ending) -> bool {
        let Some(began) = self.waiting.remove(&request) else { return false };
        match outcome {
            // In segments.
            Ending::Reply(_) => {
                self.latencies.push(u32::try_from(now.since(began).as_micros()).unwrap_or(u32::MAX));
            }
            _ => self.failed += 1,
        }
        true
    }

    pub(super) fn is_over(&self, now: Time) -> bool {
        let Some(begin) = self.begin else { return false };
        let elapsed = now.since(begin);
        elapsed >= self.duration && (self.waiting.is_empty() || elapsed >= self.duration + DRAIN)
    }

    pub(super) fn measured(self) -> Measured {
        Measured {
            begin: self.begin,
            cpu_at_begin: self.cpu_at_begin,
            sent: self.sent,
            waiting: self.waiting.len(),
            latencies: self.latencies,
            failed: self.failed,
        }
    }
}

/// What a job has measured.
pub(super) struct Measured {
    begin: Option<Time>,
    cpu_at_begin: Option<f64>,
    sent: u64,
    waiting: usize,
    latencies: Vec<u32>,
    failed: u64,
}

impl Measured {
    /// Adds what another job has measured.
    pub(super) fn merge(&mut self, other: Self) {
        // The processor time is that of the process: it counts from the first begin.
        if other.begin.is_some_and(|begin| self.begin.is_none_or(|own| begin < own)) {
            (self.begin, self.cpu_at_begin) = (other.begin, other.cpu_at_begin);
        }
        self.sent += other.sent;
        self.waiting += other.waiting;
        self.failed += other.failed;
        self.latencies.extend(other.latencies);
    }

    pub(super) fn report(mut self, now: Time, counters: &Counters) -> Value {
        let seconds = self.begin.map_or(0.0, |begin| now.since(begin).as_secs_f64());
        self.latencies.sort_unstable();
        let at = |share: f64| {
            let place = (self.latencies.len() as f64 * share) as usize;
            let micros = self.latencies.get(place.min(self.latencies.len().saturating_sub(1)));
            micros.map(|&micros| f64::from(micros) / 1000.0)
        };
        let cpu = match (self.cpu_at_begin, cpu_seconds()) {
            (Some(begin), Some(end)) if self.sent > 0 => Some((end - begin) * 1e6 / self.sent as f64),
            _ => None,
        };
        json!({
            "seconds": seconds,
            "requests": self.sent,
            "ok": self.latencies.len(),
            "failed": self.failed,
            "waiting": self.waiting,
            "tps": self.latencies.len() as f64 / seconds.max(0.001),
            "cpu_us": cpu,
            "p50_ms": at(0.5),
            "p99_ms": at(0.99),
            "max_ms": at(1.0),
            "resends": counters.timer_recovery,
        })
    }
}

/// The context to which terminations were added.
fn added(actions: &[ActionReply<'_>]) -> Option<u32> {
    let is_add = |reply: &CommandReply<'_>| matches!(reply, CommandReply::AddReply(_));
    let mut actions = actions.iter().filter(|action| action.command_reply.iter().any(is_add));
    actions.next().map(|action| action.context_id).filter(|&context| context < CONTEXT_CHOOSE)
}

/// Seconds of processor time of this process, where Linux reports it.
fn cpu_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program, in parentheses, may contain anything.
    let (_, rest) = text.rsplit_once(") ")?;
    let mut fields = rest.split(' ').skip(11);
    let mut ticks = || fields.next()?.parse::<f64>().ok();
    // Of which there are 100 in a second (USER_HZ).
    Some((ticks()? + ticks()?) / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenarios_are_requests() {
        for scenario in [Scenario::Notify, Scenario::Call, Scenario::Audit] {
            let actions = request_actions(scenario.message()).unwrap();
            let mut generator = Generator::new(actions, Pace::Rate(10), Period::millis(1000), false);
            assert_eq!(generator.actions().len(), 1, "{scenario:?}");
        }
        assert_eq!((rate("10/s"), rate("7")), (Ok(10), Ok(7)));
        assert!(rate("0/s").is_err() && rate("10/m").is_err());
    }

    #[test]
    fn requests_are_due_by_the_rate() {
        let actions = request_actions(Scenario::Audit.message()).unwrap();
        let mut generator = Generator::new(actions, Pace::Rate(100), Period::millis(500), false);
        assert_eq!(generator.due(Time::from_millis(1000)), 0);
        assert_eq!(generator.due(Time::from_millis(1100)), 10);
        assert_eq!(generator.due(Time::from_millis(9000)), 50);
        assert!(generator.is_over(Time::from_millis(1500)));
    }

    #[test]
    fn jobs_share_a_load() {
        for (count, jobs) in [(1000, 3), (7, 8), (1, 1)] {
            let shares: Vec<u32> = (0..jobs).map(|job| share(count, job, jobs)).collect();
            assert_eq!(shares.iter().sum::<u32>(), count, "{shares:?}");
            assert!(shares.iter().max().unwrap() - shares.iter().min().unwrap() <= 1, "{shares:?}");
        }
    }

    #[test]
    fn requests_follow_replies() {
        let actions = request_actions(Scenario::Audit.message()).unwrap();
        let mut generator = Generator::new(actions, Pace::InFlight(3), Period::millis(500), false);
        assert_eq!(generator.due(Time::from_millis(1000)), 3);
        assert!(generator.refills());
        assert_eq!(generator.due(Time::from_millis(1499)), 3);
        assert_eq!(generator.due(Time::from_millis(1500)), 0);
        assert!(generator.is_over(Time::from_millis(1500)));
    }
}
