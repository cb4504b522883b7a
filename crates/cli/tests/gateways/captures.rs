//! `tercet megaco capture`: requests and replies of a capture.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tercet_megaco_engine::{Packet, PcapWriter, Transport};

use crate::process::Peer;

const MG: &str = "192.0.2.1:2944";
const MGC: &str = "192.0.2.2:2944";

/// Messages: milliseconds, whether the gateway sent it, and its text.
const MESSAGES: [(u64, bool, &str); 16] = [
    (0, true, "!/1 <mg> T=1{C=-{SC=ROOT{SV{MT=RS,RE=\"901\",V=2}}}}"),
    (10, false, "!/1 <mgc> P=1{C=-{SC=ROOT{SV{V=2}}}}"),
    (100, true, "!/2 <mg> T=2{C=-{N=line1{OE=1{al/of}}}}"),
    (600, true, "!/2 <mg> T=2{C=-{N=line1{OE=1{al/of}}}}"),
    (610, false, "!/2 <mgc> PN=2{}"),
    (700, false, "!/2 <mgc> P=2{IA,C=-{N=line1}}"),
    (710, true, "!/2 <mg> K{1-2}"),
    (720, false, "!/2 <mgc> P=2{IA,C=-{N=line1}}"),
    (800, false, "!/3 <mgc> T=2{C=1{AV=line1{AT{M}}},C=2{AV=line2{AT{M}}}}"),
    (810, true, "!/3 <mg> P=2/1{C=1{AV=line1}}"),
    (820, true, "!/3 <mg> P=2/2/&{C=2{AV=line2}}"),
    (830, false, "!/3 <mgc> SM=2/2/&"),
    (900, false, "!/2 <mgc> T=3{C=${A=$}}"),
    (901, true, "!/2 <mg> P=3{ER=412{\"No contexts\"}}"),
    (950, true, "!/2 <mg> P=99{C=-{AV=root}}"),
    (990, false, "!/2 <mgc> T=4{C=1{S=a}}"),
];

fn write(path: &Path, transport: Transport, more: &[(u64, bool, &str)]) {
    let mut writer = PcapWriter::new(std::fs::File::create(path).unwrap()).unwrap();
    for (millis, is_ours, text) in MESSAGES.iter().chain(more) {
        let (source, destination) = if *is_ours { (MG, MGC) } else { (MGC, MG) };
        let packet = Packet {
            micros: 1_700_000_000_000_000 + millis * 1000,
            transport,
            link: 1,
            source: source.parse().unwrap(),
            destination: destination.parse().unwrap(),
            octets: text.as_bytes(),
        };
        writer.write(&packet).unwrap();
    }
    writer.flush().unwrap();
}

fn run(words: &[&str]) -> (String, String, Option<i32>) {
    let output = Command::new(env!("CARGO_BIN_EXE_tercet"))
        .args(["megaco", "capture"])
        .args(words)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |octets: &[u8]| String::from_utf8_lossy(octets).into_owned();
    (text(&output.stdout), text(&output.stderr), output.status.code())
}

fn events(words: &[&str]) -> Vec<Value> {
    let (text, errors, _) = run(&[&["--events", "-"], words].concat());
    assert_eq!(errors, "");
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The values of some members of all events of a name.
fn members(events: &[Value], name: &str, members: &[&str]) -> Vec<Value> {
    let found = events.iter().filter(|event| event["event"] == name);
    found.map(|event| members.iter().map(|member| event[member].clone()).collect()).collect()
}

#[test]
fn requests_and_replies_of_a_capture() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("call.pcap");
    for transport in [Transport::Udp, Transport::Tcp] {
        write(&file, transport, &[]);
        let events = events(&[file.to_str().unwrap()]);
        assert_eq!(
            members(
                &events,
                "result",
                &["mid", "trans", "ok", "error", "code", "replies", "segments", "ms", "resends", "pendings"]
            ),
            [
                json!(["<mg>", 1, true, null, null, 1, 0, 10.0, 0, 0]),
                json!(["<mg>", 2, true, null, null, 1, 0, 600.0, 1, 1]),
                json!(["<mgc>", 2, true, null, null, 2, 2, 20.0, 0, 0]),
                json!(["<mgc>", 3, false, "error_descriptor", 412, 0, 0, 1.0, 0, 0]),
                json!(["<mgc>", 4, false, "unanswered", null, 0, 0, null, 0, 0]),
            ]
        );
        assert_eq!(
            members(&events, "registered", &["mid", "remote_mid", "version"]),
            [json!(["<mg>", "<mgc>", 2])]
        );
        assert_eq!(
            members(&events, "request", &["trans", "commands"])[2],
            json!([2, ["AuditValue", "AuditValue"]])
        );
        assert_eq!(members(&events, "ack", &["trans", "status"]), [json!([1, "ok"]), json!([2, "ok"])]);
        assert_eq!(members(&events, "segment", &["trans", "segment", "complete"]), [json!([2, 2, true])]);
        assert_eq!(members(&events, "unexpected", &["kind", "trans"]), [json!(["reply", 99])]);
        assert_eq!(
            members(
                &events,
                "stats",
                &["in_messages", "requests", "resends", "replies_resent", "unanswered", "max_ms"]
            ),
            [json!([16, 5, 1, 1, 1, 600.0])]
        );
        let resent = members(&events, "message", &["resend"]);
        assert_eq!(resent.iter().filter(|it| **it == json!([true])).count(), 2);
    }
}

#[test]
fn charts_of_a_capture() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("call.pcap");
    write(&file, Transport::Udp, &[(999, true, "!/2 <mg> T=5{C=1{S=}}")]);
    let (text, _, code) = run(&[file.to_str().unwrap()]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(code, Some(2));
    assert_eq!(lines[0], "    0.000000  <mg>       -- Request 1 C=- ServiceChange ----------------> <mgc>");
    assert_eq!(lines[1], "    0.010000  <mg>       <- Reply 1 C=- ServiceChange [10.000 ms] ------- <mgc>");
    assert!(lines[3].contains("Request 2 C=- Notify [repeated 1]"), "{text}");
    assert!(lines[13].contains("Reply 3 error 412 \"No contexts\" [1.000 ms]"), "{text}");
    assert!(lines[16].contains("not a message: expected"), "{text}");
    assert_eq!(lines[18], "requests: 5, 3 answered, 1 answered with an error, 1 without a reply");
    let (text, _, _) = run(&["--chart", "mermaid", "--trans", "3", file.to_str().unwrap()]);
    let lines: Vec<&str> = text.lines().take(5).collect();
    assert_eq!(
        lines,
        [
            "sequenceDiagram",
            "    participant p0 as #60;mgc#62;",
            "    participant p1 as #60;mg#62;",
            "    p0->>p1: 0.900000 Request 3 C=$ Add",
            "    p1-->>p0: 0.901000 Reply 3 error 412 #34;No contexts#34; [1.000 ms]",
        ]
    );
}

#[test]
fn copies_of_a_capture() {
    let folder = tempfile::tempdir().unwrap();
    let (file, copy) = (folder.path().join("call.pcap"), folder.path().join("copy.pcap"));
    write(&file, Transport::Udp, &[]);
    let homer = Peer::new();
    let [from, to] = [&file, &copy].map(|path| path.to_str().unwrap());
    let (text, errors, code) = run(&["--chart", "none", "--write", to, "--hep", &homer.url(), from]);
    assert_eq!((text.as_str(), errors.as_str(), code), ("", "", Some(0)));
    assert!(std::fs::read(&file).unwrap() == std::fs::read(&copy).unwrap());
    for (_, _, message) in MESSAGES {
        let (packet, _) = homer.receive();
        assert!(packet.starts_with("HEP3") && packet.ends_with(message), "{packet}");
    }
    // The input is not overwritten.
    let (_, errors, code) = run(&["--write", from, from]);
    assert!(errors.contains("refusing to overwrite") && code == Some(1), "{errors}");
    let (_, errors, _) = run(&["--events", "-", "--chart", "text", from]);
    assert!(errors.contains("two outputs to standard output"), "{errors}");
}

/// As many messages as Wireshark finds.
#[test]
fn captures_of_the_corpus() {
    for (name, count) in [
        ("h323-h248-gtpp/ndpi-FAX-Call-t38-CA-TDM-SIP-FB-1.pcap", 130),
        ("made/sctp-h248-ber.pcap", 0),
        ("made/udp-h248-text-and-ber.pcap", 0),
        ("made/tcp-h248-text-tpkt.pcap", 0),
    ] {
        let Some(file) = tercet_testing::corpora(&format!("captures/{name}")) else { return };
        let truth = std::fs::read_to_string(format!("{}.truth.jsonl", file.display())).unwrap();
        let expected = truth.lines().filter(|line| line.contains("\"protocol\": \"h248")).count();
        assert!(expected >= count.max(1), "{name}: {expected}");
        let events = events(&[file.to_str().unwrap()]);
        let stats = events.last().unwrap();
        assert_eq!(
            (&stats["in_messages"], &stats["errors"]),
            (&json!(expected), &json!(0)),
            "{name}: {stats}"
        );
    }
}
