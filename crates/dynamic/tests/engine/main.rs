//! The engine from outside, by encoding rules and forms of values. One program, so that its decoders are compiled once.

mod ber_corpora;
mod ber_decode;
mod ber_encode;
mod common;
mod gser;
mod json;
mod json_corpora;
mod marks;
mod oer;
mod per;
mod places;
mod value;
mod xml;
