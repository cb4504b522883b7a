//! The entry points: which engine runs is decided by the plan.

use crate::{Error, Options, Sink, View};
use crate::{ber, per};
use tercet_plan::{Code, NodeId, Plan, Rules};

/// Decodes one value of type `root` from the front of `input` and says its events to `sink`.
///
/// The answer is the number of octets that the value took; more may follow. To a sink that keeps things
/// (a [`crate::Tape`]) an error means that what it has heard is worth nothing.
///
/// # Errors
/// The first fault in the input, with offset and path. [`Error::missing`] tells when the input ends too early.
pub fn decode(
    plan: &Plan,
    root: NodeId,
    input: &[u8],
    sink: &mut impl Sink,
    options: &Options,
) -> Result<usize, Error> {
    Decoder::new().decode(plan, root, input, sink, options)
}

/// Encodes a value under one of the rules that the plan is for and appends it to `out`.
///
/// BER keeps the order of the members of a SET and defaults that are given; DER and CER give the canonical form.
///
/// # Errors
/// A missing component, a value that is not one of its type; with a path.
pub fn encode(plan: &Plan, rules: Rules, value: View<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
    Encoder::new().encode(plan, rules, value, out)
}

/// Decodes many values one after the other and keeps its stacks: nothing is allocated for a record.
#[derive(Debug, Default)]
pub struct Decoder {
    ber: ber::DecodeState,
    per: per::DecodeState,
}

impl Decoder {
    /// A decoder without any memory yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// See [`decode`].
    ///
    /// # Errors
    /// See [`decode`].
    pub fn decode(
        &mut self,
        plan: &Plan,
        root: NodeId,
        input: &[u8],
        sink: &mut impl Sink,
        options: &Options,
    ) -> Result<usize, Error> {
        match &plan.code {
            Code::Ber(program) => {
                ber::decode(&mut self.ber, &plan.shape, program, root, input, sink, options)
            }
            Code::Per(program) => {
                per::decode(&mut self.per, &plan.shape, program, root, input, sink, options)
            }
            _ => Err(Error::new(crate::ErrorKind::ValueMismatch, 0)
                .with_detail("no engine for the rules of this plan")),
        }
    }
}

/// Encodes many values one after the other and keeps its stacks.
#[derive(Debug, Default)]
pub struct Encoder {
    ber: ber::EncodeState,
    per: per::EncodeState,
}

impl Encoder {
    /// An encoder without any memory yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// See [`encode`].
    ///
    /// # Errors
    /// See [`encode`].
    pub fn encode(
        &mut self,
        plan: &Plan,
        rules: Rules,
        value: View<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        match &plan.code {
            Code::Ber(program) => ber::encode(&mut self.ber, &plan.shape, program, rules, value, out),
            Code::Per(program) => per::encode(&mut self.per, &plan.shape, program, value, out),
            _ => Err(Error::new(crate::ErrorKind::ValueMismatch, 0)
                .with_detail("no engine for the rules of this plan")),
        }
    }
}
