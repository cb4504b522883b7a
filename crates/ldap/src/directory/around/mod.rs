//! Rules of access and rules for passwords as layers around any handler.

mod access;
mod passwords;

use crate::entry::Draft;
use crate::error::Result;

use super::acl::candidate;
use super::entry::{Attribute, Stored};
pub use passwords::PasswordPolicy;

/// An entry of a handler.
///
/// # Errors
/// Its name is malformed.
fn stored(entry: &Draft) -> Result<Stored> {
    let attributes: Vec<Attribute> =
        entry.attributes().map(|(name, values)| (name.to_owned(), values.to_vec())).collect();
    candidate(entry.dn(), &attributes)
}
