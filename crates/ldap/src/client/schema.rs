//! The schema of a server.

use super::Client;
use super::search::Search;
use crate::error::{Error, ErrorKind, Result};
use crate::schema::{SUBSCHEMA_ATTRIBUTES, Schema};
use crate::url::Scope;

/// Entries of a page of the schema partition.
const PAGE: u32 = 500;
/// A capability that servers of Active Directory list (MS-ADTS 3.1.1.3.4.3.1).
const ACTIVE_DIRECTORY: &[u8] = b"1.2.840.113556.1.4.800";

impl Client {
    /// Reads the schema of the server: the subschema entry that its root DSE names, or of Active Directory the schema partition, which
    /// says more.
    ///
    /// # Errors
    /// The root DSE names no schema; a search fails; a description is malformed.
    pub async fn schema(&self) -> Result<Schema> {
        let attributes = ["subschemaSubentry", "schemaNamingContext", "supportedCapabilities"];
        let (root, _) = self.search_all(Search::new("").scope(Scope::Base).attributes(&attributes)).await?;
        let root = root.first();
        let named = |attribute: &str| root.and_then(|root| root.text(attribute)).map(str::to_owned);
        let is_active_directory = root
            .is_some_and(|root| root.values("supportedCapabilities").any(|value| value == ACTIVE_DIRECTORY));
        if let (true, Some(partition)) = (is_active_directory, named("schemaNamingContext")) {
            let search = Search::new(partition)
                .filter("(|(objectClass=classSchema)(objectClass=attributeSchema))")?
                .page_size(PAGE);
            let (entries, _) = self.search_all(search).await?;
            return Schema::of_partition(&entries);
        }
        let missing = || Error::new(ErrorKind::Usage, "the root DSE names no subschema entry");
        let name = named("subschemaSubentry").ok_or_else(missing)?;
        let search = Search::new(name)
            .scope(Scope::Base)
            .filter("(objectClass=subschema)")?
            .attributes(&SUBSCHEMA_ATTRIBUTES);
        let (entries, _) = self.search_all(search).await?;
        entries.first().map_or_else(|| Err(missing()), Schema::of_entry)
    }
}
