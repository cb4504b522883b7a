//! `tercet megaco meas` and `tercet megaco mstone`: how fast the codecs are.

use super::erlang::{self, Measured};
use super::{fault, inputs};
use crate::exit::{Exit, Failure, Outcome};
use crate::inputs::InputArgs;
use clap::Args;
use std::fmt::Write as _;
use std::hint::black_box;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tercet::records::Guard;
use tercet_megaco::codec::{Codec, Encoding};
use tercet_megaco::model::MegacoMessage;

/// Measure size and time of every encoding of some messages
#[derive(Args, Debug)]
#[command(after_help = "\
For each encoding: bytes a message, and microseconds a message to encode, to decode, and both; the unweighted mean over
the messages, the best of the rounds. Beside it is the same of Erlang's megaco application, and how many times longer
it takes, if Erlang is there: each of its configurations has a line, -flex with its scanner in C, -native without the
mapping of names, which ours does all the same.")]
pub struct Meas {
    #[command(flatten)]
    input: InputArgs,

    /// Milliseconds for each encoding and direction
    #[arg(long, value_name = "MS", default_value_t = 200)]
    time: u64,

    /// Measure without Erlang
    #[arg(long)]
    alone: bool,
}

/// Lines of the table: configurations of Erlang, and what ours is.
const LINES: &[(&str, &str)] = &[
    ("pretty", "pretty"),
    ("pretty-flex", "pretty"),
    ("compact", "compact"),
    ("compact-flex", "compact"),
    ("per", "per"),
    ("per-native", "per"),
    ("ber", "ber"),
    ("ber-native", "ber"),
    ("etf", "etf"),
    ("etf-mc", "etf-mc"),
    ("etf-zlib", "etf-zlib"),
    ("etf-mc-zlib", "etf-mc-zlib"),
    ("json", "json"),
];

/// Measure how many messages a second go through each codec on several threads
#[derive(Args, Debug)]
pub struct Mstone {
    #[command(flatten)]
    input: InputArgs,

    /// Milliseconds for each encoding and number of threads
    #[arg(long, value_name = "MS", default_value_t = 300)]
    time: u64,

    /// Most threads; by default as many as there are processors
    #[arg(long, value_name = "COUNT")]
    threads: Option<usize>,
}

fn read_all(input: &InputArgs) -> Outcome<Vec<(String, Vec<u8>)>> {
    inputs(input, &mut Guard::default())?
        .iter()
        .map(|(input, _)| Ok((input.shown(), input.read()?)))
        .collect()
}

fn decode_all(files: &[(String, Vec<u8>)]) -> Outcome<Vec<MegacoMessage<'_>>> {
    let decode = |(name, octets): &'_ (String, Vec<u8>)| -> Outcome<()> {
        Encoding::detect(octets)
            .decode(octets)
            .map(|_| ())
            .map_err(|error| Failure::input(fault(&error, octets, name.as_ref())))
    };
    files.iter().try_for_each(decode)?;
    Ok(files.iter().filter_map(|(_, octets)| Encoding::detect(octets).decode(octets).ok()).collect())
}

fn encode_all(messages: &[MegacoMessage<'_>], encoding: Encoding) -> Outcome<Vec<Vec<u8>>> {
    let encode = |message| {
        let mut out = Vec::new();
        encoding.encode(message, &mut out).map(|()| out).map_err(Failure::input)
    };
    messages.iter().map(encode).collect()
}

/// The best time of a round, in microseconds for each of `count`.
fn best(count: usize, time: Duration, mut round: impl FnMut()) -> f64 {
    let begin = Instant::now();
    let mut best = f64::INFINITY;
    while begin.elapsed() < time {
        let start = Instant::now();
        round();
        best = best.min(start.elapsed().as_secs_f64());
    }
    best * 1e6 / count as f64
}

impl Meas {
    pub fn run(&self) -> Outcome {
        let files = read_all(&self.input)?;
        let messages = decode_all(&files)?;
        let time = Duration::from_millis(self.time);
        let ours = |name: &str| -> Outcome<Measured> {
            measure(&messages, Encoding::named(name).unwrap_or(Encoding::Pretty), time)
        };
        let theirs = match self.alone {
            true => Vec::new(),
            false => {
                let terms = encode_all(&messages, Encoding::Etf { short: false, zlib: false })?;
                erlang::measure(&terms, time).unwrap_or_default()
            }
        };
        let mut table =
            format!("{:<12} {:>6} {:>8} {:>8} {:>8}", "encoding", "size", "encode", "decode", "total");
        if theirs.is_empty() {
            table.push('\n');
        } else {
            _ = writeln!(
                table,
                "   {:>6} {:>8} {:>8} {:>8}  {:>6}",
                "Erlang", "encode", "decode", "total", "times"
            );
        }
        let mut measured: Vec<(&str, Measured)> = Vec::new();
        for (line, name) in LINES {
            let beside = theirs.iter().find(|(other, _)| other == line).map(|(_, measured)| *measured);
            // A configuration that is Erlang's alone has a line beside Erlang's.
            if beside.is_none() && line != name {
                continue;
            }
            let ours = match measured.iter().find(|(known, _)| known == name) {
                Some((_, known)) => *known,
                None => ours(name)?,
            };
            measured.push((name, ours));
            let total = ours.encode + ours.decode;
            _ = write!(
                table,
                "{line:<12} {:>6.0} {:>8.3} {:>8.3} {total:>8.3}",
                ours.size, ours.encode, ours.decode
            );
            if let Some(theirs) = beside {
                let sum = theirs.encode + theirs.decode;
                _ = write!(
                    table,
                    "   {:>6.0} {:>8.3} {:>8.3} {sum:>8.3}  {:>6.1}",
                    theirs.size,
                    theirs.encode,
                    theirs.decode,
                    sum / total
                );
            }
            table.push('\n');
        }
        io::stdout().write_all(table.as_bytes()).map_err(|error| Failure::io("<stdout>", &error))?;
        Ok(Exit::Good)
    }
}

fn measure(messages: &[MegacoMessage<'_>], encoding: Encoding, time: Duration) -> Outcome<Measured> {
    let encoded = encode_all(messages, encoding)?;
    let count = messages.len();
    let mut out = Vec::with_capacity(1 << 16);
    let encode = best(count, time, || {
        for message in messages {
            out.clear();
            _ = black_box(encoding.encode(message, &mut out));
        }
    });
    let decode = best(count, time, || {
        for octets in &encoded {
            _ = black_box(encoding.decode(octets));
        }
    });
    let size = encoded.iter().map(Vec::len).sum::<usize>() as f64 / count as f64;
    Ok(Measured { size, encode, decode })
}

impl Mstone {
    pub fn run(&self) -> Outcome {
        let files = read_all(&self.input)?;
        let messages = decode_all(&files)?;
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let most = self.threads.unwrap_or(processors).max(1);
        let mut table = format!("{:<12}", "encoding");
        for threads in 1..=most {
            _ = write!(table, " {threads:>9}");
        }
        table.push_str("  scaling\n");
        for &(name, encoding) in Encoding::ALL {
            let encoded = encode_all(&messages, encoding)?;
            let rates: Vec<f64> = (1..=most).map(|threads| self.rate(encoding, &encoded, threads)).collect();
            _ = write!(table, "{name:<12}");
            for rate in &rates {
                _ = write!(table, " {rate:>9.0}");
            }
            _ = writeln!(table, " {:>8.2}", rates.last().unwrap_or(&0.0) / rates.first().unwrap_or(&1.0));
        }
        io::stdout().write_all(table.as_bytes()).map_err(|error| Failure::io("<stdout>", &error))?;
        Ok(Exit::Good)
    }

    /// Messages decoded and encoded again a second.
    fn rate(&self, encoding: Encoding, encoded: &[Vec<u8>], threads: usize) -> f64 {
        let stop = AtomicBool::new(false);
        let begin = Instant::now();
        let total: usize = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads)
                .map(|_| {
                    scope.spawn(|| {
                        let mut done = 0;
                        let mut out = Vec::with_capacity(1 << 16);
                        while !stop.load(Ordering::Relaxed) {
                            for octets in encoded {
                                out.clear();
                                if let Ok(message) = encoding.decode(octets) {
                                    _ = black_box(encoding.encode(&message, &mut out));
                                    done += 1;
                                }
                            }
                        }
                        done
                    })
                })
                .collect();
            std::thread::sleep(Duration::from_millis(self.time));
            stop.store(true, Ordering::Relaxed);
            workers.into_iter().map(|worker| worker.join().unwrap_or(0)).sum()
        });
        total as f64 / begin.elapsed().as_secs_f64()
    }
}
