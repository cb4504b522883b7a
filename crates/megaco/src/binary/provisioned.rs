//! Ids of terminations that both sides have agreed on.

use std::collections::HashMap;
use std::fmt;

use super::termination::Id;
use crate::octets::Name;

/// Names of terminations and their octets in the binary encodings, as gateway and controller have them configured.
///
/// H.248.1 (A.1) gives the id of a termination 1 to 8 octets and leaves their meaning to the gateway. Names that are bits in
/// [`Levels`](super::Levels) or short enough have a form without this table; a longer name needs an entry, since 8 octets have no
/// room for its characters.
///
/// ```
/// use tercet_megaco::binary::{Binary, Rules};
/// use tercet_megaco::text::read_message;
///
/// let mut binary = Binary::default();
/// binary.provisioned.add("subscriber/line/0001", &[0x10, 0, 0, 1])?;
///
/// let message = read_message(b"!/1 mg T=1{C=1{S=subscriber/line/0001}}")?;
/// let mut octets = Vec::new();
/// binary.encode(&message, Rules::Ber, &mut octets)?;
/// assert_eq!(binary.decode(&octets, Rules::Ber)?, message);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Provisioned {
    by_name: HashMap<Box<[u8]>, Entry>,
    by_id: HashMap<Box<[u8]>, Vec<(Wildcards, Name<'static>)>>,
}

type Wildcards = Box<[[u8; 1]]>;

#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    wildcards: Wildcards,
    id: Box<[u8]>,
}

/// Why a termination has not been added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BadTermination {
    /// The name is not one of a termination.
    Name,
    /// The id does not have 1 to 8 octets.
    Length,
    /// The name has an id already.
    NameTaken,
    /// The id belongs to another name.
    IdTaken,
}

impl fmt::Display for BadTermination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Name => "not the name of a termination",
            Self::Length => "an id has 1 to 8 bytes",
            Self::NameTaken => "the name has an id already",
            Self::IdTaken => "the id belongs to another name",
        })
    }
}

impl std::error::Error for BadTermination {}

impl Provisioned {
    /// Adds the octets of a name without wildcards.
    ///
    /// # Errors
    /// A bad name or id, or one that is there already.
    pub fn add(&mut self, name: &str, id: &[u8]) -> Result<(), BadTermination> {
        self.add_with_wildcards(name, &[], id)
    }

    /// Adds the octets of a name with wildcards, and the wildcard fields before them (A.1.1).
    ///
    /// # Errors
    /// A bad name or id, or one that is there already.
    pub fn add_with_wildcards(
        &mut self,
        name: &str,
        wildcards: &[u8],
        id: &[u8],
    ) -> Result<(), BadTermination> {
        let name = name.to_ascii_lowercase().into_bytes();
        if name.is_empty() || !name.iter().all(|&octet| crate::text::scan::is_safe(octet)) {
            return Err(BadTermination::Name);
        }
        if !(1..=8).contains(&id.len()) {
            return Err(BadTermination::Length);
        }
        if self.by_name.contains_key(&name[..]) {
            return Err(BadTermination::NameTaken);
        }
        let wildcards: Wildcards = wildcards.iter().map(|&field| [field]).collect();
        let same = self.by_id.entry(id.into()).or_default();
        if same.iter().any(|(known, _)| *known == wildcards) {
            return Err(BadTermination::IdTaken);
        }
        same.push((wildcards.clone(), Name::from(name.clone())));
        self.by_name.insert(name.into(), Entry { wildcards, id: id.into() });
        Ok(())
    }

    /// Wildcards and id of a name, if it has been added.
    pub(super) fn encode(&self, name: &Name<'_>) -> Option<(Vec<[u8; 1]>, Id)> {
        if self.by_name.is_empty() {
            return None;
        }
        let entry = self.by_name.get(&name.lower().collect::<Vec<u8>>()[..])?;
        Some((entry.wildcards.to_vec(), Id::of(&entry.id)?))
    }

    /// The name of wildcards and an id, if it has been added.
    pub(super) fn decode(&self, wildcards: &[[u8; 1]], id: &[u8]) -> Option<&[u8]> {
        if self.by_id.is_empty() {
            return None;
        }
        let same = self.by_id.get(id)?;
        same.iter().find(|(known, _)| **known == *wildcards).map(|(_, name)| &name[..])
    }
}
