//! Names of messages: the alternative or the type that people call them by.

use tercet_capture::Protocol;
use tercet_dynamic::{Token, View};
use tercet_plan::{FieldId, Kind, NodeId, Shape};

/// Returns the name of a message.
pub(super) fn message(protocol: &Protocol, type_name: &str, shape: &Shape, view: View<'_>) -> Option<String> {
    match &*protocol.name {
        // Containers within messages have types of their own.
        "s1ap" | "ngap" if type_name.ends_with("Container") => Some(type_name.to_owned()),
        "lte-rrc" | "nr-rrc" if is_between_nodes(type_name) => Some(type_name.to_owned()),
        "kerberos" | "its" => Some(type_name.to_lowercase()),
        "x509" => Some(type_name.to_owned()),
        // The message is an alternative of the channel, or one of its extensions.
        "lte-rrc" | "nr-rrc" | "umts-rrc" | "lpp" => {
            alternatives(shape, view).map(|(_, name)| name).find(|name| !is_class(name)).map(str::to_owned)
        }
        // H.225 carries one without the message around it.
        "h245" if type_name == "OpenLogicalChannel" => Some("openLogicalChannel".to_owned()),
        "h245" => {
            let mut names = alternatives(shape, view).map(|(_, name)| name);
            let first = names.next()?;
            Some(names.next().map_or_else(|| first.to_owned(), |second| format!("{first}.{second}")))
        }
        "snmp" => alternatives(shape, view)
            .map(|(_, name)| name)
            .find(|name| *name != "plaintext")
            .map(str::to_owned),
        "ulp" => alternative_of(shape, view, "UlpMessage"),
        "h248" => alternative_of(shape, view, "Transaction"),
        "ldap" | "mms" | "goose" | "sv" | "tcap" | "gtpp" | "h225" | "t38" => {
            alternatives(shape, view).next().map(|(_, name)| name.to_owned())
        }
        _ => open_type(shape, view),
    }
}

/// Returns whether a type of RRC is one that nodes of the network exchange: no CHOICE of messages.
fn is_between_nodes(type_name: &str) -> bool {
    type_name.ends_with("Information") || type_name == "HandoverCommand" || type_name.starts_with("CG-Config")
}

/// Returns whether an alternative is only a way to messages: `c1`, `messageClassExtension`, `later-than-r3`.
fn is_class(name: &str) -> bool {
    let is_number = name.strip_prefix('c').is_some_and(|rest| rest.bytes().all(|it| it.is_ascii_digit()));
    is_number || name.starts_with("messageClassExtension") || name.starts_with("later")
}

/// Returns the alternative that is chosen of a CHOICE with a name.
fn alternative_of(shape: &Shape, view: View<'_>, choice: &str) -> Option<String> {
    let found = alternatives(shape, view).find(|(of, _)| shape.type_name(*of) == Some(choice));
    found.map(|(_, name)| name.to_owned())
}

/// Returns the alternatives that are chosen, in order, each with its CHOICE.
fn alternatives<'a>(shape: &'a Shape, view: View<'a>) -> impl Iterator<Item = (NodeId, &'a str)> + 'a {
    view.tokens().filter_map(move |token| {
        let (Token::Open { field, .. } | Token::Leaf { field, .. }) = token else { return None };
        if field == FieldId::ROOT {
            return None;
        }
        let field = shape.field(field);
        let is_choice = matches!(shape.node(field.parent).kind, Kind::Choice);
        is_choice.then(|| (field.parent, shape.name(field.name)))
    })
}

/// Returns the type in the open type of a procedure.
fn open_type(shape: &Shape, view: View<'_>) -> Option<String> {
    let mut tokens = view.tokens();
    while let Some(token) = tokens.next() {
        if let Token::Open { node, .. } = token
            && matches!(shape.node(node).kind, Kind::Open)
        {
            return match tokens.next()? {
                Token::Open { node, .. } | Token::Leaf { node, .. } => {
                    shape.type_name(node).map(str::to_owned)
                }
                _ => None,
            };
        }
    }
    None
}
