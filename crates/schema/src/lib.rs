//! ASN.1 specifications to plans, and plans to values: what the crate `tercet` offers as its library.
//!
//! [`Schema`] reads specifications; [`Schema::codec`] and [`Schema::plan`] make what decodes and encodes; [`Detector`] finds
//! the type and the encoding rules of unknown data; `Doctor` finds the framing of record files.
//!
//! ```
//! use tercet_schema::{Schema, dynamic, plan::Rules};
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
//! let mut reencoded = Vec::new();
//! dynamic::encode(&plan, Rules::Der, tape.view(&octets), &mut reencoded)?;
//! assert_eq!(reencoded, octets);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cache;
#[cfg(feature = "captures")]
pub mod captures;
mod codec;
mod compiled;
mod detect;
#[cfg(feature = "records")]
mod doctor;
pub mod edit;
pub mod files;
mod gaps;
mod generate;
mod instances;
#[cfg(feature = "records")]
mod record_plan;
mod schema;
mod transfer;

pub use cache::{CacheLimits, PlanCache};
pub use codec::{Codec, NoCodec};
pub use detect::{Candidate, Detector, detect};
#[cfg(feature = "records")]
pub use doctor::{Doctor, Way};
pub use gaps::Listener;
pub use generate::{RustError, RustOptions};
#[cfg(feature = "records")]
pub use record_plan::{RecordPlan, RecordPlanError, TrialPlan};
pub use schema::{Place, PlanError, Schema, SchemaOptions};
pub use tercet_codegen as codegen;
#[cfg(feature = "columns")]
pub use tercet_columns as columns;
pub use tercet_dynamic as dynamic;
pub use tercet_lower as lower;
pub use tercet_model as model;
pub use tercet_plan as plan;
pub use tercet_plan::{Rules, UnknownRules};
#[cfg(feature = "records")]
pub use tercet_records as records;
#[cfg(feature = "records")]
pub use tercet_records::GivenFraming;
pub use tercet_runtime as runtime;
pub use tercet_suggest as suggest;
pub use tercet_syntax as syntax;
pub use transfer::{CodecError, TapeCodec, check_trailing};
