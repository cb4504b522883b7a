//! Commands on standard input, and signals.

use crate::exit::Outcome;
use crate::interrupt::{self, OnInterrupt};
use serde_json::Value;
use std::io::{self, BufRead};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;
use tokio::sync::mpsc;

/// What the user asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Control {
    /// Send a request of these actions to a peer, by default the last one that connected.
    Request {
        text: String,
        remote_mid: Option<String>,
    },
    Stats,
    Cancel {
        remote_mid: Option<String>,
    },
    Disconnect {
        remote_mid: Option<String>,
    },
    /// Something happens at a termination of a gateway.
    Gateway(Change),
    Quit,
    /// A line that is not a command.
    Bad(String),
}

/// What happens at a termination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// An event, with its parameters.
    Event { termination: String, event: String, parameters: Vec<(String, String)> },
    /// Digits are dialled.
    Digits { termination: String, digits: String },
    /// Its service changes; Graceful has a delay in seconds.
    Service { termination: String, method: String, delay: u64 },
}

/// Reads what happens at a termination, from the members of an object.
fn change(word: &str, value: &Value) -> Control {
    let member = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    let Some(termination) = member("termination") else {
        return Control::Bad(format!("`{word}` requires `termination`"));
    };
    let second = match word {
        "event" => "event",
        "digits" => "digits",
        _ => "method",
    };
    let Some(text) = member(second) else { return Control::Bad(format!("`{word}` requires `{second}`")) };
    Control::Gateway(match word {
        "event" => {
            let text_of = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let parameters = value.get("parameters").and_then(Value::as_object).into_iter().flatten();
            let parameters = parameters.map(|(name, value)| (name.clone(), text_of(value))).collect();
            Change::Event { termination, event: text, parameters }
        }
        "digits" => Change::Digits { termination, digits: text },
        _ => {
            let delay = value.get("delay").and_then(Value::as_u64).unwrap_or(0);
            Change::Service { termination, method: text, delay }
        }
    })
}

/// Reads a line: a JSON object with a member `do`, or the word alone.
pub(super) fn parse(line: &str) -> Control {
    let value = match serde_json::from_str::<Value>(line) {
        Ok(value) => value,
        Err(_) => Value::String(line.trim().to_owned()),
    };
    let member = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    let word = value.as_str().map(str::to_owned).or_else(|| member("do"));
    let remote_mid = member("remote_mid");
    match (word.as_deref(), member("text")) {
        (Some("request"), Some(text)) => Control::Request { text, remote_mid },
        (Some("request"), None) => Control::Bad("`request` requires `text`".to_owned()),
        (Some("stats"), _) => Control::Stats,
        (Some("cancel"), _) => Control::Cancel { remote_mid },
        (Some("disconnect"), _) => Control::Disconnect { remote_mid },
        (Some(word @ ("event" | "digits" | "service")), _) => change(word, &value),
        (Some("quit"), _) => Control::Quit,
        (Some(word), _) => {
            let known = ["request", "stats", "cancel", "disconnect", "event", "digits", "service", "quit"];
            Control::Bad(tercet::suggest::unknown("command", word, known))
        }
        (None, _) => Control::Bad("expected a command, or a JSON object with a member `do`".to_owned()),
    }
}

/// Begins to read standard input and to listen to signals.
pub(super) fn listen() -> Outcome<mpsc::Receiver<Control>> {
    let (sender, receiver) = mpsc::channel(1024);
    let heard = interrupt::listen(OnInterrupt::Finish)?;
    let of_signals = sender.clone();
    thread::spawn(move || {
        while !heard.load(Ordering::SeqCst) {
            thread::sleep(Duration::from_millis(20));
        }
        _ = of_signals.blocking_send(Control::Quit);
    });
    thread::spawn(move || {
        for line in io::stdin().lock().split(b'\n') {
            let Ok(line) = line else { return };
            let line = String::from_utf8_lossy(&line);
            if !line.trim().is_empty() && sender.blocking_send(parse(&line)).is_err() {
                return;
            }
        }
    });
    Ok(receiver)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands() {
        let request = |remote_mid: Option<&str>| Control::Request {
            text: "C=-{S=a}".to_owned(),
            remote_mid: remote_mid.map(str::to_owned),
        };
        for (line, expected) in [
            (r#"{"do":"request","text":"C=-{S=a}"}"#, request(None)),
            (r#"{"do":"request","text":"C=-{S=a}","remote_mid":"<mg>"}"#, request(Some("<mg>"))),
            (r#"{"do":"stats"}"#, Control::Stats),
            ("stats", Control::Stats),
            (
                r#"{"do":"event","termination":"line1","event":"al/on","parameters":{"init":false}}"#,
                Control::Gateway(Change::Event {
                    termination: "line1".to_owned(),
                    event: "al/on".to_owned(),
                    parameters: vec![("init".to_owned(), "false".to_owned())],
                }),
            ),
            (
                r#"{"do":"service","termination":"line1","method":"graceful","delay":5}"#,
                Control::Gateway(Change::Service {
                    termination: "line1".to_owned(),
                    method: "graceful".to_owned(),
                    delay: 5,
                }),
            ),
            (" \"quit\" ", Control::Quit),
            ("cancel", Control::Cancel { remote_mid: None }),
            (r#"{"do":"disconnect"}"#, Control::Disconnect { remote_mid: None }),
        ] {
            assert_eq!(parse(line), expected, "{line}");
        }
        for line in ["reqest", "{}", r#"{"do":"request"}"#, r#"{"do":"digits","digits":"1"}"#, "[1]", "7"] {
            assert!(matches!(parse(line), Control::Bad(_)), "{line}");
        }
    }
}
