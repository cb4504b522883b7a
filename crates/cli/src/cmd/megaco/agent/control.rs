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
    Quit,
    /// A line that is not a command.
    Bad(String),
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
        (Some("quit"), _) => Control::Quit,
        (Some(word), _) => {
            let known = ["request", "stats", "cancel", "disconnect", "quit"];
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
        for line in io::stdin().lock().lines() {
            let Ok(line) = line else { return };
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
            (" \"quit\" ", Control::Quit),
            ("cancel", Control::Cancel { remote_mid: None }),
            (r#"{"do":"disconnect"}"#, Control::Disconnect { remote_mid: None }),
        ] {
            assert_eq!(parse(line), expected, "{line}");
        }
        for line in ["reqest", "{}", r#"{"do":"request"}"#, "[1]", "7"] {
            assert!(matches!(parse(line), Control::Bad(_)), "{line}");
        }
    }
}
