//! Makes the generated code of the tests that is not committed.

#[path = "src/generated.rs"]
#[allow(dead_code, unreachable_pub, reason = "the crate uses the rest")]
mod generated;

/// As in the crate.
mod corpora {
    use std::path::{Path, PathBuf};

    pub(crate) fn repository() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
    }
}

use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("no OUT_DIR")?);
    println!("cargo::rerun-if-changed=src/generated.rs");
    for generated in generated::ALL.iter().filter(|it| !it.is_committed()) {
        for file in [Some(generated.schema), generated.overlay].into_iter().flatten() {
            println!("cargo::rerun-if-changed={}", corpora::repository().join(file).display());
        }
        std::fs::write(folder.join(generated.file), generated.text()?)?;
    }
    Ok(())
}
