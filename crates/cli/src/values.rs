//! Values of an input, one after the other, in any transfer syntax; for bulk data there is `tercet_records`.

use crate::exit::{Failure, Outcome};
use crate::inputs::{Input, InputPart, SpellingArgs};
use crate::term;
use std::io::Read;
use std::sync::Arc;
use tercet::dynamic::{Error, ErrorKind, NodeId, Options, Plan, Tape, Trailing, View};
use tercet::records::{Interpretation, Origin};
use tercet::{CodecError, Rules, TapeCodec, check_trailing};

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
pub fn pieces(input: &Input, syntax: Rules, spelling: SpellingArgs) -> Outcome<Vec<Piece>> {
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
    codec: TapeCodec<'p>,
    options: Options,
    tape: Tape,
    /// The rendering that values may be shown by, and how they are then read.
    rendered: Option<(&'p Interpretation, TapeCodec<'p>)>,
    shown: Tape,
    /// Values read so far.
    pub count: u64,
    /// Whether a value is given to `each` although it breaks off, with what was read before the fault.
    pub partial: bool,
    /// Whether a value is given to `each` whatever follows it, with a warning.
    pub warns_of_trailing: bool,
    /// Values that octets other than zeros followed, which there was a warning of.
    pub doubtful: u64,
}

impl<'p> Values<'p> {
    /// Values of a type of a plan.
    pub fn new(plan: &'p Plan, root: NodeId, syntax: Rules, options: Options) -> Self {
        Self {
            plan,
            root,
            codec: TapeCodec::new(syntax, plan),
            options,
            tape: Tape::new(),
            rendered: None,
            shown: Tape::new(),
            count: 0,
            partial: false,
            warns_of_trailing: false,
            doubtful: 0,
        }
    }

    /// Values whose components may be as a rendering shows them, with the plan of [`shown_plan`].
    #[must_use]
    pub fn with_rendering(mut self, rendering: Option<(&'p Interpretation, &'p Plan)>) -> Self {
        let syntax = self.codec.syntax();
        self.rendered = rendering.map(|(rendering, plan)| (rendering, TapeCodec::new(syntax, plan)));
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
                let read = self.read(rest);
                let (offset, index) = (at as u64, self.count);
                let length = match read {
                    Ok(length) => length,
                    Err(error) => {
                        let (root, options) = (self.root, &self.options);
                        if self.partial
                            && self.codec.finish_partial(root, rest, &mut self.tape, options, &error)
                        {
                            let origin = Origin { input: "", index, offset, octets: rest, elements: &[] };
                            each(self.tape.view(rest), &origin)?;
                        }
                        return Err(Fault(describe(piece, at, &error)).into());
                    }
                };
                let origin = Origin { input: "", index, offset, octets: &rest[..length], elements: &[] };
                // A type with one value may take no octets: then nothing else can be there.
                if length < rest.len() && (length == 0 || !syntax.delimits()) {
                    let behind = &rest[length..];
                    if !self.warns_of_trailing {
                        check_trailing(self.plan, self.root, behind, length as u64, self.options.trailing)
                            .map_err(|error| Fault(describe(piece, at, &error.into())))?;
                    }
                    each(self.tape.view(rest), &origin)?;
                    self.count += 1;
                    if self.warns_of_trailing {
                        self.doubtful += u64::from(warn_of_trailing(piece, at + length));
                    }
                    break;
                }
                each(self.tape.view(rest), &origin)?;
                self.count += 1;
                at += length;
            }
        }
        Ok(())
    }
}

/// Reports the octets from an offset on, after a value that was shown all the same; returns whether they are not zeros.
pub fn warn_of_trailing(piece: &Piece, at: usize) -> bool {
    let behind = piece.octets.get(at..).unwrap_or_default();
    let count = term::count(behind.len() as u64, "byte");
    let is_padding = Trailing::Zeros.allows(behind);
    let (kind, policy) = match is_padding {
        true => ("zeros", "zeros"),
        false => ("not all of them zeros: is this the type?", "any"),
    };
    term::warning(format_args!(
        "{}: {count} after the value, from offset {at:#x} on ({kind}); use `--trailing {policy}` to accept them, \
         `--trailing error` to refuse them",
        piece.name
    ));
    !is_padding
}

/// Why a value could not be read, with the name of the input.
#[derive(Debug)]
pub struct Fault(pub String);

/// What is wrong with the value that begins at an octet; of text, with the line in the whole input.
pub fn describe(piece: &Piece, at: usize, error: &CodecError) -> String {
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
pub fn shown_plan(plan: &Plan, rendering: &Interpretation) -> Plan {
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
