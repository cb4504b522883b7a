//! How fast the engine is without a network: transactions of two engines that hand each other their messages, what of that is
//! reading and writing of messages, and the memory of live transactions.
//!
//! ```sh
//! cargo run --release -p tercet-megaco-engine --example throughput
//! ```
//!
//! With a number of transactions, there is nothing about memory: what a transaction costs is the difference of two runs. With
//! `--threads N` so many pairs of engines run beside each other, each on a thread of its own, and the rate of all is compared with
//! that of one.
#![expect(clippy::print_stdout, reason = "an example reports to its reader")]

use std::hint::black_box;
use std::sync::Barrier;
use std::time::Instant;

use tercet_megaco::List;
use tercet_megaco::codec::{Codec, Encoding};
use tercet_megaco::model::{ActionRequest, MessageBody, Transaction};
use tercet_megaco::text::{read_message, read_mid};
use tercet_megaco_engine::{
    Answers, Asked, Engine, Event, Handler, Items, Limits, Replied, ReplyOptions, RequestOptions, Route,
    Time, Transport, UserId,
};

const REQUEST: &[u8] = b"!/1 x T=1{C=-{N=line1{OE=1{20250101T12000000:al/of}}}}";

/// Counts replies.
struct Ended(u64);

impl Handler for Ended {
    fn request(&mut self, _: &mut Engine, _: Asked<'_, '_>) {}

    fn reply(&mut self, _: &mut Engine, replied: Replied<'_, '_>) -> bool {
        self.0 += replied.actions.len() as u64;
        true
    }
}

fn actions() -> List<ActionRequest<'static>> {
    let message = read_message(REQUEST).map(|message| message.mess.message_body);
    match message {
        Ok(MessageBody::Transactions(List::One(Transaction::TransactionRequest(request)))) => request.actions,
        _ => List::new(),
    }
}

fn engine(mid: &[u8], encoding: &str) -> Result<(Engine, UserId)> {
    let mut engine = Engine::new(1, Limits::default());
    let mut items = Items::default();
    items.set("encoding", encoding)?;
    items.max_requests = 2_000_000;
    items.max_replies = 2_000_000;
    let user = engine.add_user(read_mid(mid)?, items)?;
    Ok((engine, user))
}

fn route(port: u16) -> Route {
    Route { transport: Transport::Udp, link: 0, peer: ([192, 0, 2, 1], port).into() }
}

/// Bytes of memory that the process has, where Linux reports it.
fn resident() -> f64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    text.split(' ').nth(1).and_then(|pages| pages.parse::<f64>().ok()).unwrap_or(0.0) * 4096.0
}

/// Nanoseconds of processor time of this thread, where Linux reports them.
fn thread_nanos() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|nanos| nanos.parse().ok()).unwrap_or(f64::NAN)
}

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Seconds of a thread for its transactions, by the clock and of its processor.
struct Spent {
    wall: f64,
    processor: f64,
    /// The messages of the first transaction.
    messages: Vec<Vec<u8>>,
}

/// Runs transactions between two engines.
fn transactions(encoding: &str, count: u64, start: &Barrier) -> Result<Spent> {
    // What a gateway reports is its own matter: the actions are copied, not read each time.
    let actions = actions();
    let (mut mg, mg_user) = engine(b"mg", encoding)?;
    let (mut mgc, mgc_user) = engine(b"mgc", encoding)?;
    let mut answers = Answers::new(3, 1);
    let conn = mg.connect(Time::default(), mg_user, Some(read_mid(b"mgc")?), route(1))?;
    let mut ended = Ended(0);
    let mut messages = Vec::new();
    start.wait();
    let (begin, nanos) = (Instant::now(), thread_nanos());
    for number in 0..count {
        // A hundred thousand transactions a second, so that the reply timers of 30 s never run out at once.
        let now = Time::from_micros(number * 10);
        mg.request(now, conn, [actions.clone()], &RequestOptions::default())?;
        while let Some(transmit) = mg.poll_transmit() {
            messages.extend((number == 0).then(|| transmit.octets.to_vec()));
            let mut answered = Ok(());
            mgc.handle_input_with(now, mgc_user, route(2), &transmit.octets, |mgc, asked| {
                let result = answers.answer(asked.actions);
                answered = mgc.reply(now, asked.token, result, &ReplyOptions::default());
            });
            answered?;
        }
        while mgc.poll_event().is_some() {}
        while let Some(transmit) = mgc.poll_transmit() {
            messages.extend((number == 0).then(|| transmit.octets.to_vec()));
            mg.handle_input_by(now, mg_user, route(1), &transmit.octets, &mut ended);
        }
        while mg.poll_event().is_some() {}
        if number % 1000 == 0 {
            mg.handle_timeout(now);
            mgc.handle_timeout(now);
        }
    }
    let (wall, processor) = (begin.elapsed().as_secs_f64(), (thread_nanos() - nanos) / 1e9);
    let spent = Spent { wall, processor, messages };
    if ended.0 == count { Ok(spent) } else { Err("not all transactions ended".into()) }
}

/// Seconds of the processor that reading and writing the messages of transactions takes, each as often as the engines do.
fn codecs(encoding: &str, messages: &[Vec<u8>], count: u64) -> Result<f64> {
    let encoding = Encoding::named(encoding).ok_or("no such encoding")?;
    let mut out = Vec::new();
    let nanos = thread_nanos();
    for _ in 0..count {
        for octets in messages {
            out.clear();
            encoding.encode(&encoding.decode(black_box(octets))?, &mut out)?;
            black_box(&out);
        }
    }
    Ok((thread_nanos() - nanos) / 1e9)
}

/// Runs transactions on threads. Returns what each has spent.
fn on_threads(threads: usize, encoding: &str, count: u64) -> Result<Vec<Spent>> {
    let start = Barrier::new(threads);
    std::thread::scope(|scope| {
        let start = &start;
        let running: Vec<_> =
            (0..threads).map(|_| scope.spawn(move || transactions(encoding, count, start))).collect();
        running.into_iter().map(|thread| thread.join().map_err(|_| "a thread failed")?).collect()
    })
}

/// Transactions a second: by the clock, and those that the processors would do that had nothing else to do.
fn rates(spent: &[Spent], count: u64) -> (f64, f64) {
    let longest = spent.iter().map(|spent| spent.wall).fold(0.0, f64::max);
    let of_processors = spent.iter().map(|spent| count as f64 / spent.processor).sum();
    (spent.len() as f64 * count as f64 / longest, of_processors)
}

fn main() -> Result<()> {
    let mut words = std::env::args().skip(1).peekable();
    let given = words.next_if(|word| word != "--threads").map(|count| count.parse()).transpose()?;
    let count = given.unwrap_or(500_000_u64);
    let threads = match words.next() {
        None => 1,
        Some(_) => words.next().ok_or("how many threads?")?.parse()?,
    };
    for encoding in ["compact", "ber"] {
        let spent = on_threads(1, encoding, count)?;
        let (alone, of_processor) = rates(&spent, count);
        println!(
            "{encoding}: {:.2} us a transaction on both sides with codecs, {alone:.0} a second, {of_processor:.0} a second of \
             processor time",
            1e6 / alone
        );
        let of_codecs = codecs(encoding, &spent[0].messages, count)?;
        let of_engines = spent[0].processor - of_codecs;
        println!(
            "{encoding}: {:.2} us of it in codecs; {:.0} a second of processor time without them",
            1e6 * of_codecs / count as f64,
            count as f64 / of_engines
        );
        if threads > 1 {
            let (together, of_processors) = rates(&on_threads(threads, encoding, count)?, count);
            println!(
                "{encoding}: {together:.0} a second on {threads} threads, {:.2} times those of one; {:.2} times by processor time",
                together / alone,
                of_processors / of_processor
            );
        }
    }

    if std::env::args().len() > 1 {
        // For a profiler, which counts instructions of transactions alone.
        return Ok(());
    }
    let actions = actions();
    let before = resident();
    let (mut mg, user) = engine(b"mg", "compact")?;
    let conn = mg.connect(Time::default(), user, Some(read_mid(b"mgc")?), route(1))?;
    for _ in 0..1_000_000 {
        mg.request(Time::default(), conn, [actions.clone()], &RequestOptions::default())?;
        while mg.poll_transmit().is_some() {}
    }
    println!("a live request: {:.0} bytes", (resident() - before) / 1e6);
    let before = resident();
    let (mut mgc, user) = engine(b"mgc", "compact")?;
    let mut answers = Answers::new(3, 1);
    for id in 1..=1_000_000_u32 {
        let message = format!("!/1 mg T={id}{{C=-{{N=line1{{OE=1{{al/of}}}}}}}}");
        mgc.handle_input(Time::default(), user, route(2), message.as_bytes());
        while let Some(event) = mgc.poll_event() {
            let Event::Requests { message, requests, .. } = event else { continue };
            let transactions = message.transactions();
            if let Some(Transaction::TransactionRequest(request)) = transactions.first() {
                let result = answers.answer(&request.actions);
                mgc.reply(Time::default(), requests[0].token, result, &ReplyOptions::default())?;
            }
        }
        while mgc.poll_transmit().is_some() {}
    }
    println!("a remembered reply: {:.0} bytes", (resident() - before) / 1e6);
    Ok(())
}
