//! The plan engine: decodes any schema to events and encodes it again, with no build step.
//!
//! [`decode`] reports the events of a value to a [`Sink`]; a [`Tape`] keeps them; [`encode`] encodes a tape. For many
//! records, use a [`Decoder`] and an [`Encoder`], which keep their memory.

mod ber;
mod codec;
mod constant;
pub mod contents;
pub mod csv;
pub mod diff;
mod error;
mod event;
mod fault;
mod fixpoint;
pub mod gser;
pub mod json;
mod keys;
pub mod leaf;
mod oer;
pub mod oids;
mod options;
mod path;
mod per;
mod place;
mod read_error;
mod same;
pub mod sample;
pub mod sizes;
pub mod source;
mod tape;
pub mod text;
pub mod trace;
pub mod validate;
pub mod value;
pub mod words;
pub mod xml;

pub use codec::{Decoder, Encoder, decode, encode};
pub use constant::say_constant;
pub use error::{Error, ErrorKind};
pub use event::{Discard, Leaf, Mark, Marked, Sink};
pub use options::{Limits, Options, Trailing, Unknown};
pub use place::{Part, Place};
pub use read_error::ReadError;
pub use tape::{Tape, Token, View};
pub use tercet_plan::{FieldId, NodeId, Plan, Rules, Shape};
pub use value::Value;
