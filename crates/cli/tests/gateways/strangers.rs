//! Gateways and controllers with peers that answer what is not expected, or come from elsewhere.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::process::{Peer, Process};
use serde_json::json;

/// A gateway with two controllers, which has sent its first registration.
fn gateway(words: &str) -> (Process, Peer, Peer, std::net::SocketAddr) {
    let (first, second) = (Peer::new(), Peer::new());
    let words =
        format!("mg --connect {} --mgc {} --mid <mg> --encoding compact {words}", first.url(), second.url());
    let mg = Process::start(&words);
    let (_, address) = first.receive();
    (mg, first, second, address)
}

/// An answer without a reply to the ServiceChange is a refusal.
#[test]
fn answers_that_accept_nothing() {
    for answer in ["P=1{C=-{ER=500{\"no\"}}}", "P=1{C=-{AV=root}}", "P=1{C=-}"] {
        let (_mg, first, second, address) = gateway("");
        first.send(address, &format!("!/1 <mgc> {answer}"));
        assert!(second.receive().0.contains("SC=root"), "{answer}");
    }
}

/// Others than the controller that is to answer cannot end a registration, and have nothing executed before it.
#[test]
fn others_before_the_registration() {
    let (mut mg, first, second, address) = gateway("");
    let other = Peer::new();
    other.send(address, "!/1 <evil> ER=500{\"x\"}");
    mg.event("message_error");
    other.send(address, "!/1 <evil> T=5{C=${A=line1}}");
    assert!(other.receive().0.starts_with("!/1 <mg> P=5{ER=505"));
    // The answer to the first registration comes still, and with it where requests are to go.
    let port = second.0.local_addr().unwrap().port();
    first.send(address, &format!("!/1 <mgc> P=1{{C=-{{SC=ROOT{{SV{{AD={port},V=1}}}}}}}}"));
    assert_eq!(mg.event("registered")["remote_mid"], "<mgc>");
    assert_eq!(mg.count("execute"), 0);
    mg.tell(&json!({"do": "request", "text": "C=-{N=line1{OE=1{al/of}}}"}));
    assert!(second.receive().0.contains("N=line1"));
}

/// What happens at a gateway ends its wait before the first registration; the registration that was to come does not come.
#[test]
fn activity_ends_the_wait() {
    let peer = Peer::new();
    let mut mg =
        Process::start(&format!("mg --connect {} --mid <mg> --encoding compact --mwd 600s", peer.url()));
    mg.tell(&json!({"do": "request", "text": "C=-{N=line1{OE=1{al/of}}}"}));
    let (_, address) = peer.receive();
    peer.send(address, "!/1 <mgc> P=1{C=-{SC=ROOT{SV{V=1}}}}");
    assert!(peer.receive().0.contains("N=line1"));
}

/// A message is told when it is sent, not when the next one comes; so is what could not be sent.
#[test]
fn events_come_at_once() {
    let mut mgc = Process::start(
        "mgc --listen udp://127.0.0.1:0 --mid <mgc> --encoding compact --trace --request-timer 20s*1+0x3",
    );
    let (peer, address) = (Peer::new(), mgc.address());
    let begin = Instant::now();
    peer.send(address, "!/1 <mg> T=1{C=-{SC=ROOT{SV{MT=RS,RE=\"901\"}}}}");
    mgc.event("send");
    mgc.tell(&json!({"do": "request", "text": "C=-{AV=root{AT{}}}"}));
    mgc.event("send");
    assert!(begin.elapsed() < Duration::from_secs(20));
    // After the end of the connection, its requests end when they are cancelled.
    mgc.tell(&json!("disconnect"));
    mgc.event("disconnect");
    mgc.tell(&json!("cancel"));
    assert_eq!(mgc.event("result")["error"], "cancelled");
}

/// Requests that are gathered leave before the end.
#[test]
fn what_is_gathered_leaves_before_the_end() {
    let mut mgc = Process::start(
        "mgc --listen udp://127.0.0.1:0 --mid <mgc> --encoding compact --batch-requests 9 --batch-timer 60s",
    );
    let (peer, address) = (Peer::new(), mgc.address());
    peer.send(address, "!/1 <mg> T=1{C=-{SC=ROOT{SV{MT=RS,RE=\"901\"}}}}");
    peer.receive();
    mgc.event("execute");
    mgc.tell(&json!({"do": "request", "text": "C=-{AV=root{AT{}}}"}));
    mgc.quit();
    assert_eq!(peer.receive().0, "!/1 <mgc> T=1{C=-{AV=root{AT{}}}}");
}

/// A line that is no text is a bad command, and the next one is read.
#[test]
fn lines_that_are_no_text() {
    let mut mgc = Process::start("mgc --listen udp://127.0.0.1:0 --mid <mgc>");
    mgc.octets(b"\xff\xfe\n");
    mgc.event("command_error");
    mgc.tell(&json!("stats"));
    mgc.event("stats");
}

/// Why a gateway is not registered is reported once, also where the answer is a refusal; that a controller asks for another version is
/// no reason.
#[test]
fn why_a_gateway_is_not_registered() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let closed = format!("tcp://127.0.0.1:{port}");
    let peer = Peer::new();
    let mut mg = Command::new(env!("CARGO_BIN_EXE_tercet"))
        .args(["megaco", "mg", "--connect", &closed, "--mgc", &peer.url(), "--mid", "<mg>"])
        .args(["--encoding", "compact"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    for answer in ["ER=406{}", "C=-{SC=ROOT{ER=500{}}}"] {
        let (request, address) = peer.receive();
        let id = request.split_once("T=").unwrap().1.split_once('{').unwrap().0;
        peer.send(address, &format!("!/1 <mgc> P={id}{{{answer}}}"));
    }
    let mut lines = BufReader::new(mg.stderr.take().unwrap()).lines();
    let first = lines.next().unwrap().unwrap();
    assert!(first.starts_with(&format!("warning: {closed}: not registered: ")), "{first}");
    assert_eq!(lines.next().unwrap().unwrap(), format!("warning: {}: not registered: refused", peer.url()));
    _ = mg.kill();
    _ = mg.wait();
}
