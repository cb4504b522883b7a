//! PATTERN: the regular expressions of X.680 Annex A, matched by a kept library and walked to make texts that match.

use regex::{Regex, RegexBuilder};
use std::fmt::Write;

/// Groups inside one another.
const DEPTH: u16 = 50;
/// Octets that a compiled expression may take.
const SIZE_LIMIT: usize = 1 << 20;

/// A regular expression.
#[derive(Debug)]
pub(crate) struct Pattern {
    tree: Tree,
    compiled: Regex,
}

/// Its parts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Tree {
    /// One of these characters, as ranges of codes.
    Class(Vec<(u32, u32)>),
    /// Between a character of a word and one that is none.
    Boundary,
    /// One after the other.
    Concat(Vec<Self>),
    /// One of them.
    Alternatives(Vec<Self>),
    /// So many times at least, and at most.
    Repeat(Box<Self>, u32, Option<u32>),
}

impl Pattern {
    /// Understands an expression; nothing if it is none, or out of all proportion.
    pub(crate) fn new(text: &str) -> Option<Self> {
        let mut parser = Parser { rest: text.chars().collect(), at: 0 };
        let tree = parser.alternatives(0)?;
        if parser.at < parser.rest.len() {
            return None;
        }
        let mut source = String::from("\\A(?:");
        write(&mut source, &tree);
        source.push_str(")\\z");
        let compiled = RegexBuilder::new(&source).size_limit(SIZE_LIMIT).build().ok()?;
        Some(Self { tree, compiled })
    }

    /// Whether the whole text is what the expression says (X.680 §51.9).
    pub(crate) fn matches(&self, text: &str) -> bool {
        self.compiled.is_match(text)
    }

    /// The parts of the expression.
    pub(crate) fn tree(&self) -> &Tree {
        &self.tree
    }
}

const SPACES: [(u32, u32); 2] = [(9, 13), (32, 32)];
const NEW_LINES: [(u32, u32); 1] = [(10, 13)];
const DIGITS: [(u32, u32); 1] = [(0x30, 0x39)];
const WORD: [(u32, u32); 3] = [(0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A)];
const LAST: u32 = char::MAX as u32;

struct Parser {
    rest: Vec<char>,
    at: usize,
}

impl Parser {
    fn peek(&self) -> Option<char> {
        self.rest.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += 1;
        Some(c)
    }

    fn eat(&mut self, wanted: char) -> bool {
        let there = self.peek() == Some(wanted);
        self.at += usize::from(there);
        there
    }

    fn alternatives(&mut self, depth: u16) -> Option<Tree> {
        if depth > DEPTH {
            return None;
        }
        let mut all = vec![self.concat(depth)?];
        while self.eat('|') {
            all.push(self.concat(depth)?);
        }
        Some(if all.len() == 1 { all.remove(0) } else { Tree::Alternatives(all) })
    }

    fn concat(&mut self, depth: u16) -> Option<Tree> {
        let mut parts = Vec::new();
        while let Some(c) = self.peek() {
            if matches!(c, '|' | ')') {
                break;
            }
            let part = self.atom(depth)?;
            parts.push(self.repeated(part)?);
        }
        Some(Tree::Concat(parts))
    }

    fn repeated(&mut self, part: Tree) -> Option<Tree> {
        let (least, most) = match self.peek() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('#') => return self.counted(part),
            _ => return Some(part),
        };
        self.at += 1;
        Some(Tree::Repeat(Box::new(part), least, most))
    }

    /// `#n`, `#(n)`, `#(n,)`, `#(n,m)`, `#(,m)`
    fn counted(&mut self, part: Tree) -> Option<Tree> {
        self.at += 1;
        if let Some(digit) = self.peek().and_then(|c| c.to_digit(10)) {
            self.at += 1;
            return Some(Tree::Repeat(Box::new(part), digit, Some(digit)));
        }
        if !self.eat('(') {
            return None;
        }
        let least = self.number();
        let most = if self.eat(',') { self.number() } else { Some(least?) };
        let good = self.eat(')') && most.is_none_or(|most| least.unwrap_or(0) <= most);
        good.then(|| Tree::Repeat(Box::new(part), least.unwrap_or(0), most))
    }

    fn number(&mut self) -> Option<u32> {
        let begin = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
        }
        self.rest[begin..self.at].iter().collect::<String>().parse().ok()
    }

    fn atom(&mut self, depth: u16) -> Option<Tree> {
        Some(match self.next()? {
            '(' => {
                let inner = self.alternatives(depth + 1)?;
                if !self.eat(')') {
                    return None;
                }
                inner
            }
            '.' => Tree::Class(vec![(0, LAST)]),
            '[' => Tree::Class(self.class()?),
            '{' => one(self.quadruple()?),
            '\\' => match self.next()? {
                'd' => Tree::Class(DIGITS.into()),
                'w' => Tree::Class(WORD.into()),
                's' => Tree::Class(SPACES.into()),
                'n' => Tree::Class(NEW_LINES.into()),
                't' => one(9),
                'r' => one(13),
                'b' => Tree::Boundary,
                // Character names of ISO/IEC 10646, and references.
                'N' => return None,
                c => one(u32::from(c)),
            },
            // A quotation mark stands twice in the notation.
            '"' => {
                self.eat('"');
                one(0x22)
            }
            '*' | '+' | '?' | '#' => return None,
            c => one(u32::from(c)),
        })
    }

    /// `{group, plane, row, cell}`
    fn quadruple(&mut self) -> Option<u32> {
        let mut code = 0u32;
        for place in 0..4 {
            while self.eat(' ') {}
            let part = self.number().filter(|part| *part < 256)?;
            while self.eat(' ') {}
            if !self.eat(if place < 3 { ',' } else { '}' }) {
                return None;
            }
            code = code << 8 | part;
        }
        char::from_u32(code).map(u32::from)
    }

    fn class(&mut self) -> Option<Vec<(u32, u32)>> {
        let negated = self.eat('^');
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        let mut first = true;
        loop {
            let c = self.next()?;
            if c == ']' && !first {
                break;
            }
            first = false;
            let low = match c {
                '\\' => match self.next()? {
                    'd' => {
                        ranges.extend(DIGITS);
                        continue;
                    }
                    'w' => {
                        ranges.extend(WORD);
                        continue;
                    }
                    's' => {
                        ranges.extend(SPACES);
                        continue;
                    }
                    'n' => {
                        ranges.extend(NEW_LINES);
                        continue;
                    }
                    't' => 9,
                    'r' => 13,
                    'N' => return None,
                    c => u32::from(c),
                },
                '{' => self.quadruple()?,
                c => u32::from(c),
            };
            let is_range = self.peek() == Some('-') && self.rest.get(self.at + 1).is_some_and(|c| *c != ']');
            if !is_range {
                ranges.push((low, low));
                continue;
            }
            self.at += 1;
            let high = match self.next()? {
                '{' => self.quadruple()?,
                '\\' => u32::from(self.next()?),
                c => u32::from(c),
            };
            if high < low {
                return None;
            }
            ranges.push((low, high));
        }
        ranges.sort_unstable();
        if !negated {
            return Some(ranges);
        }
        let (mut others, mut next) = (Vec::new(), 0);
        for (low, high) in ranges {
            if low > next {
                others.push((next, low - 1));
            }
            next = next.max(high + 1);
        }
        if next <= LAST {
            others.push((next, LAST));
        }
        Some(others)
    }
}

fn one(code: u32) -> Tree {
    Tree::Class(vec![(code, code)])
}

/// The expression in the notation of the library.
fn write(out: &mut String, tree: &Tree) {
    match tree {
        Tree::Class(ranges) => {
            out.push('[');
            for (low, high) in ranges {
                // Surrogates are no characters.
                for (low, high) in [(*low, (*high).min(0xD7FF)), ((*low).max(0xE000), *high)] {
                    if low <= high {
                        _ = write!(out, "\\x{{{low:X}}}-\\x{{{high:X}}}");
                    }
                }
            }
            out.push(']');
        }
        Tree::Boundary => out.push_str("(?-u:\\b)"),
        Tree::Concat(parts) => parts.iter().for_each(|part| write(out, part)),
        Tree::Alternatives(parts) => {
            out.push_str("(?:");
            for (i, part) in parts.iter().enumerate() {
                out.push_str(if i == 0 { "" } else { "|" });
                write(out, part);
            }
            out.push(')');
        }
        Tree::Repeat(part, least, most) => {
            out.push_str("(?:");
            write(out, part);
            _ = match most {
                Some(most) => write!(out, "){{{least},{most}}}"),
                None => write!(out, "){{{least},}}"),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    #[test]
    fn the_expressions_of_annex_a() {
        for (pattern, good, bad) in [
            (r"\d#2:\d#2", "12:30", "12:3"),
            (r"\d#(2,4)", "123", "12345"),
            (r"a#(,2)b", "aab", "aaab"),
            (r"a#(2,)", "aaaa", "a"),
            (r"[a-z&&]+", "a&b", "a b"),
            (r"[^0-9]", "x", "5"),
            (r"(ab|cd)*", "abcdab", "abc"),
            (r#"say ""hi"""#, r#"say "hi""#, "say hi"),
            (r"\(\d+\)\\", r"(12)\", "(12)"),
            (r"[\]\-x]+", "]-x", "["),
            (r"{0,0,0,65}.", "A!", "B!"),
            (r"\w+\s\w+", "one two", "one"),
            (r"", "", "x"),
        ] {
            let compiled = Pattern::new(pattern).unwrap_or_else(|| panic!("{pattern}"));
            assert!(compiled.matches(good), "{pattern} {good}");
            assert!(!compiled.matches(bad), "{pattern} {bad}");
        }
        for wrong in ["(", "[a", "a#x", "*", "{1,2}", "[z-a]", "a#(3,2)", "\\"] {
            assert!(Pattern::new(wrong).is_none(), "{wrong}");
        }
        // Out of proportion, but not for long.
        assert!(Pattern::new("((a#(9999)#(9999))#(9999))").is_none());
        assert!(Pattern::new(&"(".repeat(10_000)).is_none());
    }
}
