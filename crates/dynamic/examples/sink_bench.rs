//! How fast records become text: `cargo run --release -p tercet-dynamic --example sink_bench`.
//!
//! Reads the corpora beside the repository; prints MB/s of BER input, of one core.

#![expect(clippy::print_stdout, reason = "that is what it is for")]

use std::time::{Duration, Instant};
use tercet_dynamic::json::{self, JsonWriter};
use tercet_dynamic::{Decoder, NodeId, Options, Plan, Rules, Sink, Tape, csv};

fn main() {
    let corpora = tercet_testing::find_corpora().expect("the corpora").join("cdr");
    for (name, file, schema, root) in [
        ("msc", "synth/msc/msc_r12_20k.ber.zst", "specs/synthetic/SYN-MSC-R12.asn", "CallDataRecord"),
        ("in", "synth/scp/in_scp_12k.ber.zst", "specs/synthetic/SYN-IN-SCP.asn", "SCPRecord"),
    ] {
        let Ok(packed) = std::fs::read(corpora.join(file)) else { continue };
        let Ok(text) = std::fs::read(corpora.join(schema)) else {
            println!("{name}: no {schema}");
            continue;
        };
        let input = zstd::decode_all(&*packed).expect("zstd");
        bench(name, &text, root, &input);
    }
}

fn bench(name: &str, schema: &[u8], root: &str, input: &[u8]) {
    let mut map = tercet_syntax::SourceMap::new();
    let (file, _) = map.add_bytes(name, schema.to_vec());
    let (modules, _) = tercet_syntax::parse(&map, file, &tercet_syntax::ParseOptions::default());
    let options = tercet_model::Options { lenient: true, ..Default::default() };
    let (model, _) = tercet_model::resolve(&map, &modules, &options);
    let (plan, _) = tercet_lower::plan(&model, Rules::Ber, &tercet_lower::all_roots(&model));
    let Some(node) = plan.root(root) else { return println!("{name}: no root {root}") };

    let mut tape = Tape::new();
    measure(name, "tape", input, || all(&plan, node, input, &mut tape, Tape::clear));

    let mut writer = JsonWriter::new(&plan.shape, json::Options::default());
    let mut octets = 0;
    measure(name, "json", input, || {
        writer.clear();
        all(&plan, node, input, &mut writer, |writer| {
            octets += writer.text().len();
            writer.clear();
        });
    });

    let mut rows = csv::Writer::new(&plan.shape, node, csv::Options::default());
    let mut out = Vec::new();
    println!("{name} has {} columns", rows.columns().columns().len());
    let mut decoder = Decoder::new();
    measure(name, "csv", input, || {
        let mut at = 0;
        while at < input.len() {
            out.clear();
            let mut sink = rows.sink(&mut out);
            at +=
                decoder.decode(&plan, node, &input[at..], &mut sink, &Options::default()).expect("a record");
        }
    });

    let mut reader = json::Reader::new(&plan.shape, json::Options::default());
    let mut writer = JsonWriter::new(&plan.shape, json::Options::default());
    let mut lines: Vec<Vec<u8>> = Vec::new();
    all(&plan, node, input, &mut writer, |writer| {
        lines.push(writer.text().to_vec());
        writer.clear();
    });
    measure(name, "read json", input, || {
        for line in &lines {
            reader.read(node, line, &mut tape).expect("reads");
        }
    });
}

fn all<S: Sink>(plan: &Plan, node: NodeId, input: &[u8], sink: &mut S, mut end: impl FnMut(&mut S)) {
    let mut decoder = Decoder::new();
    let mut at = 0;
    while at < input.len() {
        at += decoder.decode(plan, node, &input[at..], sink, &Options::default()).expect("a record");
        end(sink);
    }
}

fn measure(name: &str, what: &str, input: &[u8], mut work: impl FnMut()) {
    let mut best = Duration::MAX;
    for _ in 0..15 {
        let begin = Instant::now();
        work();
        best = best.min(begin.elapsed());
    }
    println!("{name:>5} {what:<10} {:>7.0} MB/s", input.len() as f64 / best.as_secs_f64() / 1e6);
}
