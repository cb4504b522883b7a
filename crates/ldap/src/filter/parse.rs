//! From text to filter (RFC 4515 clause 3), without recursion.

use std::str::FromStr;

use tercet_runtime::types::Octets;

use super::DEPTH;
use crate::error::{Error, ErrorKind, Result};
use crate::generated::{AttributeValueAssertion, Filter, MatchingRuleAssertion, Substring, SubstringFilter};

impl FromStr for Filter<'static> {
    type Err = Error;

    /// Parses a filter. The outermost parentheses may be left out, as OpenLDAP's tools allow; so may be spaces around
    /// whole filters.
    fn from_str(text: &str) -> Result<Self> {
        let mut parser = Parser { text: text.as_bytes(), at: 0 };
        parser.skip_spaces();
        let filter = if parser.peek() == Some(b'(') { parser.filter()? } else { parser.item(true)? };
        parser.skip_spaces();
        if parser.at < parser.text.len() {
            return Err(parser.error("something follows the filter"));
        }
        Ok(filter)
    }
}

struct Parser<'t> {
    text: &'t [u8],
    at: usize,
}

/// A filter that is open: what it is, and what it has so far.
enum Open {
    And(Vec<Filter<'static>>),
    Or(Vec<Filter<'static>>),
    Not,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn skip_spaces(&mut self) {
        while self.peek() == Some(b' ') {
            self.at += 1;
        }
    }

    #[cold]
    fn error(&self, message: &str) -> Error {
        Error::at(ErrorKind::Syntax, format!("filter: {message}"), self.at as u64)
    }

    fn expect(&mut self, octet: u8, message: &str) -> Result<()> {
        if self.peek() != Some(octet) {
            return Err(self.error(message));
        }
        self.at += 1;
        Ok(())
    }

    /// A filter with its parentheses.
    fn filter(&mut self) -> Result<Filter<'static>> {
        let mut open: Vec<Open> = Vec::new();
        loop {
            self.skip_spaces();
            let mut done = match self.peek() {
                Some(b'(') => {
                    self.at += 1;
                    if open.len() >= DEPTH {
                        return Err(self.error("nested too deeply"));
                    }
                    self.skip_spaces();
                    let level = match self.peek() {
                        Some(b'&') => Some(Open::And(Vec::new())),
                        Some(b'|') => Some(Open::Or(Vec::new())),
                        Some(b'!') => Some(Open::Not),
                        _ => None,
                    };
                    match level {
                        Some(level) => {
                            self.at += 1;
                            open.push(level);
                            continue;
                        }
                        None => {
                            let item = self.item(false)?;
                            self.expect(b')', "`)` expected")?;
                            item
                        }
                    }
                }
                // An `and` or `or` may be empty (RFC 4526).
                Some(b')') => match open.pop() {
                    Some(Open::And(list)) => self.closed(Filter::And(list)),
                    Some(Open::Or(list)) => self.closed(Filter::Or(list)),
                    Some(Open::Not) => return Err(self.error("`!` has no filter")),
                    None => return Err(self.error("`(` expected")),
                },
                _ => return Err(self.error("`(` or `)` expected")),
            };
            loop {
                match open.last_mut() {
                    None => return Ok(done),
                    Some(Open::And(list) | Open::Or(list)) => {
                        list.push(done);
                        break;
                    }
                    Some(Open::Not) => {
                        self.skip_spaces();
                        self.expect(b')', "`)` expected")?;
                        open.pop();
                        done = Filter::Not(Box::new(done));
                    }
                }
            }
        }
    }

    const fn closed(&mut self, filter: Filter<'static>) -> Filter<'static> {
        self.at += 1;
        filter
    }

    /// An item, up to its `)` or to the end of a filter without parentheses.
    fn item(&mut self, bare: bool) -> Result<Filter<'static>> {
        let begin = self.at;
        let rest = self.text.get(begin..).unwrap_or_default();
        let length =
            rest.iter().position(|octet| matches!(octet, b'=' | b'<' | b'>' | b'~' | b'(' | b')' | b':'));
        let Some(length) = length else {
            self.at = self.text.len();
            return Err(self.error("`=` expected"));
        };
        let name = rest.get(..length).unwrap_or_default();
        self.at += length;
        if self.peek() == Some(b':') {
            return self.extensible(name, bare);
        }
        if !is_description(name) {
            self.at = begin;
            return Err(self.error("an attribute description expected"));
        }
        let operator = self.peek();
        self.at += 1;
        if operator != Some(b'=') {
            self.expect(b'=', "`=` expected")?;
        }
        match operator {
            Some(b'>') => Ok(Filter::GreaterOrEqual(self.assertion(name, bare)?)),
            Some(b'<') => Ok(Filter::LessOrEqual(self.assertion(name, bare)?)),
            Some(b'~') => Ok(Filter::ApproxMatch(self.assertion(name, bare)?)),
            Some(b'=') => self.equality(name, bare),
            _ => Err(self.error("`=` expected")),
        }
    }

    fn equality(&mut self, name: &[u8], bare: bool) -> Result<Filter<'static>> {
        let mut parts = vec![self.value(bare)?];
        while self.peek() == Some(b'*') {
            self.at += 1;
            parts.push(self.value(bare)?);
        }
        let last = parts.len() - 1;
        if last == 0 {
            let value = parts.pop().unwrap_or_default();
            return Ok(Filter::EqualityMatch(AttributeValueAssertion {
                attribute_desc: Octets::copied(name),
                assertion_value: Octets::from(value),
            }));
        }
        if last == 1 && parts.iter().all(Vec::is_empty) {
            return Ok(Filter::Present(Octets::copied(name)));
        }
        let mut substrings = Vec::new();
        for (index, part) in parts.into_iter().enumerate() {
            match index {
                _ if part.is_empty() => {}
                0 => substrings.push(Substring::Initial(Octets::from(part))),
                index if index == last => substrings.push(Substring::Final(Octets::from(part))),
                _ => substrings.push(Substring::Any(Octets::from(part))),
            }
        }
        if substrings.is_empty() {
            return Err(self.error("`**` has no substring"));
        }
        Ok(Filter::Substrings(SubstringFilter { r#type: Octets::copied(name), substrings }))
    }

    fn extensible(&mut self, name: &[u8], bare: bool) -> Result<Filter<'static>> {
        if !name.is_empty() && !is_description(name) {
            return Err(self.error("an attribute description expected"));
        }
        let (mut dn_attributes, mut rule) = (false, None);
        loop {
            self.expect(b':', "`:=` expected")?;
            let rest = self.text.get(self.at..).unwrap_or_default();
            if rest.first() == Some(&b'=') {
                self.at += 1;
                break;
            }
            let length = rest.iter().position(|octet| !is_keychar(*octet)).unwrap_or(rest.len());
            let word = rest.get(..length).unwrap_or_default();
            if word.eq_ignore_ascii_case(b"dn") && !dn_attributes && rule.is_none() {
                dn_attributes = true;
            } else if is_description(word) && rule.is_none() {
                rule = Some(word);
            } else {
                return Err(self.error("a matching rule expected"));
            }
            self.at += length;
        }
        if name.is_empty() && rule.is_none() {
            return Err(self.error("neither an attribute nor a matching rule"));
        }
        Ok(Filter::ExtensibleMatch(MatchingRuleAssertion {
            matching_rule: rule.map(Octets::copied),
            r#type: (!name.is_empty()).then(|| Octets::copied(name)),
            match_value: Octets::from(self.whole_value(bare)?),
            dn_attributes,
        }))
    }

    fn assertion(&mut self, name: &[u8], bare: bool) -> Result<AttributeValueAssertion<'static>> {
        let assertion_value = Octets::from(self.whole_value(bare)?);
        Ok(AttributeValueAssertion { attribute_desc: Octets::copied(name), assertion_value })
    }

    fn whole_value(&mut self, bare: bool) -> Result<Vec<u8>> {
        let value = self.value(bare)?;
        if self.peek() == Some(b'*') { Err(self.error("`*` has to be written \\2a here")) } else { Ok(value) }
    }

    /// A value up to `*`, `)` or the end, with its escapes undone.
    fn value(&mut self, bare: bool) -> Result<Vec<u8>> {
        let mut value = Vec::new();
        while let Some(octet) = self.peek() {
            match octet {
                b'*' => break,
                b')' if !bare => break,
                b'(' | b')' => {
                    return Err(self.error("a parenthesis has to be written \\28 or \\29 in a value"));
                }
                0 => return Err(self.error("NUL has to be written \\00")),
                b'\\' => {
                    let digits = self.text.get(self.at + 1..self.at + 3);
                    let octet = digits
                        .and_then(hex)
                        .ok_or_else(|| self.error("two hexadecimal digits expected after `\\`"))?;
                    value.push(octet);
                    self.at += 3;
                }
                octet => {
                    value.push(octet);
                    self.at += 1;
                }
            }
        }
        Ok(value)
    }
}

/// Two hexadecimal digits.
pub(crate) fn hex(digits: &[u8]) -> Option<u8> {
    let &[high, low] = digits else { return None };
    let digit = |octet: u8| char::from(octet).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    Some(digit(high)? << 4 | digit(low)?)
}

const fn is_keychar(octet: u8) -> bool {
    octet.is_ascii_alphanumeric() || matches!(octet, b'-' | b'.' | b';' | b'_')
}

/// Whether octets can be an attribute description: a name or object identifier, with options. Underscores are no part
/// of the grammar, but of names that directories have.
fn is_description(octets: &[u8]) -> bool {
    !octets.is_empty() && octets.iter().all(|octet| is_keychar(*octet))
}
