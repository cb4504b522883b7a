//! The plan engine: decodes any schema to events and encodes it again, with no build step.
//!
//! [`decode`] says the events of a value to a [`Sink`]; a [`Tape`] keeps them; [`encode`] writes a tape again. For many
//! records use a [`Decoder`] and an [`Encoder`], which keep their memory.

mod ber;
mod codec;
mod error;
mod event;
mod options;
mod per;
mod tape;

pub use codec::{Decoder, Encoder, decode, encode};
pub use error::{Error, ErrorKind};
pub use event::{Discard, Leaf, Sink};
pub use options::{Limits, Options, Unknown};
pub use tape::{Tape, Token, View};
pub use tercet_plan::{FieldId, NodeId, Plan, Rules, Shape};
