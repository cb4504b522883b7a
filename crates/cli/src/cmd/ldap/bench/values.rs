//! Texts that differ from operation to operation.

use crate::exit::{Failure, Outcome};
use std::hash::{BuildHasher, RandomState};
use std::path::PathBuf;
use std::sync::Arc;

/// SplitMix64.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below a limit; 0 for a limit of 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.next().checked_rem(limit).unwrap_or_default()
    }
}

/// A number that no other run has.
pub fn unique() -> u64 {
    RandomState::new().hash_one(std::process::id())
}

/// The lines of a file.
pub fn lines(path: &PathBuf) -> Outcome<Vec<String>> {
    let text = std::fs::read_to_string(path).map_err(|error| Failure::io(path.display(), &error))?;
    let lines: Vec<String> = text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect();
    if lines.is_empty() {
        return Err(Failure::usage(format_args!("--values {}: no lines", path.display())));
    }
    Ok(lines)
}

/// A text with parts that differ.
#[derive(Clone, Debug)]
pub struct Pattern {
    parts: Vec<Part>,
    lines: Option<Arc<Vec<String>>>,
}

#[derive(Clone, Debug)]
enum Part {
    Text(String),
    /// `{}`
    Value,
    /// `[1-1000]`, with the least number of digits: `[0001-1000]` has four
    Range {
        first: u64,
        last: u64,
        width: usize,
    },
    /// `[a,b]`
    List(Vec<String>),
}

impl Pattern {
    /// Reads a pattern. Brackets that hold neither a range nor a list are text.
    pub fn new(text: &str, lines: Option<Arc<Vec<String>>>) -> Outcome<Self> {
        let mut parts = vec![Part::Text(String::new())];
        let mut rest = text;
        while let Some(at) = rest.find(['{', '[']) {
            let (before, after) = rest.split_at(at);
            push(&mut parts, before);
            let special = if after.starts_with("{}") {
                Some((Part::Value, 2))
            } else if let Some((inner, _)) = after.strip_prefix('[').and_then(|inner| inner.split_once(']')) {
                bracket(inner)?.map(|part| (part, inner.len() + 2))
            } else {
                None
            };
            match special {
                Some((part, length)) => {
                    parts.push(part);
                    rest = after.get(length..).unwrap_or_default();
                }
                None => {
                    push(&mut parts, after.get(..1).unwrap_or_default());
                    rest = after.get(1..).unwrap_or_default();
                }
            }
        }
        push(&mut parts, rest);
        Ok(Self { parts, lines })
    }

    /// The text of an operation.
    pub fn text(&self, number: usize, random: &mut Random) -> String {
        let mut text = String::new();
        let pick = |list: &[String], random: &mut Random| {
            let at = usize::try_from(random.below(list.len() as u64)).unwrap_or_default();
            list.get(at).cloned().unwrap_or_default()
        };
        for part in &self.parts {
            match (part, &self.lines) {
                (Part::Text(fixed), _) => text += fixed,
                (Part::Value, None) => text += &number.to_string(),
                (Part::Value, Some(lines)) => text += &pick(lines, random),
                (Part::Range { first, last, width }, _) => {
                    let number = first.saturating_add(random.below((last - first).saturating_add(1)));
                    text += &format!("{number:0width$}");
                }
                (Part::List(list), _) => text += &pick(list, random),
            }
        }
        text
    }
}

fn push(parts: &mut Vec<Part>, text: &str) {
    match parts.last_mut() {
        Some(Part::Text(last)) => last.push_str(text),
        _ => parts.push(Part::Text(text.to_owned())),
    }
}

/// What stands in brackets.
fn bracket(inner: &str) -> Outcome<Option<Part>> {
    if let Some((from, to)) = inner.split_once('-')
        && let (Ok(first), Ok(last)) = (from.parse::<u64>(), to.parse::<u64>())
    {
        if first > last {
            return Err(Failure::usage(format_args!("[{inner}]: the range is empty")));
        }
        // As `seq -w` does it: a zero in front asks for more.
        let width = if from.len() > 1 && from.starts_with('0') { from.len() } else { 1 };
        return Ok(Some(Part::Range { first, last, width }));
    }
    let is_list = inner.contains(',');
    Ok(is_list.then(|| Part::List(inner.split(',').map(str::to_owned).collect())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_make_texts() {
        let text = |pattern: &str| Pattern::new(pattern, None).unwrap().text(7, &mut Random::new(1));
        assert_eq!(text("(uid=u{})"), "(uid=u7)");
        assert_eq!(text("a[b]{c"), "a[b]{c");
        for _ in 0..20 {
            let range: u64 = text("[3-5]").parse().unwrap();
            assert!((3..=5).contains(&range));
        }
        assert_eq!(text("u[0009-9]"), "u0009");
        assert!(["a", "b"].contains(&text("[a,b]").as_str()));
        let lines = Some(Arc::new(vec!["x".to_owned()]));
        assert_eq!(Pattern::new("{}-{}", lines).unwrap().text(7, &mut Random::new(1)), "x-x");
        assert!(Pattern::new("[5-3]", None).is_err());
    }
}
