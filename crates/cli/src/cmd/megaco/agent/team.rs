//! The agents of a command, as its options say.

use super::desk::Desk;
use super::events::Events;
use super::gateway::{self, Answering};
use super::options::EngineArgs;
use super::record::Record;
use super::registering::Registration;
use super::run::{Agent, Role};
use crate::exit::{Failure, Outcome};
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tercet_megaco::Name;
use tercet_megaco::model::MId;
use tercet_megaco_engine::driver::{Driver, StreamLimits};
use tercet_megaco_engine::{Answers, Engine, Items, Limits, Random, UserId};

/// What a job has for itself, and what it shares with the others.
struct Part {
    job: usize,
    driver: Driver,
    user: UserId,
    seed: u64,
    events: Events,
    record: Arc<Mutex<Record>>,
    latest: Arc<AtomicUsize>,
}

impl Agent {
    /// The agents of a command, one for each job. Those of a controller are one entity, those of gateways have names of their own.
    pub(super) fn team(
        role: &Role,
        args: &EngineArgs,
        items: &Items,
        mid: &'static str,
        jobs: usize,
    ) -> Outcome<Vec<Self>> {
        args.guard()?;
        let seed = args.seed();
        let is_controller = matches!(role, Role::Controller { .. });
        let mut engines = Vec::new();
        for job in 0..jobs {
            let mut engine = Engine::new(seed.wrapping_add(job as u64), Limits::default());
            if let Some(binary) = args.registry()? {
                engine.set_registry(binary);
            }
            let mid = args.mid(mid)?;
            let mid = if is_controller { mid } else { numbered(mid, job) };
            let user = engine.add_user(mid, items.clone()).map_err(Failure::usage)?;
            engines.push((engine, user));
        }
        let (engines, users): (Vec<_>, Vec<_>) = engines.into_iter().unzip();
        let drivers = match engines.len() {
            2.. if is_controller => Driver::shards(engines),
            _ => engines.into_iter().map(Driver::new).collect(),
        };
        let events = Events::open(&args.events)?;
        let record = args.record()?;
        let notes_messages = args.trace || record.is_wanted();
        let record = Arc::new(Mutex::new(record));
        let latest = Arc::new(AtomicUsize::new(0));
        let mut agents = Vec::new();
        for (job, (mut driver, user)) in drivers.into_iter().zip(users).enumerate() {
            driver.set_stream_limits(StreamLimits {
                frame: args.idle_frame_timeout,
                ..StreamLimits::default()
            });
            driver.set_traces(notes_messages);
            let part = Part {
                job,
                driver,
                user,
                seed: seed.wrapping_add(job as u64),
                events: events.beside(),
                record: Arc::clone(&record),
                latest: Arc::clone(&latest),
            };
            agents.push(Self::new(role, args, items, part)?);
        }
        Ok(agents)
    }

    fn new(role: &Role, args: &EngineArgs, items: &Items, part: Part) -> Outcome<Self> {
        let (listen, registration, answers) = match role {
            Role::Controller { listen } => {
                let answers = Answers::new(items.max_version, args.terminations);
                (listen.clone(), None, Answering::Plausible(answers))
            }
            Role::Gateway { urls, mwd } => {
                let registration = Registration::new(urls.clone(), items.max_version, *mwd);
                let gateway = gateway::new(items.max_version, args.terminations);
                (Vec::new(), Some(registration), Answering::Gateway(Box::new(gateway)))
            }
        };
        let work = Duration::from_millis(args.work.as_millis().unwrap_or(u32::MAX).into());
        Ok(Self {
            driver: part.driver,
            user: part.user,
            events: part.events,
            record: part.record,
            traces: args.trace,
            metrics: args.metrics,
            desk: Desk {
                answers,
                generator: None,
                ack: args.ack_mode(),
                works: !work.is_zero(),
                max_version: items.max_version,
                waiting: None,
                is_open: registration.is_none(),
                happened: VecDeque::new(),
            },
            work,
            is_threaded: args.threaded,
            tls: args.tls()?,
            items: items.clone(),
            listen,
            registration,
            names: HashMap::new(),
            ended: HashMap::new(),
            last: None,
            current: None,
            jobs: BinaryHeap::new(),
            number: 0,
            random: Random::new(part.seed),
            held: Vec::new(),
            is_done: false,
            job: part.job,
            latest: part.latest,
        })
    }
}

/// The name of the gateway of a job: that of the first one is as it was given.
fn numbered(mid: MId<'_>, job: usize) -> MId<'_> {
    let with_number = |name: &[u8], sign: u8| {
        // Behind the first label of a domain.
        let end = name.iter().position(|&octet| octet == b'.').unwrap_or(name.len());
        let mut numbered = name[..end].to_vec();
        numbered.push(sign);
        numbered.extend((job + 1).to_string().bytes());
        numbered.extend(&name[end..]);
        Name::from(numbered)
    };
    let port = |port: Option<u16>| Some(port.unwrap_or(2944).wrapping_add(job as u16));
    match mid {
        mid if job == 0 => mid,
        MId::DomainName(mut domain) => {
            domain.name = with_number(&domain.name.0, b'-');
            MId::DomainName(domain)
        }
        MId::DeviceName(name) => MId::DeviceName(with_number(&name.0, b'_')),
        MId::Ip4Address(mut address) => {
            address.port_number = port(address.port_number);
            MId::Ip4Address(address)
        }
        MId::Ip6Address(mut address) => {
            address.port_number = port(address.port_number);
            MId::Ip6Address(address)
        }
        other => other,
    }
}
