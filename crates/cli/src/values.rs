//! Values of an input, one after the other, in any transfer syntax; for bulk data there is `tercet_records`.

use crate::exit::{Failure, Outcome};
use crate::inputs::{Input, InputPart, SpellingArgs};
use std::io::Read;
use std::sync::Arc;
use tercet::dynamic::{Error, ErrorKind, NodeId, Options, Plan, Tape, View};
use tercet::records::{Origin, Rendering};
use tercet::{Codec, CodecError, TransferSyntax, trailing};

/// Octets that hold values.
#[derive(Debug)]
pub struct Piece {
    /// What to call them in messages.
    pub name: String,
    /// The octets: any number of values if they tell where one ends, else one.
    pub octets: Vec<u8>,
}

/// Cuts an input into pieces: text that spells octets into its parts. In hexadecimal text each line is one if the rules do
/// not tell where a value ends.
pub fn pieces(input: &Input, syntax: TransferSyntax, spelling: SpellingArgs) -> Outcome<Vec<Piece>> {
    let mut pieces = Vec::new();
    if syntax.is_text() {
        pieces.push(Piece { name: input.name(), octets: input.read()? });
    } else {
        for InputPart { name, mut octets } in input.parts(spelling, syntax.delimits())? {
            let mut piece = Piece { name, octets: Vec::new() };
            octets.read_to_end(&mut piece.octets).map_err(|error| Failure::io(&piece.name, &error))?;
            pieces.push(piece);
        }
    }
    pieces.retain(|piece| !piece.octets.is_empty());
    Ok(pieces)
}

/// Reads the values of pieces; keeps its memory from one to the next.
#[derive(Debug)]
pub struct Values<'p> {
    plan: &'p Plan,
    root: NodeId,
    codec: Codec<'p>,
    options: Options,
    tape: Tape,
    /// The rendering that values may be shown by, and how they are then read.
    rendered: Option<(&'p Rendering, Codec<'p>)>,
    shown: Tape,
    /// Values read so far.
    pub count: u64,
}

impl<'p> Values<'p> {
    /// Values of a type of a plan.
    pub fn new(plan: &'p Plan, root: NodeId, syntax: TransferSyntax, options: Options) -> Self {
        let codec = Codec::new(syntax, plan);
        Self { plan, root, codec, options, tape: Tape::new(), rendered: None, shown: Tape::new(), count: 0 }
    }

    /// Values whose components may be as a rendering shows them, with the plan of [`shown_plan`].
    #[must_use]
    pub fn with_rendering(mut self, rendering: Option<(&'p Rendering, &'p Plan)>) -> Self {
        let syntax = self.codec.syntax();
        self.rendered = rendering.map(|(rendering, plan)| (rendering, Codec::new(syntax, plan)));
        self
    }

    /// Reads a value, as it is rendered or as it is.
    fn read(&mut self, text: &[u8]) -> Result<usize, CodecError> {
        let Some((rendering, codec)) = &mut self.rendered else {
            return self.codec.read(self.root, text, &mut self.tape, &self.options);
        };
        let read = codec.read(self.root, text, &mut self.shown, &self.options).and_then(|length| {
            rendering.restore(self.shown.view(text), &mut self.tape)?;
            Ok(length)
        });
        // What is wrong with the rendered form is what people need to know if neither fits.
        read.or_else(|error| {
            self.codec.read(self.root, text, &mut self.tape, &self.options).map_err(|_| error)
        })
    }

    /// Calls `each` for the values of a piece, up to the first fault. A piece by rules that do not tell where a value
    /// ends holds one and nothing else.
    pub fn each<E: From<Fault>>(
        &mut self,
        piece: &Piece,
        mut each: impl FnMut(View<'_>, &Origin<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let syntax = self.codec.syntax();
        for place in self.codec.places(&piece.octets) {
            let mut at = place.start;
            while at < place.end {
                self.options.base_offset = at as u64;
                let rest = &piece.octets[at..place.end];
                let length = self.read(rest).map_err(|error| Fault(describe(piece, at, &error)))?;
                // A type with one value may take no octets: then nothing else can be there.
                if length < rest.len() && (length == 0 || !syntax.delimits()) {
                    let error = trailing(self.plan, self.root, length as u64);
                    return Err(Fault(describe(piece, at, &error.into())).into());
                }
                let octets = &rest[..length];
                let origin =
                    Origin { input: "", index: self.count, offset: at as u64, octets, elements: &[] };
                each(self.tape.view(rest), &origin)?;
                self.count += 1;
                at += length;
            }
        }
        Ok(())
    }
}

/// Why a value could not be read, with the name of the input.
#[derive(Debug)]
pub struct Fault(pub String);

/// What is wrong with the value that begins at an octet; of text, with the line in the whole input.
fn describe(piece: &Piece, at: usize, error: &CodecError) -> String {
    match error {
        // A text has no offset of bytes.
        CodecError::Octets(error) if error.kind() == ErrorKind::ValueMismatch => {
            format!("{}: {}", piece.name, unfit(error))
        }
        CodecError::Octets(error) => format!("{}: {error}", piece.name),
        CodecError::Text(error) => {
            let lines = piece.octets[..at].iter().filter(|&&octet| octet == b'\n').count();
            let (line, column, path) = (lines + error.line(), error.column(), error.path());
            let path = if path.is_empty() { path } else { format!("{path}: ") };
            format!("{}:{line}:{column}: {path}{}", piece.name, error.message())
        }
    }
}

/// A plan for values as a rendering shows them: text is read by its shape.
pub fn shown_plan(plan: &Plan, rendering: &Rendering) -> Plan {
    Plan { shape: Arc::clone(rendering.shape()), code: plan.code.clone() }
}

/// The type that was asked for.
pub fn root(plan: &Plan, name: &str) -> Outcome<NodeId> {
    plan.root(name).ok_or_else(|| Failure::usage(format_args!("the plan has no type `{name}`")))
}

/// What is wrong with a value to encode: an offset would mean nothing.
pub fn unfit(error: &Error) -> String {
    let mut text = String::new();
    for part in [error.path(), error.kind().message(), error.detail()] {
        if !part.is_empty() {
            text.push_str(if text.is_empty() { "" } else { ": " });
            text.push_str(part);
        }
    }
    match error.clause() {
        Some(clause) => format!("{text} ({clause})"),
        None => text,
    }
}

/// A value in hexadecimal digits, on a line of its own.
pub fn push_hex(out: &mut Vec<u8>, octets: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    out.extend(octets.iter().flat_map(|o| [DIGITS[usize::from(o >> 4)], DIGITS[usize::from(o & 15)]]));
    out.push(b'\n');
}

/// A value that could not be written.
pub fn unwritten(error: &CodecError) -> String {
    match error {
        CodecError::Octets(error) => unfit(error),
        CodecError::Text(error) => error.to_string(),
    }
}
