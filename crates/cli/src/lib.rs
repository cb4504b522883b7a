//! Toolkit for ASN.1 data: compiler, codecs, record files.
//!
//! The package `tercet` is the command (`cargo install tercet`) and this library. A program that uses the library has no use
//! for what the command depends on:
//!
//! ```toml
//! [dependencies]
//! tercet = { version = "0.1", default-features = false, features = ["records"] }
//! ```
//!
//! A [`Schema`] is made of specifications. Its codecs decode and encode values of any type, with no build step:
//!
//! ```
//! let schema = tercet::Schema::from_text(
//!     "rocket.asn",
//!     "Rockets DEFINITIONS AUTOMATIC TAGS ::= BEGIN
//!      Rocket ::= SEQUENCE { name UTF8String, range INTEGER OPTIONAL }
//!      END",
//! );
//! let octets = b"\x30\x09\x80\x04Falk\x81\x01\x05";
//! let rocket = schema.codec("Rocket", "ber")?.decode(octets)?;
//! assert_eq!(rocket.to_string(), r#"{name "Falk", range 5}"#);
//! assert_eq!(schema.codec("Rocket", "uper")?.encode(&rocket)?, [0x82, 0x23, 0x30, 0xb6, 0x35, 0x80, 0x82, 0x80]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! For bulk work, values are read onto a tape that keeps its memory: [`plan`](Schema::plan) and [`dynamic::decode`].
//!
//! | module | purpose |
//! |---|---|
//! | [`syntax`] | text to syntax tree, diagnostics, formatter |
//! | [`model`] | the typed model |
//! | [`plan`] | the executable form |
//! | [`lower`] | model to plan |
//! | [`codegen`] | plan to Rust source text: [`Schema::rust`] |
//! | [`runtime`] | primitives of the encoding rules |
//! | [`dynamic`] | decode to events, tape, values, JSON, XML, CSV; encode |
//! | `columns` | record batches of Arrow (feature `columns`), Parquet and Arrow IPC files (feature `files`) |
//! | `records` | record files: framing, rejects, streaming conversion (feature `records`) |
//! | [`suggest`] | error texts for unknown names, with the nearest valid one |

pub use tercet_schema::*;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
