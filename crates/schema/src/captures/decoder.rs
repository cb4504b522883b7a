//! Decodes messages: their names and the identifiers in them.

use super::identifiers::{Identifiers, Keys};
use super::inner::{Carried, Carriers, DEPTH_LIMIT, Inner};
use super::lenient::lenient;
use super::operations::{Family, operations};
use super::signalled::{Signalled, Signalling};
use super::specifications::{Specification, Specifications};
use super::value::{Form, value};
use super::{h248, names};
use crate::transfer::{CodecError, TapeCodec, check_trailing};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use tercet_capture::{Pdu, Protocol, Stream, Variant};
use tercet_dynamic::validate::{Validator, Violation};
use tercet_dynamic::{Options, Plan, Tape, Token, View};
use tercet_plan::{Kind, Rules};

/// The most deviations that are listed of a message.
const WARNING_LIMIT: usize = 20;

/// A message as far as it was decoded.
#[derive(Debug, Default)]
pub struct Decoded {
    /// The specification that was used: module, type, rules.
    pub used: Option<Arc<[String; 3]>>,
    /// The name of the message.
    pub message: Option<String>,
    /// The identifiers of its conversation.
    pub identifiers: Identifiers,
    /// Why it is not decoded as a whole.
    pub fault: Option<Fault>,
    /// Where it deviates from its specification, but can be read.
    pub warnings: Vec<Warning>,
    /// The value, if it is asked for.
    pub value: Option<Value>,
    /// Messages of other protocols inside, as far as there are specifications of them.
    pub inner: Vec<Inner>,
    /// Sockets that the message announces: [`tercet_capture::Capture::expect_messages`] reads what comes there.
    pub sockets: Vec<Signalled>,
}

/// Why a message is not decoded as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// `schema`, `decode`, or `constraint`.
    pub stage: &'static str,
    /// The byte of the message.
    pub offset: Option<u64>,
    /// The bit of the message, in PER.
    pub bit: Option<u8>,
    /// The path of the value; empty if it is not known.
    pub path: String,
    /// What is wrong.
    pub message: String,
}

/// A value that deviates from its specification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The path of the value.
    pub path: String,
    /// The kind of the deviation: `constraint-violated`, `character-invalid`, `default-encoded` …
    pub code: &'static str,
    /// The value and what is wrong with it.
    pub message: String,
}

/// The specifications of a protocol, or of one of its types.
type Found = (Option<Arc<Variant>>, Arc<[Loaded]>);

/// Specifications by the name of the protocol; its types apart.
type ByProtocol = HashMap<&'static str, Vec<Found>>;

/// A specification, and its plan that reads more than it permits: made when it is first asked for.
#[derive(Debug)]
struct Loaded {
    specification: Specification,
    names: Arc<[String; 3]>,
    lenient: OnceLock<Option<Plan>>,
    carriers: OnceLock<Carriers>,
    keys: OnceLock<Keys>,
}

/// A value as far as it was read, with the specification that has read it.
pub type ReadValue<'a> = (&'a Specification, View<'a>);

/// What a [`Decoder`] does with messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DecoderOptions {
    /// The form of values, if they are made.
    pub form: Option<Form>,
    /// Deviations from the specification are faults. By default they are warnings, and the message is decoded.
    pub strict: bool,
    /// Deviations that can be read are not looked for: neither faults nor warnings.
    pub unchecked: bool,
}

/// Decodes messages of all protocols.
#[derive(Debug)]
pub struct Decoder {
    specifications: Specifications,
    found: ByProtocol,
    /// Those that this decoder or one of another thread has found: each is compiled once.
    shared: Arc<Mutex<ByProtocol>>,
    tape: Tape,
    engine: tercet_dynamic::Decoder,
    validator: Validator,
    options: DecoderOptions,
    notices: Vec<String>,
    /// Names of operations of TCAP, by their codes.
    operations: HashMap<Family, HashMap<i64, String>>,
    signalling: Signalling,
    /// The conversation of the message at hand.
    stream: Option<Stream>,
}

impl Decoder {
    /// Creates a decoder by specifications.
    pub fn new(specifications: Specifications, options: DecoderOptions) -> Self {
        Self::with_shared(specifications, options, Arc::default())
    }

    /// Returns a decoder for another thread, by the same specifications and with the same options.
    pub fn fork(&self) -> Self {
        Self::with_shared(self.specifications.clone(), self.options, Arc::clone(&self.shared))
    }

    fn with_shared(
        specifications: Specifications,
        options: DecoderOptions,
        shared: Arc<Mutex<ByProtocol>>,
    ) -> Self {
        Self {
            specifications,
            found: HashMap::new(),
            shared,
            tape: Tape::new(),
            engine: tercet_dynamic::Decoder::new(),
            validator: Validator::new(),
            options,
            notices: Vec::new(),
            operations: HashMap::new(),
            signalling: Signalling::default(),
            stream: None,
        }
    }

    /// Returns what users have to know about specifications since the last call: which are missing, which cannot be used.
    pub fn take_notices(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notices)
    }

    /// Decodes a message by the first specification that fits it, or by the first one as far as it goes.
    pub fn decode(&mut self, pdu: &Pdu<'_>) -> Decoded {
        self.decode_with(pdu, &mut |_, _| {})
    }

    /// Decodes a message, and calls `act` once with what is decoded and, if there is a value, its specification and the
    /// value as far as it was read.
    pub fn decode_with(
        &mut self,
        pdu: &Pdu<'_>,
        act: &mut dyn FnMut(&Decoded, Option<ReadValue<'_>>),
    ) -> Decoded {
        let protocol = pdu.protocol;
        self.stream = pdu.stream;
        let specifications = match protocol.type_name {
            Some(_) => self.specifications_of(protocol, pdu.variant.as_ref()),
            None => Arc::default(),
        };
        if specifications.is_empty() && (protocol.type_name.is_none() || protocol.name == "h248") {
            let decoded = h248::decode(pdu.octets, self.options.form.is_some());
            act(&decoded, None);
            return decoded;
        }
        let (mut first, mut readable) = (None::<(Decoded, usize)>, false);
        for (at, loaded) in specifications.iter().enumerate() {
            let mut decoded;
            (decoded, readable) = self.decode_by(protocol, loaded, pdu.octets);
            // One that leaves the message as octets is worse than one that names it.
            if decoded.fault.is_none() && decoded.message.is_some() {
                self.add_names_and_inner(pdu, loaded, &mut decoded);
                act(&decoded, readable.then(|| (&loaded.specification, self.tape.view(pdu.octets))));
                return decoded;
            }
            let is_better = |it: &(Decoded, usize)| it.0.fault.is_some() && decoded.fault.is_none();
            if first.as_ref().is_none_or(is_better) {
                first = Some((decoded, at));
            }
        }
        let Some((mut decoded, at)) = first else {
            let message = missing(protocol, pdu.variant.as_deref());
            let fault = Fault { stage: "schema", offset: None, bit: None, path: String::new(), message };
            let decoded = Decoded { fault: Some(fault), ..Decoded::default() };
            act(&decoded, None);
            return decoded;
        };
        // The tape has the value of the last one that was tried.
        if at + 1 < specifications.len() {
            (decoded, readable) = self.decode_by(protocol, &specifications[at], pdu.octets);
        }
        if readable {
            self.add_names_and_inner(pdu, &specifications[at], &mut decoded);
        }
        act(&decoded, readable.then(|| (&specifications[at].specification, self.tape.view(pdu.octets))));
        decoded
    }

    /// Names the operations of TCAP, and decodes the messages inside. The tape has the message.
    fn add_names_and_inner(&mut self, pdu: &Pdu<'_>, loaded: &Loaded, decoded: &mut Decoded) {
        if pdu.protocol.name == "tcap" {
            self.name_operations(pdu, decoded);
        }
        self.add_inner(pdu.protocol, loaded, pdu.octets, decoded, DEPTH_LIMIT);
    }

    /// Decodes the messages inside of one, and those inside of these. The tape has the message.
    fn add_inner(
        &mut self,
        protocol: &Protocol,
        loaded: &Loaded,
        octets: &[u8],
        decoded: &mut Decoded,
        depth: u8,
    ) {
        let shape = &loaded.specification.plan.shape;
        let carriers = loaded.carriers.get_or_init(|| Carriers::new(protocol, shape));
        let found = carriers.carried(shape, self.tape.view(octets), decoded.message.as_deref());
        let Some(depth) = depth.checked_sub(1).filter(|_| !found.is_empty()) else { return };
        let outer = std::mem::take(&mut self.tape);
        for Carried { targets, octets, is_uncertain } in found {
            let mut first = None;
            for (protocol, variant) in targets {
                // A text of what is inside is not required.
                let notices = self.notices.len();
                let specifications = self.specifications_of(protocol, variant.as_ref());
                self.notices.truncate(notices);
                let Some(loaded) = specifications.first() else { continue };
                let (mut inside, is_readable) = self.decode_by(protocol, loaded, &octets);
                let is_whole = inside.fault.is_none();
                if is_readable {
                    self.add_inner(protocol, loaded, &octets, &mut inside, depth);
                }
                if is_whole || first.is_none() {
                    first = Some((protocol, inside));
                }
                if is_whole {
                    break;
                }
            }
            if let Some((protocol, mut inside)) = first.filter(|(_, it)| !is_uncertain || it.fault.is_none())
            {
                decoded.sockets.append(&mut inside.sockets);
                decoded.inner.push(Inner { protocol, octets, decoded: inside });
            }
        }
        self.tape = outer;
    }

    /// Gives operations the names of the user's specifications, where they have one for the code.
    fn name_operations(&mut self, pdu: &Pdu<'_>, decoded: &mut Decoded) {
        let Some((_, Value::Array(codes))) =
            decoded.identifiers.iter_mut().find(|(key, _)| *key == "operations")
        else {
            return;
        };
        let subsystems = pdu.sccp.as_ref().map_or([None; 2], |it| [it.called.ssn, it.calling.ssn]);
        let family = Family::of(pdu.octets, subsystems);
        let specifications = &self.specifications;
        let names =
            self.operations.entry(family).or_insert_with(|| operations(family, specifications.texts()));
        for code in codes {
            if let Some(name) = code.as_i64().and_then(|code| names.get(&code)) {
                *code = name.as_str().into();
            }
        }
    }

    /// Returns the specifications of a type, and reports once that there is none.
    fn specifications_of(
        &mut self,
        protocol: &'static Protocol,
        variant: Option<&Arc<Variant>>,
    ) -> Arc<[Loaded]> {
        let known = self.found.entry(&protocol.name).or_default();
        if let Some((_, found)) = known.iter().find(|(of, _)| of.as_ref() == variant) {
            return Arc::clone(found);
        }
        // Other threads that need it wait for the one that compiles it.
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let all = shared.entry(&protocol.name).or_default();
        let found = match all.iter().find(|(of, _)| of.as_ref() == variant) {
            Some((_, found)) => Arc::clone(found),
            None => {
                let (found, refused) = self.specifications.of(protocol, variant.map(|it| &**it));
                self.notices.extend(refused);
                let module = |it: &Option<Arc<Variant>>| it.as_ref().and_then(|it| it.module.clone());
                let is_reported =
                    all.iter().any(|(of, found)| found.is_empty() && module(of) == module(&variant.cloned()));
                // H.248 is read without a specification.
                if found.is_empty() && !is_reported && protocol.name != "h248" {
                    self.notices.push(missing(protocol, variant.map(|it| &**it)));
                }
                let found: Arc<[Loaded]> = found.into_iter().map(Loaded::new).collect();
                all.push((variant.cloned(), Arc::clone(&found)));
                found
            }
        };
        known.push((variant.cloned(), Arc::clone(&found)));
        found
    }

    /// Decodes octets by a specification; and whether the tape has a value.
    fn decode_by(&mut self, protocol: &Protocol, loaded: &Loaded, octets: &[u8]) -> (Decoded, bool) {
        let Loaded { specification, names: used, .. } = loaded;
        let Specification { plan, root, .. } = specification;
        let mut decoded = Decoded { used: Some(Arc::clone(used)), ..Decoded::default() };
        let mut readable = true;
        let mut deviation = None;
        if let Err(error) = self.read(protocol, specification, plan, specification.rules, octets) {
            if !self.options.strict && self.reread(protocol, loaded, octets) {
                deviation = Some(of_error(&error));
            } else {
                // What was read before the fault has the name of the message, mostly.
                let (mut codec, options) = (TapeCodec::new(specification.rules, plan), Options::default());
                let read = codec.read(*root, octets, &mut self.tape, &options);
                readable =
                    read.is_ok() || codec.finish_partial(*root, octets, &mut self.tape, &options, &error);
                decoded.fault = Some(fault(&error));
                if !readable {
                    return (decoded, false);
                }
            }
        }
        let view = self.tape.view(octets);
        decoded.message = names::message(protocol, &specification.type_name, &plan.shape, view);
        let keys = loaded.keys.get_or_init(|| Keys::new(protocol, &plan.shape));
        decoded.identifiers = keys.identifiers(&plan.shape, view);
        decoded.sockets = self.signalling.sockets(protocol, self.stream, &plan.shape, view);
        decoded.value = self.options.form.map(|form| value(&plan.shape, view, form));
        if decoded.fault.is_none() && !self.options.unchecked {
            let mut found = self.validator.check(&plan.shape, *root, view);
            found.truncate(WARNING_LIMIT);
            decoded.warnings = found.iter().map(|it| of_violation(specification, view, it)).collect();
            // Some deviations are those of the encoding, not of the value.
            if !decoded.warnings.iter().any(|it| deviation.as_ref().is_some_and(|of| of.path == it.path)) {
                decoded.warnings.extend(deviation);
            }
            if self.options.strict && !decoded.warnings.is_empty() {
                let Warning { path, message, .. } = decoded.warnings.swap_remove(0);
                let fault = Fault { stage: "constraint", offset: None, bit: None, path, message };
                decoded.fault = Some(fault);
                decoded.warnings.clear();
            }
        }
        (decoded, readable)
    }

    /// Reads octets onto the tape that the rules forbid, but that can be read.
    fn reread(&mut self, protocol: &Protocol, loaded: &Loaded, octets: &[u8]) -> bool {
        let Loaded { specification, .. } = loaded;
        let rules = specification.rules;
        if rules.has_elements() && rules != Rules::Ber {
            return self.read(protocol, specification, &specification.plan, Rules::Ber, octets).is_ok();
        }
        loaded.lenient().is_some_and(|plan| self.read(protocol, specification, plan, rules, octets).is_ok())
    }

    /// Reads octets onto the tape.
    fn read(
        &mut self,
        protocol: &Protocol,
        specification: &Specification,
        plan: &Plan,
        rules: Rules,
        octets: &[u8],
    ) -> Result<(), CodecError> {
        let root = specification.root;
        let mut options = Options::default();
        options.rules = rules.plan_rules();
        self.tape.clear();
        let length = self.engine.decode(plan, root, octets, &mut self.tape, &options)?;
        // Messages of the radio interface are padded to the size of their blocks.
        if length == octets.len() || protocol.name.ends_with("-rrc") {
            return Ok(());
        }
        Ok(check_trailing(plan, root, &octets[length..], length as u64, options.trailing)?)
    }
}

impl Loaded {
    fn new(specification: Specification) -> Self {
        let Specification { module, type_name, rules, .. } = &specification;
        let names = Arc::new([module.clone(), type_name.clone(), rules.name().to_owned()]);
        Self {
            specification,
            names,
            lenient: OnceLock::new(),
            carriers: OnceLock::new(),
            keys: OnceLock::new(),
        }
    }

    fn lenient(&self) -> Option<&Plan> {
        self.lenient.get_or_init(|| lenient(&self.specification.plan)).as_ref()
    }
}

/// Names the text that decodes a protocol.
pub fn missing(protocol: &Protocol, variant: Option<&Variant>) -> String {
    let module =
        variant.and_then(|it| it.module.as_deref()).or(protocol.module.as_deref()).unwrap_or_default();
    format!("no specification of {}: module {module} of {}", protocol.name, protocol.specification)
}

fn fault(error: &CodecError) -> Fault {
    let (bit, message) = match error {
        CodecError::Octets(error) => (error.bit(), error.kind().message().to_owned()),
        other => (None, other.to_string()),
    };
    Fault { stage: "decode", offset: Some(error.offset()), bit, path: error.path(), message }
}

/// Returns the warning for a fault that reading more leniently avoids.
fn of_error(error: &CodecError) -> Warning {
    let (code, message) = match error {
        CodecError::Octets(error) => (error.kind().name(), error.kind().message().to_owned()),
        other => ("not-canonical", other.to_string()),
    };
    Warning { path: error.path(), code, message }
}

/// Returns the warning for a constraint that a value does not meet.
fn of_violation(specification: &Specification, view: View<'_>, violation: &Violation) -> Warning {
    let kind = match view.token(violation.token) {
        Token::Leaf { node, .. } | Token::Open { node, .. } => Some(specification.plan.shape.node(node).kind),
        _ => None,
    };
    let code = match kind {
        _ if !violation.constraint.is_empty() => "constraint-violated",
        Some(Kind::Sequence | Kind::Set | Kind::Choice) => "missing-component",
        Some(Kind::Enumerated) => "unknown-enumeration",
        _ => "character-invalid",
    };
    let Violation { path, value, message, .. } = violation;
    let message = if value.is_empty() { message.clone() } else { format!("{value} {message}") };
    Warning { path: path.clone(), code, message }
}
