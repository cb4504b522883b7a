//! OER, basic and canonical (X.696).

mod canonical;
mod decode;
mod encode;
mod frame;
mod leaves;
mod open;
mod places;
mod strings;
mod time;

pub(crate) use decode::{DecodeState, decode};
pub(crate) use encode::{EncodeState, encode};
