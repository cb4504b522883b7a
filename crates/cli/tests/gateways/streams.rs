//! The streams of a gateway: one to the controller that it is registered with.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use super::process::{PATIENCE, Process};
use serde_json::json;

/// A controller that the test plays by TCP.
struct Controller(TcpListener);

impl Controller {
    fn new() -> Self {
        Self(TcpListener::bind("127.0.0.1:0").unwrap())
    }

    fn url(&self) -> String {
        format!("tcp://{}", self.0.local_addr().unwrap())
    }

    /// The next stream, with the registration that comes by it.
    fn accept(&self) -> (TcpStream, String) {
        let mut stream = self.0.accept().unwrap().0;
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let text = receive(&mut stream);
        (stream, text)
    }
}

fn receive(stream: &mut TcpStream) -> String {
    let mut header = [0; 4];
    stream.read_exact(&mut header).unwrap();
    let mut body = vec![0; usize::from(u16::from_be_bytes([header[2], header[3]])) - 4];
    stream.read_exact(&mut body).unwrap();
    String::from_utf8(body).unwrap().replace('\n', " ")
}

fn send(stream: &mut TcpStream, text: &str) {
    let mut frame = vec![3, 0, 0, text.len() as u8 + 4];
    frame.extend_from_slice(text.as_bytes());
    stream.write_all(&frame).unwrap();
}

#[track_caller]
fn is_closed(mut stream: TcpStream) {
    assert!(matches!(stream.read(&mut [0; 1]), Ok(0)), "the stream is open");
}

fn id(text: &str) -> &str {
    text.split_once("T=").unwrap().1.split_once('{').unwrap().0
}

/// A refused registration, by an error of the transaction and of the message, and one without an answer: their streams are
/// closed when the gateway goes on.
#[test]
fn a_refused_registration_closes_its_stream() {
    let [refuses, cannot_read, silent, accepts] = [(); 4].map(|()| Controller::new());
    let mut mg = Process::start(&format!(
        "mg --connect {} --mgc {} --mgc {} --mgc {} --mid <mg> --encoding compact --request-timer 100ms*1+0x1",
        refuses.url(),
        cannot_read.url(),
        silent.url(),
        accepts.url()
    ));
    let (mut stream, text) = refuses.accept();
    send(&mut stream, &format!("!/1 <mgc1> P={}{{ER=500{{}}}}", id(&text)));
    is_closed(stream);
    let (mut stream, _) = cannot_read.accept();
    send(&mut stream, "!/1 <mgc2> ER=400{}");
    is_closed(stream);
    let (mut stream, _) = silent.accept();
    _ = receive(&mut stream);
    is_closed(stream);
    let (mut stream, text) = accepts.accept();
    send(&mut stream, &format!("!/1 <mgc4> P={}{{C=-{{SC=ROOT{{SV{{V=1}}}}}}}}", id(&text)));
    assert_eq!(mg.event("registered")["remote_mid"], "<mgc4>");
    // The ends of the other streams are not the loss of this controller.
    mg.tell(&json!({"do": "request", "text": "C=-{N=line1{OE=1{al/of}}}"}));
    let text = receive(&mut stream);
    assert!(text.contains("N=line1"), "{text}");
    send(&mut stream, &format!("!/1 <mgc4> P={}{{C=-{{N=line1}}}}", id(&text)));
    assert_eq!(mg.event("result")["ok"], true);
    assert_eq!(mg.count("registered"), 1);
}

/// A gateway that registers again, because a request had no answer or another controller is to be used, has one stream after that.
#[test]
fn a_new_registration_closes_the_stream_before() {
    let (first, second) = (Controller::new(), Controller::new());
    let words = "--mid <mg> --encoding compact --request-timer 100ms*1+0x1";
    let mut mg = Process::start(&format!("mg --connect {} {words}", first.url()));
    let reply = |stream: &mut TcpStream, name: &str, text: &str| {
        send(stream, &format!("!/1 {name} P={}{{C=-{{SC=ROOT{{SV{{V=1}}}}}}}}", id(text)));
    };
    let (mut old, text) = first.accept();
    reply(&mut old, "<mgc>", &text);
    mg.event("registered");
    mg.tell(&json!({"do": "request", "text": "C=-{N=line1{OE=1{al/of}}}"}));
    assert_eq!(mg.event("result")["error"], "timeout");
    let (mut stream, text) = first.accept();
    assert!(text.contains("MT=DC"), "{text}");
    reply(&mut stream, "<mgc>", &text);
    mg.event("registered");
    while !matches!(old.read(&mut [0; 100]), Ok(0)) {}
    // Handed off: the reply goes to the old controller, then its stream ends.
    let address = second.0.local_addr().unwrap();
    let hand_off = format!("SC=ROOT{{SV{{MT=HO,RE=\"903\",MG=[127.0.0.1]:{}}}}}", address.port());
    send(&mut stream, &format!("!/1 <mgc> T=7{{C=-{{{hand_off}}}}}"));
    assert!(receive(&mut stream).contains("P=7{C=-{SC=root"));
    let (mut new, text) = second.accept();
    assert!(text.contains("MT=HO"), "{text}");
    reply(&mut new, &format!("[127.0.0.1]:{}", address.port()), &text);
    mg.event("registered");
    is_closed(stream);
    mg.tell(&json!({"do": "request", "text": "C=-{N=line1{OE=1{al/of}}}"}));
    assert!(receive(&mut new).contains("N=line1"));
    assert_eq!(mg.count("registered"), 3);
}

/// A controller that refuses the version is asked again on the stream that is open, and so is one that does not answer a request.
#[test]
fn a_stream_that_is_open_is_used_again() {
    let controller = Controller::new();
    let mut mg = Process::start(&format!(
        "mg --connect {} --mid <mg> --encoding compact --request-timer 300ms*1+0x1",
        controller.url()
    ));
    let (mut stream, text) = controller.accept();
    send(&mut stream, &format!("!/1 <mgc> P={}{{ER=406{{}}}}", id(&text)));
    let text = receive(&mut stream);
    assert!(text.contains("V=2"), "{text}");
    send(&mut stream, &format!("!/1 <mgc> P={}{{C=-{{SC=ROOT{{SV{{V=1}}}}}}}}", id(&text)));
    mg.event("registered");
    mg.tell(&json!({"do": "request", "text": "C=-{N=line1{OE=1{al/of}}}"}));
    let mut text = receive(&mut stream);
    while !text.contains("MT=DC") {
        assert!(text.contains("N=line1"), "{text}");
        text = receive(&mut stream);
    }
}
