//! The classes of the runtime and of Java that a file imports.

/// Whether a text has a word.
pub(super) fn mentions(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    text.match_indices(word).any(|(at, _)| {
        !text[..at].ends_with(is_part)
            && !text[at + word.len()..].starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
    })
}

const RUNTIME: &str = "io.tercet.runtime";

/// The classes that printed text may use.
pub(super) const IMPORTS: &[(&str, &str)] = &[
    ("java.math", "BigInteger"),
    ("java.util", "Arrays"),
    ("java.util", "List"),
    ("java.util", "Objects"),
    ("java.util.function", "Consumer"),
    (RUNTIME, "Asn1Exception"),
    (RUNTIME, "Asn1Real"),
    (RUNTIME, "Asn1Type"),
    (RUNTIME, "Asn1Value"),
    (RUNTIME, "BerReader"),
    (RUNTIME, "BerTag"),
    (RUNTIME, "BerWriter"),
    (RUNTIME, "BitString"),
    (RUNTIME, "Components"),
    (RUNTIME, "Contained"),
    (RUNTIME, "ErrorKind"),
    (RUNTIME, "JerItems"),
    (RUNTIME, "JerMembers"),
    (RUNTIME, "JerReader"),
    (RUNTIME, "Lists"),
    (RUNTIME, "Null"),
    (RUNTIME, "Nullable"),
    (RUNTIME, "ObjectIdentifier"),
    (RUNTIME, "Octets"),
    (RUNTIME, "OerReader"),
    (RUNTIME, "OerTime"),
    (RUNTIME, "OerWriter"),
    (RUNTIME, "PerAdditions"),
    (RUNTIME, "PerAlphabet"),
    (RUNTIME, "PerReader"),
    (RUNTIME, "PerSize"),
    (RUNTIME, "PerTime"),
    (RUNTIME, "PerWhole"),
    (RUNTIME, "PerWriter"),
    (RUNTIME, "RelativeObjectIdentifier"),
    (RUNTIME, "Rules"),
    (RUNTIME, "TableKey"),
    (RUNTIME, "TableRows"),
    (RUNTIME, "UnknownAdditions"),
    (RUNTIME, "UnknownAlternative"),
    (RUNTIME, "ValueWriter"),
];
