//! Toolkit for ASN.1 data: compiler, codecs, record files.
//!
//! A [`Schema`] is made of specifications; a plan of a schema; values are decoded and encoded by a plan, with no build
//! step:
//!
//! ```
//! use tercet::{Schema, dynamic, plan::Rules};
//!
//! let schema = Schema::from_text(
//!     "rocket.asn",
//!     "Rockets DEFINITIONS AUTOMATIC TAGS ::= BEGIN
//!      Rocket ::= SEQUENCE { name UTF8String, range INTEGER OPTIONAL }
//!      END",
//! );
//! assert!(!schema.has_errors(), "{}", schema.render(false));
//!
//! let plan = schema.plan(Rules::Ber, &["Rocket"])?;
//! let root = plan.root("Rocket").expect("a root that was asked for");
//! let octets = [0x30, 0x09, 0x80, 0x04, b'F', b'a', b'l', b'k', 0x81, 0x01, 0x05];
//! let mut tape = dynamic::Tape::new();
//! let length = dynamic::decode(&plan, root, &octets, &mut tape, &dynamic::Options::default())?;
//! assert_eq!(length, octets.len());
//!
//! let mut again = Vec::new();
//! dynamic::encode(&plan, Rules::Der, tape.view(&octets), &mut again)?;
//! assert_eq!(again, octets);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | what it is for |
//! |---|---|
//! | [`syntax`] | text to syntax tree, diagnostics, formatter |
//! | [`model`] | the typed model |
//! | [`plan`] | the executable form |
//! | [`lower`] | model to plan |
//! | [`codegen`] | plan to Rust source text: [`Schema::rust`] |
//! | [`runtime`] | primitives of the encoding rules |
//! | [`dynamic`] | decode to events, tape, JSON, XML, CSV; encode |
//! | `columns` | record batches of Arrow (feature `columns`), Parquet and Arrow IPC files (feature `files`) |
//! | [`records`] | record files: framing, rejects, streaming conversion |
//! | [`suggest`] | error texts for unknown names, with the nearest valid one |

mod detect;
#[cfg(feature = "records")]
mod doctor;
pub mod files;
mod gaps;
mod generate;
mod instances;
#[cfg(feature = "records")]
mod record_plan;
mod schema;
mod transfer;

pub use detect::{Candidate, Detector, detect};
#[cfg(feature = "records")]
pub use doctor::{Doctor, Way};
pub use gaps::Listener;
pub use generate::{RustError, RustOptions};
#[cfg(feature = "records")]
pub use record_plan::{GivenFraming, RecordPlan, RecordPlanError};
pub use schema::{Place, PlanError, Schema, SchemaOptions};
pub use tercet_codegen as codegen;
#[cfg(feature = "columns")]
pub use tercet_columns as columns;
pub use tercet_dynamic as dynamic;
pub use tercet_lower as lower;
pub use tercet_model as model;
pub use tercet_plan as plan;
#[cfg(feature = "records")]
pub use tercet_records as records;
pub use tercet_runtime as runtime;
pub use tercet_suggest as suggest;
pub use tercet_syntax as syntax;
pub use transfer::{Codec, CodecError, TransferSyntax, UnknownSyntax, check_trailing};
