//! Attributes of which a server returns one range of values at a time (`member;range=0-1499`, as Active Directory does): the
//! other ranges are fetched, and the entry is put together.

use super::Client;
use super::search::{Deref, Search};
use crate::error::{Error, ErrorKind, Result};
use crate::generated::{LdapMessage, ProtocolOp, SearchResultEntry};
use crate::proto::{self, Entry};
use crate::url::Scope;
use tercet_runtime::types::Octets;

/// Bytes of values that one entry may have when its ranges are put together.
const LIMIT: usize = 256 << 20;

/// The option of an attribute description that names a range of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range<'a> {
    /// The description without this option.
    base: &'a str,
    first: u64,
    /// The number of the last value; `None` if no values follow.
    last: Option<u64>,
}

impl<'a> Range<'a> {
    /// Reads `member;range=0-1499` and `member;range=1500-*`.
    fn of(description: &'a [u8]) -> Option<Self> {
        let text = std::str::from_utf8(description).ok()?;
        let (base, option) = text.rsplit_once(';')?;
        let (word, numbers) = option.split_once('=')?;
        if !word.eq_ignore_ascii_case("range") {
            return None;
        }
        let (first, last) = numbers.split_once('-')?;
        let last = if last == "*" { None } else { Some(last.parse().ok()?) };
        Some(Self { base, first: first.parse().ok()?, last })
    }
}

/// Checks whether a search leaves it to the client to fetch further ranges: not if its attributes name ranges themselves.
pub(super) fn are_asked_for(attributes: &[String]) -> bool {
    attributes.iter().any(|name| Range::of(name.as_bytes()).is_some() || name.contains(";range="))
}

/// Fetches the ranges that are missing of an entry's attributes and returns the entry with whole attributes under their plain
/// names. An attribute without values is dropped if it also came as a range.
///
/// # Errors
/// A search for a range fails, the server does not make progress, or the values exceed [`LIMIT`].
pub(super) async fn complete(client: Client, entry: Entry) -> Result<Entry> {
    let octets = entry.octets().clone();
    let LdapMessage { message_id, protocol_op, controls } =
        proto::decode(&octets, &proto::Limits::default())?;
    let ProtocolOp::SearchResEntry(SearchResultEntry { object_name, mut attributes }) = protocol_op else {
        return Ok(entry);
    };
    let ranged: Vec<String> =
        attributes.iter().filter_map(|one| Some(Range::of(&one.r#type)?.base.to_owned())).collect();
    attributes.retain(|one| {
        let is_placeholder = one.vals.is_empty()
            && ranged.iter().any(|base| base.as_bytes().eq_ignore_ascii_case(&one.r#type));
        !is_placeholder
    });
    let mut total = octets.len();
    for attribute in &mut attributes {
        let Some(range) = Range::of(&attribute.r#type) else { continue };
        let (base, mut last) = (range.base.to_owned(), range.last);
        while let Some(before) = last {
            let next = before.checked_add(1).ok_or_else(|| stuck(&base))?;
            let (values, end) = one_range(&client, entry.dn(), &base, next).await?;
            if end.is_some_and(|end| end < next) || (values.is_empty() && end.is_some()) {
                return Err(stuck(&base));
            }
            total = values.iter().fold(total, |total, value| total.saturating_add(value.len()));
            if total > LIMIT {
                let limit =
                    format!("the values of `{base}` exceed {LIMIT} bytes; search without following ranges");
                return Err(Error::new(ErrorKind::Limit, limit));
            }
            attribute.vals.extend(values.into_iter().map(Octets::from));
            last = end;
        }
        attribute.r#type = Octets::from(base.into_bytes());
    }
    let controls = controls
        .unwrap_or_default()
        .into_iter()
        .map(proto::control::from_asn1)
        .collect::<Result<Vec<_>>>()?;
    let mut out = Vec::with_capacity(total);
    let whole = ProtocolOp::SearchResEntry(SearchResultEntry { object_name, attributes });
    proto::encode(message_id, whole, &controls, &mut out)?;
    Entry::new(out.into())
}

/// Fetches the values from a number on: these, and the number of the last, unless they are the end.
async fn one_range(client: &Client, dn: &str, base: &str, first: u64) -> Result<(Vec<Vec<u8>>, Option<u64>)> {
    let search = Search::new(dn)
        .scope(Scope::Base)
        .deref(Deref::Never)
        .ranges(false)
        .attributes(&[format!("{base};range={first}-*")]);
    let mut entries = client.search(search).await?;
    let mut found = None;
    // An entry that was deleted meanwhile has no further values: that is reported, as the entry is not whole.
    while let Some(entry) = entries.next().await? {
        for attribute in entry.attributes() {
            if let Some(range) = Range::of(attribute.description())
                && range.base.eq_ignore_ascii_case(base)
                && range.first == first
            {
                found = Some((attribute.values().map(<[u8]>::to_vec).collect(), range.last));
            }
        }
    }
    found.ok_or_else(|| {
        let fault = format!("`{base}`: the server did not return the values from number {first} on");
        Error::new(ErrorKind::Protocol, fault)
    })
}

fn stuck(base: &str) -> Error {
    Error::new(ErrorKind::Protocol, format!("`{base}`: the ranges of the server do not advance"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_with_ranges() {
        for (text, expected) in [
            ("member;range=0-1499", Some(("member", 0, Some(1499)))),
            ("member;Range=1500-*", Some(("member", 1500, None))),
            ("member;binary;range=3-5", Some(("member;binary", 3, Some(5)))),
            ("member", None),
            ("member;range=", None),
            ("member;range=1", None),
            ("member;range=x-*", None),
            ("member;range=1-18446744073709551616", None),
            ("member;lang-de", None),
        ] {
            let found = Range::of(text.as_bytes()).map(|range| (range.base, range.first, range.last));
            assert_eq!(found, expected, "{text}");
        }
    }
}
