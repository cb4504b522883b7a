#![no_main]
libfuzzer_sys::fuzz_target!(|input: &[u8]| (tercet_conformance::fuzz::target("capture").expect("a target").run)(input));
