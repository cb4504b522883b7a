//! Megaco (H.248.1): messages between a media gateway and its controller.
//!
//! One [model](crate::model) holds the messages of versions 1 to 3, borrowed from the input where possible; each encoding
//! is a way into it and out of it, so that any encoding goes to any other.

#![forbid(unsafe_code)]

pub mod binary;
pub mod codec;
pub mod digit_map;
mod error;
pub mod etf;
#[cfg(feature = "native")]
pub mod generated;
pub mod json;
mod list;
pub mod model;
mod octets;
pub mod packages;
pub mod parts;
pub mod sdp;
pub mod text;
pub mod tpkt;
mod value;

pub use error::{Error, Result};
pub use list::{List, Token, TokenSet};
pub use octets::{Name, Str};
