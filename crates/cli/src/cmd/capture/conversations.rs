//! Which conversation a message belongs to.

use serde_json::{Map, Value};
use std::collections::HashMap;
use tercet_capture::{Pdu, Stream};

/// The most identifiers that are remembered.
const LIMIT: usize = 1 << 20;

/// Pairs of identifiers that name one user, from both sides; a message may have one or both.
const PAIRS: [(&str, [&str; 2]); 6] = [
    ("s1ap", ["mme", "enb"]),
    ("ngap", ["amf", "ran"]),
    ("x2ap", ["ue_x2ap", "ue_x2ap"]),
    ("xnap", ["ue_xnap", "ue_xnap"]),
    ("f1ap", ["cu", "du"]),
    ("e1ap", ["cu_cp", "cu_up"]),
];

/// Numbers of conversations, by what identifies them.
#[derive(Debug, Default)]
pub(super) struct Conversations {
    known: HashMap<String, u64>,
    next: u64,
}

impl Conversations {
    /// Returns the number of the conversation of a message, and whether the message ends it.
    pub(super) fn of(&mut self, pdu: &Pdu<'_>, line: &Map<String, Value>) -> (Option<u64>, bool) {
        let protocol = pdu.protocol.name.as_str();
        let ids = &line["ids"];
        let message = line["message"].as_str().unwrap_or_default();
        // Identifiers of users are those of an association; others of an address pair, or of the stream.
        let place = match pdu.stream {
            Some(Stream::Sctp { association, .. }) => format!("sctp:{association}"),
            Some(stream) => stream.to_string(),
            None => String::new(),
        };
        let mut keys: Vec<String> = Vec::new();
        if let Some((_, pair)) = PAIRS.iter().find(|(name, _)| *name == protocol) {
            keys.extend(
                pair.iter().filter_map(|key| Some(format!("{protocol} {place} {key} {}", ids.get(*key)?))),
            );
            // A user begins anew, even if the identifier was there before.
            if message.starts_with("Initial") && keys.len() == 1 && !message.starts_with("InitialContext") {
                self.known.remove(&keys[0]);
            }
        } else if protocol == "tcap" {
            // Identifiers of transactions are the sender's and the receiver's: a dialogue has both.
            keys.extend(["otid", "dtid"].iter().filter_map(|key| Some(format!("tcap {}", ids.get(*key)?))));
            if message == "begin" {
                keys.iter().for_each(|key| {
                    self.known.remove(key);
                });
            }
        } else {
            const OTHERS: [&str; 7] =
                ["transactions", "transaction", "message_id", "request_id", "invoke_id", "call", "iu"];
            let id = OTHERS.iter().find_map(|key| Some(format!("{key} {}", ids.get(*key)?)));
            match id {
                Some(id) => keys.push(format!("{protocol} {place} {id}")),
                None if protocol == "kerberos" => keys.push(format!("kerberos {place}")),
                None => return (None, false),
            }
        }
        if keys.is_empty() {
            return (None, false);
        }
        let number = keys.iter().find_map(|key| self.known.get(key)).copied().unwrap_or_else(|| {
            self.next += 1;
            self.next
        });
        let ended = matches!(message, "UEContextReleaseComplete" | "end" | "abort");
        if self.known.len() >= LIMIT {
            self.known.clear();
        }
        for key in keys {
            if ended {
                self.known.remove(&key);
            } else {
                self.known.insert(key, number);
            }
        }
        (Some(number), ended)
    }
}
