//! Files with descriptions: LDIF of subschema entries and of `cn=config`, and the files of OpenLDAP (`.schema`).

use std::collections::BTreeMap;

use super::Description;
use crate::error::{Error, ErrorKind, Result};
#[cfg(feature = "directory")]
use crate::ldif::{Change, Reader};

/// The kinds of descriptions: the word in a file of OpenLDAP, and the attribute of the subschema entry.
pub(crate) const KINDS: [(&str, &str); 5] = [
    ("ldapsyntax", "ldapSyntaxes"),
    ("matchingrule", "matchingRules"),
    ("attributetype", "attributeTypes"),
    ("objectclass", "objectClasses"),
    ("ditcontentrule", "dITContentRules"),
];

/// A description with the place of its kind in [`KINDS`].
pub(crate) type OfKind = (usize, Description);

/// Names of object identifiers.
pub(super) type Macros = BTreeMap<String, String>;

/// Reads the descriptions of a text. Changes in LDIF are skipped.
///
/// # Errors
/// The LDIF, a directive or a description is malformed.
#[cfg(feature = "directory")]
pub(crate) fn read(text: &str) -> Result<Vec<OfKind>> {
    if !is_ldif(text) {
        return read_directives(text);
    }
    let (mut macros, mut descriptions) = (Macros::new(), Vec::new());
    for record in Reader::new(text.as_bytes()) {
        if let Change::Add(attributes) = record?.change {
            descriptions.extend(of_attributes(&attributes, &mut macros)?);
        }
    }
    Ok(descriptions)
}

/// Reports whether a text is LDIF, by its first line.
pub(super) fn is_ldif(text: &str) -> bool {
    let first = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
    first.is_some_and(|line| {
        let line = line.to_ascii_lowercase();
        line.starts_with("dn:") || line.starts_with("version:")
    })
}

/// Returns the descriptions in the attributes of an entry.
///
/// # Errors
/// A description is malformed.
pub(super) fn of_attributes(
    attributes: &[(String, Vec<Vec<u8>>)],
    macros: &mut Macros,
) -> Result<Vec<OfKind>> {
    let mut descriptions = Vec::new();
    for (name, values) in attributes {
        // `cn=config` of OpenLDAP has them as olcAttributeTypes: {0}( … ).
        let prefix = name.get(..3).filter(|prefix| prefix.eq_ignore_ascii_case("olc"));
        let bare = prefix.map_or(name.as_str(), |prefix| name.get(prefix.len()..).unwrap_or_default());
        let kind = KINDS.iter().position(|(_, known)| known.eq_ignore_ascii_case(bare));
        let is_macro = prefix.is_some() && bare.eq_ignore_ascii_case("ObjectIdentifier");
        if kind.is_none() && !is_macro {
            continue;
        }
        for value in values {
            let value = String::from_utf8_lossy(value);
            let numbered = value.strip_prefix('{').and_then(|rest| rest.split_once('}'));
            let value = numbered.map_or(&*value, |(_, rest)| rest);
            match kind {
                Some(kind) => descriptions.push((kind, with_oids(value, macros).parse()?)),
                None => _ = define(value, macros),
            }
        }
    }
    Ok(descriptions)
}

/// Adds the name of an object identifier; returns `None` if the text has no two words.
fn define(text: &str, macros: &mut Macros) -> Option<()> {
    let mut words = text.split_whitespace();
    let (name, oid) = words.next().zip(words.next())?;
    let oid = expanded(oid, macros);
    macros.insert(name.to_owned(), oid);
    Some(())
}

/// Reads a file of OpenLDAP: directives, which go on in lines that begin with a blank.
///
/// # Errors
/// A directive or a description is malformed.
pub(super) fn read_directives(text: &str) -> Result<Vec<OfKind>> {
    let mut directives: Vec<(usize, String)> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.starts_with('#') || line.trim().is_empty() {
            continue;
        }
        match directives.last_mut() {
            Some((_, directive)) if line.starts_with(char::is_whitespace) => {
                directive.push(' ');
                directive.push_str(line.trim());
            }
            _ => directives.push((index + 1, line.trim().to_owned())),
        }
    }
    let (mut macros, mut descriptions) = (Macros::new(), Vec::new());
    for (number, directive) in directives {
        let fault = |message: &str| Error::new(ErrorKind::Syntax, format!("line {number}: {message}"));
        let (word, rest) = directive.split_once(char::is_whitespace).unwrap_or((&directive, ""));
        let word = word.to_ascii_lowercase();
        if word == "objectidentifier" {
            define(rest, &mut macros)
                .ok_or_else(|| fault("objectidentifier with a name and an object identifier expected"))?;
            continue;
        }
        let kind = KINDS.iter().position(|(known, _)| *known == word || format!("{known}s") == word);
        let kind = kind.ok_or_else(|| fault(&format!("unknown word `{word:.100}`")))?;
        let description = with_oids(rest, &macros).parse();
        descriptions.push((kind, description.map_err(|error: Error| fault(error.message()))?));
    }
    Ok(descriptions)
}

/// An object identifier whose begin may be a name: `base:1.2`.
fn expanded(oid: &str, macros: &Macros) -> String {
    let (name, rest) = oid.split_once(':').map_or((oid, None), |(name, rest)| (name, Some(rest)));
    match (macros.get(name), rest) {
        (Some(base), Some(rest)) => format!("{base}.{rest}"),
        (Some(base), None) => base.clone(),
        (None, _) => oid.to_owned(),
    }
}

/// A description whose own object identifier, and that of its syntax, are written out.
fn with_oids(text: &str, macros: &Macros) -> String {
    if macros.is_empty() {
        return text.to_owned();
    }
    let spaced = text.replacen('(', " ( ", 1);
    let mut out = String::with_capacity(spaced.len());
    let mut before = "";
    for (index, word) in spaced.split_whitespace().enumerate() {
        if index > 0 {
            out.push(' ');
        }
        if index == 1 || before.eq_ignore_ascii_case("SYNTAX") {
            let (oid, length) = word
                .split_once('{')
                .map_or((word, ""), |(oid, _)| (oid, word.get(oid.len()..).unwrap_or_default()));
            out.push_str(&expanded(oid, macros));
            out.push_str(length);
        } else {
            out.push_str(word);
        }
        before = word;
    }
    out
}
