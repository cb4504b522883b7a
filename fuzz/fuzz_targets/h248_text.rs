#![no_main]
libfuzzer_sys::fuzz_target!(|input: &[u8]| (xtask::fuzz::target("h248_text").expect("a target").run)(input));
