//! `tercet lsp`, driven as an editor drives it.

#![allow(dead_code, reason = "each test file uses a part of it")]

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

pub(crate) const SHIPS: &str = "Ships DEFINITIONS AUTOMATIC TAGS ::= BEGIN
IMPORTS Port FROM Ports;
Ship ::= SEQUENCE { name UTF8String, home Port }
END
";
pub(crate) const PORTS: &str = "Ports DEFINITIONS ::= BEGIN\nPort ::= IA5String\nPier ::= INTEGER\nEND\n";

/// An editor that has started `tercet lsp`.
pub(crate) struct Editor {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    pub(crate) folder: tempfile::TempDir,
    pub(crate) capabilities: Value,
    id: i64,
}

impl Editor {
    /// An editor with a folder that has both files.
    pub(crate) fn new(capabilities: &Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("ships.asn"), SHIPS).unwrap();
        std::fs::write(folder.path().join("ports.asn"), PORTS).unwrap();
        Self::in_folder(capabilities, folder)
    }

    pub(crate) fn in_folder(capabilities: &Value, folder: tempfile::TempDir) -> Self {
        Self::with(capabilities, &Value::Null, folder)
    }

    pub(crate) fn with(capabilities: &Value, options: &Value, folder: tempfile::TempDir) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tercet"));
        let mut child = command.arg("lsp").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        let mut editor = Self { child, input, output, folder, capabilities: Value::Null, id: 0 };
        let folders = json!([{ "uri": uri(editor.folder.path()), "name": "fleet" }]);
        let params = json!({
            "capabilities": capabilities,
            "workspaceFolders": folders,
            "initializationOptions": options,
        });
        let answer = editor.ask("initialize", params);
        assert_eq!(answer["serverInfo"]["name"], "tercet");
        editor.capabilities = answer["capabilities"].clone();
        editor.tell("initialized", json!({}));
        editor
    }

    pub(crate) fn uri(&self, name: &str) -> String {
        uri(&self.folder.path().join(name))
    }

    pub(crate) fn send(&mut self, message: &Value) {
        let text = message.to_string();
        let input = self.input.as_mut().unwrap();
        write!(input, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        input.flush().unwrap();
    }

    pub(crate) fn tell(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    pub(crate) fn receive(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "the server has ended");
            match line.trim() {
                "" => break,
                header => {
                    if let Some(number) = header.strip_prefix("Content-Length: ") {
                        length = number.parse().unwrap();
                    }
                }
            }
        }
        let mut body = vec![0; length];
        self.output.read_exact(&mut body).unwrap();
        serde_json::from_slice(&body).unwrap()
    }

    /// Sends a request; returns its number.
    pub(crate) fn begin(&mut self, method: &str, params: Value) -> i64 {
        self.id += 1;
        let id = self.id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// The answer to a request, or its error.
    pub(crate) fn answer(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        loop {
            let message = self.receive();
            if message["id"] == id {
                return message;
            }
        }
    }

    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let answer = self.answer(method, params);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// The next diagnostics of a document.
    pub(crate) fn diagnostics(&mut self, name: &str) -> Vec<Value> {
        let uri = self.uri(name);
        loop {
            let message = self.receive();
            if message["method"] == "textDocument/publishDiagnostics" && message["params"]["uri"] == *uri {
                return message["params"]["diagnostics"].as_array().unwrap().clone();
            }
        }
    }

    pub(crate) fn open(&mut self, name: &str, text: &str) {
        let document = json!({ "uri": self.uri(name), "languageId": "asn1", "version": 1, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
    }

    pub(crate) fn at(&self, name: &str, line: u32, character: u32) -> Value {
        let position = json!({ "line": line, "character": character });
        json!({ "textDocument": { "uri": self.uri(name) }, "position": position })
    }

    pub(crate) fn end(mut self) {
        self.ask("shutdown", Value::Null);
        self.tell("exit", Value::Null);
        drop(self.input.take());
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        _ = self.child.kill();
    }
}

pub(crate) fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}
