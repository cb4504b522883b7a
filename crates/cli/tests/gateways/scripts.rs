//! Wire scripts: what a peer sends and has to receive, and the events that have to follow, line by line.
//!
//! The files are in `scripts/`. A line is
//!
//! - `run WORDS`: starts the command; `{a}` is the URL of peer `a`, if it is one that a gateway connects to
//! - `a> TEXT`, `a< TEXT`: peer `a` sends a message, and receives one; `*` stands for anything. Peers that begin with `t` are
//!   streams of TCP, the others send datagrams. `\n` is a line end, `{b.mid}` the address of peer `b` as a mid
//! - `a<~ TEXT`: peer `a` receives a message after any others
//! - `a>hex OCTETS`: sends octets as they are, on a stream without a header
//! - `a<nothing TIME`, `t<closed`: nothing arrives for so long; the stream ends
//! - `t.close`: closes a stream; the next message opens another one
//! - `do JSON`: a command on standard input
//! - `event NAME JSON`: the next event of that name has these members
//! - `wait TIME`
//! - `stats JSON`: ends the command; its last counters have these members
//!
//! Each script runs three times: as it is; with several jobs of its controllers; with streams in place of datagrams, unless `run` is
//! `run-udp`. Nothing may differ.

use std::collections::HashMap;
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use crate::process::{PATIENCE, Peer, Process};

enum Remote {
    Datagrams { peer: Peer, to: Option<SocketAddr> },
    Stream { listener: TcpListener, stream: Option<TcpStream>, to: Option<SocketAddr> },
}

impl Remote {
    fn new(is_stream: bool) -> Self {
        if is_stream {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            return Self::Stream { listener, stream: None, to: None };
        }
        Self::Datagrams { peer: Peer::new(), to: None }
    }

    fn url(&self) -> String {
        match self {
            Self::Datagrams { peer, .. } => peer.url(),
            Self::Stream { listener, .. } => format!("tcp://{}", listener.local_addr().unwrap()),
        }
    }

    /// The stream: one that is open, a new one to a controller, or one that a gateway opens.
    fn stream(&mut self) -> &mut TcpStream {
        let Self::Stream { listener, stream, to } = self else { panic!("not a stream") };
        stream.get_or_insert_with(|| {
            let stream = match to {
                Some(to) => TcpStream::connect(*to).unwrap(),
                None => listener.accept().unwrap().0,
            };
            stream.set_read_timeout(Some(PATIENCE)).unwrap();
            stream
        })
    }

    fn send(&mut self, octets: &[u8], is_frame: bool) {
        match self {
            Self::Datagrams { peer, to } => _ = peer.0.send_to(octets, to.unwrap()).unwrap(),
            Self::Stream { .. } => {
                let mut frame = Vec::new();
                if is_frame {
                    frame.extend_from_slice(&[3, 0]);
                    frame.extend_from_slice(&(octets.len() as u16 + 4).to_be_bytes());
                }
                frame.extend_from_slice(octets);
                self.stream().write_all(&frame).unwrap();
            }
        }
    }

    fn receive(&mut self, wait: Duration) -> Option<String> {
        let late = |kind: ErrorKind| matches!(kind, ErrorKind::WouldBlock | ErrorKind::TimedOut);
        let octets = match self {
            Self::Datagrams { peer, to } => {
                let mut buffer = [0; 65_536];
                peer.0.set_read_timeout(Some(wait)).unwrap();
                match peer.0.recv_from(&mut buffer) {
                    Ok((length, from)) => {
                        *to = Some(from);
                        buffer[..length].to_vec()
                    }
                    Err(error) if late(error.kind()) => return None,
                    Err(error) => panic!("{error}"),
                }
            }
            Self::Stream { .. } => {
                let stream = self.stream();
                stream.set_read_timeout(Some(wait)).unwrap();
                let mut header = [0; 4];
                match stream.read_exact(&mut header) {
                    Ok(()) => {}
                    Err(error) if late(error.kind()) => return None,
                    Err(error) => panic!("{error}"),
                }
                let mut octets = vec![0; usize::from(u16::from_be_bytes([header[2], header[3]])) - 4];
                stream.read_exact(&mut octets).unwrap();
                octets
            }
        };
        Some(String::from_utf8_lossy(&octets).replace('\n', " "))
    }
}

/// Whether a text is a pattern in which `*` stands for anything.
fn fits(pattern: &str, text: &str) -> bool {
    let Some((begin, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(text) = text.strip_prefix(begin) else { return false };
    let ends = (0..=text.len()).filter(|&at| text.is_char_boundary(at));
    ends.into_iter().any(|at| fits(rest, &text[at..]))
}

fn time(text: &str) -> Duration {
    Duration::from_millis(text.trim().strip_suffix("ms").unwrap().parse().unwrap())
}

#[track_caller]
fn members(place: &str, event: &Value, expected: &str) {
    let expected: Value = serde_json::from_str(expected).unwrap_or_else(|error| panic!("{place}: {error}"));
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&event[name], value, "{place}: {name} of {event}");
    }
}

#[derive(Default)]
struct Run {
    process: Option<Process>,
    peers: HashMap<String, Remote>,
    variant: Variant,
}

/// How a script is changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Variant {
    #[default]
    AsItIs,
    /// Controllers have several threads.
    Jobs,
    /// All peers are streams.
    Streams,
}

impl Run {
    fn peer(&mut self, name: &str) -> &mut Remote {
        let is_stream = self.is_stream(name);
        self.peers.entry(name.to_owned()).or_insert_with(|| Remote::new(is_stream))
    }

    fn is_stream(&self, name: &str) -> bool {
        name.starts_with('t') || self.variant == Variant::Streams
    }

    fn start(&mut self, words: &str) {
        let mut words = words.to_owned();
        match self.variant {
            Variant::Jobs if words.starts_with("mgc ") => words.push_str(" --jobs 3"),
            Variant::Streams => words = words.replace("udp://", "tcp://"),
            _ => {}
        }
        for name in ["a", "b", "t", "t2"] {
            let mark = format!("{{{name}}}");
            if words.contains(&mark) {
                let url = self.peer(name).url();
                words = words.replace(&mark, &url);
            }
        }
        let mut process = Process::start(&words);
        // A controller reports each way that it listens at; peers come by that of their transport.
        for _ in words.split_whitespace().filter(|word| *word == "--listen") {
            let url = process.event("listening")["url"].as_str().unwrap().to_owned();
            let address: SocketAddr = url.split_once("://").unwrap().1.parse().unwrap();
            for name in ["a", "b", "t", "t2"] {
                if self.is_stream(name) == url.starts_with("tcp") {
                    match self.peer(name) {
                        Remote::Datagrams { to, .. } | Remote::Stream { to, .. } => *to = Some(address),
                    }
                }
            }
        }
        self.process = Some(process);
    }

    fn line(&mut self, place: &str, line: &str) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "run" | "run-udp" => self.start(rest),
            "wait" => std::thread::sleep(time(rest)),
            "do" => {
                let command = serde_json::from_str(rest).unwrap_or_else(|_| Value::String(rest.to_owned()));
                self.process.as_mut().unwrap().tell(&command);
            }
            "event" => {
                let (name, expected) = rest.split_once(' ').unwrap_or((rest, "{}"));
                let event = self.process.as_mut().unwrap().event(name);
                members(place, &event, expected);
            }
            "stats" => members(place, &self.process.take().unwrap().quit(), rest),
            _ => {
                let at = word.find(['<', '>', '.']).unwrap_or_else(|| panic!("{place}: unknown line"));
                let (name, what) = word.split_at(at);
                let mut rest = rest.to_owned();
                for other in ["b", "t2"] {
                    let mark = format!("{{{other}.mid}}");
                    if rest.contains(&mark) {
                        let url = self.peer(other).url();
                        let (_, port) = url.rsplit_once(':').unwrap();
                        rest = rest.replace(&mark, &format!("[127.0.0.1]:{port}"));
                    }
                }
                let rest = rest.as_str();
                let peer = self.peer(name);
                match what {
                    ">" => peer.send(rest.replace("\\n", "\n").as_bytes(), true),
                    ">hex" => {
                        let digits: Vec<u8> = rest.bytes().filter(u8::is_ascii_hexdigit).collect();
                        let octet =
                            |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
                        let octets: Vec<u8> = digits.chunks(2).map(octet).collect();
                        peer.send(&octets, !name.starts_with('t'));
                    }
                    "<" => {
                        let text = peer.receive(PATIENCE).unwrap_or_else(|| panic!("{place}: nothing came"));
                        assert!(fits(rest, &text), "{place}: received {text}");
                    }
                    // What is sent again meanwhile is skipped.
                    "<~" => loop {
                        let text = peer.receive(PATIENCE).unwrap_or_else(|| panic!("{place}: nothing came"));
                        if fits(rest, &text) {
                            break;
                        }
                    },
                    "<nothing" => {
                        let text = peer.receive(time(rest));
                        assert_eq!(text, None, "{place}");
                    }
                    "<closed" => {
                        let end = peer.stream().read(&mut [0; 9]);
                        assert!(
                            matches!(&end, Ok(0))
                                || end.as_ref().is_err_and(|e| e.kind() == ErrorKind::ConnectionReset),
                            "{place}: {end:?}"
                        );
                        if let Remote::Stream { stream, .. } = peer {
                            *stream = None;
                        }
                    }
                    ".close" => {
                        if let Remote::Stream { stream, .. } = peer {
                            *stream = None;
                        }
                    }
                    _ => panic!("{place}: unknown line"),
                }
            }
        }
    }
}

#[test]
fn wire_scripts() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gateways/scripts");
    let mut files: Vec<_> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() > 9, "{files:?}");
    let only = std::env::var("SCRIPT").unwrap_or_default();
    files.retain(|file| file.to_string_lossy().contains(&only));
    let runs = files.into_iter().flat_map(|file| {
        [Variant::AsItIs, Variant::Jobs, Variant::Streams].map(|variant| (file.clone(), variant))
    });
    let threads: Vec<_> = runs
        .map(|(file, variant)| {
            std::thread::spawn(move || {
                let text = fs::read_to_string(&file).unwrap();
                let name = file.file_name().unwrap().to_string_lossy().into_owned();
                let (mut run, mut is_skipped) = (Run::default(), false);
                for (number, line) in (1..).zip(text.lines()) {
                    let line = line.trim();
                    if line.is_empty() || line.starts_with('#') {
                        continue;
                    }
                    // Each begins a command of its own.
                    if line.starts_with("run") {
                        run = Run { variant, ..Run::default() };
                        is_skipped = line.starts_with("run-udp") && variant == Variant::Streams;
                    }
                    if !is_skipped {
                        run.line(&format!("{name}:{number}: {variant:?}: {line}"), line);
                    }
                }
            })
        })
        .collect();
    let failures = threads.into_iter().filter_map(|thread| thread.join().err()).count();
    assert_eq!(failures, 0, "scripts failed; see above");
}

#[test]
fn patterns() {
    assert!(fits("a*c", "abc") && fits("*", "") && fits("a", "a") && fits("P=*{ER=506*", "P=6{ER=506{}}"));
    assert!(!fits("a*c", "abd") && !fits("a", "ab"));
}
