//! Tasks of this repository, for `cargo xtask`.

pub mod bench;
pub mod dist;
