//! Decodes messages: their names and the identifiers in them.

use super::identifiers::{Identifiers, identifiers};
use super::specifications::{Specification, Specifications};
use super::value::{Form, value};
use super::{h248, names};
use crate::term;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;
use tercet::dynamic::{Options, Tape};
use tercet::{CodecError, TapeCodec, check_trailing};
use tercet_capture::{Pdu, Protocol, Variant};

/// What decoding a message gives.
#[derive(Debug, Default)]
pub(super) struct Decoded {
    /// The specification that was used: module, type, rules.
    pub(super) used: Option<[String; 3]>,
    pub(super) message: Option<String>,
    pub(super) identifiers: Identifiers,
    pub(super) fault: Option<Fault>,
    /// The value, if it is asked for.
    pub(super) value: Option<Value>,
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

/// The specifications of a protocol, or of one of its types.
type Found = (Option<Arc<Variant>>, Arc<[Specification]>);

/// Decodes messages of all protocols.
#[derive(Debug)]
pub(super) struct Decoder {
    specifications: Specifications,
    /// By the name of the protocol; its types apart.
    found: HashMap<&'static str, Vec<Found>>,
    tape: Tape,
    options: Options,
    /// How values are shown, if they are.
    form: Option<Form>,
}

impl Decoder {
    pub(super) fn new(specifications: Specifications, form: Option<Form>) -> Self {
        Self { specifications, found: HashMap::new(), tape: Tape::new(), options: Options::default(), form }
    }

    /// Decodes a message by the first specification that fits it, or by the first one as far as it goes.
    pub(super) fn decode(&mut self, pdu: &Pdu<'_>) -> Decoded {
        let protocol = pdu.protocol;
        if protocol.type_name.is_none() {
            return h248::decode(pdu.octets, self.form.is_some());
        }
        let specifications = self.specifications_of(protocol, pdu.variant.as_ref());
        if specifications.is_empty() && protocol.name == "h248" {
            return h248::decode(pdu.octets, self.form.is_some());
        }
        let mut first = None;
        for specification in specifications.iter() {
            let decoded =
                decode_by(protocol, specification, pdu.octets, &mut self.tape, &self.options, self.form);
            // One that leaves the message as octets is worse than one that names it.
            if decoded.fault.is_none() && decoded.message.is_some() {
                return decoded;
            }
            let is_better = |it: &Decoded| it.fault.is_some() && decoded.fault.is_none();
            if first.as_ref().is_none_or(is_better) {
                first = Some(decoded);
            }
        }
        first.unwrap_or_else(|| Decoded {
            fault: Some(Fault {
                stage: "schema",
                offset: None,
                bit: None,
                path: String::new(),
                message: missing(protocol, pdu.variant.as_deref()),
            }),
            ..Decoded::default()
        })
    }

    /// Returns the specifications of a type, and reports once that there is none.
    fn specifications_of(
        &mut self,
        protocol: &'static Protocol,
        variant: Option<&Arc<Variant>>,
    ) -> Arc<[Specification]> {
        let known = self.found.entry(&protocol.name).or_default();
        if let Some((_, found)) = known.iter().find(|(of, _)| of.as_ref() == variant) {
            return found.clone();
        }
        let (found, refused) = self.specifications.of(protocol, variant.map(|it| &**it));
        refused.iter().for_each(term::warning);
        let module = |it: &Option<Arc<Variant>>| it.as_ref().and_then(|it| it.module.clone());
        let is_reported =
            known.iter().any(|(of, found)| found.is_empty() && module(of) == module(&variant.cloned()));
        // H.248 is read without a specification.
        if found.is_empty() && !is_reported && protocol.name != "h248" {
            term::warning(format_args!(
                "{}\nhelp: `--schema PATH` or TERCET_SCHEMAS names specifications",
                missing(protocol, variant.map(|it| &**it))
            ));
        }
        let found: Arc<[Specification]> = found.into();
        known.push((variant.cloned(), found.clone()));
        found
    }
}

/// Names the text that decodes a protocol.
pub(super) fn missing(protocol: &Protocol, variant: Option<&Variant>) -> String {
    let module =
        variant.and_then(|it| it.module.as_deref()).or(protocol.module.as_deref()).unwrap_or_default();
    format!("no specification of {}: module {module} of {}", protocol.name, protocol.specification)
}

fn decode_by(
    protocol: &Protocol,
    specification: &Specification,
    octets: &[u8],
    tape: &mut Tape,
    options: &Options,
    form: Option<Form>,
) -> Decoded {
    let Specification { plan, root, rules, .. } = specification;
    let mut codec = TapeCodec::new(*rules, plan);
    let mut decoded = Decoded {
        used: Some([specification.module.clone(), specification.type_name.clone(), rules.name().to_owned()]),
        ..Decoded::default()
    };
    let read = codec.read(*root, octets, tape, options).and_then(|length| {
        let rest = &octets[length..];
        // Messages of the radio interface are padded to the size of their blocks.
        if protocol.name.ends_with("-rrc") {
            return Ok(());
        }
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
    decoded.message = names::message(protocol, &specification.type_name, &plan.shape, view);
    decoded.identifiers = identifiers(protocol, &plan.shape, view);
    decoded.value = form.map(|form| value(&plan.shape, view, form));
    decoded
}

fn fault(error: &CodecError) -> Fault {
    let (bit, message) = match error {
        CodecError::Octets(error) => (error.bit(), error.kind().message().to_owned()),
        other => (None, other.to_string()),
    };
    Fault { stage: "decode", offset: Some(error.offset()), bit, path: error.path(), message }
}
