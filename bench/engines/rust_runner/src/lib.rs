//! The runner protocol (see `../python_runner.py`) for code that is generated in Rust.
//!
//! Values of such code have no text that could be compared: what it decoded is told by what it encodes of it. Records
//! stay as long as the process, so that values may borrow from them; a value is dropped within the measured time. The
//! type is the argument of the program, which [`root`] gives.

use cpu_time::ThreadTime;
use std::collections::HashMap;
use std::fmt::Display;
use std::hint::black_box;
use std::io::{BufRead, Write};

/// Reads commands until there are no more.
pub fn main<T, E: Display>(
    name: &str,
    decode: impl Fn(&'static [u8]) -> Result<T, E>,
    encode: impl Fn(&T, &mut Vec<u8>) -> Result<(), E>,
) {
    main_with(name, decode, encode, &mut []);
}

/// A work by its name: what is done with a record, and whether it succeeds.
pub type Work<'w> = (&'w str, &'w mut dyn FnMut(&'static [u8]) -> bool);

/// Reads commands until there are no more, for an engine with works beside decoding and encoding.
pub fn main_with<T, E: Display>(
    name: &str,
    decode: impl Fn(&'static [u8]) -> Result<T, E>,
    encode: impl Fn(&T, &mut Vec<u8>) -> Result<(), E>,
    more: &mut [Work<'_>],
) {
    let mut lines = std::io::stdin().lock().lines().map_while(Result::ok);
    let mut config = HashMap::new();
    for line in lines.by_ref() {
        if line == "go" {
            break;
        }
        let (key, value) = line.split_once(' ').unwrap_or((&line, ""));
        config.insert(key.to_owned(), value.to_owned());
    }
    let get = |key: &str| config.get(key).map_or("", String::as_str);
    let operation = get("op");
    let mut other = more.iter_mut().find(|(name, _)| *name == operation);
    if other.is_none() && !["decode", "encode"].contains(&operation) {
        return refuse(&format!("no operation {operation}"));
    }
    let records = match read(get("records"), get("limit").parse().unwrap_or(0)) {
        Ok(records) => &*records.leak(),
        Err(error) => return refuse(&error),
    };
    // Plain loops: each iterator over values would have the compiler make what frees them once more.
    let mut values = Vec::new();
    for record in records {
        match decode(record) {
            Ok(value) => values.push(value),
            Err(error) => return refuse(&format!("cannot decode: {error}")),
        }
        if let Some((name, work)) = &mut other
            && !work(record)
        {
            return refuse(&format!("cannot {name}"));
        }
    }
    answer(&format!("{{\"ready\": true, \"name\": \"{name}\", \"records\": {}}}", records.len()));
    let octets: usize = records.iter().map(Vec::len).sum();
    let mut out = Vec::new();
    let mut pass = || {
        if let Some((_, work)) = &mut other {
            for record in records {
                black_box(work(record));
            }
        } else if operation == "decode" {
            for record in records {
                if let Ok(value) = decode(record) {
                    black_box(&value);
                }
            }
        } else {
            for value in &values {
                out.clear();
                black_box(encode(value, &mut out).is_ok());
                black_box(&out);
            }
        }
    };
    for line in lines {
        let (word, argument) = line.split_once(' ').unwrap_or((&line, ""));
        match word {
            "run" => {
                let limit: f64 = argument.parse().unwrap_or(0.1);
                let start = ThreadTime::now();
                let mut passes = 0;
                let spent = loop {
                    pass();
                    passes += 1;
                    let spent = start.elapsed();
                    if spent.as_secs_f64() >= limit {
                        break spent;
                    }
                };
                answer(&format!(
                    "{{\"records\": {}, \"octets\": {}, \"ns\": {}}}",
                    passes * records.len(),
                    passes * octets,
                    spent.as_nanos()
                ));
            }
            // So many passes and no clock, for a profiler that counts.
            "passes" => {
                for _ in 0..argument.parse().unwrap_or(1) {
                    pass();
                }
                answer("{}");
            }
            "dump" => {
                let count: usize = argument.parse().unwrap_or(1);
                for value in &values[..count.min(values.len())] {
                    let mut octets = Vec::new();
                    if encode(value, &mut octets).is_err() {
                        octets.clear();
                    }
                    let digits: String = octets.iter().map(|octet| format!("{octet:02x}")).collect();
                    answer(&format!("{{\"hex\": \"{digits}\"}}"));
                }
                answer("{\"end\": true}");
            }
            _ => return,
        }
    }
}

/// The type of the records: the first argument of the program.
pub fn root() -> String {
    std::env::args().nth(1).unwrap_or_default()
}

/// Says that there is no code for a type.
pub fn no_root() {
    refuse("no code for the type");
}

/// Records, each after a length of four octets.
fn read(path: &str, limit: usize) -> Result<Vec<Vec<u8>>, String> {
    let data = std::fs::read(path).map_err(|e| format!("{path}: {e}"))?;
    let mut rest = data.as_slice();
    let mut records = Vec::new();
    while let Some((length, behind)) = rest.split_first_chunk::<4>()
        && (limit == 0 || records.len() < limit)
    {
        let length = u32::from_be_bytes(*length) as usize;
        let (record, behind) = behind.split_at_checked(length).ok_or("the last record is cut short")?;
        records.push(record.to_vec());
        rest = behind;
    }
    Ok(records)
}

fn refuse(error: &str) {
    let plain: String =
        error.chars().map(|c| if c.is_control() || c == '"' || c == '\\' { ' ' } else { c }).collect();
    answer(&format!("{{\"ready\": false, \"error\": \"{plain}\"}}"));
}

fn answer(line: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{line}");
    let _ = out.flush();
}
