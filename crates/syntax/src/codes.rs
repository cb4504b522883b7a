//! Every code that this crate gives, with what it means. The later stages have ranges of their own.

/// Codes and explanations, sorted. `E00` lexical items, `E01` grammar, `W01` things set aside; `L` codes are leniencies:
/// warnings, and errors when [`crate::ParseOptions::lenient`] is off.
pub const CODES: &[(&str, &str)] = &[
    ("E0001", "a `/* */` comment is not closed (X.680 §12.6.4)"),
    ("E0002", "a character string is not closed (X.680 §12.14)"),
    ("E0003", "a binary or hexadecimal string is malformed (X.680 §12.10, §12.12)"),
    ("E0004", "a binary string holds a digit other than 0 and 1 (X.680 §12.10)"),
    ("E0005", "`&` is not followed by a name (X.681 §7)"),
    ("E0006", "an XML value is not closed (X.680 §16.3)"),
    ("E0007", "characters that begin no lexical item (X.680 §11)"),
    ("E0101", "something else was expected here"),
    ("E0102", "an opening brace has no partner"),
    ("E0103", "types, values or constraints nest too deep"),
    ("E0104", "the text holds no module and no assignment"),
    ("E0105", "a MACRO has no END"),
    ("E0106", "the formatter cannot lay this text out safely"),
    ("E0107", "the element of a value in XML notation names no type (X.680 §16.2)"),
    ("L0101", "`_` in a name; taken as part of it"),
    ("L0102", "a soft or typographic hyphen; taken as a hyphen"),
    ("L0103", "a name ends with a hyphen; taken as part of it"),
    ("L0104", "a name begins with a digit; taken as an identifier"),
    ("L0105", "`:=` or `:: =`; read as `::=`"),
    ("L0106", "a row of hyphens leaves one over; taken as part of the comment"),
    ("L0107", "`//`; taken as a comment to the end of the line"),
    ("L0108", "`'…'h`, `'…'b` or doubled apostrophes; read as `'…'H`, `'…'B`"),
    ("L0109", "an unusual space or control character; taken as a space"),
    ("L0110", "the character `…`; taken as an ellipsis"),
    ("L0111", "typographic quotes; taken as a character string"),
    ("L0112", "an en or em dash begins a comment, as word processors make of `--`; taken as `--`"),
    ("L0113", "words follow `----`, which is a whole comment (X.680 §12.6.3); taken as part of the comment"),
    ("L0114", "prose outside of `-- ASN1START` and `-- ASN1STOP`; ignored"),
    ("L0201", "a comma is missing; assumed"),
    ("L0202", "a comma is doubled, or between components of an OID; ignored"),
    ("L0203", "a comma or semicolon at the start or end of a list; ignored"),
    ("L0204", "a reserved word in another case; accepted"),
    ("L0205", "a type's name begins with a small letter; accepted"),
    ("L0206", "`SIZE` without parentheses around it; read as a constraint"),
    ("L0207", "an extension marker too many; ignored"),
    ("L0208", "an identifier begins with a capital letter; accepted"),
    ("L0209", "`OPTIONAL` is given twice; ignored"),
    ("L0210", "a value's name begins with a capital letter; accepted"),
    ("L0211", "a set has no element; taken as empty"),
    ("L0212", "a comma between the elements of a set; read as `|`"),
    ("L0213", "`...` in a range; read as `..`"),
    ("L0214", "`UNIQUE` after `OPTIONAL` or `DEFAULT`; accepted"),
    ("L0215", "`:` is missing in a CHOICE value (X.208 allowed it); assumed"),
    ("L0216", "parentheses around the items of an ENUMERATED; read as braces"),
    ("L0217", "a value in braces has no type; taken as OBJECT IDENTIFIER"),
    ("L0218", "parentheses around a tag; read as square brackets"),
    ("L0219", "parentheses around components or alternatives; read as braces"),
    ("L0301", "no module header; the module is named after the file"),
    ("L0302", "`END` is missing; assumed"),
    ("L0303", "a reserved word is defined; taken as a name, or dropped when it names a built-in type"),
    ("L0304", "text before a module; ignored"),
    ("L0305", "text after the last `END`; ignored"),
    ("L0306", "a module's name begins with a small letter; accepted"),
    ("L0307", "`::=` or `BEGIN` is missing in the module's header; assumed"),
    ("L0308", "a comma or semicolon between assignments or imports; ignored"),
    ("L0309", "`;` is missing after EXPORTS or IMPORTS; assumed"),
    ("L0310", "`::=` is missing in a type assignment; assumed"),
    ("L0311", "a set or object in capitals without braces; taken as a value"),
    ("W0107", "an ENCODING-CONTROL section for other rules than XER and JER is kept unread"),
];

#[cfg(test)]
mod tests {
    use super::CODES;
    use std::collections::BTreeSet;

    #[test]
    fn each_code_in_the_sources_is_explained() {
        let sources = [
            include_str!("lexer.rs"),
            include_str!("parser.rs"),
            include_str!("fmt.rs"),
            include_str!("grammar/assignments.rs"),
            include_str!("grammar/constraints.rs"),
            include_str!("grammar/module.rs"),
            include_str!("grammar/objects.rs"),
            include_str!("grammar/parameters.rs"),
            include_str!("grammar/references.rs"),
            include_str!("grammar/types.rs"),
            include_str!("grammar/values.rs"),
        ];
        let used: BTreeSet<&str> = sources
            .iter()
            .flat_map(|text| text.split('"'))
            .filter(|word| {
                word.len() == 5
                    && word.starts_with(['E', 'L', 'W'])
                    && word[1..].bytes().all(|b| b.is_ascii_digit())
            })
            .collect();
        let told: Vec<&str> = CODES.iter().map(|(code, _)| *code).collect();
        assert_eq!(used.into_iter().collect::<Vec<_>>(), told);
    }
}
