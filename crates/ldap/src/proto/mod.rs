//! The protocol without input and output: octets in, messages out, and the other way.
//!
//! Nothing here reads a socket or a clock, so that every fault can be played from a table. [`Connection`] is the state
//! of one connection; [`Framer`] cuts a stream into messages; [`Entry`] and [`Reply`] are what they contain.

mod connection;
pub mod control;
pub mod element;
mod entry;
mod frame;
mod message;
mod result;

pub use connection::{Connection, Event, Kind};
pub use control::{Control, RequestControl, ResponseControl};
pub use element::check_subset;
pub use entry::{Attribute, Attributes, Entries, Entry, Values};
pub use frame::{Framer, Incoming, Limits};
#[cfg(feature = "directory")]
pub(crate) use message::answer;
pub use message::{Extended, Intermediate, Reference, Reply, decode, encode};
pub use result::{LdapResult, ResultCode};
