//! Vectors of several tools, and hostile inputs with the verdict that each must get.

#![allow(clippy::print_stderr, reason = "a differing vector is named")]

use crate::common::{compile, events, lines};
use std::path::PathBuf;
use tercet_dynamic::{Options, Rules};

/// Rows of the manifest that want CER to accept constructed elements of definite length, which X.690 9.1 forbids.
const NOT_CER: [&str; 4] = [
    "ber/seq/extra-ext cer",
    "ber/depth/filter-not-8 cer",
    "ber/amplify/sofn-1000 cer",
    "ber/amplify/sofn-100000 cer",
];

#[test]
fn hostile_inputs_get_their_verdict() {
    for folder in tercet_testing::all_corpora("hostile/gen") {
        if folder.starts_with(tercet_testing::own_corpora()) {
            get_their_verdict(folder, 40, &[]);
        } else {
            get_their_verdict(folder, 400, &NOT_CER);
        }
    }
}

fn get_their_verdict(gen_folder: PathBuf, at_least: usize, exceptions: &'static [&'static str]) {
    let plan = compile(&[gen_folder.join("adv.asn")]).expect("adv.asn");
    let (mut total, mut bad) = (0, Vec::new());
    let run = move || {
        for record in lines(&gen_folder.join("manifest.jsonl")) {
            if !record["codec"].as_str().unwrap_or("").starts_with("ber") {
                continue;
            }
            let Some(root) = record["pdu"].as_str() else { continue };
            let Ok(input) = std::fs::read(gen_folder.join(record["file"].as_str().unwrap_or(""))) else {
                continue;
            };
            for (name, rules) in [("ber", Rules::Ber), ("der", Rules::Der), ("cer", Rules::Cer)] {
                let Some(expect) = record["expect"][name].as_str() else { continue };
                total += 1;
                if plan.root(root).is_none() {
                    continue;
                }
                let got = events(&plan, root, &input, &Options::strict(rules));
                let good = matches!(&got, Ok((_, used)) if *used == input.len());
                if (expect == "accept" && !good) || (expect == "reject" && good) {
                    bad.push(format!("{} {name}", record["id"].as_str().unwrap_or("")));
                    let error = got.err().map_or_else(String::new, |e| e.to_string());
                    eprintln!("{} {name}: expected {expect}: {error} {}", record["id"], record["note"]);
                }
            }
        }
        assert!(total > at_least, "{total} verdicts");
        assert_eq!(bad, exceptions);
    };
    // A decoder must do with a small stack; reading JSON and printing need some more.
    std::thread::Builder::new().stack_size(1 << 20).spawn(run).expect("thread").join().expect("no panic");
}
