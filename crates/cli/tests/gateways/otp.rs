//! Gateways and controllers of Erlang/OTP against ours: every codec in every version, by UDP and TCP, in both roles.
//!
//! The tests need Erlang with its application megaco, and the script beside the repository that runs it. They skip without.

use std::net::{TcpListener, UdpSocket};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};

use crate::process::Process;

/// Names of codecs: those of the peer, and ours.
const CODECS: [(&str, &str); 5] =
    [("pretty", "pretty"), ("compact", "compact"), ("ber", "ber"), ("per", "per"), ("erl_dist", "etf")];

/// A Notify. In the binary codecs OTP reads names of three levels only.
const NOTIFY: &str = "C=-{N=00000001/00000000/00000001{OE=1{20250101T12000000:al/of}}}";

/// The gateway or the controller of Erlang/OTP.
fn otp(words: &str) -> Option<Process> {
    tercet_testing::programs("erlang", ["escript"])?;
    let script = tercet_testing::corpora("../tools/megaco_peer/megaco_peer")?;
    // Erlang logs to the standard output, which has the events here.
    const LOG: &str = "-kernel logger [{handler,default,logger_std_h,#{config=>#{type=>standard_error}}}]";
    let mut command = Command::new("escript");
    Some(Process::of(command.env("ERL_FLAGS", LOG).arg(script).args(words.split_whitespace())))
}

/// A port of UDP and TCP that was free a moment ago. It is below those that systems give out: Erlang takes a second to start.
fn free_port() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    loop {
        let place = std::process::id().wrapping_mul(40).wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed));
        let port = 10_000 + (place % 20_000) as u16;
        if UdpSocket::bind(("127.0.0.1", port)).is_ok() && TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

/// A controller of OTP by UDP that has begun to listen, and its URL.
fn controller(words: &str) -> Option<(Process, String)> {
    let port = free_port();
    let mut peer = otp(&format!("mgc --listen udp:127.0.0.1:{port} --stay {words}"))?;
    peer.event("listening");
    Some((peer, format!("udp://127.0.0.1:{port}")))
}

/// A gateway of ours that is registered.
fn gateway(words: &str) -> Process {
    let mut mg = Process::start(&format!("mg --mid mg {words}"));
    mg.event("registered");
    mg
}

fn request(process: &mut Process, text: &str) {
    process.tell(&json!({"do": "request", "text": text}));
}

#[test]
fn gateways_of_otp() {
    let mut mgc = Process::start("mgc --listen udp://127.0.0.1:0 --listen tcp://127.0.0.1:0 --mid mgc");
    let ports = [("udp", mgc.address().port()), ("tcp", mgc.address().port())];
    let mut calls = 0;
    for (codec, _) in CODECS {
        for version in 1..=3 {
            for (scheme, port) in ports {
                let name = format!("{codec}{version}{scheme}");
                let Some(mut peer) = otp(&format!(
                    "mg --connect {scheme}:127.0.0.1:{port} --mid {name} --codec {codec} --version {version} --calls 20 --conc 4 --kind chain --quiet"
                )) else {
                    return;
                };
                let result = peer.event("result");
                assert_eq!(
                    (&result["calls_ok"], &result["calls_failed"]),
                    (&json!(20), &json!(0)),
                    "{name}: {result}"
                );
                calls += 20 + 1;
            }
        }
    }
    let stats = mgc.quit();
    let counted =
        ["requests_received", "errors", "unexpected", "send_failures"].map(|name| stats[name].clone());
    assert_eq!(counted, [json!(calls), json!(0), json!(0), json!(0)], "{stats}");
}

#[test]
fn controllers_of_otp() {
    for (codec, encoding) in CODECS {
        let port = free_port();
        let Some(mut peer) = otp(&format!(
            "mgc --listen udp:127.0.0.1:{port} --listen tcp:127.0.0.1:{port} --codec {codec} --kind chain --stay"
        )) else {
            return;
        };
        peer.event("listening");
        peer.event("listening");
        for version in 1..=3 {
            for scheme in ["udp", "tcp"] {
                let name = format!("{encoding}{version}{scheme}");
                let mut mg = Process::start(&format!(
                    "mg --connect {scheme}://127.0.0.1:{port} --mid {name} --encoding {encoding} --h248-version {version}"
                ));
                assert_eq!(mg.event("registered")["version"], version, "{name}");
                request(&mut mg, NOTIFY);
                let result = mg.event("result");
                assert_eq!(result["ok"], true, "{name}: {result}");
                peer.line("call 4");
                let result = peer.event("result");
                assert_eq!(
                    (&result["calls_ok"], &result["calls_failed"]),
                    (&json!(4), &json!(0)),
                    "{name}: {result}"
                );
                let stats = mg.quit();
                assert_eq!(
                    (&stats["requests_received"], &stats["errors"]),
                    (&json!(4), &json!(0)),
                    "{name}: {stats}"
                );
            }
        }
        for fault in ["syntax_error", "message_error", "unexpected_trans", "call_failed"] {
            assert_eq!(peer.count(fault), 0, "{codec}: {:#?}", peer.seen);
        }
    }
}

#[test]
fn pendings_of_both() {
    let Some((_peer, url)) = controller("--quiet --reply-delay 700 --set pending_timer=100") else { return };
    let mut mg = gateway(&format!("--connect {url} --encoding compact"));
    request(&mut mg, NOTIFY);
    assert_eq!(mg.event("pending")["direction"], "received");
    assert_eq!(mg.event("result")["ok"], true);
    mg.quit();

    let mut mgc =
        Process::start("mgc --listen udp://127.0.0.1:0 --mid mgc --work 700ms --pending-timer 100ms");
    let to = mgc.address();
    let Some(mut peer) = otp(&format!("mg --connect udp:{to} --calls 1")) else { return };
    assert_eq!(peer.event("result")["calls_ok"], 1);
    assert_eq!(mgc.quit()["pendings_sent"], 1);
}

#[test]
fn acknowledgements_of_both() {
    // OTP sends a reply before it waits for its acknowledgement, and forgets one that comes in between: the reply is not
    // to ask for it at once, as with `--reply ack`.
    let Some((mut peer, url)) = controller("--reply sloppy") else { return };
    let mut mg = gateway(&format!("--connect {url} --encoding compact --batch-acks 9 --batch-timer 1s"));
    for _ in 0..4 {
        request(&mut mg, NOTIFY);
    }
    for _ in 0..4 {
        assert_eq!(mg.event("result")["ok"], true);
    }
    for _ in 0..4 {
        assert_eq!(peer.event("ack")["status"], "ok");
    }
    mg.quit();

    let mut mgc = Process::start("mgc --listen udp://127.0.0.1:0 --mid mgc --reply-ack handle");
    let to = mgc.address();
    let words = "--calls 3 --set auto_ack=true --set trans_ack=true --set trans_timer=100 --quiet --stay";
    let Some(mut peer) = otp(&format!("mg --connect udp:{to} {words}")) else { return };
    assert_eq!(peer.event("result")["calls_ok"], 3);
    for _ in 0..3 {
        assert_eq!(mgc.event("ack")["status"], "ok");
    }
}

#[test]
fn requests_together_of_both() {
    let Some((_peer, url)) = controller("--quiet") else { return };
    let mut mg = gateway(&format!("--connect {url} --encoding compact --batch-requests 4 --batch-timer 5s"));
    for _ in 0..4 {
        request(&mut mg, NOTIFY);
    }
    for _ in 0..4 {
        assert_eq!(mg.event("result")["ok"], true);
    }
    // The registration, and one message for all.
    assert_eq!(mg.quit()["out_messages"], 2);

    let mut mgc = Process::start("mgc --listen udp://127.0.0.1:0 --mid mgc");
    let to = mgc.address();
    let Some(mut peer) = otp(&format!("mg --connect udp:{to} --calls 2 --trans 5 --actions 3")) else {
        return;
    };
    let result = peer.event("result");
    assert_eq!((&result["calls_ok"], &result["transactions"]), (&json!(2), &json!(10)));
    assert_eq!(mgc.quit()["requests_received"], 11);
}

#[test]
fn segments_of_both() {
    let Some((mut peer, url)) = controller("--quiet") else { return };
    let mut mg = gateway(&format!("--connect {url} --encoding compact"));
    // Only now: with segments OTP cannot answer a registration in version 1.
    for item in ["segment_send=infinity", "max_pdu_size=300", "segment_reply_ind=true"] {
        peer.line(&format!("set {item}"));
        peer.event("set");
    }
    let actions: Vec<String> =
        (1..=4).map(|context| format!("C={context}{{AV=t1.{context}{{AT{{M}}}}}}")).collect();
    request(&mut mg, &actions.join(","));
    let result = mg.event("result");
    assert_eq!(
        (&result["ok"], &result["replies"], &result["segments"]),
        (&json!(true), &json!(4), &json!(4))
    );
    // OTP does not always tell of replies to segments that come while it still sends.
    while peer.event("segment_reply")["complete"] != true {}
    mg.quit();

    let mut mgc = Process::start("mgc --listen udp://127.0.0.1:0 --mid mgc --segment 1 --max-pdu 200");
    let to = mgc.address();
    let words = "--version 3 --calls 1 --kind add --actions 40 --stay";
    let Some(mut peer) = otp(&format!("mg --connect udp:{to} {words}")) else { return };
    let result = peer.event("result");
    assert_eq!(result["calls_ok"], 1, "{:#?}", peer.seen);
    while mgc.event("segment")["complete"] != true {}
    assert!(mgc.count("segment") > 1);
}

#[test]
fn pending_limits_of_both() {
    const TIMER: &str = "--set pending_timer={megaco_incr_timer,100,1,0,infinity}";
    let Some((_peer, url)) =
        controller(&format!("--quiet --reply-delay 3000 --set sent_pending_limit=2 {TIMER}"))
    else {
        return;
    };
    let mut mg = gateway(&format!("--connect {url} --encoding compact"));
    request(&mut mg, NOTIFY);
    let result = mg.event("result");
    assert_eq!((&result["error"], &result["code"]), (&json!("error_descriptor"), &json!(506)));
    mg.quit();

    let mut mgc = Process::start(
        "mgc --listen udp://127.0.0.1:0 --mid mgc --work 60s --pending-timer 100ms*1+0xinf --sent-pending-limit 2",
    );
    let to = mgc.address();
    let Some(mut peer) = otp(&format!("mg --connect udp:{to} --calls 1")) else { return };
    assert!(peer.event("call_failed")["reply"].as_str().unwrap().contains("506"));
    assert_eq!(mgc.event("abort")["code"], 506);
}

#[test]
fn cancelled_by_both() {
    let Some((_peer, url)) = controller("--quiet --reply-delay 3000") else { return };
    let mut mg = gateway(&format!("--connect {url} --encoding compact"));
    request(&mut mg, NOTIFY);
    mg.tell(&json!({"do": "cancel"}));
    assert_eq!(mg.event("result")["error"], "cancelled");
    mg.quit();

    let mut mgc = Process::start("mgc --listen udp://127.0.0.1:0 --mid mgc --work 60s");
    let to = mgc.address();
    let Some(mut peer) = otp(&format!("mg --connect udp:{to} --stay")) else { return };
    peer.event("service_change_reply");
    peer.line("call 1");
    while mgc.event("execute")["trans"] != 2 {}
    peer.line("cancel");
    assert!(peer.event("call_failed")["reply"].as_str().unwrap().contains("user_cancel"));
}

#[test]
fn a_controller_of_otp_starts_again() {
    let port = free_port();
    let start = || otp(&format!("mgc --listen tcp:127.0.0.1:{port} --stay --quiet"));
    let Some(mut first) = start() else { return };
    first.event("listening");
    let mut mg = gateway(&format!("--connect tcp://127.0.0.1:{port} --encoding compact"));
    first.line("quit");
    mg.event("disconnect");
    let Some(mut second) = start() else { return };
    second.event("listening");
    mg.event("registered");
    request(&mut mg, NOTIFY);
    let result: Value = mg.event("result");
    assert_eq!(result["ok"], true, "{result}");
}
