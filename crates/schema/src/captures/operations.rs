//! Names of operations of TCAP: those of the user's specifications.

use std::collections::HashMap;

/// Families of operations, each with the beginnings of the names of its modules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Family {
    Map,
    Cap,
    Inap,
}

impl Family {
    /// Returns the family of a message: by its application context, or by the subsystem numbers of its parties.
    pub(super) fn of(octets: &[u8], subsystems: [Option<u8>; 2]) -> Self {
        for at in octets.windows(8) {
            match at {
                // CAP 2, CAP 3 and CAP 4 (3GPP TS 29.078 clause 5.6); other contexts of GSM are those of MAP.
                [6, _, 4, 0, 0, 1, 0, 50] | [6, _, 4, 0, 0, 1, 21 | 23, 3] => return Self::Cap,
                [6, _, 4, 0, 0, 1, 0, _] => return Self::Map,
                [6, _, 4, 0, 1, 1, ..] => return Self::Inap,
                _ => {}
            }
        }
        match subsystems {
            [Some(146 | 147), _] | [_, Some(146 | 147)] => Self::Cap,
            [Some(106 | 241..=252), _] | [_, Some(106 | 241..=252)] => Self::Inap,
            _ => Self::Map,
        }
    }

    fn prefixes(self) -> &'static [&'static str] {
        match self {
            Self::Map => &["MAP"],
            Self::Cap => &["CAP"],
            Self::Inap => &["IN-", "CS1", "CS2", "CS3", "Core-INAP"],
        }
    }

    /// Returns whether a module is one of the family.
    fn has(self, module: &str) -> bool {
        self.prefixes().iter().any(|prefix| module.starts_with(prefix))
    }
}

/// Returns the operations that texts assign, by their codes: `NAME OPERATION ::= { … CODE local:45 }`. Of several with one
/// code, the first counts.
pub(super) fn operations<'t>(family: Family, texts: impl Iterator<Item = &'t str>) -> HashMap<i64, String> {
    let texts: Vec<&str> =
        texts.filter(|text| module(text).is_some_and(|module| family.has(module))).collect();
    let mut codes: HashMap<&str, i64> = HashMap::new();
    // Codes may have names: `opcode-initialDP Code ::= local: 0`.
    for text in &texts {
        for (at, _) in text.match_indices("Code ::=") {
            let name = text[..at].split_whitespace().next_back();
            if let (Some(name), Some(code)) = (name, local(&text[at + "Code ::=".len()..])) {
                codes.entry(name).or_insert(code);
            }
        }
    }
    let mut found = HashMap::new();
    for text in &texts {
        for (at, word) in text.match_indices("OPERATION") {
            let rest = text[at + word.len()..].trim_start();
            let Some(body) = rest.strip_prefix("::=").and_then(|rest| rest.trim_start().strip_prefix('{'))
            else {
                continue;
            };
            let body = body.split("::=").next().unwrap_or_default();
            let code = body.match_indices("CODE").find_map(|(at, word)| {
                let rest = &body[at + word.len()..];
                let name = rest.trim_start().split(|it: char| !it.is_alphanumeric() && it != '-').next();
                local(rest).or_else(|| name.and_then(|name| codes.get(name).copied()))
            });
            if let (Some(code), Some(name)) = (code, name_before(&text[..at])) {
                found.entry(code).or_insert_with(|| name.to_owned());
            }
        }
    }
    found
}

/// Returns the name of the module in a text: the word before `DEFINITIONS` and its object identifier.
fn module(text: &str) -> Option<&str> {
    let before = text[..text.find("DEFINITIONS")?].trim_end();
    let before = match before.strip_suffix('}') {
        Some(_) => before[..before.rfind('{')?].trim_end(),
        None => before,
    };
    before.split_whitespace().next_back()
}

/// Returns the name before `OPERATION`, perhaps with parameters in braces between.
fn name_before(before: &str) -> Option<&str> {
    let before = before.trim_end();
    let before = match before.strip_suffix('}') {
        Some(_) => before[..before.rfind('{')?].trim_end(),
        None => before,
    };
    let name = before.split_whitespace().next_back()?;
    name.starts_with(|it: char| it.is_ascii_lowercase()).then_some(name)
}

/// Reads `local: 45`.
fn local(text: &str) -> Option<i64> {
    let rest = text.trim_start().strip_prefix("local")?.trim_start().strip_prefix(':')?.trim_start();
    rest[..rest.find(|it: char| !it.is_ascii_digit()).unwrap_or(rest.len())].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_have_the_names_of_the_specification() {
        let map = "MAP-A {1 2} DEFINITIONS ::= BEGIN
          updateLocation  OPERATION ::= {  --Timer m
            ARGUMENT Arg RESULT Res ERRORS { a | b } CODE local:2 }
          cancelLocation OPERATION ::= { ARGUMENT Arg CODE  local : 3 } END";
        let cap = "CAP-B DEFINITIONS ::= BEGIN opcode-initialDP Code ::= local: 0
          initialDP {BOUND : bound} OPERATION ::= { ARGUMENT InitialDPArg {bound} CODE opcode-initialDP } END";
        let found = operations(Family::Map, [map, cap].into_iter());
        assert_eq!(
            found,
            HashMap::from([(2, "updateLocation".to_owned()), (3, "cancelLocation".to_owned())])
        );
        let found = operations(Family::Cap, [map, cap].into_iter());
        assert_eq!(found, HashMap::from([(0, "initialDP".to_owned())]));
        assert!(operations(Family::Inap, [map, "OPERATION ::= {"].into_iter()).is_empty());
    }

    #[test]
    fn contexts_and_subsystems_give_the_family() {
        let context = |octets: &[u8]| Family::of(&[&[0x62, 9, 6, 7][..], octets].concat(), [Some(6), None]);
        assert_eq!(context(&[4, 0, 0, 1, 0, 1, 3]), Family::Map);
        assert_eq!(context(&[4, 0, 0, 1, 0, 50, 1]), Family::Cap);
        assert_eq!(context(&[4, 0, 0, 1, 23, 3, 4]), Family::Cap);
        assert_eq!(Family::of(&[], [Some(146), None]), Family::Cap);
        assert_eq!(Family::of(&[], [None, Some(241)]), Family::Inap);
        assert_eq!(Family::of(&[], [Some(6), Some(8)]), Family::Map);
    }
}
