//! The notation of conditions: comparisons joined with `and`, `or` and `not`, read into postfix order.

use super::FilterError;
use std::fmt;
use std::iter;
use std::ops::Range;
use std::str::FromStr;

/// Parentheses and `not` inside one another that an expression may have.
pub(super) const DEPTH: usize = 64;

/// An expression that records have to meet, not bound to a type yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    pub(super) text: String,
    pub(super) tests: Vec<Written>,
    pub(super) steps: Vec<Step>,
}

/// A step of the evaluation, in postfix order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The result of a comparison, by its number.
    Test(usize),
    Not,
    And,
    Or,
}

/// A comparison as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) path: String,
    pub(super) path_span: Range<usize>,
    pub(super) comparison: Comparison,
    pub(super) operator_span: Range<usize>,
    pub(super) values: Vec<Literal>,
}

/// A value as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Literal {
    pub(super) text: String,
    pub(super) is_quoted: bool,
    pub(super) span: Range<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    /// One of the values.
    Is,
    /// None of them.
    Not,
    Less,
    LessOrEqual,
    More,
    MoreOrEqual,
    /// A pattern in which `%` is any characters and `_` is one.
    Like,
    NotLike,
    /// The component is absent.
    Null,
    /// The component is present.
    NotNull,
}

/// Comparisons as they are written.
const OPERATORS: [(&str, Comparison); 7] = [
    ("=", Comparison::Is),
    ("==", Comparison::Is),
    ("!=", Comparison::Not),
    ("<", Comparison::Less),
    ("<=", Comparison::LessOrEqual),
    (">", Comparison::More),
    (">=", Comparison::MoreOrEqual),
];

/// What a message says that a comparison may be.
const KNOWN: &str =
    "known: `=`, `==`, `!=`, `<`, `<=`, `>`, `>=`, `in (A, B)`, `like 'A%'`, `is null`, `is not null`";

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for Condition {
    type Err = FilterError;

    fn from_str(text: &str) -> Result<Self, FilterError> {
        let mut reader = Reader { text, at: 0, tests: Vec::new(), steps: Vec::new() };
        reader.expression()?;
        let Reader { tests, steps, .. } = reader;
        Ok(Self { text: text.to_owned(), tests, steps })
    }
}

/// What waits for the end of its operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pending {
    /// A parenthesis, with its place.
    Open(usize),
    Or,
    And,
    Not,
}

impl Pending {
    /// How tightly it binds.
    fn strength(self) -> u8 {
        match self {
            Self::Open(_) => 0,
            Self::Or => 1,
            Self::And => 2,
            Self::Not => 3,
        }
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    tests: Vec<Written>,
    steps: Vec<Step>,
}

impl<'t> Reader<'t> {
    /// Reads all of the text. Operators wait on a stack of their own (the shunting yard), so that parentheses need no
    /// recursion.
    fn expression(&mut self) -> Result<(), FilterError> {
        let mut pending: Vec<Pending> = Vec::new();
        loop {
            self.operand(&mut pending)?;
            // Behind an operand: the end of parentheses, `and`, `or`, or the end.
            loop {
                self.skip_space();
                let start = self.at;
                if self.rest().is_empty() {
                    self.settle(&mut pending, 1);
                    return match pending.pop() {
                        Some(Pending::Open(at)) => Err(self.wrong("unclosed parenthesis", at..at + 1)),
                        _ => Ok(()),
                    };
                }
                if self.rest().starts_with(')') {
                    self.settle(&mut pending, 1);
                    if pending.pop().is_none() {
                        return Err(self.wrong("`)` without `(`", start..start + 1));
                    }
                    self.at += 1;
                    continue;
                }
                let operator = if self.keyword("and") {
                    Pending::And
                } else if self.keyword("or") {
                    Pending::Or
                } else {
                    let end = self.word_end(start).max(self.next_char(start));
                    return Err(self.wrong("`and` or `or` expected", start..end));
                };
                // Operators of the same strength bind from the left.
                self.settle(&mut pending, operator.strength());
                pending.push(operator);
                break;
            }
        }
    }

    /// Reads an operand with the `not` and parentheses before it.
    fn operand(&mut self, pending: &mut Vec<Pending>) -> Result<(), FilterError> {
        loop {
            self.skip_space();
            let start = self.at;
            let opened = if self.rest().starts_with('(') {
                self.at += 1;
                Pending::Open(start)
            } else if self.is_not() {
                Pending::Not
            } else {
                return self.comparison();
            };
            pending.push(opened);
            let depth = pending.iter().filter(|it| matches!(it, Pending::Open(_) | Pending::Not)).count();
            if depth > DEPTH {
                let message = format!("more than {DEPTH} parentheses and `not` inside one another");
                return Err(self.wrong(message, start..start + 1));
            }
        }
    }

    /// Ends what binds at least as tightly.
    fn settle(&mut self, pending: &mut Vec<Pending>, strength: u8) {
        while let Some(last) = pending.pop_if(|last| last.strength() >= strength) {
            self.steps.push(match last {
                Pending::Not => Step::Not,
                Pending::And => Step::And,
                Pending::Or | Pending::Open(_) => Step::Or,
            });
        }
    }

    /// Takes the word `not`, unless it is a component that is compared.
    fn is_not(&mut self) -> bool {
        let start = self.at;
        if self.keyword("not") {
            self.skip_space();
            if !self.rest().starts_with(['=', '!', '<', '>']) {
                return true;
            }
            self.at = start;
        }
        false
    }

    fn comparison(&mut self) -> Result<(), FilterError> {
        let (path, path_span) = self.path()?;
        self.skip_space();
        let start = self.at;
        let negated = self.keyword("not");
        if negated {
            self.skip_space();
        }
        let (comparison, values) = if self.keyword("in") {
            (if negated { Comparison::Not } else { Comparison::Is }, self.list()?)
        } else if self.keyword("like") {
            (if negated { Comparison::NotLike } else { Comparison::Like }, vec![self.value(false)?])
        } else if negated {
            return Err(self.wrong("`in` or `like` expected after `not`", start..self.at));
        } else if self.keyword("is") {
            self.skip_space();
            let comparison = if self.keyword("not") { Comparison::NotNull } else { Comparison::Null };
            self.skip_space();
            let at = self.at;
            if !self.keyword("null") {
                let end = self.word_end(at);
                return Err(self
                    .wrong("`null` expected", at..end)
                    .with_help("`is null` keeps records without the component; other values need `=`"));
            }
            (comparison, Vec::new())
        } else {
            let run = self.rest().find(|c| !"=!<>".contains(c)).unwrap_or_else(|| self.rest().len());
            let written = &self.rest()[..run];
            let Some((_, comparison)) = OPERATORS.iter().find(|(it, _)| *it == written) else {
                let error = if run > 0 {
                    self.wrong(format!("unknown operator `{written}`"), start..start + run)
                } else {
                    self.wrong(format!("no comparison after `{path}`"), start..self.word_end(start))
                };
                return Err(error.with_help(KNOWN));
            };
            self.at += run;
            (*comparison, vec![self.value(false)?])
        };
        let operator_end = values.first().map_or(self.at, |first| first.span.start);
        let operator =
            self.text[start..operator_end].trim_end_matches(|c: char| c == '(' || c.is_whitespace());
        let operator_span = start..start + operator.len();
        self.steps.push(Step::Test(self.tests.len()));
        self.tests.push(Written { path, path_span, comparison, operator_span, values });
        Ok(())
    }

    /// A path, or in backquotes one that looks like a keyword.
    fn path(&mut self) -> Result<(String, Range<usize>), FilterError> {
        let start = self.at;
        if let Some(rest) = self.rest().strip_prefix('`') {
            let Some(end) = rest.find('`').filter(|end| *end > 0) else {
                return Err(self.wrong("unclosed backquote", start..start + 1));
            };
            self.at += end + 2;
            return Ok((rest[..end].to_owned(), start..self.at));
        }
        let end = self.path_end(start);
        if end == start {
            return Err(self
                .wrong("component expected", start..self.next_char(start))
                .with_help("a comparison is `PATH OPERATOR VALUE`, such as `duration >= 60`"));
        }
        self.at = end;
        Ok((self.text[start..end].to_owned(), start..end))
    }

    /// The values in parentheses behind `in`.
    fn list(&mut self) -> Result<Vec<Literal>, FilterError> {
        self.skip_space();
        let open = self.at;
        if !self.rest().starts_with('(') {
            return Err(self
                .wrong("`(` expected after `in`", open..self.word_end(open))
                .with_help("a list of values is `in (A, B)`"));
        }
        self.at += 1;
        let mut values = Vec::new();
        loop {
            values.push(self.value(true)?);
            self.skip_space();
            let next = self.rest().chars().next();
            self.at += usize::from(next.is_some());
            match next {
                Some(',') => {}
                Some(')') => return Ok(values),
                None => return Err(self.wrong("unclosed parenthesis", open..open + 1)),
                // A list of values ends its words at these two alone.
                Some(_) => return Err(self.wrong("`,` or `)` expected", self.at - 1..self.at)),
            }
        }
    }

    /// A value: in quotes, which are doubled inside, or the words up to `and`, `or`, a parenthesis or, in a list, a comma.
    fn value(&mut self, in_list: bool) -> Result<Literal, FilterError> {
        self.skip_space();
        let start = self.at;
        if let Some(quote) = self.rest().chars().next().filter(|c| matches!(c, '\'' | '"')) {
            return self.quoted(quote);
        }
        let mut end = self.value_word_end(start, in_list);
        if end == start {
            return Err(self.wrong("value expected", start..self.next_char(start)));
        }
        if self.rest().starts_with(['=', '!', '<', '>']) {
            return Err(self.wrong("value expected", start..end).with_help(KNOWN));
        }
        loop {
            self.at = end;
            self.skip_space();
            let (next, next_end) = (self.at, self.value_word_end(self.at, in_list));
            let word = &self.text[next..next_end];
            let is = |keyword: &str| word.eq_ignore_ascii_case(keyword);
            if word.is_empty() || is("and") || is("or") {
                break;
            }
            // A text of several words; one that compares is another comparison.
            if word.contains(['=', '!', '<', '>', '\'', '"'])
                || ["in", "like", "is", "not"].into_iter().any(is)
            {
                return Err(self
                    .wrong("`and` or `or` expected", next..next_end)
                    .with_help("put a value of several words in quotes"));
            }
            end = next_end;
        }
        self.at = end;
        Ok(Literal { text: self.text[start..end].to_owned(), is_quoted: false, span: start..end })
    }

    fn quoted(&mut self, quote: char) -> Result<Literal, FilterError> {
        let start = self.at;
        let mut text = String::new();
        self.at += 1;
        while let Some(end) = self.rest().find(quote) {
            text += &self.rest()[..end];
            self.at += end + 1;
            if !self.rest().starts_with(quote) {
                return Ok(Literal { text, is_quoted: true, span: start..self.at });
            }
            text.push(quote);
            self.at += 1;
        }
        Err(self.wrong(format!("unclosed quote {quote}"), start..start + 1))
    }

    /// Takes a keyword, in letters of any case.
    fn keyword(&mut self, keyword: &str) -> bool {
        let end = self.path_end(self.at);
        let is = self.text[self.at..end].eq_ignore_ascii_case(keyword);
        if is {
            self.at = end;
        }
        is
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn skip_space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn path_end(&self, start: usize) -> usize {
        let stops = |c: char| c.is_whitespace() || "=!<>(),'\"`".contains(c);
        self.text[start..].find(stops).map_or(self.text.len(), |length| start + length)
    }

    fn word_end(&self, start: usize) -> usize {
        self.text[start..].find(char::is_whitespace).map_or(self.text.len(), |length| start + length)
    }

    /// The end of a word of a value: parentheses within it are a part of it.
    fn value_word_end(&self, start: usize, in_list: bool) -> usize {
        let mut open = 0_u32;
        for (at, c) in self.text[start..].char_indices() {
            match c {
                _ if c.is_whitespace() => return start + at,
                ',' if in_list && open == 0 => return start + at,
                ')' if open == 0 => return start + at,
                ')' => open -= 1,
                '(' => open += 1,
                _ => {}
            }
        }
        self.text.len()
    }

    fn next_char(&self, start: usize) -> usize {
        start + self.text[start..].chars().next().map_or(0, char::len_utf8)
    }

    fn wrong(&self, message: impl Into<String>, span: Range<usize>) -> FilterError {
        FilterError::at(self.text, span, message)
    }
}

impl Condition {
    /// All of several conditions as one, which compares by the numbers of its own comparisons.
    pub(super) fn joined_steps(conditions: &[Self]) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut first = 0;
        for (number, condition) in conditions.iter().enumerate() {
            steps.extend(condition.steps.iter().map(|step| match step {
                Step::Test(test) => Step::Test(first + test),
                other => *other,
            }));
            steps.extend(iter::repeat_n(Step::And, usize::from(number > 0)));
            first += condition.tests.len();
        }
        steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(condition: &Condition) -> String {
        let step = |step: &Step| match step {
            Step::Test(test) => {
                let Written { path, comparison, values, .. } = &condition.tests[*test];
                let values: Vec<_> = values.iter().map(|value| value.text.as_str()).collect();
                format!("{path} {comparison:?} {}", values.join("|"))
            }
            other => format!("{other:?}"),
        };
        condition.steps.iter().map(step).map(|it| it.trim_end().to_owned()).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn expressions_are_read() {
        for (text, expected) in [
            ("a.b=5", "a.b Is 5"),
            ("a >= 5", "a MoreOrEqual 5"),
            ("a==5", "a Is 5"),
            ("a != 'x y'", "a Not x y"),
            ("a = 'it''s'", "a Is it's"),
            ("a[].b in (x, 'y')", "a[].b Is x|y"),
            ("a not in (x,y z)", "a Not x|y z"),
            ("a = two words", "a Is two words"),
            ("a = f(x)", "a Is f(x)"),
            ("t < 2026-11-01T02:00:00+01:00", "t Less 2026-11-01T02:00:00+01:00"),
            ("a = 1 and b = 2 or c = 3", "a Is 1; b Is 2; And; c Is 3; Or"),
            ("a = 1 or b = 2 and c = 3", "a Is 1; b Is 2; c Is 3; And; Or"),
            ("(a = 1 or b = 2) and not c = 3", "a Is 1; b Is 2; Or; c Is 3; Not; And"),
            ("not not a=1", "a Is 1; Not; Not"),
            ("NOT a LIKE '4%' AND b IS NOT NULL", "a Like 4%; Not; b NotNull; And"),
            ("a not like x_ or b is null", "a NotLike x_; b Null; Or"),
            ("((a=1))", "a Is 1"),
            ("not = 5", "not Is 5"),
            ("`not` is null", "not Null"),
            ("choice = and", "choice Is and"),
        ] {
            let read = text.parse::<Condition>().map(|it| shown(&it)).map_err(|error| error.to_string());
            assert_eq!(read.as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn nonsense_is_refused_with_its_place() {
        for (text, message, carets) in [
            (" ", "component expected", " ^"),
            ("a", "no comparison after `a`", " ^"),
            ("=5", "component expected", "^"),
            ("a ~ 5", "no comparison after `a`", "  ^"),
            ("a => 5", "unknown operator `=>`", "  ^^"),
            ("a === 5", "unknown operator `===`", "  ^^^"),
            ("a = = 5", "value expected", "    ^"),
            ("a =", "value expected", "   ^"),
            ("a in 5", "`(` expected after `in`", "     ^"),
            ("a in (5", "unclosed parenthesis", "     ^"),
            ("a in ()", "value expected", "      ^"),
            ("a in (x,,y)", "value expected", "        ^"),
            ("a = 5 and", "component expected", "         ^"),
            ("a = 5 b = 6", "`and` or `or` expected", "        ^"),
            ("a = 5)", "`)` without `(`", "     ^"),
            ("(a = 5", "unclosed parenthesis", "^"),
            ("a = 'x", "unclosed quote '", "    ^"),
            ("a = 'x' y", "`and` or `or` expected", "        ^"),
            ("a is 5", "`null` expected", "     ^"),
            ("a not 5", "`in` or `like` expected after `not`", "  ^^^^"),
            ("é = = 5", "value expected", "    ^"),
        ] {
            let error = text.parse::<Condition>().expect_err(text).to_string();
            let lines: Vec<&str> = error.lines().collect();
            assert_eq!((lines[0], lines[2].strip_prefix("  ")), (message, Some(carets)), "{text}: {error}");
        }
    }

    #[test]
    fn depth_is_bounded_and_length_is_not() {
        let nested = |depth: usize| format!("{}a=1{}", "(".repeat(depth), ")".repeat(depth));
        assert!(nested(DEPTH).parse::<Condition>().is_ok());
        for deep in [nested(DEPTH + 1), nested(1_000_000), format!("{}a=1", "not ".repeat(100_000))] {
            let error = deep.parse::<Condition>().unwrap_err().to_string();
            assert!(error.starts_with("more than 64 parentheses"), "{error:.80}");
        }
        let long = vec!["a=1"; 10_000].join(" or ");
        assert_eq!(long.parse::<Condition>().unwrap().tests.len(), 10_000);
    }
}
