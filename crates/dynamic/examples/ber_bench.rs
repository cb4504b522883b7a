//! How fast records decode and encode: `cargo run --release -p tercet-dynamic --example ber_bench`.
//!
//! Reads the corpora beside the repository; prints MB/s of one core.

#![expect(clippy::print_stdout, reason = "that is what it is for")]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tercet_dynamic::{Decoder, Discard, Encoder, NodeId, Options, Plan, Rules, Tape};

fn main() {
    let corpora = tercet_testing::find_corpora().expect("the corpora");
    let msc = zstd::decode_all(&*read(&corpora.join("cdr/synth/msc/msc_r12_20k.ber.zst"))).expect("zstd");
    let schema = vec![corpora.join("cdr/specs/synthetic/SYN-MSC-R12.asn")];
    let only = std::env::args().nth(1);
    let wanted = |name: &str| only.as_deref().is_none_or(|only| only == name);
    if wanted("msc") {
        let mut records = Vec::new();
        let mut rest = &msc[..];
        while let Ok(header) = tercet_runtime::ber::Reader::new(rest, Default::default()).read_header() {
            let (record, after) = rest.split_at(usize::from(header.size) + header.length);
            records.push(record);
            rest = after;
        }
        bench("msc", &schema, "CallDataRecord", &records);
    }
    if wanted("nr") {
        lower(&corpora.join("asn1/bench/specs/nr-rrc-r16"));
    }
    for (name, file, folder, root) in [
        ("tap3", "asn1/bench/tap3.lp", "tap3", "DataInterChange"),
        ("msc109", "asn1/bench/msccdr.lp", "msccdr", "CallDataRecord"),
        ("ldap", "asn1/bench/ldap_sre.lp", "ldap", "LDAPMessage"),
        ("x509", "asn1/bench/x509_leaf.lp", "x509", "Certificate"),
        ("bundle", "asn1/bench/x509_cabundle.lp", "x509", "Certificate"),
        ("h248", "asn1/bench/h248_req.ber.lp", "h248", "MegacoMessage"),
    ] {
        if !wanted(name) {
            continue;
        }
        let data = read(&corpora.join(file));
        let records = length_prefixed(&data);
        let folder = corpora.join("asn1/bench/specs").join(folder);
        let mut schema: Vec<PathBuf> =
            std::fs::read_dir(folder).expect("folder").flatten().map(|e| e.path()).collect();
        schema.sort();
        bench(name, &schema, root, &records);
    }
}

/// How long a whole large specification takes to lower.
fn lower(folder: &Path) {
    let mut map = tercet_syntax::SourceMap::new();
    let mut modules = Vec::new();
    for path in std::fs::read_dir(folder).expect("folder").flatten().map(|e| e.path()) {
        let (file, _) = map.add_bytes(path.display().to_string(), read(&path));
        modules.extend(tercet_syntax::parse(&map, file, &tercet_syntax::ParseOptions::default()).0);
    }
    let (model, _) = tercet_model::resolve(&map, &modules, &tercet_model::Options::default());
    let roots = tercet_lower::all_roots(&model);
    let best = time(|| drop(tercet_lower::plan(&model, Rules::Ber, &roots)));
    let (plan, _) = tercet_lower::plan(&model, Rules::Ber, &roots);
    println!(
        "nr: {} roots, {} nodes, {} fields in {best:?}",
        roots.len(),
        plan.shape.nodes.len(),
        plan.shape.fields.len()
    );
}

fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
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

/// Octets of a run: short, so that a busy machine leaves some runs alone.
const RUN: usize = 200_000;

fn bench(name: &str, schema: &[PathBuf], root: &str, inputs: &[&[u8]]) {
    let mut sum = 0;
    let mut count = 0;
    for input in inputs.iter().take_while(|input| input.len() < RUN) {
        sum += input.len();
        count += usize::from(sum < RUN);
    }
    let inputs = &inputs[..count];
    let mut map = tercet_syntax::SourceMap::new();
    let mut modules = Vec::new();
    for path in schema {
        let (file, _) = map.add_bytes(path.display().to_string(), read(path));
        modules.extend(tercet_syntax::parse(&map, file, &tercet_syntax::ParseOptions::default()).0);
    }
    let model_options = tercet_model::Options { lenient: true, ..Default::default() };
    let (model, _) = tercet_model::resolve(&map, &modules, &model_options);
    let Some(root_type) = model.find_type(root) else {
        println!("{name}: no type {root}");
        return;
    };
    let start = Instant::now();
    let (plan, _) = tercet_lower::plan(&model, Rules::Ber, &[root_type]);
    let lowered = start.elapsed();
    let node = plan.root(root).expect("root");
    let octets: usize = inputs.iter().map(|i| i.len()).sum();

    let mut records = 0;
    let mut tape = Tape::new();
    let decode = time(|| {
        let mut decoder = Decoder::new();
        records = each(&plan, node, inputs, &mut decoder, &mut tape);
    });
    let validate = time(|| {
        let mut decoder = Decoder::new();
        for input in inputs {
            let mut rest = *input;
            while !rest.is_empty() {
                match decoder.decode(&plan, node, rest, &mut Discard, &Options::default()) {
                    Ok(used) => rest = &rest[used..],
                    Err(_) => break,
                }
            }
        }
    });
    let mut encoder = Encoder::new();
    let mut decoder = Decoder::new();
    let mut out = Vec::new();
    let mut differ = 0;
    let mut tapes = Vec::new();
    for input in inputs {
        let mut rest = *input;
        while !rest.is_empty() {
            let mut tape = Tape::new();
            let Ok(used) = decoder.decode(&plan, node, rest, &mut tape, &Options::default()) else {
                break;
            };
            out.clear();
            if let Err(error) = encoder.encode(&plan, Rules::Ber, tape.view(rest), &mut out) {
                panic!("{name}: {error}");
            }
            differ += usize::from(out != rest[..used]);
            tapes.push((tape, rest));
            rest = &rest[used..];
        }
    }
    let encode = time(|| {
        for (tape, input) in &tapes {
            out.clear();
            encoder.encode(&plan, Rules::Ber, tape.view(input), &mut out).expect("encoded before");
        }
    });
    let rate = |d: Duration| octets as f64 / d.as_secs_f64() / 1e6;
    let each = |d: Duration| d.as_nanos() as f64 / records as f64;
    println!(
        "{name:8} {records:6} records of {:5} B  decode {:7.1} MB/s {:8.1} ns  validate {:7.1} MB/s {:8.1} ns  \
         encode {:7.1} MB/s {:8.1} ns  {differ} differ  plan {:?}",
        octets / records.max(1),
        rate(decode),
        each(decode),
        rate(validate),
        each(validate),
        rate(encode),
        each(encode),
        lowered,
    );
}

fn each(plan: &Plan, node: NodeId, inputs: &[&[u8]], decoder: &mut Decoder, tape: &mut Tape) -> usize {
    let options = Options::default();
    let mut records = 0;
    for input in inputs {
        let mut rest = *input;
        while !rest.is_empty() {
            tape.clear();
            match decoder.decode(plan, node, rest, tape, &options) {
                Ok(used) => rest = &rest[used..],
                Err(error) => {
                    println!("record {records}: {error}");
                    return records.max(1);
                }
            }
            records += 1;
        }
    }
    records
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
