//! Values made up for types of every specification: they meet their constraints, and every set of rules gives them back.

use std::path::Path;

use tercet_conformance::corpora;
use tercet_conformance::samples::{SYNTAXES, Settings, of_path};

/// Types of which some samples have no encoding in some rules: the size of what is inside of a string is part of its type,
/// and fits in others only.
const EXCEPTIONS: [(&str, &str); 1] = [("AVIAEINumberingAndDataStructures.CS1", "aper")];

fn check(path: &Path, settings: &Settings) {
    let outcome = of_path(path, settings).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let excepted = |fault: &String| {
        EXCEPTIONS.iter().any(|(name, rules)| fault.starts_with(&format!("{name} {rules}:")))
    };
    let faults: Vec<&String> = outcome.faults.iter().filter(|fault| !excepted(fault)).collect();
    assert!(faults.is_empty(), "{}: {faults:#?}", path.display());
    assert!(outcome.made.passed > 0);
    assert_eq!(outcome.again.len(), SYNTAXES.len());
}

#[test]
fn types_that_we_ship() {
    for folder in ["schemas/personnel", "schemas/demo"] {
        check(&corpora::repository().join(folder), &Settings { count: 60, types: 40, ..Settings::default() });
    }
}

#[test]
fn long_strings_and_lists() {
    let settings = Settings { count: 40, types: 4, large: true, ..Settings::default() };
    check(&corpora::repository().join("schemas/personnel"), &settings);
}

#[test]
fn public_specifications() {
    let own = tercet_testing::own_corpora().join("asn1/specs");
    for entry in std::fs::read_dir(&own).expect("specifications").flatten() {
        check(&entry.path(), &Settings { count: 20, types: 10, ..Settings::default() });
    }
    let Some(folder) = tercet_testing::all_corpora("asn1/specs").into_iter().nth(1) else { return };
    for name in [
        "3gpp/3GPP_NR_NGAP_38413",
        "3gpp/3GPP_CAP_29078",
        "ietf/IETF_PKI_RFC5280",
        "etsi/ETSI_ITS_CAM_EN302637_2",
    ] {
        check(&folder.join(name), &Settings { count: 8, types: 6, ..Settings::default() });
    }
}
