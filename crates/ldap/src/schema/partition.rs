//! Entries of the schema partition of Active Directory (MS-ADTS 3.1.1.2) as descriptions of RFC 4512.

use super::{Description, Field};
use crate::error::{Error, ErrorKind, Result};

type Values<'v> = &'v dyn Fn(&str) -> Vec<Vec<u8>>;

fn texts(values: Values<'_>, names: &[&str]) -> Vec<String> {
    let all = names.iter().flat_map(|name| values(name));
    let mut texts: Vec<String> = Vec::new();
    for text in all.map(|value| String::from_utf8_lossy(&value).into_owned()) {
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts
}

fn one(values: Values<'_>, name: &str) -> Result<String> {
    let missing = || Error::new(ErrorKind::Syntax, format!("schema: an entry without `{name}`"));
    texts(values, &[name]).into_iter().next().ok_or_else(missing)
}

fn is_true(values: Values<'_>, name: &str) -> bool {
    values(name).iter().any(|value| value.eq_ignore_ascii_case(b"TRUE"))
}

fn oids(fields: &mut Vec<(String, Field)>, word: &str, names: Vec<String>) {
    if !names.is_empty() {
        fields.push((word.to_owned(), Field::Oids(names)));
    }
}

/// An entry of the class `attributeSchema`.
pub(super) fn attribute_type(values: Values<'_>) -> Result<Description> {
    let name = one(values, "lDAPDisplayName")?;
    let mut fields = vec![("NAME".to_owned(), Field::Texts(vec![name]))];
    if is_true(values, "isSingleValued") {
        fields.push(("SINGLE-VALUE".to_owned(), Field::Flag));
    }
    if is_true(values, "systemOnly") {
        fields.push(("NO-USER-MODIFICATION".to_owned(), Field::Flag));
    }
    Ok(Description { oid: one(values, "attributeID")?, fields })
}

/// An entry of the class `classSchema`.
pub(super) fn object_class(values: Values<'_>) -> Result<Description> {
    let name = one(values, "lDAPDisplayName")?;
    let mut fields = vec![("NAME".to_owned(), Field::Texts(vec![name.clone()]))];
    // The class `top` is its own superior there. What an auxiliary class of a class allows, the class allows.
    let superiors = texts(values, &["subClassOf", "systemAuxiliaryClass", "auxiliaryClass"]);
    oids(&mut fields, "SUP", superiors.into_iter().filter(|superior| *superior != name).collect());
    let kind = match texts(values, &["objectClassCategory"]).first().map(String::as_str) {
        Some("2") => "ABSTRACT",
        Some("3") => "AUXILIARY",
        _ => "STRUCTURAL",
    };
    fields.push((kind.to_owned(), Field::Flag));
    oids(&mut fields, "MUST", texts(values, &["systemMustContain", "mustContain"]));
    oids(&mut fields, "MAY", texts(values, &["systemMayContain", "mayContain"]));
    Ok(Description { oid: one(values, "governsID")?, fields })
}
