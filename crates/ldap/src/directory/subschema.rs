//! The schema of a directory: what its subschema entry publishes, and what entries are checked by.

use std::sync::{Arc, OnceLock};

use super::entry::{Attribute, Origin, Stored, place};
use super::store::{Done, fail};
use crate::dn::Dn;
use crate::entry::{Draft, Violation};
use crate::error::{Error, ErrorKind, Result};
use crate::proto::ResultCode;
use crate::schema::files::{self, KINDS};
use crate::schema::{Description, Schema};

/// The name of the subschema entry.
pub(super) const NAME: &str = "cn=subschema";

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

/// The schema of the standards.
pub(super) fn standard() -> Arc<Schema> {
    static STANDARD: OnceLock<Arc<Schema>> = OnceLock::new();
    Arc::clone(STANDARD.get_or_init(|| Arc::clone(&Subschema::default().parsed().schema)))
}

/// The place of the subschema entry.
pub(super) fn subschema_place() -> Vec<u8> {
    place(&NAME.parse::<Dn>().unwrap_or_default())
}

/// Reads descriptions, and returns their number. One of the same object identifier replaces an earlier one.
fn read(text: &str, lists: &mut Lists) -> Result<usize> {
    let descriptions = files::read(text)?;
    let count = descriptions.len();
    for (kind, description) in descriptions {
        if let Some(list) = lists.get_mut(kind) {
            list.retain(|known| known.oid != description.oid);
            list.push(description);
        }
    }
    Ok(count)
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
