//! The jobs of a command: the first one reads standard input and writes what they count, the others run beside it, each in a thread.

use super::control::{self, Control};
use super::events;
use super::load::{Generator, Measured};
use super::metrics::{self, Scrape};
use super::run::Agent;
use super::runtime;
use crate::exit::{Exit, Failure, Outcome};
use serde_json::json;
use std::sync::atomic::Ordering;
use std::thread;
use tercet_megaco::text::read_mid;
use tercet_megaco_engine::driver::Url;
use tercet_megaco_engine::{Counters, Engine, Gauges, Latencies};
use tokio::sync::{mpsc, oneshot};

/// What engines have counted.
#[derive(Default)]
pub(super) struct Totals {
    pub(super) counters: Counters,
    pub(super) gauges: Gauges,
    pub(super) latencies: Latencies,
}

impl Totals {
    pub(super) fn of(engine: &Engine) -> Self {
        Self { counters: *engine.counters(), gauges: engine.gauges(), latencies: engine.latencies().clone() }
    }

    fn merge(&mut self, other: &Self) {
        self.counters.merge(&other.counters);
        self.gauges.merge(&other.gauges);
        self.latencies.merge(&other.latencies);
    }
}

/// What the first job asks another one for.
pub(super) enum Order {
    Control(Control),
    Totals(oneshot::Sender<Totals>),
    Quit,
}

/// What a job leaves when it ends.
pub(super) struct Left {
    pub(super) totals: Totals,
    pub(super) measured: Option<Measured>,
}

/// What a job reports to the first one.
pub(super) enum Report {
    Listening,
    Ended(Outcome<Box<Left>>),
}

/// The jobs beside the first one.
pub(super) struct Crew {
    orders: Vec<mpsc::Sender<Order>>,
    reports: mpsc::Receiver<Report>,
    running: usize,
    /// What those that have ended have left.
    left: Vec<Left>,
}

/// Orders that wait for a job.
const ORDERS: usize = 1024;

impl Crew {
    /// Starts jobs and waits until they listen too.
    pub(super) async fn start(agents: Vec<Agent>, urls: &[Url]) -> Outcome<Self> {
        let (reporter, reports) = mpsc::channel(agents.len().max(1));
        let running = agents.len();
        let mut crew = Self { orders: Vec::new(), reports, running, left: Vec::new() };
        for agent in agents {
            let (sender, orders) = mpsc::channel(ORDERS);
            let (urls, reporter) = (urls.to_vec(), reporter.clone());
            crew.orders.push(sender);
            thread::Builder::new().name("job".to_owned()).spawn(move || {
                let left =
                    runtime().and_then(|runtime| runtime.block_on(agent.assist(urls, orders, &reporter)));
                // The first job may have ended by a failure of its own.
                _ = reporter.blocking_send(Report::Ended(left.map(Box::new)));
            })?;
        }
        for _ in 0..running {
            match crew.reports.recv().await {
                Some(Report::Listening) | None => {}
                Some(Report::Ended(left)) => crew.ended(left)?,
            }
        }
        Ok(crew)
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.orders.is_empty()
    }

    /// Waits for the failure of a job. Those that end well leave what they have counted.
    pub(super) async fn failure(&mut self) -> Failure {
        loop {
            if let Err(failure) = self.next_end().await {
                return failure;
            }
        }
    }

    /// Waits for the end of a job; for ever if none runs.
    async fn next_end(&mut self) -> Outcome<()> {
        if self.running == 0 {
            return std::future::pending().await;
        }
        match self.reports.recv().await {
            Some(Report::Ended(left)) => self.ended(left),
            Some(Report::Listening) => Ok(()),
            // They send their report last, unless they panic.
            None => Err(Failure::input("a job has ended without a report")),
        }
    }

    fn ended(&mut self, left: Outcome<Box<Left>>) -> Outcome<()> {
        self.running -= 1;
        self.left.push(*left?);
        Ok(())
    }

    /// Hands a command to a job. The first one has number 0 and is not of the crew.
    pub(super) async fn order(&self, job: usize, control: Control) {
        if let Some(orders) = job.checked_sub(1).and_then(|job| self.orders.get(job)) {
            // One that has ended needs none.
            _ = orders.send(Order::Control(control)).await;
        }
    }

    /// Adds what all jobs have counted to the counts of the first one.
    pub(super) async fn totals(&self, engine: &Engine) -> Totals {
        let mut totals = Totals::of(engine);
        for orders in &self.orders {
            let (answer, counted) = oneshot::channel();
            if orders.send(Order::Totals(answer)).await.is_ok()
                && let Ok(more) = counted.await
            {
                totals.merge(&more);
            }
        }
        for left in &self.left {
            totals.merge(&left.totals);
        }
        totals
    }

    /// Waits until all jobs have ended, of their own accord or because it is asked for.
    pub(super) async fn end(&mut self, asks: bool) -> Outcome<()> {
        if asks {
            for orders in &self.orders {
                _ = orders.send(Order::Quit).await;
            }
        }
        while self.running > 0 {
            self.next_end().await?;
        }
        Ok(())
    }

    /// What jobs have measured that have ended.
    pub(super) fn take_measured(&mut self) -> Vec<Measured> {
        self.left.iter_mut().filter_map(|left| left.measured.take()).collect()
    }
}

/// Runs the agents of a command.
pub(super) async fn run(mut agents: Vec<Agent>) -> Outcome {
    let others = agents.split_off(1);
    match agents.pop() {
        Some(first) => first.lead(others).await,
        None => Ok(Exit::Good),
    }
}

impl Agent {
    /// Runs as the first job: reads commands, and writes what all of them count.
    async fn lead(mut self, others: Vec<Self>) -> Outcome {
        let urls = self.listen(&self.listen.clone()).await?;
        let mut crew = Crew::start(others, &urls).await?;
        for url in urls {
            self.write("listening", json!({ "url": url.to_string() }))?;
        }
        self.begin();
        let mut control = control::listen()?;
        let mut listens = true;
        let mut is_asked_to_end = false;
        let mut scrapes = self.metrics().await?;
        loop {
            self.turn().await?;
            self.flush()?;
            if self.is_done {
                break;
            }
            let until = self.due();
            tokio::select! {
                () = self.driver.wait_with(until, &mut self.desk) => {}
                command = control.recv(), if listens => match command {
                    None => listens = false,
                    Some(Control::Stats) => {
                        let totals = crew.totals(&self.driver.engine).await;
                        self.write("stats", events::stats(&totals))?;
                    }
                    Some(command) => {
                        is_asked_to_end |= command == Control::Quit;
                        match self.job_of(&command, &crew) {
                            job if job == self.job => self.control(command).await?,
                            job => crew.order(job, command).await,
                        }
                    }
                },
                Some(scrape) = next(&mut scrapes) => {
                    let totals = crew.totals(&self.driver.engine).await;
                    // One who has gone needs no answer.
                    _ = scrape.send(metrics::text(&totals));
                }
                failure = crew.failure() => return Err(failure),
            }
        }
        self.send_gathered().await?;
        self.end_of(&mut crew, &mut control, is_asked_to_end).await?;
        let totals = crew.totals(&self.driver.engine).await;
        if let Some(generator) = self.desk.generator.take() {
            let mut measured = generator.measured();
            crew.take_measured().into_iter().for_each(|other| measured.merge(other));
            let report = measured.report(self.driver.now(), &totals.counters);
            self.write("report", report)?;
        }
        self.write("stats", events::stats(&totals))?;
        self.close().await?;
        Ok(Exit::Good)
    }

    /// Waits for the end of the other jobs. Those of a load end by themselves, unless a command says so before.
    async fn end_of(
        &mut self,
        crew: &mut Crew,
        control: &mut mpsc::Receiver<Control>,
        is_asked: bool,
    ) -> Outcome<()> {
        if is_asked || self.desk.generator.is_none() {
            return crew.end(true).await;
        }
        tokio::select! {
            ended = crew.end(false) => return ended,
            () = async { while control.recv().await.is_some_and(|command| command != Control::Quit) {} } => {}
        }
        crew.end(true).await
    }

    /// Runs as one of the other jobs.
    pub(super) async fn assist(
        mut self,
        urls: Vec<Url>,
        mut orders: mpsc::Receiver<Order>,
        reports: &mpsc::Sender<Report>,
    ) -> Outcome<Left> {
        self.listen(&urls).await?;
        // It fails only if the first job has ended; then there are no orders either.
        _ = reports.send(Report::Listening).await;
        self.begin();
        loop {
            self.turn().await?;
            self.flush()?;
            if self.is_done {
                break;
            }
            let until = self.due();
            tokio::select! {
                () = self.driver.wait_with(until, &mut self.desk) => {}
                order = orders.recv() => match order {
                    Some(Order::Control(command)) => self.control(command).await?,
                    // One who has gone needs no answer.
                    Some(Order::Totals(answer)) => _ = answer.send(Totals::of(&self.driver.engine)),
                    Some(Order::Quit) | None => self.is_done = true,
                },
            }
        }
        self.send_gathered().await?;
        let (totals, generator) = (Totals::of(&self.driver.engine), self.desk.generator.take());
        self.close().await?;
        Ok(Left { totals, measured: generator.map(Generator::measured) })
    }

    /// The job that a command is for: that of the peer that is named, or of the one that connected last.
    fn job_of(&self, command: &Control, crew: &Crew) -> usize {
        let remote_mid = match command {
            Control::Request { remote_mid, .. }
            | Control::Cancel { remote_mid }
            | Control::Disconnect { remote_mid }
                if !crew.is_empty() =>
            {
                remote_mid
            }
            _ => return self.job,
        };
        match remote_mid {
            None => self.latest.load(Ordering::Relaxed),
            Some(text) => {
                let mid = read_mid(text.as_bytes()).ok();
                mid.and_then(|mid| self.driver.owner(&mid)).unwrap_or(self.job)
            }
        }
    }

    /// Listens for scrapes of metrics, if they are asked for.
    async fn metrics(&mut self) -> Outcome<Option<mpsc::Receiver<Scrape>>> {
        let Some(address) = self.metrics else { return Ok(None) };
        let (local, scrapes) = metrics::listen(address).await?;
        // Not a way for messages; those who look for one take the first events.
        self.write("metrics", json!({ "url": format!("http://{local}/metrics") }))?;
        Ok(Some(scrapes))
    }
}

/// The next scrape; never comes if there are none.
async fn next(scrapes: &mut Option<mpsc::Receiver<Scrape>>) -> Option<Scrape> {
    match scrapes {
        Some(scrapes) => scrapes.recv().await,
        None => std::future::pending().await,
    }
}
