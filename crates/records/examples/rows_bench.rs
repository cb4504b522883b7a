//! What rows cost: `rows_bench SPECIFICATION TYPE csv|jsonl FILE PASSES [OUTPUT]` converts a file of records in memory,
//! as `tercet convert` does with one thread, and tells octets and time; the rows of the last pass go to a file if there is one. Under `valgrind --tool=callgrind`, the difference of
//! two numbers of passes is what the records alone take.

#![expect(clippy::print_stdout, reason = "that is what it is for")]

use std::ops::ControlFlow;
use std::time::Instant;
use tercet_plan::Rules;
use tercet_records::conversion::FormOptions;
use tercet_records::{Converter, Format, Interpretation, Profile, Settings, Shown, Targets, path};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [specification, name, format, file, passes, output @ ..] = &arguments[..] else {
        return println!("SPECIFICATION TYPE csv|jsonl FILE PASSES [OUTPUT]");
    };
    let mut map = tercet_syntax::SourceMap::new();
    let text = std::fs::read(specification).expect("a specification");
    let (source, _) = map.add_bytes(specification, text);
    let (modules, _) = tercet_syntax::parse(&map, source, &tercet_syntax::ParseOptions::default());
    let options = tercet_model::Options { lenient: true, ..Default::default() };
    let (model, _) = tercet_model::resolve(&map, &modules, &options);
    let (plan, _) = tercet_lower::plan(&model, Rules::Ber, &tercet_lower::all_roots(&model));
    let record = plan.root(name).expect("a type");
    let rendering =
        Interpretation::new(&plan.shape, record, &Profile::of(&plan.shape), &[]).expect("a rendering");
    let framing = path::concatenated(&plan, record).expect("BER");
    let settings = Settings { give_up_after: u64::MAX, ..Settings::new(framing, record) };
    let format: Format = format.parse().expect("a format");
    let mut render = format.writer(&FormOptions::default(), Shown::from(&rendering), record);
    let mut converter = Converter::builder(&plan, settings).rendering(Some(&rendering)).build();
    let input = std::fs::read(file).expect("records");
    let begin = Instant::now();
    let mut rows = Vec::new();
    for _ in 0..passes.parse().unwrap_or(1) {
        rows.clear();
        let mut targets =
            Targets { render: &mut *render, out: &mut rows, header: None, rejects: None, marks: None };
        let summary = converter.run("", &*input, &mut targets, &mut |_| ControlFlow::Continue(()));
        let summary = summary.expect("memory");
        println!(
            "{} records, {} octets, {} rejects, {} octets of rows, {:?}",
            summary.records,
            input.len(),
            summary.rejects,
            summary.written,
            begin.elapsed()
        );
    }
    if let [output, ..] = output {
        std::fs::write(output, rows).expect("a file");
    }
}
