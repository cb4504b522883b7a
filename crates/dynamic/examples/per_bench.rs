//! How fast PER decodes and encodes: `cargo run --release -p tercet-dynamic --example per_bench [name] [runs]`.
//!
//! Reads the corpora beside the repository; prints nanoseconds a record, of one core. With a number of runs, each record
//! is decoded so many times onto a tape (or encoded, with `encode` as third word) and nothing is measured: for a profiler.

#![expect(clippy::print_stdout, reason = "that is what it is for")]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tercet_dynamic::{Decoder, Discard, Encoder, NodeId, Options, Plan, Rules, Sink, Tape, json};

const INPUTS: [(&str, &str, &str, Rules); 11] = [
    ("nbap_rldel_var.per", "nbap", "NBAP-PDU", Rules::Aper),
    ("personnelA1_var.per", "personnelA1", "PersonnelRecord", Rules::Aper),
    ("personnelA1_var.uper", "personnelA1", "PersonnelRecord", Rules::Uper),
    ("personnelA2_var.per", "personnelA2", "PersonnelRecord", Rules::Aper),
    ("personnelA2_var.uper", "personnelA2", "PersonnelRecord", Rules::Uper),
    ("personnelA3_var.per", "personnelA3", "PersonnelRecord", Rules::Aper),
    ("personnelA3_var.uper", "personnelA3", "PersonnelRecord", Rules::Uper),
    ("ngap_ulnas_var.per", "ngap", "NGAP-PDU", Rules::Aper),
    ("ngap_ics_var.per", "ngap", "NGAP-PDU", Rules::Aper),
    ("nrrrc_measreport_var.uper", "nr-rrc", "UL-DCCH-Message", Rules::Uper),
    ("nrrrc_reconfig_var.uper", "nr-rrc", "DL-DCCH-Message", Rules::Uper),
];

fn main() {
    let corpora = tercet_testing::find_corpora().expect("the corpora").join("asn1/bench");
    let only = std::env::args().nth(1);
    let runs = std::env::args().nth(2).and_then(|runs| runs.parse().ok());
    let encode = std::env::args().nth(3).is_some_and(|word| word == "encode");
    for (name, folder, root, rules) in INPUTS {
        if only.as_deref().is_some_and(|only| !name.contains(only)) {
            continue;
        }
        let Ok(data) = std::fs::read(corpora.join(format!("{name}.lp"))) else {
            println!("{name}: not there");
            continue;
        };
        let records = length_prefixed(&data);
        let (plan, node) = plan(&corpora.join("specs").join(folder), root, rules);
        match runs {
            Some(runs) if encode => encode_only(&plan, rules, node, &records, runs),
            Some(runs) => decode_only(&plan, rules, node, &records, runs),
            None => bench(name, &plan, rules, node, &records),
        }
    }
}

fn length_prefixed(mut data: &[u8]) -> Vec<&[u8]> {
    let mut out = Vec::new();
    while let Some((length, rest)) = data.split_first_chunk::<4>() {
        let (record, rest) = rest.split_at(u32::from_be_bytes(*length) as usize);
        out.push(record);
        data = rest;
    }
    out
}

fn plan(folder: &Path, root: &str, rules: Rules) -> (Plan, NodeId) {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("folder").flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let mut map = tercet_syntax::SourceMap::new();
    let mut modules = Vec::new();
    for path in paths {
        let (file, _) = map.add_bytes(path.display().to_string(), std::fs::read(&path).expect("a file"));
        modules.extend(tercet_syntax::parse(&map, file, &tercet_syntax::ParseOptions::default()).0);
    }
    let (model, _) = tercet_model::resolve(&map, &modules, &tercet_model::Options::default());
    let root_type = model.find_type(root).expect("the root");
    let (plan, _) = tercet_lower::plan(&model, rules, &[root_type]);
    let node = plan.root(root).expect("the root");
    (plan, node)
}

#[inline(never)]
fn decode_only(plan: &Plan, rules: Rules, node: NodeId, records: &[&[u8]], runs: usize) {
    let (mut decoder, mut tape) = (Decoder::new(), Tape::new());
    let options = options(rules);
    for _ in 0..runs {
        for record in records {
            tape.clear();
            decoder.decode(plan, node, record, &mut tape, &options).expect("a record");
        }
    }
}

#[inline(never)]
fn encode_only(plan: &Plan, rules: Rules, node: NodeId, records: &[&[u8]], runs: usize) {
    let (mut decoder, mut tape) = (Decoder::new(), Tape::new());
    let (mut encoder, mut out) = (Encoder::new(), Vec::new());
    for record in records {
        tape.clear();
        decoder.decode(plan, node, record, &mut tape, &options(rules)).expect("a record");
        for _ in 0..runs {
            out.clear();
            encoder.encode(plan, rules, tape.view(record), &mut out).expect("decoded");
        }
    }
}

fn options(rules: Rules) -> Options {
    let mut options = Options::default();
    options.rules = rules;
    options
}

fn bench(name: &str, plan: &Plan, rules: Rules, node: NodeId, records: &[&[u8]]) {
    let options = options(rules);
    let mut decoder = Decoder::new();
    let mut tape = Tape::new();
    let decode = time(|| {
        for record in records {
            tape.clear();
            decoder.decode(plan, node, record, &mut tape, &options).expect("a record");
        }
    });
    let discard = time(|| all(&mut decoder, plan, node, records, &mut Discard, &options));

    let mut tapes = Vec::new();
    let mut entries = 0;
    for record in records {
        let mut tape = Tape::new();
        decoder.decode(plan, node, record, &mut tape, &options).expect("a record");
        entries += tape.len();
        tapes.push((tape, *record));
    }
    let mut out = Vec::new();
    let mut encoder = Encoder::new();
    let mut differ = 0;
    let encode = time(|| {
        for (tape, input) in &tapes {
            out.clear();
            encoder.encode(plan, rules, tape.view(input), &mut out).expect("decoded");
            differ += usize::from(out != *input);
        }
    });
    let mut writer = json::JsonWriter::new(&plan.shape, json::Options::default());
    let text = time(|| {
        for (tape, input) in &tapes {
            writer.clear();
            tape.view(input).replay(&mut writer);
        }
    });
    let octets: usize = records.iter().map(|record| record.len()).sum();
    let each = |time: Duration| time.as_nanos() as f64 / records.len() as f64;
    println!(
        "{name:26} {:4} octets {:4} entries  decode {:7.1} ns  discard {:7.1} ns  json {:7.1} ns  encode {:7.1} ns{}",
        octets / records.len(),
        entries / records.len(),
        each(decode),
        each(discard),
        each(text),
        each(encode),
        if differ > 0 { "  DIFFERENT" } else { "" },
    );
}

fn all(
    decoder: &mut Decoder,
    plan: &Plan,
    node: NodeId,
    records: &[&[u8]],
    sink: &mut impl Sink,
    options: &Options,
) {
    for record in records {
        decoder.decode(plan, node, record, sink, options).expect("a record");
    }
}

/// The best of many runs.
fn time(mut f: impl FnMut()) -> Duration {
    let begin = Instant::now();
    let mut best = Duration::MAX;
    while begin.elapsed() < Duration::from_millis(400) {
        let start = Instant::now();
        f();
        best = best.min(start.elapsed());
    }
    best
}
