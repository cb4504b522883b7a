//! Makes texts from a grammar, always the same ones for the same seed.

use std::collections::HashMap;
use std::fmt::Write as _;

use tercet_megaco::text::token_names;

/// A source of numbers (SplitMix64).
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low + 1)
    }

    fn one<'t>(&mut self, of: &[&'t str]) -> &'t str {
        of[self.below(of.len())]
    }

    /// True once in so many times.
    fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }
}

/// Versions that a part is for.
#[derive(Clone, Copy)]
struct Versions(u8, u8);

enum Part {
    Text(String),
    Token(&'static str, &'static str),
    Builtin(Vec<String>),
    Rule(String),
    Optional(Box<Self>),
    Several(Box<Self>),
    /// A list with commas in the rule's text: spliced into the subset that names it.
    Subset(Vec<(bool, Self)>),
    Sequence(Vec<Self>),
    Choice(Vec<Self>),
    Guarded(Versions, Box<Self>),
}

/// The rules, by name. A rule that is a list of parts is a subset.
pub(crate) struct Grammar(HashMap<String, Part>);

struct Parser<'t> {
    words: std::iter::Peekable<std::vec::IntoIter<&'t str>>,
    tokens: &'t HashMap<&'static str, &'static str>,
}

impl Grammar {
    pub(crate) fn parse(text: &str) -> Self {
        let tokens: HashMap<_, _> = token_names().collect();
        let mut rules: Vec<(String, String)> = Vec::new();
        for line in text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
            match line.split_once(" = ").filter(|_| !line.starts_with(' ')) {
                Some((name, rule)) => rules.push((name.to_owned(), rule.to_owned())),
                None => rules.last_mut().unwrap().1.push_str(line),
            }
        }
        let parsed = rules.iter().map(|(name, rule)| {
            let words = words(rule);
            let is_list = is_list(&words);
            let mut parser = Parser { words: words.into_iter().peekable(), tokens: &tokens };
            let part = if is_list { parser.list() } else { parser.choice() };
            assert!(parser.words.next().is_none(), "the rule {name} does not end where it should");
            (name.clone(), part)
        });
        Self(parsed.collect())
    }

    /// A text of a version.
    pub(crate) fn message(&self, version: u8, dice: &mut Dice) -> String {
        let mut maker = Maker { grammar: self, version, dice, out: String::new(), depth: 0, parameter: "" };
        maker.part(&Part::Rule("message".to_owned()));
        maker.out
    }
}

/// Strings, names in brackets, and punctuation.
fn words(rule: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = rule.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => {
                let mut escaped = false;
                let end = rest[1..].find(|letter| {
                    let ends = letter == '"' && !escaped;
                    escaped = letter == '\\' && !escaped;
                    ends
                });
                end.unwrap() + 2
            }
            '<' => rest.find('>').unwrap() + 1,
            '[' | ']' | '(' | ')' | '+' | '&' | '!' | ',' | '/' => 1,
            _ => rest.find([' ', '[', ']', '(', ')', ',']).unwrap_or(rest.len()),
        };
        words.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    words
}

/// Whether a rule has commas outside of brackets.
fn is_list(words: &[&str]) -> bool {
    let mut depth = 0;
    words.iter().any(|word| {
        match *word {
            "(" | "[" => depth += 1,
            ")" | "]" => depth -= 1,
            _ => {}
        }
        *word == "," && depth == 0
    })
}

impl Parser<'_> {
    fn list(&mut self) -> Part {
        let mut parts = Vec::new();
        loop {
            let always = self.words.next_if_eq(&"!").is_some();
            parts.push((always, self.choice()));
            if self.words.next_if_eq(&",").is_none() {
                return Part::Subset(parts);
            }
        }
    }

    fn choice(&mut self) -> Part {
        let mut parts = vec![self.sequence()];
        while self.words.next_if_eq(&"/").is_some() {
            parts.push(self.sequence());
        }
        if parts.len() == 1 { parts.remove(0) } else { Part::Choice(parts) }
    }

    fn sequence(&mut self) -> Part {
        let guard = self.words.next_if(|word| word.ends_with(':') && word.as_bytes()[0].is_ascii_digit());
        let mut parts = Vec::new();
        while self.words.peek().is_some_and(|word| !matches!(*word, "/" | "," | ")" | "]")) {
            parts.push(self.element());
        }
        let part = if parts.len() == 1 { parts.remove(0) } else { Part::Sequence(parts) };
        let Some(guard) = guard else { return part };
        let number = |text: &str| text.parse().unwrap();
        let versions = match guard.trim_end_matches(':').split_once('-') {
            Some((low, high)) => Versions(number(low), number(high)),
            None => Versions(number(guard.trim_end_matches(':')), 3),
        };
        Part::Guarded(versions, Box::new(part))
    }

    fn element(&mut self) -> Part {
        let word = self.words.next().unwrap();
        match word.as_bytes()[0] {
            b'"' => Part::Text(word[1..word.len() - 1].replace("\\\"", "\"")),
            b'<' => Part::Builtin(word[1..word.len() - 1].split(' ').map(str::to_owned).collect()),
            b'[' => {
                let part = self.choice();
                assert_eq!(self.words.next(), Some("]"));
                Part::Optional(Box::new(part))
            }
            b'(' => {
                let part = self.choice();
                assert_eq!(self.words.next(), Some(")"));
                part
            }
            b'+' => Part::Several(Box::new(self.element())),
            b'&' => {
                assert_eq!(self.words.next(), Some("("));
                let part = self.list();
                assert_eq!(self.words.next(), Some(")"));
                part
            }
            b'A'..=b'Z' => {
                let (long, short) =
                    self.tokens.get_key_value(word).unwrap_or_else(|| panic!("{word} is no token"));
                Part::Token(long, short)
            }
            _ => Part::Rule(word.to_owned()),
        }
    }
}

struct Maker<'g, 'd> {
    grammar: &'g Grammar,
    version: u8,
    dice: &'d mut Dice,
    out: String,
    depth: usize,
    /// A parameter of the event or signal named last.
    parameter: &'static str,
}

const PROPERTIES: &[&str] = &["nt/jit", "tdmc/gain", "tdmc/ec"];
/// Events and signals, with a parameter of each.
const EVENTS: &[(&str, &str)] = &[
    ("al/on", "strict"),
    ("al/of", "init"),
    ("al/fl", "mindur"),
    ("dd/ce", "ds"),
    ("nt/netfail", "cs"),
    ("nt/qualert", "th"),
    ("ct/cmp", "res"),
];
const SIGNALS: &[(&str, &str)] = &[("al/ri", "cad"), ("al/ri", "freq"), ("AL/Ri", "CAD")];
const TONES: &[&str] = &["cg/dt", "cg/rt", "ct/ct", "CG/bt", "dg/d1", "DG/D7"];
const STATISTICS: &[&str] =
    &["nt/os", "nt/or", "nt/dur", "rtp/ps", "rtp/pr", "rtp/pl", "rtp/jit", "rtp/delay"];
const PACKAGES: &[&str] = &["g", "root", "al", "dd", "cg", "nt", "rtp", "tdmc", "ct"];

impl Maker<'_, '_> {
    fn holds(&self, part: &Part) -> bool {
        match part {
            Part::Guarded(versions, _) => (versions.0..=versions.1).contains(&self.version),
            _ => true,
        }
    }

    fn part(&mut self, part: &Part) {
        match part {
            Part::Text(text) => self.text(text),
            Part::Token(long, short) => self.token(long, short),
            Part::Builtin(words) => self.builtin(words),
            Part::Rule(name) => {
                let grammar = self.grammar;
                let rule = grammar.0.get(name).unwrap_or_else(|| panic!("there is no rule {name}"));
                self.part(rule);
            }
            Part::Optional(part) if self.holds(part) && self.dice.once_in(2) => self.part(part),
            Part::Optional(_) => {}
            Part::Several(part) => {
                self.depth += 1;
                // Mostly one; fewer the deeper it is.
                let more = if self.depth < 4 {
                    self.dice.below(4).saturating_sub(1)
                } else {
                    self.dice.below(6) / 5
                };
                for index in 0..=more {
                    if index > 0 {
                        self.text(",");
                    }
                    self.part(part);
                }
                self.depth -= 1;
            }
            Part::Subset(parts) => self.subset(parts),
            Part::Sequence(parts) => parts.iter().for_each(|part| self.part(part)),
            Part::Choice(parts) => {
                let mut index = self.dice.below(parts.len());
                while !self.holds(&parts[index]) {
                    index = self.dice.below(parts.len());
                }
                self.part(&parts[index]);
            }
            Part::Guarded(_, part) => self.part(part),
        }
    }

    fn subset(&mut self, parts: &[(bool, Part)]) {
        let mut open: Vec<(bool, &Part)> = Vec::new();
        for (always, part) in parts {
            match part {
                // A rule that is a list is spliced in.
                Part::Rule(name) => match &self.grammar.0[name] {
                    Part::Subset(inner) => open.extend(inner.iter().map(|(always, part)| (*always, part))),
                    _ => open.push((*always, part)),
                },
                _ => open.push((*always, part)),
            }
        }
        open.retain(|(_, part)| self.holds(part));
        let mut chosen: Vec<&Part> = Vec::new();
        let share = open.len().min(3);
        for (always, part) in &open {
            if *always || self.dice.below(open.len()) < share {
                chosen.push(part);
            }
        }
        if chosen.is_empty() {
            chosen.push(open[self.dice.below(open.len())].1);
        }
        let mut first = true;
        let parameter = self.parameter;
        while !chosen.is_empty() {
            self.parameter = parameter;
            let part = chosen.swap_remove(self.dice.below(chosen.len()));
            if !std::mem::replace(&mut first, false) {
                self.text(",");
            }
            self.part(part);
        }
    }

    /// Text; behind punctuation there may be white space.
    fn text(&mut self, text: &str) {
        self.out.push_str(text);
        if matches!(text, "{" | "}" | "," | "=") && self.dice.once_in(6) {
            let space = self.dice.one(&[" ", "\n", "\t", "\r\n", " ; a comment: {\n"]);
            self.out.push_str(space);
        }
    }

    fn token(&mut self, long: &str, short: &str) {
        let form = if self.dice.once_in(2) { long } else { short };
        match self.dice.below(4) {
            0 => self.out.push_str(&form.to_ascii_lowercase()),
            1 => self.out.push_str(&form.to_ascii_uppercase()),
            _ => self.out.push_str(form),
        }
    }

    fn builtin(&mut self, words: &[String]) {
        let argument = |index: usize| words[index].parse::<u64>().unwrap();
        match words[0].as_str() {
            "number" => {
                let number = self.dice.between(argument(1), argument(2));
                _ = write!(self.out, "{number}");
            }
            "id" => {
                let most = if self.dice.once_in(2) { u64::from(u32::MAX) - 1 } else { 9999 };
                let id = self.dice.between(1, most);
                _ = write!(self.out, "{id}");
            }
            "range" => {
                let first = self.dice.between(1, 9999);
                let last = first + self.dice.between(1, 99);
                _ = write!(self.out, "{first}-{last}");
            }
            "hex" => (0..argument(1)).for_each(|_| {
                let digit = self.dice.below(16);
                _ = write!(self.out, "{digit:X}");
            }),
            "version" => _ = write!(self.out, "{}", self.version),
            "space" => self.out.push_str(self.dice.one(&[" ", "\t", "\n"])),
            "newline" => self.out.push_str(self.dice.one(&["\n", "\r\n"])),
            // Behind this one, white space and comments are text.
            "brace" => self.out.push('{'),
            "crlf" => self.out.push_str("\r\n"),
            "domain" => {
                self.out.push_str(self.dice.one(&["mgc.example.net", "a.example", "MG-7.Example.org"]))
            }
            "device" => self.out.push_str(self.dice.one(&["mg1", "gw/slot3@office", "Bsc_12"])),
            "time" => {
                let time = self.dice.between(0, 23_595_999);
                let day = self.dice.between(1, 28);
                _ = write!(self.out, "202607{day:02}T{time:08}");
            }
            "quoted" => {
                let text = self.dice.one(&["of no use", "a = {b}; [c]", "No Such Context 3", "x:y<z>#"]);
                _ = write!(self.out, "\"{text}\"");
            }
            "word" => self.out.push_str(self.dice.one(&[
                "on",
                "off",
                "automatic",
                "a.b-c_d",
                "x_y",
                "20260722t12",
                "abc",
            ])),
            "mapname" => self.out.push_str(self.dice.one(&["dialplan00", "dialplan12", "Dialplan07"])),
            "parameter" => self.out.push_str(self.parameter),
            "package" => self.out.push_str(self.dice.one(PACKAGES)),
            "name" => {
                let name = match words[1].as_str() {
                    "property" => self.dice.one(PROPERTIES),
                    "tone" => self.dice.one(TONES),
                    "statistic" => self.dice.one(STATISTICS),
                    of => {
                        let known = if of == "event" { EVENTS } else { SIGNALS };
                        let (name, parameter) = known[self.dice.below(known.len())];
                        self.parameter = parameter;
                        name
                    }
                };
                self.out.push_str(name);
            }
            "termination" => {
                let known = ["root", "11111111/00000000/00000000", "00000000/11111111/10101010"];
                if self.dice.once_in(24) {
                    self.out.push_str("11111111/*");
                } else if self.dice.once_in(2) {
                    self.out.push_str(self.dice.one(&known));
                } else {
                    let bits = self.dice.below(1 << 24);
                    _ = write!(self.out, "{:08b}/{:08b}/{:08b}", bits >> 16, bits >> 8 & 255, bits & 255);
                }
            }
            other => panic!("there is no {other}"),
        }
    }
}
