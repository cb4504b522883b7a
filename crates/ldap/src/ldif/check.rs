//! Faults of LDIF with their places, as many as there are.

use std::collections::HashSet;
use std::fmt;
use std::io::BufRead;
use std::sync::Arc;

use super::{Change, ModificationKind, Reader, Record};
use crate::dn::{Dn, Rdn};
use crate::entry::Draft;
use crate::error::{ErrorKind, Result};
use crate::matching::Rule;
use crate::schema::Schema;

/// A fault and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// The line, from 1.
    pub line: u64,
    /// The byte in the line, from 1; in a folded name, of the line without its folds.
    pub column: u64,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

/// Checks LDIF: its syntax, names, values that come twice, values of the name that are missing and, with a schema, its rules.
///
/// ```
/// use tercet_ldap::ldif::Checker;
///
/// let mut found = Vec::new();
/// let mut checker = Checker::new(None);
/// checker.check("dn: o\no: a\n\ndn: o=a\no: a\nl\n".as_bytes(), &mut |problem| found.push(problem.to_string()))?;
/// assert_eq!(found, ["1:6: DN: `=` expected", "6:2: `:` expected"]);
/// # Ok::<(), tercet_ldap::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Checker {
    schema: Option<Arc<Schema>>,
    names: HashSet<String>,
    records: u64,
}

impl Checker {
    /// Creates a checker. It remembers names from file to file.
    #[must_use]
    pub fn new(schema: Option<Arc<Schema>>) -> Self {
        Self { schema, ..Self::default() }
    }

    /// The number of records that have been checked.
    #[must_use]
    pub const fn records(&self) -> u64 {
        self.records
    }

    /// Checks an input to its end. After a fault of the syntax it goes on with the next record.
    ///
    /// # Errors
    /// Reading fails, or a line is too long.
    pub fn check(&mut self, input: impl BufRead, report: &mut dyn FnMut(Problem)) -> Result<()> {
        let mut reader = Reader::new(input);
        reader.keep_lines();
        loop {
            match reader.next_record() {
                Ok(None) => return Ok(()),
                Ok(Some(record)) => {
                    self.records += 1;
                    self.record(&reader, &record, report);
                }
                Err(error) if error.kind() == ErrorKind::Syntax => {
                    self.records += 1;
                    let at = error.offset().and_then(|at| usize::try_from(at).ok()).unwrap_or_default();
                    let (line, column) = reader.place(at);
                    report(Problem { line, column, message: error.message().to_owned() });
                    reader.skip_record()?;
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn record<R: BufRead>(&mut self, reader: &Reader<R>, record: &Record, report: &mut dyn FnMut(Problem)) {
        let lines = reader.lines();
        // The line of the value with this number of an attribute; that of the name if it has none.
        let at = |name: &str, number: usize| {
            let mut all = lines.iter().filter(|(known, ..)| known.eq_ignore_ascii_case(name));
            all.nth(number).or_else(|| lines.first()).map_or((1, 1), |(_, line, _)| (*line, 1))
        };
        let mut say = |(line, column): (u64, u64), message: String| report(Problem { line, column, message });
        let dn = match record.dn.parse::<Dn>() {
            Ok(dn) => dn,
            Err(error) => {
                let (line, begin) = lines.first().map_or((1, 0), |(_, line, begin)| (*line, *begin));
                let column = begin as u64 + error.offset().unwrap_or_default() + 1;
                return say((line, column), error.message().to_owned());
            }
        };
        match &record.change {
            Change::Add(attributes) => {
                if !record.is_change && !self.names.insert(dn.normalized()) {
                    say(at("dn", 0), "the name comes twice".to_owned());
                }
                for (name, values) in attributes {
                    let rule =
                        self.schema.as_ref().map_or_else(|| Rule::of_attribute(name), |one| one.rule(name));
                    let mut known = HashSet::new();
                    for (number, value) in values.iter().enumerate() {
                        if !known.insert(rule.normalize(value)) {
                            say(at(name, number), format!("`{name}`: the value comes twice"));
                        }
                    }
                }
                naming(&dn, attributes, &mut |message| say(at("dn", 0), message));
                if let Some(schema) = &self.schema {
                    let draft = Draft::new(record.dn.clone(), attributes.clone());
                    for violation in draft.with_schema(Arc::clone(schema)).check() {
                        let place = violation.attribute().map_or_else(|| at("dn", 0), |name| at(name, 0));
                        say(place, violation.to_string());
                    }
                }
            }
            Change::Delete => {}
            Change::Modify(modifications) => {
                if modifications.is_empty() {
                    say(at("changetype", 0), "the change has no modifications".to_owned());
                }
                for one in modifications {
                    let needs = matches!(one.kind, ModificationKind::Add | ModificationKind::Increment);
                    if needs && one.values.is_empty() {
                        say(at(one.kind.word(), 0), format!("`{}`: a value expected", one.attribute));
                    }
                }
            }
            Change::ModifyDn { new_rdn, new_superior, .. } => {
                if let Err(error) = new_rdn.parse::<Rdn>() {
                    say(at("newrdn", 0), error.message().to_owned());
                }
                if let Some(Err(error)) = new_superior.as_ref().map(|name| name.parse::<Dn>()) {
                    say(at("newsuperior", 0), error.message().to_owned());
                }
            }
        }
    }
}

/// Reports values of the name that the entry does not have (RFC 4512 2.3). A record without object classes is a part of an entry.
fn naming(dn: &Dn, attributes: &[(String, Vec<Vec<u8>>)], report: &mut dyn FnMut(String)) {
    let find = |name: &str| attributes.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    let is_whole = find("objectClass").is_some();
    for ava in dn.rdns().iter().take(1).flat_map(Rdn::avas).filter(|ava| !ava.is_ber()) {
        let rule = Rule::of_attribute(ava.attribute());
        let key = rule.normalize(ava.value());
        let has = match find(ava.attribute()) {
            Some((_, values)) => values.iter().any(|value| rule.normalize(value) == key),
            None => !is_whole,
        };
        if !has {
            report(format!(
                "the entry lacks the value of its name, `{}: {}`",
                ava.attribute(),
                shown(ava.value())
            ));
        }
    }
}

fn shown(value: &[u8]) -> String {
    String::from_utf8_lossy(value).chars().take(100).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        let mut checker = Checker::new(None);
        checker.check(text.as_bytes(), &mut |problem| found.push(problem.to_string())).unwrap();
        found
    }

    #[test]
    fn faults_have_their_places() {
        for (text, expected) in [
            ("version: 1\n\ndn: o=a\nobjectClass: organization\no: a\n", &[][..]),
            ("# a\ndn: o=a,\n =b\no: a\n", &["2:9: DN: an attribute type expected"]),
            ("dn: o=a\nl:: QUJ\n D?==\n", &["3:3: base64: Invalid symbol"]),
            ("dn: o=a\nl: b\nl: B\n", &["3:1: `l`: the value comes twice"]),
            ("dn: o=a\no: a\n\ndn: O=A\no: a\n", &["4:1: the name comes twice"]),
            ("dn: o=a\no: b\n", &["1:1: the entry lacks the value of its name, `o: a`"]),
            (
                "o: b\nl: c\n\ndn: o=a\nl\n\nx: y\n",
                &["1:1: `dn:` expected", "5:2: `:` expected", "7:1: `dn:` expected"],
            ),
            ("dn: o=a\nchangetype: modify\nadd: l\n-\n", &["3:1: `l`: a value expected"]),
            ("dn: o=a\nchangetype: modrdn\nnewrdn: x\ndeleteoldrdn: 1\n", &["3:1: DN: `=` expected"]),
            (
                "dn: o=a\nchangetype: foo\n",
                &["2:1: changetype: add, delete, modify, modrdn or moddn expected"],
            ),
            ("dn: o=a\nchangetype: modrdn\n\ndn: o=b\no: b\n", &["3:1: `newrdn:` expected"]),
        ] {
            let found = check(text);
            assert_eq!(found.len(), expected.len(), "{text}: {found:?}");
            for (found, expected) in found.iter().zip(expected) {
                assert!(found.starts_with(expected), "{text}: {found}");
            }
        }
    }
}
