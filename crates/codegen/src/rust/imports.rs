//! The names that the printed text imports.
//!
//! A printer writes each as a character of its own, which no other text has, so that what is printed tells what it uses.

/// What the text may import, by module and in the order of its `use` lines: the character and the name.
const IMPORTS: &[(&str, &[(char, &str)])] = &[
    ("core", &[(FMT, "fmt")]),
    ("alloc::boxed", &[(BOX, "Box")]),
    ("alloc::vec", &[(VEC, "Vec")]),
    (
        "tercet_runtime::codec",
        &[
            (CONTAINED, "Contained"),
            (KEY, "Key"),
            (NOTATION, "Notation"),
            (SEQUENCE_OF, "SequenceOf"),
            (UNKNOWN_ADDITIONS, "UnknownAdditions"),
            (UNKNOWN_ALTERNATIVE, "UnknownAlternative"),
            (AT, "at"),
            (BER, "ber"),
            (OER, "oer"),
            (PARTS, "parts"),
            (PER, "per"),
        ],
    ),
    ("tercet_runtime::text", &[(STRING_KIND, "StringKind")]),
    (
        "tercet_runtime::types",
        &[
            (BIT_STR, "BitStr"),
            (BIT_STRING, "BitString"),
            (EXACT_REAL, "ExactReal"),
            (FIXED_BITS, "FixedBits"),
            (INTEGER, "Integer"),
            (INTEGER_REF, "IntegerRef"),
            (OBJECT_IDENTIFIER, "ObjectIdentifier"),
            (OCTETS, "Octets"),
            (OID_REF, "OidRef"),
            (RELATIVE_OBJECT_IDENTIFIER, "RelativeObjectIdentifier"),
            (RELATIVE_OID_REF, "RelativeOidRef"),
            (TEXT, "Text"),
            (TEXT_REF, "TextRef"),
            (TIME_TYPE, "TimeType"),
        ],
    ),
    (
        "tercet_runtime",
        &[
            (ERROR, "Error"),
            (ERROR_KIND, "ErrorKind"),
            (RESULT, "Result"),
            (TAG, "Tag"),
            (CODEC, "codec"),
            (TYPES, "types"),
        ],
    ),
];

pub(super) const FMT: char = '\u{E000}';
pub(super) const BOX: char = '\u{E001}';
pub(super) const VEC: char = '\u{E002}';
pub(super) const CONTAINED: char = '\u{E003}';
pub(super) const KEY: char = '\u{E004}';
pub(super) const NOTATION: char = '\u{E005}';
pub(super) const SEQUENCE_OF: char = '\u{E006}';
pub(super) const UNKNOWN_ADDITIONS: char = '\u{E007}';
pub(super) const UNKNOWN_ALTERNATIVE: char = '\u{E008}';
pub(super) const AT: char = '\u{E009}';
pub(super) const BER: char = '\u{E00A}';
pub(super) const OER: char = '\u{E00B}';
pub(super) const PARTS: char = '\u{E00C}';
pub(super) const PER: char = '\u{E00D}';
pub(super) const STRING_KIND: char = '\u{E00E}';
pub(super) const BIT_STR: char = '\u{E00F}';
pub(super) const BIT_STRING: char = '\u{E010}';
pub(super) const EXACT_REAL: char = '\u{E011}';
pub(super) const FIXED_BITS: char = '\u{E012}';
pub(super) const INTEGER: char = '\u{E013}';
pub(super) const INTEGER_REF: char = '\u{E014}';
pub(super) const OBJECT_IDENTIFIER: char = '\u{E015}';
pub(super) const OCTETS: char = '\u{E016}';
pub(super) const OID_REF: char = '\u{E017}';
pub(super) const RELATIVE_OBJECT_IDENTIFIER: char = '\u{E018}';
pub(super) const RELATIVE_OID_REF: char = '\u{E019}';
pub(super) const TEXT: char = '\u{E01A}';
pub(super) const TEXT_REF: char = '\u{E01B}';
pub(super) const TIME_TYPE: char = '\u{E01C}';
pub(super) const ERROR: char = '\u{E01D}';
pub(super) const ERROR_KIND: char = '\u{E01E}';
pub(super) const RESULT: char = '\u{E01F}';
pub(super) const TAG: char = '\u{E020}';
pub(super) const CODEC: char = '\u{E021}';
pub(super) const TYPES: char = '\u{E022}';

/// The names that a text uses.
#[derive(Debug, Default)]
pub(super) struct Imports {
    /// A bit for each character, the first the lowest.
    used: u64,
}

impl Imports {
    /// Returns code with its names spelled, and notes which they are.
    pub(super) fn spell(&mut self, code: &str) -> String {
        let mut spelled = String::with_capacity(code.len());
        for c in code.chars() {
            match name(c) {
                Some(name) => {
                    self.used |= 1 << (u32::from(c) - u32::from(FMT));
                    spelled.push_str(name);
                }
                None => spelled.push(c),
            }
        }
        spelled
    }

    /// Returns the `use` lines of the names that were spelled.
    pub(super) fn lines(&self) -> Vec<String> {
        let is_used = |c: char| self.used >> (u32::from(c) - u32::from(FMT)) & 1 != 0;
        let line = |(module, names): &(&str, &[(char, &str)])| {
            let used: Vec<&str> = names.iter().filter(|(c, _)| is_used(*c)).map(|(_, name)| *name).collect();
            match used[..] {
                [] => None,
                [name] => Some(format!("use {module}::{name};")),
                _ => Some(format!("use {module}::{{{}}};", used.join(", "))),
            }
        };
        IMPORTS.iter().filter_map(line).collect()
    }
}

/// Returns the characters that code has in the printed text.
pub(super) fn length(code: &str) -> usize {
    code.chars().map(|c| name(c).map_or_else(|| c.len_utf8(), str::len)).sum()
}

/// Returns the name that a character stands for.
fn name(c: char) -> Option<&'static str> {
    if !(FMT..=TYPES).contains(&c) {
        return None;
    }
    let names = IMPORTS.iter().flat_map(|(_, names)| *names);
    names.clone().find(|(known, _)| *known == c).map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_has_a_character_of_its_own() {
        let names: Vec<char> = IMPORTS.iter().flat_map(|(_, names)| names.iter().map(|(c, _)| *c)).collect();
        assert_eq!(names, (FMT..=TYPES).collect::<Vec<char>>());
    }

    #[test]
    fn what_is_spelled_is_imported() {
        let mut imports = Imports::default();
        assert_eq!(imports.lines(), Vec::<String>::new());
        let code = format!("Err({ERROR}::new({ERROR_KIND}::Unsupported, 0)), // Text");
        assert_eq!(imports.spell(&code), "Err(Error::new(ErrorKind::Unsupported, 0)), // Text");
        assert_eq!(length(&code), "Err(Error::new(ErrorKind::Unsupported, 0)), // Text".len());
        imports.spell(&format!("{BOX}::new(v)"));
        assert_eq!(imports.lines(), ["use alloc::boxed::Box;", "use tercet_runtime::{Error, ErrorKind};"]);
    }
}
