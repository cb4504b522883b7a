//! Every fuzz target over its seeds, each truncation and flipped bit of the short ones, and random damage. The long run is
//! `cargo +nightly fuzz run TARGET`; see fuzz/README.md.

use tercet_conformance::fuzz::{Arguments, TARGETS, run, target};
use tercet_conformance::hex;

/// Inputs that did not hold once: target, octets, what was wrong.
const FINDINGS: &[(&str, &str, &str)] = &[
    ("aper", "09A000", "an open type without octets became another value"),
    ("uper", "84C000000001FF", "so did an addition without octets"),
    ("aper", "8A81008A0000", "a bitmap of nothing but zeros was taken for one of a later version"),
    (
        "aper",
        "8B6B6E0405050A00DEF44F027F40ED3339 0B513921372F4F237245314E3C1222675801250000042F49534F2F0B534F",
        "a duration had a zero part in its middle",
    ),
    (
        "cer",
        "84A08080017F8103BC9C6ED1086565D3512219E36D8306DF723E7C66348407BB9C3D4045C0EEA5808007DEBB8ACC15A4C5000086
         0963275DE2C5A1041D818709C69254CBE693BF66CA88017FAA8030808001B90000308080016681017E000000000000",
        "an unknown element of a SET stood before components of lesser tags",
    ),
    (
        "typed_ber",
        "14A08080020080810484CB8C5C82087802AF5FAA44FAAB830478DE55A2840482583F5BA5808007F5A3B59881285C81060A7F0A7F
         78460000C609C7B4D2A715100B19A487096386EC04FBA1B6FF4188020080AA80308080014A8102617A00000000000000AB808001
         FF8203613D2900000000",
        "generated code did not see that",
    ),
    (
        "typed_ber",
        "0CA3288001008103761DCC820120A3068004CCB38E2384092C5502DB65F40D1977850100A6008601008800",
        "a component that stood twice was taken for an addition",
    ),
    (
        "typed_ber",
        "04221C8001008103FF1F2B821FFF83012F84016385091599CC893885091599CC893851AA23B4",
        "an unknown alternative whose elements reach beyond it was taken",
    ),
    (
        "typed_oer",
        "0C83E00000000003761DCC012080CCB38E232C5502DB65F40D19770100010001000205800100",
        "the bitmap of a later version became shorter",
    ),
    (
        "typed_per",
        "0C7C000000003B0EE6008199671C4658AA05B6CBE81A32EE0200001E020200",
        "zero bits behind the last named one",
    ),
    (
        "h248_binary",
        "0180EFBAAB8912345678041234567889ABCDEF765432100100010203048001000101000101060001010100206131",
        "a wildcarded name of three octets was read as bits",
    ),
    ("h248_terms", "018368036114680261236B00047C7C7CDE680261326132", "a place behind the input"),
    (
        "h248_text",
        "212F31206D0A543D317B433D2D7B4D463D617B444D3D647B785C0A7D7D7D7D",
        "a backslash at the end of a digit map escaped the brace behind it",
    ),
    (
        "ldap_url",
        "6C646170733A2F2F5B323030313A64746D70253246736F383A3A375D3A36362F63443D47423F6F626A6563746F6E65",
        "an address with a slash",
    ),
    (
        "ldap_schema",
        "2820312E322E332044455343202769747F323573205C3563356327204F42534F4C4554452029",
        "an escape was read twice",
    ),
    ("ldap_schema", "28202761206E616D6527205355502078 2029", "an object identifier with a space"),
    (
        "xer",
        "0A3C526573743E3C726174696F3E312C353C2F726174696F3E3C2F526573743E",
        "a number with a comma for the point was taken",
    ),
    (
        "aper",
        "16000B03B911C4BE6A2FC49BC499F09F99846F74E282AC4028024026809F80B320B002B320B00240F180E940F180E9",
        "a number of 136 bits outside of an extensible range was not written",
    ),
    (
        "oer",
        "0A06600231320207FA0A01020827293D2D5A585573074A650104010901150943302D7D585C4D",
        "a duration of a number of 19 digits was not written",
    ),
    (
        "typed_ber",
        "13608061801A01411A001A000000420105A0801A01410000A180430831393830303130310000A28061801A01411A001A0000000000A38000000000",
        "the engine took a list that is its DEFAULT in a constructed encoding of CER",
    ),
];

#[test]
fn what_was_found_once_holds() {
    for (name, octets, what) in FINDINGS {
        let target = target(name).unwrap_or_else(|| panic!("no target {name}"));
        let octets = hex::parse(octets).expect("hexadecimal digits");
        let outcome = std::panic::catch_unwind(|| (target.run)(&octets));
        assert!(outcome.is_ok(), "{name}: {what}");
    }
}

/// Runs of each target; `FUZZ_RUNS=n` for more.
fn runs() -> u64 {
    std::env::var("FUZZ_RUNS").map_or(3000, |runs| runs.parse().expect("a number of runs"))
}

#[test]
fn every_target_holds() {
    let mut report = Vec::new();
    let arguments = Arguments {
        runs: runs(),
        seed: 1,
        sweep: false,
        exhaust: None,
        seeds: None,
        input: None,
        targets: Vec::new(),
    };
    let tally = run(&arguments, &mut report).expect("a run");
    let report = String::from_utf8_lossy(&report).into_owned();
    assert!(tally.failed == 0 && tally.passed == TARGETS.len(), "{report}");
}

#[test]
fn every_target_has_a_program_and_seeds() {
    let programs = tercet_conformance::corpora::repository().join("fuzz/fuzz_targets");
    for target in TARGETS {
        assert!(programs.join(format!("{}.rs", target.name)).is_file(), "no program for {}", target.name);
        assert!((target.seeds)().len() > 2, "too few seeds for {}", target.name);
    }
}
