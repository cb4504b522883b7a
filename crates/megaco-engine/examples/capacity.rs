//! The memory of a controller with many gateways and many transactions that have not ended.
//!
//! ```sh
//! cargo run --release -p tercet-megaco-engine --example capacity
//! ```
//!
//! Gateways register, the controller sends requests to all of them, and they send requests that are executed meanwhile. Then all
//! are answered, and what is remembered of them is forgotten by its timers. Numbers of gateways and of transactions of each in
//! either direction may be given: `capacity 100000 10`.
#![expect(clippy::print_stdout, reason = "an example reports to its reader")]

use std::error::Error;
use std::net::Ipv4Addr;

use tercet_megaco::List;
use tercet_megaco::model::{ActionRequest, MessageBody, Transaction};
use tercet_megaco::text::{read_message, read_mid};
use tercet_megaco_engine::{
    Answers, Asked, ConnId, Engine, Handler, Items, Limits, Replied, ReplyOptions, RequestOptions, Route,
    Time, Token, Transport, UserId,
};

/// What the controller asks of each gateway.
const AUDIT: &str = "C=-{AV=root{AT{PG}}}";
/// What each gateway tells it.
const NOTIFY: &str = "C=-{N=line1{OE=1{20250101T12000000:al/of}}}";

/// Answers registrations at once, keeps other requests, and counts replies.
struct Controller {
    answers: Answers,
    registers: bool,
    executing: Vec<Token>,
    replies: usize,
}

impl Handler for Controller {
    fn request(&mut self, engine: &mut Engine, asked: Asked<'_, '_>) {
        if !self.registers {
            return self.executing.push(asked.token);
        }
        let result = self.answers.answer(asked.actions);
        let now = engine.now();
        _ = engine.reply(now, asked.token, result, &ReplyOptions::default());
    }

    fn reply(&mut self, _: &mut Engine, _: Replied<'_, '_>) -> bool {
        self.replies += 1;
        true
    }
}

/// The requests of a message.
fn actions<'a>(message: &'a str) -> Result<List<ActionRequest<'a>>, Box<dyn Error>> {
    match read_message(message.as_bytes())?.mess.message_body {
        MessageBody::Transactions(List::One(Transaction::TransactionRequest(request))) => Ok(request.actions),
        _ => Err("not a request".into()),
    }
}

/// The way to a gateway, each at an address of its own.
fn route(gateway: u32) -> Route {
    let address = Ipv4Addr::from(u32::from(Ipv4Addr::new(10, 0, 0, 1)) + gateway);
    Route { transport: Transport::Udp, link: 0, peer: (address, 2944).into() }
}

/// Megabytes of memory that the process has, where Linux reports it.
fn megabytes() -> f64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    text.split(' ').nth(1).and_then(|pages| pages.parse::<f64>().ok()).unwrap_or(0.0) * 4096.0 / 1e6
}

struct World {
    engine: Engine,
    user: UserId,
    controller: Controller,
    sent: usize,
}

impl World {
    /// A message of a gateway arrives.
    fn arrives(&mut self, now: Time, gateway: u32, transaction: &str) {
        let message = format!("!/1 <gw{gateway}.example.net> {transaction}");
        self.engine.handle_input_by(now, self.user, route(gateway), message.as_bytes(), &mut self.controller);
        self.settle(now);
    }

    /// Takes what is sent and what happened.
    fn settle(&mut self, now: Time) {
        self.engine.deliver(now, &mut self.controller);
        while self.engine.poll_transmit().is_some() {
            self.sent += 1;
        }
    }

    fn report(&self, what: &str) {
        let gauges = self.engine.gauges();
        let (waiting, executed) = (gauges.requests, gauges.replies);
        println!(
            "{what}: {} connections, {waiting} requests wait, {executed} of gateways; {:.0} MB",
            gauges.connections,
            megabytes()
        );
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut numbers = std::env::args().skip(1).map(|number| number.parse::<u32>());
    let gateways = numbers.next().transpose()?.unwrap_or(100_000);
    let each = numbers.next().transpose()?.unwrap_or(10);
    let mut engine = Engine::new(1, Limits { connections: gateways as usize, ..Limits::default() });
    let mut items = Items::default();
    items.set("encoding", "compact")?;
    let user = engine.add_user(read_mid(b"<mgc>")?, items)?;
    let controller =
        Controller { answers: Answers::new(3, 0), registers: true, executing: Vec::new(), replies: 0 };
    let mut world = World { engine, user, controller, sent: 0 };
    world.report("start");

    let now = Time::from_millis(1);
    for gateway in 0..gateways {
        world.arrives(now, gateway, "T=1{C=-{SC=ROOT{SV{MT=RS,RE=\"901\"}}}}");
    }
    world.report("registered");
    // The replies to the registrations are forgotten.
    let now = Time::from_millis(60_000);
    world.engine.handle_timeout(now);
    world.report("idle");

    let audit = format!("!/1 x T=1{{{AUDIT}}}");
    let conns: Vec<ConnId> = world.engine.connections().collect();
    for _ in 0..each {
        for &conn in &conns {
            world.engine.request(now, conn, [actions(&audit)?], &RequestOptions::default())?;
            world.settle(now);
        }
    }
    world.report("requests of the controller");
    world.controller.registers = false;
    for id in 2..2 + each {
        for gateway in 0..gateways {
            world.arrives(now, gateway, &format!("T={id}{{{NOTIFY}}}"));
        }
    }
    world.report("requests of the gateways too");
    let live = 2 * gateways as usize * each as usize;
    let most = megabytes();

    let notify = format!("!/1 x T=1{{{NOTIFY}}}");
    let notify = actions(&notify)?;
    for token in std::mem::take(&mut world.controller.executing) {
        let result = world.controller.answers.answer(&notify);
        world.engine.reply(now, token, result, &ReplyOptions::default())?;
        world.settle(now);
    }
    // Those of the controller have consecutive ids, one gateway after the other.
    let mut id = 0;
    for _ in 0..each {
        for &conn in &conns {
            id += 1;
            let mid = world.engine.remote_mid(conn).ok_or("a connection is gone")?;
            let gateway: u32 = mid.trim_start_matches("<gw").split('.').next().unwrap_or("").parse()?;
            world.arrives(now, gateway, &format!("P={id}{{C=-{{AV=root{{PG{{root-2}}}}}}}}"));
        }
    }
    world.report("answered");
    let now = Time::from_millis(120_000);
    world.engine.handle_timeout(now);
    world.settle(now);
    world.report("forgotten");
    let gauges = world.engine.gauges();
    if world.controller.replies * 2 != live || gauges.requests + gauges.replies != 0 {
        return Err("not all transactions ended".into());
    }
    println!("{live} live transactions on {gateways} connections: {most:.0} MB");
    Ok(())
}
