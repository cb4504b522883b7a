//! PER, all four variants (X.691).

mod additions;
mod characters;
mod decode;
mod direct;
mod direct_encode;
mod direct_strings;
mod encode;
mod frame;
mod integer;
mod leaves;
mod open;
mod order;
mod places;
mod sequence;
mod strings;
pub(crate) mod time;
mod walk;

pub(crate) use decode::{DecodeState, decode};
pub(crate) use encode::{EncodeState, encode};
