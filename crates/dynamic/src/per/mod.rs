//! PER, all four variants (X.691).

mod characters;
mod decode;
mod encode;
mod frame;
mod integer;
mod keys;
mod leaves;
mod open;
mod order;
mod strings;
mod time;

pub(crate) use decode::{DecodeState, decode};
pub(crate) use encode::{EncodeState, encode};
