//! Transfer syntaxes by name: every set of encoding rules, binary and text, behind one enum and one codec.
//!
//! ```
//! use tercet_schema::{TapeCodec, Schema, TransferSyntax, dynamic::Tape};
//!
//! let schema = Schema::from_text("a.asn", "A DEFINITIONS ::= BEGIN Age ::= INTEGER (0..150) END");
//! let (from, to) = ("jer".parse::<TransferSyntax>()?, "uper".parse::<TransferSyntax>()?);
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
use std::str::FromStr;
use tercet_dynamic::{
    Decoder, Encoder, Error, ErrorKind, NodeId, Options, Plan, ReadError, Rules, Tape, Trailing, View, gser,
    json, xml,
};

/// A transfer syntax: what octets or text stand for a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TransferSyntax {
    /// Basic encoding rules (X.690).
    #[default]
    Ber,
    /// Distinguished encoding rules (X.690).
    Der,
    /// Canonical encoding rules (X.690).
    Cer,
    /// BASIC-PER, ALIGNED variant (X.691).
    Aper,
    /// BASIC-PER, UNALIGNED variant (X.691).
    Uper,
    /// CANONICAL-PER, ALIGNED variant (X.691).
    CanonicalAper,
    /// CANONICAL-PER, UNALIGNED variant (X.691).
    CanonicalUper,
    /// BASIC-OER (X.696).
    Oer,
    /// CANONICAL-OER (X.696).
    Coer,
    /// XML encoding rules, BASIC-XER (X.693).
    Xer,
    /// XML encoding rules, CANONICAL-XER (X.693).
    Cxer,
    /// XML encoding rules, EXTENDED-XER (X.693): as the encoding instructions say.
    Exer,
    /// JSON encoding rules (X.697).
    Jer,
    /// Generic string encoding rules (RFC 3641).
    Gser,
}

/// All of them, with their names, other names, and what they are.
const TABLE: [(TransferSyntax, &str, &[&str], &str); 14] = [
    (TransferSyntax::Ber, "ber", &[], "Basic encoding rules"),
    (TransferSyntax::Der, "der", &[], "Distinguished encoding rules"),
    (TransferSyntax::Cer, "cer", &[], "Canonical encoding rules"),
    (TransferSyntax::Aper, "aper", &["per"], "Packed encoding rules, ALIGNED"),
    (TransferSyntax::Uper, "uper", &[], "Packed encoding rules, UNALIGNED"),
    (TransferSyntax::CanonicalAper, "canonical-aper", &[], "Canonical packed encoding rules, ALIGNED"),
    (TransferSyntax::CanonicalUper, "canonical-uper", &[], "Canonical packed encoding rules, UNALIGNED"),
    (TransferSyntax::Oer, "oer", &[], "Octet encoding rules"),
    (TransferSyntax::Coer, "coer", &["canonical-oer"], "Canonical octet encoding rules"),
    (TransferSyntax::Xer, "xer", &["xml"], "XML encoding rules"),
    (TransferSyntax::Cxer, "cxer", &[], "Canonical XML encoding rules"),
    (TransferSyntax::Exer, "exer", &["extended-xer"], "Extended XML encoding rules"),
    (TransferSyntax::Jer, "jer", &["json", "jsonl"], "JSON encoding rules"),
    (TransferSyntax::Gser, "gser", &[], "Generic string encoding rules"),
];

impl TransferSyntax {
    /// All of them.
    pub const ALL: [Self; TABLE.len()] = {
        let mut all = [Self::Ber; TABLE.len()];
        let mut i = 0;
        while i < all.len() {
            all[i] = TABLE[i].0;
            i += 1;
        }
        all
    };

    fn row(self) -> &'static (Self, &'static str, &'static [&'static str], &'static str) {
        TABLE.iter().find(|row| row.0 == self).unwrap_or(&TABLE[0])
    }

    /// Its name: `ber`, `canonical-uper`, `jer`.
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// Other names that are understood: `json`.
    pub fn aliases(self) -> &'static [&'static str] {
        self.row().2
    }

    /// What it is, in words.
    pub fn description(self) -> &'static str {
        self.row().3
    }

    /// The rules of the plan's engine; nothing for text.
    pub const fn rules(self) -> Option<Rules> {
        Some(match self {
            Self::Ber => Rules::Ber,
            Self::Der => Rules::Der,
            Self::Cer => Rules::Cer,
            Self::Aper => Rules::Aper,
            Self::Uper => Rules::Uper,
            Self::CanonicalAper => Rules::CanonicalAper,
            Self::CanonicalUper => Rules::CanonicalUper,
            Self::Oer => Rules::Oer,
            Self::Coer => Rules::CanonicalOer,
            Self::Xer | Self::Cxer | Self::Exer | Self::Jer | Self::Gser => return None,
        })
    }

    /// The rules that a plan for it is made with: text needs the shape alone, which every plan has.
    pub fn plan_rules(self) -> Rules {
        self.rules().unwrap_or(Rules::Ber)
    }

    /// Whether its encodings are such of other rules too, as those of DER are of BER; of its own, for one.
    #[must_use]
    pub fn is_form_of(self, other: Self) -> bool {
        let basic = match self {
            Self::Der | Self::Cer => Self::Ber,
            Self::CanonicalAper => Self::Aper,
            Self::CanonicalUper => Self::Uper,
            Self::Coer => Self::Oer,
            Self::Cxer | Self::Exer => Self::Xer,
            other => other,
        };
        self == other || basic == other
    }

    /// Whether it is text.
    pub const fn is_text(self) -> bool {
        self.rules().is_none()
    }

    /// Whether a value tells where it ends, so that several may stand one after the other without anything between.
    pub const fn delimits(self) -> bool {
        matches!(self, Self::Ber | Self::Der | Self::Cer | Self::Oer | Self::Coer)
    }

    /// Whether encodings are elements with tags and lengths, so that records are found behind a fault.
    pub const fn has_elements(self) -> bool {
        matches!(self, Self::Ber | Self::Der | Self::Cer)
    }

    /// Whether there is one encoding only for each value.
    pub const fn is_canonical(self) -> bool {
        matches!(
            self,
            Self::Der | Self::Cer | Self::CanonicalAper | Self::CanonicalUper | Self::Coer | Self::Cxer
        )
    }

    /// The options of a decoder that takes nothing but what the standard allows.
    pub fn strict(self) -> Options {
        Options::strict(self.plan_rules())
    }
}

impl fmt::Display for TransferSyntax {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that no transfer syntax has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownSyntax(String);

impl fmt::Display for UnknownSyntax {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = TransferSyntax::ALL.into_iter().map(TransferSyntax::name);
        f.write_str(&tercet_suggest::unknown("encoding rules", &self.0, known))
    }
}

impl std::error::Error for UnknownSyntax {}

impl FromStr for TransferSyntax {
    type Err = UnknownSyntax;

    fn from_str(text: &str) -> Result<Self, UnknownSyntax> {
        let found = Self::ALL
            .into_iter()
            .find(|it| it.name() == text || it.aliases().contains(&text))
            .ok_or_else(|| UnknownSyntax(text.to_owned()))?;
        Ok(found)
    }
}

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
    syntax: TransferSyntax,
    plan: &'p Plan,
    decoder: Decoder,
    encoder: Encoder,
}

impl<'p> TapeCodec<'p> {
    /// A codec for a plan that was made with [`TransferSyntax::plan_rules`].
    pub fn new(syntax: TransferSyntax, plan: &'p Plan) -> Self {
        Self { syntax, plan, decoder: Decoder::new(), encoder: Encoder::new() }
    }

    /// What it reads and writes.
    pub fn syntax(&self) -> TransferSyntax {
        self.syntax
    }

    /// Reads one value of type `root` from the front of an input onto a tape, which is cleared first. The answer is the
    /// number of octets that it took; a text has to be one value as a whole. [`check_trailing`] checks what follows.
    ///
    /// ```
    /// use tercet_schema::{TapeCodec, Schema, TransferSyntax};
    /// use tercet_schema::dynamic::{Options, Tape};
    /// let schema = Schema::from_text(
    ///     "m.asn",
    ///     "M DEFINITIONS AUTOMATIC TAGS ::= BEGIN T ::= SEQUENCE { a INTEGER (0..7), b OCTET STRING } END",
    /// );
    /// let plan = schema.plan_for(TransferSyntax::Uper, &["T"]).unwrap();
    /// let (mut codec, mut tape) = (TapeCodec::new(TransferSyntax::Uper, &plan), Tape::new());
    /// let root = plan.root("T").unwrap();
    /// // The string is cut: what was read before can be looked at.
    /// let cut = [0xA0, 0xA0];
    /// let options = Options::default();
    /// let error = codec.read(root, &cut, &mut tape, &options).unwrap_err();
    /// assert!(codec.finish_partial(root, &cut, &mut tape, &options, &error));
    /// let mut text = Vec::new();
    /// TapeCodec::new(TransferSyntax::Jer, &plan).write(tape.view(&cut), &mut text).unwrap();
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
        tape.clear();
        let shape = &self.plan.shape;
        match self.syntax {
            TransferSyntax::Jer => {
                let mut reading = json::Options::default();
                reading.fill_defaults = options.fill_defaults;
                reading.depth = options.limits.depth;
                json::read(shape, root, input, tape, &reading)?;
            }
            TransferSyntax::Xer | TransferSyntax::Cxer => {
                let mut reading = xml::ReadOptions::default();
                reading.depth = options.limits.depth;
                if self.syntax == TransferSyntax::Cxer {
                    reading.variant = xml::Variant::Canonical;
                }
                xml::read(shape, root, input, tape, &reading)?;
            }
            TransferSyntax::Exer => {
                let mut reading = xml::ReadOptions::default();
                reading.depth = options.limits.depth;
                xml::extended::read(shape, root, input, tape, &reading)?;
            }
            TransferSyntax::Gser => {
                let mut reading = gser::ReadOptions::default();
                reading.depth = options.limits.depth;
                gser::read(shape, root, input, tape, &reading)?;
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
            TransferSyntax::Jer => json::write(shape, value, out, &json::Options::default()),
            TransferSyntax::Xer | TransferSyntax::Cxer => {
                let mut writing = xml::Options::default();
                if self.syntax == TransferSyntax::Cxer {
                    writing.variant = xml::Variant::Canonical;
                }
                xml::write(shape, value, out, &writing);
            }
            TransferSyntax::Exer => xml::extended::write(shape, value, out, &xml::Options::default())?,
            TransferSyntax::Gser => gser::write(shape, value, out, &gser::Options::default()),
            _ => self.encoder.encode(self.plan, self.syntax.plan_rules(), value, out)?,
        }
        Ok(())
    }

    /// Where the values of an input are, as far as it tells without a type: JSON values stand one after the other,
    /// GSER values one in a line; an input of XML is one, as is one of octets, whose values [`TapeCodec::read`] finds.
    pub fn places(&self, input: &[u8]) -> Vec<Range<usize>> {
        match self.syntax {
            TransferSyntax::Jer => json_values(input),
            TransferSyntax::Gser => {
                let mut at = 0;
                let lines = input.split_inclusive(|octet| *octet == b'\n').map(|line| {
                    at += line.len();
                    at - line.len()..at
                });
                lines.filter(|line| !input[line.clone()].trim_ascii().is_empty()).collect()
            }
            _ if input.is_empty() || self.syntax.is_text() && input.trim_ascii().is_empty() => Vec::new(),
            // A line feed at the end is the file's: the canonical text has no place for one.
            TransferSyntax::Cxer => {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_finds_its_syntax() {
        for syntax in TransferSyntax::ALL {
            assert_eq!(syntax.name().parse(), Ok(syntax));
            for alias in syntax.aliases() {
                assert_eq!(alias.parse(), Ok(syntax));
            }
        }
        assert!("asn".parse::<TransferSyntax>().is_err());
    }
}
