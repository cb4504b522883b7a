//! Orders entries, and distributes them.

use std::collections::BTreeSet;
use std::ops::Bound;

use super::Record;
use super::content::{Named, Place, entry, record};
use super::record::is_selected;
use crate::error::Result;
use crate::generated::Filter;
use crate::matching::Rule;

/// Sorts entries so that each comes after those above it: by name, or with `by` by depth, then by the first value of that
/// attribute, then by name. Entries without the attribute come last within their depth.
///
/// # Errors
/// A name is malformed, or a record is a change.
pub fn sorted(
    records: impl IntoIterator<Item = Result<Record>>,
    by: Option<&str>,
) -> Result<impl Iterator<Item = Record>> {
    let mut all: Vec<(Place, Named)> =
        records.into_iter().map(|record| entry(record?)).collect::<Result<_>>()?;
    match by {
        None => all.sort_by(|a, b| a.0.cmp(&b.0)),
        Some(attribute) => {
            let rule = Rule::of_attribute(attribute);
            all.sort_by(|(place, (_, one)), (other_place, (_, other))| {
                let depth = place.len().cmp(&other_place.len());
                let values = match (first(one, attribute), first(other, attribute)) {
                    (Some(one), Some(other)) => rule.compare(one, other),
                    (one, other) => other.is_some().cmp(&one.is_some()),
                };
                depth.then(values).then_with(|| place.cmp(other_place))
            });
        }
    }
    Ok(all.into_iter().map(|(_, named)| record(named)))
}

fn first<'a>(attributes: &'a [(String, Vec<Vec<u8>>)], name: &str) -> Option<&'a [u8]> {
    let found = attributes.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    found?.1.first().map(Vec::as_slice)
}

/// Where an entry goes when a file is split.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Part {
    /// By a hash of the name, to one of so many parts: the same in every run.
    Hash(usize),
    /// To so many parts in turn.
    Round(usize),
    /// To the part of the first filter that selects it, or to one more part.
    Filters(Vec<Filter<'static>>),
}

/// Distributes entries to parts. Entries with others below them are in every part, so that each can be loaded without the others.
///
/// # Errors
/// A name is malformed, or a record is a change.
pub fn split(records: impl IntoIterator<Item = Result<Record>>, by: &Part) -> Result<Vec<Vec<Record>>> {
    let all: Vec<(Place, Named)> = records.into_iter().map(|record| entry(record?)).collect::<Result<_>>()?;
    let above: BTreeSet<&[String]> =
        all.iter().filter_map(|(place, _)| place.split_last().map(|(_, above)| above)).collect();
    // What is above an entry has others below it, although a file may lack what is between.
    let is_upper = |place: &Place| {
        let from = (Bound::Included(place.as_slice()), Bound::Unbounded);
        above.range::<[String], _>(from).next().is_some_and(|other| other.starts_with(place))
    };
    let is_upper: Vec<bool> = all.iter().map(|(place, _)| is_upper(place)).collect();
    let count = match by {
        Part::Hash(count) | Part::Round(count) => (*count).max(1),
        Part::Filters(filters) => filters.len() + 1,
    };
    let mut parts: Vec<Vec<Record>> = vec![Vec::new(); count];
    let (mut turn, mut has_rest) = (0, false);
    for ((place, named), is_upper) in all.into_iter().zip(is_upper) {
        if is_upper {
            parts.iter_mut().for_each(|part| part.push(record(named.clone())));
            continue;
        }
        let index = match by {
            Part::Hash(_) => hash(&place) % count,
            Part::Round(_) => {
                turn += 1;
                (turn - 1) % count
            }
            Part::Filters(filters) => {
                let mut found = filters.len();
                for (index, filter) in filters.iter().enumerate() {
                    if is_selected(&named.0, &named.1, filter)? {
                        found = index;
                        break;
                    }
                }
                has_rest |= found == filters.len();
                found
            }
        };
        if let Some(part) = parts.get_mut(index) {
            part.push(record(named));
        }
    }
    // The part of what no filter selects is there if there are such entries.
    if matches!(by, Part::Filters(_)) && !has_rest {
        parts.pop();
    }
    Ok(parts)
}

/// FNV-1a, which is the same everywhere.
fn hash(place: &Place) -> usize {
    let octets = place.iter().flat_map(|rdn| rdn.bytes().chain([0]));
    let hash = octets.fold(0xCBF2_9CE4_8422_2325_u64, |hash, octet| {
        (hash ^ u64::from(octet)).wrapping_mul(0x0100_0000_01B3)
    });
    usize::try_from(hash >> 33).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::Reader;
    use super::*;

    const STAFF: &str = "\
dn: uid=b,ou=p,o=x
uid: b
sn: Ant

dn: uid=c,ou=p,o=x
uid: c

dn: ou=p,o=x
ou: p

dn: o=x
o: x

dn: uid=a,ou=p,o=x
uid: a
sn: bee
";

    fn names(records: impl IntoIterator<Item = Record>) -> Vec<String> {
        records.into_iter().map(|record| record.dn.split(',').next().unwrap().to_owned()).collect()
    }

    #[test]
    fn parents_come_first() {
        let sort = |by| names(sorted(Reader::new(STAFF.as_bytes()), by).unwrap());
        assert_eq!(sort(None), ["o=x", "ou=p", "uid=a", "uid=b", "uid=c"]);
        assert_eq!(sort(Some("SN")), ["o=x", "ou=p", "uid=b", "uid=a", "uid=c"]);
    }

    #[test]
    fn upper_entries_are_in_each_part() {
        let parts = |by| {
            let parts = split(Reader::new(STAFF.as_bytes()), &by).unwrap();
            parts.into_iter().map(names).collect::<Vec<_>>()
        };
        assert_eq!(
            parts(Part::Round(2)),
            [vec!["uid=b", "ou=p", "o=x", "uid=a"], vec!["uid=c", "ou=p", "o=x"]]
        );
        let hashed = parts(Part::Hash(2));
        assert_eq!(hashed.iter().map(Vec::len).sum::<usize>(), 7);
        let filter = |text: &str| text.parse::<Filter<'static>>().unwrap();
        assert_eq!(
            parts(Part::Filters(vec![filter("(sn=bee)")])),
            [vec!["ou=p", "o=x", "uid=a"], vec!["uid=b", "uid=c", "ou=p", "o=x"]]
        );
        assert_eq!(
            parts(Part::Filters(vec![filter("(uid=*)")])),
            [["uid=b", "uid=c", "ou=p", "o=x", "uid=a"]]
        );
    }
}
