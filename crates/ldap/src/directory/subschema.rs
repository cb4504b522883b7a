//! The schema of a directory: what its subschema entry publishes, and what entries are checked by.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use super::entry::{Attribute, Origin, Stored, place};
use super::store::{Done, fail};
use crate::dn::Dn;
use crate::entry::{Draft, Violation};
use crate::error::{Error, ErrorKind, Result};
use crate::ldif::{Change, Reader};
use crate::proto::ResultCode;
use crate::schema::{Description, Schema};

/// The name of the subschema entry.
pub(super) const NAME: &str = "cn=subschema";

/// The kinds of descriptions: the word in a file of OpenLDAP, and the attribute of the subschema entry.
const KINDS: [(&str, &str); 5] = [
    ("ldapsyntax", "ldapSyntaxes"),
    ("matchingrule", "matchingRules"),
    ("attributetype", "attributeTypes"),
    ("objectclass", "objectClasses"),
    ("ditcontentrule", "dITContentRules"),
];

/// Descriptions of the schema that every directory has.
const STANDARD: &str = include_str!("subschema/standard.schema");

/// The descriptions of a directory.
#[derive(Clone, Debug, Default)]
pub(super) struct Subschema {
    /// Texts of files, besides those of the standards.
    added: Vec<String>,
    parsed: OnceLock<Arc<Parsed>>,
}

#[derive(Debug)]
pub(super) struct Parsed {
    pub(super) schema: Arc<Schema>,
    entry: Stored,
}

type Lists = [Vec<Description>; 5];

impl Subschema {
    /// Adds the descriptions of a text: LDIF of a subschema entry or of `cn=config`, or a file of OpenLDAP (`.schema`).
    ///
    /// # Errors
    /// A description is malformed, or there is none.
    pub(super) fn add(&mut self, text: &str) -> Result<()> {
        let mut lists = Lists::default();
        if read(text, &mut lists)? == 0 {
            return Err(Error::new(ErrorKind::Syntax, "schema: no descriptions"));
        }
        self.added.push(text.to_owned());
        self.parsed = OnceLock::new();
        Ok(())
    }

    /// The descriptions, read when they are first needed.
    pub(super) fn parsed(&self) -> Arc<Parsed> {
        let parsed = self.parsed.get_or_init(|| {
            let mut lists = Lists::default();
            for text in std::iter::once(STANDARD).chain(self.added.iter().map(String::as_str)) {
                // They were read before they were added; a test reads those of the standards.
                _ = read(text, &mut lists);
            }
            Arc::new(Parsed::new(lists))
        });
        Arc::clone(parsed)
    }
}

impl Parsed {
    fn new(lists: Lists) -> Self {
        let text = |text: &str| (text.to_owned(), Vec::new());
        let mut attributes: Vec<Attribute> = vec![text("objectClass"), text("cn"), text("entryDN")];
        let words = [&["top", "subentry", "subschema", "extensibleObject"][..], &["subschema"], &[NAME]];
        for ((_, values), words) in attributes.iter_mut().zip(words) {
            values.extend(words.iter().map(|word| word.as_bytes().to_vec()));
        }
        for ((_, name), list) in KINDS.iter().zip(&lists) {
            let values: Vec<Vec<u8>> = list.iter().map(|one| one.to_string().into_bytes()).collect();
            if !values.is_empty() {
                attributes.push(((*name).to_owned(), values));
            }
        }
        let origin = Origin { id: 0, serial: 0, changed: 0, created: 0, modified: 0 };
        let entry = Stored::new(NAME, &subschema_place(), &attributes, origin);
        Self { schema: Arc::new(Schema::of_lists(lists)), entry }
    }

    /// The subschema entry.
    pub(super) const fn entry(&self) -> &Stored {
        &self.entry
    }
}

/// The place of the subschema entry.
pub(super) fn subschema_place() -> Vec<u8> {
    place(&NAME.parse::<Dn>().unwrap_or_default())
}

/// Reads descriptions, and returns their number. One of the same object identifier replaces an earlier one.
fn read(text: &str, lists: &mut Lists) -> Result<usize> {
    let first = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
    let is_ldif = first.is_some_and(|line| {
        let line = line.to_ascii_lowercase();
        line.starts_with("dn:") || line.starts_with("version:")
    });
    if is_ldif { read_ldif(text, lists) } else { read_file(text, lists) }
}

fn put(lists: &mut Lists, kind: usize, text: &str) -> Result<()> {
    let description: Description = text.parse()?;
    if let Some(list) = lists.get_mut(kind) {
        list.retain(|known| known.oid != description.oid);
        list.push(description);
    }
    Ok(())
}

fn read_ldif(text: &str, lists: &mut Lists) -> Result<usize> {
    let mut count = 0;
    for record in Reader::new(text.as_bytes()) {
        let Change::Add(attributes) = record?.change else { continue };
        for (name, values) in attributes {
            // `cn=config` of OpenLDAP has them as olcAttributeTypes: {0}( … ).
            let bare = name.get(..3).filter(|prefix| prefix.eq_ignore_ascii_case("olc"));
            let bare = bare.map_or(name.as_str(), |prefix| name.get(prefix.len()..).unwrap_or_default());
            let kind = KINDS.iter().position(|(_, known)| known.eq_ignore_ascii_case(bare));
            let Some(kind) = kind else { continue };
            for value in values {
                let value = String::from_utf8_lossy(&value).into_owned();
                let numbered = value.strip_prefix('{').and_then(|rest| rest.split_once('}'));
                put(lists, kind, numbered.map_or(value.as_str(), |(_, rest)| rest))?;
                count += 1;
            }
        }
    }
    Ok(count)
}

/// Reads a file of OpenLDAP: directives, which go on in lines that begin with a blank.
fn read_file(text: &str, lists: &mut Lists) -> Result<usize> {
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
    let mut macros: BTreeMap<String, String> = BTreeMap::new();
    let mut count = 0;
    for (number, directive) in directives {
        let fault = |message: &str| Error::new(ErrorKind::Syntax, format!("line {number}: {message}"));
        let (word, rest) = directive.split_once(char::is_whitespace).unwrap_or((&directive, ""));
        let word = word.to_ascii_lowercase();
        if word == "objectidentifier" {
            let mut words = rest.split_whitespace();
            let (Some(name), Some(oid)) = (words.next(), words.next()) else {
                return Err(fault("objectidentifier with a name and an object identifier expected"));
            };
            macros.insert(name.to_owned(), expanded(oid, &macros));
            continue;
        }
        let kind = KINDS.iter().position(|(known, _)| *known == word || format!("{known}s") == word);
        let kind = kind.ok_or_else(|| fault(&format!("unknown word `{word:.100}`")))?;
        let text = if macros.is_empty() { rest.to_owned() } else { with_oids(rest, &macros) };
        put(lists, kind, &text).map_err(|error| fault(error.message()))?;
        count += 1;
    }
    Ok(count)
}

/// An object identifier whose begin may be a name: `base:1.2`.
fn expanded(oid: &str, macros: &BTreeMap<String, String>) -> String {
    let (name, rest) = oid.split_once(':').map_or((oid, None), |(name, rest)| (name, Some(rest)));
    match (macros.get(name), rest) {
        (Some(base), Some(rest)) => format!("{base}.{rest}"),
        (Some(base), None) => base.clone(),
        (None, _) => oid.to_owned(),
    }
}

/// A description whose own object identifier, and that of its syntax, are written out.
fn with_oids(text: &str, macros: &BTreeMap<String, String>) -> String {
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

/// Checks an entry by the schema. Attributes that the directory keeps itself may be in each.
///
/// # Errors
/// objectClassViolation (65), undefinedAttributeType (17), constraintViolation (19) or invalidAttributeSyntax (21), with what is wrong.
pub(super) fn check(schema: &Arc<Schema>, name: &str, attributes: &[Attribute]) -> Done {
    let draft = Draft::new(name, attributes.iter().map(|(name, values)| (name.clone(), values.clone())));
    let is_operational = |name: &str| {
        let name = name.split(';').next().unwrap_or_default();
        let usage = schema.attribute_type(name).and_then(|one| one.values("USAGE").first().cloned());
        usage.is_some_and(|usage| !usage.eq_ignore_ascii_case("userApplications"))
    };
    let found = draft.with_schema(Arc::clone(schema)).check();
    let broken = found.into_iter().find(|violation| match violation {
        Violation::IllegalAttribute { attribute } => !is_operational(attribute),
        // A class stands for those from which it is derived (X.501 8.3.2): they need not be listed.
        Violation::MissingSuperior { .. } => false,
        _ => true,
    });
    let Some(violation) = broken else { return Ok(()) };
    let code = match &violation {
        Violation::UnknownAttribute { .. } => ResultCode::UNDEFINED_ATTRIBUTE_TYPE,
        Violation::SingleValue { .. } | Violation::NotUserModifiable { .. } => {
            ResultCode::CONSTRAINT_VIOLATION
        }
        Violation::BadSyntax { .. } => ResultCode::INVALID_ATTRIBUTE_SYNTAX,
        _ => ResultCode::OBJECT_CLASS_VIOLATION,
    };
    fail(code, violation.to_string())
}
