//! `tercet dump`.

use crate::args::{CacheArgs, ReadingArgs};
use crate::exit::{Exit, Failure, Outcome};
use crate::inputs::{InputArgs, SpellingArgs};
use crate::names::Names;
use crate::term;
use clap::Args;
use std::fmt::Write as _;
use std::io::{self, BufWriter, Read, Write};
use std::path::PathBuf;
use tercet::Schema;
use tercet::dynamic::oids::oid_name;
use tercet::plan::{Rules, Shape};
use tercet::records::{DEFAULT_RECORD_LIMIT, Framing, Identifiers, Part, RecordReader};
use tercet::runtime::dump::{Dump as Walk, Guess, Kind, Line, holds_der};
use tercet::runtime::{Class, Limits, Tag, ber};

/// Show any BER data as a tree: offsets, tags, lengths, and what the contents may be
#[derive(Args, Debug)]
#[command(after_help = "\
Each line has the offset, the bytes of tag and length, the bytes of the contents, the tag, and the contents in
hexadecimal with what they may mean: text, TBCD digits, a number.

Examples:
  tercet dump records.ber
  tercet dump --hex <<< '30 03 02 01 05'
  tercet dump --schema schemas/demo --type CallRecord --records 1 records.ber")]
pub struct Dump {
    #[command(flatten)]
    input: InputArgs,

    /// Specification file, or a directory of them, to name the parts by
    #[arg(short, long, value_name = "PATH", requires = "type_name")]
    schema: Vec<PathBuf>,

    /// The type of the data
    #[arg(short, long = "type", id = "type_name", value_name = "TYPE", requires = "schema")]
    type_name: Option<String>,

    #[command(flatten)]
    reading: ReadingArgs,

    #[command(flatten)]
    cache: CacheArgs,

    #[command(flatten)]
    spelling: SpellingArgs,

    /// Stop after so many outermost elements
    #[arg(short = 'n', long, value_name = "COUNT")]
    records: Option<u64>,

    /// Begin at this offset
    #[arg(long, value_name = "OFFSET", default_value_t = 0)]
    skip: u64,

    /// Bytes of contents to show
    #[arg(long, value_name = "COUNT", default_value_t = 16)]
    width: usize,
}

/// Strings inside of each other that are opened.
const OPENED: u8 = 16;

/// The DER that a string holds as a whole, with its offset.
fn inside<'a>(line: &Line<'a>) -> Option<(u64, &'a [u8])> {
    let begin = line.offset + u64::from(line.header_length);
    let (base, octets) = match (line.tag, line.contents.split_first()) {
        (Tag::OCTET_STRING, _) => (begin, line.contents),
        (Tag::BIT_STRING, Some((0, bits))) => (begin + 1, bits),
        _ => return None,
    };
    (line.kind == Kind::Primitive && holds_der(octets)).then_some((base, octets))
}

impl Dump {
    pub fn run(&self) -> Outcome {
        let plan = match &self.type_name {
            Some(name) => {
                let schema = Schema::load(&self.schema, &self.cache.with(self.reading.options()))?;
                let plan = schema.plan(Rules::Ber, &[name]).map_err(Failure::usage)?;
                let root = plan.root(name).ok_or_else(|| Failure::usage(format_args!("no type `{name}`")))?;
                Some((plan, root))
            }
            None => None,
        };
        let mut out = BufWriter::new(term::report());
        let mut exit = Exit::Good;
        let inputs = self.input.expand()?;
        for input in &inputs {
            let parts = input.parts(self.spelling, true)?;
            let several = inputs.len() > 1 || parts.len() > 1;
            for part in parts {
                if several {
                    writeln!(out, "{}:", part.name)?;
                }
                let mut names = plan.as_ref().map(|(plan, root)| Names::new(plan, *root));
                exit = exit.max(self.walk(part.octets, &mut names, &mut out)?);
            }
        }
        out.flush()?;
        Ok(exit)
    }

    fn walk(&self, mut input: impl Read, names: &mut Option<Names<'_>>, out: &mut impl Write) -> Outcome {
        io::copy(&mut input.by_ref().take(self.skip), &mut io::sink())?;
        let mut reader = RecordReader::new(input, Framing::concatenated(Identifiers::any()));
        let limits =
            Limits::DEFAULT.with_depth(Limits::MAX_DEPTH).with_element_length(DEFAULT_RECORD_LIMIT as u64);
        let (mut exit, mut count, mut text) = (Exit::Good, 0, String::new());
        while let Some(item) = reader.next(&mut |octets| octets.len() > 2)? {
            let offset = self.skip + item.offset;
            match item.part {
                Part::Record => {
                    if self.records.is_some_and(|most| count >= most) {
                        break;
                    }
                    count += 1;
                    let mut walk = Walk::with_limits(item.octets, offset, ber::Rules::Ber, &limits);
                    for line in walk.by_ref() {
                        match line {
                            Ok(line) => {
                                text.clear();
                                let shape = names.as_ref().map(Names::shape);
                                self.line(&line, names.as_mut(), shape, &mut text);
                                self.opened(&line, shape, OPENED, &mut text);
                                out.write_all(text.as_bytes())?;
                            }
                            Err(error) => {
                                writeln!(out, "{:>8}          ! {error}", error.at())?;
                                exit = Exit::Rejected;
                            }
                        }
                    }
                }
                Part::Filler => {
                    writeln!(out, "{offset:>8} {:>8} filler {:02x}", item.octets.len(), item.octets[0])?
                }
                Part::Rejected { reason, .. } if !item.octets.is_empty() => {
                    let octets = term::count(item.octets.len() as u64, "byte");
                    writeln!(out, "{offset:>8}          ! {octets} passed over: {reason}")?;
                    exit = Exit::Rejected;
                }
                _ => {}
            }
        }
        Ok(exit)
    }

    /// One element: offset, lengths, tag, name, contents.
    fn line(&self, line: &Line<'_>, names: Option<&mut Names<'_>>, shape: Option<&Shape>, text: &mut String) {
        let Line { offset, depth, header_length, length, .. } = *line;
        let depth = usize::from(depth);
        if line.kind == Kind::EndOfContents {
            _ = writeln!(
                text,
                "{offset:>8} {header_length:>2}       {:depth$}end-of-contents",
                "",
                depth = depth * 2
            );
            return;
        }
        let length = length.map_or_else(|| "∞".to_owned(), |length| length.to_string());
        _ = write!(
            text,
            "{offset:>8} {header_length:>2}+{length:<5} {:depth$}{}",
            "",
            line.tag,
            depth = depth * 2
        );
        if line.tag.class() == Class::Universal
            && let Some(name) = line.tag.type_name()
        {
            _ = write!(text, " {name}");
        }
        if let Some(name) = names.and_then(|names| names.element(depth, line.tag, line.constructed)) {
            _ = write!(text, "  {name}");
        }
        if line.kind == Kind::Primitive && !line.contents.is_empty() {
            text.push_str("  ");
            for octet in line.contents.iter().take(self.width) {
                _ = write!(text, "{octet:02x}");
            }
            if line.contents.len() > self.width {
                text.push('…');
            }
            let guesses = if inside(line).is_some() { 0 } else { 2 };
            let likely =
                |guess: &Guess<'_>| line.tag.class() == Class::Universal || !matches!(guess, Guess::Oid(_));
            for guess in line.guesses().filter(likely).take(guesses) {
                text.push_str("  ");
                self.guess(&guess, shape, text);
            }
        }
        if inside(line).is_some() {
            text.push_str("  holds DER:");
        }
        text.push('\n');
    }

    /// The elements inside of an OCTET STRING or BIT STRING that is DER as a whole, with their offsets in the file.
    fn opened(&self, line: &Line<'_>, shape: Option<&Shape>, levels: u8, text: &mut String) {
        let Some((base, octets)) = inside(line).filter(|_| levels > 0) else { return };
        for inner in Walk::with_limits(octets, base, ber::Rules::Der, &Limits::DEFAULT).map_while(Result::ok)
        {
            let inner = Line { depth: inner.depth.saturating_add(line.depth).saturating_add(1), ..inner };
            self.line(&inner, None, shape, text);
            self.opened(&inner, shape, levels - 1, text);
        }
    }

    fn guess(&self, guess: &Guess<'_>, shape: Option<&Shape>, text: &mut String) {
        _ = match guess {
            Guess::Boolean(value) => write!(text, "{}", if *value { "TRUE" } else { "FALSE" }),
            Guess::Null => Ok(()),
            Guess::Integer(number) => write!(text, "{number}"),
            Guess::Oid(oid) => match oid_name(shape, *oid) {
                Some(name) => write!(text, "{oid} {name}"),
                None => write!(text, "{oid}"),
            },
            Guess::Real(real) => write!(text, "{}", real.to_f64()),
            Guess::Text(string) | Guess::Time(string) => {
                let shown: String = string.chars().take(4 * self.width).collect();
                let cut = if shown.len() < string.len() { "…" } else { "" };
                write!(text, "{}{cut}", term::quoted(&shown))
            }
            Guess::Tbcd(digits) => write!(text, "tbcd {digits}"),
            Guess::TimeStamp([year, month, day, hour, minute, second, sign, zone_hour, zone_minute]) => {
                write!(
                    text,
                    "{year:02x}-{month:02x}-{day:02x} {hour:02x}:{minute:02x}:{second:02x}{}{zone_hour:02x}{zone_minute:02x}",
                    char::from(*sign),
                )
            }
        };
    }
}
