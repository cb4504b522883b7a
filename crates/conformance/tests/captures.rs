//! Captures of the corpora against what is known to be in them.

use tercet_conformance::captures;

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
