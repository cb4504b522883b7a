//! `--where`: conditions on messages, before they are decoded where that is possible.

use serde_json::Value;
use std::str::FromStr;

/// The deepest nesting of parentheses and `not`.
const DEPTH_LIMIT: u32 = 64;

/// Keys of a line that are known without decoding.
const EARLY: [&str; 10] =
    ["frame", "frames", "protocol", "octets", "time", "src", "dst", "stream", "partial", "interface"];

/// A condition: comparisons, joined by `and`, `or` and `not`.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// Both hold.
    And(Box<Self>, Box<Self>),
    /// One of them holds.
    Or(Box<Self>, Box<Self>),
    /// It does not hold.
    Not(Box<Self>),
    /// One of the values at a path compares with one of the literals.
    Compare(Vec<String>, Comparison, Vec<Literal>),
    /// Nothing is at a path.
    IsNull(Vec<String>),
}

/// How values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `=`.
    Equal,
    /// `<>`, `!=`.
    Unequal,
    /// `<`.
    Less,
    /// `<=`.
    LessOrEqual,
    /// `>`.
    Greater,
    /// `>=`.
    GreaterOrEqual,
    /// `like`: `%` stands for any characters, `_` for one.
    Like,
}

/// A value in a condition.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
}

/// Truth, as in SQL: a comparison with something absent is neither true nor false.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Truth {
    True,
    False,
    Unknown,
}

impl Condition {
    /// Checks a line of JSON that lacks what only decoding gives: false if no decoding can make it true.
    pub fn may_hold(&self, line: &Value) -> bool {
        self.check(line, true) != Truth::False
    }

    /// Checks a whole line of JSON.
    pub fn holds(&self, line: &Value) -> bool {
        self.check(line, false) == Truth::True
    }

    /// Returns whether it looks into the value of messages.
    pub fn needs_values(&self) -> bool {
        match self {
            Self::And(one, other) | Self::Or(one, other) => one.needs_values() || other.needs_values(),
            Self::Not(inner) => inner.needs_values(),
            Self::Compare(path, ..) | Self::IsNull(path) => path.first().is_some_and(|name| name == "value"),
        }
    }

    fn check(&self, line: &Value, is_early: bool) -> Truth {
        let is_open = |path: &[String]| is_early && !EARLY.contains(&&*path[0]);
        match self {
            Self::And(one, other) => match (one.check(line, is_early), other.check(line, is_early)) {
                (Truth::False, _) | (_, Truth::False) => Truth::False,
                (Truth::True, Truth::True) => Truth::True,
                _ => Truth::Unknown,
            },
            Self::Or(one, other) => match (one.check(line, is_early), other.check(line, is_early)) {
                (Truth::True, _) | (_, Truth::True) => Truth::True,
                (Truth::False, Truth::False) => Truth::False,
                _ => Truth::Unknown,
            },
            Self::Not(inner) => match inner.check(line, is_early) {
                Truth::True => Truth::False,
                Truth::False => Truth::True,
                Truth::Unknown => Truth::Unknown,
            },
            Self::Compare(path, ..) | Self::IsNull(path) if is_open(path) => Truth::Unknown,
            Self::IsNull(path) => {
                let mut found = Vec::new();
                walk(line, path, &mut found);
                truth(found.iter().all(|value| value.is_null()))
            }
            Self::Compare(path, comparison, literals) => {
                let mut found = Vec::new();
                walk(line, path, &mut found);
                found.retain(|value| !value.is_null());
                if found.is_empty() {
                    return Truth::Unknown;
                }
                let is_address = matches!(&*path[0], "src" | "dst");
                truth(
                    found
                        .iter()
                        .any(|value| literals.iter().any(|it| compare(value, *comparison, it, is_address))),
                )
            }
        }
    }
}

fn truth(holds: bool) -> Truth {
    if holds { Truth::True } else { Truth::False }
}

/// Collects the values at a path; lists on the way stand for each of their elements.
fn walk<'v>(value: &'v Value, path: &[String], found: &mut Vec<&'v Value>) {
    match (value, path) {
        (Value::Array(elements), _) => elements.iter().for_each(|element| walk(element, path, found)),
        (_, []) => found.push(value),
        (Value::Object(object), [name, rest @ ..]) => {
            if let Some(inside) = object.get(name) {
                walk(inside, rest, found);
            }
        }
        _ => {}
    }
}

fn compare(value: &Value, comparison: Comparison, literal: &Literal, is_address: bool) -> bool {
    use std::cmp::Ordering::{Equal, Greater, Less};
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let order = match (literal, value.as_f64()) {
        (Literal::Number(number), Some(value)) => value.partial_cmp(number),
        (Literal::Number(number), None) => {
            text.parse::<f64>().ok().and_then(|value| value.partial_cmp(number))
        }
        // An address without a port stands for all of its ports.
        (Literal::Text(other), _) if is_address && comparison != Comparison::Like => {
            let host = text.rsplit_once(':').map_or(&*text, |(host, _)| host.trim_matches(['[', ']']));
            if host == other || text == *other { Some(Equal) } else { Some(text.cmp(other)) }
        }
        (Literal::Text(other), _) => Some(text.as_str().cmp(other)),
    };
    match comparison {
        Comparison::Equal => order == Some(Equal),
        Comparison::Unequal => matches!(order, Some(Less | Greater)),
        Comparison::Less => order == Some(Less),
        Comparison::LessOrEqual => matches!(order, Some(Less | Equal)),
        Comparison::Greater => order == Some(Greater),
        Comparison::GreaterOrEqual => matches!(order, Some(Greater | Equal)),
        Comparison::Like => match literal {
            Literal::Text(pattern) => like(text.as_bytes(), pattern.as_bytes()),
            Literal::Number(_) => false,
        },
    }
}

/// Matches a pattern: `%` stands for any characters, `_` for one. The time is at most the product of both lengths.
fn like(text: &[u8], pattern: &[u8]) -> bool {
    let (mut at, mut place) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while at < text.len() {
        match pattern.get(place) {
            Some(b'%') => {
                star = Some((place, at));
                place += 1;
            }
            Some(&it) if it == b'_' || it == text[at] => (at, place) = (at + 1, place + 1),
            _ => match &mut star {
                Some((begin, taken)) => {
                    *taken += 1;
                    (place, at) = (*begin + 1, *taken);
                }
                None => return false,
            },
        }
    }
    pattern[place..].iter().all(|it| *it == b'%')
}

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut parser = Parser { words: words(text)?, at: 0 };
        let condition = parser.either(DEPTH_LIMIT)?;
        match parser.words.get(parser.at) {
            None => Ok(condition),
            Some(word) => Err(format!("`{}` is not expected here", word.shown())),
        }
    }
}

/// A word of a condition.
#[derive(Clone, Debug, PartialEq)]
enum Word {
    Name(String),
    Text(String),
    Sign(&'static str),
}

impl Word {
    fn shown(&self) -> &str {
        match self {
            Self::Name(text) | Self::Text(text) => text,
            Self::Sign(sign) => sign,
        }
    }
}

/// Divides a condition into words.
fn words(text: &str) -> Result<Vec<Word>, String> {
    const SIGNS: [&str; 9] = ["<=", ">=", "!=", "<>", "=", "<", ">", "(", ")"];
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        if first == '\'' {
            // Two quotes stand for one.
            let mut value = String::new();
            let mut after = &rest[1..];
            loop {
                let (part, next) = after.split_once('\'').ok_or("a text lacks its closing quote")?;
                value.push_str(part);
                match next.strip_prefix('\'') {
                    Some(next) => {
                        value.push('\'');
                        after = next;
                    }
                    None => {
                        rest = next;
                        break;
                    }
                }
            }
            found.push(Word::Text(value));
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            found.push(Word::Sign(sign));
            rest = &rest[sign.len()..];
        } else if let Some(next) = rest.strip_prefix(',') {
            found.push(Word::Sign(","));
            rest = next;
        } else {
            let is_end = |it: char| it.is_whitespace() || "'=<>!(),".contains(it);
            let end = rest.find(is_end).unwrap_or(rest.len());
            if end == 0 {
                return Err(format!("`{first}` is not expected here"));
            }
            found.push(Word::Name(rest[..end].to_owned()));
            rest = &rest[end..];
        }
        rest = rest.trim_start();
    }
    Ok(found)
}

struct Parser {
    words: Vec<Word>,
    at: usize,
}

impl Parser {
    fn either(&mut self, depth: u32) -> Result<Condition, String> {
        let mut condition = self.both(depth)?;
        while self.takes("or") {
            condition = Condition::Or(Box::new(condition), Box::new(self.both(depth)?));
        }
        Ok(condition)
    }

    fn both(&mut self, depth: u32) -> Result<Condition, String> {
        let mut condition = self.one(depth)?;
        while self.takes("and") {
            condition = Condition::And(Box::new(condition), Box::new(self.one(depth)?));
        }
        Ok(condition)
    }

    fn one(&mut self, depth: u32) -> Result<Condition, String> {
        let Some(depth) = depth.checked_sub(1) else {
            return Err(format!("conditions are nested deeper than {DEPTH_LIMIT}"));
        };
        if self.takes("not") {
            return Ok(Condition::Not(Box::new(self.one(depth)?)));
        }
        if self.takes_sign("(") {
            let condition = self.either(depth)?;
            return if self.takes_sign(")") { Ok(condition) } else { Err("`)` is missing".to_owned()) };
        }
        let path = match self.next() {
            Some(Word::Name(name)) => name.split('.').map(str::to_owned).collect::<Vec<_>>(),
            Some(word) => return Err(format!("a name is expected instead of `{}`", word.shown())),
            None => return Err("a name is missing at the end".to_owned()),
        };
        known(&path)?;
        if self.takes("is") {
            let not = self.takes("not");
            if !self.takes("null") {
                return Err("`null` is expected after `is`".to_owned());
            }
            let condition = Condition::IsNull(path);
            return Ok(if not { Condition::Not(Box::new(condition)) } else { condition });
        }
        let not = self.takes("not");
        let condition = if self.takes("in") {
            if !self.takes_sign("(") {
                return Err("`(` is expected after `in`".to_owned());
            }
            let mut literals = vec![self.literal()?];
            while self.takes_sign(",") {
                literals.push(self.literal()?);
            }
            if !self.takes_sign(")") {
                return Err("`)` is missing".to_owned());
            }
            Condition::Compare(path, Comparison::Equal, literals)
        } else if self.takes("like") {
            Condition::Compare(path, Comparison::Like, vec![self.literal()?])
        } else {
            let comparison = match self.next() {
                Some(Word::Sign("=")) => Comparison::Equal,
                Some(Word::Sign("!=" | "<>")) => Comparison::Unequal,
                Some(Word::Sign("<")) => Comparison::Less,
                Some(Word::Sign("<=")) => Comparison::LessOrEqual,
                Some(Word::Sign(">")) => Comparison::Greater,
                Some(Word::Sign(">=")) => Comparison::GreaterOrEqual,
                _ => return Err(format!("a comparison is expected after `{}`", path.join("."))),
            };
            Condition::Compare(path, comparison, vec![self.literal()?])
        };
        Ok(if not { Condition::Not(Box::new(condition)) } else { condition })
    }

    fn literal(&mut self) -> Result<Literal, String> {
        match self.next() {
            Some(Word::Text(text)) => Ok(Literal::Text(text)),
            Some(Word::Name(name)) => Ok(name.parse().map_or(Literal::Text(name), Literal::Number)),
            _ => Err("a value is missing".to_owned()),
        }
    }

    fn next(&mut self) -> Option<Word> {
        let word = self.words.get(self.at).cloned();
        self.at += 1;
        word
    }

    fn takes(&mut self, keyword: &str) -> bool {
        let is_it =
            matches!(self.words.get(self.at), Some(Word::Name(name)) if name.eq_ignore_ascii_case(keyword));
        self.at += usize::from(is_it);
        is_it
    }

    fn takes_sign(&mut self, sign: &str) -> bool {
        let is_it = matches!(self.words.get(self.at), Some(Word::Sign(it)) if *it == sign);
        self.at += usize::from(is_it);
        is_it
    }
}

/// Checks the first name of a path.
fn known(path: &[String]) -> Result<(), String> {
    const LATE: [&str; 12] = [
        "message",
        "ids",
        "schema",
        "type",
        "rules",
        "error",
        "file",
        "sccp",
        "value",
        "possible_duplicate",
        "warnings",
        "conversation",
    ];
    let mut names = EARLY.iter().chain(&LATE);
    match names.any(|name| *name == path[0]) {
        true => Ok(()),
        false => Err(tercet_suggest::unknown("column", &path[0], EARLY.iter().chain(&LATE).copied())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn conditions_are_checked_as_in_sql() {
        let line = json!({"frame": 7, "protocol": "ngap", "message": "InitialUEMessage", "src": "10.0.0.1:38412",
            "ids": {"amf": 17}, "value": {"IEs": {"RANNodeName": "x", "List": [{"a": 1}, {"a": 2}]}}});
        let holds = |text: &str| text.parse::<Condition>().unwrap().holds(&line);
        for text in [
            "protocol = 'ngap' and message like 'InitialUE%' and ids.amf = 17 and src = '10.0.0.1' and error is null",
            "value.IEs.RANNodeName = 'x'",
            "value.IEs.List.a = 2",
            "frame in (5, 7) and not frame > 7",
            "src = '10.0.0.1:38412' or frame = 1",
            "message not like '%Response' AND (frame >= 7 and frame <= 7) and frame <> 8",
            "ids.ran is null and ids.amf is not null",
        ] {
            assert!(holds(text), "{text}");
        }
        for text in ["ids.ran = 5", "not ids.ran = 5", "src = '10.0.0.2'", "message like 'x_'", "frame < 7"] {
            assert!(!holds(text), "{text}");
        }
        let early = json!({"frame": 7, "protocol": "ngap"});
        let may_hold = |text: &str| text.parse::<Condition>().unwrap().may_hold(&early);
        assert!(may_hold("message = 'x' and frame = 7") && !may_hold("message = 'x' and frame = 8"));
    }

    #[test]
    fn faults_of_conditions_are_named() {
        let fault = |text: &str| text.parse::<Condition>().unwrap_err();
        assert!(fault("protcol = 1").contains("protocol"));
        assert_eq!(fault("frame ="), "a value is missing");
        assert_eq!(fault("frame = 1 frame"), "`frame` is not expected here");
        assert_eq!(fault("frame = 'x"), "a text lacks its closing quote");
        assert_eq!(fault("(frame = 1"), "`)` is missing");
        assert!(fault(&"not ".repeat(1000)).contains("nested"));
    }

    #[test]
    fn patterns_match_in_bounded_time() {
        assert!(like(b"abc", b"a%c") && like(b"abc", b"___") && like(b"", b"%") && !like(b"abc", b"a_"));
        assert!(!like(&[b'a'; 2000], &[&b"%a".repeat(500)[..], b"b"].concat()));
    }
}
