//! `tercet.ldap`: the client of `tercet-ldap`, with and without asyncio, and its data.
//!
//! Entries stay views of the receive buffer; Python gets objects of those values alone that it asks for. A connection
//! without asyncio runs its own small runtime while a call waits; all others share one in the background.

mod answers;
mod arguments;
mod awaitable;
mod controls;
mod directory;
mod drafts;
mod entries;
mod entry;
mod error;
mod filter;
mod ldif;
mod names;
mod runtime;
mod server;
mod session;
mod transaction;

/// The compiled half of `tercet.ldap`.
#[pyo3::pymodule(submodule, gil_used = false)]
pub(crate) mod _ldap {
    #[pymodule_export]
    use super::controls::{
        assertion, authorization_identity, dereference, dir_sync, domain_scope, dont_use_copy, manage_dsa_it,
        matched_values, no_op, paged_results, password_policy, persistent_search, post_read, pre_read,
        proxied_authorization, read_control, read_sync_info, relax, session_tracking, sort, subentries, sync,
        transaction, tree_delete, virtual_list_view,
    };
    #[pymodule_export]
    use super::directory::Directory;
    #[pymodule_export]
    use super::drafts::{Draft, Generators, Schema, SchemaDraft, Services};
    #[pymodule_export]
    use super::entries::{AsyncEntries, Entries};
    #[pymodule_export]
    use super::entry::Entry;
    #[pymodule_export]
    use super::filter::{Filter, escape_filter};
    #[pymodule_export]
    use super::ldif::{LdifReader, ldif_difference, ldif_text};
    #[pymodule_export]
    use super::names::{Dn, Url};
    #[pymodule_export]
    use super::server::{Responder, Serving, Stopped, serve};
    #[pymodule_export]
    use super::session::{
        AsyncConnection, Connection, connect, connect_async, search_cldap, search_cldap_async,
    };
    #[pymodule_export]
    use super::transaction::{AsyncTransaction, Transaction, pending};
}
