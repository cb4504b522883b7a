//! Copies of messages and counters: a capture file, packets to Homer, metrics over HTTP.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;

use serde_json::json;

use crate::process::{PATIENCE, Peer, Process};

fn get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn metrics_over_http() {
    let mut mgc = Process::start("mgc --listen udp://127.0.0.1:0 --mid <mgc> --metrics 127.0.0.1:0");
    let (peer, to) = (Peer::new(), mgc.address());
    let url = mgc.event("metrics")["url"].as_str().unwrap().to_owned();
    let address = url.strip_prefix("http://").unwrap().strip_suffix("/metrics").unwrap();
    peer.send(to, "!/1 <mg> T=6{C=1{S=a}}");
    peer.receive();
    mgc.tell(&json!({"do": "request", "text": "C=-{AV=root{AT{}}}"}));
    peer.receive();
    peer.send(to, "!/1 <mg> P=1{C=-{AV=root}}");
    mgc.event("result");
    let text = get(address, "/metrics");
    assert!(text.starts_with("HTTP/1.1 200 OK\r\n"), "{text}");
    for line in [
        "# TYPE tercet_megaco_requests_received_total counter",
        "tercet_megaco_requests_received_total 1",
        "tercet_megaco_results_ok_total 1",
        "# TYPE tercet_megaco_live_connections gauge",
        "tercet_megaco_live_connections 1",
        "tercet_megaco_reply_seconds_bucket{le=\"+Inf\"} 1",
        "tercet_megaco_reply_seconds_count 1",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}: {text}");
    }
    assert!(get(address, "/other").starts_with("HTTP/1.1 404 "));
}

/// A capture file that the command reads itself.
#[test]
fn a_capture_file() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("messages.pcap");
    let words = format!("mgc --listen udp://127.0.0.1:0 --mid <mgc> --write-pcap {}", file.display());
    let mut mgc = Process::start(&words);
    let (peer, to) = (Peer::new(), mgc.address());
    peer.send(to, "!/1 <mg> T=6{C=1{S=a}}");
    assert_eq!(peer.receive().0, "!/1 <mgc> P=6{C=1{S=a}}");
    mgc.quit();
    let octets = std::fs::read(&file).unwrap();
    assert_eq!(octets[..4], [0xd4, 0xc3, 0xb2, 0xa1]);
    let packet = &octets[40..];
    let ports = [peer.0.local_addr().unwrap().port(), to.port()];
    assert_eq!(packet[20..24], [ports[0].to_be_bytes(), ports[1].to_be_bytes()].concat());
    assert!(packet[28..].starts_with(b"!/1 <mg> T=6{C=1{S=a}}"));
    assert!(octets.ends_with(b"!/1 <mgc>\nP=6{C=1{S=a}}"));
}

#[test]
fn copies_to_homer() {
    let homer = Peer::new();
    let words = format!("mgc --listen tcp://127.0.0.1:0 --mid <mgc> --hep {}", homer.url());
    let mut mgc = Process::start(&words);
    let mut stream = TcpStream::connect(mgc.address()).unwrap();
    stream.write_all(b"\x03\x00\x00\x1a!/1 <mg> T=6{C=1{S=a}}").unwrap();
    for message in ["!/1 <mg> T=6{C=1{S=a}}", "!/1 <mgc> P=6{C=1{S=a}}"] {
        let (text, _) = homer.receive();
        assert!(text.starts_with("HEP3") && text.ends_with(message), "{text}");
    }
    let output = Command::new(env!("CARGO_BIN_EXE_tercet"))
        .args(["megaco", "mgc", "--listen", "udp://127.0.0.1:0", "--hep", "tcp://127.0.0.1:1"])
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("packets to Homer go over UDP"));
}
