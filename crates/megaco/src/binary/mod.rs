//! The binary encodings (H.248.1 annex A): BER and aligned PER, by generated types of the modules.

pub(crate) mod map;
