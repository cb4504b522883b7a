#![no_main]
libfuzzer_sys::fuzz_target!(|input: &[u8]| (xtask::fuzz::target("plan").expect("a target").run)(input));
