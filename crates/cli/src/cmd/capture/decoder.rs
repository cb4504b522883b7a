//! Decodes messages: their names and the identifiers in them.

use super::specifications::{Specification, Specifications};
use crate::term;
use std::collections::HashMap;
use tercet::dynamic::{Leaf, Options, Tape, Token, View};
use tercet::plan::{Kind, Shape};

use tercet::{CodecError, TapeCodec, check_trailing};
use tercet_capture::{Pdu, Protocol};

/// Types whose values identify a user, and the keys of these identifiers.
const IDENTIFIERS: [(&str, &str); 4] = [
    ("MME-UE-S1AP-ID", "mme"),
    ("ENB-UE-S1AP-ID", "enb"),
    ("AMF-UE-NGAP-ID", "amf"),
    ("RAN-UE-NGAP-ID", "ran"),
];

/// What decoding a message gives.
#[derive(Debug, Default)]
pub(super) struct Decoded {
    /// The specification that was used: module, type, rules.
    pub(super) used: Option<[String; 3]>,
    pub(super) message: Option<String>,
    pub(super) identifiers: Vec<(&'static str, i64)>,
    pub(super) fault: Option<Fault>,
}

/// Why a message is not decoded as a whole.
#[derive(Debug)]
pub(super) struct Fault {
    /// `schema` or `decode`.
    pub(super) stage: &'static str,
    pub(super) offset: Option<u64>,
    pub(super) bit: Option<u8>,
    pub(super) path: String,
    pub(super) message: String,
}

/// Decodes messages of all protocols.
#[derive(Debug)]
pub(super) struct Decoder {
    specifications: Specifications,
    /// By the name of the protocol.
    found: HashMap<&'static str, Vec<Specification>>,
    tape: Tape,
    options: Options,
}

impl Decoder {
    pub(super) fn new(specifications: Specifications) -> Self {
        Self { specifications, found: HashMap::new(), tape: Tape::new(), options: Options::default() }
    }

    /// Decodes a message by the first specification that fits it, or by the first one as far as it goes.
    pub(super) fn decode(&mut self, pdu: &Pdu<'_>) -> Decoded {
        let protocol = pdu.protocol;
        if protocol.type_name.is_none() {
            return Decoded::default();
        }
        let found = self.found.entry(&protocol.name).or_insert_with(|| {
            let (found, refused) = self.specifications.of(protocol);
            refused.iter().for_each(term::warning);
            if found.is_empty() {
                term::warning(format_args!(
                    "{}\nhelp: `--schema PATH` or TERCET_SCHEMAS names specifications",
                    missing(protocol)
                ));
            }
            found
        });
        let mut first = None;
        for specification in found.iter() {
            let decoded = decode_by(specification, pdu.octets, &mut self.tape, &self.options);
            if decoded.fault.is_none() {
                return decoded;
            }
            first.get_or_insert(decoded);
        }
        first.unwrap_or_else(|| Decoded {
            fault: Some(Fault {
                stage: "schema",
                offset: None,
                bit: None,
                path: String::new(),
                message: missing(protocol),
            }),
            ..Decoded::default()
        })
    }
}

/// Names the text that decodes a protocol.
fn missing(protocol: &Protocol) -> String {
    let module = protocol.module.as_deref().unwrap_or_default();
    format!("no specification of {}: module {module} of {}", protocol.name, protocol.specification)
}

fn decode_by(specification: &Specification, octets: &[u8], tape: &mut Tape, options: &Options) -> Decoded {
    let Specification { plan, root, rules, .. } = specification;
    let mut codec = TapeCodec::new(*rules, plan);
    let mut decoded = Decoded {
        used: Some([specification.module.clone(), specification.type_name.clone(), rules.name().to_owned()]),
        ..Decoded::default()
    };
    let read = codec.read(*root, octets, tape, options).and_then(|length| {
        let rest = &octets[length..];
        Ok(check_trailing(plan, *root, rest, length as u64, options.trailing)?)
    });
    if let Err(error) = read {
        // What was read before the fault has the name of the message, mostly.
        let readable = codec.finish_partial(*root, octets, tape, options, &error);
        decoded.fault = Some(fault(&error));
        if !readable {
            return decoded;
        }
    }
    let view = tape.view(octets);
    decoded.message = message(&plan.shape, view);
    decoded.identifiers = identifiers(&plan.shape, view);
    decoded
}

fn fault(error: &CodecError) -> Fault {
    let (bit, message) = match error {
        CodecError::Octets(error) => (error.bit(), error.kind().message().to_owned()),
        other => (None, other.to_string()),
    };
    Fault { stage: "decode", offset: Some(error.offset()), bit, path: error.path(), message }
}

/// Returns the name of a message: the type in the open type of its procedure; of H.248 the alternative of its first
/// transaction.
fn message(shape: &Shape, view: View<'_>) -> Option<String> {
    let mut tokens = view.tokens();
    while let Some(token) = tokens.next() {
        let (Token::Open { field, node, .. } | Token::Leaf { field, node, .. }) = token else { continue };
        if matches!(token, Token::Open { .. }) && matches!(shape.node(node).kind, Kind::Open) {
            return match tokens.next()? {
                Token::Open { node, .. } | Token::Leaf { node, .. } => {
                    shape.type_name(node).map(str::to_owned)
                }
                _ => None,
            };
        }
        let is_root = view.token(0) == token;
        if !is_root && shape.type_name(shape.field(field).parent) == Some("Transaction") {
            return Some(shape.name(shape.field(field).name).to_owned());
        }
    }
    None
}

/// Returns the identifiers in a message, each the first time.
fn identifiers(shape: &Shape, view: View<'_>) -> Vec<(&'static str, i64)> {
    let mut found = Vec::new();
    for token in view.tokens() {
        if let Token::Leaf { node, leaf: Leaf::Int(number), .. } = token
            && let Some(name) = shape.type_name(node)
            && let Some((_, key)) = IDENTIFIERS.iter().find(|(of, _)| *of == name)
            && !found.iter().any(|(known, _)| known == key)
        {
            found.push((*key, number));
        }
    }
    found
}
