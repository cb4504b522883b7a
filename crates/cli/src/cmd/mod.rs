//! The subcommands, one file each.

#[cfg(feature = "capture")]
pub mod capture;
pub mod cat;
pub mod check;
pub mod compile;
pub mod completions;
pub mod convert;
pub mod decode;
pub mod diff;
pub mod doctor;
pub mod dump;
pub mod encode;
pub mod fmt;
pub mod head;
#[cfg(feature = "ldap")]
pub mod ldap;
#[cfg(feature = "lsp")]
pub mod lsp;
pub mod man;
#[cfg(feature = "megaco")]
pub mod megaco;
pub mod sample;
pub mod show;
pub mod stat;
pub mod transcode;
pub mod validate;
