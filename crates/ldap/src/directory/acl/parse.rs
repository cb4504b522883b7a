//! The text of rules: one in a line, `#` begins a comment.

use std::net::IpAddr;
use std::str::FromStr;

use super::super::entry::place;
use super::super::subschema;
use super::{Acl, By, Right, Rule, Scope};
use crate::dn::Dn;
use crate::error::{Error, ErrorKind, Result};
use crate::filter::condition::Condition;
use crate::generated::Filter;

impl FromStr for Acl {
    type Err = Error;

    /// Reads rules, one in a line:
    /// `allow|deny RIGHT[,RIGHT…] to DN[.one|.sub|.children] [attr=NAME[,NAME…]] [filter=(…)] by WHO`.
    /// `WHO` is `anonymous`, `users`, `self`, `anyone`, `tls`, `group=DN`, `peer=ADDRESS[/BITS]` or the name of a user. Empty lines and
    /// those that begin with `#` are skipped. `*` stands for all entries, as `.sub` after an empty name.
    ///
    /// # Errors
    /// [`ErrorKind::Syntax`] with the number of the line.
    fn from_str(text: &str) -> Result<Self> {
        let mut acl = Self::default();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let rule = acl.rule(line, index + 1);
            let rule = rule
                .map_err(|message| Error::new(ErrorKind::Syntax, format!("line {}: {message}", index + 1)))?;
            acl.rules.push(rule);
        }
        Ok(acl)
    }
}

type Parsed<T> = std::result::Result<T, String>;

/// Splits at the first blank.
fn word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    text.split_once(char::is_whitespace).unwrap_or((text, ""))
}

impl Acl {
    fn rule(&mut self, line: &str, number: usize) -> Parsed<Rule> {
        let (verb, rest) = word(line);
        let allows = match verb {
            "allow" => true,
            "deny" => false,
            _ => return Err(format!("`allow` or `deny` expected instead of `{verb:.100}`")),
        };
        let (rights, rest) = word(rest);
        let rights = rights.split(',').map(str::parse::<Right>).collect::<Result<Vec<_>>>();
        let rights = rights.map_err(|error| error.message().to_owned())?;
        let (to, rest) = word(rest);
        if to != "to" {
            return Err(format!("`to` expected instead of `{to:.100}`"));
        }
        let (target, rest) = name(rest, &[" attr=", " filter=", " by "])?;
        let (base, scope) = scoped(target)?;
        let mut rest = rest.trim_start();
        let (mut attributes, mut filter) = (None, None);
        let who = loop {
            if let Some(after) = rest.strip_prefix("attr=") {
                let (names, after) = after.split_once(char::is_whitespace).unwrap_or((after, ""));
                let standard = subschema::standard();
                let names: Vec<String> =
                    names.split(',').map(|name| standard.usual(name).into_owned()).collect();
                if names.iter().any(String::is_empty) {
                    return Err("`attr=` with names of attributes expected".to_owned());
                }
                attributes = Some(names);
                rest = after.trim_start();
            } else if let Some(after) = rest.strip_prefix("filter=") {
                let end = end_of_filter(after).ok_or("`filter=` with a filter in parentheses expected")?;
                let (text, after) = after.split_at(end);
                let parsed: Filter<'static> =
                    text.parse().map_err(|error: Error| error.message().to_owned())?;
                filter = Some(Condition::new(&parsed, Some(&subschema::standard()), &|_| true));
                rest = after.trim_start();
            } else if let Some(who) = rest.strip_prefix("by ") {
                break who.trim();
            } else {
                return Err("`attr=`, `filter=` or `by` expected after the name".to_owned());
            }
        };
        let by = self.by(who)?;
        Ok(Rule { line: number, text: line.to_owned(), allows, rights, base, scope, attributes, filter, by })
    }

    fn by(&mut self, who: &str) -> Parsed<By> {
        let who = unquoted(who);
        Ok(match who {
            "" => return Err("`by` without a user".to_owned()),
            "*" | "anyone" => By::Anyone,
            "anonymous" => By::Anonymous,
            "users" => By::Users,
            "self" => By::Itself,
            "tls" => By::Tls,
            _ => {
                if let Some(group) = who.strip_prefix("group=") {
                    let group = place(&dn(unquoted(group))?);
                    let known = self.groups.iter().position(|known| *known == group);
                    By::Group(known.unwrap_or_else(|| {
                        self.groups.push(group);
                        self.groups.len() - 1
                    }))
                } else if let Some(network) = who.strip_prefix("peer=") {
                    let (address, bits) = peer(network)?;
                    By::Peer(address, bits)
                } else if who.contains('=') {
                    By::Dn(place(&dn(who)?))
                } else {
                    let known =
                        "anonymous, users, self, anyone, tls, group=DN, peer=CIDR or the name of a user";
                    return Err(format!("unknown user `{who:.100}`; known: {known}"));
                }
            }
        })
    }
}

fn dn(text: &str) -> Parsed<Dn> {
    text.parse().map_err(|error: Error| format!("`{text:.200}`: {}", error.message()))
}

/// The text between quotation marks, if there are any.
fn unquoted(text: &str) -> &str {
    text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text)
}

/// Splits a name, which may have blanks, from what follows it.
fn name<'t>(text: &'t str, ends: &[&str]) -> Parsed<(&'t str, &'t str)> {
    let text = text.trim_start();
    if let Some(quoted) = text.strip_prefix('"') {
        let (name, after) = quoted.split_once('"').ok_or("a quotation mark is missing")?;
        // The scope stands after the quotation marks.
        let scope = after.find(char::is_whitespace).unwrap_or(after.len());
        let end = 1 + name.len() + 1 + scope;
        return Ok((text.get(..end).unwrap_or_default(), text.get(end..).unwrap_or_default()));
    }
    let end = ends.iter().filter_map(|end| text.find(end)).min();
    // An empty name is followed by `by` at once.
    let end = if text.starts_with("by ") { Some(0) } else { end };
    let end = end.ok_or("`by` with a user is missing")?;
    Ok((text.get(..end).unwrap_or_default().trim_end(), text.get(end..).unwrap_or_default()))
}

/// A name and its scope.
fn scoped(text: &str) -> Parsed<(Vec<u8>, Scope)> {
    if text == "*" {
        return Ok((Vec::new(), Scope::Sub));
    }
    let scopes = [(".one", Scope::One), (".sub", Scope::Sub), (".children", Scope::Children)];
    let found = scopes.iter().find_map(|(word, scope)| Some((text.strip_suffix(word)?, *scope)));
    let (name, scope) = found.unwrap_or((text, Scope::Entry));
    Ok((place(&dn(unquoted(name))?), scope))
}

/// The octet after a filter in parentheses.
fn end_of_filter(text: &str) -> Option<usize> {
    if !text.starts_with('(') {
        return None;
    }
    let mut level = 0_usize;
    for (at, octet) in text.bytes().enumerate() {
        match octet {
            b'(' => level += 1,
            b')' => {
                level -= 1;
                if level == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// `ADDRESS[/BITS]`
fn peer(text: &str) -> Parsed<(IpAddr, u8)> {
    let fault = || format!("`peer={text:.100}`: an address such as 192.0.2.0/24 expected");
    let (address, bits) = text.split_once('/').map_or((text, None), |(address, bits)| (address, Some(bits)));
    let address: IpAddr = address.parse().map_err(|_| fault())?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    let bits = bits.map_or(Ok(most), str::parse::<u8>).map_err(|_| fault())?;
    if bits > most { Err(fault()) } else { Ok((address, bits)) }
}
