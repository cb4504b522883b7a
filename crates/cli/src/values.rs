//! Values of an input, one after the other, by any rules; for bulk data there is `tercet_records`.

use crate::args::RulesArg;
use crate::exit::{Failure, Outcome};
use crate::inputs::{Input, from_hex};
use tercet::dynamic::{Decoder, Error, ErrorKind, NodeId, Options, Plan, Tape, View};
use tercet::records::Origin;

/// Octets that hold values.
#[derive(Debug)]
pub struct Piece {
    /// What to call them in messages.
    pub name: String,
    /// The octets: any number of values if the rules tell where one ends, else one.
    pub octets: Vec<u8>,
}

/// Cuts an input into pieces. In hexadecimal text each line is one if the rules do not tell where a value ends.
pub fn pieces(input: &Input, rules: RulesArg, hex: bool) -> Outcome<Vec<Piece>> {
    let (name, octets) = (input.name(), input.read()?);
    if !hex {
        return Ok(if octets.is_empty() { Vec::new() } else { vec![Piece { name, octets }] });
    }
    let text = String::from_utf8_lossy(&octets);
    let mut pieces = Vec::new();
    let mut add = |name: String, text: &str| {
        let octets = from_hex(text).map_err(|error| Failure::usage(format_args!("{name}: {error}")))?;
        if !octets.is_empty() {
            pieces.push(Piece { name, octets });
        }
        Outcome::Ok(())
    };
    if rules.delimits() {
        add(name, &text)?;
    } else {
        for (i, line) in text.lines().enumerate() {
            add(format!("{name}:{}", i + 1), line)?;
        }
    }
    Ok(pieces)
}

/// Decodes pieces; keeps its memory from one to the next.
#[derive(Debug)]
pub struct Values<'p> {
    plan: &'p Plan,
    root: NodeId,
    rules: RulesArg,
    options: Options,
    decoder: Decoder,
    tape: Tape,
    /// Values decoded so far.
    pub count: u64,
}

impl<'p> Values<'p> {
    /// Values of a type of a plan.
    pub fn new(plan: &'p Plan, root: NodeId, rules: RulesArg, mut options: Options) -> Self {
        options.rules = rules.rules();
        Self { plan, root, rules, options, decoder: Decoder::new(), tape: Tape::new(), count: 0 }
    }

    /// Calls `each` for the values of a piece, up to the first fault. A piece by rules that do not tell where a value
    /// ends holds one and nothing else.
    pub fn each<E: From<Error>>(
        &mut self,
        octets: &[u8],
        mut each: impl FnMut(View<'_>, &Origin) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut at = 0;
        while at < octets.len() {
            self.tape.clear();
            self.options.base_offset = at as u64;
            let rest = &octets[at..];
            let length = self.decoder.decode(self.plan, self.root, rest, &mut self.tape, &self.options)?;
            // A type with one value may take no octets: then nothing else can be there.
            if length < rest.len() && (length == 0 || !self.rules.delimits()) {
                let shape = &self.plan.shape;
                let name = shape.node(self.root).name.map(|name| shape.name(name)).unwrap_or_default();
                return Err(Error::new(ErrorKind::TrailingData, length as u64).with_path(name).into());
            }
            let origin = Origin { index: self.count, offset: at as u64, length };
            each(self.tape.view(rest), &origin)?;
            self.count += 1;
            at += length;
        }
        Ok(())
    }
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
