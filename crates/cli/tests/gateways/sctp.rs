//! Gateways and controllers over SCTP.

use super::process::Process;
use serde_json::{Value, json};

/// A controller at a port that is free. Returns it with its URL.
fn controller(words: &str) -> (Process, String) {
    let mut mgc = Process::start(&format!("mgc --listen sctp://127.0.0.1:0?udp=0 --mid <mgc> {words}"));
    let url = mgc.event("listening")["url"].as_str().unwrap().to_owned();
    (mgc, url)
}

fn request(mg: &mut Process) -> Value {
    mg.tell(&json!({"do": "request", "text": "C=-{N=line1{OE=1{al/of}}}"}));
    mg.event("result")
}

/// Registration, requests of both sides, and the end, in text and BER.
#[test]
fn a_call_over_sctp() {
    for encoding in ["compact", "ber"] {
        let (mut mgc, url) = controller("");
        let ports = url.strip_prefix("sctp://127.0.0.1:").unwrap();
        let (port, udp) = ports.split_once("?udp=").unwrap();
        assert_eq!(port, udp);
        let mut mg = Process::start(&format!("mg --connect {url} --mid <mg> --encoding {encoding}"));
        let registered = mg.event("registered");
        assert_eq!((&registered["remote_mid"], &registered["version"]), (&json!("<mgc>"), &json!(3)));
        assert_eq!(request(&mut mg)["ok"], true);
        let connect = mgc.event("connect");
        assert!(connect["address"].as_str().unwrap().starts_with("sctp://127.0.0.1:"), "{connect}");
        mgc.tell(&json!({"do": "request", "text": "C=${A=line1,A=${M{L{v=0\nc=IN IP4 $\nm=audio $ RTP/AVP 0\n}}}}"}));
        let result = mgc.event("result");
        assert_eq!((&result["ok"], &result["replies"]), (&json!(true), &json!(1)), "{result}");
        mg.quit();
        let end = mgc.event("disconnect");
        assert_eq!((&end["remote_mid"], &end["reason"]), (&json!("<mg>"), &json!("closed by the peer")));
        mgc.quit();
    }
}

/// A reply of many packets: the audit of many terminations.
#[test]
fn a_reply_larger_than_any_packet() {
    let (mut mgc, url) = controller("");
    let mut mg =
        Process::start(&format!("mg --connect {url} --mid <mg> --encoding compact --terminations 500"));
    mg.event("registered");
    mgc.event("connect");
    mgc.tell(&json!({"do": "request", "text": "C=-{W-AV=line*{AT{}},AV=line*{AT{M}}}"}));
    let result = mgc.event("result");
    assert_eq!(result["ok"], true, "{result}");
    let text = result["text"].as_str().unwrap();
    assert!(text.len() > 5_000, "{}", text.len());
}

/// A controller that is killed says nothing; the next one at its ports ends the association, and the gateway registers again.
#[test]
fn a_controller_starts_again() {
    let (mut mgc, url) = controller("");
    let mut mg = Process::start(&format!(
        "mg --connect {url} --mid <mg> --encoding compact --request-timer 1s*1+0x20"
    ));
    mg.event("registered");
    mgc.child.kill().unwrap();
    mgc.child.wait().unwrap();
    let mut again = Process::start(&format!("mgc --listen {url} --mid <mgc>"));
    assert_eq!(again.event("listening")["url"], url);
    mg.tell(&json!({"do": "request", "text": "C=-{N=line1{OE=1{al/of}}}"}));
    assert_eq!(mg.event("disconnect")["reason"], "aborted by the peer");
    mg.event("registered");
    // The request that was lost goes on by the new association.
    assert_eq!(mg.event("result")["ok"], true);
}

/// `disconnect` on either side, and a load of several gateways over several engines.
#[test]
fn a_load_over_sctp() {
    let (mut mgc, url) = controller("--jobs 2");
    let mut load = Process::start(&format!("load --connect {url} --rate 2000/s --for 2s --jobs 2"));
    let report = load.event("report");
    assert_eq!(report["failed"], 0, "{report}");
    assert!(report["requests"].as_u64().unwrap() > 1000, "{report}");
    mgc.event("disconnect");
    mgc.quit();
}

/// Messages of SCTP in a capture file, which the command reads itself.
#[test]
fn a_capture_of_sctp() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("messages.pcap");
    let (mut mgc, url) = controller(&format!("--write-pcap {}", file.display()));
    let mut mg = Process::start(&format!("mg --connect {url} --mid <mg> --encoding compact"));
    mg.event("registered");
    assert_eq!(request(&mut mg)["ok"], true);
    mg.quit();
    mgc.event("disconnect");
    mgc.quit();
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_tercet"))
        .args(["megaco", "capture", "--port", url.rsplit_once('=').unwrap().1])
        .arg(&file)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("requests: 2, 2 answered"), "{text}{}", String::from_utf8_lossy(&output.stderr));
}
