//! Inputs that are not part of the repository.

use std::io::Read as _;
use std::path::Path;
use tercet::SchemaOptions;

pub use tercet_testing::repository;

/// How specifications of others are read: not all of their modules are at hand.
pub fn with_gaps() -> SchemaOptions {
    SchemaOptions { allow_missing: true, ..SchemaOptions::default() }
}

/// A file's content, decompressed when its name ends in `.zst`.
///
/// # Errors
/// The file cannot be read, with its name.
pub fn read(path: &Path) -> Result<Vec<u8>, String> {
    let named = |error: std::io::Error| format!("{}: {error}", path.display());
    let octets = std::fs::read(path).map_err(named)?;
    if path.extension().is_some_and(|e| e == "zst") {
        let mut plain = Vec::new();
        zstd::Decoder::new(octets.as_slice()).and_then(|mut d| d.read_to_end(&mut plain)).map_err(named)?;
        return Ok(plain);
    }
    Ok(octets)
}

/// The same as text.
///
/// # Errors
/// The file cannot be read or is not UTF-8, with its name.
pub fn read_text(path: &Path) -> Result<String, String> {
    String::from_utf8(read(path)?).map_err(|_| format!("{}: not UTF-8", path.display()))
}
