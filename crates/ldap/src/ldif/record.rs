//! What a record of LDIF says.

use crate::dn::Dn;
use crate::error::Result;
use crate::filter::Evaluation;
use crate::generated::Filter;
use crate::proto::Control;

/// A record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The name of the entry.
    pub dn: String,
    /// Controls for a change.
    pub controls: Vec<Control>,
    /// The change; a record of content is one that adds.
    pub change: Change,
    /// Whether the record says `changetype`.
    pub is_change: bool,
}

impl Record {
    /// Checks whether a filter selects the entry of a record of content; changes are never selected. A name of an attribute without
    /// options stands for those with options too.
    ///
    /// # Errors
    /// The name of the entry is malformed.
    pub fn is_selected(&self, filter: &Filter<'_>) -> Result<bool> {
        let Change::Add(attributes) = &self.change else { return Ok(false) };
        is_selected(&self.dn, attributes, filter)
    }
}

/// Checks whether a filter selects an entry.
pub(super) fn is_selected(
    dn: &str,
    attributes: &[(String, Vec<Vec<u8>>)],
    filter: &Filter<'_>,
) -> Result<bool> {
    let dn: Dn = dn.parse()?;
    let values = |name: &str| {
        let mut all = attributes.iter().filter(|(known, _)| is_asked(known, name)).peekable();
        all.peek()?;
        Some(all.flat_map(|(_, values)| values.iter().map(Vec::as_slice)).collect())
    };
    Ok(filter.evaluate(&dn, &values) == Evaluation::True)
}

/// Returns whether a description is the one that is asked for, or has options beside it.
pub(super) fn is_asked(known: &str, name: &str) -> bool {
    known.eq_ignore_ascii_case(name)
        || known.split_once(';').is_some_and(|(base, _)| base.eq_ignore_ascii_case(name))
}

/// A change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The entry with its attributes: each description once, in the order in which they first came.
    Add(Vec<(String, Vec<Vec<u8>>)>),
    /// The entry goes.
    Delete,
    /// Attributes change.
    Modify(Vec<RecordModification>),
    /// The entry gets another name.
    ModifyDn {
        /// `newrdn`
        new_rdn: String,
        /// `deleteoldrdn`
        delete_old_rdn: bool,
        /// `newsuperior`
        new_superior: Option<String>,
    },
}

/// A change of one attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordModification {
    /// What happens to the values.
    pub kind: ModificationKind,
    /// The attribute description.
    pub attribute: String,
    /// The values.
    pub values: Vec<Vec<u8>>,
}

/// What happens to values of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ModificationKind {
    /// They are added.
    Add,
    /// They go; all, if none is named.
    Delete,
    /// They take the place of all others.
    Replace,
    /// They are added up (RFC 4525).
    Increment,
}

impl ModificationKind {
    /// The word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Delete => "delete",
            Self::Replace => "replace",
            Self::Increment => "increment",
        }
    }

    /// The kind with this word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        let all = [Self::Add, Self::Delete, Self::Replace, Self::Increment];
        all.into_iter().find(|kind| kind.word().eq_ignore_ascii_case(word))
    }
}
