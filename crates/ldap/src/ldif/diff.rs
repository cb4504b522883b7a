//! What leads from one set of entries to another.

use std::collections::BTreeMap;

use super::{Change, Record};
use crate::dn::Dn;
use crate::entry::modifications;
use crate::error::{Error, ErrorKind, Result};
use crate::matching::Rule;

/// Changes that make entries of others: new ones from the top down, then what changes, then what goes from the bottom up.
/// Names are compared as names (RFC 4514), values by the rules of [`crate::matching`].
///
/// # Errors
/// A name is malformed or comes twice, or a record is a change and no content.
///
/// ```
/// use tercet_ldap::ldif::{Reader, difference};
///
/// let before = Reader::new("dn: o=a\no: a\nl: here\n".as_bytes());
/// let after = Reader::new("dn: O=a\no: a\nl: there\n\ndn: cn=b,o=a\ncn: b\n".as_bytes());
/// let changes = difference(before, after)?;
/// assert_eq!(changes.iter().map(|change| change.dn.as_str()).collect::<Vec<_>>(), ["cn=b,o=a", "o=a"]);
/// # Ok::<(), tercet_ldap::Error>(())
/// ```
pub fn difference(
    before: impl IntoIterator<Item = Result<Record>>,
    after: impl IntoIterator<Item = Result<Record>>,
) -> Result<Vec<Record>> {
    let before = content(before)?;
    let mut after = content(after)?;
    let (mut changed, mut gone) = (Vec::new(), Vec::new());
    for (place, (dn, old)) in before {
        match after.remove(&place) {
            None => gone.push(change(dn, Change::Delete)),
            Some((_, new)) => {
                let modifications = modifications(&old, &new, &Rule::of_attribute);
                if !modifications.is_empty() {
                    changed.push(change(dn, Change::Modify(modifications)));
                }
            }
        }
    }
    let come = after.into_values().map(|(dn, attributes)| change(dn, Change::Add(attributes)));
    // In the order of places, what is below comes behind.
    Ok(come.chain(changed).chain(gone.into_iter().rev()).collect())
}

type Content = (String, Vec<(String, Vec<Vec<u8>>)>);

/// Entries by their place: normalized RDNs from the root on.
fn content(records: impl IntoIterator<Item = Result<Record>>) -> Result<BTreeMap<Vec<String>, Content>> {
    let mut all = BTreeMap::new();
    for record in records {
        let record = record?;
        let fault = |message: &str| Error::new(ErrorKind::Usage, format!("{}: {message}", record.dn));
        let Change::Add(attributes) = record.change else {
            return Err(fault("a change, where an entry is expected"));
        };
        let dn: Dn = record.dn.parse()?;
        let place = dn.rdns().iter().rev().map(|rdn| rdn.normalized()).collect();
        if all.insert(place, (record.dn.clone(), attributes)).is_some() {
            return Err(Error::new(ErrorKind::Usage, format!("{}: the name comes twice", record.dn)));
        }
    }
    Ok(all)
}

const fn change(dn: String, change: Change) -> Record {
    Record { dn, controls: Vec::new(), change, is_change: true }
}
