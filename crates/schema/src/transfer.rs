//! One codec for every set of encoding rules, binary and text.
//!
//! ```
//! use tercet_schema::{TapeCodec, Schema, Rules, dynamic::Tape};
//!
//! let schema = Schema::from_text("a.asn", "A DEFINITIONS ::= BEGIN Age ::= INTEGER (0..150) END");
//! let (from, to) = ("jer".parse::<Rules>()?, "uper".parse::<Rules>()?);
//! let plans = schema.plans(&[from.plan_rules(), to.plan_rules()], &["Age"])?;
//! let root = plans[0].root("Age").expect("a root that was asked for");
//!
//! let (mut tape, mut octets) = (Tape::new(), Vec::new());
//! TapeCodec::new(from, &plans[0]).read(root, b"33", &mut tape, &Default::default())?;
//! TapeCodec::new(to, &plans[1]).write(tape.view(b"33"), &mut octets)?;
//! assert_eq!(octets, [0x21]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fmt;
use std::ops::Range;
use tercet_dynamic::source::Ranges;
use tercet_dynamic::trace::{self, Step, Trace};
use tercet_dynamic::{
    Decoder, Encoder, Error, ErrorKind, NodeId, Options, Plan, ReadError, Rules, Tape, Trailing, View, gser,
    json, xml,
};

/// Why octets or text are no value, or a value has no encoding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CodecError {
    /// Of encoding rules with octets: where, what and on which path.
    Octets(Error),
    /// Of text: line and column, what and on which path.
    Text(ReadError),
}

impl CodecError {
    /// The path of the faulty value; empty if it is not known.
    pub fn path(&self) -> String {
        match self {
            Self::Octets(error) => error.path().to_owned(),
            Self::Text(error) => error.path(),
        }
    }

    /// Octets before the fault.
    pub fn offset(&self) -> u64 {
        match self {
            Self::Octets(error) => error.offset(),
            Self::Text(error) => error.offset() as u64,
        }
    }
}

impl From<Error> for CodecError {
    fn from(error: Error) -> Self {
        Self::Octets(error)
    }
}

impl From<ReadError> for CodecError {
    fn from(error: ReadError) -> Self {
        Self::Text(error)
    }
}

impl fmt::Display for CodecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Octets(error) => error.fmt(f),
            Self::Text(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for CodecError {}

/// Octets that may be missing of a value that breaks off, for what there is of it to be read.
const MOST_FILLED: u64 = 16 << 20;

/// Reads and writes values of a plan in one transfer syntax; keeps its memory from one to the next.
#[derive(Debug)]
pub struct TapeCodec<'p> {
    syntax: Rules,
    plan: &'p Plan,
    decoder: Decoder,
    encoder: Encoder,
}

impl<'p> TapeCodec<'p> {
    /// A codec for a plan that was made with [`Rules::plan_rules`].
    pub fn new(syntax: Rules, plan: &'p Plan) -> Self {
        Self { syntax, plan, decoder: Decoder::new(), encoder: Encoder::new() }
    }

    /// What it reads and writes.
    pub fn syntax(&self) -> Rules {
        self.syntax
    }

    /// Reads one value of type `root` from the front of an input onto a tape, which is cleared first. The answer is the
    /// number of octets that it took; a text has to be one value as a whole. [`check_trailing`] checks what follows.
    ///
    /// ```
    /// use tercet_schema::{TapeCodec, Schema, Rules};
    /// use tercet_schema::dynamic::{Options, Tape};
    /// let schema = Schema::from_text(
    ///     "m.asn",
    ///     "M DEFINITIONS AUTOMATIC TAGS ::= BEGIN T ::= SEQUENCE { a INTEGER (0..7), b OCTET STRING } END",
    /// );
    /// let plan = schema.plan_for(Rules::Uper, &["T"]).unwrap();
    /// let (mut codec, mut tape) = (TapeCodec::new(Rules::Uper, &plan), Tape::new());
    /// let root = plan.root("T").unwrap();
    /// // The string is cut: what was read before can be looked at.
    /// let cut = [0xA0, 0xA0];
    /// let options = Options::default();
    /// let error = codec.read(root, &cut, &mut tape, &options).unwrap_err();
    /// assert!(codec.finish_partial(root, &cut, &mut tape, &options, &error));
    /// let mut text = Vec::new();
    /// TapeCodec::new(Rules::Jer, &plan).write(tape.view(&cut), &mut text).unwrap();
    /// assert_eq!(text, br#"{"a":5}"#);
    /// ```
    ///
    /// # Errors
    /// [`CodecError`]. The tape then holds what was read before the fault
    /// ([`TapeCodec::finish_partial`]).
    pub fn read(
        &mut self,
        root: NodeId,
        input: &[u8],
        tape: &mut Tape,
        options: &Options,
    ) -> Result<usize, CodecError> {
        self.read_noted(root, input, tape, options, None)
    }

    /// Reads one value as [`TapeCodec::read`] does, and where the values on the tape are in the text.
    /// [`crate::dynamic::trace::of_text`] makes parts of it. There are no ranges of [`Rules::Exer`] and of rules that are
    /// not text, whose decoders report places themselves ([`crate::dynamic::Sink::place`]).
    ///
    /// # Errors
    /// See [`TapeCodec::read`]. The ranges are then those of the values on the tape.
    pub fn read_with_ranges(
        &mut self,
        root: NodeId,
        input: &[u8],
        tape: &mut Tape,
        options: &Options,
        ranges: &mut Ranges,
    ) -> Result<usize, CodecError> {
        *ranges = Ranges::new();
        self.read_noted(root, input, tape, options, Some(ranges))
    }

    /// Calls a function for each part of one value, in the order of the input: all bits of the value, each once. The answer
    /// is the number of octets that it took. Offsets count from the start of the input, so that
    /// [`Options::base_offset`] has to be 0. [`Rules::Exer`] has no parts.
    ///
    /// ```
    /// use tercet_schema::{TapeCodec, Schema, Rules, dynamic::Options};
    /// let schema = Schema::from_text("a.asn", "A DEFINITIONS ::= BEGIN T ::= SEQUENCE OF INTEGER END");
    /// let plan = schema.plan_for(Rules::Jer, &["T"]).unwrap();
    /// let root = plan.root("T").unwrap();
    /// let mut parts = Vec::new();
    /// let each = |step: &tercet_schema::dynamic::trace::Step<'_>| {
    ///     parts.push(format!("{} {}", step.place.part.name(), step.path));
    /// };
    /// TapeCodec::new(Rules::Jer, &plan).trace(root, b"[7]", &Options::default(), each).unwrap();
    /// assert_eq!(parts, ["delimiter T", "contents T[0]", "delimiter T"]);
    /// ```
    ///
    /// # Errors
    /// See [`TapeCodec::read`]. The function was called for the parts before the fault.
    pub fn trace(
        &mut self,
        root: NodeId,
        input: &[u8],
        options: &Options,
        mut each: impl FnMut(&Step<'_>),
    ) -> Result<usize, CodecError> {
        let shape = &self.plan.shape;
        if !self.syntax.is_text() {
            let mut options = options.clone();
            options.rules = self.syntax.plan_rules();
            let mut steps = Trace::new(shape, input, each);
            let read = self.decoder.decode(self.plan, root, input, &mut steps, &options);
            steps.finish();
            return Ok(read?);
        }
        let (mut tape, mut ranges) = (Tape::new(), Ranges::new());
        let read = self.read_with_ranges(root, input, &mut tape, options, &mut ranges);
        if let Err(error) = &read {
            self.finish_partial(root, input, &mut tape, options, error);
        }
        // Members of a JSON object may be in front of the fault and come later in the type: they were not read.
        let end = read.as_ref().map_or_else(CodecError::offset, |length| *length as u64) * 8;
        trace::of_text(shape, self.syntax, tape.view(input), input, &ranges, |step| {
            if step.place.end() <= end {
                each(step);
            }
        });
        read
    }

    fn read_noted(
        &mut self,
        root: NodeId,
        input: &[u8],
        tape: &mut Tape,
        options: &Options,
        ranges: Option<&mut Ranges>,
    ) -> Result<usize, CodecError> {
        tape.clear();
        let shape = &self.plan.shape;
        match self.syntax {
            Rules::Jer => {
                let mut reading = json::Options::default();
                reading.fill_defaults = options.fill_defaults;
                reading.depth = options.limits.depth;
                let mut reader = json::Reader::new(shape, reading);
                match ranges {
                    None => reader.read(root, input, tape)?,
                    Some(ranges) => reader.read_with_ranges(root, input, tape, ranges)?,
                }
            }
            Rules::Xer | Rules::Cxer => {
                let mut reading = xml::ReadOptions::default();
                reading.depth = options.limits.depth;
                if self.syntax == Rules::Cxer {
                    reading.variant = xml::Variant::Canonical;
                }
                let mut reader = xml::Reader::new(shape, reading);
                match ranges {
                    None => reader.read(root, input, tape)?,
                    Some(ranges) => reader.read_with_ranges(root, input, tape, ranges)?,
                }
            }
            Rules::Exer => {
                let mut reading = xml::ReadOptions::default();
                reading.depth = options.limits.depth;
                xml::extended::read(shape, root, input, tape, &reading)?;
            }
            Rules::Gser => {
                let mut reading = gser::ReadOptions::default();
                reading.depth = options.limits.depth;
                let mut reader = gser::Reader::new(shape, reading);
                match ranges {
                    None => reader.read(root, input, tape)?,
                    Some(ranges) => reader.read_with_ranges(root, input, tape, ranges)?,
                }
            }
            _ => {
                let mut options = options.clone();
                options.rules = self.syntax.plan_rules();
                return Ok(self.decoder.decode(self.plan, root, input, tape, &options)?);
            }
        }
        Ok(input.len())
    }

    /// Makes a value of what was read before a fault that [`TapeCodec::read`] has reported of the same input; `false` if there
    /// is nothing. Components after the fault are absent, mandatory ones too.
    pub fn finish_partial(
        &mut self,
        root: NodeId,
        input: &[u8],
        tape: &mut Tape,
        options: &Options,
        error: &CodecError,
    ) -> bool {
        // An element whose length reaches past the input is not looked into, so that zeros stand for what is missing.
        if self.syntax.has_elements()
            && let CodecError::Octets(error) = error
            && let Some(missing) = error.missing().filter(|missing| *missing <= MOST_FILLED)
        {
            let mut filled = input.to_vec();
            filled.resize(input.len() + missing as usize, 0);
            _ = self.read(root, &filled, tape, options);
            return tape.finish_partial_before(input.len());
        }
        tape.finish_partial()
    }

    /// Appends a value. Texts end without a line feed.
    ///
    /// # Errors
    /// A value that is not one of its type or too deep, with a path.
    pub fn write(&mut self, value: View<'_>, out: &mut Vec<u8>) -> Result<(), CodecError> {
        let shape = &self.plan.shape;
        value.check_depth(shape)?;
        match self.syntax {
            Rules::Jer => json::write(shape, value, out, &json::Options::default()),
            Rules::Xer | Rules::Cxer => {
                let mut writing = xml::Options::default();
                if self.syntax == Rules::Cxer {
                    writing.variant = xml::Variant::Canonical;
                }
                xml::write(shape, value, out, &writing);
            }
            Rules::Exer => xml::extended::write(shape, value, out, &xml::Options::default())?,
            Rules::Gser => gser::write(shape, value, out, &gser::Options::default()),
            _ => self.encoder.encode(self.plan, self.syntax.plan_rules(), value, out)?,
        }
        Ok(())
    }

    /// Where the values of an input are, as far as it tells without a type: JSON values stand one after the other,
    /// GSER values one in a line; an input of XML is one, as is one of octets, whose values [`TapeCodec::read`] finds.
    pub fn places(&self, input: &[u8]) -> Vec<Range<usize>> {
        match self.syntax {
            Rules::Jer => json_values(input),
            Rules::Gser => {
                let mut at = 0;
                let lines = input.split_inclusive(|octet| *octet == b'\n').map(|line| {
                    at += line.len();
                    at - line.len()..at
                });
                lines.filter(|line| !input[line.clone()].trim_ascii().is_empty()).collect()
            }
            _ if input.is_empty() || self.syntax.is_text() && input.trim_ascii().is_empty() => Vec::new(),
            // A line feed at the end is the file's: the canonical text has no place for one.
            Rules::Cxer => {
                let end = input
                    .strip_suffix(b"\n")
                    .map_or(input.len(), |text| text.strip_suffix(b"\r").unwrap_or(text).len());
                std::iter::once(0..end).collect()
            }
            _ => std::iter::once(0..input.len()).collect(),
        }
    }
}

/// Behind a fault all is one value, for the reader to say what is wrong.
fn json_values(text: &[u8]) -> Vec<Range<usize>> {
    let mut places = Vec::new();
    let mut begin = 0;
    let mut values = serde_json::Deserializer::from_slice(text).into_iter::<serde_json::Value>();
    while let Some(value) = values.next() {
        let end = if value.is_ok() { values.byte_offset() } else { text.len() };
        places.push(begin..end);
        if value.is_err() {
            break;
        }
        begin = end;
    }
    places
}

/// Checks what follows a value that ends at the absolute offset `at` in an input that holds nothing else.
///
/// # Errors
/// [`ErrorKind::TrailingData`] for octets that `policy` does not allow.
pub fn check_trailing(
    plan: &Plan,
    root: NodeId,
    rest: &[u8],
    at: u64,
    policy: Trailing,
) -> Result<(), Error> {
    if policy.allows(rest) {
        return Ok(());
    }
    let shape = &plan.shape;
    let name = shape.node(root).name.map(|name| shape.name(name)).unwrap_or_default();
    Err(Error::new(ErrorKind::TrailingData, at).with_path(name))
}
