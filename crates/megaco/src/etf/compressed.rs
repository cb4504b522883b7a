//! `megaco_compressed`: terms in which tags stand for the shapes that messages have.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;

use super::Term;

/// Shortens the terms of messages. OTP lets users bring their own; so do we.
pub trait Compressor: fmt::Debug + Sync {
    /// The shortened term.
    fn compress<'a>(&self, term: &Term<'a>) -> Term<'a>;

    /// The term as it was; `None` if it does not come from this compressor.
    fn decompress<'a>(&self, term: &Term<'a>) -> Option<Term<'a>>;
}

/// The compressor that OTP brings.
#[derive(Clone, Copy, Debug, Default)]
pub struct MegacoCompressed;

impl Compressor for MegacoCompressed {
    fn compress<'a>(&self, term: &Term<'a>) -> Term<'a> {
        RULES.compress(term, 1)
    }

    fn decompress<'a>(&self, term: &Term<'a>) -> Option<Term<'a>> {
        RULES.decompress(term, 1)
    }
}

static RULES: LazyLock<Rules> = LazyLock::new(|| Rules::parse(include_str!("compressed.rules")));

/// The lines of `compressed.rules`.
struct Rules {
    rules: Vec<Rule>,
    /// Rules for tuples that begin with an atom, and for atoms, in the order of the file.
    by_name: HashMap<&'static str, Vec<usize>>,
    by_tag: HashMap<i64, Vec<usize>>,
}

struct Rule {
    tag: i64,
    /// Versions that it is for.
    versions: std::ops::RangeInclusive<u8>,
    /// Parts that have to be lists.
    lists: Vec<char>,
    pattern: Pattern,
    parts: Vec<(Mode, char)>,
}

/// How a part is written.
#[derive(Clone, Copy)]
enum Mode {
    /// As it is.
    Plain,
    /// Compressed.
    Deep,
    /// A list of compressed ones.
    List,
    /// A list of such lists.
    Lists,
}

enum Pattern {
    Atom(&'static str),
    Integer(i64),
    String(&'static str),
    Part(char),
    /// A number that the part has to be.
    Is(i64, char),
    Tuple(Vec<Self>),
    /// A list of one element.
    Single(Box<Self>),
}

/// The version of the message is a part of its own.
const VERSION: char = 'V';

type Parts<'t, 'a> = HashMap<char, Cow<'t, Term<'a>>>;

impl Rules {
    fn parse(text: &'static str) -> Self {
        let mut rules = Self { rules: Vec::new(), by_name: HashMap::new(), by_tag: HashMap::new() };
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let mut words = line.split(' ');
            let (Some(tag), Some(guard), Some(pattern)) = (words.next(), words.next(), words.next()) else {
                continue;
            };
            let (mut versions, mut lists) = (1..=3, Vec::new());
            for condition in guard.split('&') {
                let number = condition.get(1..).and_then(|number| number.parse().ok()).unwrap_or(1);
                match condition.as_bytes()[0] {
                    b'=' => versions = number..=number,
                    b'>' => versions = number..=3,
                    b'<' => versions = 1..=number - 1,
                    b'l' => {
                        lists.extend(condition.strip_prefix("list:").and_then(|part| part.chars().next()))
                    }
                    _ => {}
                }
            }
            let parts = words.filter_map(|word| {
                let mode = match word.as_bytes()[0] {
                    b'*' => Mode::Deep,
                    b'+' => Mode::List,
                    b'#' => Mode::Lists,
                    _ => Mode::Plain,
                };
                Some((mode, word.chars().last()?))
            });
            let tag = tag.parse().unwrap_or_default();
            let rule =
                Rule { tag, versions, lists, pattern: Pattern::parse(pattern).0, parts: parts.collect() };
            let name = match &rule.pattern {
                Pattern::Atom(name) => *name,
                Pattern::Tuple(elements) => match elements.first() {
                    Some(Pattern::Atom(name)) => name,
                    _ => continue,
                },
                _ => continue,
            };
            rules.by_name.entry(name).or_default().push(rules.rules.len());
            rules.by_tag.entry(tag).or_default().push(rules.rules.len());
            rules.rules.push(rule);
        }
        rules
    }

    fn compress<'a>(&self, term: &Term<'a>, version: u8) -> Term<'a> {
        let name = match term {
            Term::Atom(name) => name,
            Term::Tuple(elements) => match elements.first() {
                Some(Term::Atom(name)) => name,
                _ => return term.clone(),
            },
            _ => return term.clone(),
        };
        let candidates = std::str::from_utf8(name).ok().and_then(|name| self.by_name.get(name));
        for rule in candidates.into_iter().flatten().map(|&index| &self.rules[index]) {
            let mut parts = Parts::new();
            // A rule for a whole message says the version itself.
            let known = if rule.parts.iter().any(|part| part.1 == VERSION) { None } else { Some(version) };
            if known.is_some_and(|version| !rule.versions.contains(&version))
                || !rule.pattern.matches(term, &mut parts)
                || rule.lists.iter().any(|part| !parts.get(part).is_some_and(|term| is_list(term)))
            {
                continue;
            }
            let version = match parts.get(&VERSION).map(|term| &**term) {
                Some(&Term::Integer(version)) => version as u8,
                _ => version,
            };
            let mut elements = vec![Term::Integer(rule.tag)];
            for (mode, part) in &rule.parts {
                let Some(part) = parts.get(part) else { continue };
                elements.push(
                    through(part, *mode, &mut |term| Some(self.compress(term, version)))
                        .unwrap_or_else(|| part.clone().into_owned()),
                );
            }
            return Term::Tuple(elements);
        }
        term.clone()
    }

    fn decompress<'a>(&self, term: &Term<'a>, version: u8) -> Option<Term<'a>> {
        let Term::Tuple(elements) = term else { return Some(term.clone()) };
        let Some(Term::Integer(tag)) = elements.first() else { return Some(term.clone()) };
        let candidates = self.by_tag.get(tag)?.iter().map(|&index| &self.rules[index]);
        let rule = candidates.into_iter().find(|rule| rule.parts.len() + 1 == elements.len())?;
        let mut version = version;
        let stated = rule.parts.iter().position(|part| part.1 == VERSION);
        match (stated, rule.pattern.version()) {
            (_, Some(number)) => version = number as u8,
            (Some(index), None) => match elements.get(index + 1) {
                Some(&Term::Integer(number)) => version = number as u8,
                _ => return None,
            },
            (None, None) => {}
        }
        let mut parts = Parts::new();
        for ((mode, part), element) in rule.parts.iter().zip(&elements[1..]) {
            let element = through(element, *mode, &mut |term| self.decompress(term, version))?;
            parts.insert(*part, Cow::Owned(element));
        }
        rule.pattern.build(&parts)
    }
}

const fn is_list(term: &Term<'_>) -> bool {
    matches!(term, Term::List(_) | Term::String(_))
}

/// A part, or the elements of a list, through a function.
fn through<'a>(
    term: &Term<'a>,
    mode: Mode,
    each: &mut dyn FnMut(&Term<'a>) -> Option<Term<'a>>,
) -> Option<Term<'a>> {
    let inner = match mode {
        Mode::Plain => return Some(term.clone()),
        Mode::Deep => return each(term),
        Mode::List => Mode::Deep,
        Mode::Lists => Mode::List,
    };
    match term {
        Term::List(elements) => {
            let elements = elements.iter().map(|element| through(element, inner, each));
            elements.collect::<Option<_>>().map(Term::List)
        }
        _ => Some(term.clone()),
    }
}

impl Pattern {
    /// Reads a pattern, and gives what follows it.
    fn parse(text: &'static str) -> (Self, &'static str) {
        let list = |mut rest: &'static str, close: char| {
            let mut elements = Vec::new();
            loop {
                let (element, after) = Self::parse(rest);
                elements.push(element);
                match after.strip_prefix(',') {
                    Some(after) => rest = after,
                    None => return (elements, after.strip_prefix(close).unwrap_or(after)),
                }
            }
        };
        if let Some(rest) = text.strip_prefix('{') {
            let (elements, rest) = list(rest, '}');
            return (Self::Tuple(elements), rest);
        }
        if let Some(rest) = text.strip_prefix("[]") {
            return (Self::String(""), rest);
        }
        if let Some(rest) = text.strip_prefix('[') {
            let (mut elements, rest) = list(rest, ']');
            return (Self::Single(Box::new(elements.swap_remove(0))), rest);
        }
        if let Some(rest) = text.strip_prefix('"') {
            let (string, rest) = rest.split_once('"').unwrap_or((rest, ""));
            return (Self::String(string), rest);
        }
        let end = text.find([',', '}', ']']).unwrap_or(text.len());
        let (word, rest) = text.split_at(end);
        let part = word.split_once('?').and_then(|(_, name)| name.chars().next());
        let number = word.split('?').next().and_then(|number| number.parse().ok());
        let pattern = match (number, part) {
            (Some(number), Some(part)) => Self::Is(number, part),
            (Some(number), None) => Self::Integer(number),
            (None, Some(part)) => Self::Part(part),
            (None, None) => Self::Atom(word),
        };
        (pattern, rest)
    }

    fn matches<'t, 'a>(&self, term: &'t Term<'a>, parts: &mut Parts<'t, 'a>) -> bool {
        match (self, term) {
            (Self::Part(part), _) => {
                parts.insert(*part, Cow::Borrowed(term));
                true
            }
            (Self::Atom(name), Term::Atom(atom)) => **atom == *name.as_bytes(),
            (Self::Integer(a), Term::Integer(b)) => a == b,
            (Self::Is(a, part), Term::Integer(b)) => {
                parts.insert(*part, Cow::Borrowed(term));
                a == b
            }
            (Self::String(a), Term::String(b)) => a.as_bytes() == &**b,
            (Self::String(""), Term::List(list)) => list.is_empty(),
            (Self::Tuple(patterns), Term::Tuple(terms)) => {
                patterns.len() == terms.len()
                    && patterns.iter().zip(terms).all(|(pattern, term)| pattern.matches(term, parts))
            }
            (Self::Single(pattern), Term::List(list)) => match &list[..] {
                [term] => pattern.matches(term, parts),
                _ => false,
            },
            // A string of one character is a list of a number.
            (Self::Single(pattern), Term::String(string)) => match (&**pattern, &string[..]) {
                (Self::Part(part), [octet]) => {
                    parts.insert(*part, Cow::Owned(Term::Integer(i64::from(*octet))));
                    true
                }
                (Self::String(text), [octet]) => text.as_bytes() == [*octet],
                _ => false,
            },
            _ => false,
        }
    }

    /// The version of a message that the pattern says.
    fn version(&self) -> Option<i64> {
        match self {
            Self::Is(number, VERSION) => Some(*number),
            Self::Tuple(elements) => elements.iter().find_map(Self::version),
            _ => None,
        }
    }

    fn build<'a>(&self, parts: &Parts<'_, 'a>) -> Option<Term<'a>> {
        Some(match self {
            Self::Part(part) => parts.get(part)?.clone().into_owned(),
            Self::Atom(name) => Term::Atom(Cow::Borrowed(name.as_bytes())),
            Self::Integer(number) | Self::Is(number, _) => Term::Integer(*number),
            Self::String("") => Term::List(Vec::new()),
            Self::String(text) => Term::String(Cow::Borrowed(text.as_bytes())),
            Self::Tuple(elements) => {
                Term::Tuple(elements.iter().map(|element| element.build(parts)).collect::<Option<_>>()?)
            }
            Self::Single(element) => match element.build(parts)? {
                Term::Integer(number @ 0..=255) => Term::String(Cow::Owned(vec![number as u8])),
                term => Term::List(vec![term]),
            },
        })
    }
}
