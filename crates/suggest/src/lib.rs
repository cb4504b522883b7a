//! Error texts for unknown names: what was probably meant, and the list of valid names, nearest first.
//!
//! Commands, Python, Spark and the compiler share this crate, so that the same fault has the same words everywhere.
//!
//! ```
//! let known = ["plain", "u16be", "u16le", "rdw"];
//! assert_eq!(
//!     tercet_suggest::unknown("framing", "u61be", known),
//!     "unknown framing `u61be`; did you mean `u16be`?\nhelp: known: `u16be`, `u16le`, `plain`, `rdw`"
//! );
//! ```

use std::borrow::Cow;
use std::collections::HashSet;

/// Names that one message lists.
const LISTED: usize = 12;
/// Names that are ranked by their distance; of more, the near ones alone come first.
const RANKED: usize = 2_000;
/// What one letter costs that is changed, added, dropped or swapped with its neighbour; another case costs half.
const LETTER: usize = 2;

/// Describes an unknown name of a kind: the nearest name if one is near, and a `help:` line with the valid names, nearest
/// first.
pub fn unknown<'n>(kind: &str, name: &str, known: impl IntoIterator<Item = &'n str>) -> String {
    with_known(&format!("unknown {kind} `{name}`"), name, known)
}

/// Completes an error text about an unknown name: with the nearest name, and a `help:` line with the valid names.
pub fn with_known<'n>(text: &str, name: &str, known: impl IntoIterator<Item = &'n str>) -> String {
    let known = ranked(name, known);
    let mut text = text.to_owned();
    if let Some(near) = nearest(name, known.iter().copied()) {
        text += &format!("; did you mean `{near}`?");
    }
    if let Some(list) = listed(&known) {
        text += &format!("\nhelp: known: {list}");
    }
    text
}

/// Completes an error text with a `help:` line that lists the valid names in their own order.
pub fn with_list<'n>(text: &str, known: impl IntoIterator<Item = &'n str>) -> String {
    match listed(&Vec::from_iter(known)) {
        Some(list) => format!("{text}\nhelp: known: {list}"),
        None => text.to_owned(),
    }
}

/// The first names of a list, and how many more there are; nothing if there are none.
fn listed(known: &[&str]) -> Option<String> {
    // Two more than fit are as short as the remark about them.
    let shown = if known.len() <= LISTED + 2 { known.len() } else { LISTED };
    let names: Vec<Cow<'_, str>> = known[..shown].iter().map(|name| quoted(name)).collect();
    let more = known.len() - shown;
    (!names.is_empty())
        .then(|| names.join(", ") + &if more > 0 { format!(" and {more} more") } else { String::new() })
}

fn quoted(name: &str) -> Cow<'_, str> {
    Cow::Owned(format!("`{name}`"))
}

/// The names without duplicates, the nearest first; those at the same distance stay in their order.
pub fn ranked<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Vec<&'n str> {
    let mut seen = HashSet::new();
    let known: Vec<&str> = known.into_iter().filter(|it| !it.is_empty() && seen.insert(*it)).collect();
    // Ranking costs the product of two lengths for each name: of a long list the far ones stay as they are.
    let limit = if known.len() > RANKED { near_limit(name) } else { name.len().max(64) };
    let mut ranked: Vec<(usize, &str)> =
        known.into_iter().map(|it| (distance(name, it, limit).unwrap_or(usize::MAX), it)).collect();
    ranked.sort_by_key(|(distance, _)| *distance);
    ranked.into_iter().map(|(_, it)| it).collect()
}

/// The candidate nearest to a name, if it is near: a third of the letters may differ, three at most.
pub fn nearest<'n>(name: &str, candidates: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let limit = near_limit(name);
    candidates
        .into_iter()
        .filter(|it| it.len().abs_diff(name.len()) <= limit && *it != name)
        .filter_map(|it| distance(name, it, limit).map(|distance| (distance, it)))
        .min()
        .map(|(_, it)| it)
}

/// Letters by which a near name may differ.
fn near_limit(name: &str) -> usize {
    (name.len() / 3).clamp(1, 3)
}

/// What it costs to get from one name to the other; `None` above the limit, which is in letters.
///
/// The distance is that of optimal string alignment: a swap of neighbours is one change, as in `shcema`.
fn distance(a: &str, b: &str, limit: usize) -> Option<usize> {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let most = limit * LETTER;
    // A name longer by more letters than the limit cannot be near, however long it is.
    if a.len().abs_diff(b.len()) > limit {
        return None;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=b.len()).map(|i| i * LETTER).collect();
    for (i, x) in a.iter().enumerate() {
        let mut next = Vec::with_capacity(row.len());
        next.push((i + 1) * LETTER);
        for (j, y) in b.iter().enumerate() {
            let change = match x {
                _ if x == y => 0,
                _ if x.eq_ignore_ascii_case(y) => LETTER / 2,
                _ => LETTER,
            };
            let mut least = (row[j] + change).min(row[j + 1] + LETTER).min(next[j] + LETTER);
            let swapped = i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y && x != y;
            if swapped {
                least = least.min(before[j - 1] + LETTER);
            }
            next.push(least);
        }
        if next.iter().min().is_some_and(|least| *least > most) {
            return None;
        }
        before = std::mem::replace(&mut row, next);
    }
    row.last().copied().filter(|distance| *distance <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_count_swaps_once_and_case_half() {
        for (a, b, expected) in [
            ("duration", "duration", Some(0)),
            ("duration", "Duration", Some(1)),
            ("duration", "durtion", Some(2)),
            ("duration", "duratoin", Some(2)),
            ("ab", "ba", Some(2)),
            ("shcema", "schema", Some(2)),
            ("a", "xyzw", None),
            ("", "abc", Some(6)),
            ("abc", "", Some(6)),
        ] {
            assert_eq!(distance(a, b, 3), expected, "{a} {b}");
            assert_eq!(distance(b, a, 3), expected, "{b} {a}");
        }
    }

    #[test]
    fn the_nearest_name_is_meant() {
        let known = ["moCall", "mtCall", "sms", "data"];
        for (name, expected) in [
            ("mcCall", Some("moCall")),
            ("dat", Some("data")),
            ("adta", Some("data")),
            ("voice", None),
            ("", None),
        ] {
            assert_eq!(nearest(name, known), expected, "{name}");
        }
    }

    #[test]
    fn lists_are_short_and_nearest_first() {
        let many: Vec<String> = (0..40).map(|i| format!("field{i}")).collect();
        let text = unknown("column", "feild7", many.iter().map(String::as_str));
        assert!(
            text.starts_with("unknown column `feild7`; did you mean `field7`?\nhelp: known: `field7`, "),
            "{text}"
        );
        assert!(text.ends_with(" and 28 more"), "{text}");
        assert_eq!(unknown("type", "T", []), "unknown type `T`");
        assert_eq!(with_list("no type given", ["A", "B"]), "no type given\nhelp: known: `A`, `B`");
    }
}
