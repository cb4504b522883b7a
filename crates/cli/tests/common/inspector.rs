//! `tercet inspect`, until a test ends.

#![allow(dead_code, reason = "each test file uses a part of it")]

use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The inspector, until the test ends.
pub(crate) struct Inspector {
    child: Child,
    /// `127.0.0.1:41431`
    pub(crate) address: String,
    /// `/TOKEN/`
    pub(crate) base: String,
}

/// The status, the head and the body of an answer.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

impl Inspector {
    pub(crate) fn new(words: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tercet"));
        command.current_dir(root()).arg("inspect").args(words).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let rest = line.trim().strip_prefix("http://").unwrap_or_else(|| panic!("no address: {line:?}"));
        let (address, base) = rest.split_once('/').unwrap();
        Self { child, address: address.to_owned(), base: format!("/{base}") }
    }

    /// Sends a request as it is.
    pub(crate) fn raw(&self, request: &str) -> Answer {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut text = Vec::new();
        // A connection that is closed early is an answer too.
        _ = stream.read_to_end(&mut text);
        let text = String::from_utf8_lossy(&text).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
        Answer { status, head: head.to_owned(), body: body.to_owned() }
    }

    pub(crate) fn get(&self, path: &str, fields: &str) -> Answer {
        let address = &self.address;
        self.raw(&format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n{fields}Connection: close\r\n\r\n"))
    }

    /// Asks a question.
    pub(crate) fn ask(&self, question: &str) -> Value {
        let answer = self.get(&format!("{}api/{question}", self.base), "");
        assert_eq!(answer.status, 200, "{question}: {}", answer.body);
        serde_json::from_str(&answer.body).unwrap()
    }

    /// Sends a request with a body.
    pub(crate) fn post(&self, path: &str, fields: &str, body: &str) -> Answer {
        let (address, length) = (&self.address, body.len());
        self.raw(&format!(
            "POST {path} HTTP/1.1\r\nHost: {address}\r\n{fields}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        ))
    }

    /// Changes something.
    pub(crate) fn act(&self, question: &str, body: &str) -> Value {
        let answer = self.post(&format!("{}api/{question}", self.base), "", body);
        assert_eq!(answer.status, 200, "{question}: {}", answer.body);
        serde_json::from_str(&answer.body).unwrap()
    }

    /// Asks a question that has no answer; returns the reason.
    pub(crate) fn refused(&self, question: &str) -> String {
        let answer = self.get(&format!("{}api/{question}", self.base), "");
        assert_eq!(answer.status, 422, "{question}: {}", answer.body);
        let value: Value = serde_json::from_str(&answer.body).unwrap();
        value["error"].as_str().unwrap().to_owned()
    }
}

impl Drop for Inspector {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

pub(crate) fn demo() -> Inspector {
    Inspector::new(&["--no-open", "-s", "schemas/demo", "-t", "CallRecord", "examples/calls.ber"])
}

/// Writes a file to a folder of its own.
pub(crate) fn file(name: &str, octets: &[u8]) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, octets).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (folder, path)
}
