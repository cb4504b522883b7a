//! The runner protocol (see `../python_runner.py`) for the plan engine.

mod work;

use std::collections::HashMap;
use std::io::{BufRead, Write};
use std::path::PathBuf;

use cpu_time::ThreadTime;
use serde_json::json;
use tercet::plan::Rules;
use tercet::{Schema, SchemaOptions};
use work::Work;

/// Reads commands until there are no more.
pub fn main() {
    let mut lines = std::io::stdin().lock().lines().map_while(Result::ok);
    let mut config = HashMap::new();
    for line in lines.by_ref() {
        if line == "go" {
            break;
        }
        let (key, value) = line.split_once(' ').unwrap_or((&line, ""));
        config.insert(key.to_owned(), value.to_owned());
    }
    let (mut work, records) = match prepare(&config) {
        Ok(ready) => ready,
        Err(error) => return answer(&json!({"ready": false, "error": error})),
    };
    let octets: usize = records.iter().map(Vec::len).sum();
    answer(&json!({
        "ready": true, "name": concat!("tercet ", env!("CARGO_PKG_VERSION")), "records": records.len()
    }));
    for line in lines {
        let (word, argument) = line.split_once(' ').unwrap_or((&line, ""));
        match word {
            "run" => {
                let limit: f64 = argument.parse().unwrap_or(0.1);
                let start = ThreadTime::now();
                let mut passes = 0;
                let spent = loop {
                    for i in 0..records.len() {
                        work.once(i, &records[i]);
                    }
                    passes += 1;
                    let spent = start.elapsed();
                    if spent.as_secs_f64() >= limit {
                        break spent;
                    }
                };
                answer(&json!({
                    "records": passes * records.len(), "octets": passes * octets, "ns": spent.as_nanos() as u64
                }));
            }
            // So many passes and no clock, for a profiler that counts.
            "passes" => {
                let count: usize = argument.parse().unwrap_or(1);
                for _ in 0..count {
                    for i in 0..records.len() {
                        work.once(i, &records[i]);
                    }
                }
                answer(&json!({}));
            }
            "dump" => {
                let count = argument.parse().unwrap_or(1).min(records.len());
                for (i, record) in records.iter().take(count).enumerate() {
                    answer(&work.dump(i, record));
                }
                answer(&json!({"end": true}));
            }
            "digest" => {
                let digest = work.digest(&records);
                answer(&json!({"digest": format!("{digest:016x}")}));
            }
            _ => return,
        }
    }
}

fn prepare(config: &HashMap<String, String>) -> Result<(Work, Vec<Vec<u8>>), String> {
    let get = |key: &str| config.get(key).ok_or_else(|| format!("{key} is missing"));
    let files: Vec<PathBuf> = get("schema")?.split('\t').map(PathBuf::from).collect();
    let schema = Schema::load(&files, &SchemaOptions::default()).map_err(|e| e.to_string())?;
    if schema.has_errors() {
        return Err(schema.render(false).chars().take(300).collect());
    }
    let name = format!("{}.{}", get("module")?, get("type")?);
    let rules = match config.get("rules").map_or("ber", String::as_str) {
        "ber" => Rules::Ber,
        "der" => Rules::Der,
        "aper" => Rules::Aper,
        "uper" => Rules::Uper,
        other => return Err(format!("no rules {other}")),
    };
    let plan = schema.plan(rules, &[&name]).map_err(|e| e.to_string())?;
    let node = plan.root(&name).ok_or("the plan has no such root")?;
    let limit = config.get("limit").and_then(|text| text.parse().ok()).unwrap_or(0);
    let records = read(get("records")?, limit)?;
    let work = Work::new(get("op")?, plan, rules, node, &records)?;
    Ok((work, records))
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
    if records.is_empty() { Err("no records".into()) } else { Ok(records) }
}

fn answer(answer: &serde_json::Value) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{answer}");
    let _ = out.flush();
}
