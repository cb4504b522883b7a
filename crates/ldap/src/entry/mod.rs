//! Entries that are changed here first: with the changes recorded ([`Draft`]), checked and repaired by a schema
//! ([`SchemaDraft`]), with attributes that are made of others ([`Generators`]) and sets of attributes that belong together
//! ([`Services`]).
//!
//! ```
//! use std::sync::Arc;
//! use tercet_ldap::Draft;
//! use tercet_ldap::entry::Repair;
//! use tercet_ldap::schema::Schema;
//!
//! let schema = Schema::read(
//!     "dn: cn=subschema
//! attributeTypes: ( 2.5.4.0 NAME 'objectClass' )
//! attributeTypes: ( 2.5.4.3 NAME ( 'cn' 'commonName' ) )
//! attributeTypes: ( 2.5.4.4 NAME ( 'sn' 'surname' ) )
//! attributeTypes: ( 1.3.6.1.1.1.1.3 NAME 'homeDirectory' SINGLE-VALUE )
//! objectClasses: ( 2.5.6.0 NAME 'top' ABSTRACT MUST objectClass )
//! objectClasses: ( 2.5.6.6 NAME 'person' SUP top STRUCTURAL MUST ( sn $ cn ) )
//! objectClasses: ( 1.3.6.1.1.1.2.0 NAME 'posixAccount' SUP top AUXILIARY MUST homeDirectory )
//! "
//!     .as_bytes(),
//! )?;
//! let draft = Draft::new("cn=Ada,o=test", [("objectClass", vec!["person"]), ("cn", vec!["Ada"])]);
//! let mut draft = draft.with_schema(Arc::new(schema));
//! assert_eq!(draft.missing()[0].name, "sn");
//! draft.set("homeDirectory", ["/home/ada"]);
//! let repaired = draft.repair(Repair::Optimistic)?;
//! assert_eq!(repaired[0].to_string(), "object class `posixAccount` added: it allows `homeDirectory`");
//! # Ok::<(), tercet_ldap::Error>(())
//! ```

pub(crate) mod apply;
mod draft;
mod generators;
mod repair;
mod schema_draft;
mod services;
mod syntax;

pub use draft::Draft;
pub(crate) use draft::modifications;
pub use generators::{Generators, ready};
pub use repair::{Repair, Repaired};
pub use schema_draft::{AttributeRef, SchemaDraft, Violation};
pub use services::{Service, Services};
