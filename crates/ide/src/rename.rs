//! Other names for what is defined.

use crate::{Definition, Kind, Snapshot};
use std::fmt;
use tercet_syntax::{Keyword, Span};

/// Why a name cannot be another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RenameError {
    /// There is no name that the texts define.
    NoName,
    /// The new name is none of X.680 clause 12: what it has to be.
    Malformed(&'static str),
    /// The new name is a reserved word (X.680 §12.38).
    Reserved,
    /// The new name is taken, here.
    Taken(Span),
}

impl fmt::Display for RenameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoName => f.write_str("no name that is defined in these specifications"),
            Self::Malformed(what) => write!(f, "not a name: {what}"),
            Self::Reserved => f.write_str("a reserved word of ASN.1"),
            Self::Taken(_) => f.write_str("the name is taken"),
        }
    }
}

impl std::error::Error for RenameError {}

impl Snapshot {
    /// Returns all places of the name at a position, its definition included, to be replaced by a new name.
    ///
    /// # Errors
    /// [`RenameError`].
    pub fn rename(&self, at: u32, new: &str) -> Result<Vec<Span>, RenameError> {
        let name = self.name_at(at).ok_or(RenameError::NoName)?;
        let definition = self.definition(name.definition).ok_or(RenameError::NoName)?;
        fits(definition.kind, self.text(definition.name), new)?;
        let mut places = vec![definition.name];
        places.extend(self.uses(definition.name).iter().map(|it| it.at));
        places.sort_unstable();
        places.dedup();
        match places.iter().find_map(|place| self.taken(definition, *place, new)) {
            Some(other) => Err(RenameError::Taken(other)),
            None => Ok(places),
        }
    }

    /// What has the new name already, where a place of the old one would become it.
    fn taken(&self, definition: &Definition, place: Span, new: &str) -> Option<Span> {
        let modules = self.schema().modules();
        let module =
            modules.iter().find(|module| module.span.lo <= place.lo && place.hi <= module.span.hi)?;
        let own = module.assignments.iter().map(|it| &it.name);
        match definition.kind {
            Kind::Module => modules.iter().map(|it| &it.name).find(|it| it.text == new).map(|it| it.span),
            Kind::Component | Kind::Alternative | Kind::Item | Kind::Field | Kind::Parameter => {
                let all = self.definitions().iter();
                let mut beside = all.filter(|it| {
                    it.kind == definition.kind
                        && (it.module, it.assignment, it.depth)
                            == (definition.module, definition.assignment, definition.depth)
                });
                beside.find(|it| self.text(it.name) == new).map(|it| it.name)
            }
            _ => {
                let imported = module.imports.iter().flat_map(|import| &import.symbols);
                own.chain(imported).find(|it| it.text == new).map(|it| it.span)
            }
        }
    }
}

/// Whether a name fits where another one stood.
fn fits(kind: Kind, old: &str, new: &str) -> Result<(), RenameError> {
    let (old, new) = match kind {
        Kind::Field => match (old.strip_prefix('&'), new.strip_prefix('&')) {
            (Some(old), Some(new)) => (old, new),
            _ => return Err(RenameError::Malformed("`&` and a name expected")),
        },
        _ => (old, new),
    };
    let wants_upper = old.starts_with(|first: char| first.is_ascii_uppercase());
    let has_first = match wants_upper {
        true => new.starts_with(|first: char| first.is_ascii_uppercase()),
        false => new.starts_with(|first: char| first.is_ascii_lowercase()),
    };
    if !has_first {
        let what = if wants_upper {
            "a capital letter in front expected"
        } else {
            "a small letter in front expected"
        };
        return Err(RenameError::Malformed(what));
    }
    let is_letter = |octet: u8| octet.is_ascii_alphanumeric() || octet == b'-';
    if !new.bytes().all(is_letter) || new.ends_with('-') || new.contains("--") {
        return Err(RenameError::Malformed("letters, digits and single hyphens between them expected"));
    }
    if kind == Kind::Class && new.bytes().any(|octet| octet.is_ascii_lowercase()) {
        return Err(RenameError::Malformed("capital letters expected (X.681 §7.1)"));
    }
    if Keyword::lookup(new.as_bytes()).is_some() {
        return Err(RenameError::Reserved);
    }
    Ok(())
}
