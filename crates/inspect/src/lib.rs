//! The server and the page of `tercet inspect`: files of ASN.1 data in the browser.
//!
//! A [`Workbench`] holds the inputs and the specifications, and answers questions in JSON. A [`Server`] puts HTTP around it,
//! on 127.0.0.1, for one page that knows its token. Files are read by ranges; a thread for each builds the index of its
//! records while somebody looks.
//!
//! | question | answer |
//! |---|---|
//! | `api/state` | the inputs, the type and the rules |
//! | `api/records` | rows of an input from a number on |
//! | `api/message` | one value: its size, its root, its problems |
//! | `api/nodes` | the components of a part of the value |
//! | `api/octets` | bytes and the parts that they belong to |
//! | `api/explain` | all about one part: its lines of a trace, its constraint, its definition |
//! | `api/export` | the value in another notation, bytes as an array |
//! | `api/schema` | lines of a specification with colours |
//! | `api/candidates` | types and rules by trial, the best first |
//! | `api/compare` | two values side by side |
//! | `api/fields` | what can be changed in a part of the value |
//! | `api/edit`, `api/save` | changes, and a new file with them; only where the workbench is editable |

#![forbid(unsafe_code)]

mod answers;
mod captured;
mod compare;
mod describe;
mod edits;
mod explain;
mod export;
mod html;
mod http;
mod matches;
mod message;
mod page;
mod query;
mod rows;
mod server;
mod source;
mod texts;
mod tree;
mod untyped;
mod view;
mod workbench;

pub use captured::{CaptureBuilder, Captured};
pub use server::Server;
pub use source::{MOST_UNPACKED, Source};
pub use workbench::{Setup, Workbench};
