//! `tercet megaco mgc`, `mg` and `load`: controllers and gateways over the engine.

mod control;
mod crew;
mod desk;
pub(super) mod events;
mod gateway;
mod jobs;
mod load;
mod metrics;
mod options;
pub(super) mod record;
mod registering;
mod run;
mod team;

use crate::exit::{Failure, Outcome};
use clap::Args;
use options::EngineArgs;
use run::{Agent, Role};
use std::num::NonZeroUsize;
use tercet_megaco_engine::Period;
use tercet_megaco_engine::driver::Url;

pub use load::Load;

/// Run a media gateway controller: it accepts registrations and answers every request
#[derive(Args, Debug)]
#[command(after_help = "\
Prints what happens as JSON, one event a line. Reads commands on standard input, one a line: request, stats, cancel,
disconnect, quit. SIGTERM ends it after a last event `stats`.

Example:
  tercet megaco mgc --listen udp://127.0.0.1:2944 --listen tcp://127.0.0.1:2944")]
pub struct Mgc {
    /// Where to listen: udp://HOST:PORT, tcp://HOST:PORT, tls://HOST:PORT or sctp://HOST:PORT; port 0 takes any. SCTP goes over
    /// UDP, at port 9899 or, with `?udp=PORT` at the end of the URL, at another one
    #[arg(long, value_name = "URL", required = true)]
    listen: Vec<Url>,

    /// Answer requests of gateways that are not registered with error 504
    #[arg(long, conflicts_with = "auto_register")]
    require_registration: bool,

    /// Accept requests of gateways that are not registered (the default)
    #[arg(long)]
    auto_register: bool,

    /// Threads, each with some of the gateways; events of different threads may be out of order
    #[arg(short, long, value_name = "COUNT", default_value = "1")]
    jobs: NonZeroUsize,

    #[command(flatten)]
    engine: EngineArgs,
}

/// Run a media gateway: it registers with a controller and answers its requests
#[derive(Args, Debug)]
#[command(after_help = "\
Prints what happens as JSON, one event a line. Reads commands on standard input, one a line: request, stats, cancel,
disconnect, quit. SIGTERM ends it after a last event `stats`.

Example:
  tercet megaco mg --connect udp://127.0.0.1:2944 --mgc udp://127.0.0.2:2944")]
pub struct Mg {
    /// The controller to register with
    #[arg(long, value_name = "URL")]
    connect: Url,

    /// Further controllers, in the order in which they are tried
    #[arg(long, value_name = "URL")]
    mgc: Vec<Url>,

    /// Longest random wait before the first registration (MWD)
    #[arg(long, value_name = "TIME", default_value = "0")]
    mwd: Period,

    #[command(flatten)]
    engine: EngineArgs,
}

impl Mgc {
    pub fn run(&self) -> Outcome {
        let mut items = self.engine.items("auto")?;
        if self.require_registration {
            items.set("connect_by", "registration").map_err(Failure::usage)?;
        }
        runtime()?.block_on(async {
            let role = Role::Controller { listen: self.listen.clone() };
            crew::run(Agent::team(&role, &self.engine, &items, "mgc", self.jobs.get())?).await
        })
    }
}

impl Mg {
    pub fn run(&self) -> Outcome {
        let items = self.engine.items("pretty")?;
        let mut urls = vec![self.connect.clone()];
        urls.extend(self.mgc.iter().cloned());
        runtime()?.block_on(async {
            let role = Role::Gateway { urls, mwd: self.mwd };
            crew::run(Agent::team(&role, &self.engine, &items, "mg", 1)?).await
        })
    }
}

/// The runtime of a command.
fn runtime() -> Outcome<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?)
}
