//! Identifiers in messages, by which conversations are followed.

use serde_json::Value;
use std::collections::BTreeSet;
use tercet_capture::Protocol;
use tercet_dynamic::text::{Octets, push_octets};
use tercet_dynamic::{Leaf, Token, View};
use tercet_plan::{FieldId, Kind, NodeId, Shape};

/// Identifiers of a message, by their keys.
pub type Identifiers = Vec<(&'static str, Value)>;

/// Types whose values identify a user, and the keys of these identifiers.
const TYPES: [(&str, &str); 14] = [
    ("MME-UE-S1AP-ID", "mme"),
    ("ENB-UE-S1AP-ID", "enb"),
    ("AMF-UE-NGAP-ID", "amf"),
    ("RAN-UE-NGAP-ID", "ran"),
    ("UE-X2AP-ID", "ue_x2ap"),
    ("NG-RANnodeUEXnAPID", "ue_xnap"),
    ("GNB-CU-UE-F1AP-ID", "cu"),
    ("GNB-DU-UE-F1AP-ID", "du"),
    ("GNB-CU-CP-UE-E1AP-ID", "cu_cp"),
    ("GNB-CU-UP-UE-E1AP-ID", "cu_up"),
    ("IuSignallingConnectionIdentifier", "iu"),
    ("Context-ID", "context"),
    ("CallIdentifier", "call"),
    ("ConferenceIdentifier", "conference"),
];

/// Components that identify a conversation, by protocol.
const COMPONENTS: [(&str, &str, &str); 12] = [
    ("ldap", "messageID", "message_id"),
    ("snmp", "request-id", "request_id"),
    ("mms", "invokeID", "invoke_id"),
    ("tcap", "otid", "otid"),
    ("tcap", "dtid", "dtid"),
    ("kerberos", "nonce", "nonce"),
    ("h225", "guid", "call"),
    ("h225", "conferenceID", "conference"),
    ("h225", "callReferenceValue", "call_reference"),
    ("h225", "requestSeqNum", "request"),
    ("h248", "transactionId", "transaction"),
    ("h248", "contextId", "context"),
];

/// Returns the keys of a protocol's identifiers, each with whether it is a number.
pub(super) fn columns(protocol: &Protocol) -> Vec<(&'static str, bool)> {
    let of_users: &[&'static str] = match &*protocol.name {
        "s1ap" => &["mme", "enb"],
        "ngap" => &["amf", "ran"],
        "x2ap" => &["ue_x2ap"],
        "xnap" => &["ue_xnap"],
        "f1ap" => &["cu", "du"],
        "e1ap" => &["cu_cp", "cu_up"],
        "ranap" => &["iu"],
        "rua" => &["context"],
        _ => &[],
    };
    const TEXTS: [&str; 7] = ["iu", "context", "otid", "dtid", "call", "conference", "operations"];
    let mut keys = of_users.to_vec();
    for (_, _, key) in COMPONENTS.iter().filter(|(of, ..)| *of == protocol.name) {
        if !keys.contains(key) {
            keys.push(key);
        }
    }
    keys.extend((protocol.name == "tcap").then_some("operations"));
    keys.into_iter().map(|key| (key, !TEXTS.contains(&key))).collect()
}

/// Which values of a specification are identifiers, by types and components: looked up once, not for each message.
#[derive(Debug)]
pub(super) struct Keys {
    types: Box<[Option<&'static str>]>,
    components: Box<[Option<&'static str>]>,
    /// Components with the codes of operations of TCAP.
    operations: Box<[bool]>,
    /// How many identifiers a message has at most; without a bound where it can have operations.
    most: usize,
}

impl Keys {
    /// Looks up the identifiers of a protocol.
    pub(super) fn new(protocol: &Protocol, shape: &Shape) -> Self {
        let of_type = |at: usize| {
            let name = shape.type_name(NodeId(at as u32))?;
            TYPES.iter().find(|(of, _)| *of == name).map(|(_, key)| *key)
        };
        let known: Vec<_> = COMPONENTS.iter().filter(|(of, ..)| *of == protocol.name).collect();
        let of_component =
            |name: &str| known.iter().find(|(_, component, _)| *component == name).map(|(.., key)| *key);
        let is_operation = |name: &str| {
            protocol.name == "tcap" && matches!(name, "localValue" | "local" | "globalValue" | "global")
        };
        let names = || shape.fields.iter().map(|field| shape.name(field.name));
        let types: Box<[_]> = (0..shape.nodes.len()).map(of_type).collect();
        let components: Box<[_]> = names().map(of_component).collect();
        let operations: Box<[_]> = names().map(is_operation).collect();
        let keys: BTreeSet<_> = types.iter().chain(&components).flatten().collect();
        let most = if operations.contains(&true) { usize::MAX } else { keys.len() };
        Self { types, components, operations, most }
    }

    /// Returns the identifiers of a message, each the first time; of TCAP the operations too.
    pub(super) fn identifiers(&self, shape: &Shape, view: View<'_>) -> Identifiers {
        let mut found = Identifiers::new();
        let mut operations = Vec::new();
        for token in view.tokens() {
            if found.len() == self.most {
                break;
            }
            let Token::Leaf { node, field, leaf } = token else { continue };
            let of_field = (field != FieldId::ROOT).then(|| field.index());
            if of_field.is_some_and(|at| self.operations.get(at) == Some(&true)) {
                operations.push(value(shape, node, leaf));
                continue;
            }
            let by_type = self.types.get(node.index()).copied().flatten();
            let by_component = || of_field.and_then(|at| self.components.get(at).copied().flatten());
            let Some(key) = by_type.or_else(by_component) else { continue };
            if !found.iter().any(|(known, _)| *known == key) {
                found.push((key, value(shape, node, leaf)));
            }
        }
        if !operations.is_empty() {
            found.push(("operations", operations.into()));
        }
        found
    }
}

/// Returns a number, or octets in hexadecimal.
fn value(shape: &Shape, node: NodeId, leaf: Leaf<'_>) -> Value {
    let contents = match leaf {
        Leaf::Int(number) => return number.into(),
        Leaf::Addition(number) => return number.into(),
        Leaf::Input { contents, .. } | Leaf::Made(contents) => contents,
    };
    // Numbers of X.690 are in complement of two.
    if matches!(shape.node(node).kind, Kind::Integer) && (1..=8).contains(&contents.len()) {
        let sign = if contents[0] & 0x80 != 0 { -1 } else { 0 };
        return contents.iter().fold(sign, |number: i64, &octet| number << 8 | i64::from(octet)).into();
    }
    hexadecimal(contents).into()
}

/// Returns octets in lower-case hexadecimal.
fn hexadecimal(octets: &[u8]) -> String {
    let mut text = Vec::with_capacity(2 * octets.len());
    push_octets(&mut text, octets, Octets::LowerHex);
    String::from_utf8_lossy(&text).into_owned()
}
