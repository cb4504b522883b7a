//! `tercet megaco mgc`, `mg` and `load` as processes, on loopback sockets.
#![cfg(feature = "megaco")]

mod captures;
mod copies;
mod otp;
mod process;
mod scripts;
mod sctp;
mod strangers;
mod streams;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use process::{PATIENCE, Peer, Process};
use serde_json::json;

#[test]
fn a_controller_answers_once_and_repeats_its_answer() {
    let mut mgc = Process::start("mgc --listen udp://127.0.0.1:0 --mid <mgc> --reply-timer 60s");
    let (peer, to) = (Peer::new(), mgc.address());
    peer.send(to, "!/1 <mg> T=5{C=-{SC=ROOT{SV{MT=RS,RE=\"901\",V=3}}}}");
    assert_eq!(peer.receive().0, "!/1 <mgc> P=5{C=-{SC=root{SV{V=3}}}}");
    let connect = mgc.event("connect");
    assert_eq!((&connect["remote_mid"], &connect["version"]), (&json!("<mg>"), &json!(1)));
    for _ in 0..3 {
        peer.send(to, "!/3 <mg> T=6{C=${A=$}}");
        assert_eq!(peer.receive().0, "!/3 <mgc> P=6{C=1{A=rtp1}}");
    }
    mgc.tell(&json!({"do": "request", "text": "C=-{AV=root{AT{}}}"}));
    let (request, _) = peer.receive();
    assert_eq!(request, "!/3 <mgc> T=1{C=-{AV=root{AT{}}}}");
    peer.send(to, "!/3 <mg> P=1{C=-{AV=root}}");
    let result = mgc.event("result");
    let expected =
        json!({"ok": true, "error": null, "code": null, "replies": 1, "segments": 0, "text": "C=-{AV=root}"});
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&result[name], value, "{name}");
    }
    let executed = mgc.count("execute");
    let stats = mgc.quit();
    assert_eq!(executed, 2);
    assert_eq!((&stats["duplicates"], &stats["requests_received"]), (&json!(2), &json!(2)));
}

#[test]
fn a_controller_on_several_transports() {
    let mut mgc = Process::start("mgc --listen udp://127.0.0.1:0 --listen tcp://127.0.0.1:0 --mid <mgc>");
    _ = mgc.address();
    let to = mgc.address();
    let mut stream = TcpStream::connect(to).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(b"\x03\x00\x00\x1a!/1 <mg> T=6{C=1{S=a}}").unwrap();
    let expected = b"\x03\x00\x00\x1b!/1 <mgc>\nP=6{C=1{S=a}}";
    let mut reply = vec![0; expected.len()];
    stream.read_exact(&mut reply).unwrap();
    assert_eq!(reply.escape_ascii().to_string(), expected.escape_ascii().to_string());
    // A bad header closes the stream, and with it the connection.
    stream.write_all(b"\x03\x00\x00\x02").unwrap();
    assert!(matches!(stream.read(&mut [0; 1]), Ok(0) | Err(_)));
    let end = mgc.event("disconnect");
    assert_eq!(end["remote_mid"], "<mg>");
    assert!(end["reason"].as_str().unwrap().starts_with("bad TPKT header"), "{end}");
}

#[test]
fn pendings_and_their_limit() {
    let mut mgc = Process::start(
        "mgc --listen udp://127.0.0.1:0 --mid <mgc> --work 30s --pending-timer 50ms*1+0x9 --sent-pending-limit 2",
    );
    let (peer, to) = (Peer::new(), mgc.address());
    peer.send(to, "!/1 <mg> T=6{C=1{S=a}}");
    assert_eq!(peer.receive().0, "!/1 <mgc> PN=6{}");
    assert_eq!(peer.receive().0, "!/1 <mgc> PN=6{}");
    assert!(peer.receive().0.starts_with("!/1 <mgc> P=6{ER=506"));
    let abort = mgc.event("abort");
    assert_eq!((&abort["trans"], &abort["code"]), (&json!(6), &json!(506)));
    assert_eq!(mgc.count("pending"), 2);
    assert_eq!(mgc.seen.iter().find(|event| event["event"] == "pending").unwrap()["direction"], "sent");
}

#[test]
fn acknowledgements_of_a_controller() {
    let mut mgc = Process::start(
        "mgc --listen udp://127.0.0.1:0 --mid <mgc> --reply-ack handle --reply-timer 100ms*1+0x3",
    );
    let (peer, to) = (Peer::new(), mgc.address());
    peer.send(to, "!/1 <mg> T=6{C=1{S=a}}");
    for _ in 0..2 {
        assert_eq!(peer.receive().0, "!/1 <mgc> P=6{IA,C=1{S=a}}");
    }
    peer.send(to, "!/1 <mg> K{6}");
    assert_eq!(mgc.event("ack")["status"], "ok");
    peer.send(to, "!/1 <mg> K{9}");
    assert_eq!(mgc.event("unexpected")["kind"], "ack");
}

#[test]
fn only_registered_gateways() {
    let mut mgc = Process::start("mgc --listen udp://127.0.0.1:0 --mid <mgc> --require-registration");
    let (peer, to) = (Peer::new(), mgc.address());
    peer.send(to, "!/1 <mg> T=6{C=1{S=a}}");
    assert!(peer.receive().0.starts_with("!/1 <mgc> P=6{ER=504"));
    peer.send(to, "!/1 <mg> T=7{C=-{SC=ROOT{SV{MT=RS,RE=\"901\"}}}}");
    assert!(peer.receive().0.starts_with("!/1 <mgc> P=7{C=-"));
    peer.send(to, "!/1 <mg> T=8{C=1{S=a}}");
    assert_eq!(peer.receive().0, "!/1 <mgc> P=8{C=1{S=a}}");
}

#[test]
fn what_is_malformed_is_answered_once() {
    let mut mgc = Process::start("mgc --listen udp://127.0.0.1:0 --mid <mgc> --trace");
    let (peer, to) = (Peer::new(), mgc.address());
    peer.send(to, "!/1 <mg> T=6{C=1{S=}}");
    assert_eq!(peer.receive().0, "!/1 <mgc> ER=400{\"Syntax error on line 1\"}");
    let event = mgc.event("syntax_error");
    assert_eq!((&event["code"], mgc.count("recv")), (&json!(400), 1));
    peer.send(to, "!/1 <mg> ER=400{\"you\"}");
    let event = mgc.event("message_error");
    assert_eq!(
        (&event["code"], &event["text"], &event["remote_mid"]),
        (&json!(400), &json!("you"), &json!("<mg>"))
    );
}

/// A gateway tries its controllers in turn, negotiates the version, and answers.
#[test]
fn a_gateway_registers_with_the_controller_that_answers() {
    let (silent, peer) = (Peer::new(), Peer::new());
    let mut mg = Process::start(&format!(
        "mg --connect {} --mgc {} --mid <mg> --encoding compact --request-timer 100ms*1+0x1 --terminations 2",
        silent.url(),
        peer.url()
    ));
    let (first, _) = silent.receive();
    let (parms, time) = first.rsplit_once(',').unwrap();
    assert_eq!(parms, "!/1 <mg> T=1{C=-{SC=root{SV{MT=RS,V=3,RE=\"901 Cold Boot\"");
    // The time of day.
    assert!(time.len() == "20260131T12000000}}}}".len() && time.starts_with("20"), "{time}");
    let (request, mg_address) = peer.receive();
    assert!(request.starts_with("!/1 <mg> T=2{C=-{SC=root"), "{request}");
    // Too early.
    peer.send(mg_address, "!/1 <mgc> T=9{C=-{AV=root{AT{}}}}");
    assert!(peer.receive().0.starts_with("!/1 <mg> P=9{ER=505"));
    peer.send(mg_address, "!/1 <mgc> P=2{C=-{SC=ROOT{SV{V=2}}}}");
    let registered = mg.event("registered");
    assert_eq!((&registered["remote_mid"], &registered["version"]), (&json!("<mgc>"), &json!(2)));
    peer.send(mg_address, "!/2 <mgc> T=10{C=*{AV=*{AT{}}}}");
    assert_eq!(peer.receive().0, "!/2 <mg> P=10{C=-{AV=C{line1,line2}}}");
    // No answer to a request of ours: the same controller is tried again (11.5).
    mg.tell(&json!({"do": "request", "text": "C=-{N=line1{OE=1{al/of}}}"}));
    assert_eq!(peer.receive().0, "!/2 <mg> T=3{C=-{N=line1{OE=1{al/of}}}}");
    assert_eq!(mg.event("result")["error"], "timeout");
    loop {
        let (request, _) = peer.receive();
        if request.contains("MT=DC,V=3,RE=\"900 Service Restored\"") {
            break;
        }
    }
}

#[test]
fn a_handoff() {
    let (first, second) = (Peer::new(), Peer::new());
    let mut mg = Process::start(&format!("mg --connect {} --mid <mg> --encoding compact", first.url()));
    let (_, mg_address) = first.receive();
    first.send(mg_address, "!/1 <mgc> P=1{C=-{SC=ROOT}}");
    mg.event("registered");
    let to = second.0.local_addr().unwrap();
    first.send(
        mg_address,
        &format!("!/1 <mgc> T=9{{C=-{{SC=ROOT{{SV{{MT=HO,RE=\"903\",MG=[127.0.0.1]:{}}}}}}}}}", to.port()),
    );
    assert!(first.receive().0.starts_with("!/1 <mg> P=9{C=-{SC=root"));
    let (request, _) = second.receive();
    assert!(request.contains("MT=HO,V=3,RE=\"903 MGC Directed Change\""), "{request}");
    second.send(mg_address, "!/1 <other> P=2{C=-{SC=ROOT}}");
    assert_eq!(mg.event("registered")["remote_mid"], "<other>");
}

/// Gateway and controller with each other, in every encoding and on both transports.
#[test]
fn a_gateway_and_a_controller() {
    for (encoding, scheme) in
        [("compact", "udp"), ("pretty", "tcp"), ("ber", "udp"), ("per", "tcp"), ("etf", "udp")]
    {
        let mut mgc = Process::start(&format!("mgc --listen {scheme}://127.0.0.1:0 --mid mgc"));
        let to = mgc.address();
        let mut mg = Process::start(&format!("mg --connect {scheme}://{to} --mid mg --encoding {encoding}"));
        assert_eq!(mg.event("registered")["version"], 3, "{encoding}");
        mg.tell(&json!({"do": "request", "text": "C=-{N=line1{OE=1{al/of}}}"}));
        assert_eq!(mg.event("result")["ok"], true, "{encoding}");
        mgc.tell(&json!({"do": "request", "text": "C=${A=$}"}));
        assert_eq!(mgc.event("result")["text"], "C=1{A=rtp1}", "{encoding}");
        mg.quit();
        let stats = mgc.quit();
        assert_eq!((&stats["errors"], &stats["unexpected"]), (&json!(0), &json!(0)), "{encoding}");
    }
}

/// Names of terminations and packages that binary encodings have no octets for without a registry.
#[test]
fn a_registry_of_both_sides() {
    let folder = tempfile::tempdir().unwrap();
    let registry = folder.path().join("lines.toml");
    let text = "[[termination]]\nname = \"subscriber/line/0001\"\nid = \"10000001\"\n\
                [[package]]\nname = \"lamp\"\nid = 0x8001\n[[package.event]]\nname = \"off\"\nid = 1\n";
    std::fs::write(&registry, text).unwrap();
    let registry = registry.to_str().unwrap();
    let request = json!({"do": "request", "text": "C=-{N=subscriber/line/0001{OE=1{lamp/off}}}"});
    for encoding in ["ber", "per"] {
        let mut mgc =
            Process::start(&format!("mgc --listen udp://127.0.0.1:0 --trace --registry {registry}"));
        let to = mgc.address();
        let mut mg =
            Process::start(&format!("mg --connect udp://{to} --encoding {encoding} --registry {registry}"));
        mg.event("registered");
        mg.tell(&request);
        assert_eq!(mg.event("result")["text"], "C=-{N=subscriber/line/0001}", "{encoding}");
        mgc.event("recv");
        let received = mgc.event("recv")["text"].as_str().unwrap().to_owned();
        assert!(received.contains("{N=subscriber/line/0001{OE=1{lamp/off}}}"), "{received}");
        let actions = "C=-{AV=subscriber/line/0001{AT{}}}";
        let mut load = Command::new(env!("CARGO_BIN_EXE_tercet"));
        load.args(["megaco", "load", "--connect", &format!("udp://{to}"), "--encoding", encoding]);
        load.args(["--rate", "100/s", "--for", "100ms", "--text", actions, "--registry", registry]);
        assert_eq!(Process::of(&mut load).event("report")["ok"], 10, "{encoding}");
        // The other side reads them only by the same file.
        let mut mg = Process::start(&format!("mg --connect udp://{to} --encoding {encoding}"));
        mg.event("registered");
        mg.tell(&request);
        let error = mg.event("command_error")["text"].as_str().unwrap().to_owned();
        assert!(error.contains("a termination name of bits"), "{error}");
    }
}

/// What is read stays as it is.
#[test]
fn events_do_not_go_to_the_registry() {
    let folder = tempfile::tempdir().unwrap();
    let registry = folder.path().join("lines.toml");
    std::fs::write(&registry, "levels = [8]\n").unwrap();
    let mut mg = Command::new(env!("CARGO_BIN_EXE_tercet"));
    mg.args(["megaco", "mg", "--connect", "udp://127.0.0.1:9", "--registry"]).arg(&registry);
    let output = mg.arg("--events").arg(&registry).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("the registry") && text.contains("`--events`"), "{text}");
    assert_eq!(std::fs::read_to_string(&registry).unwrap(), "levels = [8]\n");
}

#[test]
fn a_load_is_reported() {
    let mut mgc = Process::start("mgc --listen udp://127.0.0.1:0");
    let to = mgc.address();
    let mut load =
        Process::start(&format!("load --connect udp://{to} --rate 200/s --for 500ms --scenario call"));
    let report = load.event("report");
    assert_eq!(
        (&report["requests"], &report["ok"], &report["failed"]),
        (&json!(100), &json!(100), &json!(0))
    );
    assert!(report["p99_ms"].is_number());
    load.event("stats");
    assert!(load.child.wait().unwrap().success());
}

/// Hands datagrams on between a gateway and a controller: of a hundred it loses 20, doubles 10, and holds 30 back for a while.
fn bad_network(controller: SocketAddr, seed: u64, blackout: Duration) -> SocketAddr {
    let (near, far) = (Peer::new().0, Peer::new().0);
    let address = near.local_addr().unwrap();
    std::thread::spawn(move || {
        let mut random = tercet_megaco_engine::Random::new(seed);
        let mut held: Vec<(Instant, bool, Vec<u8>)> = Vec::new();
        let mut gateway = None;
        let mut buffer = [0; 65_536];
        near.set_nonblocking(true).unwrap();
        far.set_nonblocking(true).unwrap();
        // It begins when the load is in full swing.
        let silence = Instant::now() + Duration::from_secs(5);
        loop {
            let is_dark = (silence..silence + blackout).contains(&Instant::now());
            for (socket, inwards) in [(&near, true), (&far, false)] {
                while let Ok((length, from)) = socket.recv_from(&mut buffer) {
                    if inwards {
                        gateway = Some(from);
                    }
                    let copies =
                        if is_dark || random.permille(200) { 0 } else { 1 + u32::from(random.permille(100)) };
                    for _ in 0..copies {
                        let wait = if random.permille(300) { random.below(60) } else { 0 };
                        held.push((
                            Instant::now() + Duration::from_millis(wait),
                            inwards,
                            buffer[..length].to_vec(),
                        ));
                    }
                }
            }
            let now = Instant::now();
            let (due, later): (Vec<_>, Vec<_>) = held.drain(..).partition(|(at, ..)| *at <= now);
            held = later;
            for (_, inwards, octets) in due {
                let sent = match (inwards, gateway) {
                    (true, _) => far.send_to(&octets, controller),
                    (false, Some(gateway)) => near.send_to(&octets, gateway),
                    (false, None) => Ok(0),
                };
                if sent.is_err() {
                    return;
                }
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    });
    address
}

/// Every request ends, most of them well, and none is executed twice.
/// Each way loses 20 % of the datagrams, repeats 10 % and delays 30 %. With `MEGACO_TRANSACTIONS=10000` there are so many, with
/// each of five seeds, and for 10 seconds nothing arrives.
#[test]
fn a_load_over_a_bad_network() {
    match std::env::var("MEGACO_TRANSACTIONS") {
        Err(_) => load_over_a_bad_network(17, 1, Duration::ZERO),
        Ok(count) => {
            let seconds = count.parse::<u64>().unwrap() / 300;
            (1..=5).for_each(|seed| load_over_a_bad_network(seed, seconds, Duration::from_secs(10)));
        }
    }
}

#[expect(clippy::print_stdout, reason = "the figures of a promise")]
fn load_over_a_bad_network(seed: u64, seconds: u64, blackout: Duration) {
    let mut mgc = Process::start("mgc --listen udp://127.0.0.1:0");
    let network = bad_network(mgc.address(), seed, blackout);
    let mut load = Process::start(&format!(
        "load --connect udp://{network} --rate 300/s --for {seconds}s --request-timer 100ms*2+0x8 --long-request-timer 100ms*2+0x8 --long-request-resend"
    ));
    let report = load.event_within("report", PATIENCE * 3 + Duration::from_secs(seconds));
    let number = |name: &str| report[name].as_u64().unwrap();
    let count = 300 * seconds;
    println!("seed {seed}: {report}");
    assert_eq!((number("requests"), number("waiting")), (count, 0));
    assert_eq!(number("ok") + number("failed"), count);
    // Beyond the blackout hardly any request is lost nine times.
    let least = if blackout.is_zero() { 967 } else { 900 };
    assert!(number("ok") >= count * least / 1000 && number("resends") > 0, "{report}");
    mgc.tell(&json!("stats"));
    mgc.event("stats");
    let mut executed: Vec<u64> = Vec::new();
    for event in mgc.seen.iter().filter(|event| event["event"] == "execute") {
        executed.push(event["trans"].as_u64().unwrap());
    }
    let count = executed.len();
    executed.sort_unstable();
    executed.dedup();
    assert_eq!(executed.len(), count);
    assert!(count as u64 > number("ok"));
}

/// Gateways of several threads and a controller of several: one report, one count of all.
#[test]
fn jobs_of_both_sides() {
    let mut mgc = Process::start("mgc --listen udp://127.0.0.1:0 --jobs 2 --mid <mgc>");
    let to = mgc.address();
    let mut load = Process::start(&format!(
        "load --connect udp://{to} --rate 301/s --for 500ms --jobs 4 --mid <mg.example.net>"
    ));
    let report = load.event("report");
    // Rates of 76 and 75 in a second.
    assert_eq!((&report["requests"], &report["ok"]), (&json!(149), &json!(149)), "{report}");
    let stats = load.event("stats");
    assert_eq!((&stats["requests_sent"], &stats["results_ok"]), (&json!(153), &json!(153)));
    assert!(load.child.wait().unwrap().success());
    mgc.tell(&json!("stats"));
    let stats = mgc.event("stats");
    assert_eq!((&stats["requests_received"], &stats["live_connections"]), (&json!(153), &json!(4)));
    assert_eq!(mgc.count("execute"), 153);
    let mut mids: Vec<&str> = mgc
        .seen
        .iter()
        .filter(|event| event["event"] == "connect")
        .map(|event| event["remote_mid"].as_str().unwrap())
        .collect();
    mids.sort_unstable();
    assert_eq!(mids, ["<mg-2.example.net>", "<mg-3.example.net>", "<mg-4.example.net>", "<mg.example.net>"]);
    mgc.quit();
}

/// Commands go to the thread of their peer: the one that is named, or the one that connected last.
#[test]
fn jobs_and_their_peers() {
    let mut mgc = Process::start("mgc --listen udp://127.0.0.1:0 --jobs 3 --mid <mgc>");
    let to = mgc.address();
    let peers: Vec<(Peer, String)> = (0..6).map(|number| (Peer::new(), format!("<mg{number}>"))).collect();
    let request =
        |name: Option<&str>| json!({"do": "request", "text": "C=-{AV=root{AT{}}}", "remote_mid": name});
    for (peer, name) in &peers {
        peer.send(to, &format!("!/1 {name} T=6{{C=1{{S=a}}}}"));
        assert_eq!(peer.receive().0, "!/1 <mgc> P=6{C=1{S=a}}");
        assert_eq!(mgc.event("connect")["remote_mid"], json!(name));
        mgc.tell(&request(None));
        assert!(peer.receive().0.contains("AV=root"), "{name}");
    }
    for (peer, name) in &peers {
        mgc.tell(&request(Some(&name.to_uppercase())));
        let (text, from) = peer.receive();
        assert!(text.contains("AV=root"), "{name}: {text}");
        // It has requests, and a reply from another port belongs to them.
        let id = text.split_once("T=").unwrap().1.split_once('{').unwrap().0;
        Peer::new().send(from, &format!("!/1 {name} P={id}{{C=-{{AV=root}}}}"));
        let result = mgc.event("result");
        assert_eq!((&result["ok"], &result["text"]), (&json!(true), &json!("C=-{AV=root}")));
    }
    mgc.tell(&request(Some("<nobody>")));
    assert_eq!(mgc.event("command_error")["text"], "no connection");
    let stats = mgc.quit();
    assert_eq!((&stats["requests_sent"], &stats["results_ok"]), (&json!(12), &json!(6)));
}

#[test]
#[cfg(unix)]
fn a_signal_ends_with_the_counters() {
    let mut mgc = Process::start("mgc --listen udp://127.0.0.1:0");
    mgc.address();
    let pid = mgc.child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    mgc.event("stats");
    assert!(mgc.child.wait().unwrap().success());
}

#[test]
fn bad_options_and_commands() {
    for (words, expected) in [
        ("mgc --listen http://a", "expected udp://HOST:PORT"),
        ("mgc --listen udp://127.0.0.1:1 --request-timer soon", "expected a timer such as"),
        ("mgc --listen udp://127.0.0.1:1 --mid [1", "bad message identifier `[1`"),
        ("mg --connect udp://127.0.0.1:1 --encoding xml", "expected auto, pretty, compact"),
        ("mgc --listen tls://127.0.0.1:0", "a listener requires a certificate"),
        ("mgc --listen udp://127.0.0.1:1 --jobs 0", "--jobs"),
        ("load --listen udp://127.0.0.1:1 --rate 1/s --for 1s --jobs 2", "cannot be used with"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_tercet"))
            .arg("megaco")
            .args(words.split(' '))
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && text.contains(expected), "{words}: {text}");
    }
    let mut mgc = Process::start("mgc --listen udp://127.0.0.1:0");
    let address = mgc.address();
    mgc.tell(&json!({"do": "request", "text": "C=-{S=a}"}));
    assert_eq!(mgc.event("command_error")["text"], "no connection");
    mgc.tell(&json!({"do": "reqest"}));
    assert!(mgc.event("command_error")["text"].as_str().unwrap().contains("did you mean `request`?"));
    // Text that ends its transaction and begins another one.
    let mut mg = Process::start(&format!("mg --connect udp://{address}"));
    mg.event("registered");
    mg.tell(&json!({"do": "request", "text": "C=-{S=a}} T=2{C=-{S=b}"}));
    let text = mg.event("command_error")["text"].to_string();
    assert!(text.contains("the actions of one transaction"), "{text}");
}
