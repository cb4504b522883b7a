//! The entry points: which engine runs is decided by the plan.

use crate::{Error, ErrorKind, Leaf, Options, Sink, Token, View};
use crate::{ber, oer, path, per};
use tercet_plan::{Code, Kind, NodeId, Plan, Rules, Shape};

/// Decodes one value of type `root` from the front of `input` and says its events to `sink`.
///
/// The answer is the number of octets that the value took; more may follow. After an error a [`crate::Tape`] holds what
/// was read before the fault; [`crate::Tape::finish_partial`] makes a value of it.
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
/// BER keeps the order of the members of a SET and defaults that are given; DER and CER give the canonical form. The limit
/// of values inside one another is that of the decoder which read the value, for others that of [`crate::Limits`].
///
/// # Errors
/// A missing component, a value that is not one of its type; with a path. Rules that the plan was not made for.
pub fn encode(plan: &Plan, rules: Rules, value: View<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
    Encoder::new().encode(plan, rules, value, out)
}

/// Decodes many values one after the other and keeps its stacks: nothing is allocated for a record.
#[derive(Debug, Default)]
pub struct Decoder {
    ber: ber::DecodeState,
    per: per::DecodeState,
    oer: oer::DecodeState,
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
        sink.begin(plan.rules(options.rules));
        sink.within(options.limits.depth);
        match &plan.code {
            Code::Ber(program) => {
                ber::decode(&mut self.ber, &plan.shape, program, root, input, sink, options)
            }
            Code::Per(program) => {
                per::decode(&mut self.per, &plan.shape, program, root, input, sink, options)
            }
            Code::Oer(program) => {
                oer::decode(&mut self.oer, &plan.shape, program, root, input, sink, options)
            }
            _ => {
                Err(Error::new(ErrorKind::ValueMismatch, 0)
                    .with_detail("no engine for the rules of this plan"))
            }
        }
    }

    /// Returns how many leaves of the last value in BER were kept although they break the rules of their type: see
    /// [`Sink::marked`].
    pub fn marked(&self) -> u64 {
        self.ber.marked()
    }
}

/// Encodes many values one after the other and keeps its stacks.
#[derive(Debug, Default)]
pub struct Encoder {
    foreign: bool,
    ber: ber::EncodeState,
    per: per::EncodeState,
    oer: oer::EncodeState,
}

impl Encoder {
    /// An encoder without any memory yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same, told whether the octets of open types and additions that the decoder could not look into are written
    /// as they are although they are encodings in other rules. Unless told, they are an error.
    #[must_use]
    pub const fn with_foreign_octets(mut self, kept: bool) -> Self {
        self.foreign = kept;
        self
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
        if !plan.serves(rules) {
            let detail = format!("the plan is for {}, not for {}", plan.rules(rules).label(), rules.label());
            return Err(Error::new(ErrorKind::Unsupported, 0).with_detail(detail));
        }
        value.check_depth(&plan.shape)?;
        if let Some(from) = value.rules()
            && !self.foreign
            && from.basic() != rules.basic()
        {
            refuse_foreign(&plan.shape, value, from)?;
        }
        match &plan.code {
            Code::Ber(program) => ber::encode(&mut self.ber, &plan.shape, program, rules, value, out),
            Code::Per(program) => per::encode(&mut self.per, &plan.shape, program, value, out),
            Code::Oer(program) => oer::encode(&mut self.oer, &plan.shape, program, value, out),
            _ => {
                Err(Error::new(ErrorKind::ValueMismatch, 0)
                    .with_detail("no engine for the rules of this plan"))
            }
        }
    }
}

/// What nobody could look into is an encoding in the rules that the value came in.
#[cold]
fn refuse_foreign(shape: &Shape, value: View<'_>, from: Rules) -> Result<(), Error> {
    for (index, token) in value.tokens().enumerate() {
        let what = match token {
            // Made without octets, it only tells that the type of the sender has so many additions.
            Token::Unknown { leaf: Leaf::Made([]), .. } => continue,
            Token::Unknown { .. } => "an extension addition",
            Token::Leaf { node, leaf, .. }
                if leaf.contents().is_some()
                    && shape.nodes.get(node.index()).is_some_and(|node| node.kind == Kind::Open) =>
            {
                "an open type"
            }
            _ => continue,
        };
        let detail = format!("{what} of unknown content is an encoding in {}", from.label());
        return Err(Error::new(ErrorKind::Unsupported, 0)
            .with_path(path::of_tape(shape, value, index))
            .with_detail(detail));
    }
    Ok(())
}
