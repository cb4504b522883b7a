//! Captures that are made to fill the memory.

mod common;

use std::fs::File;

#[test]
fn floods_of_fragments_stay_within_the_limit() {
    for name in ["flood-ip-fragments.pcap", "flood-sctp-first-fragments.pcap"] {
        let Some(path) = tercet_testing::corpora(&format!("captures/made/{name}")) else { return };
        let mut options = tercet_capture::Options::default();
        options.memory_limit = 100 << 10;
        let (pdus, _, balance) = common::read_with(File::open(&path).unwrap(), options);
        assert_eq!(pdus.len(), 1, "{name}");
        assert!(balance.given_up > 2000, "{name}: {balance:?}");
        assert!(balance.incomplete > 0, "{name}: {balance:?}");
    }
}

#[test]
fn streams_without_messages_are_reported_once_each() {
    let Some(path) = tercet_testing::corpora("captures/made/flood-tcp-streams.pcap") else { return };
    let mut options = tercet_capture::Options::default();
    options.memory_limit = 100 << 10;
    let (pdus, faults, _) = common::read_with(File::open(&path).unwrap(), options);
    // One port is that of another protocol.
    assert_eq!((pdus.len(), faults.len()), (1, 2999));
}
