//! Deleting an entry with all below it, on servers without the control treeDelete.

use super::Client;
use super::search::Search;
use crate::dn::Dn;
use crate::error::{Error, ErrorKind, Result};
use crate::proto::ResultCode;
use crate::url::Scope;

/// Entries of a page of the search for what is to be deleted.
const PAGE: u32 = 500;

impl Client {
    /// Deletes an entry and all below it, children first, and returns how many entries that were. Other clients may see half of it
    /// gone. Where the root DSE lists it, [`crate::controls::TreeDelete`] does the same in one operation.
    ///
    /// # Errors
    /// The server refuses the search or a deletion: what was deleted before stays deleted.
    pub async fn delete_subtree(&self, dn: &str) -> Result<u64> {
        let mut deleted = 0;
        loop {
            let (mut names, is_whole) = self.names_below(dn).await?;
            // A name has more RDNs than that of its parent, whatever its RDNs look like.
            names.sort_by_key(|(depth, _)| std::cmp::Reverse(*depth));
            let before = deleted;
            let mut refused = None;
            for (_, name) in names {
                match self.delete(&name).await {
                    Ok(_) => deleted += 1,
                    // Somebody else was faster.
                    Err(error) if code(&error) == Some(ResultCode::NO_SUCH_OBJECT) => {}
                    // Its children are not among those that the server has listed: the next round has them.
                    Err(error) if !is_whole && code(&error) == Some(ResultCode::NOT_ALLOWED_ON_NON_LEAF) => {
                        refused = Some(error);
                    }
                    Err(error) => return Err(error),
                }
            }
            if is_whole {
                return Ok(deleted);
            }
            if deleted == before {
                let limit = "the server lists too few entries to delete them children first";
                return Err(refused.unwrap_or_else(|| Error::new(ErrorKind::Limit, limit)));
            }
        }
    }

    /// Lists the names of an entry and all below it, children first.
    ///
    /// # Errors
    /// The search fails; the server lists only a part of them.
    pub async fn subtree_names(&self, dn: &str) -> Result<Vec<String>> {
        let (mut names, is_whole) = self.names_below(dn).await?;
        if !is_whole {
            return Err(Error::new(ErrorKind::Limit, "the server lists only a part of the entries"));
        }
        names.sort_by_key(|(depth, _)| std::cmp::Reverse(*depth));
        Ok(names.into_iter().map(|(_, name)| name).collect())
    }

    /// Lists an entry and those below it, with the number of RDNs, and whether these are all: the server may have a limit.
    async fn names_below(&self, dn: &str) -> Result<(Vec<(usize, String)>, bool)> {
        let search = Search::new(dn).scope(Scope::Sub).attributes(&["1.1"]).page_size(PAGE);
        let mut entries = self.search(search).await?;
        let mut names = Vec::new();
        loop {
            match entries.next().await {
                Ok(Some(entry)) => {
                    names.push((entry.dn().parse::<Dn>()?.rdns().len(), entry.dn().to_owned()));
                }
                Ok(None) => return Ok((names, true)),
                Err(error) if !names.is_empty() && is_limit(&error) => return Ok((names, false)),
                Err(error) => return Err(error),
            }
        }
    }
}

fn code(error: &Error) -> Option<ResultCode> {
    error.result().map(|result| result.code)
}

fn is_limit(error: &Error) -> bool {
    let limits =
        [ResultCode::SIZE_LIMIT_EXCEEDED, ResultCode::TIME_LIMIT_EXCEEDED, ResultCode::ADMIN_LIMIT_EXCEEDED];
    code(error).is_some_and(|code| limits.contains(&code))
}
