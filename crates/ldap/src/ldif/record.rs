//! What a record of LDIF says.

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
