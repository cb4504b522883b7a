//! What rows cost: `rows_bench SPECIFICATION TYPE csv|jsonl FILE PASSES [OUTPUT]` converts a file of records in memory,
//! as `tercet convert` does with one thread, and tells octets and time; the rows of the last pass go to a file if there is one. Under `valgrind --tool=callgrind`, the difference of
//! two numbers of passes is what the records alone take.

#![expect(clippy::print_stdout, reason = "that is what it is for")]

use std::ops::ControlFlow;
use std::time::Instant;
use tercet_dynamic::json::{self, JsonWriter};
use tercet_dynamic::{Error, Options, Rules, View, csv};
use tercet_records::{Converter, Origin, Profile, Render, Rendering, Settings, Targets, Undecoded, path};

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
    let rendering = Rendering::new(&plan.shape, record, &Profile::of(&plan.shape), &[]).expect("a rendering");
    let settings = Settings {
        framing: path::concatenated(&plan, record).expect("BER"),
        outer: None,
        record,
        options: Options::default(),
        max_rejects: None,
        max_reject_share: None,
        give_up_after: u64::MAX,
        wanted: None,
        detect: false,
    };
    let mut render: Box<dyn Render> = match format.as_str() {
        "csv" => Box::new(Csv(csv::Writer::new(rendering.shape(), record, csv::Options::default()))),
        _ => Box::new(Json(JsonWriter::new(rendering.shape(), json::Options::default()))),
    };
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

struct Csv<'s>(csv::Writer<'s>);

impl Render for Csv<'_> {
    fn record(&mut self, value: View<'_>, _: &Origin<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        self.0.write(value, out);
        Ok(())
    }

    fn is_direct(&self) -> bool {
        true
    }

    fn undecoded(
        &mut self,
        record: &mut Undecoded<'_>,
        _: &Origin<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        record.say(&mut self.0.sink(out))
    }
}

struct Json<'s>(JsonWriter<'s>);

impl Render for Json<'_> {
    fn record(&mut self, value: View<'_>, _: &Origin<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        self.0.clear();
        value.replay(&mut self.0);
        out.extend_from_slice(self.0.text());
        out.push(b'\n');
        Ok(())
    }

    fn is_direct(&self) -> bool {
        true
    }

    fn undecoded(
        &mut self,
        record: &mut Undecoded<'_>,
        _: &Origin<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        self.0.clear();
        record.say(&mut self.0)?;
        out.extend_from_slice(self.0.text());
        out.push(b'\n');
        Ok(())
    }
}
