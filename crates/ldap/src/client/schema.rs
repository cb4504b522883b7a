//! The schema of a server.

use super::Client;
use super::search::Search;
use crate::error::{Error, ErrorKind, Result};
use crate::schema::{SUBSCHEMA_ATTRIBUTES, Schema};
use crate::url::Scope;

/// Entries of a page of the schema partition.
const PAGE: u32 = 500;

impl Client {
    /// Reads the schema of the server: the subschema entry that its root DSE names, or of Active Directory the schema partition, which
    /// says more.
    ///
    /// # Errors
    /// The root DSE names no schema; a search fails; a description is malformed.
    pub async fn schema(&self) -> Result<Schema> {
        let root = self.root_dse(&["subschemaSubentry", "schemaNamingContext"]).await?;
        if root.is_active_directory()
            && let Some(partition) = root.text("schemaNamingContext")
        {
            let search = Search::new(partition)
                .filter("(|(objectClass=classSchema)(objectClass=attributeSchema))")?
                .page_size(PAGE);
            let (entries, _) = self.search_all(search).await?;
            return Schema::of_partition(&entries);
        }
        let missing = || Error::new(ErrorKind::Usage, "the root DSE names no subschema entry");
        let name = root.text("subschemaSubentry").ok_or_else(missing)?;
        let search = Search::new(name)
            .scope(Scope::Base)
            .filter("(objectClass=subschema)")?
            .attributes(&SUBSCHEMA_ATTRIBUTES);
        let (entries, _) = self.search_all(search).await?;
        entries.first().map_or_else(|| Err(missing()), Schema::of_entry)
    }
}
