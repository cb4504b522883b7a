//! Writes values as terms of `megaco_compressed`: first their nodes, in which the rules find the shapes.

use std::cell::RefCell;

use super::rules::{ABSENT, Candidate, Mode, NOVALUE, RULES, Rules};
use super::write;
use crate::octets::Name;
use crate::value::{Sink, Value, Word};
use crate::{Error, Result};

/// A record has fewer parts.
const PARTS: usize = 16;
/// A rule has fewer steps.
const STEPS: usize = 32;

/// As many nodes, and as many octets of text, as each thread keeps room for.
const KEPT: usize = 1 << 12;

thread_local! {
    /// To make room and to give it back takes as long as to write a tenth of a message.
    static SHAPES: RefCell<Shapes> = const {
        RefCell::new(Shapes {
            nodes: Vec::new(),
            text: Vec::new(),
            open: Vec::new(),
            version: 1,
            fault: None,
        })
    };
}

/// Writes a value of a version in short.
pub(super) fn write<'a>(value: &impl Value<'a>, version: u8, out: &mut Vec<u8>) -> Result<()> {
    SHAPES.with_borrow_mut(|shapes| {
        shapes.nodes.clear();
        shapes.text.clear();
        shapes.open.clear();
        (shapes.version, shapes.fault) = (version, None);
        value.write(shapes);
        let written = shapes.fault.map_or(Ok(()), Err);
        if written.is_ok() {
            out.push(super::VERSION);
            let Shapes { nodes, text, version, .. } = shapes;
            let (version, rules) = (*version, &*RULES);
            Shortening { nodes, text, out, version, rules, fitting: 0, places: [0; STEPS] }.deep(0);
        }
        if shapes.nodes.capacity().max(shapes.text.capacity()) > KEPT {
            (shapes.nodes, shapes.text) = (Vec::new(), Vec::new());
        }
        written
    })
}

/// What a node is.
#[derive(Clone, Copy)]
pub(super) enum Form {
    /// The atom `asn1_NOVALUE`.
    Absent,
    Atom,
    Number,
    /// A string, or a list that no rule looks into: octets of the text.
    String,
    /// A tuple that begins with a name.
    Record,
    List,
}

/// A term, followed by those that are in it. The rules compare the first two of its fields at once.
#[derive(Clone, Copy)]
struct Node {
    shape: Shape,
    /// The node behind it.
    next: u32,
    /// The name of a record, or the atom.
    word: &'static Word,
}

/// A form, how many elements of a record follow its name, and a value: the number of a word; a number; where a string is in
/// the text; how many elements a list has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Shape(u32, u64);

impl Shape {
    #[inline(always)]
    pub(super) const fn new(form: Form, arity: usize, value: u64) -> Self {
        Self(form as u32 | (arity as u32) << 8, value)
    }

    #[inline(always)]
    const fn is(self, form: Form) -> bool {
        self.0 & 0xff == form as u32
    }
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
    fn leaf(&mut self, form: Form, value: u64, word: &'static Word) {
        let next = self.nodes.len() as u32 + 1;
        self.nodes.push(Node { shape: Shape::new(form, 0, value), next, word });
    }

    #[inline]
    fn begin(&mut self, shape: Shape, word: &'static Word) {
        self.open.push(self.nodes.len() as u32);
        self.nodes.push(Node { shape, next: 0, word });
    }

    #[inline]
    fn end(&mut self) {
        let next = self.nodes.len() as u32;
        if let Some(node) = self.open.pop().and_then(|index| self.nodes.get_mut(index as usize)) {
            node.next = next;
        }
    }

    #[inline]
    fn text(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let start = self.text.len() as u64;
        write(&mut self.text);
        self.leaf(Form::String, start << 32 | self.text.len() as u64, &NOVALUE);
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
        self.begin(Shape::new(Form::Record, arity, name.id), name);
    }

    fn field(&mut self, _: &'static str) {}

    #[inline]
    fn end_record(&mut self) {
        self.end();
    }

    #[inline]
    fn absent(&mut self) {
        self.leaf(Form::Absent, 0, &NOVALUE);
    }

    #[inline]
    fn atom(&mut self, name: &'static Word) {
        self.leaf(Form::Atom, name.id, name);
    }

    #[inline]
    fn number(&mut self, number: u32) {
        self.leaf(Form::Number, u64::from(number), &NOVALUE);
    }

    fn string(&mut self, octets: &[u8]) {
        if octets.is_empty() {
            self.leaf(Form::List, 0, &NOVALUE);
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
        let (levels, has_wildcards) = write::levels(name);
        // Rules look at wildcards.
        if has_wildcards {
            return write::termination(self, name);
        }
        self.record(const { &Word::new("megaco_term_id") }, 2);
        self.atom(const { &Word::new("false") });
        self.text(|text| {
            write::list(text, levels);
            write::for_levels(name, |level| write::lower_string(text, level));
            text.push(106);
        });
        self.end_record();
    }

    #[inline]
    fn list(&mut self, length: usize) {
        self.begin(Shape::new(Form::List, 0, length as u64), &NOVALUE);
    }

    fn element(&mut self) {}

    #[inline]
    fn end_list(&mut self, _: usize) {
        self.end();
    }

    #[inline]
    fn choice(&mut self, tag: &'static Word) {
        self.begin(Shape::new(Form::Record, 1, tag.id), tag);
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
    rules: &'static Rules,
    /// How many steps fitted of the rule that was tried last, and where each of them is.
    fitting: usize,
    places: [u32; STEPS],
}

/// Where the parts of a rule are.
type Parts = [u32; PARTS];

impl<'n> Shortening<'n, '_> {
    /// Writes a node in short.
    fn deep(&mut self, index: usize) {
        let node = self.nodes[index];
        if node.shape.is(Form::Absent) {
            return self.out.extend_from_slice(&[104, 1, 97, ABSENT]);
        }
        let text = match node.shape {
            shape if shape.is(Form::Record) => self.nodes.get(index + 1).and_then(|node| self.string(node)),
            shape if shape.is(Form::Atom) => None,
            _ => return self.plain(index),
        };
        self.fitting = 0;
        self.places[0] = index as u32;
        let mut parts = [0; PARTS];
        for candidate in self.rules.of_name(node.word, text) {
            // The begin that it shares with the rule before it is not looked at again.
            if self.fitting < candidate.shared || !self.fits(candidate, &mut parts) {
                continue;
            }
            let rule = self.rules.rule(candidate);
            match rule.head {
                [a, b, c, d, 0, 0, 0] => self.out.extend_from_slice(&[a, b, c, d]),
                head => self.out.extend_from_slice(&head),
            }
            for &(mode, part) in &rule.parts {
                let index = parts[usize::from(part) & (PARTS - 1)] as usize;
                match mode {
                    Mode::Plain => self.plain(index),
                    Mode::Deep => self.deep(index),
                    Mode::List => self.list(Mode::Deep, index),
                    Mode::Lists => self.list(Mode::List, index),
                }
            }
            return;
        }
        self.plain(index);
    }

    /// Writes a list whose elements are written so.
    fn list(&mut self, inner: Mode, index: usize) {
        let Node { shape, next, .. } = self.nodes[index];
        if !shape.is(Form::List) || shape.1 == 0 {
            return self.plain(index);
        }
        write::list(self.out, shape.1 as usize);
        let mut element = index + 1;
        while element < next as usize {
            match inner {
                Mode::List => self.list(Mode::Deep, element),
                _ => self.deep(element),
            }
            element = self.nodes[element].next as usize;
        }
        self.out.push(106);
    }

    /// Writes a node as it is.
    fn plain(&mut self, index: usize) {
        let Node { shape, next, word } = self.nodes[index];
        if shape.is(Form::String) {
            let (start, end) = ((shape.1 >> 32) as usize, shape.1 as u32 as usize);
            return self.out.extend_from_slice(&self.text[start..end]);
        }
        if shape.is(Form::Number) {
            return write::integer(self.out, shape.1 as i64);
        }
        if shape.is(Form::Absent) || shape.is(Form::Atom) {
            return write::atom(self.out, word.text.as_bytes());
        }
        let is_list = shape.is(Form::List);
        if !is_list {
            write::tuple(self.out, (shape.0 >> 8) as usize + 1);
            write::atom(self.out, word.text.as_bytes());
        } else if shape.1 > 0 {
            write::list(self.out, shape.1 as usize);
        }
        let mut element = index + 1;
        while element < next as usize {
            self.plain(element);
            element = self.nodes[element].next as usize;
        }
        if is_list {
            self.out.push(106);
        }
    }

    /// The octets of a string.
    fn string(&self, node: &Node) -> Option<&'n [u8]> {
        // Those of more than 65,535 octets are lists, and longer than any that a rule has.
        let (start, end) = ((node.shape.1 >> 32) as usize, node.shape.1 as u32 as usize);
        node.shape.is(Form::String).then(|| self.text.get(start + 3..end))?
    }

    /// Whether the node has the shape of a rule, and where its parts are.
    #[inline(always)]
    fn fits(&mut self, candidate: &Candidate, parts: &mut Parts) -> bool {
        let rule = self.rules.rule(candidate);
        let (mut number, mut count) = (candidate.shared, candidate.parts);
        let mut at = self.places[number & (STEPS - 1)];
        for test in rule.tests.get(number..).unwrap_or_default() {
            let Some(node) = self.nodes.get(at as usize) else { return false };
            if test.is_part {
                parts[count & (PARTS - 1)] = at;
                count += 1;
            }
            at = match test.shape {
                None => node.next,
                Some(shape) if shape == node.shape => at + 1,
                Some(_) if test.text.is_some() && self.string(node) == test.text => at + 1,
                Some(_) => {
                    self.fitting = number;
                    return false;
                }
            };
            number += 1;
            self.places[number & (STEPS - 1)] = at;
        }
        self.fitting = number;
        let is_list = |&part: &usize| {
            let shape = self.nodes[parts[part] as usize].shape;
            shape.is(Form::List) || shape.is(Form::String)
        };
        rule.versions.contains(&self.version) && rule.lists.iter().all(is_list)
    }
}
