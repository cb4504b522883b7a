//! Names in other languages, each computed here and nowhere else.

/// A column or key name: hyphens become underscores.
pub fn column(name: &str) -> String {
    name.replace('-', "_")
}
