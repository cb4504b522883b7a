//! Elements of BER without a specification, as `tercet dump` shows them.

use crate::message::Problem;
use crate::tree::{NONE, Node, Piece, State, Tree};
use tercet_schema::dynamic::Part;
use tercet_schema::dynamic::oids::oid_name;
use tercet_schema::runtime::dump::{Dump, Guess, Kind, Line, holds_der};
use tercet_schema::runtime::{Class, Limits, Tag, ber};

/// Strings inside one another that are opened.
const OPENED: u8 = 16;
/// Bytes of contents that are shown.
const SHOWN: usize = 32;
/// Characters of text that are shown.
const CHARACTERS: usize = 200;

/// Reads elements. Strings that hold DER are opened.
pub(crate) fn read(octets: &[u8], offset: u64) -> (Tree, Vec<Problem>) {
    let mut walk = Reading { tree: Tree::default(), around: Vec::new(), counts: vec![0] };
    let limits = Limits::DEFAULT.with_depth(Limits::MAX_DEPTH);
    let mut problems = Vec::new();
    for line in Dump::with_limits(octets, 0, ber::Rules::Ber, &limits) {
        match line {
            Ok(line) => walk.line(&line, 0, OPENED),
            Err(error) => {
                let at = error.at() * 8;
                let node = walk.around.last().copied().unwrap_or(0);
                let message = match error.at().checked_add(offset) {
                    Some(absolute) if offset > 0 => format!("{error} (offset {absolute:#x} in the file)"),
                    _ => error.to_string(),
                };
                let (kind, constraint) = ("fault", String::new());
                problems.push(Problem { node, kind, message, at: Some(at), constraint, span: None });
            }
        }
    }
    walk.tree.finish();
    (walk.tree, problems)
}

struct Reading {
    tree: Tree,
    /// The elements around the position.
    around: Vec<u32>,
    /// The number of elements before it, on each level.
    counts: Vec<u32>,
}

impl Reading {
    fn line(&mut self, line: &Line<'_>, depth: u16, opens: u8) {
        let depth = usize::from(line.depth.saturating_add(depth));
        let at = line.offset * 8;
        let header = u64::from(line.header_length) * 8;
        match line.kind {
            Kind::EndOfContents => {
                let node = self.around.get(depth).copied().unwrap_or(0);
                self.piece(at, header.max(16), Part::EndOfContents, node);
            }
            Kind::Filler => {
                let node = self.around.first().copied().unwrap_or(0);
                self.piece(at, line.contents.len() as u64 * 8, Part::Padding, node);
            }
            Kind::Open | Kind::Primitive => {
                let node = self.element(line, depth);
                let identifier = (identifier_length(line.tag) * 8).min(header);
                self.piece(at, identifier, Part::Identifier, node);
                self.piece(at + identifier, header - identifier, Part::Length, node);
                if line.kind == Kind::Open {
                    return;
                }
                let (base, inner) = match inside(line).filter(|_| opens > 0) {
                    Some(found) => found,
                    None => (line.offset + u64::from(line.header_length), &[][..]),
                };
                let contents = line.contents.len() - inner.len();
                self.piece(at + header, contents as u64 * 8, Part::Contents, node);
                for inner in
                    Dump::with_limits(inner, base, ber::Rules::Der, &Limits::DEFAULT).map_while(Result::ok)
                {
                    self.line(&inner, depth as u16 + 1, opens - 1);
                }
            }
        }
    }

    fn element(&mut self, line: &Line<'_>, depth: usize) -> u32 {
        self.around.truncate(depth);
        self.counts.truncate(depth + 1);
        let parent = self.around.last().copied().unwrap_or(NONE);
        let count = self.counts.last().copied().unwrap_or(0);
        let (name, parent) = match parent {
            // The first element is the root; others beside it are shown in it.
            NONE if self.tree.nodes.is_empty() => ("$".to_owned(), NONE),
            NONE => (format!("${count}"), 0),
            parent => (format!("[{count}]"), parent),
        };
        if let Some(count) = self.counts.last_mut() {
            *count += 1;
        }
        let type_name = match line.tag.type_name().filter(|_| line.tag.class() == Class::Universal) {
            Some(name) => name.to_owned(),
            None => line.tag.to_string(),
        };
        let is_opened = inside(line).is_some();
        let value = (line.kind == Kind::Primitive && !is_opened).then(|| shown(line).into());
        let node = self.tree.add(Node {
            parent,
            name: name.into(),
            type_name: type_name.into(),
            kind: if line.constructed { "constructed" } else { "primitive" },
            node: None,
            value,
            shown: None,
            children: 0,
            at: 0,
            end: 0,
            state: State::Plain,
        });
        self.around.push(node);
        self.counts.push(0);
        node
    }

    fn piece(&mut self, at: u64, bits: u64, part: Part, node: u32) {
        if bits > 0 {
            self.tree.pieces.push(Piece { at, bits, part: Some(part), node });
        }
    }
}

fn identifier_length(tag: Tag) -> u64 {
    let mut octets = 1;
    let mut number = if tag.number() < 31 { 0 } else { tag.number() };
    while number > 0 {
        octets += 1;
        number >>= 7;
    }
    octets
}

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

/// The contents in hexadecimal, with what they may mean.
fn shown(line: &Line<'_>) -> String {
    let hex = || {
        let digits: String = line.contents.iter().take(SHOWN).map(|octet| format!("{octet:02X}")).collect();
        digits + if line.contents.len() > SHOWN { "…" } else { "" }
    };
    let likely = |guess: &Guess<'_>| line.tag.class() == Class::Universal || !matches!(guess, Guess::Oid(_));
    let meaning = line.guesses().find(likely).map(|guess| meaning(&guess));
    match meaning {
        Some(meaning) if line.tag.class() == Class::Universal && line.tag != Tag::OCTET_STRING => meaning,
        Some(meaning) => format!("{}  {meaning}", hex()),
        None => hex(),
    }
}

/// Text of what contents may mean.
pub(crate) fn meaning(guess: &Guess<'_>) -> String {
    match guess {
        Guess::Boolean(value) => if *value { "TRUE" } else { "FALSE" }.to_owned(),
        Guess::Null => "NULL".to_owned(),
        Guess::Integer(number) => number.to_string(),
        Guess::Oid(oid) => match oid_name(None, *oid) {
            Some(name) => format!("{oid} ({name})"),
            None => oid.to_string(),
        },
        Guess::Real(real) => real.to_f64().to_string(),
        Guess::Text(text) | Guess::Time(text) => {
            let cut: String = text.chars().take(CHARACTERS).collect();
            format!("{cut:?}")
        }
        Guess::Tbcd(digits) => format!("tbcd {digits}"),
        Guess::TimeStamp([year, month, day, hour, minute, second, sign, zone_hour, zone_minute]) => format!(
            "{year:02x}-{month:02x}-{day:02x} {hour:02x}:{minute:02x}:{second:02x}{}{zone_hour:02x}{zone_minute:02x}",
            char::from(*sign)
        ),
    }
}
