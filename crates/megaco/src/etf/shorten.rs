//! Writes values as terms of `megaco_compressed`: first their nodes, in which the rules find the shapes.

use super::rules::{ABSENT, Mode, RULES, Rule, Step};
use super::write;
use crate::octets::Name;
use crate::value::{Sink, Value, Word};
use crate::{Error, Result};

/// A record has fewer parts.
const PARTS: usize = 16;
const ASN1_NOVALUE: Word = Word::new("asn1_NOVALUE");

/// Writes a value of a version in short.
pub(super) fn write<'a>(value: &impl Value<'a>, version: u8, out: &mut Vec<u8>) -> Result<()> {
    let mut shapes = Shapes {
        nodes: Vec::with_capacity(128),
        text: Vec::with_capacity(512),
        open: Vec::with_capacity(32),
        version,
        fault: None,
    };
    value.write(&mut shapes);
    if let Some(fault) = shapes.fault {
        return Err(fault);
    }
    out.push(super::VERSION);
    Shortening { nodes: &shapes.nodes, text: &shapes.text, out, version: shapes.version }.deep(0);
    Ok(())
}

/// A term, followed by those that are in it.
#[derive(Clone, Copy)]
enum Node {
    /// The atom `asn1_NOVALUE`.
    Absent,
    Atom(&'static Word),
    Number(u32),
    /// A string: where it is, as a term, in the text.
    String(u32, u32),
    /// A tuple that begins with a name: how many elements follow that, and the node behind the tuple.
    Record(&'static Word, u32, u32),
    /// A list: how many elements, and the node behind it.
    List(u32, u32),
}

/// The nodes of a value.
struct Shapes {
    nodes: Vec<Node>,
    text: Vec<u8>,
    /// Records and lists that are not at their end.
    open: Vec<u32>,
    version: u8,
    fault: Option<Error>,
}

impl Shapes {
    #[inline]
    fn begin(&mut self, node: Node) {
        self.open.push(self.nodes.len() as u32);
        self.nodes.push(node);
    }

    #[inline]
    fn end(&mut self) {
        let end = self.nodes.len() as u32;
        if let Some(Node::Record(.., next) | Node::List(.., next)) =
            self.open.pop().and_then(|index| self.nodes.get_mut(index as usize))
        {
            *next = end;
        }
    }

    #[inline]
    fn text(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let start = self.text.len();
        write(&mut self.text);
        self.nodes.push(Node::String(start as u32, self.text.len() as u32));
    }
}

impl Sink for Shapes {
    fn version(&self) -> u8 {
        self.version
    }

    fn set_version(&mut self, version: u8) {
        self.version = version;
    }

    #[cold]
    fn refuse(&mut self, what: &'static str) {
        self.fault.get_or_insert_with(|| Error::new(0, what));
    }

    #[inline]
    fn record(&mut self, name: &'static Word, arity: usize) {
        self.begin(Node::Record(name, arity as u32, 0));
    }

    fn field(&mut self, _: &'static str) {}

    #[inline]
    fn end_record(&mut self) {
        self.end();
    }

    #[inline]
    fn absent(&mut self) {
        self.nodes.push(Node::Absent);
    }

    #[inline]
    fn atom(&mut self, name: &'static Word) {
        self.nodes.push(Node::Atom(name));
    }

    #[inline]
    fn number(&mut self, number: u32) {
        self.nodes.push(Node::Number(number));
    }

    fn string(&mut self, octets: &[u8]) {
        if octets.is_empty() {
            self.nodes.push(Node::List(0, self.nodes.len() as u32 + 1));
        } else {
            self.text(|text| write::string(text, octets));
        }
    }

    fn name(&mut self, name: &Name<'_>) {
        if name.is_empty() {
            self.string(b"");
        } else {
            self.text(|text| write::lower_string(text, name));
        }
    }

    fn termination(&mut self, name: &Name<'_>) {
        write::termination(self, name);
    }

    #[inline]
    fn list(&mut self, length: usize) {
        self.begin(Node::List(length as u32, 0));
    }

    fn element(&mut self) {}

    #[inline]
    fn end_list(&mut self, _: usize) {
        self.end();
    }

    #[inline]
    fn choice(&mut self, tag: &'static Word) {
        self.begin(Node::Record(tag, 1, 0));
    }

    #[inline]
    fn end_choice(&mut self) {
        self.end();
    }
}

/// Nodes on their way to their short form. The depth of the calls is that of the model.
struct Shortening<'n, 'o> {
    nodes: &'n [Node],
    text: &'n [u8],
    out: &'o mut Vec<u8>,
    version: u8,
}

impl<'n> Shortening<'n, '_> {
    /// Writes a node in short.
    fn deep(&mut self, index: usize) {
        let (name, text) = match self.nodes[index] {
            Node::Absent => return self.out.extend_from_slice(&[104, 1, 97, ABSENT]),
            Node::Atom(name) => (name, None),
            Node::Record(name, ..) => (name, self.nodes.get(index + 1).and_then(|node| self.string(node))),
            _ => return self.plain(index),
        };
        let mut parts = [0; PARTS];
        for rule in RULES.of_name(name, text) {
            if self.fits(rule, index, &mut parts) {
                return self.rule(rule, &parts);
            }
        }
        self.plain(index);
    }

    fn rule(&mut self, rule: &Rule, parts: &[usize; PARTS]) {
        self.out.extend_from_slice(&rule.head);
        for &(mode, part) in &rule.parts {
            self.part(mode, parts[part]);
        }
    }

    fn part(&mut self, mode: Mode, index: usize) {
        let inner = match mode {
            Mode::Plain => return self.plain(index),
            Mode::Deep => return self.deep(index),
            Mode::List => Mode::Deep,
            Mode::Lists => Mode::List,
        };
        let Node::List(count @ 1.., next) = self.nodes[index] else { return self.plain(index) };
        write::list(self.out, count as usize);
        let mut element = index + 1;
        while element < next as usize {
            self.part(inner, element);
            element = self.behind(element);
        }
        self.out.push(106);
    }

    /// Writes a node as it is.
    fn plain(&mut self, index: usize) {
        let end = match self.nodes[index] {
            Node::Absent => return write::atom(self.out, ASN1_NOVALUE.text.as_bytes()),
            Node::Atom(name) => return write::atom(self.out, name.text.as_bytes()),
            Node::Number(number) => return write::integer(self.out, i64::from(number)),
            Node::String(start, end) => {
                return self.out.extend_from_slice(&self.text[start as usize..end as usize]);
            }
            Node::List(0, _) => return self.out.push(106),
            Node::List(count, next) => {
                write::list(self.out, count as usize);
                next as usize
            }
            Node::Record(name, arity, next) => {
                write::tuple(self.out, arity as usize + 1);
                write::atom(self.out, name.text.as_bytes());
                next as usize
            }
        };
        let mut element = index + 1;
        while element < end {
            self.plain(element);
            element = self.behind(element);
        }
        if matches!(self.nodes[index], Node::List(..)) {
            self.out.push(106);
        }
    }

    /// The node behind a node and all that is in it.
    #[inline]
    fn behind(&self, index: usize) -> usize {
        match self.nodes[index] {
            Node::Record(.., next) | Node::List(.., next) => next as usize,
            _ => index + 1,
        }
    }

    /// The octets of a string.
    fn string(&self, node: &Node) -> Option<&'n [u8]> {
        match *node {
            // Those of more than 65,535 octets are lists, and longer than any that a rule has.
            Node::String(start, end) => self.text.get(start as usize + 3..end as usize),
            _ => None,
        }
    }

    /// Whether a node has the shape of a rule, and where its parts are.
    #[inline]
    fn fits(&self, rule: &Rule, index: usize, parts: &mut [usize; PARTS]) -> bool {
        let mut at = index;
        let mut count = 0;
        for step in &rule.steps {
            let Some(node) = self.nodes.get(at) else { return false };
            let fits = match (step, node) {
                (Step::Part, _) => {
                    parts[count & (PARTS - 1)] = at;
                    count += 1;
                    at = self.behind(at);
                    continue;
                }
                (Step::Atom(known), Node::Absent) => known.id == ASN1_NOVALUE.id,
                (Step::Atom(known), Node::Atom(name)) => known.id == name.id,
                (Step::Record(known, elements), &Node::Record(name, arity, _)) => {
                    known.id == name.id && *elements == arity as usize
                }
                (Step::Number(known), Node::Number(number)) => u32::from(*known) == *number,
                (Step::Is(known), Node::Number(number)) => {
                    parts[count & (PARTS - 1)] = at;
                    count += 1;
                    u32::from(*known) == *number
                }
                (Step::Empty, Node::List(elements, _)) => *elements == 0,
                (Step::Single, Node::List(elements, _)) => *elements == 1,
                (Step::String(known), node) => self.string(node) == Some(known.as_bytes()),
                _ => false,
            };
            if !fits {
                return false;
            }
            at += 1;
        }
        rule.versions.contains(&self.version)
            && rule
                .lists
                .iter()
                .all(|&part| matches!(self.nodes[parts[part]], Node::List(..) | Node::String(..)))
    }
}
