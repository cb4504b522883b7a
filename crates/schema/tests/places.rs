//! Places of parts: together they are the encoding, each bit once, for samples of every specification.

use std::path::Path;
use tercet_schema::dynamic::sample::{Options, Sampler};
use tercet_schema::dynamic::trace::Trace;
use tercet_schema::dynamic::{self, Decoder, Encoder, Rules, Tape};
use tercet_schema::{Schema, SchemaOptions};

/// Samples of each type.
const SAMPLES: u64 = 10;

/// Values of each sample at most.
const VALUES: usize = 200;

#[test]
fn parts_are_the_encoding() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut count = 0;
    for path in [
        "schemas/demo",
        "schemas/personnel",
        "schemas/signalling",
        "schemas/certificate",
        "schemas/ldap",
        "tests/corpora/asn1/traps",
        "crates/conformance/tests/generated/zoo.asn",
        "crates/conformance/tests/generated/leaves.asn",
    ] {
        let schema = Schema::load(&[root.join(path)], &SchemaOptions::default()).unwrap();
        for rules in Rules::BINARY {
            let plan = schema.plan(rules, &[]).unwrap();
            let mut encoder = Encoder::new();
            let (mut tape, mut octets) = (Tape::new(), Vec::new());
            for seed in 0..SAMPLES {
                let mut options = Options::default();
                (options.seed, options.elements) = (seed, VALUES);
                let mut sampler = Sampler::new(&plan.shape, options);
                for root in &plan.shape.roots {
                    octets.clear();
                    if sampler.sample(root.node, &mut tape).is_err()
                        || encoder.encode(&plan, rules, tape.view(&[]), &mut octets).is_err()
                    {
                        continue;
                    }
                    let name = plan.shape.name(root.name);
                    let mut end = 0;
                    let mut trace = Trace::new(&plan.shape, &octets, |step| {
                        assert_eq!(step.place.at, end, "{path} {name} {rules:?}: {step:?}");
                        end = step.place.end();
                    });
                    let mut options = dynamic::Options::default();
                    options.rules = rules;
                    let length = Decoder::new().decode(&plan, root.node, &octets, &mut trace, &options);
                    trace.finish();
                    drop(trace);
                    let length = length.unwrap_or_else(|error| panic!("{path} {name} {rules:?}: {error}"));
                    assert_eq!((length, end), (octets.len(), 8 * length as u64), "{path} {name} {rules:?}");
                    count += 1;
                }
            }
        }
    }
    assert!(count > 1000, "{count} samples");
}
