//! Entries made into others, step by step.

use std::collections::{HashMap, HashSet};

use super::content::renamed;
use super::record::{is_asked, is_selected};
use super::{Change, Record};
use crate::dn::{Ava, Dn, Rdn};
use crate::error::{Error, ErrorKind, Result};
use crate::generated::Filter;
use crate::matching::Rule;

/// A step of a transformation. Attributes are named without options, and stand for those with options too.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Transform {
    /// Removes an attribute.
    Exclude(String),
    /// Replaces each value of an attribute by `***REDACTED***`; several by numbered ones.
    Redact(String),
    /// Replaces letters by letters and digits by digits in the values of an attribute, in names too: equal values stay equal, different
    /// values stay different.
    Scramble(String),
    /// Gives an attribute another name, in names too.
    Rename(String, String),
    /// Moves all that is at or below the first name to the second one.
    Move(Dn, Dn),
    /// Adds a value, to the entries that a filter selects if there is one.
    Add(String, Vec<u8>, Option<Filter<'static>>),
    /// Replaces the values of an attribute by a number that grows by a step from entry to entry.
    Sequence(String, i64, i64),
    /// Puts all that is below a name immediately below it.
    Flatten(Dn),
    /// Drops the entries that a filter selects.
    Drop(Filter<'static>),
    /// Drops the entries that a filter does not select.
    Keep(Filter<'static>),
}

/// The steps, with what they remember from entry to entry.
///
/// ```
/// use tercet_ldap::ldif::{Reader, Transform, Transformation};
///
/// let mut steps = Transformation::new([Transform::Rename("l".into(), "city".into())], 0);
/// let record = Reader::new("dn: o=a\no: a\nl: here\n".as_bytes()).next().unwrap()?;
/// assert!(format!("{:?}", steps.apply(record)?.unwrap().change).contains("city"));
/// # Ok::<(), tercet_ldap::Error>(())
/// ```
#[derive(Debug)]
pub struct Transformation {
    steps: Vec<Transform>,
    seed: u64,
    /// The scrambled values, by attribute and normalized value, and which are used.
    scrambled: HashMap<(String, Vec<u8>), Vec<u8>>,
    used: HashSet<(String, Vec<u8>)>,
    /// The names that flattening has made.
    flattened: HashSet<String>,
}

impl Transformation {
    /// Creates a transformation; the seed decides how values are scrambled.
    pub fn new(steps: impl IntoIterator<Item = Transform>, seed: u64) -> Self {
        Self {
            steps: steps.into_iter().collect(),
            seed,
            scrambled: HashMap::new(),
            used: HashSet::new(),
            flattened: HashSet::new(),
        }
    }

    /// Transforms an entry; returns `None` if it is dropped.
    ///
    /// # Errors
    /// The record is a change; its name is malformed; a value that names an entry is to be redacted; two entries get one name.
    pub fn apply(&mut self, record: Record) -> Result<Option<Record>> {
        let Change::Add(attributes) = record.change else {
            return Err(fault(&record.dn, "a change, where an entry is expected"));
        };
        let mut entry = Entry { dn: record.dn, attributes };
        let mut steps = std::mem::take(&mut self.steps);
        let mut kept = Ok(true);
        for step in &mut steps {
            kept = self.step(step, &mut entry);
            if !matches!(kept, Ok(true)) {
                break;
            }
        }
        self.steps = steps;
        let Entry { dn, attributes } = entry;
        let change = Change::Add(attributes);
        Ok(kept?.then_some(Record { dn, controls: Vec::new(), change, is_change: false }))
    }

    fn step(&mut self, step: &mut Transform, record: &mut Entry) -> Result<bool> {
        match step {
            Transform::Drop(filter) => return Ok(!record.is_selected(filter)?),
            Transform::Keep(filter) => return record.is_selected(filter),
            Transform::Exclude(name) => {
                record.attributes.retain(|(known, _)| !is_asked(known, name));
            }
            Transform::Redact(name) => redact(record, name)?,
            Transform::Scramble(name) => self.scramble(record, name)?,
            Transform::Rename(from, to) => {
                for (known, _) in &mut record.attributes {
                    if is_asked(known, from) {
                        let options = known.get(from.len()..).unwrap_or_default();
                        *known = format!("{to}{options}");
                    }
                }
                merge(&mut record.attributes);
                rename_avas(record, &mut |ava| {
                    let is_it = ava.attribute().eq_ignore_ascii_case(from);
                    Ok(is_it.then(|| ava.with_attribute(&*to)))
                })?;
            }
            Transform::Move(from, to) => {
                let dn: Dn = record.dn.parse()?;
                if dn.rdns().len() == from.rdns().len()
                    && dn.is_within(from)
                    && let Some(rdn) = to.rdns().first()
                {
                    // A move that keeps the RDN keeps its values as they are.
                    let is_new = from.rdns().first().is_none_or(|old| old.normalized() != rdn.normalized());
                    if is_new {
                        renamed(&mut record.attributes, from, rdn, true);
                    }
                }
                names(record, &mut |dn| {
                    let below = dn.rdns().len().checked_sub(from.rdns().len()).filter(|_| dn.is_within(from));
                    let rdns = dn.rdns();
                    Ok(below.map(|below| {
                        let kept = rdns.iter().take(below).rev().cloned();
                        kept.fold(to.clone(), |above, rdn| above.child(rdn))
                    }))
                })?;
            }
            Transform::Flatten(base) => {
                names(record, &mut |dn| {
                    let is_below = dn.rdns().len() > base.rdns().len() + 1 && dn.is_within(base);
                    Ok(dn.rdns().first().filter(|_| is_below).map(|rdn| base.child(rdn.clone())))
                })?;
                let dn: Dn = record.dn.parse()?;
                if dn.is_within(base) && !self.flattened.insert(dn.normalized()) {
                    return Err(fault(&record.dn, "two entries get this name"));
                }
            }
            Transform::Add(name, value, filter) => {
                let is_selected = filter.as_ref().map_or(Ok(true), |filter| record.is_selected(filter))?;
                let rule = Rule::of_attribute(name);
                if is_selected {
                    // A value that is there stays.
                    _ = crate::entry::apply::add_values(
                        &mut record.attributes,
                        name,
                        vec![value.clone()],
                        rule,
                    );
                }
            }
            Transform::Sequence(name, next, by) => {
                let mut has = false;
                record.attributes.retain_mut(|(known, values)| {
                    let is_it = is_asked(known, name);
                    if is_it && !has {
                        *values = vec![next.to_string().into_bytes()];
                        has = true;
                        return true;
                    }
                    !is_it
                });
                if has {
                    let after = next.checked_add(*by);
                    *next = after.ok_or_else(|| fault(&record.dn, "the numbers of the sequence end"))?;
                }
            }
        }
        Ok(true)
    }

    fn scramble(&mut self, record: &mut Entry, name: &str) -> Result<()> {
        for (known, values) in &mut record.attributes {
            if is_asked(known, name) {
                values.iter_mut().for_each(|value| *value = self.scrambled(name, value));
            }
        }
        rename_avas(record, &mut |ava| {
            if !ava.attribute().eq_ignore_ascii_case(name) {
                return Ok(None);
            }
            if ava.is_ber() {
                let message = format!("a hexadecimal value of `{name}` in a name cannot be scrambled");
                return Err(Error::new(ErrorKind::Usage, message));
            }
            Ok(Some(Ava::new(ava.attribute(), self.scrambled(name, ava.value()))))
        })
    }

    fn scrambled(&mut self, name: &str, value: &[u8]) -> Vec<u8> {
        let name = name.to_ascii_lowercase();
        let rule = Rule::of_attribute(&name);
        let key = (name.clone(), rule.normalize(value));
        if let Some(known) = self.scrambled.get(&key) {
            return known.clone();
        }
        let mut attempt = 0;
        let mut new = loop {
            let new = scrambled(value, self.seed, &key, attempt);
            if !self.used.contains(&(name.clone(), rule.normalize(&new))) {
                break new;
            }
            attempt += 1;
            if attempt == ATTEMPTS {
                break new;
            }
        };
        // All texts of this form are used: a number makes another one.
        let (begin, mut number) = (new.len(), 0_u64);
        while self.used.contains(&(name.clone(), rule.normalize(&new))) {
            number += 1;
            new.truncate(begin);
            new.extend_from_slice(number.to_string().as_bytes());
        }
        self.used.insert((name, rule.normalize(&new)));
        self.scrambled.insert(key, new.clone());
        new
    }
}

/// An entry between two steps.
struct Entry {
    dn: String,
    attributes: Vec<(String, Vec<Vec<u8>>)>,
}

impl Entry {
    fn is_selected(&self, filter: &Filter<'_>) -> Result<bool> {
        is_selected(&self.dn, &self.attributes, filter)
    }
}

/// Texts that are tried before one gets longer.
const ATTEMPTS: u32 = 64;

fn scrambled(value: &[u8], seed: u64, (name, key): &(String, Vec<u8>), attempt: u32) -> Vec<u8> {
    let mut random = Random(seed ^ u64::from(attempt).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    for octet in name.bytes().chain([0]).chain(key.iter().copied()) {
        random.0 ^= u64::from(octet);
        random.next();
    }
    let Ok(text) = std::str::from_utf8(value) else {
        return value.iter().map(|octet| octet ^ (random.below(255) + 1)).collect();
    };
    let mut new = String::with_capacity(text.len());
    for character in text.chars() {
        new.push(match character {
            '0'..='9' => char::from(b'0' + random.below(10)),
            character if character.is_uppercase() => char::from(b'A' + random.below(26)),
            character if character.is_alphabetic() => char::from(b'a' + random.below(26)),
            other => other,
        });
    }
    new.into_bytes()
}

/// SplitMix64, which is the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: u8) -> u8 {
        (self.next() % u64::from(limit)).to_le_bytes()[0]
    }
}

fn fault(dn: &str, message: &str) -> Error {
    Error::new(ErrorKind::Usage, format!("{dn}: {message}"))
}

/// Joins attributes that have got one name.
fn merge(attributes: &mut Vec<(String, Vec<Vec<u8>>)>) {
    let mut merged: Vec<(String, Vec<Vec<u8>>)> = Vec::with_capacity(attributes.len());
    for (name, values) in attributes.drain(..) {
        match merged.iter_mut().find(|(known, _)| known.eq_ignore_ascii_case(&name)) {
            None => merged.push((name, values)),
            Some((_, all)) => {
                let rule = Rule::of_attribute(&name);
                let known: HashSet<Vec<u8>> = all.iter().map(|value| rule.normalize(value)).collect();
                all.extend(values.into_iter().filter(|value| !known.contains(&rule.normalize(value))));
            }
        }
    }
    *attributes = merged;
}

fn redact(record: &mut Entry, name: &str) -> Result<()> {
    rename_avas(record, &mut |ava| {
        if ava.attribute().eq_ignore_ascii_case(name) {
            let message = format!("`{name}` is part of a name and cannot be redacted; scramble it instead");
            return Err(Error::new(ErrorKind::Usage, message));
        }
        Ok(None)
    })
    .map_err(|error| fault(&record.dn, error.message()))?;
    for (known, values) in &mut record.attributes {
        if !is_asked(known, name) {
            continue;
        }
        let is_one = values.len() == 1;
        for (index, value) in values.iter_mut().enumerate() {
            let number = if is_one { String::new() } else { (index + 1).to_string() };
            *value = format!("***REDACTED{number}***").into_bytes();
        }
    }
    Ok(())
}

/// Changes the name of the entry and the values that are names, where `change` returns another one.
fn names(record: &mut Entry, change: &mut dyn FnMut(&Dn) -> Result<Option<Dn>>) -> Result<()> {
    let dn: Dn = record.dn.parse()?;
    if let Some(new) = change(&dn)? {
        record.dn = new.to_string();
    }
    for (name, values) in &mut record.attributes {
        if Rule::of_attribute(name) != Rule::DistinguishedName {
            continue;
        }
        for value in values {
            let dn = std::str::from_utf8(value).ok().and_then(|text| text.parse::<Dn>().ok());
            if let Some(dn) = dn
                && let Some(new) = change(&dn)?
            {
                *value = new.to_string().into_bytes();
            }
        }
    }
    Ok(())
}

/// Changes parts of names.
fn rename_avas(record: &mut Entry, change: &mut dyn FnMut(&Ava) -> Result<Option<Ava>>) -> Result<()> {
    names(record, &mut |dn| {
        let mut is_changed = false;
        let mut new = Dn::default();
        for rdn in dn.rdns().iter().rev() {
            let mut avas = Vec::with_capacity(rdn.avas().len());
            for ava in rdn.avas() {
                let changed = change(ava)?;
                is_changed |= changed.is_some();
                avas.push(changed.unwrap_or_else(|| ava.clone()));
            }
            new = new.child(Rdn::of(avas));
        }
        Ok(is_changed.then_some(new))
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Reader, Style};
    use super::*;

    const STAFF: &str = "\
dn: ou=a,o=x
ou: a

dn: uid=ada,ou=a,o=x
uid: ada
mail: Ada1@x
mail;lang-en: b@x
manager: UID=Ada,ou=a,o=x
";

    fn transformed(steps: &[Transform]) -> Result<String> {
        let mut transformation = Transformation::new(steps.to_vec(), 7);
        let mut out = Vec::new();
        for record in Reader::new(STAFF.as_bytes()) {
            if let Some(record) = transformation.apply(record?)? {
                Style::default().record(&mut out, &record);
            }
        }
        Ok(String::from_utf8(out).unwrap())
    }

    #[test]
    fn steps_in_their_order() {
        use Transform::*;
        let name = |text: &str| text.to_owned();
        let filter = |text: &str| text.parse::<Filter<'static>>().unwrap();
        let head = "dn: ou=a,o=x\nou: a\n\n";
        for (steps, expected) in [
            (
                vec![Exclude(name("MAIL")), Keep(filter("(uid=*)"))],
                "dn: uid=ada,ou=a,o=x\nuid: ada\nmanager: UID=Ada,ou=a,o=x\n\n".to_owned(),
            ),
            (vec![Drop(filter("(uid=*)"))], head.to_owned()),
            (
                vec![Exclude(name("mail")), Rename(name("uid"), name("cn"))],
                format!("{head}dn: cn=ada,ou=a,o=x\ncn: ada\nmanager: cn=Ada,ou=a,o=x\n\n"),
            ),
            (
                vec![
                    Exclude(name("mail")),
                    Move("OU=A,o=x".parse().unwrap(), "ou=b,c=y".parse().unwrap()),
                    Drop(filter("(ou=*)")),
                ],
                "dn: uid=ada,ou=b,c=y\nuid: ada\nmanager: UID=Ada,ou=b,c=y\n\n".to_owned(),
            ),
            (
                vec![Exclude(name("manager")), Flatten("o=x".parse().unwrap()), Redact(name("mail"))],
                format!(
                    "{head}dn: uid=ada,o=x\nuid: ada\nmail: ***REDACTED***\nmail;lang-en: ***REDACTED***\n\n"
                ),
            ),
            (
                vec![
                    Keep(filter("(uid=*)")),
                    Exclude(name("manager")),
                    Exclude(name("mail")),
                    Add(name("n"), b"0".to_vec(), None),
                    Add(name("m"), b"0".to_vec(), Some(filter("(uid=bob)"))),
                    Sequence(name("n"), 5, 2),
                ],
                "dn: uid=ada,ou=a,o=x\nuid: ada\nn: 5\n\n".to_owned(),
            ),
        ] {
            assert_eq!(transformed(&steps).unwrap(), expected, "{steps:?}");
        }
        assert!(transformed(&[Redact(name("uid"))]).unwrap_err().to_string().contains("cannot be redacted"));
    }

    #[test]
    fn scrambled_values_stay_equal_and_keep_their_form() {
        let text =
            transformed(&[Transform::Scramble("uid".into()), Transform::Scramble("mail".into())]).unwrap();
        let record = Reader::new(text.as_bytes()).nth(1).unwrap().unwrap();
        let Change::Add(attributes) = &record.change else { panic!() };
        let value = |name: &str| {
            let found = attributes.iter().find(|(known, _)| known == name).unwrap();
            String::from_utf8(found.1[0].clone()).unwrap()
        };
        let uid = value("uid");
        assert!(uid != "ada" && uid.len() == 3 && record.dn == format!("uid={uid},ou=a,o=x"), "{text}");
        assert_eq!(value("manager").parse::<Dn>().unwrap(), record.dn.parse::<Dn>().unwrap());
        let mail = value("mail");
        assert!(mail.as_bytes()[4] == b'@' && mail.as_bytes()[3].is_ascii_digit(), "{mail}");
        // One digit has ten forms, and there are more values.
        let mut many = Transformation::new([], 1);
        let digits = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "a", "b", "c"];
        let new: HashSet<Vec<u8>> = digits.iter().map(|text| many.scrambled("n", text.as_bytes())).collect();
        assert_eq!(new.len(), 13);
    }
}
