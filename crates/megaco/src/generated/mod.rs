//! The types of the modules themselves: what `native` codecs hand over, without names of packages and terminations.
//!
//! Version 2 has no types of its own: on the wire it is version 3 without what that adds.

/// The module of version 1, with a codec for aligned PER.
#[rustfmt::skip]
pub mod v1;
/// The module of version 3, with codecs for BER and aligned PER.
#[rustfmt::skip]
pub mod v3;
