//! Messages of H.248, in text and in BER, which are read without a specification.

use super::decoder::{Decoded, Fault};
use super::identifiers::Identifiers;
use serde_json::Value;
use tercet_megaco::codec::{Codec as _, Encoding};
use tercet_megaco::json;

/// Decodes a message: the name of its first transaction, and the identifiers of transactions, contexts and commands.
pub(super) fn decode(octets: &[u8], wants_value: bool) -> Decoded {
    let message = match Encoding::detect(octets).decode(octets) {
        Ok(message) => message,
        Err(error) => {
            let fault = Fault {
                stage: "decode",
                offset: Some(error.at as u64),
                bit: None,
                path: String::new(),
                message: format!("expected {}", error.what),
            };
            return Decoded { fault: Some(fault), ..Decoded::default() };
        }
    };
    let mut text = Vec::new();
    let value = match json::write_message(&message, &mut text) {
        Ok(()) => serde_json::from_slice(&text).unwrap_or(Value::Null),
        Err(_) => Value::Null,
    };
    let (name, identifiers) = summary(&value);
    Decoded { message: name, identifiers, value: wants_value.then_some(value), ..Decoded::default() }
}

/// Finds the name of the first transaction, and the identifiers.
fn summary(message: &Value) -> (Option<String>, Identifiers) {
    let body = &message["mess"]["messageBody"];
    let mut identifiers = Identifiers::new();
    let Some(transactions) = body["transactions"].as_array() else {
        return (body.as_object().and_then(|it| it.keys().next().cloned()), identifiers);
    };
    let name = transactions.first().and_then(Value::as_object).and_then(|it| it.keys().next().cloned());
    let (mut numbers, mut contexts, mut commands) = (Vec::new(), Vec::new(), Vec::new());
    for inside in transactions.iter().filter_map(Value::as_object).flat_map(|it| it.values()) {
        numbers.extend(inside.get("transactionId").cloned());
        let result = inside.get("transactionResult").and_then(|it| it.get("actionReplies"));
        let actions = inside.get("actions").or(result).and_then(Value::as_array);
        for action in actions.into_iter().flatten() {
            contexts.extend(action.get("contextId").cloned());
            for requests in ["commandRequests", "commandReply"] {
                let requests = action.get(requests).and_then(Value::as_array).into_iter().flatten();
                for request in requests {
                    let command = request.get("command").unwrap_or(request);
                    commands.extend(
                        command.as_object().and_then(|it| it.keys().next().cloned()).map(Value::from),
                    );
                }
            }
        }
    }
    for (key, mut values) in [("transactions", numbers), ("contexts", contexts), ("commands", commands)] {
        values.dedup();
        if !values.is_empty() {
            identifiers.push((key, values.into()));
        }
    }
    (name, identifiers)
}
