//! The plan engine: decodes any schema to events and encodes it again, with no build step.

mod event;
mod tape;

pub use event::{Discard, Leaf, Sink};
pub use tape::{Tape, Token, View};
