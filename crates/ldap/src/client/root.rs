//! What a server says of itself.

use super::Client;
use super::search::Search;
use crate::Entry;
use crate::error::Result;
use crate::url::Scope;

/// A capability that servers of Active Directory list (MS-ADTS 3.1.1.3.4.3.1).
const ACTIVE_DIRECTORY: &str = "1.2.840.113556.1.4.800";

/// The root DSE of a server (RFC 4512 5.1); one that cannot be found has nothing.
#[derive(Debug)]
pub(crate) struct RootDse(Option<Entry>);

impl Client {
    /// Reads attributes of the root DSE, and the capabilities of the server.
    ///
    /// # Errors
    /// The search fails.
    pub(crate) async fn root_dse(&self, attributes: &[&str]) -> Result<RootDse> {
        let asked = [attributes, &["supportedCapabilities"]].concat();
        let (found, _) = self.search_all(Search::new("").scope(Scope::Base).attributes(&asked)).await?;
        Ok(RootDse(found.into_iter().next()))
    }
}

impl RootDse {
    pub(crate) const fn nothing() -> Self {
        Self(None)
    }

    /// Returns whether an attribute has an object identifier.
    pub(crate) fn lists(&self, attribute: &str, oid: &str) -> bool {
        self.0.iter().any(|root| root.values(attribute).any(|value| value == oid.as_bytes()))
    }

    /// Returns the first value of an attribute.
    pub(crate) fn text(&self, attribute: &str) -> Option<&str> {
        self.0.as_ref()?.text(attribute)
    }

    pub(crate) fn is_active_directory(&self) -> bool {
        self.lists("supportedCapabilities", ACTIVE_DIRECTORY)
    }
}
