//! Rust names for ASN.1 names.

use crate::names::{Style, upper_camel, words};

/// The names of Rust.
pub(super) static STYLE: Style = Style {
    taken: TAKEN,
    ty: upper_camel,
    component: snake,
    taken_components: &[],
    alternative: upper_camel,
    taken_alternatives: &["Unknown"],
    other_row: "Other",
    item: upper_camel,
    taken_items: &["Unknown", "UnknownAddition"],
    additions: "extension_additions",
    file_suffix: None,
};

/// A component's name: `iE-Extensions` is `i_e_extensions`.
pub(crate) fn snake(name: &str) -> String {
    let mut out = words(name).collect::<Vec<_>>().join("_").to_lowercase();
    if out.starts_with(|c: char| c.is_ascii_digit()) {
        out.insert(0, '_');
    }
    match out.as_str() {
        "self" | "super" | "crate" | "_" | "" => out + "_",
        word if KEYWORDS.contains(&word) => format!("r#{out}"),
        _ => out,
    }
}

const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else",
    "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro",
    "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "static", "struct", "trait",
    "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// Whether a name has to be written with `r#`.
pub(crate) fn is_keyword(name: &str) -> bool {
    KEYWORDS.contains(&name) || ["self", "Self", "super", "crate"].contains(&name)
}

/// Type names that the printed text uses for other things.
const TAKEN: &[&str] = &[
    "Self",
    "Box",
    "Vec",
    "Option",
    "Some",
    "None",
    "Ok",
    "Err",
    "Result",
    "Error",
    "ErrorKind",
    "String",
    "Tag",
    "Integer",
    "IntegerRef",
    "Octets",
    "Text",
    "TextRef",
    "TimeType",
    "StringKind",
    "BitString",
    "BitStr",
    "FixedBits",
    "ExactReal",
    "ObjectIdentifier",
    "OidRef",
    "RelativeObjectIdentifier",
    "RelativeOidRef",
    "Contained",
    "UnknownAlternative",
    "Key",
    "Notation",
    "SequenceOf",
    "UnknownAdditions",
    "ber",
    "oer",
    "per",
    "fmt",
    "codec",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for (name, camel, snake_case) in [
            ("AMF-UE-NGAP-ID", "AmfUeNgapId", "amf_ue_ngap_id"),
            ("iE-Extensions", "IEExtensions", "i_e_extensions"),
            ("PDUSessionID", "PduSessionId", "pdu_session_id"),
            ("type", "Type", "r#type"),
            ("self", "Self_", "self_"),
            ("rrc-Setup-r16", "RrcSetupR16", "rrc_setup_r16"),
            ("n1", "N1", "n1"),
            ("T61String", "T61String", "t61_string"),
        ] {
            assert_eq!((upper_camel(name), snake(name)), (camel.to_owned(), snake_case.to_owned()), "{name}");
        }
    }
}
