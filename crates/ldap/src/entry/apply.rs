//! Modifications of attributes, as a server makes them.

use std::collections::{HashMap, HashSet};

use crate::ldif::{ModificationKind, RecordModification};
use crate::matching::Rule;
use crate::proto::{LdapResult, ResultCode};

/// An attribute with its values.
type Attribute = (String, Vec<Vec<u8>>);
type Done = Result<(), LdapResult>;

fn fail(code: ResultCode, message: impl Into<String>) -> Done {
    Err(LdapResult::new(code).with_message(message))
}

/// Changes attributes as one modification says (RFC 4511 4.6, RFC 4525). What has been done of it before an error stays done.
///
/// # Errors
/// noSuchAttribute (16), attributeOrValueExists (20), protocolError (2) for an addition without values or an increment without exactly
/// one, constraintViolation (19) for an increment of what is not a number.
pub(crate) fn apply(attributes: &mut Vec<Attribute>, modification: &RecordModification, rule: Rule) -> Done {
    let name = &modification.attribute;
    let index = attributes.iter().position(|(known, _)| known.eq_ignore_ascii_case(name));
    let missing = || LdapResult::new(ResultCode::NO_SUCH_ATTRIBUTE).with_message(name.clone());
    match modification.kind {
        ModificationKind::Add => {
            if modification.values.is_empty() {
                return fail(ResultCode::PROTOCOL_ERROR, format!("{name}: no values"));
            }
            add_values(attributes, name, modification.values.clone(), rule)?;
        }
        ModificationKind::Delete => {
            let index = index.ok_or_else(missing)?;
            if let Some((_, values)) = attributes.get_mut(index) {
                remove_values(values, rule, &modification.values).ok_or_else(missing)?;
                if values.is_empty() || modification.values.is_empty() {
                    attributes.remove(index);
                }
            }
        }
        ModificationKind::Replace => {
            if let Some(index) = index {
                attributes.remove(index);
            }
            if !modification.values.is_empty() {
                add_values(attributes, name, modification.values.clone(), rule)?;
            }
        }
        ModificationKind::Increment => {
            // RFC 4525 clause 3: exactly one value.
            let [by] = modification.values.as_slice() else {
                return fail(ResultCode::PROTOCOL_ERROR, format!("{name}: an increment requires one value"));
            };
            let number = |octets: &[u8]| std::str::from_utf8(octets).ok()?.trim().parse::<i64>().ok();
            let by = number(by);
            let (_, values) = index.and_then(|index| attributes.get_mut(index)).ok_or_else(missing)?;
            for value in values {
                let sum = number(value).zip(by).and_then(|(value, by)| value.checked_add(by));
                match sum {
                    Some(sum) => *value = sum.to_string().into_bytes(),
                    None => return fail(ResultCode::CONSTRAINT_VIOLATION, format!("{name}: no integers")),
                }
            }
        }
    }
    Ok(())
}

/// Removes values; nothing if one is not there.
fn remove_values(values: &mut Vec<Vec<u8>>, rule: Rule, removed: &[Vec<u8>]) -> Option<()> {
    if removed.len() <= 8 {
        let mut buffer = Vec::new();
        for value in removed {
            let key = rule.normalize(value);
            let found = values.iter().position(|known| {
                rule.normalize_into(known, &mut buffer);
                buffer == key
            });
            values.remove(found?);
        }
        return Some(());
    }
    let mut places: HashMap<Vec<u8>, usize> =
        values.iter().enumerate().map(|(at, value)| (rule.normalize(value), at)).collect();
    let mut gone = Vec::with_capacity(removed.len());
    for value in removed {
        gone.push(places.remove(&rule.normalize(value))?);
    }
    gone.sort_unstable();
    let mut gone = gone.into_iter().peekable();
    let mut at = 0;
    values.retain(|_| {
        let is_gone = gone.next_if_eq(&at).is_some();
        at += 1;
        !is_gone
    });
    Some(())
}

/// Values of an attribute that are looked through one by one; beyond, a set of their normalized forms is made.
const FEW: usize = 8;

/// Adds values to an attribute.
///
/// # Errors
/// attributeOrValueExists if a value is there, or is given twice.
pub(crate) fn add_values(attributes: &mut Vec<Attribute>, name: &str, new: Vec<Vec<u8>>, rule: Rule) -> Done {
    let index = attributes.iter().position(|(known, _)| known.eq_ignore_ascii_case(name));
    let exists = || fail(ResultCode::ATTRIBUTE_OR_VALUE_EXISTS, format!("{name}: value exists"));
    let values = match index.and_then(|index| attributes.get_mut(index)) {
        Some((_, values)) => values,
        None if new.len() == 1 => {
            attributes.push((name.to_owned(), new));
            return Ok(());
        }
        None => {
            attributes.push((name.to_owned(), Vec::with_capacity(new.len())));
            match attributes.last_mut() {
                Some((_, values)) => values,
                None => return Ok(()),
            }
        }
    };
    if values.len() + new.len() <= FEW {
        let mut keys: Vec<Vec<u8>> = values.iter().map(|value| rule.normalize(value)).collect();
        for value in new {
            let key = rule.normalize(&value);
            if keys.contains(&key) {
                return exists();
            }
            keys.push(key);
            values.push(value);
        }
        return Ok(());
    }
    let mut keys: HashSet<Vec<u8>> = values.iter().map(|value| rule.normalize(value)).collect();
    for value in new {
        if !keys.insert(rule.normalize(&value)) {
            return exists();
        }
        values.push(value);
    }
    Ok(())
}
