//! The rules of `megaco_compressed`: which tag stands for which shape.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::sync::LazyLock;

use super::nodes::{Kind, Node};
use super::shorten::{Form, Shape};
use super::write;
use crate::value::Word;

/// The lines of `compressed.rules`.
pub(super) static RULES: LazyLock<Rules> = LazyLock::new(|| Rules::parse(include_str!("compressed.rules")));

/// The tag of `asn1_NOVALUE`, in the first of the rules.
pub(super) const ABSENT: u8 = 1;
pub(super) const NOVALUE: Word = Word::new("asn1_NOVALUE");

/// The rules, by what they apply to.
pub(super) struct Rules {
    rules: Vec<Rule>,
    /// Rules for atoms, and for tuples that begin with one.
    by_name: Words<Candidates>,
    /// The steps of the tags, each with two numbers of parts.
    tags: Vec<[Steps; 2]>,
    /// What is read behind the tags, one rule after the other.
    ops: Vec<Op>,
    /// The strings of the rules.
    texts: Vec<&'static str>,
}

/// A line: a shape, and what is written for it.
pub(super) struct Rule {
    /// Versions that it is for.
    pub(super) versions: RangeInclusive<u8>,
    /// The shape: an atom, or a tuple and what is in it, in the order in which they are written.
    steps: Vec<Step>,
    /// The steps as a term is compared with them.
    pub(super) tests: Vec<Test>,
    /// Which of its parts have to be lists.
    pub(super) lists: Vec<usize>,
    /// The begin of the tuple that is written: its tag. One below 256 has four octets.
    pub(super) head: [u8; 7],
    /// What stands behind the tag: parts by their number, and how each is written.
    pub(super) parts: Vec<(Mode, u8)>,
}

/// A step as a node is compared with it.
pub(super) struct Test {
    /// What the node has to be; anything for a part.
    pub(super) shape: Option<Shape>,
    /// The octets of a string.
    pub(super) text: Option<&'static [u8]>,
    /// Whether it is a part.
    pub(super) is_part: bool,
}

impl Step {
    fn test(&self) -> Test {
        let is_part = matches!(self, Self::Part | Self::Is(_));
        let shape = match *self {
            Self::Atom(name) if name.id == NOVALUE.id => Some(Shape::new(Form::Absent, 0, 0)),
            Self::Atom(name) => Some(Shape::new(Form::Atom, 0, name.id)),
            Self::Record(name, arity) => Some(Shape::new(Form::Record, arity, name.id)),
            Self::Number(number) | Self::Is(number) => Some(Shape::new(Form::Number, 0, u64::from(number))),
            Self::Empty => Some(Shape::new(Form::List, 0, 0)),
            Self::Single => Some(Shape::new(Form::List, 0, 1)),
            // Compared with the text instead: no string has this place.
            Self::String(_) => Some(Shape::new(Form::String, 0, 0)),
            Self::Part => None,
        };
        let text = if let Self::String(text) = self { Some(text.as_bytes()) } else { None };
        Test { shape, text, is_part }
    }
}

/// How a part is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// As it is.
    Plain,
    /// Compressed.
    Deep,
    /// A list of compressed ones.
    List,
    /// A list of such lists.
    Lists,
}

/// What comes next in a shape.
#[derive(Debug, PartialEq)]
pub(super) enum Step {
    Atom(Word),
    /// A tuple that begins with an atom, and how many elements follow that.
    Record(Word, usize),
    Number(u8),
    /// The empty list.
    Empty,
    String(&'static str),
    /// The part of the next number.
    Part,
    /// A number that the part of the next number has to be.
    Is(u8),
    /// A list of what the next step is.
    Single,
}

/// What is read behind a tag in a tuple of so many elements; nothing if there is no such tag.
#[derive(Clone, Copy, Default)]
struct Steps {
    from: u16,
    count: u8,
    elements: u8,
}

/// What comes next in a term that is read.
#[derive(Clone, Copy, Debug)]
pub(super) enum Op {
    /// What the tag stands for.
    Node(Node),
    /// What stands next behind the tag.
    Part(Mode),
    /// What stands next behind the tag and does not count.
    Skip(Mode),
}

/// Rules for the same name, in the order of the file.
#[derive(Default)]
struct Candidates {
    /// Those for tuples that go on with this string, among those for any.
    by_text: Words<Vec<Candidate>>,
    any: Vec<Candidate>,
}

/// A rule that may apply.
pub(super) struct Candidate {
    rule: u16,
    /// How many steps it begins with that the candidate before it has, too, and how many of them are parts.
    pub(super) shared: usize,
    pub(super) parts: usize,
}

impl Rules {
    /// The rules that may apply to an atom, or to a tuple that begins with it; `text` is the string behind it.
    #[inline]
    pub(super) fn of_name(&self, name: &Word, text: Option<&[u8]>) -> &[Candidate] {
        self.by_name.get(name.id).map_or(&[][..], |candidates| match text {
            Some(text) if !candidates.by_text.is_empty() => {
                candidates.by_text.get(Word::id(text)).unwrap_or(&candidates.any)
            }
            _ => &candidates.any,
        })
    }

    /// The rule of a candidate.
    #[inline]
    pub(super) fn rule(&self, candidate: &Candidate) -> &Rule {
        &self.rules[usize::from(candidate.rule)]
    }

    /// What is read behind a tag in a tuple of so many elements.
    #[inline(always)]
    pub(super) fn of_tag(&self, tag: usize, elements: u8) -> Option<&[Op]> {
        let [first, second] = self.tags.get(tag)?;
        let steps = if first.elements == elements { first } else { second };
        let ops = self.ops.get(usize::from(steps.from)..)?.get(..usize::from(steps.count))?;
        (steps.elements == elements && !ops.is_empty()).then_some(ops)
    }

    /// The octets of a string of the rules.
    pub(super) fn text(&self, number: u64) -> &'static [u8] {
        self.texts.get(number as usize).map_or(&[], |text| text.as_bytes())
    }

    fn parse(text: &'static str) -> Self {
        let (tags, rules): (Vec<usize>, Vec<Rule>) = text.lines().filter_map(Rule::parse).unzip();
        let mut steps = vec![[Steps::default(); 2]; tags.iter().max().map_or(0, |last| last + 1)];
        let (mut ops, mut texts) = (Vec::new(), Vec::new());
        let mut by_name = BTreeMap::<&str, Vec<u16>>::new();
        for (index, (rule, tag)) in rules.iter().zip(tags).enumerate() {
            let from = ops.len();
            rule.ops(&mut ops, &mut texts);
            let [first, second] = &mut steps[tag];
            *(if first.count == 0 { first } else { second }) = Steps {
                from: from as u16,
                count: (ops.len() - from) as u8,
                elements: rule.parts.len() as u8 + 1,
            };
            if let Some(Step::Atom(name) | Step::Record(name, _)) = rule.steps.first() {
                by_name.entry(name.text).or_default().push(index as u16);
            }
        }
        let candidates = |indices: Vec<u16>| {
            let text = |index: &u16| match rules[usize::from(*index)].steps.get(1) {
                Some(Step::String(text)) => Some(*text),
                _ => None,
            };
            let texts: BTreeSet<_> = indices.iter().filter_map(text).collect();
            let for_text = |wanted: Option<&str>| {
                let fits = |index: &u16| text(index).is_none() || text(index) == wanted;
                let mut last: &[Step] = &[];
                let candidate = |rule: u16| {
                    let steps = &rules[usize::from(rule)].steps[..];
                    let shared = steps.iter().zip(last).take_while(|(step, other)| step == other).count();
                    last = steps;
                    let is_part = |step: &&Step| matches!(step, Step::Part | Step::Is(_));
                    Candidate { rule, shared, parts: steps[..shared].iter().filter(is_part).count() }
                };
                indices.iter().copied().filter(fits).map(candidate).collect::<Vec<_>>()
            };
            let by_text = texts.iter().map(|wanted| (*wanted, for_text(Some(wanted))));
            Candidates { by_text: Words::new(by_text.collect()), any: for_text(None) }
        };
        let by_name = by_name.into_iter().map(|(name, indices)| (name, candidates(indices))).collect();
        Self { by_name: Words::new(by_name), tags: steps, ops, texts, rules }
    }
}

impl Rule {
    /// Reads a line, and the tag that it begins with.
    fn parse(line: &'static str) -> Option<(usize, Self)> {
        let mut words = line.split(' ');
        let tag: u16 = words.next()?.parse().ok()?;
        let guard = words.next()?;
        let (mut steps, mut names) = (Vec::new(), Vec::new());
        pattern(words.next()?, &mut steps, &mut names);
        let number = |name: char| names.iter().position(|known| *known == name);
        let parts: Option<Vec<_>> = words
            .map(|word| {
                let mode = match word.as_bytes()[0] {
                    b'*' => Mode::Deep,
                    b'+' => Mode::List,
                    b'#' => Mode::Lists,
                    _ => Mode::Plain,
                };
                Some((mode, number(word.chars().last()?)? as u8))
            })
            .collect();
        let parts = parts?;
        let (mut versions, mut lists) = (1..=3, Vec::new());
        for condition in guard.split('&') {
            let version = condition.get(1..).and_then(|number| number.parse().ok()).unwrap_or(1);
            match condition.as_bytes()[0] {
                b'=' => versions = version..=version,
                b'>' => versions = version..=3,
                b'<' => versions = 1..=version - 1,
                b'l' => lists.extend(condition.chars().last().and_then(number)),
                _ => {}
            }
        }
        let mut head = Vec::new();
        write::tuple(&mut head, parts.len() + 1);
        write::integer(&mut head, i64::from(tag));
        head.resize(7, 0);
        let head = head.try_into().ok()?;
        Some((
            usize::from(tag),
            Self { versions, tests: steps.iter().map(Step::test).collect(), steps, lists, head, parts },
        ))
    }

    /// Adds what is read behind the tag.
    fn ops(&self, ops: &mut Vec<Op>, texts: &mut Vec<&'static str>) {
        let mut given = &self.parts[..];
        let mut part = 0;
        for step in &self.steps {
            let node = |kind, value| Op::Node(Node::new(kind, 0, value));
            let is_given = given.first().is_some_and(|next| next.1 == part);
            if matches!(step, Step::Part) || matches!(step, Step::Is(_)) && is_given {
                // A part that is there twice counts as it is the second time.
                while let [(mode, number), rest @ ..] = given {
                    given = rest;
                    ops.push(Op::Skip(*mode));
                    if !rest.iter().any(|later| later.1 == *number) {
                        break;
                    }
                }
            }
            part += u8::from(matches!(step, Step::Part | Step::Is(_)));
            let op = match *step {
                Step::Atom(name) if name.id == NOVALUE.id => node(Kind::Absent, 0),
                Step::Atom(name) => node(Kind::Atom, name.id),
                Step::Record(name, arity) => Op::Node(Node::new(Kind::Record, arity as u8, name.id)),
                Step::Number(number) | Step::Is(number) => node(Kind::Number, u64::from(number)),
                Step::Empty => node(Kind::List, 0),
                Step::Single => node(Kind::List, 1),
                Step::String(text) => {
                    texts.push(text);
                    node(Kind::Text, texts.len() as u64 - 1)
                }
                // The last of those that have been passed over.
                Step::Part => match ops.pop() {
                    Some(Op::Skip(mode)) => Op::Part(mode),
                    other => {
                        ops.extend(other);
                        continue;
                    }
                },
            };
            ops.push(op);
        }
    }
}

/// Reads a pattern into steps and the names of its parts, and gives what follows it.
fn pattern(text: &'static str, steps: &mut Vec<Step>, parts: &mut Vec<char>) -> &'static str {
    if let Some(rest) = text.strip_prefix('{') {
        let place = steps.len();
        let mut rest = pattern(rest, steps, parts);
        let mut arity = 0;
        while let Some(after) = rest.strip_prefix(',') {
            rest = pattern(after, steps, parts);
            arity += 1;
        }
        if let Some(Step::Atom(name)) = steps.get(place) {
            steps[place] = Step::Record(*name, arity);
        }
        return rest.strip_prefix('}').unwrap_or(rest);
    }
    if let Some(rest) = text.strip_prefix("[]") {
        steps.push(Step::Empty);
        return rest;
    }
    if let Some(rest) = text.strip_prefix('[') {
        steps.push(Step::Single);
        let rest = pattern(rest, steps, parts);
        return rest.strip_prefix(']').unwrap_or(rest);
    }
    if let Some(rest) = text.strip_prefix('"') {
        let (string, rest) = rest.split_once('"').unwrap_or((rest, ""));
        steps.push(Step::String(string));
        return rest;
    }
    let (word, rest) = text.split_at(text.find([',', '}', ']']).unwrap_or(text.len()));
    let part = word.split_once('?').and_then(|(_, name)| name.chars().next());
    let number = word.split('?').next().and_then(|number| number.parse().ok());
    parts.extend(part);
    steps.push(match (number, part) {
        (Some(number), Some(_)) => Step::Is(number),
        (Some(number), None) => Step::Number(number),
        (None, Some(_)) => Step::Part,
        (None, None) => Step::Atom(Word::new(word)),
    });
    rest
}

/// What is known by a word. A map of the library would do; here the words bring their hashes.
struct Words<T> {
    /// At least twice as many as there are words, and a power of two.
    slots: Vec<Option<(u64, T)>>,
}

impl<T> Default for Words<T> {
    fn default() -> Self {
        Self { slots: Vec::new() }
    }
}

impl<T> Words<T> {
    fn new(words: Vec<(&str, T)>) -> Self {
        let size = if words.is_empty() { 0 } else { (words.len() * 2).next_power_of_two() };
        let mut slots: Vec<Option<(u64, T)>> = std::iter::repeat_with(|| None).take(size).collect();
        for (word, value) in words {
            let id = Word::id(word.as_bytes());
            let mut slot = id as usize & (size - 1);
            while slots[slot].is_some() {
                slot = (slot + 1) & (size - 1);
            }
            slots[slot] = Some((id, value));
        }
        Self { slots }
    }

    const fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    #[inline]
    fn get(&self, id: u64) -> Option<&T> {
        let last = self.slots.len().checked_sub(1)?;
        let mut slot = id as usize & last;
        while let Some((known, value)) = &self.slots[slot] {
            if *known == id {
                return Some(value);
            }
            slot = (slot + 1) & last;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_rule_is_for_what_is_absent() {
        let ops = RULES.of_tag(usize::from(ABSENT), 1).unwrap();
        assert!(matches!(ops, [Op::Node(node)] if node.is(Kind::Absent, 0)));
    }

    #[test]
    fn no_two_words_have_one_number() {
        let steps = RULES.rules.iter().flat_map(|rule| &rule.steps);
        let words: BTreeSet<&str> = steps
            .filter_map(|step| match step {
                Step::Atom(name) | Step::Record(name, _) => Some(name.text),
                Step::String(text) => Some(*text),
                _ => None,
            })
            .collect();
        let numbers: BTreeSet<u64> = words.iter().map(|word| Word::id(word.as_bytes())).collect();
        assert!(words.len() > 100);
        assert_eq!(numbers.len(), words.len());
    }

    /// What expands a term takes its parts as they come.
    #[test]
    fn parts_stand_behind_the_tag_as_in_the_shape() {
        assert!(RULES.rules.len() > 300);
        for rule in &RULES.rules {
            let given: Vec<u8> = rule.parts.iter().map(|part| part.1).collect();
            let last = |at: &usize| !given[at + 1..].contains(&given[*at]);
            let given: Vec<u8> = (0..given.len()).filter(last).map(|at| given[at]).collect();
            assert!(given.is_sorted(), "{:?}", rule.head);
        }
    }
}
