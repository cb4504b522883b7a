//! The `tercet` command.
fn main() {}
