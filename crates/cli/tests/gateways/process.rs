//! A running command with its events, and peers that tests play.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, UdpSocket};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// How long a test waits for something that has to happen.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A running command and its events.
pub(crate) struct Process {
    pub(crate) child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    pub(crate) seen: Vec<Value>,
}

impl Process {
    pub(crate) fn start(words: &str) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tercet"));
        Self::of(command.arg("megaco").args(words.split_whitespace()))
    }

    pub(crate) fn of(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self { child, input, lines, seen: Vec::new() }
    }

    pub(crate) fn tell(&mut self, command: &Value) {
        self.line(&command.to_string());
    }

    /// Writes a line on its standard input.
    pub(crate) fn line(&mut self, line: &str) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    /// Writes octets on its standard input.
    pub(crate) fn octets(&mut self, octets: &[u8]) {
        self.input.as_mut().unwrap().write_all(octets).unwrap();
    }

    /// Waits for the next event of a name; those before it are kept in `seen`.
    #[track_caller]
    pub(crate) fn event(&mut self, name: &str) -> Value {
        self.event_within(name, PATIENCE)
    }

    /// The next event of this name, which may take long.
    #[track_caller]
    pub(crate) fn event_within(&mut self, name: &str, patience: Duration) -> Value {
        let end = Instant::now() + patience;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let Ok(line) = self.lines.recv_timeout(left) else {
                panic!("no event `{name}`; there were {:#?}", self.seen)
            };
            let event: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
            self.seen.push(event.clone());
            if event["event"] == name {
                return event;
            }
        }
    }

    pub(crate) fn count(&self, name: &str) -> usize {
        self.seen.iter().filter(|event| event["event"] == name).count()
    }

    /// The address that a controller listens at.
    pub(crate) fn address(&mut self) -> SocketAddr {
        let url = self.event("listening")["url"].as_str().unwrap().to_owned();
        url.split_once("://").unwrap().1.parse().unwrap()
    }

    /// Ends the command, and returns its last counters.
    pub(crate) fn quit(mut self) -> Value {
        self.tell(&json!("quit"));
        let stats = self.event("stats");
        assert!(self.child.wait().unwrap().success());
        stats
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

/// A peer that the test plays by datagrams.
pub(crate) struct Peer(pub(crate) UdpSocket);

impl Peer {
    pub(crate) fn new() -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        Self(socket)
    }

    pub(crate) fn send(&self, to: SocketAddr, text: &str) {
        self.0.send_to(text.as_bytes(), to).unwrap();
    }

    /// The next message, its line ends as spaces, and who sent it.
    pub(crate) fn receive(&self) -> (String, SocketAddr) {
        let mut buffer = [0; 65_536];
        let (length, from) = self.0.recv_from(&mut buffer).unwrap();
        (String::from_utf8_lossy(&buffer[..length]).replace('\n', " "), from)
    }

    pub(crate) fn url(&self) -> String {
        format!("udp://{}", self.0.local_addr().unwrap())
    }
}
