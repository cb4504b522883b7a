//! Captures of the corpora against what is known to be in them.

use tercet_conformance::{captures, decoded_captures};

#[test]
fn captures_give_what_was_put_into_them_and_what_a_dissector_finds() {
    let Some(folder) = tercet_testing::corpora("captures") else { return };
    let arguments = captures::Arguments { folders: vec![folder], protocol: vec![], decode_as: vec![] };
    let mut out = Vec::new();
    let tally = captures::run(&arguments, &mut out).expect("captures with truth");
    let out = String::from_utf8_lossy(&out);
    let failed: Vec<_> = out.lines().filter(|line| line.starts_with("FAIL")).take(20).collect();
    assert_eq!(tally.failed, 0, "{failed:#?}");
    // As many messages as there are lines of truth, and twice as many checks of the files.
    assert!(tally.passed > 6000, "{tally}");
}

#[test]
fn messages_of_real_captures_decode_and_give_the_same_octets() {
    let Some(folder) = tercet_testing::corpora("captures/nas-ran") else { return };
    let Some(specifications) = tercet_testing::corpora("asn1/specs/3gpp") else { return };
    let schema = ["3GPP_EUTRAN_S1AP_36413", "3GPP_NR_NGAP_38413"].map(|name| specifications.join(name));
    let protocol = vec!["s1ap".to_owned(), "ngap".to_owned()];
    let arguments = decoded_captures::Arguments { folders: vec![folder], schema: schema.into(), protocol };
    let mut out = Vec::new();
    let tally = decoded_captures::run(&arguments, &mut out).expect("captures and specifications");
    let out = String::from_utf8_lossy(&out);
    assert_eq!((tally.passed, tally.failed), (2, 0), "{out}");
    let all = out.lines().last().unwrap_or_default();
    assert!(all.starts_with("all: 14") && out.contains("ngap: "), "{out}");
}
